/* squares.c - loops over maps whose operands and results run along different axes.
 *
 * A transposed copy reads along one axis and writes along another.  Both become the innermost two
 * loops, which backends run in squares: along what is stored inside, as stores past the caches want
 * whole lines one after the other, and along what is read around it.  A panel of the inner axis
 * around all loops keeps the pages of a square's rows, and lines that are read in parts, at hand
 * until the next square needs them. */
#include "eval/order/order.h"

/* Elements: neighbours further apart share no cache line. */
enum { FAR = 16 };

/* A loop over each of these axes, outermost first, around maps alone. */
typedef struct chain {
    const rd_tree *tree;
    int            n;
    rd_scope      *loop[RD_MAX_AXES];
} chain;

static bool is_chain(chain *c, rd_scope *loop)
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

/* Does a value run along loop k?  And across another axis? */
static bool runs_along(const rd_tree *tree, int value, int axis)
{
    return rd_in(tree->graph->value[value].axes, axis) && rd_step_of(tree, value, axis) == 1;
}

static bool runs_across(const rd_tree *tree, int value, int axis, int other)
{
    return runs_along(tree, value, axis) && rd_step_of(tree, value, other) > FAR;
}

static double bytes_of(const rd_tree *tree, int value)
{
    const rd_value *v = &tree->graph->value[value];

    return (double)rd_points_of(tree->graph, v->axes) * rd_dtype_size(v->type);
}

/* The loop along which most is stored; -1: none. */
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

/* The loop along which most is read that runs across the stored one; -1: none. */
static int find_read(const chain *c, int stored)
{
    double most = 0;
    int    best = -1;

    for (int k = 0; k < c->n; k++)
        for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next) {
            const rd_anchor *a = &c->tree->anchor[c->tree->number[item->value]];

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

/* Loop k goes inside all others. */
static void move_inside(const chain *c, int k)
{
    const int axis = c->loop[k]->axis;

    for (; k + 1 < c->n; k++)
        c->loop[k]->axis = c->loop[k + 1]->axis;
    c->loop[k]->axis = axis;
}

/* Does a loop around it cut the axis into ranges that are no wider than a panel? */
static bool is_cut(const rd_scope *loop, int axis)
{
    for (const rd_scope *s = loop->parent; s; s = s->parent)
        if (s->tile && s->axis == axis && s->step <= RD_SQUARES)
            return true;
    return false;
}

/* Does all that the loops read run along the axis, or stand still? */
static bool all_run_along(const chain *c, int axis)
{
    for (const rd_item *item = c->loop[c->n - 1]->first; item; item = item->next) {
        const rd_anchor *a = &c->tree->anchor[c->tree->number[item->value]];

        for (int u = 0; a && u < a->n_use; u++)
            if (rd_in(c->tree->graph->value[a->use[u].value].axes, axis) &&
                rd_step_of(c->tree, a->use[u].value, axis) > 1)
                return false;
    }
    return true;
}

/* Short rows of a range that are filled, as those of windows: their elements stand side by side in
 * the next rows, too, and a loop over these is longer.  Of 3 x 3 neighbours each three were a loop
 * of their own, which took four times as long as their medians. */
static void go_along_rows(const chain *c)
{
    enum { SHORT = 16 };
    const int axis = c->loop[0]->axis;

    if (c->tree->graph->axis[c->loop[c->n - 1]->axis].extent < SHORT &&
        c->tree->graph->axis[axis].extent >= SHORT && is_cut(c->loop[0], axis) &&
        all_run_along(c, axis))
        move_inside(c, 0);
}

/* The loops at `at` are a chain. */
static bool make_square(chain *c, rd_item **at)
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
    if (c->tree->graph->axis[c->loop[c->n - 1]->axis].extent < 2 * RD_SQUARES ||
        is_cut(c->loop[0], c->loop[c->n - 1]->axis))
        return true;
    (*at)->next = NULL;
    panel       = rd_wrap_items(c->tree, c->loop[c->n - 1]->axis, *at);
    if (!panel)
        return false;
    panel->loop->tile = true;
    panel->loop->step = RD_SQUARES;
    panel->next       = rest;
    *at               = panel;
    return true;
}

static bool make_squares(const rd_tree *tree, rd_scope *scope)
{
    for (rd_item **at = &scope->first; *at; at = &(*at)->next) {
        chain c = { .tree = tree };

        if ((*at)->loop &&
            !(is_chain(&c, (*at)->loop) ? make_square(&c, at) : make_squares(tree, (*at)->loop)))
            return false;
    }
    return true;
}

bool rd_make_squares(const rd_tree *tree)
{
    return make_squares(tree, tree->root);
}

bool rd_runs_across(const rd_tree *tree, const rd_scope *scope, int axis)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_anchor *a = item->loop ? NULL : &tree->anchor[tree->number[item->value]];

        if (item->loop && rd_runs_across(tree, item->loop, axis))
            return true;
        for (int u = 0; a && u < a->n_use; u++)
            if (runs_across(tree, a->use[u].value, scope->axis, axis))
                return true;
    }
    return false;
}
