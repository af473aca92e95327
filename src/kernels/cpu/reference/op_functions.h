/* op_functions.h - the operators of ops.def as C functions on registers. */
#ifndef RD_KERNELS_CPU_REFERENCE_OP_FUNCTIONS_H
#define RD_KERNELS_CPU_REFERENCE_OP_FUNCTIONS_H
#include "core/ops.h"

/* dst may be an operand; operands beyond the operator's arity are not read.  Results are not
 * wrapped to narrow types. */
typedef void rd_op_fn(rd_word *dst, const rd_word *a, const rd_word *b, const rd_word *c,
                      uint32_t *warnings);

/* The code of an operator on operands of a class; NULL where ops.def says RD_NO. */
rd_op_fn *rd_op_code(rd_op op, rd_class class);

/* True if registers hold values of this type widened, so that results must be wrapped. */
bool rd_op_needs_wrap(rd_dtype type);
/* A value as it would be after a store to memory of that type and a load. */
rd_word rd_op_wrap(rd_word value, rd_dtype type);
#endif
