/* trees.h - the combine tree of program.h, on vectors of states.
 *
 * A group is a run of states that enter blocks together: the lanes of a cell, or neighbouring cells
 * of one lane, or all lanes of neighbouring cells in lockstep (plan/fold_mapping.c).  A group has
 * the states of the current block, and a stack of finished nodes.  Two nodes merge as soon as both
 * siblings are finished. */
#ifndef RD_KERNELS_CPU_TILE_RUN_TREES_H
#define RD_KERNELS_CPU_TILE_RUN_TREES_H
#include "kernels/cpu/tile/run/tile_task.h"

typedef struct rd_group {
    int64_t block;      /* the current one, -1: none                                   */
    int32_t depth;      /* finished nodes                                               */
    int64_t begun;      /* states [0, begun) of the current block have elements          */
    bool    is_decided; /* no further element can change the result */
} rd_group;

/* A finished node covers blocks [start, start + 2^level) and has states [0, n). */
typedef struct rd_tree_node {
    int64_t start, n;
    int32_t level;
} rd_tree_node;

/* Returns the slot (number of a state) of the first lane of a cell.  The lanes of a cell (a result)
 * are adjacent, unless the cells are interleaved: all cells in turn, then their next lane. */
static inline int64_t rd_tree_slot(const rd_tile_fold *f, int64_t cell)
{
    return f->interleaved > 1 ? cell : cell * f->fold->lanes;
}

rd_group     *rd_tree_group(char *memory, int64_t group);
rd_tree_node *rd_tree_nodes(const rd_tile_fold *f, char *memory, int64_t group);
/* rd_tree_block: pointers to the states of the current block, from state `slot` on.  rd_tree_row:
 * likewise of a finished node, number `row` on the stack. */
void rd_tree_block(const rd_tile_fold *f, char *memory, int64_t slot, void **s);
void rd_tree_row(const rd_tile_fold *f, char *memory, int32_t row, int64_t slot, void **s);
/* The result state of row `row` of totals. */
void rd_tree_total(const rd_tile_fold *f, char *memory, int64_t row, void **s);
/* Scratch for at most RD_SPARE states of finished blocks, of 8 bytes a word. */
enum { RD_SPARE = 512 };
void rd_tree_spare(const rd_tile_fold *f, char *memory, int which, void **s);

/* Returns how many of the `left` cells (results) from `cell` on have adjacent states in one group,
 * whose states begin and end their blocks together. */
static inline int64_t rd_tree_adjacent_cells(const rd_tile_fold *f, int64_t cell, int64_t left)
{
    const int64_t in_group = f->mapping == RD_FOLD_COLUMNS ? f->group - cell % f->group
                                                           : f->interleaved - cell % f->interleaved;

    return left < in_group ? left : in_group;
}

/* Returns how many of the `left` cells (results) from `cell` on have adjacent states in one group,
 * but no more than RD_SPARE, for which scratch has room. */
static inline int64_t rd_tree_cells_at_once(const rd_tile_fold *f, int64_t cell, int64_t left)
{
    const int64_t n = rd_tree_adjacent_cells(f, cell, left);

    return n < RD_SPARE ? n : RD_SPARE;
}

/* finish.c: turns n states of finished blocks into results; at most RD_SPARE if results are
 * converted. */
void rd_tiles_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t n,
                     void *const *s, void *const *to);
/* True if results have another type than the states. */
bool rd_tiles_needs_conversion(const rd_tile_fold *f);
/* Converts n results to the type of the fold's output. */
void rd_tiles_convert_results(const rd_tiles *m, const rd_tile_fold *f, int64_t n,
                              void *const *from, void *const *to);
/* Merges the first n lanes of finished blocks into one state, the first. */
int64_t rd_tiles_merge_lanes(const rd_tile_fold *f, int64_t n, void *const *s);
/* Sets the result of a fold of no elements. */
void rd_tiles_set_empty_result(const rd_tile_fold *f, const rd_reg_view *y, int64_t r, int64_t c);

/* Copies n states as wide as nodes have them. */
void rd_tree_copy(const rd_tile_fold *f, int64_t n, void *const *to, void *const *from);
/* Adds `rows` to the counts of n states from `s` on. */
void rd_tree_add_count(const rd_tile_fold *f, void *s, int64_t n, int64_t rows);
/* Adds `rows` to the counts of a group's current block, n states from state `offset` on. */
void rd_tree_count(const rd_tile_fold *f, char *memory, int64_t group, int64_t offset, int64_t n,
                   int64_t rows);

void rd_tree_start(const rd_tile_fold *f, char *memory, int64_t group);
/* Ends the group's current block, if it is another one, and enters this one. */
void rd_tree_enter_block(const rd_tile_fold *f, char *memory, int64_t group, int64_t block);
void rd_tree_end_block(const rd_tile_fold *f, char *memory, int64_t group);
/* Puts the states at row `depth` on the stack as a finished node. */
void rd_tree_push(const rd_tile_fold *f, char *memory, int64_t group, rd_tree_node node);
/* Merges all finished nodes into one. */
void rd_tree_collapse(const rd_tile_fold *f, char *memory, int64_t group);
#endif
