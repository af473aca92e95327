/* flatten_maps.h - loops over rows and a few interleaved columns: see flatten_maps.c. */
#ifndef RD_KERNELS_PASS_FLATTEN_MAPS_H
#define RD_KERNELS_PASS_FLATTEN_MAPS_H
#include "kernels/loop/loop.h"
#include "kernels/pass/chosen_strips.h"

/* Statements: the loop over strips of rows, the loop over columns, and the loop over rows of a
 * strip. */
typedef struct rd_flattening {
    rd_schedule    *t;
    const rd_strip *r;
    int32_t         strips, across, vector;
    int32_t         row, column; /* axes */
    int64_t         n;           /* columns */
    bool            inside;      /* the loop over columns stands in the loop over rows */
    bool            around;      /* ... or around the loop over strips              */
    bool           *varies;      /* per value: it changes along the rows; room for all values */
} rd_flattening;

/* flatten_maps_find.c: fills *c. True if the statement is the outer one of the loops over
 * columns and over rows of a strip, which hold only maps of contiguous elements. */
bool rd_find_flat_maps(rd_flattening *c, const rd_strips *strips, int32_t stmt);
/* True if the rows of a load are apart in memory, but each row is contiguous. */
bool rd_has_grouped_rows(const rd_flattening *c, const rd_tree_value *let);
/* True if the value depends on the column alone, and is made in these loops. */
bool rd_is_of_column(const rd_flattening *c, int32_t value);
/* The outermost loop before which all such values can be made; -1 if not even before the strips. */
int32_t rd_hoist_point_of_columns(const rd_flattening *c);
#endif
