/* unroll_jam_outer_rounds.c - Chooses the loops for pass `unroll_jam_outer`: outer loops whose
 * rounds are jammed into the serial loop between them and a vector loop, as over coordinates of
 * points. So elements that are the same for all jammed rows are loaded once (Callahan, Carr and
 * Kennedy, 1990, "Improving Register Allocation for Subscripted Variables").
 *
 * A row is one round of the outer loop, q->loop; q->inside is the serial loop in a row.  A strip is
 * a range of indices of the axis q->r->axis, which vector loops visit.
 *
 * Fields. A loop's `of` is the number of the program's loop that it comes from, -1: none. A fold
 * has `user` if its reducer is the caller's own.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/strip_at.h"

/* Rows that are jammed, and the widest strips: wider ones have states that do not stay in a
 * cache. */
enum { ROWS = 4, MOST_WIDTH = 128 };

/* The loop over rows in question, and the loop inside each row. */
typedef struct row_loops {
    const rd_strip_at      *r;
    const rd_fold_in_strip *fold;
    int32_t                 loop, inside;
} row_loops;

/* Visits each statement in a body, at any depth. */
#define EACH_IN(q, body, s)                                       \
    for (int32_t s = rd_next_stmt((q)->r->t, body, body); s >= 0; \
         s         = rd_next_stmt((q)->r->t, s, body))

/* The one loop in the row that is not over the strips' axis; -1 if there is none or more than
 * one. */
static int32_t loop_in(const row_loops *q)
{
    int32_t found = -1;

    EACH_IN(q, q->loop, s)
    {
        if (q->r->t->stmt[s].kind != RD_S_LOOP || rd_loop_of(q->r->t, s)->axis == q->r->axis)
            continue;
        if (found >= 0)
            return -1;
        found = s;
    }
    return found;
}

/* The load of a statement; NULL if it is another statement. */
static const rd_let *load_of(const row_loops *q, int32_t stmt)
{
    const rd_stmt *s   = &q->r->t->stmt[stmt];
    const rd_let  *let = s->kind == RD_S_LET ? &q->r->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

/* ---- What the loop inside does --------------------------------------------------------------- */
/* True if blocks of a fold end along the loop inside. */
static bool has_block_ends(const row_loops *q)
{
    for (int32_t k = 0; k < q->r->t->p->n_fold; k++)
        if (q->r->t->fold[k].along == rd_loop_of(q->r->t, q->inside)->of && q->r->t->fold[k].blocks)
            return true;
    return false;
}

/* True if a load of the loop inside moves along the strip, but not from row to row: without such a
 * load nothing is saved. */
static bool has_shared_load(const row_loops *q)
{
    EACH_IN(q, q->inside, s)
    {
        const rd_let *load = load_of(q, s);

        if (load && rd_linear_coef(q->r->t, &load->at, q->r->axis) &&
            !rd_linear_coef(q->r->t, &load->at, rd_loop_of(q->r->t, q->loop)->axis))
            return true;
    }
    return false;
}

/* True if a statement of the row stores to the slot. */
static bool is_slot_stored(const row_loops *q, int32_t slot)
{
    EACH_IN(q, q->loop, s)
    if (q->r->t->stmt[s].kind == RD_S_STORE && q->r->t->stmt[s].slot == slot)
        return true;
    return false;
}

/* True if the statement reads what is made or stored in the row outside of the inner loop, which
 * comes before the jammed (unroll-and-jam) loop no more. */
static bool is_reading_row(const row_loops *q, int32_t stmt)
{
    const rd_schedule *t    = q->r->t;
    const rd_let      *load = load_of(q, stmt);
    int32_t            value[RD_MOST_READS];

    for (int32_t k = rd_reads_of(t, stmt, value, RD_MOST_READS) - 1; k >= 0; k--)
        if (rd_stands_in(t, t->let[value[k]].made_by, q->loop) &&
            !rd_stands_in(t, t->let[value[k]].made_by, q->inside))
            return true;
    return load && is_slot_stored(q, load->slot);
}

/* ---- What stands in a row -------------------------------------------------------------------- */
/* True if each element of the strip has a cell (accumulator) of the fold, which has one block and
 * one lane, is no scan and no user's.  It does not end in one round of a vector loop (`inner`), and
 * so has an array of states. */
static bool can_jam_fold(const row_loops *q, int32_t fold)
{
    const rd_loop_fold *f = &q->r->t->fold[fold];

    return q->fold[fold].cells && !q->fold[fold].inner && !f->tree_rows && !f->of.fold->scan &&
           !f->of.fold->user && f->lanes == 1;
}

/* True if the statement of a row can be jammed (unroll-and-jam).  Early exits and prefixes cannot.
 * In the loop inside there may only be values, and steps of folds that begin in the row. */
static bool can_jam_stmt(const row_loops *q, int32_t stmt)
{
    const rd_stmt *s       = &q->r->t->stmt[stmt];
    const int32_t  rereads = load_of(q, stmt) ? rd_loop_of_rereads(q->r, stmt) : -1;

    if (s->kind == RD_S_EXIT || s->kind == RD_S_PREFIX ||
        (s->kind == RD_S_BEGIN && !can_jam_fold(q, s->fold)) ||
        (rereads >= 0 && rd_stands_in(q->r->t, rereads, q->loop)))
        return false;
    if (!rd_stands_in(q->r->t, stmt, q->inside))
        return true;
    return s->kind != RD_S_STORE && !is_reading_row(q, stmt) &&
           (s->kind != RD_S_STEP || rd_fold_begins_in(q->r->t, s->fold, q->loop));
}

/* 4, if the rows of the loop can be jammed (unroll-and-jam), else 0.  The loop is one of the
 * program, upwards, with 4 rounds or more, in strips of at most 128.  It has one loop inside, which
 * is not unrolled and could be jammed as well. */
int32_t rd_unroll_jam_outer_rounds(const rd_strip_at *r, const rd_strip *strip,
                                   const rd_fold_in_strip *fold, int32_t loop)
{
    row_loops     q = { r, fold, loop, -1 };
    const rd_for *l = rd_loop_of(r->t, loop);

    q.inside = strip->wide || strip->width > MOST_WIDTH ? -1 : loop_in(&q);
    if (q.inside < 0 || l->backwards || l->of < 0 || l->step != 1 ||
        rd_trips(r->t->p, l->of) < ROWS || rd_loop_of(r->t, q.inside)->of < 0 ||
        rd_is_row(&r->t->p->loop[rd_loop_of(r->t, q.inside)->of]) || rd_unrolls_loop(r, q.inside) ||
        has_block_ends(&q) || !rd_unroll_jam_rounds(r, strip, fold, q.inside) ||
        !has_shared_load(&q))
        return 0;
    EACH_IN(&q, loop, s)
    if (!can_jam_stmt(&q, s))
        return 0;
    return ROWS;
}
