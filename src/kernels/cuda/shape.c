/* shape.c - which loops of a program are work items, and which are spread over a team. */
#include "kernels/cuda/shape.h"
#include "core/combine_tree.h"
#include "kernels/math/so_far.h"
#include <inttypes.h>
#include <string.h>

static bool takes_element(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
static bool describe_fold(rd_cuda_shape *s, int32_t k, rd_get_fn *get, void *pool)
{
    rd_cuda_fold  *f    = &s->fold[k];
    const rd_fold *fold = f->of.fold;

    f->of.weighted |= f->step < 0 && fold->user && fold->user->step2;
    f->of.empties = f->step < 0 || (fold->user && fold->lanes > 1);
    f->tree       = fold->n_block > 1 && !fold->scan;
    f->pair =
        fold->scan && fold->reducer == RD_RED_sum && rd_dtype_kind(fold->type) == RD_KIND_FLOAT;
    if (fold->prefix == RD_PREFIX_TREE && fold->scan && !rd_fold_any_grouping(fold))
        f->levels = rd_cuda_bits(RD_TREE_STEPS);
    f->of.rises = f->step >= 0 && !fold->scan && rd_rises(s->p, f->step, &fold->index);
    rd_emit_facts(&f->of, rd_positions(s->p, &fold->index));
    f->n_words = f->pair ? rd_so_far_words(fold->n_block) : 0;
    if (fold->user && !rd_user_has_text(fold->user))
        s->why = "a reducer is C code, which a GPU cannot run; give its text by RD_REDUCER";
    else if (fold->user && !rd_user_facts(&f->of, k, false, get, pool))
        return false;
    return true;
}

static bool find_folds(rd_cuda_shape *s, rd_get_fn *get, void *pool)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_fold; k++)
        s->fold[k] = (rd_cuda_fold){
            .of = { .fold = &p->fold[k] }, .start = -1, .step = -1, .close = -1, .cut = -1
        };
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        rd_cuda_fold  *f    = &s->fold[inst->arg >= 0 && inst->arg < p->n_fold ? inst->arg : 0];

        if (inst->kind == RD_I_START)
            f->start = i;
        if (inst->kind == RD_I_CLOSE)
            f->close = i;
        if (!takes_element(inst))
            continue;
        if (f->step >= 0)
            s->why = "a fold has two steps";
        f->step        = i;
        f->of.masked   = inst->c >= 0;
        f->of.weighted = inst->b >= 0;
    }
    for (int32_t k = 0; k < p->n_fold; k++)
        if (!describe_fold(s, k, get, pool))
            return false;
    return true;
}

/* ---- The grid -------------------------------------------------------------------------------- */
/* May be done for each item of work, instead of once around them. */
static bool is_free(const rd_cuda_shape *s, const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_INDEX: return true;
    case RD_I_LOAD: return !s->stored[s->p->address[inst->arg].slot];
    default: return false;
    }
}

/* The only loop of a body that else is free; -1. */
static int32_t only_loop(const rd_cuda_shape *s, int32_t from, int32_t to)
{
    int32_t only = -1;

    for (int32_t i = from; i < to; i++) {
        const rd_inst *inst = &s->p->inst[i];

        if (inst->kind == RD_I_LOOP && only < 0) {
            only = inst->arg;
            i    = s->p->loop[only].end;
        } else if (only >= 0 || !is_free(s, inst))
            return -1;
    }
    return only;
}

static void find_grid(rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    s->to     = p->n_inst;
    s->n_item = 1;
    for (int32_t loop; s->n_grid < RD_MAX_GRID && (loop = only_loop(s, s->from, s->to)) >= 0;) {
        s->grid[s->n_grid++] = loop;
        s->n_item *= p->loop[loop].extent;
        s->from = p->loop[loop].begin + 1;
        s->to   = p->loop[loop].end;
    }
}

/* ---- Loops that are spread ------------------------------------------------------------------- */
static bool same_position(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis != b->add[k].axis || a->add[k].coef != b->add[k].coef)
            return false;
    return true;
}

typedef struct spreading {
    int32_t           loop, axis;
    const rd_address *lane; /* of folds whose lanes the threads are, NULL */
} spreading;

