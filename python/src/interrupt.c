/* interrupt.c - evaluations without the interpreter's lock, which Ctrl-C ends.
 *
 * Python's handler only notes a signal, and the thread that evaluates may wait for others, or be within
 * one product, before it is asked about ten times a second.  So SIGINT has a handler before Python's,
 * which ends the main thread's evaluation by rd_cancel(), and calls Python's.  Who calls
 * signal.signal() takes it away; it comes back, at most a second later. */
#include "core.h"
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic(rd_ctx *) evaluating; /* the main thread */
static struct sigaction  before;     /* what was there, Python's */

static void interrupt(int number, siginfo_t *info, void *context)
{
    rd_ctx *const ctx = atomic_load(&evaluating);

    if (ctx)
        rd_cancel(ctx);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
}

/* Without a function of Python's the signal ends the process, or is ignored. */
static void take_signal(void)
{
    struct sigaction now, ours = { .sa_sigaction = interrupt };

    if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_sigaction == interrupt)
        return;
    if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
        return;
    before        = now;
    ours.sa_mask  = now.sa_mask;
    ours.sa_flags = now.sa_flags | SA_SIGINFO;
    (void)sigaction(SIGINT, &ours, NULL);
}

/* To ask the system each time would cost a small evaluation a tenth of its time. */
static void see_signal(void)
{
    static time_t   seen;
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0 || now.tv_sec == seen)
        return;
    seen = now.tv_sec;
    take_signal();
}

static bool in_main_thread(rdpy_home *home)
{
    if (home->main == 0)
        home->main = syscall(SYS_gettid) == getpid() ? 1 : -1; /* gettid() is of glibc 2.30 */
    return home->main > 0;
}

/* Nobody else cancels: where the signal's handler in Python raised nothing, or it came when the last
 * evaluation had just ended, this one begins again. */
static bool again(rdpy_home *home, rd_status status)
{
    if (status != RD_ERR_CANCELLED || PyErr_Occurred() || PyErr_CheckSignals() < 0)
        return false;
    rd_error_clear(home->ctx);
    return true;
}

int rdpy_run(rdpy_home *home, rdpy_work *work, void *of)
{
    const bool    main = in_main_thread(home);
    rd_ctx *const old  = main ? atomic_load(&evaluating) : NULL;
    rd_status     status;

    if (main)
        see_signal();
    /* A handler in Python that runs between two tries must build elsewhere, too. */
    home->busy = true;
    do {
        if (main)
            atomic_store(&evaluating, home->ctx);
        status = work(home->ctx, of); /* gives the lock back, and takes it */
        if (main)
            atomic_store(&evaluating, old);
    } while (again(home, status));
    home->busy = false;
    if (status == RD_OK && !PyErr_Occurred())
        return 0;
    rdpy_raise(home->ctx);
    return -1;
}
