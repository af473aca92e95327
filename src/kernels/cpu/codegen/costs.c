/* costs.c - what a region costs, by which it is chosen: operations on one element, about, of which
 * a vector makes several at once. */
#include "kernels/cpu/codegen/parts.h"
#include <stdlib.h>

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

/* A row that is gathered, such as that of a stored place, is a row like any other along its
 * elements. */
static double cost_of_memory(const rd_codegen *n, const rd_region *r, const rd_inst *inst,
                             const bool *varies)
{
    const rd_address *at      = &n->p->address[inst->arg];
    const int64_t     coef    = r ? rd_coef(at, r->axis) : 1;
    bool              gathers = false;

    for (int32_t k = 0; k < at->n_add; k++)
        gathers |= at->add[k].axis < 0 && (!r || varies[at->add[k].reg]);
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

/* Of 4096 rows of 1000, by a strip of rows and one by one: scans of sums that begin anew take 4.7 and
 * 1.6 ns an element, of argmin 4.1 and 2.9, as results lie apart, too. */
enum { APART = 6, CHAINS_APART = 20 };

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
    for (int32_t k = n->p->inst[f->step].loop; k >= 0 && n->p->loop[k].begin >= r->from;
         k         = n->p->loop[k].parent)
        if (n->p->loop[k].axis != r->axis && !rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return true;
    return false;
}

/* A scan of which no prefixes combine: its elements wait for each other. */
static bool is_chain(const rd_codegen_fold *f)
{
    return f->of.fold->scan && rd_reducer_table[f->of.fold->reducer].op == RD_OP_none;
}

/* Element by element each addition waits for the last; states of cells that outlive the region come
 * from memory. */
static double cost_of_step(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f     = &n->fold[inst->arg];
    const double           cost  = rd_fold_cost(f->of.fold);
    double                 moves = 0;

    if (!r)
        return 3 + cost;
    if (is_chain(f) && reads_apart(n, r))
        return CHAINS_APART + cost / rd_step_lanes(n, f, lanes_of(n, inst));
    if (f->of.user && reads_apart(n, r)) /* 64 rows at once: few chains are worth it */
        return APART + cost / rd_step_lanes(n, f, lanes_of(n, inst));
    if (f->start < r->from && f->of.fold->lanes == 1)
        moves = (meets_again(n, r, f) ? 0.5 : 2) * f->of.n_state;
    else if (f->start >= r->from && f->lanes > 1) /* all lanes of all cells fill the first cache */
        moves = 2 * f->of.n_state;
    return (cost + moves) / rd_step_lanes(n, f, lanes_of(n, inst));
}

/* Lanes merge as vectors, and the last of these, one of them, within itself: each step waits for the
 * one before. */
static double cost_of_merging(const rd_codegen *n, const rd_codegen_fold *f, const rd_inst *inst)
{
    enum { WAITS = 2 };
    const double together = lanes_of(n, inst);
    double       steps    = 0;

    for (int32_t half = f->lanes / 2; half > 0; half /= 2)
        steps += half > together ? half / together : 1;
    return WAITS * rd_fold_cost(f->of.fold) * steps;
}

/* Where neighbours are cells, their lanes merge as vectors of cells. */
static double cost_of_close(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f    = &n->fold[inst->arg];
    const double           cost = rd_fold_cost(f->of.fold);

    if (r && (rd_coef(&f->of.fold->cell, r->axis) || f->start >= r->from))
        return (2 + cost * f->lanes) / lanes_of(n, inst);
    return f->lanes > 1 ? 42 + cost_of_merging(n, f, inst) : 4 + cost;
}

/* Results are made of states at each step; nodes of the tree that meet, of which there are about
 * three. */
static double cost_of_scan(const rd_codegen *n, const rd_region *r, const rd_inst *inst)
{
    const rd_codegen_fold *f     = &n->fold[inst->arg];
    const double           merge = rd_fold_cost(f->of.fold);
    const double           more  = f->levels ? 3 * merge + 3 : 2 * merge;

    return cost_of_step(n, r, inst) + (r ? more / lanes_of(n, inst) : f->levels ? 2 * more : more);
}

double rd_cost_of_inst(const rd_codegen *n, const rd_region *r, const rd_inst *inst,
                       const bool *varies)
{
    double cost;

    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE: return cost_of_memory(n, r, inst, varies);
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
            cost += rd_cost_of_inst(n, r, inst, varies);
    }
    return cost;
}

/* Strips that are not full cost as much. */
double rd_cost_of_region(const rd_codegen *n, const rd_region *r, bool *varies)
{
    const int64_t extent = rd_reach(n->p, r->axis);
    const int64_t lanes = n->vector / 4, whole = (extent + lanes - 1) / lanes * lanes;

    rd_region_varies(n, r, varies);
    return (double)(extent < lanes ? whole : extent) * cost_of(n, r, r->from, r->to, varies) + 10;
}
