/* work_blocks.c - the work of a kernel in blocks, for data that do not fit on the GPU (out of
 * core), and the bytes of a slot that a block touches.
 *
 * Indices number the work, the last one runs fastest: ranges of the split loop; loops of the
 * grid, from the outside in; chunks of a map; block tiles.  A block has some values of one index,
 * all values of the indices behind it, and one value of each index before it.
 *
 * A piece is one value of the index that blocks divide, with all indices behind it.  A slot is a
 * buffer of the program.
 *
 * Fields. s->pairs is the loop over points that all results read, -1: none. s->tile_loop has the
 * two loops of a block tile, -1: there are no block tiles. s->transpose has the two loops of a
 * transpose in shared memory, -1: none. Without work items (n_item 0) there is nothing to
 * compute. */
#include "kernels/cuda/work_blocks.h"

/* Returns the smaller one of two numbers. */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Adds an index that numbers the work, such as the number of a range. Each of its values covers
 * `per` indices of an axis; the last value may cover fewer. */
static void add_index(rd_cuda_blocks *b, int32_t axis, int64_t per)
{
    const int64_t extent = b->s->p->axis_extent[axis];

    b->index[b->n_index++] =
        (rd_block_index){ .axis = axis, .per = per, .count = (extent + per - 1) / per };
}

/* Finds the indices by which the kernel's work is numbered, the slowest first. They are ranges
 * of the split loop, loops of the grid (the outer loops, whose indices are work items), chunks
 * of a map, block tiles. A kernel has those of them that its strategy has (>= 0). Along the axis
 * `neighbour_axis`, `width` neighbours are one item. */
static void find_indices(rd_cuda_blocks *b)
{
    const rd_cuda_strategy *s = b->s;

    if (b->split >= 0)
        add_index(b, s->split_axis, s->range);
    for (int32_t g = 0; g < s->n_grid; g++) {
        const int32_t axis = s->p->loop[s->grid[g]].axis;

        add_index(b, axis, axis == s->neighbour_axis ? s->width : 1);
    }
    if (s->chunk_loop >= 0)
        add_index(b, s->p->loop[s->chunk_loop].axis, s->chunk);
    for (int k = 0; s->tile_loop[0] >= 0 && k < 2; k++)
        add_index(b, s->p->loop[s->tile_loop[k]].axis, s->block_tile[k]);
}

/* ---- Bytes of a block ------------------------------------------------------------------------ */
enum { EVERY = -2 }; /* of all split loops */

/* True if this kernel runs the instruction. Instructions inside another split loop belong to
 * that loop's kernel. EVERY: all kernels are meant. */
static bool is_here(const rd_cuda_blocks *b, int32_t inst)
{
    for (int32_t k = 0; b->split != EVERY && k < b->s->n_split; k++)
        if (k != b->split && rd_cuda_within(b->s->p, inst, b->s->split[k]))
            return false;
    return true;
}

/* True if the part of the work at hand runs this store. A store outside of the split loops runs
 * once, in the part that also runs what stands behind the loops (ends). */
static bool is_stored(const rd_cuda_blocks *b, int32_t inst)
{
    return b->s->p->inst[inst].kind == RD_I_STORE &&
           (b->ends || b->split < 0 || rd_cuda_within(b->s->p, inst, b->s->split[b->split]));
}

/* True if the kernel loads from or stores to the slot (buffer) by this instruction. */
static bool is_access(const rd_cuda_blocks *b, int32_t inst, int32_t slot)
{
    const rd_inst *i = &b->s->p->inst[inst];

    return (i->kind == RD_I_LOAD || i->kind == RD_I_STORE) &&
           b->s->p->address[i->arg].slot == slot && is_here(b, inst);
}

/* Computes the elements [*lo, *hi) between the first and the last one that an address touches in
 * the current block of work. An address is affine, so each axis adds its least and greatest
 * product over the block's range [lo, hi). What a register adds (axis < 0, a gather) is left
 * out, as windows refuse gathers. */
static void touch_elements(const rd_cuda_blocks *b, const rd_address *at, int64_t *lo, int64_t *hi)
{
    *lo = *hi = at->offset;
    for (int32_t k = 0; k < at->n_add; k++) {
        const int64_t coef = at->add[k].coef, axis = at->add[k].axis;

        if (axis < 0) /* see may_be_windows() */
            continue;
        const int64_t first = coef * b->lo[axis], last = coef * (b->hi[axis] - 1);

        *lo += first < last ? first : last;
        *hi += first < last ? last : first;
    }
    *hi += 1;
}

/* Returns the bytes of a slot (buffer) that the current block of work touches, from the first to
 * the last one, and whether it loads or stores there. No access: no bytes. */
