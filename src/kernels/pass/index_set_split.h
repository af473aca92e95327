/* index_set_split.h - a loop that a mask bounds, while it is split into pieces. */
#ifndef RD_KERNELS_PASS_INDEX_SET_SPLIT_H
#define RD_KERNELS_PASS_INDEX_SET_SPLIT_H
#include "kernels/pass/chosen_strips.h"
#include "kernels/pass/index_math.h"

/* The loop at hand; index_set_split.c fills all fields. */
typedef struct rd_range_split {
    rd_index_math    n; /* values are made before the loop */
    rd_schedule     *t;
    const rd_bounds *bounds;   /* of the loop: where the mask begins and ends to be true */
    int32_t          stmt;     /* the loop */
    int64_t          grain;    /* borders of pieces are multiples of so many indices */
    rd_linear        from, to; /* the range of the loop */
    rd_linear        lo, hi;   /* the whole range, from which blocks are taken */
} rd_range_split;

/* Outside [visited_from, visited_to) the mask is false; in [covered_from, covered_to) it is
 * true. */
typedef struct rd_pieces {
    rd_linear visited_from, covered_from, covered_to, visited_to;
    bool      before, behind; /* indices may be left on these sides */
} rd_pieces;

/* piece_bounds.c: sets visited_from and visited_to, outside which the mask is false. One masked
 * index beyond either end is visited too, and one if the range is empty: a masked element turns a
 * sum of -0 into 0. */
void rd_find_visited(rd_range_split *c, rd_pieces *p);
/* Sets covered_from and covered_to, between which the mask is true. */
void rd_find_covered(rd_range_split *c, rd_pieces *p);
/* The smallest or largest index of an axis within the loop. */
rd_linear rd_index_bound(rd_range_split *c, int32_t axis, bool most);
/* Rounds a position to from + k * grain, within [from, to]: down, or up (`behind`). */
rd_linear rd_round_to_step(rd_range_split *c, rd_linear at, bool behind);
/* index_set_split.c: replaces the loop by its pieces; *one and *other are the first and the last
 * of them. */
void rd_split_into_pieces(rd_range_split *c, const rd_pieces *p, int32_t *one, int32_t *other);
/* Makes early exits of these loops leave the loop `around`. */
void rd_retarget_exits(rd_schedule *t, int32_t one, int32_t other, int32_t around);

/* list_ranges.c: splits the loop for each range of a list. */
void rd_split_by_list(rd_range_split *c);
/* Makes strips end where clusters do, as clusters select the list. */
void rd_split_by_clusters(rd_schedule *t, const rd_strips *strips);
#endif
