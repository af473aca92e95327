/* test_bytes.c - sums of small ints in narrow states: by compiled loops what the scalar
 * interpreter says, where elements are as large as their type has them, in rows and columns that
 * end at, before and behind the ends of blocks, in one task and in several; and which type the
 * states have. */
#include "nests.h"
#include "core/value_ranges.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

/* ---- Leaves ----------------------------------------------------------------------------------- */
typedef enum filling { ALL_MOST, ALL_LEAST, BOTH, FILLINGS } filling;

static const rd_dtype types[] = { RD_BOOL, RD_U8, RD_I8, RD_U16, RD_I16 };

static double element(rd_dtype type, filling how, int64_t i)
{
    const rd_range all = rd_range_of_type(type);

    return (double)(how == ALL_MOST || (how == BOTH && i % 3) ? all.high : all.low);
}

static rd_expr *filled(tile_memory *m, rd_dtype type, rd_shape shape, filling how)
{
    const int size = rd_dtype_size(type), slot = m->n;
    rd_expr  *x = nest_leaf(m, type, shape, ORDINARY);
    int64_t   n = 1;

    for (int a = 0; a < shape.n; a++)
        n *= shape.at[a];
    for (int64_t i = 0; i < n; i++)
        rd_word_store(m->slot[slot].before + i * size, type,
                      rd_word_from_double(element(type, how, i), type));
    return x;
}

/* ---- Bits ------------------------------------------------------------------------------------- */
/* Steps of a column: a block has 64.  Elements of a row: there are 32 lanes, so a block has 2048.
 * */
static const struct {
    int64_t rows, cols;
    int     axis;
} sizes[] = {
    { 63, 70, 0 },   { 64, 64, 0 }, { 65, 131, 0 }, { 129, 33, 0 }, { 257, 66, 0 }, { 3, 255, 1 },
    { 2, 256, 1 },   { 5, 257, 1 }, { 3, 2047, 1 }, { 2, 2048, 1 }, { 3, 2049, 1 }, { 2, 4097, 1 },
    { 1, 65537, 1 }, { 1, 9, 1 },   { 1, 17, 1 },   { 1, 31, 1 },
};

static void add_sums(nest_batch *b, rd_expr *x, rd_dims dims)
{
    rd_expr *most = rd_eq(x, rd_num(ctx, element(x->type, ALL_MOST, 0)));

    nest_add(b, rd_sum(x, dims));
    nest_add(b, rd_sum(most, dims));
    nest_add(b, rd_mean(most, dims));
    nest_add(b, rd_sum(x, dims, .where = rd_not(most)));
}

static void add_differences(nest_batch *b, rd_expr *x, rd_expr *y, rd_dims dims)
{
    rd_expr *p = rd_cast(x, RD_I32), *q = rd_cast(y, RD_I32);

    nest_add(b, rd_sum(rd_ne(x, y), dims));
    nest_add(b, rd_sum(rd_abs(rd_sub(p, q)), dims));
    nest_add(b, rd_sum(rd_sub(p, q), dims));
    nest_add(b, rd_sum(rd_mul(p, q), dims));
    nest_add(b, rd_sum(rd_minimum(rd_maximum(p, rd_int(ctx, -3)), rd_int(ctx, 200)), dims));
    nest_add(b, rd_sum(rd_bit_and(p, rd_int(ctx, 7)), dims));
}

static void check_sums(int size, filling how)
{
    const rd_shape shape = RD_SHAPE(sizes[size].rows, sizes[size].cols);
    tile_memory    m     = { 0 };
    nest_batch     made  = { 0 };

    snprintf(made.what, sizeof made.what, "sums of %d x %d, filling %d", (int)sizes[size].rows,
             (int)sizes[size].cols, how);
    for (int k = 0; k < COUNT(types); k++)
        add_sums(&made, filled(&m, types[k], shape, how), RD_DIMS(sizes[size].axis));
    nest_agree(&made, many_tasks, COUNT(many_tasks));
    tile_free(&m);
}

static void check_differences(int size, filling how)
{
    const rd_shape shape = RD_SHAPE(sizes[size].rows, sizes[size].cols);
    const filling  other = (filling)((how + 1) % FILLINGS);
    tile_memory    m     = { 0 };
    nest_batch     made  = { 0 };

    snprintf(made.what, sizeof made.what, "differences of %d x %d, filling %d",
             (int)sizes[size].rows, (int)sizes[size].cols, how);
    for (int k = 1; k < 3; k++)
        add_differences(&made, filled(&m, types[k], shape, how), filled(&m, types[k], shape, other),
                        RD_DIMS(sizes[size].axis));
    nest_agree(&made, many_tasks, COUNT(many_tasks));
    tile_free(&m);
}

