/* op_functions.c - the operators of ops.def as C functions on registers. */
#include "kernels/cpu/reference/op_functions.h"
#include "kernels/math/row_functions.h"

#define CLASS                                f32
#define T                                    float
#define RD_F(name)                           rd_math_##name##_f32
#define PICK(rule, make, float_row, int_row) FLOAT_##rule(make, float_row)
#include "kernels/cpu/reference/ops_class.h"

#define CLASS                                f64
#define T                                    double
#define RD_F(name)                           rd_math_##name##_f64
#define PICK(rule, make, float_row, int_row) FLOAT_##rule(make, float_row)
#include "kernels/cpu/reference/ops_class.h"

#define CLASS                                i64
#define T                                    int64_t
#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#include "kernels/cpu/reference/ops_class.h"

#define CLASS                                u64
#define T                                    uint64_t
#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#include "kernels/cpu/reference/ops_class.h"

/* Returns the function of an operator for a class of registers (f32, f64, i64 or u64); NULL: the
 * operator does not take the class. */
rd_op_fn *rd_op_code(rd_op op, rd_class class)
{
    static rd_op_fn *const *const tables[RD_N_CLASS] = { [RD_CLASS_f32] = table_f32,
                                                         [RD_CLASS_f64] = table_f64,
                                                         [RD_CLASS_i64] = table_i64,
                                                         [RD_CLASS_u64] = table_u64 };
    return tables[class][op];
}

/* True if registers hold values of this type widened: halves, and ints and bools of less than 8
 * bytes. */
bool rd_op_needs_wrap(rd_dtype type)
{
    return rd_dtype_is_narrow_float(type) ||
           (rd_dtype_kind(type) != RD_KIND_FLOAT && rd_dtype_size(type) < 8);
}

/* Returns a value as it would be after a store to memory of that type and a load. */
rd_word rd_op_wrap(rd_word value, rd_dtype type)
{
    char memory[8];
    if (rd_dtype_kind(type) == RD_KIND_BOOL)
        return (rd_word){ .u64 = value.u64 != 0 }; /* any other value than 0 is true */
    rd_word_store(memory, type, value);
    return rd_word_load(memory, type);
}
