/* first.c - the first evaluation of a process that finds nothing compiled. */
#include "bench.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

/* The number that a command prints; NaN if there is none. */
static double printed(const char *command)
{
    FILE  *out     = popen(command, "r");
    double seconds = (double)NAN;

    if (!out)
        return seconds;
    if (fscanf(out, "%lf", &seconds) != 1)
        seconds = (double)NAN;
    return pclose(out) == 0 ? seconds : (double)NAN;
}

double bench_first_seconds(const bench_case *c, rd_dtype type, const bench_options *options,
                           int threads)
{
    const char   *place = getenv("TMPDIR");
    char          cache[2048], self[4096], command[8192]; /* mkdtemp() fills in the cache's Xs */
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    double        seconds;

    snprintf(cache, sizeof cache, "%s/rdim-bench-XXXXXX", place ? place : P_tmpdir);
    if (length < 0 || !mkdtemp(cache))
        return (double)NAN;
    self[length] = '\0';
    snprintf(command, sizeof command,
             "XDG_CACHE_HOME=%s RDIM_TIER1=async '%s' --first --rows %s --cases '%s' --dtypes %s "
             "--threads %d --scale %g",
             cache, self, c->row, c->name, bench_type_name(type), threads, options->scale);
    seconds = printed(command);
    nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return seconds;
}
