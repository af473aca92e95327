/* tier.c - compiled code of the process: a hash table that only grows, and has no locks, as a
 * program may fork at any time. What threads of the parent were compiling, the child begins
 * anew.
 *
 * An entry is one piece of code: its key, which the text is made of, its state, and its functions
 * once they are loaded. To bring code is to load it from the store, or to compile it. */
#define _POSIX_C_SOURCE 200809L
#include "kernels/cpu/jit/tier.h"
#include "core/environment.h"
#include "core/clock.h"
#include "core/threads.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/jit/object.h"
#include "kernels/cpu/jit/worker.h"
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Modes ----------------------------------------------------------------------------------- */
typedef enum tier_mode { OFF, CACHE, SYNC, ASYNC, FINISH } tier_mode;

static const char *forced;  /* mode set by tests; NULL: none */
static bool        hurried; /* by tests: look for code after any work at all */

/* For tests: forces a mode; NULL: RDIM_TIER1 decides. */
void rd_tier_force(const char *mode)
{
    forced = mode;
}

/* For tests: modes async and finish look for code after any work at all. */
void rd_tier_hurry(bool hurry)
{
    hurried = hurry;
}

/* Waits until the thread that compiles has done all its jobs. */
void rd_tier_wait(void)
{
    rd_worker_wait();
}

/* Returns the mode that RDIM_TIER1 names: async if it is not set, off if it names none.  It is off,
 * too, where the program has rights that its user has not (setuid). */
static tier_mode mode_now(void)
{
    static const char *const names[] = {
        [OFF] = "off", [CACHE] = "cache", [SYNC] = "sync", [ASYNC] = "async", [FINISH] = "finish"
    };
    const char *asked = forced ? forced : rd_environment(RD_ENV_RDIM_TIER1);

    if (!rd_environment_is_trusted())
        return OFF; /* compilers and caches are those of another user */
    for (int k = 0; asked && k < (int)(sizeof names / sizeof *names); k++)
        if (strcmp(asked, names[k]) == 0)
            return (tier_mode)k;
    return asked && *asked ? OFF : ASYNC;
}

/* ---- Compiled code --------------------------------------------------------------------------- */
enum { HEADS = 256, MOST = 4096 }; /* lists of the hash table; most entries */

/* The thread that makes an entry BUSY brings its code.  NEW: the store was not asked yet.
 * MISSING: the store does not have it.  DONE: it is loaded, or cannot be had. */
typedef enum entry_state { NEW, MISSING, BUSY, DONE } entry_state;

/* Operations, ten or so a nanosecond, after which looking for a piece, and compiling it, is
 * worth its time. */
static const double ENOUGH[] = { [NEW] = 1e7, [MISSING] = 5e8 };
/* Operations of one run for which code from the store is worth a wait of half a millisecond. */
static const double AT_ONCE = 5e7;

struct rd_compiled {
    rd_compiled      *next;
    _Atomic(int)      state;
    rd_kernels_place  kernels;
    _Atomic(double)   missed;   /* operations that ran without it */
    int               patience; /* seconds; 0: not to be compiled */
    rd_compiled_text *text;     /* makes its text of the key */

    _Atomic(const rd_env_snapshot *) surroundings; /* when a plan asked for it last */

    rd_contest contest;
    atomic_int loss_stored;        /* that it has lost is in the store, or was read there */
    char       name[RD_HASH_TEXT]; /* in the store; "": not yet known          */

    rd_job job;
    size_t bytes;
    _Alignas(8) char key[];
};

static _Atomic(rd_compiled *) heads[HEADS];
static atomic_llong           asked, count, compiled, stored, failed, nanoseconds;

/* Returns the head of the list of entries (pieces of compiled code) with the key's hash. */
static _Atomic(rd_compiled *) *head_of(const void *key, size_t bytes)
{
    const rd_hash hash = rd_hash_add(rd_hash_begin(), key, bytes);
    return &heads[hash.a % HEADS];
}

/* Finds the entry (piece of compiled code) with the key and text function of `as`, in the list from
 * `first` on and before `end`; NULL: there is none. */
