/* lower.c - a nest of loops becomes a loop program for each stage.
 *
 * Scopes are walked in order.  Each inline value is computed at the outermost open level at which all it depends on is
 * there (so what does not change in a loop is computed before it), once per level, and stays in its register until the
 * level closes. */
#include "eval/lower.h"
#include <stdlib.h>
#include <string.h>

void *rd_push(rd_lowering *l, void **vector, int32_t n, int32_t *room, size_t size)
{
    if (n == *room) {
        int32_t more = n ? 2 * n : 16;
        void   *p    = rd_pool_grow(l->pool, *vector, (size_t)n, (size_t)more, size);

        if (!p) {
            l->failed = true;
            return NULL;
        }
        *vector = p;
        *room   = more;
    }
    return (char *)*vector + (size_t)n * size;
}

/* ---- Emission ------------------------------------------------------------------------------------------------------ */
static void emit(rd_lowering *l, rd_level *level, rd_inst inst)
{
    rd_inst *at = rd_push(l, (void **)&level->inst, level->n, &level->room, sizeof inst);

    if (at) {
        *at = inst;
        level->n++;
    }
}

static void set_register(rd_lowering *l, int v, int level, int reg)
{
    rd_level *at   = &l->level[level];
    int32_t  *slot = rd_push(l, (void **)&at->value, at->n_value, &at->room_value, sizeof *slot);

    if (!slot)
        return;
    *slot = v;
    at->n_value++;
    l->reg[v] = reg;
    l->at[v]  = level;
}

static rd_level *open_level(rd_lowering *l, rd_scope *scope)
{
    rd_level *level = &l->level[++l->depth];

    *level = (rd_level){ .scope = scope };
    return level;
}

/* Forgets the registers of the innermost level and hands out its code. */
static rd_level close_level(rd_lowering *l)
{
    rd_level level = l->level[l->depth--];

    for (int i = 0; i < level.n_value; i++)
        l->reg[level.value[i]] = l->at[level.value[i]] = -1;
    return level;
}

/* The innermost open level whose loop runs over one of the axes. */
static int level_of_axes(const rd_lowering *l, rd_set axes)
{
    for (int d = l->depth; d > 0; d--)
        if (!l->level[d].scope->tile && rd_in(axes, l->level[d].scope->axis))
            return d;
    return 0;
}

static int level_of_scope(const rd_lowering *l, const rd_scope *scope)
{
    for (int d = l->depth; d > 0; d--)
        if (l->level[d].scope == scope)
            return d;
    return 0;
}

/* ---- Inline values --------------------------------------------------------------------------------------------------- */
static bool is_stored(const rd_lowering *l, int v)
{
    return l->tree->home[v].keep != RD_KEEP_INLINE;
}

/* The level at which value v, whose operands have registers, is computed. */
static int level_of(const rd_lowering *l, const rd_value *v)
{
    int level = 0;

    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0 && l->at[v->in[k]] > level)
            level = l->at[v->in[k]];
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++) {
            const rd_term *term = &v->at[d].term[t];
            int            at   = term->axis >= 0 ? level_of_axes(l, rd_bit(term->axis)) : l->at[term->value];

            level = at > level ? at : level;
        }
    if (v->target >= 0) {
        int home = level_of_scope(l, l->tree->home[v->target].home);

        level = home > level ? home : level;
    }
    return level;
}

static void emit_call(rd_lowering *l, rd_level *level, const rd_value *v, int dst)
{
    const rd_call_facts *facts = v->expr->as.call;
    rd_call             *call  = rd_push(l, (void **)&l->p->call, l->p->n_call, &l->room_call, sizeof *call);

    if (!call)
        return;
    *call = (rd_call){ .f32_1   = facts->f32_1,
                       .f32_2   = facts->f32_2,
                       .f64_1   = facts->f64_1,
                       .f64_2   = facts->f64_2,
                       .f32     = facts->f32,
                       .f64     = facts->f64,
                       .block   = facts->block,
                       .user    = facts->user,
                       .name    = facts->name,
                       .n_in    = v->n_in,
                       .in_type = l->graph->value[v->in[0]].type };
    for (int k = 0; k < v->n_in; k++)
        call->in[k] = l->reg[v->in[k]];
    emit(l, level, (rd_inst){ .kind = RD_I_CALL, .type = v->type, .dst = dst, .arg = l->p->n_call++ });
}

