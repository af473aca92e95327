/* docs/semantics.md on products of vectors and matrices. */
#include "values.h"

#include <math.h>

static rd_expr *two_by_three(rd_dtype type)
{
    return leaf_shape(type, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
}

static rd_expr *ones(rd_dtype type, rd_shape shape)
{
    return rd_broadcast(rd_cast(rd_int(ctx, 1), type), shape);
}

/* Shapes; what is summed over has to agree, what is before it to broadcast. */
START_TEST(matrix_products)
{
    rd_expr *x = two_by_three(RD_F64), *t = rd_transpose(x), *v = leaf(RD_F64, VALUES(1, 0, 2));

    expect("matrices", rd_matmul(x, t), RD_F64, VALUES(14, 32, 32, 77));
    expect("a column", rd_matmul(x, v), RD_F64, VALUES(7, 16));
    expect("a row", rd_matmul(v, t), RD_F64, VALUES(7, 16));
    expect("vectors", rd_matmul(v, v), RD_F64, VALUES(5));
    expect("dot", rd_dot(v, v), RD_F64, VALUES(5));
    expect("dot of a number", rd_dot(rd_num(ctx, 2), v), RD_F64, VALUES(2, 0, 4));
    expect("vecdot", rd_vecdot(x, v, -1), RD_F64, VALUES(7, 16));
    expect("vecdot of the first axis", rd_vecdot(x, x, 0), RD_F64, VALUES(17, 29, 45));
    expect("outer", rd_outer(leaf(RD_F64, VALUES(1, 2)), v), RD_F64, VALUES(1, 0, 2, 2, 0, 4));
    expect("trace", rd_trace(rd_matmul(x, t), 0, 1, 0), RD_F64, VALUES(91));
    expect("of nothing", rd_matmul(rd_slice(x, ":, :0"), rd_slice(t, ":0")), RD_F64,
           VALUES(0, 0, 0, 0));
    expect_shape("batches",
                 rd_matmul(ones(RD_F32, RD_SHAPE(4, 1, 2, 3)), ones(RD_F32, RD_SHAPE(5, 3, 7))),
                 RD_SHAPE(4, 5, 2, 7));
    expect_shape("dot of many axes",
                 rd_dot(ones(RD_F32, RD_SHAPE(4, 1, 2, 3)), ones(RD_F32, RD_SHAPE(5, 3, 7))),
                 RD_SHAPE(4, 1, 2, 5, 7));
    expect_shape("tensordot",
                 rd_tensordot(ones(RD_F32, RD_SHAPE(2, 3, 4)), ones(RD_F32, RD_SHAPE(4, 5, 2)),
                              RD_INDEX(-1, 0), RD_INDEX(0, 2)),
                 RD_SHAPE(3, 5));
    expect_error("a number", rd_matmul(rd_num(ctx, 1), x), RD_ERR_SHAPE);
    expect_error("3 and 2", rd_matmul(x, x), RD_ERR_SHAPE);
    expect_error("batches of 2 and 3",
                 rd_matmul(ones(RD_F32, RD_SHAPE(2, 1, 1)), ones(RD_F32, RD_SHAPE(3, 1, 1))),
                 RD_ERR_SHAPE);
    expect_error("vecdot", rd_vecdot(x, leaf(RD_F64, VALUES(1, 2)), -1), RD_ERR_SHAPE);
    expect_error("no such axis", rd_vecdot(x, v, 1), RD_ERR_AXIS);
    expect_error("twice", rd_tensordot(x, t, RD_INDEX(0, -2), RD_INDEX(0, 1)), RD_ERR_AXIS);
    expect_error("uneven", rd_tensordot(x, t, RD_INDEX(0), RD_INDEX(0, 1)), RD_ERR_ARGUMENT);
    expect_error("extents", rd_tensordot(x, x, RD_INDEX(0), RD_INDEX(1)), RD_ERR_SHAPE);
}
END_TEST

/* The operands' common type; halves are summed in f32, bools by `or`. */
START_TEST(types_of_products)
{
    rd_expr *large = leaf(RD_F16, VALUES(300, 300, -300)), *bytes = leaf(RD_U8, VALUES(16, 16));
    rd_expr *bits = leaf(RD_BOOL, VALUES(1, 1));

    expect("halves", rd_dot(large, leaf(RD_F16, VALUES(300, 1, 300))), RD_F16, VALUES(300));
    expect("bytes wrap", rd_dot(bytes, bytes), RD_U8, VALUES(0));
    expect("bytes and f32", rd_dot(bytes, leaf(RD_F32, VALUES(1, 2))), RD_F32, VALUES(48));
    expect("bools", rd_dot(bits, bits), RD_BOOL, VALUES(1));
    expect("trace of bytes", rd_trace(rd_outer(bytes, leaf(RD_U8, VALUES(1, 1))), 0, 1, 0), RD_U64,
           VALUES(32));
    expect("three types",
           rd_einsum("i,i,i->", leaf(RD_I16, VALUES(1, 2)), leaf(RD_U16, VALUES(3, 4)),
                     leaf(RD_F32, VALUES(5, 6))),
           RD_F32, VALUES(63));
}
END_TEST

START_TEST(einsum_text)
{
    rd_expr *x = two_by_three(RD_F64), *t = rd_transpose(x), *q = rd_matmul(x, t);

    expect("product", rd_einsum("ik,kj->ij", x, t), RD_F64, VALUES(14, 32, 32, 77));
    expect("implied", rd_einsum("ik,kj", x, t), RD_F64, VALUES(14, 32, 32, 77));
    expect("capitals first", rd_einsum("aB", x), RD_F64, VALUES(1, 4, 2, 5, 3, 6));
    expect("turned", rd_einsum(" i j -> j i ", x), RD_F64, VALUES(1, 4, 2, 5, 3, 6));
    expect("trace", rd_einsum("ii", q), RD_F64, VALUES(91));
    expect("diagonal", rd_einsum("ii->i", q), RD_F64, VALUES(14, 77));
    expect("all", rd_einsum("ij->", x), RD_F64, VALUES(21));
    expect("numbers", rd_einsum(",ij->i", rd_num(ctx, 2), x), RD_F64, VALUES(12, 30));
    expect("dots", rd_einsum("...j,j...->...", x, leaf(RD_F64, VALUES(1, 0, 2))), RD_F64,
           VALUES(7, 16));
    expect("an extent of 1", rd_einsum("ij,ij->j", x, rd_slice(x, ":1")), RD_F64,
           VALUES(5, 14, 27));
}
END_TEST

/* Equal expressions are one node, so these say in what order sums are made. */
START_TEST(einsum_orders)
{
    rd_expr *a = ones(RD_F64, RD_SHAPE(20, 30)), *b = ones(RD_F64, RD_SHAPE(30, 40)),
            *v = ones(RD_F64, RD_SHAPE(40)), *w = leaf(RD_F64, VALUES(1, 2, 3));

    ck_assert_ptr_eq(rd_einsum("ij,jk,k->i", a, b, v),
                     rd_einsum("ij,j->i", a, rd_einsum("jk,k->j", b, v)));
    a = ones(RD_F64, RD_SHAPE(40, 40)); /* a b has as much room as b v saves */
    ck_assert_ptr_eq(rd_einsum("ij,jk,k->i", a, a, v),
                     rd_einsum("ij,j->i", a, rd_einsum("jk,k->j", a, v)));
    ck_assert_ptr_eq(rd_einsum("i,i,i->", w, w, w), rd_sum(rd_mul(rd_mul(w, w), w), RD_DIMS(0)));
    ck_assert_ptr_eq(rd_einsum("ij,k->", a, v),
                     rd_mul(rd_sum(a, RD_DIMS(0, 1)), rd_sum(v, RD_DIMS(0))));
    expect("by pairs", rd_select(rd_einsum("ij,jk,k->i", a, a, v), 0, 3), RD_F64, VALUES(1600));
    expect("apart", rd_einsum("ij,k->", a, v), RD_F64, VALUES(64000));
}
END_TEST

/* The sentence has the text, and a caret under the place: `column` characters from its start. */
START_TEST(einsum_refusals)
{
    static const struct {
        const char *text;
        rd_status   status;
        int         column;
    } rows[] = {
        { "ik;kj", RD_ERR_TEXT, 2 },       { "ik,kj,", RD_ERR_TEXT, 5 },
        { "ik", RD_ERR_TEXT, 2 },          { "ik,kjl", RD_ERR_SHAPE, 5 },
        { "i,kj", RD_ERR_SHAPE, 1 },       { "ik,ij", RD_ERR_SHAPE, 3 },
        { "ik,kj->iz", RD_ERR_TEXT, 8 },   { "ik,kj->ii", RD_ERR_TEXT, 8 },
        { "ik,kj-ij", RD_ERR_TEXT, 5 },    { "...i...,kj", RD_ERR_TEXT, 4 },
        { "...k,kj->j", RD_ERR_TEXT, 10 }, { "ii,kj", RD_ERR_SHAPE, 1 },
        { "ik,kj->i1", RD_ERR_TEXT, 8 },
    };
    rd_expr *x = two_by_three(RD_F64), *t = rd_transpose(x);

    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_expr *y     = rd_einsum(rows[k].text, x, t);
        const char    *caret = strrchr(rd_error_text(ctx), '\n');

        ck_assert_msg(!y && caret && (int)strlen(caret) == 1 + 4 + rows[k].column + 1, "%s: %s",
                      rows[k].text, rd_error_text(ctx));
        expect_error(rows[k].text, y, rows[k].status);
    }
    expect_error("NULL", rd_einsum_text(NULL, RD_EXPRS(x)), RD_ERR_ARGUMENT);
    ck_assert(!rd_einsum("i", NULL) && rd_error(ctx) == RD_OK);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { matrix_products, types_of_products, einsum_text, einsum_orders,
                                   einsum_refusals };

    return run_suite("semantics_products", tests, COUNT(tests));
}
