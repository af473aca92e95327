/* join.h - variables of several files as one. */
#ifndef CMD_JOIN_H
#define CMD_JOIN_H
#include "inputs.h"

/* n >= 1 of them, along `join`, or, where that is NULL, along their record, else time, else the
 * first axis.  A `join` that no axis is called by is a new first one. */
cmd_variable cmd_join_parts(rd_ctx *ctx, const char *join, int n, const cmd_part *parts);
/* The axis along which parts of v are joined; -1: a new first one. */
int cmd_joined_axis(const cmd_variable *v, const char *join);
/* The known axis that an axis of x comes from, and how: NULL: none. */
const cmd_axis *cmd_axis_at(const cmd_inputs *in, rd_expr *x, int axis, rd_axis_from *from);
#endif
