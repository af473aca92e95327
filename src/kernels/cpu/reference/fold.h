/* fold.h - one task's share of a reduction or scan in the reference executor: the combine tree of
 * program.h, built from the left.
 *
 * A fold holds n_cell cells, one per result.  A cell has, for each lane, the finished nodes of the
 * tree and the node of the current block.  Which nodes merge depends on block numbers alone.  So a
 * task that starts at any block ends with nodes of the same tree, and rd_fold_merge() gives the
 * bits of a single task. */
#ifndef RD_KERNELS_CPU_REFERENCE_FOLD_H
#define RD_KERNELS_CPU_REFERENCE_FOLD_H
#include "kernels/cpu/reference/node.h"

/* One task's states of a fold, with what is asked of them for each element. */
typedef struct rd_fold_state {
    const rd_fold *fold;
    rd_node_info   node;
    rd_word        one;     /* the weight of an element without                          */
    bool           decides; /* one element, `end`, may be all that counts                */
    rd_word        end;
    bool           tests;     /* a user's test says whether more count                     */
    bool           indexed;   /* the reducer asks for flat indices                         */
    int64_t        row_steps; /* steps of one pass along the lane position                 */
    int32_t        room;      /* rows of nodes in a cell, one node per lane                */
    int64_t        row_bytes, rows, carry, nodes, words, cell_bytes; /* of a row; offsets in a
                                                                      * cell; of a cell */
    int64_t        n_words; /* of a running sum, prefix_sums.h                              */
    char          *cells, *spare;
} rd_fold_state;

/* The cell, lane, block and index numbers of an element. */
typedef struct rd_fold_place {
    int64_t cell, lane, lane_line, index;
} rd_fold_place;

/* rd_fold_bytes: the bytes of a fold's cells.  rd_fold_init: sets up a fold in such memory,
 * 16-aligned and uninitialised. */
int64_t rd_fold_bytes(const rd_fold *fold);
void    rd_fold_init(rd_fold_state *s, const rd_fold *fold, char *memory);

/* Empties all cells. */
void rd_fold_start(rd_fold_state *s);
/* Takes an element into its cell; unless `take`, the cell only enters the element's block. */
void rd_fold_step(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take);
/* Takes an element into the cell of its group, if that is one. */
void rd_fold_step_group(rd_fold_state *s, const rd_fold_place *at, int64_t group, rd_word x,
                        rd_word weight, bool take);
/* n elements of a user's reducer, at places along the lane position that rise by one.  Their mask
 * bytes are `next` apart; NULL: all count.  With several lanes each element is taken by itself, so
 * the reducer must not ask for indices. */
typedef struct rd_fold_run {
    int64_t          n, next;
    rd_node_elements x;
    const uint8_t   *mask;
} rd_fold_run;
void rd_fold_take(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run);
/* Takes the elements of a run into the cells of their groups, one by one; labels are `apart`
 * elements apart. */
void rd_fold_take_groups(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run,
                         const int64_t *label, int64_t apart);
/* Takes an element as rd_fold_step() does, and sets y to the running result. */
void rd_fold_scan(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take,
                  rd_word *y);
/* Sets y[0 .. n_out) to the result of a cell, which cannot be used any more. */
void rd_fold_finish(rd_fold_state *s, int64_t number, rd_word *y);
/* True if no further element can change the result of any cell. */
bool rd_fold_is_decided(const rd_fold_state *s);
/* Merges the fold `next` of a later task into `into`. */
void rd_fold_merge(rd_fold_state *into, const rd_fold_state *next);
#endif
