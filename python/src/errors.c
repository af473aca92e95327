/* errors.c - the library's failures as exceptions: a class for each status, which is also the built-in
 * exception that people would catch; the sentence is the library's, the traceback has the line. */
#include "core.h"
#include <stdio.h>
#include <string.h>

static PyObject *base;
static struct {
    rd_status   status;
    const char *name, *doc;
    PyObject  **builtin;
    PyObject   *exception;
} classes[] = {
    { RD_ERR_ARGUMENT, "ArgumentError", "A value makes no sense where it stands.",
      &PyExc_ValueError, NULL },
    { RD_ERR_SHAPE, "ShapeError", "Extents do not fit together.", &PyExc_ValueError, NULL },
    { RD_ERR_AXIS, "AxisError", "An axis or index is not there.", &PyExc_IndexError, NULL },
    { RD_ERR_TYPE, "DTypeError", "The operation does not take elements of this type.",
      &PyExc_TypeError, NULL },
    { RD_ERR_TEXT, "TextError", "A formula or the text of a function cannot be read.",
      &PyExc_ValueError, NULL },
    { RD_ERR_EMPTY, "EmptyError", "The least or greatest of no element.", &PyExc_ValueError, NULL },
    { RD_ERR_MEMORY, "OutOfMemory", "There is no memory, or it would be more than the limit.",
      &PyExc_MemoryError, NULL },
    { RD_ERR_CALLBACK, "CallbackError", "A function of the user's has failed.", &PyExc_RuntimeError,
      NULL },
    { RD_ERR_CANCELLED, "Cancelled", "An evaluation was ended from outside.", &PyExc_RuntimeError,
      NULL },
    { RD_ERR_FILE, "FileError", "A file cannot be read or written.", &PyExc_OSError, NULL },
    { RD_ERR_DEVICE, "DeviceError", "A device or backend is not there.", &PyExc_RuntimeError,
      NULL },
    { RD_ERR_LIMIT, "LimitError", "A limit of this release.", &PyExc_RuntimeError, NULL },
    { RD_ERR_CONVERGENCE, "ConvergenceError", "A solve cannot go on, or missed its tolerance.",
      &PyExc_ArithmeticError, NULL },
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

int rdpy_errors_init(PyObject *module)
{
    base = PyErr_NewExceptionWithDoc("rdim.Error", "What all exceptions of rdim are.", NULL, NULL);
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
        classes[k].exception =
            bases ? PyErr_NewExceptionWithDoc(name, classes[k].doc, bases, NULL) : NULL;
        Py_XDECREF(bases);
        if (!classes[k].exception ||
            PyModule_AddObjectRef(module, classes[k].name, classes[k].exception) < 0)
            return -1;
    }
    return 0;
}

/* rdim._sentences.retold(sentence, call): the sentence in words of Python.  NULL while the package is imported. */
static PyObject *retold;

static PyObject *set_retold(PyObject *self, PyObject *function)
{
    (void)self;
    Py_XDECREF(retold);
    retold = Py_NewRef(function);
    Py_RETURN_NONE;
}

PyMethodDef rdpy_error_functions[] = { { "_set_retold", set_retold, METH_O, NULL },
                                       { NULL, NULL, 0, NULL } };

static void raise_text(PyObject *exception, PyObject *text, const char *call)
{
    PyObject *const told =
        text && retold ? PyObject_CallFunction(retold, "Os", text, call) : Py_XNewRef(text);

    if (told)
        PyErr_SetObject(exception, told);
    Py_XDECREF(told);
    Py_XDECREF(text);
}

static PyObject *class_of(rd_status status)
{
    for (int k = 0; k < CLASSES; k++)
        if (classes[k].status == status)
            return classes[k].exception;
    return base;
}

PyObject *rdpy_axis_error(void)
{
    return class_of(RD_ERR_AXIS);
}

/* The sentence is copied before Python code runs, which may use the context. */
void *rdpy_raise_from(rd_ctx *ctx, const char *call)
{
    const rd_status status = rd_error(ctx);
    PyObject       *text   = NULL;

    if (!PyErr_Occurred()) /* a callback's exception is why an evaluation ended */
        text = PyUnicode_FromString(status == RD_OK ? "a failure without a sentence"
                                                    : rd_error_text(ctx));
    rd_error_clear(ctx);
    if (text)
        raise_text(class_of(status), text, call);
    return NULL;
}

void *rdpy_retell(const char *call)
{
    PyObject   *type, *value, *trace, *text;
    const char *begin;

    PyErr_Fetch(&type, &value, &trace);
    text  = value ? PyObject_Str(value) : NULL;
    begin = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (begin && strncmp(begin, "rdim.", 5) == 0) {
        raise_text(type, text, call);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return NULL;
    }
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    return NULL;
}

void *rdpy_raise(rd_ctx *ctx)
{
    return rdpy_raise_from(ctx, NULL);
}
