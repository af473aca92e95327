/* transpose_loops.c - makes the two axes of a transposing map innermost, for backends to run in
 * squares.
 *
 * A transposed copy reads along one axis and writes along another.  The stored axis goes
 * innermost, because non-temporal stores want whole lines in order; the read axis goes around
 * it.  A panel of the inner axis around all loops keeps pages and partly read lines in cache
 * until the next square needs them.
 *
 *    for j: for i: y[i,j] = x[j,i]     ->     for panels of j: for i: for j in the panel
 *
 * A square is a block of rows and columns that is transposed in registers. */
#include "eval/order/order.h"

/* Elements beyond this stride share no cache line. */
enum { FAR = 16 };

/* A chain of loops, outermost first, around maps alone. */
typedef struct chain {
    const rd_tree *tree;
    int            n; /* loops */
    rd_loop_scope *loop[RD_MAX_AXES];
} chain;

/* True if the loop is the head of a chain: two or more loops, each with nothing but the next one
 * inside, and elementwise operations in the innermost. Fills in the chain. c->loop are the n
 * loops, the outermost first. `combine`: a reduction or scan. */
static bool is_chain(chain *c, rd_loop_scope *loop)
{
    for (c->n = 0; loop; loop = loop->first->loop) {
        c->loop[c->n++] = loop;
        if (!loop->first || (loop->first->loop && loop->first->next))
            return false;
    }
    for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next)
        if (item->loop || c->tree->graph->value[item->value].kind == RD_VALUE_JOIN ||
            c->tree->graph->value[item->value].kind == RD_VALUE_SORT ||
            c->tree->graph->value[item->value].combine)
            return false;
    return c->n > 1;
}

/* True if a value is contiguous along the axis. */
static bool runs_along(const rd_tree *tree, int value, int axis)
{
    return rd_in(tree->graph->value[value].axes, axis) && rd_stride_of(tree, value, axis) == 1;
}

/* True if a value is contiguous along `axis`, and more than FAR elements apart along `other`. */
static bool runs_across(const rd_tree *tree, int value, int axis, int other)
{
    return runs_along(tree, value, axis) && rd_stride_of(tree, value, other) > FAR;
}

/* The bytes of a value over all its axes. */
static double bytes_of(const rd_tree *tree, int value)
{
    const rd_value *v = &tree->graph->value[value];

    return (double)rd_points_of(tree->graph, v->axes) * rd_dtype_size(v->type);
}

/* The number of the loop in the chain along which most bytes are stored contiguously; -1: none.
 * runs_along(): the value is contiguous along that axis, bytes_of() its size. */
static int find_stored(const chain *c)
{
    double most = 0;
    int    best = -1;

    for (int k = 0; k < c->n; k++)
        for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next)
            if (runs_along(c->tree, item->value, c->loop[k]->axis) &&
                bytes_of(c->tree, item->value) > most) {
                most = bytes_of(c->tree, item->value);
                best = k;
            }
    return best;
}

/* The number of the loop along which most bytes are read contiguously that are far apart along
 * loop `stored`: a transpose; -1: none. c->loop are n loops inside each other, the last one's
 * items are values. runs_across(): such a read; bytes_of() its size. */
static int find_read(const chain *c, int stored)
{
    double most = 0;
    int    best = -1;

    for (int k = 0; k < c->n; k++)
        for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next) {
            const rd_materialised *a = &c->tree->materialised[c->tree->number[item->value]];

            for (int u = 0; u < a->n_use; u++)
                if (runs_across(c->tree, a->use[u].value, c->loop[k]->axis,
                                c->loop[stored]->axis) &&
                    bytes_of(c->tree, a->use[u].value) > most) {
                    most = bytes_of(c->tree, a->use[u].value);
                    best = k;
                }
        }
    return best;
}

/* Moves loop k inside all others, by exchanging the axes of the loops. */
static void move_inside(const chain *c, int k)
{
    const int axis = c->loop[k]->axis;

    for (; k + 1 < c->n; k++)
        c->loop[k]->axis = c->loop[k + 1]->axis;
    c->loop[k]->axis = axis;
}

