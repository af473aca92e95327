/* cpu.h - the strategies by which a program runs on the CPU, and what is said of them. */
#ifndef RD_KERNELS_CPU_CPU_H
#define RD_KERNELS_CPU_CPU_H
#include "kernels/loop/alternatives.h"
#include "kernels/loop/price.h"
#include "kernels/program.h"

/* The reference executor: instruction by instruction, element by element. */
extern const rd_backend_table rd_backend_scalar;

/* For tests: later plans run on "scalar", "baseline", "avx2" or "avx512"; NULL: on the best of
 * this machine, or on what RDIM_ISA says. False: this machine cannot. */
bool rd_cpu_force(const char *isa);
/* For tests: the next so many requests for a nest, by runs or their steps, find none;
 * rd_cpu_held() is how many still will. */
void rd_cpu_hold_nests(int asks);
int  rd_cpu_held(void);

/* isa.c: returns the kernels that plans made now run on; the bytes of a vector; the name, or
 * "scalar". */
const struct rd_simd *rd_cpu_simd(void);
int                   rd_cpu_vector(void);
const char           *rd_cpu_kernels(void);
/* why_no_nest.c: returns what stands against a compiled nest of a prepared program, before one
 * is tried; NULL: nothing. */
const char *rd_cpu_why_no_nest(const rd_program *p);
/* describe.c: rd_backend_table.describe */
void rd_cpu_describe(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool);

/* True if the reference is asked for; true if nothing may be compiled, though the program could
 * be a nest. */
bool rd_cpu_is_scalar(void);
bool rd_cpu_is_nest_off(const rd_program *p);
/* form.c, speed.c: rd_backend_table.form, .seconds, .speeds */
bool        rd_cpu_form(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form);
double      rd_cpu_seconds(const rd_program *p, const rd_work *cost, rd_form_kind kind,
                           const rd_slow *slow, int threads);
const char *rd_cpu_speeds(void);
/* form_residue.c: rd_backend_table.residue */
bool rd_cpu_residue(const rd_program *p, rd_form_kind kind, rd_get_fn *get, void *pool,
                    struct rd_residue *r);

/* choices.c, for reports: predicts the time as compiled loops, or on tiles, by measured speeds;
 * 0 ns: unknown. False: no memory. */
bool rd_cpu_price(const rd_program *p, rd_form_kind kind, int threads, rd_get_fn *get, void *pool,
                  rd_price *price);
/* Lists what was chosen for a prepared program, and from which alternatives. Returns how many
 * choices; -1: no memory. */
int32_t rd_cpu_choices(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *at,
                       int32_t most);

/* estimate.c: predicts the nanoseconds of a program that is not prepared, once it is compiled,
 * by usual speeds and on one thread; for comparing plans. False: no memory. */
bool rd_cpu_estimate(const rd_program *p, rd_get_fn *get, void *pool, double *ns);

/* why_tiles.c: compares compiled loops (alternative 0) with tiles (1). rd_cpu_find_why_tiles()
 * finds why tiles are faster for a program of more than a little work; NULL: compiled loops are.
 * False: no memory. */
bool rd_cpu_compare_strategies(const rd_program *p, rd_get_fn *get, void *pool, rd_alternatives *a);
bool rd_cpu_find_why_tiles(const rd_program *p, rd_get_fn *get, void *pool, const char **better);
/* The same for a prepared program. */
const char *rd_cpu_why_tiles(const rd_program *p);
/* sorted_folds.c: true if the rows that are sorted are mostly results of folds, as distances
 * are. All else that makes rows has kernels on tiles, and a nest only calls the routine. */
bool rd_sorts_fold_results(const rd_program *p);
#endif
