/* convolve.c - convolution and correlation along an axis with a row, the kernel: products with
 * sliding windows.
 *
 *     y[i] = sum over j of x[i + j] * k[j]  ->  matmul(window(x, m), k)
 *
 * Where the kernel extends beyond an end of x, its elements outside take no part: a padding of 0
 * times an infinite element would be NaN. These few results use a kernel of their own, with
 * zeros outside. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"

/* A convolution; the axis of x is moved to the end, and origins are 0. */
typedef struct convolution {
    const char *call; /* for failures */
    rd_expr    *x;    /* its axis is the last one */
    rd_expr    *k;    /* the kernel, reversed for a convolution */
    int64_t     n, m; /* elements of x along the axis, and of k */
} convolution;

/* Views x as `count` windows of as many elements as the kernel has (c->m), one for each start.  The
 * first begins at element `first`, which may be negative; elements outside x are 0. */
static rd_expr *windows(const convolution *c, int64_t first, int64_t count)
{
    const int     last   = c->x->rank - 1;
    const int64_t end    = first + count + c->m - 1;
    const int64_t before = first < 0 ? -first : 0, after = end > c->n ? end - c->n : 0;
    const int64_t from = first > 0 ? first : 0;
    rd_expr      *x    = rd_slice_places(c->x, last, from, end < c->n ? end : c->n, 1);

    if (before || after)
        x = rd_pad(x, last, before, after, RD_PAD_CONSTANT, /*value=*/NULL);
    return rd_window(x, last, c->m, /*step=*/1);
}

/* True if the kernel is so short that a sum of maps in one pass is faster than a call of a BLAS.
 * Only f32 and f64 have such calls. */
static bool is_short_kernel(const convolution *c)
{
    enum { FEW = 8 };

    return c->m <= FEW && c->x->type == c->k->type &&
           (c->x->type == RD_F32 || c->x->type == RD_F64);
}

/* Makes `count` results from window `first` on: adds up the shifted operand times each kernel
 * element, as maps in one pass. */
static rd_expr *sum_of_maps(const convolution *c, int64_t first, int64_t count)
{
    const int last = c->x->rank - 1;
    rd_expr  *y    = NULL;

    for (int64_t j = 0; j < c->m; j++) {
        rd_expr *const x = rd_slice_places(c->x, last, first + j, first + j + count, 1);
        rd_expr *const k = rd_select_place(c->k, 0, j);
        rd_expr *const z = map_2(RD_OP_mul, c->call, x, k);

        y = j ? map_2(RD_OP_add, c->call, y, z) : z;
    }
    return y;
}

/* Makes `count` results from window `first` on, where all windows lie inside x: a sum of maps for a
 * short kernel, else a matrix product. */
static rd_expr *inner_results(const convolution *c, int64_t first, int64_t count)
{
    return is_short_kernel(c) ? sum_of_maps(c, first, count)
                              : rd_matmul(windows(c, first, count), c->k);
}

/* Makes `count` results from window `first` on, of windows that extend beyond x.  Each window has
 * its own copy of the kernel, with zeros where it is outside x: 0 times a padding of 0 stays 0. */
static rd_expr *edge_results(const convolution *c, int64_t first, int64_t count)
{
    rd_ctx *const  ctx   = c->x->ctx;
    rd_expr *const k     = rd_broadcast(c->k, RD_SHAPE(count, c->m));
    rd_expr *const row   = map_2(RD_OP_add, c->call, rd_places(k, 0), rd_int(ctx, first));
    rd_expr *const place = map_2(RD_OP_add, c->call, row, rd_places(k, 1));
    rd_expr *const inside =
        map_2(RD_OP_and, c->call, map_2(RD_OP_ge, c->call, place, rd_int(ctx, 0)),
              map_2(RD_OP_lt, c->call, place, rd_int(ctx, c->n)));
    rd_expr *const zero    = rd_fit_to(rd_int(ctx, 0), c->k->type, c->call);
    rd_expr *const kernels = map_where(c->call, inside, k, zero);
    rd_expr       *y       = rd_expand(windows(c, first, count), -2);

    y = y && kernels ? rd_matmul(y, rd_expand(kernels, -1)) : NULL;
    return y ? rd_squeeze(y, RD_DIMS(-1, -2)) : NULL;
}

/* Makes the results first, ..., first + count - 1 of the full convolution: those of windows beyond
 * the begin of x, inside, and beyond the end.  Result r uses the window that begins at r - (m -
 * 1). */
static rd_expr *results(const convolution *c, int64_t first, int64_t count)
{
    const int64_t begin = first - (c->m - 1); /* where the first window begins in x */
    const int64_t end = begin + count, inside_end = c->n - c->m + 1;
    const int64_t inside = begin < 0 ? 0 : begin;
    const int64_t stop   = end < inside_end ? end : inside_end;
    rd_expr      *parts[3];
    rd_exprs      all = { parts, 0 };

    if (stop <= inside)
        return edge_results(c, begin, count);
    if (begin < 0)
        parts[all.n++] = edge_results(c, begin, -begin);
    parts[all.n++] = inner_results(c, inside, stop - inside);
    if (end > stop)
        parts[all.n++] = edge_results(c, stop, end - stop);
    return rd_concat(c->x->rank - 1, all);
}

