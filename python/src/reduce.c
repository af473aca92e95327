/* reduce.c - reductions and scans: NumPy's arguments as the library's keywords. */
#include "core.h"
#include <stdio.h>
#include <string.h>

/* All that may be given; which ones go by place, and in which order, says the signature. */
enum {
    X,
    AXIS,
    DTYPE,
    OUT,
    DDOF,
    KEEPDIMS,
    INITIAL,
    WHERE,
    WEIGHTS,
    SKIPNA,
    CORRECTION,
    BY,
    GROUPS,
    ACCURACY,
    P,
    EXCLUSIVE,
    REVERSE,
    RESTART,
    ARGUMENTS
};
static const char *const argument_names[ARGUMENTS] = {
    "x",       "axis",     "dtype",   "out",       "ddof",       "keepdims",
    "initial", "where",    "weights", "skipna",    "correction", "by",
    "groups",  "accuracy", "p",       "exclusive", "reverse",    "restart"
};
enum { MOST_PLACES = 8 };
typedef struct signature {
    int n, at[MOST_PLACES];
} signature;

#define SUM                                               \
    {                                                     \
        7,                                                \
        {                                                 \
            X, AXIS, DTYPE, OUT, KEEPDIMS, INITIAL, WHERE \
        }                                                 \
    }
#define MIN                                        \
    {                                              \
        6,                                         \
        {                                          \
            X, AXIS, OUT, KEEPDIMS, INITIAL, WHERE \
        }                                          \
    }
#define MEAN                                     \
    {                                            \
        6,                                       \
        {                                        \
            X, AXIS, DTYPE, OUT, KEEPDIMS, WHERE \
        }                                        \
    }
#define VAR                                            \
    {                                                  \
        7,                                             \
        {                                              \
            X, AXIS, DTYPE, OUT, DDOF, KEEPDIMS, WHERE \
        }                                              \
    }
#define ANY                               \
    {                                     \
        5,                                \
        {                                 \
            X, AXIS, OUT, KEEPDIMS, WHERE \
        }                                 \
    }
#define ARG                        \
    {                              \
        4,                         \
        {                          \
            X, AXIS, OUT, KEEPDIMS \
        }                          \
    }
#define COUNT                 \
    {                         \
        3,                    \
        {                     \
            X, AXIS, KEEPDIMS \
        }                     \
    }
#define ALONG                   \
    {                           \
        4,                      \
        {                       \
            X, AXIS, DTYPE, OUT \
        }                       \
    }
typedef rd_expr *reducing(rd_expr *x, const rd_reduce_opts *opts);
enum { FUNCTION, METHOD };

