/* rearrange_plain.c - selections of plain expressions that are not affine views: reshape, and
 * take by an index.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/plain.h"

/* ---- Reshape --------------------------------------------------------------------------------- */
/* True if the shapes differ in axes of extent 1 only.  The reshape is a view then, which composes
 * with others; *v gets its axes. */
static bool only_ones_differ(const rd_expr *x, int rank, const int64_t *extent, rd_affine *v)
{
    int a = 0;

    for (int k = 0; k < rank; k++) {
        if (extent[k] == 1) {
            rd_affine_axis(v, /*extent=*/1, /*a=*/-1, /*coef=*/0);
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

/* Reshapes a plain (real, dense) x to a shape with as many elements.  It is a view if only axes of
 * extent 1 differ, else a RESHAPE node.  A reshape of a reshape is one reshape. */
rd_expr *rd_plain_reshape(rd_expr *x, int rank, const int64_t *extent)
{
    rd_affine v = { 0 };

    if (!x)
        return NULL;
    if (x->kind == RD_EXPR_RESHAPE)
        x = x->in[0];
    if (only_ones_differ(x, rank, extent, &v))
        return rd_plain_affine(x, &v, "rd_reshape");
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_RESHAPE,
                               .type   = x->type,
                               .rank   = rank,
                               .n_in   = 1,
                               .extent = extent,
                               .in     = &x },
                   /*facts=*/NULL, 0);
}

/* ---- Take ------------------------------------------------------------------------------------ */
/* True if the index has an int type and can find elements along the axis of x.  `takes`: the result
 * has elements, so the axis must not be empty.  False after recording what is wrong. */
static bool index_ok(const char *call, const rd_expr *x, int axis, const rd_expr *index, bool takes)
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

/* True if x can be gathered by `index` along an axis; then *t gets the shape of the result.  It has
 * the axes of x, with the index's axes in place of the gathered one.  False after recording for
 * `call`. */
bool rd_taking_ok(const char *call, rd_expr *x, int axis, rd_expr *index, rd_taking *t)
{
    rd_expr *const operands[] = { x, index };
    int            found;

    *t = (rd_taking){ 0 };
    if (!rd_operands(call, 2, operands) || (found = rd_axis(x, axis, call)) < 0 ||
        !index_ok(call, x, found, index, rd_points(index->rank, index->extent) > 0))
        return false;
    if (x->rank - 1 + index->rank > RD_MAX_RANK) {
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the result would have rank %d, at most %d are possible",
                call, x->rank - 1 + index->rank, RD_MAX_RANK);
        return false;
    }
    for (int a = 0; a < found; a++)
        t->extent[t->rank++] = x->extent[a];
    for (int a = 0; a < index->rank; a++)
        t->extent[t->rank++] = index->extent[a];
    for (int a = found + 1; a < x->rank; a++)
        t->extent[t->rank++] = x->extent[a];
    t->facts.axis = found;
    return true;
}

/* True if x can be gathered along an axis by an `index` of its rank; then *t gets the shape of the
 * result.  Both broadcast against each other beside the axis.  False after recording for `call`. */
bool rd_taking_along_ok(const char *call, rd_expr *x, int axis, rd_expr *index, rd_taking *t)
{
    rd_expr *const operands[] = { x, index };
    char           own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];
    int            found;

    *t = (rd_taking){ .facts = { .along = true } };
    if (!rd_operands(call, 2, operands) || (found = rd_axis(x, axis, call)) < 0)
        return false;
    for (int a = 0; a < x->rank; a++) {
        const int64_t n = x->extent[a], m = a < index->rank ? index->extent[a] : -1;

        if (index->rank != x->rank || (a != found && n != m && n != 1 && m != 1)) {
            rd_fail(x->ctx, RD_ERR_SHAPE,
                    "%s: an index of shape %s does not go with shape %s beside axis %d", call,
                    rd_shape_text(index->rank, index->extent, other),
                    rd_shape_text(x->rank, x->extent, own), found);
            return false;
        }
        t->extent[a] = a == found || n == 1 ? m : n;
    }
    t->rank       = x->rank;
    t->facts.axis = found;
    return index_ok(call, x, found, index, rd_points(x->rank, t->extent) > 0);
}

/* Writes the extents to which x, or an index, is broadcast before a gather along an axis of both:
 * its own along that axis, the result's along the others.  Returns them. */
const int64_t *rd_beside_taken(const rd_expr *x, const rd_taking *t, int64_t extent[RD_MAX_RANK])
{
    for (int a = 0; a < t->rank; a++)
        extent[a] = a == t->facts.axis ? x->extent[a] : t->extent[a];
    return extent;
}

/* Makes the TAKE (gather) node with the facts and shape *t; a weak index (a plain number) becomes
 * i64.  NULL after recording that the result's size overflows. */
rd_expr *rd_taking_node(const char *call, rd_expr *x, rd_expr *index, const rd_taking *t)
{
    char     text[RD_SHAPE_TEXT];
    rd_expr *in[2] = { x, index->weak ? rd_plain_cast(index, RD_I64) : index };

    if (rd_points(t->rank, t->extent) < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the size of the result overflows, shape %s", call,
                       rd_shape_text(t->rank, t->extent, text));
    return in[1] ? rd_node(&(rd_expr){ .ctx    = x->ctx,
                                       .kind   = RD_EXPR_TAKE,
                                       .type   = x->type,
                                       .rank   = t->rank,
                                       .n_in   = 2,
                                       .extent = t->extent,
                                       .in     = in },
                           &t->facts, sizeof t->facts)
                 : NULL;
}

/* Gathers elements of a plain (real, dense) x at positions along an axis; the axes of the index
 * replace the axis. */
rd_expr *rd_plain_take(rd_expr *x, int axis, rd_expr *index)
{
    rd_taking t;

    return rd_taking_ok("rd_take", x, axis, index, &t) ? rd_taking_node("rd_take", x, index, &t)
                                                       : NULL;
}

/* Gathers elements of a plain (real, dense) x at positions along an axis; the index has x's rank,
 * and both broadcast along the other axes. */
rd_expr *rd_plain_take_along(rd_expr *x, int axis, rd_expr *index)
{
    static const char call[] = "rd_take_along";
    int64_t           extent[RD_MAX_RANK];
    rd_taking         t;

    if (!rd_taking_along_ok(call, x, axis, index, &t))
        return NULL;
    x     = rd_plain_broadcast(x, t.rank, rd_beside_taken(x, &t, extent), call);
    index = rd_plain_broadcast(index, t.rank, rd_beside_taken(index, &t, extent), call);
    return x && index ? rd_taking_node(call, x, index, &t) : NULL;
}
