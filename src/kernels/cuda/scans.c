/* scans.c - folds so far (program.h), element by element: s has the block at hand, p what is before
 * it, e the nodes of its elements where prefixes go by the tree. */
#include "kernels/cuda/text.h"
#include "core/tree.h"
#include <inttypes.h>
#include <stdio.h>

/* " float a0 = *e0;" */
static void add_copies(rd_text *to, const rd_cuda_fold *f, char copy, const char *format)
{
    for (int k = 0; k < f->of.n_state; k++) {
        rd_text_add(to, " %s %c%d = ", rd_state_type(&f->of, k), copy, k);
        rd_text_add(to, format, k);
        rd_text_add(to, ";");
    }
}

static void add_parameters(rd_text *to, const rd_cuda_fold *f, const char *names)
{
    for (; *names; names++) {
        rd_add_parameters(to, &f->of, false, "", *names);
        if (*names == 'p' && f->pair)
            rd_text_add(to, ", %s *p%d", rd_state_type(&f->of, 0), f->of.n_state);
        rd_text_add(to, names[1] ? ", " : "");
    }
}

/* What is before a block and its prefix, as results. */
static void add_so_far(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void sofar%" PRId32 "(", number);
    add_parameters(to, f, "sp");
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", %s *y%" PRId32, rd_result_type(f->of.fold), k);
    rd_text_add(to, ")\n{\n   ");
    add_copies(to, f, 'b', "*s%d");
    rd_text_add(to, " block%" PRId32 "(", number);
    rd_add_each(to, &f->of, "&b%d");
    rd_text_add(to, ");\n   ");
    add_copies(to, f, 'a', "*p%d");
    if (f->pair) {
        if (rd_dtype_class(f->of.fold->type) == RD_CLASS_f32)
            rd_text_add(to, " a0 = *p0 + (*p%d + b0);", f->of.n_state);
        else /* its second word says nothing */
            rd_text_add(to, " a0 = *p0 + b0;");
        if (f->of.seen)
            rd_text_add(to, " a1 |= b1;");
    } else {
        rd_text_add(to, " merge%" PRId32 "(", number);
        rd_add_each(to, &f->of, "&a%d");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->of, "&b%d");
        rd_text_add(to, ");");
    }
    rd_text_add(to, " finish%" PRId32 "(", number);
    rd_add_each(to, &f->of, "&a%d");
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", y%" PRId32, k);
    rd_text_add(to, ");\n}\n");
}

/* A block has ended: it goes to what is before the next; of running sums (kernels/math/so_far.h) with
 * its number and the cell's words. */
static void add_turn(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    const char *elem = rd_dtype_class(f->of.fold->type) == RD_CLASS_f32 ? "f32" : "f64";

    rd_text_add(to, "static inline void turn%" PRId32 "(", number);
    add_parameters(to, f, "sp");
    if (f->pair)
        rd_text_add(to, ", int64_t block, double *w, int64_t pitch");
    rd_text_add(to, ")\n{\n    block%" PRId32 "(", number);
    rd_add_each(to, &f->of, "s%d");
    rd_text_add(to, ");\n    ");
    if (f->pair) {
        rd_text_add(to, "rd_take_blocks_%s(1, block, w, pitch, s0, p0, p%d);", elem, f->of.n_state);
        if (f->of.seen)
            rd_text_add(to, " *p1 |= *s1;");
    } else {
        rd_text_add(to, "merge%" PRId32 "(", number);
        rd_add_each(to, &f->of, "p%d");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->of, "s%d");
        rd_text_add(to, ");");
    }
    rd_text_add(to, "\n    begin%" PRId32 "(", number);
    rd_add_each(to, &f->of, "s%d");
    rd_text_add(to, ");\n}\n");
}

/* u = merge(the node of a level, u) */
static void add_meet(rd_text *to, const rd_cuda_fold *f, int32_t number, char name)
{
    rd_text_add(to, "{");
    add_copies(to, f, 'a', "e%d[level * pitch]");
    rd_text_add(to, " merge%" PRId32 "(", number);
    rd_add_each(to, &f->of, "&a%d");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, ", %c%d", name, k);
    rd_text_add(to, ");");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " *%c%d = a%d;", name, k, k);
    rd_text_add(to, " }\n");
}

/* Element `at` of the block, u, meets its left siblings; the nodes of all so far, from the right, are
 * the prefix, s. */
