/* reducers.c - the reducers of reducers.def as C functions on states. */
#include "kernels/cpu/reducers.h"

/* The rows are written for all types: ints are asked whether they are NaN, and not every row needs every parameter. */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b) /* of expanded names */

/* NaN wins over all but an earlier NaN; of equals the lower index wins. */
#define RD_BEATS(op, x, i, y, j) \
    ((x) != (x) ? (y) == (y) || (i) < (j) : (y) == (y) && ((x)op(y) || ((x) == (y) && (i) < (j))))

/* (m, s) takes w times exp(x).  Elements of weight 0 do not move m, but NaN does end in s.  Equal infinities have no
 * difference, hence the comparison of x and m. */
#define RD_LSE(m, s, x, w)                     \
    if ((s) == 0 && (m) == (m)) {              \
        (m) = (x);                             \
        (s) = (w);                             \
    } else if ((x) == (m)) {                   \
        (s) += (w);                            \
    } else if ((w) != 0 || (x) != (x)) {       \
        const T d = (x) - (m);                 \
        const T e = RD_F(exp)(-RD_F(fabs)(d)); \
        if (d > 0) {                           \
            (s) = (s)*e + (w);                 \
            (m) = (x);                         \
        } else {                               \
            (s) += (w)*e;                      \
        }                                      \
    }
#define RD_INF INFINITY

#define FLOAT_ANY(make, row)   make row
#define FLOAT_FLOAT(make, row) make row
#define FLOAT_BOOL(make, row)
#define INT_ANY(make, row) make row
#define INT_FLOAT(make, row)
#define INT_BOOL(make, row)
#define UINT_ANY(make, row) make row
#define UINT_FLOAT(make, row)
#define UINT_BOOL(make, row) make row /* bool is held in u64 */

#define CLASS                  f32
#define T                      float
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_F(name)             name##f
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_NAN                 NAN
#include "kernels/cpu/reducers_class.h"

#define CLASS                  f64
#define T                      double
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_F(name)             name
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_NAN                 ((double)NAN)
#include "kernels/cpu/reducers_class.h"

#define CLASS                  i64
#define T                      int64_t
#define PICK(kinds, make, row) INT_##kinds(make, row)
#define RD_ADD(a, b)           ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b)           ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define RD_NAN                 0
#include "kernels/cpu/reducers_class.h"

#define CLASS                  u64
#define T                      uint64_t
#define PICK(kinds, make, row) UINT_##kinds(make, row)
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_NAN                 0
#include "kernels/cpu/reducers_class.h"

const rd_reducer_code *rd_reducer_code_of(rd_reducer_id reducer, rd_class class)
{
    static const rd_reducer_code *const tables[RD_N_CLASS] = {
        [RD_CLASS_f32] = table_f32, [RD_CLASS_f64] = table_f64, [RD_CLASS_i64] = table_i64, [RD_CLASS_u64] = table_u64
    };
    const rd_reducer_code *code = &tables[class][reducer];
    return code->step ? code : NULL;
}
