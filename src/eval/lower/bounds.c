/* bounds.c - turns masks that compare places (j <= i, |i - j| <= k) into bounds of loops.
 *
 *    for j in 0 .. n: s += a[i,j] where j <= i     ->     for j in 0 .. i + 1
 *
 * A masked element changes nothing in its reduction.  If all effects of a loop are reduction
 * steps under one such mask, indices with a false mask need not be visited.  Where the mask is
 * true for a whole strip, it need not be tested.  Executors may do either or neither: bits are
 * the same.  A mask may also compare a place with a number of its row: first[i] <= j and j <
 * end[i].
 *
 * A bound is a linear form, offset + sum of coef times index, that is not negative where the
 * mask is true.  A place is an index counted from 0.  A block table says for each pair of
 * clusters whether its block of elements takes part.
 *
 * Fields. A term of a subscript with `axis` -1 is a gathered index, the value of an array. A READ
 * is of a leaf's `slot`, or of another value, its `target`, -1: it is not.
 *
 * Words. Scratch is temporary memory of a task. */
#include "eval/lower/lower.h"
#include "expr/blocks.h"

/* A mask as bounds that all hold. exact: the mask is nothing else. */
enum { MOST = 4, DEPTH = 16 };
typedef struct mask {
    rd_bound bound[MOST];
    int32_t  n;      /* bounds found */
    int32_t  blocks; /* the LOAD of a block table that the mask reads; 0: none */
    bool     exact;
} mask;

/* The program in question, and one of its loops. */
typedef struct facts {
    const rd_program *p;
    const rd_graph   *graph;
    const int32_t    *made; /* by register: the instruction that sets it */
    const rd_loop    *loop; /* the loop in question */
} facts;

/* ---- Sums of indices ------------------------------------------------------------------------- */
/* Adds coef times the index of an axis to a linear form; false if there is no room or an
 * overflow. */
static bool add_term(rd_bound *to, int32_t axis, int64_t coef)
{
    int32_t k = 0;

    while (k < to->n_add && to->axis[k] != axis)
        k++;
    if (k == RD_BOUND_AXES)
        return false;
    if (k == to->n_add) {
        to->axis[to->n_add]   = axis;
        to->coef[to->n_add++] = 0;
    }
    return !__builtin_add_overflow(to->coef[k], coef, &to->coef[k]);
}

/* Adds coef times a register to a linear form; false if there is no room or an overflow. */
static bool add_register(rd_bound *to, int32_t reg, int64_t coef)
{
    int32_t k = 0;

    while (k < to->n_reg && to->reg[k] != reg)
        k++;
    if (k == RD_BOUND_REGS)
        return false;
    if (k == to->n_reg) {
        to->reg[to->n_reg]        = reg;
        to->reg_coef[to->n_reg++] = 0;
    }
    return !__builtin_add_overflow(to->reg_coef[k], coef, &to->reg_coef[k]);
}

/* Adds `times` times linear form `of` to linear form `to`; false on overflow, or if there is no
 * room for a term. A form has an offset, n_add terms of loop axes with `coef` and n_reg
 * registers with reg_coef. */
static bool add_times(rd_bound *to, const rd_bound *of, int64_t times)
{
    int64_t product;

    for (int32_t k = 0; k < of->n_reg; k++)
        if (__builtin_mul_overflow(of->reg_coef[k], times, &product) ||
            !add_register(to, of->reg[k], product))
            return false;

    for (int32_t k = 0; k < of->n_add; k++)
        if (__builtin_mul_overflow(of->coef[k], times, &product) ||
            !add_term(to, of->axis[k], product))
            return false;
    return !__builtin_mul_overflow(of->offset, times, &product) &&
           !__builtin_add_overflow(to->offset, product, &to->offset);
}

/* Sets a linear form to the sum of loop indices that a COORD instruction computes; false: it has a
 * gathered or range-relative index, or there is no room. `local`: the index counts from the
 * start of a tile's range. */
static bool add_places(rd_bound *to, const rd_address *at)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 || at->add[k].local ||
            !add_term(to, at->add[k].axis, at->add[k].coef))
            return false;
    to->offset = at->offset;
    return true;
}

static bool is_sum(const facts *f, int32_t reg, int depth, rd_bound *sum);

/* True if the linear form has neither loop indices nor registers: it is the constant `offset`. */
static bool is_number(const rd_bound *b)
{
    return b->n_add == 0 && b->n_reg == 0;
}

