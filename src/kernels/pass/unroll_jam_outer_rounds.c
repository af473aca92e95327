/* unroll_jam_outer_rounds.c - Chooses the loops for pass `unroll_jam_outer`: outer loops whose
 * rounds are jammed into the serial loop between them and a vector loop, as over coordinates of
 * points. So elements that are the same for all jammed rows are loaded once (Callahan, Carr and
 * Kennedy, 1990, "Improving Register Allocation for Subscripted Variables").
 *
 * A row is one round of the outer loop, q->loop; q->inside are the serial loops in a row, such as
 * one for the distance of two points and one for its gradient.  A part of a row is such a loop, or
 * what stands between two of them: rows are done part by part.  A strip is a range of indices of
 * the axis q->r->axis, which vector loops visit.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A fold has `user` if its reducer is the caller's own.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/strip_at.h"

/* Rows that are jammed; more of them, if a strip is one vector; and the widest strips: wider ones
 * have states that do not stay in a cache. */
enum { ROWS = 4, ROWS_OF_VECTORS = 8, MOST_WIDTH = 128, MOST_LOOPS = 4 };

/* The loop over rows (its rounds) in question, and the serial loops inside each row. */
typedef struct row_loops {
    const rd_strip_at      *r;
    const rd_strip         *strip;
    const rd_fold_in_strip *fold;
    int32_t                 loop, inside[MOST_LOOPS];
    int                     n;    /* loops inside            */
    int                     rows; /* so many would be jammed */
} row_loops;

/* Visits each statement in a body, at any depth. */
#define EACH_IN(q, body, s)                                       \
    for (int32_t s = rd_next_stmt((q)->r->t, body, body); s >= 0; \
         s         = rd_next_stmt((q)->r->t, s, body))

/* Lists the loops in the row that are not over the strips' axis (along which vector loops go);
 * false: there is none, or there are more than 4. If there are several, each must stand directly
 * in the row. */
static bool find_loops(row_loops *q)
{
    EACH_IN(q, q->loop, s)
    {
        if (q->r->t->stmt[s].kind != RD_S_LOOP || rd_loop_of(q->r->t, s)->axis == q->r->axis)
            continue;
        if (q->n == MOST_LOOPS)
            return false;
        q->inside[q->n++] = s;
    }
    for (int k = 0; k < q->n && q->n > 1; k++)
        if (q->r->t->stmt[q->inside[k]].parent != q->loop)
            return false;
    return q->n > 0;
}

