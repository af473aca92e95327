/* test_short_axes.c - nests with axes of a few indices beside long ones, against the scalar interpreter: sums of
 * vectors over pairs of points, whose components are states in registers; rows of some lanes, which are whole
 * vectors in the text; columns of rows, which are turned by squares; functions of such rows, and sums of columns by them; differences in periodic boxes.
 *
 * Strips have 64 points, and rows go together by fours, so extents lie around these. */
#include "nests.h"
#include "kernels/pass/strip_at.h"
#include "suite.h"
#include <stdio.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static void agree_shared(nest_batch *b)
{
    nest_agree(b, many_tasks, COUNT(many_tasks));
}

/* ---- Vectors of pairs ------------------------------------------------------------------------- */
static const struct {
    rd_dtype type;
    int64_t  n, m, d;
} clouds[] = {
    { RD_F32, 65, 130, 3 }, { RD_F32, 130, 64, 2 }, { RD_F64, 64, 67, 3 },
    { RD_F32, 200, 5, 4 },  { RD_F64, 63, 3, 2 },   { RD_F32, 1, 129, 3 },
};

/* The sum over all others of what lies between, by a function of the distance. */
static rd_expr *force(rd_expr *x, rd_expr *y, rd_expr *mass)
{
    rd_expr *d  = rd_sub(rd_expand(y, 0), rd_expand(x, 1));
    rd_expr *r2 = rd_add(rd_sum(rd_square(d), RD_DIMS(2)), rd_num(ctx, 0.25));
    rd_expr *by = rd_div(rd_expand(mass, 0), rd_mul(r2, rd_sqrt(r2)));

    return rd_sum(rd_mul(d, rd_expand(by, 2)), RD_DIMS(1));
}

START_TEST(vectors_of_pairs)
{
    const rd_dtype type = clouds[_i].type;
    const int64_t  n = clouds[_i].n, m = clouds[_i].m, d = clouds[_i].d;
    tile_memory    memory = { 0 };
    rd_expr       *x      = nest_leaf(&memory, type, RD_SHAPE(n, d), ORDINARY),
            *y            = nest_leaf(&memory, type, RD_SHAPE(m, d), ORDINARY),
            *mass         = nest_leaf(&memory, type, RD_SHAPE(m), ORDINARY);
    nest_batch b          = { 0 };

    nest_nans(&memory, 1);
    nest_seen.pass    = "unroll_jam";
    nest_seen.changed = 0;
    snprintf(b.what, sizeof b.what, "forces on %d of %d points, %s", (int)n, (int)m,
             rd_dtype_name(type));
    nest_add(&b, force(x, y, mass));
    agree_shared(&b);
    ck_assert_msg(n * m < 4096 || SANITIZED || nest_seen.changed > 0,
                  "states of components go to and fro");
    nest_seen.pass = NULL;
    nest_add(&b, rd_max(rd_abs(rd_sub(rd_expand(y, 0), rd_expand(x, 1))), RD_DIMS(1)));
    agree_shared(&b);
    nest_mostly();
    tile_free(&memory);
}
END_TEST

