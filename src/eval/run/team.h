/* team.h - how many threads share a stage's work. */
#ifndef RD_EVAL_RUN_TEAM_H
#define RD_EVAL_RUN_TEAM_H
#include "expr/expr.h"

/* Threads for so many operations in so many shares, 1 or more.  `asked`: of the evaluation, 0: the
 * context's.  Little work is done by one, however many are asked for. */
int rd_team(const rd_ctx *ctx, int asked, double work, int64_t shares);
/* The same for a run that begins now: one, too, until it is time to start a team, and one fewer while a
 * compiler is at work. */
int rd_team_now(const rd_ctx *ctx, int asked, double work, int64_t shares);
/* For tests: does a team share little work, too, wherever one is asked for?  Then it starts at once. */
void rd_team_share_all(bool share);
bool rd_team_shares_all(void);
/* For people, why they are fewer than was asked for; NULL: they are not. */
const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room);
#endif
