/* seam_split.c - The pass seam_split splits a loop at seams: indices at which a choice by index, or
 * a clamp of an index, goes over from one side to the other (index-set splitting).
 *
 *     serial i {                                serial i from 0 to 5 {
 *       r1 = i < 5                                r2 = load s0[i + 95]
 *       r2 = load s0[min(i, 4) + 95]              step f0 r2 }
 *       r3 = load s1[max(i - 5, 0)]      ->     serial i from 5 to 100 {
 *       r4 = choice r1, r2, r3                    r3 = load s1[i - 5]
 *       step f0 r4 }                              step f0 r3 }
 *
 * In each piece a choice is one of its operands, an address is a sum of indices, and what nobody
 * reads any more is gone.  So rolled, padded and joined arrays are read where they lie.
 *
 * Strips stay whole, as lanes go by positions: a strip that holds a seam is a piece of its own,
 * which keeps the choices.  Pieces follow each other in the order of the loop, so no bit
 * changes. */
#include "kernels/loop/facts.h"
#include "kernels/loop/seam_forms.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/index_set_split.h"

/* LANES: borders of pieces are multiples of the most lanes of a fold (index_set_split.c).  The
 * others limit the text to compile: seams of a loop, depth of recursion, statements of a tree. */
enum { LANES = 64, MOST_SEAMS = 6, DEPTH = 16, MOST_STMTS = 3000 };

/* A range of indices of a loop's axis, in which values are looked at.  range.seam gets the index
 * at which one of them goes over to another form. */
typedef struct piece {
    rd_schedule  *t;
    int32_t       axis;
    rd_seam_range range;
} piece;

/* ---- What values are in a range -------------------------------------------------------------- */
static rd_known known_value(piece *p, int32_t value, int depth);

/* Returns what an operator on two whole numbers makes of what its operands are in the range. The
 * operands must be two 64-bit ints. */
static rd_known known_map(piece *p, const rd_tree_value *let, int depth)
{
    if (let->from != RD_I64 || let->n != 2)
        return (rd_known){ .is = RD_FORM_UNKNOWN };
    return rd_known_of_op(&p->range, let->op, known_value(p, p->t->operand[let->first], depth),
                          known_value(p, p->t->operand[let->first + 1], depth));
}

/* Returns what a COORD (a position as a value) is: coef * index + offset, if it depends on no
 * other axis than the loop's; else unknown. */
static rd_known known_place(const piece *p, const rd_linear *at)
{
    rd_known sum = rd_known_sum(/*coef=*/0, at->offset);

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &p->t->term[at->first + k];

        if (term->axis != p->axis)
            return (rd_known){ .is = RD_FORM_UNKNOWN };
        sum.coef += term->coef;
    }
    return sum;
}

/* Returns what a value is in the range: a sum (coef * index + offset), a truth, or unknown. If it
 * is one thing up to some index and another behind, it is unknown, and p->range.seam gets that
 * index. `depth` bounds the recursion into operands. */
static rd_known known_value(piece *p, int32_t value, int depth)
{
    const rd_tree_value *let = &p->t->let[value];

    if (depth == 0)
        return (rd_known){ .is = RD_FORM_UNKNOWN };
    switch (let->kind) {
    case RD_I_CONST:
        return let->type == RD_I64 ? rd_known_sum(/*coef=*/0, let->word.i64)
                                   : (rd_known){ .is = RD_FORM_UNKNOWN };
    case RD_I_COORD: return known_place(p, &let->at);
    case RD_I_MAP: return known_map(p, let, depth - 1);
    default: return (rd_known){ .is = RD_FORM_UNKNOWN };
    }
}

/* ---- Seams of a loop ------------------------------------------------------------------------- */
/* Returns the value of a statement if it is a choice (SELECT), else -1. */
static int32_t choice_at(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_SELECT ? t->stmt[stmt].value : -1;
}

/* Looks at all conditions of choices, and at all values in addresses of loads, in the loop, so
 * that p->range.seam gets a seam if there is one. Returns how many of the values in addresses are
 * sums of indices in the range. */
static int32_t examine(piece *p, int32_t loop)
{
    const rd_schedule *t    = p->t;
    int32_t            sums = 0;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_tree_value *let = rd_let_of(t, s);

        if (choice_at(t, s) >= 0)
            known_value(p, t->operand[let->first], DEPTH);
        for (int32_t k = 0; let && let->kind == RD_I_LOAD && k < let->at.n; k++) {
            const rd_linear_term *term = &t->term[let->at.first + k];

            if (term->axis < 0)
                sums += known_value(p, term->value, DEPTH).is == RD_FORM_SUM;
        }
    }
    return sums;
}