/* Checks arguments and fills in `c`; moves the axis of x to the end.  *axis becomes its number from
 * 0.  False after recording what is wrong. */
static bool prepare(convolution *c, rd_expr *x, rd_expr *k, int *axis, rd_convolve_mode mode)
{
    rd_expr *const operands[] = { x, k };
    char           shape[RD_SHAPE_TEXT];

    if (!rd_operands(c->call, 2, operands) || (*axis = rd_axis(x, *axis, c->call)) < 0)
        return false;
    if (k->rank != 1)
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the second operand is one row, not of shape %s", c->call,
                rd_shape_text(k->rank, k->extent, shape));
    else if ((unsigned)mode > RD_CONVOLVE_VALID)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: mode %d, not one of enum rd_convolve_mode", c->call,
                (int)mode);
    else if (!x->extent[*axis] || !k->extent[0])
        rd_fail(x->ctx, RD_ERR_SHAPE,
                "%s: %lld elements along axis %d, and a row of %lld: neither may be empty", c->call,
                (long long)x->extent[*axis], *axis, (long long)k->extent[0]);
    else {
        c->n = x->extent[*axis];
        c->m = k->extent[0];
        c->k = rd_with_origins(k, /*origin=*/NULL);
        x    = rd_with_origins(x, /*origin=*/NULL);
        c->x = x ? rd_move_axis(x, *axis, x->rank - 1) : NULL;
        return c->x && c->k;
    }
    return false;
}

/* Makes the results that the mode asks for (full, same, valid), and moves their axis back.  `less`
 * and `more` are the smaller and the larger extent of x and the kernel.  `mirrored`: if the kernel
 * is longer, NumPy counts the middle from the other end. */
static rd_expr *select_results(convolution *c, int axis, rd_convolve_mode mode, bool mirrored)
{
    const int64_t less = c->n < c->m ? c->n : c->m, more = c->n < c->m ? c->m : c->n;
    const int64_t middle = mirrored && c->m > c->n ? less / 2 : (less - 1) / 2;
    rd_expr      *y;

    if (c->n > INT64_MAX / 2 - c->m)
        return rd_fail(c->x->ctx, RD_ERR_SHAPE, "%s: more than 2^62 results", c->call);
    y = mode == RD_CONVOLVE_FULL   ? results(c, 0, c->n + c->m - 1)
        : mode == RD_CONVOLVE_SAME ? results(c, middle, more)
                                   : results(c, less - 1, more - less + 1);
    return y ? rd_move_axis(y, y->rank - 1, axis) : NULL;
}

/* True if k is the longer of two rows.  Operands are then swapped, so that the shorter one is the
 * kernel: each result takes one product for each element of it. */
static bool is_longer(const rd_expr *k, const rd_expr *x)
{
    return x->rank == 1 && k->rank == 1 && k->extent[0] > x->extent[0];
}

/* Convolves x with the kernel k: a correlation with the reversed kernel.  Two rows are swapped so
 * that the kernel is the shorter one. */
rd_expr *rd_convolve(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode)
{
    convolution c = { .call = "rd_convolve" };

    if (!x || !k)
        return NULL;
    const bool swapped = is_longer(k, x);
    if (!prepare(&c, swapped ? k : x, swapped ? x : k, &axis, mode) ||
        !(c.k = rd_flip(c.k, RD_DIMS(0))))
        return NULL;
    return select_results(&c, axis, mode, /*mirrored=*/false);
}

/* Correlates a row with a longer kernel by swapping both: the result is the conjugate of the
 * swapped one, reversed. */
static rd_expr *correlated_with_longer(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode)
{
    convolution c = { .call = "rd_correlate" };
    rd_expr    *y;

    if (!prepare(&c, k, x, &axis, mode) || !(c.k = rd_conj(c.k)))
        return NULL;
    y = select_results(&c, axis, mode, /*mirrored=*/false);
    y = y ? rd_flip(y, RD_DIMS(0)) : NULL;
    return y ? rd_conj(y) : NULL;
}

/* Correlates x with the conjugate of the kernel k along an axis. */
rd_expr *rd_correlate(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode)
{
    convolution c = { .call = "rd_correlate" };

    if (!x || !k)
        return NULL;
    if (is_longer(k, x))
        return correlated_with_longer(x, k, axis, mode);
    if (!prepare(&c, x, k, &axis, mode) || !(c.k = rd_conj(c.k)))
        return NULL;
    return select_results(&c, axis, mode, /*mirrored=*/true);
}
