/* check.c - do two results agree; the bits of one. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double from_half(uint16_t h)
{
    const int    top  = h >> 10 & 31;
    const double part = h & 1023, sign = h >> 15 ? -1 : 1;

    if (top == 31)
        return part > 0 ? NAN : sign * INFINITY;
    return sign * (top ? ldexp(1024 + part, top - 25) : ldexp(part, -24));
}

static double from_upper_half(uint16_t b)
{
    const uint32_t bits = (uint32_t)b << 16;
    float          x;

    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

static double element(const void *at, rd_dtype type, int64_t i)
{
    switch (type) {
    case RD_I8: return ((const int8_t *)at)[i];
    case RD_I16: return ((const int16_t *)at)[i];
    case RD_I32: return ((const int32_t *)at)[i];
    case RD_I64: return (double)((const int64_t *)at)[i];
    case RD_U16: return ((const uint16_t *)at)[i];
    case RD_U32: return ((const uint32_t *)at)[i];
    case RD_U64: return (double)((const uint64_t *)at)[i];
    case RD_F16: return from_half(((const uint16_t *)at)[i]);
    case RD_BF16: return from_upper_half(((const uint16_t *)at)[i]);
    case RD_F32: return (double)((const float *)at)[i];
    case RD_F64: return ((const double *)at)[i];
    default: return ((const uint8_t *)at)[i];
    }
}

static bool agree(double a, double b, double tolerance, double eps)
{
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return fabs(a - b) <= tolerance + 4 * eps * fabs(b);
}

/* Indices of what rounding may order otherwise: one of a hundred may be another. */
static int64_t allowed(const node *root, int64_t n)
{
    const bool index = root->kind == N_REDUCE && (root->fold == F_ARGMIN || root->fold == F_ARGMAX);

    return index && !root->exact ? 2 + n / 100 : 0;
}

bool sweep_differs(const node *root, const void *got, const void *want, double slack, char *why,
                   size_t size)
{
    const int64_t n         = sweep_elements(root);
    const double  eps       = sweep_eps(root->type);
    const double  tolerance = eps > 0 ? slack * root->r.err : 0;
    int64_t       wrong     = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = element(got, root->type, i), b = element(want, root->type, i);

        if (agree(a, b, tolerance, eps))
            continue;
        if (wrong++ == 0)
            snprintf(why, size, "element %lld is %.17g, not %.17g (tolerance %.3g)", (long long)i,
                     a, b, tolerance);
    }
    if (wrong > allowed(root, n)) {
        const size_t at = strlen(why);

        snprintf(why + at, size - at, "; %lld of %lld differ", (long long)wrong, (long long)n);
        return true;
    }
    return false;
}

double sweep_total(const node *root, const void *data)
{
    const int64_t n   = sweep_elements(root);
    double        sum = 0;

    for (int64_t i = 0; i < n; i++) {
        const double x = fabs(element(data, root->type, i));

        sum += isnan(x) ? 0 : x;
    }
    return sum;
}

/* Which NaN it is is not promised. */
static uint64_t bits_of(const void *at, rd_dtype type, int64_t i)
{
    const int size = sweep_dtype(type)->size;
    uint64_t  bits = 0;

    if (sweep_dtype(type)->is_float && isnan(element(at, type, i)))
        return 0x7ff8dead;
    memcpy(&bits, (const char *)at + i * size, (size_t)size);
    return bits;
}

uint64_t sweep_hash(const node *root, const void *data, uint64_t hash)
{
    const int64_t n = sweep_elements(root);

    for (int64_t i = 0; i < n; i++) {
        hash = (hash ^ bits_of(data, root->type, i)) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return hash;
}
