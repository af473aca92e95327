/* combine.c - decides what fixes the bits of each reduction: the order of its reduced axes, the
 * lane axis, and the combine tree.
 *
 * The decisions depend only on the reduction's own operands, their strides, and fixed constants.
 * Other results, threads, caches and measurements cannot change them, so they cannot change
 * bits.
 *
 * Terms: a lane is one of 64 accumulators that elements go to in turn; the lane axis is the axis
 * along which that happens.  A block is a number of steps of each lane.  An access is how one
 * operand is read: its stride along each axis.  A kept axis is one that is not reduced.
 *
 * Fields. A fold's lane_axis is the axis with contiguous elements for vectors, -1: none. An operand
 * in[k] of -1 is not there. `group` is the axis of a group-by's groups, `inner` that of a reducer's
 * outputs or of a sorted row, -1: none. */
#include "core/combine_tree.h"
#include "eval/collect/reduction_accesses.h"
#include <stdlib.h>
#include <string.h>

/* The extent of an axis of the graph. */
static int64_t extent(const rd_fold_reads *o, int axis)
{
    return o->graph->axis[axis].extent;
}

/* ---- Own virtual shape: axis x joins outside axis y if every operand reads both as one axis -- */
/* The coefficient of an axis in the flat C-order index over the reduced axes; 0 of a kept
 * axis, one that is not reduced. A larger one belongs to an axis that is further outside.
 * combine->index is that flat index. */
static int64_t index_coef(const rd_fold_reads *o, int axis)
{
    const rd_subscript *at = &o->value->combine->index;

    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis == axis)
            return at->term[t].coef;
    return 0;
}

/* True if axes x and y of the reduction act as one flattened axis with x outside: every operand's
 * stride along x is y's extent times its stride along y, as in a contiguous matrix. Both are
 * reduced or both are kept (not reduced). A reducer that needs the flat index, such as argmax,
 * also wants them adjacent in C order. Clauses, in order:
 * - both are axes that the reduction loops over (space)
 * - neither has fewer than 2 indices, because such an axis would suit any stride
 * - no operand is gathered along either, because gathered addresses have no stride
 * - some operand has a stride along y; otherwise only C order joins the two */
static bool is_joined_outside(const rd_fold_reads *o, int x, int y)
{
    bool in_order = index_coef(o, x) == index_coef(o, y) * extent(o, y), has_stride = false;

    if (x == y || rd_in(o->value->reduced, x) != rd_in(o->value->reduced, y) ||
        !rd_in(o->space, x) || !rd_in(o->space, y))
        return false;
    if (extent(o, x) < 2 || extent(o, y) < 2 || (rd_needs_flat_index(o->value) && !in_order))
        return false;
    for (int i = 0; i < o->n; i++) {
        has_stride |= o->access[i].coef[y] != 0;
        if (o->access[i].coef[x] != o->access[i].coef[y] * extent(o, y) ||
            rd_in(o->access[i].gathered, x) || rd_in(o->access[i].gathered, y))
            return false;
    }
    return has_stride || in_order; /* axes without a stride join in C order only */
}

/* The axis that forms one flattened axis with y, outside of it; -1: none. Among several, the one
 * with the least number. */
static int outside(const rd_fold_reads *o, int y)
{
    for (int x = 0; x < o->graph->n_axis; x++)
        if (is_joined_outside(o, x, y))
            return x;
    return -1;
}

/* True if no axis forms one flattened axis with x, inside of it. */
static bool is_innermost(const rd_fold_reads *o, int x)
{
    for (int y = 0; y < o->graph->n_axis; y++)
        if (is_joined_outside(o, x, y))
            return false;
    return true;
}

/* The extent of y together with all axes that flatten outside it, level by level. At most
 * RD_MAX_AXES rounds, in case axes of extent 1 flatten in a circle. */
static int64_t group_extent(const rd_fold_reads *o, int y)
{
    int64_t n = extent(o, y);

    for (int x = outside(o, y), guard = 0; x >= 0 && guard < RD_MAX_AXES;
         x = outside(o, x), guard++)
        n *= extent(o, x);
    return n;
}

/* ---- Order of the reduced axes --------------------------------------------------------------- */
/* The memory access (operand) with the most distinct elements; NULL: all operands are computed
 * (bytes 0). Its strides decide the order of loops. */
