/* device_state.h - what runs on devices have in common: how they fail, and who is told. */
#ifndef RD_EVAL_RUN_DEVICE_STATE_H
#define RD_EVAL_RUN_DEVICE_STATE_H
#include "eval/plan.h"

typedef struct rd_device_state {
    const rd_plan     *plan;
    const rd_progress *progress;
    int32_t            stage;       /* that runs */
    double             begun, told; /* seconds   */
    rd_status          status;
    bool               stores;    /* it may have stored results, or a part of them */
    bool               elsewhere; /* it has failed before: there is another way     */
    bool               tries;     /* such as to ask for each stage anew             */
    char               why[RD_DEVICE_TEXT];
} rd_device_state;

rd_device_state rd_device_begins(const rd_plan *plan, const rd_progress *progress);
/* By what `why` says. */
rd_status rd_device_fail(rd_device_state *s, rd_status status);
void      rd_device_cancelled(rd_device_state *s);
/* Of rd_device_host: so much of the stage is done; false: the run is cancelled. */
bool rd_device_tell(void *state, double done);
/* It has ended: who was told once is told that. */
void rd_device_told(const rd_device_state *s);
#endif