/* The seams of a loop in ascending order.  sums: how many addresses of loads become sums of indices
 * in the pieces; many: there are more seams than MOST_SEAMS. */
typedef struct seams {
    int32_t n, sums;
    bool    many;
    int64_t at[MOST_SEAMS];
} seams;

/* Finds the seams of the loop between lo and hi, from left to right: one seam, then the seams on
 * its left and on its right side, as clamps stand in clamps. range.seam stays lo if there is no
 * seam. */
static void find_seams(rd_schedule *t, int32_t loop, int64_t lo, int64_t hi, seams *found)
{
    piece         p    = { .t = t, .axis = rd_loop_of(t, loop)->axis, .range = { lo, hi, lo } };
    const int32_t sums = examine(&p, loop);

    if (p.range.seam == lo) {
        found->sums += sums;
        return;
    }
    find_seams(t, loop, lo, p.range.seam, found);
    found->many |= found->n == MOST_SEAMS;
    if (found->many)
        return;
    found->at[found->n++] = p.range.seam;
    find_seams(t, loop, p.range.seam, hi, found);
}

/* ---- A piece --------------------------------------------------------------------------------- */
/* For rd_substitute_values(): returns, for a choice whose condition is known in the range, the
 * operand that it chooses; operands are condition, value if true, value if false. Other values
 * stay. */
static int32_t chosen_value(void *of, int32_t value)
{
    piece *p = of;

    for (int depth = DEPTH; depth > 0 && p->t->let[value].kind == RD_I_SELECT; depth--) {
        const int32_t  first = p->t->let[value].first;
        const rd_known mask  = known_value(p, p->t->operand[first], DEPTH);

        if (mask.is != RD_FORM_TRUTH)
            break;
        value = p->t->operand[first + (mask.truth ? 1 : 2)];
    }
    return value;
}

/* Returns the position with each value that is a sum of indices in the range replaced by that sum.
 * After each replacement the search starts again (k = -1), as the terms have changed. */
static rd_linear position_in(piece *p, rd_linear at)
{
    for (int32_t k = 0; k < at.n && !p->t->failed; k++) {
        const rd_linear_term term = p->t->term[at.first + k];
        const rd_known sum = term.axis < 0 ? known_value(p, term.value, DEPTH) : (rd_known){ 0 };

        if (sum.is != RD_FORM_SUM)
            continue;
        at = rd_linear_plus_value(p->t, at, -term.coef, term.value);
        at = rd_linear_plus_axis(p->t, at, term.coef * sum.coef, p->axis);
        at.offset += term.coef * sum.offset;
        k = -1;
    }
    return at;
}

/* True if the statement makes a value that nothing in the loop reads, and that has no other
 * effect: checked indices and calls stay. */
static bool is_dead(const rd_schedule *t, int32_t stmt, int32_t loop)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    return let && t->stmt[stmt].n_value == 1 &&
           (let->kind == RD_I_COORD || let->kind == RD_I_CONST || let->kind == RD_I_LOAD ||
            let->kind == RD_I_MAP || let->kind == RD_I_CAST || let->kind == RD_I_SELECT) &&
           !rd_is_read_in(t, t->stmt[stmt].value, loop);
}

/* Removes values that nothing in the loop reads; again, until none is found, as operands of
 * removed values become dead. */
static void remove_dead(rd_schedule *t, int32_t loop)
{
    for (bool found = true; found && !t->failed;) {
        found = false;
        for (int32_t s = rd_next_stmt(t, loop, loop), next; s >= 0; s = next) {
            next = rd_next_stmt(t, s, loop);
            if (!is_dead(t, s, loop))
                continue;
            rd_take_out(t, s);
            found = true;
        }
    }
}

/* Replaces choices in the loop by the operand that they choose between lo and hi, and values in
 * addresses by sums of indices; then removes what nothing reads any more. */
