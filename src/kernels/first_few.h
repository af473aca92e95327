/* first_few.h - the first few of a row in order, where the row comes in strips and is never stored.
 *
 * The state is a count of elements so far, n_out at most, their places in the row, and the elements
 * as memory has them, in order.  The strip that begins at 0 begins it; the one that ends at the
 * row's end writes the results. */
#ifndef RD_KERNELS_FIRST_FEW_H
#define RD_KERNELS_FIRST_FEW_H
#include "kernels/program.h"

/* Most results of a row in strips: each element that comes among them moves those behind it. */
enum { RD_FIRST_FEW_MOST = 64 };

/* n elements of a row at `from`, the first of which is element `begin` of the row. */
typedef struct rd_row_strip {
    int64_t     begin, n;
    const void *from;
    void       *state, *to;
} rd_row_strip;

/* The size of the state, in words of 64 bits. */
static inline int64_t rd_first_few_words(int64_t n_out)
{
    return 1 + 2 * n_out;
}
#endif
