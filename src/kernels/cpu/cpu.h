/* cpu.h - the two ways a program runs on the CPU. */
#ifndef RD_KERNELS_CPU_CPU_H
#define RD_KERNELS_CPU_CPU_H
#include "kernels/program.h"

/* The reference: instruction by instruction, element by element. */
extern const rd_backend_table rd_backend_scalar;

/* Plans made from now on run on "scalar", "baseline", "avx2" or "avx512"; NULL: on the best there
 * is, or what the environment's RDIM_ISA says.  False if this machine cannot.  For tests. */
bool rd_cpu_force(const char *isa);
/* For tests: the next so many times that a run or one of its steps asks for a nest, it finds none;
 * how often it still will. */
void rd_cpu_hold_nests(int asks);
int  rd_cpu_held(void);

/* Bytes of a vector of what plans made now run on. */
int rd_cpu_vector(void);
/* What stands against a compiled nest for a prepared program, before one is tried; NULL: nothing.
 * */
const char *rd_cpu_no_nest(const rd_program *p);
/* describe.c: rd_backend_table.describe */
void rd_cpu_describe(rd_text *text, const rd_program *p, bool code, rd_get_fn *get, void *pool);

/* Is the reference asked for?  Are compiled loops not to be, though the program could be such? */
bool rd_cpu_is_scalar(void);
bool rd_cpu_is_off(const rd_program *p);
/* form.c, speed.c: rd_backend_table.form, .seconds, .speeds */
void        rd_cpu_form(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form);
double      rd_cpu_seconds(const rd_program *p, const rd_cost *cost, rd_form_kind kind,
                           const rd_slow *slow, int threads);
const char *rd_cpu_speeds(void);

/* better.c: the tile machine's faster way, of more than a little work; NULL: a compiled nest is
 * faster. */
const char *rd_cpu_better(const rd_program *p);
#endif
