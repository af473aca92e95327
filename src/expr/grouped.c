/* grouped.c - sorts rows by group, and by value inside each group.
 *
 *     values 3 1 2, labels 1 0 1  ->  sorted 1 2 3, group 0 1 1, count 1 2, first 0 1
 *
 * Two stable sorts, first by value and then by group, sort by both.  Group numbers are short
 * unsigned ints, and the second sort takes one pass for each of their bytes.  No work is done
 * per group, so there may be as many groups as elements. */
#include "expr/grouped.h"
#include "expr/maps.h"
#include "expr/origin.h"

/* The number of groups; a reduction without labels has one group. */
int64_t rd_grouped_number(const rd_folding *f)
{
    return f->label ? f->n_group : 1;
}

/* The narrowest unsigned type that holds 0 to n, for group numbers: the sort takes a pass for each
 * byte. */
static rd_dtype number_type(int64_t n)
{
    return n <= UINT8_MAX ? RD_U8 : n <= UINT16_MAX ? RD_U16 : n <= UINT32_MAX ? RD_U32 : RD_U64;
}

/* Makes the group number of each element of f->x, as rows (the reduced axes as one last axis).  It
 * is n_group, one more than the last group, for elements whose label is outside the range, or that
 * the mask leaves out; they sort last. */
rd_expr *rd_grouped_label(const rd_folding *f)
{
    rd_ctx *const  ctx   = f->x->ctx;
    const int64_t  n     = rd_grouped_number(f);
    rd_expr *const zero  = rd_number(ctx, RD_I64, rd_word_from_int(0, RD_I64));
    rd_expr *const label = f->label ? f->label : zero ? rd_folding_beside(f, zero, RD_I64) : NULL;
    rd_expr *inside = map_2(RD_OP_and, f->call, map_2(RD_OP_ge, f->call, label, rd_int(ctx, 0)),
                            map_2(RD_OP_lt, f->call, label, rd_int(ctx, n)));

    if (f->where)
        inside = map_2(RD_OP_and, f->call, inside, f->where);
    rd_expr *const y    = map_where(f->call, inside, label, rd_int(ctx, n));
    rd_expr *const rows = y ? rd_folding_rows(f, y) : NULL;

    return rows ? rd_cast_to(rows, number_type(n)) : NULL;
}

/* Counts the elements of each group (g->count) and finds where they begin in the sorted rows
 * (g->first), by an exclusive scan of the counts.  False after a failure. */
static bool count_groups(rd_grouped *g)
{
    rd_expr *const by[] = { g->label };
    rd_expr       *one  = rd_number(g->label->ctx, RD_I64, rd_word_from_int(1, RD_I64));

    one = one ? rd_broadcast_to(one, g->label->rank, g->label->extent, g->call) : NULL;
    g->count =
        one ? rd_sum(one, RD_DIMS(-1), .by = { by, 1 }, .groups = RD_SHAPE(g->n_group)) : NULL;
    g->first = g->count ? rd_scan(g->count, "sum", RD_DIMS(-1), .exclusive = true) : NULL;
    return g->first != NULL;
}

/* Sorts the rows of x by value, then by group, both stably, and fills in `g`.  The second sort
 * orders the labels, which were gathered in the order of the first.  False after a failure. */
bool rd_grouped_begin(rd_grouped *g, const rd_folding *f, rd_expr *x)
{
    rd_expr *by_value, *label, *by_group;
    int      last;

    *g = (rd_grouped){ .call = f->call, .n_group = rd_grouped_number(f) };
    if (!(x = rd_folding_rows(f, x)) || !(g->label = rd_grouped_label(f)) || !count_groups(g))
        return false;
    last     = x->rank - 1;
    by_value = rd_argsort(x, last);
    label    = by_value ? rd_take_places_along(g->label, last, by_value) : NULL;
    by_group = label ? rd_argsort(label, last) : NULL;
    g->group = by_group ? rd_take_places_along(label, last, by_group) : NULL;
    /* both permutations as one */
    by_group  = by_group ? rd_take_places_along(by_value, last, by_group) : NULL;
    g->sorted = by_group ? rd_take_places_along(x, last, by_group) : NULL;
    return g->group && g->sorted;
}

/* Gathers the elements of rows at one position for each group, clamped to the row.  A group without
 * elements gets an element of another, which the caller replaces. */
rd_expr *rd_grouped_take(const char *call, rd_expr *rows, rd_expr *place)
{
    if (!rows || !place)
        return NULL;
    const int     last = rows->rank - 1;
    const int64_t n    = rows->extent[last];

    place = map_2(RD_OP_maximum, call, place, rd_int(rows->ctx, 0));
    place = map_2(RD_OP_minimum, call, place, rd_int(rows->ctx, n - 1));
    return place ? rd_take_places_along(rows, last, place) : NULL;
}

/* Makes the result for rows without elements: `nothing`, broadcast to the axes that are not reduced
 * and the groups. */
rd_expr *rd_grouped_of_nothing(const rd_folding *f, rd_expr *nothing)
{
    int64_t extent[RD_MAX_RANK];
    int     rank = 0;

    for (int a = 0; a < f->x->rank; a++)
        if (!(f->bits >> a & 1))
            extent[rank++] = f->x->extent[a];
    if (rank == RD_MAX_RANK)
        return rd_fail(f->x->ctx, RD_ERR_SHAPE, "%s: the result has more than %d axes", f->call,
                       RD_MAX_RANK);
    extent[rank++] = rd_grouped_number(f);
    return nothing ? rd_broadcast_to(nothing, rank, extent, f->call) : NULL;
}

/* Gives y, which has the axes not reduced and then that of groups, the axes that the caller of f
 * asked for.  Without labels the only group is selected. */
rd_expr *rd_grouped_as_seen(const rd_folding *f, rd_expr *y)
{
    y = rd_folding_origins(f, y);
    if (f->label)
        return rd_folding_as_seen(f, y);
    return y ? rd_folding_kept(f, rd_select_place(y, /*axis=*/-1, /*place=*/0)) : NULL;
}
