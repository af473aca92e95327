/* pair_tiles.c - folds over pairs of points (pairwise sums).  The points that every result reads
 * come through shared memory, a tile at a time, so that one load serves all threads of a block.
 *
 * A thread has `width` adjacent results (columns, vector_access.c), and takes `register_block`
 * points of a tile together (register blocking).  So 16 bytes from shared memory serve as many
 * pairs, and a loop in a pair, as over coordinates, runs once for all of them.  Values that
 * depend on the results alone go to shared memory before the first tile.
 * print/gpu/point_loops.c shows the text.
 *
 * Points of a lane keep their order, and one thread has all points of a result: so the combine
 * tree is the program's.
 *
 * A pair is a result and a point that it reads.  A fold is a reduction over the points; the
 * strip is the axis of results.
 *
 * Fields. Without work items (n_item 0) there is nothing to compute. A fold's start, step and
 * finish are instructions, -1: it has none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/combine_tree.h"
#include "kernels/cuda/kernel_frame.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- Which loops and loads ------------------------------------------------------------------- */
/* True if a load in the loop over pairs (of a result and a point) may come from shared memory,
 * or is the same for all pairs. A gather, a load of what the program stores, and one that
 * depends on both the result and the point cannot. */
static bool may_load(const rd_cuda_strategy *s, const rd_address *at)
{
    return !rd_has_registers(at) && !s->stored[at->slot] &&
           !(rd_coef(at, s->neighbour_axis) && rd_coef(at, rd_cuda_pair_axis(s)));
}

/* True if a thread can keep all states of a fold in registers: one lane (accumulator) for each
 * cell, few cells, no scan. */
static bool may_fold(const rd_fold *fold)
{
    enum { MOST_CELLS = 8 };

    return fold->lanes == 1 && !fold->scan && fold->n_cell <= MOST_CELLS;
}

/* True if an instruction may be in the loop over the points that every result reads: no store,
 * no scan, no long or backward loop, only suitable loads and folds. */
static bool may_stand_in_pair(const rd_cuda_strategy *s, const rd_inst *inst)
{
    enum { MOST_EXTENT = 4096 };

    switch (inst->kind) {
    case RD_I_STORE:
    case RD_I_SCAN: return false;
    case RD_I_LOOP:
        return !s->p->loop[inst->arg].backwards && s->p->loop[inst->arg].extent <= MOST_EXTENT;
    case RD_I_LOAD: return may_load(s, &s->p->address[inst->arg]);
    case RD_I_START:
    case RD_I_STEP: return may_fold(&s->p->fold[inst->arg]);
    default: return true;
    }
}

/* Returns the first load in the loop over points that reads the same elements as load `inst`:
 * all such loads share one array in shared memory. */
static int32_t first_of(const rd_cuda_strategy *s, int32_t inst)
{
    const rd_program *p = s->p;

    for (int32_t i = p->loop[s->pairs].begin; i < inst; i++)
        if (p->inst[i].kind == RD_I_LOAD &&
            rd_cuda_is_same_address(&p->address[p->inst[i].arg], &p->address[p->inst[inst].arg]))
            return i;
    return inst;
}

/* Marks, in tile_load, the loads that come from shared memory: those that move with the points,
 * and those that move with the results. False: none moves with the points, or an instruction may
 * not stand in such a loop. */
static bool find_tile_loads(rd_cuda_strategy *s)
{
    const rd_program *p        = s->p;
    const rd_loop    *l        = &p->loop[s->pairs];
    bool              has_tile = false;

    for (int32_t i = l->begin + 1; i < l->end; i++) {
        if (!may_stand_in_pair(s, &p->inst[i]))
            return false;
        if (p->inst[i].kind != RD_I_LOAD)
            continue;
        const bool tile = rd_coef(&p->address[p->inst[i].arg], l->axis) != 0;

        if (tile || rd_cuda_is_result_load(s, i))
            s->tile_load[i] = first_of(s, i);
        has_tile |= tile;
    }
    return has_tile;
}

/* ---- The size of a tile ---------------------------------------------------------------------- */
/* Estimates how many machine instructions an instruction of the program becomes.  Loads come
 * from shared memory for several pairs, and count as none; a call of a user's function counts as
 * 32. */
static double weight_of_inst(const rd_program *p, const rd_inst *inst)
{
    enum { CALL = 32 };

    switch (inst->kind) {
    case RD_I_MAP: return rd_op_table[inst->op].cost * 2 - 1;
    case RD_I_STEP: return rd_fold_cost(&p->fold[inst->arg]);
    case RD_I_CALL: return CALL;
    default: return 0;
    }
}

/* Estimates the machine instructions for one pair of a result and a point. Loops inside the pair
 * multiply their bodies, as they are unrolled; a loop too long for that (its extent is not
 * spelled out in the text) counts its body once. */
static double weight_of(const rd_cuda_strategy *s)
{
    const rd_program *p      = s->p;
    double            weight = 0;

    for (int32_t i = p->loop[s->pairs].begin + 1; i < p->loop[s->pairs].end; i++) {
        double each = weight_of_inst(p, &p->inst[i]);

        for (int32_t k = p->inst[i].loop; k != s->pairs; k = p->loop[k].parent)
            each *= p->loop[k].extent <= rd_dialect_cuda.spelled ? (double)p->loop[k].extent : 1;
        weight += each;
    }
    return weight;
}

