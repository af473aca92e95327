/* serial_scan_text.c - scans that a thread runs element by element. s has the state of the block
 * at hand, and p the prefix of all blocks before it. e has the nodes of the block's elements,
 * where prefixes go by a tree. w has the words of a running sum (kernels/math/prefix_sums.h):
 *
 *     while (b0[0] < (i1) / 64) { turn0(&s0_0[0], &p0_0[0]); b0[0]++; }
 *     step0(&s0_0[0], r0, 1, i1);
 *     prefix0(&s0_0[0], &p0_0[0], &r1);
 *
 * A block is 64 steps of the scan, and b0 numbers the block at hand; a cell is an accumulator.
 * pair: the scan is a running sum of floats, its prefix has two words.  levels: prefixes go by a
 * tree, with so many levels of nodes.
 *
 * Words. A partial is a node that one range of a split loop leaves for the combine. */
#include "core/combine_tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Functions ------------------------------------------------------------------------------- */
/* Adds a variable with a copy of each of the n_state numbers of a state (accumulator): " float
 * a0 = *e0;". `copy` is the variable's letter, `format` what is copied, by the number. */
static void add_copies(rd_text *to, const rd_emit_fold *f, char copy, const char *format)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, " %s %c%d = ", rd_state_type(f, k), copy, k);
        rd_text_add(to, format, k);
        rd_text_add(to, ";");
    }
}

/* Adds the parameters of the states (accumulators) that `names` lists by a letter each: "float
 * *s0, float *p0" for "sp". The prefix p of a running sum of floats (`pair`) has a second word. */
static void add_parameters(rd_text *to, const rd_emit_fold *f, bool pair, const char *names)
{
    for (; *names; names++) {
        rd_add_parameters(to, f, /*nodes=*/false, "", *names);
        if (*names == 'p' && pair)
            rd_text_add(to, ", %s *p%d", rd_state_type(f, /*k=*/0), f->n_state);
        rd_text_add(to, names[1] ? ", " : "");
    }
}

/* Adds turn0(), which ends a block (64 steps): its state s is merged into p, the fold of all
 * blocks before the next one, and begins again. A running sum (`pair`,
 * kernels/math/prefix_sums.h) also needs the number of the block and the cell's words w, which
 * lie `pitch` apart; its flag that an element was met (seen) is joined.
 *
 *     static inline void turn0(float *s0, float *p0)
 *     {
 *         block0(s0);
 *         merge0(p0, s0);
 *         begin0(s0);
 *     } */
static void add_block_end(rd_text *to, const rd_emit_fold *f, bool pair, int32_t number)
{
    const char *elem = rd_dtype_class(f->fold->type) == RD_CLASS_f32 ? "f32" : "f64";

    rd_text_add(to, "static inline void turn%" PRId32 "(", number);
    add_parameters(to, f, pair, "sp");
    if (pair)
        rd_text_add(to, ", int64_t block, double *w, int64_t pitch");
    rd_text_add(to, ")\n{\n    block%" PRId32 "(", number);
    rd_add_each(to, f, "s%d");
    rd_text_add(to, ");\n    ");
    if (pair) {
        rd_text_add(to, "rd_take_blocks_%s(1, block, w, pitch, s0, p0, p%d);", elem, f->n_state);
        if (f->seen)
            rd_text_add(to, " *p1 |= *s1;");
    } else {
        rd_text_add(to, "merge%" PRId32 "(", number);
        rd_add_each(to, f, "p%d");
        rd_text_add(to, ", ");
        rd_add_each(to, f, "s%d");
        rd_text_add(to, ");");
    }
    rd_text_add(to, "\n    begin%" PRId32 "(", number);
    rd_add_each(to, f, "s%d");
    rd_text_add(to, ");\n}\n");
}

/* Adds how state u (or s, by `name`) becomes merge(node, u), where the node e of this level lies
 * left of it: "{ float a0 = e0[level * pitch]; merge0(&a0, u0); *u0 = a0; }". */
