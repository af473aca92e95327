/* first_few.h - the first few of a row in order, where the row comes in strips and is never stored.
 *
 * The state has a header, elements, and their places in the row: the first few so far, and some that
 * may be among them (kernels/cpu/sort/kept.h).  The strip that begins at 0 begins it; the one that
 * ends at the row's end writes the results.  Sorts of one row may share a state, values and places:
 * the first takes the strips, and others write what they are asked for from what it has kept.
 *
 * Who makes a strip may tell which blocks of 64 elements can be passed over, by their fronts.  A front
 * is 64 bytes.  Element l of it comes before, or with, elements l, l + c, l + 2 c .. of the block,
 * where c elements are 64 bytes; or it is NaN, and nothing is known of them. */
#ifndef RD_KERNELS_FIRST_FEW_H
#define RD_KERNELS_FIRST_FEW_H
#include "kernels/program.h"

/* Most results of a row in strips; the words of the header; the most elements of a state. */
enum {
    RD_FIRST_FEW_MOST   = 1024,
    RD_FIRST_FEW_HEADER = 5,
    RD_FIRST_FEW_ROOM   = 2 * RD_FIRST_FEW_MOST + 128
};

/* Elements of a block that has a front; words of a front. */
enum { RD_FRONT_BLOCK = 64, RD_FRONT_WORDS = 8 };

/* n elements of a row at `from`, the first of which is element `begin` of the row. */
typedef struct rd_row_strip {
    int64_t     begin, n;
    const void *from;
    void       *state, *to;
    int64_t     fronts; /* the state has fronts of so many blocks: of all whole ones, or 0 */
} rd_row_strip;

/* Returns how many elements the state has room for, in a sort that keeps the first n_out of a
 * row: 2 n_out + 128. */
static inline int64_t rd_first_few_room(int64_t n_out)
{
    return 2 * n_out + RD_FIRST_FEW_ROOM - 2 * RD_FIRST_FEW_MOST;
}

/* The word at which fronts begin: an element takes one word of 64 bits, and its place half of one.  A
 * vector of places is written at a time, and fronts begin at cache lines. */
static inline int64_t rd_first_few_fronts(int64_t n_out)
{
    enum { VECTOR = 8, LINE = 8 };
    const int64_t room = rd_first_few_room(n_out);

    return (RD_FIRST_FEW_HEADER + room + (room + 1) / 2 + VECTOR + LINE - 1) / LINE * LINE;
}

/* The size of the state in words, for strips of at most so many elements. */
static inline int64_t rd_first_few_words(int64_t n_out, int64_t most)
{
    return rd_first_few_fronts(n_out) + most / RD_FRONT_BLOCK * RD_FRONT_WORDS;
}
#endif
