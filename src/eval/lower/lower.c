/* lower.c - code generation: turns each stage of a nest into a loop program.
 *
 * Scopes are traversed in order.  An inlined value is computed at the outermost level where its
 * operands are available (loop-invariant code motion), once per level.  It stays in its register
 * until the level ends.
 *
 *    for i: t0 = sum k (x0[i,k]); y0[i] = t0 * a
 *      ->  CONST a;  LOOP i;  START t0;  LOOP k;  LOAD x0;  STEP t0;  END k;
 *          CLOSE t0;  MAP mul;  STORE y0;  END i
 *
 * A scope is a loop body, or the root around all loops.  A materialised value is stored or kept,
 * an inlined one is computed in each reader.  A fold is a reduction or a scan.
 *
 * Fields. An operand in[k] of -1 is not there. */
#include "eval/lower/lower.h"
#include "core/combine_tree.h"
#include "eval/place/place.h"
#include <string.h>

/* ---- Materialised values --------------------------------------------------------------------- */

/* The register of operand k of a value, which must have been computed; -1: there is no such
 * operand. */
static int operand(const rd_lowering *l, const rd_value *v, int k)
{
    return k < v->n_in && v->in[k] >= 0 ? l->reg[v->in[k]] : -1;
}

/* Writes the code of a value that is stored or kept: its operands, then a step, a scan, a sort or
 * an operation, and the store. A reduction's results are stored later, where it finishes. A JOIN
 * is only the storage that parts of a concatenation fill. Operands a, b, c, d of a step are the
 * element, its weight or other factor, its mask, and its label; -1: none. */
static void emit_materialised(rd_lowering *l, int i)
{
    const rd_value *v    = &l->graph->value[i];
    rd_opened      *here = &l->level[l->depth];

    if (v->kind == RD_VALUE_JOIN)
        return;
    if (v->kind == RD_VALUE_SORT) {
        rd_emit_sort(l, here, i);
        return;
    }
    rd_compute_operands(l, v);
    if (l->failed)
        return;
    if (v->kind == RD_VALUE_REDUCE) {
        rd_emit(l, here,
                (rd_inst){ .kind = RD_I_STEP,
                           .type = v->type,
                           .dst  = -1,
                           .a    = operand(l, v, 0),
                           .b    = operand(l, v, 1),
                           .c    = operand(l, v, 2),
                           .d    = operand(l, v, 3),
                           .arg  = l->fold[i] });
        return;
    }
    if (v->kind == RD_VALUE_SCAN) {
        int dst = l->p->n_reg++;

        rd_emit(l, here,
                (rd_inst){ .kind = RD_I_SCAN,
                           .type = v->type,
                           .dst  = dst,
                           .a    = operand(l, v, 0),
                           .b    = operand(l, v, 1),
                           .c    = operand(l, v, 2),
                           .arg  = l->fold[i] });
        rd_set_register(l, i, l->depth, dst);
    } else
        rd_compute(l, i);
    if (l->tree->storage[i].keep != RD_KEEP_REGISTER)
        rd_emit_store(l, here, i, l->reg[i]);
}

/* ---- Scopes ---------------------------------------------------------------------------------- */
/* The only stored value inside a loop body and the loops in it; -1: there are several. */
static int only_materialised(const rd_loop_scope *scope)
{
    int only = -1;

    for (const rd_item *item = scope->first; item; item = item->next) {
        int v = item->loop ? only_materialised(item->loop) : item->value;

        if (only >= 0 || v < 0)
            return -1;
        only = v;
    }
    return only;
}

/* True if the instruction may report something: an index out of range, what a user's function says,
 * or an operator's warning such as a division by 0. */
bool rd_inst_reports(const rd_inst *inst)
{
    return inst->kind == RD_I_INDEX || inst->kind == RD_I_CALL ||
           (inst->kind == RD_I_MAP && rd_op_reports(inst->op, inst->type));
}

/* True if the loop body may report something, such as a division by 0 or an index out of range.
 * Such loops have no early exit, because reports must not depend on how tasks share the loop. */
static bool may_report(const rd_lowering *l, const rd_opened *level)
{
    for (int i = 0; i < level->n; i++)
        if (rd_inst_reports(&level->inst[i]))
            return true;
    return l->failed;
}

