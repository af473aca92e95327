/* blocks.c - the work of a kernel in blocks, for data that are not all on the GPU: which of a
 * slot's bytes a block touches.
 *
 * Work is numbered by indices, the last of which runs fastest: ranges of the cut loop, then the
 * loops of the grid from the outside in, then chunks of the axis that is dealt out, or patches.  A
 * block is some of the values of one of them, all of those behind it, and one of each before it. */
#include "kernels/cuda/blocks.h"

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_index(rd_cuda_blocks *b, int32_t axis, int64_t per)
{
    const int64_t extent = b->s->p->axis_extent[axis];

    b->index[b->n_index++] =
        (rd_block_index){ .axis = axis, .per = per, .count = (extent + per - 1) / per };
}

static void find_indices(rd_cuda_blocks *b)
{
    const rd_cuda_shape *s = b->s;

    if (b->cut >= 0)
        add_index(b, s->cut_axis, s->range);
    for (int32_t g = 0; g < s->n_grid; g++) {
        const int32_t axis = s->p->loop[s->grid[g]].axis;

        add_index(b, axis, axis == s->strip ? s->wide : 1);
    }
    if (s->dealt >= 0)
        add_index(b, s->p->loop[s->dealt].axis, s->chunk);
    for (int k = 0; s->cross[0] >= 0 && k < 2; k++)
        add_index(b, s->p->loop[s->cross[k]].axis, s->patch[k]);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */
/* Does this kernel run the instruction?  Other cut loops have kernels of their own. */
static bool is_here(const rd_cuda_blocks *b, int32_t inst)
{
    for (int32_t k = 0; k < b->s->n_cut; k++)
        if (k != b->cut && rd_cuda_within(b->s->p, inst, b->s->cut[k]))
            return false;
    return true;
}

static bool is_access(const rd_cuda_blocks *b, int32_t inst, int32_t slot)
{
    const rd_inst *i = &b->s->p->inst[inst];

    return (i->kind == RD_I_LOAD || i->kind == RD_I_STORE) &&
           b->s->p->address[i->arg].slot == slot && is_here(b, inst);
}

/* Elements that it touches in the block at hand, without what registers add. */
static void touch(const rd_cuda_blocks *b, const rd_address *at, int64_t *lo, int64_t *hi)
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

rd_touched rd_blocks_touch(const rd_cuda_blocks *b, int32_t slot)
{
    const rd_program *p     = b->s->p;
    rd_touched        w     = { 0 };
    bool              found = false;

    for (int32_t i = 0; i < p->n_inst; i++) {
        int64_t lo, hi;

        if (!is_access(b, i, slot))
            continue;
        const rd_address *at   = &p->address[p->inst[i].arg];
        const int64_t     size = rd_dtype_size(at->type);

        touch(b, at, &lo, &hi);
        w.lo  = !found || lo * size < w.lo ? lo * size : w.lo;
        w.hi  = !found || hi * size > w.hi ? hi * size : w.hi;
        found = true;
        w.stored |= p->inst[i].kind == RD_I_STORE;
        w.loaded |= p->inst[i].kind == RD_I_LOAD;
    }
    return w;
}

int64_t rd_slot_bytes(const rd_cuda_shape *s, int32_t slot)
{
    const rd_program *p = s->p;
    rd_cuda_blocks    b = { .s = s, .cut = -1 };
    rd_touched        all;

    for (int32_t a = 0; a < p->n_axis && a < RD_BLOCK_AXES; a++)
        b.hi[a] = p->axis_extent[a];
    all = rd_blocks_touch(&b, slot);
    return all.hi - all.lo;
}

/* ---- Which blocks ---------------------------------------------------------------------------- */
/* All axes in full, but those of the indices at hand. */
static void set_box(rd_cuda_blocks *b)
{
    for (int32_t a = 0; a < b->s->p->n_axis; a++) {
        b->lo[a] = 0;
        b->hi[a] = b->s->p->axis_extent[a];
    }
    for (int32_t k = 0; k <= b->level && k < b->n_index; k++) {
        const rd_block_index *i   = &b->index[k];
        const int64_t         end = k < b->level ? i->at + 1 : less(i->at + b->step, i->count);

        b->lo[i->axis] = i->at * i->per;
        b->hi[i->axis] = less(end * i->per, b->s->p->axis_extent[i->axis]);
    }
}

/* Of all windows that the block at hand has. */
static int64_t bytes_of(rd_cuda_blocks *b, const bool *windowed)
{
    int64_t bytes = 0;

    set_box(b);
    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++)
        if (windowed[k]) {
            const rd_touched w = rd_blocks_touch(b, k);

            bytes += w.hi - w.lo + RD_WINDOW_ROOM;
        }
    return bytes;
}

/* Addresses that registers count in may be anywhere; of what is read and stored, a block would have
 * to see what others store. */
static bool may_be_windows(const rd_cuda_blocks *b, const bool *windowed)
{
    const rd_program *p = b->s->p;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE)
            continue;
        const rd_address *at = &p->address[inst->arg];

        if (at->slot >= p->first_scratch || !windowed[at->slot])
            continue;
        const rd_touched w = rd_blocks_touch(b, at->slot);

        if (rd_cuda_gathers(at) || (w.loaded && w.stored))
            return false;
    }
    return true;
}

