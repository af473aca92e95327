/* two_pass_scan.h - scans of few items: ranges of their loop go twice (docs/loops.md, "Kernels for GPUs"). */
#ifndef RD_KERNELS_OPENCL_TWO_PASS_SCAN_H
#define RD_KERNELS_OPENCL_TWO_PASS_SCAN_H
#include "kernels/loop/loop.h"

/* The loop whose ranges go twice, and its indices in a range; -1: there is no such.  item: the loop of which a
 * round is an item, -1: all is one. */
int32_t rd_cl_two_pass_scan_of(const rd_schedule *t, int32_t item, int64_t items, int64_t *range);
/* Nodes of ranges, of two of them, of four; bytes of those of a fold, in an item. */
int64_t rd_cl_nodes_of(int64_t ranges);
int64_t rd_cl_node_bytes(int64_t ranges);
#endif
