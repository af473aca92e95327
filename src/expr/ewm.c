/* ewm.c - exponentially weighted means: the recurrence s[i] = d s[i - 1] + x[i], of elements and
 * of their weights.
 *
 *     mean[i] = s(x)[i] / s(1)[i],  d = 1 - alpha
 *
 * Several rows, and short ones, run the recurrence itself: a scan with the reducer `decay`.  One
 * long row is cut into blocks of 32 elements, which threads share.  Inside a block the
 * recurrence is a product with a triangle of powers of d.  The values at the begins of blocks
 * follow the same recurrence of block results, with d^32.  Elements that are not finite stay out
 * of the products, as 0 times an infinity is NaN; their prefix sums are added. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include <math.h>

static const char call[] = "rd_ewm_mean";

enum { BLOCK = 32, LONG_ROW = 1 << 16 };

/* ---- The recurrence -------------------------------------------------------------------------- */
/* The 32 x 32 triangle d^(column - row) on and above the diagonal, and 0 below it.  A block of 32
 * elements times it is the recurrence s[i] = d s[i - 1] + x[i] within the block. */
static rd_expr *powers(rd_ctx *ctx, double d)
{
    rd_expr *const all        = rd_broadcast(rd_num(ctx, d), RD_SHAPE(BLOCK, BLOCK));
    rd_expr *const difference = all ? rd_sub(rd_places(all, 1), rd_places(all, 0)) : NULL;
    rd_expr *const exponent   = map_2(RD_OP_maximum, call, difference, rd_int(ctx, 0));
    rd_expr *const y =
        exponent ? rd_pow(rd_cast_to(all, RD_F64), rd_cast_to(exponent, RD_F64)) : NULL;

    return y ? rd_triu(y, /*k=*/0) : NULL;
}

/* The row d^1, ..., d^32: the factors by which the value before a block still counts at each of its
 * elements. */
static rd_expr *first_powers(rd_ctx *ctx, double d)
{
    rd_expr *const all = rd_broadcast(rd_num(ctx, d), RD_SHAPE(BLOCK));
    rd_expr *const at  = all ? rd_add(rd_places(all, 0), rd_int(ctx, 1)) : NULL;

    return at ? rd_pow(rd_cast_to(all, RD_F64), rd_cast_to(at, RD_F64)) : NULL;
}

/* Splits the last axis into (blocks, 32) elements, padded with 0 at the end. */
static rd_expr *split_blocks(rd_expr *x, int64_t blocks)
{
    const int     last  = x->rank - 1;
    const int64_t more  = blocks * BLOCK - x->extent[last];
    rd_shape      shape = rd_shape_of(x);

    shape.at[last]    = blocks;
    shape.at[shape.n] = BLOCK;
    shape.n++;
    if (more)
        x = rd_pad(x, last, /*before=*/0, more, RD_PAD_CONSTANT, /*value=*/NULL);
    return x ? rd_reshape(x, shape) : NULL;
}

/* Runs the recurrence s[i] = d s[i - 1] + x[i] along the last axis by blocks of 32; elements are
 * finite and f64.  Each block is multiplied by a triangle of powers.  The last results of blocks
 * follow the same recurrence with d^32 (recursion), and what they carry into the next block is
 * added. */
static rd_expr *by_blocks(rd_expr *x, double d)
{
    const int64_t n = x->extent[x->rank - 1], blocks = (n - 1) / BLOCK + 1;
    rd_shape      shape = rd_shape_of(x);
    rd_expr      *y     = split_blocks(x, blocks), *before;

    y = y ? rd_matmul(y, powers(x->ctx, d)) : NULL;
    if (y && blocks > 1) {
        before = rd_select_place(y, -1, -1);
        before = before ? by_blocks(before, pow(d, BLOCK)) : NULL;
        /* Block k takes the carry of block k - 1; the first has 0. */
        before = before ? rd_slice_places(before, x->rank - 1, 0, -1, 1) : NULL;
        before = before ? rd_pad(before, x->rank - 1, 1, 0, RD_PAD_CONSTANT, /*value=*/NULL) : NULL;
        y      = before ? rd_add(y, rd_mul(rd_expand(before, -1), first_powers(x->ctx, d))) : NULL;
    }
    shape.at[x->rank - 1] = blocks * BLOCK;
    y                     = y ? rd_reshape(y, shape) : NULL;
    return y ? rd_slice_places(y, x->rank - 1, 0, n, 1) : NULL;
}

/* True if the recurrence runs element by element: there are several rows, or one of at most 65536
 * elements, and no GPU.  One fma for each element is less work than a product of 32, even though
 * each waits for the one before.  A row of 1e6 takes 0.6 of the time of blocks on one thread, four
 * rows of 1e5 a tenth.  Blocks pay for one long row, which threads can share, and on a GPU, where
 * they run in parallel. */
static bool is_serial(const rd_expr *x)
{
    const bool several = rd_points(x->rank - 1, x->extent) > 1;

    return (several || x->extent[x->rank - 1] <= LONG_ROW) && !x->device;
}

/* Runs the recurrence s[i] = d s[i - 1] + x[i] as a scan with the reducer `decay`, whose weights
 * are all d.  Infinities and NaN persist, unless d is 0. */
