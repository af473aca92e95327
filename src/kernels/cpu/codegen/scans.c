/* scans.c - folds so far.  Each has the states of the block at hand, s, and of what is before it,
 * p; for sums of floats q is the second word of that, and w what it is made from
 * (kernels/math/so_far.h).  A prefix by the tree
 * (RD_PREFIX_TREE) has nodes of elements, e, of 1, 2, 4 .. of them: where the loop is written out,
 * the place of an element in its block is a number, and so is known which of them meet; else all
 * elements of a strip, which have the same place, go from node to node in loops of their own. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>

/* Is the scan's loop written out, so that the place of each element in its block is a number? */
static bool is_written_out(const rd_codegen *n, const rd_codegen_fold *f)
{
    return f->along < 0 || n->bind[n->p->loop[f->along].axis].kind == RD_BIND_NUMBER;
}

/* ---- Functions ------------------------------------------------------------------------------- */
static void add_before(rd_text *to, const rd_codegen_fold *f)
{
    if (!f->blocks)
        return;
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, false, "", 'p');
    if (f->pair)
        rd_text_add(to, ", %s *q", rd_state_type(&f->of, 0));
}

/* What is before a block and its prefix, as results. */
static void add_so_far(rd_text *to, const rd_codegen_fold *f, int number)
{
    const bool two =
        rd_dtype_class(f->of.fold->type) == RD_CLASS_f32; /* words that say something */

    rd_text_add(to, "static inline void sofar%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    add_before(to, f);
    for (int k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", %s *y%d", rd_result_type(f->of.fold), k);
    rd_text_add(to, ")\n{\n   ");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s w%d = *s%d;", rd_state_type(&f->of, k), k, k);
    rd_text_add(to, " block%d(", number);
    rd_add_each(to, &f->of, "&w%d");
    rd_text_add(to, ");\n   ");
    if (f->blocks && f->pair) {
        rd_text_add(to, two ? " w0 = *p0 + (*q + w0);" : " w0 = *p0 + w0;");
        if (f->of.seen)
            rd_text_add(to, " w1 = *p1 | w1;");
    } else if (f->blocks) {
        for (int k = 0; k < f->of.n_state; k++)
            rd_text_add(to, " const %s b%d = w%d; w%d = *p%d;", rd_state_type(&f->of, k), k, k, k,
                        k);
        rd_text_add(to, " merge%d(", number);
        rd_add_each(to, &f->of, "&w%d");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->of, "&b%d");
        rd_text_add(to, ");");
    }
    rd_text_add(to, " finish%d(", number);
    rd_add_each(to, &f->of, "&w%d");
    for (int k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", y%d", k);
    rd_text_add(to, ");\n}\n");
}

/* A block has ended: it goes to what is before the next, of n neighbouring cells. */
static void add_turn(rd_text *to, const rd_codegen_fold *f, int number)
{
    const char *elem = rd_dtype_class(f->of.fold->type) == RD_CLASS_f32 ? "f32" : "f64";

    if (!f->blocks)
        return;
    rd_text_add(to, "static void turn%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    add_before(to, f);
    if (f->pair)
        rd_text_add(to, ", double *w, int64_t pitch, int64_t block");
    rd_text_add(
        to, ", int64_t n)\n{\n    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n        block%d(",
        number);
    rd_add_each(to, &f->of, "&s%d[l]");
    rd_text_add(to, ");\n");
    if (f->pair) {
        rd_text_add(to, f->of.seen ? "        p1[l] |= s1[l];\n    }\n" : "    }\n");
        rd_text_add(to,
                    "    rd_take_blocks_%s(n, block, w, pitch, s0, p0, q);\n"
                    "    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n",
                    elem);
    } else {
        rd_text_add(to, "        merge%d(", number);
        rd_add_each(to, &f->of, "&p%d[l]");
        rd_text_add(to, ", ");
        rd_add_each(to, &f->of, "&s%d[l]");
        rd_text_add(to, ");\n");
    }
    rd_text_add(to, "        begin%d(", number);
    rd_add_each(to, &f->of, "&s%d[l]");
    rd_text_add(to, ");\n    }\n}\n");
}

/* a = merge(node, a), for n cells. */
static void add_meet(rd_text *to, const rd_codegen_fold *f, int number, char a)
{
    rd_text_add(to, "INDEPENDENT for (int64_t l = 0; l < n; l++) {");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s a%d = e%d[level * stride + l];", rd_state_type(&f->of, k), k, k);
    rd_text_add(to, " merge%d(", number);
    rd_add_each(to, &f->of, "&a%d");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, ", &%c%d[l]", a, k);
    rd_text_add(to, ");");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %c%d[l] = a%d;", a, k, k);
    rd_text_add(to, " }\n");
}

