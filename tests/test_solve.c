/* test_solve.c - linear systems, eigenvalues, traces and determinants of operators that are
 * expressions, against dense matrices and elimination. */
#include "expr/expr.h"
#include "faulty_heap.h"
#include "solve/lapack.h"
#include "solve/operator.h"
#include "suite.h"
#include <math.h>

enum { N_METHODS = RD_BICGSTAB + 1 };
enum { N = 300, D = 3, SMALL = 60, MOST_SIDES = 3, LANDMARKS = 60, SKEW = 30 };

/* ---- Matrices -------------------------------------------------------------------------------- */
/* What the operators are made of.  Each is (A v)[i] = sum over j of a(i, j) v[j]. */
typedef enum shape_of_a { DEFINITE, INDEFINITE, NONSYMMETRIC, SCALED } shape_of_a;

static double points[N * D], weight[N], ridge = 0.05;

static double number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

static void make_points(void)
{
    uint64_t state = 7;

    for (int i = 0; i < N * D; i++)
        points[i] = number(&state);
    for (int i = 0; i < N; i++)
        weight[i] = 0.5 + 2 * number(&state);
}

/* The Gaussian kernel of two points. */
static double kernel(int i, int j)
{
    double square = 0;

    for (int d = 0; d < D; d++)
        square += (points[i * D + d] - points[j * D + d]) * (points[i * D + d] - points[j * D + d]);
    return exp(-2 * square);
}

static double element(shape_of_a shape, int i, int j)
{
    const double k = kernel(i, j), one = i == j;

    switch (shape) {
    case DEFINITE: return k + ridge * one;
    case INDEFINITE: return k - 0.3 * one;
    case NONSYMMETRIC: return k * weight[j] + ridge * one;
    default: return 40 * (i % 7 + 0.1) * one + k; /* a diagonal that Jacobi removes */
    }
}

/* A dense matrix of the first n points. */
static double *dense(shape_of_a shape, int n)
{
    double *const a = malloc(sizeof *a * (size_t)(n * n));

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = element(shape, i, j);
    return a;
}

/* Elimination with pivots: b becomes A^-1 b.  Returns the logarithm of |det A|; frees a. */
static double eliminate(int n, double *a, int sides, double *b)
{
    double logdet = 0;

    for (int c = 0; c < n; c++) {
        int best = c;

        for (int i = c + 1; i < n; i++)
            if (fabs(a[i * n + c]) > fabs(a[best * n + c]))
                best = i;
        for (int j = 0; j < n; j++) {
            const double was = a[c * n + j];
            a[c * n + j]     = a[best * n + j];
            a[best * n + j]  = was;
        }
        for (int k = 0; k < sides; k++) {
            const double was    = b[c * sides + k];
            b[c * sides + k]    = b[best * sides + k];
            b[best * sides + k] = was;
        }
        logdet += log(fabs(a[c * n + c]));
        for (int i = c + 1; i < n; i++) {
            const double f = a[i * n + c] / a[c * n + c];

            for (int j = c; j < n; j++)
                a[i * n + j] -= f * a[c * n + j];
            for (int k = 0; k < sides; k++)
                b[i * sides + k] -= f * b[c * sides + k];
        }
    }
    for (int i = n - 1; i >= 0; i--)
        for (int k = 0; k < sides; k++) {
            for (int j = i + 1; j < n; j++)
                b[i * sides + k] -= a[i * n + j] * b[j * sides + k];
            b[i * sides + k] /= a[i * n + i];
        }
    free(a);
    return logdet;
}

/* Eigenvalues of a symmetric matrix by Jacobi's rotations, ascending; frees a. */
static void rotate_away(int n, double *a, double *value)
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0)
                    continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t     = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;

                for (int k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y;
                    a[q * n + k] = s * x + c * y;
                }
            }
    for (int i = 0; i < n; i++) {
        int at = i;

        for (; at > 0 && value[at - 1] > a[i * n + i]; at--)
            value[at] = value[at - 1];
        value[at] = a[i * n + i];
    }
    free(a);
}

/* ---- Operators ------------------------------------------------------------------------------- */
static rd_ctx *ctx;

static void begin(void)
{
    make_points();
    ctx = rd_ctx_new(NULL);
}

/* False, after a check of the sentence, if there is no LAPACK: a BLAS without it, or none. */
static bool has_lapack(void)
{
    const bool has = rd_lapack_here(ctx, "call");

    if (!has) {
        ck_assert_int_eq(rd_error(ctx), RD_ERR_DEVICE);
        ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "call: there is no LAPACK"));
        rd_error_clear(ctx);
    }
    return has;
}

