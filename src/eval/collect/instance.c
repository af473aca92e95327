/* instance.c - makes the values for the uses of one expression: inlined at each place, or
 * materialised once and read.
 *
 * A use is a request for an expression at subscripts.  Inlined means computed anew at each such
 * place; materialised means stored as an array that all uses read. */
#include "eval/collect/collect.h"
#include <math.h>
#include <string.h>

/* ---- Maps ------------------------------------------------------------------------------------ */
/* Makes e = a * b + c (or c + a * b) one operator, fma(a, b, c), of value v, by requesting a, b
 * and c at `at`. False on failure. */
static bool use_contracted(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    const int product = rd_product_of(e->in[0]) ? 0 : 1;
    int32_t  *in      = rd_use_factors(c, v, e->in[product], at);

    if (!in)
        return false;
    in[2]                 = rd_use_new(c, e->in[1 - product], at);
    c->graph->value[v].op = RD_OP_fma;
    return in[2] >= 0;
}

/* True if e is a choice between the parts of a concatenation that stands for the stored array:
 * combine trees of its readers are decided as if it were an array in C order. */
static bool is_chosen(const rd_collector *c, const rd_expr *e)
{
    for (int32_t k = 0; k < c->n_chosen; k++)
        if (c->chosen[k] == e)
            return true;
    return false;
}

/* Marks value v, such a choice (see is_chosen()), and keeps the subscripts at which it is read,
 * for the combine trees of its readers. False: no memory. */
static bool note_place(rd_collector *c, int v, const rd_expr *e, const rd_subscript *at)
{
    rd_subscript *own = rd_subscripts(c, e->rank);

    if (own)
        memcpy(own, at, (size_t)e->rank * sizeof *own);
    c->graph->value[v].taken_as_array = true;
    c->graph->value[v].n_at           = e->rank;
    c->graph->value[v].at             = own;
    return own;
}

/* Makes the value of an elementwise operation or a user's function at subscripts, as an fma if it
 * is a * b + c; returns its number or -1. A user's function is assumed to cost 10 operations.
 * is_chosen(): e chooses between parts of a concatenation, and note_place() notes where it is
 * read. rd_contracts(): it is such an fma. */
static int map_at(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int v = rd_value_new(c, e->kind == RD_EXPR_MAP ? RD_VALUE_MAP : RD_VALUE_CALL, e->type, e);

    if (v < 0)
        return -1;
    c->graph->value[v].op  = e->op;
    c->graph->value[v].ops = e->kind == RD_EXPR_MAP ? rd_op_table[e->op].cost : 10;
    if (is_chosen(c, e) && !note_place(c, v, e, at))
        return -1;
    if (rd_contracts(e))
        return use_contracted(c, v, e, at) ? v : -1;
    return rd_use_operands(c, v, e, at) ? v : -1;
}

/* Materialises an elementwise operation: stores it as an array with new loop axes, and answers its
 * uses (readers' requests) by reads. Adds a line for explain. False on failure. map_at() makes
 * the value at the new axes. */
static bool map_whole(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int32_t       dim[RD_MAX_RANK];
    rd_subscript *at = rd_own_axes(c, e, dim);
    int           v  = at ? map_at(c, e, at) : -1;
    char          shape[RD_SHAPE_TEXT];

    rd_text_add(&c->why, "%s %s is stored: its elements are read at several places each\n",
                e->kind == RD_EXPR_MAP ? rd_op_table[e->op].name : "call",
                rd_shape_text(e->rank, e->extent, shape));
    return v >= 0 && rd_set_dims(c, v, e->rank, dim) && rd_answer_reads(c, e, v, list, n);
}

/* True if several uses read e at different indices, such as both points of a pair (e[i] and e[j]).
 * A loop nest that they share would compute each element 16 times or more, so storing pays off. */
static bool is_read_crosswise(const rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    enum { MANY = 16 };

    return n > 1 && rd_uses_span(c, e, list, n) >= MANY * rd_expr_points(e);
}

/* True if every use (reader's request) reads dim `dim` of e index by index along a loop axis. A
 * dim of extent 1 always counts. */
