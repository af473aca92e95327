/* vector_access.c - vector accesses: a thread loads up to 16 bytes at a time, and prefetches
 * several such vectors before it uses the first.
 *
 * Four kinds of loops have adjacent elements:
 *
 *     distributed loop    neighbours are lanes of folds, or cells, or elements of a map
 *     item of one thread  `width` neighbours along the last axis of the grid are one item (columns)
 *     map, no inner loop  teams take the last axis in chunks
 *     serial loop         one thread takes `serial_width` elements in a round
 *
 * An item is one unit of work; a team is the threads that do an item.  Lanes are partial
 * accumulators of a fold, that is of a reduction.
 *
 * Fields. s->neighbour_axis is the axis of which `width` neighbours are one item, -1: none. An
 * addend of an address with `axis` -1 is a register, so the address gathers. s->pairs is the loop
 * over points that all results read, -1: none. Without work items (n_item 0) there is nothing to
 * compute. */
#include "kernels/cuda/strategy.h"

/* True if the loop contains no other loop. */
static bool is_leaf(const rd_cuda_strategy *s, int32_t loop)
{
    return s->p->loop[loop].first < 0;
}

/* ---- Accesses -------------------------------------------------------------------------------- */
/* True if access i may move `wide` neighbouring items at once: they are contiguous along the
 * items' axis in memory, and aligned. */
static bool is_column_access(const rd_cuda_strategy *s, int32_t i, int32_t axis, int32_t wide)
{
    return rd_cuda_is_dense_for(s, i, axis, s->from, s->to) &&
           rd_cuda_is_aligned(&s->p->address[s->p->inst[i].arg], axis, wide);
}

/* True if a load may be issued before its round of the loop. It moves with the loop, the program
 * stores nothing to its slot (buffer), and its address has no register that the loop makes. If
 * an item is several neighbours (strip >= 0), a register could differ among them, so none is
 * allowed. */
static bool may_prefetch(const rd_cuda_strategy *s, int32_t i, const rd_loop *l)
{
    const rd_program *p  = s->p;
    const rd_address *at = &p->address[p->inst[i].arg];

    if (p->inst[i].kind != RD_I_LOAD || !rd_cuda_is_access(s, i) || s->stored[at->slot] ||
        !rd_coef(at, l->axis))
        return false;
    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis < 0 &&
            (s->neighbour_axis >= 0 || rd_cuda_is_made_in(p, at->add[k].reg, l->begin, l->end)))
            return false;
    return true;
}

/* Adds an access to the list, if there is room: `each` elements that it moves at once. */
static void add_access(rd_cuda_vector_accesses *accesses, int32_t inst, int32_t each)
{
    if (accesses->n == RD_MOST_VECTOR_ACCESSES)
        return;
    accesses->inst[accesses->n]   = inst;
    accesses->each[accesses->n++] = each;
}

/* Returns how many adjacent elements a thread takes in a round of a loop that it runs by itself:
 * the widest vector that any of its loads allows. 1 if a team shares the loop, or an item is
 * several neighbours. */
static int32_t serial_width_of(const rd_cuda_strategy *s, int32_t loop)
{
    const rd_loop *l     = &s->p->loop[loop];
    int32_t        along = 1;

    if (s->distributed[loop] || s->neighbour_axis >= 0)
        return 1;
    for (int32_t i = l->begin + 1; i < l->end; i++)
        if (may_prefetch(s, i, l))
            for (int32_t wide = rd_cuda_vector_width(s, rd_cuda_size_of(s, i)); wide > along;
                 wide /= 2)
                if (wide <= l->extent && rd_cuda_is_vector_access(s, i, loop, wide))
                    along = wide;
    return along;
}

/* Lists the vector accesses of a loop: of serial_width elements, if one thread runs it; else of
 * `width` elements, of a team's thread (`spread`) or of neighbours in an item (strip >= 0).
 * Loads of single elements are listed, too, so that they are prefetched; but not where a thread
 * of a team has vectors. */
