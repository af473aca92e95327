/* regions.c - which loops of a program are strips of neighbouring elements: those that cost least.
 * A region is a loop over an axis, or all that stands in a loop (or in a part of the program) where
 * each instruction that does something is in some loop over that axis: these then share one loop
 * over strips, around the others. */
#include "kernels/cpu/codegen/parts.h"
#include "core/caches.h"
#include <stdlib.h>
#include <string.h>

static bool takes_step(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

/* ---- What varies ----------------------------------------------------------------------------- */
static bool address_varies(const rd_codegen *n, const rd_address *at, int32_t axis,
                           const bool *varies)
{
    bool found = false;

    for (int32_t k = 0; k < at->n_add; k++)
        found |= at->add[k].axis == axis || (at->add[k].axis < 0 && varies[at->add[k].reg]);
    (void)n;
    return found;
}

static bool in_loop_over(const rd_codegen *n, int32_t inst, const rd_region *r)
{
    for (int32_t k = n->around[inst]; k >= 0 && n->begin[k] >= r->from; k = n->parent[k])
        if (n->p->loop[k].axis == r->axis)
            return true;
    return r->loop >= 0 && !r->around;
}

static bool varies_by(const rd_codegen *n, const rd_inst *inst, int32_t i, const rd_region *r,
                      const bool *varies)
{
    switch (inst->kind) {
    case RD_I_COORD:
    case RD_I_LOAD: return address_varies(n, &n->p->address[inst->arg], r->axis, varies);
    case RD_I_MAP: {
        const int32_t in[] = { inst->a, inst->b, inst->c };
        bool          any  = false;

        for (int k = 0; k < rd_op_table[inst->op].arity && k < 3; k++)
            any |= varies[in[k]];
        return any;
    }
    case RD_I_CAST:
    case RD_I_INDEX: return varies[inst->a];
    case RD_I_SELECT: return varies[inst->a] || varies[inst->b] || varies[inst->c];
    case RD_I_SCAN: return in_loop_over(n, i, r);
    case RD_I_CALL: {
        const rd_call *call = &n->p->call[inst->arg];
        bool           any  = false;

        for (int32_t k = 0; k < call->n_in; k++)
            any |= varies[call->in[k]];
        return any;
    }
    case RD_I_CLOSE: {
        const rd_codegen_fold *f = &n->fold[inst->arg];

        return in_loop_over(n, i, r) && (rd_coef(&f->fold->cell, r->axis) ||
                                         (f->start >= r->from && in_loop_over(n, f->step, r)));
    }
    default: return false;
    }
}

void rd_region_varies(const rd_codegen *n, const rd_region *r, bool *varies)
{
    memset(varies, 0, (size_t)n->p->n_reg);
    for (int32_t i = r->from; i < r->to; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_CLOSE || inst->kind == RD_I_SCAN)
            for (int32_t k = 0; k < n->p->fold[inst->arg].n_out; k++)
                varies[inst->dst + k] = varies_by(n, inst, i, r, varies);
        else if (inst->kind <= RD_I_CALL && inst->kind >= RD_I_CONST && inst->kind != RD_I_STORE)
            varies[inst->dst] = varies_by(n, inst, i, r, varies);
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
    const rd_fold *fold = f->fold;

    if (r->around || f->start >= r->from || fold->lanes == 1 || fold->lane.n_add != 1 ||
        fold->lane.offset || rd_coef(&fold->lane, r->axis) != 1 || rd_coef(&fold->outer, r->axis) ||
        rd_coef(&fold->cell, r->axis) ||
        (f->fold->lane_extent > f->fold->lanes && f->along != r->loop))
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
    const int64_t          cell = rd_coef(&f->fold->cell, r->axis);

    if (!in_loop_over(n, step, r))
        return false;
    if (rd_coef(&f->fold->lane, r->axis) || rd_coef(&f->fold->outer, r->axis))
        return !f->fold->scan && steps_along_lanes(n, r, f);
    if (f->start < r->from)
        return cell == 1 && f->fold->lanes == 1;
    return (f->fold->lanes == 1 || f->room == 0) && (cell == 0 || f->fold->cell.n_add == 1) &&
           f->close < r->to;
}

/* What begins in the region and ends there. */
static bool may_close(const rd_codegen *n, const rd_region *r, int32_t close)
{
    const rd_codegen_fold *f = &n->fold[n->p->inst[close].arg];

    if (f->start >= r->from && f->start < r->to)
        return true;
    return rd_coef(&f->fold->cell, r->axis) == 1 && f->fold->lanes == 1;
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
        if (loop && loop->axis == r->axis && (loop->kind == RD_LOOP_TILE || loop->backwards))
            return false;
        if (inst->kind == RD_I_EXIT && !may_go_on(n, r, inst))
            return false;
        if ((inst->kind == RD_I_STORE && !may_store(n, r, i)) ||
            (takes_step(inst) && !may_step(n, r, i)) ||
            (inst->kind == RD_I_CLOSE && !may_close(n, r, i)))
            return false;
    }
    return true;
}

