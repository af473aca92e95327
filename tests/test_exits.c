/* test_exits.c - loops that are left once no element can change what they come to: of bools, and of
 * ints at an end of their type; on tiles and in compiled loops, of one cell and of all. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "eval/plan.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };

static const rd_dtype types[] = { RD_BOOL, RD_U8, RD_I16, RD_I32, RD_U64,
                                  RD_F32,  RD_I8, RD_U16, RD_U32, RD_I64 };

static const struct {
    int64_t  rank, extent[3];
    uint32_t reduced; /* a bit for each axis */
} cases[] = {
    { 1, { 5000 }, 1 },     { 2, { 3, 4099 }, 2 },  { 2, { 4099, 3 }, 1 },
    { 2, { 2050, 31 }, 1 }, { 2, { 1300, 50 }, 3 }, { 3, { 2, 1500, 20 }, 2 },
    { 2, { 900, 7 }, 1 },   { 2, { 3, 1500 }, 2 },
};

static rd_shape shape_of(int k)
{
    rd_shape shape = { .n = (int32_t)cases[k].rank };

    memcpy(shape.at, cases[k].extent, sizeof cases[k].extent);
    return shape;
}

static int64_t points(int k)
{
    int64_t n = 1;

    for (int a = 0; a < cases[k].rank; a++)
        n *= cases[k].extent[a];
    return n;
}

static void put(void *x, rd_dtype type, int64_t i, rd_word w)
{
    if (type == RD_F32)
        ((float *)x)[i] = w.f32;
    else
        memcpy((char *)x + i * rd_dtype_size(type), &w, (size_t)rd_dtype_size(type));
}

/* Which result an element goes to. */
static int64_t result_of(int k, int64_t i)
{
    int64_t at = 0, index[3] = { 0 };

    for (int64_t a = cases[k].rank; a-- > 0; i /= cases[k].extent[a])
        index[a] = i % cases[k].extent[a];
    for (int64_t a = 0; a < cases[k].rank; a++)
        at = cases[k].reduced >> a & 1 ? at : at * cases[k].extent[a] + index[a];
    return at;
}

/* Elements in the middle of the type; one in `rare` is the end that decides, none if that is 0. */
static void fill(void *x, rd_dtype type, bool greatest, int64_t n, int rare)
{
    uint32_t state = 1;

    for (int64_t i = 0; i < n; i++) {
        state           = state * 1664525u + 1013904223u;
        const bool ends = rare && (state >> 8) % (uint32_t)rare == 0;

        put(x, type, i,
            ends              ? rd_word_end(type, greatest)
            : type == RD_BOOL ? rd_word_from_int(!greatest, RD_BOOL)
            : type == RD_F32  ? rd_word_from_double((state >> 20) / 16.0, RD_F32)
                              : rd_word_from_int(20 + (state >> 27), type));
    }
    if (type == RD_F32) /* NaN behind an infinity */
        put(x, type, n - 1, rd_word_from_double(__builtin_nan(""), RD_F32));
}

/* Does a mask leave the element?  Of every third one it does not. */
static bool counts(int64_t i, bool masked)
{
    return !masked || i % 3 != 1;
}

/* Under a mask ints have an initial value, as there may be no element: one that gives way to
 * any. */
static rd_expr *extreme(rd_expr *x, int k, bool greatest, bool masked)
{
    static bool    mask[MOST];
    static rd_word least;
    rd_reduce_opts o = { .size = sizeof o };

    for (int a = 0; a < cases[k].rank; a++)
        if (cases[k].reduced >> a & 1)
            o.dims.axis[o.dims.n++] = a;
    for (int64_t i = 0; masked && i < points(k); i++)
        mask[i] = counts(i, true);
    if (masked) {
        put(&least, rd_type_of(x), 0, rd_word_end(rd_type_of(x), !greatest));
        o.where   = rd_leaf(ctx, &(rd_array){ .in = mask, .type = RD_BOOL, .shape = shape_of(k) });
        o.initial = rd_leaf(ctx, &(rd_array){ .in = &least, .type = rd_type_of(x) });
    }
    return rd_reduce_name(x, greatest ? "max" : "min", &o);
}

static void check(int k, rd_dtype type, bool greatest, bool masked, const void *x, const void *got,
                  int threads)
{
    static double want[MOST];
    static bool   seen[MOST];

    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < points(k); i++) {
        const double  v  = get(x, type, i);
        const int64_t at = result_of(k, i);

        if (!counts(i, masked))
            continue;
        if (!seen[at] || v != v || (greatest ? v > want[at] : v < want[at]))
            want[at] = seen[at] && want[at] != want[at] ? want[at] : v;
        seen[at] = true;
    }
    for (int64_t at = 0; at <= result_of(k, points(k) - 1); at++) {
        const double g = get(got, type, at);

        if (!seen[at]) /* there is the initial value alone */
            want[at] = rd_word_to_double(rd_word_end(type, !greatest), type);

        ck_assert_msg(g == want[at] || (g != g && want[at] != want[at]),
                      "case %d, %s, %s%s, %d threads: result %" PRId64 " is %g, not %g", k,
                      rd_dtype_name(type), greatest ? "max" : "min", masked ? ", masked" : "",
                      threads, at, g, want[at]);
    }
}

