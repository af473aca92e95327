/* Vectors of 32 bytes: what gcc's vector extensions cannot say, in AVX2 and FMA intrinsics. */
#include <immintrin.h>

#define VECTOR_BYTES 32
typedef float   v_f32 __attribute__((vector_size(32), may_alias));
typedef double  v_f64 __attribute__((vector_size(32), may_alias));
typedef int32_t w_f32 __attribute__((vector_size(32), may_alias));
typedef int64_t w_f64 __attribute__((vector_size(32), may_alias));

static inline v_f32 max_f32(v_f32 a, v_f32 b)
{
    return (v_f32)_mm256_max_ps((__m256)a, (__m256)b);
}

static inline v_f64 max_f64(v_f64 a, v_f64 b)
{
    return (v_f64)_mm256_max_pd((__m256d)a, (__m256d)b);
}

static inline v_f32 min_f32(v_f32 a, v_f32 b)
{
    return (v_f32)_mm256_min_ps((__m256)a, (__m256)b);
}

static inline v_f64 min_f64(v_f64 a, v_f64 b)
{
    return (v_f64)_mm256_min_pd((__m256d)a, (__m256d)b);
}

/* Lane by lane: a > b ? yes : no. */
static inline w_f32 if_greater_f32(v_f32 a, v_f32 b, w_f32 yes, w_f32 no)
{
    return (w_f32)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)(a > b));
}

static inline w_f64 if_greater_f64(v_f64 a, v_f64 b, w_f64 yes, w_f64 no)
{
    return (w_f64)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)(a > b));
}

static inline int count_beyond_f32(v_f32 v, v_f32 limit)
{
    w_f32 size = (w_f32)v & INT32_MAX;
    return __builtin_popcount((unsigned)_mm256_movemask_ps((__m256)((v_f32)size > limit)));
}

static inline int count_beyond_f64(v_f64 v, v_f64 limit)
{
    w_f64 size = (w_f64)v & INT64_MAX;
    return __builtin_popcount((unsigned)_mm256_movemask_pd((__m256d)((v_f64)size > limit)));
}

static inline void stream_f32(float *p, v_f32 v)
{
    _mm256_stream_ps(p, (__m256)v);
}

static inline void stream_f64(double *p, v_f64 v)
{
    _mm256_stream_pd(p, (__m256d)v);
}

static inline double total_f64(v_f64 v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* f32 lanes are added as doubles: a run's spilled accumulators lose nothing here. */
static inline double total_f32(v_f32 v)
{
    __m256d low  = _mm256_cvtps_pd(_mm256_castps256_ps128((__m256)v));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps((__m256)v, 1));
    return total_f64((v_f64)_mm256_add_pd(low, high));
}

/* Lane k becomes the sum of lanes 0..k: within each half, then the low half's total into the high
 * one. */
static inline v_f32 running_f32(v_f32 x)
{
    __m256 v = (__m256)x, low;

    v   = _mm256_add_ps(v, _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(v), 4)));
    v   = _mm256_add_ps(v, _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(v), 8)));
    low = _mm256_permute_ps(_mm256_permute2f128_ps(v, v, 0x08), 0xff);
    return (v_f32)_mm256_add_ps(v, low);
}

static inline v_f64 running_f64(v_f64 x)
{
    __m256d v = (__m256d)x, low;

    v   = _mm256_add_pd(v, _mm256_castsi256_pd(_mm256_slli_si256(_mm256_castpd_si256(v), 8)));
    low = _mm256_permute_pd(_mm256_permute2f128_pd(v, v, 0x08), 0xf);
    return (v_f64)_mm256_add_pd(v, low);
}

/* The last lane in every lane. */
static inline v_f32 last_f32(v_f32 v)
{
    return (v_f32)_mm256_permutevar8x32_ps((__m256)v, _mm256_set1_epi32(7));
}

static inline v_f64 last_f64(v_f64 v)
{
    return (v_f64)_mm256_permute4x64_pd((__m256d)v, 0xff);
}

static inline v_f32 round_f32(v_f32 x)
{
    return (v_f32)_mm256_round_ps((__m256)x, 8);
}

static inline v_f64 round_f64(v_f64 x)
{
    return (v_f64)_mm256_round_pd((__m256d)x, 8);
}

/* p * 2^n by n added to the exponent of p; n is whole and |p - 1| < 1/2.  Where n is too small for
 * any normal result it is 0.  The low bits of n + 1.5 * 2^23, or 2^52, are those of n as an int. */
static inline v_f32 scale_f32(v_f32 p, v_f32 n)
{
    __m256i bits = _mm256_slli_epi32((__m256i)(n + 12582912.0F), 23);
    return (v_f32)_mm256_and_si256(_mm256_add_epi32((__m256i)p, bits), (__m256i)(n >= -126.0F));
}

static inline v_f64 scale_f64(v_f64 p, v_f64 n)
{
    __m256i bits = _mm256_slli_epi64((__m256i)(n + 6755399441055744.0), 52);
    return (v_f64)_mm256_and_si256(_mm256_add_epi64((__m256i)p, bits), (__m256i)(n >= -1022.0));
}

static inline void transpose_f32(v_f32 *rows)
{
    __m256 *r = (__m256 *)rows, t[8], u[8];

    for (int i = 0; i < 4; i++) {
        t[2 * i]     = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int h = 0; h < 2; h++) {
            u[i + 2 * h]     = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0x44);
            u[i + 2 * h + 1] = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0xee);
        }
    for (int i = 0; i < 4; i++) {
        r[i]     = _mm256_permute2f128_ps(u[i], u[4 + i], 0x20);
        r[4 + i] = _mm256_permute2f128_ps(u[i], u[4 + i], 0x31);
    }
}

static inline void transpose_f64(v_f64 *rows)
{
    __m256d *r = (__m256d *)rows, t[4];

    for (int i = 0; i < 2; i++) {
        t[2 * i]     = _mm256_unpacklo_pd(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm256_unpackhi_pd(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        r[i]     = _mm256_permute2f128_pd(t[i], t[2 + i], 0x20);
        r[2 + i] = _mm256_permute2f128_pd(t[i], t[2 + i], 0x31);
    }
}
