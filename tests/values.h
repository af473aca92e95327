/* values.h - expressions from numbers written in place, and results compared with such numbers.
 *
 * For suites of one process per test: there is one context, made before each test and freed after
 * it. */
#ifndef RD_TESTS_VALUES_H
#define RD_TESTS_VALUES_H
#include <rdim.h>

#include "suite.h"
#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define VALUES(...)                    \
    ((const double[]){ __VA_ARGS__ }), \
        (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

extern rd_ctx *ctx;

/* leaf(RD_F32, VALUES(1, 2, 3)): a row of numbers in that type.  At most 16 numbers and 64 leaves
 * at a time. */
rd_expr *leaf(rd_dtype type, const double *v, int n);
rd_expr *leaf_shape(rd_dtype type, rd_shape shape, const double *v, int n);
/* Their memory may be used again. */
void forget_leaves(void);

/* Element i of memory of the type. */
double get(const void *p, rd_dtype type, int64_t i);

/* y has the type and, in C order, the values, where NaN equals NaN and 0 differs from -0.  Rank 0
 * and 1 are asked element by element as well. */
void expect(const char *what, rd_expr *y, rd_dtype type, const double *want, int n);
void expect_shape(const char *what, const rd_expr *y, rd_shape want);
/* The constructor failed so, with a sentence; the error is cleared. */
void expect_error(const char *what, const rd_expr *y, rd_status want);

/* rd_explain() of it, and how often a text has a word. */
const char *plan_text(rd_expr *y);
int         times_in(const char *text, const char *word);

/* Runs the tests, each with a context; what main() returns. */
int run_suite(const char *name, const TTest *const *tests, size_t n);
#endif
