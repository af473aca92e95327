/* module.c - the module rdim._core: all that the package rdim is made of. */
#include "core.h"

static PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT,
                                  .m_name = "rdim._core",
                                  .m_doc  = "Handles of the C library's expressions.",
                                  .m_size = -1 };

static int add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = { rdpy_leaf_functions,    rdpy_evaluate_functions,
                                    rdpy_text_functions,    rdpy_dlpack_functions,
                                    rdpy_pick_functions,    rdpy_home_functions,
                                    rdpy_sparse_functions,  rdpy_function_functions,
                                    rdpy_reducer_functions, rdpy_array_functions,
                                    rdpy_running_functions, rdpy_item_functions,
                                    rdpy_memory_functions };

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
    PyObject *const module = PyModule_Create(&definition);

    if (module && rdpy_errors_init(module) == 0 && rdpy_types_init(module) == 0 &&
        rdpy_array_init(module) == 0 && rdpy_maps_init(module) == 0 &&
        rdpy_reductions_init(module) == 0 && rdpy_calls_init(module) == 0 &&
        add_functions(module) == 0 && may_run_without_lock(module))
        return module;
    Py_XDECREF(module);
    return NULL;
}
