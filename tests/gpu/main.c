/* main.c - asked of a real GPU: data there and back, functions of far arguments, the programs of
 * test_cuda_schemes, and the random expressions that test_cuda asks of the fake one, all with the
 * CPU's bits; and products by cuBLAS and fast functions, which are near.
 *
 *     gpu_suite [--first SEED] [--seeds COUNT] [--large COUNT] [--programs COUNT] [--seconds LIMIT]
 *               [--out FILE]
 *
 * It does not fork, which CUDA would not survive, and does without Check, as a machine with a GPU
 * may have none.  It says what failed, and writes how much was compared as JSON.  Exit status: 0, 1
 * if something failed, 77 if there is no GPU or no NVRTC. */
#define _XOPEN_SOURCE 700
#include "../differential.h"
#include "../gpu_programs.h"
#include "core/clock.h"
#include "kernels/cuda/gpu.h"
#include "parts.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 0, FAILED = 1, NO_GPU = 77 };

/* After so many failures a part ends: more say nothing new. */
enum { MOST_FAILURES = 10 };

bool part_goes_on(const part *p, double until)
{
    return p->ran < p->wanted && p->failed < MOST_FAILURES && rd_seconds() < until;
}

/* ---- Programs -------------------------------------------------------------------------------- */
/* Programs, each at all sizes. */
typedef struct programs {
    const gpu_program *program;
    const gpu_size    *size;
    int                n_program, n_size;
} programs;

/* The k-th of n, of which neighbours are far apart: what is run before the time is up has programs
 * and sizes of all kinds, and others with another first seed. */
static int64_t scattered(int64_t k, int64_t n, uint64_t first)
{
    static const int64_t STEP = 1000003; /* a prime, so that each comes once */

    return (int64_t)(((uint64_t)k * (uint64_t)STEP + first - 1) % (uint64_t)n);
}

static void run_all(part *p, const programs *all, const settings *s, double until)
{
    static const rd_dtype types[] = { RD_F32, RD_F64, RD_F16, RD_BF16, RD_U8, RD_I32 };
    enum { TYPES = sizeof types / sizeof *types };
    const int64_t n = (int64_t)all->n_program * all->n_size * TYPES;

    p->wanted = s->programs < n ? s->programs : n;
    for (int64_t at = 0; part_goes_on(p, until); at++) {
        const int64_t      k       = scattered(at, n, s->first);
        const gpu_program *program = &all->program[k % all->n_program];
        const rd_dtype     type    = types[k / all->n_program % TYPES];
        const gpu_size     size    = all->size[k / all->n_program / TYPES];
        const gpu_case c = { program, type, size.rows, size.columns, k % 7 == 3 ? 1 : 0, false };
        rd_text        report = { 0 };

        p->ran++;
        if (program->floats && rd_dtype_kind(type) != RD_KIND_FLOAT)
            continue;
        p->results++;
        p->elements += size.rows * size.columns;
        if (!gpu_same_bits(&c, &report)) {
            p->failed++;
            fprintf(stderr, "%s", report.at ? report.at : "out of memory\n");
        }
        rd_text_free(&report);
    }
}

/* Each way to run, at sizes around its edges, as test_cuda_schemes has them. */
static void run_programs(part *p, const settings *s, double until)
{
    run_all(p, &(programs){ gpu_programs, gpu_sizes, n_gpu_programs, n_gpu_sizes }, s, until);
    run_all(p,
            &(programs){ gpu_scan_programs, gpu_scan_sizes, n_gpu_scan_programs, n_gpu_scan_sizes },
            s, until);
}

static void run_short_rows(part *p, const settings *s, double until)
{
    run_all(p, &(programs){ gpu_row_programs, gpu_row_sizes, n_gpu_row_programs, n_gpu_row_sizes },
            s, until);
}

static void run_pairs(part *p, const settings *s, double until)
{
    run_all(p,
            &(programs){ gpu_pair_programs, gpu_pair_sizes, n_gpu_pair_programs, n_gpu_pair_sizes },
            s, until);
}

