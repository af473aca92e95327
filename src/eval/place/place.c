/* place.c - which values share which loops.
 *
 * Kept values (anchors) are put into loops greedily: of all axes, the one whose loop saves most
 * when shared is opened, with every anchor that may join it inside; what reads a value complete
 * only at the end of a loop comes in a later loop over the same axis, a phase.  docs/design.md has
 * the rules in words; cost.c the prices. */
#include "eval/place/place.h"
#include "eval/dump.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct state {
    rd_placing *p;
    rd_tree    *tree;
    bool       *waiting; /* per anchor: not yet emitted anywhere       */
    bool       *refused; /* while a group grows: it would lose a reader by which it gains more */
    double     *gained;  /* by joining it */
} state;

static rd_value *value_of(const rd_placing *p, int anchor)
{
    return &p->graph->value[p->list[anchor].value];
}

static rd_item *append(state *s, rd_scope *scope, int value, rd_scope *loop)
{
    rd_item *item = rd_pool_get(s->p->graph->pool, sizeof *item), **end = &scope->first;

    if (!item)
        return NULL;
    item->value = value;
    item->loop  = loop;
    while (*end)
        end = &(*end)->next;
    return *end = item;
}

/* ---- May an anchor join a loop? -------------------------------------------------------------- */
/* Reduced axes are looped over in the order of the combine tree. */
static bool order_allows(const rd_value *v, rd_set open, int x)
{
    if (!v->combine || !rd_in(v->reduced, x))
        return true;
    for (int k = 0; k < v->combine->n_order && v->combine->order[k] != x; k++)
        if (!rd_in(open, v->combine->order[k]))
            return false;
    return true;
}

/* +1: needs x upwards, -1: downwards, 0: any way. */
static int direction(const rd_value *v, int x)
{
    if (!v->combine || !rd_in(v->reduced, x))
        return 0;
    return v->kind == RD_VALUE_SCAN && v->expr->as.fold->reverse ? -1 : 1;
}

static bool may_share(const state *s, int n, const int32_t *group, int a, rd_set open, int x)
{
    const rd_placing *p = s->p;
    const rd_value   *v = value_of(p, a);

    if (!rd_in(rd_space(v), x) || !order_allows(v, open, x))
        return false;
    for (int i = 0; i < n; i++)
        if (direction(v, x) * direction(value_of(p, group[i]), x) < 0 || v->apart ||
            value_of(p, group[i])->apart)
            return false;
    for (int u = 0; u < p->list[a].n_use; u++) {
        const rd_use   *use    = &p->list[a].use[u];
        const rd_value *m      = &p->graph->value[use->value];
        int             number = p->number[use->value], at = -1;

        if (number < 0 || !s->waiting[number])
            continue;
        for (int i = 0; i < n; i++)
            if (group[i] == number)
                at = i;
        /* a reduction over x has no axis x */
        if (at < 0 || !rd_in(rd_space(m) & m->axes & use->same, x))
            return false;
    }
    return true;
}

static void note_refusal(state *s, int a, int first, int x, bool too_much)
{
    char            line[160], one[RD_NAME_TEXT], other[RD_NAME_TEXT];
    const rd_graph *g = s->p->graph;

    snprintf(line, sizeof line, "%s not in the %s loop of %s: %s\n",
             rd_anchor_name(g, s->p->number, s->p->list[a].value, one), g->axis[x].name,
             rd_anchor_name(g, s->p->number, s->p->list[first].value, other),
             too_much ? "one iteration would hold more than L2" : "dearer than apart");
    if (!s->p->why.at || !strstr(s->p->why.at, line))
        rd_text_add(&s->p->why, "%s", line);
}

/* The anchors that would share a loop over x, operands first, and what sharing saves. */
static int grow_once(state *s, int n_wait, const int32_t *wait, rd_set open, int x, int32_t *group,
                     double *gain, bool say)
{
    rd_set shared   = open | rd_bit(x);
    double together = 0, apart = 0;
    int    n = 0;

    for (int i = 0; i < n_wait; i++) {
        double alone, joined;

        if (!rd_goes_on(s->p->graph->ctx))
            return 0;
        if (s->refused[wait[i]] || !may_share(s, n, group, wait[i], open, x))
            continue;
        alone    = rd_group_cost(s->p, 1, &wait[i], shared, x);
        group[n] = wait[i];
        joined   = rd_group_cost(s->p, n + 1, group, shared, x);
        if (n == 0 || joined <= together + alone) {
            n++;
            s->gained[wait[i]] = together + alone - joined;
            together           = joined;
            apart += alone;
        } else if (say)
            note_refusal(s, wait[i], group[0], x, isinf(joined));
    }
    *gain = apart - together;
    return n;
}

