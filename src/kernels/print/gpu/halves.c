/* halves.c - scans whose ranges go twice: LEAVE, LIFT and AWAIT.  Nodes of an item lie level by level, as
 * rd_nodes_below() says; those of a range have the level 0.
 *
 *     double *const d1_0 = (double *)(nodes + 0);                       LEAVE
 *     RD_UNROLL_FEW for (int64_t c = 0; c < 4; c++) {
 *         turn0(&s0_0[c], &p0_0[c], &p0_1[c], b0[c] - from0, &w0[c], 4);
 *         d1_0[(range) * 4 + c] = w0[q.N[3] + c];
 *     } */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* ---- Nodes ------------------------------------------------------------------------------------ */
/* Numbers of a node: the sum of a running sum, else a state. */
static int numbers_of(const rd_printing *n, int32_t fold)
{
    return n->t->fold[fold].pair ? 1 : n->fold[fold].of.n_state;
}

static const char *type_of(const rd_printing *n, int32_t fold, int k)
{
    return n->t->fold[fold].pair ? "double" : rd_state_type(&n->fold[fold].of, k);
}

/* Arrays begin at multiples of 16 bytes. */
static int64_t bytes_of(const rd_printing *n, int32_t left)
{
    return (n->t->store[left].rows * rd_cells_here(n, left) * (int64_t)sizeof(double) + 15) / 16 *
           16;
}

/* "double *const d1_0 = (double *)(nodes + 0);" */
static void declare_nodes(rd_printing *n, int32_t fold, int32_t left)
{
    for (int k = 0; k < numbers_of(n, fold); k++)
        rd_print_line(n, "%s%s *const d%" PRId32 "_%d = (%s%s *)(nodes + %" PRId64 ");",
                      n->dialect->memory, type_of(n, fold, k), left, k, n->dialect->memory,
                      type_of(n, fold, k), n->t->store[left].at + k * bytes_of(n, left));
}

static void open(rd_printing *n, const char *line)
{
    rd_print_line(n, "%s", line);
    n->indent++;
}

static void close(rd_printing *n)
{
    n->indent--;
    rd_print_line(n, "}");
}

static void open_cells(rd_printing *n, int32_t left)
{
    rd_text line = { 0 };

    rd_text_add(&line, "RD_UNROLL_FEW for (int64_t c = 0; c < ");
    rd_print_number(n, &line, rd_cells_here(n, left));
    rd_text_add(&line, "; c++) {");
    open(n, line.at);
    rd_text_end(&line, n->to);
}

/* "d1_0[(place) * 4 + c]" */
static void add_node(rd_printing *n, rd_text *to, int32_t left, int k, const char *place)
{
    rd_text_add(to, "d%" PRId32 "_%d[(%s) * ", left, k, place);
    rd_print_number(n, to, rd_cells_here(n, left));
    rd_text_add(to, " + c]");
}

/* "w0[(2 * level) * 4 + c]", of words of a running sum. */
static void add_word(rd_printing *n, rd_text *to, int32_t store, const char *word)
{
    rd_text_add(to, "w%" PRId32 "[(%s) * ", store, word);
    rd_print_number(n, to, rd_cells_here(n, store));
    rd_text_add(to, " + c]");
}

static const rd_for *ranges_around(const rd_printing *n, const rd_stmt *s)
{
    int32_t loop = s->parent;

    while (n->t->stmt[loop].kind != RD_S_LOOP || !rd_loop_of(n->t, loop)->ranges)
        loop = n->t->stmt[loop].parent;
    return rd_loop_of(n->t, loop);
}

/* 5 -> 3 */
static int32_t bits_of(int64_t x)
{
    int32_t bits = 0;

    for (; x > 0; x /= 2)
        bits++;
    return bits;
}

/* The level of a range in the combine tree. */
static int32_t level_of(const rd_for *ranges)
{
    return bits_of(ranges->step / RD_TREE_STEPS) - 1;
}

/* ---- LEAVE ------------------------------------------------------------------------------------ */
void rd_print_leave_scan(rd_printing *n, const rd_stmt *s)
{
    const int32_t left = s->arg;

    open(n, "{");
    declare_nodes(n, s->fold, left);
    open_cells(n, left);
    rd_print_turn_of(n, s, "c");
    for (int k = 0; k < numbers_of(n, s->fold); k++) {
        rd_text node = { 0 }, word = { 0 }, what = { 0 };

        add_node(n, &node, left, k, "range");
        if (n->t->fold[s->fold].pair) { /* of a whole range the last block has made its node */
            rd_text_add(&word, "%" PRId32, 2 * level_of(ranges_around(n, s)) + 1);
            add_word(n, &what, s->store, word.at);
        } else
            rd_text_add(&what, "p%" PRId32 "_%d[c]", s->store, k);
        rd_print_line(n, "%s = %s;", node.at, what.at);
        rd_text_end(&node, n->to);
        rd_text_end(&word, n->to);
        rd_text_end(&what, n->to);
    }
    close(n);
    close(n);
}

/* ---- AWAIT ------------------------------------------------------------------------------------ */
static void open_levels(rd_printing *n, const rd_for *ranges)
{
    rd_text line = { 0 };

    rd_text_add(&line, "for (int level = %" PRId32 "; level >= 0; level--) {",
                bits_of(ranges->extent - 1) - 1);
    open(n, line.at);
    rd_text_end(&line, n->to);
}

