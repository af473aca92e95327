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
    char      why[RD_OPENCL_TEXT]; /* "": they are all there */
} api;

/* Stores the address of a function in *function.  api.why names the first one that is missing. */
static void find(void *file, const char *name, void *function)
{
    void *const address = dlsym(file, name);

    memcpy(function, &address, sizeof address);
    if (!address && api.why[0] == '\0')
        snprintf(api.why, sizeof api.why, "%s lacks %s", FILE_NAME, name);
}

/* Opens the library and finds its functions, unless the program is setuid, as environment
 * variables say which code it loads.  It stays open, as its threads live as long as the process. */
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

const rd_opencl *rd_opencl_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (why)
        *why = api.why;
    return api.why[0] ? NULL : &api.functions;
}

/* ", CL_OUT_OF_RESOURCES": the name of an error, "" if it has none. */
static const char *name_of(cl_int error)
{
#define RD_OPENCL_ERROR(name, number) \
    if (error == (number))            \
        return ", " #name;
#include "kernels/opencl/api.def"
    return "";
}

bool rd_opencl_ok(const char *function, cl_int error, char why[RD_OPENCL_TEXT])
{
    if (error != CL_SUCCESS)
        snprintf(why, RD_OPENCL_TEXT, "%s: %d%s", function, (int)error, name_of(error));
    return error == CL_SUCCESS;
}

bool rd_opencl_is_full(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
           error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
}