/* True if an early exit pays off: the loop is long, or the test is one comparison of a bool. In a
 * short loop it costs more to test several results or SIMD lanes, to call a user's reducer, or to
 * look for a rare value. f->first: the first best element decides. */
static bool is_exit_worthwhile(const rd_lowering *l, const rd_loop_scope *loop, const rd_fold *f)
{
    enum { SHORT = 16 * RD_TREE_STEPS };

    return (rd_reducer_decides(f->reducer) && f->n_cell == 1 && f->lanes == 1) || f->first ||
           l->graph->axis[loop->axis].extent > SHORT;
}

/* True for an argmax or argmin of bools along a long row, which visits indices in rising order
 * without a mask (in[2]). Then the first best element is the result, and the loop may end there.
 * rd_reducer_places(): the reducer gives a place. f->index is the flat index, here the loop's
 * own, rising. */
static bool finds_first(const rd_lowering *l, const rd_value *v, const rd_fold *f,
                        const rd_loop_scope *loop)
{
    enum { LONG = 65536 };

    return rd_reducer_places(f->reducer) && f->type == RD_BOOL && !f->scan &&
           (v->n_in < 3 || v->in[2] < 0) && !loop->backwards && f->index.n_add == 1 &&
           f->index.add[0].axis == loop->axis && f->index.add[0].coef > 0 &&
           l->graph->axis[loop->axis].extent >= LONG;
}

/* Writes an early exit (EXIT) into loop `number` if the loop feeds one reduction only, whose
 * result one element may decide, as a true decides `any`. Not for a group-by, nor for a user's
 * reducer with several cells (results at a time). The only stored value in the loop must be that
 * reduction, over the loop's axis, and nothing in the body may report an error. */
static void emit_exit(rd_lowering *l, const rd_loop_scope *loop, int number)
{
    int v = only_materialised(loop);

    if (l->failed || v < 0 || may_report(l, &l->level[l->depth]) ||
        l->graph->value[v].kind != RD_VALUE_REDUCE ||
        !rd_in(l->graph->value[v].reduced, loop->axis))
        return;
    rd_fold *f = &l->p->fold[l->fold[v]];

    f->first = finds_first(l, &l->graph->value[v], f, loop);
    if (!rd_fold_decides(f) || (f->n_cell != 1 && f->user) || f->n_group ||
        !is_exit_worthwhile(l, loop, f))
        return;
    rd_emit(l, &l->level[l->depth], (rd_inst){ .kind = RD_I_EXIT, .a = l->fold[v], .arg = number });
}

static void emit_items(rd_lowering *l, const rd_loop_scope *scope);

static void emit_loop(rd_lowering *l, rd_loop_scope *loop, rd_opened *into, rd_opened *after);

/* Writes the code behind a loop into `after`: the results of reductions that end with it, then its
 * epilogue, a loop over rows with elementwise operations on these results. */
static void emit_loop_end(rd_lowering *l, rd_loop_scope *loop, rd_opened *after)
{
    rd_finish_folds(l, after, loop, loop);
    if (loop->epilogue)
        emit_loop(l, loop->epilogue, after, after);
}

/* Writes a loop: START of the reductions that begin at it, LOOP, body and END into `into`, then
 * their CLOSE and stores into `after`. The two differ for the root loop alone: tasks share it, and
 * what comes after runs once. rd_open_level() opens the body, and rd_end_level() returns its
 * instructions. emit_loop_end() writes CLOSE and stores. */
static void emit_loop(rd_lowering *l, rd_loop_scope *loop, rd_opened *into, rd_opened *after)
{
    rd_opened body;
    int       number;

    rd_start_folds(l, loop, loop);
    /* without iterations only results are made; no operand may be hoisted out of such a loop */
    if (l->graph->axis[loop->axis].extent == 0) {
        emit_loop_end(l, loop, after);
        return;
    }
    number = rd_new_loop(l, (rd_loop){ .kind      = loop->tile ? RD_LOOP_TILE : RD_LOOP_EACH,
                                       .axis      = loop->axis,
                                       .extent    = l->graph->axis[loop->axis].extent,
                                       .step      = loop->step,
                                       .backwards = loop->backwards });
    rd_open_level(l, loop);
    if (l->stage->item->loop->epilogue) /* results that this loop of it reads */
        rd_finish_epilogue_folds(l, loop);
    emit_items(l, loop);
    emit_exit(l, loop, number);
    body = rd_end_level(l);
    rd_emit(l, into, (rd_inst){ .kind = RD_I_LOOP, .arg = number });
    for (int k = 0; k < body.n; k++)
        rd_emit(l, into, body.inst[k]);
    rd_emit(l, into, (rd_inst){ .kind = RD_I_END, .arg = number });
    emit_loop_end(l, loop, after);
}

