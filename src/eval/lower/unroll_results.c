/* unroll_results.c - unrolls the loop over a reducer's several results.
 *
 * A reducer with several results stores them in scratch, and a short loop reads them.  Unrolled,
 * the loop takes them from their registers.  Nothing is stored between, and neighbouring cells
 * may become lanes.
 *
 *    STORE s[0], r3;  STORE s[1], r4;  LOOP k; LOAD s[k] -> r5; STORE y[k], r5; END
 *      ->  STORE y[0], r3;  STORE y[1], r4 */
#include "eval/lower/lower.h"
#include <string.h>

enum { MOST_RESULTS = 8, MOST_WRITTEN = 64 };

/* The state of the pass. */
typedef struct writing {
    rd_lowering *l;
    rd_program  *p;
    rd_opened    to;  /* the new code */
    int32_t     *reg; /* by register of the loop: its register in the current iteration */
} writing;

/* ---- Loops that may be unrolled -------------------------------------------------------------- */
/* True if the address depends on no other loop index than the axis', which is a constant in each
 * unrolled iteration. */
static bool is_at_known_place(const rd_address *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis != axis)
            return false;
    return true;
}

/* The address in iteration k of the loop over the axis: that axis' term goes into the offset. */
static rd_address in_round(const rd_address *at, int32_t axis, int64_t k)
{
    rd_address y = *at;

    y.n_add = 0;
    for (int32_t j = 0; j < at->n_add; j++)
        if (at->add[j].axis == axis)
            y.offset += k * at->add[j].coef;
        else
            y.add[y.n_add++] = at->add[j];
    return y;
}

/* The register that one of the STOREs just before the loop stored at this address; -1: none.
 * `loop`: the number of the LOOP instruction. 16-bit floats do not count, because storing rounds
 * them. */
static int32_t register_stored_at(const rd_program *p, int32_t loop, const rd_address *at)
{
    for (int32_t i = loop - 1; i >= 0 && p->inst[i].kind == RD_I_STORE; i--) {
        const rd_address *to = &p->address[p->inst[i].arg];

        if (to->slot == at->slot && to->n_add == 0 && to->offset == at->offset &&
            to->type == at->type && !rd_dtype_is_narrow_float(to->type))
            return p->inst[i].a;
    }
    return -1;
}

/* The register that holds what a LOAD would read in iteration k of the loop; -1: it must be
 * loaded. Only of scratch memory (temporary, of this task) is it known that nothing else writes
 * it. */
static int32_t register_in_round(const rd_program *p, const rd_loop *loop, const rd_inst *load,
                                 int64_t k)
{
    const rd_address *at = &p->address[load->arg];
    rd_address        place;

    if (load->kind != RD_I_LOAD || at->slot < p->first_scratch ||
        !is_at_known_place(at, loop->axis) || load->type != at->type)
        return -1;
    place = in_round(at, loop->axis, k);
    return register_stored_at(p, loop->begin, &place);
}

/* True if a tile loop runs over the same axis: the loop then visits only a range of it, which
 * scratch memory holds alone. */
static bool is_in_tile(const rd_program *p, const rd_loop *loop)
{
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].kind == RD_LOOP_TILE && p->loop[k].axis == loop->axis)
            return true;
    return false;
}

/* True if the loop is to be unrolled: it is short, has only loads, stores and operations, and
 * loads something that a register still holds. The root loop is not, because tasks share it.
 * register_in_round() >= 0: that register; is_in_tile(): the loop goes over a part of the axis
 * only, so it is left. begin and end are the loop's instructions LOOP and END; MOST_RESULTS and
 * MOST_WRITTEN bound iterations and instructions. */
static bool may_unroll(const rd_program *p, const rd_loop *loop)
{
    bool finds_register = false;

    if (is_in_tile(p, loop))
        return false;
    if (loop->kind != RD_LOOP_EACH || loop->extent > MOST_RESULTS || loop->axis == p->root ||
        loop->extent * (loop->end - loop->begin) > MOST_WRITTEN)
        return false;
    for (int32_t i = loop->begin + 1; i < loop->end; i++)
        switch (p->inst[i].kind) {
        case RD_I_LOAD:
            finds_register |= register_in_round(p, loop, &p->inst[i], /*k=*/0) >= 0;
            break;
        case RD_I_STORE:
        case RD_I_CONST:
        case RD_I_MAP:
        case RD_I_CAST:
        case RD_I_SELECT: break;
        default: return false;
        }
    return finds_register;
}

/* ---- Unrolling ------------------------------------------------------------------------------- */
/* The register that stands for `reg`, a register of the loop's body, in the current iteration. One
 * that the body does not set (w->reg of -1) stands for itself. */
static int32_t current_register(const writing *w, int32_t reg)
{
    return reg >= 0 && w->reg[reg] >= 0 ? w->reg[reg] : reg;
}

/* Writes iteration k of the loop with new registers. A LOAD of what a register still holds is left
 * out; addresses get the index k as a constant. w->reg[k] is what register k of the program is
 * in the copy, and current_register() looks it up; in_round() puts k in place of the loop's
 * index; w->to has the new instructions. */
