/* reducer.c - reductions and scans by a reducer of the user's, which rdim._reducers has compiled. */
#include "core.h"
#include <string.h>

enum { CODES = 5, FUNCTIONS = 4 };

/* Fills a reducer from a tuple (name, n_out, in, out, state size, commutes, codes, addresses of init, step,
 * merge and finish); the address of merge is 0 where there is none. */
static int addresses_of(PyObject *given, rd_reducer *r)
{
    void *at[FUNCTIONS];

    if (PyTuple_Size(given) != FUNCTIONS) {
        PyErr_Format(PyExc_TypeError, "rdim: a tuple of %d addresses is wanted", FUNCTIONS);
        return -1;
    }
    for (int k = 0; k < FUNCTIONS; k++)
        at[k] = PyLong_AsVoidPtr(PyTuple_GetItem(given, k));
    if (PyErr_Occurred())
        return -1;
    memcpy(&r->init, &at[0], sizeof at[0]);
    memcpy(&r->step, &at[1], sizeof at[1]);
    memcpy(&r->merge, &at[2], sizeof at[2]);
    memcpy(&r->finish, &at[3], sizeof at[3]);
    return 0;
}

static int take_reducer(PyObject *given, rd_reducer *r)
{
    PyObject *in, *out, *codes, *addresses;
    int       commutes;
    long long size;

    *r = (rd_reducer){ .size = sizeof *r };
    if (!PyArg_ParseTuple(given, "siOOLpO!O!:reduce_user", &r->name, &r->n_out, &in, &out, &size,
                          &commutes, &PyTuple_Type, &codes, &PyTuple_Type, &addresses) ||
        rdpy_dtype_of(in, &r->in) < 0 || rdpy_dtype_of(out, &r->out) < 0 ||
        addresses_of(addresses, r) < 0)
        return -1;
    r->state_size = size;
    r->commutes   = commutes;
    for (int k = 0; k < CODES && k < PyTuple_Size(codes); k++)
        if (!(r->code[k] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(codes, k), NULL)))
            return -1;
    return 0;
}

/* x and where, which may be NULL */
static PyObject *build(PyObject *const *operand, const rd_reducer *r, rd_reduce_opts *opts,
                       bool scan)
{
    rdpy_home *const home = rdpy_home_for(2, operand);
    rd_expr         *x, *y = NULL;

    if (!home)
        return NULL;
    x           = rdpy_node(home, operand[0]);
    opts->where = rdpy_node(home, operand[1]);
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        y = scan ? rd_scan_user(x, r, opts) : rd_reduce_user(x, r, opts);
    return rdpy_made(home, y, 2, operand);
}

/* reduce_user(x, where, reducer, axis, keepdims, scan, owner) */
static PyObject *reduce_user(PyObject *self, PyObject *args)
{
    PyObject      *given[2], *operand[2] = { NULL, NULL }, *reducer, *axis, *owner, *made = NULL;
    int            keep, scan;
    rd_reducer     r;
    rd_reduce_opts opts = { .size = sizeof opts };

    (void)self;
    if (!PyArg_ParseTuple(args, "OOO!OppO:reduce_user", &given[0], &given[1], &PyTuple_Type,
                          &reducer, &axis, &keep, &scan, &owner) ||
        rdpy_dims(axis, keep, &opts.dims) < 0 || take_reducer(reducer, &r) < 0)
        return NULL;
    operand[0] = rdpy_operand_or_error(given[0]);
    operand[1] = operand[0] && given[1] != Py_None ? rdpy_operand_or_error(given[1]) : NULL;
    if (!PyErr_Occurred())
        made = rdpy_holding(build(operand, &r, &opts, scan), owner);
    Py_XDECREF(operand[0]);
    Py_XDECREF(operand[1]);
    return made;
}

PyMethodDef rdpy_reducer_functions[] = {
    { "reduce_user", reduce_user, METH_VARARGS,
      "reduce_user(x, where, reducer, axis, keepdims, scan, owner)" },
    { NULL, NULL, 0, NULL }
};
