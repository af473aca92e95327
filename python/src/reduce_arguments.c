/* reduce_arguments.c - NumPy's arguments of reductions and scans, as operands and the library's keywords. */
#include "reduce.h"
#include <string.h>

const char *const rdpy_reduce_names[ARGUMENTS] = { "x",       "axis",     "dtype",      "out",
                                                   "ddof",    "keepdims", "initial",    "where",
                                                   "weights", "skipna",   "correction", "by",
                                                   "groups",  "accuracy", "p",          "exclusive",
                                                   "reverse", "restart",  "mean" };

/* ---- Operands --------------------------------------------------------------------------------- */
static int take_operand(rdpy_folding *f, int k, PyObject *given)
{
    f->operand[k] = given && given != Py_None ? rdpy_operand_or_error(given) : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

static int take_labels(rdpy_folding *f, PyObject *by)
{
    if (!by || by == Py_None)
        return 0;
    if (!PyTuple_Check(by) && !PyList_Check(by)) {
        f->n_label = 1;
        return take_operand(f, OF_LABELS, by);
    }
    const Py_ssize_t n = PySequence_Size(by);

    if (n < 1 || n > OPERANDS - OF_LABELS) {
        PyErr_Format(PyExc_ValueError, "rdim.%s(): by= has %zd labels, 1 to %d are possible",
                     f->row->name, n, OPERANDS - OF_LABELS);
        return -1;
    }
    for (; f->n_label < n; f->n_label++) {
        PyObject *const item   = PySequence_GetItem(by, f->n_label);
        const int       failed = item ? take_operand(f, OF_LABELS + f->n_label, item) : -1;

        Py_XDECREF(item);
        if (failed)
            return -1;
    }
    return 0;
}

/* NumPy's var and std take a mean that is known already. */
static int take_mean(rdpy_folding *f, PyObject *given)
{
    const char *const reducer = f->row->reducer;

    if (!given || given == Py_None)
        return 0;
    if (reducer && (strcmp(reducer, "var") == 0 || strcmp(reducer, "std") == 0))
        return take_operand(f, OF_ABOUT, given);
    PyErr_Format(PyExc_TypeError, "rdim.%s() has no keyword 'mean'", f->row->name);
    return -1;
}

static int take_operands(rdpy_folding *f, PyObject *const *given)
{
    f->operand[OF_X] = rdpy_operand_or_error(given[X]); /* None is no array */
    return !f->operand[OF_X] || take_operand(f, OF_WHERE, given[WHERE]) < 0 ||
                   take_operand(f, OF_INITIAL, given[INITIAL]) < 0 ||
                   take_operand(f, OF_WEIGHTS, given[WEIGHTS]) < 0 ||
                   take_operand(f, OF_RESTART, given[RESTART]) < 0 ||
                   take_mean(f, given[ABOUT]) < 0 || take_labels(f, given[BY]) < 0
               ? -1
               : 0;
}

/* ---- Keywords --------------------------------------------------------------------------------- */
static int flag(PyObject *o, bool *value)
{
    const int truth = o && o != Py_None ? PyObject_IsTrue(o) : 0;

    *value |= truth > 0;
    return truth < 0 ? -1 : 0;
}

static int number(PyObject *o, double *value)
{
    if (o && o != Py_None)
        *value = PyFloat_AsDouble(o);
    return PyErr_Occurred() ? -1 : 0;
}

static int take_accuracy(PyObject *o, rd_accuracy *accuracy)
{
    static const char *const name[] = { "pairwise", "compensated", "wide", "serial" };

    if (!o || o == Py_None)
        return 0;
    for (int k = 0; PyUnicode_Check(o) && k < 4; k++)
        if (PyUnicode_CompareWithASCIIString(o, name[k]) == 0) {
            *accuracy = (rd_accuracy)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError,
                 "accuracy is %R, possible are pairwise, compensated, wide and serial", o);
    return -1;
}

static int take_keywords(rdpy_folding *f, PyObject *const *given)
{
    rd_reduce_opts *opts = &f->opts;
    bool            keep = false;

    if (given[DDOF] && given[CORRECTION]) {
        PyErr_SetString(PyExc_ValueError, "ddof and correction can't be provided simultaneously.");
        return -1;
    }
    *opts          = (rd_reduce_opts){ .size = sizeof *opts };
    opts->skip_nan = f->row->skips;
    if (flag(given[KEEPDIMS], &keep) < 0 || rdpy_dims(given[AXIS], keep, &opts->dims) < 0 ||
        rdpy_dtype_of(given[DTYPE], &opts->type) < 0 || flag(given[SKIPNA], &opts->skip_nan) < 0 ||
        number(given[DDOF], &opts->ddof) < 0 || number(given[CORRECTION], &opts->ddof) < 0 ||
        number(given[P], &opts->p) < 0 || take_accuracy(given[ACCURACY], &opts->accuracy) < 0 ||
        flag(given[EXCLUSIVE], &opts->exclusive) < 0 || flag(given[REVERSE], &opts->reverse) < 0)
        return -1;
    return given[GROUPS] && given[GROUPS] != Py_None ? rdpy_ints(given[GROUPS], &opts->groups) : 0;
}

static bool is_mean(const char *reducer)
{
    return strcmp(reducer, "mean") == 0 || strcmp(reducer, "var") == 0 ||
           strcmp(reducer, "std") == 0;
}

/* NumPy's means of what is not NaN are no ints. */
static int see_type(const rdpy_folding *f)
{
    const char *const reducer = f->row->reducer;
    const rdpy_array *x       = (rdpy_array *)f->operand[OF_X];

    if (!f->row->skips || f->opts.type == RD_AUTO || f->opts.type >= RD_F16 ||
        !rdpy_is_array((PyObject *)x) || rd_type_of(x->x) < RD_F16 || !is_mean(reducer))
        return 0;
    PyErr_Format(PyExc_TypeError, "rdim.%s(): of %S the result is none of %S", f->row->name,
                 rdpy_dtype_object(rd_type_of(x->x)), rdpy_dtype_object(f->opts.type));
    return -1;
}

int rdpy_take_folding(rdpy_folding *f, PyObject *const *given)
{
    return take_operands(f, given) < 0 || take_keywords(f, given) < 0 ? -1 : see_type(f);
}
