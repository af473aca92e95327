/* plan.h - a plan: programs, and the slots of memory that they address.  Nothing of the graph is
 * left. */
#ifndef RD_EVAL_PLAN_H
#define RD_EVAL_PLAN_H
#include "eval/choice.h"
#include "eval/ir.h"
#include <stdatomic.h>

/* A result's memory: its layout, and its address unless a run gives another. */
typedef struct rd_output {
    void    *data; /* address unless a run gives another */
    rd_dtype type; /* of an element */
    int32_t  slot; /* -1: the result has no elements and no program stores it */
    int32_t  rank;
    int32_t  device; /* as in rd_array */
    int64_t  extent[RD_MAX_RANK], stride[RD_MAX_RANK];
    int64_t  lo, hi; /* elements that exist around the base: [lo, hi) */
} rd_output;

/* The facts about an address that a run checks: alignment, and the range of bytes that is read
 * or written. */
typedef struct rd_extent {
    uintptr_t   unaligned; /* bits that must be 0 */
    int64_t     lo, hi;
    const void *data; /* the address unless a run gives another */
    int32_t     slot; /* number of the slot */
} rd_extent;

/* tell: the listener for progress, NULL: none. until: when a long run ends with
 * RD_ERR_CANCELLED, which is not recorded; a time of rd_seconds(), 0: never. */
typedef struct rd_progress {
    int (*tell)(void *user, double done, double seconds_left);
    void  *user;
    double until;
} rd_progress;

/* One of several plans that run in order, where one would be too large. */
typedef struct rd_plan_part {
    rd_plan *plan;  /* of this part alone */
    int32_t  array; /* the array that it makes; -1: results from `first` on */
    int32_t  first;
    int32_t  n_read; /* the arrays that it reads, which follow the common inputs */
    int32_t *read;
    /* read_in_place: the array is a leaf that products read so. input: the input that it is, or -1:
     * `leaf` is its memory. */
    bool        read_in_place;
    int32_t     input;
    const void *leaf;
} rd_plan_part;

/* The parts of a plan that consists of several plans. */
typedef struct rd_parts {
    int32_t         n, n_array; /* parts; arrays between parts */
    rd_plan_part   *part;
    int64_t        *at;       /* offsets of arrays in a run's memory */
    int64_t         bytes;    /* of all arrays; arrays needed at different times share memory */
    int64_t         pointers; /* bytes of pointers to the inputs of the largest part */
    int32_t         direct;   /* the array that is the only result and is made in its memory; -1 */
    int64_t         spare;    /* bytes of leaves, in case they overlap results */
    _Atomic(void *) memory;   /* the last run's, kept for the next */
} rd_parts;

/* A plan: all that is decided for some expressions and their shapes.  Several threads may run it at
 * a time. */
struct rd_plan {
    rd_owned owned; /* first, because the context frees plans with itself */
    rd_ctx  *ctx;
    /* the call in error sentences; NULL: the context's current call */
    const char             *call;
    rd_pool                *pool;
    const rd_backend_table *backend;
    int32_t                 device;  /* first device, of a backend that has several */
    int32_t                 devices; /* how many devices from that one on share the work */
    const char             *refused; /* why the backend cannot run it; NULL: it can */
    /* the plan to run if a device fails before it stored anything; NULL: that is an error */
    struct rd_plan *instead;
    rd_progress     progress; /* of rd_plan_run()                             */
    bool            traced;   /* RDIM_DEBUG=trace: runs write events */
    bool            steps;    /* some stage runs in steps */
    /* some stage has no compiled loops yet, as runs are few */
    bool        brief;
    bool        async;       /* runs on a device need not be waited for */
    bool        measures;    /* a run on a device measures its stages */
    bool        records;     /* runs on a device may be recorded */
    int32_t     threads;     /* as asked for; 0: by work */
    int64_t     task_grains; /* tests: grains in a task; 0: one task a thread */
    int32_t     n_stage, n_slot, n_in, n_out;
    rd_program *program;
    rd_slot    *slot;
    /* the plans of a plan in parts; NULL: it is a single plan */
    rd_parts *parts;
    /* of a part that is a sparse product of its last two inputs, and nothing else; else NULL */
    const struct rd_row_product *product;
    int32_t                     *in_slot; /* slot of input k, -1: no program reads it */
    rd_output                   *out;
    rd_extent             *slot_extent, *out_extent; /* the ranges of slots and results in bytes */
    struct rd_plan_blocks *blocks; /* a caller's plan that runs so (cache/plan_blocks.h); or NULL */
    int64_t block_points; /* it runs in blocks of so many elements (cache/in_blocks.h); 0: whole */
    int64_t pointer_bytes, arrays_bytes, work_bytes, frame_bytes; /* sizes of a run's frame */
    bool    arrays_apart; /* arrays between stages are allocated outside the frame */
    bool    has_arrays;
    bool    direct;      /* small runs may use direct.c once all is compiled */
    _Atomic(bool) ready; /* all is compiled */
    _Atomic(struct rd_plan *)
                     grown;   /* of a brief plan: the plan with compiled loops; NULL: not yet */
    _Atomic(int32_t) runs;    /* of a brief plan: number of runs */
    _Atomic(bool)    growing; /* a thread makes that plan, or has tried to */
    bool             fits;    /* a task's working memory is in the frame, for each stage */
    _Atomic(struct rd_recordings *) recordings; /* recordings of runs on a device; run/recorded.h */
    /* frame: the last run's, kept for the next; frames: where a frame is kept, here or shared */
    _Atomic(struct rd_frame *) frame, *frames;
};

