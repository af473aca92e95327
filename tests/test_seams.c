/* test_seams.c - rolled, padded and joined arrays that maps read: results are cut into boxes,
 * nothing is stored, and bits are those of arrays that are. */
#include "oracle.h"
#include "values.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 70 * 70 };

static uint8_t bytes[MOST];
static double  reals[MOST];

static void begin(void)
{
    ctx = rd_ctx_new(NULL);
    ck_assert(ctx != NULL);
}

static void end(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *image(int64_t n, int64_t m)
{
    for (int k = 0; k < MOST; k++)
        bytes[k] = (uint8_t)(k * 7919 % 10007 % 251);
    return rd_leaf(ctx, &(rd_array){ .data = bytes, .type = RD_U8, .shape = RD_SHAPE(n, m) });
}

static rd_expr *field(int64_t n, int64_t m)
{
    for (int k = 0; k < MOST; k++)
        reals[k] = k % 17 == 3 ? NAN : k * 7919 % 10007 / 77.0 - 50;
    return rd_leaf(ctx, &(rd_array){ .data = reals, .type = RD_F64, .shape = RD_SHAPE(n, m) });
}

/* ---- Programs -------------------------------------------------------------------------------- */
static rd_expr *life(int64_t n, int64_t m)
{
    rd_expr *x = rd_remainder(image(n, m), rd_int(ctx, 2)), *sum = NULL;

    for (int i = -1; i < 2; i++)
        for (int j = -1; j < 2; j++)
            if (i || j) {
                rd_expr *y = rd_roll(rd_roll(x, 0, i), 1, j);

                sum = sum ? rd_add(sum, y) : y;
            }
    return rd_or(rd_eq(sum, rd_int(ctx, 3)),
                 rd_and(rd_eq(x, rd_int(ctx, 1)), rd_eq(sum, rd_int(ctx, 2))));
}

static rd_expr *laplacian(int64_t n, int64_t m)
{
    rd_expr *x    = field(n, m);
    rd_expr *down = rd_add(rd_roll(x, 0, 1), rd_roll(x, 0, -1));
    rd_expr *side = rd_add(rd_roll(x, 1, 2), rd_roll(x, 1, -2));

    return rd_sub(rd_add(down, side), rd_mul(rd_int(ctx, 4), x));
}

static rd_expr *rolled_twice(int64_t n, int64_t m)
{
    return rd_roll(rd_roll(image(n, m), 0, 5), 1, -3);
}

static rd_expr *padded(int64_t n, int64_t m)
{
    return rd_neg(
        rd_pad(rd_pad(field(n, m), 0, 2, 1, RD_PAD_WRAP, NULL), 1, 1, 3, RD_PAD_CONSTANT, NULL));
}

static rd_expr *blocks(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m), *y = rd_concat(1, RD_EXPRS(x, rd_neg(x)));

    return rd_concat(0, RD_EXPRS(y, rd_concat(1, RD_EXPRS(rd_square(x), x))));
}

/* Rows stand under a row that is rolled, and beside a fold of all. */
static rd_expr *row_above(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m), *row = rd_slice(rd_roll(x, 1, 3), "1");

    return rd_sub(rd_add(x, row), rd_max(rd_abs(x), RD_ALL));
}

/* Products that are joined are rounded before they are added. */
static rd_expr *products(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m), *third = rd_num(ctx, 1.0 / 3);

    return rd_add(rd_roll(rd_mul(x, third), 0, 1), rd_mul(rd_transpose(rd_transpose(x)), x));
}

/* Of a fold of rows each box would fold its own. */
static rd_expr *centred(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m);

    return rd_sub(rd_roll(x, 0, 1), rd_max(x, RD_KEEP(1)));
}

/* Parts are slices of what is joined, which is read at its own places, too. */
static rd_expr *upwind(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m), *long_x = rd_concat(1, RD_EXPRS(rd_slice(x, ":, -1:"), x));

    return rd_sub(rd_slice(long_x, ":, 1:"), rd_slice(long_x, ":, :-1"));
}

/* ---- Folds of these -------------------------------------------------------------------------- */
static rd_expr *spins(int64_t n, int64_t m)
{
    rd_expr *x = rd_cast(rd_remainder(image(n, m), rd_int(ctx, 3)), RD_I8);
    rd_expr *y = rd_add(rd_roll(x, 0, 1), rd_roll(x, 1, -1));

    return rd_neg(rd_sum(rd_mul(x, y), RD_KEEP(0, 1)));
}

/* As floats whole numbers add up exactly. */
static rd_expr *mean_step(int64_t n, int64_t m)
{
    rd_expr *x = rd_cast(image(n, m), RD_I16);

    return rd_mean(rd_abs(rd_sub(x, rd_roll(x, 1, 2))), RD_KEEP(0, 1));
}