static bool all_read_along(const rd_collector *c, const rd_expr *e, int dim, const int32_t *list,
                           int n)
{
    for (int k = 0; k < n && e->extent[dim] > 1; k++)
        if (rd_subscript_pure(c->axes, &rd_use_of(c, list[k])->at[dim]) < 0)
            return false;
    return true;
}

/* True if all uses (readers' requests) go along the first dims of e together and differ only in
 * the dims behind those, such as windows within each row. The row of these dims must fit in a
 * cache and be worth a loop. It is then stored inside the loops over the first dims, near its
 * readers. all_read_along(): all uses go along this dim in the same way. */
static bool is_in_rows(const rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    enum { SHORTEST = 64, LONGEST = 32768 };
    double row = rd_expr_points(e);
    int    dim = 0;

    while (dim < e->rank && all_read_along(c, e, dim, list, n))
        row /= (double)e->extent[dim++];
    if (dim == 0 || row < SHORTEST || row > LONGEST) /* row: elements of the dims left */
        return false;
    while (dim < e->rank && !all_read_along(c, e, dim, list, n))
        dim++;
    return dim == e->rank;
}

/* Returns the expression below views and reshapes. */
static const rd_expr *seen_through(const rd_expr *x)
{
    while (x->kind == RD_EXPR_VIEW || x->kind == RD_EXPR_RESHAPE)
        x = x->in[0];
    return x;
}

/* The value of x if it is an i64 constant, perhaps broadcast; else `otherwise`. */
static int64_t number_or(const rd_expr *x, int64_t otherwise)
{
    x = seen_through(x);
    return x->kind == RD_EXPR_NUMBER && x->type == RD_I64 ? x->as.number->value.i64 : otherwise;
}

/* True if a subscript's term is a gathered index that is computed, not read from memory: the loop
 * index, moved and clamped, as rolled and padded arrays are read (see is_clamped_place()). */
static bool is_at_place(const rd_collector *c, const rd_subscript_term *term)
{
    const rd_value *v = term->axis < 0 ? &c->graph->value[term->value] : NULL;

    return v && v->op == RD_OP_cast && seen_through(v->expr)->kind != RD_EXPR_LEAF;
}

/* The share of a use's points for which an element of e has to be computed, if it is read at
 * clamped indices (as rolled and padded arrays are). Loops are split there, and outside the
 * array's range a choice takes its other side. 0: e is read at indices from memory, which are not
 * known. term->axis < 0: term->value is a gathered index, and is_at_place() says that it is such
 * a clamped index. rd_expr_points() counts the places it is read at. */
static double share_at_places(const rd_collector *c, const rd_expr *e, const rd_expr_use *d)
{
    double share = 1;

    for (int a = 0; a < e->rank; a++)
        for (int t = 0; t < d->at[a].n_term; t++) {
            const rd_subscript_term *term = &d->at[a].term[t];

            if (term->axis >= 0)
                continue;
            if (!is_at_place(c, term))
                return 0;
            share *=
                fmin(1, (double)e->extent[a] / rd_expr_points(c->graph->value[term->value].expr));
        }
    return share;
}

/* True if storing e and reading it costs fewer operations than computing it at each of its n uses.
 * An operation on k arrays that is gathered from needs k gathers in place of one: the other k - 1
 * count as reads. Left: operations of repeated evaluations, and further gathers. Right: writing
 * each element and reading it, at the low price of a cache if rows are stored near their readers
 * (near). Reads are counted once an evaluation, but at most n times an element. */
static bool is_cheaper_stored(const rd_collector *c, const rd_seen *seen, const int32_t *list,
                              int n)
{
    const bool   near        = is_in_rows(c, seen->expr, list, n);
    const double write       = near ? RD_PRICE_NEAR : RD_PRICE_WRITE;
    const double read        = near ? RD_PRICE_NEAR : RD_PRICE_READ;
    const double points      = rd_expr_points(seen->expr);
    double       evaluations = 0, gathers = 0;

    for (int k = 0; k < n; k++) {
        const rd_expr_use *d     = rd_use_of(c, list[k]);
        const double       share = share_at_places(c, seen->expr, d);

        evaluations += rd_use_points(c, d) * (share > 0 ? share : 1);
        if (seen->reads > 1 && share == 0)
            gathers += (seen->reads - 1) * rd_use_points(c, d);
    }
    return seen->ops * (evaluations - points) + RD_PRICE_READ * gathers >
           points * write + fmin(evaluations, points * n) * read;
}

