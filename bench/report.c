/* report.c - JSON lines, or a table to read. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MEANS = 16 * MOST_THREADS };

/* Sums of logarithms, a row and number of threads each. */
static struct mean {
    const char *row;
    int         threads, n_hand, n;
    double      hand, limit;
} means[MOST_MEANS];

static const char *seconds_text(double seconds, char *text, size_t size)
{
    static const char *const units[] = { "s", "ms", "us", "ns" };
    int                      k       = 0;

    for (; seconds < 1 && k < 3; k++)
        seconds *= 1000;
    snprintf(text, size, "%.4g %s", seconds, units[k]);
    return text;
}

static void remember(const bench_result *r)
{
    struct mean *m = means;

    while (m->row && (strcmp(m->row, r->of->row) != 0 || m->threads != r->threads))
        if (++m == means + MOST_MEANS)
            return;
    m->row     = r->of->row;
    m->threads = r->threads;
    if (r->times.b > 0) {
        m->hand += log(r->times.ratio);
        m->n_hand++;
    }
    m->limit += log(r->times.a / r->limit_seconds);
    m->n++;
}

/* JSON has no NaN: what is not known is null. */
static void json_number(const char *key, double value)
{
    if (isfinite(value))
        printf(", \"%s\": %.6g", key, value);
    else
        printf(", \"%s\": null", key);
}

static void json(const bench_result *r, const bench_options *o)
{
    const bool hand = r->times.b > 0;

    printf("{\"row\": \"%s\", \"case\": \"%s\", \"dtype\": \"%s\", \"threads\": %d", r->of->row,
           r->of->name, bench_type_name(r->type), r->threads);
    json_number("seconds", r->times.a);
    json_number("bytes", r->work.read + r->work.written);
    json_number("flops", r->work.flops);
    json_number("exps", r->work.exps);
    json_number("limit_seconds", r->limit_seconds);
    json_number("hand_seconds", hand ? r->times.b : NAN);
    json_number("ratio", hand ? r->times.ratio : NAN);
    json_number("error", r->error);
    printf(", \"limit\": \"%s\", \"reps\": %d, \"scale\": %g}\n", r->limit, r->times.reps,
           o->scale);
}

static void table_row(const bench_result *r)
{
    char a[32], b[32] = "-", l[32], ratio[32] = "-";

    if (r->times.b > 0) {
        seconds_text(r->times.b, b, sizeof b);
        snprintf(ratio, sizeof ratio, "%.2f", r->times.ratio);
    }
    printf("%-4s %-20s %-4s %3d %11s %11s %8s %11s %8.2f  %-12s %8.1e\n", r->of->row, r->of->name,
           bench_type_name(r->type), r->threads, seconds_text(r->times.a, a, sizeof a), b, ratio,
           seconds_text(r->limit_seconds, l, sizeof l), r->times.a / r->limit_seconds, r->limit,
           r->error);
}

void bench_report(const bench_result *r, const bench_options *o)
{
    static bool head;

    remember(r);
    if (o->json) {
        json(r, o);
    } else {
        if (!head)
            printf("%-4s %-20s %-4s %3s %11s %11s %8s %11s %8s  %-12s %8s\n", "row", "case", "type",
                   "thr", "rdim", "hand", "/ hand", "limit", "/ limit", "which", "error");
        head = true;
        table_row(r);
    }
    fflush(stdout);
}

/* With --json they go to stderr: every line of stdout is a case. */
void bench_report_limits(const bench_limits *l, const hand_isa *hand, const bench_options *o)
{
    FILE *f = o->json ? stderr : stdout;

    fprintf(
        f,
        "# limits, %d thread(s), loops for %s: read L1 %.4g, L2 %.4g, L3 %.4g, DRAM %.4g GB/s; "
        "copy %.4g, "
        "fill %.4g GB/s;\n#   multiply-add f32 %.4g, f64 %.4g GFLOP/s; exp f32 %.4g, f64 %.4g /ns; "
        "parallel region %.3g us\n",
        l->threads, hand->name, l->read_l1 / 1e9, l->read_l2 / 1e9, l->read_l3 / 1e9, l->read / 1e9,
        l->copy / 1e9, l->fill / 1e9, l->fma[0] / 1e9, l->fma[1] / 1e9, l->exp[0] / 1e9,
        l->exp[1] / 1e9, l->region * 1e6);
}

void bench_report_means(const bench_options *o)
{
    if (o->json)
        return;
    printf("# geometric means: rdim / hand, rdim / limit\n");
    for (const struct mean *m = means; m < means + MOST_MEANS && m->row; m++) {
        if (m->n_hand)
            printf("%-4s %3d thread(s) %8.2f", m->row, m->threads, exp(m->hand / m->n_hand));
        else
            printf("%-4s %3d thread(s) %8s", m->row, m->threads, "-");
        printf(" %8.2f  (%d cases)\n", exp(m->limit / m->n), m->n);
    }
}
