/* boxes.h - fills the storage of a concatenation box by box, each by a pass of its own. */
#ifndef RD_EVAL_COLLECT_BOXES_H
#define RD_EVAL_COLLECT_BOXES_H
#include "eval/collect/collect.h"

/* A range of a storage dim that boxes cover, and the loop axis along it. */
typedef struct rd_box_range {
    int32_t place, axis;  /* number of the storage dim; the loop axis */
    int64_t from, extent; /* first index; number of indices */
} rd_box_range;

/* Number of ranges that boxes may share; further ones get axes of their own. */
enum { RD_BOX_RANGES = 64 };

/* The boxes of one stored concatenation. */
typedef struct rd_boxes {
    int32_t        join;  /* the JOIN value that is filled */
    int32_t        n_dim; /* its storage dims, which are raw axes */
    const int32_t *dim;   /* the storage dims */
    /* the subscripts of the concatenation along the axes that no box limits */
    const rd_subscript *at;
    bool                nested;  /* parts that are concatenations are filled part by part, too */
    int32_t             n_range; /* number of shared ranges */
    rd_box_range        range[RD_BOX_RANGES]; /* the shared ranges */
} rd_boxes;

/* Copies each part of the concatenation e to its range of dim `place`.  A part that is a
 * concatenation itself is copied part by part if nothing else uses it yet.  So each element is
 * stored once, in however many axes arrays are joined. */
bool rd_boxes_fill(rd_collector *c, const rd_expr *e, int place, rd_boxes *boxes);
#endif
