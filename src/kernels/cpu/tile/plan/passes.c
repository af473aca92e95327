/* passes.c - runs of instructions on a tile that one compiled pass over its elements can replace.
 *
 * A pass keeps values in registers where the machine keeps them in buffers; folds it feeds are
 * those of the machine, with their trees, tasks and tails, so a pass may come and go between
 * runs. */
#include "kernels/cpu/tile/plan/passes.h"

/* ---- What can be in a pass ------------------------------------------------------------------- */
/* Folds whose states take elements in rows, without masks and weights; what is better done another
 * way is not. */
static bool can_step(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst      *inst = &p->inst[i];
    const rd_tile_inst *t    = &code->inst[i];
    const rd_tile_fold *f    = &code->fold[inst->arg];

    if (f->weighted || inst->c >= 0 || f->masked || f->any_order || f->in_square || t->counts ||
        t->small >= 0)
        return false;
    /* The machine looks for the element that decides. */
    if (f->fold->reducer == RD_RED_user || rd_reducer_places(f->fold->reducer) ||
        rd_reducer_decides(f->fold->reducer))
        return false;
    return f->form == RD_FOLD_RUN || f->form == RD_FOLD_COLUMNS;
}

static bool is_half(const rd_tile_code *code, int32_t reg)
{
    return reg >= 0 && (code->reg[reg].elem == RD_ELEM_f16 || code->reg[reg].elem == RD_ELEM_bf16);
}

bool rd_pass_has_halves(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE: return rd_dtype_is_half(p->address[inst->arg].type);
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
        return rd_dtype_is_half(inst->type) || rd_dtype_is_half(inst->from) ||
               is_half(code, inst->a) || is_half(code, inst->b) || is_half(code, inst->c);
    case RD_I_STEP: return is_half(code, inst->a) || is_half(code, inst->b);
    default: return rd_dtype_is_half(inst->type);
    }
}

static bool can_be_in_a_pass(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_inst *t = &code->inst[i];

    if (t->turns || t->turned >= 0 || rd_pass_has_halves(p, code, i))
        return false;
    switch (p->inst[i].kind) {
    case RD_I_CONST:
    case RD_I_CAST:
    case RD_I_SELECT: return true;
    case RD_I_MAP: return rd_pass_can_map(&p->inst[i]);
    case RD_I_LOAD: return !t->walk.gathers && !t->direct && !t->skip;
    case RD_I_STORE: return !t->walk.gathers && t->moves < 0;
    case RD_I_STEP: return can_step(p, code, i);
    default: return false;
    }
}

/* ---- Who reads what -------------------------------------------------------------------------- */
enum { MOST_INSTS = 48 };

/* ---- Growing passes -------------------------------------------------------------------------- */
typedef struct growing {
    const rd_program *p;
    rd_tile_code     *code;
    rd_tile_pass     *pass;
    int32_t           n_inst, saved;           /* instructions of the pass; passes over the tile
                                                * that it makes one */
    bool              stores, streams, failed; /* streams: past the caches; failed: no memory */
    int32_t          *uses; /* of each register that the pass makes: how many instructions of it
                             * read it */
    rd_get_fn        *get;
    void             *pool;
} growing;

static bool is_in(const growing *g, int32_t reg)
{
    const int32_t born = g->code->reg[reg].born;

    return born >= 0 && g->code->inst[born].pass == g->code->n_pass &&
           g->p->inst[born].kind != RD_I_STEP;
}

/* Its number, -1: no room. */
static int32_t operand_of(rd_tile_pass *pass, rd_pass_operand wanted)
{
    for (int32_t k = 0; k < pass->n_operand; k++)
        if (!wanted.walk.at && !pass->operand[k].walk.at && pass->operand[k].reg == wanted.reg)
            return k;
    if (pass->n_operand == RD_SPEC_OPERANDS)
        return -1;
    pass->operand[pass->n_operand] = wanted;
    return pass->n_operand++;
}

static int32_t states_of(const growing *g)
{
    int32_t n = 0;

    for (int32_t k = 0; k < g->pass->n_fold; k++)
        n += g->code->fold[g->pass->number[k]].n_state;
    return n;
}

/* Room for the instruction's operands, with one to spare for its own result? */
static bool fits(const growing *g, int32_t i)
{
    int32_t reg[RD_MOST_READ], n = rd_tile_reads(g->p, i, reg);

    if (g->n_inst + n + 1 > MOST_INSTS || g->pass->n_operand + n + 2 > RD_SPEC_OPERANDS / 2)
        return false;
    if (g->p->inst[i].kind != RD_I_STEP)
        return !g->code->inst[i].stream || g->pass->n_fold == 0;
    return !g->streams && g->pass->n_fold < RD_SPEC_FOLDS &&
           states_of(g) + g->code->fold[g->p->inst[i].arg].n_state <= RD_SPEC_STATES &&
           (g->pass->n_fold == 0 || rd_pass_go_together(&g->code->fold[g->pass->number[0]],
                                                        &g->code->fold[g->p->inst[i].arg]));
}

