/* value_ranges.c - interval arithmetic of whole numbers. */
#include "core/value_ranges.h"

/* Nothing is known: any value of any type. */
static const rd_range unknown;

/* The lesser of two ints. */
static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The greater of two ints. */
static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- Types ----------------------------------------------------------------------------------- */
/* The range of all values of an int type of up to 32 bits; unknown for other types. */
rd_range rd_range_of_type(rd_dtype type)
{
    switch (type) {
    case RD_BOOL: return rd_range_from(0, 1);
    case RD_I8: return rd_range_from(INT8_MIN, INT8_MAX);
    case RD_I16: return rd_range_from(INT16_MIN, INT16_MAX);
    case RD_I32: return rd_range_from(INT32_MIN, INT32_MAX);
    case RD_U8: return rd_range_from(0, UINT8_MAX);
    case RD_U16: return rd_range_from(0, UINT16_MAX);
    case RD_U32: return rd_range_from(0, UINT32_MAX);
    default: return unknown;
    }
}

/* True if an int type holds all values of a known range.  Of 64-bit types i64 holds any known
 * range, u64 one from 0 on. */
bool rd_range_fits(rd_range x, rd_dtype type)
{
    const rd_range all = rd_range_of_type(type);

    if (!x.known || rd_dtype_kind(type) == RD_KIND_FLOAT)
        return false;
    if (rd_dtype_size(type) == 8)
        return type == RD_I64 || x.low >= 0;
    return x.low >= all.low && x.high <= all.high;
}

/* The greatest n such that the float type holds all ints up to n. */
static int64_t most_of_float(rd_dtype type)
{
    return type == RD_F64 ? INT64_C(1) << 53 : type == RD_F32 ? INT64_C(1) << 24 : 0;
}

/* The range after a cast: the same if the type holds each value exactly.  Else all values of an int
 * type, which wraps, and unknown for a float type. */
rd_range rd_range_cast(rd_range x, rd_dtype type)
{
    const int64_t most = most_of_float(type);

    if (rd_dtype_kind(type) == RD_KIND_FLOAT)
        return x.known && x.low >= -most && x.high <= most ? x : unknown;
    return rd_range_fits(x, type) ? x : rd_range_of_type(type);
}

/* ---- Operators ------------------------------------------------------------------------------- */
/* The range of a value that is one of two. */
rd_range rd_range_either(rd_range x, rd_range y)
{
    if (!x.known || !y.known)
        return unknown;
    return rd_range_from(lesser(x.low, y.low), greater(x.high, y.high));
}

/* Returns the range [low, high] of sums of two values: from the sum of both lows to that of both
 * highs; unknown if one overflows 64 bits. */
static rd_range sum(rd_range x, rd_range y)
{
    rd_range z = { .known = x.known && y.known };

    if (!z.known || __builtin_add_overflow(x.low, y.low, &z.low) ||
        __builtin_add_overflow(x.high, y.high, &z.high))
        return unknown;
    return z;
}

/* The range of negated values; unknown if the least int may be among them. */
static rd_range negative(rd_range x)
{
    return x.known && x.low > INT64_MIN ? rd_range_from(-x.high, -x.low) : unknown;
}

/* Returns the range of products of two values: its ends are among the four products of the
 * ranges' ends. Unknown if one of them overflows 64 bits. */
static rd_range product(rd_range x, rd_range y)
{
    const int64_t a[2] = { x.low, x.high }, b[2] = { y.low, y.high };
    rd_range      z = { INT64_MAX, INT64_MIN, x.known && y.known };

    for (int i = 0; i < 4 && z.known; i++) {
        int64_t at;

        if (__builtin_mul_overflow(a[i / 2], b[i % 2], &at))
            return unknown;
        z = rd_range_from(lesser(z.low, at), greater(z.high, at));
    }
    return z;
}

/* The range of the sum of 0 to n values, each in range x. */
rd_range rd_range_times(rd_range x, int64_t n)
{
    return product(rd_range_either(x, rd_range_from(0, 0)), rd_range_from(n, n));
}

/* The range of absolute values; unknown if the least int may be among them. */
static rd_range absolute(rd_range x)
{
    if (!x.known || x.low == INT64_MIN)
        return unknown;
    return rd_range_from(x.low > 0 ? x.low : x.high < 0 ? -x.high : 0, greater(-x.low, x.high));
}