/* True if a tile loop around already limits the axis to a panel. */
static bool is_limited_to_panel(const rd_loop_scope *loop, int axis)
{
    for (const rd_loop_scope *s = loop->parent; s; s = s->parent)
        if (s->tile && s->axis == axis && s->step <= RD_TRANSPOSE_PANEL)
            return true;
    return false;
}

/* True if all reads are contiguous or constant along the axis. */
static bool are_all_reads_along(const chain *c, int axis)
{
    for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next) {
        const rd_materialised *a = &c->tree->materialised[c->tree->number[item->value]];

        for (int u = 0; a && u < a->n_use; u++)
            if (rd_in(c->tree->graph->value[a->use[u].value].axes, axis) &&
                rd_stride_of(c->tree, a->use[u].value, axis) > 1)
                return false;
    }
    return true;
}

/* Moves the outermost axis inside where a range of short rows is filled, such as windows that are
 * sorted. Elements of neighbouring rows are contiguous, too, and their loop is longer. With 3 x 3
 * neighbours, loops of three took four times as long as the medians. c->loop[0] is the outermost
 * loop, c->loop[n - 1] the innermost. */
static void go_along_rows(const chain *c)
{
    enum { SHORT = 16 };
    const int axis = c->loop[0]->axis;

    if (c->tree->graph->axis[c->loop[c->n - 1]->axis].extent < SHORT &&
        c->tree->graph->axis[axis].extent >= SHORT && is_limited_to_panel(c->loop[0], axis) &&
        are_all_reads_along(c, axis))
        move_inside(c, /*k=*/0);
}

/* Makes the two axes of a transposing chain innermost, the stored one last, so that backends can
 * transpose squares in registers. Puts a panel (tile loop) around it if the stored axis has two
 * panels or more. False: no memory. Moving loop `read` inside moves loops behind it up by one,
 * and so `stored`. No panel is needed if one is around already. */
static bool make_transpose(chain *c, rd_item **at)
{
    rd_item *panel, *rest = (*at)->next;
    int      stored, read;

    stored = find_stored(c);
    read   = stored < 0 ? -1 : find_read(c, stored);
    if (read < 0) {
        go_along_rows(c);
        return true;
    }
    move_inside(c, read);
    move_inside(c, stored > read ? stored - 1 : stored);
    if (c->tree->graph->axis[c->loop[c->n - 1]->axis].extent < 2 * RD_TRANSPOSE_PANEL ||
        is_limited_to_panel(c->loop[0], c->loop[c->n - 1]->axis))
        return true;
    (*at)->next = NULL;
    panel       = rd_wrap_items(c->tree, c->loop[c->n - 1]->axis, *at);
    if (!panel)
        return false;
    panel->loop->tile = true;
    panel->loop->step = RD_TRANSPOSE_PANEL;
    panel->next       = rest;
    *at               = panel;
    return true;
}

/* Makes transposing loops of all chains of loops in a scope (see is_chain()), where they
 * transpose; false: no memory. */
static bool make_transposes(const rd_tree *tree, rd_loop_scope *scope)
{
    for (rd_item **at = &scope->first; *at; at = &(*at)->next) {
        chain c = { .tree = tree };

        if ((*at)->loop && !(is_chain(&c, (*at)->loop) ? make_transpose(&c, at)
                                                       : make_transposes(tree, (*at)->loop)))
            return false;
    }
    return true;
}

/* Makes the two axes innermost in all loops of the tree that transpose: that read along one axis
 * and write along another. False: no memory. */
bool rd_make_transposes(const rd_tree *tree)
{
    return make_transposes(tree, tree->root);
}

/* True if a read in the scope (a loop body) is contiguous along the scope's loop, and so far apart
 * along the axis that each element is in another cache line. use[u] are the values that a stored
 * one reads. */
bool rd_runs_across(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_materialised *a =
            item->loop ? NULL : &tree->materialised[tree->number[item->value]];

        if (item->loop && rd_runs_across(tree, item->loop, axis))
            return true;
        for (int u = 0; a && u < a->n_use; u++)
            if (runs_across(tree, a->use[u].value, scope->axis, axis))
                return true;
    }
    return false;
}
