/* test_halves.c - floats of 16 and 8 bits: every one of them, and what rounds to them, in plain code and
 * by every set of kernels.  The oracle, which knows the formats and nothing of these kernels, says
 * what is right. */
#include "core/half.h"
#include "kernels/cpu/simd/simd.h"
#include "oracle.h"
#include "suite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 1 << 16, TYPES = 3 };

static const rd_dtype types[TYPES] = { RD_F16, RD_BF16, RD_F8 };
static const struct {
    const char *name;
    uint16_t    bits[TYPES]; /* of f16, bf16, f8e4m3 */
    double      value[TYPES];
} known[] = {
    { "0", { 0, 0, 0 }, { 0, 0, 0 } },
    { "1", { 0x3c00, 0x3f80, 0x38 }, { 1, 1, 1 } },
    { "-2", { 0xc000, 0xc000, 0xc0 }, { -2, -2, -2 } },
    { "least", { 0x0001, 0x0001, 0x01 }, { 0x1p-24, 0x1p-133, 0x1p-9 } },
    { "least normal", { 0x0400, 0x0080, 0x08 }, { 0x1p-14, 0x1p-126, 0x1p-6 } },
    { "greatest denormal", { 0x03ff, 0x007f, 0x07 }, { 0x1.ff8p-15, 0x1.fcp-127, 0x7p-9 } },
    { "greatest", { 0x7bff, 0x7f7f, 0x7e }, { 65504, 0x1.fep127, 448 } },
    { "infinity, or greatest", { 0x7c00, 0x7f80, 0x7e }, { INFINITY, INFINITY, 464 } },
    { "-infinity, or least", { 0xfc00, 0xff80, 0xfe }, { -INFINITY, -INFINITY, -464 } },
};
enum { N_KNOWN = sizeof known / sizeof *known };

/* How many there are: all patterns of their bits. */
static uint32_t count_of(rd_dtype type)
{
    return 1U << 8 * rd_dtype_size(type);
}

static uint16_t sign_of(rd_dtype type)
{
    return (uint16_t)(count_of(type) / 2);
}

static uint16_t bits_of(rd_word x, rd_dtype type)
{
    uint16_t bits = 0;

    rd_word_store(&bits, type, x); /* little endian: the low byte of an int is the first */
    return bits;
}

static bool is_nan(uint16_t bits, rd_dtype type)
{
    return (bits & (sign_of(type) - 1)) > (type == RD_F16 ? 0x7c00 : type == RD_F8 ? 0x7e : 0x7f80);
}

/* Element i of an array of the type. */
static uint16_t element(const void *array, int64_t i, rd_dtype type)
{
    return type == RD_F8 ? ((const uint8_t *)array)[i] : ((const uint16_t *)array)[i];
}

static void set_element(void *array, int64_t i, rd_dtype type, uint16_t bits)
{
    if (type == RD_F8)
        ((uint8_t *)array)[i] = (uint8_t)bits;
    else
        ((uint16_t *)array)[i] = bits;
}

START_TEST(numbers_are_known)
{
    const rd_dtype type = types[_i];

    for (int k = 0; k < N_KNOWN; k++) {
        const rd_word x = rd_word_load(&known[k].bits[_i], type);

        ck_assert_msg((double)x.f32 == known[k].value[_i] ||
                          (type == RD_F8 && fabsf(x.f32) == 448 && k + 2 >= N_KNOWN),
                      "%s: %a", known[k].name, (double)x.f32);
        ck_assert_uint_eq(bits_of(rd_word_from_double(known[k].value[_i], type), type),
                          known[k].bits[_i]);
    }
}
END_TEST

/* Each one is what the oracle says, and comes back as it was; of NaN stays that it is one, and its
 * sign. */
START_TEST(all_come_back)
{
    const rd_dtype type = types[_i];

    for (uint32_t k = 0; k < count_of(type); k++) {
        const uint16_t     bits = (uint16_t)k, back = bits_of(rd_word_load(&bits, type), type);
        const rd_word      x    = rd_word_load(&bits, type);
        const oracle_value want = oracle_load(&bits, type);

        if (is_nan(bits, type))
            ck_assert(isnan(x.f32) && isnan(want.v) && is_nan(back, type) &&
                      (back & sign_of(type)) == (bits & sign_of(type)));
        else
            ck_assert_msg((long double)x.f32 == want.v && back == bits, "%x: %a, %x", bits,
                          (double)x.f32, back);
    }
}
END_TEST

