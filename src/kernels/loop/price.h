/* price.h - the one cost model: how long a run of a loop tree takes, in nanoseconds.
 *
 * A price chooses between trees that give the same bits.  It never chooses bits: what decides these
 * keeps numbers of its own, the same on every machine. */
#ifndef RD_KERNELS_LOOP_PRICE_H
#define RD_KERNELS_LOOP_PRICE_H
#include "kernels/loop/speeds.h"
#include "kernels/program.h"

typedef struct rd_schedule rd_schedule; /* loop.h */

typedef struct rd_price {
    double
        ns; /* of a warm run: its operands were used before, and lie in the cache that they fit */
    /* Its parts.  Computation and memory overlap, so `ns` is less than their sum. */
    double compute; /* operations, loads and stores that hit a cache, dependency chains */
    double memory;  /* bytes that cross levels of memory, and scattered loads           */
    double entries; /* loops, blocks and folds that begin and end                       */
    double start;   /* the start of the run, and the synchronisation of threads         */
} rd_price;

/* price_functions.c: nanoseconds of one element of a function, in a vector. */
double rd_function_ns(const rd_speeds *s, rd_op op, rd_dtype type);
/* Nanoseconds of a user's function without a text: as much as a function of C's library, or a
 * vector's share where it takes a block. */
double rd_call_ns(const rd_speeds *s, const rd_call *call);
/* The price of a tree.  Loops that may be vectors count as such where that is faster, as passes
 * make them.  NAN ns: no memory. */
rd_price rd_schedule_price(const rd_schedule *t, const rd_speeds *s, int threads);
/* The price of a program's tree before any pass; 0 ns where there is no tree.  False: no memory. */
bool rd_program_price(const rd_program *p, bool whole, const rd_speeds *s, int threads,
                      rd_get_fn *get, void *pool, rd_price *price);

#endif
