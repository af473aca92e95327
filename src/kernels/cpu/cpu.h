/* cpu.h - the two ways a program runs on the CPU. */
#ifndef RD_KERNELS_CPU_CPU_H
#define RD_KERNELS_CPU_CPU_H
#include "kernels/loop/alternatives.h"
#include "kernels/loop/price.h"
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

/* isa.c: what plans made now run on; bytes of its vector; its name, or "scalar". */
const struct rd_simd *rd_cpu_simd(void);
int                   rd_cpu_vector(void);
const char           *rd_cpu_kernels(void);
/* against.c: what stands against a compiled nest for a prepared program, before one is tried;
 * NULL: nothing. */
const char *rd_cpu_why_no_nest(const rd_program *p);
/* describe.c: rd_backend_table.describe */
void rd_cpu_describe(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool);

/* Is the reference asked for?  Are compiled loops not to be, though the program could be such? */
bool rd_cpu_is_scalar(void);
bool rd_cpu_is_nest_off(const rd_program *p);
/* form.c, speed.c: rd_backend_table.form, .seconds, .speeds */
bool        rd_cpu_form(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form);
double      rd_cpu_seconds(const rd_program *p, const rd_cost *cost, rd_form_kind kind,
                           const rd_slow *slow, int threads);
const char *rd_cpu_speeds(void);
/* residue.c: rd_backend_table.residue */
bool rd_cpu_residue(const rd_program *p, rd_form_kind kind, rd_get_fn *get, void *pool,
                    struct rd_residue *r);

/* choices.c, for people: how long it takes as compiled loops, or on tiles, by measured speeds; 0
 * ns: nobody knows.  False: no memory. */
bool rd_cpu_price(const rd_program *p, rd_form_kind kind, int threads, rd_get_fn *get, void *pool,
                  rd_price *price);
/* The same: what was chosen for a prepared program, each from which alternatives: how many,
 * -1: no memory. */
int32_t rd_cpu_choices(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *at,
                       int32_t most);

/* estimate.c: nanoseconds of a program that is not prepared, once it is compiled, by usual speeds
 * and on one thread; for comparing plans.  False: no memory. */
bool rd_cpu_estimate(const rd_program *p, rd_get_fn *get, void *pool, double *ns);

/* better.c: compiled loops (0) or tiles (1); why tiles are faster, of more than a little work,
 * NULL: compiled loops are.  False: no memory. */
bool rd_cpu_compare_strategies(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *a);
bool rd_cpu_find_why_tiles(const rd_program *p, rd_get_fn *get, void *pool, const char **better);
/* The same of a prepared program. */
const char *rd_cpu_why_tiles(const rd_program *p);
/* orders.c: are elements of rows that are put in order results of folds, as distances are?  Of what
 * else makes rows tiles have kernels, and a nest only the call of the routine. */
bool rd_sorts_fold_results(const rd_program *p);
#endif
