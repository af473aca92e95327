/* row_strips.c - says which sorts of the first few may take their rows in strips, so that no row is
 * ever whole; and lets sorts of equal rows read the same ones.
 *
 * Values and places of the k least distances are two sorts of the same rows.  A row in strips needs
 * memory for a strip and for the first few so far, whatever its length. */
#include "eval/ir.h"
#include "kernels/first_few.h"

/* The stored value whose rows sort v takes; NULL: v is no sort, or its rows lie in a leaf. */
static rd_value *rows_of(const rd_graph *g, const rd_value *v)
{
    return v->kind == RD_VALUE_SORT && v->target >= 0 ? &g->value[v->target] : NULL;
}

/* ---- Equal rows ------------------------------------------------------------------------------ */
/* True if two values to be sorted are copies of one value with equal storage dims, so that one
 * copy serves both sorts. */
static bool are_equal(const rd_value *a, const rd_value *b)
{
    bool equal = a->kind == RD_VALUE_MAP && b->kind == RD_VALUE_MAP && a->op == b->op &&
                 a->type == b->type && a->n_in == 1 && b->n_in == 1 && a->in[0] == b->in[0] &&
                 a->n_dim == b->n_dim && a->out < 0 && b->out < 0;

    for (int d = 0; equal && d < a->n_dim; d++)
        equal = a->dim[d] == b->dim[d];
    return equal;
}

/* Lets sort i read the stored rows of an earlier sort if they are equal to its own; true if so.
 * rows_of() are the stored rows that a sort takes, NULL: it is no sort, or they lie in a leaf;
 * are_equal() compares how they are made. */
static bool share_rows(const rd_graph *g, int i)
{
    rd_value       *v    = &g->value[i];
    const rd_value *rows = rows_of(g, v), *other;

    for (int k = 0; rows && k < i; k++) {
        other = rows_of(g, &g->value[k]);
        if (other && g->value[k].target != v->target && are_equal(rows, other)) {
            v->target = g->value[k].target;
            return true;
        }
    }
    return false;
}

/* ---- Strips ---------------------------------------------------------------------------------- */
/* True if the value is computed at the same place from a reduction that varies along the axis,
 * such as distances of points, through elementwise operations only. */
static bool holds_fold(const rd_graph *g, int value, int axis)
{
    const rd_value *v     = &g->value[value];
    bool            found = v->kind == RD_VALUE_REDUCE && rd_in(v->axes, axis);

    for (int k = 0; !found && v->kind == RD_VALUE_MAP && k < v->n_in; k++)
        found = v->in[k] >= 0 && holds_fold(g, v->in[k], axis);
    return found;
}

/* True if a sort for the first k of a row may take its rows in strips (some elements at a time, of
 * which the k least so far are kept), and gains by it. A whole row of up to LONG bytes stays in
 * cache, and costs little where its elements are no reductions. Clauses, in order:
 * - rows are stored, along one axis, and not sorted for quantiles; positions fit in 32 bits
 * - the k first are few: at most RD_FIRST_FEW_MOST, and a 16th of the row
 * - a row has at least 4096 elements, and is longer than LONG or made of reductions */
static bool gains_by_strips(const rd_graph *g, const rd_value *v)
{
    /* elements of a row; for each of the k; bytes */
    enum { FEWEST = 4096, EACH = 16, LONG = 128 << 10 };
    const rd_value *rows = rows_of(g, v);
    const int       axis = rows ? rd_sorted_axis(v, rows) : -1;

    if (axis < 0 || v->expr->as.sort->what == RD_SORT_QUANTILES ||
        g->axis[axis].extent > UINT32_MAX) /* places are kept so wide */
        return false;
    const int64_t n = g->axis[axis].extent, k = v->expr->extent[v->expr->rank - 1];

    return k > 0 && k <= RD_FIRST_FEW_MOST && EACH * k <= n && n >= FEWEST &&
           (n * rd_dtype_size(rows->type) > LONG || holds_fold(g, v->target, axis));
}

/* Marks rows, and the sorts that read them, that are taken in strips (some elements at a time):
 * all readers of the rows are sorts that gain by it. rows_of() are the rows that a sort takes,
 * NULL: none. */
static void mark_strips(rd_graph *g)
{
    for (int i = 0; i < g->n_value; i++)
        if (rows_of(g, &g->value[i]))
            rows_of(g, &g->value[i])->strips = true;
    for (int i = 0; i < g->n_value; i++)
        if (rows_of(g, &g->value[i]))
            rows_of(g, &g->value[i])->strips &= gains_by_strips(g, &g->value[i]);
    for (int i = 0; i < g->n_value; i++)
        if (rows_of(g, &g->value[i]))
            g->value[i].strips = rows_of(g, &g->value[i])->strips;
}

/* Lets sorts of equal rows read the same ones, and marks those that may take rows in strips (some
 * elements at a time), so that no whole row is stored. False: no memory. */
bool rd_take_rows_in_strips(rd_graph *g)
{
    bool any = false;

    for (int i = 0; i < g->n_value; i++)
        any |= share_rows(g, i);
    if (any && !rd_graph_sort_results(g))
        return false;
    mark_strips(g);
    return true;
}
