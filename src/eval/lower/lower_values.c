/* lower_values.c - writes the code of values.  Inlined ones are computed at the outermost level
 * that has their operands, once per level.  Stored ones are loaded again where their register is
 * gone.
 *
 * A level is an open loop body; a value has a register until the level at which it was computed
 * ends.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. A term of
 * a subscript with `axis` -1 is a gathered index, the value of an array. An operand in[k] of -1 is
 * not there.
 *
 * Words. Scratch is temporary memory of a task. */
#include "eval/lower/lower.h"
#include <stdlib.h>
#include <string.h>

/* The number of the innermost open loop body whose loop runs over one of the axes; 0: there is
 * none, so outside all loops. */
static int level_of_axes(const rd_lowering *l, rd_set axes)
{
    for (int d = l->depth; d > 0; d--)
        if (!l->level[d].scope->tile && rd_in(axes, l->level[d].scope->axis))
            return d;
    return 0;
}

/* The level (open loop body) of a scope; 0: it is not open. */
static int level_of_scope(const rd_lowering *l, const rd_loop_scope *scope)
{
    for (int d = l->depth; d > 0; d--)
        if (l->level[d].scope == scope)
            return d;
    return 0;
}

/* ---- Inlined values -------------------------------------------------------------------------- */
/* True if the value is kept in memory or a register, and not computed in its readers. */
static bool is_stored(const rd_lowering *l, int v)
{
    return l->tree->storage[v].keep != RD_KEEP_INLINE;
}

/* The number of the open loop body (level) in which value v is computed: the innermost one of its
 * operands, of the loops over its subscripts' axes, and of the storage that it reads. So it is
 * outside all loops that do not change it. l->at[k] is the level of value k; a term with axis <
 * 0 is a gathered index, computed as a value. */
static int level_of(const rd_lowering *l, const rd_value *v)
{
    int level = 0;

    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0 && l->at[v->in[k]] > level)
            level = l->at[v->in[k]];
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++) {
            const rd_subscript_term *term = &v->at[d].term[t];
            int at = term->axis >= 0 ? level_of_axes(l, rd_bit(term->axis)) : l->at[term->value];

            level = at > level ? at : level;
        }
    if (v->target >= 0) {
        int inner = level_of_scope(l, l->tree->storage[v->target].scope);

        level = inner > level ? inner : level;
    }
    return level;
}

/* Writes the call of a user's function into register dst, and adds what is called to the
 * program. rd_push() makes room for one more rd_call, NULL: no memory, which is noted. */
static void emit_call(rd_lowering *l, rd_opened *level, const rd_value *v, int dst)
{
    const rd_call_facts *facts = v->expr->as.call;
    rd_call *call = rd_push(l, (void **)&l->p->call, l->p->n_call, &l->room_call, sizeof *call);

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
                       .names   = facts->names,
                       .body    = facts->body,
                       .n_in    = v->n_in,
                       .in_type = l->graph->value[v->in[0]].type };
    for (int k = 0; k < v->n_in; k++)
        call->in[k] = l->reg[v->in[k]];
    rd_emit(l, level,
            (rd_inst){ .kind = RD_I_CALL, .type = v->type, .dst = dst, .arg = l->p->n_call++ });
}

/* Writes the instruction of an elementwise operation into register dst: an operator, a cast, a
 * choice, or an index that is checked against the extent v->value. l->reg[k] is the register of
 * value k; -1: no operand. */
static void emit_map(rd_lowering *l, rd_opened *level, const rd_value *v, int dst)
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
    rd_emit(l, level, inst);
}

/* Computes value i into a register, unless it has one; its operands have theirs. It goes to the
 * outermost open loop body that has all it needs (loop-invariant code motion). A cast between
 * types with equal bits in a register shares its operand's. l->reg[i] is its register;
 * rd_set_register() sets it and the level. */
