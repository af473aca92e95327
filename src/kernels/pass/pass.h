/* pass.h - passes: each changes a loop tree (kernels/loop) and keeps its meaning. */
#ifndef RD_KERNELS_PASS_PASS_H
#define RD_KERNELS_PASS_PASS_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

/* Facts of the machine that a pass may use. */
typedef struct rd_target {
    int              vector; /* bytes of a vector */
    const rd_strips *strips; /* the loops to strip-mine; NULL: none */
    bool             tells;  /* all alternatives of strips are priced, for explain */
} rd_target;

/* A pass. It may set t->failed if there is no memory. */
typedef void rd_pass(rd_schedule *t, const rd_target *target);

/* Each is in a file of its name: see passes.def. */
#define RD_PASS(name, open) rd_pass rd_pass_##name;
#include "kernels/pass/passes.def"
#undef RD_PASS

/* cpu_pipeline.c: runs all passes for the CPU, in order. It prints the tree to `log` after each
 * pass; NULL: nowhere. */
void rd_schedule_for_cpu(rd_schedule *t, const rd_target *target, rd_text *log);
#endif
