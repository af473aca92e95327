/* rdim-nests FIRST COUNT REPS: what it takes to make the text of compiled nests, for expressions of the
 * sweep.  Each is planned and not run; then the text of each of its nests is made REPS times.  A line of
 * JSON for each nest, and one for the process.  bench/nests.py calls it, and times the compiler. */
#include "eval/plan.h"
#include "eval/pool.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/cpu.h"
#include "../sweep/sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Addresses without memory behind them: planning looks at no element, and an element that nobody
 * touches takes no room. */
typedef struct addresses {
    char  *at;
    size_t used, room;
} addresses;

typedef struct counts {
    int reps, nests, refused;
} counts;

static void *addresses_take(addresses *a, int64_t elements, rd_dtype type)
{
    const size_t bytes = (size_t)elements * (size_t)sweep_dtype(type)->size;
    void        *taken = a->at + a->used;

    a->used += bytes / 4096 * 4096 + 4096;
    if (a->used > a->room) {
        fprintf(stderr, "rdim-nests: an expression of more than %zu bytes\n", a->room);
        exit(1);
    }
    return taken;
}

/* ---- The text of a nest ---------------------------------------------------------------------- */
static void *get_memory(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

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

        if (!rd_nest_prepare(p, rd_cpu_vector(), whole, get_memory, pool, &code, &why) || !code)
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
static rd_plan *plan_of(program *p, rd_ctx *ctx, addresses *memory)
{
    rd_expr  *root[MOST_ROOTS];
    rd_array  out[MOST_ROOTS];
    rd_result list[MOST_ROOTS];

    memory->used = 0;
    for (int k = 0; k < p->n_leaves; k++)
        p->leaves[k].memory = addresses_take(memory, p->leaves[k].elements, p->leaves[k].type);
    if (!sweep_to_rdim(p, ctx, root))
        return NULL;
    for (int k = 0; k < p->n_roots; k++) {
        out[k]      = (rd_array){ .type = p->root[k]->type, .shape = rd_shape_of(root[k]) };
        out[k].data = addresses_take(memory, sweep_elements(p->root[k]), out[k].type);
        list[k]     = (rd_result){ root[k], &out[k] };
    }
    return rd_plan_new(ctx, (rd_exprs){ 0 }, (rd_results){ list, p->n_roots }, NULL);
}

static void one(uint64_t seed, addresses *memory, counts *c)
{
    const rd_ctx_opts o    = { .size = sizeof o, .threads = 1 };
    program          *p    = sweep_draw(seed, 64e6);
    rd_ctx           *ctx  = rd_ctx_new(&o);
    rd_plan          *plan = plan_of(p, ctx, memory);

    if (plan)
        time_plan(plan, seed, c);
    else
        c->refused++;
    rd_ctx_free(ctx);
    for (int k = 0; k < p->n_leaves; k++)
        p->leaves[k].memory = NULL; /* sweep_free() would free it */
    sweep_free(p);
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
    addresses memory = { .room = (size_t)1 << 36 };
    counts    c      = { 0 };

    if (argc != 4) {
        fprintf(stderr, "rdim-nests FIRST COUNT REPS\n");
        return 2;
    }
    memory.at = mmap(NULL, memory.room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory.at == MAP_FAILED) {
        perror("rdim-nests: mmap");
        return 1;
    }
    c.reps = atoi(argv[3]);
    for (uint64_t k = 0; k < strtoull(argv[2], NULL, 10); k++)
        one(strtoull(argv[1], NULL, 10) + k, &memory, &c);
    printf("{\"nests\": %d, \"refused\": %d, \"peak_kib\": %ld}\n", c.nests, c.refused, peak());
    return 0;
}
