/* kernel_call.h - the arguments of kernels, and what kernels report.  The library and its kernels
 * both read this header. */
#ifndef RD_KERNELS_CUDA_KERNEL_CALL_H
#define RD_KERNELS_CUDA_KERNEL_CALL_H
#include <stdint.h>

enum { RD_FAILURES = 64, RD_MOST_LEVELS = 8 };

/* What kernels report.  `least` is the smallest position at which an index was invalid.
 * failure[] has the invalid indices that were the smallest when they were reported; the last one
 * is the smallest of all. */
typedef struct rd_record {
    uint64_t least;
    uint32_t n, warnings;
    struct {
        uint64_t order;
        int64_t  index, extent;
        int32_t  is_unsigned, reserved;
    } failure[RD_FAILURES];
} rd_record;

/* One level of ranges: level 0 has the ranges of a split loop, the next levels have groups of
 * groups, until one is left.  Partials of all levels of an item are rows, one behind the other. */
typedef struct rd_groups {
    int64_t n;               /* of an item                                 */
    int64_t row;             /* the first one's, of the item's rows        */
    int64_t rows, last_rows; /* of each; of the last one, which is shorter */
    int64_t counter;         /* the first one's, of the item's counters    */
} rd_groups;

/* The beginning of a kernel's argument.  Addresses of slots follow, and numbers that the text
 * does not spell out. */
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
