/* hand_pairs.h - every point x_i with every y_j; nothing of the (m, n) matrix is stored.  Included
 * for each type.
 *
 * A register holds LANES points x; the y are broadcast. */

#ifndef HAND_PAIRS_H
#define HAND_PAIRS_H
enum { TILE_POINTS = 12, SUM_BLOCK = 1024 };
/* Registers of points x and points y that a gradient takes together; points y whose sums stay in a
 * second-level cache. */
enum { GRAD_X = 4, GRAD_Y = 4, GRAD_BLOCK = 64, HAND_MOST_D = 50 };

static int64_t clamp(int64_t i, int64_t n)
{
    return i < n ? i : n - 1;
}
#endif

/* Coordinates of the points i..i+LANES-1, those beyond the last one its copies. */
INLINE void F(gather_points)(const REAL *x, int64_t i, int64_t m, int d, REAL factor, V *out)
{
    for (int c = 0; c < d; c++) {
        V v = { 0 };

        for (int k = 0; k < LANES; k++)
            v[k] = x[clamp(i + k, m) * d + c] * factor;
        out[c] = v;
    }
}

/* Adds the terms of y[start..end), packed as (y0, y1, y2, weight). */
INLINE void F(gauss_block)(V x[2][3], const REAL *y, int64_t start, int64_t end, V *out)
{
    V s[2] = { 0 };

    for (int64_t j = start; j < end; j++)
        for (int u = 0; u < 2; u++) {
            const REAL *q  = y + 4 * j;
            V           d0 = x[u][0] - q[0], d1 = x[u][1] - q[1], d2 = x[u][2] - q[2];

            s[u] += F(exp2)(-(d0 * d0 + d1 * d1 + d2 * d2)) * q[3];
        }
    out[0] += s[0];
    out[1] += s[1];
}

/* exp(-d) = 2^(-d log2 e): the factor goes into the points, once for each and not for each pair. */
static void F(gauss)(const hand_args *a)
{
    const REAL   *x = a->in[0], *y = a->in[1], *w = a->in[2], factor = (REAL)1.2011224087864498;
    REAL         *out = a->out[0], *packed;
    const int64_t m = a->shape[0], n = a->other[0];

    packed = aligned_alloc(64, (size_t)((n + 15) / 16 * 64) * sizeof *packed);
    for (int64_t j = 0; j < n; j++) {
        for (int c = 0; c < 3; c++)
            packed[4 * j + c] = y[3 * j + c] * factor;
        packed[4 * j + 3] = w[j];
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += 2 * LANES) {
        V points[2][3], s[2] = { 0 };

        F(gather_points)(x, i, m, 3, factor, points[0]);
        F(gather_points)(x, i + LANES, m, 3, factor, points[1]);
        for (int64_t j = 0; j < n; j += SUM_BLOCK)
            F(gauss_block)(points, packed, j, j + SUM_BLOCK < n ? j + SUM_BLOCK : n, s);
        for (int k = 0; k < 2 * LANES && i + k < m; k++)
            out[i + k] = s[k / LANES][k % LANES];
    }
    free(packed);
}

/* What 4 points y and 4 registers of points x give each other: k = exp(-|x - y|^2) goes to the
 * weights, (x - y) k to the points y, and times the weight to the points x.  A point y is packed as
 * its d coordinates and its weight. */
INLINE void F(gauss_grad_tile)(const V *x, const REAL *y, const int d, V *to_x, V *to_y)
{
    V k[GRAD_Y][GRAD_X] = { { { 0 } } };

    for (int c = 0; c < d; c++)
        for (int p = 0; p < GRAD_Y; p++)
            for (int u = 0; u < GRAD_X; u++) {
                const V t = x[c * GRAD_X + u] - y[p * (d + 1) + c];

                k[p][u] += t * t;
            }
    for (int p = 0; p < GRAD_Y; p++)
        for (int u = 0; u < GRAD_X; u++) {
            k[p][u] = F(exp2)(-k[p][u]);
            to_y[p * (d + 1) + d] += k[p][u];
        }
    for (int c = 0; c < d; c++) {
        V s[GRAD_X];

        for (int u = 0; u < GRAD_X; u++)
            s[u] = to_x[c * GRAD_X + u];
        for (int p = 0; p < GRAD_Y; p++) {
            V to = to_y[p * (d + 1) + c];

            for (int u = 0; u < GRAD_X; u++) {
                const V t = (x[c * GRAD_X + u] - y[p * (d + 1) + c]) * k[p][u];

                to += t;
                s[u] += t * y[p * (d + 1) + d];
            }
            to_y[p * (d + 1) + c] = to;
        }
        for (int u = 0; u < GRAD_X; u++)
            to_x[c * GRAD_X + u] = s[u];
    }
}

