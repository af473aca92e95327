/* facts.c - where each instruction of a program stands, and what the text of its folds will need.
 * */
#include "kernels/cpu/codegen/parts.h"
#include "kernels/math/so_far.h"
#include <string.h>

bool rd_same_address(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++) {
        bool found = false;

        for (int32_t j = 0; j < b->n_add; j++)
            found |= a->add[k].axis == b->add[j].axis && a->add[k].reg == b->add[j].reg &&
                     a->add[k].local == b->add[j].local && a->add[k].coef == b->add[j].coef;
        if (!found)
            return false;
    }
    return true;
}

bool rd_within(const rd_codegen *n, int32_t inst, int32_t loop)
{
    return inst > n->p->loop[loop].begin && inst < n->p->loop[loop].end;
}

int32_t rd_part_of(const rd_program *p, int32_t inst)
{
    return inst < p->body ? 0 : inst < p->tail ? 1 : 2;
}

int64_t rd_reach(const rd_program *p, int32_t axis)
{
    int64_t extent = p->axis_extent[axis];

    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == axis && p->loop[k].step < extent)
            extent = p->loop[k].step;
    return extent;
}

int64_t rd_trips(const rd_program *p, int32_t loop)
{
    const rd_loop *l = &p->loop[loop];

    if (rd_is_row(l)) /* on the average */
        return p->axis_extent[l->axis] / p->axis_extent[rd_axis_of_rows(p, l)] + 1;
    return l->kind == RD_LOOP_TILE ? (p->axis_extent[l->axis] + l->step - 1) / l->step
                                   : rd_reach(p, l->axis);
}

bool rd_takes_step(const rd_inst *inst)
{
    return inst->kind == RD_I_STEP || inst->kind == RD_I_SCAN;
}

/* ---- Registers and slots --------------------------------------------------------------------- */
static void find_made(rd_codegen *n)
{
    const rd_program *p = n->p;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        for (int32_t k = 0; k < rd_inst_makes(p, inst); k++)
            n->made[inst->dst + k] = i;
        if (inst->kind == RD_I_STORE)
            n->stored[p->address[inst->arg].slot] = true;
    }
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* The innermost loop whose rounds are steps: over the lanes, or where these are one step over what
 * is around them. */
static int32_t loop_along(rd_codegen *n, const rd_codegen_fold *f)
{
    const bool one_step = f->of.fold->lane_extent <= f->of.fold->lanes;

    for (int32_t k = n->p->inst[f->step].loop; k >= 0; k = n->p->loop[k].parent)
        if (n->p->loop[k].kind == RD_LOOP_EACH &&
            (rd_coef(&f->of.fold->outer, n->p->loop[k].axis) ||
             (!one_step && rd_coef(&f->of.fold->lane, n->p->loop[k].axis))))
            return k;
    return -1;
}

static int32_t rows_of_tree(const rd_fold *f, bool split)
{
    int32_t bits = 0;
    rd_word end;

    for (int64_t k = f->n_block; k > 0; k /= 2)
        bits++;
    if (f->scan || rd_fold_end(f, &end) || (f->n_block == 1 && !split))
        return 0;
    return split ? 2 * bits + 3 : bits + 2;
}

/* Nodes of 1, 2, 4 .. elements of a block. */
static int32_t levels_of(int64_t steps)
{
    int32_t levels = 0;

    for (int64_t k = steps < RD_TREE_STEPS ? steps : RD_TREE_STEPS; k > 0; k /= 2)
        levels++;
    return levels;
}

static bool is_signed(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_INT;
}

static bool has_17_bits(const rd_codegen *n, int32_t reg, int depth)
{
    enum { DEEP = 4, MOST = 65535 };
    const rd_inst *made = reg >= 0 ? &n->p->inst[n->made[reg]] : NULL;

    if (!made || rd_dtype_kind(made->type) == RD_KIND_FLOAT || depth == DEEP)
        return false;
    if (rd_small_type(made->type))
        return true;
    switch (made->kind) {
    case RD_I_CONST:
        return made->value.i64 >= (is_signed(made->type) ? -MOST : 0) && made->value.i64 <= MOST;
    case RD_I_CAST: /* as unsigned, what is negative is large */
        return (is_signed(made->type) || !is_signed(made->from)) &&
               has_17_bits(n, made->a, depth + 1);
    case RD_I_SELECT:
        return has_17_bits(n, made->b, depth + 1) && has_17_bits(n, made->c, depth + 1);
    default: return false;
    }
}

