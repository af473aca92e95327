/* module.c - the module rdim._core: all that the package rdim is made of. */
#include "core.h"

static PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT,
                                  .m_name = "rdim._core",
                                  .m_doc  = "Handles of the C library's expressions.",
                                  .m_size = -1 };

/* The extension keeps objects, such as types and rdim._leaves.asarray, of the one interpreter that imports it
 * first.  A second one would put its own objects in their place.  Python 3.11 copies a module that it has for
 * another interpreter without a call of PyInit__core(), so rdim._dtypes asks, too. */
int rdpy_only_interpreter(void)
{
    static int64_t owner = -1;
    const int64_t  here  = PyInterpreterState_GetID(PyInterpreterState_Get());

    if (owner < 0)
        owner = here;
    if (here == owner)
        return 0;
    PyErr_SetString(
        PyExc_ImportError,
        "rdim is imported by one interpreter of a process, and another one has done so already; "
        "subinterpreters cannot share it");
    return -1;
}

static int add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = { rdpy_leaf_functions,       rdpy_evaluate_functions,
                                    rdpy_text_functions,       rdpy_dlpack_functions,
                                    rdpy_pick_functions,       rdpy_home_functions,
                                    rdpy_sparse_functions,     rdpy_function_functions,
                                    rdpy_reducer_functions,    rdpy_array_functions,
                                    rdpy_running_functions,    rdpy_item_functions,
                                    rdpy_memory_functions,     rdpy_error_functions,
                                    rdpy_derivative_functions, rdpy_solve_functions };

    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        if (PyModule_AddFunctions(module, tables[k]) < 0)
            return -1;
    return 0;
}

/* sharing.h says what is locked instead. */
static bool may_run_without_lock(PyObject *module)
{
#ifdef Py_GIL_DISABLED
    return PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) == 0;
#else
    return module != NULL;
#endif
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *const module = rdpy_only_interpreter() < 0 ? NULL : PyModule_Create(&definition);

    if (module && rdpy_errors_init(module) == 0 && rdpy_types_init(module) == 0 &&
        rdpy_array_init(module) == 0 && rdpy_maps_init(module) == 0 &&
        rdpy_reductions_init(module) == 0 && rdpy_calls_init(module) == 0 &&
        add_functions(module) == 0 && may_run_without_lock(module))
        return module;
    Py_XDECREF(module);
    return NULL;
}
