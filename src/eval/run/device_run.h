/* device_run.h - the state of one run on a device, and its steps. */
#ifndef RD_EVAL_RUN_DEVICE_RUN_H
#define RD_EVAL_RUN_DEVICE_RUN_H
#include "eval/run/device_state.h"
#include "eval/run/frame.h"

/* One run on a device. */
typedef struct rd_device_run {
    rd_device_state        of; /* its status */
    const rd_plan         *plan;
    const rd_device_table *device; /* functions of the backend */
    rd_queue              *queue;  /* the context's queue on it */
    rd_submission         *asked;  /* the run's submission */
    rd_frame              *frame;  /* addresses as the caller gave them */
    void                 **slot;   /* by slot: address on the device, which programs get */
    void                 **got;    /* by slot: memory that this run borrowed; NULL: none */
    char                 **host;   /* by slot: data that stay in host memory; NULL: none */
    int64_t                room;   /* bytes of memory that the device has */
    bool                   tight;  /* room is not enough for all data */
} rd_device_run;

/* Clears the slot tables: no slot has an address on the device. */
void rd_device_clear(rd_device_run *r);
/* Copies leaves to the device and allocates memory for what stages store.  Memory in `got` is
 * used again. */
void rd_device_place(rd_device_run *r);
/* Runs the stages in order. */
void rd_device_stages(rd_device_run *r);
/* Copies results that belong elsewhere. */
void rd_device_results(rd_device_run *r);
#endif
