/* test_grad_pairs.c - gradients of programs of pairs whose points are both of one array.
 *
 * They are compared with those by two leaves of the same numbers: one as the first points of pairs,
 * one as the second.  Then nothing is symmetric, and each leaf has a gradient of its own. */
#include "suite.h"

#include <math.h>
#include <rdim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600, D = 3 };

static rd_ctx *ctx;
static double  points[2][MOST * D], weights[2][MOST], table[MOST * MOST];

/* The points of pairs, (n, 1, D) and (1, n, D), and a weight of each, (n, 1) and (1, n). */
typedef struct pairs {
    rd_expr *x, *y, *v, *w;
    int64_t  n;
} pairs;

static rd_expr *d2_of(const pairs *p)
{
    return rd_sum(rd_square(rd_sub(p->x, p->y)), RD_DIMS(2));
}

static rd_expr *kernel_of(const pairs *p)
{
    return rd_exp(rd_neg(d2_of(p)));
}

static rd_expr *total(rd_expr *y)
{
    return rd_sum(y, RD_ALL);
}

/* ---- Programs -------------------------------------------------------------------------------- */
static rd_expr *energy(const pairs *p)
{
    return total(rd_div(rd_mul(p->v, p->w), rd_sqrt(rd_add(d2_of(p), rd_num(ctx, 0.01)))));
}

static rd_expr *mean_of_kernel(const pairs *p)
{
    return rd_mean(kernel_of(p), RD_ALL);
}

static rd_expr *weight_of_first(const pairs *p)
{
    return total(rd_mul(kernel_of(p), p->v));
}

static rd_expr *two_weights(const pairs *p)
{
    return total(rd_mul(rd_mul(kernel_of(p), rd_square(p->v)), p->w));
}

static rd_expr *product_of_opposites(const pairs *p)
{
    rd_expr *const apart = rd_sub(p->x, p->y);

    return total(rd_mul(rd_mul(rd_select(apart, 2, 0), rd_select(apart, 2, 1)), kernel_of(p)));
}

static rd_expr *odd_function(const pairs *p)
{
    return total(rd_mul(rd_sin(rd_select(rd_sub(p->x, p->y), 2, 0)), p->v));
}

static rd_expr *half_of_pairs(const pairs *p)
{
    rd_expr *const k = kernel_of(p);

    return total(rd_where(rd_lt(rd_coord(k, 1), rd_coord(k, 0)), k, rd_num(ctx, 0)));
}

static rd_expr *masked(const pairs *p)
{
    rd_expr *const k = kernel_of(p);

    return rd_sum(k, RD_ALL, .where = rd_ne(rd_coord(k, 1), rd_coord(k, 0)));
}

static rd_expr *sums_of_rows(const pairs *p)
{
    return total(rd_square(rd_sum(rd_mul(kernel_of(p), p->w), RD_DIMS(1))));
}

static rd_expr *sums_of_columns(const pairs *p)
{
    return total(rd_square(rd_sum(rd_mul(kernel_of(p), p->v), RD_DIMS(0))));
}

static rd_expr *log_of_sums(const pairs *p)
{
    return rd_add(total(rd_logsumexp(rd_sub(p->w, d2_of(p)), RD_DIMS(1))), energy(p));
}

static rd_expr *share_of_total(const pairs *p)
{
    rd_expr *const k = kernel_of(p);

    return total(rd_mul(rd_div(k, total(k)), rd_log(rd_add(d2_of(p), rd_num(ctx, 1)))));
}

static rd_expr *table_of_weights(const pairs *p)
{
    rd_expr *const a = rd_slice_axis(
        rd_slice_axis(rd_wrap(ctx, table, RD_SHAPE(MOST, MOST)), 0, 0, p->n, 1), 1, 0, p->n, 1);

    return total(rd_mul(kernel_of(p), a));
}

static rd_expr *product_of_points(const pairs *p)
{
    rd_expr *const dot = rd_sum(rd_mul(p->x, p->y), RD_DIMS(2));

    return total(rd_tanh(rd_mul(dot, rd_num(ctx, 0.1))));
}