static bool reads(const rd_placing *p, int reader, int a)
{
    for (int u = 0; u < p->list[reader].n_use; u++)
        if (p->list[reader].use[u].value == p->list[a].value)
            return true;
    return false;
}

/* What a value and its reader save by sharing a loop over another axis. */
static double gain_elsewhere(state *s, int a, int reader, rd_set open, int x)
{
    const rd_set  axes    = rd_space(value_of(s->p, a)) & rd_space(value_of(s->p, reader)) & ~open;
    const int32_t both[2] = { a, reader };
    double        best    = 0;

    for (int y = 0; y < s->p->graph->n_axis; y++) {
        const rd_set shared = open | rd_bit(y);
        double       gain;

        if (y == x || !rd_in(axes, y) || !order_allows(value_of(s->p, a), open, y) ||
            !may_share(s, 1, both, reader, open, y))
            continue;
        gain = rd_group_cost(s->p, 1, both, shared, y) +
               rd_group_cost(s->p, 1, both + 1, shared, y) -
               rd_group_cost(s->p, 2, both, shared, y);
        best = gain > best ? gain : best;
    }
    return best;
}

/* A member of the group that loses a reader by it: the reader stays out, and they would save more
 * together.  So the distance of a pair stays with the sum over pairs, and not with what one of the
 * points is made of; -1: none. */
static int misplaced(state *s, int n_wait, const int32_t *wait, int n, const int32_t *group,
                     rd_set open, int x)
{
    for (int i = 0; i < n_wait && n > 1; i++) {
        bool joins = false;

        for (int k = 0; k < n; k++)
            joins |= group[k] == wait[i];
        for (int k = 1; k < n && !joins; k++)
            if (reads(s->p, wait[i], group[k]) &&
                gain_elsewhere(s, group[k], wait[i], open, x) > s->gained[group[k]])
                return group[k];
    }
    return -1;
}

static int grow(state *s, int n_wait, const int32_t *wait, rd_set open, int x, int32_t *group,
                double *gain, bool say)
{
    int n, away;

    memset(s->refused, 0, (size_t)s->p->n * sizeof *s->refused);
    do {
        n    = grow_once(s, n_wait, wait, open, x, group, gain, say);
        away = misplaced(s, n_wait, wait, n, group, open, x);
        if (away >= 0)
            s->refused[away] = true;
    } while (away >= 0);
    return n;
}

/* ---- Choice of the next loop ----------------------------------------------------------------- */
static int64_t largest_stride(const rd_placing *p, int n, const int32_t *group, int x)
{
    int64_t largest = 0;

    for (int i = 0; i < n; i++)
        for (int u = 0; u < p->list[group[i]].n_use; u++) {
            const rd_value *m      = &p->graph->value[p->list[group[i]].use[u].value];
            int64_t         stride = 0, dense = 1;

            if (m->kind == RD_VALUE_READ)
                for (int t = 0; t < m->at[0].n_term; t++)
                    stride += m->at[0].term[t].axis == x ? m->at[0].term[t].coef : 0;
            else
                for (int d = m->n_dim; d-- > 0; dense *= p->graph->axis[m->dim[d]].extent)
                    stride += m->dim[d] == x ? dense : 0;
            stride  = stride < 0 ? -stride : stride;
            largest = stride > largest ? stride : largest;
        }
    return largest;
}

typedef struct choice {
    int     axis, n, folds;
    double  gain;
    int64_t stride;
} choice;

/* More gain; then fewer that reduce or carry x; then the larger stride. */
static bool better(const choice *a, const choice *b)
{
    if (b->axis < 0 || a->gain != b->gain)
        return b->axis < 0 || a->gain > b->gain;
    if (a->folds != b->folds)
        return a->folds < b->folds;
    return a->stride > b->stride;
}

