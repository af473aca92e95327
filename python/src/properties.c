/* properties.c - what an Array says of itself without evaluating. */
#include "core.h"

/* A finalizer may ask an array that was collected with its cycle, and has no node. */
static void refuse(void)
{
    PyErr_SetString(PyExc_ReferenceError, "rdim: an array of a cycle that was collected");
}

/* Less than 0 axes: there is an exception. */
static rd_shape shape_of(PyObject *self)
{
    rdpy_array *const a     = (rdpy_array *)self;
    const rd_shape    shape = rd_shape_of(rdpy_look(a));

    rdpy_looked(a);
    if (shape.n < 0)
        refuse();
    return shape;
}

/* RD_AUTO: there is an exception. */
static rd_dtype type_of(PyObject *self)
{
    const rd_dtype type = rdpy_type_of(self);

    if (type == RD_AUTO)
        refuse();
    return type;
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    const rd_shape shape = shape_of(self);
    PyObject      *tuple = shape.n < 0 ? NULL : PyTuple_New(shape.n);

    (void)closure;
    for (int k = 0; tuple && k < shape.n; k++) {
        PyObject *const extent = PyLong_FromLongLong(shape.at[k]);

        if (!extent || PyTuple_SetItem(tuple, k, extent) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_ndim(PyObject *self, void *closure)
{
    (void)closure;
    const int rank = shape_of(self).n;

    return rank < 0 ? NULL : PyLong_FromLong(rank);
}

static int64_t size_of(PyObject *self)
{
    const rd_shape shape = shape_of(self);
    int64_t        size  = 1;

    for (int k = 0; k < shape.n; k++)
        size *= shape.at[k];
    return size;
}

static PyObject *get_size(PyObject *self, void *closure)
{
    (void)closure;
    const int64_t size = size_of(self);

    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(size);
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    (void)closure;
    const rd_dtype type = type_of(self);

    return type != RD_AUTO ? Py_XNewRef(rdpy_dtype_object(type)) : NULL;
}

static PyObject *get_is_sparse(PyObject *self, void *closure)
{
    (void)closure;
    return type_of(self) != RD_AUTO ? PyBool_FromLong(rdpy_any_sparse(1, &self)) : NULL;
}

/* -1 with an exception */
static int64_t item_size(PyObject *self)
{
    const rd_dtype type = type_of(self);

    return type != RD_AUTO ? rdpy_size(type) : -1;
}

static PyObject *get_itemsize(PyObject *self, void *closure)
{
    (void)closure;
    const int64_t size = item_size(self);

    return size < 0 ? NULL : PyLong_FromLongLong(size);
}

static PyObject *get_nbytes(PyObject *self, void *closure)
{
    (void)closure;
    const int64_t size = item_size(self);

    return size < 0 ? NULL : PyLong_FromLongLong(size * size_of(self));
}

/* ---- Views and parts that are properties ------------------------------------------------------- */
static rd_expr *all_reversed(rd_expr *x)
{
    rd_index order = { .n = rd_shape_of(x).n };

    for (int k = 0; k < order.n; k++)
        order.at[k] = order.n - 1 - k;
    return order.n < 2 ? x : rd_permute(x, order);
}

static rd_expr *last_two_swapped(rd_expr *x)
{
    const int rank = rd_shape_of(x).n;

    if (rank >= 2)
        return rd_transpose(x);
    PyErr_Format(PyExc_ValueError, "rdim: mT of an array of %d axes; two are wanted", rank);
    return NULL;
}

static PyObject *get_view(PyObject *self, void *closure)
{
    static rd_expr *(*const views[])(rd_expr * x) = { all_reversed, last_two_swapped, rd_real,
                                                      rd_imag };
    rdpy_home *const home                         = rdpy_home_for(1, &self);
    rd_expr *const   x                            = home ? rdpy_node(home, self) : NULL;

    if (!home)
        return NULL;
    return rdpy_made(home, x ? views[(uintptr_t)closure](x) : NULL, 1, &self);
}

Py_ssize_t rdpy_length(PyObject *self)
{
    const rd_shape shape = shape_of(self);

    if (shape.n < 0)
        return -1;
    if (shape.n == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
        return -1;
    }
    return (Py_ssize_t)shape.at[0];
}

PyGetSetDef rdpy_properties[] = { { "shape", get_shape, NULL, "extents, a tuple of ints", NULL },
                                  { "ndim", get_ndim, NULL, "number of axes", NULL },
                                  { "size", get_size, NULL, "number of elements", NULL },
                                  { "dtype", get_dtype, NULL, "type of elements", NULL },
                                  { "is_sparse", get_is_sparse, NULL,
                                    "whether a pattern says where elements are", NULL },
                                  { "itemsize", get_itemsize, NULL, "bytes of an element", NULL },
                                  { "nbytes", get_nbytes, NULL, "bytes of all elements", NULL },
                                  { "T", get_view, NULL, "all axes reversed", (void *)0 },
                                  { "mT", get_view, NULL, "the last two axes swapped", (void *)1 },
                                  { "real", get_view, NULL, "the real parts", (void *)2 },
                                  { "imag", get_view, NULL, "the imaginary parts", (void *)3 },
                                  { NULL, NULL, NULL, NULL, NULL } };
