/* place.c - loop fusion: decides which values share which loops.
 *
 * Materialised values (anchors) are put into loops greedily.  The axis with the loop that saves
 * most when shared comes first, with every value that may join it (loop_groups.c).  A value that
 * reads another only when a loop has finished comes in a later loop over the same axis, a phase.
 * docs/planning.md has the rules; cost.c has the costs.
 *
 * A scope is a loop body, or the root around all loops.  Axes are open in a scope if a loop
 * around it has them at one index.  A value is ready if it needs no further loop and all that it
 * reads is placed.
 *
 * Words. A value is materialised if it is stored, and inlined if each reader computes it. */
#include "eval/place/loop_groups.h"
#include <string.h>

/* The state of placement. */
typedef struct state {
    rd_placing *p;
    rd_tree    *tree;
    rd_grouping groups;
} state;

/* The value of the graph that is entry `materialised` of p->list, the stored values. */
static rd_value *value_of(const rd_placing *p, int materialised)
{
    return &p->graph->value[p->list[materialised].value];
}

/* Appends an item to a loop body: a value (loop NULL), or a loop (value -1). Returns it; NULL: no
 * memory. */
static rd_item *append(state *s, rd_loop_scope *scope, int value, rd_loop_scope *loop)
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

/* ---- The tree -------------------------------------------------------------------------------- */
/* Places those of the n waiting values into the scope (a loop body) that need no further loop and
 * whose operands are all placed. The others stay in `wait`, in order; returns their number, -1
 * without memory. waiting[] says, by number in the list of stored values, which are not placed
 * yet; number is -1 for what is not stored. */
static int emit_ready(state *s, rd_loop_scope *scope, int n, int32_t *wait)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        const rd_materialised *a = &s->p->list[wait[i]];
        bool ready               = !(rd_space(value_of(s->p, wait[i])) & ~scope->single_index_axes);

        for (int u = 0; u < a->n_use && ready; u++) {
            int number = s->p->number[a->use[u].value];

            ready = number < 0 || !s->groups.waiting[number];
        }
        if (!ready) {
            wait[left++] = wait[i];
            continue;
        }
        if (!append(s, scope, a->value, /*loop=*/NULL))
            return -1;
        s->groups.waiting[wait[i]] = false;
    }
    return left;
}

/* Removes the values that have been placed from the list `wait` of n values; returns its new
 * length. */
static int drop_placed(int n, int32_t *wait, const state *s)
{
    int left = 0;

    for (int i = 0; i < n; i++)
        if (s->groups.waiting[wait[i]])
            wait[left++] = wait[i];
    return left;
}

static bool place_in(state *s, rd_loop_scope *scope, int n, int32_t *wait);

/* Opens a loop in `scope` for a group, the values that share it, and places them inside. `wait` is
 * work space for the list. False on failure. append() adds the loop to the scope. It runs
 * backwards if a member is a reverse scan along it. */
static bool place_loop(state *s, rd_loop_scope *scope, const rd_loop_group *group, int32_t *wait)
{
    rd_loop_scope *loop = rd_pool_get(s->p->graph->pool, sizeof *loop);

    if (!loop || !append(s, scope, /*value=*/-1, loop))
        return false;
    loop->axis              = group->axis;
    loop->single_index_axes = scope->single_index_axes | rd_bit(group->axis);
    loop->parent            = scope;
    for (int i = 0; i < group->n; i++)
        loop->backwards |= rd_direction(value_of(s->p, group->materialised[i]), group->axis) < 0;
    memcpy(wait, group->materialised, (size_t)group->n * sizeof *wait);
    return place_in(s, loop, group->n, wait);
}

/* Places all n waiting values inside a scope (a loop body): those that need no further loop, then
 * loop after loop, each with the group of values that saves most by sharing it. False on
 * failure. `wait` lists waiting values by their place in the list of stored ones, and n is how
 * many are left, -1: no memory. scope->single_index_axes has the axes of the loops around.
 * place_loop() makes the loop and places its group inside; `inside` is room for that. */
static bool place_in(state *s, rd_loop_scope *scope, int n, int32_t *wait)
{
    int32_t *inside = rd_pool_get(s->p->graph->pool, (size_t)(n + 1) * sizeof *inside);

    while (inside && (n = emit_ready(s, scope, n, wait)) > 0) {
        const rd_loop_group group = rd_choose_group(&s->groups, n, wait, scope->single_index_axes);

        if (group.axis < 0) { /* cancelled: the first waiting value always has its operands */
            rd_fail(s->p->graph->ctx, RD_ERR_LIMIT, "%s: internal error: no loop can be placed",
                    rd_call_name(s->p->graph->ctx));
            return false;
        }
        if (!place_loop(s, scope, &group, inside))
            return false;
        n = drop_placed(n, wait, s);
    }
    return inside && n >= 0;
}

/* True if there are few stored values, or no limit was asked for: planning compares each with each
 * other one. Else records RD_ERR_LIMIT. */
static bool has_few_materialised(const rd_placing *p)
{
    enum { MOST = 256 };

    if (p->graph->limited && p->n > MOST)
        rd_fail(p->graph->ctx, RD_ERR_LIMIT, "%s: %d values are kept in one plan",
                rd_call_name(p->graph->ctx), p->n);
    return !p->graph->limited || p->n <= MOST;
}

