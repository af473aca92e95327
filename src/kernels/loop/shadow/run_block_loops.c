/* run_block_loops.c - block loops of a tree in its shadow run, and the statements that end their
 * rounds.
 *
 * A block loop has ranges as rounds, and a CUT in its body ends each range.  Marks are axes that
 * are bound to the begin and the end of a round.  Copies of a jam (unroll-and-jam) go through the
 * body together. */
#include "kernels/loop/shadow/run_tree.h"

/* ---- Block loops ----------------------------------------------------------------------------- */
/* The block loop around a statement. */
static const rd_for *blocks_around(const rd_shadow_task *r, const rd_stmt *s)
{
    int32_t k = s->parent;

    while (r->t->stmt[k].kind != RD_S_LOOP || rd_loop_of(r->t, k)->kind != RD_FOR_BLOCK)
        k = r->t->stmt[k].parent;
    return rd_loop_of(r->t, k);
}

/* Returns the number of the block that the statement's element would have if the mark had this
 * index. */
static int64_t block_at(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s, int32_t mark,
                        int64_t index)
{
    const rd_fold   *f    = &r->t->p->fold[s->fold];
    const int64_t    kept = c->axis[mark];
    rd_shadow_coords at;

    c->axis[mark] = index;
    at            = rd_shadow_coords_of(r, c, &s->of);
    c->axis[mark] = kept;
    return rd_shadow_step_number(f, &at) / f->steps;
}

/* Ends the round at hand before the first element of another block. */
bool rd_shadow_cut_at_block(const rd_shadow_task *r, rd_shadow_copy *c, const rd_stmt *s)
{
    const rd_for *loop  = blocks_around(r, s);
    const int32_t first = loop->backwards ? loop->stop : loop->start,
                  last  = loop->backwards ? loop->start : loop->stop;
    const int64_t next  = loop->backwards ? -1 : 1;
    const int64_t block = block_at(r, c, s, first, c->axis[first]);

    for (int64_t at = c->axis[first] + next; at != c->axis[last]; at += next)
        if (block_at(r, c, s, first, at) != block) {
            c->axis[last] = at;
            break;
        }
    return true;
}

/* Runs a block loop: each round begins as all that is left, and a statement in its body ends it
 * earlier.  All copies of a jam must have the same rounds. */
void rd_shadow_run_block_loop(rd_shadow_task *r, int32_t body, const rd_for *loop,
                              rd_shadow_copy *const *c, int n, rd_shadow_span all)
{
    while (all.from < all.to && !r->failed) {
        for (int j = 0; j < n; j++) {
            c[j]->axis[loop->start] = all.from;
            c[j]->axis[loop->stop]  = all.to;
        }
        rd_shadow_body(r, body, c, n);
        const rd_shadow_span round = { c[0]->axis[loop->start], c[0]->axis[loop->stop] };

        for (int j = 1; j < n && !r->failed; j++)
            rd_shadow_require(
                r, (c[j]->axis[loop->start] == round.from && c[j]->axis[loop->stop] == round.to) ||
                       rd_shadow_fails(r->why, "copies of a jam have blocks of other ranges"));
        if (!rd_shadow_require(r, round.from < round.to ||
                                      rd_shadow_fails(r->why, "a round has no index")))
            return;
        if (loop->backwards)
            all.to = round.from;
        else
            all.from = round.to;
    }
}
