/* beside.h - what is written beside the numbers of a result: attributes and other variables of
 * its file.
 *
 * A variable of a file is described by attributes, and some attributes name other variables:
 * auxiliary coordinates, bounds, the grid mapping (CF conventions). A result keeps those
 * variables that have its axes, cut as the result is cut. They are gathered before results are
 * computed, for formats that can store them (file.h: `keeps`). */
#ifndef CMD_BESIDE_H
#define CMD_BESIDE_H
#include "inputs.h"
#include "options.h"
#include "output.h"

/* A variable that is written beside a result; filled by beside_elements.c. */
typedef struct cmd_beside {
    const char    *name; /* its name in the output */
    const char    *from; /* its name in its file, without groups */
    cmd_kind       kind;
    rd_dtype       type;              /* if it has numbers */
    rd_shape       shape;             /* after cutting */
    int            axis[RD_MAX_RANK]; /* the axis of the result that each axis is; -1: its own */
    const char    *dimension[RD_MAX_RANK]; /* names of its dimensions in the file */
    const void    *at;                     /* its elements */
    cmd_layout     layout;
    cmd_attributes attributes;
    bool           fitted; /* attributes name variables as the output does */
} cmd_beside;

/* The data written beside one result; gathered by beside.c. */
struct cmd_kept {
    cmd_attributes attributes; /* those of the result */
    double         fill;       /* the fill value of missing elements; NaN: none */
    cmd_layout     layout;     /* chunks, in the order of the axes of the result */
    int            n;
    cmd_beside   **beside;
    cmd_beside    *coordinate
        [RD_MAX_RANK]; /* the coordinates of each axis, one of `beside`; NULL: none is in a file */
    const char *outside; /* names of variables in no file, with blanks around each */
};

/* Gathers what is written beside all results, for files that store it. */
void cmd_keep_beside(const cmd_inputs *in, const cmd_options *o, cmd_results *results,
                     cmd_targets *targets);

/* ---- beside_names.c -------------------------------------------------------------------------- */
/* True if the values of that attribute are names of variables. */
bool cmd_names_variables(const char *attribute);
/* Returns the next word of a text, and moves *at behind it; "" at the end. */
const char *cmd_next_word(const char **at);
/* Removes names of variables that are not written from attributes, and puts new names in. */
void cmd_fit_names(cmd_attributes *all, const struct cmd_kept *kept);

/* ---- beside_attributes.c --------------------------------------------------------------------- */
/* Returns the attributes of a result: those of the operand that describes it, and those that
 * name variables of `lead`, from which its axes come. Each operand may be NULL. */
cmd_attributes cmd_kept_attributes(const cmd_known *operand, const cmd_known *lead,
                                   const cmd_result *r);
/* Returns the fill value in the file of the operand, if it can mark missing elements of the
 * result; NaN otherwise. */
double cmd_kept_fill(const cmd_known *operand, const cmd_result *r);
/* Returns the attributes of an output file: those that all input files share, and a line of
 * history. */
cmd_attributes cmd_attributes_of_file(const cmd_inputs *in, const char *command,
                                      const cmd_results *results);
#endif
