/* cross.c - reductions along both axes of an array, in one read: of rows, which have lanes along
 * it, and of columns, which have one lane each.  Either loop may stand in the other.
 *
 * A block of threads takes a *patch*: one block of the columns' trees, 64 rows, by one of the
 * rows', 64 steps of all lanes.  A team has as many columns as a row has lanes, and walks down: the
 * columns' states are in registers, and those of the rows' lanes in shared memory, where the next
 * team finds them (patches.c).  What a patch comes to are nodes of either tree, one for each
 * column, and for each lane of a row that goes on in other patches.  Who comes last of the patches
 * of a group joins these (meets.c).
 *
 * Other stages in which folds cross have threads for the ones or the others; the evaluator asks
 * (rd_gpu_suits), and makes two of them. */
#include "core/combine_tree.h"
#include "kernels/cuda/shape.h"
#include <string.h>

/* ---- Which folds cross ----------------------------------------------------------------------- */
/* Is the fold begun anew for each index of a loop? */
static bool is_within(const rd_program *p, const rd_cuda_fold *f, int32_t loop)
{
    return rd_cuda_within(p, f->start, loop);
}

static void find_places(const rd_program *p, int32_t number, rd_cuda_fold *f)
{
    *f = (rd_cuda_fold){ .of = { .fold = &p->fold[number] }, .start = -1, .step = -1, .close = -1 };
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].arg == number) {
            f->start = p->inst[i].kind == RD_I_START ? i : f->start;
            f->step  = p->inst[i].kind == RD_I_STEP ? i : f->step;
            f->close = p->inst[i].kind == RD_I_CLOSE ? i : f->close;
        }
}

/* Does `row` fold along a loop that has cells of `column` beside each other, each of which goes on
 * in the loop around it?  Who comes before its result is there does not read it. */
static bool cross(const rd_program *p, const rd_cuda_fold *row, const rd_cuda_fold *column)
{
    const int32_t outer = row->start < 0 ? -1 : p->inst[row->start].loop;

    if (outer < 0 || row->step < 0 || column->step < 0 || column->start < 0 ||
        is_within(p, column, outer) || !rd_cuda_within(p, column->step, outer) ||
        column->step > row->close || rd_coef(&column->of.fold->cell, p->loop[outer].axis))
        return false;
    for (int32_t loop = p->inst[row->step].loop; loop >= 0 && loop != outer;
         loop         = p->loop[loop].parent)
        if (rd_coef(&column->of.fold->cell, p->loop[loop].axis))
            return true;
    return false;
}

