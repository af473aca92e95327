/* vector_types.h - what hand-written kernels share: vectors, and the steps of reducers.  isa.h
 * includes it once; ELEM, T, I (an int as wide) and the RD_ names are those set where a macro is
 * used. */
#define VEC   JOIN(vec, ELEM)
#define MASK  JOIN(mask, ELEM)
#define LANES (RD_VECTOR_BYTES / (int)sizeof(T))

/* Selects a where m is set, else b. */
#define PICKED(m, a, b) ((VEC)(((MASK)(a) & (m)) | ((MASK)(b) & ~(m))))

/* FIRST_LANES(n) points to a mask with lanes [0, n) set. */
static const int64_t first_lanes[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
#define FIRST_LANES(n) ((const char *)&first_lanes[8] - (n) * (int64_t)sizeof(T))

/* Loads the first n < LANES elements at p, without reading behind them (masked load). */
#if RD_VECTOR_BYTES == 64
#define LOAD_FIRST_f32(p, n) (vec_f32) _mm512_maskz_loadu_ps((__mmask16)((1U << (n)) - 1), p)
#define LOAD_FIRST_f64(p, n) (vec_f64) _mm512_maskz_loadu_pd((__mmask8)((1U << (n)) - 1), p)
#elif RD_VECTOR_BYTES == 32
#define LOAD_FIRST_f32(p, n) \
    (vec_f32) _mm256_maskload_ps(p, _mm256_loadu_si256((const void *)FIRST_LANES(n)))
#define LOAD_FIRST_f64(p, n) \
    (vec_f64) _mm256_maskload_pd(p, _mm256_loadu_si256((const void *)FIRST_LANES(n)))
#endif

/* a b + c with one rounding: by C's fma, element by element, where the set has no instruction for
 * it. */
#if RD_VECTOR_BYTES == 64
#define FMA_f32(a, b, c) (vec_f32) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define FMA_f64(a, b, c) (vec_f64) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#elif RD_VECTOR_BYTES == 32
#define FMA_f32(a, b, c) (vec_f32) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define FMA_f64(a, b, c) (vec_f64) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#else
#define FMA_f32(a, b, c) fma_vec_f32(a, b, c)
#define FMA_f64(a, b, c) fma_vec_f64(a, b, c)
#endif

/* Not 0 if any lane is greater than c or NaN. */
#if RD_VECTOR_BYTES == 64
#define BEYOND_f32(v, c) _mm512_cmp_ps_mask((__m512)(v), _mm512_set1_ps(c), _CMP_NLE_UQ)
#define BEYOND_f64(v, c) _mm512_cmp_pd_mask((__m512d)(v), _mm512_set1_pd(c), _CMP_NLE_UQ)
#elif RD_VECTOR_BYTES == 32
#define BEYOND_f32(v, c) \
    (unsigned)_mm256_movemask_ps(_mm256_cmp_ps((__m256)(v), _mm256_set1_ps(c), _CMP_NLE_UQ))
#define BEYOND_f64(v, c) \
    (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((__m256d)(v), _mm256_set1_pd(c), _CMP_NLE_UQ))
#else
#define BEYOND_f32(v, c) beyond_f32(v, c)
#define BEYOND_f64(v, c) beyond_f64(v, c)
#endif

/* The step of one state. */
#define ONE_sum(s, x)      RD_ADD(s, x)
#define ONE_dot(s, x)      RD_ADD(s, x) /* as states merge */
#define ONE_prod(s, x)     RD_MUL(s, x)
#define ONE_min(s, x)      ((x) < (s) || (x) != (x) ? (x) : (s))
#define ONE_max(s, x)      ((x) > (s) || (x) != (x) ? (x) : (s))
#define ONE_any(s, x)      ((s) | (x))
#define ONE_all(s, x)      ((s) & (x))
#define ONE_bits_and       ONE_all
#define ONE_bits_or        ONE_any
#define ONE_bits_xor(s, x) ((s) ^ (x))

/* The step of a vector of states; for dot, x is a product. */
#define TAKES_sum(s, x)    ((s) + (x))
#define TAKES_dot(s, x, y) JOIN(FMA, ELEM)(x, y, s)
#define TAKES_prod(s, x)   ((s) * (x))
#define TAKES_min(s, x)    PICKED(((x) < (s)) | ((x) != (x)), x, s)
#define TAKES_max(s, x)    PICKED(((x) > (s)) | ((x) != (x)), x, s)

/* The first step of a vector of states. */
#define BEGINS_sum(x)    (x)
#define BEGINS_dot(x, y) ((x) * (y))
#define BEGINS_min(x)    (x)
#define BEGINS_max(x)    (x)
