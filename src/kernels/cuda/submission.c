/* submission.c - a run's use of a GPU: its memory, and the reports of its kernels.
 *
 * A run that the host waits for ends at once.  A run that the host leaves continues by itself.
 * Then its memory stays taken until an event behind the run has been reached, and so does memory
 * that is returned meanwhile.  The next submission looks for such runs; the next
 * rd_submissions_end() tells their reports.
 *
 * A run is one evaluation's use of the GPU.  A record is memory in which a kernel reports
 * invalid indices and warnings. */
#include "kernels/cuda/kernel_call.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/stream.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that may be left at the same time: they hold memory. */
enum { MOST_LEFT = 64 };

/* A growing list of addresses on the GPU. */
typedef struct address_list {
    CUdeviceptr *at;
    int32_t      n, room; /* addresses; how many there is memory for */
} address_list;

/* One run. */
struct rd_submission {
    rd_queue      *queue;
    address_list   memory, records; /* all memory of the run; the records of its kernels */
    int64_t        bytes;           /* of all memory, with what was returned before the end */
    CUevent        left;            /* the event behind all work of the run */
    rd_submission *next;
};

/* The runs of a queue that the host has left, the oldest first. */
struct rd_submissions {
    pthread_mutex_t lock;
    rd_submission  *first, *last;
    int32_t         n;     /* runs in the list */
    rd_task         found; /* the reports of runs that have ended */
};

/* Makes the empty list of a queue's runs that the host does not wait for.  NULL: no memory. */
rd_submissions *rd_submissions_new(void)
{
    rd_submissions *all = calloc(1, sizeof *all);

    if (all && pthread_mutex_init(&all->lock, NULL) != 0) {
        free(all);
        all = NULL;
    }
    return all;
}

/* Frees the list; it must be empty.  NULL is allowed. */
void rd_submissions_free(rd_submissions *all)
{
    if (!all)
        return;
    pthread_mutex_destroy(&all->lock);
    free(all);
}

/* Appends an address on the GPU to a growing list.  False: no memory. */
static bool add_address(address_list *to, CUdeviceptr at)
{
    if (to->n == to->room) {
        const int32_t room = to->room ? 2 * to->room : 8;
        CUdeviceptr  *more = realloc(to->at, (size_t)room * sizeof *more);

        if (!more)
            return false;
        to->at   = more;
        to->room = room;
    }
    to->at[to->n++] = at;
    return true;
}

/* ---- Reports --------------------------------------------------------------------------------- */
/* Writes the error of an invalid index: that of the smallest position in the program's order,
 * `least`, as a serial run would meet it first. The record keeps up to RD_FAILURES failures; the
 * one of that position has the index and the axis's extent. */
static void report_index(const rd_record *found, rd_task *task)
{
    const uint32_t n = found->n < RD_FAILURES ? found->n : RD_FAILURES;

    task->status = RD_ERR_AXIS;
    snprintf(task->sentence, sizeof task->sentence, "rd_take: an index is outside its axis");
    for (uint32_t k = 0; k < n; k++) {
        if (found->failure[k].order != found->least)
            continue;
        if (found->failure[k].is_unsigned)
            snprintf(task->sentence, sizeof task->sentence,
                     "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64,
                     (uint64_t)found->failure[k].index, found->failure[k].extent);
        else
            snprintf(task->sentence, sizeof task->sentence,
                     "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64,
                     found->failure[k].index, found->failure[k].extent);
    }
}

/* Copies the error records of a run's kernels from the GPU, and adds them to the report: all
 * warnings, and the invalid index of the first stage that found one. All work must be done. Each
 * stage has a record. */
static bool read_records(const rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT])
{
    for (int32_t k = 0; k < s->records.n; k++) {
        rd_record found;

        if (!rd_queue_down(s->queue, &found, s->records.at[k], sizeof found, why) ||
            !rd_queue_wait(s->queue, why))
            return false;
        report->warnings |= found.warnings;
        if (found.n && report->status == RD_OK)
            report_index(&found, report);
    }
    return true;
}

