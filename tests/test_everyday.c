/* test_everyday.c - no everyday expression runs element by element: each is planned, not run, in
 * the strict mode, which refuses slow forms.  What C order forbids to be fast is named here, and in
 * docs/performance.md. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <rdim.h>
#include <stdio.h>

enum { ROWS = 20000, COLUMNS = 20, POINTS = 700 };

RD_REDUCER(my_sum, float, float, 1, (double v;), (s->v = 0;), (s->v += x;), (a->v += b->v;),
           (y[0] = (float)s->v;))
RD_FN1(soft, x, x / (1 + abs(x)))

static float plus_one(float x)
{
    return x + 1;
}

static const char *by_block(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    for (int64_t i = 0; i < n; i++)
        ((float *)out)[i] = ((const float *)in[0])[i] + 1;
    return NULL;
}

/* ---- Leaves, of which nothing is read -------------------------------------------------------- */
static rd_ctx *ctx;

enum { N_TYPES = 5, N_LEAVES = N_TYPES + 4 };
static const struct {
    const char *name;
    rd_dtype    type;
} types[N_TYPES] = {
    { "f32", RD_F32 }, { "f64", RD_F64 }, { "i32", RD_I32 }, { "bool", RD_BOOL }, { "f16", RD_F16 }
};

static rd_expr *leaves[N_LEAVES];

static rd_expr *leaf(int number, const char *name, rd_dtype type, rd_shape shape)
{
    if (!leaves[number])
        leaves[number] = rd_input(ctx, name, &(rd_array){ .type = type, .shape = shape });
    ck_assert_msg(leaves[number] != NULL, "%s", rd_error_text(ctx));
    return leaves[number];
}

static rd_expr *table(int type)
{
    return leaf(type, types[type].name, types[type].type, RD_SHAPE(ROWS, COLUMNS));
}

static rd_expr *x(void)
{
    return table(0);
}

static rd_expr *ints(void)
{
    return table(2);
}

static rd_expr *mask(void)
{
    return rd_gt(x(), rd_num(ctx, 100));
}

static rd_expr *rows(void)
{
    return leaf(N_TYPES, "rows", RD_I32, RD_SHAPE(ROWS));
}

static rd_expr *columns(void)
{
    return leaf(N_TYPES + 1, "columns", RD_I64, RD_SHAPE(COLUMNS));
}

static rd_expr *line(void)
{
    return leaf(N_TYPES + 2, "line", RD_F32, RD_SHAPE(ROWS * COLUMNS));
}

/* Squared distances of pairs of points. */
static rd_expr *pairs(void)
{
    rd_expr *p = leaf(N_TYPES + 3, "points", RD_F32, RD_SHAPE(POINTS, 3));

    return rd_sum(rd_square(rd_sub(rd_expand(p, 1), rd_expand(p, 0))), RD_DIMS(-1));
}

static rd_expr *off_diagonal(void)
{
    return rd_ne(rd_coord(pairs(), 0), rd_coord(pairs(), 1));
}

/* ---- One expression -------------------------------------------------------------------------- */
/* Slow forms, of which there is none, and those that a compiled loop takes one after another:
 * docs/performance.md. */
static const struct {
    const char *what;
    bool        chain;
} allowed[] = {
    { "sumall serial", true },
    { "meanall serial", true },
};
enum { N_ALLOWED = sizeof allowed / sizeof *allowed };

static bool is_allowed(const char *what, bool chain)
{
    for (size_t k = 0; k < N_ALLOWED; k++)
        if (strcmp(allowed[k].what, what) == 0 && allowed[k].chain == chain)
            return true;
    return false;
}

static int asked, slow, wrong;

static rd_exprs inputs(rd_expr **used)
{
    rd_exprs in = { used, 0 };

    for (int k = 0; k < N_LEAVES; k++)
        if (leaves[k])
            used[in.n++] = leaves[k];
    return in;
}

static void expect(const char *what, bool is, bool may_be, const char *text)
{
    if (is != may_be) {
        wrong++;
        fprintf(stderr, "%s: %s\n", what, is ? text : "is fast, and named as slow");
    }
}

/* Planned in the strict mode, and explained.  What is named as slow must be so. */
static void try(const char *what, rd_expr *y)
{
    rd_expr    *used[N_LEAVES];
    rd_plan    *plan;
    const char *text;

    ck_assert_msg(y != NULL, "%s: %s", what, rd_error_text(ctx));
    plan = rd_plan_new(ctx, inputs(used), RD_RESULTS({ y, NULL }), NULL);
    asked++;
    slow += !plan;
    ck_assert(plan || rd_error(ctx) == RD_ERR_LIMIT);
    expect(what, !plan, is_allowed(what, false), rd_error_text(ctx));
    rd_error_clear(ctx);
    rd_plan_free(plan);
    text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
    ck_assert(text != NULL);
    expect(what, strstr(text, "note: ") != NULL, is_allowed(what, true), text);
}

