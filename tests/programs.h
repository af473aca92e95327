/* programs.h - loop programs written by hand, and tasks that run them. */
#ifndef RD_TESTS_PROGRAMS_H
#define RD_TESTS_PROGRAMS_H
#include "kernels/program.h"

enum { PROGRAM_REGISTERS = 16 };

/* A program with room for more; `p` points into it, so it stays where it is. */
typedef struct builder {
    rd_program p;
    rd_inst    inst[64];
    rd_loop    loop[8];
    rd_address address[16];
    rd_fold    fold[4];
    rd_call    call[4];
    int64_t    axis_extent[4], scratch_bytes[4];
    int32_t    open[8], n_open;
} builder;

/* No axis may be split, no slot is scratch, all instructions are head until a body or tail
 * begins. */
void builder_init(builder *b, int32_t n_axis, const int64_t *extent);
/* The program, complete. */
const rd_program *builder_done(builder *b);
void              builder_add(builder *b, rd_inst inst);
void              builder_loop(builder *b, rd_loop loop);
void              builder_end(builder *b);
void              builder_body(builder *b);
void              builder_tail(builder *b);
int32_t           builder_address(builder *b, rd_address address);
int32_t           builder_fold(builder *b, rd_fold fold);
int32_t           builder_call(builder *b, rd_call call);

/* dst = memory, memory = a, at slot[offset + coef * axis]; axis -1: at slot[offset]. */
void builder_load(builder *b, int32_t dst, int32_t slot, rd_dtype type, int32_t axis, int64_t coef,
                  int64_t offset);
void builder_store(builder *b, int32_t a, int32_t slot, rd_dtype type, int32_t axis, int64_t coef,
                   int64_t offset);

/* The same at slot[offset + row * (index of axis 0) + col * (index of axis 1)]. */
void builder_load_2(builder *b, int32_t dst, int32_t slot, rd_dtype type, int64_t row, int64_t col,
                    int64_t offset);
void builder_store_2(builder *b, int32_t a, int32_t slot, rd_dtype type, int64_t row, int64_t col,
                     int64_t offset);

/* Runs n tasks, task t on [cut[t], cut[t + 1]) of the root axis, and joins them in order.  The
 * first failure counts; warnings and loads are those of all.  State and slots of the result are
 * gone. */
rd_task run_tasks(const rd_program *p, void *const *slot, const int64_t *cut, int32_t n);
/* What they ran on: rd_cpu_force() decides.  Some on tiles are but a kernel (total.c). */
typedef struct program_runs {
    int64_t tiles, scalar, totals;
} program_runs;
extern program_runs runs_so_far;
/* One task on everything. */
rd_task run_program(const rd_program *p, void *const *slot);
#endif