/* True if the instruction, an operator on linear forms, gives a linear form, which is filled in: a
 * sum, a difference, a negation, or a product with a constant. inst->a and b are registers;
 * is_number(): a form without terms, of the value `offset`. */
static bool is_sum_of_sums(const facts *f, const rd_inst *inst, int depth, rd_bound *sum)
{
    rd_bound a = { 0 }, b = { 0 };

    if (!is_sum(f, inst->a, depth, &a) ||
        (rd_op_table[inst->op].arity > 1 && !is_sum(f, inst->b, depth, &b)))
        return false;
    switch (inst->op) {
    case RD_OP_add: return add_times(sum, &a, 1) && add_times(sum, &b, 1);
    case RD_OP_sub: return add_times(sum, &a, 1) && add_times(sum, &b, -1);
    case RD_OP_neg: return add_times(sum, &a, -1);
    case RD_OP_mul:
        return is_number(&b) ? add_times(sum, &a, b.offset)
                             : is_number(&a) && add_times(sum, &b, a.offset);
    default: return false;
    }
}

/* True if the register holds a linear form of loop indices and constants; fills it in. A value
 * that is none, but is computed before the loop in question, may be a term as a register. `depth`
 * bounds the recursion. f->made[reg] is the number of the instruction that sets it, and
 * f->loop->begin that of the loop. */
static bool is_sum(const facts *f, int32_t reg, int depth, rd_bound *sum)
{
    const rd_inst *inst    = &f->p->inst[f->made[reg]];
    bool           is_form = false;

    *sum = (rd_bound){ 0 };
    if (inst->type != RD_I64 || depth == 0)
        return false;
    if (inst->kind == RD_I_COORD)
        is_form = add_places(sum, &f->p->address[inst->arg]);
    else if (inst->kind == RD_I_CONST) {
        sum->offset = inst->value.i64;
        is_form     = true;
    } else if (inst->kind == RD_I_MAP)
        is_form = is_sum_of_sums(f, inst, depth - 1, sum);
    if (is_form || f->made[reg] > f->loop->begin)
        return is_form;
    *sum = (rd_bound){ 0 };
    return add_register(sum, reg, 1);
}

/* ---- Masks ----------------------------------------------------------------------------------- */
/* Adds the bound y - x - less >= 0 to the mask, for x + less <= y; false: there is no room, or an
 * overflow. */
static bool add_difference(mask *m, const rd_bound *x, const rd_bound *y, int64_t less)
{
    rd_bound b = { .offset = -less };

    if (m->n == MOST || !add_times(&b, y, 1) || !add_times(&b, x, -1))
        return false;
    m->bound[m->n++] = b;
    return true;
}

/* Adds the bounds that registers x + less <= y mean, where `less` is 1 for x < y, else 0. |x| <= y
 * gives two: x <= y and -x <= y. False: x or y is no linear form. f->made[x] is the instruction
 * that sets register x; is_sum() finds its linear form. */
static bool add_at_most(const facts *f, mask *m, int32_t x, int32_t y, int64_t less)
{
    const rd_inst *inst = &f->p->inst[f->made[x]];
    const bool     both = inst->kind == RD_I_MAP && inst->op == RD_OP_abs;
    rd_bound       a, b, minus = { 0 };

    return is_sum(f, both ? inst->a : x, DEPTH, &a) && is_sum(f, y, DEPTH, &b) &&
           add_difference(m, &a, &b, less) &&
           (!both || (add_times(&minus, &a, -1) && add_difference(m, &minus, &b, less)));
}

/* The leaf (input array) that a LOAD reads; NULL: it reads other memory. */
static const rd_expr *leaf_of(const facts *f, const rd_inst *load)
{
    const int32_t slot = f->p->address[load->arg].slot;

    return slot < f->graph->n_slot ? f->graph->slot[slot].expr : NULL;
}

/* True for a LOAD of a block table, which says for each pair of clusters of rows and columns
 * whether that block of elements takes part. */
static bool reads_blocks(const facts *f, const rd_inst *inst)
{
    const rd_expr *leaf = inst->kind == RD_I_LOAD ? leaf_of(f, inst) : NULL;

    return leaf && leaf->blocks;
}

/* Splits the condition in a mask register into bounds, through `and`. m->exact becomes false if a
 * part of it is no bound. A block table (m->blocks) is exact only without a bound beside it.
 * inst->from is the type of the operands, a and b their registers. */
