/* fold.h - a task's share of a reduction or scan: the combine tree of program.h, built from the
 * left.
 *
 * A fold holds n_cell cells, one per result in work.  A cell has, per lane, the nodes of the tree
 * that are finished and the current block's.  Which nodes merge depends on block numbers alone, so
 * a task that starts at any block ends with nodes of the one tree, and rd_fold_merge() gives the
 * bits of a single task. */
#ifndef RD_KERNELS_CPU_REFERENCE_FOLD_H
#define RD_KERNELS_CPU_REFERENCE_FOLD_H
#include "kernels/cpu/reference/node.h"

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

/* Where an element belongs. */
typedef struct rd_fold_place {
    int64_t cell, lane, outer, index;
} rd_fold_place;

/* Memory of a fold's cells: 16-aligned, uninitialised. */
int64_t rd_fold_bytes(const rd_fold *fold);
void    rd_fold_init(rd_fold_state *s, const rd_fold *fold, char *memory);

/* All cells begin anew. */
void rd_fold_start(rd_fold_state *s);
/* An element arrives; unless `take`, it only moves its cell on. */
void rd_fold_step(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take);
/* The same where the fold has groups: to the cell of one of them, if it is one. */
void rd_fold_step_group(rd_fold_state *s, const rd_fold_place *at, int64_t group, rd_word x,
                        rd_word weight, bool take);
/* n elements of a user's reducer, their places along the lane position rising by one, and of the
 * mask bytes, `next` apart.  NULL: all.  Of several lanes each is taken by itself: then the reducer
 * must not ask for its elements' indices. */
typedef struct rd_fold_run {
    int64_t          n, next;
    rd_node_elements x;
    const uint8_t   *mask;
} rd_fold_run;
void rd_fold_take(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run);
/* The same of a fold with groups: labels are `apart` elements apart.  Each is taken by itself. */
void rd_fold_take_groups(rd_fold_state *s, const rd_fold_place *at, const rd_fold_run *run,
                         const int64_t *label, int64_t apart);
/* The same as rd_fold_step(), and y = the result so far. */
void rd_fold_scan(rd_fold_state *s, const rd_fold_place *at, rd_word x, rd_word weight, bool take,
                  rd_word *y);
/* y[0 .. n_out) = the result of a cell, which is used up. */
void rd_fold_finish(rd_fold_state *s, int64_t number, rd_word *y);
/* True if no element can change the result of the first cell. */
bool rd_fold_is_decided(const rd_fold_state *s);
/* The blocks of `next` follow those of `into`. */
void rd_fold_merge(rd_fold_state *into, const rd_fold_state *next);
#endif
