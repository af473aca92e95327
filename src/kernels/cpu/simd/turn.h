/* turn.h - elements that lie in columns come to lie in rows: y[i ldy + j] = x[j ldx + i], square by
 * square, each turned in registers.  Bits are moved, so one kernel serves all types of a size.
 *
 * table.h includes it once per size, with T (an unsigned int), BYTES (of a vector) and INDICES (f
 * of all lanes) set, and PAST where vectors are as wide as stores past the caches. */
#define ROW  JOIN(turn_row, T)
#define SIDE (BYTES / (int)sizeof(T)) /* of a square  */
#define PART (16 / (int)sizeof(T)) /* within 16 bytes: what vectors of any width can interleave */

typedef T ROW __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));

/* Elements of a (from 0) and b (from SIDE) by turns: the first halves of each part, and the second
 * ones. */
#define LOW(l, d)  ((l) / PART * PART + (l) % PART / 2 + (l) % 2 * SIDE)
#define HIGH(l, d) (LOW(l, d) + PART / 2)
/* Runs of d elements by turns: those of a and b with even numbers, and those with odd ones. */
#define EVEN(l, d) ((l) & (d) ? SIDE + (l) - (d) : (l))
#define ODD(l, d)  (EVEN(l, d) + (d))

#define PICK(a, b, f, d) __builtin_shufflevector(a, b, INDICES(f, d))

/* One pass in each group of PART rows; after log2(PART) of them column k of each part is row k. */
static inline void JOIN(turn_interleave, T)(ROW *v)
{
    ROW t[SIDE];

    UNROLL(16)
    for (int k = 0; k < SIDE; k++)
        t[k] = v[k];
    UNROLL(16)
    for (int k = 0; k < SIDE; k += 2) {
        const int a = k / PART * PART + k % PART / 2, b = a + PART / 2;

        v[k]     = PICK(t[a], t[b], LOW, 0);
        v[k + 1] = PICK(t[a], t[b], HIGH, 0);
    }
}

/* Parts trade places between rows d apart. */
#define TRADE(d)                                       \
    UNROLL(16)                                         \
    for (int k = 0; k < SIDE && (d) < SIDE; k++)       \
        if (!(k & (d))) {                              \
            const ROW a = v[k], b = v[k + (d)];        \
            v[k]       = PICK(a, b, EVEN, (d) % SIDE); \
            v[k + (d)] = PICK(a, b, ODD, (d) % SIDE);  \
        }

/* The rows of v become its columns. */
static ALWAYS void JOIN(turn_rows, T)(ROW *v)
{
    UNROLL(4)
    for (int k = 1; k < PART; k *= 2)
        JOIN(turn_interleave, T)(v);
    TRADE(PART)
    TRADE(2 * PART)
}

static inline void JOIN(turn_square, T)(T *y, int64_t ldy, const T *x, int64_t ldx, int64_t ahead,
                                        bool past)
{
    ROW v[SIDE];

    UNROLL(16)
    for (int k = 0; k < SIDE; k++)
        v[k] = *(const ROW *)(x + k * ldx);
    if (ahead) {
        UNROLL(16)
        for (int k = 0; k < SIDE; k++)
            __builtin_prefetch(x + k * ldx + ahead, 0, 2);
    }
    JOIN(turn_rows, T)(v);
    UNROLL(16)
    for (int k = 0; k < SIDE; k++)
        STORE_VECTOR((ROW *)(y + k * ldy), v[k], past);
}

/* Element by element, along what is long. */
static void JOIN(turn_few, T)(int64_t n, int64_t m, T *y, int64_t ldy, const T *x, int64_t ldx)
{
    if (n < m)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                y[i * ldy + j] = x[j * ldx + i];
    else
        for (int64_t j = 0; j < m; j++)
            for (int64_t i = 0; i < n; i++)
                y[i * ldy + j] = x[j * ldx + i];
}

/* The last squares overlap those before; what is narrower than a square goes element by element. */
static void JOIN(turn, T)(int64_t n, int64_t m, void *py, int64_t ldy, const void *px, int64_t ldx,
                          int64_t ahead)
{
    T       *y = py;
    const T *x = px;

    if (n < SIDE || m < SIDE) {
        JOIN(turn_few, T)(n, m, y, ldy, x, ldx);
        return;
    }
    for (int64_t j = 0; j < m; j += SIDE) {
        j = j < m - SIDE ? j : m - SIDE;
        for (int64_t i = 0; i < n; i += SIDE) {
            i = i < n - SIDE ? i : n - SIDE;
            JOIN(turn_square, T)(y + i * ldy + j, ldy, x + j * ldx + i, ldx, ahead, false);
        }
    }
}

#ifdef PAST
/* The same past the caches: lines are completed one after the other. */
static void JOIN(turn_past, T)(int64_t n, int64_t m, void *py, int64_t ldy, const void *px,
                               int64_t ldx, int64_t ahead)
{
    const int64_t whole = n < SIDE ? 0 : m / SIDE * SIDE;
    T            *y     = py;
    const T      *x     = px;

    for (int64_t i = 0; i < n && whole; i += SIDE) {
        i = i < n - SIDE ? i : n - SIDE;
        for (int64_t j = 0; j < whole; j += SIDE)
            JOIN(turn_square, T)(y + i * ldy + j, ldy, x + j * ldx + i, ldx, ahead, true);
    }
    JOIN(turn, T)(n, m - whole, y + whole, ldy, x + whole * ldx, ldx, ahead);
}
#endif
#undef ROW
#undef SIDE
#undef PART
#undef LOW
#undef HIGH
#undef EVEN
#undef ODD
#undef PICK
#undef TRADE