bool rd_cuda_crosses(const rd_program *p)
{
    rd_cuda_fold row, column;

    for (int32_t a = 0; a < p->n_fold; a++) {
        find_places(p, a, &row);
        for (int32_t b = 0; b < p->n_fold; b++) {
            find_places(p, b, &column);
            if (cross(p, &row, &column))
                return true;
        }
    }
    return false;
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* The only loop in a body, -1. */
static int32_t only_loop(const rd_program *p, int32_t from, int32_t to)
{
    int32_t only = -1;

    for (int32_t i = from; i < to; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            if (only >= 0)
                return -1;
            only = p->inst[i].arg;
            i    = p->loop[only].end;
        }
    return only;
}

static bool is_plain(const rd_program *p, int32_t loop)
{
    return loop >= 0 && !p->loop[loop].backwards && p->loop[loop].extent > 0;
}

/* One loop in another; behind them folds that began before them end, in loops along the inner
 * one. */
static bool find_loops(rd_cuda_shape *s, int32_t *outer, int32_t *inner)
{
    const rd_program *p = s->p;

    *outer = -1;
    for (int32_t i = s->from; i < s->to && *outer < 0; i++)
        *outer = p->inst[i].kind == RD_I_LOOP ? p->inst[i].arg : -1;
    if (!is_plain(p, *outer))
        return false;
    *inner = only_loop(p, p->loop[*outer].begin + 1, p->loop[*outer].end);
    if (!is_plain(p, *inner) || p->loop[*inner].first >= 0)
        return false;
    for (int32_t i = p->loop[*outer].end + 1; i < s->to; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            const rd_loop *l = &p->loop[p->inst[i].arg];

            if (l->axis != p->loop[*inner].axis || l->first >= 0 || l->backwards)
                return false;
        }
    return true;
}

/* Rows have lanes along one of the loops, whichever it is; that is the second. */
static void tell_apart(rd_cuda_shape *s, int32_t outer, int32_t inner)
{
    bool along_outer = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        along_outer |=
            s->p->fold[k].lanes > 1 && rd_coef(&s->p->fold[k].lane, s->p->loop[outer].axis);
    s->cross[0] = along_outer ? inner : outer;
    s->cross[1] = along_outer ? outer : inner;
}

int32_t rd_cuda_cross_outer(const rd_cuda_shape *s)
{
    return s->p->loop[s->cross[0]].first >= 0 ? s->cross[0] : s->cross[1];
}

int32_t rd_cuda_cross_inner(const rd_cuda_shape *s)
{
    return s->p->loop[s->cross[0]].first >= 0 ? s->cross[1] : s->cross[0];
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Folds along the inner loop begin in the outer one and end there.  Others have a cell for each
 * index of the inner one, and end behind. */
static bool is_placed(const rd_cuda_shape *s, const rd_cuda_fold *f, int32_t folds_along)
{
    const rd_program *p     = s->p;
    const rd_loop    *outer = &p->loop[rd_cuda_cross_outer(s)];
    const rd_loop    *inner = &p->loop[rd_cuda_cross_inner(s)];
    const rd_address *cell  = &f->of.fold->cell;

    if (&p->loop[folds_along] == inner)
        return f->start > outer->begin && f->start < inner->begin && f->close > inner->end &&
               f->close < outer->end && cell->n_add == 0;
    return f->start >= s->from && f->start < outer->begin && f->close > outer->end &&
           p->inst[f->close].loop >= 0 && p->loop[p->inst[f->close].loop].axis == inner->axis &&
           cell->n_add == 1 && cell->add[0].axis == inner->axis;
}

static bool is_of_tree(const rd_fold *fold)
{
    return !fold->scan && !fold->user && fold->steps == RD_TREE_STEPS;
}

/* A lane for each column, whose steps are rows. */
static bool is_column(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    return is_of_tree(f->of.fold) && rd_is_along(f->of.fold, s->p->loop[s->cross[0]].axis, 0, 1) &&
           is_placed(s, f, s->cross[0]);
}

/* Lanes along the columns, from the first one on. */
static bool is_row(const rd_cuda_shape *s, const rd_cuda_fold *f)
{
    const rd_fold *fold = f->of.fold;

    return is_of_tree(fold) && fold->lanes >= RD_WARP && fold->lane.n_add == 1 &&
           fold->lane.offset == 0 && fold->lane.add[0].axis == s->p->loop[s->cross[1]].axis &&
           fold->lane.add[0].coef == 1 && fold->outer.n_add == 0 && fold->outer.offset == 0 &&
           is_placed(s, f, s->cross[1]);
}

/* Rows and columns, some of both; the rows' lanes, 0: there are other folds. */
static int32_t find_lanes(rd_cuda_shape *s)
{
    int32_t lanes = 0, columns = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        if (f->start < 0 || f->step < 0 || f->close < 0 ||
            !rd_cuda_within(s->p, f->step, rd_cuda_cross_inner(s)))
            return 0;
        f->lanes = is_row(s, f);
        columns += !f->lanes;
        if ((f->lanes && lanes && lanes != f->of.fold->lanes) || (!f->lanes && !is_column(s, f)))
            return 0;
        lanes = f->lanes ? f->of.fold->lanes : lanes;
    }
    return columns ? lanes : 0;
}

/* ---- What else is done ----------------------------------------------------------------------- */
/* Each element is done once, but what is before the elements of the inner loop for each of them:
 * nothing is stored there.  Nothing that is stored is read. */
static bool may_cross(const rd_cuda_shape *s, int32_t i)
{
    const rd_program *p    = s->p;
    const rd_inst    *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_LOAD: return !s->stored[p->address[inst->arg].slot];
    case RD_I_STORE: return i > p->loop[rd_cuda_cross_inner(s)].begin;
    default: return true;
    }
}

