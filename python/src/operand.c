/* operand.c - Python objects as operands, in two steps: first each becomes an Array or a plain number,
 * which may run code of others; then nodes are made of these, which may not. */
#include "core.h"
#include <string.h>

/* ---- First step ------------------------------------------------------------------------------- */
static bool is_number(PyObject *o)
{
    return PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
           PyComplex_CheckExact(o);
}

/* Is the object an array of some library, a buffer, or a list or tuple?  Texts and bytes are not. */
static bool is_arraylike(PyObject *o)
{
    static const char *const says[] = { "__array_interface__", "__dlpack__", "__array__" };

    if (PyUnicode_Check(o) || PyBytes_Check(o))
        return false;
    for (size_t k = 0; k < sizeof says / sizeof *says; k++)
        if (PyObject_HasAttrString(o, says[k]))
            return true;
    return PyObject_CheckBuffer(o) || PyList_Check(o) || PyTuple_Check(o);
}

PyObject *rdpy_operand(PyObject *o)
{
    if (rdpy_is_array(o) || is_number(o))
        return Py_NewRef(o);
    if (rdpy_is_numpy_array(o)) /* which would make a dict to say that it is one */
        return rdpy_asarray(o);
    return is_arraylike(o) ? rdpy_asarray(o) : Py_NewRef(Py_NotImplemented);
}

PyObject *rdpy_operand_or_error(PyObject *o)
{
    PyObject *operand = rdpy_operand(o);

    if (operand == Py_NotImplemented) {
        Py_DECREF(operand);
        PyErr_Format(PyExc_TypeError, "rdim: no array can be made of %R", (PyObject *)Py_TYPE(o));
        return NULL;
    }
    return operand;
}

/* ---- Second step ------------------------------------------------------------------------------ */
/* A Python int is weak; one that only u64 holds is a number of that type. */
static rd_expr *node_of_int(rdpy_home *home, PyObject *o)
{
    int             overflow;
    const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);

    if (!overflow)
        return rd_int(home->ctx, value);
    const unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;

    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "rdim: no integer type holds the Python int %R", o);
        return NULL;
    }
    rd_expr *const high = rd_cast(rd_int(home->ctx, (int64_t)(wide >> 1)), RD_U64);

    return rd_cast(rd_add(rd_mul(high, rd_int(home->ctx, 2)), rd_int(home->ctx, wide & 1)), RD_U64);
}

static rd_expr *node_of_number(rdpy_home *home, PyObject *o)
{
    if (PyFloat_CheckExact(o))
        return rd_num(home->ctx, PyFloat_AsDouble(o));
    if (PyBool_Check(o))
        return rd_cast(rd_int(home->ctx, o == Py_True), RD_BOOL);
    if (PyLong_CheckExact(o))
        return node_of_int(home, o);
    return rd_cnum(home->ctx, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
}

/* Nodes of other homes are cloned.  The array's lock is held. */
static rd_expr *node_of_array(rdpy_home *home, rdpy_array *a)
{
    rd_expr *x;

    if (a->home == home)
        return a->x;
    if (!a->home) {
        PyErr_SetString(PyExc_ReferenceError, "rdim: an array of a cycle that was collected");
        return NULL;
    }
    pthread_mutex_lock(&a->home->lock);
    x = rd_clone(home->ctx, a->x);
    pthread_mutex_unlock(&a->home->lock);
    return x;
}

rd_expr *rdpy_node(rdpy_home *home, PyObject *operand)
{
    rdpy_array *const a = (rdpy_array *)operand;
    rd_expr          *x = NULL;

    if (!operand)
        return NULL;
    if (!rdpy_is_array(operand))
        return node_of_number(home, operand);
    rdpy_lock_array(a);
    if (rdpy_note_owner(home, a) == 0)
        x = node_of_array(home, a);
    rdpy_unlock_array(a);
    return x;
}

static bool is_sparse(rdpy_array *a)
{
    const bool sparse = rd_is_sparse(rdpy_look(a));

    rdpy_looked(a);
    return sparse;
}

bool rdpy_any_sparse(int n, PyObject *const *operand)
{
    for (int k = 0; k < n; k++)
        if (operand[k] && rdpy_is_array(operand[k]) && is_sparse((rdpy_array *)operand[k]))
            return true;
    return false;
}

rdpy_home *rdpy_home_for(int n, PyObject *const *operand)
{
    return rdpy_any_sparse(n, operand) ? rdpy_pinned_home() : rdpy_my_home();
}

/* A pinned home is its results': each holds it, and so does what is made of them. */
static PyObject *holding_home(rdpy_home *home, PyObject *held)
{
    PyObject *capsule = rdpy_home_capsule(home),
             *both    = capsule && held ? PyTuple_Pack(2, held, capsule) : NULL;

    if (!held)
        return capsule;
    Py_DECREF(held);
    Py_XDECREF(capsule);
    return both;
}

PyObject *rdpy_made_holding(rdpy_home *home, rd_expr *x, PyObject *held)
{
    if (home->pinned && !(held = holding_home(home, held)))
        return NULL;
    return rdpy_new(home, x, held);
}

PyObject *rdpy_made(rdpy_home *home, rd_expr *x, int n, PyObject *const *operand)
{
    PyObject *held, *made = NULL;
    const int collects = rdpy_stop_collecting(); /* see rdpy_new() */

    if (!x) {
        made = PyErr_Occurred() ? (rd_error_clear(home->ctx), rdpy_retell(home->call))
                                : rdpy_raise_from(home->ctx, home->call);
        rdpy_forget_owners(home);
    } else if (rdpy_take_owners(home, n, operand, &held) == 0)
        made = rdpy_made_holding(home, x, held);
    home->call = NULL;
    rdpy_go_on_collecting(collects);
    if (home->pinned)
        rdpy_home_drop(home); /* the reference of who made it */
    return made;
}