/* Element `at` of the block, u, meets its left siblings; the nodes of all so far, from the right,
 * are the prefix, s. */
static void add_tree(rd_text *to, const rd_codegen_fold *f, int number)
{
    if (!f->levels)
        return;
    rd_text_add(to, "static inline void tree%d(", number);
    rd_add_parameters(to, &f->of, false, "", 'e');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, false, "", 'u');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, false, "", 's');
    rd_text_add(to, ", int64_t at, int64_t stride, int64_t n)\n{\n    int level = 0;\n\n"
                    "    for (; at >> level & 1; level++)\n        ");
    add_meet(to, f, number, 'u');
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) {");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " e%d[level * stride + l] = u%d[l]; s%d[l] = u%d[l];", k, k, k, k);
    rd_text_add(to, " }\n    for (level++; (at + 1) >> level; level++)\n"
                    "        if ((at + 1) >> level & 1)\n            ");
    add_meet(to, f, number, 's');
    rd_text_add(to, "}\n");
}

void rd_codegen_scan_functions(rd_codegen *n, rd_text *to, int32_t number)
{
    const rd_codegen_fold *f = &n->fold[number];

    if (!f->of.fold->scan)
        return;
    add_so_far(to, f, number);
    add_turn(to, f, number);
    add_tree(to, f, number);
}

/* ---- Statements ------------------------------------------------------------------------------ */
static void add_states_before(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at)
{
    if (!f->blocks)
        return;
    rd_text_add(to, ", ");
    rd_add_states(to, n, f, "p", at);
    if (f->pair)
        rd_text_add(to, ", &q%d_0[%s]", rd_number_of(n, f), at);
}

void rd_turn_text(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at,
                  const char *count)
{
    rd_text_add(to, "turn%d(", rd_number_of(n, f));
    rd_add_states(to, n, f, "s", at);
    add_states_before(n, to, f, at);
    if (f->pair) {
        rd_text_add(to, ", &w%d_0[%s], ", rd_number_of(n, f), at);
        rd_number_text(n, to, f->rows * f->states);
        rd_text_add(to, ", (t%d >> 6) - 1", rd_number_of(n, f));
    }
    rd_text_add(to, ", %s);", count);
}

static void add_result(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    rd_text at = { 0 };

    rd_add_state(n, &at, f);
    rd_declare_results(to, f, dst);
    rd_text_add(to, " sofar%d(", rd_number_of(n, f));
    rd_add_state_at_hand(n, to, f);
    add_states_before(n, to, f, at.at);
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", &r%d", dst + k);
    rd_text_add(to, ");");
    if (n->here)
        rd_keep_results(n, to, f, dst);
    rd_text_free(&at);
}

/* An element as states of its own: u. */
static void add_element(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *at)
{
    const rd_codegen_fold *f      = &n->fold[inst->arg];
    rd_text                states = { 0 };

    rd_add_states(&states, n, f, "u", at);
    rd_user_begins(to, &f->of, inst->arg, "u", at);
    rd_text_add(to, " begin%d(%s);", inst->arg, states.at);
    rd_add_step(n, to, inst, states.at);
    rd_text_free(&states);
}

static void declare_element(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s u%d_%d[1];", rd_state_type(&f->of, k), rd_number_of(n, f), k);
}

