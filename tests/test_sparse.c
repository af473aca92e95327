/* Sparse leaves: what they are, and what they refuse.  test_sparse_random.c has expressions of
 * them. */
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Leaves ---------------------------------------------------------------------------------- */
START_TEST(matrices)
{
    /* 0 1 0 / 0 0 0 / 2 0 3 */
    static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 }, row[] = { 0, 2, 2 };
    static const int32_t down[] = { 0, 1, 2, 3 }, of[] = { 2, 0, 2 };
    static const float   v[] = { 1, 2, 3 }, turned[] = { 2, 1, 3 };
    rd_expr *const       x = leaf(RD_F32, VALUES(1, 10, 100));
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const       values = rd_wrap(ctx, v, RD_SHAPE(3));
    rd_expr *const       csr    = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values);
    rd_expr *const       csc    = rd_csc(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, down, RD_SHAPE(4)),
                                         rd_wrap(ctx, of, RD_SHAPE(3)), rd_wrap(ctx, turned, RD_SHAPE(3)));
    rd_expr *const coo   = rd_coo(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, row, RD_SHAPE(3)), c, values);
    rd_expr *const all[] = { csr, csc, coo };

    for (int k = 0; k < 3; k++) {
        expect("dense", all[k], RD_F32, VALUES(0, 1, 0, 0, 0, 0, 2, 0, 3));
        expect("row", rd_select(all[k], 0, 2), RD_F32, VALUES(2, 0, 3));
        expect("A x", rd_matmul(all[k], x), RD_F32, VALUES(10, 0, 302));
        expect("x A", rd_matmul(x, all[k]), RD_F32, VALUES(200, 1, 300));
        expect("rows", rd_sum(all[k], RD_DIMS(1)), RD_F32, VALUES(1, 0, 5));
        ck_assert(rd_is_sparse(rd_mul(rd_transpose(all[k]), rd_num(ctx, 2))));
    }
    expect("pattern", rd_csr(ctx, RD_SHAPE(3, 3), p, c, NULL), RD_BOOL,
           VALUES(0, 1, 0, 0, 0, 0, 1, 0, 1));
    expect("stored", rd_stored(rd_mul(csr, csr)), RD_F32, VALUES(1, 4, 9));
    expect("where", rd_stored_at(csr, 1), RD_I32, VALUES(1, 0, 2));
    expect("as", rd_sum(rd_stored_as(csr, leaf(RD_F64, VALUES(1, 1, 2))), RD_DIMS(0)), RD_F64,
           VALUES(1, 1, 2));
}
END_TEST

START_TEST(nothing_elsewhere)
{
    static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 };
    static const float   v[] = { 1, 2, 3 };
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const       values = rd_wrap(ctx, v, RD_SHAPE(3));
    rd_expr *const       a      = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values, .stored = true);
    rd_expr *const       b      = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values);
    rd_expr *const       x      = leaf(RD_F32, VALUES(1, INFINITY, 1));

    expect("stored", rd_matmul(a, x), RD_F32, VALUES(INFINITY, 0, 5));
    expect("all", rd_matmul(b, x), RD_F32, VALUES(INFINITY, NAN, NAN));
    expect("mean", rd_mean(a, RD_DIMS(1)), RD_F32, VALUES(1, NAN, 2.5));
    expect("min", rd_min(a, RD_DIMS(1)), RD_F32, VALUES(1, NAN, 2));
    expect("dense", rd_dense(a), RD_F32, VALUES(0, 1, 0, 0, 0, 0, 2, 0, 3));
    expect("other", rd_add(a, rd_num(ctx, 1)), RD_F32, VALUES(0, 2, 0, 0, 0, 0, 3, 0, 4));
    expect_error("a slice", rd_slice_axis(a, 1, 0, 2, 1), RD_ERR_TYPE);
    expect_error("sort", rd_sort(b, 1, false), RD_ERR_TYPE);
}
END_TEST

