/* sparse.h - sparse expressions: dense values at stored places, and the coordinates of these
 * places.
 *
 * A sparse expression is a SPARSE node.  Its *values* are a dense expression.  Their first axis
 * goes through the stored places; the other axes are those of the node that the pattern lacks.
 * *Coordinates* are rows of ints beside the values, one for each axis of the pattern (the COO
 * format).  The places ascend in C order of these axes.
 *
 *     0 5 0        values       5 7 8
 *     7 0 8        coordinates  0 1 1    along axis 0
 *                               1 0 2    along axis 1
 *                  fill         0
 *
 * The *fill* is a dense expression of the node's shape.  Nothing computes it unless it is asked
 * for: x + d has the fill 0 + d.  Maps, reductions and views of a SPARSE are built of those of
 * its parts.  So no loop over elements knows patterns.  Only the SPARSE has origins: values,
 * fill and coordinates count from 0. */
#ifndef RD_EXPR_SPARSE_H
#define RD_EXPR_SPARSE_H
#include "expr/expr.h"

/* True if x is a SPARSE node: values of stored elements, and the coordinates of these (its
 * pattern). */
static inline bool rd_has_pattern(const rd_expr *x)
{
    return x->kind == RD_EXPR_SPARSE;
}

bool rd_any_pattern(int n, rd_expr *const *x);

/* True if x is a sparse product whose stored elements are not listed yet; rd_listed() lists
 * them. */
static inline bool rd_is_later(const rd_expr *x)
{
    return x->kind == RD_EXPR_LATER;
}

/* ---- Parts ----------------------------------------------------------------------------------- */
/* The dense values of a SPARSE; their first axis goes through the stored elements. */
static inline rd_expr *rd_values_of(const rd_expr *x)
{
    return x->in[0];
}

/* The value of all elements of a SPARSE that are not stored.  NULL: the array has nothing there
 * (option .stored). */
static inline rd_expr *rd_fill_of(const rd_expr *x)
{
    return x->in[1];
}

/* The number of coordinates that a SPARSE has of each stored element; the other axes of x are
 * dense. */
static inline int rd_coords_of(const rd_expr *x)
{
    return (int)x->as.sparse->n;
}

/* Finds the coordinate of stored elements that lies along `axis` of x.  Returns its number; -1: the
 * axis is dense and has none. */
static inline int rd_coord_of_axis(const rd_expr *x, int axis)
{
    for (int k = 0; k < rd_coords_of(x); k++)
        if (x->as.sparse->axis[k] == axis)
            return k;
    return -1;
}

/* x with other origins of its axes; NULL: all 0. */
rd_expr *rd_sparse_from(rd_expr *x, const int64_t *origin);
/* A SPARSE with these parts, and x's coordinates and origins.  fill NULL: nothing at other
 * places. */
rd_expr *rd_sparse_with(const rd_expr *x, rd_expr *values, rd_expr *fill);
/* Makes a SPARSE node; `coord` are n coordinates along the axes `axis`. */
rd_expr *rd_sparse_node(rd_expr *values, rd_expr *fill, int rank, const int64_t *extent, int n,
                        rd_expr *const *coord, const int64_t *axis);
bool     rd_same_pattern(const rd_expr *x, const rd_expr *y);
/* y as values of x's pattern: y, of x's shape or a number, is read at the stored places. */
rd_expr *rd_at_stored(const rd_expr *x, rd_expr *y, const char *call);

/* Gives one pattern to all operands that have places along the same axes as `lead`, one of them.
 * All have one shape.  The pattern is the union of their places.  It is the intersection if only
 * places of all operands matter (`annihilates`), or that of all .stored ones if lead is .stored.
 * False after recording a failure. */
bool rd_merge_patterns(const char *call, const rd_expr *lead, bool annihilates, int n, rd_expr **x);
/* x with its places in the axis order of `as`, which has coordinates along the same axes. */
rd_expr *rd_sparse_ordered(const rd_expr *as, rd_expr *x, const char *call);
/* x with coordinates along these axes, too, where its pattern lacks them; without x's origins. */
rd_expr *rd_sparse_along(rd_expr *x, uint64_t axes, const char *call);
/* A row of n indices, i32 or i64.  *room is its memory, which the caller fills in. */
rd_expr *rd_index_row(rd_ctx *ctx, int64_t n, bool narrow, void **room, const char *call);
/* rd_first_row() makes a row for the first coordinate, which ascends, along an axis of that
 * extent.  Once the caller has written it, rd_row_ascends() appends in memory where each index
 * begins, and the end.  With these, folds by the row run as loops over rows.  Nothing is
 * appended if most indices would have no place. */
