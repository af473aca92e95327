/* strategy.c - chooses the grid, and the loops that the threads of a team share; then calls the
 * files that choose the rest of a strategy.
 *
 * A fold is a reduction or scan.  Its cells are its results, its lanes partial accumulators.  A
 * slot is a buffer; scratch is temporary memory.
 *
 *     sum over i1 of x[i0][i1]: i0 is the grid; i1 is distributed, its indices are lanes
 *
 * Fields. A fold's start, step and finish are instructions, -1: it has none. A fold of one block
 * (n_block 1) has no combine tree. A fold has `user` if its reducer is the caller's own. s->pairs
 * is the loop over points that all results read, -1: none. */
#include "kernels/cuda/strategy.h"
#include "core/combine_tree.h"
#include "kernels/math/prefix_sums.h"
#include <inttypes.h>
#include <string.h>

/* True if an instruction gives a fold (a reduction or scan) its next element. */
static bool takes_element(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Finds what kernels must know of a fold: weights, combine tree, state (accumulator) and scan.
 * `merges_empty`: states that have met no element may be merged; `places_ascend`: a lane's elements
 * come by rising place; `levels`: of nodes of a scan by a tree. s->why gets the reason if a user's
 * reducer has no text that a GPU can compile. False: no memory. */
static bool describe_fold(rd_cuda_strategy *s, int32_t k, rd_get_fn *get, void *pool)
{
    rd_cuda_fold  *f    = &s->fold[k];
    const rd_fold *fold = f->emit.fold;

    /* step < 0: a fold without elements, of which only the results are wanted. */
    f->emit.weighted |= f->step < 0 && fold->user && fold->user->step2;
    f->emit.merges_empty = f->step < 0 || (fold->user && fold->lanes > 1);
    f->tree              = fold->n_block > 1 && !fold->scan;
    f->hi_lo_sums        = rd_fold_has_pairs(fold);
    if (fold->prefix == RD_PREFIX_TREE && fold->scan && !rd_fold_any_grouping(fold))
        f->levels = rd_cuda_bits(RD_TREE_STEPS);
    f->emit.places_ascend = f->step >= 0 && !fold->scan && rd_rises(s->p, f->step, &fold->index);
    rd_emit_facts(&f->emit, rd_positions(s->p, &fold->index));
    f->n_words = f->hi_lo_sums ? rd_prefix_sum_words(fold->n_block) : 0;
    if (fold->user && !rd_user_has_text(fold->user))
        s->why = "a reducer is C code, which a GPU cannot run; give its text by RD_REDUCER";
    else if (fold->user && !rd_user_facts(&f->emit, k, /*pointers=*/false, get, pool))
        return false;
    return true;
}

/* Finds the instructions of each fold that begin it (START), take an element (STEP) and give its
 * results (CLOSE), and what kernels must know of it. Operands of a step that it does not have
 * are -1: b the weight, c the mask. False: no memory. */
static bool find_folds(rd_cuda_strategy *s, rd_get_fn *get, void *pool)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_fold; k++)
        s->fold[k] = (rd_cuda_fold){
            .emit = { .fold = &p->fold[k] }, .start = -1, .step = -1, .finish = -1, .split = -1
        };
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        /* only used if `arg` is a fold's number */
        rd_cuda_fold *f = &s->fold[inst->arg >= 0 && inst->arg < p->n_fold ? inst->arg : 0];

        if (inst->kind == RD_I_START)
            f->start = i;
        if (inst->kind == RD_I_CLOSE)
            f->finish = i;
        if (!takes_element(inst))
            continue;
        if (f->step >= 0)
            s->why = "a fold has two steps";
        f->step          = i;
        f->emit.masked   = inst->c >= 0;
        f->emit.weighted = inst->b >= 0;
    }
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!describe_fold(s, k, get, pool))
            return false;
    return true;
}

/* ---- The grid -------------------------------------------------------------------------------- */
/* True if each work item may repeat an instruction that stands before the loop over items,
 * instead of one that all share. So it computes a value from constants, indices and memory that
 * the program does not change. */
static bool is_free(const rd_cuda_strategy *s, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_INDEX: return true;
    case RD_I_LOAD: return !s->stored[s->p->address[inst->arg].slot];
    default: return false;
    }
}

