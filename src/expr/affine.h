/* affine.h - an affine view under construction: the position in the operand is an affine
 * function of the indices of the result. */
#ifndef RD_EXPR_AFFINE_H
#define RD_EXPR_AFFINE_H
#include "expr/expr.h"

/* Axis `of` of the operand steps by `coef` along axis `along` of the result. */
typedef struct rd_affine_step {
    int32_t of, along;
    int64_t coef;
} rd_affine_step;

/* Axis a of the operand is read at offset[a] + the sum over its steps of coef * i[along].  A
 * zeroed view has rank 0 and reads element [0, ..., 0].  The steps are a list and not a matrix
 * of coefficients, as few axes share a step and a matrix takes 8 KiB to zero. */
typedef struct rd_affine {
    /* axes added; beyond RD_MAX_RANK they are counted but not stored, and rd_affine_view() refuses
     * the view */
    int     rank;
    int     n_step;              /* entries of `step` */
    int64_t extent[RD_MAX_RANK]; /* of the result */
    int64_t origin[RD_MAX_RANK]; /* of the result */
    int64_t offset[RD_MAX_RANK]; /* by axes of the operand */
    /* Room for one step of each axis of the result and a second step of each axis of the
     * operand. */
    rd_affine_step step[2 * RD_MAX_RANK];
} rd_affine;

/* Begins a view of x without axes.  It zeroes only what a reader looks at, as the struct is
 * large. */
void rd_affine_begin(rd_affine *v, const rd_expr *x);
/* Adds an axis to the result; axis `a` of the operand steps by `coef` along it, none if a < 0. */
void rd_affine_axis(rd_affine *v, int64_t extent, int a, int64_t coef);
/* Lets axis `a` of the operand step by `coef` along axis k of the result as well. */
void rd_affine_also(rd_affine *v, int a, int k, int64_t coef);
/* Both append an axis that steps through start, start + step, ... before stop of axis a, with
 * bounds clamped as Python does.  The first takes positions, the second indices of the axis.
 * Without bounds and step the result is the whole axis with its origin, else its origin is 0. */
void rd_affine_places(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                      int64_t step);
void rd_affine_range(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                     int64_t step);
/* Adds axis a of x as it is. */
void rd_affine_whole(rd_affine *v, const rd_expr *x, int a);
/* Both read axis a at one element: at a position, or at an index of the axis.  A negative
 * position counts from the end; so does an index if the origin is 0.  False if the element is
 * outside. */
bool rd_affine_place(rd_affine *v, const rd_expr *x, int a, int64_t place);
bool rd_affine_select(rd_affine *v, const rd_expr *x, int a, int64_t i);
/* Writes the numbers that rd_view() takes: offsets, then a matrix of coefficients.  False if v
 * is NULL, or after recording RD_ERR_SHAPE for `call` if the rank or the size is too large. */
enum { RD_VIEW_NUMBERS = RD_MAX_RANK * (RD_MAX_RANK + 1) };
bool rd_affine_numbers(const rd_affine *v, rd_expr *x, const char *call,
                       int64_t number[RD_VIEW_NUMBERS]);
/* Makes the view as a node; NULL after recording what rd_affine_numbers() records (any.c). */
rd_expr *rd_affine_view(rd_expr *x, const rd_affine *v, const char *call);

/* ---- What calls ask for (affine_views.c) ----------------------------------------------------- */
/* Each fills v and returns it; NULL after recording what is wrong, or if x is NULL.  The
 * callbacks `select` and `range` say whether numbers are positions or indices of the axis. */
const rd_affine *rd_affine_selected(rd_affine *v, const rd_expr *x, int axis, int64_t i,
                                    bool select(rd_affine *, const rd_expr *, int, int64_t));
const rd_affine *rd_affine_sliced(rd_affine *v, const rd_expr *x, int axis, int64_t start,
                                  int64_t stop, int64_t step,
                                  void range(rd_affine *, const rd_expr *, int, int64_t, int64_t,
                                             int64_t));
const rd_affine *rd_affine_permuted(rd_affine *v, const rd_expr *x, rd_index order);
const rd_affine *rd_affine_expanded(rd_affine *v, const rd_expr *x, int axis);
const rd_affine *rd_affine_squeezed(rd_affine *v, const rd_expr *x, rd_dims d);
/* Makes a view of x with other origins (NULL: all 0).  False if x has these origins already. */
bool rd_affine_from(rd_affine *v, const rd_expr *x, const int64_t *origin);

/* Writes the numbers and origins that rd_view() takes to broadcast x; false after recording
 * RD_ERR_SHAPE for `call`.  It does not build an rd_affine, as most maps call it and an
 * rd_affine is slower. */
bool rd_broadcast_numbers(const rd_expr *x, int rank, const int64_t *extent, const char *call,
                          int64_t number[RD_VIEW_NUMBERS], int64_t origin[RD_MAX_RANK]);

/* True if x has this shape. */
bool rd_has_shape(const rd_expr *x, int rank, const int64_t *extent);
/* The first is true if each element of a view is the same element of x.  The second is true if x
 * has these origins (NULL: all 0). */
bool rd_is_whole_view(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number);
bool rd_begins_at(const rd_expr *x, const int64_t *origin);
#endif
