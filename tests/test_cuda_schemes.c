/* test_cuda_schemes.c - each way of a GPU to run, at sizes around its edges, on the fake one: the
 * CPU's bits, wherever data begin and however many threads there are; and which way it is. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "eval/plan.h"
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- The same bits --------------------------------------------------------------------------- */
typedef struct asked {
    const gpu_program *program;
    rd_dtype           type;
    int64_t            rows, columns;
    int                shift; /* elements before the first one in memory that begins at a vector */
} asked;

static bool is_float(rd_dtype type)
{
    return type == RD_F16 || type == RD_BF16 || type == RD_F32 || type == RD_F64;
}

static void evaluate(const asked *a, rd_ctx *ctx, rd_expr *x, rd_backend backend, rd_array *out)
{
    const rd_eval_opts opts = { .backend = backend, .deterministic = true };
    rd_expr           *y[GPU_MOST_RESULTS];
    const int          n = a->program->build(x, y);
    const rd_status    status =
        n == 1 ? rd_eval_many(ctx, RD_RESULTS({ y[0], &out[0] }), &opts)
                  : rd_eval_many(ctx, RD_RESULTS({ y[0], &out[0] }, { y[1], &out[1] }), &opts);

    ck_assert_msg(status == RD_OK, "%s of %d x %d: %s", a->program->name, (int)a->rows,
                  (int)a->columns, rd_error_text(ctx));
}

static size_t bytes_of(const rd_array *array)
{
    int64_t n = rd_dtype_size(array->type);

    for (int k = 0; k < array->shape.n; k++)
        n *= array->shape.at[k];
    return (size_t)n;
}

/* The matrix on the GPU, `shift` elements behind what begins at a multiple of 256. */
static rd_array put_there(const asked *a, rd_ctx *ctx, const rd_array *here, rd_array *all)
{
    const int64_t n     = a->rows * a->columns;
    rd_array      block = gpu_matrix(a->type, 1, n + a->shift), there;
    const int     size  = rd_dtype_size(a->type);

    memcpy((char *)block.data + a->shift * size, here->data, (size_t)(n * size));
    *all = (rd_array){ .device = RD_CUDA(0) };
    ck_assert_msg(rd_eval(ctx, rd_leaf(ctx, &block), all) == RD_OK, "%s", rd_error_text(ctx));
    free(block.data);
    there        = *here;
    there.data   = (char *)all->data + a->shift * size;
    there.device = RD_CUDA(0);
    return there;
}

static void same_bits(const asked *a)
{
    rd_ctx  *ctx                     = rd_ctx_new(NULL);
    rd_array x                       = gpu_matrix(a->type, a->rows, a->columns), all, there;
    rd_array want[GPU_MOST_RESULTS]  = { { .data = NULL } };
    rd_array found[GPU_MOST_RESULTS] = { { .data = NULL } };

    there = put_there(a, ctx, &x, &all);
    evaluate(a, ctx, rd_leaf(ctx, &x), RD_BACKEND_CPU, want);
    evaluate(a, ctx, rd_leaf(ctx, &there), RD_BACKEND_CUDA, found);
    for (int k = 0; k < GPU_MOST_RESULTS && want[k].data; k++) {
        const char  *w = want[k].data, *f = found[k].data;
        const size_t n  = bytes_of(&want[k]);
        size_t       at = 0;

        while (at < n && w[at] == f[at])
            at++;
        ck_assert_msg(at == n, "%s of %s, %d x %d, shifted by %d: byte %d of result %d differs",
                      a->program->name, rd_dtype_name(a->type), (int)a->rows, (int)a->columns,
                      a->shift, (int)at, k);
    }
    for (int k = 0; k < GPU_MOST_RESULTS; k++) {
        rd_array_free(&want[k]);
        rd_array_free(&found[k]);
    }
    rd_array_free(&all);
    free(x.data);
    rd_ctx_free(ctx);
}

/* Around a lane's step, blocks of 64 lanes, powers of two of them. */
static const int64_t lengths[] = { 1,    63,   64,   65,           512,      1000,
                                   4095, 4096, 4097, 3 * 4096 + 8, 16384 + 4 };
static const int64_t widths[]  = { 1, 3, 4, 8, 20, 64, 129 };

static void each_size(const gpu_program *p, rd_dtype type, int shift)
{
    for (int k = 0; k < COUNT(lengths); k++) {
        const int64_t across = widths[k % COUNT(widths)];

        same_bits(&(asked){ p, type, across < 20 ? across : 3, lengths[k], shift });
        same_bits(&(asked){ p, type, lengths[k], across, shift });
    }
}

