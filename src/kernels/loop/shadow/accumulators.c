/* accumulators.c - the accumulators of folds in a shadow run, and their states.
 *
 * A cell is one result of a fold.  Its states are the accumulators of its lanes, and a node is the
 * merge of finished blocks.  `more` is what a subscript of states has besides the cell and the
 * lane.  Arrays that hold copies of states are named as aliases of the accumulator. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* The hash of a state that no BEGIN has emptied since its array was declared. */
static const uint64_t not_begun = UINT64_MAX;

/* Notes the first failure of a shadow run (execution on hashes) at a statement of a fold: "step
 * f0: " and a sentence. Returns false. */
__attribute__((format(printf, 3, 4))) bool rd_shadow_fold_fails(const rd_shadow_folds *s,
                                                                const rd_stmt         *by,
                                                                const char            *format, ...)
{
    static const char *const names[] = {
#define RD_STMT(name, text) text,
#include "kernels/loop/statements.def"
    };
    rd_text text = { 0 };
    va_list list;

    va_start(list, format);
    rd_text_add_list(&text, format, list);
    va_end(list);
    rd_shadow_fails(s->why, "%s f%" PRId32 ": %s", names[by->kind], by->fold,
                    text.at ? text.at : "no memory");
    rd_text_free(&text);
    return false;
}

/* ---- Room ------------------------------------------------------------------------------------ */
/* Returns the fold with that number, as the program has it. */
const rd_fold *rd_shadow_fold_of(const rd_shadow_folds *s, int32_t fold)
{
    return &s->t->p->fold[fold];
}

/* Returns the rows of nodes (merged blocks) that a cell (accumulator) has at a time, at most: two
 * for each level of the combine tree, as a share may begin and end amid nodes, and some to spare.
 */
int32_t rd_shadow_rows_of(const rd_fold *f)
{
    int32_t bits = 1;

    for (int64_t k = f->n_block; k > 0; k /= 2)
        bits++;
    return 2 * bits + 2 < RD_MOST_NODES ? 2 * bits + 2 : RD_MOST_NODES;
}

/* Returns the most states that an array of the fold has; an accumulator is named by the subscript
 * of its first state. */
static int64_t subscripts_of(const rd_schedule *t, int32_t fold)
{
    int64_t most = 1;

    for (int32_t k = 0; k < t->n_store; k++)
        if (t->store[k].fold == fold && t->store[k].extent > most)
            most = t->store[k].extent;
    return most;
}

/* Makes the table of a fold's accumulators, an entry for each subscript that its arrays of states
 * have; entries are filled when they are first named. False: no memory. */
static bool make_cells(rd_shadow_folds *s, int32_t fold)
{
    s->n_cell[fold] = subscripts_of(s->t, fold);
    s->cell[fold]   = calloc((size_t)s->n_cell[fold], sizeof **s->cell);
    return s->cell[fold] != NULL;
}

/* Makes the states (hashes) of an array, none of which has begun; false: no memory. An array of
 * elements (fold < 0) has no states. */
static bool make_states(rd_shadow_folds *s, int32_t store)
{
    if (s->t->store[store].fold < 0)
        return true;
    s->state[store] = calloc((size_t)s->t->store[store].extent + 1, sizeof **s->state);
    if (s->state[store])
        rd_shadow_declare(s, store);
    return s->state[store] != NULL;
}

/* Makes the folds of a task of a shadow run, in which nothing has begun; NULL: no memory. All
 * tables have room for one entry more, as calloc(0) may return NULL. */
