/* axes.h - what is known of the axes of any expression: names and coordinates. */
#ifndef CMD_AXES_H
#define CMD_AXES_H
#include "inputs.h"

/* The axis of a file that an axis of x comes from, and how; NULL: none that is known. */
const cmd_axis *cmd_axis_at(const cmd_inputs *in, rd_expr *x, int axis, rd_axis_from *from);
/* That axis as x has it, with the coordinates of its part; without a name where none is known. */
cmd_axis cmd_axis_seen(const cmd_inputs *in, rd_expr *x, int axis);
/* The axis of x that has this name; -1: none. */
int cmd_axis_of(void *user, rd_expr *x, const char *name);
/* Remembers the coordinates of an axis of x that comes from no file: one of groups, or of a new index. */
void cmd_know_axis(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *is);
#endif
