/* reducer_parts.h - what the files reducer*.c hand to each other. */
#ifndef RD_KERNELS_EMIT_REDUCER_PARTS_H
#define RD_KERNELS_EMIT_REDUCER_PARTS_H
#include "kernels/emit/emit.h"

/* reducer_types.c.  Has it places as results, as argmin has?  Types of numbers: of results; of
 * states in a block; of nodes; of places. */
bool        rd_is_place(const rd_fold *f);
const char *rd_fold_type(const rd_fold *f);
const char *rd_step_type(const rd_emit_fold *f);
const char *rd_merge_type(const rd_emit_fold *f);
const char *rd_place_type(const rd_emit_fold *f);
rd_class    rd_step_class(const rd_fold *f);
/* "static inline void step0(float *s0, float *s1"; `nodes`: it takes nodes. */
void rd_begin_function(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                       bool nodes);

/* reducer_steps.c: step0(), and what steps by exponentials or by NaNs are made of. */
void rd_add_step(rd_text *to, const rd_emit_fold *f, int number);
#endif
