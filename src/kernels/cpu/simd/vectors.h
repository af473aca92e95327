/* vectors.h - what the kernels made by hand share: vectors, and what becomes of a state that takes an element.  table.h
 * includes it once; ELEM, T, I (an int as wide) and the RD_ names are those of where a name stands. */
#define VEC   JOIN(vec, ELEM)
#define MASK  JOIN(mask, ELEM)
#define LANES (RD_VECTOR_BYTES / (int)sizeof(T))

/* a where m is set, else b. */
#define PICKED(m, a, b) ((VEC)(((MASK)(a) & (m)) | ((MASK)(b) & ~(m))))

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
