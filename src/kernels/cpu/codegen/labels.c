/* labels.c - folds by label: an element meets the states of its label's cell.
 *
 * Neighbours may have one label, so no strip goes along what is reduced; strips of kept elements do,
 * of which all have the label.  Labels often come in runs, as rows of sparse matrices do: the states
 * at hand are variables until a label is another one, so that a run is the loop that is written by
 * hand for a row. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- Which there are ------------------------------------------------------------------------- */
bool rd_has_groups(const rd_codegen_fold *f)
{
    return f->of.fold->n_group > 0;
}

/* All cells are at one block, so no loop over some of them may stand around its steps, inside where
 * the fold begins. */
static bool goes_by_steps(const rd_codegen *n, const rd_codegen_fold *f)
{
    for (int32_t k = f->along; k >= 0 && n->p->loop[k].begin > f->start; k = n->p->loop[k].parent)
        if (rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return false;
    return true;
}

void rd_labels_facts(rd_codegen *n, const rd_codegen_fold *f)
{
    if (f->mixed)
        n->why = "lanes along several axes, of elements that go to groups";
    else if (f->room && !goes_by_steps(n, f))
        n->why = "steps of several cells in turn, of elements that go to groups";
    else if (f->of.fold->n_cell > INT32_MAX / f->lanes)
        n->why = "more groups than a nest counts";
}

bool rd_labels_may_step(const rd_codegen *n, const rd_region *r, int32_t step)
{
    const rd_inst         *inst = &n->p->inst[step];
    const rd_codegen_fold *f    = &n->fold[inst->arg];

    rd_region_varies(n, r, n->varies);
    return f->start < r->from && f->lanes == 1 && rd_coef(&f->of.fold->cell, r->axis) == 1 &&
           !n->varies[inst->d] && !rd_takes_power(&f->of);
}

/* ---- Steps ----------------------------------------------------------------------------------- */
/* Around the STEP is no loop over the groups, and their index 0.  The state of the element, or of the
 * strip's first. */
static void add_state_of(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, bool first)
{
    const rd_address *cell = &f->of.fold->cell;
    rd_bind           kept[RD_MAX_TERMS];

    for (int32_t k = 0; k < cell->n_add; k++) {
        rd_bind *b = &n->bind[cell->add[k].axis];

        kept[k] = *b;
        if (b->kind == RD_BIND_NONE)
            *b = (rd_bind){ .kind = RD_BIND_NUMBER };
    }
    if (first)
        rd_add_first_state(n, to, f);
    else
        rd_add_state(n, to, f);
    for (int32_t k = 0; k < cell->n_add; k++)
        n->bind[cell->add[k].axis] = kept[k];
}

static void add_state(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *label)
{
    add_state_of(n, to, f, false);
    rd_text_add(to, " + %s * ", label);
    rd_number_text(n, to, f->of.fold->apart * f->lanes);
}

static void add_first(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t label)
{
    add_state_of(n, to, f, true);
    rd_text_add(to, " + (int64_t)");
    rd_operand_text(n, to, label);
    rd_text_add(to, " * ");
    rd_number_text(n, to, f->of.fold->apart * f->lanes);
}

/* States that are variables along the loop whose rounds are steps: small ones, of one lane, as
 * others come in turn; not where each label is another one (columns of an R-MAT graph, f32: 1.70 of
 * the loop by hand, so 1.45; sums of a cube over its second axis 1.37, so 1.04). */
static bool is_kept(const rd_codegen *n, const rd_codegen_fold *f)
{
    enum { FEW = 4, SMALL = 32 };

    if (!rd_has_groups(f) || f->of.fold->differ || f->lanes > 1 || f->mode != RD_FOLD_SCALAR ||
        f->along < 0 || f->of.n_state > FEW || (f->of.user && rd_user_bytes(&f->of) > SMALL))
        return false;
    for (int32_t k = n->p->inst[f->step].loop; k != f->along; k = n->p->loop[k].parent)
        if (rd_coef(&f->of.fold->cell, n->p->loop[k].axis))
            return false;
    return true;
}

static void add_is_group(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *label)
{
    rd_text_add(to, "if ((uint64_t)%s < ", label);
    rd_number_text(n, to, f->of.fold->n_group);
    rd_text_add(to, ") ");
}

/* Folds whose steps stand side by side, of one label, turn as one: at the first of them. */
static int32_t first_of_label(const rd_codegen *n, int32_t number)
{
    const rd_inst *step = &n->p->inst[n->fold[number].step];

    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_inst *other = &n->p->inst[n->fold[k].step];

        if (is_kept(n, &n->fold[k]) && other->d == step->d && other->loop == step->loop &&
            n->fold[k].along == n->fold[number].along &&
            n->fold[k].of.fold->n_group == n->fold[number].of.fold->n_group &&
            n->fold[k].step < n->fold[number].step)
            number = k;
    }
    return number;
}

