/* Reductions over all pairs of points take each pair once, where either order gives the same:
 * which pairs are found to be so, the values, and what is read for them. */
#include "eval/plan.h"
#include "expr/symmetric.h"
#include "values.h"

#include <math.h>
#include <string.h>

enum { MOST = 601, FEATURES = 3 };

static float   points[MOST * FEATURES], others[MOST * FEATURES], weights[MOST];
static uint8_t bytes[MOST];
static int64_t n; /* of points */

static void fill(int64_t count)
{
    n = count;
    for (int k = 0; k < MOST * FEATURES; k++) {
        points[k] = (float)((k * 2654435761u >> 20) % 1000) / 100 - 5;
        others[k] = (float)((k * 40503u + 77) % 911) / 100 - 4;
    }
    for (int k = 0; k < MOST; k++) {
        weights[k] = 1 + (float)(k % 7);
        bytes[k]   = (uint8_t)(k * 37);
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */
static rd_expr *row(void)
{
    return rd_wrap(ctx, weights, RD_SHAPE(n));
}

static rd_expr *left(rd_expr *x)
{
    return rd_expand(x, 1);
}

static rd_expr *right(rd_expr *x)
{
    return rd_expand(x, 0);
}

/* A number beside an expression. */
static rd_expr *number(double x)
{
    return rd_num(ctx, x);
}

static rd_expr *difference(void)
{
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(n, FEATURES));

    return rd_sub(left(x), right(x));
}

static rd_expr *squares(rd_expr *d)
{
    return rd_sum(rd_mul(d, d), RD_DIMS(2));
}

static rd_expr *distance(void)
{
    return rd_sqrt(squares(difference()));
}

static rd_expr *in_box(void)
{
    rd_expr *d = difference();

    return squares(rd_sub(d, rd_mul(number(7), rd_round(rd_div(d, number(7))))));
}

static rd_expr *potential(void)
{
    rd_expr *r2 = in_box(), *q = rd_div(number(1), rd_add(r2, number(0.01)));

    return rd_where(rd_lt(r2, number(6.25)), rd_sub(rd_mul(q, q), q), number(0));
}

static rd_expr *masses(void)
{
    return rd_div(rd_mul(left(row()), right(row())), rd_add(distance(), number(1)));
}

static rd_expr *sizes(void)
{
    return rd_abs(rd_neg(rd_sub(left(row()), right(row()))));
}

static rd_expr *alike(void)
{
    return rd_eq(left(row()), right(row()));
}

static rd_expr *apart(void)
{
    rd_expr *d = difference();

    return rd_where(rd_ne(rd_coord(distance(), 0), rd_coord(distance(), 1)), squares(d), number(9));
}

static rd_expr *greater(void)
{
    return rd_maximum(left(row()), right(row()));
}

static rd_expr *crossed(void)
{
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(n)), *y = rd_wrap(ctx, others, RD_SHAPE(n));

    return rd_add(rd_mul(left(x), right(y)), rd_mul(right(x), left(y)));
}

static rd_expr *products(void)
{
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(n, FEATURES));

    return rd_sum(rd_mul(left(x), right(x)), RD_DIMS(2));
}

static rd_expr *signed_difference(void)
{
    return rd_sub(left(row()), right(row()));
}

static rd_expr *cubes(void)
{
    rd_expr *d = signed_difference();

    return rd_mul(rd_mul(d, d), d);
}

static rd_expr *of_one(void)
{
    return rd_mul(left(row()), distance());
}

static rd_expr *of_two_clouds(void)
{
    rd_expr *x = rd_wrap(ctx, points, RD_SHAPE(n, FEATURES));
    rd_expr *y = rd_wrap(ctx, others, RD_SHAPE(n, FEATURES));

    return squares(rd_sub(left(x), right(y)));
}

static rd_expr *lower(void)
{
    return rd_tril(distance(), 0);
}

static rd_expr *of_bytes(void)
{
    rd_expr *x = rd_wrap(ctx, bytes, RD_SHAPE(n));

    return rd_abs(rd_sub(left(x), right(x)));
}

static rd_expr *shifted(void)
{
    rd_expr *x = rd_wrap(ctx, weights, RD_SHAPE(n));

    return rd_square(rd_sub(left(x), right(rd_roll(x, 0, 1))));
}

static rd_expr *a_number(void)
{
    return rd_broadcast(rd_cast(number(2), RD_F32), RD_SHAPE(n, n));
}

