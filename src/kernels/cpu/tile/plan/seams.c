/* seams.c - what tiles read at places: indices that are moved and clamped, as rolled, padded and
 * joined arrays have them.
 *
 *   r1 = i1; r2 = min(r1, 4); r3 = lt(r1, 5); r4 = LOAD s0[r2]; r6 = LOAD s1[r5]
 *   r7 = SELECT r3, r4, r6
 *
 * Each of these places is a sum of an index in each piece of the axis (i1 < 5, i1 >= 5).  So nobody
 * computes places: the SELECT *joins*.  It loads the rows of r4 in the first piece, those of r6 in
 * the second one (run/joined_values.c).  A LOAD at places that other instructions read joins, too.
 * What only one side of a SELECT reads is made only for tiles in which that side is chosen.
 *
 * Fields. An addend of an address with `axis` -1 is a register.  An instruction is skipped (`skip`)
 * if another one does its work. */
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/loop/seam_forms.h"

/* In place of an axis: the register is no place (an index that may be moved and clamped); it is a
 * constant. */
enum { NO_PLACE = -2, NUMBER = -1 };

/* The state of a search for places: it holds what is known of each register of a program. */
typedef struct finding {
    const rd_program *p;
    rd_tile_code     *code;
    int32_t          *axis;  /* whose index each register is made of; or NO_PLACE, NUMBER */
    rd_known         *known; /* each register as a sum of indices, in the piece looked at */
} finding;

/* ---- Places ---------------------------------------------------------------------------------- */
/* True if instruction i loads for each element of a tile, at an index that lies in a register (a
 * gather). */
static bool loads_at_register(const rd_tile_code *code, const rd_program *p, int32_t i)
{
    return p->inst[i].kind == RD_I_LOAD && code->inst[i].level == RD_AT_TILE &&
           code->inst[i].strides.gathers;
}

/* Returns the axis whose index a COORD makes (coef * index + offset).  NUMBER: no axis, a constant.
 * NO_PLACE: several axes, a register, or an index counted from the begin of a range. */
static int32_t axis_of_coordinate(const rd_address *at)
{
    if (at->n_add == 0)
        return NUMBER;
    return at->n_add == 1 && at->add[0].axis >= 0 && !at->add[0].local ? at->add[0].axis : NO_PLACE;
}

/* Returns the axis of the place that a map makes of two others: min, add, or a comparison of i64.
 * Both operands must be of one axis, or one of them a constant; else NO_PLACE. */
static int32_t axis_of_map(const finding *f, const rd_inst *inst)
{
    const bool test = rd_compares_indices(inst->op);
    int32_t    a, b;

    if (test ? inst->from != RD_I64 : !rd_makes_indices(inst->op) || inst->type != RD_I64)
        return NO_PLACE;
    a = f->axis[inst->a];
    b = f->axis[inst->b];
    return a == b || b == NUMBER ? a : a == NUMBER ? b : NO_PLACE;
}

/* Notes for each register whether it may be a place (an index that is moved, clamped or compared),
 * and of which axis. */
static void find_axes(const finding *f)
{
    const rd_program *p = f->p;

    for (int32_t k = 0; k < p->n_reg; k++)
        f->axis[k] = NO_PLACE;
    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind == RD_I_CONST && inst->type == RD_I64)
            f->axis[inst->dst] = NUMBER;
        if (inst->kind == RD_I_COORD)
            f->axis[inst->dst] = axis_of_coordinate(&p->address[inst->arg]);
        if (inst->kind == RD_I_MAP)
            f->axis[inst->dst] = axis_of_map(f, inst);
    }
}

/* Returns what a register is in a range of its axis: coef * index + offset, true or false, or
 * unknown.  `range` gets the first seam, where that changes.  The operands are known already. */
static rd_known know(const finding *f, rd_seam_range *range, const rd_inst *inst)
{
    const rd_address *at = inst->kind == RD_I_COORD ? &f->p->address[inst->arg] : NULL;

    if (at)
        return rd_known_sum(at->n_add ? at->add[0].coef : 0, at->offset);
    if (inst->kind == RD_I_CONST)
        return rd_known_sum(0, inst->value.i64);
    return rd_known_of_op(range, inst->op, f->known[inst->a], f->known[inst->b]);
}

