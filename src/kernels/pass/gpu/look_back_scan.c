/* look_back_scan.c - scans along rows in one pass (decoupled look-back): ranges are tiles, which
 * blocks of threads take in order.  A block of threads loads its tile, one state for each
 * element, and scans these within blocks of the combine tree.  It stores the partials of the
 * tile's blocks, looks back for the prefix of earlier tiles, and computes results while the
 * elements are in registers:
 *
 *     begin f0                    items i1 to 100000 by 4096, starts m0, stops m1, ranges, in order
 *     serial i1 to 100000           array a1
 *       r0 = load s0[..]            begin f0
 *       r1 = prefix f0 ..: r0       serial i1 from m0 to m1 by 512, starts m2, 8 ahead
 *       s1[..] = r1                   threads i1 from m2 to m2 + 512 by 4, starts m3
 *                                       vector i1 from m3 to least(m3 + 4, m1)
 *                                         r0 = load s0[..] by 4
 *                                         step f0 at i1 - m0, lane i1: r0
 *                                   scan blocks f0
 *                                   barrier
 *                                   store partials f0 to a2
 *                                   build tree f0 in a2
 *                                   look back f0 from a2, step m0
 *                                   barrier
 *                                   the same loops
 *                                     r1 = scan result f0 at i1 - m0, lane i1
 *                                     s1[..] = r1 by 4
 *
 * If the loop runs backwards, its tiles and their threads are counted from the end.
 *
 * A partial is the node (result) of a block of steps that a tile stores for later tiles.  A mark
 * (m0) is an axis that is bound to where the current round of a loop begins or ends.
 *
 * Words. A fold is a reduction or a scan. A team is the threads that do one item of work. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* The state that the functions of this file share. */
typedef struct look_back {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            ranges; /* the kernel, then the loop over tiles     */
    rd_for             of;     /* the loop over elements, as it was         */
    rd_for             tiles;  /* the loop over tiles                       */
    int64_t            round;  /* elements of a block of threads                */
} look_back;

/* Returns the position mark + offset. A mark is an axis of the tree that is bound to the first
 * index of a loop's current round (start_mark), or to the one behind its last (stop_mark). */
