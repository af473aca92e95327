/* picked.h - a mask evaluated: a bit for each element, and how many are true before each block of
 * them. */
#ifndef RD_EVAL_PICKED_H
#define RD_EVAL_PICKED_H
#include "eval/pieces.h"
#include "kernels/compress.h"

/* Elements of a block: words that a thread takes at a time. */
enum { RD_PICK_WORDS = 64, RD_PICK_BLOCK = 64 * RD_PICK_WORDS };

/* Bits of a piece begin with a word, and are `blocks` whole blocks of words. */
typedef struct rd_picked {
    rd_ctx               *ctx;
    const rd_compressors *kernels;
    rd_pieces             pieces;
    int64_t               blocks;
    uint64_t             *bits;
    int64_t *before; /* [piece * blocks + block]; behind the last: how many are true at all */
    int64_t  found;  /* the same                                                           */
    int64_t  first;  /* piece in which something is true, when asked for the first; -1     */
} rd_picked;

/* All of the mask, which is bool; `first`: up to the first piece in which an element is true.
 * False after a failure. */
bool rd_picked_make(rd_picked *s, rd_ctx *ctx, const char *call, rd_expr *mask, bool cheap,
                    bool first);
void rd_picked_free(rd_picked *s);

static inline int64_t rd_picked_words(const rd_picked *s, int64_t piece, int64_t block)
{
    const int64_t left = rd_piece_points(&s->pieces, piece) - block * RD_PICK_BLOCK;

    return left >= RD_PICK_BLOCK ? RD_PICK_WORDS : left <= 0 ? 0 : (left + 63) / 64;
}

static inline const uint64_t *rd_picked_bits(const rd_picked *s, int64_t piece, int64_t block)
{
    return s->bits + (piece * s->blocks + block) * RD_PICK_WORDS;
}

/* f(with, k) for k < n, shared by the context's threads. */
void rd_picked_share(const rd_picked *s, int64_t n, void (*f)(const void *with, int64_t k),
                     const void *with);
#endif
