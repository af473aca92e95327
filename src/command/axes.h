/* axes.h - what is known about the axes of any expression: names and coordinates. */
#ifndef CMD_AXES_H
#define CMD_AXES_H
#include "inputs.h"

/* Finds the known axis that an axis of x comes from; *from: the offset and step in it. NULL:
 * none is known. */
const cmd_axis *cmd_axis_at(const cmd_inputs *in, rd_expr *x, int axis, rd_axis_from *from);
/* Returns an axis of x, with the coordinates of its part; without a name if none is known. */
cmd_axis cmd_axis_seen(const cmd_inputs *in, rd_expr *x, int axis);
/* Finds the axis of x by name. -1: none. */
int cmd_axis_of(void *user, rd_expr *x, const char *name);
/* Remembers the coordinates of an axis of x that comes from no file: an axis of groups, or of a
 * new index. */
void cmd_know_axis(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *is);
#endif