static rd_expr *least_along(int64_t n, int64_t m)
{
    rd_expr *x = rd_cast(image(n, m), RD_I16);

    return rd_min(rd_sub(x, rd_roll(x, 0, 1)), RD_KEEP(0));
}

static rd_expr *any_change(int64_t n, int64_t m)
{
    rd_expr *x = image(n, m);

    return rd_any(rd_lt(x, rd_roll(rd_roll(x, 0, 1), 1, 1)), RD_KEEP(0, 1));
}

/* Boxes along a kept axis would be joined. */
static rd_expr *kept_axis(int64_t n, int64_t m)
{
    rd_expr *x = rd_cast(image(n, m), RD_I16);

    return rd_sum(rd_sub(x, rd_roll(x, 1, 1)), RD_KEEP(0));
}

/* Sums of floats by boxes would have other bits. */
static rd_expr *sum_of_floats(int64_t n, int64_t m)
{
    rd_expr *x = field(n, m);

    return rd_sum(rd_mul(x, rd_roll(x, 0, 1)), RD_KEEP(0, 1));
}

/* The rolled image is wanted for itself, too. */
static rd_expr *fold_and_roll(int64_t n, int64_t m)
{
    rd_expr *x = rd_cast(image(n, m), RD_I16), *y = rd_roll(x, 0, 1);

    return rd_add(rd_max(rd_sub(x, y), RD_KEEP(0, 1)), rd_mul(y, y));
}

static const struct {
    const char *what;
    rd_expr *(*build)(int64_t n, int64_t m);
    bool stored; /* something is, as that is cheaper */
} programs[] = {
    { "life", life, false },
    { "Laplacian", laplacian, false },
    { "rolled twice", rolled_twice, false },
    { "padded", padded, false },
    { "blocks", blocks, false },
    { "a rolled row", row_above, false },
    { "products", products, false },
    { "centred", centred, true },
    { "upwind", upwind, false },
    { "spins", spins, false },
    { "mean step", mean_step, false },
    { "least along", least_along, false },
    { "any change", any_change, false },
    { "along a kept axis", kept_axis, false },
    { "a sum of floats", sum_of_floats, true },
    { "a fold and what it is of", fold_and_roll, true },
};
static const int64_t sizes[][2] = { { 70, 70 }, { 33, 66 }, { 64, 9 }, { 7, 3 }, { 2, 5 } };

/* ---- Tests ----------------------------------------------------------------------------------- */
static void compare(oracle *o, const char *what, const rd_expr *y, const rd_array *out, int64_t i)
{
    const int64_t cols = y->extent[1], index[2] = { i / cols, i % cols };
    const char   *element = (const char *)out->data + i * rd_dtype_size(y->type);
    char          why[ORACLE_WHY];
    oracle_value  want;

    ck_assert(oracle_at(o, y, index, &want));
    ck_assert_msg(oracle_matches(&want, element, y->type, why), "%s of %d columns, element %d: %s",
                  what, (int)cols, (int)i, why);
}

START_TEST(agrees)
{
    for (size_t k = 0; k < COUNT(sizes); k++) {
        rd_expr *y   = programs[_i].build(sizes[k][0], sizes[k][1]);
        oracle  *o   = oracle_new();
        rd_array out = { 0 };

        ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s", rd_error_text(ctx));
        for (int64_t i = 0; i < y->extent[0] * y->extent[1]; i++)
            compare(o, programs[_i].what, y, &out, i);
        rd_array_free(&out);
        oracle_free(o);
    }
}
END_TEST

START_TEST(stores_nothing)
{
    static const char words[]  = "arrays between stages: ";
    const char       *text     = plan_text(programs[_i].build(sizes[0][0], sizes[0][1]));
    const long        bytes_of = atol(strstr(text, words) + strlen(words));

    ck_assert_msg((bytes_of > 600) == programs[_i].stored, /* indices and folds of borders may be */
                  "%s:\n%.2000s", programs[_i].what, text);
}
END_TEST

static void evaluate(rd_expr *y, rd_expr *beside, double *out)
{
    rd_array        array[2];
    const rd_result both[] = { { y, &array[0] }, { beside, &array[1] } };

    memset(array, 0, sizeof array);
    ck_assert_msg(rd_eval_many(ctx, (rd_results){ both, beside ? 2 : 1 }, NULL) == RD_OK, "%s",
                  rd_error_text(ctx));
    memcpy(out, array[0].data, 70 * 70 * sizeof *out);
    rd_array_free(&array[0]);
    rd_array_free(&array[1]);
}

