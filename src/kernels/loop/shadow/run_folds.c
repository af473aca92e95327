/* run_folds.c - runs the statements of folds in a shadow run, and checks that each comes when it
 * may.
 *
 * A cell is one result of a fold with a state for each lane.  A block is a run of steps; the cell
 * is at one block at a time.  A finished block becomes a node of the combine tree.  A label names
 * the group that an element goes to. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Brings a cell (accumulator) to the block (a run of a fold's steps) of an element. It fails if
 * the cell is in another block that has not ended, or if the element's block has ended before. A
 * copy of the states (alias) is at a block of its own. Unordered folds may take blocks in any
 * order. */
static bool enter_block(const rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow_accumulator *c,
                        int64_t number, int64_t step)
{
    const rd_stmt   *by        = at->by;
    const rd_fold   *f         = rd_shadow_fold_of(s, by->fold);
    const int64_t    block     = step / f->steps;
    const bool       unordered = rd_shadow_is_unordered(f);
    rd_shadow_alias *alias     = rd_shadow_alias_at(s, by, number, at->more);
    int64_t         *current   = alias ? &alias->block : &c->block;

    if (*current >= 0 && *current != block && !unordered)
        return rd_shadow_fold_fails(
            s, by, "cell %" PRId64 " takes an element of block %" PRId64 " in block %" PRId64,
            number, block, *current);
    if (*current < 0 && block <= c->ended && !unordered)
        return rd_shadow_fold_fails(
            s, by, "cell %" PRId64 " takes an element of block %" PRId64 " behind it", number,
            block);
    *current = block;
    c->step  = step;
    c->first = c->first < 0 ? block : c->first;
    c->store = by->store;
    return true;
}

/* True if the lane (partial accumulator) and the step of an element exist in the fold; else a
 * failure. */
static bool must_be_in_range(const rd_shadow_folds *s, const rd_stmt *by,
                             const rd_shadow_element *e)
{
    const rd_loop_fold *f = &s->t->fold[by->fold];

    if (e->lane < 0 || e->lane >= f->lanes)
        return rd_shadow_fold_fails(s, by, "lane %" PRId32 " of %" PRId32, e->lane, f->lanes);
    if (e->step < 0 || e->step >= f->steps)
        return rd_shadow_fold_fails(s, by, "step %" PRId64 " of %" PRId64, e->step, f->steps);
    return true;
}

/* True if the array of a run of equal labels (one_label) holds the state of the element's cell
 * (accumulator), which is cell `number`. For an element whose label names no group (nowhere) it
 * must hold none. True for all other arrays. Else a failure. */
static bool must_be_at_hand(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                            bool nowhere)
{
    const rd_shadow_alias       *alias = s->alias[by->store];
    const rd_shadow_accumulator *c     = alias ? alias->of : NULL;

    return !s->t->store[by->store].one_label || (nowhere ? !c : c && c->number == number) ||
           rd_shadow_fold_fails(s, by, "the states at hand are not those of cell %" PRId64, number);
}

/* Runs a STEP on hashes: mixes the element's hash into the state of its cell (accumulator) and lane
 * (partial accumulator), in a group-by of the label's cell. False, and a failure, if a rule is
 * broken: a wrong block (a run of a fold's steps), a state that is not at hand. An element whose
 * label names no group (nowhere) changes no state. The cell must still take steps (RD_TAKES_STEPS).
 */
bool rd_shadow_take(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                    int64_t label)
{
    const rd_stmt *by      = at->by;
    const rd_fold *f       = rd_shadow_fold_of(s, by->fold);
    const bool     nowhere = f->n_group && (label < 0 || label >= f->n_group);
    const int64_t  number  = e->cell + (f->n_group && !nowhere ? label * f->group_stride : 0);
    rd_shadow_accumulator *c;
    uint64_t              *state;

    if (!must_be_at_hand(s, by, number, nowhere))
        return false;
    if (s->t->store[by->store].one_label && nowhere)
        return true;
    c     = rd_shadow_accumulator_at(s, by, number, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);
    state = c && must_be_in_range(s, by, e) ? rd_shadow_state_at(s, by, number, at->more, e->lane)
                                            : NULL;
    if (!state || (!nowhere && !enter_block(s, at, c, number, e->step)))
        return false;
    if (!nowhere)
        *state = rd_shadow_step(f, *state, e->hash);
    return true;
}

