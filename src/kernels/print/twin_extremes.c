/* twin_extremes.c - finds extremes whose states a fold of places beside them has as well: min
 * beside argmin, and max beside argmax, of the same elements.
 *
 *     step0(&s3_0[0], r35, 1, i2);                       is left out
 *     step1(&s4_0[0], &s4_1[0], r35, 1, i2);
 *     float b9_0[1] = { s0_0[0 + i] };                   float b9_0[1] = { s1_0[0 + i] };
 *
 * The first number of a state of argmin is the least element so far.  It is the first of equal
 * ones, such as zeros of two signs, and a NaN if there is one, as in a state of min; min's
 * finish0() makes all NaN the same.  So the min has neither steps nor states in the text.
 *
 * Words. A cell is an accumulator of a fold, and a lane one of its states. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"
#include <string.h>

/* True if the fold is the built-in `reducer` of floats, has so many numbers in a state, and nothing
 * else that its state would hold: no mask, no weights, no flag of elements seen.  One state each
 * cell (lanes 1), no tree of partial results (room 0), and not split over tasks. */
static bool is_plain_extreme(const rd_printing *n, int32_t fold, int32_t reducer, int32_t numbers)
{
    const rd_print_fold *f = &n->fold[fold];
    const rd_fold       *p = &n->t->p->fold[fold];

    return !p->user && !p->scan && (int32_t)p->reducer == reducer && f->emit.n_state == numbers &&
           (p->type == RD_F32 || p->type == RD_F64) && !f->emit.masked && !f->emit.weighted &&
           !f->emit.seen && f->lanes == 1 && !f->tree_rows && !n->t->fold[fold].split;
}

/* True if the states of both folds lie alike in memory, so that a position in one array is the same
 * accumulator in the other.  Array number k holds the states of fold k, so a and b number folds and
 * arrays alike. */
static bool lie_alike(const rd_schedule *t, int32_t a, int32_t b)
{
    const rd_tree_array *x = &t->store[a], *y = &t->store[b];

    return x->storage == y->storage && x->extent == y->extent && x->cells == y->cells &&
           x->lanes == y->lanes && x->cell_stride == y->cell_stride &&
           x->lane_stride == y->lane_stride && x->one_label == y->one_label &&
           x->copies == y->copies && x->per_element == y->per_element;
}

/* True if the step stands directly before or behind one of the other fold that takes the same
 * element, and not in a loop that a call runs, whose text has all steps. */
static bool is_beside(const rd_schedule *t, int32_t stmt, int32_t fold)
{
    const int32_t beside[] = { t->stmt[stmt].prev, t->stmt[stmt].next };

    for (int k = 0; k < 2; k++)
        if (rd_takes_same_element(t, stmt, beside[k]) && t->stmt[beside[k]].fold == fold)
            return !rd_is_by_call(t, t->stmt[stmt].parent);
    return false;
}

/* True if a statement of one fold has its like in the other, so it may be left out, or use the
 * other's states.  Those that begin, merge or finish states must do so with the fold's own array
 * (number s->fold), as only that is compared. */
static bool has_its_like(const rd_schedule *t, int32_t stmt, int32_t fold)
{
    const rd_stmt *s = &t->stmt[stmt];

    switch (s->kind) {
    case RD_S_STEP: return is_beside(t, stmt, fold);
    case RD_S_ARRAY:
    case RD_S_LOAD_STATES:
    case RD_S_STORE_STATES: return true;
    case RD_S_BEGIN:
    case RD_S_MERGE_BLOCKS:
    case RD_S_FINISH: return s->store == s->fold;
    default: return false;
    }
}

/* Counts the statements of a fold that are of a kind, in all parts. */
static int32_t count_of(const rd_schedule *t, int32_t fold, rd_stmt_kind kind)
{
    int32_t count = 0;

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            count += t->stmt[s].fold == fold && t->stmt[s].kind == kind;
    return count;
}

/* True if all statements of the extreme (min or max) have their like in the fold of its place, and
 * the other way round, in equal number: so both states take the same elements, and the place's
 * state has the extreme as its first number. */
static bool is_twin(const rd_schedule *t, int32_t extreme, int32_t place)
{
    static const rd_stmt_kind same[] = { RD_S_STEP, RD_S_BEGIN, RD_S_MERGE_BLOCKS };

    if (!lie_alike(t, extreme, place))
        return false;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k])) {
            const rd_stmt *stmt = &t->stmt[s];

            if ((stmt->fold == extreme && !has_its_like(t, s, place)) ||
                (stmt->fold == place && !has_its_like(t, s, extreme)))
                return false;
        }
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (count_of(t, extreme, same[k]) != count_of(t, place, same[k]))
            return false;
    return true;
}

/* Notes for each min and max the argmin or argmax whose states have its own: `twin` is the number
 * of that fold plus 1, as 0 is none.  Both store the extreme in the same type. */
void rd_print_find_twins(rd_printing *n)
{
    static const int32_t pairs[][2] = { { RD_RED_min, RD_RED_argmin },
                                        { RD_RED_max, RD_RED_argmax } };
    const int32_t        n_fold     = n->t->p->n_fold;

    for (int32_t a = 0; a < n_fold; a++)
        for (int32_t b = 0; b < n_fold; b++)
            for (int k = 0; k < 2 && a != b; k++)
                if (is_plain_extreme(n, a, pairs[k][0], 1) &&
                    is_plain_extreme(n, b, pairs[k][1], 2) &&
                    n->t->p->fold[a].type == n->t->p->fold[b].type &&
                    strcmp(rd_state_type(&n->fold[a].emit, 0),
                           rd_state_type(&n->fold[b].emit, 0)) == 0 &&
                    is_twin(n->t, a, b))
                    n->fold[a].twin = b + 1;
}
