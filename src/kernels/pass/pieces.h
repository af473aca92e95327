/* pieces.h - a loop that a mask bounds while it is cut into pieces. */
#ifndef RD_KERNELS_PASS_PIECES_H
#define RD_KERNELS_PASS_PIECES_H
#include "kernels/pass/numbers.h"
#include "kernels/pass/strips.h"

typedef struct rd_cutting {
    rd_numbers       n; /* values are made before the loop */
    rd_schedule     *t;
    const rd_bounds *bounds;
    int32_t          stmt; /* the loop */
    int64_t          by;   /* pieces begin so many indices apart */
    rd_linear        from, to;
    rd_linear        lo, hi; /* of the range that blocks are cut from */
} rd_cutting;

/* Outside [first, last) the mask is false; in [begin, end) it is true. */
typedef struct rd_pieces {
    rd_linear first, begin, end, last;
    bool      before, behind; /* may something be left on these sides? */
} rd_pieces;

/* piece_ends.c: where something may be left: one index beyond either end is visited, and one where there
 * is nothing between, as a masked-out element makes 0 of a sum of -0.  Where the mask is true. */
void rd_find_ends(rd_cutting *c, rd_pieces *p);
void rd_find_covered(rd_cutting *c, rd_pieces *p);
/* The greatest, or the least, of an axis in what the loop holds. */
rd_linear rd_index_within(rd_cutting *c, int32_t axis, bool most);
/* Of from, from + by .. to: the last one at or before `at`; the first one at or behind it. */
rd_linear rd_step_near(rd_cutting *c, rd_linear at, bool behind);
/* pieces.c: the loop as these pieces, the first and the last statement of them in *one and *other. */
void rd_cut_pieces(rd_cutting *c, const rd_pieces *p, int32_t *one, int32_t *other);
/* Exits from these loops leave another one. */
void rd_leave_instead(rd_schedule *t, int32_t one, int32_t other, int32_t around);

/* lists.c: the same for each range of a list.  Strips end where clusters do that say which list
 * counts. */
void rd_cut_by_list(rd_cutting *c);
void rd_cut_by_clusters(rd_schedule *t, const rd_strips *strips);
#endif
