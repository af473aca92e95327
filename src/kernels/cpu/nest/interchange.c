/* interchange.c - a program by panels (tiles of points) is rewritten with the loop over points
 * outermost (loop interchange), where all other loops are short.
 *
 * Planning moves the axis of points into the loops over components, panel by panel, so that the
 * tile machine has long rows. The loops of a compiled nest make vectors along any axis, and keep
 * what a point needs in registers: an address that memory gives is read once a point, not once
 * for each component. So where components are few, the points go outside again:
 *
 *     for panels of i                          for i
 *       for j                                    for j
 *         fold starts, of a panel's cells          fold starts
 *         for k                                    for k
 *           for i of the panel                       fold takes x
 *             fold takes x                         y[i, j] = fold
 *         for i of the panel
 *           y[i, j] = fold at i
 *
 * Points are independent, and each cell takes its elements in the same order.
 *
 * A panel is a range of points, and a component is an index of any other axis. Scratch is memory of
 * a task within the stage. A `local` addend counts from the begin of the panel.
 *
 * Fields. An addend of an address with `axis` -1 is a register, so the address gathers. A fold has
 * `user` if its reducer is the caller's own.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/cpu/nest/interchange.h"

/* The most rounds of nested loops over components. */
enum { FEW = 64 };

/* ---- Which programs ------------------------------------------------------------------------- */
/* True if the loop is over the axis of points, which tasks share in panels (ranges). */
static bool is_over_points(const rd_interchange *t, int32_t loop)
{
    return t->p->loop[loop].axis == t->axis;
}

/* True if all of the body is one loop over panels (ranges of points) of the axis that tasks share;
 * sets the loop, its axis and the width of a panel. inst[body .. tail) is what tasks share, so the
 * loop's END must be its last instruction.  Programs without folds, or with sorts, are not
 * rewritten. */
static bool find_panels(rd_interchange *t)
{
    const rd_program *p    = t->p;
    const rd_inst    *loop = &p->inst[p->body];

    if (p->n_fold == 0 || p->body >= p->tail || p->n_sorting || loop->kind != RD_I_LOOP ||
        p->loop[loop->arg].end != p->tail - 1)
        return false;
    t->panels = loop->arg;
    t->axis   = p->loop[t->panels].axis;
    t->width  = p->loop[t->panels].step;
    return p->loop[t->panels].kind == RD_LOOP_TILE && t->axis == p->root;
}

/* Counts the rounds of a loop and those around it, except loops over the point axis. rd_trips() is
 * the rounds of one loop. */
static double rounds_around(const rd_interchange *t, int32_t loop)
{
    double rounds = 1;

    for (; loop >= 0; loop = t->p->loop[loop].parent)
        if (!is_over_points(t, loop))
            rounds *= (double)rd_trips(t->p, loop);
    return rounds;
}

/* True if there are loops over components (indices of other axes than that of points) with a loop
 * over points inside, and all of them are short: 64 rounds together.  Loops backwards, with bounds
 * by a mask (`bounds`) or over sparse rows (rd_is_sparse_row) are excluded. */
static bool has_short_loops(const rd_interchange *t)
{
    bool found = false;

    for (int32_t k = 0; k < t->p->n_loop; k++) {
        const rd_loop *l = &t->p->loop[k];

        if (k == t->panels)
            continue;
        if (l->kind != RD_LOOP_EACH || l->backwards || l->bounds || rd_is_sparse_row(l) ||
            rounds_around(t, k) > FEW)
            return false;
        /* A loop over points stands directly in a loop over components. */
        found |= is_over_points(t, k) && l->parent >= 0 && !is_over_points(t, l->parent);
    }
    return found;
}

/* Returns the coefficient of the point axis in an address, where its index counts from the begin of
 * the panel (range of points). */
int64_t rd_interchange_panel_coef(const rd_interchange *t, const rd_address *at)
{
    int64_t coef = 0;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis == t->axis && at->add[k].local)
            coef += at->add[k].coef;
    return coef;
}

/* True if in an address within a panel (range of points) all other axes go by multiples of its
 * width, where points go by 1.  Then the elements of one point are those of an array that is as
 * many times smaller.  An index in a register (axis -1) may be anything, so it is excluded. */
static bool is_by_panels(const rd_interchange *t, const rd_address *at)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis != t->axis && (at->add[k].axis < 0 || at->add[k].coef % t->width))
            return false;
    return at->offset % t->width == 0;
}

/* True if the cells (results) of a fold can be split into those of one point each.  `own` is the
 * stride of points in the number of the cell: 1 makes neighbouring points neighbouring cells, else
 * each point has `own` cells side by side; 0: the cells do not depend on points. */
static bool can_split_cells(const rd_interchange *t, const rd_fold *f)
{
    const int64_t own = rd_interchange_panel_coef(t, &f->cell);

    if (own == 1)
        return is_by_panels(t, &f->cell) && f->n_cell % t->width == 0;
    return own == 0 || f->n_cell == own * t->width;
}

/* True if a fold allows the interchange: a plain reduction that does not go along the point axis,
 * and whose cells (results) can be split by points. `lane` and `lane_line` are an element's place
 * in the fold, so they must not change with the point; n_group 0: no group-by. */
static bool can_interchange_fold(const rd_interchange *t, const rd_fold *f)
{
    return !f->scan && !f->user && f->n_group == 0 && !f->by_rows && !rd_coef(&f->lane, t->axis) &&
           !rd_coef(&f->lane_line, t->axis) && can_split_cells(t, f);
}

