/* maps.c - functions and operators of elements: a row each in maps.def. */
#include "core.h"
#include <string.h>

typedef rd_expr *map_1(rd_expr *x);
typedef rd_expr *map_2(rd_expr *x, rd_expr *y);

/* NumPy counts bits in 8 bits. */
static rd_expr *bits_set(rd_expr *x)
{
    return rd_cast(rd_popcount(x), RD_U8);
}

static const struct {
    const char *name;
    map_1      *one;
    map_2      *two;
} maps[] = {
#define MAP_1(name, function) { #name, function, NULL },
#define MAP_2(name, function) { #name, NULL, function },
#include "maps.def"
#undef MAP_1
#undef MAP_2
};
enum { MAPS = sizeof maps / sizeof *maps };

/* NumPy's exception where an int is beyond the other operand's type. */
static PyObject *refused(rdpy_home *home, PyObject *number)
{
    PyErr_Format(PyExc_OverflowError, "rdim: the Python int %R is out of bounds: %s", number,
                 rd_error_text(home->ctx));
    rd_error_clear(home->ctx);
    return NULL;
}

/* Builds a map of two operands.  One may be a Python int that the type of the other cannot hold. */
static PyObject *map_of_two(map_2 *two, PyObject **operand)
{
    int              number = 0;
    const int        side   = rdpy_beyond(operand, &number);
    rdpy_home *const home   = rdpy_as_floats(operand) < 0 ? NULL : rdpy_home_for(2, operand);
    rd_expr         *x      = NULL;

    if (!home)
        return NULL;
    if (side)
        x = rdpy_compared_beyond(home, two, operand, number, side);
    if (!x) {
        rd_expr *const a = rdpy_node(home, operand[0]), *const b = rdpy_node(home, operand[1]);

        x = two(a, b);
    }
    if (!x && side && !PyErr_Occurred() && rd_error(home->ctx) == RD_ERR_TYPE && !home->pinned)
        return refused(home, operand[number]);
    return rdpy_made(home, x, 2, operand);
}

static PyObject *map_of_one(map_1 *one, PyObject *const *operand)
{
    rdpy_home *const home = rdpy_home_for(1, operand);

    return home ? rdpy_made(home, one(rdpy_node(home, operand[0])), 1, operand) : NULL;
}

/* A map of operands as given; what is unknown is left to the other one where `reflects`. */
static PyObject *map_of(map_1 *one, map_2 *two, int n, PyObject *const *given, bool reflects)
{
    PyObject *operand[2] = { NULL, NULL }, *made = NULL;
    int       k = 0;

    while (k < n && (operand[k] = rdpy_operand(given[k])) && operand[k] != Py_NotImplemented)
        k++;
    if (k == n) {
        made = one ? map_of_one(one, operand) : map_of_two(two, operand);
    } else if (operand[k]) {
        if (reflects)
            made = Py_NewRef(Py_NotImplemented);
        else
            PyErr_Format(PyExc_TypeError, "rdim: no array can be made of %R",
                         (PyObject *)Py_TYPE(given[k]));
    }
    Py_XDECREF(operand[0]);
    Py_XDECREF(operand[1]);
    return made;
}

/* ---- Functions of the module ------------------------------------------------------------------ */
/* out=, dtype= and where= of NumPy's universal functions: rdim._ufuncs. */
static PyObject *with_keywords(long row, PyObject *const *args, Py_ssize_t n_args,
                               PyObject *keywords)
{
    PyObject *const module = PyImport_ImportModule("rdim._ufuncs");
    PyObject *const places = PyTuple_New(n_args), *const names = PyDict_New();
    PyObject *made = NULL;
    bool      ok   = module && places && names;

    for (Py_ssize_t k = 0; ok && k < n_args; k++)
        ok = PyTuple_SetItem(places, k, Py_NewRef(args[k])) == 0;
    for (Py_ssize_t k = 0; ok && k < PyTuple_Size(keywords); k++)
        ok = PyDict_SetItem(names, PyTuple_GetItem(keywords, k), args[n_args + k]) == 0;
    if (ok)
        made = PyObject_CallMethod(module, "with_keywords", "sOO", maps[row].name, places, names);
    Py_XDECREF(module);
    Py_XDECREF(places);
    Py_XDECREF(names);
    return made;
}

/* self is the row */
static PyObject *call_map(PyObject *self, PyObject *const *args, Py_ssize_t n_args,
                          PyObject *keywords)
{
    const long row = PyLong_AsLong(self);
    const int  n   = maps[row].one ? 1 : 2;

    if (keywords && PyTuple_Size(keywords) > 0)
        return with_keywords(row, args, n_args, keywords);
    if (n_args == n)
        return map_of(maps[row].one, maps[row].two, n, args, false);
    PyErr_Format(PyExc_TypeError, "rdim.%s() takes %d arguments, %zd given", maps[row].name, n,
                 n_args);
    return NULL;
}

