/* formula.c - hostile formulas: the lines of a folder's files, and what chance makes of them.
 *
 *     fuzz_formula tests/data/formulas            each line, and some changes of it
 *     fuzz_formula tests/data/formulas 600 [17]   changes for so many seconds, from this seed on
 *     fuzz_formula FILE                           the text of a file, as other fuzzers have it
 *
 * Each text gives results, or a status and a sentence; small results are evaluated.  The build's
 * sanitizers see the rest.  With libFuzzer it is a target as the others are. */
#include "expr/expr.h"
#include "fuzz/driver.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SEEDS = 2000, ROOM = 1 << 17, RESULTS = 64, EACH = 20, PER_CONTEXT = 500 };

static char    *seed[MOST_SEEDS];
static int      n_seeds;
static uint64_t state = 1;
static char     now[ROOM]; /* what is tried, for the report */

static float   x_data[4][5], y_data[5][6], v_data[5];
static double  pairs[6];
static int32_t idx_data[3] = { 2, 0, 1 };
static bool    mask[4][5];

/* ---- Chance ------------------------------------------------------------------------------------ */
/* Steele, Lea, Flood (2014), "Fast splittable pseudorandom number generators". */
static uint64_t chance(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

#ifndef FUZZ_LIBFUZZER
static const char *const words[] = {
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "^",
    "**",
    "@",
    "<",
    "<=",
    "==",
    "!=",
    "&&",
    "||",
    "!",
    "~",
    "&",
    "|",
    "<<",
    ">>",
    "?",
    ":",
    ",",
    "(",
    ")",
    "[",
    "]",
    "=",
    "+=",
    ";",
    "\n",
    "...",
    ".T",
    "#",
    "'",
    "x",
    "y",
    "v",
    "z",
    "idx",
    "mask",
    "i",
    "j",
    "k",
    " in ",
    " where ",
    " and ",
    "not ",
    "None",
    "sum[i] ",
    "max[j] ",
    "mean(",
    "cumsum(",
    "sort(",
    "pad(",
    "clamp(",
    "wrap(",
    "reflect(",
    "size(",
    "axis=",
    "keepdims=true",
    "where=",
    "by=",
    "groups=",
    "dtype=",
    "float32(",
    "int8(",
    "quantile(",
    "roll(",
    "diff(",
    "window(",
    "rolling_mean(",
    "reshape(",
    "einsum('ij,jk->ik',",
    "take(",
    "concat((",
    "repeat(",
    "tile(",
    "top_k(",
    "random_normal(",
    "softmax(",
    "o[i] = ",
    "o[i, j] += ",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "1e300",
    "nan",
    "inf",
    "pi",
    "true",
    "9223372036854775807",
    "4611686018427387904",
    "2147483648",
    "65536",
    "1000000",
    "0.5",
    "\xc3\xa9",
    "\xff",
    "\x01",
};

static void splice(char *text, size_t at, size_t gone, const char *new_text, size_t n)
{
    const size_t length = strlen(text);

    if (length - gone + n + 1 > ROOM / 2)
        return;
    memmove(text + at + n, text + at + gone, length - at - gone + 1);
    memcpy(text + at, new_text, n);
}

static void change(char *text)
{
    const size_t length = strlen(text), at = chance(length + 1);
    const size_t left = length - at, n = left ? chance(left < 12 ? left : 12) + 1 : 0;
    const char  *word  = words[chance(sizeof words / sizeof *words)];
    const char  *other = seed[chance((uint64_t)n_seeds)];
    char         copy[16], byte = (char)(chance(255) + 1);
    size_t       from;

    switch (chance(7)) {
    case 0: splice(text, at, left ? 1 : 0, &byte, 1); break;
    case 1:
    case 2: splice(text, at, 0, word, strlen(word)); break;
    case 3: splice(text, at, n, word, strlen(word)); break;
    case 4: splice(text, at, n, "", 0); break;
    case 5:
        memcpy(copy, text + at, n);
        splice(text, chance(length + 1), 0, copy, n);
        break;
    default:
        from = chance(strlen(other) + 1);
        splice(text, at, left, other + from, strlen(other + from));
    }
}

#endif

/* ---- One text ---------------------------------------------------------------------------------- */
/* Nodes below x, as far as they are small; -1: one is not, or they are many. */
static int small_nodes(const rd_expr *x, int most)
{
    int n = 1;

    if (rd_points(x->rank, x->extent) > 20000 || rd_points(x->rank, x->extent) < 0)
        return -1;
    for (int k = 0; k < x->n_in; k++) {
        const int below = x->in[k] && n < most ? small_nodes(x->in[k], most - n) : 0;

        if (below < 0)
            return -1;
        n += below;
    }
    return n < most ? n : -1;
}

/* Assertions of the library, sanitizers and fail() end here. */
static void tell(int sig)
{
    static const char of[] = "\nfuzz_formula: of\n";

    if (write(STDERR_FILENO, of, sizeof of - 1) < 0 || write(STDERR_FILENO, now, strlen(now)) < 0 ||
        write(STDERR_FILENO, "\n", 1) < 0)
        sig = SIGKILL;
    signal(sig, SIG_DFL);
    raise(sig);
}

static void fail(const char *what)
{
    fprintf(stderr, "fuzz_formula: %s\n", what);
    abort();
}

static void evaluate(rd_ctx *ctx, rd_expr *x)
{
    rd_array out = { 0 };

    if (small_nodes(x, 300) < 0)
        return;
    if (rd_eval(ctx, x, &out) == RD_OK)
        rd_array_free(&out);
    rd_error_clear(ctx);
}

/* In its first line: below stands the text, which may name whatever it likes. */
static bool names_twice(const char *sentence)
{
    static const char call[] = "rd_formula: ";
    const char *first = strstr(sentence, call), *again = first ? strstr(first + 1, call) : NULL;

    return again && again < sentence + strcspn(sentence, "\n");
}

static void try_text(rd_ctx *ctx, const char *text)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    rd_named      in[] = {
             { .name = "x", .x = rd_wrap(ctx, x_data, RD_SHAPE(4, 5)) },
             { .name = "y", .x = rd_wrap(ctx, y_data, RD_SHAPE(5, 6)) },
             { .name = "v", .x = rd_wrap(ctx, v_data, RD_SHAPE(5)) },
             { .name = "z", .x = rd_complex(rd_wrap(ctx, pairs, RD_SHAPE(3)), rd_num(ctx, 1)) },
             { .name = "idx", .x = rd_wrap(ctx, idx_data, RD_SHAPE(3)) },
             { .name = "mask", .x = rd_wrap(ctx, mask, RD_SHAPE(4, 5)) },
    };
    rd_formula_opts opts = { .size = sizeof opts, .n_in = 6, .in = in };
    rd_named        out[RESULTS];

    if (text != now)
        snprintf(now, sizeof now, "%s", text);
    alarm(60); /* a text that takes this long is a finding */
    const int n = rd_formula_all(ctx, text, &opts, RESULTS, out);
    if ((n == 0) != (rd_error(ctx) != RD_OK))
        fail("results and a failure, or neither,");
    if (n == 0 && rd_error(ctx) != RD_ERR_MEMORY && !strchr(rd_error_text(ctx), '^'))
        fail("no caret in the sentence");
    if (n == 0 && names_twice(rd_error_text(ctx)))
        fail("a sentence that names its call twice");
    rd_error_clear(ctx);
    for (int k = 0; k < n; k++) {
        if (!out[k].x || !out[k].name)
            fail("a result that is NULL");
        if (chance(8) == 0)
            evaluate(ctx, out[k].x);
    }
    rd_ctx_release(ctx, mark);
}

