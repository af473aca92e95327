/* sort_strips.c - lets sorts of the first few take rows strip by strip: a strip is made, and at
 * once the first few so far take what belongs among them.
 *
 *    for i: { for l: row[l] = ..; sort(row) }
 *      ->  for ranges of i: for strips of l: { for i: for l in the strip: row[l] = ..;
 *                                              for i: take(row) }
 *
 * The rows of a range read the same strip of the other points, and their strips stay in the
 * first-level cache.  Strips come in order on one task, as equal elements keep their order. */
#include "core/bytes.h"
#include "eval/order/order.h"

/* Bytes of a strip, and rows of a range, which together fill the first-level cache.  Where strips
 * are soon made, as of points in 3 dimensions, half of it is for what else they need: 0.94 of the
 * time for the nearest of 10,000 points.  With more dimensions each point that is read serves more
 * rows. */
enum { STRIP_BYTES = 4096, ROWS = 8, ROWS_OF_FEW = 4, FEW = 3 };

/* The value of an item that is no loop. */
static const rd_value *value_of(const rd_tree *tree, const rd_item *item)
{
    return &tree->graph->value[item->value];
}

/* True if the item sorts a row; false for NULL. */
static bool is_sort(const rd_tree *tree, const rd_item *item)
{
    return item && !item->loop && value_of(tree, item)->kind == RD_VALUE_SORT;
}

/* True if the scope (a loop body), or one inside, computes the value of that number. */
static bool computes(const rd_loop_scope *scope, int value)
{
    bool found = false;

    for (const rd_item *item = scope->first; item && !found; item = item->next)
        found = item->loop ? computes(item->loop, value) : item->value == value;
    return found;
}

/* True if the loop makes, element by element along its own axis, the rows that a sort takes, and
 * that sort may take them in strips (some elements at a time). The rows must lie in scratch
 * memory. */
static bool makes_rows_of(const rd_tree *tree, const rd_loop_scope *loop, const rd_value *sort)
{
    const rd_value *rows = sort->strips ? &tree->graph->value[sort->target] : NULL;

    return rows && rd_in(rows->axes, loop->axis) && !rd_in(sort->axes, loop->axis) &&
           tree->storage[sort->target].keep == RD_KEEP_SCRATCH && computes(loop, sort->target);
}

/* The item with the loop that makes the rows of all sorts in a scope; the sorts stand behind it.
 * NULL: there is none, so the sorts take whole rows. makes_rows_of(): the loop makes the rows of
 * this sort. */
static rd_item *maker_of(const rd_tree *tree, const rd_loop_scope *scope)
{
    rd_item *maker = scope->first;

    while (maker && !is_sort(tree, maker->next))
        maker = maker->next;
    if (!maker || !maker->loop || maker->loop->tile || maker->loop->backwards)
        return NULL;
    for (const rd_item *item = scope->first; item; item = item->next)
        if (is_sort(tree, item) && !makes_rows_of(tree, maker->loop, value_of(tree, item)))
            return NULL;
    return maker;
}

/* Puts the list of items that begins at *at into a loop over the rows of a range, if `range` is a
 * tile loop; *at becomes that loop. Else leaves them. False: no memory. */
static bool in_loop_of(const rd_tree *tree, const rd_loop_scope *range, rd_item **at)
{
    if (*at && range->tile)
        *at = rd_wrap_items(tree, range->axis, *at);
    return *at || !range->tile;
}

/* Cuts a list behind an item; returns the rest, which may be NULL. */
static rd_item *cut_behind(rd_item *item)
{
    rd_item *rest = item->next;

    item->next = NULL;
    return rest;
}

/* Takes the sorts out of a list of items, each into a loop over the rows if these come in
 * ranges; *rest gets the other items. NULL: no memory. cut_behind() takes the first item off,
 * and returns the others; in_loop_of() wraps a sort in a loop if `range` is a tile loop. */
