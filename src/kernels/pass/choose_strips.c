/* choose_strips.c - Chooses which loops of a tree are strip-mined, and records facts about the
 * strips. The regions of least price become strips (loop/regions.h).
 *
 * Prices use the usual speeds, never those measured on this machine. So a program has the same
 * text, and the strict mode the same verdict, on all machines with the same vectors.
 *
 * A strip is a range of neighbouring indices of an axis, which vector loops take together.  A
 * region is a loop, or a body of loops, that shares one loop over strips.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/pass/choose_strips.h"
#include "kernels/loop/regions.h"
#include "kernels/pass/strip_at.h"
#include <math.h>

/* The regions (loops that are strip-mined together), and the arrays that are filled for them; the
 * arrays are explained at rd_strips. */
typedef struct choosing {
    const rd_schedule *t; /* a copy without ends of blocks, which regions use */
    const rd_regions  *r;
    int                vector; /* bytes of a vector */
    rd_strip          *strip;
    rd_alternatives   *of;
    bool              *unrolled, *exp_bound;
    int32_t           *unroll_jam, *unroll_jam_outer;
    rd_fold_in_strip  *fold;
} choosing;

/* True if the statement is a loop over single indices (step 1) that comes from the program, not
 * from a pass or a tile (of >= 0). */
static bool is_unit_step_loop(const rd_schedule *t, int32_t stmt)
{
    return t->stmt[stmt].kind == RD_S_LOOP && rd_loop_of(t, stmt)->step == 1 &&
           rd_loop_of(t, stmt)->program_loop >= 0;
}

/* ---- What is known of each ------------------------------------------------------------------- */
/* Decides three things for each loop over another axis in the region (loops that share strips). Is
 * it unrolled? Is it bound by the latency of exp? How many of its rounds are jammed into the vector
 * loop, or into a serial loop around that (unroll-and-jam)? Loops over the region's own axis are
 * not asked: they are what the strips divide. */
static void decide_loops(const choosing *c, const rd_strip_at *r, const rd_strip *strip)
{
    for (int32_t s = rd_next_stmt(c->t, r->top, r->top); s >= 0; s = rd_next_stmt(c->t, s, r->top))
        if (is_unit_step_loop(c->t, s) && rd_loop_of(c->t, s)->axis != r->axis) {
            c->unrolled[rd_loop_of(c->t, s)->program_loop]  = rd_unrolls_loop(r, s);
            c->exp_bound[rd_loop_of(c->t, s)->program_loop] = rd_takes_exp_of_pairs(r, s);
            c->unroll_jam[rd_loop_of(c->t, s)->program_loop] =
                rd_unroll_jam_rounds(r, strip, c->fold, s);
            c->unroll_jam_outer[rd_loop_of(c->t, s)->program_loop] =
                rd_unroll_jam_outer_rounds(r, strip, c->fold, s);
        }
}

/* Returns the number of the program's part (0 head, 1 body, 2 tail) in which the statement stands.
 */
static int part_of(const rd_schedule *t, int32_t stmt)
{
    int part = 0;

    while (t->stmt[stmt].parent >= 0)
        stmt = t->stmt[stmt].parent;
    while (t->part[part] != stmt)
        part++;
    return part;
}

/* Returns the region that is strip-mined: the one of least price, or one that a rule prefers to it
 * because its states (accumulators) stay in registers. *of gets the alternatives for explain; the
 * rule's region is the last of them, without a price (NAN). `at` and `by` describe a region each:
 * the tree, the vector's bytes, the statement, the axis, and whether that statement only holds
 * loops over the axis (`top_is_body`). */
static rd_strip_at choose_region(const choosing *c, const rd_region *from, rd_alternatives *of)
{
    const rd_strip_at at = { c->t, c->vector, from->top, from->axis, from->top_is_body };
    rd_strip_at       by;

    *of = from->of;
    if (!rd_prefers_register_strips(&at, c->fold, &by))
        return at;
    if (of->n < RD_MOST_ALTERNATIVES)
        /* numbered: the axis follows the name */
        of->at[of->n++] = (rd_alternative){ "strips along axis", (double)NAN, by.axis, true };
    rd_take_by_rule(of, of->n - 1, "states of several rows stay in registers");
    return by;
}

/* Fills strip k from region k: its axis, its loop (-1: a part of the program) and part, how
 * elements map to accumulators, its width, whether its tail is padded, and what becomes of the
 * loops inside. */
static void describe(const choosing *c, int32_t k)
{
    rd_strip         *r  = &c->strip[k];
    const rd_strip_at at = choose_region(c, &c->r->at[k], &c->of[k]);

    *r      = (rd_strip){ .axis = at.axis, .around = at.top_is_body };
    r->loop = c->t->stmt[at.top].kind == RD_S_LOOP ? rd_loop_of(c->t, at.top)->program_loop : -1;
    r->part = part_of(c->t, at.top);
    rd_find_fold_mappings(&at, c->fold);
    rd_find_width(&at, c->fold, r);
    r->padded = rd_pads_tail(&at, r, c->fold);
    decide_loops(c, &at, r);
}

/* Describes each region (loops that share strips) as a strip (a range that vector loops visit);
 * false: no memory.  The arrays are per strip, per loop of the program (unrolled, exp_bound, and
 * how many rounds are jammed), or per fold; each has room for one more, so that none is empty. */
static bool describe_all(choosing *c, rd_get_fn *get, void *pool)
{
    const size_t n = (size_t)c->r->n + 1;

    c->strip            = get(pool, n * sizeof *c->strip);
    c->of               = get(pool, n * sizeof *c->of);
    c->unrolled         = get(pool, ((size_t)c->t->p->n_loop + 1) * sizeof *c->unrolled);
    c->exp_bound        = get(pool, ((size_t)c->t->p->n_loop + 1) * sizeof *c->exp_bound);
    c->unroll_jam       = get(pool, ((size_t)c->t->p->n_loop + 1) * sizeof *c->unroll_jam);
    c->unroll_jam_outer = get(pool, ((size_t)c->t->p->n_loop + 1) * sizeof *c->unroll_jam_outer);
    c->fold             = get(pool, ((size_t)c->t->p->n_fold + 1) * sizeof *c->fold);
    if (!c->strip || !c->of || !c->unrolled || !c->exp_bound || !c->unroll_jam ||
        !c->unroll_jam_outer || !c->fold)
        return false;
    for (int32_t k = 0; k < c->r->n; k++)
        describe(c, k);
    return true;
}

/* Finds the regions of least price (groups of loops that share strips), describes each, and hands
 * out the arrays in *strips, with memory from get(). r.without_block_ends is a copy of the tree
 * without ends of blocks (runs of a fold's steps), on which regions are found. False: no memory.
 * Then *strips is not to be used. */
bool rd_choose_strips(const rd_schedule *t, const rd_target *target, rd_get_fn *get, void *pool,
                      rd_strips *strips)
{
    const rd_speeds usual = rd_speeds_usual(target->vector);
    rd_regions      r;
    bool            ok = rd_regions_of(t, &usual, target->tells, &r);
    choosing        c  = { .t = r.without_block_ends, .r = &r, .vector = target->vector };

    ok      = ok && describe_all(&c, get, pool);
    *strips = (rd_strips){ .n                = r.n,
                           .at               = c.strip,
                           .of               = c.of,
                           .unrolled         = c.unrolled,
                           .exp_bound        = c.exp_bound,
                           .unroll_jam       = c.unroll_jam,
                           .unroll_jam_outer = c.unroll_jam_outer,
                           .fold             = c.fold };
    rd_regions_free(&r);
    return ok;
}
