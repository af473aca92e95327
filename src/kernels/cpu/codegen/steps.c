/* steps.c - folds begin, and take elements. */
#include "core/bytes.h"
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* States that are variables of the loop over the strip. */
static void start_inner(rd_codegen *n, const rd_codegen_fold *f)
{
    rd_text *to = rd_strip_loop(n);

    rd_declare_state_arrays(n, to, f);
    for (int32_t l = 0; l < f->lanes; l++) {
        char at[20];

        snprintf(at, sizeof at, "%d", l);
        rd_user_begins(to, &f->of, rd_number_of(n, f), "s", at);
        rd_text_add(to, " begin%d(", rd_number_of(n, f));
        rd_add_states(to, n, f, "s", at);
        rd_text_add(to, ");");
    }
}

/* Arrays of states begin: of the block at hand, and of what is before it. */
static void add_begins(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *name)
{
    const int number = rd_number_of(n, f);

    rd_text_add(to, "for (int64_t l = 0; l < ");
    if (f->local)
        rd_text_add(to, "%" PRId64, f->rows * f->states + f->nowhere);
    else
        rd_number_text(n, to, f->states + f->nowhere);
    rd_text_add(to, "; l++) {");
    rd_user_begins(to, &f->of, number, name, "l");
    rd_text_add(to, " begin%d(", number);
    rd_add_states(to, n, f, name, "l");
    rd_text_add(to, ");");
    if (f->pair && strcmp(name, "p") == 0)
        rd_text_add(to, " q%d_0[l] = -0.0F;", number);
    rd_text_add(to, " }");
    if (f->pair && strcmp(name, "p") == 0) {
        rd_text_add(to, " rd_so_far_begin(");
        rd_number_text(n, to, rd_bytes_times(f->rows * f->states, f->n_words));
        rd_text_add(to, ", w%d_0);", number);
    }
}

void rd_codegen_start(rd_codegen *n, int32_t fold)
{
    rd_codegen_fold *f    = &n->fold[fold];
    rd_text          line = { 0 };

    if (f->inner) {
        start_inner(n, f);
        return;
    }
    rd_strip_loop_end(n);
    if (n->here)
        n->arrays = true;
    if (f->local) {
        rd_declare_state_arrays(n, &line, f);
        rd_line(n, "%s", line.at + 1);
        rd_text_free(&line);
    }
    add_begins(n, &line, f, "s");
    if (f->of.fold->scan && f->blocks) {
        rd_text_add(&line, " ");
        add_begins(n, &line, f, "p");
    }
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
    if (f->split)
        rd_line(n, "f%d[0] = first%d >> %d; f%d[1] = 0;", fold, fold, f->shift, fold);
}

/* "x, w" */
static void add_element(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    rd_operand_text(n, to, inst->a);
    rd_text_add(to, ", ");
    if (n->fold[inst->arg].of.weighted)
        rd_operand_text(n, to, inst->b);
    else
        rd_text_add(to, "1");
}

/* "exponent0(states, x, w)" */
static void add_of_step(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *name,
                        const char *states)
{
    rd_text_add(to, "%s%d(%s, ", name, inst->arg, states);
    add_element(n, to, inst);
    rd_text_add(to, ")");
}

/* An array of what a function of the step gives for each element of the strip. */
static void take_of_step(rd_codegen *n, const rd_inst *inst, const char *name, const char *states)
{
    rd_text *to = rd_strip_loop(n);

    rd_text_add(to, " e%d[i] = ", inst->arg);
    add_of_step(n, to, inst, name, states);
    rd_text_add(to, ";");
}

static void end_with_exponentials(rd_codegen *n, const rd_inst *inst)
{
    rd_strip_loop_end(n);
    rd_line(n, "EXP_OF_STRIP(%s, e%d, n)", rd_state_elem(&n->fold[inst->arg].of), inst->arg);
}

