/* test_grad.c - derivatives: forward mode, reverse mode and central differences agree.
 *
 * For y = f(x), a direction t and a seed v all three give one number, v . (J t). */
#include "rdim.h"
#include "expr/expr.h"
#include "suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, COLUMNS = 5, N = ROWS * COLUMNS, MOST = 4096 };

typedef struct operands {
    rd_ctx *ctx;
    double  x[N], y[N], tx[N], ty[N];
    int64_t i[6];
    bool    m[N];
} operands;

/* A function of the table. */
typedef struct function {
    const char *name;
    double      low, high;
    rd_expr *(*of)(rd_expr *x, rd_expr *y, rd_expr *i, rd_expr *m);
} function;

/* ---- Functions of the caller ----------------------------------------------------------------- */
RD_FN1(gauss, x, exp(-x *x / 2))

/* x y^2 as C code, and its derivatives. */
static const char *cubic(void *user, int64_t n, const void *const *in, void *out)
{
    const double *x = in[0], *y = in[1];

    (void)user;
    for (int64_t k = 0; k < n; k++)
        ((double *)out)[k] = x[k] * y[k] * y[k];
    return NULL;
}

RD_FN2(by_x, x, y, y *y + 0 * x)
RD_FN2(by_y, x, y, 2 * x * y)

static const rd_fn *with_derivative(void)
{
    static const rd_fn *const derivative[] = { by_x, by_y };
    static const rd_fn        f            = { .size       = sizeof f,
                                               .name       = "cubic",
                                               .arity      = 2,
                                               .in         = RD_F64,
                                               .out        = RD_F64,
                                               .block      = cubic,
                                               .derivative = derivative };

    return &f;
}

/* ---- The table ------------------------------------------------------------------------------- */
#define ROW(name, low, high, expression)                                      \
    static rd_expr *of_##name(rd_expr *x, rd_expr *y, rd_expr *i, rd_expr *m) \
    {                                                                         \
        (void)y, (void)i, (void)m;                                            \
        return expression;                                                    \
    }
#include "derivatives.def"
#undef ROW
static const function functions[] = {
#define ROW(name, low, high, expression) { #name, low, high, of_##name },
#include "derivatives.def"
};

/* A repeatable random number between low and high. */
static double number(uint64_t *state, double low, double high)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

static void fill(operands *o, const function *f, uint64_t seed)
{
    for (int k = 0; k < N; k++) {
        o->x[k]  = number(&seed, f->low, f->high);
        o->y[k]  = number(&seed, f->low, f->high);
        o->tx[k] = number(&seed, -1, 1);
        o->ty[k] = number(&seed, -1, 1);
        o->m[k]  = number(&seed, 0, 1) < 0.6 || k < COLUMNS;
    }
    for (int k = 0; k < 6; k++)
        o->i[k] = (int64_t)number(&seed, 0, COLUMNS);
}

static rd_expr *leaf(operands *o, double *data)
{
    return rd_wrap(o->ctx, data, RD_SHAPE(ROWS, COLUMNS));
}

static rd_expr *apply(const function *f, operands *o, double *x, double *y)
{
    return f->of(leaf(o, x), leaf(o, y), rd_wrap(o->ctx, o->i, RD_SHAPE(6)),
                 rd_wrap(o->ctx, o->m, RD_SHAPE(ROWS, COLUMNS)));
}

/* Evaluates to dense f64; the number of elements is returned. */
static int64_t values(operands *o, rd_expr *y, double *out)
{
    ck_assert_msg(y != NULL, "%s", rd_error_text(o->ctx));
    const int64_t n = rd_points(y->rank, y->extent);

    ck_assert_int_le(n, MOST);
    ck_assert_msg(rd_eval(o->ctx, y, RD_INTO(out, rd_shape_of(y))) == RD_OK, "%s",
                  rd_error_text(o->ctx));
    return n;
}

/* v . y for seeds v that follow from their place. */
static double weighted(const double *y, int64_t n)
{
    double sum = 0;

    for (int64_t k = 0; k < n; k++)
        sum += y[k] * sin(1.0 + 0.7 * (double)k);
    return sum;
}

static rd_expr *seed_of(operands *o, const rd_expr *y, double *room)
{
    const int64_t n = rd_points(y->rank, y->extent);

    for (int64_t k = 0; k < n; k++)
        room[k] = sin(1.0 + 0.7 * (double)k);
    return rd_leaf(o->ctx, RD_INTO(room, rd_shape_of(y)));
}

