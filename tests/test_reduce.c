/* Reductions and scans as they are built: types, shapes, keywords and refusals.  Nothing is
 * evaluated. */
#include "expr/expr.h"
#include "suite.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *input(rd_dtype type, rd_shape shape)
{
    char name[64], text[RD_SHAPE_TEXT];

    snprintf(name, sizeof name, "%s%.40s", rd_dtype_name(type),
             rd_shape_text(shape.n, shape.at, text));
    return rd_input(ctx, name, &(rd_array){ .type = type, .shape = shape });
}

static rd_expr *cube(rd_dtype type)
{
    return input(type, RD_SHAPE(2, 3, 4));
}

static void ck_no_error(const char *what)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s: %s", what, rd_error_text(ctx));
}

static void ck_failed(const void *y, rd_status status, const char *words, const char *what)
{
    ck_assert_msg(!y, "%s: is not refused", what);
    ck_assert_msg(rd_error(ctx) == status, "%s: %s: %s", what, rd_status_name(rd_error(ctx)),
                  rd_error_text(ctx));
    ck_assert_msg(strstr(rd_error_text(ctx), words) != NULL, "%s: \"%s\" lacks \"%s\"", what,
                  rd_error_text(ctx), words);
    rd_error_clear(ctx);
}

static bool has_shape(const rd_expr *y, rd_shape want)
{
    return y && y->rank == want.n && !memcmp(y->extent, want.at, (size_t)want.n * sizeof *want.at);
}

/* The one fold below y, looking through views, casts and maps of it with numbers. */
static const rd_expr *fold_of(const rd_expr *y)
{
    while (y && y->kind != RD_EXPR_REDUCE && y->kind != RD_EXPR_SCAN)
        y = y->n_in ? y->in[0] : NULL;
    ck_assert_ptr_nonnull(y);
    return y;
}

/* ---- Types: of the operand, the accumulator and the result ----------------------------------- */
static const struct {
    const char *name;
    rd_dtype    x, accumulator, want;
} type_cases[] = {
    { "sum", RD_BOOL, RD_I64, RD_I64 },     { "sum", RD_I8, RD_I64, RD_I64 },
    { "sum", RD_U16, RD_U64, RD_U64 },      { "sum", RD_F32, RD_F32, RD_F32 },
    { "prod", RD_BOOL, RD_I64, RD_I64 },    { "prod", RD_U64, RD_U64, RD_U64 },
    { "min", RD_U8, RD_U8, RD_U8 },         { "max", RD_BOOL, RD_BOOL, RD_BOOL },
    { "argmin", RD_I16, RD_I16, RD_I64 },   { "argmax", RD_F64, RD_F64, RD_I64 },
    { "any", RD_F32, RD_BOOL, RD_BOOL },    { "all", RD_I32, RD_BOOL, RD_BOOL },
    { "bits_and", RD_I8, RD_I8, RD_I8 },    { "bits_xor", RD_BOOL, RD_BOOL, RD_BOOL },
    { "bits_or", RD_U64, RD_U64, RD_U64 },  { "count", RD_F32, RD_I64, RD_I64 },
    { "count", RD_BOOL, RD_I64, RD_I64 },   { "mean", RD_I32, RD_F64, RD_F64 },
    { "mean", RD_F32, RD_F32, RD_F32 },     { "var", RD_U8, RD_F64, RD_F64 },
    { "var", RD_F32, RD_F32, RD_F32 },      { "std", RD_BOOL, RD_F64, RD_F64 },
    { "norm", RD_I8, RD_F64, RD_F64 },      { "norm", RD_F32, RD_F32, RD_F32 },
    { "logsumexp", RD_I8, RD_F64, RD_F64 },
};

START_TEST(types)
{
    const char *name = type_cases[_i].name;
    rd_expr    *y    = rd_reduce(cube(type_cases[_i].x), name, RD_DIMS(1));

    ck_no_error(name);
    ck_assert_msg(y && y->type == type_cases[_i].want, "%s: %s", name,
                  rd_dtype_name(rd_type_of(y)));
    ck_assert_msg(fold_of(y)->in[0]->type == type_cases[_i].accumulator, "%s: in %s", name,
                  rd_dtype_name(fold_of(y)->in[0]->type));
}
END_TEST