static void find_accesses(const rd_cuda_strategy *s, int32_t loop,
                          rd_cuda_vector_accesses *accesses)
{
    const rd_loop *l      = &s->p->loop[loop];
    const bool     spread = s->distributed[loop];

    for (int32_t i = l->begin + 1; accesses->serial_width > 1 && i < l->end; i++)
        if ((may_prefetch(s, i, l) || s->p->inst[i].kind == RD_I_STORE) &&
            rd_cuda_is_vector_access(s, i, loop, accesses->serial_width))
            add_access(accesses, i, accesses->serial_width);
    for (int32_t i = l->begin + 1; accesses->serial_width == 1 && i < l->end; i++) {
        const bool loads = may_prefetch(s, i, l);
        const bool wide =
            s->width > 1 && (spread ? rd_cuda_is_vector_access(s, i, loop, s->width)
                                    : s->neighbour_axis >= 0 &&
                                          is_column_access(s, i, s->neighbour_axis, s->width));

        if (wide && (loads || (s->p->inst[i].kind == RD_I_STORE)))
            add_access(accesses, i, s->width);
        else if (loads &&
                 (s->neighbour_axis < 0 ||
                  !rd_coef(&s->p->address[s->p->inst[i].arg], s->neighbour_axis)) &&
                 !(spread && s->width > 1))
            add_access(accesses, i, 1);
    }
}

/* Estimates the machine instructions for one index of a loop: a map by its operator's cost, a
 * step by its reducer's, all others as 1. */
double rd_cuda_weight_of(const rd_program *p, int32_t loop)
{
    const rd_loop *l      = &p->loop[loop];
    double         weight = 0;

    for (int32_t i = l->begin + 1; i < l->end; i++) {
        const rd_inst *inst = &p->inst[i];

        weight += inst->kind == RD_I_MAP    ? rd_op_table[inst->op].cost * 2 - 1
                  : inst->kind == RD_I_STEP ? rd_fold_cost(&p->fold[inst->arg])
                                            : 1;
    }
    return weight;
}

/* Lists the accesses of a look-back scan's tile. All rounds of a tile are loaded before the
 * first one is used. A scan that goes backwards has tiles from the end of the row, so its
 * vectors are aligned only if the extent is a multiple of the width. */
static void find_accesses_of_tile(const rd_cuda_strategy *s, int32_t loop,
                                  rd_cuda_vector_accesses *accesses)
{
    const rd_loop *l = &s->p->loop[loop];

    *accesses = (rd_cuda_vector_accesses){ .prefetch     = rd_cuda_lookback_rounds(s),
                                           .serial_width = s->width };
    if (!l->backwards || l->extent % s->width == 0)
        find_accesses(s, loop, accesses);
}

/* Lists the vector accesses of a loop, and chooses how many rounds a thread prefetches. The
 * number is halved until bytes in flight, elements in registers and instructions are within the
 * limits, and the loop has so many rounds. is_crowded: shared memory leaves room for few
 * threads, so each prefetches more. Only innermost forward loops have vectors. */
void rd_cuda_vector_accesses_of(const rd_cuda_strategy *s, int32_t loop,
                                rd_cuda_vector_accesses *accesses)
{
    if (s->is_lookback) {
        find_accesses_of_tile(s, loop, accesses);
        return;
    }
    const rd_cuda_choice *c     = &s->choice;
    const rd_loop        *l     = &s->p->loop[loop];
    const int32_t         along = serial_width_of(s, loop);
    /* of a thread in a round: its elements, and their instructions */
    const int32_t elements = s->distributed[loop]     ? (s->width > 1 ? s->width : 2)
                             : s->neighbour_axis >= 0 ? s->width
                                                      : along;
    const double  weight   = elements * rd_cuda_weight_of(s->p, loop);
    int32_t       bytes    = 0;

    *accesses = (rd_cuda_vector_accesses){ .prefetch     = s->is_crowded ? c->row_ahead : c->ahead,
                                           .serial_width = along };
    if (!is_leaf(s, loop) || l->backwards || weight > c->weight || s->pairs >= 0)
        return;
    find_accesses(s, loop, accesses);
    accesses->is_blocked = accesses->n > 0 || s->distributed[loop];
    for (int32_t k = 0; k < accesses->n; k++)
        bytes += s->p->inst[accesses->inst[k]].kind == RD_I_LOAD
                     ? accesses->each[k] *
                           rd_dtype_size(s->p->address[s->p->inst[accesses->inst[k]].arg].type)
                     : 0;
    if (s->distributed[loop] && s->width == 1) /* a thread has two elements, a team apart */
        bytes *= 2;
    while (accesses->prefetch > 1 &&
           (accesses->prefetch * bytes > c->flight || accesses->prefetch * elements > c->elements ||
            accesses->prefetch * weight > c->weight ||
            accesses->prefetch * (s->distributed[loop] ? s->team * elements : along) > l->extent))
        accesses->prefetch /= 2;
}