/* Returns the LOAD that the statement makes; NULL: it is another statement. */
static const rd_tree_value *load_of(const row_loops *q, int32_t stmt)
{
    const rd_stmt       *s   = &q->r->t->stmt[stmt];
    const rd_tree_value *let = s->kind == RD_S_LET ? &q->r->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

/* ---- What the loop inside does --------------------------------------------------------------- */
/* True if blocks (runs of a fold's steps) of a fold end along the loop. */
static bool has_block_ends(const row_loops *q, int32_t loop)
{
    for (int32_t k = 0; k < q->r->t->p->n_fold; k++)
        if (q->r->t->fold[k].step_loop == rd_loop_of(q->r->t, loop)->program_loop &&
            q->r->t->fold[k].blocks)
            return true;
    return false;
}

/* True if a load in the loop moves along the strip (a range that vector loops visit), but not from
 * row to row. Only such a load is saved when rows are jammed. */
static bool has_shared_load(const row_loops *q, int32_t inside)
{
    EACH_IN(q, inside, s)
    {
        const rd_tree_value *load = load_of(q, s);

        if (load && rd_linear_coef(q->r->t, &load->at, q->r->axis) &&
            !rd_linear_coef(q->r->t, &load->at, rd_loop_of(q->r->t, q->loop)->axis))
            return true;
    }
    return false;
}

/* Returns the first statement of the row that stores to the slot (array of the program's memory);
 * -1 if there is none. */
static int32_t store_to(const row_loops *q, int32_t slot)
{
    EACH_IN(q, q->loop, s)
    if (q->r->t->stmt[s].kind == RD_S_STORE && q->r->t->stmt[s].slot == slot)
        return s;
    return -1;
}

/* True if pass `store_forward` will replace the load, in the loop inside, by the value that the
 * row has stored for the same element of the strip (a range that vector loops visit). The value
 * then goes from loop to loop by an array, which each jammed row has. So the slot is scratch
 * (temporary memory of a task), stored once in the row, before the loop, at the same position. */
static bool is_forwarded(const row_loops *q, int32_t inside, const rd_tree_value *load,
                         int32_t store)
{
    const rd_schedule *t      = q->r->t;
    const rd_stmt     *s      = &t->stmt[store];
    const int32_t      axis   = rd_loop_of(t, inside)->axis;
    int                stores = 0;

    EACH_IN(q, q->loop, k)
    stores += t->stmt[k].kind == RD_S_STORE && t->stmt[k].slot == s->slot;
    return stores == 1 && s->slot >= t->p->first_scratch && t->stmt[s->parent].parent == q->loop &&
           t->stmt[s->parent].kind == RD_S_LOOP && rd_loop_of(t, s->parent)->axis == q->r->axis &&
           rd_comes_before(t, store, inside) && s->type == load->type &&
           t->let[s->x].type == load->type && rd_linear_same(t, &s->at, &load->at) &&
           !rd_linear_coef(t, &load->at, axis) && rd_linear_coef(t, &load->at, q->r->axis) == 1;
}

/* True if the statement of a loop inside reads a value that the row makes outside of that loop, or
 * loads what the row stores there, unless that is forwarded through an array. Jammed rows are done
 * part by part, and could not see it. */
static bool is_reading_row(const row_loops *q, int32_t inside, int32_t stmt)
{
    const rd_schedule   *t    = q->r->t;
    const rd_tree_value *load = load_of(q, stmt);
    const int32_t        made = load ? store_to(q, load->slot) : -1;
    int32_t              value[RD_MOST_READS];

    for (int32_t k = rd_reads_of(t, stmt, value, RD_MOST_READS) - 1; k >= 0; k--)
        if (rd_stands_in(t, t->let[value[k]].made_by, q->loop) &&
            !rd_stands_in(t, t->let[value[k]].made_by, inside))
            return true;
    return made >= 0 && !is_forwarded(q, inside, load, made);
}

/* ---- What stands in a row -------------------------------------------------------------------- */
/* True if each element of the strip has a cell (accumulator) of the fold, which has one block (a
 * run of a fold's steps) and one lane, is no scan and no user's.  It does not end in one round of
 * a vector loop (`ends_in_round`), and so has an array of states. */
static bool can_jam_fold(const row_loops *q, int32_t fold)
{
    const rd_loop_fold *f = &q->r->t->fold[fold];

    return q->fold[fold].cells && !q->fold[fold].ends_in_round && !f->tree_rows &&
           !f->emit.fold->scan && !f->emit.fold->user && f->lanes == 1;
}

/* Returns the serial loop of the row in which the statement stands; -1: in none. */
static int32_t loop_inside(const row_loops *q, int32_t stmt)
{
    for (int k = 0; k < q->n; k++)
        if (rd_stands_in(q->r->t, stmt, q->inside[k]))
            return q->inside[k];
    return -1;
}

/* True if the step can be jammed in a loop inside: its fold begins in the row; or, in a row of
 * several loops (n > 1), no other statement of the fold stands there but ends of blocks (runs of a
 * fold's steps). Then it must have one lane, the same cell (accumulator) in all rows, and another
 * one for each element of the strip (cells). Scans and users' reducers are left. */
static bool can_jam_step(const row_loops *q, int32_t stmt)
{
    const rd_schedule *t    = q->r->t;
    const int32_t      fold = t->stmt[stmt].fold;

    if (rd_fold_begins_in(t, fold, q->loop))
        return true;
    EACH_IN(q, q->loop, s)
    if (s != stmt && t->stmt[s].fold == fold && t->stmt[s].kind != RD_S_PUSH_IF_LAST)
        return false;
    return q->n > 1 && q->fold[fold].cells && t->fold[fold].lanes == 1 &&
           !t->fold[fold].emit.fold->scan && !t->fold[fold].emit.fold->user &&
           !rd_coef(&t->p->fold[fold].cell, rd_loop_of(t, q->loop)->axis);
}

/* Returns the number of the part of the row in which the statement stands: how many loops inside
 * begin at or before it. Jammed rows are done part by part. */
static int part_of(const row_loops *q, int32_t stmt)
{
    int n = 0;

    while (n < q->n && !rd_comes_before(q->r->t, stmt, q->inside[n]))
        n++;
    return n;
}

/* True if jamming rows part by part leaves the statement's order as it is. The steps of a fold
 * that goes on behind the row must all be in one part, and so must a load outside of the loops and
 * the stores to its slot (array of the program's memory). */
static bool keeps_order(const row_loops *q, int32_t stmt)
{
    const rd_stmt       *a    = &q->r->t->stmt[stmt];
    const rd_tree_value *load = load_of(q, stmt);

    EACH_IN(q, q->loop, s)
    {
        const rd_stmt *b = &q->r->t->stmt[s];

        if (part_of(q, s) == part_of(q, stmt))
            continue;
        if (a->kind == RD_S_STEP && b->kind == RD_S_STEP && a->fold == b->fold &&
            !rd_fold_begins_in(q->r->t, a->fold, q->loop))
            return false;
        if (load && b->kind == RD_S_STORE && b->slot == load->slot && loop_inside(q, stmt) < 0)
            return false;
    }
    return true;
}

/* True if the statement of a row can be jammed (unroll-and-jam). Early exits and prefixes of scans
 * cannot, nor loads that are packed again in each row. Between loops anything else may stand; in a
 * loop inside only values and steps. If the row has several loops (n > 1), they are jammed part by
 * part, which must keep the order of statements. */
static bool can_jam_stmt(const row_loops *q, int32_t stmt)
{
    const rd_stmt *s       = &q->r->t->stmt[stmt];
    const int32_t  rereads = /* the loop before which it is packed */ load_of(q, stmt)
                                 ? rd_loop_of_rereads(q->r, stmt)
                                 : -1;
    const int32_t  inside  = loop_inside(q, stmt);

    if (s->kind == RD_S_EXIT || s->kind == RD_S_PREFIX ||
        (s->kind == RD_S_BEGIN && !can_jam_fold(q, s->fold)) ||
        (rereads >= 0 && rd_stands_in(q->r->t, rereads, q->loop)))
        return false;
    if (q->n > 1 && !keeps_order(q, stmt))
        return false;
    if (inside < 0)
        return true;
    return s->kind != RD_S_STORE && !is_reading_row(q, inside, stmt) &&
           (s->kind != RD_S_STEP || can_jam_step(q, stmt));
}

/* True if the loop inside a row can serve several rows at once. It is a loop of the program (no
 * sparse row), not unrolled, without ends of blocks (runs of a fold's steps), and with a load that
 * rows share. Its own rounds must be jammable: as rd_unroll_jam_rounds() says of an only loop,
 * else as rd_can_jam_into() does. */
static bool can_serve_rows(const row_loops *q, int32_t inside)
{
    const rd_for *l = rd_loop_of(q->r->t, inside);

    return l->program_loop >= 0 && !rd_is_sparse_row(&q->r->t->p->loop[l->program_loop]) &&
           !rd_unrolls_loop(q->r, inside) && !has_block_ends(q, inside) &&
           (q->n == 1 ? rd_unroll_jam_rounds(q->r, q->strip, q->fold, inside) > 0
                      : !l->backwards && l->step == 1 &&
                            rd_can_jam_into(q->r, q->strip, q->fold, inside, q->rows)) &&
           has_shared_load(q, inside);
}

/* 4 or 8, if the rows of the loop can be jammed (unroll-and-jam), else 0.  The loop is one of the
 * program, upwards, with so many rounds or more, in strips (ranges that vector loops visit) of at
 * most 128.  All loops inside can serve several rows. 8 rows are jammed where a strip of floats is
 * one vector, as its states then fill fewer registers. */
int32_t rd_unroll_jam_outer_rounds(const rd_strip_at *r, const rd_strip *strip,
                                   const rd_fold_in_strip *fold, int32_t loop)
{
    row_loops     q = { .r = r, .strip = strip, .fold = fold, .loop = loop };
    const rd_for *l = rd_loop_of(r->t, loop);

    q.rows = strip->width * (int32_t)sizeof(float) <= r->vector ? ROWS_OF_VECTORS : ROWS;
    if (strip->wide || strip->width > MOST_WIDTH || l->backwards || l->program_loop < 0 ||
        l->step != 1 || rd_trips(r->t->p, l->program_loop) < q.rows || !find_loops(&q))
        return 0;
    for (int k = 0; k < q.n; k++)
        if (!can_serve_rows(&q, q.inside[k]))
            return 0;
    EACH_IN(&q, loop, s)
    if (!can_jam_stmt(&q, s))
        return 0;
    return q.rows;
}
