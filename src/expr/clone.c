/* clone.c - copies an expression into another context: each node once, operands first.  A caller
 * that keeps few of many expressions clones those and releases all.
 *
 * Facts of nodes are copied as bytes, except addresses of interned texts and of reducers, which
 * are made again.  Elements of leaves are not copied; those of sparse patterns stay in the arena
 * of the other context, too. */
#include "expr/ctx.h"
#include "expr/nodes.h"
#include "expr/reduce.h"
#include "expr/sparse.h"
#include <stdlib.h>
#include <string.h>

/* ---- Facts that hold addresses --------------------------------------------------------------- */
/* Replaces *text by its copy in another context, the one address of equal texts there; NULL stays
 * NULL.  False: no memory. */
static bool intern_text(rd_ctx *ctx, const char **text)
{
    return !*text || (*text = rd_intern(ctx, *text, strlen(*text) + 1)) != NULL;
}

/* Makes a CALL node (a user's C function) in node->ctx with the facts `of` another context's node:
 * their texts are copied to that context. */
static rd_expr *clone_call(const rd_expr *node, const rd_call_facts *of)
{
    rd_call_facts facts = *of;

    return intern_text(node->ctx, &facts.name) && intern_text(node->ctx, &facts.names) &&
                   intern_text(node->ctx, &facts.body)
               ? rd_node(node, &facts, sizeof facts)
               : NULL;
}