static rd_expr *by_scan(rd_expr *x, double d)
{
    rd_expr *const weight  = rd_cast_to(rd_num(x->ctx, d), x->type);
    rd_expr *const weights = weight ? rd_broadcast_to(weight, x->rank, x->extent, call) : NULL;
    rd_folding     f       = { .call = call, .x = x, .scan = true };

    f.bits = 1ull << (x->rank - 1);
    return weights ? rd_folded(&f, RD_RED_decay, x, weights, x->type, /*identity=*/false) : NULL;
}

/* The recurrence s[i] = d s[i - 1] + x[i] with d = 0: each element alone.  An infinity ends with
 * its element, but NaN persists, as NaN times 0 is NaN; so a prefix sum of the NaN is added. */
static rd_expr *sum_without_decay(rd_expr *x)
{
    rd_expr *const nan  = map_1(RD_OP_isnan, call, x);
    rd_expr *const rest = map_where(call, nan, x, rd_num(x->ctx, 0));

    return rest ? map_2(RD_OP_add, call, x, rd_scan(rest, "sum", RD_DIMS(-1))) : NULL;
}

/* Runs the recurrence s[i] = d s[i - 1] + x[i] on elements that are all finite. */
static rd_expr *decayed_sum_finite(rd_expr *x, double d)
{
    return is_serial(x) ? by_scan(x, d) : by_blocks(x, d);
}

/* Runs the recurrence s[i] = d s[i - 1] + x[i] on any elements.  Products of blocks take the finite
 * ones, as 0 times an infinity is NaN; a prefix sum of the others, which persist, is added. */
static rd_expr *decayed_sum(rd_expr *x, double d)
{
    if (d == 0)
        return sum_without_decay(x);
    if (is_serial(x))
        return by_scan(x, d);
    rd_expr *const zero = rd_num(x->ctx, 0), *const finite = map_1(RD_OP_isfinite, call, x);
    rd_expr *const kept = map_where(call, finite, x, zero);
    rd_expr *const rest = map_where(call, finite, zero, x);

    return kept && rest
               ? map_2(RD_OP_add, call, by_blocks(kept, d), rd_scan(rest, "sum", RD_DIMS(-1)))
               : NULL;
}

/* ---- Means ----------------------------------------------------------------------------------- */
/* Casts x to f64; NULL given NULL. */
static rd_expr *cast_f64(rd_expr *x)
{
    return rd_cast_to(x, RD_F64);
}

/* The weighted mean of all elements so far: sum of weighted elements over sum of weights, each a
 * recurrence.  The weight of an element falls by the factor 1 - alpha with each further element;
 * NaN has no weight. */
static rd_expr *weighted_mean(rd_expr *x, double alpha)
{
    rd_expr *const nan    = map_1(RD_OP_isnan, call, x);
    rd_expr *const kept   = map_where(call, nan, rd_num(x->ctx, 0), x);
    rd_expr *const counts = cast_f64(map_1(RD_OP_not, call, nan));

    return kept && counts ? map_2(RD_OP_div, call, decayed_sum(kept, 1 - alpha),
                                  decayed_sum_finite(counts, 1 - alpha))
                          : NULL;
}

/* The recursive mean: y[0] = x[0], y[i] = (1 - alpha) y[i - 1] + alpha x[i]: the recurrence of
 * elements times alpha, the first times 1. */
static rd_expr *recursive_mean(rd_expr *x, double alpha)
{
    rd_ctx *const  ctx   = x->ctx;
    rd_expr *const first = map_2(RD_OP_eq, call, rd_places(x, x->rank - 1), rd_int(ctx, 0));
    rd_expr *const gain  = map_where(call, first, rd_num(ctx, 1), rd_num(ctx, alpha));

    rd_expr *const y = map_2(RD_OP_mul, call, x, gain);

    return y ? decayed_sum(y, 1 - alpha) : NULL;
}

/* Makes the means along an axis: moves it to the end, computes in f64 even for narrower floats, and
 * moves it back.  `adjust`: the weighted mean, else the recursive one. */
static rd_expr *means(rd_expr *x, int axis, double alpha, bool adjust)
{
    const int last = x->rank - 1;
    rd_expr  *y    = rd_cast_to(rd_with_origins(x, /*origin=*/NULL), RD_F64);

    y = y ? rd_move_axis(y, axis, last) : NULL;
    y = !y ? NULL : adjust ? weighted_mean(y, alpha) : recursive_mean(y, alpha);
    y = y ? rd_move_axis(y, last, axis) : NULL;
    return y ? rd_with_origins(y, x->origin) : NULL;
}

/* Exponentially weighted means along an axis: the public call, which checks arguments and casts the
 * result back to x's type, or f64 for ints. */
rd_expr *rd_ewm_mean(rd_expr *x, int axis, double alpha, bool adjust)
{
    rd_expr *y;
    int      a;

    if (!rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x) ||
        (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    if (!(alpha > 0 && alpha <= 1))
        return rd_fail(x->ctx, RD_ERR_ARGUMENT,
                       "%s: alpha is %g, it must be above 0, and 1 at most", call, alpha);
    if (x->rank == RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: rank %d, at most %d is possible", call,
                       (int)x->rank, RD_MAX_RANK - 1);
    const rd_dtype type = rd_dtype_kind(x->type) < RD_KIND_FLOAT ? RD_F64 : x->type;

    y = x->extent[a] ? means(x, a, alpha, adjust) : x;
    return y ? rd_cast_to(y, type) : NULL;
}
