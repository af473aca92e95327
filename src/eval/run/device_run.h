/* device_run.h - one run on a device: what it has, and its parts. */
#ifndef RD_EVAL_RUN_DEVICE_RUN_H
#define RD_EVAL_RUN_DEVICE_RUN_H
#include "eval/run/device_state.h"
#include "eval/run/frame.h"

typedef struct rd_device_run {
    rd_device_state        of;
    const rd_plan         *plan;
    const rd_device_table *device;
    rd_queue              *queue;
    rd_submission         *asked;
    rd_frame              *frame; /* addresses as they were given */
    void                 **slot;  /* addresses there: what programs get */
    void                 **got;   /* memory of the run, by slot; NULL: none */
    char                 **host;  /* data that stay in this process's memory, by slot; NULL: none */
    int64_t                room;  /* bytes that the device has */
    bool                   tight; /* these are not enough for all */
} rd_device_run;

/* Nothing has an address there. */
void rd_device_clear(rd_device_run *r);
/* Leaves are there, and there is memory for what stages store; memory in `got` is used again. */
void rd_device_place(rd_device_run *r);
/* One after the other. */
void rd_device_stages(rd_device_run *r);
/* What belongs elsewhere is copied. */
void rd_device_results(rd_device_run *r);
#endif
