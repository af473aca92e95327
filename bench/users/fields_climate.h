/* fields_climate.h - the loops of climate: days, latitudes and longitudes. */
void zonal_anomaly(const float *t, float *y, i64 days, i64 n_lat, i64 n_lon)
{
    PARALLEL
    for (i64 row = 0; row < days * n_lat; row++) {
        float sum = 0;
        for (i64 k = 0; k < n_lon; k++)
            sum += t[row * n_lon + k];
        y[row] = sum / (float)n_lon;
    }
    double *mean = calloc((size_t)n_lat, sizeof *mean);
    for (i64 day = 0; day < days; day++)
        for (i64 lat = 0; lat < n_lat; lat++)
            mean[lat] += y[day * n_lat + lat];
    for (i64 day = 0; day < days; day++)
        for (i64 lat = 0; lat < n_lat; lat++)
            y[day * n_lat + lat] -= (float)(mean[lat] / (double)days);
    free(mean);
}

/* In tenths of a degree all sums are whole. */
void degree_days(const int16_t *tmax, const int16_t *tmin, double *y, i64 days, i64 n)
{
    PARALLEL
    for (i64 first = 0; first < n; first += 128) {
        int32_t sum[128] ALIGNED = { 0 };
        i64     here             = least(128, n - first);
        for (i64 day = 0; day < days; day++) {
            const int16_t *hi = tmax + day * n + first, *lo = tmin + day * n + first;
            for (i64 k = 0; k < here; k++) {
                int16_t warm = (int16_t)(hi[k] + lo[k] - 200);
                sum[k] += warm > 0 ? warm : (int16_t)0;
            }
        }
        for (i64 k = 0; k < here; k++)
            y[first + k] = sum[k] / 20.0;
    }
}

/* The sector that the wind comes from, of eight.  Comparisons with the tangent of 22.5 degrees
 * take the place of an angle. */
static inline int32_t sector(float u, float v)
{
    const float tangent = 0.41421356F;
    float       x = fabsf(u), y = fabsf(v);
    int32_t     along_y = v < 0 ? 0 : 4, along_x = u < 0 ? 2 : 6;
    int32_t     between = u < 0 ? (v < 0 ? 1 : 3) : (v < 0 ? 7 : 5);

    return x < tangent * y ? along_y : y < tangent * x ? along_x : between;
}

static void wind_block(const float *u, const float *v, i64 n, i64 count[8], double sum[8])
{
    int32_t at[1024] ALIGNED;
    float   speed[1024] ALIGNED;

    for (i64 k = 0; k < n; k++) {
        at[k]    = sector(u[k], v[k]);
        speed[k] = sqrtf(u[k] * u[k] + v[k] * v[k]);
    }
    for (int s = 0; s < 8; s++) {
        int32_t many = 0;
        float   part = 0;
        for (i64 k = 0; k < n; k++) {
            many += at[k] == s;
            part += at[k] == s ? speed[k] : 0;
        }
        count[s] += many;
        sum[s] += part;
    }
}

void wind_rose(const float *u, const float *v, i64 *count, float *mean, i64 n)
{
    i64    many[8] = { 0 };
    double sum[8]  = { 0 };

#pragma omp parallel for schedule(static) reduction(+ : many, sum)
    for (i64 k = 0; k < n; k += 1024)
        wind_block(u + k, v + k, least(1024, n - k), many, sum);
    for (int s = 0; s < 8; s++) {
        count[s] = many[s];
        mean[s]  = (float)(sum[s] / (double)many[s]);
    }
}

void dew_point(const double *t, const double *rh, double *saturation, double *dew, i64 n)
{
    PARALLEL
    for (i64 k = 0; k < n; k++) {
        double e      = 6.112 * exp(17.67 * t[k] / (t[k] + 243.5));
        double g      = log(e * rh[k] * (1 / 611.2));
        saturation[k] = e;
        dew[k]        = 243.5 * g / (17.67 - g);
    }
}

