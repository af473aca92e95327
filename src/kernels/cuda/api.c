/* api.c - where the driver, NVRTC and cuBLAS are, and what they export. */
#include "kernels/cuda/api.h"
#include "core/environment.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files ----------------------------------------------------------------------------------- */
enum { PATH = 4096 };

/* Writes the reason why the loader could not open a library: "NAME not found" if the loader's
 * message only says that there is no such file, else that message. */
static void say_missing(const char *name, const char *reason, char why[RD_CUDA_TEXT])
{
    const size_t n = strlen(name);

    if (!reason || (strncmp(reason, name, n) == 0 && strstr(reason, "No such file")))
        snprintf(why, RD_CUDA_TEXT, "%s not found", name);
    else
        snprintf(why, RD_CUDA_TEXT, "%s", reason);
}

/* Loads a shared library.  Returns NULL if the library is missing or unusable, with the reason
 * in `why`. */
static void *open_file(const char *name, char why[RD_CUDA_TEXT])
{
    void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!file)
        say_missing(name, dlerror(), why);
    return file;
}

/* A function that returns the major CUDA version of a loaded library; 0: it does not tell it. */
typedef int major_fn(void *file);

/* Returns the major CUDA version of a loaded NVRTC library; 0 if the library does not tell it. */
static int nvrtc_major(void *file)
{
    int major = 0, minor;
    nvrtcResult (*version)(int *, int *);
    void *const address = dlsym(file, "nvrtcVersion");

    memcpy(&version, &address, sizeof version);
    return version && version(&major, &minor) == NVRTC_SUCCESS ? major : 0;
}

/* Returns the major CUDA version of a loaded cuBLAS library; 0 if the library does not tell it. */
static int cublas_major(void *file)
{
    int major = 0;
    cublasStatus_t (*property)(libraryPropertyType, int *);
    void *const address = dlsym(file, "cublasGetProperty");

    memcpy(&property, &address, sizeof property);
    return property && property(MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS ? major : 0;
}

/* True if the driver can run code that a library of CUDA `major` makes: any minor version will
 * do, but no later major one.  If the driver's version is unknown, the library is taken, too.
 * False: `why` has the reason.  The driver gives 12040 for CUDA 12.4. */
static bool suits_driver(int major, const char *name, char why[RD_CUDA_TEXT])
{
    const rd_cuda *cuda   = rd_cuda_api(/*why=*/NULL);
    int            driver = 0;

    if (!cuda || cuda->cuDriverGetVersion(&driver) != CUDA_SUCCESS || major <= driver / 1000)
        return true;
    snprintf(why, RD_CUDA_TEXT, "%.200s is of CUDA %d, the driver of CUDA %d", name, major,
             driver / 1000);
    return false;
}

/* Opens the first library of a list of names, ended by NULL, that is there and suits the driver.
 * `found` gets the last name that was tried. `major_of` reads a library's CUDA version; NULL:
 * any version will do. If none can be used, `why` explains the first unsuitable library, or, if
 * none was unsuitable, the first name. */
static void *open_first(const char *const *names, major_fn *major_of, char *found,
                        char why[RD_CUDA_TEXT])
{
    char  reason[RD_CUDA_TEXT];
    bool  refused = false;
    void *file    = NULL;

    for (int i = 0; names[i] && !file; i++) {
        file = open_file(names[i], reason);

        const bool unsuited = file && major_of && !suits_driver(major_of(file), names[i], reason);

        if (unsuited) {
            dlclose(file);
            file = NULL;
        }
        if (!file && (i == 0 || (unsuited && !refused)))
            snprintf(why, RD_CUDA_TEXT, "%s", reason);
        refused |= unsuited;
        snprintf(found, PATH, "%s", names[i]);
    }
    return file;
}

/* Opens CUDA's driver, libcuda.so.1, or the file that the environment variable RDIM_LIBCUDA
 * names. */
static void *open_driver(char *found, char why[RD_CUDA_TEXT])
{
    const char *const named = rd_environment(RD_ENV_RDIM_LIBCUDA);

    return open_first((const char *const[]){ named ? named : "libcuda.so.1", NULL },
                      /*major_of=*/NULL, found, why);
}

/* Opens a library of the CUDA toolkit, such as "libnvrtc.so": the file that the environment
 * variable names, if it is set.  Else the loader's search path is tried with the endings .13,
 * .12 and none, and then the toolkit's usual folders. */
static void *open_of_toolkit(rd_variable variable, const char *name, major_fn *major_of,
                             char *found, char why[RD_CUDA_TEXT])
{
    const char *const named = rd_environment(variable), *const home =
                                                            rd_environment(RD_ENV_CUDA_HOME);
    char of_13[64], of_12[64], at_home[PATH], usual[128];

    if (named)
        return open_first((const char *const[]){ named, NULL }, /*major_of=*/NULL, found, why);
    snprintf(of_13, sizeof of_13, "%s.13", name);
    snprintf(of_12, sizeof of_12, "%s.12", name);
    snprintf(usual, sizeof usual, "/usr/local/cuda/lib64/%s", name);
    snprintf(at_home, sizeof at_home, "%s/lib64/%s", home ? home : "/usr/local/cuda", name);
    return open_first((const char *const[]){ of_13, of_12, name, at_home, usual, NULL }, major_of,
                      found, why);
}

/* ---- Functions ------------------------------------------------------------------------------- */
/* Stores the address of a library's function in *function, which is a pointer to a function.
 * ISO C has no cast from void * to such a pointer, so memcpy() does it.  If the function is
 * missing, `why` gets its name, unless `why` has another one already. */
static void find(void *file, const char *path, const char *name, void *function,
                 char why[RD_CUDA_TEXT])
{
    void *const address = dlsym(file, name);

    memcpy(function, &address, sizeof address);
    if (!address && why[0] == '\0')
        snprintf(why, RD_CUDA_TEXT, "%.200s lacks %s", path, name);
}

static struct {
    rd_cuda functions;
    char    why[RD_CUDA_TEXT]; /* why the driver cannot be used; "": it has all functions */
} driver;

static struct {
    rd_nvrtc functions;
    char     why[RD_CUDA_TEXT];
} nvrtc;

static struct {
    rd_cublas functions;
    char      why[RD_CUDA_TEXT];
} cublas;

/* Loads the driver and finds its functions.  Missing optional functions stay NULL, without an
 * error.  The file is never closed, as its threads and handles live as long as the process. */
static void load_driver(void)
{
    char  path[PATH], ignored[RD_CUDA_TEXT] = "";
    void *file = open_driver(path, driver.why);

    if (file) {
        driver.why[0] = '\0';
#define RD_DRIVER(name, parameters)   find(file, path, #name, &driver.functions.name, driver.why);
#define RD_OPTIONAL(name, parameters) find(file, path, #name, &driver.functions.name, ignored);
#include "kernels/cuda/api.def"
    }
}

/* Loads CUDA's compiler NVRTC and finds its functions; nvrtc.why gets a reason if it cannot be
 * used. */
static void load_nvrtc(void)
{
    char  path[PATH];
    void *file = open_of_toolkit(RD_ENV_RDIM_LIBNVRTC, "libnvrtc.so", nvrtc_major, path, nvrtc.why);

    if (file) {
        nvrtc.why[0] = '\0';
#define RD_NVRTC(returns, name, parameters) \
    find(file, path, #name, &nvrtc.functions.name, nvrtc.why);
#include "kernels/cuda/api.def"
    }
}

/* Loads cuBLAS and finds its functions; cublas.why gets a reason if it cannot be used. */
static void load_cublas(void)
{
    char  path[PATH];
    void *file =
        open_of_toolkit(RD_ENV_RDIM_LIBCUBLAS, "libcublas.so", cublas_major, path, cublas.why);

    if (file) {
        cublas.why[0] = '\0';
#define RD_CUBLAS(returns, name, parameters) \
    find(file, path, #name, &cublas.functions.name, cublas.why);
#include "kernels/cuda/api.def"
    }
}

/* Returns the table of the driver's functions, which the process's first call loads.  NULL: the
 * driver is missing or lacks functions, and *why has the reason. */
const rd_cuda *rd_cuda_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_driver);
    if (why)
        *why = driver.why;
    return driver.why[0] ? NULL : &driver.functions;
}

/* Returns the table of NVRTC's functions, which the process's first call loads.  NULL: NVRTC is
 * missing or lacks functions, and *why has the reason. */
const rd_nvrtc *rd_nvrtc_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_nvrtc);
    if (why)
        *why = nvrtc.why;
    return nvrtc.why[0] ? NULL : &nvrtc.functions;
}

