/* test_semantics_float_env.c - the caller's floating-point environment changes no bit, on any number of threads,
 * and is the caller's again afterwards. */
#define _GNU_SOURCE /* feenableexcept */
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <fenv.h>
#include <float.h>
#include <rdim.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { N = 300000, RESULTS = 5, EXACT = 4 };

static float tiny[N], some[N];

/* What a caller may have set. */
static void set_mode(int mode)
{
    static const int round[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

    if (mode < 4)
        fesetround(round[mode]);
#ifdef __SSE2__
    if (mode == 4)
        _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zero */
#endif
#ifdef __GLIBC__
    if (mode == 5)
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
}

enum { MODES = 6, DEFAULT = 0 };

static void begin(void)
{
    for (int i = 0; i < N; i++) {
        tiny[i] = 1e-39f * (float)(1 + i % 5);
        some[i] = 0.1f + 0.001f * (float)(i % 1000);
    }
    some[7] = -1; /* of which a root is none */
}

static const char *own_block(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    if (fegetround() != FE_TONEAREST)
        return "another rounding";
    for (int64_t i = 0; i < n; i++) /* subnormal, and 0 where a thread flushes */
        ((float *)out)[i] = ((const float *)in[0])[i] * 0.5f;
    return NULL;
}

/* Expressions, too, are made in that environment: numbers in them are converted and folded. */
static void evaluate(int mode, int threads, float y[RESULTS], double exact[EXACT])
{
    static float  out[N];
    const rd_fn   half = { .size  = sizeof half,
                           .name  = "half",
                           .arity = 1,
                           .in    = RD_F32,
                           .out   = RD_F32,
                           .block = own_block };
    rd_ctx *const ctx  = rd_ctx_new(NULL);
    fenv_t        clean;

    fegetenv(&clean);
    set_mode(mode);
    rd_expr *const x = rd_wrap(ctx, tiny, RD_SHAPE(N)), *z = rd_wrap(ctx, some, RD_SHAPE(N));
    rd_expr *const scaled = rd_mul(z, rd_div(rd_num(ctx, 1), rd_num(ctx, 3)));
    rd_expr *const text   = rd_formula(ctx, "sqrt(z) * 0.1 / 3", RD_NAMES({ "z", z }));
    rd_expr *const wide   = rd_cast(rd_slice(z, "0:100"), RD_F64);
    rd_eval_many(
        ctx,
        RD_RESULTS(
            { rd_formula(ctx, "0.1", RD_NAMES({ "z", z })), RD_INTO(&exact[0], RD_SCALAR) },
            { rd_formula(ctx, "0.3 + 1e-310*1e3", RD_NAMES({ "z", z })),
              RD_INTO(&exact[1], RD_SCALAR) },
            { rd_sum(rd_normalise(wide, RD_DIMS(0), 3), RD_ALL), RD_INTO(&exact[2], RD_SCALAR) },
            { rd_sum(rd_rolling_var(wide, 0, 7, 0), RD_ALL), RD_INTO(&exact[3], RD_SCALAR) }),
        &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = threads });
    rd_eval_many(ctx,
                 RD_RESULTS({ rd_sum(x, RD_ALL), RD_INTO(&y[0], RD_SCALAR) },
                            { rd_mean(z, RD_ALL), RD_INTO(&y[1], RD_SCALAR) },
                            { rd_sum(rd_exp(scaled), RD_ALL), RD_INTO(&y[2], RD_SCALAR) },
                            { text, RD_INTO(out, RD_SHAPE(N)) },
                            { rd_sum(rd_map(x, &half), RD_ALL), RD_INTO(&y[4], RD_SCALAR) }),
                 &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = threads });
    const int round_now = fegetround();
#ifdef __SSE2__
    const unsigned flushes = _mm_getcsr() & 0x8040;
#endif
    fesetenv(&clean);
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    set_mode(mode);
    ck_assert_msg(fegetround() == round_now, "mode %d: the caller's rounding has changed", mode);
#ifdef __SSE2__
    ck_assert_msg((_mm_getcsr() & 0x8040) == flushes, "mode %d: flushing has changed", mode);
#endif
    fesetenv(&clean);
    y[3] = 0;
    for (int i = 0; i < N; i++)
        y[3] += i == 7 ? 0 : out[i];
    rd_ctx_free(ctx);
}

START_TEST(float_environment)
{
    static const char *const tiers[] = { "off", "sync" };
    float                    want[RESULTS], y[RESULTS];
    double                   exact[EXACT], same[EXACT];

    begin();
    rd_tier_force(tiers[_i]);
    evaluate(DEFAULT, 1, want, exact);
    ck_assert(want[0] > 0 && want[4] > 0);
    for (int mode = 0; mode < MODES; mode++)
        for (int threads = 1; threads <= 3; threads++) {
            evaluate(mode, threads, y, same);
            for (int k = 0; k < RESULTS; k++)
                ck_assert_msg(memcmp(&y[k], &want[k], sizeof *y) == 0,
                              "mode %d, %d threads, result %d: %a, and %a by default", mode,
                              threads, k, (double)y[k], (double)want[k]);
            for (int k = 0; k < EXACT; k++)
                ck_assert_msg(memcmp(&same[k], &exact[k], sizeof *same) == 0,
                              "mode %d, %d threads, f64 result %d: %a, and %a by default", mode,
                              threads, k, same[k], exact[k]);
        }
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("semantics_float_env");
    TCase   *tc = tcase_create("semantics_float_env");
    SRunner *r  = srunner_create(s);

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, float_environment, 0, 2);
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
