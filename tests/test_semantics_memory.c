/* docs/semantics.md on shapes, views, outputs and errors. */
#include "core/dtype.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Shapes and views ------------------------------------------------------------------------ */
START_TEST(broadcasting)
{
    rd_expr *row    = leaf(RD_I32, VALUES(1, 2, 3)),
            *column = leaf_shape(RD_I32, RD_SHAPE(2, 1), VALUES(10, 20));
    rd_expr *none   = leaf_shape(RD_I32, RD_SHAPE(0, 1), NULL, 0);

    expect("from the last axis", rd_add(row, column), RD_I32, VALUES(11, 12, 13, 21, 22, 23));
    expect_shape("with extent 0", rd_add(row, none), RD_SHAPE(0, 3));
    expect_error("3 and 2", rd_add(row, leaf(RD_I32, VALUES(1, 2))), RD_ERR_SHAPE);
    expect("clip", rd_clip(row, rd_int(ctx, 2), leaf(RD_I32, VALUES(2))), RD_I32, VALUES(2, 2, 2));
}
END_TEST

START_TEST(slices)
{
    static const struct {
        const char *text;
        int         n;
        double      want[10];
    } rows[] = {
        { "2:5", 3, { 2, 3, 4 } },
        { "-3:", 3, { 7, 8, 9 } },
        { "::-4", 3, { 9, 5, 1 } },
        { "7:100", 3, { 7, 8, 9 } },
        { "8:2", 0, { 0 } },
        { "100:", 0, { 0 } },
        { "3", 1, { 3 } },
        { "-1", 1, { 9 } },
        { "5:2:-1", 3, { 5, 4, 3 } },
        { "1:8:3, new", 3, { 1, 4, 7 } },
        { "..., 2:4", 2, { 2, 3 } },
    };
    rd_expr *x = leaf(RD_I32, VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));

    for (size_t k = 0; k < COUNT(rows); k++)
        expect(rows[k].text, rd_slice(x, rows[k].text), RD_I32, rows[k].want, rows[k].n);
    expect_shape("new", rd_slice(x, "new, 1:3, new"), RD_SHAPE(1, 2, 1));
    expect_error("outside", rd_slice(x, "10"), RD_ERR_AXIS);
    expect_error("outside, from the end", rd_slice(x, "-11"), RD_ERR_AXIS);
    expect_error("too many parts", rd_slice(x, "1, 2"), RD_ERR_AXIS);
    expect_error("no slice", rd_slice(x, "1:x"), RD_ERR_TEXT);
    expect("range is cut too", rd_slice_axis(x, 0, 8, 100, 1), RD_I32, VALUES(8, 9));
    expect("open range", rd_slice_axis(x, 0, RD_OPEN, RD_OPEN, -4), RD_I32, VALUES(9, 5, 1));
}
END_TEST

START_TEST(slice_of_a_result)
{
    rd_expr *m    = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(1, 2, 3, 10, 20, 30));
    rd_expr *sums = rd_sum(rd_square(m), RD_DIMS(0));

    expect("all", sums, RD_F64, VALUES(101, 404, 909));
    expect("a part", rd_slice(sums, "::-2"), RD_F64, VALUES(909, 101));
    ck_assert(rd_at(ctx, sums, RD_INDEX(1)) == 404);
}
END_TEST

START_TEST(take)
{
    rd_expr *x = leaf(RD_F64, VALUES(10, 11, 12)), *i = leaf(RD_I8, VALUES(2, -3, 2));
    rd_array out = { 0 };

    expect("from the end too", rd_take(x, 0, i), RD_F64, VALUES(12, 10, 12));
    expect_error("by floats", rd_take(x, 0, x), RD_ERR_TYPE);
    ck_assert(rd_eval(ctx, rd_take(x, 0, leaf(RD_I64, VALUES(0, 3))), &out) == RD_ERR_AXIS);
    ck_assert(!out.data && rd_error(ctx) == RD_ERR_AXIS);
}
END_TEST

