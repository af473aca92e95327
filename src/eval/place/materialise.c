/* materialise.c - decides which maps are materialised and which are recomputed, and lists what each
 * materialised value reads.
 *
 * A materialised value is computed at one place and kept; an inlined one is computed anew in
 * each reader.
 *
 * Fields. An operand in[k] of -1 is not there. A term of a subscript with `axis` -1 is a gathered
 * index, the value of an array. A READ is of a leaf's `slot`, or of another value, its `target`,
 * -1: it is not. */
#include "eval/place/place.h"
#include "core/caches.h"
#include <string.h>

/* The axes that a reduction reduces; none for other values. */
rd_set rd_reduced(const rd_value *v)
{
    return v->kind == RD_VALUE_REDUCE ? v->reduced : 0;
}

/* True for an elementwise operation by a math function of this library, such as exp, which runs
 * best on vectors. */
bool rd_is_function(const rd_value *m)
{
    return m->kind == RD_VALUE_MAP && rd_op_table[m->op].by >= RD_BY_OURS;
}

/* True for a reduction by rows of a sparse pattern on this processor: it takes one element after
 * the other, not vectors. */
bool rd_is_element_by_element(const rd_graph *graph, const rd_value *reader)
{
    return !graph->device && rd_is_row_reduction(reader);
}

/* The number of points of a set of axes, as a double: the product of their extents. */
static double points(const rd_placing *p, rd_set axes)
{
    return (double)rd_points_of(p->graph, axes);
}

/* ---- Gathers --------------------------------------------------------------------------------- */
/* The cost of one gathered element in operations: FAR for a cache line of memory if the array
 * exceeds an L2 cache, else that of a usual read. */
static double price_of_gather(const rd_graph *g, const rd_value *read)
{
    static const double FAR  = 64;
    const rd_slot      *slot = read->slot >= 0 ? &g->slot[read->slot] : NULL;
    const double        n =
        slot ? (double)(slot->hi - slot->lo) : (double)rd_points_of(g, g->value[read->target].axes);

    return n * (double)rd_dtype_size(read->type) > RD_L2_BYTES ? FAR : RD_PRICE_READ;
}

/* The cost of all gathers (reads at looked-up indices) for one element of a map, its own and those
 * of the inlined values below. `mine` marks the values that the map is computed from.
 * p->materialised[i]: value i is stored, so it is read and not computed. */
double rd_gathers_price(const rd_placing *p, int value)
{
    bool *const mine  = p->marked;
    double      price = 0;

    memset(mine, 0, (size_t)value * sizeof *mine);
    mine[value] = true;
    for (int i = value; i >= 0; i--) {
        const rd_value *v = &p->graph->value[i];

        if (!mine[i] || (i != value && p->materialised[i]))
            continue;
        price += rd_is_gathered(v) ? price_of_gather(p->graph, v) : 0;
        for (int k = 0; k < v->n_in; k++)
            if (v->in[k] >= 0)
                mine[v->in[k]] = true;
    }
    return price;
}

/* True if any value reads at an index from memory. */
static bool has_gathers(const rd_graph *g)
{
    for (int i = 0; i < g->n_value; i++)
        if (rd_is_gathered(&g->value[i]))
            return true;
    return false;
}

/* ---- Choice of maps -------------------------------------------------------------------------- */
/* True for an elementwise operation or a user's function, which may be stored or inlined, unless
 * storing it has turned out to be too dear (dropped). */
static bool may_keep(const rd_placing *p, int v)
{
    rd_value_kind kind = p->graph->value[v].kind;

    return (kind == RD_VALUE_MAP || kind == RD_VALUE_CALL) && !p->dropped[v];
}

/* How often a value would be evaluated if inlined; calls: for functions, in units of evaluations
 * by vectors. */
typedef struct inlined {
    double  evaluations, calls;
    int32_t uses; /* number of readers */
} inlined;

/* Counts one reader that would evaluate the value so often if it were inlined. `calls`: the same
 * for functions, where evaluations one by one count more than by vectors. */
