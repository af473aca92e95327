/* pack.c - packs operands of pairwise sums: copies those that are not contiguous along the lane
 * axis, such as coordinates of points.  Each is read again for every partner (Goto and van de
 * Geijn, 2008, "Anatomy of High-Performance Matrix Multiplication", pack blocks of a matrix for
 * the same reason).  A copy is a materialised map, which placement puts somewhere.  No bit
 * changes.
 *
 * Fields. An operand in[k] of -1 is not there. A fold's lane_axis is the axis with contiguous
 * elements for vectors, -1: none. A term of a subscript with `axis` -1 is a gathered index, the
 * value of an array. */
#include "eval/ir.h"
#include <stdlib.h>
#include <string.h>

/* Cost of loading an element that is not contiguous, in operations. */
static const float APART = 2;
/* Limits that keep the number of stored values of a plan small. */
enum { DEPTH = 8, MOST_COPIES = 64 };

/* The state of the pass. */
typedef struct packing {
    rd_graph *g;
    int32_t   n, copies;    /* number of values before the pass; copies made */
    int32_t  *copy;         /* by value: its copy, -1 */
    int32_t  *stack, *seen; /* seen: number + 1 of the last reduction that came here */
} packing;

/* The coefficient (stride) of an axis in a subscript; 0 if a term is a gathered index, as packing
 * does not help there. */
static int64_t coefficient(const rd_subscript *at, int axis)
{
    int64_t coef = 0;

    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis < 0)
            return 0; /* gathered */
        else if (at->term[t].axis == axis)
            coef += at->term[t].coef;
    return coef;
}

/* True for an elementwise operation that is computed in its readers and not stored. */
static bool is_inline_map(const rd_value *v)
{
    return v->kind == RD_VALUE_MAP && !rd_is_materialised_kind(v);
}

/* True if `axis` goes along another dim than the last of the stored array that is read, so that
 * neighbours along it are not contiguous. An example are rows that are normalised before each is
 * paired with each other. False for a concatenation (JOIN), and if subscripts and dims do not go
 * one by one: a dense array is read by one flat index. */
static bool is_array_strided_along(const rd_graph *g, const rd_value *read, int axis)
{
    const rd_value *array   = &g->value[read->target]; /* its last dim is contiguous */
    bool            strided = false;

    if (array->dense || array->kind == RD_VALUE_JOIN || array->n_dim != read->n_at)
        return false;
    for (int d = 0; d < array->n_dim; d++)
        if (coefficient(&read->at[d], axis))
            strided =
                rd_points_of(g, rd_bit(array->dim[array->n_dim - 1])) > 1 && d < array->n_dim - 1;
    return strided;
}

/* True for a READ, or an elementwise operation on READs, whose elements are not contiguous along
 * `axis`. A leaf's stride is known; an array between stages (target >= 0) is judged by its dims.
 * `depth` bounds the recursion. */
static bool is_strided_along(const rd_graph *g, const rd_value *v, int axis, int depth)
{
    bool strided = false;

    if (v->kind == RD_VALUE_READ && v->target >= 0)
        return !rd_is_materialised_kind(v) && is_array_strided_along(g, v, axis);
    if (v->kind == RD_VALUE_READ)
        return !rd_is_materialised_kind(v) && llabs(coefficient(&v->at[0], axis)) > 1;
    for (int k = 0; k < v->n_in && is_inline_map(v) && depth > 0 && !strided; k++)
        strided = v->in[k] >= 0 && is_strided_along(g, &g->value[v->in[k]], axis, depth - 1);
    return strided;
}

/* True if the reader reads each element of the value at least RD_OFTEN times: it has so many
 * points along axes along which the value does not vary. */
static bool is_read_often(const rd_graph *g, int reader, int value)
{
    return rd_points_of(g, rd_space(&g->value[reader]) & ~g->value[value].axes) >= RD_OFTEN;
}

/* The number of the copy of a READ, which is made at the first call, so that all readers share it;
 * -1: no memory. */