bool rd_has_17_bits(const rd_codegen *n, int32_t reg)
{
    return has_17_bits(n, reg, 0);
}

/* Sums in a wide type of ints of 17 bits: blocks of them are int32s, of which vectors hold twice
 * as many.  So are those of doubles that are such ints, as means take: no sum of theirs was
 * rounded.  But a masked one of nothing is -0.0, and one with weights has factors. */
static bool sums_in_32_bits(const rd_codegen *n, const rd_codegen_fold *f)
{
    enum { MOST_STEPS = 1 << 14 };
    const rd_fold *const fold = f->of.fold;
    const rd_inst *const x    = &n->p->inst[n->made[n->p->inst[f->step].a]];

    if (fold->reducer != RD_RED_sum || fold->scan || rd_has_groups(f) || fold->by_rows ||
        fold->steps > MOST_STEPS || f->of.weighted)
        return false;
    if (fold->type == RD_F64)
        return !f->of.masked && x->kind == RD_I_CAST && rd_has_17_bits(n, x->a);
    return (fold->type == RD_I64 || fold->type == RD_U64) && rd_has_17_bits(n, x->dst);
}

static void describe_fold(rd_codegen *n, int32_t k)
{
    const rd_fold   *fold  = &n->p->fold[k];
    rd_codegen_fold *f     = &n->fold[k];
    const int64_t    outer = rd_positions(n->p, &fold->outer);
    const int64_t    rows  = (fold->lane_extent + fold->lanes - 1) / fold->lanes;

    f->of.narrow     = true;
    f->of.in_32_bits = sums_in_32_bits(n, f);
    f->of.empties    = rd_has_groups(f) || fold->by_rows;
    rd_emit_facts(&f->of, rd_positions(n->p, &fold->index));
    f->of.rises = !fold->scan && rd_rises(n->p, f->step, &fold->index);
    f->mixed    = fold->lane_extent > fold->lanes && fold->lane.n_add > 1;
    f->along    = f->mixed ? -1 : loop_along(n, f);
    f->steps    = outer * rows;
    f->split    = fold->split && !n->whole;
    f->room     = rows_of_tree(fold, f->split);
    for (f->shift = 0; f->room && fold->steps >> f->shift > 1; f->shift++)
        ;
    f->blocks = f->room || (fold->scan && fold->n_block > 1 && !rd_fold_any_grouping(fold));
    f->pair =
        fold->scan && fold->reducer == RD_RED_sum && rd_dtype_kind(fold->type) == RD_KIND_FLOAT;
    f->n_words = f->pair ? rd_so_far_words(fold->n_block) : 0;
    f->levels =
        fold->prefix == RD_PREFIX_TREE && !rd_fold_any_grouping(fold) ? levels_of(f->steps) : 0;
    f->lanes = fold->lanes;
    if (outer == 1 && fold->lane_extent < fold->lanes)
        f->lanes = (int32_t)fold->lane_extent;
    if (fold->scan &&
        (fold->lane.n_add || fold->lane_extent > 1 ||
         (fold->out != fold->type && !rd_reducer_places(fold->reducer) && !fold->user)))
        n->why = "a scan of several lanes, or of another type than its results";
    else if (f->mixed && (fold->outer.n_add || !rd_rises(n->p, f->step, &fold->lane)))
        n->why = "lanes along several axes that are not walked in their order";
    else if (fold->lane_extent < fold->lanes)
        f->lanes = (int32_t)fold->lane_extent;
}

