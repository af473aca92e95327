/* stay_loaded.c - keeps the library loaded, because its threads outlive its use. */
#define _GNU_SOURCE /* dladdr */
#include "core/stay_loaded.h"
#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Opens this library once more, by its file name, with RTLD_NODELETE, so that it is never
 * unloaded. */
static void stay(void)
{
    Dl_info info;

    if (dladdr((void *)&once, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Keeps this library loaded from now on; only the first call does something. */
void rd_stay_loaded(void)
{
    pthread_once(&once, stay);
}
