/* fields_finance.h - the loops of finance: days of prices, paths, curves. */
void drawdown(const double *p, double *y, i64 days, i64 n)
{
    enum { BLOCK = 32 };
    PARALLEL
    for (i64 first = 0; first < n; first += BLOCK) {
        double peak[BLOCK] ALIGNED = { 0 }, least_part[BLOCK] ALIGNED;
        i64    here                = least(BLOCK, n - first);
        for (int k = 0; k < BLOCK; k++)
            least_part[k] = 1;
        for (i64 day = 0; day < days; day++)
            for (i64 k = 0; k < here; k++) {
                double v      = p[day * n + first + k];
                peak[k]       = peak[k] > v ? peak[k] : v;
                double part   = v / peak[k];
                least_part[k] = least_part[k] < part ? least_part[k] : part;
            }
        for (i64 k = 0; k < here; k++)
            y[first + k] = 1 - least_part[k];
    }
}

/* Eight rows go side by side, as each running sum waits for itself. */
void vwap(const float *price, const int32_t *volume, double *y, i64 rows, i64 n)
{
    PARALLEL
    for (i64 first = 0; first < rows; first += 8) {
        double  money[8]  = { 0 };
        int64_t shares[8] = { 0 };
        int     here      = (int)least(8, rows - first);
        if (here == 8)
            for (i64 t = 0; t < n; t++)
#pragma GCC unroll 8
                for (int r = 0; r < 8; r++) {
                    i64 at = (first + r) * n + t;
                    money[r] += (double)price[at] * volume[at];
                    shares[r] += volume[at];
                    y[at] = money[r] / (double)shares[r];
                }
        else
            for (int r = 0; r < here; r++)
                for (i64 t = 0; t < n; t++) {
                    i64 at = (first + r) * n + t;
                    money[r] += (double)price[at] * volume[at];
                    shares[r] += volume[at];
                    y[at] = money[r] / (double)shares[r];
                }
    }
}

void macd(const double *p, double *line, double *histogram, i64 days, i64 n)
{
    enum { BLOCK = 32 };
    const double a = 2.0 / 13, b = 2.0 / 27, c = 2.0 / 10;

    PARALLEL
    for (i64 first = 0; first < n; first += BLOCK) {
        double fast[BLOCK] ALIGNED, slow[BLOCK] ALIGNED, signal[BLOCK] ALIGNED = { 0 };
        i64    here = least(BLOCK, n - first);
        for (i64 k = 0; k < here; k++)
            fast[k] = slow[k] = p[first + k];
        for (i64 day = 0; day < days; day++)
            for (i64 k = 0; k < here; k++) {
                i64 at = day * n + first + k;
                fast[k] += a * (p[at] - fast[k]);
                slow[k] += b * (p[at] - slow[k]);
                double both   = fast[k] - slow[k];
                signal[k]     = day ? signal[k] + c * (both - signal[k]) : both;
                line[at]      = both;
                histogram[at] = both - signal[k];
            }
    }
}

/* Sums of 20 are sums of 16 and 4, made by doubling in the first-level cache.  The first element
 * of a block is subtracted from all of it, so that less cancels in the variance. */
void z_score(const double *x, double *y, i64 n)
{
    enum { LAST = 20, BLOCK = 480, LONG = BLOCK + LAST };
    i64 wide = n - LAST + 1;

    PARALLEL
    for (i64 first = 0; first < wide; first += BLOCK) {
        double v[LONG] ALIGNED, s[4][LONG] ALIGNED, q[4][LONG] ALIGNED, centre = x[first];
        i64    here = least(BLOCK, wide - first), m = here + LAST - 1;
        for (i64 k = 0; k < m; k++)
            v[k] = x[first + k] - centre;
        for (i64 k = 0; k < m - 1; k++) {
            s[0][k] = v[k] + v[k + 1];
            q[0][k] = v[k] * v[k] + v[k + 1] * v[k + 1];
        }
        for (int level = 1; level < 4; level++)
            for (i64 k = 0; k < m - (2 << level) + 1; k++) {
                s[level][k] = s[level - 1][k] + s[level - 1][k + (1 << level)];
                q[level][k] = q[level - 1][k] + q[level - 1][k + (1 << level)];
            }
        for (i64 k = 0; k < here; k++) {
            double mean = (s[3][k] + s[1][k + 16]) / LAST, square = (q[3][k] + q[1][k + 16]) / LAST;
            y[first + k] = (v[k + LAST - 1] - mean) / sqrt(square - mean * mean);
        }
    }
}

typedef int32_t i32x16 __attribute__((vector_size(64)));

