/* price_statement.h - what the files effort*.c hand to each other.
 *
 * All numbers are nanoseconds.  Most rows of speeds.def are of a vector, so an element takes
 * row * size of the element / size of the vector. */
#ifndef RD_KERNELS_LOOP_PRICE_STATEMENT_H
#define RD_KERNELS_LOOP_PRICE_STATEMENT_H
#include "kernels/loop/price_parts.h"

/* price_types.c: bytes that an element has in vectors; the rows of an addition, a multiplication, a
 * selection of a type; the one of two rows that is for a type of floats. */
int    rd_size_in_vector(rd_dtype type);
double rd_add_ns(const rd_speeds *s, rd_dtype type);
double rd_mul_ns(const rd_speeds *s, rd_dtype type);
double rd_select_ns(const rd_speeds *s, rd_dtype type);
double rd_of_floats(rd_dtype type, double f32, double f64);

/* price_values.c: a value that is computed, not loaded. */
double rd_value_ns(const rd_price_site *at, const rd_let *let, bool vector);

/* price_memory.c: a LOAD or STORE, into *to, which is the effort's loads or its stores. */
void rd_price_access(const rd_price_site *at, int32_t stmt, rd_dtype type, bool vector, double *to,
                     rd_unit_ns *e);
/* Is it known how many elements lie between those of neighbouring rounds of the vector loop?  *by. */
bool rd_has_known_stride(const rd_price_site *at, int32_t stmt, int64_t *by);

/* price_steps.c: a STEP or PREFIX. */
void rd_price_step(const rd_price_site *at, int32_t stmt, bool vector, rd_unit_ns *e);
/* price_fold_ends.c: ENDS and PUSH; BEGIN, REST, LANES and FINISH. */
void rd_price_block_end(const rd_price_site *at, const rd_stmt *stmt, rd_unit_ns *e);
void rd_price_fold_end(const rd_price_site *at, const rd_stmt *stmt, bool vector, rd_unit_ns *e);
#endif
