/* index_set_split.c - The pass index_set_split splits a loop whose mask compares indices
 * (rd_loop.bounds) into up to three loops.
 *
 *     serial i1 {               serial i1 from first to begin { r4 = mask ..; step f0 r2 if r4 }
 *       r4 = mask ..            serial i1 from begin to end   { step f0 r2 }
 *       step f0 r2 if r4 }      serial i1 from end to last    { r4 = mask ..; step f0 r2 if r4 }
 *
 * Outside [first, last) the mask is false, but for one index; in [begin, end) it is true. A loop
 * over strips keeps its strips whole, as lanes go by positions in a strip.
 *
 * A piece is one of these loops.  A strip is a range of indices of the loop's axis, and a border
 * of pieces is a place between two strips.  `low` and `high` of the bounds say where the mask
 * begins and ends to be true; n_add 0: there is no such bound.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/index_set_split.h"

/* Where strips have no fixed length, borders of pieces are multiples of 64, the most lanes of a
 * fold, so that all folds are at their first lane there. */
enum { LANES = 64 };

/* ---- Pieces ---------------------------------------------------------------------------------- */
/* Makes the loop of a statement go from `from` to `to`. Does nothing after a failure (no memory),
 * as the statement's number is then not valid. */
static void set_range(rd_schedule *t, int32_t stmt, rd_linear from, rd_linear to)
{
    rd_for *loop = &t->loop[t->stmt[stmt].arg];

    if (t->failed)
        return;
    loop->from = rd_edge_of(from);
    loop->to   = rd_edge_of(to);
}

/* Copies the loop with its body, for another range of indices; the copy is in no body yet. */
static int32_t add_copy(rd_range_split *c, rd_linear from, rd_linear to)
{
    const int32_t made = rd_stmt_copy(c->t, c->stmt);

    set_range(c->t, made, from, to);
    return made;
}

/* Makes the mask the constant 1 (true) before the loop, and removes it from all steps in the loop
 * (mask -1). Other readers of the value see the constant. slot and store are -1, as nothing is
 * loaded. */
static void drop_mask(rd_range_split *c)
{
    rd_schedule  *t    = c->t;
    const int32_t mask = c->bounds->mask, maker = t->let[mask].made_by;

    for (int32_t s = c->stmt; s >= 0; s = rd_next_stmt(t, s, c->stmt))
        if (t->stmt[s].mask == mask)
            t->stmt[s].mask = -1;
    t->let[mask] = (rd_tree_value){ .kind    = RD_I_CONST,
                                    .type    = t->let[mask].type,
                                    .from    = t->let[mask].type,
                                    .word    = { .u64 = 1 },
                                    .arg     = -1,
                                    .slot    = -1,
                                    .store   = -1,
                                    .made_by = maker };
    rd_take_out(t, maker);
    rd_put_before(t, maker, c->stmt);
}

/* Makes all early exits in the neighbouring statements from `one` to `other` (the first and the
 * last piece of a loop) leave the loop `around` in place of their piece. */
void rd_retarget_exits(rd_schedule *t, int32_t one, int32_t other, int32_t around)
{
    for (int32_t k = one; k >= 0 && !t->failed; k = k == other ? -1 : t->stmt[k].next)
        for (int32_t s = rd_next_exit(t, k, k); s >= 0; s = rd_next_exit(t, k, s))
            t->stmt[s].arg = around;
}

/* Puts a loop of one round (RD_FOR_ONCE) around all pieces, so that an early exit from one piece
 * leaves them all. Its step is more than the axis has indices, so that one round is the whole
 * range. It is neither a loop of the program (of) nor one over strips. */
static void wrap_in_one_loop(rd_range_split *c, const rd_pieces *p, int32_t one, int32_t other)
{
    rd_schedule *t    = c->t;
    rd_for       once = *rd_loop_of(t, c->stmt);

    once.kind         = RD_FOR_ONCE;
    once.start_mark   = rd_add_mark(t);
    once.stop_mark    = rd_add_mark(t);
    once.from         = rd_edge_of(p->visited_from);
    once.to           = rd_edge_of(p->visited_to);
    once.step         = t->p->axis_extent[once.axis] + 1;
    once.program_loop = once.strips_number = -1;
    once.width                             = 0;
    rd_retarget_exits(t, one, other, rd_put_loop_around(t, one, other, &once));
}

