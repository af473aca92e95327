/* run_tree.h - the shadow run of a tree.
 *
 * Rounds of a vector loop run in an order that no other loop has, some of them interleaved.  So a
 * round that reads what another one changes is found.  Copies of a jam go through their body
 * interleaved: each has its own indices and values. */
#ifndef RD_KERNELS_LOOP_SHADOW_RUN_TREE_H
#define RD_KERNELS_LOOP_SHADOW_RUN_TREE_H
#include "kernels/loop/shadow/shadow.h"

/* A copy of the code: its values, and the indices of its axes and marks. */
typedef struct rd_shadow_copy {
    rd_shadow *value;
    int64_t   *axis;
} rd_shadow_copy;

/* A task that runs its share of a tree. */
typedef struct rd_shadow_task {
    const rd_schedule     *t;
    rd_shadow_memories     memory;
    rd_shadow_memory       own; /* scratch */
    rd_shadow_folds       *folds;
    rd_shadow            **store; /* per array: its elements                           */
    bool                 **made;  /* per array: which elements have been stored        */
    rd_text               *why;   /* the first failure                                 */
    rd_shadow_copy         root;  /* the only copy outside of jams                     */
    struct rd_shadow_exit *exit;  /* n_exit EXITs of the tree, see early_exits.c       */
    int32_t                n_exit;
    bool                  *last;   /* per statement: its loop is at the last round      */
    int64_t                visits; /* statements that it may still run                  */
    bool                   failed; /* a rule was broken, or memory ran out              */
} rd_shadow_task;

/* Indices [from, to). */
typedef struct rd_shadow_span {
    int64_t from, to;
} rd_shadow_span;

/* eval_positions.c: fails the task unless `holds`; returns `holds`. */
bool rd_shadow_require(rd_shadow_task *r, bool holds);
/* The value of a position; of an edge, the greatest or the least of its parts; of a fold's
 * positions. */
int64_t rd_shadow_position(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_linear *at);
int64_t rd_shadow_edge(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_edge *edge,
                       bool greatest);
rd_shadow_coords rd_shadow_coords_of(const rd_shadow_task *r, const rd_shadow_copy *c,
                                     const rd_fold_at *of);
/* run_statements.c: runs a statement that is no loop. */
void rd_shadow_statement(rd_shadow_task *r, int32_t stmt, rd_shadow_copy *c);

/* run_loops.c: makes a copy like another one, or NULL; false: no memory. */
bool rd_shadow_copy_new(const rd_schedule *t, rd_shadow_copy *c, const rd_shadow_copy *of);
void rd_shadow_copy_free(rd_shadow_copy *c);
/* Runs a body in n copies. */
void rd_shadow_body(rd_shadow_task *r, int32_t body, rd_shadow_copy *const *c, int n);

/* early_exits.c: notes all EXITs of the tree; false: no memory. */
bool rd_shadow_find_exits(rd_shadow_task *r);
/* Notes that an EXIT has checked its states; that a loop has ended. */
void rd_shadow_note_exit(rd_shadow_task *r, const rd_shadow_copy *c, const rd_stmt *s);
void rd_shadow_end_of_loop(rd_shadow_task *r, int32_t loop);
/* True if exits may leave out a step of the cell; a store to the program's
 * memory. */
bool rd_shadow_may_step(const rd_shadow_task *r, const rd_stmt *s, int64_t cell);
bool rd_shadow_may_store(const rd_shadow_task *r);

/* run_block_loops.c: runs a block loop; ends the round at hand where its block ends. */
void rd_shadow_run_block_loop(rd_shadow_task *r, int32_t body, const rd_for *loop,
                              rd_shadow_copy *const *c, int n, rd_shadow_span left);
bool rd_shadow_cut_at_block(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s);
#endif
