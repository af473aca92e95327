/* hand_complex.h - pairs of parts, in0 (n, 2) and in1 (n, 2), n a multiple of 1024: plain loops,
 * which compilers make vectors of where nothing looks for infinities.  Included for each type. */

INLINE void F(sum_pairs)(const REAL *x, int64_t n, double *re, double *im)
{
    for (int64_t i = 0; i < n; i += 1024) {
        REAL s[32] = { 0 };

        for (int64_t k = 2 * i; k < 2 * (i + 1024); k += 32)
            for (int l = 0; l < 32; l++)
                s[l] += x[k + l];
        for (int l = 0; l < 32; l += 2) {
            *re += (double)s[l];
            *im += (double)s[l + 1];
        }
    }
}

static void F(complex_sum)(const hand_args *a)
{
    const REAL *x  = a->in[0];
    REAL       *y  = a->out[0];
    double      re = 0, im = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : re, im)
    for (int k = 0; k < a->threads; k++) {
        const int64_t first = share_start(a->shape[0], k, a->threads);

        F(sum_pairs)(x + 2 * first, share_start(a->shape[0], k + 1, a->threads) - first, &re, &im);
    }
    y[0] = (REAL)re;
    y[1] = (REAL)im;
}

/* Four products to 8 sums of each; what they come to goes to a double every 1024. */
INLINE void F(dot_pairs)(const REAL *x, const REAL *y, int64_t n, double *re, double *im)
{
    enum { WIDE = 16 };

    for (int64_t i = 0; i < n; i += 1024) {
        REAL s[WIDE] = { 0 }, t[WIDE] = { 0 };

        for (int64_t k = i; k < i + 1024; k += WIDE)
            for (int l = 0; l < WIDE; l++) {
                const REAL p = x[2 * (k + l)], q = x[2 * (k + l) + 1], u = y[2 * (k + l)],
                           v = y[2 * (k + l) + 1];

                s[l] += p * u - q * v;
                t[l] += p * v + q * u;
            }
        for (int l = 0; l < WIDE; l++) {
            *re += (double)s[l];
            *im += (double)t[l];
        }
    }
}

static void F(complex_dot)(const hand_args *a)
{
    const REAL *x = a->in[0], *y = a->in[1];
    REAL       *z  = a->out[0];
    double      re = 0, im = 0;

#pragma omp parallel for num_threads(a->threads) schedule(static) reduction(+ : re, im)
    for (int k = 0; k < a->threads; k++) {
        const int64_t first = share_start(a->shape[0], k, a->threads);

        F(dot_pairs)
        (x + 2 * first, y + 2 * first, share_start(a->shape[0], k + 1, a->threads) - first, &re,
         &im);
    }
    z[0] = (REAL)re;
    z[1] = (REAL)im;
}

static void F(complex_product)(const hand_args *a)
{
    const REAL *restrict x = a->in[0], *restrict y = a->in[1];
    REAL *restrict z = a->out[0];

#pragma omp parallel for simd num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++) {
        const REAL p = x[2 * i], q = x[2 * i + 1], u = y[2 * i], v = y[2 * i + 1];

        z[2 * i]     = p * u - q * v;
        z[2 * i + 1] = p * v + q * u;
    }
}

/* As who knows that squares stay in the range. */
static void F(complex_abs)(const hand_args *a)
{
    const REAL *restrict x = a->in[0];
    REAL *restrict y       = a->out[0];

#pragma omp parallel for simd num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < a->shape[0]; i++)
        y[i] = (REAL)sqrt(x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1]);
}