static void read_mask(const facts *f, int32_t reg, int depth, mask *m)
{
    const rd_inst *inst = &f->p->inst[f->made[reg]];
    bool           read = false;

    if (reads_blocks(f, inst)) {
        m->exact &= m->n == 0 && m->blocks == 0;
        m->blocks = f->made[reg];
        return;
    }

    if (inst->kind == RD_I_MAP && inst->op == RD_OP_and && inst->from == RD_BOOL && depth > 0) {
        read_mask(f, inst->a, depth - 1, m);
        read_mask(f, inst->b, depth - 1, m);
        return;
    }
    if (inst->kind == RD_I_MAP && inst->from == RD_I64)
        switch (inst->op) {
        case RD_OP_le: read = add_at_most(f, m, inst->a, inst->b, /*less=*/0); break;
        case RD_OP_lt: read = add_at_most(f, m, inst->a, inst->b, /*less=*/1); break;
        case RD_OP_ge: read = add_at_most(f, m, inst->b, inst->a, /*less=*/0); break;
        case RD_OP_gt: read = add_at_most(f, m, inst->b, inst->a, /*less=*/1); break;
        default: break;
        }
    m->exact &= read;
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* True if the register holds a constant that changes nothing in this reduction, such as 0 in a
 * sum. Only for reducers whose state is the result so far, merged by one operator. */
static bool is_neutral(const facts *f, const rd_fold *fold, int32_t reg)
{
    const rd_inst *inst = &f->p->inst[f->made[reg]];

    return inst->kind == RD_I_CONST && rd_reducer_table[fold->reducer].op != RD_OP_none &&
           rd_reducer_ignores(fold->reducer, rd_word_to_double(inst->value, inst->type));
}

/* The mask register of a reduction's step: its mask operand c, or the condition of where(mask, x,
 * neutral value). -1: there is none by which a loop may skip elements. In a group-by, skipped
 * elements would shift the blocks of other groups, unless any grouping gives the same bits. The
 * step's element is in register a; a choice (SELECT) has its condition in a and its other side
 * in c. */
static int32_t mask_of(const facts *f, const rd_inst *step)
{
    const rd_fold *fold = &f->p->fold[step->arg];
    const rd_inst *x    = &f->p->inst[f->made[step->a]];

    if (fold->user || step->kind != RD_I_STEP || (fold->n_group && !rd_fold_any_grouping(fold)))
        return -1;
    if (step->c >= 0)
        return step->c;
    return x->kind == RD_I_SELECT && is_neutral(f, fold, x->c) ? x->a : -1;
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* True if the instruction is in the body of the loop. */
static bool is_inside(const rd_loop *loop, int32_t inst)
{
    return inst > loop->begin && inst < loop->end;
}

/* The instruction that begins the reduction or scan: its START. */
static int32_t start_of(const rd_program *p, int32_t fold)
{
    int32_t i = 0;

    while (p->inst[i].kind != RD_I_START || p->inst[i].arg != fold)
        i++;
    return i;
}

/* True if what is stored in the slot is read only inside the loop. That is known of scratch memory
 * (temporary, of one task) only, and not if the program sorts, as sorts read it, too. Slots from
 * first_scratch on are scratch memory; is_inside(): instruction i is in the loop. */
static bool is_local(const rd_program *p, const rd_loop *loop, int32_t slot)
{
    if (slot < p->first_scratch || p->n_sorting)
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOAD && p->address[p->inst[i].arg].slot == slot &&
            !is_inside(loop, i))
            return false;
    return true;
}

typedef enum effect { NOTHING, STEPS, OTHER } effect;

/* The effect of an instruction in the loop on what is outside: NOTHING, a step of a reduction that
 * began before the loop (STEPS), or anything else (OTHER), such as a store or a reported error.
 * start_of() is where the reduction began; is_local(): scratch memory that only the loop uses;
 * rd_inst_reports(): it may report an error. */
static effect effect_of(const rd_program *p, const rd_loop *loop, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_STEP: return is_inside(loop, start_of(p, inst->arg)) ? NOTHING : STEPS;
    case RD_I_STORE: return is_local(p, loop, p->address[inst->arg].slot) ? NOTHING : OTHER;
    case RD_I_SCAN:
    case RD_I_SORT: return OTHER;
    /* what the loop skips after an exit changes nothing, masked or not */
    case RD_I_EXIT: return NOTHING;
    default: return rd_inst_reports(inst) ? OTHER : NOTHING;
    }
}

/* The coefficient of an axis in a bound; 0: it does not occur. */
static int64_t own_coef(const rd_bound *b, int32_t axis)
{
    for (int32_t k = 0; k < b->n_add; k++)
        if (b->axis[k] == axis)
            return b->coef[k];
    return 0;
}