/* ---- One run --------------------------------------------------------------------------------- */
/* Returns all memory of a run to the GPU's allocator, and frees its event and itself. */
static void drop(rd_submission *s)
{
    rd_gpu *const gpu = rd_queue_gpu(s->queue);
    char          ignored[RD_CUDA_TEXT];

    for (int32_t k = 0; k < s->memory.n; k++)
        rd_gpu_put(gpu, s->memory.at[k]);
    if (s->left && rd_gpu_enter(gpu, ignored)) {
        (void)RD_GPU_CALL(gpu, ignored, cuEventDestroy_v2, s->left);
        rd_gpu_leave(gpu);
    }
    free(s->memory.at);
    free(s->records.at);
    free(s);
}

/* Ends the oldest run of the list: reads its reports and frees it.  Its event must have been
 * reached; the caller holds the lock. */
static bool end_oldest(rd_submissions *all, char why[RD_CUDA_TEXT])
{
    rd_submission *const s    = all->first;
    const bool           done = read_records(s, &all->found, why);

    all->first = s->next;
    all->last  = all->first ? all->last : NULL;
    all->n--;
    drop(s);
    return done;
}

/* True if the event behind a run has been reached, so that the run is over. */
static bool has_come(const rd_submission *s)
{
    char     ignored[RD_CUDA_TEXT];
    CUresult result = CUDA_ERROR_NOT_READY;

    if (rd_gpu_enter(rd_queue_gpu(s->queue), ignored)) {
        result = rd_cuda_api(/*why=*/NULL)->cuEventQuery(s->left);
        rd_gpu_leave(rd_queue_gpu(s->queue));
    }
    return result == CUDA_SUCCESS;
}

/* Ends the runs at the front of the list that are over; runs in a queue end in order. If
 * MOST_LEFT are left, it waits for the queue and ends the oldest, so that the list stays
 * bounded. */
static bool end_some(rd_queue *queue, char why[RD_CUDA_TEXT])
{
    rd_submissions *const all  = rd_queue_submissions(queue);
    bool                  done = true;

    pthread_mutex_lock(&all->lock);
    while (done && all->first && has_come(all->first))
        done = end_oldest(all, why);
    if (done && all->first && all->n == MOST_LEFT)
        done = rd_queue_wait(queue, why) && end_oldest(all, why);
    pthread_mutex_unlock(&all->lock);
    return done;
}

/* True if the queue has runs that the host did not wait for (it has left them). */
static bool has_left(rd_queue *queue)
{
    rd_submissions *const all = rd_queue_submissions(queue);
    bool                  found;

    pthread_mutex_lock(&all->lock);
    found = all->first;
    pthread_mutex_unlock(&all->lock);
    return found;
}

/* Begins a run: what the host asks of the GPU.  Earlier runs that are over are ended first, as
 * they hold memory.  NULL: `why` has the reason; *full: for lack of memory. */
rd_submission *rd_submission_new(rd_queue *queue, bool *full, char why[RD_CUDA_TEXT])
{
    rd_submission *s;

    *full = false;
    if (!end_some(queue, why))
        return NULL;
    s = calloc(1, sizeof *s);
    if (!s) {
        *full = true;
        snprintf(why, RD_CUDA_TEXT, "out of memory");
        return NULL;
    }
    s->queue = queue;
    return s;
}

/* Returns the queue of a run. */
rd_queue *rd_submission_queue(const rd_submission *s)
{
    return s->queue;
}

/* Takes memory of the GPU for a run, which keeps it to its end.  If the GPU is full, it waits
 * for the queue's earlier runs and tries again.  Returns 0 on failure. */
CUdeviceptr rd_submission_get(rd_submission *s, int64_t bytes, bool *full, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu = rd_queue_gpu(s->queue);
    CUdeviceptr   at  = rd_gpu_get(gpu, bytes, full, why);

    if (!at && *full && has_left(s->queue) && rd_submissions_end(s->queue, /*report=*/NULL, why))
        at = rd_gpu_get(gpu, bytes, full, why);
    if (at && !add_address(&s->memory, at)) {
        rd_gpu_put(gpu, at);
        snprintf(why, RD_CUDA_TEXT, "out of memory");
        *full = true;
        at    = 0;
    }
    s->bytes += at ? bytes : 0;
    return at;
}

