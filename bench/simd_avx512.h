/* Vectors of 64 bytes: what gcc's vector extensions cannot say, in AVX-512 intrinsics. */
#include <immintrin.h>

#define VECTOR_BYTES 64
typedef float   v_f32 __attribute__((vector_size(64), may_alias));
typedef double  v_f64 __attribute__((vector_size(64), may_alias));
typedef int32_t w_f32 __attribute__((vector_size(64), may_alias));
typedef int64_t w_f64 __attribute__((vector_size(64), may_alias));

static inline v_f32 max_f32(v_f32 a, v_f32 b)
{
    return (v_f32)_mm512_max_ps((__m512)a, (__m512)b);
}

static inline v_f64 max_f64(v_f64 a, v_f64 b)
{
    return (v_f64)_mm512_max_pd((__m512d)a, (__m512d)b);
}

static inline v_f32 min_f32(v_f32 a, v_f32 b)
{
    return (v_f32)_mm512_min_ps((__m512)a, (__m512)b);
}

static inline v_f64 min_f64(v_f64 a, v_f64 b)
{
    return (v_f64)_mm512_min_pd((__m512d)a, (__m512d)b);
}

/* Lane by lane: a > b ? yes : no. */
static inline w_f32 if_greater_f32(v_f32 a, v_f32 b, w_f32 yes, w_f32 no)
{
    __mmask16 m = _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
    return (w_f32)_mm512_mask_mov_epi32((__m512i)no, m, (__m512i)yes);
}

static inline w_f64 if_greater_f64(v_f64 a, v_f64 b, w_f64 yes, w_f64 no)
{
    __mmask8 m = _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
    return (w_f64)_mm512_mask_mov_epi64((__m512i)no, m, (__m512i)yes);
}

static inline int count_beyond_f32(v_f32 v, v_f32 limit)
{
    return __builtin_popcount(
        _mm512_cmp_ps_mask(_mm512_abs_ps((__m512)v), (__m512)limit, _CMP_GT_OQ));
}

static inline int count_beyond_f64(v_f64 v, v_f64 limit)
{
    return __builtin_popcount(
        _mm512_cmp_pd_mask(_mm512_abs_pd((__m512d)v), (__m512d)limit, _CMP_GT_OQ));
}

static inline void stream_f32(float *p, v_f32 v)
{
    _mm512_stream_ps(p, (__m512)v);
}

static inline void stream_f64(double *p, v_f64 v)
{
    _mm512_stream_pd(p, (__m512d)v);
}

static inline double total_f64(v_f64 v)
{
    return _mm512_reduce_add_pd((__m512d)v);
}

/* f32 lanes are added as doubles: a run's spilled accumulators lose nothing here. */
static inline double total_f32(v_f32 v)
{
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v));
    __m512d high =
        _mm512_cvtps_pd(_mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd((__m512)v), 1)));
    return _mm512_reduce_add_pd(_mm512_add_pd(low, high));
}

/* Lane k becomes the sum of lanes 0..k. */
#define SHIFTED_F32(v, k)                          \
    _mm512_castsi512_ps(_mm512_maskz_alignr_epi32( \
        (__mmask16)(0xffff << (k)), _mm512_castps_si512(v), _mm512_castps_si512(v), 16 - (k)))
static inline v_f32 running_f32(v_f32 x)
{
    __m512 v = (__m512)x;
    v        = _mm512_add_ps(v, SHIFTED_F32(v, 1));
    v        = _mm512_add_ps(v, SHIFTED_F32(v, 2));
    v        = _mm512_add_ps(v, SHIFTED_F32(v, 4));
    return (v_f32)_mm512_add_ps(v, SHIFTED_F32(v, 8));
}

#define SHIFTED_F64(v, k)                                                                          \
    _mm512_castsi512_pd(_mm512_maskz_alignr_epi64((__mmask8)(0xff << (k)), _mm512_castpd_si512(v), \
                                                  _mm512_castpd_si512(v), 8 - (k)))
static inline v_f64 running_f64(v_f64 x)
{
    __m512d v = (__m512d)x;
    v         = _mm512_add_pd(v, SHIFTED_F64(v, 1));
    v         = _mm512_add_pd(v, SHIFTED_F64(v, 2));
    return (v_f64)_mm512_add_pd(v, SHIFTED_F64(v, 4));
}

/* The last lane in every lane. */
static inline v_f32 last_f32(v_f32 v)
{
    return (v_f32)_mm512_permutexvar_ps(_mm512_set1_epi32(15), (__m512)v);
}

static inline v_f64 last_f64(v_f64 v)
{
    return (v_f64)_mm512_permutexvar_pd(_mm512_set1_epi64(7), (__m512d)v);
}

static inline v_f32 round_f32(v_f32 x)
{
    return (v_f32)_mm512_roundscale_ps((__m512)x, 8);
}

static inline v_f64 round_f64(v_f64 x)
{
    return (v_f64)_mm512_roundscale_pd((__m512d)x, 8);
}

/* p * 2^n; n is whole.  Overflow gives infinity and underflow 0, without a clamp. */
static inline v_f32 scale_f32(v_f32 p, v_f32 n)
{
    return (v_f32)_mm512_scalef_ps((__m512)p, (__m512)n);
}

static inline v_f64 scale_f64(v_f64 p, v_f64 n)
{
    return (v_f64)_mm512_scalef_pd((__m512d)p, (__m512d)n);
}

/* 16 rows of 16: pairs of rows, then of pairs, then quarters of registers twice. */
static inline void transpose_f32(v_f32 *rows)
{
    __m512 *r = (__m512 *)rows, t[16], u[16];

    for (int i = 0; i < 8; i++) {
        t[2 * i]     = _mm512_unpacklo_ps(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int h = 0; h < 2; h++) {
            __m512d a = _mm512_castps_pd(t[i + h]), b = _mm512_castps_pd(t[i + 2 + h]);

            u[i + 2 * h]     = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            u[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
    for (int i = 0; i < 4; i++)
        for (int h = 0; h < 2; h++) {
            t[8 * h + i]     = _mm512_shuffle_f32x4(u[8 * h + i], u[8 * h + 4 + i], 0x88);
            t[8 * h + 4 + i] = _mm512_shuffle_f32x4(u[8 * h + i], u[8 * h + 4 + i], 0xdd);
        }
    for (int i = 0; i < 8; i++) {
        r[i]     = _mm512_shuffle_f32x4(t[i], t[8 + i], 0x88);
        r[8 + i] = _mm512_shuffle_f32x4(t[i], t[8 + i], 0xdd);
    }
}

static inline void transpose_f64(v_f64 *rows)
{
    __m512d *r = (__m512d *)rows, t[8], u[8];

    for (int i = 0; i < 4; i++) {
        t[2 * i]     = _mm512_unpacklo_pd(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_pd(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int h = 0; h < 2; h++) {
            u[4 * h + i]     = _mm512_shuffle_f64x2(t[4 * h + i], t[4 * h + 2 + i], 0x88);
            u[4 * h + 2 + i] = _mm512_shuffle_f64x2(t[4 * h + i], t[4 * h + 2 + i], 0xdd);
        }
    for (int i = 0; i < 4; i++) {
        r[i]     = _mm512_shuffle_f64x2(u[i], u[4 + i], 0x88);
        r[4 + i] = _mm512_shuffle_f64x2(u[i], u[4 + i], 0xdd);
    }
}
