/* list_ranges.c - Splits loops that visit ranges of a list, as block masks name them (sparse
 * iteration).
 *
 *     serial m4 from first to last {               each range, split by index_set_split.c
 *       r7 = load .. (its first index); ...
 *       serial i1 ..; serial i1 ..; serial i1 .. }
 *
 * Clusters along another axis select the list. A strip with elements of more than two clusters
 * visits all indices.
 *
 * The list's memory holds first the starts of all lists, c->bounds->lists + 1 numbers; then, for
 * each range, its first index and its end.  List c + d is for strips with elements of clusters c
 * to d, two at most.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A fold is a reduction or a scan. A mark is an axis that is bound to where a loop's round
 * begins or ends. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/index_set_split.h"
#include "kernels/pass/pass.h"

/* The list of the loop at hand, as positions: numbers that the text computes before the loop. */
typedef struct range_list {
    rd_linear least, most;            /* clusters of the smallest and largest index     */
    rd_linear distance;               /* most - least: up to 1 one list selects all     */
    rd_linear first_range, end_range; /* of the list */
    rd_linear first, last;            /* of the ranges that are visited */
    int32_t   range;                  /* the mark that numbers ranges */
} range_list;

/* Loads element `at` of an array that starts `bytes` bytes behind the slot's base; returns the
 * value as a position. */
static rd_linear load(rd_range_split *c, int32_t slot, rd_dtype type, int64_t bytes, rd_linear at)
{
    at.offset += bytes / rd_dtype_size(type);
    return rd_index_load(&c->n, slot, type, at);
}

/* Loads number `number` of the list's memory: the starts of all lists come first, then the first
 * index and the end of each range. */
static rd_linear load_from_list(rd_range_split *c, rd_linear number)
{
    return load(c, c->bounds->list_slot, RD_I64, c->bounds->list, number);
}

/* Loads the cluster number of the smallest, or largest (`most`), index that the loop sees of the
 * axis along which clusters lie; list_at is the address of the clusters. rd_index_bound() gives
 * that index; clusters->add[0], the only addend of the address, names the axis. */
static rd_linear cluster_of(rd_range_split *c, bool most)
{
    const rd_address *clusters = &c->t->p->address[c->bounds->list_at];
    const rd_linear   at       = rd_linear_plus(c->t, rd_linear_of(clusters->offset), /*coef=*/1,
                                                rd_index_bound(c, clusters->add[0].axis, most));

    return load(c, clusters->slot, RD_I32, /*bytes=*/0, at);
}

/* Returns the position plus an offset, which is a constant. */
static rd_linear plus(rd_linear at, int64_t offset)
{
    at.offset += offset;
    return at;
}

/* Selects x if one list applies, which is so if the strip's clusters are the same or neighbours: 1
 * >= distance. Else selects `otherwise`. */
static rd_linear if_one_list(rd_range_split *c, const range_list *l, rd_linear x,
                             rd_linear otherwise)
{
    return rd_index_select(&c->n, rd_linear_of(1), l->distance, x, otherwise);
}

/* Finds which list applies: number least + most, of the strip's smallest and largest cluster. Loads
 * the numbers of its first range and of the one behind its last. If no list applies, there is one
 * range, number 0, of all indices. `first` and `last` are set later. */
static range_list find_list(rd_range_split *c)
{
    range_list l = { .least = cluster_of(c, /*most=*/false), .most = cluster_of(c, /*most=*/true) };
    rd_linear  list;

    l.distance    = rd_linear_plus(c->t, l.most, /*coef=*/-1, l.least);
    list          = rd_linear_plus(c->t, l.least, /*coef=*/1, l.most);
    l.first_range = if_one_list(c, &l, load_from_list(c, list), rd_linear_of(0));
    l.end_range = if_one_list(c, &l, load_from_list(c, plus(list, /*offset=*/1)), rd_linear_of(1));
    return l;
}

/* Returns the number of the first range whose end is `index` or more; if there is none, of the
 * last range. It is a binary search over the ends, which lie 2 apart, behind the lists + 1 starts
 * of lists and the first range's first index. Positions count in int64s from the slot's base. */
static rd_linear find_range(rd_range_split *c, const range_list *l, rd_linear index)
{
    return rd_index_search(
        &c->n, c->bounds->list_slot, l->first_range, l->end_range,
        rd_linear_of(c->bounds->list / (int64_t)sizeof(int64_t) + c->bounds->lists + 2),
        /*stride=*/2, index);
}

/* Restricts the ranges to those that overlap the loop, which may be one block of steps of a longer
 * range. If it begins where the whole range does (from == lo), nothing is skipped. */