static const struct {
    const char *what;
    rd_expr *(*build)(void);
    bool symmetric;
} pairs[] = {
    { "distances", distance, true },
    { "in a periodic box", in_box, true },
    { "a potential with a mask", potential, true },
    { "products of masses", masses, true },
    { "sizes of differences", sizes, true },
    { "pairs that are equal", alike, true },
    { "a mask of places", apart, true },
    { "the greater of both", greater, false }, /* of 0 and -0 it is the first one */
    { "sums of crossed products", crossed, true },
    { "products of rows", products, true },
    { "differences", signed_difference, false },
    { "cubes of differences", cubes, false },
    { "weights of one point", of_one, false },
    { "two clouds", of_two_clouds, false },
    { "the lower half", lower, false },
    { "sizes of unsigned differences", of_bytes, false },
    { "a row and the same one shifted", shifted, false },
    { "one number", a_number, false },
};

START_TEST(symmetric)
{
    fill(5);
    for (size_t k = 0; k < COUNT(pairs); k++) {
        rd_expr *x     = pairs[k].build();
        bool     moves = false;

        ck_assert_msg(x, "%s: %s", pairs[k].what, rd_error_text(ctx));
        ck_assert_msg((rd_is_symmetric(x, 0, 1, &moves) && moves) == pairs[k].symmetric, "%s",
                      pairs[k].what);
    }
}
END_TEST

/* ---- Values ---------------------------------------------------------------------------------- */
static rd_expr *fold(rd_expr *x, const char *name, rd_dims dims)
{
    const rd_reduce_opts opts = { .size = sizeof opts, .dims = dims };

    return x ? rd_reduce_name(x, name, &opts) : NULL;
}

static double one(rd_expr *y)
{
    rd_array a = { 0 };
    double   x;

    ck_assert_msg(y && rd_eval(ctx, y, &a) == RD_OK, "%s", rd_error_text(ctx));
    x = get(a.data, a.type, 0);
    rd_array_free(&a);
    return x;
}

/* Both axes together give about what one after the other does, of which none is by halves. */
static void expect_fold(const char *what, rd_expr *x, const char *name)
{
    const bool   counts = strcmp(name, "count") == 0;
    rd_expr     *rows   = fold(x, name, RD_DIMS(1));
    const double want   = one(fold(rows, counts ? "sum" : name, RD_DIMS(0)));
    const double got    = one(fold(x, name, RD_DIMS(0, 1)));

    ck_assert_msg((isnan(want) && isnan(got)) || got == want ||
                      fabs(got - want) <= 1e-5 * fabs(want) + 1e-3,
                  "%s of %d points, %s: %g in place of %g", name, (int)n, what, got, want);
}

static void expect_folds(void)
{
    static const char *const of_numbers[] = { "sum", "mean", "min", "max" };
    static const char *const of_truths[]  = { "count", "any", "all" };

    for (size_t k = 0; k < COUNT(pairs); k++) {
        rd_expr *x = pairs[k].build();

        for (size_t f = 0; f < COUNT(of_numbers); f++)
            expect_fold(pairs[k].what, rd_cast(x, RD_F32), of_numbers[f]);
        for (size_t f = 0; f < COUNT(of_truths); f++) {
            expect_fold(pairs[k].what, rd_gt(x, number(5)), of_truths[f]);
            expect_fold(pairs[k].what, rd_lt(x, number(1e6)), of_truths[f]);
        }
    }
}

START_TEST(values)
{
    static const int64_t counts[] = { 511, 512, 513, 600 };

    for (size_t c = 0; c < COUNT(counts); c++) {
        fill(counts[c]);
        expect_folds();
    }
}
END_TEST

/* What is no number meets all others, and itself. */
START_TEST(no_numbers)
{
    static const struct {
        float x;
        int   at;
    } cases[] = { { NAN, 0 }, { INFINITY, 599 * FEATURES }, { -INFINITY, 150 * FEATURES + 1 } };

    for (size_t c = 0; c < COUNT(cases); c++) {
        fill(600);
        points[cases[c].at] = cases[c].x;
        expect_folds();
    }
}
END_TEST

/* How many pairs have each distance; of some there is no group. */
START_TEST(counts_by_label)
{
    static int64_t want[12];
    double         counts[12];

    fill(600);
    rd_expr *x     = rd_floor(masses());
    rd_expr *label = rd_sub(rd_cast(x, RD_I64), rd_int(ctx, 1));
    rd_expr *y = rd_sum(rd_broadcast(rd_int(ctx, 2), RD_SHAPE(n, n)), RD_ALL, .by = RD_EXPRS(label),
                        .groups = RD_SHAPE(12));
    rd_array all = { 0 };

    ck_assert(rd_eval(ctx, label, &all) == RD_OK);
    for (int64_t k = 0; k < n * n; k++) {
        const double group = get(all.data, RD_I64, k);

        if (group >= 0 && group < 12)
            want[(int)group] += 2;
    }
    for (int k = 0; k < 12; k++)
        counts[k] = (double)want[k];
    rd_array_free(&all);
    ck_assert_int_eq(times_in(plan_text(y), "a mask of places bounds loops"), 1);
    expect("counts", y, RD_I64, counts, 12);
}
END_TEST

