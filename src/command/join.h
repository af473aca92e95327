/* join.h - variables of several files as one. */
#ifndef CMD_JOIN_H
#define CMD_JOIN_H
#include "inputs.h"

/* The axis of that name; -1: none. */
int cmd_axis_called(const cmd_variable *v, const char *name);
/* The axis along which parts of v are joined; -1: a new first one. */
int cmd_joined_axis(const cmd_variable *v, const char *join);
/* n >= 1 of them, along in->join, or, where that is NULL, along their record, else time, else the
 * first axis.  A join that no axis is called by is a new first one.  Ends the program where other axes are
 * not the same places, unless in->align is CMD_POSITION. */
cmd_variable cmd_join_parts(const cmd_inputs *in, int n, const cmd_part *parts);
#endif