/* Writes a reduction without a loop, over no axes or axes of extent 1: START, one STEP, CLOSE.
 * storage[i].where is the loop body that computes it. */
static void emit_item_fold(rd_lowering *l, int i)
{
    rd_opened *here = &l->level[l->depth];
    int        f    = rd_new_fold(l, i, l->tree->storage[i].where);

    rd_emit(l, here, (rd_inst){ .kind = RD_I_START, .arg = f });
    emit_materialised(l, i);
    rd_finish_fold(l, &l->level[l->depth], i);
}

/* Writes the items of a loop body in order. finish_loop: the loop behind which a reduction is
 * complete, NULL: it has no loop. */
static void emit_items(rd_lowering *l, const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item && !l->failed; item = item->next) {
        if (item->loop)
            emit_loop(l, item->loop, &l->level[l->depth], &l->level[l->depth]);
        else if (l->graph->value[item->value].kind == RD_VALUE_REDUCE &&
                 !l->tree->storage[item->value].finish_loop)
            emit_item_fold(l, item->value);
        else
            emit_materialised(l, item->value);
    }
}

/* ---- Programs -------------------------------------------------------------------------------- */
/* Concatenates the three parts of a program's code: what runs once before, the body that tasks
 * share, and what runs once after. Then runs the passes over finished programs. l->level[0] is
 * what runs once before, l->tail once after; p->body and p->tail are where these parts begin. */
static void finish_program(rd_lowering *l, const rd_opened *body)
{
    rd_program      *p       = l->p;
    const rd_opened *part[3] = { &l->level[0], body, &l->tail };

    p->n_inst = part[0]->n + part[1]->n + part[2]->n;
    p->body   = part[0]->n;
    p->tail   = part[0]->n + part[1]->n;
    p->inst   = rd_pool_get(l->pool, (size_t)(p->n_inst + 1) * sizeof *p->inst);
    l->failed |= !p->inst;
    for (int k = 0, at = 0; k < 3 && !l->failed; at += part[k++]->n)
        if (part[k]->n)
            memcpy(p->inst + at, part[k]->inst, (size_t)part[k]->n * sizeof *p->inst);
    if (l->failed)
        return;
    rd_program_tree(p);
    rd_unroll_results(l);
    rd_bound_loops(l);
    l->failed |= !l->graph->device && !rd_copy_bits(l);
}

/* Copies a vector of n items from planning memory into the plan's memory, without spare room. */
static void copy_to_plan(rd_lowering *l, void **vector, int32_t n, size_t size)
{
    *vector = rd_pool_grow(l->pool, *vector, (size_t)n, (size_t)n, size);
    l->failed |= !*vector;
}

/* Copies all vectors of the program into the plan's memory. */
static void copy_program_to_plan(rd_lowering *l)
{
    rd_program *p = l->p;

    if (l->failed)
        return;
    copy_to_plan(l, (void **)&p->address, p->n_address, sizeof *p->address);
    copy_to_plan(l, (void **)&p->loop, p->n_loop, sizeof *p->loop);
    copy_to_plan(l, (void **)&p->fold, p->n_fold, sizeof *p->fold);
    copy_to_plan(l, (void **)&p->call, p->n_call, sizeof *p->call);
    copy_to_plan(l, (void **)&p->sorting, p->n_sorting, sizeof *p->sorting);
    copy_to_plan(l, (void **)&p->scratch_bytes, p->n_scratch, sizeof *p->scratch_bytes);
}

/* Fills in the facts of a program that come from the stage and the graph. root is the axis that
 * tasks share, grain of what their begins are multiples, serial: there is one task. */