static const rd_own_access *heaviest(const rd_fold_reads *o)
{
    const rd_own_access *best = NULL;
    double               most = -1;

    for (int i = 0; i < o->n; i++) {
        double points = o->access[i].bytes ? (double)rd_points_of(o->graph, o->access[i].axes) : -1;

        if (points > most) {
            most = points;
            best = &o->access[i];
        }
    }
    return best;
}

/* True if reduced axis a goes outside axis b: the one with the larger stride in access `by` does,
 * so that memory is read in order. Without a difference, or with by == NULL, C order decides. */
static bool is_outside_of(const rd_fold_reads *o, const rd_own_access *by, int a, int b)
{
    int64_t p = by ? llabs(by->coef[a]) : 0, q = by ? llabs(by->coef[b]) : 0;

    if (by && p != q)
        /* axes without a stride in the heaviest operand go outside */
        return p == 0 || (q != 0 && p > q);
    return index_coef(o, a) > index_coef(o, b);
}

/* Sorts the reduced axes from the outside in, by insertion, into c->order. c_order: in C order,
 * for reducers whose result depends on the order of elements. is_outside_of() says that axis a
 * goes outside the other, by the strides of the access `by`. */
static void order_axes(const rd_fold_reads *o, rd_combine *c, bool c_order)
{
    const rd_own_access *by = c_order ? NULL : heaviest(o);

    for (int a = 0; a < o->graph->n_axis; a++)
        if (rd_in(o->value->reduced, a)) {
            int k = c->n_order++;

            for (; k > 0 && is_outside_of(o, by, a, c->order[k - 1]); k--)
                c->order[k] = c->order[k - 1];
            c->order[k] = a;
        }
}

/* ---- Lane axis ------------------------------------------------------------------------------- */
/* True if each element of the operand is read for at least RD_OFTEN results, as a point is in sums
 * over all pairs of points. Then it pays off to pack it: to copy it so that neighbours are
 * contiguous. */
static bool is_read_again(const rd_fold_reads *o, const rd_own_access *a)
{
    return rd_points_of(o->graph, o->space & ~o->value->reduced & ~a->axes) >= RD_OFTEN;
}

/* The most steps of a short reduction whose operands are read many times: features of points. */
enum { FEATURES = 512 };

/* True if all steps of a SIMD lane stay close in memory. That is so if they are at most one block
 * of the combine tree; or up to 512 features of points in pairs, where every operand in memory is
 * read for many results. RD_TREE_STEPS is the length of a block, FEATURES is 512;
 * is_read_again(): read for many results. `bytes` 0: the operand is computed. */
static bool is_short(const rd_fold_reads *o)
{
    const int64_t steps = rd_points_of(o->graph, o->value->reduced);
    bool          pairs = steps <= FEATURES;

    for (int i = 0; i < o->n; i++)
        pairs = pairs && (!o->access[i].bytes || is_read_again(o, &o->access[i]));
    return steps <= RD_TREE_STEPS || pairs;
}

/* Cost of loading a vector of 4-byte elements along `axis`, by the access's stride. A contiguous
 * load costs 1, one element for all SIMD lanes 0.5, a small stride or a packed copy 2. Scattered
 * elements cost 16, or 12 if they are contiguous along another axis. The constants are fixed,
 * because they decide bits. a->coef[b] is the stride along axis b in elements, and a->gathered
 * the set of axes that a gathered index depends on. `unit`: another axis has stride 1. */
static double load_cost(const rd_fold_reads *o, const rd_own_access *a, int axis)
{
    int64_t step = llabs(a->coef[axis]);
    bool    unit = false;

    if (rd_in(a->gathered, axis))
        return 16;
    if (step == 0)
        return 0.5;
    if (step == 1)
        return 1;
    if (step <= 8 || (is_short(o) && is_read_again(o, a)))
        return 2;
    for (int b = 0; b < o->graph->n_axis; b++)
        unit |= b != axis && llabs(a->coef[b]) == 1;
    return unit ? 12 : 16;
}

/* Bytes of an element for load costs along an axis. Small ints that are loaded one by one (stride
 * above 8) cost as much as 4 bytes. Small floats keep their size: their combine trees were fixed
 * before this rule, and users rely on the bits. */
