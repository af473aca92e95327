/* split_reduction.c - the split reduction (split-K).  If there are too few items, the long loops
 * of an item are split into ranges, which are items, too.  Ranges leave partials; RD_FAN ranges
 * are a group, RD_FAN groups are one of the level above, until one group is left.
 *
 *     sum of 10^9 elements, 1 item: "i0 in 8192 ranges of 131072"
 *
 * A loop that does nearly all of the work is split alone.  Several loops over one axis, as the
 * phases of a softmax, are split alike.  Each then has a kernel of its own.  It repeats what
 * stands before the loop, and finds the folds of earlier loops combined.
 *
 * Scans along rows of memory are look-back scans (lookback_scan.c).  Other scans along one loop
 * run twice: first each range leaves its total, of which the nodes of the combine tree are made.
 * Then each range goes on from the nodes that cover what is before it (kernels/math/prefix_sums.h).
 *
 * If the GPU has no room for all data, ranges are so short that a range of every item fits.
 *
 * An item is one unit of work; a team is the threads that do an item.  A fold is a reduction or
 * scan; its partials are nodes of its combine tree that a range leaves.
 *
 * Fields. s->n_split loops are split into ranges. A fold of one block (n_block 1) has no combine
 * tree. A fold's start, step and finish are instructions, -1: it has none. A fold has `user` if its
 * reducer is the caller's own.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. Scratch is
 * temporary memory of a task. */
#include "core/combine_tree.h"
#include "kernels/cuda/work_blocks.h"

/* Returns the work of a loop: how often all its instructions together run. */
static double work_of(const rd_program *p, int32_t loop)
{
    double work = 0;

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++)
        work += rd_program_times(p, i);
    return work;
}

/* ---- Which loops ----------------------------------------------------------------------------- */
/* Lists the loops directly in the body of an item, in order, as candidates to be split. False:
 * there are none, or more than RD_MOST_SPLITS. */
static bool find_split_loops(rd_cuda_strategy *s)
{
    s->n_split = 0;
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOOP) {
            if (s->n_split == RD_MOST_SPLITS)
                return false;
            s->split[s->n_split++] = s->p->inst[i].arg;
            i                      = s->p->loop[s->p->inst[i].arg].end;
        }
    return s->n_split > 0;
}

/* Returns the loop of an item's body that does nearly all of the item's work, at least
 * main_share (15/16) of what all loops do; -1: there is none. */
int32_t rd_cuda_main_loop(const rd_cuda_strategy *s)
{
    const rd_program *p   = s->p;
    double            all = 0, most = 0;
    int32_t           found = -1;

    for (int32_t i = s->from; i < s->to; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const int32_t loop = p->inst[i].arg;
        const double  work = work_of(p, loop);

        all += work;
        if (work > most) {
            most  = work;
            found = loop;
        }
        i = p->loop[loop].end;
    }
    return most < s->choice.main_share * all ? -1 : found;
}

/* Splits the main loop alone, if an item has one. Else all listed loops stay, with a kernel
 * each. */
static void keep_main_loop(rd_cuda_strategy *s)
{
    const int32_t found = rd_cuda_main_loop(s);

    if (found < 0)
        return;
    s->split[0] = found;
    s->n_split  = 1;
}

/* Returns which of the split loops (those that are divided into ranges) a loop is, its number in
 * s->split[]; -1: it is not split. */
int32_t rd_cuda_split_of(const rd_cuda_strategy *s, int32_t loop)
{
    for (int32_t k = 0; k < s->n_split; k++)
        if (s->split[k] == loop)
            return k;
    return -1;
}

/* True if all split loops go over the same axis, and none is cut into chunks: then one division
 * into ranges serves all of them. */
static bool are_alike(const rd_cuda_strategy *s)
{
    const rd_loop *first = &s->p->loop[s->split[0]];

    for (int32_t k = 0; k < s->n_split; k++) {
        const rd_loop *l = &s->p->loop[s->split[k]];

        if (l->axis != first->axis || l->extent != first->extent || s->split[k] == s->chunk_loop)
            return false;
    }
    return true;
}

/* Returns which of the split loops (those that are divided into ranges) contains an instruction;
 * -1: none does. */
static int32_t split_around(const rd_cuda_strategy *s, int32_t inst)
{
    for (int32_t k = 0; k < s->n_split; k++)
        if (rd_cuda_within(s->p, inst, s->split[k]))
            return k;
    return -1;
}

/* True if a fold begins directly in the body of an item, where the split loops stand; so all
 * ranges take part in it. */
static bool is_of_item(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    return f->start >= s->from && f->start < s->to &&
           s->p->inst[f->start].loop == s->p->inst[s->p->loop[s->split[0]].begin].loop;
}

