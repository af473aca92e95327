/* lower_folds.c - writes where the cells of reductions and scans begin and finish, and where
 * results go.
 *
 * A fold is a reduction or a scan.  A cell is one of its results, with the state that it has so
 * far.  START begins all cells, STEP takes an element, CLOSE makes the results.  A block is a
 * number of steps whose order is fixed; a block's end is where tasks may meet.
 *
 * Fields. `group` is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a
 * sorted row, -1: none. */
#include "eval/lower/lower.h"
#include <string.h>

/* The loop body in which the cells (accumulators) of a reduction or scan begin and finish: just
 * outside its outermost reduced loop. Without such a loop it is the body that computes the fold.
 * finish_loop is that outermost loop, NULL: none; a scan's is found from its loop body `where`
 * outwards. */
static const rd_loop_scope *fold_parent(const rd_lowering *l, int i)
{
    const rd_value      *v = &l->graph->value[i];
    const rd_loop_scope *s = l->tree->storage[i].where;

    if (v->kind == RD_VALUE_REDUCE)
        return l->tree->storage[i].finish_loop ? l->tree->storage[i].finish_loop->parent : s;
    while (s->parent && !rd_in(v->reduced, s->axis))
        s = s->parent;
    return s->parent ? s->parent : s;
}

/* Copies a text into the plan's memory, as the original lives in the context's arena, which the
 * plan may outlive.  NULL of NULL, or without memory. */
static const char *kept_text(rd_lowering *l, const char *text)
{
    const char *copy = text ? rd_pool_grow(l->pool, text, strlen(text), strlen(text) + 1, 1) : NULL;

    l->failed |= text && !copy;
    return copy;
}

/* True if tasks that begin at multiples of the grain may begin within a block (steps of one
 * accumulator, a lane, that are folded from the left). That is allowed only if any grouping of
 * elements has the same bits. `rows`: steps of a lane per index of the line position. The
 * remainders are 0 if each multiple of the grain is the begin of a block. f->split: tasks share
 * the reduction at all. */
static bool may_split_blocks(const rd_fold *f, int root, int64_t grain)
{
    const int64_t rows = (f->lane_extent + f->lanes - 1) / f->lanes;
    const int64_t line = rd_coef(&f->lane_line, root), lane = rd_coef(&f->lane, root);

    return f->split && rd_fold_any_grouping(f) &&
           (line * grain % f->steps * rows % f->steps || lane * grain % (f->steps * f->lanes));
}

/* Limits the number of tasks of a group-by. Each task has accumulators of all groups, which are
 * initialised and then merged across processors. So there should be an element for each byte of
 * these: 60,000 bins of 500,000 counts are too many. No limit if tasks share whole blocks (not
 * loose). `most` is that number of tasks; with fewer than 2, one task does all (serial). p->most
 * keeps the least limit of the program, 0: none. */
static void limit_tasks(rd_lowering *l, const rd_value *v, rd_fold *f)
{
    const double bytes = (double)f->n_cell * f->lanes * rd_dtype_size(f->type);
    const double most  = bytes > 0 ? (double)rd_points_of(l->graph, v->reduced) / bytes : 1;

    if (!f->loose || !f->n_group)
        return;
    if (most < 2) {
        l->p->serial = true;
        f->split = f->loose = false;
    } else if (!l->p->most || most < (double)l->p->most)
        l->p->most = most < INT32_MAX ? (int64_t)most : INT32_MAX;
}

/* Adds the reduction or scan that value i is to the program; its cells (accumulators) begin in
 * scope `parent`. Returns its number, or -1. split: tasks may share its reduced axis, as it begins
 * outside the root loop. Of a group-by, n_group is the number of groups, `group_stride` the
 * distance between the cells of two groups, and `begins` that from the labels to the array of row
 * begins, 0: none. Texts and facts are copied, as the plan may outlive the expression. */
int rd_new_fold(rd_lowering *l, int i, const rd_loop_scope *parent)
{
    const rd_value      *v     = &l->graph->value[i];
    const rd_fold_facts *facts = v->expr->as.fold;
    rd_fold *f = rd_push(l, (void **)&l->p->fold, l->p->n_fold, &l->room_fold, sizeof *f);

    if (!f)
        return -1;
    *f = (rd_fold){ .reducer             = (rd_reducer_id)v->reducer,
                    .law                 = (rd_law)facts->law,
                    .type                = l->graph->value[v->in[0]].type,
                    .out                 = v->type,
                    .scan                = v->kind == RD_VALUE_SCAN,
                    .exclusive           = facts->exclusive,
                    .reverse             = facts->reverse,
                    .prefix              = v->combine->prefix,
                    .identity            = facts->identity,
                    .ddof                = facts->ddof,
                    .of_pattern          = facts->of_pattern,
                    .no_equal_neighbours = facts->of_pattern == RD_PATTERN_APART,
                    .n_out = v->inner >= 0 ? (int32_t)l->graph->axis[v->inner].extent : 1,
                    .split = !parent->parent && l->stage->root >= 0 && !l->stage->serial };
    if (facts->user) {
        rd_reducer *copy = rd_pool_get(l->pool, sizeof *copy);

        l->failed |= !copy;
        if (copy) {
            *copy      = *facts->user;
            copy->name = kept_text(l, copy->name);
            for (int k = 0; k < 5; k++) /* init, step, merge ... */
                copy->code[k] = kept_text(l, copy->code[k]);
        }
        f->user = copy;
    }
    rd_fold_positions(l, v, f);
    rd_cell_address(l, i, parent, f);
    f->loose = may_split_blocks(f, l->stage->root, l->stage->grain);
    if (v->group >= 0) {
        f->n_group      = l->graph->axis[v->group].extent;
        f->group_stride = rd_coef(&f->cell, v->group);
        f->begins       = rd_row_begins_distance(l->graph, v);
        f->split &= f->n_block > 1 || f->loose;
        /* Compiled loops take rows of a sparse matrix one by one, each with its own state. */
        if (facts->of_pattern != RD_PATTERN_ROWS)
            limit_tasks(l, v, f);
    }
    return l->fold[i] = l->p->n_fold++;
}

