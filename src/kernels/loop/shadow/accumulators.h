/* accumulators.h - accumulators of folds in the shadow run of a tree. */
#ifndef RD_KERNELS_LOOP_SHADOW_ACCUMULATORS_H
#define RD_KERNELS_LOOP_SHADOW_ACCUMULATORS_H
#include "kernels/loop/shadow/shadow.h"

/* A finished node of each lane covers blocks [start, start + 2^level). */
typedef struct rd_shadow_cover {
    int64_t start;
    int32_t level;
} rd_shadow_cover;

typedef enum rd_shadow_progress {
    RD_NOT_BEGUN,
    RD_TAKES_STEPS,
    RD_BLOCKS_MERGED,
    RD_LANES_MERGED
} rd_shadow_progress;

enum { RD_MOST_NODES = 64, RD_MOST_LEVELS = 8 };

/* An accumulator: a cell, and of a strip each of its elements.  Nodes of lanes lie row after row:
 * node[row * lanes + lane]. */
typedef struct rd_shadow_accumulator {
    rd_shadow_progress progress;
    int64_t            number, more; /* the cell, and what else its states' subscript has     */
    int64_t            begun;        /* as often as the fold has begun                        */
    int64_t            first, block; /* the first that has begun, and the last; -1            */
    int64_t            ended;        /* the last block that has, -1                           */
    int64_t            step;         /* of the last element that it has taken                 */
    int32_t            store;        /* the array that has the states of the block            */
    int32_t            depth;        /* finished nodes                                        */
    rd_shadow_cover   *covers;
    uint64_t          *node;
    uint64_t           before; /* a scan: of all blocks before                          */
    uint64_t           element[RD_MOST_LEVELS]; /* nodes of 1, 2, 4 .. elements of the block */
} rd_shadow_accumulator;

/* Whose states are copied to a place of an array, and the block at hand there: several blocks of
 * one cell may be beside each other. */
typedef struct rd_shadow_alias {
    rd_shadow_accumulator *of; /* NULL: nobody's */
    int64_t                block;
} rd_shadow_alias;

/* A node of all lanes that a range of an item has left. */
typedef struct rd_shadow_partial {
    uint64_t        item;
    int64_t         number, more; /* of the cell */
    rd_shadow_cover cover;
    uint64_t       *node;
} rd_shadow_partial;

/* Accumulators are named by the subscript of their first state. */
struct rd_shadow_folds {
    const rd_schedule       *t;
    rd_text                 *why;
    rd_shadow_accumulator ***cell;    /* per fold and subscript, NULL: no statement has named it */
    int64_t                 *n_cell;  /* per fold: subscripts                                     */
    int64_t                 *begun;   /* per fold: how often it has                               */
    uint64_t               **state;   /* per store that has states                                */
    rd_shadow_alias        **alias;   /* per store and subscript                                  */
    uint64_t                 item;    /* at hand                                                */
    rd_shadow_partial      **partial; /* per fold: in whatever order                            */
    int64_t                 *n_partial;
};

const rd_fold *rd_shadow_fold_of(const rd_shadow_folds *s, int32_t fold);
/* The first failure; false. */
__attribute__((format(printf, 3, 4))) bool rd_shadow_fold_fails(const rd_shadow_folds *s,
                                                                const rd_stmt         *by,
                                                                const char            *format, ...);
/* NULL: there is no such cell, or it is not at one of these stages. */
rd_shadow_accumulator *rd_shadow_accumulator_at(rd_shadow_folds *s, const rd_stmt *by,
                                                int64_t number, int64_t more,
                                                rd_shadow_progress least, rd_shadow_progress most);
/* The alias that the statement's states are copied to, NULL: there is none. */
rd_shadow_alias *rd_shadow_alias_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                                    int64_t more);
/* NULL: there is no such state, or it has not begun. */
uint64_t *rd_shadow_state_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                             int64_t more, int32_t lane);
/* Rows of nodes that a cell has at a time, at most. */
int32_t rd_shadow_rows_of(const rd_fold *f);
/* merge_nodes.c: row `depth` is a finished node: it merges with its left siblings as far as they
 * are here. */
bool rd_shadow_push_node(const rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c,
                         rd_shadow_cover row);
/* The nodes of two rows merge, lane by lane, into the left one. */
void rd_shadow_merge_rows(const rd_fold *f, const rd_shadow_accumulator *c, int32_t left,
                          int32_t right);
/* list_partials.c: what ranges have left of a fold is there no more; a node of a cell is left,
 * false: no memory. */
void rd_shadow_forget_partials(rd_shadow_folds *s, int32_t fold);
bool rd_shadow_add_partial(rd_shadow_folds *s, int32_t fold, const rd_shadow_partial *left);
/* scan_partials.c: a range of a scan leaves one node, or those of its blocks. */
bool rd_shadow_store_scan_partials(rd_shadow_folds *s, const rd_stmt *by);
/* run_folds.c: the node of element `at` of a block goes up the tree of its elements; all up to
 * it. */
uint64_t rd_shadow_tree_prefix(const rd_fold *f, uint64_t *element, int64_t at, uint64_t node);
void     rd_shadow_finish_prefix(const rd_fold *f, const rd_shadow_accumulator *c, uint64_t state,
                                 rd_shadow *y);
/* scan_in_blocks.c: the first accumulator of the fold from a subscript on that has begun; its
 * subscript, -1. */
int64_t rd_shadow_next_begun(const rd_shadow_folds *s, int32_t fold, int64_t from);
bool    rd_shadow_store_block_partials(rd_shadow_folds *s, const rd_stmt *by);
/* merge_nodes.c: the states of the cell become a node, and begin again. */
bool rd_shadow_end_block(rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c);
#endif
