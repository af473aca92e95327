/* einsum.c - the text of an einsum, with operands whose shapes, types and small elements come from the input.
 *
 * What the manual says of the text is done here once more, by loops over all letters: the text is right if and
 * only if rd_einsum() takes it, and the result is that of the loops to the bit, as all numbers are whole. */
#include "fuzz/bytes.h"
#include "fuzz/driver.h"
#include "oracle.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, RANK = 4, POINTS = 256, LABELS = 52 + RANK, MOST_LOOPS = 100000 };

const char *const rd_fuzz_words[] = { "ij,jk->ik", "...",   "->", ",",    "ii",    "i",   "j",
                                      "ij",        "...ij", "A",  "B",    "ba",    "->i", "->",
                                      "i...j",     ",...,", " ",  "-",    ".",     "..",  "ijkl",
                                      "->ji",      "zZ",    "aa", "\xc3", "ij,jk", "i,",  NULL };

typedef struct operand {
    int      rank;
    int64_t  extent[RANK];
    rd_dtype type;
    int8_t   element[POINTS];
    int label[RANK]; /* 0 to 25 a to z, 26 to 51 A to Z, then axes of "...", the last one first */
} operand;

typedef struct einsum {
    int     n, n_dots;
    operand x[MOST];
    int64_t extent[LABELS];
    int     seen[LABELS];
    int     out[LABELS], n_out;
} einsum;

/* ---- Operands ------------------------------------------------------------------------------------ */
static int64_t points(int rank, const int64_t *extent)
{
    int64_t n = 1;

    for (int a = 0; a < rank; a++)
        n *= extent[a];
    return n;
}

/* Extents 0 to 3, most of them more than 1; elements -2 to 2, bools 0 and 1. */
static void read_operand(fuzz_bytes *in, operand *x)
{
    static const rd_dtype types[]   = { RD_F64, RD_F32, RD_I32, RD_I8, RD_BOOL, RD_I64, RD_U8 };
    static const int      extents[] = { 2, 3, 2, 3, 1, 2, 3, 0 };
    const uint8_t         shape     = fuzz_byte(in);

    x->rank = shape % (RANK + 1);
    x->type = types[fuzz_below(in, sizeof types / sizeof *types)];
    for (int a = 0; a < x->rank; a++)
        x->extent[a] = extents[fuzz_below(in, 8)];
    for (int64_t i = 0; i < points(x->rank, x->extent); i++)
        x->element[i] = (int8_t)(x->type == RD_BOOL || x->type == RD_U8 ? i * 5 % 7 < 3
                                                                        : (i * 7 + shape) % 5 - 2);
}

static rd_expr *leaf(rd_ctx *ctx, const operand *x, void *memory)
{
    rd_array array = { .in = memory, .type = x->type, .shape = { .n = x->rank } };

    memcpy(array.shape.at, x->extent, sizeof x->extent);
    for (int64_t i = 0; i < points(x->rank, x->extent); i++) {
        const oracle_value v = { .type = x->type, .n = x->element[i], .v = x->element[i] };

        oracle_store((char *)memory + i * rd_dtype_size(x->type), x->type, &v);
    }
    return rd_leaf(ctx, &array);
}

/* ---- What the text says -------------------------------------------------------------------------- */
static int label_of(char c)
{
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* The axes of one operand, up to `end`. */
static bool read_term(einsum *e, operand *x, const char *at, const char *end)
{
    const char *dots    = NULL;
    int         letters = 0, axis = 0;

    for (const char *c = at; c < end; c++)
        letters += label_of(*c) >= 0;
    for (; at < end; at++) {
        if (label_of(*at) >= 0) {
            if (axis == x->rank)
                return false;
            x->label[axis++] = label_of(*at);
            e->seen[label_of(*at)]++;
        } else if (!dots && end - at >= 3 && memcmp(at, "...", 3) == 0) {
            const int n = x->rank - letters;

            dots = at;
            at += 2;
            for (int k = n; k-- > 0;)
                x->label[axis++] = 52 + k;
            e->n_dots = n > e->n_dots ? n : e->n_dots;
        } else {
            return false;
        }
    }
    return axis == x->rank;
}

/* A letter has one extent; in another operand it may be 1, and on a diagonal not. */
static bool find_extents(einsum *e)
{
    for (int l = 0; l < LABELS; l++)
        e->extent[l] = 1;
    for (int k = 0; k < e->n; k++)
        for (int a = 0; a < e->x[k].rank; a++) {
            const int     l = e->x[k].label[a];
            const int64_t n = e->x[k].extent[a];

            for (int b = 0; b < a; b++)
                if (e->x[k].label[b] == l && e->x[k].extent[b] != n)
                    return false;
            if (n != 1 && e->extent[l] != 1 && e->extent[l] != n)
                return false;
            e->extent[l] = n != 1 ? n : e->extent[l];
        }
    return true;
}

static void add_dots(einsum *e)
{
    for (int k = e->n_dots; k-- > 0;)
        e->out[e->n_out++] = 52 + k;
}

static void imply_result(einsum *e)
{
    add_dots(e);
    for (int l = 0; l < 52; l++)
        if (e->seen[(l + 26) % 52] == 1)
            e->out[e->n_out++] = (l + 26) % 52;
}

static bool read_result(einsum *e, const char *at)
{
    bool dots = false, named[52] = { false };

    for (; *at; at++) {
        const int l = label_of(*at);

        if (l >= 0 && e->seen[l] && !named[l]) {
            named[l]           = true;
            e->out[e->n_out++] = l;
        } else if (!dots && strncmp(at, "...", 3) == 0) {
            dots = true;
            at += 2;
            add_dots(e);
        } else {
            return false;
        }
    }
    return dots || e->n_dots == 0;
}

/* `text` has no spaces any more. */
static bool read_text(einsum *e, const char *text)
{
    const char *arrow = strstr(text, "->"), *end = arrow ? arrow : text + strlen(text);

    for (int k = 0; k < e->n; k++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));

        if ((comma != NULL) != (k + 1 < e->n) || !read_term(e, &e->x[k], text, comma ? comma : end))
            return false;
        text = comma ? comma + 1 : end;
    }
    if (!find_extents(e))
        return false;
    if (!arrow)
        imply_result(e);
    return !arrow || read_result(e, arrow + 2);
}

