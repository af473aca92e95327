/* pick.c - compaction by a mask: the positions of true elements, the elements there, and the
 * first position.  The size of a result is known only after the mask is evaluated, so these
 * calls run at once.  The mask becomes bits, which are counted (prefix sums by block).  Then
 * threads fill the result block by block.
 *
 * A piece is a part of the mask that is evaluated at a time; a block is 4096 elements of it, the
 * unit of work of threads.  A position is the index of a true element. */
#include "core/bytes.h"
#include "eval/picked.h"
#include "eval/request.h"
#include "expr/array.h"
#include "expr/origin.h"
#include <string.h>

/* ---- Results --------------------------------------------------------------------------------- */
/* True if arguments are not NULL, of this context, and not released; else records the error. */
static bool check_call(rd_ctx *ctx, const char *call, rd_expr *x, rd_expr *mask,
                       const rd_array *out)
{
    rd_expr *const all[] = { mask, x };

    if (!ctx || rd_error(ctx) != RD_OK)
        return false;
    if (!mask || !x || !out)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the %s is NULL", call,
                !mask ? "mask"
                : !x  ? "expression"
                      : "output");
    else if (mask->ctx != ctx)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the mask is of another context", call);
    else
        return rd_operands(call, 2, all);
    return false;
}

/* Makes *cut the caller's output, cut along `axis` to the length of the result that `fresh`
 * describes: an output may be longer, as the length is known only now. A zeroed output is taken as
 * it is. False after recording that it does not fit. A zeroed output asks for memory. */
static bool cut_output(rd_ctx *ctx, const char *call, const rd_array *out, const rd_array *fresh,
                       int axis, rd_array *cut)
{
    char room[RD_SHAPE_TEXT], wanted[RD_SHAPE_TEXT];

    *cut = *out;
    if (rd_array_asks_memory(out))
        return true;
    if (!rd_array_layout(ctx, out, call, cut->strides.at) || !rd_array_writable(ctx, out, call))
        return false;
    cut->strides.n = cut->shape.n;
    for (int a = 0; a < out->shape.n && out->shape.n == fresh->shape.n; a++)
        if (a == axis && out->shape.at[a] > fresh->shape.at[a])
            cut->shape.at[a] = fresh->shape.at[a];
    if (cut->shape.n == fresh->shape.n &&
        memcmp(cut->shape.at, fresh->shape.at, sizeof(int64_t) * (size_t)cut->shape.n) == 0)
        return true;
    rd_fail(ctx, RD_ERR_SHAPE, "%s: the result has shape %s, the output %s", call,
            rd_shape_text(fresh->shape.n, fresh->shape.at, wanted),
            rd_shape_text(out->shape.n, out->shape.at, room));
    return false;
}

/* Finds memory for the result that `fresh` describes. *direct, in: the caller allows the output's
 * own memory; out: it is used, as its layout and type are the result's. False after a failure.
 * In the other case the memory is new, with its owner in `fresh`, and the caller frees it. */
static bool find_memory(rd_ctx *ctx, const char *call, const rd_array *cut, rd_array *fresh,
                        bool *direct)
{
    const int64_t n     = rd_points(fresh->shape.n, fresh->shape.at);
    const int64_t bytes = n * rd_dtype_size(fresh->type);
    int64_t       dense[RD_MAX_RANK];

    rd_dense_strides(fresh->shape.n, fresh->shape.at, 0, dense);
    *direct = *direct && cut->data && !cut->device && cut->type == fresh->type &&
              memcmp(dense, cut->strides.at, sizeof(int64_t) * (size_t)fresh->shape.n) == 0;
    if (*direct) {
        fresh->data = cut->data;
        return true;
    }
    fresh->data = rd_array_memory(ctx, bytes, &fresh->owner);
    if (!fresh->data)
        rd_fail_memory(ctx, bytes, "%s: no memory for a result of %lld elements", call,
                       (long long)n);
    return fresh->data != NULL;
}

