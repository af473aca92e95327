/* test_span.c - between which numbers ints are, without evaluating. */
#include "expr/span.h"
#include "values.h"

#define I64_ALL INT64_MIN, INT64_MAX

static rd_expr *bytes, *shorts, *ints, *longs, *unsigned_longs;

static void make(void)
{
    bytes          = leaf(RD_U8, VALUES(0, 255));
    shorts         = leaf(RD_I16, VALUES(-5, 5));
    ints           = leaf(RD_I32, VALUES(1, 2));
    longs          = leaf(RD_I64, VALUES(1, 2));
    unsigned_longs = leaf(RD_U64, VALUES(1, 2));
}

static rd_expr *number(int64_t n)
{
    return rd_int(ctx, n);
}

static void has(const char *what, rd_expr *x, int64_t low, int64_t high)
{
    int64_t at[2] = { 1, 0 };

    ck_assert_msg(x && rd_span_of(x, &at[0], &at[1]), "%s", what);
    ck_assert_msg(at[0] == low && at[1] == high, "%s: %lld to %lld", what, (long long)at[0],
                  (long long)at[1]);
}

START_TEST(types)
{
    int64_t low, high;

    make();
    has("bytes", bytes, 0, 255);
    has("shorts", shorts, -32768, 32767);
    has("ints", ints, INT32_MIN, INT32_MAX);
    has("longs", longs, I64_ALL);
    has("unsigned longs", unsigned_longs, 0, INT64_MAX);
    has("truths", rd_gt(ints, number(0)), 0, 1);
    has("a wider type", rd_cast(bytes, RD_I64), 0, 255);
    has("a narrower type", rd_cast(shorts, RD_I8), -128, 127);
    has("a type of other signs", rd_cast(shorts, RD_U8), 0, 255);
    has("what no signed type holds", rd_cast(unsigned_longs, RD_I64), I64_ALL);
    has("floats", rd_cast(rd_sqrt(ints), RD_U16), 0, 65535);
    ck_assert(!rd_span_of(rd_sqrt(ints), &low, &high) && !rd_span_of(NULL, &low, &high));
}
END_TEST

START_TEST(operators)
{
    make();
    has("remainder", rd_remainder(ints, number(8)), 0, 7);
    has("of what is less", rd_remainder(rd_cast(bytes, RD_I32), number(1000)), 0, 255);
    has("by what may be 0", rd_remainder(ints, rd_cast(bytes, RD_I32)), INT32_MIN, INT32_MAX);
    has("by what may be beyond",
        rd_remainder(unsigned_longs, rd_maximum(unsigned_longs, number(1))), 0, INT64_MAX);
    has("sum", rd_add(rd_remainder(ints, number(8)), number(3)), 3, 10);
    has("sum that may wrap", rd_add(ints, number(1)), INT32_MIN, INT32_MAX);
    has("sum that may wrap 64 bits", rd_add(longs, number(1)), I64_ALL);
    has("difference", rd_sub(number(3), rd_remainder(ints, number(8))), -4, 3);
    has("difference below 0", rd_sub(bytes, rd_cast(number(1), RD_U8)), 0, 255);
    has("difference of more", rd_sub(unsigned_longs, number(5)), 0, INT64_MAX);
    has("product", rd_mul(rd_sub(rd_remainder(ints, number(8)), number(3)), number(-2)), -8, 6);
    has("bits", rd_bit_and(longs, number(15)), 0, 15);
    has("the lesser", rd_minimum(rd_cast(bytes, RD_I32), number(9)), 0, 9);
    has("clipped", rd_minimum(rd_maximum(longs, number(-1)), number(9)), -1, 9);
    has("a choice", rd_where(rd_gt(ints, number(0)), rd_remainder(ints, number(8)), number(-1)), -1,
        7);
    has("no such rule", rd_abs(rd_remainder(ints, number(8))), INT32_MIN, INT32_MAX);
}
END_TEST

START_TEST(elements)
{
    make();
    rd_expr *const small = rd_remainder(ints, number(8));

    has("a view", rd_broadcast(rd_flip(small, RD_ALL), RD_SHAPE(3, 2)), 0, 7);
    has("another shape", rd_reshape(rd_broadcast(small, RD_SHAPE(3, 2)), RD_SHAPE(6)), 0, 7);
    has("a gather", rd_take(small, 0, rd_int(ctx, 1)), 0, 7);
    has("places", rd_coord(small, 0), 0, 1);
    has("parts", rd_concat(0, RD_EXPRS(small, rd_cast(leaf(RD_I8, VALUES(-9)), RD_I32))), -128,
        127);
    has("a sum of all", rd_sum(small, RD_ALL), I64_ALL);
    for (int k = 0; k < 40; k++) /* of which there are 2^40 ways to the leaf */
        ints = rd_remainder(rd_add(ints, ints), number(100 + k));
    has("many ways", ints, 0, 138);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { types, operators, elements };

    return run_suite("span", tests, COUNT(tests));
}