/* Features lie between both axes of points. */
static rd_expr *features_between(const pairs *p)
{
    const rd_index order = RD_INDEX(0, 2, 1);

    return total(rd_exp(rd_neg(
        rd_sum(rd_square(rd_sub(rd_permute(p->x, order), rd_permute(p->y, order))), RD_DIMS(1)))));
}

static rd_expr *both_in_a_function(const pairs *p)
{
    return total(
        rd_formula(ctx, "(a - b)**3 * cos(a * b)", RD_NAMES({ "a", p->v }, { "b", p->w })));
}

/* Coordinates of the differences, one by one. */
static rd_expr *coordinates(const pairs *p)
{
    rd_expr *const d   = rd_sub(p->x, p->y);
    rd_expr       *sum = rd_square(rd_select(d, 2, 0));

    for (int k = 1; k < D; k++)
        sum = rd_add(sum, rd_mul(rd_square(rd_select(d, 2, k)), rd_num(ctx, 1 + k)));
    return total(rd_exp(rd_neg(sum)));
}

/* An energy of the pairs i < j, as users write it; the other branch has them, too. */
static rd_expr *triangles(const pairs *p)
{
    rd_expr *const k = kernel_of(p), *const zero = rd_num(ctx, 0);
    rd_expr *const i = rd_coord(k, 0), *const j = rd_coord(k, 1);
    rd_expr *const f = rd_div(rd_mul(rd_mul(p->v, p->w), k), rd_add(d2_of(p), rd_num(ctx, 1)));

    return rd_sub(total(rd_where(rd_lt(i, j), f, zero)),
                  rd_mul(rd_sum(rd_where(rd_ge(i, j), zero, k), RD_ALL), rd_num(ctx, 3)));
}

/* Neither is half of a sum over all pairs: a triangle with its diagonal, and what is not the same
 * for (j, i). */
static rd_expr *other_triangles(const pairs *p)
{
    rd_expr *const k = kernel_of(p), *const zero = rd_num(ctx, 0);
    rd_expr *const i = rd_coord(k, 0), *const j = rd_coord(k, 1);

    return rd_add(total(rd_where(rd_le(i, j), rd_mul(k, p->v), zero)),
                  rd_add(total(rd_where(rd_gt(i, j), rd_mul(k, p->v), zero)),
                         total(rd_where(rd_le(j, i), rd_square(k), zero))));
}

/* Neighbours by probabilities: a softmax without the point itself, and the entropy of another. */
static rd_expr *softmaxes(const pairs *p)
{
    rd_expr *const d2 = d2_of(p);
    rd_expr *const other =
        rd_where(rd_eq(rd_coord(d2, 0), rd_coord(d2, 1)), rd_num(ctx, INFINITY), d2);
    rd_expr *const near  = rd_softmax(rd_neg(other), RD_DIMS(1));
    rd_expr *const e     = rd_exp(rd_mul(rd_neg(d2), p->v));
    rd_expr *const share = rd_div(e, rd_expand(rd_sum(e, RD_DIMS(0)), 0));

    return rd_sub(total(rd_log(rd_add(rd_sum(rd_mul(near, p->w), RD_DIMS(1)), rd_num(ctx, 0.1)))),
                  total(rd_mul(share, rd_log(rd_add(share, rd_num(ctx, 1e-3))))));
}