/* .type, and RD_WIDE where want is the result and accumulator what is summed in */
static const struct {
    const char *name;
    rd_dtype    x, type;
    rd_accuracy accuracy;
    rd_dtype    accumulator, want;
} asked_cases[] = {
    { "sum", RD_F32, RD_F64, RD_PAIRWISE, RD_F64, RD_F64 },
    { "sum", RD_I8, RD_I8, RD_PAIRWISE, RD_I64, RD_I8 },
    { "sum", RD_I8, RD_F32, RD_PAIRWISE, RD_F64, RD_F32 },
    { "sum", RD_F64, RD_F32, RD_PAIRWISE, RD_F64, RD_F32 },
    { "sum", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "sum", RD_F32, RD_F64, RD_WIDE, RD_F64, RD_F64 },
    { "sum", RD_I32, RD_AUTO, RD_WIDE, RD_I64, RD_I64 },
    { "prod", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "mean", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "var", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "skewness", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "kurtosis", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "norm", RD_F32, RD_AUTO, RD_WIDE, RD_F64, RD_F32 },
    { "mean", RD_U8, RD_F32, RD_PAIRWISE, RD_F64, RD_F32 },
    { "max", RD_I8, RD_I32, RD_PAIRWISE, RD_I32, RD_I32 },
    { "max", RD_I32, RD_I8, RD_PAIRWISE, RD_I32, RD_I8 },
    { "argmax", RD_F32, RD_I32, RD_PAIRWISE, RD_F32, RD_I32 },
    { "count", RD_F32, RD_U8, RD_PAIRWISE, RD_I64, RD_U8 },
};

START_TEST(types_asked)
{
    const char *name = asked_cases[_i].name;
    rd_expr    *y = rd_reduce(cube(asked_cases[_i].x), name, RD_ALL, .type = asked_cases[_i].type,
                              .accuracy = asked_cases[_i].accuracy);

    ck_no_error(name);
    ck_assert_msg(y->type == asked_cases[_i].want, "%s: %s", name, rd_dtype_name(y->type));
    ck_assert_msg(fold_of(y)->in[0]->type == asked_cases[_i].accumulator, "%s: in %s", name,
                  rd_dtype_name(fold_of(y)->in[0]->type));
}
END_TEST

/* ---- Shapes ---------------------------------------------------------------------------------- */
#define SHAPE(...)                                                          \
    {                                                                       \
        (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), 0, \
        {                                                                   \
            __VA_ARGS__                                                     \
        }                                                                   \
    }
#define AXES(f, ...)                                                        \
    {                                                                       \
        (int32_t)(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)), f, \
        {                                                                   \
            __VA_ARGS__                                                     \
        }                                                                   \
    }

static const struct {
    const char *what;
    rd_dims     dims;
    rd_shape    want;
    uint64_t    bits;
} shape_cases[] = {
    { "first", AXES(0, 0), SHAPE(3, 4), 1 },
    { "last", AXES(0, -1), SHAPE(2, 3), 4 },
    { "two, any order", AXES(0, 2, 0), SHAPE(3), 5 },
    { "all", { .flags = RD_DIMS_EXCEPT }, { 0 }, 7 },
    { "none", { 0 }, SHAPE(2, 3, 4), 0 },
    { "all but one", AXES(RD_DIMS_EXCEPT, 1), SHAPE(3), 5 },
    { "keep", AXES(RD_DIMS_KEEP, 1), SHAPE(2, 1, 4), 2 },
    { "keep two", AXES(RD_DIMS_KEEP, 0, 2), SHAPE(1, 3, 1), 5 },
    { "keep all", { .flags = RD_DIMS_EXCEPT | RD_DIMS_KEEP }, SHAPE(1, 1, 1), 7 },
    { "keep none", { .flags = RD_DIMS_KEEP }, SHAPE(2, 3, 4), 0 },
};

START_TEST(shapes)
{
    static const char *const names[] = { "sum",    "prod",      "min",      "max",
                                         "argmin", "argmax",    "any",      "all",
                                         "count",  "mean",      "var",      "std",
                                         "norm",   "logsumexp", "skewness", "kurtosis" };

    for (size_t k = 0; k < COUNT(names); k++) {
        rd_expr *y = rd_reduce(cube(RD_F32), names[k], shape_cases[_i].dims);

        ck_no_error(shape_cases[_i].what);
        ck_assert_msg(has_shape(y, shape_cases[_i].want), "%s, %s", names[k], shape_cases[_i].what);
        ck_assert_uint_eq(fold_of(y)->as.fold->dims, shape_cases[_i].bits);
        ck_assert_int_eq(fold_of(y)->kind, RD_EXPR_REDUCE);
    }
}
END_TEST

START_TEST(kept_axes_are_views)
{
    rd_expr *x = cube(RD_F32), *y = rd_sum(x, RD_KEEP(1));

    ck_assert_ptr_eq(rd_squeeze(y, RD_DIMS(1)), rd_sum(x, RD_DIMS(1)));
    ck_assert_ptr_eq(y, rd_expand(rd_sum(x, RD_DIMS(1)), 1));
    ck_assert_ptr_eq(rd_sum(x, RD_DIMS(0, 2)), rd_sum(x, RD_DIMS(-1, -3)));
    ck_assert_ptr_eq(rd_sum(x, RD_EXCEPT(1)), rd_sum(x, RD_DIMS(0, 2)));
}
END_TEST