/* The steps of a strip, where no m moves: see add_exponent() of emit/reducers.c. */
static void add_near_steps(rd_codegen *n, const rd_inst *inst, const char *states)
{
    rd_text *to = rd_strip_loop(n);

    rd_text_add(&n->before, "%*sint moved%d = 0;\n", 4 * n->indent, "", inst->arg);
    take_of_step(n, inst, "distance", states);
    rd_text_add(to, " moved%d |= ", inst->arg);
    add_of_step(n, to, inst, "moves", states);
    rd_text_add(to, ";");
    rd_strip_loop_end(n);
    rd_line(n, "if (!moved%d) {", inst->arg);
    n->indent++;
    end_with_exponentials(n, inst);
    to = rd_strip_loop(n);
    rd_text_add(to, " near%d(%s, ", inst->arg, states);
    add_element(n, to, inst);
    rd_text_add(to, ", e%d[i]);", inst->arg);
    rd_strip_loop_end(n);
    n->indent--;
    rd_line(n, "} else {");
}

/* The steps of a strip that take exponentials: these are taken of an array. */
static void add_steps_by_powers(rd_codegen *n, const rd_inst *inst, const char *states)
{
    const rd_codegen_fold *f = &n->fold[inst->arg];

    rd_strip_loop(n);
    rd_text_add(&n->before, "%*s%s e%d[%d] LINES;\n", 4 * n->indent, "", rd_state_type(&f->of, 0),
                inst->arg, rd_strip_room(n));
    n->arrays = true;
    if (!f->of.masked) {
        add_near_steps(n, inst, states);
        n->indent++;
    }
    take_of_step(n, inst, "exponent", states);
    end_with_exponentials(n, inst);
    rd_add_step(n, rd_strip_loop(n), inst, states);
    if (!f->of.masked) {
        rd_strip_loop_end(n);
        n->indent--;
        rd_line(n, "}");
    }
}

static void add_power(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states)
{
    if (n->here && rd_cuts(n, inst)) {
        rd_text_add(to, ", e%d[i]", inst->arg);
        return;
    }
    rd_text_add(to, ", rd_math_exp_%s(", rd_state_elem(&n->fold[inst->arg].of));
    add_of_step(n, to, inst, "exponent", states);
    rd_text_add(to, ")");
}

static const char *name_of_step(const rd_codegen *n, const rd_codegen_fold *f)
{
    return n->padded ? "some" : !n->here && rd_notes_nan(&f->of) ? "one" : "step";
}

/* "step0(states, x, w, i, take, power);" or, where some of the strip are none, "some0(...);" */
void rd_add_step(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *states)
{
    const rd_codegen_fold *f = &n->fold[inst->arg];

    rd_text_add(to, " %s%d(%s, ", name_of_step(n, f), inst->arg, states);
    add_element(n, to, inst);
    rd_text_add(to, ", ");
    rd_position(n, to, &f->of.fold->index);
    if (f->of.masked) {
        rd_text_add(to, ", ");
        if (inst->c >= 0)
            rd_operand_text(n, to, inst->c);
        else
            rd_text_add(to, "1");
    }
    if (n->padded)
        rd_text_add(to, ", i < n");
    if (rd_takes_power(&f->of))
        add_power(n, to, inst, states);
    rd_text_add(to, ");");
}

void rd_codegen_step(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    rd_text        line = { 0 }, states = { 0 }, *to;

    if (rd_has_groups(&n->fold[inst->arg])) {
        rd_labels_step(n, i);
        return;
    }
    if (n->fold[inst->arg].of.fold->by_rows && rd_labels_refuse(n, inst))
        return;
    if (n->fours >= 0) {
        rd_text_add(&line, " x%d[of%d] = ", inst->arg, n->fours);
        rd_operand_text(n, &line, inst->a);
        rd_line(n, "%s;", line.at + 1);
        rd_text_free(&line);
        return;
    }
    rd_add_state_at_hand(n, &states, &n->fold[inst->arg]);
    to = n->here ? rd_strip_loop(n) : &line;
    if (n->here && rd_cuts(n, inst))
        add_steps_by_powers(n, inst, states.at);
    else
        rd_add_step(n, to, inst, states.at);
    if (!n->here)
        rd_line(n, "%s", line.at + 1);
    rd_text_free(&states);
    rd_text_free(&line);
    if (!n->here && n->fold[inst->arg].mixed && n->fold[inst->arg].room)
        rd_end_block(n, &n->fold[inst->arg]);
}

double rd_step_lanes(const rd_codegen *n, const rd_codegen_fold *f, double lanes)
{
    if (!f->of.user)
        return lanes;
    return rd_user_widest(&f->of) ? (double)n->vector / rd_user_widest(&f->of) : 1;
}
