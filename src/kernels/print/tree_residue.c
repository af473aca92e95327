/* tree_residue.c - which operations of a loop tree run element by element after all passes (the
 * scalar residue): those outside of vector loops, and those in vector loops that compilers do
 * not vectorise.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. A loop
 * by call is one call of a function in the text. */
#include "kernels/print/tree_residue.h"
#include "kernels/loop/price_parts.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/fission_points.h"
#include <math.h>
#include <stdlib.h>

/* The search: the vector loop at hand, and facts of the values in it. */
typedef struct residue_search {
    const rd_schedule *t;
    const rd_speeds   *s;      /* speeds that predict times                               */
    int32_t            loop;   /* the vector loop that `varies` and `around` describe     */
    bool               around; /* the vector loop holds a loop that stays one             */
    bool              *varies; /* per value: it changes with the rounds of the vector loop */
    bool              *near;   /* per fold: no state comes from memory                    */
    rd_residue        *to;     /* where operations are added                              */
} residue_search;

/* True if the value is the number of the lane (partial accumulator) with which a strip begins:
 * the remainder of a coordinate by a constant. A pass has added it behind the program's values
 * (n_reg), so it is no operation of the program. */
static bool is_lane_offset(const rd_schedule *t, const rd_tree_value *let)
{
    return let->kind == RD_I_MAP && let->type == RD_I64 && let->n == 2 &&
           let - t->let >= t->p->n_reg && t->let[t->operand[let->first]].kind == RD_I_COORD &&
           t->let[t->operand[let->first + 1]].kind == RD_I_CONST;
}

/* True if the statement computes something for each element: a step of a fold, or a value that is
 * no load, constant or coordinate. Nor is it a strip's first lane, which a pass has added. */
static bool is_operation(const rd_schedule *t, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    if (!let)
        return rd_is_step(t, stmt);
    if (is_lane_offset(t, let))
        return false;
    switch (let->kind) {
    case RD_I_MAP:
    case RD_I_CAST:
    case RD_I_SELECT:
    case RD_I_INDEX:
    case RD_I_CALL: return true;
    default: return false;
    }
}

/* Writes the name of the operation in reports: that of the fold's reducer, "sum", or of the
 * value's instruction, "exp". */
static void name_of(const rd_schedule *t, int32_t stmt, char name[RD_RESIDUE_NAME])
{
    const rd_tree_value *let = rd_let_of(t, stmt);

    if (!let) {
        rd_residue_fold(&t->p->fold[t->stmt[stmt].fold], name);
        return;
    }
    rd_residue_inst(t->p,
                    &(rd_inst){ .kind = let->kind,
                                .op   = let->op,
                                .type = let->type,
                                .from = let->from,
                                .arg  = let->arg },
                    name);
}

/* ---- Vector loops ---------------------------------------------------------------------------- */
/* Returns why a vector loop that is one call of a function still runs element by element inside;
 * RD_N_RESIDUE if it has vectors. let: the value that it makes; NULL: a step. A user's function
 * takes the whole strip if it has a C text or takes arrays, but not if it takes one element. */
static rd_residue_why why_by_call(const rd_schedule *t, const rd_tree_value *let)
{
    const rd_call *call = let && let->kind == RD_I_CALL ? &t->p->call[let->arg] : NULL;

    if (call)
        return call->body || call->block || call->f32 || call->f64 ? RD_N_RESIDUE
                                                                   : RD_RESIDUE_caller;
    if (!let || let->kind != RD_I_MAP || let->op == RD_OP_exp || rd_draws_words_of_strip(t, let) ||
        rd_op_leaves_rest(let->op, let->type))
        return RD_N_RESIDUE;
    if (rd_op_reports(let->op, let->type))
        return RD_RESIDUE_divides;
    switch (rd_op_table[let->op].by) {
    case RD_BY_LIBM: return RD_RESIDUE_c;
    case RD_BY_ROWS: return RD_RESIDUE_branches;
    default: return RD_N_RESIDUE;
    }
}

/* True if the vector loop holds an inner loop that compilers keep, so that they do not vectorise
 * the outer one. Unrolled loops, jams and loops of one round vanish, and so do those of at most 8
 * rounds, which compilers write out. rd_most_trips() < 0: the number of rounds is unknown. */
static bool has_inner_loop(const rd_schedule *t, int32_t vector)
{
    enum { WRITTEN_OUT = 8 };

    for (int32_t s = rd_next_stmt(t, vector, vector); s >= 0; s = rd_next_stmt(t, s, vector)) {
        const rd_for *l = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

        if (l && l->kind != RD_FOR_UNROLL && l->kind != RD_FOR_JAM && l->kind != RD_FOR_ONCE &&
            (rd_most_trips(t, s) < 0 || rd_most_trips(t, s) > WRITTEN_OUT))
            return true;
    }
    return false;
}

/* Computes the facts of a vector loop when the search comes to its first statement: which values
 * change with its rounds, and whether it holds an inner loop. Statements of one loop follow each
 * other, so this happens once for each. */
static void enter_vector_loop(residue_search *q, int32_t vector)
{
    rd_find_varying(q->t, vector, q->varies);
    q->loop   = vector;
    q->around = has_inner_loop(q->t, vector);
}