static void take(growing *g, int32_t i)
{
    const rd_inst *inst = &g->p->inst[i];
    rd_tile_inst  *t    = &g->code->inst[i];
    int32_t        reg[RD_MOST_READ], n = rd_tile_reads(g->p, i, reg);

    for (int32_t k = 0; k < n; k++)
        if (is_in(g, reg[k]))
            g->uses[reg[k]]++;
        else
            operand_of(g->pass, (rd_pass_operand){ .reg = reg[k] });
    if (inst->kind != RD_I_STORE && inst->kind != RD_I_STEP)
        g->uses[inst->dst] = 0;
    if (g->n_inst++ == 0)
        g->pass->first = i;
    g->pass->last = i;
    t->pass       = g->code->n_pass;
    g->saved += !t->skip && !t->done && inst->kind != RD_I_CONST;
    g->stores |= inst->kind == RD_I_STORE;
    g->streams |= t->stream;
    if (inst->kind == RD_I_STEP)
        g->pass->number[g->pass->n_fold++] = inst->arg;
    if (inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE)
        operand_of(g->pass, (rd_pass_operand){ .walk = t->walk, .inst = i });
    g->pass->n_load +=
        inst->kind == RD_I_LOAD && g->p->address[inst->arg].slot < g->p->first_scratch;
}

/* May it run before the pass, though it stands within? */
static bool may_pass_by(const growing *g, int32_t i)
{
    int32_t reg[RD_MOST_READ], n = rd_tile_reads(g->p, i, reg);

    for (int32_t k = 0; k < n; k++)
        if (is_in(g, reg[k]))
            return false;
    if (g->code->inst[i].into >= 0)
        return false; /* it stores */
    switch (g->p->inst[i].kind) {
    case RD_I_LOAD: return !g->stores;
    case RD_I_COORD:
    case RD_I_INDEX:
    case RD_I_CONST:
    case RD_I_MAP: return true;
    default: return false;
    }
}

/* What other instructions read of the pass goes to buffers; what it reads must stay there until it
 * has run. */
static bool finish(growing *g)
{
    for (int32_t k = 0; k < g->pass->n_operand; k++)
        if (!g->pass->operand[k].walk.at) {
            rd_tile_reg *reg = &g->code->reg[g->pass->operand[k].reg];
            if (g->code->inst[reg->born].skip)
                return false; /* the machine does not compute it */
            reg->last = reg->last > g->pass->last ? reg->last : g->pass->last;
        }
    for (int32_t i = g->pass->first; i <= g->pass->last; i++) {
        const rd_inst *inst = &g->p->inst[i];

        if (g->code->inst[i].pass != g->code->n_pass || inst->kind == RD_I_STORE ||
            inst->kind == RD_I_STEP)
            continue;
        if (g->code->reg[inst->dst].uses > g->uses[inst->dst] &&
            (g->code->inst[i].skip || /* the machine has no buffer for it */
             operand_of(g->pass, (rd_pass_operand){ .reg = inst->dst, .made = true }) < 0))
            return false;
    }
    return true;
}

static void begin_pass(growing *g)
{
    g->n_inst = g->saved = 0;
    g->stores = g->streams = false;
    g->pass->n_operand = g->pass->n_fold = g->pass->n_load = 0;
}

/* The plan keeps the pass if it is worth its while; the next one begins. */
static void end_pass(growing *g)
{
    bool kept = false;

    if (g->n_inst == 0)
        return;
    if (g->saved >= 2 && finish(g)) {
        kept      = rd_pass_keep(g->code, g->pass, g->get, g->pool);
        g->failed = !kept;
    }
    for (int32_t i = g->pass->first; !kept && i <= g->pass->last; i++)
        g->code->inst[i].pass =
            g->code->inst[i].pass == g->code->n_pass ? -1 : g->code->inst[i].pass;
    begin_pass(g);
}

static void grow(growing *g, int32_t i)
{
    if (g->code->inst[i].done && !is_in(g, g->p->inst[i].a))
        return; /* nothing to do */
    if (can_be_in_a_pass(g->p, g->code, i)) {
        if (!fits(g, i))
            end_pass(g);
        if (fits(g, i))
            take(g, i);
    } else if (g->n_inst && !may_pass_by(g, i))
        end_pass(g);
}

bool rd_tile_find_passes(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    rd_tile_pass pass = { .rows = -1, .cols = -1 };
    growing      g    = { .p = p, .code = code, .pass = &pass, .get = get, .pool = pool };

    if (!code->pass)
        return true;
    if (!(g.uses = get(pool, ((size_t)p->n_reg + 1) * sizeof *g.uses)))
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_LOOP && code->inst[i].pass >= 0) {
            end_pass(&g);
            i = p->loop[p->inst[i].arg].end; /* a nest has all that */
        } else if (code->inst[i].level == RD_AT_TILE && p->inst[i].kind != RD_I_LOOP &&
                   p->inst[i].kind != RD_I_END)
            grow(&g, i);
        else
            end_pass(&g);
    end_pass(&g);
    return !g.failed;
}

