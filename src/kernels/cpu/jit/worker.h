/* worker.h - one thread of the process for what can wait: it is there while there is something to
 * do. */
#ifndef RD_KERNELS_CPU_JIT_WORKER_H
#define RD_KERNELS_CPU_JIT_WORKER_H
#include <stdatomic.h>

/* A piece of work, part of something that stays. */
typedef struct rd_job rd_job;
struct rd_job {
    rd_job *next;
    void (*run)(rd_job *job);
};

/* The job is run some time; it may be handed over again once it runs.  From any thread, at any
 * time, without waiting. */
void rd_worker_do(rd_job *job);
/* In the child of a fork: no job waits, and nobody is at one. */
void rd_worker_forked(void);
/* Waits until there is nothing to do. */
void rd_worker_wait(void);
#endif