void eof_covariance(const double *x, const double *lat, double *c, i64 n, i64 n_lat, i64 n_lon)
{
    i64     cells  = n_lat * n_lon;
    double *panels = panels_of(n, cells);

    PARALLEL
    for (i64 first = 0; first < cells; first += 10 * WIDE) {
        double mean[10 * WIDE] ALIGNED = { 0 }, weight[10 * WIDE] ALIGNED = { 0 };
        i64    here = least(10 * WIDE, cells - first);
        for (i64 t = 0; t < n; t++)
            for (i64 k = 0; k < here; k++)
                mean[k] += x[t * cells + first + k];
        for (i64 k = 0; k < here; k++) {
            mean[k] /= (double)n;
            weight[k] = sqrt(cos(lat[(first + k) / n_lon] * (M_PI / 180)) / (double)(n - 1));
        }
        for (i64 t = 0; t < n; t++)
            for (i64 q = 0; q < here; q += WIDE) {
                const double *from = x + t * cells + first;
                double       *to   = panels + (first + q) * n + t * WIDE;
                if (here - q >= WIDE)
                    for (i64 k = 0; k < WIDE; k++)
                        to[k] = (from[q + k] - mean[q + k]) * weight[q + k];
                else
                    for (i64 k = 0; k < WIDE; k++)
                        to[k] = q + k < here ? (from[q + k] - mean[q + k]) * weight[q + k] : 0;
            }
    }
    gram(panels, n, cells, c);
    free(panels);
}

void hottest_month(const float *t, float *y, i64 days, i64 n)
{
    enum { BLOCK = 64, MONTH = 30 };
    PARALLEL
    for (i64 first = 0; first < n; first += BLOCK) {
        double sum[BLOCK] ALIGNED = { 0 }, best[BLOCK] ALIGNED;
        i64    here               = least(BLOCK, n - first);
        for (i64 day = 0; day < MONTH; day++)
            for (i64 k = 0; k < here; k++)
                sum[k] += t[day * n + first + k];
        memcpy(best, sum, sizeof best);
        for (i64 day = MONTH; day < days; day++) {
            const float *in = t + day * n + first, *out = in - MONTH * n;
            for (i64 k = 0; k < here; k++) {
                sum[k] += (double)(in[k] - out[k]);
                best[k] = best[k] > sum[k] ? best[k] : sum[k];
            }
        }
        for (i64 k = 0; k < here; k++)
            y[first + k] = (float)(best[k] / MONTH);
    }
}

enum { LANES = 16 };

/* The element of place `rank` in each of 16 columns is found bit by bit from the highest: a count
 * of the elements below says what the bit is, and 16 columns of a year stay in the first-level
 * cache. */
static void select_rank(const int32_t (*x)[LANES], i64 n, int32_t rank, int32_t found[LANES])
{
    uint32_t low[LANES] ALIGNED = { 0 };

    for (int bit = 31; bit >= 0; bit--) {
        int32_t below[LANES] ALIGNED = { 0 }, middle[LANES] ALIGNED;
        for (int k = 0; k < LANES; k++)
            middle[k] = (int32_t)((low[k] | 1U << bit) ^ 0x80000000U);
        for (i64 day = 0; day < n; day++)
            for (int k = 0; k < LANES; k++)
                below[k] += x[day][k] < middle[k];
        for (int k = 0; k < LANES; k++)
            low[k] |= below[k] <= rank ? 1U << bit : 0;
    }
    for (int k = 0; k < LANES; k++)
        found[k] = (int32_t)(low[k] ^ 0x80000000U);
}

static void exceedance_columns(const float *t, i64 *y, i64 days, i64 n, i64 here)
{
    int32_t(*x)[LANES] = aligned_alloc(64, (size_t)days * sizeof *x);
    double  place      = 0.9 * (double)(days - 1);
    int32_t rank = (int32_t)place, at[LANES], limit[LANES], above[LANES] = { 0 };

    for (i64 day = 0; day < days; day++)
        for (i64 k = 0; k < LANES; k++)
            x[day][k] = k < here ? ordered(t[day * n + k]) : 0;
    select_rank((const int32_t(*)[LANES])x, days, rank, at);
    int32_t next[LANES], upto[LANES] = { 0 };
    for (int k = 0; k < LANES; k++)
        next[k] = INT32_MAX;
    for (i64 day = 0; day < days; day++)
        for (int k = 0; k < LANES; k++) {
            next[k] = x[day][k] > at[k] && x[day][k] < next[k] ? x[day][k] : next[k];
            upto[k] += x[day][k] <= at[k];
        }
    for (int k = 0; k < LANES; k++) {
        float low = of_ordered(at[k]), high = upto[k] > rank + 1 ? low : of_ordered(next[k]);
        limit[k] = ordered((float)(low + (high - low) * (place - rank)));
    }
    for (i64 day = 0; day < days; day++)
        for (int k = 0; k < LANES; k++)
            above[k] += x[day][k] > limit[k];
    for (i64 k = 0; k < here; k++)
        y[k] = above[k];
    free(x);
}

void exceedance(const float *t, i64 *y, i64 days, i64 n)
{
    PARALLEL
    for (i64 first = 0; first < n; first += LANES)
        exceedance_columns(t + first, y + first, days, n, least(LANES, n - first));
}