/* Its lanes are the threads: neighbouring indices are neighbouring lanes, all in one cell. */
static bool along_lanes(const rd_cuda_fold *f, spreading *w)
{
    const rd_fold *fold = f->of.fold;

    if (fold->scan || fold->user || fold->lanes < RD_WARP || rd_coef(&fold->lane, w->axis) != 1 ||
        rd_coef(&fold->cell, w->axis) || rd_coef(&fold->outer, w->axis) ||
        (w->lane && !same_position(w->lane, &fold->lane)))
        return false;
    w->lane = &fold->lane;
    return true;
}

/* Each index has a cell of its own. */
static bool along_cells(const rd_cuda_fold *f, const spreading *w)
{
    const rd_fold *fold = f->of.fold;

    return rd_coef(&fold->cell, w->axis) && !rd_coef(&fold->lane, w->axis) &&
           !rd_coef(&fold->outer, w->axis);
}

/* What is kept there is read by the same index that has stored it, or outside the loop. */
static bool keeps_apart(const rd_cuda_shape *s, const rd_inst *access, const spreading *w)
{
    const rd_program *p     = s->p;
    const int32_t     slot  = p->address[access->arg].slot;
    const bool        moves = rd_coef(&p->address[access->arg], w->axis) != 0;

    if (access->kind == RD_I_STORE && rd_has_registers(&p->address[access->arg]))
        return false;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *other  = &p->inst[i];
        const bool     stores = other->kind == RD_I_STORE && p->address[other->arg].slot == slot;

        if ((other->kind != RD_I_LOAD && other->kind != RD_I_STORE) ||
            p->address[other->arg].slot != slot)
            continue;
        /* A value for each index, in one place: each thread has its own, which others do not
         * see. */
        if (!moves && slot >= p->first_scratch && access->kind == RD_I_STORE &&
            !rd_cuda_within(p, i, w->loop))
            return false;
        if (stores && rd_cuda_within(p, i, w->loop) &&
            rd_coef(&p->address[other->arg], w->axis) != rd_coef(&p->address[access->arg], w->axis))
            return false;
    }
    return moves || access->kind == RD_I_LOAD || slot >= p->first_scratch;
}

static bool may_spread_inst(const rd_cuda_shape *s, const rd_inst *inst, spreading *w)
{
    const rd_cuda_fold *f;

    switch (inst->kind) {
    case RD_I_LOAD: return !s->stored[s->p->address[inst->arg].slot] || keeps_apart(s, inst, w);
    case RD_I_STORE: return keeps_apart(s, inst, w);
    case RD_I_START:
        f = &s->fold[inst->arg];
        return (f->step < 0 || rd_cuda_within(s->p, f->step, w->loop)) &&
               (f->close < 0 || rd_cuda_within(s->p, f->close, w->loop));
    case RD_I_STEP:
    case RD_I_SCAN:
        f = &s->fold[inst->arg];
        return rd_cuda_within(s->p, f->start, w->loop) || along_cells(f, w) || along_lanes(f, w);
    case RD_I_CLOSE:
        f = &s->fold[inst->arg];
        return rd_cuda_within(s->p, f->start, w->loop) || along_cells(f, w);
    default: return true;
    }
}

static bool may_spread(const rd_cuda_shape *s, int32_t loop)
{
    const rd_program *p = s->p;
    spreading         w = { .loop = loop, .axis = p->loop[loop].axis };

    for (int32_t i = p->loop[loop].begin + 1; i < p->loop[loop].end; i++)
        if (!may_spread_inst(s, &p->inst[i], &w))
            return false;
    return true;
}

/* The longest loop in a body. */
static int64_t longest(const rd_program *p, int32_t from, int32_t to)
{
    int64_t most = 0;

    for (int32_t i = from; i < to; i++)
        if (p->inst[i].kind == RD_I_LOOP && p->loop[p->inst[i].arg].extent > most)
            most = p->loop[p->inst[i].arg].extent;
    return most;
}

