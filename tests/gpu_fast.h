/* gpu_fast.h - functions that are less exact on a GPU with `accuracy` FAST, and the bounds that rdim.h
 * states.  It does without Check, as a machine with a GPU may have none. */
#ifndef RD_TESTS_GPU_FAST_H
#define RD_TESTS_GPU_FAST_H
#include "core/text_buffer.h"
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

/* How many points have other bits with FAST; and of the one that comes nearest to its bound: which
 * part of that it is off, in units of the last place and as it is. */
typedef struct gpu_fast_found {
    int64_t differ;
    double  part, ulps, error, at;
} gpu_fast_found;

/* Of n points and some special ones: is each within its bound with FAST, are SAME and the CPU
 * alike? */
bool gpu_fast_is_near(const gpu_fast *f, int64_t n, gpu_fast_found *found, rd_text *report);
#endif
