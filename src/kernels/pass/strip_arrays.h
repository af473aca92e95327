/* strip_arrays.h - arrays that vector loops of one strip hand their elements to each other in. */
#ifndef RD_KERNELS_PASS_STRIP_ARRAYS_H
#define RD_KERNELS_PASS_STRIP_ARRAYS_H
#include "kernels/loop/loop.h"

/* i0 - m0: where the elements of a vector loop lie, whose first index is that of its strip. */
rd_linear rd_strip_element(rd_schedule *t, int32_t loop);
/* A new array of such elements, declared before the loop: of values; of elements as in memory. */
int32_t rd_add_array_before(rd_schedule *t, int32_t loop, rd_dtype type);
int32_t rd_add_memory_before(rd_schedule *t, int32_t loop, rd_dtype type);
/* A value goes to the array: at the end of the loop; behind the statement that makes it. */
void rd_store_at_end(rd_schedule *t, int32_t loop, int32_t value, int32_t store);
void rd_store_behind(rd_schedule *t, int32_t loop, int32_t value, int32_t store);
/* A value at the end of a loop, or at its beginning: one of the caller's; an element of the array,
 * whose position is that of the loop `of`. */
int32_t rd_add_value(rd_schedule *t, int32_t loop, const rd_let *let);
int32_t rd_load_at_end(rd_schedule *t, int32_t loop, int32_t store);
int32_t rd_load_at_start(rd_schedule *t, int32_t loop, int32_t store, int32_t of);
/* The value of a LET becomes an element of the array, in the loop that it stands in. */
void rd_replace_by_load(rd_schedule *t, int32_t value, int32_t store, int32_t loop);

/* A vector loop like this one behind it.  The statement, and all that follows it in its vector loop,
 * go to a new one behind `previous`, which is the result. */
int32_t rd_add_loop_behind(rd_schedule *t, int32_t loop, bool by_call);
int32_t rd_split_vector(rd_schedule *t, int32_t stmt, int32_t previous);
/* The value of a LET in a vector loop is made in a loop of its own before that, which puts it into
 * an array of that type; the LET reads it there. */
void rd_pack_value(rd_schedule *t, int32_t loop, int32_t value, rd_dtype type, bool by_call);
/* The same by a loop that collects another value already. */
void rd_pack_in_same_loop(rd_schedule *t, int32_t collecting, int32_t loop, int32_t value);
#endif
