/* patterns.c - graphs, grids and cubes as compressed rows. */
#include "patterns.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64: any bits of any index, by whoever asks for it. */
static uint64_t mixed(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15U;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

static int32_t *ints(int64_t n)
{
    return malloc((size_t)(n + 1) * sizeof(int32_t));
}

/* ---- R-MAT ----------------------------------------------------------------------------------- */
enum { EDGES_A_NODE = 16, QUADRANT_A = 57, QUADRANT_B = 76, QUADRANT_C = 95 };

/* One edge: a quadrant a bit, each of which takes two bytes of a random number. */
static void edge(int levels, uint64_t number, int32_t *row, int32_t *column)
{
    uint64_t bits = 0;

    *row = *column = 0;
    for (int k = 0; k < levels; k++) {
        bits              = k % 4 == 0 ? mixed(8 * number + (uint64_t)k / 4) : bits >> 16;
        const uint64_t of = (bits & 0xffff) * 100 >> 16;

        *row    = 2 * *row + (of >= QUADRANT_B);
        *column = 2 * *column + ((of >= QUADRANT_A && of < QUADRANT_B) || of >= QUADRANT_C);
    }
}

/* Entries in the order of `key`, which is below n: start[k] is where those of k begin. */
static bool count_keys(const int32_t *key, int64_t n_entries, int64_t n, int32_t *start)
{
    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int64_t e = 0; e < n_entries; e++)
        start[key[e] + 1]++;
    for (int64_t k = 0; k < n; k++)
        start[k + 1] += start[k];
    return true;
}

/* Entries (row, column) in order, by columns and then, as ties stay in order, by rows. */
static bool in_order(int32_t *row, int32_t *column, int64_t n_entries, int64_t n, int32_t *pos)
{
    int32_t *const r = ints(n_entries), *const c = ints(n_entries), *const next = ints(n);

    if (r && c && next) {
        count_keys(column, n_entries, n, next);
        for (int64_t e = 0; e < n_entries; e++) {
            const int32_t at = next[column[e]]++;

            r[at] = row[e];
            c[at] = column[e];
        }
        count_keys(r, n_entries, n, pos);
        memcpy(next, pos, (size_t)(n + 1) * sizeof *next);
        for (int64_t e = 0; e < n_entries; e++)
            column[next[r[e]]++] = c[e];
    }
    free(r);
    free(c);
    free(next);
    return r && c && next;
}

/* Columns that a row has twice are one. */
static void without_twins(bench_pattern *p)
{
    int32_t n = 0;

    for (int64_t i = 0; i < p->rows; i++) {
        const int32_t from = p->pos[i], to = p->pos[i + 1];

        p->pos[i] = n;
        for (int32_t e = from; e < to; e++)
            if (e == from || p->crd[e] != p->crd[n - 1])
                p->crd[n++] = p->crd[e];
    }
    p->pos[p->rows] = n;
    p->places       = n;
}

static bool make_rmat(bench_pattern *p, double scale, uint64_t which)
{
    const int     levels = (int)fmax(4, 20 + floor(log2(scale)));
    const int64_t n = (int64_t)1 << levels, edges = EDGES_A_NODE * n;
    int32_t      *row = ints(edges);

    p->rows = n;
    p->pos  = ints(n);
    p->crd  = ints(edges);
    if (row && p->pos && p->crd)
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < edges; e++)
            edge(levels, (which << 40) + (uint64_t)e, &row[e], &p->crd[e]);
    const bool ok = row && p->pos && p->crd && in_order(row, p->crd, edges, n, p->pos);
    free(row);
    if (ok)
        without_twins(p);
    return ok;
}

/* ---- A grid ---------------------------------------------------------------------------------- */
static bool make_laplace(bench_pattern *p, double scale)
{
    const int64_t side    = (int64_t)fmax(4, nearbyint(128 * cbrt(scale)));
    const int64_t step[3] = { side * side, side, 1 };
    int32_t       n       = 0;

    p->rows = side * side * side;
    p->pos  = ints(p->rows);
    p->crd  = ints(7 * p->rows);
    if (!p->pos || !p->crd)
        return false;
    for (int64_t i = 0; i < p->rows; i++) {
        p->pos[i] = n;
        for (int k = 0; k < 3; k++)
            if (i / step[k] % side > 0)
                p->crd[n++] = (int32_t)(i - step[k]);
        p->crd[n++] = (int32_t)i;
        for (int k = 2; k >= 0; k--)
            if (i / step[k] % side < side - 1)
                p->crd[n++] = (int32_t)(i + step[k]);
    }
    p->pos[p->rows] = n;
    p->places       = n;
    return true;
}

