/* loop_groups.c - forms the group of waiting values that share the next loop (fusion), greedily by
 * what sharing saves.
 *
 * Groups are formed speculatively: a member may read a value that is not placed yet and cannot
 * come into the loop, such as a scale that is a total.  If such a group saves most, its members
 * wait, and what they need is placed first.  Otherwise a pair's distance, which needs nothing,
 * would be placed alone and become a matrix.
 *
 * Terms: a value waits until it is placed in a loop.  A member belongs to the group; an operand
 * is a materialised value that a member reads.  Two reductions cross if one reduces an axis that
 * the other keeps.
 *
 * Fields. `group` is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a
 * sorted row, -1: none.
 *
 * Words. A fold is a reduction or a scan. */
#include "eval/dump.h"
#include "eval/place/loop_groups.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A group under construction. */
typedef struct growing {
    rd_grouping *s;
    rd_set       open; /* axes of the loops around */
    /* x: axis of the loop in question; n: members; noted: how many values have their `needs` */
    int            x, n, n_wait, noted;
    const int32_t *wait;   /* the n_wait waiting values, operands first */
    int32_t       *member; /* the members, operands first */
    /* blocked: a value was kept out; supposing: a waiting operand was counted as available */
    bool blocked, supposing;
    /* strict: waiting operands are not available; early: folds need not wait for their readers;
     * say: explain why a value stays out */
    bool strict, early, say;
} growing;

/* The value of the graph that is entry `materialised` of p->list, the stored values. */
static rd_value *value_of(const rd_placing *p, int materialised)
{
    return &p->graph->value[p->list[materialised].value];
}

/* Direction in which a loop over x must run for value v: +1 upwards, -1 downwards for a reverse
 * scan along x, 0 either. */
int rd_direction(const rd_value *v, int x)
{
    if (!v->combine || !rd_in(v->reduced, x))
        return 0;
    return v->kind == RD_VALUE_SCAN && v->expr->as.fold->reverse ? -1 : 1;
}

/* ---- Conditions on which a value may join a loop --------------------------------------------- */
/* True if the next loop around v may be one over x: its combine tree fixes the order of reduced
 * axes, and all of them that go outside x have a loop already (open). */
static bool order_allows(const rd_value *v, rd_set open, int x)
{
    if (!v->combine || !rd_in(v->reduced, x))
        return true;
    for (int k = 0; k < v->combine->n_order && v->combine->order[k] != x; k++)
        if (!rd_in(open, v->combine->order[k]))
            return false;
    return true;
}

/* True if the value is a member of the group. */
static bool is_member(const growing *g, int materialised)
{
    for (int i = 0; i < g->n; i++)
        if (g->member[i] == materialised)
            return true;
    return false;
}

/* True if a waiting operand (one not in a loop yet) can be placed before the loop over x. It needs
 * nothing that the loop makes (needs), and is assumed to come before, or does not vary along x. In
 * a strict search nothing is assumed. */
static bool may_come_before(const growing *g, int operand)
{
    return !g->strict && !g->s->needs[operand] &&
           (g->s->assumed_before[operand] || !rd_in(rd_space(value_of(g->s->p, operand)), g->x));
}

/* True if an operand of a candidate is available in a loop over x: it is placed, or made by a
 * member at the same index, or assumed to be placed before (g->supposing). Else the operand is
 * noted as one that keeps others out (blocks). An operand that is kept out itself (kept) is not
 * noted, as what keeps it out is. number is -1 for a leaf, which is always available. */
static bool operand_allows(growing *g, const rd_use *use)
{
    const rd_value *m       = &g->s->p->graph->value[use->value];
    const int       operand = g->s->p->number[use->value];

    if (operand < 0 || !g->s->waiting[operand])
        return true;
    if (is_member(g, operand) && rd_in(rd_space(m) & m->axes & use->same, g->x))
        return true; /* a reduction over x has no axis x */
    if (may_come_before(g, operand)) {
        g->supposing = true;
        return true;
    }
    g->blocked = true;
    g->s->keeps_others_out[operand] |=
        !g->s->kept_out[operand]; /* else what keeps the operand out is noted */
    return false;
}

/* True if value a is computed from value `from`, directly or not. Both are places in p->list,
 * which has operands first; `mark` marks what is computed from it. */
