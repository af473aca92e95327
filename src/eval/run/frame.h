/* frame.h - the memory of one run: addresses of slots, the working memory of tasks, small arrays
 * between stages.
 *
 * A plan keeps the frame of its last run for the next one, so that a small run calls no
 * allocator.  Plans that a context keeps share one frame.  Concurrent runs each need a frame: a
 * run that finds none allocates one.  Small frames lie on the stack of the thread that runs the
 * plan. */
#ifndef RD_EVAL_RUN_FRAME_H
#define RD_EVAL_RUN_FRAME_H
#include "eval/plan.h"

enum { RD_FRAME_HERE = 4 << 10, RD_DIRECT_BYTES = 4 << 10 };

/* The memory of one run. */
typedef struct rd_frame {
    int64_t room;   /* bytes of the frame, without `team` */
    void  **slot;   /* addresses of n_slot slots, then of the scratch slots of any stage */
    void  **target; /* per result: where the caller wants it */
    void  **aside;  /* per result: temporary memory that is copied out at the end; NULL: none */
    char   *work;   /* state and scratch of a stage that is one task; not zeroed */
    char   *arrays; /* arrays between stages */
    rd_task task;   /* record of such a stage */
    /* records, state and scratch of several tasks, each at the same place in every stage so that
     * it stays in its core's cache; NULL: none */
    char   *team;
    int64_t team_room; /* bytes of `team` */
} rd_frame;

/* Bytes of one task: `state` bytes of state, and scratch. */
int64_t rd_task_bytes(const rd_program *p, int64_t state);
/* Assigns addresses to a task's scratch slots, behind its state. */
void rd_task_places(const rd_program *p, int64_t state, char *work, void **slot);

/* Bytes that a frame reserves for one task of any of these stages that fits; *fits: all of them
 * do. */
int64_t rd_frame_work(int n, const rd_program *p, bool *fits);
/* Computes the sizes of the plan's frames, once its programs are prepared; false: no memory. */
bool rd_frame_measure(rd_plan *plan);
/* Stack memory of the caller for a small frame, so that a run allocates nothing. */
typedef struct rd_frame_here {
    _Alignas(64) char at[RD_FRAME_HERE];
} rd_frame_here;

/* Takes a frame and gives one back, which may be kept; NULL without memory. */
rd_frame *rd_frame_take(const rd_plan *plan, rd_frame_here *here);
void      rd_frame_give(const rd_plan *plan, rd_frame *frame, const rd_frame_here *here);
void      rd_frame_free(rd_ctx *ctx, rd_frame *frame);
/* Memory for a stage of several tasks, aligned to a cache line and not zeroed; NULL without
 * memory.  After the stage it is kept for the next one, unless it is large for n tasks. */
char *rd_frame_team(const rd_plan *plan, rd_frame *frame, int64_t bytes);
void  rd_frame_end_team(const rd_plan *plan, rd_frame *frame, int n);
/* Frees the frame that the plan keeps. */
void rd_frame_drop(rd_plan *plan);

/* direct.c: rd_is_direct() is true if runs of the plan may take the fast path. rd_run_direct()
 * returns false if it could not run the plan.  It has then overwritten nothing that it reads. */
bool rd_is_direct(const rd_plan *plan);
bool rd_run_direct(const rd_plan *plan, const void *const *in, void *const *out,
                   rd_run_stats *stats);

/* bind.c: rd_frame_bind() gives all slots addresses. rd_frame_unbind() copies results out of
 * temporary memory after the run and frees what rd_frame_bind() took. */
/* Checks the address of input or result k (`what` says which) for NULL and alignment, where no
 * plan binds it. */
rd_status rd_check_address(const rd_plan *plan, const char *what, int k, const void *address,
                           rd_dtype type);
rd_status rd_frame_bind(const rd_plan *plan, rd_frame *frame, const void *const *in,
                        void *const *out);
void      rd_frame_unbind(const rd_plan *plan, rd_frame *frame, rd_status status);
rd_status rd_no_memory(const rd_plan *plan);
/* Binds the caller's addresses, checked, without temporary memory. */
rd_status rd_frame_bind_given(const rd_plan *plan, rd_frame *frame, const void *const *in,
                              void *const *out);
/* Copies a result's elements and leaves the caller's bytes between them alone. */
void rd_copy_out(const rd_output *o, char *to, const char *from);

/* device.c: runs a plan on a backend with memory of its own.  *elsewhere: the run failed,
 * nothing is recorded or stored, and the plan has another plan to compute the results. */
rd_status rd_run_on_device(const rd_plan *plan, const void *const *in, void *const *out,
                           const rd_progress *progress, bool *elsewhere);
/* devices.c: the same on several devices, with each stage partitioned across them where
 * possible. */
rd_status rd_run_on_devices(const rd_plan *plan, const void *const *in, void *const *out,
                            const rd_progress *progress, bool *elsewhere);
#endif
