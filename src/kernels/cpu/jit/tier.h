/* tier.h - compiled code, one piece of each kind for the whole process: which is wanted, and which
 * is here.  RDIM_TIER1 says what may be done to have a piece: off, nothing; cache, it is loaded if
 * some process has compiled it; sync, it is compiled where a plan is made, which waits for it;
 * async, a thread of the process's own loads it once its plans have worked for a millisecond and
 * compiles it once they have for fifty; that is so if the variable is not set; finish, the same, and
 * a process that ends waits for what is being compiled.  Without it, or until it is there, programs
 * run another way, with the same bits.  Nothing here is an error: what cannot be had is counted. */
#ifndef RD_KERNELS_CPU_JIT_TIER_H
#define RD_KERNELS_CPU_JIT_TIER_H
#include "core/text_buffer.h"
#include "kernels/cpu/jit/contest.h"
#include <stdatomic.h>
#include <stdint.h>

/* For tests: what it says from now on; NULL: what the environment does. */
void rd_tier_force(const char *mode);
/* Mode async looks for code after any work at all. */
void rd_tier_hurry(bool hurry);
/* Until the process's thread has done what it was asked for. */
void rd_tier_wait(void);

typedef struct rd_compiled rd_compiled;

/* Makes the text of what has that key; the compiler's options for it. */
typedef const char *const *rd_compiled_text(rd_text *text, const void *key);

/* What is compiled of that key.  It stays.  NULL: mode off, or no memory. */
rd_compiled *rd_compiled_of(const void *key, size_t bytes, rd_compiled_text *text);
/* A plan is going to run it, of so many operations a run: it is brought here if the mode asks for
 * that, and from the store if they are many.  May be NULL. */
void rd_compiled_want(rd_compiled *c, double operations);
/* Its functions, at the symbol `rdim_kernels`.  NULL: not here. */
const void *rd_compiled_kernels(rd_compiled *c);
/* Where that is written once they are, for small runs, which notice a call. */
typedef _Atomic(const void *) rd_kernels_place;
const rd_kernels_place       *rd_compiled_place(const rd_compiled *c);
/* Has it been tried, and cannot be compiled or loaded?  May be NULL. */
bool rd_compiled_failed(const rd_compiled *c);
/* Modes async and finish: a program has done without it for so many operations. */
void rd_compiled_missed(rd_compiled *c, double operations);

/* A program ran by it, or by tiles in its place, which took so many seconds; may be NULL.  Once it is
 * known to be slower, the store keeps that, too. */
void rd_compiled_ran(rd_compiled *c, rd_contestant by, double operations, int threads,
                     double seconds);
/* How many times as long as tiles it takes in runs of so many operations, where it was measured to be
 * slower; else 0.  May be NULL. */
double rd_compiled_lost(const rd_compiled *c, double operations);

/* Does code come only once programs have worked for some time? */
bool rd_tier_is_patient(void);
/* May a plan do without, that runs so many operations?  At the beginning of a process, yes: it has no code yet,
 * and those operations are fewer than code is looked for after.  They count from now on. */
bool rd_tier_spares(double operations);
/* May nothing be compiled or loaded? */
bool rd_tier_is_off(void);

/* Where it is on its way. */
typedef enum rd_compiled_state {
    RD_COMPILED_HERE,
    RD_COMPILED_COMING, /* it is being brought                                        */
    RD_COMPILED_LATER,  /* it will be, once programs have done without for `left`     */
    RD_COMPILED_STORED, /* only if some process has compiled it: mode cache           */
    RD_COMPILED_FAILED
} rd_compiled_state;
/* *left: operations; 0 unless it is LATER. */
rd_compiled_state rd_compiled_state_of(const rd_compiled *c, double *left);

typedef struct rd_tier_stats {
    int64_t asked;    /* how often a piece of code was asked for  */
    int64_t compiled; /* now                                      */
    int64_t stored;   /* found in the store                       */
    int64_t failed;   /* to compile or load                       */
    int     stopped; /* seconds after which a compiler was stopped, since when none is run; 0: no */
    double  seconds; /* compiling, and what goes with it         */
} rd_tier_stats;
rd_tier_stats rd_tier_stats_now(void);
#endif
