/* Leaves and views that are refused: the status, and the words that the sentence must have. */
#define _POSIX_C_SOURCE 200809L /* setenv() */
#include "expr/expr.h"
#include "suite.h"
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static float   data[1024];
static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

static rd_expr *leaf(rd_shape shape)
{
    return rd_leaf(ctx, &(rd_array){ .in = data, .type = RD_F32, .shape = shape });
}

/* The call returned NULL and recorded this status and a sentence with these words. */
static void refused(const rd_expr *y, rd_status status, const char *first, const char *second,
                    int line)
{
    const char *said = rd_error_text(ctx);

    ck_assert_msg(!y, "line %d: not refused", line);
    ck_assert_msg(rd_error(ctx) == status, "line %d: %s: %s", line, rd_status_name(rd_error(ctx)),
                  said);
    ck_assert_msg(strstr(said, first) && strstr(said, second), "line %d: no \"%s\", \"%s\" in: %s",
                  line, first, second, said);
    rd_error_clear(ctx);
}
#define REFUSED(status, first, second, call) refused(call, RD_ERR_##status, first, second, __LINE__)

START_TEST(leaves_refused)
{
    const int64_t huge       = INT64_C(1) << 40;
    rd_shape      long_shape = { .n = 33 };

    REFUSED(ARGUMENT, "rd_leaf", "NULL", rd_leaf(ctx, NULL));
    REFUSED(ARGUMENT, "rd_leaf", "shape (2)", rd_wrap(ctx, (float *)NULL, RD_SHAPE(2)));
    REFUSED(ARGUMENT, "rd_leaf", "order is 2", rd_wrap(ctx, data, RD_SHAPE(2), .order = 2));
    REFUSED(
        ARGUMENT, "rd_leaf", "not aligned for f32",
        rd_leaf(ctx, &(rd_array){ .in = (char *)data + 1, .type = RD_F32, .shape = RD_SHAPE(2) }));
    REFUSED(TYPE, "auto", "(0)", rd_leaf(ctx, &(rd_array){ .in = data, .shape = RD_SHAPE(2) }));
    REFUSED(
        ARGUMENT, "c64", "not aligned",
        rd_leaf(ctx, &(rd_array){ .in = (char *)data + 2, .type = RD_C64, .shape = RD_SHAPE(2) }));
    REFUSED(TYPE, "?", "(99)",
            rd_leaf(ctx, &(rd_array){ .in = data, .type = (rd_dtype)99, .shape = RD_SHAPE(2) }));
    REFUSED(SHAPE, "negative", "(2, -1)", leaf(RD_SHAPE(2, -1)));
    REFUSED(SHAPE, "overflows", "(1099511627776, 1099511627776)", leaf(RD_SHAPE(huge, huge)));
    REFUSED(SHAPE, "overflows", "0)", leaf(RD_SHAPE(huge, huge, 0)));
    REFUSED(SHAPE, "overflows", "f32", leaf(RD_SHAPE(INT64_C(1) << 61)));
    REFUSED(SHAPE, "rank 33", "0 to 32", leaf(long_shape));
    long_shape.n = -1;
    REFUSED(SHAPE, "rank -1", "rd_leaf", leaf(long_shape));
    REFUSED(SHAPE, "1 strides", "rank 2",
            rd_wrap(ctx, data, RD_SHAPE(2, 3), .strides = RD_STRIDES(1)));
    REFUSED(SHAPE, "address space", "9223372036854775807",
            rd_wrap(ctx, data, RD_SHAPE(2, 3), .strides = RD_STRIDES(INT64_MAX, 1)));
    REFUSED(SHAPE, "address space", "-9223372036854775808",
            rd_wrap(ctx, data, RD_SHAPE(2, 3), .strides = RD_STRIDES(INT64_MIN, 1)));
    REFUSED(SHAPE, "address space", "strides (700000000000000000, 700000000000000000)",
            rd_wrap(ctx, data, RD_SHAPE(2, 2),
                    .strides = RD_STRIDES(700000000000000000, 700000000000000000)));
    REFUSED(SHAPE, "address space", "strides (-1152921504606846976)",
            rd_wrap(ctx, data, RD_SHAPE(2), .strides = RD_STRIDES(-(INT64_C(1) << 60))));
    REFUSED(ARGUMENT, "rd_input", "NULL", rd_input(ctx, NULL, RD_INTO(data, RD_SHAPE(2))));
    REFUSED(ARGUMENT, "rd_input", "empty", rd_input(ctx, "", RD_INTO(data, RD_SHAPE(2))));
    REFUSED(ARGUMENT, "rd_input", "NULL", rd_input(ctx, "x", NULL));
    REFUSED(SHAPE, "rd_input", "(-2)", rd_input(ctx, "x", RD_INTO(data, RD_SHAPE(-2))));
    rd_input(ctx, "x", RD_INTO(data, RD_SHAPE(3, 4)));
    REFUSED(ARGUMENT, "\"x\" is f32, shape (3, 4), strides (4, 1)",
            "shall be f32, shape (3, 4), strides (1, 3)",
            rd_input(ctx, "x", RD_INTO(data, RD_SHAPE(3, 4), .order = 1)));
    REFUSED(ARGUMENT, "\"x\" is f32", "shall be i32, shape (3, 4)",
            rd_input(ctx, "x", RD_INTO((int *)NULL, RD_SHAPE(3, 4))));
    REFUSED(AXIS, "rd_coord: no axis 1", "rank 1", rd_coord(leaf(RD_SHAPE(3)), 1));
    REFUSED(AXIS, "rd_coord: no axis 0", "rank 0, shape ()", rd_coord(rd_num(ctx, 1), 0));
}
END_TEST