static bool is_computed_from(const growing *g, int a, int from)
{
    const rd_placing *p    = g->s->p;
    bool             *mark = g->s->reads;

    memset(mark, 0, (size_t)p->n * sizeof *mark);
    mark[from] = true;
    for (int k = from + 1; k <= a; k++)
        for (int u = 0; u < p->list[k].n_use && !mark[k]; u++) {
            const int operand = p->number[p->list[k].use[u].value];

            mark[k] = operand >= 0 && mark[operand];
        }
    return mark[a];
}

/* True if one of two reductions reduces an axis that the other keeps: the axis of the loop in
 * question, or one inside it if both reduce the loop's. They then want different inner loops. */
static bool are_crossing(const growing *g, const rd_value *v, const rd_value *m)
{
    const rd_set inside = rd_space(v) & rd_space(m) & ~g->open;
    const rd_set apart  = (v->reduced ^ m->reduced) & inside;

    return v->combine && m->combine &&
           (rd_in(apart, g->x) || (apart && rd_in(v->reduced & m->reduced, g->x)));
}

/* True if each of two reductions reduces an axis that the other keeps, such as sums along both
 * axes of one array. */
static bool are_both_ways(const rd_value *v, const rd_value *m)
{
    return v->kind == RD_VALUE_REDUCE && m->kind == RD_VALUE_REDUCE && rd_space(v) == rd_space(m) &&
           (v->reduced & ~m->reduced) && (m->reduced & ~v->reduced);
}

/* True if values a and b may not share a loop. On a GPU, reductions of different axes want
 * different threads, unless the backend can do both in one read (cross). On a CPU, values of
 * different sides (groups of folds with conflicting loops) are separate. v->loop_side is the side,
 * 0: none; are_crossing(): one reduces an axis that the other keeps. */
static bool must_be_separate(const growing *g, int a, int b)
{
    const rd_graph *graph = g->s->p->graph;
    const rd_value *v = value_of(g->s->p, a), *m = value_of(g->s->p, b);
    const bool      differ = v->loop_side && m->loop_side && v->loop_side != m->loop_side;

    return differ ||
           (graph->device && are_crossing(g, v, m) &&
            !(graph->shares_crossing && are_both_ways(v, m)) && !is_computed_from(g, a, b));
}

/* True if value a crosses a member of the group: one reduces an axis that the other keeps, so
 * that they want different inner loops. If a reads the member, it counts only on a CPU, where a
 * then needs a later loop of its own. are_crossing() says that they do, rd_needs_own_loop()
 * that v needs another loop than m. */
static bool crosses_any(const growing *g, int a)
{
    const rd_placing *p     = g->s->p;
    const rd_value   *v     = value_of(p, a);
    bool              found = false;

    for (int i = 0; i < g->n && !found; i++) {
        const rd_value *m = value_of(p, g->member[i]);

        found = are_crossing(g, v, m) && (!is_computed_from(g, a, g->member[i]) ||
                                          (!p->graph->device && rd_needs_own_loop(v, m)));
    }
    return found;
}

/* True if the loop would compute m, a function such as exp, one element at a time, because the
 * reduction `fold` goes so. Outside, vectors compute it. */
static bool slows_function(const growing *g, const rd_value *fold, const rd_value *m)
{
    return rd_is_function(m) && rd_is_element_by_element(g->s->p->graph, fold) &&
           rd_in(m->axes & fold->reduced, g->x);
}

/* True if a loop over x, a kept axis, would go around the stored elements of sparse rows. A
 * reduction by rows should go through these once, with all columns inside. Else each column would
 * go through all. */
static bool splits_sparse_rows(const growing *g, const rd_value *v)
{
    return v->combine && v->group >= 0 && !g->s->p->graph->device &&
           v->expr->as.fold->of_pattern == RD_PATTERN_ROWS && v->reduced &&
           !rd_in(v->reduced, g->x) && !(v->reduced & g->open);
}

/* True if waiting value a may join the group that shares a loop over x:
 * - it need not wait for operands (late) or readers (unread), and is not assumed to be placed
 *   before
 * - its evaluation loops over x, its order of reduced axes has x next, and no sparse rows are
 *   split
 * - for each member: both run in the same direction, neither is computed by a library (apart),
 *   they need not be separate, and neither slows a function of the other
 * - its operands are available; if one is not, and the value is of a side, that is noted in
 *   `kept_out` */
