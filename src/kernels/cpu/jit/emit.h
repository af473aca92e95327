/* emit.h - a pass as C text. */
#ifndef RD_KERNELS_CPU_JIT_EMIT_H
#define RD_KERNELS_CPU_JIT_EMIT_H
#include "core/text.h"
#include "kernels/cpu/jit/spec.h"

/* Can an operator on operands of this type be part of a compiled pass?  Not if its row calls C's
 * functions, or decides by branches: one such in a loop, and none of it becomes vectors. */
bool rd_spec_can(rd_op op, rd_dtype type);
/* The whole text of an object that has the kernels of kernel.h as `rdim_kernels`. */
void rd_spec_text(rd_text *text, const rd_spec *spec);
/* What the compiler is to be told, for vectors of that many bytes; ends with NULL. */
const char *const *rd_spec_flags(int vector_bytes);
#endif
