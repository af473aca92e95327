/* leaves.c - arrays over memory of others, and those made of nothing but a rule. */
#include "core.h"
#include <string.h>

/* ---- Buffers ----------------------------------------------------------------------------------- */
/* Strides in elements; false where they are none, or the address is not aligned: a copy serves. */
static bool layout_of(const rdpy_buffer *view, rd_dtype type, rd_array *array)
{
    const Py_ssize_t align = rdpy_is_complex(type) ? view->itemsize / 2 : view->itemsize;

    *array =
        (rd_array){ .data = view->buf, .type = type, .flags = view->readonly ? RD_READ_ONLY : 0 };
    array->shape.n = array->strides.n = view->ndim;
    if (view->ndim == 0 || !view->strides) /* those of ctypes say none, and are dense */
        array->strides.n = 0;
    for (int k = 0; k < view->ndim; k++) {
        array->shape.at[k] = view->shape[k];
        if (!view->strides)
            continue;
        array->strides.at[k] = view->strides[k] / view->itemsize;
        if (view->strides[k] % view->itemsize && view->shape[k] > 1)
            return false;
    }
    return (uintptr_t)view->buf % (uintptr_t)align == 0;
}

/* Fills `array` with the layout of a buffer.  1; 0: it is none that rdim reads in place; -1 with an
 * exception.  The view is released by the caller where it is 1. */
int rdpy_buffer_layout(PyObject *o, int flags, rdpy_buffer *view, rd_array *array)
{
    rd_dtype type;

    if (PyObject_GetBuffer(o, view, RDPY_BUFFER_FORMAT | RDPY_BUFFER_STRIDES | flags) < 0)
        return -1;
    type = rdpy_dtype_of_format(view->format, view->itemsize);
    if (type != RD_AUTO && view->ndim <= RD_MAX_RANK && !view->suboffsets &&
        layout_of(view, type, array))
        return 1;
    PyBuffer_Release(view);
    return 0;
}

/* Where `type` is not RD_AUTO, elements of its size are taken for such.  None: see from_buffer(). */
static PyObject *leaf_of(PyObject *memory, rd_dtype type)
{
    rdpy_buffer view;
    rd_array    array;
    const int   fits = rdpy_buffer_layout(memory, 0, &view, &array);
    PyObject   *made = NULL;

    if (fits <= 0)
        return fits < 0 ? NULL : Py_NewRef(Py_None);
    rdpy_home *const home = rdpy_my_home();

    array.flags = 0; /* it is only read */
    if (type != RD_AUTO)
        array.type = type;
    if (home)
        made = rdpy_new(home, rd_leaf(home->ctx, &array), Py_NewRef(memory));
    PyBuffer_Release(&view);
    return made;
}

static PyObject *over_buffer(PyObject *o, rd_dtype type)
{
    PyObject *const memory = PyMemoryView_FromObject(o),
                    *made  = memory ? leaf_of(memory, type) : NULL;

    Py_XDECREF(memory);
    return made;
}

/* from_buffer(o, dtype=None): the Array over o's memory, or None where a copy in another layout is
 * needed.  Elements of its size are of that type, such as bfloat16, of which buffers cannot tell. */
static PyObject *from_buffer(PyObject *self, PyObject *args)
{
    PyObject *o, *given = NULL;
    rd_dtype  type;

    (void)self;
    if (!PyArg_ParseTuple(args, "O|O:from_buffer", &o, &given) || rdpy_dtype_of(given, &type) < 0)
        return NULL;
    return over_buffer(o, type);
}

/* ---- Anything ----------------------------------------------------------------------------------- */
/* NumPy's arrays of no subclass and its bools, NULL without NumPy; rdim._leaves.asarray for all others. */
static PyObject *plain_array, *numpy_bool, *as_array;

bool rdpy_is_numpy_array(PyObject *o)
{
    return (PyObject *)Py_TYPE(o) == plain_array;
}

bool rdpy_is_numpy_bool(PyObject *o)
{
    return (PyObject *)Py_TYPE(o) == numpy_bool;
}

static PyObject *set_asarray(PyObject *self, PyObject *args)
{
    PyObject *function, *array = NULL, *truth = NULL;

    (void)self;
    if (!PyArg_ParseTuple(args, "O|OO:_set_asarray", &function, &array, &truth))
        return NULL;
    as_array    = Py_NewRef(function); /* once, when rdim is imported */
    plain_array = Py_XNewRef(array);
    numpy_bool  = Py_XNewRef(truth);
    Py_RETURN_NONE;
}

PyObject *rdpy_asarray(PyObject *o)
{
    PyObject *made = Py_None;

    if (rdpy_is_numpy_array(o)) {
        made = over_buffer(o, RD_AUTO);
        if (!made &&
            PyErr_ExceptionMatches(PyExc_ValueError)) { /* a type that buffers do not have */
            PyErr_Clear();
            made = Py_None;
        } else if (made == Py_None)
            Py_DECREF(made);
    }
    if (made != Py_None)
        return made;
    if (as_array)
        return PyObject_CallFunctionObjArgs(as_array, o, NULL);
    PyErr_SetString(PyExc_ImportError, "rdim._core is imported by rdim");
    return NULL;
}