/* Hands the result to the output: as its new memory if the output is zeroed; else by a copy,
 * unless it was made there (direct). Elements of the output behind the result stay. `cut` is the
 * output cut to the result's length; nodes of the copy are released at the end. */
static rd_status deliver_result(rd_ctx *ctx, const char *call, rd_array *fresh, rd_array *cut,
                                bool direct, rd_array *out)
{
    rd_status status = RD_OK;

    if (rd_array_is_zeroed(out) && !out->device) {
        *out = *fresh;
        return status;
    }
    if (!direct) {
        const rd_mark mark = rd_ctx_mark(ctx);

        status = rd_eval_for(ctx, call, rd_leaf_of(ctx, fresh, call), cut);
        rd_ctx_release(ctx, mark);
        rd_array_free(fresh);
    }
    if (status == RD_OK)
        *out = *cut;
    return status;
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* The arguments of filling a block of the result. */
typedef struct filling {
    const rd_picked *s;
    int64_t          piece; /* -1: the blocks of all pieces */
    /* first element of the piece or of all pieces; NULL: positions are wanted */
    const char    *x;
    char          *y;     /* the result's memory */
    int64_t        size;  /* bytes of an element; of a position: its number of indices */
    const int64_t *count; /* for positions: 0, 1, 2 .. */
    const rd_expr *mask;  /* the mask, for shapes of positions */
} filling;

/* A block of mask bits. */
typedef struct block {
    int64_t         piece, number, begin; /* index of its first element in its piece */
    int64_t         words, before, found; /* words of bits; true elements before it and in it */
    const uint64_t *bits;
} block;

/* Block k of the mask's bits, with the number of true elements before it and in it. s->blocks is
 * how many a piece has; f->piece -1: k counts the blocks of all pieces. */
static block block_of(const filling *f, int64_t k)
{
    const rd_picked *s = f->s;
    block         b = { .piece = f->piece < 0 ? k / s->blocks : f->piece, .number = k % s->blocks };
    const int64_t at = b.piece * s->blocks + b.number;

    b.begin  = b.number * RD_PICK_BLOCK;
    b.words  = rd_picked_words(s, b.piece, b.number);
    b.bits   = rd_picked_bits(s, b.piece, b.number);
    b.before = s->before[at];
    b.found  = s->before[at + 1] - b.before;
    return b;
}

/* Writes the elements of x where the mask is true in block k (4096 elements) to the result, behind
 * those of the blocks before. with: the filling. */
static void fill_values(const void *with, int64_t k)
{
    const filling *f     = with;
    const block    b     = block_of(f, k);
    const int64_t  first = f->piece < 0 ? rd_piece_begin(&f->s->pieces, b.piece) : 0;

    if (b.found)
        f->s->kernels->pick[f->size](b.words, f->y + b.before * f->size,
                                     f->x + (first + b.begin) * f->size, b.bits);
}

/* Splits flat positions, which rise, into one index per axis. Most share the row of the one
 * before, whose indices are copied then. y gets n rows of rank indices. */
static void split_places(const rd_expr *mask, int64_t n, const int64_t *flat, int64_t *y)
{
    const int     rank = mask->rank;
    const int64_t last = mask->extent[rank - 1];
    int64_t       end  = 0; /* the flat position behind the current row */

    for (int64_t k = 0; k < n; k++, y += rank) {
        if (flat[k] < end)
            memcpy(y, y - rank, sizeof *y * (size_t)(rank - 1));
        else {
            int64_t row = flat[k] / last;

            end = (row + 1) * last;
            for (int a = rank - 2; a >= 0; row /= mask->extent[a--])
                y[a] = row % mask->extent[a];
        }
        y[rank - 1] = flat[k] - (end - last);
    }
}

/* Writes the positions of the true elements of block k to the result: picks those of 0, 1, 2 ...
 * at which mask bits are set, and adds where the block begins. A mask of several axes gets one
 * index for each, counted from its origin. block_of() finds the block: `words` of bits, `found`
 * true elements, `before` of them before it. f->size is the number of indices of a position. One
 * index goes straight to y; with more, flat positions are split. */
static void fill_places(const void *with, int64_t k)
{
    const filling *f     = with;
    const block    b     = block_of(f, k);
    const int64_t  first = rd_piece_begin(&f->s->pieces, b.piece) + b.begin;
    int64_t       *y     = (int64_t *)(void *)f->y + b.before * f->size;
    int64_t        flat[RD_PICK_BLOCK], *to = f->size == 1 ? y : flat;

    if (b.found == 0 || f->size == 0)
        return;
    f->s->kernels->pick[sizeof *to](b.words, to, f->count, b.bits);
    for (int64_t i = 0; i < b.found; i++)
        to[i] += first;
    if (to == flat)
        split_places(f->mask, b.found, flat, y);
    for (int64_t i = 0; f->mask->origin && i < b.found * f->size; i++)
        y[i] += f->mask->origin[i % f->size];
}

/* ---- Positions ------------------------------------------------------------------------------- */
/* Writes the positions of all true elements to y; threads share the blocks of all pieces (a piece
 * is a part of the mask that is evaluated at a time). `count` is 0, 1, 2 .., from which positions
 * in a block are picked. False: no memory. The piece -1 stands for all of them; s->blocks is the
 * number of blocks of a piece. */
static bool fill_all_places(const rd_picked *s, const rd_expr *mask, void *y)
{
    int64_t *count = rd_alloc_raw(s->ctx, RD_PICK_BLOCK * (int64_t)sizeof *count);

    if (!count)
        return false;
    for (int64_t i = 0; i < RD_PICK_BLOCK; i++)
        count[i] = i;

    const filling f = {
        .s = s, .piece = -1, .y = y, .size = mask->rank, .count = count, .mask = mask
    };
    rd_picked_for_blocks(s, s->pieces.n * s->blocks, fill_places, &f);
    rd_free(s->ctx, count);
    return true;
}

/* Computes the positions of true elements, as an array of shape (found, rank). direct: the
 * output's memory may be written, as the mask is evaluated before. */
static rd_status places(rd_ctx *ctx, const char *call, rd_expr *mask, rd_array *out)
{
    rd_picked s;
    rd_array  cut, fresh = { .type = RD_I64 };
    bool      direct = true;

    if (!rd_picked_make(&s, ctx, call, mask, rd_pieces_are_cheap(mask), /*first=*/false))
        return rd_error(ctx);
    fresh.shape = RD_SHAPE(s.found, mask->rank);
    if (cut_output(ctx, call, out, &fresh, /*axis=*/0, &cut) &&
        find_memory(ctx, call, &cut, &fresh, &direct) && fill_all_places(&s, mask, fresh.data))
        deliver_result(ctx, call, &fresh, &cut, direct, out);
    else
        rd_array_free(&fresh);
    rd_picked_free(&s);
    return rd_error(ctx);
}

/* The public call: the positions of all true elements of a mask, an array of shape (found, rank);
 * np.argwhere. */
rd_status rd_nonzero(rd_ctx *ctx, rd_expr *mask, rd_array *out)
{
    static const char call[] = "rd_nonzero";

    if (!check_call(ctx, call, mask, mask, out))
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    mask = rd_cast(mask, RD_BOOL);
    if (mask)
        places(ctx, call, mask, out);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

/* The public call: the flat position of the first true element; -1: there is none. The mask is
 * evaluated piece by piece, up to the first with a true element. s.first is the piece with the
 * first true element, -1: none; its bits are searched word by word, 64 at a time. */
int64_t rd_find_first(rd_ctx *ctx, rd_expr *mask)
{
    static const char call[] = "rd_find_first";
    int64_t           found  = -1;
    rd_array          none   = { 0 };
    rd_picked         s;

    if (!check_call(ctx, call, mask, mask, &none))
        return found;
    const rd_mark mark = rd_ctx_mark(ctx);

    mask = rd_cast(mask, RD_BOOL);
    if (mask && rd_picked_make(&s, ctx, call, mask, rd_pieces_are_cheap(mask), /*first=*/true)) {
        const uint64_t *word = s.first < 0 ? NULL : rd_picked_bits(&s, s.first, /*block=*/0);

        for (; word && found < 0; word++)
            if (*word)
                found = rd_piece_begin(&s.pieces, s.first) + __builtin_ctzll(*word) +
                        64 * (word - rd_picked_bits(&s, s.first, /*block=*/0));
        rd_picked_free(&s);
    }
    rd_ctx_release(ctx, mark);
    return found;
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* True if x is an array in host memory, dense in C order. */
static bool is_dense(const rd_expr *x)
{
    int64_t dense[RD_MAX_RANK];

    if (x->kind != RD_EXPR_LEAF || !x->as.leaf->data || x->as.leaf->device)
        return false;
    rd_dense_strides(x->rank, x->extent, 0, dense);
    return memcmp(dense, x->as.leaf->stride, sizeof(int64_t) * (size_t)x->rank) == 0;
}

/* True if two ranges of bytes overlap. */
static bool bytes_overlap(const char *a, int64_t a_bytes, const char *b, int64_t b_bytes)
{
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)b_bytes &&
           (uintptr_t)b < (uintptr_t)a + (uintptr_t)a_bytes;
}

/* Evaluates piece k of x into `memory`, and writes its elements where the mask is true to the
 * result. False: a failure is recorded. all->s is the mask, piece by piece; `memory` has room
 * for a piece. */
static bool fill_piece(const filling *all, const char *call, rd_expr *x, int64_t k, char *memory)
{
    const rd_picked *s     = all->s;
    const rd_mark    mark  = rd_ctx_mark(s->ctx);
    filling          f     = *all;
    rd_expr         *piece = rd_piece_view(&s->pieces, x, k);
    rd_array         out   = { .data = memory, .type = x->type, .shape = rd_shape_of(piece) };
    const bool       done  = rd_eval_for(s->ctx, call, piece, &out) == RD_OK;

    rd_ctx_release(s->ctx, mark);
    f.x     = memory;
    f.piece = k;
    if (done)
        rd_picked_for_blocks(s, s->blocks, fill_values, &f);
    return done;
}

/* Writes the elements of x where the mask is true to y: from memory if x is dense there, else
 * piece by piece. Pieces without a true element are not evaluated. False after a failure.
 * before[] counts the true elements before each block; each * inner: elements of a piece. */
static bool fill_all_values(const rd_picked *s, const char *call, rd_expr *x, void *y)
{
    filling f = { .s = s, .piece = -1, .y = y, .size = rd_dtype_size(x->type) };
    char   *memory;
    bool    done = true;

    if (is_dense(x)) {
        f.x = x->as.leaf->data;
        rd_picked_for_blocks(s, s->pieces.n * s->blocks, fill_values, &f);
        return true;
    }
    memory = rd_alloc_raw(s->ctx, rd_bytes_times(s->pieces.each * s->pieces.inner, f.size));
    if (!memory)
        return false;
    for (int64_t k = 0; k < s->pieces.n && done; k++)
        if (s->before[(k + 1) * s->blocks] > s->before[k * s->blocks])
            done = fill_piece(&f, call, x, k, memory);
    rd_free(s->ctx, memory);
    return done;
}

/* Computes the elements of x where the mask is true, and hands them to the output. `direct`: they
 * may be written to the output's own memory, because x is dense in other memory.
 * rd_picked_make() evaluates the mask, s.found counts its true elements. `cut` is the output,
 * cut to that length, and `fresh` the result; find_memory() sets `direct` to whether they are
 * the same memory, and deliver_result() copies if not. */
static rd_status values(rd_ctx *ctx, const char *call, rd_expr *x, rd_expr *mask, rd_array *out)
{
    rd_picked s;
    rd_array  cut, fresh = { .type = x->type };
    bool      direct = is_dense(x);

    if (!rd_picked_make(&s, ctx, call, mask, rd_pieces_are_cheap(mask) && rd_pieces_are_cheap(x),
                        /*first=*/false))
        return rd_error(ctx);
    fresh.shape = RD_SHAPE(s.found);
    if (direct) {
        const int64_t size = rd_dtype_size(x->type);

        direct = !bytes_overlap(x->as.leaf->data, rd_points(x->rank, x->extent) * size, out->data,
                                s.found * size);
    }
    if (cut_output(ctx, call, out, &fresh, /*axis=*/0, &cut) &&
        find_memory(ctx, call, &cut, &fresh, &direct) && fill_all_values(&s, call, x, fresh.data))
        deliver_result(ctx, call, &fresh, &cut, direct, out);
    else
        rd_array_free(&fresh);
    rd_picked_free(&s);
    return rd_error(ctx);
}

/* The public call: x[mask] of NumPy, the elements of x where the mask is true, as one row. Nodes
 * that it makes are released at the end. */
rd_status rd_compress(rd_ctx *ctx, rd_expr *x, rd_expr *mask, rd_array *out)
{
    static const char call[] = "rd_compress";
    int64_t           extent[RD_MAX_RANK];
    int               rank;

    if (!check_call(ctx, call, x, mask, out))
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    const rd_mark mark = rd_ctx_mark(ctx);

    if (rd_common_shape(call, 2, (rd_expr *const[]){ x, mask }, &rank, extent)) {
        x    = rd_with_origins(rd_broadcast_to(x, rank, extent, call), /*origin=*/NULL);
        mask = rd_broadcast_to(rd_cast(mask, RD_BOOL), rank, extent, call);
        if (x && mask)
            values(ctx, call, x, mask, out);
    }
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}

/* Reads x at the positions `at` along an axis into the output. cut_output() cuts the output to
 * the result's length; *out stays after a failure. */
static void take_places(rd_ctx *ctx, const char *call, rd_expr *x, int axis, rd_array *at,
                        rd_array *out)
{
    rd_array cut, fresh = { .type = x->type, .shape = rd_shape_of(x) };

    at->shape.n          = 1;
    fresh.shape.at[axis] = at->shape.at[0];
    x                    = rd_take_places(x, axis, rd_leaf_of(ctx, at, call));
    if (x && cut_output(ctx, call, out, &fresh, axis, &cut) &&
        rd_eval_for(ctx, call, x, &cut) == RD_OK)
        *out = cut;
}

/* The public call: takes the indices of an axis at which a mask of rank 1 is true, np.compress
 * along an axis.  Finds their positions, then reads x there.  places() makes the positions `at`,
 * and take_places() reads x there; what was made for it is released at the mark. Returns the
 * context's status. */
rd_status rd_compress_axis(rd_ctx *ctx, rd_expr *x, int axis, rd_expr *mask, rd_array *out)
{
    static const char call[] = "rd_compress_axis";
    char              own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];
    char              range[RD_RANGE_TEXT], given[RD_RANGE_TEXT];
    rd_array          at = { 0 };
    int               a;

    if (!check_call(ctx, call, x, mask, out) || (a = rd_axis(x, axis, call)) < 0)
        return ctx ? rd_error(ctx) : RD_ERR_ARGUMENT;
    if (mask->rank != 1 || mask->extent[0] != x->extent[a] ||
        rd_origin(mask, 0) != rd_origin(x, a)) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: a mask of shape %s%s for axis %d of shape %s%s", call,
                rd_shape_text(mask->rank, mask->extent, other),
                mask->rank ? rd_range_text(mask, 0, given) : "", a,
                rd_shape_text(x->rank, x->extent, own), rd_range_text(x, a, range));
        return rd_error(ctx);
    }
    const rd_mark mark = rd_ctx_mark(ctx);

    mask = rd_cast(mask, RD_BOOL);
    if (mask && places(ctx, call, mask, &at) == RD_OK)
        take_places(ctx, call, x, a, &at, out);
    rd_array_free(&at);
    rd_ctx_release(ctx, mark);
    return rd_error(ctx);
}
