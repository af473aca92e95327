/* options.h - the command line. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H
#include "base.h"

/* Treatment of operands with different coordinates: an error (exact), the common coordinates
 * (inner), those of the first operand (left), or no comparison (position). */
typedef enum cmd_align { CMD_EXACT, CMD_INNER, CMD_LEFT, CMD_POSITION } cmd_align;

/* An option -o. */
typedef struct cmd_output {
    const char *name; /* of one result; NULL: all results */
    const char *path;
} cmd_output;

/* The command line, filled by cmd_read_options(). */
typedef struct cmd_options {
    const char  *command; /* the whole command line, quoted for a shell */
    const char  *formula; /* NULL: --list, or --help and the like, which end the program */
    int          n_inputs, n_outputs;
    const char **inputs; /* "sst=a.nc", "a.nc", as given */
    cmd_output  *outputs;
    const char  *only, *join, *plot, *explain; /* NULL: not given */
    bool         dot, time, progress, list, ignore_units;
    cmd_align    align;
    rd_backend   backend;
    int32_t      threads;
} cmd_options;

cmd_options cmd_read_options(int argc, char **argv);
#endif