/* ---- Rows of some lanes ----------------------------------------------------------------------- */
/* Two and more vectors with a rest: sums, weighted ones, of nothing but -0, of NaN. */
START_TEST(rows_of_lanes)
{
    const int64_t  cols = (int64_t[]){ 50, 17, 63, 20, 33, 48, 16, 3 }[_i];
    const rd_dtype type = _i % 4 == 3 ? RD_F64 : RD_F32;
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(71, cols), ORDINARY),
            *w          = nest_leaf(&m, type, RD_SHAPE(cols), ORDINARY),
            *y          = nest_leaf(&m, type, RD_SHAPE(71), ORDINARY);
    nest_batch b        = { 0 };

    nest_nans(&m, 0);
    nest_seen.words      = "[i] = i < ";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "rows of %d %s", (int)cols, rd_dtype_name(type));
    nest_add(&b, rd_sum(rd_mul(x, w), RD_DIMS(1)));
    agree_shared(&b);
    if (cols == 50 || cols == 63)
        ck_assert_int_gt(nest_seen.with_words, 0);
    nest_seen.words = NULL;
    nest_add(&b, rd_sum(x, RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_neg(rd_mul(rd_abs(x), rd_num(ctx, 0))), RD_DIMS(1)));
    nest_add(&b, rd_max(x, RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_div(rd_sub(x, rd_mean(x, RD_KEEP(1))), rd_std(x, RD_KEEP(1))));
    agree_shared(&b);
    rd_force_large(1); /* so that the rows that follow are fetched */
    nest_seen.pass    = "prefetch";
    nest_seen.changed = 0;
    rd_expr *error    = rd_sub(rd_sigmoid(rd_sum(rd_mul(x, w), RD_DIMS(1))), y);
    nest_add(&b, rd_sum(rd_mul(x, rd_expand(error, 1)), RD_DIMS(0)));
    agree_shared(&b);
    rd_force_large(0);
    ck_assert_int_ge(nest_seen.changed, !SANITIZED && cols > 16);
    nest_seen.pass = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Lanes of nothing change no bit of what others come to: NaN, infinities, zeros of either sign. */
START_TEST(lanes_of_nothing)
{
    static const struct {
        rd_dtype type;
        int64_t  cols;
    } rows[]            = { { RD_F32, 50 }, { RD_F32, 35 }, { RD_F64, 20 }, { RD_F64, 28 },
                            { RD_I32, 50 }, { RD_I32, 45 }, { RD_I64, 28 } };
    const rd_dtype type = rows[_i].type;
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(67, rows[_i].cols),
                           type == RD_F32 || type == RD_F64 ? UGLY : ORDINARY);
    nest_batch     b    = { 0 };

    nest_seen.words      = "[i] = i < ";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "lanes of %d %s", (int)rows[_i].cols, rd_dtype_name(type));
    nest_add(&b, rd_max(x, RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_min(x, RD_DIMS(1)));
    nest_add(&b, rd_argmax(x, RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_argmin(x, RD_DIMS(1)));
    nest_add(&b, rd_sum(x, RD_DIMS(1)));
    agree_shared(&b);
    nest_add(&b, rd_prod(x, RD_DIMS(1)));
    nest_add(&b, rd_max(x, RD_DIMS(1), .where = rd_ne(x, rd_int(ctx, 0))));
    agree_shared(&b);
    ck_assert_int_gt(nest_seen.with_words, 0);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Columns of short rows -------------------------------------------------------------------- */
/* Rows whose lengths vectors do not divide, and strips that end amid groups of rows; -0, infinities and
 * NaN; rows that lie apart, whose columns stay where they are. */
START_TEST(columns_of_rows)
{
    static const struct {
        rd_dtype type;
        int64_t  rows, cols;
        bool     turns;
    } cases[] = { { RD_F32, 131, 10, true }, { RD_F64, 77, 9, true },   { RD_I32, 200, 7, true },
                  { RD_I64, 67, 10, true },  { RD_U32, 70, 9, true },   { RD_F32, 3001, 13, true },
                  { RD_F32, 64, 5, true },   { RD_F16, 90, 11, false }, { RD_U8, 90, 7, false },
                  { RD_F32, 9, 12, true } };
    const rd_dtype type = cases[_i].type;
    const int64_t  n = cases[_i].rows, k = cases[_i].cols;
    const bool     real = rd_dtype_kind(type) == RD_KIND_FLOAT;
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(n, k), real ? UGLY : ORDINARY);
    nest_batch     b    = { 0 };

    nest_seen.words      = "columns_word";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "%d rows of %d %s", (int)n, (int)k, rd_dtype_name(type));
    nest_add(&b, rd_argmax(x, RD_DIMS(1)));
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words > 0, cases[_i].turns);
    nest_add(&b, rd_sub(x, rd_max(x, RD_KEEP(1))));
    nest_add(&b, rd_var(rd_cast(x, RD_F64), RD_DIMS(1)));
    nest_add(&b, rd_min(x, RD_DIMS(1), .where = rd_ne(x, rd_int(ctx, 0))));
    agree_shared(&b);
    nest_add(&b, rd_softmax(rd_cast(x, real ? type : RD_F32), RD_DIMS(1)));
    nest_add(&b, rd_argmin(rd_slice_axis(x, 1, 0, k - 1, 1), RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_slice_axis(x, 0, 0, n, 2), RD_DIMS(1)));
    nest_add(&b, rd_argmax(rd_slice_axis(x, 1, RD_OPEN, RD_OPEN, -1), RD_DIMS(1)));
    agree_shared(&b);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Periodic boxes --------------------------------------------------------------------------- */