static void add_tree(rd_text *to, const rd_cuda_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void tree%" PRId32 "(", number);
    add_parameters(to, f, "eus");
    rd_text_add(to, ", int64_t at, int64_t pitch)\n{\n    int level = 0;\n\n"
                    "    for (; at >> level & 1; level++)\n        ");
    add_meet(to, f, number, 'u');
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "    e%d[level * pitch] = *s%d = *u%d;\n", k, k, k);
    rd_text_add(to, "    for (level++; (at + 1) >> level; level++)\n"
                    "        if ((at + 1) >> level & 1)\n            ");
    add_meet(to, f, number, 's');
    rd_text_add(to, "}\n");
}

void rd_cuda_scan_functions(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    if (!f->of.fold->scan)
        return;
    add_so_far(t->to, f, number);
    add_turn(t->to, f, number);
    if (f->levels)
        add_tree(t->to, f, number);
}

/* ---- The instruction ------------------------------------------------------------------------- */
/* "&p0_0[c0], &p0_1[c0]" with the second word of a running sum. */
static rd_text arrays_at(const rd_cuda_fold *f, int32_t number, const char *name)
{
    rd_text to = { 0 };
    char    at[24];

    snprintf(at, sizeof at, "c%" PRId32, number);
    rd_cuda_states(&to, f, number, name, at);
    if (f->pair && *name == 'p')
        rd_text_add(&to, ", &p%" PRId32 "_%d[%s]", number, f->of.n_state, at);
    return to;
}

static void take_element(rd_cuda_text *t, const rd_inst *inst, const char *states)
{
    const rd_cuda_fold *f = &t->s->fold[inst->arg];
    rd_text             u = { 0 }, e = arrays_at(f, inst->arg, "e"), pitch = { 0 };

    if (!f->levels) {
        rd_cuda_add_step(t, inst, states);
        rd_text_free(&e);
        return;
    }
    for (int k = 0; k < f->of.n_state; k++)
        rd_cuda_line(t, "%s u%d;", rd_state_type(&f->of, k), k);
    rd_add_each(&u, &f->of, "&u%d");
    rd_cuda_number(t, &pitch, f->states);
    rd_cuda_line(t, "begin%" PRId32 "(%s);", inst->arg, u.at);
    rd_cuda_add_step(t, inst, u.at);
    rd_cuda_line(t, "tree%" PRId32 "(%s, %s, %s, p%" PRId32 " %% %d, %s);", inst->arg, e.at, u.at,
                 states, inst->arg, RD_TREE_STEPS, pitch.at);
    rd_text_free(&u);
    rd_text_free(&e);
    rd_text_free(&pitch);
}

void rd_cuda_scan(rd_cuda_text *t, const rd_inst *inst)
{
    const rd_cuda_fold *f = &t->s->fold[inst->arg];
    rd_text states = arrays_at(f, inst->arg, "s"), before = arrays_at(f, inst->arg, "p");
    rd_text result = { 0 }, words = { 0 };

    for (int32_t k = 0; k < f->of.fold->n_out; k++) {
        rd_cuda_line(t, "%s r%" PRId32 ";", rd_result_type(f->of.fold), inst->dst + k);
        rd_text_add(&result, ", &r%" PRId32, inst->dst + k);
    }
    rd_cuda_line(t, "{");
    t->indent++;
    rd_cuda_declare_place(t, inst);
    if (f->of.fold->n_block > 1) {
        if (f->pair) {
            rd_text_add(&words, ", b%" PRId32 "[c%" PRId32 "], &w%" PRId32 "[c%" PRId32 "], ",
                        inst->arg, inst->arg, inst->arg, inst->arg);
            rd_cuda_number(t, &words, f->states);
        }
        rd_cuda_line(t,
                     "while (b%" PRId32 "[c%" PRId32 "] < p%" PRId32 " / %d) { turn%" PRId32
                     "(%s, %s%s); b%" PRId32 "[c%" PRId32 "]++; }",
                     inst->arg, inst->arg, inst->arg, RD_TREE_STEPS, inst->arg, states.at,
                     before.at, words.at ? words.at : "", inst->arg, inst->arg);
    }
    if (!f->of.fold->exclusive)
        take_element(t, inst, states.at);
    rd_cuda_line(t, "sofar%" PRId32 "(%s, %s%s);", inst->arg, states.at, before.at, result.at);
    if (f->of.fold->exclusive)
        take_element(t, inst, states.at);
    t->indent--;
    rd_cuda_line(t, "}");
    rd_text_free(&states);
    rd_text_free(&before);
    rd_text_free(&result);
    rd_text_free(&words);
}
