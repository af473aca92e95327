/* functions.c - maps by functions of the user's: text, C functions by their address, statements in C. */
#include "core.h"
#include <string.h>

enum { MOST_OPERANDS = 8 };

/* Where an address came from has it live; what is made of the operands holds it. */
typedef struct calling {
    rd_fn       fn;
    const char *text;
    void       *address; /* of a function of numbers, of `fn.in` */
} calling;

static void *address_of(PyObject *o)
{
    void *const address = PyLong_AsVoidPtr(o);

    if (!address && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "rdim.map: the address of a function is 0");
    return address;
}

/* ---- Functions of three and four numbers ------------------------------------------------------- */
#define NUMBERS(name, T, parameters, arguments)                                      \
    static const char *name(void *user, int64_t n, const void *const *in, void *out) \
    {                                                                                \
        T(*f) parameters;                                                            \
        const T *const *at = (const T *const *)in;                                   \
                                                                                     \
        memcpy(&f, &user, sizeof f);                                                 \
        for (int64_t i = 0; i < n; i++)                                              \
            ((T *)out)[i] = f arguments;                                             \
        return NULL;                                                                 \
    }
NUMBERS(three_f32, float, (float, float, float), (at[0][i], at[1][i], at[2][i]))
NUMBERS(three_f64, double, (double, double, double), (at[0][i], at[1][i], at[2][i]))
NUMBERS(four_f32, float, (float, float, float, float), (at[0][i], at[1][i], at[2][i], at[3][i]))
NUMBERS(four_f64, double, (double, double, double, double),
        (at[0][i], at[1][i], at[2][i], at[3][i]))
#undef NUMBERS

static rd_expr *of_numbers(const calling *c, rd_exprs x)
{
    static rd_block_fn *const loop[2][2] = { { three_f32, four_f32 }, { three_f64, four_f64 } };
    const bool                wide       = c->fn.in == RD_F64;
    float (*f32)(float), (*f32_2)(float, float);
    double (*f64)(double), (*f64_2)(double, double);
    rd_fn fn = { .size = sizeof fn, .name = "function", .arity = x.n, .in = c->fn.in };

    memcpy(&f32, &c->address, sizeof f32);
    memcpy(&f64, &c->address, sizeof f64);
    memcpy(&f32_2, &c->address, sizeof f32_2);
    memcpy(&f64_2, &c->address, sizeof f64_2);
    if (x.n == 1)
        return wide ? rd_map_f64(x.at[0], f64) : rd_map_f32(x.at[0], f32);
    if (x.n == 2)
        return wide ? rd_map2_f64(x.at[0], x.at[1], f64_2) : rd_map2_f32(x.at[0], x.at[1], f32_2);
    if (x.n > 4) {
        PyErr_Format(PyExc_ValueError,
                     "rdim.map: a function of %d numbers; possible are 1 to 4, and rdim.block()",
                     (int)x.n);
        return NULL;
    }
    fn.out   = fn.in;
    fn.block = loop[wide][x.n - 3];
    fn.user  = c->address;
    return rd_mapn_fn(&fn, x);
}

/* ---- Building ---------------------------------------------------------------------------------- */
static rd_expr *mapped(const calling *c, rd_exprs x)
{
    if (c->text)
        return rd_mapn_text(c->text, x);
    return c->address ? of_numbers(c, x) : rd_mapn_fn(&c->fn, x);
}

static PyObject *build(const calling *c, int n, PyObject *const *operand, PyObject *owner)
{
    rd_expr         *x[MOST_OPERANDS], *y = NULL;
    rdpy_home *const home = rdpy_home_for(n, operand);

    if (!home)
        return NULL;
    for (int k = 0; k < n; k++)
        x[k] = rdpy_node(home, operand[k]);
    if (!PyErr_Occurred() && rd_error(home->ctx) == RD_OK)
        y = mapped(c, (rd_exprs){ x, n });
    return rdpy_holding(rdpy_made(home, y, n, operand), owner);
}

