/* loops.c - loops of an item as CUDA C, and what stands between them.
 *
 * A loop without loops in it does several rounds together where its loads can go ahead: all loads
 * of these rounds, `wide` elements at a time where these lie side by side (strips.c), then element
 * after element in the order of the program.  What is left at the ends of rows goes by one round,
 * and what is less than `wide` one element at a time:
 *
 *     for (v1 = 0; v1 < n;)
 *         if (v1 + 8 * 64 <= n && all in one block of the tree) {
 *             x5[u] = rd_take<float, 4>(...);     for u = 0 .. 7
 *             for u, for l = 0 .. 3: the body of element i1 = v1 + 64 * u + 4 * t + l
 *         } else if (v1 + 4 * t + 4 <= n)
 *             the same of one round
 *         else
 *             for l: the body of element v1 + 4 * t + l, if it is there */
#include "core/tree.h"
#include "kernels/cuda/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t axis_bit(int32_t axis)
{
    return UINT64_C(1) << axis;
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Elements of a thread that its text goes through one after the other: those of an item that is
 * several side by side, or those of a spread loop. */
static int32_t elements_of(const rd_cuda_text *t, int32_t loop)
{
    const rd_cuda_shape *s = t->s;

    if (s->strip >= 0)
        return s->wide * (t->abreast ? t->abreast : 1);
    if (loop < 0 || !s->spread[loop])
        return loop >= 0 && t->along ? t->along : 1;
    return s->wide > 1 ? s->wide : 2;
}

/* Positions of a spread loop that the team has at once. */
static int32_t round_of(const rd_cuda_text *t, int32_t loop)
{
    return t->s->spread[loop] ? t->s->team * elements_of(t, loop) : t->along ? t->along : 1;
}

/* Of pairs, the last results stand in for those behind them. */
void rd_cuda_declare_strip(rd_cuda_text *t, bool first)
{
    const rd_cuda_shape *s = t->s;
    rd_text              n = { 0 };

    if (s->pairs >= 0) {
        rd_cuda_number(t, &n, s->p->axis_extent[s->strip] - 1);
        rd_cuda_line(t, "const int64_t i%" PRId32 " = RD_LESS(v%" PRId32 "%s, %s);", s->strip,
                     s->strip, first ? "" : " + l", n.at ? n.at : "");
    } else
        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 "%s;", s->strip, s->strip,
                     first ? "" : " + l");
    rd_text_free(&n);
}

/* "const int64_t i1 = v1 + 64 * u + 4 * t + l;": of an element, of the first of several where
 * `first`; `u`: a round, or "0". */
static void declare_indices(rd_cuda_text *t, int32_t loop, const char *u, bool first)
{
    const rd_cuda_shape *s = t->s;

    if (s->cross[0] >= 0) { /* rounds go along the outer loop */
        const int32_t down = s->p->loop[s->cross[0]].axis, along = s->p->loop[s->cross[1]].axis;

        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + %s;", down, down, u);
        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId32 " * t%s;", along,
                     along, s->wide, first ? "" : " + l");
        return;
    }
    if (s->strip >= 0)
        rd_cuda_declare_strip(t, first);
    if (t->abreast)
        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + k + e;",
                     s->p->loop[s->pairs].axis, s->p->loop[s->pairs].axis);
    if (loop < 0)
        return;
    const int32_t axis = s->p->loop[loop].axis;

    if (!s->spread[loop])
        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + %s * %" PRId32 "%s;", axis,
                     axis, u, round_of(t, loop), t->along && !first ? " + e" : "");
    else if (s->wide > 1)
        rd_cuda_line(
            t, "const int64_t i%" PRId32 " = v%" PRId32 " + %s * %" PRId32 " + %" PRId32 " * t%s;",
            axis, axis, u, round_of(t, loop), s->wide, first ? "" : " + l");
    else
        rd_cuda_line(
            t, "const int64_t i%" PRId32 " = v%" PRId32 " + %s * %" PRId32 " + RD_TEAM * l + t;",
            axis, axis, u, round_of(t, loop));
    if (s->spread[loop] && s->n_row > 0 && axis == s->row_axis && !first)
        rd_cuda_line(
            t, "const int o%" PRId32 " = (int)v%" PRId32 " + %s * %" PRId32 " + RD_TEAM * l + t;",
            axis, axis, u, round_of(t, loop));
}

