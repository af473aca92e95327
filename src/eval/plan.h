/* plan.h - a plan: programs and the slots of memory they address, with nothing left of the
 * graph. */
#ifndef RD_EVAL_PLAN_H
#define RD_EVAL_PLAN_H
#include "eval/choice.h"
#include "eval/ir.h"
#include <stdatomic.h>

/* A result's memory: its layout and where it goes unless a run says otherwise. */
typedef struct rd_output {
    void    *data;
    rd_dtype type;
    int32_t  slot; /* -1: the result has no elements and no program stores it */
    int32_t  rank;
    int32_t  device; /* as of rd_array */
    int64_t  extent[RD_MAX_RANK], stride[RD_MAX_RANK];
    int64_t  lo, hi; /* elements before and after the base, [lo, hi)            */
} rd_output;

/* What a run checks of an address: is it aligned, and which bytes from it on are read or
 * written? */
typedef struct rd_extent {
    uintptr_t   unaligned; /* bits that must be 0 */
    int64_t     lo, hi;
    const void *data; /* where it is unless a run says otherwise */
    int32_t     slot;
} rd_extent;

/* Who is told how far a run is, NULL: nobody; when it is to end with RD_ERR_CANCELLED, not
 * recorded, if it is long: a time of rd_seconds(), 0: never. */
typedef struct rd_progress {
    int (*tell)(void *user, double done, double seconds_left);
    void  *user;
    double until;
} rd_progress;

/* A plan of several plans, where one would be too much: they run in their order. */
typedef struct rd_plan_part {
    rd_plan *plan;
    int32_t  array; /* that it makes, -1: results from `first` on */
    int32_t  first;
    int32_t  n_read; /* arrays that it reads, after the inputs of all */
    int32_t *read;
    /* Is the array a leaf, which products may read where it lies?  The input of all that it is; at -1 its
     * memory. */
    bool        lies;
    int32_t     input;
    const void *leaf;
} rd_plan_part;

typedef struct rd_parts {
    int32_t         n, n_array;
    rd_plan_part   *part;
    int64_t        *at;       /* where arrays begin in a run's memory */
    int64_t         bytes;    /* of arrays: those that are not needed at the same time share them */
    int64_t         pointers; /* bytes: most inputs of a part */
    int32_t         direct;   /* the array that is the only result, and made where that goes; -1 */
    int64_t         spare;    /* bytes of leaves, should they lie where results go */
    _Atomic(void *) memory;   /* the last run's, for the next */
} rd_parts;

struct rd_plan {
    rd_owned                     owned; /* first: the context frees plans with itself  */
    rd_ctx                      *ctx;
    const char                  *call; /* who runs it; NULL: who evaluates in the context */
    rd_pool                     *pool;
    const rd_backend_table      *backend;
    int32_t                      device;   /* of a backend that has several: which ...          */
    int32_t                      devices;  /* ... and how many from that one on share the work  */
    const char                  *refused;  /* why that backend cannot run it, NULL              */
    struct rd_plan              *instead;  /* where a device fails before it has stored anything;
                                             * NULL: that is an error */
    rd_progress                  progress; /* of rd_plan_run()                             */
    bool                         traced;   /* RDIM_DEBUG=trace: runs are written down      */
    bool                         steps;    /* some stage runs in steps                     */
    bool                         brief;    /* some stage does without code, as runs are few yet */
    bool                         async;    /* runs on a device are left to go on           */
    bool                         measures; /* a run on a device measures stages            */
    bool                         records;  /* runs on a device are recorded, where they may be */
    int32_t                      threads;  /* as asked for; 0: by work                     */
    int64_t                      task_grains; /* tests: tasks of so many grains; 0: one task a
                                             * thread */
    int32_t                      n_stage, n_slot, n_in, n_out;
    rd_program                  *program;
    rd_slot                     *slot;
    rd_parts                    *parts;   /* and nothing of its own; NULL: it is one      */
    const struct rd_row_product *product; /* a part that is one, and nothing else, of the last two
                                           * inputs; NULL: it is none */
    int32_t                     *in_slot; /* of input k, -1: no program reads it          */
    rd_output                   *out;
    rd_extent    *slot_extent, *out_extent; /* the same in bytes                    */
    int64_t       pointer_bytes, arrays_bytes, work_bytes, frame_bytes; /* of a run */
    bool          arrays_apart; /* arrays between stages are not in the frame */
    bool          has_arrays;
    bool          direct; /* runs may go by direct.c, once all is compiled    */
    _Atomic(bool) ready;  /* it is                                            */
    _Atomic(struct rd_plan *)
                     grown;   /* of a brief one: the same with compiled loops, NULL: not yet */
    _Atomic(int32_t) runs;    /* of a brief one                                              */
    _Atomic(bool)    growing; /* somebody makes that plan, or has tried to                   */
    bool             fits;    /* what a task works in is in the frame, for each stage */
    _Atomic(struct rd_recordings *) recordings; /* of runs on a device; run/recorded.h       */
    _Atomic(struct rd_frame *) frame, *frames; /* the last run's, for the next; where such a one is:
                                                * here, or shared */
};

