/* docs/semantics.md on axes that do not begin at 0: every rule there names its test here. */
#include "values.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 3 4 5 6 7 at -2 to 2. */
static rd_expr *row(void)
{
    return rd_reindex(leaf(RD_F32, VALUES(3, 4, 5, 6, 7)), RD_INDEX(-2));
}

/* 0 to 11 of shape (3, 4), rows 10 to 12. */
static rd_expr *matrix(void)
{
    rd_expr *m = leaf_shape(RD_F64, RD_SHAPE(3, 4), VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));

    return rd_reindex(m, RD_INDEX(10, 0));
}

static void expect_origin(const char *what, const rd_expr *y, rd_index want)
{
    const rd_index got = rd_origin_of(y);

    ck_assert_msg(y != NULL, "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(got.n == want.n, "%s: rank %d, not %d", what, (int)got.n, (int)want.n);
    for (int a = 0; a < want.n; a++)
        ck_assert_msg(got.at[a] == want.at[a], "%s: axis %d begins at %d, not %d", what, a,
                      (int)got.at[a], (int)want.at[a]);
}

static void expect_words(const char *what, const rd_expr *y, const char *words)
{
    ck_assert_msg(!y, "%s was made", what);
    ck_assert_msg(strstr(rd_error_text(ctx), words) != NULL, "%s: \"%s\" is not in \"%s\"", what,
                  words, rd_error_text(ctx));
    rd_error_clear(ctx);
}

START_TEST(own_indices)
{
    rd_expr *x = row(), *m = matrix();

    expect("at -2", rd_select(x, 0, -2), RD_F32, VALUES(3));
    expect("at 2", rd_select(x, 0, 2), RD_F32, VALUES(7));
    expect("slice of text", rd_slice(x, "-1:1"), RD_F32, VALUES(4, 5));
    expect("a number in text", rd_slice(m, "11, 1:3"), RD_F64, VALUES(5, 6));
    expect("backwards", rd_slice(x, "1:-2:-1"), RD_F32, VALUES(6, 5, 4));
    expect("to the first", rd_slice(x, "0::-1"), RD_F32, VALUES(5, 4, 3));
    expect("cut at both ends", rd_slice_axis(x, 0, INT64_MIN + 1, INT64_MAX, 2), RD_F32,
           VALUES(3, 5, 7));
    expect("below the first", rd_slice_axis(x, 0, -9, -5, 1), RD_F32, NULL, 0);
    expect("down from below", rd_slice_axis(x, 0, -9, RD_OPEN, -1), RD_F32, NULL, 0);
    expect("take", rd_take(x, 0, leaf(RD_I32, VALUES(-2, 2, -1))), RD_F32, VALUES(3, 7, 4));
    expect("take unsigned", rd_take(m, 0, leaf(RD_U8, VALUES(12))), RD_F64, VALUES(8, 9, 10, 11));
    expect("take one", rd_take(x, 0, rd_int(ctx, 1)), RD_F32, VALUES(6));
    expect("take_along",
           rd_take_along(m, 0, leaf_shape(RD_I64, RD_SHAPE(1, 4), VALUES(10, 11, 12, 10))), RD_F64,
           VALUES(0, 5, 10, 3));
    ck_assert_double_eq(rd_at(ctx, m, RD_INDEX(11, -1)), 7);
    ck_assert(isnan(rd_at(ctx, m, RD_INDEX(0, 0))));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_AXIS);
    rd_error_clear(ctx);
    expect_words("select 3", rd_select(x, 0, 3), "indices -2 to 2");
    expect_words("select -3", rd_select(x, 0, -3), "indices -2 to 2");
    expect_words("slice 3", rd_slice(x, "3"), "indices -2 to 2");
    expect_words("far below",
                 rd_select(rd_reindex(x, RD_INDEX(INT64_C(1) << 62)), 0, INT64_MIN + 1), "outside");
    rd_array        out   = { 0 };
    static uint64_t far[] = { UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX + 1 };

    for (int i = -3; i <= 3; i += 6) {
        ck_assert_int_eq(rd_eval(ctx, rd_take(x, 0, leaf(RD_I8, VALUES(i))), &out), RD_ERR_AXIS);
        rd_error_clear(ctx);
    }
    for (int k = 0; k < 3; k++) { /* not -1, -2 and the least int64_t */
        rd_expr *one =
            rd_leaf(ctx, &(rd_array){ .data = &far[k], .type = RD_U64, .shape = RD_SHAPE(1) });

        ck_assert_int_eq(rd_eval(ctx, rd_take(x, 0, one), &out), RD_ERR_AXIS);
        rd_error_clear(ctx);
    }
}
END_TEST

