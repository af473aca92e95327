/* evaluate.c - results into memory of NumPy or of the caller. */
#include "core.h"

/* empty(shape, dtype): fresh memory with a buffer, by numpy.empty where there is one */
static PyObject *empty_memory;

static PyObject *set_empty(PyObject *self, PyObject *empty)
{
    (void)self;
    Py_XDECREF(empty_memory);
    empty_memory = Py_NewRef(empty);
    Py_RETURN_NONE;
}

/* ---- Into buffers ------------------------------------------------------------------------------ */
/* The memory of an array of NumPy's.  Types of ml_dtypes export no buffer: then ints of their size,
 * and *type is theirs. */
static PyObject *exporter_of(PyObject *out, rd_dtype *type)
{
    PyObject *const given = rdpy_is_numpy_array(out) ? PyObject_GetAttrString(out, "dtype") : NULL;

    *type = RD_AUTO;
    if (given && rdpy_dtype_of(given, type) < 0)
        PyErr_Clear(); /* the buffer says what is wrong */
    Py_XDECREF(given);
    if (*type != RD_AUTO && !rdpy_format(*type))
        return PyObject_CallMethod(out, "view", "s", rdpy_size(*type) == 1 ? "uint8" : "uint16");
    *type = RD_AUTO;
    return Py_NewRef(out);
}

/* The layout of one, which stays exported until the caller releases the view. */
static int open_output(PyObject *out, rdpy_buffer *view, rd_array *array)
{
    rd_dtype        type;
    PyObject *const from = exporter_of(out, &type);
    const int       fits = from ? rdpy_buffer_layout(from, RDPY_BUFFER_WRITABLE, view, array) : -1;

    Py_XDECREF(from); /* the view keeps it */
    if (fits == 1 && type != RD_AUTO)
        array->type = type;
    if (fits == 0)
        PyErr_Format(
            PyExc_TypeError,
            "rdim: results cannot be written to %R: its type, byte order or strides are none "
            "of rdim's",
            (PyObject *)Py_TYPE(out));
    return fits == 1 ? 0 : -1;
}

/* An Array as out= has the result from then on, as by x[...] = result; nothing is computed. */
static int give_to(PyObject *array, PyObject *out)
{
    PyObject *const became = rdpy_become(out, Py_NewRef(array));

    Py_XDECREF(became);
    return became ? 0 : -1;
}

int rdpy_evaluate_into(PyObject *array, PyObject *out)
{
    rdpy_buffer view;
    rd_array    layout;
    PyObject   *held = NULL;
    int         failed;

    if (rdpy_is_array(out))
        return give_to(array, out);
    if (!PyObject_CheckBuffer(out)) {
        PyErr_Format(
            PyExc_TypeError,
            "rdim: out= is %R, where memory for the result is wanted, such as numpy.empty()", out);
        return -1;
    }
    if (open_output(out, &view, &layout) < 0)
        return -1;
    rdpy_home *const home = rdpy_my_home();
    rd_expr *const   x    = home ? rdpy_node_here(home, array, &held) : NULL;

    failed = x ? rdpy_run_one(home, x, &layout) : -1;
    PyBuffer_Release(&view);
    Py_XDECREF(held);
    return failed;
}

static PyObject *evaluate_into(PyObject *self, PyObject *args)
{
    PyObject *array, *out;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!O:evaluate_into", rdpy_array_type, &array, &out) ||
        rdpy_evaluate_into(array, out) < 0)
        return NULL;
    return Py_NewRef(out);
}

/* Fresh memory for x. */
static PyObject *room_for(PyObject *array)
{
    PyObject *const shape = PyObject_GetAttrString(array, "shape");
    PyObject *const type  = rdpy_dtype_object(rdpy_type_of(array));
    PyObject *const room =
        shape && type ? PyObject_CallFunctionObjArgs(empty_memory, shape, type, NULL) : NULL;

    Py_XDECREF(shape);
    const rd_dtype is = rd_type_of(((rdpy_array *)array)->x);
    if (!room && !rdpy_format(is) && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "rdim.compute: NumPy has no %s where there is no package ml_dtypes; say "
                     "x.astype(\"float32\")",
                     rdpy_type_name(is));
    }
    return room;
}