static rd_linear mark(const look_back *w, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(w->t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* Returns the position end - mark - offset: a place that a backward scan counts from the end of
 * its loop. A mark is an axis bound to the first index of a round, or to the one behind its
 * last. */
static rd_linear from_end(const look_back *w, int32_t axis, int64_t offset)
{
    const rd_linear end = rd_linear_plus_axis(w->t, w->of.to.part[0].at, /*coef=*/-1, axis);

    return rd_linear_plus(w->t, end, /*coef=*/1, rd_linear_of(-offset));
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Returns a loop over the scan's axis, of another kind, step and extent. Its start mark, an axis
 * bound to the first index of a round, is a new one. It goes upwards and comes from no loop of
 * the program (`program_loop` -1). */
static rd_for loop_of(const look_back *w, rd_for_kind kind, int64_t step, int64_t extent)
{
    rd_for made = w->of;

    made.kind         = kind;
    made.step         = step;
    made.extent       = extent;
    made.start_mark   = rd_add_mark(w->t);
    made.stop_mark    = -1;
    made.backwards    = false;
    made.program_loop = -1;
    return made;
}

/* Puts a vector loop around the body of a loop over threads: the `width` adjacent elements of a
 * thread, from the mark `start`, its first one. The tile may end before: so the stop of the tile
 * is a second upper bound (the least bound counts). In a backward scan the tile's stop is
 * counted from the end, and is a second lower bound (the greatest counts). */
static void put_neighbours(const look_back *w, int32_t loop, int32_t start)
{
    rd_for vector = loop_of(w, RD_FOR_VECTOR, /*step=*/1, w->plan->width);

    vector.start_mark = -1; /* it binds no mark */
    vector.from       = rd_edge_of(mark(w, start, /*offset=*/0));
    vector.to         = rd_edge_of(mark(w, start, w->plan->width));
    if (w->of.backwards)
        rd_edge_add(&vector.from, from_end(w, w->tiles.stop_mark, /*offset=*/0));
    else
        rd_edge_add(&vector.to, mark(w, w->tiles.stop_mark, /*offset=*/0));
    rd_put_loop_around(w->t, w->t->stmt[loop].first, w->t->stmt[loop].last, &vector);
}

/* Puts a loop over the threads of the block around the body of a round, which begins at the mark
 * `start` (an axis bound to the round's first index). In a backward scan the mark is counted
 * from the end of the array: the round is the `round` elements that end at end - start. */
static void put_threads(const look_back *w, int32_t loop, int32_t start)
{
    rd_for  threads = loop_of(w, RD_FOR_THREAD, w->plan->width, w->plan->team);
    int32_t made;

    threads.backwards = w->of.backwards;
    threads.from =
        rd_edge_of(w->of.backwards ? from_end(w, start, w->round) : mark(w, start, /*offset=*/0));
    threads.to =
        rd_edge_of(w->of.backwards ? from_end(w, start, /*offset=*/0) : mark(w, start, w->round));
    made = rd_put_loop_around(w->t, w->t->stmt[loop].first, w->t->stmt[loop].last, &threads);
    if (!w->t->failed)
        put_neighbours(w, made, threads.start_mark);
}

/* Makes the loop over all elements a loop over the rounds of a tile: `round` elements, `width`
 * for each thread of the block. The loads of all rounds of a tile are issued as one batch. A
 * backward scan counts its rounds from the end, so they get an axis of their own. */
static void make_rounds(const look_back *w, int32_t loop)
{
    rd_schedule *t      = w->t;
    rd_for       rounds = loop_of(w, RD_FOR_SERIAL, w->round, w->plan->chunk / w->round);

    rounds.axis         = w->of.backwards ? rd_add_mark(t) : w->of.axis;
    rounds.from         = rd_edge_of(mark(w, w->tiles.start_mark, /*offset=*/0));
    rounds.to           = rd_edge_of(mark(w, w->tiles.stop_mark, /*offset=*/0));
    rounds.program_loop = w->of.program_loop;
    rounds.prefetched   = (int32_t)rounds.extent;
    if (t->failed)
        return;
    t->loop[t->stmt[loop].arg] = rounds;
    put_threads(w, loop, rounds.start_mark);
}

/* Puts the loop over tiles around the item's body; w->tiles is a copy of it. Blocks of threads
 * take tiles in order (in_order), as a tile waits for the earlier ones. A backward scan counts
 * tiles from the end, by an axis of its own. */
static void put_tiles_around(look_back *w, int32_t loop)
{
    rd_for *l;

    w->ranges = rd_gpu_add_range_loop(w->t, w->plan, rd_innermost_item_loop(w->t, w->ranges), loop);
    if (w->t->failed)
        return;
    if (w->of.backwards) {
        const int32_t axis = rd_add_mark(w->t);

        w->t->loop[w->t->stmt[w->ranges].arg].axis = axis;
    }
    l            = &w->t->loop[w->t->stmt[w->ranges].arg];
    l->in_order  = true;
    l->backwards = false;
    w->tiles     = *l;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Adds an array of states (accumulators) of a fold, one for each element of a tile, in registers
 * of the threads. per_thread: the elements of a tile divided by the threads of the block. */
static int32_t add_elements(const look_back *w, int32_t fold)
{
    rd_tree_array elements = w->t->store[fold];

    elements.storage     = RD_IN_LOCAL;
    elements.per_element = true;
    elements.extent      = w->plan->chunk;
    elements.per_thread  = (int32_t)(w->plan->chunk / w->plan->team);
    return rd_add_store(w->t, &elements);
}

/* Returns the position of an element in its tile: its step in the fold, which is lane + rows *
 * outer (see rd_fold), less the first index of the tile. */
static rd_linear place_in_tile(const look_back *w, int32_t stmt)
{
    const rd_stmt  *s    = &w->t->stmt[stmt];
    const int64_t   rows = rd_rows_of_lanes(&w->t->p->fold[s->fold]);
    const rd_linear step = rd_linear_plus(w->t, s->fold_at.lane, rows, s->fold_at.lane_line);

    return rd_linear_plus_axis(w->t, step, /*coef=*/-1, w->tiles.start_mark);
}

/* Removes the operands of a step: element, weight and mask. A SCAN_RESULT, which returns a
 * result from states that have their elements, takes none. */
static void drop_operands(rd_stmt *s)
{
    s->x = s->weight = s->mask = -1;
}

/* Changes a PREFIX, which takes an element and returns the scan's result so far. In the first
 * loop (`early`) it becomes a STEP that only takes the element; in the second one a SCAN_RESULT,
 * which returns the result. Both use the state (accumulator) of this element
 * (`fold_at.state_offset`, its place in the tile) in the array `elements`. */
static void split_prefix(const look_back *w, int32_t stmt, bool early, int32_t elements)
{
    const rd_linear at = place_in_tile(w, stmt);
    rd_stmt *const  s  = &w->t->stmt[stmt];

    s->fold_at.state_offset = at;
    s->store                = elements;
    s->kind                 = early ? RD_S_STEP : RD_S_SCAN_RESULT;
    if (early)
        s->n_value = 0;
    else
        drop_operands(s);
}

/* Changes all PREFIX statements (they take an element and return the scan so far) of the first
 * loop (`early`) or the second one. elements[fold] is the array of states (accumulators). The
 * first loop needs no stores, as results come from the second one. Tests for a new block
 * (PUSH_IF_NEW) go, as SCAN_BLOCKS does whole blocks. Values that nobody reads then are removed. */
static void split_prefixes_in(const look_back *w, int32_t loop, bool early, const int32_t *elements)
{
    rd_schedule *t = w->t;

    for (int32_t s = loop, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, loop);
        if (t->stmt[s].kind == RD_S_PREFIX)
            split_prefix(w, s, early, elements[t->stmt[s].fold]);
        else if (t->stmt[s].kind == RD_S_PUSH_IF_NEW || (early && t->stmt[s].kind == RD_S_STORE))
            rd_take_out(t, s);
    }
    rd_gpu_remove_dead_values(t, loop);
}

/* Lets the vector loads of the second loop use what the same loads of the first one have brought
 * to registers (loaded_by). Both loops have the same statements, so `a` and `b` visit them side
 * by side. */
static void keep_loads(const look_back *w, int32_t early, int32_t late)
{
    rd_schedule *t = w->t;

    for (int32_t a = early, b = late; a >= 0 && b >= 0; a = rd_next_stmt(t, a, early)) {
        if (t->stmt[a].kind == RD_S_LET && t->stmt[a].vector_width)
            t->stmt[b].loaded_by = a;
        b = rd_next_stmt(t, b, late);
    }
}

/* ---- Look-back ------------------------------------------------------------------------------- */
/* Adds a statement of a fold before the statement `behind`. states: the array of the elements'
 * states (accumulators); nodes: the array of partials in global memory, which STORE_PARTIALS and
 * LOOK_BACK name as `arg`, and BUILD_TREE as `store`. LOOK_BACK names the tile's first step
 * (`at`). */
static void put_stmt(const look_back *w, rd_stmt_kind kind, int32_t fold, int32_t states,
                     int32_t nodes, int32_t behind)
{
    rd_stmt s = rd_stmt_of(kind);

    s.fold  = fold;
    s.store = kind == RD_S_BUILD_TREE ? nodes : states;
    s.arg   = kind == RD_S_STORE_PARTIALS || kind == RD_S_LOOK_BACK ? nodes : -1;
    s.at    = kind == RD_S_LOOK_BACK ? mark(w, w->tiles.start_mark, /*offset=*/0) : rd_linear_of(0);
    rd_put_before(w->t, rd_add_stmt(w->t, &s), behind);
}

/* Adds what stands between both loops. All threads scan the blocks of the tile. Behind a barrier
 * the tile's nodes (partial results in the combine tree) are stored and combined, and LOOK_BACK
 * waits for the nodes of earlier tiles. A second barrier shows the prefix to all threads. */
static void put_between(const look_back *w, int32_t late, const int32_t *elements)
{
    const int32_t n = w->t->p->n_fold;

    for (int32_t k = 0; k < n; k++)
        put_stmt(w, RD_S_SCAN_BLOCKS, k, elements[k], /*nodes=*/-1, late);
    put_stmt(w, RD_S_BARRIER, /*fold=*/-1, /*states=*/-1, /*nodes=*/-1, late);
    for (int32_t k = 0; k < n && !w->t->failed; k++) {
        const int32_t nodes = rd_gpu_add_partials(w->t, w->plan, k);

        put_stmt(w, RD_S_STORE_PARTIALS, k, elements[k], nodes, late);
        put_stmt(w, RD_S_BUILD_TREE, k, elements[k], nodes, late);
        put_stmt(w, RD_S_LOOK_BACK, k, elements[k], nodes, late);
    }
    put_stmt(w, RD_S_BARRIER, /*fold=*/-1, /*states=*/-1, /*nodes=*/-1, late);
}

/* Lets the statements of the tile that begin the folds, or declare their states, name the arrays
 * with a state (accumulator) for each element: elements[k] is that of fold k. */
static void begin_elements(const look_back *w, const int32_t *elements)
{
    rd_schedule *t = w->t;

    for (int32_t s = t->stmt[w->ranges].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN || t->stmt[s].kind == RD_S_ARRAY)
            t->stmt[s].store = elements[t->store[t->stmt[s].store].fold];
}

/* Splits the loop `early` into the two loops of a tile: one takes the elements, its copy `late`
 * returns results. The look-back stands between them. */
static void make_tiles(look_back *w, int32_t early)
{
    int32_t elements[RD_GPU_MOST_LOOK_BACK] = { 0 }, late;

    put_tiles_around(w, early);
    if (!w->t->failed)
        make_rounds(w, early);
    for (int32_t k = 0; k < w->t->p->n_fold && !w->t->failed; k++)
        elements[k] = add_elements(w, k);
    late = rd_stmt_copy(w->t, early);
    rd_put_behind(w->t, late, early);
    if (w->t->failed)
        return;
    begin_elements(w, elements);
    keep_loads(w, early, late);
    split_prefixes_in(w, late, /*early=*/false, elements);
    split_prefixes_in(w, early, /*early=*/true, elements);
    put_between(w, late, elements);
}

/* The pass: makes the scan of the first kernel a single pass over tiles with look-back, if the
 * plan (the backend's decisions about the kernel) says so. A round of a tile is `width` elements
 * for each thread of the block. loop < 0: the plan splits no loop. */
void rd_pass_gpu_look_back_scan(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);
    const int32_t loop =
        kernel < 0
            ? -1
            : rd_gpu_next_split_loop(t, plan, rd_innermost_item_loop(t, kernel), /*last=*/-1);

    if (plan->scans != RD_GPU_SCANS_LOOK_BACK || loop < 0)
        return;
    look_back w = { .t      = t,
                    .plan   = plan,
                    .ranges = kernel,
                    .of     = *rd_loop_of(t, loop),
                    .round  = (int64_t)plan->team * plan->width };

    make_tiles(&w, loop);
}
