/* views.c - indexing and what else rearranges elements. */
#include "core.h"
#include <stdio.h>
#include <string.h>

/* ---- Indexing: numbers, slices, None and ... --------------------------------------------------- */
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

/* ---- Functions of one array and some numbers --------------------------------------------------- */
/* f(x, ints) of a view: made of x and a list of numbers. */
static PyObject *view_of(PyObject *args, const char *format,
                         rd_expr *(*view)(rd_expr *x, const rd_ints *ints))
{
    PyObject *given, *list, *operand, *made = NULL;
    rd_ints   ints;

    if (!PyArg_ParseTuple(args, format, &given, &list) || rdpy_ints(list, &ints) < 0 ||
        !(operand = rdpy_operand_or_error(given)))
        return NULL;
    rdpy_home *const home = rdpy_home_for(1, &operand);

    if (home)
        made = rdpy_made(home, view(rdpy_node(home, operand), &ints), 1, &operand);
    Py_DECREF(operand);
    return made;
}

static rd_expr *reshaped(rd_expr *x, const rd_ints *ints)
{
    return rd_reshape(x, *ints);
}

static rd_expr *permuted(rd_expr *x, const rd_ints *ints)
{
    return rd_permute(x, *ints);
}

static rd_expr *broadcast(rd_expr *x, const rd_ints *ints)
{
    return rd_broadcast(x, *ints);
}

/* Axes in the result, ascending or not, negative ones from its end. */
static rd_expr *expanded(rd_expr *x, const rd_ints *ints)
{
    const int rank  = rd_shape_of(x).n + ints->n;
    uint64_t  isnew = 0;

    for (int k = 0; x && k < ints->n; k++) {
        const int64_t axis = ints->at[k] < 0 ? ints->at[k] + rank : ints->at[k];

        if (axis < 0 || axis >= rank || rank > RD_MAX_RANK || (isnew >> axis & 1)) {
            PyErr_Format(PyExc_IndexError,
                         "rdim.expand_dims: axis %lld of a result of %d axes is outside, or twice",
                         (long long)ints->at[k], rank);
            return NULL;
        }
        isnew |= UINT64_C(1) << axis;
    }
    for (int axis = 0; x && axis < rank; axis++)
        if (isnew >> axis & 1)
            x = rd_expand(x, axis);
    return x;
}

static rd_dims dims_of(const rd_ints *ints)
{
    rd_dims dims = { .n = ints->n };

    for (int k = 0; k < ints->n; k++)
        dims.axis[k] = ints->at[k] == (int32_t)ints->at[k] ? (int32_t)ints->at[k] : INT32_MAX;
    return dims;
}

static rd_expr *squeezed(rd_expr *x, const rd_ints *ints)
{
    return rd_squeeze(x, dims_of(ints));
}

static rd_expr *flipped(rd_expr *x, const rd_ints *ints)
{
    return rd_flip(x, dims_of(ints));
}

#define VIEW(name, function)                              \
    static PyObject *name(PyObject *self, PyObject *args) \
    {                                                     \
        (void)self;                                       \
        return view_of(args, "OO:" #name, function);      \
    }
VIEW(reshape, reshaped)
VIEW(permute_dims, permuted)
VIEW(broadcast_to, broadcast)
VIEW(expand_dims, expanded)
VIEW(squeeze, squeezed)
VIEW(flip, flipped)

/* astype(x, dtype) */
static PyObject *astype(PyObject *self, PyObject *args)
{
    PyObject *given, *type_given, *operand, *made = NULL;
    rd_dtype  type;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO:astype", &given, &type_given) ||
        rdpy_dtype_of(type_given, &type) < 0 || !(operand = rdpy_operand_or_error(given)))
        return NULL;
    rdpy_home *const home = rdpy_home_for(1, &operand);

    if (home)
        made = rdpy_made(home, rd_cast(rdpy_node(home, operand), type), 1, &operand);
    Py_DECREF(operand);
    return made;
}

/* ---- Functions of several arrays --------------------------------------------------------------- */
enum { MOST_PARTS_JOINED = 1 << 16 };

/* Operands of a sequence; NULL with an exception.  The caller frees them by drop_all(). */
static PyObject **operands_of(PyObject *sequence, Py_ssize_t *n)
{
    PyObject **operand;

    *n = PySequence_Size(sequence);
    if (*n < 0 || *n > MOST_PARTS_JOINED)
        return PyErr_Occurred()
                   ? NULL
                   : (PyErr_SetString(PyExc_ValueError, "rdim: too many arrays"), NULL);
    operand = PyMem_Calloc((size_t)*n + 1, sizeof(PyObject *));
    for (Py_ssize_t k = 0; operand && k < *n; k++) {
        PyObject *const item = PySequence_GetItem(sequence, k);

        operand[k] = item ? rdpy_operand_or_error(item) : NULL;
        Py_XDECREF(item);
        if (!operand[k]) {
            while (k > 0)
                Py_DECREF(operand[--k]);
            PyMem_Free(operand);
            return NULL;
        }
    }
    return operand ? operand : (PyObject **)PyErr_NoMemory();
}

