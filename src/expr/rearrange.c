/* rearrange.c - selections of elements that are not affine views: reshape, take, concat.
 *
 * Words. An expression is real if it is not complex. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/plain.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Reshape --------------------------------------------------------------------------------- */
/* Records why a reshape is refused, with both shapes; returns false. */
static bool refuse_reshape(const rd_expr *x, const rd_shape *asked, const char *why)
{
    char from[RD_SHAPE_TEXT], to[RD_SHAPE_TEXT];

    rd_fail(x->ctx, RD_ERR_SHAPE, "rd_reshape: %s, asked for %s from shape %s", why,
            rd_shape_text(asked->n, asked->at, to), rd_shape_text(x->rank, x->extent, from));
    return false;
}

/* Fills in the extents that are asked for, with the deduced one in place of -1; `hole` is the axis
 * of that.  False after recording what is wrong. */
static bool deduce_extents(const rd_expr *x, const rd_shape *asked, int64_t *extent)
{
    const int64_t points = rd_points(x->rank, x->extent);
    int           hole   = -1;
    int64_t       others;

    for (int a = 0; a < asked->n; a++) {
        if (asked->at[a] == -1 && hole >= 0)
            return refuse_reshape(x, asked, "more than one extent is -1");
        if (asked->at[a] == -1)
            hole = a;
        extent[a] = asked->at[a] == -1 ? 1 : asked->at[a];
    }
    others = rd_points(asked->n, extent);
    if (others < 0)
        return refuse_reshape(x, asked, "an extent is negative or the size overflows");
    if (hole >= 0 && others == 0)
        return refuse_reshape(x, asked, "-1 could be any extent beside an extent of 0");
    if (hole >= 0)
        extent[hole] = points / others;
    if (rd_points(asked->n, extent) < 0) /* extents beside a 0 must not overflow either */
        return refuse_reshape(x, asked, "the size overflows");
    return rd_points(asked->n, extent) == points ||
           refuse_reshape(x, asked, "another number of elements");
}

/* Reshapes a real x; a sparse one becomes dense first. */
static rd_expr *reshape_real(rd_expr *x, int rank, const int64_t *extent)
{
    return rd_plain_reshape(rd_at_all_places(x, "rd_reshape"), rank, extent);
}

/* Gives the elements of x, in C order, another shape; one extent may be -1.  A complex x is
 * reshaped part by part. */
rd_expr *rd_reshape(rd_expr *x, rd_shape shape)
{
    int64_t extent[RD_MAX_RANK] = { 0 };

    if (!rd_operands("rd_reshape", 1, &x))
        return NULL;
    if (shape.n < 0 || shape.n > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "rd_reshape: the shape has rank %d, possible are 0 to %d", (int)shape.n,
                       RD_MAX_RANK);
    if (!deduce_extents(x, &shape, extent))
        return NULL;
    if (rd_is_complex(x))
        return rd_complex_of(reshape_real(x->in[0], shape.n, extent),
                             reshape_real(x->in[1], shape.n, extent), "rd_reshape");
    return reshape_real(x, shape.n, extent);
}

/* ---- Take ------------------------------------------------------------------------------------ */
/* Makes the TAKE node for a real x; sparse operands become dense first. */
static rd_expr *take_real(const char *call, rd_expr *x, rd_expr *index, const rd_taking *t)
{
    x     = rd_at_all_places(x, call);
    index = rd_at_all_places(index, call);
    return x && index ? rd_taking_node(call, x, index, t) : NULL;
}

/* Makes the TAKE (gather) node for x; for a complex x one for each part. */
static rd_expr *take(const char *call, rd_expr *x, rd_expr *index, const rd_taking *t)
{
    if (rd_is_complex(x))
        return rd_complex_of(take_real(call, x->in[0], index, t),
                             take_real(call, x->in[1], index, t), call);
    return take_real(call, x, index, t);
}

/* Gathers elements at positions along an axis; the axes of the index replace the axis. */
rd_expr *rd_take_places(rd_expr *x, int axis, rd_expr *index)
{
    rd_taking t;

    return rd_taking_ok("rd_take", x, axis, index, &t) ? take("rd_take", x, index, &t) : NULL;
}

/* Gathers elements at positions along an axis; the index has x's rank, and both broadcast along all
 * other axes. */
rd_expr *rd_take_places_along(rd_expr *x, int axis, rd_expr *index)
{
    static const char call[] = "rd_take_along";
    int64_t           extent[RD_MAX_RANK];
    rd_taking         t;

    if (!rd_taking_along_ok(call, x, axis, index, &t))
        return NULL;
    x     = rd_broadcast_to(x, t.rank, rd_beside_taken(x, &t, extent), call);
    index = rd_broadcast_to(index, t.rank, rd_beside_taken(index, &t, extent), call);
    return x && index ? take(call, x, index, &t) : NULL;
}

/* ---- Concat ---------------------------------------------------------------------------------- */
/* True if part k of a concatenation agrees with part 0 along all axes but this one; then its extent
 * is added to extent[axis].  False after recording that it does not agree, or that the size
 * overflows. */
static bool add_part(rd_expr *const *part, int k, int axis, int64_t *extent)
{
    const rd_expr *x = part[k];
    char           own[RD_SHAPE_TEXT], first[RD_SHAPE_TEXT];
    bool           agree = x->rank == part[0]->rank;

    for (int a = 0; agree && a < x->rank; a++)
        agree = a == axis || x->extent[a] == extent[a];
    agree = agree && !__builtin_add_overflow(extent[axis], x->extent[axis], &extent[axis]) &&
            rd_points(x->rank, extent) >= 0;
    if (!agree)
        rd_fail(x->ctx, RD_ERR_SHAPE,
                "rd_concat: part %d of shape %s cannot be joined to part 0 of shape %s along axis "
                "%d: other extents differ, or the size overflows",
                k, rd_shape_text(x->rank, x->extent, own),
                rd_shape_text(part[0]->rank, part[0]->extent, first), axis);
    return agree;
}