/* Spaces do not count, but inside of "->" and "...". */
static bool without_spaces(const char *text, char *to)
{
    for (const char *c = text; *c; c++) {
        if (*c != ' ')
            *to++ = *c;
        else if (c > text && c[strspn(c, " ")] && strchr(".-", c[-1]) &&
                 strchr(".>", c[strspn(c, " ")]))
            return false;
    }
    *to = '\0';
    return true;
}

/* ---- What is right ------------------------------------------------------------------------------- */
static int64_t element_at(const operand *x, const int64_t *at)
{
    int64_t place = 0;

    for (int a = 0; a < x->rank; a++)
        place = place * x->extent[a] + (x->extent[a] == 1 ? 0 : at[x->label[a]]);
    return x->element[place];
}

/* Adds each product to its place of the result; of bools it is `or` of `and`. */
static void sum_all(const einsum *e, int64_t loops, bool truth, int64_t *to)
{
    int64_t at[LABELS];

    for (int64_t i = 0; i < loops; i++) {
        int64_t rest = i, product = 1, place = 0;

        for (int l = 0; l < LABELS; rest /= e->extent[l++])
            at[l] = rest % e->extent[l];
        for (int k = 0; k < e->n; k++)
            product *= element_at(&e->x[k], at);
        for (int k = 0; k < e->n_out; k++)
            place = place * e->extent[e->out[k]] + at[e->out[k]];
        to[place] = truth ? to[place] || product : to[place] + product;
    }
}

static void must_be(const rd_array *out, const int64_t *want, int64_t n)
{
    const bool real = rd_dtype_kind(out->type) == RD_KIND_FLOAT;

    for (int64_t i = 0; i < n; i++) {
        const oracle_value is =
            oracle_load((const char *)out->data + i * rd_dtype_size(out->type), out->type);
        const bool same = real ? is.v == (long double)want[i]
                               : is.n == oracle_int(out->type, want[i]).n; /* ints wrap */

        if (!same)
            fuzz_wrong("element %" PRId64 " is %g instead of %" PRId64, i,
                       real ? (double)is.v : (double)is.n, want[i]);
    }
}

static void compare(rd_ctx *ctx, const einsum *e, rd_expr *y)
{
    const int64_t loops = points(LABELS, e->extent);
    int64_t       n     = 1, *want;
    rd_array      out;

    if (y->rank != e->n_out)
        fuzz_wrong("the result has rank %d instead of %d", y->rank, e->n_out);
    for (int k = 0; k < e->n_out; k++)
        if (y->extent[k] != e->extent[e->out[k]])
            fuzz_wrong("axis %d has extent %" PRId64 " instead of %" PRId64, k, y->extent[k],
                       e->extent[e->out[k]]);
    if (loops > MOST_LOOPS)
        return;
    for (int k = 0; k < e->n_out; k++)
        n *= y->extent[k];
    want = calloc((size_t)n + 1, sizeof *want);
    sum_all(e, loops, y->type == RD_BOOL, want);
    fuzz_must_evaluate(ctx, y, &out);
    must_be(&out, want, n);
    rd_array_free(&out);
    free(want);
}

static void try_einsum(rd_ctx *ctx, fuzz_bytes *in)
{
    static double memory[MOST][POINTS];
    static einsum e;
    rd_expr      *x[MOST];

    memset(&e, 0, sizeof e);
    e.n = 1 + fuzz_below(in, MOST);
    for (int k = 0; k < e.n; k++) {
        read_operand(in, &e.x[k]);
        x[k] = leaf(ctx, &e.x[k], memory[k]);
    }
    char *const text = fuzz_text(in, '\0'), *const bare = malloc(strlen(text) + 1);
    const bool right = without_spaces(text, bare) && read_text(&e, bare);
    rd_expr   *y     = rd_einsum_text(text, (rd_exprs){ x, e.n });

    if (right && y)
        compare(ctx, &e, y);
    else if (y)
        fuzz_wrong("a text that is not right is taken");
    else if (fuzz_refusal(ctx, "rd_einsum") != RD_ERR_TEXT && right)
        fuzz_wrong("a text that is right is refused");
    else if (right)
        fuzz_wrong("a text that is right cannot be read");
    free(text);
    free(bare);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_bytes in  = { bytes, bytes + n };
    rd_ctx    *ctx = fuzz_context();

    try_einsum(ctx, &in);
    fuzz_context_end(ctx);
    return 0;
}