/* v . (f(x + h t) - f(x - h t)) / 2h */
static double by_differences(const function *f, operands *o, double h)
{
    double x[2][N], y[2][N], room[MOST], sum[2];

    for (int side = 0; side < 2; side++) {
        rd_mark mark = rd_ctx_mark(o->ctx);

        for (int k = 0; k < N; k++) {
            x[side][k] = o->x[k] + (side ? -h : h) * o->tx[k];
            y[side][k] = o->y[k] + (side ? -h : h) * o->ty[k];
        }
        const int64_t n = values(o, apply(f, o, x[side], y[side]), room);
        sum[side]       = weighted(room, n);
        rd_ctx_release(o->ctx, mark);
    }
    return (sum[0] - sum[1]) / (2 * h);
}

/* t . gradient */
static double along(operands *o, rd_exprs g)
{
    const double *const t[2] = { o->tx, o->ty };
    double              room[MOST], sum = 0;

    for (int k = 0; k < 2; k++) {
        const int64_t n = values(o, g.at[k], room);

        ck_assert_int_eq(n, N);
        for (int j = 0; j < N; j++)
            sum += t[k][j] * room[j];
    }
    return sum;
}

/* True if both agree to a relative error, beside the size of what was added up. */
static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

static operands begin(int row, uint64_t seed)
{
    operands o;

    fill(&o, &functions[row], seed);
    o.ctx = rd_ctx_new(NULL);
    ck_assert_ptr_nonnull(o.ctx);
    return o;
}

START_TEST(first)
{
    const function *f = &functions[_i];

    for (uint64_t seed = 1; seed <= 3; seed++) {
        operands       o = begin(_i, seed);
        rd_expr *const x = leaf(&o, o.x), *const y = leaf(&o, o.y);
        rd_expr *const z = apply(f, &o, o.x, o.y);
        double         seeds[MOST], room[MOST];

        ck_assert_msg(z != NULL, "%s: %s", f->name, rd_error_text(o.ctx));
        const double   wanted = by_differences(f, &o, 1e-6);
        rd_expr *const jvp    = rd_jvp(z, RD_EXPRS(x, y), RD_EXPRS(leaf(&o, o.tx), leaf(&o, o.ty)));
        ck_assert_msg(jvp != NULL, "%s: %s", f->name, rd_error_text(o.ctx));
        const double   forward = weighted(room, values(&o, jvp, room));
        const rd_exprs g       = rd_grad(z, RD_EXPRS(x, y), .seed = seed_of(&o, z, seeds));
        ck_assert_msg(g.at[0] && g.at[1], "%s: %s", f->name, rd_error_text(o.ctx));
        const double reverse = along(&o, g);

        ck_assert_msg(near(forward, wanted, 1e-7), "%s: forward %.17g, differences %.17g", f->name,
                      forward, wanted);
        ck_assert_msg(near(reverse, forward, 1e-12), "%s: reverse %.17g, forward %.17g", f->name,
                      reverse, forward);
        rd_ctx_free(o.ctx);
    }
}
END_TEST

/* The Hessian of the sum of squares of f, by differences of gradients. */
START_TEST(second)
{
    const function *f = &functions[_i];
    operands        o = begin(_i, 5);
    rd_expr *const x = leaf(&o, o.x), *const y = leaf(&o, o.y);
    double   moved[2][2][N], side[2];
    rd_exprs h;

    if (strstr(f->name, "gamma")) { /* there is no trigamma */
        rd_ctx_free(o.ctx);
        return;
    }
    h = rd_hvp(rd_sum(rd_square(apply(f, &o, o.x, o.y)), RD_ALL), RD_EXPRS(x, y),
               RD_EXPRS(leaf(&o, o.tx), leaf(&o, o.ty)));
    ck_assert_msg(h.at[0] && h.at[1], "%s: %s", f->name, rd_error_text(o.ctx));
    const double found = along(&o, h);
    for (int k = 0; k < 2; k++) {
        rd_expr *at[2];

        for (int j = 0; j < N; j++) {
            moved[k][0][j] = o.x[j] + (k ? -1e-6 : 1e-6) * o.tx[j];
            moved[k][1][j] = o.y[j] + (k ? -1e-6 : 1e-6) * o.ty[j];
        }
        at[0] = leaf(&o, moved[k][0]);
        at[1] = leaf(&o, moved[k][1]);
        side[k] =
            along(&o, rd_grad(rd_sum(rd_square(apply(f, &o, moved[k][0], moved[k][1])), RD_ALL),
                              RD_EXPRS(at[0], at[1])));
    }
    ck_assert_msg(near(found, (side[0] - side[1]) / 2e-6, 1e-6),
                  "%s: Hessian %.17g, differences %.17g", f->name, found,
                  (side[0] - side[1]) / 2e-6);
    rd_ctx_free(o.ctx);
}
END_TEST