/* Short loops around long ones leave these to the threads. */
static void find_spread(rd_cuda_shape *s, int32_t from, int32_t to)
{
    const rd_program *p = s->p;

    for (int32_t i = from; i < to; i++) {
        if (p->inst[i].kind != RD_I_LOOP)
            continue;
        const rd_loop *l = &p->loop[p->inst[i].arg];

        if ((l->extent >= RD_WARP || longest(p, l->begin + 1, l->end) <= l->extent) &&
            may_spread(s, p->inst[i].arg))
            s->spread[p->inst[i].arg] = true;
        else
            find_spread(s, l->begin + 1, l->end);
        i = l->end;
    }
}

static void meet_folds(rd_cuda_shape *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f     = &s->fold[k];
        const int32_t step  = rd_cuda_spread_around(s, f->step),
                      close = rd_cuda_spread_around(s, f->close);

        f->lanes = f->cells = false;
        if (rd_cuda_spread_around(s, f->start) < 0 && step >= 0) {
            f->lanes = rd_coef(&f->of.fold->lane, s->p->loop[step].axis) != 0;
            f->cells = !f->lanes;
        }
        f->cells |= rd_cuda_spread_around(s, f->start) < 0 && close >= 0;
    }
}

static bool any_lanes(const rd_cuda_shape *s)
{
    bool found = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        found |= s->fold[k].lanes;
    return found;
}

/* Is most of an item's work in loops that are spread? */
static bool is_mostly_spread(const rd_cuda_shape *s)
{
    double all = 0, spread = 0;

    for (int32_t i = s->from; i < s->to; i++) {
        const double work = rd_program_times(s->p, i);

        all += work;
        spread += rd_cuda_is_spread(s, i) ? work : 0;
    }
    return 2 * spread > all;
}

/* A warp for each item where it has lanes of folds, or where there are few items. */
static void find_team(rd_cuda_shape *s, int64_t threads)
{
    s->team = RD_WARP;
    find_spread(s, s->from, s->to);
    meet_folds(s);
    if (is_mostly_spread(s) &&
        (any_lanes(s) || (s->n_item < threads && !rd_cuda_are_items_dense(s))))
        return;
    s->team = 1;
    memset(s->spread, 0, (size_t)s->p->n_loop * sizeof *s->spread);
    meet_folds(s);
}

/* ---- All together ---------------------------------------------------------------------------- */
static void find_slots(rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_STORE)
            s->stored[p->address[p->inst[i].arg].slot] = true;
}

static void look_for_reports(rd_cuda_shape *s)
{
    for (int32_t i = 0; i < s->p->n_inst; i++)
        s->reports |= s->p->inst[i].kind == RD_I_INDEX ||
                      (s->p->inst[i].kind == RD_I_MAP && rd_op_warns(&s->p->inst[i]));
}

static void look_for_refusals(rd_cuda_shape *s)
{
    const rd_program *p = s->p;

    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE)
            s->why = "a loop goes by tiles";
    for (int32_t k = 0; k < p->n_fold; k++)
        if (p->fold[k].n_group)
            s->why = "elements go to groups by their labels";
    for (int32_t k = 0; k < p->n_call; k++)
        if (!p->call[k].body)
            s->why = "a function is C code, which a GPU cannot run; give its text by RD_FN";
    if (p->n_sorting)
        s->why = "it sorts rows or takes quantiles of them, which only the CPU does";
}

