/* sides.c - separates reductions that want different loops into sides, such as the nearest point
 * of each of two sets in the other.  Values of two sides share no loop.
 *
 * If several sides reduce one value, such as the distance of a pair, each side recomputes it
 * where that costs less than an array.  The plan without sides has the same bits.  It stands
 * unless it costs 1.5 times as much (recompute.c).
 *
 * A fold is a reduction or a scan.  Each fold that conflicts with another gets a side; other
 * values get one if only that side wants them, and copies if several sides do.
 *
 * Fields. An operand in[k] of -1 is not there. A READ is of a leaf's `slot`, or of another value,
 * its `target`, -1: it is not. `group` is the axis of a group-by's groups, `inner` that of a
 * reducer's outputs or of a sorted row, -1: none. A fold's lane_axis is the axis with contiguous
 * elements for vectors, -1: none. */
#include "eval/ir.h"
#include <stdlib.h>
#include <string.h>

/* Number of sides, from 1 on; side 0 goes with any.  MOST_FOLDS fit in a bit set. */
enum { MOST_SIDES = 8, MOST_FOLDS = 64, MOST_COPIES = 64, DEPTH = 16 };

/* A reduction of fewer operations is recomputed rather than stored.  At this limit both take 12
 * ms: sums of the kernel matrix of 2,000 points in 50 dimensions, with some 350 operations an
 * element. */
static const double AGAIN = 256;
/* So is one of more operations, if it would be an array of so many elements. */
static const double AGAIN_OF_MANY = 4096, MANY = 1 << 24;
/* How many times as many elements as an array that it reads such a reduction has at least. */
static const double FAR = 64;

/* The state of the pass. */
typedef struct siding {
    rd_graph *g;
    int32_t   n, copies;  /* values before the pass; copies made */
    bool      neighbours; /* reductions that take the results of others one by one have a side */
    /* by value: bit set of the reductions that it is computed from, itself included */
    uint64_t *under;
    uint64_t *pairs;   /* by value: bit set of the short folds of pairs below it, behind maps */
    uint32_t *wanted;  /* by value: bit set of the sides that compute something from it */
    int32_t  *copy;    /* by side and value: that side's copy, -1: not asked for yet */
    int32_t   n_pairs; /* short folds of pairs that have a bit in `pairs` */
    int32_t   n_fold, fold[MOST_FOLDS]; /* the reductions and scans */
} siding;

/* ---- What is computed again ------------------------------------------------------------------ */
/* True for a value that is stored in any case and has at most `few` elements, such as a sum for
 * each single point below a reduction over pairs of points. Reading it counts as reading memory. */
static bool is_small_array(const rd_graph *g, const rd_value *v, double few)
{
    return rd_is_materialised_kind(v) && (double)rd_points_of(g, v->axes) <= few;
}

/* Operations to compute one element of a value from memory, through elementwise operations;
 * AGAIN_OF_MANY, which is too many, if there is a reduction or a gather below. Stored arrays of at
 * most `few` elements count as memory. `depth` bounds the recursion. */
static double cost_of(const rd_graph *g, int value, double few, int depth)
{
    const rd_value *v    = &g->value[value];
    double          cost = v->ops;

    if (v->kind == RD_VALUE_CONST || v->kind == RD_VALUE_COORD ||
        (v->kind == RD_VALUE_READ && !rd_is_gathered(v)) || is_small_array(g, v, few))
        return 1;
    if (v->kind != RD_VALUE_MAP || rd_is_materialised_kind(v) || depth == 0)
        return AGAIN_OF_MANY;
    for (int k = 0; k < v->n_in && cost < AGAIN_OF_MANY; k++)
        cost += v->in[k] >= 0 ? cost_of(g, v->in[k], few, depth - 1) : 0;
    return cost;
}

/* True for a reduction that takes fewer than `again` operations an element, so that it is cheaper
 * to recompute than to store. */
static bool takes_less(const rd_graph *g, const rd_value *v, double again)
{
    const double points = (double)rd_points_of(g, v->axes);
    double       cost   = 1;

    if (v->kind != RD_VALUE_REDUCE || v->out >= 0 || v->into >= 0 || v->is_whole_array ||
        v->inner >= 0 || v->group >= 0)
        return false;
    for (int k = 0; k < v->n_in; k++)
        cost += v->in[k] >= 0 ? cost_of(g, v->in[k], points / FAR, DEPTH) : 0;
    return cost * (double)rd_points_of(g, v->reduced) < again;
}