static PyObject *map_of(calling *c, PyObject *given, PyObject *owner)
{
    const Py_ssize_t n                      = PyTuple_Size(given);
    PyObject        *operand[MOST_OPERANDS] = { NULL }, *made = NULL;
    int              k = 0;

    if (n < 1 || n > MOST_OPERANDS)
        return PyErr_Format(PyExc_TypeError, "rdim.map: %zd arrays, possible are 1 to %d", n,
                            MOST_OPERANDS);
    c->fn.arity = (int32_t)n;
    while (k < n && (operand[k] = rdpy_operand_or_error(PyTuple_GetItem(given, k))))
        k++;
    if (k == n)
        made = build(c, (int)n, operand, owner);
    for (k = 0; k < n; k++)
        Py_XDECREF(operand[k]);
    return made;
}

/* map_text(operands, text) */
static PyObject *map_text(PyObject *self, PyObject *args)
{
    PyObject *given;
    calling   c = { .fn = { 0 } };

    (void)self;
    return PyArg_ParseTuple(args, "O!s:map_text", &PyTuple_Type, &given, &c.text)
               ? map_of(&c, given, NULL)
               : NULL;
}

/* map_code(operands, name, code): an expression as C has it, "x,y: x / y" */
static PyObject *map_code(PyObject *self, PyObject *args)
{
    PyObject *given;
    calling   c = { .fn = { .size = sizeof c.fn } };

    (void)self;
    return PyArg_ParseTuple(args, "O!ss:map_code", &PyTuple_Type, &given, &c.fn.name, &c.fn.code)
               ? map_of(&c, given, NULL)
               : NULL;
}

/* map_numbers(operands, address, dtype, owner): double or float f(double, ...) */
static PyObject *map_numbers(PyObject *self, PyObject *args)
{
    PyObject *given, *address, *type, *owner;
    calling   c = { .fn = { 0 } };

    (void)self;
    if (!PyArg_ParseTuple(args, "O!OOO:map_numbers", &PyTuple_Type, &given, &address, &type,
                          &owner) ||
        !(c.address = address_of(address)) || rdpy_dtype_of(type, &c.fn.in) < 0)
        return NULL;
    return map_of(&c, given, owner);
}

/* map_block(operands, address, user, name, in, out, owner): a rd_block_fn */
static PyObject *map_block(PyObject *self, PyObject *args)
{
    PyObject *given, *address, *user, *in, *out, *owner;
    calling   c = { .fn = { .size = sizeof c.fn } };
    void     *block;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!OOsOOO:map_block", &PyTuple_Type, &given, &address, &user,
                          &c.fn.name, &in, &out, &owner) ||
        !(block = address_of(address)) || rdpy_dtype_of(in, &c.fn.in) < 0 ||
        rdpy_dtype_of(out, &c.fn.out) < 0)
        return NULL;
    c.fn.user = PyLong_AsVoidPtr(user);
    memcpy(&c.fn.block, &block, sizeof block);
    return PyErr_Occurred() ? NULL : map_of(&c, given, owner);
}

/* map_body(operands, f32, f64, name, names, body, owner): statements, and loops that are compiled */
static PyObject *map_body(PyObject *self, PyObject *args)
{
    PyObject *given, *f32, *f64, *owner;
    calling   c = { .fn = { .size = sizeof c.fn } };
    void     *loop32, *loop64;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!OOsssO:map_body", &PyTuple_Type, &given, &f32, &f64, &c.fn.name,
                          &c.fn.names, &c.fn.body, &owner) ||
        !(loop32 = address_of(f32)) || !(loop64 = address_of(f64)))
        return NULL;
    memcpy(&c.fn.f32, &loop32, sizeof loop32);
    memcpy(&c.fn.f64, &loop64, sizeof loop64);
    return map_of(&c, given, owner);
}

PyMethodDef rdpy_function_functions[] = {
    { "map_text", map_text, METH_VARARGS, "map_text(operands, text)" },
    { "map_code", map_code, METH_VARARGS, "map_code(operands, name, code)" },
    { "map_numbers", map_numbers, METH_VARARGS, "map_numbers(operands, address, dtype, owner)" },
    { "map_block", map_block, METH_VARARGS,
      "map_block(operands, address, user, name, in, out, owner)" },
    { "map_body", map_body, METH_VARARGS,
      "map_body(operands, f32, f64, name, names, body, owner)" },
    { NULL, NULL, 0, NULL }
};
