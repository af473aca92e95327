/* cuts.c - items of which there are too few: their long loops are cut into ranges, which are items
 * too.
 *
 * Scans along rows of memory go their own way (sweeps.c).  Others along one loop go over it twice:
 * once for what each range comes to, of which the nodes of the tree above are made; and then each
 * range goes on from the nodes that cover what is before it (kernels/math/so_far.h).
 *
 * Ranges are a `fan` to a group, groups are so many to one above, until there is one.
 *
 * Where not all data have room on the GPU, ranges are so short that those of all items do.
 *
 * One loop that does nearly all of the work is cut alone.  Several over one axis, as the phases of
 * a softmax, are all cut alike: each has a kernel of its own, which does what stands before the
 * loop anew and finds the folds of the loops before it joined. */
#include "core/combine_tree.h"
#include "kernels/cuda/blocks.h"

static double work_of(const rd_program *p, int32_t loop)
{
    double work = 0;

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++)
        work += rd_program_times(p, i);
    return work;
}

/* ---- Which loops ----------------------------------------------------------------------------- */
/* The loops in the body of an item, in their order; false: they are too many. */
static bool find_loops(rd_cuda_shape *s)
{
    s->n_cut = 0;
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOOP) {
            if (s->n_cut == RD_MOST_CUTS)
                return false;
            s->cut[s->n_cut++] = s->p->inst[i].arg;
            i                  = s->p->loop[s->p->inst[i].arg].end;
        }
    return s->n_cut > 0;
}

int32_t rd_cuda_main_loop(const rd_cuda_shape *s)
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

static void keep_main_loop(rd_cuda_shape *s)
{
    const int32_t found = rd_cuda_main_loop(s);

    if (found < 0)
        return;
    s->cut[0] = found;
    s->n_cut  = 1;
}

int32_t rd_cuda_cut_of(const rd_cuda_shape *s, int32_t loop)
{
    for (int32_t k = 0; k < s->n_cut; k++)
        if (s->cut[k] == loop)
            return k;
    return -1;
}

static bool all_alike(const rd_cuda_shape *s)
{
    const rd_loop *first = &s->p->loop[s->cut[0]];

    for (int32_t k = 0; k < s->n_cut; k++) {
        const rd_loop *l = &s->p->loop[s->cut[k]];

        if (l->axis != first->axis || l->extent != first->extent || s->cut[k] == s->dealt)
            return false;
    }
    return true;
}

/* Which of the loops an instruction is in, -1. */
static int32_t cut_around(const rd_cuda_shape *s, int32_t inst)
{
    for (int32_t k = 0; k < s->n_cut; k++)
        if (rd_cuda_within(s->p, inst, s->cut[k]))
            return k;
    return -1;
}

/* Begins in the body of an item, before the loop that takes its elements? */
static bool is_of_item(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    return f->start >= s->from && f->start < s->to &&
           s->p->inst[f->start].loop == s->p->inst[s->p->loop[s->cut[0]].begin].loop;
}

/* Ranges hand nothing to each other but nodes: no fold of the item is a scan or one block, or takes
 * elements in a loop that is not cut, which would be done again by each range. */
static bool folds_allow(const rd_cuda_shape *s)
{
    bool some = false;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f   = &s->fold[k];
        const int32_t       cut = f->step < 0 ? -1 : cut_around(s, f->step);

        if (f->step < 0 || !is_of_item(s, f))
            continue;
        if (cut < 0 && f->step > s->p->loop[s->cut[s->n_cut - 1]].end)
            continue; /* it is behind them all */
        if (cut < 0 || f->start > s->p->loop[s->cut[cut]].begin || f->of.fold->scan ||
            f->of.fold->n_block == 1 || f->of.fold->steps == INT64_MAX)
            return false;
        some = true;
    }
    return some;
}

/* What the only loop keeps for others behind it would be a range's. */
static bool keeps_nothing(const rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t i = p->loop[s->cut[0]].begin + 1; i < p->loop[s->cut[0]].end; i++)
        for (int32_t j = p->loop[s->cut[0]].end; p->inst[i].kind == RD_I_STORE && j < s->to; j++)
            if (p->inst[j].kind == RD_I_LOAD &&
                p->address[p->inst[j].arg].slot == p->address[p->inst[i].arg].slot)
                return false;
    return true;
}

static bool is_stored(const rd_cuda_shape *s, int32_t slot)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_STORE && s->p->address[s->p->inst[i].arg].slot == slot &&
            cut_around(s, i) < 0)
            return true;
    return false;
}

/* What an item stores outside of the loops is stored at the very end: nothing may wait for it. */
static bool awaits_nothing(const rd_cuda_shape *s)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOAD &&
            s->p->address[s->p->inst[i].arg].slot < s->p->first_scratch &&
            is_stored(s, s->p->address[s->p->inst[i].arg].slot))
            return false;
    return true;
}