START_TEST(views_refused)
{
    rd_expr *x = leaf(RD_SHAPE(4, 5)), *wide = leaf(RD_SHAPE(1)),
            *deep = leaf((rd_shape){ .n = 0 });
    rd_shape bad  = { .n = 33 };

    for (int k = 0; k < RD_MAX_RANK; k++)
        deep = rd_expand(deep, 0);
    wide = rd_broadcast(wide, RD_SHAPE(INT64_C(1) << 40));
    REFUSED(AXIS, "rd_select: no axis 2", "rank 2, shape (4, 5)", rd_select(x, 2, 0));
    REFUSED(AXIS, "rd_select: no axis -3", "rank 2", rd_select(x, -3, 0));
    REFUSED(AXIS, "no axis -2147483648", "rank 2", rd_select(x, INT32_MIN, 0));
    REFUSED(AXIS, "rd_select: index 7 is outside axis 1 of extent 5", "shape (4, 5)",
            rd_select(x, 1, 7));
    REFUSED(AXIS, "index -6", "extent 5", rd_select(x, 1, -6));
    REFUSED(AXIS, "index -9223372036854775808", "extent 5", rd_select(x, 1, INT64_MIN));
    REFUSED(AXIS, "rd_slice_axis: no axis 5", "shape (4, 5)", rd_slice_axis(x, 5, 0, 1, 1));
    REFUSED(ARGUMENT, "rd_slice_axis: step 0", "axis 1", rd_slice_axis(x, 1, 0, 1, 0));
    REFUSED(AXIS, "rd_permute: 1 axes", "rank 2", rd_permute(x, RD_INDEX(0)));
    REFUSED(AXIS, "rd_permute: axis -1 is named twice", "(4, 5)", rd_permute(x, RD_INDEX(1, -1)));
    REFUSED(AXIS, "rd_permute: no axis 2", "(4, 5)", rd_permute(x, RD_INDEX(2, 0)));
    REFUSED(AXIS, "no axis -9223372036854775808", "", rd_permute(x, RD_INDEX(INT64_MIN, 0)));
    REFUSED(AXIS, "33 axes", "", rd_permute(x, bad));
    REFUSED(SHAPE, "rd_reshape: another number", "(3, 7) from shape (4, 5)",
            rd_reshape(x, RD_SHAPE(3, 7)));
    REFUSED(SHAPE, "another number", "(3, -1)", rd_reshape(x, RD_SHAPE(3, -1)));
    REFUSED(SHAPE, "more than one extent is -1", "(-1, -1)", rd_reshape(x, RD_SHAPE(-1, -1)));
    REFUSED(SHAPE, "any extent", "(0, -1)", rd_reshape(leaf(RD_SHAPE(0)), RD_SHAPE(0, -1)));
    REFUSED(SHAPE, "another number", "(0, 5)", rd_reshape(x, RD_SHAPE(0, 5)));
    REFUSED(SHAPE, "negative", "(-2, -10)", rd_reshape(x, RD_SHAPE(-2, -10)));
    REFUSED(SHAPE, "overflows", "4611686018427387905",
            rd_reshape(x, RD_SHAPE((INT64_C(1) << 62) + 1, 2)));
    REFUSED(SHAPE, "rd_reshape", "rank 33", rd_reshape(x, bad));
    REFUSED(SHAPE, "rd_broadcast: shape (4, 5) does not broadcast to (4, 6)", "",
            rd_broadcast(x, RD_SHAPE(4, 6)));
    REFUSED(SHAPE, "(4, 5) does not broadcast to (5)", "", rd_broadcast(x, RD_SHAPE(5)));
    REFUSED(SHAPE, "(4, 5) does not broadcast to ()", "", rd_broadcast(x, RD_SCALAR));
    REFUSED(SHAPE, "rd_broadcast", "(-4, 5)", rd_broadcast(x, RD_SHAPE(-4, 5)));
    REFUSED(SHAPE, "overflows", "rd_broadcast",
            rd_broadcast(wide, RD_SHAPE(INT64_C(1) << 30, INT64_C(1) << 40)));
    REFUSED(SHAPE, "rd_broadcast", "rank 33", rd_broadcast(x, bad));
    REFUSED(AXIS, "rd_expand: no place 3", "rank 2", rd_expand(x, 3));
    REFUSED(AXIS, "rd_expand: no place -4", "rank 2", rd_expand(x, -4));
    REFUSED(SHAPE, "rd_expand", "rank 33", rd_expand(deep, 0));
    REFUSED(SHAPE, "rd_squeeze: axis 1 has extent 5", "(4, 5)", rd_squeeze(x, RD_DIMS(-1)));
    REFUSED(AXIS, "rd_squeeze: no axis 2", "(4, 5)", rd_squeeze(x, RD_DIMS(2)));
    REFUSED(AXIS, "rd_flip: axis -2 is named twice", "(4, 5)", rd_flip(x, RD_DIMS(0, -2)));
    REFUSED(AXIS, "rd_flip: 33 axes", "32", rd_flip(x, (rd_dims){ .n = 33 }));
    REFUSED(AXIS, "rd_flip: -1 axes", "32", rd_flip(x, (rd_dims){ .n = -1 }));
    REFUSED(ARGUMENT, "rd_flip", "flags, 0x84", rd_flip(x, (rd_dims){ .flags = 0x84 }));
    REFUSED(AXIS, "rd_diagonal: axes 1 and -1 are the same", "(4, 5)", rd_diagonal(x, 1, -1, 0));
    REFUSED(AXIS, "rd_diagonal: no axis 9", "(4, 5)", rd_diagonal(x, 1, 9, 0));
    REFUSED(AXIS, "rd_window: no axis 2", "(4, 5)", rd_window(x, 2, 1, 1));
    REFUSED(ARGUMENT, "rd_window: n is 0 and step 1", "", rd_window(x, 0, 0, 1));
    REFUSED(ARGUMENT, "rd_window: n is 2 and step -1", "", rd_window(x, 0, 2, -1));
    REFUSED(SHAPE, "rd_window", "overflows", rd_window(wide, 0, INT64_C(1) << 39, 1));
    REFUSED(SHAPE, "rd_window", "overflows", rd_window(x, 0, INT64_MAX, 1));
    REFUSED(SHAPE, "rd_window", "rank 33", rd_window(deep, 0, 1, 1));
}
END_TEST

