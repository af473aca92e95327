/* folds.c - where the states of folds lie, and what happens to them in the loops. */
#include "kernels/cpu/codegen/parts.h"
#include "core/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOCAL = 48 << 10 };

static const rd_region *region_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    for (int32_t k = 0; k < n->n_region; k++)
        if (f->step >= n->region[k].from && f->step < n->region[k].to)
            return &n->region[k];
    return NULL;
}

static int number_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    return (int)(f - n->fold);
}

/* ---- Where states lie ------------------------------------------------------------------------ */
/* Behind its last step. */
static int32_t end_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    return f->close >= 0 ? f->close : f->along >= 0 ? n->p->loop[f->along].end : f->step + 1;
}

/* Is the load in no loop that is written out, and of elements that lie apart, which end a round
 * (values.c)? */
static bool is_collected(const rd_codegen *n, int32_t load, const rd_codegen_fold *f,
                         const rd_region *r)
{
    for (int32_t k = n->around[load]; k >= 0 && n->begin[k] > f->start; k = n->parent[k])
        if (n->p->loop[k].axis != r->axis)
            return false;
    return rd_lies_apart(n, load, r->axis);
}

/* Do all its elements come in one round of a loop over the strip? */
static bool is_inner(const rd_codegen *n, const rd_codegen_fold *f, const rd_region *r)
{
    for (int32_t i = f->start; i < end_of(n, f); i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (rd_cuts(n, inst) || (inst->kind == RD_I_LOAD && is_collected(n, i, f, r)) ||
            (inst->kind == RD_I_LOOP && n->p->loop[inst->arg].axis != r->axis &&
             !rd_writes_out(n, inst->arg, r->axis)))
            return false;
    }
    return true;
}

/* Cells beside those of the strip. */
static int64_t other_cells(const rd_codegen_fold *f, const rd_region *r)
{
    return f->strip && rd_coef(&f->fold->cell, r->axis) ? 1 : f->fold->n_cell;
}

/* Arrays of states: s, of the block at hand; of scans p and rest, of what is before it, and nodes
 * of elements, e. */
typedef struct state_array {
    char        name;
    int         k;
    const char *type;
    int64_t     states;
} state_array;

/* Array number k, false: there are no more. */
static bool array_of(const rd_codegen_fold *f, int k, state_array *a)
{
    const int before = f->blocks && f->fold->scan ? f->n_state : 0, pair = before && f->pair;

    *a = (state_array){ 's', k, NULL, f->states };
    if (k >= f->n_state + before + pair) {
        *a = (state_array){ 'e', k - f->n_state - before - pair, NULL, f->states * f->levels };
        if (!f->levels || a->k >= f->n_state)
            return false;
    } else if (k >= f->n_state + before)
        *a = (state_array){ 'q', 0, NULL, f->states };
    else if (k >= f->n_state)
        *a = (state_array){ 'p', k - f->n_state, NULL, f->states };
    a->type = rd_state_type(f, a->k);
    return true;
}

static void lay_out(rd_codegen *n, rd_codegen_fold *f)
{
    const rd_region *r     = region_of(n, f);
    const int32_t    last  = f->close >= 0 ? f->close : f->step;
    const bool       one   = n->whole || rd_part_of(n->p, f->start) == rd_part_of(n->p, last);
    int64_t          bytes = 0;
    state_array      a;

    f->inner  = f->strip && !f->blocks && is_inner(n, f, r);
    f->states = f->inner ? f->lanes : other_cells(f, r) * f->lanes * (f->strip ? r->width : 1);
    for (int k = 0; array_of(f, k, &a); k++)
        bytes += rd_lines(a.states * f->bytes);
    f->local = f->inner || (one && bytes <= MOST_LOCAL);
    if (f->split)
        f->facts = rd_piece(&n->state, 1, 64);
    if (!f->local)
        f->current = rd_piece(&n->state, 1, bytes);
    if (f->room)
        f->tree = rd_piece(&n->state, f->room, f->n_state * rd_lines(f->states * f->bytes));
}

