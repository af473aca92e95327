/* check.c - what must hold between stages; debug builds ask after each. */
#include "eval/ir.h"

static bool operands_first(const rd_graph *g, int i)
{
    const rd_value *v = &g->value[i];

    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= i)
            return false;
    for (int d = 0; d < v->n_at && v->into < 0; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0 && v->at[d].term[t].value >= i)
                return false;
    return v->target < i;
}

const char *rd_check_graph(const rd_graph *g)
{
    for (int i = 0; i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        if (!operands_first(g, i))
            return "a value comes before one it needs";
        if (v->kind == RD_VALUE_REDUCE && (v->axes & v->reduced))
            return "a reduction keeps an axis that it reduces";
        if (v->combine && v->combine->first_lane > v->combine->n_order)
            return "a fold's lanes start after its last axis";
        if (v->kind == RD_VALUE_READ && (v->slot >= 0) == (v->target >= 0))
            return "a read of neither a leaf nor a value, or of both";
        if (v->slot >= g->n_slot)
            return "a slot that is not there";
        if (v->inner >= 0 && !rd_in(v->axes, v->inner))
            return "a reducer's results lie along an axis it does not have";
    }
    return NULL;
}

typedef struct walk {
    const rd_tree *tree;
    int            seen;
    const char    *wrong;
} walk;

static void check_scope(walk *w, const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item && !w->wrong; item = item->next) {
        if (item->loop) {
            if (item->loop->parent != scope)
                w->wrong = "a loop with the wrong parent";
            check_scope(w, item->loop);
            continue;
        }
        w->seen++;
        if (rd_space(&w->tree->graph->value[item->value]) & ~scope->open)
            w->wrong = "a value stands outside a loop it needs";
        else if (w->tree->home[item->value].where != scope)
            w->wrong = "a value's place is not where it stands";
    }
}

const char *rd_check_tree(const rd_tree *tree)
{
    walk w = { .tree = tree };

    check_scope(&w, tree->root);
    if (!w.wrong && w.seen != tree->n_anchor)
        return "a kept value is missing, or stands twice";
    return w.wrong;
}