/* ---- Cases of their own ---------------------------------------------------------------------- */
static double twice(double x)
{
    return 2 * x;
}

/* What cannot be differentiated, with words of the sentence. */
START_TEST(refusals)
{
    operands       o = begin(0, 1);
    rd_expr *const x = leaf(&o, o.x), *const y = leaf(&o, o.y);
    rd_expr *const i = rd_wrap(o.ctx, o.i, RD_SHAPE(6)), *const s = rd_sum(x, RD_ALL);
#define REFUSED(call, words)                                                            \
    do {                                                                                \
        rd_error_clear(o.ctx);                                                          \
        ck_assert_ptr_null((call).at[0]);                                               \
        ck_assert_msg(strstr(rd_error_text(o.ctx), words), "%s", rd_error_text(o.ctx)); \
    } while (0)
    REFUSED(rd_grad(x, RD_EXPRS(x)), "rd_grad: y has shape (4, 5); a gradient is of one number");
    REFUSED(rd_grad(s, RD_EXPRS(i)), "rd_grad: operand 0 is i64, and derivatives are of floats");
    REFUSED(rd_grad(s, RD_EXPRS(rd_slice(x, "1"))), "not made from operand 0");
    REFUSED(rd_grad(rd_mul(s, rd_num(o.ctx, 2)), RD_EXPRS(rd_num(o.ctx, 2))), "is a number");
    REFUSED(rd_grad(rd_sum(i, RD_ALL), RD_EXPRS(x)), "the result is i64");
    REFUSED(rd_grad(rd_sum(rd_digamma(x), RD_ALL), RD_EXPRS(x)), "digamma has no derivative");
    REFUSED(rd_grad(rd_sum(rd_map(x, twice), RD_ALL), RD_EXPRS(x)), "is C code");
    REFUSED(rd_grad(s, RD_EXPRS(x), .seed = rd_wrap(o.ctx, o.x, RD_SHAPE(4, 5))), "rd_grad");
    REFUSED(rd_hvp(s, RD_EXPRS(x, y), RD_EXPRS(x)), "2 operands, and 1 directions");
    rd_ctx_free(o.ctx);
}
END_TEST

/* Compares an expression of f64 with numbers. */
static void expect(rd_expr *y, int n, const double *wanted)
{
    double found[MOST];

    ck_assert_ptr_nonnull(y);
    ck_assert_msg(rd_eval(y->ctx, rd_cast(y, RD_F64), RD_INTO(found, rd_shape_of(y))) == RD_OK,
                  "%s", rd_error_text(y->ctx));
    ck_assert_int_eq(rd_points(y->rank, y->extent), n);
    for (int k = 0; k < n; k++)
        ck_assert_msg(near(found[k], wanted[k], 1e-6), "element %d: %.17g, not %.17g", k, found[k],
                      wanted[k]);
}

#define EXPECT(y, ...) \
    expect(y, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ })

/* The gradient of |z|^2 is 2 z, with respect to a complex leaf and to a pair of real ones. */
START_TEST(complex_operands)
{
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    double         z[4] = { 1, 2, -3, 0.5 }, re[2] = { 1, -3 }, im[2] = { 2, 0.5 };
    rd_array       array = { .in = z, .type = RD_C128, .shape = RD_SHAPE(2) };
    rd_expr *const x     = rd_leaf(ctx, &array);
    rd_expr *const pair  = rd_complex(rd_wrap(ctx, re, RD_SHAPE(2)), rd_wrap(ctx, im, RD_SHAPE(2)));
    rd_expr       *g;

    g = rd_grad(rd_sum(rd_square(rd_abs(x)), RD_ALL), RD_EXPRS(x)).at[0];
    ck_assert_ptr_nonnull(g);
    ck_assert_int_eq(rd_type_of(g), RD_C128);
    EXPECT(rd_real(g), 2, -6);
    EXPECT(rd_imag(g), 4, 1);
    g = rd_grad(rd_sum(rd_square(rd_abs(pair)), RD_ALL), RD_EXPRS(pair)).at[0];
    EXPECT(rd_real(g), 2, -6);
    EXPECT(rd_imag(g), 4, 1);
    /* z^2 is analytic: its change along 1 is 2 z; with the seed 1 the gradient is its conjugate */
    EXPECT(rd_imag(rd_jvp(rd_square(x), RD_EXPRS(x), RD_EXPRS(rd_num(ctx, 1)))), 4, 1);
    g = rd_grad(rd_square(x), RD_EXPRS(x), .seed = rd_complex(rd_num(ctx, 1), rd_num(ctx, 0)))
            .at[0];
    EXPECT(rd_imag(g), -4, -1);
    ck_assert_ptr_null(rd_grad(rd_sum(x, RD_ALL), RD_EXPRS(x)).at[0]);
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "y is complex"));
    rd_ctx_free(ctx);
}
END_TEST