/* ---- Specs ----------------------------------------------------------------------------------- */
static rd_spec_form form_of(const rd_tile_code *code, const rd_tile_pass *pass)
{
    const rd_tile_fold *f = pass->n_fold ? &code->fold[pass->number[0]] : NULL;

    if (!f)
        return RD_SPEC_MAPS;
    return f->totals && f->fold->n_block <= RD_SPEC_BLOCKS ? RD_SPEC_TOTALS
           : f->form == RD_FOLD_RUN                        ? RD_SPEC_LANES
                                                           : RD_SPEC_COLUMNS;
}

static void write_inst(rd_writer *w, int32_t i)
{
    const rd_inst  *inst   = &w->p->inst[i];
    rd_pass_operand memory = { .walk = w->code->inst[i].walk,
                               .inst = i,
                               .past = w->code->inst[i].stream };

    switch (inst->kind) {
    case RD_I_STEP: rd_writer_step(w, inst); break;
    case RD_I_LOAD:
        rd_writer_add(w,
                      (rd_spec_inst){ .kind = RD_SPEC_LOAD,
                                      .type = (uint8_t)memory.walk.at->type,
                                      .at   = rd_writer_operand(w, memory) },
                      inst->dst);
        break;
    case RD_I_STORE:
        rd_writer_add(w,
                      (rd_spec_inst){ .kind = RD_SPEC_STORE,
                                      .a    = rd_writer_value(w, inst->a),
                                      .at   = rd_writer_operand(w, memory) },
                      -1);
        break;
    default: rd_writer_compute(w, inst);
    }
}

static void write_spec(rd_writer *w, int32_t number)
{
    rd_tile_pass *pass = w->pass;

    rd_writer_begin(w, form_of(w->code, pass),
                    pass->n_fold ? w->p->fold[pass->number[0]].lanes : 1);
    w->spec->blocks = pass->form == RD_SPEC_TOTALS && w->p->fold[pass->number[0]].n_block > 1;
    for (int32_t i = pass->first; i <= pass->last; i++)
        if (w->code->inst[i].pass == number)
            write_inst(w, i);
    for (int32_t k = 0; k < pass->n_operand; k++)
        if (pass->operand[k].made)
            rd_writer_add(w,
                          (rd_spec_inst){ .kind = RD_SPEC_STORE,
                                          .a    = rd_writer_value(w, pass->operand[k].reg),
                                          .at   = rd_writer_operand(w, pass->operand[k]) },
                          -1);
}

/* Folds go from block to block together; those of places alone need not, and keep one
 * open. */
static bool finds_places(const rd_tile_code *code, const rd_tile_pass *pass)
{
    bool all = true;

    for (int32_t f = 0; f < pass->n_fold; f++)
        all = all && code->fold[pass->number[f]].indexed;
    return all;
}

/* A fold as the rows and columns of a nest meet it. */
static const rd_tile_fold *fold_in_nest(const rd_program *p, const rd_tile_fold *f,
                                        const rd_tile_pass *pass, bool places, rd_get_fn *get,
                                        void *pool)
{
    const rd_loop *row = pass->rows >= 0 ? &p->loop[pass->rows] : NULL, *col = &p->loop[pass->cols];
    rd_tile_fold  *copy = get(pool, sizeof *copy);

    if (!copy)
        return NULL;
    *copy       = *f;
    copy->best  = places;
    copy->lane  = rd_tile_walk_of(&f->fold->lane, row, col);
    copy->outer = rd_tile_walk_of(&f->fold->outer, row, col);
    copy->index = rd_tile_walk_of(&f->fold->index, row, col);
    copy->cell  = rd_tile_walk_of(&f->fold->cell, row, col);
    return copy;
}

bool rd_tile_ask_for_passes(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    code->async = rd_tier_mode_now() == RD_TIER_ASYNC;
    for (int32_t k = 0; k < code->n_pass; k++) {
        rd_tile_pass *pass = code->pass[k];
        rd_spec       spec;
        rd_name       name[RD_WRITER_NAMES];
        rd_writer     w = { .p = p, .code = code, .pass = pass, .spec = &spec, .name = name };

        for (int32_t f = 0; f < pass->n_fold; f++) {
            pass->fold[f] = &code->fold[pass->number[f]];
            if (pass->nest)
                pass->fold[f] =
                    fold_in_nest(p, pass->fold[f], pass, finds_places(code, pass), get, pool);
            if (!pass->fold[f])
                return false;
        }
        if (pass->nest)
            continue;
        write_spec(&w, k);
        pass->code = w.full ? NULL : rd_pass_of(&spec);
    }
    return true;
}