/* ---- Results --------------------------------------------------------------------------------- */
static void indices(const char *what, const rd_indices *row, int64_t n, const int32_t *wanted)
{
    ck_assert_msg(row->type == RD_I32 && row->n == n, "%s: %lld indices of type %d", what,
                  (long long)row->n, (int)row->type);
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(((const int32_t *)row->data)[k] == wanted[k], "%s: %lld is %d, not %d", what,
                      (long long)k, ((const int32_t *)row->data)[k], wanted[k]);
}

START_TEST(sparse_results)
{
    static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 };
    static const int32_t down[] = { 0, 1, 2, 3 }, of[] = { 2, 0, 2 }, row[] = { 0, 2, 2 };
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const       a =
        rd_csr(ctx, RD_SHAPE(3, 3), p, c, leaf(RD_F32, VALUES(1, 2, 3)), .stored = true);
    rd_sparse_array csr = { 0 }, coo = { 0 };
    rd_sparse_array csc = { .n_level = 2,
                            .level   = { { RD_LEVEL_DENSE, 1, { 0 }, { 0 } },
                                         { RD_LEVEL_COMPRESSED, 0, { 0 }, { 0 } } } };

    ck_assert(rd_eval_sparse(ctx, rd_mul(a, a), &csr) == RD_OK && csr.stored);
    ck_assert(csr.n_level == 2 && !csr.level[0].crd.data && !csr.level[0].pos.data);
    indices("pos", &csr.level[1].pos, 4, pos);
    indices("crd", &csr.level[1].crd, 3, crd);
    expect("values", rd_adopt(ctx, &csr.values), RD_F32, VALUES(1, 4, 9));
    ck_assert(rd_eval_sparse(ctx, a, &csc) == RD_OK);
    indices("columns' pos", &csc.level[1].pos, 4, down);
    indices("columns' crd", &csc.level[1].crd, 3, of);
    expect("again", rd_dense(rd_adopt_sparse(ctx, &csc)), RD_F32,
           VALUES(0, 1, 0, 0, 0, 0, 2, 0, 3));
    coo.n_level       = 2;
    coo.level[0].kind = coo.level[1].kind = RD_LEVEL_COORDINATES;
    coo.level[1].axis                     = 1;
    ck_assert(rd_eval_sparse(ctx, a, &coo) == RD_OK);
    indices("rows", &coo.level[0].crd, 3, row);
    indices("columns", &coo.level[1].crd, 3, crd);
    rd_sparse_array_free(&csr);
    rd_sparse_array_free(&csc);
    rd_sparse_array_free(&coo);
}
END_TEST

/* A rank 3 array in each format and order of axes, with some fill, there and back. */
enum { CUBE_A = 4, CUBE_B = 3, CUBE_C = 5, CUBE = CUBE_A * CUBE_B * CUBE_C };

static rd_expr *cube_of(int places, double fill, bool pairs)
{
    static int32_t row[3][CUBE];
    static double  v[CUBE];
    rd_expr       *at[3], *values;

    for (int p = 0; p < places; p++) {
        const int e = p * CUBE / (places ? places : 1);

        row[0][p] = e / (CUBE_B * CUBE_C);
        row[1][p] = e / CUBE_C % CUBE_B;
        row[2][p] = e % CUBE_C;
        v[p]      = p + 0.5;
    }
    for (int k = 0; k < 3; k++)
        at[k] =
            rd_leaf(ctx, &(rd_array){ .in = row[k], .type = RD_I32, .shape = RD_SHAPE(places) });
    values = rd_leaf(ctx, &(rd_array){ .in = v, .type = RD_F64, .shape = RD_SHAPE(places) });
    if (pairs)
        values = rd_complex(values, rd_mul(values, values));
    return rd_sparse(ctx, RD_SHAPE(CUBE_A, CUBE_B, CUBE_C),
                     RD_LEVELS({ RD_LEVEL_COORDINATES, 0, NULL, at[0] },
                               { RD_LEVEL_COORDINATES, 1, NULL, at[1] },
                               { RD_LEVEL_COORDINATES, 2, NULL, at[2] }),
                     values, .fill = rd_num(ctx, fill));
}

