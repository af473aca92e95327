/* oracle_value.c - values with error bounds: memory, rounding, comparison with what was found. */
#include "oracle.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

oracle_float oracle_float_of(rd_dtype type)
{
    switch (type) {
    case RD_F16: return (oracle_float){ 0x1p-11L, 0x1p-24L, 65504 };
    case RD_BF16: return (oracle_float){ 0x1p-8L, 0x1p-133L, 0x1.fep127L };
    case RD_F8: return (oracle_float){ 0x1p-4L, 0x1p-9L, 448 };
    case RD_F32: return (oracle_float){ 0x1p-24L, FLT_TRUE_MIN, FLT_MAX };
    default: return (oracle_float){ 0x1p-53L, DBL_TRUE_MIN, DBL_MAX };
    }
}

/* ---- Halves: 1 sign, then an exponent, then `digits` of a fraction --------------------------- */
static int digits_of(rd_dtype type)
{
    return type == RD_F16 ? 10 : type == RD_F8 ? 3 : 7;
}

/* The bit of the sign. */
static int sign_of(rd_dtype type)
{
    return type == RD_F8 ? 7 : 15;
}

/* The size of a NaN that all have: all ones. */
static int nan_of(rd_dtype type)
{
    return (1 << sign_of(type)) - 1;
}

/* The size of infinity, or of NaN where there is none. */
static int infinity_of(rd_dtype type)
{
    return type == RD_F8 ? nan_of(type) : nan_of(type) >> digits_of(type) << digits_of(type);
}

/* The exponent of the last digit of denormal numbers. */
static int least_exponent(rd_dtype type)
{
    return 1 - ((1 << (sign_of(type) - 1 - digits_of(type))) - 1) - digits_of(type);
}

static long double half_load(uint16_t bits, rd_dtype type)
{
    const int digits = digits_of(type), least = least_exponent(type), size = bits & nan_of(type);
    const int exponent = size >> digits, fraction = size & ((1 << digits) - 1);
    const long double v = size >= infinity_of(type)
                              ? fraction ? (long double)NAN : (long double)INFINITY
                          : exponent ? ldexpl(fraction + (1 << digits), exponent - 1 + least)
                                     : ldexpl(fraction, least);

    return bits >> sign_of(type) ? -v : v;
}

/* Denormal numbers and the smallest normal ones count in the same steps; where a fraction rounds up
 * to the next power of two, the exponent above it goes up, to infinity at the end. */
static uint16_t half_store(long double v, rd_dtype type)
{
    const int digits = digits_of(type), least = least_exponent(type);
    const int sign = signbit(v) ? 1 << sign_of(type) : 0;
    int       exponent, last;

    if (isnan(v))
        return (uint16_t)nan_of(type);
    if (fabsl(v) > oracle_float_of(type).max * (1 + oracle_float_of(type).u))
        return (uint16_t)(sign | infinity_of(type));
    frexpl(v, &exponent);
    last = v != 0 && exponent - digits - 1 > least ? exponent - digits - 1 : least;
    return (uint16_t)(sign | (((last - least) << digits) + (int)rintl(ldexpl(fabsl(v), -last))));
}

long double oracle_round(rd_dtype type, long double v)
{
    switch (type) {
    case RD_F16:
    case RD_BF16:
    case RD_F8: return half_load(half_store(v, type), type);
    case RD_F32: return (float)v;
    default: return (double)v;
    }
}

oracle_value oracle_int(rd_dtype type, __int128 n)
{
    switch (type) {
    case RD_BOOL: n = n != 0; break;
    case RD_I8: n = (int8_t)n; break;
    case RD_I16: n = (int16_t)n; break;
    case RD_I32: n = (int32_t)n; break;
    case RD_I64: n = (int64_t)n; break;
    case RD_U8: n = (uint8_t)n; break;
    case RD_U16: n = (uint16_t)n; break;
    case RD_U32: n = (uint32_t)n; break;
    default: n = (uint64_t)n; break;
    }
    return (oracle_value){ .type = type, .n = n };
}

oracle_value oracle_unsure(rd_dtype type)
{
    return (oracle_value){ .type = type, .unsure = true };
}

