/* arguments.c - arguments of calls: their places, axes, lists of numbers. */
#include "core.h"
#include <string.h>

int rdpy_int64(PyObject *o, int64_t *value)
{
    PyObject *number = PyNumber_Index(o);

    *value = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int one_axis(PyObject *o, rd_dims *dims)
{
    int64_t axis;

    if (rdpy_int64(o, &axis) < 0)
        return -1;
    if (dims->n == RD_MAX_RANK || axis != (int32_t)axis) {
        PyErr_Format(PyExc_ValueError, "axis %R: rdim has at most %d axes", o, RD_MAX_RANK);
        return -1;
    }
    dims->axis[dims->n++] = (int32_t)axis;
    return 0;
}

/* A range, or an array of NumPy, is as good as a tuple. */
static bool is_sequence(PyObject *o)
{
    return !PyLong_Check(o) && !PyTuple_Check(o) && !PyList_Check(o) && !rdpy_is_array(o) &&
           PySequence_Check(o) && PySequence_Size(o) >= 0;
}

int rdpy_dims(PyObject *o, bool keep, rd_dims *dims)
{
    *dims = (rd_dims){ .flags = keep ? RD_DIMS_KEEP : 0 };
    if (!o || o == Py_None) {
        dims->flags |= RD_DIMS_EXCEPT;
        return 0;
    }
    if (is_sequence(o)) {
        PyObject *const tuple  = PySequence_Tuple(o);
        const int       failed = tuple ? rdpy_dims(tuple, keep, dims) : -1;

        Py_XDECREF(tuple);
        return failed;
    }
    PyErr_Clear();
    if (!PyTuple_Check(o) && !PyList_Check(o))
        return one_axis(o, dims);
    const Py_ssize_t n = PySequence_Size(o);

    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *const item   = PySequence_GetItem(o, k);
        const int       failed = item ? one_axis(item, dims) : -1;

        Py_XDECREF(item);
        if (failed)
            return -1;
    }
    return 0;
}

/* A number is a list of one. */
int rdpy_ints(PyObject *o, rd_ints *ints)
{
    if (is_sequence(o)) {
        PyObject *const tuple  = PySequence_Tuple(o);
        const int       failed = tuple ? rdpy_ints(tuple, ints) : -1;

        Py_XDECREF(tuple);
        return failed;
    }
    PyErr_Clear();
    const bool       list = PyTuple_Check(o) || PyList_Check(o);
    const Py_ssize_t n    = list ? PySequence_Size(o) : 1;

    *ints = (rd_ints){ 0 };
    if (n > RD_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "%zd numbers: rdim has at most %d axes", n, RD_MAX_RANK);
        return -1;
    }
    for (ints->n = 0; ints->n < n; ints->n++) {
        PyObject *const item   = list ? PySequence_GetItem(o, ints->n) : Py_NewRef(o);
        const int       failed = item ? rdpy_int64(item, &ints->at[ints->n]) : -1;

        Py_XDECREF(item);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- Places ----------------------------------------------------------------------------------- */
static int by_keyword(const rdpy_names *names, PyObject *keyword, PyObject *given, PyObject **value)
{
    int k = 0;

    /* NumPy's functions call the array `a`. */
    if (PyUnicode_CompareWithASCIIString(keyword, "a") != 0)
        while (k < names->n && PyUnicode_CompareWithASCIIString(keyword, names->name[k]) != 0)
            k++;
    const bool known = k < names->n && names->takes >> k & 1;

    if (!known || value[k]) {
        PyErr_Format(PyExc_TypeError,
                     !known ? "rdim.%s() has no keyword %R" : "rdim.%s(): %R is given twice",
                     names->call, keyword);
        return -1;
    }
    value[k] = given;
    return 0;
}

int rdpy_arguments(const rdpy_names *names, PyObject *const *args, Py_ssize_t n_args,
                   PyObject *keywords, PyObject **value)
{
    const Py_ssize_t n_keywords = keywords ? PyTuple_Size(keywords) : 0;

    memset(value, 0, (size_t)names->n * sizeof *value);
    if (n_args > names->n_places) {
        PyErr_Format(PyExc_TypeError, "rdim.%s() takes at most %d arguments by place, %zd given",
                     names->call, names->n_places, n_args);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n_args; k++)
        value[names->place[k]] = args[k];
    for (Py_ssize_t k = 0; k < n_keywords; k++)
        if (by_keyword(names, PyTuple_GetItem(keywords, k), args[n_args + k], value) < 0)
            return -1;
    if (value[0])
        return 0;
    PyErr_Format(PyExc_TypeError, "rdim.%s() wants an array first", names->call);
    return -1;
}
