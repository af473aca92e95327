/* build.h - shared by the files build*.c.
 *
 *     build.c         loops and parts of the program, which instruction becomes what
 *     build_values.c  positions, LETs, STOREs and SORTs
 *     build_folds.c   statements of folds */
#ifndef RD_KERNELS_LOOP_BUILD_H
#define RD_KERNELS_LOOP_BUILD_H
#include "kernels/loop/loop.h"

/* The range of an axis at the next statement. */
typedef struct rd_build_range {
    rd_linear from, to;
    bool      bound; /* a loop around binds its index; else the index is the first of the range */
} rd_build_range;

/* The state of the builder. */
typedef struct rd_building {
    rd_schedule    *t;
    rd_build_range *range;  /* per axis: its range at the next statement */
    int32_t        *states; /* per fold: its array of states             */
    int32_t        *stmt;   /* per loop of the program: its statement    */
    int32_t         body;   /* the body to which statements are added    */
} rd_building;

/* Adds a statement to the body. */
int32_t rd_build_add(rd_building *b, const rd_stmt *stmt);
/* Translates an address of the program to a position of the tree. */
rd_linear rd_build_position(rd_building *b, const rd_address *address);

/* Each adds the statements of one instruction. */
void rd_build_value(rd_building *b, const rd_inst *inst);
void rd_build_store(rd_building *b, const rd_inst *inst);
void rd_build_sort(rd_building *b, const rd_inst *inst);
void rd_build_begin(rd_building *b, const rd_inst *inst);
void rd_build_step(rd_building *b, const rd_inst *inst);
void rd_build_close(rd_building *b, const rd_inst *inst);
void rd_build_exit(rd_building *b, const rd_inst *inst);
#endif
