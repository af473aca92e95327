/* square.h - transposes a square of elements in registers.  Bits are moved, so one version serves
 * all types of a size.
 *
 * transpose.h and transposed_folds.h include it once per size, with WORD (an unsigned int), BYTES
 * (of a vector) and INDICES (f of all lanes) set. */
#include "kernels/math/shuffle.h"
#define ROW  JOIN(turn_row, WORD)
#define SIDE (BYTES / (int)sizeof(WORD)) /* of a square  */
#define PART \
    (16 / (int)sizeof(WORD)) /* within 16 bytes: what vectors of any width can interleave */

typedef WORD ROW __attribute__((vector_size(BYTES), aligned(sizeof(WORD)), may_alias));

/* Interleaves elements of a (numbers from 0) and b (from SIDE): LOW the first halves of each part,
 * HIGH the second halves. */
#define LOW(l, d)  ((l) / PART * PART + (l) % PART / 2 + (l) % 2 * SIDE)
#define HIGH(l, d) (LOW(l, d) + PART / 2)
/* Interleaves runs of d elements: EVEN those of a and b with even numbers, ODD those with odd
 * numbers. */
#define EVEN(l, d) ((l) & (d) ? SIDE + (l) - (d) : (l))
#define ODD(l, d)  (EVEN(l, d) + (d))

#define LANES_OF(a, b, f, d) RD_SHUFFLE(ROW, a, b, INDICES(f, d))

/* One pass of the transpose of a square of SIDE x SIDE elements in registers: interleaves rows of
 * each group of PART (16 bytes of elements), within 16-byte parts.  After log2(PART) passes column
 * k of each part is row k. */
static inline void JOIN(turn_interleave, WORD)(ROW *v)
{
    ROW t[SIDE];

    UNROLL(16)
    for (int k = 0; k < SIDE; k++)
        t[k] = v[k];
    UNROLL(16)
    for (int k = 0; k < SIDE; k += 2) {
        const int a = k / PART * PART + k % PART / 2, b = a + PART / 2;

        v[k]     = LANES_OF(t[a], t[b], LOW, 0);
        v[k + 1] = LANES_OF(t[a], t[b], HIGH, 0);
    }
}

/* Exchanges parts of 16 bytes between rows k and k + d of the square, for all k without bit d. */
#define TRADE(d)                                           \
    UNROLL(16)                                             \
    for (int k = 0; k < SIDE && (d) < SIDE; k++)           \
        if (!(k & (d))) {                                  \
            const ROW a = v[k], b = v[k + (d)];            \
            v[k]       = LANES_OF(a, b, EVEN, (d) % SIDE); \
            v[k + (d)] = LANES_OF(a, b, ODD, (d) % SIDE);  \
        }

/* Transposes a square of elements, one vector for each row, in registers: first within parts of 16
 * bytes, then whole parts change rows. */
static ALWAYS void JOIN(turn_rows, WORD)(ROW *v)
{
    UNROLL(4)
    for (int k = 1; k < PART; k *= 2)
        JOIN(turn_interleave, WORD)(v);
    TRADE(PART)
    TRADE(2 * PART)
}
#undef ROW
#undef SIDE
#undef PART
#undef LOW
#undef HIGH
#undef EVEN
#undef ODD
#undef LANES_OF
#undef TRADE