static bool may_join(growing *g, int a)
{
    const rd_placing *p = g->s->p;
    const rd_value   *v = value_of(p, a);

    if (g->s->waits_for_operands[a] || g->s->assumed_before[a] || g->s->waits_for_readers[a] ||
        !rd_in(rd_space(v), g->x) || !order_allows(v, g->open, g->x) || splits_sparse_rows(g, v))
        return false;
    for (int i = 0; i < g->n; i++) {
        const rd_value *m = value_of(p, g->member[i]);

        if (rd_direction(v, g->x) * rd_direction(m, g->x) < 0 || v->by_library || m->by_library ||
            must_be_separate(g, a, g->member[i]) || slows_function(g, v, m) ||
            slows_function(g, m, v))
            return false;
    }
    for (int u = 0; u < p->list[a].n_use; u++)
        if (!operand_allows(g, &p->list[a].use[u])) {
            g->s->kept_out[a] =
                v->loop_side != 0; /* not what keeps others out, see operand_allows() */
            return false;
        }
    return true;
}

/* ---- Growing --------------------------------------------------------------------------------- */
/* Reasons why a value that may join stays out: too many bytes held, higher cost, or threads that
 * could not share the loop. */
typedef enum refusal { JOINS, HOLDS, DEARER, HOLDS_UP } refusal;

/* Operations of all members of the group, one a point; sorting counts several an element. */
static double work_of(const growing *g)
{
    const rd_placing *p    = g->s->p;
    double            work = 0;

    for (int i = 0; i < g->n; i++) {
        const rd_value *v = value_of(p, g->member[i]);

        work +=
            (double)rd_points_of(p->graph, rd_space(v)) * (v->kind == RD_VALUE_SORT ? v->ops : 1);
    }
    return work;
}

/* True if reduction a along a root loop (none is open around it) would keep threads from sharing
 * the loop, as threads begin at whole blocks of all combine trees.  It then runs in a later
 * loop.  That needs members whose results it reads, so that they would be stored for it (stored:
 * their elements), and one of two cases:
 * - the loop is one block: the group has more than 1e6 operations, and 12 for each stored
 *   element
 * - one block has many of the group's operations (16e6, or 200e3 in a loop of at most 16
 *   rounds), and there are 256 operations for each stored element */
static bool blocks_sharing(const growing *g, int a)
{
    /* Operations of a long block, of a loop in one block, of a block in a loop of few rounds, and
     * least operations for each stored value. */
    static const double LONG = 16e6, ONE = 1e6, SHARED = 200e3, FEW = 256, FEW_OF_ONE = 12,
                        FEW_ROUNDS = 16;
    const rd_placing *p            = g->s->p;
    const rd_value   *v            = value_of(p, a);
    const double      extent       = (double)p->graph->axis[g->x].extent;
    double            work, stored = 0, block;

    if (g->open || !v->combine || v->kind != RD_VALUE_REDUCE || !rd_in(v->reduced, g->x))
        return false;
    work = work_of(g);
    for (int u = 0; u < p->list[a].n_use; u++) {
        const int operand = p->number[p->list[a].use[u].value];

        if (operand >= 0 && is_member(g, operand))
            stored += (double)rd_points_of(p->graph, value_of(p, operand)->axes);
    }
    block = (double)v->combine->steps * (v->combine->lane_axis == g->x ? v->combine->lanes : 1);
    if (stored > 0 && block >= extent && extent > 1 && FEW_OF_ONE * stored < work && work > ONE)
        return true;
    block = block < extent ? block : extent;
    return stored > 0 && FEW * stored < work &&
           block / extent * work > (extent <= FEW_ROUNDS ? SHARED : LONG);
}

/* Adds a line for explain, once, on why a value is not in the loop of the first member: "t1 not in
 * the i loop of t0: dearer than apart". g->member[0] is the first member, g->x the loop's axis,
 * p->why the lines so far. */
static void note_refusal(const growing *g, int a, refusal why)
{
    static const char *const reasons[] = { [HOLDS]    = "one iteration would hold more than L2",
                                           [DEARER]   = "dearer than apart",
                                           [HOLDS_UP] = "threads could not share the loop" };
    char                     line[160], one[RD_NAME_TEXT], other[RD_NAME_TEXT];
    rd_placing              *p     = g->s->p;
    const rd_graph          *graph = p->graph;

    snprintf(line, sizeof line, "%s not in the %s loop of %s: %s\n",
             rd_materialised_name(graph, p->number, p->list[a].value, one), graph->axis[g->x].name,
             rd_materialised_name(graph, p->number, p->list[g->member[0]].value, other),
             reasons[why]);
    if (!p->why.at || !strstr(p->why.at, line))
        rd_text_add(&p->why, "%s", line);
}

