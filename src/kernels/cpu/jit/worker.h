/* worker.h - one thread of the process for jobs that can wait. It ends when there are none. */
#ifndef RD_KERNELS_CPU_JIT_WORKER_H
#define RD_KERNELS_CPU_JIT_WORKER_H
#include <stdatomic.h>

/* A job; it is a part of a structure that is never freed. */
typedef struct rd_job rd_job;
struct rd_job {
    rd_job *next;
    void (*run)(rd_job *job);
};

/* Hands a job over, from any thread and without waiting. It runs some time later, and may be
 * handed over again once it runs. */
void rd_worker_do(rd_job *job);
/* In the child of a fork: drops all jobs and the worker, which are the parent's. */
void rd_worker_forked(void);
/* Waits until there is no job left. */
void rd_worker_wait(void);
#endif
