/* verify.c - the verifier: checks that a loop tree is well-formed.
 *
 * Statements are linked as bodies say.  Values are made before they are read, and are in scope.
 * Positions name axes that a loop around binds.  The memory of each access exists.
 *
 * A mark is an axis that a loop binds to the begin or the end of its round.  The verifier has
 * tables of what it has met so far: `scope` of values, `bound` of axes, `array` of declared arrays,
 * `stands` of statements.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/check.h"
#include "kernels/loop/verify.h"
#include <inttypes.h>
#include <stdlib.h>

static bool verify_stmt(rd_verifier *f, int32_t stmt);

/* ---- Loops ----------------------------------------------------------------------------------- */
/* True if each round of the loop is a range of indices, not one index. */
static bool has_range_rounds(const rd_for *loop)
{
    return loop->kind == RD_FOR_BLOCK || loop->kind == RD_FOR_ONCE;
}

/* True if the loop has both marks: axes bound to the first index of a round, and to the one behind
 * its last. */
static bool has_marks(const rd_verifier *f, const rd_for *loop)
{
    return (loop->start_mark >= 0 && loop->stop_mark >= 0) ||
           rd_verify_fails(f, "its rounds have no marks");
}

/* Verifies that an axis is a mark (not one of the program's axes, nor a bound of the task's share)
 * that no loop around binds yet; -1: the loop has no such mark, which is allowed. */
static bool verify_mark(const rd_verifier *f, int32_t axis)
{
    return axis == -1 ||
           (axis >= f->t->p->n_axis + RD_MARKS && axis < f->t->n_axis && !f->bound[axis]) ||
           rd_verify_fails(f, "axis %" PRId32 " is no mark, or has another loop around", axis);
}

/* Verifies a LOOP without its body. It names a loop record that no other statement has named
 * (opened), with an existing axis, bounds in scope, and marks (axes bound to the ends of a round)
 * that no loop around binds. It has a step, or marks if rounds are ranges. */
