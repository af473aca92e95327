/* watch.h - between the steps of a long run: the run may be cancelled, reports progress, and
 * gives back the memory of mapped files that it has read.
 *
 * A task of a long stage runs its share of the root axis in steps of some milliseconds.  Steps
 * start at whole blocks of every combine tree, as tasks do, so they change no bit. */
#ifndef RD_EVAL_RUN_WATCH_H
#define RD_EVAL_RUN_WATCH_H
#include "eval/plan.h"

/* The watch of one run.  All threads use `stop` and `steps`; the calling thread alone uses the
 * rest. */
typedef struct rd_watch {
    rd_ctx      *ctx;
    rd_progress  progress;        /* listener and time limit */
    double       begun, told;     /* seconds: start of the run, last report */
    double       work, done, all; /* operations: of the running stage, of finished stages, of all */
    int          n_slot;
    void *const *slot;    /* addresses of the run, to give mapped files back */
    bool         overdue; /* not cancelled by anyone: it exceeded its time limit */
    atomic_bool  stop;    /* the run must end */
    atomic_uint  steps;   /* steps finished by all threads */
} rd_watch;

/* Operations of one step: some milliseconds, in which a stage reads a few hundred megabytes at
 * most. */
#define RD_STEP_WORK 16e6
/* The rest of a task's share, taken in steps; from the end if the loop runs backwards. */
typedef struct rd_step_range {
    const rd_program *p;
    int64_t           lo, hi, step; /* what is left: [lo, hi); indices of the next step */
    double            begun;        /* seconds: start of the current step; 0: none yet */
    bool              backwards;    /* from hi down */
} rd_step_range;
rd_step_range rd_step_range_of(const rd_program *p, int64_t lo, int64_t hi);
/* Takes the next step, as many indices as should take some milliseconds by the time of the last
 * steps; false: the share is finished. */
bool rd_step_range_next(rd_step_range *s, int64_t *lo, int64_t *hi);
/* Indices of the root axis in the first step, for about `work` operations; 0: the stage is short
 * or cannot be split.  Users' functions are assumed to take long. */
int64_t rd_watch_every(const rd_program *p, double work);

void rd_watch_begin(rd_watch *w, const rd_plan *plan, const rd_progress *progress,
                    void *const *slot);
void rd_watch_stage(rd_watch *w, const rd_program *p);
/* Called after a step of one of `tasks` tasks, on any thread; false: stop. */
bool rd_watch_step(rd_watch *w, int tasks);
/* Called after a step of the first task, on the calling thread: `part` of its share is finished. */
void rd_watch_look(rd_watch *w, double part);
/* Called at the end of a run that went well. */
void rd_watch_end(rd_watch *w);
#endif