/* True for a cast of bools or ints to a wider int type that holds all their values. It is never
 * stored: its operand is, which takes less memory. */
static bool only_widens(const rd_expr *e)
{
    const rd_dtype type = e->n_in == 1 ? e->in[0]->type : e->type;
    const rd_kind  kind = rd_dtype_kind(e->type), from = rd_dtype_kind(type);
    /* to int from any int or bool; to unsigned only from unsigned or bool */
    const bool ints = (kind == RD_KIND_INT && from != RD_KIND_FLOAT && from != RD_KIND_COMPLEX) ||
                      (kind == RD_KIND_UINT && (from == RD_KIND_UINT || from == RD_KIND_BOOL));

    return e->kind == RD_EXPR_MAP && e->op == RD_OP_cast && ints &&
           rd_dtype_size(type) < rd_dtype_size(e->type);
}

/* True for i64 indices that follow from one loop index by adding constants and clamping to
 * constants, such as min(i + 1, n - 1). They are never stored, so that loops can be split where
 * they are clamped. number_or() is the value of a constant, else its second argument: equal
 * answers for two mean a constant. */
static bool is_place(const rd_expr *e)
{
    while (e->kind == RD_EXPR_MAP && e->type == RD_I64 &&
           (e->op == RD_OP_add || e->op == RD_OP_sub || e->op == RD_OP_minimum ||
            e->op == RD_OP_maximum) &&
           number_or(e->in[1], -1) == number_or(e->in[1], 0)) /* it is a constant */
        e = seen_through(e->in[0]);
    return e->kind == RD_EXPR_COORD;
}

/* True if e is made of indices and constants alone, by a few operations, such as a mask i != j of
 * pairs. To read it would take longer than to compute it, and it would hide from loops what it
 * compares. */
static bool is_of_places(const rd_seen *seen)
{
    static const double FEW = 8;

    return seen->reads == 0 && seen->ops <= FEW;
}

/* Makes the values of an elementwise operation. Normally it is inlined: computed at each use
 * (reader's request). If elements would be computed more than once (windows, gathers, overlapping
 * slices), it is stored if that is cheaper. Such an array is never read in the loop that makes
 * it. Never stored: a cast that only widens ints, a clamped loop index (is_place()), a mask of
 * indices (is_of_places()), a cheap function of pairs. A map without operations of its own (ops 0)
 * is not stored for reads at different indices. */
