/* Leaves and views: shapes, which elements, one form of equal views. */
#include "expr/expr.h"
#include "suite.h"
#include <math.h>
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

static bool has_shape(const rd_expr *x, rd_shape want)
{
    return x && x->rank == want.n &&
           memcmp(x->extent, want.at, (size_t)want.n * sizeof *want.at) == 0;
}

/* The element of a dense leaf, as its number in C order, that a view shows at index i. */
static int64_t element(const rd_expr *x, const int64_t *i)
{
    const rd_expr *base   = x->kind == RD_EXPR_VIEW ? x->in[0] : x;
    const int64_t *number = x->as.view->number;
    int64_t        flat   = 0;

    ck_assert_int_eq(base->kind, RD_EXPR_LEAF);
    for (int a = 0; a < base->rank; a++) {
        int64_t at = x == base ? i[a] : number[a];
        for (int k = 0; x != base && k < x->rank; k++)
            at += number[base->rank + a * x->rank + k] * i[k];
        ck_assert(at >= 0 && at < base->extent[a]);
        flat = flat * base->extent[a] + at;
    }
    return flat;
}

/* The next index in C order; false after the last. */
static bool advance(const rd_expr *x, int64_t *i)
{
    for (int a = x->rank - 1; a >= 0; a--) {
        if (++i[a] < x->extent[a])
            return true;
        i[a] = 0;
    }
    return false;
}

/* ---- Which elements -------------------------------------------------------------------------- */
static const struct {
    const char *text;
    rd_shape    want;
    int64_t     elements[21]; /* in C order, ended by -1; none: not looked at */
} slices[] = {
    /* of shape (4, 5): element (i, j) is 5 i + j */
    { "1", { 1, 0, { 5 } }, { 5, 6, 7, 8, 9, -1 } },
    { "-1, -2", { 0, 0, { 0 } }, { 18, -1 } },
    { ":, 0", { 1, 0, { 4 } }, { 0, 5, 10, 15, -1 } },
    { "::-1, 1", { 1, 0, { 4 } }, { 16, 11, 6, 1, -1 } },
    { "1:3, 3:", { 2, 0, { 2, 2 } }, { 8, 9, 13, 14, -1 } },
    { "::2, ::3", { 2, 0, { 2, 2 } }, { 0, 3, 10, 13, -1 } },
    { "-1:0:-2, -1", { 1, 0, { 2 } }, { 19, 9, -1 } },
    { "..., 4", { 1, 0, { 4 } }, { 4, 9, 14, 19, -1 } },
    { "3, ..., 4", { 0, 0, { 0 } }, { 19, -1 } },
    { "...", { 2, 0, { 4, 5 } }, { -1 } },
    { "new, 0, new, 1:2", { 3, 0, { 1, 1, 1 } }, { 1, -1 } },
    { "..., new", { 3, 0, { 4, 5, 1 } }, { -1 } },
    { "0, ..., new", { 2, 0, { 5, 1 } }, { 0, 1, 2, 3, 4, -1 } },
    { "2:2", { 2, 0, { 0, 5 } }, { -1 } },
    { "3:1", { 2, 0, { 0, 5 } }, { -1 } },
    { "-100:100, 100:", { 2, 0, { 4, 0 } }, { -1 } },
    { "100::-100, 0", { 1, 0, { 1 } }, { 15, -1 } },
    { "0, ::9223372036854775807", { 1, 0, { 1 } }, { 0, -1 } },
    { "0, ::-9223372036854775807", { 1, 0, { 1 } }, { 4, -1 } },
    { " 1 : 2 ,\t0 ", { 1, 0, { 1 } }, { 5, -1 } },
    { ":,:", { 2, 0, { 4, 5 } }, { -1 } },
};

START_TEST(slice_elements)
{
    rd_expr       *y              = rd_slice(leaf(RD_SHAPE(4, 5)), slices[_i].text);
    const int64_t *want           = slices[_i].elements;
    int64_t        i[RD_MAX_RANK] = { 0 };

    ck_assert_msg(has_shape(y, slices[_i].want), "\"%s\"", slices[_i].text);
    if (*want < 0)
        return;
    do
        ck_assert_msg(element(y, i) == *want++, "\"%s\"", slices[_i].text);
    while (advance(y, i));
    ck_assert_int_eq(*want, -1);
}
END_TEST

/* Python's meaning, by walking. */
static int walk(int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *seen)
{
    int n = 0;

    if (start == RD_OPEN)
        start = step > 0 ? 0 : extent - 1;
    else if (start < 0)
        start += extent;
    if (stop == RD_OPEN)
        stop = step > 0 ? extent : -1;
    else if (stop < 0)
        stop = stop + extent < 0 ? -1 : stop + extent;
    if (start < 0 && step > 0)
        start = 0;
    if (start >= extent && step < 0)
        start = extent - 1;
    while (start >= 0 && start < extent && (step > 0 ? start < stop : start > stop)) {
        seen[n++] = start;
        if (step > extent || step < -extent)
            break;
        start += step;
    }
    return n;
}

