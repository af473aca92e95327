/* verify_calls.c - verifies vector loops `by call`, which the text runs as one function.
 *
 * The shadow run goes through such a loop element by element.  The functions of texts need more:
 * states of neighbours lie side by side, and a step comes behind its elements.
 *
 * Fields. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of the
 * tree.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A fold is a
 * reduction or a scan. */
#include "kernels/loop/facts.h"
#include "kernels/loop/verify.h"
#include <inttypes.h>

/* Verifies a call that ends blocks (runs of a fold's steps) or folds of n neighbouring states at
 * once, such as "ends0(&s0_0[at], tree0, .., n)". The states must be adjacent (their subscript
 * rises by 1 along the axis), of one step and one lane (partial accumulator). */
static bool ends_neighbours(const rd_verifier *f, const rd_stmt *s, int32_t axis)
{
    const rd_schedule *t    = f->t;
    const int64_t      cell = rd_linear_coef(t, &s->fold_at.cell, axis);

    if (rd_linear_coef(t, &s->fold_at.lane, axis) || rd_linear_coef(t, &s->fold_at.lane_line, axis))
        return rd_verify_fails(f, "is one call for elements of several steps or lanes");
    return cell * t->store[s->store].cell_stride +
                   rd_linear_coef(t, &s->fold_at.state_offset, axis) ==
               1 ||
           rd_verify_fails(f, "is one call for states that do not lie side by side");
}

/* Verifies a statement of a loop by call that ends with a step or an operation on a strip, such as
 * "EXP_OF_STRIP(f32, e0, n)": values, and stores into arrays (slot < 0), then perhaps the step as
 * the last one. */
static bool makes_elements(const rd_verifier *f, const rd_stmt *s)
{
    const rd_stmt *behind = s->next >= 0 ? &f->t->stmt[s->next] : NULL;

    if (s->kind == RD_S_STEP)
        return !behind || rd_verify_fails(f, "is a step by call, and not the last of its loop");
    return s->kind == RD_S_LET || (s->kind == RD_S_STORE && s->slot < 0) ||
           rd_verify_fails(f, "makes no element of the step by call behind it");
}

/* Verifies a call such as "rd_groups(a6, p7, n, 3, 6, ..)", which copies groups of adjacent
 * elements that lie apart: an unrolled loop of just one LOAD and one STORE of its value into an
 * array (slot < 0). */
static bool copies_groups(const rd_verifier *f, const rd_stmt *s)
{
    const rd_stmt *load = s->first >= 0 ? &f->t->stmt[s->first] : NULL,
                  *kept = load && load->next >= 0 ? &f->t->stmt[load->next] : NULL;

    return (f->t->loop[s->arg].kind == RD_FOR_UNROLL && kept && load->kind == RD_S_LET &&
            f->t->let[load->value].kind == RD_I_LOAD && kept->kind == RD_S_STORE &&
            kept->slot < 0 && kept->x == load->value && kept->next < 0) ||
           rd_verify_fails(f, "is a loop by call around more than one copy");
}

/* True if the statement ends a block (a run of a fold's steps) or a fold: such statements are
 * calls for n neighbouring states (accumulators). */
static bool ends_fold(const rd_stmt *s)
{
    return s->kind == RD_S_PUSH_IF_LAST || s->kind == RD_S_MERGE_BLOCKS ||
           s->kind == RD_S_MERGE_LANES;
}

/* Verifies each statement of a loop by call by what the functions of the generated C support; a
 * transpose is known as a whole. f->stmt is the statement that a failure names. */
bool rd_verify_call(rd_verifier *f, int32_t stmt)
{
    const rd_stmt *loop = &f->t->stmt[stmt];
    bool           ok   = true;

    if (rd_is_transpose(f->t, stmt))
        return true;
    for (int32_t s = loop->first; s >= 0 && ok; s = f->t->stmt[s].next) {
        f->stmt = s;
        ok      = ends_fold(&f->t->stmt[s])
                      ? ends_neighbours(f, &f->t->stmt[s], f->t->loop[loop->arg].axis)
                  : f->t->stmt[s].kind == RD_S_LOOP ? copies_groups(f, &f->t->stmt[s])
                                                    : makes_elements(f, &f->t->stmt[s]);
    }
    f->stmt = stmt;
    return ok;
}

/* Verifies that no block (a run of a fold's steps) ends element by element in a vector loop.  A
 * loop by call may have such an end directly in its body, as one function call ends the blocks of
 * all neighbours. */
bool rd_verify_block_end(const rd_verifier *f, const rd_stmt *s)
{
    for (int32_t k = s->parent; k >= 0; k = f->t->stmt[k].parent)
        if (rd_is_vector(f->t, k) && !(k == s->parent && rd_is_by_call(f->t, k)))
            return rd_verify_fails(f, "ends blocks element by element of a vector loop");
    return true;
}
