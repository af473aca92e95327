/* fission_points.h - fission points: operations that a vector loop cannot hold, as they are
 * calls, or functions that the text applies to a whole strip. */
#ifndef RD_KERNELS_PASS_FISSION_POINTS_H
#define RD_KERNELS_PASS_FISSION_POINTS_H
#include "kernels/loop/loop.h"

/* True if the value is a division of ints by a positive constant. */
bool rd_divides_by_known(const rd_schedule *t, const rd_tree_value *let);
/* True if the value is random words of a constant key, which depend on counters alone. */
bool rd_draws_words_of_strip(const rd_schedule *t, const rd_tree_value *let);
/* True if the value has no vectors, so that only a call or a function of a strip computes it. */
bool rd_let_needs_fission(const rd_schedule *t, const rd_tree_value *let);
/* The same of a statement, where a step that takes exponentials counts, too. */
bool rd_stmt_needs_fission(const rd_schedule *t, int32_t stmt);
#endif
