/* stay_loaded.c - see stay_loaded.h. */
#define _GNU_SOURCE /* dladdr */
#include "core/stay_loaded.h"
#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void stay(void)
{
    Dl_info info;

    if (dladdr((void *)&once, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

void rd_stay_loaded(void)
{
    pthread_once(&once, stay);
}
