/* report.c - a line of JSON for each result; or how ratios are distributed, and the worst. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void number(const char *key, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.6g", key, value);
    else
        printf(", \"%s\": null", key);
}

void sweep_report_json(const result *r)
{
    printf(
        "{\"seed\": %llu, \"kind\": \"%s\", \"expr\": \"%s\", \"dtype\": \"%s\", \"threads\": %d",
        (unsigned long long)r->seed, r->kind, r->expr, r->dtype, r->threads);
    number("seconds", r->seconds);
    number("loop_seconds", r->loops);
    number("numpy_seconds", r->numpy);
    number("ratio", r->ratio);
    number("work", r->work);
    number("estimate_seconds", r->estimate);
    number("price_seconds", r->price);
    printf(", \"form\": \"%s\", \"hash\": \"%016llx\"}\n", r->form, (unsigned long long)r->hash);
    fflush(stdout);
}

/* ---- The distribution ------------------------------------------------------------------------ */
static int by_ratio(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static void row(const char *name, double *ratios, int64_t n)
{
    static const double at[] = { 0.5, 0.75, 0.9, 0.95, 0.99, 1 };
    double              logs = 0;

    if (n == 0)
        return;
    qsort(ratios, (size_t)n, sizeof *ratios, by_ratio);
    printf("%-22s %6lld", name, (long long)n);
    for (int k = 0; k < 6; k++)
        printf(" %8.2f", ratios[(int64_t)(at[k] * (double)(n - 1))]);
    for (int64_t k = 0; k < n; k++)
        logs += log(ratios[k]);
    printf(" %8.2f\n", exp(logs / (double)n));
}

static const char *size_class(double work)
{
    return work < 1e3   ? "work < 1e3"
           : work < 3e4 ? "work < 3e4"
           : work < 1e6 ? "work < 1e6"
                        : "work >= 1e6";
}

static const char *threads_class(int threads)
{
    static char name[16];

    snprintf(name, sizeof name, "%d thread%s", threads, threads > 1 ? "s" : "");
    return name;
}

enum { BY_ALL, BY_THREADS, BY_KIND, BY_SIZE, BY_FORM, N_BY };

static const char *class_of(const result *r, int by)
{
    switch (by) {
    case BY_THREADS: return threads_class(r->threads);
    case BY_KIND: return r->kind;
    case BY_SIZE: return size_class(r->work);
    case BY_FORM: return r->form;
    default: return "all";
    }
}

static void table(const result *results, int64_t n, int by, double *ratios, bool *done)
{
    memset(done, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        char    name[32];
        int64_t m = 0;

        if (done[i])
            continue;
        snprintf(name, sizeof name, "%s", class_of(&results[i], by));
        for (int64_t k = i; k < n; k++)
            if (strcmp(class_of(&results[k], by), name) == 0) {
                done[k]     = true;
                ratios[m++] = results[k].ratio;
            }
        row(name, ratios, m);
    }
}

static int worse(const void *x, const void *y)
{
    const result *a = *(const result *const *)x, *b = *(const result *const *)y;

    return (a->ratio < b->ratio) - (a->ratio > b->ratio);
}

static void worst(const result *results, int64_t n)
{
    const result **list = malloc((size_t)n * sizeof *list);

    for (int64_t k = 0; k < n; k++)
        list[k] = &results[k];
    qsort(list, (size_t)n, sizeof *list, worse);
    for (int64_t k = 0; k < n && k < 20; k++) {
        const result *r = list[k];

        printf(
            "\n---- %.2f: seed %llu, %s, %d threads, %s: %.4g us, loops %.4g, numpy %.4g\n%s\n%s",
            r->ratio, (unsigned long long)r->seed, r->kind, r->threads, r->form, 1e6 * r->seconds,
            1e6 * r->loops, 1e6 * r->numpy, r->expr, r->explain);
    }
    free(list);
}

void sweep_report(const result *results, int64_t n)
{
    double *ratios = malloc((size_t)(n + 1) * sizeof *ratios);
    bool   *done   = malloc((size_t)n + 1);

    printf("%-22s %6s %8s %8s %8s %8s %8s %8s %8s\n", "time / best other", "n", "median", "p75",
           "p90", "p95", "p99", "worst", "geomean");
    for (int by = 0; by < N_BY; by++)
        table(results, n, by, ratios, done);
    worst(results, n);
    free(ratios);
    free(done);
}