bool rd_cuda_shape_of(rd_cuda_shape *s, const rd_program *p, const rd_cuda_limits *limits,
                      rd_get_fn *get, void *pool)
{
    *s = (rd_cuda_shape){ .p      = p,
                          .choice = rd_cuda_choose(limits->threads, &p->tuning),
                          .wide   = 1,
                          .strip  = -1,
                          .dealt  = -1,
                          .square = { -1, -1 },
                          .cross  = { -1, -1 },
                          .pairs  = -1 };
    for (int32_t k = 0; k < p->n_address; k++)
        s->n_slot = p->address[k].slot >= s->n_slot ? p->address[k].slot + 1 : s->n_slot;
    s->stored     = get(pool, (size_t)s->n_slot + 1);
    s->large      = get(pool, (size_t)s->n_slot + 1);
    s->spread     = get(pool, ((size_t)p->n_loop + 1) * sizeof *s->spread);
    s->fold       = get(pool, ((size_t)p->n_fold + 1) * sizeof *s->fold);
    s->scratch    = get(pool, ((size_t)p->n_scratch + 1) * sizeof *s->scratch);
    s->row        = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->row);
    s->turned     = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->turned);
    s->fills      = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->fills);
    s->early      = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->early);
    s->staged     = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->staged);
    s->stretch_of = get(pool, ((size_t)p->n_inst + 1) * sizeof *s->stretch_of);
    s->scratch_at = get(pool, ((size_t)p->n_scratch + 1) * sizeof *s->scratch_at);
    if (!s->stored || !s->large || !s->spread || !s->fold || !s->scratch || !s->scratch_at ||
        !s->row || !s->early || !s->fills || !s->turned || !s->staged || !s->stretch_of)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        s->row[i] = s->staged[i] = s->stretch_of[i] = -1;
    find_slots(s);
    look_for_refusals(s);
    look_for_reports(s);
    if (!find_folds(s, get, pool))
        return false;
    if (s->why)
        return true;
    find_grid(s);
    if (rd_cuda_find_cross(s))
        return true;
    if (!rd_cuda_find_pairs(s, limits)) {
        find_team(s, limits->threads);
        rd_cuda_find_strips(s, limits->threads);
    }
    rd_cuda_find_cuts(s, limits);
    rd_cuda_find_rows(s, limits->shared);
    rd_cuda_find_stretches(s, limits->shared);
    rd_cuda_give_homes(s);
    return true;
}

void rd_cuda_shape_text(rd_text *to, const rd_cuda_shape *s)
{
    if (s->why) {
        rd_text_add(to, "not here: %s", s->why);
        return;
    }
    if (s->cross[0] >= 0) {
        rd_text_add(to,
                    "rows and columns: %" PRId64 " patches of %" PRId64 " by %" PRId64 ", i%" PRId32
                    " and i%" PRId32 ", %" PRId32 " threads a row, %" PRId32
                    " side by side, %" PRId32 " rows at a time",
                    s->n_item * s->n_patch[0] * s->n_patch[1], s->patch[0], s->patch[1],
                    s->p->loop[s->cross[0]].axis, s->p->loop[s->cross[1]].axis, s->team, s->wide,
                    s->at_once);
        return;
    }
    rd_text_add(to, "%s: %" PRId64 " items, %" PRId32 " thread%s each",
                s->p->n_fold == 0 ? "maps"
                : s->swept        ? "scans"
                : s->pairs >= 0   ? "pairs"
                : s->team > 1     ? "strips"
                : s->strip >= 0   ? "columns"
                : s->n_stretch    ? "short rows"
                                  : "plain",
                s->n_item, s->swept ? s->choice.block : s->team,
                s->swept || s->team > 1 ? "s" : "");
    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->spread[k])
            rd_text_add(to, ", i%" PRId32 " spread", s->p->loop[k].axis);
    if (s->wide > 1)
        rd_text_add(to, ", %" PRId32 " side by side", s->wide);
    if (s->pairs >= 0)
        rd_text_add(to, ", i%" PRId32 " by tiles of %" PRId64, s->p->loop[s->pairs].axis, s->tile);
    if (s->square[0] >= 0)
        rd_text_add(to, ", i%" PRId32 " and i%" PRId32 " by squares", s->p->loop[s->square[0]].axis,
                    s->p->loop[s->square[1]].axis);
    if (s->n_row > 0)
        rd_text_add(to, ", %" PRId32 " row%s in shared memory", s->n_row, s->n_row > 1 ? "s" : "");
    rd_cuda_stretches_text(to, s);
    if (s->swept)
        rd_text_add(to, ", i%" PRId32 " by tiles of %" PRId64 ", once", s->cut_axis, s->range);
    else if (s->n_cut > 0)
        rd_text_add(to, ", i%" PRId32 " in %" PRId64 " ranges of %" PRId64, s->cut_axis, s->n_range,
                    s->range);
    if (s->scanned)
        rd_text_add(to, ", twice");
    if (s->n_cut > 1)
        rd_text_add(to, ", %" PRId32 " kernels of them", s->n_cut);
    if (s->p->fast)
        rd_text_add(to, ", fast functions");
}