/* ---- What a name becomes --------------------------------------------------------------------- */
START_TEST(lowered)
{
    rd_expr *x = cube(RD_F32), *m = input(RD_BOOL, RD_SHAPE(4)), *w = input(RD_F64, RD_SHAPE(3, 1));
    rd_expr *seen_m = rd_broadcast(m, rd_shape_of(x)), *mean = rd_mean(x, RD_DIMS(0), .where = m);

    ck_assert_ptr_eq(rd_mean(x, RD_DIMS(0)), rd_div(rd_sum(x, RD_DIMS(0)), rd_num(ctx, 2)));
    ck_assert_ptr_eq(mean, rd_div(rd_sum(x, RD_DIMS(0), .where = m),
                                  rd_sum(rd_cast(seen_m, RD_F32), RD_DIMS(0))));
    ck_assert_ptr_eq(rd_sum(x, RD_ALL, .where = m),
                     rd_sum(rd_where(seen_m, x, rd_int(ctx, 0)), RD_ALL));
    ck_assert_ptr_eq(rd_all(seen_m, RD_ALL, .where = m),
                     rd_all(rd_where(seen_m, seen_m, rd_cast(rd_int(ctx, 1), RD_BOOL)), RD_ALL));
    ck_assert_ptr_eq(fold_of(rd_max(x, RD_DIMS(0), .where = m))->in[2], seen_m);
    ck_assert_ptr_eq(
        rd_mean(x, RD_ALL, .weights = w),
        rd_div(rd_sum(rd_mul(x, rd_cast(w, RD_F32)), RD_ALL),
               rd_mul(rd_sum(rd_broadcast(rd_cast(w, RD_F32), RD_SHAPE(1, 3, 1)), RD_ALL),
                      rd_num(ctx, 8))));
    ck_assert_ptr_eq(
        rd_mean(x, RD_DIMS(0), .weights = w),
        rd_div(rd_sum(rd_mul(x, rd_cast(w, RD_F32)), RD_DIMS(0)),
               rd_mul(rd_sum(rd_broadcast(rd_cast(w, RD_F32), RD_SHAPE(1, 3, 4)), RD_DIMS(0)),
                      rd_num(ctx, 2))));
    ck_assert_ptr_eq(rd_mean(x, RD_DIMS(1), .weights = w),
                     rd_div(rd_sum(rd_mul(x, rd_cast(w, RD_F32)), RD_DIMS(1)),
                            rd_sum(rd_broadcast(rd_cast(w, RD_F32), rd_shape_of(x)), RD_DIMS(1))));
    ck_assert_ptr_eq(rd_std(x, RD_DIMS(1), .ddof = 1), rd_sqrt(rd_var(x, RD_DIMS(1), .ddof = 1)));
    ck_assert_ptr_eq(rd_norm(x, RD_DIMS(1)), rd_sqrt(rd_sum(rd_square(x), RD_DIMS(1))));
    ck_assert_ptr_eq(rd_norm(x, RD_DIMS(1), .p = 2), rd_norm(x, RD_DIMS(1)));
    ck_assert_ptr_eq(rd_norm(x, RD_DIMS(1), .p = 1), rd_sum(rd_abs(x), RD_DIMS(1)));
    ck_assert_ptr_eq(rd_norm(x, RD_DIMS(1), .p = INFINITY),
                     rd_max(rd_abs(x), RD_DIMS(1), .initial = rd_num(ctx, 0)));
    ck_assert_ptr_eq(rd_sum(x, RD_DIMS(0), .skip_nan = true),
                     rd_sum(x, RD_DIMS(0), .where = rd_not(rd_isnan(x))));
    ck_assert_ptr_eq(rd_sum(x, RD_DIMS(0), .skip_nan = true, .where = m),
                     rd_sum(x, RD_DIMS(0), .where = rd_and(m, rd_not(rd_isnan(x)))));
    ck_assert_ptr_eq(rd_sum(cube(RD_I8), RD_DIMS(0), .skip_nan = true),
                     rd_sum(cube(RD_I8), RD_DIMS(0)));
    ck_assert_ptr_eq(rd_sum(x, RD_DIMS(0), .initial = rd_num(ctx, 1)),
                     rd_add(rd_sum(x, RD_DIMS(0)), rd_num(ctx, 1)));
    ck_assert_ptr_eq(rd_reduce(x, "sum", RD_DIMS(0)), rd_sum(x, RD_DIMS(0)));
    ck_assert_ptr_eq(rd_reduce(rd_num(ctx, 2), "sum", RD_ALL),
                     rd_sum(rd_cast(rd_num(ctx, 2), RD_F64), RD_ALL));
    ck_no_error("lowered");
}
END_TEST