rd_touched_bytes rd_blocks_touch(const rd_cuda_blocks *b, int32_t slot)
{
    const rd_program *p     = b->s->p;
    rd_touched_bytes  w     = { 0 };
    bool              found = false;

    for (int32_t i = 0; i < p->n_inst; i++) {
        int64_t lo, hi;

        if (!is_access(b, i, slot))
            continue;
        const rd_address *at   = &p->address[p->inst[i].arg];
        const int64_t     size = rd_dtype_size(at->type);

        touch_elements(b, at, &lo, &hi);
        w.lo  = !found || lo * size < w.lo ? lo * size : w.lo;
        w.hi  = !found || hi * size > w.hi ? hi * size : w.hi;
        found = true;
        w.stored |= is_stored(b, i);
        w.loaded |= p->inst[i].kind == RD_I_LOAD;
    }
    return w;
}

/* Returns the bytes of a slot (buffer) that the whole program touches: all axes in full, all
 * split loops. */
int64_t rd_slot_bytes(const rd_cuda_strategy *s, int32_t slot)
{
    const rd_program *p = s->p;
    rd_cuda_blocks    b = { .s = s, .split = EVERY };
    rd_touched_bytes  all;

    for (int32_t a = 0; a < p->n_axis && a < RD_BLOCK_AXES; a++)
        b.hi[a] = p->axis_extent[a];
    all = rd_blocks_touch(&b, slot);
    return all.hi - all.lo;
}

/* True if the data of a slot (buffer) come to the GPU by windows: the slot is marked, and no
 * scratch (temporary memory). windowed NULL: all slots are marked. */
static bool is_windowed(const rd_cuda_strategy *s, const bool *windowed, int32_t slot)
{
    return slot < s->p->first_scratch && (!windowed || windowed[slot]);
}

/* ---- Finding blocks -------------------------------------------------------------------------- */
/* Returns the number of pieces in the current block of work. A piece is one value of the index
 * `level` that blocks divide, with all of the faster indices. A block has at most `step` pieces,
 * and ends where that index wraps around, or the part of the work ends. */
static int64_t size(const rd_cuda_blocks *b)
{
    const int64_t count = b->index[b->level].count;

    return smaller(smaller(b->step, count - b->at % count), b->end - b->at);
}

/* Computes the range of each axis in the current block of work. The block has n values of the
 * index that blocks divide, one value of each slower index, and the whole axis otherwise. b->at
 * is a number in the mixed radix of the indices, from which the values come. */
static void set_box(rd_cuda_blocks *b)
{
    int64_t at = b->at, n = size(b);

    for (int32_t a = 0; a < b->s->p->n_axis; a++) {
        b->lo[a] = 0;
        b->hi[a] = b->s->p->axis_extent[a];
    }
    for (int32_t k = b->level; k >= 0; k--, n = 1) {
        const rd_block_index *i     = &b->index[k];
        const int64_t         first = at % i->count;

        b->lo[i->axis] = first * i->per;
        b->hi[i->axis] = smaller((first + n) * i->per, b->s->p->axis_extent[i->axis]);
        at /= i->count;
    }
}

/* Returns the GPU memory that all windows of the current block of work need; RD_WINDOW_ROOM more
 * for each, for alignment. */
static int64_t bytes_of(rd_cuda_blocks *b, const bool *windowed)
{
    int64_t bytes = 0;

    set_box(b);
    for (int32_t k = 0; k < b->s->n_slot; k++)
        if (is_windowed(b->s, windowed, k)) {
            const rd_touched_bytes w = rd_blocks_touch(b, k);

            bytes += w.hi - w.lo + RD_WINDOW_ROOM;
        }
    return bytes;
}

/* True if windows (copies of the bytes that a block of work touches) can serve all accesses. A
 * gather may touch anything, so it cannot. A slot (buffer) that is both loaded and stored could
 * need what other blocks store. */
static bool may_be_windows(const rd_cuda_blocks *b, const bool *windowed)
{
    const rd_program *p = b->s->p;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE)
            continue;
        const rd_address *at = &p->address[inst->arg];

        if (!is_windowed(b->s, windowed, at->slot))
            continue;
        const rd_touched_bytes w = rd_blocks_touch(b, at->slot);

        if (rd_has_registers(at) || (w.loaded && w.stored))
            return false;
    }
    return true;
}

/* Returns the bytes that a block of work stores to a slot (buffer), if each store writes every
 * element once: the product of the ranges of the loops around it. */