static rd_item *loops_of_sorts(const rd_tree *tree, const rd_loop_scope *range, rd_item *list,
                               rd_item **rest)
{
    rd_item *first = NULL, **end = &first, *next;

    for (; list; list = next) {
        const bool sorts = is_sort(tree, list);

        next = cut_behind(list);
        if (sorts && !in_loop_of(tree, range, &list))
            return NULL;
        *(sorts ? end : rest) = list;
        if (sorts)
            end = &list->next;
        else
            rest = &list->next;
    }
    return first;
}

/* Puts the maker of rows into a tile loop of one round, over the current strip (some elements of a
 * row). Inside it, passes may put loops over rows into the vector loop (unroll-and-jam), so that
 * an element is loaded once for four rows. False: no memory. `size` is that of an element;
 * STRIP_BYTES are those of a strip. */
static bool in_strip_of(const rd_tree *tree, int axis, int size, rd_item **maker)
{
    *maker = rd_wrap_items(tree, axis, *maker);
    if (!*maker)
        return false;
    (*maker)->loop->tile = true;
    (*maker)->loop->step = STRIP_BYTES / size;
    return true;
}

/* Puts the maker of rows and their sorts into a loop over strips (some elements of a row at a
 * time), in order and on one task. `range`: a tile loop over rows, or the loop over them. False:
 * no memory. Items before the maker get a loop of their own before the loop over strips, and
 * items that are no sorts (rest) one behind it. */
static bool split_into_strips(const rd_tree *tree, rd_loop_scope *range, rd_item *maker)
{
    const int axis = maker->loop->axis;
    rd_item **at = &range->first, *sorts = cut_behind(maker), *rest = NULL, *strips;
    int       size = rd_dtype_size(tree->graph->value[value_of(tree, sorts)->target].type);

    if (*at != maker) {
        rd_item *last = *at;

        while (last->next != maker)
            last = last->next;
        last->next = NULL;
        if (!in_loop_of(tree, range, at))
            return false;
        for (at = &range->first; *at; at = &(*at)->next) {
        }
    }
    if (!in_loop_of(tree, range, &maker) || !in_strip_of(tree, axis, size, &maker) ||
        !(maker->next = loops_of_sorts(tree, range, sorts, &rest)) ||
        !(strips = rd_wrap_items(tree, axis, maker)) || (rest && !in_loop_of(tree, range, &rest)))
        return false;
    strips->loop->tile    = true;
    strips->loop->ordered = true;
    strips->loop->step    = STRIP_BYTES / size;
    strips->next          = rest;
    *at                   = strips;
    return true;
}

/* The most rounds that loops in the scope have for one of its own. */
static int64_t rounds_in(const rd_tree *tree, const rd_loop_scope *scope)
{
    int64_t most = 1, rounds;

    for (const rd_item *item = scope->first; item; item = item->next) {
        rounds = item->loop ? rd_bytes_times(tree->graph->axis[item->loop->axis].extent,
                                             rounds_in(tree, item->loop))
                            : 1;
        most   = rounds > most ? rounds : most;
    }
    return most;
}

/* Lets the sorts in the loop over rows of item `at` take strips (some elements of a row at a
 * time), if one loop makes their rows; *done: it is so. ranges: several rows may be taken
 * together. False: no memory. Ranges of rows need at least two ranges of ROWS. */
bool rd_sort_in_strips(const rd_tree *tree, rd_item *at, bool ranges, bool *done)
{
    rd_loop_scope *loop  = at->loop;
    rd_item       *maker = loop->tile || loop->backwards ? NULL : maker_of(tree, loop);

    *done = maker != NULL;
    if (!maker)
        return true;
    if (ranges && tree->graph->axis[loop->axis].extent >= 2 * ROWS) {
        loop->tile = true;
        loop->step = rounds_in(tree, maker->loop) <= FEW ? ROWS_OF_FEW : ROWS;
    }
    return split_into_strips(tree, loop, maker);
}