static void add_merge_level(rd_text *to, const rd_emit_fold *f, int32_t number, char name)
{
    rd_text_add(to, "{");
    add_copies(to, f, 'a', "e%d[level * pitch]");
    rd_text_add(to, " merge%" PRId32 "(", number);
    rd_add_each(to, f, "&a%d");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, ", %c%d", name, k);
    rd_text_add(to, ");");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " *%c%d = a%d;", name, k, k);
    rd_text_add(to, " }\n");
}

/* Adds tree0(), which takes element `at` of a block, with state u, into the block's tree of
 * nodes e: u merges with its left siblings, as in a binary counter. The prefix s is the merge of
 * all nodes (partial results in the combine tree) up to the element, from the right. Levels of e
 * lie `pitch` apart.
 *
 *     static inline void tree0(float *e0, float *u0, float *s0, int64_t at, int64_t pitch) */
static void add_tree(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void tree%" PRId32 "(", number);
    add_parameters(to, f, /*pair=*/false, "eus");
    rd_text_add(to, ", int64_t at, int64_t pitch)\n{\n    int level = 0;\n\n"
                    "    for (; at >> level & 1; level++)\n        ");
    add_merge_level(to, f, number, 'u');
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "    e%d[level * pitch] = *s%d = *u%d;\n", k, k, k);
    rd_text_add(to, "    for (level++; (at + 1) >> level; level++)\n"
                    "        if ((at + 1) >> level & 1)\n            ");
    add_merge_level(to, f, number, 's');
    rd_text_add(to, "}\n");
}

/* Adds turn0(), which ends a block of 64 steps; and tree0() if prefixes within a block go by a
 * tree of so many `levels`. `pair`: the scan is a running sum of floats. */
void rd_print_block_end_functions(rd_text *to, const rd_emit_fold *f, bool pair, int32_t levels,
                                  int32_t number)
{
    add_block_end(to, f, pair, number);
    if (levels)
        add_tree(to, f, number);
}

/* ---- Statements ------------------------------------------------------------------------------ */
/* Adds the addresses of a state's numbers at subscript `at`: "&p0_0[at], &p0_1[at]". The prefix
 * p of a running sum of floats (`hi_lo_sums`) has a second word. */
static void add_arrays(rd_printing *n, rd_text *to, const rd_stmt *s, char name, const char *at)
{
    const rd_print_fold *f = &n->fold[s->fold];

    rd_print_state_addresses(to, f, name, s->store, at);
    if (n->t->fold[s->fold].hi_lo_sums && name == 'p')
        rd_text_add(to, ", &p%" PRId32 "_%d[%s]", s->store, f->emit.n_state, at);
}

/* Prints how the state (accumulator) of the open block takes an element: "step0(&s0_0[0], r0, 1,
 * i1);". If prefixes go by a tree (levels > 0), the element gets a state u of its own first:
 *
 *     float u0; begin0(&u0); step0(&u0, r0, 1, i1);
 *     tree0(&e0_0[0], &u0, &s0_0[0], (i1) % 64, 1); */
static void take_element(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_loop_fold *f      = &n->t->fold[s->fold];
    const rd_emit_fold *of     = &n->fold[s->fold].emit;
    rd_text             states = { 0 }, u = { 0 }, e = { 0 }, step = { 0 };

    add_arrays(n, &states, s, 's', at);
    if (!f->levels) {
        rd_print_begin_line(n);
        rd_print_add_step(n, n->to, s, states.at);
        rd_text_add(n->to, "\n");
        rd_text_end(&states, n->to);
        return;
    }
    for (int k = 0; k < of->n_state; k++)
        rd_print_line(n, "%s u%d;", rd_state_type(of, k), k);
    rd_add_each(&u, of, "&u%d");
    rd_print_line(n, "begin%" PRId32 "(%s);", s->fold, u.at);
    rd_print_begin_line(n);
    rd_print_add_step(n, n->to, s, u.at);
    rd_text_add(n->to, "\n");
    add_arrays(n, &e, s, 'e', at);
    rd_print_step_number(n, &step, s);
    rd_print_line(n, "tree%" PRId32 "(%s, %s, %s, (%s) %% %d, %" PRId64 ");", s->fold, e.at, u.at,
                  states.at, step.at, RD_TREE_STEPS, rd_cells_in_array(n, s->store));
    rd_text_end(&states, n->to);
    rd_text_end(&u, n->to);
    rd_text_end(&e, n->to);
    rd_text_end(&step, n->to);
}

