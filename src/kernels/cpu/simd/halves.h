/* halves.h - 16-bit floats in memory, f32 in vectors: rows to f32, from f32, and of f32 rounded in
 * place.  memory.h includes it.
 *
 * f16 by the instructions for it where the set has them; else, and for what vectors leave over,
 * core/half.h, which gives the same bits. */
#include "core/half.h"

#define F32_LANES (RD_VECTOR_BYTES / (int)sizeof(float))

/* ---- A vector -------------------------------------------------------------------------------- */
#if defined(__AVX512F__)
#define F16_VECTORS
#define F16_WIDEN(h)  (vec_f32) _mm512_cvtph_ps(h)
#define F16_NARROW(v) _mm512_cvtps_ph((__m512)(v), _MM_FROUND_TO_NEAREST_INT)
typedef __m256i vec_f16;
#elif defined(__F16C__)
#define F16_VECTORS
#define F16_WIDEN(h)  (vec_f32) _mm256_cvtph_ps(h)
#define F16_NARROW(v) _mm256_cvtps_ph((__m256)(v), _MM_FROUND_TO_NEAREST_INT)
typedef __m128i vec_f16;
#endif

/* The first n <= F32_LANES elements; the others are of no interest. */
#define LOAD_PART(elem, C)                                        \
    static inline vec_f32 load_part_##elem(const C *p, int64_t n) \
    {                                                             \
        C part[F32_LANES] = { { 0 } };                            \
        memcpy(part, p, (size_t)n * sizeof *p);                   \
        return load_##elem(n == F32_LANES ? p : part);            \
    }

#ifdef F16_VECTORS
static inline vec_f32 load_f16(const rd_f16 *p)
{
    vec_f16 h;

    memcpy(&h, p, sizeof h);
    return F16_WIDEN(h);
}
LOAD_PART(f16, rd_f16)
#endif

static inline vec_f32 load_bf16(const rd_bf16 *p)
{
    typedef uint16_t narrow __attribute__((vector_size(RD_VECTOR_BYTES / 2)));
    typedef uint32_t wide __attribute__((vector_size(RD_VECTOR_BYTES)));
    narrow           h;

    memcpy(&h, p, sizeof h);
    return (vec_f32)(__builtin_convertvector(h, wide) << 16);
}
LOAD_PART(bf16, rd_bf16)

/* ---- Rows ------------------------------------------------------------------------------------ */
/* How many of n elements are done in vectors. */
#ifdef F16_VECTORS
#define VECTORS(name, Y, X, ...)                                      \
    static inline int64_t name##_vectors(int64_t n, Y *y, const X *x) \
    {                                                                 \
        int64_t i = 0;                                                \
        for (; i + F32_LANES <= n; i += F32_LANES) {                  \
            __VA_ARGS__                                               \
        }                                                             \
        return i;                                                     \
    }
VECTORS(load_F16, float, rd_f16, *(vec_f32 *)(y + i) = load_f16(x + i);)
VECTORS(store_F16, rd_f16, float, const vec_f16 h = F16_NARROW(load_f32(x + i));
        memcpy(y + i, &h, sizeof h);)
VECTORS(wrap_F16, float, float, *(vec_f32 *)(y + i) = F16_WIDEN(F16_NARROW(load_f32(x + i)));)
#undef VECTORS
#else
#define load_F16_vectors  NO_VECTORS
#define store_F16_vectors NO_VECTORS
#define wrap_F16_vectors  NO_VECTORS
#endif
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
#undef F32_LANES
#undef LOAD_PART
#undef HALF_MOVES
