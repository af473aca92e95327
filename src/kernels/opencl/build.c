/* build.c - compiles kernel texts by OpenCL's compiler, once in a process. */
#include "kernels/opencl/kernel_run.h"
#include "kernels/store/hash.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rd_opencl_prelude[];

/* Results depend on these options: none makes them less exact. */
static const char OPTIONS[] = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -w";

/* A compiled text, in a list of all that this process has compiled. */
typedef struct built {
    struct built       *next;
    rd_hash             hash; /* of the text */
    const rd_cl_device *device;
    cl_program          program;             /* NULL: it does not compile */
    char                why[RD_OPENCL_TEXT]; /* the reason if it does not compile */
} built;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static built          *all;

/* Appends the first error of the compiler's messages to the reason, up to the end of its line. 7
 * is the length of "error: ". */
static void add_message(built *b, cl_program program)
{
    const rd_opencl *const api   = rd_opencl_api(/*why=*/NULL);
    size_t                 bytes = 0, n = strlen(b->why);
    char                  *log;
    const char            *at;

    (void)api->clGetProgramBuildInfo(program, b->device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    log = bytes ? calloc(1, bytes + 1) : NULL;
    if (!log)
        return;
    (void)api->clGetProgramBuildInfo(program, b->device->id, CL_PROGRAM_BUILD_LOG, bytes, log,
                                     NULL);
    at = strstr(log, "error: ");
    if (at)
        snprintf(b->why + n, sizeof b->why - n, ": %.*s", (int)strcspn(at + 7, "\n"), at + 7);
    free(log);
}

/* Compiles the prelude and the text for the device; b->program gets the result, NULL on failure,
 * and b->why the compiler's message. */
static void compile(built *b, const char *text)
{
    const rd_opencl *const api     = rd_opencl_api(/*why=*/NULL);
    const char            *parts[] = { rd_opencl_prelude, text };
    cl_int                 error;
    cl_program program = api->clCreateProgramWithSource(b->device->context, 2, parts, NULL, &error);

    if (!rd_opencl_ok("clCreateProgramWithSource", error, b->why))
        return;
    error = api->clBuildProgram(program, 1, &b->device->id, OPTIONS, NULL, NULL);
    if (rd_opencl_ok("clBuildProgram", error, b->why)) {
        b->program = program;
        return;
    }
    add_message(b, program);
    (void)api->clReleaseProgram(program);
}

/* Returns a text that was compiled for the device before, by its hash; NULL: none.  The caller
 * holds the lock. */
static built *find(rd_hash hash, const rd_cl_device *device)
{
    for (built *b = all; b; b = b->next)
        if (b->hash.a == hash.a && b->hash.b == hash.b && b->device == device)
            return b;
    return NULL;
}

/* Returns the OpenCL program of a text on a device: one that was compiled before, or a new one.
 * NULL: it does not compile, and `why` has the reason. */
cl_program rd_cl_build(const rd_cl_device *device, const char *text, char why[RD_OPENCL_TEXT])
{
    const rd_hash hash    = rd_hash_add(rd_hash_begin(), text, strlen(text));
    cl_program    program = NULL;
    built        *b;

    pthread_mutex_lock(&lock);
    b = find(hash, device);
    if (!b && (b = calloc(1, sizeof *b))) {
        b->hash   = hash;
        b->device = device;
        b->next   = all;
        all       = b;
        compile(b, text);
    }
    program = b ? b->program : NULL;
    if (!program)
        snprintf(why, RD_OPENCL_TEXT, "%s", b ? b->why : "out of memory");
    pthread_mutex_unlock(&lock);
    return program;
}
