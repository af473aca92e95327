/* run_block_loops.c - block loops of a tree in its shadow run, and the statements that end their
 * rounds.
 *
 * A block loop has ranges as rounds, and a CUT in its body ends each range.  Marks are axes that
 * are bound to the begin and the end of a round.  Copies of a jam (unroll-and-jam) go through the
 * body together. */
#include "kernels/loop/shadow/run_tree.h"

/* ---- Block loops ----------------------------------------------------------------------------- */
/* Returns the innermost block loop (its rounds are ranges of indices) around a statement. */
static const rd_for *blocks_around(const rd_shadow_task *r, const rd_stmt *s)
{
    int32_t k = s->parent;

    while (r->t->stmt[k].kind != RD_S_LOOP || rd_loop_of(r->t, k)->kind != RD_FOR_BLOCK)
        k = r->t->stmt[k].parent;
    return rd_loop_of(r->t, k);
}

/* Returns the number of the block (a run of a fold's steps) that the statement's element would be
 * in if the mark had this index. A mark is an axis bound to an end of the round; it is set for the
 * computation, and restored. */
static int64_t block_at(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s, int32_t mark,
                        int64_t index)
{
    const rd_fold   *f     = &r->t->p->fold[s->fold];
    const int64_t    saved = c->axis[mark];
    rd_shadow_coords at;

    c->axis[mark] = index;
    at            = rd_shadow_coords_of(r, c, &s->fold_at);
    c->axis[mark] = saved;
    return rd_shadow_step_number(f, &at) / f->steps;
}

/* Runs a CUT_AT_BLOCK: ends the round of the block loop around before the first index whose
 * element is in another block (a run of a fold's steps) than the round's first. It moves the mark
 * (axis bound to an end of a round) at the end of the round (`last`); a loop that goes backwards
 * goes from `stop_mark` down to `start_mark`. */
bool rd_shadow_cut_at_block(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s)
{
    const rd_for *loop      = blocks_around(r, s);
    const int32_t first     = loop->backwards ? loop->stop_mark : loop->start_mark,
                  last      = loop->backwards ? loop->start_mark : loop->stop_mark;
    const int64_t direction = loop->backwards ? -1 : 1;
    const int64_t block     = block_at(r, c, s, first, c->axis[first]);

    for (int64_t at = c->axis[first] + direction; at != c->axis[last]; at += direction)
        if (block_at(r, c, s, first, at) != block) {
            c->axis[last] = at;
            break;
        }
    return true;
}

/* Runs a block loop. Each round begins as all that is left, from mark start to mark stop, and a
 * CUT in its body ends it earlier by moving a mark. Copies of a jam (n instances of the code) must
 * have the same rounds. */
void rd_shadow_run_block_loop(rd_shadow_task *r, int32_t body, const rd_for *loop,
                              rd_shadow_copy *const *c, int n, rd_shadow_span left)
{
    while (left.from < left.to && !r->failed) {
        for (int j = 0; j < n; j++) {
            c[j]->axis[loop->start_mark] = left.from;
            c[j]->axis[loop->stop_mark]  = left.to;
        }
        rd_shadow_body(r, body, c, n);
        const rd_shadow_span round = { c[0]->axis[loop->start_mark], c[0]->axis[loop->stop_mark] };

        for (int j = 1; j < n && !r->failed; j++)
            rd_shadow_require(
                r, (c[j]->axis[loop->start_mark] == round.from &&
                    c[j]->axis[loop->stop_mark] == round.to) ||
                       rd_shadow_fails(r->why, "copies of a jam have blocks of other ranges"));
        if (!rd_shadow_require(r, round.from < round.to ||
                                      rd_shadow_fails(r->why, "a round has no index")))
            return;
        if (loop->backwards)
            left.to = round.from;
        else
            left.from = round.to;
    }
}
