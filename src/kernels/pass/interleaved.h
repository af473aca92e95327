/* interleaved.h - loops over rows and a few interleaved columns: see interleaved.c. */
#ifndef RD_KERNELS_PASS_INTERLEAVED_H
#define RD_KERNELS_PASS_INTERLEAVED_H
#include "kernels/loop/loop.h"
#include "kernels/pass/strips.h"

/* Statements: the loop over strips of rows, that over columns, and that over rows of a strip. */
typedef struct rd_interleaved {
    rd_schedule    *t;
    const rd_strip *r;
    int32_t         strips, across, vector;
    int32_t         row, column; /* axes */
    int64_t         n;           /* columns */
    bool            inside;      /* the loop over columns stands in that over rows */
    bool            around;      /* or around the one over strips                   */
    bool           *varies;      /* per value: along the rows; room for all of the tree */
} rd_interleaved;

/* interleaved_find.c: is it the outer one of the loops over columns and over rows of a strip, with
 * nothing but maps, whose elements lie one behind the other? */
bool rd_find_interleaved(rd_interleaved *c, const rd_strips *strips, int32_t stmt);
/* Do the rows of a load lie apart in memory, each in one piece? */
bool rd_lies_in_groups(const rd_interleaved *c, const rd_let *let);
/* Is the value one of a column alone, made in these loops? */
bool rd_is_of_column(const rd_interleaved *c, int32_t value);
/* The outermost loop before which all such values can be made; -1: not even before the strips. */
int32_t rd_place_of_columns(const rd_interleaved *c);
#endif
