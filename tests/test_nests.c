/* test_nests.c - nests of loops as one compiled pass: pairs of points, short rows, short loops
 * inside and outside, with the bits that the machine's own loops give. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "isa.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/codegen/codegen.h"
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { ROOM = 40000 };
static double  f64[ROOM];
static float   f32[ROOM];
static int16_t i16[ROOM];

static void fill(void)
{
    uint64_t state = 88172645463325252;

    for (int k = 0; k < ROOM; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i16[k] = (int16_t)(state >> 40);
        f64[k] = (double)(int64_t)(state >> 20) * 0x1p-44 - (k % 3 == 0);
        f32[k] = (float)f64[k];
    }
}

/* Few different coordinates, so that many points are as near as the nearest; one that is NaN, in a
 * point number `nan`. */
static void fill_with_ties(int nan)
{
    for (int k = 0; k < ROOM; k++)
        f64[k] = f32[k] = (float)(k * 7919 % 10007 % 3);
    if (nan >= 0)
        f64[3 * nan + 1] = f32[3 * nan + 1] = NAN;
}

static rd_expr *points(rd_ctx *c, rd_dtype type, int64_t n, int64_t d)
{
    void *data = type == RD_F32 ? (void *)f32 : type == RD_F64 ? (void *)f64 : (void *)i16;

    return rd_leaf(c, &(rd_array){ .data = data, .type = type, .shape = RD_SHAPE(n, d) });
}

/* ---- Expressions of n points in d dimensions ------------------------------------------------- */
static rd_expr *differences(rd_expr *x)
{
    return rd_sub(rd_expand(x, 1), rd_expand(rd_slice(x, "::-1"), 0));
}

static rd_expr *distances(rd_expr *x)
{
    return rd_sum(rd_square(differences(x)), RD_DIMS(-1));
}

static rd_expr *gauss(rd_expr *x)
{
    return rd_sum(rd_mul(rd_exp(rd_neg(distances(x))), rd_sum(x, RD_DIMS(1))), RD_DIMS(1));
}

static rd_expr *nearest(rd_expr *x)
{
    return rd_argmin(distances(x), RD_DIMS(1));
}

static rd_expr *farthest(rd_expr *x)
{
    return rd_argmax(rd_max(rd_abs(differences(x)), RD_DIMS(-1)), RD_DIMS(0));
}

static rd_expr *least(rd_expr *x)
{
    return rd_min(rd_prod(differences(x), RD_DIMS(-1)), RD_DIMS(1));
}

static rd_expr *spread(rd_expr *x)
{
    return rd_var(distances(x), RD_DIMS(1));
}

/* The place of the least, which needs no blocks, beside what does. */
static rd_expr *place_and_spread(rd_expr *x)
{
    rd_expr *d = distances(x);
    return rd_add(rd_argmin(d, RD_DIMS(1)), rd_add(rd_sum(d, RD_DIMS(1)), rd_var(d, RD_DIMS(1))));
}

static rd_expr *matrix(rd_expr *x)
{
    return rd_sqrt(distances(x));
}

static rd_expr *lengths(rd_expr *x)
{
    return rd_sqrt(rd_sum(rd_square(x), RD_DIMS(1)));
}

static rd_expr *normalised(rd_expr *x)
{
    return rd_div(x, rd_max(rd_abs(x), RD_KEEP(1)));
}

static rd_expr *total_of_minima(rd_expr *x)
{
    return rd_sum(rd_min(x, RD_DIMS(1)), RD_ALL);
}

/* Two short axes that do not merge: one is written out, and where the other is longer it stays a
 * loop, a few times; each time with the same factors. */
static rd_expr *mirrored(rd_expr *x)
{
    const rd_shape s = rd_shape_of(x);
    rd_expr       *p =
        rd_reshape(x, RD_SHAPE(s.at[0], s.at[1] % 5 ? 1 : 5, s.at[1] % 5 ? s.at[1] : s.at[1] / 5));
    rd_expr *d = rd_sub(rd_expand(p, 1), rd_expand(rd_slice(p, ":, :, ::-1"), 0));

    return rd_argmin(rd_sum(rd_mul(rd_square(d), rd_slice(p, "0:1, 0:1, :")), RD_DIMS(-2, -1)),
                     RD_DIMS(1));
}

/* A matrix of distances between tables of which some rows and columns are used, so that their axes
 * do not merge: the short axis is written out, and what it adds to is what the loop of the longer
 * one has come to the time before; the factors are the same each time. */
static rd_expr *tables(rd_expr *x)
{
    const rd_shape s = rd_shape_of(x);
    rd_expr       *t = rd_slice(rd_reshape(x, RD_SHAPE(s.at[0], 4, s.at[1] / 4)), ":, :3, :-1");
    rd_expr       *d = rd_sub(rd_expand(t, 1), rd_expand(rd_slice(t, "::-1"), 0));

    return rd_sum(rd_mul(rd_square(d), rd_slice(t, "0:1, 0:1, :")), RD_DIMS(-2, -1));
}

