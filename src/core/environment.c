/* environment.c - see environment.h. */
#include "core/environment.h"
#include <stdlib.h>
#ifdef __linux__
#include <sys/auxv.h>
#else
#include <unistd.h>
#endif

enum { SETS, NAMES };

static const struct {
    const char *name;
    int         trust;
} variables[] = {
#define RD_VARIABLE(name, trust) [RD_ENV_##name] = { #name, trust },
#include "core/environment.def"
};

static bool distrusted;

void rd_environment_distrust(bool distrust)
{
    distrusted = distrust;
}

/* The kernel says it once, when the program starts.  Identities do not: they are equal again after
 * setuid(0), and file capabilities change none. */
bool rd_environment_is_trusted(void)
{
#ifdef __linux__
    return !distrusted && getauxval(AT_SECURE) == 0;
#else
    return !distrusted && getuid() == geteuid() && getgid() == getegid();
#endif
}

const char *rd_variable_name(rd_variable variable)
{
    return variables[variable].name;
}

const char *rd_environment(rd_variable variable)
{
    if (variables[variable].trust == NAMES && !rd_environment_is_trusted())
        return NULL;
    return getenv(variables[variable].name);
}