static bool instances_map(rd_collector *c, const rd_seen *seen, const int32_t *list, int n)
{
    const rd_expr *e = seen->expr;

    if (!only_widens(e) && !is_place(e) && !is_of_places(seen) &&
        !rd_is_cheap_pair_function(c, seen, list, n) &&
        (is_cheaper_stored(c, seen, list, n) ||
         (seen->ops > 0 && is_read_crosswise(c, e, list, n))))
        return map_whole(c, e, list, n);
    for (int k = 0; k < n; k++)
        if (!rd_answer(c, list[k], map_at(c, e, rd_use_of(c, list[k])->at)))
            return false;
    return true;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */
/* Makes a READ of array e in memory at the address sum of at[a] * stride[a], in elements; returns
 * the value's number or -1. rd_leaf_slot() is the number of its memory; -1: no memory for that. */
static int read_memory(rd_collector *c, const rd_expr *e, const int64_t *stride,
                       const rd_subscript *at)
{
    int v = rd_value_new(c, RD_VALUE_READ, e->type, e), slot = rd_leaf_slot(c, e);

    if (v < 0 || slot < 0 || !(c->graph->value[v].at = rd_subscripts(c, 1)))
        return -1;
    c->graph->value[v].slot = slot;
    c->graph->value[v].n_at = 1;
    for (int a = 0; a < e->rank; a++)
        if (!rd_subscript_add(c->axes, c->graph->value[v].at, &at[a], stride[a]))
            return -1;
    return v;
}

/* Answers the uses (readers' requests) of an expression whose value is in memory, in dense C
 * order, by reads. False on failure. */
static bool instances_given(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    int64_t stride[RD_MAX_RANK];

    rd_dense_strides(e->rank, e->extent, 0, stride);
    for (int k = 0; k < n; k++)
        if (!rd_answer(c, list[k], read_memory(c, e, stride, rd_use_of(c, list[k])->at)))
            return false;
    return true;
}

/* Makes the value of a constant; its number or -1. */
static int number_value(rd_collector *c, const rd_expr *e)
{
    int v = rd_value_new(c, RD_VALUE_CONST, e->type, e);

    if (v >= 0)
        c->graph->value[v].value = e->as.number->value;
    return v;
}

/* Makes the value of a coordinate expression (a loop index used as a number), which is the
 * subscript along its axis. Returns its number, -1 on failure. */
static int coord_value(rd_collector *c, const rd_expr *e, const rd_subscript *at)
{
    int v = rd_value_new(c, RD_VALUE_COORD, RD_I64, e);

    if (v < 0 || !(c->graph->value[v].at = rd_subscripts(c, 1)))
        return -1;
    c->graph->value[v].at[0] = at[e->as.axis->axis];
    c->graph->value[v].n_at  = 1;
    return v;
}

/* ---- Views ----------------------------------------------------------------------------------- */
/* Answers a use (a reader's request) of a view by a use of its operand, at subscripts computed by
 * index arithmetic. False on failure. */
static bool instance_view(rd_collector *c, const rd_expr *e, int use)
{
    rd_subscript at[RD_MAX_RANK];

    return rd_view_subscripts(c, e, rd_use_of(c, use)->at, at) &&
           rd_answer_same(c, use, e->in[0], at);
}

/* True if an i64 index array is a loop index, plus or minus a constant, and clamped so that it is
 * in [0, extent), such as min(max(i - 1, 0), n - 1). A gather by it needs no check. number_or()
 * is the value of a constant, or the second argument. `by` is that summand. */
static bool is_clamped_place(const rd_expr *index, int64_t extent)
{
    const int64_t far = INT64_MAX / 2;       /* stands for: the summand is no constant */
    bool          low = false, high = false; /* known to be >= 0; known to be < extent */
    int64_t       by;

    while (index->kind == RD_EXPR_MAP && index->type == RD_I64 &&
           (index->op == RD_OP_minimum || index->op == RD_OP_maximum)) {
        const int64_t bound = number_or(index->in[1], -1);

        if (bound < 0 || bound >= extent)
            return false;
        low |= index->op == RD_OP_maximum;
        high |= index->op == RD_OP_minimum;
        index = seen_through(index->in[0]);
    }
    by = 0;
    if (index->kind == RD_EXPR_MAP && index->type == RD_I64 &&
        (index->op == RD_OP_sub || index->op == RD_OP_add)) {
        by    = number_or(index->in[1], far);
        by    = index->op == RD_OP_sub ? -by : by;
        index = seen_through(index->in[0]);
    }
    if (index->kind != RD_EXPR_COORD || by <= -far || by >= far)
        return false;
    low |= by >= 0;
    high |= index->extent[index->as.axis->axis] + by <= extent;
    return low && high;
}

/* True if the gather's index is known to be in [0, extent): it is a clamped loop index
 * (is_clamped_place()), or a coordinate of a sparse pattern. Those were checked to be below
 * leaf->below when the pattern was made, and do not change. */
static bool is_inside(const rd_expr *index, int64_t extent)
{
    if (is_clamped_place(index, extent))
        return true;
    index = seen_through(index);
    return index->kind == RD_EXPR_LEAF && index->as.leaf->below > 0 &&
           index->as.leaf->below <= extent;
}

/* Answers a use (a reader's request) of a gather (rd_take) by a use of its array x at a gathered
 * index. The index becomes a value that is checked against x's extent along `axis`, unless it is
 * known to be in range. `along`: one index per element of the result; else the index array's axes
 * take the place of `axis`. RD_OP_index makes the check, RD_OP_cast none. The index array is
 * read at the result's subscripts from `axis` on, or at all of them if `along`; x at the others. */
static bool instance_take(rd_collector *c, const rd_expr *e, int use)
{
    const rd_expr *x = e->in[0], *index = e->in[1];
    int            axis = (int)e->as.axis->axis, v = rd_value_new(c, RD_VALUE_MAP, RD_I64, index);
    rd_subscript   at[RD_MAX_RANK];
    int32_t       *in = rd_pool_get(c->pool, sizeof *in);

    const bool along = e->as.axis->along;

    if (v < 0 || !in)
        return false;
    in[0] = rd_use_new(c, index, rd_use_of(c, use)->at + (along ? 0 : axis));
    if (in[0] < 0)
        return false;
    c->graph->value[v].op        = is_inside(index, x->extent[axis]) ? RD_OP_cast : RD_OP_index;
    c->graph->value[v].ops       = 2;
    c->graph->value[v].in        = in;
    c->graph->value[v].n_in      = 1;
    c->graph->value[v].value.i64 = x->extent[axis];
    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            at[a] = rd_use_of(c, use)->at[a < axis || along ? a : a + index->rank - 1];
    at[axis] = (rd_subscript){ .n_term = 1, .term = { { /*axis=*/-1, v, /*coef=*/1 } } };
    return rd_answer_same(c, use, x, at);
}

/* Answers the uses (readers' requests) of an expression without elements by a constant, which is
 * never read. Its operands are not even visited. False on failure. */
static bool instances_empty(rd_collector *c, const rd_expr *e, const int32_t *list, int n)
{
    for (int k = 0; k < n; k++)
        if (!rd_answer(c, list[k], rd_value_new(c, RD_VALUE_CONST, e->type, e)))
            return false;
    return true;
}

/* Makes the values for all uses (readers' requests) of an expression, by its kind, and answers the
 * uses. An expression without elements, or one whose value is in memory (given), needs no
 * operands. False on failure. `list` has the n uses with distinct subscripts. rd_answer() gives
 * a use its value. */
bool rd_instances(rd_collector *c, rd_seen *seen)
{
    const rd_expr *e = seen->expr;
    int32_t       *list;
    int            n  = rd_uses_distinct(c, seen, &list);
    bool           ok = n >= 0;

    if (ok && rd_expr_points(e) == 0)
        return instances_empty(c, e, list, n);
    if (seen->given)
        return ok && instances_given(c, e, list, n);
    switch (e->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return ok && instances_map(c, seen, list, n);
    case RD_EXPR_CONCAT: return ok && rd_instances_concat(c, e, list, n);
    case RD_EXPR_REDUCE: return ok && rd_instances_reduce(c, e, list, n);
    case RD_EXPR_SCAN: return ok && rd_instances_scan(c, e, list, n);
    case RD_EXPR_SORT: return ok && rd_instances_sort(c, e, list, n);
    case RD_EXPR_PRODUCT:
        rd_fail(c->ctx, RD_ERR_LIMIT, "%s: a product of sparse matrices is a part of its own",
                rd_call_name(c->ctx));
        return false;
    default: break;
    }
    for (int k = 0; ok && k < n; k++)
        switch (e->kind) {
        case RD_EXPR_LEAF:
            ok = rd_answer(c, list[k],
                           read_memory(c, e, e->as.leaf->stride, rd_use_of(c, list[k])->at));
            break;
        case RD_EXPR_NUMBER: ok = rd_answer(c, list[k], number_value(c, e)); break;
        case RD_EXPR_COORD:
            ok = rd_answer(c, list[k], coord_value(c, e, rd_use_of(c, list[k])->at));
            break;
        case RD_EXPR_VIEW: ok = instance_view(c, e, list[k]); break;
        case RD_EXPR_TAKE: ok = instance_take(c, e, list[k]); break;
        default: ok = rd_instance_reshape(c, e, list[k]); break;
        }
    return ok;
}
