/* loops.h - loop trees of the programs of plans, and the check of each.
 *
 * Neither eval/plan.h nor kernels/loop/loop.h is included, as both have a struct rd_loop_fold. */
#ifndef RD_TESTS_LOOPS_H
#define RD_TESTS_LOOPS_H
#include "kernels/program.h"

/* The plan of some results, whose programs are not compiled. */
rd_plan *loop_plan(rd_ctx *ctx, rd_exprs in, rd_results results);
/* Program k of a plan that is not in parts, NULL: it has fewer. */
const rd_program *loop_program(const rd_plan *plan, int32_t k);

/* What became of the trees of many programs. */
typedef struct loop_counts {
    int64_t trees, holds, skipped, refused, by_rows;
} loop_counts;

/* The tree of a program holds, as one task runs it or as several do: as it is built, and after all
 * passes, for vectors of two lengths.  Those of all programs of a plan likewise.  False after writing
 * what is wrong. */
bool loop_program_holds(rd_ctx *ctx, const rd_program *p, bool whole, loop_counts *counts,
                        rd_text *report);
bool loop_plan_holds(rd_ctx *ctx, const rd_plan *plan, loop_counts *counts, rd_text *report);
#endif