/* Returns memory of a run before the run ends; no work may still use it. */
void rd_submission_put(rd_submission *s, CUdeviceptr at)
{
    for (int32_t k = 0; k < s->memory.n; k++)
        if (s->memory.at[k] == at) {
            s->memory.at[k] = s->memory.at[--s->memory.n];
            rd_gpu_put(rd_queue_gpu(s->queue), at);
            return;
        }
}

/* Returns how many bytes a run has taken, with what it has returned since. */
int64_t rd_submission_bytes(const rd_submission *s)
{
    return s->bytes;
}

/* Takes memory for an error record of kernels, and sets it to "nothing reported". The run reads
 * it at its end. Returns 0 on failure. */
CUdeviceptr rd_submission_record(rd_submission *s, bool *full, char why[RD_CUDA_TEXT])
{
    static const rd_record none = { .least = UINT64_MAX };
    const CUdeviceptr      at   = rd_submission_get(s, sizeof none, full, why);

    if (!at || !rd_queue_up(s->queue, at, &none, sizeof none, why))
        return 0;
    if (add_address(&s->records, at))
        return at;
    snprintf(why, RD_CUDA_TEXT, "out of memory");
    *full = true;
    return 0;
}

/* Waits until the run is over, reads its reports, and frees it. */
bool rd_submission_end(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT])
{
    const bool done = rd_queue_wait(s->queue, why) && read_records(s, report, why);

    drop(s);
    return done;
}

/* Records an event behind all work of the run, by which its end is noticed later. */
static bool mark_end(rd_submission *s, char why[RD_CUDA_TEXT])
{
    rd_gpu *const gpu = rd_queue_gpu(s->queue);
    bool          full, made;

    if (!rd_gpu_enter(gpu, why))
        return false;
    made = RD_GPU_TAKE(gpu, &full, why, cuEventCreate, &s->left, CU_EVENT_DISABLE_TIMING);
    rd_gpu_leave(gpu);
    return made && rd_stream_mark(rd_queue_stream_object(s->queue), s->left, why);
}

/* Lets the run go on by itself: appends it to the queue's list, so that the host need not wait.
 * If no event can be made, by which its end would be noticed, it waits for the run instead. */
bool rd_submission_leave(rd_submission *s, rd_task *report, char why[RD_CUDA_TEXT])
{
    rd_submissions *const all = rd_queue_submissions(s->queue);

    if (!mark_end(s, why)) /* then it is waited for */
        return rd_submission_end(s, report, why);
    pthread_mutex_lock(&all->lock);
    *(all->last ? &all->last->next : &all->first) = s;
    all->last                                     = s;
    all->n++;
    pthread_mutex_unlock(&all->lock);
    return true;
}

/* ---- All of a queue -------------------------------------------------------------------------- */
/* Waits for all runs of the queue and ends them.  *report gets what they have reported; NULL:
 * the reports are kept for the next call.  After a failure the first reason stays in `why`. */
bool rd_submissions_end(rd_queue *queue, rd_task *report, char why[RD_CUDA_TEXT])
{
    rd_submissions *const all  = rd_queue_submissions(queue);
    bool                  done = rd_queue_wait(queue, why);

    pthread_mutex_lock(&all->lock);
    while (all->first)
        done = end_oldest(all, done ? why : (char[RD_CUDA_TEXT]){ "" }) && done;
    if (report) {
        *report    = all->found;
        all->found = (rd_task){ 0 };
    }
    pthread_mutex_unlock(&all->lock);
    return done;
}

/* Returns memory that runs of the queue may still use: the latest such run gets it, and frees it
 * at its end.  Without such a run it is free at once.  If the list cannot grow, it waits for the
 * queue first. */
void rd_submissions_put(rd_queue *queue, CUdeviceptr at)
{
    rd_submissions *const all = rd_queue_submissions(queue);
    char                  ignored[RD_CUDA_TEXT];

    pthread_mutex_lock(&all->lock);
    if (!all->last || !add_address(&all->last->memory, at)) {
        if (all->last)
            (void)rd_queue_wait(queue, ignored);
        rd_gpu_put(rd_queue_gpu(queue), at);
    }
    pthread_mutex_unlock(&all->lock);
}