START_TEST(take_along)
{
    rd_expr *x = rd_reshape(leaf(RD_F64, VALUES(1, 2, 3, 4, 5, 6)), RD_SHAPE(2, 3));
    rd_expr *i = leaf(RD_I64, VALUES(2, -3));

    expect("of each row", rd_take_along(x, 1, rd_expand(i, 1)), RD_F64, VALUES(3, 4));
    expect("several of each column",
           rd_take_along(x, 0, rd_expand(rd_remainder(i, rd_int(ctx, 2)), 1)), RD_F64,
           VALUES(1, 2, 3, 4, 5, 6));
}
END_TEST

START_TEST(windows)
{
    rd_expr *x = leaf(RD_I32, VALUES(1, 2, 3, 4, 5));

    expect("overlapping", rd_sum(rd_window(x, 0, 3, 1), RD_DIMS(-1)), RD_I64, VALUES(6, 9, 12));
    expect_shape("with a step", rd_window(x, 0, 2, 2), RD_SHAPE(2, 2));
    expect_shape("too long", rd_window(x, 0, 6, 1), RD_SHAPE(0, 6));
    expect_error("of nothing", rd_window(x, 0, 0, 1), RD_ERR_ARGUMENT);
}
END_TEST

START_TEST(zero_extents)
{
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(0, 3), NULL, 0);

    expect("over the empty axis", rd_sum(x, RD_DIMS(0)), RD_F32, VALUES(0, 0, 0));
    expect("beside it", rd_sum(x, RD_DIMS(1)), RD_F32, NULL, 0);
    expect("a map", rd_exp(x), RD_F32, NULL, 0);
    expect_error("negative", leaf_shape(RD_F32, RD_SHAPE(-1), NULL, 0), RD_ERR_SHAPE);
}
END_TEST

/* ---- Outputs --------------------------------------------------------------------------------- */
START_TEST(output_types)
{
    static const struct {
        rd_dtype from, to;
        bool     allowed;
    } rows[] = {
        { RD_F32, RD_F64, true },  { RD_I32, RD_F64, true },  { RD_U8, RD_F32, true },
        { RD_U8, RD_I16, true },   { RD_BOOL, RD_U8, true },  { RD_U32, RD_I64, true },
        { RD_I16, RD_F32, true },  { RD_F64, RD_F32, false }, { RD_I32, RD_F32, false },
        { RD_I8, RD_U8, false },   { RD_U8, RD_I8, false },   { RD_F32, RD_I64, false },
        { RD_I64, RD_I32, false }, { RD_U8, RD_BOOL, false },
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        int64_t         y   = 0;
        rd_array        out = { .data = &y, .type = rows[k].to, .shape = RD_SHAPE(1) };
        const rd_status got = rd_eval(ctx, leaf(rows[k].from, VALUES(1)), &out);

        ck_assert_msg(got == (rows[k].allowed ? RD_OK : RD_ERR_TYPE), "row %d: %s", (int)k,
                      rd_status_name(got));
        ck_assert(!rows[k].allowed || get(&y, rows[k].to, 0) == 1);
        rd_error_clear(ctx);
    }
}
END_TEST

START_TEST(output_layout)
{
    rd_expr *m = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    double   y[12];

    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .order = 1)) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 3 && y[2] == 1 && y[5] == 5);
    ck_assert(rd_eval(ctx, m, RD_INTO(y + 5, RD_SHAPE(2, 3), .strides = RD_STRIDES(-3, -1))) ==
              RD_OK);
    ck_assert(y[5] == 0 && y[4] == 1 && y[0] == 5);
    y[1] = -1;
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(6, 2))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == -1 && y[10] == 5);
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(6))) == RD_ERR_SHAPE);
}
END_TEST

