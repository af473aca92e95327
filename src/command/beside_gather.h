/* beside_gather.h - the search for variables that are written beside a result, for one operand. */
#ifndef CMD_BESIDE_GATHER_H
#define CMD_BESIDE_GATHER_H
#include "beside.h"

/* Bytes of variables that are compared; variables beside a result. */
enum { CMD_MOST_COMPARED = 1 << 24, CMD_MOST_BESIDE = 256 };

/* A variable of a file that may be written beside a result. */
typedef struct cmd_candidate {
    cmd_file       *file;
    cmd_variable   *v;
    const cmd_said *said;
    const char     *units, *calendar; /* those of the coordinates that it bounds, if it has none */
    int             by;               /* the candidate that names it; -1: the operand */
    bool            kept;
} cmd_candidate;

/* The state of a search. */
typedef struct cmd_gathering {
    const cmd_inputs *in;
    cmd_result       *r;
    const cmd_known  *k;
    int joined, shift;   /* axis along which files are joined; shift 1: that axis is new */
    int to[RD_MAX_RANK]; /* the axis of the result that comes from each axis of k; -1: none */
    rd_axis_from   cut[RD_MAX_RANK]; /* the part of k that each axis of the result is */
    int            n;
    cmd_candidate *at; /* candidates, variables of the first part */
} cmd_gathering;

/* ---- beside_gather.c ------------------------------------------------------------------------- */
/* Adds the variables of operand k to what is written beside the result. */
void cmd_gather_from(const cmd_inputs *in, cmd_result *r, const cmd_known *k);
/* Finds the axes of the result that come from k, and the part of k that each axis is. */
void cmd_map_axes(cmd_gathering *g);
/* Finds the axis of the first part that dimension d of v is. -1: k lacks it. */
int cmd_axis_of_dimension(const cmd_gathering *g, const cmd_variable *v, int d);
/* Finds the variable that an attribute of `from` names: in its group, then in the groups above.
 * NULL: none. */
cmd_variable *cmd_variable_meant(const cmd_file *file, const cmd_variable *from, const char *name);
const char   *cmd_last_part(const char *name);

/* ---- beside_elements.c ----------------------------------------------------------------------- */
int64_t cmd_stored_bytes(const cmd_variable *v);
/* The text of an attribute; `other` if there is none. */
const char *cmd_said_text(const cmd_said *said, const char *name, const char *other);
bool        cmd_same_stored(rd_ctx *ctx, const cmd_candidate *a, const cmd_candidate *b);
/* Makes the variable as it is written: cut, and joined along the joined axis. NULL: parts
 * differ. */
cmd_beside *cmd_make_beside(const cmd_gathering *g, const cmd_candidate *c);
/* Keeps coordinates of the file if they equal those of the result; replaces them by those of the
 * result, as f64, otherwise. */
void cmd_check_coordinates(cmd_beside *b, const cmd_axis *axis);
#endif