/* Returns the only loop in the instructions [from, to), if nothing follows it and each item may
 * repeat all that stands before it; else -1. */
static int32_t only_loop(const rd_cuda_strategy *s, int32_t from, int32_t to)
{
    int32_t only = -1;

    for (int32_t i = from; i < to; i++) {
        const rd_inst *inst = &s->p->inst[i];

        if (inst->kind == RD_I_LOOP && only < 0) {
            only = inst->arg;
            i    = s->p->loop[only].end;
        } else if (only >= 0 || !is_free(s, inst))
            return -1;
    }
    return only;
}

/* Finds the grid: perfectly nested loops, each the only one in the body of the one before. Their
 * indices number the work items; the instructions from .. to become the body of an item. */
static void find_grid(rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    s->to     = p->n_inst;
    s->n_item = 1;
    for (int32_t loop; s->n_grid < RD_MAX_GRID && (loop = only_loop(s, s->from, s->to)) >= 0;) {
        s->grid[s->n_grid++] = loop;
        s->n_item *= p->loop[loop].extent;
        s->from = p->loop[loop].begin + 1;
        s->to   = p->loop[loop].end;
    }
}

/* ---- Distributed loops ----------------------------------------------------------------------- */
/* True if two positions are the same function of the loop indices. */
static bool is_same_position(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis != b->add[k].axis || a->add[k].coef != b->add[k].coef)
            return false;
    return true;
}

/* A loop that may be distributed. */
typedef struct distribution {
    int32_t           loop, axis; /* the loop, and its axis */
    const rd_address *lane;       /* the lane position of folds of which threads are lanes, NULL */
} distribution;

/* True if the team's threads may be the fold's lanes (partial accumulators) along the loop: with
 * the loop's index the lane position grows by 1, and cell and line do not change. All
 * folds of a loop for which this holds must have the same lane position, which w->lane keeps.
 * Scans, users' reducers and folds of fewer lanes than a warp are excluded. */
static bool is_along_lanes(const rd_cuda_fold *f, distribution *w)
{
    const rd_fold *fold = f->emit.fold;

    if (fold->scan || fold->user || fold->lanes < RD_WARP || rd_coef(&fold->lane, w->axis) != 1 ||
        rd_coef(&fold->cell, w->axis) || rd_coef(&fold->lane_line, w->axis) ||
        (w->lane && !is_same_position(w->lane, &fold->lane)))
        return false;
    w->lane = &fold->lane;
    return true;
}

/* True if each index of the loop has a cell (output element) of its own in the fold, so that no
 * two threads touch the same accumulator. */
static bool is_along_cells(const rd_cuda_fold *f, const distribution *w)
{
    const rd_fold *fold = f->emit.fold;

    return rd_coef(&fold->cell, w->axis) && !rd_coef(&fold->lane, w->axis) &&
           !rd_coef(&fold->lane_line, w->axis);
}

/* True if threads that share the loop do not race for the slot (buffer) of `access`. Every store
 * to the slot in the loop must move along the axis as the access does, so that an element is
 * stored and loaded at the same index; a scatter is refused. A store that does not move along
 * the axis is allowed in scratch (temporary memory) only, where each thread then has a value of
 * its own. It is allowed only if nothing outside the loop uses the slot. */
static bool is_race_free(const rd_cuda_strategy *s, const rd_inst *access, const distribution *w)
{
    const rd_program *p     = s->p;
    const int32_t     slot  = p->address[access->arg].slot;
    const bool        moves = rd_coef(&p->address[access->arg], w->axis) != 0;

    if (access->kind == RD_I_STORE && rd_has_registers(&p->address[access->arg]))
        return false;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *other  = &p->inst[i];
        const bool     stores = other->kind == RD_I_STORE && p->address[other->arg].slot == slot;

        if ((other->kind != RD_I_LOAD && other->kind != RD_I_STORE) ||
            p->address[other->arg].slot != slot)
            continue;
        /* A value for each index, in one place: each thread has its own, which others do not
         * see. */
        if (!moves && slot >= p->first_scratch && access->kind == RD_I_STORE &&
            !rd_cuda_within(p, i, w->loop))
            return false;
        if (stores && rd_cuda_within(p, i, w->loop) &&
            rd_coef(&p->address[other->arg], w->axis) != rd_coef(&p->address[access->arg], w->axis))
            return false;
    }
    return moves || access->kind == RD_I_LOAD || slot >= p->first_scratch;
}

