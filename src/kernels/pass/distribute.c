/* distribute.c - Distributes the statements of a body over vector loops of a strip, and what
 * stands between these loops (loop distribution): see strip_mine.c.
 *
 * A strip is a range of indices of the axis c->r->axis.  `c->open` is the vector loop that takes
 * the next statements, -1: none yet.  `c->varies` says for each value whether it changes along the
 * axis. */
#include "kernels/loop/facts.h"
#include "kernels/pass/strip_body.h"

/* Replaces a loop over the strip's axis by its body, as the vector loop around it visits the
 * indices now. Returns the statement at which the traversal goes on: the first of the body, or if
 * that was empty the statement behind the loop. */
static int32_t inline_loop(rd_schedule *t, int32_t loop)
{
    const int32_t first = t->stmt[loop].first, behind = t->stmt[loop].next;

    for (int32_t s = first, next; s >= 0; s = next) {
        next = t->stmt[s].next;
        rd_take_out(t, s);
        rd_put_before(t, s, loop);
    }
    rd_take_out(t, loop);
    return first >= 0 ? first : behind;
}

/* Records in c->varies whether the value changes along the strips' axis. Such values are made in
 * vector loops, others once for a strip. */
static void set_varies(rd_strip_mining *c, int32_t value)
{
    c->varies[value] = rd_let_varies(c->t, &c->t->let[value], c->r->axis, c->varies);
}

/* Puts a short loop with all its statements into the open vector loop, and unrolls it. Loops over
 * the strip's axis inside are replaced by their bodies, as the vector loop visits their rounds.
 * Early exits are dropped, as vectors run to the end. Steps get the state (accumulator) of the
 * strip's element. rd_to_vector() moves the loop to the open vector loop, or to a new one;
 * rd_set_state() chooses the accumulator. */
static void keep_unrolled(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_schedule *t = c->t;

    t->loop[t->stmt[stmt].arg].kind = RD_FOR_UNROLL;
    rd_to_vector(c, body, stmt);
    for (int32_t s = t->stmt[stmt].first; s >= 0;) {
        rd_stmt changed = t->stmt[s];

        if (changed.kind == RD_S_LOOP) {
            s = inline_loop(t, s);
            continue;
        }
        if (changed.kind == RD_S_EXIT)
            rd_take_out(t, s);
        if (changed.kind == RD_S_LET)
            set_varies(c, changed.value);
        if (changed.kind == RD_S_STEP || changed.kind == RD_S_PREFIX) {
            rd_set_state(c, body, &changed);
            t->stmt[s] = changed;
        }
        s = changed.next;
    }
}

/* Keeps a loop over another axis around vector loops: a new LOOP statement with the same loop
 * record gets the old body, distributed. Early exits leave the new statement. Behind it a new
 * vector loop begins (open = -1). rd_put_alone() puts a statement at the body's end, outside of
 * vector loops. The old statement `stmt` stands nowhere afterwards. */
static void distribute_other_loop(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    rd_schedule  *t    = c->t;
    const rd_stmt s    = t->stmt[stmt];
    const int32_t made = rd_add_stmt(t, &s);

    rd_put_alone(c, body, made);
    for (int32_t k = rd_next_exit(t, stmt, stmt); k >= 0; k = rd_next_exit(t, stmt, k))
        t->stmt[k].arg = made;
    rd_distribute(c, stmt, made);
    c->open = -1;
}

/* True if the loop holds a PUSH_IF_LAST, which ends the block of a fold (a block: some steps, a
 * leaf of the combine tree). These become calls for all elements of the strip, so they cannot
 * stand in an unrolled loop within a vector loop. */
static bool has_block_ends(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_PUSH_IF_LAST)
            return true;
    return false;
}

/* Distributes a loop by its kind. A loop over the strip's axis vanishes, as vector loops visit its
 * indices. A short serial loop of the program (of >= 0) without ends of blocks (runs of a fold's
 * steps) is unrolled in the vector loop. All others stay, and vector loops stand in them.
 * c->inside counts loops of the first kind. */
static void distribute_loop(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    const rd_for loop = *rd_loop_of(c->t, stmt);

    if (loop.axis == c->r->axis && loop.kind != RD_FOR_BLOCK) {
        c->inside++;
        rd_distribute(c, stmt, body);
        c->inside--;
    } else if (loop.program_loop >= 0 && c->strips->unrolled[loop.program_loop] &&
               loop.kind == RD_FOR_SERIAL && !has_block_ends(c->t, stmt))
        keep_unrolled(c, body, stmt);
    else
        distribute_other_loop(c, body, stmt);
}

/* Distributes one statement by its kind.  A value that changes along the axis goes to a vector
 * loop; other values stand before it, in the strip's body. Statements of folds are put by
 * strip_folds.c; all others end the open vector loop. rd_to_vector(), rd_to_strip() and
 * rd_put_alone() move the statement to the end of the open vector loop, before it, or behind it. */
static void distribute_stmt(rd_strip_mining *c, int32_t body, int32_t stmt)
{
    const rd_stmt *s = &c->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_LET:
        set_varies(c, s->value);
        if (c->varies[s->value])
            rd_to_vector(c, body, stmt);
        else
            rd_to_strip(c, body, stmt);
        break;
    case RD_S_STORE: rd_to_vector(c, body, stmt); break;
    case RD_S_LOOP: distribute_loop(c, body, stmt); break;
    case RD_S_BEGIN:
    case RD_S_STEP:
    case RD_S_PREFIX:
    case RD_S_PUSH_IF_LAST:
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES:
    case RD_S_FINISH:
    case RD_S_EXIT: rd_put_fold_stmt(c, body, stmt); break;
    default: rd_put_alone(c, body, stmt);
    }
}

/* Distributes all statements of the body `from`, in order, over vector loops at the end of `body`,
 * and the places between these (loop distribution). */
void rd_distribute(rd_strip_mining *c, int32_t from, int32_t body)
{
    for (int32_t s = c->t->stmt[from].first, next; s >= 0 && !c->t->failed; s = next) {
        next = c->t->stmt[s].next;
        rd_take_out(c->t, s);
        distribute_stmt(c, body, s);
    }
}