/* ---- Reductions ------------------------------------------------------------------------------ */
static const struct {
    const char *name;
    bool        weights, accuracy, initial, of_type, of_bool, of_any;
} reducers[] = {
    { "sum", false, true, true, true, true, true },
    { "prod", false, false, true, true, true, true },
    { "min", false, false, true, false, true, true },
    { "max", false, false, true, false, true, true },
    { "argmin", false, false, false, false, true, true },
    { "argmax", false, false, false, false, true, true },
    { "any", false, false, false, false, true, true },
    { "all", false, false, false, false, true, true },
    { "count", false, false, false, false, true, true },
    { "mean", true, true, false, true, true, true },
    { "var", true, false, false, true, true, true },
    { "std", true, false, false, true, true, true },
    { "skewness", true, false, false, true, true, true },
    { "kurtosis", true, false, false, true, true, true },
    { "norm", false, false, false, true, true, true },
    { "logsumexp", true, false, false, true, true, true },
};
enum { N_REDUCERS = sizeof reducers / sizeof *reducers, N_DIMS = 3 };

static const struct {
    const char *name;
    rd_dims     dims;
} axes[N_DIMS] = { { "(0)", { 1, 0, { 0 } } },
                   { "(1)", { 1, 0, { 1 } } },
                   { "all", { 0, RD_DIMS_EXCEPT, { 0 } } } };

static void try_reduce(int r, int d, const char *what, rd_expr *of, rd_reduce_opts opts)
{
    char name[96];

    opts.size = sizeof opts;
    opts.dims = axes[d].dims;
    snprintf(name, sizeof name, "%s%s %s", reducers[r].name, axes[d].name, what);
    try(name, rd_reduce_name(of, reducers[r].name, &opts));
}

#define KEYWORDS(...) ((rd_reduce_opts){ __VA_ARGS__ })

static void try_keywords(int r, int d)
{
    try_reduce(r, d, ".where", x(), KEYWORDS(.where = mask()));
    try_reduce(r, d, ".where of f64", table(1), KEYWORDS(.where = mask()));
    try_reduce(r, d, ".where of i32", ints(),
               KEYWORDS(.where = mask(), .initial = reducers[r].initial ? rd_int(ctx, 1) : NULL));
    try_reduce(r, d, ".skip_nan", x(), KEYWORDS(.skip_nan = true));
    try_reduce(r, d, ".where .skip_nan", x(), KEYWORDS(.where = mask(), .skip_nan = true));
    if (reducers[r].weights)
        try_reduce(r, d, ".weights", x(), KEYWORDS(.weights = rd_slice(x(), "0")));
    if (reducers[r].weights)
        try_reduce(r, d, ".weights .where", x(), KEYWORDS(.weights = x(), .where = mask()));
    if (reducers[r].initial)
        try_reduce(r, d, ".initial", x(), KEYWORDS(.initial = rd_num(ctx, 1)));
    if (reducers[r].of_type)
        try_reduce(r, d, ".type f64", x(), KEYWORDS(.type = RD_F64));
    if (!reducers[r].accuracy)
        return;
    try_reduce(r, d, "compensated", x(), KEYWORDS(.accuracy = RD_COMPENSATED));
    try_reduce(r, d, "wide", x(), KEYWORDS(.accuracy = RD_WIDE));
    try_reduce(r, d, "serial", x(), KEYWORDS(.accuracy = RD_SERIAL));
}

START_TEST(reductions)
{
    for (int d = 0; d < N_DIMS; d++) {
        for (int t = 0; t < N_TYPES; t++)
            try_reduce(_i, d, types[t].name, table(t), KEYWORDS(.size = 0));
        try_reduce(_i, d, "of a map", rd_exp(x()), KEYWORDS(.size = 0));
        try_reduce(_i, d, "of pairs", pairs(), KEYWORDS(.size = 0));
        try_reduce(_i, d, "of pairs .where off the diagonal", pairs(),
                   KEYWORDS(.where = off_diagonal()));
        try_keywords(_i, d);
    }
    try_reduce(_i, 2, "of one axis", line(), KEYWORDS(.size = 0));
}
END_TEST

/* ---- Scans ----------------------------------------------------------------------------------- */
static void try_scan(const char *r, int d, const char *what, rd_expr *of, rd_reduce_opts opts)
{
    char name[96];

    opts.size = sizeof opts;
    opts.dims = axes[d].dims;
    snprintf(name, sizeof name, "scan %s%s %s", r, axes[d].name, what);
    try(name, rd_scan_name(of, r, &opts));
}

