/* loop_groups.h - the group of values for the next loop. */
#ifndef RD_EVAL_PLACE_LOOP_GROUPS_H
#define RD_EVAL_PLACE_LOOP_GROUPS_H
#include "eval/place/place.h"

/* Work space of choosing groups. */
typedef struct rd_grouping {
    rd_placing *p;
    bool       *waiting;            /* by value: not placed yet; owned by place.c */
    bool       *waits_for_operands; /* by value: waits until the operands of its group are placed */
    bool       *assumed_before;     /* by value: assumed to be placed before the loop */
    bool       *waits_for_readers; /* by value: waits for its readers, which are not in the group */
    bool       *keeps_others_out;  /* by value: an operand that kept others out */
    bool       *kept_out;          /* by value: of a side, and kept out by an operand */
    bool       *needs;             /* by value: a member, or computed from one */
    bool       *reads;             /* by value: work space of is_computed_from() */
    int32_t    *first, *trial, *best; /* lists of members */
} rd_grouping;

/* Values that share a loop over the axis, operands first. */
typedef struct rd_loop_group {
    /* axis: -1: none; folds: members that reduce it or carry a state along it */
    int      axis, n, folds;
    double   gain;         /* operations that sharing saves */
    int64_t  stride;       /* the largest stride along the axis */
    int32_t *materialised; /* valid until the next choice */
} rd_loop_group;

/* Starts without waiting values; false: no memory. */
bool rd_grouping_new(rd_grouping *s, rd_placing *p);

/* Chooses, among `n_wait` waiting values, the group that saves most in one more loop inside the
 * open ones.  None only after a cancel. */
rd_loop_group rd_choose_group(rd_grouping *s, int n_wait, const int32_t *wait, rd_set open);

/* Direction in which a loop over x must run: +1 upwards, -1 downwards, 0 either. */
int rd_direction(const rd_value *v, int x);
#endif
