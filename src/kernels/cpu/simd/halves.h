/* halves.h - rows of 16-bit floats: to f32, from f32, and floats rounded to them in place.  table.h includes it once.
 *
 * f16 by the instructions for it where the set has them; else, for bf16 and for what vectors leave over, core/half.h,
 * which gives the same bits. */
#include "core/half.h"

#if defined(__AVX512F__)
typedef __m512 f16_vector;
#define F16_GET(x)        _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(x)))
#define F16_PUT(y, v)     _mm256_storeu_si256((__m256i *)(void *)(y), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_ROUND(v)      _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_GET_F32(x)    _mm512_loadu_ps(x)
#define F16_PUT_F32(y, v) _mm512_storeu_ps(y, v)
#elif defined(__F16C__)
typedef __m256 f16_vector;
#define F16_GET(x)        _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x)))
#define F16_PUT(y, v)     _mm_storeu_si128((__m128i *)(void *)(y), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_ROUND(v)      _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define F16_GET_F32(x)    _mm256_loadu_ps(x)
#define F16_PUT_F32(y, v) _mm256_storeu_ps(y, v)
#endif

/* As many of n elements as make whole vectors; gives their number. */
#ifdef F16_GET
#define F16_VECTORS(name, Y, X, ...)                                  \
    static inline int64_t name##_vectors(int64_t n, Y *y, const X *x) \
    {                                                                 \
        const int64_t step = sizeof(f16_vector) / sizeof(float);      \
        int64_t       i    = 0;                                       \
        for (; i + step <= n; i += step)                              \
            __VA_ARGS__;                                              \
        return i;                                                     \
    }
#else
#define F16_VECTORS(name, Y, X, ...)                                  \
    static inline int64_t name##_vectors(int64_t n, Y *y, const X *x) \
    {                                                                 \
        return 0;                                                     \
    }
#endif
F16_VECTORS(load_F16, float, rd_f16, F16_PUT_F32(y + i, F16_GET(x + i)))
F16_VECTORS(store_F16, rd_f16, float, F16_PUT(y + i, F16_GET_F32(x + i)))
F16_VECTORS(wrap_F16, float, float, F16_PUT_F32(y + i, F16_ROUND(F16_GET_F32(x + i))))
#define NO_VECTORS(n, y, x) 0

#define HALF_MOVES(type, C, load_vectors, store_vectors, wrap_vectors)            \
    static void load_##type(int64_t n, void *py, const void *px, int64_t stride)  \
    {                                                                             \
        float   *y = py;                                                          \
        const C *x = px;                                                          \
        if (stride == 1)                                                          \
            for (int64_t i = load_vectors(n, y, x); i < n; i++)                   \
                y[i] = C##_to_f32(x[i]);                                          \
        else                                                                      \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = C##_to_f32(x[i * stride]);                                 \
    }                                                                             \
    static void store_##type(int64_t n, void *py, int64_t stride, const void *px) \
    {                                                                             \
        C           *y = py;                                                      \
        const float *x = px;                                                      \
        if (stride == 1)                                                          \
            for (int64_t i = store_vectors(n, y, x); i < n; i++)                  \
                y[i] = C##_of_f32(x[i]);                                          \
        else                                                                      \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i * stride] = C##_of_f32(x[i]);                                 \
    }                                                                             \
    static void wrap_##type(int64_t n, void *py)                                  \
    {                                                                             \
        float *y = py;                                                            \
        for (int64_t i = wrap_vectors(n, y, y); i < n; i++)                       \
            y[i] = C##_to_f32(C##_of_f32(y[i]));                                  \
    }
HALF_MOVES(F16, rd_f16, load_F16_vectors, store_F16_vectors, wrap_F16_vectors)
HALF_MOVES(BF16, rd_bf16, NO_VECTORS, NO_VECTORS, NO_VECTORS)

/* To f32 on the way to a half. */
#define ODD(from, F)                                            \
    static void odd_##from(int64_t n, void *py, const void *px) \
    {                                                           \
        float   *y = py;                                        \
        const F *x = px;                                        \
        for (int64_t i = 0; i < n; i++)                         \
            y[i] = rd_odd_##from(x[i]);                         \
    }
ODD(f64, double)
ODD(i64, int64_t)
ODD(u64, uint64_t)
#undef ODD
#undef F16_VECTORS
#undef NO_VECTORS
#undef HALF_MOVES
