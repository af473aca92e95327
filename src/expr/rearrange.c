/* rearrange.c - selections of elements that are more than offsets and coefficients: reshape, take,
 * concat. */
#include "expr/affine.h"
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Reshape --------------------------------------------------------------------------------- */
static bool refuse_reshape(const rd_expr *x, const rd_shape *asked, const char *why)
{
    char from[RD_SHAPE_TEXT], to[RD_SHAPE_TEXT];

    rd_fail(x->ctx, RD_ERR_SHAPE, "rd_reshape: %s, asked for %s from shape %s", why,
            rd_shape_text(asked->n, asked->at, to), rd_shape_text(x->rank, x->extent, from));
    return false;
}

/* The extents asked for, a number where -1 stood. */
static bool deduce(const rd_expr *x, const rd_shape *asked, int64_t *extent)
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
    if (rd_points(asked->n, extent) < 0) /* the extents beside a 0 count too */
        return refuse_reshape(x, asked, "the size overflows");
    return rd_points(asked->n, extent) == points ||
           refuse_reshape(x, asked, "another number of elements");
}

/* If the shapes differ in extents of 1 only, the reshape is a view, which composes with others;
 * else NULL. */
static bool only_ones_differ(const rd_expr *x, int rank, const int64_t *extent, rd_affine *v)
{
    int a = 0;

    for (int k = 0; k < rank; k++) {
        if (extent[k] == 1) {
            rd_affine_axis(v, 1, -1, 0);
            continue;
        }
        while (a < x->rank && x->extent[a] == 1)
            a++;
        if (a == x->rank || x->extent[a] != extent[k])
            return false;
        rd_affine_whole(v, x, a++);
    }
    while (a < x->rank && x->extent[a] == 1)
        a++;
    return a == x->rank;
}

rd_expr *rd_reshape(rd_expr *x, rd_shape shape)
{
    rd_affine v                   = { 0 };
    int64_t   extent[RD_MAX_RANK] = { 0 };

    if (!rd_operands("rd_reshape", 1, &x))
        return NULL;
    if (shape.n < 0 || shape.n > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "rd_reshape: the shape has rank %d, possible are 0 to %d", (int)shape.n,
                       RD_MAX_RANK);
    if (!deduce(x, &shape, extent))
        return NULL;
    if (rd_is_complex(x))
        return rd_complex_of(rd_reshape(x->in[0], shape), rd_reshape(x->in[1], shape),
                             "rd_reshape");
    if (!(x = rd_at_all_places(x, "rd_reshape")))
        return NULL;
    if (x->kind == RD_EXPR_RESHAPE)
        x = x->in[0];
    if (only_ones_differ(x, shape.n, extent, &v))
        return rd_affine_view(x, &v, "rd_reshape");
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_RESHAPE,
                               .type   = x->type,
                               .rank   = shape.n,
                               .n_in   = 1,
                               .extent = extent,
                               .in     = &x },
                   NULL, 0);
}

/* ---- Take ------------------------------------------------------------------------------------ */
/* `takes`: there is an element to be taken. */
static bool check_index(const char *call, const rd_expr *x, int axis, const rd_expr *index,
                        bool takes)
{
    const rd_kind kind = rd_dtype_kind(index->type);
    char          text[RD_SHAPE_TEXT], own[RD_SHAPE_TEXT];

    if (kind != RD_KIND_INT && kind != RD_KIND_UINT) {
        rd_fail(x->ctx, RD_ERR_TYPE, "%s: the index is of type %s, not an integer type%s", call,
                rd_dtype_name(index->type),
                kind == RD_KIND_BOOL ? "; keyword .where of a reduction takes masks" : "");
        return false;
    }
    if (x->extent[axis] == 0 && takes) {
        rd_fail(x->ctx, RD_ERR_AXIS,
                "%s: nothing to take from axis %d of extent 0, shape %s, index of shape %s", call,
                axis, rd_shape_text(x->rank, x->extent, text),
                rd_shape_text(index->rank, index->extent, own));
        return false;
    }
    return true;
}

static rd_expr *take_node(const char *call, rd_expr *x, rd_expr *index, const rd_axis_facts *facts,
                          int rank, int64_t *extent)
{
    char text[RD_SHAPE_TEXT];

    if (rd_is_complex(x))
        return rd_complex_of(take_node(call, x->in[0], index, facts, rank, extent),
                             take_node(call, x->in[1], index, facts, rank, extent), call);
    rd_expr *in[2] = { rd_at_all_places(x, call),
                       rd_at_all_places(index->weak ? rd_cast_to(index, RD_I64) : index, call) };

    if (rd_points(rank, extent) < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the size of the result overflows, shape %s", call,
                       rd_shape_text(rank, extent, text));
    return in[0] && in[1] ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                                .kind   = RD_EXPR_TAKE,
                                                .type   = x->type,
                                                .rank   = rank,
                                                .n_in   = 2,
                                                .extent = extent,
                                                .in     = in },
                                    facts, sizeof *facts)
                          : NULL;
}

