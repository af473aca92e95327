/* sparse_places.h - index arrays of levels in passes over memory: are they in order, and the
 * coordinates they make. */
#ifndef RD_EXPR_SPARSE_PLACES_H
#define RD_EXPR_SPARSE_PLACES_H
#include "expr/expr.h"

/** How many threads look at n of them. */
int rd_places_threads(const rd_ctx *ctx, int64_t n);

/** A level, whose arrays are there and as long as they must be. */
typedef struct rd_index_level {
    rd_level_kind kind;
    int64_t       extent, before, places; /* places without this level, and with it              */
    const void   *pos, *crd;
    bool          wide_pos, wide_crd; /* i64, not i32                                        */
    int32_t      *narrow;             /* room for the coordinate of each place of the last   */
    int64_t      *wide;               /* level, either of both; NULL: none is made           */
} rd_index_level;

/** True: all indices are inside, places ascend.  False says nothing: where a level has an index
 *  twice, it may be told apart by a later one. */
bool rd_levels_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted);
void rd_levels_fill(const rd_ctx *ctx, int n, const rd_index_level *level);
#endif