void rd_declare_states(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f  = &n->fold[k];
        int64_t                at = f->current;
        state_array            a;

        for (int j = 0; !f->local && array_of(f, j, &a); j++) {
            rd_line(n, "%s *const %c%d_%d = (%s *)(q->state + %" PRId64 ");", a.type, a.name, k,
                    a.k, a.type, at);
            at += rd_lines(a.states * f->bytes);
        }
    }
}

void rd_codegen_lay_out(rd_codegen *n)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        lay_out(n, &n->fold[k]);
}

/* ---- Which states ---------------------------------------------------------------------------- */
/* "&s0_0[at], &s0_1[at]" */
void rd_add_states(rd_text *to, const rd_codegen *n, const rd_codegen_fold *f, const char *name,
                   const char *at)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "%s&%s%d_%d[%s]", k ? ", " : "", name, number_of(n, f), k, at);
}

static void add_held(rd_text *to, const rd_codegen *n, const rd_codegen_fold *f)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "%s&h%d_%d", k ? ", " : "", number_of(n, f), k);
}

static void add_lane(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text_add(to, "(");
    rd_position(n, to, &f->fold->lane);
    rd_text_add(to, f->fold->lane_extent <= f->fold->lanes ? ")" : ") %% %d", (int)f->fold->lanes);
}

/* Of cells that are copied: which of them, by the indices of the loops that are written out. */
static int64_t group_of(const rd_codegen *n, const rd_codegen_fold *f)
{
    int64_t group = 0, times = 1;

    for (int32_t k = n->around[f->step]; k != f->along && k >= 0; k = n->parent[k]) {
        const int32_t axis = n->p->loop[k].axis;

        if (!rd_coef(&f->fold->cell, axis))
            continue;
        group += times * n->bind[axis].number;
        times *= n->p->loop[k].extent;
    }
    return group;
}

static void add_cell(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, bool of_strip)
{
    rd_text_add(to, "(");
    if (of_strip)
        rd_position_of_strip(n, to, &f->fold->cell);
    else
        rd_position(n, to, &f->fold->cell);
    rd_text_add(to, ")");
}

/* The first state of the cells at hand, and of these all lanes: what a block's end takes. */
void rd_add_first_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    const rd_region *r = region_of(n, f);

    if (f->mode == RD_FOLD_CELLS && f->strip) {
        if (rd_coef(&f->fold->cell, r->axis) || f->fold->cell.n_add == 0)
            rd_text_add(to, "0");
        else {
            add_cell(n, to, f, true);
            rd_text_add(to, " * %d", r->width * f->lanes);
        }
        if (n->part >= 0)
            rd_text_add(to, " + (v%d - whole%d)", r->axis, r->axis);
        return;
    }
    if (f->fold->cell.n_add == 0) {
        rd_text_add(to, "0");
        return;
    }
    add_cell(n, to, f, true);
    if (f->lanes > 1)
        rd_text_add(to, " * %d", f->lanes);
}

/* The state that an element of the strip meets. */
void rd_add_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    const rd_region *r = region_of(n, f);

    if (f->inner) {
        rd_text_add(to, "0");
        if (f->lanes > 1) {
            rd_text_add(to, " + ");
            add_lane(n, to, f);
        }
        return;
    }
    if (f->cached)
        rd_text_add(to, "%" PRId64, group_of(n, f) * f->lanes);
    else
        rd_add_first_state(n, to, f);
    if (f->mode == RD_FOLD_SCALAR && f->lanes > 1) {
        rd_text_add(to, " + ");
        add_lane(n, to, f);
    } else if (f->mode == RD_FOLD_CELLS && f->lanes > 1) {
        rd_text_add(to, " + ");
        add_lane(n, to, f);
        rd_text_add(to, " * %d + i", r->width);
    } else if (f->mode == RD_FOLD_LANES && f->fold->lanes > r->width)
        rd_text_add(to, " + v%d %% %d + i", r->axis, f->fold->lanes);
    else if (f->mode != RD_FOLD_SCALAR)
        rd_text_add(to, " + i");
}

/* ---- Steps ----------------------------------------------------------------------------------- */
static const char *class_of(rd_dtype type)
{
    return type == RD_BOOL ? "uint64_t" : rd_register_type(type);
}

static void declare(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    state_array a;

    for (int k = 0; array_of(f, k, &a); k++)
        rd_text_add(to, " %s %c%d_%d[%" PRId64 "]%s;", a.type, a.name, number_of(n, f), a.k,
                    a.states, f->inner ? "" : " LINES");
}

