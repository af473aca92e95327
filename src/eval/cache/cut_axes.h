/* cut_axes.h - cuts an evaluation along axes of a large value inside of it, such as scores.
 *
 *     s[i, j] = sum over d of q[i, d] * k[j, d]        cut along i:  s has it at axis 0, q at 0
 *     dq[i, d] = sum over j of ds[i, j] * k[j, d]      dq has it at axis 0
 *     dk[j, d] = sum over i of ds[i, j] * q[i, d]      dk is added up: each block has a part of it
 *
 * A block is some indices of each cut.  A node has a cut at one of its axes, nowhere, or added.
 *
 * There may be columns, too, such as j above: an axis that is folded on the way, and of which a
 * block has those that a mask leaves (cut_masked.h). */
#ifndef RD_EVAL_CACHE_CUT_AXES_H
#define RD_EVAL_CACHE_CUT_AXES_H
#include "expr/nodes.h"

enum {
    RD_MOST_CUTS        = 6,
    RD_MOST_CUT_RESULTS = 8,
    RD_CUT_TRIES        = 32 /* large values that are tried */
};

/* Where a node has a cut, if at none of its axes.  BROKEN: it needs several blocks at once.  FOLDED:
 * it reduces columns; what reads it has none. */
enum { RD_CUT_NOWHERE = -1, RD_CUT_ADDED = -2, RD_CUT_BROKEN = -3, RD_CUT_FOLDED = -4 };

/* Where a node has each cut. */
typedef struct rd_cut_at {
    int8_t axis[RD_MOST_CUTS];
} rd_cut_at;

/* Results and the nodes below them, with the cuts.  The last cut is that of rows, which results may
 * add up; the others are axes that all results have. */
typedef struct rd_cuts {
    rd_ctx      *ctx;
    rd_results   results;
    rd_node_list list; /* by serial numbers: operands stand before readers */
    rd_cut_at   *at;   /* of each node */
    int          n;
    int          columns; /* 1: there is a cut number n, of columns; 0: there is none */
    int64_t      from;    /* the node at which cuts begin */
    int64_t      extent[RD_MOST_CUTS];
} rd_cuts;

/* The indices first[c] <= i < first[c] + count[c] of each cut. */
typedef struct rd_cut_box {
    int64_t first[RD_MOST_CUTS], count[RD_MOST_CUTS];
} rd_cut_box;

/* Lists the nodes.  False after recording a failure; rd_cuts_end() frees them in any case. */
bool rd_cuts_begin(rd_cuts *c, rd_ctx *ctx, rd_results results);
void rd_cuts_end(rd_cuts *c);
/* Finds cuts of which the last one has `least` indices or more, from a value of more than so many
 * bytes.  False: there are none. */
bool rd_cuts_find(rd_cuts *c, double bytes, int64_t least);
/* Labels all nodes for a cut along axis a of node `from`.  Counts the results that are added up;
 * -1: some result cannot come in blocks. */
int rd_cuts_label(const rd_cuts *c, int cut, int64_t from, int a);
/* Labels all nodes for columns along axis a of the node at which cuts begin.  False: some node does
 * more with them than maps, sums and extremes, or a result has them and is not added up. */
bool rd_cuts_label_columns(rd_cuts *c, int a);
/* The number of cuts, with that of columns. */
static inline int rd_cuts_of_all(const rd_cuts *c)
{
    return c->n + c->columns;
}
/* The bytes of a node's elements; true for a map or a reduction of more than so many. */
double rd_cuts_bytes(const rd_expr *x);
bool   rd_cuts_may_begin(const rd_expr *x, double bytes);
/* The place of a node in the list. */
int64_t rd_cuts_index(const rd_cuts *c, const rd_expr *x);
/* Where result r has each cut. */
rd_cut_at rd_cuts_of_result(const rd_cuts *c, int r);
/* True if the result is the sum of what blocks have of it. */
bool rd_cuts_adds(const rd_cuts *c, int r);

/* ---- What axes of operands go with axes of a node -------------------------------------------- */
/* The axis of a view's operand that is read along axis k as it is, and along no other axis;
 * NOWHERE: none varies along k.  BROKEN: anything else. */
int rd_cut_below_view(const rd_expr *x, int k);
/* The axis of a reduction's operands that is its axis k. */
int rd_cut_below_fold(const rd_expr *x, int k);
/* The axis of operand `of` of a gather that is its axis k; NOWHERE: the other operand has it. */
int rd_cut_below_take(const rd_expr *x, int of, int k);
#endif