/* The same bits where what is joined is asked for, too, and so is stored. */
START_TEST(same_bits_where_stored)
{
    static double cut[MOST], whole[MOST];
    rd_expr      *y      = products(70, 70);
    rd_expr      *rolled = rd_roll(rd_mul(field(70, 70), rd_num(ctx, 1.0 / 3)), 0, 1);

    evaluate(y, NULL, cut);
    evaluate(y, rolled, whole);
    ck_assert(memcmp(cut, whole, sizeof cut) == 0);
}
END_TEST

/* ---- Folds that read parts where they lie ---------------------------------------------------- */
enum { WAYS = 9, LARGE = 300 * 200 };

static double more[LARGE];

static rd_expr *large(int64_t n, int64_t m)
{
    for (int k = 0; k < LARGE; k++)
        more[k] = sin(k * 0.37) * (k % 113);
    return rd_leaf(ctx, &(rd_array){ .data = more, .type = RD_F64, .shape = RD_SHAPE(n, m) });
}

/* What is joined in one of several ways along an axis of x, and as long as x there. */
static rd_expr *joined(rd_expr *x, int axis, int way)
{
    static const rd_pad_mode modes[] = { RD_PAD_CONSTANT, RD_PAD_EDGE, RD_PAD_REFLECT,
                                         RD_PAD_SYMMETRIC, RD_PAD_WRAP };
    const int64_t            n       = rd_shape_of(x).at[axis];
    rd_expr *const           half    = rd_slice_axis(x, axis, 0, n / 2, 1);
    rd_expr                 *y;

    if (way < 2)
        return rd_roll(x, axis, way ? -1 : 5);
    if (way == 2)
        return rd_concat(axis, RD_EXPRS(rd_slice_axis(x, axis, n / 2, n, 1), half));
    if (way == 3)
        return rd_concat(axis, RD_EXPRS(rd_mul(half, rd_num(ctx, 1.0 / 3)), rd_neg(half),
                                        rd_slice_axis(x, axis, 0, n - 2 * (n / 2), 1)));
    y = rd_pad(x, axis, 3, 2, modes[way - 4], NULL);
    return rd_slice_axis(y, axis, 2, n + 2, 1);
}

static const struct {
    int64_t  n, m;
    rd_dtype type;
} fields[] = { { 70, 70, RD_F64 },   { 64, 128, RD_F32 }, { 300, 200, RD_F32 },
               { 130, 300, RD_F64 }, { 7, 4500, RD_F32 }, { 4300, 9, RD_F64 } };