static void emit_map(rd_lowering *l, rd_level *level, const rd_value *v, int dst)
{
    rd_inst inst = { .kind  = RD_I_MAP,
                     .type  = v->type,
                     .from  = l->graph->value[v->in[0]].type,
                     .op    = v->op,
                     .dst   = dst,
                     .a     = l->reg[v->in[0]],
                     .b     = v->n_in > 1 ? l->reg[v->in[1]] : -1,
                     .c     = v->n_in > 2 ? l->reg[v->in[2]] : -1,
                     .arg   = -1,
                     .value = v->value };

    if (v->op == RD_OP_cast)
        inst.kind = RD_I_CAST;
    else if (v->op == RD_OP_where)
        inst.kind = RD_I_SELECT;
    else if (v->op == RD_OP_index)
        inst.kind = RD_I_INDEX;
    emit(l, level, inst);
}

/* Computes value v, whose operands have registers, unless it has one. */
static void compute(rd_lowering *l, int i)
{
    const rd_value *v = &l->graph->value[i];
    rd_level       *level;
    int             at, dst;

    if (l->reg[i] >= 0)
        return;
    at    = level_of(l, v);
    level = &l->level[at];
    if (v->kind == RD_VALUE_MAP && v->op == RD_OP_cast && v->type == l->graph->value[v->in[0]].type) {
        set_register(l, i, at, l->reg[v->in[0]]); /* a copy: the same register */
        return;
    }
    if (v->target >= 0 && l->tree->home[v->target].keep == RD_KEEP_REGISTER) {
        /* Read at another place, but only along axes the value does not vary over. */
        set_register(l, i, l->at[v->target], l->reg[v->target]);
        return;
    }
    dst = l->p->n_reg++;
    switch (v->kind) {
    case RD_VALUE_CONST:
        emit(l, level, (rd_inst){ .kind = RD_I_CONST, .type = v->type, .dst = dst, .value = v->value });
        break;
    case RD_VALUE_COORD:
    case RD_VALUE_READ: {
        rd_address a = rd_read_address(l, v);

        emit(l, level,
             (rd_inst){ .kind = v->kind == RD_VALUE_READ ? RD_I_LOAD : RD_I_COORD,
                        .type = v->type,
                        .dst  = dst,
                        .arg  = rd_new_address(l, &a) });
        break;
    }
    case RD_VALUE_CALL: emit_call(l, level, v, dst); break;
    default: emit_map(l, level, v, dst); break;
    }
    set_register(l, i, at, dst);
}

/* A stored value that has no register here any more is loaded back from its storage. */
static void load_stored(rd_lowering *l, int i)
{
    const rd_value *v     = &l->graph->value[i];
    const rd_home  *h     = &l->tree->home[i];
    int             level = level_of_axes(l, h->stored), home = level_of_scope(l, h->home), dst = l->p->n_reg++;
    rd_address      a = rd_store_address(l, i);

    level = home > level ? home : level;
    emit(l, &l->level[level],
         (rd_inst){ .kind = RD_I_LOAD, .type = v->type, .dst = dst, .arg = rd_new_address(l, &a) });
    set_register(l, i, level, dst);
}

/* Adds a value to the list of those that must be computed now. */
static void need(rd_lowering *l, int v)
{
    if (v >= 0 && l->reg[v] < 0 && l->needed[v] != l->round) {
        l->needed[v]         = l->round;
        l->need[l->n_need++] = v;
    }
}

static void need_operands(rd_lowering *l, const rd_value *v)
{
    for (int k = 0; k < v->n_in; k++)
        need(l, v->in[k]);
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0)
                need(l, v->at[d].term[t].value);
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Gives all operands of anchor v registers.  No recursion: inline chains may be long.  Numbers are operands first. */
static void compute_operands(rd_lowering *l, const rd_value *v)
{
    l->round++;
    l->n_need = 0;
    need_operands(l, v);
    for (int i = 0; i < l->n_need; i++)
        if (!is_stored(l, l->need[i]))
            need_operands(l, &l->graph->value[l->need[i]]);
    qsort(l->need, (size_t)l->n_need, sizeof *l->need, by_number);
    for (int i = 0; i < l->n_need && !l->failed; i++)
        if (is_stored(l, l->need[i]))
            load_stored(l, l->need[i]);
        else
            compute(l, l->need[i]);
}

/* ---- Kept values ------------------------------------------------------------------------------------------------------- */
static void store(rd_lowering *l, rd_level *level, int v, int reg)
{
    rd_address a;

    if (l->tree->home[v].keep == RD_KEEP_SCRATCH && l->slot[v] < 0)
        l->slot[v] = rd_new_scratch(l, v);
    a = rd_store_address(l, v);
    emit(l, level, (rd_inst){ .kind = RD_I_STORE, .type = a.type, .a = reg, .arg = rd_new_address(l, &a) });
}

