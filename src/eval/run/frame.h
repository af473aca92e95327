/* frame.h - the memory of one run: addresses of slots, what tasks work in, small arrays between
 * stages.
 *
 * A plan keeps the frame of its last run for the next one, so that a small run calls no allocator;
 * plans that a context keeps have one together.  Runs at the same time each have a frame: whoever
 * finds none takes fresh memory.  Small frames are on the stack of the thread that runs the
 * plan. */
#ifndef RD_EVAL_RUN_FRAME_H
#define RD_EVAL_RUN_FRAME_H
#include "eval/plan.h"

enum { RD_FRAME_HERE = 4 << 10, RD_DIRECT_BYTES = 4 << 10 };

typedef struct rd_frame {
    int64_t room;   /* bytes of it all, but for what a team has */
    void  **slot;   /* n_slot addresses, and room for the scratch slots of any stage */
    void  **target; /* per result: where it belongs */
    void  **aside;  /* per result: memory it is written to instead and copied from; NULL: none */
    char   *work;   /* state and scratch of a stage that is one task: not zeroed */
    char   *arrays; /* arrays between stages */
    rd_task task;   /* of such a stage */
    char   *team;   /* the same for several tasks: each finds its own in its processor's cache
                     * again; NULL: none */
    int64_t team_room;
} rd_frame;

/* State, of so many bytes, and scratch of one task. */
int64_t rd_task_bytes(const rd_program *p, int64_t state);
/* Gives a task's scratch slots their places behind its state. */
void rd_task_places(const rd_program *p, int64_t state, char *work, void **slot);

/* The room of a frame for one task of any of these stages that fits; do all of them? */
int64_t rd_frame_work(int n, const rd_program *p, bool *fits);
/* Sizes of the plan's frames, once its programs are prepared; false: no memory. */
bool rd_frame_measure(rd_plan *plan);
/* Memory of the caller's for a frame that is small: nothing is taken from anybody. */
typedef struct rd_frame_here {
    _Alignas(64) char at[RD_FRAME_HERE];
} rd_frame_here;

/* NULL without memory.  What is given back may be kept. */
rd_frame *rd_frame_take(const rd_plan *plan, rd_frame_here *here);
void      rd_frame_give(const rd_plan *plan, rd_frame *frame, const rd_frame_here *here);
void      rd_frame_free(rd_ctx *ctx, rd_frame *frame);
/* Memory for a stage of several tasks, on a cache line, not zeroed; NULL without memory.  After the
 * stage it is kept for the next one unless it is large for n tasks. */
char *rd_frame_team(const rd_plan *plan, rd_frame *frame, int64_t bytes);
void  rd_frame_end_team(const rd_plan *plan, rd_frame *frame, int n);
/* Frees the one that is kept. */
void rd_frame_drop(rd_plan *plan);

/* direct.c: may runs of the plan go so?  One that does not is false, and has written to no memory
 * that it reads. */
bool rd_is_direct(const rd_plan *plan);
bool rd_run_direct(const rd_plan *plan, const void *const *in, void *const *out,
                   rd_run_stats *stats);

/* bind.c: addresses for all slots; after the run, what was written aside is copied and separate
 * memory goes. */
/* Is what a run got for its input or result k (`what` says which) an address, and aligned?  For those
 * that no plan binds. */
rd_status rd_check_address(const rd_plan *plan, const char *what, int k, const void *address,
                           rd_dtype type);
rd_status rd_bind(const rd_plan *plan, rd_frame *frame, const void *const *in, void *const *out);
void      rd_unbind(const rd_plan *plan, rd_frame *frame, rd_status status);
rd_status rd_no_memory(const rd_plan *plan);
/* The addresses as they are given, checked, with nothing in between. */
rd_status rd_bind_given(const rd_plan *plan, rd_frame *frame, const void *const *in,
                        void *const *out);
/* Nothing but the elements: what lies between them is the caller's. */
void rd_copy_out(const rd_output *o, char *to, const char *from);

/* device.c: a run on a backend that has memory of its own.  *elsewhere: it has failed, nothing is
 * recorded or stored, and the plan has another to do it. */
rd_status rd_run_on_device(const rd_plan *plan, const void *const *in, void *const *out,
                           const rd_progress *progress, bool *elsewhere);
/* devices.c: the same on several, of which each stage that can be is dealt out. */
rd_status rd_run_on_devices(const rd_plan *plan, const void *const *in, void *const *out,
                            const rd_progress *progress, bool *elsewhere);
#endif
