/* cut_masked.h - which columns a block needs, where a mask leaves out the others.
 *
 *     s = where(j <= i, q k, -inf)     rows 32 <= i < 64: no j >= 64 has a weight
 *
 * Such columns may be left out of the block if all that folds them has a neutral element there: 0 of
 * a sum, -inf of a maximum.  Bounds of values say so (float_bounds.h), as 0 times inf is NaN. */
#ifndef RD_EVAL_CACHE_CUT_MASKED_H
#define RD_EVAL_CACHE_CUT_MASKED_H
#include "eval/cache/attention.h"
#include "eval/cache/cut_parts.h"

/* The masks of scores, where(mask, s, -inf), and what follows from the truth of each. */
typedef struct rd_cut_masks {
    const rd_cut_steps *steps;
    int                 n;
    int64_t             step[RD_MOST_CHOICES];     /* of each mask */
    rd_truth            kept[RD_MOST_CHOICES];     /* its truth where scores are kept */
    bool                left_out[RD_CHOICE_FORMS]; /* by truths: columns may be left out */
    int64_t             each;                      /* a block has a multiple of so many columns */
} rd_cut_masks;

/* True if some scores have a mask, so that columns are worth looking for. */
bool rd_cuts_are_masked(const rd_cuts *c);
/* Finds masks and what follows from them, for elements that leaves have now.  Without memory, or if
 * steps have no columns, none may be left out. */
void rd_cut_masks_find(rd_cut_masks *m, const rd_cut_steps *steps);
/* Makes the block's columns those that its rows need. */
void rd_cut_masks_narrow(const rd_cut_masks *m, rd_cut_box *box);
#endif
