/* docs/semantics.md on what a mask picks. */
#include "values.h"

#include <math.h>

static void expect_array(const char *what, const rd_array *a, rd_dtype type, rd_shape shape,
                         const double *want, int n)
{
    ck_assert_msg(a->type == type && a->shape.n == shape.n, "%s: type or rank", what);
    for (int k = 0; k < shape.n; k++)
        ck_assert_msg(a->shape.at[k] == shape.at[k], "%s: extent %d is %lld, not %lld", what, k,
                      (long long)a->shape.at[k], (long long)shape.at[k]);
    for (int k = 0; k < n; k++) {
        const double got = get(a->data, type, k);

        ck_assert_msg(got == want[k] || (isnan(got) && isnan(want[k])), "%s: element %d is %g",
                      what, k, got);
    }
}

static void places(const char *what, rd_expr *mask, rd_shape shape, const double *want, int n)
{
    rd_array out = { 0 };

    ck_assert_msg(rd_nonzero(ctx, mask, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    expect_array(what, &out, RD_I64, shape, want, n);
    rd_array_free(&out);
}

static void picked_are(const char *what, rd_expr *x, rd_expr *mask, rd_dtype type,
                       const double *want, int n)
{
    rd_array out = { 0 };

    ck_assert_msg(rd_compress(ctx, x, mask, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    expect_array(what, &out, type, RD_SHAPE(n), want, n);
    rd_array_free(&out);
}

START_TEST(true_places)
{
    rd_expr *x = leaf(RD_F32, VALUES(0, NAN, -0., 2, -1));

    places("a row", x, RD_SHAPE(3, 1), VALUES(1, 3, 4));
    places("none", rd_gt(x, rd_num(ctx, 9)), RD_SHAPE(0, 1), NULL, 0);
    places("a matrix", leaf_shape(RD_I8, RD_SHAPE(2, 3), VALUES(0, 1, 0, 1, 0, 1)), RD_SHAPE(3, 2),
           VALUES(0, 1, 1, 0, 1, 2));
    places("transposed", rd_transpose(leaf_shape(RD_I8, RD_SHAPE(2, 3), VALUES(0, 1, 0, 1, 0, 1))),
           RD_SHAPE(3, 2), VALUES(0, 1, 1, 0, 2, 1));
    places("a number", rd_num(ctx, 1), RD_SHAPE(1, 0), NULL, 0);
    places("zero", rd_num(ctx, 0), RD_SHAPE(0, 0), NULL, 0);
    places("nothing", rd_slice_axis(x, 0, 0, 0, 1), RD_SHAPE(0, 1), NULL, 0);
    places("complex", rd_complex(leaf(RD_F32, VALUES(0, 0, 1)), leaf(RD_F32, VALUES(0, 2, 0))),
           RD_SHAPE(2, 1), VALUES(1, 2));
}
END_TEST

START_TEST(picked)
{
    static const rd_dtype all[] = { RD_BOOL, RD_I8,  RD_I16, RD_I32,  RD_I64, RD_U8, RD_U16,
                                    RD_U32,  RD_U64, RD_F16, RD_BF16, RD_F32, RD_F64 };
    rd_array              out   = { 0 };

    for (size_t k = 0; k < COUNT(all); k++) {
        rd_expr *x = leaf(all[k], VALUES(1, 0, 1, 1));

        picked_are("x[mask]", x, leaf(RD_BOOL, VALUES(0, 1, 1, 0)), all[k], VALUES(0, 1));
        picked_are("x[x]", x, x, all[k], VALUES(1, 1, 1));
        forget_leaves();
    }
    rd_expr *x = leaf_shape(RD_F32, RD_SHAPE(2, 2), VALUES(1, 2, 3, NAN));
    picked_are("a matrix", x, rd_gt(x, rd_num(ctx, 1)), RD_F32, VALUES(2, 3));
    picked_are("an expression", rd_mul(x, x), rd_ge(x, rd_num(ctx, 2)), RD_F32, VALUES(4, 9));
    picked_are("rows of a mask repeat", x, leaf(RD_BOOL, VALUES(0, 1)), RD_F32, VALUES(2, NAN));
    picked_are("so does x", rd_num(ctx, 5), leaf(RD_BOOL, VALUES(1, 0, 1)), RD_F64, VALUES(5, 5));
    picked_are("of means", rd_sub(x, rd_mean(x, RD_KEEP(1))), rd_eq(x, x), RD_F32,
               VALUES(-0.5, 0.5, NAN));

    ck_assert(rd_compress_axis(ctx, x, 0, leaf(RD_BOOL, VALUES(0, 1)), &out) == RD_OK);
    expect_array("rows", &out, RD_F32, RD_SHAPE(1, 2), VALUES(3, NAN));
    rd_array_free(&out);
    ck_assert(rd_compress_axis(ctx, x, -1, leaf(RD_BOOL, VALUES(1, 0)), &out) == RD_OK);
    expect_array("columns", &out, RD_F32, RD_SHAPE(2, 1), VALUES(1, 3));
    rd_array_free(&out);
    ck_assert(rd_compress(ctx, rd_complex(rd_slice(x, "0"), rd_slice(x, "1")),
                          leaf(RD_BOOL, VALUES(1, 0)), &out) == RD_OK);
    ck_assert(out.type == RD_C64 && ((float *)out.data)[0] == 1 && ((float *)out.data)[1] == 3);
    rd_array_free(&out);
}
END_TEST

START_TEST(picked_into_memory)
{
    rd_expr *x      = leaf(RD_F32, VALUES(5, -1, 6, -2, 7));
    rd_expr *mask   = rd_gt(x, rd_num(ctx, 0));
    float    room[] = { 9, 9, 9, 9, 9, 9 };
    double   wide[6];
    int64_t  at[6] = { 0 };
    rd_array dense = *RD_INTO(room, RD_SHAPE(6)), apart = *RD_INTO(room, RD_SHAPE(3));
    rd_array doubles = *RD_INTO(wide, RD_SHAPE(3)), indices = *RD_INTO(at, RD_SHAPE(6, 1));

    ck_assert(rd_compress(ctx, x, mask, &dense) == RD_OK);
    expect_array("with room", &dense, RD_F32, RD_SHAPE(3), VALUES(5, 6, 7));
    ck_assert(room[3] == 9);
    apart.strides = RD_STRIDES(2);
    ck_assert(rd_compress(ctx, x, mask, &apart) == RD_OK);
    ck_assert(room[0] == 5 && room[1] == 6 && room[2] == 6 && room[4] == 7 && room[5] == 9);
    ck_assert(rd_compress(ctx, x, mask, &doubles) == RD_OK);
    ck_assert(wide[0] == 5 && wide[1] == 6 && wide[2] == 7);
    ck_assert(rd_nonzero(ctx, mask, &indices) == RD_OK);
    expect_array("indices", &indices, RD_I64, RD_SHAPE(3, 1), VALUES(0, 2, 4));

    float    own[] = { 1, -1, 2, 3, -4, 5 };
    rd_expr *y     = rd_wrap(ctx, own, RD_SHAPE(6));
    rd_array over  = *RD_INTO(own, RD_SHAPE(6));
    ck_assert(rd_compress(ctx, y, rd_gt(y, rd_num(ctx, 0)), &over) == RD_OK);
    expect_array("over its input", &over, RD_F32, RD_SHAPE(4), VALUES(1, 2, 3, 5));
}
END_TEST

START_TEST(first_place)
{
    rd_expr *x = leaf_shape(RD_I32, RD_SHAPE(2, 3), VALUES(0, 0, 0, 0, 7, 7));

    ck_assert(rd_find_first(ctx, x) == 4);
    ck_assert(rd_find_first(ctx, rd_transpose(x)) == 3);
    ck_assert(rd_find_first(ctx, rd_gt(x, rd_int(ctx, 7))) == -1);
    ck_assert(rd_find_first(ctx, rd_slice(x, "0:0")) == -1);
    ck_assert(rd_find_first(ctx, rd_num(ctx, 1)) == 0);
    ck_assert(rd_error(ctx) == RD_OK);
}
END_TEST

/* ---- Many elements --------------------------------------------------------------------------- */
/* Of a function of the places, with all shapes of pieces and blocks: rows that are longer, and shorter. */
static bool is_true(int64_t i)
{
    return (uint32_t)i * 2654435761U >> 28 < 5 && i / 5000 % 3 != 1;
}

static void compare_many(const rd_shape shape, int threads)
{
    rd_ctx *many = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = threads });
    int64_t n = 1, found = 0;
    for (int a = 0; a < shape.n; a++)
        n *= shape.at[a];
    int32_t *x = malloc(sizeof *x * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        x[i] = is_true(i) ? (int32_t)i + 1 : -(int32_t)i - 1;
    rd_expr *leaf_x = rd_wrap(many, x, shape), *mask = rd_gt(leaf_x, rd_int(many, 0));
    rd_array places_at = { 0 }, values_at = { 0 }, twice = { 0 };

    ck_assert(rd_nonzero(many, mask, &places_at) == RD_OK);
    ck_assert(rd_compress(many, leaf_x, mask, &values_at) == RD_OK);
    ck_assert(rd_compress(many, rd_mul(leaf_x, rd_int(many, 2)), mask, &twice) == RD_OK);
    for (int64_t i = 0; i < n; i++) {
        int64_t flat = 0;

        if (x[i] < 0)
            continue;
        for (int a = 0; a < shape.n; a++)
            flat = flat * shape.at[a] + ((int64_t *)places_at.data)[found * shape.n + a];
        ck_assert_msg(flat == i, "place %lld is %lld", (long long)i, (long long)flat);
        ck_assert(((int32_t *)values_at.data)[found] == x[i]);
        ck_assert(((int32_t *)twice.data)[found++] == 2 * x[i]);
    }
    ck_assert(places_at.shape.at[0] == found && values_at.shape.at[0] == found);
    ck_assert(rd_find_first(many, rd_eq(leaf_x, rd_int(many, x[n - 7]))) == n - 7);
    rd_array_free(&places_at);
    rd_array_free(&values_at);
    rd_array_free(&twice);
    rd_ctx_free(many);
    free(x);
}

START_TEST(picked_in_pieces)
{
    static const rd_shape shapes[] = { { 1, 0, { 600001 } },
                                       { 2, 0, { 300, 2001 } },
                                       { 2, 0, { 3, 300007 } },
                                       { 3, 0, { 200001, 3, 1 } },
                                       { 3, 0, { 5, 7, 9 } } };

    for (size_t k = 0; k < COUNT(shapes); k++)
        compare_many(shapes[k], 1 + (int)(k % 3));
}
END_TEST

/* ---- Errors ---------------------------------------------------------------------------------- */
static void expect_failure(const char *what, rd_status got, rd_status want)
{
    ck_assert_msg(got == want && rd_error_text(ctx)[0], "%s: %s", what, rd_status_name(got));
    rd_error_clear(ctx);
}

START_TEST(pick_refusals)
{
    rd_expr *x      = leaf_shape(RD_F32, RD_SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
    float    few[1] = { 0 };
    rd_array none = { 0 }, small = *RD_INTO(few, RD_SHAPE(1)), flat = *RD_INTO(few, RD_SHAPE(1, 1));
    rd_array ints = { .data = few, .type = RD_I32, .shape = RD_SHAPE(1) };

    expect_failure("no mask", rd_nonzero(ctx, NULL, &none), RD_ERR_ARGUMENT);
    expect_failure("no output", rd_nonzero(ctx, x, NULL), RD_ERR_ARGUMENT);
    expect_failure("no x", rd_compress(ctx, NULL, x, &none), RD_ERR_ARGUMENT);
    expect_failure("shapes", rd_compress(ctx, x, leaf(RD_BOOL, VALUES(1, 1)), &none), RD_ERR_SHAPE);
    expect_failure("no room", rd_compress(ctx, x, x, &small), RD_ERR_SHAPE);
    expect_failure("rank", rd_compress(ctx, x, rd_eq(x, rd_num(ctx, 1)), &flat), RD_ERR_SHAPE);
    expect_failure("type", rd_compress(ctx, x, rd_eq(x, rd_num(ctx, 1)), &ints), RD_ERR_TYPE);
    expect_failure("axis", rd_compress_axis(ctx, x, 2, leaf(RD_BOOL, VALUES(1, 1)), &none),
                   RD_ERR_AXIS);
    expect_failure("a mask of another extent",
                   rd_compress_axis(ctx, x, 1, leaf(RD_BOOL, VALUES(1, 1)), &none), RD_ERR_SHAPE);
    ck_assert(rd_find_first(ctx, NULL) == -1);
    expect_failure("first of nothing", rd_error(ctx), RD_ERR_ARGUMENT);
    ck_assert(!none.data && few[0] == 0);
    ck_assert(rd_nonzero(NULL, NULL, &none) == RD_ERR_ARGUMENT);
    ck_assert(rd_compress(NULL, x, x, &none) == RD_ERR_ARGUMENT);
    ck_assert(rd_compress_axis(NULL, x, 0, x, &none) == RD_ERR_ARGUMENT);
    ck_assert(rd_unique(NULL, x, &none, NULL, NULL) == RD_ERR_ARGUMENT);

    rd_ctx  *theirs = rd_ctx_new(NULL);
    rd_expr *other = rd_num(theirs, 1), *number = rd_num(ctx, 1);
    rd_array askew = *RD_INTO(few, RD_SHAPE(1));

    askew.strides = RD_STRIDES(1, 1);
    expect_failure("a mask of theirs", rd_nonzero(ctx, other, &none), RD_ERR_ARGUMENT);
    expect_failure("an array of theirs", rd_compress(ctx, other, x, &none), RD_ERR_ARGUMENT);
    expect_failure("values of theirs", rd_unique(ctx, other, &none, NULL, NULL), RD_ERR_ARGUMENT);
    expect_failure("nowhere for values", rd_unique(ctx, x, NULL, NULL, NULL), RD_ERR_ARGUMENT);
    expect_failure("two strides", rd_compress(ctx, x, rd_eq(x, number), &askew), RD_ERR_SHAPE);
    expect_failure("a mask of no axis", rd_compress_axis(ctx, x, 0, number, &none), RD_ERR_SHAPE);
    expect_failure("another axis' places",
                   rd_compress_axis(ctx, x, 0, leaf(RD_BOOL, VALUES(1, 1)), &small), RD_ERR_SHAPE);
    rd_ctx_free(theirs);
    ck_assert(!none.data && few[0] == 0);

    rd_ctx *tight =
        rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .memory_limit = 1 << 20 });
    rd_expr *long_ = rd_eq(rd_random_bits(tight, 1, RD_SHAPE(1 << 20)), rd_int(tight, 0));
    ck_assert(rd_nonzero(tight, rd_not(long_), &none) == RD_ERR_MEMORY && !none.data);
    rd_ctx_free(tight);
}
END_TEST

/* Values, how often they occur, and which of them each element is. */
static void distinct_are(const char *what, rd_expr *x, rd_dtype type, const double *value, int n,
                         const double *count)
{
    rd_array values = { 0 }, counts = { 0 }, inverse = { 0 };

    ck_assert_msg(rd_unique(ctx, x, &values, &counts, &inverse) == RD_OK, "%s: %s", what,
                  rd_error_text(ctx));
    expect_array(what, &values, type, RD_SHAPE(n), value, n);
    expect_array(what, &counts, RD_I64, RD_SHAPE(n), count, n);

    rd_expr *const y    = rd_take(rd_leaf(ctx, &values), 0, rd_leaf(ctx, &inverse));
    rd_expr *const same = rd_or(rd_eq(x, y), rd_and(rd_ne(x, x), rd_ne(y, y)));
    expect(what, rd_all(same, RD_ALL), RD_BOOL, VALUES(1));
    ck_assert(rd_shape_of(y).n == rd_shape_of(x).n);
    rd_array_free(&values);
    rd_array_free(&counts);
    rd_array_free(&inverse);
}

START_TEST(distinct)
{
    rd_expr *x   = leaf_shape(RD_I32, RD_SHAPE(2, 3), VALUES(7, -2, 7, 0, -2, 7));
    rd_expr *nan = leaf(RD_F32, VALUES(NAN, 1, INFINITY, NAN, -INFINITY, 1));
    int8_t   few[2], many[6];
    rd_array room = { .data = many, .type = RD_I8, .shape = RD_SHAPE(6) }, none = { 0 };

    distinct_are("a matrix", x, RD_I32, VALUES(-2, 0, 7), (const double[]){ 2, 1, 3 });
    distinct_are("NaN", nan, RD_F32, VALUES(-INFINITY, 1, INFINITY, NAN),
                 (const double[]){ 1, 2, 1, 2 });
    distinct_are("an expression", rd_abs(rd_transpose(x)), RD_I32, VALUES(0, 2, 7),
                 (const double[]){ 1, 2, 3 });
    distinct_are("bools", rd_gt(x, rd_int(ctx, 0)), RD_BOOL, VALUES(0, 1),
                 (const double[]){ 3, 3 });
    distinct_are("a number", rd_num(ctx, 4), RD_F64, VALUES(4), (const double[]){ 1 });
    distinct_are("nothing", rd_slice(x, "0, :0"), RD_I32, NULL, 0, NULL);
    for (int k = 0; k < 6; k++)
        many[k] = (int8_t)(k % 2 ? 9 : 5);
    ck_assert(rd_unique(ctx, rd_leaf(ctx, &room), &room, NULL, NULL) == RD_OK);
    expect_array("over x, with room", &room, RD_I8, RD_SHAPE(2), VALUES(5, 9));
    room = (rd_array){ .data = few, .type = RD_I8, .shape = RD_SHAPE(2) };
    ck_assert(rd_unique(ctx, rd_cast(x, RD_I8), &room, &none, NULL) == RD_ERR_SHAPE);
    ck_assert(!none.data && none.shape.n == 0);
    rd_error_clear(ctx);
    ck_assert(rd_unique(ctx, rd_complex(nan, nan), &none, NULL, NULL) == RD_ERR_TYPE);
    rd_error_clear(ctx);
    ck_assert(rd_unique(ctx, x, NULL, NULL, NULL) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { true_places, picked,           picked_into_memory,
                                   first_place, picked_in_pieces, pick_refusals,
                                   distinct };

    return run_suite("semantics_picks", tests, COUNT(tests));
}
