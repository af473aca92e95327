/* recorded.h - runs on a device that launch all stages by one call, from a recording of an
 * earlier run (a CUDA graph).
 *
 * This is for plans of several launches, with RDIM_CUDA_GRAPHS=1, with runs that are waited for.  A
 * recording holds the stages alone, with device addresses fixed.  Copies to and from the device
 * are made in every run, so addresses in host memory may change.  The first run with new device
 * addresses is not recorded; the second one is. */
#ifndef RD_EVAL_RUN_RECORDED_H
#define RD_EVAL_RUN_RECORDED_H
#include "eval/run/device_run.h"

/* Runs by a recording; false: there is none, and nothing was done. */
bool rd_run_recorded(rd_device_run *r);
/* Frees all recordings of the plan. */
void rd_recordings_drop(rd_plan *plan);
#endif
