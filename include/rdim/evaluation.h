/* rdim/evaluation.h - evaluation: options, one result, several results, what measuring found.
 *
 * Nothing is computed before one of these calls.  An evaluation fuses the expression into passes
 * over memory; results of one call share passes.  rdim/plans.h has plans that run many times,
 * rdim/selection.h results whose size depends on the data. */
#ifndef RDIM_EVALUATION_H
#define RDIM_EVALUATION_H
#include "arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An expression, and where its value goes. */
typedef struct rd_result { rd_expr *expr; rd_array *out; } rd_result;
/** Several results.  RD_RESULTS() makes them. */
typedef struct rd_results { const rd_result *at; int32_t n; } rd_results;

/** The order in which elements are visited.  The bits of a result do not depend on it. */
typedef enum rd_traversal {
    RD_TRAVERSE_AUTO,   /* chosen by cost                                                     */
    RD_TRAVERSE_GREEDY, /* in the order of memory, with partial results in a tile of outputs  */
    RD_TRAVERSE_LAZY    /* one output element after the other                                 */
} rd_traversal;
/** What runs an evaluation.
 *
 *  CUDA gives the CPU's bits, but for products by cuBLAS (see rd_eval_opts.deterministic).  It
 *  copies operands in this process's memory to the GPU, and results back; a part at a time where
 *  the GPU lacks the room.  It runs text, and no C functions.  An expression with a C function, and
 *  a machine without a GPU, are RD_ERR_DEVICE.
 *
 *  OPENCL gives the CPU's bits, on an OpenCL device that computes with doubles and rounds as the
 *  CPU does.  It copies and refuses as CUDA does. */
typedef enum rd_backend {
    /** CUDA if a leaf or an output lies on a GPU, else the CPU.  There are two exceptions.  If
     *  measured rates (`measure`) say that CUDA with all copies is twice as fast, CUDA runs.  If
     *  the environment variable RDIM_BACKEND was cuda or opencl when the context was made, that
     *  backend runs what it can. */
    RD_BACKEND_AUTO,
    RD_BACKEND_CPU,
    RD_BACKEND_CUDA,
    RD_BACKEND_OPENCL
} rd_backend;
/** How exactly a GPU computes functions of f32; functions of 16-bit floats are the same, rounded.
 *  The CPU knows only SAME. */
typedef enum rd_function_accuracy {
    /** The CPU's bits. */
    RD_ACCURACY_SAME,
    /** By the GPU's units for special functions.  By the manuals of CUDA and PTX, results are off
     *  by at most
     *      exp         2 + 1.2 |x| ulp; results below 2^-126 are 0
     *      exp2        4 ulp; results below 2^-126 are 0
     *      log         5 ulp; for x between 0.5 and 2, 2^-21
     *      log2        4 ulp; for x between 0.5 and 2, 2^-22
     *      sin, cos    2^-20; for |x| above 32768 as SAME
     *      tanh        2 ulp
     *      pow         4 ulp
     *      sqrt, /     2 ulp; reciprocal, too
     *  logsumexp uses these exponentials for distances from its maximum.  Other functions, sums and
     *  f64 are as with SAME. */
    RD_ACCURACY_FAST
} rd_function_accuracy;