/* ---- Shapes ---------------------------------------------------------------------------------- */
/* Batches, a third reduced axis, and axes that stay as 1. */
START_TEST(shapes)
{
    static float batch[2 * 520];
    rd_expr     *d, *y;
    double       want[2];

    for (int k = 0; k < 2 * 520; k++)
        batch[k] = (float)(k * k % 19);
    d = rd_wrap(ctx, batch, RD_SHAPE(2, 520));
    d = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(d, 2), rd_expand(d, 1)))));
    for (int b = 0; b < 2; b++)
        want[b] = one(rd_sum(rd_sum(rd_select(d, 0, b), RD_DIMS(1)), RD_DIMS(0)));
    expect("batches", rd_sum(d, RD_DIMS(1, 2)), RD_F32, want, 2);
    expect("batches that are summed", rd_sum(d, RD_ALL), RD_F32, VALUES(want[0] + want[1]));
    y = rd_sum(d, RD_KEEP(-1, -2));
    expect_shape("axes that stay", y, RD_SHAPE(2, 1, 1));
    expect("axes that stay", rd_squeeze(y, RD_DIMS(1, 2)), RD_F32, want, 2);
    fill(580);
    y       = rd_exp(rd_neg(rd_square(difference())));
    want[0] = one(rd_sum(rd_sum(y, RD_DIMS(0, 2)), RD_DIMS(0)));
    want[1] = one(rd_sum(y, RD_ALL));
    ck_assert(fabs(want[0] - want[1]) <= 1e-5 * want[0]);
}
END_TEST

/* Masks count like elements: those of places too. */
START_TEST(masks)
{
    fill(600);
    rd_expr *x = distance(), *near = rd_lt(x, number(4));
    rd_expr *one_side = rd_gt(rd_coord(x, 1), rd_coord(x, 0));
    rd_expr *of[]     = { near, rd_and(near, rd_gt(x, number(0))), one_side };

    for (size_t k = 0; k < COUNT(of); k++) {
        const double rows =
            one(rd_sum(rd_sum(rd_where(of[k], x, number(0)), RD_DIMS(1)), RD_DIMS(0)));

        ck_assert(fabs(one(rd_sum(x, RD_ALL, .where = of[k])) - rows) <= 1e-5 * rows);
        ck_assert(one(rd_max(x, RD_ALL, .where = of[k])) ==
                  one(rd_max(rd_where(of[k], x, number(-1)), RD_DIMS(1, 0))));
    }
}
END_TEST

/* ---- Plans ----------------------------------------------------------------------------------- */
/* Half of the pairs are visited: compiled loops leave out the others. */
START_TEST(half_of_the_work)
{
    static const char bounded[] = "a mask of places bounds loops";

    fill(600);
    ck_assert_int_eq(times_in(plan_text(rd_sum(distance(), RD_ALL)), bounded), 1);
    ck_assert_int_eq(times_in(plan_text(rd_max(potential(), RD_ALL)), bounded), 1);
    ck_assert_int_eq(times_in(plan_text(rd_sum(of_two_clouds(), RD_ALL)), bounded), 0);
    /* One mask is for both, and products of two numbers cost less than it. */
    rd_expr *x = distance();
    ck_assert_int_eq(times_in(plan_text(rd_add(rd_sum(x, RD_ALL), rd_max(x, RD_ALL))), bounded), 1);
    x = rd_mul(left(row()), right(row()));
    ck_assert_int_eq(times_in(plan_text(rd_sum(x, RD_ALL)), bounded), 0);
    fill(511);
    ck_assert_int_eq(times_in(plan_text(rd_sum(distance(), RD_ALL)), bounded), 0);
}
END_TEST

/* Coordinates are packed for the neighbours of the outer fold's lanes, though differences of
 * them are used twice, and are values of their own between the copy and the inner fold. */
START_TEST(neighbours)
{
    rd_expr    *x, *y, *d;
    const char *plan;

    fill(600);
    x    = rd_wrap(ctx, points, RD_SHAPE(n, FEATURES));
    y    = rd_wrap(ctx, others, RD_SHAPE(n, FEATURES));
    d    = rd_sub(left(x), right(y));
    d    = squares(rd_sub(d, rd_mul(number(7), rd_round(rd_div(d, number(7))))));
    plan = plan_text(rd_sum(rd_sub(rd_mul(d, d), d), RD_ALL));
    ck_assert_msg(times_in(plan, "t0[j,i] = ") + times_in(plan, "t0[j,k] = ") == 1, "%s", plan);
    ck_assert_int_eq(times_in(plan_text(rd_sum(potential(), RD_ALL)), "t0[k,j] = "), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { symmetric, values, no_numbers,       counts_by_label,
                                   shapes,    masks,  half_of_the_work, neighbours };

    return run_suite("pair_folds", tests, COUNT(tests));
}
