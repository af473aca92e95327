/* origin.h - where axes begin.  The first index along an axis is its *origin*. It is 0 unless a
 * leaf or rd_reindex() gives another.
 *
 * Origins exist for users alone.  Constructors, plans and kernels count elements of an axis from
 * 0 (their *places*).  Only public calls that take or give indices of an axis translate them:
 * rd_select, rd_take, rd_coord, rd_argmax and others.  The library itself calls the functions
 * that are declared here. */
#ifndef RD_EXPR_ORIGIN_H
#define RD_EXPR_ORIGIN_H
#include "expr/expr.h"

/* The first index along axis `a` of x. x->origin NULL: all axes begin at 0. */
static inline int64_t rd_origin(const rd_expr *x, int a)
{
    return x->origin ? x->origin[a] : 0;
}

/* ---- Origins of nodes ------------------------------------------------------------------------ */
/* The origins that a node without its own gets from its operands; NULL: all are 0. */
const int64_t *rd_origins_of(const rd_expr *node, const void *facts, int64_t room[RD_MAX_RANK]);
/* `origin` as nodes store it: NULL if all of its entries are 0. */
const int64_t *rd_somewhere(int rank, const int64_t *origin);
/* True if operands that broadcast cover the same indices.  An axis that repeats fits any range.
 * False after recording RD_ERR_SHAPE for `call`. */
bool rd_ranges_meet(const char *call, int n, rd_expr *const *x);
/* The same for operands of one rank, along all axes but one. */
bool rd_ranges_meet_beside(const char *call, int n, rd_expr *const *x, int axis);
/* x with other origins; NULL: all 0. */
rd_expr *rd_with_origins(rd_expr *x, const int64_t *origin);
/* The origins of an element-wise result.  Its operands have one shape, or are numbers. */
void rd_origins_of_all(int n, rd_expr *const *x, int64_t origin[RD_MAX_RANK]);
/* Gives each operand origins of 0.  False: one could not be made. */
bool rd_from_0(int n, rd_expr **x);
/* True if a caller's origins are as many as the axes, and small enough that indices do not
 * overflow.  False after recording RD_ERR_AXIS or RD_ERR_ARGUMENT for `call`. */
bool rd_origin_ok(rd_ctx *ctx, const char *call, const rd_index *origin, int rank);
/* Text of the indices along an axis, such as ", indices -2 to 2"; "" if they begin at 0. */
enum { RD_RANGE_TEXT = 64 };
const char *rd_range_text(const rd_expr *x, int a, char text[RD_RANGE_TEXT]);

/* ---- By places ------------------------------------------------------------------------------- */
/* These do what the calls without _places do, but indices count from 0, or from the end if they
 * are negative. */
rd_expr *rd_select_place(rd_expr *x, int axis, int64_t place);
rd_expr *rd_slice_places(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
rd_expr *rd_take_places(rd_expr *x, int axis, rd_expr *index);
rd_expr *rd_take_places_along(rd_expr *x, int axis, rd_expr *index);
rd_expr *rd_places(rd_expr *x, int axis);
/* Converts indices along an axis of x to places.  If the axis begins at 0, they stay as they
 * are.  Otherwise they become u64, which never counts from the end: an index below the origin is
 * far outside. */
rd_expr *rd_places_of(const char *call, const rd_expr *x, int axis, rd_expr *index);
/* Converts places along an axis of x to its indices. */
rd_expr *rd_indices_of(rd_expr *places, const rd_expr *x, int axis);
#endif
