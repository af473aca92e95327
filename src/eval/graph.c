/* graph.c - facts about values that several stages need. */
#include "eval/ir.h"
#include <string.h>

/* The product of the extents of some axes; INT64_MAX on overflow. */
int64_t rd_points_of(const rd_graph *graph, rd_set axes)
{
    int64_t points = 1;

    for (int a = 0; a < graph->n_axis; a++)
        if (rd_in(axes, a) && __builtin_mul_overflow(points, graph->axis[a].extent, &points))
            return INT64_MAX;
    return points;
}

/* Appends lines to the decisions that explain shows (g->why), and frees `lines`. False: no
 * memory. The pool owns the joined text. Without new lines nothing changes. */
bool rd_graph_say(rd_graph *g, rd_text *lines)
{
    const size_t old = g->why ? strlen(g->why) : 0;
    char *all = lines->n ? rd_pool_grow(g->pool, g->why, old, old + lines->n + 1, 1) : g->why;

    if (lines->n && all)
        memcpy(all + old, lines->at, lines->n + 1);
    g->why = all;
    rd_text_free(lines);
    return all || !old;
}

/* Appends a value; returns its number, -1: no memory. */
int rd_graph_add(rd_graph *g, rd_value v)
{
    if (g->n_value >= g->room_value) {
        const int32_t room = 2 * g->n_value + 8;
        rd_value     *more =
            rd_pool_grow(g->pool, g->value, (size_t)g->n_value, (size_t)room, sizeof *more);

        if (!more)
            return -1;
        g->value      = more;
        g->room_value = room;
    }
    g->value[g->n_value] = v;
    return g->n_value++;
}

/* Appends a map that copies READ number `read`, at a cost of `ops` operations an element; returns
 * its number, -1: no memory. The copy is a cast to the same type. -1 in its fields: none. */
int rd_graph_add_copy(rd_graph *g, int read, float ops)
{
    int32_t *in = rd_pool_get(g->pool, sizeof *in);

    if (!in)
        return -1;
    in[0] = read;
    return rd_graph_add(g, (rd_value){ .kind   = RD_VALUE_MAP,
                                       .type   = g->value[read].type,
                                       .op     = RD_OP_cast,
                                       .ops    = ops,
                                       .n_in   = 1,
                                       .in     = in,
                                       .slot   = -1,
                                       .target = -1,
                                       .axes   = g->value[read].axes,
                                       .inner  = -1,
                                       .group  = -1,
                                       .into   = -1,
                                       .out    = -1 });
}

/* True if some elements of a reduction may decide its result, so that a loop may end early. */
bool rd_value_may_exit(const rd_value *v)
{
    const rd_reducer_id reducer = (rd_reducer_id)v->reducer;

    return rd_reducer_is_users(reducer) ? v->expr->as.fold->user->done != NULL
                                        : rd_reducer_decides(reducer);
}

/* The axes of a group-by's groups and of a reducer's several outputs: dims of its result that no
 * loop runs along. */
rd_set rd_own_dims(const rd_value *v)
{
    return (v->inner >= 0 ? rd_bit(v->inner) : 0) | (v->group >= 0 ? rd_bit(v->group) : 0);
}

/* The set of axes over which the evaluation of a value loops; empty for a JOIN, which is only
 * storage for a concatenation. */
rd_set rd_space(const rd_value *v)
{
    return v->kind == RD_VALUE_JOIN ? 0 : (v->axes | v->reduced) & ~rd_own_dims(v);
}

/* True if the scan runs along the SIMD lane axis of the reduction. In one loop with the scan,
 * which goes element after element, the reduction could not use its lanes. */
static bool scans_neighbours(const rd_value *scan, const rd_value *fold)
{
    return scan->kind == RD_VALUE_SCAN && fold->kind == RD_VALUE_REDUCE && fold->combine &&
           fold->combine->lane_axis >= 0 && rd_in(fold->axes, fold->combine->lane_axis) &&
           rd_in(scan->reduced, fold->combine->lane_axis);
}

/* True if the reader needs another loop than value v, which it reads: it keeps an axis that v must
 * have reduced before, or it scans along the axis of v's SIMD lanes. */
bool rd_needs_own_loop(const rd_value *reader, const rd_value *v)
{
    return (v->reduced & rd_space(reader) & ~reader->reduced) != 0 || scans_neighbours(reader, v);
}

/* True for a group-by reduction whose labels are the row numbers of a sparse pattern's elements. */
bool rd_is_row_reduction(const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE && v->group >= 0 &&
           v->expr->as.fold->of_pattern == RD_PATTERN_ROWS;
}

/* Distance in elements from a row reduction's labels to the array of where each row begins, the
 * row pointer of CSR, which lies right behind them. 0: there is none, or only a part of the labels
 * is read. Labels are operand 3, seen through casts. They must be read from the first to the
 * last along the only reduced axis (order[0]), whose extent is then the distance. */
int64_t rd_row_begins_distance(const rd_graph *g, const rd_value *v)
{
    const rd_value *label;

    if (!rd_is_row_reduction(v) || v->combine->n_order != 1)
        return 0;
    label = &g->value[v->in[3]];
    while (label->kind == RD_VALUE_MAP && label->op == RD_OP_cast)
        label = &g->value[label->in[0]];
    if (label->kind != RD_VALUE_READ || label->slot < 0 ||
        !rd_subscript_is_axis(&label->at[0], v->combine->order[0]) ||
        g->slot[label->slot].expr->extent[0] != g->axis[v->combine->order[0]].extent)
        return 0;
    return g->axis[v->combine->order[0]].extent;
}

/* True for a read at an index that is read from memory. */
bool rd_is_gathered(const rd_value *v)
{
    for (int d = 0; d < v->n_at && v->kind == RD_VALUE_READ; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0)
                return true;
    return false;
}

/* True for a value that is always stored: a reduction, scan, join or sort, a result (out), a part
 * of a concatenation (into), or a whole array. */
bool rd_is_materialised_kind(const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE || v->kind == RD_VALUE_SCAN || v->kind == RD_VALUE_JOIN ||
           v->kind == RD_VALUE_SORT || v->out >= 0 || v->into >= 0 ||
           (v->is_whole_array && v->kind != RD_VALUE_READ);
}

/* True if the reducer needs the flat C-order index of each element, as argmax does. */
bool rd_needs_flat_index(const rd_value *v)
{
    const rd_reducer_id reducer = (rd_reducer_id)v->reducer;

    return rd_reducer_places(reducer) || rd_reducer_is_users(reducer);
}

/* True if the subscript is exactly the index of that axis. */
bool rd_subscript_is_axis(const rd_subscript *at, int axis)
{
    return at->offset == 0 && at->n_term == 1 && at->term[0].axis == axis && at->term[0].coef == 1;
}

/* The axes over which a subscript varies, also through gathered indices. */
rd_set rd_subscript_axes(const rd_graph *graph, const rd_subscript *at)
{
    rd_set axes = 0;

    for (int t = 0; t < at->n_term; t++)
        axes |=
            at->term[t].axis >= 0 ? rd_bit(at->term[t].axis) : graph->value[at->term[t].value].axes;
    return axes;
}