/* Writes START for all reductions and scans inside `scope` whose cells (accumulators) begin just
 * outside `loop`. fold_parent() is the loop body in which the cells of a fold begin. */
void rd_start_folds(rd_lowering *l, const rd_loop_scope *scope, const rd_loop_scope *loop)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        if (item->loop)
            rd_start_folds(l, item->loop, loop);
        else if (l->graph->value[item->value].combine &&
                 fold_parent(l, item->value) == loop->parent) {
            int f = rd_new_fold(l, item->value, loop->parent);

            rd_emit(l, &l->level[l->depth], (rd_inst){ .kind = RD_I_START, .arg = f });
        }
    }
}

/* Adds a loop to the program; its number, -1 without memory. */
int rd_new_loop(rd_lowering *l, rd_loop loop)
{
    rd_loop *at = rd_push(l, (void **)&l->p->loop, l->p->n_loop, &l->room_loop, sizeof loop);

    if (!at)
        return -1;
    *at = loop;
    return l->p->n_loop++;
}

/* Writes the stores of a reduction's results, which are in registers from `reg` on. A reducer's
 * several outputs lie along one more storage dim, without a loop, so each gets an address of its
 * own. v->inner is the axis of these outputs, -1: there is one. It is taken out of the address,
 * and output k is k strides behind the first. */
static void store_results(rd_lowering *l, rd_opened *level, int i, int reg)
{
    const rd_value *v = &l->graph->value[i];
    rd_address      a;
    int64_t         stride = 0;

    rd_emit_store(l, level, i, reg);
    if (v->inner < 0 || l->failed)
        return;
    a = l->p->address[l->p->n_address - 1]; /* the address of that store */
    for (int t = 0; t < a.n_add; t++)
        if (a.add[t].axis == v->inner) {
            stride     = a.add[t].coef;
            a.add[t--] = a.add[--a.n_add];
        }
    l->p->address[l->p->n_address - 1] = a;
    for (int k = 1; k < l->graph->axis[v->inner].extent; k++) {
        a.offset += stride;
        rd_emit(
            l, level,
            (rd_inst){
                .kind = RD_I_STORE, .type = a.type, .a = reg + k, .arg = rd_new_address(l, &a) });
    }
}

/* Writes CLOSE of a reduction, which makes results from accumulators, and their stores, in loops
 * over its cells if there are several. In an epilogue the loop over rows is there already. A
 * single result stays in its register for code that follows in this loop body. `ends` is the
 * loop of an epilogue, NULL: none; axis[] are the axes of cells, and loops[] the loops made for
 * them. v->inner >= 0: several outputs. */
void rd_finish_fold(rd_lowering *l, rd_opened *into, int i)
{
    const rd_value      *v      = &l->graph->value[i];
    const rd_loop_scope *parent = fold_parent(l, i), *ends = l->tree->storage[i].epilogue_loop;
    int                  dst = l->p->n_reg, loops[RD_MAX_AXES], axis[RD_MAX_AXES], n = 0;

    if (l->failed) /* perhaps before the fold was made */
        return;
    l->p->n_reg += l->p->fold[l->fold[i]].n_out;
    for (const int n_axis = ends ? 0 : rd_cell_axes(l, i, parent, axis); n < n_axis; n++) {
        loops[n] = rd_new_loop(l, (rd_loop){ .kind   = RD_LOOP_EACH,
                                             .axis   = axis[n],
                                             .extent = l->graph->axis[axis[n]].extent });
        rd_emit(l, into, (rd_inst){ .kind = RD_I_LOOP, .arg = loops[n] });
    }
    rd_emit(l, into,
            (rd_inst){ .kind = RD_I_CLOSE, .type = v->type, .dst = dst, .arg = l->fold[i] });
    if (l->tree->storage[i].keep != RD_KEEP_REGISTER)
        store_results(l, into, i, dst);
    if (n == 0 && into != &l->tail && v->inner < 0)
        rd_set_register(l, i, l->depth, dst);
    while (n)
        rd_emit(l, into, (rd_inst){ .kind = RD_I_END, .arg = loops[--n] });
}

/* Writes the ends of all reductions inside `scope` for which `loop` is the outermost reduced loop,
 * unless its epilogue does so. */
void rd_finish_folds(rd_lowering *l, rd_opened *into, const rd_loop_scope *scope,
                     const rd_loop_scope *loop)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        if (item->loop)
            rd_finish_folds(l, into, item->loop, loop);
        else if (l->graph->value[item->value].kind == RD_VALUE_REDUCE &&
                 l->tree->storage[item->value].finish_loop == loop &&
                 !l->tree->storage[item->value].epilogue_loop)
            rd_finish_fold(l, into, item->value);
    }
}

/* Writes the ends of all reductions whose results the epilogue loop `scope` reads: inside that
 * loop, row by row. */
void rd_finish_epilogue_folds(rd_lowering *l, const rd_loop_scope *scope)
{
    for (int a = 0; a < l->tree->n_materialised; a++)
        if (l->tree->storage[l->tree->materialised[a].value].epilogue_loop == scope)
            rd_finish_fold(l, &l->level[l->depth], l->tree->materialised[a].value);
}
