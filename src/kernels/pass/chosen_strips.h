/* chosen_strips.h - which loops of a program are strip-mined: see choose_strips.c. */
#ifndef RD_KERNELS_PASS_CHOSEN_STRIPS_H
#define RD_KERNELS_PASS_CHOSEN_STRIPS_H
#include "kernels/loop/alternatives.h"
#include <stdbool.h>
#include <stdint.h>

/* Strips of a loop over `axis`, or of all such loops in a loop or a part. choose_strips.c fills
 * it. */
typedef struct rd_strip {
    int32_t axis;
    int32_t loop;   /* of the program: over the axis; or that holds such loops, -1: a part does */
    int32_t part;   /* that one                                                                 */
    bool    around; /* `loop` or `part` holds such loops                                        */
    int32_t width;  /* elements of a strip, at most                                             */
    int32_t tail;   /* elements of the last one, 0: there is none, -1: not known                */
    bool    padded; /* the last one is as long as the others in the text                        */
    bool    wide;   /* rows of elements stream from memory: a few rows go together              */
    bool one_state; /* a fold takes the strip by one state: compilers know how                  */
    /* Strips of exactly `width`, which the text spells out, and a shorter one behind them. */
    bool fixed;
    /* It is known before that there is one strip, of exactly `width`, so that it needs no loop.  A long axis
     * is never such a one, even if it is no longer than `width`. */
    bool single;
    /* The width bounds what stays near from loop to loop: states, or arrays.  Without this, and if strips are
     * not `fixed`, all elements are one strip. */
    bool has_arrays;
} rd_strip;

/* How the neighbours in a strip map to the accumulators of one fold. */
typedef struct rd_fold_in_strip {
    bool cells;    /* neighbours have cells of their own       */
    bool lanes;    /* neighbours are neighbouring lanes        */
    bool begins;   /* in the strip                             */
    bool inner;    /* and ends in one round of a loop over it  */
    bool in_order; /* neighbours have labels of their own      */
} rd_fold_in_strip;

/* All strips of a program, and facts about its loops and folds. */
typedef struct rd_strips {
    int32_t                n;
    const rd_strip        *at;
    const rd_alternatives *of;       /* of each: along which axis, what it was chosen from */
    const bool            *unrolled; /* per loop of the program, in a strip  */
    /* per loop of the program, 0: none.  `unroll_jam`: so many of its rounds are merged into the vector loop
     * directly in it; `unroll_jam_outer`: into the serial loop between it and a vector loop */
    const int32_t          *unroll_jam, *unroll_jam_outer;
    const bool             *exp_bound; /* per loop of the program: rounds wait for exponentials */
    const rd_fold_in_strip *fold;      /* per fold                             */
} rd_strips;
#endif
