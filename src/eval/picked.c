/* picked.c - evaluates a mask piece by piece and keeps it as bits. */
#include "eval/picked.h"
#include "eval/request.h"
#include "eval/run/team.h"

/* Elements of a piece: enough that the fixed cost of a run is small, and few enough that the
 * mask's bytes stay in L2.  Masks with coordinates need a plan for each piece, so the number of
 * pieces is limited.  BLOCK_WORK: operations of a block, two for each element. */
enum { PIECE = 1 << 18, PIECES = 256, BLOCK_WORK = 2 * RD_PICK_BLOCK };

/* The most elements of a piece, which is evaluated at a time: PIECE for each thread, or more if
 * there would be too many pieces. If evaluating pieces would recompute much (not cheap), the mask
 * is one piece. */
static int64_t piece_points(const rd_ctx *ctx, const rd_expr *mask, bool cheap)
{
    const int64_t n    = rd_points(mask->rank, mask->extent);
    const int64_t team = rd_thread_count(ctx, /*asked=*/0, (double)n, n / PIECE);
    const int64_t most = n / PIECES > PIECE * team ? n / PIECES : PIECE * team;

    return cheap ? most : INT64_MAX;
}

/* Calls f(with, k) for all k < n, shared by the context's threads if there is enough work. */
void rd_picked_for_blocks(const rd_picked *s, int64_t n, void (*f)(const void *with, int64_t k),
                          const void *with)
{
#ifdef _OPENMP
    const int threads = rd_thread_count_now(s->ctx, /*asked=*/0, BLOCK_WORK * (double)n, n);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#else
    (void)s;
#endif
    for (int64_t k = 0; k < n; k++)
        f(with, k);
}

/* The arguments of packing a piece's mask bytes into bits. */
typedef struct packing {
    const rd_picked *s;
    const uint8_t   *mask;
    int64_t          piece;
} packing;

/* Packs the mask bytes of a block (4096 elements) into bits, and counts the true ones into
 * s->before. with: the packing. p->mask are the bytes of piece p->piece; kernels->bits() packs,
 * and returns how many are true. */
static void pack_block(const void *with, int64_t block)
{
    const packing   *p    = with;
    const rd_picked *s    = p->s;
    const int64_t    left = rd_piece_points(&s->pieces, p->piece) - block * RD_PICK_BLOCK;
    const int64_t    at   = p->piece * s->blocks + block;

    s->before[at] =
        left <= 0 ? 0
                  : s->kernels->bits(left < RD_PICK_BLOCK ? left : RD_PICK_BLOCK,
                                     s->bits + at * RD_PICK_WORDS, p->mask + block * RD_PICK_BLOCK);
}

/* True if the piece (a part of the mask that is evaluated at a time) has a true element, by the
 * counts of its blocks. */
static bool piece_is_true(const rd_picked *s, int64_t piece)
{
    for (int64_t b = 0; b < s->blocks; b++)
        if (s->before[piece * s->blocks + b])
            return true;
    return false;
}

/* Evaluates each piece (a view of the mask) into `bytes`, and packs them into bits. `first`: stops
 * at the first piece with a true element, s->first. False after a failure. `bytes` has room for
 * a piece. piece_is_true(): it has a true element. */
static bool evaluate(rd_picked *s, const char *call, rd_expr *mask, uint8_t *bytes, bool first)
{
    for (int64_t k = 0; k < s->pieces.n && s->first < 0; k++) {
        const rd_mark mark  = rd_ctx_mark(s->ctx);
        rd_expr      *piece = rd_piece_view(&s->pieces, mask, k);
        rd_array      out   = { .data = bytes, .type = RD_BOOL, .shape = rd_shape_of(piece) };
        const bool    done  = rd_eval_for(s->ctx, call, piece, &out) == RD_OK;

        rd_ctx_release(s->ctx, mark);
        if (!done)
            return false;
        rd_picked_for_blocks(s, s->blocks, pack_block, &(packing){ s, bytes, k });
        if (first && piece_is_true(s, k))
            s->first = k;
    }
    return true;
}

/* Replaces the counts of blocks by their exclusive prefix sums, which say where the block's
 * elements go in the result. */
static void add_up(rd_picked *s)
{
    const int64_t n = s->pieces.n * s->blocks;

    for (int64_t k = 0; k < n; k++) {
        const int64_t here = s->before[k];

        s->before[k] = s->found;
        s->found += here;
    }
    s->before[n] = s->found;
}

/* Evaluates a mask piece by piece and keeps it as bits, with the number of true elements before
 * each block of 4096. cheap: pieces cost no more than the whole. first: only up to the first piece
 * with a true element; then counts are not added up. False after a failure. The caller frees s
 * by rd_picked_free(). blocks: of a piece; the last entry of `before` counts all true elements. */
bool rd_picked_make(rd_picked *s, rd_ctx *ctx, const char *call, rd_expr *mask, bool cheap,
                    bool first)
{
    uint8_t *bytes = NULL;
    bool     done;

    *s = (rd_picked){ .ctx     = ctx,
                      .kernels = rd_compressors_here(),
                      .pieces  = rd_pieces_of(mask, piece_points(ctx, mask, cheap)),
                      .first   = -1 };

    const int64_t points = s->pieces.each * s->pieces.inner;
    s->blocks            = (points + RD_PICK_BLOCK - 1) / RD_PICK_BLOCK;
    s->before = rd_alloc(ctx, (s->pieces.n * s->blocks + 1) * (int64_t)sizeof *s->before);
    s->bits =
        s->before
            ? rd_alloc(ctx, s->pieces.n * s->blocks * RD_PICK_WORDS * (int64_t)sizeof *s->bits + 1)
            : NULL;
    bytes = s->bits ? rd_alloc_raw(ctx, points + 1) : NULL;
    done  = bytes && evaluate(s, call, mask, bytes, first);
    rd_free(ctx, bytes);
    if (done && !first)
        add_up(s);
    if (!done)
        rd_picked_free(s);
    return done;
}

/* Frees the memory of an evaluated mask. */
void rd_picked_free(rd_picked *s)
{
    rd_free(s->ctx, s->bits);
    rd_free(s->ctx, s->before);
    s->bits   = NULL;
    s->before = NULL;
}