START_TEST(range_elements)
{
    const int64_t  extent = _i, steps[] = { 1, 2, 3, INT64_MAX, -1, -2, -3, INT64_MIN };
    rd_expr *const x = leaf(RD_SHAPE(extent));
    int64_t        seen[8];

    for (int64_t from = -8; from <= 8; from++)
        for (int64_t to = -8; to <= 8; to++)
            for (int s = 0; s < COUNT(steps); s++) {
                const int64_t  start = from == -8 ? RD_OPEN : from, stop = to == -8 ? RD_OPEN : to;
                const int      n = walk(extent, start, stop, steps[s], seen);
                const rd_expr *y = rd_slice_axis(x, 0, start, stop, steps[s]);
                ck_assert(has_shape(y, RD_SHAPE(n)));
                for (int64_t k = 0; k < n; k++)
                    ck_assert_int_eq(element(y, &k), seen[k]);
            }
}
END_TEST

/* ---- A view of a view ------------------------------------------------------------------------ */
static uint64_t random_state;

static int64_t random_below(int64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* The same view of two operands of one shape. */
static void random_view(rd_expr *x[2])
{
    const int kind = (int)random_below(9), rank = x[0]->rank;
    const int axis = rank ? (int)random_below(rank) : 0, other = rank ? (int)random_below(rank) : 0;
    const int64_t n = rank ? x[0]->extent[axis] : 0, a = random_below(n + 1),
                  b    = random_below(n + 1);
    const int64_t step = random_below(5) - 2, place = random_below(rank + 1),
                  repeat = random_below(3) + 1;
    rd_index order       = rd_shape_of(x[0]);
    rd_shape wide        = rd_shape_of(x[0]);

    for (int k = 0; k < rank; k++) {
        order.at[k] = (k + axis) % rank;
        wide.at[k]  = wide.at[k] == 1 ? repeat : wide.at[k];
    }
    for (int k = 0; k < 2; k++) {
        if (kind == 0)
            x[k] = rd_expand(x[k], (int)place);
        else if (kind == 1)
            x[k] = rd_broadcast(x[k], wide);
        else if (rank == 0)
            continue;
        else if (kind == 2 && n > 0)
            x[k] = rd_select(x[k], axis, a % n);
        else if (kind == 3)
            x[k] = rd_slice_axis(x[k], axis, a, step > 0 ? RD_OPEN : b, step ? step : 1);
        else if (kind == 4)
            x[k] = rd_flip(x[k], RD_DIMS(axis));
        else if (kind == 5)
            x[k] = rd_permute(x[k], order);
        else if (kind == 6 && axis != other)
            x[k] = rd_diagonal(x[k], axis, other, a - b);
        else if (kind == 7 && rank < 6)
            x[k] = rd_window(x[k], axis, repeat, repeat % 2 + 1);
        else if (kind == 8)
            x[k] = rd_transpose(x[k]);
    }
}

/* A view composed with those before it shows what the same view of a fresh leaf shows of their
 * elements. */
START_TEST(views_compose)
{
    int64_t *flat = NULL; /* elements that the view so far shows */

    random_state = (uint64_t)_i;
    for (rd_expr *y = leaf(RD_SHAPE(5, 3, 4)); y; y = random_below(8) ? y : NULL) {
        rd_expr      *pair[2]        = { y, leaf(rd_shape_of(y)) };
        const int64_t points         = rd_points(y->rank, y->extent);
        int64_t       i[RD_MAX_RANK] = { 0 }, *next;
        if (points > 1024)
            break;
        random_view(pair);
        ck_assert_msg(pair[0] && pair[1], "%s", rd_error_text(ctx));
        ck_assert(has_shape(pair[0], rd_shape_of(pair[1])));
        ck_assert(pair[0]->kind != RD_EXPR_VIEW || pair[0]->in[0]->kind == RD_EXPR_LEAF);
        y    = pair[0];
        next = calloc((size_t)rd_points(y->rank, y->extent) + 1, sizeof *next);
        for (int64_t k = 0, end = rd_points(y->rank, y->extent); k < end; k++, advance(y, i)) {
            const int64_t shown = element(pair[1], i);
            next[k]             = flat ? flat[shown] : shown;
            ck_assert_int_eq(element(y, i), next[k]);
        }
        free(flat);
        flat = next;
    }
    free(flat);
}
END_TEST

START_TEST(equal_views_are_one)
{
    rd_expr *x = leaf(RD_SHAPE(4, 5)), *one = leaf(RD_SHAPE(1, 5)), *n = rd_num(ctx, 2), *wide;

    const struct {
        const char    *what;
        const rd_expr *a, *b;
    } rows[] = {
        { "all", rd_slice(x, "..."), x },
        { "flip twice", rd_flip(rd_flip(x, RD_ALL), RD_DIMS(1, 0)), x },
        { "flip of nothing", rd_flip(x, RD_NONE), x },
        { "transposed twice", rd_transpose(rd_transpose(x)), x },
        { "own shape", rd_broadcast(x, RD_SHAPE(4, 5)), x },
        { "expand, squeeze", rd_squeeze(rd_expand(x, 1), RD_DIMS(1)), x },
        { "expand, select", rd_select(rd_expand(x, -1), 2, 0), x },
        { "flip of extent 1", rd_flip(one, RD_DIMS(0)), one },
        { "range of extent 1", rd_slice_axis(one, 0, 0, 1, 7), one },
        { "two steps of slicing", rd_slice(rd_slice(x, "1:, ::2"), "::2, 1"),
          rd_slice(x, "1::2, 2") },
        { "one row, two ways", rd_slice_axis(x, 0, 2, 3, 1), rd_slice_axis(x, 0, 2, -5, -4) },
        { "nothing, two ways", rd_slice_axis(x, 0, 3, 3, 1), rd_slice_axis(x, 0, 1, 0, 1) },
        { "reshape to own", rd_reshape(x, RD_SHAPE(4, -1)), x },
        { "reshape there and back", rd_reshape(rd_reshape(x, RD_SHAPE(20)), RD_SHAPE(4, 5)), x },
        { "reshape with 1", rd_reshape(x, RD_SHAPE(4, 1, 5)), rd_expand(x, 1) },
        { "windows of 1", rd_window(x, 1, 1, 1), rd_expand(x, 2) },
        { "diagonal as text", rd_diagonal(x, 0, 1, 4), rd_expand(rd_slice(x, "0, 4"), 0) },
        { "transpose of rank 1", rd_transpose(rd_select(x, 0, 0)), rd_select(x, 0, 0) },
        { "a number as it is", rd_broadcast(n, RD_SCALAR), n },
    };
    for (int k = 0; k < COUNT(rows); k++)
        ck_assert_msg(rows[k].a && rows[k].a == rows[k].b, "%s", rows[k].what);
    wide = rd_broadcast(n, RD_SHAPE(3, 0, 2));
    ck_assert(wide->kind == RD_EXPR_VIEW && wide->as_size == 0 && !wide->weak &&
              !wide->in[0]->weak);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
}
END_TEST

/* ---- Shapes and types ------------------------------------------------------------------------ */
START_TEST(shapes)
{
    rd_expr *x = leaf(RD_SHAPE(4, 5, 6)), *empty = leaf(RD_SHAPE(0, 3)),
            *ones = leaf(RD_SHAPE(1, 5, 1));
    rd_expr *i32 = rd_cast(leaf(RD_SHAPE(7, 2)), RD_I32), *i8 = rd_cast(leaf(RD_SHAPE(3)), RD_I8);

    const struct {
        const char    *what;
        const rd_expr *y;
        rd_shape       want;
    } rows[] = {
        { "scalar", leaf(RD_SCALAR), RD_SCALAR },
        { "number", rd_num(ctx, 1), RD_SCALAR },
        { "coord", rd_coord(x, -2), RD_SHAPE(1, 5, 1) },
        { "select", rd_select(x, 1, -5), RD_SHAPE(4, 6) },
        { "range", rd_slice_axis(x, -1, 1, RD_OPEN, 2), RD_SHAPE(4, 5, 3) },
        { "permute", rd_permute(x, RD_INDEX(2, 0, -2)), RD_SHAPE(6, 4, 5) },
        { "permute of a scalar", rd_permute(rd_num(ctx, 1), RD_SCALAR), RD_SCALAR },
        { "transpose", rd_transpose(x), RD_SHAPE(4, 6, 5) },
        { "reshape", rd_reshape(x, RD_SHAPE(20, -1)), RD_SHAPE(20, 6) },
        { "reshape to a scalar", rd_reshape(leaf(RD_SHAPE(1, 1)), RD_SCALAR), RD_SCALAR },
        { "reshape that drops 1s", rd_reshape(ones, RD_SHAPE(5)), RD_SHAPE(5) },
        { "reshape of nothing", rd_reshape(empty, RD_SHAPE(5, 0)), RD_SHAPE(5, 0) },
        { "reshape of nothing, -1", rd_reshape(empty, RD_SHAPE(-1, 3)), RD_SHAPE(0, 3) },
        { "reshape of a scalar", rd_reshape(leaf(RD_SCALAR), RD_SHAPE(-1)), RD_SHAPE(1) },
        { "broadcast", rd_broadcast(ones, RD_SHAPE(2, 3, 5, 4)), RD_SHAPE(2, 3, 5, 4) },
        { "broadcast to nothing", rd_broadcast(ones, RD_SHAPE(0, 5, 1)), RD_SHAPE(0, 5, 1) },
        { "expand first", rd_expand(x, 0), RD_SHAPE(1, 4, 5, 6) },
        { "expand before the last", rd_expand(x, -2), RD_SHAPE(4, 5, 1, 6) },
        { "expand last", rd_expand(x, 3), RD_SHAPE(4, 5, 6, 1) },
        { "expand of a scalar", rd_expand(rd_num(ctx, 1), -1), RD_SHAPE(1) },
        { "squeeze one", rd_squeeze(ones, RD_DIMS(-1)), RD_SHAPE(1, 5) },
        { "squeeze except", rd_squeeze(ones, RD_EXCEPT(1)), RD_SHAPE(5) },
        { "squeeze none", rd_squeeze(ones, RD_NONE), RD_SHAPE(1, 5, 1) },
        { "flip", rd_flip(x, RD_DIMS(0, -1)), RD_SHAPE(4, 5, 6) },
        { "diagonal", rd_diagonal(x, 0, 1, 0), RD_SHAPE(6, 4) },
        { "diagonal above", rd_diagonal(x, 0, 1, 3), RD_SHAPE(6, 2) },
        { "diagonal below", rd_diagonal(x, 0, 1, -1), RD_SHAPE(6, 3) },
        { "diagonal outside", rd_diagonal(x, 0, 1, 5), RD_SHAPE(6, 0) },
        { "diagonal far outside", rd_diagonal(x, 0, 1, INT64_MIN), RD_SHAPE(6, 0) },
        { "window", rd_window(x, 1, 3, 1), RD_SHAPE(4, 3, 6, 3) },
        { "window with steps", rd_window(x, 1, 2, 2), RD_SHAPE(4, 2, 6, 2) },
        { "window of all", rd_window(x, 1, 5, INT64_MAX), RD_SHAPE(4, 1, 6, 5) },
        { "window too wide", rd_window(x, 1, 6, 1), RD_SHAPE(4, 0, 6, 6) },
        { "take", rd_take(x, 1, i32), RD_SHAPE(4, 7, 2, 6) },
        { "take one", rd_take(x, 0, rd_int(ctx, -1)), RD_SHAPE(5, 6) },
        { "take along", rd_take_along(x, 1, rd_reshape(i32, RD_SHAPE(1, -1, 1))),
          RD_SHAPE(4, 14, 6) },
        { "take along, of one", rd_take_along(ones, 0, rd_reshape(i32, RD_SHAPE(-1, 1, 1))),
          RD_SHAPE(14, 5, 1) },
        { "take none of none", rd_take(empty, 0, rd_slice_axis(i8, 0, 0, 0, 1)), RD_SHAPE(0, 3) },
        { "concat", rd_concat(1, RD_EXPRS(x, rd_slice(x, ":, :2"), x)), RD_SHAPE(4, 12, 6) },
        { "concat of one", rd_concat(-1, RD_EXPRS(x)), RD_SHAPE(4, 5, 6) },
        { "concat with nothing", rd_concat(0, RD_EXPRS(leaf(RD_SHAPE(2, 3)), empty)),
          RD_SHAPE(2, 3) },
    };
    for (int k = 0; k < COUNT(rows); k++)
        ck_assert_msg(has_shape(rows[k].y, rows[k].want), "%s: %s", rows[k].what,
                      rd_error_text(ctx));
    ck_assert_int_eq(rd_shape_of(NULL).n, -1);
    ck_assert_int_eq(rd_type_of(NULL), RD_AUTO);
    ck_assert_int_eq(rd_type_of(rd_coord(x, 0)), RD_I64);
    ck_assert_int_eq(rd_type_of(rd_take(x, 1, i32)), RD_F32);
    ck_assert_int_eq(rd_type_of(rd_concat(0, RD_EXPRS(i8, rd_cast(i8, RD_U8)))), RD_I16);
    ck_assert_int_eq(rd_take(x, 0, rd_int(ctx, 1))->in[1]->weak, false);
}
END_TEST

/* Strides in elements; where nothing depends on them they are 0, so that equal layouts are equal
 * nodes. */
static const struct {
    const char *what;
    rd_array    array;
    int64_t     want[3];
} layouts[] = {
    { "C", { .type = RD_F32, .shape = { 3, 0, { 2, 3, 4 } } }, { 12, 4, 1 } },
    { "Fortran", { .type = RD_F32, .order = 1, .shape = { 3, 0, { 2, 3, 4 } } }, { 1, 2, 6 } },
    { "given",
      { .type = RD_F32, .shape = { 2, 0, { 2, 3 } }, .strides = { 2, 0, { -3, 0 } } },
      { -3, 0 } },
    { "extent 1",
      { .type = RD_F32, .shape = { 2, 0, { 1, 3 } }, .strides = { 2, 0, { 99, 1 } } },
      { 0, 1 } },
    { "nothing",
      { .type = RD_F32, .shape = { 2, 0, { 0, 3 } }, .strides = { 2, 0, { 99, 7 } } },
      { 0, 0 } },
    { "scalar", { .type = RD_F32 }, { 0 } },
};

START_TEST(layout)
{
    rd_array array = layouts[_i].array;
    rd_expr *x;

    array.in = data + 100;
    x        = rd_leaf(ctx, &array);
    ck_assert_msg(x, "%s: %s", layouts[_i].what, rd_error_text(ctx));
    for (int a = 0; a < x->rank; a++)
        ck_assert_msg(x->as.leaf->stride[a] == layouts[_i].want[a], "%s, axis %d", layouts[_i].what,
                      a);
    ck_assert(x->as.leaf->data && !x->as.leaf->name);
}
END_TEST

START_TEST(inputs)
{
    rd_expr *x = rd_input(ctx, "x", RD_INTO(data, RD_SHAPE(4, 5)));
    rd_mark  mark;

    ck_assert(x && !x->as.leaf->data && strcmp(x->as.leaf->name, "x") == 0);
    ck_assert_ptr_eq(
        rd_input(ctx, "x", RD_INTO(data + 9, RD_SHAPE(4, 5), .strides = RD_STRIDES(5, 1))), x);
    ck_assert_ptr_ne(rd_input(ctx, "y", RD_INTO(data, RD_SHAPE(4, 5))), x);
    mark = rd_ctx_mark(ctx);
    ck_assert_ptr_nonnull(rd_input(ctx, "z", RD_INTO(data, RD_SHAPE(4))));
    ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
    /* forgotten: a new one */
    ck_assert_ptr_nonnull(rd_input(ctx, "z", RD_INTO(data, RD_SHAPE(5))));
    ck_assert_ptr_eq(rd_input(ctx, "x", RD_INTO(data, RD_SHAPE(4, 5))), x);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
}
END_TEST

/* ---- What the rest of the library asks for --------------------------------------------------- */
static const struct {
    rd_shape shape[3];
    rd_shape want; /* n < 0: they do not fit */
} commons[] = {
    { { { 0 }, { 0 }, { 0 } }, { 0 } },
    { { { 2, 0, { 2, 3 } }, { 1, 0, { 3 } }, { 0 } }, { 2, 0, { 2, 3 } } },
    { { { 1, 0, { 3 } }, { 2, 0, { 2, 1 } }, { 3, 0, { 4, 1, 1 } } }, { 3, 0, { 4, 2, 3 } } },
    { { { 1, 0, { 1 } }, { 1, 0, { 0 } }, { 0 } }, { 1, 0, { 0 } } },
    { { { 1, 0, { 0 } }, { 1, 0, { 2 } }, { 0 } }, { -1, 0, { 0 } } },
    { { { 2, 0, { 2, 3 } }, { 1, 0, { 2 } }, { 0 } }, { -1, 0, { 0 } } },
};

START_TEST(common_shape)
{
    rd_expr *x[3];
    int64_t  extent[RD_MAX_RANK];
    int      rank;

    for (int k = 0; k < 3; k++)
        x[k] = leaf(commons[_i].shape[k]);
    if (commons[_i].want.n < 0) {
        ck_assert(!rd_common_shape("rd_call", 3, x, &rank, extent));
        ck_assert_int_eq(rd_error(ctx), RD_ERR_SHAPE);
        ck_assert(strstr(rd_error_text(ctx),
                         "rd_call: shapes do not broadcast: operand 1 has shape (2), operand 0"));
    } else {
        ck_assert(rd_common_shape("rd_call", 3, x, &rank, extent));
        ck_assert_int_eq(rank, commons[_i].want.n);
        ck_assert_int_eq(memcmp(extent, commons[_i].want.at, (size_t)rank * sizeof *extent), 0);
    }
}
END_TEST

START_TEST(common_shape_overflows)
{
    rd_expr *large = rd_broadcast(leaf(RD_SCALAR), RD_SHAPE(INT64_C(1) << 40));
    rd_expr *x[2]  = { large, rd_expand(large, 1) };
    int64_t  extent[RD_MAX_RANK];
    int      rank;

    ck_assert(!rd_common_shape("rd_call", 2, x, &rank, extent));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_SHAPE);
    ck_assert(strstr(rd_error_text(ctx), "overflows, (1099511627776, 1099511627776)"));
}
END_TEST

