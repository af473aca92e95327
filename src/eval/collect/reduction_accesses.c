/* reduction_accesses.c - finds the memory accesses of a reduction: follows its operands through
 * maps and other reductions down to what is read.
 *
 * Shared values are reached along many paths: in x, x x, (x x) (x x), ... there are 2^n paths.
 * So equal accesses are counted and not listed.  The accesses below a stored value are cached.
 * combine.c asks for the heaviest access, for what holds of all accesses, or for sums of costs
 * times counts, so counting changes no decision.
 *
 * An access is how one operand is read: elements to step per index of each axis.  Gathered axes
 * are those on which a looked-up index depends.  `times` counts equal accesses.
 *
 * Fields. An operand in[k] of -1 is not there. */
#include "eval/collect/reduction_accesses.h"
#include <string.h>

enum { MAX_DEPTH = 8 };

/* ---- The list -------------------------------------------------------------------------------- */
/* The bucket of the hash table for accesses with these strides, gathered axes and bytes. */
static int32_t *bucket_of(rd_fold_reads *o, const rd_own_access *a)
{
    uint64_t hash = a->gathered * 31 + (uint64_t)a->bytes;

    for (int x = 0; x < o->graph->n_axis; x++)
        hash = (hash + (uint64_t)a->coef[x]) * 0x9e3779b97f4a7c15u;
    return &o->bucket[(hash >> 32) % RD_ACCESS_BUCKETS];
}

/* True if two accesses have the same strides, gathered axes and bytes; only their counts may
 * differ. */
static bool are_alike(const rd_fold_reads *o, const rd_own_access *a, const rd_own_access *b)
{
    return a->bytes == b->bytes && a->gathered == b->gathered &&
           !memcmp(a->coef, b->coef, (size_t)o->graph->n_axis * sizeof *a->coef);
}

/* Adds an access to the list, or to the count of an equal one; false: no memory. */
static bool add_access(rd_fold_reads *o, const rd_own_access *a)
{
    int32_t *bucket = bucket_of(o, a);

    for (int32_t k = o->access ? *bucket : 0; k; k = o->access[k - 1].next)
        if (are_alike(o, &o->access[k - 1], a)) {
            o->access[k - 1].times += a->times;
            return true;
        }
    if (!o->access || o->n == o->room) {
        int            room = o->room ? 2 * o->room : 8;
        rd_own_access *more =
            rd_pool_grow(o->graph->pool, o->access, (size_t)o->n, (size_t)room, sizeof *more);

        if (!more)
            return false;
        o->access = more;
        o->room   = room;
    }
    o->access[o->n]      = *a;
    o->access[o->n].next = *bucket;
    *bucket              = ++o->n;
    return true;
}

/* Adds one subscript, times its dim's stride, to the access's strides by axis.  A gathered index
 * adds no stride, but all axes on which it depends to a.gathered. */
static void add_subscript(const rd_fold_reads *o, rd_own_access *a, const rd_subscript *at,
                          int64_t stride)
{
    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis >= 0)
            a->coef[at->term[t].axis] += stride * at->term[t].coef;
        else
            a->gathered |= o->graph->value[at->term[t].value].axes;
}

/* ---- Reads ----------------------------------------------------------------------------------- */
/* Adds the access of an array that is not looked through, v itself or what v reads.  Its strides
 * are those of C order over its dims; a dense array is read at one flat index. */
static bool access_storage(rd_fold_reads *o, const rd_value *v)
{
    const rd_value *t      = v->kind == RD_VALUE_READ ? &o->graph->value[v->target] : v;
    rd_own_access   a      = { .bytes = rd_dtype_size(v->type), .times = 1 };
    int64_t         stride = 1;

    for (int d = t->n_dim; d-- > 0 && !t->dense; stride *= o->graph->axis[t->dim[d]].extent) {
        rd_subscript self = { .n_term = 1, .term = { { t->dim[d], -1, 1 } } };

        add_subscript(o, &a, t == v ? &self : &v->at[d], stride);
    }
    if (t->dense)
        add_subscript(o, &a, &v->at[0], 1);
    return add_access(o, &a);
}

/* Adds the access of a choice between the parts of a concatenation, as that of an array in C order
 * of the concatenation's extents. */
static bool access_chosen(rd_fold_reads *o, const rd_value *v)
{
    rd_own_access a      = { .bytes = rd_dtype_size(v->type), .times = 1 };
    int64_t       stride = 1;

    o->seams = true;
    for (int d = v->n_at; d-- > 0; stride *= v->expr->extent[d])
        add_subscript(o, &a, &v->at[d], stride);
    return add_access(o, &a);
}

/* Adds the access of a leaf, or of a coordinate, which has 0 bytes because it is computed. */
static bool access_place(rd_fold_reads *o, const rd_value *v)
{
    rd_own_access a = { .bytes = v->kind == RD_VALUE_COORD ? 0 : rd_dtype_size(v->type),
                        .times = 1 };

    add_subscript(o, &a, &v->at[0], 1);
    return add_access(o, &a);
}

/* True for a reduction that each element of is used RD_OFTEN times or more along kept axes, such as
 * the inner one of two matrix-vector products.  Its elements are computed once each, so it is
 * stored somewhere, whatever else reads it. */
