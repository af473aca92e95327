/* regions.c - which loops of a program are strips of neighbouring elements: those that cost least.
 * A region is a loop over an axis, or all that stands in a loop (or in a part of the program) where
 * each instruction that does something is in some loop over that axis: these then share one loop
 * over strips, around the others. */
#include "kernels/cpu/codegen/parts.h"
#include <string.h>

/* ---- What varies ----------------------------------------------------------------------------- */
static bool in_loop_over(const rd_codegen *n, int32_t inst, const rd_region *r)
{
    for (int32_t k = n->p->inst[inst].loop; k >= 0 && n->p->loop[k].begin >= r->from;
         k         = n->p->loop[k].parent)
        if (n->p->loop[k].axis == r->axis)
            return true;
    return r->loop >= 0 && !r->around;
}

/* By what it reads, or where that is. */
static bool varies_by_operands(const rd_codegen *n, const rd_inst *inst, const rd_region *r,
                               const bool *varies)
{
    const bool at    = rd_inst_table[inst->kind].names == RD_NAMES_ADDRESS;
    bool       found = at && rd_coef(&n->p->address[inst->arg], r->axis);
    int32_t    reg[RD_MOST_READ];

    for (int32_t k = rd_inst_reads(n->p, inst, reg) - 1; k >= 0; k--)
        found |= varies[reg[k]];
    return found;
}

static bool varies_by(const rd_codegen *n, int32_t i, const rd_region *r, const bool *varies)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->kind == RD_I_CLOSE ? inst->arg : 0];

    switch (inst->kind) {
    case RD_I_SCAN: return in_loop_over(n, i, r);
    case RD_I_CLOSE:
        return in_loop_over(n, i, r) && (rd_coef(&f->of.fold->cell, r->axis) ||
                                         (f->start >= r->from && in_loop_over(n, f->step, r)));
    default: return varies_by_operands(n, inst, r, varies);
    }
}

void rd_region_varies(const rd_codegen *n, const rd_region *r, bool *varies)
{
    memset(varies, 0, (size_t)n->p->n_reg);
    for (int32_t i = r->from; i < r->to; i++) {
        const bool by = varies_by(n, i, r, varies);

        for (int32_t k = rd_inst_makes(n->p, &n->p->inst[i]) - 1; k >= 0; k--)
            varies[n->p->inst[i].dst + k] = by;
    }
}

/* ---- What may be ----------------------------------------------------------------------------- */
/* What is stored in the region is read there by the element alone that has stored it. */
static bool may_store(const rd_codegen *n, const rd_region *r, int32_t store)
{
    const rd_address *to = &n->p->address[n->p->inst[store].arg];

    if (!rd_coef(to, r->axis) || !in_loop_over(n, store, r))
        return false;
    for (int32_t i = r->from; i < r->to; i++)
        if (n->p->inst[i].kind == RD_I_LOAD && n->p->address[n->p->inst[i].arg].slot == to->slot &&
            !rd_same_address(&n->p->address[n->p->inst[i].arg], to))
            return false;
    return true;
}

/* Its lane axis is the strip's, and its innermost; strips begin with lane 0. */
static bool steps_along_lanes(const rd_codegen *n, const rd_region *r, const rd_codegen_fold *f)
{
    const rd_fold *fold = f->of.fold;

    if (r->around || f->start >= r->from || fold->lanes == 1 || fold->lane.n_add != 1 ||
        fold->lane.offset || rd_coef(&fold->lane, r->axis) != 1 || rd_coef(&fold->outer, r->axis) ||
        rd_coef(&fold->cell, r->axis) ||
        (f->of.fold->lane_extent > f->of.fold->lanes && f->along != r->loop))
        return false;
    for (int32_t k = 0; k < n->p->n_loop; k++)
        if (n->p->loop[k].kind == RD_LOOP_TILE && n->p->loop[k].axis == r->axis &&
            n->p->loop[k].step % fold->lanes)
            return false;
    return n->root != r->axis || n->p->grain % fold->lanes == 0;
}

