/* fields.c - the loops of fields.py as an expert would write them for one job: with vectors, tiles
 * of registers and of caches, and OpenMP.  It is compiled with -O3 -march=native -ffast-math, so
 * calls of exp, log and sqrt in loops are vectors, too. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512VBMI__
#include <immintrin.h>
#endif

typedef int64_t i64;
typedef uint8_t u8;
typedef float   f32x16 __attribute__((vector_size(64), aligned(4)));
typedef double  f64x8 __attribute__((vector_size(64), aligned(8)));

#define PARALLEL _Pragma("omp parallel for schedule(static)")
#define ALIGNED  __attribute__((aligned(64)))

static i64 least(i64 a, i64 b)
{
    return a < b ? a : b;
}

/* The bits of floats as whole numbers in the same order. */
static inline int32_t ordered(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ INT32_MAX : bits;
}

static inline float of_ordered(int32_t bits)
{
    float x;
    bits = bits < 0 ? bits ^ INT32_MAX : bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2 to the power of x, good to 3e-7. */
static inline float power_of_two(float x)
{
    float   whole = rintf(x), f = x - whole;
    float   p = 1 + f * (0.69314718F +
                       f * (0.24022651F + f * (0.05550332F + f * (0.00961854F + f * 0.00133957F))));
    int32_t bits;

    memcpy(&bits, &p, sizeof bits);
    bits += (int32_t)whole << 23;
    memcpy(&p, &bits, sizeof p);
    return p;
}

#include "fields_products.h"
#include "fields_climate.h"
#include "fields_images.h"
#include "fields_finance.h"
#include "fields_genomics.h"