/* True if neighbouring work items are neighbours in memory, and the indices of loops that a team
 * would share are not. Then one thread should do an item: a team would read a line of memory for
 * each element. */
bool rd_cuda_are_items_dense(const rd_cuda_strategy *s)
{
    const int32_t axis  = s->n_grid ? s->p->loop[s->grid[s->n_grid - 1]].axis : -1;
    bool          items = false, spread = false;

    for (int32_t i = s->from; axis >= 0 && i < s->to; i++) {
        const int32_t loop = rd_cuda_distributed_around(s, i);

        items |= is_column_access(s, i, axis, /*wide=*/1);
        spread |= loop >= 0 && rd_cuda_is_vector_access(s, i, loop, /*wide=*/1);
    }
    return items && !spread;
}

/* ---- The vector width ------------------------------------------------------------------------ */
/* Returns the bytes of the smallest elements that are contiguous along any innermost loop that a
 * team (the threads of an item) shares; 0: none are. */
static int32_t least_distributed(const rd_cuda_strategy *s)
{
    int32_t least = 0;

    for (int32_t k = 0; k < s->p->n_loop; k++)
        if (s->distributed[k] && is_leaf(s, k))
            least = rd_cuda_smaller_size(least, rd_cuda_least_along(s, k));
    return least;
}

/* True if an innermost loop that a team's threads share has an access that may move `wide`
 * elements at once. */
static bool has_vector_access(const rd_cuda_strategy *s, int32_t wide)
{
    for (int32_t k = 0; k < s->p->n_loop; k++)
        for (int32_t i = s->p->loop[k].begin + 1;
             s->distributed[k] && is_leaf(s, k) && i < s->p->loop[k].end; i++)
            if (rd_cuda_is_vector_access(s, i, k, wide))
                return true;
    return false;
}

/* Returns the number of lanes (partial accumulators) of the folds that have the team's threads
 * as lanes; 0: there is no such fold, -1: the numbers differ. */
static int32_t lanes_of(const rd_cuda_strategy *s)
{
    int32_t lanes = 0;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        if (s->fold[k].threads_are_lanes)
            lanes = lanes == 0 || lanes == s->fold[k].emit.fold->lanes ? s->fold[k].emit.fold->lanes
                                                                       : -1;
    return lanes;
}

/* Gives each thread of a team several adjacent elements in the loops that the team shares. It
 * then owns as many adjacent lanes (partial accumulators), so the team becomes narrower: lanes /
 * width threads. The width is halved until the team is large enough and some access is aligned.
 * A team has a warp's threads at most. */
static void widen_by_lanes(rd_cuda_strategy *s)
{
    const int32_t lanes = lanes_of(s), least = least_distributed(s);
    int32_t       wide;

    if (lanes < 0 || least == 0)
        return;
    for (wide = rd_cuda_vector_width(s, least); lanes && lanes / wide < s->choice.least_team;)
        wide /= 2;
    while (wide > 1 && !has_vector_access(s, wide))
        wide /= 2;
    if (wide == 1 || lanes / wide > RD_WARP)
        return;
    s->width = wide;
    s->team  = lanes ? lanes / wide : s->team;
}

