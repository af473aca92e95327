/* strips.h - which loops of a program become strips of neighbouring elements: see choose.c. */
#ifndef RD_KERNELS_PASS_STRIPS_H
#define RD_KERNELS_PASS_STRIPS_H
#include "kernels/loop/alternatives.h"
#include <stdbool.h>
#include <stdint.h>

/* A loop over `axis`, or all that stands in a loop or a part in such loops, goes by strips. */
typedef struct rd_strip {
    int32_t axis;
    int32_t loop;   /* of the program: over the axis; or that holds such loops, -1: a part does */
    int32_t part;   /* that one                                                                 */
    bool    around; /* it holds such loops                                                      */
    int32_t width;  /* elements of a strip, at most                                             */
    bool    fixed;  /* all strips but the last have so many                                     */
    int32_t rest;   /* elements of the last one, -1: not known                                  */
    bool    pads;   /* the last one is as long as the others in the text                        */
    bool    one;    /* the axis is one strip                                                    */
    bool    wide;   /* rows of elements stream from memory: a few rows go together              */
    bool    arrays; /* something is kept in arrays from loop to loop, or behind one             */
    bool    whole;  /* a fold takes the strip by one state: compilers know how                  */
} rd_strip;

typedef struct rd_fold_in_strip {
    bool cells;  /* neighbours have cells of their own       */
    bool lanes;  /* neighbours are neighbouring lanes        */
    bool begins; /* in the strip                             */
    bool inner;  /* and ends in one round of a loop over it  */
} rd_fold_in_strip;

typedef struct rd_strips {
    int32_t                 n;
    const rd_strip         *at;
    const rd_alternatives  *of;          /* of each: along which axis, what it was chosen from */
    const bool             *written_out; /* per loop of the program, in a strip  */
    const int32_t          *together;    /* per loop of the program: rounds that go together, 0 */
    const int32_t          *jammed;      /* the same, through a loop inside that stays one */
    const bool             *waits;       /* per loop of the program: rounds wait for exponentials */
    const rd_fold_in_strip *fold;        /* per fold                             */
} rd_strips;
#endif
