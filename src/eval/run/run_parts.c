/* run_parts.c - runs a plan that consists of several plans (parts): later parts read the arrays
 * that earlier ones made.
 *
 * A part is one of several plans into which an expression is cut.  A part's array lies in memory
 * already if it is a leaf of the caller's that products read in place (`lies`). */
#include "eval/plan.h"
#include "core/clock.h"
#include "eval/run/frame.h"
#include "eval/run/team.h"
#include "eval/run/watch.h"
#include "kernels/product/sparse_product.h"

/* Reports the progress of all parts, in equal shares. */
typedef struct progress_of_parts {
    const rd_progress *of;      /* the caller's listener */
    double             begun;   /* seconds: start of the run */
    int32_t            part, n; /* part that runs; parts in all */
    bool               said;    /* the listener has had a report */
} progress_of_parts;

/* Reports a part's progress to the listener as that of all parts: a plan in parts is several plans
 * that run one after the other, and each counts the same. t->part is the number of the part that
 * runs. A result other than 0 asks to cancel. */
static int tell(void *user, double done, double seconds_left)
{
    progress_of_parts *t   = user;
    const double       all = (t->part + done) / t->n, taken = rd_seconds() - t->begun;

    (void)seconds_left;
    if (done >= 1)
        return 0; /* the end of one part only */
    t->said = true;
    return t->of->tell(t->of->user, all, all > 0 ? taken * (1 - all) / all : INFINITY);
}

/* Takes the memory of a run, kept or new: the arrays between parts, then pointers to one part's
 * inputs. NULL: no memory. */
static char *take_memory(const rd_plan *plan)
{
    rd_parts *parts  = plan->parts;
    char     *memory = atomic_exchange(&parts->memory, NULL);

    return memory ? memory
                  : rd_alloc_work(plan->ctx, rd_bytes_add(parts->bytes, parts->pointers + 64));
}