/* True if any fold of the program is a scan. */
static bool has_scans(const rd_cuda_strategy *s)
{
    bool found = false;

    for (int32_t k = 0; k < s->p->n_fold; k++)
        found |= s->p->fold[k].scan;
    return found;
}

/* True if a load of the item may move `wide` neighbouring items at once. */
static bool has_column_access(const rd_cuda_strategy *s, int32_t axis, int32_t wide)
{
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOAD && is_column_access(s, i, axis, wide))
            return true;
    return false;
}

/* Makes `width` neighbouring items one item of one thread (columns), so that their adjacent
 * elements are loaded at once. Scans keep single items if these would become too few for the
 * GPU's threads, as they gain more from threads. */
static void widen_by_items(rd_cuda_strategy *s, int64_t threads)
{
    const rd_loop *last  = s->n_grid ? &s->p->loop[s->grid[s->n_grid - 1]] : NULL;
    int32_t        least = 0, wide;

    if (!last || last->backwards)
        return;
    for (int32_t i = s->from; i < s->to; i++)
        if (s->p->inst[i].kind == RD_I_LOAD && is_column_access(s, i, last->axis, /*wide=*/1))
            least = rd_cuda_smaller_size(least, rd_cuda_size_of(s, i));
    if (least == 0)
        return;
    wide = rd_cuda_vector_width(s, least);
    while (wide > 1 && (last->extent % wide || !has_column_access(s, last->axis, wide)))
        wide /= 2;
    if (wide == 1 || (has_scans(s) && s->n_item < threads / s->choice.scan_share * wide))
        return;
    s->width          = wide;
    s->neighbour_axis = last->axis;
    s->n_item /= wide;
}

/* Returns how many chunks of `chunk` indices a loop has; the last one may be short. */
static int64_t chunks_of(const rd_loop *l, int64_t chunk)
{
    return (l->extent + chunk - 1) / chunk;
}

/* Makes chunks of a map's last axis the work items, which teams share, instead of single
 * elements. The loop leaves the grid, and the item's body grows by it. Short or backward loops,
 * and loops without vector accesses, stay. */
static void distribute_chunks(rd_cuda_strategy *s)
{
    const int32_t           loop = s->grid[s->n_grid - 1];
    const rd_loop          *l    = &s->p->loop[loop];
    rd_cuda_vector_accesses accesses;

    if (l->extent < s->choice.least_row || l->backwards)
        return;
    s->distributed[loop] = true;
    widen_by_lanes(s);
    if (s->width == 1) {
        s->distributed[loop] = false;
        return;
    }
    for (s->team = s->choice.least_team; s->team < RD_WARP && s->team * s->width < l->extent;)
        s->team *= 2;
    rd_cuda_vector_accesses_of(s, loop, &accesses);
    s->n_grid--;
    s->chunk_loop = loop;
    s->chunk      = (int64_t)s->team * s->width * accesses.prefetch;
    s->n_item     = s->n_item / l->extent * chunks_of(l, s->chunk);
    s->from       = s->n_grid ? s->p->loop[s->grid[s->n_grid - 1]].begin + 1 : 0;
    s->to         = s->n_grid ? s->p->loop[s->grid[s->n_grid - 1]].end : s->p->n_inst;
}

/* Chooses the vector width by what an item is: a team's loops; loops of one thread; or a single
 * element of a map. For the last a transpose through shared memory is tried first, and then
 * chunks. */
void rd_cuda_find_vector_width(rd_cuda_strategy *s, int64_t threads)
{
    bool has_loops = false;

    for (int32_t i = s->from; i < s->to; i++)
        has_loops |= s->p->inst[i].kind == RD_I_LOOP;
    if (s->n_item == 0)
        return;
    if (s->team > 1)
        widen_by_lanes(s);
    else if (has_loops)
        widen_by_items(s, threads);
    else if (s->p->n_fold == 0 && s->n_grid > 0 && !rd_cuda_find_transpose(s))
        distribute_chunks(s);
}
