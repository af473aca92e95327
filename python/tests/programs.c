/* programs.c - builds programs of a text file by calls of the C library and writes what they come to.
 *
 *     rdim_programs PROGRAMS DATA RESULTS
 *
 * A line of PROGRAMS is a call, and its words are its arguments: programs.def has the rows.  Every line makes
 * one value, which later lines name as %0, %1 and so on.  Four kinds of line are no rows:
 *
 *     program                                    begins a new one, without values
 *     leaf f32 2,3 12,4 64                       an array in DATA: type, shape, strides in bytes, place
 *     reduce sum %0 axis=0 where=%1              and nanreduce, scan, nanscan: keywords are those of Python
 *     out 2 %3 %4                                evaluates them together by so many threads, 0: the library's choice
 *
 * Numbers are operands, too: int:5, num:0x1p-1, cnum:1:2, bool:1.  RESULTS has a line for each result, its type
 * and extents, and then its elements; or the status of what failed.  python/tests/test_bits.py reads the same
 * file with the functions of the Python package, and compares. */
#include <rdim.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 256, MOST_WORDS = 32, MOST_LINE = 4096, MOST_LIST = 8, MOST_RESULTS = 8 };

typedef struct reader {
    rd_ctx  *ctx;
    rd_expr *value[MOST_VALUES];
    int      n_value, n_word;
    char    *word[MOST_WORDS];
    char    *data;
    FILE    *results;
} reader;

typedef struct arguments {
    rd_expr    *x[MOST_WORDS], *list[MOST_LIST];
    int64_t     i[MOST_WORDS];
    double      f[MOST_WORDS];
    rd_ints     s[MOST_WORDS];
    rd_dims     d[MOST_WORDS];
    rd_dtype    t[MOST_WORDS];
    const char *n[MOST_WORDS];
    rd_exprs    l;
} arguments;

static _Noreturn void refuse(const char *what, const char *word)
{
    fprintf(stderr, "programs: %s: \"%s\"\n", what, word);
    exit(2);
}

/* ---- Words ------------------------------------------------------------------------------------ */
static const char *const type_names[] = { "auto",         "bool",    "int8",      "int16",
                                          "int32",        "int64",   "uint8",     "uint16",
                                          "uint32",       "uint64",  "float16",   "bfloat16",
                                          "float32",      "float64", "complex64", "complex128",
                                          "float8_e4m3fn" };

/* The place of a name in a list of them. */
static int choice(const char *name, const char *const *names, int n)
{
    for (int k = 0; k < n; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    refuse("no such name", name);
}
#define CHOICE(name, ...)                              \
    choice(name, (const char *const[]){ __VA_ARGS__ }, \
           (int)(sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *)))

static rd_pad_mode pad_mode(const char *name)
{
    return (rd_pad_mode)CHOICE(name, "constant", "edge", "reflect", "symmetric", "wrap");
}

static rd_convolve_mode convolve_mode(const char *name)
{
    return (rd_convolve_mode)CHOICE(name, "full", "same", "valid");
}

static rd_rank_method rank_method(const char *name)
{
    return (rd_rank_method)CHOICE(name, "average", "min", "max", "dense", "ordinal");
}

static rd_quantile_method quantile_method(const char *name)
{
    return (rd_quantile_method)CHOICE(name, "linear", "lower", "higher", "nearest", "midpoint",
                                      "inverted_cdf", "averaged_inverted_cdf",
                                      "closest_observation", "interpolated_inverted_cdf", "hazen",
                                      "weibull", "median_unbiased", "normal_unbiased");
}

static rd_accuracy accuracy(const char *name)
{
    return (rd_accuracy)CHOICE(name, "pairwise", "compensated", "wide", "serial");
}

static rd_dtype type_of(const char *name)
{
    return (rd_dtype)choice(name, type_names, sizeof type_names / sizeof *type_names);
}

/* "2,3"; "()" has none. */
static rd_ints ints_of(const char *word)
{
    rd_ints ints = { 0 };

    if (strcmp(word, "()") == 0)
        return ints;
    for (const char *at = word; ints.n < RD_MAX_RANK; at++) {
        char *end;

        ints.at[ints.n++] = strtoll(at, &end, 10);
        at                = end;
        if (*at != ',')
            break;
    }
    return ints;
}

static rd_dims dims_of(const char *word)
{
    const rd_ints ints = ints_of(word);
    rd_dims       dims = { .n = ints.n };

    if (strcmp(word, "*") == 0)
        return RD_ALL;
    for (int k = 0; k < ints.n; k++)
        dims.axis[k] = (int32_t)ints.at[k];
    return dims;
}

