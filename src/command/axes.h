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
/* From now on an axis of x that comes from no file, of groups or of an index that was made, is this one. */
void cmd_know_axis(cmd_inputs *in, rd_expr *x, int axis, const cmd_axis *is);

/* Names and coordinates as conditions of formulas, `user` being the cmd_inputs. */
extern const rd_formula_axes cmd_formula_axes;
#endif