/* The same bits where what is joined is asked for, too, and so is stored. */
static void folds_alike(rd_expr *with, rd_expr *y, const char *what)
{
    rd_array        alone = { 0 }, beside = { 0 }, stored = { 0 };
    const rd_result both[] = { { y, &beside }, { with, &stored } };

    ck_assert_msg(rd_eval(ctx, y, &alone) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(rd_eval_many(ctx, (rd_results){ both, 2 }, NULL) == RD_OK, "%s: %s", what,
                  rd_error_text(ctx));
    ck_assert_msg(
        memcmp(alone.data, beside.data,
               (size_t)(rd_points(alone.shape.n, alone.shape.at) * rd_dtype_size(alone.type))) == 0,
        "%s: other bits", what);
    rd_array_free(&alone);
    rd_array_free(&beside);
    rd_array_free(&stored);
}

START_TEST(folds_have_the_bits_of_stored)
{
    const int f = _i / WAYS, way = _i % WAYS;
    rd_expr  *x = rd_cast(large(fields[f].n, fields[f].m), fields[f].type);

    for (int axis = 0; axis < 2; axis++) {
        rd_expr *with = joined(x, axis, way);
        char     what[64];

        for (int k = 0; k < 4; k++) {
            const rd_dims d = k == 0 ? RD_DIMS(0) : k == 1 ? RD_DIMS(1) : RD_ALL;
            rd_expr      *y =
                k == 3 ? rd_max(rd_sub(with, x), RD_DIMS(axis)) : rd_sum(rd_mul(with, x), d);

            snprintf(what, sizeof what, "field %d, way %d, axis %d, fold %d", f, way, axis, k);
            folds_alike(with, y, what);
        }
    }
}
END_TEST

/* ---- Joined along both axes ------------------------------------------------------------------ */
/* Blocks [[A, B], [C, D]] of pair formulas, of n and m points. */
static rd_expr *pair_blocks(int64_t n, int64_t m)
{
    rd_expr *x = rd_slice_axis(rd_reshape(large(n, m), RD_SHAPE(n * m)), 0, 0, n, 1);
    rd_expr *y = rd_slice_axis(rd_reshape(large(n, m), RD_SHAPE(n * m)), 0, n, n + m, 1);
    rd_expr *a = rd_exp(rd_neg(rd_abs(rd_sub(rd_expand(x, 1), rd_expand(x, 0)))));
    rd_expr *b = rd_mul(rd_expand(x, 1), rd_expand(y, 0));
    rd_expr *d = rd_square(rd_sub(rd_expand(y, 1), rd_expand(y, 0)));

    return rd_concat(
        0, RD_EXPRS(rd_concat(1, RD_EXPRS(a, b)), rd_concat(1, RD_EXPRS(rd_transpose(b), d))));
}

static rd_expr *rolled_both(int64_t n, int64_t m)
{
    return rd_roll(rd_roll(large(n, m), 0, 3), 1, -2);
}

static rd_expr *padded_twice(int64_t n, int64_t m)
{
    return rd_pad(rd_pad(large(n, m), 0, 2, 1, RD_PAD_REFLECT, NULL), 1, 1, 3, RD_PAD_EDGE, NULL);
}

static rd_expr *moved_and_clamped(int64_t n, int64_t m)
{
    rd_expr *x = large(n, m), *i = rd_coord(rd_slice_axis(x, 1, 0, 1, 1), 0);
    rd_expr *j = rd_coord(rd_slice_axis(x, 0, 0, 1, 1), 1);

    i = rd_reshape(rd_add(i, rd_int(ctx, -2)), RD_SHAPE(n));
    j = rd_reshape(rd_add(j, rd_int(ctx, 4)), RD_SHAPE(m));
    x = rd_take(rd_sqrt(rd_abs(x)), 0, rd_clip(i, rd_int(ctx, 0), rd_int(ctx, n - 1)));
    return rd_take(x, 1, rd_clip(j, rd_int(ctx, 0), rd_int(ctx, m - 1)));
}

static const struct {
    const char *what;
    rd_expr *(*build)(int64_t n, int64_t m);
} joins[] = { { "blocks of pairs", pair_blocks },
              { "rolled along both", rolled_both },
              { "padded twice", padded_twice },
              { "moved and clamped", moved_and_clamped } };

START_TEST(joins_have_the_bits_of_stored)
{
    static const int64_t extents[][2] = { { 70, 70 }, { 64, 128 },  { 300, 200 },
                                          { 5, 3 },   { 130, 300 }, { 1, 90 } };

    for (size_t k = 0; k < COUNT(extents); k++) {
        rd_expr      *with   = joins[_i].build(extents[k][0], extents[k][1]);
        rd_expr      *last   = rd_slice_axis(with, 0, 0, 1, 1);
        const rd_dims dims[] = { RD_DIMS(0), RD_DIMS(1), RD_ALL };

        for (size_t d = 0; d < COUNT(dims); d++) {
            folds_alike(with, rd_sum(rd_mul(with, last), dims[d]), joins[_i].what);
            folds_alike(with, rd_max(rd_cast(with, RD_F32), dims[d]), joins[_i].what);
        }
        folds_alike(with, rd_std(with, RD_DIMS(1)), joins[_i].what);
    }
}
END_TEST

/* The bytes of arrays between the stages of a fold along rows. */
START_TEST(joins_store_nothing)
{
    static const char words[] = "arrays between stages: ";
    rd_expr          *y       = rd_sum(rd_sin(joins[_i].build(256, 192)), RD_DIMS(1));
    const char       *text    = plan_text(y);

    ck_assert_msg(atol(strstr(text, words) + strlen(words)) == 0, "%s:\n%.2000s", joins[_i].what,
                  text);
}
END_TEST

/* A concatenation of one many times over is not taken apart: that would be a plan of thousands of
 * passes. */
START_TEST(many_parts)
{
    rd_expr *x = leaf(RD_F64, VALUES(1, 2, 3)), *y = x;
    rd_array out = { 0 };

    for (int k = 0; k < 12; k++)
        y = rd_concat(0, RD_EXPRS(y, y));
    ck_assert_msg(rd_eval(ctx, rd_neg(y), &out) == RD_OK, "%s", rd_error_text(ctx));
    for (int64_t i = 0; i < out.shape.at[0]; i++)
        ck_assert(get(out.data, RD_F64, i) == -1.0 - (double)(i % 3));
    rd_array_free(&out);
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("seams");
    TCase   *tc = tcase_create("seams");
    SRunner *sr = srunner_create(s);

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_loop_test(tc, agrees, 0, COUNT(programs));
    tcase_add_loop_test(tc, stores_nothing, 0, COUNT(programs));
    tcase_add_test(tc, same_bits_where_stored);
    tcase_add_loop_test(tc, folds_have_the_bits_of_stored, 0, COUNT(fields) * WAYS);
    tcase_add_loop_test(tc, joins_have_the_bits_of_stored, 0, COUNT(joins));
    tcase_add_loop_test(tc, joins_store_nothing, 0, COUNT(joins));
    tcase_add_test(tc, many_parts);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
