/* calls.c - functions of the library with the arguments of NumPy: a row each in calls.def.
 *
 * A call converts its arguments as its signature says (signatures.c, call_arguments.c), which may run Python,
 * and then makes nodes, which may not. */
#include "calls.h"
#include <string.h>

/* ---- What rows compute ------------------------------------------------------------------------ */
#define X(k)     (A->x[k])
#define I(k)     (A->i[k])
#define F(k)     (A->f[k])
#define GIVEN(k) (A->given[k])
#define CALL(name, method, signature, call)    \
    static rd_expr *build_##name(rdpy_call *A) \
    {                                          \
        return call;                           \
    }
#include "calls.def"
#undef CALL

enum {
#define CALL(name, method, signature, call) ROW_##name,
#include "calls.def"
#undef CALL
    ROWS
};

static rdpy_row rows[] = {
#define CALL(name, method, signature, call) \
    { #name, signature, method, build_##name, 0, 0, { { 0 } } },
#include "calls.def"
#undef CALL
};

/* ---- Calls ------------------------------------------------------------------------------------ */
static PyObject *build(rdpy_call *A, const rdpy_row *r, rdpy_operands *o)
{
    const int        n    = MOST_PARAMETERS + o->n_list;
    rdpy_home *const home = rdpy_home_for(n, o->at);
    rd_expr         *few[FEW_OPERANDS], **list = few, *x = NULL;

    if (home && o->n_list > FEW_OPERANDS)
        list = PyMem_Calloc((size_t)o->n_list, sizeof *list);
    if (!home || !list)
        return home ? PyErr_NoMemory() : NULL;
    A->ctx     = home->ctx;
    home->call = r->name;
    for (int k = 0; k < r->n; k++)
        A->x[k] = rdpy_node(home, o->at[k]);
    for (int k = 0; k < o->n_list; k++)
        list[k] = rdpy_node(home, o->at[MOST_PARAMETERS + k]);
    A->list = (rd_exprs){ list, o->n_list };
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        x = r->build(A);
    A->list = (rd_exprs){ NULL, 0 };
    if (list != few)
        PyMem_Free(list);
    return rdpy_made(home, x, n, o->at);
}

/* Evaluates into the argument out=, if it is given, and returns that; else returns `made`. */
static PyObject *into_output(const rdpy_row *r, PyObject *const *given, PyObject *made)
{
    for (int k = 0; made && k < r->n; k++)
        if (r->at[k].kind == 'o' && given[k] && given[k] != Py_None) {
            const int failed = rdpy_evaluate_into(made, given[k]);

            Py_DECREF(made);
            return failed ? NULL : Py_NewRef(given[k]);
        }
    return made;
}

/* NumPy's clip takes an int of Python that is beyond all values of x's type where it changes none of them. */
static int drop_bounds(rdpy_operands *o)
{
    for (int k = 1; k <= 2; k++) {
        PyObject *const both[2] = { o->at[0], o->at[k] };
        int             number, side = o->at[k] ? rdpy_beyond(both, &number) : 0;

        if (side != 0 && side != (k == 1 ? -1 : 1)) {
            PyErr_Format(PyExc_OverflowError,
                         "rdim.clip: the Python int %R is beyond all values of the array's type",
                         o->at[k]);
            return -1;
        }
        if (side)
            Py_CLEAR(o->at[k]);
    }
    return 0;
}

static PyObject *call_row(const rdpy_row *r, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *keywords)
{
    PyObject     *given[MOST_PARAMETERS] = { NULL }, *made = NULL;
    rdpy_call     A;
    rdpy_operands o;

    if (rdpy_place_all(r, args, n_args, keywords, given) < 0)
        return NULL;
    A.name = r->name;
    A.t    = RD_AUTO;
    A.text = NULL;
    memset(o.few, 0, sizeof o.few);
    o.at     = o.few;
    o.n_list = 0;
    for (int k = 0; k < MOST_LISTS; k++)
        A.s[k] = (rd_ints){ 0 };
    if (rdpy_take_all(&A, r, &o, given) == 0 && (r != &rows[ROW_clip] || drop_bounds(&o) == 0))
        made = build(&A, r, &o);
    for (int k = 0; k < MOST_PARAMETERS + FEW_OPERANDS || k < MOST_PARAMETERS + o.n_list; k++)
        Py_XDECREF(o.at[k]);
    if (o.at != o.few)
        PyMem_Free(o.at);
    return into_output(r, given, made);
}

/* where(condition) is nonzero(condition), which evaluates. */
static PyObject *where_alone(PyObject *condition)
{
    PyObject *const module = PyImport_ImportModule("rdim._sorting");
    PyObject *const found  = module ? PyObject_CallMethod(module, "nonzero", "O", condition) : NULL;

    Py_XDECREF(module);
    return found;
}

/* self is the row */
static PyObject *call_function(PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                               PyObject *keywords)
{
    const long row = PyLong_AsLong(self);

    if (row == ROW_where && n_args == 1 && !keywords)
        return where_alone(args[0]);
    return call_row(&rows[row], args, n_args, keywords);
}

/* ---- Methods ---------------------------------------------------------------------------------- */
enum { MOST_ARGUMENTS = MOST_PARAMETERS + RD_MAX_RANK };

/* x.reshape(2, -1) is x.reshape((2, -1)). */
static PyObject *call_spread(const rdpy_row *r, PyObject *self, PyObject *const *args,
                             Py_ssize_t n_args, PyObject *keywords)
{
    const Py_ssize_t n_keywords          = keywords ? PyTuple_Size(keywords) : 0;
    PyObject *const  list                = PyTuple_New(n_args);
    PyObject        *all[MOST_ARGUMENTS] = { self, list }, *made;

    for (Py_ssize_t k = 0; list && k < n_args; k++)
        PyTuple_SetItem(list, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; k < n_keywords; k++)
        all[2 + k] = args[n_args + k];
    made = list ? call_row(r, all, 2, keywords) : NULL;
    Py_XDECREF(list);
    return made;
}

static PyObject *call_method(int k, PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *keywords)
{
    const Py_ssize_t n_all = n_args + (keywords ? PyTuple_Size(keywords) : 0);
    PyObject        *all[MOST_ARGUMENTS];

    if (n_all >= MOST_PARAMETERS + RD_MAX_RANK - 1) {
        PyErr_Format(PyExc_TypeError, "rdim.%s(): %zd arguments are too many", rows[k].name, n_all);
        return NULL;
    }
    if (rows[k].method == SPREAD && n_args > 0 && (n_args > 1 || PyIndex_Check(args[0])))
        return call_spread(&rows[k], self, args, n_args, keywords);
    all[0] = self;
    for (Py_ssize_t i = 0; i < n_all; i++)
        all[i + 1] = args[i];
    return call_row(&rows[k], all, n_args + 1, keywords);
}

#define CALL(name, method, signature, call)                                                  \
    static PyObject *method_##name(PyObject *self, PyObject *const *args, Py_ssize_t n_args, \
                                   PyObject *keywords)                                       \
    {                                                                                        \
        return call_method(ROW_##name, self, args, n_args, keywords);                        \
    }
#include "calls.def"
#undef CALL

static PyMethodDef functions[ROWS], methods[ROWS] = {
#define CALL(name, method, signature, call) \
    { #name, (PyCFunction)(void (*)(void))method_##name, METH_FASTCALL | METH_KEYWORDS, NULL },
#include "calls.def"
#undef CALL
};

static int add_row(PyObject *module, int k)
{
    functions[k]           = methods[k];
    functions[k].ml_meth   = (PyCFunction)(void (*)(void))call_function;
    functions[k].ml_doc    = rdpy_doc(rows[k].name, rows[k].signature, false);
    methods[k].ml_doc      = rdpy_doc(rows[k].name, rows[k].signature, true);
    PyObject *const number = PyLong_FromLong(k);
    PyObject *const made   = number ? PyCFunction_NewEx(&functions[k], number, NULL) : NULL;
    const int       failed = made ? PyModule_AddObjectRef(module, rows[k].name, made) : -1;

    Py_XDECREF(number);
    Py_XDECREF(made);
    return failed || rows[k].method == FUNCTION ? failed : rdpy_add_method(&methods[k]);
}

int rdpy_calls_init(PyObject *module)
{
    for (int k = 0; k < ROWS; k++) {
        rows[k].n = rdpy_read_signature(rows[k].signature, MOST_PARAMETERS, rows[k].at);
        for (int i = 0; i < rows[k].n; i++)
            rows[k].n_places += rows[k].at[i].by_place;
        if (add_row(module, k) < 0)
            return -1;
        rows[k].name +=
            rows[k].name[0] == '_'; /* sentences speak of the function in Python that calls it */
    }
    return 0;
}