/* Returns why an operation in a vector loop runs element by element; RD_N_RESIDUE if it has
 * vectors. The reason is in the function that a loop by call calls; or the step goes by label in
 * a loop that keeps its order; or the loop holds an inner loop. */
static rd_residue_why why_in_vector(const residue_search *q, int32_t stmt)
{
    const rd_schedule   *t   = q->t;
    const rd_tree_value *let = rd_let_of(t, stmt);

    if (rd_is_by_call(t, q->loop))
        return why_by_call(t, let);
    if (rd_is_step(t, stmt) && t->stmt[stmt].label >= 0)
        return rd_loop_of(t, q->loop)->in_order ? RD_RESIDUE_label : RD_N_RESIDUE;
    return q->around ? RD_RESIDUE_inner : RD_N_RESIDUE;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Returns the predicted time of the statement for one element, in nanoseconds. It is the longest
 * of arithmetic, dependency chain, loads and stores, which overlap, plus what the begin and end
 * of loops cost. vector: the vector loop whose vectors take it, -1: it is scalar. */
static double element_ns(const residue_search *q, int32_t stmt, int32_t vector)
{
    const rd_price_site at    = { .t         = q->t,
                                  .s         = q->s,
                                  .vector    = vector,
                                  .top       = vector >= 0 ? q->t->stmt[vector].parent : -1,
                                  .loop      = rd_loop_around(q->t, stmt),
                                  .varies    = q->varies,
                                  .in_region = q->near };
    rd_unit_ns          parts = { 0 };

    rd_price_statement(&at, stmt, &parts);
    return fmax(fmax(parts.arithmetic, parts.chain), fmax(parts.loads, parts.stores)) +
           parts.entries;
}

/* True if the statement makes a value that is the same in all rounds of the vector loop, so that
 * compilers compute it once before the loop. */
static bool is_invariant(const residue_search *q, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(q->t, stmt);

    return let && !q->varies[q->t->stmt[stmt].value];
}

/* Adds an operation to the residue (what runs element by element): why it is not vectorised, how
 * often it runs, and its time. RD_N_RESIDUE stands for "it is vectorised, or runs once". */
static void add_operation(residue_search *q, int32_t stmt)
{
    const int32_t  vector = rd_vector_around(q->t, stmt);
    const double   times  = rd_rounds_of(q->t, stmt);
    rd_residue_why why    = RD_N_RESIDUE;
    char           name[RD_RESIDUE_NAME];

    if (vector >= 0 && vector != q->loop)
        enter_vector_loop(q, vector);
    if (vector < 0)
        why = times > 1 ? rd_why_serial(q->t, stmt) : RD_N_RESIDUE;
    else if (!is_invariant(q, stmt))
        why = why_in_vector(q, stmt);
    name_of(q->t, stmt, name);
    rd_residue_add(q->to, why, name, times,
                   times * element_ns(q, stmt, why == RD_N_RESIDUE ? vector : -1));
}

/* Adds the time of a statement that moves data or ends a fold, and is no operation, to the time
 * of the whole tree. Loops and declarations take none of their own. A vector loop without
 * operations is left out, because its facts were not computed. */
static void add_time(residue_search *q, int32_t stmt)
{
    const int32_t vector = rd_vector_around(q->t, stmt);

    if (q->t->stmt[stmt].kind == RD_S_LOOP || q->t->stmt[stmt].kind == RD_S_ARRAY ||
        (vector >= 0 && vector != q->loop))
        return;
    q->to->ns += rd_rounds_of(q->t, stmt) * element_ns(q, stmt, vector);
}

/* Adds the operations and times of all statements of a loop tree to the residue *r, which says
 * what runs element by element and why. False: no memory. */
bool rd_schedule_residue(const rd_schedule *t, const rd_speeds *s, rd_residue *r)
{
    residue_search q = { .t = t, .s = s, .loop = -1, .to = r };

    q.varies = calloc((size_t)t->n_let + 1, sizeof *q.varies);
    q.near   = calloc((size_t)t->p->n_fold + 1, sizeof *q.near);
    for (int k = 0; k < RD_N_PARTS && q.varies && q.near; k++)
        for (int32_t i = rd_next_stmt(t, t->part[k], t->part[k]); i >= 0;
             i         = rd_next_stmt(t, i, t->part[k]))
            if (is_operation(t, i))
                add_operation(&q, i);
            else
                add_time(&q, i);
    const bool ok = q.varies && q.near;

    free(q.varies);
    free(q.near);
    return ok;
}

/* Counts the operations of a vector loop that change with its rounds. *why is the first reason
 * for which compilers are expected not to vectorise one of them; RD_N_RESIDUE: none. -1: no
 * memory. */
int32_t rd_loop_residue(const rd_schedule *t, int32_t loop, rd_residue_why *why)
{
    residue_search q = { .t = t, .varies = calloc((size_t)t->n_let + 1, sizeof *q.varies) };
    int32_t        n = 0;

    *why = RD_N_RESIDUE;
    if (!q.varies)
        return -1;
    enter_vector_loop(&q, loop);
    for (int32_t s = rd_next_stmt(t, loop, loop); s >= 0; s = rd_next_stmt(t, s, loop))
        if (is_operation(t, s) && !is_invariant(&q, s)) {
            n++;
            *why = *why == RD_N_RESIDUE ? why_in_vector(&q, s) : *why;
        }
    free(q.varies);
    return n;
}
