/* rdim/context.h - contexts: memory of nodes, errors, warnings, and cancelling.
 *
 * One thread at a time uses a context; contexts do not disturb each other.  There are two
 * exceptions: rd_plan_run() may run on any number of threads, and rd_cancel() may come from any
 * thread.
 *
 * A call that fails records a status and a sentence in its context, and returns NULL.  The first
 * failure stays, and evaluations return it and do nothing, until rd_error_clear(). */
#ifndef RDIM_CONTEXT_H
#define RDIM_CONTEXT_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Settings of a context.  A field that is 0 has its default. */
typedef struct rd_ctx_opts {
    /** sizeof(rd_ctx_opts), or 0: only the fields of release 1 are read.  A later release adds its
     *  fields at the end. */
    uint32_t size;
    /** How many threads an evaluation uses.  0: as many as OpenMP would.  The greatest number is
     *  1024; fewer run where the system starts fewer. */
    int32_t  threads;
    /** Bytes that this context may hold; 0: no limit.  Blocks of 1 MiB and more that a run has
     *  worked in are kept for the next run and do not count.  The system can take their pages
     *  back.  The kept blocks are at most an eighth of the machine's memory.  With `allocate` no
     *  block is kept. */
    int64_t memory_limit;
    /** Allocates all memory of this context, but for the short-lived text of dumps.  The address
     *  must be aligned as malloc's.  NULL: malloc and free.  Give both of allocate and release, or
     *  neither.  They are called from any thread that evaluates, runs a plan, or ends a tensor of
     *  rd_to_dlpack(). */
    void *(*allocate)(void *user, int64_t bytes);
    /** Frees what `allocate` returned. */
    void  (*release)(void *user, void *p);
    /** The first argument of allocate and release. */
    void   *user;
    /** Whether all evaluations give the same bits on every machine; see rd_eval_opts. */
    bool    deterministic;
    /** The GPU that RD_BACKEND_CUDA uses where no data name another: RD_CUDA(k).  RD_CUDA_ALL:
     *  several GPUs share the work.  0: RD_CUDA(0), or what the environment variable
     *  RDIM_CUDA_DEVICES says. */
    int32_t device;
    /** A CUstream of that device to work in; NULL: a stream of the context's own.  The stream is
     *  the caller's and must outlive the context.  Work that it already has is done first, and
     *  work that it gets later finds the results, those of `async` evaluations too. */
    void   *stream;
} rd_ctx_opts;

/** Makes a context.  Free it with rd_ctx_free().
 *
 *  @param opts  settings; NULL: the defaults
 *  @return NULL without memory, or when only one of allocate and release is given. */
RD_API rd_ctx *rd_ctx_new(const rd_ctx_opts *opts);
/** Frees a context with its nodes, texts, plans and mapped files, and what rd_adopt() took.  Free
 *  other arrays that own memory before the context.  NULL is allowed. */
RD_API void rd_ctx_free(rd_ctx *ctx);

/** A moment in the history of a context. */
typedef struct rd_mark { uint64_t at, serial; } rd_mark;
/** Marks the present moment, for loops: mark, build, evaluate, release.  Marks may be nested. */
RD_API rd_mark rd_ctx_mark(rd_ctx *ctx);
/** Releases every node and text made since `mark`, and what rd_adopt() took since.
 *
 *  The mark can be used again.  Other arrays and plans stay.  Releasing an outer mark ends the
 *  inner ones.  Never use a node after its release: a debug build of the library answers
 *  RD_ERR_ARGUMENT, and other builds do so until the memory is used again.
 *  @return RD_OK, or RD_ERR_ARGUMENT for a mark that has ended or is another context's; then
 *          nothing is released. */
RD_API rd_status rd_ctx_release(rd_ctx *ctx, rd_mark mark);
/** The number of nodes that the context has now.  0 for NULL. */
RD_API int64_t rd_ctx_nodes(const rd_ctx *ctx);
/** The same expression as a node of another context, or x itself if that is its own.
 *
 *  A clone makes one context's nodes operands in another, or saves a node from a release.  No
 *  element is copied.  The memory that x's leaves read must outlive the evaluations of the clone,
 *  and so must x's context if x is sparse.  Meanwhile a thread may evaluate in x's context, but
 *  must not build there.
 *  @return NULL on RD_ERR_MEMORY, or RD_ERR_ARGUMENT (`ctx` has an rd_input() of the same name with
 *          another layout). */
RD_API rd_expr *rd_clone(rd_ctx *ctx, rd_expr *x);

/** The first failure since the last rd_error_clear(), RD_OK if there is none.  RD_ERR_MEMORY for
 *  NULL, as rd_ctx_new() may have failed. */
RD_API rd_status rd_error(const rd_ctx *ctx);
/** The sentence of that failure: the call, what was asked, and what was found.  "" if there is no
 *  failure.  The text is valid until the next failure or clear. */
RD_API const char *rd_error_text(const rd_ctx *ctx);
/** Forgets the failure and the warnings, so that the next failure is recorded. */
RD_API void rd_error_clear(rd_ctx *ctx);

/** Bits of rd_warnings(). */
enum {
    RD_WARN_INT_DIVIDE = 1 /* an integer was divided by 0, which gave 0 */
};
/** Warnings of the evaluations since the last rd_error_clear(), as bits: cases that gave a defined
 *  value instead of an error. */
RD_API uint32_t rd_warnings(const rd_ctx *ctx);

/** Ends the evaluation that is running with RD_ERR_CANCELLED, or the next one if none is.
 *
 *  One call ends one evaluation; making a plan counts as one.  If several run at the same time,
 *  one of them ends.  An evaluation ends within milliseconds; pairs of many points may take a part
 *  of a second.  Users' functions are waited for, which handle two thousand elements at most.  An
 *  evaluation that was nearly done may have written its results.
 *  Any thread may call this function, and so may a signal handler. */
RD_API void rd_cancel(rd_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