/* Notes what each register of an axis is in piece k of the axis (a range of its indices): coef *
 * index + offset, or true or false.  Returns the first index inside the piece where some register
 * changes (a seam); the start of the piece: there is none.  A register whose form is unknown,
 * though there is no such index, is no place any more. */
static int64_t form_piece(const finding *f, int32_t axis, int32_t k)
{
    const rd_axis_pieces *pieces = &f->code->pieces[axis];
    rd_seam_range         range  = { pieces->from[k], pieces->from[k + 1], pieces->from[k] };

    for (int32_t reg = 0; reg < f->p->n_reg; reg++) {
        rd_tile_reg   *r = &f->code->reg[reg];
        rd_place_form *form;

        if (f->axis[reg] != axis && f->axis[reg] != NUMBER)
            continue;
        f->known[reg] = know(f, &range, &f->p->inst[r->born]);
        form          = (rd_place_form *)r->form + k;
        *form         = f->known[reg].is == RD_FORM_TRUTH
                            ? (rd_place_form){ 0, f->known[reg].truth }
                            : (rd_place_form){ f->known[reg].coef, f->known[reg].offset };
        if (f->known[reg].is == RD_FORM_UNKNOWN && range.seam == range.lo)
            f->axis[reg] = NO_PLACE; /* for good: no cut at a seam would help */
    }
    return range.seam;
}

/* Cuts an axis into pieces (ranges of indices) at all seams of its places, so that in each piece
 * every place is one sum.  Piece k has indices from[k] to from[k + 1] - 1; form_piece() returns the
 * first seam in it, or from[k].  False if there are more than RD_MOST_PIECES. */
static bool cut(const finding *f, int32_t axis)
{
    rd_axis_pieces *pieces = &f->code->pieces[axis];

    pieces->n       = 1;
    pieces->from[1] = f->p->axis_extent[axis];
    for (int32_t k = 0; k < pieces->n;) {
        const int64_t seam = form_piece(f, axis, k);

        if (seam == pieces->from[k]) { /* piece k has no seam */
            k++;
            continue;
        }
        if (pieces->n == RD_MOST_PIECES)
            return false;
        /* piece k becomes two: later pieces move on by one */
        for (int32_t n = ++pieces->n; n > k + 1; n--)
            pieces->from[n] = pieces->from[n - 1];
        pieces->from[k + 1] = seam;
    }
    return true;
}

/* Notes, for all registers that are places, what they are in each piece of their axis (coef * index
 * + offset, or a truth value).  Registers of an axis with too many pieces are no places.  False: no
 * memory.  NULL in `form` says that a register is no place. */
static bool form_all(const finding *f, rd_get_fn *get, void *pool)
{
    for (int32_t reg = 0; reg < f->p->n_reg; reg++)
        if (f->axis[reg] != NO_PLACE) {
            f->code->reg[reg].form = get(pool, RD_MOST_PIECES * sizeof(rd_place_form));
            if (!f->code->reg[reg].form)
                return false;
        }
    for (int32_t axis = 0; axis < f->p->n_axis; axis++)
        if (!cut(f, axis))
            for (int32_t reg = 0; reg < f->p->n_reg; reg++)
                f->axis[reg] = f->axis[reg] == axis ? NO_PLACE : f->axis[reg];
    for (int32_t reg = 0; reg < f->p->n_reg; reg++) {
        f->code->reg[reg].form_axis = f->axis[reg];
        if (f->axis[reg] == NO_PLACE)
            f->code->reg[reg].form = NULL;
    }
    return true;
}

/* ---- Who joins ------------------------------------------------------------------------------- */
/* True if a loop goes upwards and stores nothing in a slot (buffer), so that what is loaded from it
 * may be loaded later in the loop. */