START_TEST(takes_and_concats_refused)
{
    rd_ctx  *elsewhere = rd_ctx_new(NULL);
    rd_expr *x = leaf(RD_SHAPE(4, 5)), *i = rd_cast(leaf(RD_SHAPE(3)), RD_U16),
            *deep   = leaf(RD_SCALAR);
    rd_expr *theirs = rd_int(elsewhere, 1),
            *large  = rd_broadcast(leaf(RD_SCALAR), RD_SHAPE(INT64_C(1) << 61));

    for (int k = 0; k < RD_MAX_RANK; k++)
        deep = rd_expand(deep, 0);
    REFUSED(AXIS, "rd_take: no axis 2", "(4, 5)", rd_take(x, 2, i));
    REFUSED(TYPE, "rd_take", "f32", rd_take(x, 0, leaf(RD_SHAPE(3))));
    REFUSED(TYPE, "rd_take", "f64", rd_take(x, 0, rd_num(ctx, 1)));
    REFUSED(TYPE, "rd_take", "bool", rd_take(x, 0, rd_isnan(leaf(RD_SHAPE(4)))));
    REFUSED(SHAPE, "rd_take", "rank 33", rd_take(x, 0, rd_cast(deep, RD_I8)));
    REFUSED(SHAPE, "rd_take", "overflows", rd_take(rd_expand(large, 0), 0, i));
    REFUSED(AXIS, "rd_take", "extent 0, shape (0, 3), index of shape (3)",
            rd_take(leaf(RD_SHAPE(0, 3)), 0, i));
    REFUSED(ARGUMENT, "rd_take", "another context", rd_take(x, 0, theirs));
    REFUSED(AXIS, "rd_take_along: no axis 2", "(4, 5)", rd_take_along(x, 2, i));
    REFUSED(SHAPE, "rd_take_along: an index of shape (3)", "(4, 5) beside axis 1",
            rd_take_along(x, 1, i));
    REFUSED(SHAPE, "rd_take_along: an index of shape (3, 1)", "(4, 5) beside axis 1",
            rd_take_along(x, 1, rd_expand(i, 1)));
    REFUSED(TYPE, "rd_take_along", "f32", rd_take_along(x, 0, x));
    REFUSED(ARGUMENT, "rd_take_along", "another context", rd_take_along(x, 0, theirs));
    ck_assert_int_eq(rd_error(elsewhere), RD_ERR_ARGUMENT);
    REFUSED(AXIS, "rd_concat: no axis 2", "(4, 5)", rd_concat(2, RD_EXPRS(x, x)));
    REFUSED(AXIS, "rd_concat: no axis 0", "rank 0",
            rd_concat(0, RD_EXPRS(rd_num(ctx, 1), rd_num(ctx, 2))));
    REFUSED(SHAPE, "rd_concat: part 1 of shape (4, 3)", "part 0 of shape (4, 5) along axis 0",
            rd_concat(0, RD_EXPRS(x, rd_slice(x, ":, :3"))));
    REFUSED(SHAPE, "rd_concat: part 2 of shape (4)", "(4, 5)",
            rd_concat(-2, RD_EXPRS(x, x, rd_select(x, 1, 0))));
    REFUSED(SHAPE, "rd_concat", "overflows", rd_concat(0, RD_EXPRS(large, large, large)));
    /* The sum of these two extents is no int64_t: the sanitizers see whether it is made. */
    rd_expr *huge = rd_broadcast(rd_cast(rd_num(ctx, 1), RD_BOOL), RD_SHAPE(INT64_C(1) << 62));
    REFUSED(SHAPE, "rd_concat: part 1 of shape (4611686018427387904)", "overflows",
            rd_concat(0, RD_EXPRS(huge, huge)));
    REFUSED(ARGUMENT, "rd_concat", "another context",
            rd_concat(0, RD_EXPRS(i, rd_expand(theirs, 0))));
    ck_assert_ptr_null(rd_concat(0, (rd_exprs){ 0 }));
    ck_assert_ptr_null(rd_concat(0, (rd_exprs){ &x, -1 }));
    rd_ctx_free(elsewhere);
}
END_TEST

