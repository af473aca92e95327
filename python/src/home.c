/* home.c - contexts of threads, and which of their nodes live.
 *
 * A context gives nodes back only to a mark, all that were made since.  So a home counts its nodes, and
 * when most of them can be no handle's any more, it clones those of its handles into a context aside,
 * releases all, and clones them back: memory is a few times what handles need, whatever a program makes
 * and drops, and the context keeps its plans.
 *
 * A thread builds in its own home alone.  It reads nodes of other homes, which are immutable, under
 * their locks, and clones them into its own. */
#include "core.h"
#include <stdlib.h>

enum { LEAST_LIMIT = 1 << 13, GROWTH = 4 };

static pthread_key_t  of_thread;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- One home --------------------------------------------------------------------------------- */
static rdpy_home *new_home(bool pinned)
{
    rdpy_home *home = calloc(1, sizeof *home);

    if (home && !(home->ctx = rd_ctx_new(NULL))) {
        free(home);
        home = NULL;
    }
    if (!home)
        return (rdpy_home *)PyErr_NoMemory();
    pthread_mutex_init(&home->lock, NULL);
    home->begin  = rd_ctx_mark(home->ctx);
    home->limit  = LEAST_LIMIT;
    home->pinned = pinned;
    atomic_init(&home->refs, 1);
    return home;
}

void rdpy_home_drop(rdpy_home *home)
{
    while (home && atomic_fetch_sub(&home->refs, 1) == 1) {
        rdpy_home *const inner = home->inner;

        rd_ctx_free(home->ctx);
        free(home->owners.at);
        pthread_mutex_destroy(&home->lock);
        free(home);
        home = inner;
    }
}

void rdpy_home_enter(rdpy_home *home, rdpy_array *array, rd_expr *const *x)
{
    atomic_fetch_add(&home->refs, 1);
    array->home = home;
    pthread_mutex_lock(&home->lock);
    array->x    = *x;
    array->prev = NULL;
    array->next = home->arrays;
    if (array->next)
        array->next->prev = array;
    home->arrays = array;
    pthread_mutex_unlock(&home->lock);
}

void rdpy_home_leave(rdpy_array *array)
{
    rdpy_home *home = array->home;

    if (!home)
        return;
    pthread_mutex_lock(&home->lock);
    if (array->prev)
        array->prev->next = array->next;
    else
        home->arrays = array->next;
    if (array->next)
        array->next->prev = array->prev;
    pthread_mutex_unlock(&home->lock);
    array->home = NULL;
    rdpy_home_drop(home);
}

/* ---- Dropping dead nodes ---------------------------------------------------------------------- */
/* All handles' nodes in `to`; false, and nothing has changed, without memory. */
static bool clone_arrays(rdpy_home *home, rd_ctx *to, rd_expr **made)
{
    int64_t n = 0;

    for (rdpy_array *a = home->arrays; a; a = a->next)
        if (!(made[n++] = rd_clone(to, a->x)))
            return false;
    n = 0;
    for (rdpy_array *a = home->arrays; a; a = a->next)
        a->x = made[n++];
    return true;
}

static int64_t count_arrays(const rdpy_home *home)
{
    int64_t n = 0;

    for (const rdpy_array *a = home->arrays; a; a = a->next)
        n++;
    return n;
}

/* Without memory to come back the context aside becomes the home's. */
static void drop_dead(rdpy_home *home)
{
    rd_ctx       *aside = rd_ctx_new(NULL);
    const rd_mark begin = rd_ctx_mark(aside);
    rd_expr     **made;

    pthread_mutex_lock(&home->lock);
    made = malloc(((size_t)count_arrays(home) + 1) * sizeof *made);
    if (aside && made && clone_arrays(home, aside, made)) {
        rd_ctx_release(home->ctx, home->begin);
        if (!clone_arrays(home, home->ctx, made)) {
            rd_ctx *const full = home->ctx;

            home->ctx   = aside;
            home->begin = begin;
            aside       = full;
        }
    }
    home->limit = GROWTH * rd_ctx_nodes(home->ctx);
    if (home->limit < LEAST_LIMIT)
        home->limit = LEAST_LIMIT;
    pthread_mutex_unlock(&home->lock);
    free(made);
    rd_ctx_free(aside);
}

/* ---- Homes of threads ------------------------------------------------------------------------- */
/* At the end of the process Python ends threads in the middle of an evaluation, when they ask for its
 * lock.  Other threads still work on that one, so its home stays. */
static void thread_ends(void *home)
{
    if (!((rdpy_home *)home)->busy)
        rdpy_home_drop(home);
}

static void make_key(void)
{
    pthread_key_create(&of_thread, thread_ends);
}

rdpy_home *rdpy_my_home(void)
{
    rdpy_home *home;

    pthread_once(&once, make_key);
    home = pthread_getspecific(of_thread);
    if (!home) {
        home = new_home(false);
        if (!home || pthread_setspecific(of_thread, home) != 0)
            return home;
    }
    while (home->busy) {
        if (!home->inner && !(home->inner = new_home(false)))
            return NULL;
        home = home->inner;
    }
    rdpy_forget_owners(home); /* of calls that failed */
    if (rd_ctx_nodes(home->ctx) > home->limit)
        drop_dead(home);
    return home;
}

/* ---- Homes of results that keep memory in their context --------------------------------------- */
rdpy_home *rdpy_pinned_home(void)
{
    return new_home(true);
}

static void drop_capsule(PyObject *capsule)
{
    rdpy_home_drop(PyCapsule_GetPointer(capsule, "rdim.home"));
}

PyObject *rdpy_home_capsule(rdpy_home *home)
{
    PyObject *capsule = PyCapsule_New(home, "rdim.home", drop_capsule);

    if (capsule)
        atomic_fetch_add(&home->refs, 1);
    return capsule;
}

/* ---- For tests of lifetimes ------------------------------------------------------------------- */
/* nodes(): how many nodes and handles this thread's home has */
static PyObject *nodes(PyObject *self, PyObject *none)
{
    rdpy_home *const home = rdpy_my_home();
    int64_t          arrays;

    (void)self, (void)none;
    if (!home)
        return NULL;
    pthread_mutex_lock(&home->lock);
    arrays = count_arrays(home);
    pthread_mutex_unlock(&home->lock);
    return Py_BuildValue("LL", (long long)rd_ctx_nodes(home->ctx), (long long)arrays);
}

PyMethodDef rdpy_home_functions[] = { { "_nodes", nodes, METH_NOARGS,
                                        "_nodes(): nodes and handles of this thread's home" },
                                      { NULL, NULL, 0, NULL } };