/* The variables go back to where the states of the run's label are, or come from where those of
 * another are: of all folds that turn with one. */
static void add_moves(rd_codegen *n, rd_text *to, int32_t first, bool back)
{
    char label[20];

    snprintf(label, sizeof label, back ? "run%d" : "label", (int)first);
    add_is_group(n, to, &n->fold[first], label);
    rd_text_add(to, "{");
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f  = &n->fold[k];
        rd_text                at = { 0 };

        if (!is_kept(n, f) || first_of_label(n, k) != first)
            continue;
        add_state(n, &at, f, label);
        for (int j = 0; j < f->of.n_state; j++)
            if (back)
                rd_text_add(to, " s%d_%d[%s] = g%d_%d;", k, j, at.at, k, j);
            else
                rd_text_add(to, " g%d_%d = s%d_%d[%s];", k, j, k, j, at.at);
        rd_text_free(&at);
    }
    rd_text_add(to, " }");
}

/* Another run begins. */
static void add_turn(rd_codegen *n, rd_text *to, int32_t first)
{
    rd_text_add(to, "if (label != run%d) { ", (int)first);
    add_moves(n, to, first, true);
    rd_text_add(to, " run%d = label; ", (int)first);
    add_moves(n, to, first, false);
    rd_text_add(to, " } ");
}

void rd_labels_keep(rd_codegen *n, int32_t loop, bool in)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f    = &n->fold[k];
        rd_text                back = { 0 };

        if (f->along != loop || !is_kept(n, f))
            continue;
        if (in && first_of_label(n, k) == k)
            rd_line(n, "int64_t run%d = -1;", k);
        for (int j = 0; in && j < f->of.n_state; j++)
            rd_line(n, "%s g%d_%d = s%d_%d[0];", rd_state_type(&f->of, j), k, j, k, j);
        if (!in && first_of_label(n, k) == k) {
            add_moves(n, &back, k, true);
            rd_line(n, "%s", back.at ? back.at : "");
        }
        rd_text_free(&back);
    }
}

/* Is it the int 0? */
static bool is_0(const rd_codegen *n, int32_t reg)
{
    const rd_inst *made = &n->p->inst[n->made[reg]];

    return made->kind == RD_I_CONST && rd_dtype_kind(made->type) != RD_KIND_FLOAT &&
           made->value.u64 == 0;
}

/* What must hold for a step to do anything, -1: a mask, or of a sum of ints where it does not take 0. */
static int32_t mask_of(const rd_codegen *n, const rd_inst *step)
{
    const rd_inst *x = &n->p->inst[n->made[step->a]];

    if (step->c >= 0 || n->p->fold[step->arg].reducer != RD_RED_sum)
        return step->c;
    return x->kind == RD_I_SELECT && is_0(n, x->c) ? x->a : -1;
}

bool rd_labels_refuse(const rd_codegen *n, const rd_inst *step)
{
    return n->refused >= 0 && mask_of(n, step) == n->refused;
}