/* True if an instruction in the loop's body allows a team's threads to share the loop. A fold
 * must begin, step and end within the loop, or the threads must be its lanes (partial
 * accumulators) or have their own cells (output elements) along the loop. */
static bool may_distribute_inst(const rd_cuda_strategy *s, const rd_inst *inst, distribution *w)
{
    const rd_cuda_fold *f;

    switch (inst->kind) {
    case RD_I_LOAD: return !s->stored[s->p->address[inst->arg].slot] || is_race_free(s, inst, w);
    case RD_I_STORE: return is_race_free(s, inst, w);
    case RD_I_START:
        f = &s->fold[inst->arg];
        return (f->step < 0 || rd_cuda_within(s->p, f->step, w->loop)) &&
               (f->finish < 0 || rd_cuda_within(s->p, f->finish, w->loop));
    case RD_I_STEP:
    case RD_I_SCAN:
        f = &s->fold[inst->arg];
        return rd_cuda_within(s->p, f->start, w->loop) || is_along_cells(f, w) ||
               is_along_lanes(f, w);
    case RD_I_CLOSE:
        f = &s->fold[inst->arg];
        return rd_cuda_within(s->p, f->start, w->loop) || is_along_cells(f, w);
    default: return true;
    }
}

/* True if a team's threads (which do one item together) may share the indices of a loop: all of
 * its instructions allow that. */
static bool may_distribute(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_program *p = s->p;
    distribution      w = { .loop = loop, .axis = p->loop[loop].axis };

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++)
        if (!may_distribute_inst(s, &p->inst[i], &w))
            return false;
    return true;
}

/* Returns the extent of the longest loop in a body, at any depth; 0: there is none. */
static int64_t longest_extent(const rd_program *p, int32_t from, int32_t to)
{
    int64_t most = 0;

    for (int32_t i = from; i < to; i++)
        if (p->inst[i].kind == RD_I_LOOP && p->loop[p->inst[i].arg].extent > most)
            most = p->loop[p->inst[i].arg].extent;
    return most;
}

/* Marks the loops of a body that are distributed over the team's threads, from the outside in:
 * nothing inside a distributed loop is. A loop with fewer indices than a warp has threads is not
 * taken if a longer one is inside, so that the threads share that. */
static void find_distributed(rd_cuda_strategy *s, int32_t from, int32_t to)
{
    const rd_program *p = s->p;

    for (int32_t i = from; i < to; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const rd_loop *l = &p->loop[p->inst[i].arg];

        if ((l->extent >= RD_WARP || longest_extent(p, l->begin + 1, l->end) <= l->extent) &&
            may_distribute(s, p->inst[i].arg))
            s->distributed[p->inst[i].arg] = true;
        else
            find_distributed(s, l->begin + 1, l->end);
        i = l->end;
    }
}

/* Decides for each fold whether the team's threads are its lanes (partial accumulators), or have
 * its cells (output elements). Only folds that begin outside a distributed loop and step, or
 * end, inside one are concerned: threads share such a fold. */
static void map_folds(rd_cuda_strategy *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f     = &s->fold[k];
        const int32_t step  = rd_cuda_distributed_around(s, f->step),
                      close = rd_cuda_distributed_around(s, f->finish);

        f->threads_are_lanes = f->threads_have_cells = false;
        if (rd_cuda_distributed_around(s, f->start) < 0 && step >= 0) {
            f->threads_are_lanes  = rd_coef(&f->emit.fold->lane, s->p->loop[step].axis) != 0;
            f->threads_have_cells = !f->threads_are_lanes;
        }
        f->threads_have_cells |= rd_cuda_distributed_around(s, f->start) < 0 && close >= 0;
    }
}

/* True if the team's threads are the lanes (partial accumulators) of any fold. */
static bool has_lane_threads(const rd_cuda_strategy *s)
{
    bool found = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        found |= s->fold[k].threads_are_lanes;
    return found;
}