const char *rd_cuda_element(const rd_cuda_text *t, char to[RD_CUDA_ELEMENT])
{
    if (t->abreast)
        snprintf(to, RD_CUDA_ELEMENT, "e * %" PRId32 " + l", t->s->wide);
    else
        snprintf(to, RD_CUDA_ELEMENT, t->along ? "e" : "l");
    return to;
}

static bool is_used_outside(const rd_program *p, int32_t reg, int32_t from, int32_t to)
{
    int32_t in[RD_MOST_READ];

    for (int32_t i = 0; i < p->n_inst; i++) {
        const int32_t n = i >= from && i < to ? 0 : rd_inst_reads(p, &p->inst[i], in);

        for (int32_t k = 0; k < n; k++)
            if (in[k] == reg)
                return true;
    }
    return false;
}

static const char *type_made(const rd_program *p, const rd_inst *inst)
{
    if (inst->kind == RD_I_INDEX)
        return rd_dtype_class(inst->from) == RD_CLASS_u64 ? "uint64_t" : "int64_t";
    return inst->kind == RD_I_CLOSE || inst->kind == RD_I_SCAN ? rd_result_type(&p->fold[inst->arg])
                                                               : rd_register_type(inst->type);
}

/* Values that elements keep for instructions elsewhere: "float a5[4];", "a5[l] = r5;". */
static void keep_values(rd_cuda_text *t, int32_t from, int32_t to, bool declares)
{
    const rd_program *p = t->s->p;
    char              at[RD_CUDA_ELEMENT];

    for (int32_t i = from; i < to; i++)
        for (int32_t k = 0; k < rd_inst_makes(p, &p->inst[i]); k++) {
            const int32_t reg = p->inst[i].dst + k;

            if (!is_used_outside(p, reg, from, to))
                continue;
            if (declares)
                rd_cuda_line(t, "%s a%" PRId32 "[%" PRId32 "];", type_made(p, &p->inst[i]), reg,
                             elements_of(t, -1));
            else
                rd_cuda_line(t, "a%" PRId32 "[%s] = r%" PRId32 ";", reg, rd_cuda_element(t, at),
                             reg);
        }
}

/* The instruction of the item, outside of [from, to), that makes a register; -1. */
static int32_t maker_of(const rd_cuda_text *t, int32_t reg, int32_t from, int32_t to)
{
    const rd_program *p = t->s->p;

    for (int32_t i = t->s->from; i < t->s->to; i++)
        if ((i < from || i >= to) && reg >= p->inst[i].dst &&
            reg < p->inst[i].dst + rd_inst_makes(p, &p->inst[i]))
            return i;
    return -1;
}

static bool is_read_before(const rd_program *p, int32_t reg, int32_t from, int32_t to)
{
    int32_t in[RD_MOST_READ];

    for (int32_t i = from; i < to; i++) {
        const int32_t n = rd_inst_reads(p, &p->inst[i], in);

        for (int32_t k = 0; k < n; k++)
            if (in[k] == reg)
                return true;
    }
    return false;
}

static bool is_in_pair(const rd_cuda_text *t, int32_t inst)
{
    return t->abreast && rd_cuda_within(t->s->p, inst, t->s->pairs);
}

/* "const float r5 = a5[l];" of values that elements have kept. */
static void recall_values(rd_cuda_text *t, int32_t from, int32_t to)
{
    const rd_program *p = t->s->p;
    int32_t           in[RD_MOST_READ];
    char              at[RD_CUDA_ELEMENT];

    for (int32_t i = from; i < to; i++) {
        const int32_t n = rd_inst_reads(p, &p->inst[i], in);

        for (int32_t k = 0; k < n; k++) {
            const int32_t maker = maker_of(t, in[k], from, to);
            bool          again = false;

            for (int32_t j = 0; j < k; j++)
                again |= in[j] == in[k];
            if (maker >= 0 && !again && !is_read_before(p, in[k], from, i))
                rd_cuda_line(t, "const %s r%" PRId32 " = a%" PRId32 "[%s];",
                             type_made(p, &p->inst[maker]), in[k], in[k],
                             is_in_pair(t, maker) ? rd_cuda_element(t, at) : "l");
        }
    }
}

