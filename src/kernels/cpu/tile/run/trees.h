/* trees.h - the combine tree of program.h on states side by side.
 *
 * A group is a run of states that take elements together: the lanes of a cell, or neighbouring
 * cells of one lane, or all lanes of neighbouring cells that keep step (plan/fold_mapping.c).  It has the
 * states of the current block and a stack of finished nodes, which merge as soon as both siblings
 * are there. */
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

/* Where a cell's first lane is. */
static inline int64_t rd_tree_slot(const rd_tile_fold *f, int64_t cell)
{
    return f->interleaved > 1 ? cell : cell * f->fold->lanes;
}

rd_group     *rd_tree_group(char *memory, int64_t group);
rd_tree_node *rd_tree_nodes(const rd_tile_fold *f, char *memory, int64_t group);
/* The states of the current block, of a finished node, from state `slot` on. */
void rd_tree_block(const rd_tile_fold *f, char *memory, int64_t slot, void **s);
void rd_tree_row(const rd_tile_fold *f, char *memory, int32_t row, int64_t slot, void **s);
/* What row `row` of totals came to. */
void rd_tree_total(const rd_tile_fold *f, char *memory, int64_t row, void **s);
/* Some states of finished blocks that nobody keeps; at most RD_SPARE of them, of 8 bytes each. */
enum { RD_SPARE = 512 };
void rd_tree_spare(const rd_tile_fold *f, char *memory, int which, void **s);

/* How many of the `left` cells from one on are neighbours of one group; what of them can be looked
 * after together. */
static inline int64_t rd_tree_adjacent_cells(const rd_tile_fold *f, int64_t cell, int64_t left)
{
    const int64_t in_group = f->mapping == RD_FOLD_COLUMNS ? f->group - cell % f->group
                                                           : f->interleaved - cell % f->interleaved;

    return left < in_group ? left : in_group;
}

static inline int64_t rd_tree_cells_at_once(const rd_tile_fold *f, int64_t cell, int64_t left)
{
    const int64_t n = rd_tree_adjacent_cells(f, cell, left);

    return n < RD_SPARE ? n : RD_SPARE;
}

/* finish.c: n states of finished blocks become results; at most RD_SPARE if they must be
 * converted. */
void rd_tiles_finish(const rd_tiles *m, const rd_tile_fold *f, char *memory, int64_t n,
                     void *const *s, void *const *to);
/* Results of another type than the states? */
bool rd_tiles_needs_conversion(const rd_tile_fold *f);
void rd_tiles_convert_results(const rd_tiles *m, const rd_tile_fold *f, int64_t n,
                              void *const *from, void *const *to);
/* The n states of finished blocks, of all lanes or of the first ones, become one, the first. */
int64_t rd_tiles_merge_lanes(const rd_tile_fold *f, int64_t n, void *const *s);
void rd_tiles_set_empty_result(const rd_tile_fold *f, const rd_reg_view *y, int64_t r, int64_t c);

/* n states, wide as nodes have them. */
void rd_tree_copy(const rd_tile_fold *f, int64_t n, void *const *to, void *const *from);
/* n states from `s` on have taken so many elements more. */
void rd_tree_add_count(const rd_tile_fold *f, void *s, int64_t n, int64_t rows);
/* The same of a group's current block, from state `offset` on. */
void rd_tree_count(const rd_tile_fold *f, char *memory, int64_t group, int64_t offset, int64_t n,
                   int64_t rows);

void rd_tree_start(const rd_tile_fold *f, char *memory, int64_t group);
/* The group moves on to a block. */
void rd_tree_enter_block(const rd_tile_fold *f, char *memory, int64_t group, int64_t block);
void rd_tree_end_block(const rd_tile_fold *f, char *memory, int64_t group);
/* The states at row `depth` are a finished node. */
void rd_tree_push(const rd_tile_fold *f, char *memory, int64_t group, rd_tree_node node);
/* All finished nodes become one. */
void rd_tree_collapse(const rd_tile_fold *f, char *memory, int64_t group);
#endif
