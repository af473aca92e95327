/* convert.h - conversion of values to other units: of joined variables, and of operands. */
#ifndef CMD_CONVERT_H
#define CMD_CONVERT_H
#include "inputs.h"
#include "times.h"

/* Converts x to other units. Integers stay integers if the conversion is a whole shift; floats
 * keep their type, but are computed in f64. */
rd_expr *cmd_convert(rd_ctx *ctx, rd_expr *x, const cmd_turn *conversion);

/* Answer rd_formula_axes; `user` is the cmd_inputs. */
bool cmd_units_alike(void *user, rd_expr **x, rd_expr **y, char *why);
void cmd_units_made(void *user, rd_expr *y, const char *name, int n, rd_expr *const *x);
#endif
