/* seams_own.h - what files of seams share. */
#ifndef RD_EVAL_COLLECT_SEAMS_OWN_H
#define RD_EVAL_COLLECT_SEAMS_OWN_H
#include "eval/collect/collect.h"

/* Boxes are passes of their own, and texts to compile; each should be worth it.  Places are nodes
 * at different offsets, which may be many where slices of slices are read. */
enum { RD_MOST_SEAMS = 7, RD_MOST_BOXES = 27, RD_MOST_PLACES = 512 };

/* Where an axis of a node is read: element index[axis] + offset, axis one of the result's; -1: the
 * one element `offset`. */
typedef struct rd_reading {
    int64_t axis; /* as wide, so that readings can be compared as bytes */
    int64_t offset;
} rd_reading;

/* A node as it is read from a result, and what it is in the box at hand. */
typedef struct rd_price_site {
    rd_expr    *expr;
    rd_reading *at;
    rd_expr    *made; /* of the box numbered `box` */
    int32_t     box;
} rd_price_site;

typedef struct rd_seams {
    rd_collector  *c;
    int32_t        rank, n_place, box, n_concat;
    rd_price_site *places;
    int64_t        extent[RD_MAX_RANK];
    int32_t        n[RD_MAX_RANK];
    int64_t        at[RD_MAX_RANK][RD_MOST_SEAMS + 2]; /* between 0 and the extent, in order */
    int64_t        lo[RD_MAX_RANK], hi[RD_MAX_RANK];   /* the box                            */
    bool           failed, many;
} rd_seams;

/* The spot of a node that is read at `at`, and whether it is a new one; NULL: there are too many,
 * or there is no memory. */
rd_price_site *rd_spot_of(rd_seams *s, rd_expr *x, const rd_reading *at, bool *fresh);
/* Where a view, read at `at`, reads its operand; false if it does not go along whole axes one by
 * one. */
bool rd_read_through(const rd_expr *x, const rd_reading *at, rd_reading *in);
/* Concatenations of which boxes read parts. */
typedef struct rd_cut_list {
    int32_t         n;
    const rd_expr **concat;
} rd_cut_list;
/* seams.c: the seams of x, with the readings of its own axes; NULL: no memory.  Is it worth it to
 * cut x there?  Notes the concatenations; false: no memory. */
rd_seams *rd_seams_of(rd_collector *c, rd_expr *x, rd_reading *at);
bool      rd_seams_pay(const rd_seams *s, const rd_expr *x);
bool      rd_note_concats(rd_seams *s, rd_cut_list *cut);
/* seam_boxes.c: the result x, joined from its boxes, or what it is in the next box, from lo to hi; NULL
 * on failure. */
rd_expr *rd_join_boxes(rd_seams *s, rd_expr *x, const rd_reading *at);
rd_expr *rd_in_next_box(rd_seams *s, rd_expr *x, const rd_reading *at);
/* seam_folds.c: x with the folds that its maps read made of those of boxes; NULL: no memory. */
rd_expr *rd_cut_folds(rd_collector *c, rd_expr *x, rd_cut_list *cut);
#endif