static choice choose(state *s, int n_wait, const int32_t *wait, rd_set open, int32_t *group,
                     int32_t *trial)
{
    const rd_placing *p    = s->p;
    choice            best = { .axis = -1 };
    rd_set            axes = 0;

    for (int i = 0; i < n_wait; i++)
        axes |= rd_space(value_of(p, wait[i]));
    for (int x = 0; x < p->graph->n_axis; x++) {
        choice c = { .axis = x };

        if (!rd_in(axes & ~open, x) ||
            !(c.n = grow(s, n_wait, wait, open, x, trial, &c.gain, false)))
            continue;
        for (int i = 0; i < c.n; i++)
            c.folds += rd_in(value_of(p, trial[i])->reduced, x);
        c.stride = largest_stride(p, c.n, trial, x);
        if (better(&c, &best)) {
            best = c;
            memcpy(group, trial, (size_t)c.n * sizeof *group);
        }
    }
    if (best.axis >= 0)
        grow(s, n_wait, wait, open, best.axis, trial, &best.gain, true);
    return best;
}

/* ---- The tree -------------------------------------------------------------------------------- */
/* Emits what needs no further loop; the rest stays, in order. */
static int emit_ready(state *s, rd_scope *scope, int n, int32_t *wait)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        const rd_anchor *a     = &s->p->list[wait[i]];
        bool             ready = !(rd_space(value_of(s->p, wait[i])) & ~scope->open);

        for (int u = 0; u < a->n_use && ready; u++) {
            int number = s->p->number[a->use[u].value];

            ready = number < 0 || !s->waiting[number];
        }
        if (!ready) {
            wait[left++] = wait[i];
            continue;
        }
        if (!append(s, scope, a->value, NULL))
            return -1;
        s->waiting[wait[i]] = false;
    }
    return left;
}

static int without(int n, int32_t *wait, const state *s)
{
    int left = 0;

    for (int i = 0; i < n; i++)
        if (s->waiting[wait[i]])
            wait[left++] = wait[i];
    return left;
}

static bool place_in(state *s, rd_scope *scope, int n, int32_t *wait);

static bool place_loop(state *s, rd_scope *scope, const choice *c, int32_t *group)
{
    rd_scope *loop = rd_pool_get(s->p->graph->pool, sizeof *loop);

    if (!loop || !append(s, scope, -1, loop))
        return false;
    loop->axis   = c->axis;
    loop->open   = scope->open | rd_bit(c->axis);
    loop->parent = scope;
    for (int i = 0; i < c->n; i++)
        loop->backwards |= direction(value_of(s->p, group[i]), c->axis) < 0;
    return place_in(s, loop, c->n, group);
}

static bool place_in(state *s, rd_scope *scope, int n, int32_t *wait)
{
    int32_t *group = rd_pool_get(s->p->graph->pool, 2 * (size_t)(n + 1) * sizeof *group);

    while (group && (n = emit_ready(s, scope, n, wait)) > 0) {
        choice c = choose(s, n, wait, scope->open, group, group + n + 1);

        if (c.axis < 0) { /* it was cancelled: the first waiting anchor reads nothing that waits */
            rd_fail(s->p->graph->ctx, RD_ERR_LIMIT, "%s: internal error: no loop can be placed",
                    rd_call_name(s->p->graph->ctx));
            return false;
        }
        if (!place_loop(s, scope, &c, group))
            return false;
        n = without(n, wait, s);
    }
    return group && n >= 0;
}

/* Loops are chosen by what each kept value would share with each other one. */
static bool few_anchors(const rd_placing *p)
{
    enum { MOST = 256 };

    if (p->graph->limited && p->n > MOST)
        rd_fail(p->graph->ctx, RD_ERR_LIMIT, "%s: %d values are kept in one plan",
                rd_call_name(p->graph->ctx), p->n);
    return !p->graph->limited || p->n <= MOST;
}