/* Decides which values are stored, places them in loops and assigns their storage; NULL after a
 * failure. rd_place() may call this again with fewer stored maps (p->dropped). p->list are the
 * stored values, wait[] their places in the list. The root scope has no axis (-1). */
static rd_tree *place_once(rd_placing *p)
{
    rd_pool *pool = p->graph->pool;
    state    s    = { .p = p };
    int32_t *wait;

    if (!rd_choose_materialised(p) || !has_few_materialised(p))
        return NULL;
    wait   = rd_pool_get(pool, (size_t)(p->n + 1) * sizeof *wait);
    s.tree = rd_pool_get(pool, sizeof *s.tree);
    if (!wait || !rd_grouping_new(&s.groups, p) || !s.tree ||
        !(s.tree->root = rd_pool_get(pool, sizeof *s.tree->root)))
        return NULL;
    p->graph->has_crossing_folds = false;
    s.tree->graph                = p->graph;
    s.tree->n_materialised       = p->n;
    s.tree->materialised         = p->list;
    s.tree->number               = rd_pool_grow(pool, p->number, (size_t)p->graph->n_value,
                                                (size_t)p->graph->n_value + 1, sizeof *p->number);
    if (!s.tree->number)
        return NULL;
    s.tree->root->axis = -1;
    for (int i = 0; i < p->n; i++) {
        wait[i]             = i;
        s.groups.waiting[i] = true;
    }
    return place_in(&s, s.tree->root, p->n, wait) && rd_assign_storage(s.tree) ? s.tree : NULL;
}

/* ---- Recomputation, once storage is known ---------------------------------------------------- */
/* The cost of recomputing a map for each of its readers. */
typedef struct repeated {
    int    readers;            /* number of readers */
    double visits, operations; /* evaluations by them; operations of these */
} repeated;

/* Counts the readers of a map, and the operations of computing it for each. p->list are the
 * stored values, use[u] what one reads. `slow`: a function such as exp that the reader would
 * compute element by element, RD_VECTOR times slower. */
static repeated cost_of_recomputing(const rd_placing *p, int value)
{
    const rd_value *m = &p->graph->value[value];
    repeated        r = { 0 };

    for (int a = 0; a < p->n; a++)
        for (int u = 0; u < p->list[a].n_use; u++)
            if (p->list[a].use[u].value == value) {
                const rd_value *reader = value_of(p, a);
                const double    visits = (double)rd_points_of(p->graph, rd_space(reader));
                const bool slow = rd_is_function(m) && rd_is_element_by_element(p->graph, reader);

                r.readers++;
                r.visits += visits;
                r.operations += m->ops * visits * (slow ? RD_VECTOR : 1);
            }
    return r;
}

/* The last map that became an array between stages although recomputing it for each reader would
 * cost less than storing and reading it; -1: none. `saved` are the operations and gathers that
 * an array saves; an array costs one write and, for each reader, one read a point. Values that
 * are always stored, and those not in arrays between stages, are left out. */
static int find_too_dear(const rd_placing *p, const rd_tree *tree)
{
    for (int i = p->n; i-- > 0;) {
        const int       v      = p->list[i].value;
        const rd_value *m      = &p->graph->value[v];
        const double    points = (double)rd_points_of(p->graph, m->axes);
        repeated        r;
        double          saved;

        if (rd_is_materialised_kind(m) || tree->storage[v].keep != RD_KEEP_ARRAY)
            continue;
        if (!rd_goes_on(p->graph->ctx))
            return -1;
        r     = cost_of_recomputing(p, v);
        saved = r.operations - m->ops * points + rd_gathers_price(p, v) * (r.visits - points);
        /* Each evaluation loads it, so a map as cheap as a load is never worth an array. */
        if (saved < points * (RD_PRICE_WRITE + RD_PRICE_READ * r.readers) + r.visits)
            return v;
    }
    return -1;
}

/* Allocates the tables of placement; false: no memory. */
static bool placing_new(rd_placing *p, rd_graph *graph)
{
    size_t n = (size_t)graph->n_value + 1;

    *p = (rd_placing){ .graph        = graph,
                       .materialised = rd_pool_get(graph->pool, n * sizeof *p->materialised),
                       .dropped      = rd_pool_get(graph->pool, n * sizeof *p->dropped),
                       .marked       = rd_pool_get(graph->pool, n * sizeof *p->marked),
                       .number       = rd_pool_get(graph->pool, n * sizeof *p->number),
                       .readers      = rd_pool_get(graph->pool, n * sizeof *p->readers),
                       .touched      = rd_pool_get(graph->pool, n * sizeof *p->touched),
                       .touch_of     = rd_pool_get(graph->pool, n * sizeof *p->touch_of) };
    return p->materialised && p->dropped && p->marked && p->number && p->readers && p->touched &&
           p->touch_of;
}

/* Places the values of a graph in loops (loop fusion); again without each map that turns out to be
 * too dear to store, until there is none. NULL on failure or a cancel. find_too_dear() is such a
 * map, -1: none; p.dropped marks it as not to be stored. p.why has lines for explain. */
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
        dear  = tree ? find_too_dear(&p, tree) : -1;
        if (dear >= 0)
            p.dropped[dear] = true;
    }
    return rd_graph_say(graph, &p.why) && rd_goes_on(graph->ctx) ? tree : NULL;
}
