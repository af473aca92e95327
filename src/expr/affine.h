/* affine.h - a view under construction: where each axis of the operand is read, by the axes of the
 * result. */
#ifndef RD_EXPR_AFFINE_H
#define RD_EXPR_AFFINE_H
#include "expr/expr.h"

/* One axis of the operand steps by `coef` along one of the result. */
typedef struct rd_affine_step {
    int32_t of, along;
    int64_t coef;
} rd_affine_step;

/* Axis a of the operand is read at offset[a] + the sum over its steps of coef * i[along].  Zeroed:
 * rank 0, element [0, ..., 0].  Each view zeroes one, so steps are a list: hardly two axes meet, and a
 * matrix of them is 8 KiB. */
typedef struct rd_affine {
    int     rank; /* may pass RD_MAX_RANK while built, what is beyond is not stored: rd_affine_view
                   * refuses it */
    int     n_step;
    int64_t extent[RD_MAX_RANK];
    int64_t origin[RD_MAX_RANK];
    int64_t offset[RD_MAX_RANK];
    /* One for each axis of the result, and one for each of the operand that has one of these, too. */
    rd_affine_step step[2 * RD_MAX_RANK];
} rd_affine;

/* A view of x, with no axes yet: what else there is need not be zeroed, as it is large. */
void rd_affine_begin(rd_affine *v, const rd_expr *x);
/* Adds an axis to the result; axis `a` of the operand steps by `coef` along it, none if a < 0. */
void rd_affine_axis(rd_affine *v, int64_t extent, int a, int64_t coef);
/* Axis `a` of the operand steps by `coef` along axis k of the result, too. */
void rd_affine_also(rd_affine *v, int a, int k, int64_t coef);
/* Adds an axis that steps through places start, start + step, ... before stop of axis a, cut to the
 * axis as Python does; and the same by indices of the axis.  Without bounds and step it is the whole
 * axis, else it begins at 0. */
void rd_affine_places(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                      int64_t step);
void rd_affine_range(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                     int64_t step);
/* Adds axis a of x as it is. */
void rd_affine_whole(rd_affine *v, const rd_expr *x, int a);
/* Reads axis a at a place, counted from the end if negative, and at an index of the axis, which has
 * none from the end if it does not begin at 0; false if it is outside. */
bool rd_affine_place(rd_affine *v, const rd_expr *x, int a, int64_t place);
bool rd_affine_select(rd_affine *v, const rd_expr *x, int a, int64_t i);
/* Its numbers as rd_view() takes them; false after recording RD_ERR_SHAPE for `call` if its rank or
 * size is too large, and if v is NULL. */
enum { RD_VIEW_NUMBERS = RD_MAX_RANK * (RD_MAX_RANK + 1) };
bool rd_affine_numbers(const rd_affine *v, rd_expr *x, const char *call,
                       int64_t number[RD_VIEW_NUMBERS]);
/* The view; NULL after recording the same (any.c). */
rd_expr *rd_affine_view(rd_expr *x, const rd_affine *v, const char *call);

/* ---- What calls ask for (affine_views.c) ------------------------------------------------------ */
/* Each makes v from nothing and returns it; NULL after recording what is wrong, or if x is NULL.  The
 * functions `select` and `range` say whether numbers are places or indices. */
const rd_affine *rd_affine_selected(rd_affine *v, const rd_expr *x, int axis, int64_t i,
                                    bool select(rd_affine *, const rd_expr *, int, int64_t));
const rd_affine *rd_affine_sliced(rd_affine *v, const rd_expr *x, int axis, int64_t start,
                                  int64_t stop, int64_t step,
                                  void range(rd_affine *, const rd_expr *, int, int64_t, int64_t,
                                             int64_t));
const rd_affine *rd_affine_permuted(rd_affine *v, const rd_expr *x, rd_index order);
const rd_affine *rd_affine_expanded(rd_affine *v, const rd_expr *x, int axis);
const rd_affine *rd_affine_squeezed(rd_affine *v, const rd_expr *x, rd_dims d);
/* x with other origins, NULL: all 0.  False: x has these. */
bool rd_affine_from(rd_affine *v, const rd_expr *x, const int64_t *origin);

/* The view of x that broadcasts it: the numbers and origins that rd_view() takes; false after recording
 * RD_ERR_SHAPE for `call`.  Most maps ask for it, so it is no rd_affine, which is slower. */
bool rd_broadcast_numbers(const rd_expr *x, int rank, const int64_t *extent, const char *call,
                          int64_t number[RD_VIEW_NUMBERS], int64_t origin[RD_MAX_RANK]);

/* Has x this shape? */
bool rd_has_shape(const rd_expr *x, int rank, const int64_t *extent);
/* Is each place of a view the same place of x?  And does x begin at these origins? */
bool rd_is_whole_view(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number);
bool rd_begins_at(const rd_expr *x, const int64_t *origin);
#endif
