/* random_expr.c - the pool: random numbers, choosing operands, taking nodes in. */
#include "random_expr.h"
#include "isa.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORK_LIMIT = 40000, MOST_STEPS = 22, LARGE_POINTS = 60000, MOST_LARGE_STEPS = 12 };

/* ---- Numbers: splitmix64 (Steele, Lea, Flood 2014) ------------------------------------------- */

uint64_t random_bits(random_pool *pool)
{
    uint64_t z = (pool->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_below(random_pool *pool, int64_t n)
{
    return (int64_t)(random_bits(pool) % (uint64_t)n);
}

bool random_once(random_pool *pool, int64_t n)
{
    return random_below(pool, n) == 0;
}

double random_uniform(random_pool *pool, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(random_bits(pool) >> 11) * 0x1p-53);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

int64_t random_points(const rd_expr *x)
{
    return rd_points(x->rank, x->extent);
}

const random_node *random_find(const random_pool *pool, const rd_expr *x)
{
    for (int i = 0; i < pool->n_node; i++)
        if (pool->node[i].x == x)
            return &pool->node[i];
    return NULL;
}

const random_node *random_pick(random_pool *pool)
{
    const double u = random_uniform(pool, 0, 1);

    return &pool->node[pool->n_node - 1 - (int)(u * u * pool->n_node)];
}

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

const random_node *random_pick_float(random_pool *pool)
{
    static const rd_dtype floats[] = { RD_F32, RD_F64, RD_F16, RD_F64 };
    const random_node    *node     = random_pick(pool);

    for (int i = 0; i < 4 && !is_float(node->x->type); i++)
        node = random_pick(pool);
    if (!is_float(node->x->type)) {
        rd_expr *x = random_keep(pool, rd_cast(node->x, floats[random_below(pool, 4)]), "cast");
        if (x)
            node = random_find(pool, x);
    }
    return node;
}

/* Elements of x and y broadcast together; -1 if they do not. */
static int64_t points_together(const rd_expr *x, const rd_expr *y)
{
    const int rank = x->rank > y->rank ? x->rank : y->rank;
    int64_t   n    = 1;

    for (int k = 1; k <= rank; k++) {
        const int64_t a = k <= x->rank ? x->extent[x->rank - k] : 1,
                      b = k <= y->rank ? y->extent[y->rank - k] : 1;
        if (a != b && a != 1 && b != 1)
            return -1;
        n *= a == 1 ? b : a;
    }
    return n;
}

rd_expr *random_partner(random_pool *pool, rd_expr *x)
{
    for (int i = 0; i < 12; i++) {
        rd_expr      *y = random_pick(pool)->x;
        const int64_t n = points_together(x, y);
        if (n >= 0 && n <= pool->most_points)
            return y;
    }
    if (random_once(pool, 2))
        return rd_int(pool->ctx,
                      random_below(pool, 7) - (x->type >= RD_U8 && x->type <= RD_U64 ? 0 : 3));
    return rd_num(pool->ctx, (double)(random_below(pool, 33) - 16) / 4);
}

/* A triangle, a band, or a half: what bounds loops. */
static rd_expr *mask_of_places(random_pool *pool, rd_expr *x)
{
    const int a = (int)random_below(pool, x->rank);
    rd_expr  *i = rd_coord(x, a), *k = rd_int(pool->ctx, random_below(pool, 9) - 4);
    rd_expr  *j     = rd_coord(x, (int)(a + 1 + random_below(pool, x->rank - 1)) % x->rank);
    rd_expr  *apart = rd_sub(j, i);

    switch (random_below(pool, 6)) {
    case 0: return rd_lt(j, rd_add(i, k));
    case 1: return rd_ge(apart, k);
    case 2: return rd_le(rd_abs(apart), rd_int(pool->ctx, random_below(pool, 5)));
    case 3: return rd_and(rd_le(i, j), rd_lt(apart, rd_int(pool->ctx, random_below(pool, 7))));
    case 4: return rd_gt(i, k);
    default: return rd_and(rd_le(j, i), random_leaf(pool, x->rank, x->extent, RD_BOOL));
    }
}

rd_expr *random_mask(random_pool *pool, rd_expr *x)
{
    if (x->rank >= 2 && random_once(pool, 5))
        return mask_of_places(pool, x);
    for (int i = 0; i < 8; i++) {
        const random_node *y = random_pick(pool);
        rd_expr           *m = y->x;
        if (points_together(x, m) != random_points(x) || m->rank > x->rank)
            continue;
        if (m->type != RD_BOOL && y->exact)
            m = random_once(pool, 2) ? rd_gt(m, rd_int(pool->ctx, 0))
                                     : rd_ne(m, rd_int(pool->ctx, 1));
        if (m && m->type == RD_BOOL)
            return m;
        rd_error_clear(pool->ctx);
    }
    return random_leaf(pool, x->rank, x->extent, RD_BOOL);
}

/* ---- Taking nodes in ------------------------------------------------------------------------- */

static void note_refusal(random_pool *pool, const char *step)
{
    const rd_status status = rd_error(pool->ctx);

    pool->refused[(int)status % RANDOM_STATUSES]++;
    if (status == RD_OK || status == RD_ERR_MEMORY || status == RD_ERR_TEXT ||
        status == RD_ERR_LIMIT)
        snprintf(pool->complaint, sizeof pool->complaint, "%s refused: %s %s", step,
                 rd_status_name(status), rd_error_text(pool->ctx));
    rd_error_clear(pool->ctx);
}

/* Elements an oracle visits for one element of x, at most; scans and reductions fold lists. */
static int64_t list_length(const rd_expr *x)
{
    int64_t n = 1;

    if (x->kind == RD_EXPR_SORT) /* each element of a row is compared with each */
        return x->in[0]->extent[x->rank - 1] * x->in[0]->extent[x->rank - 1];
    if (x->kind != RD_EXPR_REDUCE && x->kind != RD_EXPR_SCAN)
        return 1;
    for (int a = 0; a < x->in[0]->rank; a++)
        if (x->as.fold->dims >> a & 1)
            n *= x->in[0]->extent[a];
    return n;
}

/* A reduction may stand behind maps and views that were made with it, and its operand may be larger
 * than its result: bounds for all nodes below that are new. */
static bool is_small(const random_pool *pool, const rd_expr *x, int depth)
{
    const int64_t n = random_points(x);

    if (n > 4 * pool->most_points ||
        n * (pool->large ? 1 : list_length(x)) > 40 * pool->most_points)
        return false;
    for (int k = 0; k < x->n_in && depth > 0; k++)
        if (x->in[k] && !is_small(pool, x->in[k], depth - 1))
            return false;
    return true;
}

static bool values_of_scalar(random_pool *pool, rd_expr *x, oracle_value *value)
{
    const rd_eval_opts opts = { .threads = 1 }; /* a process that has had threads cannot fork and
                                                 * use them again */
    const int64_t      n    = random_points(x);
    rd_array           out  = { 0 };
    rd_result          one  = { x, &out };
    bool               ok;

    isa_begin(pool->ctx, ISA_SCALAR);
    ok = rd_eval_many(pool->ctx, (rd_results){ &one, 1 }, &opts) == RD_OK;
    isa_end(pool->ctx);
    rd_error_clear(pool->ctx);
    for (int64_t i = 0; ok && i < n; i++)
        value[i] = oracle_load((char *)out.data + i * rd_dtype_size(x->type), x->type);
    rd_array_free(&out);
    return ok;
}

bool random_values(random_pool *pool, rd_expr *x, oracle_value *value)
{
    const int64_t n               = random_points(x);
    int64_t       at[RD_MAX_RANK] = { 0 };

    if (pool->large)
        return values_of_scalar(pool, x, value);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        for (int a = x->rank - 1; a >= 0; a--) {
            at[a] = rest % x->extent[a];
            rest /= x->extent[a];
        }
        if (!oracle_at(pool->oracle, x, at, &value[i]))
            return false;
    }
    return true;
}

/* What the oracle says of one element. */
static void look_at(random_node *node, const oracle_value *v, double *vague)
{
    const double size = is_float(v->type) ? (double)v->v : (double)v->n;

    node->n_unsure += v->unsure;
    node->exact &= !v->unsure && v->err == 0;
    if (v->unsure)
        return;
    if (!isfinite(size)) {
        node->special = true;
        return;
    }
    node->lo = fmin(node->lo, size);
    node->hi = fmax(node->hi, size);
    *vague   = fmax(*vague, (double)v->err);
}

/* Computes all of node->x.  False if it is of no use. */
static bool examine(random_pool *pool, random_node *node)
{
    rd_expr      *x     = node->x;
    const int64_t n     = random_points(x);
    oracle_value *value = calloc((size_t)n + 1, sizeof *value);
    const bool    known = random_values(pool, x, value);
    /* A few operations on halves, where one may be off by 2^-7, say more than nothing. */
    const double bound =
        is_float(x->type) ? fmax(0.01, 32 * (double)oracle_float_of(x->type).u) : 0.01;
    double vague = 0;

    node->n     = n;
    node->lo    = INFINITY;
    node->hi    = -INFINITY;
    node->exact = true;
    for (int64_t i = 0; known && i < n; i++)
        look_at(node, &value[i], &vague);
    free(value);
    pool->work += n * list_length(x);
    if (node->lo > node->hi)
        node->lo = node->hi = 0;
    return known && node->n_unsure * 30 <= n &&
           vague <= bound * fmax(fabs(node->lo), fabs(node->hi)) + 1e-30;
}

rd_expr *random_keep(random_pool *pool, rd_expr *x, const char *step)
{
    random_node node = { .x = x, .step = step };

    if (!x || rd_error(pool->ctx)) {
        note_refusal(pool, step);
        return NULL;
    }
    if (random_find(pool, x))
        return x;
    if (random_points(x) > pool->most_points || pool->n_node == RANDOM_NODES ||
        !is_small(pool, x, 12) || !examine(pool, &node)) {
        pool->dropped++;
        return NULL;
    }
    pool->node[pool->n_node++] = node;
    return x;
}

/* ---- The pool -------------------------------------------------------------------------------- */

static void step(random_pool *pool)
{
    const int64_t choice = random_below(pool, 100);

    if (choice < 29)
        random_view(pool);
    else if (choice < 53)
        random_map(pool);
    else if (choice < 63)
        random_function(pool);
    else if (choice < 82)
        random_fold(pool);
    else if (choice < 87)
        random_scan(pool);
    else if (choice < 91)
        random_sort(pool);
    else if (choice < 92)
        random_complex(pool);
    else if (choice < 93)
        random_pattern(pool);
    else if (choice < 96)
        random_made(pool);
    else
        random_idiom(pool);
}

random_pool *random_pool_new(rd_ctx *ctx, uint64_t seed)
{
    random_pool *pool = calloc(1, sizeof *pool);
    int64_t      steps;

    pool->ctx         = ctx;
    pool->oracle      = oracle_new();
    pool->state       = seed * 0xd1342543de82ef95u + 1;
    pool->smooth      = seed >= RANDOM_SMOOTH;
    pool->large       = seed >= RANDOM_LARGE && !pool->smooth;
    pool->isa         = (int)(seed % (uint64_t)isa_count());
    pool->inputs      = random_once(pool, 6) && !pool->large && !pool->smooth;
    pool->most_points = pool->large ? LARGE_POINTS : RANDOM_POINTS;
    random_choose_shape(pool);
    random_first_leaves(pool);
    steps = 3 + random_below(pool, pool->large ? MOST_LARGE_STEPS : MOST_STEPS);
    for (; steps > 0 && (pool->large || pool->work < WORK_LIMIT); steps--)
        step(pool);
    return pool;
}

void random_pool_free(random_pool *pool)
{
    if (!pool)
        return;
    for (int i = 0; i < pool->n_block; i++)
        free(pool->block[i].memory);
    oracle_free(pool->oracle);
    free(pool);
}
