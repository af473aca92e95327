/* chosen_strips.h - which loops of a program are strip-mined: see choose_strips.c. */
#ifndef RD_KERNELS_PASS_CHOSEN_STRIPS_H
#define RD_KERNELS_PASS_CHOSEN_STRIPS_H
#include "kernels/loop/alternatives.h"
#include <stdbool.h>
#include <stdint.h>

/* Strips of a loop over `axis`, or of all such loops in a loop or a part. choose_strips.c fills
 * it. */
typedef struct rd_strip {
    int32_t axis; /* strips are ranges of its indices */
    int32_t loop; /* the program's loop over the axis, or that holds such loops; -1: a part does */
    int32_t part; /* the program's part, RD_PART_...                                          */
    bool    around; /* `loop` or `part` holds such loops                                        */
    int32_t width;  /* elements of a strip, at most                                             */
    int32_t tail;   /* elements of the shorter last strip, 0: there is none, -1: not known      */
    bool    padded; /* the last strip has the length of the others in the text                  */
    bool    wide;   /* rows of elements are streamed from memory: a few rows are jammed         */
    bool one_state; /* one accumulator takes the strip: compilers vectorise that                */
    /* Strips have exactly `width` elements, a constant of the text; a shorter tail follows. */
    bool fixed;
    /* There is one strip, of exactly `width` elements, so no loop is needed. A long axis never
     * is a single strip, even if it is no longer than `width`. */
    bool single;
    /* States or arrays pass from loop to loop, and the width keeps them in a cache. Without
     * these, and if strips are not `fixed`, all elements are one strip. */
    bool has_arrays;
} rd_strip;

/* How the neighbours in a strip map to the accumulators of one fold. */
typedef struct rd_fold_in_strip {
    bool cells;         /* neighbours have cells of their own       */
    bool lanes;         /* neighbours are neighbouring lanes        */
    bool begins;        /* the fold begins in the strip             */
    bool ends_in_round; /* ... and ends in one round of a vector loop */
    bool in_order;      /* steps go in order: neighbours differ in labels */
} rd_fold_in_strip;

/* All strips of a program, and facts about its loops and folds. */
typedef struct rd_strips {
    int32_t                n;        /* number of strips */
    const rd_strip        *at;       /* the strips */
    const rd_alternatives *of;       /* per strip: the alternatives, and the choice */
    const bool            *unrolled; /* per loop of the program: unrolled in a strip */
    /* Per loop of the program: so many rounds are jammed into the vector loop directly in it, or
     * into the serial loop between it and a vector loop; 0: none. */
    const int32_t          *unroll_jam, *unroll_jam_outer;
    const bool             *exp_bound; /* per loop of the program: bound by the latency of exp */
    const rd_fold_in_strip *fold;      /* per fold                             */
} rd_strips;
#endif