START_TEST(indices_given)
{
    rd_expr *x = row(), *m = matrix();
    rd_array out = { 0 };

    expect("coord", rd_coord(x, 0), RD_I64, VALUES(-2, -1, 0, 1, 2));
    expect_origin("coord", rd_coord(m, 0), RD_INDEX(10, 0));
    expect("argmax", rd_argmax(x, RD_ALL), RD_I64, VALUES(2));
    expect("argmin of columns", rd_argmin(m, RD_DIMS(0)), RD_I64, VALUES(10, 10, 10, 10));
    expect("argmax of rows", rd_argmax(m, RD_DIMS(1)), RD_I64, VALUES(3, 3, 3));
    expect("a place in two axes", rd_argmax(m, RD_ALL), RD_I64, VALUES(11));
    expect("of nothing", rd_argmax(x, RD_ALL, .where = rd_lt(x, rd_num(ctx, 0))), RD_I64,
           VALUES(-3));
    expect("running", rd_scan(x, "argmax", RD_DIMS(0)), RD_I64, VALUES(-2, -1, 0, 1, 2));
    expect("argsort", rd_argsort(x, 0, .descending = true), RD_I64, VALUES(2, 1, 0, -1, -2));
    expect("arg_top_k", rd_arg_top_k(x, 2, 0), RD_I64, VALUES(2, 1));
    expect("searchsorted", rd_searchsorted(x, leaf(RD_F32, VALUES(0, 5, 9)), RD_LEFT), RD_I64,
           VALUES(-2, 0, 3));
    expect("there and back", rd_take_along(x, 0, rd_argsort(x, 0, .descending = true)), RD_F32,
           VALUES(7, 6, 5, 4, 3));
    ck_assert_int_eq(rd_nonzero(ctx, rd_gt(m, rd_num(ctx, 9)), &out), RD_OK);
    ck_assert_int_eq(out.shape.at[0], 2);
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(((int64_t *)out.data)[k], ((const int[]){ 12, 2, 12, 3 })[k]);
    rd_array_free(&out);
    ck_assert_int_eq(rd_nonzero(ctx, rd_lt(x, rd_num(ctx, 4)), &out), RD_OK);
    ck_assert_int_eq(((int64_t *)out.data)[0], -2);
    rd_array_free(&out);
    ck_assert_int_eq(rd_find_first(ctx, rd_gt(x, rd_num(ctx, 4))), 2);
    rd_array inverse = { 0 };

    ck_assert_int_eq(rd_unique(ctx, x, &out, NULL, &inverse), RD_OK);
    ck_assert_int_eq(((int64_t *)inverse.data)[0], 0);
    ck_assert_float_eq(((float *)out.data)[4], 7);
    rd_array_free(&out);
    rd_array_free(&inverse);
}
END_TEST