START_TEST(scans)
{
    static const char *const names[] = { "sum", "prod", "min", "max" };
    const char *const        r       = names[_i];
    rd_expr *const           first   = _i < 2 ? NULL : rd_num(ctx, 0);

    for (int d = 0; d < 2; d++) {
        for (int t = 0; t < N_TYPES; t++)
            try_scan(r, d, types[t].name, table(t), KEYWORDS(.size = 0));
        try_scan(r, d, "exclusive", x(), KEYWORDS(.exclusive = true, .initial = first));
        try_scan(r, d, "reverse", x(), KEYWORDS(.reverse = true));
        try_scan(r, d, "exclusive reverse", x(),
                 KEYWORDS(.exclusive = true, .reverse = true, .initial = first));
        try_scan(r, d, "skip_nan", x(), KEYWORDS(.skip_nan = true));
        try_scan(r, d, "where", x(), KEYWORDS(.where = mask()));
        try_scan(r, d, "of a map", rd_sqrt(x()), KEYWORDS(.size = 0));
    }
    try_scan(r, 0, "of one axis", line(), KEYWORDS(.size = 0));
    try_scan(r, 0, "of one axis, where", line(), KEYWORDS(.where = rd_gt(line(), rd_num(ctx, 0))));
    try_scan(r, 0, "of one axis, reverse", line(), KEYWORDS(.reverse = true));
}
END_TEST

/* ---- The caller's functions ------------------------------------------------------------------ */
START_TEST(own_reducers)
{
    char name[96];

    for (int d = 0; d < N_DIMS; d++) {
#define OWN(what, ...) \
    (snprintf(name, sizeof name, "own reducer %s%s", axes[d].name, what), try(name, __VA_ARGS__))
        OWN("", rd_reduce(x(), my_sum, axes[d].dims));
        OWN(" .where", rd_reduce(x(), my_sum, axes[d].dims, .where = mask()));
        OWN(" of a map", rd_reduce(rd_sqrt(x()), my_sum, axes[d].dims));
        OWN(" of pairs", rd_reduce(pairs(), my_sum, axes[d].dims));
        if (d < 2)
            OWN(" scan", rd_scan(x(), my_sum, axes[d].dims));
    }
    try("own reducer of one axis", rd_reduce(line(), my_sum, RD_DIMS(0)));
}
END_TEST

START_TEST(own_functions)
{
    const rd_fn block = { .size  = sizeof block,
                          .name  = "by_block",
                          .arity = 1,
                          .in    = RD_F32,
                          .out   = RD_F32,
                          .block = by_block };

    try("map by a C function", rd_map(x(), plus_one));
    try("sum of a C function", rd_sum(rd_map(x(), plus_one), RD_DIMS(0)));
    try("map by RD_FN1", rd_map(x(), soft));
    try("map by a block callback", rd_map(x(), &block));
    try("sum(0) of a block callback", rd_sum(rd_map(x(), &block), RD_DIMS(0)));
    try("sum(1) of a block callback", rd_sum(rd_map(x(), &block), RD_DIMS(1)));
    try("text with ? : and %", rd_map(x(), "x > 100 ? x % 7 : -x"));
}
END_TEST

/* ---- Views and maps -------------------------------------------------------------------------- */
START_TEST(gathers)
{
    try("take rows by i32", rd_take(x(), 0, rows()));
    try("take along the last axis", rd_take(x(), 1, columns()));
    try("take of one axis", rd_take(line(), 0, rows()));
    try("sum(0) of take", rd_sum(rd_take(x(), 0, rows()), RD_DIMS(0)));
    try("sum(1) of take", rd_sum(rd_take(x(), 0, rows()), RD_DIMS(1)));
    try("take of a scan", rd_take(rd_scan(x(), "sum", RD_DIMS(0)), 0, rows()));
    try("take of a take",
        rd_take(rd_take(x(), 0, rows()), 0, rd_remainder(rows(), rd_int(ctx, 9))));
    try("take of a map", rd_take(rd_exp(x()), 0, rows()));
    try("take along each row", rd_take_along(x(), 1, rd_argmax(x(), RD_KEEP(1))));
}
END_TEST