static const struct {
    const char *what;
    rd_expr *(*of)(const pairs *p);
} programs[] = {
    { "an energy", energy },
    { "the mean of a kernel", mean_of_kernel },
    { "a weight of the first point", weight_of_first },
    { "a weight of each", two_weights },
    { "a product of opposites", product_of_opposites },
    { "an odd function", odd_function },
    { "one half of the pairs", half_of_pairs },
    { "a mask", masked },
    { "sums of rows", sums_of_rows },
    { "sums of columns", sums_of_columns },
    { "logarithms of sums", log_of_sums },
    { "shares of a total", share_of_total },
    { "a table of weights", table_of_weights },
    { "products of points", product_of_points },
    { "features between", features_between },
    { "both in a function", both_in_a_function },
    { "coordinates", coordinates },
    { "triangles", triangles },
    { "other triangles", other_triangles },
    { "softmaxes", softmaxes },
};
enum { PROGRAMS = sizeof programs / sizeof *programs };
/* Fewer points than are taken for pairs; not a multiple of vectors; and each pair is taken once. */
static const int64_t sizes[] = { 5, 150, MOST };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---- Both gradients -------------------------------------------------------------------------- */
static void setup(void)
{
    unsigned s = 7;

    ctx = rd_ctx_new(NULL);
    for (int i = 0; i < MOST * D; i++)
        points[0][i] = points[1][i] = (double)((s = s * 1664525 + 1013904223) >> 8) / 8388608 - 1;
    for (int i = 0; i < MOST; i++)
        weights[0][i] = weights[1][i] = (double)((s = s * 1664525 + 1013904223) >> 8) / 16777216;
    for (int i = 0; i < MOST * MOST; i++)
        table[i] = (double)((s = s * 1664525 + 1013904223) >> 8) / 16777216;
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* The leaves that second points come from: 0, those of the first points; 1, others. */
static void gradient(int k, int64_t n, int second, double of_x[MOST * D], double of_v[MOST])
{
    rd_expr *const x  = rd_wrap(ctx, points[0], RD_SHAPE(n, D)),
                   *v = rd_wrap(ctx, weights[0], RD_SHAPE(n));
    rd_expr *const y  = rd_wrap(ctx, points[second], RD_SHAPE(n, D)),
                   *w = rd_wrap(ctx, weights[second], RD_SHAPE(n));
    const pairs    p  = { rd_expand(x, 1), rd_expand(y, 0), rd_expand(v, 1), rd_expand(w, 0), n };
    const rd_exprs g  = rd_grad(programs[k].of(&p), RD_EXPRS(x, v, y, w));
    rd_expr       *gx = g.at[0], *gv = g.at[1];

    if (second) {
        gx = rd_add(gx, g.at[2]);
        gv = rd_add(gv, g.at[3]);
    }
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ gx, RD_INTO(of_x, RD_SHAPE(n, D)) },
                                          { gv, RD_INTO(of_v, RD_SHAPE(n)) }),
                               NULL) == RD_OK,
                  "%s: %s", programs[k].what, rd_error_text(ctx));
}

static void compare(const char *what, int64_t n, const double *got, const double *wanted)
{
    double most = 0;

    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(wanted[i]));
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(fabs(got[i] - wanted[i]) <= 1e-11 * most + 1e-12,
                      "%s: element %lld is %.15g, wanted %.15g", what, (long long)i, got[i],
                      wanted[i]);
}

START_TEST(one_array)
{
    static double got[MOST * D], wanted[MOST * D], of_v[MOST], wanted_v[MOST];
    const int     k = _i / SIZES;
    const int64_t n = sizes[_i % SIZES];

    gradient(k, n, 0, got, of_v);
    gradient(k, n, 1, wanted, wanted_v);
    compare(programs[k].what, n * D, got, wanted);
    compare(programs[k].what, n, of_v, wanted_v);
}
END_TEST

/* ---- One point ------------------------------------------------------------------------------- */
/* Gradients of the squares of r = sum over j of y_j / (1 + |x - y_j|^2), less x, by loops. */
static void of_one_point(const double *x, int64_t n, const double *y, double *of_x, double *of_y)
{
    double r[D];

    for (int c = 0; c < D; c++)
        r[c] = -x[c];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < n; j++) {
            double k = 1, along = 0;

            for (int c = 0; c < D; c++) {
                k += (x[c] - y[j * D + c]) * (x[c] - y[j * D + c]);
                along += r[c] * y[j * D + c];
            }
            for (int c = 0; c < D; c++) {
                const double d = -4 * (x[c] - y[j * D + c]) / (k * k) * along;

                if (pass == 0) {
                    r[c] += y[j * D + c] / k;
                    continue;
                }
                of_x[c] += d - (j == 0 ? 2 * r[c] : 0);
                of_y[j * D + c] = 2 * r[c] / k - d;
            }
        }
}