static PyObject *compute_one(PyObject *array)
{
    PyObject *const out = room_for(array);

    if (out && rdpy_evaluate_into(array, out) == 0)
        return out;
    Py_XDECREF(out);
    return NULL;
}

/* ---- Several results in one pass --------------------------------------------------------------- */
typedef struct outputs {
    Py_ssize_t   n, opened;
    PyObject    *list; /* of results */
    PyObject   **held; /* of arrays: rdpy_node_here() */
    rdpy_buffer *view;
    rd_array    *layout;
    rd_result   *result;
} outputs;

static int open_all(outputs *o, PyObject *arrays)
{
    o->list   = PyTuple_New(o->n);
    o->held   = PyMem_Calloc((size_t)o->n + 1, sizeof(PyObject *));
    o->view   = PyMem_Calloc((size_t)o->n + 1, sizeof *o->view);
    o->layout = PyMem_Calloc((size_t)o->n + 1, sizeof *o->layout);
    o->result = PyMem_Calloc((size_t)o->n + 1, sizeof *o->result);
    if (!o->list || !o->held || !o->view || !o->layout || !o->result)
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    for (; o->opened < o->n; o->opened++) {
        PyObject *const array = PyTuple_GetItem(arrays, o->opened), *const out =
                                                                        array ? room_for(array)
                                                                              : NULL;

        if (!out || PyTuple_SetItem(o->list, o->opened, out) < 0 ||
            open_output(out, &o->view[o->opened], &o->layout[o->opened]) < 0)
            return -1;
    }
    return 0;
}

static void close_all(outputs *o)
{
    while (o->opened > 0)
        PyBuffer_Release(&o->view[--o->opened]);
    for (Py_ssize_t k = 0; o->held && k < o->n; k++)
        Py_XDECREF(o->held[k]);
    PyMem_Free(o->held);
    PyMem_Free(o->view);
    PyMem_Free(o->layout);
    PyMem_Free(o->result);
}

static int run_all(outputs *o, PyObject *arrays)
{
    rdpy_home *const home = rdpy_my_home();

    for (Py_ssize_t k = 0; home && k < o->n; k++) {
        rd_expr *const x = rdpy_node_here(home, PyTuple_GetItem(arrays, k), &o->held[k]);

        if (!x)
            return -1;
        o->result[k] = (rd_result){ x, &o->layout[k] };
    }
    return home ? rdpy_run_many(home, (rd_results){ o->result, (int32_t)o->n }) : -1;
}

static PyObject *compute_many(PyObject *self, PyObject *arrays)
{
    outputs o = { 0 };
    int     failed;

    (void)self;
    if (!PyTuple_Check(arrays))
        return PyErr_Format(PyExc_TypeError, "rdim.compute_many: a tuple of arrays is wanted");
    o.n = PyTuple_Size(arrays);
    for (Py_ssize_t k = 0; k < o.n; k++)
        if (!rdpy_is_array(PyTuple_GetItem(arrays, k)))
            return PyErr_Format(PyExc_TypeError, "rdim.compute_many: %R is no Array",
                                PyTuple_GetItem(arrays, k));
    failed = open_all(&o, arrays) < 0 || run_all(&o, arrays) < 0;
    close_all(&o);
    if (failed)
        Py_CLEAR(o.list);
    return o.list;
}

static PyObject *compute(PyObject *self, PyObject *array)
{
    (void)self;
    if (rdpy_is_array(array))
        return compute_one(array);
    return PyErr_Format(PyExc_TypeError, "rdim.compute: %R is no Array",
                        (PyObject *)Py_TYPE(array));
}

PyMethodDef rdpy_evaluate_functions[] = {
    { "_set_empty", set_empty, METH_O, NULL },
    { "compute", compute, METH_O, "compute(array): its elements in fresh memory" },
    { "compute_many", compute_many, METH_O,
      "compute_many(arrays): the elements of all, by one run" },
    { "evaluate_into", evaluate_into, METH_VARARGS, "evaluate_into(array, out): out" },
    { NULL, NULL, 0, NULL }
};
