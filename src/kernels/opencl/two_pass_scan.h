/* two_pass_scan.h - two-pass scans: the ranges of a scan run twice if there are few items
 * (docs/loops.md, "Kernels for GPUs"). */
#ifndef RD_KERNELS_OPENCL_TWO_PASS_SCAN_H
#define RD_KERNELS_OPENCL_TWO_PASS_SCAN_H
#include "kernels/loop/loop.h"

/* The loop whose ranges run twice, -1; *range: its indices in a range.  `item`: the loop of which
 * a round is an item; -1: all is one item. */
int32_t rd_cl_two_pass_scan_of(const rd_schedule *t, int32_t item, int64_t items, int64_t *range);
/* nodes_of(): nodes of ranges, of two of them, of four, and so on.  node_bytes(): their bytes,
 * for one fold of an item. */
int64_t rd_cl_nodes_of(int64_t ranges);
int64_t rd_cl_node_bytes(int64_t ranges);
#endif