START_TEST(ranges_meet)
{
    rd_expr *x = row(), *y = leaf(RD_F32, VALUES(1, 2, 3, 4, 5)), *m = matrix();
    rd_expr *three = leaf(RD_F64, VALUES(1, 2, 3));

    expect_words("add", rd_add(x, y),
                 "rd_add: axis 0 has indices 0 to 4 in operand 1, and -2 to 2");
    expect_words("where", rd_where(rd_gt(y, y), x, rd_num(ctx, 0)), "0 to 4");
    expect_words(".where", rd_sum(x, RD_ALL, .where = rd_gt(y, rd_num(ctx, 2))), "rd_sum: axis 0");
    expect_words(".weights", rd_mean(y, RD_ALL, .weights = x), "rd_mean: axis 0");
    expect_words("a function", rd_map2(x, y, hypotf), "axis 0");
    expect_words("text", rd_mapn("x, y: x + y", RD_EXPRS(x, y)), "axis 0");
    expect_words("concat", rd_concat(1, RD_EXPRS(m, rd_reindex(m, RD_INDEX(0, 0)))), "10 to 12");
    expect_words("matmul",
                 rd_matmul(rd_transpose(m), leaf_shape(RD_F64, RD_SHAPE(3, 1), VALUES(1, 2, 3))),
                 "begins at");
    expect_words("einsum", rd_einsum("ij,i->j", m, three), "begins at");
    expect("einsum", rd_einsum("ij,i->j", m, rd_reindex(three, RD_INDEX(10))), RD_F64,
           VALUES(32, 38, 44, 50));
    expect("moved", rd_add(x, rd_reindex(y, RD_INDEX(-2))), RD_F32, VALUES(4, 6, 8, 10, 12));
    expect("a number", rd_add(x, rd_num(ctx, 1)), RD_F32, VALUES(4, 5, 6, 7, 8));
    expect("what repeats", rd_add(rd_broadcast(leaf(RD_F32, VALUES(1)), RD_SHAPE(5)), x), RD_F32,
           VALUES(4, 5, 6, 7, 8));
    expect("maps of what repeats",
           rd_mul(x, rd_neg(rd_add(rd_broadcast(leaf(RD_F32, VALUES(1)), RD_SHAPE(5)),
                                   rd_broadcast(leaf(RD_F32, VALUES(2)), RD_SHAPE(5))))),
           RD_F32, VALUES(-9, -12, -15, -18, -21));
    expect("extent 1", rd_sub(m, rd_min(m, RD_KEEP(0))), RD_F64,
           VALUES(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8));
    expect_origin("extent 1 beside another",
                  rd_add(rd_reindex(leaf(RD_F32, VALUES(1)), RD_INDEX(7)), leaf(RD_F32, VALUES(2))),
                  RD_INDEX(7));
    expect_words("two of extent 1",
                 rd_add(rd_reindex(leaf(RD_F32, VALUES(1)), RD_INDEX(7)),
                        rd_reindex(leaf(RD_F32, VALUES(2)), RD_INDEX(6))),
                 "7 to 7");
    expect_words("one element each",
                 rd_einsum("i,i->i", rd_reindex(leaf(RD_F32, VALUES(1)), RD_INDEX(7)),
                           rd_reindex(leaf(RD_F32, VALUES(2)), RD_INDEX(6))),
                 "rd_reindex() moves them");
    expect_words("nothing each",
                 rd_add(rd_reindex(rd_slice(m, "10:10"), RD_INDEX(0, 3)),
                        rd_reindex(rd_slice(m, "10:10"), RD_INDEX(0, 7))),
                 "rd_reindex() moves them");
}
END_TEST

