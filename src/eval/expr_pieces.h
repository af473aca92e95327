/* expr_pieces.h - splits an expression into pieces: consecutive views in C order.  All pieces of a
 * row but the last have one shape, so they share a plan. */
#ifndef RD_EVAL_EXPR_PIECES_H
#define RD_EVAL_EXPR_PIECES_H
#include "expr/expr.h"

/* How an expression is split. */
typedef struct rd_expr_pieces {
    int     axis;   /* the axis that is split; axes before it have one index in a piece */
    int64_t extent; /* extent of that axis */
    int64_t each;   /* indices of a piece along it; the last piece may have fewer */
    int64_t along;  /* pieces along it */
    int64_t inner;  /* elements of each index */
    int64_t n;      /* number of all pieces */
} rd_expr_pieces;

/* Splits x into pieces of at most so many elements; rank 0 is one piece. */
rd_expr_pieces rd_pieces_of(const rd_expr *x, int64_t most);
/* Piece k; its number of elements; and the flat index of its first element in x. */
rd_expr *rd_piece_view(const rd_expr_pieces *p, rd_expr *x, int64_t k);
int64_t  rd_piece_points(const rd_expr_pieces *p, int64_t k);
int64_t  rd_piece_begin(const rd_expr_pieces *p, int64_t k);

/* True if all pieces together cost no more than the whole.  False if a reduction, or another
 * whole value, would be recomputed for each. */
bool rd_pieces_are_cheap(const rd_expr *x);
#endif