/* What is no group's goes into variables that go nowhere; a user's step is not even asked. */
static void add_kept_step(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const rd_codegen_fold *f      = &n->fold[inst->arg];
    rd_text                states = { 0 };

    if (first_of_label(n, inst->arg) == inst->arg)
        add_turn(n, to, inst->arg);
    if (rd_labels_refuse(n, inst))
        return;
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(&states, "%s&g%d_%d", k ? ", " : "", (int)inst->arg, k);
    if (f->of.user)
        add_is_group(n, to, f, "label");
    rd_add_step(n, to, inst, states.at);
    rd_text_free(&states);
}

static void add_step_in_memory(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const rd_codegen_fold *f      = &n->fold[inst->arg];
    rd_text                states = { 0 }, at = { 0 };

    add_state(n, &at, f, "label");
    rd_add_states(&states, n, f, "s", "at");
    add_is_group(n, to, f, "label");
    rd_text_add(to, "{ const int64_t at = %s; ", at.at);
    rd_add_step(n, to, inst, states.at);
    rd_text_add(to, " }");
    rd_text_free(&states);
    rd_text_free(&at);
}

/* Of a strip, of which all have the label, by way of a pointer to the first one's states; those of no
 * group are behind all. */
static void add_strip_step(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const rd_codegen_fold *f      = &n->fold[inst->arg];
    rd_text               *before = &n->before, states = { 0 };

    for (int k = 0; k < f->of.n_state; k++) {
        rd_text_add(before, "%*s%s *const g%d_%d = s%d_%d + ((uint64_t)(int64_t)", 4 * n->indent,
                    "", rd_state_type(&f->of, k), (int)inst->arg, k, (int)inst->arg, k);
        rd_operand_text(n, before, inst->d);
        rd_text_add(before, " < ");
        rd_number_text(n, before, f->of.fold->n_group);
        rd_text_add(before, " ? ");
        add_first(n, before, f, inst->d);
        rd_text_add(before, " : ");
        rd_number_text(n, before, f->states);
        rd_text_add(before, ");\n");
        rd_text_add(&states, "%s&g%d_%d[i]", k ? ", " : "", (int)inst->arg, k);
    }
    rd_add_step(n, to, inst, states.at);
    rd_text_free(&states);
}

void rd_labels_step(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->arg];
    rd_text                line = { 0 };
    rd_text               *to   = n->here ? rd_strip_loop(n) : &line;

    if (n->here && !n->unrolled && !f->of.user) {
        add_strip_step(n, to, inst);
        return;
    }
    rd_text_add(to, " { const int64_t label = ");
    rd_operand_text(n, to, inst->d);
    rd_text_add(to, "; ");
    if (is_kept(n, f))
        add_kept_step(n, to, inst);
    else
        add_step_in_memory(n, to, inst);
    rd_text_add(to, " }");
    if (!n->here)
        rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
}

/* One that is the same for all steps of the loop, -1. */
int32_t rd_labels_mask(const rd_codegen *n, int32_t loop)
{
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f    = &n->fold[k];
        const int32_t          mask = mask_of(n, &n->p->inst[f->step]);

        if (f->along == loop && (is_kept(n, f) || f->of.fold->by_rows) && mask >= 0 &&
            !rd_within(n, n->made[mask], loop))
            return mask;
    }
    return -1;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* The block of all cells goes to the tree. */
void rd_labels_push(rd_codegen *n, const rd_codegen_fold *f)
{
    const int number = rd_number_of(n, f);
    rd_text   line   = { 0 };

    rd_text_add(&line, "push%d(", number);
    rd_add_states(&line, n, f, "s", "0");
    rd_add_tree_arguments(n, &line, f);
    rd_text_add(&line, ", 0, ");
    rd_number_text(n, &line, f->states);
    rd_text_add(&line, ", (t%d >> %d) - 1, %s", number, f->shift, f->split ? "" : "0);");
    if (f->split)
        rd_text_add(&line, "f%d[0]);", number);
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
}