static int64_t stored_bytes(const rd_cuda_blocks *b, int32_t slot)
{
    const rd_program *p      = b->s->p;
    int64_t           stored = 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        if (!is_access(b, i, slot))
            continue;
        int64_t bytes = rd_dtype_size(p->address[p->inst[i].arg].type);

        for (int32_t loop = p->inst[i].loop; loop >= 0; loop = p->loop[loop].parent)
            bytes *= b->hi[p->loop[loop].axis] - b->lo[p->loop[loop].axis];
        stored += bytes;
    }
    return stored;
}

/* True if a block of work stores all bytes of its windows. If a window had gaps, copying it back
 * to the host would overwrite there what other blocks have stored. */
static bool are_stores_dense(rd_cuda_blocks *b, const bool *windowed)
{
    set_box(b);
    for (int32_t k = 0; k < b->s->n_slot; k++) {
        const rd_touched_bytes w =
            is_windowed(b->s, windowed, k) ? rd_blocks_touch(b, k) : (rd_touched_bytes){ 0 };

        if (w.stored && stored_bytes(b, k) != w.hi - w.lo)
            return false;
    }
    return true;
}

/* Goes to the first block of all the work, or to the last one. The last one begins so far from
 * the end that it is as large as any. */
static void go_to(rd_cuda_blocks *b, bool last)
{
    b->end = rd_blocks_pieces(b);
    b->at  = last ? b->end - smaller(b->step, b->index[b->level].count) : 0;
    set_box(b);
}

/* True if the windows of each block of work fit the budget in bytes, and stores are dense.
 * Accesses that move at different rates along the work lie furthest apart at either end; so the
 * last and the first block, which need most, are checked. Afterwards the first block is current. */
static bool do_blocks_fit(rd_cuda_blocks *b, const bool *windowed, int64_t budget)
{
    bool fit = true;

    for (int last = 1; last >= 0; last--) {
        go_to(b, last);
        fit &= bytes_of(b, windowed) <= budget && are_stores_dense(b, windowed);
    }
    return fit;
}

/* Returns the most bytes of a slot (buffer) that any block of work touches: those of the first
 * or the last block, where accesses that move at different rates lie furthest apart. */
int64_t rd_blocks_most(const rd_cuda_blocks *b, int32_t slot)
{
    rd_cuda_blocks at   = *b;
    int64_t        most = 0;

    for (int last = 0; last < 2; last++) {
        go_to(&at, last);
        const rd_touched_bytes of = rd_blocks_touch(&at, slot);

        most = of.hi - of.lo > most ? of.hi - of.lo : most;
    }
    return most;
}

/* Returns the reason why a strategy cannot run by blocks of work at all; NULL: it can. Scans and
 * pairs need all data at once; a transpose in shared memory (transpose[0] >= 0) reads columns,
 * which are scattered. */
static const char *refusal_of(const rd_cuda_strategy *s)
{
    if (s->is_two_pass || s->is_lookback)
        return "its scans go on from element to element";
    if (s->transpose[0] >= 0)
        return "an operand lies the other way";
    if (s->pairs >= 0)
        return "each result meets all points";
    if (s->p->n_axis > RD_BLOCK_AXES)
        return "it has too many axes";
    return s->n_item == 0 ? "it has no elements" : NULL;
}

/* Estimates the bytes that all n blocks of work together copy. A window that is the same in the
 * first and in the last block is copied once, others for each block. */
static int64_t traffic_of(const rd_cuda_blocks *b)
{
    const int64_t count   = b->index[b->level].count;
    const int64_t n       = rd_blocks_pieces(b) / count * ((count + b->step - 1) / b->step);
    int64_t       traffic = 0;

    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++) {
        rd_cuda_blocks first = *b, last = *b;

        go_to(&first, /*last=*/false);
        go_to(&last, /*last=*/true);
        const bool same = rd_blocks_touch(&first, k).lo == rd_blocks_touch(&last, k).lo;

        traffic += rd_blocks_most(b, k) * (same ? 1 : n);
    }
    return traffic;
}

/* True if the blocks of work copy at most twice the bytes that the program touches. They may
 * copy some more than once, as a window also contains what lies between the bytes that it is
 * for. */
bool rd_blocks_are_lean(const rd_cuda_blocks *b)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++)
        bytes += rd_slot_bytes(b->s, k);
    return traffic_of(b) <= 2 * bytes;
}

/* Returns the most pieces of a block of work such that there are at least n blocks and these
 * copy few bytes twice; 0: there is no such number. */
static int64_t lean_step(const rd_cuda_blocks *b, int64_t n)
{
    rd_cuda_blocks candidate = *b;

    candidate.step = (rd_blocks_pieces(b) + n - 1) / n;
    while (candidate.step > 0 && !rd_blocks_are_lean(&candidate))
        candidate.step /= 2;
    return candidate.step;
}