START_TEST(points)
{
    const int64_t top = INT64_C(1) << 62;

    ck_assert_int_eq(rd_points(0, NULL), 1);
    ck_assert_int_eq(rd_points(2, (int64_t[]){ 3, 4 }), 12);
    ck_assert_int_eq(rd_points(2, (int64_t[]){ 0, 4 }), 0);
    ck_assert_int_eq(rd_points(2, (int64_t[]){ top, 1 }), top);
    ck_assert_int_eq(rd_points(2, (int64_t[]){ top, 2 }), -1);
    ck_assert_int_eq(rd_points(3, (int64_t[]){ 0, top, 2 }), -1);
    ck_assert_int_eq(rd_points(2, (int64_t[]){ 0, -1 }), -1);
    ck_assert_int_eq(rd_points(1, (int64_t[]){ INT64_MAX }), -1);
}
END_TEST

START_TEST(shape_texts)
{
    char    text[RD_SHAPE_TEXT];
    int64_t longest[40];

    ck_assert_str_eq(rd_shape_text(0, NULL, text), "()");
    ck_assert_str_eq(rd_shape_text(1, (int64_t[]){ 7 }, text), "(7)");
    ck_assert_str_eq(rd_shape_text(2, (int64_t[]){ 2, -3 }, text), "(2, -3)");
    for (int k = 0; k < 40; k++)
        longest[k] = INT64_MIN;
    ck_assert_uint_lt(strlen(rd_shape_text(40, longest, text)), RD_SHAPE_TEXT);
    ck_assert_str_eq(text + strlen(text) - 6, ", ...)");
}
END_TEST