static bool may_step(const rd_codegen *n, const rd_region *r, int32_t step)
{
    const rd_codegen_fold *f    = &n->fold[n->p->inst[step].arg];
    const int64_t          cell = rd_coef(&f->of.fold->cell, r->axis);

    if (!in_loop_over(n, step, r))
        return false;
    if (rd_has_groups(f))
        return rd_labels_may_step(n, r, step);
    if (rd_coef(&f->of.fold->lane, r->axis) || rd_coef(&f->of.fold->outer, r->axis))
        return !f->of.fold->scan && steps_along_lanes(n, r, f);
    if (f->start < r->from)
        return cell == 1 && f->of.fold->lanes == 1;
    return (f->of.fold->lanes == 1 || f->room == 0) && (cell == 0 || f->of.fold->cell.n_add == 1) &&
           f->close < r->to;
}

/* What begins in the region and ends there. */
static bool may_close(const rd_codegen *n, const rd_region *r, int32_t close)
{
    const rd_codegen_fold *f = &n->fold[n->p->inst[close].arg];

    if (f->start >= r->from && f->start < r->to)
        return true;
    return rd_coef(&f->of.fold->cell, r->axis) == 1 && f->of.fold->lanes == 1;
}

/* Neighbours that each decide something go on until the last has; so their loops must not be long.
 * */
static bool may_go_on(const rd_codegen *n, const rd_region *r, const rd_inst *exit)
{
    return n->fold[exit->a].start < r->from || rd_trips(n->p, exit->arg) <= RD_TREE_STEPS;
}

static bool may_be(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++) {
        const rd_inst *inst = &n->p->inst[i];
        const rd_loop *loop = inst->kind == RD_I_LOOP ? &n->p->loop[inst->arg] : NULL;

        if (n->whole && inst->kind == RD_I_START && n->fold[inst->arg].close >= r->to)
            return false; /* its states are variables that are read behind the region */
        if (loop && rd_is_row(loop) &&
            (r->axis == rd_axis_of_rows(n->p, loop) || (r->around && r->axis == loop->axis)))
            return false;
        if (loop && loop->axis == r->axis && (loop->kind == RD_LOOP_TILE || loop->backwards))
            return false;
        if (inst->kind == RD_I_EXIT && !may_go_on(n, r, inst))
            return false;
        if ((inst->kind == RD_I_STORE && !may_store(n, r, i)) ||
            (rd_takes_step(inst) && !may_step(n, r, i)) ||
            (inst->kind == RD_I_CLOSE && !may_close(n, r, i)))
            return false;
    }
    return true;
}

/* ---- Which it is ----------------------------------------------------------------------------- */
typedef struct best {
    double  cost;
    int32_t axis; /* -1: none here, regions inside */
    bool    around;
} best;

static rd_region region_of(const rd_codegen *n, int32_t loop, bool around, int32_t from, int32_t to,
                           int32_t axis)
{
    (void)n;
    return (rd_region){ .axis = axis, .loop = loop, .around = around, .from = from, .to = to };
}

static double choose(rd_codegen *n, int32_t loop, int32_t from, int32_t to, int part);

static bool is_tried(const rd_codegen *n, int32_t i)
{
    return n->p->inst[i].kind == RD_I_LOOP && n->p->loop[n->p->inst[i].arg].kind == RD_LOOP_EACH;
}

/* The best strips around the instructions [from, to). */
static void try_around(rd_codegen *n, int32_t loop, int32_t from, int32_t to, best *b)
{
    for (int32_t i = from; i < to; i++) {
        rd_region r;
        double    cost;

        if (!is_tried(n, i))
            continue;
        r = region_of(n, loop, true, from, to, n->p->loop[n->p->inst[i].arg].axis);
        if (!may_be(n, &r))
            continue;
        cost = rd_cost_of_region(n, &r, n->varies);
        if (cost < b->cost)
            *b = (best){ cost, r.axis, true };
    }
}

static void add_region(rd_codegen *n, const rd_region *r, int part)
{
    const int32_t number = n->n_region++;

    n->region[number] = *r;
    if (!r->around)
        n->at_loop[r->loop] = number;
    else if (r->loop >= 0)
        n->in_loop[r->loop] = number;
    else
        n->in_part[part] = number;
}

