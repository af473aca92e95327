/* tree.h - the shape of the combine tree, which decides bits: program.h says how folds go by it. */
#ifndef RD_CORE_TREE_H
#define RD_CORE_TREE_H

enum {
    RD_TREE_LANES = 64,  /* of a row along memory; of elements of 8 bytes, half as many */
    RD_TREE_ROW   = 256, /* bytes of one step of all lanes                              */
    RD_TREE_STEPS = 64,  /* steps of a block                                            */
};
#endif