static rd_expr *operand_of(reader *r, const char *word)
{
    char *end;

    if (strncmp(word, "int:", 4) == 0)
        return rd_int(r->ctx, strtoll(word + 4, NULL, 10));
    if (strncmp(word, "num:", 4) == 0)
        return rd_num(r->ctx, strtod(word + 4, NULL));
    if (strncmp(word, "bool:", 5) == 0)
        return rd_cast(rd_int(r->ctx, word[5] == '1'), RD_BOOL);
    if (strncmp(word, "cnum:", 5) == 0) {
        const double re = strtod(word + 5, &end);

        return rd_cnum(r->ctx, re, strtod(end + 1, NULL));
    }
    const long k = strtol(word + 1, &end, 10);

    if (*word != '%' || *end || k >= r->n_value)
        refuse("no operand", word);
    return r->value[k];
}

/* "%1,%2" */
static rd_exprs list_of(reader *r, char *word, rd_expr **list)
{
    int n = 0;

    for (char *at = strtok(word, ","); at && n < MOST_LIST; at = strtok(NULL, ","))
        list[n++] = operand_of(r, at);
    return (rd_exprs){ list, n };
}

/* ---- Rows ------------------------------------------------------------------------------------- */
#define X(k) (A->x[k])
#define I(k) (A->i[k])
#define F(k) (A->f[k])
#define S(k) (A->s[k])
#define D(k) (A->d[k])
#define T(k) (A->t[k])
#define N(k) (A->n[k])
#define L(k) (A->l)
#define ROW(name, signature, call)                   \
    static rd_expr *build_##name(const arguments *A) \
    {                                                \
        return call;                                 \
    }
#include "programs.def"
#undef ROW