/* Axes of a leaf (6, 7, 8), followed back from what is made of it. */
typedef enum made {
    AS_IT_IS,
    SLICED,
    PERMUTED,
    REDUCED,
    KEPT,
    GROUPED,
    SCANNED,
    SORTED,
    TAKEN,
    MAPPED,
    SECOND,
    REPEATED,
    DIAGONAL,
    WINDOWS,
    RESHAPED,
    ONE,
    NEW,
    JOINED,
    ROLLED,
    COMPLEX
} made;
static const struct source_case {
    made    made;
    int     axis, want; /* -1: none */
    int64_t offset, step;
} sources[] = {
    { AS_IT_IS, 1, 1, 0, 1 },  { AS_IT_IS, -1, 2, 0, 1 }, { SLICED, 0, 0, 5, -2 },
    { SLICED, 1, 2, 1, 3 },    { PERMUTED, 0, 2, 0, 1 },  { PERMUTED, 2, 1, 0, 1 },
    { REDUCED, 0, 0, 0, 1 },   { REDUCED, 1, 2, 0, 1 },   { KEPT, 2, 2, 0, 1 },
    { KEPT, 1, -1, 0, 0 },     { GROUPED, 0, 0, 0, 1 },   { GROUPED, 1, 2, 0, 1 },
    { GROUPED, 2, 2, 0, 1 },   { SCANNED, 1, 1, 0, 1 },   { SORTED, 2, -1, 0, 0 },
    { SORTED, 1, 1, 0, 1 },    { TAKEN, 1, -1, 0, 0 },    { TAKEN, 2, 0, 0, 1 },
    { TAKEN, 3, 2, 0, 1 },     { MAPPED, 0, 0, 2, 1 },    { SECOND, 2, 2, 0, 1 },
    { REPEATED, 0, -1, 0, 0 }, { REPEATED, 3, 2, 0, 1 },  { DIAGONAL, 1, -1, 0, 0 },
    { DIAGONAL, 0, 0, 0, 1 },  { WINDOWS, 1, 1, 0, 2 },   { RESHAPED, 0, 0, 0, 1 },
    { RESHAPED, 1, -1, 0, 0 }, { RESHAPED, 3, 2, 0, 1 },  { JOINED, 1, 1, 0, 1 },
    { ONE, 1, -1, 0, 0 },      { NEW, 0, -1, 0, 0 },      { JOINED, 0, 0, 3, 1 },
    { ROLLED, 2, 2, 1, 1 },    { COMPLEX, 2, 2, 0, 1 },
};

