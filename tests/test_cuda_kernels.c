/* test_cuda_kernels.c - kernels of random expressions by NVRTC itself, where it is there: for three
 * architectures, without spilled registers.  Nothing runs; the driver is the fake one.
 *
 *     RD_DIFF_COUNT=200 build/release/tests/test_cuda_kernels   more of them */
#define _XOPEN_SOURCE 700 /* setenv */
#include "differential.h"
#include "eval/plan.h"
#include "fake_gpu.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/text.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

extern const char rd_cuda_prelude[];

enum { DEFAULT_COUNT = 24, PARTS = 8, SKIPPED = 77 };

/* About what an H100 has. */
static const rd_cuda_limits h100 = { .threads = 132 * 2048, .shared = 227 << 10 };

static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* "12 bytes spill stores": is any number of them not 0? */
static bool spills(const char *log)
{
    for (const char *at = log ? strstr(log, " bytes spill stores") : NULL; at;
         at             = strstr(at + 1, " bytes spill stores"))
        if (at[-1] != '0' || (at[-2] >= '0' && at[-2] <= '9'))
            return true;
    return false;
}

static void compiles(const char *text)
{
    static const int         architectures[] = { 75, 80, 90 };
    static const char *const options[]       = { "--ptxas-options=-v" };

    for (int k = 0; k < 3; k++) {
        const rd_nvrtc_text source = { .text         = text,
                                       .name         = "kernel.cu",
                                       .architecture = architectures[k],
                                       .options      = options,
                                       .n_options    = 1 };
        rd_nvrtc_image      image;
        char                why[RD_CUDA_TEXT];

        const bool compiled = rd_nvrtc_compile(&source, &image, why);

        if (!compiled || spills(image.log))
            fprintf(stderr, "%s\n%s\n", text + strlen(rd_cuda_prelude), image.log ? image.log : "");
        ck_assert_msg(compiled, "sm_%d: %s", architectures[k], why);
        ck_assert_msg(!spills(image.log), "sm_%d: registers are spilled", architectures[k]);
        rd_nvrtc_free(&image);
    }
}

/* How many it has; of what a GPU refuses 0. */
static int program_compiles(rd_ctx *ctx, const rd_program *p)
{
    rd_pool      *pool = rd_pool_new(ctx);
    rd_cuda_shape shape;
    rd_cuda_text  t    = { .s = &shape };
    rd_text       text = { 0 };
    bool          here;

    ck_assert(rd_cuda_shape_of(&shape, p, &h100, piece, pool));
    here = !shape.why;
    if (here) {
        rd_text_add(&text, "%s\n", rd_cuda_prelude);
        rd_cuda_write(&t, &text);
        ck_assert(!t.why && !text.failed);
        compiles(text.at);
    }
    rd_text_free(&text);
    rd_pool_free(pool);
    return here;
}

static int plan_compiles(const rd_plan *plan)
{
    int n = 0;

    for (int32_t k = 0; plan->parts && k < plan->parts->n; k++)
        n += plan_compiles(plan->parts->part[k].plan);
    for (int32_t k = 0; k < plan->n_stage; k++)
        n += program_compiles(plan->ctx, &plan->program[k]);
    return n;
}

/* As the CUDA backend plans them: lazily, products as loops. */
static int seed_compiles(uint64_t seed)
{
    const rd_eval_opts opts = { .backend       = RD_BACKEND_CPU,
                                .traversal     = RD_TRAVERSE_LAZY,
                                .deterministic = true };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    random_pool       *pool = random_pool_new(ctx, seed);
    rd_expr           *in[RANDOM_BLOCKS];
    const void        *data[RANDOM_BLOCKS];
    wanted             w[MOST_RESULTS];
    rd_array           out[MOST_RESULTS];
    rd_result          results[MOST_RESULTS];
    const int          n    = differential_results(pool, w);
    const int          n_in = differential_inputs(pool, in, data);
    int                done = 0;
    rd_plan           *plan;

    for (int i = 0; i < n; i++) {
        out[i]     = differential_dense(w[i].x);
        results[i] = (rd_result){ w[i].x, &out[i] };
    }
    plan = rd_plan_make(ctx, (rd_exprs){ in, n_in }, (rd_results){ results, n }, &opts);
    ck_assert_msg(plan || n == 0, "seed %" PRIu64 ": %s", seed, rd_error_text(ctx));
    if (plan)
        done = plan_compiles(plan);
    rd_plan_free(plan);
    for (int i = 0; i < n; i++) {
        free(out[i].data);
        wanted_free(&w[i]);
    }
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return done;
}

/* ---- What the compiler makes of each way ------------------------------------------------------- */
/* A loop of PTX, from a label to a branch back to it, without loops in it. */
typedef struct loop_facts {
    int instructions, loads, packs; /* loads of memory; of these, several elements at once */
} loop_facts;

/* The loop with most loads. */
static loop_facts busiest_loop(const char *ptx)
{
    loop_facts best = { 0 };

    for (const char *label = strstr(ptx, "\n$L__BB"); label; label = strstr(label + 1, "\n$L__BB")) {
        const size_t n   = strcspn(label + 1, ":");
        loop_facts   now = { 0 };
        bool         back = false;

        for (const char *at = strchr(label + 1, '\n'); at && !back && strncmp(at, "\n$L__BB", 7);
             at             = strchr(at + 1, '\n')) {
            const char *end = strchr(at + 1, '\n'), *target = strstr(at + 1, "$L__BB");

            if (!end || at[1] != '\t' || at[2] == '.' || at[2] == '/')
                continue;
            now.instructions++;
            now.loads += strncmp(at + 2, "ld.global", 9) == 0;
            now.packs += strncmp(at + 2, "ld.global.v", 11) == 0;
            back = target && target < end && strncmp(target, label + 1, n) == 0 && target[n] == ';';
        }
        if (back && (now.loads > best.loads || (now.loads == best.loads && now.instructions < best.instructions)))
            best = now;
    }
    return best;
}

START_TEST(random_kernels)
{
    const char   *asked = getenv("RD_DIFF_COUNT");
    const int64_t count = asked ? strtoll(asked, NULL, 10) : DEFAULT_COUNT;
    int           n     = 0;

    for (int64_t seed = 1 + _i; seed <= count; seed += PARTS)
        n += seed_compiles((uint64_t)seed);
    printf("part %d: %d kernels' texts for 3 architectures\n", _i, n);
}
END_TEST

int main(void)
{
    const char *why;
    Suite      *suite;
    TCase      *tc;
    SRunner    *runner;
    int         failed;

    if (!rd_nvrtc_api(&why)) {
        printf("skipped: %s\n", why);
        return SKIPPED;
    }
    suite = suite_create("cuda kernels");
    tc    = tcase_create("cuda kernels");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, random_kernels, 0, PARTS);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
