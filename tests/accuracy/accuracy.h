/* accuracy.h - a search for the arguments at which an elementary function is least exact.
 *
 * reference.c has the exact results, by MPFR; functions.c the functions and the bounds that
 * docs/accuracy.md states; starts.c where a search begins; search.c the search; floats.c a run over
 * all floats; complex.h the same of complex numbers; main.c what is asked for. */
#ifndef RD_TESTS_ACCURACY_H
#define RD_TESTS_ACCURACY_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum { ACCURACY_BITS = 240 }; /* of exact results */

/* The exact result of x, or of x and y. */
typedef void (*exact_1)(mpfr_t result, mpfr_t x);
typedef void (*exact_2)(mpfr_t result, mpfr_t x, mpfr_t y);

typedef struct function {
    const char *name;
    float (*f32_1)(float);
    double (*f64_1)(double);
    float (*f32_2)(float, float);
    double (*f64_2)(double, double);
    exact_1 of_1;
    exact_2 of_2;

} function;

typedef struct point {
    double x, y, ulps;
} point;

extern const function accuracy_functions[];
extern const int      accuracy_functions_n;

/** The error of `f` at a point, in ulp of the exact result; infinity for a wrong special value. */
double accuracy_error(const function *f, bool is_f32, double x, double y);

/** What docs/accuracy.md promises. */
double accuracy_bound(const function *f, bool is_f32);

/** The worst point that about `budget` evaluations find; *looked takes how many there were. */
point accuracy_search(const function *f, bool is_f32, long budget, uint64_t seed, long *looked);

/** The worst of all floats that are `stride` apart by their bits, for a function of one argument; false
 * for others.  Of all, 1 apart, some ten seconds. */
bool accuracy_of_floats(const function *f, uint32_t stride, point *worst);

/* exact_exp() and its like, one for each function of core/ops.def that is ours. */
#define RD_MATH1(name, hard) void exact_##name(mpfr_t r, mpfr_t x);
#define RD_MATH2(name, hard) void exact_##name(mpfr_t r, mpfr_t x, mpfr_t y);
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
#include "kernels/math/math.def"
void exact_tgamma(mpfr_t r, mpfr_t x);
void exact_lgamma(mpfr_t r, mpfr_t x);
void exact_digamma(mpfr_t r, mpfr_t x);
void exact_deg2rad(mpfr_t r, mpfr_t x);
void exact_rad2deg(mpfr_t r, mpfr_t x);
#endif
