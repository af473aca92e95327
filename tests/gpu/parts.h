/* parts.h - the parts of gpu_suite. */
#ifndef RD_TESTS_GPU_PARTS_H
#define RD_TESTS_GPU_PARTS_H
#include "../differential.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct settings {
    uint64_t    first;
    int64_t     seeds, large, programs;
    double      seconds; /* no seed begins later; inf: all that is wanted runs */
    const char *out;     /* NULL: standard output */
} settings;

/* How many cases there were, of how many, and what was compared. */
typedef struct part {
    const char        *name;
    int64_t            wanted, ran, failed, results, elements, refused;
    double             seconds;
    differential_stats stats;
} part;

typedef void part_fn(part *p, const settings *s, double until);

bool part_goes_on(const part *p, double until);

part_fn run_products; /* products.c */
part_fn run_fast;     /* fast.c */
#endif