void rd_codegen_start(rd_codegen *n, int32_t fold)
{
    rd_codegen_fold *f    = &n->fold[fold];
    rd_text          line = { 0 };

    if (f->inner) {
        rd_text *to = rd_strip_loop(n);

        declare(n, to, f);
        for (int32_t l = 0; l < f->lanes; l++) {
            char at[20];

            snprintf(at, sizeof at, "%d", l);
            rd_user_begins(to, f, fold, "s", at);
            rd_text_add(to, " begin%d(", fold);
            rd_add_states(to, n, f, "s", at);
            rd_text_add(to, ");");
        }
        return;
    }
    rd_strip_loop_end(n);
    if (n->here)
        n->arrays = true;
    if (f->local) {
        declare(n, &line, f);
        rd_line(n, "%s", line.at + 1);
        rd_text_free(&line);
    }
    rd_text_add(&line, "for (int64_t l = 0; l < ");
    rd_number_text(n, &line, f->states);
    rd_text_add(&line, "; l++) {");
    rd_user_begins(&line, f, fold, "s", "l");
    rd_text_add(&line, " begin%d(", fold);
    rd_add_states(&line, n, f, "s", "l");
    rd_text_add(&line, "); }");
    if (f->fold->scan && f->blocks) {
        rd_text_add(&line, " for (int64_t l = 0; l < ");
        rd_number_text(n, &line, f->states);
        rd_text_add(&line, "; l++) {");
        rd_user_begins(&line, f, fold, "p", "l");
        rd_text_add(&line, " begin%d(", fold);
        rd_add_states(&line, n, f, "p", "l");
        rd_text_add(&line, ");");
        if (f->pair)
            rd_text_add(&line, " q%d_0[l] = -0.0F;", fold);
        rd_text_add(&line, " }");
    }
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
    if (f->split)
        rd_line(n, "f%d[0] = first%d >> 6; f%d[1] = 0;", fold, fold, fold);
}

/* "x, w" */
static void add_element(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    rd_operand_text(n, to, inst->a);
    rd_text_add(to, ", ");
    if (n->fold[inst->arg].weighted)
        rd_operand_text(n, to, inst->b);
    else
        rd_text_add(to, "1");
}

static void add_exponent(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states)
{
    rd_text_add(to, "exponent%d(%s, ", inst->arg, states);
    add_element(n, to, inst);
    rd_text_add(to, ")");
}

static const char *elem_of(const rd_codegen_fold *f)
{
    return strcmp(rd_state_type(f, 0), "float") == 0 ? "f32" : "f64";
}

/* What the steps of a strip take the exponential of, and that, in arrays. */
static void take_powers(rd_codegen *n, const rd_inst *inst, const char *states)
{
    rd_text *to = rd_strip_loop(n);

    rd_text_add(&n->before, "%*s%s e%d[%d] LINES;\n", 4 * n->indent, "",
                rd_state_type(&n->fold[inst->arg], 0), inst->arg, rd_strip_room(n));
    n->arrays = true;
    rd_text_add(to, " e%d[i] = ", inst->arg);
    add_exponent(n, to, inst, states);
    rd_text_add(to, ";");
    rd_strip_loop_end(n);
    rd_line(n, "EXP_OF_STRIP(%s, e%d, n)", elem_of(&n->fold[inst->arg]), inst->arg);
}

static void add_power(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states)
{
    if (n->here && rd_cuts(n, inst)) {
        rd_text_add(to, ", e%d[i]", inst->arg);
        return;
    }
    rd_text_add(to, ", rd_math_exp_%s(", elem_of(&n->fold[inst->arg]));
    add_exponent(n, to, inst, states);
    rd_text_add(to, ")");
}

/* "step0(states, x, w, i, take, power);" */
void rd_add_step(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states)
{
    const rd_codegen_fold *f = &n->fold[inst->arg];

    rd_text_add(to, " step%d(%s, ", inst->arg, states);
    add_element(n, to, inst);
    rd_text_add(to, ", ");
    rd_position(n, to, &f->fold->index);
    if (f->masked) {
        rd_text_add(to, ", ");
        rd_operand_text(n, to, inst->c);
    }
    if (rd_takes_power(f))
        add_power(n, to, inst, states);
    rd_text_add(to, ");");
}