static void simplify(rd_schedule *t, int32_t loop, int64_t lo, int64_t hi)
{
    piece p = { .t = t, .axis = rd_loop_of(t, loop)->axis, .range = { lo, hi, lo } };

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0 && !t->failed;
         s         = rd_next_stmt(t, s, loop)) {
        rd_substitute_values(t, s, chosen_value, &p);
        if (!t->failed && rd_let_of(t, s) && rd_let_of(t, s)->kind == RD_I_LOAD) {
            const rd_linear at = position_in(&p, rd_let_of(t, s)->at);

            if (!t->failed)
                t->let[t->stmt[s].value].at = at;
        }
    }
    remove_dead(t, loop);
}

/* ---- Splitting ------------------------------------------------------------------------------- */
/* Makes the loop of a statement go from `from` to `to`. Does nothing after a failure (no memory).
 */
static void set_range(rd_schedule *t, int32_t stmt, rd_linear from, rd_linear to)
{
    if (t->failed)
        return;
    t->loop[t->stmt[stmt].arg].from = rd_edge_of(from);
    t->loop[t->stmt[stmt].arg].to   = rd_edge_of(to);
}

/* Puts a copy of the loop before it, with the range [from, to); returns the copy, or after a
 * failure the loop itself. */
static int32_t copy_before(rd_range_split *c, rd_linear from, rd_linear to)
{
    const int32_t made = rd_stmt_copy(c->t, c->stmt);

    if (c->t->failed)
        return c->stmt;
    rd_put_before(c->t, made, c->stmt);
    set_range(c->t, made, from, to);
    return made;
}

/* True if two positions are the same constant: both without terms, with equal offsets. */
static bool is_same_number(const rd_linear *a, const rd_linear *b)
{
    return a->n == 0 && b->n == 0 && a->offset == b->offset;
}

/* A range [lo, hi) of an axis: the statements at hand see only these indices. */
typedef struct limits {
    int32_t axis;
    int64_t lo, hi;
} limits;

static void split_in_body(rd_schedule *t, const rd_target *target, int32_t body,
                          const limits *within);

/* Simplifies a piece of a loop, which visits indices [lo, hi), and splits the loops inside of it.
 */
static void finish_piece(rd_schedule *t, const rd_target *target, int32_t loop, int64_t lo,
                         int64_t hi)
{
    const limits within = { rd_loop_of(t, loop)->axis, lo, hi };

    if (!t->failed)
        simplify(t, loop, lo, hi);
    if (!t->failed)
        split_in_body(t, target, loop, &within);
}

/* Splits the loop at its seams between lo and hi into a piece for each side. Where strips (ranges
 * that vector loops visit) must stay whole (by > 1), the strip around a seam is a piece of its own,
 * up to `grain` indices on either side, which keeps its choices. The last piece is the loop itself.
 * made[k] is the piece on the left of seam k, strip[k] the one around it, -1: none.
 * rd_round_to_step() rounds a position to whole strips, down or up (`behind`). */
static void split_at(rd_range_split *c, const rd_target *target, const seams *found, int64_t lo,
                     int64_t hi)
{
    rd_schedule *t                = c->t;
    rd_linear    from             = c->from;
    int32_t      made[MOST_SEAMS] = { 0 }, strip[MOST_SEAMS] = { 0 };

    for (int32_t k = 0; k < found->n && !t->failed; k++) {
        const rd_linear seam = rd_linear_of(found->at[k]);
        const rd_linear before =
            rd_index_max(&c->n, from, rd_round_to_step(c, seam, /*behind=*/false));
        const rd_linear behind =
            rd_index_max(&c->n, before, rd_round_to_step(c, seam, /*behind=*/true));

        made[k] = copy_before(c, from, before);
        strip[k] =
            c->grain > 1 && !is_same_number(&before, &behind) ? copy_before(c, before, behind) : -1;
        from = behind;
    }
    set_range(t, c->stmt, from, c->to);
    for (int32_t k = 0; k < found->n && !t->failed; lo = found->at[k++]) {
        const int64_t seam = found->at[k];

        finish_piece(t, target, made[k], lo, seam);
        if (strip[k] >= 0)
            finish_piece(t, target, strip[k], seam - lo > c->grain ? seam - c->grain : lo,
                         hi - seam > c->grain ? seam + c->grain : hi);
    }
    finish_piece(t, target, c->stmt, lo, hi);
}

/* True if the instruction stands in loop `of` of the program; of -1: in no loop. */
static bool is_inside(const rd_schedule *t, int32_t inst, int32_t of)
{
    return of >= 0 && inst > t->p->loop[of].begin && inst < t->p->loop[of].end;
}