/* Returns the loop that holds an instruction once the loops over points are gone; -1: none. */
static int32_t loop_left(const rd_interchange *t, int32_t i)
{
    int32_t loop = t->p->inst[i].loop;

    while (loop >= 0 && is_over_points(t, loop))
        loop = t->p->loop[loop].parent;
    return loop;
}

/* Returns the slot (buffer) that instruction i accesses, if it is of that kind (LOAD or STORE);
 * else -1. */
static int32_t slot_of(const rd_program *p, int32_t i, rd_inst_kind kind)
{
    return p->inst[i].kind == kind ? p->address[p->inst[i].arg].slot : -1;
}

/* True if each load of what STORE i stores can read the stored register instead (store-to-load
 * forwarding).  Its slot must have this one store, before all loads and in the same loop, and the
 * type must not round. k < i: a load comes before.  True for other instructions (slot -1). */
static bool can_forward(const rd_interchange *t, int32_t i)
{
    const rd_program *p    = t->p;
    const rd_inst    *inst = &p->inst[i];
    const int32_t     loop = loop_left(t, i), slot = slot_of(p, i, RD_I_STORE);

    if (slot < 0)
        return true;
    for (int32_t k = 0; k < p->n_inst; k++) {
        const bool inside = loop < 0 || (k > p->loop[loop].begin && k < p->loop[loop].end);

        if ((k != i && slot_of(p, k, RD_I_STORE) == slot) ||
            (slot_of(p, k, RD_I_LOAD) == slot && (k < i || !inside)))
            return false;
    }
    return p->address[inst->arg].type == inst->type && !rd_dtype_is_narrow_float(inst->type);
}

/* True if each point has a row of its own in a scratch array, one element for each component: the
 * indices of other axes stay below the stride of points, the greatest of them (`last`) too. */
static bool has_own_row(const rd_interchange *t, const rd_address *at)
{
    int64_t last = at->offset;

    for (int32_t k = 0; k < at->n_add; k++) {
        if (at->add[k].axis < 0 || at->add[k].coef < 0) /* an index in a register */
            return false;
        if (at->add[k].axis != t->axis)
            last += at->add[k].coef * (t->p->axis_extent[at->add[k].axis] - 1);
    }
    return at->offset >= 0 && last < rd_interchange_panel_coef(t, at);
}

/* True if a scratch array (temporary memory) can be that of one point: its value is forwarded to
 * its loads (points lie side by side: own is 1, and no other axis), or it is a row that all points
 * reuse (each has `own` elements, and memory says where rows begin: t->rows). */
static bool can_interchange_scratch(const rd_interchange *t, int32_t i)
{
    const rd_address *at  = &t->p->address[t->p->inst[i].arg];
    const int64_t     own = rd_interchange_panel_coef(t, at);

    return own == 1 ? at->n_add == 1 && at->offset == 0 && can_forward(t, i)
                    : own > 1 && t->rows && has_own_row(t, at);
}

/* True if the instruction allows the interchange.  Not with early exits, users' functions or sorts.
 * Folds must begin within a panel (range of points), scratch must belong to one point, and other
 * memory must not be addressed relative to the panel. */
static bool can_interchange_inst(const rd_interchange *t, int32_t i)
{
    const rd_inst *inst = &t->p->inst[i];

    if (inst->kind == RD_I_EXIT || inst->kind == RD_I_CALL || inst->kind == RD_I_SORT)
        return false;
    if (inst->kind == RD_I_START)
        return i > t->p->loop[t->panels].begin && i < t->p->loop[t->panels].end;
    if (rd_inst_table[inst->kind].names != RD_NAMES_ADDRESS)
        return true;
    const rd_address *at = &t->p->address[inst->arg];

    return at->slot < t->p->first_scratch || t->p->n_scratch == 0
               ? rd_interchange_panel_coef(t, at) == 0
               : can_interchange_scratch(t, i);
}

/* True if an index in memory says where a row along another axis begins (a gather of rows).
 * Neighbouring points would gather its elements one by one; one point loads them as they lie. */
static bool has_gathered_rows(const rd_program *p)
{
    for (int32_t i = p->body; i < p->tail; i++) {
        const rd_address *at    = p->inst[i].kind == RD_I_LOAD ? &p->address[p->inst[i].arg] : NULL;
        bool              found = false, row = false; /* an index register; a contiguous axis */

        for (int32_t k = 0; at && k < at->n_add; k++) {
            found |= at->add[k].axis < 0;
            row |= at->add[k].axis >= 0 && at->add[k].axis != p->root && at->add[k].coef == 1;
        }
        if (found && row)
            return true;
    }
    return false;
}

/* True if the loop over points can become the outermost one, without panels (ranges of points). */
static bool can_interchange(rd_interchange *t)
{
    if (!find_panels(t) || !has_short_loops(t))
        return false;
    t->rows = has_gathered_rows(t->p);
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (!can_interchange_fold(t, &t->p->fold[k]))
            return false;
    for (int32_t i = 0; i < t->p->n_inst; i++)
        if (!can_interchange_inst(t, i))
            return false;
    return true;
}

/* Rewrites a program by panels (ranges of points, loops over components around the points) with the
 * loop over points outermost, in *by_items: so a point keeps its values in registers.  NULL if it
 * cannot be.  False: no memory. */
bool rd_nest_interchange(const rd_program *p, rd_get_fn *get, void *pool,
                         const rd_program **by_items)
{
    rd_interchange t = { .p = p };

    *by_items = NULL;
    if (!can_interchange(&t))
        return true;
    if (!rd_interchange_write(&t, get, pool))
        return false;
    *by_items = t.to;
    return true;
}