/* A sparse operand has a gradient at its stored places. */
START_TEST(sparse_operands)
{
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    double         v[3] = { 2, 3, 4 }, w[3] = { 1, 10, 100 };
    int64_t        pos[] = { 0, 1, 3 }, column[] = { 1, 0, 2 };
    rd_expr *const a = rd_csr(ctx, RD_SHAPE(2, 3), rd_wrap(ctx, pos, RD_SHAPE(3)),
                              rd_wrap(ctx, column, RD_SHAPE(3)), rd_wrap(ctx, v, RD_SHAPE(3)));
    rd_expr *const x = rd_wrap(ctx, w, RD_SHAPE(3));
    const rd_exprs g = rd_grad(rd_sum(rd_square(rd_matmul(a, x)), RD_ALL), RD_EXPRS(a, x));

    /* rows: 2 * 10 = 20; 3 * 1 + 4 * 100 = 403 */
    EXPECT(rd_stored(g.at[0]), 2 * 20 * 10, 2 * 403 * 1, 2 * 403 * 100);
    EXPECT(g.at[1], 2 * 403 * 3, 2 * 20 * 2, 2 * 403 * 4);
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(fields_of_points)
{
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    double         p[6] = { 1, 2, 3, -1, 0, 2 };
    rd_expr *const x    = rd_wrap(ctx, p, RD_SHAPE(2, 3));
    rd_expr *const r2   = rd_sum(rd_square(x), RD_DIMS(1));

    EXPECT(rd_divergence(rd_mul(x, rd_expand(r2, 1)), x), 5 * 14, 5 * 5); /* (D + 2) r^2 */
    EXPECT(rd_laplacian(rd_square(r2), x), 20 * 14, 20 * 5);              /* 4 (D + 2) r^2 */
    EXPECT(rd_laplacian(rd_select(x, 1, 0), x), 0, 0);
    ck_assert_ptr_null(rd_laplacian(x, x));
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "rd_laplacian: f has shape (2, 3)"));
    rd_ctx_free(ctx);
}
END_TEST

/* The gradient of a sum of maps of x, in a context that has made these maps in this order or the
 * other. */
static void gradient_after(const double *x, bool reversed, double *out)
{
    rd_ctx  *ctx                       = rd_ctx_new(NULL);
    rd_expr *leaf                      = rd_wrap(ctx, x, RD_SHAPE(N)), *sum;
    rd_expr *(*const map[])(rd_expr *) = { rd_sin, rd_exp, rd_tanh, rd_cosh, rd_atan, rd_expm1 };
    enum { MAPS = sizeof map / sizeof *map };

    for (int k = 0; k < MAPS; k++)
        map[reversed ? MAPS - 1 - k : k](leaf);
    sum = map[0](leaf);
    for (int k = 1; k < MAPS; k++)
        sum = rd_add(sum, map[k](leaf));
    rd_eval(ctx, rd_grad(rd_sum(sum, RD_ALL), RD_EXPRS(leaf)).at[0], RD_INTO(out, RD_SHAPE(N)));
    ck_assert_str_eq(rd_error_text(ctx), "");
    rd_ctx_free(ctx);
}

/* What else the context has made does not change the bits. */
START_TEST(bits_of_the_graph_alone)
{
    double x[N], one[N], other[N];

    for (int k = 0; k < N; k++)
        x[k] = 0.1 + 0.07 * k;
    gradient_after(x, false, one);
    gradient_after(x, true, other);
    ck_assert_mem_eq(one, other, sizeof one);
}
END_TEST