static rd_compiled *find(rd_compiled *first, const rd_compiled *end, const rd_compiled *as)
{
    while (first != end && (first->bytes != as->bytes || first->text != as->text ||
                            memcmp(first->key, as->key, as->bytes) != 0))
        first = first->next;
    return first != end ? first : NULL;
}

/* Makes an entry for a piece of code by its key, in state NEW (nothing was tried); NULL: no
 * memory. */
static rd_compiled *new_code(const void *key, size_t bytes, rd_compiled_text *text)
{
    rd_compiled *c = calloc(1, offsetof(rd_compiled, key) + bytes);

    if (!c)
        return NULL;
    c->text  = text;
    c->bytes = bytes;
    memcpy(c->key, key, bytes);
    return c;
}

/* Finds the entry of a key, or adds one to its list by compare-and-swap, as the table has no locks.
 * Another thread may have added it meanwhile: only entries before the old head (added->next) are
 * new.  Entries are never freed.  NULL: no memory, or the table is full. */
static rd_compiled *find_or_add(const void *key, size_t bytes, rd_compiled_text *text)
{
    _Atomic(rd_compiled *) *head = head_of(key, bytes);
    rd_compiled            *c, *added = new_code(key, bytes, text);
    rd_compiled            *first = atomic_load_explicit(head, memory_order_acquire);

    if (!added)
        return NULL;
    c = find(first, /*end=*/NULL, added);
    if (c || atomic_load_explicit(&count, memory_order_relaxed) >= MOST) {
        free(added);
        return c;
    }
    added->next = first;
    while (!atomic_compare_exchange_weak_explicit(head, &first, added, memory_order_acq_rel,
                                                  memory_order_acquire)) {
        c = find(first, added->next, added); /* others may have added it */
        if (c) {
            free(added);
            return c;
        }
        added->next = first;
    }
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return added;
}

/* Takes over what other processes measured: whether the code is slower than tiles.  The store keeps
 * it beside the object. */
static void read_contest(rd_compiled *c)
{
    rd_contest_record found;

    if (!rd_object_get_note(c->name, atomic_load(&c->surroundings), &found, sizeof found))
        return;
    atomic_store(&c->loss_stored, true);
    rd_contest_begin_with(&c->contest, &found);
}

/* Makes the C text of the key, and has its object loaded from the store, or compiled if there is
 * patience (seconds; 0: never). c->name gets the object's name in the store. *kernels gets its
 * functions; NULL: none. */
static rd_object_from make_code(rd_compiled *c, int patience, const void **kernels)
{
    rd_text            text  = { 0 };
    void              *found = NULL;
    rd_object_from     from  = RD_OBJECT_NONE;
    const char *const *flags = c->text(&text, c->key);

    if (!text.failed)
        from = rd_object_make(text.at, flags, "rdim_kernels", atomic_load(&c->surroundings),
                              patience, c->name, &found);
    if (from == RD_OBJECT_STORED)
        read_contest(c);
    rd_text_free(&text);
    *kernels = found;
    return from;
}

/* Loads or compiles the code of an entry that the caller has made BUSY, and counts how that went.
 * Meanwhile programs leave one processor to the compiler.  Without patience only the store is
 * asked, and the state becomes MISSING if it has no code. */
static void bring_code(rd_compiled *c, int patience)
{
    const double   begun = rd_seconds();
    const void    *kernels;
    rd_object_from from;

    rd_threads_leave_one(/*leave=*/true);
    from = make_code(c, patience, &kernels);
    rd_threads_leave_one(/*leave=*/false);

    atomic_fetch_add(&nanoseconds, llrint(1e9 * (rd_seconds() - begun)));
    atomic_fetch_add(&compiled, from == RD_OBJECT_COMPILED);
    atomic_fetch_add(&stored, from == RD_OBJECT_STORED);
    atomic_fetch_add(&failed, from == RD_OBJECT_NONE && patience);
    atomic_store_explicit(&c->kernels, kernels, memory_order_release);
    atomic_store_explicit(&c->state, kernels || patience ? DONE : MISSING, memory_order_release);
}

