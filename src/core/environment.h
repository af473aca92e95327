/* environment.h - the environment variables of the library (environment.def).  No other file
 * reads the environment. */
#ifndef RD_CORE_ENVIRONMENT_H
#define RD_CORE_ENVIRONMENT_H
#include <stdbool.h>

typedef enum rd_variable {
#define RD_VARIABLE(name, trust) RD_ENV_##name,
#include "core/environment.def"
    RD_N_VARIABLES
} rd_variable;

/* The name, as "RDIM_CC". */
const char *rd_variable_name(rd_variable variable);
/* The value; NULL: not set, or not trusted in this process. */
const char *rd_environment(rd_variable variable);
/* Holds values while a thread makes a plan, so that each variable is looked up once: some twenty
 * places ask, and environments may be long.  Calls nest; each hold ends with a release. */
void rd_environment_hold(void);
void rd_environment_release(void);
/* True if variables that name code and files may be used.  Not in a program started with rights
 * that its user lacks: setuid, setgid, file capabilities, or a security module's word.  This
 * holds whatever identity the process takes later. */
bool rd_environment_is_trusted(void);
void rd_environment_distrust(bool distrust); /* tests: true makes them untrusted */
#endif