static int operand(const rd_lowering *l, const rd_value *v, int k)
{
    return k < v->n_in && v->in[k] >= 0 ? l->reg[v->in[k]] : -1;
}

static void emit_anchor(rd_lowering *l, int i)
{
    const rd_value *v    = &l->graph->value[i];
    rd_level       *here = &l->level[l->depth];

    if (v->kind == RD_VALUE_JOIN)
        return;
    compute_operands(l, v);
    if (l->failed)
        return;
    if (v->kind == RD_VALUE_REDUCE) {
        emit(l, here,
             (rd_inst){ .kind = RD_I_STEP,
                        .type = v->type,
                        .dst  = -1,
                        .a    = operand(l, v, 0),
                        .b    = operand(l, v, 1),
                        .c    = operand(l, v, 2),
                        .arg  = l->fold[i] });
        return;
    }
    if (v->kind == RD_VALUE_SCAN) {
        int dst = l->p->n_reg++;

        emit(l, here,
             (rd_inst){ .kind = RD_I_SCAN,
                        .type = v->type,
                        .dst  = dst,
                        .a    = operand(l, v, 0),
                        .b    = operand(l, v, 1),
                        .c    = operand(l, v, 2),
                        .arg  = l->fold[i] });
        set_register(l, i, l->depth, dst);
    } else
        compute(l, i);
    if (l->tree->home[i].keep != RD_KEEP_REGISTER)
        store(l, here, i, l->reg[i]);
}

/* ---- Folds --------------------------------------------------------------------------------------------------------------- */
/* The scope in which a fold's cells begin and end: around its outermost reduced loop. */
static const rd_scope *fold_parent(const rd_lowering *l, int i)
{
    const rd_value *v = &l->graph->value[i];
    const rd_scope *s = l->tree->home[i].where;

    if (v->kind == RD_VALUE_REDUCE)
        return l->tree->home[i].close ? l->tree->home[i].close->parent : s;
    while (s->parent && !rd_in(v->reduced, s->axis))
        s = s->parent;
    return s->parent ? s->parent : s;
}

static int new_fold(rd_lowering *l, int i, const rd_scope *parent)
{
    const rd_value      *v     = &l->graph->value[i];
    const rd_fold_facts *facts = v->expr->as.fold;
    rd_fold             *f     = rd_push(l, (void **)&l->p->fold, l->p->n_fold, &l->room_fold, sizeof *f);

    if (!f)
        return -1;
    *f = (rd_fold){ .reducer   = (rd_reducer_id)v->reducer,
                    .law       = (rd_law)facts->law,
                    .type      = l->graph->value[v->in[0]].type,
                    .out       = v->type,
                    .scan      = v->kind == RD_VALUE_SCAN,
                    .exclusive = facts->exclusive,
                    .reverse   = facts->reverse,
                    .identity  = facts->identity,
                    .ddof      = facts->ddof,
                    .n_out     = v->inner >= 0 ? (int32_t)l->graph->axis[v->inner].extent : 1,
                    .split     = !parent->parent && l->stage->root >= 0 && !l->stage->serial };
    if (facts->user) {
        rd_reducer *copy = rd_pool_get(l->pool, sizeof *copy);

        l->failed |= !copy;
        if (copy)
            *copy = *facts->user;
        f->user = copy;
    }
    rd_fold_positions(l, v, f);
    rd_cell_address(l, v, parent, f);
    return l->fold[i] = l->p->n_fold++;
}

/* All folds below `scope` whose cells begin just outside loop `loop`. */
static void start_folds(rd_lowering *l, const rd_scope *scope, const rd_scope *loop)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        if (item->loop)
            start_folds(l, item->loop, loop);
        else if (l->graph->value[item->value].combine && fold_parent(l, item->value) == loop->parent) {
            int f = new_fold(l, item->value, loop->parent);

            emit(l, &l->level[l->depth], (rd_inst){ .kind = RD_I_START, .arg = f });
        }
    }
}

static int new_loop(rd_lowering *l, rd_loop loop)
{
    rd_loop *at = rd_push(l, (void **)&l->p->loop, l->p->n_loop, &l->room_loop, sizeof loop);

    if (!at)
        return -1;
    *at = loop;
    return l->p->n_loop++;
}