/* True if more than half of an item's instructions, each counted as often as it runs, are in
 * loops that the team's threads share. */
static bool is_mostly_distributed(const rd_cuda_strategy *s)
{
    double all = 0, spread = 0;

    for (int32_t i = s->from; i < s->to; i++) {
        const double work = rd_program_times(s->p, i);

        all += work;
        spread += rd_cuda_is_distributed(s, i) ? work : 0;
    }
    return 2 * spread > all;
}

/* Chooses the team, the threads that do one item: a warp, if most of the work can be
 * distributed, and folds have lanes or there are too few items for all threads. Neighbouring
 * items that lie densely in memory are left to neighbouring threads. Else one thread does an
 * item, and no loop is distributed. */
static void find_team(rd_cuda_strategy *s, int64_t threads)
{
    s->team = RD_WARP;
    find_distributed(s, s->from, s->to);
    map_folds(s);
    if (is_mostly_distributed(s) &&
        (has_lane_threads(s) || (s->n_item < threads && !rd_cuda_are_items_dense(s))))
        return;
    s->team = 1;
    memset(s->distributed, 0, (size_t)s->p->n_loop * sizeof *s->distributed);
    map_folds(s);
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Marks the slots (buffers) to which the program stores. */
static void find_slots(rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STORE)
            s->stored[p->address[p->inst[i].arg].slot] = true;
}

/* Finds out whether kernels must report to the host: a checked index may be invalid, or an
 * operation may warn (division of ints by 0). */
static void find_reports(rd_cuda_strategy *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->reports |= s->p->inst[i].kind == RD_I_INDEX ||
                      (s->p->inst[i].kind == RD_I_MAP && rd_op_warns(&s->p->inst[i]));
}

/* Sets s->why if the program does something that GPU kernels cannot do. */
static void find_refusals(rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE)
            s->why = "a loop goes by tiles";
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].n_group)
            s->why = "elements go to groups by their labels";
    for (int32_t k = 0; k < p->n_call; k++)
        if (!p->call[k].body)
            s->why = "a function is C code, which a GPU cannot run; give its text by RD_FN";
    if (p->n_sorting)
        s->why = "it sorts rows or takes quantiles of them, which only the CPU does";
}

/* Chooses how a program runs on a GPU. Block tiles (reductions along both axes) come first and
 * decide all. Else there are tiles of pairs, or teams and vector widths; then loops may be split
 * and rows may go to shared memory; at last states (accumulators) and scratch (temporary memory)
 * get their storage. s->why: the reason if the GPU cannot run the program. False: no memory. */
bool rd_cuda_choose_strategy(rd_cuda_strategy *s, const rd_program *p, const rd_cuda_limits *limits,
                             rd_get_fn *get, void *pool)
{
    *s = (rd_cuda_strategy){ .p              = p,
                             .choice         = rd_cuda_choose(limits->threads, &p->tuning),
                             .width          = 1,
                             .neighbour_axis = -1,
                             .chunk_loop     = -1,
                             .transpose      = { -1, -1 },
                             .tile_loop      = { -1, -1 },
                             .pairs          = -1 };
    for (int32_t k = 0; k < p->n_address; k++)
        s->n_slot = p->address[k].slot >= s->n_slot ? p->address[k].slot + 1 : s->n_slot;
    s->stored        = get(pool, (size_t)s->n_slot + 1);
    s->large         = get(pool, (size_t)s->n_slot + 1);
    s->distributed   = get(pool, ((size_t)p->n_loop + 1) * sizeof *s->distributed);
    s->fold          = get(pool, ((size_t)p->n_fold + 1) * sizeof *s->fold);
    s->scratch       = get(pool, ((size_t)p->n_scratch + 1) * sizeof *s->scratch);
    s->cached_row    = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->cached_row);
    s->transposed    = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->transposed);
    s->fills_cache   = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->fills_cache);
    s->feeds_scan    = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->feeds_scan);
    s->tile_load     = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->tile_load);
    s->staged_row_of = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->staged_row_of);
    s->scratch_at    = get(pool, ((size_t)p->n_scratch + 1) * sizeof *s->scratch_at);
    if (!s->stored || !s->large || !s->distributed || !s->fold || !s->scratch || !s->scratch_at ||
        !s->cached_row || !s->feeds_scan || !s->fills_cache || !s->transposed || !s->tile_load ||
        !s->staged_row_of)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        s->cached_row[i] = s->tile_load[i] = s->staged_row_of[i] = -1; /* none */
    find_slots(s);
    find_refusals(s);
    find_reports(s);
    if (!find_folds(s, get, pool))
        return false;
    if (s->why)
        return true;
    find_grid(s);
    if (rd_cuda_find_block_tile(s))
        return true;
    if (!rd_cuda_find_pairs(s, limits)) {
        find_team(s, limits->threads);
        rd_cuda_find_vector_width(s, limits->threads);
    }
    rd_cuda_find_split(s, limits);
    rd_cuda_find_row_cache(s, limits->shared);
    rd_cuda_find_staged_rows(s, limits->shared);
    rd_cuda_assign_storage(s);
    return true;
}