/* True if two bounds are equal: their difference is 0 in every term. */
static bool is_same(const rd_bound *a, const rd_bound *b)
{
    rd_bound left = *a;
    bool     same = add_times(&left, b, -1) && left.offset == 0;

    for (int32_t k = 0; k < left.n_add; k++)
        same &= left.coef[k] == 0;
    for (int32_t k = 0; k < left.n_reg; k++)
        same &= left.reg_coef[k] == 0;
    return same;
}

/* True if the bound is among those of the mask. */
static bool has_bound(const mask *m, const rd_bound *b)
{
    for (int32_t k = 0; k < m->n; k++)
        if (is_same(&m->bound[k], b))
            return true;
    return false;
}

/* Finds the bounds that the masks of all reduction steps in the loop have in common; false: there
 * are none, or something in the loop has an effect without a mask. *reg: the first step's mask if
 * it consists of bounds alone, else -1; *whole: the number of its bounds. The first mask is
 * taken whole; of each further one only the bounds that it shares are kept, and a block table
 * only if it reads the same one. */
static bool common_mask(const facts *f, const rd_loop *loop, mask *common, int32_t *reg,
                        int32_t *whole)
{
    bool any = false;

    for (int32_t i = loop->begin + 1; i < loop->end; i++) {
        const effect e        = effect_of(f->p, loop, i);
        int32_t      mask_reg = e == STEPS ? mask_of(f, &f->p->inst[i]) : -1, kept = 0;
        mask         m = { .exact = true };

        if (e == NOTHING)
            continue;
        if (mask_reg < 0)
            return false;
        read_mask(f, mask_reg, DEPTH, &m);
        for (int32_t k = 0; any && k < common->n; k++)
            if (has_bound(&m, &common->bound[k]))
                common->bound[kept++] = common->bound[k];
        if (any)
            common->blocks = common->blocks == m.blocks ? common->blocks : 0;
        if (any)
            common->n = kept;
        else {
            *common = m;
            *whole  = m.n;
            *reg    = m.exact ? mask_reg : -1;
        }
        any = true;
    }
    return any && (common->n > 0 || common->blocks > 0);
}

/* The loop axis along which `value`, the cluster number of a point, is read from a table from end
 * to end; -1: it is read otherwise. *slot: the table's. Range checks and casts of the number are
 * looked through. The table must have one element for each index of the axis. */
static int32_t axis_of_clusters(const rd_graph *g, int32_t value, int32_t *slot)
{
    const rd_value *v = &g->value[value];

    while (v->kind == RD_VALUE_MAP && (v->op == RD_OP_index || v->op == RD_OP_cast))
        v = &g->value[v->in[0]];
    if (v->kind != RD_VALUE_READ || v->slot < 0 || v->at[0].n_term != 1 ||
        v->at[0].term[0].axis < 0 || /* clusters of points that an index array selects */
        !rd_subscript_is_axis(&v->at[0], v->at[0].term[0].axis) || !g->slot[v->slot].expr ||
        g->slot[v->slot].expr->extent[0] != g->axis[v->at[0].term[0].axis].extent)
        return -1;
    *slot = v->slot;
    return v->at[0].term[0].axis;
}

/* Finds the loop axes along rows [0] and columns [1] of the block table in this slot, and the
 * slots of the tables of their clusters. Its elements are read at row cluster * columns + column
 * cluster. False if readers differ, or read it otherwise. axis_of_clusters() is the loop axis of
 * a gathered index, with the slot of its table; -1: it is none. `of` is 1 for the column: its
 * coefficient is 1, that of the row `columns`. */
static bool axes_of_blocks(const rd_graph *g, int32_t slot, int32_t axis[2], int32_t clusters[2])
{
    const int64_t columns = g->slot[slot].expr->extent[1];

    axis[0] = axis[1] = -1;
    for (int32_t i = 0; i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        if (v->kind != RD_VALUE_READ || v->slot != slot)
            continue;
        if (v->at[0].n_term != 2 || v->at[0].offset)
            return false;
        for (int t = 0; t < 2; t++) {
            const rd_subscript_term *term = &v->at[0].term[t];
            const int                of   = term->coef == 1; /* 1: the column; 0: the row */
            const int32_t a = term->axis < 0 ? axis_of_clusters(g, term->value, &clusters[of]) : -1;

            if (a < 0 || (!of && term->coef != columns) || (axis[of] >= 0 && axis[of] != a))
                return false;
            axis[of] = a;
        }
    }
    return axis[0] >= 0 && axis[1] >= 0 && axis[0] != axis[1];
}

