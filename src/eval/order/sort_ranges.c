/* sort_ranges.c - sorts several rows at a time.
 *
 * Rows across memory, such as columns of a matrix, would read one element of each cache line.
 * Short rows have a fixed cost that exceeds the sort.  So rows are processed in ranges that fit
 * in an L2 cache, with a loop for each step:
 *
 *    for i: { fill a row; sort it; read it }
 *      ->  for ranges of i: { for i: fill;  for i: sort;  for i: read }
 *
 * A range is a tile of rows that are sorted one after the other.  Filling a row may run further
 * loops. */
#include "eval/order/order.h"

/* Elements beyond this stride share no cache line. */
enum { FAR = 16 };
/* Rows of a range: FEWEST at least, MOST at most, and rows of SHORT words are always worth it. */
enum { FEWEST = 4, ACROSS = 16, MOST = 64, SHORT = 256 };
static const int64_t RANGE_BYTES = RD_L2_BYTES / 2;

/* The value of an item that is no loop. */
static const rd_value *value_of(const rd_tree *tree, const rd_item *item)
{
    return &tree->graph->value[item->value];
}

/* True if the item sorts a row. */
static bool is_sort(const rd_tree *tree, const rd_item *item)
{
    return !item->loop && value_of(tree, item)->kind == RD_VALUE_SORT;
}

/* Number of elements of a row that value v sorts. */
static int64_t length_of(const rd_value *v)
{
    return v->expr->in[0]->extent[v->expr->rank - 1];
}

/* Bytes of one row and of its results, for all sorts in this loop body; 0: nothing is sorted
 * here. */
static int64_t bytes_of_rows(const rd_tree *tree, const rd_loop_scope *loop)
{
    int64_t bytes = 0;

    for (const rd_item *item = loop->first; item; item = item->next)
        if (is_sort(tree, item)) {
            const rd_value *v = value_of(tree, item);
            bytes += length_of(v) * rd_dtype_size(v->expr->in[0]->type) +
                     rd_points_of(tree->graph, rd_bit(v->inner)) * rd_dtype_size(v->type);
        }
    return bytes;
}

/* True if something read in the loop is contiguous along the axis, and so far apart along the loop
 * that each element is in another cache line. use[u] are the values that a stored one reads; FAR
 * is that distance in elements. */
static bool lies_across(const rd_tree *tree, const rd_loop_scope *loop, int axis)
{
    for (const rd_item *item = loop->first; item; item = item->next) {
        const rd_materialised *a =
            item->loop ? NULL : &tree->materialised[tree->number[item->value]];

        if (item->loop && lies_across(tree, item->loop, axis))
            return true;
        for (int u = 0; a && u < a->n_use; u++) {
            const int value = a->use[u].value;

            if (rd_in(tree->graph->value[value].axes, axis) &&
                rd_stride_of(tree, value, axis) == 1 && rd_stride_of(tree, value, loop->axis) > FAR)
                return true;
        }
    }
    return false;
}

/* True if a loop that fills rows reads across memory: what it reads is contiguous along the loop
 * over rows, not along itself. Neighbouring rows should then be filled together. */
static bool rows_lie_across(const rd_tree *tree, const rd_loop_scope *loop)
{
    for (const rd_item *item = loop->first; item; item = item->next)
        if (item->loop && lies_across(tree, item->loop, loop->axis))
            return true;
    return false;
}

/* True if elements of a row are reductions of their own, such as distances of points, with SIMD
 * lanes not along `axis`, the loop over rows. Neighbouring rows then read the same operands and
 * should share loops. */
static bool has_fold_of_elements(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v = item->loop ? NULL : value_of(tree, item);

        if (v ? v->kind == RD_VALUE_REDUCE && v->combine->lane_axis != axis
              : item->loop && has_fold_of_elements(tree, item->loop, axis))
            return true;
    }
    return false;
}

/* True if loops before the sort fill a row with reductions, such as distances of points. */
static bool rows_are_folds(const rd_tree *tree, const rd_loop_scope *loop)
{
    for (const rd_item *item = loop->first; item && !is_sort(tree, item); item = item->next)
        if (item->loop && has_fold_of_elements(tree, item->loop, loop->axis))
            return true;
    return false;
}

/* True if a reduction or scan in the scope goes along the axis, in order, so that the loop must
 * stay whole. */
static bool runs_along(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop ? runs_along(tree, item->loop, axis)
                       : rd_in(value_of(tree, item)->reduced, axis))
            return true;
    return false;
}

/* The number of rows to fill and sort together in a range; 0: one row at a time. They must fit in
 * RANGE_BYTES. Long rows are worth a range only if they lie across memory, or their elements are
 * reductions. 0 also if nothing is sorted here (bytes 0), for loops that are tiled or run
 * backwards, and if a reduction goes along the loop. Long: more than SHORT words of 8 bytes, in
 * all sorts of the body. */
static int64_t rows_of(const rd_tree *tree, const rd_loop_scope *loop)
{
    const int64_t bytes = bytes_of_rows(tree, loop), extent = tree->graph->axis[loop->axis].extent;
    int64_t       rows = MOST;

    if (!bytes || loop->tile || loop->backwards || runs_along(tree, loop, loop->axis))
        return 0;
    while (rows > FEWEST && rows * bytes > RANGE_BYTES)
        rows /= 2;
    if (rows * bytes > RANGE_BYTES || extent < 2 * FEWEST)
        return 0;
    if (bytes > SHORT * 8 && !rows_lie_across(tree, loop) && !rows_are_folds(tree, loop))
        return 0;
    return rows;
}

/* Makes the loop of item `at` a tile loop over ranges of so many rows. Each sort, and all items
 * between two sorts, get a loop of their own over the range. False: no memory. */
static bool split_into_loops(const rd_tree *tree, rd_item *at, int64_t rows)
{
    rd_loop_scope *range = at->loop;
    rd_item      **end   = &range->first;

    for (rd_item *item = range->first, *next; item; item = next) {
        rd_item *last = item, *loop;

        while (!is_sort(tree, item) && last->next && !is_sort(tree, last->next))
            last = last->next;
        next       = last->next;
        last->next = NULL;
        loop       = rd_wrap_items(tree, range->axis, item);
        if (!loop)
            return false;
        *end = loop;
        end  = &loop->next;
    }
    range->tile = true;
    range->step = rows;
    return true;
}

/* Makes ranges (tiles of rows that are filled and sorted together) of the loops around sorts in a
 * scope, or lets the sorts take rows in strips (some elements at a time). False: no memory.
 * Strips are tried first; if these are made, the loop is done. */
static bool take_rows_together(const rd_tree *tree, rd_loop_scope *scope)
{
    for (rd_item *item = scope->first; item; item = item->next) {
        bool strips = false;

        if (item->loop && !rd_sort_in_strips(
                              tree, item, !runs_along(tree, item->loop, item->loop->axis), &strips))
            return false;
        const int64_t rows = item->loop && !strips ? rows_of(tree, item->loop) : 0;

        if (strips)
            continue;
        if (rows ? !split_into_loops(tree, item, rows)
                 : item->loop && !take_rows_together(tree, item->loop))
            return false;
    }
    return true;
}

/* Lets all sorts of a tree take several rows at a time, or rows in strips, where this pays off;
 * false: no memory. */
bool rd_sort_rows_in_ranges(rd_tree *tree)
{
    return take_rows_together(tree, tree->root) && rd_assign_storage(tree);
}
