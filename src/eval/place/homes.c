/* homes.c - where each kept value lives, from where it is computed and read: the innermost scope
 * around both.  What it stores are those of its axes that have no single index there: none is a
 * register, some are a scratch row or tile, and at the root all of them, an array between
 * stages. */
#include "eval/ir.h"

static void find_places(rd_tree *tree, rd_scope *scope)
{
    for (rd_item *item = scope->first; item; item = item->next)
        if (item->loop) {
            item->loop->parent = scope;
            item->loop->open   = scope->open;
            item->loop->ranged = scope->ranged;
            if (item->loop->tile)
                item->loop->ranged |= rd_bit(item->loop->axis);
            else
                item->loop->open |= rd_bit(item->loop->axis);
            find_places(tree, item->loop);
        } else
            tree->home[item->value].where = scope;
}

static int depth(const rd_scope *scope)
{
    int n = 0;

    for (; scope->parent; scope = scope->parent)
        n++;
    return n;
}

static rd_scope *common(rd_scope *a, rd_scope *b)
{
    int p = depth(a), q = depth(b);

    for (; p > q; p--)
        a = a->parent;
    for (; q > p; q--)
        b = b->parent;
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return a;
}

/* The outermost loop a reduction closes with. */
static rd_scope *closing_loop(const rd_value *v, rd_scope *where)
{
    rd_scope *close = NULL;

    for (rd_scope *s = where; v->kind == RD_VALUE_REDUCE && s->parent; s = s->parent)
        if (rd_in(v->reduced, s->axis))
            close = s;
    return close;
}

static rd_keep kind_of_home(const rd_value *v, const rd_home *h)
{
    if (v->out >= 0)
        return RD_KEEP_OUTPUT;
    if (!h->home->parent || v->kind == RD_VALUE_JOIN)
        return RD_KEEP_ARRAY;
    return h->stored || v->row ? RD_KEEP_SCRATCH : RD_KEEP_REGISTER;
}

bool rd_settle_homes(rd_tree *tree)
{
    const rd_graph *g = tree->graph;

    if (!tree->home &&
        !(tree->home = rd_pool_get(g->pool, (size_t)(g->n_value + 1) * sizeof *tree->home)))
        return false;
    for (int i = 0; i < g->n_value; i++)
        tree->home[i] = (rd_home){ .keep = RD_KEEP_INLINE };
    find_places(tree, tree->root);
    for (int a = 0; a < tree->n_anchor; a++) {
        int      v = tree->anchor[a].value;
        rd_home *h = &tree->home[v];

        h->close = closing_loop(&g->value[v], h->where);
        h->home  = h->close ? h->close->parent : h->where;
    }
    for (int a = 0; a < tree->n_anchor; a++)
        for (int u = 0; u < tree->anchor[a].n_use; u++) {
            rd_home *h = &tree->home[tree->anchor[a].use[u].value];

            if (h->home)
                h->home = common(h->home, tree->home[tree->anchor[a].value].where);
        }
    for (int a = 0; a < tree->n_anchor; a++) {
        const rd_value *v = &g->value[tree->anchor[a].value];
        rd_home        *h = &tree->home[tree->anchor[a].value];

        if (v->out >= 0 || v->into >= 0)
            h->home = tree->root;
        h->stored = v->axes & ~h->home->open;
        h->keep   = kind_of_home(v, h);
    }
    return true;
}
