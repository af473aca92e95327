/* matrix_products.c - finds sums of products of two matrices (GEMM) and gives them loops of
 * their own, for a matrix library.  Their operands are stored before, and their readers run
 * after.
 *
 *    c[i,j] = sum over k of a[i,k] * b[k,j]
 *
 * In the terms of BLAS, m are the axes of a alone, n those of b alone, k the reduced ones, and
 * batch those that a, b and the result have.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. A READ
 * is of a leaf's `slot`, or of another value, its `target`, -1: it is not. An operand in[k] of -1
 * is not there. A value is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. */
#include "eval/ir.h"
#include <stdlib.h>
#include <string.h>

/* c = sum of a b, with the sets of axes of a GEMM. */
typedef struct product {
    const rd_value *a, *b;          /* the factors */
    rd_set          m, n, k, batch; /* sets of axes, see above */
} product;

/* The number of points of a set of axes, as a double: the product of their extents. */
static double points(const rd_graph *g, rd_set axes)
{
    return (double)rd_points_of(g, axes);
}

/* True for a sum of products a * b whose result is stored in the type it is computed in, as a
 * library does; fills in the factors. out_type is the type in which a result is stored. */
static bool has_operands(const rd_graph *g, const rd_value *v, product *p)
{
    if (v->kind != RD_VALUE_REDUCE || !rd_reducer_multiplies((rd_reducer_id)v->reducer) ||
        (v->out >= 0 && v->out_type != v->type))
        return false;
    p->a = &g->value[v->in[0]];
    p->b = &g->value[v->in[1]];
    return true;
}

/* Sorts the axes of a product into m (of the result and a alone), n (of the result and b alone), k
 * (reduced) and batch (in all three). False if there are others: an axis of the result in neither
 * factor, or a reduced one that is not in both. */
static bool find_axes(const rd_value *v, product *p)
{
    const rd_set a = p->a->axes, b = p->b->axes;

    p->batch = v->axes & a & b;
    p->m     = v->axes & a & ~b;
    p->n     = v->axes & b & ~a;
    p->k     = v->reduced;
    return !(v->axes & ~(a | b)) && !(v->reduced & ~(a & b));
}

/* True if the product has enough work to be worth storing its operands and its result for a
 * library. */
static bool is_large(const rd_graph *g, const product *p)
{
    enum { LEAST_EXTENT = 8, LEAST_POINTS = 1 << 15 };

    return points(g, p->m) >= LEAST_EXTENT && points(g, p->n) >= LEAST_EXTENT &&
           points(g, p->k) >= LEAST_EXTENT &&
           points(g, p->batch | p->m | p->n | p->k) >= LEAST_POINTS;
}

/* True if storing the product as an array is acceptable: it is small, or at most 4 times as large
 * as its operands. The distances between many points of few coordinates are much larger than the
 * points, and are not stored. */
static bool is_small(const rd_graph *g, const rd_value *v, const product *p)
{
    enum { TIMES = 4 };

    return points(g, v->axes) <= RD_MANY_PAIRS ||
           points(g, v->axes) <= TIMES * (points(g, p->a->axes) + points(g, p->b->axes));
}

/* True if the product is stored anyway, as a result (out >= 0) or an array (whole), or storing it
 * is acceptable. */
static bool may_be_stored(const rd_graph *g, const rd_value *v, const product *p)
{
    return v->out >= 0 || v->is_whole_array || is_small(g, v, p);
}

/* True if the value is a matrix product that will be stored. The lanes (SIMD accumulators) of
 * reductions that read it depend on this. So it follows from options and extents alone, not
 * from other values, devices or libraries, and bits stay the same. is_large(): it has enough
 * work for a library; is_small(): its result may be stored. */
bool rd_is_stored_product(const rd_graph *g, const rd_value *v)
{
    product p;

    if (g->exact || v->kind != RD_VALUE_REDUCE || !rd_reducer_multiplies((rd_reducer_id)v->reducer))
        return false;
    p.a = &g->value[v->in[0]];
    p.b = &g->value[v->in[1]];
    return find_axes(v, &p) && is_large(g, &p) && is_small(g, v, &p);
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* True if the READ is contiguous (stride 1) along one of the axes, or is of another value's array
 * (target >= 0), which placement lays out so. False if it gathers, as a library cannot. */
static bool reads_rows(const rd_value *v, rd_set axes)
{
    bool rows = v->target >= 0;

    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++) {
            const rd_subscript_term *term = &v->at[d].term[t];

            if (term->axis < 0)
                return false;
            rows |= term->coef == 1 && rd_in(axes, term->axis);
        }
    return rows;
}

