/* threads.c - how many threads may share work now.
 *
 * OpenMP's threads can end or hang a correct program in two ways.  GNU's runtime ends the
 * process if it cannot start a thread, so no more are requested than were just seen to start.
 * And its team belongs to the calling thread but does not survive in a child of fork(), which
 * would wait for it forever. */
#define _GNU_SOURCE /* syscall() */
#include "core/threads.h"
#include "core/clock.h"
#include "core/stay_loaded.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef _OPENMP
/* Each calling thread has its own record. */
static _Thread_local struct {
    int    started; /* most threads that existed at once, itself included */
    bool   few;     /* more were asked for */
    bool   others;  /* the process has other threads when it forks */
    double when;    /* in rd_seconds()                                            */
    bool   alone;   /* this is the child of a fork that may have had a team */
    double one_did; /* operations done alone that a team could have shared */
} team;

/* Number of compilers and the like that now work beside evaluations; since when, in
 * rd_seconds(). */
static atomic_int      beside;
static _Atomic(double) beside_since;

/* ---- Forks ----------------------------------------------------------------------------------- */
/* Returns the number of threads of this process, 0 if unknown: field 20 of /proc/self/stat, the
 * 18th blank behind the name's ")". The name itself may contain any characters. */
static int threads_here(void)
{
    enum { BEFORE = 18 };
    char      text[1024];
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t   n    = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    char     *at;

    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = 0;
    at                  = strrchr(text, ')');
    for (int k = 0; k < BEFORE && at; k++)
        at = strchr(at + 1, ' ');
    return at ? (int)strtol(at, NULL, 10) : 0;
}

/* Notes, in a process that is about to fork, whether it has other threads. The program may have
 * used OpenMP in this thread by itself, which cannot be asked; without other threads it has no
 * team of them. */
static void before_fork(void)
{
    team.others = threads_here() != 1;
}

/* Notes in the child of a fork that this thread must work alone: it may have had a team, which does
 * not exist here. */
static void in_child(void)
{
    team.alone |= team.started > 1 || team.others;
    atomic_store(&beside, 0);
}

/* Asks to be told of forks. It is a constructor, which runs when the library is loaded, because
 * the program may fork before it evaluates anything. */
__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, NULL, in_child);
}

/* ---- How many can start ---------------------------------------------------------------------- */

/* A thread that is started only to see whether it can. */
typedef struct probe {
    pthread_t        thread; /* to join it */
    pid_t            id;     /* of the system, 0 if unknown */
    pthread_mutex_t *gate;   /* it ends when this can be locked */
} probe;

/* The body of a probe, a thread that is started only to see whether it can: notes its id and
 * waits until the gate is unlocked. */
static void *wait_at_gate(void *arg)
{
    probe *p = arg;

#ifdef __linux__
    p->id = (pid_t)syscall(SYS_gettid);
#endif
    pthread_mutex_lock(p->gate);
    pthread_mutex_unlock(p->gate);
    return NULL;
}

/* Waits until a probe has ended, a thread that was started only to see whether it can. Limits
 * count a thread until a little after pthread_join() returns, so this waits until the system
 * does not know its id. */
static void join_probe(const probe *p)
{
    enum { LONG = 1000 };

    pthread_join(p->thread, NULL);
#ifdef __linux__
    for (int k = 0; k < LONG && syscall(SYS_tgkill, getpid(), p->id, 0) == 0; k++)
        sched_yield();
#endif
}

/* Starts up to n threads that wait at a locked gate, so that all exist at once; returns how many
 * could start. Then it opens the gate and waits for their ends. Signals are blocked meanwhile,
 * so that these threads handle none of the program's. sigfillset() is the set of all signals,
 * `before` the mask to restore. */
static int start_probes(int n)
{
    probe           probes[RD_MOST_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    sigset_t        all, before;
    int             started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&gate);
    for (; started < n; started++) {
        probes[started].gate = &gate;
        if (pthread_create(&probes[started].thread, NULL, wait_at_gate, &probes[started]) != 0)
            break;
    }
    pthread_mutex_unlock(&gate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int k = 0; k < started; k++)
        join_probe(&probes[k]);
    return started;
}

/* Returns how many of `threads` can be started, at least 1, because GNU's OpenMP ends the
 * process if one cannot. Each calling thread tries once, and again for more threads than before;
 * threads that could start once are assumed to start again. If there were too few it tries again
 * after a second. */
int rd_threads_startable(int threads)
{
    enum { WHILE = 1 }; /* second */
    int could_start;

    if (threads <= 1 || team.alone)
        return 1;
    if (threads > team.started && (!team.few || rd_seconds() - team.when > WHILE)) {
        rd_stay_loaded();
        could_start  = 1 + start_probes(threads - 1); /* beside an existing team */
        team.few     = could_start < threads;
        team.when    = rd_seconds();
        team.started = could_start > team.started ? could_start : team.started;
    }
    return threads < team.started ? threads : team.started;
}

/* True if a team of threads has been started, or this thread has done enough operations alone (a
 * millisecond of them) for starting one to pay off. Adds up that work. */
bool rd_threads_are_due(int threads, double operations)
{
    static const double START = 1e7; /* a millisecond of work */

    if (threads <= team.started)
        return true;
    team.one_did += operations;
    return team.one_did >= START;
}

/* Tells that a compiler begins to work beside evaluations, or has ended. */
void rd_threads_leave_one(bool leave)
{
    if (leave)
        atomic_store(&beside_since, rd_seconds());
    atomic_fetch_add(&beside, leave ? 1 : -1);
}

/* Returns the number of threads for an evaluation. While a compiler works beside it, that is one
 * fewer than processors; after half a second it is all again. */
int rd_threads_left(int threads)
{
    static const double LONG = 0.5; /* seconds; after that, other processes hold up the compiler */

    int most;

    if (atomic_load_explicit(&beside, memory_order_relaxed) <= 0 ||
        rd_seconds() - atomic_load_explicit(&beside_since, memory_order_relaxed) > LONG)
        return threads;
    most = omp_get_num_procs() - 1;
    return most >= 1 && most < threads ? most : threads;
}

/* The most threads that OMP_THREAD_LIMIT and this release allow. */
int rd_threads_allowed(void)
{
    const int limit = omp_get_thread_limit();

    return limit > 0 && limit < RD_MOST_THREADS ? limit : RD_MOST_THREADS;
}

/* The record of this calling thread: which threads it started, and whether it is alone after a
 * fork. */
rd_threads rd_threads_seen(void)
{
    return (rd_threads){ .started = team.started, .few = team.few, .alone = team.alone };
}
#else
/* Without OpenMP there is never a team. */
bool rd_threads_are_due(int threads, double operations)
{
    (void)threads;
    (void)operations;
    return false;
}

/* Without OpenMP evaluations have one thread, so that nothing changes. */
void rd_threads_leave_one(bool leave)
{
    (void)leave;
}

/* Without OpenMP the number of threads stays. */
int rd_threads_left(int threads)
{
    return threads;
}

/* Without OpenMP there is one thread. */
int rd_threads_startable(int threads)
{
    (void)threads;
    return 1;
}

/* Without OpenMP there is one thread. */
int rd_threads_allowed(void)
{
    return 1;
}

/* Without OpenMP there is one thread, which exists. */
rd_threads rd_threads_seen(void)
{
    return (rd_threads){ .started = 1 };
}
#endif