static int bytes_by(const rd_fold_reads *o, const rd_own_access *a, int axis)
{
    const bool floats = rd_dtype_kind(o->graph->value[o->value->in[0]].type) == RD_KIND_FLOAT;

    return a->bytes && a->bytes < 4 && !floats && llabs(a->coef[axis]) > 8 ? 4 : a->bytes;
}

/* Cost of a reduction whose SIMD lanes (64 accumulators that elements go to in turn) lie along
 * `axis`. It has loads, padding of the last vector to 64 lanes, and the merge of the lanes if the
 * axis is reduced: log2(64) = 6 steps for each result. `times` counts equal accesses, and
 * value->ops is the reduction's own operations for an element. */
static double lane_cost(const rd_fold_reads *o, int axis)
{
    double  points = (double)rd_points_of(o->graph, o->space), cost = 0;
    int64_t n = group_extent(o, axis), whole = (n + 63) / 64 * 64;

    for (int i = 0; i < o->n; i++)
        cost += points / 64 * load_cost(o, &o->access[i], axis) * bytes_by(o, &o->access[i], axis) /
                4 * o->access[i].times;
    if (n > 0)
        cost += ((double)whole / (double)n - 1) * points / 64 * o->value->ops;
    if (rd_in(o->value->reduced, axis))
        cost += 6 * (double)rd_points_of(o->graph, o->space & ~o->value->reduced);
    return cost;
}

/* True if lane axis a (along which SIMD lanes lie) is better than b at equal cost: a kept axis
 * (not reduced) before a reduced one, then the longer one, then the outer one. Axis numbers must
 * not decide, because they depend on other results. group_extent() is the length, with axes that
 * flatten outside. */
static bool is_preferred(const rd_fold_reads *o, int a, int b)
{
    bool    p = rd_in(o->value->reduced, a), q = rd_in(o->value->reduced, b);
    int64_t m = group_extent(o, a), n = group_extent(o, b);

    if (p != q)
        return q;
    return m != n ? m > n : index_coef(o, a) > index_coef(o, b);
}

/* Cost of storing results by vectors along `axis`, per 4 bytes: 0 along o->stored_axis, where they
 * are contiguous in memory; else 12 for each vector of 64, as load_cost() has for scattered
 * elements. */
static double store_cost(const rd_fold_reads *o, int axis)
{
    enum { APART = 12 };
    const double points = (double)rd_points_of(o->graph, o->value->axes);

    return axis == o->stored_axis ? 0
                                  : points / 64 * APART * (double)rd_dtype_size(o->value->type) / 4;
}

/* True if, with SIMD lanes along `axis`, every operand in memory would be packed (copied to be
 * contiguous along it), because it is read many times and is not contiguous. `bytes` 0: the
 * operand is computed. coef is its stride along an axis; is_read_again(): it is read for many
 * results. */
static bool is_packing_needed(const rd_fold_reads *o, int axis)
{
    bool pairs = is_short(o);

    for (int i = 0; i < o->n; i++)
        pairs = pairs && (!o->access[i].bytes ||
                          (is_read_again(o, &o->access[i]) && llabs(o->access[i].coef[axis]) != 1));
    return pairs;
}

/* Replaces the axis of the SIMD lanes of a pairwise sum by the axis along which its result is
 * contiguous, if that is cheaper. Both must be kept axes (not reduced), and all operands packed
 * anyway. Bits do not change: with lanes along any kept axis, each result has one accumulator.
 * So `along` must be known, be an axis of the result, and be the innermost of the axes that
 * flatten with it. `lane`, -1: none, is the axis chosen so far; it is returned if nothing is
 * gained. */
static int lane_of_stored(const rd_fold_reads *o, int lane)
{
    const int along = o->stored_axis;

    if (along < 0 || lane < 0 || rd_in(o->value->reduced, lane) ||
        rd_in(o->value->reduced, along) || !rd_in(o->value->axes, along) ||
        !is_innermost(o, along) || !is_packing_needed(o, lane))
        return lane;
    return lane_cost(o, along) + store_cost(o, along) < lane_cost(o, lane) + store_cost(o, lane)
               ? along
               : lane;
}

