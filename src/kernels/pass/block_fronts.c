/* block_fronts.c - The pass block_fronts makes the front of each block of 64 elements of a row that
 * a sort takes in strips, while these are in registers (kernels/first_few.h).
 *
 *     vector i4 from m6 to m7 { .. s6[i4 - m4] = r3 }
 *     sort 0 from 0 to 0, strip m2, m3 - m2 of it, state 0
 *       ->
 *     vector i4 from m6 to m7 { .. s6[i4 - m4] = r3 }
 *     front of sort 0 from m6 - m4, place m6 - m4 of the strip, state 0
 *     sort 0 from 0 to 0, strip m2, m3 - m2 of it, state 0, by fronts
 *
 * The sort reads a front in place of its block, unless something in it comes before the bound.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/first_few.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/substrips.h"

/* A store of the elements that a sort takes; the vector loop over a strip (a range of the row that
 * is done at a time) in which it stands; and the loop over all strips, -1: none. */
typedef struct row_store {
    rd_schedule   *t;
    const rd_stmt *sort;
    int32_t        store, vector, strips; /* statements */
} row_store;

/* What the program says of the sort of a SORT statement: its row, type and results. */
static const rd_sorting *sorting_of(const rd_schedule *t, const rd_stmt *sort)
{
    return &t->p->sorting[sort->arg];
}

/* True if the statement is a sort that takes its row in strips (most > 0), does not merely write
 * from the state of an earlier sort (follows), and has elements of 32 or 64 bits: a front of 64
 * bytes then has 16 or 8. */
static bool takes_strips(const rd_schedule *t, const rd_stmt *s)
{
    return s->kind == RD_S_SORT && sorting_of(t, s)->most &&
           !sorting_of(t, s)->reads_earlier_state && rd_dtype_size(sorting_of(t, s)->type) >= 4;
}

/* True if the statement stores to the slot from which the sort takes its row. */
static bool stores_row(const rd_schedule *t, const rd_stmt *s, const rd_stmt *sort)
{
    return s->kind == RD_S_STORE && s->slot >= 0 &&
           s->slot == t->p->address[sorting_of(t, sort)->from].slot;
}

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if an axis has a value at the statement: a loop around binds it as its index, or as the
 * first or last index of its round (a mark); or it is a bound of the task's share (RD_MARK_LO and
 * _HI). */
static bool is_bound_at(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    for (int32_t s = t->stmt[stmt].parent; s >= 0; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP &&
            (rd_loop_of(t, s)->axis == axis || rd_loop_of(t, s)->start_mark == axis ||
             rd_loop_of(t, s)->stop_mark == axis))
            return true;
    return axis == RD_MARK_LO || axis == RD_MARK_HI;
}

/* True if a position may be computed at the statement: it has no gathered index (axis < 0), and all
 * of its axes are bound there. */
static bool is_position_at(const rd_schedule *t, int32_t stmt, const rd_linear *at)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0 || !is_bound_at(t, stmt, t->term[at->first + k].axis))
            return false;
    return true;
}

/* True if the store's vector loop visits each element of a strip once, in any order, and neighbours
 * are adjacent.  Clauses, in order: the loop is no call, has no non-temporal stores, need not keep
 * order, and runs along the row; strips go upwards, and may begin anywhere (align_to 0); the loop's
 * two bounds are the strip's first index and its end, unrounded; the store's position moves by 1
 * with the axis. */
static bool is_plain_store(const row_store *r)
{
    const rd_schedule  *t    = r->t;
    const rd_for       *l    = rd_loop_of(t, r->vector), *strips;
    const int32_t       axis = sorting_of(t, r->sort)->axis;
    const rd_edge_part *from = &l->from.part[0], *to = &l->to.part[0];

    if (r->strips < 0)
        return false;
    strips = rd_loop_of(t, r->strips);
    return !l->by_call && !l->nontemporal && !l->in_order && l->axis == axis &&
           strips->axis == axis && !strips->backwards && !strips->align_to &&
           rd_is_position(&l->from) && rd_is_position(&l->to) && from->at.n == 1 && to->at.n == 1 &&
           from->at.offset == 0 && to->at.offset == 0 &&
           rd_linear_coef(t, &from->at, strips->start_mark) == 1 &&
           rd_linear_coef(t, &to->at, strips->stop_mark) == 1 &&
           rd_linear_coef(t, &t->stmt[r->store].at, axis) == 1;
}

/* How far the strip's first element lies behind the row's first one in memory: the store's
 * position, with the axis replaced by the strip's first index, minus the position of the row. */