static rd_expr *make(made how, rd_expr *x)
{
    rd_expr *label = rd_leaf(
        ctx,
        &(rd_array){ .in = (int64_t *)(void *)data, .type = RD_I64, .shape = { 2, 0, { 7, 1 } } });

    switch (how) {
    case AS_IT_IS: return x;
    case SLICED: return rd_slice(x, "::-2, 3, 1::3");
    case PERMUTED: return rd_permute(x, RD_INDEX(2, 0, 1));
    case REDUCED: return rd_mean(x, RD_DIMS(1), .skip_nan = true);
    case KEPT: return rd_std(x, RD_KEEP(1));
    case GROUPED: return rd_sum(x, RD_DIMS(1), .by = RD_EXPRS(label), .groups = RD_SHAPE(4));
    case SCANNED: return rd_scan(x, "sum", RD_DIMS(1));
    case SORTED: return rd_sort(x, 2);
    case TAKEN: return rd_take(x, 1, rd_reshape(label, RD_SHAPE(1, 7)));
    case MAPPED: return rd_sqrt(rd_abs(rd_slice(x, "2:")));
    case SECOND: return rd_mul(rd_num(ctx, 2), rd_sub(rd_coord(x, 0), x));
    case REPEATED: return rd_broadcast(x, RD_SHAPE(5, 6, 7, 8));
    case DIAGONAL: return rd_diagonal(rd_slice(x, ":, :7, :7"), 1, 2, 0);
    case WINDOWS: return rd_max(rd_window(x, 1, 3, 2), RD_DIMS(-1));
    case RESHAPED: return rd_reshape(x, RD_SHAPE(6, 1, 7, 8));
    case ONE: return rd_slice(x, ":, 3:4");
    case NEW: return rd_expand(x, 0);
    case JOINED: return rd_slice(rd_concat(0, RD_EXPRS(x, x)), "3:");
    case ROLLED: return rd_rolling_mean(rd_slice(x, "..., 1:"), 2, 3);
    default: return rd_abs(rd_complex(x, rd_num(ctx, 1)));
    }
}

