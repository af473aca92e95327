/* compiler.h - the system's C compiler: which one it is, and a run of it. */
#ifndef RD_KERNELS_CPU_JIT_COMPILER_H
#define RD_KERNELS_CPU_JIT_COMPILER_H
#include "kernels/cpu/jit/env_snapshot.h"
#include "kernels/store/hash.h"
#include <stdbool.h>

typedef struct rd_compiler {
    char    path[1024];
    rd_hash identity; /* hash; another one once it is updated */

    const rd_env_snapshot *surroundings; /* its environment */
} rd_compiler;

enum { RD_MAX_FLAGS = 32 };

/* Finds the program that RDIM_CC names, or cc, in the directories of PATH. False: there is none
 * here. */
bool rd_compiler_find(rd_compiler *cc, const rd_env_snapshot *surroundings);
/* Returns its flags for vectors of so many bytes, NULL behind the last one. `rounds`: the text
 * rounds an f64 to a narrower float. */
const char *const *rd_compiler_flags(int vector_bytes, bool rounds);
/* Seconds that it may take where a caller waits for it, and where none does. */
enum { RD_SHORT_PATIENCE = 10, RD_LONG_PATIENCE = 60 };
/* Runs `cc flags... -o object source` in directory `dir`, without a shell; what the compiler
 * prints is dropped. True if it ran and did not report failure; the caller checks the object. If
 * it takes longer than `patience` seconds it is stopped, and none is run again in this process.
 * One that has worked before has three times as many, up to the long patience. */
bool rd_compiler_run(const rd_compiler *cc, int dir, const char *const *flags, const char *source,
                     const char *object, int patience);
/* Returns the seconds after which a compiler was stopped, if none is run any more; else 0. */
int rd_compiler_stopped(void);
#endif