static void use_inline(inlined *in, double evaluations, double calls)
{
    in->evaluations += evaluations;
    in->calls += calls;
    in->uses++;
}

/* True if storing the value (one write, and one read by each use) costs less than the gathers that
 * inlining repeats for each evaluation. */
static bool saves_gathers(const rd_placing *p, int value, const inlined *n)
{
    const double once = points(p, p->graph->value[value].axes);

    return n->uses > 1 && rd_gathers_price(p, value) * (n->evaluations - once) >
                              (RD_PRICE_WRITE + RD_PRICE_READ * n->uses) * once + n->evaluations;
}

/* Marks index arithmetic: i64 values that follow from loop indices and constants by sums,
 * differences, clamps and casts. NULL: no memory. */
static bool *places_of(const rd_graph *g)
{
    bool *is_place = rd_pool_get(g->pool, (size_t)g->n_value);

    for (int i = 0; is_place && i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        is_place[i] = v->type == RD_I64 &&
                      (v->kind == RD_VALUE_COORD || v->kind == RD_VALUE_CONST ||
                       (v->kind == RD_VALUE_MAP &&
                        (v->op == RD_OP_add || v->op == RD_OP_sub || v->op == RD_OP_minimum ||
                         v->op == RD_OP_maximum || v->op == RD_OP_cast)));
        for (int k = 0; k < v->n_in && is_place[i] && v->kind == RD_VALUE_MAP; k++)
            is_place[i] = is_place[v->in[k]];
    }
    return is_place;
}

/* True for a comparison (<, <=, >, >=) of two such index values (see places_of()). */
static bool compares_places(const rd_graph *g, const bool *place, int i)
{
    const rd_value *v = &g->value[i];

    return v->kind == RD_VALUE_MAP &&
           (v->op == RD_OP_lt || v->op == RD_OP_le || v->op == RD_OP_gt || v->op == RD_OP_ge) &&
           place[v->in[0]] && place[v->in[1]];
}

/* Marks in `found` the index values at which arrays are read unchecked, what these are made of,
 * and comparisons that choose between such reads. They are never stored: a loop that is split
 * where the choice changes has plain addresses in their place. place[k]: value k is index
 * arithmetic; found[] must be false at first. compares_places(): the condition compares such
 * values. */
static void find_addresses(const rd_graph *g, const bool *place, bool *found)
{
    bool any = false;

    for (int i = g->n_value; i-- > 0;) {
        const rd_value *v = &g->value[i];

        for (int d = 0; d < v->n_at && v->kind == RD_VALUE_READ; d++)
            for (int t = 0; t < v->at[d].n_term; t++)
                if (v->at[d].term[t].axis < 0)
                    any |= found[v->at[d].term[t].value] |= place[v->at[d].term[t].value];
        for (int k = 0; k < v->n_in && found[i]; k++)
            found[v->in[k]] = true;
    }
    for (int i = 0; i < g->n_value && any; i++)
        if (g->value[i].kind == RD_VALUE_MAP && g->value[i].op == RD_OP_where &&
            compares_places(g, place, g->value[i].in[0]))
            found[g->value[i].in[0]] = true;
}

/* Decides for each elementwise operation whether it is materialised (stored): if recomputing it in
 * all readers costs more than keeping it near. Users come first, so that the number of evaluations
 * is known. False: no memory. Stored are values that always are (rd_is_materialised_kind()), and
 * maps that may be, are no address of a read (address), and whose operations beyond one
 * evaluation a point cost more than a write and a read by each user. For functions, evaluations
 * one by one count more than by vectors (called). */
