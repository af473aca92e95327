/* narrow.h - what narrow.c asks of the values of a graph. */
#ifndef RD_EVAL_COLLECT_NARROW_H
#define RD_EVAL_COLLECT_NARROW_H
#include "core/ranges.h"
#include "eval/ir.h"

/* narrow_ranges.c: between which whole numbers each value lies; of floats it is known where they
 * are whole numbers, and none is -0.0.  NULL: no memory. */
rd_range *rd_value_ranges(const rd_graph *g);
/* Is it a reduction of all its elements, without masks, labels or a first value? */
bool rd_is_plain_fold(const rd_graph *g, const rd_value *v);
/* narrow_fixed.c: which values keep their types; NULL: no memory. */
bool *rd_fixed_types(const rd_graph *g);
#endif