static void store_results(rd_lowering *l, rd_level *level, int i, int reg)
{
    const rd_value *v = &l->graph->value[i];
    rd_address      a;
    int64_t         stride = 0;

    store(l, level, i, reg);
    if (v->inner < 0 || l->failed)
        return;
    /* The results of one fold lie along one more dim, which no loop runs over. */
    a = l->p->address[l->p->n_address - 1];
    for (int t = 0; t < a.n_add; t++)
        if (a.add[t].axis == v->inner) {
            stride     = a.add[t].coef;
            a.add[t--] = a.add[--a.n_add];
        }
    l->p->address[l->p->n_address - 1] = a;
    for (int k = 1; k < l->graph->axis[v->inner].extent; k++) {
        a.offset += stride;
        emit(l, level, (rd_inst){ .kind = RD_I_STORE, .type = a.type, .a = reg + k, .arg = rd_new_address(l, &a) });
    }
}

/* Result registers of a finished fold, and where they go: loops over its cells, if it has several. */
static void close_fold(rd_lowering *l, rd_level *into, int i)
{
    const rd_value *v      = &l->graph->value[i];
    const rd_scope *parent = fold_parent(l, i);
    rd_set          cells  = rd_cell_axes(v, parent);
    int             dst = l->p->n_reg, loops[RD_MAX_AXES], n = 0;

    if (l->failed) /* perhaps before the fold was made */
        return;
    l->p->n_reg += l->p->fold[l->fold[i]].n_out;
    for (int a = 0; a < l->graph->n_axis; a++)
        if (rd_in(cells, a)) {
            loops[n] = new_loop(l, (rd_loop){ .kind = RD_LOOP_EACH, .axis = a, .extent = l->graph->axis[a].extent });
            emit(l, into, (rd_inst){ .kind = RD_I_LOOP, .arg = loops[n++] });
        }
    emit(l, into, (rd_inst){ .kind = RD_I_CLOSE, .type = v->type, .dst = dst, .arg = l->fold[i] });
    if (l->tree->home[i].keep != RD_KEEP_REGISTER)
        store_results(l, into, i, dst);
    if (n == 0 && into != &l->tail && v->inner < 0)
        set_register(l, i, l->depth, dst);
    while (n)
        emit(l, into, (rd_inst){ .kind = RD_I_END, .arg = loops[--n] });
}

static void close_folds(rd_lowering *l, rd_level *into, const rd_scope *scope, const rd_scope *loop)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        if (item->loop)
            close_folds(l, into, item->loop, loop);
        else if (l->graph->value[item->value].kind == RD_VALUE_REDUCE && l->tree->home[item->value].close == loop)
            close_fold(l, into, item->value);
    }
}

/* ---- Scopes ---------------------------------------------------------------------------------------------------------------- */
/* The one anchor below a scope, -1 if there are several. */
static int only_anchor(const rd_scope *scope)
{
    int only = -1;

    for (const rd_item *item = scope->first; item; item = item->next) {
        int v = item->loop ? only_anchor(item->loop) : item->value;

        if (only >= 0 || v < 0)
            return -1;
        only = v;
    }
    return only;
}

/* A loop may stop early when all it does is to decide one any or all. */
static void emit_exit(rd_lowering *l, const rd_scope *loop, int number)
{
    int v = only_anchor(loop);

    if (l->failed || v < 0 || l->graph->value[v].kind != RD_VALUE_REDUCE ||
        !rd_in(l->graph->value[v].reduced, loop->axis) ||
        (l->graph->value[v].reducer != RD_RED_any && l->graph->value[v].reducer != RD_RED_all) ||
        l->p->fold[l->fold[v]].n_cell != 1)
        return;
    emit(l, &l->level[l->depth], (rd_inst){ .kind = RD_I_EXIT, .a = l->fold[v], .arg = number });
}

static void emit_items(rd_lowering *l, const rd_scope *scope);

/* START, LOOP, body, END into `into`; CLOSE into `after`. */
static void emit_loop(rd_lowering *l, rd_scope *loop, rd_level *into, rd_level *after)
{
    rd_level body;
    int      number;

    start_folds(l, loop, loop);
    if (l->graph->axis[loop->axis].extent == 0) { /* nothing to hoist either: it would be read from nowhere */
        close_folds(l, after, loop, loop);
        return;
    }
    number = new_loop(l, (rd_loop){ .kind      = loop->tile ? RD_LOOP_TILE : RD_LOOP_EACH,
                                    .axis      = loop->axis,
                                    .extent    = l->graph->axis[loop->axis].extent,
                                    .step      = loop->step,
                                    .backwards = loop->backwards });
    open_level(l, loop);
    emit_items(l, loop);
    emit_exit(l, loop, number);
    body = close_level(l);
    emit(l, into, (rd_inst){ .kind = RD_I_LOOP, .arg = number });
    for (int k = 0; k < body.n; k++)
        emit(l, into, body.inst[k]);
    emit(l, into, (rd_inst){ .kind = RD_I_END, .arg = number });
    close_folds(l, after, loop, loop);
}