static bool all_may_cross(const rd_cuda_shape *s)
{
    bool all = s->p->n_scratch == 0;

    for (int32_t i = s->from; i < s->to; i++)
        all &= may_cross(s, i);
    return all;
}

/* ---- Teams ----------------------------------------------------------------------------------- */
/* The smallest elements that lie side by side along columns, 0: there are none. */
static int32_t least_dense(const rd_cuda_shape *s)
{
    const rd_program *p     = s->p;
    const rd_loop    *l     = &p->loop[rd_cuda_cross_inner(s)];
    int32_t           least = 0;

    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (p->inst[i].kind == RD_I_LOAD && rd_cuda_is_dense(s, i, s->cross[1])) {
            const int32_t size = rd_dtype_size(p->address[p->inst[i].arg].type);

            least = least == 0 || size < least ? size : least;
        }
    return least;
}

static bool find_team(rd_cuda_shape *s, int32_t lanes)
{
    const int32_t least = least_dense(s);

    if (least == 0)
        return false;
    for (s->wide = rd_cuda_wide_of(s, least); lanes / s->wide < s->choice.least_team;)
        s->wide /= 2;
    s->team = lanes / s->wide;
    return s->wide > 1 && s->team <= RD_WARP;
}

void rd_cuda_cross_packs(const rd_cuda_shape *s, rd_cuda_packs *packs)
{
    const rd_program *p = s->p;
    const rd_loop    *l = &p->loop[rd_cuda_cross_inner(s)];

    *packs = (rd_cuda_packs){ .ahead = s->at_once, .along = 1, .together = true };
    for (int32_t i = l->begin + 1; i < l->end && packs->n < RD_CUDA_PACKS; i++) {
        const rd_inst *inst = &p->inst[i];

        if ((inst->kind != RD_I_LOAD && inst->kind != RD_I_STORE) ||
            !rd_cuda_is_dense(s, i, s->cross[1]))
            continue;
        packs->inst[packs->n]   = i;
        packs->each[packs->n++] = s->wide;
    }
}

/* Bytes that a thread has in flight for each index of the outer loop. */
static int32_t flight_of(const rd_cuda_shape *s)
{
    rd_cuda_packs packs;
    int32_t       bytes = 0;

    rd_cuda_cross_packs(s, &packs);
    for (int32_t k = 0; k < packs.n; k++)
        if (s->p->inst[packs.inst[k]].kind == RD_I_LOAD)
            bytes +=
                packs.each[k] * rd_dtype_size(s->p->address[s->p->inst[packs.inst[k]].arg].type);
    return bytes;
}

/* Teams follow each other, each one turn behind the one before it.  So a team that is through with
 * its columns finds those before its next ones done, if there are as many turns as teams, at
 * least. */
static void find_turns(rd_cuda_shape *s)
{
    const rd_cuda_choice *c      = &s->choice;
    const double          weight = s->wide * rd_cuda_weight_of(s->p, rd_cuda_cross_inner(s));
    const int32_t         bytes  = flight_of(s);

    s->at_once = RD_TREE_STEPS / (c->block / s->team);
    while (s->at_once > 1 &&
           (s->at_once * bytes > c->flight || s->at_once * s->wide > c->elements ||
            s->at_once * weight > c->weight))
        s->at_once /= 2;
}

/* ---- Is it worth it? ------------------------------------------------------------------------- */
static int32_t state_size(const rd_emit_fold *of, int k)
{
    const char *const type = rd_state_type(of, k);
    const bool        narrow =
        strcmp(type, "float") == 0 || strcmp(type, "int32_t") == 0 || strcmp(type, "uint32_t") == 0;

    return narrow ? 4 : 8;
}

/* Lanes of rows, and words in which they meet. */
static bool has_room(const rd_cuda_shape *s, int32_t lanes)
{
    int64_t bytes = 8 * (int64_t)rd_cuda_shared_words(s) * (s->choice.block / s->team);

    for (int32_t k = 0; k < s->p->n_fold; k++)
        for (int j = 0; s->fold[k].lanes && j < s->fold[k].of.n_state; j++)
            bytes += (int64_t)RD_TREE_STEPS * lanes * state_size(&s->fold[k].of, j);
    return bytes <= s->choice.cross_room;
}

