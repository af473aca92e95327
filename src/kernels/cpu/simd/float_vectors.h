/* float_vectors.h - vectors of floats by compilers' vector extensions; isa.h includes it once per
 * float type, with ELEM, T, I set.
 *
 * VEC is a vector of type T, MASK one of ints of the same size, and LANES its elements.  JOIN(name,
 * ELEM) is a name for one type: name_f32. */
typedef T VEC __attribute__((vector_size(RD_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef I MASK __attribute__((vector_size(RD_VECTOR_BYTES)));

/* Returns the magnitude of each lane: clears its sign bit. */
static inline VEC JOIN(abs_vec, ELEM)(VEC x)
{
    return (VEC)((MASK)x & (MASK)(~((MASK){ 0 } + (I)((uint64_t)1 << (8 * sizeof(T) - 1)))));
}

#if RD_VECTOR_BYTES == 16
/* Returns a b + c with one rounding (fused multiply-add), lane by lane, as the baseline has no
 * instruction for it. */
static inline VEC JOIN(fma_vec, ELEM)(VEC a, VEC b, VEC c)
{
    for (int l = 0; l < LANES; l++)
        c[l] = JOIN(rd_math_fma, ELEM)(a[l], b[l], c[l]);
    return c;
}

/* Returns 1 if any lane of the vector is greater than c or NaN, else 0. */
static inline unsigned JOIN(beyond, ELEM)(VEC v, T c)
{
    unsigned beyond = 0;

    for (int l = 0; l < LANES; l++)
        beyond |= !(v[l] <= c);
    return beyond;
}
#endif

/* Loads a vector, which need not be aligned. */
static inline VEC JOIN(load, ELEM)(const T *p)
{
    return *(const VEC *)p;
}

/* Loads the first n <= LANES elements, without reading behind them; the other lanes are
 * undefined. */
static inline VEC JOIN(load_part, ELEM)(const T *p, int64_t n)
{
    if (n == LANES)
        return JOIN(load, ELEM)(p);
#ifdef LOAD_FIRST_f32
    return JOIN(LOAD_FIRST, ELEM)(p, n);
#else
    VEC v = { 0 };
    memcpy(&v, p, (size_t)n * sizeof(T));
    return v;
#endif
}

/* Returns the first n <= LANES lanes of a, then those of b behind them. */
static inline VEC JOIN(part_of, ELEM)(VEC a, VEC b, int64_t n)
{
    MASK m;

    memcpy(&m, FIRST_LANES(n), sizeof m);
    return PICKED(m, a, b);
}

/* Stores the first n <= LANES lanes of v, and leaves memory behind them as it is. */
static inline void JOIN(store_part, ELEM)(T *p, VEC v, int64_t n)
{
    if (n == LANES)
        *(VEC *)p = v;
    else
        memcpy(p, &v, (size_t)n * sizeof(T));
}