/* Adds the node of element number `at` to the tree of its block (a run of a fold's steps), as a
 * binary counter adds 1, and returns the prefix up to it. element[k] is the last node of 2^k
 * elements; the prefix joins those whose bit is set in at + 1, from the right. */
uint64_t rd_shadow_tree_prefix(const rd_fold *f, uint64_t *element, int64_t at, uint64_t node)
{
    uint64_t whole = RD_OF_NOTHING;
    int32_t  level = 0;

    for (; at >> level & 1; level++)
        node = rd_shadow_join(f, element[level], node);
    element[level] = node;
    for (level = 0; (at + 1) >> level; level++)
        if ((at + 1) >> level & 1)
            whole = rd_shadow_join(f, element[level], whole);
    return whole;
}

/* Computes the results of a scan: the prefix of earlier blocks (c->before), merged with a state
 * (accumulator) of the block (a run of a fold's steps) at hand. */
void rd_shadow_finish_prefix(const rd_fold *f, const rd_shadow_accumulator *c, uint64_t state,
                             rd_shadow *y)
{
    const uint64_t node = rd_shadow_merge(f, c->before, rd_shadow_block(f, state));

    for (int32_t k = 0; k < f->n_out; k++)
        y[k] = rd_shadow_finish(f, node, k);
}

/* Runs a PREFIX, the step of a scan: takes an element, and computes the results before it
 * (exclusive) or with it. False: a failure. The cell must still take steps (RD_TAKES_STEPS). */
bool rd_shadow_prefix(rd_shadow_folds *s, const rd_shadow_at *at, const rd_shadow_element *e,
                      rd_shadow *y)
{
    const rd_stmt         *by = at->by;
    const rd_fold         *f  = rd_shadow_fold_of(s, by->fold);
    rd_shadow_accumulator *c =
        rd_shadow_accumulator_at(s, by, e->cell, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);
    uint64_t *state = c && must_be_in_range(s, by, e)
                          ? rd_shadow_state_at(s, by, e->cell, at->more, e->lane)
                          : NULL;

    if (!state || !enter_block(s, at, c, e->cell, e->step))
        return false;
    if (f->exclusive)
        rd_shadow_finish_prefix(f, c, *state, y);
    if (f->prefix == RD_PREFIX_TREE && !rd_shadow_is_unordered(f))
        *state = rd_shadow_tree_prefix(f, c->element, e->step % f->steps,
                                       rd_shadow_step(f, RD_OF_NOTHING, e->hash));
    else
        *state = rd_shadow_step(f, *state, e->hash);
    if (!f->exclusive)
        rd_shadow_finish_prefix(f, c, *state, y);
    return true;
}

/* ---- Ends ------------------------------------------------------------------------------------ */
/* Ends the open block (a run of a fold's steps) of cell `number` (accumulator). The cell must still
 * take steps (RD_TAKES_STEPS). */
static bool push_cell(rd_shadow_folds *s, const rd_shadow_at *at, int64_t number)
{
    rd_shadow_accumulator *c =
        rd_shadow_accumulator_at(s, at->by, number, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);

    return c && rd_shadow_end_block(s, at->by, c);
}

/* Runs a PUSH: ends the open block (a run of a fold's steps) of the cell (accumulator) that the
 * statement names; of all cells (by->all_cells); or in a group-by of the cells of all groups, which
 * are at the same block. */
bool rd_shadow_push(rd_shadow_folds *s, const rd_shadow_at *at)
{
    const rd_fold *f  = rd_shadow_fold_of(s, at->by->fold);
    bool           ok = true;

    for (int64_t c = 0; at->by->all_cells && c < f->n_cell && ok; c++)
        ok = push_cell(s, at, c);
    if (at->by->all_cells)
        return ok;
    if (!f->n_group)
        return push_cell(s, at, at->coords.cell);
    for (int64_t g = 0; g < f->n_group && ok; g++)
        ok = push_cell(s, at, at->coords.cell + g * f->group_stride);
    return ok;
}

/* Checks that each block (a run of a fold's steps) of an unordered fold ends once. A second end
 * would change no hash here, but the generated C would push a node that was never written. A
 * group-by is not checked. */