static bool stores_nothing(const rd_program *p, int32_t loop, int32_t slot)
{
    for (int32_t i = p->loop[loop].begin; i < p->loop[loop].end; i++)
        if (p->inst[i].kind == RD_I_STORE && p->address[p->inst[i].arg].slot == slot)
            return false;
    return !p->loop[loop].backwards;
}

/* True if a LOAD of a tile can be done piece by piece (it *joins*): all its indices in registers
 * are places, which are plain sums in each piece of an axis. Its loop must store nothing in that
 * memory, as the LOAD may run later in the loop. */
static bool load_joins(const finding *f, int32_t i)
{
    const rd_address *at = &f->p->address[f->p->inst[i].arg];

    if (!loads_at_register(f->code, f->p, i) || !stores_nothing(f->p, f->p->inst[i].loop, at->slot))
        return false;
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 && !f->code->reg[at->add[k].reg].form)
            return false;
    return true;
}

/* True if a SELECT can be done piece by piece (it *joins*): it chooses by a comparison of places,
 * which is true or false in a whole piece of an axis, and converts nothing. It must be of a tile,
 * in a loop that goes upwards, as pieces are done from the left. */
static bool select_joins(const finding *f, int32_t i)
{
    const rd_inst *inst = &f->p->inst[i];

    return inst->kind == RD_I_SELECT && f->code->inst[i].level == RD_AT_TILE &&
           f->code->reg[inst->a].form && rd_elem_of(inst->type) == f->code->reg[inst->b].elem &&
           rd_elem_of(inst->type) == f->code->reg[inst->c].elem &&
           !f->p->loop[inst->loop].backwards;
}

/* Takes back the uses of registers that instruction i reads as places: the index registers of a
 * LOAD, or the condition of a SELECT. It joins (goes piece by piece), so it reads them no more.
 * rd_inst_reads() has counted each register once. */
static void drop_places(const finding *f, int32_t i)
{
    const rd_inst    *inst = &f->p->inst[i];
    const rd_address *at   = inst->kind == RD_I_LOAD ? &f->p->address[inst->arg] : NULL;

    if (!at)
        f->code->reg[inst->a].uses--;
    for (int32_t k = 0; at && k < at->n_add; k++) {
        bool again = at->add[k].axis >= 0;

        for (int32_t b = 0; b < k && !again; b++)
            again = at->add[b].axis < 0 && at->add[b].reg == at->add[k].reg;
        if (!again) /* each register is counted once */
            f->code->reg[at->add[k].reg].uses--;
    }
}

/* Skips instructions whose places nobody reads any more, last ones first, as skipping one takes
 * away uses of its operands. `uses` counts the readers of a register. */
static void skip_places(const finding *f)
{
    for (int32_t i = f->p->n_inst; i-- > 0;) {
        const rd_inst *inst = &f->p->inst[i];
        int32_t        reg[RD_MOST_READ], n;

        if (rd_inst_makes(f->p, inst) != 1 || !f->code->reg[inst->dst].form ||
            f->code->reg[inst->dst].uses > 0 || f->code->inst[i].skip)
            continue;
        f->code->inst[i].skip = true;
        n                     = rd_inst_reads(f->p, inst, reg);
        for (int32_t k = 0; k < n; k++)
            f->code->reg[reg[k]].uses--;
    }
}

/* ---- Sides ----------------------------------------------------------------------------------- */
/* True if an instruction need not run for elements that no SELECT chooses: it makes one value,
 * keeps no state, and reports no error. */
static bool may_be_guarded(const rd_inst *inst)
{
    switch (inst->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_LOAD:
    case RD_I_CAST:
    case RD_I_SELECT: return true;
    case RD_I_MAP: return !rd_op_reports(inst->op, inst->type);
    default: return false;
    }
}

/* Deals with one operand (`reg`) of a SELECT that joins, if the SELECT alone reads it.  If the
 * instruction that makes it joins, too, it is skipped: the SELECT loads its rows itself.  In any
 * case it is guarded: made only for tiles where the SELECT chooses that side.  `side` says which
 * operand: true, the first.  The instruction must be in the same loop, and be one that may be left
 * out. */
