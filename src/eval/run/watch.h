/* watch.h - what happens between the steps of a long run: it may be cancelled, tells how far it is,
 * and gives back the memory of files that it has read.
 *
 * A task of a long stage runs its share of the root axis in steps of some milliseconds, which start
 * at whole blocks of every combine tree as tasks do; so steps change no bit. */
#ifndef RD_EVAL_RUN_WATCH_H
#define RD_EVAL_RUN_WATCH_H
#include "eval/plan.h"

/* One run's.  All threads use `stop` and `steps`; the rest is the calling thread's. */
typedef struct rd_watch {
    rd_ctx      *ctx;
    rd_progress  progress;
    double       begun, told;     /* seconds */
    double       work, done, all; /* operations: of the stage that runs, of those before, of all */
    int          n_slot;
    void *const *slot;
    bool         overdue; /* nobody cancelled it: it ran for longer than was allowed */
    atomic_bool  stop;
    atomic_uint  steps; /* of all threads */
} rd_watch;

/* Operations of a step: some milliseconds, in which a stage reads a few hundred megabytes at
 * most. */
#define RD_STEP_WORK 16e6
/* What is left of a task's share, and how it is taken: from the end, if the loop runs backwards. */
typedef struct rd_steps {
    const rd_program *p;
    int64_t           lo, hi, step;
    double            begun; /* seconds: the step that runs; 0: none yet */
    bool              backwards;
} rd_steps;
rd_steps rd_steps_of(const rd_program *p, int64_t lo, int64_t hi);
/* The next step, as many indices as should take some milliseconds after what the last ones took;
 * false: there is none. */
bool rd_steps_next(rd_steps *s, int64_t *lo, int64_t *hi);
/* Indices of the root axis for about so many operations, the first step; 0: the stage is short, or
 * cannot be taken apart.  Users' functions are taken for long ones. */
int64_t rd_watch_every(const rd_program *p, double work);

void rd_watch_begin(rd_watch *w, const rd_plan *plan, const rd_progress *progress,
                    void *const *slot);
void rd_watch_stage(rd_watch *w, const rd_program *p);
/* After a step of one of so many tasks, on any thread: false to stop. */
bool rd_watch_step(rd_watch *w, int tasks);
/* After a step of the first task, which the calling thread runs: `part` of its share is done. */
void rd_watch_look(rd_watch *w, double part);
/* At the end of a run that went well. */
void rd_watch_end(rd_watch *w);
#endif
