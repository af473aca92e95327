/* starts.h - random numbers where functions are likely to be least exact, and steps from them. */
#ifndef RD_TESTS_ACCURACY_STARTS_H
#define RD_TESTS_ACCURACY_STARTS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct accuracy_random {
    uint64_t state;
    bool     is_f32; /* numbers are to be rounded to f32 afterwards */
} accuracy_random;

uint64_t accuracy_bits(accuracy_random *s);
double   accuracy_uniform(accuracy_random *s, double low, double high);
/* c, or a number beside it: as near as the last place, or as far as twice of it. */
double accuracy_near(accuracy_random *s, double c);
/* A number nearer to a multiple of pi/2 or of ln 2 / 2 than most, below 2^up_to 2^53. */
double accuracy_by_fraction(accuracy_random *s, double up_to);
/* An argument by the i-th way, and two. */
double accuracy_start_1(accuracy_random *s, long i);
double accuracy_start_2(accuracy_random *s, long i, double *y);

/* Rounded to f32. */
double accuracy_as_float(double x);
/* x some units in the last place further, a number of 1 to 53 (24) bits. */
double accuracy_step(accuracy_random *s, double x);
#endif
