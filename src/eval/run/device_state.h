/* device_state.h - the status of a run on one or several devices: how it fails, and how it
 * reports progress. */
#ifndef RD_EVAL_RUN_DEVICE_STATE_H
#define RD_EVAL_RUN_DEVICE_STATE_H
#include "eval/plan.h"

/* The status of a run on devices. */
typedef struct rd_device_state {
    const rd_plan     *plan;
    const rd_progress *progress;    /* the listener; may be NULL */
    int32_t            stage;       /* index of the stage that runs */
    double             begun, told; /* seconds: start of the run, last report */
    rd_status          status;      /* RD_OK, or the first error */
    bool               stores;      /* the run may have stored a part of its results */
    bool               elsewhere;   /* it has failed, and another plan can compute the results */
    bool               tries; /* it tries a recording; if that fails, each stage is launched */
    char               why[RD_DEVICE_TEXT]; /* the sentence of a failure */
} rd_device_state;

rd_device_state rd_device_begin(const rd_plan *plan, const rd_progress *progress);
/* Fails the run with the reason in s->why. */
rd_status rd_device_fail(rd_device_state *s, rd_status status);
void      rd_device_cancelled(rd_device_state *s);
/* Callback of rd_device_host: reports that a share `done` of the stage is finished; false:
 * cancelled. */
bool rd_device_tell(void *state, double done);
/* Reports the end of the run to a listener that has had an earlier report. */
void rd_device_tell_end(const rd_device_state *s);
#endif
