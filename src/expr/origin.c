/* origin.c - origins of axes: from operands to nodes, where operands meet, and calls that take or
 * give indices of an axis. */
#include "expr/origin.h"
#include "expr/affine.h"
#include "expr/maps.h"
#include "expr/sparse.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An origin and any extent, added up, are an int64_t. */
#define FARTHEST ((int64_t)1 << 62)

const char *rd_range_text(const rd_expr *x, int a, char text[RD_RANGE_TEXT])
{
    const int64_t first = rd_origin(x, a);

    text[0] = '\0';
    if (first)
        snprintf(text, RD_RANGE_TEXT, ", indices %" PRId64 " to %" PRId64, first,
                 first + x->extent[a] - 1);
    return text;
}

/* ---- From operands to nodes ------------------------------------------------------------------ */
/* Those whose axis repeats say 0, others agree. */
void rd_origins_of_all(int n, rd_expr *const *x, int64_t origin[RD_MAX_RANK])
{
    memset(origin, 0, sizeof *origin * RD_MAX_RANK);
    for (int k = 0; k < n; k++)
        for (int a = 0; x[k] && x[k]->origin && a < x[k]->rank; a++)
            if (!origin[a])
                origin[a] = x[k]->origin[a];
}

static void of_reduced(const rd_expr *x, uint64_t dims, int64_t *origin)
{
    int k = 0;

    for (int a = 0; a < x->rank; a++)
        if (!(dims >> a & 1))
            origin[k++] = rd_origin(x, a);
}

/* Axes of the index stand where the axis was. */
static void of_taken(const rd_expr *x, const rd_expr *index, int64_t axis, int64_t *origin)
{
    int k = 0;

    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            origin[k++] = rd_origin(x, a);
        else
            for (int i = 0; i < index->rank; i++)
                origin[k++] = rd_origin(index, i);
}

const int64_t *rd_somewhere(int rank, const int64_t *origin)
{
    for (int a = 0; origin && a < rank; a++)
        if (origin[a])
            return origin;
    return NULL;
}

const int64_t *rd_origins_of(const rd_expr *node, const void *facts, int64_t room[RD_MAX_RANK])
{
    const rd_expr *const x   = node->n_in > 0 ? node->in[0] : NULL;
    bool                 any = false;

    for (int k = 0; k < node->n_in; k++)
        any |= node->in[k] && node->in[k]->origin;
    if (!any || !x)
        return NULL;
    memset(room, 0, sizeof *room * RD_MAX_RANK);
    switch (node->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL:
    case RD_EXPR_COMPLEX: rd_origins_of_all(node->n_in, node->in, room); break;
    case RD_EXPR_SCAN: of_reduced(x, 0, room); break;
    case RD_EXPR_REDUCE: of_reduced(x, ((const rd_fold_facts *)facts)->dims, room); break;
    case RD_EXPR_SORT: of_reduced(x, (uint64_t)1 << (node->rank - 1), room); break;
    case RD_EXPR_TAKE: {
        const rd_axis_facts *axis  = facts;
        const rd_expr *const index = node->in[1];

        if (!index)
            return NULL;
        if (!axis->along) {
            of_taken(x, index, axis->axis, room);
            break;
        }
        rd_origins_of_all(node->n_in, node->in, room);
        room[axis->axis] = rd_origin(index, (int)axis->axis);
        break;
    }
    case RD_EXPR_CONCAT:
        rd_origins_of_all(node->n_in, node->in, room);
        room[((const rd_axis_facts *)facts)->axis] = 0;
        break;
    default: return NULL; /* a view says its own; others have places alone */
    }
    return rd_somewhere(node->rank, room);
}

/* ---- Where operands meet --------------------------------------------------------------------- */
static bool repeats(const rd_expr *x, int a, int depth);

/* The same of a sparse array: do its values and fill repeat along an axis that its pattern
 * lacks? */
static bool repeats_stored(const rd_expr *x, int a, int depth)
{
    int of_values = 1;

    for (int d = 0; d < a; d++)
        of_values += rd_coord_of_axis(x, d) < 0;
    return rd_coord_of_axis(x, a) < 0 && repeats(rd_values_of(x), of_values, depth) &&
           (!rd_fill_of(x) || repeats(rd_fill_of(x), a, depth));
}

/* Is every index along the axis the same element, however many there are?  Maps of such ones too,
 * of a few: beyond that it is an axis like others. */
static bool repeats(const rd_expr *x, int a, int depth)
{
    if (x->extent[a] == 1 || rd_origin(x, a))
        return false;
    if (rd_points(x->rank, x->extent) == 0) /* as views of nothing do */
        return true;
    if (x->kind == RD_EXPR_VIEW) {
        for (int d = 0; d < x->in[0]->rank; d++)
            if (x->as.view->number[x->in[0]->rank + d * x->rank + a])
                return false;
        return true;
    }
    if (rd_has_pattern(x))
        return repeats_stored(x, a, depth);
    if (x->kind != RD_EXPR_MAP && x->kind != RD_EXPR_COMPLEX)
        return false;
    for (int k = 0; k < x->n_in; k++)
        if (depth == 0 || !repeats(x->in[k], a, depth - 1))
            return false;
    return true;
}

/* Axis a of x counted from the last one of all operands; -1: x repeats along it. */
static int axis_of(const rd_expr *x, int from_end, bool all_are_1)
{
    const int a = x->rank - 1 - from_end;

    if (a < 0)
        return -1;
    if (x->extent[a] == 1)
        return all_are_1 && rd_origin(x, a) ? a : -1;
    return repeats(x, a, 4) ? -1 : a;
}

