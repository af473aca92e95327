/* boxes.h - what fills the storage of a concatenation: boxes, each by a pass of its own. */
#ifndef RD_EVAL_COLLECT_BOXES_H
#define RD_EVAL_COLLECT_BOXES_H
#include "eval/collect/collect.h"

/* The range of a dim that boxes cover, and the axis along it. */
typedef struct rd_box_range {
    int32_t place, axis;
    int64_t from, extent;
} rd_box_range;

/* Most ranges that boxes share; those beyond have axes of their own. */
enum { RD_BOX_RANGES = 64 };

typedef struct rd_boxes {
    int32_t             join;  /* the JOIN that is filled                            */
    int32_t             n_dim; /* its dims, which are raw axes                       */
    const int32_t      *dim;
    const rd_subscript *at;     /* where the concatenation is read, along those of its axes that
                             * no box cuts                                           */
    bool                nested; /* parts that are concatenations go part by part, too             */
    int32_t             n_range;
    rd_box_range        range[RD_BOX_RANGES];
} rd_boxes;

/* Each part of the concatenation e is copied to its range of dim `place`.  A part that is a
 * concatenation itself is copied part by part, too, where nobody else wants it yet: each element is
 * stored once, in however many axes arrays are joined. */
bool rd_boxes_fill(rd_collector *c, const rd_expr *e, int place, rd_boxes *boxes);
#endif