/* The axis with the least cost as lane axis (along which SIMD lanes lie); -1: there is none.
 * reduced_allowed: it may be a reduced axis, as elements may be added in any order. Of axes that
 * flatten to one, only the innermost counts. o->space is the set of axes of the fold's loops,
 * o->value the fold; is_innermost() is that last condition. Of equal costs is_preferred()
 * decides. */
static int choose_lane(const rd_fold_reads *o, bool reduced_allowed)
{
    int    best  = -1;
    double least = 0;

    for (int a = 0; a < o->graph->n_axis; a++) {
        double cost;

        if (!rd_in(o->space, a) || (rd_in(o->value->reduced, a) && !reduced_allowed) ||
            !is_innermost(o, a))
            continue;
        cost = lane_cost(o, a);
        if (best < 0 || cost < least || (cost == least && is_preferred(o, a, best))) {
            best  = a;
            least = cost;
        }
    }
    return best;
}

/* True if a short reduction over the axis is below the value, behind at most `depth` maps. A
 * matrix product that would be stored does not count, as it is no longer computed here. FEATURES
 * is the length up to which it is short. */
static bool has_fold_over(const rd_graph *g, int value, int axis, int depth)
{
    const rd_value *v     = &g->value[value];
    bool            found = v->kind == RD_VALUE_REDUCE && rd_in(v->reduced, axis) &&
                 rd_points_of(g, v->reduced) <= FEATURES && !rd_is_stored_product(g, v);

    for (int k = 0; k < v->n_in && v->kind == RD_VALUE_MAP && depth > 0 && !found; k++)
        found = v->in[k] >= 0 && has_fold_over(g, v->in[k], axis, depth - 1);
    return found;
}

/* A kept axis (not reduced) over which a reduction below sums, such as the coordinates in the
 * gradient of a distance. If the lane axis `lane` is kept, only that one is asked for, else any.
 * -1: there is none. has_fold_over() finds such a sum. */
static int axis_of_features(const rd_fold_reads *o, int lane)
{
    enum { DEEPEST = 8 };
    const bool lane_is_reduced = rd_in(o->value->reduced, lane);

    for (int a = 0; a < o->graph->n_axis; a++)
        for (int k = 0;
             k < o->value->n_in && (lane_is_reduced ? rd_in(o->value->axes, a) : a == lane); k++)
            if (o->value->in[k] >= 0 && has_fold_over(o->graph, o->value->in[k], a, DEEPEST))
                return a;
    return -1;
}

/* Replaces the axis of the SIMD lanes if a reduction below sums over a kept axis (not reduced), as
 * the gradient of a distance |x - y| keeps the coordinates. The distance is the same for all
 * coordinates; lanes along another kept axis compute it for 64 pairs at a time. With lanes along
 * any kept axis, bits are the same. Candidates are other kept axes with at least RD_OFTEN (64)
 * indices, innermost of those that flatten to one; of these the cheapest is taken. `lane` is
 * returned if there is none. */
static int lane_of_pairs(const rd_fold_reads *o, int lane)
{
    const int features = lane < 0 ? -1 : axis_of_features(o, lane);
    double    least    = 0;
    int       best     = -1;

    for (int a = 0; features >= 0 && a < o->graph->n_axis; a++) {
        double cost;

        if (a == features || !rd_in(o->value->axes, a) || !is_innermost(o, a) ||
            extent(o, a) < RD_OFTEN)
            continue;
        cost = lane_cost(o, a);
        if (best < 0 || cost < least || (cost == least && is_preferred(o, a, best))) {
            best  = a;
            least = cost;
        }
    }
    return best < 0 ? lane : best;
}

/* Moves the lane axis (along which elements go to SIMD lanes in turn), and the axes that flatten
 * outside it, to the end of the order (innermost). c->first_lane is where they begin there.
 * c->order lists axes from the outermost on; outside() finds the axis that flattens with a and
 * lies outside it, -1: none. */