static void take_side(const finding *f, int32_t select, int32_t reg, bool side)
{
    const int32_t from = f->code->reg[reg].born;
    rd_tile_inst *t    = &f->code->inst[from];

    if (f->code->reg[reg].uses != 1 || f->p->inst[from].loop != f->p->inst[select].loop ||
        !may_be_guarded(&f->p->inst[from]))
        return;
    if (t->by_pieces)
        t->skip = true;
    t->wanted_by_select = select;
    t->wanted_side      = side;
}

/* Guards the operands of an instruction that is itself guarded (made only where a SELECT chooses
 * it), if it alone reads them: they are wanted where it is. t->wanted_by_select is the SELECT,
 * guard_side which of its operands; reg.born is the instruction that makes a register. */
static void pass_guard(const finding *f, int32_t i)
{
    const rd_tile_inst *t = &f->code->inst[i];
    int32_t             reg[RD_MOST_READ], n = rd_inst_reads(f->p, &f->p->inst[i], reg);

    for (int32_t k = 0; k < n; k++) {
        const int32_t from = f->code->reg[reg[k]].born;

        if (f->code->reg[reg[k]].uses == 1 && f->p->inst[from].loop == f->p->inst[i].loop &&
            may_be_guarded(&f->p->inst[from])) {
            f->code->inst[from].wanted_by_select = t->wanted_by_select;
            f->code->inst[from].wanted_side      = t->wanted_side;
        }
    }
}

/* Guards or skips the operands of SELECTs that join (are done piece by piece), readers first.
 * Registers that a SELECT reads in place of one that is skipped live until it has run. reg.last is
 * the last instruction that reads a register. */
static void mark_sides(const finding *f)
{
    for (int32_t i = f->p->n_inst; i-- > 0;) {
        const rd_inst *inst = &f->p->inst[i];

        if (f->code->inst[i].by_pieces && inst->kind == RD_I_SELECT) {
            /* the instruction that reads the chosen value last */
            const int32_t until = f->code->inst[i].skip ? f->code->reg[inst->dst].last : i;

            if (inst->b != inst->c) { /* else both sides choose one register */
                take_side(f, i, inst->b, /*side=*/true);
                take_side(f, i, inst->c, /*side=*/false);
            }
            for (int k = 0; k < 2; k++) {
                rd_tile_reg *r = &f->code->reg[k ? inst->b : inst->c];

                r->last = r->last > until ? r->last : until;
            }
        } else if (f->code->inst[i].wanted_by_select >= 0 && !f->code->inst[i].by_pieces &&
                   (inst->kind == RD_I_MAP || inst->kind == RD_I_CAST || inst->kind == RD_I_SELECT))
            pass_guard(f, i);
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
/* True if the program has an instruction that might join. */
static bool may_join(const rd_program *p, const rd_tile_code *code)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (loads_at_register(code, p, i))
            return true;
    return false;
}

/* Finds the instructions that *join*: loads and choices of rolled, padded or joined arrays, whose
 * moved indices (places) are plain sums in each piece of an axis.  Marks what only one side of a
 * choice needs.  False: no memory.  A program without gathers has nothing to join, and code->pieces
 * stays NULL. */
bool rd_tile_fuse_seams(const rd_program *p, rd_tile_code *code, rd_get_fn *get, void *pool)
{
    const size_t regs = (size_t)p->n_reg + 1;
    finding      f    = { .p = p, .code = code };

    if (!may_join(p, code))
        return true;
    f.axis       = get(pool, regs * sizeof *f.axis);
    f.known      = get(pool, regs * sizeof *f.known);
    code->pieces = get(pool, ((size_t)p->n_axis + 1) * sizeof *code->pieces);
    if (!f.axis || !f.known || !code->pieces)
        return false;
    find_axes(&f);
    if (!form_all(&f, get, pool))
        return false;
    for (int32_t i = 0; i < p->n_inst; i++)
        if (load_joins(&f, i) || select_joins(&f, i)) {
            code->inst[i].by_pieces = true;
            drop_places(&f, i);
        }
    skip_places(&f);
    mark_sides(&f);
    return true;
}
