/* beside.h - what a result keeps of its file beside numbers.
 *
 * A variable of a file says what it is in attributes, and names other variables in some of them: auxiliary
 * coordinates, bounds, the mapping of the grid (CF's conventions).  Of these a result keeps those whose axes
 * it has, cut as it is cut.  It is gathered before results are computed, for formats that have room for
 * it (file.h: `keeps`). */
#ifndef CMD_BESIDE_H
#define CMD_BESIDE_H
#include "inputs.h"
#include "options.h"
#include "output.h"

/* A variable that is written beside results. */
typedef struct cmd_beside {
    const char    *name; /* in the output */
    const char    *from; /* in its file, without groups */
    cmd_kind       kind;
    rd_dtype       type;              /* of numbers */
    rd_shape       shape;             /* as it is cut */
    int            axis[RD_MAX_RANK]; /* of the result, that it has this axis from; -1: its own */
    const char    *dimension[RD_MAX_RANK]; /* as the file calls it */
    const void    *at;                     /* its elements */
    cmd_layout     layout;
    cmd_attributes attributes;
    bool           fitted; /* names in them are those in the output */
} cmd_beside;

struct cmd_kept {
    cmd_attributes attributes; /* of the result */
    double         fill;       /* stands for what is missing */
    cmd_layout     layout;     /* of the result, in the order of its axes */
    int            n;
    cmd_beside   **beside;
    cmd_beside
        *coordinate[RD_MAX_RANK]; /* of each axis, among the former; NULL: none is in a file */
    const char *outside; /* names of variables that are in no file here, with blanks around each */
};

/* For all results that go to files which keep it. */
void cmd_keep_beside(const cmd_inputs *in, const cmd_options *o, cmd_results *results,
                     cmd_targets *targets);

/* ---- beside_names.c -------------------------------------------------------------------------- */
/* Does an attribute of that name name variables? */
bool cmd_names_variables(const char *attribute);
/* The next word of a text, *at moved behind it; "" at its end. */
const char *cmd_next_word(const char **at);
/* Takes names out of attributes that are not among those that are kept, and gives others their new
 * names. */
void cmd_fit_names(cmd_attributes *all, const struct cmd_kept *kept);

/* ---- beside_attributes.c --------------------------------------------------------------------- */
/* Attributes of a result of type `type`: those of the operand that it is described after, and those which
 * name variables of `lead`, that its axes come from.  Each may be NULL. */
cmd_attributes cmd_kept_attributes(const cmd_known *operand, const cmd_known *lead,
                                   const cmd_result *r);
/* The number that stands for what is missing in the file of the operand, if it can in the result: NaN,
 * where none can. */
double cmd_kept_fill(const cmd_known *operand, const cmd_result *r);
/* Attributes of a file of results: what all their files say, and one line of history more. */
cmd_attributes cmd_attributes_of_file(const cmd_inputs *in, const char *command,
                                      const cmd_results *results);
#endif