START_TEST(there_and_back)
{
    static const rd_level_kind kinds[][3] = {
        { RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED, RD_LEVEL_COMPRESSED },
        { RD_LEVEL_COMPRESSED, RD_LEVEL_COMPRESSED, RD_LEVEL_COMPRESSED },
        { RD_LEVEL_DENSE, RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED },
        { RD_LEVEL_COMPRESSED, RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED },
        { RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED, RD_LEVEL_COORDINATES },
        { RD_LEVEL_COMPRESSED, RD_LEVEL_COORDINATES, RD_LEVEL_COORDINATES },
        { RD_LEVEL_COORDINATES, RD_LEVEL_COORDINATES, RD_LEVEL_COORDINATES }
    };
    static const int32_t axes[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
    static const int     places[]  = { 0, 1, 17, CUBE };

    for (int i = 0; i < 16 * (int)(sizeof kinds / sizeof *kinds); i++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const int      f = i / 16, many = places[i / 2 % 4];
        rd_expr *const x = cube_of(many, i / 8 % 2 ? 7 : 0, i % 2);

        for (size_t o = 0; o < 3; o++) {
            rd_sparse_array a = { .n_level = 3 };

            for (int k = 0; k < 3; k++) {
                a.level[k].kind = kinds[f][k];
                a.level[k].axis = axes[o][k];
            }
            ck_assert_msg(rd_eval_sparse(ctx, x, &a) == RD_OK, "%s", rd_error_text(ctx));
            ck_assert(a.stored == false && a.values.shape.at[0] == many);
            rd_expr *const y    = rd_adopt_sparse(ctx, &a);
            rd_expr *const same = rd_all(rd_eq(rd_dense(y), rd_dense(x)), RD_ALL);
            ck_assert_msg(rd_at(ctx, same, (rd_index){ 0 }) == 1, "format %d, axes %zu: %s", f, o,
                          rd_error_text(ctx));
        }
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Levels that are asked for and that no array may have, of three axes of coordinates. */
START_TEST(refused_levels)
{
    enum { DENSE = RD_LEVEL_DENSE, COMPRESSED = RD_LEVEL_COMPRESSED, COO = RD_LEVEL_COORDINATES };
    static const struct {
        int         kind[3], axis[3];
        const char *says;
    } rows[] = {
        { { DENSE, COMPRESSED, COMPRESSED },
          { 0, 3, 2 },
          "level 1 is of axis 3 and kind 1: each axis has one level" },
        { { DENSE, COMPRESSED, COMPRESSED },
          { 0, -1, 2 },
          "level 1 is of axis -1 and kind 1: each axis has one level" },
        { { DENSE, COMPRESSED, COMPRESSED },
          { 0, 1, 0 },
          "level 2 is of axis 0 and kind 1: each axis has one level" },
        { { DENSE, COO + 1, COMPRESSED },
          { 0, 1, 2 },
          "level 1 is of axis 1 and kind 3: kinds are those of enum rd_level_kind" },
        { { COO, COMPRESSED, COMPRESSED },
          { 0, 1, 2 },
          "level 0 is of axis 0 and kind 2: behind coordinates come coordinates" },
        { { DENSE, COO, COO },
          { 0, 1, 2 },
          "level 1 is of axis 1 and kind 2: behind a dense level, coordinates are one for each" },
        { { COMPRESSED, COMPRESSED, DENSE },
          { 0, 1, 2 },
          "level 2 is of axis 2 and kind 0: the last level of a pattern is compressed" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rd_sparse_array a = { .n_level = 3 };

        for (int k = 0; k < 3; k++)
            a.level[k] = (rd_stored_level){ .kind = (rd_level_kind)rows[i].kind[k],
                                            .axis = rows[i].axis[k] };
        ck_assert_msg(rd_eval_sparse(ctx, cube_of(17, 1, i % 2), &a) == RD_ERR_ARGUMENT &&
                          strstr(rd_error_text(ctx), rows[i].says),
                      "%zu: %s", i, rd_error_text(ctx));
        ck_assert(a.n_level == 3 && !a.values.data && !a.level[2].crd.data);
        rd_error_clear(ctx);
    }
}
END_TEST

START_TEST(refused_results)
{
    rd_expr *const  x     = cube_of(5, 1, false);
    rd_sparse_array level = { .n_level = 2 }, last = { .n_level = 3 }, none = { 0 };

    last.level[1].axis = 1;
    last.level[2].axis = 2;
    ck_assert(rd_eval_sparse(ctx, rd_dense(x), &none) == RD_ERR_TYPE);
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, rd_add(x, rd_coord(rd_dense(x), 0)), &none) == RD_ERR_TYPE);
    ck_assert(strstr(rd_error_text(ctx), "differs from place to place") && !none.values.data);
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, x, &level) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, x, &last) == RD_ERR_ARGUMENT && last.n_level == 3);
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, NULL, &none) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    none = (rd_sparse_array){ 0 };
    ck_assert(rd_eval_sparse(ctx, x, &none) == RD_OK);
    ck_assert(rd_eval_sparse(ctx, x, &none) == RD_ERR_ARGUMENT && none.values.data);
    rd_error_clear(ctx);
    rd_sparse_array_free(&none);
    rd_sparse_array_free(NULL);

    rd_ctx *const other = rd_ctx_new(NULL);
    none.n_level        = RD_MAX_RANK + 1;
    ck_assert(rd_eval_sparse(ctx, x, &none) == RD_ERR_ARGUMENT);
    ck_assert(strstr(rd_error_text(ctx), "33 levels"));
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, x, NULL) == RD_ERR_ARGUMENT);
    ck_assert(strstr(rd_error_text(ctx), "the output is NULL"));
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(other, x, &none) == RD_ERR_ARGUMENT);
    ck_assert(strstr(rd_error_text(other), "the expression is of another context"));
    ck_assert(rd_eval_sparse(NULL, x, &none) == RD_ERR_ARGUMENT);
    ck_assert(!rd_adopt_sparse(NULL, &none) && !rd_adopt_sparse(ctx, NULL));
    ck_assert(rd_error(ctx) == RD_ERR_ARGUMENT &&
              strstr(rd_error_text(ctx), "rd_adopt_sparse: there is no array"));
    rd_error_clear(ctx);
    ck_assert(!rd_adopt_sparse(ctx, &none) && rd_error(ctx) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    rd_ctx_free(other);
}
END_TEST