/** Options of an evaluation.  A field that is left out is 0, its default. */
typedef struct rd_eval_opts {
    /** sizeof(rd_eval_opts). */
    uint32_t     size;
    /** The order in which elements are visited. */
    rd_traversal traversal;
    /** What runs the evaluation. */
    rd_backend   backend;
    /** The greatest number of threads; 0: the context's.  Little work takes one.  The bits of a
     *  result do not depend on it. */
    int32_t      threads;
    /** True: never use a BLAS or cuBLAS, so that all bits are the same on every machine.
     *
     *  False: large products of matrices, sums over k of a[i,k] b[k,j], may run by a BLAS if the
     *  library was built with one, and on a GPU by cuBLAS if it is found.  That is fast, but the
     *  last bits are that library's. */
    bool         deterministic;
    /** Before the first evaluation of such expressions, run them in several ways, and take the
     *  fastest from then on, also where this is false.
     *
     *  The ways differ in the order of loops, the width of panels, the size of tiles and the number
     *  of threads.  Each takes some 20 ms or one run.  On a GPU each stage is compiled and run as
     *  several kernels when the first evaluation comes to it.  For data in this process's memory
     *  that take more than 2 ms, the rates of the bus, a GPU and the CPU are measured once in a
     *  process.  The bits of a result do not depend on it.  It is for rd_eval_many().  The
     *  environment variable RDIM_PLAN_MEASURE=1 sets it for all evaluations of contexts that are
     *  made after it. */
    bool         measure;
    /** Called about ten times a second, on the calling thread: `done` goes from 0 to 1, and
     *  seconds_left is an estimate.  Non-zero ends the evaluation with RD_ERR_CANCELLED.  The last
     *  call, if there was one before, is (1, 0).  It must not use the context, but for rd_cancel().
     *  NULL: nobody is called. */
    int (*progress)(void *user, double done, double seconds_left);
    /** The first argument of progress. */
    void        *user;
    /** If all results lie on a GPU, do not wait for it.  rd_wait() waits and returns an error once.
     *  Until then leaves must stay unchanged.  Later evaluations of the context see these results.
     *  An expression that is stored in parts on its way is waited for. */
    bool         async;
    /** How exactly a GPU computes functions. */
    rd_function_accuracy accuracy;
} rd_eval_opts;

/** Evaluates y into out, with default options.
 *
 *  A zeroed out becomes fresh dense memory of y's shape and type, aligned to 64 bytes.  Free it
 *  with rd_array_free().  Three fields may be set all the same.  .device says where the memory
 *  lies.  With .order = 1 axis 0 is the fastest.  .strides alone, one number for each axis, orders
 *  the axes: the one with the least number is the fastest.  RD_STRIDES(2, 1, 3) has axis 1 fastest,
 *  then axis 0.
 *
 *  Otherwise out says where and how to store y.  Its shape must be y's.  y is converted if the
 *  output's type holds every value of y's type: bool to integer, to a wider integer, to a wide
 *  enough float, to a wider float.  For other conversions use rd_cast().  Strides may be any, but
 *  an output must not overlap itself.  It may overlap an input; the result is right.
 *  @return RD_OK, or the recorded error: that of y if it is NULL, RD_ERR_SHAPE or RD_ERR_TYPE (the
 *          output's shape or type), RD_ERR_ARGUMENT (the output overlaps itself), RD_ERR_CALLBACK,
 *          RD_ERR_AXIS (an index of rd_take), RD_ERR_MEMORY, RD_ERR_LIMIT, RD_ERR_CANCELLED.  On an
 *          error the contents of the output memory are undefined; a zeroed out stays zeroed. */
RD_API rd_status rd_eval(rd_ctx *ctx, rd_expr *y, rd_array *out);
/** Evaluates several results of any shapes, which share passes:
 *      rd_eval_many(ctx, RD_RESULTS({ mean, &m }, { sd, RD_INTO(p, shape) }), NULL)
 *
 *  Results that overlap each other are written in their order.
 *  @param opts  NULL: defaults
 *  @return as rd_eval(). */
RD_API rd_status rd_eval_many(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** One element of y as a double.  Only what it needs is computed.  A place at which a sparse y with
 *  .stored has nothing gives 0.
 *  @return NaN on failure, with the error recorded: those of rd_eval(), and RD_ERR_TYPE
 *          (complex). */
RD_API double rd_at(rd_ctx *ctx, rd_expr *y, rd_index index);

/** Writes what `measure` found to a text file.  Other processes on a machine like this one can read
 *  it.  What was found of GPU kernels is for GPUs of the same name.
 *  @return RD_OK, RD_ERR_FILE, or RD_ERR_ARGUMENT (no path). */
RD_API rd_status rd_measured_save(rd_ctx *ctx, const char *path);
/** Reads a file of rd_measured_save().
 *  @return RD_OK, RD_ERR_FILE, RD_ERR_ARGUMENT (no path), or RD_ERR_TEXT: not such a file, or from
 *          another release or machine.  What was read before a bad line stays. */
RD_API rd_status rd_measured_load(rd_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Several results, for one call: RD_RESULTS({ y, &out }, { z, RD_INTO(p, shape) }). */
#define RD_RESULTS(...) \
    ((rd_results){ (const rd_result[]){ __VA_ARGS__ }, RD_N_(rd_result, __VA_ARGS__) })
#endif
#endif
