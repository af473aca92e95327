/* join.h - joins variables of several files. */
#ifndef CMD_JOIN_H
#define CMD_JOIN_H
#include "inputs.h"

/* Finds the axis of that name. -1: none. */
int cmd_axis_called(const cmd_variable *v, const char *name);
/* Finds the axis along which parts of v are joined. -1: a new first axis. */
int cmd_joined_axis(const cmd_variable *v, const char *join);
/* Joins n >= 1 variables along in->join; if that is NULL, along their record axis, else time,
 * else the first axis. A name in in->join that no axis has is a new first axis. Ends the program
 * if other axes differ, unless in->align is CMD_POSITION. */
cmd_variable cmd_join_parts(const cmd_inputs *in, int n, const cmd_part *parts);
#endif
