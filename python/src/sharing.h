/* sharing.h - what the interpreter's lock protects, for builds of Python that have none (free-threaded ones).
 *
 * An array's home, node and owners change when x[key] = value makes it another one; its node changes also when
 * its home drops dead nodes.  Any thread may read the array meanwhile.  So each array has a lock, of its home and
 * owners; its node is the home's, under that one's lock.  Who takes both takes the array's first.
 *
 * The owners of what a call reads are noted in the home that builds, under the same lock as the node is read.
 * When the interpreter has its lock, no other thread runs within a call's second step, and all of this is
 * empty: the operands themselves say what they hold. */
#ifndef RDPY_SHARING_H
#define RDPY_SHARING_H
#include "python_api.h"
#include <rdim.h>

typedef struct rdpy_array rdpy_array;
typedef struct rdpy_home  rdpy_home;
typedef struct rdpy_owners {
    PyObject **at;
    int        n, room;
} rdpy_owners;

#ifdef Py_GIL_DISABLED
#define rdpy_init_lock(a) ((void)((a)->lock = (PyMutex){ 0 }))
void rdpy_lock_array(rdpy_array *a);
void rdpy_unlock_array(rdpy_array *a);
void rdpy_lock_arrays(rdpy_array *a, rdpy_array *b); /* two different ones */
void rdpy_unlock_arrays(rdpy_array *a, rdpy_array *b);
/* The array's node, which stays until rdpy_looked(); NULL: its cycle was collected. */
rd_expr *rdpy_look(rdpy_array *a);
void     rdpy_looked(rdpy_array *a);
/* Notes what the array, whose lock is held, owns; -1 with an exception. */
int rdpy_note_owner(rdpy_home *home, rdpy_array *a);
/* Sets *held to the union of the owners noted since the home was asked for: a new reference, or NULL for none.  -1 with an
 * exception.  `operand` is for builds with the interpreter's lock. */
int  rdpy_take_owners(rdpy_home *home, int n, PyObject *const *operand, PyObject **held);
void rdpy_forget_owners(rdpy_home *home);

/* Only up to Python 3.11 to allocate may collect, and run finalizers. */
#define rdpy_stop_collecting()     0
#define rdpy_go_on_collecting(was) ((void)(was))
#else
#define rdpy_init_lock(a)        ((void)(a))
#define rdpy_lock_array(a)       ((void)(a))
#define rdpy_unlock_array(a)     ((void)(a))
#define rdpy_lock_arrays(a, b)   ((void)(a), (void)(b))
#define rdpy_unlock_arrays(a, b) ((void)(a), (void)(b))
#define rdpy_look(a)             ((a)->x)
#define rdpy_looked(a)           ((void)(a))
#define rdpy_note_owner(home, a) 0
#define rdpy_take_owners(home, n, operand, held) \
    ((void)(home), rdpy_held_together(n, operand, held))
#define rdpy_forget_owners(home) ((void)(home))

#define rdpy_stop_collecting()     PyGC_Disable()
#define rdpy_go_on_collecting(was) ((void)((was) && PyGC_Enable()))
#endif
#endif
