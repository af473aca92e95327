/* nest.h - any loop program as one nest of loops in C, compiled.
 *
 *   program -rows-> program by rows -schedule.c-> loop tree, after all passes (kernels/pass)
 *           -prepare.c, kernels/print-> text -cpu/jit-> functions -run.c-> results
 *
 * In some loops of the tree neighbouring indices of one axis go together as a strip: each statement
 * that depends on the axis is a loop over the strip, which the compiler makes vectors of (as a
 * data-parallel language would: Pharr and Mark, 2012, "ispc: A SPMD Compiler for High-Performance
 * CPU Programming").  What is computed, in which order, and so its bits, are the program's. */
#ifndef RD_KERNELS_CPU_NEST_NEST_H
#define RD_KERNELS_CPU_NEST_NEST_H
#include "core/text_buffer.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/loop/alternatives.h"
#include "kernels/program.h"

typedef struct rd_nest_code rd_nest_code;

/* This says which programs have compiled loops: those for which no faster way is known, all for which that
 * is possible, or none.  The environment's RDIM_CODEGEN says `always` or `never`, to compare; for tests: what it says from
 * now on, NULL: what the environment does. */
typedef enum rd_nest_use { RD_NEST_IF_BEST, RD_NEST_ALWAYS, RD_NEST_NEVER } rd_nest_use;
rd_nest_use rd_nest_use_now(void);
void        rd_nest_force(const char *use);

/* What runs a program, in *code: `whole`, as one task by one function, else part by part; NULL
 * where it cannot: *why says what stands against it.  False: no memory. */
bool rd_nest_prepare(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                     const rd_nest_code **code, const char **why);
/* Sets *why to the reason for which a program has no nest; NULL: it has one.  False: no memory. */
bool rd_nest_refused(const rd_program *p, int vector, rd_get_fn *get, void *pool, const char **why);
/* For people: adds its strips to one text and its code to the other, either NULL. */
void rd_nest_describe(const rd_program *p, int vector, rd_get_fn *get, void *pool, rd_text *strips,
                      rd_text *code);
/* The loop tree of a program after all passes, which the caller frees; `log`: its strips are printed,
 * and the tree after each pass, or NULL.  NULL: *why says what stands against it. */
struct rd_schedule *rd_nest_schedule(const rd_program *p, int vector, bool whole, rd_get_fn *get,
                                     void *pool, rd_text *log, const char **why);
/* Are its loops over rows of places?  Then tasks may have any shares. */
bool rd_nest_by_rows(const rd_nest_code *code);
/* Bytes of a task's state. */
int64_t rd_nest_state(const rd_nest_code *code);
/* The functions of a nest that is here, NULL: not yet. */
const void *rd_nest_here(const rd_nest_code *code);
/* Where it is on its way: tier.h. */
rd_compiled_state rd_nest_state_of(const rd_nest_code *code, double *left);
/* The instruction of a program, in a loop, that its nest runs for one element after another, though
 * as often as any; -1: all go by strips, or no nest is possible.  False: no memory. */
bool rd_nest_alone(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                   int32_t *found);
/* For people: adds to n choices those of its strips: how many they are then, -1: no memory. */
int32_t rd_nest_choices(const rd_program *p, int vector, rd_get_fn *get, void *pool,
                        rd_alternatives *at, int32_t n, int32_t most);
/* A program has done without its nest for so many operations. */
void rd_nest_missed(const rd_nest_code *code, double operations);
/* The program ran by these functions of it, or by tiles: NULL; and how many times as long as tiles it
 * takes in runs of so many operations where that was measured, else 0. */
void   rd_nest_ran(const rd_nest_code *code, const void *kernels, double operations, int threads,
                   double seconds);
double rd_nest_lost(const rd_nest_code *code, double operations);
bool   rd_nest_whole(const rd_nest_code *code, const void *kernels, rd_task *task);
void   rd_nest_head(const rd_nest_code *code, const void *kernels, const rd_program *p,
                    rd_task *task);
void   rd_nest_body(const rd_nest_code *code, const void *kernels, const rd_program *p,
                    rd_task *task);
void   rd_nest_join(const rd_nest_code *code, const void *kernels, const rd_task *into,
                    const rd_task *next);
void   rd_nest_tail(const rd_nest_code *code, const void *kernels, const rd_program *p,
                    rd_task *task);
#endif