void rd_add_state_at_hand(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text at = { 0 };

    rd_add_state(n, &at, f);
    if (f->held)
        add_held(to, n, f);
    else
        rd_add_states(to, n, f, f->cached ? "c" : "s", at.at);
    rd_text_free(&at);
}

static void add_tree_arguments(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    rd_text_add(to, ", tree%d, ", number_of(n, f));
    rd_number_text(n, to, f->states);
}

/* Behind the last element of a block, where loops are not cut at their ends. */
static void end_block(rd_codegen *n, const rd_codegen_fold *f)
{
    const int     number = number_of(n, f);
    const int64_t block  = (int64_t)f->fold->lanes * f->fold->steps;
    rd_text       place = { 0 }, at = { 0 }, line = { 0 };

    rd_position(n, &place, &f->fold->lane);
    rd_add_first_state(n, &at, f);
    rd_text_add(&line, "if ((%s + 1) %% %" PRId64 " == 0", place.at, block);
    if (f->steps % f->fold->steps == 0) {
        rd_text_add(&line, " || %s + 1 == ", place.at);
        rd_number_text(n, &line, f->fold->lane_extent);
    }
    rd_text_add(&line, ") push%d(", number);
    rd_add_states(&line, n, f, "s", at.at);
    add_tree_arguments(n, &line, f);
    rd_text_add(&line, ", %s, %d, (%s) / %" PRId64 ", ", at.at, f->lanes, place.at, block);
    rd_text_add(&line, f->split ? "f%d[0]);" : "0);", number);
    rd_line(n, "%s", line.at);
    rd_text_free(&place);
    rd_text_free(&at);
    rd_text_free(&line);
}

void rd_codegen_step(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    rd_text        line = { 0 }, states = { 0 }, *to;

    rd_add_state_at_hand(n, &states, &n->fold[inst->arg]);
    if (n->here && rd_cuts(n, inst))
        take_powers(n, inst, states.at);
    to = n->here ? rd_strip_loop(n) : &line;
    rd_add_step(n, to, inst, states.at);
    if (!n->here)
        rd_line(n, "%s", line.at + 1);
    rd_text_free(&states);
    rd_text_free(&line);
    if (!n->here && n->fold[inst->arg].mixed && n->fold[inst->arg].room)
        end_block(n, &n->fold[inst->arg]);
}

/* States of the strip's elements as variables, while several steps are taken. */
static void move_states(rd_codegen *n, int32_t loop, bool in)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        rd_codegen_fold *f  = &n->fold[k];
        rd_text          at = { 0 };

        if (!rd_within(n, f->step, loop) || f->inner)
            continue;
        f->held = false;
        rd_add_state(n, &at, f);
        for (int j = 0; j < f->n_state; j++)
            if (in)
                rd_text_add(rd_strip_loop(n), " %s h%d_%d = s%d_%d[%s];", rd_state_type(f, j), k, j,
                            k, j, at.at);
            else
                rd_text_add(rd_strip_loop(n), " s%d_%d[%s] = h%d_%d;", k, j, at.at, k, j);
        f->held = in;
        rd_text_free(&at);
    }
}

void rd_states_hold(rd_codegen *n, int32_t loop)
{
    move_states(n, loop, true);
}

void rd_states_drop(rd_codegen *n, int32_t loop)
{
    move_states(n, loop, false);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
bool rd_ends_blocks(const rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].along == loop && n->fold[k].blocks)
            return true;
    return false;
}

/* Indices of the loop that are a step. */
static int64_t unit_of(rd_codegen *n, const rd_codegen_fold *f, int32_t axis)
{
    const int64_t rows = (f->fold->lane_extent + f->fold->lanes - 1) / f->fold->lanes;

    if (f->fold->lane_extent > f->fold->lanes && rd_coef(&f->fold->lane, axis) == 1)
        return f->fold->lanes;
    if (llabs(rd_coef(&f->fold->outer, axis)) * rows != 1)
        n->why = "steps that do not follow each other";
    return 1;
}

