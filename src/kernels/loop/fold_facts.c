/* fold_facts.c - facts of a program's folds, in the form that loop trees and their texts need.
 *
 * Words: a cell is one result of a fold with its states.  A lane is one of its independent
 * accumulators; elements go to lanes in turn.  A step is one element of each lane.  A block is a
 * number of steps that are folded from the left.  A finished block is a node of the combine
 * tree.
 *
 * Fields. A fold of one block (n_block 1) has no combine tree. A fold has `user` if its reducer is
 * the caller's own. */
#include "kernels/loop/loop.h"
#include "core/combine_tree.h"
#include "kernels/math/prefix_sums.h"

/* True if the instruction takes an element into a fold. */
bool rd_takes_step(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

/* Returns how many steps the elements along the lane position take, ceil(lane_extent / lanes): a
 * step is one element of each lane (partial accumulator). */
int64_t rd_rows_of_lanes(const rd_fold *f)
{
    return (f->lane_extent + f->lanes - 1) / f->lanes;
}

/* True if the fold has one lane and its step is first + coef * index of the axis, with no other
 * addend.  The position is `lane_line`, or `lane` if there is no line; the other must be 0. A lane
 * is one of the partial accumulators; here there is one. lane_extent is 1 if the elements lie along
 * `lane_line`. */
bool rd_is_along(const rd_fold *f, int32_t axis, int64_t first, int64_t coef)
{
    const rd_address *one  = f->lane_line.n_add ? &f->lane_line : &f->lane,
                     *none = f->lane_line.n_add ? &f->lane : &f->lane_line;

    return f->lanes == 1 && one->n_add == 1 && one->offset == first && one->add[0].axis == axis &&
           one->add[0].coef == coef && none->n_add == 0 && none->offset == 0 &&
           (f->lane_line.n_add == 0 || f->lane_extent == 1);
}

/* Returns the program's innermost loop over steps of the fold; -1: there is one step. A step is
 * one element of each lane (partial accumulator), so a loop over the lane position counts only if
 * it has more elements than lanes. */
static int32_t loop_along(const rd_program *p, const rd_loop_fold *f)
{
    const rd_fold *fold     = f->emit.fold;
    const bool     one_step = fold->lane_extent <= fold->lanes;

    for (int32_t k = p->inst[f->step].loop; k >= 0; k = p->loop[k].parent)
        if (p->loop[k].kind == RD_LOOP_EACH &&
            (rd_coef(&fold->lane_line, p->loop[k].axis) ||
             (!one_step && rd_coef(&fold->lane, p->loop[k].axis))))
            return k;
    return -1;
}

/* True if the result has the same bits however elements are grouped, as an extreme has, and the
 * fold may use that. Group-bys, sparse rows, users' reducers, sums in a narrow type and scans have
 * states (accumulators) that must stay apart. */
static bool has_free_grouping(const rd_loop_fold *f)
{
    const rd_fold *fold = f->emit.fold;

    return !fold->n_group && !fold->by_rows && !fold->user && !f->emit.is_short && !fold->scan &&
           rd_fold_any_grouping(fold);
}

/* True if it matters for the bits which lane (partial accumulator) takes which element: of 0 and
 * -0, which are equal, an extreme of floats keeps the one in the earlier lane. */
static bool depends_on_lanes(const rd_fold *f)
{
    return rd_reducer_is_extreme(f->reducer) && rd_dtype_kind(f->type) == RD_KIND_FLOAT;
}

/* True if no block (leaf of the combine tree) has to end, as any grouping of elements gives the
 * same bits. Group-bys count, too: they keep lanes (partial accumulators) and order, but need no
 * blocks. */
static bool needs_no_blocks(const rd_loop_fold *f)
{
    return has_free_grouping(f) || (f->emit.fold->n_group && rd_fold_any_grouping(f->emit.fold));
}

/* Returns the rows of the combine tree: the most nodes of a cell (accumulator) at a time; 0: it
 * needs no tree. Pushing n blocks one by one leaves at most one node for each bit of n, like
 * carries of a binary counter. A share of a split fold begins at any block, so it has such nodes on
 * both sides. Scans, and folds that an absorbing element can end (rd_fold_end), need none. */
static int32_t rows_of_tree(const rd_loop_fold *f)
{
    const rd_fold *fold = f->emit.fold;
    int32_t        bits = 0;
    rd_word        end;

    for (int64_t k = fold->n_block; k > 0; k /= 2)
        bits++;
    if (fold->scan || rd_fold_end(fold, &end) || (fold->n_block == 1 && !f->split) ||
        needs_no_blocks(f))
        return 0;
    return f->split ? 2 * bits + 3 : bits + 2;
}

/* Returns the levels of nodes within a block (a run of a fold's steps) of a scan by the tree:
 * nodes of 1, 2, 4 .. elements, up to all of the block. */
static int32_t tree_levels_of(int64_t steps)
{
    int32_t levels = 0;

    for (int64_t k = steps < RD_TREE_STEPS ? steps : RD_TREE_STEPS; k > 0; k /= 2)
        levels++;
    return levels;
}

/* True if neighbours along the innermost loop around the step have neighbouring lanes (partial
 * accumulators). */
static bool moves_lane(const rd_program *p, const rd_loop_fold *f)
{
    const int32_t loop = p->inst[f->step].loop;

    return loop >= 0 && rd_coef(&f->emit.fold->lane, p->loop[loop].axis) == 1;
}

/* ---- All of a fold --------------------------------------------------------------------------- */
/* Fills the facts of a fold from its instructions; loop.h explains each field, and emit.h those of
 * f->emit. A fold without elements has no step instruction (step -1): its cells (accumulators) only
 * begin and are finished. rd_positions() is how many values a position can have; rd_rises() says
 * whether elements come by rising position. */
static void fill_facts(const rd_program *p, const int32_t *made, bool whole, rd_loop_fold *f)
{
    const rd_fold *fold   = f->emit.fold;
    const int64_t  outer  = rd_positions(p, &fold->lane_line);
    const bool     groups = fold->n_group > 0, steps = f->step >= 0;

    /* States of small elements may be as small. States may be empty if a group or a row can have no
     * element. */
    f->emit.narrow       = true;
    f->emit.merges_empty = groups || fold->by_rows || !steps;
    rd_emit_facts(&f->emit, rd_positions(p, &fold->index));
    f->emit.places_ascend = steps && !fold->scan && rd_rises(p, f->step, &fold->index);
    f->steps              = outer * rd_rows_of_lanes(fold);
    rd_find_short_sum(p, made, f);
    f->any_lane = steps && has_free_grouping(f) && fold->lanes > 1 && moves_lane(p, f) &&
                  !depends_on_lanes(fold);
    /* Several axes move the lane, and there are more elements than lanes: a block may end at any
     * element. */
    f->several_lane_axes =
        steps && fold->lane_extent > fold->lanes && fold->lane.n_add > 1 && !f->any_lane;
    f->step_loop      = f->several_lane_axes || !steps ? -1 : loop_along(p, f);
    f->split          = fold->split && !whole;
    f->tree_rows      = steps ? rows_of_tree(f) : 0;
    f->emit.one_block = !f->tree_rows && fold->n_block == 1;
    /* a block is 2^shift steps */
    for (f->shift = 0; f->tree_rows && fold->steps >> f->shift > 1; f->shift++)
        ;
    f->blocks = f->tree_rows || (fold->scan && fold->n_block > 1 && !rd_fold_any_grouping(fold));
    f->hi_lo_sums = rd_fold_has_pairs(fold);
    f->n_words    = f->hi_lo_sums ? rd_prefix_sum_words(fold->n_block) : 0;
    f->levels     = fold->prefix == RD_PREFIX_TREE && !rd_fold_any_grouping(fold)
                        ? tree_levels_of(f->steps)
                        : 0;
    f->lanes = steps && fold->lane_extent < fold->lanes ? (int32_t)fold->lane_extent : fold->lanes;
}

/* True if no loop between the fold's steps and its begin visits several cells (accumulators). All
 * cells of a group-by share one block, which ends once for all of them. */
static bool has_one_cell_per_block(const rd_program *p, const rd_loop_fold *f)
{
    for (int32_t k = f->step_loop; k >= 0 && p->loop[k].begin > f->start; k = p->loop[k].parent)
        if (rd_coef(&f->emit.fold->cell, p->loop[k].axis))
            return false;
    return true;
}

/* Says why a loop tree cannot express a fold by labels (group-by); NULL: it can. Blocks of all
 * groups end together, so lanes (partial accumulators) along several axes (mixed), or several
 * cells (accumulators) in turn, are not supported. */
static const char *why_no_tree_of_groups(const rd_program *p, const rd_loop_fold *f)
{
    if (f->several_lane_axes)
        return "lanes along several axes, of elements that go to groups";
    if (f->tree_rows && !has_one_cell_per_block(p, f))
        return "steps of several cells in turn, of elements that go to groups";
    if (f->emit.fold->n_cell > INT32_MAX / f->lanes)
        return "more groups than a nest counts";
    return NULL;
}

/* True if it is a scan over several lanes (partial accumulators), or one with results of another
 * type than its elements; scans of places (argmin) and of users' reducers may have another type. */
static bool is_unsupported_scan(const rd_fold *f)
{
    return f->scan && (f->lane.n_add || f->lane_extent > 1 ||
                       (f->out != f->type && !rd_reducer_places(f->reducer) && !f->user));
}

/* Says why loop trees cannot express the fold; NULL: they can. With lanes (partial accumulators)
 * along several axes (mixed) elements must come by rising lane position. */
static const char *why_no_tree(const rd_program *p, const rd_loop_fold *f)
{
    if (f->several_lane_axes &&
        (f->emit.fold->lane_line.n_add || !rd_rises(p, f->step, &f->emit.fold->lane)))
        return "lanes along several axes that are not walked in their order";
    if (is_unsupported_scan(f->emit.fold))
        return "a scan of several lanes, or of another type than its results";
    return f->emit.fold->n_group ? why_no_tree_of_groups(p, f) : NULL;
}

/* Finds the instructions that begin (start), step and close each fold, by their numbers; -1: there
 * is none. Returns a sentence if a fold has two steps, which trees cannot express, else NULL.
 * inst->b is the weight of a step, inst->c its mask. Elements that go to groups, or belong to a
 * sparse row, count as masked. */
static const char *find_instructions(const rd_program *p, rd_loop_fold *fold)
{
    const char *why = NULL;

    for (int32_t k = 0; k < p->n_fold; k++)
        fold[k] = (rd_loop_fold){ .emit.fold = &p->fold[k], .start = -1, .step = -1, .close = -1 };
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        rd_loop_fold  *f    = &fold[inst->arg >= 0 && inst->arg < p->n_fold ? inst->arg : 0];

        if (inst->kind == RD_I_START)
            f->start = i;
        if (inst->kind == RD_I_CLOSE)
            f->close = i;
        if (rd_takes_step(inst)) {
            if (f->step >= 0)
                why = "a fold with two steps";
            f->step          = i;
            f->emit.masked   = inst->c >= 0 || f->emit.fold->n_group || f->emit.fold->by_rows;
            f->emit.weighted = inst->b >= 0;
        }
    }
    return why;
}

/* Returns a table: for each register the number of the instruction that makes it; NULL without
 * memory. */
int32_t *rd_made_by(const rd_program *p, rd_get_fn *get, void *pool)
{
    int32_t *made = get(pool, ((size_t)p->n_reg + 1) * sizeof *made);

    for (int32_t i = 0; made && i < p->n_inst; i++)
        for (int32_t k = rd_inst_makes(p, &p->inst[i]) - 1; k >= 0; k--)
            made[p->inst[i].dst + k] = i;
    return made;
}

/* Returns the facts of all folds of a program; NULL: no memory. It stops at the first fold that
 * loop trees cannot express, and *why gets a sentence; else NULL. */
const rd_loop_fold *rd_loop_folds_of(const rd_program *p, bool whole, rd_get_fn *get, void *pool,
                                     const char **why)
{
    rd_loop_fold *fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *fold);
    int32_t      *made = rd_made_by(p, get, pool);

    if (!fold || !made)
        return NULL;
    *why = find_instructions(p, fold);
    for (int32_t k = 0; k < p->n_fold && !*why; k++) {
        fill_facts(p, made, whole, &fold[k]);
        *why = why_no_tree(p, &fold[k]);
    }
    return fold;
}
