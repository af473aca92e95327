/* Masks of lanes as vectors of integers, all bits of a lane or none, by gcc's vector extensions.
 * Included once for each type. */
typedef W M;

/* Lanes 0..n-1. */
static inline M F(first)(int64_t n)
{
    M m = { 0 };

    for (int k = 0; k < LANES; k++)
        m[k] = k < n ? -1 : 0;
    return m;
}

/* The elements from p of these lanes, 0 in the others; there need be no memory there. */
static inline V F(part)(const REAL *p, M m)
{
    V v = { 0 };

    for (int k = 0; k < LANES; k++)
        if (m[k])
            v[k] = p[k];
    return v;
}

static inline void F(put_part)(REAL *p, M m, V v)
{
    for (int k = 0; k < LANES; k++)
        if (m[k])
            p[k] = v[k];
}

/* Those that are not NaN. */
static inline M F(numbers)(V v)
{
    return (M)(v == v);
}

/* a > b. */
static inline M F(beyond)(V a, V b)
{
    return (M)(a > b);
}

/* Of the bools p[0..n), n at most LANES, those that are true. */
static inline M F(trues)(const bool *p, int64_t n)
{
    typedef int8_t bytes __attribute__((vector_size(VECTOR_BYTES / sizeof(REAL))));
    bytes          b = { 0 };

    memcpy(&b, p, (size_t)n);
    return -__builtin_convertvector(b, W);
}

/* v there, 0 elsewhere. */
static inline V F(where)(M m, V v)
{
    return (V)((W)v & m);
}

static inline V F(select)(M m, V yes, V no)
{
    return (V)(((W)yes & m) | ((W)no & ~m));
}

static inline W F(choose)(M m, W yes, W no)
{
    return (yes & m) | (no & ~m);
}

static inline REAL F(highest)(V v)
{
    REAL most = v[0];

    for (int k = 1; k < LANES; k++)
        most = v[k] > most ? v[k] : most;
    return most;
}

static inline INT F(lowest)(W w)
{
    INT least = w[0];

    for (int k = 1; k < LANES; k++)
        least = w[k] < least ? w[k] : least;
    return least;
}
