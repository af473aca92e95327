/* index_set_split.h - a loop that a mask bounds while it is cut into pieces. */
#ifndef RD_KERNELS_PASS_INDEX_SET_SPLIT_H
#define RD_KERNELS_PASS_INDEX_SET_SPLIT_H
#include "kernels/pass/index_math.h"
#include "kernels/pass/chosen_strips.h"

typedef struct rd_range_split {
    rd_index_math    n; /* values are made before the loop */
    rd_schedule     *t;
    const rd_bounds *bounds;
    int32_t          stmt; /* the loop */
    int64_t          by;   /* pieces begin so many indices apart */
    rd_linear        from, to;
    rd_linear        lo, hi; /* of the range that blocks are cut from */
} rd_range_split;

/* Outside [first, last) the mask is false; in [begin, end) it is true. */
typedef struct rd_pieces {
    rd_linear first, begin, end, last;
    bool      before, behind; /* may something be left on these sides? */
} rd_pieces;

/* piece_bounds.c: where something may be left: one index beyond either end is visited, and one where there
 * is nothing between, as a masked-out element makes 0 of a sum of -0.  Where the mask is true. */
void rd_find_visited(rd_range_split *c, rd_pieces *p);
void rd_find_covered(rd_range_split *c, rd_pieces *p);
/* The greatest, or the least, of an axis in what the loop holds. */
rd_linear rd_index_bound(rd_range_split *c, int32_t axis, bool most);
/* Of from, from + by .. to: the last one at or before `at`; the first one at or behind it. */
rd_linear rd_round_to_step(rd_range_split *c, rd_linear at, bool behind);
/* index_set_split.c: the loop as these pieces, the first and the last statement of them in *one and *other. */
void rd_split_into_pieces(rd_range_split *c, const rd_pieces *p, int32_t *one, int32_t *other);
/* Exits from these loops leave another one. */
void rd_retarget_exits(rd_schedule *t, int32_t one, int32_t other, int32_t around);

/* list_ranges.c: the same for each range of a list.  Strips end where clusters do that say which list
 * counts. */
void rd_split_by_list(rd_range_split *c);
void rd_split_by_clusters(rd_schedule *t, const rd_strips *strips);
#endif