/* Sums, products and extremes of one loop, and what stays along it. */
static rd_expr *together(rd_expr *x)
{
    rd_expr *d = differences(x), *w = rd_expand(rd_expand(rd_max(x, RD_DIMS(1)), 1), 2);

    return rd_sum(rd_add(rd_add(rd_sum(rd_mul(d, w), RD_DIMS(-1)), rd_min(d, RD_DIMS(-1))),
                         rd_mul(rd_sum(rd_abs(d), RD_DIMS(-1)), rd_prod(d, RD_DIMS(-1)))),
                  RD_DIMS(1));
}

static rd_expr *of_some(rd_expr *x)
{
    rd_expr *d = differences(x);
    return rd_min(rd_prod(d, RD_DIMS(-1), .where = rd_gt(d, rd_square(d))), RD_DIMS(1));
}

/* ---- Rows that are normalised by what is computed from them ---------------------------------- */
static rd_expr *softmax(rd_expr *x)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(1))));

    return rd_div(e, rd_sum(e, RD_KEEP(1)));
}

static rd_expr *layer_norm(rd_expr *x)
{
    return rd_div(rd_sub(x, rd_mean(x, RD_KEEP(1))), rd_std(x, RD_KEEP(1)));
}

/* Three phases with folds, the last of which reads two rows of results. */
static rd_expr *residues(rd_expr *x)
{
    rd_expr *d = rd_sub(x, rd_mean(x, RD_KEEP(1)));
    rd_expr *e = rd_mul(d, rd_sum(rd_mul(d, x), RD_KEEP(1)));

    return rd_add(e, rd_logsumexp(rd_abs(e), RD_KEEP(1)));
}

/* Scaled by what all rows share, and by a number for each. */
static rd_expr *scaled(rd_expr *x)
{
    rd_expr *gain = rd_slice(x, "0"), *shift = rd_slice(x, ":, 0:1");

    return rd_add(rd_mul(layer_norm(x), rd_exp(gain)), rd_mul(shift, rd_min(x, RD_KEEP(1))));
}

static const struct {
    const char *name;
    rd_expr *(*make)(rd_expr *x);
    bool nest; /* it must be one in 3 dimensions */
} cases[] = {
    { "gauss", gauss, true },
    { "nearest", nearest, true },
    { "farthest", farthest, true },
    { "least", least, true },
    { "spread", spread, true },
    { "matrix", matrix, true },
    { "lengths", lengths, false },
    { "normalised", normalised, false },
    { "total of minima", total_of_minima, false },
    { "of some", of_some, false },
    { "place and spread", place_and_spread, true },
    { "mirrored", mirrored, true },
    { "together", together, true },
    { "tables", tables, false },
    { "softmax", softmax, false },
    { "layer norm", layer_norm, false },
    { "residues", residues, false },
    { "scaled", scaled, false },
};
/* these have dimensions of their own */
enum { OF_POINTS = COUNT(cases) - 5, OF_ROWS = COUNT(cases) - 4 };

/* ---- Comparison ------------------------------------------------------------------------------ */
static rd_array evaluate(const char *mode, int number, rd_dtype type, int64_t n, int64_t d,
                         int32_t threads)
{
    rd_ctx  *c   = rd_ctx_new(NULL);
    rd_array out = { 0 };
    rd_expr *y   = cases[number].make(points(c, type, n, d));

    rd_tier_force(mode);
    ck_assert_msg(rd_eval_many(c, RD_RESULTS({ y, &out }), &(rd_eval_opts){ .threads = threads }) ==
                      RD_OK,
                  "%s: %s", cases[number].name, rd_error_text(c));
    rd_tier_force(NULL);
    /* Out of the context, which goes. */
    rd_array copy = out;
    int64_t  size = rd_dtype_size(out.type);
    for (int a = 0; a < out.shape.n; a++)
        size *= out.shape.at[a];
    copy.data  = malloc((size_t)size + 1);
    copy.owner = NULL;
    memcpy(copy.data, out.data, (size_t)size);
    rd_array_free(&out);
    rd_ctx_free(c);
    copy.strides.n = (int32_t)size; /* for the comparison */
    return copy;
}

static int number_of(rd_expr *(*make)(rd_expr *x))
{
    int number = 0;

    while (cases[number].make != make)
        number++;
    return number;
}

/* Each set of kernels has texts of its own to compile, which differ in the width of vectors: the best
 * one's every time, one in three of the others'. */
static bool has_turn(int isa)
{
    static int turn;

    return isa == isa_count() - 1 || turn++ % 3 == 0;
}