static void write_insts(rd_cuda_text *t, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (t->s->p->inst[i].kind != RD_I_LOOP) /* of a row and its elements: all of either */
            rd_cuda_inst(t, i);
}

/* All that is stored several elements at a time. */
static void write_puts(rd_cuda_text *t, int32_t loop, const char *u)
{
    if (!rd_cuda_has_puts(t))
        return;
    rd_cuda_line(t, "{");
    t->indent++;
    declare_indices(t, loop, u, true);
    rd_cuda_write_puts(t);
    t->indent--;
    rd_cuda_line(t, "}");
}

/* "for (int l = 0; l < 4; l++) {", n elements of a round of a loop, or (-1) of the item, by their
 * indices. */
static void open_elements(rd_cuda_text *t, int32_t n, int32_t loop, const char *u)
{
    if (t->along) /* l is a lane, if the loop stands in one that is spread */
        rd_cuda_line(t, "RD_UNROLL for (int e = 0; e < %" PRId32 "; e++) {", n);
    else if (t->abreast)
        rd_cuda_line(t,
                     "RD_UNROLL for (int e = 0; e < %" PRId32
                     "; e++) RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {",
                     t->abreast, t->s->wide);
    else
        rd_cuda_line(t,
                     n > 1 || t->s->strip >= 0 ? "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {"
                                               : "{",
                     n);
    t->indent++;
    declare_indices(t, loop, u, false);
}

static void close_elements(rd_cuda_text *t)
{
    t->indent--;
    rd_cuda_line(t, "}");
}

/* Steps that have waited for all elements (near.c). */
static void write_waiting(rd_cuda_text *t, int32_t i, int32_t n, int32_t loop, const char *u)
{
    static const rd_cuda_steps ways[] = { RD_STEPS_NEAR, RD_STEPS_WHOLE };

    for (int k = 0; k < 2; k++) {
        rd_cuda_line(t, k ? "else" : "if (!moves%" PRId32 ")", i);
        open_elements(t, n, loop, u);
        rd_cuda_step_again(t, i, ways[k]);
        close_elements(t);
    }
}

/* Instructions without loops, for all elements of the thread: of a round of a loop, or (-1) of the
 * item.  `some`: a condition on those that are there, NULL. */
void rd_cuda_write_elements(rd_cuda_text *t, int32_t from, int32_t to, int32_t loop, const char *u,
                            const char *some)
{
    const int32_t n    = elements_of(t, loop);
    const bool    kept = t->s->strip >= 0, wait = n > 1 && !some;

    if (kept)
        keep_values(t, from, to, true);
    rd_cuda_declare_puts(t);
    for (int32_t i = from; wait && i < to; i++)
        if (rd_cuda_waits(t, &t->s->p->inst[i]))
            rd_cuda_declare_waiting(t, i, n);
    t->steps = wait ? RD_STEPS_WAIT : RD_STEPS_WHOLE;
    rd_cuda_take_staged(t, from, to);
    open_elements(t, n, loop, u);
    if (some)
        rd_cuda_line(t, "if (!(%s)) continue;", some);
    if (kept)
        recall_values(t, from, to);
    write_insts(t, from, to);
    if (kept)
        keep_values(t, from, to, false);
    close_elements(t);
    write_puts(t, loop, u);
    for (int32_t i = from; wait && i < to; i++)
        if (rd_cuda_waits(t, &t->s->p->inst[i]))
            write_waiting(t, i, n, loop, u);
    t->steps = RD_STEPS_WHOLE;
}

/* ---- Rounds that are done together ----------------------------------------------------------- */
/* Loads of all rounds, before anything is done with them. */
void rd_cuda_write_loads(rd_cuda_text *t, int32_t loop)
{
    rd_cuda_declare_takes(t, t->packs);
    rd_cuda_line(t, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++)%s {", t->packs->ahead,
                 t->apart ? " RD_UNROLL for (int l = 0; l < 2; l++)" : "");
    t->indent++;
    declare_indices(t, loop, "u", !t->apart);
    rd_cuda_write_takes(t, t->packs);
    t->indent--;
    rd_cuda_line(t, "}");
}