START_TEST(axis_sources)
{
    const struct source_case *c = &sources[_i];
    rd_expr                  *x = leaf((rd_shape){ 3, 0, { 6, 7, 8 } }), *y = make(c->made, x);
    rd_axis_from              from;

    ck_assert_msg(y, "%s", rd_error_text(ctx));
    ck_assert_int_eq(rd_axis_source(y, c->axis, &from), c->want >= 0);
    if (c->want >= 0) {
        if (c->made == JOINED && c->want == 0)
            ck_assert_int_eq(from.from->kind, RD_EXPR_CONCAT);
        else if (c->made == GROUPED && c->axis == 1)
            ck_assert_int_eq(from.from->kind, RD_EXPR_REDUCE);
        else if (c->made == TAKEN && (c->axis == 1 || c->axis == 2))
            ck_assert(from.from->kind == RD_EXPR_LEAF && from.from != x);
        else
            ck_assert_ptr_eq(from.from, x);
        ck_assert_int_eq(from.axis, c->want);
        ck_assert_int_eq(from.offset, c->offset);
        ck_assert_int_eq(from.step, c->step);
    } else
        ck_assert(!from.from);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
}
END_TEST

START_TEST(elements_come_from)
{
    rd_expr *x     = leaf((rd_shape){ 2, 0, { 6, 7 } });
    rd_expr *index = rd_leaf(
        ctx,
        &(rd_array){ .in = (int64_t *)(void *)data, .type = RD_I64, .shape = { 1, 0, { 3 } } });

    ck_assert_ptr_eq(rd_elements_of(x), x);
    ck_assert_ptr_eq(rd_elements_of(rd_expand(rd_slice(x, "::2, 3:"), 1)), x);
    ck_assert_ptr_eq(rd_elements_of(rd_reshape(rd_transpose(x), RD_SHAPE(42))), x);
    ck_assert_ptr_eq(rd_elements_of(rd_slice(rd_take(x, 0, index), "1")), x);
    ck_assert_ptr_ne(rd_elements_of(rd_add(x, x)), x);
    ck_assert_ptr_ne(rd_elements_of(rd_concat(0, RD_EXPRS(x, x))), x);
    ck_assert(!rd_elements_of(NULL));
}
END_TEST