/* Axes of one index among those that a gradient sums over. */
START_TEST(one_point)
{
    enum { N = 300 };
    static double  got[D], got_y[N * D], of_y[N * D];
    double         of_x[D] = { 0 };
    rd_expr *const x = rd_wrap(ctx, points[0], RD_SHAPE(1, D)), *const one = rd_num(ctx, 1);
    rd_expr *const y = rd_wrap(ctx, points[1], RD_SHAPE(N, D));
    const pairs    p = { .x = rd_expand(x, 1), .y = rd_expand(y, 0) };
    rd_expr *const k = rd_expand(rd_div(one, rd_add(one, d2_of(&p))), 2);
    rd_expr *const f = rd_sum(rd_mul(k, rd_expand(y, 0)), RD_DIMS(1));
    const rd_exprs g = rd_grad(total(rd_square(rd_sub(f, x))), RD_EXPRS(x, y));

    ck_assert_msg(g.n == 2 && g.at[0], "%s", rd_error_text(ctx));
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ g.at[0], RD_INTO(got, RD_SHAPE(1, D)) },
                                          { g.at[1], RD_INTO(got_y, RD_SHAPE(N, D)) }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    of_one_point(points[0], N, points[1], of_x, of_y);
    compare("by the point", D, got, of_x);
    compare("by the others", N * D, got_y, of_y);
}
END_TEST

/* ---- Views that select a part of a map ---------------------------------------------------------- */
/* A map of x and y, (n, n, D), of which the programs below take coordinate k. */
typedef rd_expr *some_map(rd_expr *x, rd_expr *y);

static rd_expr *differences(rd_expr *x, rd_expr *y)
{
    return rd_sub(x, y);
}

static rd_expr *maps_of_maps(rd_expr *x, rd_expr *y)
{
    rd_expr *const d = rd_div(rd_sub(rd_tanh(x), y), rd_num(ctx, 3));

    return rd_mul(rd_exp(rd_neg(rd_square(d))), rd_add(d, rd_cos(y)));
}

static rd_expr *narrow_and_wide(rd_expr *x, rd_expr *y)
{
    return rd_cast(rd_mul(rd_cast(rd_sub(x, y), RD_F32), rd_cast(y, RD_F32)), RD_F64);
}

/* Which coordinates are read of a map: start, stop and step of several slices; step 0: none. */
static const struct {
    const char *what;
    some_map   *map;
    int64_t     slice[3][3];
    bool        whole; /* all coordinates are read beside them */
} selected[] = {
    { "one coordinate", differences, { { 0, 1, 1 } }, false },
    { "each coordinate", differences, { { 0, 1, 1 }, { 1, 2, 1 }, { 2, 3, 1 } }, false },
    { "one, and all", differences, { { 1, 2, 1 } }, true },
    { "one of maps of maps", maps_of_maps, { { 2, 3, 1 } }, false },
    { "each of maps of maps", maps_of_maps, { { 0, 1, 1 }, { 1, 2, 1 }, { 2, 3, 1 } }, true },
    { "one twice", maps_of_maps, { { 1, 2, 1 }, { 1, 2, 1 } }, false },
    { "more than half", differences, { { 0, 3, 2 }, { 1, 3, 1 } }, false },
    { "backwards", maps_of_maps, { { 2, 0, -2 }, { 1, 2, 1 } }, false },
    { "of two types", narrow_and_wide, { { 0, 1, 1 }, { 2, 3, 1 } }, false },
};
enum { SELECTED = sizeof selected / sizeof *selected };

/* The program as a user writes it, with views of the map; or, if `early`, with views of x and y
 * instead, so that no view of a map is left. */
static rd_expr *selecting(int k, rd_expr *x, rd_expr *y, bool early)
{
    some_map *const map = selected[k].map;
    rd_expr *const  m   = map(x, y);
    rd_expr        *sum = selected[k].whole ? total(rd_tanh(m)) : rd_num(ctx, 0);

    for (int r = 0; r < 3 && selected[k].slice[r][2]; r++) {
        const int64_t *const at   = selected[k].slice[r];
        rd_expr *const       part = early ? map(rd_slice_axis(x, 2, at[0], at[1], at[2]),
                                                rd_slice_axis(y, 2, at[0], at[1], at[2]))
                                          : rd_slice_axis(m, 2, at[0], at[1], at[2]);

        sum = rd_add(sum, total(rd_sin(rd_mul(part, rd_num(ctx, 1 + r)))));
    }
    return sum;
}