static void run_crosses(part *p, const settings *s, double until)
{
    run_all(
        p,
        &(programs){ gpu_cross_programs, gpu_cross_sizes, n_gpu_cross_programs, n_gpu_cross_sizes },
        s, until);
}

/* ---- Data there and back --------------------------------------------------------------------- */
/* n elements of that type go to the GPU, are added there, and come back. */
static bool copies(rd_ctx *ctx, rd_dtype type, int64_t n, part *p)
{
    const int64_t  bytes = n * rd_dtype_size(type);
    char          *from = malloc((size_t)bytes + 1), *back = malloc((size_t)bytes + 1);
    const rd_array host  = { .data = from, .type = type, .shape = RD_SHAPE(n) };
    rd_array       there = { .device = RD_CUDA(0) }, again = host;
    rd_array       sums[2] = { { .data = NULL }, { .data = NULL } };
    bool           ok;

    again.data = back;
    for (int64_t i = 0; i < bytes; i++) /* floats of all sizes, no NaN */
        from[i] = (char)(i * i % 113);
    ok = rd_eval(ctx, rd_leaf(ctx, &host), &there) == RD_OK &&
         rd_eval(ctx, rd_leaf(ctx, &there), &again) == RD_OK &&
         rd_eval(ctx, rd_sum(rd_leaf(ctx, &there), RD_ALL), &sums[0]) == RD_OK &&
         rd_eval(ctx, rd_sum(rd_leaf(ctx, &host), RD_ALL), &sums[1]) == RD_OK;
    if (!ok)
        fprintf(stderr, "%" PRId64 " of %s: %s\n", n, rd_dtype_name(type), rd_error_text(ctx));
    else if (memcmp(from, back, (size_t)bytes) != 0 ||
             memcmp(sums[0].data, sums[1].data, (size_t)rd_dtype_size(sums[0].type)) != 0) {
        fprintf(stderr, "%" PRId64 " of %s: other bits from the GPU\n", n, rd_dtype_name(type));
        ok = false;
    }
    p->results += 2;
    p->elements += n + 1;
    rd_error_clear(ctx);
    rd_array_free(&there);
    rd_array_free(&sums[0]);
    rd_array_free(&sums[1]);
    free(from);
    free(back);
    return ok;
}

static void run_copies(part *p, const settings *s, double until)
{
    static const rd_dtype types[] = { RD_U8, RD_F16, RD_F32, RD_F64, RD_I64 };
    static const int64_t  sizes[] = { 1, 63, 4097, 1 << 20, (1 << 22) + 5 };
    enum { TYPES = sizeof types / sizeof *types, SIZES = sizeof sizes / sizeof *sizes };
    rd_ctx *ctx = rd_ctx_new(&(rd_ctx_opts){ .deterministic = true });

    (void)s;
    p->wanted = TYPES * SIZES; /* small ones first, as a sanitizer takes its time */
    for (; part_goes_on(p, until); p->ran++)
        p->failed += !copies(ctx, types[p->ran % TYPES], sizes[p->ran / TYPES], p);
    rd_ctx_free(ctx);
}

/* ---- Functions ------------------------------------------------------------------------------- */
enum { POINTS = 1 << 16 };

typedef struct function {
    const char *name;
    rd_expr *(*of_one)(rd_expr *x);
    rd_expr *(*of_two)(rd_expr *x, rd_expr *y);
} function;

/* Those whose arguments random expressions keep small. */
static const function functions[] = { { .name = "sin", .of_one = rd_sin },
                                      { .name = "cos", .of_one = rd_cos },
                                      { .name = "tan", .of_one = rd_tan },
                                      { .name = "atan2", .of_two = rd_atan2 },
                                      { .name = "hypot", .of_two = rd_hypot } };

/* Of points, or of neighbouring ones, by a backend. */
static bool fill(rd_ctx *ctx, const function *f, double *x, int64_t n, rd_backend backend,
                 double *y)
{
    const rd_eval_opts opts = { .backend = backend };
    rd_expr           *a    = rd_wrap(ctx, x, RD_SHAPE(n));
    rd_expr *e = f->of_one ? f->of_one(a) : f->of_two(a, rd_wrap(ctx, x + 1, RD_SHAPE(n)));

    return rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(y, RD_SHAPE(n)) }), &opts) == RD_OK;
}