START_TEST(facts)
{
    rd_expr *x = cube(RD_F32), *w = input(RD_I32, RD_SHAPE(4)), *y;

    y = rd_var(x, RD_DIMS(1), .ddof = 1.5, .weights = w);
    ck_assert_int_eq(fold_of(y)->as.fold->reducer, RD_RED_moments);
    ck_assert(fold_of(y)->as.fold->ddof == 1.5);
    ck_assert_ptr_eq(fold_of(y)->in[1], rd_broadcast(rd_cast(w, RD_F32), rd_shape_of(x)));
    ck_assert_int_eq(fold_of(rd_sum(x, RD_ALL, .accuracy = RD_COMPENSATED))->as.fold->reducer,
                     RD_RED_sum2);
    ck_assert_int_eq(fold_of(rd_sum(w, RD_ALL, .accuracy = RD_COMPENSATED))->as.fold->reducer,
                     RD_RED_sum);
    ck_assert_int_eq(fold_of(rd_sum(x, RD_ALL))->as.fold->law, RD_LAW_commutes);
    ck_assert_int_eq(fold_of(rd_sum(x, RD_ALL, .accuracy = RD_SERIAL))->as.fold->law,
                     RD_LAW_serial);
    ck_assert_int_eq(fold_of(rd_any(x, RD_ALL, .accuracy = RD_SERIAL))->as.fold->law, RD_LAW_exact);
    ck_assert_int_eq(fold_of(rd_min(x, RD_ALL))->as.fold->identity, 0);
    ck_assert_int_eq(fold_of(rd_min(x, RD_ALL, .initial = rd_num(ctx, 1)))->as.fold->identity, 1);
    ck_assert_int_eq(fold_of(rd_sum(x, RD_ALL))->n_in, 3);
    ck_no_error("facts");
}
END_TEST