static rd_ctx *fresh(rd_ctx *old)
{
    rd_ctx_free(old);
    return rd_ctx_new(&(rd_ctx_opts){ .threads = 1, .memory_limit = 1 << 28 });
}

#ifdef FUZZ_LIBFUZZER
/* A seed may be a list of formulas, one a line. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    enum { MOST_STATEMENTS = 8 };
    static rd_ctx *ctx;
    static char    all[ROOM];
    static long    tried;
    int            lines = 0;

    if (n >= ROOM)
        return 0;
    memcpy(all, bytes, n);
    all[n] = '\0';
    for (const char *c = all; *c; c++)
        lines += *c == '\n';
    if (tried++ % PER_CONTEXT == 0)
        ctx = fresh(ctx);
    state = n;
    if (lines <= MOST_STATEMENTS)
        try_text(ctx, all);
    for (char *line = strtok(all, "\n"); lines > MOST_STATEMENTS && line; line = strtok(NULL, "\n"))
        try_text(ctx, line);
    return 0;
}
#else
static void try_changes(double seconds, long most)
{
    const time_t end = time(NULL) + (time_t)seconds;
    rd_ctx      *ctx = NULL;
    long         n   = 0;

    for (; n < most && (seconds <= 0 || time(NULL) < end); n++) {
        if (n % PER_CONTEXT == 0)
            ctx = fresh(ctx);
        snprintf(now, sizeof now, "%s", seed[chance((uint64_t)n_seeds)]);
        for (uint64_t k = chance(6) + 1; k > 0; k--)
            change(now);
        try_text(ctx, now);
    }
    rd_ctx_free(ctx);
    printf("fuzz_formula: %d lines, %ld changes of them\n", n_seeds, n);
}

/* ---- Files ------------------------------------------------------------------------------------- */
static char *whole_file(const char *path)
{
    FILE  *file = fopen(path, "rb");
    char  *text = calloc(1, ROOM);
    size_t n    = file && text ? fread(text, 1, ROOM - 1, file) : 0;

    if (file)
        fclose(file);
    else
        perror(path);
    return n || file ? text : (free(text), NULL);
}

