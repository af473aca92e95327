/* picks.c - what a mask picks and what is unique: how much that is only the data say, so these evaluate
 * at once. */
#include "core.h"

typedef rd_status picking(rd_ctx *ctx, rd_expr *const *x, int axis, rd_array *out);

/* Where an evaluation with a result of unknown extent runs; operands are one or two. */
static PyObject *picked(int n, PyObject *const *given, int axis, picking *pick)
{
    PyObject *operand[2] = { NULL, NULL }, *made = NULL;
    rd_expr  *x[2] = { NULL, NULL };
    rd_array  out  = { 0 };
    rd_status status;
    int       k = 0;

    while (k < n && (operand[k] = rdpy_operand_or_error(given[k])))
        k++;
    rdpy_home *const home = k == n ? rdpy_my_home() : NULL;

    if (home) {
        for (k = 0; k < n; k++)
            x[k] = rdpy_node(home, operand[k]);
        home->busy                 = true;
        PyThreadState *const state = PyEval_SaveThread();

        status = pick(home->ctx, x, axis, &out);
        PyEval_RestoreThread(state);
        home->busy = false;
        made       = status == RD_OK ? rdpy_own_memory(home, &out) : rdpy_raise(home->ctx);
    }
    Py_XDECREF(operand[0]);
    Py_XDECREF(operand[1]);
    return made;
}

static rd_status pick_nonzero(rd_ctx *ctx, rd_expr *const *x, int axis, rd_array *out)
{
    (void)axis;
    return rd_nonzero(ctx, x[0], out);
}

static rd_status pick_elements(rd_ctx *ctx, rd_expr *const *x, int axis, rd_array *out)
{
    (void)axis;
    return rd_compress(ctx, x[0], x[1], out);
}

static rd_status pick_along(rd_ctx *ctx, rd_expr *const *x, int axis, rd_array *out)
{
    return rd_compress_axis(ctx, x[0], axis, x[1], out);
}

static PyObject *nonzero(PyObject *self, PyObject *mask)
{
    (void)self;
    return picked(1, &mask, 0, pick_nonzero);
}

/* compress(x, mask, axis=None) */
static PyObject *compress(PyObject *self, PyObject *args)
{
    PyObject *given[2], *axis_given = Py_None;
    int64_t   axis = 0;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO|O:compress", &given[0], &given[1], &axis_given) ||
        (axis_given != Py_None && rdpy_int64(axis_given, &axis) < 0))
        return NULL;
    return picked(2, given, (int)axis, axis_given == Py_None ? pick_elements : pick_along);
}

/* unique(x): values, counts and inverse */
static PyObject *unique(PyObject *self, PyObject *given)
{
    PyObject *const  operand = rdpy_operand_or_error(given);
    rdpy_home *const home    = operand ? rdpy_my_home() : NULL;
    rd_array         out[3]  = { 0 };
    PyObject        *made[3] = { NULL, NULL, NULL };
    rd_status        status;

    (void)self;
    if (home) {
        rd_expr *const       x     = rdpy_node(home, operand);
        PyThreadState *const state = (home->busy = true, PyEval_SaveThread());

        status = rd_unique(home->ctx, x, &out[0], &out[1], &out[2]);
        PyEval_RestoreThread(state);
        home->busy = false;
        if (status != RD_OK)
            rdpy_raise(home->ctx);
        for (int k = 0; status == RD_OK && k < 3; k++)
            made[k] = rdpy_own_memory(home, &out[k]);
    }
    Py_XDECREF(operand);
    PyObject *const all =
        made[0] && made[1] && made[2] ? PyTuple_Pack(3, made[0], made[1], made[2]) : NULL;

    for (int k = 0; k < 3; k++)
        Py_XDECREF(made[k]);
    return all;
}

PyMethodDef rdpy_pick_functions[] = {
    { "nonzero", nonzero, METH_O, "nonzero(mask): (n, rank) indices" },
    { "compress", compress, METH_VARARGS, "compress(x, mask, axis=None)" },
    { "unique", unique, METH_O, "unique(x): values, counts, inverse" },
    { NULL, NULL, 0, NULL }
};