/* Puts copies of the loop before and behind it for the pieces in which the mask is unknown, and
 * drops the mask from the loop itself, the middle piece, where it is true. *one and *other get the
 * first and the last piece. */
void rd_split_into_pieces(rd_range_split *c, const rd_pieces *p, int32_t *one, int32_t *other)
{
    *one = *other = c->stmt;
    if (p->before) {
        *one = add_copy(c, p->visited_from, p->covered_from);
        rd_put_before(c->t, *one, c->stmt);
    }
    if (p->behind) {
        *other = add_copy(c, p->covered_to, p->visited_to);
        rd_put_behind(c->t, *other, c->stmt);
    }
    set_range(c->t, c->stmt, p->covered_from, p->covered_to);
    if (!c->t->failed)
        drop_mask(c);
}

/* Splits the loop into up to three pieces by its mask: where it is unknown, true, and unknown
 * again. Without a mask (mask < 0) the loop only gets a smaller range. An early exit must leave all
 * pieces. n_add > 0: the mask has that bound. */
static void split_loop(rd_range_split *c)
{
    const bool has_exit = rd_next_exit(c->t, c->stmt, c->stmt) >= 0;
    rd_pieces  p = { .before = c->bounds->low.n_add > 0, .behind = c->bounds->high.n_add > 0 };
    int32_t    first_piece, last_piece;

    rd_find_visited(c, &p);
    if (c->bounds->mask < 0) {
        set_range(c->t, c->stmt, p.visited_from, p.visited_to);
        return;
    }
    rd_find_covered(c, &p);
    rd_split_into_pieces(c, &p, &first_piece, &last_piece);
    if (has_exit && !c->t->failed)
        wrap_in_one_loop(c, &p, first_piece, last_piece);
}

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if instruction `inst` stands in loop `loop` of the program. */
static bool is_inst_in_loop(const rd_program *p, int32_t inst, int32_t loop)
{
    return inst > p->loop[loop].begin && inst < p->loop[loop].end;
}

/* True if the loop must run all its rounds: a fold of several blocks has its steps, but not its
 * BEGIN, in the loop, and another loop goes along the steps and ends blocks. A block must go to the
 * combine tree even without elements, so no round may be skipped. f->step_loop, the loop along the
 * steps, is neither this loop nor around it; -1: there is no such loop. */
static bool ends_blocks_inside(const rd_schedule *t, int32_t loop)
{
    const rd_program *p = t->p;

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_loop_fold *f = &t->fold[k];

        if (f->blocks && is_inst_in_loop(p, f->step, loop) && !is_inst_in_loop(p, f->start, loop) &&
            f->step_loop != loop &&
            (f->step_loop < 0 || !is_inst_in_loop(p, p->loop[loop].begin, f->step_loop)))
            return true;
    }
    return false;
}

/* True if the loop takes elements into folds, and does not also test for the ends of blocks
 * (PUSH_IF_LAST; a block is a run of a fold's steps) of a fold that begins outside of it, as
 * skipped rounds would miss such an end. */
static bool has_only_elements(const rd_schedule *t, int32_t loop)
{
    bool takes = false;

    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *stmt = &t->stmt[s];

        takes |= stmt->kind == RD_S_STEP || stmt->kind == RD_S_PREFIX;
        if (stmt->kind == RD_S_PUSH_IF_LAST &&
            !is_inst_in_loop(t->p, t->fold[stmt->fold].start, rd_loop_of(t, loop)->program_loop))
            return false;
    }
    return takes;
}

/* True if the value is made before the statement and can be read there: it stands directly in a
 * part (head, body or tail), as values of the head do, which all parts see; or in a body around
 * the statement. */
