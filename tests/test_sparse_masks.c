/* Products of two sparse matrices at the places of a third one: the bits are those of the product whose
 * places are listed, and the values those of dense arrays. */
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 70, MOST_PLACES = MOST_ROWS * MOST_ROWS };

static uint64_t state = 46;

static int draw(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* Index arrays and values of one matrix. */
typedef struct matrix {
    int64_t rows, columns, n;
    int32_t pos[MOST_ROWS + 1], crd[MOST_PLACES];
    int64_t wide_pos[MOST_ROWS + 1], wide_crd[MOST_PLACES];
    double  value[MOST_PLACES];
    float   narrow[MOST_PLACES];
    int32_t whole[MOST_PLACES];
    int64_t wide[MOST_PLACES];
    bool    truth[MOST_PLACES];
} matrix;

/* In a hundred of `dense` places stored, in some rows none and in some all; `odd` of a hundred values are
 * infinities and NaN. */
static void fill(matrix *m, int64_t rows, int64_t columns, int dense, int odd)
{
    m->rows    = rows;
    m->columns = columns;
    m->n       = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int here = draw(5) ? dense : draw(2) ? 0 : 100;

        for (int64_t j = 0; j < columns; j++)
            if (draw(100) < here) {
                const double v =
                    draw(100) < odd ? (draw(3) ? INFINITY : NAN) : draw(2000) / 7. - 99;

                m->wide_crd[m->n] = m->crd[m->n] = (int32_t)j;
                m->value[m->n]                   = v;
                m->narrow[m->n]                  = (float)v;
                m->wide[m->n] = m->whole[m->n] = isfinite(v) ? (int32_t)v * 6000 : 7;
                m->truth[m->n]                 = v > 0;
                m->n++;
            }
        m->wide_pos[i + 1] = m->pos[i + 1] = (int32_t)m->n;
    }
}

static rd_expr *row_of(const void *data, rd_dtype type, int64_t n)
{
    return rd_leaf(ctx, &(rd_array){ .in = data, .type = type, .shape = RD_SHAPE(n) });
}

static const void *values_of(const matrix *m, rd_dtype type)
{
    return type == RD_F64   ? (const void *)m->value
           : type == RD_F32 ? (const void *)m->narrow
           : type == RD_I32 ? (const void *)m->whole
           : type == RD_I64 ? (const void *)m->wide
                            : (const void *)m->truth;
}

/* CSR of i32 or of i64, or places column after column of what is its transpose's. */
static rd_expr *leaf_as(const matrix *m, int form, rd_dtype type, bool stored)
{
    rd_expr *const values = row_of(values_of(m, type), type, m->n);
    rd_expr *const pos =
        form == 1 ? row_of(m->wide_pos, RD_I64, m->rows + 1) : row_of(m->pos, RD_I32, m->rows + 1);
    rd_expr *const crd =
        form == 1 ? row_of(m->wide_crd, RD_I64, m->n) : row_of(m->crd, RD_I32, m->n);

    if (form < 2)
        return rd_csr(ctx, RD_SHAPE(m->rows, m->columns), pos, crd, values, .stored = stored);
    return rd_permute(
        rd_csc(ctx, RD_SHAPE(m->columns, m->rows), pos, crd, values, .stored = stored),
        RD_INDEX(1, 0));
}

/* Its places listed, as a view of a product needs them. */
static rd_expr *listed(rd_expr *y)
{
    return rd_permute(rd_permute(y, RD_INDEX(1, 0)), RD_INDEX(1, 0));
}

static double is[MOST_PLACES], want[MOST_PLACES];

static void evaluate(const char *what, int k, rd_expr *y, double *to, int threads)
{
    rd_array out = { .data = to, .type = RD_F64 };

    ck_assert_msg(y != NULL, "%s %d: %s", what, k, rd_error_text(ctx));
    out.shape = rd_shape_of(y);
    ck_assert_msg(
        rd_eval_many(ctx, RD_RESULTS({ rd_cast(y, RD_F64), &out }),
                     &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = threads }) == RD_OK,
        "%s %d: %s", what, k, rd_error_text(ctx));
}