START_TEST(selected_parts)
{
    enum { N = 70 };
    static double got[2][N * D], wanted[2][N * D];

    for (int early = 0; early < 2; early++) {
        double(*const to)[N * D] = early ? wanted : got;
        rd_expr *const x         = rd_wrap(ctx, points[0], RD_SHAPE(N, D)),
                       *y        = rd_wrap(ctx, points[1] + N * D, RD_SHAPE(N, D));
        const rd_exprs g =
            rd_grad(selecting(_i, rd_expand(x, 1), rd_expand(y, 0), early), RD_EXPRS(x, y));

        ck_assert_msg(rd_eval_many(ctx,
                                   RD_RESULTS({ g.at[0], RD_INTO(to[0], RD_SHAPE(N, D)) },
                                              { g.at[1], RD_INTO(to[1], RD_SHAPE(N, D)) }),
                                   NULL) == RD_OK,
                      "%s: %s", selected[_i].what, rd_error_text(ctx));
    }
    compare(selected[_i].what, N * D, got[0], wanted[0]);
    compare(selected[_i].what, N * D, got[1], wanted[1]);
}
END_TEST

/* A map that is an operand of the caller has its whole gradient. */
START_TEST(map_is_asked_for)
{
    double         of_m[2 * D], of_x[2 * D];
    rd_expr *const x = rd_wrap(ctx, points[0], RD_SHAPE(2, D));
    rd_expr *const m = rd_mul(x, rd_num(ctx, 3));
    const rd_exprs g = rd_grad(total(rd_select(m, 1, 1)), RD_EXPRS(m, x));

    ck_assert(rd_eval_many(ctx,
                           RD_RESULTS({ g.at[0], RD_INTO(of_m, RD_SHAPE(2, D)) },
                                      { g.at[1], RD_INTO(of_x, RD_SHAPE(2, D)) }),
                           NULL) == RD_OK);
    for (int i = 0; i < 2 * D; i++) {
        ck_assert_double_eq(of_m[i], i % D == 1 ? 1 : 0);
        ck_assert_double_eq(of_x[i], i % D == 1 ? 3 : 0);
    }
}
END_TEST

/* ---- Parts of a softmax ------------------------------------------------------------------------ */
/* Gradients by parts of a softmax that the caller asks for, and by its scores: by differences of
 * f = sum(c p), where e, the sum and the scores less their greatest are changed alone. */
START_TEST(softmax_parts)
{
    enum { N = 7 };
    double         of_x[N], of_u[N], of_e[N], of_s, e[N], dot = 0, z = 0, most = points[0][0];
    rd_expr *const x = rd_wrap(ctx, points[0], RD_SHAPE(N)), *const c = rd_wrap(ctx, points[1] + N,
                                                                                RD_SHAPE(N));
    rd_expr *const u = rd_sub(x, rd_max(x, RD_ALL)), *const exps = rd_exp(u);
    rd_expr *const s = rd_sum(exps, RD_ALL);
    rd_expr *const f = total(rd_mul(rd_div(exps, s), c));
    const rd_exprs g = rd_grad(f, RD_EXPRS(u)), h = rd_grad(f, RD_EXPRS(exps)),
                   k = rd_grad(f, RD_EXPRS(s)), of = rd_grad(f, RD_EXPRS(x));

    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ of.at[0], RD_INTO(of_x, RD_SHAPE(N)) },
                                          { g.at[0], RD_INTO(of_u, RD_SHAPE(N)) },
                                          { h.at[0], RD_INTO(of_e, RD_SHAPE(N)) },
                                          { k.at[0], RD_INTO(&of_s, RD_SCALAR) }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int i = 1; i < N; i++)
        most = fmax(most, points[0][i]);
    for (int i = 0; i < N; i++)
        z += e[i] = exp(points[0][i] - most);
    for (int i = 0; i < N; i++)
        dot += e[i] / z * points[1][N + i];
    for (int i = 0; i < N; i++) {
        const double c_i = points[1][N + i];

        ck_assert_double_eq_tol(of_x[i], e[i] / z * (c_i - dot), 1e-14);
        ck_assert_double_eq_tol(of_u[i], e[i] / z * (c_i - dot), 1e-14);
        ck_assert_double_eq_tol(of_e[i], (c_i - dot) / z, 1e-14);
    }
    ck_assert_double_eq_tol(of_s, -dot / z, 1e-14);
}
END_TEST

