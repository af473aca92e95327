/* estimates.c - what the library expects of a run, as its explain says, beside what was measured. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What explain says: the one place to change when that text does ---------------------------- */
/* "3.2 ms" in seconds; NAN: it is no time. */
static double time_at(const char *said)
{
    double value;
    char   unit[4];

    if (sscanf(said, "%lf %3[a-z]", &value, unit) != 2)
        return NAN;
    return strcmp(unit, "us") == 0   ? 1e-6 * value
           : strcmp(unit, "ms") == 0 ? 1e-3 * value
           : strcmp(unit, "s") == 0  ? value
                                     : NAN;
}

/* All times in lines that begin with `line`, behind the last `before`; NAN: there are none. */
static double total_of(const char *said, const char *line, const char *before)
{
    double total = NAN;

    for (const char *at = said; (at = strstr(at, line)) != NULL;) {
        const char *const end  = at + 1 + strcspn(at + 1, "\n");
        const char       *last = NULL;

        for (const char *k = strstr(at, before); k && k < end; k = strstr(k + 1, before))
            last = k + strlen(before);
        if (last)
            total = (isnan(total) ? 0 : total) + time_at(last);
        at = end;
    }
    return total;
}

/* ".. compiled (this process: 2 in 40 ms, 1 from the store, 3 failed), ..": so far. */
static int64_t failed_in(const char *said)
{
    const char *end = strstr(said, " failed)"), *at = end;

    while (at && at > said && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? strtoll(at, NULL, 10) : 0;
}

/* Reads what explain says once all loops are compiled.  A plan has parts, and a part has stages, whose
 * prices add up. */
void sweep_estimates_read(result *r)
{
    const char *said = r->explain ? r->explain : "";

    r->estimate = total_of(said, "\nfirst run: ", "about ");
    r->price    = total_of(said, "\nprice of stage ", ": about ");
    r->failed   = failed_in(said);
}

/* ---- How far off -------------------------------------------------------------------------------- */
/* 1: as long as expected; 2: twice as long or half as long. */
static double factor(double expected, double measured)
{
    return fmax(expected / measured, measured / expected);
}

static void expectation(const char *what, double expected, double measured)
{
    if (isfinite(expected))
        printf(", %s %.2f us: %.3f", what, 1e6 * expected, expected / measured);
}

void sweep_estimates_line(const result *r)
{
    printf("%llu %s measured %.2f us", (unsigned long long)r->seed, r->form, 1e6 * r->seconds);
    expectation("estimate", r->estimate, r->seconds);
    expectation("price", r->price, r->seconds);
    printf("  %s\n", r->expr);
    fflush(stdout);
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static void summary(const char *what, const char *form, double *factors, int64_t n)
{
    int64_t twice = 0;

    if (n == 0)
        return;
    qsort(factors, (size_t)n, sizeof *factors, ascending);
    for (int64_t k = 0; k < n; k++)
        twice += factors[k] > 2;
    printf("%-9s %-9s %5lld expressions: median error %4.0f %%, 90th percentile %5.0f %%, off by "
           "more than 2: %4.1f %%\n",
           what, form, (long long)n, 100 * (factors[n / 2] - 1),
           100 * (factors[(int64_t)(0.9 * (double)(n - 1))] - 1), 100 * (double)twice / (double)n);
}

/* Prints how far off the expectations are of all programs that ran in a form, "all": in any. */
static void report(const result *results, int64_t n, const char *form, bool price, double *factors)
{
    int64_t m = 0;

    for (int64_t k = 0; k < n; k++) {
        const result *r        = &results[k];
        const double  expected = price ? r->price : r->estimate;

        if (isfinite(expected) && (strcmp(form, "all") == 0 || strcmp(form, r->form) == 0))
            factors[m++] = factor(expected, r->seconds);
    }
    summary(price ? "price" : "estimate", form, factors, m);
}

void sweep_estimates_report(const result *results, int64_t n)
{
    static const char *const forms[] = { "all",     "compiled", "partly", "tiles",
                                         "product", "scalar",   "none" };
    double *const            factors = malloc((size_t)(n + 1) * sizeof *factors);

    for (int price = 0; factors && price < 2; price++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
            report(results, n, forms[k], price, factors);
    free(factors);
}
