/* sparse.c - sparse matrices over index arrays of others, and sparse results as rows of memory. */
#include "core.h"
#include <string.h>

/* ---- In ---------------------------------------------------------------------------------------- */
typedef rd_expr *of_matrix(rd_ctx *ctx, const rd_matrix_opts *opts);

static const struct format {
    const char   *name;
    of_matrix    *make;
    rd_level_kind kind[2];
    int           axis[2];
} formats[] = {
    { "csr", rd_csr_of, { RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED }, { 0, 1 } },
    { "csc", rd_csc_of, { RD_LEVEL_DENSE, RD_LEVEL_COMPRESSED }, { 1, 0 } },
    { "coo", rd_coo_of, { RD_LEVEL_COORDINATES, RD_LEVEL_COORDINATES }, { 0, 1 } },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *format_of(const char *name)
{
    for (int k = 0; k < FORMATS; k++)
        if (strcmp(formats[k].name, name) == 0)
            return &formats[k];
    PyErr_Format(PyExc_ValueError, "rdim.sparse: format is \"%s\", possible are csr, csc and coo",
                 name);
    return NULL;
}

/* pos, crd, values, fill; the last one may be NULL */
enum { POS, CRD, VALUES, FILL, PARTS };

static PyObject *build(const struct format *format, PyObject *const *operand, rd_matrix_opts *opts)
{
    rdpy_home *const home = rdpy_pinned_home();
    rd_expr         *x    = NULL;

    if (!home)
        return NULL;
    opts->pos    = rdpy_node(home, operand[POS]);
    opts->crd    = rdpy_node(home, operand[CRD]);
    opts->values = rdpy_node(home, operand[VALUES]);
    opts->fill   = rdpy_node(home, operand[FILL]);
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        x = format->make(home->ctx, opts);
    return rdpy_made(home, x, PARTS, operand);
}

/* matrix(format, shape, pos, crd, values, fill, stored, trusted): fill None is 0 */
static PyObject *matrix(PyObject *self, PyObject *args)
{
    const char          *name;
    const struct format *format;
    PyObject            *shape, *given[PARTS], *operand[PARTS] = { NULL }, *made = NULL;
    int                  stored, trusted, k = 0;
    rd_matrix_opts       opts = { .size = sizeof opts };

    (void)self;
    if (!PyArg_ParseTuple(args, "sOOOOOpp:matrix", &name, &shape, &given[POS], &given[CRD],
                          &given[VALUES], &given[FILL], &stored, &trusted) ||
        !(format = format_of(name)) || rdpy_ints(shape, &opts.shape) < 0)
        return NULL;
    opts.stored  = stored;
    opts.trusted = trusted;
    while (k < PARTS && (given[k] == Py_None || (operand[k] = rdpy_operand_or_error(given[k]))))
        k++;
    if (k == PARTS)
        made = build(format, operand, &opts);
    for (k = 0; k < PARTS; k++)
        Py_XDECREF(operand[k]);
    return made;
}

/* ---- Out --------------------------------------------------------------------------------------- */
typedef struct storing {
    rd_expr        *x;
    rd_sparse_array out;
} storing;

static rd_status evaluate(rd_ctx *ctx, void *of)
{
    storing *const s = of;
    rd_status      status;

    Py_BEGIN_ALLOW_THREADS status = rd_eval_sparse(ctx, s->x, &s->out);
    Py_END_ALLOW_THREADS return status;
}

static void want(const struct format *format, rd_sparse_array *out)
{
    out->n_level = 2;
    for (int k = 0; k < 2; k++) {
        out->level[k].kind = format->kind[k];
        out->level[k].axis = format->axis[k];
    }
}

/* Takes the memory over. */
static PyObject *row_of(rdpy_home *home, rd_indices *indices)
{
    rd_array row = { .data = indices->data, .type = indices->type, .owner = indices->owner };

    row.shape = RD_SHAPE(indices->n);
    *indices  = (rd_indices){ 0 };
    return row.data || row.owner ? rdpy_own_memory(home, &row) : Py_NewRef(Py_None);
}

/* An array that owns nothing, as a fill of no memory, is an Array all the same. */
static PyObject *array_of(rdpy_home *home, rd_array *array)
{
    rd_array taken = *array;

    *array = (rd_array){ 0 };
    return taken.data ? rdpy_own_memory(home, &taken) : Py_NewRef(Py_None);
}

static PyObject *parts_of(rdpy_home *home, rd_sparse_array *out)
{
    PyObject *const all = PyTuple_New(4);

    if (all) {
        const bool coordinates = out->level[0].kind == RD_LEVEL_COORDINATES;

        PyTuple_SetItem(all, 0,
                        row_of(home, coordinates ? &out->level[0].crd : &out->level[1].pos));
        PyTuple_SetItem(all, 1, row_of(home, &out->level[1].crd));
        PyTuple_SetItem(all, 2, array_of(home, &out->values));
        PyTuple_SetItem(all, 3, array_of(home, &out->fill));
    }
    rd_sparse_array_free(out);
    if (PyErr_Occurred()) {
        Py_XDECREF(all);
        return NULL;
    }
    return all;
}

/* stored_parts(array, format): pos (of coo the rows), crd, values and fill, evaluated */
static PyObject *stored_parts(PyObject *self, PyObject *args)
{
    PyObject            *array;
    const char          *name;
    const struct format *format;
    storing              s    = { 0 };
    PyObject            *held = NULL; /* also if it is replaced */
    int                  failed;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!s:stored_parts", rdpy_array_type, &array, &name) ||
        !(format = format_of(name)))
        return NULL;
    rdpy_home *const home = rdpy_my_home();

    if (!home || !(s.x = rdpy_node_here(home, array, &held)))
        return NULL;
    want(format, &s.out);
    failed = rdpy_run(home, evaluate, &s);
    Py_XDECREF(held);
    return failed ? NULL : parts_of(home, &s.out);
}

PyMethodDef rdpy_sparse_functions[] = {
    { "matrix", matrix, METH_VARARGS,
      "matrix(format, shape, pos, crd, values, fill, stored, trusted)" },
    { "stored_parts", stored_parts, METH_VARARGS,
      "stored_parts(array, format): pos, crd, values, fill" },
    { NULL, NULL, 0, NULL }
};