/* ---- What it costs --------------------------------------------------------------------------- */
/* A float becomes an int of a register of 32 bits: vectors do it where it fits. */
static bool narrows(const rd_inst *inst)
{
    return rd_dtype_kind(inst->from) == RD_KIND_FLOAT && inst->type != RD_BOOL &&
           inst->type != RD_U32 && rd_dtype_kind(inst->type) != RD_KIND_FLOAT &&
           rd_register_size(inst->type) == 4;
}

bool rd_divides_by_number(const rd_codegen *n, const rd_inst *inst)
{
    const rd_inst *by = inst->b >= 0 ? &n->p->inst[n->made[inst->b]] : NULL;

    return inst->kind == RD_I_MAP && by && by->kind == RD_I_CONST &&
           (inst->op == RD_OP_floordiv || inst->op == RD_OP_remainder) &&
           rd_dtype_kind(inst->type) != RD_KIND_FLOAT && inst->type != RD_BOOL && by->value.i64 > 0;
}

bool rd_cuts(const rd_codegen *n, const rd_inst *inst)
{
    if (inst->kind == RD_I_CALL)
        return true;
    if (inst->kind == RD_I_STEP)
        return rd_takes_power(&n->fold[inst->arg]);
    if (inst->kind == RD_I_CAST)
        return narrows(inst);
    return inst->kind == RD_I_MAP && !rd_divides_by_number(n, inst) &&
           (inst->op == RD_OP_exp || rd_op_calls(inst->op, inst->type));
}

/* Elements of a few interleaved rows are taken apart by vectors, those further apart one by one. */
static bool is_far(int64_t coef)
{
    return coef < 0 || coef > 4;
}

enum { FEW_ELEMENTS = 16, FEW_INSTRUCTIONS = 12 };

bool rd_writes_out(const rd_codegen *n, int32_t loop, int32_t strip)
{
    const rd_loop *l   = &n->p->loop[loop];
    const int32_t most = l->end - n->begin[loop] > FEW_INSTRUCTIONS ? RD_CODEGEN_FEW : FEW_ELEMENTS;

    if (l->kind != RD_LOOP_EACH || l->extent > most || n->p->axis_extent[l->axis] != l->extent ||
        n->root == l->axis)
        return false;
    for (int32_t i = n->begin[loop] + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if ((inst->kind == RD_I_LOOP && n->p->loop[inst->arg].axis != strip) || rd_cuts(n, inst) ||
            inst->kind == RD_I_INDEX || inst->kind == RD_I_START || inst->kind == RD_I_CLOSE)
            return false;
        if (takes_step(inst) && n->fold[inst->arg].along == loop && n->fold[inst->arg].blocks)
            return false;
        if (inst->kind == RD_I_LOAD && n->reuse[i] < 0 &&
            is_far(rd_coef(&n->p->address[inst->arg], strip)))
            return false;
        if (inst->kind == RD_I_SCAN && n->fold[inst->arg].levels &&
            n->fold[inst->arg].along != loop)
            return false; /* its elements' places are no numbers, see scans.c */
    }
    return true;
}

