/* cut_parts.h - the expressions of a block: what results need of each node, made of boxes of
 * leaves, so that blocks of one shape share a plan. */
#ifndef RD_EVAL_CACHE_CUT_PARTS_H
#define RD_EVAL_CACHE_CUT_PARTS_H
#include "eval/cache/cut_axes.h"

/* How a part is made. */
typedef enum rd_cut_way {
    RD_PART_WHOLE,  /* the node itself */
    RD_PART_VIEWED, /* a view of the node */
    RD_PART_LEAF,   /* a leaf of the box's memory */
    RD_PART_INDEX,  /* a leaf of indices in place of coordinates */
    RD_PART_AGAIN   /* the node with the parts of its operands */
} rd_cut_way;

/* A part of a node, in each block. */
typedef struct rd_cut_step {
    int64_t    node; /* in the list of nodes */
    rd_cut_way way;
    rd_cut_at  at;
    int64_t    in; /* the first of its operands in rd_cut_steps.in: parts, -1: no operand */
} rd_cut_step;

/* The parts of all results: operands before readers. */
typedef struct rd_cut_steps {
    const rd_cuts *cuts;
    rd_cut_step   *step;
    int64_t       *in;
    int64_t        n, n_in;
    int64_t        result[RD_MOST_CUT_RESULTS];
    int64_t        most_index; /* the longest axis of coordinates that are cut, or columns */
} rd_cut_steps;

/* Lists the parts.  False: some node is asked for in too many ways, or a failure is recorded;
 * rd_cut_steps_end() frees them in any case. */
bool rd_cut_steps_begin(rd_cut_steps *s, const rd_cuts *c);
void rd_cut_steps_end(rd_cut_steps *s);
/* Makes the results of a block in a context; `node` are the listed nodes there, `made` has room for
 * all parts, `index` are 0, 1, 2 ...  False after recording a failure. */
bool rd_cut_make(const rd_cut_steps *s, rd_ctx *ctx, rd_expr *const *node, const int64_t *index,
                 const rd_cut_box *box, rd_expr **made, rd_expr **result);
#endif
