/* kernel_call.h - what kernels are called with, and what they report: the library and its kernels both
 * read this. */
#ifndef RD_KERNELS_CUDA_KERNEL_CALL_H
#define RD_KERNELS_CUDA_KERNEL_CALL_H
#include <stdint.h>

enum { RD_FAILURES = 64, RD_MOST_LEVELS = 8 };

/* The least of the places where an index failed, and the indices that, when they failed, were the
 * least so far; the last of them is the least of all. */
typedef struct rd_record {
    uint64_t least;
    uint32_t n, warnings;
    struct {
        uint64_t order;
        int64_t  index, extent;
        int32_t  is_unsigned, reserved;
    } failure[RD_FAILURES];
} rd_record;

/* Of a split loop: ranges, and then groups of groups below, until there is one.  What each comes to
 * are rows of nodes, which all levels of an item have one behind the other. */
typedef struct rd_groups {
    int64_t n;               /* of an item                                 */
    int64_t row;             /* the first one's, of the item's rows        */
    int64_t rows, last_rows; /* of each; of the last one, which is shorter */
    int64_t counter;         /* the first one's, of the item's counters    */
} rd_groups;

/* The beginning; addresses of slots, and numbers that the text does not spell out, follow. */
typedef struct rd_call_head {
    int64_t   first, n_work; /* of items, or of items times ranges: from here on, to the end */
    int64_t   n_item;
    int64_t   n_range, range; /* ranges of split loops; their indices in one           */
    int64_t   span;           /* of scans: the level of nodes that is made           */
    uint64_t  work, nodes;    /* memory of teams and threads; nodes that ranges leave */
    uint64_t  items;          /* memory of items                                      */
    uint64_t  record;
    uint64_t  counters; /* of groups: how many have arrived                          */
    int64_t   item_rows, item_counters;
    int64_t   n_level;
    rd_groups level[RD_MOST_LEVELS];
} rd_call_head;
#endif