/* Which part of a leaf (6, 7, 8) formulas read: first places and extents. */
static const struct part_case {
    const char *formula;
    int64_t     first[3], n[3];
} parts[] = {
    { "x", { 0 }, { 6, 7, 8 } },
    { "x[2]", { 2, 0, 0 }, { 1, 7, 8 } },
    { "mean(x[1:3, ::2, 5])", { 1, 0, 5 }, { 2, 7, 1 } },
    { "(2 * x + 1)[1:5:3, -1]", { 1, 6, 0 }, { 4, 1, 8 } },
    { "x[1, 1:3] + x[4, 2:4]", { 1, 1, 0 }, { 4, 3, 8 } },
    { "x[4:1:-2]", { 2, 0, 0 }, { 3, 7, 8 } },
    { "mean(x, axis=0)[2, 3:5]", { 0, 2, 3 }, { 6, 1, 2 } },
    { "cumsum(x, axis=1)[3]", { 3, 0, 0 }, { 1, 7, 8 } },
    { "sort(x, axis=2)[3, 4]", { 3, 4, 0 }, { 1, 1, 8 } },
    { "concat((x, x), axis=0)[7:9]", { 1, 0, 0 }, { 2, 7, 8 } },
    { "concat((x, 2 * x), axis=0)[0:3, 1]", { 0, 1, 0 }, { 3, 1, 8 } },
    { "transpose(x)[:, 1:3]", { 0, 0, 1 }, { 6, 7, 2 } },
    { "x[1][arange(3) + 2]", { 1, 0, 0 }, { 1, 7, 8 } },
    { "reshape(x, (42, 8))[0]", { 0 }, { 6, 7, 8 } },
    { "1.5", { 0 }, { 0 } },
};