static void same(const char *what, int k, rd_expr *y, rd_expr *wanted)
{
    int64_t n = 1;

    evaluate(what, k, y, is, 1 + draw(3));
    evaluate(what, k, wanted, want, 1);
    ck_assert_msg(rd_type_of(y) == rd_type_of(wanted), "%s %d", what, k);
    for (int a = 0; a < rd_shape_of(wanted).n; a++)
        n *= rd_shape_of(wanted).at[a];
    for (int64_t e = 0; e < n; e++)
        ck_assert_msg(is[e] == want[e] || (isnan(is[e]) && isnan(want[e])),
                      "%s %d: element %lld is %.17g, not %.17g", what, k, (long long)e, is[e],
                      want[e]);
}

static matrix left, right, mask;

static const rd_dtype types[] = { RD_F64, RD_F32, RD_I32, RD_I64, RD_BOOL };

static int64_t any_extent(void)
{
    return draw(5) ? 1 + draw(MOST_ROWS) : draw(3);
}

static void draw_all(int odd)
{
    const int64_t n = any_extent(), m = any_extent(), l = any_extent();

    fill(&left, n, m, 1 + draw(50), odd);
    fill(&right, m, l, 1 + draw(50), odd);
    fill(&mask, n, l, draw(2) ? 100 : draw(40), 0);
}

static rd_expr *zero_of(rd_expr *m)
{
    return rd_cast(rd_int(ctx, 0), rd_type_of(m));
}