/* Adds the line about a strategy that rd_explain() prints: "strips: 64 items, 16 threads each,
 * i1 spread". The first word is the kind of strategy; "spread" are loops that a team's threads
 * share. Block tiles have a line of their own; s->why: the program cannot run on the GPU. */
void rd_cuda_strategy_text(rd_text *to, const rd_cuda_strategy *s)
{
    if (s->why) {
        rd_text_add(to, "not here: %s", s->why);
        return;
    }
    if (s->tile_loop[0] >= 0) {
        rd_text_add(to,
                    "rows and columns: %" PRId64 " patches of %" PRId64 " by %" PRId64 ", i%" PRId32
                    " and i%" PRId32 ", %" PRId32 " threads a row, %" PRId32
                    " side by side, %" PRId32 " rows at a time",
                    s->n_item * s->n_block_tile[0] * s->n_block_tile[1], s->block_tile[0],
                    s->block_tile[1], s->p->loop[s->tile_loop[0]].axis,
                    s->p->loop[s->tile_loop[1]].axis, s->team, s->width, s->rows_at_once);
        return;
    }
    rd_text_add(to, "%s: %" PRId64 " items, %" PRId32 " thread%s each",
                s->p->n_fold == 0        ? "maps"
                : s->is_lookback         ? "scans"
                : s->pairs >= 0          ? "pairs"
                : s->team > 1            ? "strips"
                : s->neighbour_axis >= 0 ? "columns"
                : s->n_staged_row        ? "short rows"
                                         : "plain",
                s->n_item, s->is_lookback ? s->choice.block : s->team,
                s->is_lookback || s->team > 1 ? "s" : "");
    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->distributed[k])
            rd_text_add(to, ", i%" PRId32 " spread", s->p->loop[k].axis);
    if (s->width > 1)
        rd_text_add(to, ", %" PRId32 " side by side", s->width);
    if (s->pairs >= 0)
        rd_text_add(to, ", i%" PRId32 " by tiles of %" PRId64, s->p->loop[s->pairs].axis,
                    s->point_tile);
    if (s->transpose[0] >= 0)
        rd_text_add(to, ", i%" PRId32 " and i%" PRId32 " by squares",
                    s->p->loop[s->transpose[0]].axis, s->p->loop[s->transpose[1]].axis);
    if (s->n_cached_row > 0)
        rd_text_add(to, ", %" PRId32 " row%s in shared memory", s->n_cached_row,
                    s->n_cached_row > 1 ? "s" : "");
    rd_cuda_staged_rows_text(to, s);
    if (s->is_lookback)
        rd_text_add(to, ", i%" PRId32 " by tiles of %" PRId64 ", once", s->split_axis, s->range);
    else if (s->n_split > 0)
        rd_text_add(to, ", i%" PRId32 " in %" PRId64 " ranges of %" PRId64, s->split_axis,
                    s->n_range, s->range);
    if (s->is_two_pass)
        rd_text_add(to, ", twice");
    if (s->n_split > 1)
        rd_text_add(to, ", %" PRId32 " kernels of them", s->n_split);
    if (s->p->fast)
        rd_text_add(to, ", fast functions");
}
