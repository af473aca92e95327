/* combine_devices.c - the multi-GPU combine: partials of split loops that several GPUs have left
 * become those of one GPU.
 *
 * A range leaves rows of nodes, and so does each complete group of ranges (combine_ranges.c).
 * Each GPU has rows and counters of its own.  A group that lies on one GPU is complete there.  A
 * group that two GPUs share is complete on neither; the sum of their counters says how many of
 * its ranges are done.  So the first GPU gets all rows, by way of this process's memory, and the
 * sums of the counters.  Later ranges continue there as if all ranges had run on that GPU. */
#include "kernels/cuda/kernel_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a GPU's partials and counters in this process's memory. */
typedef struct partials {
    char     *nodes;    /* rows of partials of all items */
    uint32_t *counters; /* finished ranges of each group */
} partials;

/* Returns `done`. If it is false, an allocation has failed, and the run gets the error "out of
 * memory". */
static bool note_memory(rd_gpu_run_state *r, bool done)
{
    if (!done) {
        r->full = true;
        snprintf(r->why, RD_CUDA_TEXT, "out of memory");
    }
    return done;
}

/* Allocates memory on the host for a copy of a GPU's partials (the nodes that ranges of split
 * loops leave) and counters. One byte more, as malloc(0) may return NULL. False: no memory. */
static bool make_partials(rd_gpu_run_state *r, partials *l)
{
    l->nodes    = malloc((size_t)rd_gpu_node_bytes(r->strategy) + 1);
    l->counters = malloc((size_t)rd_gpu_counter_bytes(r->strategy) + 1);
    return note_memory(r, l->nodes && l->counters);
}

/* Frees the host copy of partials (nodes that ranges leave) and counters. */
static void free_partials(partials *l)
{
    free(l->nodes);
    free(l->counters);
}

/* Copies a GPU's partials (nodes that ranges leave) and counters to the host, and waits for the
 * copies. */
static bool download(rd_gpu_run_state *r, partials *l)
{
    return rd_queue_down(r->queue, l->nodes, r->nodes, rd_gpu_node_bytes(r->strategy), r->why) &&
           rd_queue_down(r->queue, l->counters, r->counters, rd_gpu_counter_bytes(r->strategy),
                         r->why) &&
           rd_queue_wait(r->queue, r->why);
}

/* Copies partials (nodes that ranges leave) and counters from the host to a GPU, and waits for
 * the copies. */
static bool upload(rd_gpu_run_state *r, const partials *l)
{
    return rd_queue_up(r->queue, r->nodes, l->nodes, rd_gpu_node_bytes(r->strategy), r->why) &&
           rd_queue_up(r->queue, r->counters, l->counters, rd_gpu_counter_bytes(r->strategy),
                       r->why) &&
           rd_queue_wait(r->queue, r->why);
}

/* Computes the rows of partials (nodes that ranges leave) [*from, *to) of an item, on one level
 * of groups, that ranges (parts of a split loop) [first, end) alone have made. A group of that
 * level covers `span` ranges, and counts if it lies wholly in [first, end). Each group has
 * `rows` rows; the last one of a level may have fewer (last_rows). */
static void rows_of(const rd_cuda_strategy *s, int32_t level, int64_t span, int64_t first,
                    int64_t end, int64_t *from, int64_t *to)
{
    const rd_groups *groups = &s->level[level];
    const int64_t    before = (first + span - 1) / span;
    const int64_t    behind = end == s->n_range ? groups->n : end / span;

    *from = groups->row + before * groups->rows;
    *to   = groups->row + behind * groups->rows;
    if (behind == groups->n)
        *to += groups->last_rows - groups->rows;
}

/* Copies from one GPU's partials (nodes that ranges leave) those rows that its ranges (parts of
 * a split loop) [first, end) alone have made, for all items and levels of groups. `fan` groups
 * of a level are one of the next. */
static void add_rows(const rd_cuda_strategy *s, partials *all, const partials *own, int64_t first,
                     int64_t end)
{
    for (int64_t item = 0; item < s->n_item; item++) {
        int64_t span = 1;

        for (int32_t level = 0; level < s->n_level; level++, span *= s->choice.fan) {
            int64_t from, to;

            rows_of(s, level, span, first, end, &from, &to);
            from = (item * s->item_rows + from) * s->row_bytes;
            to   = (item * s->item_rows + to) * s->row_bytes;
            if (from < to)
                memcpy(all->nodes + from, own->nodes + from, (size_t)(to - from));
        }
    }
}

/* Adds a GPU's counters of finished ranges (parts of a split loop) to those of all GPUs: a group
 * that two GPUs share is complete when their sum says so. */
static void add_counters(const rd_cuda_strategy *s, partials *all, const partials *own)
{
    for (int64_t k = 0; k < s->n_item * s->item_counters; k++)
        all->counters[k] += own->counters[k];
}

/* Merges the partials (nodes that ranges leave) of all GPUs on the host, and uploads them to the
 * first GPU. Returns the run that failed, or NULL. */
static rd_gpu_run_state *gather(const rd_device_ranges *by, int32_t n, partials *all, partials *own)
{
    const rd_cuda_strategy *const s = by->run->strategy;

    if (!download(by->run, all))
        return by->run;
    for (int32_t k = 1; k < n; k++) {
        if (!download(by[k].run, own))
            return by[k].run;
        add_rows(s, all, own, by[k].first, by[k].end);
        add_counters(s, all, own);
    }
    return upload(by->run, all) ? NULL : by->run;
}

/* Brings the partials (nodes that ranges leave) of n GPUs to the first one, by way of the host.
 * Returns the run that failed, or NULL. */
rd_gpu_run_state *rd_partials_gather(const rd_device_ranges *by, int32_t n)
{
    partials          all = { 0 }, own = { 0 };
    rd_gpu_run_state *failed = by->run;

    if (make_partials(by->run, &all) && make_partials(by->run, &own))
        failed = gather(by, n, &all, &own);
    free_partials(&all);
    free_partials(&own);
    return failed;
}

/* Copies the first GPU's partials (nodes that ranges leave) to all others, by way of the host.
 * Returns the run that failed, or NULL. */
static rd_gpu_run_state *broadcast(const rd_device_ranges *by, int32_t n, partials *all)
{
    if (!download(by->run, all))
        return by->run;
    for (int32_t k = 1; k < n; k++)
        if (!upload(by[k].run, all))
            return by[k].run;
    return NULL;
}

/* Allocates a host copy of partials (nodes that ranges leave), and copies the first GPU's
 * partials to all others. Returns the run that failed, or NULL. */
rd_gpu_run_state *rd_partials_broadcast(const rd_device_ranges *by, int32_t n)
{
    partials          all    = { 0 };
    rd_gpu_run_state *failed = by->run;

    if (make_partials(by->run, &all))
        failed = broadcast(by, n, &all);
    free_partials(&all);
    return failed;
}
