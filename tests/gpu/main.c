/* main.c - what the tests ask of the fake GPU, asked of a real one: data there and back, and random
 * expressions, whose results have the CPU's bits.
 *
 *     gpu_suite [--first SEED] [--seeds COUNT] [--large COUNT] [--seconds LIMIT] [--out FILE]
 *
 * It does not fork, which CUDA would not survive, and does without Check, as a machine with a GPU
 * may have none.  It says what failed, and writes how much was compared as JSON.  Exit status: 0, 1
 * if something failed, 77 if there is no GPU. */
#define _XOPEN_SOURCE 700
#include "../differential.h"
#include "core/clock.h"
#include "kernels/cuda/gpu.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 0, FAILED = 1, NO_GPU = 77 };

typedef struct settings {
    uint64_t    first;
    int64_t     seeds, large;
    double      seconds; /* no seed begins later */
    const char *out;     /* NULL: standard output */
} settings;

/* A part of the suite: how many cases there were, of how many, and what was compared. */
typedef struct part {
    const char        *name;
    int64_t            wanted, ran, failed;
    double             seconds;
    differential_stats stats;
} part;

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
    p->stats.results += 2;
    p->stats.elements += n + 1;
    rd_error_clear(ctx);
    rd_array_free(&there);
    rd_array_free(&sums[0]);
    rd_array_free(&sums[1]);
    free(from);
    free(back);
    return ok;
}

static void run_copies(part *p)
{
    static const rd_dtype types[] = { RD_U8, RD_F16, RD_F32, RD_F64, RD_I64 };
    static const int64_t  sizes[] = { 1, 63, 4097, 1 << 20, (1 << 24) + 5 };
    rd_ctx               *ctx     = rd_ctx_new(&(rd_ctx_opts){ .deterministic = true });

    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++, p->ran++)
            p->failed += !copies(ctx, types[t], sizes[s], p);
    p->wanted = p->ran;
    rd_ctx_free(ctx);
}

/* ---- Random expressions ---------------------------------------------------------------------- */
static void run_seeds(part *p, uint64_t first, int64_t count, double until)
{
    p->wanted = count;
    for (; p->ran < count && rd_seconds() < until; p->ran++) {
        const uint64_t seed   = first + (uint64_t)p->ran;
        rd_text        report = { 0 };

        if (!differential_cuda_trial(seed, &p->stats, &report)) {
            fprintf(stderr, "seed %" PRIu64 ":\n%s\n", seed, report.at ? report.at : "");
            p->failed++;
        }
        rd_text_free(&report);
    }
}

/* ---- What is said of them -------------------------------------------------------------------- */
static void write_part(FILE *to, const part *p, bool last)
{
    fprintf(to,
            "    { \"name\": \"%s\", \"wanted\": %" PRId64 ", \"ran\": %" PRId64
            ", \"failed\": %" PRId64 ", \"results\": %" PRId64 ", \"elements\": %" PRId64
            ", \"refused\": %" PRId64 ", \"seconds\": %.1f }%s\n",
            p->name, p->wanted, p->ran, p->failed, p->stats.results, p->stats.elements,
            p->stats.refused, p->seconds, last ? "" : ",");
}

static bool write_parts(const settings *s, const part *parts, int n)
{
    FILE *to = s->out ? fopen(s->out, "w") : stdout;
    bool  ok = to != NULL;

    if (!to) {
        perror(s->out);
        return false;
    }
    fprintf(to, "{ \"device\": \"%s\",\n  \"parts\": [\n", rd_device_text(RD_CUDA(0)));
    for (int i = 0; i < n; i++)
        write_part(to, &parts[i], i == n - 1);
    fprintf(to, "  ] }\n");
    ok = fflush(to) == 0;
    if (s->out)
        ok = fclose(to) == 0 && ok;
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

int main(int argc, char **argv)
{
    settings s        = { .first = 1, .seeds = 500, .large = 50, .seconds = 120 };
    part     parts[3] = { { .name = "copies" }, { .name = "random" }, { .name = "large" } };
    enum { N = sizeof parts / sizeof *parts };
    bool   failed = false;
    double begin, start;

    if (!read_settings(&s, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--first SEED] [--seeds COUNT] [--large COUNT] "
                "[--seconds LIMIT] [--out FILE]\n",
                argv[0]);
        return FAILED;
    }
    if (rd_device_count() == 0) {
        printf("skipped: %s\n", rd_device_text(RD_CUDA(0)));
        return NO_GPU;
    }
    begin = rd_seconds();
    for (int i = 0; i < N; i++) {
        start = rd_seconds();
        if (i == 0)
            run_copies(&parts[i]);
        else if (i == 1) /* the large ones have a third of the time */
            run_seeds(&parts[i], s.first, s.seeds, begin + s.seconds * 2 / 3);
        else
            run_seeds(&parts[i], RANDOM_LARGE + s.first, s.large, begin + s.seconds);
        parts[i].seconds = rd_seconds() - start;
        failed |= parts[i].failed > 0 || parts[i].ran == 0;
        failed |= !write_parts(&s, parts, i + 1);
    }
    rd_gpu_close_all();
    return failed ? FAILED : PASSED;
}