/* ---- Rounding -------------------------------------------------------------------------------- */
static void check_rounding(double v, rd_dtype type)
{
    uint16_t want = 0;

    oracle_store(&want, type, &(oracle_value){ .type = type, .v = v });
    const uint16_t found = bits_of(rd_word_from_double(v, type), type);
    ck_assert_msg(found == want, "%a to %s: %x, not %x", v, rd_dtype_name(type), found, want);
    if ((double)(float)v == v) {
        const uint16_t narrow =
            bits_of(rd_word_convert((rd_word){ .f32 = (float)v }, RD_F32, type), type);
        ck_assert_msg(narrow == want, "%a (f32) to %s: %x, not %x", v, rd_dtype_name(type), narrow,
                      want);
    }
}

/* Around each number and each tie, also so near that f32 would not tell: rounded twice, it would go
 * the wrong way. */
START_TEST(rounds_once)
{
    const rd_dtype type = types[_i];

    for (uint32_t k = 0; k + 1 < count_of(type); k++) {
        const uint16_t    bits[2] = { (uint16_t)k, (uint16_t)(k + 1) };
        const long double a = oracle_load(&bits[0], type).v, b = oracle_load(&bits[1], type).v;

        if (!isfinite(a) || !isfinite(b))
            continue;
        const double tie = (double)((a + b) / 2), near = ldexp(tie, -40);
        check_rounding((double)a, type);
        check_rounding(tie, type);
        check_rounding(tie + near, type);
        check_rounding(tie - near, type);
        check_rounding(nextafter(tie, INFINITY), type);
        check_rounding(nextafter((double)a, -INFINITY), type);
        check_rounding((double)nextafterf((float)tie, INFINITY), type);
        check_rounding((double)nextafterf((float)tie, -INFINITY), type);
    }
}
END_TEST

START_TEST(range_ends)
{
    const double greatest = (double)oracle_float_of(types[_i]).max,
                 least    = (double)oracle_float_of(types[_i]).tiny;
    /* half a step above; the last step of f8e4m3 is of numbers below 480, not below a power of 2 */
    const double above  = types[_i] == RD_F8
                              ? 464
                              : greatest * (1 + (double)oracle_float_of(types[_i]).u /
                                                   (2 - (double)oracle_float_of(types[_i]).u * 2));
    const double ends[] = { greatest,
                            above,
                            nextafter(above, 0),
                            nextafter(above, INFINITY),
                            2 * greatest,
                            1e300,
                            (double)INFINITY,
                            least,
                            least / 2,
                            nextafter(least / 2, 1),
                            nextafter(least / 2, 0),
                            1e-300 };

    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        check_rounding(ends[k], types[_i]);
        check_rounding(-ends[k], types[_i]);
    }
    ck_assert(is_nan(bits_of(rd_word_from_double((double)NAN, types[_i]), types[_i]), types[_i]));
}
END_TEST

/* Ints next to each tie, up to the largest. */
START_TEST(ints_round_once)
{
    const rd_dtype type = types[_i];

    for (int e = 0; e < 64; e++)
        for (int k = 0; k < 512; k++)
            for (int d = -1; d <= 1; d++) {
                const uint64_t x = ((uint64_t)1 << e) +
                                   (e > 9 ? (uint64_t)k << (e - 9) : (uint64_t)k) +
                                   (uint64_t)(int64_t)d;
                const uint16_t narrow =
                    bits_of(rd_word_convert((rd_word){ .u64 = x }, RD_U64, type), type);
                const uint16_t minus =
                    bits_of(rd_word_convert((rd_word){ .u64 = x }, RD_I64, type), type);
                uint16_t want = 0;

                oracle_store(&want, type, &(oracle_value){ .type = type, .v = (long double)x });
                ck_assert_msg(narrow == want, "%llu: %x, not %x", (unsigned long long)x, narrow,
                              want);
                oracle_store(&want, type,
                             &(oracle_value){ .type = type, .v = (long double)(int64_t)x });
                ck_assert_msg(minus == want, "%lld: %x, not %x", (long long)(int64_t)x, minus,
                              want);
            }
}
END_TEST

/* Rounded in f32 is what comes back from memory: every upper half of an f32, and lower halves that
 * round down, up, and not at all. */
