/* rdim.h - lazy expressions over N-d arrays.
 *
 * Build an expression from arrays; nothing is computed yet.  An evaluation then fuses it into few
 * passes over memory, without temporary arrays:
 *
 *     #include <rdim.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         static float sst[132][73][144];                   // months, latitudes, longitudes
 *         static float out[73][144];
 *
 *         rd_ctx  *ctx = rd_ctx_new(NULL);
 *         rd_expr *x   = rd_wrap(ctx, sst, RD_SHAPE(132, 73, 144));
 *         rd_expr *y   = rd_mean(rd_map(x, sqrtf), RD_DIMS(0), .skip_nan = true);
 *
 *         if (rd_eval(ctx, y, RD_INTO(out, RD_SHAPE(73, 144))) != RD_OK)
 *             fprintf(stderr, "%s\n", rd_error_text(ctx));
 *         rd_ctx_free(ctx);
 *         return 0;
 *     }
 *
 * Nodes.     An rd_expr never changes and belongs to its context.  There is nothing to free, and a
 *            node can be used any number of times.  rd_ctx_release() frees the nodes made since a
 *            mark, and rd_ctx_free() frees all.
 * Errors.    A call that fails records a status and a sentence in the context, and returns NULL.
 *            NULL operands give NULL.  So build without checks, and check once, at rd_eval().  The
 *            first error stays, and evaluations return it, until rd_error_clear().  So a keyword
 *            such as .where whose expression failed is not mistaken for one left out.
 * Memory.    Data are the caller's.  Leaves borrow them until the last evaluation that reads them;
 *            leaves of rd_adopt() and rd_load() own theirs.  Outputs go where you say, with any
 *            strides.  An output may overlap an input, but not itself.
 * Units.     Extents, strides and indices count elements (int64_t).  Memory limits count bytes.
 *            Axes count from 0, or from the end if negative.  Shapes broadcast from the last axis,
 *            as in NumPy.
 * Keywords.  Where a comment says "keywords", add `.field = value` of the named struct after the
 *            last argument, in any order.  A field that is left out is 0, its default.
 * Threads.   One thread at a time uses a context; contexts are independent.  rd_plan_run() may run
 *            on any number of threads, also of one plan.  An evaluation runs on as many threads as
 *            it is told, at most 1024, and fewer if the system starts fewer.  After fork() the
 *            child may evaluate, on one thread if the thread that forked had evaluated on several.
 *            Threads that the child starts are as any others.  rd_explain() shows the number.
 *
 * The parts below are the manual.  Each can be read and included alone.  They are C11; C++17 may
 * include them, too.  Keyword macros and RD_FN are C only: <rdim.hpp> has their counterparts. */
#ifndef RDIM_H
#define RDIM_H

#ifndef RD_API
#include "rdim_export.h"
#endif

/* Expressions are built from arrays, */
#include "rdim/base.h"             /* handles, status codes, element types           */
#include "rdim/shapes.h"           /* shapes, sets of axes, lists                    */
#include "rdim/context.h"          /* contexts, errors, cancelling                   */
#include "rdim/arrays.h"           /* arrays in memory, leaves                       */
#include "rdim/files.h"            /* .npy files                                     */
#include "rdim/random.h"           /* random numbers                                 */
#include "rdim/sparse.h"           /* sparse arrays                                  */
#include "rdim/dlpack.h"           /* arrays of other libraries                      */

/* by operations, */
#include "rdim/views.h"            /* slices, gathers, reshapes, windows             */
#include "rdim/joins.h"            /* concatenations, padding, tiles                 */
#include "rdim/maps.h"             /* arithmetic, comparisons, logic, conversion     */
#include "rdim/math_functions.h"   /* mathematical functions                         */
#include "rdim/complex_numbers.h"  /* complex numbers                                */
#include "rdim/user_functions.h"   /* maps of your own                               */
#include "rdim/reductions.h"       /* sums, extremes, means, scans                   */
#include "rdim/statistics.h"       /* covariance, mode, first, integral, slope       */
#include "rdim/user_reducers.h"    /* reductions of your own                         */
#include "rdim/groups.h"           /* labels, histograms, scatter                    */
#include "rdim/sorting.h"          /* sorting, quantiles, ranks, search              */
#include "rdim/windows.h"          /* rolling reductions, convolutions               */
#include "rdim/products.h"         /* products of vectors and matrices               */
#include "rdim/normalise.h"        /* softmax, norms, distances                      */
#include "rdim/blocks.h"           /* masks of pairs of points by blocks             */
#include "rdim/formulas.h"         /* expressions from text                          */
#include "rdim/derivatives.h"      /* gradients, directional derivatives             */

/* and then evaluated. */
#include "rdim/evaluation.h"       /* evaluation and its options                     */
#include "rdim/plans.h"            /* plans that run many times                      */
#include "rdim/solves.h"           /* linear systems of operators                    */
#include "rdim/eigenvalues.h"      /* eigenvalues, traces, determinants              */
#include "rdim/selection.h"        /* nonzero, compress, unique                      */
#include "rdim/explain.h"          /* what an evaluation would do                    */
#include "rdim/devices.h"          /* GPUs                                           */
#endif
