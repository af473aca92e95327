/* convert.h - values in units: of variables that are joined, and of operands that are added or compared. */
#ifndef CMD_CONVERT_H
#define CMD_CONVERT_H
#include "inputs.h"
#include "times.h"

/* x in other units, as an expression.  Integers stay integers where the shift is one; floats keep their type,
 * but are computed in f64. */
rd_expr *cmd_convert(rd_ctx *ctx, rd_expr *x, const cmd_turn *turn);

/* Answers of rd_formula_axes, `user` being the cmd_inputs. */
bool cmd_units_alike(void *user, rd_expr **x, rd_expr **y, char *why);
void cmd_units_made(void *user, rd_expr *y, const char *name, int n, rd_expr *const *x);
#endif
