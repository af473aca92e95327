/* reduce.c - reductions and scans: a row each in reductions.def. */
#include "reduce.h"
#include <string.h>

/* ---- Rows ------------------------------------------------------------------------------------- */
enum { MOST_PLACES = 8 };

/* clang-format off */
enum {
#define SIGNATURE(name, text) name##_SIGNATURE,
#define REDUCTION(name, reducer, skips, signature, method)
#define CHOICE(name, function, skips, signature)
#define SCAN(name, reducer, skips, signature, method)
#include "reductions.def"
#undef SIGNATURE
    SIGNATURES
};
static struct signature {
    const char *text;
    int         n, at[MOST_PLACES]; /* arguments that go by place */
    uint32_t    takes;              /* a bit for each argument    */
} signatures[SIGNATURES] = {
#define SIGNATURE(name, text) { text, 0, { 0 }, 0 },
#include "reductions.def"
#undef SIGNATURE
#undef REDUCTION
#undef CHOICE
#undef SCAN
};
/* clang-format on */
#define SIGNATURE(name, text)
enum { FUNCTION, METHOD };

static const rdpy_reduction reductions[] = {
#define REDUCTION(name, reducer, skips, signature, method) \
    { #name, reducer, NULL, skips, false, method, signature##_SIGNATURE },
#define CHOICE(name, function, skips, signature) \
    { #name, NULL, function, skips, false, FUNCTION, signature##_SIGNATURE },
#define SCAN(name, reducer, skips, signature, method) \
    { #name, reducer, NULL, skips, true, method, signature##_SIGNATURE },
#include "reductions.def"
#undef REDUCTION
#undef CHOICE
#undef SCAN
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };
enum {
#define REDUCTION(name, reducer, skips, signature, method) ROW_##name,
#define CHOICE(name, function, skips, signature)           ROW_##name,
#define SCAN(name, reducer, skips, signature, method)      ROW_##name,
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
    f->opts.weights = rdpy_along(f->row->name, "weights", x,
                                 rdpy_node(home, f->operand[OF_WEIGHTS]), f->opts.dims);
    f->opts.restart = rdpy_node(home, f->operand[OF_RESTART]);
    for (int k = 0; k < f->n_label; k++)
        f->label[k] = rdpy_along(f->row->name, "labels", x,
                                 rdpy_node(home, f->operand[OF_LABELS + k]), f->opts.dims);
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

    if (rdpy_take_folding(&f, given) == 0 && rdpy_has_groups(row->name, f.n_label, f.opts.groups))
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
    const struct signature *const s     = &signatures[row->signature];
    const rdpy_names              names = { .call     = row->name,
                                            .n        = ARGUMENTS,
                                            .name     = rdpy_reduce_names,
                                            .takes    = s->takes,
                                            .n_places = s->n,
                                            .place    = s->at };
    PyObject                     *given[ARGUMENTS];

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
#define CHOICE(name, function, skips, signature)           ROW(name)
#define SCAN(name, reducer, skips, signature, method)      ROW(name)
#include "reductions.def"
#undef ROW

static PyMethodDef functions[REDUCTIONS], methods[REDUCTIONS] = {
#define ROW(name) \
    { #name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL | METH_KEYWORDS, NULL },
#include "reductions.def"
#undef ROW
#undef SIGNATURE
#undef REDUCTION
#undef CHOICE
#undef SCAN
};

static int argument_of(const rdpy_parameter *p)
{
    int k = 0;

    while (k < ARGUMENTS - 1 &&
           !rdpy_is_name(p, rdpy_reduce_names[k], strlen(rdpy_reduce_names[k])))
        k++;
    return k;
}

static void read_signature(struct signature *s)
{
    rdpy_parameter at[ARGUMENTS];
    const int      n = rdpy_read_signature(s->text, ARGUMENTS, at);

    for (int k = 0; k < n; k++) {
        const int argument = argument_of(&at[k]);

        s->takes |= UINT32_C(1) << argument;
        if (at[k].by_place)
            s->at[s->n++] = argument;
    }
}

static int add_row(PyObject *module, int k)
{
    const rdpy_reduction *const row  = &reductions[k];
    const char *const           text = signatures[row->signature].text;

    functions[k]           = methods[k];
    functions[k].ml_meth   = (PyCFunction)(void (*)(void))call_reduction;
    functions[k].ml_doc    = rdpy_doc(row->name, text, false);
    methods[k].ml_doc      = rdpy_doc(row->name, text, true);
    PyObject *const number = PyLong_FromLong(k);
    PyObject *const made   = number ? PyCFunction_NewEx(&functions[k], number, NULL) : NULL;
    const int       failed = made ? PyModule_AddObjectRef(module, row->name, made) : -1;

    Py_XDECREF(number);
    Py_XDECREF(made);
    return failed || !row->method ? failed : rdpy_add_method(&methods[k]);
}

int rdpy_reductions_init(PyObject *module)
{
    for (int k = 0; k < SIGNATURES; k++)
        read_signature(&signatures[k]);
    for (int k = 0; k < REDUCTIONS; k++)
        if (add_row(module, k) < 0)
            return -1;
    return 0;
}