bool rd_writes_out_scan(const rd_codegen *n, int32_t loop)
{
    const rd_loop *l    = &n->p->loop[loop];
    bool           tree = false;

    if (l->kind != RD_LOOP_EACH || l->extent > FEW_ELEMENTS ||
        n->p->axis_extent[l->axis] != l->extent || n->p->root == l->axis || n->at_loop[loop] >= 0 ||
        n->in_loop[loop] >= 0 || rd_ends_blocks(n, loop) ||
        l->end - n->begin[loop] > FEW_INSTRUCTIONS)
        return false;
    for (int32_t i = n->begin[loop] + 1; i < l->end; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_LOOP || inst->kind == RD_I_START || inst->kind == RD_I_CLOSE)
            return false;
        tree |= inst->kind == RD_I_SCAN && n->fold[inst->arg].along == loop &&
                n->fold[inst->arg].levels;
    }
    return tree;
}

/* Elements that a vector holds of what the region computes with: of the widest. */
static double lanes_of(const rd_codegen *n, const rd_inst *inst)
{
    return (double)n->vector / rd_register_size(inst->type);
}

enum { LINE = 64 };

/* Neighbours `apart` bytes from each other share lines, or do not; where a loop does not change
 * them, they are collected once. */
static double cost_of_collecting(const rd_codegen *n, const rd_region *r, const rd_inst *inst,
                                 int64_t apart)
{
    const double  cost = apart <= LINE ? 1.2 : 2;
    const int32_t loop = rd_loop_of_reuse(n, r, (int32_t)(inst - n->p->inst));

    return loop >= 0 ? cost / (double)rd_trips(n->p, loop) + 1.0 / lanes_of(n, inst) : cost;
}

static double cost_of_memory(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_address *at      = &n->p->address[inst->arg];
    const int64_t     coef    = r ? rd_coef(at, r->axis) : 1;
    bool              gathers = false;

    for (int32_t k = 0; k < at->n_add; k++)
        gathers |= at->add[k].axis < 0;
    if (gathers || !r)
        return 1.5;
    if (coef == 1 || coef == -1)
        return 1.0 / lanes_of(n, inst);
    if (coef > 1 && coef <= 4)
        return (double)coef / lanes_of(n, inst) + 0.1;
    if (!coef)
        return 0;
    return cost_of_collecting(n, r, inst, llabs(coef) * rd_dtype_size(at->type));
}

enum { APART = 6 };

static bool reads_apart(const rd_codegen *n, const rd_region *r)
{
    bool found = false;

    for (int32_t i = r->from; i < r->to; i++)
        found |= rd_lies_apart(n, i, r->axis);
    return found;
}

/* Do rounds of a loop inside the region meet the same states?  Then a few of them go together. */
static bool meets_again(const rd_codegen *n, const rd_region *r, const rd_codegen_fold *f)
{
    for (int32_t k = n->around[f->step]; k >= 0 && n->begin[k] >= r->from; k = n->parent[k])
        if (n->p->loop[k].axis != r->axis && !rd_coef(&f->fold->cell, n->p->loop[k].axis))
            return true;
    return false;
}

/* Element by element each addition waits for the last; states of cells that outlive the region come
 * from memory. */
static double cost_of_step(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f     = &n->fold[inst->arg];
    const double           cost  = rd_fold_cost(f->fold);
    double                 moves = 0;

    if (!r)
        return 3 + cost;
    if (f->user && reads_apart(n, r)) /* 64 rows at once: few chains are worth it */
        return APART + cost / rd_step_lanes(n, f, lanes_of(n, inst));
    if (f->start < r->from && f->fold->lanes == 1)
        moves = (meets_again(n, r, f) ? 0.5 : 2) * f->n_state;
    return (cost + moves) / rd_step_lanes(n, f, lanes_of(n, inst));
}

/* Lanes merge from array to array, each step waiting for the last; where neighbours are cells, as
 * vectors. */
static double cost_of_close(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f    = &n->fold[inst->arg];
    const double           cost = 2 + rd_fold_cost(f->fold) * f->lanes;

    if (r && (rd_coef(&f->fold->cell, r->axis) || f->start >= r->from))
        return cost / lanes_of(n, inst);
    return f->lanes > 1 ? 40 + cost : 2 + cost;
}

/* Results are made of states at each step; nodes of the tree that meet, of which there are about
 * three. */