/* True for a reduction that is cheaper to recompute than to store. */
static bool is_cheap(const rd_graph *g, const rd_value *v)
{
    return takes_less(g, v, (double)rd_points_of(g, v->axes) > MANY ? AGAIN_OF_MANY : AGAIN);
}

/* True for a fold (a reduction or scan) that loops compute, not a library (apart). */
static bool is_fold(const rd_value *v)
{
    return v->combine && !v->by_library && (v->kind == RD_VALUE_REDUCE || v->kind == RD_VALUE_SCAN);
}

/* True for an elementwise operation or a user's function that is computed in its readers, not
 * stored. */
static bool is_computed_inline(const rd_value *v)
{
    return (v->kind == RD_VALUE_MAP || v->kind == RD_VALUE_CALL) && !rd_is_materialised_kind(v);
}

/* True if each reader may compute the value again, in place of reading an array of it. */
bool rd_is_computed_again(const rd_graph *g, const rd_value *v)
{
    return is_computed_inline(v) || (is_fold(v) && is_cheap(g, v));
}

/* ---- Sides of reductions --------------------------------------------------------------------- */
/* For tests: few pairs count as many. */
static bool few_are_many;

/* For tests: folds that read the same pairs have different sides, however few pairs there are. */
void rd_force_sides_of_pairs(bool few)
{
    few_are_many = few;
}

/* True for a short fold of many pairs, such as their distances.  Two phases of a loop that read it
 * would keep a panel of it between them, and cost more than to compute it twice. */
static bool is_of_pairs(const rd_graph *g, const rd_value *v)
{
    return is_fold(v) && (rd_points_of(g, v->axes) > RD_MANY_PAIRS || few_are_many) &&
           takes_less(g, v, AGAIN);
}

/* Finds the short folds of pairs (such as distances, is_of_pairs()) that a value is made of:
 * itself, and those of operands that are computed inline or are such folds. s->pairs[value] has a
 * bit for each; those behind the 64th have none, so readers of them are not separated. */
static void find_pairs(siding *s, int value)
{
    enum { MOST_PAIRS = 64 };
    const rd_value *v = &s->g->value[value];

    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0) {
            const rd_value *x = &s->g->value[v->in[k]];

            s->pairs[value] |=
                is_computed_inline(x) || is_of_pairs(s->g, x) ? s->pairs[v->in[k]] : 0;
        }
    if (is_of_pairs(s->g, v) && s->n_pairs < MOST_PAIRS)
        s->pairs[value] |= UINT64_C(1) << s->n_pairs++;
}

/* Finds the folds (reductions and scans) below a value: in its operands, in what it reads, and in
 * gathered indices. A fold that is not cheap to recompute gets a number, its bit in the set; more
 * than 64 are left out. Operands are done before. s->under[value] is the set; v->target is what
 * it reads, -1: no value of the graph; a term with axis < 0 is a gathered index. */
static void find_under(siding *s, int value)
{
    const rd_value *v     = &s->g->value[value];
    uint64_t        under = 0;

    for (int k = 0; k < v->n_in; k++)
        under |= v->in[k] >= 0 ? s->under[v->in[k]] : 0;
    under |= v->target >= 0 ? s->under[v->target] : 0;
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            under |= v->at[d].term[t].axis < 0 ? s->under[v->at[d].term[t].value] : 0;
    if (is_fold(v) && !is_cheap(s->g, v) && s->n_fold < MOST_FOLDS) {
        under |= (uint64_t)1 << s->n_fold;
        s->fold[s->n_fold++] = value;
    }
    s->under[value] = under;
}

/* True if fold number `reader` is computed from fold number a, directly or not. Both are indices
 * of s->fold (reductions and scans). */
static bool is_read_by(const siding *s, int a, int reader)
{
    return s->under[s->fold[reader]] >> a & 1;
}

/* True if `reader`, a sum over all results of `fold` (a reduction), would keep the loop they share
 * from vectors: it takes the results one after the other, and the fold has no SIMD lanes along
 * what it reduces. The fold has few results, so that storing them costs nothing. Clauses, in
 * order:
 * - both are reductions
 * - the fold has one lane, or lanes along a kept axis
 * - it has axes, and the reader reduces all of them
 * - it reduces at least 64 elements to a result */
