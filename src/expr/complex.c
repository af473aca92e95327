/* complex.c - complex expressions as pairs of real ones: nodes, conversions, their parts, and how
 * they lie in memory. */
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */
bool rd_any_complex(int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (x[k] && rd_is_complex(x[k]))
            return true;
    return false;
}

rd_expr *rd_complex_of(rd_expr *re, rd_expr *im, const char *call)
{
    rd_expr *in[] = { re, im };
    int      rank;
    int64_t  extent[RD_MAX_RANK], origin[RD_MAX_RANK];

    if (!re || !im)
        return NULL;
    if (re->weak != im->weak) {
        const rd_dtype part = re->weak ? im->type : re->type;

        in[0] = rd_cast_to(re, part);
        in[1] = rd_cast_to(im, part);
    }
    if (!in[0] || !in[1] || !rd_common_shape(call, 2, in, &rank, extent))
        return NULL;
    for (int k = 0; k < 2; k++)
        if (!(in[k] = rd_broadcast_to(in[k], rank, extent, call)))
            return NULL;
    rd_origins_of_all(2, in, origin);
    for (int k = 0; k < 2; k++) /* one that repeats along an axis had none there */
        if (!(in[k] = rd_with_origins(in[k], origin)))
            return NULL;
    if (!rd_sparse_alike(call, in))
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = re->ctx,
                               .kind   = RD_EXPR_COMPLEX,
                               .type   = rd_dtype_of_parts(in[0]->type),
                               .weak   = in[0]->weak && in[1]->weak,
                               .rank   = rank,
                               .n_in   = 2,
                               .extent = extent,
                               .in     = in },
                   NULL, 0);
}

bool rd_refuse_complex(const char *call, int n, rd_expr *const *x)
{
    for (int k = 0; k < n; k++)
        if (x[k] && rd_is_complex(x[k])) {
            rd_fail(x[k]->ctx, RD_ERR_TYPE,
                    "%s: operand %d is %s, and it takes real numbers alone: rd_real(), rd_imag() "
                    "and rd_abs() are",
                    call, k, rd_dtype_name(x[k]->type));
            return true;
        }
    return false;
}

/* ---- Conversions ----------------------------------------------------------------------------- */
static rd_expr *real_as_complex(rd_expr *x, rd_dtype type)
{
    const rd_dtype part = rd_dtype_part(type);

    return rd_complex_of(rd_cast_to(x, part), rd_number(x->ctx, part, (rd_word){ 0 }), "rd_cast");
}

rd_expr *rd_complex_cast(rd_expr *x, rd_dtype type)
{
    if (!rd_is_complex(x))
        return real_as_complex(x, type);
    if (rd_dtype_is_complex(type)) {
        const rd_dtype part = rd_dtype_part(type);

        return rd_complex_of(rd_cast_to(x->in[0], part), rd_cast_to(x->in[1], part), "rd_cast");
    }
    if (type == RD_BOOL)
        return rd_map_op(
            RD_OP_or, "rd_cast", 2,
            (rd_expr *const[]){ rd_cast_to(x->in[0], type), rd_cast_to(x->in[1], type) });
    return rd_fail(x->ctx, RD_ERR_TYPE,
                   "rd_cast: %s to %s would lose the imaginary part; say rd_real()",
                   rd_dtype_name(x->type), rd_dtype_name(type));
}

/* ---- Parts ----------------------------------------------------------------------------------- */
rd_expr *rd_complex(rd_expr *re, rd_expr *im)
{
    static const char call[] = "rd_complex";
    rd_expr *const    x[]    = { re, im };

    if (!rd_operands(call, 2, x) || rd_refuse_complex(call, 2, x))
        return NULL;
    const rd_dtype part = rd_dtype_part(rd_dtype_of_parts(rd_rule_type(RD_RULE_FLOAT, 2, x)));
    if (re->weak && im->weak)
        return rd_complex_of(rd_as_real(re, part), rd_as_real(im, part), call);
    return rd_complex_of(rd_cast_to(re, part), rd_cast_to(im, part), call);
}

rd_expr *rd_cnum(rd_ctx *ctx, double re, double im)
{
    return ctx ? rd_complex_of(rd_num(ctx, re), rd_num(ctx, im), "rd_cnum") : NULL;
}

rd_expr *rd_polar(rd_expr *r, rd_expr *angle)
{
    static const char call[] = "rd_polar";
    rd_expr *const    x[]    = { r, angle };

    if (!rd_operands(call, 2, x) || rd_refuse_complex(call, 2, x))
        return NULL;
    return rd_complex(rd_mul(r, rd_cos(angle)), rd_mul(r, rd_sin(angle)));
}

