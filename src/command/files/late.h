/* late.h - elements that are decoded once it is known which of them are needed. */
#ifndef CMD_LATE_H
#define CMD_LATE_H
#include "files/file.h"

/* May a variable of so many bytes be read late?  Others are wanted before the formula is known. */
bool cmd_may_be_late(const cmd_variable *v, int64_t bytes);
/* A leaf that has no memory until cmd_read_wanted(). */
rd_expr *cmd_leaf_late(cmd_file *file, const cmd_variable *v, const cmd_place *place,
                       int64_t bytes);
/* Reads what these results need of all such leaves.  What reads another part of them needs a call of its
 * own before it is evaluated. */
void cmd_read_wanted(rd_ctx *ctx, rd_results results);
/* The n elements of a row, as coordinates are wanted before the formula is known. */
void cmd_read_now(rd_ctx *ctx, rd_expr *row, double *to, int64_t n);
#endif
