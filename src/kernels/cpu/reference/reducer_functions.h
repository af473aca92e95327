/* reducer_functions.h - the reducers of reducers.def as C functions on states. */
#ifndef RD_KERNELS_CPU_REFERENCE_REDUCER_FUNCTIONS_H
#define RD_KERNELS_CPU_REFERENCE_REDUCER_FUNCTIONS_H
#include "core/reducers.h"

/* A state is n_state registers.  step, block, merge and finish take states with elements, or
 * identities; reducers.def says what they do. */
typedef struct rd_reducer_code {
    void (*identity)(rd_word *s, rd_dtype type);
    void (*first)(rd_word *s, rd_word x, rd_word weight, int64_t i);
    void (*step)(rd_word *s, rd_word x, rd_word weight, int64_t i);
    void (*block)(rd_word *s);
    void (*merge)(rd_word *s, const rd_word *b);
    void (*finish)(const rd_word *s, double ddof, int64_t whole, rd_word *y);
    void (*empty)(rd_word *y);
} rd_reducer_code;

/* Merges lanes in three passes: pick finds a common state of all lanes, align refers a lane to it,
 * add adds aligned lanes. */
typedef struct rd_lanes_code {
    void (*pick)(rd_word *s, const rd_word *b);
    void (*align)(rd_word *s, const rd_word *a);
    void (*add)(rd_word *s, const rd_word *b);
} rd_lanes_code;

/* The code of a reducer for accumulators of a class; NULL for a kind it does not take, and for
 * the caller's. */
const rd_reducer_code *rd_reducer_code_of(rd_reducer_id reducer, rd_class class);
/* The code for the lanes of a reducer; NULL if they merge as blocks do. */
const rd_lanes_code *rd_lanes_code_of(rd_reducer_id reducer, rd_class class);
#endif
