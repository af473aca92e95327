/* ops.c - the operators of ops.def as C functions on registers. */
#include "kernels/cpu/ops.h"

/* The rows are written for all types: unsigned values are compared with 0, and not every row needs every parameter. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b) /* of expanded names */

/* ---- What libm and C leave open ---------------------------------------------------------------------------- */
/* Floor of a / b with the remainder that belongs to it, as NumPy's divmod: (a - mod) / b is nearly whole, while
 * floor(a / b) would be one too large where a / b rounds up to a whole number. */
static double divmod_f64(double a, double b, double *mod)
{
    *mod = fmod(a, b);
    if (b == 0)
        return a / b;

    double div = (a - *mod) / b;
    if (*mod == 0) {
        *mod = copysign(0.0, b);
    } else if ((b < 0) != (*mod < 0)) {
        *mod += b;
        div -= 1;
    }
    if (div == 0)
        return copysign(0.0, a / b);
    const double whole = floor(div);
    return div - whole > 0.5 ? whole + 1 : whole;
}

static float divmod_f32(float a, float b, float *mod)
{
    *mod = fmodf(a, b);
    if (b == 0)
        return a / b;

    float div = (a - *mod) / b;
    if (*mod == 0) {
        *mod = copysignf(0.0F, b);
    } else if ((b < 0) != (*mod < 0)) {
        *mod += b;
        div -= 1;
    }
    if (div == 0)
        return copysignf(0.0F, a / b);
    const float whole = floorf(div);
    return div - whole > 0.5F ? whole + 1 : whole;
}

static float floordiv_f32(float a, float b, uint32_t *warnings)
{
    float mod;
    return divmod_f32(a, b, &mod);
}

static float remainder_f32(float a, float b, uint32_t *warnings)
{
    float mod;
    divmod_f32(a, b, &mod);
    return mod;
}

static double floordiv_f64(double a, double b, uint32_t *warnings)
{
    double mod;
    return divmod_f64(a, b, &mod);
}

static double remainder_f64(double a, double b, uint32_t *warnings)
{
    double mod;
    divmod_f64(a, b, &mod);
    return mod;
}

static uint64_t floordiv_u64(uint64_t a, uint64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    return b ? a / b : 0;
}

static uint64_t remainder_u64(uint64_t a, uint64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    return b ? a % b : 0;
}

static int64_t remainder_i64(int64_t a, int64_t b, uint32_t *warnings)
{
    *warnings |= b ? 0 : RD_WARN_INT_DIVIDE;
    if (b == 0 || b == -1) /* INT64_MIN % -1 traps */
        return 0;
    const int64_t rest = a % b;
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t floordiv_i64(int64_t a, int64_t b, uint32_t *warnings)
{
    if (b == -1) /* INT64_MIN / -1 wraps */
        return (int64_t)(0 - (uint64_t)a);
    const int64_t rest = remainder_i64(a, b, warnings);
    return b ? a / b - (rest && a % b != rest) : 0;
}

static uint64_t pow_u64(uint64_t base, uint64_t exponent, uint32_t *warnings)
{
    uint64_t power = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            power *= base;
    return power;
}

static int64_t pow_i64(int64_t base, int64_t exponent, uint32_t *warnings)
{
    if (exponent >= 0)
        return (int64_t)pow_u64((uint64_t)base, (uint64_t)exponent, warnings);
    *warnings |= base ? 0 : RD_WARN_INT_DIVIDE;
    if (base == -1)
        return exponent % 2 ? -1 : 1;
    return base == 1;
}

/* ---- The rows ---------------------------------------------------------------------------------------------- */
#define WITH_WARNINGS_floordiv(a, b)  JOIN(floordiv, CLASS)(a, b, warnings)
#define WITH_WARNINGS_remainder(a, b) JOIN(remainder, CLASS)(a, b, warnings)
#define WITH_WARNINGS_pow(a, b)       JOIN(pow, CLASS)(a, b, warnings)
#define RD_U(a)                       ((uint64_t)(a))

/* Which rules have float code, and which int code. */
#define FLOAT_ARITH(make, row)   make row
#define FLOAT_SAME(make, row)    make row
#define FLOAT_FLOAT(make, row)   make row
#define FLOAT_ROUND(make, row)   make row
#define FLOAT_COMPARE(make, row) make row
#define FLOAT_TEST(make, row)    make row
#define FLOAT_LOGIC(make, row)
#define INT_ARITH(make, row) make row
#define INT_SAME(make, row)  make row
#define INT_FLOAT(make, row)
#define INT_ROUND(make, row)   make row
#define INT_COMPARE(make, row) make row
#define INT_TEST(make, row)    make row
#define INT_LOGIC(make, row)   make row

#define CLASS                                f32
#define T                                    float
#define RD_F(name)                           name##f
#define PICK(rule, make, float_row, int_row) FLOAT_##rule(make, float_row)
#include "kernels/cpu/ops_class.h"

#define CLASS                                f64
#define T                                    double
#define RD_F(name)                           name
#define PICK(rule, make, float_row, int_row) FLOAT_##rule(make, float_row)
#include "kernels/cpu/ops_class.h"

#define CLASS                                i64
#define T                                    int64_t
#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#include "kernels/cpu/ops_class.h"

#define CLASS                                u64
#define T                                    uint64_t
#define PICK(rule, make, float_row, int_row) INT_##rule(make, int_row)
#include "kernels/cpu/ops_class.h"

rd_op_fn *rd_op_code(rd_op op, rd_class class)
{
    static rd_op_fn *const *const tables[RD_N_CLASS] = {
        [RD_CLASS_f32] = table_f32, [RD_CLASS_f64] = table_f64, [RD_CLASS_i64] = table_i64, [RD_CLASS_u64] = table_u64
    };
    return tables[class][op];
}

bool rd_op_narrow(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_BOOL || (rd_dtype_kind(type) != RD_KIND_FLOAT && rd_dtype_size(type) < 8);
}

rd_word rd_op_wrap(rd_word value, rd_dtype type)
{
    char memory[8];
    if (rd_dtype_kind(type) == RD_KIND_BOOL)
        return (rd_word){ .u64 = value.u64 != 0 };
    rd_word_store(memory, type, value);
    return rd_word_load(memory, type);
}
