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
 * Strips stay whole, as lanes go by positions: a strip that holds a seam is a piece of its own, which
 * keeps the choices.  Pieces follow each other in the order of the loop, so no bit changes. */
#include "kernels/loop/facts.h"
#include "kernels/loop/seam_forms.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/index_set_split.h"

/* LANES: see index_set_split.c.  Each piece is text to compile, and so is each piece inside of it.
 */
enum { LANES = 64, MOST_SEAMS = 6, DEPTH = 16, MOST_STMTS = 3000 };

/* A loop's axis in a range of its indices. */
typedef struct piece {
    rd_schedule  *t;
    int32_t       axis;
    rd_seam_range range;
} piece;

/* ---- What values are in a range -------------------------------------------------------------- */
static rd_known known_value(piece *p, int32_t value, int depth);

/* What an operator on whole numbers is. */
static rd_known known_map(piece *p, const rd_let *let, int depth)
{
    if (let->from != RD_I64 || let->n != 2)
        return (rd_known){ .is = RD_FORM_UNKNOWN };
    return rd_known_of_op(&p->range, let->op, known_value(p, p->t->operand[let->first], depth),
                          known_value(p, p->t->operand[let->first + 1], depth));
}

/* What a coordinate is, if it depends on no other axis. */
static rd_known known_place(const piece *p, const rd_linear *at)
{
    rd_known sum = rd_known_sum(0, at->offset);

    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &p->t->term[at->first + k];

        if (term->axis != p->axis)
            return (rd_known){ .is = RD_FORM_UNKNOWN };
        sum.coef += term->coef;
    }
    return sum;
}

/* What a value is in the range, and the first seam where it is one thing before and another thing
 * behind.  `depth` bounds the recursion. */
static rd_known known_value(piece *p, int32_t value, int depth)
{
    const rd_let *let = &p->t->let[value];

    if (depth == 0)
        return (rd_known){ .is = RD_FORM_UNKNOWN };
    switch (let->kind) {
    case RD_I_CONST:
        return let->type == RD_I64 ? rd_known_sum(0, let->word.i64)
                                   : (rd_known){ .is = RD_FORM_UNKNOWN };
    case RD_I_COORD: return known_place(p, &let->at);
    case RD_I_MAP: return known_map(p, let, depth - 1);
    default: return (rd_known){ .is = RD_FORM_UNKNOWN };
    }
}

/* ---- Seams of a loop ------------------------------------------------------------------------- */
/* The value of a statement if it is a choice, else -1. */
static int32_t choice_at(const rd_schedule *t, int32_t stmt)
{
    const rd_let *let = rd_let_of(t, stmt);

    return let && let->kind == RD_I_SELECT ? t->stmt[stmt].value : -1;
}

/* Examines all choices and addresses of loads in the loop; returns how many of the addresses are
 * sums of indices in the range. */
static int32_t examine(piece *p, int32_t loop)
{
    const rd_schedule *t   = p->t;
    int32_t            sum = 0;

    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_let *let = rd_let_of(t, s);

        if (choice_at(t, s) >= 0)
            known_value(p, t->operand[let->first], DEPTH);
        for (int32_t k = 0; let && let->kind == RD_I_LOAD && k < let->at.n; k++) {
            const rd_linear_term *term = &t->term[let->at.first + k];

            if (term->axis < 0)
                sum += known_value(p, term->value, DEPTH).is == RD_FORM_SUM;
        }
    }
    return sum;
}

/* The seams of a loop in order, n of them. */
typedef struct seams {
    int32_t n, sums;
    bool    many;
    int64_t at[MOST_SEAMS];
} seams;

/* Finds the seams of the loop between lo and hi, from left to right.  A side of a seam may have
 * further ones, as clamps stand in clamps. */
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
/* Returns the operand that a choice is in the range in place of the choice; other values stay. */
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

/* Returns a position in which values that are sums of indices in the range are these sums. */
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

