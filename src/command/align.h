/* align.h - aligns arrays along a common axis. */
#ifndef CMD_ALIGN_H
#define CMD_ALIGN_H
#include "inputs.h"

/* Answers rd_formula_axes.meet; `user` is the cmd_inputs. */
bool cmd_axes_meet(void *user, rd_expr **x, int x_axis, rd_expr **y, int y_axis, char *why);
#endif
