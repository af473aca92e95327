/* test_cuda_schemes.c - each way of a GPU to run, at sizes around its edges, on the fake one: the
 * CPU's bits, wherever data begin and however many threads there are; and which way it is. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "eval/plan.h"
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/strategy.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- The same bits --------------------------------------------------------------------------- */
static void same_bits(const gpu_case *c)
{
    rd_text report = { 0 };

    ck_assert_msg(gpu_same_bits(c, &report), "%s", report.at);
    rd_text_free(&report);
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
    { RD_I64, "1048576", 0 }, { RD_F8, "1", 0 },        { RD_F8, "1048576", 1 },
};

/* A program of floats alone takes the next of their types. */
static bool takes(const gpu_program *p, rd_dtype type)
{
    return !p->floats || rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* One program at all sizes. */
START_TEST(sizes)
{
    const gpu_program *p    = &gpu_programs[_i];
    const int          each = SANITIZED ? 96 : suite_long_part(24);
    int                k    = _i % COUNT(kinds);

    while (!takes(p, kinds[k].type))
        k = (k + 1) % COUNT(kinds);
    fake_use_order(_i + k);
    setenv("RDIM_CUDA_THREADS", kinds[k].threads, 1);
    for (int i = _i % each; i < n_gpu_sizes; i += each)
        same_bits(&(gpu_case){ p, kinds[k].type, gpu_sizes[i].rows, gpu_sizes[i].columns,
                               kinds[k].shift, false });
    rd_gpu_close_all();
}
END_TEST

/* Scans along rows, in all orders of blocks: tiles wait for others in random ones. */
START_TEST(scans)
{
    const gpu_program *p    = &gpu_scan_programs[_i];
    const int          each = SANITIZED ? 96 : suite_long_part(24);
    int                k    = (3 * _i + 1) % COUNT(kinds);

    setenv("RDIM_CUDA_THREADS", kinds[k].threads, 1);
    for (int i = _i % each; i < n_gpu_scan_sizes; i += each) {
        fake_use_order(i + k);
        same_bits(&(gpu_case){ p, kinds[k].type, gpu_scan_sizes[i].rows, gpu_scan_sizes[i].columns,
                               kinds[k].shift, false });
    }
    rd_gpu_close_all();
}
END_TEST

/* Pairs of points: few threads have four results each, many have one and a part of the others. */
static const struct {
    rd_dtype    type;
    const char *threads;
    int         shift;
} pair_kinds[] = {
    { RD_F32, "1", 0 },  { RD_F32, "1048576", 1 }, { RD_F64, "1", 1 },       { RD_F16, "300", 0 },
    { RD_BF16, "1", 3 }, { RD_I32, "300", 0 },     { RD_F64, "1048576", 0 }, { RD_U8, "1", 0 },
};

START_TEST(pairs)
{
    const gpu_program *p    = &gpu_pair_programs[_i];
    const int          each = SANITIZED ? 96 : suite_long_part(24);
    int                k    = _i % COUNT(pair_kinds);

    while (!takes(p, pair_kinds[k].type))
        k = (k + 1) % COUNT(pair_kinds);
    fake_use_order(_i + k);
    setenv("RDIM_CUDA_THREADS", pair_kinds[k].threads, 1);
    for (int i = _i % each; i < n_gpu_pair_sizes; i += each)
        same_bits(&(gpu_case){ p, pair_kinds[k].type, gpu_pair_sizes[i].rows,
                               gpu_pair_sizes[i].columns, pair_kinds[k].shift, false });
    rd_gpu_close_all();
}
END_TEST

/* Short rows, of some programs over any rows and of those made for them; each size of another
 * type. */
static const char *const row_names[] = {
    "sum of rows", "max of rows",    "argmax of rows", "mean where",   "logsumexp of rows", "dot",
    "softmax",     "softmax in f64", "layer norm",     "scan of rows", "scan exclusive",    "scans",
    "siblings",    "map exp"
};

START_TEST(short_rows)
{
    const int          others = _i - COUNT(row_names);
    const gpu_program *p = others < 0 ? gpu_program_of(row_names[_i]) : &gpu_row_programs[others];
    const int          each = SANITIZED ? 96 : suite_long_part(24);

    fake_use_order(_i);
    for (int i = _i % each; i < n_gpu_row_sizes; i += each) {
        int k = (_i + i) % COUNT(kinds);

        while (!takes(p, kinds[k].type))
            k = (k + 1) % COUNT(kinds);
        setenv("RDIM_CUDA_THREADS", kinds[k].threads, 1);
        same_bits(&(gpu_case){ p, kinds[k].type, gpu_row_sizes[i].rows, gpu_row_sizes[i].columns,
                               kinds[k].shift, false });
    }
    rd_gpu_close_all();
}
END_TEST

/* Reductions along both axes: few threads do them in one read, many in two; and of the first kind
 * each row and each column is joined of few patches or of many. */
static const struct {
    rd_dtype    type;
    const char *threads;
    int         shift;
} cross_kinds[] = {
    { RD_F32, "1", 0 }, { RD_F64, "1", 0 },       { RD_BF16, "1", 0 },
    { RD_F32, "1", 1 }, { RD_I32, "1", 0 },       { RD_F16, "1", 3 },
    { RD_U8, "1", 0 },  { RD_F32, "1048576", 0 }, { RD_I64, "1", 1 },
};

START_TEST(both_ways)
{
    const gpu_program *p    = &gpu_cross_programs[_i];
    const int          each = SANITIZED ? 96 : suite_long_part(24);

    for (int i = 0; i < n_gpu_cross_sizes; i++) {
        int k = (_i + i) % COUNT(cross_kinds);

        if ((_i + i) % each)
            continue;
        while (!takes(p, cross_kinds[k].type))
            k = (k + 1) % COUNT(cross_kinds);
        fake_use_order(_i + i);
        setenv("RDIM_CUDA_THREADS", cross_kinds[k].threads, 1);
        same_bits(&(gpu_case){ p, cross_kinds[k].type, gpu_cross_sizes[i].rows,
                               gpu_cross_sizes[i].columns, cross_kinds[k].shift, false });
        rd_gpu_close_all();
    }
}
END_TEST

/* A power of two of ranges, the last one shorter: what a range begins with are as many nodes as its
 * number has bits. */
START_TEST(scans_in_few_ranges)
{
    static const char *const names[]   = { "scan down", "scan of columns" };
    static const char *const threads[] = { "2", "4", "8" };

    for (int k = 0; k < COUNT(names); k++) {
        fake_use_order(k);
        setenv("RDIM_CUDA_THREADS", threads[_i], 1);
        same_bits(&(gpu_case){ gpu_program_of(names[k]), RD_F32, 12296, 4, 0, false });
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
                same_bits(&(gpu_case){ gpu_program_of(names[k]), RD_F32, 1, n, 0, false });
                rd_gpu_close_all();
            }
}
END_TEST

/* A round of a team is two steps, which a block may end between: 513 steps for each row of a
 * channel. */
START_TEST(rounds_of_two_steps)
{
    fake_use();
    same_bits(&(gpu_case){ gpu_program_of("var of channels"), RD_F64, 16388, 8, 0, false });
    rd_gpu_close_all();
}
END_TEST

/* ---- Which way ------------------------------------------------------------------------------- */
typedef struct way {
    const char *program;
    rd_dtype    type;
    int64_t     rows, columns;
    const char *text; /* of the only stage, or of the first */
} way;

static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

static const way ways[] = {
    { "var of channels", RD_F32, 4096, 3136,
      "strips: 2 items, 16 threads each, i2 spread, 4 side by side, i1 in 64 ranges of 64" },
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
    { "sum of rows", RD_F32, 8192, 33,
      "short rows: 8192 items, 1 thread each, rows of 33 in, 16928 bytes" },
    { "sum of rows", RD_F32, 100000, 8,
      "short rows: 100000 items, 1 thread each, rows of 8 in, 4640 bytes" },
    { "sum of rows", RD_F16, 100000, 33,
      "short rows: 100000 items, 1 thread each, rows of 33 in, 8736 bytes" },
    { "sum of rows", RD_U8, 100000, 5,
      "short rows: 100000 items, 1 thread each, rows of 5 in, 1568 bytes" },
    { "sum of rows", RD_F32, 100000, 4, "plain: 100000 items, 1 thread each" },
    { "sum of rows", RD_U8, 100000, 3, "plain: 100000 items, 1 thread each" },
    { "sum of rows", RD_F32, 100000, 37,
      "short rows: 100000 items, 1 thread each, rows of 37 in, 18976 bytes" },
    { "sum of rows", RD_F32, 100000, 38,
      "strips: 100000 items, 32 threads each, i1 spread, 2 side by side" },
    { "softmax", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 10 kept, 5664 bytes" },
    { "softmax", RD_F32, 300000, 4,
      "short rows: 300000 items, 1 thread each, rows of 4 kept, 2592 bytes" },
    { "softmax in f64", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 10 kept, 16960 bytes" },
    { "layer norm", RD_F64, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 11296 bytes" },
    { "scan of rows", RD_F32, 300000, 63,
      "short rows: 300000 items, 1 thread each, rows of 63 in, 63 out, 32288 bytes" },
    { "scan of rows", RD_F64, 300000, 63,
      "short rows: 300000 items, 1 thread each, rows of 63 in, 63 out, 64544 bytes" },
    { "scan of rows", RD_F32, 300000, 160, "plain: 300000 items, 1 thread each" },
    { "scans", RD_F32, 300000, 63,
      "short rows: 300000 items, 1 thread each, rows of 63 in, 63 out, 63 out, 64576 bytes" },
    { "softmax of parts", RD_F32, 300000, 34,
      "short rows: 300000 items, 1 thread each, rows of 32 in, 32 out, 32 kept, 33856 bytes" },
    { "every other row", RD_F32, 300000, 10,
      "short rows: 150000 items, 1 thread each, rows of 10 in, 10 out, 11328 bytes" },
    { "sums by threes", RD_F32, 300000, 33,
      "short rows: 900000 items, 1 thread each, rows of 33 in, 5840 bytes" },
    { "softmax of twos", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 10 kept, 5664 bytes" },
    { "rows of blocks", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 5664 bytes" },
    { "steps", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 5664 bytes" },
    { "rows backwards", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 11328 bytes" },
    { "centred to f16", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 10 out, 8256 bytes" },
    { "weighted", RD_F32, 300000, 10,
      "short rows: 300000 items, 1 thread each, rows of 10 in, 5664 bytes" },
    { "sum of rows", RD_F32, 4, 1048576,
      "strips: 4 items, 16 threads each, i1 spread, 4 side by side, i1 in 128 ranges of 8192" },
    { "sum of columns", RD_F32, 4096, 4096,
      "columns: 1024 items, 1 thread each, 4 side by side, i1 in 8 ranges of 512" },
    { "sum of columns", RD_F16, 4096, 4096,
      "columns: 512 items, 1 thread each, 8 side by side, i1 in 16 ranges of 256" },
    { "sum of columns", RD_F32, 4096, 4094,
      "columns: 2047 items, 1 thread each, 2 side by side, i1 in 4 ranges of 1024" },
    { "sum of columns", RD_F32, 1048576, 3,
      "strips: 3 items, 32 threads each, i1 spread, i1 in 64 ranges of 16384" },
    { "sum of columns", RD_F32, 100000, 24,
      "columns: 6 items, 1 thread each, 4 side by side, i1 in 782 ranges of 128" },
    { "argmin of columns", RD_F32, 4096, 4096,
      "columns: 1024 items, 1 thread each, 4 side by side, i1 in 8 ranges of 512" },
    { "softmax", RD_F32, 8192, 1024,
      "strips: 8192 items, 32 threads each, i1 spread, i1 spread, i1 spread, "
      "2 side by side, 1 row in shared memory" },
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
      "strips: 8192 items, 32 threads each, i1 spread, i1 spread, 2 side by side, "
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
    { "scan of rows", RD_F32, 8192, 1024,
      "scans: 8192 items, 128 threads each, 4 side by side, i1 by tiles of 1024, once" },
    { "scan of rows", RD_F32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 4096, once" },
    { "scan of rows", RD_F16, 4, 100001,
      "scans: 4 items, 128 threads each, 8 side by side, i1 by tiles of 4096, once" },
    { "scan of rows", RD_F64, 4, 100000,
      "scans: 4 items, 128 threads each, 2 side by side, i1 by tiles of 2048, once" },
    { "scan exclusive", RD_I32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 2048, once" },
    { "scans", RD_F32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 2048, once" },
    { "scan back", RD_F32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 2048, once" },
    { "scans together", RD_F32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 1024, once" },
    { "scan of products", RD_F32, 4, 100000, "plain: 4 items, 1 thread each" },
    { "scan of products", RD_I32, 4, 100000,
      "scans: 4 items, 128 threads each, 4 side by side, i1 by tiles of 2048, once" },
    { "scan of rows", RD_F32, 100000, 256, "plain: 100000 items, 1 thread each" },
    { "scan of columns", RD_F32, 8192, 1024,
      "plain: 1024 items, 1 thread each, i0 in 8 ranges of 1024, twice" },
    { "rows and columns", RD_F32, 4096, 4096,
      "rows and columns: 64 patches of 64 by 4096, i1 and i0, 16 threads a row, "
      "4 side by side, 8 rows at a time" },
    { "rows and columns", RD_F16, 4096, 4095,
      "rows and columns: 64 patches of 64 by 4095, i1 and i0, 8 threads a row, "
      "8 side by side, 4 rows at a time" },
    { "rows and columns", RD_F64, 4096, 10000,
      "rows and columns: 320 patches of 64 by 2048, i1 and i0, 16 threads a row, "
      "2 side by side, 8 rows at a time" },
    { "rows and columns", RD_F32, 1048576, 40,
      "columns: 10 items, 1 thread each, 4 side by side, i1 in 512 ranges of 2048" },
    { "two of rows", RD_F32, 4096, 4096,
      "rows and columns: 64 patches of 64 by 4096, i0 and i1, 16 threads a row, "
      "4 side by side, 8 rows at a time" },
    { "two of columns", RD_F32, 4096, 4096,
      "rows and columns: 64 patches of 64 by 4096, i1 and i0, 16 threads a row, "
      "4 side by side, 4 rows at a time" },
    { "exp both ways", RD_F32, 4096, 4096,
      "rows and columns: 64 patches of 64 by 4096, i0 and i1, 16 threads a row, "
      "4 side by side, 4 rows at a time" },
    { "cubes both ways", RD_F32, 1024, 1024,
      "rows and columns: 48 patches of 64 by 1024, i2 and i1, 16 threads a row, "
      "4 side by side, 8 rows at a time" },
    { "both ways and all", RD_F32, 4096, 4096,
      "rows and columns: 64 patches of 64 by 4096, i1 and i0, 16 threads a row, "
      "4 side by side, 8 rows at a time" },
    { "siblings", RD_F32, 8192, 1024,
      "strips: 8192 items, 16 threads each, i1 spread, 4 side by side" },
    { "gauss", RD_F32, 100000, 3,
      "pairs: 25088 items, 1 thread each, 4 side by side, i2 by tiles of 128" },
    { "gauss", RD_F32, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "gauss", RD_F32, 1000, 3,
      "pairs: 1024 items, 1 thread each, i2 by tiles of 128, i2 in 8 ranges of 128" },
    { "gauss", RD_F32, 63, 3, "short rows: 63 items, 1 thread each, rows of 3 in, 1568 bytes" },
    { "gauss", RD_F64, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "gauss", RD_F16, 10000, 16,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "gauss", RD_F32, 10000, 50,
      "pairs: 5120 items, 1 thread each, 2 side by side, i2 by "
      "tiles of 64, i2 in 2 ranges of 8192" },
    { "gauss", RD_F32, 10000, 100, "pairs: 10112 items, 1 thread each, i2 by tiles of 128" },
    { "gauss", RD_F32, 10000, 400, "plain: 10000 items, 1 thread each" },
    { "many others", RD_F32, 100000, 3,
      "pairs: 8448 items, 1 thread each, 4 side by side, i2 by tiles of 128" },
    { "gauss of columns", RD_F32, 3, 10000,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "nearest", RD_F32, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "forces", RD_F32, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i2 by "
      "tiles of 128, i2 in 3 ranges of 4096" },
    { "batches of pairs", RD_F32, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i3 by "
      "tiles of 128, i3 in 3 ranges of 2048" },
    { "pairs of numbers", RD_F32, 10000, 3,
      "pairs: 2560 items, 1 thread each, 4 side by side, i1 by "
      "tiles of 128, i1 in 3 ranges of 4096" },
};

/* Bytes of the nodes that ranges leave, for each that is read, at most.  Nobody reads the data. */
static const struct {
    const char *program;
    int64_t     rows, columns;
    double      most;
} large[] = { { "sum of all", 1, INT64_C(1) << 30, 0.0025 },
              { "sum of columns", INT64_C(1) << 20, 1 << 10, 0.0025 },
              { "var of rows", 16, INT64_C(1) << 26, 0.01 },
              { "var of channels", 1 << 18, 3136, 0.07 } };

START_TEST(nodes_are_few)
{
    static const rd_cuda_limits h100 = { .threads = 132 * 2048, .shared = 227 << 10 };
    const rd_eval_opts          opts = { .traversal = RD_TRAVERSE_LAZY, .deterministic = true };
    float                       some = 0;
    rd_ctx                     *ctx  = rd_ctx_new(NULL);
    rd_pool                    *pool = rd_pool_new(ctx);
    rd_array                    x    = { .data  = &some,
                                         .type  = RD_F32,
                                         .shape = RD_SHAPE(large[_i].rows, large[_i].columns) };
    rd_array                    out  = { .data = NULL };
    rd_expr                    *y[GPU_MOST_RESULTS];
    rd_result                   result;
    rd_plan                    *plan;
    rd_cuda_strategy            s;

    (void)gpu_program_of(large[_i].program)->build(rd_leaf(ctx, &x), y);
    result = (rd_result){ y[0], &out };
    plan   = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, &opts);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert(rd_cuda_choose_strategy(&s, &plan->program[0], &h100, piece, pool));
    ck_assert_int_gt(s.n_split, 0);

    const double read  = 4. * (double)large[_i].rows * (double)large[_i].columns;
    const double nodes = (double)(s.n_item * s.item_rows * s.row_bytes);

    ck_assert_msg(nodes <= large[_i].most * read, "%s: %.4f", large[_i].program, nodes / read);
    rd_plan_free(plan);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(table_of_ways)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CUDA, .deterministic = true };
    const way         *w    = &ways[_i];
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    /* nobody reads it */
    rd_array x = { .data  = calloc((size_t)(w->rows * w->columns), (size_t)rd_dtype_size(w->type)),
                   .type  = w->type,
                   .shape = RD_SHAPE(w->rows, w->columns) };
    gpu_results all;
    const char *text, *at;

    fake_use();
    gpu_build(gpu_program_of(w->program), rd_leaf(ctx, &x), &all);
    text = rd_explain(ctx, (rd_results){ all.at, all.n }, &opts);
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
    tcase_add_test(tc, rounds_of_two_steps);
    tcase_add_loop_test(tc, scans_in_few_ranges, 0, 3);
    tcase_add_loop_test(tc, nodes_are_few, 0, COUNT(large));
    tcase_add_loop_test(tc, sizes, 0, n_gpu_programs);
    tcase_add_loop_test(tc, scans, 0, n_gpu_scan_programs);
    tcase_add_loop_test(tc, pairs, 0, n_gpu_pair_programs);
    tcase_add_loop_test(tc, short_rows, 0, COUNT(row_names) + n_gpu_row_programs);
    tcase_add_loop_test(tc, both_ways, 0, n_gpu_cross_programs);
}

int main(void)
{
    return fake_run("cuda schemes", add);
}
