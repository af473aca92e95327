/* inputs.h - names of a formula as variables of files. */
#ifndef CMD_INPUTS_H
#define CMD_INPUTS_H
#include "files/file.h"
#include "options.h"

typedef struct cmd_part {
    cmd_file     *file;
    cmd_variable *v;
} cmd_part;

/* A name that a formula may use.  It stands for a variable, for several that are joined, or for a number. */
typedef struct cmd_known {
    const char  *name;
    cmd_variable v; /* its axes are those of v.x */
    rd_axis_from from[RD_MAX_RANK];
    int          n_parts;
    cmd_part    *parts;
} cmd_known;

typedef struct cmd_source {
    const char *name;     /* NULL: its variables' names count */
    const char *variable; /* of the files; NULL: the only one */
    double      number;   /* where there are no files */
    bool        is_whole; /* it is `whole`, in which a double may lack digits */
    int64_t     whole;
    int         n;
    cmd_file  **files;
} cmd_source;

/* An axis that comes from no file: of groups, or of an index that was made. */
typedef struct cmd_made_axis {
    rd_expr                    *from;
    int32_t                     axis;
    cmd_axis                    is;
    const struct cmd_made_axis *older;
} cmd_made_axis;

typedef struct cmd_dated  cmd_dated;  /* month(time) and the like: dates.c */
typedef struct cmd_valued cmd_valued; /* units of what a formula makes: convert.c */

/* A warning that was given. */
typedef struct cmd_told {
    const char            *sentence;
    const struct cmd_told *older;
} cmd_told;

typedef struct cmd_inputs {
    rd_ctx              *ctx;
    const char          *join;
    cmd_align            align;
    int                  n, n_known;
    cmd_source          *sources;
    cmd_known           *known; /* names that were looked up, at most MOST_KNOWN */
    const cmd_made_axis *made;
    const cmd_dated     *dated;
    const cmd_valued    *valued;
    const cmd_told      *told;
    bool                 ignore_units;
    const char          *missing; /* the last name that was not found */
} cmd_inputs;
enum { CMD_MOST_KNOWN = 256 };

cmd_inputs cmd_open_inputs(rd_ctx *ctx, const cmd_options *options);
/* Finds a name of the formula, as rd_formula_opts wants it; NULL: no file has it. */
rd_expr *cmd_lookup(void *user, rd_ctx *ctx, const char *name);
/* "sst (12, 90, 180), lat (90)": for who has asked for another name. */
const char *cmd_names(const cmd_inputs *inputs);
void        cmd_list(const cmd_inputs *inputs);
/* Says a sentence on stderr, once. */
void cmd_warn_once(cmd_inputs *inputs, const char *sentence);
/* Bytes of all that was looked up. */
int64_t cmd_bytes(const cmd_inputs *inputs);
#endif