static void skip_other_ranges(rd_range_split *c, range_list *l)
{
    rd_linear last_range;

    if (rd_linear_same(c->t, &c->from, &c->lo))
        return;
    last_range = find_range(c, l, c->to);
    l->first   = find_range(c, l, c->from);
    l->last    = plus(last_range, /*offset=*/1);
}

/* Puts the loop over ranges around the loop, so that values are computed once a range from then
 * on; returns the new loop. It counts ranges by an axis of its own (a mark), comes from no loop of
 * the program (program_loop -1), and has no strips and no known number of rounds (extent -1). */
static int32_t put_ranges_around(rd_range_split *c, range_list *l)
{
    rd_for loop = *rd_loop_of(c->t, c->stmt);

    l->first = l->first_range;
    l->last  = l->end_range;
    skip_other_ranges(c, l);

    l->range          = rd_add_mark(c->t);
    loop.kind         = RD_FOR_SERIAL;
    loop.axis         = l->range;
    loop.start_mark   = -1;
    loop.stop_mark    = -1;
    loop.from         = rd_edge_of(l->first);
    loop.to           = rd_edge_of(l->last);
    loop.step         = 1;
    loop.extent       = -1;
    loop.program_loop = loop.strips_number = -1;
    loop.width                             = 0;
    return rd_put_loop_around(c->t, c->stmt, c->stmt, &loop);
}

/* Returns 1 for the first range, else 0. One masked index beyond either end of that range is
 * visited too, as a masked element turns a sum of -0 into 0. */
static rd_linear extra_index(rd_range_split *c, const range_list *l, rd_linear range)
{
    return rd_index_select(&c->n, l->first_range, range, rd_linear_of(1), rd_linear_of(0));
}

/* Loads a bound of the range that the current round is about, number l->range. k = -1: the end of
 * the range before; 0: its first index; 1: its end. `otherwise` if no list applies. Bounds lie
 * behind the lists + 1 starts of lists, two for each range. */
static rd_linear range_edge(rd_range_split *c, const range_list *l, int32_t k, rd_linear otherwise)
{
    const rd_linear at =
        rd_linear_plus_axis(c->t, rd_linear_of(c->bounds->lists + 1 + k), /*coef=*/2, l->range);

    return if_one_list(c, l, load_from_list(c, at), otherwise);
}

/* Returns the end of what the round for the range before has visited, rounded up to whole strips
 * (ranges that vector loops visit). Two ranges may share a strip, which must be visited once. For
 * the first range: the loop's start. `high` is the end of the range before, with its extra index if
 * it was the first. */
static rd_linear end_of_visited(rd_range_split *c, const range_list *l, rd_linear range)
{
    const rd_linear before = plus(range, /*offset=*/-1);
    const rd_linear high   = rd_linear_plus(c->t, range_edge(c, l, /*k=*/-1, c->from), /*coef=*/1,
                                            extra_index(c, l, before));

    return rd_index_select(&c->n, l->first_range, range, c->from,
                           rd_round_to_step(c, high, /*behind=*/true));
}

/* Computes the pieces of one range: strips at its first and last index are masked, strips between
 * are covered (the mask is true). Only a strip whose elements are of one cluster (least >= most)
 * has covered strips; else `covered_from` is the loop's end, and nothing is covered. The mask is
 * false outside [first, last) and true in [begin, end). Each end is kept within the others, so that
 * no piece has a negative length. */
static rd_pieces find_pieces(rd_range_split *c, const range_list *l)
{
    rd_index_math  *n     = &c->n;
    const rd_linear range = rd_linear_plus_axis(c->t, rd_linear_of(0), /*coef=*/1, l->range);
    const rd_linear from  = range_edge(c, l, /*k=*/0, c->from),
                    to    = range_edge(c, l, /*k=*/1, c->to);
    const rd_linear extra = extra_index(c, l, range);
    const rd_linear covered_from =
        rd_index_select(n, l->least, l->most, from, c->to); /* a strip of one cluster */
    rd_pieces p = { .before = true, .behind = true };

    p.visited_from =
        rd_round_to_step(c, rd_linear_plus(c->t, from, /*coef=*/-1, extra), /*behind=*/false);
    p.visited_from = rd_index_max(n, p.visited_from, end_of_visited(c, l, range));
    p.visited_to =
        rd_round_to_step(c, rd_linear_plus(c->t, to, /*coef=*/1, extra), /*behind=*/true);
    p.visited_to = rd_index_max(n, p.visited_from, p.visited_to);
    p.covered_from =
        rd_index_max(n, p.visited_from, rd_round_to_step(c, covered_from, /*behind=*/true));
    p.covered_from = rd_index_min(n, p.covered_from, p.visited_to);
    p.covered_to   = rd_index_max(n, p.covered_from, rd_round_to_step(c, to, /*behind=*/false));
    p.covered_to   = rd_index_min(n, p.covered_to, p.visited_to);
    return p;
}

