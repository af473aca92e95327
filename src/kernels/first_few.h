/* first_few.h - the first few of a row in order, where the row comes in strips and is never stored.
 *
 * The state has a header, elements, and their places in the row: the first few so far, and some that
 * may be among them (kernels/cpu/sort/kept.h).  The strip that begins at 0 begins it; the one that
 * ends at the row's end writes the results.  Sorts of one row may share a state, values and places:
 * the first takes the strips, and others write what they are asked for from what it has kept. */
#ifndef RD_KERNELS_FIRST_FEW_H
#define RD_KERNELS_FIRST_FEW_H
#include "kernels/program.h"

/* Most results of a row in strips; the words of the header; the most elements of a state. */
enum {
    RD_FIRST_FEW_MOST   = 1024,
    RD_FIRST_FEW_HEADER = 5,
    RD_FIRST_FEW_ROOM   = 2 * RD_FIRST_FEW_MOST + 128
};

/* n elements of a row at `from`, the first of which is element `begin` of the row. */
typedef struct rd_row_strip {
    int64_t     begin, n;
    const void *from;
    void       *state, *to;
} rd_row_strip;

/* Returns how many elements the state has room for, in a sort that keeps the first n_out of a
 * row: 2 n_out + 128. */
static inline int64_t rd_first_few_room(int64_t n_out)
{
    return 2 * n_out + RD_FIRST_FEW_ROOM - 2 * RD_FIRST_FEW_MOST;
}

/* Returns the size of the state of a sort that keeps the first n_out of a row, in words of 64
 * bits. It has a header, and for each element that it has room for a word and half a word for
 * the index in the row. A vector of 8 more words is for the last write, which is a whole vector. */
static inline int64_t rd_first_few_words(int64_t n_out)
{
    enum { VECTOR = 8 };
    const int64_t room = rd_first_few_room(n_out);

    return RD_FIRST_FEW_HEADER + room + (room + 1) / 2 + VECTOR;
}
#endif