/* Makes a reduction or scan in node->ctx; a user's reducer is copied to that context. */
static rd_expr *clone_fold(const rd_expr *node, const rd_fold_facts *of)
{
    rd_fold_facts facts = *of;

    if (facts.user && !(facts.user = rd_own_reducer(node->ctx, facts.user)))
        return NULL;
    return rd_node(node, &facts, sizeof facts);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */
/* Declares an input again in another context, with the same name, type, shape and strides. */
static rd_expr *clone_input(rd_ctx *ctx, const rd_expr *x)
{
    rd_array layout = { .type = x->type, .device = x->device };

    layout.shape     = rd_shape_of(x);
    layout.strides.n = x->rank;
    memcpy(layout.strides.at, x->as.leaf->stride, (size_t)x->rank * sizeof *layout.strides.at);
    return rd_input(ctx, x->as.leaf->name, &layout);
}

static rd_expr *clone_leaf(rd_ctx *ctx, const rd_expr *x);

/* Clones, for the leaf `made`, the pieces into which long rows of a sparse pattern are cut for
 * threads: two leaves in its context.  False: no memory. */
static bool clone_pieces(rd_expr *made, const rd_row_pieces *of)
{
    rd_row_pieces *const p = rd_arena_room(made->ctx, sizeof *p);

    if (!p || !(p->label = clone_leaf(made->ctx, of->label)) ||
        !(p->row = clone_leaf(made->ctx, of->row)))
        return false;
    made->pieces = p;
    return true;
}

/* Clones a leaf, with the pieces of a sparse pattern's row, label and path.  A leaf with a name is
 * an input and is declared again.  Its elements are not copied. */
static rd_expr *clone_leaf(rd_ctx *ctx, const rd_expr *x)
{
    const char *const label = rd_leaf_label(x), *const path = rd_leaf_path(x);
    rd_expr node = *x, *made;

    if (x->as.leaf->name)
        return clone_input(ctx, x);
    node.ctx    = ctx;
    node.pieces = NULL;
    made        = rd_node(&node, x->as.leaf, sizeof *x->as.leaf);
    if (!made || (x->pieces && !made->pieces && !clone_pieces(made, x->pieces)))
        return NULL;
    return (label || path) && !rd_leaf_label(made) && !rd_leaf_path(made)
               ? rd_leaf_labelled(made, label, path)
               : made;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Makes a view again.  If its operand was replaced by a view, the two are composed, as a view of a
 * view is one view. */
static rd_expr *clone_view(const rd_expr *node, const rd_expr *of)
{
    rd_expr *const x = node->in[0];

    return x && x->kind == RD_EXPR_VIEW
               ? rd_view(x, of->rank, of->extent, of->as.view->number, of->origin)
               : rd_node(node, of->as.any, of->as_size);
}

/* Clones one node into ctx; `in` are the operands there.  Kinds with addresses among their facts
 * (the bytes that describe a node) have functions of their own. */
static rd_expr *clone_node(rd_ctx *ctx, const rd_expr *x, rd_expr *const *in)
{
    rd_expr node = *x;

    node.ctx   = ctx;
    node.in    = in;
    node.lists = NULL; /* of a LATER: shared below */
    switch (x->kind) {
    case RD_EXPR_LEAF: return clone_leaf(ctx, x);
    case RD_EXPR_CALL: return clone_call(&node, x->as.call);
    case RD_EXPR_REDUCE:
    case RD_EXPR_SCAN: return clone_fold(&node, x->as.fold);
    case RD_EXPR_LATER: return rd_clone_later(&node, x);
    case RD_EXPR_VIEW: return clone_view(&node, x);
    default: return rd_node(&node, x->as.any, x->as_size);
    }
}

/* Orders nodes by serial number (operands before readers), for qsort() and bsearch(). */
static int compare_serials(const void *a, const void *b)
{
    const uint32_t p = (*(rd_expr *const *)a)->serial, q = (*(rd_expr *const *)b)->serial;

    return (p > q) - (p < q);
}

/* The index of a node in the list, which is sorted by serial number; the node is in it. */
static int64_t index_in_list(const rd_node_list *list, const rd_expr *x)
{
    rd_expr *const *found =
        bsearch(&x, list->at, (size_t)list->n, sizeof *list->at, compare_serials);

    return found - list->at;
}

/* Returns what replaces node x: a node of ctx that the caller gives, or the clone of a node below
 * x, from made[].  NULL: nothing does. */
static rd_expr *replaced(rd_ctx *ctx, const rd_node_list *list, rd_expr *const *made,
                         const rd_expr *x, int n, const rd_replacement *with)
{
    for (int k = 0; k < n; k++)
        if (with[k].from == x)
            return with[k].to->ctx == ctx ? with[k].to : made[index_in_list(list, with[k].to)];
    return NULL;
}

/* Clones all nodes of the list in the order in which they were made, operands before readers, to
 * made[].  `in` is room for the operands of one node.  Returns the clone of the last one, the root;
 * NULL after a failure. */
static rd_expr *clone_nodes(rd_ctx *ctx, rd_node_list *list, rd_expr **made, rd_expr **in, int n,
                            const rd_replacement *with)
{
    qsort(list->at, (size_t)list->n, sizeof *list->at, compare_serials);
    for (int64_t i = 0; i < list->n; i++) {
        const rd_expr *x = list->at[i];

        if ((made[i] = replaced(ctx, list, made, x, n, with)))
            continue;
        for (int k = 0; k < x->n_in; k++)
            in[k] = x->in[k] ? made[index_in_list(list, x->in[k])] : NULL;
        if (!(made[i] = clone_node(ctx, x, in)))
            return NULL;
    }
    return made[list->n - 1];
}

/* The most operands that one node of the list has. */
static int64_t most_operands(const rd_node_list *list)
{
    int64_t most = 0;

    for (int64_t i = 0; i < list->n; i++)
        most = list->at[i]->n_in > most ? list->at[i]->n_in : most;
    return most;
}

/* Copies x with all nodes below it into another context, each once. n of them are replaced:
 * with[k].from by with[k].to.  NULL after recording a failure. */
rd_expr *rd_clone_with(rd_ctx *ctx, rd_expr *x, int n, const rd_replacement *with)
{
    rd_node_list list = { 0 };
    rd_expr     *y    = NULL;

    if (!ctx || !x || rd_error(ctx) != RD_OK || !rd_is_here(ctx, "rd_clone", "operand", 0, x))
        return NULL;
    if (rd_list_nodes(ctx, (rd_results){ &(rd_result){ x, NULL }, 1 }, &list)) {
        rd_expr **room =
            rd_alloc(ctx, (list.n + most_operands(&list)) * (int64_t)sizeof(rd_expr *));

        y = room ? clone_nodes(ctx, &list, room, room + list.n, n, with) : NULL;
        rd_free(ctx, room);
    }
    rd_free_nodes(ctx, &list);
    return y;
}

/* Copies x into another context.  Returns x if it is there already.  NULL after recording a
 * failure. */
rd_expr *rd_clone(rd_ctx *ctx, rd_expr *x)
{
    return ctx && x && rd_error(ctx) == RD_OK && x->id && x->ctx == ctx
               ? x
               : rd_clone_with(ctx, x, /*n=*/0, /*with=*/NULL);
}