/* Fills in bounds by a block table for a loop along its rows or columns. At run time, the cluster
 * of the other axis (at address list_at) selects a list of ranges of this loop's index. False: the
 * loop runs along neither. There are two lists for each cluster of the other axis: of the
 * cluster alone, and of it with its neighbour. A table of one column, or without memory for the
 * address, gives false, too. */
static bool blocks_of(rd_lowering *l, const facts *f, const rd_loop *loop, int32_t load,
                      rd_bounds *bounds)
{
    const int32_t  slot = f->p->address[f->p->inst[load].arg].slot;
    const rd_expr *leaf = leaf_of(f, &f->p->inst[load]);
    int32_t        axis[2], clusters[2];

    if (leaf->extent[1] < 2 || !axes_of_blocks(f->graph, slot, axis, clusters))
        return false;
    for (int columns = 0; columns < 2; columns++) {
        const rd_address at = { .slot  = clusters[columns],
                                .type  = RD_I32,
                                .n_add = 1,
                                .add   = { { .axis = axis[columns], .reg = -1, .coef = 1 } } };

        if (axis[1 - columns] != loop->axis)
            continue;
        bounds->list_at   = rd_new_address(l, &at);
        bounds->list_slot = slot;
        bounds->list      = rd_blocks_lists(leaf, columns);
        bounds->lists     = 2 * leaf->extent[columns];
        return bounds->list_at >= 0;
    }
    return false;
}

/* Finds the bounds of one loop; false: there are none. A bound with coefficient 1 of the loop's
 * index limits it from below, one with -1 from above. bounds->mask is kept only if all bounds of
 * that mask are used, so that inside them it is true. A form without terms (n_add 0) is one that
 * is not set yet. With a block table beside other bounds there are none. */
static bool bounds_of(rd_lowering *l, const facts *f, const rd_loop *loop, rd_bounds *bounds)
{
    mask    common = { 0 };
    int32_t used = 0, whole = 0;

    *bounds = (rd_bounds){ .mask = -1, .list_at = -1 };
    if (!common_mask(f, loop, &common, &bounds->mask, &whole))
        return false;
    if (common.blocks > 0)
        return common.n == 0 && blocks_of(l, f, loop, common.blocks, bounds);
    for (int32_t k = 0; k < common.n; k++) {
        const int64_t coef = own_coef(&common.bound[k], loop->axis);
        rd_bound     *to   = coef == 1 ? &bounds->low : coef == -1 ? &bounds->high : NULL;

        if (to && to->n_add == 0) {
            *to = common.bound[k];
            used++;
        }
    }
    if (used < whole)
        bounds->mask = -1;
    return used > 0;
}

/* True if the program has reductions or scans, and loop indices as values (COORD) or block tables,
 * of which masks can be made. Most have not, which saves the rest of the pass. */
static bool any_place(const facts *f)
{
    for (int32_t i = 0; i < f->p->n_inst; i++)
        if (f->p->inst[i].kind == RD_I_COORD || reads_blocks(f, &f->p->inst[i]))
            return f->p->n_fold > 0;
    return false;
}

/* Finds bounds by masks for all loops of a finished program, such as j <= i for a triangular
 * sum. Loops that run backwards or over tiles get none; nor does any loop without memory.
 * any_place(): the program has anything of which masks are made. bounds.share is the part of
 * iterations that is left. */
void rd_bound_loops(rd_lowering *l)
{
    rd_program *p    = l->p;
    int32_t    *made = NULL;
    rd_bounds   bounds;

    if (l->failed || !any_place(&(facts){ .p = p, .graph = l->graph }) ||
        !(made = rd_pool_get(l->graph->pool, (size_t)(p->n_reg + 1) * sizeof *made)))
        return;
    for (int32_t i = 0; i < p->n_inst; i++)
        for (int32_t k = rd_inst_makes(p, &p->inst[i]); k-- > 0;)
            made[p->inst[i].dst + k] = i; /* the instruction that sets the register */
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_EACH && !p->loop[k].backwards &&
            bounds_of(l, &(facts){ p, l->graph, made, &p->loop[k] }, &p->loop[k], &bounds)) {
            bounds.share      = rd_bounds_share(p, l->graph, &p->loop[k], &bounds);
            p->loop[k].bounds = rd_pool_grow(l->pool, &bounds, 1, 1, sizeof bounds);
        }
}