static void add_round(writing *w, const rd_loop *loop, int64_t k)
{
    rd_program *p = w->p;

    for (int32_t i = loop->begin + 1; i < loop->end; i++) {
        rd_inst       inst = p->inst[i];
        const int32_t from = register_in_round(p, loop, &inst, k);

        if (from >= 0) {
            w->reg[inst.dst] = from;
            continue;
        }
        if (inst.kind == RD_I_LOAD || inst.kind == RD_I_STORE) {
            rd_address at = in_round(&p->address[inst.arg], loop->axis, k);

            for (int32_t j = 0; j < at.n_add; j++)
                at.add[j].reg =
                    at.add[j].axis < 0 ? current_register(w, at.add[j].reg) : at.add[j].reg;
            inst.arg = rd_new_address(w->l, &at);
        }
        inst.a = current_register(w, inst.a);
        inst.b = current_register(w, inst.b);
        inst.c = current_register(w, inst.c);
        if (inst.kind != RD_I_STORE)
            inst.dst = w->reg[inst.dst] = p->n_reg++;
        rd_emit(w->l, &w->to, inst);
    }
}

/* True if one of n instructions loads from the slot, or sorts a row that lies there. */
static bool is_read(const rd_inst *inst, int32_t n, const rd_program *p, int32_t slot)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = inst[i].kind == RD_I_LOAD   ? inst[i].arg
                           : inst[i].kind == RD_I_SORT ? p->sorting[inst[i].arg].from
                                                       : -1;

        if (at >= 0 && p->address[at].slot == slot)
            return true;
    }
    return false;
}

/* Drops stores to scratch memory (temporary, of a task) that nothing reads any more. p->body and
 * p->tail, where parts of the code begin, move up by the instructions dropped before them.
 * `body` and `tail` are these begins before. */
static void drop_dead_stores(writing *w)
{
    rd_program *p = w->p;
    int32_t     n = 0, body = p->body, tail = p->tail;

    for (int32_t i = 0; i < w->to.n; i++) {
        const rd_inst *inst = &w->to.inst[i];
        const int32_t  slot = inst->kind == RD_I_STORE ? p->address[inst->arg].slot : -1;

        if (slot >= p->first_scratch && !is_read(w->to.inst, w->to.n, p, slot)) {
            p->body -= i < body;
            p->tail -= i < tail;
            continue;
        }
        w->to.inst[n++] = *inst;
    }
    w->to.n = n;
}

/* Renumbers the loops that are left, in the table of loops and in the instructions that name
 * one. w->to has the instructions. RD_NAMES_LOOP: an instruction's `arg` is the number of a
 * loop. */
static void renumber(writing *w)
{
    rd_program *p = w->p;
    int32_t     n = 0;

    for (int32_t k = 0; k < p->n_loop; k++) {
        bool is_left = false;

        for (int32_t i = 0; i < w->to.n; i++)
            is_left |= w->to.inst[i].kind == RD_I_LOOP && w->to.inst[i].arg == k;
        if (!is_left)
            continue;
        p->loop[n] = p->loop[k];
        for (int32_t i = 0; i < w->to.n && n != k; i++)
            if (rd_inst_table[w->to.inst[i].kind].names == RD_NAMES_LOOP && w->to.inst[i].arg == k)
                w->to.inst[i].arg = n;
        n++;
    }
    p->n_loop = n;
}

/* Copies the program with such loops unrolled, and finds where its parts (head, body, tail) begin
 * now. A part that begins at the end of the program (-1 here) does so afterwards, too. `body`
 * and `tail` are the new begins. */
static void unroll_loops(writing *w)
{
    rd_program *p    = w->p;
    int32_t     body = p->n_inst == p->body ? -1 : 0, tail = p->n_inst == p->tail ? -1 : 0;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_loop *loop = p->inst[i].kind == RD_I_LOOP ? &p->loop[p->inst[i].arg] : NULL;

        body = i == p->body ? w->to.n : body;
        tail = i == p->tail ? w->to.n : tail;
        if (!loop || !may_unroll(p, loop)) {
            rd_emit(w->l, &w->to, p->inst[i]);
            continue;
        }
        for (int64_t k = 0; k < loop->extent; k++)
            add_round(w, loop, k);
        i = loop->end;
    }
    p->body = body < 0 ? w->to.n : body;
    p->tail = tail < 0 ? w->to.n : tail;
}

/* Unrolls all loops of a finished program that load a reducer's results from scratch memory
 * although registers hold them, and drops the stores and loops that this leaves unused. w.reg
 * says by register what it is in the copy, -1: itself. */
void rd_unroll_results(rd_lowering *l)
{
    rd_program *p     = l->p;
    writing     w     = { .l = l, .p = p };
    int32_t     found = 0;

    for (int32_t k = 0; k < p->n_loop; k++)
        found += may_unroll(p, &p->loop[k]);
    if (!found)
        return;
    w.reg = rd_pool_get(l->graph->pool, (size_t)p->n_reg * sizeof *w.reg);
    l->failed |= !w.reg;
    if (l->failed)
        return;
    memset(w.reg, -1, (size_t)p->n_reg * sizeof *w.reg);
    unroll_loops(&w);
    drop_dead_stores(&w);
    renumber(&w);
    p->inst = rd_pool_get(l->pool, (size_t)(w.to.n + 1) * sizeof *p->inst);
    l->failed |= !p->inst;
    if (l->failed)
        return;
    if (w.to.n)
        memcpy(p->inst, w.to.inst, (size_t)w.to.n * sizeof *p->inst);
    p->n_inst = w.to.n;
    rd_program_tree(p);
}