static bool verify_loop_header(const rd_verifier *f, const rd_stmt *s)
{
    const rd_for *loop;

    if (!rd_is_number_below(s->arg, f->t->n_for) || f->opened[s->arg])
        return rd_verify_fails(f, "there is no loop %" PRId32 ", or it stands twice", s->arg);
    loop              = &f->t->loop[s->arg];
    f->opened[s->arg] = true;
    if (!rd_is_number_below(loop->axis, f->t->p->n_axis) && !verify_mark(f, loop->axis))
        return rd_verify_fails(f, "there is no axis %" PRId32, loop->axis);
    if (!rd_verify_edge(f, &loop->from) || !rd_verify_edge(f, &loop->to) ||
        !verify_mark(f, loop->start_mark) || !verify_mark(f, loop->stop_mark))
        return false;
    if (has_range_rounds(loop))
        return has_marks(f, loop);
    return loop->step > 0 || rd_verify_fails(f, "its step is %" PRId64, loop->step);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */
/* Takes the values and arrays of a body out of scope when the body ends. */
static void leave_scope(const rd_verifier *f, int32_t body)
{
    for (int32_t s = f->t->stmt[body].first; s >= 0; s = f->t->stmt[s].next) {
        for (int32_t k = 0; k < f->t->stmt[s].n_value; k++)
            f->scope[f->t->stmt[s].value + k] = RD_OUT_OF_SCOPE;
        if (f->t->stmt[s].kind == RD_S_ARRAY)
            f->array[f->t->stmt[s].store]--;
    }
}

/* Verifies the links of a body (parent, prev, next, last), and its statements in order. `stands`:
 * statements that were met, as none may stand twice. */
static bool verify_body(rd_verifier *f, int32_t stmt)
{
    const rd_stmt *s        = &f->t->stmt[stmt];
    int32_t        previous = -1;

    for (int32_t k = s->first; k >= 0; k = f->t->stmt[k].next) {
        f->stmt = k;
        if (!rd_is_number_below(k, f->t->n_stmt) || f->stands[k])
            return rd_verify_fails(f, "stands twice");
        if (f->t->stmt[k].parent != stmt || f->t->stmt[k].prev != previous)
            return rd_verify_fails(f, "its links are not those of where it stands");
        f->stands[k] = true;
        if (!verify_stmt(f, k))
            return false;
        previous = k;
    }
    f->stmt = stmt;
    return s->last == previous ||
           rd_verify_fails(f, "its last statement is not the end of its body");
}

/* Counts (by 1) or uncounts (by -1) the axes that a loop binds in its body: its axis and its
 * marks. A loop whose rounds are ranges binds its marks only; a loop inside binds the axis. */
static void bind_axes(const rd_verifier *f, const rd_for *loop, int32_t by)
{
    const int32_t axis[] = { has_range_rounds(loop) ? -1 : loop->axis, loop->start_mark,
                             loop->stop_mark };

    for (int k = 0; k < 3; k++)
        if (axis[k] >= 0)
            f->bound[axis[k]] += by;
}

/* Verifies a loop: its record, then its body with its axes bound; then takes the body's values out
 * of scope. */
static bool verify_loop(rd_verifier *f, int32_t stmt)
{
    const rd_stmt *s = &f->t->stmt[stmt];
    bool           ok;

    if (!verify_loop_header(f, s))
        return false;
    bind_axes(f, &f->t->loop[s->arg], /*by=*/1);
    ok = verify_body(f, stmt) && (!rd_is_by_call(f->t, stmt) || rd_verify_call(f, stmt));
    if (!ok)
        return false;
    bind_axes(f, &f->t->loop[s->arg], /*by=*/-1);
    leave_scope(f, stmt);
    return true;
}

/* True if `loop` is a loop around the statement, or the statement itself. */
static bool is_around(const rd_verifier *f, int32_t stmt, int32_t loop)
{
    while (stmt >= 0 && stmt != loop)
        stmt = f->t->stmt[stmt].parent;
    return stmt >= 0 && f->t->stmt[loop].kind == RD_S_LOOP;
}

/* Verifies an IF: its condition x is a value in scope, and its body is well-formed.  Values that
 * the body makes end with it. */
static bool verify_if(rd_verifier *f, int32_t stmt)
{
    if (!rd_verify_read(f, f->t->stmt[stmt].x) || !verify_body(f, stmt))
        return false;
    leave_scope(f, stmt);
    return true;
}

/* Verifies the declaration of an array, and puts it into scope (f->array counts declarations).
 * Arrays in the task's state need none. */
static bool verify_array(const rd_verifier *f, const rd_stmt *s)
{
    if (!rd_is_number_below(s->store, f->t->n_store))
        return rd_verify_fails(f, "there is no a%" PRId32, s->store);
    if (f->t->store[s->store].storage == RD_IN_TASK)
        return rd_verify_fails(f, "a%" PRId32 " is in the task's state", s->store);
    return f->array[s->store]++ == 0 ||
           rd_verify_fails(f, "a%" PRId32 " is declared twice", s->store);
}

/* Verifies an IF_LAST, whose body runs in the last round that is done of the split loop `arg`:
 * such a loop is around it. Values that the body makes end with it. */
static bool verify_if_last(rd_verifier *f, int32_t stmt)
{
    const int32_t loop = f->t->stmt[stmt].arg;

    if (!is_around(f, stmt, loop) || !rd_loop_of(f->t, loop)->split_reduction)
        return rd_verify_fails(f, "no loop over ranges is around it");
    if (!verify_body(f, stmt))
        return false;
    leave_scope(f, stmt);
    return true;
}

/* True if the generated C can leave the loop early: it is a serial loop, a block loop (whose
 * rounds are ranges) or one of one round; else a failure. */
static bool may_be_left(const rd_verifier *f, int32_t loop)
{
    const rd_for_kind kind = rd_loop_of(f->t, loop)->kind;

    return kind == RD_FOR_SERIAL || kind == RD_FOR_BLOCK || kind == RD_FOR_ONCE ||
           rd_verify_fails(f, "it leaves a loop that is written out or of vectors");
}

/* Verifies an early exit: it leaves a loop around it, or skips a loop that follows one around
 * it. */
static bool verify_exit(const rd_verifier *f, int32_t stmt)
{
    const rd_stmt *s = &f->t->stmt[stmt];

    if (!rd_is_number_below(s->arg, f->t->n_stmt) || f->t->stmt[s->arg].kind != RD_S_LOOP)
        return rd_verify_fails(f, "it leaves no loop");
    return rd_verify_fold(f, s) && rd_verify_linear(f, &s->count) &&
           (is_around(f, stmt, s->arg) || is_around(f, stmt, f->t->stmt[s->arg].prev) ||
            rd_verify_fails(f, "it leaves no loop around it")) &&
           may_be_left(f, s->arg);
}

/* Verifies a SORT or a FRONT: the program has that sort, and all its positions are in scope (see
 * SORT in statements.def). */
static bool verify_sort(const rd_verifier *f, const rd_stmt *s)
{
    return (rd_is_number_below(s->arg, f->t->p->n_sorting) ||
            rd_verify_fails(f, "there is no sort %" PRId32, s->arg)) &&
           rd_verify_linear(f, &s->at) && rd_verify_linear(f, &s->fold_at.index) &&
           rd_verify_linear(f, &s->fold_at.cell) && rd_verify_linear(f, &s->fold_at.lane) &&
           rd_verify_linear(f, &s->count);
}

/* Verifies one statement by its kind; only a LOOP, an IF and an IF_LAST may have a body. What is
 * not named is a statement of a fold. */
static bool verify_stmt(rd_verifier *f, int32_t stmt)
{
    const rd_stmt *s = &f->t->stmt[stmt];

    if (s->first >= 0 && s->kind != RD_S_LOOP && s->kind != RD_S_IF && s->kind != RD_S_IF_LAST)
        return rd_verify_fails(f, "has a body");
    switch (s->kind) {
    case RD_S_PART: return rd_verify_fails(f, "stands in a body");
    case RD_S_LOOP: return verify_loop(f, stmt);
    case RD_S_IF: return verify_if(f, stmt);
    case RD_S_LET: return rd_verify_let(f, s);
    case RD_S_ARRAY: return verify_array(f, s);
    case RD_S_BARRIER: return true;
    case RD_S_IF_LAST: return verify_if_last(f, stmt);
    case RD_S_PREFETCH:
        return rd_verify_linear(f, &s->count) && rd_verify_memory(f, s->slot, s->store, &s->at);
    case RD_S_STORE:
        return rd_verify_read(f, s->x) && rd_verify_memory(f, s->slot, s->store, &s->at);
    case RD_S_CUT_AT_RUN: return rd_verify_memory(f, s->slot, s->store, &s->at);
    case RD_S_LOWER_BOUND:
        return rd_verify_read(f, s->x) && rd_verify_read(f, s->weight) &&
               rd_verify_linear(f, &s->count) && rd_verify_memory(f, s->slot, s->store, &s->at) &&
               rd_verify_made(f, s, /*n=*/1);
    case RD_S_SORT:
    case RD_S_FRONT: return verify_sort(f, s);
    case RD_S_PUSH_IF_LAST: return rd_verify_fold(f, s) && rd_verify_block_end(f, s);
    case RD_S_EXIT: return verify_exit(f, stmt);
    default: return rd_verify_fold(f, s);
    }
}

/* Verifies the head, the body and the tail of the program. Values of the head stay in scope;
 * values of the body do so only if one task runs all (whole). */
static bool verify_parts(rd_verifier *f)
{
    for (int k = 0; k < RD_N_PARTS; k++) {
        const int32_t part = f->t->part[k];

        f->stmt = part;
        if (!rd_is_number_below(part, f->t->n_stmt) || f->t->stmt[part].kind != RD_S_PART ||
            f->t->stmt[part].arg != k || f->t->stmt[part].parent != -1)
            return rd_verify_fails(f, "is not part %d", k);
        if (!verify_body(f, part))
            return false;
        if (k == RD_PART_BODY && !f->t->whole)
            leave_scope(f, part);
    }
    return true;
}

/* Verifies all parts with one set of tables: scopes of values, bound axes, declared arrays. */
bool rd_schedule_verify(const rd_schedule *t, rd_text *why)
{
    rd_verifier f  = { .t      = t,
                       .why    = why,
                       .scope  = calloc((size_t)t->n_let + 1, sizeof *f.scope),
                       .bound  = calloc((size_t)t->n_axis + 1, sizeof *f.bound),
                       .array  = calloc((size_t)t->n_store + 1, sizeof *f.array),
                       .stands = calloc((size_t)t->n_stmt + 1, sizeof *f.stands),
                       .opened = calloc((size_t)t->n_for + 1, sizeof *f.opened) };
    bool        ok = f.scope && f.bound && f.array && f.stands && f.opened;

    if (!ok)
        rd_text_add(why, "no memory");
    ok = ok && verify_parts(&f);
    free(f.scope);
    free(f.bound);
    free(f.array);
    free(f.stands);
    free(f.opened);
    return ok;
}
