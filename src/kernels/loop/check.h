/* check.h - says whether a loop tree still means its program. */
#ifndef RD_KERNELS_LOOP_CHECK_H
#define RD_KERNELS_LOOP_CHECK_H
#include "kernels/loop/loop.h"

typedef enum rd_verdict {
    RD_TREE_HOLDS,
    RD_TREE_SKIPPED, /* its form and its order hold; a shadow run of it would take too long, or there was
                        no memory for the check */
    RD_TREE_FAILS
} rd_verdict;

/* Instructions and states of a shadow run, at most: of one in tests, some tens of milliseconds; of
 * one after each pass, where there are many. */
enum { RD_MOST_VISITS = 400000, RD_FEW_VISITS = 20000 };

/* *why: a sentence, unless it holds. */
rd_verdict rd_schedule_check(const rd_schedule *t, int64_t most_visits, rd_text *why);

/* The parts: false, and a sentence.  Is it well-formed?  Do loops keep the order of elements?  Is what
 * all items of a block of threads share the same for each? */
bool rd_schedule_verify(const rd_schedule *t, rd_text *why);
bool rd_schedule_check_order(const rd_schedule *t, rd_text *why);
bool rd_schedule_check_shared(const rd_schedule *t, rd_text *why);
#endif