static const struct row {
    const char *name, *signature;
    rd_expr *(*build)(const arguments *A);
} rows[] = {
#define ROW(name, signature, call) { #name, signature, build_##name },
#include "programs.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof *rows };

static void take(reader *r, arguments *A, char kind, int k)
{
    char *const word = r->word[k + 1];

    switch (kind) {
    case 'x': A->x[k] = strcmp(word, "_") == 0 ? NULL : operand_of(r, word); break;
    case 'i': A->i[k] = strtoll(word, NULL, 10); break;
    case 'f': A->f[k] = strtod(word, NULL); break;
    case 's': A->s[k] = ints_of(word); break;
    case 'd': A->d[k] = dims_of(word); break;
    case 't': A->t[k] = type_of(word); break;
    case 'n': A->n[k] = word; break;
    default: A->l = list_of(r, word, A->list);
    }
}

/* "add_" is another way of Python's to write "add". */
static bool is_row(const struct row *row, const char *word)
{
    const size_t n = strlen(row->name);

    return strncmp(row->name, word, n) == 0 && (!word[n] || strcmp(word + n, "_") == 0);
}

static rd_expr *row_of(reader *r)
{
    static arguments A;
    int              k = 0;

    while (k < ROWS && !is_row(&rows[k], r->word[0]))
        k++;
    if (k == ROWS || strlen(rows[k].signature) != (size_t)r->n_word - 1)
        refuse("no such row, or not so many words", r->word[0]);
    for (int i = 0; rows[k].signature[i]; i++)
        take(r, &A, rows[k].signature[i], i);
    return rd_error(r->ctx) == RD_OK ? rows[k].build(&A) : NULL;
}

/* ---- Leaves, reductions ----------------------------------------------------------------------- */
static rd_expr *leaf_of(reader *r)
{
    const rd_dtype   type   = type_of(r->word[1]);
    rd_array         array  = { .data    = r->data + strtoll(r->word[4], NULL, 10),
                                .type    = type,
                                .shape   = ints_of(r->word[2]),
                                .strides = ints_of(r->word[3]) };
    static const int size[] = { 0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16 };

    for (int k = 0; k < array.strides.n; k++)
        array.strides.at[k] /= size[type];
    return rd_leaf(r->ctx, &array);
}

static void take_keyword(reader *r, char *word, rd_reduce_opts *opts, rd_expr **labels)
{
    char *const value = strchr(word, '=') + 1;

    value[-1] = 0;
    switch (CHOICE(word, "axis", "keepdims", "where", "initial", "weights", "skipna", "ddof", "p",
                   "dtype", "accuracy", "by", "groups", "restart", "exclusive", "reverse")) {
    case 0: {
        const uint32_t keep = opts->dims.flags & RD_DIMS_KEEP;

        opts->dims = dims_of(value);
        opts->dims.flags |= keep;
        break;
    }
    case 1: opts->dims.flags |= RD_DIMS_KEEP; break;
    case 2: opts->where = operand_of(r, value); break;
    case 3: opts->initial = operand_of(r, value); break;
    case 4: opts->weights = operand_of(r, value); break;
    case 5: opts->skip_nan = true; break;
    case 6: opts->ddof = strtod(value, NULL); break;
    case 7: opts->p = strtod(value, NULL); break;
    case 8: opts->type = type_of(value); break;
    case 9: opts->accuracy = accuracy(value); break;
    case 10: opts->by = list_of(r, value, labels); break;
    case 11: opts->groups = ints_of(value); break;
    case 12: opts->restart = operand_of(r, value); break;
    case 13: opts->exclusive = true; break;
    default: opts->reverse = true;
    }
}

/* Functions of Python that have no reducer of their name. */
static rd_expr *reduced(rd_expr *x, const char *name, bool scan, rd_reduce_opts *opts)
{
    if (!scan && strcmp(name, "first") == 0)
        return rd_first_of(x, opts);
    if (!scan && strcmp(name, "last") == 0)
        return rd_last_of(x, opts);
    if (!scan && strcmp(name, "minmax") == 0)
        return rd_minmax_of(x, opts);
    return scan ? rd_scan_name(x, name, opts) : rd_reduce_name(x, name, opts);
}

static rd_expr *fold_of(reader *r, bool scan, bool skips)
{
    rd_reduce_opts opts = { .size = sizeof opts, .dims = RD_ALL, .skip_nan = skips };
    rd_expr *labels[MOST_LIST], *const x = operand_of(r, r->word[2]);

    for (int k = 3; k < r->n_word; k++)
        take_keyword(r, r->word[k], &opts, labels);
    return rd_error(r->ctx) == RD_OK ? reduced(x, r->word[1], scan, &opts) : NULL;
}

/* ---- Results ---------------------------------------------------------------------------------- */
static void write_result(reader *r, const rd_array *a)
{
    static const int size[] = { 0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16 };
    size_t           n      = (size_t)size[a->type];

    fprintf(r->results, "%s", type_names[a->type]);
    for (int k = 0; k < a->shape.n; k++) {
        fprintf(r->results, " %lld", (long long)a->shape.at[k]);
        n *= (size_t)a->shape.at[k];
    }
    fputc('\n', r->results);
    fwrite(a->data, 1, n, r->results);
}

static void write_failure(reader *r)
{
    fprintf(r->results, "%s\n", rd_status_name(rd_error(r->ctx)));
    rd_error_clear(r->ctx);
}

static void evaluate(reader *r)
{
    const rd_eval_opts opts = { .size    = sizeof opts,
                                .threads = (int32_t)strtol(r->word[1], NULL, 10) };
    rd_array           out[MOST_RESULTS];
    rd_result          result[MOST_RESULTS];
    const int          n = r->n_word - 2;

    if (n > MOST_RESULTS)
        refuse("too many results", r->word[0]);
    memset(out, 0, sizeof out);
    for (int k = 0; k < n; k++)
        result[k] = (rd_result){ operand_of(r, r->word[k + 2]), &out[k] };
    if (rd_eval_many(r->ctx, (rd_results){ result, n }, &opts) != RD_OK)
        write_failure(r);
    else
        for (int k = 0; k < n; k++)
            write_result(r, &out[k]);
    for (int k = 0; k < n; k++)
        rd_array_free(&out[k]);
}

/* ---- Lines ------------------------------------------------------------------------------------ */
static rd_expr *value_of(reader *r)
{
    const char *const name  = r->word[0];
    const bool        skips = strncmp(name, "nan", 3) == 0;

    if (strcmp(name, "leaf") == 0)
        return leaf_of(r);
    if (strcmp(name + 3 * skips, "reduce") == 0 || strcmp(name + 3 * skips, "scan") == 0)
        return fold_of(r, name[3 * skips] == 's', skips);
    return row_of(r);
}

static void read_line(reader *r, char *line, rd_mark begin)
{
    r->n_word = 0;
    for (char *at = strtok(line, " \n"); at && r->n_word < MOST_WORDS; at = strtok(NULL, " \n"))
        r->word[r->n_word++] = at;
    if (r->n_word == 0)
        return;
    if (strcmp(r->word[0], "program") == 0) {
        rd_ctx_release(r->ctx, begin);
        r->n_value = 0;
    } else if (strcmp(r->word[0], "out") == 0) {
        evaluate(r);
    } else if (!(r->value[r->n_value++] = value_of(r)) || r->n_value == MOST_VALUES) {
        write_failure(r);
    }
}

static char *whole_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char       *data;
    long        n;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (n = ftell(file)) < 0)
        refuse("cannot be read", path);
    rewind(file);
    data = aligned_alloc(64, ((size_t)n / 64 + 1) * 64);
    if (!data || fread(data, 1, (size_t)n, file) != (size_t)n)
        refuse("cannot be read", path);
    fclose(file);
    return data;
}

int main(int n, char **argument)
{
    static char line[MOST_LINE];
    reader      r = { 0 };

    if (n != 4)
        refuse("PROGRAMS DATA RESULTS are wanted", argument[0]);
    FILE *const programs = fopen(argument[1], "r");

    r.ctx              = rd_ctx_new(NULL);
    r.data             = whole_file(argument[2]);
    r.results          = fopen(argument[3], "wb");
    const rd_mark from = rd_ctx_mark(r.ctx);

    if (!programs || !r.results || !r.ctx)
        refuse("cannot be opened", argument[1]);
    while (fgets(line, sizeof line, programs))
        read_line(&r, line, from);
    fclose(programs);
    rd_ctx_free(r.ctx);
    free(r.data);
    return fclose(r.results) != 0;
}