/* ---- Factors that are infinite ----------------------------------------------------------------- */
/* A point whose terms are all masked has gradient 0, though a factor of all of them is infinite. */
START_TEST(infinite_factor)
{
    enum { N = 300 };
    static double  got[N], scale[N];
    rd_expr *const x = rd_wrap(ctx, points[0], RD_SHAPE(N)), *const s =
                                                                 rd_wrap(ctx, scale, RD_SHAPE(N));
    rd_expr *const y = rd_wrap(ctx, points[1] + N, RD_SHAPE(N));
    rd_expr *const k = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0)))));
    rd_expr *const of_row =
        _i ? rd_div(k, rd_expand(s, 1)) : rd_mul(k, rd_expand(rd_div(rd_num(ctx, 1), s), 1));
    rd_expr *const f =
        total(rd_where(rd_ne(rd_coord(k, 0), rd_int(ctx, 5)), of_row, rd_num(ctx, 0)));
    const rd_exprs g = rd_grad(f, RD_EXPRS(x));

    for (int i = 0; i < N; i++)
        scale[i] = i == 5 ? 0 : 2;
    ck_assert_msg(rd_eval(ctx, g.at[0], RD_INTO(got, RD_SHAPE(N))) == RD_OK, "%s",
                  rd_error_text(ctx));
    for (int i = 0; i < N; i++)
        ck_assert_msg(i == 5 ? got[i] == 0 : isfinite(got[i]) && got[i] != 0, "point %d: %g", i,
                      got[i]);
}
END_TEST

/* All points are equal, so all sums of differences are 0, and second derivatives are not:
 * H[i, j] = -2 (a[i] + a[j]) of the sum of a[i] (x[i] - x[j])^2, and each row of H adds up to 0. */
START_TEST(second_derivative_of_sums_that_are_0)
{
    static const double a[] = { 3, 5, 11 }, x[] = { 1, 1, 1 }, v[] = { 1, 0, 0 };
    double              got[3];
    rd_expr *const      e = rd_wrap(ctx, x, RD_SHAPE(3));
    rd_expr *const      d = rd_square(rd_sub(rd_expand(e, 1), rd_expand(e, 0)));
    rd_expr *const      w = rd_mul(rd_expand(rd_wrap(ctx, a, RD_SHAPE(3)), 1), d);
    rd_expr *const f = total(rd_where(rd_ne(rd_coord(w, 0), rd_coord(w, 1)), w, rd_num(ctx, 0)));
    const rd_exprs h = rd_hvp(f, RD_EXPRS(e), RD_EXPRS(rd_wrap(ctx, v, RD_SHAPE(3))));

    ck_assert_msg(h.n == 1 && rd_eval(ctx, h.at[0], RD_INTO(got, RD_SHAPE(3))) == RD_OK, "%s",
                  rd_error_text(ctx));
    ck_assert_double_eq(got[0], 2 * (3 + 5) + 2 * (3 + 11));
    ck_assert_double_eq(got[1], -2 * (3 + 5));
    ck_assert_double_eq(got[2], -2 * (3 + 11));
}
END_TEST

/* The gradient by something of pairs is that of the pairs that are summed: 1 where i < j. */
START_TEST(pairs_are_asked_for)
{
    double         got[5][5];
    rd_expr *const x = rd_wrap(ctx, points[0], RD_SHAPE(5));
    rd_expr *const f = rd_square(rd_sub(rd_expand(x, 1), rd_expand(x, 0)));
    rd_expr *const y = total(rd_where(rd_lt(rd_coord(f, 0), rd_coord(f, 1)), f, rd_num(ctx, 0)));
    const rd_exprs g = rd_grad(y, RD_EXPRS(f));

    ck_assert_msg(g.n == 1 && rd_eval(ctx, g.at[0], RD_INTO(got, RD_SHAPE(5, 5))) == RD_OK, "%s",
                  rd_error_text(ctx));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            ck_assert_double_eq(got[i][j], i < j);
}
END_TEST

