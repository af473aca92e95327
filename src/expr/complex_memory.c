/* complex_memory.c - complex numbers in memory: pairs of reals, seen as one more axis of extent
 * 2.
 *
 *     c64 array of shape (r, c)  <->  f32 array of shape (r, c, 2)
 *
 * Words. An expression is real if it is not complex. The origin of an axis is its first index, 0
 * unless the caller says another. */
#include "expr/complex.h"
#include "expr/plain.h"
#include <string.h>

/* Describes an array of complex numbers as an array of real ones, its parts: strides double, as
 * they count parts, and an axis of extent 2 with stride 1 is appended.  False after recording that
 * there are too many axes. */
bool rd_complex_array(rd_ctx *ctx, const rd_array *array, const char *call, rd_array *parts)
{
    const int rank = array->shape.n;
    int64_t   stride[RD_MAX_RANK];

    if (!rd_array_layout(ctx, array, call, stride))
        return false;
    if (rank == RD_MAX_RANK) {
        rd_fail(ctx, RD_ERR_SHAPE, "%s: arrays of %s have at most %d axes", call,
                rd_dtype_name(array->type), RD_MAX_RANK - 1);
        return false;
    }
    *parts           = *array;
    parts->type      = rd_dtype_part(array->type);
    parts->order     = 0;
    parts->origin    = (rd_index){ 0 };
    parts->strides.n = parts->shape.n = rank + 1;
    for (int a = 0; a < rank; a++)
        parts->strides.at[a] = 2 * stride[a];
    parts->shape.at[rank]   = 2;
    parts->strides.at[rank] = 1;
    return true;
}

/* Makes the complex expression of an array of parts (real numbers): real and imaginary part are
 * indices 0 and 1 of its last axis. */
rd_expr *rd_complex_leaf(rd_expr *parts, const char *call)
{
    return parts ? rd_complex_of(rd_plain_select(parts, /*axis=*/-1, 0),
                                 rd_plain_select(parts, -1, 1), call)
                 : NULL;
}

/* True if `re` and `im` are the two parts of one array in memory: equal views of it, except that
 * they begin at 0 and 1 along its last axis, of extent 2. */
static bool are_parts_of_array(const rd_expr *re, const rd_expr *im)
{
    const int last = re->kind == RD_EXPR_VIEW ? re->in[0]->rank - 1 : -1;

    if (last < 0 || im->kind != RD_EXPR_VIEW || im->in[0] != re->in[0] ||
        re->in[0]->extent[last] != 2)
        return false;
    for (int k = 0; k < (last + 1) * (re->rank + 1); k++)
        if (im->as.view->number[k] - re->as.view->number[k] != (k == last))
            return false;
    return re->as.view->number[last] == 0;
}

/* True for the parts of a complex leaf without elements: empty views are one node, so both parts
 * are the same view. */
static bool is_empty_leaf(const rd_expr *re, const rd_expr *im)
{
    const rd_expr *leaf = re->kind == RD_EXPR_VIEW ? re->in[0] : NULL;

    return re == im && leaf && leaf->kind == RD_EXPR_LEAF && leaf->rank == re->rank + 1 &&
           leaf->extent[re->rank] == 2 && rd_points(re->rank, re->extent) == 0;
}

/* Returns the leaf of parts below a complex leaf, whose memory is then read as it lies: real
 * numbers with one more axis.  Returns any other x itself, without origins (axes begin at 0). */
rd_expr *rd_leaf_below(rd_expr *x)
{
    x = x && x->origin ? rd_with_origins(x, /*origin=*/NULL) : x;
    if (!x || !rd_is_complex(x))
        return x;
    const bool is_leaf =
        are_parts_of_array(x->in[0], x->in[1]) || is_empty_leaf(x->in[0], x->in[1]);
    return is_leaf ? x->in[0]->in[0] : x;
}

/* Makes one view of both parts, given the view `re` of the real part: re's axes and then an axis of
 * 2, which steps by 1 along the last axis of the array. */
static rd_expr *view_of_both(const rd_expr *re)
{
    rd_expr *const x    = re->in[0];
    const int      rank = re->rank;
    int64_t        extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];

    memset(number, 0, (size_t)(x->rank * (rank + 2)) * sizeof *number);
    for (int k = 0; k < rank; k++)
        extent[k] = re->extent[k];
    extent[rank] = 2;
    for (int a = 0; a < x->rank; a++) {
        number[a] = re->as.view->number[a];
        for (int k = 0; k < rank; k++)
            number[x->rank + a * (rank + 1) + k] = re->as.view->number[x->rank + a * rank + k];
    }
    number[x->rank + (x->rank - 1) * (rank + 1) + rank] = 1;
    return rd_plain_view(x, rank + 1, extent, number, /*origin=*/NULL);
}

/* Returns the constant that x is, or is a broadcast view of; NULL if x is something else. */
static rd_expr *number_below(rd_expr *x)
{
    rd_expr *below = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

    return below->kind == RD_EXPR_NUMBER ? below : NULL;
}

/* Makes real part and imaginary part one expression with one more axis of 2, by walking both trees
 * in parallel; NULL if they differ.  Leaves must be the two parts of one array, and numbers equal.
 * `depth` bounds the work, as operands that are shared are walked repeatedly. */
static rd_expr *merge_parts(rd_expr *re, rd_expr *im, int depth)
{
    enum { DEEP = 4, MOST = 3 };
    rd_expr *in[MOST];
    int64_t  extent[RD_MAX_RANK];

    if (are_parts_of_array(re, im))
        return view_of_both(re);
    for (int a = 0; a < re->rank; a++)
        extent[a] = re->extent[a];
    extent[re->rank] = 2;
    if (re == im && number_below(re))
        return rd_plain_broadcast(number_below(re), re->rank + 1, extent, "rd_eval");
    if (re->kind != RD_EXPR_MAP || im->kind != RD_EXPR_MAP || re->op != im->op ||
        re->type != im->type || re->n_in != im->n_in || re->n_in > MOST || depth == DEEP)
        return NULL;
    for (int k = 0; k < re->n_in; k++)
        if (!(in[k] = merge_parts(re->in[k], im->in[k], depth + 1)))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = re->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = re->type,
                               .op     = re->op,
                               .rank   = re->rank + 1,
                               .n_in   = re->n_in,
                               .extent = extent,
                               .in     = in },
                   /*facts=*/NULL, 0);
}

/* Makes both parts of x one expression with one more axis, if they are the same maps of parts that
 * are adjacent in memory, so that loops run along memory.  NULL if they are not. */
rd_expr *rd_complex_together(rd_expr *x)
{
    return x->rank < RD_MAX_RANK ? merge_parts(x->in[0], x->in[1], /*depth=*/0) : NULL;
}

/* Makes the array of pairs (real, imaginary) of a complex x, as it is stored: by one expression if
 * both parts lie in one array, else by a concatenation along a new last axis. */
rd_expr *rd_complex_pairs(rd_expr *x)
{
    rd_expr *y, *re, *im;

    if (x->rank == RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: results of %s have at most %d axes",
                       rd_call_name(x->ctx), rd_dtype_name(x->type), RD_MAX_RANK - 1);
    if ((y = rd_complex_together(x)))
        return y;
    re = rd_expand(rd_cast_to(x->in[0], rd_dtype_part(x->type)), -1);
    im = rd_expand(rd_cast_to(x->in[1], rd_dtype_part(x->type)), -1);
    return re && im ? rd_concat(-1, RD_EXPRS(re, im)) : NULL;
}