/* Marks in `needs` the values before number `upto` that are computed from a member, which
 * therefore cannot be placed before the loop. g->noted is how far that has been done; use[u] are
 * the values that one reads. */
static void note_needs(growing *g, int upto)
{
    const rd_placing *p = g->s->p;

    for (; g->noted < upto; g->noted++)
        for (int u = 0; u < p->list[g->noted].n_use && !g->s->needs[g->noted]; u++) {
            const int operand = p->number[p->list[g->noted].use[u].value];

            g->s->needs[g->noted] = operand >= 0 && g->s->needs[operand];
        }
}

/* True if it is to be noted that reductions of crossing axes share a loop: for a GPU whose backend
 * accepts them, and for a CPU, for which a plan without such sharing is compared. */
static bool counts_crossed(const growing *g)
{
    const rd_graph *graph = g->s->p->graph;

    return graph->shares_crossing || !graph->device;
}

/* True if a member reads the value. */
static bool is_read_by_member(const growing *g, int value)
{
    for (int i = 0; i < g->n; i++)
        for (int u = 0; u < g->s->p->list[g->member[i]].n_use; u++)
            if (g->s->p->list[g->member[i]].use[u].value == value)
                return true;
    return false;
}

/* True if a value of the same side reads the value.  Else its side makes it for others, as an
 * array. */
static bool is_read_by_its_side(const rd_placing *p, int materialised)
{
    const int32_t value = p->list[materialised].value;

    for (int i = 0; i < p->n; i++)
        for (int u = 0; u < p->list[i].n_use; u++)
            if (p->list[i].use[u].value == value &&
                value_of(p, i)->loop_side == p->graph->value[value].loop_side)
                return true;
    return false;
}

/* True for what should not be an array if its readers can have it in their loop: what a side
 * computes for itself, and a short reduction of many pairs, such as their distance. */
static bool waits_for_readers(const growing *g, int materialised)
{
    const rd_graph *graph = g->s->p->graph;
    const rd_value *v     = value_of(g->s->p, materialised);
    const bool pairs = v->kind == RD_VALUE_REDUCE && rd_points_of(graph, v->axes) > RD_MANY_PAIRS;

    return rd_is_computed_again(graph, v) &&
           ((v->loop_side && is_read_by_its_side(g->s->p, materialised)) ||
            (pairs && !graph->device));
}

/* True if the loop over x would make an array of such a value (waits_for_readers()): the loop, or
 * none around, goes along it, and no member reads it. `open` has the axes of the loops around. */
static bool is_too_early(const growing *g, int materialised)
{
    const rd_value *v = value_of(g->s->p, materialised);

    return (rd_in(v->axes, g->x) || !(v->axes & g->open)) && waits_for_readers(g, materialised) &&
           !is_read_by_member(g, g->s->p->list[materialised].value);
}

/* Takes members that are too early out of the group, and marks them as waiting for their readers
 * (unread). False if there were none, or this search allows them (early). is_too_early():
 * readers should have it in their loop. */
static bool leave_for_readers(growing *g)
{
    const int before = g->n;

    for (int i = g->n; !g->early && i-- > 0;)
        if (is_too_early(g, g->member[i])) {
            g->s->waits_for_readers[g->member[i]] = true;
            memmove(g->member + i, g->member + i + 1, (size_t)(--g->n - i) * sizeof *g->member);
        }
    return g->n < before;
}

/* Forms the group that shares a loop over x, greedily, operands first: each candidate joins if the
 * common cost does not exceed the sum of separate costs. Values in `unread` wait for their
 * readers. Returns the operations that sharing saves. `alone` and `joined` are costs of a
 * candidate alone and of the group with it; `together` and `apart` those of the group in one
 * loop and of its members alone. Costs are infinite if one iteration keeps more than a cache
 * holds. Only while reasons are noted (say) it is recorded that members cross. */