static const struct {
    const char *text;
    rd_status   status;
    int         caret; /* column in the text */
    const char *says;
} bad_slices[] = {
    /* of shape (4, 5) */
    { "", RD_ERR_TEXT, 0, "expected a number, ':', '...' or 'new'" },
    { ",", RD_ERR_TEXT, 0, "expected a number" },
    { "1,", RD_ERR_TEXT, 2, "expected a number" },
    { "1,,2", RD_ERR_TEXT, 2, "expected a number" },
    { "1:2:3:4", RD_ERR_TEXT, 5, "expected ','" },
    { "::0", RD_ERR_TEXT, 2, "step of 0" },
    { "::-0", RD_ERR_TEXT, 2, "step of 0" },
    { "99999999999999999999", RD_ERR_TEXT, 0, "over 9223372036854775807" },
    { "0, 1:9223372036854775808", RD_ERR_TEXT, 5, "over 9223372036854775807" },
    { "-9223372036854775808:", RD_ERR_TEXT, 0, "over 9223372036854775807" },
    { "..., ...", RD_ERR_TEXT, 5, "second '...'" },
    { "....", RD_ERR_TEXT, 3, "expected ','" },
    { "1e3", RD_ERR_TEXT, 1, "expected ','" },
    { "1.5", RD_ERR_TEXT, 1, "expected ','" },
    { "1 2", RD_ERR_TEXT, 2, "expected ','" },
    { "-", RD_ERR_TEXT, 1, "digit after '-'" },
    { "- 1", RD_ERR_TEXT, 1, "digit after '-'" },
    { "--1", RD_ERR_TEXT, 1, "digit after '-'" },
    { "+1", RD_ERR_TEXT, 0, "expected a number" },
    { "0x1", RD_ERR_TEXT, 1, "expected ','" },
    { "news", RD_ERR_TEXT, 3, "expected ','" },
    { "[1]", RD_ERR_TEXT, 0, "expected a number" },
    { "1\n", RD_ERR_TEXT, 1, "expected ','" },
    { "\xc3\xa9", RD_ERR_TEXT, 0, "expected a number" },
    { "1, \xff", RD_ERR_TEXT, 3, "expected a number" },
    { "4", RD_ERR_AXIS, 0, "index 4 is outside axis 0 of extent 4, shape (4, 5)" },
    { "0, -6", RD_ERR_AXIS, 3, "index -6 is outside axis 1 of extent 5" },
    { "..., 9223372036854775807", RD_ERR_AXIS, 5, "index 9223372036854775807" },
    { "0, :, 1", RD_ERR_AXIS, 6, "3 parts take axes, the operand has rank 2" },
    { "0, :, ..., 1", RD_ERR_AXIS, 11, "3 parts take axes, the operand has rank 2" },
};

