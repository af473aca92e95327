/* debug.h - RDIM_DEBUG=formula,graph,tree,nest,program,tiles,loops,code,scalar prints each stage
 * to stderr.  Builds with RD_CHECK also check it. */
#ifndef RD_EVAL_DEBUG_H
#define RD_EVAL_DEBUG_H
#include "eval/ir.h"

/* True if RDIM_DEBUG names only stages.  False after recording the failure. */
bool rd_debug_is_known(rd_ctx *ctx);
bool rd_debug_wants_trace(void); /* events of runs: run/trace.h */
bool rd_debug_wants_formula(void);
bool rd_debug_wants_prepared(void);          /* what backends make of programs */
void rd_debug_formula(struct rd_text *text); /* prints and frees the text */
void rd_debug_graph(const rd_graph *graph);
void rd_debug_tree(const rd_tree *tree);
void rd_debug_nest(const rd_nest *nest);
void rd_debug_programs(int n, const rd_program *program);
/* Prints what the backend made of the programs, with memory of the pool. */
void rd_debug_prepared(const rd_backend_table *backend, int n, const rd_program *program,
                       rd_get_fn *get, void *pool);
#endif