/* True if storing an operand costs less than the product would cost without a library: its
 * elements, written, read and computed, against one operation a point of the product. */
static bool may_be_stored_first(const rd_graph *g, const rd_value *v, const product *p)
{
    return points(g, v->axes) * (RD_PRICE_WRITE + RD_PRICE_READ + v->ops) <=
           points(g, p->batch | p->m | p->n | p->k);
}

/* True for a READ of a leaf without stride 1, such as the real parts of complex numbers, which can
 * be copied to contiguous memory. Each axis must occur once, and a batch axis may not have the
 * least stride. p->m, n, k and batch are sets of axes of the product: rows, columns, reduced and
 * batch. v->target >= 0: it reads an array of the plan; reads_rows(): it has stride 1 already.
 * coef is a stride. */
static bool rows_lie_apart(const rd_value *v, const product *p)
{
    const rd_subscript *at   = v->at;
    rd_set              seen = 0, nearest = 0; /* axes met; the axis of least stride */
    int64_t             least = INT64_MAX;

    if (v->kind != RD_VALUE_READ || v->target >= 0 || reads_rows(v, p->m | p->n | p->k))
        return false;
    for (int t = 0; t < at->n_term; t++) {
        if (at->term[t].axis < 0 || rd_in(seen, at->term[t].axis))
            return false;
        seen |= rd_bit(at->term[t].axis);
        if (llabs(at->term[t].coef) < least) {
            least   = llabs(at->term[t].coef);
            nearest = rd_bit(at->term[t].axis);
        }
    }
    return seen == v->axes && !(nearest & p->batch);
}

/* True if a library can read the value as a matrix: it lies in memory with a contiguous axis, is
 * stored anyway, or storing it costs little beside the product. */
static bool may_be_operand(const rd_graph *g, const rd_value *v, const product *p)
{
    if (v->kind == RD_VALUE_READ)
        return reads_rows(v, p->m | p->n | p->k) ||
               (rows_lie_apart(v, p) && may_be_stored_first(g, v, p));
    return rd_is_materialised_kind(v) ||
           ((v->kind == RD_VALUE_MAP || v->kind == RD_VALUE_CALL) && may_be_stored_first(g, v, p));
}

/* Stores v, a copy of a READ at subscript `at`, with storage dims in the order of its source's
 * memory: the axis with the largest stride outermost. False: no memory. It sorts by insertion;
 * step[] has the strides of dim[], from the largest on. */
static bool keep_copy(rd_graph *g, rd_value *v, const rd_subscript *at)
{
    int64_t *step = rd_pool_get(g->pool, (size_t)at->n_term * sizeof *step);

    v->is_whole_array = true;
    v->dim            = rd_pool_get(g->pool, (size_t)(at->n_term + 1) * sizeof *v->dim);
    for (int t = 0; step && v->dim && t < at->n_term; t++) {
        int place = v->n_dim++;

        for (; place > 0 && step[place - 1] < llabs(at->term[t].coef); place--) {
            step[place]   = step[place - 1];
            v->dim[place] = v->dim[place - 1];
        }
        step[place]   = llabs(at->term[t].coef);
        v->dim[place] = at->term[t].axis;
    }
    return step && v->dim;
}

/* The set of axes along which the sources of an elementwise operation are contiguous in memory,
 * looking through operands of as many points. `depth` bounds the recursion. v->target < 0: the
 * read is of a leaf. */
static rd_set side_by_side(const rd_graph *g, const rd_value *v, int depth)
{
    rd_set found = 0;

    if (v->kind == RD_VALUE_READ) {
        /* a leaf has one flat index, an array one per dim */
        const rd_subscript *at = v->target < 0 ? &v->at[0] : &v->at[v->n_at - 1];

        for (int t = 0; t < at->n_term; t++)
            if (at->term[t].axis >= 0 && at->term[t].coef == 1)
                found |= rd_bit(at->term[t].axis);
        return found;
    }
    for (int k = 0; k < v->n_in && v->kind == RD_VALUE_MAP && depth > 0; k++)
        if (v->in[k] >= 0 && rd_points_of(g, g->value[v->in[k]].axes) == rd_points_of(g, v->axes))
            found |= side_by_side(g, &g->value[v->in[k]], depth - 1);
    return found;
}

