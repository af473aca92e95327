/* cases_everyday.c - W12, what users write first: reducers and functions of their own, groups,
 * forces, losses, takes, a covariance; and how long the first evaluation takes. */
#include "bench.h"
#include <stddef.h>

static rd_dims axis_of(unsigned dims)
{
    return dims == 1 ? RD_DIMS(0) : dims == 4 ? RD_DIMS(2) : RD_ALL;
}

/* ---- Reducers -------------------------------------------------------------------------------- */
/* clang-format off */
#define REDUCERS(T, log, exp)                                                                      \
RD_REDUCER(welford_##T, T, T, 2, (T n, mean, m2;), (s->n = s->mean = s->m2 = 0;),                  \
    (T d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),              \
    (T n = a->n + b->n, d = b->mean - a->mean;                                                     \
     if (b->n > 0) {                                                                               \
         a->mean += d * b->n / n; a->m2 += b->m2 + d * d * a->n * b->n / n; a->n = n;              \
     }),                                                                                           \
    (y[0] = s->mean; y[1] = s->m2 / s->n;))                                                        \
RD_REDUCER(top3_##T, T, T, 3, (T v[3];), (s->v[0] = s->v[1] = s->v[2] = -INFINITY;),               \
    (if (x > s->v[0]) { s->v[2] = s->v[1]; s->v[1] = s->v[0]; s->v[0] = x; }                       \
     else if (x > s->v[1]) { s->v[2] = s->v[1]; s->v[1] = x; }                                     \
     else if (x > s->v[2]) { s->v[2] = x; }),                                                      \
    (for (int k = 0; k < 3; k++) {                                                                 \
         T x = b->v[k];                                                                            \
         if (x > a->v[0]) { a->v[2] = a->v[1]; a->v[1] = a->v[0]; a->v[0] = x; }                   \
         else if (x > a->v[1]) { a->v[2] = a->v[1]; a->v[1] = x; }                                 \
         else if (x > a->v[2]) { a->v[2] = x; }                                                    \
     }),                                                                                           \
    (y[0] = s->v[0]; y[1] = s->v[1]; y[2] = s->v[2];))                                             \
RD_REDUCER(geometric_##T, T, T, 1, (T n, sum;), (s->n = s->sum = 0;),                              \
    (s->n += 1; s->sum += log(x);), (a->n += b->n; a->sum += b->sum;),                             \
    (y[0] = exp(s->sum / s->n);))
REDUCERS(float, logf, expf)
REDUCERS(double, log, exp)
/* clang-format on */

static void welford(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] =
        rd_reduce(x[0], rd_type_of(x[0]) == RD_F32 ? welford_float : welford_double, axis_of(dims));
}

static void top3(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_reduce(x[0], rd_type_of(x[0]) == RD_F32 ? top3_float : top3_double, axis_of(dims));
}

/* The same, of elements in any order. */
static rd_expr *in_any_order(rd_expr *x, const rd_reducer *of_f32, const rd_reducer *of_f64,
                             unsigned dims)
{
    rd_reducer r = *(rd_type_of(x) == RD_F32 ? of_f32 : of_f64);

    r.commutes = 1;
    return rd_reduce(x, &r, axis_of(dims));
}

static void welford_commutes(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = in_any_order(x[0], welford_float, welford_double, dims);
}

static void top3_commutes(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = in_any_order(x[0], top3_float, top3_double, dims);
}

static void geometric(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] =
        rd_reduce(rd_map(x[0], "x + 1"),
                  rd_type_of(x[0]) == RD_F32 ? geometric_float : geometric_double, axis_of(dims));
}

/* ---- Functions ------------------------------------------------------------------------------- */
float bench_softsign_f32(float x)
{
    return x / (1 + fabsf(x));
}

double bench_softsign_f64(double x)
{
    return x / (1 + fabs(x));
}

const char *bench_block_f32(void *user, int64_t n, const void *const *in, void *out)
{
    const float *x = in[0];
    float       *y = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + fabsf(x[i]));
    return NULL;
}

const char *bench_block_f64(void *user, int64_t n, const void *const *in, void *out)
{
    const double *x = in[0];
    double       *y = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + fabs(x[i]));
    return NULL;
}

static rd_expr *called(rd_expr *x)
{
    return rd_type_of(x) == RD_F32 ? rd_map(x, bench_softsign_f32) : rd_map(x, bench_softsign_f64);
}

static rd_expr *blocks(rd_expr *x)
{
    const rd_dtype type = rd_type_of(x);
    const rd_fn    f    = { .size  = sizeof f,
                            .name  = "softsign",
                            .arity = 1,
                            .in    = type,
                            .out   = type,
                            .block = type == RD_F32 ? bench_block_f32 : bench_block_f64 };

    return rd_map(x, &f);
}

