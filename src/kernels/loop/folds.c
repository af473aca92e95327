/* folds.c - what a program says of its folds, in the form that loop trees and their texts ask for. */
#include "kernels/loop/loop.h"
#include "core/combine_tree.h"
#include "kernels/math/so_far.h"

bool rd_takes_step(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

int64_t rd_rows_of_lanes(const rd_fold *f)
{
    return (f->lane_extent + f->lanes - 1) / f->lanes;
}

bool rd_is_along(const rd_fold *f, int32_t axis, int64_t first, int64_t coef)
{
    const rd_address *one  = f->outer.n_add ? &f->outer : &f->lane,
                     *none = f->outer.n_add ? &f->lane : &f->outer;

    return f->lanes == 1 && one->n_add == 1 && one->offset == first && one->add[0].axis == axis &&
           one->add[0].coef == coef && none->n_add == 0 && none->offset == 0 &&
           (f->outer.n_add == 0 || f->lane_extent == 1);
}

/* The innermost loop whose rounds are steps: over the lanes, or where these are one step over what
 * is around them. */
static int32_t loop_along(const rd_program *p, const rd_loop_fold *f)
{
    const rd_fold *fold     = f->of.fold;
    const bool     one_step = fold->lane_extent <= fold->lanes;

    for (int32_t k = p->inst[f->step].loop; k >= 0; k = p->loop[k].parent)
        if (p->loop[k].kind == RD_LOOP_EACH &&
            (rd_coef(&fold->outer, p->loop[k].axis) ||
             (!one_step && rd_coef(&fold->lane, p->loop[k].axis))))
            return k;
    return -1;
}

/* Do its elements come to the same bits however they are grouped, as those of an extreme do? */
static bool groups_as_it_likes(const rd_loop_fold *f)
{
    const rd_fold *fold = f->of.fold;

    return !fold->n_group && !fold->by_rows && !fold->user && !f->of.is_short && !fold->scan &&
           rd_fold_any_grouping(fold);
}

/* 0 and -0 are equal, so which of them an extreme is hangs on lanes: the first one of the first lane. */
static bool hangs_on_lanes(const rd_fold *f)
{
    const bool extreme = f->reducer == RD_RED_min || f->reducer == RD_RED_max ||
                         f->reducer == RD_RED_min_anew || f->reducer == RD_RED_max_anew;

    return extreme && rd_dtype_kind(f->type) == RD_KIND_FLOAT;
}

/* The same of groups, which have lanes and places as they are. */
static bool needs_no_blocks(const rd_loop_fold *f)
{
    return groups_as_it_likes(f) || (f->of.fold->n_group && rd_fold_any_grouping(f->of.fold));
}

/* Rows of the combine tree: nodes that there can be at a time.  Folds that group as they like need none: a
 * state takes all of a task's elements in turn, its loop has no ends of blocks in it, and a join merges
 * states. */
static int32_t rows_of_tree(const rd_loop_fold *f)
{
    const rd_fold *fold = f->of.fold;
    int32_t        bits = 0;
    rd_word        end;

    for (int64_t k = fold->n_block; k > 0; k /= 2)
        bits++;
    if (fold->scan || rd_fold_end(fold, &end) || (fold->n_block == 1 && !f->split) ||
        needs_no_blocks(f))
        return 0;
    return f->split ? 2 * bits + 3 : bits + 2;
}

/* Nodes of 1, 2, 4 .. elements of a block. */
static int32_t levels_of(int64_t steps)
{
    int32_t levels = 0;

    for (int64_t k = steps < RD_TREE_STEPS ? steps : RD_TREE_STEPS; k > 0; k /= 2)
        levels++;
    return levels;
}

/* Do neighbours along the innermost loop have neighbouring lanes? */
static bool moves_lane(const rd_program *p, const rd_loop_fold *f)
{
    const int32_t loop = p->inst[f->step].loop;

    return loop >= 0 && rd_coef(&f->of.fold->lane, p->loop[loop].axis) == 1;
}

/* ---- All of a fold ---------------------------------------------------------------------------- */
/* Fills in the facts of a fold whose instructions are known.  One of no elements has no step: its cells
 * begin, and are finished. */
static void describe(const rd_program *p, const int32_t *made, bool whole, rd_loop_fold *f)
{
    const rd_fold *fold   = f->of.fold;
    const int64_t  outer  = rd_positions(p, &fold->outer);
    const bool     groups = fold->n_group > 0, steps = f->step >= 0;

    f->of.narrow  = true;
    f->of.empties = groups || fold->by_rows || !steps;
    rd_emit_facts(&f->of, rd_positions(p, &fold->index));
    f->of.rises = steps && !fold->scan && rd_rises(p, f->step, &fold->index);
    f->steps    = outer * rd_rows_of_lanes(fold);
    rd_find_short_sum(p, made, f);
    f->any_lane = steps && groups_as_it_likes(f) && fold->lanes > 1 && moves_lane(p, f) &&
                  !hangs_on_lanes(fold);
    f->mixed = steps && fold->lane_extent > fold->lanes && fold->lane.n_add > 1 && !f->any_lane;
    f->along = f->mixed || !steps ? -1 : loop_along(p, f);
    f->split = fold->split && !whole;
    f->room  = steps ? rows_of_tree(f) : 0;
    f->of.one_block = !f->room && fold->n_block == 1;
    for (f->shift = 0; f->room && fold->steps >> f->shift > 1; f->shift++)
        ;
    f->blocks = f->room || (fold->scan && fold->n_block > 1 && !rd_fold_any_grouping(fold));
    f->pair =
        fold->scan && fold->reducer == RD_RED_sum && rd_dtype_kind(fold->type) == RD_KIND_FLOAT;
    f->n_words = f->pair ? rd_so_far_words(fold->n_block) : 0;
    f->levels =
        fold->prefix == RD_PREFIX_TREE && !rd_fold_any_grouping(fold) ? levels_of(f->steps) : 0;
    f->lanes = steps && fold->lane_extent < fold->lanes ? (int32_t)fold->lane_extent : fold->lanes;
}

/* All cells are at one block, so no loop over some of them may stand around its steps, inside where
 * the fold begins. */
static bool stays_in_a_cell(const rd_program *p, const rd_loop_fold *f)
{
    for (int32_t k = f->along; k >= 0 && p->loop[k].begin > f->start; k = p->loop[k].parent)
        if (rd_coef(&f->of.fold->cell, p->loop[k].axis))
            return false;
    return true;
}

static const char *refusal_of_groups(const rd_program *p, const rd_loop_fold *f)
{
    if (f->mixed)
        return "lanes along several axes, of elements that go to groups";
    if (f->room && !stays_in_a_cell(p, f))
        return "steps of several cells in turn, of elements that go to groups";
    if (f->of.fold->n_cell > INT32_MAX / f->lanes)
        return "more groups than a nest counts";
    return NULL;
}

static bool takes_no_scan(const rd_fold *f)
{
    return f->scan && (f->lane.n_add || f->lane_extent > 1 ||
                       (f->out != f->type && !rd_reducer_places(f->reducer) && !f->user));
}

/* What there is no tree of. */
static const char *refusal(const rd_program *p, const rd_loop_fold *f)
{
    if (f->mixed && (f->of.fold->outer.n_add || !rd_rises(p, f->step, &f->of.fold->lane)))
        return "lanes along several axes that are not walked in their order";
    if (takes_no_scan(f->of.fold))
        return "a scan of several lanes, or of another type than its results";
    return f->of.fold->n_group ? refusal_of_groups(p, f) : NULL;
}

/* Finds the instructions that begin, step and close each fold; a sentence if one has several
 * steps. */
static const char *find(const rd_program *p, rd_loop_fold *fold)
{
    const char *why = NULL;

    for (int32_t k = 0; k < p->n_fold; k++)
        fold[k] = (rd_loop_fold){ .of.fold = &p->fold[k], .start = -1, .step = -1, .close = -1 };
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
            f->step        = i;
            f->of.masked   = inst->c >= 0 || f->of.fold->n_group || f->of.fold->by_rows;
            f->of.weighted = inst->b >= 0;
        }
    }
    return why;
}

/* Which instruction makes each register. */
int32_t *rd_made_by(const rd_program *p, rd_get_fn *get, void *pool)
{
    int32_t *made = get(pool, ((size_t)p->n_reg + 1) * sizeof *made);

    for (int32_t i = 0; made && i < p->n_inst; i++)
        for (int32_t k = rd_inst_makes(p, &p->inst[i]) - 1; k >= 0; k--)
            made[p->inst[i].dst + k] = i;
    return made;
}

const rd_loop_fold *rd_loop_folds_of(const rd_program *p, bool whole, rd_get_fn *get, void *pool,
                                     const char **why)
{
    rd_loop_fold *fold = get(pool, ((size_t)p->n_fold + 1) * sizeof *fold);
    int32_t      *made = rd_made_by(p, get, pool);

    if (!fold || !made)
        return NULL;
    *why = find(p, fold);
    for (int32_t k = 0; k < p->n_fold && !*why; k++) {
        describe(p, made, whole, &fold[k]);
        *why = refusal(p, &fold[k]);
    }
    return fold;
}