static void describe_program(rd_lowering *l)
{
    rd_program *p = l->p;

    p->n_axis      = l->graph->n_axis;
    p->root        = l->stage->root;
    p->grain       = l->stage->grain;
    p->serial      = l->stage->serial;
    p->exact       = l->graph->exact;
    p->fast        = l->graph->fast;
    p->axis_extent = rd_pool_get(l->pool, (size_t)(p->n_axis + 1) * sizeof *p->axis_extent);
    l->failed |= !p->axis_extent;
    for (int a = 0; a < p->n_axis && !l->failed; a++)
        p->axis_extent[a] = l->graph->axis[a].extent;
}

/* Adds up the operations of a loop body and of its epilogue. A reduction by sparse rows goes
 * element by element and gathers its operands, so it counts RD_VECTOR times as much. v->ops are
 * the operations of an element, and 1 more is counted. */
static void add_work(rd_lowering *l, const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v = item->loop ? NULL : &l->graph->value[item->value];

        if (item->loop)
            add_work(l, item->loop);
        else
            l->p->work += (double)rd_points_of(l->graph, rd_space(v)) * (1 + v->ops) *
                          (rd_is_element_by_element(l->graph, v) ? RD_VECTOR : 1);
    }
    if (scope->epilogue)
        add_work(l, scope->epilogue);
}

/* Writes the program of one stage (one pass over memory): a loop with all inside, or one value
 * without loops. False on failure. l->stage->item is the loop or the value; without a loop it is
 * a reduction, or another value that is stored. */
static bool lower_stage(rd_lowering *l)
{
    rd_opened body = { 0 };

    l->depth    = 0;
    l->level[0] = (rd_opened){ .scope = l->tree->root };
    l->tail     = (rd_opened){ 0 };
    describe_program(l);
    if (l->failed)
        return false;
    if (l->stage->item->loop) {
        add_work(l, l->stage->item->loop);
        emit_loop(l, l->stage->item->loop, &body, &l->tail);
    } else if (l->graph->value[l->stage->item->value].kind == RD_VALUE_REDUCE)
        emit_item_fold(l, l->stage->item->value);
    else
        emit_materialised(l, l->stage->item->value);
    finish_program(l, &body);
    copy_program_to_plan(l);
    rd_end_level(l);
    return !l->failed;
}

/* Writes the programs of all stages of a nest into `pool`, the plan's memory; the tables of this
 * pass are in the graph's memory. NULL on failure. Tables by value: `reg` its register, `at` its
 * level, `fold` its reduction, -1: none; `slot` its memory. rd_goes_on() is false if the caller
 * has cancelled. first_scratch: slots from there on are scratch memory. */
rd_program *rd_lower(rd_nest *nest, rd_pool *pool)
{
    rd_graph    *g        = nest->tree->graph;
    rd_pool     *work     = g->pool;
    rd_lowering *l        = rd_pool_get(work, sizeof *l);
    rd_program  *programs = rd_pool_get(pool, (size_t)(nest->n_stage + 1) * sizeof *programs);
    size_t       bytes    = (size_t)(g->n_value + 1) * sizeof(int32_t);

    if (!l || !programs)
        return NULL;
    *l = (rd_lowering){ .tree   = nest->tree,
                        .graph  = g,
                        .pool   = pool,
                        .reg    = rd_pool_get(work, bytes),
                        .at     = rd_pool_get(work, bytes),
                        .slot   = rd_pool_get(work, bytes),
                        .fold   = rd_pool_get(work, bytes),
                        .need   = rd_pool_get(work, bytes),
                        .needed = rd_pool_get(work, bytes) };
    if (!l->reg || !l->at || !l->slot || !l->fold || !l->need || !l->needed ||
        !rd_assign_slots(g, nest->tree, l->slot))
        return NULL;
    memset(l->reg, -1, bytes);
    memset(l->at, -1, bytes);
    memset(l->fold, -1, bytes);
    for (int s = 0; s < nest->n_stage; s++) {
        l->stage            = &nest->stage[s];
        l->p                = &programs[s];
        l->p->first_scratch = g->n_slot;
        l->room_address = l->room_loop = l->room_fold = l->room_call = l->room_sorting =
            l->room_scratch                                          = 0;
        if (!rd_goes_on(g->ctx) || !lower_stage(l))
            return NULL;
    }
    return programs;
}
