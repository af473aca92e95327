/* strip_arrays.h - local arrays that hold one element for each index of a strip. Vector loops of
 * the same strip pass values to each other by them (scalar expansion). */
#ifndef RD_KERNELS_PASS_STRIP_ARRAYS_H
#define RD_KERNELS_PASS_STRIP_ARRAYS_H
#include "kernels/loop/loop.h"

/* i0 - m0: the position of an element of the strip, where the vector loop starts at m0. */
rd_linear rd_strip_element(rd_schedule *t, int32_t loop);
/* Declares a new array before the loop, with elements as values in registers. */
int32_t rd_add_array_before(rd_schedule *t, int32_t loop, rd_dtype type);
/* The same, with elements as in the program's memory. */
int32_t rd_add_memory_before(rd_schedule *t, int32_t loop, rd_dtype type);
/* Stores a value into the array at the end of the loop. */
void rd_store_at_end(rd_schedule *t, int32_t loop, int32_t value, int32_t store);
/* Stores a value into the array right behind the statement that makes the value. */
void rd_store_behind(rd_schedule *t, int32_t loop, int32_t value, int32_t store);
/* Adds a value like *let at the end of the loop, and returns it. */
int32_t rd_add_value(rd_schedule *t, int32_t loop, const rd_tree_value *let);
/* Adds a load from the array at the end of the loop, and returns its value. */
int32_t rd_load_at_end(rd_schedule *t, int32_t loop, int32_t store);
/* Adds a load from the array at the start of the loop, at the position in the loop `of`. */
int32_t rd_load_at_start(rd_schedule *t, int32_t loop, int32_t store, int32_t of);
/* Replaces the definition of a value by a load from the array, in the loop in which the value
 * stands. */
void rd_replace_by_load(rd_schedule *t, int32_t value, int32_t store, int32_t loop);

/* Adds an empty vector loop over the same range behind the loop, and returns it. */
int32_t rd_add_loop_behind(rd_schedule *t, int32_t loop, bool by_call);
/* Moves the statement, and all behind it in its loop, into a new loop behind `previous`, and
 * returns that loop. */
int32_t rd_split_vector(rd_schedule *t, int32_t stmt, int32_t previous);
/* Moves the computation of a value into a loop of its own before the vector loop. That loop
 * stores into a new array of the type; the value becomes a load from it. */
void rd_pack_value(rd_schedule *t, int32_t loop, int32_t value, rd_dtype type, bool by_call);
/* The same, but the packing loop exists already and packs another value. */
void rd_pack_in_same_loop(rd_schedule *t, int32_t packing, int32_t loop, int32_t value);
#endif
