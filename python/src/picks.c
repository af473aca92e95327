/* picks.c - what a mask picks and what is unique: how much that is only the data say, so these evaluate
 * at once. */
#include "core.h"

typedef struct picking {
    rd_expr *x[2];
    int      axis;
    rd_array out[3];
} picking;

/* A result of unknown extent, of one or two operands. */
static int pick(int n, PyObject *const *given, rdpy_work *work, picking *p, rdpy_home **home)
{
    PyObject *operand[2] = { NULL, NULL }, *held = NULL;
    int       k = 0, failed = -1;

    while (k < n && (operand[k] = rdpy_operand_or_error(given[k])))
        k++;
    *home = k == n ? rdpy_my_home() : NULL;
    if (*home) {
        for (k = 0; k < n; k++)
            p->x[k] = rdpy_node(*home, operand[k]);
        /* Another thread may assign to an operand while it is read. */
        if (!PyErr_Occurred() && rdpy_take_owners(*home, n, operand, &held) == 0)
            failed = rdpy_run(*home, work, p);
    }
    Py_XDECREF(held);
    Py_XDECREF(operand[0]);
    Py_XDECREF(operand[1]);
    return failed;
}

static PyObject *picked(int n, PyObject *const *given, int axis, rdpy_work *work)
{
    picking    p = { .axis = axis };
    rdpy_home *home;

    return pick(n, given, work, &p, &home) < 0 ? NULL : rdpy_own_memory(home, &p.out[0]);
}

static rd_status pick_nonzero(rd_ctx *ctx, void *of)
{
    picking *const p = of;
    rd_status      status;

    Py_BEGIN_ALLOW_THREADS status = rd_nonzero(ctx, p->x[0], &p->out[0]);
    Py_END_ALLOW_THREADS return status;
}

static rd_status pick_elements(rd_ctx *ctx, void *of)
{
    picking *const p = of;
    rd_status      status;

    Py_BEGIN_ALLOW_THREADS status = rd_compress(ctx, p->x[0], p->x[1], &p->out[0]);
    Py_END_ALLOW_THREADS return status;
}

static rd_status pick_along(rd_ctx *ctx, void *of)
{
    picking *const p = of;
    rd_status      status;

    Py_BEGIN_ALLOW_THREADS status = rd_compress_axis(ctx, p->x[0], p->axis, p->x[1], &p->out[0]);
    Py_END_ALLOW_THREADS return status;
}

static rd_status pick_unique(rd_ctx *ctx, void *of)
{
    picking *const p = of;
    rd_status      status;

    Py_BEGIN_ALLOW_THREADS status = rd_unique(ctx, p->x[0], &p->out[0], &p->out[1], &p->out[2]);
    Py_END_ALLOW_THREADS return status;
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
    if (axis != (int32_t)axis)
        return PyErr_Format(rdpy_axis_error(),
                            "rdim.compress(): axis is %R, which is out of bounds", axis_given);
    return picked(2, given, (int)axis, axis_given == Py_None ? pick_elements : pick_along);
}

/* unique(x): values, counts and inverse */
static PyObject *unique(PyObject *self, PyObject *given)
{
    picking    p       = { .axis = 0 };
    PyObject  *made[3] = { NULL, NULL, NULL }, *all = NULL;
    rdpy_home *home;

    (void)self;
    if (pick(1, &given, pick_unique, &p, &home) < 0)
        return NULL;
    for (int k = 0; k < 3; k++)
        made[k] = rdpy_own_memory(home, &p.out[k]);
    if (made[0] && made[1] && made[2])
        all = PyTuple_Pack(3, made[0], made[1], made[2]);
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
