/* codegen.h - any loop program as one nest of loops in C, compiled.
 *
 * The program's tree of loops is emitted as it stands, but that in some loops, its regions,
 * neighbouring indices of one axis go together as a strip: every instruction of a region that
 * depends on the axis is a loop over the strip, which the compiler makes vectors of (as a
 * data-parallel language would: Pharr and Mark, 2012, "ispc: A SPMD Compiler for High-Performance
 * CPU Programming").  What is computed, in which order, and so its bits, are the program's.
 *
 *   program -facts.c-> where each instruction stands; what the text needs of folds and slots
 *           -regions.c, costs.c, widths.c-> which loops are strips, by cost
 *           -states.c-> where the states of folds lie
 *           -walk.c, values.c, steps.c, blocks.c, closes.c-> text of the loops; trees.c: of the
 *            folds' combine trees
 *           -functions.c-> text of operators, casts and reducers, from their rows
 *           -codegen.c-> all together, compiled by the tier, and run */
#ifndef RD_KERNELS_CPU_CODEGEN_H
#define RD_KERNELS_CPU_CODEGEN_H
#include "core/text.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/program.h"

typedef struct rd_codegen_code rd_codegen_code;

/* Which programs are compiled so: those for which no faster way is known; all that can be; none.
 * The environment's RDIM_CODEGEN says `always` or `never`, to compare; for tests: what it says from
 * now on, NULL: what the environment does. */
typedef enum rd_codegen_use {
    RD_CODEGEN_IF_BEST,
    RD_CODEGEN_ALWAYS,
    RD_CODEGEN_NEVER
} rd_codegen_use;
rd_codegen_use rd_codegen_use_now(void);
void           rd_codegen_force(const char *use);
/* For tests: results of so many bytes are stored past the caches; 0: of RD_STREAM_BYTES. */
void rd_codegen_force_past(int64_t bytes);

/* What runs a program, in *code: `whole`, as one task by one function, else part by part; NULL
 * where it cannot: *why says what stands against it.  False: no memory. */
bool rd_codegen_prepare(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                        const rd_codegen_code **code, const char **why);
/* For people: adds its strips to one text and its code to the other, either NULL; what stands
 * against it, NULL: nothing. */
const char *rd_codegen_describe(const rd_program *p, int vector, rd_get_fn *get, void *pool,
                                rd_text *strips, rd_text *code);
/* Are its loops over rows (rows.c)?  Then tasks may have any shares. */
bool rd_codegen_by_rows(const rd_codegen_code *code);
/* Bytes of a task's state. */
int64_t rd_codegen_state(const rd_codegen_code *code);
/* The functions of a nest that is here, NULL: not yet. */
const void *rd_codegen_here(const rd_codegen_code *code);
/* Where it is on its way: tier.h. */
rd_compiled_state rd_codegen_state_of(const rd_codegen_code *code, double *left);
/* The instruction of a program, in a loop, that its nest runs for one element after another, though
 * as often as any; -1: all go by strips, or no nest is possible. */
int32_t rd_codegen_alone(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool);
/* A program has done without its nest for so many operations. */
void rd_codegen_missed(const rd_codegen_code *code, double operations);
bool rd_codegen_whole(const rd_codegen_code *code, const void *kernels, rd_task *task);
void rd_codegen_head(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task);
void rd_codegen_body(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task);
void rd_codegen_join(const rd_codegen_code *code, const void *kernels, const rd_task *into,
                     const rd_task *next);
void rd_codegen_tail(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task);
#endif