/* ---- Forks ----------------------------------------------------------------------------------- */
/* Runs in the child of a fork: entries that threads of the parent were loading or compiling become
 * NEW again.  The thread that forks does nothing of that itself: compilers are spawned. */
static void reset_in_child(void)
{
    rd_worker_forked();
    for (int k = 0; k < HEADS; k++)
        for (rd_compiled *c = atomic_load(&heads[k]); c; c = c->next) {
            int from = BUSY;
            (void)atomic_compare_exchange_strong(&c->state, &from, NEW);
        }
}

/* Sets the function that a fork calls in the child. */
static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, reset_in_child);
}

/* ---- What plans ask for ---------------------------------------------------------------------- */
/* Finds or adds the entry (piece of compiled code) of a key, and gives it the environment of now.
 * NULL: nothing may be compiled, or no memory. */
rd_compiled *rd_compiled_of(const void *key, size_t bytes, rd_compiled_text *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    rd_compiled          *c    = mode_now() == OFF ? NULL : find_or_add(key, bytes, text);

    pthread_once(&once, watch_forks);
    if (c)
        atomic_store(&c->surroundings, rd_env_snapshot_now());
    return c;
}

/* A plan wants the code of an entry: compiles it now in mode sync, else only asks the store if one
 * run has many operations.  Only the thread that changes the state to BUSY does it, from NEW
 * (nothing was tried), or in mode sync from MISSING (the store has none). */
void rd_compiled_want(rd_compiled *c, double operations)
{
    const tier_mode mode = mode_now();
    int             from = NEW;

    if (!c)
        return;
    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    /* ASYNC, FINISH: code may come later */
    if (mode == OFF || (mode >= ASYNC && operations < AT_ONCE))
        return;
    if (atomic_compare_exchange_strong(&c->state, &from, BUSY) ||
        (from == MISSING && mode == SYNC && atomic_compare_exchange_strong(&c->state, &from, BUSY)))
        bring_code(c, mode == SYNC ? RD_SHORT_PATIENCE : 0);
}

/* True if loading and compiling the code have ended without functions. */
bool rd_compiled_failed(const rd_compiled *c)
{
    return c && atomic_load_explicit(&c->state, memory_order_acquire) == DONE &&
           !atomic_load_explicit(&c->kernels, memory_order_acquire);
}

/* ---- Meanwhile ------------------------------------------------------------------------------- */
/* Loads or compiles the code of a job, on the worker thread.  The job is a member of its entry. */
static void bring_job(rd_job *job)
{
    rd_compiled *c = (rd_compiled *)(void *)((char *)job - offsetof(rd_compiled, job));
    bring_code(c, c->patience);
}

static pthread_once_t finishing = PTHREAD_ONCE_INIT;

/* Makes the end of the process wait for the worker thread (mode finish). */
static void finish_at_exit(void)
{
    (void)atexit(rd_worker_wait);
}

/* Adds operations that ran without the code (tiered compilation).  After 1e7 of them a worker
 * thread looks in the store, and after 5e8 it compiles; one long run is reason enough to compile at
 * once. */
void rd_compiled_add_missed(rd_compiled *c, double operations)
{
    int    found = atomic_load_explicit(&c->state, memory_order_relaxed);
    double so_far;

    if (found != NEW && found != MISSING)
        return;
    so_far = atomic_load_explicit(&c->missed, memory_order_relaxed) + operations;
    atomic_store_explicit(&c->missed, so_far,
                          memory_order_relaxed); /* what another thread adds now may be lost */
    if (so_far < (hurried ? 0 : ENOUGH[found]) ||
        !atomic_compare_exchange_strong(&c->state, &found, BUSY))
        return;
    /* 0: only the store is asked, unless one long run pays for a compilation */
    c->patience = found != MISSING && so_far < ENOUGH[MISSING] ? 0
                  : mode_now() == FINISH                       ? RD_SHORT_PATIENCE
                                                               : RD_LONG_PATIENCE;
    if (c->patience && mode_now() == FINISH)
        pthread_once(&finishing, finish_at_exit);
    c->job.run = bring_job;
    rd_worker_do(&c->job);
}