static double choose_within(rd_codegen *n, int32_t from, int32_t to, int part)
{
    double cost = 0;

    for (int32_t i = from; i < to; i++)
        if (n->p->inst[i].kind == RD_I_LOOP) {
            const rd_loop *l = &n->p->loop[n->p->inst[i].arg];

            cost += choose(n, n->p->inst[i].arg, i + 1, l->end, part);
            i = l->end;
        } else
            cost += rd_cost_of_inst(n, NULL, &n->p->inst[i], NULL);
    return cost;
}

/* Regions of the loop (-1: the part) whose body is [from, to); what all its rounds cost then. */
static double choose(rd_codegen *n, int32_t loop, int32_t from, int32_t to, int part)
{
    const double  trips    = loop >= 0 ? (double)rd_trips(n->p, loop) : 1;
    const int32_t n_region = n->n_region;
    best          b        = { trips * (choose_within(n, from, to, part) + 1), -1, false };
    rd_region     r;

    if (loop >= 0 && n->p->loop[loop].kind == RD_LOOP_EACH) {
        r = region_of(n, loop, false, from, to, n->p->loop[loop].axis);
        if (may_be(n, &r)) {
            const double cost = rd_cost_of_region(n, &r, n->varies);

            if (cost < b.cost)
                b = (best){ cost, r.axis, false };
        }
    }
    {
        best around = { b.cost / trips, -1, false };

        try_around(n, loop, from, to, &around);
        if (around.axis >= 0)
            b = (best){ around.cost * trips, around.axis, true };
    }
    if (b.axis >= 0) {
        while (n->n_region > n_region) { /* those inside are not */
            const rd_region *old = &n->region[--n->n_region];

            if (!old->around)
                n->at_loop[old->loop] = -1;
            else if (old->loop >= 0)
                n->in_loop[old->loop] = -1;
        }
        r = region_of(n, loop, b.around, from, to, b.axis);
        add_region(n, &r, part);
    }
    return b.cost;
}

/* ---- All together ---------------------------------------------------------------------------- */
static void set_modes(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        rd_codegen_fold *f = &n->fold[k];

        for (int32_t j = 0; j < n->n_region; j++) {
            const rd_region *r = &n->region[j];

            if (f->step < r->from || f->step >= r->to)
                continue;
            f->mode = f->start < r->from && (rd_coef(&f->of.fold->lane, r->axis)) ? RD_FOLD_LANES
                                                                                  : RD_FOLD_CELLS;
            f->of.cells = f->mode == RD_FOLD_CELLS;
            f->strip    = f->start >= r->from;
        }
    }
}

/* Is it a scan by the tree that is not short?  Along memory tiles make vectors of one row; a strip
 * of rows reads lines far apart. */
enum { LONG_SCAN = 128 };
static bool goes_along_memory(const rd_codegen *n, const rd_codegen_fold *f)
{
    return f->levels && f->along >= 0 && rd_trips(n->p, f->along) > LONG_SCAN;
}

void rd_codegen_regions(rd_codegen *n)
{
    const rd_program *p      = n->p;
    const int32_t     part[] = { 0, p->body, p->tail, p->n_inst };

    memset(n->at_loop, -1, (size_t)(p->n_loop + 1) * sizeof *n->at_loop);
    memset(n->in_loop, -1, (size_t)(p->n_loop + 1) * sizeof *n->in_loop);
    for (int k = 0; k < 3; k++) {
        n->in_part[k] = -1;
        choose(n, -1, part[k], part[k + 1], k);
    }
    set_modes(n);
    rd_find_wholes(n);
    for (int32_t k = 0; k < p->n_fold; k++)
        if (goes_along_memory(n, &n->fold[k]) && p->code &&
            rd_codegen_use_now() != RD_CODEGEN_ALWAYS)
            n->why = "a long scan along memory, of which tiles make vectors";
    for (int32_t k = 0; k < n->n_region; k++)
        rd_size_region(n, &n->region[k]);
    rd_codegen_reuse(n);
}