static double form_group_once(growing *g)
{
    const rd_set shared   = g->open | rd_bit(g->x);
    double       together = 0, apart = 0;

    g->n = g->noted = 0;
    g->blocked = g->supposing = false;
    memset(g->s->needs, 0, (size_t)g->s->p->n * sizeof *g->s->needs); /* computed from a member */
    memset(g->s->keeps_others_out, 0,
           (size_t)g->s->p->n * sizeof *g->s->keeps_others_out); /* kept others out */
    memset(g->s->kept_out, 0,
           (size_t)g->s->p->n * sizeof *g->s->kept_out); /* kept out by an operand */
    for (int i = 0; i < g->n_wait && rd_goes_on(g->s->p->graph->ctx); i++) {
        const int32_t a        = g->wait[i];
        const bool    supposed = g->supposing;
        double        alone, joined;
        refusal       why;

        note_needs(g, a + 1);
        if (!may_join(g, a)) {
            g->supposing = supposed; /* the assumptions made for a do not count */
            continue;
        }
        alone           = rd_group_cost(g->s->p, /*n=*/1, &a, shared, g->x);
        g->member[g->n] = a;
        joined          = rd_group_cost(g->s->p, g->n + 1, g->member, shared, g->x);
        why = g->n == 0 || joined <= together + alone ? JOINS : isinf(joined) ? HOLDS : DEARER;
        why = why == JOINS && blocks_sharing(g, a) ? HOLDS_UP : why;
        if (why == JOINS) {
            g->s->p->graph->has_crossing_folds |= g->say && counts_crossed(g) && crosses_any(g, a);
            g->member[g->n++] = a;
            g->s->needs[a]    = true;
            together          = joined;
            apart += alone;
        } else {
            g->supposing = supposed;
            if (g->say)
                note_refusal(g, a, why);
        }
    }
    return apart - together;
}

/* Forms the group that shares a loop over x, again and again until no member is too early (an
 * array that its readers should have in their loop), as each may keep others out. Returns the
 * operations that sharing saves. form_group_once() makes one group; s->waits_for_readers marks
 * those that were taken out. */
static double form_group(growing *g)
{
    double gain;

    memset(g->s->waits_for_readers, 0, (size_t)g->s->p->n * sizeof *g->s->waits_for_readers);
    do
        gain = form_group_once(g);
    while (leave_for_readers(g));
    return gain;
}

/* True if at least two candidates for a loop over x would be left without the values that keep
 * others out (blocks). g->wait are the waiting values; s->waits_for_operands: they wait for an
 * operand. */
static bool leaves_several(const growing *g)
{
    int n = 0;

    for (int i = 0; i < g->n_wait && n < 2; i++)
        n += !g->s->waits_for_operands[g->wait[i]] && !g->s->keeps_others_out[g->wait[i]] &&
             rd_in(rd_space(value_of(g->s->p, g->wait[i])), g->x);
    return n >= 2;
}

/* Forms the group that shares a loop over x; then again without the values that keep others
 * out, as if these were placed before. Takes the better group; returns the operations that it
 * saves. s->assumed_before marks the values assumed to be placed before, s->keeps_others_out those
 * that kept others out in the first try. That try stands if no assumption may be made (strict),
 * nothing was kept out, or fewer than two candidates would be left (leaves_several()). */
static double form_best_group(growing *g)
{
    const size_t n = (size_t)g->s->p->n;
    double       plain, other;
    growing      first;

    memset(g->s->assumed_before, 0,
           n * sizeof *g->s->assumed_before); /* nothing is assumed to be placed before */
    plain = form_group(g);
    if (g->strict || !g->blocked || !leaves_several(g))
        return plain;
    first = *g;
    memcpy(g->s->first, g->member, (size_t)g->n * sizeof *g->member); /* the first group */
    memcpy(g->s->assumed_before, g->s->keeps_others_out,
           n * sizeof *g->s->assumed_before); /* what kept others out is */
    other = form_group(g);
    if (g->n && other > plain)
        return other;
    *g = first;
    memcpy(g->member, g->s->first, (size_t)g->n * sizeof *g->member);
    return plain;
}

/* ---- Choice of the next loop ----------------------------------------------------------------- */
/* The largest stride along x, in elements, of all that the n members of a group read. A stored
 * value is assumed to lie in C order of its dims. use[u] are the values that a member reads: a
 * READ of memory, or a stored value. */
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

/* True if group a is better than b (axis -1: there is none): it saves more operations; or reduces
 * fewer values along x, as results should finish early; or has the larger stride, as that loop
 * goes outside. */
static bool is_better(const rd_loop_group *a, const rd_loop_group *b)
{
    if (b->axis < 0 || a->gain != b->gain)
        return b->axis < 0 || a->gain > b->gain;
    if (a->folds != b->folds)
        return a->folds < b->folds;
    return a->stride > b->stride;
}

/* The best group for one more loop, over any axis that has no loop yet. *supposing: it assumes
 * that some waiting operand is placed before. The list of members lies in g->s->best, and is
 * valid until the next call. */