bool rd_takes_neighbours(const rd_graph *g, const rd_value *reader, const rd_value *fold)
{
    const rd_combine *c = fold->combine;

    return reader->combine && reader->kind == RD_VALUE_REDUCE && fold->kind == RD_VALUE_REDUCE &&
           c && (c->lanes == 1 || !rd_in(fold->reduced, c->lane_axis)) && fold->axes &&
           !(fold->axes & ~reader->reduced) &&
           FAR * (double)rd_points_of(g, fold->axes) <= (double)rd_points_of(g, rd_space(fold));
}

/* True if the reader needs another loop than a fold that it reads: rd_needs_own_loop() says so; or
 * the fold keeps none of the reader's axes, as a total does, or is read at other places than its
 * own, and is complete before; or both are made of the same pairs; or the reader takes the fold's
 * results one after the other.  Both are numbers of values. */
static bool runs_later(const siding *s, int reader, int fold)
{
    const rd_value *v = &s->g->value[reader], *x = &s->g->value[fold];

    return rd_needs_own_loop(v, x) || x->is_whole_array || !(x->axes & rd_space(v)) ||
           (s->pairs[reader] & s->pairs[fold]) ||
           (s->neighbours && rd_takes_neighbours(s->g, v, x));
}

/* True if folds number a and b (reductions and scans) cannot share loops: one reduces an axis
 * that the other keeps, or one is computed from the complete results of the other. is_read_by()
 * says which of both reads the other, and runs_later() whether it needs another loop for that. */
static bool are_crossing(const siding *s, int a, int b)
{
    const rd_value *v = &s->g->value[s->fold[a]], *m = &s->g->value[s->fold[b]];

    if (is_read_by(s, a, b))
        return runs_later(s, s->fold[b], s->fold[a]);
    if (is_read_by(s, b, a))
        return runs_later(s, s->fold[a], s->fold[b]);
    return ((v->reduced ^ m->reduced) & rd_space(v) & rd_space(m)) != 0;
}

/* The set of sides that must run before fold number k (a reduction or scan), because it reads
 * folds of several; 0: it reads at most one side, whose loops it may share. A side is a group of
 * folds that share loops. sides & (sides - 1) is 0 if there is one bit at most. */
static uint32_t sides_before(const siding *s, int k)
{
    uint32_t sides = 0;

    for (int i = 0; i < s->n_fold; i++)
        if (i != k && is_read_by(s, i, k) && s->g->value[s->fold[i]].loop_side)
            sides |= 1u << s->g->value[s->fold[i]].loop_side;
    return sides & (sides - 1) ? sides : 0;
}

/* Gives fold number k (a reduction or scan) the first side (group of folds that share loops, from
 * 1 on) without a fold that conflicts with it; 0 if it conflicts with none. False: there are no
 * more sides. `crossed` is a set of sides, bit by bit, and `any` says that it conflicts with
 * some fold. */
static bool take_side(const siding *s, int k)
{
    uint32_t crossed = sides_before(s, k);
    bool     any     = crossed != 0;
    int32_t  side    = 1;

    for (int i = 0; i < s->n_fold; i++)
        if (i != k && are_crossing(s, k, i)) {
            any = true;
            crossed |= 1u << s->g->value[s->fold[i]].loop_side;
        }
    while (side < MOST_SIDES && (crossed >> side & 1))
        side++;
    s->g->value[s->fold[k]].loop_side = any && side < MOST_SIDES ? side : 0;
    return !any || side < MOST_SIDES;
}

/* Puts all folds (reductions and scans) on side 0, so that all may share loops: no more groups of
 * folds with loops of their own. */
static void forget_sides(const siding *s)
{
    for (int k = 0; k < s->n_fold; k++)
        s->g->value[s->fold[k]].loop_side = 0;
}

/* ---- Values of sides ------------------------------------------------------------------------- */
/* True if a value is made of fold number k, and of no other fold that reads fold k, so that k is
 * directly below it. s->under[value] has a bit for each fold that it is made of. */
static bool is_next_below(const siding *s, int k, int value)
{
    for (int i = 0; i < s->n_fold; i++)
        if (i != k && (s->under[value] >> i & 1) && is_read_by(s, k, i))
            return false;
    return s->under[value] >> k & 1;
}

/* The side of the folds that a map is made of, if these take 64 steps or more for each of its
 * elements: such as the residuals of sums over pairs.  The side that makes the results makes the
 * map, too, and others read a small array.  0: there is no such side. */
