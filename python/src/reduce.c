/* reduce.c - reductions and scans: a row each in reductions.def. */
#include "reduce.h"
#include <stdio.h>

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
enum { FUNCTION, METHOD };

static const rdpy_reduction reductions[] = {
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

static rd_expr *reduced(const rdpy_reduction *row, rd_expr *x, rd_reduce_opts *opts)
{
    if (row->function)
        return row->function(x, opts);
    return row->scan ? scanned(x, row->reducer, opts) : rd_reduce_name(x, row->reducer, opts);
}

static PyObject *build(rdpy_folding *f)
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
    home->call = f->row->name;
    if (PyErr_Occurred() || rd_error(home->ctx) != RD_OK)
        x = NULL;
    else if (f->operand[OF_ABOUT])
        x = rdpy_about_mean(home->ctx, f, x, rdpy_node(home, f->operand[OF_ABOUT]));
    else
        x = reduced(f->row, x, &f->opts);
    return rdpy_made(home, x, OPERANDS, f->operand);
}

static PyObject *reduce_given(const rdpy_reduction *row, PyObject **given)
{
    rdpy_folding f    = { .row = row };
    PyObject    *made = NULL;

    if (rdpy_take_folding(&f, given) == 0)
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
static PyObject *reduce_all(const rdpy_reduction *row, PyObject *x)
{
    rd_reduce_opts   opts = { .size = sizeof opts, .dims = RD_ALL, .skip_nan = row->skips };
    rdpy_home *const home = rdpy_home_for(1, &x);
    rd_expr         *y;

    if (!home)
        return NULL;
    home->call = row->name;
    y          = reduced(row, rdpy_node(home, x), &opts);
    return rdpy_made(home, y, 1, &x);
}

static PyObject *call_row(const rdpy_reduction *row, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *keywords)
{
    const rdpy_names names = { .call     = row->name,
                               .n        = ARGUMENTS,
                               .name     = rdpy_reduce_names,
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
static const char *text_of(const rdpy_reduction *row, bool method)
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
                       rdpy_reduce_names[row->places.at[k]]);
        placed[row->places.at[k]] = true;
    }
    at += snprintf(text + at, (size_t)(MOST_TEXT - at), ", *");
    for (int k = 1; k < ARGUMENTS; k++)
        if (!placed[k])
            at += snprintf(text + at, (size_t)(MOST_TEXT - at), ", %s=None", rdpy_reduce_names[k]);
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
