/* nest.h - any loop program as one nest of loops in C, compiled.
 *
 *     program -interchange.c, sparse_rows.c-> program -schedule.c-> loop tree, after all passes
 *             -prepare.c, kernels/print-> text -cpu/jit-> functions -run_nest.c-> results
 *
 * In some loops of the tree neighbouring indices of one axis go together as a strip
 * (strip-mining). Each statement that depends on the axis is a loop over the strip, and the
 * compiler vectorises it, as a data-parallel language would: Pharr and Mark, 2012, "ispc: A SPMD
 * Compiler for High-Performance CPU Programming". What is computed, in which order, and so its
 * bits, are the program's. */
#ifndef RD_KERNELS_CPU_NEST_NEST_H
#define RD_KERNELS_CPU_NEST_NEST_H
#include "core/text_buffer.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/loop/alternatives.h"
#include "kernels/program.h"

typedef struct rd_nest_code rd_nest_code;

/* The rule that says which programs have compiled loops: those without a known faster strategy, all
 * that can have them, or none.  RDIM_CODEGEN sets `always` or `never`, for comparisons.  Tests
 * force a value; NULL: the environment decides. */
typedef enum rd_nest_use { RD_NEST_IF_BEST, RD_NEST_ALWAYS, RD_NEST_NEVER } rd_nest_use;
rd_nest_use rd_nest_use_now(void);
void        rd_nest_force(const char *use);

/* Prepares compiled loops of a program, in *code. `whole`: one function runs all of it as one
 * task; else there is a function for each part. NULL if it cannot be: *why says why. False: no
 * memory. */
bool rd_nest_prepare(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                     const rd_nest_code **code, const char **why);
/* Sets *why to the reason why a program has no nest; NULL: it has one. False: no memory. */
bool rd_nest_refused(const rd_program *p, int vector, rd_get_fn *get, void *pool, const char **why);
/* Adds the strips of a program to one text and its code to the other, for reports; either may be
 * NULL. */
void rd_nest_describe(const rd_program *p, int vector, rd_get_fn *get, void *pool, rd_text *strips,
                      rd_text *code);
/* Returns the loop tree of a program after all passes, which the caller frees. `log` gets its
 * strips, and the tree after each pass; or is NULL. NULL: *why says why there is none. */
struct rd_schedule *rd_nest_schedule(const rd_program *p, int vector, bool whole, rd_get_fn *get,
                                     void *pool, rd_text *log, const char **why);
/* True if its loops go over rows of a sparse array; then tasks may have any shares. */
bool rd_nest_by_rows(const rd_nest_code *code);
/* Returns the bytes of a task's state. */
int64_t rd_nest_state(const rd_nest_code *code);
/* Returns the functions of a nest that is compiled and loaded; NULL: not yet. */
const void *rd_nest_loaded(const rd_nest_code *code);
/* Returns where the code is on its way: tier.h. */
rd_compiled_state rd_nest_state_of(const rd_nest_code *code, double *left);
/* Finds the instruction in a loop that the nest runs element by element, though it runs as often
 * as any other; -1: all are in strips, or there is no nest. False: no memory. */
bool rd_nest_find_serial(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                         int32_t *found);
/* Adds the choices of its strips to n others, for reports. Returns how many they are then; -1:
 * no memory. */
int32_t rd_nest_choices(const rd_program *p, int vector, rd_get_fn *get, void *pool,
                        rd_alternatives *at, int32_t n, int32_t most);
/* Counts operations that ran without the nest. */
void rd_nest_add_missed(const rd_nest_code *code, double operations);
/* Counts a run by these functions; NULL: by tiles. rd_nest_slowdown() is how many times as long
 * as tiles the nest takes in runs of so many operations, if it was measured to be slower; else
 * 0. */
void rd_nest_add_run(const rd_nest_code *code, const void *kernels, double operations, int threads,
                     double seconds);
double rd_nest_slowdown(const rd_nest_code *code, double operations);
/* Run a task by these functions: all of the program, or one part; join the states of two tasks.
 * rd_nest_whole() is false if an index was outside its axis. */
bool rd_nest_whole(const rd_nest_code *code, const void *kernels, rd_task *task);
void rd_nest_head(const rd_nest_code *code, const void *kernels, const rd_program *p,
                  rd_task *task);
void rd_nest_body(const rd_nest_code *code, const void *kernels, const rd_program *p,
                  rd_task *task);
void rd_nest_join(const rd_nest_code *code, const void *kernels, const rd_task *into,
                  const rd_task *next);
void rd_nest_tail(const rd_nest_code *code, const void *kernels, const rd_program *p,
                  rd_task *task);
#endif