START_TEST(fresh_output)
{
    rd_expr *x   = leaf(RD_F32, VALUES(1, 2, 3));
    rd_array out = { 0 };

    ck_assert(rd_eval(ctx, rd_exp(x), &out) == RD_OK);
    ck_assert(out.data && (uintptr_t)out.data % 64 == 0 && out.type == RD_F32 && out.shape.n == 1);
    rd_array_free(&out);
    ck_assert(!out.data && out.type == RD_AUTO);
    ck_assert(rd_eval(ctx, rd_take(x, 0, leaf(RD_I64, VALUES(9))), &out) != RD_OK);
    ck_assert_msg(!out.data && !out.owner, "on failure a zeroed output stays zeroed");
}
END_TEST

static bool has_strides(const rd_array *out, rd_strides want)
{
    for (int a = 0; a < want.n; a++)
        if (out->shape.at[a] > 1 && out->strides.at[a] != want.at[a])
            return false;
    return out->strides.n == want.n;
}

/* Element [i, j, k] of fresh memory is i, j and k in decimal digits. */
static void check_order(rd_ctx *c, rd_array *out, rd_dtype type, rd_strides want)
{
    rd_expr *x = rd_cast(rd_broadcast(rd_int(c, 0), RD_SHAPE(2, 3, 4)), type);
    rd_expr *y = rd_add(rd_mul(rd_coord(x, 0), rd_int(c, 100)),
                        rd_add(rd_mul(rd_coord(x, 1), rd_int(c, 10)), rd_coord(x, 2)));
    char     bytes[24 * 16];

    y = rd_cast(y, type);
    ck_assert_msg(rd_eval(c, y, out) == RD_OK, "%s", rd_error_text(c));
    ck_assert(out->type == type && out->owner && (uintptr_t)out->data % 64 == 0);
    for (int64_t i = 0; i < 24; i++) {
        const int64_t at = i / 12 * want.at[0] + i / 4 % 3 * want.at[1] + i % 4 * want.at[2];
        const int     of = rd_dtype_is_complex(type) ? 2 : 1;

        ck_assert(get(out->data, of == 2 ? (rd_dtype)(type - RD_C64 + RD_F32) : type, of * at) ==
                  (double)(i / 12 * 100 + i / 4 % 3 * 10 + i % 4));
    }
    rd_array back = { .data = bytes, .type = type, .shape = RD_SHAPE(2, 3, 4) };
    ck_assert(rd_eval(c, rd_eq(rd_leaf(c, out), y),
                      RD_INTO((_Bool *)(void *)bytes, RD_SHAPE(2, 3, 4))) == RD_OK);
    for (int i = 0; i < 24; i++)
        ck_assert(((_Bool *)back.data)[i]);
    rd_array_free(out);
}

