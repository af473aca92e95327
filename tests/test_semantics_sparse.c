/* docs/semantics.md on sparse arrays. */
#include "values.h"

#include <math.h>
#include <stdint.h>

static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 };

/* 0 1 0 / 0 0 0 / 2 0 3, of another fill, or with nothing elsewhere. */
static rd_expr *matrix(double fill, bool stored)
{
    return rd_csr(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, pos, RD_SHAPE(4)),
                  rd_wrap(ctx, crd, RD_SHAPE(3)), leaf(RD_F64, VALUES(1, 2, 3)),
                  .fill = rd_num(ctx, fill), .stored = stored);
}

START_TEST(sparse_fills)
{
    rd_expr *const one = rd_num(ctx, 1);

    expect("leaf", matrix(5, false), RD_F64, VALUES(5, 1, 5, 5, 5, 5, 2, 5, 3));
    expect("map", rd_exp(matrix(0, false)), RD_F64,
           VALUES(1, exp(1), 1, 1, 1, 1, exp(2), 1, exp(3)));
    expect("sum", rd_sum(matrix(5, false), RD_DIMS(1)), RD_F64, VALUES(11, 15, 10));
    expect("max", rd_max(matrix(-1, false), RD_DIMS(0)), RD_F64, VALUES(2, 1, 3));
    expect("mean", rd_mean(matrix(0, false), RD_ALL), RD_F64, VALUES(6.0 / 9));
    expect("where", rd_sum(matrix(5, false), RD_DIMS(1), .where = rd_gt(matrix(0, false), one)),
           RD_F64, VALUES(0, 0, 5));
    expect("weights", rd_mean(matrix(5, false), RD_ALL, .weights = matrix(0, false)), RD_F64,
           VALUES(14.0 / 6));
    expect("cut once", rd_sum(matrix(1.5, false), RD_DIMS(1), .type = RD_I8), RD_I8,
           VALUES(4, 4, 6));
    expect("no number",
           rd_max(rd_csr(ctx, RD_SHAPE(2, 1), rd_wrap(ctx, pos, RD_SHAPE(3)),
                         rd_wrap(ctx, pos, RD_SHAPE(1)), leaf(RD_F64, VALUES(NAN))),
                  RD_DIMS(1), .skip_nan = true),
           RD_F64, VALUES(NAN, 0));
}
END_TEST

/* More fills than an i8 counts. */
START_TEST(narrow_fills)
{
    static const int8_t one[] = { 3 };
    const rd_shape      shape = RD_SHAPE(1, 258);
    rd_expr *const      p = rd_wrap(ctx, pos, RD_SHAPE(2)), *at = rd_wrap(ctx, crd, RD_SHAPE(1));
    rd_expr *const      v = rd_wrap(ctx, one, RD_SHAPE(1));
    rd_expr *const      x = rd_csr(ctx, shape, p, at, v, .fill = rd_int(ctx, 2));
    rd_expr *const      y = rd_csr(ctx, shape, p, at, v, .fill = rd_int(ctx, -1));

    expect("even", rd_prod(x, RD_DIMS(1), .type = RD_I8), RD_I8, VALUES(0));
    expect("odd", rd_prod(y, RD_DIMS(1), .type = RD_I8), RD_I8, VALUES(-3));
    expect("sum", rd_sum(y, RD_DIMS(1), .type = RD_I8), RD_I8, VALUES(3 - 257 + 256));
    expect_error("half", rd_csr(ctx, shape, p, at, v, .fill = rd_num(ctx, 0.5)), RD_ERR_TYPE);
    expect("bool", rd_sum(x, RD_DIMS(1), .type = RD_BOOL), RD_BOOL, VALUES(1));
    expect("a bit in common", rd_reduce(x, "bits_and", RD_DIMS(1), .type = RD_BOOL), RD_BOOL,
           VALUES(1));
    expect("no bit in common",
           rd_reduce(rd_csr(ctx, shape, p, at, v, .fill = rd_int(ctx, 4)), "bits_and", RD_DIMS(1),
                     .type = RD_BOOL),
           RD_BOOL, VALUES(0));
    expect("opposites",
           rd_sum(rd_csr(ctx, RD_SHAPE(1, 4), p, at, v, .fill = rd_int(ctx, -1)), RD_DIMS(1),
                  .type = RD_BOOL),
           RD_BOOL, VALUES(0));
}
END_TEST

START_TEST(sparse_infinities)
{
    rd_expr *const x = leaf(RD_F64, VALUES(1, INFINITY, 1));

    expect("all places", rd_matmul(matrix(0, false), x), RD_F64, VALUES(INFINITY, NAN, NAN));
    expect("stored ones", rd_matmul(matrix(0, true), x), RD_F64, VALUES(INFINITY, 0, 5));
    expect("var", rd_var(matrix(INFINITY, false), RD_DIMS(1)), RD_F64, VALUES(NAN, NAN, NAN));
}
END_TEST