START_TEST(slices_refused)
{
    const char *text = bad_slices[_i].text, *shown, *caret;

    ck_assert_ptr_null(rd_slice(leaf(RD_SHAPE(4, 5)), text));
    ck_assert_msg(rd_error(ctx) == bad_slices[_i].status, "\"%s\": %s", text, rd_error_text(ctx));
    ck_assert_msg(strstr(rd_error_text(ctx), bad_slices[_i].says), "\"%s\": %s", text,
                  rd_error_text(ctx));
    shown = strchr(rd_error_text(ctx), '\n') + 1;
    caret = strchr(shown, '\n') + 1;
    ck_assert_int_eq(caret[4 + bad_slices[_i].caret], '^');
    for (size_t k = 0; text[k]; k++)
        ck_assert_int_eq(shown[4 + k], text[k] >= ' ' && text[k] <= '~' ? text[k] : '?');
}
END_TEST

START_TEST(long_slices_refused)
{
    static const char *const pieces[] = { "0,", ":,", "new,", "...,", " ", "9", "-", ":", "new, " };
    char                    *text     = malloc(200001);
    size_t                   n        = 0;

    while (n + strlen(pieces[_i]) <= 200000) {
        memcpy(text + n, pieces[_i], strlen(pieces[_i]));
        n += strlen(pieces[_i]);
    }
    text[n] = '\0';
    ck_assert_ptr_null(rd_slice(leaf(RD_SHAPE(4, 5)), text));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TEXT);
    ck_assert(strlen(rd_error_text(ctx)) < 400);
    free(text);
    rd_error_clear(ctx);
    REFUSED(ARGUMENT, "rd_slice", "NULL", rd_slice(leaf(RD_SHAPE(4)), NULL));
    REFUSED(SHAPE, "rd_slice", "rank 33",
            rd_slice(leaf(RD_SHAPE(4)),
                     "new,new,new,new,new,new,new,new,new,new,new,new,new,new,new,new,"
                     "new,new,new,new,new,new,new,new,new,new,new,new,new,new,new,new"));
}
END_TEST