START_TEST(fresh_orders)
{
    static const rd_dtype types[] = { RD_U8, RD_I32, RD_F32, RD_F64, RD_C64, RD_C128 };

    for (size_t k = 0; k < COUNT(types); k++) {
        rd_array c = { 0 }, f = { .order = 1 }, s = { .strides = RD_STRIDES(5, -1, 9) };

        check_order(ctx, &c, types[k], RD_STRIDES(12, 4, 1));
        check_order(ctx, &f, types[k], RD_STRIDES(1, 2, 6));
        check_order(ctx, &s, types[k], RD_STRIDES(3, 1, 6));
    }

    rd_expr *x     = leaf_shape(RD_F32, RD_SHAPE(2, 1, 3), VALUES(1, 2, 3, 4, 5, 6));
    rd_expr *wrong = rd_take(x, 0, leaf(RD_I64, VALUES(9)));
    rd_array a = { .order = 1 }, b = { .strides = RD_STRIDES(1, 2, 3) }, c = { 0 };
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ x, &a }, { rd_neg(x), &b }, { x, &c }), NULL) ==
              RD_OK);
    ck_assert(a.order == 1 && a.strides.n == 0 && ((float *)a.data)[1] == 4);
    ck_assert(has_strides(&b, RD_STRIDES(1, 2, 2)) && ((float *)b.data)[1] == -4);
    ck_assert(c.order == 0 && ((float *)c.data)[1] == 2);
    rd_array_free(&a);
    rd_array_free(&b);
    rd_array_free(&c);
    ck_assert(!a.order && !b.strides.n);

    b = (rd_array){ .strides = RD_STRIDES(1, 2, 3) };
    ck_assert(rd_eval(ctx, wrong, &b) == RD_ERR_AXIS);
    ck_assert_msg(!b.data && !b.type && !b.shape.n && has_strides(&b, RD_STRIDES(1, 2, 3)),
                  "on failure it goes on asking for the same");
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, rd_slice(x, ":, :, :0"), &b) == RD_OK && b.shape.at[2] == 0);
    rd_array_free(&b);

    a = (rd_array){ .order = 1 };
    ck_assert(rd_nonzero(ctx, rd_gt(x, rd_num(ctx, 4)), &a) == RD_OK);
    ck_assert(a.order == 1 && a.shape.at[0] == 2 && ((int64_t *)a.data)[1] == 1 &&
              ((int64_t *)a.data)[4] == 1);
    rd_array_free(&a);

    const struct {
        rd_array    out;
        rd_status   status;
        const char *says;
    } bad[] = { { { .strides = RD_STRIDES(1, 2) }, RD_ERR_SHAPE, "2 strides of fresh memory" },
                { { .strides = RD_STRIDES(1, 2, 1) }, RD_ERR_ARGUMENT, "axes 0 and 2 are both 1" },
                { { .order = 2 }, RD_ERR_ARGUMENT, "order is 2" } };
    for (size_t k = 0; k < COUNT(bad); k++) {
        a = bad[k].out;
        ck_assert(rd_eval(ctx, x, &a) == bad[k].status && strstr(rd_error_text(ctx), bad[k].says));
        ck_assert(!a.data);
        rd_error_clear(ctx);
    }
}
END_TEST

/* Pointers come at each run; the layout is that of fresh memory. */
START_TEST(fresh_orders_of_plans)
{
    const rd_array f32 = { .type = RD_F32, .shape = RD_SHAPE(2, 3) };
    const rd_array c64 = { .type = RD_C64, .shape = RD_SHAPE(2, 3) };
    rd_expr *const x = rd_input(ctx, "x", &f32), *const z = rd_input(ctx, "z", &c64);
    static const float in[]    = { 1, 2, 3, 4, 5, 6 };
    static const float pairs[] = { 1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60 };
    const void *const  from[]  = { in, pairs };
    float              y[6], w[12];
    void *const        to[] = { y, w };
    rd_array           a = { .order = 1 }, b = { .strides = RD_STRIDES(1, 2) };

    rd_plan *plan =
        rd_plan_new(ctx, RD_EXPRS(x, z), RD_RESULTS({ rd_neg(x), &a }, { rd_neg(z), &b }), NULL);
    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    ck_assert(!a.data && !b.data && b.strides.n == 2 && b.strides.at[0] == 1);
    ck_assert(rd_plan_run(plan, from, to) == RD_OK);
    ck_assert(y[0] == -1 && y[1] == -4 && y[2] == -2 && y[5] == -6);
    ck_assert(w[0] == -1 && w[1] == -10 && w[2] == -4 && w[3] == -40 && w[4] == -2);
    rd_plan_free(plan);
}
END_TEST

