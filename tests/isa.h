/* isa.h - the interpreters that this machine can run: the scalar reference, and tiles on each set
 * of kernels. */
#ifndef RD_TESTS_ISA_H
#define RD_TESTS_ISA_H
#include "eval/plan.h"

enum { ISA_SCALAR = 0, MOST_ISAS = 4 };

/* Number 0 is the scalar interpreter. */
int         isa_count(void);
const char *isa_name(int isa);
/* Later plans, those that the context would take from its cache included, run on it; and on the
 * best one again. */
void isa_begin(rd_ctx *ctx, int isa);
void isa_end(rd_ctx *ctx);

/* Programs of a plan that run on tiles, and the others. */
typedef struct isa_programs {
    int64_t tiles, scalar;
} isa_programs;
void isa_count_programs(const rd_plan *plan, isa_programs *programs);

/* The plan's tasks get so many grains each, more if they would be very many, each with memory of
 * its own. */
void isa_share(rd_plan *plan, int64_t grains);
/* Stages that can be taken apart run in the shortest steps, 100 or so at most. */
void isa_step(rd_plan *plan, bool steps);
#endif
