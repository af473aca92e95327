/* state_scan_steps.c - scans by reducers that no operator merges, one step of neighbouring slots at
 * a time.  Each slot has the state of the current block, and that of all blocks before it. */
#include "kernels/cpu/tile/run/masks.h"
#include "kernels/cpu/tile/run/state_scans.h"
#include "kernels/cpu/tile/run/state_scan_steps.h"
#include <string.h>

/* ---- States ---------------------------------------------------------------------------------- */
/* Sets the memory of each slot (one scan): two states of 8 bytes a word, of the current block and
 * of the blocks before it. */
void rd_state_scan_size(rd_tile_fold *f)
{
    f->scan_bytes = (int64_t)RD_N_STATE_SCAN * 8 * f->n_state;
}

/* Sets s to the words of the state of a slot (one scan): of the current block, or of the blocks
 * before.  Each word is an array over all slots. */
void rd_state_scan_states(const rd_tile_fold *f, char *memory, rd_state_scan_which which,
                          int64_t slot, void **s)
{
    for (int32_t k = 0; k < f->n_state; k++)
        s[k] = memory + f->scans_offset + 8 * f->slots * ((int64_t)which * f->n_state + k) +
               slot * f->word_bytes[k];
}

/* Sets both states of each scan of a group to the identity, before the first element. */
void rd_state_scan_start(const rd_tile_fold *f, char *memory, int64_t group)
{
    for (int which = 0; which < RD_N_STATE_SCAN; which++) {
        void *s[RD_MAX_STATE];

        rd_state_scan_states(f, memory, (rd_state_scan_which)which, group * f->group, s);
        rd_fill_identity(f, f->group, s);
    }
}

/* Merges the states of a finished block (64 steps) into those of the blocks before it. Masked scans
 * begin the next block with the identity, others with its first element. code->block, if there is
 * one, completes states at the end of a block. */
static void end_block(const rd_tile_fold *f, char *memory, int64_t group, int64_t block)
{
    const int64_t first = group * f->group;
    void         *s[RD_MAX_STATE], *before[RD_MAX_STATE];

    rd_state_scan_states(f, memory, RD_CURRENT_BLOCK, first, s);
    rd_state_scan_states(f, memory, RD_BLOCKS_BEFORE, first, before);
    if (f->code->block)
        f->code->block(f->group, s);
    if (block > 0)
        f->code->merge(f->group, before, s);
    else
        rd_tree_copy(f, f->group, before, s);
    if (f->masked)
        rd_fill_identity(f, f->group, s);
}

/* Makes `block` the current one in all scans of a group, and ends the one before it. */
void rd_state_scan_enter_block(const rd_state_scan *a, int64_t group, int64_t block)
{
    rd_group *const g = rd_tree_group(a->memory, group);

    if (g->block >= 0 && g->block != block)
        end_block(a->f, a->memory, group, g->block);
    g->block = block;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Writes the results of n neighbouring scans at step `at` to elements (r, c ..): the state of the
 * blocks before, merged with that of the current block unless it is `empty`. In the first block
 * there are none before. A block's state is finished by code->block before it is merged. Both go
 * through copies, as the states themselves must go on. */
static void store_results(const rd_state_scan *a, int64_t slot, int64_t at, bool empty, int64_t r,
                          int64_t c, int64_t n)
{
    const rd_tile_fold *f = a->f;
    void               *s[RD_MAX_STATE], *whole[RD_MAX_STATE], *copy[RD_MAX_STATE];
    void *const         to[1] = { rd_view_at(&a->y, r, c) };

    rd_state_scan_states(f, a->memory, RD_CURRENT_BLOCK, slot, s);
    rd_state_scan_states(f, a->memory, RD_BLOCKS_BEFORE, slot, whole);
    if (f->code->block && !empty) {
        rd_tree_spare(f, a->memory, /*which=*/1, copy);
        rd_tree_copy(f, n, copy, s);
        f->code->block(n, copy);
        memcpy(s, copy, sizeof s);
    }
    if (at >= f->fold->steps && !empty) {
        rd_tree_spare(f, a->memory, /*which=*/0, copy);
        rd_tree_copy(f, n, copy, whole);
        f->code->merge(n, copy, s);
        memcpy(s, copy, sizeof s);
    }
    rd_tiles_finish(a->m, f, a->memory, n, empty ? whole : s, to);
}

/* Updates n neighbouring scans with one element each, at x, of step `at`. The first element of a
 * block begins the states, except under a mask, where they begin with the identity. Steps without a
 * mask leave counting to their caller for some reducers (a mean): 1 is added to each count. */
static void step_states(const rd_state_scan *a, const void *x, int64_t slot, int64_t at, int64_t r,
                        int64_t c, int64_t n)
{
    const rd_tile_fold *f     = a->f;
    const bool          fresh = at % f->fold->steps == 0 && !f->masked;
    rd_fold_rows        q     = { .n         = n,
                                  .rows      = 1,
                                  .x         = x,
                                  .y         = a->w.at ? rd_view_at(&a->w, r, c) : NULL,
                                  .coly      = 1,
                                  .mask      = a->mask.at ? rd_view_at(&a->mask, r, c) : NULL,
                                  .index     = a->index + r * f->index.row + c * f->index.col,
                                  .index_col = f->index.col };

    rd_state_scan_states(f, a->memory, RD_CURRENT_BLOCK, slot, q.s);
    if (f->masked)
        f->code->masked(&q);
    else if (fresh)
        f->code->first(&q);
    else {
        f->code->step(&q);
        rd_tree_add_count(f, q.s[0], n, 1);
    }
}

/* Returns the elements x, copied to a spare buffer if the scan runs in place (y is x): an exclusive
 * scan reads each after its result is written. */
static const void *copy_if_in_place(const rd_state_scan *a, const void *x, const void *y, int64_t n)
{
    return x == y ? memcpy(a->m->spare, x, (size_t)(n * rd_elem_size(a->x.elem))) : x;
}

/* Updates n neighbouring scans with step `at`, elements (r, c ..), and writes their results; an
 * exclusive scan writes the results first.  At step 0 that is the result of no elements; at the
 * first step of a later block, that of the blocks before (`empty`). */
void rd_state_scan_step(const rd_state_scan *a, int64_t slot, int64_t at, int64_t r, int64_t c,
                        int64_t n)
{
    const void *x = rd_view_at(&a->x, r, c);

    if (!a->f->fold->exclusive) {
        step_states(a, x, slot, at, r, c, n);
        store_results(a, slot, at, /*empty=*/false, r, c, n);
        return;
    }
    x = copy_if_in_place(a, x, rd_view_at(&a->y, r, c), n);
    if (at > 0)
        store_results(a, slot, at, /*empty=*/at % a->f->fold->steps == 0, r, c, n);
    step_states(a, x, slot, at, r, c, n);
    for (int64_t k = 0; at == 0 && k < n; k++)
        rd_tiles_set_empty_result(a->f, &a->y, r, c + k);
}