/* The first point at which the bits differ. */
static bool agree(const function *f, const double *x, int64_t n, const double *cpu,
                  const double *gpu)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&cpu[i], &gpu[i], sizeof *cpu) != 0) {
            fprintf(stderr, "%s: point %" PRId64 ", of %a%s: %a on the CPU, %a on the GPU\n",
                    f->name, i, x[i], f->of_two ? " and the next" : "", cpu[i], gpu[i]);
            return false;
        }
    return true;
}

static void run_functions(part *p, const settings *s, double until)
{
    static double x[POINTS + 1], y[2][POINTS];
    rd_ctx       *ctx = rd_ctx_new(&(rd_ctx_opts){ .deterministic = true });

    (void)s;
    for (int i = 0; i <= POINTS; i++)
        x[i] = ldexp(1 + (double)(i * 7919 % POINTS) / POINTS, i % 2000 - 990);
    p->wanted = sizeof functions / sizeof *functions;
    for (; part_goes_on(p, until); p->ran++) {
        const function *f   = &functions[p->ran];
        const bool      ran = fill(ctx, f, x, POINTS, RD_BACKEND_CPU, y[0]) &&
                         fill(ctx, f, x, POINTS, RD_BACKEND_CUDA, y[1]);

        if (!ran)
            fprintf(stderr, "%s: %s\n", f->name, rd_error_text(ctx));
        p->failed += !ran || !agree(f, x, POINTS, y[0], y[1]);
        rd_error_clear(ctx);
        p->results++;
        p->elements += POINTS;
    }
    rd_ctx_free(ctx);
}

/* ---- Random expressions ---------------------------------------------------------------------- */
static void run_seeds(part *p, uint64_t first, int64_t count, double until)
{
    p->wanted = count;
    for (; part_goes_on(p, until); p->ran++) {
        const uint64_t     seed   = first + (uint64_t)p->ran;
        rd_text            report = { 0 };
        differential_stats before = p->stats;

        if (!differential_cuda_trial(seed, &p->stats, &report)) {
            fprintf(stderr, "seed %" PRIu64 ":\n%s\n", seed, report.at ? report.at : "");
            p->failed++;
        } else if (p->stats.on_gpu > before.on_gpu) {
            p->results += p->stats.results - before.results;
            p->elements += p->stats.elements - before.elements;
        } else
            p->refused++; /* they call C functions */
        rd_text_free(&report);
    }
}

static void run_small(part *p, const settings *s, double until)
{
    run_seeds(p, s->first, s->seeds, until);
}

static void run_large(part *p, const settings *s, double until)
{
    run_seeds(p, RANDOM_LARGE + s->first, s->large, until);
}

/* ---- What is said of them -------------------------------------------------------------------- */
static void write_part(FILE *to, const part *p, bool last)
{
    fprintf(to,
            "    { \"name\": \"%s\", \"wanted\": %" PRId64 ", \"ran\": %" PRId64
            ", \"failed\": %" PRId64 ", \"results\": %" PRId64 ", \"elements\": %" PRId64
            ", \"refused\": %" PRId64 ", \"seconds\": %.1f }%s\n",
            p->name, p->wanted, p->ran, p->failed, p->results, p->elements, p->refused, p->seconds,
            last ? "" : ",");
}

/* All or nothing: what a reader finds is whole. */
static bool write_parts(const settings *s, const part *parts, int n)
{
    char  aside[4096];
    FILE *to = stdout;
    bool  ok;

    if (s->out) {
        snprintf(aside, sizeof aside, "%s.new", s->out);
        to = fopen(aside, "w");
    }
    if (!to) {
        perror(aside);
        return false;
    }
    fprintf(to, "{ \"device\": \"%s\",\n  \"parts\": [\n", rd_device_text(RD_CUDA(0)));
    for (int i = 0; i < n; i++)
        write_part(to, &parts[i], i == n - 1);
    fprintf(to, "  ] }\n");
    ok = fflush(to) == 0;
    if (s->out)
        ok = fclose(to) == 0 && ok && rename(aside, s->out) == 0;
    if (!ok)
        perror(s->out ? s->out : "standard output");
    return ok;
}

