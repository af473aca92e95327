/* packing.h - attributes that say what stored values mean: CF's conventions, 2.5.1 and 8.1. */
#ifndef CMD_PACKING_H
#define CMD_PACKING_H
#include "files/file.h"

enum { CMD_MOST_NUMBERS = 1 << 10 };

/* Numbers of an attribute, in memory that stays; how many (0: it is not there, or no numbers), and the type
 * in which they are stored. */
typedef int cmd_numbers(void *user, const char *attribute, cmd_exact **at, rd_dtype *type);
/* `sign`: what the attribute _Unsigned says, NULL: nothing.  It changes the variable's type. */
void cmd_read_packing(cmd_variable *v, const char *sign, cmd_numbers *numbers, void *user);
/* Adds the value that elements have which were never written, of the stored type.  It is for variables
 * without _FillValue. */
void cmd_add_default_fill(cmd_variable *v, cmd_exact value, rd_dtype stored);
/* The values that stored numbers mean, as maps of the leaf: these fuse with what a formula does. */
rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw);

/* Integers of 64 bits as they are. */
cmd_exact cmd_integer(int64_t value);
cmd_exact cmd_unsigned(uint64_t value);
cmd_exact cmd_real(double value);
/* Is it a number of that type?  Floats and truths take all of them. */
bool cmd_holds(rd_dtype type, cmd_exact value);
#endif