/* The step of the first index of the loop, whose axis is at `from`. */
static void add_step(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t axis,
                     const char *from)
{
    const rd_bind kept = n->bind[axis];
    const int64_t rows = (f->fold->lane_extent + f->fold->lanes - 1) / f->fold->lanes;

    n->bind[axis].kind = RD_BIND_INDEX;
    rd_line(n, "int64_t t%d;", number_of(n, f));
    rd_text_add(to, "{ const int64_t i%d = %s; t%d = (", axis, from, number_of(n, f));
    rd_position(n, to, &f->fold->outer);
    rd_text_add(to, ") * ");
    rd_number_text(n, to, rows);
    if (f->fold->lane_extent > f->fold->lanes) {
        rd_text_add(to, " + (");
        rd_position(n, to, &f->fold->lane);
        rd_text_add(to, ") / %d", f->fold->lanes);
    }
    rd_text_add(to, "; }");
    n->bind[axis] = kept;
}

void rd_blocks_begin(rd_codegen *n, int32_t loop, const char *from, const char *hi)
{
    const int32_t axis = n->p->loop[loop].axis;
    const bool    back = n->p->loop[loop].backwards;

    rd_line(n, "end%d = %s;", loop, hi);
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f    = &n->fold[k];
        rd_text                line = { 0 };

        if (f->along != loop || !f->blocks)
            continue;
        add_step(n, &line, f, axis, from);
        rd_line(n, "%s", line.at);
        if (back)
            rd_line(n, "end%d = MORE(end%d, %s + 1 - (%" PRId64 " - t%d %% %" PRId64 "));", loop,
                    loop, from, f->fold->steps, k, f->fold->steps);
        else
            rd_line(n,
                    "end%d = LESS(end%d, %s + (%" PRId64 " - t%d %% %" PRId64 ") * %" PRId64 ");",
                    loop, loop, from, f->fold->steps, k, f->fold->steps, unit_of(n, f, axis));
        rd_text_free(&line);
    }
}

/* The copy of group g is at c[g lanes], the states themselves at their cell.
 * No function ever takes the address of the copy, so that compilers keep it in registers. */
static void copy_group(rd_codegen *n, const rd_codegen_fold *f, int64_t g, bool in)
{
    const int number = number_of(n, f);
    rd_text   at     = { 0 };

    rd_add_first_state(n, &at, f);
    for (int k = 0; k < f->n_state; k++)
        if (in)
            rd_line(n, "for (int l = 0; l < %d; l++) c%d_%d[%d + l] = s%d_%d[%s + l];", f->lanes,
                    number, k, (int)g * f->lanes, number, k, at.at);
        else
            rd_line(n, "for (int l = 0; l < %d; l++) s%d_%d[%s + l] = c%d_%d[%d + l];", f->lanes,
                    number, k, at.at, number, k, (int)g * f->lanes);
    rd_text_free(&at);
}

/* The cells that stand in loops inside: [.., depth) are open. */
static void push_cells(rd_codegen *n, const rd_codegen_fold *f, const int32_t *loops, int32_t depth)
{
    const rd_region *r    = region_of(n, f);
    rd_text          line = { 0 }, at = { 0 }, count = { 0 };
    int32_t          axis;
    rd_bind          kept;

    if (depth == 0) {
        rd_add_first_state(n, &at, f);
        if (f->cached)
            copy_group(n, f, group_of(n, f), false);
        if (f->mode != RD_FOLD_CELLS)
            rd_text_add(&count, "%d", f->lanes);
        else if (n->here)
            rd_text_add(&count, "n");
        else
            rd_text_add(&count, "hi%d_%d - lo%d_%d", r->axis, n->bind[r->axis].range, r->axis,
                        n->bind[r->axis].range);
        if (f->fold->scan)
            rd_turn_text(n, &line, f, at.at, count.at);
        else {
            rd_text_add(&line, "push%d(", number_of(n, f));
            rd_add_states(&line, n, f, "s", at.at);
            add_tree_arguments(n, &line, f);
            rd_text_add(&line, ", %s, %s, (t%d >> 6) - 1, ", at.at, count.at, number_of(n, f));
            rd_text_add(&line, f->split ? "f%d[0]);" : "0);", number_of(n, f));
        }
        rd_line(n, "%s", line.at);
        if (f->cached)
            copy_group(n, f, group_of(n, f), true);
        rd_text_free(&line);
        rd_text_free(&at);
        rd_text_free(&count);
        return;
    }
    axis = n->p->loop[loops[depth - 1]].axis;
    kept = n->bind[axis];
    if (!rd_coef(&f->fold->cell, axis) || (f->mode == RD_FOLD_CELLS && r->axis == axis)) {
        push_cells(n, f, loops, depth - 1);
    } else if (f->cached) {
        n->bind[axis].kind = RD_BIND_NUMBER;
        for (n->bind[axis].number = 0; n->bind[axis].number < n->p->loop[loops[depth - 1]].extent;
             n->bind[axis].number++)
            push_cells(n, f, loops, depth - 1);
    } else {
        n->bind[axis].kind = RD_BIND_INDEX;
        rd_line(n, "for (int64_t i%d = lo%d_%d; i%d < hi%d_%d; i%d++) {", axis, axis, kept.range,
                axis, axis, kept.range, axis);
        n->indent++;
        push_cells(n, f, loops, depth - 1);
        n->indent--;
        rd_line(n, "}");
    }
    n->bind[axis] = kept;
}

