/* worker.c - a thread for jobs that can wait.
 *
 * It has no locks, as a program may fork at any time. Jobs are a list that threads push to and
 * the worker takes as a whole. `owner` is the process whose worker runs, so a child, which has
 * none, starts its own. */
#define _GNU_SOURCE
#include "kernels/cpu/jit/worker.h"
#include "core/stay_loaded.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static _Atomic(rd_job *) jobs;  /* the last one that came first */
static _Atomic(pid_t)    owner; /* process whose worker runs; 0: no worker */

/* Takes the list of all jobs, and runs them in the order in which they came (the list has the last
 * one first). */
static void run_all(void)
{
    rd_job *taken = atomic_exchange(&jobs, NULL), *first = NULL;

    while (taken) { /* the first to come first */
        rd_job *next = taken->next;
        taken->next  = first;
        first        = taken;
        taken        = next;
    }
    while (first) {
        rd_job *next = first->next; /* the job may be handed over again as soon as it has run */
        first->run(first);
        first = next;
    }
}

/* The worker thread: runs jobs until there are none. Its priority is low, and compilers inherit
 * that: threads that spin at a barrier would otherwise wait for one that shares its processor
 * with a compiler. */
static void *work(void *unused)
{
    pid_t none;

    (void)unused;
#ifdef __linux__
    (void)setpriority(PRIO_PROCESS, 0, 10); /* of this thread alone */
#endif
    do {
        while (atomic_load(&jobs))
            run_all();
        atomic_store(&owner, 0);
        /* A job that was pushed before that started no worker, as this one was still running. */
        none = 0;
    } while (atomic_load(&jobs) && atomic_compare_exchange_strong(&owner, &none, getpid()));
    return NULL;
}

/* Starts the worker thread, detached and with all signals blocked: they are for the program's
 * own threads. */
static bool start(void)
{
    pthread_attr_t attributes;
    pthread_t      thread;
    sigset_t       all, before;
    bool           started;

    rd_stay_loaded(); /* or dlclose() could take away the thread's code */
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
              pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Pushes a job without a lock, and starts the worker thread if none of this process runs: the
 * thread that makes itself the owner (the process whose worker runs, 0: none) starts it. */
void rd_worker_do(rd_job *job)
{
    const pid_t us   = getpid();
    rd_job     *head = atomic_load(&jobs);
    pid_t       now;

    do
        job->next = head;
    while (!atomic_compare_exchange_weak(&jobs, &head, job));
    now = atomic_load(&owner);
    while (now != us && !atomic_compare_exchange_weak(&owner, &now, us))
        ;
    if (now != us && !start())
        atomic_store(&owner, 0); /* another call may have more luck */
}

/* Drops all jobs and the worker in the child of a fork, as they are the parent's. */
void rd_worker_forked(void)
{
    atomic_store(&jobs, NULL);
    atomic_store(&owner, 0);
}

/* Waits until the worker thread of this process has ended, which it does when no job is left. */
void rd_worker_wait(void)
{
    const struct timespec pause = { 0, 1000000 }; /* 1 ms */

    while (atomic_load(&owner) == getpid())
        nanosleep(&pause, NULL);
}
