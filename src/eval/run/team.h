/* team.h - how many threads (a team) share a stage's work. */
#ifndef RD_EVAL_RUN_TEAM_H
#define RD_EVAL_RUN_TEAM_H
#include "expr/expr.h"

/* Number of threads, at least 1, for `work` operations in `shares` shares.  `asked`: threads of
 * the evaluation, 0: the context's setting.  Little work gets one thread, whatever was asked
 * for. */
int rd_thread_count(const rd_ctx *ctx, int asked, double work, int64_t shares);
/* The same for a run that begins now: one thread until a team is due, and one fewer while a
 * compiler is at work. */
int rd_thread_count_now(const rd_ctx *ctx, int asked, double work, int64_t shares);
/* For tests: true makes a team share small work, too, at once, wherever several threads are
 * asked for. */
void rd_team_share_all(bool share);
bool rd_team_shares_all(void);
/* Says in words why there are fewer threads than were asked for; NULL: there are not. */
const char *rd_team_note(const rd_ctx *ctx, int asked, char *text, size_t room);
#endif