static bool choose_maps(rd_placing *p)
{
    rd_graph  *g       = p->graph;
    inlined   *n       = rd_pool_get(g->pool, (size_t)g->n_value * sizeof *n);
    const bool gathers = has_gathers(g);
    bool      *place   = places_of(g);
    bool      *address = rd_pool_get(g->pool, (size_t)g->n_value);

    if (!n || !place || !address)
        return false;
    if (gathers)
        find_addresses(g, place, address);
    for (int i = g->n_value; i-- > 0;) {
        const rd_value *v      = &g->value[i];
        const double    once   = points(p, v->axes);
        double          here   = n[i].evaluations;
        double          called = n[i].calls;

        p->materialised[i] = rd_is_materialised_kind(v);
        /* Loops can be bounded by a comparison of indices, as of the pairs i < j, but not by an
         * array of bools. */
        if (!p->materialised[i] && !address[i] && !compares_places(g, place, i) && may_keep(p, i))
            p->materialised[i] = v->ops * ((rd_is_function(v) ? called : here) - once) >
                                     RD_PRICE_NEAR * (1 + n[i].uses) * once ||
                                 (gathers && saves_gathers(p, i, &n[i]));
        if (p->materialised[i]) {
            here   = points(p, rd_space(v)); /* stored: computed once a point */
            called = rd_is_element_by_element(g, v) ? RD_VECTOR * here : here;
        }
        for (int k = 0; k < v->n_in; k++)
            if (v->in[k] >= 0)
                use_inline(&n[v->in[k]], here, called);
        for (int d = 0; d < v->n_at; d++)
            for (int t = 0; t < v->at[d].n_term; t++)
                if (v->at[d].term[t].axis < 0)
                    use_inline(&n[v->at[d].term[t].value], here, called);
    }
    return true;
}

/* ---- Reads ----------------------------------------------------------------------------------- */
/* Notes that materialised value `a` reads `value` at its own index along axes `same`; after a
 * second read, `same` has the axes common to both. False: no memory. a->use lists what it reads,
 * with room for a->room; p->readers counts readers. */
static bool add_use(rd_placing *p, rd_materialised *a, int value, rd_set same)
{
    for (int i = 0; i < a->n_use; i++)
        if (a->use[i].value == value) {
            a->use[i].same &= same;
            return true;
        }
    if (a->n_use == a->room) {
        int     room = a->room ? 2 * a->room : 8;
        rd_use *more =
            rd_pool_grow(p->graph->pool, a->use, (size_t)a->n_use, (size_t)room, sizeof *more);

        if (!more)
            return false;
        a->use  = more;
        a->room = room;
    }
    a->use[a->n_use++] = (rd_use){ value, same };
    p->readers[value]++;
    return true;
}

/* The axes of a stored value along which a READ reads it at the reader's own loop index. A dense
 * array is read at one flat index, so there are none. */
static rd_set same_axes(const rd_graph *g, const rd_value *read)
{
    const rd_value *t    = &g->value[read->target];
    rd_set          same = 0;

    for (int d = 0; d < t->n_dim && !t->dense; d++)
        if (rd_subscript_is_axis(&read->at[d], t->dim[d]))
            same |= rd_bit(t->dim[d]);
    return same;
}

/* A depth-first search: a stack of n values to visit.  seen: by value, stamp of the last search
 * that visited it; stamp: that of this search. */
typedef struct search {
    int32_t *stack, *seen, n, stamp;
} search;

/* Pushes a value on the stack of the search if it was not visited yet; -1 is none. */
static void push(search *w, int value)
{
    if (value >= 0 && w->seen[value] != w->stamp) {
        w->seen[value]   = w->stamp;
        w->stack[w->n++] = value;
    }
}

/* Lists what a materialised (stored) value reads, leaves and other materialised values, by a
 * depth-first search through inlined ones. Gathered indices count as operands. False: no memory.
 * w->stamp marks the values that this search has met (push()). v->target < 0: the leaf itself is
 * the use; same_axes() are the axes along which a READ is at its own index. */