static rd_loop_group best_group(growing *g, bool *supposing)
{
    const rd_placing *p    = g->s->p;
    rd_loop_group     best = { .axis = -1 };
    rd_set            axes = 0;

    for (int i = 0; i < g->n_wait; i++)
        axes |= g->s->waits_for_operands[g->wait[i]] ? 0 : rd_space(value_of(p, g->wait[i]));
    for (g->x = 0; g->x < p->graph->n_axis; g->x++) {
        rd_loop_group c = { .axis = g->x };

        if (!rd_in(axes & ~g->open, g->x))
            continue;
        c.gain = form_best_group(g);
        c.n    = g->n;
        if (!c.n)
            continue;
        for (int i = 0; i < c.n; i++)
            c.folds += rd_in(value_of(p, g->member[i])->reduced, g->x);
        c.stride = largest_stride(p, c.n, g->member, g->x);
        if (is_better(&c, &best)) {
            best       = c;
            *supposing = g->supposing;
            memcpy(g->s->best, g->member, (size_t)c.n * sizeof *g->s->best);
        }
    }
    best.materialised = g->s->best;
    return best;
}

/* The group that saves most and has all operands placed. If the best one assumes that an operand
 * comes before, its members must wait (late), and the search goes on. It is limited to few values:
 * a chain of 80 reductions took 270 ms instead of 160. If nothing is left, first assumptions, then
 * waiting for readers are given up. `supposing`: the best group assumes such an operand. strict:
 * nothing is assumed; early: reductions do not wait for their readers. axis -1: none. */
static rd_loop_group best_now(growing *g)
{
    enum { FEW = 32 };
    bool          supposing = false;
    rd_loop_group best      = { .axis = -1 };

    memset(g->s->waits_for_operands, 0, (size_t)g->s->p->n * sizeof *g->s->waits_for_operands);
    while (g->n_wait <= FEW && (best = best_group(g, &supposing)).axis >= 0 && supposing)
        for (int i = 0; i < best.n; i++)
            g->s->waits_for_operands[best.materialised[i]] = true;
    if (best.axis >= 0)
        return best;
    memset(g->s->waits_for_operands, 0, (size_t)g->s->p->n * sizeof *g->s->waits_for_operands);
    g->strict = true; /* or they would wait for each other */
    best      = best_group(g, &supposing);
    if (best.axis >= 0)
        return best;
    g->early = true;
    return best_group(g, &supposing);
}

/* Chooses the next loop inside those over `open`, and the group of waiting values that share it.
 * The chosen group is formed once more, to note for explain what stayed out, and why. Axis -1
 * only after a cancel. */
rd_loop_group rd_choose_group(rd_grouping *s, int n_wait, const int32_t *wait, rd_set open)
{
    growing g = { .s = s, .open = open, .n_wait = n_wait, .wait = wait, .member = s->trial };
    const rd_loop_group best = best_now(&g);

    if (best.axis >= 0) {
        g.x   = best.axis;
        g.say = true;
        form_best_group(&g);
    }
    return best;
}

/* Allocates the tables for forming groups; false: no memory. */
bool rd_grouping_new(rd_grouping *s, rd_placing *p)
{
    const size_t n    = (size_t)p->n + 1;
    rd_pool     *pool = p->graph->pool;

    *s = (rd_grouping){ .p                  = p,
                        .waiting            = rd_pool_get(pool, n * sizeof *s->waiting),
                        .waits_for_operands = rd_pool_get(pool, n * sizeof *s->waits_for_operands),
                        .assumed_before     = rd_pool_get(pool, n * sizeof *s->assumed_before),
                        .keeps_others_out   = rd_pool_get(pool, n * sizeof *s->keeps_others_out),
                        .kept_out           = rd_pool_get(pool, n * sizeof *s->kept_out),
                        .waits_for_readers  = rd_pool_get(pool, n * sizeof *s->waits_for_readers),
                        .needs              = rd_pool_get(pool, n * sizeof *s->needs),
                        .reads              = rd_pool_get(pool, n * sizeof *s->reads),
                        .first              = rd_pool_get(pool, n * sizeof *s->first),
                        .trial              = rd_pool_get(pool, n * sizeof *s->trial),
                        .best               = rd_pool_get(pool, n * sizeof *s->best) };
    return s->waiting && s->waits_for_operands && s->assumed_before && s->waits_for_readers &&
           s->kept_out && s->keeps_others_out && s->needs && s->reads && s->first && s->trial &&
           s->best;
}
