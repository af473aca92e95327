/* test_bounds.c - masks that compare places bound loops: the nests that leave out what is masked have the
 * bits of the reference, which tests the mask, and read less. */
#include "eval/plan.h"
#include "kernels/cpu/jit/tier.h"
#include "nests.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static rd_expr *number(int64_t value)
{
    return rd_int(ctx, value);
}

/* ---- Masks ----------------------------------------------------------------------------------- */
typedef rd_expr *mask_of(rd_expr *x);

static rd_expr *row(rd_expr *x)
{
    return rd_coord(x, 0);
}

static rd_expr *column(rd_expr *x)
{
    return rd_coord(x, 1);
}

static rd_expr *lower(rd_expr *x)
{
    return rd_le(column(x), row(x));
}

static rd_expr *upper(rd_expr *x)
{
    return rd_gt(column(x), rd_add(row(x), number(-9)));
}

static rd_expr *band(rd_expr *x)
{
    return rd_le(rd_abs(rd_sub(row(x), column(x))), number(20));
}

static rd_expr *lopsided(rd_expr *x)
{
    return rd_and(rd_ge(column(x), rd_sub(row(x), number(3))),
                  rd_lt(rd_sub(column(x), number(70)), row(x)));
}

static rd_expr *right_half(rd_expr *x)
{
    return rd_ge(column(x), number(77));
}

static rd_expr *below_a_steep_line(rd_expr *x)
{
    return rd_lt(rd_mul(row(x), number(2)), rd_add(column(x), number(11)));
}

static rd_expr *lower_and_data(rd_expr *x)
{
    return rd_and(lower(x), rd_gt(x, number(0)));
}

static rd_expr *never(rd_expr *x)
{
    return rd_gt(column(x), rd_add(row(x), number(5000)));
}

static rd_expr *always(rd_expr *x)
{
    return rd_gt(rd_add(column(x), number(5000)), row(x));
}

/* Each row has a range of its own: some are empty, or begin behind what there is. */
static rd_expr *ranges(rd_expr *x)
{
    rd_expr *i     = row(x);
    rd_expr *first = rd_remainder(rd_mul(i, number(37)), number(300));
    rd_expr *end   = rd_add(first, rd_remainder(i, number(90)));

    return rd_and(rd_ge(column(x), first), rd_lt(column(x), end));
}

/* The same of blocks of rows. */
static rd_expr *blocks(rd_expr *x)
{
    rd_expr *first = rd_mul(rd_remainder(rd_floordiv(row(x), number(50)), number(3)), number(80));

    return rd_and(rd_ge(column(x), first), rd_lt(column(x), rd_add(first, number(60))));
}

static const struct {
    const char *what;
    mask_of    *make;
} masks[] = { { "lower", lower },
              { "upper", upper },
              { "band", band },
              { "lopsided", lopsided },
              { "right half", right_half },
              { "below a steep line", below_a_steep_line },
              { "lower and data", lower_and_data },
              { "never", never },
              { "always", always },
              { "ranges", ranges },
              { "blocks", blocks } };

/* Of pairs: the first three, and these. */
enum { PAIRS = 3, RANGES = 9 };

/* ---- Reductions ------------------------------------------------------------------------------ */
static void add_all(nest_batch *b, rd_expr *x, rd_expr *mask, rd_dims dims)
{
    nest_add(b, rd_sum(x, dims, .where = mask));
    nest_add(b, rd_any(rd_gt(x, number(30)), dims, .where = mask));
    nest_add(b, rd_max(x, dims, .where = mask, .initial = number(-3)));
}

/* Rows of several strips of lanes, and a rest; columns, and all of it.  Each has a leaf of its own, so
 * that no other mask keeps its loops whole. */
