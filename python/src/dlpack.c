/* dlpack.c - tensors of PyTorch, JAX, CuPy and others, there and back, without a copy. */
#include "core.h"
#include <string.h>

/* A capsule's tensor is ours once it has been renamed. */
static PyObject *from_dlpack(PyObject *self, PyObject *capsule)
{
    const bool       versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    rdpy_home *const home      = rdpy_my_home();
    rd_array         array;
    rd_status        status;

    (void)self;
    if (!home)
        return NULL;
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor"))
        return PyErr_Format(PyExc_TypeError,
                            "rdim.from_dlpack: %R is no capsule of a tensor, or was "
                            "used already",
                            capsule);
    void *const tensor =
        PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");

    if (PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") < 0)
        return NULL;
    status = versioned ? rd_from_dlpack_versioned(home->ctx, tensor, &array)
                       : rd_from_dlpack(home->ctx, tensor, &array);
    return status == RD_OK ? rdpy_own_memory(home, &array) : rdpy_raise(home->ctx);
}

/* A tensor that nobody has taken ends with its capsule.  Its first members are version, manager and
 * deleter, or the tensor, manager and deleter; the library's own reader ends it. */
static void drop_tensor(PyObject *capsule)
{
    rd_ctx  *ctx;
    rd_array array;

    if (!PyCapsule_IsValid(capsule, "dltensor") || !(ctx = rd_ctx_new(NULL)))
        return;
    if (rd_from_dlpack(ctx, PyCapsule_GetPointer(capsule, "dltensor"), &array) == RD_OK)
        rd_array_free(&array);
    rd_ctx_free(ctx);
}

static void drop_versioned(PyObject *capsule)
{
    rd_ctx  *ctx;
    rd_array array;

    if (!PyCapsule_IsValid(capsule, "dltensor_versioned") || !(ctx = rd_ctx_new(NULL)))
        return;
    if (rd_from_dlpack_versioned(ctx, PyCapsule_GetPointer(capsule, "dltensor_versioned"),
                                 &array) == RD_OK)
        rd_array_free(&array);
    rd_ctx_free(ctx);
}

/* to_dlpack(array, versioned): a capsule of its elements, evaluated into fresh memory */
static PyObject *to_dlpack(PyObject *self, PyObject *args)
{
    PyObject *given, *capsule;
    int       versioned;
    rd_array  out = { 0 };
    void     *tensor;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!p:to_dlpack", rdpy_array_type, &given, &versioned))
        return NULL;
    rdpy_home *const home = rdpy_my_home();

    if (!home || rdpy_evaluate_fresh(home, given, &out) < 0)
        return NULL;
    tensor = versioned ? (void *)rd_to_dlpack_versioned(home->ctx, &out)
                       : (void *)rd_to_dlpack(home->ctx, &out);
    if (!tensor) {
        rd_array_free(&out);
        return rdpy_raise(home->ctx);
    }
    capsule = PyCapsule_New(tensor, versioned ? "dltensor_versioned" : "dltensor",
                            versioned ? drop_versioned : drop_tensor);
    return capsule;
}

PyMethodDef rdpy_dlpack_functions[] = {
    { "from_dlpack", from_dlpack, METH_O, "from_dlpack(capsule)" },
    { "to_dlpack", to_dlpack, METH_VARARGS, "to_dlpack(array, versioned)" },
    { NULL, NULL, 0, NULL }
};
