/* compiler.h - the system's C compiler: which one it is, and a run of it. */
#ifndef RD_KERNELS_CPU_JIT_COMPILER_H
#define RD_KERNELS_CPU_JIT_COMPILER_H
#include "kernels/store/hash.h"
#include <stdbool.h>

typedef struct rd_compiler {
    char    path[1024];
    rd_hash identity; /* another one when it is updated */
} rd_compiler;

enum { RD_MAX_FLAGS = 32 };

/* The program that RDIM_CC names, or cc, in the directories of PATH.  False: none here. */
bool rd_compiler_find(rd_compiler *cc);
/* What it is to be told, for vectors of that many bytes; ends with NULL. */
const char *const *rd_compiler_flags(int vector_bytes);
/* `cc flags... -o object source` in directory `dir`; flags end with NULL.  True if it ran and did
 * not say that it failed: the object is for the caller to look at.  Without a shell; what the
 * compiler says goes nowhere. */
bool rd_compiler_run(const rd_compiler *cc, int dir, const char *const *flags, const char *source,
                     const char *object);
#endif
