/* run_tree.h - the shadow run of a tree.
 *
 * Rounds of a vector loop come in an order that no other loop has, some of them side by side, so
 * that a round which reads what another one changes is found.  Copies of a jam go through their
 * body side by side: each has its own indices and values. */
#ifndef RD_KERNELS_LOOP_SHADOW_RUN_TREE_H
#define RD_KERNELS_LOOP_SHADOW_RUN_TREE_H
#include "kernels/loop/shadow/shadow.h"

/* What one copy of the code sees. */
typedef struct rd_shadow_copy {
    rd_shadow *value;
    int64_t   *axis;
} rd_shadow_copy;

typedef struct rd_shadow_task {
    const rd_schedule     *t;
    rd_shadow_memories     memory;
    rd_shadow_memory       own;
    rd_shadow_folds       *folds;
    rd_shadow            **store; /* arrays of elements                        */
    bool                 **made;  /* their elements that have been stored      */
    rd_text               *why;
    rd_shadow_copy         root;
    struct rd_shadow_exit *exit;
    int32_t                n_exit;
    bool                  *last;   /* per statement: the loop is at the round that comes last */
    int64_t                visits; /* statements that it may still run          */
    bool                   failed;
} rd_shadow_task;

typedef struct rd_shadow_span {
    int64_t from, to;
} rd_shadow_span;

/* eval_positions.c.  Returns its argument; false: the task has failed. */
bool    rd_shadow_require(rd_shadow_task *r, bool holds);
int64_t rd_shadow_position(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_linear *at);
int64_t rd_shadow_edge(const rd_shadow_task *r, const rd_shadow_copy *c, const rd_edge *edge,
                       bool greatest);
rd_shadow_coords rd_shadow_coords_of(const rd_shadow_task *r, const rd_shadow_copy *c,
                                     const rd_fold_at *of);
/* run_statements.c: all but loops. */
void rd_shadow_statement(rd_shadow_task *r, int32_t stmt, rd_shadow_copy *c);

/* run_loops.c: a copy is like another one, or NULL; false: no memory.  Bodies run in n copies. */
bool rd_shadow_copy_new(const rd_schedule *t, rd_shadow_copy *c, const rd_shadow_copy *of);
void rd_shadow_copy_free(rd_shadow_copy *c);
void rd_shadow_body(rd_shadow_task *r, int32_t body, rd_shadow_copy *const *c, int n);

/* early_exits.c: the task's EXITs; false: no memory.  One of them looks at states; a loop ends;
 * may this step of a cell, or a store into the program's memory, be left out by those that have
 * looked? */
bool rd_shadow_find_exits(rd_shadow_task *r);
void rd_shadow_note_exit(rd_shadow_task *r, const rd_shadow_copy *c, const rd_stmt *s);
void rd_shadow_end_of_loop(rd_shadow_task *r, int32_t loop);
bool rd_shadow_may_step(const rd_shadow_task *r, const rd_stmt *s, int64_t cell);
bool rd_shadow_may_store(const rd_shadow_task *r);

/* run_block_loops.c */
void rd_shadow_run_block_loop(rd_shadow_task *r, int32_t body, const rd_for *loop,
                              rd_shadow_copy *const *c, int n, rd_shadow_span all);
bool rd_shadow_cut_at_block(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s);
#endif