static void end(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *floats(rd_expr *x, rd_dtype type)
{
    return rd_cast(x, type);
}

/* K(x, y) of points (n, 3) and (m, 3), as a user writes it. */
static rd_expr *kernel_of(rd_expr *x, rd_expr *y)
{
    rd_expr *const difference = rd_sub(rd_expand(x, 1), rd_expand(y, 0));

    if (!x) /* without memory */
        return NULL;
    return rd_exp(rd_mul(rd_sum(rd_square(difference), RD_DIMS(2)), rd_num(x->ctx, -2)));
}

static rd_expr *points_of(rd_ctx *c, int n, rd_dtype type)
{
    return floats(rd_wrap(c, points, RD_SHAPE(n, D)), type);
}

static rd_expr *input(rd_ctx *c, const char *name, rd_dtype type, rd_shape shape)
{
    return rd_input(c, name, &(rd_array){ .type = type, .shape = shape });
}

/* A v for v of shape (n) or (n, sides). */
static rd_expr *apply(shape_of_a shape, rd_expr *v)
{
    rd_ctx *const  c = v->ctx;
    rd_expr *const x = points_of(c, (int)v->extent[0], v->type);
    rd_expr *const k = kernel_of(x, x), *w = rd_wrap(c, weight, RD_SHAPE(v->extent[0]));
    rd_expr       *of_row = rd_coord(v, 0);

    if (v->rank == 2)
        w = rd_expand(w, 1);
    switch (shape) {
    case DEFINITE: return rd_add(rd_matmul(k, v), rd_mul(v, rd_num(c, ridge)));
    case INDEFINITE: return rd_sub(rd_matmul(k, v), rd_mul(v, rd_num(c, 0.3)));
    case NONSYMMETRIC:
        return rd_add(rd_matmul(k, rd_mul(v, floats(w, v->type))), rd_mul(v, rd_num(c, ridge)));
    default:
        of_row = floats(rd_remainder(of_row, rd_int(c, 7)), v->type);
        of_row = rd_mul(rd_add(of_row, rd_num(c, 0.1)), rd_num(c, 40));
        return rd_add(rd_matmul(k, v), rd_mul(of_row, v));
    }
}

static rd_shape shape_of_v(int n, int sides)
{
    return sides == 1 ? RD_SHAPE(n) : RD_SHAPE(n, sides);
}

static void make_sides(double *b, int n, int sides)
{
    for (int i = 0; i < n * sides; i++)
        b[i] = sin(1 + 0.37 * i) + 0.2 * cos(0.011 * i * i);
}

static rd_expr *jacobi_of(rd_expr *r)
{
    double *const diagonal = malloc(sizeof *diagonal * (size_t)r->extent[0]);
    rd_array      array    = { .data = diagonal, .type = RD_F64, .shape = RD_SHAPE(r->extent[0]) };

    for (int i = 0; i < r->extent[0]; i++)
        diagonal[i] = element(SCALED, i, i);
    ck_assert_int_eq(rd_array_own(r->ctx, &array, free, diagonal), RD_OK);
    return rd_jacobi(r, rd_adopt(r->ctx, &array));
}

static rd_expr *nystroem_of(rd_expr *r)
{
    rd_expr *const x = points_of(r->ctx, (int)r->extent[0], r->type);
    rd_expr *const y = points_of(r->ctx, LANDMARKS, r->type);

    return rd_nystroem(r, kernel_of(x, y), kernel_of(y, y), ridge);
}

/* The greatest distance relative to the greatest element. */
static double off_by(const double *x, const double *want, int n)
{
    double off = 0, scale = 0;

    for (int i = 0; i < n; i++) {
        off   = fmax(off, fabs(x[i] - want[i]));
        scale = fmax(scale, fabs(want[i]));
    }
    return off / scale;
}

#define ck_ok(call) ck_assert_msg((call) == RD_OK, "%s", rd_error_text(ctx))

/* ---- Solutions ------------------------------------------------------------------------------- */
typedef enum preconditioner { NONE, JACOBI, NYSTROEM } preconditioner;
typedef struct system {
    const char    *what;
    shape_of_a     shape;
    rd_solver      method;
    preconditioner with;
    int            sides;
    rd_dtype       type;
    double         tolerance, bound; /* bound: condition times tolerance, or rounding of f32 */
    int            least, most;      /* iterations that it may take */
} linear_system;

static const linear_system systems[] = {
    { "definite, cg", DEFINITE, RD_CG, NONE, 1, RD_F64, 1e-10, 1e-7, 10, 80 },
    { "definite, cg, sides", DEFINITE, RD_CG, NONE, 3, RD_F64, 1e-10, 1e-7, 10, 100 },
    { "definite, cg, f32", DEFINITE, RD_CG, NONE, 2, RD_F32, 1e-4, 2e-2, 5, 100 },
    { "definite, minres", DEFINITE, RD_MINRES, NONE, 2, RD_F64, 1e-10, 1e-7, 10, 90 },
    { "definite, gmres", DEFINITE, RD_GMRES, NONE, 2, RD_F64, 1e-10, 1e-7, 10, 90 },
    { "definite, bicgstab", DEFINITE, RD_BICGSTAB, NONE, 2, RD_F64, 1e-10, 1e-7, 5, 90 },
    { "nystroem, cg", DEFINITE, RD_CG, NYSTROEM, 1, RD_F64, 1e-10, 1e-7, 1, 15 },
    { "nystroem, cg, sides", DEFINITE, RD_CG, NYSTROEM, 3, RD_F64, 1e-10, 1e-7, 1, 15 },
    { "nystroem, minres", DEFINITE, RD_MINRES, NYSTROEM, 2, RD_F64, 1e-10, 1e-7, 1, 25 },
    { "nystroem, gmres", DEFINITE, RD_GMRES, NYSTROEM, 2, RD_F64, 1e-10, 1e-7, 1, 15 },
    { "nystroem, bicgstab", DEFINITE, RD_BICGSTAB, NYSTROEM, 2, RD_F64, 1e-10, 1e-7, 1, 15 },
    { "nystroem, f32", DEFINITE, RD_CG, NYSTROEM, 1, RD_F32, 1e-4, 2e-2, 1, 15 },
    { "scaled, cg", SCALED, RD_CG, NONE, 1, RD_F64, 1e-10, 1e-8, 15, 90 },
    { "jacobi, cg", SCALED, RD_CG, JACOBI, 1, RD_F64, 1e-10, 1e-8, 3, 30 },
    { "jacobi, gmres", SCALED, RD_GMRES, JACOBI, 2, RD_F64, 1e-10, 1e-8, 3, 30 },
    { "jacobi, bicgstab", SCALED, RD_BICGSTAB, JACOBI, 2, RD_F64, 1e-10, 1e-8, 2, 30 },
    { "indefinite, minres", INDEFINITE, RD_MINRES, NONE, 1, RD_F64, 1e-10, 1e-7, 5, 90 },
    { "indefinite, minres, sides", INDEFINITE, RD_MINRES, NONE, 2, RD_F64, 1e-10, 1e-7, 5, 90 },
    { "indefinite, gmres", INDEFINITE, RD_GMRES, NONE, 2, RD_F64, 1e-10, 1e-7, 5, 90 },
    { "nonsymmetric, gmres", NONSYMMETRIC, RD_GMRES, NONE, 1, RD_F64, 1e-10, 1e-7, 10, 90 },
    { "nonsymmetric, gmres, sides", NONSYMMETRIC, RD_GMRES, NONE, 3, RD_F64, 1e-10, 1e-7, 10, 90 },
    { "nonsymmetric, bicgstab", NONSYMMETRIC, RD_BICGSTAB, NONE, 1, RD_F64, 1e-10, 1e-7, 5, 140 },
    { "nonsymmetric, bicgstab, sides", NONSYMMETRIC, RD_BICGSTAB, NONE, 3, RD_F64, 1e-10, 1e-7, 5,
      140 },
    { "nonsymmetric, bicgstab, f32", NONSYMMETRIC, RD_BICGSTAB, NONE, 2, RD_F32, 1e-4, 2e-2, 3,
      140 },
};

static rd_expr *preconditioner_of(preconditioner with, rd_dtype type, rd_shape shape)
{
    rd_expr *const r = input(ctx, "r", type, shape);

    return with == JACOBI ? jacobi_of(r) : with == NYSTROEM ? nystroem_of(r) : NULL;
}

/* Solves into f64 of the row's type. */
static rd_status solve_row(const linear_system *row, double *b, double *x, rd_solve_info *info)
{
    const rd_shape shape = shape_of_v(N, row->sides);
    rd_expr *const v     = input(ctx, "v", row->type, shape);
    rd_expr *const p     = preconditioner_of(row->with, row->type, shape);

    return rd_solve(ctx, apply(row->shape, v), v, rd_leaf(ctx, RD_INTO(b, shape)),
                    RD_INTO(x, shape), .method = row->method, .tolerance = row->tolerance,
                    .preconditioner = p, .restart = 40, .info = info);
}

START_TEST(solves)
{
    const linear_system *const row = &systems[_i];
    double                     b[N * MOST_SIDES], x[N * MOST_SIDES], want[N * MOST_SIDES];
    rd_solve_info              info;

    begin();
    if (row->with == NYSTROEM && !has_lapack())
        return;
    make_sides(b, N, row->sides);
    memcpy(want, b, sizeof want);
    eliminate(N, dense(row->shape, N), row->sides, want);
    ck_ok(solve_row(row, b, x, &info));
    ck_assert_msg(info.converged && info.residual <= row->tolerance, "%s: %g after %d", row->what,
                  info.residual, (int)info.iterations);
    ck_assert_msg(off_by(x, want, N * row->sides) <= row->bound, "%s: off by %g", row->what,
                  off_by(x, want, N * row->sides));
    ck_assert_msg(info.iterations >= row->least && info.iterations <= row->most,
                  "%s: %d iterations", row->what, (int)info.iterations);
    ck_assert_int_ge(info.evaluations,
                     row->method == RD_BICGSTAB ? 2 * info.iterations : info.iterations + 1);
    end();
}
END_TEST

/* With 5 vectors GMRES takes more iterations, and arrives. */
START_TEST(restarts)
{
    double        b[N], x[N], want[N];
    rd_solve_info info;
    rd_expr      *v;

    begin();
    v = input(ctx, "v", RD_F64, RD_SHAPE(N));
    make_sides(b, N, 1);
    memcpy(want, b, sizeof want);
    eliminate(N, dense(SCALED, N), 1, want);
    ck_ok(rd_solve(ctx, apply(SCALED, v), v, rd_wrap(ctx, b, RD_SHAPE(N)), RD_INTO(x, RD_SHAPE(N)),
                   .method = RD_GMRES, .restart = 5, .info = &info, .tolerance = 1e-9));
    ck_assert(info.converged && info.iterations > 20);
    ck_assert_double_le(off_by(x, want, N), 1e-7);
    end();
}
END_TEST

/* Systems of integers on which BiCGStab must begin anew, and how many iterations it takes: four of
 * a cycle without a breakdown, and those before it. */
static const struct {
    const char *what;
    double      a[4][4], b[4], x[4];
    int         iterations;
} stopped[] = {
    { "A p orthogonal to the shadow",
      { { 1, -2, 0, 0 }, { 1, 0, 0, -1 }, { -2, 1, -1, 2 }, { 2, 2, 0, -1 } },
      { 1, -1, 0, 0 },
      { 1, 0, 2, 2 },
      5 },
    { "r orthogonal to the shadow in iteration 2",
      { { 0, 1, 1, -1 }, { 1, 1, -2, -2 }, { -1, 1, 1, 1 }, { 1, -2, 0, 2 } },
      { 0, -2, -2, 2 },
      { 0, -2, 1, -1 },
      5 },
    { "r orthogonal to the shadow in iteration 3",
      { { 0, -1, 0, 1 }, { -2, 2, -2, -2 }, { 0, -1, 2, -2 }, { 1, -1, 0, 1 } },
      { 0, 0, -3, 0 },
      { 0, 1, 0, 1 },
      4 },
};

/* A side begins anew where a step is 0, or where its shadow is orthogonal to r. Without that it
 * takes another number of iterations, or does not arrive. */
START_TEST(anew)
{
    double        a[4][4], b[4], x[4];
    rd_solve_info info;
    rd_expr      *v;

    begin();
    memcpy(a, stopped[_i].a, sizeof a);
    memcpy(b, stopped[_i].b, sizeof b);
    v = input(ctx, "v", RD_F64, RD_SHAPE(4));
    ck_ok(rd_solve(ctx, rd_matmul(rd_wrap(ctx, a, RD_SHAPE(4, 4)), v), v,
                   rd_wrap(ctx, b, RD_SHAPE(4)), RD_INTO(x, RD_SHAPE(4)), .method = RD_BICGSTAB,
                   .tolerance = 1e-9, .info = &info));
    ck_assert_msg(info.converged && info.iterations == stopped[_i].iterations, "%s: %d iterations",
                  stopped[_i].what, (int)info.iterations);
    ck_assert_double_le(off_by(x, stopped[_i].x, 4), 1e-8);
    end();
}
END_TEST

/* ---- Ends ------------------------------------------------------------------------------------ */
/* A solve with few iterations says so, keeps what it has, and goes on from there. */
START_TEST(limits)
{
    double        b[N], x[N], want[N], history[200];
    rd_solve_info info;
    rd_expr      *v, *Av, *right;

    begin();
    v     = input(ctx, "v", RD_F64, RD_SHAPE(N));
    Av    = apply(DEFINITE, v);
    right = rd_wrap(ctx, b, RD_SHAPE(N));
    make_sides(b, N, 1);
    memcpy(want, b, sizeof want);
    eliminate(N, dense(DEFINITE, N), 1, want);
    ck_assert_int_eq(
        rd_solve(ctx, Av, v, right, RD_INTO(x, RD_SHAPE(N)), .most = 4, .tolerance = 1e-9),
        RD_ERR_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "rd_solve: the residual is "));
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "after 4 iterations"));
    rd_error_clear(ctx);
    memset(x, 0, sizeof x);
    ck_ok(rd_solve(ctx, Av, v, right, RD_INTO(x, RD_SHAPE(N)), .most = 4, .tolerance = 1e-9,
                   .info = &info, .history = history));
    ck_assert(!info.converged && info.iterations == 4);
    ck_assert_double_eq_tol(info.residual, history[3], 1e-9); /* the estimate is the residual */
    ck_assert(x[0] != 0);
    ck_ok(rd_solve(ctx, Av, v, right, RD_INTO(x, RD_SHAPE(N)), .tolerance = 1e-9, .info = &info,
                   .start = rd_wrap(ctx, x, RD_SHAPE(N)), .history = history, .most = 200));
    ck_assert(info.converged && info.iterations > 1);
    ck_assert_double_le(off_by(x, want, N), 1e-6);
    ck_ok(rd_solve(ctx, Av, v, right, RD_INTO(x, RD_SHAPE(N)), .tolerance = 1e-9, .info = &info,
                   .start = rd_wrap(ctx, x, RD_SHAPE(N))));
    ck_assert(info.converged && info.iterations == 0 && info.evaluations == 1);
    end();
}
END_TEST