/* Ints that are multiplied, and any that are chosen. */
START_TEST(beside_listed_ones)
{
    for (int k = 0; k < (SANITIZED ? 10 : 40); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = types[draw(COUNT(types))];

        draw_all(draw(2) ? 0 : 20);
        rd_expr *const a     = leaf_as(&left, draw(3), type, false);
        rd_expr *const b     = leaf_as(&right, draw(3), type, false);
        rd_expr *const m     = leaf_as(&mask, draw(3), types[draw(COUNT(types))], false);
        rd_expr *const truth = leaf_as(&mask, draw(3), RD_BOOL, false);
        rd_expr *const y = rd_matmul(a, b), *const all = listed(y), *const d = rd_dense(all);

        same("times", k, rd_mul(y, m), rd_mul(all, m));
        same("by", k, rd_mul(m, y), rd_mul(m, all));
        same("dense", k, rd_mul(y, m), rd_mul(d, rd_dense(m)));
        same("chosen", k, rd_where(truth, y, rd_int(ctx, 0)),
             rd_where(rd_dense(truth), d, rd_int(ctx, 0)));
        same("chosen beside", k, rd_where(truth, y, m), rd_where(rd_dense(truth), d, rd_dense(m)));
        same("chosen by a comparison", k, rd_where(rd_ne(m, zero_of(m)), y, m),
             rd_where(rd_dense(rd_ne(m, zero_of(m))), d, rd_dense(m)));
        same("cast", k, rd_mul(rd_cast(y, RD_I64), m), rd_mul(rd_cast(all, RD_I64), m));
        same("three", k, rd_mul(rd_mul(y, m), y), rd_mul(rd_mul(all, m), all));
        same("again", k, rd_matmul(rd_transpose(rd_mul(y, m)), a),
             rd_matmul(rd_transpose(rd_mul(all, m)), a));
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Sums of ints, whose order does not matter, and views. */
START_TEST(summed_and_sliced)
{
    for (int k = 0; k < (SANITIZED ? 5 : 20); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = draw(2) ? RD_I32 : RD_I64;

        draw_all(0);
        rd_expr *const a   = leaf_as(&left, draw(3), type, false);
        rd_expr *const b   = leaf_as(&right, draw(3), type, false);
        rd_expr *const m   = leaf_as(&mask, draw(3), type, false);
        rd_expr *const y   = rd_mul(rd_matmul(a, b), m);
        rd_expr *const all = rd_mul(rd_matmul(rd_dense(a), rd_dense(b)), rd_dense(m));

        same("rows", k, rd_sum(y, RD_DIMS(1)), rd_sum(all, RD_DIMS(1)));
        same("columns", k, rd_sum(y, RD_DIMS(0)), rd_sum(all, RD_DIMS(0)));
        same("sum", k, rd_sum(y, RD_ALL), rd_sum(all, RD_ALL));
        same("einsum", k, rd_einsum("ij,jk,ik->i", a, b, m),
             rd_einsum("ij,jk,ik->i", rd_dense(a), rd_dense(b), rd_dense(m)));
        same("turned", k, rd_transpose(y), rd_transpose(all));
        if (left.rows > 2 && right.columns > 0) {
            same("slice", k, rd_slice(y, "1:-1"), rd_slice(all, "1:-1"));
            same("row", k, rd_select(y, 0, 1), rd_select(all, 0, 1));
        }
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

static int64_t places_of(rd_expr *y)
{
    return rd_shape_of(rd_stored(y)).at[0];
}

/* Where nothing is at other places, the result has those that both have, and no more. */
START_TEST(stored_ones)
{
    static const struct {
        const char *add, *multiply;
    } rings[] = {
        { "sum", "mul" }, { "min", "add" }, { "max", "add" }, { "max", "minimum" }, { "min", "sub" }
    };

    for (int k = 0; k < (SANITIZED ? 10 : 40); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = draw(2) ? RD_F64 : RD_I64;
        const int      ring = draw(COUNT(rings));

        draw_all(draw(3) ? 0 : 10);
        rd_expr *const a   = leaf_as(&left, draw(3), type, true);
        rd_expr *const b   = leaf_as(&right, draw(3), type, true);
        rd_expr *const m   = leaf_as(&mask, draw(3), RD_F64, true);
        rd_expr *const y   = rd_semiring(a, b, rings[ring].add, rings[ring].multiply);
        rd_expr *const all = listed(y);

        ck_assert_int_eq(places_of(rd_add(y, m)), places_of(rd_add(all, m)));
        if (places_of(rd_add(all, m)) > 0) {
            same("stored", k, rd_stored(rd_add(y, m)), rd_stored(rd_add(all, m)));
            same("rows of", k, rd_stored_at(rd_add(m, y), 0), rd_stored_at(rd_add(m, all), 0));
        }
        if (left.rows > 0 && right.columns > 0)
            same("most", k, rd_max(rd_mul(y, m), RD_DIMS(1)), rd_max(rd_mul(all, m), RD_DIMS(1)));
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Few places are found by rows and columns that meet, many by rows that are added. */
START_TEST(few_and_many)
{
    char line[80];

    fill(&left, MOST_ROWS, MOST_ROWS, 50, 0);
    fill(&mask, MOST_ROWS, MOST_ROWS, 3, 0);
    for (int few = 0; few < 2; few++) {
        rd_expr *const a = leaf_as(&left, 0, RD_I64, false);
        rd_expr *const m = leaf_as(few ? &mask : &left, 0, RD_I64, false);
        rd_expr *const y = rd_sum(rd_mul(rd_matmul(a, a), m), RD_ALL);

        snprintf(line, sizeof line, "at %d places that are wanted, %s",
                 (int)(few ? mask.n : left.n), few ? "rows by columns" : "row by row");
        ck_assert_msg(strstr(plan_text(y), line), "%s\n%s", line, plan_text(y));
        same("few and many", few, y, rd_sum(rd_mul(listed(rd_matmul(a, a)), m), RD_ALL));
    }
}
END_TEST

/* Places of m and their mirrors; their values mirror each other, too, but for one if `odd`. */
static void make_mirrored(matrix *m, int64_t rows, int dense, bool odd)
{
    static bool has[MOST_ROWS][MOST_ROWS];
    static int  value[MOST_ROWS][MOST_ROWS];

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            has[i][j] = has[j][i] = draw(100) < dense;
            value[i][j] = value[j][i] = draw(2000) - 999;
        }
    value[0][rows - 1] += odd;
    m->rows = m->columns = rows;
    m->n                 = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < rows; j++)
            if (has[i][j] || (i + j == rows - 1 && i * j == 0)) {
                m->wide_crd[m->n] = m->crd[m->n] = (int32_t)j;
                m->value[m->n]                   = value[i][j] / 7.;
                m->narrow[m->n]                  = (float)(value[i][j] / 7.);
                m->wide[m->n] = m->whole[m->n] = value[i][j];
                m->truth[m->n]                 = value[i][j] > 0;
                m->n++;
            }
        m->wide_pos[i + 1] = m->pos[i + 1] = (int32_t)m->n;
    }
}

/* What is its own transpose is computed once for two places; whether it is depends on values, too. */
START_TEST(mirrored)
{
    for (int k = 0; k < (SANITIZED ? 10 : 40); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = types[draw(COUNT(types))];
        const int      both = draw(3);

        make_mirrored(&left, 40 + draw(MOST_ROWS - 40), 20 + draw(40), draw(2));
        if (draw(3))
            make_mirrored(&mask, left.rows, 1 + draw(30), draw(2));
        else
            fill(&mask, left.rows, left.rows, 1 + draw(30), 0);
        if (both == 2)
            fill(&left, left.rows, left.rows, 20 + draw(20), 0);
        rd_expr *const a = leaf_as(&left, draw(3), type, false);
        rd_expr *const b = both ? rd_transpose(a) : a;
        rd_expr *const m = leaf_as(draw(2) ? &mask : &left, draw(3), RD_BOOL, false);
        rd_expr *const y = rd_matmul(a, b), *const all = listed(y), *const zero = rd_int(ctx, 0);

        ck_assert(
            strstr(plan_text(rd_sum(rd_where(m, y, zero), RD_ALL)), "places that are wanted"));
        same("mirrored", k, rd_where(m, y, zero), rd_where(m, all, zero));
        same("dense", k, rd_where(m, y, zero), rd_where(rd_dense(m), rd_dense(all), zero));
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* A plan goes with other values. */
START_TEST(with_other_values)
{
    static double twice[MOST_PLACES];

    fill(&left, 50, 50, 20, 0);
    rd_expr *const values =
        rd_input(ctx, "values", &(rd_array){ .type = RD_F64, .shape = RD_SHAPE(left.n) });
    rd_expr *const a    = rd_csr(ctx, RD_SHAPE(50, 50), row_of(left.pos, RD_I32, 51),
                                 row_of(left.crd, RD_I32, left.n), values, .stored = true);
    rd_expr *const y    = rd_stored(rd_mul(rd_matmul(a, a), a));
    rd_array       out  = { .data = is, .type = RD_F64, .shape = rd_shape_of(y) };
    rd_plan *const plan = rd_plan_new(ctx, RD_EXPRS(values), RD_RESULTS({ y, &out }), NULL);

    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    for (int64_t e = 0; e < left.n; e++)
        twice[e] = 2 * left.value[e];
    ck_assert(rd_plan_run(plan, (const void *[]){ left.value }, (void *[]){ is }) == RD_OK);
    ck_assert(rd_plan_run(plan, (const void *[]){ twice }, (void *[]){ want }) == RD_OK);
    for (int64_t e = 0; e < out.shape.at[0]; e++)
        ck_assert(want[e] == 8 * is[e]);
    rd_plan_free(plan);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { beside_listed_ones, summed_and_sliced, stored_ones,
                                   few_and_many,       mirrored,          with_other_values };

    return run_suite("sparse masks", tests, COUNT(tests));
}
