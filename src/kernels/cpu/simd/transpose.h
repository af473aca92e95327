/* transpose.h - transposes y[i ldy + j] = x[j ldx + i], square by square, each in registers
 * (square.h).
 *
 * instances/table.c includes it once per size, with T (an unsigned int), BYTES (of a vector) and
 * INDICES (f of all lanes) set.  NONTEMPORAL is set where vectors are as wide as non-temporal
 * stores. */
#define WORD T
#include "kernels/cpu/simd/square.h"
#define ROW  JOIN(turn_row, T)
#define SIDE (BYTES / (int)sizeof(T)) /* of a square */

/* Transposes one square (SIDE rows of one vector) in registers, and prefetches the square `ahead`
 * elements on (0: none). ldx and ldy are elements from row to row. */
static inline void JOIN(turn_square, T)(T *y, int64_t ldy, const T *x, int64_t ldx, int64_t ahead,
                                        bool nontemporal)
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
        STORE_VECTOR((ROW *)(y + k * ldy), v[k], nontemporal);
}

/* Transposes n x m elements one by one: y[i ldy + j] = x[j ldx + i]; the longer side is the inner
 * loop. */
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

/* Transposes y[i ldy + j] = x[j ldx + i] for i < n, j < m, square by square in registers.  The last
 * squares overlap those before them; a side narrower than a square goes element by element.
 * `ahead`: how many elements on is prefetched, 0: nothing. */
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

#ifdef NONTEMPORAL
/* Transposes y[i ldy + j] = x[j ldx + i] by non-temporal stores, which bypass the caches.  Squares
 * follow each other along the rows of y, so that its cache lines are completed one after the other.
 * The columns behind the last whole square are written by usual stores. */
static void JOIN(transpose_nontemporal, T)(int64_t n, int64_t m, void *py, int64_t ldy,
                                           const void *px, int64_t ldx, int64_t ahead)
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
#undef WORD
#undef ROW
#undef SIDE
