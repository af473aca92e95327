/* options.h - what the command line asks for. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H
#include "base.h"

/* If coordinates of operands differ, the command fails (exact), keeps those that both have (inner) or those
 * of the first one (left), or goes by position. */
typedef enum cmd_align { CMD_EXACT, CMD_INNER, CMD_LEFT, CMD_POSITION } cmd_align;

typedef struct cmd_output {
    const char *name; /* of the result; NULL: all of them */
    const char *path;
} cmd_output;

typedef struct cmd_options {
    const char  *command; /* the whole line, as a shell would read it */
    const char  *formula; /* NULL: --list, or --help and the like, which end the program */
    int          n_inputs, n_outputs;
    const char **inputs; /* "sst=a.nc", "a.nc", as given */
    cmd_output  *outputs;
    const char  *only, *join, *plot, *explain; /* NULL: not asked for */
    bool         dot, time, progress, list, ignore_units;
    cmd_align    align;
    rd_backend   backend;
    int32_t      threads;
} cmd_options;

cmd_options cmd_read_options(int argc, char **argv);
#endif
