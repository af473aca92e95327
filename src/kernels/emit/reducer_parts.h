/* reducer_parts.h - shared by the files reducer_*.c. */
#ifndef RD_KERNELS_EMIT_REDUCER_PARTS_H
#define RD_KERNELS_EMIT_REDUCER_PARTS_H
#include "kernels/emit/emit.h"

/* reducer_types.c: true if results are places, as of argmin.  The C types of results; of states
 * in a block; of nodes; of places. */
bool        rd_is_place(const rd_fold *f);
const char *rd_fold_type(const rd_fold *f);
const char *rd_step_type(const rd_emit_fold *f);
const char *rd_merge_type(const rd_emit_fold *f);
const char *rd_place_type(const rd_emit_fold *f);
rd_class    rd_step_class(const rd_fold *f); /* the class in which steps compute */
/* Writes the head of a function: "static inline void step0(float *s0, float *s1"; `nodes`: its
 * parameters are nodes. */
void rd_begin_function(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                       bool nodes);

/* reducer_steps.c: writes step0(), and the parts of steps with exponentials or NaNs. */
void rd_add_step(rd_text *to, const rd_emit_fold *f, int number);
#endif
