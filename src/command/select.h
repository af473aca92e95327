/* select.h - takes elements of an axis by coordinate. */
#ifndef CMD_SELECT_H
#define CMD_SELECT_H
#include "inputs.h"

/* Answers rd_formula_axes.select; `user` is the cmd_inputs. */
rd_expr *cmd_select(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                    const rd_formula_bound *high, char *why);
#endif