/* The sum of a register's numbers. */
INLINE REAL F(all_lanes)(V v)
{
    REAL sum = 0;

    for (int k = 0; k < LANES; k++)
        sum += v[k];
    return sum;
}

/* The sums of one strip of points x and points y [from, to), which are packed. */
INLINE void F(gauss_grad_strip)(const hand_args *a, int64_t i, const int d, REAL factor,
                                const REAL *packed, int64_t from, int64_t to, V *to_y)
{
    const int64_t m   = a->shape[0];
    REAL *const   out = a->out[0];
    V             x[GRAD_X * HAND_MOST_D], s[GRAD_X * HAND_MOST_D];

    for (int u = 0; u < GRAD_X; u++) {
        V point[HAND_MOST_D];

        F(gather_points)(a->in[0], i + u * LANES, m, d, factor, point);
        for (int c = 0; c < d; c++) {
            for (int k = 0; k < LANES; k++) /* points behind the last one are too far to count */
                point[c][k] = i + u * LANES + k < m ? point[c][k] : (REAL)1e6;
            x[c * GRAD_X + u] = point[c];
            s[c * GRAD_X + u] = (V){ 0 };
        }
    }
    for (int64_t j = from; j < to; j += GRAD_Y)
        F(gauss_grad_tile)(x, packed + j * (d + 1), d, s, to_y + (j - from) * (d + 1));
    for (int u = 0; u < GRAD_X; u++)
        for (int k = 0; k < LANES && i + u * LANES + k < m; k++)
            for (int c = 0; c < d; c++)
                out[(i + u * LANES + k) * d + c] += s[c * GRAD_X + u][k] * (-2 / factor);
}

/* In one pass over pairs: a block of points y, whose sums stay in a cache, with all points x. */
INLINE void F(gauss_grad_of)(const hand_args *a, const int d)
{
    const REAL   *y = a->in[1], *w = a->in[2], factor = (REAL)1.2011224087864498;
    REAL         *out_y = a->out[1], *out_w = a->out[2], *packed;
    const int64_t m = a->shape[0], n = a->other[0], strip = GRAD_X * LANES;
    const int64_t room = (n + GRAD_BLOCK - 1) / GRAD_BLOCK * GRAD_BLOCK;

    packed = aligned_alloc(64, (size_t)(room * (d + 1) + 15) / 16 * 64 * (sizeof *packed / 4));
    for (int64_t j = 0; j < room; j++) {
        for (int c = 0; c < d; c++)
            packed[j * (d + 1) + c] = j < n ? y[j * d + c] * factor : (REAL)-1e6;
        packed[j * (d + 1) + d] = j < n ? w[j] : 0;
    }
    memset(a->out[0], 0, (size_t)(m * d) * sizeof *out_y);
    memset(out_y, 0, (size_t)(n * d) * sizeof *out_y);
    memset(out_w, 0, (size_t)n * sizeof *out_w);
#pragma omp parallel num_threads(a->threads)
    for (int64_t from = 0; from < n; from += GRAD_BLOCK) {
        V sums[GRAD_BLOCK * (HAND_MOST_D + 1)];

        memset(sums, 0, sizeof(V) * (size_t)(GRAD_BLOCK * (d + 1)));
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < m; i += strip)
            F(gauss_grad_strip)(a, i, d, factor, packed, from, from + GRAD_BLOCK, sums);
#pragma omp critical
        for (int64_t j = from; j < from + GRAD_BLOCK && j < n; j++) {
            for (int c = 0; c < d; c++)
                out_y[j * d + c] +=
                    F(all_lanes)(sums[(j - from) * (d + 1) + c]) * w[j] * (2 / factor);
            out_w[j] += F(all_lanes)(sums[(j - from) * (d + 1) + d]);
        }
    }
    free(packed);
}

static void F(gauss_grad)(const hand_args *a)
{
    if (a->shape[1] == 3)
        F(gauss_grad_of)(a, 3);
    else
        F(gauss_grad_of)(a, HAND_MOST_D);
}