/* What loops that are all cut keep for each other is the item's: so many bytes. */
static bool give_items_memory(rd_cuda_shape *s)
{
    enum { MOST = 1 << 30 };
    const rd_program *p = s->p;

    s->item_bytes = 0;
    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst = &p->inst[i];
        const int32_t  k =
            inst->kind == RD_I_STORE ? p->address[inst->arg].slot - p->first_scratch : -1;

        if (k < 0 || cut_around(s, i) < 0 || s->scratch[k] == RD_HOME_ITEM)
            continue;
        /* at one place for all indices it is each thread's */
        if (!rd_coef(&p->address[inst->arg], p->loop[s->cut[cut_around(s, i)]].axis))
            continue;
        s->scratch[k]    = RD_HOME_ITEM;
        s->scratch_at[k] = s->item_bytes;
        s->item_bytes += rd_cuda_room(p->scratch_bytes[k] * (s->strip >= 0 ? s->wide : 1));
    }
    return s->n_item * s->item_bytes <= MOST;
}

/* ---- How long ranges are --------------------------------------------------------------------- */
bool rd_cuda_along_lanes(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    return rd_coef(&f->of.fold->lane, s->cut_axis) != 0;
}

int64_t rd_cuda_each(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    const rd_fold *fold = f->of.fold;

    return rd_cuda_along_lanes(s, f) ? rd_coef(&fold->lane, s->cut_axis)
                                     : rd_coef(&fold->outer, s->cut_axis) *
                                           ((fold->lane_extent + fold->lanes - 1) / fold->lanes);
}

/* What indices of the axis bring of which so many are a block: steps, or elements of a lane's
 * position. */
static int64_t block_of(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    const int32_t lanes = f->of.fold->lanes;

    return RD_TREE_STEPS * (rd_cuda_along_lanes(s, f) && lanes > 1 ? lanes : 1);
}

/* Indices of the axis that are whole blocks of all folds, and elements side by side. */
static int64_t grain_of(const rd_cuda_shape *s)
{
    int64_t grain = s->pairs >= 0 ? RD_TREE_STEPS : s->wide; /* tiles begin at blocks */

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (f->cut < 0)
            continue;
        const int64_t unit = block_of(s, f);
        const int64_t own  = unit / rd_common_divisor(unit, rd_cuda_each(s, f));

        grain = grain / rd_common_divisor(grain, own) * own;
    }
    return grain > 0 ? grain : 1;
}

/* No more than the threads have room for at once, and of 2^n grains: where a grain is 2^n blocks,
 * too, a range is one node of the tree. */
static void find_ranges(rd_cuda_shape *s)
{
    enum { MOST = 1 << 20 }; /* `fan` to the number of levels above them, at most */
    const int64_t extent = s->p->loop[s->cut[0]].extent, threads = s->n_item * s->team;
    const int64_t wanted = (s->choice.at_work + threads - 1) / threads;

    s->range = grain_of(s);
    while ((extent + s->range - 1) / s->range > (wanted < MOST ? wanted : MOST))
        s->range *= 2;
    s->n_range = (extent + s->range - 1) / s->range;
}

/* ---- Groups of ranges ------------------------------------------------------------------------ */
static void count_blocks(rd_cuda_shape *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        if (f->cut < 0)
            continue;
        f->blocks  = s->range * rd_cuda_each(s, f) / block_of(s, f);
        f->aligned = (f->blocks & (f->blocks - 1)) == 0;
    }
}

/* Rows of nodes that so many ranges leave, at most: where they do not begin at their node, on
 * either side of the block that most twos divide. */
static int32_t rows_of(const rd_cuda_fold *f, int64_t ranges)
{
    const int64_t blocks = f->blocks * ranges, all = f->of.fold->n_block;

    return rd_cuda_bits(blocks < all ? blocks : all) * (f->aligned ? 1 : 2);
}

static void find_levels(rd_cuda_shape *s)
{
    int64_t n = s->n_range, ranges = 1;

    count_blocks(s);
    for (s->n_level = 0; s->n_level == 0 || s->level[s->n_level - 1].n > 1;) {
        rd_groups *level = &s->level[s->n_level++];

        *level = (rd_groups){ .n = n, .row = s->item_rows, .counter = s->item_counters };
        for (int32_t k = 0; k < s->p->n_fold; k++) {
            const int32_t last = s->fold[k].cut >= 0 ? rows_of(&s->fold[k], ranges) : 0;
            const int32_t each = last && s->fold[k].aligned ? 1 : last;

            level->rows      = each > level->rows ? each : level->rows;
            level->last_rows = last > level->last_rows ? last : level->last_rows;
        }
        s->item_rows += (n - 1) * level->rows + level->last_rows;
        s->item_counters += n;
        n = (n + s->choice.fan - 1) / s->choice.fan;
        ranges *= s->choice.fan;
    }
}

