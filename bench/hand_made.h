/* hand_made.h - random numbers and rolling reductions of (n).  Included for each type. */

#ifndef HAND_MADE_H
#define HAND_MADE_H
enum { PHILOX_BLOCKS = 16, ROLL_PART = 1024, ROLL_WINDOW = 31, ROLL_MOST = 512 };

static int64_t roll_window(const hand_args *a)
{
    return a->dims ? a->dims : ROLL_WINDOW;
}

/* Blocks first, first + 1, ... of Philox 4x32-10 by the key 1: word k of block i at x[k][i]. */
INLINE void philox_blocks(uint64_t first, uint32_t x[4][PHILOX_BLOCKS])
{
    uint32_t key[2] = { 1, 0 };

    for (int i = 0; i < PHILOX_BLOCKS; i++) {
        x[0][i] = (uint32_t)(first + (uint64_t)i);
        x[1][i] = (uint32_t)((first + (uint64_t)i) >> 32);
        x[2][i] = x[3][i] = 0;
    }
    UNROLL(10)
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < PHILOX_BLOCKS; i++) {
            const uint64_t p = (uint64_t)x[0][i] * 0xd2511f53, q = (uint64_t)x[2][i] * 0xcd9e8d57;

            x[0][i] = (uint32_t)(q >> 32) ^ x[1][i] ^ key[0];
            x[1][i] = (uint32_t)q;
            x[2][i] = (uint32_t)(p >> 32) ^ x[3][i] ^ key[1];
            x[3][i] = (uint32_t)p;
        }
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
}
#endif

/* ---- Random numbers -------------------------------------------------------------------------- */
static void F(random_uniform)(const hand_args *a)
{
    const int     digits = sizeof(REAL) == 8 ? 53 : 24;
    const REAL    scale  = 1 / (REAL)(INT64_C(1) << digits);
    const int64_t n      = a->shape[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < n; i += 2 * PHILOX_BLOCKS) {
        uint32_t x[4][PHILOX_BLOCKS];
        REAL    *y = (REAL *)a->out[0] + i;

        philox_blocks((uint64_t)i / 2, x);
        for (int k = 0; k < PHILOX_BLOCKS; k++)
            for (int h = 0; h < 2; h++) {
                const uint64_t word = (uint64_t)x[2 * h + 1][k] << 32 | x[2 * h][k];

                y[2 * k + h] = (REAL)(int64_t)(word >> (64 - digits)) * scale;
            }
    }
}

/* ---- Rolling reductions ---------------------------------------------------------------------- */
/* A window's sum is the last one's and two elements: eight parts at a time, as additions wait for
 * each other. */
static void F(rolling_mean)(const hand_args *a)
{
    const REAL   *x = a->in[0];
    REAL         *y = a->out[0];
    const int64_t w = roll_window(a), n = a->shape[0] - w + 1, part = n / (8 * a->threads);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int t = 0; t < a->threads; t++) {
        const int64_t start = 8 * part * t, end = t + 1 == a->threads ? n : start + 8 * part;
        double        s[8] = { 0 };

        for (int k = 0; k < 8; k++)
            for (int64_t i = 0; i < w - 1; i++)
                s[k] += (double)x[start + k * part + i];
        for (int64_t i = start; i < start + part; i++)
            for (int k = 0; k < 8; k++) {
                s[k] += (double)x[i + k * part + w - 1];
                y[i + k * part] = (REAL)(s[k] / (double)w);
                s[k] -= (double)x[i + k * part];
            }
        for (int64_t i = start + 8 * part; i < end; i++) {
            s[7] += (double)x[i + w - 1];
            y[i] = (REAL)(s[7] / (double)w);
            s[7] -= (double)x[i];
        }
    }
}

/* The greatest of 2, 4, 8, ... neighbours, from those of half as many; two of the last make any
 * number. */
static void F(rolling_max)(const hand_args *a)
{
    const REAL   *x = a->in[0];
    REAL         *y = a->out[0];
    const int64_t w = roll_window(a), n = a->shape[0] - w + 1;

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < n; i += ROLL_PART) {
        const int64_t some = i + ROLL_PART < n ? ROLL_PART : n - i;
        REAL          b[ROLL_PART + ROLL_MOST];
        int64_t       has = 1;

        memcpy(b, x + i, (size_t)(some + w - 1) * sizeof *b);
        for (; 2 * has <= w; has *= 2)
            for (int64_t k = 0; k + has < some + w - 1; k++)
                b[k] = b[k] > b[k + has] ? b[k] : b[k + has];
        for (int64_t k = 0; k < some; k++)
            y[i + k] = b[k] > b[k + w - has] ? b[k] : b[k + w - has];
    }
}
