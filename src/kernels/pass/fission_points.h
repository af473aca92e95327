/* fission_points.h - what a vector loop cannot hold: functions that are called, or that the text takes of a whole
 * strip at once. */
#ifndef RD_KERNELS_PASS_FISSION_POINTS_H
#define RD_KERNELS_PASS_FISSION_POINTS_H
#include "kernels/loop/loop.h"

/* Ints divided by a number that the compiler knows and that is not 0. */
bool rd_divides_by_known(const rd_schedule *t, const rd_let *let);
/* Random words of a key that is known: of counters alone. */
bool rd_draws_words_of_strip(const rd_schedule *t, const rd_let *let);
/* Does the value have no vectors, as operand of nothing else than a call or a strip's function? */
bool rd_let_needs_fission(const rd_schedule *t, const rd_let *let);
/* The same of a statement: also of a step that takes exponentials. */
bool rd_stmt_needs_fission(const rd_schedule *t, int32_t stmt);
#endif