START_TEST(origins_kept)
{
    static const float two[] = { 1, 2 };
    rd_expr           *x = row(), *m = matrix();

    expect_origin("of a leaf", rd_wrap(ctx, two, RD_SHAPE(2, 1), .origin = RD_INDEX(5, -1)),
                  RD_INDEX(5, -1));
    ck_assert_int_eq(rd_origin_of(NULL).n, -1);
    ck_assert_ptr_eq(rd_reindex(x, RD_INDEX(0)),
                     rd_reindex(rd_reindex(x, RD_INDEX(4)), RD_INDEX(0)));
    ck_assert_ptr_eq(rd_reindex(x, RD_INDEX(-2)), x);
    expect_origin("map", rd_exp(x), RD_INDEX(-2));
    expect_origin("cast", rd_cast(x, RD_I32), RD_INDEX(-2));
    expect_origin("rows", rd_sum(m, RD_DIMS(1)), RD_INDEX(10));
    expect_origin("columns", rd_sum(m, RD_DIMS(0)), RD_INDEX(0));
    expect_origin("kept", rd_sum(m, RD_KEEP(1)), RD_INDEX(10, 0));
    expect_origin("scan", rd_scan(m, "sum", RD_DIMS(0)), RD_INDEX(10, 0));
    expect_origin("sort", rd_sort(m, 0), RD_INDEX(10, 0));
    expect_origin("quantile", rd_median(m, RD_DIMS(1)), RD_INDEX(10));
    expect_origin("transpose", rd_transpose(m), RD_INDEX(0, 10));
    expect_origin("expand", rd_expand(m, 0), RD_INDEX(0, 10, 0));
    expect_origin("flip", rd_flip(m, RD_DIMS(0)), RD_INDEX(10, 0));
    expect_origin("slice of another axis", rd_slice(m, ":, 1:3"), RD_INDEX(10, 0));
    expect_origin("slice", rd_slice(m, "11:13"), RD_INDEX(0, 0));
    expect_origin("slice of all, said", rd_slice(m, "10:13"), RD_INDEX(0, 0));
    expect_origin("broadcast", rd_broadcast(x, RD_SHAPE(2, 5)), RD_INDEX(0, -2));
    expect_origin("take", rd_take(m, 1, rd_reindex(leaf(RD_I8, VALUES(0, 1)), RD_INDEX(3))),
                  RD_INDEX(10, 3));
    expect_origin("concat", rd_concat(1, RD_EXPRS(m, m)), RD_INDEX(10, 0));
    expect_origin("concat along it", rd_concat(0, RD_EXPRS(m, m)), RD_INDEX(0, 0));
    expect_origin("reshape", rd_reshape(m, RD_SHAPE(12)), RD_INDEX(0));
    expect_origin("matmul", rd_matmul(m, rd_transpose(m)), RD_INDEX(10, 10));
    expect_origin("complex", rd_complex(x, x), RD_INDEX(-2));
    expect_origin("its slice", rd_imag(rd_slice(rd_complex(x, x), ":")), RD_INDEX(-2));
    expect("its element", rd_imag(rd_select(rd_complex(x, rd_square(x)), 0, -1)), RD_F32,
           VALUES(16));
    expect_origin("softmax", rd_softmax(m, RD_DIMS(0)), RD_INDEX(10, 0));
    expect_words("rank", rd_reindex(m, RD_INDEX(1)), "rank 2");
    expect_words("far", rd_reindex(x, RD_INDEX(INT64_MAX)), "2^62");
}
END_TEST

