/* memory.c - results in memory of rdim's own, which an Array keeps. */
#include "core.h"

typedef struct memory {
    rdpy_home *home;
    rd_array   array;
} memory;

static void free_memory(memory *m)
{
    rd_array_free(&m->array);
    rdpy_home_drop(m->home);
    PyMem_Free(m);
}

static void drop_memory(PyObject *capsule)
{
    free_memory(PyCapsule_GetPointer(capsule, "rdim.memory"));
}

PyObject *rdpy_own_memory(rdpy_home *home, rd_array *array)
{
    memory *const m = PyMem_Calloc(1, sizeof *m);
    PyObject     *capsule;
    rd_array      leaf = *array;

    if (!m) {
        rd_array_free(array);
        return PyErr_NoMemory();
    }
    *m = (memory){ home, *array };
    atomic_fetch_add(&home->refs, 1);
    capsule = PyCapsule_New(m, "rdim.memory", drop_memory);
    if (!capsule) {
        free_memory(m);
        return NULL;
    }
    leaf.owner = NULL;
    return rdpy_new(home, rd_leaf(home->ctx, &leaf), capsule);
}

int rdpy_evaluate_fresh(rdpy_home *home, PyObject *array, rd_array *out)
{
    PyObject      *held   = NULL;
    rd_expr *const x      = rdpy_node_here(home, array, &held);
    const int      failed = x ? rdpy_run_one(home, x, out) : -1;

    Py_XDECREF(held);
    return failed;
}

/* persist(array): the same as an array of elements */
static PyObject *persist(PyObject *self, PyObject *array)
{
    rdpy_home *const home = rdpy_my_home();
    rd_array         out  = { 0 };

    (void)self;
    if (!rdpy_is_array(array))
        return PyErr_Format(PyExc_TypeError, "rdim.persist: %R is no Array",
                            (PyObject *)Py_TYPE(array));
    if (!home || rdpy_evaluate_fresh(home, array, &out) < 0)
        return NULL;
    return rdpy_own_memory(home, &out);
}

PyMethodDef rdpy_memory_functions[] = { { "persist", persist, METH_O,
                                          "persist(array): an Array of its elements" },
                                        { NULL, NULL, 0, NULL } };