static PyMethodDef definitions[MAPS];

int rdpy_maps_init(PyObject *module)
{
    for (int k = 0; k < MAPS; k++) {
        definitions[k] = (PyMethodDef){ .ml_name  = maps[k].name,
                                        .ml_meth  = (PyCFunction)(void (*)(void))call_map,
                                        .ml_flags = METH_FASTCALL | METH_KEYWORDS };
        PyObject *row  = PyLong_FromLong(k),
                 *made = row ? PyCFunction_NewEx(&definitions[k], row, NULL) : NULL;

        Py_XDECREF(row);
        if (!made || PyModule_AddObjectRef(module, maps[k].name, made) < 0)
            return -1;
        Py_DECREF(made);
    }
    return 0;
}

/* ---- Operators of the type -------------------------------------------------------------------- */
#define OPERATOR_1(slot, function)                  \
    static PyObject *slot(PyObject *x)              \
    {                                               \
        return map_of(function, NULL, 1, &x, true); \
    }
#define OPERATOR_2(slot, function)                                           \
    static PyObject *slot(PyObject *x, PyObject *y)                          \
    {                                                                        \
        return map_of(NULL, function, 2, (PyObject *const[]){ x, y }, true); \
    }
OPERATOR_1(nb_negative, rd_neg)
OPERATOR_1(nb_absolute, rd_abs)
OPERATOR_1(nb_invert, rd_bit_not)
OPERATOR_2(nb_add, rd_add)
OPERATOR_2(nb_subtract, rd_sub)
OPERATOR_2(nb_multiply, rd_mul)
OPERATOR_2(nb_true_divide, rd_div)
OPERATOR_2(nb_floor_divide, rd_floordiv)
OPERATOR_2(nb_remainder, rd_remainder)
OPERATOR_2(nb_and, rd_bit_and)
OPERATOR_2(nb_or, rd_bit_or)
OPERATOR_2(nb_xor, rd_bit_xor)
OPERATOR_2(nb_lshift, rd_shift_left)
OPERATOR_2(nb_rshift, rd_shift_right)
OPERATOR_2(nb_matrix_multiply, rd_matmul)

static PyObject *nb_positive(PyObject *x)
{
    return Py_NewRef(x);
}

/* NumPy takes x ** 0.5 of floats for their root, which differs at -0 and -infinity. */
static bool is_root(PyObject *x, PyObject *y)
{
    const rd_dtype type = rdpy_is_array(x) ? rd_type_of(((rdpy_array *)x)->x) : RD_BOOL;

    return PyFloat_CheckExact(y) && PyFloat_AsDouble(y) == 0.5 &&
           (type == RD_F16 || type == RD_F32 || type == RD_F64);
}

static PyObject *nb_power(PyObject *x, PyObject *y, PyObject *modulo)
{
    if (modulo != Py_None)
        return Py_NewRef(Py_NotImplemented);
    return is_root(x, y) ? map_of(rd_sqrt, NULL, 1, &x, true)
                         : map_of(NULL, rd_pow, 2, (PyObject *const[]){ x, y }, true);
}

static PyObject *compare(PyObject *x, PyObject *y, int how)
{
    static map_2 *const function[] = { [Py_LT] = rd_lt, [Py_LE] = rd_le, [Py_EQ] = rd_eq,
                                       [Py_NE] = rd_ne, [Py_GT] = rd_gt, [Py_GE] = rd_ge };

    return map_of(NULL, function[how], 2, (PyObject *const[]){ x, y }, true);
}

#define SLOT(name)              \
    {                           \
        Py_##name, (void *)name \
    }
PyType_Slot rdpy_operator_slots[] = { SLOT(nb_negative),
                                      SLOT(nb_absolute),
                                      SLOT(nb_invert),
                                      SLOT(nb_positive),
                                      SLOT(nb_add),
                                      SLOT(nb_subtract),
                                      SLOT(nb_multiply),
                                      SLOT(nb_true_divide),
                                      SLOT(nb_floor_divide),
                                      SLOT(nb_remainder),
                                      SLOT(nb_and),
                                      SLOT(nb_or),
                                      SLOT(nb_xor),
                                      SLOT(nb_lshift),
                                      SLOT(nb_rshift),
                                      SLOT(nb_matrix_multiply),
                                      SLOT(nb_power),
                                      { Py_tp_richcompare, (void *)compare },
                                      { 0, NULL } };