/* Returns the table of cuBLAS's functions, which the process's first call loads.  NULL: cuBLAS
 * is missing or lacks functions, and *why has the reason. */
const rd_cublas *rd_cublas_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_cublas);
    if (why)
        *why = cublas.why;
    return cublas.why[0] ? NULL : &cublas.functions;
}

/* ---- Errors ---------------------------------------------------------------------------------- */
/* Returns the length of a function's name without the suffix "_v2" of its symbol, which manuals
 * omit. */
static int length_of(const char *function)
{
    const char *version = strstr(function, "_v2");

    return version ? (int)(version - function) : (int)strlen(function);
}

/* Writes an error: "cuLaunchKernel: 700, an illegal memory access was encountered". */
static void say(const char *function, int error, const char *meaning, char text[RD_CUDA_TEXT])
{
    snprintf(text, RD_CUDA_TEXT, "%.*s: %d%s%s", length_of(function), function, error,
             meaning ? ", " : "", meaning ? meaning : "");
}

/* Writes an error of the driver with the driver's own explanation: "cuLaunchKernel: 700, an
 * illegal memory access was encountered". */
void rd_cuda_error(const char *function, CUresult error, char text[RD_CUDA_TEXT])
{
    const rd_cuda *cuda    = rd_cuda_api(/*why=*/NULL);
    const char    *meaning = NULL;

    if (!cuda || cuda->cuGetErrorString(error, &meaning) != CUDA_SUCCESS)
        meaning = NULL;
    say(function, error, meaning, text);
}

/* Writes an error of NVRTC with its name: "nvrtcCompileProgram: 6, NVRTC_ERROR_COMPILATION". */
void rd_nvrtc_error(const char *function, nvrtcResult error, char text[RD_CUDA_TEXT])
{
    const rd_nvrtc *api = rd_nvrtc_api(/*why=*/NULL);

    say(function, error, api ? api->nvrtcGetErrorString(error) : NULL, text);
}

/* Writes an error of cuBLAS with its name: "cublasGemmEx: 13, CUBLAS_STATUS_EXECUTION_FAILED". */
void rd_cublas_error(const char *function, cublasStatus_t status, char text[RD_CUDA_TEXT])
{
    const rd_cublas *api = rd_cublas_api(/*why=*/NULL);

    say(function, status, api ? api->cublasGetStatusName(status) : NULL, text);
}
