/* options.c - the command line. */
#include "bench.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "rdim-bench [OPTION...]: times rdim beside loops written by hand\n"
    "  --rows W1,W3        only these rows\n"
    "  --cases 'sum*,lse*' only cases whose name matches, as file names do\n"
    "  --dtypes f32,f64    only these element types (u8, f16 for images)\n"
    "  --threads 1,2       numbers of threads; default: 1 and all processors\n"
    "  --reps N            N timed pairs a case; default: 1 to 11, by duration\n"
    "  --scale S           S times as many elements, 0 < S <= 1; default: 1\n"
    "  --json              a JSON object a case, on a line of its own\n"
    "  --list              only list the cases\n"
    "  --explain           only print how rdim plans each case\n"
    "  --no-hand           rdim alone\n"
    "  --by-turns          a case runs when it is told, for replay.py\n"
    "  --first             only the seconds of one evaluation, the first of this process\n"
    "  --growth FILE.svg   only time sizes from 10^2 to 10^8, and draw that\n"
    "  --calibrate         only measure the speeds that costs are reckoned with, and keep them\n"
    "  --help              this text\n"
    "What the columns mean: docs/benchmark.md.\n";

bool bench_listed(const char *list, const char *text)
{
    char pattern[128];

    if (!list)
        return true;
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, ",");

        if (n < sizeof pattern) {
            memcpy(pattern, p, n);
            pattern[n] = '\0';
            if (fnmatch(pattern, text, 0) == 0)
                return true;
        }
        p += n + (p[n] == ',');
    }
    return false;
}

static bool read_threads(bench_options *o, const char *text)
{
    for (o->n_threads = 0; *text; text += *text == ',') {
        char      *end;
        const long n = strtol(text, &end, 10);

        if (end == text || n < 1 || n > 1024 || (*end && *end != ',') ||
            o->n_threads == MOST_THREADS)
            return false;
        o->threads[o->n_threads++] = (int)n;
        text                       = end;
    }
    return o->n_threads > 0;
}

static bool read_number(double *x, const char *text, double least, double most)
{
    char *end;

    *x = strtod(text, &end);
    return end != text && !*end && *x >= least && *x <= most;
}

/* A list of what there is none of is a mistake, not an empty benchmark. */
static bool names_something(const char *list, bool rows)
{
    for (const bench_case *const *table = bench_tables(); *table; table++)
        for (const bench_case *c = *table; c->row; c++)
            if (bench_listed(list, rows ? c->row : c->name))
                return true;
    return false;
}

static bool names_types(const char *list)
{
    for (const char *p = list; *p; p += *p == ',') {
        const size_t n = strcspn(p, ",");

        if (!(n == 3 && (!memcmp(p, "f16", n) || !memcmp(p, "f32", n) || !memcmp(p, "f64", n))) &&
            !(n == 2 && !memcmp(p, "u8", n)))
            return false;
        p += n;
    }
    return *list;
}

/* @return NULL, or what is wrong. */
static const char *set_value(bench_options *o, const char *name, const char *value)
{
    double number;

    if (!strcmp(name, "--rows"))
        return names_something(o->rows = value, true) ? NULL : "no such row";
    if (!strcmp(name, "--cases"))
        return names_something(o->cases = value, false) ? NULL : "no case matches";
    if (!strcmp(name, "--dtypes"))
        return names_types(o->dtypes = value) ? NULL : "known are f32, f64, f16 and u8";
    if (!strcmp(name, "--threads"))
        return read_threads(o, value) ? NULL : "numbers from 1 to 1024, with commas between them";
    if (!strcmp(name, "--reps")) {
        if (!read_number(&number, value, 1, 1000) || number != (int)number)
            return "a whole number from 1 to 1000";
        o->reps = (int)number;
        return NULL;
    }
    if (!strcmp(name, "--growth")) {
        o->growth = value;
        return NULL;
    }
    return read_number(&o->scale, value, 1e-6, 1) ? NULL : "a number from 0.000001 to 1";
}

static bool *flag(bench_options *o, const char *name)
{
    return !strcmp(name, "--json")        ? &o->json
           : !strcmp(name, "--list")      ? &o->list
           : !strcmp(name, "--explain")   ? &o->explain
           : !strcmp(name, "--no-hand")   ? &o->no_hand
           : !strcmp(name, "--first")     ? &o->first
           : !strcmp(name, "--by-turns")  ? &o->by_turns
           : !strcmp(name, "--calibrate") ? &o->calibrate
                                          : NULL;
}

static bool takes_value(const char *name)
{
    static const char *const names[] = { "--rows", "--cases", "--dtypes", "--threads",
                                         "--reps", "--scale", "--growth" };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(name, names[k]))
            return true;
    return false;
}

static int complain(const char *name, const char *value, const char *why)
{
    fprintf(stderr, "rdim-bench: %s%s%s: %s\n", name, value ? " " : "", value ? value : "", why);
    return 2;
}

/* Without OpenMP there is one thread, whatever is asked for. */
static void default_threads(bench_options *o)
{
    o->threads[0] = o->n_threads = 1;
#ifdef _OPENMP
    const long all = sysconf(_SC_NPROCESSORS_ONLN);

    if (all > 1)
        o->threads[o->n_threads++] = (int)all;
#endif
}

int bench_options_read(bench_options *o, int argc, char **argv)
{
    *o = (bench_options){ .scale = 1 };
    default_threads(o);
    for (int k = 1; k < argc; k++) {
        bool *f = flag(o, argv[k]);

        if (!strcmp(argv[k], "--help")) {
            fputs(help, stdout);
            return 0;
        }
        if (f) {
            *f = true;
        } else if (!takes_value(argv[k])) {
            return complain(argv[k], NULL, "no such option; --help lists them");
        } else if (k + 1 == argc) {
            return complain(argv[k], NULL, "needs a value");
        } else {
            const char *why = set_value(o, argv[k], argv[k + 1]);

            if (why)
                return complain(argv[k], argv[k + 1], why);
            k++;
        }
    }
    return -1;
}