static void move_lane_last(const rd_fold_reads *o, rd_combine *c, int lane)
{
    int32_t lane_axes[RD_MAX_AXES], n_group = 0, n = 0;
    rd_set  in_group = 0;

    for (int a = lane; a >= 0 && !rd_in(in_group, a); a = outside(o, a)) {
        lane_axes[n_group++] = a;
        in_group |= rd_bit(a);
    }
    for (int k = 0; k < c->n_order; k++)
        if (!rd_in(in_group, c->order[k]))
            c->order[n++] = c->order[k];
    c->first_lane = n;
    while (n_group)
        c->order[n++] = lane_axes[--n_group];
}

/* ---- Prefixes of scans ----------------------------------------------------------------------- */
/* True if the reducer takes an element by the same operator that merges two states, as a sum
 * does. */
static bool takes_as_it_merges(int32_t reducer)
{
    return rd_reducer_table[reducer].op != RD_OP_none;
}

/* True if the scan's axis has the smallest stride in its heaviest operand.  Contiguous elements
 * then belong to one scan, and must not wait for each other; else they belong to neighbouring
 * scans.  heaviest() is that operand, coef its stride along an axis. */
static bool runs_along_memory(const rd_fold_reads *o, int axis)
{
    const rd_own_access *by = heaviest(o);

    for (int a = 0; by && a < o->graph->n_axis; a++)
        if (a != axis && rd_in(o->space, a) && extent(o, a) > 1 && by->coef[a] &&
            (by->coef[axis] == 0 || llabs(by->coef[a]) < llabs(by->coef[axis])))
            return false;
    return true;
}

/* How a scan computes the prefixes inside a block of 64 elements: one after the other, or by a
 * tree of log2 steps, which vectors can do. A tree pays off only if contiguous elements belong to
 * one scan. It needs a step that is a merge, as in a sum, and a single axis. */
static rd_prefix choose_prefix(const rd_fold_reads *o, const rd_combine *c)
{
    const bool tree = o->value->kind == RD_VALUE_SCAN && c->steps == RD_TREE_STEPS &&
                      c->n_order == 1 && takes_as_it_merges(o->value->reducer) &&
                      runs_along_memory(o, c->order[0]);

    return tree ? RD_PREFIX_TREE : RD_PREFIX_LEFT;
}

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Number of accumulators (lanes) for each group of a group-by. Contiguous elements often have one
 * label, and each would wait for the sum before it; so several accumulators take turns. At most
 * 1024 groups, so that all fit in the first-level cache; and lanes must be along a reduced axis.
 * any_order: elements may be added in any order. Labels that are rows of a sparse array
 * (RD_PATTERN_ROWS), and reducers of exponentials, get one. */
static int32_t lanes_of_groups(const rd_fold_reads *o, const rd_combine *c, bool any_order)
{
    enum { FEW = 1024 };
    const rd_value *v    = o->value;
    const bool      turn = !rd_reducer_takes_exponential((rd_reducer_id)v->reducer);

    return any_order && turn && v->expr->as.fold->of_pattern != RD_PATTERN_ROWS &&
                   c->lane_axis >= 0 && rd_in(v->reduced, c->lane_axis) &&
                   extent(o, v->group) <= FEW
               ? RD_GROUP_LANES
               : 1;
}

/* Steps in a block of a group-by reduction with so many states (accumulators). Merging all states
 * at the end of a block should cost little beside its steps, but there should be more blocks than
 * threads. by_rows: groups are rows of a sparse pattern, which tasks share, so that one block
 * suffices (nest/rows.c). So there are at least 8 steps for each state, in a power of two from
 * 2^15 to 2^26; by rows, RD_ROW_PIECE for each, without a limit that matters. */
static int64_t steps_of_groups(int64_t states, bool by_rows)
{
    enum { LEAST = 1 << 15, FOR_EACH = 8, MOST = 1 << 26 };
    const int64_t each  = by_rows ? RD_ROW_PIECE : FOR_EACH;
    const int64_t most  = by_rows ? (int64_t)MOST << 20 : MOST;
    int64_t       steps = LEAST;

    while (steps < each * states && steps < most)
        steps *= 2;
    return steps;
}

/* True if the reducer may have several lanes (SIMD accumulators that elements go to in turn),
 * because its law allows any order of elements. Lanes of a user's reducer are merged one by one,
 * which pays off only if each has 16 elements or more. The laws that allow it are `commutes`
 * (merges in any order) and `exact` (no rounding). Scans go in order. */
