/* cell_methods.h - CF's attribute cell_methods: what the values of a cell were made by. */
#ifndef CMD_CELL_METHODS_H
#define CMD_CELL_METHODS_H
#include "made_of.h"

/* "time: mean", where the statement is one reduction of all of the variable k, along axes that have names;
 * NULL: it is not, or it is not sure. */
const char *cmd_cell_method(const char *statement, const cmd_known *k);
#endif