/* Types, which cut loops or do not, and begin at vectors or do not. */
static const struct {
    rd_dtype    type;
    const char *threads;
    int         shift;
} kinds[] = {
    { RD_F32, "1", 0 },       { RD_F32, "1048576", 0 }, { RD_F32, "1048576", 1 },
    { RD_F64, "1048576", 0 }, { RD_F16, "1", 0 },       { RD_BF16, "1048576", 3 },
    { RD_F64, "1", 1 },       { RD_U8, "1048576", 0 },  { RD_I32, "1", 0 },
    { RD_I64, "1048576", 0 },
};

/* One program at all sizes. */
START_TEST(sizes)
{
    enum { FEW = 10 };
    const gpu_program *p = &gpu_programs[_i];

    for (int k = _i % suite_part(FEW); k < COUNT(kinds); k += suite_part(FEW)) {
        fake_use_order(_i + k);
        setenv("RDIM_CUDA_THREADS", kinds[k].threads, 1);
        if (!p->floats || is_float(kinds[k].type))
            each_size(p, kinds[k].type, kinds[k].shift);
        rd_gpu_close_all();
    }
}
END_TEST

/* Blocks of the tree: powers of two of them, and one element more or less. */
START_TEST(powers_of_blocks)
{
    static const char *const names[] = { "sum of all", "var of rows", "logsumexp of rows",
                                         "argmax of rows" };

    for (int k = 0; k < COUNT(names); k++)
        for (int log = k % suite_part(2); log < 6; log += suite_part(2))
            for (int more = -1; more <= 1; more++) {
                const int64_t n = (INT64_C(4096) << log) + more;

                fake_use_order(log);
                setenv("RDIM_CUDA_THREADS", "1048576", 1);
                same_bits(&(asked){ gpu_program_of(names[k]), RD_F32, 1, n, 0 });
                rd_gpu_close_all();
            }
}
END_TEST

/* ---- Which way ------------------------------------------------------------------------------- */
typedef struct way {
    const char *program;
    rd_dtype    type;
    int64_t     rows, columns;
    const char *text; /* of the only stage, or of the first */
} way;

