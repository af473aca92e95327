/* concat_split_own.h - declarations that the files concat_*.c share. */
#ifndef RD_EVAL_COLLECT_CONCAT_SPLIT_OWN_H
#define RD_EVAL_COLLECT_CONCAT_SPLIT_OWN_H
#include "eval/collect/collect.h"

/* Limits.  Each box is a pass and a text to compile, and should be worth that.  Places are nodes
 * at different offsets, of which slices of slices make many. */
enum { RD_MOST_BOUNDARIES = 7, RD_MOST_BOXES = 27, RD_MOST_PLACES = 512 };

/* Where an axis of a node is read: at index[axis] + offset, `axis` being an axis of the result;
 * -1: at the one element `offset`. */
typedef struct rd_reading {
    int64_t axis;   /* 64 bits, so that readings can be compared as bytes */
    int64_t offset; /* added to the index */
} rd_reading;

/* A node as it is read from a result, and its expression in the current box. */
typedef struct rd_concat_place {
    rd_expr    *expr; /* the node */
    rd_reading *at;   /* by axis of the node */
    rd_expr    *made; /* in the box numbered `box` */
    int32_t     box;
} rd_concat_place;

/* The boundaries of one result, and its current box. */
typedef struct rd_concat_split {
    rd_collector    *c;
    int32_t          rank, n_place, box, n_concat; /* X */
    rd_concat_place *places;                       /* nodes at their readings */
    int64_t          extent[RD_MAX_RANK];          /* of the result */
    int32_t          n[RD_MAX_RANK];               /* boundaries along each axis */
    /* boundaries between 0 and the extent, in order */
    int64_t at[RD_MAX_RANK][RD_MOST_BOUNDARIES + 2];
    int64_t lo[RD_MAX_RANK], hi[RD_MAX_RANK]; /* the current box */
    bool    failed, many;                     /* no memory; too many boundaries or places */
} rd_concat_split;

/* Finds or adds the place of a node that is read at `at`; *fresh: it was added.  NULL: there are
 * too many, or no memory. */
rd_concat_place *rd_concat_place_of(rd_concat_split *s, rd_expr *x, const rd_reading *at,
                                    bool *fresh);
/* Computes where a view that is read at `at` reads its operand; false if it does not go along
 * whole axes one by one. */
bool rd_read_through(const rd_expr *x, const rd_reading *at, rd_reading *in);
/* Concatenations of which boxes read parts. */
typedef struct rd_concat_list {
    int32_t         n;
    const rd_expr **concat;
} rd_concat_list;
/* concat_split.c: rd_concat_split_of() finds the boundaries of x, and the readings of its own
 * axes; NULL: no memory. rd_concat_split_pays() is true if splitting x there pays off.
 * rd_note_concats() lists the concatenations; false: no memory. */
rd_concat_split *rd_concat_split_of(rd_collector *c, rd_expr *x, rd_reading *at);
bool             rd_concat_split_pays(const rd_concat_split *s, const rd_expr *x);
bool             rd_note_concats(rd_concat_split *s, rd_concat_list *list);
/* concat_boxes.c: the result x joined from its boxes; and x in the next box, from lo to hi.  NULL
 * on failure. */
rd_expr *rd_join_boxes(rd_concat_split *s, rd_expr *x, const rd_reading *at);
rd_expr *rd_in_next_box(rd_concat_split *s, rd_expr *x, const rd_reading *at);
/* concat_folds.c: x with the reductions below its maps split into boxes; NULL: no memory. */
rd_expr *rd_split_folds(rd_collector *c, rd_expr *x, rd_concat_list *list);
#endif