/* Puts a loop over the list's ranges around the loop, and splits the loop into the pieces of one
 * range: masked strips (ranges that vector loops visit), strips in which the mask is true, masked
 * strips. Early exits leave the loop over ranges. */
void rd_split_by_list(rd_range_split *c)
{
    range_list    l      = find_list(c);
    const int32_t around = put_ranges_around(c, &l);
    int32_t       first_piece, last_piece;
    rd_pieces     p;

    if (c->t->failed)
        return;
    p = find_pieces(c, &l);
    rd_split_into_pieces(c, &p, &first_piece, &last_piece);
    rd_retarget_exits(c->t, first_piece, last_piece, around);
}

/* ---- Strips of one cluster ------------------------------------------------------------------- */
/* True if a fold in the loop over strips (ranges that vector loops visit) reduces or scans the
 * strips' axis: lane (partial accumulator) or step of its elements moves with the axis. */
static bool has_steps_along(const rd_schedule *t, int32_t strips)
{
    const int32_t axis  = rd_loop_of(t, strips)->axis;
    bool          found = false;

    for (int32_t s = strips; s >= 0; s = rd_next_stmt(t, s, strips)) {
        const rd_stmt *stmt = &t->stmt[s];

        if (stmt->kind == RD_S_STEP || stmt->kind == RD_S_PREFIX)
            found |= rd_linear_coef(t, &stmt->fold_at.lane, axis) ||
                     rd_linear_coef(t, &stmt->fold_at.lane_line, axis);
    }
    return found;
}

/* Returns the number of the address of the clusters (list_at) that select the list of a loop
 * inside, if they lie along the strips' axis (along which vector loops go). -1: there are none, or
 * a fold goes along that axis. Only loops of the program (of >= 0) have such bounds. */
static int32_t clusters_along(const rd_schedule *t, int32_t strips)
{
    int32_t found = -1;

    for (int32_t s = strips; s >= 0; s = rd_next_stmt(t, s, strips)) {
        const int32_t    of = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s)->program_loop : -1;
        const rd_bounds *b  = of >= 0 && s != strips ? t->p->loop[of].bounds : NULL;

        if (b && b->list_at >= 0 &&
            t->p->address[b->list_at].add[0].axis == rd_loop_of(t, strips)->axis)
            found = b->list_at;
    }
    return found >= 0 && !has_steps_along(t, strips) ? found : -1;
}

/* Puts a block loop around the loop over strips (ranges that vector loops visit), so that no strip
 * has elements of two clusters. Each round is a run of elements of one cluster: CUT_AT_RUN ends it
 * before the first element whose cluster differs from that of the run's first. Numbers of clusters
 * are 32-bit ints. */
static void split_at_clusters(rd_schedule *t, int32_t strips, const rd_address *clusters)
{
    rd_for  runs = *rd_loop_of(t, strips);
    rd_stmt run  = rd_stmt_of(RD_S_CUT_AT_RUN);

    run.slot          = clusters->slot;
    run.type          = RD_I32;
    runs.kind         = RD_FOR_BLOCK;
    runs.start_mark   = rd_add_mark(t);
    runs.stop_mark    = rd_add_mark(t);
    runs.step         = 0; /* rounds end where the cut says */
    runs.program_loop = runs.strips_number = -1;
    runs.width                             = 0;
    rd_put_loop_around(t, strips, strips, &runs);
    run.at = rd_linear_plus_axis(t, rd_linear_of(clusters->offset), /*coef=*/1, runs.start_mark);
    rd_put_before(t, rd_add_stmt(t, &run), strips);
    if (t->failed)
        return;
    t->loop[t->stmt[strips].arg].from =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, runs.start_mark));
    t->loop[t->stmt[strips].arg].to =
        rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, runs.stop_mark));
}

/* Visits all loops over strips (ranges that vector loops visit), and splits them where clusters
 * select a list.  An axis with a single strip is left, as it has no loop over strips to split. */
void rd_split_by_clusters(rd_schedule *t, const rd_strips *strips)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k])) {
            const rd_for *loop = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;
            const int32_t at =
                loop && loop->strips_number >= 0 && !strips->at[loop->strips_number].single
                    ? clusters_along(t, s)
                    : -1;

            if (at >= 0)
                split_at_clusters(t, s, &t->p->address[at]);
        }
}