static double cost_of_scan(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f     = &n->fold[inst->arg];
    const double           merge = rd_fold_cost(f->fold);
    const double           more  = f->levels ? 3 * merge + 3 : 2 * merge;

    return cost_of_step(n, r, inst) + (r ? more / lanes_of(n, inst) : f->levels ? 2 * more : more);
}

static double cost_of_inst(const rd_codegen *n, const rd_region *r, const rd_inst *inst,
                           const bool *varies)
{
    double cost;

    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE: return cost_of_memory(n, r, inst);
    case RD_I_MAP: cost = (double)rd_op_table[inst->op].cost; break;
    case RD_I_CAST:
    case RD_I_SELECT: cost = 1; break;
    case RD_I_STEP: return cost_of_step(n, r, inst);
    case RD_I_SCAN: return cost_of_scan(n, r, inst);
    case RD_I_CLOSE: return cost_of_close(n, r, inst);
    case RD_I_CALL: return r ? 4 : 8; /* the call and what it is of; what it does costs the same */
    default: return r ? 0.01 : 0.2;
    }
    return r ? (varies[inst->dst] ? cost / lanes_of(n, inst) : 0.02 * cost) : cost;
}

/* Instructions [from, to) for one element: of the region, or for each one by one. */
static double cost_of(const rd_codegen *n, const rd_region *r, int32_t from, int32_t to,
                      const bool *varies)
{
    double cost = 0;

    for (int32_t i = from; i < to; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (inst->kind == RD_I_LOOP) {
            const rd_loop *loop = &n->p->loop[inst->arg];
            const double trips = r && loop->axis == r->axis ? 1 : (double)rd_trips(n->p, inst->arg);

            cost += trips * (cost_of(n, r, i + 1, loop->end, varies) + (r ? 0.02 : 1));
            i = loop->end;
        } else
            cost += cost_of_inst(n, r, inst, varies);
    }
    return cost;
}

/* Strips that are not full cost as much. */
static double cost_of_region(const rd_codegen *n, const rd_region *r, bool *varies)
{
    const int64_t extent = rd_reach(n->p, r->axis);
    const int64_t lanes = n->vector / 4, whole = (extent + lanes - 1) / lanes * lanes;

    rd_region_varies(n, r, varies);
    return (double)(extent < lanes ? whole : extent) * cost_of(n, r, r->from, r->to, varies) + 10;
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
        cost = cost_of_region(n, &r, n->varies);
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
            cost += cost_of_inst(n, NULL, &n->p->inst[i], NULL);
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
            const double cost = cost_of_region(n, &r, n->varies);

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

/* ---- How wide strips are --------------------------------------------------------------------- */
static bool has_lanes(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_LANES && n->fold[k].step >= r->from &&
            n->fold[k].step < r->to)
            return true;
    return false;
}

/* The fewest of its folds: a step of those that have more is several strips. */
static int32_t lanes_in(const rd_codegen *n, const rd_region *r)
{
    int32_t fewest = INT32_MAX;

    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_LANES && n->fold[k].step >= r->from &&
            n->fold[k].step < r->to && n->fold[k].fold->lanes < fewest)
            fewest = n->fold[k].fold->lanes;
    return fewest;
}

/* Does a loop in the region read other elements of memory in each of its rounds, side by side? */
static bool streams(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++) {
        const rd_address *at =
            n->p->inst[i].kind == RD_I_LOAD ? &n->p->address[n->p->inst[i].arg] : NULL;

        if (!at || rd_coef(at, r->axis) != 1 ||
            rd_trips(n->p, n->around[i] >= 0 ? n->around[i] : 0) <= RD_CODEGEN_FEW)
            continue;
        for (int32_t k = n->around[i]; k >= 0 && n->begin[k] >= r->from; k = n->parent[k])
            if (n->p->loop[k].axis != r->axis && rd_coef(at, n->p->loop[k].axis) &&
                rd_trips(n->p, k) > RD_CODEGEN_FEW)
                return true;
    }
    return false;
}

/* An axis that is one strip; elements of rows that stream from memory, of which the states of a
 * fold stay in the first-level cache. */
enum { SHORT = 128, WIDE = 8192, NARROW = RD_RUN_BYTES / 4 };

