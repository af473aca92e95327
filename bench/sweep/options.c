/* options.c - the command line. */
#include "sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "rdim-sweep: random expressions, timed beside plain loops in C and NumPy\n"
    "  --count N         expressions (100)\n"
    "  --seed S          of the first; the next have S + 1, S + 2, ... (1)\n"
    "  --threads 1,2     numbers of threads (1)\n"
    "  --json            a line of JSON for each expression and number of threads\n"
    "  --max-bytes B     of inputs and results, about (64e6)\n"
    "  --seconds T       of timing for each (0.15)\n"
    "  --only SEED       this one, with its loops, its plan, all times\n"
    "  --hash-only       results' bits, no times\n"
    "  --estimates       the library's estimates beside measured times, and how far they are off\n"
    "  --no-numpy        without it\n"
    "  --by-turns        an expression runs when it is told, for replay.py\n"
    "CC names the compiler of the loops (cc).  RDIM_TIER1 is set to sync unless it is set.\n";

static int wrong(const char *what, const char *value)
{
    fprintf(stderr, "rdim-sweep: %s %s\n", what, value ? value : "");
    return 2;
}

static bool read_threads(options *o, const char *list)
{
    char *end;

    for (o->n_threads = 0; *list; list = *end == ',' ? end + 1 : end) {
        const long n = strtol(list, &end, 10);

        if (end == list || n < 1 || n > MOST_THREADS || o->n_threads == MOST_THREADS ||
            (*end && *end != ','))
            return false;
        o->threads[o->n_threads++] = (int)n;
    }
    return o->n_threads > 0;
}

static bool read_number(const char *value, double *to)
{
    char *end;

    *to = value ? strtod(value, &end) : -1;
    return value && *value && *end == 0 && *to >= 0;
}

static bool flag(options *o, const char *name)
{
    const struct {
        const char *name;
        bool       *at;
    } flags[] = { { "--json", &o->json },
                  { "--no-numpy", &o->no_numpy },
                  { "--hash-only", &o->hash_only },
                  { "--by-turns", &o->by_turns },
                  { "--estimates", &o->estimates } };

    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (strcmp(name, flags[k].name) == 0)
            return *flags[k].at = true;
    return false;
}

/* -1: go on; else the status to exit with. */
int sweep_options_read(options *o, int argc, char **argv)
{
    static const char *const names[]   = { "--count", "--seed", "--max-bytes", "--seconds",
                                           "--only" };
    double                   values[5] = { 100, 1, 64e6, 0.15, -1 };

    *o = (options){ .threads = { 1 }, .n_threads = 1 };
    for (int i = 1; i < argc; i++) {
        int k = 0;

        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (flag(o, argv[i]))
            continue;
        while (k < 5 && strcmp(argv[i], names[k]) != 0)
            k++;
        if (k == 5 && strcmp(argv[i], "--threads") != 0)
            return wrong("unknown option", argv[i]);
        if (k < 5 ? !read_number(argv[i + 1], &values[k])
                  : i + 1 == argc || !read_threads(o, argv[i + 1]))
            return wrong(argv[i], argv[i + 1]);
        i++;
    }
    o->count     = (int64_t)values[0];
    o->seed      = (uint64_t)values[1];
    o->max_bytes = values[2] < 1000 ? 1000 : values[2];
    o->seconds   = values[3];
    o->only      = (int64_t)values[4];
    return -1;
}
