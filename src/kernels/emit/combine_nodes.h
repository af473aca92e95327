/* combine_nodes.h - the combine tree (program.h) of blocks [from, to): counts its nodes.
 * Emitted texts include this file.
 *
 * A node of level l covers 2^l blocks from a multiple of 2^l on.  Two nodes that are the left
 * and right half of one are merged. */
#ifndef RD_KERNELS_EMIT_COMBINE_NODES_H
#define RD_KERNELS_EMIT_COMBINE_NODES_H

/* Returns how many nodes blocks [from, to) make once all possible merges are done. Sizes of nodes
 * grow up to `top`, the block number in that range with the most factors 2, and shrink behind it.
 * There is a node for each bit of either distance: from 3 to 10, top is 8, and nodes are 3, 4..7,
 * 8..9.
 *
 * Blocks of one lane are short, so this must not be a loop (sum of all squares, f64: 2.15 ns an
 * element with one, 0.73 without). */
static inline int64_t rd_nodes(int64_t from, int64_t to)
{
    int64_t top = 0;

    if (from >= to)
        return 0;
    if (from > 0) {
        const int bit = 63 - __builtin_clzll((uint64_t)((from - 1) ^ to));

        top = to >> bit << bit;
    }
    return __builtin_popcountll((uint64_t)(top - from)) +
           __builtin_popcountll((uint64_t)(to - top));
}

/* Returns the level of the node that begins at block `from`; it covers 2^level blocks. It is the
 * largest that begins at a multiple of its size and does not go beyond `to`. */
static inline int rd_node_level(int64_t from, int64_t to)
{
    const int most = 63 - __builtin_clzll((uint64_t)(to - from));
    const int own  = from > 0 ? __builtin_ctzll((uint64_t)from) : most;

    return own < most ? own : most;
}

/* True if a node of 2^level blocks from `start` on has a sibling on its left, with which it
 * makes one node of the next level. It must be a right half (its bit of `start` is 1), and the
 * left half must lie within the task's blocks, which begin with `from`. */
static inline int rd_right(int64_t start, int level, int64_t from)
{
    return (start >> level & 1) && start - (INT64_C(1) << level) >= from;
}
#endif
