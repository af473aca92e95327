/* node.h - a node of the combine tree: the fold of some elements, by one of our reducers or a
 * user's.
 *
 * In memory a node is a count of elements and, if there are any, the reducer's state. */
#ifndef RD_KERNELS_CPU_REFERENCE_NODE_H
#define RD_KERNELS_CPU_REFERENCE_NODE_H
#include "kernels/cpu/reference/reducer_functions.h"
#include "kernels/program.h"

/* How nodes of a fold lie in memory, and the functions that work on them. */
typedef struct rd_node_info {
    const rd_fold         *fold;
    const rd_reducer_code *code; /* NULL: the user's                                      */
    const rd_reducer_code *tree; /* of finished blocks                                    */
    bool                   wide; /* their states are of f64, those of the block of f32    */
    bool    pair;        /* a scan by prefix_sums.h: before a block are hi and lo          */
    int64_t state;       /* offset of the state in a node                         */
    int64_t bytes;       /* of a node; nodes are aligned to 16 or, ours, to 8     */
    int64_t spare_bytes; /* of the memory that rd_node_finish() wants, 16-aligned */
} rd_node_info;

rd_node_info rd_node_info_of(const rd_fold *fold);

/* A node of no element. */
void rd_node_clear(void *node);
void rd_node_copy(const rd_node_info *info, void *to, const void *from);
/* Adds an element to a node, after those that it has. */
void rd_node_step(const rd_node_info *info, void *node, rd_word x, rd_word weight, int64_t i);
/* Elements of a user's reducer, in the types it takes, `stride` and `along` elements apart. */
typedef struct rd_node_elements {
    const char *at, *second; /* second: NULL if it takes one operand */
    int64_t     stride, along;
} rd_node_elements;
/* Adds n such elements; i is the index of the first, and the others follow. */
void rd_node_steps(const rd_node_info *info, void *node, int64_t n, const rd_node_elements *x,
                   int64_t i);
/* True if the test of a user's reducer says that no further element counts. */
bool rd_node_is_decided(const rd_node_info *info, const void *node);
/* Turns the finished node of a block into one that can be merged. */
void rd_node_block(const rd_node_info *info, void *node);
/* Adds node b to node a; the elements of b follow those of a.  rd_node_merge_in_block: nodes within
 * one block, before rd_node_block().  rd_node_merge: nodes of finished blocks. */
void rd_node_merge_in_block(const rd_node_info *info, void *a, const void *b);
void rd_node_merge(const rd_node_info *info, void *a, const void *b);
/* Merges `lanes` contiguous nodes, a power of two, into the first. */
void rd_node_merge_lanes(const rd_node_info *info, void *first, int32_t lanes);
/* rd_node_take_block: adds a block to what a scan has before it, with the words of running sums
 * (prefix_sums.h). rd_node_merge_prefix: adds a part of a block to a copy of it, which is then
 * finished. */
void rd_node_take_block(const rd_node_info *info, void *before, int64_t number, const void *block,
                        double *words);
void rd_node_merge_prefix(const rd_node_info *info, void *before, const void *prefix);
/* The n_out results. */
void rd_node_finish(const rd_node_info *info, const void *node, char *spare, rd_word *y);
/* The n_out results of a fold by a built-in reducer that has had no element. */
void rd_fold_of_nothing(const rd_fold *fold, rd_word *y);
/* The value of a type that any element of min (high) or max replaces. */
rd_word rd_fold_extreme(rd_dtype type, bool high);
#endif