static void call(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = dims ? rd_sum(called(x[0]), RD_ALL) : called(x[0]);
}

static void block(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = dims ? rd_sum(blocks(x[0]), RD_ALL) : blocks(x[0]);
}

/* ---- Masks that are computed ----------------------------------------------------------------- */
/* Nobody is nearest to himself. */
static void other(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *d2 = rd_sum(rd_square(rd_sub(rd_expand(x[0], 1), rd_expand(x[0], 0))), RD_DIMS(-1));

    (void)dims;
    y[0] = rd_argmin(d2, RD_DIMS(1), .where = rd_ne(rd_coord(d2, 0), rd_coord(d2, 1)));
}

/* (n) by label, or (n, 16): the group is the axis after that of the elements. */
static void group_mean(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    const int64_t n     = rd_shape_of(x[1]).at[0];
    rd_expr      *label = rd_expand(x[1], 1), *each = rd_expand(x[0], 1);
    rd_expr      *is = rd_eq(label, rd_coord(rd_broadcast(label, RD_SHAPE(n, 10)), 1));

    if (dims)
        y[0] =
            rd_mean(rd_broadcast(each, RD_SHAPE(n, 10, 16)), RD_DIMS(0), .where = rd_expand(is, 2));
    else
        y[0] = rd_mean(rd_broadcast(each, RD_SHAPE(n, 10)), RD_DIMS(0), .where = is);
}

/* ---- Takes ----------------------------------------------------------------------------------- */
static void take(rd_expr *const *x, unsigned axis, rd_expr **y)
{
    y[0] = rd_take(x[0], (int)axis, x[1]);
}

/* mean(logsumexp(z_i) - z[i, label_i]): the element by its place among all. */
static void loss_take(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *place  = rd_map2(rd_coord(x[1], 0), x[1], "i, label: 100 * i + label");
    rd_expr *chosen = rd_take(rd_reshape(x[0], RD_SHAPE(-1)), 0, place);

    (void)dims;
    y[0] = rd_mean(rd_sub(rd_logsumexp(x[0], RD_DIMS(1)), chosen), RD_ALL);
}

/* The same along each row. */
static void loss_along(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *chosen = rd_squeeze(rd_take_along(x[0], 1, rd_expand(x[1], 1)), RD_DIMS(1));

    (void)dims;
    y[0] = rd_mean(rd_sub(rd_logsumexp(x[0], RD_DIMS(1)), chosen), RD_ALL);
}

/* The same as a diagonal of all rows by all labels, of which no more is computed. */
static void loss_diagonal(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *chosen = rd_diagonal(rd_take(x[0], 1, x[1]), 0, 1, 0);

    (void)dims;
    y[0] = rd_mean(rd_sub(rd_logsumexp(x[0], RD_DIMS(1)), chosen), RD_ALL);
}

/* The same by a product with ones where the class is the label's. */
static void loss_one_hot(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *one_hot = rd_eq(rd_expand(x[1], 1), rd_coord(x[0], 1));
    rd_expr *chosen  = rd_sum(rd_mul(x[0], one_hot), RD_DIMS(1));

    (void)dims;
    y[0] = rd_mean(rd_sub(rd_logsumexp(x[0], RD_DIMS(1)), chosen), RD_ALL);
}

/* ---- Sums of vectors ------------------------------------------------------------------------- */
/* (n, n, 3) summed over the second axis, and where `dims` the sum of exp(-|d|^2) beside it. */
static void force(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *d = rd_sub(rd_expand(x[0], 0), rd_expand(x[0], 1));
    rd_expr *e = rd_exp(rd_neg(rd_sum(rd_square(d), RD_DIMS(-1))));

    y[0] = rd_sum(rd_mul(d, rd_expand(e, 2)), RD_DIMS(1));
    if (dims)
        y[1] = rd_sum(e, RD_DIMS(1));
}

static void covariance(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *c = rd_sub(x[0], rd_mean(x[0], RD_KEEP(0)));

    (void)dims;
    y[0] = rd_sum(rd_mul(rd_expand(c, 2), rd_expand(c, 1)), RD_DIMS(0));
}

/* ---- First evaluations ----------------------------------------------------------------------- */
static void gauss(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *d2 = rd_sum(rd_square(rd_sub(rd_expand(x[0], 1), rd_expand(x[0], 0))), RD_DIMS(-1));

    (void)dims;
    y[0] = rd_sum(rd_exp(rd_neg(d2)), RD_DIMS(1));
}

/* README's: by how much the warmest month is warmer than the mean. */
static void warmest(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *mean = rd_mean(x[0], RD_DIMS(0), .skip_nan = true);

    (void)dims;
    y[0] = rd_max(rd_map(rd_sub(x[0], mean), "x > 0 ? x : 0"), RD_DIMS(0));
}