static void add_lines(char *text)
{
    for (char *line = strtok(text, "\n"); line && n_seeds < MOST_SEEDS; line = strtok(NULL, "\n"))
        seed[n_seeds++] = strdup(line);
}

static bool add_folder(const char *path)
{
    DIR                 *folder = opendir(path);
    const struct dirent *entry;
    char                 name[4096], *text;

    while (folder && (entry = readdir(folder))) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || !(text = whole_file(name)))
            continue;
        add_lines(text);
        free(text);
    }
    if (folder)
        closedir(folder);
    return n_seeds > 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
    struct stat  is;
    const double seconds = argc > 2 ? atof(argv[2]) : 0;
    rd_ctx      *ctx     = fresh(NULL);

    signal(SIGABRT, tell);
    signal(SIGALRM, tell);
    state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc < 2 || stat(argv[1], &is)) {
        fprintf(stderr, "fuzz_formula FOLDER [SECONDS [SEED]], or fuzz_formula FILE\n");
        return EXIT_FAILURE;
    }
    if (!S_ISDIR(is.st_mode)) {
        char *text = whole_file(argv[1]);

        if (text)
            try_text(ctx, text);
        free(text);
        rd_ctx_free(ctx);
        return EXIT_SUCCESS;
    }
    if (!add_folder(argv[1]))
        return EXIT_FAILURE;
    qsort(seed, (size_t)n_seeds, sizeof *seed, by_text); /* folders have no order */
    for (int k = 0; k < n_seeds; k++)
        try_text(ctx, seed[k]);
    rd_ctx_free(ctx);
    try_changes(seconds, seconds > 0 ? (1L << 62) : (long)EACH * n_seeds);
    for (int k = 0; k < n_seeds; k++)
        free(seed[k]);
    return EXIT_SUCCESS;
}
#endif
