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

/* ---- All statements ---------------------------------------------------------------------------- */
enum { MOST_STATEMENTS = 1024 };

static PyObject *result_of(rdpy_home *home, const rd_named *result, PyObject *held)
{
    PyObject *const made = rdpy_made_holding(home, result->x, Py_XNewRef(held));

    return made ? Py_BuildValue("sN", result->name, made) : NULL;
}

/* A statement that adds to a name of no statement before it has nobody to add to. */
static bool all_are_whole(const rd_named *result, int n)
{
    for (int k = 0; k < n; k++)
        if (result[k].add) {
            PyErr_Format(PyExc_ValueError,
                         "rdim.formulas: \"%s += ...\" adds to a name that no statement has set",
                         result[k].name);
            return false;
        }
    return true;
}

static PyObject *results_of(rdpy_home *home, const rd_named *result, int n, formula *f)
{
    PyObject *held = NULL;
    PyObject *all =
        all_are_whole(result, n) && rdpy_take_owners(home, (int)f->n, f->operand, &held) == 0
            ? PyList_New(n)
            : NULL;

    /* No list that Python code sees before all are handles: the first ones' allocation could drop the rest. */
    for (int k = 0; all && k < n; k++) {
        PyObject *const one = result_of(home, &result[k], held);

        if (!one || PyList_SetItem(all, k, one) < 0)
            Py_CLEAR(all);
    }
    Py_XDECREF(held);
    return all;
}

static PyObject *build_formulas(formula *f, const char *text)
{
    const int        collects = rdpy_stop_collecting(); /* see rdpy_new() */
    rdpy_home *const home     = rdpy_home_for((int)f->n, f->operand);
    rd_named *const  room     = PyMem_Calloc(MOST_STATEMENTS + (size_t)f->n, sizeof *room);
    rd_formula_opts  opts     = { .size = sizeof opts, .n_in = (int)f->n, .in = room };
    PyObject        *all      = NULL;
    int              n        = 0;

    for (Py_ssize_t k = 0; home && room && k < f->n; k++)
        room[k] = (rd_named){ .name = f->name[k].name, .x = rdpy_node(home, f->operand[k]) };
    if (home && room && !PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        n = rd_formula_all(home->ctx, text, &opts, MOST_STATEMENTS, room + f->n);
    if (n > 0)
        all = results_of(home, room + f->n, n, f);
    else if (home)
        rdpy_raise(home->ctx);
    if (home)
        rdpy_forget_owners(home);
    if (home && home->pinned)
        rdpy_home_drop(home);
    PyMem_Free(room);
    rdpy_go_on_collecting(collects);
    return all;
}

/* ---- Calls ------------------------------------------------------------------------------------- */
static PyObject *of_text(PyObject *args, PyObject *(*build)(formula *f, const char *text))
{
    formula     f = { 0 };
    const char *text;
    PyObject   *names, *items, *made = NULL;

    if (!PyArg_ParseTuple(args, "sO!:formula", &text, &PyDict_Type, &names) ||
        !(items = PyDict_Items(names)))
        return NULL;
    if (take_names(&f, items) == 0)
        made = build(&f, text);
    while (f.n > 0)
        Py_DECREF(f.operand[--f.n]);
    PyMem_Free(f.operand);
    PyMem_Free(f.name);
    Py_DECREF(items);
    return made;
}

/* formula(text, names): names is a dict of operands */
static PyObject *formula_of(PyObject *self, PyObject *args)
{
    (void)self;
    return of_text(args, build_formula);
}

/* formulas(text, names): a list of names and Arrays */
static PyObject *formulas_of(PyObject *self, PyObject *args)
{
    (void)self;
    return of_text(args, build_formulas);
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
    const rd_mark    before = home ? rd_ctx_mark(home->ctx) : (rd_mark){ 0 }; /* of texts */
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
        rd_ctx_release(home->ctx, before);
    }
    if (home)
        rdpy_forget_owners(home);
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
    { "formulas", formulas_of, METH_VARARGS, "formulas(text, names): names and Arrays" },
    { "explain", explain, METH_VARARGS,
      "explain($module, /, *arrays)\n--\n\n"
      "How arrays would be evaluated together, as text: passes over memory, their costs and what they read." },
    { "explain_svg", explain_svg, METH_VARARGS,
      "explain_svg($module, /, *arrays)\n--\n\nWhat explain() says, as a picture: the text of an SVG file." },
    { "graphviz", graphviz, METH_VARARGS,
      "graphviz($module, /, *arrays)\n--\n\nThe expressions as a graph: the text of a file for Graphviz." },
    { NULL, NULL, 0, NULL }
};
