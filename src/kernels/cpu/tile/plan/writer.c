/* writer.c - specs of compiled passes from a program's instructions. */
#include "kernels/cpu/jit/emit.h"
#include "kernels/cpu/tile/plan/passes.h"
#include <string.h>

/* Elements: how far apart operands are neighbours.  It is in the key. */
enum { NEAR = 64 };

bool rd_pass_can_map(const rd_inst *inst)
{
    const rd_rule rule = rd_op_table[inst->op].rule;

    return rd_spec_can(inst->op,
                       rule == RD_RULE_COMPARE || rule == RD_RULE_TEST ? inst->from : inst->type);
}

bool rd_pass_gathers(const rd_address *at)
{
    bool found = false;

    for (int32_t k = 0; k < at->n_add; k++)
        found |= at->add[k].axis < 0;
    return found;
}

bool rd_pass_same_position(const rd_address *a, const rd_address *b)
{
    if (a->offset != b->offset || a->n_add != b->n_add)
        return false;
    for (int32_t k = 0; k < a->n_add; k++)
        if (a->add[k].axis != b->add[k].axis || a->add[k].coef != b->add[k].coef ||
            a->add[k].local != b->add[k].local || a->add[k].axis < 0)
            return false;
    return true;
}

bool rd_pass_go_together(const rd_tile_fold *a, const rd_tile_fold *b)
{
    return a->form == b->form && a->own_rows == b->own_rows && a->fold->lanes == b->fold->lanes &&
           a->fold->steps == b->fold->steps && a->fold->lane_extent == b->fold->lane_extent &&
           a->fold->n_cell == b->fold->n_cell && a->fold->split == b->fold->split &&
           rd_pass_same_position(&a->fold->lane, &b->fold->lane) &&
           rd_pass_same_position(&a->fold->outer, &b->fold->outer) &&
           rd_pass_same_position(&a->fold->cell, &b->fold->cell) &&
           ((!a->indexed && !b->indexed) ||
            rd_pass_same_position(&a->fold->index, &b->fold->index));
}

bool rd_pass_keep(rd_tile_code *code, const rd_tile_pass *pass, rd_get_fn *get, void *pool)
{
    const size_t bytes =
        offsetof(rd_tile_pass, operand) + (size_t)pass->n_operand * sizeof *pass->operand;
    rd_tile_pass *kept = get(pool, bytes);

    if (!kept)
        return false;
    memcpy(kept, pass, bytes);
    code->pass[code->n_pass++] = kept;
    return true;
}

/* ---- Operands -------------------------------------------------------------------------------- */
static rd_dtype as_it_lies(rd_elem elem)
{
    static const rd_dtype types[RD_N_ELEMS] = { RD_F32, RD_F64, RD_I64, RD_U64, RD_BOOL };
    return types[elem];
}

static rd_spec_walk walk_class(int64_t col)
{
    return col == 0 ? RD_WALK_STAYS : col == 1 ? RD_WALK_BESIDE : RD_WALK_APART;
}

/* The short loop that an operand moves with, from 1; 0: with none. */
static uint8_t loop_of(const rd_writer *w, const rd_pass_operand *o)
{
    return (uint8_t)(o->deep ? w->loop : 0);
}

/* Where rows are steps along the columns, what stays in a row is the same in all. */
static rd_spec_operand class_of(const rd_writer *w, const rd_pass_operand *o)
{
    const bool         steps = w->spec->form == RD_SPEC_LANES;
    const rd_tile_reg *reg   = o->walk.at ? NULL : &w->code->reg[o->reg];
    rd_spec_operand    c     = { 0 };

    if (o->walk.at) {
        c.type      = (uint8_t)o->walk.at->type;
        c.walk      = (uint8_t)walk_class(o->walk.col);
        c.every_row = steps ? o->walk.col == 0 : o->walk.row == 0;
        c.past      = o->past;
        c.loop      = loop_of(w, o);
        return c;
    }
    c.type      = (uint8_t)as_it_lies(reg->elem);
    c.walk      = reg->level == RD_AT_TILE ? RD_WALK_BESIDE : RD_WALK_STAYS;
    c.every_row = reg->level == RD_AT_TASK || (steps && reg->level == RD_AT_ROW);
    return c;
}

static bool same_operand(const rd_pass_operand *a, const rd_pass_operand *b)
{
    if (!a->walk.at || !b->walk.at)
        return !a->walk.at && !b->walk.at && a->reg == b->reg;
    return a->inst == b->inst && a->offset == b->offset;
}

/* A short loop written out reads neighbours: those have one address. */
static void find_neighbour(const rd_writer *w, int16_t k)
{
    const rd_pass_operand *all = w->pass->operand, *o = &all[k];
    rd_spec_operand       *c = &w->spec->operand[k];

    c->of = (uint8_t)k;
    for (int16_t i = 0; o->walk.at && i < k && c->of == k; i++)
        if (all[i].walk.at && all[i].inst == o->inst && o->offset - all[i].offset <= NEAR &&
            all[i].offset - o->offset <= NEAR) {
            c->of    = (uint8_t)i;
            c->ahead = (int16_t)(o->offset - all[i].offset);
        }
}

