/* sharing.c - locks of arrays, and owners of what a call reads, without the interpreter's lock: sharing.h. */
#include "core.h"
#include <stdlib.h>

#ifdef Py_GIL_DISABLED
/* ---- Locks ------------------------------------------------------------------------------------- */
void rdpy_lock_array(rdpy_array *a)
{
    PyMutex_Lock(&a->lock);
}

void rdpy_unlock_array(rdpy_array *a)
{
    PyMutex_Unlock(&a->lock);
}

/* In the order of their addresses, whoever asks. */
void rdpy_lock_arrays(rdpy_array *a, rdpy_array *b)
{
    PyMutex_Lock((uintptr_t)a < (uintptr_t)b ? &a->lock : &b->lock);
    PyMutex_Lock((uintptr_t)a < (uintptr_t)b ? &b->lock : &a->lock);
}

void rdpy_unlock_arrays(rdpy_array *a, rdpy_array *b)
{
    PyMutex_Unlock(&a->lock);
    PyMutex_Unlock(&b->lock);
}

rd_expr *rdpy_look(rdpy_array *a)
{
    PyMutex_Lock(&a->lock);
    if (a->home)
        pthread_mutex_lock(&a->home->lock);
    return a->x;
}

void rdpy_looked(rdpy_array *a)
{
    if (a->home)
        pthread_mutex_unlock(&a->home->lock);
    PyMutex_Unlock(&a->lock);
}

/* ---- Owners ------------------------------------------------------------------------------------ */
enum { FEW = 8 };

static bool has_room(rdpy_owners *o)
{
    const int        room = o->room ? 2 * o->room : FEW;
    PyObject **const at   = o->n < o->room ? o->at : realloc(o->at, (size_t)room * sizeof *o->at);

    if (!at)
        return false;
    o->room = o->n < o->room ? o->room : room;
    o->at   = at;
    return true;
}

int rdpy_note_owner(rdpy_home *home, rdpy_array *a)
{
    rdpy_owners *const o = &home->owners;

    if (!a->held || (o->n > 0 && o->at[o->n - 1] == a->held))
        return 0;
    if (!has_room(o)) {
        PyErr_NoMemory();
        return -1;
    }
    o->at[o->n++] = Py_NewRef(a->held);
    return 0;
}

/* The last reference to an owner may run anything, which may build here: so it is taken off first. */
void rdpy_forget_owners(rdpy_home *home)
{
    while (home->owners.n > 0)
        Py_DECREF(home->owners.at[--home->owners.n]);
}

int rdpy_take_owners(rdpy_home *home, int n, PyObject *const *operand, PyObject **held)
{
    int failed = 0;

    (void)n, (void)operand;
    *held = NULL;
    for (int k = 0; !failed && k < home->owners.n; k++) {
        *held  = rdpy_both_held(*held, home->owners.at[k]);
        failed = *held ? 0 : -1;
    }
    rdpy_forget_owners(home);
    return failed;
}
#endif