/* Keeps the memory of a run for the next one, and frees what was kept before. */
static void give_memory(const rd_plan *plan, char *memory)
{
    rd_free_work(plan->ctx, atomic_exchange(&plan->parts->memory, memory));
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* One run of a plan in parts. */
typedef struct running {
    const rd_plan     *plan;
    char              *arrays, *spare; /* spare: memory for leaves that overlap a result */
    const void *const *in;
    void *const       *out;
} running;

/* The only result's memory, if an array between parts is made there in place of a copy; NULL:
 * there is no such array. */
static char *direct(const running *r)
{
    return r->plan->parts->direct < 0 ? NULL : r->out ? r->out[0] : r->plan->out[0].data;
}

/* Bytes of a dense array. */
static int64_t bytes_of(const rd_output *out)
{
    return out->hi * rd_dtype_size(out->type);
}

/* True if two ranges of bytes overlap. */
static bool bytes_overlap(const char *a, int64_t a_bytes, const char *b, int64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* The address of array k in the caller's own memory, if it is a leaf that products read in place
 * (`read_in_place`); NULL: it must be made, also because it overlaps the result being written. */
static char *borrowed(const running *r, int32_t k)
{
    const rd_plan_part *part = &r->plan->parts->part[k];
    const char         *at   = part->input < 0 ? part->leaf : r->in ? r->in[part->input] : NULL;

    if (!part->read_in_place || !at)
        return NULL;
    if (direct(r) &&
        bytes_overlap(at, bytes_of(part->plan->out), direct(r), bytes_of(r->plan->out)))
        return NULL;
    return (char *)(uintptr_t)at;
}

/* The address of array k in this run: in the caller's memory (see borrowed()), the result that it
 * is, spare memory for a leaf that overlaps the result, or memory between parts. parts->at[k] is
 * the offset of an array; `direct` is the number of the array that is the result. */
static char *address_of(const running *r, int32_t k)
{
    const rd_parts *parts = r->plan->parts;
    char *const     at    = borrowed(r, k);

    return at                             ? at
           : k == parts->direct           ? direct(r)
           : parts->part[k].read_in_place ? r->spare + parts->at[k]
                                          : r->arrays + parts->at[k];
}

/* Allocates memory for leaves that products would read in place but that overlap a result, which
 * is rare; false: no memory. */
static bool get_spare(running *r)
{
    bool any = false;

    for (int32_t k = 0; k < r->plan->parts->n_array; k++)
        any |= r->plan->parts->part[k].read_in_place && !borrowed(r, k);
    r->spare = any ? rd_alloc_work(r->plan->ctx, r->plan->parts->spare) : NULL;
    return !any || r->spare;
}

/* Checks the addresses that no part's own plan checks: of inputs that products read in place, and
 * of the result that a product is made in. Returns the status. part->read_in_place: its array is a
 * leaf that products read in place, input `input` of the plan, -1: none. parts->direct is the array
 * that is made in the result's memory, -1: none; direct() is that address. */
static rd_status check_addresses(const running *r)
{
    const rd_parts *parts  = r->plan->parts;
    rd_status       status = RD_OK;

    for (int32_t k = 0; k < parts->n_array && status == RD_OK; k++) {
        const rd_plan_part *part = &parts->part[k];

        if (part->read_in_place && part->input >= 0)
            status = rd_check_address(r->plan, "input", part->input,
                                      r->in ? r->in[part->input] : NULL, part->plan->out[0].type);
    }
    if (parts->direct >= 0 && status == RD_OK)
        status = rd_check_address(r->plan, "result", /*k=*/0, direct(r), r->plan->out[0].type);
    return status;
}

/* True if a part need not run: its array is the caller's own memory; or it is the part that stores
 * results, and the only result was made in place. */
static bool is_computed(const running *r, const rd_plan_part *part)
{
    return part->array >= 0 ? borrowed(r, part->array) != NULL : direct(r) != NULL;
}

/* Runs one part (one of several plans): lists its inputs, which are the caller's and then arrays
 * of earlier parts, and executes its plan. Adds to stats. `own` are the addresses of the part's
 * inputs, in the memory behind the arrays. A part with an array makes that; one without (-1)
 * makes results from number `first` on. */
static rd_status run_part(const running *r, const rd_plan_part *part, const rd_progress *progress,
                          rd_run_stats *stats)
{
    const rd_plan *plan  = r->plan;
    const void   **own   = (const void **)(void *)(r->arrays + plan->parts->bytes);
    void          *array = part->array >= 0 ? address_of(r, part->array) : NULL;
    rd_run_stats   here;
    rd_status      status;

    if (is_computed(r, part))
        return RD_OK;
    for (int32_t k = 0; k < plan->n_in; k++)
        own[k] = r->in ? r->in[k] : NULL;
    for (int32_t k = 0; k < part->n_read; k++)
        own[plan->n_in + k] = address_of(r, part->read[k]);
    status = rd_plan_execute(part->plan, own,
                             array    ? &array
                             : r->out ? r->out + part->first
                                      : NULL,
                             progress, &here);
    stats->loads += here.loads;
    stats->tasks = here.tasks > stats->tasks ? here.tasks : stats->tasks;
    return status;
}

/* ---- Products of sparse matrices ------------------------------------------------------------- */
/* Memory of a context (user), in the form that rd_row_product_run() asks for. */
static void *get(void *user, int64_t bytes)
{
    return rd_alloc_quiet(user, bytes);
}

/* Frees memory that get() returned. */
static void put(void *user, void *memory)
{
    rd_free(user, memory);
}

/* Runs a part that is a product of sparse matrices. The last two inputs are the stored values of
 * its factors, out[0] those of the result. Work is estimated as 8 operations for each stored
 * element of a and those in a row of b. */
rd_status rd_product_part_run(const rd_plan *plan, const void *const *in, void *const *out)
{
    const rd_row_product *p      = plan->product;
    const rd_row_memory   memory = { get, put, plan->ctx };
    const double          each   = p->b.rows ? (double)p->b.n / (double)p->b.rows : 0;
    const int             threads =
        rd_thread_count_now(plan->ctx, plan->threads, 8 * (double)p->a.n * (each + 1), p->a.rows);

    return rd_row_product_run(p, in[plan->n_in - 2], in[plan->n_in - 1], out[0], threads, &memory)
               ? RD_OK
               : rd_no_memory(plan);
}

/* ---- All parts ------------------------------------------------------------------------------- */
/* Runs all parts in order and reports their progress as one run's.  Returns the status of the first
 * failure.  `mine` is the caller's listener, wrapped so that it hears of all parts as one run;
 * progress may be NULL. */
rd_status rd_parts_run(const rd_plan *plan, const void *const *in, void *const *out,
                       const rd_progress *progress, rd_run_stats *stats)
{
    progress_of_parts t      = { .of = progress, .begun = rd_seconds(), .n = plan->parts->n };
    rd_progress       mine   = { 0 };
    char             *memory = take_memory(plan);
    rd_status         status = RD_OK;

    if (!memory)
        return rd_no_memory(plan);
    if (progress)
        mine = *progress;
    if (mine.tell)
        mine = (rd_progress){ .tell = tell, .user = &t, .until = progress->until };
    running r = { plan, rd_next_line(memory), NULL, in, out };
    status    = check_addresses(&r);
    if (status == RD_OK && !get_spare(&r))
        status = rd_no_memory(plan);
    for (; t.part < t.n && status == RD_OK; t.part++)
        status = run_part(&r, &plan->parts->part[t.part], &mine, stats);
    if (t.said && status == RD_OK)
        (void)progress->tell(progress->user, /*done=*/1, /*seconds_left=*/0);
    rd_free_work(plan->ctx, r.spare);
    give_memory(plan, memory);
    return status;
}
