/* inputs.h - finds names of a formula in files. */
#ifndef CMD_INPUTS_H
#define CMD_INPUTS_H
#include "files/file.h"
#include "options.h"

/* One of several variables that are joined, and its file. */
typedef struct cmd_part {
    cmd_file     *file;
    cmd_variable *v;
} cmd_part;

/* A name that a formula may use: for a variable, for several that are joined, or for a number. */
typedef struct cmd_known {
    const char  *name;
    cmd_variable v;                 /* its axes are those of v.x */
    rd_axis_from from[RD_MAX_RANK]; /* where each axis of v.x comes from */
    int          n_parts;
    cmd_part    *parts;
} cmd_known;

/* An argument of the command line: [NAME=]FILE or NAME=NUMBER. */
typedef struct cmd_source {
    const char *name;     /* NULL: the files have names */
    const char *variable; /* behind a colon; NULL: the only one */
    double      number;   /* if there are no files */
    bool        is_whole; /* the number is `whole`, exact to 64 bits */
    int64_t     whole;
    int         n;
    cmd_file  **files;
} cmd_source;

/* An axis that comes from no file: of groups, or of a computed index. */
typedef struct cmd_made_axis {
    rd_expr                    *from;
    int32_t                     axis;
    cmd_axis                    is;
    const struct cmd_made_axis *older;
} cmd_made_axis;

typedef struct cmd_dated  cmd_dated;  /* results of month(time) and the like: dates.c */
typedef struct cmd_valued cmd_valued; /* units of results: convert.c */

/* A warning that was printed; a list, the newest first. */
typedef struct cmd_told {
    const char            *sentence;
    const struct cmd_told *older;
} cmd_told;

/* All that is known about the files and the formula. */
typedef struct cmd_inputs {
    rd_ctx              *ctx;
    const char          *join;
    cmd_align            align;
    int                  n, n_known;
    cmd_source          *sources;
    cmd_known           *known; /* names that were looked up, at most CMD_MOST_KNOWN */
    const cmd_made_axis *made;
    const cmd_dated     *dated;
    const cmd_valued    *valued;
    const cmd_told      *told;
    bool                 ignore_units;
    const char          *missing; /* the last name that was not found */
} cmd_inputs;
/* Names that a formula can look up. */
enum { CMD_MOST_KNOWN = 256 };

cmd_inputs cmd_open_inputs(rd_ctx *ctx, const cmd_options *options);
/* Finds a name of the formula; the function rd_formula_opts.find. NULL: no file has the name. */
rd_expr *cmd_lookup(void *user, rd_ctx *ctx, const char *name);
/* Lists all names that a formula may use, for error messages. */
const char *cmd_names(const cmd_inputs *inputs);
/* Prints the variables of all files: --list. */
void cmd_list(const cmd_inputs *inputs);
/* Prints a warning on stderr, once. */
void cmd_warn_once(cmd_inputs *inputs, const char *sentence);
/* Returns the bytes of all variables that were looked up. */
int64_t cmd_bytes(const cmd_inputs *inputs);
#endif
