/* lookback_scan.c - single-pass scans along rows of memory (decoupled look-back): which scans,
 * and how large their tiles are.
 *
 * A block of threads takes a tile of a row.  In each of some rounds a thread has `width` adjacent
 * elements.  64 / width adjacent threads have a block of the combine tree, and compute its
 * prefixes by shuffles.  Tiles then wait for the nodes before them.
 * print/gpu/look_back_scan_text.c has the text.
 *
 * An item is one unit of work, here a whole row.  A node is the total of a tile, or of several,
 * in the combine tree.
 *
 *     running sums of 10^8 f32: "scans: 1 items, 128 threads each, i0 by tiles of 4096, once"
 *
 * Fields. A fold has `user` if its reducer is the caller's own. s->neighbour_axis is the axis of
 * which `width` neighbours are one item, -1: none. s->n_split loops are split into ranges. A fold's
 * start, step and finish are instructions, -1: it has none.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/combine_tree.h"
#include "kernels/cuda/strategy.h"

/* Each scan has a warp that waits for earlier tiles and scans the tile's blocks, up to two for each
 * of its 32 lanes: MOST_BLOCKS. */
enum { MOST_SCANS = 4, MOST_BLOCKS = 64 };

/* ---- Which scans ----------------------------------------------------------------------------- */
/* True if a fold is a scan along the loop that a single pass can do. It has a built-in reducer,
 * one accumulator, which begins before the loop, and several blocks of 64 steps. Its state is
 * one number, beside the flag `seen` that an element has come; with that flag, it must be
 * exclusive and have no mask, so that positions tell `seen`. Nodes of the combine tree must give
 * the prefix before a block: float sums (pair) if blocks are scanned by a tree (levels), else
 * reducers with the same bits for any grouping. The step is the loop's index, or counts back
 * from its end. */
static bool may_look_back(const rd_cuda_strategy *s, const rd_cuda_fold *f, int32_t loop)
{
    const rd_fold *fold = f->emit.fold;
    const rd_loop *l    = &s->p->loop[loop];

    return fold->scan && !fold->user && f->step >= 0 && rd_cuda_within(s->p, f->step, loop) &&
           f->start >= s->from && f->start < l->begin && fold->n_cell == 1 &&
           f->emit.n_state == 1 + f->emit.seen && fold->n_block > 1 &&
           (f->hi_lo_sums ? f->levels > 0 : rd_fold_any_grouping(fold)) &&
           (!f->emit.seen || (fold->exclusive && !f->emit.masked)) &&
           (l->backwards ? rd_is_along(fold, l->axis, l->extent - 1, -1)
                         : rd_is_along(fold, l->axis, /*first=*/0, /*coef=*/1));
}

/* Returns the only loop in the body of a work item, if all before it may be repeated by each
 * tile: no store and no end of a fold. -1: there is no such loop, or any instruction follows it. */
static int32_t loop_of(const rd_cuda_strategy *s)
{
    int32_t loop = -1;

    for (int32_t i = s->from; i < s->to; i++) {
        const rd_inst *inst = &s->p->inst[i];

        if (inst->kind == RD_I_STORE || inst->kind == RD_I_CLOSE || (loop >= 0))
            return -1;
        if (inst->kind == RD_I_LOOP) {
            loop = inst->arg;
            i    = s->p->loop[loop].end;
        }
    }
    return loop;
}

/* True if the loop loads nothing from a slot (buffer) that the program stores to.  Tiles run at
 * the same time, so a load could come before or after the store. */
static bool has_only_loads(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l = &s->p->loop[loop];

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_LOAD && s->stored[s->p->address[s->p->inst[i].arg].slot])
            return false;
    return true;
}

/* Clears feeds_scan (the instruction makes an input of a scan) for all instructions. */
static void forget_inputs(rd_cuda_strategy *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->feeds_scan[i] = false;
}

/* Marks, in feeds_scan, the instructions of the loop before instruction i that make its
 * operands. An instruction makes registers from dst on. */
static void mark_inputs(rd_cuda_strategy *s, const rd_loop *l, int32_t i)
{
    const rd_program *p = s->p;
    int32_t           in[RD_MOST_READ];
    const int32_t     n = rd_inst_reads(p, &p->inst[i], in);

    for (int32_t k = 0; k < n; k++)
        for (int32_t j = l->begin + 1; j < i; j++)
            s->feeds_scan[j] |=
                in[k] >= p->inst[j].dst && in[k] < p->inst[j].dst + rd_inst_makes(p, &p->inst[j]);
}

/* Marks, in feeds_scan, all instructions of a loop on which the input of a scan depends, going
 * backwards from each scan. False: an input depends on another scan's result, so that elements
 * cannot be loaded before any scan is done. */
