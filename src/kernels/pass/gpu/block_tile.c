/* block_tile.c - reductions along both axes of an array, in one read of it.  An item is a block
 * tile: one block of the columns' combine trees (64 rows) by one block of the rows' trees (64
 * steps of all lanes):
 *
 *     begin f0                      items i1 to 512 by 64, starts m0, stops m1, ranges
 *     serial i1 to 512                items i0 to 8192 by 4096, starts m2, stops m3, ranges
 *       begin f1                        begin f1
 *       serial i0 to 8192   becomes     serial i0 from m2 to m3 by 64, starts m4, by team, in turns
 *         r0 = load ..                    begin f0
 *         step f0 cell i0, ..             serial i1 from m0 to m1, 8 ahead
 *         step f1 cell 0, lane i0, ..       threads i0 from m4 to m4 + 64 by 4, starts m6
 *       r1 = finish f1 cell 0                 vector i0 from m6 to least(m6 + 4, m3)
 *       s2[i1] = r1                             r0 = load .. by 4
 *     serial i0 to 8192                         step f0 cell i0, lane 0, line i1
 *       r2 = finish f0 cell i0                  step f1 cell 0 at 64*(i1 - m0), lane i0, line 0
 *       s1[i0] = r2                       store partials f0 to a2
 *                                       store partials f1 to a3
 *                                       if last of ranges of i0
 *                                         combine partials f1 from a3
 *                                         serial i1 from m0 to m1, by team
 *                                           r1 = finish f1 cell 0 at 64*(i1 - m0)
 *                                           s2[i1] = r1
 *                                       if last of ranges of i1
 *                                         combine partials f0 from a2
 *                                         vector i0 from m2 to m3, by block
 *                                           r2 = finish f0 cell i0
 *                                           s1[i0] = r2
 *
 * A team has as many columns as a row has lanes, and goes down the rows.  States of columns are
 * in registers.  States of the rows' lanes are in shared memory, where the next team finds them.
 * Either loop may be the outer one.  Rows that are one tile wide end without partials.
 *
 * A partial is what one tile leaves of a fold, for the last tile to combine.  A lane is one of the
 * states of a row, to which its elements go in turn.  A mark (m0) is an axis that is bound to where
 * the current round begins or ends. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/block_tile.h"

/* Statements behind the outer loop, at most. */
enum { MOST_BEHIND = 64 };

/* Returns the affine position mark + offset. A mark is an axis of the tree that a loop binds to
 * the first index of its current round (start_mark), or to the index behind the last one
 * (stop_mark). */