/* asarray(x, dtype=None, order=None, *, device=None, copy=None) */
static PyObject *asarray(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *x;

    (void)self;
    if (!keywords && PyTuple_Size(args) == 1) {
        x = PyTuple_GetItem(args, 0);
        return rdpy_is_array(x) ? Py_NewRef(x) : rdpy_asarray(x);
    }
    return PyObject_Call(as_array, args, keywords);
}

/* ---- Rules ------------------------------------------------------------------------------------- */
/* scalar(number, dtype): an Array of rank 0; strong where a type is given. */
static PyObject *scalar(PyObject *self, PyObject *args)
{
    PyObject *given, *type_given = Py_None, *operand;
    rd_dtype  type;

    (void)self;
    if (!PyArg_ParseTuple(args, "O|O:scalar", &given, &type_given) ||
        rdpy_dtype_of(type_given, &type) < 0 || !(operand = rdpy_operand_or_error(given)))
        return NULL;
    rdpy_home *const home = rdpy_my_home();
    rd_expr         *x    = home ? rdpy_node(home, operand) : NULL;
    PyObject        *made = NULL;

    if (home)
        made = rdpy_made(home, type == RD_AUTO ? x : rd_cast(x, type), 1, &operand);
    Py_DECREF(operand);
    return made;
}

/* index_along(n): 0 to n - 1, int64. */
static PyObject *index_along(PyObject *self, PyObject *number)
{
    int64_t          n;
    rdpy_home *const home = rdpy_int64(number, &n) < 0 ? NULL : rdpy_my_home();

    (void)self;
    return home ? rdpy_new(home, rd_coord(rd_broadcast(rd_num(home->ctx, 0), RD_SHAPE(n)), 0), NULL)
                : NULL;
}

/* random_numbers(kind, key, shape, dtype): uniform, normal, exponential, bits */
static PyObject *random_numbers(PyObject *self, PyObject *args)
{
    const char        *kind;
    unsigned long long key;
    PyObject          *shape_given, *type_given;
    rd_shape           shape;
    rd_dtype           type;
    rdpy_home         *home;

    (void)self;
    if (!PyArg_ParseTuple(args, "sKOO:random_numbers", &kind, &key, &shape_given, &type_given) ||
        rdpy_ints(shape_given, &shape) < 0 || rdpy_dtype_of(type_given, &type) < 0 ||
        !(home = rdpy_my_home()))
        return NULL;
    return rdpy_new(home,
                    kind[0] == 'u'   ? rd_random_uniform(home->ctx, key, shape, type)
                    : kind[0] == 'n' ? rd_random_normal(home->ctx, key, shape, type)
                    : kind[0] == 'e' ? rd_random_exponential(home->ctx, key, shape, type)
                                     : rd_random_bits(home->ctx, key, shape),
                    NULL);
}

/* random_integers(key, shape, low, high): from low to below high, int64 */
static PyObject *random_integers(PyObject *self, PyObject *args)
{
    unsigned long long key;
    long long          low, high;
    PyObject          *shape_given;
    rd_shape           shape;
    rdpy_home         *home;

    (void)self;
    if (!PyArg_ParseTuple(args, "KOLL:random_integers", &key, &shape_given, &low, &high) ||
        rdpy_ints(shape_given, &shape) < 0 || !(home = rdpy_my_home()))
        return NULL;
    return rdpy_new(home, rd_random_integers(home->ctx, key, shape, low, high), NULL);
}

/* permutation(key, n): 0 to n - 1 in random order, int64 */
static PyObject *permutation(PyObject *self, PyObject *args)
{
    unsigned long long key;
    long long          n;
    rdpy_home         *home;

    (void)self;
    if (!PyArg_ParseTuple(args, "KL:permutation", &key, &n) || !(home = rdpy_my_home()))
        return NULL;
    return rdpy_new(home, rd_permutation(home->ctx, key, n), NULL);
}

PyMethodDef rdpy_leaf_functions[] = {
    { "from_buffer", from_buffer, METH_VARARGS,
      "from_buffer(o, dtype=None): an Array over its memory, or None" },
    { "asarray", (PyCFunction)(void (*)(void))asarray, METH_VARARGS | METH_KEYWORDS,
      "asarray($module, x, dtype=None, order=None, *, device=None, copy=None)\n--\n\n"
      "x as an Array, without a copy where its layout allows that, like numpy.asarray." },
    { "_set_asarray", set_asarray, METH_VARARGS, NULL },
    { "scalar", scalar, METH_VARARGS, "scalar(number, dtype=None)" },
    { "index_along", index_along, METH_O, "index_along(n): 0 to n - 1" },
    { "random_integers", random_integers, METH_VARARGS, "random_integers(key, shape, low, high)" },
    { "permutation", permutation, METH_VARARGS, "permutation(key, n)" },
    { "random_numbers", random_numbers, METH_VARARGS, "random_numbers(kind, key, shape, dtype)" },
    { NULL, NULL, 0, NULL }
};
