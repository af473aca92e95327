/* test_strips.c - what nests do with the elements of a strip, against the scalar interpreter:
 * exponentials of steps in parts of wide rows, coordinates collected once, rows that go together,
 * windows that are written out, divisions by constants, running folds without a tree, chains of
 * 16-bit floats, few columns, stores past the caches, users' functions of long strips, products of semirings.
 *
 * Strips, parts and rows that go together have ends, so extents lie around these. */
#include "nests.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/pass/strip_at.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Sanitizers see a few of the programs. */
#define STEP (THREAD_SANITIZED ? 7 : SANITIZED ? 3 : suite_part(5))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static void agree_shared(nest_batch *b)
{
    if (b->n)
        nest_agree(b, many_tasks, COUNT(many_tasks));
}

/* ---- Exponentials of steps ------------------------------------------------------------------- */
typedef struct exp_case {
    rd_dtype type;
    int64_t  rows, cols;
    int      axis;
} exp_case;

static const exp_case exp_cases[] = {
    { RD_F32, 7, 100, 1 },   { RD_F64, 5, 4097, 1 },  { RD_F32, 3, 9001, 1 },
    { RD_F32, 70, 5000, 0 }, { RD_F64, 9, 4500, 0 },  { RD_F32, 130, 33, 0 },
    { RD_F16, 5, 4609, 0 },  { RD_F32, 67, 4224, 0 }, { RD_BF16, 3, 700, 1 },
};

static void put(const tile_memory *m, int64_t i, double value)
{
    const rd_dtype type = m->slot[0].type;

    rd_word_store(m->slot[0].before + i * rd_dtype_size(type), type,
                  rd_word_from_double(value, type));
}

/* NaN, infinities and what is far above the others, each in some of the rows and columns; of one
 * row and one column all are -inf. */
static void strew(const tile_memory *m, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            const int64_t at = i * cols + j;

            if (i == 3 || j == 17 || (i > 2 && (i + 3 * j) % 29 == 0))
                put(m, at, -INFINITY);
            else if (i == 1 && j % 41 == 7)
                put(m, at, NAN);
            else if (i == 2 && j % 37 == 5)
                put(m, at, INFINITY);
            else if ((i * 7 + j) % 31 == 4)
                put(m, at, (double)((i + j) % 600) - 200);
        }
}

/* exp(x - max x) / sum exp(x - max x) */
static rd_expr *softmax(rd_expr *x, rd_dims kept)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, kept)));

    return rd_div(e, rd_sum(e, kept));
}

static void agree_on_exponentials(const exp_case *c)
{
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const rd_shape shape = RD_SHAPE(c->rows, c->cols);
    const rd_dims  dims = RD_DIMS(c->axis), kept = RD_KEEP(c->axis);
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, c->type, shape, ORDINARY);
    rd_expr       *take = nest_leaf(&m, RD_BOOL, shape, FLAGS);
    rd_expr       *rare = nest_leaf(&m, RD_BOOL, shape, RARE);
    rd_expr       *w    = nest_leaf(&m, c->type, shape, FLAGS);
    rd_expr       *y    = nest_leaf(&m, c->type, RD_SHAPE(c->cols), ORDINARY);
    nest_batch     b    = { 0 };

    strew(&m, c->rows, c->cols);
    snprintf(b.what, sizeof b.what, "exponentials of %s, %d x %d, axis %d", rd_dtype_name(c->type),
             (int)c->rows, (int)c->cols, c->axis);
    nest_add(&b, rd_logsumexp(x, dims));
    nest_add(&b, rd_logsumexp(x, dims, .where = take));
    nest_add(&b, rd_logsumexp(x, dims, .where = rare));
    nest_add(&b, rd_logsumexp(x, dims, .weights = w));
    nest_add(&b, rd_logsumexp(x, dims, .where = take, .weights = w));
    agree_shared(&b);
    nest_add(&b, rd_logsumexp(x, dims, .skip_nan = true));
    nest_add(&b, rd_logsumexp(rd_mul(x, rd_sqrt(rd_abs(y))), dims));
    nest_add(&b, rd_sum(rd_exp(rd_mul(x, rd_exp(y))), dims));
    agree_shared(&b);
    nest_add(&b, softmax(x, kept));
    nest_add(&b, rd_sum(rd_exp(rd_sub(x, rd_mean(x, kept))), dims));
    agree_shared(&b);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(exponentials)
{
    for (int k = 3 * _i; k < 3 * _i + 3; k++)
        if (k % STEP == 0)
            agree_on_exponentials(&exp_cases[k]);
    nest_mostly();
}
END_TEST