static void find_folds(rd_codegen *n)
{
    const rd_program *p = n->p;

    for (int32_t k = 0; k < p->n_fold; k++)
        n->fold[k] =
            (rd_codegen_fold){ .of.fold = &p->fold[k], .start = -1, .step = -1, .close = -1 };
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst   *inst = &p->inst[i];
        rd_codegen_fold *f    = &n->fold[inst->arg >= 0 && inst->arg < p->n_fold ? inst->arg : 0];

        if (inst->kind == RD_I_START)
            f->start = i;
        if (inst->kind == RD_I_CLOSE)
            f->close = i;
        if (rd_takes_step(inst)) {
            if (f->step >= 0)
                n->why = "a fold with two steps";
            f->step        = i;
            f->of.masked   = inst->c >= 0 || rd_has_groups(f) || f->of.fold->by_rows;
            f->of.weighted = inst->b >= 0;
        }
    }
    for (int32_t k = 0; k < p->n_fold && !n->why; k++) {
        if (n->fold[k].step < 0 || n->fold[k].start < 0)
            n->why = "a fold without elements";
        else
            describe_fold(n, k);
    }
}

/* ---- What cannot be -------------------------------------------------------------------------- */
/* Trees know how many blocks there are, and of a loop that is left there are fewer: tiles have
 * them. */
static bool leaves_a_tree(const rd_program *p)
{
    bool any = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        any |= p->inst[i].kind == RD_I_EXIT && p->fold[p->inst[i].a].user;
    return any;
}

static void look_for_refusals(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_loop && !n->why; k++)
        if (n->p->loop[k].extent == 0)
            n->why = "no elements";
    for (int32_t k = 0; k < n->p->n_fold && !n->why; k++)
        if (rd_has_groups(&n->fold[k]))
            rd_labels_facts(n, &n->fold[k]);
    if (!n->why && leaves_a_tree(n->p))
        n->why = "a reducer of one's own that may end its loop early";
}

bool rd_codegen_facts(rd_codegen *n, rd_get_fn *get, void *pool)
{
    const rd_program *p = n->p;

    for (int32_t k = 0; k < p->n_address; k++)
        n->n_slot = p->address[k].slot >= n->n_slot ? p->address[k].slot + 1 : n->n_slot;
    n->made    = get(pool, ((size_t)p->n_reg + 1) * sizeof *n->made);
    n->stored  = get(pool, (size_t)n->n_slot + 1);
    n->reuse   = get(pool, ((size_t)p->n_inst + 1) * sizeof *n->reuse);
    n->at_hand = get(pool, ((size_t)p->n_inst + 1) * sizeof *n->at_hand);
    n->unread  = get(pool, (size_t)p->n_inst + 1);
    n->fold    = get(pool, ((size_t)p->n_fold + 1) * sizeof *n->fold);
    n->region  = get(pool, ((size_t)p->n_loop + 4) * sizeof *n->region);
    n->at_loop = get(pool, ((size_t)p->n_loop + 1) * sizeof *n->at_loop);
    n->in_loop = get(pool, ((size_t)p->n_loop + 1) * sizeof *n->in_loop);
    n->bind    = get(pool, ((size_t)p->n_axis + 1) * sizeof *n->bind);
    n->ranges  = get(pool, ((size_t)p->n_axis + 1) * sizeof *n->ranges);
    n->varies  = get(pool, (size_t)p->n_reg + 1);
    n->made_in = get(pool, ((size_t)p->n_reg + 1) * sizeof *n->made_in);
    n->crosses = get(pool, (size_t)p->n_reg + 1);
    n->copy    = get(pool, ((size_t)p->n_reg + 1) * sizeof *n->copy);
    if (!n->made || !n->stored || !n->reuse || !n->at_hand || !n->unread || !n->fold ||
        !n->region || !n->at_loop || !n->in_loop || !n->bind || !n->ranges || !n->varies ||
        !n->made_in || !n->crosses || !n->copy)
        return false;
    memset(n->reuse, -1, ((size_t)p->n_inst + 1) * sizeof *n->reuse);
    memset(n->at_hand, -1, ((size_t)p->n_inst + 1) * sizeof *n->at_hand);
    find_made(n);
    find_folds(n);
    look_for_refusals(n);
    for (int32_t k = 0; k < p->n_fold && !n->why; k++)
        if (p->fold[k].user && !rd_user_facts(&n->fold[k].of, k, n->pointers, get, pool))
            return false;
    return true;
}