/* Bytes that a block stores to a slot, by its one store. */
static int64_t stored_bytes(const rd_cuda_blocks *b, int32_t slot)
{
    const rd_program *p     = b->s->p;
    int64_t           bytes = -1;

    for (int32_t i = 0; i < p->n_inst; i++) {
        if (!is_access(b, i, slot))
            continue;
        if (bytes >= 0)
            return -1;
        bytes = rd_dtype_size(p->address[p->inst[i].arg].type);
        for (int32_t loop = p->inst[i].loop; loop >= 0; loop = p->loop[loop].parent)
            bytes *= b->hi[p->loop[loop].axis] - b->lo[p->loop[loop].axis];
    }
    return bytes;
}

/* What lies between the elements that a block stores is others'. */
static bool are_stores_dense(rd_cuda_blocks *b, const bool *windowed)
{
    set_box(b);
    for (int32_t k = 0; k < b->s->n_slot && k < b->s->p->first_scratch; k++) {
        const rd_touched w = windowed[k] ? rd_blocks_touch(b, k) : (rd_touched){ 0 };

        if (w.stored && stored_bytes(b, k) != w.hi - w.lo)
            return false;
    }
    return true;
}

/* To the first block, or the last. */
static void go_to(rd_cuda_blocks *b, bool last)
{
    for (int32_t k = 0; k <= b->level; k++)
        b->index[k].at = !last          ? 0
                         : k < b->level ? b->index[k].count - 1
                                        : (b->index[k].count - 1) / b->step * b->step;
    set_box(b);
}

/* Do all blocks?  What one touches of a slot by accesses that move apart is most at either end.
 * The first is at hand then. */
static bool do_fit(rd_cuda_blocks *b, const bool *windowed, int64_t budget)
{
    bool fit = true;

    for (int last = 1; last >= 0; last--) {
        go_to(b, last);
        fit &= bytes_of(b, windowed) <= budget && are_stores_dense(b, windowed);
    }
    return fit;
}

int64_t rd_blocks_most(const rd_cuda_blocks *b, int32_t slot)
{
    rd_cuda_blocks at   = *b;
    int64_t        most = 0;

    for (int last = 0; last < 2; last++) {
        go_to(&at, last);
        const rd_touched of = rd_blocks_touch(&at, slot);

        most = of.hi - of.lo > most ? of.hi - of.lo : most;
    }
    return most;
}

bool rd_blocks_find(rd_cuda_blocks *b, const rd_cuda_shape *s, int32_t cut, const bool *windowed,
                    int64_t budget)
{
    *b = (rd_cuda_blocks){ .s = s, .cut = cut };
    if (s->scanned || s->swept || s->square[0] >= 0 || s->pairs >= 0 || s->n_item == 0 ||
        s->p->n_axis > RD_BLOCK_AXES)
        return false;
    find_indices(b);
    set_box(b);
    if (!may_be_windows(b, windowed))
        return false;
    for (b->level = 0; b->level < b->n_index; b->level++) {
        b->step = 1;
        if (!do_fit(b, windowed, budget))
            continue;
        b->step = less(budget / (bytes_of(b, windowed) + 1) + 1, b->index[b->level].count);
        while (!do_fit(b, windowed, budget))
            b->step /= 2;
        return true;
    }
    return false;
}

bool rd_blocks_suffice(const rd_cuda_shape *s, const bool *windowed, int64_t budget)
{
    rd_cuda_blocks b;
    bool           suffice = true;

    for (int32_t cut = s->n_cut ? 0 : -1; cut < s->n_cut; cut++)
        suffice &= rd_blocks_find(&b, s, cut, windowed, budget);
    return suffice;
}

/* ---- One after the other --------------------------------------------------------------------- */
int64_t rd_blocks_count(const rd_cuda_blocks *b)
{
    int64_t n = 1;

    for (int32_t k = 0; k < b->level; k++)
        n *= b->index[k].count;
    return n * ((b->index[b->level].count + b->step - 1) / b->step);
}

void rd_blocks_work(const rd_cuda_blocks *b, int64_t *first, int64_t *end)
{
    int64_t unit = 1;

    *first = 0;
    for (int32_t k = 0; k <= b->level; k++)
        *first = *first * b->index[k].count + b->index[k].at;
    for (int32_t k = b->level + 1; k < b->n_index; k++)
        unit *= b->index[k].count;
    *end = *first + less(b->step, b->index[b->level].count - b->index[b->level].at);
    *first *= unit;
    *end *= unit;
}

bool rd_blocks_next(rd_cuda_blocks *b)
{
    int32_t k = b->level;

    b->index[k].at += b->step;
    while (k > 0 && b->index[k].at >= b->index[k].count) {
        b->index[k].at = 0;
        b->index[--k].at++;
    }
    set_box(b);
    return b->index[0].at < b->index[0].count;
}
