/* sparse.h - sparse expressions: dense ones over stored places, and where these are.
 *
 * A sparse node is a SPARSE.  Its values are a dense expression whose first axis goes through the
 * stored places, and whose others are the node's axes that its pattern lacks; coordinates are rows
 * of ints beside them, ascending.  The fill is a dense expression of the node's own shape, which
 * nothing computes unless it is asked for: x + d has the fill 0 + d.  Maps, reductions and views of
 * a SPARSE are made of those of its parts, so nothing that loops over elements knows of
 * patterns.  Origins of axes are the SPARSE's alone: values, fill and coordinates count from 0. */
#ifndef RD_EXPR_SPARSE_H
#define RD_EXPR_SPARSE_H
#include "expr/expr.h"

static inline bool rd_has_pattern(const rd_expr *x)
{
    return x->kind == RD_EXPR_SPARSE;
}

bool rd_any_pattern(int n, rd_expr *const *x);

/* A sparse one whose places are not listed: rd_listed() has them. */
static inline bool rd_is_later(const rd_expr *x)
{
    return x->kind == RD_EXPR_LATER;
}

/* ---- Parts ----------------------------------------------------------------------------------- */
static inline rd_expr *rd_values_of(const rd_expr *x)
{
    return x->in[0];
}

/* NULL: there is nothing at other places. */
static inline rd_expr *rd_fill_of(const rd_expr *x)
{
    return x->in[1];
}

static inline int rd_coords_of(const rd_expr *x)
{
    return (int)x->as.sparse->n;
}

/* Which coordinate is the index along an axis of x, -1: the pattern lacks it. */
static inline int rd_coord_of_axis(const rd_expr *x, int axis)
{
    for (int k = 0; k < rd_coords_of(x); k++)
        if (x->as.sparse->axis[k] == axis)
            return k;
    return -1;
}

/* x with other origins of its axes, NULL: all 0. */
rd_expr *rd_sparse_from(rd_expr *x, const int64_t *origin);
/* The node with these parts, and x's coordinates and origins; fill NULL: nothing. */
rd_expr *rd_sparse_with(const rd_expr *x, rd_expr *values, rd_expr *fill);
/* The node; `coord` are n coordinates along axes `axis`. */
rd_expr *rd_sparse_node(rd_expr *values, rd_expr *fill, int rank, const int64_t *extent, int n,
                        rd_expr *const *coord, const int64_t *axis);
bool     rd_same_pattern(const rd_expr *x, const rd_expr *y);
/* y, of x's shape or a number, as values of x's pattern: it is read at the stored places. */
rd_expr *rd_at_stored(const rd_expr *x, rd_expr *y, const char *call);

/* Operands of one shape that have places along the axes of one of them, `lead`, get one pattern:
 * that of all their places; of those that all have, if nothing else counts (`annihilates`); of
 * those that all .stored ones have, if lead is one.  False after recording a failure. */
bool rd_merge_patterns(const char *call, const rd_expr *lead, bool annihilates, int n, rd_expr **x);
/* x with its places in the order of the axes of another one, `as`, whose coordinates are along the
 * same. */
rd_expr *rd_sparse_ordered(const rd_expr *as, rd_expr *x, const char *call);
/* x with a pattern along these axes, too, if it lacks them; without x's origins. */
rd_expr *rd_sparse_along(rd_expr *x, uint64_t axes, const char *call);
/* A row of n indices, i32 or i64, whose memory is to be written. */
rd_expr *rd_index_row(rd_ctx *ctx, int64_t n, bool narrow, void **room, const char *call);
/* A pattern's first coordinate, which ascends, along an axis of that extent.  Once it is written,
 * rd_row_ascends() puts behind it in memory where each index begins, and the end, so that folds by
 * it have loops over rows; unless most indices would have no place. */
rd_expr *rd_first_row(rd_ctx *ctx, int64_t n, int64_t extent, void **room, const char *call);
bool     rd_row_ascends(rd_expr *row, int64_t extent, const char *call);
/* The same where they are known: extent + 1 of them, i64 or i32. */
bool rd_row_begins(rd_expr *row, int64_t extent, const void *begin, bool wide, const char *call);
/* Of such a row, if indices of it have very many places: which piece each place is of, and which
 * index each piece is of.  Both ascend. */