/* Axes of one element, as those of one head, change no gradient.  Scores and values are square, as
 * a factor along a wrong axis would then go unseen. */
static void attention_gradients(const double *x, rd_shape shape, double *out)
{
    rd_ctx  *ctx = rd_ctx_new(NULL);
    rd_expr *q = rd_wrap(ctx, x, shape), *k = rd_wrap(ctx, x + 9, shape),
            *v = rd_wrap(ctx, x + 18, shape);
    rd_expr *s = rd_sum(rd_mul(rd_expand(q, -2), rd_expand(k, -3)), RD_DIMS(-1));
    rd_expr *y = rd_softmax_sum(rd_expand(s, -1), rd_expand(v, -3), RD_DIMS(-2));
    rd_exprs g = rd_grad(y, RD_EXPRS(q, k, v), .seed = rd_wrap(ctx, x + 27, shape));

    for (int i = 0; i < 3; i++)
        rd_eval(ctx, g.at[i], RD_INTO(out + 9 * i, shape));
    ck_assert_str_eq(rd_error_text(ctx), "");
    rd_ctx_free(ctx);
}

START_TEST(axes_of_one_element)
{
    double x[36], plain[27], heads[27];

    for (int k = 0; k < 36; k++)
        x[k] = sin(1.0 + k * k);
    attention_gradients(x, RD_SHAPE(3, 3), plain);
    attention_gradients(x, RD_SHAPE(1, 3, 3), heads);
    for (int k = 0; k < 27; k++)
        ck_assert_msg(fabs(plain[k] - heads[k]) < 1e-12, "%d: %g, not %g", k, heads[k], plain[k]);
}
END_TEST

/* Ties go to the first element; zeros of a product; leaves that the result does not read. */
START_TEST(special_elements)
{
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    double         t[4] = { 1, 3, 3, 2 }, z[4] = { 2, 0, 5, 3 }, zz[4] = { 2, 0, 0, 3 };
    float          f[2] = { 1, 2 };
    rd_expr *const x = rd_wrap(ctx, t, RD_SHAPE(4)), *const y = rd_wrap(ctx, z, RD_SHAPE(4));
    rd_expr *const two = rd_wrap(ctx, zz, RD_SHAPE(4)), *const other = rd_wrap(ctx, f, RD_SHAPE(2));

    EXPECT(rd_grad(rd_max(x, RD_ALL), RD_EXPRS(x)).at[0], 0, 1, 0, 0);
    EXPECT(rd_grad(rd_sum(rd_maximum(x, x), RD_ALL), RD_EXPRS(x)).at[0], 1, 1, 1, 1);
    EXPECT(rd_grad(rd_prod(y, RD_ALL), RD_EXPRS(y)).at[0], 0, 30, 0, 0);
    EXPECT(rd_grad(rd_prod(two, RD_ALL), RD_EXPRS(two)).at[0], 0, 0, 0, 0);
    EXPECT(rd_grad(rd_scan(y, "prod", RD_DIMS(0)), RD_EXPRS(y), .seed = rd_num(ctx, 1)).at[0], 1,
           42, 0, 0);
    EXPECT(rd_grad(rd_scan(two, "prod", RD_DIMS(0)), RD_EXPRS(two), .seed = rd_num(ctx, 1)).at[0],
           1, 2, 0, 0);
    EXPECT(rd_jvp(rd_scan(y, "prod", RD_DIMS(0)), RD_EXPRS(y), RD_EXPRS(x)), 1, 6, 30, 90);
    EXPECT(rd_grad(rd_sum(rd_sinc(rd_mul(y, rd_num(ctx, 0))), RD_ALL), RD_EXPRS(y)).at[0], 0, 0, 0,
           0);
    EXPECT(rd_grad(rd_sum(x, RD_ALL), RD_EXPRS(other)).at[0], 0, 0);
    EXPECT(rd_jvp(x, RD_EXPRS(other), RD_EXPRS(other)), 0, 0, 0, 0);
    EXPECT(rd_hvp(rd_sum(x, RD_ALL), RD_EXPRS(x), RD_EXPRS(x)).at[0], 0, 0, 0, 0);
    EXPECT(rd_grad(x, RD_EXPRS(x), .seed = rd_num(ctx, 7)).at[0], 7, 7, 7, 7);
    /* an inner node is an operand, too, and gradients pass on through it */
    rd_expr *const mid = rd_square(x), *const end = rd_sum(rd_mul(mid, mid), RD_ALL);
    EXPECT(rd_grad(end, RD_EXPRS(mid, x)).at[0], 2, 18, 18, 8);
    EXPECT(rd_grad(end, RD_EXPRS(mid, x)).at[1], 4, 108, 108, 32);
    ck_assert_int_eq(rd_type_of(rd_grad(rd_sum(other, RD_ALL), RD_EXPRS(other)).at[0]), RD_F32);
    rd_ctx_free(ctx);
}
END_TEST