START_TEST(options_of_other_sizes)
{
    rd_expr       *x    = cube(RD_F32);
    rd_reduce_opts opts = { .size = sizeof opts, .dims = RD_DIMS(0), .ddof = 1 };

    ck_failed(rd_reduce_name(x, "sum", &opts), RD_ERR_ARGUMENT, ".ddof", "whole");
    opts.size = 0;
    ck_failed(rd_reduce_name(x, "sum", &opts), RD_ERR_ARGUMENT, ".ddof",
              "size 0: all of release 1");
    opts.size = offsetof(rd_reduce_opts, ddof);
    ck_assert_ptr_eq(rd_reduce_name(x, "sum", &opts), rd_sum(x, RD_DIMS(0)));
    opts.size = sizeof opts + 64, opts.ddof = 0;
    ck_assert_ptr_eq(rd_reduce_name(x, "sum", &opts), rd_sum(x, RD_DIMS(0)));
    ck_no_error("sizes");
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */
static const struct {
    const char *what, *name;
    rd_dims     dims;
    rd_status   status;
    const char *words;
} axis_cases[] = {
    { "past the end", "sum", AXES(0, 3), RD_ERR_AXIS, "rd_sum: no axis 3" },
    { "before the start", "mean", AXES(0, -4), RD_ERR_AXIS, "rd_mean: no axis -4" },
    { "twice", "sum", AXES(0, 1, -2), RD_ERR_AXIS, "twice" },
    { "too many", "sum", { .n = 33 }, RD_ERR_AXIS, "33" },
    { "negative count", "max", { .n = -1 }, RD_ERR_AXIS, "-1" },
    { "except past the end", "sum", AXES(RD_DIMS_EXCEPT, 5), RD_ERR_AXIS, "no axis 5" },
    { "flags", "sum", { .flags = 64 }, RD_ERR_ARGUMENT, "flags" },
    { "name", "foo", AXES(0, 0), RD_ERR_TEXT, "no reducer is called \"foo\"; there are sum, prod" },
    { "empty name", "", AXES(0, 0), RD_ERR_TEXT, "no reducer" },
    { "no row of the table", "moments", AXES(0, 0), RD_ERR_TEXT, "moments" },
    { "scan of", "rd_sum", AXES(0, 0), RD_ERR_TEXT, "rd_sum" },
};

START_TEST(axes_refused)
{
    ck_failed(rd_reduce(cube(RD_F32), axis_cases[_i].name, axis_cases[_i].dims),
              axis_cases[_i].status, axis_cases[_i].words, axis_cases[_i].what);
}
END_TEST

/* Which reducer takes which keyword: the others refuse it by name. */
static const struct {
    const char *name;
    bool        initial, weights, ddof, p, compensated, wide, ints;
} keyword_cases[] = {
    { "sum", .initial = true, .compensated = true, .wide = true },
    { "prod", .initial = true, .wide = true },
    { "min", .initial = true },
    { "max", .initial = true },
    { "argmin", .initial = false },
    { "argmax", .initial = false },
    { "any", .initial = false },
    { "all", .initial = false },
    { "bits_and", .initial = true, .ints = true },
    { "bits_or", .initial = true, .ints = true },
    { "bits_xor", .initial = true, .ints = true },
    { "count", .initial = false },
    { "mean", .weights = true, .compensated = true, .wide = true },
    { "var", .weights = true, .ddof = true, .wide = true },
    { "std", .weights = true, .ddof = true, .wide = true },
    { "skewness", .weights = true, .wide = true },
    { "kurtosis", .weights = true, .wide = true },
    { "norm", .p = true, .wide = true },
    { "logsumexp", .weights = true, .wide = true },
};

static void ck_takes(bool takes, rd_expr *y, const char *name, const char *keyword)
{
    ck_assert_msg(!takes == !y, "%s: %s: %s", name, keyword, rd_error_text(ctx));
    if (!takes)
        ck_failed(y, RD_ERR_ARGUMENT, keyword, name);
}

START_TEST(keywords)
{
    const char *name = keyword_cases[_i].name;
    rd_expr    *x = cube(keyword_cases[_i].ints ? RD_I32 : RD_F32), *one = rd_int(ctx, 1);

    ck_takes(keyword_cases[_i].initial, rd_reduce(x, name, RD_ALL, .initial = one), name,
             ".initial");
    ck_takes(keyword_cases[_i].weights, rd_reduce(x, name, RD_ALL, .weights = one), name,
             ".weights");
    ck_takes(keyword_cases[_i].ddof, rd_reduce(x, name, RD_ALL, .ddof = 1), name, ".ddof");
    ck_takes(keyword_cases[_i].p, rd_reduce(x, name, RD_ALL, .p = 1), name, ".p");
    ck_takes(keyword_cases[_i].compensated, rd_reduce(x, name, RD_ALL, .accuracy = RD_COMPENSATED),
             name, "RD_COMPENSATED");
    ck_takes(keyword_cases[_i].wide, rd_reduce(x, name, RD_ALL, .accuracy = RD_WIDE), name,
             "RD_WIDE");
    ck_takes(false, rd_reduce(x, name, RD_ALL, .exclusive = true), name, ".exclusive");
    ck_takes(false, rd_reduce(x, name, RD_ALL, .reverse = true), name, ".reverse");
    ck_takes(true, rd_reduce(x, name, RD_ALL, .accuracy = RD_SERIAL), name, "RD_SERIAL");
    ck_takes(true, rd_reduce(x, name, RD_ALL, .where = one, .skip_nan = true), name, ".where");
}
END_TEST

START_TEST(values_refused)
{
    rd_ctx  *other = rd_ctx_new(NULL);
    rd_expr *x = cube(RD_F32), *i = cube(RD_I8), *bad = input(RD_F32, RD_SHAPE(5));
    rd_expr *big = input(RD_F32, RD_SHAPE(1, 2, 3, 4));

    ck_failed(rd_sum(x, RD_ALL, .where = bad), RD_ERR_SHAPE, "rd_sum", "where");
    ck_failed(rd_sum(x, RD_ALL, .where = big), RD_ERR_SHAPE, "rd_sum", "where with more axes");
    ck_failed(rd_mean(x, RD_ALL, .weights = bad), RD_ERR_SHAPE, "rd_mean", "weights");
    ck_failed(rd_sum(x, RD_DIMS(0), .initial = bad), RD_ERR_SHAPE, "rd_sum", "initial");
    ck_failed(rd_sum(x, RD_ALL, .initial = x), RD_ERR_SHAPE, "rd_sum", "initial of x's shape");
    ck_failed(rd_sum(i, RD_ALL, .initial = rd_num(ctx, 0.5)), RD_ERR_TYPE, ".initial of type f64",
              "fraction");
    ck_failed(rd_min(i, RD_ALL, .initial = rd_int(ctx, 128)), RD_ERR_TYPE, "128", "too large");
    ck_failed(rd_min(i, RD_ALL, .initial = input(RD_I32, RD_SCALAR)), RD_ERR_TYPE, "i32", "wider");
    ck_failed(rd_norm(x, RD_ALL, .p = 3), RD_ERR_ARGUMENT, ".p is 3", "p");
    ck_failed(rd_norm(x, RD_ALL, .p = NAN), RD_ERR_ARGUMENT, ".p is", "p");
    ck_failed(rd_sum(x, RD_ALL, .type = (rd_dtype)77), RD_ERR_TYPE, ".type", "type");
    ck_failed(rd_sum(x, RD_ALL, .accuracy = (rd_accuracy)9), RD_ERR_ARGUMENT, ".accuracy is 9",
              "accuracy");
    ck_failed(rd_sum(x, RD_ALL, .where = rd_num(other, 1)), RD_ERR_ARGUMENT, "context",
              "other context");
    ck_failed(rd_reduce_name(x, "sum", NULL), RD_ERR_ARGUMENT, "options are NULL", "opts");
    ck_failed(rd_reduce_name(x, NULL, &(rd_reduce_opts){ 0 }), RD_ERR_ARGUMENT, "NULL", "name");
    ck_assert_ptr_null(rd_sum(NULL, RD_ALL));
    ck_assert_ptr_null(rd_scan(NULL, "sum", RD_DIMS(0)));
    ck_no_error("NULL passes through");
    rd_ctx_free(other);
}
END_TEST

START_TEST(empty)
{
    static const char *const needs[] = { "min", "max", "argmin", "argmax" };
    rd_expr *none = input(RD_F32, RD_SHAPE(2, 0)), *no_result = input(RD_F32, RD_SHAPE(0, 0)),
            *one = rd_num(ctx, 1);

    for (size_t k = 0; k < COUNT(needs); k++) {
        ck_failed(rd_reduce(none, needs[k], RD_DIMS(1)), RD_ERR_EMPTY, "(2, 0)", needs[k]);
        ck_failed(rd_reduce(none, needs[k], RD_ALL), RD_ERR_EMPTY, needs[k], needs[k]);
        ck_assert_ptr_nonnull(rd_reduce(none, needs[k], RD_DIMS(0))); /* no result, no question */
        ck_assert_ptr_nonnull(rd_reduce(no_result, needs[k], RD_DIMS(0)));
        ck_assert_ptr_nonnull(rd_reduce(none, needs[k], RD_NONE));
    }
    ck_assert_ptr_nonnull(rd_min(none, RD_ALL, .initial = one));
    ck_assert_ptr_nonnull(rd_sum(none, RD_ALL));
    ck_assert_ptr_nonnull(rd_norm(none, RD_ALL, .p = INFINITY));
    ck_no_error("empty");
    ck_failed(rd_min(cube(RD_I32), RD_ALL, .where = one), RD_ERR_EMPTY,
              ".where may leave no element", "ints");
    ck_failed(rd_max(cube(RD_BOOL), RD_ALL, .where = one), RD_ERR_EMPTY, "needs .initial", "bool");
    ck_assert_ptr_nonnull(rd_min(cube(RD_I32), RD_ALL, .where = one, .initial = rd_int(ctx, 9)));
    ck_assert_ptr_nonnull(rd_min(cube(RD_I32), RD_ALL, .skip_nan = true));
    ck_assert_ptr_nonnull(rd_min(cube(RD_F32), RD_ALL, .where = one));
    ck_no_error("masked");
}
END_TEST

/* ---- Scans ----------------------------------------------------------------------------------- */
START_TEST(scans)
{
    rd_expr *x = cube(RD_F32), *i = cube(RD_I8), *zero = rd_int(ctx, 0),
            *y = rd_scan(i, "sum", RD_DIMS(-1));

    ck_assert(y->kind == RD_EXPR_SCAN && y->type == RD_I64 && has_shape(y, RD_SHAPE(2, 3, 4)));
    ck_assert_uint_eq(y->as.fold->dims, 4);
    y = rd_scan(x, "max", RD_DIMS(0), .exclusive = true, .reverse = true, .initial = zero);
    ck_assert(fold_of(y)->as.fold->exclusive && fold_of(y)->as.fold->reverse &&
              fold_of(y)->as.fold->identity);
    ck_assert_ptr_eq(rd_scan(x, "sum", RD_DIMS(0), .initial = zero),
                     rd_add(rd_scan(x, "sum", RD_DIMS(0)), zero));
    ck_assert_int_eq(rd_type_of(rd_scan(i, "min", RD_DIMS(0))), RD_I8);
    ck_assert_int_eq(rd_type_of(rd_scan(x, "sum", RD_DIMS(0), .accuracy = RD_WIDE)), RD_F32);
    ck_assert_ptr_nonnull(
        fold_of(rd_scan(x, "max", RD_DIMS(0), .where = x, .skip_nan = true))->in[2]);
    ck_assert_ptr_nonnull(rd_scan(input(RD_F32, RD_SHAPE(0, 2)), "min", RD_DIMS(0)));
    ck_no_error("scans");
}
END_TEST

START_TEST(scans_refused)
{
    rd_expr *x = cube(RD_F32), *i = cube(RD_I8);

    ck_failed(rd_scan(x, "sum", RD_DIMS(0, 1)), RD_ERR_AXIS, "rd_scan: a scan runs along one axis",
              "two");
    ck_failed(rd_scan(x, "sum", RD_NONE), RD_ERR_AXIS, "one axis", "none");
    ck_failed(rd_scan(x, "sum", RD_ALL), RD_ERR_AXIS, "one axis", "all");
    ck_failed(rd_scan(x, "sum", RD_EXCEPT(0)), RD_ERR_AXIS, "one axis", "except");
    ck_failed(rd_scan(x, "sum", RD_DIMS(3)), RD_ERR_AXIS, "no axis 3", "axis");
    ck_failed(rd_scan(x, "foo", RD_DIMS(0)), RD_ERR_TEXT, "foo", "foo");
    ck_failed(rd_scan(x, "sum", RD_DIMS(0), .weights = x), RD_ERR_ARGUMENT, ".weights", "weights");
    ck_failed(rd_scan(x, "sum", RD_DIMS(0), .accuracy = RD_COMPENSATED), RD_ERR_ARGUMENT,
              "RD_COMPENSATED", "sum2");
    ck_failed(rd_scan(x, "min", RD_DIMS(0), .exclusive = true), RD_ERR_EMPTY, "exclusive", "min");
    ck_failed(rd_scan(i, "max", RD_DIMS(0), .where = x), RD_ERR_EMPTY, ".where", "masked ints");
    ck_failed(rd_scan_name(x, "sum", NULL), RD_ERR_ARGUMENT, "options", "NULL");
}
END_TEST

/* ---- Callers' reducers ----------------------------------------------------------------------- */
RD_REDUCER(count_nonzeros, double, int64_t, 1, (int64_t n;), (s->n = 0;), (s->n += x != 0;),
           (a->n += b->n;), (y[0] = s->n;))
RD_REDUCER(first_two, float, float, 2, (float v[2]; int n;), (s->n = 0; s->v[0] = s->v[1] = 0;),
           (if (s->n < 2) s->v[s->n++] = x;),
           (for (int k = 0; k < b->n && a->n < 2; k++) a->v[a->n++] = b->v[k];),
           (y[0] = s->v[0]; y[1] = s->v[1];))

START_TEST(own_reducers)
{
    rd_expr *x = cube(RD_F32), *y = rd_reduce(x, count_nonzeros, RD_DIMS(1)), *two;

    ck_assert(y->kind == RD_EXPR_REDUCE && y->type == RD_I64 && has_shape(y, RD_SHAPE(2, 4)));
    ck_assert_ptr_eq(y->in[0], rd_cast(x, RD_F64));
    ck_assert_int_eq(y->as.fold->law, RD_LAW_associates);
    ck_assert_str_eq(y->as.fold->user->name, "count_nonzeros");
    ck_assert_str_eq(y->as.fold->user->code[2], "s->n += x != 0;");
    ck_assert_ptr_eq(y, rd_reduce(x, count_nonzeros, RD_DIMS(1)));
    two = rd_reduce(x, first_two, RD_DIMS(0));
    ck_assert(has_shape(two, RD_SHAPE(3, 4, 2)) && two->type == RD_F32);
    ck_assert(has_shape(rd_reduce(x, first_two, RD_KEEP(0, 2)), RD_SHAPE(1, 3, 1, 2)));
    ck_assert_int_eq(fold_of(rd_reduce(x, first_two, RD_ALL, .accuracy = RD_SERIAL))->as.fold->law,
                     RD_LAW_serial);
    ck_assert_int_eq(rd_type_of(rd_reduce(x, count_nonzeros, RD_ALL, .type = RD_F32)), RD_F32);
    ck_assert_ptr_nonnull(rd_reduce(x, first_two, RD_ALL, .where = x, .skip_nan = true)->in[2]);
    y = rd_scan(x, count_nonzeros, RD_DIMS(0), .reverse = true);
    ck_assert(y->kind == RD_EXPR_SCAN && y->type == RD_I64 && has_shape(y, RD_SHAPE(2, 3, 4)));
    ck_no_error("own reducers");
}
END_TEST

static void nothing_of_two(void *s, int64_t n, const void *x, int64_t stride, const void *w,
                           int64_t along, int64_t i)
{
    (void)s, (void)n, (void)x, (void)stride, (void)w, (void)along, (void)i;
}

START_TEST(own_reducers_refused)
{
    static const float second[7] = { 0 };
    rd_expr           *x         = cube(RD_F32);
    rd_reducer         bad       = *count_nonzeros;
    const rd_reducer  *r         = &bad;

    ck_failed(rd_reduce(x, (const rd_reducer *)NULL, RD_ALL), RD_ERR_ARGUMENT, "NULL", "NULL");
    ck_failed(rd_reduce_user(x, count_nonzeros, NULL), RD_ERR_ARGUMENT, "options", "opts");
    ck_failed(rd_reduce(x, count_nonzeros, RD_ALL, .initial = x), RD_ERR_ARGUMENT, ".initial",
              "initial");
    ck_failed(rd_reduce(x, count_nonzeros, RD_ALL, .weights = x), RD_ERR_ARGUMENT, ".weights",
              "weights");
    ck_failed(rd_reduce(x, count_nonzeros, RD_ALL, .accuracy = RD_WIDE), RD_ERR_ARGUMENT, "RD_WIDE",
              "wide");
    ck_failed(rd_scan(x, first_two, RD_DIMS(0)), RD_ERR_ARGUMENT, "2 outputs", "scan of two");
    ck_failed(rd_reduce2(x, x, count_nonzeros, RD_ALL), RD_ERR_ARGUMENT,
              "rd_reduce2: reducer count_nonzeros takes one operand", "two operands");
    ck_failed(rd_reduce2(x, rd_wrap(ctx, second, RD_SHAPE(7)), count_nonzeros, RD_ALL),
              RD_ERR_SHAPE, "rd_reduce2", "shapes");
    bad.step = NULL;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "count_nonzeros lacks step", "step");
    bad.step2 = nothing_of_two, bad.in2 = RD_AUTO;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "takes two operands", "of two");
    ck_failed(rd_reduce2(x, x, r, RD_ALL), RD_ERR_TYPE, "as second", "in2");
    bad = *count_nonzeros, bad.step2 = nothing_of_two;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "has step and step2", "both");
    bad = *count_nonzeros, bad.init = NULL;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "lacks init", "init");
    bad = *count_nonzeros, bad.finish = NULL;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "lacks finish", "finish");
    bad = *count_nonzeros, bad.n_out = 0;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "0 outputs", "n_out");
    bad.n_out = 1025;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "1025 outputs", "n_out");
    bad = *count_nonzeros, bad.state_size = 4097;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "4097 bytes", "state");
    bad.state_size = 0;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_ARGUMENT, "0 bytes", "state");
    bad = *count_nonzeros, bad.in = RD_AUTO;
    ck_failed(rd_reduce(x, r, RD_ALL), RD_ERR_TYPE, "not real types of this release", "in");
    bad = *count_nonzeros, bad.merge = NULL, bad.name = NULL;
    ck_assert_int_eq(rd_reduce(x, r, RD_ALL)->as.fold->law, RD_LAW_serial);
    ck_no_error("without merge");
}
END_TEST

