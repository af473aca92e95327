/* late.h - lazy reading: elements are decoded after the formula is known, and only those that it
 * needs. */
#ifndef CMD_LATE_H
#define CMD_LATE_H
#include "files/file.h"

/* True if a variable of so many bytes may be read late. Others are read before the formula is
 * known. */
bool cmd_may_be_late(const cmd_variable *v, int64_t bytes);
/* Makes a leaf that has no memory until cmd_read_wanted(). */
rd_expr *cmd_leaf_late(cmd_file *file, const cmd_variable *v, const cmd_place *place,
                       int64_t bytes);
/* Reads the elements of all such leaves that these results need. Results that need others require
 * another call before they are evaluated. */
void cmd_read_wanted(rd_ctx *ctx, rd_results results);
/* Reads the n elements of a row at once, for coordinates that are needed before the formula is
 * known. */
void cmd_read_now(rd_ctx *ctx, rd_expr *row, double *to, int64_t n);
#endif
