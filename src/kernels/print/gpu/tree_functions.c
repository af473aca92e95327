/* tree_functions.c - prints functions that push the nodes of finished blocks up the combine tree
 * (kernels/program.h).  Nodes lie in rows of a thread's or a team's arrays.
 *
 * A block is 64 steps of a fold, and a node the result of one block or of 2^level of them.  w0 has
 * the first numbers of nodes, row after row; a row is `pitch` long, with a node for each lane of
 * each cell. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Adds the call of a function of two states (accumulators), a and b: "merge0(&a0, &a1, &b0,
 * &b1);" for `function` "merge". */
void rd_print_merge(rd_text *to, const rd_emit_fold *f, int32_t number, const char *function)
{
    rd_text_add(to, "%s%" PRId32 "(", function, number);
    rd_add_each(to, f, "&a%d");
    rd_text_add(to, ", ");
    rd_add_each(to, f, "&b%d");
    rd_text_add(to, ");");
}

/* Adds a variable for each of the n_state numbers of a node (partial result in the combine
 * tree), loaded from the array of nodes: " double a0 = w0[at];". */
static void add_copies(rd_text *to, const rd_emit_fold *f, char to_name, char name, const char *at)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " %s %c%d = %c%d[%s];", rd_node_type(f, k), to_name, k, name, k, at);
}

/* Adds the store of the n_state numbers of a node (partial result in the combine tree) to the
 * array of nodes: " w0[at] = a0;". */
static void add_back(rd_text *to, const rd_emit_fold *f, char name, const char *at)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " %c%d[%s] = a%d;", name, k, at, k);
}

/* Adds rise0(), the carry of a binary counter. The node (partial result in the combine tree) in
 * row `row` covers 2^level blocks from `start` on; as long as it is a right sibling, it merges
 * into the row before, its left one. `from`: the first block of the range (part of a split
 * loop). pitch: elements of a row.
 *
 *     static inline void rise0(double *w0, int64_t pitch, .., int level, int64_t from)
 *     {
 *         for (; rd_right(start, level, from); level++) { .. merge0(&a0, &b0); .. }
 *     } */
static void add_rise(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void rise%" PRId32 "(", number);
    rd_add_parameters(to, f, /*nodes=*/true, "", 'w');
    rd_text_add(
        to, ", int64_t pitch, int64_t at, int64_t row, int64_t start, int level, int64_t from)\n{\n"
            "    for (; rd_right(start, level, from); level++) {\n       ");
    add_copies(to, f, 'a', 'w', "(row - 1) * pitch + at");
    rd_text_add(to, "\n       ");
    add_copies(to, f, 'b', 'w', "row * pitch + at");
    rd_text_add(to, "\n        ");
    rd_print_merge(to, f, number, "merge");
    rd_text_add(to, "\n       ");
    add_back(to, f, 'w', "(row - 1) * pitch + at");
    rd_text_add(to, "\n        row--;\n        start -= (int64_t)1 << level;\n    }\n}\n");
}

/* Adds push0(), which ends block `block` of n lanes (partial accumulators): each state becomes a
 * node in the first free row, which rises up the combine tree, and begins again. Lanes lie
 * `each` elements apart in s and in w.
 *
 *     static void push0(float *s0, double *w0, int n, int each, int64_t pitch, int64_t at, ..) */
static void add_push(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    rd_text_add(to, "static void push%" PRId32 "(", number);
    rd_add_parameters(to, f, /*nodes=*/false, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, f, /*nodes=*/true, "", 'w');
    rd_text_add(to,
                ", int n, int each, int64_t pitch, int64_t at, int64_t block, int64_t from)\n{\n"
                "    const int64_t row = rd_nodes(from, block);\n"
                "    RD_UNROLL for (int l = 0; l < n; l++) {\n        block%" PRId32 "(",
                number);
    rd_add_each(to, f, "&s%d[l * each]");
    rd_text_add(to, ");\n       ");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " w%d[row * pitch + at + l * each] = s%d[l * each];", k, k);
    rd_text_add(to, "\n        rise%" PRId32 "(", number);
    rd_add_each(to, f, "w%d");
    rd_text_add(to, ", pitch, at + l * each, row, block, 0, from);\n        begin%" PRId32 "(",
                number);
    rd_add_each(to, f, "&s%d[l * each]");
    rd_text_add(to, ");\n    }\n}\n");
}

/* Adds under0(&x0, a0), which merges node a, on the left, into node x: x = merge(a, x). The
 * order matters, as float addition does not associate. */
static void add_under(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    rd_text_add(to, "static inline void under%" PRId32 "(", number);
    rd_add_parameters(to, f, /*nodes=*/true, "", 'x');
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, ", %s a%d", rd_node_type(f, k), k);
    rd_text_add(to, ")\n{\n   ");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " %s b%d = *x%d;", rd_node_type(f, k), k, k);
    rd_text_add(to, "\n    ");
    rd_print_merge(to, f, number, "merge");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " *x%d = a%d;", k, k);
    rd_text_add(to, "\n}\n");
}

/* Adds the functions of a fold's combine tree of nodes: rise0() and push0() for blocks that end,
 * under0() for the final merges from the right. */
void rd_print_node_functions(rd_text *to, const rd_emit_fold *f, int32_t number)
{
    add_rise(to, f, number);
    add_push(to, f, number);
    add_under(to, f, number);
}