START_TEST(too_many_axes)
{
    rd_shape shape = { .n = RD_MAX_RANK };

    for (int a = 0; a < RD_MAX_RANK; a++)
        shape.at[a] = 1;
    rd_expr *x = input(RD_F32, shape);
    ck_assert_int_eq(rd_shape_of(rd_sum(x, RD_KEEP_ALL)).n, RD_MAX_RANK);
    ck_assert_int_eq(rd_shape_of(rd_sum(x, RD_DIMS(-1))).n, RD_MAX_RANK - 1);
    ck_assert_int_eq(rd_shape_of(rd_reduce(x, first_two, RD_DIMS(31))).n, RD_MAX_RANK);
    ck_no_error("32 axes");
    ck_failed(rd_reduce(x, first_two, RD_KEEP(31)), RD_ERR_SHAPE, "more than 32 axes", "33 axes");
    ck_failed(rd_reduce(x, first_two, RD_NONE), RD_ERR_SHAPE, "more than 32 axes", "33 axes");
}
END_TEST

/* ---- Lanes ----------------------------------------------------------------------------------- */
/* Rows are read along, by 64 lanes, where to gather across them costs more: of small ints no later
 * than of i32.  The trees of floats decide bits and are as they were. */
static const struct {
    rd_dtype    type;
    int64_t     n;
    const char *tree;
} lane_cases[] = {
    { RD_U8, 8, "1 lane," },     { RD_U8, 64, "64 lanes," },  { RD_BOOL, 64, "64 lanes," },
    { RD_I16, 8, "1 lane," },    { RD_I16, 64, "64 lanes," }, { RD_I32, 37, "1 lane," },
    { RD_I32, 64, "64 lanes," }, { RD_F16, 64, "1 lane," },   { RD_F32, 64, "64 lanes," },
};

