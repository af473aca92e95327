/* test_cuda_exp.c - exp of f32 as kernels have it (cuda/text/exp.cuh), run by the fake driver: the
 * bits of math_exp.h.
 *
 *     RD_EXP_STEP=1 build/release/tests/test_cuda_exp   all floats, where else every 4093rd is
 * taken */
#include "fake_gpu.h"
#include "kernels/math/math.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

extern const char rd_cuda_prelude[];

/* exps(first, step, y, low): of floats by their bits. */
static const char exps_text[] =
    "\nextern \"C\" __global__ void exps(unsigned first, unsigned step, float *y, float *low)\n"
    "{\n"
    "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const float    x = rd_float_of(first + i * step);\n"
    "    rd_fill_exp_table();\n"
    "    y[i]   = rd_math_exp_f32(x);\n"
    "    low[i] = rd_exp_low_f32(x) * RD_EXP_LOW_UNIT_f32;\n"
    "}\n";

enum { AT_ONCE = 1 << 16, STEP = 4093 };

typedef struct exps {
    gpu         g;
    CUmodule    module;
    CUdeviceptr y, low;
    float       got[AT_ONCE], got_low[AT_ONCE];
} exps;

static exps *exps_begin(void)
{
    const size_t bytes = strlen(rd_cuda_prelude) + sizeof exps_text;
    char        *text  = malloc(bytes);
    exps        *e     = calloc(1, sizeof *e);

    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_nonnull(e);
    strcpy(text, rd_cuda_prelude);
    strcat(text, exps_text);
    fake_use();
    e->g      = gpu_begin();
    e->module = gpu_load(&e->g, text);
    e->y      = gpu_get(&e->g, sizeof e->got);
    e->low    = gpu_get(&e->g, sizeof e->got_low);
    ck_assert_str_eq(e->g.why, "");
    free(text);
    return e;
}

static void exps_end(exps *e)
{
    GPU_RELEASE(&e->g, cuMemFree_v2, e->y);
    GPU_RELEASE(&e->g, cuMemFree_v2, e->low);
    GPU_RELEASE(&e->g, cuModuleUnload, e->module);
    gpu_end(&e->g);
    free(e);
}

static bool is_same(float a, float b)
{
    return rd_bits_f32(a) == rd_bits_f32(b) || (a != a && b != b);
}

/* AT_ONCE floats. */
static void compare(exps *e, uint32_t first, uint32_t step)
{
    gpu *g = &e->g;

    gpu_launch(g, e->module, "exps", AT_ONCE / THREADS, THREADS,
               (void *[]){ &first, &step, &e->y, &e->low });
    (void)GPU_CALL(g, cuMemcpyDtoHAsync_v2, e->got, e->y, sizeof e->got, g->stream);
    (void)GPU_CALL(g, cuMemcpyDtoHAsync_v2, e->got_low, e->low, sizeof e->got_low, g->stream);
    (void)GPU_CALL(g, cuStreamSynchronize, g->stream);
    ck_assert_str_eq(g->why, "");
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        const float x = rd_float_of(first + i * step), want = rd_math_exp_f32(x);

        if (!is_same(e->got[i], want) || (x <= 40 && !is_same(e->got_low[i], want)))
            ck_abort_msg("exp(%a): %a, of low ones %a, not %a", (double)x, (double)e->got[i],
                         (double)e->got_low[i], (double)want);
    }
}

START_TEST(all_bits)
{
    const char    *asked = getenv("RD_EXP_STEP");
    const uint32_t step  = asked ? (uint32_t)strtoul(asked, NULL, 10) : STEP;
    exps          *e     = exps_begin();

    for (uint64_t first = 0; first <= UINT32_MAX; first += (uint64_t)AT_ONCE * step)
        compare(e, (uint32_t)first, step);
    exps_end(e);
}
END_TEST

/* Where exp becomes 0, subnormal, 1, infinite; the ends of what is low; infinity and NaN. */
static const float edges[] = { -104, -103.97F, -87.34F,  -0x1p-24F, 0,       0x1p-24F,
                               40,   88.376F,  88.7228F, 89,        INFINITY };

START_TEST(around_edges)
{
    exps *e = exps_begin();

    for (int k = 0; k < (int)(sizeof edges / sizeof *edges); k++)
        for (int sign = 0; sign < 2; sign++)
            compare(e, rd_bits_f32(sign ? -edges[k] : edges[k]) - AT_ONCE / 2, 1);
    exps_end(e);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, all_bits);
    tcase_add_test(tc, around_edges);
}

int main(void)
{
    return fake_run("cuda_exp", add);
}
