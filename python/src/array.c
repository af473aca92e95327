/* array.c - the type Array: a handle of a node, and of what owns the memory that the node reads. */
#include "core.h"
#include <structmember.h>

PyTypeObject *rdpy_array_type;

/* ---- Life ------------------------------------------------------------------------------------- */
/* To allocate may collect cycles, up to Python 3.11, and finalizers of these may build; but x is nobody's
 * yet, and would be dropped.  So collecting waits. */
PyObject *rdpy_new(rdpy_home *home, rd_expr *x, PyObject *held)
{
    const int   collects = rdpy_stop_collecting();
    rdpy_array *a        = x ? PyObject_GC_New(rdpy_array, rdpy_array_type) : NULL;

    rdpy_go_on_collecting(collects);
    if (!a) {
        Py_XDECREF(held);
        return x ? NULL : rdpy_raise(home->ctx);
    }
    rdpy_init_lock(a);
    a->held = held;
    a->weak = NULL;
    rdpy_home_enter(home, a, &x);
    PyObject_GC_Track(a);
    return (PyObject *)a;
}

static int array_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((rdpy_array *)self)->held);
    return 0;
}

/* The node stays: it may be read until the handle goes, but elements are gone with what is held.  So a
 * handle without its owners has no node. */
static int array_clear(PyObject *self)
{
    rdpy_array *const a = (rdpy_array *)self;
    PyObject         *held;

    rdpy_lock_array(a);
    rdpy_home_leave(a);
    a->x    = NULL;
    held    = a->held;
    a->held = NULL;
    rdpy_unlock_array(a);
    Py_XDECREF(held);
    return 0;
}

static void array_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (((rdpy_array *)self)->weak)
        PyObject_ClearWeakRefs(self);
    array_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- What operands hold ----------------------------------------------------------------------- */
static bool holds(PyObject *held, PyObject *one)
{
    if (!held || held == one)
        return held == one;
    if (!PyTuple_CheckExact(held))
        return false;
    for (Py_ssize_t k = 0; k < PyTuple_Size(held); k++)
        if (PyTuple_GetItem(held, k) == one)
            return true;
    return false;
}

/* Takes a over; both are held by the result. */
PyObject *rdpy_both_held(PyObject *a, PyObject *b)
{
    PyObject *both;

    if (!b || holds(a, b))
        return a;
    if (!a || holds(b, a)) {
        Py_XDECREF(a);
        return Py_NewRef(b);
    }
    const int collects = rdpy_stop_collecting(); /* see rdpy_new() */

    both = PyTuple_Pack(2, a, b);
    rdpy_go_on_collecting(collects);
    Py_DECREF(a);
    return both;
}

int rdpy_held_together(int n, PyObject *const *operand, PyObject **held)
{
    *held = NULL;
    for (int k = 0; k < n; k++)
        if (operand[k] && rdpy_is_array(operand[k]) && ((rdpy_array *)operand[k])->held) {
            *held = rdpy_both_held(*held, ((rdpy_array *)operand[k])->held);
            if (!*held)
                return -1;
        }
    return 0;
}

PyObject *rdpy_holding(PyObject *made, PyObject *owner)
{
    rdpy_array *const a    = (rdpy_array *)made;
    PyObject         *held = NULL;

    if (!made || !owner)
        return made;
    held    = a->held;
    a->held = NULL; /* rdpy_both_held() takes it over */
    held    = rdpy_both_held(held, owner);
    a->held = held;
    if (held)
        return made;
    Py_DECREF(made);
    return NULL;
}

/* The sequence protocol: without it pandas takes an Array for a number, as it has float(). */
static PyObject *array_item(PyObject *self, Py_ssize_t k)
{
    PyObject *const number = k < 0 ? NULL : PyLong_FromSsize_t(k);

    /* Python has counted from the end already. */
    if (k < 0)
        PyErr_SetString(PyExc_IndexError, "rdim: an index before the first element");
    PyObject *const item = number ? rdpy_getitem(self, number) : NULL;

    Py_XDECREF(number);
    return item;
}

static PyMemberDef members[] = { { "__weaklistoffset__", T_PYSSIZET, offsetof(rdpy_array, weak),
                                   READONLY, NULL },
                                 { NULL, 0, 0, 0, NULL } };

int rdpy_add_method(PyMethodDef *definition)
{
    PyObject *const method = PyDescr_NewMethod(rdpy_array_type, definition);
    const int       failed =
        method ? PyObject_SetAttrString((PyObject *)rdpy_array_type, definition->ml_name, method)
                     : -1;

    Py_XDECREF(method);
    return failed;
}

enum { MOST_SLOTS = 64 };

int rdpy_array_init(PyObject *module)
{
    static PyType_Slot slots[MOST_SLOTS] = {
        { Py_tp_doc, "A lazy array: an expression, evaluated when its elements are asked for." },
        { Py_tp_dealloc, array_dealloc },
        { Py_tp_traverse, array_traverse },
        { Py_tp_clear, array_clear },
        { Py_tp_getset, rdpy_properties },
        { Py_tp_members, members },
        { Py_tp_hash, PyObject_HashNotImplemented },
        { Py_mp_length, rdpy_length },
        { Py_sq_length, rdpy_length },
        { Py_sq_item, array_item },
        { Py_mp_subscript, rdpy_getitem },
        { Py_nb_float, rdpy_to_float },
        { Py_nb_int, rdpy_to_int },
        { Py_nb_index, rdpy_to_index },
        { Py_nb_bool, rdpy_to_bool },
    };
    PyType_Spec spec = { .name      = "rdim.Array",
                         .basicsize = sizeof(rdpy_array),
                         .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                  Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         .slots = slots };
    int         n    = 0;

    while (slots[n].slot)
        n++;
    for (const PyType_Slot *slot = rdpy_operator_slots; slot->slot && n < MOST_SLOTS - 1; slot++)
        slots[n++] = *slot;
    rdpy_array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return rdpy_array_type ? PyModule_AddObjectRef(module, "Array", (PyObject *)rdpy_array_type)
                           : -1;
}