/* The gradient of a length is 0 where the length is 0: a point with itself does not count. */
START_TEST(lengths_of_0)
{
    rd_ctx        *ctx  = rd_ctx_new(NULL);
    double         t[6] = { 0, 0, 3, 4, 0, 0 };
    rd_expr *const x    = rd_wrap(ctx, t, RD_SHAPE(3, 2));
    rd_expr *const d    = rd_sub(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr *const of[] = { rd_norm(d, RD_DIMS(2)), rd_cdist(x, x, 2),
                            rd_sqrt(rd_sum(rd_square(d), RD_DIMS(2))),
                            rd_sqrt(rd_sum(rd_mul(d, d), RD_DIMS(2), .accuracy = RD_COMPENSATED)),
                            rd_sqrt(rd_vecdot(d, d, 2)) };

    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        rd_expr *const sum = rd_sum(of[k], RD_ALL);

        EXPECT(rd_grad(sum, RD_EXPRS(x)).at[0], -1.2, -1.6, 2.4, 3.2, -1.2, -1.6);
        EXPECT(rd_jvp(sum, RD_EXPRS(x), RD_EXPRS(x)), 20);
    }
    EXPECT(rd_grad(rd_std(rd_mul(x, rd_num(ctx, 0)), RD_ALL), RD_EXPRS(x)).at[0], 0, 0, 0, 0, 0, 0);
    rd_ctx_free(ctx);
}
END_TEST

/* A branch that is not taken adds 0, also where its own derivative is infinite or NaN. */
START_TEST(branches_not_taken)
{
    rd_ctx        *ctx   = rd_ctx_new(NULL);
    double         t[4]  = { 0, -1, 4, 1 };
    rd_expr *const x     = rd_wrap(ctx, t, RD_SHAPE(4));
    rd_expr *const zero  = rd_num(ctx, 0);
    rd_expr *const above = rd_gt(x, zero);
    rd_expr *const root  = rd_where(above, rd_sqrt(x), zero);
    rd_expr *const ratio = rd_where(rd_le(x, zero), zero, rd_div(rd_log(x), x));
    rd_expr *const both  = rd_where(above, rd_mul(rd_sqrt(x), rd_log(x)), x);
    /* the mask stays through maps of the choice */
    rd_expr *const later = rd_square(rd_add(rd_where(above, rd_cbrt(x), zero), x));

    EXPECT(rd_grad(rd_sum(root, RD_ALL), RD_EXPRS(x)).at[0], 0, 0, 0.25, 0.5);
    EXPECT(rd_grad(rd_sum(ratio, RD_ALL), RD_EXPRS(x)).at[0], 0, 0, (1 - log(4)) / 16, 1);
    EXPECT(rd_grad(rd_sum(both, RD_ALL), RD_EXPRS(x)).at[0], 1, 1, 0.25 * log(4) + 0.5, 1);
    EXPECT(rd_grad(rd_sum(later, RD_ALL), RD_EXPRS(x)).at[0], 0, -2,
           2 * (cbrt(4) + 4) * (1 + cbrt(4) / 12), 2 * 2 * (1 + 1. / 3));
    rd_ctx_free(ctx);
}
END_TEST