static rd_linear place_of_strip(const row_store *r)
{
    const rd_for   *strips = rd_loop_of(r->t, r->strips);
    const rd_linear start  = rd_linear_plus_axis(r->t, rd_linear_of(0), 1, strips->start_mark);

    return rd_linear_plus(r->t, rd_linear_with(r->t, r->t->stmt[r->store].at, strips->axis, start),
                          -1, r->sort->at);
}

/* True if each strip is a block: a serial loop by 64 elements, whose distance from the row's first
 * element (`place`) is that of its index from the loop's first one (`beyond`).  The positions of
 * the row and of the sort's state must be known at the store, where the front is added. */
static bool is_block(const row_store *r)
{
    rd_schedule *t      = r->t;
    const rd_for strips = *rd_loop_of(t, r->strips);
    rd_linear    place, beyond;

    if (strips.kind != RD_FOR_SERIAL || strips.step != RD_FRONT_BLOCK ||
        strips.width != RD_FRONT_BLOCK || !rd_is_position(&strips.from) || strips.to.n != 1 ||
        !is_position_at(t, r->store, &r->sort->at) ||
        !is_position_at(t, r->store, &r->sort->fold_at.cell))
        return false;
    place  = place_of_strip(r);
    beyond = rd_linear_plus(t, rd_linear_plus_axis(t, rd_linear_of(0), 1, strips.start_mark), -1,
                            strips.from.part[0].at);
    return rd_linear_same(t, &place, &beyond);
}

/* True if the strip is the rest behind all whole blocks: it is done once, and begins at an index
 * that is rounded down to a multiple of 64. */
static bool is_rest(const row_store *r)
{
    const rd_for *strips = rd_loop_of(r->t, r->strips);

    return strips->kind == RD_FOR_ONCE && strips->from.n == 1 && strips->to.n == 1 &&
           strips->from.part[0].multiple == RD_FRONT_BLOCK && !strips->from.part[0].round_up;
}

/* If statement `stmt` stores elements that the sort takes, fills *r with it, the loop around it,
 * and the loop over strips around that; `strips` is -1 if the loop around is no vector loop. False:
 * it is no such store. */
static bool find_store(rd_schedule *t, const rd_stmt *sort, int32_t stmt, row_store *r)
{
    const int32_t vector = t->stmt[stmt].parent;

    if (!stores_row(t, &t->stmt[stmt], sort))
        return false;
    *r = (row_store){ .t = t, .sort = sort, .store = stmt, .vector = vector, .strips = -1 };
    if (rd_is_vector(t, vector))
        r->strips = rd_strips_around(t, vector);
    return true;
}

/* True if some stores of the sort's elements are in blocks, and all others in the rest behind
 * them.  Then the sort finds a front for each whole block of a strip. */
static bool has_blocks(rd_schedule *t, const rd_stmt *sort)
{
    bool      some = false;
    row_store r;

    for (int32_t s = 0; s < t->n_stmt; s++)
        if (t->stmt[s].parent >= 0 && find_store(t, sort, s, &r)) {
            if (r.strips < 0 || !is_plain_store(&r))
                return false;
            if (is_rest(&r))
                continue;
            if (!is_block(&r))
                return false;
            some = true;
        }
    return some;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Puts the FRONT of a block behind the vector loop that makes it.  fold_at.cell: where the sort's
 * state is; fold_at.lane: the block's first element in the row; at: that element in memory. */
static void add_front(const row_store *r)
{
    rd_schedule *t     = r->t;
    rd_stmt      front = rd_stmt_of(RD_S_FRONT);

    front.arg          = r->sort->arg;
    front.fold_at.cell = r->sort->fold_at.cell;
    front.fold_at.lane = place_of_strip(r);
    front.at           = rd_linear_plus(t, front.fold_at.lane, 1, r->sort->at);
    rd_put_behind(t, rd_add_stmt(t, &front), r->vector);
}

/* Makes fronts of all blocks that the sort at statement `stmt` takes, and marks the sort as having
 * them. n: statements before, as new ones need no look. */
static void add_fronts(rd_schedule *t, int32_t stmt)
{
    const int32_t n    = t->n_stmt;
    const rd_stmt sort = t->stmt[stmt];
    row_store     r;

    if (!has_blocks(t, &sort))
        return;
    for (int32_t s = 0; s < n && !t->failed; s++)
        if (t->stmt[s].parent >= 0 && find_store(t, &sort, s, &r) && !is_rest(&r))
            add_front(&r);
    t->stmt[stmt].fronts = !t->failed;
}

/* The pass: makes fronts where strips of rows come in whole blocks. */
void rd_pass_block_fronts(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (takes_strips(t, &t->stmt[s]))
                add_fronts(t, s);
}