int16_t rd_writer_operand(rd_writer *w, rd_pass_operand operand)
{
    int16_t k = 0;

    while (k < w->pass->n_operand && !(same_operand(&w->pass->operand[k], &operand) &&
                                       w->spec->operand[k].loop == loop_of(w, &operand)))
        k++;
    if (k == RD_SPEC_OPERANDS) {
        w->full = true;
        return 0;
    }
    if (k == w->pass->n_operand)
        w->pass->operand[w->pass->n_operand++] = operand;
    w->spec->operand[k] = class_of(w, &operand);
    find_neighbour(w, k);
    w->spec->n_operand = (uint8_t)w->pass->n_operand;
    return k;
}

/* ---- Instructions ---------------------------------------------------------------------------- */
void rd_writer_begin(rd_writer *w, rd_spec_form form, int32_t lanes)
{
    memset(w->spec, 0, offsetof(rd_spec, inst));
    w->spec->vector = (uint8_t)w->code->simd->vector;
    w->spec->form   = (uint8_t)form;
    w->spec->lanes  = (uint8_t)lanes;
    w->pass->form   = form;
}

int16_t rd_writer_add(rd_writer *w, rd_spec_inst inst, int32_t reg)
{
    if (w->spec->n_inst == RD_SPEC_INSTS) {
        w->full = true;
        return 0;
    }
    w->spec->inst[w->spec->n_inst]       = inst;
    w->spec->inst[w->spec->n_inst].loop  = (int16_t)w->loop;
    w->spec->inst[w->spec->n_inst].phase = (int16_t)w->phase;
    if (reg >= 0)
        rd_writer_name(w, reg, w->spec->n_inst);
    return w->spec->n_inst++;
}

void rd_writer_name(rd_writer *w, int32_t reg, int16_t value)
{
    if (w->n_name == RD_WRITER_NAMES)
        w->full = true;
    else
        w->name[w->n_name++] = (rd_name){ reg, value };
}

int16_t rd_writer_map(rd_writer *w, rd_op op, rd_dtype type, int16_t a, int16_t b)
{
    return rd_writer_add(w,
                         (rd_spec_inst){ .kind = RD_SPEC_MAP,
                                         .op   = (uint8_t)op,
                                         .type = (uint8_t)type,
                                         .from = (uint8_t)type,
                                         .a    = a,
                                         .b    = b },
                         -1);
}

int16_t rd_writer_cast(rd_writer *w, rd_dtype type, rd_dtype from, int16_t a)
{
    return rd_writer_add(
        w,
        (rd_spec_inst){
            .kind = RD_SPEC_CAST, .type = (uint8_t)type, .from = (uint8_t)from, .a = a },
        -1);
}

int16_t rd_writer_value(rd_writer *w, int32_t reg)
{
    for (int32_t k = w->n_name - 1; k >= 0; k--)
        if (w->name[k].reg == reg)
            return w->name[k].value;
    /* What is made outside of all loops at hand no phase has made. */
    const int32_t phase = w->phase;
    w->phase            = 0;
    const int16_t value =
        rd_writer_add(w,
                      (rd_spec_inst){ .kind = RD_SPEC_LOAD,
                                      .type = (uint8_t)as_it_lies(w->code->reg[reg].elem),
                                      .at = rd_writer_operand(w, (rd_pass_operand){ .reg = reg }) },
                      reg);
    w->phase = phase;
    return value;
}

void rd_writer_compute(rd_writer *w, const rd_inst *inst)
{
    rd_spec_inst s     = { .type = (uint8_t)inst->type };
    int          arity = 0;

    switch (inst->kind) {
    case RD_I_CONST:
        s.kind  = RD_SPEC_CONST;
        s.value = inst->value.u64;
        break;
    case RD_I_SELECT:
        s.kind = RD_SPEC_SELECT;
        arity  = 3;
        break;
    case RD_I_CAST:
        s.kind = RD_SPEC_CAST;
        s.from = (uint8_t)inst->from;
        arity  = 1;
        break;
    default:
        s.kind = RD_SPEC_MAP;
        s.op   = (uint8_t)inst->op;
        s.from = (uint8_t)inst->from;
        arity  = rd_op_table[inst->op].arity;
    }
    s.a = arity > 0 ? rd_writer_value(w, inst->a) : 0;
    s.b = arity > 1 ? rd_writer_value(w, inst->b) : 0;
    s.c = arity > 2 ? rd_writer_value(w, inst->c) : 0;
    rd_writer_add(w, s, inst->dst);
}

void rd_writer_step(rd_writer *w, const rd_inst *inst)
{
    const rd_fold *fold   = &w->p->fold[inst->arg];
    const uint8_t  number = w->spec->n_fold++;
    const int16_t  x      = rd_writer_value(w, inst->a);

    w->spec->fold[number] = (rd_spec_fold){ .reducer = (uint8_t)fold->reducer,
                                            .type    = (uint8_t)fold->type,
                                            .widens  = rd_fold_widens(fold),
                                            .phase   = (uint8_t)w->phase };
    rd_writer_add(w,
                  (rd_spec_inst){ .kind = RD_SPEC_STEP,
                                  .a    = x,
                                  .b    = inst->b < 0 ? x : rd_writer_value(w, inst->b),
                                  .at   = number },
                  -1);
}
