/* tree.h - the shape of the combine tree, which decides bits: program.h says how folds go by it. */
#ifndef RD_CORE_TREE_H
#define RD_CORE_TREE_H
#include <stdint.h>

enum {
    RD_TREE_LANES  = 64,      /* of a row along memory; of elements of 8 bytes, half as many */
    RD_TREE_ROW    = 256,     /* bytes of one step of all lanes                              */
    RD_TREE_STEPS  = 64,      /* steps of a block                                            */
    RD_GROUP_LANES = 4,       /* of folds by label that have few groups                      */
    RD_ROW_PIECE   = 1 << 15, /* places of a piece of a long row (expr/sparse_pieces.c)    */
};

/* Of numbers above 0; of them it is at least 1. */
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
