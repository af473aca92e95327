/* test_intervals.c - floats that are known to lie in the range of an int become ints by vectors, in
 * the loop that makes them: by nests, against the scalar interpreter. */
#include "nests.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static const rd_dtype ints[] = { RD_U8, RD_I8, RD_U16, RD_I16, RD_I32 };

static rd_expr *number(double x)
{
    return rd_num(ctx, x);
}

static rd_expr *between(rd_expr *x, double low, double high)
{
    return rd_clip(x, number(low), number(high));
}

/* Of so many programs of the batch the text has such a cast, or of none. */
static void agree(nest_batch *b, bool bounded)
{
    nest_seen.words      = "(int32_t)rd_or_0_";
    nest_seen.with_words = 0;
    nest_agree(b, many_tasks, COUNT(many_tasks));
    ck_assert_msg((nest_seen.with_words > 0) == bounded, "%s: %d texts", b->what,
                  nest_seen.with_words);
    nest_seen.words = NULL;
}

/* NaN, infinities and -0 among them; what is cut off behind the point; rounds that are written
 * out. */
START_TEST(bounded)
{
    const rd_dtype type = ints[_i % 5], from = _i < 5 ? RD_F32 : RD_F64;
    tile_memory    m = { 0 };
    rd_expr       *x = nest_leaf(&m, from, RD_SHAPE(7, 300), UGLY),
            *bytes   = nest_leaf(&m, RD_U8, RD_SHAPE(7, 300), UGLY),
            *some    = nest_leaf(&m, RD_BOOL, RD_SHAPE(7, 300), FLAGS);
    rd_expr   *y     = rd_cast(bytes, from);
    nest_batch b     = { 0 };

    snprintf(b.what, sizeof b.what, "%s of bounded %s", rd_dtype_name(type), rd_dtype_name(from));
    nest_add(&b, rd_cast(between(x, 0, 255), type));
    nest_add(&b, rd_cast(rd_add(rd_mul(between(x, -0.99, 1), number(0.99)), number(0.5)), type));
    nest_add(&b, rd_cast(rd_sqrt(rd_mul(y, number(3))), type));
    nest_add(&b, rd_cast(rd_where(some, rd_abs(between(x, -3, 2)), rd_div(y, number(7))), type));
    agree(&b, true);
    nest_add(&b, rd_cast(rd_pow(between(x, 0, 1), number(0.4)), type));
    nest_add(&b, rd_cast(rd_mul(rd_exp(rd_neg(rd_abs(x))), between(x, 0, 9)), type));
    nest_add(&b, rd_sum(rd_cast(between(x, 0, 9), type), RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_cast(between(x, 0, 9), type), RD_DIMS(1)));
    agree(&b, true);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* An end that is missing, too far, or below 0 for an unsigned type; fmin of NaN; sums of
 * infinities. */
START_TEST(unbounded)
{
    const rd_dtype type = ints[_i % 5], from = _i < 5 ? RD_F32 : RD_F64;
    const bool     sign = rd_dtype_name(type)[0] == 'i';
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, from, RD_SHAPE(7, 300), UGLY);
    nest_batch     b    = { 0 };

    snprintf(b.what, sizeof b.what, "%s of any %s", rd_dtype_name(type), rd_dtype_name(from));
    nest_add(&b, rd_cast(rd_minimum(x, number(200)), type));
    nest_add(&b, rd_cast(between(x, 0, 3e9), type));
    nest_add(&b, rd_cast(between(x, sign ? -3e9 : -1, 100), type));
    nest_add(&b, rd_cast(rd_fmin(rd_abs(x), number(100)), type));
    nest_add(&b, rd_cast(rd_mul(between(x, 0, 1), x), type));
    agree(&b, false);
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* What cancels after it was rounded, underflows to a divisor of 0, or overflows: the ends do so, too. */
START_TEST(rounded)
{
    static const rd_dtype floats[] = { RD_F32, RD_F64, RD_F16, RD_BF16 };
    const rd_dtype        type = ints[_i % 5], from = floats[_i / 5];
    tile_memory           m = { 0 };
    rd_expr              *y = rd_cast(nest_leaf(&m, RD_U8, RD_SHAPE(7, 300), UGLY), from);
    const double large = from == RD_F16 ? 3e4 : from == RD_BF16 ? 1e5 : from == RD_F32 ? 1e8 : 1e17;
    const double small = from == RD_F16 ? 1e-5 : from == RD_F64 ? 1e-18 : 1e-9;
    nest_batch   b     = { 0 };
    rd_expr     *sum   = rd_add(rd_add(y, number(3)), number(large));

    snprintf(b.what, sizeof b.what, "%s of rounded %s", rd_dtype_name(type), rd_dtype_name(from));
    nest_add(&b, rd_cast(rd_sub(rd_sub(sum, number(large)), number(3)), type));
    sum = rd_sub(rd_add(rd_add(rd_mul(y, number(small)), number(small)), number(1)), number(1));
    nest_add(&b, rd_cast(rd_div(number(1), sum), type));
    sum = rd_mul(rd_add(y, number(from == RD_F64 ? 1e290 : 1e19)), number(1e20));
    sum = rd_sub(number(0.3), rd_div(number(3e38), sum));
    nest_add(&b, rd_cast(rd_mul(sum, number(1e12)), type));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { bounded, 0, 10 },
        { unbounded, 0, 10 },
        { rounded, 0, 20 },
    };

    return nest_suite("intervals", begin, cases, COUNT(cases));
}
