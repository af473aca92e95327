/* run_tree.c - runs a loop tree with shadows in place of numbers, as one task or as several.
 *
 * A task runs its share of the root axis. Shares are multiples of the grain, the least range that a
 * task may take. A shadow is a known number, or a hash of the operations that made a number: equal
 * shadows mean equal bits. The run checks that the tree stores what its program stores.
 *
 * Fields. An array of the tree with `fold` -1 holds elements, any other one states of that fold. */
#include "kernels/loop/shadow/run_tree.h"
#include <stdlib.h>

/* ---- Tasks ----------------------------------------------------------------------------------- */
/* Frees all that a task of a shadow run has; after a failure some of it may be missing. */
static void close_task(rd_shadow_task *r)
{
    rd_shadow_memory_free(&r->own);
    rd_shadow_folds_free(r->folds);
    for (int32_t k = 0; k < r->t->n_store; k++) {
        if (r->store)
            free(r->store[k]);
        if (r->made)
            free(r->made[k]);
    }
    free(r->store);
    free(r->made);
    free(r->exit);
    free(r->last);
    rd_shadow_copy_free(&r->root);
}

/* Makes the arrays of elements of a task (fold < 0: no states), none of whose elements has been
 * stored; made[] notes which have. False: no memory. */
static bool open_stores(rd_shadow_task *r)
{
    bool ok = true;

    r->store = calloc((size_t)r->t->n_store + 1, sizeof *r->store);
    r->made  = calloc((size_t)r->t->n_store + 1, sizeof *r->made);
    for (int32_t k = 0; k < r->t->n_store && r->store && r->made && ok; k++)
        if (r->t->store[k].fold < 0) {
            const size_t n = (size_t)r->t->store[k].extent + 1;

            r->store[k] = calloc(n, sizeof **r->store);
            r->made[k]  = calloc(n, sizeof **r->made);
            ok          = r->store[k] && r->made[k];
        }
    return ok && r->store && r->made;
}

/* Makes a task of the tree; if there is no memory, it has failed. `visits`: statements that it may
 * still run. `last` has a flag for each statement, and root, the only copy of values and indices
 * outside of jams, begins with zeros (NULL: like no other copy). Arrays have room for one more, as
 * calloc(0) may return NULL. */
static void open_task(rd_shadow_task *r, const rd_schedule *t, rd_shadow_memory *all,
                      int64_t visits, rd_text *why)
{
    *r = (rd_shadow_task){ .t = t, .memory = { t->p, all, &r->own }, .why = why, .visits = visits };
    r->folds = rd_shadow_folds_new(t, why);
    r->last  = calloc((size_t)t->n_stmt + 1, sizeof *r->last);
    rd_shadow_require(r, r->folds && r->last && open_stores(r) && rd_shadow_find_exits(r) &&
                             rd_shadow_copy_new(t, &r->root, /*of=*/NULL));
}

/* Runs the head, the body or the tail of the program in the task's only copy of the code. The
 * bounds of its share of the root axis, [lo, hi), are bound to the first two marks. */
static void run_part(rd_shadow_task *r, int part, int64_t lo, int64_t hi)
{
    rd_shadow_copy *const alone[1] = { &r->root };
    const int32_t         marks    = r->t->p->n_axis;

    if (r->failed)
        return;
    r->root.axis[marks + RD_MARK_LO] = lo;
    r->root.axis[marks + RD_MARK_HI] = hi;
    rd_shadow_body(r, r->t->part[part], alone, /*n=*/1);
}

/* Runs the body over the share of a task: at once, or (`steps`) in the steps of long runs, one
 * after the other. An empty share still runs the body once, as folds begin there. */
static void run_share(rd_shadow_task *r, bool steps, int64_t lo, int64_t hi)
{
    const int64_t step = steps && r->t->p->step > 0 ? r->t->p->step : hi - lo;

    for (int64_t at = lo; at < hi && !r->failed; at += step)
        run_part(r, RD_PART_BODY, at, hi - at < step ? hi : at + step);
    if (lo >= hi)
        run_part(r, RD_PART_BODY, lo, hi);
}

/* Runs n tasks, each its share of the root axis, a multiple of the grain (the least range that a
 * task may take). The last task runs first, so that none can wait for the one before it. Then
 * their folds are joined, and task 0 runs the tail. */
static void run_tasks(rd_shadow_task *r, int n, bool steps)
{
    const rd_program *p      = r->t->p;
    const bool        shared = p->root >= 0 && !r->t->whole;
    const int64_t     extent = p->root >= 0 ? p->axis_extent[p->root] : 0;
    const int64_t     grains = p->grain > 0 ? (extent + p->grain - 1) / p->grain : extent;

    for (int k = n - 1; k >= 0; k--) {
        const int64_t lo = shared ? grains * k / n * p->grain : 0;
        const int64_t hi = k == n - 1 || !shared ? extent : grains * (k + 1) / n * p->grain;

        run_part(&r[k], RD_PART_HEAD, lo, hi);
        run_share(&r[k], steps, lo, hi);
        if (k > 0)
            r[0].failed |= r[k].failed;
    }
    for (int k = 1; k < n && !r[0].failed; k++)
        rd_shadow_require(&r[0], rd_shadow_folds_join(r[0].folds, r[k].folds));
    run_part(&r[0], RD_PART_TAIL, /*lo=*/0, extent);
}

/* Runs all of a tree on hashes, in up to four tasks, and stores its results in *all. A limit of
 * visits ends runs that would not end. False: *why has a sentence, or there was no memory. */
bool rd_shadow_tree(const rd_schedule *t, rd_shadow_shares shares, rd_shadow_memory *all,
                    rd_text *why)
{
    enum { MOST_TASKS = 4, TIMES = 8 }; /* visits, in those of its program */
    const int64_t  visits = 10000 + TIMES * rd_shadow_visits(t);
    const int      least  = shares.tasks < 1 ? 1 : shares.tasks;
    const int      n      = least < MOST_TASKS ? least : MOST_TASKS;
    rd_shadow_task r[MOST_TASKS];
    bool           holds;

    for (int k = 0; k < n; k++)
        open_task(&r[k], t, all, visits, why);
    for (int k = 1; k < n; k++)
        r[0].failed |= r[k].failed;
    run_tasks(r, n, shares.steps);
    holds = !r[0].failed && !all->failed && !r[0].own.failed;
    for (int k = 0; k < n; k++)
        close_task(&r[k]);
    return holds;
}