static rd_expr *nan_operator(rd_expr *v)
{
    static double spoiled[N];

    for (int i = 0; i < N; i++)
        spoiled[i] = i == 17 ? NAN : 1 + 0.01 * i;
    return rd_mul(v, floats(rd_wrap(v->ctx, spoiled, RD_SHAPE(N)), v->type));
}

static rd_expr *negative_operator(rd_expr *v)
{
    return rd_mul(v, rd_sub(rd_coord(v, 0), rd_num(v->ctx, 100.5)));
}

static rd_expr *singular_operator(rd_expr *v)
{
    return rd_mul(v, rd_cast(rd_gt(rd_coord(v, 0), rd_int(v->ctx, 0)), v->type));
}

static rd_expr *turned_operator(rd_expr *v) /* r A r is 0: it turns pairs of elements */
{
    rd_expr *const pairs = rd_reshape(v, RD_SHAPE(N / 2, 2));
    rd_expr *const signs = rd_sub(rd_mul(rd_coord(pairs, 1), rd_num(v->ctx, 2)), rd_num(v->ctx, 1));

    return rd_reshape(rd_mul(rd_flip(pairs, RD_DIMS(1)), floats(signs, v->type)), RD_SHAPE(N));
}

/* 0.01 v + S v, where S is random and S^T = -S: the residuals of BiCGStab grow without bound. */
static rd_expr *skew_operator(rd_expr *v)
{
    static double a[SKEW * SKEW];
    uint64_t      state = 3;

    for (int i = 0; i < SKEW; i++) {
        a[i * SKEW + i] = 0.01;
        for (int j = 0; j < i; j++) {
            a[i * SKEW + j] = 2 * number(&state) - 1;
            a[j * SKEW + i] = -a[i * SKEW + j];
        }
    }
    return rd_matmul(floats(rd_wrap(v->ctx, a, RD_SHAPE(SKEW, SKEW)), v->type), v);
}

static rd_expr *shifted_operator(rd_expr *v) /* not linear */
{
    return rd_add(rd_mul(v, rd_num(v->ctx, 2)), rd_num(v->ctx, 1));
}