static int64_t bytes_of_states(const rd_codegen_fold *f)
{
    return f->user ? rd_user_bytes(f) : f->n_state * rd_register_size(f->fold->type);
}

/* What a loop over the strip leaves for the next, for each element, in bytes: states, and arrays of
 * what functions take of all the strip. */
static int64_t bytes_kept(const rd_codegen *n, const rd_region *r)
{
    int64_t bytes = 0;

    for (int32_t i = r->from; i < r->to; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (takes_step(inst))
            bytes += bytes_of_states(&n->fold[inst->arg]);
        if (rd_cuts(n, inst))
            bytes += 2 * 8;
    }
    return bytes;
}

/* Runs of memory that are long enough to stream, and what is kept near. */
static int32_t wide_width(const rd_codegen *n, const rd_region *r)
{
    const int64_t bytes = bytes_kept(n, r), room = 2 * RD_L1_BYTES;
    int64_t       width = bytes ? room / bytes / 64 * 64 : WIDE;

    width = width > WIDE ? WIDE : width < NARROW ? NARROW : width;
    return (int32_t)(rd_reach(n->p, r->axis) < width ? rd_reach(n->p, r->axis) : width);
}

/* States of many lanes of each element of a strip are too many to be wide. */
static bool has_lanes_of_cells(const rd_codegen *n, const rd_region *r)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].mode == RD_FOLD_CELLS && n->fold[k].lanes > 1 &&
            n->fold[k].step >= r->from && n->fold[k].step < r->to)
            return true;
    return false;
}

/* Users' functions of blocks are worth a call for many elements. */
enum { CALLED = 512 };

static bool has_block_calls(const rd_codegen *n, const rd_region *r)
{
    for (int32_t i = r->from; i < r->to; i++)
        if (n->p->inst[i].kind == RD_I_CALL && n->p->call[n->p->inst[i].arg].block)
            return true;
    return false;
}

/* What a whole axis leaves over; tiles and tasks' shares may leave anything. */
static int32_t rest_of(const rd_codegen *n, const rd_region *r)
{
    const int64_t extent = n->p->axis_extent[r->axis];

    return n->root == r->axis || rd_reach(n->p, r->axis) != extent ? -1
                                                                   : (int32_t)(extent % r->width);
}

static void size_region(rd_codegen *n, rd_region *r)
{
    const int64_t reach = rd_reach(n->p, r->axis);

    if (has_lanes(n, r)) {
        r->width = lanes_in(n, r);
        r->fixed = true;
        r->one   = reach <= r->width && n->root != r->axis && reach == n->p->axis_extent[r->axis];
        r->width = r->one ? (int32_t)reach : r->width;
    } else if (reach <= SHORT && n->root != r->axis) {
        r->width = (int32_t)reach;
        r->fixed = r->one = n->p->axis_extent[r->axis] == r->width;
        r->wide =
            n->whole && streams(n, r); /* few rows go together: their states stay in registers */
    } else if (streams(n, r) && !has_lanes_of_cells(n, r)) {
        r->width  = wide_width(n, r);
        r->wide   = true;
        r->arrays = bytes_kept(n, r) > 0;
    } else if (has_block_calls(n, r)) {
        r->width  = CALLED;
        r->arrays = true;
    } else {
        r->width = 64;
        r->fixed = true;
    }
    r->rest = rest_of(n, r);
}

static void set_modes(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        rd_codegen_fold *f = &n->fold[k];

        for (int32_t j = 0; j < n->n_region; j++) {
            const rd_region *r = &n->region[j];

            if (f->step < r->from || f->step >= r->to)
                continue;
            f->mode  = f->start < r->from && (rd_coef(&f->fold->lane, r->axis)) ? RD_FOLD_LANES
                                                                                : RD_FOLD_CELLS;
            f->strip = f->start >= r->from;
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
    for (int32_t k = 0; k < p->n_fold; k++)
        if (goes_along_memory(n, &n->fold[k]) && p->code &&
            rd_codegen_use_now() != RD_CODEGEN_ALWAYS)
            n->why = "a long scan along memory, of which tiles make vectors";
    for (int32_t k = 0; k < n->n_region; k++)
        size_region(n, &n->region[k]);
    rd_codegen_reuse(n);
}
