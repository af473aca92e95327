/* environment.h - what the environment may tell the library.  Nothing else in it reads variables. */
#ifndef RD_CORE_ENVIRONMENT_H
#define RD_CORE_ENVIRONMENT_H
#include <stdbool.h>

typedef enum rd_variable {
#define RD_VARIABLE(name, trust) RD_ENV_##name,
#include "core/environment.def"
    RD_N_VARIABLES
} rd_variable;

/* "RDIM_CC". */
const char *rd_variable_name(rd_variable variable);
/* Its value; NULL: it is not set, or does not count in this process. */
const char *rd_environment(rd_variable variable);
/* While a thread makes a plan it looks each variable up once: some twenty places ask, and environments may
 * be long.  Calls may be nested; each hold ends with a release. */
void rd_environment_hold(void);
void rd_environment_release(void);
/* May variables that name code and files be believed?  Not in a program that was started with rights
 * that its user has not: setuid, setgid, file capabilities, or as a security module says.  That stays
 * so whatever identity the process takes later. */
bool rd_environment_is_trusted(void);
void rd_environment_distrust(bool distrust); /* tests: as such a program */
#endif