rd_shadow_folds *rd_shadow_folds_new(const rd_schedule *t, rd_text *why)
{
    const size_t     n  = (size_t)t->p->n_fold + 1;
    rd_shadow_folds *s  = calloc(1, sizeof *s);
    bool             ok = s != NULL;

    if (!s)
        return NULL;
    s->t         = t;
    s->why       = why;
    s->cell      = calloc(n, sizeof *s->cell);
    s->n_cell    = calloc(n, sizeof *s->n_cell);
    s->begun     = calloc(n, sizeof *s->begun);
    s->partial   = calloc(n, sizeof *s->partial);
    s->n_partial = calloc(n, sizeof *s->n_partial);
    s->state     = calloc((size_t)t->n_store + 1, sizeof *s->state);
    s->alias     = calloc((size_t)t->n_store + 1, sizeof *s->alias);
    ok = s->cell && s->n_cell && s->begun && s->partial && s->n_partial && s->state && s->alias;
    for (int32_t k = 0; k < t->p->n_fold && ok; k++)
        ok = make_cells(s, k);
    for (int32_t k = 0; k < t->n_store && ok; k++)
        ok = make_states(s, k);
    if (ok)
        return s;
    rd_shadow_folds_free(s);
    return NULL;
}

/* Frees the accumulators, states and partials of all folds; some may be missing after a failure. */
void rd_shadow_folds_free(rd_shadow_folds *s)
{
    if (!s)
        return;
    for (int32_t k = 0; s->cell && k < s->t->p->n_fold; k++) {
        for (int64_t c = 0; s->cell[k] && c < s->n_cell[k]; c++)
            free(s->cell[k][c]);
        free(s->cell[k]);
    }
    for (int32_t k = 0; s->state && k < s->t->n_store; k++)
        free(s->state[k]);
    for (int32_t k = 0; s->alias && k < s->t->n_store; k++)
        free(s->alias[k]);
    for (int32_t k = 0; s->partial && s->n_partial && k < s->t->p->n_fold; k++)
        rd_shadow_forget_partials(s, k);
    free(s->partial);
    free(s->n_partial);
    free(s->alias);
    free(s->cell);
    free(s->n_cell);
    free(s->begun);
    free(s->state);
    free(s);
}

/* ---- Cells and states ------------------------------------------------------------------------ */
/* Makes the accumulator of cell `number`, with its nodes behind it in one piece of memory; NULL:
 * no memory. `more` is what the subscript of its states has besides cell and lane. */
static rd_shadow_accumulator *make_accumulator(const rd_fold *f, int64_t number, int64_t more)
{
    const size_t           rows = (size_t)rd_shadow_rows_of(f), nodes = rows * (size_t)f->lanes;
    rd_shadow_accumulator *c =
        calloc(1, sizeof *c + rows * sizeof *c->covers + nodes * sizeof *c->node);

    if (!c)
        return NULL;
    c->number = number;
    c->more   = more;
    c->covers = (rd_shadow_cover *)(void *)(c + 1);
    c->node   = (uint64_t *)(void *)(c->covers + rows);
    return c;
}

/* Empties the accumulator if its fold has begun again since it was last used: `begun` counts the
 * BEGINs of a fold. */
static void begin_with_fold(const rd_shadow_folds *s, const rd_stmt *by, rd_shadow_accumulator *c)
{
    if (c->begun == s->begun[by->fold])
        return;
    c->begun    = s->begun[by->fold];
    c->progress = RD_TAKES_STEPS;
    c->first    = -1;
    c->block    = -1;
    c->ended    = -1;
    c->depth    = 0;
    c->before   = RD_OF_NOTHING;
    c->store    = by->store;
}

/* Returns the copy of an accumulator's states to which the statement's subscript points, cell *
 * cell_stride + more in its array; NULL: no states were copied there. Passes copy states into
 * local arrays. */
rd_shadow_alias *rd_shadow_alias_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                                    int64_t more)
{
    const rd_tree_array *a  = &s->t->store[by->store];
    const int64_t        at = number * a->cell_stride + more;

    return s->alias[by->store] && at >= 0 && at < a->extent && s->alias[by->store][at].of
               ? &s->alias[by->store][at]
               : NULL;
}

/* Returns the accumulator that a statement names, by cell `number` and `more`. If its array holds
 * a copy of states there, it is the accumulator that they were copied from; else the subscript
 * names it, and it is made when first named. NULL: a failure, or no memory. */