/* ---- NULL goes through, without a word ------------------------------------------------------- */
START_TEST(unknown_stage_refused)
{
    float    y[16];
    rd_expr *x = rd_neg(leaf(RD_SHAPE(16)));

    setenv("RDIM_DEBUG", "graph,lops", 1);
    ck_assert(rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(16))) == RD_ERR_ARGUMENT);
    REFUSED(ARGUMENT, "no stage \"lops\"",
            "graph, tree, nest, program, tiles, loops, code, scalar and trace", NULL);
    unsetenv("RDIM_DEBUG");
    ck_assert(rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(16))) == RD_OK);
}
END_TEST

START_TEST(null_passes)
{
    rd_expr *x = leaf(RD_SHAPE(4, 5));

    const rd_expr *const rows[] = {
        rd_coord(NULL, 0),
        rd_slice(NULL, "1"),
        rd_slice(NULL, NULL),
        rd_select(NULL, 9, 9),
        rd_slice_axis(NULL, 9, 0, 0, 0),
        rd_take(NULL, 9, x),
        rd_take_along(NULL, 9, x),
        rd_take(x, 9, NULL),
        rd_permute(NULL, RD_INDEX(7)),
        rd_transpose(NULL),
        rd_reshape(NULL, RD_SHAPE(-7)),
        rd_broadcast(NULL, RD_SHAPE(-7)),
        rd_expand(NULL, 9),
        rd_squeeze(NULL, RD_DIMS(9)),
        rd_flip(NULL, RD_DIMS(9)),
        rd_diagonal(NULL, 9, 9, 0),
        rd_window(NULL, 9, 0, 0),
        rd_concat(9, RD_EXPRS(x, NULL)),
        rd_concat(9, RD_EXPRS(NULL)),
    };
    for (int k = 0; k < COUNT(rows); k++)
        ck_assert_msg(!rows[k], "row %d", k);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("refusals");
    TCase   *tc     = tcase_create("refusals");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, leaves_refused);
    tcase_add_test(tc, views_refused);
    tcase_add_test(tc, takes_and_concats_refused);
    tcase_add_loop_test(tc, slices_refused, 0, COUNT(bad_slices));
    tcase_add_loop_test(tc, long_slices_refused, 0, 9);
    tcase_add_test(tc, unknown_stage_refused);
    tcase_add_test(tc, null_passes);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
