/* price_statement.h - shared by the files price_*.c.
 *
 * All numbers are nanoseconds.  Most rows of speeds.def are of a vector, so an element takes row
 * * size of the element / size of the vector. */
#ifndef RD_KERNELS_LOOP_PRICE_STATEMENT_H
#define RD_KERNELS_LOOP_PRICE_STATEMENT_H
#include "kernels/loop/price_parts.h"

/* price_types.c: bytes that an element has in vectors; the time of an addition, a
 * multiplication, a selection of a type; the number of two that is for a type of floats. */
int    rd_size_in_vector(rd_dtype type);
double rd_add_ns(const rd_speeds *s, rd_dtype type);
double rd_mul_ns(const rd_speeds *s, rd_dtype type);
double rd_select_ns(const rd_speeds *s, rd_dtype type);
double rd_of_floats(rd_dtype type, double f32, double f64);

/* price_values.c: the time of a value that is computed, not loaded. */
double rd_value_ns(const rd_price_site *at, const rd_tree_value *let, bool vector);

/* price_memory.c: adds the time of a LOAD or STORE to *to, which is the loads or the stores of
 * *e. */
void rd_price_access(const rd_price_site *at, int32_t stmt, rd_dtype type, bool vector, double *to,
                     rd_unit_ns *e);
/* True if neighbouring rounds of the vector loop have a constant distance in memory: *by
 * elements. */
bool rd_has_known_stride(const rd_price_site *at, int32_t stmt, int64_t *by);

/* price_steps.c: adds the time of a STEP or PREFIX. */
void rd_price_step(const rd_price_site *at, int32_t stmt, bool vector, rd_unit_ns *e);
/* price_fold_ends.c: adds the time of PUSH_IF_LAST and PUSH; of BEGIN, MERGE_BLOCKS, MERGE_LANES
 * and FINISH. */
void rd_price_block_end(const rd_price_site *at, const rd_stmt *stmt, rd_unit_ns *e);
void rd_price_fold_end(const rd_price_site *at, const rd_stmt *stmt, bool vector, rd_unit_ns *e);
#endif
