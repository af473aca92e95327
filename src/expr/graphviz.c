/* graphviz.c - writes expressions as a graph in Graphviz's language (DOT), each node once. */
#include "core/text_buffer.h"
#include "expr/lists.h"
#include "expr/nodes.h"

/* Appends a node's line with quotes and backslashes escaped, as the caller's names may hold any
 * character. */
static void add_line(rd_text *text, const rd_expr *x)
{
    rd_text line = { 0 };

    rd_expr_line(&line, x);
    for (const char *c = line.at; c && *c; c++)
        if (*c == '"' || *c == '\\')
            rd_text_add(text, "\\%c", *c);
        else
            rd_text_add(text, "%c", *c == '\n' ? ' ' : *c);
    text->failed |= line.failed;
    rd_text_free(&line);
}

/* Appends one node and the edges of its operands:
 *
 *     n3 [label="sum dims 1\nf32 (4)"];
 *     n2 -> n3; */
static void add_node(rd_text *text, const rd_expr *x)
{
    bool fold = x->kind == RD_EXPR_REDUCE || x->kind == RD_EXPR_SCAN;
    char shape[RD_SHAPE_TEXT];

    rd_text_add(text, "  n%u [label=\"", x->serial);
    add_line(text, x);
    if (x->kind != RD_EXPR_LEAF)
        rd_text_add(text, "\\n%s %s", rd_dtype_name(x->type),
                    rd_shape_text(x->rank, x->extent, shape));
    rd_text_add(text, "\"%s];\n", x->kind == RD_EXPR_LEAF ? ", shape=box" : "");
    for (int i = 0; i < x->n_in; i++) {
        /* weights and masks may be missing */
        if (!x->in[i])
            continue;
        rd_text_add(text, "  n%u -> n%u", x->in[i]->serial, x->serial);
        if (fold && i)
            rd_text_add(text, " [label=\"%s\"]", i == 1 ? "weights" : "where");
        else if (x->kind == RD_EXPR_COMPLEX)
            rd_text_add(text, " [label=\"%s\"]", i ? "imag" : "real");
        else if (x->n_in > 1 && !fold)
            rd_text_add(text, " [label=\"%d\"]", i);
        rd_text_add(text, ";\n");
    }
}

/* Appends the whole graph, "digraph rdim { ... }": its nodes, and a node "out0", "out1", ... for
 * each result. */
static void add_graph(rd_text *text, rd_results results, const rd_node_list *list)
{
    rd_text_add(text, "digraph rdim {\n  node [fontname=\"monospace\"];\n");
    for (int64_t i = 0; i < list->n; i++)
        add_node(text, list->at[i]);
    for (int32_t i = 0; i < results.n; i++)
        rd_text_add(text, "  out%d [label=\"result %d\", shape=plaintext];\n  n%u -> out%d;\n",
                    (int)i, (int)i, results.at[i].expr->serial, (int)i);
    rd_text_add(text, "}\n");
}

/* Checks the results, lists their nodes and writes the graph as DOT text, which lives as long as
 * nodes made now.  NULL after recording what is wrong. */
const char *rd_graphviz(rd_ctx *ctx, rd_results results)
{
    rd_text      text = { 0 };
    rd_node_list list = { 0 };
    const char  *kept = NULL;

    if (!ctx || !rd_list_ok(ctx, "rd_graphviz", "results", results.at, results.n, /*least=*/0))
        return NULL;
    for (int32_t i = 0; i < results.n; i++)
        if (!results.at[i].expr ||
            !rd_is_here(ctx, "rd_graphviz", "result", (int)i, results.at[i].expr))
            return NULL;
        else if (results.at[i].expr->ctx != ctx)
            return rd_fail(ctx, RD_ERR_ARGUMENT,
                           "rd_graphviz: result %d belongs to another context", (int)i);
    if (rd_list_nodes(ctx, results, &list)) {
        add_graph(&text, results, &list);
        kept = text.failed ? rd_fail(ctx, RD_ERR_MEMORY, "rd_graphviz: no memory for the text")
                           : rd_arena_text(ctx, text.at);
    }
    rd_text_free(&text);
    rd_free_nodes(ctx, &list);
    return kept;
}