START_TEST(rounds_in_f32)
{
    static const uint32_t low[] = { 0,      1,      0x0fff, 0x1000, 0x1001, 0x2000, 0x3000,
                                    0x7fff, 0x8000, 0x8001, 0xe000, 0xf000, 0xffff };

    for (uint32_t top = 0; top < ALL; top++)
        for (size_t k = 0; k < sizeof low / sizeof *low; k++) {
            const float x     = rd_float_of(top << 16 | low[k]);
            const float want  = _i == 0   ? rd_f16_to_f32(rd_f16_of_f32(x))
                                : _i == 1 ? rd_bf16_to_f32(rd_bf16_of_f32(x))
                                          : rd_f8_to_f32(rd_f8_of_f32(x)),
                        found = _i == 0   ? rd_round_f16(x)
                                : _i == 1 ? rd_round_bf16(x)
                                          : rd_round_f8e4m3(x);

            ck_assert_msg(rd_bits_f32(found) == rd_bits_f32(want), "%a (%x) to %s: %x, not %x",
                          (double)x, rd_bits_f32(x), rd_dtype_name(types[_i]), rd_bits_f32(found),
                          rd_bits_f32(want));
        }
}
END_TEST

/* ---- Kernels: bit by bit the plain code, NaN included ---------------------------------------- */
static const char *const sets[] = { "baseline", "avx2", "avx512" };

/* All halves in rows of every length and stride. */
START_TEST(kernels_load)
{
    static uint16_t x[3 * ALL];
    static float    y[ALL];
    const rd_dtype  type = types[_i];

    for (uint32_t k = 0; k < 3 * ALL; k++)
        set_element(x, k, type, (uint16_t)k);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const rd_simd *simd = rd_simd_named(sets[s]);

        for (int64_t stride = 1; simd && stride <= 3; stride += 2)
            for (int64_t n = ALL - 67; n <= ALL; n++) {
                simd->load[type](n, y, x, stride);
                for (int64_t k = n == ALL ? 0 : n - 70; k < n; k++) {
                    const uint16_t bits = element(x, k * stride, type);
                    ck_assert_msg(rd_bits_f32(y[k]) == rd_bits_f32(rd_word_load(&bits, type).f32),
                                  "%s: %s %x", sets[s], rd_dtype_name(type), bits);
                }
            }
    }
}
END_TEST

/* Floats of every exponent, every start and end of a fraction; rounded in place, and stored. */
static void fill(float *x, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const uint32_t top = (uint32_t)k << 12, low[] = { 0, 1, 0xfff, 0x800 };
        x[k] = rd_float_of(top | low[k % 4 ^ k / 4 % 4]);
    }
}

START_TEST(kernels_round)
{
    enum { N = 1 << 20 };
    float         *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    uint16_t      *to   = malloc(3 * N * sizeof *to);
    const rd_dtype type = types[_i];

    fill(x, N);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        const rd_simd *simd = rd_simd_named(sets[s]);

        for (int64_t n = N; simd && n > N - 40; n--) {
            const int64_t stride = n % 2 ? 3 : 1, first = n == N || n == N - 1 ? 0 : n - 50;

            memcpy(y, x, (size_t)n * sizeof *y);
            simd->wrap[type](n, y);
            simd->store[type](n, to, stride, x);
            for (int64_t k = first; k < n; k++) {
                const uint16_t want = bits_of((rd_word){ .f32 = x[k] }, type);
                ck_assert_msg(element(to, k * stride, type) == want, "%s: %a to %s is %x, not %x",
                              sets[s], (double)x[k], rd_dtype_name(type),
                              element(to, k * stride, type), want);
                ck_assert_msg(rd_bits_f32(y[k]) == rd_bits_f32(rd_word_load(&want, type).f32),
                              "%s: %a rounded to %s is %a", sets[s], (double)x[k],
                              rd_dtype_name(type), (double)y[k]);
            }
        }
    }
    free(x);
    free(y);
    free(to);
}
END_TEST

/* Sums in f32 of blocks that follow each other in memory, half as far apart as their sums' elements
 * would be. */
