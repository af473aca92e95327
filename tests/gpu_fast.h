/* gpu_fast.h - functions that are less exact on a GPU with `accuracy` FAST, and the bounds that rdim.h
 * states.  It does without Check, as a machine with a GPU may have none. */
#ifndef RD_TESTS_GPU_FAST_H
#define RD_TESTS_GPU_FAST_H
#include "core/text.h"
#include <rdim.h>
#include <stdbool.h>

typedef struct gpu_fast {
    const char *name;
    rd_expr *(*of)(rd_expr *x, rd_expr *y);
    double (*exact)(double x, double y);
    double (*allowed)(double x, double exact); /* how far a result may be from that */
    /* Points: between these, or powers of two by exponents between these; of either sign. */
    bool   powers, negative;
    double x[2], y[2];
} gpu_fast;

extern const gpu_fast gpu_fasts[];
extern const int      n_gpu_fasts;

/* Of n points and some special ones: is each within its bound with FAST, are SAME and the CPU
 * alike?  *differ: how many have other bits with FAST. */
bool gpu_fast_is_near(const gpu_fast *f, int64_t n, int64_t *differ, rd_text *report);
#endif