static bool rises_along(const rd_address *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 || (at->add[k].axis == axis && at->add[k].coef < 0))
            return false;
    return true;
}

/* Are elements of these rounds in one cell, and do their blocks rise?  Then cells move on once. */
static bool moves_once(const rd_cuda_text *t, int32_t loop, int32_t number)
{
    const rd_cuda_fold *f    = &t->s->fold[number];
    const rd_fold      *fold = f->of.fold;
    const int32_t       axis = t->s->p->loop[loop].axis;

    if (!f->tree || number >= 64 || f->step < t->s->p->loop[loop].begin ||
        f->step > t->s->p->loop[loop].end || rd_coef(&fold->cell, axis) ||
        !rises_along(&fold->lane, axis) || !rises_along(&fold->outer, axis))
        return false;
    for (int32_t k = 0; k < fold->cell.n_add; k++)
        if (fold->cell.add[k].axis < 0)
            return false;
    return !t->s->spread[loop] || (f->lanes && (t->apart || f->here == t->s->wide));
}

/* "int64_t first0, last0;": the blocks that the first and the last round are in. */
static void declare_blocks(rd_cuda_text *t, int32_t loop, int32_t number)
{
    const int32_t axis = t->s->p->loop[loop].axis;
    /* from the first element of a thread in these rounds to its last */
    const int64_t rest = t->along ? t->along - 1 : t->apart ? t->s->team : 0;
    const int64_t last = (int64_t)(t->packs->ahead - 1) * round_of(t, loop) + rest;

    rd_cuda_line(t, "uint64_t first%" PRId32 ", last%" PRId32 ";", number, number);
    for (int k = 0; k < 2; k++) {
        rd_text step = rd_cuda_step_of(t, &t->s->fold[number]);

        rd_cuda_line(t,
                     "{ const int64_t i%" PRId32 " = v%" PRId32 " + %" PRId64 "; %s%" PRId32
                     " = (uint64_t)(%s) / %d; }",
                     axis, axis, k ? last : 0, k ? "last" : "first", number, step.at ? step.at : "",
                     RD_TREE_STEPS);
        rd_text_free(&step);
    }
}

