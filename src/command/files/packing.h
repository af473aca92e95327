/* packing.h - CF attributes that tell what stored values mean: missing values, scale, offset, valid
 * range (CF's conventions, 2.5.1 and 8.1). */
#ifndef CMD_PACKING_H
#define CMD_PACKING_H
#include "files/file.h"

/* Numbers in an attribute. */
enum { CMD_MOST_NUMBERS = 1 << 10 };

/* Reads the numbers of an attribute, into memory that stays, and the type in which they are stored.
 * Returns how many; 0: it is missing, or has no numbers. */
typedef int cmd_numbers(void *user, const char *attribute, cmd_exact **at, rd_dtype *type);
/* Reads the packing of a variable. `sign` is the attribute _Unsigned, or NULL; it may change the
 * variable's type. */
void cmd_read_packing(cmd_variable *v, const char *sign, cmd_numbers *numbers, void *user);
/* Adds the default fill value, of the stored type: elements that were never written have it. It
 * counts only for variables without _FillValue. */
void cmd_add_default_fill(cmd_variable *v, cmd_exact value, rd_dtype stored);
/* Unpacks a leaf by maps, which fuse with the formula. */
rd_expr *cmd_unpack(rd_ctx *ctx, const cmd_packing *p, rd_expr *raw);

/* Exact values; integers of 64 bits are not rounded. */
cmd_exact cmd_integer(int64_t value);
cmd_exact cmd_unsigned(uint64_t value);
/* Exact value of a double. */
cmd_exact cmd_real(double value);
/* True if the type can hold the value. Floats and bools count as able to hold each. */
bool cmd_holds(rd_dtype type, cmd_exact value);
#endif