/* The node of a level, if the range's number has its bit. */
static void find_node_of_level(rd_printing *n)
{
    rd_print_line(n, "if (!(range >> level & 1)) continue;");
    rd_print_line(n, "const int64_t at = rd_nodes_below(%s, level) + (range >> level) - 1;",
                  n->kernel->ranges->count);
}

/* "w0[(2 * (level + 4)) * 4 + c] = all;" */
static void keep_word(rd_printing *n, int32_t store, int32_t first, const char *more,
                      const char *what)
{
    rd_text word = { 0 }, at = { 0 };

    rd_text_add(&word, "2 * (level + %" PRId32 ")%s", first, more);
    add_word(n, &at, store, word.at);
    rd_print_line(n, "%s = %s;", at.at, what);
    rd_text_end(&word, n->to);
    rd_text_end(&at, n->to);
}

/* The words of a running sum (kernels/math/so_far.h), as if it had come here block by block. */
static void resume_sum(rd_printing *n, const rd_stmt *s)
{
    const rd_for *ranges = ranges_around(n, s);
    const int32_t first = level_of(ranges), second = n->fold[s->fold].of.n_state;
    rd_text       node = { 0 }, word = { 0 };

    rd_print_line(n, "double all = -0.0;");
    open_levels(n, ranges);
    keep_word(n, s->store, first, "", "all");
    find_node_of_level(n);
    add_node(n, &node, s->arg, 0, "at");
    rd_print_line(n, "const double node = %s;", node.at);
    keep_word(n, s->store, first, " + 1", "node");
    rd_print_line(n, "all = all + node;");
    close(n);
    add_word(n, &word, s->store, "2 * level");
    rd_print_line(n, "for (int level = 0; level < %" PRId32 "; level++) %s = all;", first, word.at);
    rd_print_line(n, "rd_so_far_%s(all, &p%" PRId32 "_0[c], &p%" PRId32 "_%d[c]);",
                  rd_dtype_class(n->t->p->fold[s->fold].type) == RD_CLASS_f32 ? "f32" : "f64",
                  s->store, s->store, second);
    rd_text_end(&node, n->to);
    rd_text_end(&word, n->to);
}

/* What is before the range, of other folds. */
static void resume_state(rd_printing *n, const rd_stmt *s)
{
    const rd_emit_fold *f     = &n->fold[s->fold].of;
    rd_text             nodes = { 0 }, copies = { 0 }, merge = { 0 };

    rd_text_add(&merge, "if (some) merge%" PRId32 "(", s->fold);
    rd_print_states(&merge, &n->fold[s->fold], 'p', s->store, "c");
    rd_text_add(&merge, ", ");
    rd_add_each(&merge, f, "&b%d");
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(&nodes, "%s b%d = ", type_of(n, s->fold, k), k);
        add_node(n, &nodes, s->arg, k, "at");
        rd_text_add(&nodes, "; ");
        rd_text_add(&copies, " p%" PRId32 "_%d[c] = b%d;", s->store, k, k);
    }
    rd_print_line(n, "bool some = false;");
    open_levels(n, ranges_around(n, s));
    find_node_of_level(n);
    rd_print_line(n, "%s", nodes.at);
    rd_print_line(n, "%s);", merge.at);
    rd_print_line(n, "else {%s }", copies.at);
    rd_print_line(n, "some = true;");
    close(n);
    rd_text_end(&nodes, n->to);
    rd_text_end(&copies, n->to);
    rd_text_end(&merge, n->to);
}

/* The nodes that cover all before the range, the largest first: one for each bit of its number. */
void rd_print_await(rd_printing *n, const rd_stmt *s)
{
    open(n, "if (range > 0) {");
    declare_nodes(n, s->fold, s->arg);
    open_cells(n, s->arg);
    (n->t->fold[s->fold].pair ? resume_sum : resume_state)(n, s);
    close(n);
    close(n);
}

/* ---- LIFT ------------------------------------------------------------------------------------- */
/* Cell c of node `at` of a level, from the two below. */
void rd_print_lift(rd_printing *n, const rd_stmt *s)
{
    const int32_t fold = s->fold, left = s->store;
    rd_text       merge = { 0 };

    declare_nodes(n, fold, left);
    for (int k = 0; k < numbers_of(n, fold); k++) {
        rd_text a = { 0 }, b = { 0 };

        add_node(n, &a, left, k, "below");
        add_node(n, &b, left, k, "below + 1");
        rd_print_line(n, "%s a%d = %s, b%d = %s;", type_of(n, fold, k), k, a.at, k, b.at);
        rd_text_end(&a, n->to);
        rd_text_end(&b, n->to);
    }
    rd_print_merge(&merge, &n->fold[fold].of, fold, "merge");
    rd_print_line(n, "%s", n->t->fold[fold].pair ? "a0 = a0 + b0;" : merge.at);
    for (int k = 0; k < numbers_of(n, fold); k++) {
        rd_text at = { 0 };

        add_node(n, &at, left, k, "at");
        rd_print_line(n, "%s = a%d;", at.at, k);
        rd_text_end(&at, n->to);
    }
    rd_text_end(&merge, n->to);
}