void rd_blocks_end(rd_codegen *n, int32_t loop, const char *from, const char *to)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f = &n->fold[k];
        int32_t                loops[2 * RD_MAX_RANK + 64], depth = 0;
        int64_t                unit;

        if (f->along != loop || !f->blocks)
            continue;
        for (int32_t l = n->around[f->step]; l != loop && l >= 0; l = n->parent[l])
            loops[depth++] = l;
        unit = unit_of(n, f, n->p->loop[loop].axis);
        if (n->p->loop[loop].backwards)
            rd_line(n, "t%d += %s - %s;", k, from, to);
        else
            rd_line(n, "t%d += (%s - %s + %" PRId64 ") / %" PRId64 ";", k, to, from, unit - 1,
                    unit);
        rd_line(n, "if (t%d %% %" PRId64 " == 0) {", k, f->fold->steps);
        n->indent++;
        push_cells(n, f, loops, depth);
        n->indent--;
        rd_line(n, "}");
    }
}

/* ---- States of lanes, around their loop ------------------------------------------------------ */
static bool can_cache(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    int64_t groups = 1;

    if (f->along != loop || f->mode != RD_FOLD_LANES || (f->local && !f->room))
        return false;
    for (int32_t k = n->around[f->step]; k != loop && k >= 0; k = n->parent[k]) {
        if (!rd_writes_out(n, k, n->p->loop[loop].axis))
            return false;
        groups *= n->p->loop[k].extent;
    }
    return groups <= 16;
}

/* The loops that are written out between the strip and the step, of which cells depend. */
static int32_t cell_loops(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop,
                          int32_t *loops, int64_t *groups)
{
    int32_t depth = 0;

    *groups = 1;
    for (int32_t k = n->around[f->step]; k != loop; k = n->parent[k])
        if (rd_coef(&f->fold->cell, n->p->loop[k].axis)) {
            loops[depth++] = k;
            *groups *= n->p->loop[k].extent;
        }
    return depth;
}

static void copy_states(rd_codegen *n, const rd_codegen_fold *f, int32_t loop, bool in)
{
    int32_t       loops[RD_CODEGEN_FEW];
    int64_t       groups;
    const int32_t depth = cell_loops(n, f, loop, loops, &groups);

    for (int k = 0; in && k < f->n_state; k++)
        rd_line(n, "%s c%d_%d[%d] LINES;", rd_state_type(f, k), number_of(n, f), k,
                (int)groups * f->lanes);
    for (int64_t g = 0; g < groups; g++) {
        rd_bind kept[RD_CODEGEN_FEW];
        int64_t rest = g;

        for (int32_t d = 0; d < depth; d++) {
            rd_bind *b = &n->bind[n->p->loop[loops[d]].axis];

            kept[d]   = *b;
            b->kind   = RD_BIND_NUMBER;
            b->number = rest % n->p->loop[loops[d]].extent;
            rest /= n->p->loop[loops[d]].extent;
        }
        copy_group(n, f, g, in);
        for (int32_t d = 0; d < depth; d++)
            n->bind[n->p->loop[loops[d]].axis] = kept[d];
    }
}

