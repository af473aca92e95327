/* errors.c - the library's failures as exceptions: a class for each status, which is also the built-in
 * exception that people would catch; the sentence is the library's, the traceback has the line. */
#include "core.h"
#include <stdio.h>
#include <string.h>

static PyObject *base;
static struct {
    rd_status   status;
    const char *name;
    PyObject  **builtin;
    PyObject   *exception;
} classes[] = {
    { RD_ERR_ARGUMENT, "ArgumentError", &PyExc_ValueError, NULL },
    { RD_ERR_SHAPE, "ShapeError", &PyExc_ValueError, NULL },
    { RD_ERR_AXIS, "AxisError", &PyExc_IndexError, NULL },
    { RD_ERR_TYPE, "DTypeError", &PyExc_TypeError, NULL },
    { RD_ERR_TEXT, "TextError", &PyExc_ValueError, NULL },
    { RD_ERR_EMPTY, "EmptyError", &PyExc_ValueError, NULL },
    { RD_ERR_MEMORY, "OutOfMemory", &PyExc_MemoryError, NULL },
    { RD_ERR_CALLBACK, "CallbackError", &PyExc_RuntimeError, NULL },
    { RD_ERR_CANCELLED, "Cancelled", &PyExc_RuntimeError, NULL },
    { RD_ERR_FILE, "FileError", &PyExc_OSError, NULL },
    { RD_ERR_DEVICE, "DeviceError", &PyExc_RuntimeError, NULL },
    { RD_ERR_LIMIT, "LimitError", &PyExc_RuntimeError, NULL },
};
enum { CLASSES = sizeof classes / sizeof *classes };

/* NumPy's, where there is NumPy, else what it is: both. */
static PyObject *bases_of_axis_error(void)
{
    PyObject *const module = PyImport_ImportModule("numpy.exceptions");
    PyObject *const numpys = module ? PyObject_GetAttrString(module, "AxisError") : NULL;
    PyObject       *bases;

    PyErr_Clear();
    bases = numpys ? PyTuple_Pack(2, base, numpys)
                   : PyTuple_Pack(3, base, PyExc_ValueError, PyExc_IndexError);
    Py_XDECREF(module);
    Py_XDECREF(numpys);
    return bases;
}

PyObject *rdpy_axis_error(void)
{
    for (int k = 0; k < CLASSES; k++)
        if (classes[k].status == RD_ERR_AXIS)
            return classes[k].exception;
    return base;
}

int rdpy_errors_init(PyObject *module)
{
    base = PyErr_NewException("rdim.Error", NULL, NULL);
    if (!base || PyModule_AddObjectRef(module, "Error", base) < 0)
        return -1;
    for (int k = 0; k < CLASSES; k++) {
        char      name[64];
        PyObject *bases = PyTuple_Pack(2, base, *classes[k].builtin);

        if (bases && classes[k].status == RD_ERR_AXIS) {
            Py_DECREF(bases);
            bases = bases_of_axis_error();
        }

        snprintf(name, sizeof name, "rdim.%s", classes[k].name);
        classes[k].exception = bases ? PyErr_NewException(name, bases, NULL) : NULL;
        Py_XDECREF(bases);
        if (!classes[k].exception ||
            PyModule_AddObjectRef(module, classes[k].name, classes[k].exception) < 0)
            return -1;
    }
    return 0;
}

/* "rd_sum: axis 3 ..." of C is "rdim.sum: axis 3 ..." here. */
static void raise_text(PyObject *exception, const char *text)
{
    const bool of_call = strncmp(text, "rd_", 3) == 0;

    PyErr_Format(exception, "%s%s", of_call ? "rdim." : "", of_call ? text + 3 : text);
}

void *rdpy_raise(rd_ctx *ctx)
{
    const rd_status status    = rd_error(ctx);
    PyObject       *exception = base;

    if (PyErr_Occurred()) { /* a callback's, which is why the evaluation ended */
        rd_error_clear(ctx);
        return NULL;
    }
    for (int k = 0; k < CLASSES; k++)
        if (classes[k].status == status)
            exception = classes[k].exception;
    raise_text(exception, status == RD_OK ? "a failure without a sentence" : rd_error_text(ctx));
    rd_error_clear(ctx);
    return NULL;
}