/* Makes one CONCAT node of real parts, cast to the type; sparse parts become dense. */
static rd_expr *concat_node(rd_expr *const *part, int32_t n, int axis, const int64_t *extent,
                            rd_dtype type)
{
    rd_ctx             *ctx   = part[0]->ctx;
    const rd_axis_facts facts = { .axis = axis };
    rd_expr           **in    = rd_alloc(ctx, (int64_t)(sizeof *in * (size_t)n));
    rd_expr            *y     = NULL;
    bool                ok    = in != NULL;

    for (int k = 0; ok && k < n; k++) {
        in[k] = rd_at_all_places(rd_cast_to(part[k], type), "rd_concat");
        ok    = in[k] != NULL;
    }
    if (ok)
        y = rd_node(&(rd_expr){ .ctx    = ctx,
                                .kind   = RD_EXPR_CONCAT,
                                .type   = type,
                                .rank   = part[0]->rank,
                                .n_in   = n,
                                .extent = extent,
                                .in     = in },
                    &facts, sizeof facts);
    rd_free(ctx, in);
    return y;
}

/* Each part is a pass over an axis of its own, and a plan has 64 axes.  More parts than
 * FEW_PARTS are joined in groups, which may become plans of their own. */
enum { FEW_PARTS = 48, GROUP = 32 };

/* Joins real (not complex) parts along an axis.  In a plan each part is a pass over an axis of its
 * own, and a plan has 64 axes.  So more than FEW_PARTS are joined in groups of GROUP, which may
 * become plans of their own, and then the groups are joined.  A lone last part becomes its own
 * group, cast and dense as concat_node() would make it. */
static rd_expr *concat_parts(rd_expr *const *part, int32_t n, int axis, const int64_t *extent,
                             rd_dtype type)
{
    rd_ctx   *ctx    = part[0]->ctx;
    rd_expr **groups = NULL, *y = NULL;
    int64_t   own[RD_MAX_RANK];
    int32_t   made = 0;

    if (n <= FEW_PARTS)
        return concat_node(part, n, axis, extent, type);
    groups = rd_alloc(ctx, (int64_t)sizeof *groups * (n / GROUP + 1));
    if (!groups)
        return NULL;
    memcpy(own, extent, (size_t)part[0]->rank * sizeof *own);
    for (int32_t first = 0; first < n; first += GROUP) {
        const int32_t count = n - first < GROUP ? n - first : GROUP;

        own[axis] = 0;
        for (int32_t k = first; k < first + count; k++)
            own[axis] += part[k]->extent[axis];
        groups[made] = count > 1 ? concat_node(part + first, count, axis, own, type)
                                 : rd_at_all_places(rd_cast_to(part[first], type), "rd_concat");
        if (!groups[made++])
            break;
    }
    if (groups[made - 1])
        y = concat_parts(groups, made, axis, extent, type);
    rd_free(ctx, groups);
    return y;
}

/* The functions that return the parts of a complex number. */
static rd_expr *(*const part_of[])(rd_expr *) = { rd_real, rd_imag };

/* Joins the real parts and the imaginary parts of complex operands separately. */
static rd_expr *concat_complex(rd_exprs parts, int axis, const int64_t *extent, rd_dtype type)
{
    rd_ctx   *ctx  = parts.at[0]->ctx;
    rd_expr **own  = rd_alloc(ctx, (int64_t)sizeof *own * parts.n);
    rd_expr  *y[2] = { NULL };

    for (int p = 0; own && p < 2; p++) {
        bool ok = true;

        for (int k = 0; k < parts.n; k++)
            ok &= (own[k] = part_of[p](parts.at[k])) != NULL;
        y[p] = ok ? concat_parts(own, parts.n, axis, extent, rd_dtype_part(type)) : NULL;
    }
    rd_free(ctx, own);
    return rd_complex_of(y[0], y[1], "rd_concat");
}

/* Joins parts along an axis: the public call.  It checks all parts against the first and promotes
 * their types.  One part alone is returned as it is. */
rd_expr *rd_concat(int axis, rd_exprs parts)
{
    int64_t  extent[RD_MAX_RANK];
    rd_dtype type;
    int      found;

    if (!rd_list_ok(/*ctx=*/NULL, "rd_concat", "parts", parts.at, parts.n, /*least=*/1) ||
        !rd_operands("rd_concat", parts.n, parts.at) ||
        (found = rd_axis(parts.at[0], axis, "rd_concat")) < 0)
        return NULL;
    type = parts.at[0]->type;
    memcpy(extent, parts.at[0]->extent, (size_t)parts.at[0]->rank * sizeof *extent);
    for (int k = 1; k < parts.n; k++) {
        if (!add_part(parts.at, k, found, extent))
            return NULL;
        type = rd_dtype_promote(type, parts.at[k]->type);
    }
    if (!rd_ranges_meet_beside("rd_concat", parts.n, parts.at, found))
        return NULL;
    if (parts.n == 1)
        return parts.at[0];
    return rd_dtype_is_complex(type) ? concat_complex(parts, found, extent, type)
                                     : concat_parts(parts.at, parts.n, found, extent, type);
}