static bool is_visible(const rd_schedule *t, int32_t value, int32_t stmt)
{
    const int32_t maker = t->let[value].made_by, body = maker >= 0 ? t->stmt[maker].parent : -1;

    return body >= 0 && (t->stmt[body].kind == RD_S_PART || rd_stands_in(t, stmt, body));
}

/* True if all values (registers) of the bound can be read before the statement; also if there is
 * no such bound (n_add 0). */
static bool is_bound_visible(const rd_schedule *t, const rd_bound *b, int32_t stmt)
{
    bool visible = true;

    for (int32_t k = 0; k < b->n_reg && b->n_add; k++)
        visible &= is_visible(t, b->reg[k], stmt);
    return visible;
}

/* True if the loop of the program has bounds by a mask that can be computed before it, goes upwards
 * between two positions, and only takes elements. The mask, if it is a value (mask >= 0), must be
 * made in the loop, so that a piece can drop it. No block of a fold may end inside. */
static bool can_split(const rd_schedule *t, int32_t stmt)
{
    const rd_for    *loop = rd_loop_of(t, stmt);
    const rd_bounds *bounds =
        loop->program_loop >= 0 ? t->p->loop[loop->program_loop].bounds : NULL;
    int32_t maker;

    if (!bounds || loop->kind != RD_FOR_SERIAL || loop->backwards || loop->from.n != 1 ||
        loop->to.n != 1 || ends_blocks_inside(t, loop->program_loop) || !has_only_elements(t, stmt))
        return false;
    if (!is_bound_visible(t, &bounds->low, stmt) || !is_bound_visible(t, &bounds->high, stmt))
        return false;
    maker = bounds->mask >= 0 ? t->let[bounds->mask].made_by : -1;
    return bounds->mask < 0 || (maker >= 0 && rd_stands_in(t, maker, stmt));
}

/* Splits a loop by its bounds, or by a list of ranges (list_at >= 0). Borders are multiples of the
 * strip width, or of 64 if strips have no fixed length, so that lanes begin anew at each piece. If
 * a block loop over the same axis stands around, `lo` and `hi` are that loop's range, of which
 * this loop visits a block (a run of a fold's steps). */
static void split_bounded_loop(rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for  loop   = *rd_loop_of(t, stmt);
    const int32_t parent = t->stmt[stmt].parent;
    const rd_for *around = t->stmt[parent].kind == RD_S_LOOP ? rd_loop_of(t, parent) : &loop;
    const rd_for range = around->kind == RD_FOR_BLOCK && around->axis == loop.axis ? *around : loop;
    rd_range_split c   = { .t      = t,
                           .n      = { t, stmt },
                           .bounds = t->p->loop[loop.program_loop].bounds,
                           .stmt   = stmt,
                           .grain  = 1,
                           .from   = loop.from.part[0].at,
                           .to     = loop.to.part[0].at,
                           .lo     = range.from.part[0].at,
                           .hi     = range.to.part[0].at };

    if (target->strips && loop.strips_number >= 0)
        c.grain = target->strips->at[loop.strips_number].fixed
                      ? target->strips->at[loop.strips_number].width
                      : LANES;
    if (c.bounds->list_at >= 0)
        rd_split_by_list(&c);
    else
        split_loop(&c);
}

/* Splits all bounded loops in a body, inner loops first. Then a copy of an outer loop holds the
 * pieces, and masks still have the numbers that the program gave them. */
static void split_in_body(rd_schedule *t, const rd_target *target, int32_t body)
{
    for (int32_t s = t->stmt[body].first, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        split_in_body(t, target, s);
        if (t->stmt[s].kind == RD_S_LOOP && can_split(t, s))
            split_bounded_loop(t, target, s);
    }
}

/* The pass: splits loops with a mask on indices into pieces in which the mask is false, mixed or
 * true throughout.  Strips are first made to end where clusters of a block mask do. */
void rd_pass_index_set_split(rd_schedule *t, const rd_target *target)
{
    if (target->strips)
        rd_split_by_clusters(t, target->strips);
    for (int k = 0; k < RD_N_PARTS && !t->failed; k++)
        split_in_body(t, target, t->part[k]);
}
