/* test_interleaved.c - maps of a few columns that lie between each other, such as the colours of
 * an image: by nests that go through memory as it lies, against the scalar interpreter.
 *
 * Strips have 64 rows, so extents lie around these. */
#include "kernels/cpu/cpu.h"
#include "nests.h"
#include "suite.h"
#include <stdio.h>

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

/* So many programs of the batch go through memory as it lies, or more.  Prices are those of this
 * machine's vectors, and shorter ones gain less. */
static void agree_flat(nest_batch *b, int least)
{
    nest_seen.pass    = "flatten_maps";
    nest_seen.changed = 0;
    agree_shared(b);
    ck_assert_msg(nest_seen.changed >= least || rd_cpu_vector() < 64, "%s: %d trees are flat",
                  b->what, nest_seen.changed);
    nest_seen.pass = NULL;
}

static rd_expr *to(rd_dtype type, rd_expr *x)
{
    return rd_cast(x, type);
}

static const struct {
    rd_dtype type;
    int64_t  rows, columns;
} images[] = {
    { RD_U8, 200, 3 },  { RD_F32, 321, 3 }, { RD_I16, 65, 2 }, { RD_F64, 130, 4 },
    { RD_U8, 129, 16 }, { RD_BF16, 90, 3 }, { RD_I64, 70, 5 }, { RD_U8, 64, 3 },
    { RD_U8, 63, 3 },   { RD_F32, 1, 3 },
};

