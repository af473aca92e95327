/* beside_gather.h - one variable of the formula, and what goes along with the result that is made of it. */
#ifndef CMD_BESIDE_GATHER_H
#define CMD_BESIDE_GATHER_H
#include "beside.h"

enum { CMD_MOST_COMPARED = 1 << 24, CMD_MOST_BESIDE = 256 };

/* A candidate is a variable of a file that may be written beside a result. */
typedef struct cmd_candidate {
    cmd_file       *file;
    cmd_variable   *v;
    const cmd_said *said;
    const char     *units, *calendar; /* of the coordinates that it bounds, where it has none */
    int             by;               /* the candidate that names it; -1: none */
    bool            kept;
} cmd_candidate;

typedef struct cmd_gathering {
    const cmd_inputs *in;
    cmd_result       *r;
    const cmd_known  *k;
    int               joined, shift; /* the joined axis; 1: it is new, and parts begin behind it */
    int               to[RD_MAX_RANK];  /* the result's axis that comes from each of k; -1: none */
    rd_axis_from      cut[RD_MAX_RANK]; /* by axis of the result */
    int               n;
    cmd_candidate    *at; /* of the first part */
} cmd_gathering;

/* ---- beside_gather.c ------------------------------------------------------------------------- */
/* Adds to the result what k brings along. */
void cmd_gather_from(const cmd_inputs *in, cmd_result *r, const cmd_known *k);
/* Finds the axes of the result that come from k, and the part of k that each is. */
void cmd_map_axes(cmd_gathering *g);
/* The axis of the first part that dimension d of v is; -1: it is one that k has not. */
int cmd_axis_of_dimension(const cmd_gathering *g, const cmd_variable *v, int d);
/* The variable that an attribute of `from` means: in its group, or one above; NULL: none. */
cmd_variable *cmd_variable_meant(const cmd_file *file, const cmd_variable *from, const char *name);
const char   *cmd_last_part(const char *name);

/* ---- beside_elements.c ----------------------------------------------------------------------- */
int64_t cmd_stored_bytes(const cmd_variable *v);
/* A text that is said; `other`: it is not. */
const char *cmd_said_text(const cmd_said *said, const char *name, const char *other);
bool        cmd_same_stored(rd_ctx *ctx, const cmd_candidate *a, const cmd_candidate *b);
/* As it is written: cut, and joined where its axis is; NULL: parts differ in it. */
cmd_beside *cmd_make_beside(const cmd_gathering *g, const cmd_candidate *c);
/* Coordinates of an axis stay as the file has them, if they are those of the result; else they become these,
 * as f64. */
void cmd_check_coordinates(cmd_beside *b, const cmd_axis *axis);
#endif
