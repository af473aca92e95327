/* oracle_map.c - operators and the user's functions on single values. */
#include "digamma.h"
#include "oracle.h"
#include <stdalign.h>
#include <string.h>

typedef long double fn1(long double);
typedef long double fn2(long double, long double);

enum { FUNCTION_ULPS = 4 };

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

static bool fits(rd_dtype type, long double v)
{
    return oracle_round(type, v) == v;
}

static bool same(long double a, long double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* May the value be 0 although it is not, or have the other sign? */
static bool straddles_zero(oracle_value a)
{
    return a.err > 0 && fabsl(a.v) <= a.err;
}

/* ---- Spread: how far f moves when its operands move within their bounds ---------------------- */

/* c[0] is the value, the others are taken at the corners of the operands' intervals, where
 * functions monotone in each operand have their extremes. */
static oracle_value from_corners(rd_dtype type, const long double *c, int n, int ulps)
{
    long double spread = 0;

    for (int i = 1; i < n; i++) {
        if (same(c[i], c[0]))
            continue;
        if (!isfinite(c[i]) || !isfinite(c[0]))
            return oracle_unsure(type);
        spread = fmaxl(spread, fabsl(c[i] - c[0]));
    }
    return oracle_real(type, c[0], spread, ulps);
}

/* What a function of 4 ulp may add: nothing at 0 and the infinities, where each has a value to be
 * met exactly. */
static int function_ulps(oracle_value a)
{
    return a.err == 0 && (a.v == 0 || isinf(a.v)) ? 0 : FUNCTION_ULPS;
}

static oracle_value monotone1(rd_dtype type, fn1 *f, oracle_value a, int ulps)
{
    const long double c[3] = { f(a.v), f(a.v - a.err), f(a.v + a.err) };

    return from_corners(type, c, a.err > 0 ? 3 : 1, ulps);
}

static oracle_value monotone2(rd_dtype type, fn2 *f, oracle_value a, oracle_value b, int ulps)
{
    const long double c[5] = { f(a.v, b.v), f(a.v - a.err, b.v - b.err),
                               f(a.v - a.err, b.v + b.err), f(a.v + a.err, b.v - b.err),
                               f(a.v + a.err, b.v + b.err) };

    return from_corners(type, c, a.err > 0 || b.err > 0 ? 5 : 1, ulps);
}

/* Steps such as floor: one value all over the interval, or unsure. */
static oracle_value step1(rd_dtype type, fn1 *f, oracle_value a)
{
    if (!same(f(a.v - a.err), f(a.v)) || !same(f(a.v + a.err), f(a.v)))
        return oracle_unsure(type);
    /* 0 may come with either sign if a is not exact */
    return oracle_real(type, f(a.v), a.err > 0 && f(a.v) == 0 ? oracle_float_of(type).tiny : 0, 0);
}

/* ---- Arithmetic; exact results stay exact, so that sums of small ints compare by == ------- */

static long double add_(long double a, long double b)
{
    return a + b;
}

static long double mul_(long double a, long double b)
{
    return a * b;
}

static long double div_(long double a, long double b)
{
    return a / b;
}

static bool add_is_exact(oracle_value a, oracle_value b)
{
    const long double s = a.v + b.v, t = s - a.v; /* Knuth's two-sum */

    return a.err == 0 && b.err == 0 && isfinite(s) && (a.v - (s - t)) + (b.v - t) == 0;
}

oracle_value oracle_add(rd_dtype type, oracle_value a, oracle_value b)
{
    const bool exact = add_is_exact(a, b) && fits(type, a.v + b.v);

    return monotone2(type, add_, a, b, exact ? 0 : 1);
}

oracle_value oracle_mul(rd_dtype type, oracle_value a, oracle_value b)
{
    const long double v = a.v * b.v, max = oracle_float_of(type).max;
    const bool        exact =
        a.err == 0 && b.err == 0 && isfinite(v) && fits(type, v) && fmal(a.v, b.v, -v) == 0;

    /* Contracted with an addition, a product too large for the type may come back into range, or
     * meet an infinity as a number and not as another one. */
    if (isfinite(a.v) && isfinite(b.v) && fabsl(v) > max)
        return oracle_unsure(type);
    return monotone2(type, mul_, a, b, exact ? 0 : 1);
}

static oracle_value div_value(rd_dtype type, oracle_value a, oracle_value b)
{
    const long double v = a.v / b.v;
    const bool        exact =
        a.err == 0 && b.err == 0 && isfinite(v) && fits(type, v) && fmal(v, b.v, -a.v) == 0;

    if (straddles_zero(b))
        return oracle_unsure(type);
    return monotone2(type, div_, a, b, exact ? 0 : 1);
}

static oracle_value negated(oracle_value a)
{
    a.v = -a.v;
    return a;
}

static oracle_value sqrt_value(rd_dtype type, oracle_value a)
{
    const long double v = sqrtl(a.v);

    return monotone1(type, sqrtl, a, a.err == 0 && fits(type, v) && fmal(v, v, -a.v) == 0 ? 0 : 1);
}

/* ---- Functions that need care where their operands are not exact ----------------------------- */

static oracle_value sign_value(rd_dtype type, oracle_value a)
{
    if (straddles_zero(a))
        return oracle_unsure(type);
    return oracle_real(type, a.v > 0 ? 1 : a.v < 0 ? -1 : a.v, 0, 0);
}

static oracle_value wave(rd_dtype type, fn1 *f, oracle_value a)
{
    return oracle_real(type, f(a.v), fminl(a.err, 2), function_ulps(a)); /* slope at most 1 */
}

static oracle_value tan_value(rd_dtype type, oracle_value a)
{
    if (a.err > 0.5L || (a.err > 0 && cosl(a.v - a.err) * cosl(a.v + a.err) <= 0))
        return oracle_unsure(type);
    return monotone1(type, tanl, a, function_ulps(a));
}

static oracle_value pow_value(rd_dtype type, oracle_value a, oracle_value b)
{
    const bool vague_base = a.err > 0 && a.v - a.err <= 0;

    if (vague_base || (a.v <= 0 && b.err > 0))
        return oracle_unsure(type);
    return monotone2(type, powl, a, b, FUNCTION_ULPS);
}

static oracle_value atan2_value(rd_dtype type, oracle_value y, oracle_value x)
{
    if (straddles_zero(y) && x.v - x.err <= 0) /* across the cut */
        return oracle_unsure(type);
    if (straddles_zero(x) && y.v == 0)
        return oracle_unsure(type);
    return monotone2(type, atan2l, y, x, FUNCTION_ULPS);
}

static oracle_value hypot_value(rd_dtype type, oracle_value a, oracle_value b)
{
    return oracle_real(type, hypotl(a.v, b.v), a.err + b.err, FUNCTION_ULPS);
}

/* Python's floor division and remainder, as numpy computes them in npy_divmod. */
static long double divmod(long double a, long double b, long double *mod)
{
    long double div;

    *mod = fmodl(a, b);
    if (b == 0)
        return a / b;
    div = (a - *mod) / b;
    if (*mod != 0) {
        if ((b < 0) != (*mod < 0)) {
            *mod += b;
            div -= 1;
        }
    } else
        *mod = copysignl(0, b);
    return div != 0 ? rintl(div) : copysignl(0, a / b);
}

static long double floordiv(long double a, long double b)
{
    long double mod;

    return divmod(a, b, &mod);
}

static long double remainder_(long double a, long double b)
{
    long double mod;

    divmod(a, b, &mod);
    return mod;
}

static long double trunc_quotient(long double a, long double b)
{
    return truncl((a - fmodl(a, b)) / b);
}

/* Is the step function `quotient` the same all over the operands' intervals? */
static bool same_quotient(fn2 *quotient, oracle_value a, oracle_value b)
{
    const long double q = quotient(a.v, b.v);

    if (a.err == 0 && b.err == 0)
        return true;
    if (straddles_zero(b) || (a.v == 0 && a.err > 0))
        return false;
    for (int corner = 0; corner < 4; corner++) {
        const long double s = corner & 1 ? 1 : -1, t = corner & 2 ? 1 : -1;

        if (!same(quotient(a.v + s * a.err, b.v + t * b.err), q))
            return false;
    }
    return true;
}

static oracle_value floordiv_value(rd_dtype type, oracle_value a, oracle_value b)
{
    const long double q = floordiv(a.v, b.v);

    if (!same_quotient(floordiv, a, b))
        return oracle_unsure(type);
    /* beyond the type's integers the quotient is rounded, on the way more than once */
    return oracle_real(type, q, 0, fabsl(q) < 0.125L / oracle_float_of(type).u ? 0 : 4);
}

static oracle_value remainder_value(rd_dtype type, fn2 *quotient, fn2 *f, oracle_value a,
                                    oracle_value b)
{
    if (!same_quotient(quotient, a, b))
        return oracle_unsure(type);
    return monotone2(type, f, a, b, a.err == 0 && b.err == 0 && fits(type, f(a.v, b.v)) ? 0 : 1);
}

static long double least(long double a, long double b)
{
    return isnan(a) || isnan(b) ? (long double)NAN : fminl(a, b);
}

static long double greatest(long double a, long double b)
{
    return isnan(a) || isnan(b) ? (long double)NAN : fmaxl(a, b);
}

static oracle_value extreme_value(rd_dtype type, fn2 *f, oracle_value a, oracle_value b)
{
    oracle_value y = monotone2(type, f, a, b, 0);

    if (a.v == 0 && b.v == 0 && !signbit(a.v) != !signbit(b.v)) /* which zero is not promised */
        y.err = fmaxl(y.err, oracle_float_of(type).tiny);
    return y;
}

static long double exp10_(long double x)
{
    return powl(10, x);
}

static long double sigmoid_(long double x)
{
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static long double softplus_(long double x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static long double ndtr_(long double x)
{
    return erfcl(x * -0.70710678118654752440L) / 2;
}

/* Neither rises everywhere: their slope is between -0.2 and 1.2. */
static oracle_value gated(rd_dtype type, oracle_value a, bool normal)
{
    const long double share = normal ? erfcl(a.v * -0.70710678118654752440L) / 2 : sigmoid_(a.v);

    return oracle_real(type, isinf(a.v) && a.v < 0 ? -0.0L : a.v * share, 2 * a.err,
                       function_ulps(a));
}

/* No type has what it comes to at the infinities. */
static oracle_value atan_value(rd_dtype type, oracle_value a)
{
    return monotone1(type, atanl, a, isinf(a.v) ? FUNCTION_ULPS : function_ulps(a));
}

static oracle_value cosh_value(rd_dtype type, oracle_value a)
{
    if (straddles_zero(a))
        return oracle_unsure(type);
    return monotone1(type, coshl, a, FUNCTION_ULPS);
}

/* Of what is not exact nothing is said where it may be at a pole, or at a least value. */
static oracle_value gamma_value(rd_dtype type, fn1 *f, oracle_value a)
{
    if (a.v - a.err <= 2 && (a.err > 0 || a.v <= 0))
        return oracle_unsure(type);
    return monotone1(type, f, a, 8);
}

/* It ascends from its pole at 0 on. */
static oracle_value digamma_value(rd_dtype type, oracle_value a)
{
    if (a.v - a.err <= 0)
        return oracle_unsure(type);
    return monotone1(type, digammal_, a, 8);
}

static oracle_value reciprocal_value(rd_dtype type, oracle_value a)
{
    return div_value(type, oracle_real(type, 1, 0, 0), a);
}

static oracle_value copysign_value(rd_dtype type, oracle_value a, oracle_value b)
{
    if (straddles_zero(b) || isnan(b.v))
        return oracle_unsure(type);
    return oracle_real(type, copysignl(a.v, b.v), a.err, 0);
}

static oracle_value heaviside_value(rd_dtype type, oracle_value a, oracle_value b)
{
    if (straddles_zero(a))
        return oracle_unsure(type);
    return a.v == 0 ? b : oracle_real(type, a.v > 0 ? 1 : a.v < 0 ? 0 : a.v, 0, 0);
}

/* ---- Operators by kind of operand ------------------------------------------------------------ */

static oracle_value float_op(rd_op op, rd_dtype type, oracle_value a, oracle_value b)
{
    switch (op) {
    case RD_OP_neg: return negated(a);
    case RD_OP_abs: a.v = fabsl(a.v); return a;
    case RD_OP_sign: return sign_value(type, a);
    case RD_OP_square: return oracle_mul(type, a, a);
    case RD_OP_sqrt: return sqrt_value(type, a);
    case RD_OP_exp: return monotone1(type, expl, a, function_ulps(a));
    case RD_OP_expm1: return monotone1(type, expm1l, a, function_ulps(a));
    case RD_OP_log: return monotone1(type, logl, a, function_ulps(a));
    case RD_OP_log1p: return monotone1(type, log1pl, a, function_ulps(a));
    case RD_OP_log2: return monotone1(type, log2l, a, function_ulps(a));
    case RD_OP_sin: return wave(type, sinl, a);
    case RD_OP_cos: return wave(type, cosl, a);
    case RD_OP_tan: return tan_value(type, a);
    case RD_OP_tanh: return monotone1(type, tanhl, a, function_ulps(a));
    case RD_OP_erf: return monotone1(type, erfl, a, function_ulps(a));
    case RD_OP_asin: return monotone1(type, asinl, a, function_ulps(a));
    case RD_OP_acos: return monotone1(type, acosl, a, FUNCTION_ULPS);
    case RD_OP_atan: return atan_value(type, a);
    case RD_OP_sinh: return monotone1(type, sinhl, a, function_ulps(a));
    case RD_OP_asinh: return monotone1(type, asinhl, a, function_ulps(a));
    case RD_OP_acosh: return monotone1(type, acoshl, a, FUNCTION_ULPS);
    case RD_OP_atanh: return monotone1(type, atanhl, a, function_ulps(a));
    case RD_OP_exp2: return monotone1(type, exp2l, a, FUNCTION_ULPS);
    case RD_OP_exp10: return monotone1(type, exp10_, a, FUNCTION_ULPS);
    case RD_OP_log10: return monotone1(type, log10l, a, FUNCTION_ULPS);
    case RD_OP_cbrt: return monotone1(type, cbrtl, a, function_ulps(a));
    case RD_OP_erfc: return monotone1(type, erfcl, a, FUNCTION_ULPS);
    case RD_OP_sigmoid: return monotone1(type, sigmoid_, a, FUNCTION_ULPS);
    case RD_OP_softplus: return monotone1(type, softplus_, a, FUNCTION_ULPS);
    case RD_OP_cosh: return cosh_value(type, a);
    case RD_OP_tgamma: return gamma_value(type, tgammal, a);
    case RD_OP_lgamma: return gamma_value(type, lgammal, a);
    case RD_OP_digamma: return digamma_value(type, a);
    case RD_OP_ndtr: return monotone1(type, ndtr_, a, FUNCTION_ULPS);
    case RD_OP_silu: return gated(type, a, false);
    case RD_OP_gelu: return gated(type, a, true);
    case RD_OP_reciprocal: return reciprocal_value(type, a);
    case RD_OP_copysign: return copysign_value(type, a, b);
    case RD_OP_heaviside: return heaviside_value(type, a, b);
    case RD_OP_fmin: return extreme_value(type, fminl, a, b);
    case RD_OP_fmax: return extreme_value(type, fmaxl, a, b);
    case RD_OP_floor: return step1(type, floorl, a);
    case RD_OP_ceil: return step1(type, ceill, a);
    case RD_OP_round: return step1(type, rintl, a);
    case RD_OP_trunc: return step1(type, truncl, a);
    case RD_OP_add: return oracle_add(type, a, b);
    case RD_OP_sub: return oracle_add(type, a, negated(b));
    case RD_OP_mul: return oracle_mul(type, a, b);
    case RD_OP_div: return div_value(type, a, b);
    case RD_OP_floordiv: return floordiv_value(type, a, b);
    case RD_OP_remainder: return remainder_value(type, floordiv, remainder_, a, b);
    case RD_OP_pow:
    case RD_OP_pow_half: return pow_value(type, a, b);
    case RD_OP_atan2: return atan2_value(type, a, b);
    case RD_OP_hypot: return hypot_value(type, a, b);
    case RD_OP_fmod: return remainder_value(type, trunc_quotient, fmodl, a, b);
    case RD_OP_minimum: return extreme_value(type, least, a, b);
    case RD_OP_maximum: return extreme_value(type, greatest, a, b);
    default: return oracle_unsure(type);
    }
}

static __int128 int_floordiv(__int128 a, __int128 b)
{
    if (b == 0)
        return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Exponents below 0: the true quotient 1 / a^-b, truncated; of 0, as any division by 0, is 0. */
static __int128 int_pow(__int128 a, __int128 b)
{
    unsigned __int128 y = 1, square = (unsigned __int128)a;

    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (; b > 0; b /= 2, square *= square)
        if (b % 2)
            y *= square;
    return (__int128)y;
}

static __int128 int_gcd(__int128 a, __int128 b)
{
    while (b != 0) {
        const __int128 rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static __int128 int_lcm(__int128 a, __int128 b)
{
    const __int128 y = a == 0 ? 0 : a / int_gcd(a, b) * b;

    return y < 0 ? -y : y;
}

/* By n bits, to the left if n > 0: what comes to an int of 64 bits at most. */
static __int128 int_shift(__int128 a, __int128 n)
{
    return n >= 64 ? 0 : n >= 0 ? (__int128)((unsigned __int128)a << n) : a >> (n < -64 ? 64 : -n);
}

static int int_bits(__int128 a)
{
    int n = 0;

    for (int k = 0; k < 64; k++)
        n += (int)(a >> k & 1);
    return n;
}

/* Philox 4x32-10 as its paper has it: word `index` of 64 bits of the stream of a key. */
static __int128 int_philox(uint64_t index, uint64_t key)
{
    uint32_t x[4] = { (uint32_t)(index / 2), (uint32_t)(index / 2 >> 32), 0, 0 };
    uint32_t k[2] = { (uint32_t)key, (uint32_t)(key >> 32) };

    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)x[0] * 0xD2511F53U, q = (uint64_t)x[2] * 0xCD9E8D57U;

        x[0] = (uint32_t)(q >> 32) ^ x[1] ^ k[0];
        x[1] = (uint32_t)q;
        x[2] = (uint32_t)(p >> 32) ^ x[3] ^ k[1];
        x[3] = (uint32_t)p;
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
    }
    return (__int128)((uint64_t)x[index % 2 * 2 + 1] << 32 | x[index % 2 * 2]);
}

static oracle_value int_op(rd_op op, rd_dtype type, __int128 a, __int128 b)
{
    switch (op) {
    case RD_OP_neg: return oracle_int(type, -a);
    case RD_OP_abs: return oracle_int(type, a < 0 ? -a : a);
    case RD_OP_sign: return oracle_int(type, (a > 0) - (a < 0));
    case RD_OP_square:
        return oracle_int(type, (__int128)((unsigned __int128)a * (unsigned __int128)a));
    case RD_OP_floor:
    case RD_OP_ceil:
    case RD_OP_round:
    case RD_OP_trunc: return oracle_int(type, a);
    case RD_OP_not: return oracle_int(type, !a);
    case RD_OP_add: return oracle_int(type, a + b);
    case RD_OP_sub: return oracle_int(type, a - b);
    case RD_OP_mul:
        return oracle_int(type, (__int128)((unsigned __int128)a * (unsigned __int128)b));
    case RD_OP_floordiv: return oracle_int(type, int_floordiv(a, b));
    case RD_OP_remainder: return oracle_int(type, b == 0 ? 0 : a - int_floordiv(a, b) * b);
    case RD_OP_pow: return oracle_int(type, int_pow(a, b));
    case RD_OP_fmin:
    case RD_OP_minimum: return oracle_int(type, a < b ? a : b);
    case RD_OP_fmax:
    case RD_OP_maximum: return oracle_int(type, a > b ? a : b);
    case RD_OP_and: return oracle_int(type, a && b);
    case RD_OP_bit_and: return oracle_int(type, a & b);
    case RD_OP_bit_or: return oracle_int(type, a | b);
    case RD_OP_bit_xor: return oracle_int(type, a ^ b);
    case RD_OP_bit_not: return oracle_int(type, ~a);
    case RD_OP_shift_left: return oracle_int(type, int_shift(a, b < 0 ? 64 : b));
    case RD_OP_shift_right: return oracle_int(type, int_shift(a, b < 0 || b > 64 ? -64 : -b));
    case RD_OP_popcount: return oracle_int(type, int_bits(a));
    case RD_OP_gcd: return oracle_int(type, int_gcd(a, b));
    case RD_OP_lcm: return oracle_int(type, int_lcm(a, b));
    case RD_OP_philox: return oracle_int(type, int_philox((uint64_t)a, (uint64_t)b));
    case RD_OP_or: return oracle_int(type, a || b);
    case RD_OP_xor: return oracle_int(type, !a != !b);
    default: return oracle_unsure(type);
    }
}

static oracle_value boolean(bool truth)
{
    return oracle_int(RD_BOOL, truth);
}

/* -1, 0, 1 as a is less than, equal to, greater than b; 2 unordered; 3 not to be told. */
static int compare(oracle_value a, oracle_value b)
{
    if (!is_float(a.type))
        return (a.n > b.n) - (a.n < b.n);
    if (isnan(a.v) || isnan(b.v))
        return 2;
    if (isfinite(a.v) && isfinite(b.v) && a.err + b.err > 0 && fabsl(a.v - b.v) <= a.err + b.err)
        return 3;
    return (a.v > b.v) - (a.v < b.v);
}

static oracle_value test_op(rd_op op, oracle_value a, oracle_value b)
{
    int order;

    if (op == RD_OP_isnan)
        return boolean(is_float(a.type) && isnan(a.v));
    if (op == RD_OP_isfinite)
        return boolean(!is_float(a.type) || isfinite(a.v));
    if (op == RD_OP_isinf)
        return boolean(is_float(a.type) && isinf(a.v));
    if (op == RD_OP_signbit && is_float(a.type))
        return straddles_zero(a) || isnan(a.v) ? oracle_unsure(RD_BOOL) : boolean(signbit(a.v));
    if (op == RD_OP_signbit)
        return boolean(a.n < 0);
    order = compare(a, b);
    if (order == 3)
        return oracle_unsure(RD_BOOL);
    switch (op) {
    case RD_OP_eq: return boolean(order == 0);
    case RD_OP_ne: return boolean(order != 0);
    case RD_OP_lt: return boolean(order == -1);
    case RD_OP_le: return boolean(order == -1 || order == 0);
    case RD_OP_gt: return boolean(order == 1);
    case RD_OP_ge: return boolean(order == 1 || order == 0);
    default: return oracle_unsure(RD_BOOL);
    }
}

/* Truncated, cut to 64 bits of the type's signedness (NaN: 0), then wrapped by the caller. */
static __int128 cut(rd_dtype type, long double v)
{
    const bool     is_unsigned = type >= RD_U8 && type <= RD_U64;
    const __int128 lo          = is_unsigned ? 0 : INT64_MIN,
                   hi          = is_unsigned ? (__int128)UINT64_MAX : INT64_MAX;

    if (isnan(v))
        return 0;
    return v <= (long double)lo ? lo : v >= (long double)hi ? hi : (__int128)v;
}

static oracle_value cast(rd_dtype type, oracle_value a)
{
    if (!is_float(a.type) && !is_float(type))
        return oracle_int(type, a.n);
    if (!is_float(a.type))
        return oracle_real(type, (long double)a.n, 0, fits(type, (long double)a.n) ? 0 : 1);
    if (is_float(type))
        return oracle_real(type, a.v, a.err,
                           fits(type, a.v) && a.err == 0 ? 0 : !rd_dtype_safe(a.type, type));
    if (type == RD_BOOL)
        return straddles_zero(a) ? oracle_unsure(type) : boolean(a.v != 0);
    if (cut(type, a.v - a.err) != cut(type, a.v + a.err))
        return oracle_unsure(type);
    return oracle_int(type, cut(type, a.v));
}

oracle_value oracle_map(const rd_expr *x, const oracle_value *in)
{
    const oracle_value a = in[0], b = in[x->n_in > 1];
    oracle_value       y;

    if (x->op == RD_OP_where) {
        y = a.n ? in[1] : in[2];
        y.unsure |= a.unsure;
        return y;
    }
    if (x->op == RD_OP_cast)
        y = cast(x->type, a);
    else if (rd_op_table[x->op].rule == RD_RULE_COMPARE || rd_op_table[x->op].rule == RD_RULE_TEST)
        y = test_op(x->op, a, b);
    else if (is_float(a.type))
        y = float_op(x->op, x->type, a, b);
    else
        y = int_op(x->op, x->type, a.n, b.n);
    y.unsure |= a.unsure || b.unsure;
    return y;
}

/* ---- The user's functions -------------------------------------------------------------------- */

/* One element through the function. */
static oracle_value apply(const rd_expr *x, const oracle_value *in)
{
    const rd_call_facts *call = x->as.call;
    alignas(16) char     cell[8][16], out[16];
    const void          *p[8];
    float                f32[2] = { 0 };
    double               f64[2] = { 0 };

    for (int k = 0; k < x->n_in; k++) {
        oracle_store(cell[k], in[k].type, &in[k]);
        p[k] = cell[k];
        if (k < 2) {
            f32[k] = (float)in[k].v;
            f64[k] = (double)in[k].v;
        }
    }
    if (call->f32_1)
        *(float *)out = call->f32_1(f32[0]);
    else if (call->f32_2)
        *(float *)out = call->f32_2(f32[0], f32[1]);
    else if (call->f64_1)
        *(double *)out = call->f64_1(f64[0]);
    else if (call->f64_2)
        *(double *)out = call->f64_2(f64[0], f64[1]);
    else if (call->block)
        call->block(call->user, 1, p, out);
    else if (x->type == RD_F32)
        call->f32(1, (const float *const *)p, (float *)out);
    else
        call->f64(1, (const double *const *)p, (double *)out);
    return oracle_load(out, x->type);
}

oracle_value oracle_call(const rd_expr *x, const oracle_value *in)
{
    oracle_value y      = apply(x, in), moved[8];
    long double  spread = 0;
    bool         unsure = false;

    for (int k = 0; k < x->n_in; k++)
        unsure |= in[k].unsure;
    for (int k = 0; k < 2 * x->n_in && !unsure; k++) { /* each operand to either end of its bound */
        oracle_value z;

        memcpy(moved, in, (size_t)x->n_in * sizeof *in);
        moved[k / 2].v += k % 2 ? in[k / 2].err : -in[k / 2].err;
        z = apply(x, moved);
        if (!is_float(x->type))
            unsure |= z.n != y.n;
        else if (isfinite(z.v) && isfinite(y.v))
            spread += fabsl(z.v - y.v);
        else
            unsure |= !same(z.v, y.v);
    }
    if (is_float(x->type))
        y = oracle_real(x->type, y.v, spread, FUNCTION_ULPS);
    y.unsure |= unsure;
    return y;
}