/* ---- A file ---------------------------------------------------------------------------------- */
/* A row of i32 in NumPy's format 1.0, as examples/data has it; *n elements. */
static int32_t *read_ints(const char *data, const char *name, int64_t *n)
{
    char          path[4096], *text = NULL;
    unsigned char head[10];
    int32_t      *values = NULL;

    snprintf(path, sizeof path, "%s/%s", data, name);
    FILE *const file = fopen(path, "rb");
    if (file && fread(head, 1, sizeof head, file) == sizeof head) {
        const size_t length = head[8] + 256U * head[9];

        text = calloc(length + 1, 1);
        if (text && fread(text, 1, length, file) == length && strstr(text, "'<i4'")) {
            *n     = strtoll(strstr(text, "'shape': (") ? strstr(text, "(") + 1 : "0", NULL, 10);
            values = ints(*n);
            if (values && fread(values, sizeof *values, (size_t)*n, file) != (size_t)*n) {
                free(values);
                values = NULL;
            }
        }
    }
    free(text);
    if (file)
        fclose(file);
    return values;
}

static bool make_depends(bench_pattern *p, const char *data)
{
    p->pos  = read_ints(data, "depends_pos.npy", &p->rows);
    p->crd  = read_ints(data, "depends_crd.npy", &p->places);
    p->rows = p->rows - 1;
    return p->pos && p->crd;
}

/* ---- A cube ---------------------------------------------------------------------------------- */
enum { CUBE_SHARE = 16 };

static bool make_cube(bench_pattern *p, double scale)
{
    static const int64_t whole[3] = { 256, 512, 512 };

    for (int k = 0; k < 3; k++)
        p->extent[k] = (int64_t)fmax(8, nearbyint((double)whole[k] * cbrt(scale)));
    const int64_t n = p->extent[0] * p->extent[1] * p->extent[2];
    p->rows         = p->extent[0];
    p->top          = ints(p->rows);
    p->fibre        = ints(n / p->extent[2]);
    p->pos          = ints(n / p->extent[2]);
    p->crd          = ints(n / CUBE_SHARE * 2);
    if (!p->top || !p->fibre || !p->pos || !p->crd)
        return false;
    p->top[0] = p->pos[0] = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        for (int64_t j = 0; j < p->extent[1]; j++) {
            for (int64_t k = 0; k < p->extent[2]; k++)
                if (mixed((uint64_t)((i * p->extent[1] + j) * p->extent[2] + k)) % CUBE_SHARE == 0)
                    p->crd[p->places++] = (int32_t)k;
            if (p->places > p->pos[p->fibres]) {
                p->fibre[p->fibres++] = (int32_t)j;
                p->pos[p->fibres]     = (int32_t)p->places;
            }
        }
        p->top[i + 1] = (int32_t)p->fibres;
    }
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */
static bool make(bench_pattern *p, bench_pattern_kind kind, double scale, const char *data)
{
    switch (kind) {
    case PATTERN_RMAT: return make_rmat(p, scale, 0);
    case PATTERN_RMAT_OTHER: return make_rmat(p, scale, 1);
    case PATTERN_LAPLACE: return make_laplace(p, scale);
    case PATTERN_DEPENDS: return make_depends(p, data);
    case PATTERN_CUBE: return make_cube(p, scale);
    default: return false;
    }
}

const bench_pattern *bench_pattern_of(bench_pattern_kind kind, double scale, const char *data)
{
    static bench_pattern made[PATTERNS];
    static double        made_at[PATTERNS];
    bench_pattern *const p = &made[kind];

    if (made_at[kind] == scale)
        return p;
    for (int k = 0; k < 4; k++)
        free((int32_t *[]){ p->pos, p->crd, p->top, p->fibre }[k]);
    memset(p, 0, sizeof *p);
    made_at[kind] = make(p, kind, scale, data) ? scale : 0;
    for (int k = 0; k < 3 && kind != PATTERN_CUBE; k++)
        p->extent[k] = k < 2 ? p->rows : 1;
    return made_at[kind] == scale ? p : NULL;
}
