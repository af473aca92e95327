/* half_vectors.h - loads 16-bit floats from memory into vectors of f32; isa.h includes it once.
 *
 * f16 is converted by instructions where the set has them.  Otherwise, and for the tail behind the
 * last vector, core/half.h converts, with the same bits. */
#include "core/half.h"

#define F32_LANES (RD_VECTOR_BYTES / (int)sizeof(float))

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

/* load_part_ELEM(): loads the first n <= F32_LANES elements, widened to f32; the other lanes are
 * undefined. */
#define LOAD_PART(elem, C)                                        \
    static inline vec_f32 load_part_##elem(const C *p, int64_t n) \
    {                                                             \
        C part[F32_LANES] = { { 0 } };                            \
        memcpy(part, p, (size_t)n * sizeof *p);                   \
        return load_##elem(n == F32_LANES ? p : part);            \
    }

#ifdef F16_VECTORS
/* Loads a vector of f16 and widens it to f32. */
static inline vec_f32 load_f16(const rd_f16 *p)
{
    vec_f16 h;

    memcpy(&h, p, sizeof h);
    return F16_WIDEN(h);
}
LOAD_PART(f16, rd_f16)
#endif

/* Loads a vector of bf16 and widens it to f32: a bf16 is the upper half of an f32. */
static inline vec_f32 load_bf16(const rd_bf16 *p)
{
    typedef uint16_t narrow __attribute__((vector_size(RD_VECTOR_BYTES / 2)));
    typedef uint32_t wide __attribute__((vector_size(RD_VECTOR_BYTES)));
    narrow           h;

    memcpy(&h, p, sizeof h);
    return (vec_f32)(__builtin_convertvector(h, wide) << 16); /* the lower half is 0 */
}
LOAD_PART(bf16, rd_bf16)
#undef LOAD_PART