/* Rows that are so long that a softmax is one fold of pairs: a maximum, and a sum by it. */
START_TEST(pairs_of_softmax)
{
    static const exp_case cases[] = { { RD_F32, 2, 140001, 1 },
                                      { RD_F32, 2101, 70, 0 },
                                      { RD_F64, 1100, 4610, 0 } };
    const exp_case       *c       = &cases[_i];
    tile_memory           m       = { 0 };
    rd_expr              *x       = nest_leaf(&m, c->type, RD_SHAPE(c->rows, c->cols), ORDINARY);
    nest_batch            b       = { .what = "softmax of long rows" };

    strew(&m, c->rows, c->cols);
    nest_add(&b, softmax(x, RD_KEEP(c->axis)));
    nest_agree(&b, many_tasks, 4);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Pairs ----------------------------------------------------------------------------------- */
static void agree_on_pairs(rd_dtype type, int64_t n, int64_t k, int64_t d)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    rd_expr      *x    = nest_leaf(&m, type, RD_SHAPE(n, d), ORDINARY);
    rd_expr      *y    = nest_leaf(&m, type, RD_SHAPE(k, d), ORDINARY);
    rd_expr      *diff = rd_sub(rd_expand(x, 1), rd_expand(y, 0));
    rd_expr      *far  = rd_sum(rd_square(diff), RD_DIMS(2));
    nest_batch    b    = { 0 };

    snprintf(b.what, sizeof b.what, "pairs of %s, %d and %d, dimension %d", rd_dtype_name(type),
             (int)n, (int)k, (int)d);
    nest_add(&b, rd_min(far, RD_DIMS(1)));
    nest_add(&b, rd_argmin(far, RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_sqrt(far), RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, far); /* stored, and at hand for the others */
    nest_add(&b, rd_sqrt(far));
    nest_add(&b, rd_argmin(far, RD_DIMS(1)));
    nest_add(&b, rd_max(rd_abs(diff), RD_DIMS(2)));
    agree_shared(&b);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(pairs)
{
    static const rd_dtype list[]  = { RD_F32, RD_F64, RD_I32, RD_F16, RD_BF16, RD_I8 };
    static const int64_t  dims[]  = { 50, 18, 3, 2, 9 };
    static const int64_t  count[] = { 130, 64, 63, 200, 65 };

    for (int t = _i % 2; t < COUNT(list); t += 2)
        if ((_i + t) % STEP == 0)
            agree_on_pairs(list[t], 37 + 20 * t, count[(_i + t) % COUNT(count)], dims[_i]);
    nest_mostly();
}
END_TEST

/* ---- Products of semirings -------------------------------------------------------------------- */
/* op over k of a[i, k] + b[k, j]: more states than a cache holds, or few of them; one block of steps, or
 * several, whose ends extremes do not need; with NaN and infinities. */
static void agree_on_products(rd_dtype type, int64_t rows, int64_t steps, int64_t cols)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    rd_expr      *x    = nest_leaf(&m, type, RD_SHAPE(rows, steps), ORDINARY);
    rd_expr      *y    = nest_leaf(&m, type, RD_SHAPE(steps, cols), ORDINARY);
    rd_expr      *left = rd_expand(x, 2), *right = rd_expand(y, 0);
    nest_batch    b = { 0 };

    if (type == RD_F32 || type == RD_F64)
        strew(&m, rows, steps);
    snprintf(b.what, sizeof b.what, "products of %s, %d x %d x %d", rd_dtype_name(type), (int)rows,
             (int)steps, (int)cols);
    nest_add(&b, rd_min(rd_add(left, right), RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_max(rd_minimum(left, right), RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_sum(rd_abs(rd_sub(left, right)), RD_DIMS(1)));
    nest_add(&b, rd_argmin(rd_add(left, right), RD_DIMS(1)));
    agree_shared(&b);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(products)
{
    static const struct {
        rd_dtype type;
        int64_t  rows, steps, cols;
    } cases[] = {
        { RD_F32, 70, 66, 200 }, { RD_F32, 6, 64, 1025 }, { RD_F64, 65, 130, 193 },
        { RD_I32, 67, 65, 150 }, { RD_F32, 5, 3, 257 },   { RD_I8, 66, 3, 600 },
    };

    agree_on_products(cases[_i].type, cases[_i].rows, cases[_i].steps, cases[_i].cols);
    nest_mostly();
}
END_TEST

/* ---- Rows that go together -------------------------------------------------------------------- */
static const int64_t around_four[] = { 3, 4, 5, 63, 64, 65 };

static void agree_on_rows(int64_t rows, int64_t cols, rd_dtype type)
{
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const rd_shape shape = RD_SHAPE(3, rows, cols);
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, type, shape, ORDINARY);
    rd_expr       *take  = nest_leaf(&m, RD_BOOL, shape, FLAGS);
    rd_expr       *y     = nest_leaf(&m, type, RD_SHAPE(rows, 1), ORDINARY);
    nest_batch     b     = { 0 };

    nest_nans(&m, 0);
    snprintf(b.what, sizeof b.what, "%d rows of %d %s", (int)rows, (int)cols, rd_dtype_name(type));
    nest_add(&b, rd_sum(x, RD_DIMS(1)));
    nest_add(&b, rd_min(x, RD_DIMS(1)));
    nest_add(&b, rd_argmax(x, RD_DIMS(1)));
    nest_add(&b, rd_sum(x, RD_DIMS(1), .where = take));
    agree_shared(&b);
    nest_add(&b, rd_sum(rd_mul(x, y), RD_DIMS(0, 1)));
    nest_add(&b, rd_max(rd_sub(x, y), RD_DIMS(0, 1), .skip_nan = true));
    nest_add(&b, rd_var(x, RD_DIMS(0, 1)));
    agree_shared(&b);
    nest_add(&b, rd_scan(x, "max", RD_DIMS(1)));
    nest_add(&b, rd_scan(rd_cast(take, RD_I32), "sum", RD_DIMS(1)));
    agree_shared(&b);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(rows_together)
{
    static const rd_dtype list[] = { RD_F32, RD_I32, RD_F64 };

    if (_i % STEP)
        return;
    agree_on_rows(around_four[_i], 200, list[_i % COUNT(list)]);
    agree_on_rows(around_four[_i], _i % 2 ? 4099 : 70, list[(_i + 1) % COUNT(list)]);
    nest_mostly();
}
END_TEST

/* Lanes along several axes: what is folded is itself walked as it comes, by a scan. */
START_TEST(folds_of_running_sums)
{
    if (_i % STEP)
        return;

    static const int64_t list[][2] = { { 130, 37 }, { 67, 64 }, { 3, 4097 }, { 65, 1 } };
    const rd_shape       shape     = RD_SHAPE(list[_i][0], list[_i][1]);
    tile_memory          m         = { 0 };
    rd_expr             *x         = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, shape, ORDINARY);
    rd_expr             *z         = nest_leaf(&m, RD_I32, shape, ORDINARY);
    rd_expr             *take      = nest_leaf(&m, RD_BOOL, shape, FLAGS);
    nest_batch           b         = { 0 };

    for (int axis = 0; axis < 2; axis++) {
        rd_expr *sums = rd_scan(x, "sum", RD_DIMS(axis));

        snprintf(b.what, sizeof b.what, "folds of sums of %d x %d along %d", (int)list[_i][0],
                 (int)list[_i][1], axis);
        nest_add(&b, rd_max(sums, RD_ALL));
        nest_add(&b, rd_sum(sums, RD_ALL));
        nest_add(&b, rd_argmin(sums, RD_ALL));
        nest_add(&b, rd_mean(sums, RD_ALL, .where = take));
        agree_shared(&b);
        nest_add(&b, rd_sum(rd_scan(z, "max", RD_DIMS(axis), .reverse = true), RD_ALL));
        nest_add(&b, rd_max(rd_scan(z, "sum", RD_DIMS(axis), .exclusive = true), RD_ALL));
        agree_shared(&b);
    }
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Windows ----------------------------------------------------------------------------------- */
static void agree_on_windows(int64_t width, rd_dtype type)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    rd_expr      *x    = nest_leaf(&m, type, RD_SHAPE(30, 150), ORDINARY);
    rd_expr      *y    = nest_leaf(&m, type, RD_SHAPE(700), ORDINARY);
    rd_expr      *down = rd_window(x, 0, width, 1), *along = rd_window(x, 1, width, 1);
    nest_batch    b = { 0 };

    nest_nans(&m, 1);
    snprintf(b.what, sizeof b.what, "windows of %d %s", (int)width, rd_dtype_name(type));
    nest_add(&b, rd_sum(along, RD_DIMS(2)));
    nest_add(&b, rd_max(along, RD_DIMS(2)));
    nest_add(&b, rd_sum(down, RD_DIMS(2)));
    agree_shared(&b);
    if (width % 3 == 0) {
        nest_add(&b, rd_min(rd_window(y, 0, width, 1), RD_DIMS(1)));
        nest_add(&b, rd_mean(rd_window(y, 0, width, 1), RD_DIMS(1)));
        nest_add(&b, rd_argmax(rd_window(y, 0, width, 2), RD_DIMS(1)));
        agree_shared(&b);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(windows)
{
    static const rd_dtype list[] = { RD_F32, RD_F64, RD_I32, RD_F16 };

    for (int64_t width = 3 + _i; width <= 17; width += 5 * STEP)
        agree_on_windows(width, list[width % COUNT(list)]);
    nest_mostly();
}
END_TEST

/* ---- Ints divided by constants ----------------------------------------------------------------- */
START_TEST(divisions)
{
    if (_i % STEP)
        return;

    static const rd_dtype list[] = { RD_I8, RD_I16, RD_I32, RD_I64, RD_U8, RD_U16, RD_U32, RD_U64 };
    static const int64_t  by[]   = { 1, 2, 3, 7, 64, 100, 127, 0, -1, -3, -64, INT64_MIN };
    const rd_dtype        type   = list[_i];
    tile_memory           m      = { 0 };
    rd_expr              *x      = nest_leaf(&m, type, RD_SHAPE(3, 200), UGLY);
    nest_batch            b      = { 0 };

    for (int k = 0; k < 3; k++) /* the least and the greatest of the type, and 2^63 */
        rd_word_store(m.slot[0].before + k * rd_dtype_size(type), type,
                      rd_word_from_int(k == 0   ? INT64_MIN
                                       : k == 1 ? -1
                                                : INT64_MIN >> (64 - 8 * rd_dtype_size(type)),
                                       type));
    for (int half = 0; half < 2; half++) {
        snprintf(b.what, sizeof b.what, "divisions of %s, %d", rd_dtype_name(type), half);
        for (int k = half; k < COUNT(by); k += 2) {
            rd_expr *y = rd_cast(rd_int(ctx, by[k]), type);

            nest_add(&b, rd_floordiv(x, y));
            nest_add(&b, rd_remainder(x, y));
        }
        agree_shared(&b);
    }
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Chains ------------------------------------------------------------------------------------ */
/* Choices that follow each other, of NaN, and of zeros of both signs. */
START_TEST(extremes)
{
    if (_i % STEP)
        return;

    static const rd_dtype list[] = { RD_F32, RD_F64, RD_F16, RD_I64 };
    const rd_dtype        type   = list[_i];
    const rd_shape        shape  = RD_SHAPE(3, 199);
    tile_memory           m      = { 0 };
    rd_expr              *x      = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *y      = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *z      = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *none   = rd_cast(rd_num(ctx, -0.0), type);
    nest_batch            b      = { .what = "extremes" };

    nest_add(&b, rd_maximum(rd_minimum(x, y), z));
    nest_add(&b, rd_minimum(rd_maximum(rd_maximum(x, y), z), rd_neg(x)));
    nest_add(&b, rd_maximum(none, rd_minimum(x, rd_cast(rd_int(ctx, 0), type))));
    nest_add(&b, rd_clip(x, none, rd_maximum(y, z)));
    nest_add(&b, rd_max(rd_minimum(rd_maximum(x, y), z), RD_DIMS(1)));
    nest_add(&b, rd_min(rd_maximum(rd_mul(x, rd_int(ctx, 0)), z), RD_DIMS(0)));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Where all elements are zeros, the sign of an extreme is that of the element which a serial loop keeps.
 * Extremes of all elements share loops with those of rows and columns here, in which lanes could change it. */
START_TEST(signs_of_zeros)
{
    enum { ROWS = 37, COLUMNS = 203 };
    static const rd_dtype list[] = { RD_F32, RD_F64, RD_F16 };
    const rd_dtype        type   = list[_i];
    tile_memory           m      = { 0 };
    rd_expr              *x      = nest_leaf(&m, type, RD_SHAPE(ROWS, COLUMNS), ORDINARY);
    nest_batch            b      = { .what = "signs of zeros" };

    for (uint32_t k = 0; k < ROWS * COLUMNS; k++)
        rd_word_store(m.slot[0].before + k * (uint32_t)rd_dtype_size(type), type,
                      rd_word_from_double(k * 2654435761u >> 31 ? -0.0 : 0.0, type));
    for (int axis = 0; axis < 2; axis++) {
        nest_add(&b, rd_min(x, RD_ALL));
        nest_add(&b, rd_max(x, RD_ALL));
        nest_add(&b, rd_min(x, RD_DIMS(axis)));
        nest_add(&b, rd_max(x, RD_DIMS(axis)));
        agree_shared(&b);
    }
    nest_add(&b, rd_min(x, RD_ALL));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Columns that lie between each other, whose rows go one behind the other: whole strips and a rest, blocks
 * that end, states of several numbers, weights, masks, and what has to go otherwise. */
START_TEST(few_columns)
{
    if (_i % STEP)
        return;

    static const rd_dtype list[]    = { RD_F32, RD_F64, RD_I32, RD_U8, RD_I64, RD_F16 };
    static const int64_t  rows[]    = { 255, 321, 4096, 4500 };
    static const int64_t  columns[] = { 5, 8, 7, 6, 8, 9 };
    const rd_dtype        type      = list[_i];
    const int64_t         n         = columns[_i];
    const rd_shape        shape     = RD_SHAPE(rows[_i % COUNT(rows)], n);
    tile_memory           m         = { 0 };
    rd_expr              *x         = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *y         = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *take      = nest_leaf(&m, RD_BOOL, shape, FLAGS);
    rd_expr              *by        = nest_leaf(&m, type, RD_SHAPE(n), UGLY);
    rd_expr              *of_row    = nest_leaf(&m, type, RD_SHAPE(shape.at[0]), UGLY);
    rd_expr              *some      = nest_leaf(&m, RD_BOOL, RD_SHAPE(shape.at[0]), FLAGS);
    nest_batch            b         = { 0 };

    snprintf(b.what, sizeof b.what, "%d columns of %s", (int)n, rd_dtype_name(type));
    nest_add(&b, rd_sum(x, RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_mul(x, y), RD_DIMS(0)));
    nest_add(&b, rd_max(x, RD_DIMS(0)));
    nest_add(&b, rd_any(rd_gt(x, y), RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_sub(x, by), RD_DIMS(0)));
    agree_shared(&b);
    nest_add(&b, rd_var(x, RD_DIMS(0)));
    nest_add(&b, rd_mean(x, RD_DIMS(0), .where = take));
    nest_add(&b, rd_min(x, RD_DIMS(0), .where = take));
    nest_add(&b, rd_argmax(x, RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_sub(x, rd_expand(of_row, 1)), RD_DIMS(0)));
    nest_add(&b, rd_sum(x, RD_DIMS(0), .where = rd_expand(some, 1)));
    nest_add(&b, rd_sum(rd_flip(x, RD_DIMS(1)), RD_DIMS(0)));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Rows of few elements: whole rows taken apart by vectors, elements that are collected, and those of a
 * matrix product, which are collected side by side for all steps. */
START_TEST(few_of_a_row)
{
    if (_i % STEP)
        return;

    static const rd_dtype list[]   = { RD_F32, RD_I32, RD_F64, RD_U8, RD_I64, RD_U32 };
    static const int64_t  length[] = { 16, 5, 8, 16, 13, 10 };
    const rd_dtype        type     = list[_i];
    const rd_shape        shape    = RD_SHAPE(150, length[_i]);
    tile_memory           m        = { 0 };
    rd_expr              *x        = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *y        = nest_leaf(&m, type, shape, UGLY);
    rd_expr              *a        = nest_leaf(&m, type, RD_SHAPE(9, 13), UGLY);
    rd_expr              *b        = nest_leaf(&m, type, RD_SHAPE(3, 13), UGLY);
    nest_batch            n        = { 0 };

    snprintf(n.what, sizeof n.what, "rows of %d %s", (int)length[_i], rd_dtype_name(type));
    nest_add(&n, rd_sum(x, RD_DIMS(1)));
    nest_add(&n, rd_max(rd_mul(x, y), RD_DIMS(1)));
    nest_add(&n, rd_sub(x, rd_mean(x, RD_KEEP(1))));
    nest_add(&n, rd_sum(rd_mul(rd_expand(a, 0), rd_expand(b, 1)), RD_DIMS(2)));
    agree_shared(&n);
    nest_mostly();
    tile_free(&m);
}
END_TEST

typedef struct scan_case {
    rd_dtype type;
    rd_shape shape;
    int      axis;
} scan_case;

/* Folds so far that have no tree, as any grouping gives their bits. */
START_TEST(running)
{
    if (_i % STEP)
        return;

    static const char *const names[] = { "min", "max", "sum", "prod" };
    const scan_case          cases[] = { { RD_F32, RD_SHAPE(130, 37), 0 },
                                         { RD_F64, RD_SHAPE(5, 200), 1 },
                                         { RD_I32, RD_SHAPE(65, 70), 0 },
                                         { RD_U8, RD_SHAPE(3, 129), 1 },
                                         { RD_F16, RD_SHAPE(64, 16), 1 } };
    const scan_case         *c       = &cases[_i];
    const bool               ints    = rd_dtype_kind(c->type) != RD_KIND_FLOAT;
    tile_memory              m       = { 0 };
    rd_expr                 *x       = nest_leaf(&m, c->type, c->shape, UGLY);
    rd_expr                 *take    = nest_leaf(&m, RD_BOOL, c->shape, FLAGS);
    nest_batch               b       = { 0 };

    for (int ways = 0; ways < 4; ways++) {
        rd_reduce_opts opts = { .size      = sizeof opts,
                                .dims      = RD_DIMS(c->axis),
                                .reverse   = ways & 1,
                                .exclusive = ways & 2 };

        snprintf(b.what, sizeof b.what, "running folds of %s, axis %d%s%s", rd_dtype_name(c->type),
                 c->axis, opts.reverse ? ", reversed" : "", opts.exclusive ? ", exclusive" : "");
        for (int k = 0; k < (ints ? 4 : 2); k++)
            nest_add(&b, rd_scan_name(x, names[k], &opts));
        opts.where = take;
        for (int k = 0; k < (ints ? 4 : 2); k++)
            nest_add(&b, rd_scan_name(x, names[k], &opts));
        agree_shared(&b);
    }
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* What is computed from 16-bit floats is rounded to such a one after each operation. */
START_TEST(halves)
{
    const rd_dtype type  = _i % 2 ? RD_BF16 : RD_F16;
    const rd_shape shape = RD_SHAPE(3, _i < 2 ? 200 : 65);
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, type, shape, _i < 2 ? UGLY : ORDINARY);
    rd_expr       *y     = nest_leaf(&m, type, shape, UGLY);
    rd_expr       *z     = nest_leaf(&m, type, shape, ORDINARY);
    nest_batch     b     = { 0 };

    snprintf(b.what, sizeof b.what, "chains of %s", rd_dtype_name(type));
    nest_add(&b, rd_add(rd_mul(x, y), z));
    nest_add(&b, rd_div(rd_sub(x, z), rd_add(y, z)));
    nest_add(&b, rd_sqrt(rd_add(rd_square(x), rd_square(z))));
    nest_add(&b, rd_floor(rd_mul(rd_neg(x), rd_num(ctx, 0.3))));
    nest_add(&b, rd_minimum(rd_mul(x, z), rd_maximum(y, rd_abs(z))));
    nest_add(&b, rd_exp(rd_mul(z, rd_num(ctx, 0.1))));
    agree_shared(&b);
    nest_add(&b, rd_sum(rd_mul(x, z), RD_DIMS(1)));
    nest_add(&b, rd_max(rd_add(rd_mul(x, z), y), RD_DIMS(0)));
    nest_add(&b, rd_cast(rd_add(rd_cast(x, RD_F64), rd_cast(z, RD_F64)), type));
    nest_add(&b, rd_cast(rd_mul(rd_cast(y, RD_I32), rd_int(ctx, 1001)), type));
    nest_add(&b, rd_where(rd_lt(x, y), rd_mul(x, x), z));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Stores past the caches ------------------------------------------------------------------- */
/* Large results, with rows that begin at lines and elsewhere, of strips with a rest and without. */
START_TEST(past_the_caches)
{
    if (_i % STEP)
        return;

    static const int64_t cols[] = { 64, 1300, 129, 4099, 512, 75 };
    const rd_dtype       type   = (rd_dtype[]){ RD_F32, RD_F64, RD_I16, RD_F32, RD_F16, RD_U8 }[_i];
    const rd_shape       shape  = RD_SHAPE(11, cols[_i]);
    tile_memory          m      = { 0 };
    rd_expr             *x      = nest_leaf(&m, type, shape, ORDINARY);
    rd_expr             *y      = nest_leaf(&m, type, RD_SHAPE(cols[_i]), ORDINARY);
    rd_expr             *far    = rd_square(rd_sub(x, rd_mean(x, RD_KEEP(1))));
    nest_batch           b      = { 0 };

    rd_force_large(1);
    nest_seen.pass = "nontemporal";
    snprintf(b.what, sizeof b.what, "%s past the caches, %d a row", rd_dtype_name(type),
             (int)cols[_i]);
    nest_add(&b, rd_add(rd_mul(x, y), x));
    nest_add(&b, rd_cast(rd_sub(x, y), RD_F32));
    nest_add(&b, rd_gt(x, y));
    agree_shared(&b);
    nest_add(&b, rd_scan(x, "sum", RD_DIMS(0)));
    nest_add(&b, rd_scan(rd_mul(x, y), "max", RD_DIMS(0)));
    nest_add(&b, rd_scan(x, "max", RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, far);
    nest_add(&b, rd_sum(far, RD_DIMS(0)));
    nest_add(&b, rd_exp(rd_cast(x, RD_F32)));
    nest_add(&b, rd_transpose(rd_add(x, y)));
    nest_add(&b, softmax(rd_cast(x, RD_F32), RD_KEEP(1)));
    agree_shared(&b);
    rd_force_large(0);
    ck_assert_int_ge(nest_seen.changed, SANITIZED ? 0 : 2);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Rests of bytes ---------------------------------------------------------------------------- */
/* Rows of bytes with a rest behind strips of 64, and shorter ones: maps to bytes take them as they
 * are, but of three, and those to floats widen them first. */
START_TEST(rests_of_bytes)
{
    const int64_t  cols = (int64_t[]){ 126, 65, 62, 17, 3 }[_i];
    const rd_shape full = RD_SHAPE(5, cols + 2), inner = RD_SHAPE(5, cols);
    tile_memory    m = { 0 };
    rd_expr   *x = nest_leaf(&m, RD_U8, full, ORDINARY), *z = nest_leaf(&m, RD_I8, inner, ORDINARY);
    rd_expr   *left = rd_slice(x, ":, :-2"), *right = rd_slice(x, ":, 2:");
    nest_batch b = { 0 };

    snprintf(b.what, sizeof b.what, "maps of %d bytes", (int)cols);
    nest_seen.words      = "rd_widen_u8(";
    nest_seen.with_words = 0;
    nest_add(&b, rd_eq(rd_add(left, right), rd_int(ctx, 3)));
    nest_add(&b, rd_maximum(left, rd_slice(x, ":, 1:-1")));
    nest_add(&b, rd_abs(z));
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words, cols < 4);
    nest_add(&b, rd_add(rd_cast(left, RD_F32), rd_cast(right, RD_F32)));
    nest_add(&b, rd_add(z, rd_cast(right, RD_I16)));
    agree_shared(&b);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Planes --------------------------------------------------------------------------------------- */
/* Planes of interleaved arrays, all of them and some, forwards and backwards: three of bytes have a
 * function of their own, whose rest lies around 16. */
START_TEST(planes)
{
    const rd_dtype type  = (rd_dtype[]){ RD_U8, RD_U8, RD_U8, RD_I16, RD_F32, RD_I8 }[_i];
    const int64_t  width = (int64_t[]){ 3, 3, 4, 2, 4, 3 }[_i];
    const int64_t  cols  = (int64_t[]){ 97, 15, 65, 33, 17, 50 }[_i];
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, type, RD_SHAPE(5, cols, width), ORDINARY), *plane[4];
    rd_expr       *all, *back, *next;
    nest_batch     b = { 0 };

    for (int k = 0; k < 4; k++)
        plane[k] = rd_cast(rd_select(x, 2, k % width), RD_F32);
    all  = rd_sub(rd_mul(plane[0], plane[1]), rd_mul(plane[2], plane[3]));
    back = rd_sub(rd_flip(plane[2], RD_DIMS(1)), rd_flip(plane[0], RD_DIMS(1)));
    /* of the pixels before and behind: no neighbours */
    next = rd_add(rd_slice(plane[1], ":, 1:-1"),
                  rd_sub(rd_slice(plane[2], ":, :-2"), rd_slice(plane[0], ":, 2:")));
    snprintf(b.what, sizeof b.what, "planes of %s, %d of %d", rd_dtype_name(type), (int)cols,
             (int)width);
    nest_seen.words      = "rd_planes_u8(a";
    nest_seen.with_words = 0;
    nest_add(&b, all);
    nest_add(&b, rd_add(plane[0], plane[1]));
    nest_add(&b, back);
    agree_shared(&b);
    nest_add(&b, rd_sum(all, RD_DIMS(1)));
    nest_add(&b, rd_max(rd_maximum(plane[2], plane[1]), RD_DIMS(0, 1)));
    nest_add(&b, rd_count(rd_gt(rd_add(all, plane[1]), rd_int(ctx, 3)), RD_DIMS(0)));
    nest_add(&b, next);
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words > 0, type == RD_U8 && width == 3);
    for (int isa = 1; isa < isa_count(); isa++) {
        nest_add(&b, all);
        nest_agree_by(&b, isa, one_task, COUNT(one_task));
    }
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Users' functions of blocks ---------------------------------------------------------------- */
/* What it fails at, and the sentence. */
typedef struct limit {
    float       most;
    const char *sentence;
} limit;

static const char *halved(void *user, int64_t n, const void *const *in, void *out)
{
    const limit *l = user;
    const float *x = in[0];
    int16_t     *y = out;

    for (int64_t i = 0; i < n; i++) {
        if (x[i] > l->most)
            return l->sentence;
        y[i] = (int16_t)(x[i] * 50 - 3);
    }
    return NULL;
}

static const char *mixed(void *user, int64_t n, const void *const *in, void *out)
{
    const double *x = in[0], *y = in[1];
    double       *z = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] < y[i] ? x[i] + 0.25 * y[i] : 3 * y[i];
    return NULL;
}

/* Rows of more than the strip of 512 that one call is given, with a rest, and without. */
START_TEST(long_calls)
{
    if (_i % STEP)
        return;

    static limit  never = { INFINITY, "never" }, some = { 1.9f, "above 1.9" };
    const int64_t cols = (int64_t[]){ 1300, 513, 1024, 511, 512 }[_i];
    const rd_fn   f    = nest_function(halved, &never, 1, RD_F32, RD_I16),
                g      = nest_function(mixed, NULL, 2, RD_F64, RD_F64),
                bad    = nest_function(halved, &some, 1, RD_F32, RD_I16);
    tile_memory m      = { 0 };
    rd_expr    *x      = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, RD_SHAPE(5, cols), ORDINARY);
    rd_expr    *y      = nest_leaf(&m, RD_F64, RD_SHAPE(cols), ORDINARY);
    nest_batch  b      = { 0 };

    snprintf(b.what, sizeof b.what, "calls of %d", (int)cols);
    nest_add(&b, rd_map(x, &f));
    nest_add(&b, rd_map2(x, y, &g));
    nest_add(&b, rd_add(rd_map(rd_exp(x), &f), rd_map2(y, rd_flip(x, RD_DIMS(1)), &g)));
    agree_shared(&b);
    nest_add(&b, rd_sum(rd_map2(x, y, &g), RD_DIMS(0)));
    nest_add(&b, rd_max(rd_map(rd_map2(x, y, &g), &f), RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_map(x, &bad));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { exponentials, 0, COUNT(exp_cases) / 3 },
        { pairs_of_softmax, 0, SANITIZED ? 1 : 3 },
        { pairs, 0, 5 },
        { products, 0, SANITIZED ? 2 : 6 },
        { rows_together, 0, COUNT(around_four) },
        { folds_of_running_sums, 0, 4 },
        { windows, 0, 5 },
        { divisions, 0, 8 },
        { extremes, 0, 4 },
        { signs_of_zeros, 0, 3 },
        { few_columns, 0, 6 },
        { few_of_a_row, 0, 6 },
        { running, 0, 5 },
        { halves, 0, SANITIZED ? 2 : 4 },
        { past_the_caches, 0, 6 },
        { rests_of_bytes, 0, 5 },
        { planes, 0, 6 },
        { long_calls, 0, 5 },
    };

    return nest_suite("strips", begin, cases, COUNT(cases));
}