START_TEST(stored_alone)
{
    expect("mean", rd_mean(matrix(0, true), RD_DIMS(1)), RD_F64, VALUES(1, NAN, 2.5));
    expect("min", rd_min(matrix(0, true), RD_DIMS(1)), RD_F64, VALUES(1, NAN, 2));
    expect("where",
           rd_sum(matrix(0, true), RD_DIMS(1), .where = rd_gt(matrix(0, true), rd_num(ctx, 1))),
           RD_F64, VALUES(0, 0, 5));
    expect("dense", rd_add(matrix(0, true), rd_num(ctx, 1)), RD_F64,
           VALUES(0, 2, 0, 0, 0, 0, 3, 0, 4));
    expect_error("a slice", rd_slice_axis(matrix(0, true), 1, 0, 2, 1), RD_ERR_TYPE);
    /* A column with a place at its first row: an axis of one element is one of the pattern, also
     * after a transpose. */
    const int32_t  at[] = { 0 };
    rd_expr *const row =
        rd_coo(ctx, RD_SHAPE(1, 3), rd_wrap(ctx, at, RD_SHAPE(1)), rd_wrap(ctx, at, RD_SHAPE(1)),
               leaf(RD_F64, VALUES(5)), .stored = true);
    rd_expr *const column = rd_transpose(row);

    expect("sum", rd_sum(column, RD_DIMS(1)), RD_F64, VALUES(5, 0, 0));
    expect("prod", rd_prod(column, RD_DIMS(1)), RD_F64, VALUES(5, 1, 1));
    expect("mean of one", rd_mean(column, RD_DIMS(1)), RD_F64, VALUES(5, NAN, NAN));
    expect("all", rd_all(column, RD_DIMS(1)), RD_BOOL, VALUES(1, 1, 1));
    expect("logsumexp", rd_logsumexp(column, RD_DIMS(1)), RD_F64, VALUES(5, -INFINITY, -INFINITY));
    expect("flipped", rd_prod(rd_slice(row, "::-1, new, :"), RD_DIMS(0)), RD_F64, VALUES(5, 1, 1));
    expect("repeated", rd_prod(rd_broadcast(row, RD_SHAPE(2, 1, 3)), RD_DIMS(0, 1)), RD_F64,
           VALUES(25, 1, 1));
    expect("of no place", rd_prod(rd_transpose(row), RD_DIMS(0)), RD_F64, VALUES(5));
    /* Along an axis without elements, which the pattern lacks, the places stay. */
    rd_expr *const three   = rd_select(row, 0, 0);
    rd_expr *const nothing = rd_prod(rd_broadcast(rd_expand(three, 1), RD_SHAPE(3, 0)), RD_DIMS(1));

    ck_assert(rd_is_sparse(nothing));
    expect("of no element", nothing, RD_F64, VALUES(1, 0, 0));
    /* Operands of a contraction keep axes of one element, too: nothing is stored at 1 and 2. */
    rd_expr *const ones = leaf(RD_F64, VALUES(1));

    expect("times a number", rd_prod(rd_einsum("ij,i->ij", row, ones), RD_DIMS(0)), RD_F64,
           VALUES(5, 1, 1));
}
END_TEST

START_TEST(sparse_views)
{
    ck_assert(rd_is_sparse(rd_transpose(matrix(0, false))));
    ck_assert(rd_is_sparse(rd_expand(matrix(0, false), 0)));
    ck_assert(!rd_is_sparse(rd_select(matrix(0, false), 0, 2)));
    expect("turned", rd_transpose(matrix(0, false)), RD_F64, VALUES(0, 0, 2, 1, 0, 0, 0, 0, 3));
    expect("row", rd_select(matrix(0, false), 0, 2), RD_F64, VALUES(2, 0, 3));
    expect_error("sort", rd_sort(matrix(0, false), 1, false), RD_ERR_TYPE);
}
END_TEST

START_TEST(sparse_results)
{
    rd_expr *const y = rd_mul(matrix(0, false), leaf(RD_F64, VALUES(1, 10, 100)));

    expect("values", rd_stored(y), RD_F64, VALUES(10, 2, 300));
    expect("columns", rd_stored_at(y, 1), RD_I32, VALUES(1, 0, 2));
    expect("others", rd_stored_as(y, leaf(RD_F64, VALUES(7, 8, 9))), RD_F64,
           VALUES(0, 7, 0, 0, 0, 0, 8, 0, 9));
}
END_TEST

