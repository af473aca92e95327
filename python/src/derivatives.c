/* derivatives.c - gradients and directional derivatives: operands in a tuple, results in a list. */
#include "core.h"

/* Operand 0 is y and 1 the seed, which may be NULL; behind them stand what y is differentiated by and the
 * directions. */
enum { Y, SEED, FIRST };
typedef struct derivative {
    PyObject **operand;
    rd_expr  **node;
    rd_expr   *one; /* of a call with one result */
    int        n_x, n_t, n;
} derivative;

typedef rd_exprs deriving(derivative *d);

static rd_exprs operands_of(const derivative *d)
{
    return (rd_exprs){ d->node + FIRST, d->n_x };
}

static rd_exprs directions_of(const derivative *d)
{
    return (rd_exprs){ d->node + FIRST + d->n_x, d->n_t };
}

static rd_exprs gradients(derivative *d)
{
    return rd_grad(d->node[Y], operands_of(d), .seed = d->node[SEED]);
}

static rd_exprs along(derivative *d)
{
    d->one = rd_jvp(d->node[Y], operands_of(d), directions_of(d));
    return (rd_exprs){ &d->one, 1 };
}

static rd_exprs of_gradients(derivative *d)
{
    return rd_hvp(d->node[Y], operands_of(d), directions_of(d));
}

/* ---- Operands ---------------------------------------------------------------------------------- */
static int take(derivative *d, int k, PyObject *given)
{
    if (given != Py_None || k != SEED)
        d->operand[k] = rdpy_operand_or_error(given);
    return d->operand[k] || (given == Py_None && k == SEED) ? 0 : -1;
}

/* -1 with an exception */
static int take_operands(derivative *d, PyObject *y, PyObject *seed, PyObject *x, PyObject *t)
{
    d->n_x     = (int)PyTuple_Size(x);
    d->n_t     = t ? (int)PyTuple_Size(t) : 0;
    d->n       = FIRST + d->n_x + d->n_t;
    d->operand = PyMem_Calloc((size_t)d->n, sizeof(PyObject *));
    d->node    = PyMem_Calloc((size_t)d->n, sizeof *d->node);
    if (!d->operand || !d->node) {
        PyErr_NoMemory();
        return -1;
    }
    if (take(d, Y, y) < 0 || take(d, SEED, seed) < 0)
        return -1;
    for (int k = 0; k < d->n_x; k++)
        if (take(d, FIRST + k, PyTuple_GetItem(x, k)) < 0)
            return -1;
    for (int k = 0; k < d->n_t; k++)
        if (take(d, FIRST + d->n_x + k, PyTuple_GetItem(t, k)) < 0)
            return -1;
    return 0;
}

static void drop_operands(derivative *d)
{
    for (int k = 0; d->operand && k < d->n; k++)
        Py_XDECREF(d->operand[k]);
    PyMem_Free(d->operand);
    PyMem_Free(d->node);
}

/* ---- Results ----------------------------------------------------------------------------------- */
/* A list of handles, which Python code does not see before all of them are there. */
static PyObject *handles_of(rdpy_home *home, rd_exprs made, const derivative *d)
{
    PyObject *held = NULL, *all = rdpy_take_owners(home, d->n, d->operand, &held) == 0
                                      ? PyList_New(made.n)
                                      : NULL;

    for (int k = 0; all && k < made.n; k++) {
        PyObject *const one = rdpy_made_holding(home, made.at[k], Py_XNewRef(held));

        if (!one || PyList_SetItem(all, k, one) < 0)
            Py_CLEAR(all);
    }
    Py_XDECREF(held);
    return all;
}

static PyObject *build_in(rdpy_home *home, derivative *d, deriving *derive)
{
    rd_exprs made = { NULL, 0 };

    for (int k = 0; k < d->n; k++)
        d->node[k] = rdpy_node(home, d->operand[k]);
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        made = derive(d);
    if (PyErr_Occurred()) {
        rd_error_clear(home->ctx);
        return NULL;
    }
    return rd_error(home->ctx) == RD_OK ? handles_of(home, made, d) : rdpy_raise(home->ctx);
}

static PyObject *derived(PyObject *y, PyObject *seed, PyObject *x, PyObject *t, deriving *derive)
{
    derivative d    = { 0 };
    PyObject  *made = NULL;

    if (take_operands(&d, y, seed, x, t) == 0) {
        const int        collects = rdpy_stop_collecting(); /* see rdpy_new() */
        rdpy_home *const home     = rdpy_home_for(d.n, d.operand);

        made = home ? build_in(home, &d, derive) : NULL;
        if (home)
            rdpy_forget_owners(home);
        if (home && home->pinned)
            rdpy_home_drop(home); /* the results have references of their own */
        rdpy_go_on_collecting(collects);
    }
    drop_operands(&d);
    return made;
}

/* ---- Calls ------------------------------------------------------------------------------------- */
static PyObject *grad(PyObject *self, PyObject *args)
{
    PyObject *y, *x, *seed;

    (void)self;
    return PyArg_ParseTuple(args, "OO!O:_grad", &y, &PyTuple_Type, &x, &seed)
               ? derived(y, seed, x, NULL, gradients)
               : NULL;
}

static PyObject *directional(PyObject *args, deriving *derive)
{
    PyObject *y, *x, *t;

    return PyArg_ParseTuple(args, "OO!O!:_jvp", &y, &PyTuple_Type, &x, &PyTuple_Type, &t)
               ? derived(y, Py_None, x, t, derive)
               : NULL;
}

static PyObject *jvp(PyObject *self, PyObject *args)
{
    (void)self;
    return directional(args, along);
}

static PyObject *hvp(PyObject *self, PyObject *args)
{
    (void)self;
    return directional(args, of_gradients);
}

PyMethodDef rdpy_derivative_functions[] = {
    { "_grad", grad, METH_VARARGS, "_grad(y, x, seed): a list of gradients; x is a tuple" },
    { "_jvp", jvp, METH_VARARGS, "_jvp(y, x, t): a list of one array; x and t are tuples" },
    { "_hvp", hvp, METH_VARARGS, "_hvp(y, x, v): a list of arrays; x and v are tuples" },
    { NULL, NULL, 0, NULL }
};