/* Powers by a constant: their derivatives are powers as users write them, without pow(). */
START_TEST(constant_powers)
{
    rd_ctx             *ctx  = rd_ctx_new(NULL);
    double              t[3] = { 0.25, 2, 3 }, none[2] = { 0, 0 };
    rd_expr *const      x    = rd_wrap(ctx, t, RD_SHAPE(3));
    rd_expr *const      at_0 = rd_wrap(ctx, none, RD_SHAPE(2));
    static const double n[]  = { 0, 1, 2, 3, 4, 7, 0.5, -1, -3, 1.7 };

    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        rd_expr *const exponent = rd_num(ctx, n[k]);

        EXPECT(rd_grad(rd_sum(rd_pow(x, exponent), RD_ALL), RD_EXPRS(x)).at[0],
               n[k] * pow(0.25, n[k] - 1), n[k] * pow(2, n[k] - 1), n[k] * pow(3, n[k] - 1));
        if (n[k] >= 0 && n[k] < 5 && n[k] == floor(n[k]))
            EXPECT(rd_grad(rd_sum(rd_pow(at_0, exponent), RD_ALL), RD_EXPRS(at_0)).at[0], n[k] == 1,
                   n[k] == 1);
    }
    const char *const text = rd_explain(
        ctx,
        RD_RESULTS({ rd_grad(rd_sum(rd_pow(x, rd_num(ctx, 3)), RD_ALL), RD_EXPRS(x)).at[0], NULL }),
        NULL);
    ck_assert_msg(text && !strstr(text, "pow"), "%s", text ? text : rd_error_text(ctx));
    rd_ctx_free(ctx);
}
END_TEST

/* Gradients of sums over 6000 x 6000 pairs store nothing that grows with their number: most bytes
 * between stages.  Weights as a matrix of one column take the loops that a row of them takes. */
static float points[2][6000][3], weights[6000], aims[6000], width[1];

static rd_expr *gaussian(rd_expr *x, rd_expr *y, rd_expr *b, rd_expr *h)
{
    rd_expr *const d = rd_sum(rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0))), RD_DIMS(2));

    rd_expr *const k = rd_exp(rd_neg(rd_mul(d, h)));

    return b ? rd_sum(rd_mul(k, b), RD_DIMS(1)) : k;
}

START_TEST(pairs)
{
    enum { PLAIN, SAME, TARGET, COLUMN, N_PAIRS, FEW = 1 << 20 };
    rd_ctx *const  ctx = rd_ctx_new(NULL);
    rd_expr *const x   = rd_wrap(ctx, &points[0][0][0], RD_SHAPE(6000, 3));
    rd_expr *const y   = _i == SAME ? x : rd_wrap(ctx, &points[1][0][0], RD_SHAPE(6000, 3));
    rd_expr *const b   = rd_wrap(ctx, weights, RD_SHAPE(6000));
    rd_expr *const aim = rd_wrap(ctx, aims, RD_SHAPE(6000));
    rd_expr *const h   = rd_wrap(ctx, width, (rd_shape){ 0 });
    rd_expr *const f   = gaussian(x, y, b, h);
    rd_expr *const k = gaussian(x, y, NULL, h), *const column = rd_matmul(k, rd_expand(b, 1));
    rd_expr *const of   = _i == TARGET   ? rd_square(rd_sub(f, aim))
                          : _i == COLUMN ? rd_square(column)
                                         : f;
    rd_expr *const loss = rd_sum(of, RD_ALL);
    const rd_exprs g    = rd_grad(loss, RD_EXPRS(x, y, b, h));
    const char    *text, *bytes;

    ck_assert_int_lt(_i, N_PAIRS);
    text = rd_explain(
        ctx, RD_RESULTS({ g.at[0], NULL }, { g.at[1], NULL }, { g.at[2], NULL }, { g.at[3], NULL }),
        NULL);
    bytes = text ? strstr(text, "arrays between stages: ") : NULL;
    ck_assert_msg(bytes && atol(bytes + strlen("arrays between stages: ")) < FEW, "%.2000s",
                  text ? text : rd_error_text(ctx));
    ck_assert_msg(!strstr(text, "element by element,"), "%.2000s", text);
    rd_ctx_free(ctx);
}
END_TEST

int main(void)
{
    enum { ALL = sizeof functions / sizeof *functions };
    Suite   *s      = suite_create("grad");
    TCase   *tc     = tcase_create("grad");
    SRunner *runner = srunner_create(s);
    int      failed;

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, first, 0, ALL);
    tcase_add_loop_test(tc, second, 0, ALL);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, complex_operands);
    tcase_add_test(tc, sparse_operands);
    tcase_add_test(tc, fields_of_points);
    tcase_add_test(tc, bits_of_the_graph_alone);
    tcase_add_test(tc, axes_of_one_element);
    tcase_add_test(tc, special_elements);
    tcase_add_test(tc, lengths_of_0);
    tcase_add_test(tc, branches_not_taken);
    tcase_add_test(tc, constant_powers);
    tcase_add_loop_test(tc, pairs, 0, 4);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
