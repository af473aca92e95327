/* hand_products.h - many products of 16 x 16 matrices.  Included for each type. */

#ifndef HAND_PRODUCTS_H
#define HAND_PRODUCTS_H
enum { SMALL = 16 };
#endif

/* A band of rows of c in 16 registers. */
static void F(small_products)(const hand_args *args)
{
    enum { WIDE = SMALL / LANES, BAND = SMALL / WIDE };
    const REAL *in0 = args->in[0], *in1 = args->in[1];
    REAL       *out = args->out[0];

#pragma omp parallel for num_threads(args->threads) schedule(static)
    for (int64_t q = 0; q < args->shape[0]; q++)
        for (int i = 0; i < SMALL; i += BAND) {
            const REAL *a = in0 + (q * SMALL + i) * SMALL, *b = in1 + q * SMALL * SMALL;
            REAL       *c             = out + (q * SMALL + i) * SMALL;
            V           s[BAND][WIDE] = { { { 0 } } };

            for (int k = 0; k < SMALL; k++)
                for (int w = 0; w < WIDE; w++) {
                    V row = LOAD(b + k * SMALL + w * LANES);

                    UNROLL(16)
                    for (int r = 0; r < BAND; r++)
                        s[r][w] += row * a[r * SMALL + k];
                }
            for (int r = 0; r < BAND; r++)
                for (int w = 0; w < WIDE; w++)
                    STORE(c + r * SMALL + w * LANES) = s[r][w];
        }
}