/* Other processes are told of slower loops by this factor, which is more than noise. */
static const double BY_FAR = 2;

/* ---- Against tiles --------------------------------------------------------------------------- */
/* Counts a run in the comparison of compiled loops with tiles.  Once loops are slower by a factor
 * of 2 the store is told, so that other processes know. */
void rd_compiled_add_run(rd_compiled *c, rd_contestant by, double operations, int threads,
                         double seconds)
{
    int untold = false;

    if (!c)
        return;
    rd_contest_add_run(&c->contest, by, operations, threads, seconds);
    if (rd_contest_slowdown(&c->contest, operations) >= BY_FAR && c->name[0] &&
        atomic_compare_exchange_strong(&c->loss_stored, &untold, true)) {
        const rd_contest_record found = rd_contest_record_of(&c->contest);

        rd_object_put_note(c->name, atomic_load(&c->surroundings), &found, sizeof found);
    }
}

/* Returns how many times as long as tiles the code takes, if it was measured to be slower; else
 * 0. */
double rd_compiled_slowdown(const rd_compiled *c, double operations)
{
    return c ? rd_contest_slowdown(&c->contest, operations) : 0;
}

/* Returns the functions of the code; NULL: it is not loaded. */
const void *rd_compiled_kernels(rd_compiled *c)
{
    return c ? atomic_load_explicit(&c->kernels, memory_order_acquire) : NULL;
}

/* Returns the place where the functions are written once they are loaded; until then it holds
 * NULL. */
const rd_kernels_place *rd_compiled_place(const rd_compiled *c)
{
    return &c->kernels;
}

/* True if code comes only once programs have worked for some time: modes async and finish. */
bool rd_tier_is_patient(void)
{
    return mode_now() >= ASYNC && !hurried; /* ASYNC or FINISH */
}

/* True if a plan may do without compiled code for so many operations, as the process has run fewer
 * than 1e7 so far; these count from now on. */
bool rd_tier_spares(double operations)
{
    static _Atomic(double) spared;
    const double           all = atomic_load_explicit(&spared, memory_order_relaxed) + operations;

    if (all > ENOUGH[NEW])
        return false;
    atomic_store_explicit(&spared, all, memory_order_relaxed); /* another thread's may be lost */
    return true;
}

/* True if nothing may be compiled or loaded. */
bool rd_tier_is_off(void)
{
    return mode_now() == OFF;
}

/* Returns how far the code is: loaded, being loaded or compiled, to come later, or failed.  In
 * modes without compiling later (before ASYNC) it may only be in the store. *left gets the
 * operations that must run before it will be compiled, if it comes later. */
rd_compiled_state rd_compiled_state_of(const rd_compiled *c, double *left)
{
    const int    now  = atomic_load_explicit(&c->state, memory_order_acquire);
    const double more = ENOUGH[MISSING] - atomic_load_explicit(&c->missed, memory_order_relaxed);

    *left = 0;
    if (atomic_load_explicit(&c->kernels, memory_order_acquire))
        return RD_COMPILED_HERE;
    if (now == DONE || now == BUSY)
        return now == DONE ? RD_COMPILED_FAILED : RD_COMPILED_COMING;
    if (mode_now() < ASYNC)
        return RD_COMPILED_STORED;
    *left = more > 0 ? more : 0;
    return RD_COMPILED_LATER;
}

/* Returns the counts of the process so far. */
rd_tier_stats rd_tier_stats_now(void)
{
    return (rd_tier_stats){ .asked    = atomic_load(&asked),
                            .compiled = atomic_load(&compiled),
                            .stored   = atomic_load(&stored),
                            .failed   = atomic_load(&failed),
                            .stopped  = rd_compiler_stopped(),
                            .seconds  = (double)atomic_load(&nanoseconds) * 1e-9 };
}