/* Chooses the index that blocks of work divide (b->level), from the outermost one inwards. The
 * first one is taken whose blocks fit the budget, are at least `least` in number and copy few
 * bytes twice. Else the innermost one whose blocks fit is. *most: the most pieces of a block.
 * False: no index has blocks that fit. */
static bool find_level(rd_cuda_blocks *b, const bool *windowed, int64_t budget, int64_t least,
                       int64_t *most)
{
    int32_t found = -1;

    b->step = 1;
    *most   = INT64_MAX;
    for (b->level = 0; b->level < b->n_index; b->level++)
        if (do_blocks_fit(b, windowed, budget)) {
            found = b->level;
            if (rd_blocks_pieces(b) >= least && (least == 1 || (*most = lean_step(b, least)) > 0))
                break;
        }
    b->level = found;
    *most    = *most > 0 ? *most : INT64_MAX;
    return found >= 0;
}

/* Divides a kernel's work into blocks with data that fit the budget. It chooses the index that
 * is divided, and then the most pieces of a block: as many as the first block leaves room for,
 * then half as many until all blocks fit. Returns the reason if there are no blocks, else NULL.
 * `split`: the split loop whose kernel it is, -1: none; `least`: the least number of blocks. */
const char *rd_blocks_find(rd_cuda_blocks *b, const rd_cuda_strategy *s, int32_t split,
                           const bool *windowed, int64_t budget, int64_t least)
{
    const char *why = refusal_of(s);
    int64_t     most;

    *b = (rd_cuda_blocks){ .s = s, .split = split, .step = 1, .end = 1, .ends = true };
    if (why)
        return why;
    find_indices(b);
    if (b->n_index == 0)
        return "it is one item of work";
    go_to(b, /*last=*/false);
    if (!may_be_windows(b, windowed))
        return "it takes elements by indices, or what it has stored";
    if (!find_level(b, windowed, budget, least, &most))
        return "parts of it have no room, or do not lie densely";
    (void)do_blocks_fit(b, windowed, budget); /* for its effect: the first block is current */
    b->step = smaller(budget / (bytes_of(b, windowed) + 1) + 1, b->index[b->level].count);
    b->step = smaller(b->step, most);
    while (!do_blocks_fit(b, windowed, budget))
        b->step /= 2;
    return NULL;
}

/* Returns the reason of the first kernel of a strategy whose work cannot be divided into blocks
 * with data that fit; NULL: all can. */
const char *rd_blocks_refusal(const rd_cuda_strategy *s, const bool *windowed, int64_t budget)
{
    rd_cuda_blocks b;
    const char    *why = NULL;

    for (int32_t split = s->n_split ? 0 : -1; !why && split < s->n_split; split++)
        why = rd_blocks_find(&b, s, split, windowed, budget, /*least=*/1);
    return why;
}

/* Returns the pieces of all the work: a piece is one value of the index that blocks divide, at
 * one value of each slower index. */
int64_t rd_blocks_pieces(const rd_cuda_blocks *b)
{
    int64_t n = 1;

    for (int32_t k = 0; k <= b->level; k++)
        n *= b->index[k].count;
    return n;
}

/* Restricts the work to pieces [first, end), with at most `most` of them in a block, and goes to
 * the first block. */
void rd_blocks_take(rd_cuda_blocks *b, int64_t first, int64_t end, int64_t most)
{
    b->at   = first;
    b->end  = end;
    b->step = smaller(b->step, most > 0 ? most : 1);
    set_box(b);
}

/* Counts the blocks of work from the current one on. */
int64_t rd_blocks_count(const rd_cuda_blocks *b)
{
    rd_cuda_blocks at = *b;
    int64_t        n  = at.at < at.end;

    while (rd_blocks_next(&at))
        n++;
    return n;
}

/* Returns the units [*first, *end) of the kernel's work that the current block has. A piece has
 * a unit for each value of the faster indices, behind `level`. */
void rd_blocks_work(const rd_cuda_blocks *b, int64_t *first, int64_t *end)
{
    int64_t unit = 1;

    for (int32_t k = b->level + 1; k < b->n_index; k++)
        unit *= b->index[k].count;
    *first = b->at * unit;
    *end   = (b->at + size(b)) * unit;
}

/* Goes to the next block of work.  False: the current one is the last. */
bool rd_blocks_next(rd_cuda_blocks *b)
{
    b->at += size(b);
    if (b->at >= b->end)
        return false;
    set_box(b);
    return true;
}