/* A factor of each column, and a sum, into the type itself and into others. */
START_TEST(columns_of_factors)
{
    const rd_dtype type  = images[_i].type;
    const rd_shape shape = RD_SHAPE(images[_i].rows, images[_i].columns);
    tile_memory    m     = { 0 };
    rd_expr       *x = nest_leaf(&m, type, shape, UGLY), *y = nest_leaf(&m, type, shape, UGLY);
    rd_expr       *by = nest_leaf(&m, RD_F32, RD_SHAPE(shape.at[1]), UGLY),
            *more     = nest_leaf(&m, RD_F64, RD_SHAPE(shape.at[1]), UGLY),
            *own      = nest_leaf(&m, type, RD_SHAPE(shape.at[1]), UGLY);
    nest_batch b      = { 0 };

    snprintf(b.what, sizeof b.what, "%d x %d %s", (int)shape.at[0], (int)shape.at[1],
             rd_dtype_name(type));
    nest_add(&b, rd_mul(to(RD_F32, x), by));
    nest_add(&b, to(RD_U8, rd_clip(rd_mul(x, more), rd_int(ctx, 0), rd_int(ctx, 255))));
    nest_add(&b, rd_where(rd_gt(x, y), own, x));
    nest_add(&b, rd_ge(to(RD_F64, x), more));
    agree_flat(&b, shape.at[0] > 1);
    nest_add(&b, rd_exp(rd_neg(rd_abs(rd_mul(to(RD_F32, x), by)))));
    agree_flat(&b, shape.at[0] > 1);
    nest_add(&b, rd_sub(rd_mul(x, y), to(type, by)));
    nest_add(&b, rd_div(rd_sub(to(RD_F32, x), by), rd_sqrt(rd_abs(by))));
    nest_add(&b, to(RD_I16, rd_add(to(RD_F64, x), rd_mul(more, more))));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Each second row, and some columns of more: rows that lie apart come one behind the other. */
START_TEST(rows_apart)
{
    const rd_dtype type = images[_i].type;
    const int64_t  rows = images[_i].rows, columns = images[_i].columns;
    tile_memory    m = { 0 };
    rd_expr *x = nest_leaf(&m, type, RD_SHAPE(2 * rows, columns), UGLY), *even = rd_slice(x, "::2"),
            *odd  = rd_slice(x, "1::2");
    rd_expr *wide = nest_leaf(&m, type, RD_SHAPE(rows, columns + 2), UGLY),
            *some = rd_slice(wide, ":, 1:-1");
    rd_expr   *by = nest_leaf(&m, RD_F32, RD_SHAPE(columns), UGLY);
    nest_batch b  = { 0 };

    snprintf(b.what, sizeof b.what, "each second of %d x %d %s", (int)rows, (int)columns,
             rd_dtype_name(type));
    nest_add(&b, rd_add(even, odd));
    nest_add(&b, rd_mul(to(RD_F32, even), by));
    nest_add(&b, rd_maximum(some, odd));
    agree_flat(&b, rows > 1 && columns * rd_dtype_size(type) <= 16);
    nest_add(&b, rd_add(to(RD_F32, some), by));
    nest_add(&b, to(RD_I16, rd_sub(to(RD_F64, odd), to(RD_F64, by))));
    nest_add(&b, rd_add(rd_flip(even, RD_DIMS(0)), odd));
    nest_add(&b, rd_add(rd_flip(even, RD_DIMS(1)), odd));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* So many rows that tasks share these, and columns stand around: what belongs to one is computed.
 * */
START_TEST(many_rows)
{
    enum { ROWS = 70001 };
    tile_memory m  = { 0 };
    rd_expr    *x  = nest_leaf(&m, RD_U8, RD_SHAPE(ROWS, 3), UGLY);
    rd_expr    *by = nest_leaf(&m, RD_F64, RD_SHAPE(3), ORDINARY);
    nest_batch  b  = { .what = "many rows" };

    nest_add(&b, to(RD_U8, rd_clip(rd_mul(x, rd_div(rd_mean(by, RD_ALL), by)), rd_int(ctx, 0),
                                   rd_int(ctx, 255))));
    agree_flat(&b, 1);
    nest_add(&b, rd_div(rd_sub(to(RD_F32, x), rd_mean(to(RD_F32, x), RD_KEEP(0))),
                        rd_std(to(RD_F32, x), RD_KEEP(0))));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Images of several rows of pixels, each row with a factor, and what may not be made before it is
 * read. */
START_TEST(rows_of_pixels)
{
    const rd_dtype type  = images[_i].type;
    const rd_shape shape = RD_SHAPE(5, images[_i].rows, images[_i].columns);
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, type, shape, UGLY);
    rd_expr       *by    = nest_leaf(&m, RD_F32, RD_SHAPE(5, 1, shape.at[2]), UGLY),
            *of_row      = nest_leaf(&m, RD_F32, RD_SHAPE(5, 1, 1), UGLY),
            *of_pixel    = nest_leaf(&m, RD_F32, RD_SHAPE(shape.at[1], 1), UGLY);
    rd_expr   *y         = to(RD_F32, x);
    nest_batch b         = { 0 };

    snprintf(b.what, sizeof b.what, "5 x %d x %d %s", (int)shape.at[1], (int)shape.at[2],
             rd_dtype_name(type));
    nest_add(&b, rd_mul(y, by));
    nest_add(&b, to(RD_U8, rd_add(rd_mul(y, of_row), by)));
    agree_flat(&b, images[_i].rows > 1);
    nest_add(&b, rd_sub(rd_slice(y, ":, ::2"), by));
    nest_add(&b, rd_mul(y, of_pixel));
    nest_add(&b, rd_sub(y, rd_mean(y, RD_KEEP(1))));
    nest_add(&b, rd_div(y, rd_sum(y, RD_KEEP(0, 1))));
    nest_add(&b, rd_sub(y, rd_mean(y, RD_KEEP(2))));
    agree_shared(&b);
    nest_mostly();
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { columns_of_factors, 0, COUNT(images) },
        { rows_apart, 0, COUNT(images) },
        { many_rows, 0, 1 },
        { rows_of_pixels, 0, COUNT(images) },
    };

    return nest_suite("interleaved columns", begin, cases, COUNT(cases));
}