static rd_linear mark(const rd_block_tile *c, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(c->t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* Returns the number of lanes of a row, the partial accumulators to which its elements go in
 * turn: the columns that a team takes at a time, `width` adjacent ones for each thread. */
static int64_t lanes_of(const rd_block_tile *c)
{
    return (int64_t)c->plan->team * c->plan->width;
}

/* ---- The two loops --------------------------------------------------------------------------- */
/* True if the statement is the loop over rows (`which` RD_ROWS) or over columns (RD_COLUMNS)
 * that the plan names. `program_loop` of a loop is the number of the program's loop that it comes
 * from. */
static bool is_tile_loop(const rd_block_tile *c, int32_t stmt, int which)
{
    return c->t->stmt[stmt].kind == RD_S_LOOP &&
           rd_loop_of(c->t, stmt)->program_loop == c->plan->tile_loop[which];
}

/* Returns the first statement of a body that is the loop over rows or over columns; -1: none is. */
static int32_t find_tile_loop(const rd_block_tile *c, int32_t body)
{
    int32_t s = c->t->stmt[body].first;

    while (s >= 0 && !is_tile_loop(c, s, RD_ROWS) && !is_tile_loop(c, s, RD_COLUMNS))
        s = c->t->stmt[s].next;
    return s;
}

/* Finds the loop over rows and the loop over columns, of which one stands in the other, and the
 * facts of the tile that do not change. False: there are not two such loops.
 *
 * A tile is 64 steps (one block of the combine tree) along either axis: 64 rows, and 64 times
 * the lanes of a row as columns. The lanes (partial accumulators) of a fold of rows are divided
 * among threads; so a fold with thread_lanes reduces rows (`row`). */
static bool find_tile_loops(rd_block_tile *c)
{
    c->outer = find_tile_loop(c, c->item);
    c->inner = c->outer >= 0 ? find_tile_loop(c, c->outer) : -1;
    for (int k = 0; k < 2; k++)
        c->axis[k] = c->t->p->loop[c->plan->tile_loop[k]].axis;
    c->size[RD_ROWS]    = RD_TREE_STEPS;
    c->size[RD_COLUMNS] = RD_TREE_STEPS * lanes_of(c);
    if (c->inner < 0)
        return false;
    c->of_outer = is_tile_loop(c, c->outer, RD_ROWS) ? RD_ROWS : RD_COLUMNS;
    for (int32_t k = 0; k < c->t->p->n_fold; k++) {
        c->row[k]      = c->plan->fold[k].thread_lanes > 0;
        c->partials[k] = -1; /* no array of partials yet */
    }
    return true;
}

/* Puts a loop over tiles around the item's body (strip-mining): RD_FOR_ITEM, so each tile is a work
 * item. `which`: along RD_ROWS or RD_COLUMNS; `extent_of`: the statement of the loop with the
 * extent. The new loop is the innermost one over items then. `split_reduction`: the last item done
 * combines what all items leave. */
static void put_ranges_around(rd_block_tile *c, int which, int32_t extent_of)
{
    rd_for ranges = *rd_loop_of(c->t, extent_of);

    ranges.kind       = RD_FOR_ITEM;
    ranges.step       = c->size[which];
    ranges.extent     = (ranges.extent + ranges.step - 1) / ranges.step;
    ranges.start_mark = c->start_mark[which] = rd_add_mark(c->t);
    ranges.stop_mark = c->stop_mark[which] = rd_add_mark(c->t);
    ranges.program_loop                    = -1; /* from no loop of the program */
    ranges.team                            = 0;  /* only the outermost loop over items says it */
    ranges.prefetched                      = 0;
    ranges.split_reduction                 = true;
    c->n_tiles[which]                      = ranges.extent;
    c->ranges[which] =
        rd_put_loop_around(c->t, c->t->stmt[c->item].first, c->t->stmt[c->item].last, &ranges);
    c->item = c->ranges[which];
}

/* Lets a loop go from the first row (or column) of the tile to the last one, in place of the
 * whole axis. `program_loop` -1: it does not stand for a loop of the program any more, so later
 * passes do not distribute it. */
static void limit_to_tile(const rd_block_tile *c, int32_t stmt, int which)
{
    const rd_linear from = mark(c, c->start_mark[which], /*offset=*/0),
                    to   = mark(c, c->stop_mark[which], /*offset=*/0);
    rd_for *l            = &c->t->loop[c->t->stmt[stmt].arg];

    l->from         = rd_edge_of(from);
    l->to           = rd_edge_of(to);
    l->extent       = l->extent < c->size[which] ? l->extent : c->size[which];
    l->program_loop = -1;
    l->prefetched   = 0;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Moves the statements of a body, up to but without `end` (-1: all), in front of the statement
 * `before`. */
static void move_before(const rd_block_tile *c, int32_t body, int32_t end, int32_t before)
{
    for (int32_t s; (s = c->t->stmt[body].first) >= 0 && s != end && !c->t->failed;) {
        rd_take_out(c->t, s);
        rd_put_before(c->t, s, before);
    }
}

/* Returns a loop over the rows or columns (`which`) of the tile, whose bounds are the tile's
 * marks: axes bound to its first index and to the one behind its last. start_mark, stop_mark -1: it
 * binds no marks itself. `program_loop` -1: it comes from no loop of the program. `strips_number`
 * -1: it is no strip loop. */
static rd_for loop_along(const rd_block_tile *c, rd_for_kind kind, int which, int64_t step,
                         int64_t extent)
{
    return (rd_for){ .kind          = kind,
                     .axis          = c->axis[which],
                     .start_mark    = -1,
                     .stop_mark     = -1,
                     .from          = rd_edge_of(mark(c, c->start_mark[which], /*offset=*/0)),
                     .to            = rd_edge_of(mark(c, c->stop_mark[which], /*offset=*/0)),
                     .step          = step,
                     .extent        = extent,
                     .program_loop  = -1,
                     .strips_number = -1 };
}

/* Puts the four loops of a tile around its elements, the statements first .. last. From the
 * outside in:
 *
 *     groups   columns by `lanes`, dealt to the teams of the block in turn
 *     rows     the 64 rows, whose loads are issued `rows_at_once` rows ahead
 *     threads  columns by `width`: the threads of a team
 *     vector   the `width` adjacent columns of a thread; the tile's last column may end it
 *
 * Groups are skewed: each team is one row behind the team before, so that no two teams use the
 * lanes (partial accumulators) of one row at the same time. Folds of columns begin and end in a
 * group, so their states (accumulators) stay in registers. Returns the outermost loop. */
static int32_t add_element_loops(const rd_block_tile *c, int32_t first, int32_t last)
{
    const int64_t lanes = lanes_of(c), width = c->plan->width;
    rd_for        groups = loop_along(c, RD_FOR_SERIAL, RD_COLUMNS, lanes, RD_TREE_STEPS),
           rows          = loop_along(c, RD_FOR_SERIAL, RD_ROWS, /*step=*/1, RD_TREE_STEPS),
           threads       = loop_along(c, RD_FOR_THREAD, RD_COLUMNS, width, c->plan->team),
           vector        = loop_along(c, RD_FOR_VECTOR, RD_COLUMNS, /*step=*/1, width);
    int32_t made, turns;

    groups.by_team = groups.skewed = true;
    groups.start_mark              = rd_add_mark(c->t);
    rows.prefetched                = c->plan->rows_at_once;
    threads.start_mark             = rd_add_mark(c->t);
    threads.from                   = rd_edge_of(mark(c, groups.start_mark, /*offset=*/0));
    threads.to                     = rd_edge_of(mark(c, groups.start_mark, lanes));
    vector.from                    = rd_edge_of(mark(c, threads.start_mark, /*offset=*/0));
    vector.to                      = rd_edge_of(mark(c, threads.start_mark, width));
    rd_edge_add(&vector.to, mark(c, c->stop_mark[RD_COLUMNS], /*offset=*/0));
    made  = rd_put_loop_around(c->t, first, last, &vector);
    made  = rd_put_loop_around(c->t, made, made, &threads);
    turns = rd_put_loop_around(c->t, made, made, &rows);
    made  = rd_put_loop_around(c->t, turns, turns, &groups);
    rd_block_tile_begin_before(c, turns, /*row=*/false);
    rd_block_tile_store_partials(c, made, /*row=*/false);
    return made;
}

/* Makes the body of the element loops from a copy of the outer loop: first the statements before
 * the inner loop, then the inner loop's body. The original loops stay, as folds end in them.
 * Returns the outermost element loop; -1: there is no inner loop. */
static int32_t copy_elements(const rd_block_tile *c)
{
    rd_schedule  *t     = c->t;
    const int32_t copy  = rd_stmt_copy(t, c->outer);
    const int32_t inner = t->failed ? -1 : find_tile_loop(c, copy);
    int32_t       first, last;

    if (inner < 0)
        return -1;
    move_before(c, copy, inner, t->stmt[inner].first);
    first = t->stmt[inner].first;
    last  = t->stmt[inner].last;
    move_before(c, inner, /*end=*/-1, c->outer);
    return add_element_loops(c, first, last);
}

/* ---- Ends ------------------------------------------------------------------------------------ */
/* Adds "if last of ranges of i0": its body runs only in the tile that finishes last along that
 * axis. There the partials that all tiles left are combined. `row`: for the folds of rows, else
 * of columns. If a row is a single tile, nothing has to be combined, and its folds end in the
 * item itself. Returns the body in which they end. */
static int32_t add_last(const rd_block_tile *c, bool row)
{
    rd_stmt last = rd_stmt_of(RD_S_IF_LAST);
    int32_t made;

    if (row && c->n_tiles[RD_COLUMNS] == 1)
        return c->item;
    if (row)
        rd_block_tile_store_partials(c, c->item, /*row=*/true);
    last.arg = c->ranges[row ? RD_COLUMNS : RD_ROWS];
    made     = rd_add_stmt(c->t, &last);
    rd_append(c->t, c->item, made);
    for (int32_t k = 0; k < c->t->p->n_fold && !c->t->failed; k++)
        if (c->row[k] == row)
            rd_append(c->t, made, rd_block_tile_add_stmt(c, RD_S_COMBINE_PARTIALS, k));
    return made;
}

/* Distributes the loop in which folds end: rows go to the teams of the block in turn, columns to
 * all threads of the block. */
static void distribute(const rd_block_tile *c, int32_t loop, int which)
{
    rd_for *l;

    limit_to_tile(c, loop, which);
    l = &c->t->loop[c->t->stmt[loop].arg];
    if (which == RD_ROWS)
        l->by_team = true;
    else {
        l->kind     = RD_FOR_VECTOR;
        l->by_block = true;
    }
}

/* Moves the statements that end folds, and what reads their results, into the body of the last
 * tile. Folds along the inner loop end in each round of the outer loop; folds along the outer
 * loop end in the statements behind it, which behind[] lists. */
static void end_folds(const rd_block_tile *c, int which, const int32_t *behind, int32_t n_behind)
{
    const int32_t body = add_last(c, which == RD_ROWS);

    if (which == c->of_outer) {
        rd_append(c->t, body, c->outer);
        distribute(c, c->outer, which);
    }
    for (int32_t k = 0; k < n_behind && which != c->of_outer && !c->t->failed; k++) {
        rd_append(c->t, body, behind[k]);
        if (c->t->stmt[behind[k]].kind == RD_S_LOOP)
            distribute(c, behind[k], which);
    }
    if (!c->t->failed && body != c->item)
        rd_block_tile_read_combined(c, body);
}

/* ---- The whole tile -------------------------------------------------------------------------- */
/* Takes the statements behind the outer loop out of the tree and lists them in behind[]. Returns
 * how many there are. More than MOST_BEHIND, for which the list has no room, make the tree a
 * failed one. */
static int32_t take_behind(const rd_block_tile *c, int32_t *behind)
{
    int32_t n = 0;

    while (c->t->stmt[c->outer].next >= 0 && n < MOST_BEHIND) {
        behind[n] = c->t->stmt[c->outer].next;
        rd_take_out(c->t, behind[n++]);
    }
    c->t->failed |= c->t->stmt[c->outer].next >= 0;
    return n;
}

/* Makes the item a block tile (64 rows by some columns, reduced along both axes): loops over tiles
 * go around it, and the element loops inside. Folds get states (accumulators) for all rows or
 * columns of the tile, and end in the last tiles. The two loops are taken out of the tree;
 * end_folds() puts the outer one back where folds end. */
static void make_tiles(rd_block_tile *c)
{
    int32_t behind[MOST_BEHIND], n_behind, elements;

    put_ranges_around(c, RD_ROWS, c->of_outer == RD_ROWS ? c->outer : c->inner);
    put_ranges_around(c, RD_COLUMNS, c->of_outer == RD_ROWS ? c->inner : c->outer);
    rd_block_tile_drop_begins(c);
    for (int32_t k = 0; k < c->t->p->n_fold && !c->t->failed; k++)
        rd_block_tile_give_states(c, k);
    rd_block_tile_add_partials(c);
    n_behind = c->t->failed ? 0 : take_behind(c, behind);
    elements = c->t->failed ? -1 : copy_elements(c);
    if (elements < 0 || c->t->failed) {
        c->t->failed = true;
        return;
    }
    rd_block_tile_begin_before(c, elements, /*row=*/true);
    rd_take_out(c->t, c->inner);
    rd_take_out(c->t, c->outer);
    for (int which = 0; which < 2 && !c->t->failed; which++)
        end_folds(c, which, behind, n_behind);
}

/* The pass: makes the items of the first kernel block tiles, so that reductions along both axes
 * need one read of the array. tile_loop[0] < 0: the plan (the backend's decisions about the
 * kernel) wants none. The table of folds has room for RD_BLOCK_TILE_FOLDS. */
void rd_pass_gpu_block_tile(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);
    rd_block_tile c      = { .t = t, .plan = plan };

    if (plan->tile_loop[0] < 0 || kernel < 0 || t->p->n_fold > RD_BLOCK_TILE_FOLDS)
        return;
    c.item = rd_innermost_item_loop(t, kernel);
    if (find_tile_loops(&c))
        make_tiles(&c);
    else
        t->failed = true;
}