static const struct {
    const char *what;
    rd_expr *(*of)(rd_expr *v);
    rd_solver   method;
    const char *sentence;
    rd_dtype    type;
    int         n;
} broken[] = {
    { "NaN, cg", nan_operator, RD_CG, "not finite", RD_F64, N },
    { "NaN, minres", nan_operator, RD_MINRES, "not finite", RD_F64, N },
    { "NaN, gmres", nan_operator, RD_GMRES, "not finite", RD_F64, N },
    { "indefinite, cg", negative_operator, RD_CG, "positive definite", RD_F64, N },
    { "not linear, cg", shifted_operator, RD_CG, "not linear", RD_F64, N },
    { "singular, minres", singular_operator, RD_MINRES, "rd_solve: ", RD_F64, N },
    { "singular, gmres", singular_operator, RD_GMRES, "rd_solve: ", RD_F64, N },
    { "NaN, bicgstab", nan_operator, RD_BICGSTAB, "not finite", RD_F64, N },
    { "NaN, bicgstab, f32", nan_operator, RD_BICGSTAB, "not finite", RD_F32, N },
    { "singular, bicgstab", singular_operator, RD_BICGSTAB, "rd_solve: ", RD_F64, N },
    { "singular, bicgstab, f32", singular_operator, RD_BICGSTAB, "rd_solve: ", RD_F32, N },
    { "turned, bicgstab", turned_operator, RD_BICGSTAB, "in iteration 1; BiCGStab", RD_F64, N },
    { "turned, bicgstab, f32", turned_operator, RD_BICGSTAB, "in iteration 1; BiCGStab", RD_F32,
      N },
    { "skew, bicgstab", skew_operator, RD_BICGSTAB, "rose from ", RD_F64, SKEW },
    { "skew, bicgstab, f32", skew_operator, RD_BICGSTAB, "the residual is ", RD_F32, SKEW },
};

START_TEST(breakdowns)
{
    const int n = broken[_i].n;
    double    b[N], x[N];
    rd_expr  *v;

    begin();
    v = input(ctx, "v", broken[_i].type, RD_SHAPE(n));
    make_sides(b, n, 1);
    ck_assert_int_eq(rd_solve(ctx, broken[_i].of(v), v, rd_wrap(ctx, b, RD_SHAPE(n)),
                              RD_INTO(x, RD_SHAPE(n)), .method = broken[_i].method, .most = 400),
                     RD_ERR_CONVERGENCE);
    ck_assert_msg(strstr(rd_error_text(ctx), broken[_i].sentence) != NULL, "%s: %s",
                  broken[_i].what, rd_error_text(ctx));
    if (broken[_i].of == turned_operator ||
        (broken[_i].of == skew_operator && broken[_i].type == RD_F64))
        ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "RD_GMRES does"));
    end();
}
END_TEST

/* A r is orthogonal to r, so there is no step along r (omega = 0): the side begins anew, and stops
 * there, as its new shadow is orthogonal to A r, too. */
START_TEST(no_step_along_r)
{
    static double a[4][4] = {
        { -1, 1, -1, -1 }, { 0, 1, -2, 1 }, { 2, 1, 2, -1 }, { 2, 0, -2, 0 }
    };
    static const double b[4] = { 0, 4, 0, 4 };
    double              x[4];
    rd_expr            *v, *A;

    begin();
    v = input(ctx, "v", RD_F64, RD_SHAPE(4));
    A = rd_sum(rd_mul(rd_wrap(ctx, &a[0][0], RD_SHAPE(4, 4)), rd_expand(v, 0)), RD_DIMS(1));
    ck_assert_int_eq(rd_solve(ctx, A, v, rd_wrap(ctx, b, RD_SHAPE(4)), RD_INTO(x, RD_SHAPE(4)),
                              .method = RD_BICGSTAB),
                     RD_ERR_CONVERGENCE);
    ck_assert_msg(strstr(rd_error_text(ctx), "in iteration 2; BiCGStab does not go on") != NULL,
                  "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_ok(rd_solve(ctx, A, v, rd_wrap(ctx, b, RD_SHAPE(4)), RD_INTO(x, RD_SHAPE(4)),
                   .method = RD_GMRES));
    end();
}
END_TEST

/* A solve that diverges gives the best x that it had: at least as good as that of the beginning,
 * also if it goes on as long as it may, and beside a side that converges. */
START_TEST(divergence)
{
    const rd_dtype type = _i % 2 ? RD_F32 : RD_F64;
    double         b[SKEW * 2], x[SKEW * 2];
    rd_solve_info  info;
    rd_expr       *v;

    begin();
    v = input(ctx, "v", type, RD_SHAPE(SKEW, 2));
    make_sides(b, SKEW, 2);
    for (int i = 0; i < SKEW; i++)
        b[2 * i + 1] = 0;
    ck_ok(rd_solve(ctx, skew_operator(v), v, rd_wrap(ctx, b, RD_SHAPE(SKEW, 2)),
                   RD_INTO(x, RD_SHAPE(SKEW, 2)), .method = RD_BICGSTAB, .info = &info,
                   .most = _i < 2 ? 1000 : 7));
    ck_assert_msg(!info.converged && info.residual <= 1 + 1e-6, "%g after %d iterations",
                  info.residual, (int)info.iterations);
    ck_assert_double_eq(x[1], 0);
    end();
}
END_TEST

/* A right side of 0 has the solution 0, beside others and alone, wherever it begins. */
START_TEST(zeros)
{
    double        b[N * 2], x[N * 2], start[N * 2];
    rd_solve_info info;
    rd_expr      *v;

    begin();
    v = input(ctx, "v", RD_F64, RD_SHAPE(N, 2));
    for (int i = 0; i < N; i++) {
        b[2 * i]     = 0;
        b[2 * i + 1] = cos(i);
        start[2 * i] = start[2 * i + 1] = 1;
    }
    ck_ok(rd_solve(ctx, apply(DEFINITE, v), v, rd_wrap(ctx, b, RD_SHAPE(N, 2)),
                   RD_INTO(x, RD_SHAPE(N, 2)), .method = (rd_solver)_i,
                   .start = rd_wrap(ctx, start, RD_SHAPE(N, 2))));
    for (int i = 0; i < N; i++)
        ck_assert_double_eq(x[2 * i], 0);
    ck_assert_double_ne(x[1], 0);
    ck_ok(rd_solve(ctx, apply(DEFINITE, v), v, rd_num(ctx, 0), RD_INTO(x, RD_SHAPE(N, 2)),
                   .method = (rd_solver)_i, .info = &info));
    ck_assert(info.converged && info.iterations == 0 && info.residual == 0);
    ck_assert_double_eq(x[1], 0);
    end();
}
END_TEST

typedef struct listener {
    int64_t calls, end_at;
    double  told[100];
    bool    cancels;
} listener;

static int listen(void *user, int64_t iteration, double residual)
{
    listener *const l = user;

    ck_assert_int_eq(iteration, l->calls + 1);
    if (l->calls < 100)
        l->told[l->calls] = residual;
    l->calls++;
    if (l->cancels && l->calls == l->end_at)
        rd_cancel(ctx);
    return !l->cancels && l->calls == l->end_at;
}

