/* recorded.h - runs on a device that ask for all their stages by one call, as an earlier run of the
 * plan was recorded.
 *
 * It is for plans of several launches that ask for it (RDIM_CUDA_GRAPHS=1), and are waited for.  A
 * recording is of the stages alone, with addresses on the device that it was given.  What goes
 * there and back is copied in each run; so addresses in this process's memory are free.  The first
 * run with its addresses goes without; the second one is recorded. */
#ifndef RD_EVAL_RUN_RECORDED_H
#define RD_EVAL_RUN_RECORDED_H
#include "eval/run/device_run.h"

/* False: it goes without; nothing was done. */
bool rd_run_recorded(rd_device_run *r);
/* All that the plan has; with the plan. */
void rd_recordings_drop(rd_plan *plan);
#endif