START_TEST(lanes)
{
    rd_expr *const    x    = input(lane_cases[_i].type, RD_SHAPE(10000, lane_cases[_i].n));
    const char *const text = rd_explain(ctx, RD_RESULTS({ rd_max(x, RD_DIMS(1)), NULL }), NULL);

    ck_assert_msg(text && strstr(text, lane_cases[_i].tree), "%s (%d), not %s: %s",
                  rd_dtype_name(lane_cases[_i].type), (int)lane_cases[_i].n, lane_cases[_i].tree,
                  text ? text : rd_error_text(ctx));
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("reduce");
    TCase   *tc     = tcase_create("reduce");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, types, 0, COUNT(type_cases));
    tcase_add_loop_test(tc, types_asked, 0, COUNT(asked_cases));
    tcase_add_loop_test(tc, shapes, 0, COUNT(shape_cases));
    tcase_add_test(tc, kept_axes_are_views);
    tcase_add_test(tc, lowered);
    tcase_add_test(tc, facts);
    tcase_add_test(tc, options_of_other_sizes);
    tcase_add_loop_test(tc, axes_refused, 0, COUNT(axis_cases));
    tcase_add_loop_test(tc, keywords, 0, COUNT(keyword_cases));
    tcase_add_test(tc, values_refused);
    tcase_add_test(tc, empty);
    tcase_add_test(tc, scans);
    tcase_add_test(tc, scans_refused);
    tcase_add_test(tc, own_reducers);
    tcase_add_test(tc, own_reducers_refused);
    tcase_add_test(tc, too_many_axes);
    tcase_add_loop_test(tc, lanes, 0, COUNT(lane_cases));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