START_TEST(views)
{
    rd_expr *w = rd_window(rd_window(x(), 0, 3, 1), 1, 3, 1);

    try("window max of two axes", rd_max(w, RD_DIMS(-2, -1)));
    try("window sum of two axes", rd_sum(w, RD_DIMS(-2, -1)));
    try("window mean, step 4", rd_mean(rd_window(x(), 0, 4, 4), RD_DIMS(-1)));
    try("window sum of one axis", rd_sum(rd_window(line(), 0, 7, 1), RD_DIMS(-1)));
    try("differences", rd_sub(rd_slice(x(), "2:"), rd_slice(x(), ":-2")));
    try("every other, reversed", rd_slice(x(), "::2, ::-1"));
    try("transpose", rd_transpose(x()));
    try("flip, transpose, reshape",
        rd_transpose(rd_flip(rd_reshape(x(), RD_SHAPE(ROWS / 2, COLUMNS * 2)), RD_DIMS(0, 1))));
    try("concat of maps", rd_concat(1, RD_EXPRS(x(), rd_exp(x()), rd_sqrt(x()))));
    try("broadcast", rd_add(x(), rd_slice(x(), "0")));
    try("sum of a diagonal", rd_sum(rd_diagonal(pairs(), 0, 1, 0), RD_ALL));
    try("strided columns", rd_sum(rd_slice(x(), ":, ::3"), RD_DIMS(0)));
}
END_TEST

START_TEST(maps)
{
    rd_expr *one = rd_int(ctx, 1);

    try("pow, atan2, hypot, remainder",
        rd_pow(rd_atan2(x(), x()), rd_hypot(x(), rd_remainder(x(), rd_num(ctx, 3)))));
    try("int floordiv", rd_floordiv(ints(), rd_add(ints(), one)));
    try("int remainder", rd_remainder(ints(), rd_add(ints(), one)));
    try("int pow", rd_pow(ints(), rd_int(ctx, 3)));
    try("cast to u8", rd_cast(x(), RD_U8));
    try("cast to f16", rd_cast(x(), RD_F16));
    try("cast from f16", rd_cast(table(4), RD_F32));
    try("where", rd_where(mask(), x(), rd_num(ctx, 0)));
    try("isnan, not, and", rd_and(rd_not(rd_isnan(x())), mask()));
    try("softmax", rd_div(rd_exp(x()), rd_sum(rd_exp(x()), RD_KEEP(1))));
    try("layer norm", rd_div(rd_sub(x(), rd_mean(x(), RD_KEEP(1))), rd_std(x(), RD_KEEP(1))));
    try("anomalies", rd_sub(x(), rd_mean(x(), RD_DIMS(0), .skip_nan = true)));
    try("matrix product",
        rd_sum(rd_mul(rd_expand(rd_slice(x(), ":500"), 1), rd_expand(rd_slice(x(), ":400"), 0)),
               RD_DIMS(-1)));
    rd_expr *square = rd_reshape(rd_slice(line(), "0:360000"), RD_SHAPE(600, 600));
    try("two products with a vector",
        rd_einsum("ij,jk,k->i", square, square, rd_select(square, 0, 0)));
    try("nearest", rd_argmin(pairs(), RD_DIMS(1), .where = off_diagonal()));
    try("kernel sum", rd_sum(rd_exp(rd_neg(pairs())), RD_DIMS(1)));
}
END_TEST

/* ---- The page -------------------------------------------------------------------------------- */
/* What is allowed to be slow is told to users, word for word. */
START_TEST(told)
{
    static char page[1 << 17];
    FILE       *file = fopen("docs/performance.md", "re");
    char        name[96];

    ck_assert_msg(file != NULL, "no docs/performance.md here");
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    for (size_t k = 0; k < N_ALLOWED; k++) {
        snprintf(name, sizeof name, "`%s`", allowed[k].what);
        ck_assert_msg(strstr(page, name) != NULL, "docs/performance.md does not name %s", name);
    }
}
END_TEST

/* ---- The suite ------------------------------------------------------------------------------- */
static void begin(void)
{
    setenv("RDIM_STRICT", "1", 1);
    rd_tier_force("async"); /* nothing is compiled: whether it can be is what counts */
    ctx   = rd_ctx_new(NULL);
    asked = slow = wrong = 0;
    memset(leaves, 0, sizeof leaves);
}

static void end(void)
{
    rd_ctx_free(ctx);
    ck_assert_msg(wrong == 0, "%d of %d expressions, of which %d are slow", wrong, asked, slow);
}

int main(void)
{
    Suite   *suite = suite_create("everyday");
    TCase   *tcase = tcase_create("everyday");
    SRunner *runner;
    int      failed;

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_loop_test(tcase, reductions, 0, N_REDUCERS);
    tcase_add_loop_test(tcase, scans, 0, 4);
    tcase_add_test(tcase, own_reducers);
    tcase_add_test(tcase, own_functions);
    tcase_add_test(tcase, gathers);
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, maps);
    tcase_add_test(tcase, told);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
