/* compiler.h - the system's C compiler: which one it is, and a run of it. */
#ifndef RD_KERNELS_CPU_JIT_COMPILER_H
#define RD_KERNELS_CPU_JIT_COMPILER_H
#include "kernels/cpu/jit/env_snapshot.h"
#include "kernels/store/hash.h"
#include <stdbool.h>

typedef struct rd_compiler {
    char    path[1024];
    rd_hash identity; /* another one when it is updated */

    const rd_env_snapshot *surroundings; /* its environment */
} rd_compiler;

enum { RD_MAX_FLAGS = 32 };

/* The program that RDIM_CC names, or cc, in the directories of PATH.  False: none here. */
bool rd_compiler_find(rd_compiler *cc, const rd_env_snapshot *surroundings);
/* What it is to be told, for vectors of that many bytes and a text that does or does not round an f64
 * to less; ends with NULL. */
const char *const *rd_compiler_flags(int vector_bytes, bool rounds);
/* Seconds that it may take where a caller waits for it, and where none does. */
enum { RD_SHORT_PATIENCE = 10, RD_LONG_PATIENCE = 60 };
/* `cc flags... -o object source` in directory `dir`; flags end with NULL.  True if it ran and did
 * not say that it failed: the object is for the caller to look at.  Without a shell; what the
 * compiler says goes nowhere.  If it takes longer than `patience` seconds it is stopped, and none
 * is run again in this process; one that has worked before has three times as many, up to the long
 * patience. */
bool rd_compiler_run(const rd_compiler *cc, int dir, const char *const *flags, const char *source,
                     const char *object, int patience);
/* The seconds after which a compiler was stopped, since when none is run; 0: that is not so. */
int rd_compiler_stopped(void);
#endif
