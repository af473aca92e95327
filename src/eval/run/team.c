/* team.c - how many threads share a stage's work.
 *
 * OpenMP's threads have two ways to end or to stop a program that did nothing wrong.  GNU's runtime
 * ends the process where it cannot start a thread, so it is asked for no more than have just been
 * seen to start.  And its threads, which are those of the thread that calls, do not live on in a
 * child, where it would wait for them for ever. */
#define _GNU_SOURCE /* syscall() */
#include "eval/run/team.h"
#include "core/clock.h"
#include "kernels/program.h"
#include "eval/run/watch.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP
/* Of the thread that calls. */
static _Thread_local struct {
    int    started; /* most threads, itself too, that were there at the same time */
    bool   few;     /* more were asked for                                        */
    double when;    /* in rd_seconds()                                            */
    bool   alone;   /* it is a fork's, and had some before                        */
} team;

/* ---- Forks ----------------------------------------------------------------------------------- */
static void in_child(void)
{
    team.alone = team.started > 1;
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

/* ---- What can be started --------------------------------------------------------------------- */
typedef struct probe {
    pthread_t        thread;
    pid_t            id;
    pthread_mutex_t *gate;
} probe;

static void *stand(void *arg)
{
    probe *p = arg;

#ifdef __linux__
    p->id = (pid_t)syscall(SYS_gettid);
#endif
    pthread_mutex_lock(p->gate);
    pthread_mutex_unlock(p->gate);
    return NULL;
}

/* Limits count a thread until somewhat after pthread_join() has returned. */
static void see_off(const probe *p)
{
    enum { LONG = 1000 };

    pthread_join(p->thread, NULL);
#ifdef __linux__
    for (int k = 0; k < LONG && syscall(SYS_tgkill, getpid(), p->id, 0) == 0; k++)
        sched_yield();
#endif
}

/* Of n threads, so many were there at the same time. */
static int start(int n)
{
    probe           probes[RD_MOST_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    sigset_t        all, before;
    int             here = 0;

    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&gate);
    for (; here < n; here++) {
        probes[here].gate = &gate;
        if (pthread_create(&probes[here].thread, NULL, stand, &probes[here]) != 0)
            break;
    }
    pthread_mutex_unlock(&gate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int k = 0; k < here; k++)
        see_off(&probes[k]);
    return here;
}

/* Looked for once by each thread, and again for more than ever before: what was there once is taken
 * to be there again.  Where there were too few it is looked for again after a while. */
static int startable(int threads)
{
    enum { WHILE = 1 }; /* second */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int                   here;

    if (team.alone)
        return 1;
    if (threads > team.started && (!team.few || rd_seconds() - team.when > WHILE)) {
        pthread_once(&once, watch_forks);
        here         = 1 + start(threads - 1); /* beside the team that there may be */
        team.few     = here < threads;
        team.when    = rd_seconds();
        team.started = here > team.started ? here : team.started;
    }
    return threads < team.started ? threads : team.started;
}

/* As many as the caller wants. */
static int wanted(const rd_ctx *ctx, int asked)
{
    const int threads = asked ? asked : rd_ctx_threads(ctx);

    return threads ? threads : omp_get_max_threads();
}

int rd_team(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    int threads;

    /* Inside a caller's own parallel region its threads are busy already. */
    if ((!asked && work < RD_SMALL_WORK) || shares <= 1 || omp_in_parallel())
        return 1;
    threads = wanted(ctx, asked);
    threads = threads < RD_MOST_THREADS ? threads : RD_MOST_THREADS;
    return startable(threads < shares ? threads : (int)shares);
}

const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room)
{
    const int threads = wanted(ctx, asked);

    if (team.alone && threads > 1)
        snprintf(text, room,
                 "1 of %d: this process is a fork of one whose threads are not here; threads that "
                 "it starts itself may have more",
                 threads);
    else if (team.few && team.started < threads)
        snprintf(text, room, "%d of %d: the system starts no more", team.started, threads);
    else if (threads > RD_MOST_THREADS)
        snprintf(text, room, "%d of %d: the most of this release", RD_MOST_THREADS, threads);
    else
        return NULL;
    return text;
}
#else
int rd_team(const rd_ctx *ctx, int asked, double work, int64_t shares)
{
    (void)ctx;
    (void)asked;
    (void)work;
    (void)shares;
    return 1;
}

const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room)
{
    (void)ctx;
    (void)asked;
    (void)text;
    (void)room;
    return NULL;
}
#endif
