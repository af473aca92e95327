/* complex.h - the same search for functions of complex numbers.
 *
 * complex_reference.c and complex_inverse.c have the exact results; complex_functions.c what is searched, by the calls of
 * rdim.h, and errors; complex_search.c the search; complex_rows.c what is asked for. */
#ifndef RD_TESTS_ACCURACY_COMPLEX_H
#define RD_TESTS_ACCURACY_COMPLEX_H
#include "rdim.h"
#include <mpfr.h>

/* x + iy and, where there is a second operand, u + iv. */
typedef struct complex_point {
    double x, y, u, v, ulps;
} complex_point;

/* Parts of exact results, and `exponent`: the size of w where the result is exp(w), which is what errors of
 * some functions grow with; 0 for others. */
typedef struct complex_exact {
    mpfr_t re, im;
    double exponent;
} complex_exact;

typedef void exact_complex(complex_exact *r, const complex_point *p);

/* What counts as an error, in units of the last place
 * LARGER  of either part, in those of the larger part
 * PARTS   of either part, in those of that part
 * SIZE    of the modulus, in those of the larger part
 * GROWS   as LARGER, divided by 1 + |w|, where the result is exp(w)
 * NORMAL, TINY  as LARGER, where the larger part is at least 16 times the smallest normal number,
 *         or is less: quotients' products of scaled numbers are subnormal then */
typedef enum complex_measure { LARGER, PARTS, SIZE, GROWS, NORMAL, TINY } complex_measure;

typedef struct complex_function {
    const char *name;
    rd_expr *(*of_1)(rd_expr *);
    rd_expr *(*of_2)(rd_expr *, rd_expr *);
    exact_complex  *exact;
    complex_measure measure;
    double          c64, c128; /* what docs/accuracy.md promises */
} complex_function;

extern const complex_function complex_functions[];
extern const int              complex_functions_n;

/* A function as a plan of the library, which takes some points at once. */
enum { COMPLEX_BATCH = 256 };
typedef struct complex_map complex_map;

complex_map *complex_begin(rd_ctx *ctx, const complex_function *f, bool is_c64);
void         complex_end(complex_map *m);
/* Rounds n points to the type and gives each its error; 0 for those that do not count: see
 * complex_counts(). */
void complex_errors(complex_map *m, int n, complex_point *p);
/* Is it a point that the bound is for?  Finite, no zero where that is a special value, and no
 * partial product out of the range where the library has promised plain products. */
bool complex_counts(const complex_function *f, bool is_c64, const complex_point *p);

/** The worst point that about `budget` evaluations find; *looked takes how many there were. */
complex_point complex_search(complex_map *m, const complex_function *f, bool is_c64, long budget,
                             uint64_t seed, long *looked);

/* What main.c is asked for: rows of complex_points.def; the table; the test, which says how many
 * rows fail. */
int  complex_search_all(long budget, char **names);
void complex_print_table(void);
int  complex_check(const char *page, int *rows);

/* exact_complex_exp() and its like. */
#define RD_COMPLEX_BOUND(name, n, measure, c64, c128) exact_complex exact_complex_##name;
#include "accuracy/complex_bounds.def"
#undef RD_COMPLEX_BOUND
#endif
