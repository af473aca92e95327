/* products.c - sums of products of two matrices that get loops of their own, for a library that
 * multiplies matrices; what they are made of and what is made of them comes before and after. */
#include "eval/ir.h"

/* c = sum of a b. */
typedef struct product {
    rd_value *a, *b;
    rd_set    m, n, k, batch;
} product;

static double points(const rd_graph *g, rd_set axes)
{
    return (double)rd_points_of(g, axes);
}

static bool find_operands(const rd_graph *g, const rd_value *v, product *p)
{
    if (v->kind != RD_VALUE_REDUCE || v->reducer != RD_RED_dot ||
        (v->out >= 0 && v->out_type != v->type))
        return false;
    p->a = &g->value[v->in[0]];
    p->b = &g->value[v->in[1]];
    return true;
}

static bool find_axes(const rd_value *v, product *p)
{
    const rd_set a = p->a->axes, b = p->b->axes;

    p->batch = v->axes & a & b;
    p->m     = v->axes & a & ~b;
    p->n     = v->axes & b & ~a;
    p->k     = v->reduced;
    return !(v->axes & ~(a | b)) && !(v->reduced & ~(a & b));
}

/* Less is not worth arrays around it. */
static bool is_large(const rd_graph *g, const product *p)
{
    enum { LEAST_EXTENT = 8, LEAST_POINTS = 1 << 15 };

    return points(g, p->m) >= LEAST_EXTENT && points(g, p->n) >= LEAST_EXTENT &&
           points(g, p->k) >= LEAST_EXTENT &&
           points(g, p->batch | p->m | p->n | p->k) >= LEAST_POINTS;
}

/* What is not a result would become an array: not if that is much larger than what it is made of,
 * as of distances between many points of few coordinates. */
static bool may_be_stored(const rd_graph *g, const rd_value *v, const product *p)
{
    enum { SMALL = 1 << 20, TIMES = 4 };

    return v->out >= 0 || v->whole || points(g, v->axes) <= SMALL ||
           points(g, v->axes) <= TIMES * (points(g, p->a->axes) + points(g, p->b->axes));
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Neighbours side by side in memory, along one of the axes. */
static bool reads_rows(const rd_value *v, rd_set axes)
{
    bool rows = v->target >= 0;

    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++) {
            const rd_term *term = &v->at[d].term[t];

            if (term->axis < 0)
                return false;
            rows |= term->coef == 1 && rd_in(axes, term->axis);
        }
    return rows;
}

/* A map that is not stored for another reason is worth it if that costs less than the products
 * without a library do. */
static bool may_be_operand(const rd_graph *g, const rd_value *v, const product *p)
{
    if (v->kind == RD_VALUE_READ)
        return reads_rows(v, p->m | p->n | p->k);
    if (rd_is_anchor_kind(v))
        return true;
    return (v->kind == RD_VALUE_MAP || v->kind == RD_VALUE_CALL) &&
           points(g, v->axes) * (RD_PRICE_WRITE + RD_PRICE_READ + v->ops) <=
               points(g, p->batch | p->m | p->n | p->k);
}

/* Storage of a map: matrices one after another, rows along k. */
static bool keep_map(rd_graph *g, rd_value *v, const product *p)
{
    const rd_set group[3] = { p->batch, p->m | p->n, p->k };

    if (v->kind == RD_VALUE_READ || rd_is_anchor_kind(v))
        return true;
    v->whole = true;
    v->dim   = rd_pool_get(g->pool, (size_t)(g->n_axis + 1) * sizeof *v->dim);
    for (int k = 0; v->dim && k < 3; k++)
        for (int a = 0; a < g->n_axis; a++)
            if (rd_in(v->axes & group[k], a))
                v->dim[v->n_dim++] = a;
    return v->dim;
}

/* Where a library is missing that there might be, people are told. */
static bool has_library(rd_graph *g, bool *memory)
{
    const rd_backend_table *backend = g->device ? &rd_backend_cuda : &rd_backend_cpu;
    const char             *why     = NULL;
    const bool              has     = backend->multiplies(&why);
    rd_text                 line    = { 0 };

    *memory = true;
    if (has || !why)
        return has;
    rd_text_add(&line, "products run as loops: %s\n", why);
    *memory = rd_graph_say(g, &line);
    return false;
}

bool rd_part_products(rd_graph *g)
{
    bool memory;

    for (int i = 0; i < g->n_value; i++) {
        rd_value *v = &g->value[i];
        product   p;

        if (!find_operands(g, v, &p) || !find_axes(v, &p) || !is_large(g, &p) ||
            !may_be_stored(g, v, &p) || !may_be_operand(g, p.a, &p) || !may_be_operand(g, p.b, &p))
            continue;
        if (!has_library(g, &memory)) /* asked last: the answer may take loading it */
            return memory;
        v->apart = true;
        if (!keep_map(g, p.a, &p) || !keep_map(g, p.b, &p))
            return false;
    }
    return true;
}
