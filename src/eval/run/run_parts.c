/* run_parts.c - runs of plans in parts: what one makes, later ones read from memory. */
#include "eval/plan.h"
#include "core/clock.h"
#include "eval/run/frame.h"
#include "eval/run/team.h"
#include "eval/run/watch.h"
#include "kernels/product/rows.h"

/* Progress of all parts, in equal shares. */
typedef struct told {
    const rd_progress *of;
    double             begun;
    int32_t            part, n;
    bool               said;
} told;

static int tell(void *user, double done, double seconds_left)
{
    told        *t   = user;
    const double all = (t->part + done) / t->n, taken = rd_seconds() - t->begun;

    (void)seconds_left;
    if (done >= 1)
        return 0; /* the part's own end */
    t->said = true;
    return t->of->tell(t->of->user, all, all > 0 ? taken * (1 - all) / all : INFINITY);
}

/* Memory of a run: arrays, then one part's inputs. */
static char *take_memory(const rd_plan *plan)
{
    rd_parts *parts  = plan->parts;
    char     *memory = atomic_exchange(&parts->memory, NULL);

    return memory ? memory
                  : rd_alloc_work(plan->ctx, rd_bytes_add(parts->bytes, parts->pointers + 64));
}

static void give_memory(const rd_plan *plan, char *memory)
{
    rd_free_work(plan->ctx, atomic_exchange(&plan->parts->memory, memory));
}

static rd_status run_part(const rd_plan *plan, const rd_part *part, char *arrays,
                          const void *const *in, void *const *out, const rd_progress *progress,
                          rd_run_stats *stats)
{
    const rd_parts *parts = plan->parts;
    const void    **own   = (const void **)(void *)(arrays + parts->bytes);
    void           *array = part->array >= 0 ? arrays + parts->at[part->array] : NULL;
    rd_run_stats    here;
    rd_status       status;

    for (int32_t k = 0; k < plan->n_in; k++)
        own[k] = in ? in[k] : NULL;
    for (int32_t k = 0; k < part->n_read; k++)
        own[plan->n_in + k] = arrays + parts->at[part->read[k]];
    status = rd_plan_execute(part->plan, own,
                             array ? &array
                             : out ? out + part->first
                                   : NULL,
                             progress, &here);
    stats->loads += here.loads;
    stats->tasks = here.tasks > stats->tasks ? here.tasks : stats->tasks;
    return status;
}

/* ---- Products of sparse matrices ------------------------------------------------------------- */
static void *get(void *user, int64_t bytes)
{
    return rd_alloc_quiet(user, bytes);
}

static void put(void *user, void *memory)
{
    rd_free(user, memory);
}

rd_status rd_product_part_run(const rd_plan *plan, const void *const *in, void *const *out)
{
    const rd_row_product *p      = plan->product;
    const rd_row_memory   memory = { get, put, plan->ctx };
    const double          each   = p->b.rows ? (double)p->b.n / (double)p->b.rows : 0;
    const int threads = rd_team(plan->ctx, plan->threads, (double)p->a.n * (each + 1), p->a.rows);

    return rd_row_product_run(p, in[plan->n_in - 2], in[plan->n_in - 1], out[0], threads, &memory)
               ? RD_OK
               : rd_no_memory(plan);
}

/* ---- All parts ------------------------------------------------------------------------------- */
rd_status rd_parts_run(const rd_plan *plan, const void *const *in, void *const *out,
                       const rd_progress *progress, rd_run_stats *stats)
{
    told        t      = { .of = progress, .begun = rd_seconds(), .n = plan->parts->n };
    rd_progress mine   = { 0 };
    char       *memory = take_memory(plan), *arrays;
    rd_status   status = RD_OK;

    if (!memory)
        return rd_no_memory(plan);
    if (progress)
        mine = *progress;
    if (mine.tell)
        mine = (rd_progress){ .tell = tell, .user = &t, .until = progress->until };
    arrays = rd_next_line(memory);
    for (; t.part < t.n && status == RD_OK; t.part++)
        status = run_part(plan, &plan->parts->part[t.part], arrays, in, out, &mine, stats);
    if (t.said && status == RD_OK)
        (void)progress->tell(progress->user, 1, 0);
    give_memory(plan, memory);
    return status;
}