static const struct reduction {
    const char *name, *reducer;
    reducing   *function; /* in place of a reducer */
    bool        skips, scan, method;
    signature   places;
} reductions[] = {
#define REDUCTION(name, reducer, skips, signature, method) \
    { #name, reducer, NULL, skips, false, method, signature },
#define CHOICE(name, function, skips)      { #name, NULL, function, skips, false, FUNCTION, COUNT },
#define SCAN(name, reducer, skips, method) { #name, reducer, NULL, skips, true, method, ALONG },
#include "reductions.def"
#undef REDUCTION
#undef CHOICE
#undef SCAN
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };
enum {
#define REDUCTION(name, reducer, skips, signature, method) ROW_##name,
#define CHOICE(name, function, skips)                      ROW_##name,
#define SCAN(name, reducer, skips, method)                 ROW_##name,
#include "reductions.def"
#undef REDUCTION
#undef CHOICE
#undef SCAN
};

/* ---- Operands --------------------------------------------------------------------------------- */
/* x, where, initial, weights, restart, then labels; NULL where there is none */
enum { OF_X, OF_WHERE, OF_INITIAL, OF_WEIGHTS, OF_RESTART, OF_LABELS, OPERANDS = OF_LABELS + 8 };
typedef struct folding {
    const struct reduction *row;
    PyObject               *operand[OPERANDS];
    int                     n_label;
    rd_reduce_opts          opts;
    rd_expr                *label[8];
} folding;

static int take_operand(folding *f, int k, PyObject *given)
{
    f->operand[k] = given && given != Py_None ? rdpy_operand_or_error(given) : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

static int take_labels(folding *f, PyObject *by)
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

static int take_operands(folding *f, PyObject *const *given)
{
    f->operand[OF_X] = rdpy_operand_or_error(given[X]); /* None is no array */
    return !f->operand[OF_X] || take_operand(f, OF_WHERE, given[WHERE]) < 0 ||
                   take_operand(f, OF_INITIAL, given[INITIAL]) < 0 ||
                   take_operand(f, OF_WEIGHTS, given[WEIGHTS]) < 0 ||
                   take_operand(f, OF_RESTART, given[RESTART]) < 0 || take_labels(f, given[BY]) < 0
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

static int take_keywords(folding *f, PyObject *const *given)
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

/* ---- Building --------------------------------------------------------------------------------- */
/* A scan of all elements goes through them in C order, as in NumPy. */
static rd_expr *scanned(rd_expr *x, const char *reducer, rd_reduce_opts *opts)
{
    if (opts->dims.flags & RD_DIMS_EXCEPT) {
        x          = rd_shape_of(x).n == 1 ? x : rd_reshape(x, RD_SHAPE(-1));
        opts->dims = RD_DIMS(0);
    }
    return rd_scan_name(x, reducer, opts);
}

static rd_expr *reduced(const struct reduction *row, rd_expr *x, rd_reduce_opts *opts)
{
    if (row->function)
        return row->function(x, opts);
    return row->scan ? scanned(x, row->reducer, opts) : rd_reduce_name(x, row->reducer, opts);
}

static PyObject *build(folding *f)
{
    rdpy_home *const home = rdpy_home_for(OPERANDS, f->operand);
    rd_expr         *x;

    if (!home)
        return NULL;
    x               = rdpy_node(home, f->operand[OF_X]);
    f->opts.where   = rdpy_node(home, f->operand[OF_WHERE]);
    f->opts.initial = rdpy_node(home, f->operand[OF_INITIAL]);
    f->opts.weights = rdpy_node(home, f->operand[OF_WEIGHTS]);
    f->opts.restart = rdpy_node(home, f->operand[OF_RESTART]);
    for (int k = 0; k < f->n_label; k++)
        f->label[k] = rdpy_node(home, f->operand[OF_LABELS + k]);
    f->opts.by = (rd_exprs){ f->n_label ? f->label : NULL, f->n_label };
    x = PyErr_Occurred() || rd_error(home->ctx) != RD_OK ? NULL : reduced(f->row, x, &f->opts);
    return rdpy_made(home, x, OPERANDS, f->operand);
}

static PyObject *reduce_given(const struct reduction *row, PyObject **given)
{
    folding   f    = { .row = row };
    PyObject *made = NULL;

    if (take_operands(&f, given) == 0 && take_keywords(&f, given) == 0)
        made = build(&f);
    for (int k = 0; k < OPERANDS; k++)
        Py_XDECREF(f.operand[k]);
    if (!made || !given[OUT] || given[OUT] == Py_None)
        return made;
    const int failed = rdpy_evaluate_into(made, given[OUT]);

    Py_DECREF(made);
    return failed ? NULL : Py_NewRef(given[OUT]);
}

/* All elements of an array, no keyword: what is asked for most. */
static PyObject *reduce_all(const struct reduction *row, PyObject *x)
{
    rd_reduce_opts   opts = { .size = sizeof opts, .dims = RD_ALL, .skip_nan = row->skips };
    rdpy_home *const home = rdpy_home_for(1, &x);
    rd_expr         *y;

    if (!home)
        return NULL;
    y = reduced(row, rdpy_node(home, x), &opts);
    return rdpy_made(home, y, 1, &x);
}

static PyObject *call_row(const struct reduction *row, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *keywords)
{
    const rdpy_names names = { .call     = row->name,
                               .n        = ARGUMENTS,
                               .name     = argument_names,
                               .n_places = row->places.n,
                               .place    = row->places.at };
    PyObject        *given[ARGUMENTS];

    if (n_args == 1 && !keywords && rdpy_is_array(args[0]))
        return reduce_all(row, args[0]);
    if (rdpy_arguments(&names, args, n_args, keywords, given) < 0)
        return NULL;
    return reduce_given(row, given);
}

/* self is the row */
static PyObject *call_reduction(PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                                PyObject *keywords)
{
    return call_row(&reductions[PyLong_AsLong(self)], args, n_args, keywords);
}

/* ---- Methods ---------------------------------------------------------------------------------- */
static PyObject *call_method(int row, PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *keywords)
{
    const Py_ssize_t n = n_args + (keywords ? PyTuple_Size(keywords) : 0);
    PyObject        *all[2 * ARGUMENTS];

    if (n >= 2 * ARGUMENTS)
        return PyErr_Format(PyExc_TypeError, "rdim.%s(): %zd arguments are too many",
                            reductions[row].name, n);
    all[0] = self;
    for (Py_ssize_t k = 0; k < n; k++)
        all[k + 1] = args[k];
    return call_row(&reductions[row], all, n_args + 1, keywords);
}

#define ROW(name)                                                                            \
    static PyObject *method_##name(PyObject *self, PyObject *const *args, Py_ssize_t n_args, \
                                   PyObject *keywords)                                       \
    {                                                                                        \
        return call_method(ROW_##name, self, args, n_args, keywords);                        \
    }
#define REDUCTION(name, reducer, skips, signature, method) ROW(name)
#define CHOICE(name, function, skips)                      ROW(name)
#define SCAN(name, reducer, skips, method)                 ROW(name)
#include "reductions.def"
#undef ROW

static PyMethodDef functions[REDUCTIONS], methods[REDUCTIONS] = {
#define ROW(name) \
    { #name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL | METH_KEYWORDS, NULL },
#include "reductions.def"
#undef ROW
#undef REDUCTION
#undef CHOICE
#undef SCAN
};

/* The text that help() and inspect.signature() show: positional arguments first, then keywords.  Python keeps the
 * pointer, so the memory is never freed. */
static const char *text_of(const struct reduction *row, bool method)
{
    enum { MOST_TEXT = 512 };
    char *const text              = PyMem_Malloc(MOST_TEXT);
    bool        placed[ARGUMENTS] = { 0 };
    int         at                = 0;

    if (!text)
        return NULL;
    at = snprintf(text, MOST_TEXT, "%s($%s", row->name, method ? "self" : "module, x");
    for (int k = 1; k < row->places.n; k++) {
        at += snprintf(text + at, (size_t)(MOST_TEXT - at), ", %s=None",
                       argument_names[row->places.at[k]]);
        placed[row->places.at[k]] = true;
    }
    at += snprintf(text + at, (size_t)(MOST_TEXT - at), ", *");
    for (int k = 1; k < ARGUMENTS; k++)
        if (!placed[k])
            at += snprintf(text + at, (size_t)(MOST_TEXT - at), ", %s=None", argument_names[k]);
    snprintf(text + at, (size_t)(MOST_TEXT - at), ")\n--\n\n");
    return text;
}

static int add_row(PyObject *module, int k)
{
    functions[k]           = methods[k];
    functions[k].ml_meth   = (PyCFunction)(void (*)(void))call_reduction;
    functions[k].ml_doc    = text_of(&reductions[k], false);
    methods[k].ml_doc      = text_of(&reductions[k], true);
    PyObject *const number = PyLong_FromLong(k);
    PyObject *const made   = number ? PyCFunction_NewEx(&functions[k], number, NULL) : NULL;
    const int       failed = made ? PyModule_AddObjectRef(module, reductions[k].name, made) : -1;

    Py_XDECREF(number);
    Py_XDECREF(made);
    return failed || !reductions[k].method ? failed : rdpy_add_method(&methods[k]);
}

int rdpy_reductions_init(PyObject *module)
{
    for (int k = 0; k < REDUCTIONS; k++)
        if (add_row(module, k) < 0)
            return -1;
    return 0;
}
