/* gpu_programs.h - programs by which the ways of a GPU to run are looked at and timed: each over a
 * matrix of rows and columns.  It does without Check, as a machine with a GPU may have none. */
#ifndef RD_TESTS_GPU_PROGRAMS_H
#define RD_TESTS_GPU_PROGRAMS_H
#include <rdim.h>
#include <stdbool.h>

enum { GPU_MOST_RESULTS = 2 };

typedef struct gpu_program {
    const char *name;
    bool        floats; /* of floats only */
    /* Its results of x, at most GPU_MOST_RESULTS; how many. */
    int (*build)(rd_expr *x, rd_expr **y);
} gpu_program;

extern const gpu_program gpu_programs[];
extern const int         n_gpu_programs;

const gpu_program *gpu_program_of(const char *name);
/* A matrix of that type, with values that are all of different size and sign; equal for equal
 * positions in the memory.  The memory is the caller's to free. */
rd_array gpu_matrix(rd_dtype type, int64_t rows, int64_t columns);
#endif