/* Of what is made of parts, or beside what repeats. */
START_TEST(origins_of_parts)
{
    static const float pairs[] = { 1, 2, 3, 4 };
    const rd_array     memory  = {
             .in = pairs, .type = RD_C64, .shape = RD_SHAPE(1, 2), .origin = RD_INDEX(3, 0)
    };
    rd_expr *x = row(), *m = matrix(), *four = leaf(RD_F64, VALUES(1, 2, 3, 4));

    expect_origin("a part that repeats", rd_imag(rd_complex(x, rd_num(ctx, 1))), RD_INDEX(-2));
    expect_origin("no part", rd_imag(x), RD_INDEX(-2));
    expect_origin("complex rows", rd_sum(rd_cast(m, RD_C128), RD_DIMS(1)), RD_INDEX(10));
    expect_origin("rows of complex memory", rd_sum(rd_leaf(ctx, &memory), RD_DIMS(1)), RD_INDEX(3));
    expect_origin(
        "cast of a number",
        rd_cast(rd_reindex(rd_broadcast(rd_num(ctx, 1), RD_SHAPE(2)), RD_INDEX(4)), RD_I8),
        RD_INDEX(4));
    expect_origin("mean, a mask for all rows",
                  rd_mean(m, RD_DIMS(1), .where = rd_gt(four, rd_num(ctx, 1))), RD_INDEX(10));
    expect_origin("mean, weights for all rows",
                  rd_mean(m, RD_DIMS(1), .weights = rd_expand(four, 0)), RD_INDEX(10));
    expect_origin("mean, weights for all columns",
                  rd_mean(rd_transpose(m), RD_DIMS(0),
                          .weights = rd_broadcast(rd_num(ctx, 2), RD_SHAPE(4, 3))),
                  RD_INDEX(10));
    expect_origin("one row", rd_matmul(rd_reindex(rd_expand(x, 0), RD_INDEX(7, -2)), x),
                  RD_INDEX(7));
}
END_TEST

/* 0 1 0 / 0 0 0 / 2 0 3: rows 10 to 12, columns -1 to 1. */
static rd_expr *sparse_matrix(void)
{
    return rd_csr(ctx, RD_SHAPE(3, 3), leaf(RD_I32, VALUES(0, 1, 1, 3)),
                  leaf(RD_I32, VALUES(1, 0, 2)), leaf(RD_F64, VALUES(1, 2, 3)),
                  .origin = RD_INDEX(10, -1));
}