static const way ways[] = {
    { "sum of all", RD_F32, 4096, 4096,
      "strips: 1 items, 16 threads each, i1 spread, 4 side by side, "
      "i1 in 512 ranges of 32768" },
    { "sum of all", RD_BF16, 4096, 4096,
      "strips: 1 items, 8 threads each, i1 spread, 8 side by side, "
      "i1 in 1024 ranges of 16384" },
    { "sum of all", RD_F64, 4096, 4096,
      "strips: 1 items, 16 threads each, i1 spread, 2 side by side, "
      "i1 in 512 ranges of 32768" },
    { "sum of all", RD_F32, 1, 1000,
      "strips: 1 items, 16 threads each, i0 spread, 4 side by side" },
    { "sum of rows", RD_F32, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, 4 side by side" },
    { "sum of rows", RD_F32, 8192, 1022,
      "strips: 8192 items, 32 threads each, i1 spread, 2 side by side" },
    { "sum of rows", RD_F16, 8192, 1024,
      "strips: 8192 items, 8 threads each, i1 spread, 8 side by side" },
    { "sum of rows", RD_F32, 8192, 33, "plain: 8192 items, 1 thread each" },
    { "sum of rows", RD_F32, 100000, 8, "plain: 100000 items, 1 thread each" },
    { "sum of rows", RD_F32, 4, 1048576,
      "strips: 4 items, 16 threads each, i1 spread, 4 side by side, i1 in 128 ranges of 8192" },
    { "sum of columns", RD_F32, 4096, 4096,
      "columns: 1024 items, 1 thread each, 4 side by side, i1 in 8 ranges of 512" },
    { "sum of columns", RD_F16, 4096, 4096,
      "columns: 512 items, 1 thread each, 8 side by side, i1 in 16 ranges of 256" },
    { "sum of columns", RD_F32, 4096, 4094,
      "columns: 2047 items, 1 thread each, 2 side by side, i1 in 5 ranges of 832" },
    { "sum of columns", RD_F32, 1048576, 3,
      "strips: 3 items, 32 threads each, i1 spread, i1 in 86 ranges of 12288" },
    { "sum of columns", RD_F32, 100000, 24,
      "columns: 6 items, 1 thread each, 4 side by side, i1 in 782 ranges of 128" },
    { "argmin of columns", RD_F32, 4096, 4096,
      "columns: 1024 items, 1 thread each, 4 side by side, i1 in 8 ranges of 512" },
    { "softmax", RD_F32, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, i1 spread, i1 spread, "
      "4 side by side, 1 row in shared memory" },
    { "softmax", RD_F32, 8192, 4096,
      "strips: 8192 items, 32 threads each, i1 spread, i1 spread, i1 spread, "
      "2 side by side, 1 row in shared memory" },
    { "softmax", RD_F32, 8192, 5000,
      "strips: 8192 items, 16 threads each, i1 spread, i1 spread, i1 spread, 4 side by side" },
    { "softmax", RD_F32, 4, 65536,
      "strips: 4 items, 16 threads each, i1 spread, i1 spread, i1 spread, "
      "4 side by side, i1 in 16 ranges of 4096, 3 kernels of them" },
    { "softmax of columns", RD_F32, 65536, 16,
      "columns: 4 items, 1 thread each, 4 side by side, i0 in 1024 ranges of 64" },
    { "layer norm", RD_F32, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, i1 spread, 4 side by side, "
      "1 row in shared memory" },
    { "layer norm", RD_F64, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, i1 spread, 2 side by side, "
      "1 row in shared memory" },
    { "centred columns", RD_F32, 65536, 16,
      "columns: 4 items, 1 thread each, 4 side by side, i0 in 1024 ranges of 64" },
    { "map", RD_F32, 4096, 4096, "maps: 16384 items, 32 threads each, i1 spread, 4 side by side" },
    { "map", RD_U8, 4096, 4096, "maps: 16384 items, 32 threads each, i1 spread, 8 side by side" },
    { "map", RD_F32, 1, 3, "maps: 3 items, 1 thread each" },
    { "map to f16", RD_F32, 4096, 4096,
      "maps: 16384 items, 32 threads each, i1 spread, 8 side by side" },
    { "concat", RD_F32, 4096, 4096,
      "maps: 16384 items, 32 threads each, i1 spread, 4 side by side" },
    { "transpose", RD_F32, 4096, 4096, "maps: 16384 items, 32 threads each, i0 and i1 by squares" },
    { "scan of rows", RD_F32, 8192, 1024, "plain: 8192 items, 1 thread each" },
    { "scan of columns", RD_F32, 8192, 1024,
      "plain: 1024 items, 1 thread each, i0 in 8 ranges of 1024, twice" },
    { "rows and columns", RD_F32, 4096, 4096,
      "columns: 1024 items, 1 thread each, 4 side by side, i1 in 8 ranges of 512" },
    { "siblings", RD_F32, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, 4 side by side" },
};

START_TEST(table_of_ways)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .deterministic = true };
    const way         *w    = &ways[_i];
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    /* nobody reads it */
    rd_array x = { .data  = calloc((size_t)(w->rows * w->columns), (size_t)rd_dtype_size(w->type)),
                   .type  = w->type,
                   .shape = RD_SHAPE(w->rows, w->columns) };
    rd_expr *y[GPU_MOST_RESULTS];
    rd_array out[GPU_MOST_RESULTS] = { { .data = NULL } };
    const char *text, *at;
    int         n;

    fake_use();
    n    = gpu_program_of(w->program)->build(rd_leaf(ctx, &x), y);
    text = n == 1 ? rd_explain(ctx, RD_RESULTS({ y[0], &out[0] }), &opts)
                  : rd_explain(ctx, RD_RESULTS({ y[0], &out[0] }, { y[1], &out[1] }), &opts);
    at   = text ? strstr(text, "9.0): ") : NULL;
    ck_assert_msg(at, "%s", text ? text : rd_error_text(ctx));
    at += strlen("9.0): ");
    ck_assert_msg(strncmp(at, w->text, strcspn(at, "\n")) == 0, "%s of %s, %d x %d: %.*s",
                  w->program, rd_dtype_name(w->type), (int)w->rows, (int)w->columns,
                  (int)strcspn(at, "\n"), at);
    free(x.data);
    rd_ctx_free(ctx);
    rd_gpu_close_all();
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_loop_test(tc, table_of_ways, 0, COUNT(ways));
    tcase_add_test(tc, powers_of_blocks);
    tcase_add_loop_test(tc, sizes, 0, n_gpu_programs);
}

int main(void)
{
    return fake_run("cuda schemes", add);
}
