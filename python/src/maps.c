/* maps.c - functions and operators of elements: a row each in maps.def. */
#include "bools.h"
#include "signatures.h"
#include <string.h>

typedef rd_expr *map_1(rd_expr *x);
typedef rd_expr *map_2(rd_expr *x, rd_expr *y);

static rd_expr *same(rd_expr *x)
{
    return x;
}

/* NumPy counts bits in 8 bits. */
static rd_expr *bits_set(rd_expr *x)
{
    return rd_cast(rd_popcount(x), RD_U8);
}

static const struct {
    const char *name, *library; /* the library's name, for sentences */
    map_1      *one;
    map_2      *two;
} maps[] = {
#define SIGNATURE(name, text)
#define MAP_1(name, function) { #name, #function, function, NULL },
#define MAP_2(name, function) { #name, #function, NULL, function },
#include "maps.def"
#undef SIGNATURE
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

/* Is the operand a Python int below 0, and the other one an array of ints or bools?  NumPy raises for such powers. */
static bool is_negative_power(PyObject *const operand[2])
{
    int       overflow = 0;
    long long power;

    if (!PyLong_CheckExact(operand[1]) || !rdpy_is_array(operand[0]) ||
        rdpy_type_of(operand[0]) >= RD_F16)
        return false;
    power = PyLong_AsLongLongAndOverflow(operand[1], &overflow);
    return overflow < 0 || (overflow == 0 && power < 0);
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
    if (!side && two == rdpy_power && is_negative_power(operand))
        return PyErr_Format(PyExc_ValueError,
                            "rdim.power: ints to the power %R are no ints; say x.astype(float)",
                            operand[1]);
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

/* The argument behind the operands is out=. */
static PyObject *with_output(long row, PyObject *const *args, int n)
{
    PyObject *const out   = Py_BuildValue("(s)", "out");
    PyObject *const found = out ? with_keywords(row, args, n, out) : NULL;

    Py_XDECREF(out);
    return found;
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
    if (n_args == n + 1)
        return with_output(row, args, n);
    PyErr_Format(PyExc_TypeError, "rdim.%s() takes %d arguments, %zd given", maps[row].name, n,
                 n_args);
    return NULL;
}

static PyMethodDef definitions[MAPS];

/* _library_names: the names here of the library's functions, for sentences. */
static int add_names(PyObject *module)
{
    PyObject *const names  = PyDict_New();
    int             failed = names ? 0 : -1;

    for (int k = 0; !failed && k < MAPS; k++) {
        PyObject *const name = PyUnicode_FromString(maps[k].name);

        failed = name ? PyDict_SetItemString(names, maps[k].library, name) : -1;
        Py_XDECREF(name);
    }
    if (!failed)
        failed = PyModule_AddObjectRef(module, "_library_names", names);
    Py_XDECREF(names);
    return failed;
}

/* Keywords are those of NumPy's universal functions: rdim._ufuncs. */
static const char *const signatures[] = {
#define SIGNATURE(name, text) text,
#define MAP_1(name, function)
#define MAP_2(name, function)
#include "maps.def"
#undef SIGNATURE
#undef MAP_1
#undef MAP_2
};

int rdpy_maps_init(PyObject *module)
{
    for (int k = 0; k < MAPS; k++) {
        definitions[k] = (PyMethodDef){ .ml_name  = maps[k].name,
                                        .ml_meth  = (PyCFunction)(void (*)(void))call_map,
                                        .ml_flags = METH_FASTCALL | METH_KEYWORDS,
                                        .ml_doc   = rdpy_doc(
                                              maps[k].name, signatures[maps[k].two != NULL], false) };
        PyObject *row  = PyLong_FromLong(k),
                 *made = row ? PyCFunction_NewEx(&definitions[k], row, NULL) : NULL;

        Py_XDECREF(row);
        if (!made || PyModule_AddObjectRef(module, maps[k].name, made) < 0)
            return -1;
        Py_DECREF(made);
    }
    return add_names(module);
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
OPERATOR_1(nb_negative, rdpy_negative)
OPERATOR_1(nb_absolute, rdpy_abs)
OPERATOR_1(nb_invert, rd_bit_not)
OPERATOR_2(nb_add, rdpy_add)
OPERATOR_2(nb_subtract, rdpy_subtract)
OPERATOR_2(nb_multiply, rdpy_multiply)
OPERATOR_2(nb_true_divide, rd_div)
OPERATOR_2(nb_floor_divide, rdpy_floor_divide)
OPERATOR_2(nb_remainder, rdpy_remainder)
OPERATOR_2(nb_and, rd_bit_and)
OPERATOR_2(nb_or, rd_bit_or)
OPERATOR_2(nb_xor, rd_bit_xor)
OPERATOR_2(nb_lshift, rdpy_left_shift)
OPERATOR_2(nb_rshift, rdpy_right_shift)
OPERATOR_2(nb_matrix_multiply, rdpy_matmul)

/* Another handle: x[key] = value changes x alone. */
static PyObject *nb_positive(PyObject *x)
{
    return map_of(same, NULL, 1, &x, true);
}

/* x += y: the handle x has the result from then on, in x's shape and type. */
#define IN_PLACE(slot, function)                                                             \
    static PyObject *slot(PyObject *x, PyObject *y)                                          \
    {                                                                                        \
        return rdpy_become(x, map_of(NULL, function, 2, (PyObject *const[]){ x, y }, true)); \
    }
IN_PLACE(nb_inplace_add, rdpy_add)
IN_PLACE(nb_inplace_subtract, rdpy_subtract)
IN_PLACE(nb_inplace_multiply, rdpy_multiply)
IN_PLACE(nb_inplace_true_divide, rd_div)
IN_PLACE(nb_inplace_floor_divide, rdpy_floor_divide)
IN_PLACE(nb_inplace_remainder, rdpy_remainder)
IN_PLACE(nb_inplace_and, rd_bit_and)
IN_PLACE(nb_inplace_or, rd_bit_or)
IN_PLACE(nb_inplace_xor, rd_bit_xor)
IN_PLACE(nb_inplace_lshift, rdpy_left_shift)
IN_PLACE(nb_inplace_rshift, rdpy_right_shift)
IN_PLACE(nb_inplace_matrix_multiply, rdpy_matmul)

/* NumPy takes x ** 0.5 of floats for their root, which differs at -0 and -infinity. */
static bool is_root(PyObject *x, PyObject *y)
{
    const rd_dtype type = rdpy_is_array(x) ? rdpy_type_of(x) : RD_BOOL;

    return PyFloat_CheckExact(y) && PyFloat_AsDouble(y) == 0.5 &&
           (type == RD_F16 || type == RD_F32 || type == RD_F64);
}

static PyObject *power_of(PyObject *x, PyObject *y)
{
    return is_root(x, y) ? map_of(rd_sqrt, NULL, 1, &x, true)
                         : map_of(NULL, rdpy_power, 2, (PyObject *const[]){ x, y }, true);
}

static PyObject *nb_inplace_power(PyObject *x, PyObject *y, PyObject *modulo)
{
    return modulo != Py_None ? Py_NewRef(Py_NotImplemented) : rdpy_become(x, power_of(x, y));
}

static PyObject *nb_power(PyObject *x, PyObject *y, PyObject *modulo)
{
    return modulo != Py_None ? Py_NewRef(Py_NotImplemented) : power_of(x, y);
}

/* No element is None or a text, as in NumPy. */
static PyObject *nowhere_equal(PyObject *x, bool truth)
{
    rdpy_home *const home = rdpy_my_home();
    rd_expr *const   a    = home ? rdpy_node(home, x) : NULL;

    if (!home)
        return NULL;
    return rdpy_made(
        home, a ? rd_broadcast(rd_cast(rd_int(home->ctx, truth), RD_BOOL), rd_shape_of(a)) : NULL,
        0, NULL);
}

static PyObject *compare(PyObject *x, PyObject *y, int how)
{
    static map_2 *const function[] = { [Py_LT] = rd_lt, [Py_LE] = rd_le, [Py_EQ] = rd_eq,
                                       [Py_NE] = rd_ne, [Py_GT] = rd_gt, [Py_GE] = rd_ge };

    if ((how == Py_EQ || how == Py_NE) && (y == Py_None || PyUnicode_Check(y)))
        return nowhere_equal(x, how == Py_NE);
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
                                      SLOT(nb_inplace_add),
                                      SLOT(nb_inplace_subtract),
                                      SLOT(nb_inplace_multiply),
                                      SLOT(nb_inplace_true_divide),
                                      SLOT(nb_inplace_floor_divide),
                                      SLOT(nb_inplace_remainder),
                                      SLOT(nb_inplace_and),
                                      SLOT(nb_inplace_or),
                                      SLOT(nb_inplace_xor),
                                      SLOT(nb_inplace_lshift),
                                      SLOT(nb_inplace_rshift),
                                      SLOT(nb_inplace_matrix_multiply),
                                      SLOT(nb_inplace_power),
                                      { Py_tp_richcompare, (void *)compare },
                                      { 0, NULL } };
