/* leaf.c - where expressions begin: caller memory, named inputs, numbers, coordinates. */
#include "expr/complex.h"
#include "expr/ctx.h"
#include "expr/origin.h"
#include <string.h>

static bool check_descriptor(rd_ctx *ctx, const rd_array *array, const char *call,
                             rd_leaf_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    if (!array) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the array is NULL", call);
        return false;
    }
    facts->device = array->device;
    return rd_array_layout(ctx, array, call, facts->stride);
}

static rd_expr *leaf_node(rd_ctx *ctx, const rd_array *array, const rd_leaf_facts *facts)
{
    return rd_node(&(rd_expr){ .ctx    = ctx,
                               .kind   = RD_EXPR_LEAF,
                               .type   = array->type,
                               .rank   = array->shape.n,
                               .device = array->device,
                               .extent = array->shape.at },
                   facts, sizeof *facts);
}

static rd_expr *leaf_from_0(rd_ctx *ctx, const rd_array *array, const char *call)
{
    static const max_align_t nowhere; /* not NULL, which means an input */
    rd_leaf_facts            facts;
    rd_array                 parts;

    if (array && rd_dtype_is_complex(array->type))
        return rd_complex_array(ctx, array, call, &parts) && rd_array_readable(ctx, array, call)
                   ? rd_complex_leaf(rd_leaf_of(ctx, &parts, call), call)
                   : NULL;
    if (!check_descriptor(ctx, array, call, &facts) || !rd_array_readable(ctx, array, call))
        return NULL;
    facts.data = rd_points(array->shape.n, array->shape.at) == 0 ? &nowhere : array->in;
    return leaf_node(ctx, array, &facts);
}

rd_expr *rd_indices_below(rd_expr *leaf, int64_t below)
{
    rd_leaf_facts facts = *leaf->as.leaf;

    if (facts.below)
        return leaf;
    facts.below         = below;
    rd_expr *const made = rd_node(&(rd_expr){ .ctx    = leaf->ctx,
                                              .kind   = RD_EXPR_LEAF,
                                              .type   = leaf->type,
                                              .rank   = leaf->rank,
                                              .device = leaf->device,
                                              .extent = leaf->extent },
                                  &facts, sizeof facts);
    if (made) {
        made->ascends = leaf->ascends;
        made->pieces  = leaf->pieces;
    }
    return made;
}

/* A view of a leaf: which indices people count by makes no other leaf. */
static rd_expr *with_origin(rd_expr *leaf, const rd_array *array)
{
    return leaf && array->origin.n ? rd_with_origins(leaf, array->origin.at) : leaf;
}

rd_expr *rd_leaf_of(rd_ctx *ctx, const rd_array *array, const char *call)
{
    return with_origin(leaf_from_0(ctx, array, call), array);
}

rd_expr *rd_leaf(rd_ctx *ctx, const rd_array *array)
{
    return ctx ? rd_leaf_of(ctx, array, "rd_leaf") : NULL;
}

/* ---- Labels ---------------------------------------------------------------------------------- */
/* No fact of the node: leaves of the same memory stay one. */
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

const char *rd_leaf_label(const rd_expr *leaf)
{
    for (const rd_leaf_name *named = leaf->ctx->named; named; named = named->older)
        if (named->leaf == leaf && named->label)
            return named->label;
    return NULL;
}

const char *rd_leaf_path(const rd_expr *leaf)
{
    for (const rd_leaf_name *named = leaf->ctx->named; named; named = named->older)
        if (named->leaf == leaf && named->path)
            return named->path;
    return NULL;
}

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
    return rd_leaf_labelled(leaf, name, NULL) ? given : NULL;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */
static bool same_layout(const rd_expr *leaf, const rd_array *layout, const rd_leaf_facts *facts)
{
    const size_t extents = (size_t)leaf->rank * sizeof *leaf->extent;

    return leaf->type == layout->type && leaf->rank == layout->shape.n &&
           leaf->device == layout->device && memcmp(leaf->extent, layout->shape.at, extents) == 0 &&
           memcmp(leaf->as.leaf->stride, facts->stride, sizeof facts->stride) == 0;
}

