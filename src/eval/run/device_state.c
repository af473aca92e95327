/* device_state.c - the status of a run on devices: how it fails or is cancelled, and what a
 * listener for progress is told. */
#include "eval/run/device_state.h"
#include "core/clock.h"
#include <stdio.h>

/* The state of a run that begins now. */
rd_device_state rd_device_begin(const rd_plan *plan, const rd_progress *progress)
{
    const double now = rd_seconds();

    return (rd_device_state){ .plan = plan, .progress = progress, .begun = now, .told = now };
}

/* Records that a run failed with this status, for the reason in s->why. It sets `elsewhere` and no
 * error if only the try of a recording failed, or if another plan can compute the results and
 * nothing is stored yet. Returns the status. `tries`: the run tries a recording. plan->instead
 * is the other plan; NULL: there is none. */
rd_status rd_device_fail(rd_device_state *s, rd_status status)
{
    char sentence[RD_DEVICE_TEXT + 64];

    s->status    = status;
    s->elsewhere = s->tries || (s->plan->instead && !s->stores);
    if (s->elsewhere)
        return status;
    snprintf(sentence, sizeof sentence, "%s: %s",
             s->plan->call ? s->plan->call : rd_call_name(s->plan->ctx), s->why);
    s->status = rd_fail_run(s->plan->ctx, status, sentence);
    return s->status;
}

/* Records that the run was cancelled. */
void rd_device_cancelled(rd_device_state *s)
{
    s->status = rd_fail_run(s->plan->ctx, RD_ERR_CANCELLED, "the evaluation was cancelled");
}

/* Reports progress to the listener, ten times a second at most. `done`: the share of the running
 * stage; all stages count the same. False: the run was cancelled, by rd_cancel() or the
 * listener. The seconds left follow from those taken so far. No report if all is done, as
 * rd_device_tell_end() makes that one. */
bool rd_device_tell(void *state, double done)
{
    static const double    EACH  = 0.1;
    rd_device_state *const s     = state;
    const double           now   = rd_seconds();
    const double           all   = (s->stage + done) / s->plan->n_stage;
    const double           taken = now - s->begun;

    if (rd_cancel_taken(s->plan->ctx))
        return false;
    if (!s->progress || !s->progress->tell || now - s->told < EACH || all <= 0 || all >= 1)
        return true;
    s->told = now;
    return s->progress->tell(s->progress->user, all, taken * (1 - all) / all) == 0;
}

/* Reports the end of a run that went well, if the listener has had an earlier report. */
void rd_device_tell_end(const rd_device_state *s)
{
    if (s->told > s->begun && s->status == RD_OK)
        (void)s->progress->tell(s->progress->user, 1, 0);
}
