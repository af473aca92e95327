/* accumulators.h - the accumulators of folds in a shadow run: for each cell its states, and the
 * nodes of its finished blocks. */
#ifndef RD_KERNELS_LOOP_SHADOW_ACCUMULATORS_H
#define RD_KERNELS_LOOP_SHADOW_ACCUMULATORS_H
#include "kernels/loop/shadow/shadow.h"

/* The blocks that a node of the combine tree covers: [start, start + 2^level). */
typedef struct rd_shadow_cover {
    int64_t start;
    int32_t level;
} rd_shadow_cover;

/* How far a cell has come. */
typedef enum rd_shadow_progress {
    RD_NOT_BEGUN,
    RD_TAKES_STEPS,
    RD_BLOCKS_MERGED, /* one node for each lane */
    RD_LANES_MERGED   /* one node               */
} rd_shadow_progress;

enum { RD_MOST_NODES = 64, RD_MOST_ELEMENT_LEVELS = 8 };

/* The accumulator of a cell; each element of a strip has one of its own. */
typedef struct rd_shadow_accumulator {
    rd_shadow_progress progress;
    int64_t            number, more; /* the cell, and what else its states' subscript has         */
    int64_t            begun;        /* equal to the fold's count of beginnings: it is up to date */
    int64_t            first, block; /* the first block that has begun, and the block at hand; -1 */
    int64_t            ended;        /* the last block that has ended, -1                         */
    int64_t            step;         /* of the last element taken                                 */
    int32_t            store;        /* the array that has the states of the block                */
    int32_t            depth;        /* finished nodes                                            */
    rd_shadow_cover   *covers;       /* per finished node                                         */
    uint64_t          *node;         /* node[row * lanes + lane]                                  */
    uint64_t           before;       /* a scan: the prefix of all blocks before                   */
    uint64_t element[RD_MOST_ELEMENT_LEVELS]; /* nodes of 1, 2, 4 .. elements of the block      */
} rd_shadow_accumulator;

/* A place of an array that has a copy of an accumulator's states.  Copies may be at different
 * blocks. */
typedef struct rd_shadow_alias {
    rd_shadow_accumulator *of;    /* NULL: none   */
    int64_t                block; /* of this copy */
} rd_shadow_alias;

/* A partial: a node of all lanes of a cell that a range of an item has stored. */
typedef struct rd_shadow_partial {
    uint64_t        item;
    int64_t         number, more; /* of the cell  */
    rd_shadow_cover cover;
    uint64_t       *node; /* one for each lane */
} rd_shadow_partial;

/* The subscript of its first state names an accumulator. */
struct rd_shadow_folds {
    const rd_schedule       *t;
    rd_text                 *why;    /* the first failure                                         */
    rd_shadow_accumulator ***cell;   /* per fold and subscript; NULL: no statement has named it   */
    int64_t                 *n_cell; /* per fold: subscripts                                      */
    int64_t                 *begun;  /* per fold: how often it has begun                          */
    uint64_t               **state;  /* per array that has states                                 */
    rd_shadow_alias        **alias;  /* per array and subscript                                   */
    uint64_t                 item;   /* the item at hand                                          */
    rd_shadow_partial      **partial; /* per fold, in any order                                   */
    int64_t                 *n_partial;
};

/* accumulators.c: a fold of the program. */
const rd_fold *rd_shadow_fold_of(const rd_shadow_folds *s, int32_t fold);
/* Notes the first failure; returns false. */
__attribute__((format(printf, 3, 4))) bool rd_shadow_fold_fails(const rd_shadow_folds *s,
                                                                const rd_stmt         *by,
                                                                const char            *format, ...);
/* The accumulator that a statement names; NULL: there is none, or its progress is not in [least,
 * most]. */
rd_shadow_accumulator *rd_shadow_accumulator_at(rd_shadow_folds *s, const rd_stmt *by,
                                                int64_t number, int64_t more,
                                                rd_shadow_progress least, rd_shadow_progress most);
/* The copy of states that the statement names; NULL: it names no copy. */
rd_shadow_alias *rd_shadow_alias_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                                    int64_t more);
/* The state of a lane; NULL: there is none, or it has not begun. */
uint64_t *rd_shadow_state_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                             int64_t more, int32_t lane);
/* Rows of nodes that a cell has at a time, at most. */
int32_t rd_shadow_rows_of(const rd_fold *f);
/* merge_nodes.c: pushes the node in row `depth`, which merges with its left siblings. */
bool rd_shadow_push_node(const rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c,
                         rd_shadow_cover row);
/* Merges the nodes of two rows, lane by lane, into the left one. */
void rd_shadow_merge_rows(const rd_fold *f, const rd_shadow_accumulator *c, int32_t left,
                          int32_t right);
/* Ends the block at hand: its states become a node, and are empty again. */
bool rd_shadow_end_block(rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c);
/* list_partials.c: removes all partials of a fold; adds one, false: no memory. */
void rd_shadow_forget_partials(rd_shadow_folds *s, int32_t fold);
bool rd_shadow_add_partial(rd_shadow_folds *s, int32_t fold, const rd_shadow_partial *left);
/* scan_partials.c: stores the partial of a range of a scan, or those of its blocks. */
bool rd_shadow_store_scan_partials(rd_shadow_folds *s, const rd_stmt *by);
/* run_folds.c: adds element `at` to the tree of its block; returns the prefix up to it. */
uint64_t rd_shadow_tree_prefix(const rd_fold *f, uint64_t *element, int64_t at, uint64_t node);
/* The results of a scan at a state of the block at hand. */
void rd_shadow_finish_prefix(const rd_fold *f, const rd_shadow_accumulator *c, uint64_t state,
                             rd_shadow *y);
/* scan_in_blocks.c: the subscript of the next accumulator that has begun a block; -1: there is
 * none. */
int64_t rd_shadow_next_begun(const rd_shadow_folds *s, int32_t fold, int64_t from);
/* Stores the partials of a tile's blocks. */
bool rd_shadow_store_block_partials(rd_shadow_folds *s, const rd_stmt *by);
#endif