static PyObject *of_several(PyObject *sequence, const void *how,
                            rd_expr *(*join)(const void *how, rd_exprs parts))
{
    Py_ssize_t       n;
    PyObject **const operand = operands_of(sequence, &n);
    rd_expr **const  parts   = operand ? PyMem_Calloc((size_t)n + 1, sizeof *parts) : NULL;
    rdpy_home *const home    = parts ? rdpy_home_for((int)n, operand) : NULL;
    PyObject        *made    = NULL;

    for (Py_ssize_t k = 0; home && k < n; k++)
        parts[k] = rdpy_node(home, operand[k]);
    if (home)
        made = rdpy_made(home, join(how, (rd_exprs){ parts, (int32_t)n }), (int)n, operand);
    for (Py_ssize_t k = 0; operand && k < n; k++)
        Py_DECREF(operand[k]);
    PyMem_Free(parts);
    PyMem_Free(operand);
    return made;
}

static rd_expr *concatenated(const void *how, rd_exprs parts)
{
    return rd_concat(*(const int *)how, parts);
}

static rd_expr *stacked(const void *how, rd_exprs parts)
{
    return rd_stack(*(const int *)how, parts);
}

static rd_expr *summed(const void *how, rd_exprs parts)
{
    return rd_einsum_text(how, parts);
}

static PyObject *concat(PyObject *self, PyObject *args)
{
    PyObject *parts;
    int       axis = 0;

    (void)self;
    return PyArg_ParseTuple(args, "O|i:concat", &parts, &axis)
               ? of_several(parts, &axis, concatenated)
               : NULL;
}

static PyObject *stack(PyObject *self, PyObject *args)
{
    PyObject *parts;
    int       axis = 0;

    (void)self;
    return PyArg_ParseTuple(args, "O|i:stack", &parts, &axis) ? of_several(parts, &axis, stacked)
                                                              : NULL;
}

/* einsum(text, sequence) */
static PyObject *einsum(PyObject *self, PyObject *args)
{
    const char *text;
    PyObject   *parts;

    (void)self;
    return PyArg_ParseTuple(args, "sO:einsum", &text, &parts) ? of_several(parts, text, summed)
                                                              : NULL;
}

typedef rd_expr *map_3(rd_expr *x, rd_expr *y, rd_expr *z);

static rd_expr *of_three(const void *how, rd_exprs parts)
{
    map_3 *const function = *(map_3 *const *)how;

    return function(parts.at[0], parts.at[1], parts.at[2]);
}

static PyObject *map_3_of(PyObject *args, map_3 *function)
{
    if (PyTuple_Size(args) == 3)
        return of_several(args, &function, of_three);
    PyErr_Format(PyExc_TypeError, "rdim: three arguments are wanted, %zd given",
                 PyTuple_Size(args));
    return NULL;
}

static PyObject *where(PyObject *self, PyObject *args)
{
    (void)self;
    return map_3_of(args, rd_where);
}

static PyObject *clip(PyObject *self, PyObject *args)
{
    (void)self;
    return map_3_of(args, rd_clip);
}

/* take(x, index, axis), take_along_axis(x, index, axis) */
typedef struct gathering {
    int axis;
    rd_expr *(*gather)(rd_expr *x, int axis, rd_expr *index);
} gathering;

static rd_expr *gathered(const void *how, rd_exprs parts)
{
    const gathering *const g = how;

    return g->gather(parts.at[0], g->axis, parts.at[1]);
}

static PyObject *gather(PyObject *args, gathering how)
{
    PyObject *x, *index, *pair, *made;

    if (!PyArg_ParseTuple(args, "OOi", &x, &index, &how.axis) ||
        !(pair = PyTuple_Pack(2, x, index)))
        return NULL;
    made = of_several(pair, &how, gathered);
    Py_DECREF(pair);
    return made;
}

static PyObject *take(PyObject *self, PyObject *args)
{
    (void)self;
    return gather(args, (gathering){ .gather = rd_take });
}

static PyObject *take_along_axis(PyObject *self, PyObject *args)
{
    (void)self;
    return gather(args, (gathering){ .gather = rd_take_along });
}

PyMethodDef rdpy_view_functions[] = {
    { "reshape", reshape, METH_VARARGS, "reshape(x, shape)" },
    { "permute_dims", permute_dims, METH_VARARGS, "permute_dims(x, axes)" },
    { "broadcast_to", broadcast_to, METH_VARARGS, "broadcast_to(x, shape)" },
    { "expand_dims", expand_dims, METH_VARARGS, "expand_dims(x, axes)" },
    { "squeeze", squeeze, METH_VARARGS, "squeeze(x, axes)" },
    { "flip", flip, METH_VARARGS, "flip(x, axes)" },
    { "astype", astype, METH_VARARGS, "astype(x, dtype)" },
    { "concat", concat, METH_VARARGS, "concat(arrays, axis)" },
    { "stack", stack, METH_VARARGS, "stack(arrays, axis)" },
    { "einsum", einsum, METH_VARARGS, "einsum(text, arrays)" },
    { "where", where, METH_VARARGS, "where(condition, yes, no)" },
    { "clip", clip, METH_VARARGS, "clip(x, low, high)" },
    { "take", take, METH_VARARGS, "take(x, index, axis)" },
    { "take_along_axis", take_along_axis, METH_VARARGS, "take_along_axis(x, index, axis)" },
    { NULL, NULL, 0, NULL }
};
