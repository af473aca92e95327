/* api.c - where the driver and NVRTC are, and what they export. */
#include "kernels/cuda/api.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files ----------------------------------------------------------------------------------- */
enum { PATH = 4096 };

/* A file that is not there has the loader's whole sentence, which says less; one that is there and
 * cannot be used, or needs another that is not there, has a reason. */
static void say_missing(const char *name, const char *reason, char why[RD_CUDA_TEXT])
{
    const size_t n = strlen(name);

    if (!reason || (strncmp(reason, name, n) == 0 && strstr(reason, "No such file")))
        snprintf(why, RD_CUDA_TEXT, "%s not found", name);
    else
        snprintf(why, RD_CUDA_TEXT, "%s", reason);
}

static void *open_file(const char *name, char why[RD_CUDA_TEXT])
{
    void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!file)
        say_missing(name, dlerror(), why);
    return file;
}

typedef bool suits_fn(void *file, const char *name, char why[RD_CUDA_TEXT]);

/* It is said why the first file that is there does not suit; if there is none, why the first name,
 * which is the usual one, was of no use. */
static void *open_first(const char *const *names, suits_fn *suits, char *found,
                        char why[RD_CUDA_TEXT])
{
    char  reason[RD_CUDA_TEXT];
    bool  refused = false;
    void *file    = NULL;

    for (int i = 0; names[i] && !file; i++) {
        file = open_file(names[i], reason);

        const bool unsuited = file && suits && !suits(file, names[i], reason);

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

static void *open_driver(char *found, char why[RD_CUDA_TEXT])
{
    const char *const named = getenv("RDIM_LIBCUDA");

    return open_first((const char *const[]){ named ? named : "libcuda.so.1", NULL }, NULL, found,
                      why);
}

/* A driver runs no code of a later CUDA; of another minor number it does. */
static bool suits_driver(void *file, const char *name, char why[RD_CUDA_TEXT])
{
    const rd_cuda *cuda   = rd_cuda_api(NULL);
    int            driver = 0, major = 0, minor = 0;
    nvrtcResult (*version)(int *, int *);
    void *const address = dlsym(file, "nvrtcVersion");

    memcpy(&version, &address, sizeof version);
    if (!cuda || cuda->cuDriverGetVersion(&driver) != CUDA_SUCCESS || !version ||
        version(&major, &minor) != NVRTC_SUCCESS || major <= driver / 1000)
        return true;
    snprintf(why, RD_CUDA_TEXT, "%.200s is of CUDA %d, the driver of CUDA %d", name, major,
             driver / 1000);
    return false;
}

/* Where the loader looks; then where toolkits are put, of which the loader need not know. */
static void *open_nvrtc(char *found, char why[RD_CUDA_TEXT])
{
    const char *const named = getenv("RDIM_LIBNVRTC"), *const home = getenv("CUDA_HOME");
    char at_home[PATH];

    if (named)
        return open_first((const char *const[]){ named, NULL }, NULL, found, why);
    snprintf(at_home, sizeof at_home, "%s/lib64/libnvrtc.so", home ? home : "/usr/local/cuda");
    return open_first((const char *const[]){ "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                             at_home, "/usr/local/cuda/lib64/libnvrtc.so", NULL },
                      suits_driver, found, why);
}

/* ---- Functions ------------------------------------------------------------------------------- */
/* The address as a pointer to a function, into `function`.  What is missing is said of the first. */
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
    char    why[RD_CUDA_TEXT]; /* "": they are all there */
} driver;

static struct {
    rd_nvrtc functions;
    char     why[RD_CUDA_TEXT];
} nvrtc;

/* Files stay open for good: threads and handles of theirs live as long as the process. */
static void load_driver(void)
{
    char  path[PATH];
    void *file = open_driver(path, driver.why);

    if (file) {
        driver.why[0] = '\0';
#define RD_DRIVER(name, parameters) find(file, path, #name, &driver.functions.name, driver.why);
#include "kernels/cuda/api.def"
    }
}

static void load_nvrtc(void)
{
    char  path[PATH];
    void *file = open_nvrtc(path, nvrtc.why);

    if (file) {
        nvrtc.why[0] = '\0';
#define RD_NVRTC(returns, name, parameters) \
    find(file, path, #name, &nvrtc.functions.name, nvrtc.why);
#include "kernels/cuda/api.def"
    }
}

const rd_cuda *rd_cuda_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_driver);
    if (why)
        *why = driver.why;
    return driver.why[0] ? NULL : &driver.functions;
}

const rd_nvrtc *rd_nvrtc_api(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_nvrtc);
    if (why)
        *why = nvrtc.why;
    return nvrtc.why[0] ? NULL : &nvrtc.functions;
}

/* ---- Errors ---------------------------------------------------------------------------------- */
/* Manuals know functions without the version that the files put behind the name. */
static int length_of(const char *function)
{
    const char *version = strstr(function, "_v2");

    return version ? (int)(version - function) : (int)strlen(function);
}

static void say(const char *function, int error, const char *meaning, char text[RD_CUDA_TEXT])
{
    snprintf(text, RD_CUDA_TEXT, "%.*s: %d%s%s", length_of(function), function, error,
             meaning ? ", " : "", meaning ? meaning : "");
}

void rd_cuda_error(const char *function, CUresult error, char text[RD_CUDA_TEXT])
{
    const rd_cuda *cuda    = rd_cuda_api(NULL);
    const char    *meaning = NULL;

    if (!cuda || cuda->cuGetErrorString(error, &meaning) != CUDA_SUCCESS)
        meaning = NULL;
    say(function, error, meaning, text);
}

void rd_nvrtc_error(const char *function, nvrtcResult error, char text[RD_CUDA_TEXT])
{
    const rd_nvrtc *api = rd_nvrtc_api(NULL);

    say(function, error, api ? api->nvrtcGetErrorString(error) : NULL, text);
}