static bool is_fold_used_again(const rd_fold_reads *o, const rd_value *v)
{
    const rd_value *t    = v->kind == RD_VALUE_READ ? &o->graph->value[v->target] : v;
    rd_set          axes = 0;

    for (int d = 0; d < t->n_dim; d++)
        axes |= t == v ? rd_bit(t->dim[d]) : rd_subscript_axes(o->graph, &v->at[d]);
    return t->kind == RD_VALUE_REDUCE && !t->dense &&
           rd_points_of(o->graph, o->space & ~o->value->reduced & ~axes) >= RD_OFTEN;
}

/* True for a product of two matrices that a library computes.  It becomes an array with
 * contiguous rows before anything else is computed from it. */
static bool is_product_of_matrices(const rd_fold_reads *o, const rd_value *v)
{
    const rd_value *t = v->kind == RD_VALUE_READ ? &o->graph->value[v->target] : v;

    return !t->dense && rd_is_stored_product(o->graph, t);
}

/* True if v, or what it reads, is certainly stored as an array, so that it is not looked
 * through. */
static bool is_array(const rd_fold_reads *o, const rd_value *v)
{
    return is_fold_used_again(o, v) || is_product_of_matrices(o, v);
}

/* Finds the accesses below value t, as if t itself were reduced, and caches them by depth.  They do
 * not depend on the readers of t.  NULL: no memory. */
static const rd_looked *look_at(const rd_fold_reads *o, const rd_value *t)
{
    rd_looked   **first = &o->looked[t - o->graph->value], *l = *first;
    rd_fold_reads inner = {
        .graph = o->graph, .value = t, .depth = o->depth + 1, .looked = o->looked
    };

    while (l && l->depth != inner.depth)
        l = l->next;
    if (l)
        return l;
    if (!rd_find_accesses(&inner) || !(l = rd_pool_get(o->graph->pool, sizeof *l)))
        return NULL;
    *l = (rd_looked){ .depth = inner.depth, .n = inner.n, .access = inner.access, .next = *first };
    return *first = l;
}

/* Translates an access below value t to the place where t is read: strides along t's dims become
 * those of the subscripts there.  Axes that are no dims of t are kept. */
static rd_own_access translated(const rd_fold_reads *o, const rd_own_access *from,
                                const rd_value *t, const rd_value *read)
{
    rd_own_access a   = { .bytes = from->bytes, .times = from->times };
    rd_set        own = 0;

    for (int d = 0; d < t->n_dim; d++) {
        own |= rd_bit(t->dim[d]);
        add_subscript(o, &a, &read->at[d], from->coef[t->dim[d]]);
        if (rd_in(from->gathered, t->dim[d]))
            a.gathered |= rd_subscript_axes(o->graph, &read->at[d]);
    }
    for (int x = 0; x < o->graph->n_axis; x++)
        if (!rd_in(own, x))
            a.coef[x] += from->coef[x];
    return a;
}

/* Adds the accesses below a stored value, at the places where the value is read.  Whether it is
 * stored depends on its other readers, which must not matter here.  An array for certain, or one
 * too deep, counts as storage. */
static bool access_through(rd_fold_reads *o, const rd_value *read)
{
    const rd_value  *t = &o->graph->value[read->target];
    const rd_looked *below;

    if (t->dense || t->kind == RD_VALUE_JOIN || t->chosen || o->depth == MAX_DEPTH ||
        is_array(o, read))
        return access_storage(o, read);
    if (!(below = look_at(o, t)))
        return false;
    for (int i = 0; i < below->n; i++) {
        const rd_own_access a = translated(o, &below->access[i], t, read);

        if (!add_access(o, &a))
            return false;
    }
    return true;
}

/* ---- Traversal ------------------------------------------------------------------------------- */
/* True for a value that has no operands to follow: a read, a coordinate, a concatenation's storage,
 * or what is taken for it. */
static bool is_source(const rd_value *v)
{
    return v->chosen || v->kind == RD_VALUE_READ || v->kind == RD_VALUE_COORD ||
           v->kind == RD_VALUE_JOIN;
}

/* Adds the accesses of a source by its kind; target >= 0: it reads another value, not a leaf. */
static bool access_source(rd_fold_reads *o, const rd_value *v)
{
    return v->chosen                  ? access_chosen(o, v)
           : v->kind == RD_VALUE_JOIN ? access_storage(o, v)
           : v->target >= 0           ? access_through(o, v)
                                      : access_place(o, v);
}

/* Pushes the operands that were not visited yet; returns the new height of the stack. */
static int push_operands(const rd_value *v, bool *seen, int32_t *stack, int top)
{
    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0 && !seen[v->in[k]]) {
            seen[v->in[k]] = true;
            stack[top++]   = v->in[k];
        }
    return top;
}

/* Fills in the accesses of o->value by a depth-first traversal of its operands, and then the axes
 * along which each has a stride.  False: no memory. */
bool rd_find_accesses(rd_fold_reads *o)
{
    size_t   n     = (size_t)o->graph->n_value;
    int32_t *stack = rd_pool_get(o->graph->pool, (n + 3) * sizeof *stack);
    bool    *seen  = rd_pool_get(o->graph->pool, n);

    if (!stack || !seen)
        return false;
    for (int top = push_operands(o->value, seen, stack, 0); top;) {
        const rd_value *v = &o->graph->value[stack[--top]];

        if (!is_source(v) && !is_array(o, v))
            top = push_operands(v, seen, stack, top);
        else if (is_source(v) ? !access_source(o, v) : !access_storage(o, v))
            return false;
    }
    for (int i = 0; i < o->n; i++)
        for (int a = 0; a < o->graph->n_axis; a++)
            if (o->access[i].coef[a])
                o->access[i].axes |= rd_bit(a);
    return true;
}