static int32_t side_of_results(const siding *s, int value)
{
    const rd_value *v    = &s->g->value[value];
    int32_t         side = 0;

    if (!is_computed_inline(v) || !s->under[value])
        return 0;
    for (int k = 0; k < s->n_fold; k++) {
        const rd_value *fold = &s->g->value[s->fold[k]];

        if (!is_next_below(s, k, value))
            continue;
        if (!fold->loop_side || (side && fold->loop_side != side) ||
            FAR * (double)rd_points_of(s->g, v->axes) > (double)rd_points_of(s->g, rd_space(fold)))
            return 0;
        side = fold->loop_side;
    }
    return side;
}

/* Passes on to operands which sides (groups of reductions that share loops) want them; users were
 * visited before. A value that one side alone wants belongs to that side. One that several want is
 * passed on for each only if they compute it again. s->wanted is a set of sides by value, bit by
 * bit; side 0: none. */
static void pass_sides_down(siding *s, int value)
{
    rd_value      *v      = &s->g->value[value];
    const uint32_t wanted = s->wanted[value];
    uint32_t       down;

    if (v->loop_side == 0 && wanted)
        v->loop_side = side_of_results(s, value);
    /* `wanted` has one bit: one side alone computes something from the value */
    if (v->loop_side == 0 && (is_fold(v) || is_computed_inline(v)) && wanted &&
        !(wanted & (wanted - 1)))
        v->loop_side = __builtin_ctz(wanted);
    down = v->loop_side ? 1u << v->loop_side : rd_is_computed_again(s->g, v) ? wanted : 0;
    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0)
            s->wanted[v->in[k]] |= down;
}

/* ---- Copies ---------------------------------------------------------------------------------- */
static int value_of_side(siding *s, int value, int side);

/* The operands of a value as a side (group of folds that share loops) computes them, in a new
 * list; NULL: no memory. *are_copies: some are copies. value_of_side() is the value or its copy
 * for this side, -1: no memory. */
static int32_t *operands_of_side(siding *s, int value, int side, bool *are_copies)
{
    const int32_t n  = s->g->value[value].n_in;
    int32_t      *in = rd_pool_get(s->g->pool, (size_t)(n + 1) * sizeof *in);

    *are_copies = false;
    for (int k = 0; in && k < n; k++) {
        const int32_t x = s->g->value[value].in[k];

        in[k] = x < 0 ? x : value_of_side(s, x, side);
        if (x >= 0 && in[k] < 0)
            return NULL;
        *are_copies |= in[k] != x;
    }
    return in;
}

/* Gives v, a reduction with one accumulator per result, the lane axis of its reader on this side
 * (group of reductions that share loops), so that both run on the same vectors. SIMD lanes along
 * any kept axis (not reduced) give the same bits. False: no memory. v gets a `combine` of its
 * own, as it may be shared. lanes is 1 if each result has one accumulator; lane_axis is the axis
 * along which lanes lie, -1: none. */
static bool choose_reader_lane(siding *s, rd_value *v, int side)
{
    rd_combine *own = rd_pool_get(s->g->pool, sizeof *own);

    if (!own)
        return false;
    *own = *v->combine;
    for (int k = 0; k < s->n_fold && own->lanes == 1; k++) {
        const rd_value *reader = &s->g->value[s->fold[k]];
        const int32_t   axis   = reader->combine->lane_axis;

        if (reader->loop_side == side && axis >= 0 && rd_in(v->axes, axis) && own->lane_axis >= 0 &&
            rd_in(v->axes, own->lane_axis))
            own->lane_axis = axis;
    }
    v->combine = own;
    return true;
}

/* Makes a copy of a value for a side (group of folds that share loops), with operands `in`;
 * returns its number, -1: no memory. s->copies counts them. */
static int copy_of(siding *s, int value, int side, int32_t *in)
{
    rd_value v = s->g->value[value];
    int      made;

    v.loop_side = side;
    v.in        = in;
    if (v.combine && !choose_reader_lane(s, &v, side))
        return -1;
    made = rd_graph_add(s->g, v);
    s->copies += made >= 0;
    return made;
}

/* True if `side` (a group of folds that share loops) is the first that wants the value: it takes
 * the original, others get copies. */
static bool is_first(const siding *s, int value, int side)
{
    return __builtin_ctz(s->wanted[value]) == side;
}

