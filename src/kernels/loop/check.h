/* check.h - verifies that a loop tree still means its program. */
#ifndef RD_KERNELS_LOOP_CHECK_H
#define RD_KERNELS_LOOP_CHECK_H
#include "kernels/loop/loop.h"

typedef enum rd_verdict {
    RD_TREE_HOLDS,
    RD_TREE_SKIPPED, /* form and order hold; no shadow run, as it is long or memory lacks */
    RD_TREE_FAILS
} rd_verdict;

/* Limits of a shadow run, in instructions and states: of one run in a test, some tens of
 * milliseconds; of a run after each pass. */
enum { RD_MOST_VISITS = 400000, RD_FEW_VISITS = 20000 };

/* Checks all. *why gets a sentence, unless the tree holds. */
rd_verdict rd_schedule_check(const rd_schedule *t, int64_t most_visits, rd_text *why);

/* The parts; each returns false and gives a sentence.  The tree is well-formed; loops keep the
 * order of elements; what a block of threads shares is the same for all its items. */
bool rd_schedule_verify(const rd_schedule *t, rd_text *why);
bool rd_schedule_check_order(const rd_schedule *t, rd_text *why);
bool rd_schedule_check_shared(const rd_schedule *t, rd_text *why);
#endif
