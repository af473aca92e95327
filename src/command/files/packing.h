/* packing.h - attributes that say what stored values mean: CF's conventions, 2.5.1 and 8.1. */
#ifndef CMD_PACKING_H
#define CMD_PACKING_H
#include "files/file.h"

/* Numbers of an attribute, at most `most` of them; how many (0: it is not there, or no numbers),
 * and the type in which they are stored. */
typedef int cmd_numbers(void *user, const char *attribute, int most, double *at, rd_dtype *type);
void        cmd_read_packing(cmd_variable *v, cmd_numbers *numbers, void *user);
/* What is meant by what is stored: maps of the leaf, which fuse with whatever a formula does. */
rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw);
#endif