rd_expr *rd_real(rd_expr *x)
{
    if (!rd_operands("rd_real", 1, &x))
        return NULL;
    return rd_is_complex(x) ? x->in[0] : x;
}

rd_expr *rd_imag(rd_expr *x)
{
    if (!rd_operands("rd_imag", 1, &x))
        return NULL;
    if (rd_is_complex(x))
        return x->in[1];
    rd_expr *zero = rd_number(x->ctx, x->type, (rd_word){ 0 });
    zero          = zero ? rd_broadcast_to(zero, x->rank, x->extent, "rd_imag") : NULL;
    return rd_with_origins(zero, x->origin);
}

rd_expr *rd_conj(rd_expr *x)
{
    if (!rd_operands("rd_conj", 1, &x) || !rd_is_complex(x))
        return x && x->id ? x : NULL;
    return rd_complex_of(x->in[0], rd_neg(x->in[1]), "rd_conj");
}

rd_expr *rd_arg(rd_expr *x)
{
    if (!rd_operands("rd_arg", 1, &x))
        return NULL;
    rd_expr *im = rd_is_complex(x) ? x->in[1] : rd_int(x->ctx, 0);
    return rd_map_op(RD_OP_atan2, "rd_arg", 2, (rd_expr *const[]){ im, rd_real(x) });
}

/* ---- Memory ---------------------------------------------------------------------------------- */
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

rd_expr *rd_complex_leaf(rd_expr *parts, const char *call)
{
    return parts ? rd_complex_of(rd_select_place(parts, -1, 0), rd_select_place(parts, -1, 1), call)
                 : NULL;
}

/* Are they the real and the imaginary parts of memory: views that differ in where they begin along
 * the last axis, of two? */
static bool lie_together(const rd_expr *re, const rd_expr *im)
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

/* Views of no element are one view, whatever they are of: both parts of an empty leaf are. */
static bool is_empty_leaf(const rd_expr *re, const rd_expr *im)
{
    const rd_expr *leaf = re->kind == RD_EXPR_VIEW ? re->in[0] : NULL;

    return re == im && leaf && leaf->kind == RD_EXPR_LEAF && leaf->rank == re->rank + 1 &&
           leaf->extent[re->rank] == 2 && rd_points(re->rank, re->extent) == 0;
}

rd_expr *rd_leaf_below(rd_expr *x)
{
    x = x && x->origin ? rd_with_origins(x, NULL) : x;
    if (!x || !rd_is_complex(x))
        return x;
    const bool is_leaf = lie_together(x->in[0], x->in[1]) || is_empty_leaf(x->in[0], x->in[1]);
    return is_leaf ? x->in[0]->in[0] : x;
}

/* One view of both, with the axis that tells them apart. */
static rd_expr *both_views(const rd_expr *re)
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
    return rd_view(x, rank + 1, extent, number, NULL);
}

/* A number, alone or seen with a shape. */
static rd_expr *number_in(rd_expr *x)
{
    rd_expr *below = x->kind == RD_EXPR_VIEW ? x->in[0] : x;

    return below->kind == RD_EXPR_NUMBER ? below : NULL;
}

/* `depth` bounds the work on operands that are used twice, again and again. */
static rd_expr *together(rd_expr *re, rd_expr *im, int depth)
{
    enum { DEEP = 4, MOST = 3 };
    rd_expr *in[MOST];
    int64_t  extent[RD_MAX_RANK];

    if (lie_together(re, im))
        return both_views(re);
    for (int a = 0; a < re->rank; a++)
        extent[a] = re->extent[a];
    extent[re->rank] = 2;
    if (re == im && number_in(re))
        return rd_broadcast_to(number_in(re), re->rank + 1, extent, "rd_eval");
    if (re->kind != RD_EXPR_MAP || im->kind != RD_EXPR_MAP || re->op != im->op ||
        re->type != im->type || re->n_in != im->n_in || re->n_in > MOST || depth == DEEP)
        return NULL;
    for (int k = 0; k < re->n_in; k++)
        if (!(in[k] = together(re->in[k], im->in[k], depth + 1)))
            return NULL;
    return rd_node(&(rd_expr){ .ctx    = re->ctx,
                               .kind   = RD_EXPR_MAP,
                               .type   = re->type,
                               .op     = re->op,
                               .rank   = re->rank + 1,
                               .n_in   = re->n_in,
                               .extent = extent,
                               .in     = in },
                   NULL, 0);
}

rd_expr *rd_complex_together(rd_expr *x)
{
    return x->rank < RD_MAX_RANK ? together(x->in[0], x->in[1], 0) : NULL;
}

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
