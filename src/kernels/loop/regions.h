/* regions.h - regions: which loops of a tree are strip-mined together, and the price of each.
 *
 * In a region, strips of one axis go through all its loops.  A region is one loop over the axis.
 * Or it is the body of a loop or of a part, if each statement that does something is in some
 * loop over that axis.  These loops then share one loop over strips. */
#ifndef RD_KERNELS_LOOP_REGIONS_H
#define RD_KERNELS_LOOP_REGIONS_H
#include "kernels/loop/alternatives.h"
#include "kernels/loop/loop.h"
#include "kernels/loop/speeds.h"

/* A region: loops over one axis that are strip-mined together (strips of neighbouring indices). */
typedef struct rd_region {
    int32_t         top; /* the loop over the axis; or the body that holds such loops */
    int32_t         axis;
    bool            top_is_body; /* top is such a body                                 */
    rd_alternatives of;          /* the axes that were priced, and the chosen one      */
} rd_region;

/* Nanoseconds in all, and the part of them that begins and ends loops and folds. */
typedef struct rd_nanoseconds {
    double ns, entries;
} rd_nanoseconds;

/* The regions of a tree, and the price of each part of the program with them. */
typedef struct rd_regions {
    double        *trips;  /* per statement: the mean trip count of a loop         */
    bool          *vector; /* per statement: is it a loop that is vectorised       */
    rd_region     *at;     /* n regions of all parts, in the order of the tree     */
    int32_t        n;
    rd_nanoseconds part[RD_N_PARTS];
    rd_schedule   *without_block_ends; /* a copy without ends of blocks; NULL: passes have run */
    void          *memory;             /* holds the arrays                                     */
} rd_regions;

/* Finds the cheapest regions of a tree as it was built; of a tree after the passes, the ones
 * that it has.  `tells`: alternatives that lost are priced, too.  False: no memory.  Call
 * rd_regions_free() in any case. */
bool rd_regions_of(const rd_schedule *t, const rd_speeds *s, bool tells, rd_regions *r);
void rd_regions_free(rd_regions *r);
#endif