START_TEST(progress)
{
    double        b[N], x[N], history[100] = { 0 };
    listener      l = { .end_at = 5, .cancels = _i % 2 };
    rd_solve_info info;
    rd_expr      *v, *Av;

    begin();
    v  = input(ctx, "v", RD_F64, RD_SHAPE(N));
    Av = apply(DEFINITE, v);
    make_sides(b, N, 1);
    ck_assert_int_eq(rd_solve(ctx, Av, v, rd_wrap(ctx, b, RD_SHAPE(N)), RD_INTO(x, RD_SHAPE(N)),
                              .progress = listen, .user = &l, .history = history, .most = 100,
                              .method = (rd_solver)(_i / 2), .info = &info),
                     RD_ERR_CANCELLED);
    ck_assert(l.calls == 5 && info.iterations == 5 && !info.converged);
    for (int i = 0; i < 5; i++)
        ck_assert(history[i] == l.told[i] && history[i] > 0);
    end();
}
END_TEST

/* ---- Layouts and kinds of vectors ------------------------------------------------------------ */
/* v may have any strides and either type, and x too. */
START_TEST(layouts)
{
    static const int64_t strides[][2] = { { 1, N }, { 5, 2 }, { -2, 1 } };
    double               b[N * 2], want[N * 2], x[N * 2];
    rd_array             layout = { .type = _i < 3 ? RD_F64 : RD_F32, .shape = RD_SHAPE(N, 2) };
    rd_expr             *v;

    begin();
    layout.strides = RD_STRIDES(strides[_i % 3][0], strides[_i % 3][1]);
    v              = rd_input(ctx, "v", &layout);
    ck_assert_ptr_nonnull(v);
    make_sides(b, N, 2);
    memcpy(want, b, sizeof want);
    eliminate(N, dense(SCALED, N), 2, want);
    ck_ok(rd_solve(ctx, apply(SCALED, v), v, rd_wrap(ctx, b, RD_SHAPE(N, 2)),
                   &(rd_array){ .data = x, .type = RD_F64, .shape = RD_SHAPE(N, 2), .order = 1 },
                   .tolerance = 1e-6));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq_tol(x[k * N + i], want[i * 2 + k], 1e-4 * fabs(want[0]));
    end();
}
END_TEST

/* With .coupled the columns of v may meet. */
START_TEST(coupled)
{
    double        b[N * 2], x[N * 2], back[N * 2];
    rd_expr      *v, *Av;
    rd_solve_info info;
    rd_plan      *plan;

    begin();
    v  = input(ctx, "v", RD_F64, RD_SHAPE(N, 2));
    Av = rd_add(rd_mul(v, rd_num(ctx, 2)), rd_mul(rd_flip(v, RD_DIMS(1)), rd_num(ctx, 0.9)));
    Av = rd_add(Av, rd_mul(rd_mean(v, RD_KEEP(0, 1)), rd_num(ctx, 3)));
    make_sides(b, N, 2);
    for (int i = 0; i < N; i++)
        b[2 * i] *= 3;
    ck_ok(rd_solve(ctx, Av, v, rd_wrap(ctx, b, RD_SHAPE(N, 2)), RD_INTO(x, RD_SHAPE(N, 2)),
                   .coupled = true, .info = &info, .tolerance = 1e-12));
    ck_assert(info.converged && info.iterations <= 5);
    plan = rd_plan_new(ctx, RD_EXPRS(v), RD_RESULTS({ Av, RD_INTO(back, RD_SHAPE(N, 2)) }), NULL);
    ck_ok(rd_plan_run(plan, (const void *[]){ x }, NULL));
    rd_plan_free(plan);
    ck_assert_double_le(off_by(back, b, N * 2), 1e-10);
    end();
}
END_TEST

/* No vectors, one number, and no element. */
START_TEST(sizes)
{
    double   x = 0, b = 3;
    rd_array none = { 0 };
    rd_expr *v;

    begin();
    v = input(ctx, "v", RD_F64, (rd_shape){ 0 });
    ck_ok(rd_solve(ctx, rd_mul(v, rd_num(ctx, 4)), v, rd_num(ctx, b), RD_INTO(&x, (rd_shape){ 0 }),
                   .method = (rd_solver)_i));
    ck_assert_double_eq_tol(x, 0.75, 1e-12);
    v = input(ctx, "empty", RD_F32, RD_SHAPE(0, 3));
    ck_ok(rd_solve(ctx, rd_mul(v, rd_num(ctx, 4)), v, rd_num(ctx, b), &none,
                   .method = (rd_solver)_i));
    ck_assert(none.type == RD_F32 && none.shape.n == 2 && none.shape.at[0] == 0);
    rd_array_free(&none);
    v = input(ctx, "no sides", RD_F64, RD_SHAPE(4, 0));
    ck_ok(rd_solve(ctx, rd_mul(v, rd_num(ctx, 4)), v, rd_num(ctx, b), &none,
                   .method = (rd_solver)_i));
    rd_array_free(&none);
    end();
}
END_TEST

/* Bits are the same on 1, 2 and 4 threads. */
START_TEST(threads)
{
    enum { ROWS = 5000 };
    static double b[ROWS * 2], x[3][ROWS * 2];
    rd_expr      *v, *Av;

    begin();
    v  = input(ctx, "v", RD_F64, RD_SHAPE(ROWS, 2));
    Av = rd_add(rd_mul(v, rd_add(rd_coord(v, 0), rd_num(ctx, 200))), rd_sum(v, RD_KEEP(0)));
    make_sides(b, ROWS, 2);
    for (int k = 0; k < 3; k++)
        ck_ok(rd_solve(ctx, Av, v, rd_wrap(ctx, b, RD_SHAPE(ROWS, 2)),
                       RD_INTO(x[k], RD_SHAPE(ROWS, 2)), .method = (rd_solver)_i,
                       .eval = &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = 1 << k }));
    ck_assert(!memcmp(x[0], x[1], sizeof x[0]) && !memcmp(x[0], x[2], sizeof x[0]));
    end();
}
END_TEST

/* Linear memory: 3000 points would have a matrix of 72 MB. */
START_TEST(memory)
{
    enum { ROWS = 3000 };
    static double at[ROWS * D], x[ROWS];
    uint64_t      state = 3;
    rd_expr      *v, *p, *k;

    begin();
    for (int i = 0; i < ROWS * D; i++)
        at[i] = number(&state);
    v = input(ctx, "v", RD_F64, RD_SHAPE(ROWS));
    p = rd_wrap(ctx, at, RD_SHAPE(ROWS, D));
    k = rd_add(rd_matmul(kernel_of(p, p), v), v);
    ck_ok(rd_solve(ctx, k, v, rd_num(ctx, 1), RD_INTO(x, RD_SHAPE(ROWS)))); /* keeps its plans */
    const int64_t before = rd_memory_now(ctx);
    rd_memory_reset_peak(ctx);
    ck_ok(rd_solve(ctx, k, v, rd_num(ctx, 2), RD_INTO(x, RD_SHAPE(ROWS))));
    ck_assert_int_le(rd_memory_peak(ctx) - before, 4 << 20);
    ck_assert_int_le(rd_memory_now(ctx) - before, 1 << 16);
    end();
}
END_TEST

