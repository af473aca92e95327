/* call_arguments.c - values of a call's arguments, by the kinds that its signature names: may run Python. */
#include "calls.h"
#include <string.h>

/* ---- Values of arguments ---------------------------------------------------------------------- */
enum { MOST_OPERANDS = 1 << 16 };

static int take_operand(PyObject **place, PyObject *given)
{
    *place = rdpy_operand_or_error(given);
    return *place ? 0 : -1;
}

static int make_room(rdpy_operands *o, Py_ssize_t n)
{
    if (n <= FEW_OPERANDS)
        return 0;
    PyObject **const room = PyMem_Calloc(MOST_PARAMETERS + (size_t)n, sizeof *room);

    if (!room) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(room, o->few, MOST_PARAMETERS * sizeof *room);
    o->at = room;
    return 0;
}

static int take_items(rdpy_operands *o, PyObject *list)
{
    const Py_ssize_t n = PyList_Size(list);

    if (n > MOST_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "rdim: %zd arrays in one call, at most %d are possible", n,
                     MOST_OPERANDS);
        return -1;
    }
    if (make_room(o, n) < 0)
        return -1;
    for (; o->n_list < n; o->n_list++)
        if (take_operand(&o->at[MOST_PARAMETERS + o->n_list], PyList_GetItem(list, o->n_list)) < 0)
            return -1;
    return 0;
}

/* The list is a copy: what Python code does to the caller's meanwhile does not matter. */
static int take_list(rdpy_operands *o, PyObject *given)
{
    PyObject *const list   = PySequence_List(given);
    const int       failed = list ? take_items(o, list) : -1;

    Py_XDECREF(list);
    return failed;
}

/* One label is a list of one. */
static int take_labels(rdpy_operands *o, PyObject *given)
{
    if (PyTuple_Check(given) || PyList_Check(given))
        return take_list(o, given);
    o->n_list = 1;
    return take_operand(&o->at[MOST_PARAMETERS], given);
}

static int take_qs(rdpy_call *A, PyObject *given)
{
    const bool       list = PyTuple_Check(given) || PyList_Check(given);
    const Py_ssize_t n    = list ? PySequence_Size(given) : 1;

    if (n > MOST_QS) {
        PyErr_Format(PyExc_ValueError,
                     "rdim.%s(): %zd quantiles, at most %d are possible in one call", A->name, n,
                     MOST_QS);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *const item = list ? PySequence_GetItem(given, k) : Py_NewRef(given);

        A->qs[k] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return -1;
    }
    A->q     = (rd_qs){ A->qs, (int32_t)n };
    A->one_q = !list;
    return 0;
}

static int take_text(rdpy_call *A, const rdpy_row *r, PyObject *given)
{
    if (!PyUnicode_Check(given)) {
        PyErr_Format(PyExc_TypeError, "rdim.%s() wants a word, %R is none", r->name, given);
        return -1;
    }
    A->text = PyUnicode_AsUTF8AndSize(given, NULL);
    return A->text ? 0 : -1;
}

static int take_device(const rdpy_row *r, PyObject *given)
{
    PyObject *const text = PyObject_Str(given);
    const bool      cpu  = text && PyUnicode_CompareWithASCIIString(text, "cpu") == 0;

    Py_XDECREF(text);
    if (text && !cpu)
        PyErr_Format(PyExc_ValueError, "rdim.%s(): device %R; arrays are made on \"cpu\" alone",
                     r->name, given);
    return cpu ? 0 : -1;
}

static int take_truth(rdpy_call *A, int k, PyObject *given)
{
    const int truth = PyObject_IsTrue(given);

    A->i[k] = truth;
    return truth < 0 ? -1 : 0;
}

static int take_number(rdpy_call *A, int k, PyObject *given)
{
    A->f[k] = PyFloat_AsDouble(given);
    return PyErr_Occurred() ? -1 : 0;
}

/* The library's axes are of 32 bits: what they do not hold must not become another axis. */
static int take_narrow(rdpy_call *A, const rdpy_row *r, int k, PyObject *given)
{
    const bool axis = strncmp(r->at[k].names, "axis", 4) == 0;
    char       name[MOST_NAME];

    if (rdpy_int64(given, &A->i[k]) < 0)
        return -1;
    if (A->i[k] == (int32_t)A->i[k])
        return 0;
    PyErr_Format(axis ? rdpy_axis_error() : PyExc_OverflowError,
                 "rdim.%s(): %s is %R, which is out of bounds", r->name,
                 rdpy_name_of(&r->at[k], name), given);
    return -1;
}

/* A diagonal may lie beyond any matrix. */
static int take_edge(rdpy_call *A, int k, PyObject *given)
{
    const int64_t   most   = INT64_C(1) << 62;
    int             beyond = 0;
    PyObject *const number = PyNumber_Index(given);

    A->i[k] = number ? PyLong_AsLongLongAndOverflow(number, &beyond) : 0;
    Py_XDECREF(number);
    if (beyond > 0 || A->i[k] > most)
        A->i[k] = most;
    if (beyond < 0 || A->i[k] < -most)
        A->i[k] = -most;
    return PyErr_Occurred() ? -1 : 0;
}

static int take_value(rdpy_call *A, const rdpy_row *r, rdpy_operands *o, int k, PyObject *given)
{
    switch (r->at[k].kind) {
    case 'x': return take_operand(&o->at[k], given);
    case 'l': return take_list(o, given);
    case 'L': return take_labels(o, given);
    case 'i': return rdpy_int64(given, &A->i[k]);
    case 'h': return take_narrow(A, r, k, given);
    case 'e': return take_edge(A, k, given);
    case 'b': return take_truth(A, k, given);
    case 'f': return take_number(A, k, given);
    case 'd': return rdpy_dims(given, false, &A->d);
    case 's': return rdpy_ints(given, &A->s[r->at[k].list]);
    case 't': return rdpy_dtype_of(given, &A->t);
    case 'n': return take_text(A, r, given);
    case 'q': return take_qs(A, given);
    case 'c': return take_device(r, given);
    default: return 0;
    }
}

static void take_default(rdpy_call *A, const rdpy_parameter *p, int k)
{
    A->i[k] = (int64_t)p->fallback;
    A->f[k] = p->fallback;
    if (p->kind == 'd')
        A->d = RD_DIMS((int32_t)p->fallback);
    if (p->kind == 's')
        A->s[p->list] = RD_INDEX((int64_t)p->fallback);
}

int rdpy_take_all(rdpy_call *A, const rdpy_row *r, rdpy_operands *o, PyObject *const *given)
{
    for (int k = 0; k < r->n; k++) {
        const rdpy_parameter *const p = &r->at[k];
        const bool none = !given[k] || (given[k] == Py_None && (p->optional || p->absent));

        A->x[k]     = NULL;
        A->given[k] = !none || (!given[k] && p->absent);
        if (!none && take_value(A, r, o, k, given[k]) < 0)
            return -1;
        if (none && A->given[k])
            take_default(A, p, k);
        else if (none && p->kind == 'd')
            A->d = RD_ALL;
        else if (none && !p->optional) {
            char name[MOST_NAME];

            PyErr_Format(PyExc_TypeError, "rdim.%s(): argument \"%s\" is missing", r->name,
                         rdpy_name_of(p, name));
            return -1;
        }
    }
    return 0;
}
