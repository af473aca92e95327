/* origin.h - where axes begin.  The first index along an axis is its origin, 0 unless somebody said
 * another: of a leaf, or by rd_reindex().  It is a fact for people alone: constructors, plans and
 * kernels count elements of an axis from 0 (their *places*), and only calls that take or give
 * indices of an axis (rd_select, rd_take, rd_coord, rd_argmax, ...) translate.  Those are public;
 * the library itself calls what is declared here. */
#ifndef RD_EXPR_ORIGIN_H
#define RD_EXPR_ORIGIN_H
#include "expr/expr.h"

static inline int64_t rd_origin(const rd_expr *x, int a)
{
    return x->origin ? x->origin[a] : 0;
}

/* ---- Origins of nodes ------------------------------------------------------------------------ */
/* Those of a node that has none of its own yet, from its operands; NULL: all are 0. */
const int64_t *rd_origins_of(const rd_expr *node, const void *facts, int64_t room[RD_MAX_RANK]);
/* `origin` as nodes have it: NULL if all of them are 0. */
const int64_t *rd_somewhere(int rank, const int64_t *origin);
/* Do operands that broadcast cover the same indices?  An axis that repeats fits any.  False after
 * recording RD_ERR_SHAPE for `call`. */
bool rd_ranges_meet(const char *call, int n, rd_expr *const *x);
/* The same of operands of one rank, but along one axis. */
bool rd_ranges_meet_beside(const char *call, int n, rd_expr *const *x, int axis);
/* x with other origins, NULL: all 0. */
rd_expr *rd_with_origins(rd_expr *x, const int64_t *origin);
/* Those of what is made, place by place, of operands that have met: of one shape, or numbers. */
void rd_origins_of_all(int n, rd_expr *const *x, int64_t origin[RD_MAX_RANK]);
/* Each with origins of 0.  False: one could not be made. */
bool rd_from_0(int n, rd_expr **x);
/* Those that a descriptor or a caller says: as many as axes, and none so far away that indices
 * overflow.  False after recording RD_ERR_AXIS or RD_ERR_ARGUMENT for `call`. */
bool rd_origin_ok(rd_ctx *ctx, const char *call, const rd_index *origin, int rank);
/* Text of the indices along an axis, ", indices -2 to 2"; "" where they begin at 0. */
enum { RD_RANGE_TEXT = 64 };
const char *rd_range_text(const rd_expr *x, int a, char text[RD_RANGE_TEXT]);

/* ---- By places ------------------------------------------------------------------------------- */
/* As the calls without _places, but that all indices count from 0, or from the end. */
rd_expr *rd_select_place(rd_expr *x, int axis, int64_t place);
rd_expr *rd_slice_places(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
rd_expr *rd_take_places(rd_expr *x, int axis, rd_expr *index);
rd_expr *rd_take_places_along(rd_expr *x, int axis, rd_expr *index);
rd_expr *rd_places(rd_expr *x, int axis);
/* Indices along an axis of x as places.  Where the axis begins at 0 they stay as they are; else they are
 * u64, which do not count from the end: what is below the first index is far outside. */
rd_expr *rd_places_of(const char *call, const rd_expr *x, int axis, rd_expr *index);
/* Places along an axis of x as its indices. */
rd_expr *rd_indices_of(rd_expr *places, const rd_expr *x, int axis);
#endif
