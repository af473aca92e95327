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
/* The bucket of the hash table for accesses like `a`: it holds 1 + the index of the last such
 * access in the list, 0: none. */
static int32_t *bucket_of(rd_fold_reads *o, const rd_own_access *a)
{
    uint64_t hash = a->gathered * 31 + (uint64_t)a->bytes;

    for (int x = 0; x < o->graph->n_axis; x++)
        hash = (hash + (uint64_t)a->coef[x]) * 0x9e3779b97f4a7c15u;
    return &o->bucket[(hash >> 32) % RD_ACCESS_BUCKETS];
}

/* True if two accesses read in the same way: same strides, gathered axes and bytes. Only their
 * counts (times) may differ. */
static bool are_alike(const rd_fold_reads *o, const rd_own_access *a, const rd_own_access *b)
{
    return a->bytes == b->bytes && a->gathered == b->gathered &&
           !memcmp(a->coef, b->coef, (size_t)o->graph->n_axis * sizeof *a->coef);
}

/* Adds an access to the list, or its count to that of an equal one, as shared operands are reached
 * along very many paths. False: no memory. bucket_of() is the head of the hash list of such
 * accesses, as a number from 1 on, 0: empty; `next` links them. `times` is the count, o->room
 * the room in o->access. */
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

/* Adds a subscript along one dim, times the dim's stride, to the access's strides by axis
 * (a->coef). A gathered index has no stride; the axes on which it depends are added to
 * a->gathered. */
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
/* Adds the access of a stored array, v itself or the one that READ v reads, in C order over its
 * dims. A dense array is read at one flat index. False: no memory. t is the array, t->dim its
 * dims, and at[d] where it is read along dim d; `stride` is that of dim d. */
static bool access_storage(rd_fold_reads *o, const rd_value *v)
{
    const rd_value *t      = v->kind == RD_VALUE_READ ? &o->graph->value[v->target] : v;
    rd_own_access   a      = { .bytes = rd_dtype_size(v->type), .times = 1 };
    int64_t         stride = 1;

    for (int d = t->n_dim; d-- > 0 && !t->dense; stride *= o->graph->axis[t->dim[d]].extent) {
        /* the dim's own index */
        rd_subscript self = { .n_term = 1, .term = { { t->dim[d], /*value=*/-1, /*coef=*/1 } } };

        add_subscript(o, &a, t == v ? &self : &v->at[d], stride);
    }
    if (t->dense)
        add_subscript(o, &a, &v->at[0], /*stride=*/1);
    return add_access(o, &a);
}

/* Adds the access of a choice by index between the parts of a concatenation, as if it read the
 * stored concatenation, an array in C order. So bits are those of the stored one. False: no
 * memory. v->at are the subscripts at which the choice is read. o->seams: the fold reads parts
 * that meet. */
static bool access_chosen(rd_fold_reads *o, const rd_value *v)
{
    rd_own_access a      = { .bytes = rd_dtype_size(v->type), .times = 1 };
    int64_t       stride = 1;

    o->seams = true;
    for (int d = v->n_at; d-- > 0; stride *= v->expr->extent[d])
        add_subscript(o, &a, &v->at[d], stride);
    return add_access(o, &a);
}

/* Adds the access of a leaf, or of a loop index used as a value (COORD), which has 0 bytes because
 * it is computed. False: no memory. */
static bool access_place(rd_fold_reads *o, const rd_value *v)
{
    rd_own_access a = { .bytes = v->kind == RD_VALUE_COORD ? 0 : rd_dtype_size(v->type),
                        .times = 1 };

    add_subscript(o, &a, &v->at[0], /*stride=*/1);
    return add_access(o, &a);
}

/* True for a reduction each of whose results this one uses RD_OFTEN times or more along kept axes,
 * such as the inner one of two matrix-vector products. It is computed once and stored, whatever
 * else reads it. v: the reduction or a READ of it. `axes` are those along which it varies for
 * this reduction, and o->space its loop axes. */
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

/* Finds the accesses below value t, as if t itself were reduced, and keeps them by depth for all
 * readers of t, on which they do not depend. NULL: no memory. o->looked has for each value a
 * list of what was found, by `depth`, which counts the values looked through. */
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

/* Translates `from`, an access below value t, to where READ `read` reads t: strides along t's dims
 * become those of the subscripts there. Axes that are no dims of t keep their strides. `times`,
 * the count of equal accesses, and the bytes of an element stay. */
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

/* Adds the accesses below the value that READ `read` reads. Whether that value is stored depends
 * on its other readers, which must not matter for bits. So it is looked through, unless it is
 * certainly an array, counts as one (chosen), or lies too deep. False: no memory. `taken_as_array`:
 * it counts as an array; is_array(): it certainly is one. MAX_DEPTH limits the recursion;
 * translated() rewrites an access from t's axes to those of the read. */
static bool access_through(rd_fold_reads *o, const rd_value *read)
{
    const rd_value  *t = &o->graph->value[read->target];
    const rd_looked *below;

    if (t->dense || t->kind == RD_VALUE_JOIN || t->taken_as_array || o->depth == MAX_DEPTH ||
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
/* True for a value at which the search ends: a READ, a loop index (COORD), a concatenation's
 * storage, or a choice that counts as such. */
static bool is_source(const rd_value *v)
{
    return v->taken_as_array || v->kind == RD_VALUE_READ || v->kind == RD_VALUE_COORD ||
           v->kind == RD_VALUE_JOIN;
}

/* Adds the accesses of a source (see is_source()) by its kind. target >= 0: a READ of another
 * value, not of a leaf. False: no memory. */
static bool access_source(rd_fold_reads *o, const rd_value *v)
{
    return v->taken_as_array          ? access_chosen(o, v)
           : v->kind == RD_VALUE_JOIN ? access_storage(o, v)
           : v->target >= 0           ? access_through(o, v)
                                      : access_place(o, v);
}

/* Pushes the operands of v that were not visited yet on the stack of height `top`; returns its new
 * height. */
static int push_operands(const rd_value *v, bool *seen, int32_t *stack, int top)
{
    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0 && !seen[v->in[k]]) {
            seen[v->in[k]] = true;
            stack[top++]   = v->in[k];
        }
    return top;
}

/* Fills in the accesses of o->value, a reduction, by a depth-first search of its operands, then
 * the set of axes along which each has a stride. False: no memory. The search ends at sources,
 * and at values that are certainly stored as arrays (is_array()). */
bool rd_find_accesses(rd_fold_reads *o)
{
    size_t   n     = (size_t)o->graph->n_value;
    int32_t *stack = rd_pool_get(o->graph->pool, (n + 3) * sizeof *stack);
    bool    *seen  = rd_pool_get(o->graph->pool, n);

    if (!stack || !seen)
        return false;
    for (int top = push_operands(o->value, seen, stack, /*top=*/0); top;) {
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
