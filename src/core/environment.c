/* environment.c - the values of the library's environment variables.  Some name code or files, and
 * are not trusted in a program that was started with extra rights. */
#include "core/environment.h"
#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/auxv.h>
#else
#include <unistd.h>
#endif

/* The column `trust` of environment.def: SETS numbers and switches, NAMES code or files. */
enum { SETS, NAMES };

static const struct {
    const char *name;
    int         trust;
} variables[] = {
#define RD_VARIABLE(name, trust) [RD_ENV_##name] = { #name, trust },
#include "core/environment.def"
};

static bool distrusted;

/* For tests: true makes variables that name code or files untrusted. */
void rd_environment_distrust(bool distrust)
{
    distrusted = distrust;
}

/* True unless the program was started with extra rights.  The kernel tells it at the start.
 * User ids do not tell: they are equal again after setuid(0), and file capabilities change none. */
bool rd_environment_is_trusted(void)
{
#ifdef __linux__
    return !distrusted && getauxval(AT_SECURE) == 0;
#else
    return !distrusted && getuid() == geteuid() && getgid() == getegid();
#endif
}

/* The name of a variable, as "RDIM_CC". */
const char *rd_variable_name(rd_variable variable)
{
    return variables[variable].name;
}

/* Returns the value of a variable now; NULL: it is not set, or it names code or files and the
 * program was started with extra rights. */
static const char *look_up(rd_variable variable)
{
    if (variables[variable].trust == NAMES && !rd_environment_is_trusted())
        return NULL;
    return getenv(variables[variable].name);
}

/* ---- Held values ----------------------------------------------------------------------------- */

/* The values that this thread holds while it makes a plan. */
typedef struct held {
    int         holds; /* holds that have not ended */
    uint64_t    known; /* a bit for each variable that was looked up */
    const char *value[RD_N_VARIABLES];
} held;

static _Thread_local held of_thread;

/* Begins to hold values in this thread: until the matching release each variable is looked up at
 * most once. Calls nest. */
void rd_environment_hold(void)
{
    if (of_thread.holds++ == 0)
        of_thread.known = 0;
}

/* Ends one hold of values (rd_environment_hold()); after the last one variables are looked up
 * each time again. */
void rd_environment_release(void)
{
    of_thread.holds--;
}

/* The value of a variable, looked up once while values are held; NULL: not set, or not trusted.
 * `known` has a bit for each variable that was looked up since the first hold. */
const char *rd_environment(rd_variable variable)
{
    held *const    h   = &of_thread;
    const uint64_t bit = UINT64_C(1) << variable;

    if (h->holds == 0)
        return look_up(variable);
    if (!(h->known & bit)) {
        h->value[variable] = look_up(variable);
        h->known |= bit;
    }
    return h->value[variable];
}