/* clang-format off */
#define MONTHS       { 3, 1, 1, 8, { 480, 90, 180 } }
#define POINTS(n, d) { 2, 1, 2, 1, { n, d } }
#define ROWS(n, m)   { 2, 1, 1, 16, { n, m } }
#define LONG(n)      { 1, 1, 1, 128, { n } }
#define LABELS       .fill = { 0, FILL_INDEX }

#define REDUCED(what, axis, hand, dims, f, ...) \
    { "W12", #hand axis what, f, HAND_##hand##_plain, dims, { MONTHS }, __VA_ARGS__ }
#define ALL_AXES(what, hand, f, ...) \
    REDUCED(what, "(0)", hand, 1, f, __VA_ARGS__), REDUCED(what, "(2)", hand, 4, f, __VA_ARGS__), \
    REDUCED(what, "(all)", hand, 7, f, __VA_ARGS__)

const bench_case bench_everyday[] = {
    { "W12", "other3",  other, HAND_other, 0, { POINTS(10000, 3) }, .flops = 3, .pairs = true },
    { "W12", "other50", other, HAND_other, 0, { POINTS(2000, 50) }, .flops = 3, .pairs = true,
      .wrong_allowed = 1e-3 },
    { "W12", "group",   group_mean, HAND_group_mean, 0, { LONG(1000000), LONG(1000000) },
      .flops = 1, LABELS, .below = 10 },
    { "W12", "group16", group_mean, HAND_group_mean, 1,
      { { 2, 1, 1, 128, { 100000, 16 } }, LONG(100000) }, .flops = 1, LABELS, .below = 10 },
    ALL_AXES("", welford, welford, .flops = 4),
    ALL_AXES(".commutes", welford, welford_commutes, .flops = 4),
    ALL_AXES("", top3, top3, .flops = 3),
    ALL_AXES(".commutes", top3, top3_commutes, .flops = 3),
    ALL_AXES("", geometric, geometric, .flops = 20),
    { "W12", "call",      call,  HAND_call,      0, { LONG(4194304) }, .flops = 2 },
    { "W12", "call.sum",  call,  HAND_call_sum,  1, { LONG(4194304) }, .flops = 3 },
    { "W12", "block",     block, HAND_block,     0, { LONG(4194304) }, .flops = 2 },
    { "W12", "block.sum", block, HAND_block_sum, 1, { LONG(4194304) }, .flops = 3 },
    { "W12", "block.fresh", block, HAND_block, 0, { LONG(16777216) }, HOW_FRESH, .flops = 2 },
    { "W12", "take(0)",   take, HAND_take_rows, 0,
      { ROWS(200000, 20), { 1, 1, 1, 16, { 200000 } } }, LABELS },
    { "W12", "take(1)",   take, HAND_take_columns, 1,
      { ROWS(200000, 20), { 1, 0, 1, 1, { 10 } } }, LABELS, .below = 20 },
    { "W12", "take(1).3", take, HAND_take_middle, 1,
      { MONTHS, { 1, 0, 1, 1, { 45 } } }, LABELS, .below = 90 },
    { "W12", "loss.take",   loss_take, HAND_loss, 0,
      { ROWS(50000, 100), { 1, 1, 1, 16, { 50000 } } }, .flops = 3, .exps = 1, LABELS,
      .below = 100 },
    { "W12", "loss.along",  loss_along, HAND_loss, 0,
      { ROWS(50000, 100), { 1, 1, 1, 16, { 50000 } } }, .flops = 3, .exps = 1, LABELS,
      .below = 100 },
    { "W12", "loss.diagonal", loss_diagonal, HAND_loss, 0,
      { ROWS(50000, 100), { 1, 1, 1, 16, { 50000 } } }, .flops = 3, .exps = 1, LABELS,
      .below = 100 },
    { "W12", "loss.onehot", loss_one_hot, HAND_loss, 0,
      { ROWS(50000, 100), { 1, 1, 1, 16, { 50000 } } }, .flops = 3, .exps = 1, LABELS,
      .below = 100 },
    { "W12", "force",     force, HAND_force,           0, { POINTS(4000, 3) },
      .flops = 16.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W12", "force+sum", force, HAND_force_potential, 1, { POINTS(4000, 3) },
      .flops = 17.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W12", "covariance", covariance, HAND_covariance, 0, { ROWS(200000, 20) }, .flops = 20 },
    { "W12", "first.gauss", gauss, HAND_NONE, 0, { POINTS(20000, 3) }, HOW_FIRST,
      .flops = 11.0 / 3, .exps = 1.0 / 3, .pairs = true },
    { "W12", "first.small", warmest, HAND_NONE, 0, { { 3, 0, 1, 1, { 12, 90, 180 } } }, HOW_FIRST,
      .flops = 4, .fill = { FILL_CLIMATE } },
    { 0 },
};