/* Inputs of no element, of any type, have plans. */
START_TEST(inputs_of_no_element)
{
    for (rd_dtype type = RD_BOOL; type <= RD_C128; type++)
        for (int k = 0; k < 4; k++) {
            const rd_shape shapes[] = { RD_SHAPE(0), RD_SHAPE(3, 0), RD_SHAPE(0, 3),
                                        RD_SHAPE(0, 0) };
            const rd_array layout   = { .type = type, .shape = shapes[k] };
            char           name[16];

            snprintf(name, sizeof name, "x%d.%d", (int)type, k);
            rd_expr *const x   = rd_input(ctx, name, &layout);
            rd_array       out = layout, sums = { .type = type, .shape = RD_SCALAR };
            double         sum[2];
            rd_plan *const plan =
                rd_plan_new(ctx, RD_EXPRS(x),
                            RD_RESULTS({ rd_reshape(x, shapes[k]), &out },
                                       { rd_cast(rd_sum(x, RD_ALL), type), &sums }),
                            NULL);

            ck_assert_msg(plan != NULL, "%s: %s", rd_dtype_name(type), rd_error_text(ctx));
            ck_assert(rd_plan_run(plan, (const void *const[]){ NULL },
                                  (void *const[]){ NULL, sum }) == RD_OK);
            rd_plan_free(plan);
        }
}
END_TEST

START_TEST(output_over_input)
{
    double   y[6] = { 0, 1, 2, 3, 4, 5 };
    rd_expr *x    = rd_wrap(ctx, y, RD_SHAPE(6));

    ck_assert(rd_eval(ctx, rd_flip(x, RD_DIMS(0)), RD_INTO(y, RD_SHAPE(6))) == RD_OK);
    ck_assert(y[0] == 5 && y[1] == 4 && y[4] == 1 && y[5] == 0);
    ck_assert(rd_eval(ctx, rd_slice(x, ":-1"), RD_INTO(y + 1, RD_SHAPE(5))) == RD_OK);
    ck_assert(y[0] == 5 && y[1] == 5 && y[2] == 4 && y[5] == 1);
    ck_assert(rd_eval(ctx, rd_sub(x, rd_max(x, RD_ALL)), RD_INTO(y, RD_SHAPE(6))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 0 && y[2] == -1 && y[5] == -4);
}
END_TEST

START_TEST(output_over_itself)
{
    double   y[8] = { 0 };
    rd_expr *m    = leaf_shape(RD_F64, RD_SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));

    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(1, 1))) ==
              RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(3, 0))) ==
              RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    /* Strides that interleave without meeting are none of that. */
    ck_assert(rd_eval(ctx, m, RD_INTO(y, RD_SHAPE(2, 3), .strides = RD_STRIDES(1, 2))) == RD_OK);
    ck_assert(y[0] == 0 && y[1] == 3 && y[4] == 2 && y[5] == 5);
    /* An input may: a window over caller memory. */
    rd_expr *w = rd_wrap(ctx, y, RD_SHAPE(5, 2), .strides = RD_STRIDES(1, 1));
    expect("input", rd_sum(w, RD_DIMS(1)), RD_F64, VALUES(3, 4, 5, 6, 7));
}
END_TEST

START_TEST(results_over_each_other)
{
    double   y[4] = { 0 };
    rd_expr *a = leaf(RD_F64, VALUES(1, 2, 3)), *b = leaf(RD_F64, VALUES(7, 8, 9));

    ck_assert(
        rd_eval_many(ctx,
                     RD_RESULTS({ a, RD_INTO(y, RD_SHAPE(3)) }, { b, RD_INTO(y + 1, RD_SHAPE(3)) }),
                     NULL) == RD_OK);
    ck_assert(y[0] == 1 && y[1] == 7 && y[2] == 8 && y[3] == 9);
    ck_assert(
        rd_eval_many(ctx,
                     RD_RESULTS({ b, RD_INTO(y + 1, RD_SHAPE(3)) }, { a, RD_INTO(y, RD_SHAPE(3)) }),
                     NULL) == RD_OK);
    ck_assert(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 9);
}
END_TEST