/* True if the statement makes a value that nothing in the piece reads. */
static bool is_dead(const rd_schedule *t, int32_t stmt, int32_t loop)
{
    const rd_let *let = rd_let_of(t, stmt);

    return let && t->stmt[stmt].n_value == 1 &&
           (let->kind == RD_I_COORD || let->kind == RD_I_CONST || let->kind == RD_I_LOAD ||
            let->kind == RD_I_MAP || let->kind == RD_I_CAST || let->kind == RD_I_SELECT) &&
           !rd_is_read_in(t, t->stmt[stmt].value, loop);
}

/* Removes values that nothing in the loop reads, until there are none. */
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

/* Makes choices in the loop one of their operands and addresses sums of indices, as they are from
 * lo to hi. */
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
/* Makes the loop of a statement go from `from` to `to`. */
static void set_range(rd_schedule *t, int32_t stmt, rd_linear from, rd_linear to)
{
    if (t->failed)
        return;
    t->loop[t->stmt[stmt].arg].from = rd_edge_of(from);
    t->loop[t->stmt[stmt].arg].to   = rd_edge_of(to);
}

/* Puts a copy of the loop before it, for a range of its own; returns the copy. */
static int32_t copy_before(rd_range_split *c, rd_linear from, rd_linear to)
{
    const int32_t made = rd_stmt_copy(c->t, c->stmt);

    if (c->t->failed)
        return c->stmt;
    rd_put_before(c->t, made, c->stmt);
    set_range(c->t, made, from, to);
    return made;
}

/* True if two positions are the same constant. */
static bool is_same_number(const rd_linear *a, const rd_linear *b)
{
    return a->n == 0 && b->n == 0 && a->offset == b->offset;
}

/* A range of indices of an axis in which a statement stands. */
typedef struct limits {
    int32_t axis;
    int64_t lo, hi;
} limits;

static void split_in_body(rd_schedule *t, const rd_target *target, int32_t body,
                          const limits *within);

/* Makes the choices in a piece what they are in its range, and splits the loops inside of it. */
static void finish_piece(rd_schedule *t, const rd_target *target, int32_t loop, int64_t lo,
                         int64_t hi)
{
    const limits within = { rd_loop_of(t, loop)->axis, lo, hi };

    if (!t->failed)
        simplify(t, loop, lo, hi);
    if (!t->failed)
        split_in_body(t, target, loop, &within);
}

/* Splits the loop at its seams between lo and hi: a piece between any two of them, and where strips
 * may not be split a piece with the strip around each.  The last piece is the loop itself. */
static void split_at(rd_range_split *c, const rd_target *target, const seams *found, int64_t lo,
                     int64_t hi)
{
    rd_schedule *t                = c->t;
    rd_linear    from             = c->from;
    int32_t      made[MOST_SEAMS] = { 0 }, strip[MOST_SEAMS] = { 0 };

    for (int32_t k = 0; k < found->n && !t->failed; k++) {
        const rd_linear seam   = rd_linear_of(found->at[k]);
        const rd_linear before = rd_index_max(&c->n, from, rd_round_to_step(c, seam, false));
        const rd_linear behind = rd_index_max(&c->n, before, rd_round_to_step(c, seam, true));

        made[k] = copy_before(c, from, before);
        strip[k] =
            c->by > 1 && !is_same_number(&before, &behind) ? copy_before(c, before, behind) : -1;
        from = behind;
    }
    set_range(t, c->stmt, from, c->to);
    for (int32_t k = 0; k < found->n && !t->failed; lo = found->at[k++]) {
        const int64_t seam = found->at[k];

        finish_piece(t, target, made[k], lo, seam);
        if (strip[k] >= 0)
            finish_piece(t, target, strip[k], seam - lo > c->by ? seam - c->by : lo,
                         hi - seam > c->by ? seam + c->by : hi);
    }
    finish_piece(t, target, c->stmt, lo, hi);
}

/* True if the instruction stands in the program's loop that a loop comes from. */
static bool is_inside(const rd_schedule *t, int32_t inst, int32_t of)
{
    return of >= 0 && inst > t->p->loop[of].begin && inst < t->p->loop[of].end;
}