/* Teams wait for the first one at the beginning of a patch, and at its end for the last one; of the
 * threads that a GPU has room for, registers leave a quarter. */
static bool are_busy(const rd_cuda_shape *s, int32_t lanes)
{
    const int64_t teams = s->choice.block / s->team, turns = RD_TREE_STEPS / s->at_once;
    const int64_t groups  = (s->patch[1] + lanes - 1) / lanes;
    const int64_t all     = (groups + teams - 1) / teams * turns + teams - 1;
    const int64_t threads = s->n_item * s->n_patch[0] * s->n_patch[1] * s->choice.block;
    const int64_t fit = s->choice.at_work / 4, wanted = s->choice.at_work / s->choice.cross_share;

    return (threads < fit ? threads : fit) * groups * turns >= wanted * teams * all;
}

/* ---- All together ---------------------------------------------------------------------------- */
static void find_patches(rd_cuda_shape *s, int32_t lanes)
{
    const int64_t size[2] = { RD_TREE_STEPS, (int64_t)RD_TREE_STEPS * lanes };

    for (int k = 0; k < 2; k++) {
        const int64_t extent = s->p->loop[s->cross[k]].extent;

        s->patch[k]   = size[k] < extent ? size[k] : extent;
        s->n_patch[k] = (extent + size[k] - 1) / size[k];
    }
}

int64_t rd_cuda_nodes_of(const rd_cuda_shape *s, int64_t n)
{
    return n + rd_cuda_groups_of(s, n);
}

int64_t rd_cuda_groups_of(const rd_cuda_shape *s, int64_t n)
{
    int64_t groups = 0;

    while (n > 1) {
        n = (n + s->choice.fan - 1) / s->choice.fan;
        groups += n;
    }
    return groups;
}

/* Nodes of columns, and of the lanes of rows that are several patches; counters of both. */
static void place_nodes(rd_cuda_shape *s)
{
    const int64_t *n = s->n_patch;

    s->node_bytes = 0;
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f     = &s->fold[k];
        const int64_t along = f->lanes ? s->p->loop[s->cross[0]].extent * f->of.fold->lanes
                                       : s->p->loop[s->cross[1]].extent;
        const int64_t nodes = f->lanes && n[1] == 1 ? 0 : rd_cuda_nodes_of(s, n[f->lanes]) * along;

        f->node  = s->node_bytes;
        f->nodes = rd_cuda_room(nodes * f->of.bytes);
        s->node_bytes += f->of.n_state * f->nodes;
    }
    s->item_counters = n[1] * rd_cuda_groups_of(s, n[0]) + n[0] * rd_cuda_groups_of(s, n[1]);
}

/* States at hand are a thread's own: columns, or lanes of a row. */
static void give_homes(rd_cuda_shape *s)
{
    for (int32_t k = 0; k < s->p->n_fold; k++) {
        rd_cuda_fold *f = &s->fold[k];

        f->tree    = false; /* its nodes are apart */
        f->abreast = 1;
        f->home    = RD_HOME_LOCAL;
        f->here    = f->lanes ? s->wide : 1;
        f->n_cell  = f->lanes ? 1 : s->wide;
        f->states  = s->wide;
    }
}

static bool fails(rd_cuda_shape *s)
{
    s->cross[0] = s->cross[1] = -1;
    s->team = s->wide = 1;
    for (int32_t k = 0; k < s->p->n_fold; k++)
        s->fold[k].lanes = false;
    return false;
}

bool rd_cuda_find_cross(rd_cuda_shape *s)
{
    int32_t lanes, outer, inner;

    if (s->n_item == 0 || s->p->n_fold < 2 || s->p->n_fold > RD_GPU_MOST_FOLDS ||
        !find_loops(s, &outer, &inner))
        return false;
    tell_apart(s, outer, inner);
    lanes = find_lanes(s);
    if (lanes == 0 || !all_may_cross(s) || !find_team(s, lanes) || !has_room(s, lanes))
        return fails(s);
    find_turns(s);
    find_patches(s, lanes);
    if (!are_busy(s, lanes))
        return fails(s);
    s->spread[s->cross[1]] = true;
    place_nodes(s);
    give_homes(s);
    return true;
}
