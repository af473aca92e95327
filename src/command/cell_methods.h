/* cell_methods.h - the CF attribute cell_methods: the reduction that made the values of a cell. */
#ifndef CMD_CELL_METHODS_H
#define CMD_CELL_METHODS_H
#include "made_of.h"

/* Returns "time: mean" if the statement is one reduction of the whole variable k, along axes
 * with names. NULL: it is none, or the text is not understood. */
const char *cmd_cell_method(const char *statement, const cmd_known *k);
#endif