/* The range of squares, by absolute values, because both factors are the same number: [-2, 3] gives
 * [0, 9], not [-6, 9]. */
static rd_range square(rd_range x)
{
    const rd_range size = absolute(x);

    return product(size, size);
}

/* The range of the lesser (least) or the greater of two values. */
static rd_range extreme(rd_range x, rd_range y, bool least)
{
    if (!x.known || !y.known)
        return unknown;
    return least ? rd_range_from(lesser(x.low, y.low), lesser(x.high, y.high))
                 : rd_range_from(greater(x.low, y.low), greater(x.high, y.high));
}

/* The range of remainders by a divisor above 0, under any rule of signs: smaller than the divisor,
 * and from 0 on if the dividend is. */
static rd_range remainder_range(rd_range x, rd_range y)
{
    if (!y.known || y.low <= 0)
        return unknown;
    if (x.known && x.low >= 0)
        return rd_range_from(0, lesser(x.high, y.high - 1));
    return rd_range_from(1 - y.high, y.high - 1);
}

/* Returns the range of x & y. An operand of at least 0 has sign bit 0, so the result has, too,
 * and it is no greater than that operand. a, b: the operand is known to be at least 0. */
static rd_range common_bits(rd_range x, rd_range y)
{
    const bool a = x.known && x.low >= 0, b = y.known && y.low >= 0;

    if (!a && !b)
        return unknown;
    return rd_range_from(0, a && b ? lesser(x.high, y.high) : a ? x.high : y.high);
}

/* Returns the range of x | y and x ^ y for values from 0 on: no bit is set above the highest one
 * of both, so the range ends with all ones up to there. */
static rd_range all_bits(rd_range x, rd_range y)
{
    uint64_t bits;

    if (!x.known || !y.known || x.low < 0 || y.low < 0)
        return unknown;
    bits = (uint64_t)(x.high | y.high);
    for (int k = 1; k < 64; k *= 2)
        bits |= bits >> k;
    return rd_range_from(0, (int64_t)bits);
}

/* Returns the range of shifts x << y or x >> y by a known y of 0 to 32 bits. To the left it is a
 * product with a power of 2; to the right only values from 0 on are known. Unknown otherwise.
 * y.low is that number. */
static rd_range shifted(rd_range x, rd_range y, bool left)
{
    enum { MOST = 32 };

    if (!x.known || !y.known || y.low != y.high || y.low < 0 || y.low > MOST)
        return unknown;
    if (left)
        return product(x, rd_range_from(INT64_C(1) << y.low, INT64_C(1) << y.low));
    return x.low >= 0 ? rd_range_from(x.low >> y.low, x.high >> y.low) : unknown;
}

/* Returns the range [low, high] that an operator's results have if nothing wraps, for operands
 * in ranges x; unknown for other operators. */
static rd_range without_wrap(rd_op op, const rd_range *x)
{
    switch (op) {
    case RD_OP_neg: return negative(x[0]);
    case RD_OP_abs: return absolute(x[0]);
    case RD_OP_sign: return rd_range_from(-1, 1);
    case RD_OP_square: return square(x[0]);
    case RD_OP_floor:
    case RD_OP_ceil:
    case RD_OP_round:
    case RD_OP_trunc: return x[0];
    case RD_OP_add: return sum(x[0], x[1]);
    case RD_OP_sub: return sum(x[0], negative(x[1]));
    case RD_OP_mul: return product(x[0], x[1]);
    case RD_OP_remainder: return remainder_range(x[0], x[1]);
    case RD_OP_minimum:
    case RD_OP_fmin: return extreme(x[0], x[1], /*least=*/true);
    case RD_OP_maximum:
    case RD_OP_fmax: return extreme(x[0], x[1], /*least=*/false);
    case RD_OP_bit_and: return common_bits(x[0], x[1]);
    case RD_OP_bit_or:
    case RD_OP_bit_xor: return all_bits(x[0], x[1]);
    case RD_OP_shift_left: return shifted(x[0], x[1], /*left=*/true);
    case RD_OP_shift_right: return shifted(x[0], x[1], /*left=*/false);
    default: return unknown;
    }
}

/* The range of an operator's results in an int type, for operands in ranges x; all values of the
 * type where it may wrap. */
rd_range rd_range_of_op(rd_op op, rd_dtype type, const rd_range *x)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT ? unknown
                                                : rd_range_cast(without_wrap(op, x), type);
}