bool rd_cuda_find_scan_inputs(rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l           = &s->p->loop[loop];
    bool           independent = true;

    forget_inputs(s);
    for (int32_t i = l->end - 1; i > l->begin; i--) {
        const bool scan = s->p->inst[i].kind == RD_I_SCAN;

        independent &= !(scan && s->feeds_scan[i]);
        if (scan || s->feeds_scan[i])
            mark_inputs(s, l, i);
    }
    return independent;
}

/* ---- The size of a tile ---------------------------------------------------------------------- */
/* Returns the bytes of a state: those of the fold's element in a register, but 8 for bools,
 * which folds keep as u64. */
static int32_t state_size(const rd_fold *fold)
{
    return fold->type == RD_BOOL ? 8 : rd_register_size(fold->type);
}

/* Returns the bytes of states (accumulators) that a thread keeps for each of its elements: a
 * state for each fold. */
static int32_t state_bytes(const rd_cuda_strategy *s)
{
    int32_t bytes = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        bytes += state_size(&s->p->fold[k]);
    return bytes;
}

/* Returns the bytes that a thread loads for each of its elements. */
static int32_t load_bytes(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l     = &s->p->loop[loop];
    int32_t        bytes = 0;

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (s->p->inst[i].kind == RD_I_LOAD)
            bytes += rd_dtype_size(s->p->address[s->p->inst[i].arg].type);
    return bytes;
}

/* Returns how many rounds a block of threads takes in a tile; in a round each thread has `width`
 * adjacent elements. It is the largest power of 2 with at most MOST_BLOCKS blocks of the tree,
 * few enough elements and bytes in registers (elements, flight), and no round beyond the row. */
static int32_t rounds_of(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_cuda_choice *c      = &s->choice;
    const int64_t         round  = (int64_t)c->block * s->width;
    const int32_t         states = state_bytes(s), loads = load_bytes(s, loop);
    int32_t               rounds = c->ahead;

    while (rounds > 1 &&
           (rounds * round > MOST_BLOCKS * RD_TREE_STEPS || rounds * s->width > c->elements ||
            rounds * s->width * loads > c->flight || rounds * s->width * states > c->flight ||
            rounds / 2 * round >= s->p->loop[loop].extent))
        rounds /= 2;
    return rounds;
}

/* True if the item is a loop of scans that one pass can do, by tiles; then the strategy gets the
 * loop, and tiles are its ranges. Elements must be contiguous (wide > 1), and one thread has
 * done an item so far (no team, no neighbours in an item). Each scan needs a warp of the block,
 * which waits for nodes (partial results in the combine tree) of earlier tiles. Loops with loops
 * inside, short rows and scratch (temporary memory) are refused. */
bool rd_cuda_find_lookback(rd_cuda_strategy *s)
{
    const int32_t  loop = loop_of(s);
    const rd_loop *l    = loop < 0 ? NULL : &s->p->loop[loop];
    const int32_t  wide = l ? rd_cuda_vector_width_along(s, loop) : 1;

    if (wide == 1 || s->team > 1 || s->neighbour_axis >= 0 || l->first >= 0 ||
        l->extent <= s->choice.scan_range * RD_TREE_STEPS || s->p->n_scratch > 0 ||
        s->p->n_fold > MOST_SCANS || s->p->n_fold > s->choice.block / RD_WARP)
        return false;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (!may_look_back(s, &s->fold[k], loop))
            return false;
    if (!has_only_loads(s, loop) || !rd_cuda_find_scan_inputs(s, loop))
        return false;
    s->is_lookback = true;
    s->width       = wide;
    s->split[0]    = loop;
    s->n_split     = 1;
    s->split_axis  = l->axis;
    s->range       = rounds_of(s, loop) * (int64_t)s->choice.block * wide;
    s->n_range     = (l->extent + s->range - 1) / s->range;
    return true;
}

/* Returns how many rounds a block of threads takes in a tile, which is s->range elements. In a
 * round each thread has `width` adjacent ones. */
int32_t rd_cuda_lookback_rounds(const rd_cuda_strategy *s)
{
    return (int32_t)(s->range / s->choice.block / s->width);
}

/* Returns the bytes of an item's nodes (partial results in the combine tree) of one fold. A
 * kernel publishes each 32 bits of a node as a word of 8 bytes, with a flag that it is there
 * (lookback_scan.cuh). Nodes of float sums (pair) are doubles. A row of one tile needs no nodes. */
int64_t rd_cuda_lookback_bytes(const rd_cuda_strategy *s, const rd_cuda_fold *f)
{
    const int64_t words =
        (f->hi_lo_sums ? 8 : state_size(f->emit.fold)) / (int64_t)sizeof(uint32_t);
    const int64_t nodes = rd_cuda_nodes_below(s->n_range, rd_cuda_bits(s->n_range));

    return s->n_range > 1 ? nodes * words * (int64_t)sizeof(uint64_t) : 0;
}