START_TEST(sparse_axes)
{
    rd_expr *const a = sparse_matrix(), *const at_0 = rd_reindex(a, RD_INDEX(0, 0));
    rd_expr *const  y = rd_wrap(ctx, ((double[]){ 1, 2, 3 }), RD_SHAPE(3), .origin = RD_INDEX(-1));
    rd_sparse_array out = { 0 };

    expect_origin("leaf", a, RD_INDEX(10, -1));
    expect_origin("moved", at_0, RD_INDEX(0, 0));
    ck_assert(rd_is_sparse(at_0));
    ck_assert_ptr_eq(rd_reindex(at_0, RD_INDEX(10, -1)), a);
    expect("element", rd_select(rd_select(a, 0, 12), 0, -1), RD_F64, VALUES(2));
    expect_words("outside", rd_select(a, 0, 0), "outside");
    expect("where", rd_stored_at(a, 0), RD_I32, VALUES(10, 12, 12));
    expect("where", rd_stored_at(a, 1), RD_I32, VALUES(0, -1, 1));
    expect_origin("map", rd_exp(a), RD_INDEX(10, -1));
    expect_origin("beside a row", rd_mul(a, y), RD_INDEX(10, -1));
    expect("beside a row", rd_stored(rd_mul(a, y)), RD_F64, VALUES(2, 2, 9));
    expect_words("two of them", rd_add(a, at_0), "rd_reindex() moves them");
    expect_words("a row", rd_mul(a, rd_reindex(y, RD_INDEX(0))), "rd_reindex() moves them");
    expect("A y", rd_matmul(a, y), RD_F64, VALUES(2, 0, 11));
    expect_origin("A y", rd_matmul(a, y), RD_INDEX(10));
    expect_words("A y", rd_matmul(a, rd_reindex(y, RD_INDEX(0))), "rd_reindex() moves them");
    expect_origin("A A'", rd_matmul(a, rd_transpose(a)), RD_INDEX(10, 10));
    expect("A A'", rd_matmul(a, rd_transpose(a)), RD_F64, VALUES(1, 0, 0, 0, 0, 0, 0, 0, 13));
    expect_words("A A", rd_matmul(a, a), "rd_reindex() moves them");
    expect_words("min-plus", rd_semiring(a, a, "min", "add"), "rd_reindex() moves them");
    expect_origin("columns", rd_sum(a, RD_DIMS(0)), RD_INDEX(-1));
    expect_origin("kept", rd_max(a, RD_KEEP(1)), RD_INDEX(10, 0));
    expect("argmax", rd_argmax(a, RD_DIMS(1)), RD_I64, VALUES(0, -1, 1));
    expect("as a float", rd_argmax(a, RD_DIMS(0), .type = RD_F32), RD_F32, VALUES(12, 10, 12));
    expect("as a pair", rd_real(rd_argmax(a, RD_DIMS(1), .type = RD_C128)), RD_F64,
           VALUES(0, -1, 1));
    expect("flat", rd_argmax(a, RD_ALL), RD_I64, VALUES(8));
    expect("masked", rd_sum(a, RD_DIMS(1), .where = rd_gt(y, rd_num(ctx, 1))), RD_F64,
           VALUES(1, 0, 3));
    expect_words("mask", rd_sum(a, RD_DIMS(1), .where = rd_gt(row(), rd_num(ctx, 1))), "-2 to 2");
    expect_origin("dense", rd_dense(a), RD_INDEX(10, -1));
    expect_origin("turned", rd_transpose(a), RD_INDEX(-1, 10));
    expect_origin("scan", rd_scan(a, "sum", RD_DIMS(0)), RD_INDEX(10, -1));
    expect_origin("complex", rd_complex(a, y), RD_INDEX(10, -1));
    expect_origin("its part", rd_imag(rd_complex(a, rd_num(ctx, 1))), RD_INDEX(10, -1));
    expect_origin("values", rd_stored(rd_mul(rd_expand(a, 2), row())), RD_INDEX(0, -2));
    expect_words("values",
                 rd_stored_as(rd_mul(rd_expand(a, 2), row()), leaf(RD_F32, VALUES(1, 2, 3, 4, 5))),
                 "rd_reindex() moves them");
    expect_words("rank", rd_reindex(a, RD_INDEX(1)), "rank 2");
    expect_words("far",
                 rd_csr(ctx, RD_SHAPE(1, 2), leaf(RD_I32, VALUES(0, 1)), leaf(RD_I32, VALUES(1)),
                        NULL, .origin = RD_INDEX(INT64_MAX, 0)),
                 "2^62");
    ck_assert_int_eq(rd_eval_sparse(ctx, rd_square(a), &out), RD_OK);
    ck_assert_int_eq(((int32_t *)out.level[1].crd.data)[1], 0); /* crd count from 0 */
    expect("again", rd_select(rd_adopt_sparse(ctx, &out), 0, 12), RD_F64, VALUES(4, 0, 9));
}
END_TEST

START_TEST(origins_of_outputs)
{
    float    room[5];
    rd_array out = { 0 }, given = { .data = room, .type = RD_F32, .shape = RD_SHAPE(5) };
    rd_expr *x = row();

    ck_assert_int_eq(rd_eval(ctx, rd_neg(x), &out), RD_OK);
    ck_assert_int_eq(out.origin.n, 1);
    expect("read again", rd_select(rd_adopt(ctx, &out), 0, -2), RD_F32, VALUES(-3));
    out = (rd_array){ 0 };
    ck_assert_int_eq(rd_eval(ctx, rd_complex(x, x), &out), RD_OK);
    ck_assert_int_eq(out.origin.at[0], -2);
    rd_array_free(&out);
    ck_assert_int_eq(rd_eval(ctx, rd_select(x, 0, 0), &out), RD_OK);
    ck_assert_int_eq(out.origin.n, 0);
    rd_array_free(&out);
    ck_assert_int_eq(rd_eval(ctx, x, &given), RD_OK);
    given.origin = RD_INDEX(-2);
    ck_assert_int_eq(rd_eval(ctx, x, &given), RD_OK);
    ck_assert_float_eq(room[4], 7);
    given.origin = RD_INDEX(1);
    ck_assert_int_eq(rd_eval(ctx, x, &given), RD_ERR_SHAPE);
    ck_assert_ptr_nonnull(strstr(rd_error_text(ctx), "begins at -2, that of the output at 1"));
    rd_error_clear(ctx);
    given.origin = RD_INDEX(1, 1);
    ck_assert_int_eq(rd_eval(ctx, x, &given), RD_ERR_AXIS);
    rd_error_clear(ctx);

    rd_expr *in = rd_input(
        ctx, "in", &(rd_array){ .type = RD_F32, .shape = RD_SHAPE(5), .origin = RD_INDEX(-2) });
    expect_origin("input", in, RD_INDEX(-2));
    given.origin  = (rd_index){ 0 };
    rd_plan *plan = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ rd_mul(in, x), &given }), NULL);
    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    rd_plan_free(plan);
}
END_TEST

