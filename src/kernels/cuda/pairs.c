/* pairs.c - which folds over the other points of pairs have what these bring come through shared
 * memory, a tile of them at a time, so that it serves all threads of a block.
 *
 * A thread has `wide` results side by side, as columns have (strips.c), and takes `abreast` points
 * of a tile together: so 16 bytes that it takes from shared memory serve as many pairs, and loops
 * in a pair, as over coordinates, run once for all of them.  What hangs on the results, but not on
 * the other points, a thread leaves for itself in shared memory before the first tile.
 *
 * print/gpu/pairs.c shows the text.
 *
 * Points of a lane go in their order, and each result has all of them in one thread, so that the
 * tree is the program's. */
#include "core/combine_tree.h"
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- Which ----------------------------------------------------------------------------------- */
/* What is loaded may come from shared memory, or is the same for all pairs. */
static bool may_load(const rd_cuda_shape *s, const rd_address *at)
{
    return !rd_has_registers(at) && !s->stored[at->slot] &&
           !(rd_coef(at, s->strip) && rd_coef(at, rd_cuda_pair_axis(s)));
}

/* A thread has all of its states in registers. */
static bool may_fold(const rd_fold *fold)
{
    enum { MOST_CELLS = 8 };

    return fold->lanes == 1 && !fold->scan && fold->n_cell <= MOST_CELLS;
}

static bool may_stand_in_pair(const rd_cuda_shape *s, const rd_inst *inst)
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

/* A load of the same elements before it in the pair, or itself. */
static int32_t first_of(const rd_cuda_shape *s, int32_t inst)
{
    const rd_program *p = s->p;

    for (int32_t i = p->loop[s->pairs].begin; i < inst; i++)
        if (p->inst[i].kind == RD_I_LOAD &&
            rd_cuda_same_address(&p->address[p->inst[i].arg], &p->address[p->inst[inst].arg]))
            return i;
    return inst;
}

/* Loads that come from shared memory; does any hang on the other points? */
static bool find_staged(rd_cuda_shape *s)
{
    const rd_program *p    = s->p;
    const rd_loop    *l    = &p->loop[s->pairs];
    bool              some = false;

    for (int32_t i = l->begin + 1; i < l->end; i++) {
        if (!may_stand_in_pair(s, &p->inst[i]))
            return false;
        if (p->inst[i].kind != RD_I_LOAD)
            continue;
        const bool tile = rd_coef(&p->address[p->inst[i].arg], l->axis) != 0;

        if (tile || rd_cuda_is_row(s, i))
            s->staged[i] = first_of(s, i);
        some |= tile;
    }
    return some;
}

/* ---- How many -------------------------------------------------------------------------------- */
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

/* What a pair takes, about, in instructions; loops over more than are written out count once. */
static double weight_of(const rd_cuda_shape *s)
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

/* Blocks of threads that share the results along their axis. */
static int64_t blocks_along(const rd_cuda_shape *s, int64_t extent)
{
    const int64_t each = (int64_t)s->choice.block * s->wide;

    return (extent + each - 1) / each;
}

int64_t rd_cuda_pair_items(const rd_cuda_shape *s, int64_t extent)
{
    return blocks_along(s, extent) * s->choice.block;
}

/* So many pairs a thread has at hand: that many bytes of each value. */
static int32_t pairs_at_hand(const rd_cuda_shape *s)
{
    const rd_program *p    = s->p;
    const double      each = weight_of(s);
    int32_t           size = 1, n;

    for (int32_t i = p->loop[s->pairs].begin + 1; i < p->loop[s->pairs].end; i++)
        if (p->inst[i].kind == RD_I_MAP || p->inst[i].kind == RD_I_CLOSE)
            size =
                rd_register_size(p->inst[i].type) > size ? rd_register_size(p->inst[i].type) : size;
    for (n = s->choice.pair_bytes / size; n > 1 && n * each > s->choice.pair_weight;)
        n /= 2;
    return n;
}

/* Does a fold take elements of one loop in a pair after the other in one cell?  Then it must have
 * all of a point before the next one. */
static bool goes_by_points(const rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_cuda_fold *f = &s->fold[k];

        if (f->step < 0 || !rd_cuda_within(p, f->step, s->pairs) ||
            rd_cuda_within(p, f->start, s->pairs))
            continue;
        for (int32_t loop = p->inst[f->step].loop; loop != s->pairs; loop = p->loop[loop].parent)
            if (!rd_coef(&f->of.fold->cell, p->loop[loop].axis))
                return true;
    }
    return false;
}

/* Is there work for all threads? */
static bool is_much(const rd_cuda_shape *s, int64_t threads)
{
    const int64_t points = s->p->loop[s->pairs].extent;

    return s->n_item / s->wide * ((points + RD_TREE_STEPS - 1) / RD_TREE_STEPS) >= threads;
}

/* The longest tile for which a multiprocessor has room in so many blocks of threads. */
static bool find_tile(rd_cuda_shape *s, int64_t shared, int32_t resident)
{
    enum { BESIDE = 1 << 10 }; /* what a block has else of shared memory */

    for (s->tile = s->choice.most_tile; s->tile >= RD_TREE_STEPS; s->tile /= 2) {
        s->staged_bytes = rd_cuda_staged_bytes(s);
        if (s->staged_bytes <= shared / resident - BESIDE)
            return true;
    }
    return false;
}

/* Many blocks at a time first, then many results a thread. */
static bool find_width(rd_cuda_shape *s, const rd_cuda_limits *limits)
{
    const int32_t all = pairs_at_hand(s);

    for (int32_t resident = s->choice.resident; resident > 0; resident--)
        for (s->wide = s->choice.most_results; s->wide > 0; s->wide /= 2) {
            s->abreast = goes_by_points(s) ? 1 : all / s->wide;
            if (s->abreast > 0 && (s->wide == 1 || is_much(s, limits->threads)) &&
                find_tile(s, limits->shared, resident))
                return true;
        }
    return false;
}

static void forget(rd_cuda_shape *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->staged[i] = -1;
    s->pairs = s->strip = -1;
    s->wide = s->abreast = 1;
    s->staged_bytes      = 0;
}

bool rd_cuda_find_pairs(rd_cuda_shape *s, const rd_cuda_limits *limits)
{
    const rd_loop *last = s->n_grid ? &s->p->loop[s->grid[s->n_grid - 1]] : NULL;
    const int32_t  loop = rd_cuda_main_loop(s);

    forget(s);
    if (!last || last->extent < s->choice.least_pairs || loop < 0 || s->p->loop[loop].backwards ||
        s->p->loop[loop].extent < s->choice.least_pairs || s->p->n_scratch > 0 || s->n_item == 0)
        return false;
    s->pairs = loop;
    s->strip = last->axis;
    if (!find_staged(s) || !find_width(s, limits)) {
        forget(s);
        return false;
    }
    s->team   = 1;
    s->n_item = s->n_item / last->extent * rd_cuda_pair_items(s, last->extent);
    return true;
}