static void compare(int k, rd_dtype type, bool greatest, bool masked, int rare)
{
    static uint64_t x[MOST];

    fill(x, type, greatest, points(k), rare);
    rd_expr *const leaf = rd_leaf(ctx, &(rd_array){ .in = x, .type = type, .shape = shape_of(k) });
    for (int threads = THREAD_SANITIZED ? 3 : 1; threads <= 3; threads += 2) {
        rd_array           out = { 0 };
        const rd_eval_opts o   = { .threads = threads };

        ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ extreme(leaf, k, greatest, masked), &out }),
                                   &o) == RD_OK,
                      "%s", rd_error_text(ctx));
        check(k, type, greatest, masked, x, out.in, threads);
        rd_array_free(&out);
    }
}

static void compare_all(const char *mode, size_t n_type)
{
    rd_tier_force(mode);
    for (size_t k = 0; k < COUNT(cases); k++)
        for (size_t t = 0; t < n_type; t += THREAD_SANITIZED ? 3 : 1) /* they share work alike */
            for (int greatest = 0; greatest < 2; greatest++)
                for (int rare = 0; rare < 3; rare++) {
                    compare((int)k, types[t], greatest, false, (const int[]){ 0, 4, 700 }[rare]);
                    compare((int)k, types[t], greatest, true, (const int[]){ 0, 4, 700 }[rare]);
                }
}

START_TEST(by_tiles)
{
    compare_all("off", COUNT(types));
}
END_TEST

START_TEST(compiled)
{
    compare_all("sync", SANITIZED ? 2 : 4); /* of the others the text is as of one of these */
}
END_TEST

/* ---- What is read ---------------------------------------------------------------------------- */
static double part_read(rd_expr *y, int64_t results, int64_t n)
{
    static uint64_t room[MOST];
    rd_array        into = { .data = room, .type = rd_type_of(y), .shape = rd_shape_of(y) };
    rd_run_stats    stats;
    rd_plan        *plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &into }),
                                       &(rd_eval_opts){ .threads = 1 });

    ck_assert_int_le(results, MOST);
    ck_assert_msg(plan && rd_plan_execute(plan, NULL, NULL, NULL, &stats) == RD_OK, "%s",
                  rd_error_text(ctx));
    rd_plan_free(plan);
    return (double)stats.loads / (double)n;
}

static void read_less(bool compiles)
{
    static uint8_t x[1 << 20];
    static int32_t y[1 << 20];
    rd_expr *const bytes =
        rd_leaf(ctx, &(rd_array){ .in = x, .type = RD_U8, .shape = RD_SHAPE(2048, 512) });
    rd_expr *const bools =
        rd_leaf(ctx, &(rd_array){ .in = x, .type = RD_BOOL, .shape = RD_SHAPE(2048, 512) });
    rd_expr *const ints =
        rd_leaf(ctx, &(rd_array){ .in = y, .type = RD_I32, .shape = RD_SHAPE(1 << 20) });

    rd_tier_force(compiles ? "sync" : "off");
    for (int i = 0; i < 1 << 20; i++) {
        x[i] = i % 3 != 0;
        y[i] = i == 70000 ? INT32_MAX : i % 1000;
    }
    const double all = part_read(rd_min(bytes, RD_ALL), 1, 1 << 20),
                 one = part_read(rd_max(ints, RD_ALL), 1, 1 << 20),
                 any = part_read(rd_any(bools, RD_DIMS(0)), 512, 1 << 20),
                 low = part_read(rd_min(bytes, RD_DIMS(0)), 512, 1 << 20),
                 top = part_read(rd_max(bytes, RD_DIMS(0)), 512, 1 << 20);

    ck_assert_msg(all < 0.1, "%g of all bytes are read", all);
    ck_assert_msg(one > 0.06 && one < 0.2, "%g of all ints are read", one);
    ck_assert_msg(top == 1, "%g of all columns are read, none of which ends", top);
    if (compiles) { /* tiles leave no loops of several cells */
        ck_assert_msg(any < 0.05, "%g of all columns of bools are read", any);
        ck_assert_msg(low < 0.05, "%g of all columns of bytes are read", low);
    }
}

START_TEST(less_is_read_by_tiles)
{
    read_less(false);
}
END_TEST

START_TEST(less_is_read_compiled)
{
    read_less(true);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { by_tiles, compiled, less_is_read_by_tiles,
                                   less_is_read_compiled };

    setenv("CK_DEFAULT_TIMEOUT", "300", 0); /* seconds: each case is compiled */
    return run_suite("exits", tests, COUNT(tests));
}