static void compare(int number, rd_dtype type, int64_t n, int64_t d)
{
    const rd_tier_stats before = rd_tier_stats_now();

    for (int isa = 1; isa < isa_count(); isa++) {
        if (!has_turn(isa))
            continue;
        rd_cpu_force(isa_name(isa));
        rd_array want = evaluate("off", number, type, n, d, 1);
        for (int32_t threads = 1; threads <= 3; threads += 2) {
            rd_array found = evaluate("sync", number, type, n, d, threads);

            ck_assert_msg(memcmp(want.data, found.data, (size_t)want.strides.n) == 0,
                          "%s of %s, %d points in %d dimensions, %s, %d threads",
                          cases[number].name, rd_dtype_name(type), (int)n, (int)d, isa_name(isa),
                          (int)threads);
            free(found.data);
        }
        free(want.data);
    }
    rd_cpu_force(NULL);
    ck_assert_msg(rd_tier_stats_now().failed == before.failed, "%s cannot be compiled",
                  cases[number].name);
    ck_assert_msg(!cases[number].nest || (d != 3 && d != 50) || n == 1 ||
                      rd_tier_stats_now().asked > before.asked,
                  "%s is no nest", cases[number].name);
}

/* A column strip and less, several blocks of rows, points in one dimension, loops that are written
 * out, that stay loops, and that are too long for either. */
START_TEST(points_in_space)
{
    static const struct {
        rd_dtype type;
        int64_t  n, d;
    } sizes[] = {
        { RD_F32, 1, 3 },   { RD_F32, 63, 3 },  { RD_F32, 200, 3 }, { RD_F64, 131, 3 },
        { RD_I16, 131, 3 }, { RD_F64, 70, 7 },  { RD_F32, 130, 1 }, { RD_F32, 54, 50 },
        { RD_F32, 78, 50 }, { RD_I16, 75, 20 }, { RD_F64, 133, 9 }, { RD_F32, 40, 70 },
    };

    fill();
    for (int k = 0; k < COUNT(sizes); k++)
        compare(_i, sizes[k].type, sizes[k].n, sizes[k].d);
}
END_TEST

/* The first of equals wins, the first NaN wins over all: in rows of several blocks, wherever the
 * NaN is. */
START_TEST(first_of_equals)
{
    static const int nan[] = { -1, 0, 63, 64, 130, 399 };

    fill_with_ties(nan[_i]);
    for (int number = 0; number < COUNT(cases); number++)
        if (cases[number].make == nearest || cases[number].make == farthest) {
            compare(number, RD_F32, 400, 3);
            compare(number, RD_F64, 400, 3);
            compare(number, RD_F32, 100, 12);
        }
}
END_TEST

START_TEST(loops_in_loops)
{
    const int number = number_of(tables);

    fill();
    compare(number, RD_F32, 90, 84);
    compare(number, RD_F64, 133, 48);
    compare(number, RD_F64, 133, 16);
    ck_assert_int_ge(rd_tier_stats_now().asked, 3);
}
END_TEST

/* Another compiler takes other liberties. */
START_TEST(by_clang)
{
    if (access("/usr/bin/clang", X_OK) != 0)
        return;
    setenv("RDIM_CC", "/usr/bin/clang", 1);
    fill();
    compare(number_of(farthest), RD_F32, 78, 50);
    compare(number_of(farthest), RD_F64, 70, 50);
    compare(number_of(gauss), RD_F32, 131, 3);
}
END_TEST

/* Less than all lanes, a step and a part of one, a block, several with a part of one, as many as a
 * pass takes. */
START_TEST(rows_in_phases)
{
    static const struct {
        rd_dtype type;
        int64_t  n, d;
    } sizes[] = {
        { RD_F32, 40, 50 },  { RD_F64, 3, 64 },    { RD_F32, 7, 1024 }, { RD_F64, 5, 1000 },
        { RD_F32, 2, 9001 }, { RD_F64, 3, 12345 }, { RD_F32, 9, 4096 }, { RD_I16, 4, 700 },
    };

    fill();
    for (int k = 0; k < COUNT(sizes); k++)
        compare(OF_ROWS + _i, sizes[k].type, sizes[k].n, sizes[k].d);
}
END_TEST

/* All phases are one pass, where all is one stage. */
START_TEST(phases_are_one)
{
    rd_ctx  *c   = rd_ctx_new(NULL);
    rd_array out = { 0 };
    rd_expr *y   = cases[OF_ROWS + _i].make(points(c, RD_F32, 10, 500));

    rd_tier_force("sync");
    const char *text = rd_explain(c, RD_RESULTS({ y, &out }), NULL);
    ck_assert_msg(text && strstr(text, " 1 of 1 passes compiled"), "%s",
                  text ? text : rd_error_text(c));
    rd_tier_force(NULL);
    rd_ctx_free(c);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("nests");
    TCase   *tc     = tcase_create("nests");
    SRunner *runner = srunner_create(suite);

    rd_codegen_force("never"); /* the tile machine's passes are tested here */
    tcase_add_loop_test(tc, points_in_space, 0, OF_POINTS);
    tcase_add_test(tc, loops_in_loops);
    tcase_add_loop_test(tc, first_of_equals, 0, 6);
    suite_add_tcase(suite, tc);
    tc = tcase_create("clang");
    tcase_add_test(tc, by_clang);
    suite_add_tcase(suite, tc);
    tc = tcase_create("rows");
    tcase_add_loop_test(tc, phases_are_one, 0, 3);
    tcase_add_loop_test(tc, rows_in_phases, 0, COUNT(cases) - OF_ROWS);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
