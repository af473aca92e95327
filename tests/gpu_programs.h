/* gpu_programs.h - programs by which the ways of a GPU to run are looked at and timed: each over a
 * matrix of rows and columns.  It does without Check, as a machine with a GPU may have none. */
#ifndef RD_TESTS_GPU_PROGRAMS_H
#define RD_TESTS_GPU_PROGRAMS_H
#include "core/text_buffer.h"
#include <rdim.h>
#include <stdbool.h>

enum { GPU_MOST_RESULTS = 3 };

typedef struct gpu_program {
    const char *name;
    bool        floats; /* of floats only */
    /* Its results of x, at most GPU_MOST_RESULTS; how many. */
    int (*build)(rd_expr *x, rd_expr **y);
} gpu_program;

extern const gpu_program gpu_programs[];
extern const int         n_gpu_programs;
/* Scans along rows. */
extern const gpu_program gpu_scan_programs[];
extern const int         n_gpu_scan_programs;
/* Rows are points, of which each meets each: for smaller matrices. */
extern const gpu_program gpu_pair_programs[];
extern const int         n_gpu_pair_programs;
/* Over short rows, each of which one thread walks. */
extern const gpu_program gpu_row_programs[];
extern const int         n_gpu_row_programs;

/* Reductions along both axes. */
extern const gpu_program gpu_cross_programs[];
extern const int         n_gpu_cross_programs;

/* Of all of them. */
const gpu_program *gpu_program_of(const char *name);
/* A matrix of that type, with values that are all of different size and sign; equal for equal
 * positions in the memory.  The memory is the caller's to free. */
rd_array gpu_matrix(rd_dtype type, int64_t rows, int64_t columns);

/* A program over a matrix of that shape; `shift`: so many elements of other memory are before it,
 * so that it does not begin at a vector; `here`: it is not on the GPU, but in this process's
 * memory. */
typedef struct gpu_case {
    const gpu_program *program;
    rd_dtype           type;
    int64_t            rows, columns;
    int                shift;
    bool               here;
} gpu_case;

/* Shapes around a lane's step, blocks of 64 steps of 64 lanes, and powers of two of them. */
typedef struct gpu_size {
    int64_t rows, columns;
} gpu_size;
extern const gpu_size gpu_sizes[];
extern const int      n_gpu_sizes;
/* Around tiles of scans, and powers of two of them. */
extern const gpu_size gpu_scan_sizes[];
extern const int      n_gpu_scan_sizes;
/* Points around blocks of 64, and tiles of 256; coordinates around what is written out, and
 * blocks. */
extern const gpu_size gpu_pair_sizes[];
extern const int      n_gpu_pair_sizes;
/* Short rows, of these and of the first programs. */
extern const gpu_size gpu_row_sizes[];
extern const int      n_gpu_row_sizes;
/* Around blocks of 64 rows, and of 64 steps of 64 or 32 columns. */
extern const gpu_size gpu_cross_sizes[];
extern const int      n_gpu_cross_sizes;

/* All results of a program over x, as rd_eval_many() takes them; nothing has memory yet. */
typedef struct gpu_results {
    rd_array  out[GPU_MOST_RESULTS];
    rd_result at[GPU_MOST_RESULTS];
    int       n;
} gpu_results;
void gpu_build(const gpu_program *program, rd_expr *x, gpu_results *all);

/* Has it the CPU's bits on the GPU?  NaN are alike.  What differs is added to the
 * report. */
bool gpu_same_bits(const gpu_case *c, rd_text *report);
#endif