static bool may_have_lanes(const rd_graph *graph, const rd_value *v)
{
    const rd_fold_facts *facts = v->expr->as.fold;

    if (v->kind != RD_VALUE_REDUCE || (facts->law != RD_LAW_commutes && facts->law != RD_LAW_exact))
        return false;
    return !facts->user || rd_points_of(graph, v->reduced) >= 16 * RD_TREE_LANES;
}

/* Decides what fixes the bits of one reduction or scan: the order of loops, the lane axis, the
 * number of lanes, the steps of a block of the combine tree, and how a scan makes prefixes.
 * `along`: the axis along which its result is contiguous in memory, -1. Lanes: 64, or 32 of 8-byte
 * types; 1 if they are along a kept axis, where each result has one accumulator. A serial law
 * means one block, so a strict fold from the left. False: no memory. */
static bool combine(rd_graph *graph, rd_value *v, rd_looked **looked, int32_t along)
{
    rd_fold_reads o = {
        .graph = graph, .value = v, .space = rd_space(v), .looked = looked, .stored_axis = along
    };
    rd_combine *c         = v->combine;
    rd_law      law       = (rd_law)v->expr->as.fold->law;
    const bool  any_order = may_have_lanes(graph, v);

    if (!rd_find_accesses(&o))
        return false;
    c->seams = o.seams;
    order_axes(&o, c, !any_order);
    c->steps      = RD_TREE_STEPS;
    c->lanes      = 1;
    c->first_lane = c->n_order;
    c->lane_axis  = lane_of_pairs(&o, lane_of_stored(&o, choose_lane(&o, any_order)));
    if (v->group >= 0) {
        c->lanes = lanes_of_groups(&o, c, any_order);
        c->steps = steps_of_groups(graph->axis[v->group].extent * c->lanes,
                                   v->expr->as.fold->of_pattern == RD_PATTERN_ROWS) /
                   c->lanes;
    } else if (c->lane_axis >= 0 && rd_in(v->reduced, c->lane_axis) && v->kind == RD_VALUE_REDUCE)
        c->lanes =
            rd_dtype_size(graph->value[v->in[0]].type) == 8 ? RD_TREE_LANES / 2 : RD_TREE_LANES;
    if (law == RD_LAW_serial)
        c->steps = INT64_MAX;
    c->prefix = choose_prefix(&o, c);
    if (c->lanes > 1)
        move_lane_last(&o, c, c->lane_axis);
    return true;
}

/* Passes the axis along which value i is contiguous on to operands that have none yet, for
 * lane_of_stored(). Of a map it is the axis of its reader's storage, of a reduction its lane
 * axis. `along` is that axis by value, -1: none. */
static void pass_axis_on(const rd_graph *graph, int32_t *along, int i)
{
    const rd_value *v  = &graph->value[i];
    const int32_t   to = v->combine ? v->combine->lane_axis : along[i];

    for (int k = 0; k < v->n_in && (v->combine || v->kind == RD_VALUE_MAP); k++)
        if (v->in[k] >= 0 && along[v->in[k]] < 0)
            along[v->in[k]] = to;
}

/* Fills in rd_value.combine of all reductions and scans.  Users come before their operands, because
 * operands get their axis of contiguous elements from users.  `looked` caches, for each value,
 * the accesses found below it; `along` has for each value the axis of its contiguous elements,
 * -1. False: no memory, or cancelled. */
bool rd_combine_trees(rd_graph *graph)
{
    rd_looked **looked = rd_pool_get(graph->pool, (size_t)graph->n_value * sizeof(rd_looked *));
    int32_t    *along  = rd_stored_along(graph);

    if (!looked || !along)
        return false;
    for (int i = graph->n_value - 1; i >= 0; i--) {
        if (graph->value[i].combine &&
            (!rd_goes_on(graph->ctx) || !combine(graph, &graph->value[i], looked, along[i])))
            return false;
        pass_axis_on(graph, along, i);
    }
    for (int i = 0; i < graph->n_value; i++)
        if (graph->value[i].taken_as_array) {
            graph->value[i].taken_as_array = false; /* from here on it is a map as any other */
            graph->value[i].n_at           = 0;
        }
    return true;
}