rd_expr *rd_take_places(rd_expr *x, int axis, rd_expr *index)
{
    int64_t       extent[RD_MAX_RANK];
    rd_axis_facts facts = { 0 };
    int           found, rank = 0;

    if (!x || !index || !rd_same_ctx("rd_take", 2, (rd_expr *[]){ x, index }) ||
        (found = rd_axis(x, axis, "rd_take")) < 0 ||
        !check_index("rd_take", x, found, index, rd_points(index->rank, index->extent) > 0))
        return NULL;
    if (x->rank - 1 + index->rank > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "rd_take: the result would have rank %d, at most %d are possible",
                       x->rank - 1 + index->rank, RD_MAX_RANK);
    for (int a = 0; a < found; a++)
        extent[rank++] = x->extent[a];
    for (int a = 0; a < index->rank; a++)
        extent[rank++] = index->extent[a];
    for (int a = found + 1; a < x->rank; a++)
        extent[rank++] = x->extent[a];
    facts.axis = found;
    return take_node("rd_take", x, index, &facts, rank, extent);
}

/* The operand with the extents of the result, but for its own along the axis. */
static rd_expr *beside(rd_expr *x, int axis, const int64_t *extent)
{
    rd_shape shape = { .n = x->rank };

    for (int a = 0; a < x->rank; a++)
        shape.at[a] = a == axis ? x->extent[a] : extent[a];
    return rd_broadcast(x, shape);
}

rd_expr *rd_take_places_along(rd_expr *x, int axis, rd_expr *index)
{
    static const char call[]              = "rd_take_along";
    int64_t           extent[RD_MAX_RANK] = { 0 };
    rd_axis_facts     facts               = { .along = true };
    char              own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];
    int               found;

    if (!x || !index || !rd_same_ctx(call, 2, (rd_expr *[]){ x, index }) ||
        (found = rd_axis(x, axis, call)) < 0)
        return NULL;
    for (int a = 0; a < x->rank; a++) {
        const int64_t n = x->extent[a], m = a < index->rank ? index->extent[a] : -1;

        if (index->rank != x->rank || (a != found && n != m && n != 1 && m != 1))
            return rd_fail(x->ctx, RD_ERR_SHAPE,
                           "%s: an index of shape %s does not go with shape %s beside axis %d",
                           call, rd_shape_text(index->rank, index->extent, other),
                           rd_shape_text(x->rank, x->extent, own), found);
        extent[a] = a == found || n == 1 ? m : n;
    }
    if (!check_index(call, x, found, index, rd_points(x->rank, extent) > 0))
        return NULL;
    facts.axis = found;
    x          = beside(x, found, extent);
    index      = beside(index, found, extent);
    return x && index ? take_node(call, x, index, &facts, x->rank, extent) : NULL;
}

/* ---- Concat ---------------------------------------------------------------------------------- */
/* Checks that part k agrees with part 0 beside the axis, and adds its extent there. */
static bool join(rd_expr *const *part, int k, int axis, int64_t *extent)
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

static rd_expr *concat_node(rd_expr *const *part, int32_t n, int axis, const int64_t *extent,
                            rd_dtype type)
{
    rd_ctx             *ctx   = part[0]->ctx;
    const rd_axis_facts facts = { .axis = axis };
    rd_expr           **in    = rd_alloc(ctx, (int64_t)(sizeof *in * (size_t)n));
    rd_expr            *y     = NULL;
    bool                all   = in != NULL;

    for (int k = 0; all && k < n; k++) {
        in[k] = rd_at_all_places(rd_cast_to(part[k], type), "rd_concat");
        all   = in[k] != NULL;
    }
    if (all)
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

/* Each part is a pass with an axis of its own, and a plan has 64: more parts than that are joined in
 * groups, which may be plans of their own. */
enum { FEW_PARTS = 48, GROUP = 32 };

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
        const int32_t some = n - first < GROUP ? n - first : GROUP;

        own[axis] = 0;
        for (int32_t k = first; k < first + some; k++)
            own[axis] += part[k]->extent[axis];
        groups[made] = some > 1 ? concat_node(part + first, some, axis, own, type)
                                : rd_at_all_places(rd_cast_to(part[first], type), "rd_concat");
        if (!groups[made++])
            break;
    }
    if (groups[made - 1])
        y = concat_parts(groups, made, axis, extent, type);
    rd_free(ctx, groups);
    return y;
}

static rd_expr *(*const part_of[])(rd_expr *) = { rd_real, rd_imag };

/* Both parts of all, each joined for itself. */
static rd_expr *concat_complex(rd_exprs parts, int axis, const int64_t *extent, rd_dtype type)
{
    rd_ctx   *ctx  = parts.at[0]->ctx;
    rd_expr **own  = rd_alloc(ctx, (int64_t)sizeof *own * parts.n);
    rd_expr  *y[2] = { NULL };

    for (int p = 0; own && p < 2; p++) {
        bool all = true;

        for (int k = 0; k < parts.n; k++)
            all &= (own[k] = part_of[p](parts.at[k])) != NULL;
        y[p] = all ? concat_parts(own, parts.n, axis, extent, rd_dtype_part(type)) : NULL;
    }
    rd_free(ctx, own);
    return rd_complex_of(y[0], y[1], "rd_concat");
}

rd_expr *rd_concat(int axis, rd_exprs parts)
{
    int64_t  extent[RD_MAX_RANK];
    rd_dtype type;
    int      found;

    if (!rd_list_ok(NULL, "rd_concat", "parts", parts.at, parts.n, 1) ||
        !rd_operands("rd_concat", parts.n, parts.at) ||
        (found = rd_axis(parts.at[0], axis, "rd_concat")) < 0)
        return NULL;
    type = parts.at[0]->type;
    memcpy(extent, parts.at[0]->extent, (size_t)parts.at[0]->rank * sizeof *extent);
    for (int k = 1; k < parts.n; k++) {
        if (!join(parts.at, k, found, extent))
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