static bool must_end_once(rd_shadow_folds *s, const rd_shadow_at *at, int64_t block)
{
    const rd_fold         *f = rd_shadow_fold_of(s, at->by->fold);
    rd_shadow_accumulator *c;

    if (!rd_shadow_is_unordered(f) || f->n_group)
        return true;
    c = rd_shadow_accumulator_at(s, at->by, at->coords.cell, at->more, RD_TAKES_STEPS,
                                 RD_TAKES_STEPS);
    if (c && c->ended == block)
        return rd_shadow_fold_fails(s, at->by, "block %" PRId64 " of cell %" PRId64 " ends twice",
                                    block, at->coords.cell);
    if (c)
        c->ended = block;
    return c;
}

/* Runs a PUSH_IF_LAST: ends the block (a run of a fold's steps) if the element is its last one.
 * Its step must be the block's last, and its lane (partial accumulator) the last with an element
 * in that step. `remaining`: elements along the lane position from this row of lanes on. */
bool rd_shadow_push_if_last(rd_shadow_folds *s, const rd_shadow_at *at)
{
    const rd_fold *f         = rd_shadow_fold_of(s, at->by->fold);
    const int64_t  step      = rd_shadow_step_number(f, &at->coords) + 1;
    const int64_t  lane      = at->coords.lane;
    const int64_t  remaining = f->lane_extent - lane / f->lanes * f->lanes;
    const int64_t  last_lane = (remaining < f->lanes ? remaining : f->lanes) - 1;

    if (step % f->steps || lane % f->lanes != last_lane)
        return true;
    return must_end_once(s, at, step / f->steps - 1) && rd_shadow_push(s, at);
}

/* Ends the blocks (runs of a fold's steps) of all cells (accumulators) that are open and not the
 * block of the statement's element. A cell that was not named since the fold's last BEGIN (begun),
 * or whose blocks have merged, has none open. */
static bool push_all_if_new(rd_shadow_folds *s, const rd_shadow_at *at)
{
    const int32_t  fold  = at->by->fold;
    const rd_fold *f     = rd_shadow_fold_of(s, fold);
    const int64_t  block = rd_shadow_step_number(f, &at->coords) / f->steps;
    bool           ok    = true;

    for (int64_t k = 0; k < s->n_cell[fold] && ok; k++) {
        rd_shadow_accumulator *c = s->cell[fold][k];

        if (c && c->begun == s->begun[fold] && c->progress == RD_TAKES_STEPS && c->block >= 0 &&
            c->block != block)
            ok = rd_shadow_end_block(s, at->by, c);
    }
    return ok;
}

/* Ends the block (a run of a fold's steps) of a cell (accumulator) if it is not that of the
 * element. All lanes end it together, as their threads are at the same step. */
static bool push_cell_if_new(rd_shadow_folds *s, const rd_shadow_at *at)
{
    const rd_fold               *f = rd_shadow_fold_of(s, at->by->fold);
    const rd_shadow_accumulator *c = rd_shadow_accumulator_at(s, at->by, at->coords.cell, at->more,
                                                              RD_TAKES_STEPS, RD_TAKES_STEPS);

    if (!c)
        return false;
    return c->block < 0 || c->block == rd_shadow_step_number(f, &at->coords) / f->steps ||
           rd_shadow_push(s, at);
}

/* Runs a PUSH_IF_NEW: ends blocks (runs of a fold's steps) that are not the element's, of one cell
 * (accumulator), or of all (by->all_cells). */
bool rd_shadow_push_if_new(rd_shadow_folds *s, const rd_shadow_at *at)
{
    return at->by->all_cells ? push_all_if_new(s, at) : push_cell_if_new(s, at);
}

/* Runs a MERGE_BLOCKS: ends the last block (a run of a fold's steps) of a cell (accumulator), and
 * merges its nodes, lane by lane, from the right to one row. A cell without nodes gets an empty
 * one. The cell must still take steps (RD_TAKES_STEPS). */
bool rd_shadow_merge_blocks(rd_shadow_folds *s, const rd_shadow_at *at)
{
    const rd_fold         *f      = rd_shadow_fold_of(s, at->by->fold);
    const int64_t          number = at->coords.cell;
    rd_shadow_accumulator *c =
        rd_shadow_accumulator_at(s, at->by, number, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);

    if (!c || !rd_shadow_end_block(s, at->by, c))
        return false;
    for (int32_t l = 0; l < f->lanes && c->depth == 0; l++)
        c->node[l] = RD_OF_NOTHING;
    for (int32_t row = c->depth - 2; row >= 0; row--)
        rd_shadow_merge_rows(f, c, row, row + 1);
    c->progress = RD_BLOCKS_MERGED;
    return true;
}