rd_expr *rd_first_row(rd_ctx *ctx, int64_t n, int64_t extent, void **room, const char *call);
bool     rd_row_ascends(rd_expr *row, int64_t extent, const char *call);
/* The same where the begins are known: extent + 1 numbers, i64 if `wide`, else i32. */
bool rd_row_begins(rd_expr *row, int64_t extent, const void *begin, bool wide, const char *call);
/* The pieces of such a row, if some of its indices have very many places.  `label` is the piece
 * of each place, `row` the index of each piece.  Both ascend. */
typedef struct rd_row_pieces {
    rd_expr *label, *row;
} rd_row_pieces;
/* Sets row->pieces if the row is worth it.  False: no memory. */
bool rd_cut_long_rows(rd_expr *row, const char *call);
/* Makes one row of the first n coordinates of x, in C order of their axes.  It ascends.  *row is
 * NULL if most of its indices would have no place, or if x was trusted but is not in order.
 * False after recording a failure. */
bool rd_leading_row(const rd_expr *x, int n, const char *call, rd_expr **row);

/* A row shaped to broadcast against other axes: (n, 1, ...). */
rd_expr *rd_column(rd_expr *row, int rank);

/* ---- Operations of sparse operands ----------------------------------------------------------- */
/* These take real operands, plain or sparse.  They do what rd_map_op(), rd_map_rule(),
 * rd_cast_to(), rd_view(), rd_broadcast_to(), rd_with_origins() and rd_dense() do. */
rd_expr *rd_real_map(rd_op op, const char *call, int n, rd_expr *const *x);
rd_expr *rd_real_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x);
rd_expr *rd_real_cast(rd_expr *x, rd_dtype type);
rd_expr *rd_real_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                      const int64_t *origin);
rd_expr *rd_real_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call);
rd_expr *rd_real_from(rd_expr *x, const int64_t *origin);
rd_expr *rd_real_dense(rd_expr *x);
/* Gives one pattern to the two parts of complex numbers, if either has one.  Both parts have one
 * shape and type. */
bool rd_sparse_alike(const char *call, rd_expr *x[2]);
/* rd_multiplies_rows() is true if two matrices can be multiplied row by row over a semiring.
 * rd_multiply_rows() makes the product, with a pattern of its own (sparse_product.c).  Both have
 * one type and listed places. */
bool     rd_multiplies_rows(const rd_expr *a, const rd_expr *b, rd_reducer_id reducer, rd_op op);
rd_expr *rd_multiply_rows(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op,
                          const char *call);

/* The same product at the places of a third matrix, a SPARSE (a masked product).  With `exact`,
 * it has just those of them that are the product's own, too.  Otherwise it is 0 where the
 * product has none (sparse_masked.c). */
rd_expr *rd_multiply_rows_at(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op,
                             rd_expr *places, bool exact, const char *call);
/* Lists the products among the operands of a map, which have one shape: each LATER becomes a
 * SPARSE, if possible just at the places that the map needs.  False after recording a failure. */
bool rd_mask_products(rd_op op, int n, rd_expr **x, const char *call);

/* ---- Products whose places are not listed (sparse_later.c) ----------------------------------- */
/* Makes a LATER node for a product that rd_multiplies_rows() allows.  Its pattern is found on
 * demand. */
rd_expr *rd_product_later(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op);
/* x; for a LATER the SPARSE that it stands for.  NULL after recording a failure, and given NULL. */
rd_expr *rd_listed(rd_expr *x);
bool     rd_all_listed(int n, rd_expr **x);
/* A LATER cast to another type. */
rd_expr *rd_later_as(rd_expr *x, rd_dtype type);
/* Clones a LATER into another context.  The clone shares the lists of the original. */
rd_expr *rd_clone_later(const rd_expr *node, const rd_expr *of);
/* A real x as a plain expression; a sparse one is looked up at all places.  NULL after recording
 * for `call` that there is nothing at some of them. */
rd_expr *rd_at_all_places(rd_expr *x, const char *call);

/* ---- Fills ----------------------------------------------------------------------------------- */
/* How much is known of an expression: it is 0 at all places, 0 or NaN at each, or neither is
 * known. */
typedef enum rd_zero { RD_NO_ZERO, RD_ZERO_OR_NAN, RD_ZERO } rd_zero;
rd_zero rd_zero_of(const rd_expr *x);
/* The operands that make an operator's result 0 when they are 0: ALL of them together, ANY one, or
 * the FIRST.  RD_KEEPS_NO: the result is not 0 even then. */
enum { RD_KEEPS_NO = -1, RD_KEEPS_ALL, RD_KEEPS_ANY, RD_KEEPS_FIRST };
int rd_keeps_zero(rd_op op);
/* The axes along which elements of x may differ. */
uint64_t rd_varies(const rd_expr *x);
/* x with extent 1 along the axes where its elements do not differ. */
rd_expr *rd_slim(rd_expr *x);
#endif
