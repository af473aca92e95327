/* limits.c - what this machine can do at most, measured in the same run as the cases. */
#include "bench.h"
#include <unistd.h>

/* Below this scale a run is a test of the program, and figures need not be right. */
static const double QUICK = 0.002;

static const hand_isa *isa;

typedef struct probe {
    hand_fn  *run;
    hand_args args;
} probe;

static void run_probe(void *self)
{
    const probe *p = self;

    p->run(&p->args);
}

static double seconds(const probe *p, double scale)
{
    return bench_least_seconds((bench_action){ run_probe, (void *)p }, scale < QUICK ? 1 : 0);
}

/* Bytes a second when every thread reads `bytes` again and again. */
static double read_rate(int threads, int64_t bytes, double scale)
{
    const int64_t n     = bytes * threads / 8;
    const int64_t turns = (int64_t)(scale * (64 << 20)) / bytes + 1;
    double        out;
    const probe   p = { isa->f64[HAND_limit_read],
                        { threads,
                          { bench_input(0, RD_F64, n) },
                          { &out },
                          { n, turns, 0 },
                          { 0 },
                          8,
                          0,
                          NULL,
                          NULL } };

    return (double)(n * 8 * turns) / seconds(&p, scale);
}

/* Big arrays once through: bytes read and written a second. */
static double memory_rate(hand_op op, int threads, int64_t n, double scale)
{
    const probe p = { isa->f64[op],
                      { threads,
                        { bench_input(0, RD_F64, n) },
                        { bench_output(0, n * 8) },
                        { n, 1, 0 },
                        { 0 },
                        8,
                        0,
                        NULL,
                        NULL } };

    return (double)(n * 8 * (op == HAND_limit_copy ? 2 : 1)) / seconds(&p, scale);
}

/* Operations a second: `each` for every turn and lane. */
static double compute_rate(hand_op op, rd_dtype type, int threads, double each, double scale)
{
    const int64_t turns = (int64_t)(1e4 * scale * (op == HAND_limit_fma ? 300 : 0.2)) + 1;
    double        out;
    const probe   p = { (type == RD_F32 ? isa->f32 : isa->f64)[op],
                        { threads,
                          { bench_input(0, type, 4096) },
                          { &out },
                          { turns, 0, 0 },
                          { 0 },
                          8,
                          0,
                          NULL,
                          NULL } };

    return threads * each * (double)turns / seconds(&p, scale);
}

static void empty_region(void *self)
{
    const int *threads = self;

    (void)threads; /* a build without OpenMP does not look */
#pragma omp parallel for num_threads(*threads) schedule(static)
    for (int k = 0; k < 1024; k++)
        __asm__ volatile("");
}

static int64_t cache_bytes(int name, int64_t otherwise)
{
    const long bytes = sysconf(name);

    return bytes > 0 ? bytes : otherwise;
}

bench_limits bench_limits_measure(const hand_isa *hand, int threads, double scale)
{
    const double quick = scale < QUICK ? scale : 1;
    /* 512 MiB of doubles */
    const int64_t n = (int64_t)(quick * (1 << 26)) / 8192 * 8192 + 8192 * threads;
    bench_limits  l = { .threads = threads };

    isa       = hand;
    l.read_l1 = read_rate(threads, cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10) / 2, quick);
    l.read_l2 = read_rate(threads, cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10) / 2, quick);
    l.read_l3 = read_rate(threads, 4 << 20, quick);
    l.read    = memory_rate(HAND_limit_read, threads, n, quick);
    l.copy    = memory_rate(HAND_limit_copy, threads, n, quick);
    l.fill    = memory_rate(HAND_limit_fill, threads, n, quick);
    for (int k = 0; k < 2; k++) {
        const rd_dtype type  = k ? RD_F64 : RD_F32;
        const int      lanes = hand->vector_bytes / bench_size(type);

        l.fma[k] = compute_rate(HAND_limit_fma, type, threads, 12 * 2 * lanes, quick);
        l.exp[k] = compute_rate(HAND_limit_exp, type, threads, 4096, quick);
    }
    l.region = bench_least_seconds((bench_action){ empty_region, &threads }, 0);
    return l;
}

/* Where the bytes of a case lie when it runs again and again.  What just fits in the last cache,
 * which others use too, will not stay. */
static double read_rate_of(const bench_limits *l, const bench_work *w, const char **name)
{
    const double bytes = w->read > w->written ? w->read : w->written;
    const double each  = bytes / l->threads;

    if (each <= (double)cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10)) {
        *name = "L1 read";
        return l->read_l1;
    }
    if (each <= (double)cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10)) {
        *name = "L2 read";
        return l->read_l2;
    }
    if (bytes <= (double)cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20) / 2) {
        *name = "L3 read";
        return l->read_l3;
    }
    *name = "DRAM read";
    return l->read;
}

/* What is both read and written goes at the rate of copies, the rest at that of its kind. */
static double memory_seconds(const bench_limits *l, const bench_work *w, const char **name)
{
    const double rate   = read_rate_of(l, w, name);
    const double copied = w->read < w->written ? w->read : w->written;

    if (rate != l->read || copied < 0.1 * w->read)
        return (w->read + w->written) / rate;
    *name = "DRAM copy";
    return 2 * copied / l->copy + (w->read - copied) / l->read + (w->written - copied) / l->fill;
}

double bench_limit_seconds(const bench_limits *l, const bench_work *w, rd_dtype type,
                           const char **name)
{
    const int    k       = type == RD_F64;
    double       seconds = memory_seconds(l, w, name);
    const double fma = w->flops / l->fma[k], exp = w->exps / l->exp[k];

    if (fma > seconds) {
        seconds = fma;
        *name   = "multiply-add";
    }
    if (exp > seconds) {
        seconds = exp;
        *name   = "exp";
    }
    return seconds;
}
