/* axes.h - what is known of the axes of any expression: names and coordinates, which are conditions where
 * arrays meet. */
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

/* Why two axes are not the same places, as the end of a sentence; NULL: they are, or one has no
 * coordinates.  Coordinates are the same up to a thousandth of the distance of neighbours, in the units of
 * the first. */
const char *cmd_axes_differ(const cmd_axis *a, const cmd_axis *b);

/* Answers of rd_formula_axes, `user` being the cmd_inputs. */
bool     cmd_axes_meet(void *user, rd_expr **x, int x_axis, rd_expr **y, int y_axis, char *why);
rd_expr *cmd_select(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                    const rd_formula_bound *high, char *why);
extern const rd_formula_axes cmd_formula_axes;
#endif
