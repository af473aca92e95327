/* types.c - types of elements: objects that stand for them, names, formats of buffers. */
#include "core.h"
#include <string.h>

enum { TYPES = RD_F8 + 1 };

/* format: of the struct module, as buffers say it; NULL: it has none, nor has NumPy without the package ml_dtypes */
static const struct {
    const char *name, *format;
    Py_ssize_t  size;
} types[TYPES] = {
    [RD_BOOL] = { "bool", "?", 1 },      [RD_I8] = { "int8", "b", 1 },
    [RD_I16] = { "int16", "h", 2 },      [RD_I32] = { "int32", "i", 4 },
    [RD_I64] = { "int64", "q", 8 },      [RD_U8] = { "uint8", "B", 1 },
    [RD_U16] = { "uint16", "H", 2 },     [RD_U32] = { "uint32", "I", 4 },
    [RD_U64] = { "uint64", "Q", 8 },     [RD_F16] = { "float16", "e", 2 },
    [RD_BF16] = { "bfloat16", NULL, 2 }, [RD_F8] = { "float8_e4m3fn", NULL, 1 },
    [RD_F32] = { "float32", "f", 4 },    [RD_F64] = { "float64", "d", 8 },
    [RD_C64] = { "complex64", "Zf", 8 }, [RD_C128] = { "complex128", "Zd", 16 },
};

/* rdim._dtypes sets both when it is imported. */
static PyObject *object[TYPES], *class_of[TYPES], *resolve;

PyObject *rdpy_dtype_object(rd_dtype type)
{
    if (!object[type])
        PyErr_Format(PyExc_RuntimeError, "rdim: no object stands for %s", types[type].name);
    return object[type];
}

const char *rdpy_type_name(rd_dtype type)
{
    return types[type].name;
}

Py_ssize_t rdpy_size(rd_dtype type)
{
    return types[type].size;
}

bool rdpy_is_complex(rd_dtype type)
{
    return type == RD_C64 || type == RD_C128;
}

const char *rdpy_format(rd_dtype type)
{
    return types[type].format;
}

int rdpy_kind(rd_dtype type)
{
    if (type == RD_BOOL)
        return 0;
    if (type >= RD_F16)
        return rdpy_is_complex(type) ? 4 : 3;
    return type >= RD_U8 ? 1 : 2;
}

/* "l" and "L" are of 8 bytes or of 4; native order, which "<" is on the machines that rdim runs on. */
rd_dtype rdpy_dtype_of_format(const char *format, Py_ssize_t size)
{
    if (!format)
        return RD_U8;
    if (*format == '<' || *format == '=' || *format == '@')
        format++;
    if (strcmp(format, "l") == 0 || strcmp(format, "n") == 0)
        return size == 8 ? RD_I64 : RD_I32;
    if (strcmp(format, "L") == 0 || strcmp(format, "N") == 0)
        return size == 8 ? RD_U64 : RD_U32;
    for (int t = RD_BOOL; t < TYPES; t++)
        if (types[t].format && strcmp(types[t].format, format) == 0 && types[t].size == size)
            return (rd_dtype)t;
    return RD_AUTO;
}

static int type_of_number(PyObject *number, rd_dtype *type)
{
    const long t = number ? PyLong_AsLong(number) : -1;

    Py_XDECREF(number);
    if (PyErr_Occurred())
        return -1;
    *type = (rd_dtype)t;
    return 0;
}

int rdpy_dtype_of(PyObject *o, rd_dtype *type)
{
    *type = RD_AUTO;
    if (!o || o == Py_None)
        return 0;
    for (int t = RD_BOOL; t < TYPES; t++)
        if (object[t] == o || class_of[t] == o) {
            *type = (rd_dtype)t;
            return 0;
        }
    return type_of_number(PyObject_CallFunctionObjArgs(resolve, o, NULL), type);
}

/* set_dtypes(objects, resolve, classes): objects, and NumPy's classes of numbers, in the order of names();
 * resolve(o) is the number of what stands for a type, or a TypeError. */
static PyObject *set_dtypes(PyObject *self, PyObject *args)
{
    PyObject *objects, *function, *classes;

    (void)self;
    if (rdpy_only_interpreter() < 0 || !PyArg_ParseTuple(args, "O!OO!", &PyTuple_Type, &objects,
                                                         &function, &PyTuple_Type, &classes))
        return NULL;
    for (int t = RD_BOOL; t < TYPES; t++) {
        PyObject *const one = PyTuple_GetItem(objects, t - RD_BOOL), *const kind = PyTuple_GetItem(
                                                                         classes, t - RD_BOOL);

        if (!one || !kind)
            return NULL;
        Py_XDECREF(class_of[t]);
        class_of[t] = Py_NewRef(kind);
        Py_XDECREF(object[t]);
        object[t] = one == Py_None ? NULL : Py_NewRef(one);
    }
    Py_XDECREF(resolve);
    resolve = Py_NewRef(function);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = { { "_set_dtypes", set_dtypes, METH_VARARGS, NULL },
                                   { NULL, NULL, 0, NULL } };

int rdpy_types_init(PyObject *module)
{
    PyObject *names = PyTuple_New(TYPES - RD_BOOL);

    for (int t = RD_BOOL; names && t < TYPES; t++)
        if (PyTuple_SetItem(names, t - RD_BOOL, PyUnicode_FromString(types[t].name)) < 0)
            Py_CLEAR(names);
    return names && PyModule_AddObjectRef(module, "dtype_names", names) == 0
               ? PyModule_AddFunctions(module, functions)
               : -1;
}