START_TEST(pairs_by_blocks)
{
    static const int64_t rows[] = { 0, 2, 3 }, columns[] = { 0, 1, 1, 3 }, falls[] = { 0, 2, 1, 3 };
    static const bool    pair[] = { true, true, false, false, true, true };
    rd_expr *const       is     = rd_blocks(ctx, 2, rows, 3, columns, pair);
    rd_expr *const       x = leaf_shape(RD_F64, RD_SHAPE(3, 3), VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9));

    expect("mask", is, RD_BOOL, VALUES(1, 0, 0, 1, 0, 0, 0, 1, 1));
    expect("rows", rd_sum(x, RD_DIMS(1), .where = is), RD_F64, VALUES(1, 4, 17));
    expect("columns", rd_sum(x, RD_DIMS(0), .where = is), RD_F64, VALUES(5, 8, 9));
    expect_error("fall", rd_blocks(ctx, 2, rows, 3, falls, pair), RD_ERR_ARGUMENT);
    expect_error("first", rd_blocks(ctx, 2, columns + 1, 1, rows, pair), RD_ERR_ARGUMENT);
    expect_error("none", rd_blocks(ctx, 0, rows, 3, columns, pair), RD_ERR_ARGUMENT);
    expect_error("which", rd_blocks(ctx, 2, rows, 3, columns, NULL), RD_ERR_ARGUMENT);
}
END_TEST

/* The mask as a user would take it from a table: no loop is bounded by this one. */
static rd_expr *taken_blocks(const bool *pair, int64_t n_rows, const int32_t *row, int64_t rows,
                             int64_t n_columns, const int32_t *column, int64_t columns)
{
    rd_expr *const table = rd_wrap(ctx, pair, RD_SHAPE(n_rows, n_columns));

    return rd_take(rd_take(table, 0, rd_wrap(ctx, row, RD_SHAPE(rows))), 1,
                   rd_wrap(ctx, column, RD_SHAPE(columns)));
}

START_TEST(bits_by_blocks)
{
    enum { N = 64, M = 192, HALF = M / 2 };
    static const int64_t rows[] = { 0, N }, columns[] = { 0, HALF, M };
    static const bool    pair[] = { true, false };
    static int32_t       row[N], column[M];
    static float         p[N], q[M], by_blocks[N], by_takes[N], most[2][N];
    static bool          array[N * M];

    for (int i = 0; i < N; i++)
        p[i] = sinf((float)i);
    for (int j = 0; j < M; j++) {
        q[j]      = cosf(3 * (float)j);
        column[j] = j >= HALF;
        for (int i = 0; i < N; i++)
            array[i * M + j] = j < HALF;
    }
    rd_expr *const d     = rd_square(rd_sub(rd_expand(rd_wrap(ctx, p, RD_SHAPE(N)), 1),
                                            rd_expand(rd_wrap(ctx, q, RD_SHAPE(M)), 0)));
    rd_expr *const is    = rd_blocks(ctx, 1, rows, 2, columns, pair);
    rd_expr *const taken = taken_blocks(pair, 1, row, N, 2, column, M);
    rd_expr *const bools = rd_wrap(ctx, array, RD_SHAPE(N, M));

    rd_eval(ctx, rd_sum(d, RD_DIMS(1), .where = is), RD_INTO(by_blocks, RD_SHAPE(N)));
    rd_eval(ctx, rd_sum(d, RD_DIMS(1), .where = taken), RD_INTO(by_takes, RD_SHAPE(N)));
    rd_eval(ctx, rd_max(d, RD_DIMS(1), .where = is), RD_INTO(most[0], RD_SHAPE(N)));
    rd_eval(ctx, rd_max(d, RD_DIMS(1), .where = bools), RD_INTO(most[1], RD_SHAPE(N)));
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(memcmp(by_blocks, by_takes, sizeof by_blocks) == 0);
    ck_assert(memcmp(most[0], most[1], sizeof most[0]) == 0);
}
END_TEST

/* Points in a few heaps, of which each is near itself alone. */
static void scatter(double *at, int n, int d, int heaps)
{
    static uint64_t state = 5;

    for (int i = 0; i < n * d; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        at[i] = (double)(state >> 40) / (1 << 24) + 3 * (double)(i / d * 7 % heaps);
    }
}