/* ---- What is stored -------------------------------------------------------------------------- */
static int64_t stored_by(rd_expr *y)
{
    static const char key[] = "arrays between stages: ";
    const char *const text  = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
    const char *const at    = text ? strstr(text, key) : NULL;

    ck_assert_msg(text != NULL, "%s", rd_error_text(ctx));
    return at ? strtoll(at + sizeof key - 1, NULL, 10) : 0;
}

static const int of_one_pass[] = { 0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17 };
enum { ONE_PASS = sizeof of_one_pass / sizeof *of_one_pass };

/* Both parts of a gradient are sums in one pass: no array of pairs is between. */
START_TEST(one_pass)
{
    enum { N = 5000 };
    static float   x[N * D], v[N];
    rd_expr *const of_x  = rd_wrap(ctx, x, RD_SHAPE(N, D));
    rd_expr *const of_v  = rd_wrap(ctx, v, RD_SHAPE(N));
    const pairs    p     = { rd_expand(of_x, 1), rd_expand(of_x, 0), rd_expand(of_v, 1),
                             rd_expand(of_v, 0), N };
    const int      k     = of_one_pass[_i];
    const int64_t  bytes = stored_by(rd_grad(programs[k].of(&p), RD_EXPRS(of_x)).at[0]);

    ck_assert_msg(bytes <= N * D * 4 * 4, "%s: %lld bytes", programs[k].what, (long long)bytes);
}
END_TEST

/* The gradient of a sum over i < j visits no other pairs: the events of a Hawkes process, of which
 * each raises the rate of those that follow. */
START_TEST(mask_bounds_loops)
{
    enum { N = 3000 };
    static float   times[N], decay[1];
    rd_expr *const t       = rd_wrap(ctx, times, RD_SHAPE(N));
    rd_expr *const beta    = rd_wrap(ctx, decay, RD_SHAPE(1));
    rd_expr *const i       = rd_coord(t, 0);
    rd_expr *const before  = rd_lt(rd_expand(i, 0), rd_expand(i, 1));
    rd_expr *const zero    = rd_num(ctx, 0);
    rd_expr *const since   = rd_where(before, rd_sub(rd_expand(t, 1), rd_expand(t, 0)), zero);
    rd_expr *const raised  = rd_where(before, rd_exp(rd_neg(rd_mul(since, beta))), zero);
    rd_expr *const rate    = rd_add(rd_sum(raised, RD_DIMS(1)), rd_num(ctx, 0.5));
    const rd_exprs g       = rd_grad(rd_sum(rd_log(rate), RD_ALL), RD_EXPRS(beta));
    const char    *text    = rd_explain(ctx, RD_RESULTS({ g.at[0], NULL }), NULL);
    int            bounded = 0;

    for (const char *at = text; at && (at = strstr(at, "a mask of places bounds loops")); at++)
        bounded++;
    ck_assert_msg(bounded > 0 && !strstr(text, "where(at(j) < at(i), 1"), "%s",
                  text ? text : rd_error_text(ctx));
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("grad_pairs");
    TCase   *tc     = tcase_create("grad_pairs");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, one_array, 0, PROGRAMS * SIZES);
    tcase_add_test(tc, one_point);
    tcase_add_loop_test(tc, selected_parts, 0, SELECTED);
    tcase_add_test(tc, map_is_asked_for);
    tcase_add_loop_test(tc, one_pass, 0, ONE_PASS);
    tcase_add_test(tc, mask_bounds_loops);
    tcase_add_test(tc, softmax_parts);
    tcase_add_loop_test(tc, infinite_factor, 0, 2);
    tcase_add_test(tc, second_derivative_of_sums_that_are_0);
    tcase_add_test(tc, pairs_are_asked_for);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