static rd_expr *other_layout(const rd_expr *leaf, const rd_array *layout,
                             const rd_leaf_facts *facts)
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

/* The first of a name is listed, so that the next one is compared with it. */
static rd_expr *list_input(rd_ctx *ctx, rd_expr *leaf)
{
    rd_leaf_name *named = leaf ? rd_arena(ctx, sizeof *named) : NULL;

    if (!named)
        return NULL;
    *named     = (rd_leaf_name){ .older = ctx->named, .leaf = leaf };
    ctx->named = named;
    return leaf;
}

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
        no_data.in = NULL; /* the pointer comes later: this one, if any, is not looked at */
    }
    if (layout && rd_dtype_is_complex(layout->type))
        return rd_complex_array(ctx, &no_data, "rd_input", &no_data)
                   ? rd_complex_leaf(input_from_0(ctx, name, &no_data), "rd_input")
                   : NULL;
    if (!check_descriptor(ctx, layout ? &no_data : NULL, "rd_input", &facts))
        return NULL;
    facts.name = rd_intern(ctx, name, strlen(name) + 1);
    if (!facts.name)
        return NULL;
    for (const rd_leaf_name *named = ctx->named; named; named = named->older)
        if (named->leaf->as.leaf->name == facts.name)
            return same_layout(named->leaf, layout, &facts)
                       ? named->leaf
                       : other_layout(named->leaf, layout, &facts);
    return list_input(ctx, leaf_node(ctx, layout, &facts));
}

rd_expr *rd_input(rd_ctx *ctx, const char *name, const rd_array *layout)
{
    return with_origin(input_from_0(ctx, name, layout), layout);
}

/* ---- Numbers and coordinates ----------------------------------------------------------------- */
static rd_expr *number_node(rd_ctx *ctx, rd_dtype type, bool weak, rd_word value)
{
    rd_number_facts facts = { .value = { .u64 = 0 } };

    /* An f32 leaves half of the word as it was: only the member that counts is taken. */
    if (rd_dtype_class(type) == RD_CLASS_f32)
        facts.value.f32 = value.f32;
    else
        facts.value = value;
    return rd_node(&(rd_expr){ .ctx = ctx, .kind = RD_EXPR_NUMBER, .type = type, .weak = weak },
                   &facts, sizeof facts);
}

rd_expr *rd_number(rd_ctx *ctx, rd_dtype type, rd_word value)
{
    return number_node(ctx, type, false, value);
}

rd_expr *rd_num(rd_ctx *ctx, double value)
{
    return ctx ? number_node(ctx, RD_F64, true, (rd_word){ .f64 = value }) : NULL;
}

rd_expr *rd_int(rd_ctx *ctx, int64_t value)
{
    return ctx ? number_node(ctx, RD_I64, true, (rd_word){ .i64 = value }) : NULL;
}

rd_expr *rd_places(rd_expr *x, int axis)
{
    int64_t       extent[RD_MAX_RANK], origin[RD_MAX_RANK] = { 0 };
    rd_axis_facts facts = { 0 };
    int           found;

    if (!rd_operands("rd_coord", 1, &x) || (found = rd_axis(x, axis, "rd_coord")) < 0)
        return NULL;
    for (int a = 0; a < x->rank; a++)
        extent[a] = a == found ? x->extent[a] : 1;
    facts.axis    = found;
    origin[found] = rd_origin(x, found);
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_COORD,
                               .type   = RD_I64,
                               .rank   = x->rank,
                               .extent = extent,
                               .origin = origin[found] ? origin : NULL },
                   &facts, sizeof facts);
}

/* ---- What a node is -------------------------------------------------------------------------- */
rd_shape rd_shape_of(const rd_expr *x)
{
    rd_shape shape = { .n = x ? x->rank : -1 };

    if (x)
        memcpy(shape.at, x->extent, (size_t)x->rank * sizeof *x->extent);
    return shape;
}

rd_dtype rd_type_of(const rd_expr *x)
{
    return x ? x->type : RD_AUTO;
}