/* Of each point those up to itself: whole registers of points, then those among them. */
static void F(gauss_lower)(const hand_args *a)
{
    const REAL   *x = a->in[0], *w = a->in[1], factor = (REAL)1.2011224087864498;
    REAL         *out = a->out[0], *packed;
    const int64_t m   = a->shape[0];

    packed = aligned_alloc(64, (size_t)((m + 15) / 16 * 64) * sizeof *packed);
    for (int64_t j = 0; j < m; j++) {
        for (int c = 0; c < 3; c++)
            packed[4 * j + c] = x[3 * j + c] * factor;
        packed[4 * j + 3] = w[j];
    }
#pragma omp parallel for num_threads(a->threads) schedule(dynamic, 4)
    for (int64_t i = 0; i < m; i += 2 * LANES) {
        V points[2][3], s[2] = { 0 };

        F(gather_points)(x, i, m, 3, factor, points[0]);
        F(gather_points)(x, i + LANES, m, 3, factor, points[1]);
        for (int64_t j = 0; j < i; j += SUM_BLOCK)
            F(gauss_block)(points, packed, j, j + SUM_BLOCK < i ? j + SUM_BLOCK : i, s);
        for (int k = 0; k < 2 * LANES && i + k < m; k++) {
            V last[2] = { 0 };

            F(gauss_block)(points, packed, i + k, i + k + 1, last);
            for (int l = k; l < 2 * LANES; l++)
                s[l / LANES][l % LANES] += last[l / LANES][l % LANES];
        }
        for (int k = 0; k < 2 * LANES && i + k < m; k++)
            out[i + k] = s[k / LANES][k % LANES];
    }
    free(packed);
}

/* Of each point those of the blocks that count, range after range. */
static void F(gauss_blocks)(const hand_args *a)
{
    const REAL   *x = a->in[0], *w = a->in[1], factor = (REAL)1.2011224087864498;
    REAL         *out = a->out[0], *packed;
    const int64_t m   = a->shape[0];

    packed = aligned_alloc(64, (size_t)((m + 15) / 16 * 64) * sizeof *packed);
    for (int64_t j = 0; j < m; j++) {
        for (int c = 0; c < 3; c++)
            packed[4 * j + c] = x[3 * j + c] * factor;
        packed[4 * j + 3] = w[j];
    }
#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += 2 * LANES) {
        V points[2][3], s[2] = { 0 };

        F(gather_points)(x, i, m, 3, factor, points[0]);
        F(gather_points)(x, i + LANES, m, 3, factor, points[1]);
        for (int64_t j = 0; j < m; j += HAND_BLOCK)
            if (hand_block_counts(i / HAND_BLOCK, j / HAND_BLOCK))
                F(gauss_block)(points, packed, j, j + HAND_BLOCK < m ? j + HAND_BLOCK : m, s);
        for (int k = 0; k < 2 * LANES && i + k < m; k++)
            out[i + k] = s[k / LANES][k % LANES];
    }
    free(packed);
}

/* ---- Nearest in three dimensions: direct differences, four registers of points --------------- */
static void F(nearest3)(const hand_args *a)
{
    const REAL   *x = a->in[0], *y = a->in[1];
    int64_t      *out = a->out[0];
    const int64_t m = a->shape[0], n = a->other[0];

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += 4 * LANES) {
        V points[4][3], best[4];
        W at[4] = { 0 };

        for (int u = 0; u < 4; u++) {
            F(gather_points)(x, i + u * LANES, m, 3, 1, points[u]);
            best[u] = SPLAT(INFINITY);
        }
        for (int64_t j = 0; j < n; j++)
            UNROLL(4)
        for (int u = 0; u < 4; u++) {
            V d0 = points[u][0] - y[3 * j], d1 = points[u][1] - y[3 * j + 1],
              d2 = points[u][2] - y[3 * j + 2];
            V d  = d0 * d0 + d1 * d1 + d2 * d2;

            at[u]   = F(if_greater)(best[u], d, (W){ 0 } + (INT)j, at[u]);
            best[u] = F(min)(best[u], d);
        }
        for (int k = 0; k < 4 * LANES && i + k < m; k++)
            out[i + k] = at[k / LANES][k % LANES];
    }
}