START_TEST(planes_add_up)
{
    enum { N = 8 * 8192, ROWS = 8 };
    rd_ctx   *ctx  = rd_ctx_new(NULL);
    uint16_t *x    = malloc(N * sizeof *x);
    rd_array  in   = { .data = x, .type = types[_i], .shape = RD_SHAPE(ROWS, N / ROWS / 64, 64) };
    rd_expr  *rows = rd_leaf(ctx, &in), *flat = rd_reshape(rows, RD_SHAPE(ROWS, N / ROWS));
    float     sums[2][ROWS], want[ROWS]       = { 0 };

    ck_assert_ptr_nonnull(x);
    for (int k = 0; k < N; k++) {
        const float v = (float)(types[_i] == RD_F8 ? k % 7 + k / 32768 : k % 7 + k / 4096);

        set_element(x, k, types[_i], bits_of((rd_word){ .f32 = v }, types[_i]));
        want[k / (N / ROWS)] += v;
    }
    ck_assert_int_eq(
        rd_eval(ctx, rd_sum(rows, RD_DIMS(1, 2), .type = RD_F32), RD_INTO(sums[0], RD_SHAPE(ROWS))),
        RD_OK);
    ck_assert_int_eq(
        rd_eval(ctx, rd_sum(flat, RD_DIMS(1), .type = RD_F32), RD_INTO(sums[1], RD_SHAPE(ROWS))),
        RD_OK);
    for (int k = 0; k < 2 * ROWS; k++)
        ck_assert_msg(sums[k / ROWS][k % ROWS] == want[k % ROWS], "row %d: %g, not %g", k % ROWS,
                      (double)sums[k / ROWS][k % ROWS], (double)want[k % ROWS]);
    rd_ctx_free(ctx);
    free(x);
}
END_TEST

/* ---- Copies ---------------------------------------------------------------------------------- */
/* A GPU's copies go through f32, which makes a NaN that signals a quiet one. */
static bool keeps(uint16_t found, uint32_t k, rd_dtype type)
{
    const char    *backend = getenv("RDIM_BACKEND");
    const uint16_t bits    = (uint16_t)(k % count_of(type));

    return found == bits ||
           (backend && strcmp(backend, "cuda") == 0 && is_nan(bits, type) && is_nan(found, type));
}

/* What is only copied keeps all bits, on this processor those of a NaN that signals, too: rolled, and
 * joined with what is computed. */
START_TEST(copies_keep_bits)
{
    static uint16_t bits[ALL], found[ALL];
    const rd_dtype  type = types[_i];
    rd_ctx         *ctx  = rd_ctx_new(NULL);
    rd_expr        *x =
        rd_leaf(ctx, &(rd_array){ .data = bits, .type = type, .shape = RD_SHAPE(256, 256) });
    rd_expr *mixed = rd_concat(0, RD_EXPRS(rd_slice(x, ":128"), rd_neg(rd_slice(x, "128:"))));
    rd_array out   = { .data = found, .type = type, .shape = RD_SHAPE(256, 256) };

    for (uint32_t k = 0; k < ALL; k++)
        set_element(bits, k, type, (uint16_t)k);
    ck_assert_msg(rd_eval(ctx, rd_roll(x, 1, 3), &out) == RD_OK, "%s", rd_error_text(ctx));
    for (uint32_t k = 0; k < ALL; k++)
        ck_assert(keeps(element(found, k, type), k / 256 * 256 + (k + 256 - 3) % 256, type));
    ck_assert_msg(rd_eval(ctx, mixed, &out) == RD_OK, "%s", rd_error_text(ctx));
    for (uint32_t k = 0; k < ALL; k++)
        ck_assert(k < ALL / 2 ? keeps(element(found, k, type), k, type)
                              : element(found, k, type) == (k % count_of(type) ^ sign_of(type)) ||
                                    is_nan((uint16_t)k, type));
    rd_ctx_free(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("halves");
    TCase *tests = tcase_create("halves");

    tcase_add_loop_test(tests, numbers_are_known, 0, TYPES);
    tcase_add_loop_test(tests, all_come_back, 0, TYPES);
    tcase_add_loop_test(tests, rounds_once, 0, TYPES);
    tcase_add_loop_test(tests, range_ends, 0, TYPES);
    tcase_add_loop_test(tests, ints_round_once, 0, TYPES);
    tcase_add_loop_test(tests, rounds_in_f32, 0, TYPES);
    tcase_add_loop_test(tests, kernels_load, 0, TYPES);
    tcase_add_loop_test(tests, kernels_round, 0, TYPES);
    tcase_add_loop_test(tests, planes_add_up, 0, TYPES);
    tcase_add_loop_test(tests, copies_keep_bits, 0, TYPES);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
