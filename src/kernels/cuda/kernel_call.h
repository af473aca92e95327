/* kernel_call.h - the arguments of kernels, and what kernels report.  The library and its kernels
 * both read this header. */
#ifndef RD_KERNELS_CUDA_KERNEL_CALL_H
#define RD_KERNELS_CUDA_KERNEL_CALL_H
#include <stdint.h>

enum { RD_FAILURES = 64, RD_MOST_LEVELS = 8 };

/* Kernels report warnings and invalid indices here.  failure[] has those invalid indices that had
 * the smallest position when they were reported. */
typedef struct rd_record {
    uint64_t least;       /* the smallest position of an invalid index, in the program's order */
    uint32_t n, warnings; /* failures, which may be more than fit; RD_WARN_... */
    struct {
        uint64_t order;         /* the position             */
        int64_t  index, extent; /* the index, and its axis' extent */
        int32_t  is_unsigned, reserved;
    } failure[RD_FAILURES];
} rd_record;

/* One level of ranges: level 0 has the ranges of a split loop, the next levels have groups of
 * groups, until one is left.  Partials of all levels of an item are rows, one behind the other. */
typedef struct rd_groups {
    int64_t n;               /* ranges, or groups, of an item                */
    int64_t row;             /* the row of the first one, among an item's     */
    int64_t rows, last_rows; /* rows of each; of the last one, which may be shorter */
    int64_t counter;         /* the counter of the first one, among an item's */
} rd_groups;

/* The beginning of a kernel's argument.  Addresses of slots follow, and numbers that the text
 * does not spell out. */
typedef struct rd_call_head {
    int64_t   first, n_work; /* work [first, n_work): items, or ranges of items               */
    int64_t   n_item;
    int64_t   n_range, range; /* ranges of split loops; indices of a range                     */
    int64_t   span;           /* two-pass scan: the level of nodes that `lift` makes           */
    uint64_t  work, nodes;    /* memory of teams and threads; partials, or nodes of scans      */
    uint64_t  items;          /* memory of items, for their next kernel                        */
    uint64_t  record;         /* an rd_record                                                  */
    uint64_t  counters;       /* arrived teams, or blocks, of each group                       */
    int64_t   item_rows, item_counters; /* rows of partials, and counters, of an item          */
    int64_t   n_level;
    rd_groups level[RD_MOST_LEVELS];
} rd_call_head;
#endif
