/* tier.h - compiled passes, one of each for the whole process: which are wanted, and which are
 * here.  RDIM_TIER1 says what may be done to have one: off, nothing; cache, it is loaded if some
 * process has compiled it; sync, it is compiled where a plan is made, which waits for it; async, a
 * thread of the process's own loads it once its plans have worked for a millisecond and compiles it
 * once they have for fifty; that is so if the variable is not set.  Without one, or until there is
 * one, the tile machine computes the same bits pass by pass.  Nothing here is an error: what cannot
 * be had is counted. */
#ifndef RD_KERNELS_CPU_JIT_TIER_H
#define RD_KERNELS_CPU_JIT_TIER_H
#include "core/text.h"
#include "kernels/cpu/jit/kernel.h"
#include "kernels/cpu/jit/spec.h"

typedef enum rd_tier_mode { RD_TIER_OFF, RD_TIER_CACHE, RD_TIER_SYNC, RD_TIER_ASYNC } rd_tier_mode;

/* What RDIM_TIER1 says, async if nothing, off if no mode of these; off too where the program has
 * rights that its user has not. */
rd_tier_mode rd_tier_mode_now(void);
/* For tests: what it says from now on; NULL: what the environment does. */
void rd_tier_force(const char *mode);
/* Mode async looks for passes after any work at all. */
void rd_tier_hurry(bool hurry);
/* Until the process's thread has done what it was asked for. */
void rd_tier_wait(void);

typedef struct rd_pass rd_pass;

/* Makes the text of what has that key; the compiler's options for it. */
typedef const char *const *rd_pass_text(rd_text *text, const void *key);

/* The pass of that key, or of that spec.  It stays.  NULL: mode off, or no memory. */
rd_pass *rd_pass_of_key(const void *key, size_t bytes, rd_pass_text *text);
rd_pass *rd_pass_of(const rd_spec *spec);
/* A plan is going to run it: it is brought here if the mode asks for that.  May be NULL. */
void rd_pass_want(rd_pass *pass);
/* NULL: not here. */
const rd_kernels *rd_pass_kernels(rd_pass *pass);
/* Has it been tried, and cannot be compiled or loaded?  May be NULL. */
bool rd_pass_failed(const rd_pass *pass);
/* Mode async: a program has done without it for so many operations. */
void rd_pass_missed(rd_pass *pass, double operations);

typedef struct rd_tier_stats {
    int64_t asked;    /* how often a pass was asked for               */
    int64_t passes;   /* different ones                               */
    int64_t compiled; /* now                                          */
    int64_t stored;   /* found in the store                           */
    int64_t failed;   /* to compile or load                           */
    double  seconds;  /* compiling, and what goes with it             */
} rd_tier_stats;
rd_tier_stats rd_tier_stats_now(void);
#endif