START_TEST(parts_read)
{
    const struct part_case *c = &parts[_i];
    rd_expr                *x = leaf((rd_shape){ 3, 0, { 6, 7, 8 } });
    rd_expr                *y = rd_formula(ctx, c->formula, (rd_names){ &(rd_name){ "x", x }, 1 });
    rd_part                 part;

    ck_assert_msg(y, "%s: %s", c->formula, rd_error_text(ctx));
    ck_assert(rd_part_read(ctx, RD_RESULTS({ y, NULL }), x, &part));
    for (int a = 0; a < 3; a++)
        ck_assert_msg(part.shape.at[a] == c->n[a] &&
                          (part.first.at[a] == c->first[a] || c->n[a] == 0),
                      "%s: axis %d from %lld on, %lld", c->formula, a, (long long)part.first.at[a],
                      (long long)part.shape.at[a]);
}
END_TEST

START_TEST(parts_refused)
{
    rd_expr *x = leaf((rd_shape){ 1, 0, { 6 } });
    rd_part  part;

    ck_assert(!rd_part_read(ctx, RD_RESULTS({ x, NULL }), rd_neg(x), &part) &&
              strstr(rd_error_text(ctx), "rd_part_read: not a leaf"));
    rd_error_clear(ctx);
    ck_assert(!rd_part_read(ctx, RD_RESULTS({ x, NULL }), x, NULL) &&
              rd_error(ctx) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(!rd_part_read(ctx, RD_RESULTS({ NULL, NULL }), x, &part) && part.shape.n == 0);
}
END_TEST

START_TEST(axis_sources_refused)
{
    rd_expr     *x = leaf((rd_shape){ 1, 0, { 6 } });
    rd_axis_from from;

    ck_assert(!rd_axis_source(NULL, 0, &from) && rd_error(ctx) == RD_OK);
    ck_assert(!rd_axis_source(x, 1, &from) && rd_error(ctx) == RD_ERR_AXIS);
    rd_error_clear(ctx);
    ck_assert(!rd_axis_source(x, 0, NULL) && rd_error(ctx) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    /* More ways than there are nodes: it ends, and finds nothing. */
    rd_expr *y =
        rd_broadcast(rd_coord(leaf((rd_shape){ 1, 0, { 8 } }), 0), (rd_shape){ 2, 0, { 4, 8 } });
    for (int k = 0; k < 60; k++)
        y = rd_add(rd_mul(y, y), rd_sub(rd_neg(y), rd_abs(y)));
    ck_assert(y && !rd_axis_source(y, 1, &from));
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("expr");
    TCase   *tc     = tcase_create("expr");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, slice_elements, 0, COUNT(slices));
    tcase_add_loop_test(tc, range_elements, 0, 7);
    tcase_add_loop_test(tc, views_compose, 0, 200);
    tcase_add_test(tc, equal_views_are_one);
    tcase_add_test(tc, shapes);
    tcase_add_loop_test(tc, layout, 0, COUNT(layouts));
    tcase_add_test(tc, inputs);
    tcase_add_loop_test(tc, common_shape, 0, COUNT(commons));
    tcase_add_test(tc, common_shape_overflows);
    tcase_add_test(tc, points);
    tcase_add_test(tc, shape_texts);
    tcase_add_loop_test(tc, axis_sources, 0, COUNT(sources));
    tcase_add_test(tc, elements_come_from);
    tcase_add_test(tc, axis_sources_refused);
    tcase_add_loop_test(tc, parts_read, 0, (int)(sizeof parts / sizeof *parts));
    tcase_add_test(tc, parts_refused);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