/* to = merge(node of the level, to). */
static void meet(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at, int level,
                 const char *name, const char *name_at)
{
    const int number = rd_number_of(n, f);

    rd_text_add(to, " {");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s a%d_%d[1] = { e%d_%d[%" PRId64 " + %s] };", rd_state_type(&f->of, k),
                    number, k, number, k, level * f->states, at);
    rd_text_add(to, " merge%d(", number);
    rd_add_states(to, n, f, "a", "0");
    rd_text_add(to, ", ");
    rd_add_states(to, n, f, name, name_at);
    rd_text_add(to, ");");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s%d_%d[%s] = a%d_%d[0];", name, number, k, name_at, number, k);
    rd_text_add(to, " }");
}

/* As tree() above, at a place that is known. */
static void add_known_place(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *at)
{
    const rd_codegen_fold *f     = &n->fold[inst->arg];
    const rd_address      *outer = &f->of.fold->outer;
    int64_t                place = outer->offset;
    int                    level = 0;

    for (int32_t k = 0; k < outer->n_add; k++)
        if (n->bind[outer->add[k].axis].kind == RD_BIND_NUMBER)
            place += outer->add[k].coef * n->bind[outer->add[k].axis].number;
    rd_text_add(to, " {");
    declare_element(n, to, f);
    add_element(n, to, inst, "0");
    for (; place >> level & 1; level++)
        meet(n, to, f, at, level, "u", "0");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " e%d_%d[%" PRId64 " + %s] = s%d_%d[%s] = u%d_%d[0];", inst->arg, k,
                    level * f->states, at, inst->arg, k, at, inst->arg, k);
    for (level++; (place + 1) >> level; level++)
        if ((place + 1) >> level & 1)
            meet(n, to, f, at, level, "s", at);
    rd_text_add(to, " }");
}

static void add_tree_call(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at,
                          const char *count)
{
    rd_text_add(to, " tree%d(", rd_number_of(n, f));
    rd_add_states(to, n, f, "e", at);
    rd_text_add(to, ", ");
    rd_add_states(to, n, f, "u", "0");
    rd_text_add(to, ", ");
    rd_add_states(to, n, f, "s", at);
    rd_text_add(to, ", (");
    rd_position(n, to, &f->of.fold->outer);
    rd_text_add(to, ") %% %d, ", RD_TREE_STEPS);
    rd_number_text(n, to, f->states);
    rd_text_add(to, ", %s);", count);
}

/* A strip's elements go through the tree in loops of their own; their states are neighbours. */
static void step_strip(rd_codegen *n, const rd_inst *inst)
{
    const rd_codegen_fold *f    = &n->fold[inst->arg];
    rd_text                line = { 0 }, at = { 0 };

    rd_add_first_state(n, &at, f);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add((rd_strip_loop(n), &n->before), "%*s%s u%d_%d[%d] LINES;\n", 4 * n->indent, "",
                    rd_state_type(&f->of, k), inst->arg, k, n->here->width);
    n->arrays = true;
    add_element(n, rd_strip_loop(n), inst, "i");
    rd_strip_loop_end(n);
    add_tree_call(n, &line, f, at.at, "n");
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    rd_text_free(&at);
}

static void add_element_step(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const rd_codegen_fold *f  = &n->fold[inst->arg];
    rd_text                at = { 0 }, states = { 0 };

    rd_add_state(n, &at, f);
    if (!f->levels) {
        rd_add_state_at_hand(n, &states, f);
        rd_add_step(n, to, inst, states.at);
    } else if (is_written_out(n, f))
        add_known_place(n, to, inst, at.at);
    else {
        rd_text_add(to, " {");
        declare_element(n, to, f);
        add_element(n, to, inst, "0");
        add_tree_call(n, to, f, at.at, "1");
        rd_text_add(to, " }");
    }
    rd_text_free(&at);
    rd_text_free(&states);
}

void rd_codegen_scan(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst   = &n->p->inst[i];
    const rd_codegen_fold *f      = &n->fold[inst->arg];
    const bool             strips = n->here && f->levels && !is_written_out(n, f);
    rd_text                line = { 0 }, *to = n->here ? rd_strip_loop(n) : &line;

    if (f->of.fold->exclusive)
        add_result(n, to, f, inst->dst);
    if (strips)
        step_strip(n, inst);
    else
        add_element_step(n, to, inst);
    to = n->here ? rd_strip_loop(n) : &line;
    if (!f->of.fold->exclusive)
        add_result(n, to, f, inst->dst);
    if (!n->here)
        rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
}