/* Runs a MERGE_LANES: merges the nodes of all lanes (partial accumulators) of a cell into one. Its
 * blocks must have merged before. */
bool rd_shadow_merge_lanes(rd_shadow_folds *s, const rd_shadow_at *at)
{
    rd_shadow_accumulator *c = rd_shadow_accumulator_at(s, at->by, at->coords.cell, at->more,
                                                        RD_BLOCKS_MERGED, RD_BLOCKS_MERGED);

    if (!c)
        return false;
    rd_shadow_lanes(rd_shadow_fold_of(s, at->by->fold), c->node);
    c->progress = RD_LANES_MERGED;
    return true;
}

/* Runs a FINISH: computes the results of a cell (accumulator) whose blocks (runs of a fold's steps)
 * and lanes have been merged to one node. False: a failure. With one lane, merged blocks are enough
 * (RD_BLOCKS_MERGED). */
bool rd_shadow_results(rd_shadow_folds *s, const rd_shadow_at *at, rd_shadow *y)
{
    const rd_fold               *f     = rd_shadow_fold_of(s, at->by->fold);
    const rd_shadow_progress     least = f->lanes > 1 ? RD_LANES_MERGED : RD_BLOCKS_MERGED;
    const rd_shadow_accumulator *c =
        rd_shadow_accumulator_at(s, at->by, at->coords.cell, at->more, least, RD_LANES_MERGED);

    for (int32_t k = 0; c && k < f->n_out; k++)
        y[k] = rd_shadow_finish(f, c->node[0], k);
    return c != NULL;
}

/* ---- Joins ----------------------------------------------------------------------------------- */
/* Returns a PUSH statement of the fold and the array, which names both in messages. */
static rd_stmt push_stmt(int32_t fold, int32_t store)
{
    return (rd_stmt){ .kind = RD_S_PUSH, .fold = fold, .store = store };
}

/* Joins a cell (accumulator) of two tasks that share a fold: ends the open blocks (runs of a fold's
 * steps) of both, then pushes the nodes of the next task behind those of this one. `at`: the
 * subscript that names it. False: a failure. `last` is a copy of *next that notes its failures
 * where `into` does. */
static bool join_task_cell(rd_shadow_folds *into, const rd_shadow_folds *next, int32_t fold,
                           int64_t at)
{
    const rd_fold         *f      = rd_shadow_fold_of(into, fold);
    rd_shadow_accumulator *theirs = next->cell[fold][at], *ours;
    const rd_stmt          other  = push_stmt(fold, theirs->store);
    rd_shadow_folds        last   = *next;

    last.why = into->why;
    ours     = rd_shadow_accumulator_at(into, &other, theirs->number, theirs->more, RD_TAKES_STEPS,
                                        RD_TAKES_STEPS);
    if (!ours)
        return false;
    const rd_stmt mine = push_stmt(fold, ours->store);

    if (theirs->progress != RD_TAKES_STEPS)
        return rd_shadow_fold_fails(into, &mine, "tasks share it, and it has come to rest");
    if (!rd_shadow_end_block(into, &mine, ours) || !rd_shadow_end_block(&last, &other, theirs))
        return false;
    for (int32_t row = 0; row < theirs->depth; row++) {
        for (int32_t l = 0; l < f->lanes; l++)
            ours->node[ours->depth * f->lanes + l] = theirs->node[row * f->lanes + l];
        if (!rd_shadow_push_node(into, &mine, ours, theirs->covers[row]))
            return false;
    }
    return true;
}

/* Adds the accumulators of the next task to those of this one, for each fold that tasks share
 * (split). */
bool rd_shadow_folds_join(rd_shadow_folds *into, const rd_shadow_folds *next)
{
    bool ok = true;

    for (int32_t k = 0; k < into->t->p->n_fold && ok; k++)
        for (int64_t c = 0; c < next->n_cell[k] && into->t->fold[k].split && ok; c++)
            ok = !next->cell[k][c] || join_task_cell(into, next, k, c);
    return ok;
}