START_TEST(extremes)
{
    for (int how = 0; how < FILLINGS; how++) {
        check_sums(_i, (filling)how);
        check_differences(_i, (filling)how);
    }
}
END_TEST

/* Pairs of rows: lanes go along the rows, and neighbours are other rows. */
static const int64_t lengths[] = { 31, 64, 255, 256, 301, 700 };

START_TEST(pairs)
{
    const int64_t k = lengths[_i];

    for (int how = 0; how < FILLINGS; how++) {
        tile_memory m    = { 0 };
        rd_expr    *x    = filled(&m, RD_U8, RD_SHAPE(70, k), (filling)how);
        rd_expr    *y    = filled(&m, RD_U8, RD_SHAPE(67, k), ALL_LEAST);
        nest_batch  made = { 0 };
        rd_expr    *a = rd_expand(x, 1), *b = rd_expand(y, 0);

        snprintf(made.what, sizeof made.what, "pairs of %d, filling %d", (int)k, how);
        add_differences(&made, a, b, RD_DIMS(2));
        nest_agree(&made, many_tasks, COUNT(many_tasks));
        tile_free(&m);
    }
}
END_TEST

/* ---- Types ------------------------------------------------------------------------------------ */
typedef enum what { EQUAL, MEAN_EQUAL, SELF, ABSOLUTE, PRODUCT } what;

static const struct {
    what        what;
    rd_dtype    type;
    int64_t     rows, cols;
    int         axis;
    const char *states;
} states[] = {
    { EQUAL, RD_U8, 300, 70, 0, "begin0(uint8_t *s0)" },
    { EQUAL, RD_I8, 300, 70, 0, "begin0(uint8_t *s0)" },
    { EQUAL, RD_I16, 300, 70, 0, "begin0(uint16_t *s0)" }, /* as wide as what is compared */
    { EQUAL, RD_F64, 300, 70, 0, "begin0(int32_t *s0)" },
    { MEAN_EQUAL, RD_U8, 300, 70, 0, "begin0(uint8_t *s0)" },
    { EQUAL, RD_U8, 70, 300, 1, "begin0(uint16_t *s0)" }, /* one state takes the row */
    { SELF, RD_U8, 300, 70, 0, "begin0(uint16_t *s0)" },
    { SELF, RD_I8, 300, 70, 0, "begin0(int16_t *s0)" },
    { SELF, RD_I16, 300, 70, 0, "begin0(int32_t *s0)" },
    { ABSOLUTE, RD_U8, 300, 70, 0, "begin0(int32_t *s0)" }, /* as i32, which is computed so */
    { PRODUCT, RD_I8, 300, 70, 0, "begin0(int32_t *s0)" },
};

static rd_expr *of(what kind, rd_expr *x)
{
    rd_expr *wide = rd_cast(x, RD_I32);

    switch (kind) {
    case EQUAL:
    case MEAN_EQUAL: return rd_eq(x, rd_num(ctx, 1));
    case ABSOLUTE: return rd_abs(rd_sub(wide, rd_flip(wide, RD_DIMS(0))));
    case PRODUCT: return rd_mul(wide, wide);
    default: return x;
    }
}

START_TEST(types_of_states)
{
    tile_memory m = { 0 };
    rd_expr    *x =
        nest_leaf(&m, states[_i].type, RD_SHAPE(states[_i].rows, states[_i].cols), ORDINARY);
    rd_expr   *y    = of(states[_i].what, x);
    nest_batch made = { 0 };

    nest_seen.with_words = 0;
    nest_seen.words      = states[_i].states;
    snprintf(made.what, sizeof made.what, "row %d", _i);
    nest_add(&made, states[_i].what == MEAN_EQUAL ? rd_mean(y, RD_DIMS(states[_i].axis))
                                                  : rd_sum(y, RD_DIMS(states[_i].axis)));
    nest_agree(&made, one_task, 1);
    ck_assert_msg(nest_seen.with_words > 0, "row %d has other states than %s", _i,
                  states[_i].states);
    nest_seen.words = NULL;
    tile_free(&m);
}
END_TEST

