/* combine_tree.h - the shape of the combine tree, which decides bits. program.h describes how
 * reductions use it. */
#ifndef RD_CORE_COMBINE_TREE_H
#define RD_CORE_COMBINE_TREE_H
#include <stdint.h>

enum {
    RD_TREE_LANES  = 64,      /* lanes along memory; half as many for 8-byte elements */
    RD_TREE_ROW    = 256,     /* bytes of one step of all lanes */
    RD_TREE_STEPS  = 64,      /* steps of a block */
    RD_GROUP_LANES = 4,       /* lanes of a group-by with few groups */
    RD_ROW_PIECE   = 1 << 15, /* places in a piece of a long row (expr/sparse_pieces.c) */
};

/* Greatest common divisor of numbers above 0; at least 1. */
static inline int64_t rd_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a > 0 ? a : 1;
}
#endif