static void move_on(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_shape *s = t->s;
    char                 block[32];

    snprintf(block, sizeof block, "(int64_t)first%" PRId32, number);
    if (s->strip >= 0)
        rd_cuda_line(t, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", s->wide);
    else
        rd_cuda_line(t, "{");
    t->indent++;
    if (s->strip >= 0)
        rd_cuda_line(t, "const int64_t i%" PRId32 " = v%" PRId32 " + l;", s->strip, s->strip);
    rd_cuda_declare_cell(t, number);
    rd_cuda_move_on(t, &s->fold[number], block);
    t->indent--;
    rd_cuda_line(t, "}");
}

/* One round, of which each thread asks whether all that it has is there: what is left behind whole
 * rounds of a row is packs, too. */
static bool is_own_round(const rd_cuda_text *t, int32_t loop)
{
    return t->packs->ahead == 1 && t->s->spread[loop] && !t->apart;
}

/* "v1 >= lo && v1 + 512 <= hi": rounds are whole; "v1 + 4 * t >= lo && v1 + 4 * t + 4 <= hi": what
 * this thread has of one is. */
static void add_whole(rd_text *to, const rd_cuda_text *t, int32_t loop, const char *lo,
                      const char *hi)
{
    const int32_t axis = t->s->p->loop[loop].axis, wide = t->s->wide;

    if (is_own_round(t, loop))
        rd_text_add(to,
                    "v%" PRId32 " + %" PRId32 " * t >= %s && v%" PRId32 " + %" PRId32
                    " * t + %" PRId32 " <= %s",
                    axis, wide, lo, axis, wide, wide, hi);
    else
        rd_text_add(to, "v%" PRId32 " >= %s && v%" PRId32 " + %" PRId32 " <= %s", axis, lo, axis,
                    t->packs->ahead * round_of(t, loop), hi);
}

/* "if (all rounds are there, in one block) { ... } else" */
static void write_rounds(rd_cuda_text *t, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l     = &t->s->p->loop[loop];
    const int32_t  round = round_of(t, loop);
    rd_text        when  = { 0 };

    add_whole(&when, t, loop, lo, hi);
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (moves_once(t, loop, k)) {
            declare_blocks(t, loop, k);
            rd_text_add(&when, " && first%" PRId32 " == last%" PRId32, k, k);
        }
    if (t->along) /* where the packs begin that memory has */
        rd_text_add(&when, " && v%" PRId32 " %% %" PRId32 " == 0", l->axis, t->along);
    rd_cuda_line(t, "if (%s) {", when.at ? when.at : "");
    t->indent++;
    rd_cuda_write_loads(t, loop);
    for (int32_t k = 0; k < t->s->p->n_fold; k++)
        if (moves_once(t, loop, k)) {
            move_on(t, k);
            t->moved |= UINT64_C(1) << k;
        }
    rd_cuda_line(t, "RD_UNROLL for (int u = 0; u < %" PRId32 "; u++) {", t->packs->ahead);
    t->indent++;
    rd_cuda_write_elements(t, l->begin + 1, l->end, loop, "u", NULL);
    t->indent--;
    rd_cuda_line(t, "}");
    rd_cuda_line(t, "v%" PRId32 " += %" PRId32 ";", l->axis, t->packs->ahead * round);
    rd_cuda_line(t, "continue;");
    t->indent--;
    rd_cuda_line(t, "}");
    rd_text_free(&when);
    t->moved = 0;
}

/* One round, of which the ends of the loop may lack elements. */
static void write_round(rd_cuda_text *t, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l = &t->s->p->loop[loop];
    char           some[160];

    snprintf(some, sizeof some, "i%" PRId32 " >= %s && i%" PRId32 " < %s", l->axis, lo, l->axis,
             hi);
    rd_cuda_write_elements(t, l->begin + 1, l->end, loop, "0", t->s->spread[loop] ? some : NULL);
    rd_cuda_line(t, "v%" PRId32 " += %" PRId32 ";", l->axis, round_of(t, loop));
}

/* "for (int64_t v1 = lo; v1 < hi;) {": lanes begin with the first one. */
static void open_rounds(rd_cuda_text *t, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l    = &t->s->p->loop[loop];
    rd_text        text = { 0 };

    if (t->lane && t->s->spread[loop]) {
        rd_address base = *t->lane;

        for (int32_t k = 0; k < base.n_add; k++)
            if (base.add[k].axis == l->axis)
                base.add[k--] = base.add[--base.n_add];
        text = rd_cuda_position(t, &base);
        rd_cuda_line(
            t, "for (int64_t v%" PRId32 " = %s - ((%s) + %s) %% %" PRId32 "; v%" PRId32 " < %s;) {",
            l->axis, lo, text.at ? text.at : "", lo, round_of(t, loop), l->axis, hi);
    } else
        rd_cuda_line(t, "for (int64_t v%" PRId32 " = %s; v%" PRId32 " < %s;) {", l->axis, lo,
                     l->axis, hi);
    rd_text_free(&text);
}

static void write_leaf(rd_cuda_text *t, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l = &t->s->p->loop[loop];
    rd_cuda_packs  packs;

    rd_cuda_packs_of(t->s, loop, &packs);
    t->open |= axis_bit(l->axis);
    open_rounds(t, loop, lo, hi);
    t->indent++;
    if (packs.together) {
        t->packs = &packs;
        t->apart = t->s->spread[loop] && t->s->wide == 1;
        t->along = packs.along > 1 ? packs.along : 0;
        write_rounds(t, loop, lo, hi);
        if (packs.ahead > 1 && packs.n > 0 && t->s->spread[loop] && !t->apart) {
            packs.ahead = 1;
            rd_cuda_line(t, "{");
            t->indent++;
            write_rounds(t, loop, lo, hi);
            t->indent--;
            rd_cuda_line(t, "}");
        }
        t->packs = NULL;
        t->apart = false;
        t->along = 0;
    }
    write_round(t, loop, lo, hi);
    t->indent--;
    rd_cuda_line(t, "}");
    t->open &= ~axis_bit(l->axis);
}

/* ---- Loops ----------------------------------------------------------------------------------- */
/* Loops in it, or backwards: one index after the other; a team's threads take those of their
 * lanes. */
static void write_plain(rd_cuda_text *t, int32_t loop, const char *lo, const char *hi)
{
    const rd_loop *l = &t->s->p->loop[loop];

    t->open |= axis_bit(l->axis);
    if (t->s->spread[loop]) {
        const int32_t n = elements_of(t, loop);

        open_rounds(t, loop, lo, hi);
        t->indent++;
        rd_cuda_line(t, "RD_UNROLL for (int l = 0; l < %" PRId32 "; l++) {", n);
        t->indent++;
        declare_indices(t, loop, "0", false);
        rd_cuda_line(t, "if (i%" PRId32 " < %s || i%" PRId32 " >= %s) continue;", l->axis, lo,
                     l->axis, hi);
        rd_cuda_items(t, l->begin + 1, l->end);
        t->indent--;
        rd_cuda_line(t, "}");
        rd_cuda_line(t, "v%" PRId32 " += %" PRId32 ";", l->axis, round_of(t, loop));
        t->indent--;
    } else {
        rd_cuda_line(t,
                     l->backwards ? "for (int64_t i%" PRId32 " = %s; i%" PRId32 "-- > %s;) {"
                                  : "for (int64_t i%" PRId32 " = %s; i%" PRId32 " < %s; i%" PRId32
                                    "++) {",
                     l->axis, l->backwards ? hi : lo, l->axis, l->backwards ? lo : hi, l->axis);
        t->indent++;
        rd_cuda_items(t, l->begin + 1, l->end);
        t->indent--;
    }
    rd_cuda_line(t, "}");
    t->open &= ~axis_bit(l->axis);
}

static void write_loop(rd_cuda_text *t, int32_t loop)
{
    const rd_loop *l      = &t->s->p->loop[loop];
    const bool     spread = t->s->spread[loop],
               part       = rd_cuda_cut_of(t->s, loop) >= 0 || loop == t->s->dealt;
    rd_text end           = { 0 };

    rd_cuda_number(t, &end, l->extent);
    if (loop == t->s->pairs || t->abreast) {
        if (t->abreast)
            rd_cuda_write_in_pair(t, loop);
        else
            rd_cuda_write_pairs(t, part ? "lo" : "0", part ? "hi" : end.at ? end.at : "");
        rd_text_free(&end);
        return;
    }
    if (spread) { /* what one thread has left, another takes */
        t->spread = loop;
        t->lane   = rd_cuda_lanes_along(t->s, loop);
        rd_cuda_line(t, "RD_MEET");
    }
    (l->first < 0 && !l->backwards ? write_leaf : write_plain)(t, loop, part ? "lo" : "0",
                                                               part     ? "hi"
                                                               : end.at ? end.at
                                                                        : "");
    if (spread) {
        t->spread = -1;
        t->lane   = NULL;
        rd_cuda_line(t, "RD_MEET");
    }
    rd_text_free(&end);
}

/* The end of the instructions from `i` on that elements of an item do together. */
static int32_t end_of_run(const rd_program *p, int32_t i, int32_t to)
{
    while (i < to && p->inst[i].kind != RD_I_LOOP && p->inst[i].kind != RD_I_START)
        i++;
    return i;
}

/* Has a kernel before this one done the loop? */
static bool is_done(const rd_cuda_text *t, int32_t loop)
{
    const int32_t cut = rd_cuda_cut_of(t->s, loop);

    return cut >= 0 && (t->part == RD_PART_END || cut < t->cut);
}

void rd_cuda_items(rd_cuda_text *t, int32_t from, int32_t to)
{
    const rd_program *p = t->s->p;

    for (int32_t i = from; i < to; i++)
        if (p->inst[i].kind == RD_I_LOOP) {
            if (!is_done(t, p->inst[i].arg))
                write_loop(t, p->inst[i].arg);
            i = p->loop[p->inst[i].arg].end;
        } else if (t->s->strip >= 0 && i >= t->s->from && p->inst[i].kind != RD_I_START) {
            const int32_t end = end_of_run(p, i, to);

            rd_cuda_write_elements(t, i, end, -1, "0", NULL);
            i = end - 1;
        } else
            rd_cuda_inst(t, i);
}
