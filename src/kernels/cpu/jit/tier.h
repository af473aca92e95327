/* tier.h - compiled code, one piece for each text in the whole process: which is wanted, and
 * which is loaded.
 *
 * RDIM_TIER1 says what may be done to have a piece:
 *     off     nothing
 *     cache   load it if some process has compiled it
 *     sync    compile it where a plan is made, which waits for it
 *     async   a thread of the process loads it once its plans have worked for a millisecond, and
 *             compiles it once they have for fifty; this is the default
 *     finish  as async; a process that ends waits for what is being compiled
 *
 * Without a piece, or until it is loaded, programs run by other strategies, with the same bits.
 * Nothing here is an error: failures are counted. */
#ifndef RD_KERNELS_CPU_JIT_TIER_H
#define RD_KERNELS_CPU_JIT_TIER_H
#include "core/text_buffer.h"
#include "kernels/cpu/jit/contest.h"
#include <stdatomic.h>
#include <stdint.h>

/* For tests: forces a mode; NULL: the environment decides. */
void rd_tier_force(const char *mode);
/* For tests: mode async looks for code after any work at all. */
void rd_tier_hurry(bool hurry);
/* Waits until the thread of the process has done all its jobs. */
void rd_tier_wait(void);

typedef struct rd_compiled rd_compiled;

/* Makes the text of a key; returns the compiler's flags for it. */
typedef const char *const *rd_compiled_text(rd_text *text, const void *key);

/* Returns the entry of a key, which is never freed. NULL: mode off, or no memory. */
rd_compiled *rd_compiled_of(const void *key, size_t bytes, rd_compiled_text *text);
/* A plan is going to run the code, with so many operations a run. It is compiled now if the mode
 * is sync, and loaded from the store if operations are many. c may be NULL. */
void rd_compiled_want(rd_compiled *c, double operations);
/* Returns its functions, at the symbol `rdim_kernels`. NULL: not loaded. */
const void *rd_compiled_kernels(rd_compiled *c);
/* The place where those functions are written once they are loaded. Small runs read it, as they
 * would notice a call. */
typedef _Atomic(const void *) rd_kernels_place;
const rd_kernels_place       *rd_compiled_place(const rd_compiled *c);
/* True if it was tried, and cannot be compiled or loaded. c may be NULL. */
bool rd_compiled_failed(const rd_compiled *c);
/* Modes async and finish: counts operations that ran without the code. */
void rd_compiled_add_missed(rd_compiled *c, double operations);

/* Counts a run by the code, or by tiles in its place, which took so many seconds. Once the code
 * is known to be slower, the store keeps that, too. c may be NULL. */
void rd_compiled_add_run(rd_compiled *c, rd_contestant by, double operations, int threads,
                         double seconds);
/* Returns how many times as long as tiles it takes in runs of so many operations, if it was
 * measured to be slower; else 0. c may be NULL. */
double rd_compiled_slowdown(const rd_compiled *c, double operations);

/* True if code comes only once programs have worked for some time. */
bool rd_tier_is_patient(void);
/* True if a plan that runs so many operations may do without code. At the beginning of a process
 * it may: those operations are fewer than code is looked for after. They count from now on. */
bool rd_tier_spares(double operations);
/* True if nothing may be compiled or loaded. */
bool rd_tier_is_off(void);

/* Where code is on its way. */
typedef enum rd_compiled_state {
    RD_COMPILED_HERE,
    RD_COMPILED_COMING, /* it is being brought                                        */
    RD_COMPILED_LATER,  /* it will be, once programs have done without for `left`     */
    RD_COMPILED_STORED, /* only if some process has compiled it: mode cache           */
    RD_COMPILED_FAILED
} rd_compiled_state;
/* Returns the state; *left: operations until it will be brought, 0 unless it is LATER. */
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
