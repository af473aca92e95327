/* python_api.h - Python's stable ABI as of 3.10, so that one file serves all later versions.  Free-threaded
 * builds have none: for these the extension is of one version.
 *
 * Buffers joined the stable ABI in 3.11, with the layout and the functions that 3.10 has; so they are
 * declared here. */
#ifndef RDPY_PYTHON_API_H
#define RDPY_PYTHON_API_H
#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#if !defined(Py_GIL_DISABLED) && !defined(Py_LIMITED_API)
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>

enum { RDPY_BUFFER_WRITABLE = 1, RDPY_BUFFER_FORMAT = 4, RDPY_BUFFER_STRIDES = 0x18 };
#ifdef Py_GIL_DISABLED
typedef Py_buffer rdpy_buffer;
#else
typedef struct rdpy_buffer {
    void       *buf;
    PyObject   *obj;
    Py_ssize_t  len, itemsize;
    int         readonly, ndim;
    char       *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void       *internal;
} rdpy_buffer;

PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *o, rdpy_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(rdpy_buffer *view);
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *o);
#endif
#endif