/* True if the loop tests for ends of blocks (PUSH_IF_LAST; a block is a run of a fold's steps) of
 * a fold that begins outside of it. Such a test may count the rounds of the loop, so they must
 * stay together. */
static bool tests_ends(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_PUSH_IF_LAST &&
            !is_inside(t, t->fold[t->stmt[s].fold].start, rd_loop_of(t, loop)->program_loop))
            return true;
    return false;
}

/* True if a statement outside of the loop reads a value that the loop makes. A copy of the loop
 * would make other values. */
static bool hands_on(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        for (int32_t k = 0; k < t->stmt[s].n_value; k++)
            if (rd_is_read_outside(t, t->stmt[s].value + k, loop))
                return true;
    return false;
}

/* Returns how many indices a round of the loop takes: 0 of a loop over single indices; of a loop
 * over strips their fixed width, or its step. 64 (the most lanes) if strips have no fixed width. */
static int64_t strip_of(const rd_target *target, const rd_for *loop)
{
    return loop->start_mark < 0 && loop->step <= 1 ? 0
           : target->strips && loop->strips_number >= 0 &&
                   target->strips->at[loop->strips_number].fixed
               ? target->strips->at[loop->strips_number].width
           : loop->step > 1 ? loop->step
                            : LANES;
}

/* True if the loop may be split: it goes upwards between two positions, over indices of the
 * program, and nothing in it leaves it early.  Loops over narrow strips are split between strips,
 * which leaves strips with a seam inside, and vector loops inside of strips. A vector loop that
 * makes values for others must stay one (hands_on); nobody outside can read the values of a serial
 * loop. Nor may it test for ends of blocks of a fold around it. */
static bool can_split(const rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop     = rd_loop_of(t, stmt);
    const bool    can_kind = loop->kind == RD_FOR_SERIAL   ? strip_of(target, loop) <= LANES
                             : loop->kind == RD_FOR_VECTOR ? !loop->by_call
                                                           : false;

    return can_kind && rd_goes_up(loop) && loop->axis < t->p->n_axis &&
           rd_next_exit(t, stmt, stmt) < 0 && !tests_ends(t, stmt) &&
           (loop->kind == RD_FOR_SERIAL || !hands_on(t, stmt));
}

/* Splits one loop at its seams within the limits, and the loops in its pieces. False, and nothing
 * is split, if there are no seams or too many, or if no load then reads at a sum of indices, so
 * that nothing would be gained. */
static bool split_loop(rd_schedule *t, const rd_target *target, int32_t stmt, const limits *within)
{
    const rd_for   loop       = *rd_loop_of(t, stmt);
    const bool     is_limited = within && within->axis == loop.axis;
    const int64_t  lo         = is_limited ? within->lo : 0;
    const int64_t  hi         = is_limited ? within->hi : t->p->axis_extent[loop.axis];
    rd_range_split c          = { .t     = t,
                                  .n     = { t, stmt },
                                  .stmt  = stmt,
                                  .grain = strip_of(target, &loop) > 1 ? strip_of(target, &loop) : 1,
                                  .from  = loop.from.part[0].at,
                                  .to    = loop.to.part[0].at };
    seams          found      = { 0 };

    find_seams(t, stmt, lo, hi, &found);
    if (found.many || found.n == 0 || found.sums == 0)
        return false;
    split_at(&c, target, &found, lo, hi);
    return true;
}

/* Splits the loops of a body at seams, outer loops first: then their pieces hold no seam of their
 * axis, but for strips (ranges that vector loops visit) around one. `within` limits the indices of
 * one axis to a piece; NULL: nothing is limited. */
static void split_in_body(rd_schedule *t, const rd_target *target, int32_t body,
                          const limits *within)
{
    for (int32_t s = t->stmt[body].first, next; s >= 0 && !t->failed; s = next) {
        const bool is_loop = t->stmt[s].kind == RD_S_LOOP && t->n_stmt < MOST_STMTS;

        next = t->stmt[s].next;
        if (!is_loop || !can_split(t, target, s) || !split_loop(t, target, s, within))
            split_in_body(t, target, s, within);
    }
}

/* The pass: splits loops at seams, indices at which a choice by index or a clamped index goes over
 * from one side to the other. */
void rd_pass_seam_split(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; k < RD_N_PARTS && !t->failed; k++)
        split_in_body(t, target, t->part[k], /*within=*/NULL);
}