static rd_tree *place_once(rd_placing *p)
{
    rd_pool *pool = p->graph->pool;
    state    s    = { .p = p };
    int32_t *wait;

    if (!rd_choose_anchors(p) || !few_anchors(p))
        return NULL;
    wait      = rd_pool_get(pool, (size_t)(p->n + 1) * sizeof *wait);
    s.waiting = rd_pool_get(pool, (size_t)(p->n + 1) * sizeof *s.waiting);
    s.refused = rd_pool_get(pool, (size_t)(p->n + 1) * sizeof *s.refused);
    s.gained  = rd_pool_get(pool, (size_t)(p->n + 1) * sizeof *s.gained);
    s.tree    = rd_pool_get(pool, sizeof *s.tree);
    if (!wait || !s.refused || !s.gained || !s.waiting || !s.tree ||
        !(s.tree->root = rd_pool_get(pool, sizeof *s.tree->root)))
        return NULL;
    s.tree->graph    = p->graph;
    s.tree->n_anchor = p->n;
    s.tree->anchor   = p->list;
    s.tree->number   = rd_pool_grow(pool, p->number, (size_t)p->graph->n_value,
                                    (size_t)p->graph->n_value + 1, sizeof *p->number);
    if (!s.tree->number)
        return NULL;
    s.tree->root->axis = -1;
    for (int i = 0; i < p->n; i++) {
        wait[i]      = i;
        s.waiting[i] = true;
    }
    return place_in(&s, s.tree->root, p->n, wait) && rd_settle_homes(s.tree) ? s.tree : NULL;
}

/* ---- Keep again, knowing the homes ----------------------------------------------------------- */
/* The last kept map that became an array between stages although computing it again would cost
 * less; -1: none. */
static int too_dear(const rd_placing *p, const rd_tree *tree)
{
    for (int i = p->n; i-- > 0;) {
        int             v = p->list[i].value, readers = 0;
        const rd_value *m        = &p->graph->value[v];
        double          repeated = 0, points = (double)rd_points_of(p->graph, m->axes);

        if (rd_is_anchor_kind(m) || tree->home[v].keep != RD_KEEP_ARRAY)
            continue;
        if (!rd_goes_on(p->graph->ctx))
            return -1;
        for (int a = 0; a < p->n; a++)
            for (int u = 0; u < p->list[a].n_use; u++)
                if (p->list[a].use[u].value == v) {
                    readers++;
                    repeated += (double)rd_points_of(p->graph, rd_space(value_of(p, a)));
                }
        /* Each evaluation loads it: an operation as cheap as that is never worth an array. */
        if (m->ops * (repeated - points) <
            points * (RD_PRICE_WRITE + RD_PRICE_READ * readers) + repeated)
            return v;
    }
    return -1;
}

static bool keep_reasons(rd_graph *g, rd_text *why)
{
    size_t old = g->why ? strlen(g->why) : 0;
    char  *all = why->n ? rd_pool_grow(g->pool, g->why, old, old + why->n + 1, 1) : g->why;

    if (why->n && all)
        memcpy(all + old, why->at, why->n + 1);
    g->why = all;
    rd_text_free(why);
    return all || !old;
}

static bool placing_new(rd_placing *p, rd_graph *graph)
{
    size_t n = (size_t)graph->n_value + 1;

    *p = (rd_placing){ .graph    = graph,
                       .anchor   = rd_pool_get(graph->pool, n * sizeof *p->anchor),
                       .dropped  = rd_pool_get(graph->pool, n * sizeof *p->dropped),
                       .number   = rd_pool_get(graph->pool, n * sizeof *p->number),
                       .readers  = rd_pool_get(graph->pool, n * sizeof *p->readers),
                       .touched  = rd_pool_get(graph->pool, n * sizeof *p->touched),
                       .touch_of = rd_pool_get(graph->pool, n * sizeof *p->touch_of) };
    return p->anchor && p->dropped && p->number && p->readers && p->touched && p->touch_of;
}

rd_tree *rd_place(rd_graph *graph)
{
    rd_placing p;
    rd_tree   *tree = NULL;

    if (!placing_new(&p, graph))
        return NULL;
    for (int dear = 0; dear >= 0;) {
        rd_text_free(&p.why);
        p.why = (rd_text){ 0 };
        tree  = place_once(&p);
        dear  = tree ? too_dear(&p, tree) : -1;
        if (dear >= 0)
            p.dropped[dear] = true;
    }
    return keep_reasons(graph, &p.why) && rd_goes_on(graph->ctx) ? tree : NULL;
}