START_TEST(triangles_and_bands)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    b    = { 0 };

    snprintf(b.what, sizeof b.what, "mask %s", masks[_i].what);
    nest_seen.pass = "index_set_split";
    for (int k = 0; k < 3; k++) {
        if (k == 1 + _i % 2) /* each text is a run of the compiler */
            continue;
        static const rd_dtype types[] = { RD_F32, RD_F64, RD_I32 };
        rd_expr *x    = nest_leaf(&m, types[k], RD_SHAPE(150 + 7 * k, 261 + 13 * k), ORDINARY);
        rd_expr *mask = masks[_i].make(x);

        if (k == 0)
            nest_add(&b, rd_sum(x, RD_DIMS(1), .where = mask));
        else if (k == 1)
            nest_add(&b, rd_sum(rd_where(mask, x, rd_cast(number(0), RD_F64)), RD_DIMS(0)));
        else
            add_all(&b, x, mask, RD_ALL);
    }
    nest_agree(&b, many_tasks, 4);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
    ck_assert_msg(nest_seen.changed > 0, "%s: no loop is bounded", masks[_i].what);
}
END_TEST

/* Counts of groups: a masked-out element adds 0, whatever its label is. */
START_TEST(counts_by_label)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    b    = { 0 };

    snprintf(b.what, sizeof b.what, "by label, mask %s", masks[_i].what);
    nest_seen.pass = "index_set_split";
    for (int k = 0; k < 2; k++) {
        rd_expr *x     = nest_leaf(&m, k ? RD_I16 : RD_I32, RD_SHAPE(150, 261), ORDINARY);
        rd_expr *label = rd_sub(rd_bit_and(rd_mul(x, number(7)), number(31)), number(9));

        nest_add(&b, rd_sum(rd_cast(x, RD_I64), RD_ALL, .where = masks[_i].make(x),
                            .by = RD_EXPRS(label), .groups = RD_SHAPE(20)));
        nest_agree(&b, many_tasks, 4);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
    ck_assert_msg(nest_seen.changed > 0, "%s: no loop is bounded", masks[_i].what);
}
END_TEST

/* Loops that end early, each the only one of its program: rows, and columns of a few strips. */
START_TEST(left_early)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    b    = { 0 };
    const bool    rows = _i % 2 == 0;

    snprintf(b.what, sizeof b.what, "left early, mask %s", masks[_i].what);
    nest_seen.pass = "index_set_split";
    for (int k = 0; k < 2; k++) {
        rd_expr *x    = nest_leaf(&m, k ? RD_F32 : RD_U8,
                               rows ? RD_SHAPE(37, 1500) : RD_SHAPE(1500, 201), ORDINARY);
        rd_expr *mask = masks[_i].make(x);

        if (k)
            nest_add(&b, rd_any(rd_gt(x, number(rows ? 3 : -3)), RD_DIMS(rows), .where = mask));
        else
            nest_add(&b, rd_max(rd_mul(x, number(5)), RD_DIMS(rows), .where = mask,
                                .initial = number(1)));
        nest_agree(&b, many_tasks, 4);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
    ck_assert_msg(!rows || nest_seen.changed > 0, "%s: no loop is bounded", masks[_i].what);
}
END_TEST