static bool clash(const char *call, const rd_expr *first, int a, int k, const rd_expr *x, int b,
                  int axis)
{
    rd_fail(x->ctx, RD_ERR_SHAPE,
            "%s: axis %d has indices %" PRId64 " to %" PRId64 " in operand %d, and %" PRId64
            " to %" PRId64 " in one before it; rd_reindex() moves them",
            call, axis, rd_origin(x, b), rd_origin(x, b) + x->extent[b] - 1, k, rd_origin(first, a),
            rd_origin(first, a) + first->extent[a] - 1);
    return false;
}

bool rd_ranges_meet_beside(const char *call, int n, rd_expr *const *x, int axis)
{
    int  rank = 0;
    bool any  = false;

    for (int k = 0; k < n; k++) {
        any |= x[k]->origin != NULL;
        rank = x[k]->rank > rank ? x[k]->rank : rank;
    }
    for (int e = 0; any && e < rank; e++) {
        const rd_expr *first     = NULL;
        bool           all_are_1 = true;

        if (rank - 1 - e == axis)
            continue;
        for (int k = 0; k < n; k++)
            all_are_1 &= x[k]->rank <= e || x[k]->extent[x[k]->rank - 1 - e] == 1;
        for (int k = 0; k < n; k++) {
            const int b = axis_of(x[k], e, all_are_1);

            if (b < 0)
                continue;
            if (!first)
                first = x[k];
            if (rd_origin(first, first->rank - 1 - e) != rd_origin(x[k], b))
                return clash(call, first, first->rank - 1 - e, k, x[k], b, rank - 1 - e);
        }
    }
    return true;
}

bool rd_ranges_meet(const char *call, int n, rd_expr *const *x)
{
    return rd_ranges_meet_beside(call, n, x, -1);
}

/* ---- Origins said ---------------------------------------------------------------------------- */
bool rd_from_0(int n, rd_expr **x)
{
    bool ok = true;

    for (int k = 0; k < n; k++)
        if (x[k])
            ok &= (x[k] = rd_with_origins(x[k], NULL)) != NULL;
    return ok;
}

rd_expr *rd_with_origins(rd_expr *x, const int64_t *origin)
{
    rd_affine v; /* large: most often nothing is to be done */

    origin = x ? rd_somewhere(x->rank, origin) : NULL;
    if (!x || (!x->origin && !origin))
        return x;
    memset(&v, 0, sizeof v);
    for (int a = 0; a < x->rank; a++) {
        rd_affine_whole(&v, x, a);
        v.origin[a] = origin ? origin[a] : 0;
    }
    return rd_affine_view(x, &v, "rd_reindex");
}

bool rd_origin_ok(rd_ctx *ctx, const char *call, const rd_index *origin, int rank)
{
    if (origin->n != rank) {
        rd_fail(ctx, RD_ERR_AXIS, "%s: %d first indices for rank %d", call, (int)origin->n, rank);
        return false;
    }
    for (int a = 0; a < rank; a++)
        if (origin->at[a] < -FARTHEST || origin->at[a] > FARTHEST) {
            rd_fail(ctx, RD_ERR_ARGUMENT,
                    "%s: the first index of axis %d is %" PRId64 ", beyond 2^62", call, a,
                    origin->at[a]);
            return false;
        }
    return true;
}

rd_expr *rd_reindex(rd_expr *x, rd_index first)
{
    static const char call[] = "rd_reindex";

    if (!rd_operands(call, 1, &x) || !rd_origin_ok(x->ctx, call, &first, x->rank))
        return NULL;
    return rd_with_origins(x, first.at);
}

rd_index rd_origin_of(const rd_expr *x)
{
    rd_index origin = { .n = x ? x->rank : -1 };

    for (int a = 0; a < origin.n; a++)
        origin.at[a] = rd_origin(x, a);
    return origin;
}

/* ---- Indices of an axis ---------------------------------------------------------------------- */
rd_expr *rd_places_of(const char *call, const rd_expr *x, int axis, rd_expr *index)
{
    const rd_kind kind  = rd_dtype_kind(index->type);
    const int64_t first = rd_origin(x, axis);

    if (!first || (kind != RD_KIND_INT && kind != RD_KIND_UINT)) /* the latter is refused later */
        return index;
    if (index->type == RD_U64) /* beyond an int64_t it is outside, not an index below 0 */
        index = map_2(RD_OP_minimum, call, index, rd_cast_to(rd_int(x->ctx, INT64_MAX), RD_U64));
    index = map_2(RD_OP_sub, call, rd_cast_to(index, RD_I64), rd_int(x->ctx, first));
    return rd_cast_to(index, RD_U64);
}

static rd_expr *taken(const char *call, rd_expr *x, int axis, rd_expr *index,
                      rd_expr *take(rd_expr *, int, rd_expr *))
{
    int a;

    if (!rd_operands(call, 2, (rd_expr *[]){ x, index }) || (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    return take(x, a, rd_places_of(call, x, a, index));
}

rd_expr *rd_take(rd_expr *x, int axis, rd_expr *index)
{
    return taken("rd_take", x, axis, index, rd_take_places);
}

rd_expr *rd_take_along(rd_expr *x, int axis, rd_expr *index)
{
    return taken("rd_take_along", x, axis, index, rd_take_places_along);
}

rd_expr *rd_coord(rd_expr *x, int axis)
{
    int      a;
    rd_expr *places;

    if (!rd_operands("rd_coord", 1, &x) || (a = rd_axis(x, axis, "rd_coord")) < 0)
        return NULL;
    places = rd_places(x, a);
    return rd_indices_of(places, x, a);
}

rd_expr *rd_indices_of(rd_expr *places, const rd_expr *x, int axis)
{
    const int64_t first = x ? rd_origin(x, axis) : 0;

    return first ? rd_add(places, rd_int(x->ctx, first)) : places;
}