/* Sums of all elements up to each, in four steps. */
static inline f32x16 running(f32x16 x)
{
    const f32x16 zero  = { 0 };
    const i32x16 one   = { 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
    const i32x16 two   = { 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
    const i32x16 four  = { 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    const i32x16 eight = { 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7 };

    x += __builtin_shuffle(x, zero, one);
    x += __builtin_shuffle(x, zero, two);
    x += __builtin_shuffle(x, zero, four);
    return x + __builtin_shuffle(x, zero, eight);
}

void asian(const float *z, double *price, i64 paths, i64 n)
{
    const float drift = (float)(M_LOG2E * (0.03 - 0.5 * 0.2 * 0.2) / 252),
                step  = (float)(M_LOG2E * 0.2 * sqrt(1.0 / 252));
    double total      = 0;
    i64    whole      = (n + 15) / 16 * 16;

#pragma omp parallel for schedule(static) reduction(+ : total)
    for (i64 path = 0; path < paths; path++) {
        float        level[1024] ALIGNED, now = 0, sum = 0;
        const float *steps = z + path * n;
        for (i64 t = 0; t < n; t += 16) {
            float padded[16] ALIGNED = { 0 };
            if (t + 16 > n)
                memcpy(padded, steps + t, (size_t)(n - t) * sizeof *padded);
            f32x16 sums =
                running(drift + step * *(const f32x16 *)(t + 16 > n ? padded : steps + t)) + now;
            *(f32x16 *)(level + t) = sums;
            now                    = sums[15];
        }
        for (i64 t = n; t < whole; t++)
            level[t] = -100; /* of which the power is nothing */
        for (i64 t = 0; t < whole; t++)
            sum += power_of_two(level[t]);
        float gain = 100 * sum / (float)n - 100;
        total += gain > 0 ? gain : 0;
    }
    *price = exp(-0.03) * total / (double)paths;
}

/* Eight portfolios go together.  Their product with 24 columns is used as soon as it is there. */
void portfolio_variance(const double *w, const double *cov, double *y, i64 m, i64 n)
{
    i64     parts  = (n + WIDE - 1) / WIDE;
    double *panels = panels_of(n, n);

    for (i64 j = 0; j < parts; j++)
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < WIDE; k++)
                panels[(j * n + i) * WIDE + k] = j * WIDE + k < n ? cov[i * n + j * WIDE + k] : 0;
    PARALLEL
    for (i64 first = 0; first < m; first += HIGH) {
        double rows[HIGH * 1024], total[HIGH] = { 0 };
        i64    here = least(HIGH, m - first);
        for (i64 i = 0; i < n; i++)
            for (i64 r = 0; r < HIGH; r++)
                rows[i * HIGH + r] = r < here ? w[(first + r) * n + i] : 0;
        for (i64 j = 0; j < parts; j++) {
            f64x8  sum[HIGH][3] = { 0 };
            double out[HIGH][WIDE];
            product_tile(rows, HIGH, 1, panels + j * n * WIDE, WIDE, n, sum);
            memcpy(out, sum, sizeof out);
            for (i64 r = 0; r < here; r++)
                for (i64 k = 0; k < least(WIDE, n - j * WIDE); k++)
                    total[r] += out[r][k] * w[(first + r) * n + j * WIDE + k];
        }
        for (i64 r = 0; r < here; r++)
            y[first + r] = total[r];
    }
    free(panels);
}

/* A curve of straight pieces is a sum of clipped ramps, so no knot is searched. */
void bonds(const double *times, const double *cash, const double *knots, const double *rates,
           double *y, i64 n, i64 dates, i64 many)
{
    double slope[64];

    for (i64 q = 0; q < many - 1; q++)
        slope[q] = (rates[q + 1] - rates[q]) / (knots[q + 1] - knots[q]);
    PARALLEL
    for (i64 i = 0; i < n; i++) {
        double rate[256] ALIGNED, sum = 0;
        for (i64 k = 0; k < dates; k++)
            rate[k] = rates[0];
        for (i64 q = 0; q < many - 1; q++) {
            double from = knots[q], upto = knots[q + 1] - from;
            for (i64 k = 0; k < dates; k++) {
                double ramp = times[i * dates + k] - from;
                ramp        = ramp > 0 ? ramp : 0;
                rate[k] += slope[q] * (ramp < upto ? ramp : upto);
            }
        }
        for (i64 k = 0; k < dates; k++)
            sum += cash[i * dates + k] * exp(-rate[k] * times[i * dates + k]);
        y[i] = sum;
    }
}

void binomial_step(const double *s, const double *v, const double *strike, double *y, i64 n,
                   i64 nodes)
{
    const double up = 0.9999 * 0.507, down = 0.9999 * 0.493;

    PARALLEL
    for (i64 i = 0; i < n; i++) {
        const double *value = v + i * nodes, *spot = s + i * nodes;
        double       *to = y + i * (nodes - 1);
        for (i64 k = 0; k < nodes - 1; k++) {
            double goes_on = up * value[k] + down * value[k + 1], now = strike[i] - spot[k];
            to[k] = now > goes_on ? now : goes_on;
        }
    }
}
