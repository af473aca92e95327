/* leaf_names.c - labels and paths of leaves, for dumps. */
#include "expr/ctx.h"

/* Gives a leaf a label, or (label NULL) the path of its file, for dumps.  Names form a list of the
 * context, newest first, and are no facts of the node, so leaves of the same memory stay one node.
 * NULL: no memory, which is recorded. */
rd_expr *rd_leaf_labelled(rd_expr *leaf, const char *label, const char *path)
{
    rd_leaf_name *named = leaf ? rd_arena(leaf->ctx, sizeof *named) : NULL;
    const char   *text  = named ? rd_arena_text(leaf->ctx, label ? label : path) : NULL;

    if (!text)
        return NULL;
    *named           = (rd_leaf_name){ .older = leaf->ctx->named,
                                       .leaf  = leaf,
                                       .label = label ? text : NULL,
                                       .path  = label ? NULL : text };
    leaf->ctx->named = named;
    return leaf;
}

/* The label that the leaf was given last; NULL: none. */
const char *rd_leaf_label(const rd_expr *leaf)
{
    for (const rd_leaf_name *named = leaf->ctx->named; named; named = named->older)
        if (named->leaf == leaf && named->label)
            return named->label;
    return NULL;
}

/* The path of the file that the leaf was loaded from; NULL: none is known. */
const char *rd_leaf_path(const rd_expr *leaf)
{
    for (const rd_leaf_name *named = leaf->ctx->named; named; named = named->older)
        if (named->leaf == leaf && named->path)
            return named->path;
    return NULL;
}