/* Of a caller that was built before .origin came, what lies there is not looked at. */
START_TEST(shorter_options)
{
    static const int32_t pos[] = { 0, 1 }, crd[] = { 0 };
    rd_matrix_opts       old = { .size  = offsetof(rd_matrix_opts, origin),
                                 .shape = RD_SHAPE(1, 1),
                                 .pos   = rd_wrap(ctx, pos, RD_SHAPE(2)),
                                 .crd   = rd_wrap(ctx, crd, RD_SHAPE(1)) };

    old.origin = RD_INDEX(1, 2, 3);
    expect("csr", rd_csr_of(ctx, &old), RD_BOOL, VALUES(1));
    expect("csc", rd_csc_of(ctx, &old), RD_BOOL, VALUES(1));
    old.pos = old.crd;
    expect("coo", rd_coo_of(ctx, &old), RD_BOOL, VALUES(1));
    old.size = sizeof old;
    expect_error("rank", rd_coo_of(ctx, &old), RD_ERR_AXIS);
}
END_TEST

START_TEST(refusals)
{
    static const int32_t falls[] = { 0, 2, 1, 3 }, ends[] = { 0, 1, 1, 2 }, pos[] = { 0, 1, 1, 3 };
    static const int32_t out[] = { 1, 0, 3 }, turned[] = { 1, 2, 0 }, twice[] = { 1, 2, 2 },
                         crd[] = { 1, 0, 2 };
    rd_expr *const v = leaf(RD_F32, VALUES(1, 2, 3)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const p = rd_wrap(ctx, pos, RD_SHAPE(4));

#define MATRIX(p, c) rd_csr(ctx, RD_SHAPE(3, 3), p, c, v)
    expect_error("falls", MATRIX(rd_wrap(ctx, falls, RD_SHAPE(4)), c), RD_ERR_ARGUMENT);
    expect_error("ends", MATRIX(rd_wrap(ctx, ends, RD_SHAPE(4)), c), RD_ERR_ARGUMENT);
    expect_error("short", MATRIX(rd_wrap(ctx, pos, RD_SHAPE(3)), c), RD_ERR_SHAPE);
    expect_error("outside", MATRIX(p, rd_wrap(ctx, out, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("turned", MATRIX(p, rd_wrap(ctx, turned, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("twice", MATRIX(p, rd_wrap(ctx, twice, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("floats", MATRIX(p, v), RD_ERR_TYPE);
    expect_error("no leaf", MATRIX(p, rd_add(c, c)), RD_ERR_ARGUMENT);
    expect_error("values", rd_csr(ctx, RD_SHAPE(3, 3), p, c, leaf(RD_F32, VALUES(1, 2))),
                 RD_ERR_SHAPE);
    expect_error("rank", rd_csr(ctx, RD_SHAPE(3), p, c, v), RD_ERR_SHAPE);
    expect_error(
        "axes",
        rd_sparse(ctx, RD_SHAPE(3, 3),
                  RD_LEVELS({ RD_LEVEL_DENSE, 0, NULL, NULL }, { RD_LEVEL_COMPRESSED, 0, p, c }),
                  v),
        RD_ERR_ARGUMENT);
    expect_error("fill", rd_csr(ctx, RD_SHAPE(3, 3), p, c, v, .fill = v), RD_ERR_ARGUMENT);
}
END_TEST

/* ---- Long index arrays ----------------------------------------------------------------------- */
/* Rows of index arrays that are looked at in pieces, by threads: rows end where pieces do, beside
 * that, and nowhere near. */
enum { LONG_ROWS = 5, LONG_EXTENT = 60000, LONG = 2 * 32768 + 40000 };
static int32_t long_pos[LONG_ROWS + 1] = { 0, 32767, 32768, 32768, 90000, LONG };
static int32_t long_row[LONG], long_crd[LONG];

static void fill_long(void)
{
    for (int i = 0; i < LONG_ROWS; i++)
        for (int32_t e = long_pos[i]; e < long_pos[i + 1]; e++) {
            long_row[e] = i;
            long_crd[e] = e - long_pos[i] + i;
        }
}

static rd_expr *long_matrix(bool listed, bool trusted)
{
    const rd_shape shape = RD_SHAPE(LONG_ROWS, LONG_EXTENT);
    rd_expr *const crd   = rd_wrap(ctx, long_crd, RD_SHAPE(LONG));

    return listed ? rd_coo(ctx, shape, rd_wrap(ctx, long_row, RD_SHAPE(LONG)), crd, NULL,
                           .trusted = trusted)
                  : rd_csr(ctx, shape, rd_wrap(ctx, long_pos, RD_SHAPE(LONG_ROWS + 1)), crd, NULL,
                           .trusted = trusted);
}

START_TEST(long_patterns)
{
    static const struct {
        int32_t place, index;
        bool    trusted; /* is it taken where nobody looks whether indices ascend? */
    } wrong[] = {
        { 32766, 5, true },   { 32766, 32765, true }, { 32768, LONG_EXTENT, false },
        { 65535, -1, false }, { 65536, 7, true },     { 65536, 65535 - 32768 + 3, true },
        { 89999, 0, true },   { LONG - 1, 4, true },  { LONG - 1, INT32_MAX, false },
        { 1, 0, true },       { 0, -1, false },
    };
    rd_array at = { 0 };

    fill_long();
    for (int listed = 0; listed < 2; listed++) {
        rd_expr *const a = long_matrix(listed, false);
        ck_assert_msg(a != NULL, "%s", rd_error_text(ctx));
        ck_assert(rd_eval(ctx, rd_stored_at(a, 0), &at) == RD_OK);
        ck_assert(memcmp(at.data, long_row, sizeof long_row) == 0);
        rd_array_free(&at);
        for (size_t k = 0; k < COUNT(wrong); k++) {
            const int32_t right = long_crd[wrong[k].place];

            long_crd[wrong[k].place] = wrong[k].index;
            expect_error("long", long_matrix(listed, false), RD_ERR_ARGUMENT);
            if (wrong[k].trusted)
                ck_assert_msg(long_matrix(listed, true) != NULL, "%s", rd_error_text(ctx));
            else
                expect_error("trusted", long_matrix(listed, true), RD_ERR_ARGUMENT);
            long_crd[wrong[k].place] = right;
        }
    }
}
END_TEST

/* ---- Two patterns ------------------------------------------------------------------------------ */
typedef struct drawn {
    int32_t *row, *column;
    double  *value, *dense; /* 0 elsewhere */
    int64_t  n;
} drawn;

/* One of `each` places is stored, at random, but in rows of which three in four have none. */
static drawn draw_pattern(int64_t rows, int64_t columns, uint32_t each, uint32_t *seed)
{
    const size_t most = (size_t)(rows * columns);
    drawn        d    = { .row    = calloc(most, sizeof *d.row),
                          .column = calloc(most, sizeof *d.column),
                          .value  = calloc(most, sizeof *d.value),
                          .dense  = calloc(most, sizeof *d.dense) };

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            *seed = *seed * 1664525 + 1013904223;
            if (i % 8 > 1 || (*seed >> 8) % each)
                continue;
            d.row[d.n]               = (int32_t)i;
            d.column[d.n]            = (int32_t)j;
            d.value[d.n]             = 1 + (*seed >> 20) % 9;
            d.dense[i * columns + j] = d.value[d.n++];
        }
    return d;
}

static rd_expr *drawn_matrix(const drawn *d, rd_shape shape, bool stored)
{
    return rd_coo(ctx, shape, rd_wrap(ctx, d->row, RD_SHAPE(d->n)),
                  rd_wrap(ctx, d->column, RD_SHAPE(d->n)), rd_wrap(ctx, d->value, RD_SHAPE(d->n)),
                  .stored = stored);
}

static void expect_dense(const char *what, rd_expr *y, const double *want, int64_t n)
{
    rd_array at = { 0 };

    ck_assert_msg(y && rd_eval(ctx, rd_dense(y), &at) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int64_t k = 0; k < n; k++)
        ck_assert_msg(((const double *)at.data)[k] == want[k], "%s: %lld: %g, not %g", what,
                      (long long)k, ((const double *)at.data)[k], want[k]);
    rd_array_free(&at);
}

/* Their union, what both have, and one at the other's places: row by row, by threads, and where so
 * many rows have no place that there is no list of them. */
static void merge_two(int64_t rows, int64_t columns, uint32_t each)
{
    const int64_t  n     = rows * columns;
    const rd_shape shape = RD_SHAPE(rows, columns);
    uint32_t       seed  = 7;
    const drawn    a     = draw_pattern(rows, columns, each, &seed);
    const drawn    b     = draw_pattern(rows, columns, each + 1, &seed);
    double *const  want  = calloc((size_t)n, sizeof *want);

    for (int64_t k = 0; k < n; k++)
        want[k] = a.dense[k] - b.dense[k];
    expect_dense("a - b", rd_sub(drawn_matrix(&a, shape, false), drawn_matrix(&b, shape, false)),
                 want, n);
    for (int64_t k = 0; k < n; k++)
        want[k] = a.dense[k] && b.dense[k] ? a.dense[k] - b.dense[k] : 0;
    expect_dense("stored", rd_sub(drawn_matrix(&a, shape, true), drawn_matrix(&b, shape, true)),
                 want, n);
    for (int64_t k = 0; k < n; k++)
        want[k] = a.dense[k] ? a.dense[k] - b.dense[k] : 0;
    expect_dense("of a", rd_sub(drawn_matrix(&a, shape, true), drawn_matrix(&b, shape, false)),
                 want, n);
    for (int k = 0; k < 2; k++) {
        const drawn *d = k ? &b : &a;

        free(d->row);
        free(d->column);
        free(d->value);
        free(d->dense);
    }
    free(want);
}

START_TEST(two_patterns)
{
    merge_two(13, 40, 3);
    merge_two(3000, 300, 2);
    merge_two(70000, 10, 900);
}
END_TEST

/* ---- What is wrong in one place --------------------------------------------------------------- */
enum { ROWS = 4, COLUMNS = 5, PLACES = 6 };

/* The index arrays of a matrix, as long as they are read, i32 or i64. */
typedef struct arrays {
    int64_t pos[ROWS + 1], crd[PLACES];
    bool    coo; /* pos is the row of each place */
} arrays;

static int64_t length(const arrays *m, int which)
{
    return which == 0 && !m->coo ? ROWS + 1 : PLACES;
}

/* What a loop that trusts nothing says of them. */
static bool is_right(const arrays *m, const int64_t *pos, const int64_t *crd, bool trusted)
{
    const int64_t rows = m->coo ? PLACES : ROWS;

    if (!m->coo && (pos[0] != 0 || pos[ROWS] != PLACES))
        return false;
    for (int64_t i = 0; i < rows && !m->coo; i++)
        if (pos[i] > pos[i + 1])
            return false;
    for (int64_t p = 0; p < PLACES; p++) {
        int64_t row = 0, before = 0;

        if (crd[p] < 0 || crd[p] >= COLUMNS || (m->coo && (pos[p] < 0 || pos[p] >= ROWS)))
            return false;
        for (int64_t i = 0; i < ROWS && !m->coo; i++)
            row = p >= pos[i] ? i : row;
        for (int64_t i = 0; i < ROWS && !m->coo && p > 0; i++)
            before = p - 1 >= pos[i] ? i : before;
        row    = m->coo ? pos[p] : row;
        before = m->coo && p > 0 ? pos[p - 1] : before;
        if (!trusted && p > 0 && (row < before || (row == before && crd[p] <= crd[p - 1])))
            return false;
    }
    return true;
}

static rd_expr *index_row(const int64_t *value, int64_t n, bool wide, void **memory)
{
    *memory = malloc((size_t)n * (wide ? 8 : 4));
    for (int64_t i = 0; i < n; i++)
        if (wide)
            ((int64_t *)*memory)[i] = value[i];
        else
            ((int32_t *)*memory)[i] = (int32_t)value[i];
    return rd_leaf(
        ctx, &(rd_array){ .in = *memory, .type = wide ? RD_I64 : RD_I32, .shape = RD_SHAPE(n) });
}

/* A matrix with `value` in place of one index: refused, or what reads inside. */
static void one_wrong(const arrays *m, int which, int64_t at, int64_t value, int way)
{
    const bool   wide = way & 1, trusted = way & 2;
    arrays       w            = *m;
    int64_t      rows[PLACES] = { 0, 0, 1, 3, 3, 3 };
    void        *memory[2];
    const double v[PLACES] = { 1, 2, 3, 4, 5, 6 };

    if (!m->coo)
        memcpy(rows, m->pos, sizeof m->pos);
    (which == 0 ? rows : w.crd)[at] = value;
    const rd_mark  mark             = rd_ctx_mark(ctx);
    rd_expr *const pos              = index_row(rows, length(m, 0), wide, &memory[0]);
    rd_expr *const crd              = index_row(w.crd, PLACES, wide, &memory[1]);
    rd_expr *const values           = rd_wrap(ctx, v, RD_SHAPE(PLACES));
    rd_expr *const x =
        m->coo ? rd_coo(ctx, RD_SHAPE(ROWS, COLUMNS), pos, crd, values, .trusted = trusted)
               : rd_csr(ctx, RD_SHAPE(ROWS, COLUMNS), pos, crd, values, .trusted = trusted);
    ck_assert_msg((x != NULL) == is_right(m, rows, w.crd, trusted), "%s, array %d: %lld at %d: %s",
                  m->coo ? "coo" : "csr", which, (long long)value, (int)at, rd_error_text(ctx));
    if (!x)
        ck_assert_msg(rd_error_text(ctx)[0] && rd_error(ctx) == RD_ERR_ARGUMENT, "%s",
                      rd_error_text(ctx));
    rd_error_clear(ctx);
    if (x) {
        rd_array sums = { 0 }, all = { 0 };

        rd_eval_many(ctx, RD_RESULTS({ rd_sum(x, RD_DIMS(1)), &sums }, { rd_dense(x), &all }),
                     NULL);
        rd_array_free(&sums);
        rd_array_free(&all);
        rd_error_clear(ctx);
    }
    rd_ctx_release(ctx, mark);
    free(memory[0]);
    free(memory[1]);
}

START_TEST(one_index_wrong)
{
    static const arrays  forms[] = { { .pos = { 0, 2, 3, 3, 6 }, .crd = { 0, 4, 2, 0, 1, 3 } },
                                     { .crd = { 0, 4, 2, 0, 1, 3 }, .coo = true } };
    static const int64_t wrong[] = { -1,
                                     0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_MAX,
                                     INT64_MIN,
                                     (int64_t)1 << 32,
                                     INT64_MAX / 8 };

    for (size_t f = 0; f < COUNT(forms); f++)
        for (int which = 0; which < 2; which++)
            for (int64_t at = 0; at < length(&forms[f], which); at++)
                for (size_t k = 0; k < COUNT(wrong); k++)
                    for (int way = 0; way < 4; way++)
                        if (way & 1 || (wrong[k] >= INT32_MIN && wrong[k] <= INT32_MAX))
                            one_wrong(&forms[f], which, at, wrong[k], way);
}
END_TEST

/* A pattern's coordinates are not looked at again; the same array as a user's index is. */
START_TEST(indices_of_users_are_checked)
{
    int32_t        pos[] = { 0, 1, 2 }, crd[] = { 1, 0 };
    const double   v[] = { 2, 3 }, x[] = { 5, 7 };
    double         y[2];
    rd_expr *const at =
        rd_leaf(ctx, &(rd_array){ .in = crd, .type = RD_I32, .shape = RD_SHAPE(2) });
    rd_expr *const vector = rd_wrap(ctx, x, RD_SHAPE(2));
    rd_expr *const a =
        rd_csr(ctx, RD_SHAPE(2, 2),
               rd_leaf(ctx, &(rd_array){ .in = pos, .type = RD_I32, .shape = RD_SHAPE(3) }), at,
               rd_wrap(ctx, v, RD_SHAPE(2)));

    ck_assert(rd_eval(ctx, rd_matmul(a, vector), RD_INTO(y, RD_SHAPE(2))) == RD_OK);
    ck_assert(y[0] == 14 && y[1] == 15);
    crd[0] = 1000000;
    ck_assert(rd_eval(ctx, rd_take(vector, 0, at), RD_INTO(y, RD_SHAPE(2))) == RD_ERR_AXIS);
    rd_error_clear(ctx);
}
END_TEST

/* Complex functions are long chains of maps.  What is not stored is one element still, so that a sparse
 * result is there. */
START_TEST(one_fill_of_functions)
{
    static rd_expr *(*const function[])(rd_expr *) = {
        rd_sqrt, rd_exp, rd_log, rd_sin, rd_tan, rd_asin, rd_acos, rd_atan, rd_tanh, rd_asinh
    };
    static const int32_t pos[] = { 0, 1, 2 }, crd[] = { 0, 1 };
    static const double  part[] = { 1, 2 };

    for (size_t k = 0; k < 2 * COUNT(function); k++) {
        rd_expr *const v = rd_wrap(ctx, part, RD_SHAPE(2));
        rd_expr *const a =
            rd_csr(ctx, RD_SHAPE(2, 2), rd_wrap(ctx, pos, RD_SHAPE(3)),
                   rd_wrap(ctx, crd, RD_SHAPE(2)), rd_complex(v, v), .stored = k % 2);
        rd_sparse_array y = { 0 };

        ck_assert_msg(rd_eval_sparse(ctx, function[k / 2](a), &y) == RD_OK, "%d: %s", (int)k,
                      rd_error_text(ctx));
        ck_assert(y.values.shape.at[0] == 2 && (y.fill.data != NULL) == !(k % 2));
        rd_sparse_array_free(&y);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { matrices,
                                   nothing_elsewhere,
                                   sparse_results,
                                   there_and_back,
                                   refused_levels,
                                   refused_results,
                                   shorter_options,
                                   refusals,
                                   indices_of_users_are_checked,
                                   one_index_wrong,
                                   long_patterns,
                                   two_patterns,
                                   one_fill_of_functions };

    return run_suite("sparse", tests, COUNT(tests));
}