/* ---- Errors ---------------------------------------------------------------------------------- */
START_TEST(errors_stay)
{
    rd_expr *x = leaf(RD_F64, VALUES(4, 9));
    double   y[2];

    rd_expr *bad = rd_sqrt(rd_sum(x, RD_DIMS(2)));
    ck_assert(!bad && rd_error(ctx) == RD_ERR_AXIS && strstr(rd_error_text(ctx), "sum"));
    (void)rd_slice(x, "?"); /* another failure: the first stays */
    ck_assert(rd_error(ctx) == RD_ERR_AXIS);
    ck_assert(rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(2))) == RD_ERR_AXIS);
    ck_assert(isnan(rd_at(ctx, x, RD_INDEX(0))));
    rd_error_clear(ctx);
    ck_assert(rd_error(ctx) == RD_OK && rd_error_text(ctx)[0] == 0);
    expect("after a clear", rd_sqrt(x), RD_F64, VALUES(2, 3));
    ck_assert_str_eq(rd_status_name(RD_ERR_AXIS), "RD_ERR_AXIS");
}
END_TEST

START_TEST(failed_keyword)
{
    rd_expr *x = leaf(RD_F64, VALUES(4, 9));
    double   y = 0;

    rd_expr *sum = rd_sum(x, RD_ALL, .where = rd_gt(x, rd_slice(x, "9")));
    ck_assert(rd_eval(ctx, sum, RD_INTO(&y, RD_SCALAR)) == RD_ERR_AXIS);
    ck_assert(y == 0);
}
END_TEST

/* Calls that get a list without an operand have no context; their NULL is not taken for a keyword
 * that was left out. */
static rd_expr *of_nothing(int call)
{
    const rd_exprs none = { NULL, 0 };
    rd_expr       *grids[1];

    switch (call) {
    case 0: return rd_concat(0, none);
    case 1: return rd_stack(0, none);
    case 2: return rd_einsum_text("->", none);
    case 3: return rd_mapn_text("1 > 0", none);
    case 4: return rd_bincount(none, RD_SHAPE(3), NULL);
    default: ck_assert(!rd_meshgrid(none, grids)); return NULL;
    }
}

START_TEST(lists_of_no_operand)
{
    static const char *const names[] = { "rd_concat", "rd_stack",    "rd_einsum",
                                         "rd_mapn",   "rd_bincount", "rd_meshgrid" };
    rd_expr                 *x       = leaf(RD_F64, VALUES(4, 9));

    for (int k = 0; k < (int)COUNT(names); k++) {
        double y = 0;

        rd_expr *sum = rd_sum(x, RD_ALL, .where = of_nothing(k));
        ck_assert_msg(!sum && rd_error(ctx) == RD_ERR_ARGUMENT, "%s", names[k]);
        ck_assert_msg(strstr(rd_error_text(ctx), names[k]) == rd_error_text(ctx), "%s",
                      rd_error_text(ctx));
        ck_assert(rd_eval(ctx, sum, RD_INTO(&y, RD_SCALAR)) == RD_ERR_ARGUMENT && y == 0);
        rd_error_clear(ctx);
        of_nothing(k);
        ck_assert(rd_eval(ctx, x, RD_INTO(&y, RD_SCALAR)) == RD_ERR_ARGUMENT && y == 0);
        of_nothing(k);
        rd_error_clear(ctx);
        expect("once it is cleared", rd_sum(x, RD_ALL), RD_F64, VALUES(13));
    }
}
END_TEST

START_TEST(null_in_null_out)
{
    rd_array out = { 0 };

    ck_assert(!rd_exp(rd_slice(rd_sum(NULL, RD_ALL), "1")));
    ck_assert(rd_shape_of(NULL).n == -1 && rd_type_of(NULL) == RD_AUTO);
    ck_assert(rd_eval(ctx, NULL, &out) != RD_OK && !out.data);
    ck_assert(rd_error(NULL) == RD_ERR_MEMORY);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { broadcasting,         slices,
                                   slice_of_a_result,    take,
                                   take_along,           windows,
                                   zero_extents,         output_types,
                                   output_layout,        fresh_output,
                                   fresh_orders,         fresh_orders_of_plans,
                                   inputs_of_no_element, output_over_input,
                                   output_over_itself,   results_over_each_other,
                                   errors_stay,          failed_keyword,
                                   lists_of_no_operand,  null_in_null_out };

    return run_suite("semantics_memory", tests, COUNT(tests));
}