static rd_shadow_accumulator *accumulator_of(rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                                             int64_t more)
{
    const rd_fold         *f     = rd_shadow_fold_of(s, by->fold);
    const rd_shadow_alias *alias = rd_shadow_alias_at(s, by, number, more);
    const int64_t          at    = number * s->t->store[by->store].cell_stride + more;

    if (alias)
        return alias->of;
    if (number < 0 || number >= f->n_cell || at < 0 || at >= s->n_cell[by->fold]) {
        rd_shadow_fold_fails(s, by, "there is no cell %" PRId64 " of %" PRId64, number, f->n_cell);
        return NULL;
    }
    if (!s->cell[by->fold][at])
        s->cell[by->fold][at] = make_accumulator(f, number, more);
    if (s->cell[by->fold][at])
        begin_with_fold(s, by, s->cell[by->fold][at]);
    return s->cell[by->fold][at];
}

/* Returns the accumulator that a statement names. NULL, and a failure, if there is none, or if its
 * progress (takes steps, blocks merged, lanes merged) is not between `least` and `most`. */
rd_shadow_accumulator *rd_shadow_accumulator_at(rd_shadow_folds *s, const rd_stmt *by,
                                                int64_t number, int64_t more,
                                                rd_shadow_progress least, rd_shadow_progress most)
{
    rd_shadow_accumulator *c = accumulator_of(s, by, number, more);

    if (!c)
        return NULL;
    if (c->progress == RD_NOT_BEGUN)
        rd_shadow_fold_fails(s, by, "cell %" PRId64 " has not begun", number);
    else if (c->progress < least)
        rd_shadow_fold_fails(s, by, "cell %" PRId64 " has not come to %s", number,
                             c->progress == RD_TAKES_STEPS ? "rest" : "one lane");
    else if (c->progress > most)
        rd_shadow_fold_fails(s, by, "cell %" PRId64 " has come to %s", number,
                             c->progress == RD_BLOCKS_MERGED ? "rest" : "one lane");
    else
        return c;
    return NULL;
}

/* Returns the state (a hash) of a lane (partial accumulator) that a statement names, at subscript
 * cell * cell_stride + lane * lane_stride + more. NULL, and a failure, if there is none or if it
 * has not begun. */
uint64_t *rd_shadow_state_at(const rd_shadow_folds *s, const rd_stmt *by, int64_t number,
                             int64_t more, int32_t lane)
{
    const rd_tree_array *a  = &s->t->store[by->store];
    const int64_t        at = number * a->cell_stride + lane * a->lane_stride + more;

    if (at >= 0 && at < a->extent && s->state[by->store][at] != not_begun)
        return &s->state[by->store][at];
    if (at >= 0 && at < a->extent)
        rd_shadow_fold_fails(s, by, "state %" PRId64 " of a%" PRId32 " has not begun", at,
                             by->store);
    else
        rd_shadow_fold_fails(
            s, by, "cell %" PRId64 " and lane %" PRId32 " are state %" PRId64 " of %" PRId64,
            number, lane, at, a->extent);
    return NULL;
}

/* Declares an array: none of its states has begun. An array for runs of equal labels (one_label)
 * holds no cell's state. */
void rd_shadow_declare(rd_shadow_folds *s, int32_t store)
{
    for (int64_t k = 0; k < s->t->store[store].extent; k++)
        s->state[store][k] = not_begun;
    for (int64_t k = 0;
         s->alias[store] && s->t->store[store].one_label && k < s->t->store[store].extent; k++)
        s->alias[store][k].of = NULL;
}

/* Runs a BEGIN: all states in the array are empty. Accumulators empty themselves when they are
 * next named, as `begun` counts up. */
bool rd_shadow_begin(rd_shadow_folds *s, const rd_stmt *by)
{
    s->begun[by->fold]++;
    for (int64_t k = 0; k < s->t->store[by->store].extent; k++)
        s->state[by->store][k] = RD_OF_NOTHING;
    return true;
}