static bool list_uses(rd_placing *p, rd_materialised *a, search *w)
{
    const rd_graph *g = p->graph;

    w->stamp         = a->value + 1;
    w->n             = 0;
    w->stack[w->n++] = a->value;
    while (w->n) {
        int             i = w->stack[--w->n];
        const rd_value *v = &g->value[i];

        if (i != a->value && p->materialised[i]) { /* read where it is stored */
            if (!add_use(p, a, i, v->axes))
                return false;
            continue;
        }
        if ((v->kind == RD_VALUE_READ || (v->kind == RD_VALUE_SORT && v->target >= 0)) &&
            !add_use(p, a, v->target < 0 ? i : v->target,
                     v->target < 0 ? v->axes : same_axes(g, v)))
            return false;
        for (int k = 0; k < v->n_in; k++)
            push(w, v->in[k]);
        for (int d = 0; d < v->n_at; d++)
            for (int t = 0; t < v->at[d].n_term; t++)
                if (v->at[d].term[t].axis < 0)
                    push(w, v->at[d].term[t].value);
    }
    return true;
}

/* For each stored value, the SIMD lane axis of a reduction that reads it, possibly through other
 * stored maps, if the value varies along it; -1: none. Of several reductions the one listed first
 * decides. Readers come behind what they read in p->list, so one pass from the end finds all.
 * The result is by index in p->list. NULL: no memory. */
static int *lane_axes(const rd_placing *p)
{
    int *axis = rd_pool_get(p->graph->pool, ((size_t)p->n + 1) * sizeof *axis);

    for (int i = 0; axis && i < p->n; i++)
        axis[i] = -1;
    for (int i = p->n; axis && i-- > 0;) {
        const rd_materialised *a      = &p->list[i];
        const rd_value        *reader = &p->graph->value[a->value];
        const int              lane   = reader->combine                ? reader->combine->lane_axis
                                        : reader->kind == RD_VALUE_MAP ? axis[i]
                                                                       : -1;

        for (int u = 0; u < a->n_use && lane >= 0; u++) {
            const int read = p->number[a->use[u].value];

            if (read >= 0 && rd_in(p->graph->value[a->use[u].value].axes, lane))
                axis[read] = lane;
        }
    }
    return axis;
}

/* Gives a stored map without storage dims the dims in order of its axes. The axis `last` (-1: any)
 * comes last, as a reduction reads its vectors along it, which are contiguous then. False: no
 * memory. rd_value.dim are the storage dims, of which the last is contiguous. A value that varies
 * along no axis has none. */
static bool give_dims(const rd_placing *p, int value, int last)
{
    rd_graph *g = p->graph;
    rd_value *v = &g->value[value];

    if (v->n_dim || !v->axes)
        return true;
    v->dim = rd_pool_get(g->pool, (size_t)g->n_axis * sizeof *v->dim);
    for (int a = 0; v->dim && a < g->n_axis; a++)
        if (rd_in(v->axes, a) && a != last)
            v->dim[v->n_dim++] = a;
    if (v->dim && last >= 0)
        v->dim[v->n_dim++] = last;
    return v->dim;
}

/* Decides which values are materialised (stored), lists them operands first with what each reads,
 * and gives them storage dims. False: no memory. choose_maps() marks them in p->materialised;
 * p->number is a value's place in p->list, -1: not stored. */
bool rd_choose_materialised(rd_placing *p)
{
    rd_graph *g = p->graph;
    size_t    n = (size_t)g->n_value + 1;
    search    w = { .stack = rd_pool_get(g->pool, n * sizeof *w.stack),
                    .seen  = rd_pool_get(g->pool, n * sizeof *w.seen) };

    p->list = rd_pool_get(g->pool, n * sizeof *p->list);
    if (!w.stack || !w.seen || !p->list || !choose_maps(p))
        return false;
    p->n = 0;
    memset(p->readers, 0, n * sizeof *p->readers);
    memset(p->touch_of, -1, n * sizeof *p->touch_of);
    for (int i = 0; i < g->n_value; i++) {
        p->number[i] = -1;
        if (p->materialised[i]) {
            p->number[i]    = p->n;
            p->list[p->n++] = (rd_materialised){ .value = i };
            if (!list_uses(p, &p->list[p->n - 1], &w))
                return false;
        }
    }
    const int *lane = lane_axes(p);

    for (int i = 0; lane && i < p->n; i++)
        if (!give_dims(p, p->list[i].value, lane[i]))
            return false;
    return lane;
}
