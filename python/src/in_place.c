/* in_place.c - handles that get another node: x[key] = value and x += y.  Other handles keep theirs. */
#include "core.h"

/* No Python code runs between the two homes. */
static int become(rdpy_array *a, rdpy_array *other)
{
    PyObject *was = NULL;
    bool      there;

    if (a == other)
        return 0;
    rdpy_lock_arrays(a, other);
    there = other->home != NULL;
    if (there) {
        was = a->held;
        rdpy_home_leave(a);
        a->held = Py_XNewRef(other->held);
        rdpy_home_enter(other->home, a, &other->x);
    }
    rdpy_unlock_arrays(a, other);
    Py_XDECREF(was);
    if (there)
        return 0;
    PyErr_SetString(PyExc_ReferenceError, "rdim: an array of a cycle that was collected");
    return -1;
}

/* _replace(array, other): the handle becomes one of other's node */
static PyObject *replace(PyObject *self, PyObject *args)
{
    rdpy_array *a, *other;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!:_replace", rdpy_array_type, &a, rdpy_array_type, &other) ||
        become(a, other) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- x += y ----------------------------------------------------------------------------------- */
static rd_shape shape_of(PyObject *array)
{
    rdpy_array *const a     = (rdpy_array *)array;
    const rd_shape    shape = rd_shape_of(rdpy_look(a));

    rdpy_looked(a);
    return shape;
}

static bool has_shape_of(PyObject *x, PyObject *made)
{
    const rd_shape want = shape_of(x), have = shape_of(made);
    bool           same = want.n == have.n;

    for (int k = 0; same && k < want.n; k++)
        same = want.at[k] == have.at[k];
    return same;
}

static void refuse_shape(PyObject *x, PyObject *made)
{
    PyObject *const want = PyObject_GetAttrString(x, "shape"), *const have = PyObject_GetAttrString(
                                                                   made, "shape");

    if (want && have)
        PyErr_Format(PyExc_ValueError,
                     "rdim: a result of shape %R does not go into an array of shape %R", have,
                     want);
    Py_XDECREF(want);
    Py_XDECREF(have);
}

/* As NumPy, which looks at types first. */
static bool fits(PyObject *x, PyObject *made)
{
    const rd_dtype want = rdpy_type_of(x), have = rdpy_type_of(made);

    if (rdpy_kind(have) > rdpy_kind(want)) {
        PyErr_Format(
            PyExc_TypeError,
            "rdim: a result of type %S does not go into an array of type %S; say x = x + y, or astype()",
            rdpy_dtype_object(have), rdpy_dtype_object(want));
        return false;
    }
    if (has_shape_of(x, made))
        return true;
    refuse_shape(x, made);
    return false;
}

/* made, which is taken over, in x's type */
static PyObject *in_type_of(PyObject *x, PyObject *made)
{
    const rd_dtype want = rdpy_type_of(x);
    rdpy_home     *home;
    PyObject      *cast = NULL;

    if (want == rdpy_type_of(made))
        return made;
    if ((home = rdpy_home_for(1, &made)))
        cast = rdpy_made(home, rd_cast(rdpy_node(home, made), want), 1, &made);
    Py_DECREF(made);
    return cast;
}

PyObject *rdpy_become(PyObject *x, PyObject *made)
{
    int failed;

    if (!made || made == Py_NotImplemented || !rdpy_is_array(x))
        return made;
    if (!fits(x, made)) {
        Py_DECREF(made);
        return NULL;
    }
    made   = in_type_of(x, made);
    failed = made ? become((rdpy_array *)x, (rdpy_array *)made) : -1;
    Py_XDECREF(made);
    return failed ? NULL : Py_NewRef(x);
}

PyMethodDef rdpy_array_functions[] = { { "_replace", replace, METH_VARARGS, NULL },
                                       { NULL, NULL, 0, NULL } };