typedef struct rd_row_pieces {
    rd_expr *label, *row;
} rd_row_pieces;
/* Sets row->pieces.  False: no memory. */
bool rd_cut_long_rows(rd_expr *row, const char *call);
/* The first n coordinates of x as one, in C order of their axes: a row that ascends.  *row is
 * NULL if most of its indices would have no place, or if x, which was trusted, is not in order.
 * False after recording a failure. */
bool rd_leading_row(const rd_expr *x, int n, const char *call, rd_expr **row);

/* A row as an index beside other axes: (n, 1, ...). */
rd_expr *rd_column(rd_expr *row, int rank);

/* ---- What is made of them -------------------------------------------------------------------- */
/* These take real operands, plain or sparse, and do what rd_map_op(), rd_map_rule(), rd_cast_to(),
 * rd_view(), rd_broadcast_to(), rd_with_origins() and rd_dense() do. */
rd_expr *rd_real_map(rd_op op, const char *call, int n, rd_expr *const *x);
rd_expr *rd_real_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x);
rd_expr *rd_real_cast(rd_expr *x, rd_dtype type);
rd_expr *rd_real_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                      const int64_t *origin);
rd_expr *rd_real_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call);
rd_expr *rd_real_from(rd_expr *x, const int64_t *origin);
rd_expr *rd_real_dense(rd_expr *x);
/* Two real expressions of one shape and type, the parts of complex numbers: with one pattern, where
 * one of them has one. */
bool rd_sparse_alike(const char *call, rd_expr *x[2]);
/* Two matrices of one type, whose places are known, multiplied row by row over a semiring: can they
 * be?  Then the product, with places of its own (sparse_product.c). */
bool     rd_multiplies_rows(const rd_expr *a, const rd_expr *b, rd_reducer_id reducer, rd_op op);
rd_expr *rd_multiply_rows(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op,
                          const char *call);

/* The same product at the places of a third matrix, a SPARSE; `exact`: at those that are its own, too,
 * and else it is 0 where it has none (sparse_masked.c). */
rd_expr *rd_multiply_rows_at(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op,
                             rd_expr *places, bool exact, const char *call);
/* Operands of a map, of one shape: a LATER becomes a SPARSE, with no more places than those at which the
 * map needs it.  False after recording a failure. */
bool rd_mask_products(rd_op op, int n, rd_expr **x, const char *call);

/* ---- Products whose places are not listed (sparse_later.c) ----------------------------------- */
/* A product that can be, as a LATER; as a SPARSE it is found when somebody asks. */
rd_expr *rd_product_later(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op);
/* x; of a LATER the SPARSE that it is.  NULL after recording a failure, and of NULL. */
rd_expr *rd_listed(rd_expr *x);
bool     rd_all_listed(int n, rd_expr **x);
/* A LATER of another type. */
rd_expr *rd_later_as(rd_expr *x, rd_dtype type);
/* The node of another context, which shares the lists of the LATER that it is a clone of. */
rd_expr *rd_clone_later(const rd_expr *node, const rd_expr *of);
/* x, which is real, itself, or at all its places, of which each is looked up; NULL after recording for
 * `call` that there is nothing at some. */
rd_expr *rd_at_all_places(rd_expr *x, const char *call);

/* ---- Fills ----------------------------------------------------------------------------------- */
/* What an expression is at all places. */
typedef enum rd_zero { RD_NO_ZERO, RD_ZERO_OR_NAN, RD_ZERO } rd_zero;
rd_zero rd_zero_of(const rd_expr *x);
/* Whether an operator gives 0: of no, all, any 0, or of a first one. */
enum { RD_KEEPS_NO = -1, RD_KEEPS_ALL, RD_KEEPS_ANY, RD_KEEPS_FIRST };
int rd_keeps_zero(rd_op op);
/* Axes along which its elements may differ. */
uint64_t rd_varies(const rd_expr *x);
/* x with extents of 1 along axes where its elements do not differ. */
rd_expr *rd_slim(rd_expr *x);
#endif
