/* graph_values.c - creates values of the graph, and slots of the memory that they read. */
#include "eval/collect/collect.h"

/* Appends a value without operands to the graph, with -1 for all that it does not have: slot,
 * target and so on.  Returns its number; -1 without memory. */
int rd_value_new(rd_collector *c, rd_value_kind kind, rd_dtype type, const rd_expr *expr)
{
    rd_graph *g = c->graph;

    if (g->n_value == c->room_value) {
        int32_t   room = c->room_value ? 2 * c->room_value : 16;
        rd_value *more =
            rd_pool_grow(c->pool, g->value, (size_t)g->n_value, (size_t)room, sizeof *more);

        if (!more)
            return -1;
        g->value      = more;
        c->room_value = room;
    }
    g->value[g->n_value] = (rd_value){ .kind   = kind,
                                       .type   = type,
                                       .expr   = expr,
                                       .slot   = -1,
                                       .target = -1,
                                       .inner  = -1,
                                       .group  = -1,
                                       .into   = -1,
                                       .out    = -1 };
    return g->n_value++;
}

/* True for two constants of one type and value. They share a slot, so that what is computed from
 * them is found to be the same. */
static bool is_equal_number(const rd_expr *a, const rd_expr *b)
{
    return a && a->kind == RD_EXPR_NUMBER && b->kind == RD_EXPR_NUMBER && a->type == b->type &&
           a->as.number->value.u64 == b->as.number->value.u64;
}

/* Finds or makes the slot (memory that programs address) of a leaf, or of an expression whose
 * value is in memory in C order; -1: no memory. Its elements are at [lo, hi) around the base
 * address: a negative stride puts some below it. Equal numbers share a slot. c->room_slot is how
 * many g->slot can hold. `reach` is how far the last index along axis a lies from the first one,
 * in elements. */
int rd_leaf_slot(rd_collector *c, const rd_expr *leaf)
{
    const bool is_leaf = leaf->kind == RD_EXPR_LEAF; /* else it is given in memory */
    rd_graph  *g       = c->graph;
    rd_slot   *s;

    for (int i = 0; i < g->n_slot; i++)
        if (g->slot[i].expr == leaf || is_equal_number(g->slot[i].expr, leaf))
            return i;
    if (g->n_slot == c->room_slot) {
        int32_t room = c->room_slot ? 2 * c->room_slot : 16;

        s = rd_pool_grow(c->pool, g->slot, (size_t)g->n_slot, (size_t)room, sizeof *s);
        if (!s)
            return -1;
        g->slot      = s;
        c->room_slot = room;
    }
    s  = &g->slot[g->n_slot];
    *s = (rd_slot){ .kind   = is_leaf && leaf->as.leaf->name ? RD_SLOT_INPUT : RD_SLOT_LEAF,
                    .type   = leaf->type,
                    .data   = is_leaf ? leaf->as.leaf->data : NULL,
                    .name   = is_leaf ? leaf->as.leaf->name : NULL,
                    .result = -1,
                    .expr   = leaf };
    for (int a = 0; a < leaf->rank && is_leaf; a++) {
        int64_t reach = (leaf->extent[a] - 1) * leaf->as.leaf->stride[a];

        *(reach < 0 ? &s->lo : &s->hi) += reach;
    }
    s->hi += is_leaf ? 1 : rd_points(leaf->rank, leaf->extent);
    return g->n_slot++;
}
