/* interchange_write.c - writes the program with the loop over points outermost, once
 * interchange.c has found that it can be.
 *
 * A panel is a range of points; scratch is memory of a task within the stage. Each address loses
 * the axis of points where it counts from the begin of a panel, as one point is left.
 *
 * Fields. An addend of an address with `axis` -1 is a register, so the address gathers.
 *
 * Words. A cell is one result of a fold, with its accumulators. A fold is a reduction or a scan. A
 * slot is a buffer that a program reads or writes. */
#include "kernels/cpu/nest/interchange.h"
#include <string.h>

/* ---- Addresses ------------------------------------------------------------------------------ */
/* Drops the point axis from an address within a panel (range of points): what is left is for one
 * point.  If neighbouring points were neighbours in memory, all other strides shrink by the width
 * of a panel: with panels of 64, 64 c + i becomes c.  The last addend takes the place of a removed
 * one, and is looked at next. */
static void drop_panel_axis(const rd_interchange *t, rd_address *at)
{
    const int64_t by = rd_interchange_panel_coef(t, at) == 1 ? t->width : 1;

    if (rd_interchange_panel_coef(t, at) == 0)
        return;
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis == t->axis)
            at->add[k--] = at->add[--at->n_add];
        else
            at->add[k].coef /= by;
    at->offset /= by;
}

/* Leaves the cells (results) of one point to the fold.  `own` is how many cells one point moves on
 * by; 0: the cells do not depend on points.  If it is 1, points have adjacent cells, and n_cell is
 * divided by the points of a panel; else the `own` cells of a point are adjacent. */
static void drop_panel_cells(const rd_interchange *t, rd_fold *f)
{
    const int64_t own = rd_interchange_panel_coef(t, &f->cell);

    if (own)
        f->n_cell = own == 1 ? f->n_cell / t->width : own;
    drop_panel_axis(t, &f->cell);
}

/* ---- Scratch -------------------------------------------------------------------------------- */
/* Replaces register `from` by `reg`, in the operands of all instructions and as an index in
 * addresses. The table says how many of a, b and c a kind of instruction reads; -1: it varies, so
 * all are looked at (unused ones are -1). */
static void replace_reg(rd_program *to, int32_t from, int32_t reg)
{
    for (int32_t i = 0; i < to->n_inst; i++) {
        rd_inst *const inst = &to->inst[i];
        int32_t *const in[] = { &inst->a, &inst->b, &inst->c };
        /* -1: it varies */
        const int most = rd_inst_table[inst->kind].reads, n = most >= 0 ? most : 3;

        for (int k = 0; k < n && k < 3; k++)
            if (*in[k] == from)
                *in[k] = reg;
    }
    for (int32_t a = 0; a < to->n_address; a++)
        for (int32_t k = 0; k < to->address[a].n_add; k++)
            if (to->address[a].add[k].axis < 0 && to->address[a].add[k].reg == from)
                to->address[a].add[k].reg = reg;
}

/* True if the instruction is of that kind (LOAD or STORE) and accesses the slot (buffer). */
static bool is_of_slot(const rd_program *to, int32_t i, rd_inst_kind kind, int32_t slot)
{
    return to->inst[i].kind == kind && to->address[to->inst[i].arg].slot == slot;
}

/* Removes instruction i from the list; the tail begins one earlier if it stood before. */
static void remove_inst(rd_program *to, int32_t i)
{
    memmove(&to->inst[i], &to->inst[i + 1], (size_t)(to->n_inst - i - 1) * sizeof *to->inst);
    to->n_inst--;
    to->tail -= i < to->tail;
}

/* Removes each STORE to scratch that is one element, and replaces the LOADs from it by the stored
 * register (store-to-load forwarding), as both belong to one point. An address without addends is
 * one element. Behind the STORE all LOADs of its slot are gone through. */
