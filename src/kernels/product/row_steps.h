/* row_steps.h - the two operations of a semiring, for products of sparse matrices: named by
 * reducer, operator and class of type (F: f64, I: i64). */
#ifndef RD_KERNELS_PRODUCT_ROW_STEPS_H
#define RD_KERNELS_PRODUCT_ROW_STEPS_H
#include <math.h>
#include <stdint.h>

/* Operators on two elements.  A NaN stays, ints wrap. */
#define OF_mul_F(x, y)     ((x) * (y))
#define OF_add_F(x, y)     ((x) + (y))
#define OF_sub_F(x, y)     ((x) - (y))
#define OF_minimum_F(x, y) ((x) != (x) ? (x) : TAKE_min_F(x, y))
#define OF_maximum_F(x, y) ((x) != (x) ? (x) : TAKE_max_F(x, y))
#define OF_mul_I(x, y)     ((int64_t)((uint64_t)(x) * (uint64_t)(y)))
#define OF_add_I(x, y)     ((int64_t)((uint64_t)(x) + (uint64_t)(y)))
#define OF_sub_I(x, y)     ((int64_t)((uint64_t)(x) - (uint64_t)(y)))
#define OF_minimum_I(x, y) ((y) < (x) ? (y) : (x))
#define OF_maximum_I(x, y) ((y) > (x) ? (y) : (x))

/* Reducers on a sum and an element, and their identities (NOTHING).  A sum that is NaN is not
 * less than any element, and so stays. */
#define TAKE_sum_F(x, y)  OF_add_F(x, y)
#define TAKE_prod_F(x, y) OF_mul_F(x, y)
#define TAKE_min_F(x, y)  ((y) != (y) ? (y) : (y) < (x) ? (y) : (x))
#define TAKE_max_F(x, y)  ((y) != (y) ? (y) : (y) > (x) ? (y) : (x))
#define TAKE_sum_I(x, y)  OF_add_I(x, y)
#define TAKE_prod_I(x, y) OF_mul_I(x, y)
#define TAKE_min_I(x, y)  OF_minimum_I(x, y)
#define TAKE_max_I(x, y)  OF_maximum_I(x, y)
#define NOTHING_sum_F     -0.0
#define NOTHING_prod_F    1.0
#define NOTHING_min_F     INFINITY
#define NOTHING_max_F     -INFINITY
#define NOTHING_sum_I     0
#define NOTHING_prod_I    1
#define NOTHING_min_I     INT64_MAX
#define NOTHING_max_I     INT64_MIN
#endif