/* ---- Nearest in any dimension: least |y|^2 - 2 x.y, in tiles as a matrix product has them ---- */
/* y in tiles of TILE_POINTS points: for each coordinate the tile's -2 y, and at the end every
 * |y|^2. */
static REAL *F(pack_tiles)(const REAL *y, int64_t n, int64_t padded, int64_t d)
{
    REAL *tiles = aligned_alloc(64, (size_t)((padded * (d + 1) + 15) / 16 * 16) * sizeof *tiles);

    for (int64_t j = 0; j < padded; j++) {
        double square = 0;

        for (int64_t c = 0; c < d; c++) {
            const REAL v = j < n ? y[j * d + c] : 0;

            tiles[j / TILE_POINTS * TILE_POINTS * d + c * TILE_POINTS + j % TILE_POINTS] = -2 * v;
            square += (double)v * (double)v;
        }
        tiles[padded * d + j] = j < n ? (REAL)square : (REAL)INFINITY;
    }
    return tiles;
}

/* One tile for 2 LANES points x, packed by coordinate: 24 accumulators.  The points are those from
 * the self-th of y, and none is its own nearest; -1: they are others. */
INLINE void F(nearest_tile)(const REAL *x, const REAL *tile, const REAL *square, int64_t d, INT j,
                            INT self, V *best, W *at)
{
    V s[2][TILE_POINTS];

    UNROLL(12)
    for (int t = 0; t < TILE_POINTS; t++)
        s[0][t] = s[1][t] = SPLAT(square[t]);
    for (int64_t c = 0; c < d; c++, tile += TILE_POINTS, x += 2 * LANES) {
        V a = LOAD(x), b = LOAD(x + LANES);

        UNROLL(12)
        for (int t = 0; t < TILE_POINTS; t++) {
            s[0][t] += a * tile[t];
            s[1][t] += b * tile[t];
        }
    }
    for (int t = 0; self >= 0 && t < TILE_POINTS; t++)
        if (j + t >= self && j + t < self + 2 * LANES)
            s[(j + t - self) / LANES][t][(j + t - self) % LANES] = (REAL)INFINITY;
    UNROLL(12)
    for (int t = 0; t < TILE_POINTS; t++)
        for (int u = 0; u < 2; u++) {
            at[u]   = F(if_greater)(best[u], s[u][t], (W){ 0 } + (j + t), at[u]);
            best[u] = F(min)(best[u], s[u][t]);
        }
}

/* Of n points y; or of all others of the same points: the tiles that hold the points themselves leave
 * these out. */
static void F(nearest_any)(const hand_args *a, const REAL *y, int64_t n, bool others)
{
    const REAL   *x   = a->in[0];
    int64_t      *out = a->out[0];
    const int64_t m = a->shape[0], d = a->shape[1];
    const int64_t padded = (n + TILE_POINTS - 1) / TILE_POINTS * TILE_POINTS;
    REAL         *tiles  = F(pack_tiles)(y, n, padded, d);

#pragma omp parallel for num_threads(a->threads) schedule(static)
    for (int64_t i = 0; i < m; i += 2 * LANES) {
        REAL *points  = aligned_alloc(64, (size_t)(2 * LANES * d) * sizeof *points);
        V     best[2] = { SPLAT(INFINITY), SPLAT(INFINITY) };
        W     at[2]   = { 0 };

        for (int64_t c = 0; c < d; c++)
            for (int k = 0; k < 2 * LANES; k++)
                points[c * 2 * LANES + k] = x[clamp(i + k, m) * d + c];
        for (int64_t j = 0; j < padded; j += TILE_POINTS) {
            const REAL *tile = tiles + j * d, *square = tiles + padded * d + j;

            if (others && j + TILE_POINTS > i && j < i + 2 * LANES)
                F(nearest_tile)(points, tile, square, d, (INT)j, (INT)i, best, at);
            else
                F(nearest_tile)(points, tile, square, d, (INT)j, -1, best, at);
        }
        for (int k = 0; k < 2 * LANES && i + k < m; k++)
            out[i + k] = at[k / LANES][k % LANES];
        free(points);
    }
    free(tiles);
}

static void F(nearest)(const hand_args *a)
{
    if (a->shape[1] == 3)
        F(nearest3)(a);
    else
        F(nearest_any)(a, a->in[1], a->other[0], false);
}
