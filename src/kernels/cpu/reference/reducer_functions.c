/* reducer_functions.c - the reducers of reducers.def as C functions on states. */
#include "kernels/cpu/reference/reducer_functions.h"
#include "kernels/cpu/reference/node.h"
#include "kernels/math/row_functions.h"

#define CLASS                  f32
#define T                      float
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_F(name)             rd_math_##name##_f32
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_ZERO                -0.0F
#define RD_NAN                 NAN
#include "kernels/cpu/reference/reducers_class.h"

#define CLASS                  f64
#define T                      double
#define PICK(kinds, make, row) FLOAT_##kinds(make, row)
#define RD_F(name)             rd_math_##name##_f64
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_ZERO                -0.0
#define RD_NAN                 ((double)NAN)
#include "kernels/cpu/reference/reducers_class.h"

#define CLASS                  i64
#define T                      int64_t
#define PICK(kinds, make, row) INT_##kinds(make, row)
#define RD_ADD(a, b)           ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define RD_MUL(a, b)           ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define RD_ZERO                0
#define RD_NAN                 0
#include "kernels/cpu/reference/reducers_class.h"

#define CLASS                  u64
#define T                      uint64_t
#define PICK(kinds, make, row) UINT_##kinds(make, row)
#define RD_ADD(a, b)           ((a) + (b))
#define RD_MUL(a, b)           ((a) * (b))
#define RD_ZERO                0
#define RD_NAN                 0
#include "kernels/cpu/reference/reducers_class.h"

/* Returns the functions of a reducer for a class of registers (f32, f64, i64 or u64); NULL: the
 * reducer does not take the class, or is a user's. */
const rd_reducer_code *rd_reducer_code_of(rd_reducer_id reducer, rd_class class)
{
    static const rd_reducer_code *const tables[RD_N_CLASS] = { [RD_CLASS_f32] = table_f32,
                                                               [RD_CLASS_f64] = table_f64,
                                                               [RD_CLASS_i64] = table_i64,
                                                               [RD_CLASS_u64] = table_u64 };
    const rd_reducer_code              *code               = &tables[class][reducer];
    return code->step ? code : NULL;
}

/* Returns the functions that merge the lanes (accumulators of one result) of a reducer; NULL: lanes
 * merge as blocks do. */
const rd_lanes_code *rd_lanes_code_of(rd_reducer_id reducer, rd_class class)
{
    static const rd_lanes_code *const *const tables[RD_N_CLASS] = { [RD_CLASS_f32] = lanes_f32,
                                                                    [RD_CLASS_f64] = lanes_f64,
                                                                    [RD_CLASS_i64] = lanes_i64,
                                                                    [RD_CLASS_u64] = lanes_u64 };
    return tables[class][reducer];
}
