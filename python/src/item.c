/* item.c - arrays of one element as numbers of Python: x.item(), float(x), int(x), bool(x), indices. */
#include "core.h"

static PyObject *number_of(const rd_array *a)
{
    switch (a->type) {
    case RD_BOOL: return PyBool_FromLong(*(const bool *)a->in);
    case RD_I64: return PyLong_FromLongLong(*(const int64_t *)a->in);
    case RD_U64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)a->in);
    case RD_F64: return PyFloat_FromDouble(*(const double *)a->in);
    default: {
        const double *const pair = a->in;

        return PyComplex_FromDoubles(pair[0], pair[1]);
    }
    }
}

/* The type of a Python number that holds each value exactly. */
static rd_dtype number_type(rd_dtype type)
{
    if (type == RD_BOOL || type == RD_U64)
        return type;
    if (type <= RD_U32)
        return RD_I64;
    return rdpy_is_complex(type) ? RD_C128 : RD_F64;
}

static bool has_one_element(const rd_shape *shape)
{
    for (int k = 0; k < shape->n; k++)
        if (shape->at[k] != 1) {
            PyErr_Format(PyExc_TypeError,
                         "rdim: an array of one element is wanted, axis %d has %lld", k,
                         (long long)shape->at[k]);
            return false;
        }
    return true;
}

PyObject *rdpy_item(PyObject *self)
{
    rdpy_home *const home = rdpy_my_home();
    PyObject        *held = NULL;
    rd_expr         *x    = home ? rdpy_node_here(home, self, &held) : NULL;
    double           room[2];
    rd_array         out    = { .data = room };
    int              failed = -1;

    if (!x)
        return NULL;
    out.shape = rd_shape_of(x);
    out.type  = number_type(rd_type_of(x));
    if (has_one_element(&out.shape))
        failed = rdpy_run_one(home, x, &out);
    Py_XDECREF(held);
    return failed ? NULL : number_of(&out);
}

static PyObject *item(PyObject *self, PyObject *array)
{
    (void)self;
    if (rdpy_is_array(array))
        return rdpy_item(array);
    return PyErr_Format(PyExc_TypeError, "rdim.item: %R is no Array", (PyObject *)Py_TYPE(array));
}

/* ---- Slots of the type ------------------------------------------------------------------------ */
PyObject *rdpy_to_float(PyObject *self)
{
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Float(item) : NULL;

    Py_XDECREF(item);
    return number;
}

PyObject *rdpy_to_int(PyObject *self)
{
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Long(item) : NULL;

    Py_XDECREF(item);
    return number;
}

/* Only of ints without axes, as in NumPy: a float, a bool or a row as an index is a mistake. */
PyObject *rdpy_to_index(PyObject *self)
{
    rd_expr *const x     = ((rdpy_array *)self)->x;
    const bool     whole = x && rd_shape_of(x).n == 0 && rd_type_of(x) != RD_BOOL;

    if (x && !whole)
        return PyErr_Format(PyExc_TypeError,
                            "rdim: only an array of ints without axes is an index");
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Index(item) : NULL;

    Py_XDECREF(item);
    return number;
}

/* NumPy's exception, which is another one than that of numbers. */
static bool is_ambiguous(PyObject *self)
{
    rd_expr *const x     = rdpy_look((rdpy_array *)self);
    const rd_shape shape = x ? rd_shape_of(x) : (rd_shape){ .n = 0 };

    rdpy_looked((rdpy_array *)self);
    for (int k = 0; k < shape.n; k++)
        if (shape.at[k] != 1) {
            PyErr_Format(
                PyExc_ValueError,
                "rdim: the truth of an array is that of one element, and axis %d has %lld; say x.any() "
                "or x.all()",
                k, (long long)shape.at[k]);
            return true;
        }
    return false;
}

int rdpy_to_bool(PyObject *self)
{
    PyObject *item  = is_ambiguous(self) ? NULL : rdpy_item(self);
    int       truth = item ? PyObject_IsTrue(item) : -1;

    Py_XDECREF(item);
    return truth;
}

/* ---- What is known without evaluating ---------------------------------------------------------- */
/* Are all elements in memory, so that they are read and not computed? */
static bool is_stored(rd_expr *x)
{
    rd_expr *const from = rd_elements_of(x);
    rd_axis_from   axis;

    return from && rd_shape_of(from).n > 0 && rd_axis_source(from, 0, &axis) && axis.from == from;
}

static PyObject *known(PyObject *self, PyObject *array)
{
    rdpy_home *const home = rdpy_my_home();
    PyObject        *held = NULL;
    rd_expr *const   x    = home ? rdpy_node_here(home, array, &held) : NULL;
    int64_t          low, high;
    PyObject        *made = NULL;

    (void)self;
    if (x && rd_span_of(x, &low, &high))
        made = Py_BuildValue("LLN", (long long)low, (long long)high, PyBool_FromLong(is_stored(x)));
    else if (x)
        PyErr_SetString(PyExc_TypeError, "rdim._known: ints are wanted");
    Py_XDECREF(held);
    return made;
}

PyMethodDef rdpy_item_functions[] = { { "item", item, METH_O,
                                        "item(array): its one element as a number" },
                                      { "_known", known, METH_O, NULL },
                                      { NULL, NULL, 0, NULL } };
