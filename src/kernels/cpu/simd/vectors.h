/* vectors.h - what the kernels made by hand share: vectors, and what becomes of a state that takes an element.  table.h
 * includes it once; ELEM, T, I (an int as wide) and the RD_ names are those of where a name stands. */
#define VEC   JOIN(vec, ELEM)
#define MASK  JOIN(mask, ELEM)
#define LANES (RD_VECTOR_BYTES / (int)sizeof(T))

/* a where m is set, else b. */
#define PICKED(m, a, b) ((VEC)(((MASK)(a) & (m)) | ((MASK)(b) & ~(m))))

/* Lanes [0, n) of a mask are at FIRST_LANES(n). */
static const int64_t first_lanes[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
#define FIRST_LANES(n) ((const char *)&first_lanes[8] - (n) * (int64_t)sizeof(T))

/* The first n < LANES elements at p, without a look at what lies behind them. */
#if RD_VECTOR_BYTES == 64
#define LOAD_FIRST_f32(p, n) (vec_f32) _mm512_maskz_loadu_ps((__mmask16)((1U << (n)) - 1), p)
#define LOAD_FIRST_f64(p, n) (vec_f64) _mm512_maskz_loadu_pd((__mmask8)((1U << (n)) - 1), p)
#elif RD_VECTOR_BYTES == 32
#define LOAD_FIRST_f32(p, n) (vec_f32) _mm256_maskload_ps(p, _mm256_loadu_si256((const void *)FIRST_LANES(n)))
#define LOAD_FIRST_f64(p, n) (vec_f64) _mm256_maskload_pd(p, _mm256_loadu_si256((const void *)FIRST_LANES(n)))
#endif

/* One state takes x. */
#define ONE_sum(s, x)  RD_ADD(s, x)
#define ONE_prod(s, x) RD_MUL(s, x)
#define ONE_min(s, x)  ((x) < (s) || (x) != (x) ? (x) : (s))
#define ONE_max(s, x)  ((x) > (s) || (x) != (x) ? (x) : (s))
#define ONE_any(s, x)  ((s) | (x))
#define ONE_all(s, x)  ((s) & (x))

/* A vector of them. */
#define TAKES_sum(s, x)  ((s) + (x))
#define TAKES_prod(s, x) ((s) * (x))
#define TAKES_min(s, x)  PICKED(((x) < (s)) | ((x) != (x)), x, s)
#define TAKES_max(s, x)  PICKED(((x) > (s)) | ((x) != (x)), x, s)
