/* groups.h - the group of anchors whose loop is opened next. */
#ifndef RD_EVAL_PLACE_GROUPS_H
#define RD_EVAL_PLACE_GROUPS_H
#include "eval/place/place.h"

typedef struct rd_grouping {
    rd_placing *p;
    bool       *waiting; /* per anchor: not yet emitted anywhere; the owner's          */
    bool       *late;    /* comes after what its group needs                           */
    bool       *before;  /* taken for there before the loop that is looked at          */
    bool       *blocks;  /* an operand that kept somebody out of it                    */
    bool       *needs;   /* a member, or computed from one                             */
    bool       *reads;   /* computed from one that is asked about                      */
    int32_t    *first, *trial, *best;
} rd_grouping;

/* Anchors that share a loop over the axis, operands first. */
typedef struct rd_loop_group {
    int      axis, n, folds; /* -1: none; how many reduce it or carry a state along it  */
    double   gain;           /* operations that sharing saves                           */
    int64_t  stride;         /* the largest along the axis                              */
    int32_t *anchor;         /* until the next choice                                   */
} rd_loop_group;

/* Nothing waits yet; false: out of memory. */
bool rd_grouping_new(rd_grouping *s, rd_placing *p);

/* Of `n_wait` anchors that wait, operands first, the group that saves most in one more loop inside
 * those that are open.  None only if it was cancelled. */
rd_loop_group rd_choose_group(rd_grouping *s, int n_wait, const int32_t *wait, rd_set open);

/* How a loop over x must run: +1 upwards, -1 downwards, 0 any way. */
int rd_direction(const rd_value *v, int x);
#endif
