/* leaf.c - leaves of expressions: caller memory, and named inputs.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/complex.h"
#include "expr/ctx.h"
#include "expr/plain.h"
#include <string.h>

/* Makes the leaf of an array whose axes begin at 0.  A complex array becomes a leaf of real numbers
 * with one more axis of 2, and two views of it. */
static rd_expr *leaf_from_0(rd_ctx *ctx, const rd_array *array, const char *call)
{
    rd_array parts;

    if (!array || !rd_dtype_is_complex(array->type))
        return rd_plain_leaf(ctx, array, call);
    return rd_complex_array(ctx, array, call, &parts) && rd_array_readable(ctx, array, call)
               ? rd_complex_leaf(rd_plain_leaf(ctx, &parts, call), call)
               : NULL;
}

/* Applies the array's origins (first indices of its axes) as a view of the leaf, so that arrays
 * that differ only in origins share a leaf. */
static rd_expr *with_origin(rd_expr *leaf, const rd_array *array)
{
    return leaf && array->origin.n ? rd_with_origins(leaf, array->origin.at) : leaf;
}

/* Makes the leaf of an array in memory, with its origins; failures name `call`. */
rd_expr *rd_leaf_of(rd_ctx *ctx, const rd_array *array, const char *call)
{
    return with_origin(leaf_from_0(ctx, array, call), array);
}

/* Makes the leaf of an array in memory: the public call. */
rd_expr *rd_leaf(rd_ctx *ctx, const rd_array *array)
{
    return ctx ? rd_leaf_of(ctx, array, "rd_leaf") : NULL;
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* Gives a leaf in memory a name for dumps.  Returns the operand, or NULL after recording a failure.
 * If the array is complex, the leaf of its parts gets the name. */
rd_expr *rd_label(rd_expr *leaf, const char *name)
{
    rd_expr *const given = leaf;

    if (!rd_operands("rd_label", 1, &leaf))
        return NULL;
    leaf = rd_leaf_below(leaf);
    if (!name || !*name)
        return rd_fail(leaf->ctx, RD_ERR_ARGUMENT, "rd_label: the name is %s",
                       name ? "empty" : "NULL");
    if (leaf->kind != RD_EXPR_LEAF || leaf->as.leaf->name)
        return rd_fail(leaf->ctx, RD_ERR_ARGUMENT, "rd_label: \"%.64s\" is for %s, not for memory",
                       name,
                       leaf->kind == RD_EXPR_LEAF ? "an rd_input(), which has a name"
                                                  : rd_expr_kind_name(leaf->kind));
    return rd_leaf_labelled(leaf, name, /*path=*/NULL) ? given : NULL;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */
/* True if an input has the type, shape, strides and device of a layout. */
static bool has_layout(const rd_expr *leaf, const rd_array *layout, const rd_leaf_facts *facts)
{
    const size_t extents = (size_t)leaf->rank * sizeof *leaf->extent;

    return leaf->type == layout->type && leaf->rank == layout->shape.n &&
           leaf->device == layout->device && memcmp(leaf->extent, layout->shape.at, extents) == 0 &&
           memcmp(leaf->as.leaf->stride, facts->stride, sizeof facts->stride) == 0;
}

/* Records that an input of this name exists with another type, shape, strides or device; returns
 * NULL. */
static rd_expr *fail_layout(const rd_expr *leaf, const rd_array *layout, const rd_leaf_facts *facts)
{
    char text[4][RD_SHAPE_TEXT];

    if (leaf->device != layout->device)
        return rd_fail(leaf->ctx, RD_ERR_ARGUMENT,
                       "rd_input: \"%.64s\" is of device %d already; now it shall be of %d",
                       facts->name, (int)leaf->device, (int)layout->device);
    return rd_fail(
        leaf->ctx, RD_ERR_ARGUMENT,
        "rd_input: \"%.64s\" is %s, shape %s, strides %s already; now it shall be %s, shape %s, "
        "strides %s",
        facts->name, rd_dtype_name(leaf->type), rd_shape_text(leaf->rank, leaf->extent, text[0]),
        rd_shape_text(leaf->rank, leaf->as.leaf->stride, text[1]), rd_dtype_name(layout->type),
        rd_shape_text(layout->shape.n, layout->shape.at, text[2]),
        rd_shape_text(layout->shape.n, facts->stride, text[3]));
}

/* Adds the first input of a name to the context's list; later ones of this name are compared with
 * its layout.  NULL: no memory. */
static rd_expr *list_input(rd_ctx *ctx, rd_expr *leaf)
{
    rd_leaf_name *named = leaf ? rd_arena(ctx, sizeof *named) : NULL;

    if (!named)
        return NULL;
    *named     = (rd_leaf_name){ .older = ctx->named, .leaf = leaf };
    ctx->named = named;
    return leaf;
}

/* Makes an input with axes that begin at 0, or finds the one of that name and compares layouts.  A
 * complex input is an input of real numbers with one more axis of 2. */
static rd_expr *input_from_0(rd_ctx *ctx, const char *name, const rd_array *layout)
{
    rd_leaf_facts facts;
    rd_array      no_data;

    if (!ctx)
        return NULL;
    if (!name || !*name)
        return rd_fail(ctx, RD_ERR_ARGUMENT, "rd_input: the name is %s", name ? "empty" : "NULL");
    if (layout) {
        no_data    = *layout;
        no_data.in = NULL; /* rd_input() ignores the pointer: data come with each evaluation */
    }
    if (layout && rd_dtype_is_complex(layout->type))
        return rd_complex_array(ctx, &no_data, "rd_input", &no_data)
                   ? rd_complex_leaf(input_from_0(ctx, name, &no_data), "rd_input")
                   : NULL;
    if (!rd_leaf_facts_of(ctx, layout ? &no_data : NULL, "rd_input", &facts) || !layout)
        return NULL;
    facts.name = rd_intern(ctx, name, strlen(name) + 1);
    if (!facts.name)
        return NULL;
    for (const rd_leaf_name *named = ctx->named; named; named = named->older)
        if (named->leaf->as.leaf->name == facts.name)
            return has_layout(named->leaf, layout, &facts)
                       ? named->leaf
                       : fail_layout(named->leaf, layout, &facts);
    return list_input(ctx, rd_leaf_node(ctx, layout, &facts));
}

/* Makes a named input, for which each evaluation brings the data: the public call. */
rd_expr *rd_input(rd_ctx *ctx, const char *name, const rd_array *layout)
{
    return with_origin(input_from_0(ctx, name, layout), layout);
}
