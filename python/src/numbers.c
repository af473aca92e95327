/* numbers.c - ints of Python beside arrays whose type does not hold them. */
#include "core.h"

/* -1: below all values of an int type; 1: above them; 0: it is one, or the type is none of ints. */
static int beyond(PyObject *number, rd_dtype type)
{
    static const int bits[] = { [RD_I8] = 7, [RD_I16] = 15, [RD_I32] = 31, [RD_I64] = 63,
                                [RD_U8] = 8, [RD_U16] = 16, [RD_U32] = 32, [RD_U64] = 64 };
    int              overflow;
    const long long  value = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (type < RD_I8 || type > RD_U64)
        return 0;
    if (overflow > 0 && type == RD_U64) {
        PyLong_AsUnsignedLongLong(number);
        overflow = PyErr_Occurred() ? 1 : 0;
        PyErr_Clear();
        return overflow;
    }
    if (overflow || (value < 0 && type >= RD_U8))
        return overflow ? overflow : -1;
    if (bits[type] >= 63)
        return 0;
    return value >> bits[type] > 0 ? 1 : value < -(INT64_C(1) << bits[type]) ? -1 : 0;
}

int rdpy_beyond(PyObject *const operand[2], int *number)
{
    for (int k = 0; k < 2; k++)
        if (PyLong_CheckExact(operand[k]) && rdpy_is_array(operand[1 - k])) {
            *number = k;
            return beyond(operand[k], rdpy_type_of(operand[1 - k]));
        }
    return 0;
}

int rdpy_as_floats(PyObject *operand[2])
{
    for (int k = 0; k < 2; k++) {
        int overflow = 0;

        if (!PyLong_CheckExact(operand[k]) || !rdpy_is_array(operand[1 - k]) ||
            rdpy_type_of(operand[1 - k]) < RD_F16)
            continue;
        PyLong_AsLongLongAndOverflow(operand[k], &overflow);
        if (overflow) {
            PyObject *const number = PyNumber_Float(operand[k]);

            if (!number)
                return -1;
            Py_DECREF(operand[k]);
            operand[k] = number;
        }
    }
    return 0;
}

/* ---- Comparisons: what is beyond is known ------------------------------------------------------ */
typedef rd_expr *map_2(rd_expr *x, rd_expr *y);

/* The result of a comparison where the number is above all values of x's type, and where it is below them. */
static const struct {
    map_2 *function;
    bool   above, below;
} comparisons[] = { { rd_eq, false, false }, { rd_ne, true, true },  { rd_lt, true, false },
                    { rd_le, true, false },  { rd_gt, false, true }, { rd_ge, false, true } };

rd_expr *rdpy_compared_beyond(rdpy_home *home, map_2 *function, PyObject *const operand[2],
                              int number, int side)
{
    rd_expr *const x    = rdpy_node(home, operand[1 - number]);
    const bool     turn = number == 0 && function != rd_eq && function != rd_ne;

    for (size_t k = 0; x && k < sizeof comparisons / sizeof *comparisons; k++)
        if (comparisons[k].function == function) {
            const bool truth = side > 0 ? comparisons[k].above : comparisons[k].below;

            return rd_broadcast(rd_cast(rd_int(home->ctx, truth != turn), RD_BOOL), rd_shape_of(x));
        }
    return NULL;
}