void rd_states_in(rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (can_cache(n, &n->fold[k], loop)) {
            copy_states(n, &n->fold[k], loop, true);
            n->fold[k].cached = true;
        }
}

/* Is the cell at hand the same all along the loop? */
static bool is_alone(const rd_codegen *n, const rd_codegen_fold *f, int32_t loop)
{
    if (!f->user || f->along != loop || f->mode != RD_FOLD_SCALAR || f->lanes > 1 ||
        (f->fold->scan && f->fold->cell.n_add))
        return false;
    for (int32_t k = n->around[f->step]; k != loop && k >= 0; k = n->parent[k])
        if (rd_coef(&f->fold->cell, n->p->loop[k].axis))
            return false;
    return true;
}

void rd_states_alone(rd_codegen *n, int32_t loop, bool in)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (is_alone(n, &n->fold[k], loop)) {
            n->fold[k].cached = false;
            copy_states(n, &n->fold[k], loop, in);
            n->fold[k].cached = in;
        }
}

void rd_states_out(rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].cached && n->fold[k].along == loop) {
            n->fold[k].cached = false;
            copy_states(n, &n->fold[k], loop, false);
        }
}

/* ---- Results --------------------------------------------------------------------------------- */
const char *rd_result_type(const rd_fold *f)
{
    if (f->user)
        return rd_register_type(f->out);
    return rd_reducer_places(f->reducer) ? "int64_t" : class_of(f->type);
}

void rd_declare_results(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, " %s r%d;", rd_result_type(f->fold), dst + k);
    (void)n;
}

/* finish(nodes, &r5, &r6); of a strip, nodes may be arrays. */
static void add_finish(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst,
                       const char *name, const char *at)
{
    rd_text_add(to, " finish%d(", number_of(n, f));
    rd_add_states(to, n, f, name, at);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, ", &r%d", dst + k);
    rd_text_add(to, ");");
}

/* Registers of results that other loops over the strip read. */
void rd_keep_results(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->fold->n_out; k++) {
        n->made_in[dst + k] = n->round;
        if (!n->crosses[dst + k] || n->unrolled)
            continue;
        rd_text_add(&n->before, "%*s%s a%d[%d] LINES;\n", 4 * n->indent, "",
                    rd_result_type(f->fold), dst + k, rd_strip_room(n));
        rd_text_add(to, " a%d[i] = r%d;", dst + k, dst + k);
        n->arrays = true;
    }
}

/* One block's states, lane by lane, to nodes w. */
static void add_block(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at)
{
    const int number = number_of(n, f);

    rd_text_add(to, " block%d(", number);
    rd_add_states(to, n, f, "s", at);
    rd_text_add(to, ");");
}

static void close_inner(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    rd_text  *to     = rd_strip_loop(n);
    const int number = number_of(n, f);

    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " %s w%d_%d[%d];", rd_node_type(f, k), number, k, f->lanes);
    for (int32_t l = 0; l < f->lanes; l++) {
        char at[20];

        snprintf(at, sizeof at, "%d", l);
        add_block(n, to, f, at);
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " w%d_%d[%d] = s%d_%d[%d];", number, k, l, number, k, l);
    }
    for (int32_t half = f->fold->lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half && l + half < f->lanes; l++) {
            char a[20], b[20];

            snprintf(a, sizeof a, "%d", l);
            snprintf(b, sizeof b, "%d", l + half);
            rd_text_add(to, " merge%d(", number);
            rd_add_states(to, n, f, "w", a);
            rd_text_add(to, ", ");
            rd_add_states(to, n, f, "w", b);
            rd_text_add(to, ");");
        }
    rd_declare_results(n, to, f, dst);
    add_finish(n, to, f, dst, "w", "0");
    rd_keep_results(n, to, f, dst);
}

