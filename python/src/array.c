/* array.c - the type Array: a handle of a node, and what it says of itself without evaluating. */
#include "core.h"
#include <structmember.h>

PyTypeObject *rdpy_array_type;

/* ---- Life ------------------------------------------------------------------------------------- */
/* To allocate may collect cycles, up to Python 3.11, and finalizers of these may build; but x is nobody's
 * yet, and would be dropped.  So collecting waits. */
PyObject *rdpy_new(rdpy_home *home, rd_expr *x, PyObject *held)
{
    const int   collects = PyGC_Disable();
    rdpy_array *a        = x ? PyObject_GC_New(rdpy_array, rdpy_array_type) : NULL;

    if (collects)
        PyGC_Enable();
    if (!a) {
        Py_XDECREF(held);
        return x ? NULL : rdpy_raise(home->ctx);
    }
    a->x    = x;
    a->next = a->prev = NULL;
    a->held           = held;
    a->weak           = NULL;
    rdpy_home_enter(home, a);
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
    rdpy_array *a = (rdpy_array *)self;

    rdpy_home_leave(a);
    a->x = NULL;
    Py_CLEAR(a->held);
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
static PyObject *joined(PyObject *a, PyObject *b)
{
    PyObject *both;

    if (!b || holds(a, b))
        return a;
    if (!a || holds(b, a)) {
        Py_XDECREF(a);
        return Py_NewRef(b);
    }
    both = PyTuple_Pack(2, a, b);
    Py_DECREF(a);
    return both;
}

int rdpy_held_together(int n, PyObject *const *operand, PyObject **held)
{
    *held = NULL;
    for (int k = 0; k < n; k++)
        if (operand[k] && rdpy_is_array(operand[k]) && ((rdpy_array *)operand[k])->held) {
            *held = joined(*held, ((rdpy_array *)operand[k])->held);
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
    a->held = NULL; /* joined() takes it over */
    held    = joined(held, owner);
    a->held = held;
    if (held)
        return made;
    Py_DECREF(made);
    return NULL;
}

/* ---- What it says of itself ------------------------------------------------------------------- */
/* NULL with an exception: a finalizer asks an array that was collected with its cycle. */
static rd_expr *node(PyObject *self)
{
    rd_expr *const x = ((rdpy_array *)self)->x;

    if (!x)
        PyErr_SetString(PyExc_ReferenceError, "rdim: an array of a cycle that was collected");
    return x;
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    const rd_shape shape = rd_shape_of(node(self));
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
    const int rank = rd_shape_of(node(self)).n;

    return rank < 0 ? NULL : PyLong_FromLong(rank);
}

static int64_t size_of(PyObject *self)
{
    const rd_shape shape = rd_shape_of(node(self));
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
    rd_expr *const x = node(self);

    return x ? Py_XNewRef(rdpy_dtype_object(rd_type_of(x))) : NULL;
}

static PyObject *get_is_sparse(PyObject *self, void *closure)
{
    (void)closure;
    rd_expr *const x = node(self);

    return x ? PyBool_FromLong(rd_is_sparse(x)) : NULL;
}

/* -1 with an exception */
static int64_t item_size(PyObject *self)
{
    static const int64_t size[] = {
        [RD_BOOL] = 1, [RD_I8] = 1,  [RD_I16] = 2, [RD_I32] = 4, [RD_I64] = 8,
        [RD_U8] = 1,   [RD_U16] = 2, [RD_U32] = 4, [RD_U64] = 8, [RD_F16] = 2,
        [RD_BF16] = 2, [RD_F32] = 4, [RD_F64] = 8, [RD_C64] = 8, [RD_C128] = 16
    };

    rd_expr *const x = node(self);

    return x ? size[rd_type_of(x)] : -1;
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

static Py_ssize_t array_length(PyObject *self)
{
    const rd_shape shape = rd_shape_of(node(self));

    if (shape.n < 0)
        return -1;
    if (shape.n == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
        return -1;
    }
    return (Py_ssize_t)shape.at[0];
}

static PyGetSetDef properties[] = {
    { "shape", get_shape, NULL, "extents, a tuple of ints", NULL },
    { "ndim", get_ndim, NULL, "number of axes", NULL },
    { "size", get_size, NULL, "number of elements", NULL },
    { "dtype", get_dtype, NULL, "type of elements", NULL },
    { "is_sparse", get_is_sparse, NULL, "whether a pattern says where elements are", NULL },
    { "itemsize", get_itemsize, NULL, "bytes of an element", NULL },
    { "nbytes", get_nbytes, NULL, "bytes of all elements", NULL },
    { "T", get_view, NULL, "all axes reversed", (void *)0 },
    { "mT", get_view, NULL, "the last two axes swapped", (void *)1 },
    { "real", get_view, NULL, "the real parts", (void *)2 },
    { "imag", get_view, NULL, "the imaginary parts", (void *)3 },
    { NULL, NULL, NULL, NULL, NULL }
};

static PyMemberDef members[] = { { "__weaklistoffset__", T_PYSSIZET, offsetof(rdpy_array, weak),
                                   READONLY, NULL },
                                 { NULL, 0, 0, 0, NULL } };

static PyObject *to_float(PyObject *self)
{
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Float(item) : NULL;

    Py_XDECREF(item);
    return number;
}

static PyObject *to_int(PyObject *self)
{
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Long(item) : NULL;

    Py_XDECREF(item);
    return number;
}

/* Only of ints: a float as an index is a mistake. */
static PyObject *to_index(PyObject *self)
{
    PyObject *item = rdpy_item(self), *number = item ? PyNumber_Index(item) : NULL;

    Py_XDECREF(item);
    return number;
}

static int to_bool(PyObject *self)
{
    PyObject *item  = rdpy_item(self);
    int       truth = item ? PyObject_IsTrue(item) : -1;

    Py_XDECREF(item);
    return truth;
}

/* _replace(array, other): the handle becomes one of other's node, for x[key] = value.  No Python code runs
 * between the two homes. */
static PyObject *replace(PyObject *self, PyObject *args)
{
    rdpy_array *a, *other;
    PyObject   *was;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!O!:_replace", rdpy_array_type, &a, rdpy_array_type, &other))
        return NULL;
    if (a == other)
        Py_RETURN_NONE;
    if (!other->home)
        return PyErr_Format(PyExc_ReferenceError, "rdim: an array of a cycle that was collected");
    was = a->held;
    rdpy_home_leave(a);
    a->x    = other->x;
    a->held = Py_XNewRef(other->held);
    a->next = a->prev = NULL;
    rdpy_home_enter(other->home, a);
    Py_XDECREF(was);
    Py_RETURN_NONE;
}

PyMethodDef rdpy_array_functions[] = { { "_replace", replace, METH_VARARGS, NULL },
                                       { NULL, NULL, 0, NULL } };

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
        { Py_tp_getset, properties },
        { Py_tp_members, members },
        { Py_tp_hash, PyObject_HashNotImplemented },
        { Py_mp_length, array_length },
        { Py_sq_length, array_length },
        { Py_mp_subscript, rdpy_getitem },
        { Py_nb_float, to_float },
        { Py_nb_int, to_int },
        { Py_nb_index, to_index },
        { Py_nb_bool, to_bool },
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
