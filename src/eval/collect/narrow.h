/* narrow.h - facts about the values of a graph that narrow.c needs. */
#ifndef RD_EVAL_COLLECT_NARROW_H
#define RD_EVAL_COLLECT_NARROW_H
#include "core/value_ranges.h"
#include "eval/ir.h"

/* narrow_ranges.c: the range of whole numbers of each value.  Of floats it is known only if all
 * are whole numbers and none is -0.0.  NULL: no memory. */
rd_range *rd_value_ranges(const rd_graph *g);
/* True for a reduction of all its elements, without masks, labels or a first value. */
bool rd_is_plain_fold(const rd_graph *g, const rd_value *v);
/* narrow_fixed.c: by value, true if it keeps its type; NULL: no memory. */
bool *rd_fixed_types(const rd_graph *g);
#endif