/* True if ranges need nothing from each other but partials (nodes of combine trees). A fold of
 * the item must take its elements in a split loop, as else each range would take all of them. It
 * must be no scan and have several blocks of a fixed number of steps. A fold behind all split
 * loops is no obstacle, as only the last range does it. False, too, if no fold is split. */
static bool may_split_folds(const rd_cuda_strategy *s)
{
    bool found = false;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f     = &s->fold[k];
        const int32_t       split = f->step < 0 ? -1 : split_around(s, f->step);

        if (f->step < 0 || !is_of_item(s, f)) /* no elements, or each range has its own fold */
            continue;
        if (split < 0 && f->step > s->p->loop[s->split[s->n_split - 1]].end)
            continue; /* it is behind them all */
        if (split < 0 || f->start > s->p->loop[s->split[split]].begin || f->emit.fold->scan ||
            f->emit.fold->n_block == 1 || f->emit.fold->steps == INT64_MAX)
            return false;
        found = true;
    }
    return found;
}

/* True if no instruction behind the only split loop loads what the loop stores: the last range,
 * which runs them, has stored only its own part. */
static bool keeps_nothing(const rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t i = p->loop[s->split[0]].begin + 1; i < p->loop[s->split[0]].end; i++)
        for (int32_t j = p->loop[s->split[0]].end; p->inst[i].kind == RD_I_STORE && j < s->to; j++)
            if (p->inst[j].kind == RD_I_LOAD &&
                p->address[p->inst[j].arg].slot == p->address[p->inst[i].arg].slot)
                return false;
    return true;
}

/* True if an instruction of the item that is outside all split loops stores to the slot
 * (buffer). */
static bool is_stored(const rd_cuda_strategy *s, int32_t slot)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_STORE && s->p->address[s->p->inst[i].arg].slot == slot &&
            split_around(s, i) < 0)
            return true;
    return false;
}

/* True if no instruction of the item loads a result that is stored outside the split loops. Such
 * stores happen at the very end, in the range that finishes last. */
static bool awaits_nothing(const rd_cuda_strategy *s)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOAD &&
            s->p->address[s->p->inst[i].arg].slot < s->p->first_scratch &&
            is_stored(s, s->p->address[s->p->inst[i].arg].slot))
            return false;
    return true;
}

/* Gives each item global memory for scratch (temporary memory) that one split loop stores and a
 * later one loads, since these are different kernels. False: all items together would need more
 * than 1 GiB. If an item is `width` neighbours (strip >= 0), each of them has its own. */
static bool assign_item_memory(rd_cuda_strategy *s)
{
    enum { MOST = 1 << 30 };
    const rd_program *p = s->p;

    s->item_bytes = 0;
    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst = &p->inst[i];
        const int32_t  k =
            inst->kind == RD_I_STORE ? p->address[inst->arg].slot - p->first_scratch : -1;

        if (k < 0 || split_around(s, i) < 0 || s->scratch[k] == RD_STORAGE_ITEM)
            continue;
        /* A place that does not move along the loop is temporary: each thread has its own. */
        if (!rd_coef(&p->address[inst->arg], p->loop[s->split[split_around(s, i)]].axis))
            continue;
        s->scratch[k]    = RD_STORAGE_ITEM;
        s->scratch_at[k] = s->item_bytes;
        s->item_bytes +=
            rd_cuda_room(p->scratch_bytes[k] * (s->neighbour_axis >= 0 ? s->width : 1));
    }
    return s->n_item * s->item_bytes <= MOST;
}

/* True if the split axis moves a fold's lane position: then the elements of a range go to its
 * lanes (partial accumulators) in turn. Else it moves the line only, so an index is a
 * whole step of all lanes. */
bool rd_cuda_is_along_lanes(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    return rd_coef(&f->emit.fold->lane, s->split_axis) != 0;
}

/* Returns how many steps of a fold an index of the split axis is worth. A step of the outer
 * position is a row of all lanes (partial accumulators). If lanes lie along the axis, it returns
 * elements of the lane position instead. */
int64_t rd_cuda_steps_per_index(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    const rd_fold *fold = f->emit.fold;

    return rd_cuda_is_along_lanes(s, f) ? rd_coef(&fold->lane, s->split_axis)
                                        : rd_coef(&fold->lane_line, s->split_axis) *
                                              ((fold->lane_extent + fold->lanes - 1) / fold->lanes);
}

/* Returns the length of one block of a fold's combine tree, in the unit of
 * rd_cuda_steps_per_index(): 64 steps; if lanes (partial accumulators) lie along the split axis,
 * 64 elements for each lane. */
static int64_t block_of(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    const int32_t lanes = f->emit.fold->lanes;

    return RD_TREE_STEPS * (rd_cuda_is_along_lanes(s, f) && lanes > 1 ? lanes : 1);
}

