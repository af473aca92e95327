/* team.h - how many threads share a stage's work. */
#ifndef RD_EVAL_RUN_TEAM_H
#define RD_EVAL_RUN_TEAM_H
#include "expr/expr.h"

/* Threads for so many operations in so many shares, 1 or more.  `asked`: of the evaluation, 0: the
 * context's. */
int rd_team(const rd_ctx *ctx, int asked, double work, int64_t shares);
/* For people, why they are fewer than was asked for; NULL: they are not. */
const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room);
#endif