static int copy_of(packing *p, int read)
{
    if (p->copy[read] < 0 && (p->copy[read] = rd_graph_add_copy(p->g, read, APART)) >= 0)
        p->copies++;
    return p->copy[read];
}

/* Replaces an operand that is a READ by its copy. An elementwise operation is packed by storing
 * it. Placement decides that, so here it only becomes dearer to inline, by the cost of a scattered
 * load, once. False: no memory. p->copy[x] is the copy, or x itself for an operation, -1: none
 * yet; APART is that cost. */
static bool pack_operand(packing *p, int32_t *operand)
{
    const int x = *operand;

    if (p->g->value[x].kind == RD_VALUE_READ)
        return (*operand = copy_of(p, x)) >= 0;
    if (p->copy[x] < 0)
        p->g->value[x].ops += APART;
    p->copy[x] = x;
    return true;
}

/* Packs those operands of `reader`, a value below reduction number `fold`, that are read often and
 * not contiguous along the fold's lane axis (along which SIMD lanes lie). Other inlined operations
 * are pushed on the stack (*n is its height), as their operands may want packing, too. False: no
 * memory. Values from p->n on are copies that the pass has made; seen[x] is fold + 1 if x was
 * visited for this fold. */
static bool pack_operands_of(packing *p, int fold, int reader, int *n)
{
    rd_graph *g    = p->g;
    const int axis = g->value[fold].combine->lane_axis;

    for (int k = 0; k < g->value[reader].n_in; k++) {
        const int x = g->value[reader].in[k];

        if (x < 0 || x >= p->n || p->seen[x] == fold + 1) /* the last: visited for this fold */
            continue;
        if (p->copies < MOST_COPIES && is_read_often(g, reader, x) &&
            is_strided_along(g, &g->value[x], axis, DEPTH)) {
            if (!pack_operand(p, &g->value[reader].in[k]))
                return false;
        } else if (is_inline_map(&g->value[x])) {
            p->seen[x]       = fold + 1;
            p->stack[(*n)++] = x;
        }
    }
    return true;
}

/* Packs all operands below one reduction, by a depth-first traversal. p->stack has values whose
 * operands are still to be packed; pack_operands_of() adds to it. False: no memory. */
static bool pack_operands(packing *p, int fold)
{
    int n = 0;

    p->stack[n++] = fold;
    while (n) {
        const int reader = p->stack[--n];

        if (!pack_operands_of(p, fold, reader, &n))
            return false;
    }
    return true;
}

/* True for a reduction that loops compute (not a library: by_library) with its SIMD lanes
 * along a kept axis: each lane is another result, as in a sum for each pair. */
static bool has_lanes(const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE && !v->by_library && v->combine->lane_axis >= 0 &&
           rd_in(v->axes, v->combine->lane_axis);
}

/* Packs operands of reductions whose SIMD lanes lie along a kept axis: copies those that are read
 * often and are not contiguous along it, as GEMM packs blocks of a matrix. False: no memory.
 * has_lanes() finds such reductions. p.copy[v] is the copy of value v, -1: none; after copies
 * were added, the graph is sorted again. */
bool rd_pack_operands(rd_graph *g)
{
    const int n = g->n_value;
    packing   p = { .g     = g,
                    .n     = n,
                    .copy  = rd_pool_get(g->pool, (size_t)n * sizeof *p.copy),
                    .stack = rd_pool_get(g->pool, (size_t)n * sizeof *p.stack),
                    .seen  = rd_pool_get(g->pool, (size_t)n * sizeof *p.seen) };

    if (!p.copy || !p.stack || !p.seen)
        return false;
    memset(p.copy, -1, (size_t)n * sizeof *p.copy);
    for (int i = 0; i < n; i++)
        if (has_lanes(&g->value[i]) && !pack_operands(&p, i))
            return false;
    return g->n_value == n || rd_graph_sort_results(g);
}
