/* masks.h - elements of an axis where a mask along it is true: tas[month(time) == 6]. */
#ifndef CMD_MASKS_H
#define CMD_MASKS_H
#include "inputs.h"

/* Answers rd_formula_axes.gather: the positions along an axis of x that an index means. */
rd_expr *cmd_gather(void *user, rd_expr *x, int axis, rd_expr *index, char *why);
#endif