/* A cell for each element of the strip, of one lane. */
static void close_cells(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    const int number = number_of(n, f);
    rd_text   at = { 0 }, line = { 0 }, *to;

    rd_add_first_state(n, &at, f);
    if (f->room) {
        rd_strip_loop_end(n);
        rd_text_add(&line, "close%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        add_tree_arguments(n, &line, f);
        rd_text_add(&line, ", %s, n, ", at.at);
        if (f->split)
            rd_text_add(&line, "f%d[1], f%d[0]);", number, number);
        else {
            rd_number_text(n, &line, f->steps);
            rd_text_add(&line, ", 0);");
        }
        rd_line(n, "%s", line.at);
        for (int k = 0; k < f->n_state; k++) {
            rd_text states = { 0 };

            rd_number_text(n, &states, f->states);
            rd_line(n, "const %s *const w%d_%d = node%d_%d(tree%d, 0, %s) + %s;",
                    rd_node_type(f, k), number, k, number, k, number, states.at, at.at);
            rd_text_free(&states);
        }
    } else if (f->lanes > 1) {
        rd_strip_loop_end(n);
        for (int k = 0; k < f->n_state; k++)
            rd_line(n, "%s w%d_%d[%" PRId64 "] LINES;", rd_node_type(f, k), number, k, f->states);
        rd_text_add(&line, "cells%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_text_add(&line, ", ");
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s, %d, %d, n);", line.at, f->lanes, n->here->width);
    }
    to = rd_strip_loop(n);
    rd_declare_results(n, to, f, dst);
    if (!f->room && f->lanes == 1) {
        rd_text own = { 0 };

        rd_text_add(&own, "%s + i", at.at);
        rd_text_add(to, " {");
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " %s b%d_%d[1]; %s w%d_%d[1];", rd_state_type(f, k), number, k,
                        rd_node_type(f, k), number, k);
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " b%d_%d[0] = s%d_%d[%s];", number, k, number, k, own.at);
        rd_text_add(to, " block%d(", number);
        rd_add_states(to, n, f, "b", "0");
        rd_text_add(to, ");");
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " w%d_%d[0] = b%d_%d[0];", number, k, number, k);
        add_finish(n, to, f, dst, "w", "0");
        rd_text_add(to, " }");
        rd_text_free(&own);
    } else
        add_finish(n, to, f, dst, "w", "i");
    rd_keep_results(n, to, f, dst);
    rd_text_free(&at);
    rd_text_free(&line);
}

/* One cell, of all lanes. */
static void close_lanes(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    const int number = number_of(n, f);
    rd_text   at = { 0 }, line = { 0 };

    rd_strip_loop_end(n);
    rd_add_first_state(n, &at, f);
    rd_declare_results(n, &line, f, dst);
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    rd_line(n, "{");
    n->indent++;
    for (int k = 0; k < f->n_state; k++)
        rd_line(n, "%s w%d_%d[%d] LINES;", rd_node_type(f, k), number, k, f->lanes);
    if (f->room) {
        rd_text_add(&line, "close%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        add_tree_arguments(n, &line, f);
        rd_text_add(&line, ", %s, %d, ", at.at, f->lanes);
        if (f->split)
            rd_text_add(&line, "f%d[1], f%d[0]);", number, number);
        else {
            rd_number_text(n, &line, f->steps);
            rd_text_add(&line, ", 0);");
        }
        rd_line(n, "%s", line.at);
        for (int k = 0; k < f->n_state; k++) {
            rd_text states = { 0 };

            rd_number_text(n, &states, f->states);
            rd_line(n, "for (int l = 0; l < %d; l++) w%d_%d[l] = node%d_%d(tree%d, 0, %s)[%s + l];",
                    f->lanes, number, k, number, k, number, states.at, at.at);
            rd_text_free(&states);
        }
        rd_text_free(&line);
        rd_text_add(&line, "halves%d(", number);
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s);", line.at);
    } else {
        rd_text_add(&line, "lanes%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_text_add(&line, ", ");
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s);", line.at);
    }
    rd_text_free(&line);
    add_finish(n, &line, f, dst, "w", "0");
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    rd_text_free(&at);
    n->indent--;
    rd_line(n, "}");
}

void rd_codegen_close(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->arg];

    if (f->fold->out != f->fold->type && !f->user &&
        strcmp(rd_result_type(f->fold), "int64_t") != 0)
        n->why = "a result of another type than its fold's";
    if (f->inner)
        close_inner(n, f, inst->dst);
    else if (n->here && n->varies[inst->dst])
        close_cells(n, f, inst->dst);
    else
        close_lanes(n, f, inst->dst);
}
