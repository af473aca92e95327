/* origin.c - origins of axes: checks of those that callers give, and how nodes get theirs from
 * operands. */
#include "expr/origin.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* With this bound, an origin plus any extent fits in an int64_t. */
#define FARTHEST ((int64_t)1 << 62)

/* Writes the indices along an axis, ", indices -2 to 2"; "" if they begin at 0. */
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
/* Finds the origins (first indices of axes) of an element-wise result: along each axis the first
 * one of an operand that is not 0.  Operands that repeat along an axis have 0; all others agree, as
 * was checked. */
void rd_origins_of_all(int n, rd_expr *const *x, int64_t origin[RD_MAX_RANK])
{
    memset(origin, 0, sizeof *origin * RD_MAX_RANK);
    for (int k = 0; k < n; k++)
        for (int a = 0; x[k] && x[k]->origin && a < x[k]->rank; a++)
            if (!origin[a])
                origin[a] = x[k]->origin[a];
}

/* Writes the origins (first indices) of a result that has the axes of x in order, except those that
 * are bits of `dims`, which are reduced. */
static void origins_of_kept(const rd_expr *x, uint64_t dims, int64_t *origin)
{
    int k = 0;

    for (int a = 0; a < x->rank; a++)
        if (!(dims >> a & 1))
            origin[k++] = rd_origin(x, a);
}

/* Writes the origins (first indices of axes) of a gather: the axes of the index stand in place of
 * the gathered axis. */
static void origins_of_taken(const rd_expr *x, const rd_expr *index, int64_t axis, int64_t *origin)
{
    int k = 0;

    for (int a = 0; a < x->rank; a++)
        if (a != axis)
            origin[k++] = rd_origin(x, a);
        else
            for (int i = 0; i < index->rank; i++)
                origin[k++] = rd_origin(index, i);
}

/* Returns origins (first indices of axes) as nodes store them: NULL if all are 0. */
const int64_t *rd_somewhere(int rank, const int64_t *origin)
{
    for (int a = 0; origin && a < rank; a++)
        if (origin[a])
            return origin;
    return NULL;
}

/* Derives the origins (first indices of axes) of a node from those of its operands, by the kind of
 * the node.  `room` holds the result; NULL: all are 0. */
const int64_t *rd_origins_of(const rd_expr *node, const void *facts, int64_t room[RD_MAX_RANK])
{
    const rd_expr *const x           = node->n_in > 0 ? node->in[0] : NULL;
    bool                 has_origins = false;

    for (int k = 0; k < node->n_in; k++)
        has_origins |= node->in[k] && node->in[k]->origin;
    if (!has_origins || !x)
        return NULL;
    memset(room, 0, sizeof *room * RD_MAX_RANK);
    switch (node->kind) {
    case RD_EXPR_MAP:
    case RD_EXPR_CALL:
    case RD_EXPR_COMPLEX: rd_origins_of_all(node->n_in, node->in, room); break;
    case RD_EXPR_SCAN: origins_of_kept(x, /*dims=*/0, room); break;
    case RD_EXPR_REDUCE: origins_of_kept(x, ((const rd_fold_facts *)facts)->dims, room); break;
    case RD_EXPR_SORT: origins_of_kept(x, (uint64_t)1 << (node->rank - 1), room); break;
    case RD_EXPR_TAKE: {
        const rd_axis_facts *axis  = facts;
        const rd_expr *const index = node->in[1];

        if (!index)
            return NULL;
        if (!axis->along) {
            origins_of_taken(x, index, axis->axis, room);
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
    default: return NULL; /* views state their own origins; the other kinds have none */
    }
    return rd_somewhere(node->rank, room);
}

/* ---- Origins said ---------------------------------------------------------------------------- */
/* True if a caller's origins (first indices) are as many as the axes, and within 2^62, so that
 * indices do not overflow.  False after recording for `call`. */
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

/* The first index along each axis of x; for NULL a list with n of -1. */
rd_index rd_origin_of(const rd_expr *x)
{
    rd_index origin = { .n = x ? x->rank : -1 };

    for (int a = 0; a < origin.n; a++)
        origin.at[a] = rd_origin(x, a);
    return origin;
}
