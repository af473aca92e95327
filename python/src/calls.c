/* calls.c - functions of the library with the arguments of NumPy: a row each in calls.def.
 *
 * A signature is read once, when the module is made.  A call converts its arguments as the signature says,
 * which may run Python, and then makes nodes, which may not. */
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parameter {
    const char *names; /* of one parameter, with `|` between, up to ':' */
    char        kind;
    bool        optional, has_default, by_place;
    int         list; /* of `s`: which one */
    double      fallback;
} parameter;

typedef enum how { FUNCTION, METHOD, SPREAD } how;
typedef struct row {
    const char *name, *signature;
    how         method;
    rd_expr *(*build)(rdpy_call *A);
    int       n, n_places;
    parameter at[MOST_PARAMETERS];
} row;

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

static row rows[] = {
#define CALL(name, method, signature, call) \
    { #name, signature, method, build_##name, 0, 0, { { 0 } } },
#include "calls.def"
#undef CALL
};

/* ---- Signatures ------------------------------------------------------------------------------- */
static const char *read_parameter(const char *at, parameter *p, int *lists)
{
    *p          = (parameter){ .names = at };
    at          = strchr(at, ':') + 1;
    p->kind     = *at++;
    p->list     = p->kind == 's' ? (*lists)++ : 0;
    p->optional = *at == '?';
    at += p->optional;
    p->has_default = *at == '=';
    if (p->has_default) {
        char *end;

        p->fallback = strtod(at + 1, &end);
        at          = end;
    }
    return at;
}

static void read_signature(row *r)
{
    int  lists    = 0;
    bool by_place = true;

    for (const char *at = r->signature; *at; at += *at == ' ') {
        if (*at == '*') {
            by_place = false;
            at++;
            continue;
        }
        at                     = read_parameter(at, &r->at[r->n], &lists);
        r->at[r->n++].by_place = by_place;
        r->n_places += by_place;
    }
}

/* "name($module, a, axis=None)": what help() and inspect.signature() show.  It stays for good. */
static const char *text_of(const row *r, bool method)
{
    enum { MOST_TEXT = 512 };
    char *const text = PyMem_Malloc(MOST_TEXT);
    int  at   = text ? snprintf(text, MOST_TEXT, "%s($%s", r->name, method ? "self" : "module") : 0;
    bool star = false;

    for (int k = method; text && k < r->n && at < MOST_TEXT; k++) {
        const parameter *const p = &r->at[k];

        at += snprintf(text + at, (size_t)(MOST_TEXT - at), "%s, %.*s%s",
                       p->by_place || star ? "" : ", *", (int)strcspn(p->names, "|:"), p->names,
                       p->optional || p->has_default ? "=None" : "");
        star |= !p->by_place;
    }
    if (!text || at + 32 > MOST_TEXT)
        return text ? r->signature : NULL;
    snprintf(text + at, (size_t)(MOST_TEXT - at), ")\n--\n\n");
    return text;
}

/* ---- Places of arguments ---------------------------------------------------------------------- */
static bool has_name(const parameter *p, const char *name, size_t length)
{
    for (const char *at = p->names; *at != ':'; at += *at == '|') {
        const size_t n = strcspn(at, "|:");

        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static int place_keyword(const row *r, PyObject *keyword, PyObject *value, PyObject **given)
{
    Py_ssize_t        length;
    const char *const name = PyUnicode_AsUTF8AndSize(keyword, &length);
    int               k    = 0;

    if (!name)
        return -1;
    while (k < r->n && !has_name(&r->at[k], name, (size_t)length))
        k++;
    if (k < r->n && !given[k]) {
        given[k] = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 k == r->n ? "rdim.%s() has no keyword %R" : "rdim.%s(): %R is given twice",
                 r->name, keyword);
    return -1;
}

static int place_all(const row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *keywords,
                     PyObject **given)
{
    const Py_ssize_t n_keywords = keywords ? PyTuple_Size(keywords) : 0;

    if (n_args > r->n_places) {
        PyErr_Format(PyExc_TypeError, "rdim.%s() takes at most %d arguments by place, %zd given",
                     r->name, r->n_places, n_args);
        return -1;
    }
    for (Py_ssize_t k = 0; k < r->n; k++)
        given[k] = k < n_args ? args[k] : NULL;
    for (Py_ssize_t k = 0; k < n_keywords; k++)
        if (place_keyword(r, PyTuple_GetItem(keywords, k), args[n_args + k], given) < 0)
            return -1;
    return 0;
}

/* The first name, for sentences: PyErr_Format() does not know "%.*s". */
enum { MOST_NAME = 32 };
static const char *name_of(const parameter *p, char name[MOST_NAME])
{
    snprintf(name, MOST_NAME, "%.*s", (int)strcspn(p->names, "|:"), p->names);
    return name;
}

/* ---- Values of arguments ---------------------------------------------------------------------- */
/* Operands by argument, then those of the list. */
enum { FEW_OPERANDS = 16, MOST_OPERANDS = 1 << 16 };
typedef struct operands {
    PyObject **at, *few[MOST_PARAMETERS + FEW_OPERANDS];
    int        n_list;
} operands;

static int take_operand(PyObject **place, PyObject *given)
{
    *place = rdpy_operand_or_error(given);
    return *place ? 0 : -1;
}

static int make_room(operands *o, Py_ssize_t n)
{
    if (n <= FEW_OPERANDS)
        return 0;
    PyObject **const room = PyMem_Calloc(MOST_PARAMETERS + (size_t)n, sizeof *room);

    if (!room) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(room, o->few, MOST_PARAMETERS * sizeof *room);
    o->at = room;
    return 0;
}

static int take_items(operands *o, PyObject *list)
{
    const Py_ssize_t n = PyList_Size(list);

    if (n > MOST_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "rdim: %zd arrays in one call, at most %d are possible", n,
                     MOST_OPERANDS);
        return -1;
    }
    if (make_room(o, n) < 0)
        return -1;
    for (; o->n_list < n; o->n_list++)
        if (take_operand(&o->at[MOST_PARAMETERS + o->n_list], PyList_GetItem(list, o->n_list)) < 0)
            return -1;
    return 0;
}

/* The list is a copy: what Python code does to the caller's meanwhile does not matter. */
static int take_list(operands *o, PyObject *given)
{
    PyObject *const list   = PySequence_List(given);
    const int       failed = list ? take_items(o, list) : -1;

    Py_XDECREF(list);
    return failed;
}

/* One label is a list of one. */
static int take_labels(operands *o, PyObject *given)
{
    if (PyTuple_Check(given) || PyList_Check(given))
        return take_list(o, given);
    o->n_list = 1;
    return take_operand(&o->at[MOST_PARAMETERS], given);
}

static int take_qs(rdpy_call *A, PyObject *given)
{
    const bool       list = PyTuple_Check(given) || PyList_Check(given);
    const Py_ssize_t n    = list ? PySequence_Size(given) : 1;

    if (n > MOST_QS) {
        PyErr_Format(PyExc_ValueError,
                     "rdim.%s(): %zd quantiles, at most %d are possible in one call", A->name, n,
                     MOST_QS);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *const item = list ? PySequence_GetItem(given, k) : Py_NewRef(given);

        A->qs[k] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return -1;
    }
    A->q     = (rd_qs){ A->qs, (int32_t)n };
    A->one_q = !list;
    return 0;
}

static int take_text(rdpy_call *A, const row *r, PyObject *given)
{
    if (!PyUnicode_Check(given)) {
        PyErr_Format(PyExc_TypeError, "rdim.%s() wants a word, %R is none", r->name, given);
        return -1;
    }
    A->text = PyUnicode_AsUTF8AndSize(given, NULL);
    return A->text ? 0 : -1;
}

static int take_device(const row *r, PyObject *given)
{
    PyObject *const text = PyObject_Str(given);
    const bool      cpu  = text && PyUnicode_CompareWithASCIIString(text, "cpu") == 0;

    Py_XDECREF(text);
    if (text && !cpu)
        PyErr_Format(PyExc_ValueError, "rdim.%s(): device %R; arrays are made on \"cpu\" alone",
                     r->name, given);
    return cpu ? 0 : -1;
}

static int take_truth(rdpy_call *A, int k, PyObject *given)
{
    const int truth = PyObject_IsTrue(given);

    A->i[k] = truth;
    return truth < 0 ? -1 : 0;
}

static int take_number(rdpy_call *A, int k, PyObject *given)
{
    A->f[k] = PyFloat_AsDouble(given);
    return PyErr_Occurred() ? -1 : 0;
}

/* The library's axes are of 32 bits: what they do not hold must not become another axis. */
static int take_narrow(rdpy_call *A, const row *r, int k, PyObject *given)
{
    const bool axis = strncmp(r->at[k].names, "axis", 4) == 0;
    char       name[MOST_NAME];

    if (rdpy_int64(given, &A->i[k]) < 0)
        return -1;
    if (A->i[k] == (int32_t)A->i[k])
        return 0;
    PyErr_Format(axis ? rdpy_axis_error() : PyExc_OverflowError,
                 "rdim.%s(): %s is %R, which is out of bounds", r->name, name_of(&r->at[k], name),
                 given);
    return -1;
}

/* A diagonal may lie beyond any matrix. */
static int take_edge(rdpy_call *A, int k, PyObject *given)
{
    const int64_t   most   = INT64_C(1) << 62;
    int             beyond = 0;
    PyObject *const number = PyNumber_Index(given);

    A->i[k] = number ? PyLong_AsLongLongAndOverflow(number, &beyond) : 0;
    Py_XDECREF(number);
    if (beyond > 0 || A->i[k] > most)
        A->i[k] = most;
    if (beyond < 0 || A->i[k] < -most)
        A->i[k] = -most;
    return PyErr_Occurred() ? -1 : 0;
}

static int take_value(rdpy_call *A, const row *r, operands *o, int k, PyObject *given)
{
    switch (r->at[k].kind) {
    case 'x': return take_operand(&o->at[k], given);
    case 'l': return take_list(o, given);
    case 'L': return take_labels(o, given);
    case 'i': return rdpy_int64(given, &A->i[k]);
    case 'h': return take_narrow(A, r, k, given);
    case 'e': return take_edge(A, k, given);
    case 'b': return take_truth(A, k, given);
    case 'f': return take_number(A, k, given);
    case 'd': return rdpy_dims(given, false, &A->d);
    case 's': return rdpy_ints(given, &A->s[r->at[k].list]);
    case 't': return rdpy_dtype_of(given, &A->t);
    case 'n': return take_text(A, r, given);
    case 'q': return take_qs(A, given);
    case 'c': return take_device(r, given);
    default: return 0;
    }
}

static void take_default(rdpy_call *A, const parameter *p, int k)
{
    A->i[k] = (int64_t)p->fallback;
    A->f[k] = p->fallback;
    if (p->kind == 'd')
        A->d = RD_DIMS((int32_t)p->fallback);
    if (p->kind == 's')
        A->s[p->list] = RD_INDEX((int64_t)p->fallback);
}

static int take_all(rdpy_call *A, const row *r, operands *o, PyObject *const *given)
{
    for (int k = 0; k < r->n; k++) {
        const parameter *const p = &r->at[k];
        const bool none = !given[k] || (given[k] == Py_None && (p->optional || p->has_default));

        A->x[k]     = NULL;
        A->given[k] = !none || (!given[k] && p->has_default);
        if (!none && take_value(A, r, o, k, given[k]) < 0)
            return -1;
        if (none && A->given[k])
            take_default(A, p, k);
        else if (none && p->kind == 'd')
            A->d = RD_ALL;
        else if (none && !p->optional) {
            char name[MOST_NAME];

            PyErr_Format(PyExc_TypeError, "rdim.%s(): argument \"%s\" is missing", r->name,
                         name_of(p, name));
            return -1;
        }
    }
    return 0;
}

/* ---- Calls ------------------------------------------------------------------------------------ */
static PyObject *build(rdpy_call *A, const row *r, operands *o)
{
    const int        n    = MOST_PARAMETERS + o->n_list;
    rdpy_home *const home = rdpy_home_for(n, o->at);
    rd_expr         *few[FEW_OPERANDS], **list = few, *x = NULL;

    if (home && o->n_list > FEW_OPERANDS)
        list = PyMem_Calloc((size_t)o->n_list, sizeof *list);
    if (!home || !list)
        return home ? PyErr_NoMemory() : NULL;
    A->ctx = home->ctx;
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
static PyObject *into_output(const row *r, PyObject *const *given, PyObject *made)
{
    for (int k = 0; made && k < r->n; k++)
        if (r->at[k].kind == 'o' && given[k] && given[k] != Py_None) {
            const int failed = rdpy_evaluate_into(made, given[k]);

            Py_DECREF(made);
            return failed ? NULL : Py_NewRef(given[k]);
        }
    return made;
}

static PyObject *call_row(const row *r, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *keywords)
{
    PyObject *given[MOST_PARAMETERS] = { NULL }, *made = NULL;
    rdpy_call A;
    operands  o;

    if (place_all(r, args, n_args, keywords, given) < 0)
        return NULL;
    A.name = r->name;
    A.t    = RD_AUTO;
    A.text = NULL;
    memset(o.few, 0, sizeof o.few);
    o.at     = o.few;
    o.n_list = 0;
    for (int k = 0; k < MOST_LISTS; k++)
        A.s[k] = (rd_ints){ 0 };
    if (take_all(&A, r, &o, given) == 0)
        made = build(&A, r, &o);
    for (int k = 0; k < MOST_PARAMETERS + FEW_OPERANDS || k < MOST_PARAMETERS + o.n_list; k++)
        Py_XDECREF(o.at[k]);
    if (o.at != o.few)
        PyMem_Free(o.at);
    return into_output(r, given, made);
}

/* self is the row */
static PyObject *call_function(PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                               PyObject *keywords)
{
    return call_row(&rows[PyLong_AsLong(self)], args, n_args, keywords);
}

/* ---- Methods ---------------------------------------------------------------------------------- */
enum { MOST_ARGUMENTS = MOST_PARAMETERS + RD_MAX_RANK };

/* x.reshape(2, -1) is x.reshape((2, -1)). */
static PyObject *call_spread(const row *r, PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                             PyObject *keywords)
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
    functions[k].ml_doc    = text_of(&rows[k], false);
    methods[k].ml_doc      = text_of(&rows[k], true);
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
        read_signature(&rows[k]);
        if (add_row(module, k) < 0)
            return -1;
    }
    return 0;
}
