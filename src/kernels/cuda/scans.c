/* scans.c - folds so far (program.h), element by element: s has the block at hand, p what is before
 * it, e the nodes of its elements where prefixes go by the tree. */
#include "kernels/cuda/text.h"
#include "core/tree.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

void rd_cuda_scan_functions(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    if (!f->of.fold->scan)
        return;
    rd_print_so_far_function(
        t->to, &(rd_print_fold){ .of = f->of, .blocks = true, .pair = f->pair }, number);
    if (t->s->swept)
        rd_cuda_sweep_functions(t, number);
    else
        rd_print_turn_functions(t->to, &f->of, f->pair, f->levels, number);
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

/* "b0[c0], &w0[c0], 4": the block and the words of a running sum.  In a range whose total is wanted
 * blocks are counted from its first. */
static void add_words(rd_text *to, rd_cuda_text *t, const rd_cuda_fold *f, int32_t number)
{
    rd_text_add(to, "b%" PRId32 "[c%" PRId32 "]", number, number);
    if (t->part == RD_PART_TOTALS)
        rd_text_add(to, " - from%" PRId32, number);
    rd_text_add(to, ", &w%" PRId32 "[c%" PRId32 "], ", number, number);
    rd_cuda_number(t, to, f->states);
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
            rd_text_add(&words, ", ");
            add_words(&words, t, f, inst->arg);
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

/* ---- Ranges ---------------------------------------------------------------------------------- */
/* Numbers of a node: the sum of a running sum, else a state. */
static int numbers_of(const rd_cuda_fold *f)
{
    return f->pair ? 1 : f->of.n_state;
}

static const char *type_of(const rd_cuda_fold *f, int k)
{
    return f->pair ? "double" : rd_state_type(&f->of, k);
}

/* "double *const d0_0 = ..;": nodes of the item. */
static void declare_nodes(rd_cuda_text *t, const rd_cuda_fold *f, int32_t number)
{
    for (int k = 0; k < numbers_of(f); k++)
        rd_cuda_line(t, "%s *const d%" PRId32 "_%d = (%s *)(nodes + %" PRId64 ");", type_of(f, k),
                     number, k, type_of(f, k), f->node + k * (f->nodes / numbers_of(f)));
}

/* "for (int64_t c0 = 0; c0 < 4; c0++) {" */
static void open_cells(rd_cuda_text *t, const rd_cuda_fold *f, int32_t number)
{
    rd_text cells = { 0 };

    rd_cuda_number(t, &cells, f->n_cell);
    rd_cuda_line(
        t, "RD_UNROLL_FEW for (int64_t c%" PRId32 " = 0; c%" PRId32 " < %s; c%" PRId32 "++) {",
        number, number, cells.at ? cells.at : "", number);
    t->indent++;
    rd_text_free(&cells);
}

static void close_cells(rd_cuda_text *t)
{
    t->indent--;
    rd_cuda_line(t, "}");
}

/* "d0_1[(place) * 4 + c0]" */
static void add_node(rd_text *to, rd_cuda_text *t, const rd_cuda_fold *f, int k, const char *place)
{
    const int32_t number = rd_cuda_fold_number(t->s, f);

    rd_text_add(to, "d%" PRId32 "_%d[(%s) * ", number, k, place);
    rd_cuda_number(t, to, f->n_cell);
    rd_text_add(to, " + c%" PRId32 "]", number);
}

/* The level of a range in the tree of blocks. */
static int32_t level_of_range(const rd_cuda_shape *s)
{
    return rd_cuda_bits(s->range / RD_TREE_STEPS) - 1;
}

void rd_cuda_end_totals(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];
    rd_text states = arrays_at(f, number, "s"), before = arrays_at(f, number, "p"), line = { 0 };

    declare_nodes(t, f, number);
    open_cells(t, f, number);
    rd_text_add(&line, "turn%" PRId32 "(%s, %s", number, states.at, before.at);
    if (f->pair) {
        rd_text_add(&line, ", ");
        add_words(&line, t, f, number);
    }
    rd_cuda_line(t, "%s);", line.at ? line.at : "");
    rd_text_free(&line);
    for (int k = 0; k < numbers_of(f); k++) {
        rd_text node = { 0 };

        add_node(&node, t, f, k, "range");
        if (f->pair) { /* of a whole range the last block has made its node */
            rd_text at = { 0 };

            rd_cuda_number(t, &at, (2 * level_of_range(t->s) + 1) * f->states);
            rd_cuda_line(t, "%s = w%" PRId32 "[%s + c%" PRId32 "];", node.at, number, at.at,
                         number);
            rd_text_free(&at);
        } else
            rd_cuda_line(t, "%s = p%" PRId32 "_%d[c%" PRId32 "];", node.at, number, k, number);
        rd_text_free(&node);
    }
    close_cells(t);
    rd_text_free(&states);
    rd_text_free(&before);
}

/* "for (level ..) {" */
static void open_levels(rd_cuda_text *t)
{
    rd_cuda_line(t, "for (int level = %" PRId32 "; level >= 0; level--) {",
                 rd_cuda_bits(t->s->n_range - 1) - 1);
    t->indent++;
}

/* The node of a level, if the range's number has its bit. */
static void find_node_of_level(rd_cuda_text *t)
{
    rd_cuda_line(t, "if (!(range >> level & 1)) continue;");
    rd_cuda_line(
        t, "const int64_t at = rd_nodes_below(q.head.n_range, level) + (range >> level) - 1;");
}

/* The words of a running sum (kernels/math/so_far.h), as if it had come here block by block. */
static void resume_sum(rd_cuda_text *t, const rd_cuda_fold *f, int32_t number)
{
    const int32_t first = level_of_range(t->s);
    rd_text       pitch = { 0 }, node = { 0 };

    rd_cuda_number(t, &pitch, f->states);
    rd_cuda_line(t, "double all = -0.0;");
    open_levels(t);
    rd_cuda_line(t, "w%" PRId32 "[2 * (level + %" PRId32 ") * %s + c%" PRId32 "] = all;", number,
                 first, pitch.at ? pitch.at : "", number);
    find_node_of_level(t);
    add_node(&node, t, f, 0, "at");
    rd_cuda_line(t, "const double node = %s;", node.at ? node.at : "");
    rd_cuda_line(t, "w%" PRId32 "[(2 * (level + %" PRId32 ") + 1) * %s + c%" PRId32 "] = node;",
                 number, first, pitch.at ? pitch.at : "", number);
    rd_cuda_line(t, "all = all + node;");
    close_cells(t);
    rd_cuda_line(t,
                 "for (int level = 0; level < %" PRId32 "; level++) w%" PRId32
                 "[2 * level * %s + c%" PRId32 "] = all;",
                 first, number, pitch.at ? pitch.at : "", number);
    rd_cuda_line(
        t, "rd_so_far_%s(all, &p%" PRId32 "_0[c%" PRId32 "], &p%" PRId32 "_%d[c%" PRId32 "]);",
        rd_dtype_class(f->of.fold->type) == RD_CLASS_f32 ? "f32" : "f64", number, number, number,
        f->of.n_state, number);
    rd_text_free(&pitch);
    rd_text_free(&node);
}

/* What is before the range, of other folds. */
static void resume_state(rd_cuda_text *t, const rd_cuda_fold *f, int32_t number)
{
    rd_text nodes = { 0 }, copies = { 0 }, a = arrays_at(f, number, "p"), b = { 0 };

    for (int k = 0; k < f->of.n_state; k++) {
        rd_text_add(&nodes, "%s b%d = ", type_of(f, k), k);
        add_node(&nodes, t, f, k, "at");
        rd_text_add(&nodes, "; ");
        rd_text_add(&copies, " p%" PRId32 "_%d[c%" PRId32 "] = b%d;", number, k, number, k);
    }
    rd_add_each(&b, &f->of, "&b%d");
    rd_cuda_line(t, "bool some = false;");
    open_levels(t);
    find_node_of_level(t);
    rd_cuda_line(t, "%s", nodes.at ? nodes.at : "");
    rd_cuda_line(t, "if (some) merge%" PRId32 "(%s, %s);", number, a.at ? a.at : "",
                 b.at ? b.at : "");
    rd_cuda_line(t, "else {%s }", copies.at ? copies.at : "");
    rd_cuda_line(t, "some = true;");
    close_cells(t);
    rd_text_free(&nodes);
    rd_text_free(&copies);
    rd_text_free(&a);
    rd_text_free(&b);
}

/* The nodes that cover all before the range, the largest first: one for each bit of its number. */
void rd_cuda_resume_scan(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f = &t->s->fold[number];

    declare_nodes(t, f, number);
    rd_cuda_line(t, "if (range > 0)");
    t->indent++;
    open_cells(t, f, number);
    (f->pair ? resume_sum : resume_state)(t, f, number);
    close_cells(t);
    t->indent--;
}

/* q.head.span: the level whose nodes are made.  A thread makes one. */
void rd_cuda_lift_kernel(rd_cuda_text *t, int32_t number)
{
    const rd_cuda_fold *f     = &t->s->fold[number];
    rd_text             cells = { 0 }, line = { 0 };

    rd_cuda_number(t, &cells, f->n_cell);
    rd_cuda_kernel_head(t, "lift", number);
    rd_cuda_line(t, "{");
    t->indent++;
    rd_cuda_line(t, "const int level = (int)q.head.span;");
    rd_cuda_line(
        t,
        "const int64_t here = q.head.n_range >> level, threads = (int64_t)gridDim.x * RD_THREADS;");
    rd_cuda_line(t, "int64_t work = (int64_t)blockIdx.x * RD_THREADS + threadIdx.x;");
    rd_cuda_line(t, "for (; work < q.head.n_work; work += threads) {");
    t->indent++;
    rd_cuda_line(t, "const int64_t c%" PRId32 " = work %% %s, left = work / %s;", number, cells.at,
                 cells.at);
    rd_cuda_line(t, "const int64_t item = left / here, k = left %% here;");
    rd_cuda_line(t, "char *const nodes = (char *)q.head.nodes + item * (int64_t)%" PRId64 ";",
                 t->s->node_bytes);
    rd_cuda_line(t, "const int64_t below = rd_nodes_below(q.head.n_range, level - 1) + 2 * k;");
    rd_cuda_line(t, "const int64_t at = rd_nodes_below(q.head.n_range, level) + k;");
    declare_nodes(t, f, number);
    for (int k = 0; k < numbers_of(f); k++) {
        rd_text a = { 0 }, b = { 0 };

        add_node(&a, t, f, k, "below");
        add_node(&b, t, f, k, "below + 1");
        rd_cuda_line(t, "%s a%d = %s, b%d = %s;", type_of(f, k), k, a.at, k, b.at);
        rd_text_free(&a);
        rd_text_free(&b);
    }
    if (f->pair)
        rd_cuda_line(t, "a0 = a0 + b0;");
    else {
        rd_cuda_add_merge(&line, f, number, "merge");
        rd_cuda_line(t, "%s", line.at);
    }
    for (int k = 0; k < numbers_of(f); k++) {
        rd_text a = { 0 };

        add_node(&a, t, f, k, "at");
        rd_cuda_line(t, "%s = a%d;", a.at, k);
        rd_text_free(&a);
    }
    close_cells(t);
    close_cells(t);
    rd_text_free(&cells);
    rd_text_free(&line);
}