/* Counts of a run, for tests. */
typedef struct rd_run_stats {
    int64_t loads; /* elements loaded from memory other than scratch */
    int32_t tasks; /* most tasks of any stage */
} rd_run_stats;

/* Makes a plan; NULL after recording the failure. */
rd_plan *rd_plan_make(rd_ctx *ctx, rd_exprs in, rd_results results, const rd_eval_opts *opts);
/* Runs a plan; progress and stats may be NULL. */
rd_status rd_plan_execute(const rd_plan *plan, const void *const *in, void *const *out,
                          const rd_progress *progress, rd_run_stats *stats);
/* Makes a plan that the context does not own; `work` holds what only planning needs.
 *
 *    shift     by input: how many elements its address in a run is moved from its leaf; or NULL
 *    numbers   inputs that are no leaves; a plan in parts has their values fixed */
rd_plan *rd_plan_movable(rd_ctx *ctx, rd_pool *work, rd_exprs in, rd_exprs numbers,
                         const int64_t *shift, rd_results results, const rd_eval_opts *opts,
                         const rd_choice *choice);
void     rd_plan_drop(rd_plan *plan); /* frees such a plan */
int64_t  rd_plan_bytes(const rd_plan *plan);
/* Makes a single plan, where `given` values may be in memory; *too_much: it is too large for
 * one. */
rd_plan *rd_plan_whole(rd_ctx *ctx, rd_pool *work, rd_exprs in, const int64_t *shift,
                       rd_results results, const rd_eval_opts *opts, const rd_choice *choice,
                       const rd_given *given, bool *too_much);
/* grow.c: rd_brief_is_over() is true if a brief plan has had its runs. rd_plan_grown() returns
 * the plan that its runs should use, which may be itself; any thread may call it. */
bool           rd_brief_is_over(const rd_plan *plan, int64_t runs);
const rd_plan *rd_plan_grown(const rd_plan *plan);
/* Makes a plan without programs. */
rd_plan *rd_plan_empty(rd_ctx *ctx, const rd_eval_opts *opts, const rd_choice *choice);
/* plan_parts.c: makes, frees and measures a plan in parts. */
rd_plan *rd_plan_in_parts(rd_ctx *ctx, rd_exprs in, const int64_t *shift, rd_results results,
                          const rd_eval_opts *opts, const rd_choice *choice);
void     rd_parts_drop(rd_plan *plan);
int64_t  rd_parts_bytes(const rd_parts *parts);
/* Makes several plans share the place where a frame is kept. */
void rd_plan_share_frames(rd_plan *plan, _Atomic(struct rd_frame *) *frames);
/* run_parts.c: runs a sparse product, and a plan in parts. */
rd_status rd_product_part_run(const rd_plan *plan, const void *const *in, void *const *out);
rd_status rd_parts_run(const rd_plan *plan, const void *const *in, void *const *out,
                       const rd_progress *progress, rd_run_stats *stats);
/* slots.c: bytes from the first to the last element of a slot that programs touch. */
int64_t rd_slot_span(int n, const rd_program *p, int slot, const rd_slot *of);
/* Gives the plan, which has its programs, the graph's slots; moves inputs by numbers of
 * elements. */
bool rd_plan_slots(rd_plan *plan, rd_pool *work, const rd_graph *graph);
bool rd_plan_move(rd_plan *plan, rd_pool *work, int n, const int64_t *shift);
/* alias.c: true if a result may be written in place over memory that `leaf` reads, both at these
 * addresses. */
bool rd_alias_safe(const rd_plan *plan, int out_slot, const void *out, int leaf_slot,
                   const void *leaf);
/* Runs the pipeline up to the nest, for explain and the tests of stages.  The pool owns
 * everything. given: NULL if nothing is.  NULL on failure. */
rd_nest *rd_pipeline(rd_ctx *ctx, rd_pool *pool, int n, const rd_request *request,
                     const rd_given *given, const rd_eval_opts *opts, const rd_choice *choice);
typedef struct rd_backend_use rd_backend_use; /* eval/backend_choice.h */
/* recompute.c: the same for a backend.  Reductions of different axes share loops on a device
 * only if it accepts the stage.  On this processor they share if that costs not much more than
 * separate loops. */
rd_nest *rd_nest_on(const rd_backend_use *use, rd_ctx *ctx, rd_pool *pool, int n,
                    const rd_request *request, const rd_given *given, const rd_eval_opts *opts,
                    const rd_choice *choice);
/* For tests of later plans on this processor: 1: such reductions never share loops; -1: they do;
 * 0: by cost. */
void rd_force_recompute(int apart);
/* Fills in missing options with 0 and checks values; false after recording the failure. */
bool rd_eval_options(rd_ctx *ctx, const rd_eval_opts *opts, rd_eval_opts *full);
#endif