/* The number of a value as a side (group of folds that share loops) computes it: the value itself
 * or a copy; -1: no memory. Only values without a side that are cheap to compute are copied, each
 * at most once a side. The first side that wants it takes the original, but not that of a map
 * whose operands became copies. */
static int value_of_side(siding *s, int value, int side)
{
    const rd_value v = s->g->value[value];
    int32_t       *in, *mine;
    bool           are_copies;

    if (value >= s->n || v.loop_side || s->copies >= MOST_COPIES || !rd_is_computed_again(s->g, &v))
        return value;
    mine = &s->copy[(size_t)side * (size_t)s->n + (size_t)value];
    if (*mine >= 0)
        return *mine;
    if (!(in = operands_of_side(s, value, side, &are_copies)))
        return -1;
    if (is_first(s, value, side) && (is_fold(&v) || !are_copies))
        return *mine = value;
    return *mine = copy_of(s, value, side, in);
}

/* Gives the original of a value that was copied to the first side (group of folds that share
 * loops) that wants it. False: no memory. s->copy has by side and value the number that the
 * value has there, -1: none. A reduction then takes the lane axis of its reader. */
static bool keep_first(siding *s, int value)
{
    rd_value *v      = &s->g->value[value];
    bool      copied = false;

    for (int side = 1; side < MOST_SIDES; side++) {
        const int32_t own = s->copy[(size_t)side * (size_t)s->n + (size_t)value];

        copied |= own >= 0 && own != value;
    }
    if (v->loop_side || !copied)
        return true;
    v->loop_side = __builtin_ctz(s->wanted[value]);
    return !v->combine || choose_reader_lane(s, v, v->loop_side);
}

/* Replaces the operands of a value that belongs to a side (group of folds that share loops) by
 * that side's own. False: no memory. */
static bool give_own(siding *s, int value)
{
    const int32_t side = s->g->value[value].loop_side;
    bool          are_copies;
    int32_t      *in;

    if (!side)
        return true;
    if (!(in = operands_of_side(s, value, side, &are_copies)))
        return false;
    if (are_copies)
        s->g->value[value].in = in;
    return true;
}

/* Gives all folds sides (groups of folds that share loops); *any: some are not 0. False: there are
 * not enough sides, and all were taken back. */
static bool take_sides(siding *s, bool *any)
{
    for (int k = 0; k < s->n_fold; k++) {
        if (!take_side(s, k)) {
            forget_sides(s);
            return false;
        }
        *any |= s->g->value[s->fold[k]].loop_side != 0;
    }
    return true;
}

/* Separates folds (reductions and scans) that want different loops into sides, which share no
 * loops, and gives each side copies of values that it computes again. If there are too many sides,
 * all folds share loops as if there were no conflict. False: no memory. At first only folds that
 * cannot share loops get sides; if there are none, then also reductions that take the results of
 * others one by one (neighbours). Sides are passed from users to operands, so that loop goes
 * down. */
bool rd_assign_sides(rd_graph *g)
{
    const size_t n     = (size_t)g->n_value + 1;
    bool         sides = false;
    siding       s     = { .g      = g,
                           .n      = g->n_value,
                           .under  = rd_pool_get(g->pool, n * sizeof *s.under),
                           .pairs  = rd_pool_get(g->pool, n * sizeof *s.pairs),
                           .wanted = rd_pool_get(g->pool, n * sizeof *s.wanted),
                           .copy   = rd_pool_get(g->pool, MOST_SIDES * n * sizeof *s.copy) };

    if (!s.under || !s.pairs || !s.wanted || !s.copy)
        return false;
    memset(s.copy, -1, MOST_SIDES * n * sizeof *s.copy);
    for (int i = 0; i < s.n; i++) {
        find_under(&s, i);
        find_pairs(&s, i);
    }
    if (!take_sides(&s, &sides))
        return true;
    s.neighbours = !sides; /* only if nothing else conflicts */
    if (!sides && !take_sides(&s, &sides))
        return true;
    for (int i = s.n; sides && i-- > 0;)
        pass_sides_down(&s, i);
    for (int i = 0; sides && i < s.n; i++)
        if (!give_own(&s, i))
            return false;
    for (int i = 0; s.copies && i < s.n; i++)
        if (!keep_first(&s, i))
            return false;
    return !s.copies || rd_graph_sort_results(g);
}