/* Prints a PREFIX: the state s of the open block (64 steps) takes the element, and
 * "prefix0(&s0_0[0], &p0_0[0], &r1);" merges it with p, the fold of all blocks before. An
 * exclusive scan takes the element afterwards. */
void rd_print_serial_prefix(rd_printing *n, const rd_stmt *s)
{
    const rd_fold *fold = &n->t->p->fold[s->fold];
    rd_text        at = { 0 }, line = { 0 };

    rd_print_first_state(n, &at, s);
    rd_print_results(&line, s, fold);
    /* without the space before "float r1;" */
    rd_print_line(n, "%s", line.at + 1);
    rd_text_end(&line, n->to);
    rd_print_line(n, "{");
    n->indent++;
    if (!fold->exclusive)
        take_element(n, s, at.at);
    rd_text_add(&line, "prefix%" PRId32 "(", s->fold);
    add_arrays(n, &line, s, 's', at.at);
    rd_text_add(&line, ", ");
    add_arrays(n, &line, s, 'p', at.at);
    for (int32_t k = 0; k < fold->n_out; k++)
        rd_text_add(&line, ", &r%" PRId32, s->value + k);
    rd_print_line(n, "%s);", line.at);
    if (fold->exclusive)
        take_element(n, s, at.at);
    n->indent--;
    rd_print_line(n, "}");
    rd_text_end(&at, n->to);
    rd_text_end(&line, n->to);
}

/* Adds the call that ends a block of 64 steps: "turn0(&s0_0[0], &p0_0[0], &p0_1[0], b0[0],
 * &w0[0], 4);". Only a running sum of floats (`hi_lo_sums`) has the second word of p, the block's
 * number and the words w. In a range (part of a split loop) that leaves partials, blocks count
 * from its first one. */
static void add_block_end_call(rd_printing *n, rd_text *to, const rd_stmt *s, const char *counter,
                               const char *at)
{
    rd_text_add(to, "turn%" PRId32 "(", s->fold);
    add_arrays(n, to, s, 's', at);
    rd_text_add(to, ", ");
    add_arrays(n, to, s, 'p', at);
    if (n->t->fold[s->fold].hi_lo_sums) {
        rd_text_add(to, ", %s", counter);
        if (rd_has_partials(n, s->fold))
            rd_text_add(to, " - from%" PRId32, s->fold);
        rd_text_add(to, ", &w%" PRId32 "[%s], %" PRId64, s->store, at,
                    rd_cells_in_array(n, s->store));
    }
    rd_text_add(to, ");");
}

/* Prints the end of all blocks before block `block`: "while (b0[0] < block) { turn0(..);
 * b0[0]++; }". b0 has the number of the open block. */
void rd_print_end_scan_blocks(rd_printing *n, const rd_stmt *s, const char *block)
{
    rd_text counter = { 0 }, at = { 0 }, line = { 0 };

    rd_print_block_counter(n, &counter, s);
    rd_print_first_state(n, &at, s);
    rd_text_add(&line, "while (%s < %s) { ", counter.at, block);
    add_block_end_call(n, &line, s, counter.at, at.at);
    rd_print_line(n, "%s %s++; }", line.at, counter.at);
    rd_text_end(&counter, n->to);
    rd_text_end(&at, n->to);
    rd_text_end(&line, n->to);
}

/* Prints the end of the open block of one cell (output element), the one with the subscript
 * `at`: "turn0(..);". */
void rd_print_end_scan_block(rd_printing *n, const rd_stmt *s, const char *at)
{
    rd_text counter = { 0 }, line = { 0 };

    rd_text_add(&counter, "b%" PRId32 "[%s]", s->store, at);
    add_block_end_call(n, &line, s, counter.at, at);
    rd_print_line(n, "%s", line.at);
    rd_text_end(&counter, n->to);
    rd_text_end(&line, n->to);
}