/* What a run did, for tests. */
typedef struct rd_run_stats {
    int64_t loads; /* elements read from memory that is not a task's scratch */
    int32_t tasks; /* most tasks of any stage                                */
} rd_run_stats;

/* Graph to plan; NULL after recording the failure. */
rd_plan *rd_plan_make(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts);
/* progress and stats may be NULL. */
rd_status rd_plan_execute(const rd_plan *plan, const void *const *in, void *const *out,
                          const rd_progress *progress, rd_run_stats *stats);
/* A plan that the context does not own; `work` holds what only planning needs.  A run's addresses
 * are `shift` elements, one number per input, from where the inputs begin; NULL: there.  Of the inputs, `numbers` are
 * no leaves; a plan in parts has their values written into it. */
rd_plan *rd_plan_movable(rd_ctx *ctx, rd_pool *work, rd_exprs in, rd_exprs numbers,
                         const int64_t *shift, rd_results results, const rd_eval_opts *opts,
                         const rd_choice *choice);
void     rd_plan_drop(rd_plan *plan); /* such a one */
int64_t  rd_plan_bytes(const rd_plan *plan);
/* The same as one nest of loops, which may find some values given; *too_much: it cannot be one. */
rd_plan *rd_plan_whole(rd_ctx *ctx, rd_pool *work, rd_exprs in, const int64_t *shift,
                       rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                       const rd_given *given, bool *too_much);
/* grow.c: has a brief plan had its runs?  And what runs of such a one go by now, which may be itself;
 * any number of threads may ask. */
bool           rd_brief_is_over(const rd_plan *plan, int64_t runs);
const rd_plan *rd_plan_grown(const rd_plan *plan);
/* With nothing in it yet. */
rd_plan *rd_plan_empty(rd_ctx *ctx, const rd_eval_opts *opts, const rd_choice *choice);
/* parts.c: the same in parts. */
rd_plan *rd_plan_in_parts(rd_ctx *ctx, rd_exprs in, const int64_t *shift, rd_results results,
                          const rd_eval_opts *opts, const rd_choice *choice);
void     rd_parts_drop(rd_plan *plan);
int64_t  rd_parts_bytes(const rd_parts *parts);
/* Frames that several plans use are there. */
void rd_plan_share_frames(rd_plan *plan, _Atomic(struct rd_frame *) *frames);
/* run_parts.c */
rd_status rd_product_part_run(const rd_plan *plan, const void *const *in, void *const *out);
rd_status rd_parts_run(const rd_plan *plan, const void *const *in, void *const *out,
                       const rd_progress *progress, rd_run_stats *stats);
/* slots.c: bytes from the first to the last element of a slot that programs touch. */
int64_t rd_slot_span(int n, const rd_program *p, int slot, const rd_slot *of);
/* The graph's slots for the plan, which has its programs; and inputs moved on by so many
 * elements. */
bool rd_plan_slots(rd_plan *plan, rd_pool *work, const rd_graph *graph);
bool rd_plan_move(rd_plan *plan, rd_pool *work, int n, const int64_t *shift);
/* May a result be written straight to memory that overlaps what `leaf` reads, both at these
 * addresses? */
bool rd_alias_safe(const rd_plan *plan, int out_slot, const void *out, int leaf_slot,
                   const void *leaf);
/* The pipeline up to the nest, for explain and the tests of stages; the pool owns all of it.
 * Nothing is given: NULL.  NULL on failure. */
rd_nest *rd_pipeline(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given, const rd_eval_opts *opts, const rd_choice *choice);
typedef struct rd_backend_use rd_backend_use; /* eval/backend.h */
/* apart.c: the same for a backend.  Folds of different axes share loops only where a device takes
 * the stage so, and on this processor where that is not much dearer than loops of their own. */
rd_nest *rd_nest_on(const rd_backend_use *use, rd_ctx *ctx, rd_pool *pool, int n,
                    const rd_request *request, const rd_given *given, const rd_eval_opts *opts,
                    const rd_choice *choice);
/* For tests, of plans that are made from now on on this processor.  1: such folds never share
 * loops; -1: they do; 0: as prices say. */
void rd_force_apart(int apart);
/* Options with missing fields 0 and values checked; false after recording the failure for
 * `call`. */
bool rd_eval_options(rd_ctx *ctx, const rd_eval_opts *opts, rd_eval_opts *full);
#endif