/* A reduction over no axes (or only over axes of extent 1) begins and ends with its one step. */
static void emit_item_fold(rd_lowering *l, int i)
{
    rd_level *here = &l->level[l->depth];
    int       f    = new_fold(l, i, l->tree->home[i].where);

    emit(l, here, (rd_inst){ .kind = RD_I_START, .arg = f });
    emit_anchor(l, i);
    close_fold(l, &l->level[l->depth], i);
}

static void emit_items(rd_lowering *l, const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item && !l->failed; item = item->next) {
        if (item->loop)
            emit_loop(l, item->loop, &l->level[l->depth], &l->level[l->depth]);
        else if (l->graph->value[item->value].kind == RD_VALUE_REDUCE && !l->tree->home[item->value].close)
            emit_item_fold(l, item->value);
        else
            emit_anchor(l, item->value);
    }
}

/* ---- Programs ---------------------------------------------------------------------------------------------------------------- */
static void finish_program(rd_lowering *l, const rd_level *body)
{
    rd_program     *p       = l->p;
    const rd_level *part[3] = { &l->level[0], body, &l->tail };

    p->n_inst = part[0]->n + part[1]->n + part[2]->n;
    p->body   = part[0]->n;
    p->tail   = part[0]->n + part[1]->n;
    p->inst   = rd_pool_get(l->pool, (size_t)(p->n_inst + 1) * sizeof *p->inst);
    l->failed |= !p->inst;
    for (int k = 0, at = 0; k < 3 && !l->failed; at += part[k++]->n)
        if (part[k]->n)
            memcpy(p->inst + at, part[k]->inst, (size_t)part[k]->n * sizeof *p->inst);
    for (int i = 0; i < p->n_inst && !l->failed; i++)
        if (p->inst[i].kind == RD_I_END)
            p->loop[p->inst[i].arg].end = i;
}

static void describe_program(rd_lowering *l)
{
    rd_program *p = l->p;

    p->n_axis      = l->graph->n_axis;
    p->root        = l->stage->root;
    p->grain       = l->stage->grain;
    p->serial      = l->stage->serial;
    p->axis_extent = rd_pool_get(l->pool, (size_t)(p->n_axis + 1) * sizeof *p->axis_extent);
    l->failed |= !p->axis_extent;
    for (int a = 0; a < p->n_axis && !l->failed; a++)
        p->axis_extent[a] = l->graph->axis[a].extent;
}

static void add_work(rd_lowering *l, const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop)
            add_work(l, item->loop);
        else
            l->p->work += (double)rd_points_of(l->graph, rd_space(&l->graph->value[item->value])) *
                          (1 + l->graph->value[item->value].ops);
}

static bool lower_stage(rd_lowering *l)
{
    rd_level body = { 0 };

    l->depth    = 0;
    l->level[0] = (rd_level){ .scope = l->tree->root };
    l->tail     = (rd_level){ 0 };
    describe_program(l);
    if (l->failed)
        return false;
    if (l->stage->item->loop) {
        add_work(l, l->stage->item->loop);
        emit_loop(l, l->stage->item->loop, &body, &l->tail);
    } else if (l->graph->value[l->stage->item->value].kind == RD_VALUE_REDUCE)
        emit_item_fold(l, l->stage->item->value);
    else
        emit_anchor(l, l->stage->item->value);
    finish_program(l, &body);
    close_level(l);
    return !l->failed;
}

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
    if (!l->reg || !l->at || !l->slot || !l->fold || !l->need || !l->needed || !rd_assign_slots(g, nest->tree, l->slot))
        return NULL;
    memset(l->reg, -1, bytes);
    memset(l->at, -1, bytes);
    memset(l->fold, -1, bytes);
    for (int s = 0; s < nest->n_stage; s++) {
        l->stage            = &nest->stage[s];
        l->p                = &programs[s];
        l->p->first_scratch = g->n_slot;
        l->room_address = l->room_loop = l->room_fold = l->room_call = l->room_scratch = 0;
        if (!lower_stage(l))
            return NULL;
    }
    return programs;
}