/* No near pair is left out, and not all others are in; all points are in the order, once. */
START_TEST(pairs_that_are_near)
{
    enum { N = 700, M = 531 };
    static double x[N * 4], y[M * 4];
    static bool   is[N * M], there[N];
    const double  radius = 0.3;

    for (int d = 1; d <= 4; d++) {
        int64_t  in = 0, wrong = 0;
        rd_expr *rows, *columns;
        int64_t  row[N], column[M];

        scatter(x, N, d, 5);
        scatter(y, M, d, 4);
        rd_expr *const near =
            rd_blocks_near(rd_leaf(ctx, RD_INTO(x, RD_SHAPE(N, d))),
                           rd_leaf(ctx, RD_INTO(y, RD_SHAPE(M, d))), radius, &rows, &columns);

        ck_assert_msg(near != NULL, "%s", rd_error_text(ctx));
        rd_eval_many(ctx,
                     RD_RESULTS({ near, RD_INTO(is, RD_SHAPE(N, M)) },
                                { rows, RD_INTO(row, RD_SHAPE(N)) },
                                { columns, RD_INTO(column, RD_SHAPE(M)) }),
                     NULL);
        memset(there, 0, sizeof there);
        for (int i = 0; i < N; i++) {
            ck_assert(!there[row[i]]);
            there[row[i]] = true;
            for (int j = 0; j < M; j++) {
                double far = 0;

                for (int k = 0; k < d; k++)
                    far += pow(x[row[i] * d + k] - y[column[j] * d + k], 2);
                wrong += sqrt(far) <= radius && !is[i * M + j];
                in += is[i * M + j];
            }
        }
        ck_assert_int_eq(wrong, 0);
        ck_assert_msg(in < N * M / 2, "%d of %d pairs in %d dimensions", (int)in, N * M, d);
    }
    const double   some[] = { 1, 2, NAN, 4 };
    rd_expr       *rows, *columns;
    rd_expr *const p = rd_wrap(ctx, some, RD_SHAPE(1, 2)), *const nan =
                                                               rd_wrap(ctx, some, RD_SHAPE(2, 2));
    rd_expr *const none = rd_slice(p, ":0");

    expect("one", rd_blocks_near(p, p, 0, &rows, &columns), RD_BOOL, VALUES(1));
    ck_assert_ptr_eq(rows, columns);
    expect_shape("none", rd_blocks_near(none, p, INFINITY, &rows, &columns), RD_SHAPE(0, 1));
    expect_error("NaN", rd_blocks_near(p, nan, 1, &rows, &columns), RD_ERR_ARGUMENT);
    ck_assert_ptr_null(rows);
    expect_error("radius", rd_blocks_near(p, p, -1, &rows, &columns), RD_ERR_ARGUMENT);
    expect_error("no radius", rd_blocks_near(p, p, NAN, &rows, &columns), RD_ERR_ARGUMENT);
    expect_error("dimensions", rd_blocks_near(p, rd_slice(p, ":, :1"), 1, &rows, &columns),
                 RD_ERR_SHAPE);
    expect_error("rank", rd_blocks_near(p, rd_slice(p, "0"), 1, &rows, &columns), RD_ERR_SHAPE);
    expect_error("complex", rd_blocks_near(p, rd_complex(p, p), 1, &rows, &columns), RD_ERR_TYPE);
    expect_error("nowhere", rd_blocks_near(p, p, 1, NULL, &columns), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(sparse_semiring)
{
    rd_expr *const a = matrix(0, true), *const b = matrix(0, false); /* 0 1 0 / 0 0 0 / 2 0 3 */

    expect("product", rd_dense(rd_matmul(b, b)), RD_F64, VALUES(0, 0, 0, 0, 0, 0, 6, 2, 9));
    ck_assert(rd_is_sparse(rd_matmul(b, b)) && rd_shape_of(rd_stored(rd_matmul(a, a))).at[0] == 3);
    expect("shortest", rd_stored(rd_semiring(a, a, "min", "add")), RD_F64, VALUES(5, 3, 6));
    expect("widest", rd_stored(rd_semiring(a, a, "max", "minimum")), RD_F64, VALUES(2, 1, 3));
    expect("dense", rd_semiring(rd_dense(a), rd_dense(a), "max", "add"), RD_F64,
           VALUES(2, 1, 3, 2, 1, 3, 5, 3, 6));
}
END_TEST

START_TEST(sparse_arrays)
{
    rd_expr *const  y = rd_add(matrix(0, false), rd_int(ctx, 1));
    rd_expr *const  x = rd_add(matrix(0, false), leaf(RD_F64, VALUES(1, 10, 100)));
    rd_sparse_array a = { 0 };

    ck_assert(rd_eval_sparse(ctx, y, &a) == RD_OK && a.n_level == 2 && !a.stored);
    expect("the same", rd_adopt_sparse(ctx, &a), RD_F64, VALUES(1, 2, 1, 1, 1, 1, 3, 1, 4));
    a = (rd_sparse_array){ 0 };
    ck_assert(rd_eval_sparse(ctx, x, &a) == RD_ERR_TYPE && !a.values.data);
    rd_error_clear(ctx);
}
END_TEST

/* What rd_eval_sparse() makes of y, where nothing is asked for, is CSR with these columns. */
static void is_csr(const char *what, rd_expr *y, int64_t n, const int32_t *column)
{
    rd_sparse_array a = { 0 };

    ck_assert_msg(rd_eval_sparse(ctx, y, &a) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(a.n_level == 2 && a.level[0].kind == RD_LEVEL_DENSE && a.level[0].axis == 0 &&
                      a.level[1].kind == RD_LEVEL_COMPRESSED && a.level[1].axis == 1,
                  "%s is not CSR", what);
    ck_assert_msg(a.level[1].crd.n == n && (n == 0 || memcmp(a.level[1].crd.data, column,
                                                             (size_t)n * sizeof *column) == 0),
                  "%s: other columns", what);
    rd_sparse_array_free(&a);
}

/* A matrix of these places, of fill 0. */
static rd_expr *places(int64_t rows, int64_t columns, int64_t n, const int32_t *row,
                       const int32_t *column, bool stored)
{
    static const double ones[] = { 1, 1, 1, 1 };

    return rd_coo(ctx, RD_SHAPE(rows, columns), rd_wrap(ctx, row, RD_SHAPE(n)),
                  rd_wrap(ctx, column, RD_SHAPE(n)), rd_wrap(ctx, ones, RD_SHAPE(n)),
                  .stored = stored);
}

START_TEST(sparse_formats)
{
    static const double  ones_of_two[] = { 1, 1 };
    static const int32_t zero[] = { 0, 0, 0 }, two[] = { 0, 2 }, turned[] = { 0, 1 };
    rd_expr *const       row    = places(1, 3, 2, zero, two, false);
    rd_expr *const       column = places(3, 1, 2, two, zero, false);
    rd_expr *const       upper  = places(2, 2, 2, zero, turned, false);

    is_csr("a matrix", upper, 2, turned);
    is_csr("a transpose", rd_transpose(upper), 2, zero);
    is_csr("a row", row, 2, two);
    is_csr("a row, transposed", rd_transpose(row), 2, zero);
    is_csr("a column", column, 2, zero);
    is_csr("a column, transposed", rd_transpose(column), 2, two);
    is_csr("no row, transposed", rd_transpose(places(0, 3, 0, zero, zero, false)), 0, zero);
    is_csr("no column, transposed", rd_transpose(places(3, 0, 0, zero, zero, false)), 0, zero);
    is_csr("row by column", rd_matmul(row, column), 1, zero);
    is_csr("column by row", rd_matmul(column, rd_transpose(column)), 4,
           (const int32_t[]){ 0, 2, 0, 2 });
    rd_expr *const vector =
        rd_sparse(ctx, RD_SHAPE(3),
                  RD_LEVELS({ RD_LEVEL_COORDINATES, 0, NULL, rd_wrap(ctx, two, RD_SHAPE(2)) }),
                  rd_wrap(ctx, ones_of_two, RD_SHAPE(2)));

    is_csr("a vector as a row", rd_expand(vector, 0), 2, two);
    is_csr("a vector as a column", rd_expand(vector, 1), 2, zero);
    is_csr("a vector as rows", rd_broadcast(vector, RD_SHAPE(2, 3)), 4,
           (const int32_t[]){ 0, 2, 0, 2 });
    is_csr("added to its transpose", rd_add(row, rd_transpose(column)), 2, two);
    /* Coordinates behind a dense level would need one place for each index. */
    rd_sparse_array odd = { .n_level = 2,
                            .level   = { { .kind = RD_LEVEL_DENSE, .axis = 0 },
                                         { .kind = RD_LEVEL_COORDINATES, .axis = 1 } } };
    ck_assert(rd_eval_sparse(ctx, upper, &odd) == RD_ERR_ARGUMENT && !odd.values.data);
    ck_assert_msg(strstr(rd_error_text(ctx), "rd_eval_sparse: level 1 is of axis 1 and kind 2") &&
                      strstr(rd_error_text(ctx), "coordinates are one for each of its indices"),
                  "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    ck_assert(rd_eval_sparse(ctx, rd_transpose(places(2, 2, 2, turned, turned, true)), &odd) ==
              RD_OK);
    ck_assert(odd.level[1].crd.n == 2 && !memcmp(odd.level[1].crd.data, turned, sizeof turned));
    expect("one a row", rd_adopt_sparse(ctx, &odd), RD_F64, VALUES(1, 0, 0, 1));
}
END_TEST

START_TEST(sparse_indices)
{
    static const int32_t turned[] = { 1, 2, 0 };
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *v = leaf(RD_F64, VALUES(1, 2, 3));

    expect_error("turned", rd_csr(ctx, RD_SHAPE(3, 3), p, rd_wrap(ctx, turned, RD_SHAPE(3)), v),
                 RD_ERR_ARGUMENT);
    expect_error("outside", rd_csr(ctx, RD_SHAPE(3, 2), p, rd_wrap(ctx, crd, RD_SHAPE(3)), v),
                 RD_ERR_ARGUMENT);
    expect_error("no positions",
                 rd_csr(ctx, RD_SHAPE(3, 3), NULL, rd_wrap(ctx, crd, RD_SHAPE(3)), v),
                 RD_ERR_ARGUMENT);
    expect("pattern", rd_csr(ctx, RD_SHAPE(3, 3), p, rd_wrap(ctx, crd, RD_SHAPE(3)), NULL), RD_BOOL,
           VALUES(0, 1, 0, 0, 0, 0, 1, 0, 1));
}
END_TEST

/* No column, or no row. */
START_TEST(sparse_empties)
{
    static const int32_t none[] = { 0, 0, 0, 0 };
    rd_expr *const       at     = rd_wrap(ctx, none, RD_SHAPE(0));
    rd_expr *const       v      = leaf(RD_F64, NULL, 0);
    rd_expr *const       x = rd_csr(ctx, RD_SHAPE(3, 0), rd_wrap(ctx, none, RD_SHAPE(4)), at, v);
    rd_expr *const       y = rd_csr(ctx, RD_SHAPE(0, 2), rd_wrap(ctx, none, RD_SHAPE(1)), at, v);
    rd_expr *const       z = rd_broadcast(rd_expand(matrix(0, false), -1), RD_SHAPE(3, 3, 0));

    expect("sum", rd_sum(x, RD_DIMS(1)), RD_F64, VALUES(0, 0, 0));
    expect("mean", rd_mean(y, RD_DIMS(0)), RD_F64, VALUES(NAN, NAN));
    expect("beside", rd_sum(z, RD_DIMS(1, 2)), RD_F64, VALUES(0, 0, 0));
    expect_error("max", rd_max(x, RD_DIMS(1)), RD_ERR_EMPTY);
    expect_shape(
        "rows of nothing",
        rd_sparse(ctx, RD_SHAPE(INT64_C(1) << 40, 0),
                  RD_LEVELS({ RD_LEVEL_DENSE, 0, NULL, NULL }, { RD_LEVEL_DENSE, 1, NULL, NULL }),
                  v),
        RD_SHAPE(INT64_C(1) << 40, 0));
}
END_TEST

/* What a reduction of a dense array does not take. */
START_TEST(sparse_keywords)
{
    rd_expr *const x = matrix(0, false), *five = rd_num(ctx, 5);

    expect_error("mean", rd_mean(x, RD_DIMS(1), .initial = five), RD_ERR_ARGUMENT);
    expect_error("norm", rd_norm(x, RD_DIMS(1), .initial = five), RD_ERR_ARGUMENT);
    expect_error("count", rd_count(x, RD_DIMS(1), .initial = rd_int(ctx, 5)), RD_ERR_ARGUMENT);
    expect_error("var", rd_var(x, RD_DIMS(1), .p = 1), RD_ERR_ARGUMENT);
}
END_TEST

/* Matrices of 10^12 places: nothing may go to all of them. */
START_TEST(sparse_merged)
{
    static const int32_t row_a[] = { 0, 5, 5, 999999 }, col_a[] = { 7, 1, 999999, 2 };
    static const int64_t row_b[] = { 0, 5, 6 }, col_b[] = { 7, 999999, 0 };
    const rd_shape       large = RD_SHAPE(1000000, 1000000);
    rd_expr *const ra          = rd_wrap(ctx, row_a, RD_SHAPE(4)), *const ca =
                                                              rd_wrap(ctx, col_a, RD_SHAPE(4));
    rd_expr *const rb = rd_wrap(ctx, row_b, RD_SHAPE(3)), *const cb =
                                                              rd_wrap(ctx, col_b, RD_SHAPE(3));
    rd_expr *const av = leaf(RD_F64, VALUES(1, 2, INFINITY, 4)), *const bv = leaf(
                                                                     RD_F64, VALUES(10, 20, 30));
    rd_expr *const a = rd_coo(ctx, large, ra, ca, av), *const b = rd_coo(ctx, large, rb, cb, bv);
    rd_expr *const ai   = rd_coo(ctx, large, ra, ca, leaf(RD_I32, VALUES(1, 2, 3, 4)));
    rd_expr *const bi   = rd_coo(ctx, large, rb, cb, leaf(RD_I32, VALUES(10, 20, 30)));
    rd_expr *const as   = rd_coo(ctx, large, ra, ca, av, .stored = true);
    rd_expr *const bs   = rd_coo(ctx, large, rb, cb, bv, .stored = true);
    rd_expr *const part = rd_coo(ctx, large, rd_wrap(ctx, row_a, RD_SHAPE(1)),
                                 rd_wrap(ctx, col_a, RD_SHAPE(1)), leaf(RD_F64, VALUES(5)));
    rd_expr *const low  = rd_coo(ctx, large, rb, cb, bv, .fill = rd_num(ctx, -1));

    expect("any", rd_stored(rd_add(a, b)), RD_F64, VALUES(11, 2, INFINITY, 30, 4));
    expect("rows", rd_stored_at(rd_add(a, b), 0), RD_I32, VALUES(0, 5, 5, 6, 999999));
    expect("columns", rd_stored_at(rd_add(b, a), 1), RD_I32, VALUES(7, 1, 999999, 0, 2));
    expect("all", rd_max(rd_sub(b, a), RD_ALL), RD_F64, VALUES(30));
    expect("fill", rd_stored(rd_sub(low, a)), RD_F64, VALUES(9, -3, -INFINITY, 30, -5));
    expect("other fill", rd_min(rd_maximum(low, a), RD_ALL), RD_F64, VALUES(0));
    expect("infinity", rd_stored(rd_mul(a, rd_neg(b))), RD_F64,
           VALUES(-10, -0.0, -INFINITY, -0.0, -0.0));
    expect("times 0", rd_sum(rd_mul(as, rd_sub(b, b)), RD_ALL), RD_F64, VALUES(NAN));
    expect("ints", rd_stored(rd_mul(ai, bi)), RD_I32, VALUES(10, 60));
    expect("ints, any", rd_stored(rd_add(ai, bi)), RD_I32, VALUES(11, 2, 23, 30, 4));
    expect("stored in both", rd_stored(rd_add(as, bs)), RD_F64, VALUES(11, INFINITY));
    expect("stored in one", rd_stored(rd_add(as, b)), RD_F64, VALUES(11, 2, INFINITY, 4));
    expect("three", rd_stored(rd_where(rd_gt(a, rd_num(ctx, 1)), b, low)), RD_F64,
           VALUES(10, 0, 20, 30, 0));
    expect("one's own", rd_stored_at(rd_add(part, b), 1), RD_I64, VALUES(7, 999999, 0));
    expect("complex", rd_stored_at(rd_imag(rd_complex(b, a)), 1), RD_I32,
           VALUES(7, 1, 999999, 0, 2));
}
END_TEST

/* A matrix beside its transpose, and rows beside columns. */
START_TEST(sparse_merged_orders)
{
    static const int32_t row[] = { 0, 5, 5, 999999 }, col[] = { 7, 1, 999999, 2 };
    static const int32_t first[] = { 0, 1, 2 }, at[] = { 2, 0 };
    const rd_shape       large   = RD_SHAPE(1000000, 1000000);
    rd_expr *const       a       = rd_coo(ctx, large, rd_wrap(ctx, row, RD_SHAPE(4)),
                                          rd_wrap(ctx, col, RD_SHAPE(4)), leaf(RD_F64, VALUES(1, 2, 3, 4)));
    rd_expr *const       both    = rd_add(a, rd_transpose(a));
    rd_expr *const       columns = rd_csc(ctx, RD_SHAPE(3, 2), rd_wrap(ctx, first, RD_SHAPE(3)),
                                          rd_wrap(ctx, at, RD_SHAPE(2)), leaf(RD_F64, VALUES(5, 6)));
    rd_expr *const       rows    = rd_csr(ctx, RD_SHAPE(2, 3), rd_wrap(ctx, first, RD_SHAPE(3)),
                                          rd_wrap(ctx, at, RD_SHAPE(2)), leaf(RD_F64, VALUES(5, 6)));

    expect("values", rd_stored(both), RD_F64, VALUES(1, 2, 4, 2, 3, 1, 4, 3));
    expect("rows", rd_stored_at(both, 0), RD_I32, VALUES(0, 1, 2, 5, 5, 7, 999999, 999999));
    expect("columns", rd_stored_at(both, 1), RD_I32, VALUES(7, 5, 999999, 1, 999999, 0, 2, 5));
    expect("one of both", rd_stored(rd_sub(columns, rd_transpose(rows))), RD_F64, VALUES(0, 0));
    expect("all", rd_sum(rd_mul(both, rd_transpose(both)), RD_ALL), RD_F64, VALUES(60));
}
END_TEST

/* Rows of i32 along an axis whose indices need i64, alone and beside such of i64. */
START_TEST(sparse_merged_long_axes)
{
    static const int32_t row_a[] = { 0, 0, 1 }, col_a[] = { 4, 9, 1 }, row_b[] = { 0, 1, 2 },
                         col_b[]  = { 9, 7, 0 };
    static const int64_t wide_b[] = { 9, 4999999999, 0 };
    const rd_shape       large    = RD_SHAPE(3, 5000000000);
    rd_expr *const ra             = rd_wrap(ctx, row_a, RD_SHAPE(3)), *const ca =
                                                              rd_wrap(ctx, col_a, RD_SHAPE(3));
    rd_expr *const rb   = rd_wrap(ctx, row_b, RD_SHAPE(3));
    rd_expr *const cb[] = { rd_wrap(ctx, col_b, RD_SHAPE(3)), rd_wrap(ctx, wide_b, RD_SHAPE(3)) };

    for (int k = 0; k < 4; k++) {
        const bool     stored = k > 1;
        rd_expr *const a =
            rd_coo(ctx, large, ra, ca, leaf(RD_I32, VALUES(1, 2, 3)), .stored = stored);
        rd_expr *const b =
            rd_coo(ctx, large, rb, cb[k % 2], leaf(RD_I32, VALUES(10, 20, 30)), .stored = stored);
        rd_expr *const sum = rd_add(a, b), *const product = rd_mul(b, a);

        expect("product", rd_stored(product), RD_I32, VALUES(20));
        expect("its column", rd_cast(rd_stored_at(product, 1), RD_I64), RD_I64, VALUES(9));
        if (stored) {
            expect("sum of both", rd_stored(sum), RD_I32, VALUES(12));
            continue;
        }
        expect("sum", rd_stored(sum), RD_I32, VALUES(1, 12, 3, 20, 30));
        expect("rows", rd_stored_at(sum, 0), RD_I32, VALUES(0, 0, 1, 1, 2));
        expect("columns", rd_stored_at(sum, 1), RD_I64, VALUES(4, 9, 1, k ? 4999999999 : 7, 0));
    }
}
END_TEST

/* Both parts have a place or none. */
START_TEST(sparse_parts)
{
    static const int32_t none[] = { 0, 0, 0, 0 };
    rd_expr *const       at     = rd_wrap(ctx, none, RD_SHAPE(0));
    rd_expr *const       y      = leaf(RD_F64, VALUES(10, 20, 30));
    rd_expr *const       z = rd_complex(matrix(0, true), y), *w = rd_complex(y, matrix(5, false));
    rd_expr *const       empty = rd_csr(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, none, RD_SHAPE(4)), at,
                                        leaf(RD_F64, NULL, 0), .stored = true);
    rd_expr *const       label = leaf(RD_I32, VALUES(0, 1, 0));
    rd_reduce_opts       by    = { .size   = sizeof by,
                                   .dims   = RD_DIMS(1),
                                   .by     = RD_EXPRS(label),
                                   .groups = RD_SHAPE(2),
                                   .where  = rd_gt(matrix(0, false), rd_num(ctx, 1)) };

    expect("elsewhere", rd_imag(z), RD_F64, VALUES(0, 20, 0, 0, 0, 0, 10, 0, 30));
    expect("mean", rd_imag(rd_mean(z, RD_ALL)), RD_F64, VALUES(20));
    expect("fill", rd_real(w), RD_F64, VALUES(10, 20, 30, 10, 20, 30, 10, 20, 30));
    expect("prod", rd_imag(rd_prod(w, RD_DIMS(1))), RD_F64,
           VALUES(10 * 20 * 5 + 10 * 1 * 30 + 5 * 20 * 30 - 5 * 1 * 5, 5 * (200 + 300 + 600) - 125,
                  10 * 20 * 3 + 10 * 5 * 30 + 2 * 20 * 30 - 2 * 5 * 3));
    expect_error("prod", rd_prod(z, RD_DIMS(1)), RD_ERR_TYPE);
    expect("max", rd_max(empty, RD_ALL), RD_F64, VALUES(NAN));
    expect("no row",
           rd_matmul(leaf(RD_F64, NULL, 0),
                     rd_csr(ctx, RD_SHAPE(0, 2), rd_wrap(ctx, none, RD_SHAPE(1)), at,
                            leaf(RD_F64, NULL, 0), .stored = true)),
           RD_F64, VALUES(0, 0));
    expect("initial", rd_max(empty, RD_KEEP(0), .initial = rd_num(ctx, 4)), RD_F64,
           VALUES(4, 4, 4));
    expect("by", rd_reduce_name(matrix(5, false), "sum", &by), RD_F64, VALUES(0, 0, 0, 0, 5, 0));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { sparse_fills,   sparse_infinities,    stored_alone,
                                   sparse_views,   sparse_results,       pairs_by_blocks,
                                   bits_by_blocks, pairs_that_are_near,  sparse_semiring,
                                   sparse_arrays,  sparse_formats,       sparse_indices,
                                   sparse_empties, narrow_fills,         sparse_keywords,
                                   sparse_merged,  sparse_merged_orders, sparse_merged_long_axes,
                                   sparse_parts };

    return run_suite("semantics_sparse", tests, COUNT(tests));
}
