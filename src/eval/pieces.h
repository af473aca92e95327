/* pieces.h - an expression evaluated a piece at a time: views of it that lie one behind the other
 * in C order, all but the last of each row of pieces of one shape, so that they share a plan. */
#ifndef RD_EVAL_PIECES_H
#define RD_EVAL_PIECES_H
#include "expr/expr.h"

typedef struct rd_pieces {
    int     axis;   /* that is cut; axes before it have one index in a piece   */
    int64_t extent; /* its own                                                 */
    int64_t each;   /* indices along it of a piece; the last one may have fewer */
    int64_t along;  /* pieces along it                                         */
    int64_t inner;  /* elements of each index                                  */
    int64_t n;      /* pieces in all                                           */
} rd_pieces;

/* Pieces of x of up to so many elements; rank 0 is one. */
rd_pieces rd_pieces_of(const rd_expr *x, int64_t most);
/* Piece k, elements of it, and the place of its first in x, in C order. */
rd_expr *rd_piece_view(const rd_pieces *p, rd_expr *x, int64_t k);
int64_t  rd_piece_points(const rd_pieces *p, int64_t k);
int64_t  rd_piece_begin(const rd_pieces *p, int64_t k);

/* Are pieces as much work as the whole?  Not of what a reduction, or another value that is made
 * whole, would be computed for again and again. */
bool rd_pieces_are_cheap(const rd_expr *x);
#endif
