/* texts.c - formulas, and what the library says of expressions. */
#include "core.h"
#include <string.h>

/* ---- Formulas ---------------------------------------------------------------------------------- */
typedef struct formula {
    Py_ssize_t n;
    PyObject **operand, **key; /* keys are borrowed from the list of items */
    rd_name   *name;
} formula;

static int take_names(formula *f, PyObject *items)
{
    const Py_ssize_t n = PyList_Size(items);

    f->operand = PyMem_Calloc((size_t)n + 1, sizeof(PyObject *));
    f->name    = PyMem_Calloc((size_t)n + 1, sizeof *f->name);
    if (!f->operand || !f->name)
        return PyErr_NoMemory(), -1;
    for (; f->n < n; f->n++) {
        PyObject *const item = PyList_GetItem(items, f->n);

        f->name[f->n].name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(item, 0), NULL);
        f->operand[f->n] =
            f->name[f->n].name ? rdpy_operand_or_error(PyTuple_GetItem(item, 1)) : NULL;
        if (!f->operand[f->n])
            return -1;
    }
    return 0;
}

static PyObject *build_formula(formula *f, const char *text)
{
    rdpy_home *const home = rdpy_home_for((int)f->n, f->operand);
    rd_expr         *x    = NULL;

    if (!home)
        return NULL;
    for (Py_ssize_t k = 0; k < f->n; k++)
        f->name[k].x = rdpy_node(home, f->operand[k]);
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        x = rd_formula(home->ctx, text, (rd_names){ f->name, (int32_t)f->n });
    return rdpy_made(home, x, (int)f->n, f->operand);
}

/* formula(text, names): names is a dict of operands */
static PyObject *formula_of(PyObject *self, PyObject *args)
{
    formula     f = { 0 };
    const char *text;
    PyObject   *names, *items, *made = NULL;

    (void)self;
    if (!PyArg_ParseTuple(args, "sO!:formula", &text, &PyDict_Type, &names) ||
        !(items = PyDict_Items(names)))
        return NULL;
    if (take_names(&f, items) == 0)
        made = build_formula(&f, text);
    while (f.n > 0)
        Py_DECREF(f.operand[--f.n]);
    PyMem_Free(f.operand);
    PyMem_Free(f.name);
    Py_DECREF(items);
    return made;
}

/* ---- What the library says --------------------------------------------------------------------- */
typedef const char *saying(rd_ctx *ctx, rd_results results);

static const char *plan_text(rd_ctx *ctx, rd_results results)
{
    return rd_explain(ctx, results, NULL);
}

static const char *plan_picture(rd_ctx *ctx, rd_results results)
{
    return rd_explain_svg(ctx, results, NULL);
}

/* args: arrays */
static PyObject *said_of(PyObject *args, saying *say)
{
    const Py_ssize_t n      = PyTuple_Size(args);
    rd_result *const result = PyMem_Calloc((size_t)n + 1, sizeof *result);
    rdpy_home *const home   = result ? rdpy_my_home() : NULL;
    PyObject        *text   = NULL;
    bool             ok     = home != NULL;

    for (Py_ssize_t k = 0; ok && k < n; k++) {
        PyObject *const array = PyTuple_GetItem(args, k);

        ok = rdpy_is_array(array);
        if (ok)
            result[k].expr = rdpy_node(home, array);
        else
            PyErr_Format(PyExc_TypeError, "rdim: %R is no Array", (PyObject *)Py_TYPE(array));
    }
    if (ok) {
        const char *const said = say(home->ctx, (rd_results){ result, (int32_t)n });

        text = said ? PyUnicode_FromString(said) : rdpy_raise(home->ctx);
    }
    PyMem_Free(result);
    return text;
}

static PyObject *explain(PyObject *self, PyObject *args)
{
    (void)self;
    return said_of(args, plan_text);
}

static PyObject *explain_svg(PyObject *self, PyObject *args)
{
    (void)self;
    return said_of(args, plan_picture);
}

static PyObject *graphviz(PyObject *self, PyObject *args)
{
    (void)self;
    return said_of(args, rd_graphviz);
}

PyMethodDef rdpy_text_functions[] = {
    { "formula", formula_of, METH_VARARGS, "formula(text, names)" },
    { "explain", explain, METH_VARARGS, "explain(*arrays): how they would be evaluated" },
    { "explain_svg", explain_svg, METH_VARARGS, "explain_svg(*arrays): the same as a picture" },
    { "graphviz", graphviz, METH_VARARGS, "graphviz(*arrays): the expressions as a graph" },
    { NULL, NULL, 0, NULL }
};
