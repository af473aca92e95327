/* sparse_places.h - passes over index arrays of levels: checks of their order, and the
 * coordinates that they make. */
#ifndef RD_EXPR_SPARSE_PLACES_H
#define RD_EXPR_SPARSE_PLACES_H
#include "expr/expr.h"

/* The number of threads for a pass over n places. */
int rd_places_threads(const rd_ctx *ctx, int64_t n);

/* A level with arrays of the right length. */
typedef struct rd_index_level {
    rd_level_kind kind;
    int64_t       extent, before, places; /* places before this level, and with it */
    const void   *pos, *crd;              /* its index arrays; NULL: it has none */
    bool          wide_pos, wide_crd;     /* i64, not i32 */
    int32_t      *narrow;                 /* room for the coordinate of each place of the last */
    int64_t      *wide;                   /* level, in either of the two; both NULL: none is made */
} rd_index_level;

/* rd_levels_in_order() is true if all indices are in range and places ascend.  False does not
 * prove an error: where a level repeats an index, a later level may tell the places apart. */
bool rd_levels_in_order(const rd_ctx *ctx, int n, const rd_index_level *level, bool trusted);
void rd_levels_fill(const rd_ctx *ctx, int n, const rd_index_level *level);
#endif