oracle_value oracle_real(rd_dtype type, long double v, long double spread, int ulps)
{
    const oracle_float f = oracle_float_of(type);
    oracle_value       y = { .type = type, .v = v };

    if (isinf(v) && type == RD_F8)
        y.v = NAN;
    if (!isfinite(v))
        return y;
    y.err = spread;
    if (ulps)
        y.err += ulps * 2 * f.u * fabsl(v) + f.tiny;
    if (!isfinite(y.err))
        return oracle_unsure(type);
    if (fabsl(v) - y.err > f.max * (1 + f.u))
        return (oracle_value){ .type = type, .v = type == RD_F8 ? NAN : copysignl(INFINITY, v) };
    if (fabsl(v) + y.err > f.max)
        return oracle_unsure(type);
    return y;
}

#define LOAD(T)                  \
    {                            \
        T t;                     \
        memcpy(&t, p, sizeof t); \
        y.n = t;                 \
        break;                   \
    }

oracle_value oracle_load(const void *p, rd_dtype type)
{
    oracle_value y = { .type = type };
    uint16_t     half;
    float        f32;
    double       f64;

    switch (type) {
    case RD_F8: {
        y.v = half_load(*(const uint8_t *)p, type);
        break;
    }
    case RD_F16:
    case RD_BF16:
        memcpy(&half, p, sizeof half);
        y.v = half_load(half, type);
        break;
    case RD_F32:
        memcpy(&f32, p, sizeof f32);
        y.v = f32;
        break;
    case RD_F64:
        memcpy(&f64, p, sizeof f64);
        y.v = f64;
        break;
    case RD_I8: LOAD(int8_t)
    case RD_I16: LOAD(int16_t)
    case RD_I32: LOAD(int32_t)
    case RD_I64: LOAD(int64_t)
    case RD_U16: LOAD(uint16_t)
    case RD_U32: LOAD(uint32_t)
    case RD_U64: LOAD(uint64_t)
    default: LOAD(uint8_t)
    }
    return y;
}

void oracle_store(void *p, rd_dtype type, const oracle_value *x)
{
    const float    f32  = (float)x->v;
    const double   f64  = (double)x->v;
    const uint64_t bits = rd_dtype_is_narrow_float(type) ? half_store(x->v, type) : (uint64_t)x->n;

    if (type == RD_F32)
        memcpy(p, &f32, sizeof f32);
    else if (type == RD_F64)
        memcpy(p, &f64, sizeof f64);
    else /* two's complement, little endian: the low bytes are the narrow number */
        memcpy(p, &bits, (size_t)rd_dtype_size(type));
}

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* v as a decimal; ints up to 64 bits */
static void number_text(const oracle_value *x, char *text, size_t size)
{
    if (is_float(x->type))
        snprintf(text, size, "%.17Lg (%La)", x->v, x->v);
    else if (x->n < 0)
        snprintf(text, size, "%lld", (long long)x->n);
    else
        snprintf(text, size, "%llu", (unsigned long long)x->n);
}

void oracle_text(const oracle_value *x, char text[ORACLE_WHY])
{
    char number[100];

    number_text(x, number, sizeof number);
    if (x->unsure)
        snprintf(text, ORACLE_WHY, "unsure %s", rd_dtype_name(x->type));
    else if (x->err > 0)
        snprintf(text, ORACLE_WHY, "%s +- %.3Lg %s", number, x->err, rd_dtype_name(x->type));
    else
        snprintf(text, ORACLE_WHY, "%s %s", number, rd_dtype_name(x->type));
}

static bool float_matches(const oracle_value *want, const oracle_value *found)
{
    long double v = want->v, err = want->err;

    if (!is_float(want->type)) { /* a wide int is rounded on the way */
        v   = (long double)want->n;
        err = v == found->v ? 0 : oracle_float_of(found->type).u * fabsl(v);
    }
    if (isnan(v) || isnan(found->v))
        return isnan(v) && isnan(found->v);
    if (isinf(v) || isinf(found->v))
        return v == found->v;
    if (want->err == 0 && is_float(want->type))
        return v == found->v && (v != 0 || !signbit(v) == !signbit(found->v));
    return fabsl(found->v - v) <= err;
}

bool oracle_matches(const oracle_value *want, const void *element, rd_dtype type,
                    char why[ORACLE_WHY])
{
    const oracle_value found = oracle_load(element, type);
    char               a[ORACLE_WHY], b[ORACLE_WHY];
    bool               ok;

    if (want->unsure)
        return true;
    if (is_float(type))
        ok = float_matches(want, &found);
    else
        ok = !is_float(want->type) && want->n == found.n;
    if (!ok) {
        oracle_text(want, a);
        oracle_text(&found, b);
        snprintf(why, ORACLE_WHY, "expected %.90s, found %.90s", a, b);
    }
    return ok;
}
