/* finish.c - states of finished folds become results: lanes merge, and results are converted. */
#include "core/combine_tree.h"
#include "kernels/cpu/reference/fold.h"
#include "kernels/cpu/tile/run/trees.h"
#include <string.h>

/* Converts n results of each output of a fold from the type of the accumulator (int64 for indices)
 * to that of the register. */
void rd_tiles_convert_results(const rd_tiles *m, const rd_tile_fold *f, int64_t n,
                              void *const *from, void *const *to)
{
    rd_simd_cast *cast =
        rd_simd_cast_to(m->code->simd, f->fold->out, f->has_index ? RD_ELEM_i64 : f->elem);

    for (int32_t k = 0; k < f->fold->n_out; k++) {
        cast(n, to[k], from[k]);
        if (m->code->simd->wrap[f->fold->out])
            m->code->simd->wrap[f->fold->out](n, to[k]);
    }
}

/* True if results have another type than the states: indices are 64-bit ints, other results have
 * the type of the accumulator. */
bool rd_tiles_needs_conversion(const rd_tile_fold *f)
{
    return f->fold->out != (f->has_index ? RD_I64 : f->fold->type);
}

/* Makes results of n states (finalise: a mean divides, say), and converts them if their type is
 * another one. ddof is what variances subtract from the number of elements; spare states (array 1)
 * hold results before they are converted. */
void rd_tiles_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t n,
                     void *const *s, void *const *to)
{
    void *y[RD_MAX_STATE];

    if (!rd_tiles_needs_conversion(f)) {
        f->code->finish(n, s, f->fold->ddof, to);
        return;
    }
    rd_tree_spare(f, memory, /*which=*/1, y);
    f->code->finish(n, s, f->fold->ddof, y);
    rd_tiles_convert_results(m, f, n, y, to);
}

/* Sets element (r, c) of each result y of a fold to what a fold of no elements has. */
void rd_tiles_set_empty_result(const rd_tile_fold *f, const rd_reg_view *y, int64_t r, int64_t c)
{
    rd_word words[RD_MAX_STATE];

    rd_fold_of_nothing(f->fold, words);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_view_set(&y[k], r, c, words[k]);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */
/* Merges the lanes (accumulators of one result) by halves: lane l takes lane l + h for h = lanes/2
 * .. 1. Returns how many states are left. If all lanes are there, a half below a quarter of them is
 * still merged as a whole vector: lanes from h on are not used any more, and each is read before it
 * changes. If the upper half has no state (n <= half), there is nothing to merge. Interleaved cells
 * merge together, until one state of each is left. */
static int64_t halve(const rd_tile_fold *f, int64_t n, void *const *s)
{
    const int64_t lanes = f->interleaved * f->fold->lanes, vector = lanes / 4;
    const bool    whole = n == lanes;
    void         *b[RD_MAX_STATE];

    for (int64_t half = lanes / 2; half >= f->interleaved; half /= 2) {
        if (n <= half)
            continue;
        for (int32_t k = 0; k < f->n_state; k++)
            b[k] = (char *)s[k] + half * f->node_word_bytes[k]; /* bytes of a word in nodes */
        f->code->merge(whole && half < vector ? vector : n - half, s, b);
        n = half;
    }
    return n;
}

/* Merges the lanes of each of the interleaved cells (all cells in turn, then their next lane). The
 * lanes of a cell are copied out first, as they lie apart, and the merged state is copied back. Of
 * n states, every interleaved-th one from `cell` on is this cell's. */
static void merge_interleaved(const rd_tile_fold *f, int64_t n, void *const *s)
{
    for (int64_t cell = 0; cell < f->interleaved && cell < n; cell++) {
        uint64_t      memory[RD_MAX_STATE][RD_TREE_LANES];
        void         *one[RD_MAX_STATE];
        const int64_t lanes = (n - cell + f->interleaved - 1) / f->interleaved;

        for (int32_t k = 0; k < f->n_state; k++) {
            const int32_t size = f->node_word_bytes[k]; /* bytes of a word in nodes */

            one[k] = memory[k];
            for (int64_t l = 0; l < lanes; l++)
                memcpy((char *)one[k] + l * size, (char *)s[k] + (cell + l * f->interleaved) * size,
                       (size_t)size);
        }
        f->code->lanes(lanes, f->fold->lanes, one);
        for (int32_t k = 0; k < f->n_state; k++)
            memcpy((char *)s[k] + cell * f->node_word_bytes[k], one[k],
                   (size_t)f->node_word_bytes[k]);
    }
}

/* Merges the first n lanes (accumulators of one result) of finished blocks into one state for each
 * interleaved cell, by the reducer's own kernel (code->lanes) or by halves.  Lanes of several
 * interleaved cells lie apart, so that kernel needs copies.  Returns how many states are left. */
int64_t rd_tiles_merge_lanes(const rd_tile_fold *f, int64_t n, void *const *s)
{
    if (!f->code->lanes || n == 0)
        return halve(f, n, s);
    if (f->interleaved == 1)
        f->code->lanes(n, f->fold->lanes, s);
    else
        merge_interleaved(f, n, s);
    return n < f->interleaved ? n : f->interleaved;
}
