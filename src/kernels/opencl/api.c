/* api.c - see api.h. */
#include "kernels/opencl/api.h"
#include "core/environment.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char FILE_NAME[] = "libOpenCL.so.1";

static struct {
    rd_opencl functions;
    char      why[RD_OPENCL_TEXT]; /* why OpenCL cannot be used; "": it has all functions */
} api;

/* Stores the address of a function of the library in *function, which is a pointer to a
 * function.  ISO C has no such cast, so memcpy() does it. api.why gets the name of the first
 * missing function. */
static void find(void *file, const char *name, void *function)
{
    void *const address = dlsym(file, name);

    memcpy(function, &address, sizeof address);
    if (!address && api.why[0] == '\0')
        snprintf(api.why, sizeof api.why, "%s lacks %s", FILE_NAME, name);
}

/* Loads OpenCL's library and finds its functions.  A setuid program does not load it, as
 * environment variables decide which code OpenCL loads.  The library is never unloaded, as its
 * threads live as long as the process. */
static void load(void)
{
    void *const file =
        rd_environment_is_trusted() ? dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL) : NULL;

    if (!rd_environment_is_trusted())
        snprintf(api.why, sizeof api.why, "this program has rights that its user has not");
    else if (!file)
        snprintf(api.why, sizeof api.why, "%s not found", FILE_NAME);
    if (!file)
        return;
#define RD_OPENCL(returns, name, parameters) find(file, #name, &api.functions.name);
#include "kernels/opencl/api.def"
}

/* Returns the table of OpenCL's functions, which the process's first call loads.  NULL: OpenCL
 * cannot be used, and *why has the reason. */
const rd_opencl *rd_opencl_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (why)
        *why = api.why;
    return api.why[0] ? NULL : &api.functions;
}

/* Returns ", " and the name of an error, ", CL_OUT_OF_RESOURCES"; "" if api.def has no name for
 * it. */
static const char *name_of(cl_int error)
{
#define RD_OPENCL_ERROR(name, number) \
    if (error == (number))            \
        return ", " #name;
#include "kernels/opencl/api.def"
    return "";
}

/* Checks the result of an OpenCL call: true for success; else `why` gets "clFinish: -5,
 * CL_OUT_OF_RESOURCES". */
bool rd_opencl_ok(const char *function, cl_int error, char why[RD_OPENCL_TEXT])
{
    if (error != CL_SUCCESS)
        snprintf(why, RD_OPENCL_TEXT, "%s: %d%s", function, (int)error, name_of(error));
    return error == CL_SUCCESS;
}

/* True if the error means that memory is short.  CL_INVALID_BUFFER_SIZE is a buffer larger than
 * the device allows. */
bool rd_opencl_is_full(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
           error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
}
