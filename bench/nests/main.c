/* rdim-nests --scalar FIRST COUNT [FOLDER]: what of such expressions runs element by element: scalar.c.
 *
 * rdim-nests FIRST COUNT REPS: what it takes to make the text of compiled nests, for expressions of the
 * sweep.  Each is planned and not run; then the text of each of its nests is made REPS times.  A line of
 * JSON for each nest, and one for the process.  bench/nests.py calls it, and times the compiler. */
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "plans.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counts {
    int reps, nests, refused;
} counts;

/* ---- The text of a nest ---------------------------------------------------------------------- */
/* The least time of several, in microseconds.  NAN: there is no such nest. */
static double text_seconds(rd_ctx *ctx, const rd_program *p, bool whole, int reps)
{
    double least = INFINITY;

    for (int k = 0; k < reps; k++) {
        const double        begun = sweep_now();
        rd_pool            *pool  = rd_pool_new(ctx);
        const rd_nest_code *code  = NULL;
        const char         *why   = NULL;
        double              taken;

        if (!rd_nest_prepare(p, rd_cpu_vector(), whole, planned_memory, pool, &code, &why) || !code)
            least = (double)NAN;
        rd_pool_free(pool);
        taken = sweep_now() - begun;
        least = taken < least ? taken : least;
    }
    return least;
}

static void time_nest(rd_ctx *ctx, const rd_program *p, bool whole, uint64_t seed, counts *c)
{
    c->nests++;
    if (c->reps > 0)
        printf("{\"seed\": %llu, \"instructions\": %d, \"whole\": %s, \"text_us\": %.2f}\n",
               (unsigned long long)seed, (int)p->n_inst, whole ? "true" : "false",
               1e6 * text_seconds(ctx, p, whole, c->reps));
}

static void time_plan(const rd_plan *plan, uint64_t seed, counts *c)
{
    for (int k = 0; plan->parts && k < plan->parts->n; k++)
        time_plan(plan->parts->part[k].plan, seed, c);
    for (int k = 0; k < plan->n_stage; k++) {
        if (plan->program[k].nest)
            time_nest(plan->ctx, &plan->program[k], false, seed, c);
        if (plan->program[k].whole)
            time_nest(plan->ctx, &plan->program[k], true, seed, c);
    }
}

/* ---- An expression --------------------------------------------------------------------------- */
static void one(uint64_t seed, addresses *memory, counts *c)
{
    planned one = planned_make(seed, memory);

    if (one.plan)
        time_plan(one.plan, seed, c);
    else
        c->refused++;
    planned_free(&one);
}

/* The most memory that this process has had, in KiB. */
static long peak(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char  line[256];
    long  kib = -1;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

int main(int argc, char **argv)
{
    addresses  memory = { 0 };
    counts     c      = { 0 };
    const bool scalar = argc > 1 && strcmp(argv[1], "--scalar") == 0;

    if (scalar ? argc < 4 : argc != 4) {
        fprintf(stderr, "rdim-nests FIRST COUNT REPS\nrdim-nests --scalar FIRST COUNT [FOLDER]\n");
        return 2;
    }
    if (!addresses_get(&memory))
        return 1;
    if (scalar)
        return scalar_main(strtoull(argv[2], NULL, 10), atoll(argv[3]), argv[4], &memory);
    c.reps = atoi(argv[3]);
    for (uint64_t k = 0; k < strtoull(argv[2], NULL, 10); k++)
        one(strtoull(argv[1], NULL, 10) + k, &memory, &c);
    printf("{\"nests\": %d, \"refused\": %d, \"peak_kib\": %ld}\n", c.nests, c.refused, peak());
    return 0;
}