/* True if the loop tests whether blocks end of a fold that begins outside of it.  Such a test may
 * count the rounds of the loop. */
static bool tests_ends(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_PUSH_IF_LAST &&
            !is_inside(t, t->fold[t->stmt[s].fold].start, rd_loop_of(t, loop)->of))
            return true;
    return false;
}

/* True if another loop reads a value that this one makes. */
static bool hands_on(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        for (int32_t k = 0; k < t->stmt[s].n_value; k++)
            if (rd_is_read_outside(t, t->stmt[s].value + k, loop))
                return true;
    return false;
}

/* The indices of a strip if the loop runs over strips; 0: it runs over single indices. */
static int64_t strip_of(const rd_target *target, const rd_for *loop)
{
    return loop->start < 0 && loop->step <= 1 ? 0
           : target->strips && loop->strip >= 0 && target->strips->at[loop->strip].fixed
               ? target->strips->at[loop->strip].width
           : loop->step > 1 ? loop->step
                            : LANES;
}

/* True if the loop may be split: it goes upwards between two positions, over indices of the
 * program, and nothing in it leaves it early.  Loops over narrow strips are split between strips,
 * which leaves strips with a seam inside, and vector loops inside of strips. */
static bool can_split(const rd_schedule *t, const rd_target *target, int32_t stmt)
{
    const rd_for *loop = rd_loop_of(t, stmt);
    const bool    kind = loop->kind == RD_FOR_SERIAL   ? strip_of(target, loop) <= LANES
                         : loop->kind == RD_FOR_VECTOR ? !loop->by_call
                                                       : false;

    return kind && !loop->backwards && loop->axis < t->p->n_axis && loop->from.n == 1 &&
           loop->to.n == 1 && loop->from.part[0].by <= 1 && loop->to.part[0].by <= 1 &&
           rd_next_exit(t, stmt, stmt) < 0 && !tests_ends(t, stmt) &&
           (loop->kind == RD_FOR_SERIAL || !hands_on(t, stmt));
}

/* Splits one loop at its seams within the limits, if some load then reads at a sum of indices; and
 * the loops in its pieces.  False if it was not split. */
static bool split_loop(rd_schedule *t, const rd_target *target, int32_t stmt, const limits *within)
{
    const rd_for   loop  = *rd_loop_of(t, stmt);
    const bool     here  = within && within->axis == loop.axis;
    const int64_t  lo    = here ? within->lo : 0;
    const int64_t  hi    = here ? within->hi : t->p->axis_extent[loop.axis];
    rd_range_split c     = { .t    = t,
                             .n    = { t, stmt },
                             .stmt = stmt,
                             .by   = strip_of(target, &loop) > 1 ? strip_of(target, &loop) : 1,
                             .from = loop.from.part[0].at,
                             .to   = loop.to.part[0].at };
    seams          found = { 0 };

    find_seams(t, stmt, lo, hi, &found);
    if (found.many || found.n == 0 || found.sums == 0)
        return false;
    split_at(&c, target, &found, lo, hi);
    return true;
}

/* Splits the loops of a body at seams, outer loops first: their pieces hold no seam of their axis,
 * but for strips around one.  `within` limits the indices of an axis; NULL: of none. */
static void split_in_body(rd_schedule *t, const rd_target *target, int32_t body,
                          const limits *within)
{
    for (int32_t s = t->stmt[body].first, next; s >= 0 && !t->failed; s = next) {
        const bool loop = t->stmt[s].kind == RD_S_LOOP && t->n_stmt < MOST_STMTS;

        next = t->stmt[s].next;
        if (!loop || !can_split(t, target, s) || !split_loop(t, target, s, within))
            split_in_body(t, target, s, within);
    }
}

/* The pass: splits loops where choices by index and clamped indices go over from one side to the
 * other. */
void rd_pass_seam_split(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; k < RD_N_PARTS && !t->failed; k++)
        split_in_body(t, target, t->part[k], NULL);
}