/* ---- Scans ----------------------------------------------------------------------------------- */
/* Can what blocks before come to be told from nodes of the tree, of one number each? */
static bool has_nodes(const rd_cuda_fold *f)
{
    return !f->of.fold->user && f->of.n_state == 1 && (f->pair || rd_fold_any_grouping(f->of.fold));
}

/* One loop, which scans and after which nothing comes.  What a scan takes hangs on no range but its
 * own. */
static bool only_scans(rd_cuda_shape *s)
{
    const rd_program *p    = s->p;
    const rd_loop    *l    = &p->loop[s->cut[0]];
    bool              some = false;

    if (s->team > 1 || s->n_cut != 1 || l->first >= 0 || l->backwards || l->end + 1 < s->to ||
        p->n_scratch > 0 || !rd_cuda_find_early(s, s->cut[0]))
        return false;
    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (!f->of.fold->scan || f->step < 0 || !rd_cuda_within(p, f->step, s->cut[0]) ||
            !is_of_item(s, f) || f->of.fold->n_block == 1 || !has_nodes(f) ||
            !rd_is_along(f->of.fold, l->axis, 0, 1))
            return false;
        some = true;
    }
    return some;
}

/* Ranges of 2^n blocks are nodes of the tree. */
static void find_scanned_ranges(rd_cuda_shape *s)
{
    const int64_t extent = s->p->loop[s->cut[0]].extent;

    s->range = s->choice.scan_range * RD_TREE_STEPS;
    while (s->range < extent &&
           s->n_item * ((extent + s->range - 1) / s->range) > s->choice.at_work)
        s->range *= 2;
    s->n_range = (extent + s->range - 1) / s->range;
    s->scanned = true;
}

static void forget(rd_cuda_shape *s)
{
    s->n_cut      = 0;
    s->scanned    = false;
    s->item_bytes = 0;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        s->fold[k].cut = -1;
    for (int32_t k = 0; k < s->p->n_scratch; k++)
        s->scratch[k] = RD_HOME_TEAM;
}

/* ---- More data than memory ------------------------------------------------------------------- */
/* Which slots must be taken by windows; false: all have room on the GPU. */
static bool find_large(rd_cuda_shape *s, const rd_cuda_limits *limits)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < s->p->first_scratch && k < s->n_slot; k++) {
        const int64_t more = rd_slot_bytes(s, k);

        s->large[k] = more > limits->windows || limits->devices > 1;
        bytes += more;
    }
    return limits->devices > 1 || (limits->memory > 0 && bytes > limits->memory / 2);
}

static void shorten_ranges(rd_cuda_shape *s, int64_t budget)
{
    const int64_t extent = s->p->loop[s->cut[0]].extent, grain = grain_of(s);

    while (s->range > grain && rd_blocks_refusal(s, s->large, budget))
        s->range /= 2;
    s->n_range = (extent + s->range - 1) / s->range;
}

/* ---- All together ---------------------------------------------------------------------------- */
void rd_cuda_find_cuts(rd_cuda_shape *s, const rd_cuda_limits *limits)
{
    const bool few   = s->n_item * s->team < s->choice.at_work;
    const bool large = s->n_item > 0 && find_large(s, limits);
    const bool tight = large && rd_blocks_refusal(s, s->large, limits->windows);

    if (s->n_item > 0 && (few || tight || !large) && rd_cuda_find_sweep(s))
        return;
    if (s->n_item == 0 || s->p->n_fold > RD_GPU_MOST_FOLDS || (!few && !tight) || !find_loops(s)) {
        forget(s);
        return;
    }
    keep_main_loop(s);
    s->cut_axis = s->p->loop[s->cut[0]].axis;
    if (only_scans(s)) {
        find_scanned_ranges(s);
        if (s->n_range == 1)
            forget(s);
        return;
    }
    if (!all_alike(s) || !folds_allow(s) || !awaits_nothing(s) ||
        !(s->n_cut > 1 ? give_items_memory(s) : keeps_nothing(s))) {
        forget(s);
        return;
    }
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (is_of_item(s, &s->fold[k]) && s->fold[k].step >= 0)
            s->fold[k].cut = cut_around(s, s->fold[k].step);
    find_ranges(s);
    if (tight)
        shorten_ranges(s, limits->windows);
    if (s->n_range == 1) {
        forget(s);
        return;
    }
    find_levels(s);
    for (int32_t i = s->from; i < s->to; i++)
        s->ends |= s->p->inst[i].kind == RD_I_STORE && cut_around(s, i) < 0;
}
