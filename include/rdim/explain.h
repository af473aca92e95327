/* rdim/explain.h - explanations: what an evaluation would do, as text and as pictures.
 *
 * The environment shows plans, too:
 * - RDIM_DEBUG=graph,tree,nest,program,tiles,loops,code,scalar prints these stages of every plan to
 *   stderr, one or several of them.  Another name is RD_ERR_ARGUMENT when a plan is made.
 * - RDIM_DEBUG=trace writes a timeline to the file RDIM_TRACE, by default rdim-trace.json, for
 *   chrome://tracing.  It is RD_ERR_FILE if the file cannot be written.
 * - RDIM_STRICT=1 makes a plan that keeps a warning fail: RD_ERR_LIMIT, with the same sentence. */
#ifndef RDIM_EXPLAIN_H
#define RDIM_EXPLAIN_H
#include "evaluation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What rd_eval_many() would do, as text.
 *
 *  It has the graph, the virtual shape, passes, loops, combine trees and memory, and the reason if
 *  something was not fused.  For each pass it says how it runs: compiled loops, one kernel, tiles,
 *  a product, or the reference.  It gives each pass's bytes and operations and an estimate of its
 *  time, without what compiled loops skip because of a mask.  It gives the most memory that a run
 *  holds beside operands and results.  "warning:" and a remedy stand where a pass goes element by
 *  element.  It also says what the first run does until loops are compiled.
 *  @param results  outputs may be NULL
 *  @param opts     NULL: defaults
 *  @return a text of the context's, until a mark before it is released.  NULL on failure. */
RD_API const char *rd_explain(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** What rd_eval_many() would do, as an SVG file.  It shows the expressions as a graph.  For each
 *  plan it shows the stages with their loops and bytes, between what they read and what they write.
 *  Arguments and ownership: see rd_explain(). */
RD_API const char *rd_explain_svg(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts);
/** The expressions as a graph in the language of Graphviz.  Ownership: see rd_explain(). */
RD_API const char *rd_graphviz(rd_ctx *ctx, rd_results results);
/** A box of a leaf: the index `first` and an extent along each axis; an extent of 0 means
 *  nothing. */
typedef struct rd_part { rd_index first; rd_shape shape; } rd_part;
/** Finds which part of a leaf an evaluation reads, so that only that part need be filled before it.
 *
 *  Slices narrow the part: also above maps and joined arrays, and above reductions, scans and sorts
 *  along other axes.  Any other reader is taken to read its whole operand.  Indices count from 0
 *  here, also where an axis has another origin.
 *  @return false, and *out zeroed, on failure: RD_ERR_ARGUMENT (not a leaf of memory, no out), or
 *          an error of planning. */
RD_API bool rd_part_read(rd_ctx *ctx, rd_results results, rd_expr *leaf, rd_part *out);

#ifdef __cplusplus
}
#endif
#endif