/* ---- Eigenvalues ----------------------------------------------------------------------------- */
START_TEST(eigenvalues)
{
    enum { K = 6 };
    static const struct {
        shape_of_a shape;
        rd_which   which;
        int        basis;
    } rows[] = {
        { DEFINITE, RD_LARGEST, 0 },     { DEFINITE, RD_LARGEST, 9 },
        { INDEFINITE, RD_SMALLEST, 50 }, { SCALED, RD_LARGEST, 0 },
        { SCALED, RD_SMALLEST, 0 },      { INDEFINITE, RD_FARTHEST, 0 },
        { SCALED, RD_FARTHEST, SMALL },
    };
    const bool    least = rows[_i].which == RD_SMALLEST;
    double        all[SMALL], value[K], vector[SMALL * K], *a;
    rd_solve_info info;
    rd_expr      *v;

    begin();
    if (!has_lapack())
        return;
    rotate_away(SMALL, dense(rows[_i].shape, SMALL), all);
    v = input(ctx, "v", RD_F64, RD_SHAPE(SMALL));
    ck_ok(rd_eigsh(ctx, apply(rows[_i].shape, v), v, K, RD_INTO(value, RD_SHAPE(K)),
                   RD_INTO(vector, RD_SHAPE(SMALL, K)), .which = rows[_i].which,
                   .basis = rows[_i].basis, .tolerance = 1e-9, .info = &info));
    ck_assert_msg(info.converged, "%g", info.residual);
    a = dense(rows[_i].shape, SMALL);
    for (int k = 0; k < K; k++) {
        double left = 0, norm = 0;

        ck_assert_double_eq_tol(value[k], all[least ? k : SMALL - 1 - k], 1e-8 * fabs(value[k]));
        for (int i = 0; i < SMALL; i++) {
            double sum = -value[k] * vector[i * K + k];

            for (int j = 0; j < SMALL; j++)
                sum += a[i * SMALL + j] * vector[j * K + k];
            left += sum * sum;
            norm += vector[i * K + k] * vector[i * K + k];
        }
        ck_assert_double_eq_tol(norm, 1, 1e-10);
        ck_assert_double_le(sqrt(left), 2e-9 * fabs(value[k]) + 1e-12);
    }
    free(a);
    end();
}
END_TEST

/* All eigenvalues, also where the first vectors span an invariant space. */
START_TEST(all_eigenvalues)
{
    double   value[8];
    rd_expr *v, *Av;

    begin();
    if (!has_lapack())
        return;
    v  = input(ctx, "v", RD_F64, RD_SHAPE(8));
    Av = _i ? rd_mul(v, rd_num(ctx, 3)) : rd_mul(v, rd_coord(v, 0));
    ck_ok(rd_eigsh(ctx, Av, v, 8, RD_INTO(value, RD_SHAPE(8)), NULL));
    for (int k = 0; k < 8; k++)
        ck_assert_double_eq_tol(value[k], _i ? 3 : 7 - k, 1e-12);
    end();
}
END_TEST

START_TEST(power)
{
    double        all[SMALL], value = 0, vector[SMALL];
    rd_solve_info info;
    rd_expr      *v, *Av;

    begin();
    rotate_away(SMALL, dense(DEFINITE, SMALL), all);
    v  = input(ctx, "v", RD_F64, RD_SHAPE(SMALL));
    Av = apply(DEFINITE, v);
    if (_i)
        Av = rd_neg(Av);
    ck_ok(rd_power(ctx, Av, v, &value, RD_INTO(vector, RD_SHAPE(SMALL)), .tolerance = 1e-8));
    ck_assert_double_eq_tol(value, (_i ? -1 : 1) * all[SMALL - 1], 1e-8 * all[SMALL - 1]);
    ck_assert_int_eq(rd_power(ctx, Av, v, &value, NULL, .most = 1, .tolerance = 1e-12),
                     RD_ERR_CONVERGENCE);
    rd_error_clear(ctx);
    ck_ok(rd_power(ctx, Av, v, &value, NULL, .most = 1, .tolerance = 1e-12, .info = &info));
    ck_assert(!info.converged && info.evaluations == 1);
    end();
}
END_TEST

/* ---- Traces and determinants ----------------------------------------------------------------- */
/* Within four standard errors, which is what the call says and what theory says. */
START_TEST(estimates)
{
    double        *a, trace = 0, off = 0, logdet, value, error, again, b[N] = { 0 };
    const rd_shape shape = shape_of_v(N, _i ? 8 : 1);
    rd_expr       *v, *Av;

    begin();
    if (!has_lapack())
        return;
    a = dense(DEFINITE, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            trace += i == j ? a[i * N + j] : 0;
            off += i == j ? 0 : 2 * a[i * N + j] * a[i * N + j];
        }
    logdet = eliminate(N, a, 1, b);
    v      = input(ctx, "v", RD_F64, shape);
    Av     = apply(DEFINITE, v);
    ck_ok(rd_estimate_trace(ctx, Av, v, &value, .probes = 256, .seed = 5, .error = &error));
    ck_assert_double_le(fabs(value - trace), 4 * sqrt(off / 256)); /* Hutchinson's variance */
    ck_assert_msg(error > 0.7 * sqrt(off / 256) && error < 1.4 * sqrt(off / 256), "%g", error);
    ck_ok(rd_estimate_trace(ctx, Av, v, &again, .probes = 256, .seed = 5));
    ck_assert(value == again);
    ck_ok(rd_estimate_trace(ctx, Av, v, &again, .probes = 256, .seed = 6));
    ck_assert(value != again);
    ck_ok(rd_estimate_logdet(ctx, Av, v, &value, .probes = 32, .seed = 5, .error = &error,
                             .steps = 60));
    ck_assert_msg(error > 0 && error < 0.05 * fabs(logdet), "%g of %g", error, logdet);
    ck_assert_msg(fabs(value - logdet) <= 4 * error, "%g, %g: %g", value, logdet, error);
    end();
}
END_TEST

/* Of a multiple of the identity one probe is exact, though its space has one vector. */
START_TEST(exact_estimates)
{
    double   value;
    rd_expr *v;

    begin();
    if (!has_lapack())
        return;
    v = input(ctx, "v", RD_F32, RD_SHAPE(40, 3));
    ck_ok(rd_estimate_logdet(ctx, rd_mul(v, rd_num(ctx, 2)), v, &value, .probes = 1));
    ck_assert_double_eq_tol(value, 40 * log(2), 1e-5);
    ck_ok(rd_estimate_logdet(ctx, rd_mul(v, rd_num(ctx, 2)), v, &value, .coupled = true));
    ck_assert_double_eq_tol(value, 120 * log(2), 1e-5);
    ck_ok(rd_estimate_trace(ctx, rd_mul(v, rd_num(ctx, 2)), v, &value, .probes = 1));
    ck_assert_double_eq_tol(value, 80, 1e-10);
    ck_assert_int_eq(rd_estimate_logdet(ctx, rd_neg(v), v, &value), RD_ERR_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "positive definite"));
    end();
}
END_TEST

/* ---- Gradients ------------------------------------------------------------------------------- */
/* A v that depends on the points and on a ridge. */
static rd_expr *apply_of(bool symmetric, rd_expr *x, rd_expr *s, rd_expr *v)
{
    rd_expr *k = kernel_of(x, x);

    if (!symmetric)
        k = rd_mul(k, rd_expand(rd_select(x, 1, 0), 0));
    return rd_add(rd_matmul(k, v), rd_mul(v, s));
}