/* Whole numbers next to quotients by constants, of which some have too many bits for two products. */
START_TEST(boxes)
{
    static const double by[] = { 18, 3, 0.75, 1048575, 2097153, 0.1, -7, 64 };
    const rd_dtype      type = _i % 2 ? RD_F64 : RD_F32;
    const bool          few  = by[_i] > 0 && by[_i] != 64 && (type == RD_F64 || by[_i] != 2097153);
    tile_memory         m    = { 0 };
    rd_expr            *x    = nest_leaf(&m, type, RD_SHAPE(7, 300), UGLY),
            *box             = rd_cast(rd_num(ctx, by[_i]), type);
    nest_batch b             = { 0 };

    nest_seen.words      = "rd_quotient_f";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "boxes of %g, %s", by[_i], rd_dtype_name(type));
    nest_add(&b, rd_round(rd_div(x, box)));
    agree_shared(&b);
    nest_add(&b, rd_sub(x, rd_mul(box, rd_round(rd_div(x, box)))));
    nest_add(&b, rd_trunc(rd_div(x, box)));
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words > 0, few && by[_i] != 0.1);
    nest_seen.with_words = 0;
    nest_add(&b, rd_div(x, box));
    nest_add(&b, rd_floor(rd_div(x, box)));
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words, 0);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Ints over constants ---------------------------------------------------------------------- */
/* Such quotients are two products, with the bits of a division; those of floats are divisions. */
START_TEST(ints_over_constants)
{
    static const rd_dtype types[] = { RD_U8, RD_I8, RD_I16, RD_U16, RD_I32, RD_U32, RD_BOOL };
    static const double   by[]    = { 255, 20, 3, 0.75, 1e5 };
    const rd_dtype        from = types[_i % 7], type = _i < 7 ? RD_F32 : RD_F64;
    tile_memory           m = { 0 };
    rd_expr              *x = nest_leaf(&m, from, RD_SHAPE(9, 500), UGLY), *y = rd_cast(x, type);
    nest_batch            b = { 0 };

    nest_seen.words      = "rd_quotient_f";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "%s over constants", rd_dtype_name(from));
    for (int k = 0; k < COUNT(by); k++)
        nest_add(&b, rd_div(y, rd_cast(rd_num(ctx, by[k]), type)));
    agree_shared(&b);
    ck_assert_int_gt(nest_seen.with_words, 0);
    nest_seen.with_words = 0;
    nest_add(&b, rd_div(y, rd_cast(rd_num(ctx, 64), type)));
    nest_add(&b, rd_div(y, rd_cast(rd_num(ctx, -3), type)));
    nest_add(&b, rd_div(rd_neg(y), rd_cast(rd_num(ctx, 3), type)));
    agree_shared(&b);
    ck_assert_int_eq(nest_seen.with_words, 0);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { vectors_of_pairs, 0, COUNT(clouds) },
        { rows_of_lanes, 0, 8 },
        { lanes_of_nothing, 0, 7 },
        { columns_of_rows, 0, 10 },
        { boxes, 0, 8 },
        { ints_over_constants, 0, 14 },
    };

    return nest_suite("short axes", begin, cases, COUNT(cases));
}