/* Bytes that lie apart, and are read again, are collected as bytes. */
START_TEST(bytes_of_pairs)
{
    tile_memory m    = { 0 };
    rd_expr    *x    = filled(&m, RD_U8, RD_SHAPE(257, 301), BOTH);
    nest_batch  made = { .what = "bytes of pairs" };

    nest_seen.with_words = 0;
    nest_seen.words      = "uint8_t a1[19264]";
    nest_add(&made, rd_sum(rd_ne(rd_expand(x, 1), rd_expand(x, 0)), RD_DIMS(2)));
    nest_agree(&made, one_task, 1);
    ck_assert_int_gt(nest_seen.with_words, 0);
    nest_seen.words = NULL;
    tile_free(&m);
}
END_TEST

/* ---- Ranges ----------------------------------------------------------------------------------- */
static const struct {
    rd_op    op;
    rd_dtype type;
    int64_t  a[2], b[2], want[2];
    bool     known;
} ranges[] = {
    { RD_OP_add, RD_I16, { 0, 255 }, { 0, 255 }, { 0, 510 }, true },
    { RD_OP_add, RD_U8, { 0, 255 }, { 0, 1 }, { 0, 255 }, true }, /* it wraps */
    { RD_OP_sub, RD_I16, { 0, 255 }, { 0, 255 }, { -255, 255 }, true },
    { RD_OP_sub, RD_U16, { 3, 5 }, { 0, 4 }, { 0, 65535 }, true },
    { RD_OP_abs, RD_I8, { -128, 127 }, { 0, 0 }, { -128, 127 }, true },
    { RD_OP_abs, RD_I16, { -128, 127 }, { 0, 0 }, { 0, 128 }, true },
    { RD_OP_abs, RD_I16, { -9, -4 }, { 0, 0 }, { 4, 9 }, true },
    { RD_OP_square, RD_I32, { -3, 2 }, { 0, 0 }, { 0, 9 }, true },
    { RD_OP_mul, RD_I32, { -128, 127 }, { -128, 127 }, { -16256, 16384 }, true },
    { RD_OP_mul, RD_I64, { INT64_MIN, 0 }, { 2, 2 }, { 0, 0 }, false },
    { RD_OP_neg, RD_I64, { INT64_MIN, 0 }, { 0, 0 }, { 0, 0 }, false },
    { RD_OP_sub, RD_U64, { 0, 5 }, { 0, 1 }, { 0, 0 }, false },
    { RD_OP_remainder, RD_I64, { 0, 1000 }, { 7, 7 }, { 0, 6 }, true },
    { RD_OP_remainder, RD_I64, { -9, 1000 }, { 7, 7 }, { -6, 6 }, true },
    { RD_OP_remainder, RD_I32, { 0, 9 }, { 0, 7 }, { INT32_MIN, INT32_MAX }, true },
    { RD_OP_minimum, RD_I32, { -5, 90 }, { 0, 10 }, { -5, 10 }, true },
    { RD_OP_maximum, RD_I32, { -5, 90 }, { 0, 10 }, { 0, 90 }, true },
    { RD_OP_bit_and, RD_I32, { -5, 90 }, { 7, 7 }, { 0, 7 }, true },
    { RD_OP_bit_or, RD_I32, { 0, 5 }, { 0, 8 }, { 0, 15 }, true },
    { RD_OP_shift_left, RD_I32, { 0, 5 }, { 2, 2 }, { 0, 20 }, true },
    { RD_OP_shift_right, RD_U8, { 0, 255 }, { 4, 4 }, { 0, 15 }, true },
};

START_TEST(intervals)
{
    const rd_range x[3] = { rd_range_from(ranges[_i].a[0], ranges[_i].a[1]),
                            rd_range_from(ranges[_i].b[0], ranges[_i].b[1]) };
    const rd_range got  = rd_range_of_op(ranges[_i].op, ranges[_i].type, x);

    ck_assert_int_eq(got.known, ranges[_i].known);
    if (!got.known)
        return;
    ck_assert_int_eq(got.low, ranges[_i].want[0]);
    ck_assert_int_eq(got.high, ranges[_i].want[1]);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { extremes, 0, COUNT(sizes) },         { pairs, 0, COUNT(lengths) },
        { types_of_states, 0, COUNT(states) }, { bytes_of_pairs, 0, 1 },
        { intervals, 0, COUNT(ranges) },
    };

    return nest_suite("bytes", begin, cases, COUNT(cases));
}