void rd_compute(rd_lowering *l, int i)
{
    const rd_value *v = &l->graph->value[i];
    rd_opened      *level;
    int             at, dst;

    if (l->reg[i] >= 0)
        return;
    at    = level_of(l, v);
    level = &l->level[at];
    if (v->kind == RD_VALUE_MAP && v->op == RD_OP_cast &&
        rd_dtype_same_word(l->graph->value[v->in[0]].type, v->type)) {
        rd_set_register(l, i, at, l->reg[v->in[0]]); /* the same bits in a register */
        return;
    }
    if (v->target >= 0 && l->tree->storage[v->target].keep == RD_KEEP_REGISTER) {
        /* Read elsewhere, but only along axes over which the value does not vary. */
        rd_set_register(l, i, l->at[v->target], l->reg[v->target]);
        return;
    }
    dst = l->p->n_reg++;
    switch (v->kind) {
    case RD_VALUE_CONST:
        rd_emit(l, level,
                (rd_inst){ .kind = RD_I_CONST, .type = v->type, .dst = dst, .value = v->value });
        break;
    case RD_VALUE_COORD:
    case RD_VALUE_READ: {
        rd_address a = rd_read_address(l, v);

        rd_emit(l, level,
                (rd_inst){ .kind = v->kind == RD_VALUE_READ ? RD_I_LOAD : RD_I_COORD,
                           .type = v->type,
                           .dst  = dst,
                           .arg  = rd_new_address(l, &a) });
        break;
    }
    case RD_VALUE_CALL: emit_call(l, level, v, dst); break;
    default: emit_map(l, level, v, dst); break;
    }
    rd_set_register(l, i, at, dst);
}

/* Loads a stored value that has no register here any more, in the innermost open loop body among
 * that of its storage and those of loops over its stored axes. level_of_axes() and
 * level_of_scope() are numbers of open loop bodies. */
static void load_stored(rd_lowering *l, int i)
{
    const rd_value   *v     = &l->graph->value[i];
    const rd_storage *h     = &l->tree->storage[i];
    int               level = level_of_axes(l, h->stored), inner = level_of_scope(l, h->scope),
        dst      = l->p->n_reg++;
    rd_address a = rd_store_address(l, i);

    level = inner > level ? inner : level;
    rd_emit(
        l, &l->level[level],
        (rd_inst){ .kind = RD_I_LOAD, .type = v->type, .dst = dst, .arg = rd_new_address(l, &a) });
    rd_set_register(l, i, level, dst);
}

/* Adds value v to the list of those to compute now, once (needed[v] is the round's number), if it
 * has no register. -1 is a missing operand. */
static void need(rd_lowering *l, int v)
{
    if (v >= 0 && l->reg[v] < 0 && l->needed[v] != l->round) {
        l->needed[v]         = l->round;
        l->need[l->n_need++] = v;
    }
}

/* Adds the operands and gathered indices of a value to the list of those to compute now. */
static void need_operands(rd_lowering *l, const rd_value *v)
{
    for (int k = 0; k < v->n_in; k++)
        need(l, v->in[k]);
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0)
                need(l, v->at[d].term[t].value);
}

/* Compares two numbers of values, for qsort(): operands have smaller ones than their readers. */
static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Computes all operands of v, and what these need, into registers. First it collects them, then
 * computes them by rising number, which puts operands first. Iterative, because chains of inlined
 * values may be long. l->need lists them; is_stored(): it has a place in memory. */
void rd_compute_operands(rd_lowering *l, const rd_value *v)
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
            rd_compute(l, l->need[i]);
}

/* Writes the store of a value from a register, and gives the value a slot of scratch memory
 * (temporary, of a task) if it needs one. */
void rd_emit_store(rd_lowering *l, rd_opened *level, int v, int reg)
{
    rd_address a;

    if (l->tree->storage[v].keep == RD_KEEP_SCRATCH && l->slot[v] < 0)
        l->slot[v] = rd_new_scratch(l, v);
    a = rd_store_address(l, v);
    rd_emit(
        l, level,
        (rd_inst){ .kind = RD_I_STORE, .type = a.type, .a = reg, .arg = rd_new_address(l, &a) });
}