/* ---- Everything else -------------------------------------------------------------------------- */
#define EACH_OPERATION(X)                                                                     \
    X(rd_sum(x, RD_DIMS(0)))                                                                  \
    X(rd_prod(x, RD_DIMS(1)))                                                                 \
    X(rd_mean(x, RD_ALL))                                                                     \
    X(rd_mean(x, RD_DIMS(0), .weights = rd_abs(x)))                                           \
    X(rd_var(x, RD_DIMS(1)))                                                                  \
    X(rd_std(x, RD_KEEP(0)))                                                                  \
    X(rd_skewness(x, RD_DIMS(0)))                                                             \
    X(rd_kurtosis(x, RD_DIMS(0)))                                                             \
    X(rd_norm(x, RD_DIMS(1)))                                                                 \
    X(rd_logsumexp(x, RD_DIMS(0)))                                                            \
    X(rd_median(x, RD_DIMS(0)))                                                               \
    X(rd_quantile(x, 0.3, RD_DIMS(1)))                                                        \
    X(rd_mode(x, RD_DIMS(0)))                                                                 \
    X(rd_first(x, RD_DIMS(0)))                                                                \
    X(rd_last(x, RD_DIMS(1)))                                                                 \
    X(rd_count(x, RD_DIMS(0), .where = rd_gt(x, rd_num(ctx, 0.5))))                           \
    X(rd_minmax(x, RD_DIMS(0)))                                                               \
    X(rd_cov(x, rd_square(x), RD_DIMS(0)))                                                    \
    X(rd_corr(x, rd_square(x), RD_DIMS(1)))                                                   \
    X(rd_trapezoid(x, rd_num(ctx, 2), 0))                                                     \
    X(rd_scan(x, "sum", RD_DIMS(0)))                                                          \
    X(rd_scan(x, "mean", RD_DIMS(0)))                                                         \
    X(rd_scan(x, "mean", RD_DIMS(1), .reverse = true))                                        \
    X(rd_softmax(x, RD_DIMS(0)))                                                              \
    X(rd_log_softmax(x, RD_DIMS(1)))                                                          \
    X(rd_standardise(x, RD_DIMS(0), 1))                                                       \
    X(rd_normalise(x, RD_DIMS(1), 2))                                                         \
    X(rd_layer_norm(x, RD_DIMS(1), rd_num(ctx, 2), rd_num(ctx, 1), 1e-5))                     \
    X(rd_rolling_sum(x, 0, 3))                                                                \
    X(rd_rolling_mean(x, 1, 2))                                                               \
    X(rd_rolling_max(x, 0, 3))                                                                \
    X(rd_rolling_var(x, 0, 3, 1))                                                             \
    X(rd_diff(x, 0, 2))                                                                       \
    X(rd_pad(x, 0, 2, 3, RD_PAD_REFLECT, NULL))                                               \
    X(rd_pad(x, 1, 1, 1, RD_PAD_CONSTANT, rd_num(ctx, 3)))                                    \
    X(rd_roll(x, 0, 2))                                                                       \
    X(rd_repeat(x, 1, 2))                                                                     \
    X(rd_tile(x, RD_SHAPE(2, 2)))                                                             \
    X(rd_stack(0, RD_EXPRS(x, x)))                                                            \
    X(rd_tril(x, 1))                                                                          \
    X(rd_triu(x, 0))                                                                          \
    X(rd_kron(x, x))                                                                          \
    X(rd_window(x, 0, 2, 2))                                                                  \
    X(rd_diagonal(x, 0, 1, 1))                                                                \
    X(rd_flip(x, RD_DIMS(0, 1)))                                                              \
    X(rd_sort(x, 0))                                                                          \
    X(rd_top_k(x, 2, 0))                                                                      \
    X(rd_histogram(x, 4, -1, 1, NULL))                                                        \
    X(rd_isclose(x, rd_add(x, rd_num(ctx, 1e-9)), 1e-5, 1e-8))                                \
    X(rd_matmul(rd_transpose(x), x))                                                          \
    X(rd_cdist(x, x, 2))                                                                      \
    X(rd_sum(x, RD_DIMS(0), .by = RD_EXPRS(rd_gt(x, rd_num(ctx, 0))), .groups = RD_SHAPE(2))) \
    X(rd_shuffle(x, 0, 7))                                                                    \
    X(rd_map(x, "x > 0 ? x : -x * 2"))                                                        \
    X(rd_map(x, cbrt))                                                                        \
    X(rd_abs(rd_exp(rd_complex(x, rd_square(x)))))                                            \
    X(rd_sum(rd_abs(rd_complex(x, x)), RD_DIMS(0)))

