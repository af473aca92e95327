/* random_fold.c - reductions of every kind with every keyword, scans, and the user's reducers. */
#include "random_expr.h"
#include <string.h>

/* ---- The user's reducers --------------------------------------------------------------------- */

RD_REDUCER(count_nonzeros, double, int64_t, 1, (int64_t n;), (s->n = 0;), (s->n += x != 0;),
           (a->n += b->n;), (y[0] = s->n;))
RD_REDUCER(welford, double, double, 2, (double n; double mean; double m2;),
           (s->n = 0; s->mean = 0; s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (double n = a->n + b->n; double d = b->mean - a->mean; double r = n > 0 ? b->n / n : 0;
            a->mean += d * r; a->m2 += b->m2 + d * d * a->n * r; a->n      = n;),
           (y[0] = s->mean; y[1] = s->n > 0 ? s->m2 / s->n : 0;))
/* The last element and its index: neither commutes nor has an identity. */
RD_REDUCER(last, float, float, 1, (float x; int64_t i;), (s->x = -1; s->i = -1;),
           (s->x = x; s->i = i;), (if (b->i >= 0) {
               a->x = b->x;
               a->i = b->i;
           }),
           (y[0] = s->i >= 0 ? s->x : -1;))

/* A state that is an array, and a step with a loop. */
RD_REDUCER(three_smallest, float, float, 3, (float v[3]; int32_t n;),
           (s->v[0] = s->v[1] = s->v[2] = 1e30f; s->n = 0;),
           (int k = 2; s->n++; while (k >= 0 && x < s->v[k]) {
               if (k < 2)
                   s->v[k + 1] = s->v[k];
               s->v[k] = x;
               k--;
           }),
           (for (int j = 0; j < 3; j++) {
               int k = 2;
               while (k >= 0 && b->v[j] < a->v[k]) {
                   if (k < 2)
                       a->v[k + 1] = a->v[k];
                   a->v[k] = b->v[j];
                   k--;
               }
           } a->n += b->n;),
           (for (int k = 0; k < 3; k++) y[k] = s->v[k] + (float)(s->n % 5);))
/* Narrow members of several types. */
RD_REDUCER(odds, int32_t, int16_t, 1, (int16_t sum; uint8_t odd; int32_t least;),
           (s->sum = 0; s->odd = 0; s->least = 100;),
           (s->sum                              = (int16_t)(s->sum + x); s->odd ^= (uint8_t)(x & 3);
            if (x < s->least && i % 3) s->least = x;),
           (a->sum                            = (int16_t)(a->sum + b->sum); a->odd ^= b->odd;
            if (b->least < a->least) a->least = b->least;),
           (y[0] = (int16_t)(s->sum + s->odd + s->least);))

/* A strict fold in C order: without merge. */
static void decay_init(void *s)
{
    *(double *)s = 1;
}

static void decay_step(void *s, int64_t n, const void *x, int64_t stride, int64_t i)
{
    const double *p = x;

    for (int64_t k = 0; k < n; k++)
        *(double *)s = 0.5 * *(double *)s + p[k * stride] * (double)((i + k) % 3);
}

static void decay_finish(const void *s, void *y)
{
    *(double *)y = *(const double *)s;
}

/* Of two operands. */
RD_REDUCER2(nonzeros_of_two, double, double, int64_t, 1, (int64_t n;), (s->n = 0;),
            (s->n += (x != 0) + 2 * (w != 0);), (a->n += b->n;), (y[0] = s->n;))

static const rd_reducer decay = { .size       = sizeof(rd_reducer),
                                  .n_out      = 1,
                                  .in         = RD_F64,
                                  .out        = RD_F64,
                                  .state_size = sizeof(double),
                                  .name       = "decay",
                                  .init       = decay_init,
                                  .step       = decay_step,
                                  .finish     = decay_finish };

/* ---- Keywords -------------------------------------------------------------------------------- */

enum {
    INITIAL     = 1,
    WEIGHTS     = 2,
    COMPENSATED = 4,
    WIDE        = 8,
    DDOF        = 16,
    NORM        = 32,
    TYPE        = 64,
    FLOATS      = 128,
    INTS        = 256
};

static const struct {
    const char *name;
    unsigned    takes;
} reducers[] = {
    { "sum", INITIAL | COMPENSATED | WIDE | TYPE },
    { "mean", WEIGHTS | COMPENSATED | WIDE },
    { "sum", INITIAL | COMPENSATED | WIDE | TYPE },
    { "min", INITIAL },
    { "max", INITIAL },
    { "prod", INITIAL | FLOATS },
    { "argmin", 0 },
    { "argmax", 0 },
    { "any", 0 },
    { "all", 0 },
    { "count", 0 },
    { "var", WEIGHTS | DDOF | FLOATS },
    { "std", WEIGHTS | DDOF | FLOATS },
    { "norm", NORM },
    { "logsumexp", WEIGHTS | FLOATS },
    { "skewness", WEIGHTS | FLOATS },
    { "kurtosis", WEIGHTS | FLOATS },
    { "bits_and", INITIAL | INTS },
    { "bits_or", INITIAL | INTS },
    { "bits_xor", INITIAL | INTS },
};
enum { N_REDUCERS = sizeof reducers / sizeof *reducers };

static rd_dims random_dims(random_pool *pool, const rd_expr *x)
{
    rd_dims dims = { 0 };

    if (random_once(pool, 5))
        return random_once(pool, 2) ? RD_ALL : RD_KEEP_ALL;
    for (int a = 0; a < x->rank; a++)
        if (random_once(pool, 2) || (a == x->rank - 1 && dims.n == 0 && !random_once(pool, 6)))
            dims.axis[dims.n++] = random_once(pool, 4) ? a - x->rank : a;
    if (random_once(pool, 3))
        dims.flags |= RD_DIMS_KEEP;
    if (random_once(pool, 8))
        dims.flags |= RD_DIMS_EXCEPT;
    return dims;
}

static bool is_float(const rd_expr *x)
{
    return rd_dtype_kind(x->type) == RD_KIND_FLOAT;
}

/* Above 0, and broadcasts to x. */
static rd_expr *random_weights(random_pool *pool, rd_expr *x)
{
    rd_expr *y = random_partner(pool, x);

    if (random_once(pool, 3) && random_points(y) > 0)
        return rd_add(rd_square(rd_tanh(y)), rd_num(pool->ctx, 0.25));
    return rd_add(rd_remainder(rd_coord(x, 0), rd_int(pool->ctx, 3)),
                  rd_int(pool->ctx, random_once(pool, 4) ? 0 : 1));
}

static rd_reduce_opts random_keywords(random_pool *pool, rd_expr *x, unsigned takes)
{
    rd_reduce_opts o = { .size = sizeof o };

    if (random_once(pool, 40))
        takes = ~0u; /* refusals too */
    if (random_once(pool, 5))
        o.where = random_mask(pool, x);
    if (is_float(x) && random_once(pool, 5))
        o.skip_nan = true;
    if (takes & INITIAL && random_once(pool, 4))
        o.initial = is_float(x) && random_once(pool, 2) ? rd_num(pool->ctx, 0.75)
                                                        : rd_int(pool->ctx, random_below(pool, 4));
    if (takes & WEIGHTS && x->rank > 0 && random_once(pool, 4))
        o.weights = random_weights(pool, x);
    if (takes & COMPENSATED && random_once(pool, 10))
        o.accuracy = RD_COMPENSATED;
    else if (takes & WIDE && random_once(pool, 10))
        o.accuracy = RD_WIDE;
    else if (random_once(pool, 12))
        o.accuracy = RD_SERIAL;
    if (takes & DDOF)
        o.ddof = (double)random_below(pool, 3) / (random_once(pool, 4) ? 2 : 1);
    if (takes & NORM)
        o.p = random_once(pool, 3)   ? 0
              : random_once(pool, 2) ? 1
              : random_once(pool, 2) ? INFINITY
                                     : 2;
    if (takes & TYPE && random_once(pool, 8))
        o.type = random_once(pool, 3) ? random_type(pool) : is_float(x) ? RD_F64 : RD_I32;
    return o;
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* Ints that broadcast to x, of any type, some outside [0, n). */
static rd_expr *random_label(random_pool *pool, rd_expr *x, int64_t n)
{
    rd_expr *y = random_partner(pool, x);

    if (random_once(pool, 2) || rd_dtype_kind(y->type) == RD_KIND_FLOAT || random_points(y) == 0)
        y = x->rank ? rd_coord(x, (int)random_below(pool, x->rank)) : rd_int(pool->ctx, 1);
    if (!random_once(pool, 4))
        y = rd_remainder(y, rd_int(pool->ctx, n + 1));
    if (random_once(pool, 4))
        y = rd_sub(rd_cast(y, RD_I16), rd_int(pool->ctx, 1));
    return random_once(pool, 3) ? rd_cast(y, random_once(pool, 2) ? RD_I8 : RD_U32) : y;
}

/* One label or two; the lists live as long as *label does. */
static void random_groups(random_pool *pool, rd_expr *x, rd_expr *label[2], rd_reduce_opts *o)
{
    o->by.n = o->groups.n = random_once(pool, 4) ? 2 : 1;
    o->by.at              = label;
    for (int k = 0; k < o->by.n; k++) {
        o->groups.at[k] = random_once(pool, 12) ? 0 : 1 + random_below(pool, 6);
        label[k]        = random_label(pool, x, o->groups.at[k]);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void by_user(random_pool *pool, rd_expr *x, bool scan)
{
    static const rd_reducer *const all[] = { count_nonzeros, welford, last,
                                             &decay,         odds,    three_smallest };
    const rd_reducer              *r     = all[random_below(pool, scan ? 5 : 6)];
    rd_reducer                     any   = *r; /* in any order, if it may */
    rd_reduce_opts                 o     = { .size = sizeof o, .dims = random_dims(pool, x) };
    rd_expr                       *label[2];

    any.commutes = r != last && r != &decay && r != odds && random_once(pool, 2);

    if (random_once(pool, 6))
        o.where = random_mask(pool, x);
    if (is_float(x) && random_once(pool, 6))
        o.skip_nan = true;
    if (!scan && random_once(pool, 5))
        random_groups(pool, x, label, &o);
    if (!scan && random_once(pool, 5)) {
        random_keep(pool, rd_reduce2_user(x, random_weights(pool, x), nonzeros_of_two, &o),
                    "nonzeros of two");
        return;
    }
    if (scan) {
        o.dims      = RD_DIMS((int)random_below(pool, x->rank));
        o.reverse   = random_once(pool, 3);
        o.exclusive = random_once(pool, 4);
    }
    random_keep(pool, scan ? rd_scan_user(x, &any, &o) : rd_reduce_user(x, &any, &o), r->name);
}

/* A product of many, or exponentials of much, say little: x drawn towards 1. */
static rd_expr *tame(random_pool *pool, const random_node *node, unsigned takes)
{
    const double size = fmax(fabs(node->lo), fabs(node->hi));

    if (!(takes & FLOATS) || !is_float(node->x) || size < 8 || random_once(pool, 8))
        return node->x;
    return rd_mul(node->x, rd_num(pool->ctx, 2 / size));
}

/* Of two operands, or of what lies at the ends. */
static void by_name(random_pool *pool, rd_expr *x)
{
    rd_expr       *y = random_partner(pool, x), *label[2];
    const int64_t  k = random_below(pool, 4);
    rd_reduce_opts o = random_keywords(pool, x, k > 1 ? INITIAL : k ? WEIGHTS : WEIGHTS | DDOF);

    o.dims = random_dims(pool, x);
    if (k < 2 && !o.weights && random_once(pool, 4))
        random_groups(pool, x, label, &o);
    switch (k) {
    case 0: random_keep(pool, rd_cov_of(x, y, &o), "cov"); break;
    case 1: random_keep(pool, rd_corr_of(x, y, &o), "corr"); break;
    case 2: random_keep(pool, rd_first_of(x, &o), "first"); break;
    default: random_keep(pool, rd_last_of(x, &o), "last"); break;
    }
}

void random_fold(random_pool *pool)
{
    const int64_t      k     = random_below(pool, N_REDUCERS);
    const unsigned     takes = reducers[k].takes;
    const random_node *node =
        random_once(pool, 2) || takes & FLOATS ? random_pick_float(pool) : random_pick(pool);
    rd_expr       *x = tame(pool, node, takes), *label[2];
    rd_reduce_opts o;

    if (takes & INTS && is_float(x))
        x = rd_cast(x, random_once(pool, 2) ? RD_I16 : RD_U64);
    if (random_once(pool, 9)) {
        by_user(pool, x, false);
        return;
    }
    if (random_once(pool, 10)) {
        by_name(pool, x);
        return;
    }
    o      = random_keywords(pool, x, takes);
    o.dims = random_dims(pool, x);
    if (random_once(pool, 6))
        random_groups(pool, x, label, &o);
    random_keep(pool, rd_reduce_name(x, reducers[k].name, &o), reducers[k].name);
}

/* x along a new axis as well, which has one index as often as several; nothing changes along it. */
static rd_expr *alike_along(random_pool *pool, rd_expr *x, int axis)
{
    rd_shape shape = { .n = x->rank + 1 };

    memcpy(shape.at, x->extent, (size_t)axis * sizeof *shape.at);
    memcpy(shape.at + axis + 1, x->extent + axis, (size_t)(x->rank - axis) * sizeof *shape.at);
    shape.at[axis] = random_once(pool, 2) ? 1 : 2 + random_below(pool, 6);
    return rd_broadcast(rd_expand(x, axis), shape);
}

static rd_expr *one_more_scan(random_pool *pool, rd_expr *x)
{
    static const char *const names[] = { "sum", "sum", "prod", "count", "mean", "argmin",
                                         "any", "min", "max",  "min",   "max" };
    const bool               alike   = x->rank == 0 || (x->rank < 6 && !random_once(pool, 3));
    const int                axis    = (int)random_below(pool, x->rank + alike);
    const int64_t            k       = random_below(pool, 11);
    rd_reduce_opts           o       = { .size = sizeof o, .dims = RD_DIMS(axis) };

    if (alike)
        x = alike_along(pool, x, axis);
    if (random_points(x) > (pool->large ? pool->most_points : 1500))
        return NULL;
    o.reverse   = random_once(pool, 2);
    o.exclusive = k < 7 && random_once(pool, 4);
    if (random_once(pool, 3))
        o.where = random_mask(pool, x);
    o.skip_nan = is_float(x) && random_once(pool, 4);
    return random_keep(pool, rd_scan_name(x, names[k], &o), "scan of scans");
}

/* Scans of what is the same along an axis, of each other, and what they come to: loops that run
 * backwards around loops that do not, some of one index, and registers that change along few.  Some
 * scans are under masks, and meet nothing for a while. */
static void scans_of_scans(random_pool *pool, rd_expr *x)
{
    if (!random_once(pool, 4))
        x = random_once(pool, 2) ? rd_abs(x) : rd_tanh(x);
    for (int64_t k = 2 + random_below(pool, 2); k > 0 && x; k--)
        x = one_more_scan(pool, x);
    if (x && random_once(pool, 2))
        random_keep(pool, rd_sum(x, random_dims(pool, x)), "sum of scans");
    else if (x)
        random_keep(pool, rd_max(x, RD_DIMS((int)random_below(pool, x->rank))), "maximum of scans");
}

void random_scan(random_pool *pool)
{
    static const char *const names[] = { "sum",    "sum",    "prod",     "min",
                                         "max",    "mean",   "count",    "any",
                                         "all",    "var",    "norm",     "logsumexp",
                                         "argmin", "argmax", "kurtosis", "bits_xor" };
    const random_node       *node    = random_pick(pool);
    const int64_t            k       = random_below(pool, is_float(node->x) ? 15 : 16);
    const bool               tamed   = k == 9 || k == 11 || k == 14;
    rd_expr                 *x       = tame(pool, node, tamed ? FLOATS : 0);
    rd_reduce_opts           o;

    if (random_points(x) > 1500 && !pool->large)
        return;
    if (random_once(pool, 2)) {
        scans_of_scans(pool, x);
        return;
    }
    if (x->rank == 0)
        return;
    if (random_once(pool, 6)) {
        by_user(pool, x, true);
        return;
    }
    o           = random_keywords(pool, x, k == 0 ? TYPE : 0);
    o.dims      = RD_DIMS((int)random_below(pool, x->rank));
    o.exclusive = random_once(pool, 4) && (k < 3 || k > 4);
    o.reverse   = random_once(pool, 4);
    if (k < 9 && random_once(pool, 3)) {
        o.restart = random_mask(pool, x);
        o.where   = k == 3 || k == 4 ? NULL : o.where;
        o.skip_nan &= k != 3 && k != 4;
    }
    random_keep(pool, rd_scan_name(x, names[k], &o), "scan");
}