/* L = sum of g * A^-1 b at given points and ridge. */
static double loss(bool symmetric, const double *x, double s, const double *b, const double *g)
{
    double *const a = malloc(sizeof *a * SMALL * SMALL), y[SMALL * 2], sum = 0;
    double        was[SMALL * D];

    memcpy(was, points, sizeof was);
    memcpy(points, x, sizeof was);
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < SMALL; j++)
            a[i * SMALL + j] = kernel(i, j) * (symmetric ? 1 : points[j * D]) + (i == j ? s : 0);
    memcpy(y, b, sizeof y);
    eliminate(SMALL, a, 2, y);
    memcpy(points, was, sizeof was);
    for (int i = 0; i < SMALL * 2; i++)
        sum += g[i] * y[i];
    return sum;
}

START_TEST(gradients)
{
    static const rd_solver methods[] = { RD_CG, RD_GMRES, RD_GMRES, RD_BICGSTAB };
    const bool             symmetric = _i == 0;
    double   b[SMALL * 2], g[SMALL * 2], y[SMALL * 2], of_b[SMALL * 2], of_x[SMALL * D], of_s;
    double   s = 0.7, x[SMALL * D], at[SMALL * D];
    rd_expr *v, *Av, *xs, *ss, *p = NULL;

    begin();
    make_sides(b, SMALL, 2);
    for (int i = 0; i < SMALL * 2; i++)
        g[i] = cos(0.3 * i);
    memcpy(x, points, sizeof x);
    v  = input(ctx, "v", RD_F64, RD_SHAPE(SMALL, 2));
    xs = rd_wrap(ctx, x, RD_SHAPE(SMALL, D));
    ss = rd_wrap(ctx, &s, (rd_shape){ 0 });
    Av = apply_of(symmetric, xs, ss, v);
    if (_i >= 2) { /* a preconditioner that is not symmetric must be transposed, too */
        rd_expr *const r = input(ctx, "r", RD_F64, RD_SHAPE(SMALL, 2));
        p = rd_add(rd_mul(r, rd_num(ctx, 1.4)), rd_mul(rd_roll(r, 0, 1), rd_num(ctx, 0.1)));
    }
    ck_ok(rd_solve(ctx, Av, v, rd_wrap(ctx, b, RD_SHAPE(SMALL, 2)), RD_INTO(y, RD_SHAPE(SMALL, 2)),
                   .method = methods[_i], .tolerance = 1e-12, .preconditioner = p));
    rd_array out[] = { *RD_INTO(of_x, RD_SHAPE(SMALL, D)), *RD_INTO(&of_s, (rd_shape){ 0 }) };
    ck_ok(rd_solve_grad(ctx, Av, v, rd_wrap(ctx, y, RD_SHAPE(SMALL, 2)),
                        rd_wrap(ctx, g, RD_SHAPE(SMALL, 2)), RD_INTO(of_b, RD_SHAPE(SMALL, 2)),
                        RD_EXPRS(xs, ss), out, .method = methods[_i], .tolerance = 1e-12,
                        .preconditioner = p));
    for (int k = 0; k < 12; k++) {
        const double h = 1e-5;
        const int    i = 7 * k;
        double       up, down;

        memcpy(at, x, sizeof at);
        at[i] = x[i] + h;
        up    = loss(symmetric, at, s, b, g);
        at[i] = x[i] - h;
        down  = loss(symmetric, at, s, b, g);
        ck_assert_double_eq_tol(of_x[i], (up - down) / (2 * h), 1e-6 * (1 + fabs(of_x[i])));
        at[i] = x[i];
        b[i] += h;
        up = loss(symmetric, at, s, b, g);
        b[i] -= 2 * h;
        down = loss(symmetric, at, s, b, g);
        b[i] += h;
        ck_assert_double_eq_tol(of_b[i], (up - down) / (2 * h), 1e-6 * (1 + fabs(of_b[i])));
    }
    const double slope =
        (loss(symmetric, x, s + 1e-5, b, g) - loss(symmetric, x, s - 1e-5, b, g)) / 2e-5;
    ck_assert_double_eq_tol(of_s, slope, 1e-6 * (1 + fabs(slope)));
    end();
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */
static double refused_x[N], refused_value;

static rd_status refuse(int which)
{
    rd_expr *const  v     = input(ctx, "v", RD_F64, RD_SHAPE(N));
    rd_expr *const  other = input(ctx, "other", RD_F64, RD_SHAPE(N));
    rd_expr *const  ints  = input(ctx, "ints", RD_I32, RD_SHAPE(N));
    rd_expr *const  b     = rd_num(ctx, 1);
    rd_array *const x     = RD_INTO(refused_x, RD_SHAPE(N));

    switch (which) {
    case 0: return rd_solve(ctx, v, v, b, NULL);
    case 1: return rd_solve(ctx, v, rd_wrap(ctx, refused_x, RD_SHAPE(N)), b, x);
    case 2: return rd_solve(ctx, v, ints, b, x);
    case 3: return rd_solve(ctx, rd_sum(v, RD_ALL), v, b, x);
    case 4: return rd_solve(ctx, rd_add(v, other), v, b, x);
    case 5: return rd_solve(ctx, v, v, rd_wrap(ctx, refused_x, RD_SHAPE(N - 1)), x);
    case 6: return rd_solve(ctx, v, v, b, x, .tolerance = -1);
    case 7: return rd_solve(ctx, v, v, b, x, .method = (rd_solver)9);
    case 8: return rd_solve(ctx, v, v, b, x, .preconditioner = b);
    case 9: return rd_solve(ctx, v, v, b, x, .preconditioner = rd_add(other, v));
    case 10: return rd_solve(ctx, NULL, v, b, x);
    case 11: return rd_solve(ctx, v, NULL, b, x);
    case 12: return rd_solve(ctx, v, v, b, RD_INTO(refused_x, RD_SHAPE(N - 1)));
    case 13: return rd_eigsh(ctx, v, v, 0, x, NULL);
    case 14: return rd_eigsh(ctx, v, v, N + 1, x, NULL);
    case 15: return rd_eigsh(ctx, v, v, 5, x, NULL, .basis = 5);
    case 16: return rd_power(ctx, v, v, NULL, NULL);
    case 17: return rd_estimate_trace(ctx, v, v, NULL);
    case 18: return rd_estimate_trace(ctx, v, v, &refused_value, .probes = -4);
    case 19: return rd_solve(ctx, v, v, rd_complex(b, b), x);
    case 20: return rd_solve(ctx, v, v, other, x);
    case 21:
        rd_nystroem(v, rd_wrap(ctx, refused_x, RD_SHAPE(N, 1)),
                    rd_wrap(ctx, refused_x, RD_SHAPE(2, 1)), 1);
        return rd_error(ctx);
    case 22:
        rd_nystroem(v, rd_wrap(ctx, refused_x, RD_SHAPE(N, 1)),
                    rd_wrap(ctx, refused_x, RD_SHAPE(1, 1)), 0);
        return rd_error(ctx);
    case 23: rd_jacobi(v, rd_wrap(ctx, refused_x, RD_SHAPE(N - 1))); return rd_error(ctx);
    case 24: return rd_solve(ctx, v, v, rd_num(ctx, 1e-200), x);
    case 25: return rd_solve(ctx, v, v, rd_num(ctx, 1e200), x);
    default: return rd_solve_grad(ctx, v, v, b, b, NULL, RD_EXPRS(b), NULL);
    }
}

static const struct {
    rd_status   status;
    const char *sentence;
} refusals[] = {
    { RD_ERR_ARGUMENT, "rd_solve: the output of the solution is NULL" },
    { RD_ERR_ARGUMENT, "rd_solve: v is leaf, and must be an rd_input()" },
    { RD_ERR_TYPE, "rd_solve: v is i32; vectors are f32 or f64" },
    { RD_ERR_SHAPE, "rd_solve: A v has shape (), and v (300)" },
    { RD_ERR_ARGUMENT, "rd_solve: A v reads the input \"other\"" },
    { RD_ERR_SHAPE, "rd_solve: " },
    { RD_ERR_ARGUMENT, "rd_solve: .tolerance is -1" },
    { RD_ERR_ARGUMENT, "rd_solve: .method is 9" },
    { RD_ERR_ARGUMENT, "rd_solve: the preconditioner reads no rd_input()" },
    { RD_ERR_ARGUMENT, "rd_solve: the preconditioner reads the input \"" },
    { RD_ERR_ARGUMENT, "rd_solve: A v is NULL" },
    { RD_ERR_ARGUMENT, "rd_solve: v is NULL" },
    { RD_ERR_SHAPE, "rd_solve: " },
    { RD_ERR_ARGUMENT, "rd_eigsh: 0 eigenvalues of an operator of 300 rows" },
    { RD_ERR_ARGUMENT, "rd_eigsh: 301 eigenvalues of an operator of 300 rows" },
    { RD_ERR_ARGUMENT, "rd_eigsh: .basis is 5, and must be more than the 5 eigenvalues" },
    { RD_ERR_ARGUMENT, "rd_power: the output of the eigenvalue is NULL" },
    { RD_ERR_ARGUMENT, "rd_estimate_trace: the output of the value is NULL" },
    { RD_ERR_ARGUMENT, "rd_estimate_trace: .probes is -4" },
    { RD_ERR_TYPE, "rd_solve: an operand is complex; vectors are real" },
    { RD_ERR_ARGUMENT, "rd_solve: an operand reads the input \"other\"" },
    { RD_ERR_SHAPE, "rd_nystroem: r has shape (300), K(points, landmarks) (300, 1)" },
    { RD_ERR_ARGUMENT, "rd_nystroem: the ridge is 0, and must be above 0" },
    { RD_ERR_SHAPE, "rd_jacobi: " },
    { RD_ERR_ARGUMENT, "rd_solve: b is 1e-200, so small that its squares are 0" },
    { RD_ERR_CONVERGENCE, "rd_solve: |b| is inf in iteration 1" },
    { RD_ERR_ARGUMENT, "rd_solve_grad: 1 operands, and no outputs (NULL)" },
};

START_TEST(refused)
{
    begin();
    ck_assert_int_eq(refuse(_i), refusals[_i].status);
    ck_assert_msg(
        !strncmp(rd_error_text(ctx), refusals[_i].sentence, strlen(refusals[_i].sentence)), "%s",
        rd_error_text(ctx));
    end();
}
END_TEST

/* ---- Memory that fails ----------------------------------------------------------------------- */
/* One call of each kind, small. */
static rd_status work(rd_ctx *c, int which)
{
    rd_expr *const v  = input(c, "v", RD_F64, RD_SHAPE(20, 2));
    rd_expr *const Av = v ? apply(DEFINITE, v) : NULL;
    rd_expr *const r  = input(c, "r", RD_F64, RD_SHAPE(20, 2));
    rd_expr       *x, *p;
    rd_array       out = { 0 }, more = { 0 };
    double         value;
    rd_status      status = RD_ERR_MEMORY;

    if (!Av || !r)
        return rd_error(c);
    switch (which) {
    case 0:
        x      = points_of(c, 20, RD_F64);
        p      = rd_nystroem(r, kernel_of(x, x), kernel_of(x, x), ridge);
        status = p ? rd_solve(c, Av, v, rd_num(c, 1), &out, .preconditioner = p, .tolerance = 1e-3)
                   : rd_error(c);
        break;
    case 1: status = rd_eigsh(c, Av, v, 2, &out, &more, .tolerance = 1e-2); break;
    case 2: status = rd_estimate_logdet(c, Av, v, &value, .steps = 5, .probes = 4); break;
    case 3:
        status = rd_solve_grad(c, Av, v, rd_num(c, 1), rd_num(c, 2), &out, (rd_exprs){ 0 }, NULL,
                               .method = RD_GMRES, .tolerance = 1e-3);
        break;
    default:
        status = rd_solve(c, Av, v, rd_num(c, 1), &out, .method = (rd_solver)(which - 4),
                          .tolerance = 1e-3);
    }
    rd_array_free(&out);
    rd_array_free(&more);
    return status;
}

START_TEST(faults)
{
    faulty_heap h   = { .fail_at = -1 };
    rd_ctx     *one = faulty_heap_ctx(&h, 0);
    long long   n, step;

    begin();
    if (_i <= 2 && !has_lapack())
        return;
    ck_assert_msg(work(one, _i) == RD_OK, "%s", rd_error_text(one));
    rd_ctx_free(one);
    ck_assert_int_eq(h.live, 0);
    n    = h.calls;
    step = n / 60 + 1;
    for (long long at = 0; at < n; at += step) {
        h   = (faulty_heap){ .fail_at = at };
        one = faulty_heap_ctx(&h, 0);
        if (one) {
            const rd_status status = work(one, _i);

            ck_assert_msg(status == RD_OK || status == RD_ERR_MEMORY, "%d: %s", (int)at,
                          rd_error_text(one));
            rd_ctx_free(one);
        }
        ck_assert_int_eq(h.live, 0);
    }
    end();
}
END_TEST

int main(void)
{
#define COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))
    Suite   *s      = suite_create("solve");
    TCase   *tc     = tcase_create("solve");
    SRunner *runner = srunner_create(s);
    int      failed;

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, solves, 0, COUNT(systems));
    tcase_add_test(tc, restarts);
    tcase_add_loop_test(tc, anew, 0, COUNT(stopped));
    tcase_add_test(tc, limits);
    tcase_add_loop_test(tc, breakdowns, 0, COUNT(broken));
    tcase_add_test(tc, no_step_along_r);
    tcase_add_loop_test(tc, divergence, 0, 4);
    tcase_add_loop_test(tc, zeros, 0, N_METHODS);
    tcase_add_loop_test(tc, progress, 0, 2 * N_METHODS);
    tcase_add_loop_test(tc, layouts, 0, 6);
    tcase_add_test(tc, coupled);
    tcase_add_loop_test(tc, sizes, 0, N_METHODS);
    tcase_add_loop_test(tc, threads, 0, N_METHODS);
    tcase_add_test(tc, memory);
    tcase_add_loop_test(tc, eigenvalues, 0, 7);
    tcase_add_loop_test(tc, all_eigenvalues, 0, 2);
    tcase_add_loop_test(tc, power, 0, 2);
    tcase_add_loop_test(tc, estimates, 0, 2);
    tcase_add_test(tc, exact_estimates);
    tcase_add_loop_test(tc, gradients, 0, 4);
    tcase_add_loop_test(tc, refused, 0, COUNT(refusals));
    tcase_add_loop_test(tc, faults, 0, N_METHODS + 4);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