/* Returns the grain: the smallest number of indices of the split axis that is whole blocks of
 * the combine tree for all split folds, and whole vectors; their least common multiple. Tiles of
 * points (pairs >= 0) also begin at blocks. */
static int64_t grain_of(const rd_cuda_strategy *s)
{
    int64_t grain = s->pairs >= 0 ? RD_TREE_STEPS : s->width; /* tiles begin at blocks */

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (f->split < 0)
            continue;
        const int64_t unit    = block_of(s, f);
        const int64_t indices = unit / rd_common_divisor(unit, rd_cuda_steps_per_index(s, f));

        grain = grain / rd_common_divisor(grain, indices) * indices;
    }
    return grain > 0 ? grain : 1;
}

/* Chooses the length of ranges: 2^n grains (indices at which a range may begin), so that no more
 * ranges (parts of a split loop) are made than give all threads work. If a grain is 2^m blocks,
 * a range is exactly one node of the combine tree. */
static void find_ranges(rd_cuda_strategy *s)
{
    enum { MOST = 1 << 20 }; /* `fan` to the number of levels above them, at most */
    const int64_t extent = s->p->loop[s->split[0]].extent, threads = s->n_item * s->team;
    const int64_t wanted = (s->choice.at_work + threads - 1) / threads;

    s->range = grain_of(s);
    while ((extent + s->range - 1) / s->range > (wanted < MOST ? wanted : MOST))
        s->range *= 2;
    s->n_range = (extent + s->range - 1) / s->range;
}

/* ---- Groups of ranges ------------------------------------------------------------------------ */
/* Counts the blocks of each split fold in a range. If that is a power of 2, each range is one
 * node of the combine tree (aligned), as all ranges begin at multiples of it. */
static void count_blocks(rd_cuda_strategy *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        if (f->split < 0)
            continue;
        f->blocks  = s->range * rd_cuda_steps_per_index(s, f) / block_of(s, f);
        f->aligned = (f->blocks & (f->blocks - 1)) == 0;
    }
}

/* Returns the most nodes (partial results in the combine tree) that so many neighbouring ranges
 * (parts of a split loop) leave of a fold: one for each binary digit of their number of blocks.
 * Ranges that are not aligned to nodes have up to twice as many. A row of partials has one node
 * of each lane. */
static int32_t rows_of(const rd_cuda_fold *f, int64_t ranges)
{
    const int64_t blocks = f->blocks * ranges, all = f->emit.fold->n_block;

    return rd_cuda_bits(blocks < all ? blocks : all) * (f->aligned ? 1 : 2);
}

/* Lays out all levels of groups of ranges (parts of a split loop). Level 0 has the ranges; each
 * next level has groups of `fan` members of the level below, until one group is left. Each range
 * or group has rows for its nodes (partial results in the combine tree), and a counter of
 * members that have come. A group of aligned ranges is one node, but for the last, which may be
 * shorter and end within a node. */
static void find_levels(rd_cuda_strategy *s)
{
    int64_t n = s->n_range, ranges = 1;

    count_blocks(s);
    for (s->n_level = 0; s->n_level == 0 || s->level[s->n_level - 1].n > 1;) {
        rd_groups *level = &s->level[s->n_level++];

        *level = (rd_groups){ .n = n, .row = s->item_rows, .counter = s->item_counters };
        for (int32_t k = 0; k < s->p->n_fold; k++) {
            /* rows of the last group, which may end within a node; usual: of every other one */
            const int32_t last  = s->fold[k].split >= 0 ? rows_of(&s->fold[k], ranges) : 0;
            const int32_t usual = last && s->fold[k].aligned ? 1 : last;

            level->rows      = usual > level->rows ? usual : level->rows;
            level->last_rows = last > level->last_rows ? last : level->last_rows;
        }
        s->item_rows += (n - 1) * level->rows + level->last_rows;
        s->item_counters += n;
        n = (n + s->choice.fan - 1) / s->choice.fan;
        ranges *= s->choice.fan;
    }
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* True if the prefix of a scan follows from nodes of the combine tree: a built-in reducer with a
 * state of one number. Float sums (pair) add nodes as the tree does; other reducers must have
 * the same bits for any grouping. */
static bool has_nodes(const rd_cuda_fold *f)
{
    return !f->emit.fold->user && f->emit.n_state == 1 &&
           (f->hi_lo_sums || rd_fold_any_grouping(f->emit.fold));
}

/* True if the only split loop contains scans along it and no other fold, nothing follows the
 * loop, and no scan's input depends on another scan. Then each range can be scanned from the
 * prefix before it, which the ranges' totals give. */
static bool has_only_scans(rd_cuda_strategy *s)
{
    const rd_program *p     = s->p;
    const rd_loop    *l     = &p->loop[s->split[0]];
    bool              found = false;

    if (s->team > 1 || s->n_split != 1 || l->first >= 0 || l->backwards || l->end + 1 < s->to ||
        p->n_scratch > 0 || !rd_cuda_find_scan_inputs(s, s->split[0]))
        return false;
    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (!f->emit.fold->scan || f->step < 0 || !rd_cuda_within(p, f->step, s->split[0]) ||
            !is_of_item(s, f) || f->emit.fold->n_block == 1 || !has_nodes(f) ||
            !rd_is_along(f->emit.fold, l->axis, /*first=*/0, /*coef=*/1))
            return false;
        found = true;
    }
    return found;
}