static double *evaluated(const char *what, rd_expr *y, rd_array *out)
{
    double *made;
    int64_t n = 1;

    *out = (rd_array){ 0 };
    ck_assert_msg(rd_eval(ctx, y, out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int a = 0; a < out->shape.n; a++)
        n *= out->shape.at[a];
    made = malloc((size_t)(n + 1) * sizeof *made);
    for (int64_t i = 0; i < n; i++)
        made[i] = get(out->data, out->type, i);
    made[n] = (double)n;
    return made;
}

static void expect_same(const char *what, rd_expr *plain, rd_expr *moved)
{
    rd_array out[2];
    double  *a = evaluated(what, plain, &out[0]), *b = evaluated(what, moved, &out[1]);
    int64_t  n = 1;

    ck_assert_msg(out[0].shape.n == out[1].shape.n && out[0].type == out[1].type, "%s", what);
    for (int k = 0; k < out[0].shape.n; k++) {
        ck_assert_msg(out[0].shape.at[k] == out[1].shape.at[k], "%s: axis %d", what, k);
        n *= out[0].shape.at[k];
    }
    ck_assert_msg(memcmp(a, b, (size_t)n * sizeof *a) == 0, "%s: other elements", what);
    rd_array_free(&out[0]);
    rd_array_free(&out[1]);
    free(a);
    free(b);
}

START_TEST(offsets_change_no_value)
{
    rd_expr *const plain =
        rd_sub(rd_random_uniform(ctx, 5, RD_SHAPE(7, 7), RD_F64), rd_num(ctx, 0.4));
    rd_expr *x;

#define COMPARED(...)                                \
    {                                                \
        rd_expr *here, *moved;                       \
        x     = plain;                               \
        here  = __VA_ARGS__;                         \
        x     = rd_reindex(plain, RD_INDEX(-3, 40)); \
        moved = __VA_ARGS__;                         \
        expect_same(#__VA_ARGS__, here, moved);      \
        forget_leaves();                             \
    }
    EACH_OPERATION(COMPARED)
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { own_indices,        indices_given,          ranges_meet,
                                   origins_kept,       origins_of_parts,       sparse_axes,
                                   origins_of_outputs, offsets_change_no_value };

    return run_suite("semantics_axes", tests, COUNT(tests));
}