static void forward(rd_program *to)
{
    for (int32_t i = 0; i < to->n_inst; i++) {
        const int32_t slot =
            to->inst[i].kind == RD_I_STORE ? to->address[to->inst[i].arg].slot : -1;
        const int32_t reg = to->inst[i].a;

        if (slot < to->first_scratch || to->n_scratch == 0 ||
            to->address[to->inst[i].arg].n_add > 0)
            continue;
        remove_inst(to, i);
        for (int32_t k = i; k < to->n_inst;)
            if (is_of_slot(to, k, RD_I_LOAD, slot)) {
                const int32_t loaded = to->inst[k].dst;

                remove_inst(to, k);
                replace_reg(to, loaded, reg);
            } else
                k++;
        i--;
    }
}

/* ---- All together --------------------------------------------------------------------------- */
/* Writes the instructions without the loops over points within a panel; the loop over panels
 * becomes one over points (its step is 1).  Addresses and cells become those of one point.  `tail`
 * is set to where the same instruction stands now. one_by_one: the rows of a point are known at run
 * time only. */
static void write(const rd_interchange *t, rd_loop *loops, int32_t *number)
{
    rd_program *to = t->to;

    to->n_inst               = 0;
    to->loop[t->panels].kind = RD_LOOP_EACH;
    to->loop[t->panels].step = 1;
    for (int32_t k = 0; k < to->n_fold; k++)
        drop_panel_cells(t, &to->fold[k]);
    for (int32_t k = 0; k < to->n_address; k++)
        drop_panel_axis(t, &to->address[k]);
    for (int32_t i = 0; i < t->p->n_inst; i++) {
        const rd_inst *inst = &t->p->inst[i];
        const bool     loop = inst->kind == RD_I_LOOP || inst->kind == RD_I_END;

        if (i == t->p->tail)
            to->tail = to->n_inst;
        if (!loop || inst->arg == t->panels || t->p->loop[inst->arg].axis != t->axis)
            to->inst[to->n_inst++] = *inst;
    }
    if (t->p->tail == t->p->n_inst)
        to->tail = to->n_inst;
    forward(to);
    rd_nest_number_loops(to, loops, number);
    rd_program_tree(to);
    to->one_by_one = t->rows;
}

/* Copies the program t->p to t->to, with lists of its own that will be changed.  Instructions and
 * folds are only given room; the caller writes them.  False: no memory.  The memory is the
 * pool's. */
static bool copy_program(rd_interchange *t, rd_get_fn *get, void *pool)
{
    const rd_program *p = t->p;
    rd_program       *to;

    if (!(t->to = to = get(pool, sizeof *to)))
        return false;
    *to         = *p;
    to->inst    = get(pool, (size_t)p->n_inst * sizeof *to->inst);
    to->loop    = get(pool, (size_t)p->n_loop * sizeof *to->loop);
    to->fold    = get(pool, (size_t)p->n_fold * sizeof *to->fold);
    to->address = get(pool, (size_t)p->n_address * sizeof *to->address);
    if (!to->inst || !to->loop || !to->fold || !to->address)
        return false;
    memcpy(to->address, p->address, (size_t)p->n_address * sizeof *to->address);
    memcpy(to->loop, p->loop, (size_t)p->n_loop * sizeof *to->loop);
    memcpy(to->fold, p->fold, (size_t)p->n_fold * sizeof *to->fold);
    return true;
}

/* Makes t->to, the program whose outermost loop is over single points, from t->p, whose outermost
 * loop is over panels (several points each).  False: no memory. */
bool rd_interchange_write(rd_interchange *t, rd_get_fn *get, void *pool)
{
    rd_loop *loops  = get(pool, (size_t)t->p->n_loop * sizeof *loops);
    int32_t *number = get(pool, (size_t)t->p->n_loop * sizeof *number);

    if (!loops || !number || !copy_program(t, get, pool))
        return false;
    write(t, loops, number);
    return true;
}