/* Returns how many blocks of threads the results along an axis need, if each thread has `width`
 * results. */
static int64_t blocks_along(const rd_cuda_strategy *s, int64_t extent)
{
    const int64_t results_of_block = (int64_t)s->choice.block * s->width;

    return (extent + results_of_block - 1) / results_of_block;
}

/* Returns how many items an axis of results makes: the threads of whole blocks, of which the
 * last ones may have no result. A thread has `width` results. */
int64_t rd_cuda_pair_items(const rd_cuda_strategy *s, int64_t extent)
{
    return blocks_along(s, extent) * s->choice.block;
}

/* Returns how many pairs of a result and a point a thread works on at once. Their values, of the
 * widest type, must fit pair_bytes of registers, and their unrolled code pair_weight
 * instructions. */
static int32_t pairs_at_hand(const rd_cuda_strategy *s)
{
    const rd_program *p      = s->p;
    const double      weight = weight_of(s);
    int32_t           size   = 1, n;

    for (int32_t i = p->loop[s->pairs].begin + 1; i < p->loop[s->pairs].end; i++)
        if (p->inst[i].kind == RD_I_MAP || p->inst[i].kind == RD_I_CLOSE)
            size =
                rd_register_size(p->inst[i].type) > size ? rd_register_size(p->inst[i].type) : size;
    for (n = s->choice.pair_bytes / size; n > 1 && n * weight > s->choice.pair_weight;)
        n /= 2;
    return n;
}

/* True if a fold that begins before the loop over points takes elements of a loop inside it into
 * one cell (output element). Its elements then come point after point, so a thread must finish a
 * point before the next one. */
static bool is_serial_over_points(const rd_cuda_strategy *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (f->step < 0 || !rd_cuda_within(p, f->step, s->pairs) ||
            rd_cuda_within(p, f->start, s->pairs))
            continue;
        for (int32_t loop = p->inst[f->step].loop; loop != s->pairs; loop = p->loop[loop].parent)
            if (!rd_coef(&f->emit.fold->cell, p->loop[loop].axis))
                return true;
    }
    return false;
}

/* True if the pairs keep all threads of the GPU busy: threads with `width` results each, times
 * blocks of 64 points, into which the loop may be split. */
static bool has_work_for(const rd_cuda_strategy *s, int64_t threads)
{
    const int64_t points = s->p->loop[s->pairs].extent;

    return s->n_item / s->width * ((points + RD_TREE_STEPS - 1) / RD_TREE_STEPS) >= threads;
}

/* Finds the longest tile of points, of at least 64, that lets `resident` blocks of threads share
 * a multiprocessor's shared memory. False: there is none. */
static bool find_tile(rd_cuda_strategy *s, int64_t shared, int32_t resident)
{
    enum { BESIDE = 1 << 10 }; /* what a block has else of shared memory */

    for (s->point_tile = s->choice.most_tile; s->point_tile >= RD_TREE_STEPS; s->point_tile /= 2) {
        s->pair_tile_bytes = rd_cuda_pair_tile_bytes(s);
        if (s->pair_tile_bytes <= shared / resident - BESIDE)
            return true;
    }
    return false;
}

/* Chooses how many results a thread has (width), and how many points it takes together
 * (register_block). Many resident blocks of threads are tried first, then many results of a
 * thread, if all threads still have work. False: no choice fits. */
static bool find_width(rd_cuda_strategy *s, const rd_cuda_limits *limits)
{
    const int32_t pairs = pairs_at_hand(s);

    for (int32_t resident = s->choice.resident; resident > 0; resident--)
        for (s->width = s->choice.most_results; s->width > 0; s->width /= 2) {
            s->register_block = is_serial_over_points(s) ? 1 : pairs / s->width;
            if (s->register_block > 0 && (s->width == 1 || has_work_for(s, limits->threads)) &&
                find_tile(s, limits->shared, resident))
                return true;
        }
    return false;
}

/* Undoes the choices of this file: the program is not seen as pairs of results and points. */
static void give_up(rd_cuda_strategy *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->tile_load[i] = -1;
    s->pairs = s->neighbour_axis = -1;
    s->width = s->register_block = 1;
    s->pair_tile_bytes           = 0;
}

/* True if folds go over points that every result reads (pairwise sums), and tiles of points in
 * shared memory suit; then the strategy is filled. The last loop of the grid numbers the
 * results, the item's main loop the points. Both must be long, and there must be no scratch
 * (temporary memory). */
bool rd_cuda_find_pairs(rd_cuda_strategy *s, const rd_cuda_limits *limits)
{
    const rd_loop *last = s->n_grid ? &s->p->loop[s->grid[s->n_grid - 1]] : NULL;
    const int32_t  loop = rd_cuda_main_loop(s);

    give_up(s);
    if (!last || last->extent < s->choice.least_pairs || loop < 0 || s->p->loop[loop].backwards ||
        s->p->loop[loop].extent < s->choice.least_pairs || s->p->n_scratch > 0 || s->n_item == 0)
        return false;
    s->pairs          = loop;
    s->neighbour_axis = last->axis;
    if (!find_tile_loads(s) || !find_width(s, limits)) {
        give_up(s);
        return false;
    }
    s->team   = 1;
    s->n_item = s->n_item / last->extent * rd_cuda_pair_items(s, last->extent);
    return true;
}
