/* bools.c - arithmetic of bools by NumPy's rules: the library's own is in int64, as its sums of bools are. */
#include "bools.h"
#include "core.h"

static bool is_bool(rd_expr *x)
{
    return x && rd_type_of(x) == RD_BOOL;
}

static bool are_bools(rd_expr *x, rd_expr *y)
{
    return is_bool(x) && is_bool(y);
}

static rd_expr *refused(const char *sentence)
{
    PyErr_SetString(PyExc_TypeError, sentence);
    return NULL;
}

/* ---- Bools again ------------------------------------------------------------------------------ */
#define OF_BOOLS(name, function, of_bools)                        \
    rd_expr *name(rd_expr *x, rd_expr *y)                         \
    {                                                             \
        return are_bools(x, y) ? of_bools(x, y) : function(x, y); \
    }
OF_BOOLS(rdpy_add, rd_add, rd_or)
OF_BOOLS(rdpy_multiply, rd_mul, rd_and)
#undef OF_BOOLS

/* The library counts the pairs that are true. */
#define ANY_PAIR(name, function)                                \
    rd_expr *name(rd_expr *x, rd_expr *y)                       \
    {                                                           \
        rd_expr *const made = function(x, y);                   \
                                                                \
        return are_bools(x, y) ? rd_cast(made, RD_BOOL) : made; \
    }
ANY_PAIR(rdpy_matmul, rd_matmul)
ANY_PAIR(rdpy_dot, rd_dot)
ANY_PAIR(rdpy_outer, rd_outer)
ANY_PAIR(rdpy_kron, rd_kron)
#undef ANY_PAIR

/* ---- int8 ------------------------------------------------------------------------------------- */
static rd_expr *number_of(rd_expr *x)
{
    return rd_cast(x, RD_I8);
}

#define AS_NUMBERS(name, function)                                                      \
    rd_expr *name(rd_expr *x, rd_expr *y)                                               \
    {                                                                                   \
        return are_bools(x, y) ? function(number_of(x), number_of(y)) : function(x, y); \
    }
AS_NUMBERS(rdpy_floor_divide, rd_floordiv)
AS_NUMBERS(rdpy_remainder, rd_remainder)
AS_NUMBERS(rdpy_power, rd_pow)
AS_NUMBERS(rdpy_left_shift, rd_shift_left)
AS_NUMBERS(rdpy_right_shift, rd_shift_right)
#undef AS_NUMBERS

rd_expr *rdpy_square(rd_expr *x)
{
    return rd_square(is_bool(x) ? number_of(x) : x);
}

/* NumPy's absolute value of a bool is the bool. */
rd_expr *rdpy_abs(rd_expr *x)
{
    return is_bool(x) ? x : rd_abs(x);
}

/* ---- No result -------------------------------------------------------------------------------- */
rd_expr *rdpy_subtract(rd_expr *x, rd_expr *y)
{
    return are_bools(x, y)
               ? refused("rdim.subtract: bools have no difference, the operator `-`; say x ^ y, "
                         "logical_xor(x, y), or x.astype(int) - y")
               : rd_sub(x, y);
}

rd_expr *rdpy_negative(rd_expr *x)
{
    return is_bool(x)
               ? refused(
                     "rdim.negative: bools have no negative, the operator `-`; say ~x or logical_not(x)")
               : rd_neg(x);
}

/* NumPy's sign of -0.0 is 0.0, the library's is -0.0. */
static rd_expr *without_negative_zero(rd_expr *sign)
{
    return rd_add(sign, rd_sub(sign, sign));
}

rd_expr *rdpy_sign(rd_expr *x)
{
    if (is_bool(x))
        return refused("rdim.sign: bools have no sign; say x.astype(int)");
    return x && rd_type_of(x) >= RD_F16 && !rd_is_sparse(x) ? without_negative_zero(rd_sign(x))
                                                            : rd_sign(x);
}