static bool read_settings(settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        char       *end = NULL;

        if (!value)
            return false;
        if (strcmp(name, "--first") == 0)
            s->first = strtoull(value, &end, 10);
        else if (strcmp(name, "--seeds") == 0)
            s->seeds = strtoll(value, &end, 10);
        else if (strcmp(name, "--large") == 0)
            s->large = strtoll(value, &end, 10);
        else if (strcmp(name, "--programs") == 0)
            s->programs = strtoll(value, &end, 10);
        else if (strcmp(name, "--seconds") == 0)
            s->seconds = strtod(value, &end);
        else if (strcmp(name, "--out") == 0)
            s->out = value;
        else
            return false;
        if (end && (end == value || *end))
            return false;
    }
    return true;
}

/* Is there a GPU, and a compiler for it? */
static bool can_run(void)
{
    const char *why = NULL;

    if (rd_device_count() == 0)
        printf("skipped: %s\n", rd_device_text(RD_CUDA(0)));
    else if (!rd_nvrtc_api(&why))
        printf("skipped: %s: %s\n", rd_device_text(RD_CUDA(0)), why);
    else
        return true;
    return false;
}

/* Where there are both, whatever fails is a fault. */
static bool first_one_runs(void)
{
    float    x = 1, y = 0;
    rd_ctx  *ctx  = rd_ctx_new(NULL);
    rd_expr *e    = rd_neg(rd_wrap(ctx, &x, RD_SCALAR));
    bool     runs = rd_eval_many(ctx, RD_RESULTS({ e, RD_INTO(&y, RD_SCALAR) }),
                                 &(rd_eval_opts){ .backend = RD_BACKEND_CUDA }) == RD_OK;

    if (!runs)
        fprintf(stderr, "%s: %s\n", rd_device_text(RD_CUDA(0)), rd_error_text(ctx));
    else if (y != -1) {
        fprintf(stderr, "%s: -1 is %g there\n", rd_device_text(RD_CUDA(0)), (double)y);
        runs = false;
    }
    rd_ctx_free(ctx);
    return runs;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        part_fn    *run;
        double      until; /* share of the time */
    } all[] = { { "copies", run_copies, 0.3 },         { "functions", run_functions, 0.4 },
                { "products", run_products, 0.5 },     { "fast", run_fast, 0.55 },
                { "programs", run_programs, 0.6 },     { "pairs", run_pairs, 0.65 },
                { "short rows", run_short_rows, 0.7 }, { "both ways", run_crosses, 0.75 },
                { "random", run_small, 0.9 },          { "large", run_large, 1 } };
    enum { N = sizeof all / sizeof *all };
    settings s = { .first = 1, .seeds = 500, .large = 50, .programs = INT64_MAX, .seconds = 120 };
    part     parts[N]   = { { .name = NULL } };
    const double begin  = rd_seconds();
    bool         failed = false;

    if (!read_settings(&s, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--first SEED] [--seeds COUNT] [--large COUNT] [--programs COUNT] "
                "[--seconds LIMIT] [--out FILE]\n",
                argv[0]);
        return FAILED;
    }
    if (!can_run())
        return NO_GPU;
    if (!first_one_runs())
        return FAILED;
    for (int i = 0; i < N; i++) {
        const double start = rd_seconds(), until = begin + all[i].until * s.seconds;
        part *const  p = &parts[i];

        p->name = all[i].name;
        all[i].run(p, &s, until);
        p->seconds = rd_seconds() - start;
        failed |= p->failed > 0;
        if (p->wanted > 0 && p->elements == 0) { /* nothing passes unseen */
            fprintf(stderr, "%s: nothing was compared\n", p->name);
            failed = true;
        }
        if (s.out && !write_parts(&s, parts, i + 1))
            failed = true;
    }
    if (!s.out && !write_parts(&s, parts, N))
        failed = true;
    rd_gpu_close_all();
    return failed ? FAILED : PASSED;
}
