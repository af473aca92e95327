/* partials_text.c - ranges of an item store their partials, and the range that ends last combines
 * all of them.  The backend prints how blocks of threads do this (rd_kernel_combine):
 *
 *     leave: "node of each lane to the range's row of partials"
 *     if (all ranges of the item have come) {
 *         double *const w3_0 = ..;                       the partials of all ranges
 *         int64_t rows = rd_nodes(0, edge0(q, q.head.n_range)) - 1;
 *         x0 = RD_IN_ROW(w3_0, rows)[at];
 *         while (rows-- > 0) under0(&x0, RD_IN_ROW(w3_0, rows)[at]);
 *     }
 *
 * An item is a unit of work; a partial is the node (result) of a fold over one range.  Folds are
 * bits of one word, so only the first 64 can have partials. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* True if ranges (parts of a split loop) of the fold store partials (nodes that a later range
 * combines) in this kernel, by a bit for each of the first 64 folds. */
bool rd_has_partials(const rd_printing *n, int32_t fold)
{
    return fold < 64 && n->kernel->partials >> fold & 1;
}

/* Sets a bit of `partials` for each fold that stores partials (nodes that ranges leave) in this
 * kernel. */
void rd_find_partials(rd_printing *n, int32_t kernel)
{
    n->kernel->partials = 0;
    for (int32_t s = kernel; s >= 0; s = rd_next_stmt(n->t, s, kernel))
        if (n->t->stmt[s].kind == RD_S_STORE_PARTIALS && n->t->stmt[s].fold < RD_GPU_MOST_FOLDS)
            n->kernel->partials |= UINT64_C(1) << n->t->stmt[s].fold;
}

/* Prints how the range (part of a split loop) stores a fold's partials, its nodes of the combine
 * tree, by the backend's callback. */
void rd_print_store_partials(rd_printing *n, const rd_stmt *s)
{
    n->kernel->combine->leave(n->kernel->combine->of, n, s->fold);
}

/* Prints "if (all ranges of the item have come) { .. }" with the statement's body. last NULL: a
 * later kernel combines the partials (nodes that ranges leave), so nothing is printed. */
void rd_print_if_last(rd_printing *n, int32_t stmt)
{
    if (!n->kernel->combine->last)
        return;
    n->kernel->combine->last(n->kernel->combine->of, n);
    rd_print_line(n, "{");
    n->indent++;
    rd_print_body(n, stmt);
    n->indent--;
    rd_print_line(n, "}");
}

/* Prints pointers to the partials (nodes) that all ranges (parts of a split loop) have stored,
 * in rows: "double *const w3_0 = ..;". 3 is the number of their array. */
void rd_print_combine_partials(rd_printing *n, const rd_stmt *s)
{
    rd_text name = { 0 };

    rd_text_add(&name, "w%" PRId32 "_", s->store);
    n->kernel->combine->rows(n->kernel->combine->of, n, s->fold, name.at);
    rd_text_end(&name, n->to);
}

/* Prints x0, x1 ..: the node (partial result in the combine tree) of a lane (partial accumulator)
 * over all ranges (parts of a split loop). The partials are the rows of a carry stack, which are
 * merged from right to left, the last row first. `one`: the backend has combined them to one node
 * for each lane. `at`: the lane's subscript in a row. edge0(q, n_range) is the number of blocks of
 * all ranges, of which rd_nodes() nodes are left. */
void rd_print_combined_node(rd_printing *n, const rd_stmt *s, const char *at)
{
    const rd_emit_fold *f    = &n->fold[s->fold].emit;
    rd_text             line = { 0 };

    for (int k = 0; n->kernel->combine->one && k < f->n_state; k++)
        rd_print_line(n, "x%d = w%" PRId32 "_%d[%s];", k, s->store, k, at);
    if (n->kernel->combine->one)
        return;
    rd_print_line(n, "int64_t rows = rd_nodes(0, edge%" PRId32 "(q, q.head.n_range)) - 1;",
                  s->fold);
    for (int k = 0; k < f->n_state; k++)
        rd_print_line(n, "x%d = RD_IN_ROW(w%" PRId32 "_%d, rows)[%s];", k, s->store, k, at);
    rd_text_add(&line, "while (rows-- > 0) under%" PRId32 "(", s->fold);
    rd_add_each(&line, f, "&x%d");
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(&line, ", RD_IN_ROW(w%" PRId32 "_%d, rows)[%s]", s->store, k, at);
    rd_print_line(n, "%s);", line.at);
    rd_text_end(&line, n->to);
}
