/* picked.h - an evaluated mask: one bit per element, and the number of true elements before each
 * block. */
#ifndef RD_EVAL_PICKED_H
#define RD_EVAL_PICKED_H
#include "eval/expr_pieces.h"
#include "kernels/compress.h"

/* Words and elements of a block, the unit of work of threads. */
enum { RD_PICK_WORDS = 64, RD_PICK_BLOCK = 64 * RD_PICK_WORDS };

/* The bits of each piece begin at a word and fill `blocks` whole blocks. */
typedef struct rd_picked {
    rd_ctx               *ctx;
    const rd_compressors *kernels; /* of this processor, to compress elements by bits */
    rd_expr_pieces        pieces;  /* of the mask */
    int64_t               blocks;  /* of a piece */
    uint64_t             *bits;    /* of all pieces, 1: true */
    /* [piece * blocks + block]: true elements before the block; the last entry counts all */
    int64_t *before;
    int64_t  found; /* number of all true elements */
    int64_t  first; /* with `first`: the piece of the first true element; -1 */
} rd_picked;

/* Evaluates a bool mask; `first`: only up to the first piece with a true element.  False after a
 * failure. */
bool rd_picked_make(rd_picked *s, rd_ctx *ctx, const char *call, rd_expr *mask, bool cheap,
                    bool first);
void rd_picked_free(rd_picked *s);

/* The number of words of bits in a block (4096 elements) of a piece of the mask; fewer than
 * RD_PICK_WORDS at the end of the piece. */
static inline int64_t rd_picked_words(const rd_picked *s, int64_t piece, int64_t block)
{
    const int64_t left = rd_piece_points(&s->pieces, piece) - block * RD_PICK_BLOCK;

    return left >= RD_PICK_BLOCK ? RD_PICK_WORDS : left <= 0 ? 0 : (left + 63) / 64;
}

/* The bits of a block of a piece, one for each element. */
static inline const uint64_t *rd_picked_bits(const rd_picked *s, int64_t piece, int64_t block)
{
    return s->bits + (piece * s->blocks + block) * RD_PICK_WORDS;
}

/* Calls f(with, k) for all k < n, shared by the context's threads. */
void rd_picked_for_blocks(const rd_picked *s, int64_t n, void (*f)(const void *with, int64_t k),
                          const void *with);
#endif
