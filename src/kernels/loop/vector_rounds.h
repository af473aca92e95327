/* vector_rounds.h - how rounds of a vector loop fill vectors. */
#ifndef RD_KERNELS_LOOP_VECTOR_ROUNDS_H
#define RD_KERNELS_LOOP_VECTOR_ROUNDS_H
#include "kernels/loop/loop.h"

/* Splits so many rounds of a loop: `by_vectors` cost as much as full vectors of `vector` bytes,
 * `single` go one by one (the tail). */
typedef struct rd_vector_rounds {
    double by_vectors, single;
} rd_vector_rounds;
rd_vector_rounds rd_vector_rounds_of(const rd_schedule *t, int32_t loop, double rounds,
                                     int32_t vector);
#endif
