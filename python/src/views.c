/* views.c - indexing by numbers, slices, None and ... */
#include "core.h"

/* One part of a key, before anything is built: Python's conversions may run anything. */
typedef enum part_kind { PART_INDEX, PART_SLICE, PART_NEW, PART_REST } part_kind;
typedef struct part {
    part_kind kind;
    int64_t   index, start, stop, step; /* RD_OPEN: none given */
} part;
enum { MOST_PARTS = 2 * RD_MAX_RANK + 1 };

static int bound(PyObject *slice, const char *name, int64_t absent, int64_t *value)
{
    PyObject *const o      = PyObject_GetAttrString(slice, name);
    int             failed = o ? 0 : -1;

    *value = absent;
    if (o && o != Py_None) {
        PyObject *const index    = PyNumber_Index(o);
        int             overflow = 0;

        *value = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;
        /* As Python: bounds beyond the axis are cut to it.  RD_OPEN is none of them. */
        if (overflow || *value == RD_OPEN)
            *value = overflow > 0 ? INT64_MAX : -INT64_MAX;
        failed = index ? 0 : -1;
        Py_XDECREF(index);
    }
    Py_XDECREF(o);
    return failed;
}

/* Arrays and bools of NumPy say that they are indices, too. */
static bool is_number(PyObject *o)
{
    if (PyLong_Check(o))
        return !PyBool_Check(o);
    return PyIndex_Check(o) && !rdpy_is_array(o) && !PySequence_Check(o) && !rdpy_is_numpy_bool(o);
}

/* As NumPy: what no index can be is outside. */
static int take_index(PyObject *o, int64_t *index)
{
    if (rdpy_int64(o, index) == 0)
        return 0;
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_IndexError, "rdim: the index %R is outside of every array", o);
    }
    return -1;
}

/* 1: a part; 0: an index array or a mask, which indexing.py takes; -1 with an exception. */
static int take_part(PyObject *o, part *p)
{
    *p = (part){ .step = 1 };
    if (PySlice_Check(o)) {
        p->kind = PART_SLICE;
        return bound(o, "start", RD_OPEN, &p->start) < 0 ||
                       bound(o, "stop", RD_OPEN, &p->stop) < 0 || bound(o, "step", 1, &p->step) < 0
                   ? -1
                   : 1;
    }
    if (o == Py_None || o == Py_Ellipsis) {
        p->kind = o == Py_None ? PART_NEW : PART_REST;
        return 1;
    }
    if (!is_number(o))
        return 0;
    return take_index(o, &p->index) < 0 ? -1 : 1;
}

static int take_parts(PyObject *key, part *parts, int *n)
{
    const bool       tuple = PyTuple_Check(key);
    const Py_ssize_t most  = tuple ? PyTuple_Size(key) : 1;

    if (most > MOST_PARTS) {
        PyErr_Format(PyExc_IndexError, "rdim: %zd indices, an array has at most %d axes", most,
                     RD_MAX_RANK);
        return -1;
    }
    for (*n = 0; *n < most; ++*n) {
        const int taken = take_part(tuple ? PyTuple_GetItem(key, *n) : key, &parts[*n]);

        if (taken <= 0)
            return taken;
    }
    return 1;
}

static int axes_taken(const part *parts, int n)
{
    int taken = 0;

    for (int k = 0; k < n; k++)
        taken += parts[k].kind == PART_INDEX || parts[k].kind == PART_SLICE;
    return taken;
}

static rd_expr *indexed(rd_expr *x, const part *parts, int n)
{
    const int rank = rd_shape_of(x).n, rest = rank - axes_taken(parts, n);
    int       axis = 0;
    bool      open = true;

    if (rest < 0) {
        PyErr_Format(PyExc_IndexError, "rdim: %d indices for an array of %d axes",
                     axes_taken(parts, n), rank);
        return NULL;
    }
    for (int k = 0; x && k < n; k++)
        switch (parts[k].kind) {
        case PART_INDEX: x = rd_select(x, axis, parts[k].index); break;
        case PART_SLICE:
            if (parts[k].start != RD_OPEN || parts[k].stop != RD_OPEN || parts[k].step != 1)
                x = rd_slice_axis(x, axis, parts[k].start, parts[k].stop, parts[k].step);
            axis++;
            break;
        case PART_NEW: x = rd_expand(x, axis++); break;
        case PART_REST:
            if (!open) {
                PyErr_SetString(PyExc_IndexError, "rdim: an index has \"...\" twice");
                return NULL;
            }
            open = false;
            axis += rest;
        }
    return x;
}

/* Index arrays and masks: rdim._indexing. */
static PyObject *indexed_by_arrays(PyObject *self, PyObject *key)
{
    PyObject *const module = PyImport_ImportModule("rdim._indexing");
    PyObject *const made = module ? PyObject_CallMethod(module, "getitem", "OO", self, key) : NULL;

    Py_XDECREF(module);
    return made;
}

PyObject *rdpy_getitem(PyObject *self, PyObject *key)
{
    part      parts[MOST_PARTS];
    int       n;
    const int basic = take_parts(key, parts, &n);

    if (basic <= 0)
        return basic < 0 ? NULL : indexed_by_arrays(self, key);
    rdpy_home *const home = rdpy_home_for(1, &self);

    return home ? rdpy_made(home, indexed(rdpy_node(home, self), parts, n), 1, &self) : NULL;
}