/* Stores v, an operand of a product, as an array: batch dims first, then rows (m or n), then k
 * innermost. If its sources are contiguous along rows instead, k goes outside: writing a tall
 * matrix transposed would take as long as multiplying it. Values in memory stay. False: no
 * memory. `near` are the axes along which its sources are contiguous; v->whole: it is stored,
 * with the dims v->dim. */
static bool keep_map(rd_graph *g, rd_value *v, const product *p)
{
    enum { DEPTH = 8 };
    const rd_set near       = side_by_side(g, v, DEPTH);
    const bool   transposed = near & (p->m | p->n) && !(near & p->k);
    const rd_set group[3]   = { p->batch, transposed ? p->k : p->m | p->n,
                              transposed ? p->m | p->n : p->k };

    if (v->kind == RD_VALUE_READ || rd_is_materialised_kind(v))
        return true;
    v->is_whole_array = true;
    v->dim            = rd_pool_get(g->pool, (size_t)(g->n_axis + 1) * sizeof *v->dim);
    for (int k = 0; v->dim && k < 3; k++)
        for (int a = 0; a < g->n_axis; a++)
            if (rd_in(v->axes & group[k], a))
                v->dim[v->n_dim++] = a;
    return v->dim;
}

/* Makes an operand of a product such that a library can read it in memory: a READ with gaps is
 * replaced by a copy, an elementwise operation is stored. copy: by value, its copy that
 * products share, -1: none yet. False: no memory. rows_lie_apart(): it is a READ with gaps;
 * keep_copy() stores the copy in the order of its source's memory, and keep_map() an operation. */
static bool keep_operand(rd_graph *g, int32_t *operand, const product *p, int32_t *copy)
{
    const int read = *operand;

    if (!rows_lie_apart(&g->value[read], p))
        return keep_map(g, &g->value[read], p);
    if (copy[read] < 0 && ((copy[read] = rd_graph_add_copy(g, read, /*ops=*/0)) < 0 ||
                           !keep_copy(g, &g->value[copy[read]], &g->value[read].at[0])))
        return false;
    *operand = copy[read];
    return true;
}

/* True if there is a matrix library for the graph's device. If there is none, but one could be
 * installed, the graph's notes for explain say so; *memory is false if there was no memory for
 * that. `why` is a sentence on what could be installed, NULL: nothing. */
static bool has_library(rd_graph *g, bool *memory)
{
    const rd_backend_table *backend = g->device ? g->device : &rd_backend_cpu;
    const char             *why     = NULL;
    const bool              has     = backend->multiplies && backend->multiplies(&why);
    rd_text                 line    = { 0 };

    *memory = true;
    if (has || !why)
        return has;
    rd_text_add(&line, "products run as loops: %s\n", why);
    *memory = rd_graph_say(g, &line);
    return false;
}

/* True for a sum of products that a matrix library could compute; p gets its factors and axes. It
 * is large, has the axes of a matrix product, and factors and result are in memory or may be
 * stored. */
static bool is_product(const rd_graph *g, const rd_value *v, product *p)
{
    return has_operands(g, v, p) && find_axes(v, p) && is_large(g, p) && may_be_stored(g, v, p) &&
           may_be_operand(g, p->a, p) && may_be_operand(g, p->b, p);
}

/* Marks the matrix products among the first n values, which a library shall compute (apart: they
 * share no loop), and stores their operands. copy: by value, its copy, -1. False: no memory.
 * Copies are appended behind the n values, so the graph is then sorted operands first again. */
static bool mark_products(rd_graph *g, int32_t *copy, int n)
{
    bool memory;

    for (int i = 0; i < n; i++) {
        product  p;
        int32_t *in = g->value[i].in;

        if (!is_product(g, &g->value[i], &p))
            continue;
        if (!has_library(g, &memory)) /* asked last, because the answer may load the library */
            return memory;
        g->value[i].by_library = true;
        if (!keep_operand(g, &in[0], &p, copy) || !keep_operand(g, &in[1], &p, copy))
            return false;
    }
    return g->n_value == n || rd_graph_sort_results(g);
}

/* Marks all products of two matrices that a library shall compute (apart), and stores their
 * operands.  False: no memory. */
bool rd_separate_products(rd_graph *g)
{
    const int n    = g->n_value;
    int32_t  *copy = rd_pool_get(g->pool, (size_t)n * sizeof *copy);

    if (!copy)
        return false;
    memset(copy, -1, (size_t)n * sizeof *copy);
    return mark_products(g, copy, n);
}