/* Cells are the strip; blocks of steps are left out, and ends of blocks are not. */
START_TEST(pairs_of_points)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    b    = { 0 };

    const int which = _i < PAIRS ? _i : RANGES + _i - PAIRS;

    snprintf(b.what, sizeof b.what, "pairs, mask %s", masks[which].what);
    rd_expr *x = nest_leaf(&m, RD_F32, RD_SHAPE(237, 3), ORDINARY);
    rd_expr *d = rd_sub(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr *e = rd_exp(rd_neg(rd_sum(rd_square(d), RD_DIMS(2))));

    nest_add(&b, rd_sum(e, RD_DIMS(_i % 2), .where = masks[which].make(e)));
    nest_agree(&b, many_tasks, 3);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

/* Sums of -0 are -0 only where no element is masked out. */
START_TEST(negative_zeros)
{
    static const float zeros[40][200] = { { -0.F } };
    rd_expr           *x              = rd_neg(rd_wrap(ctx, &zeros[0][0], RD_SHAPE(40, 200)));
    nest_batch         b              = { 0 };

    snprintf(b.what, sizeof b.what, "-0");
    nest_add(&b, rd_sum(x, RD_DIMS(1), .where = lower(x)));
    nest_agree(&b, one_task, 1);
    nest_add(&b, rd_sum(x, RD_DIMS(1), .where = rd_le(column(x), rd_add(row(x), number(190)))));
    nest_agree(&b, one_task, 1);
    nest_add(&b, rd_sum(x, RD_DIMS(0), .where = upper(x)));
    nest_agree(&b, one_task, 1);
    nest_mostly();
}
END_TEST

/* ---- What is read ---------------------------------------------------------------------------- */
static int64_t loads_of(rd_expr *y, rd_shape shape)
{
    float        out[512];
    rd_array     into = *RD_INTO(out, shape);
    rd_run_stats stats;
    rd_plan     *plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &into }), NULL);

    ck_assert(plan && rd_plan_execute(plan, NULL, NULL, NULL, &stats) == RD_OK);
    rd_plan_free(plan);
    return stats.loads;
}

START_TEST(less_is_read)
{
    static float x[512][1024];
    rd_expr     *leaf = rd_wrap(ctx, x, RD_SHAPE(512, 1024)), *square = rd_slice(leaf, ":, :512");
    const struct {
        rd_expr *y;
        double   most;
    } cases[] = {
        { rd_sum(square, RD_DIMS(1), .where = lower(square)), 0.63 },
        { rd_sum(square, RD_DIMS(1), .where = band(square)), 0.35 },
        { rd_sum(square, RD_DIMS(0), .where = lower(square)), 0.8 },
        { rd_sum(square, RD_DIMS(1), .where = never(square)), 0.13 },
    };

    for (int k = 0; k < COUNT(cases); k++) {
        const double part = (double)loads_of(cases[k].y, RD_SHAPE(512)) / (512. * 512);

        ck_assert_msg(part <= cases[k].most, "case %d: %.3f of all is read", k, part);
    }
}
END_TEST

/* Sums that are taken in another order are made in their own first, where blocks bound them; a
 * few are not. */
START_TEST(in_another_order)
{
    static float   x[512][1024];
    static int64_t order[512], borders[9];
    static bool    pair[64];
    rd_expr       *leaf = rd_slice(rd_wrap(ctx, x, RD_SHAPE(512, 1024)), ":, :512"), *sum;
    const rd_array out  = { .in = order, .type = RD_I64, .shape = RD_SHAPE(512) };

    for (int k = 0; k < 512; k++)
        order[k] = k * 37 % 512;
    for (int k = 0; k <= 8; k++)
        borders[k] = 64 * k;
    for (int k = 0; k < 8; k++)
        pair[9 * k] = true;
    sum = rd_sum(leaf, RD_DIMS(1), .where = rd_blocks(ctx, 8, borders, 8, borders, pair));
    const double plain = (double)loads_of(sum, RD_SHAPE(512));
    const double taken = (double)loads_of(rd_take(sum, 0, rd_leaf(ctx, &out)), RD_SHAPE(512));
    const double few =
        (double)loads_of(rd_take(sum, 0, rd_slice(rd_leaf(ctx, &out), ":8")), RD_SHAPE(8));

    ck_assert_msg(plain < 1.1 * 512 * 512 && taken < plain + 4 * 512, "%.0f loads, and %.0f", plain,
                  taken);
    ck_assert_msg(few < 8 * 5 * 512, "%.0f loads", few);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { triangles_and_bands, 0, COUNT(masks) },
        { counts_by_label, 0, COUNT(masks) },
        { left_early, 0, COUNT(masks) },
        { pairs_of_points, 0, PAIRS + COUNT(masks) - RANGES },
        { negative_zeros, 0, 1 },
        { less_is_read, 0, 1 },
        { in_another_order, 0, 1 },
    };

    return nest_suite("bounds", begin, cases, COUNT(cases));
}