/* Chooses the ranges (parts of a split loop) of a two-pass scan: 2^n blocks, so that each is a
 * node of the combine tree, and no more ranges than the GPU has threads for. */
static void find_two_pass_ranges(rd_cuda_strategy *s)
{
    const int64_t extent = s->p->loop[s->split[0]].extent;

    s->range = s->choice.scan_range * RD_TREE_STEPS;
    while (s->range < extent &&
           s->n_item * ((extent + s->range - 1) / s->range) > s->choice.at_work)
        s->range *= 2;
    s->n_range     = (extent + s->range - 1) / s->range;
    s->is_two_pass = true;
}

/* Undoes all choices of this file: no loop is split. Scratch of items becomes scratch of teams
 * again. */
static void give_up(rd_cuda_strategy *s)
{
    s->n_split     = 0;
    s->is_two_pass = false;
    s->item_bytes  = 0;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        s->fold[k].split = -1;
    for (int32_t k = 0; k < s->p->n_scratch; k++)
        s->scratch[k] = RD_STORAGE_TEAM;
}

/* ---- Data larger than memory ----------------------------------------------------------------- */
/* Marks the slots (buffers) that must stay in the host's memory, of which windows on the GPU
 * then hold a part: those larger than a window may be. False: the GPU has room for all data,
 * which may take half of its memory. Several GPUs get all data by windows. */
static bool find_large(rd_cuda_strategy *s, const rd_cuda_limits *limits)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < s->p->first_scratch && k < s->n_slot; k++) {
        const int64_t slot_bytes = rd_slot_bytes(s, k);

        s->large[k] = slot_bytes > limits->windows || limits->devices > 1;
        bytes += slot_bytes;
    }
    return limits->devices > 1 || (limits->memory > 0 && bytes > limits->memory / 2);
}

/* Halves the ranges (parts of a split loop) until blocks of the work fit the budget of windows,
 * or a range is one grain, the least it may be. */
static void shorten_ranges(rd_cuda_strategy *s, int64_t budget)
{
    const int64_t extent = s->p->loop[s->split[0]].extent, grain = grain_of(s);

    while (s->range > grain && rd_blocks_refusal(s, s->large, budget))
        s->range /= 2;
    s->n_range = (extent + s->range - 1) / s->range;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Splits the long loops of an item into ranges if there are too few items for all threads
 * (`few`), or if the data do not fit on the GPU otherwise (`tight`). A look-back scan is tried
 * first, then a two-pass scan, then a split reduction. has_end: something is stored outside of
 * the split loops, which the last range does. */
void rd_cuda_find_split(rd_cuda_strategy *s, const rd_cuda_limits *limits)
{
    const bool few   = s->n_item * s->team < s->choice.at_work;
    const bool large = s->n_item > 0 && find_large(s, limits);
    const bool tight = large && rd_blocks_refusal(s, s->large, limits->windows);

    if (s->n_item > 0 && (few || tight || !large) && rd_cuda_find_lookback(s))
        return;
    if (s->n_item == 0 || s->p->n_fold > RD_GPU_MOST_FOLDS || (!few && !tight) ||
        !find_split_loops(s)) {
        give_up(s);
        return;
    }
    keep_main_loop(s);
    s->split_axis = s->p->loop[s->split[0]].axis;
    if (has_only_scans(s)) {
        find_two_pass_ranges(s);
        if (s->n_range == 1)
            give_up(s);
        return;
    }
    if (!are_alike(s) || !may_split_folds(s) || !awaits_nothing(s) ||
        !(s->n_split > 1 ? assign_item_memory(s) : keeps_nothing(s))) {
        give_up(s);
        return;
    }
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (is_of_item(s, &s->fold[k]) && s->fold[k].step >= 0)
            s->fold[k].split = split_around(s, s->fold[k].step);
    find_ranges(s);
    if (tight)
        shorten_ranges(s, limits->windows);
    if (s->n_range == 1) {
        give_up(s);
        return;
    }
    find_levels(s);
    for (int32_t i = s->from; i < s->to; i++)
        s->has_end |= s->p->inst[i].kind == RD_I_STORE && split_around(s, i) < 0;
}
