/* schedule.c - from a program to its loop tree after all passes.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/loop/facts.h"
#include "kernels/cpu/nest/draft.h"
#include "kernels/pass/choose_strips.h"
#include <string.h>

/* Begins the draft of a program (a nest before it is compiled), with nothing rewritten yet.
 * `vector`: bytes of a vector; `whole`: one task runs all of it by one function. */
rd_nest_draft rd_nest_draft_of(const rd_program *p, int vector, bool whole)
{
    return (rd_nest_draft){ .p = p, .planned = p, .vector = vector, .whole = whole };
}

/* Removes loops without a LOOP instruction from the program's list, and gives the others new
 * numbers in the order of their LOOPs.  `made` is room for the new list, which the program takes
 * over (its old list is not freed: it is the pool's); number[k] gets the new number of loop k. */
void rd_nest_number_loops(rd_program *to, rd_loop *made, int32_t *number)
{
    int32_t n = 0;

    for (int32_t i = 0; i < to->n_inst; i++)
        if (to->inst[i].kind == RD_I_LOOP) {
            made[n]                 = to->loop[to->inst[i].arg];
            number[to->inst[i].arg] = n;
            to->inst[i].arg         = n++;
        } else if (rd_inst_table[to->inst[i].kind].names == RD_NAMES_LOOP)
            to->inst[i].arg = number[to->inst[i].arg];
    to->loop   = made;
    to->n_loop = n;
}

/* Rewrites the program of a draft where that makes better loops: over the rows of a sparse array,
 * or with the loop over points outermost.  False: no memory.  A program that can be both goes by
 * rows. n->planned stays the program as it was planned. */
bool rd_nest_rewrite(rd_nest_draft *n, rd_get_fn *get, void *pool)
{
    const rd_program *by_rows = NULL, *by_items = NULL;

    if (!rd_nest_sparse_rows(n->planned, get, pool, &by_rows) ||
        !rd_nest_interchange(n->planned, get, pool, &by_items))
        return false;
    n->by_rows = by_rows != NULL;
    n->p       = by_rows ? by_rows : by_items ? by_items : n->planned;
    return true;
}

/* ---- What cannot be -------------------------------------------------------------------------- */
/* True if a user's reducer may end its loop early.  A combine tree (pairwise merges of blocks)
 * depends on the number of blocks, and a loop that is left has fewer; the tile machine handles
 * this. */
static bool has_exit_of_user(const rd_program *p)
{
    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_EXIT && p->fold[p->inst[i].a].user)
            return true;
    return false;
}

/* True if a loop has no rounds, or a fold (reduction or scan) has no steps. */
static bool has_no_elements(const rd_program *p, const rd_loop_fold *fold)
{
    for (int32_t k = 0; k < p->n_loop; k++)
        if (p->loop[k].extent == 0)
            return true;
    for (int32_t k = 0; k < p->n_fold; k++)
        if (fold[k].step < 0)
            return true;
    return false;
}

/* True if tiles compute the prefixes of a scan by vectors. f->levels is the levels of a tree of
 * prefixes in the text.  Running maxima of floats have no tree nodes there (levels is 0), and each
 * waits for the one before (60000 of f64: 164 us, and 51 on tiles).  Those of ints wait less than
 * nodes cost. */
static bool has_vectors_on_tiles(const rd_loop_fold *f)
{
    const rd_fold *fold = f->emit.fold;

    return f->levels || (fold->scan && fold->prefix == RD_PREFIX_TREE &&
                         rd_dtype_kind(fold->type) == RD_KIND_FLOAT);
}

/* True if a scan of more than 128 elements goes along memory, with prefixes by a tree.  Tiles make
 * vectors of one row of it; compiled loops would take several rows at once, whose cache lines lie
 * far apart.  `step_loop` is the innermost loop over its steps, -1: there is one step. */
static bool has_long_scan(const rd_program *p, const rd_loop_fold *fold)
{
    enum { LONG_SCAN = 128 };

    for (int32_t k = 0; k < p->n_fold; k++)
        if (has_vectors_on_tiles(&fold[k]) && fold[k].step_loop >= 0 &&
            rd_trips(p, fold[k].step_loop) > LONG_SCAN)
            return true;
    return false;
}

/* Returns the reason why the program has no compiled nest, or NULL. The first reason that holds
 * counts. p->code is the plan of tiles, NULL: there is none, so a scan has no other way. */
static const char *refusal(const rd_nest_draft *n, const rd_loop_fold *fold)
{
    if (has_no_elements(n->p, fold))
        return "no elements";
    if (has_exit_of_user(n->p))
        return "a reducer of one's own that may end its loop early";
    if (n->whole && n->p->n_call)
        return "a function whose failure a task reports";
    if (n->whole && n->p->n_sorting)
        return "rows in order, which a task leaves where the run is cancelled";
    if (n->p->code && rd_nest_use_now() != RD_NEST_ALWAYS && has_long_scan(n->p, fold))
        return "a long scan along memory, of which tiles make vectors";
    return NULL;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* Finds the facts of all folds (reductions and scans), and what the text of users' reducers depends
 * on (rd_user_facts).  Facts lie in memory from `get`, and are copied, as they are changed.  NULL:
 * no memory, or n->why says why there is no nest. */
static const rd_loop_fold *facts_of_folds(rd_nest_draft *n, rd_get_fn *get, void *pool)
{
    const rd_loop_fold *fold = rd_loop_folds_of(n->p, n->whole, get, pool, &n->why);
    rd_loop_fold       *copy = get(pool, ((size_t)n->p->n_fold + 1) * sizeof *copy);

    if (fold && !n->why)
        n->why = refusal(n, fold);
    if (!fold || !copy || n->why)
        return NULL;
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        copy[k] = fold[k];
        if (n->p->fold[k].user && !rd_user_facts(&copy[k].emit, k, n->pointers, get, pool))
            return NULL;
    }
    return copy;
}

/* Builds the loop tree of a draft, and chooses in which loops neighbouring indices go together as a
 * strip (strip-mining, for vectors).  NULL: no memory, or n->why.  n->tells asks for all
 * alternatives of the choice, for reports.  The caller frees the tree. */
rd_schedule *rd_nest_build(rd_nest_draft *n, rd_strips *strips, rd_get_fn *get, void *pool)
{
    const rd_target     target = { .vector = n->vector, .tells = n->tells };
    const rd_loop_fold *fold   = facts_of_folds(n, get, pool);
    rd_schedule        *t      = fold ? rd_schedule_build(n->p, fold, n->whole) : NULL;

    if (t && !rd_choose_strips(t, &target, get, pool, strips)) {
        rd_schedule_free(t);
        return NULL;
    }
    return t;
}

/* Builds the loop tree of a draft and runs all passes on it.  `log` gets the strips, and the tree
 * after each pass; or is NULL.  The caller frees the tree.  NULL: no memory (t->failed), or
 * n->why. */
rd_schedule *rd_nest_tree(rd_nest_draft *n, rd_text *log, rd_get_fn *get, void *pool)
{
    rd_strips       strips;
    const rd_target target = { .vector = n->vector, .strips = &strips };
    rd_schedule    *t      = rd_nest_build(n, &strips, get, pool);

    if (t && log) {
        rd_text_add(log, strips.n ? "strips:\n" : "strips: none\n");
        rd_nest_strips_text(log, &strips);
        rd_nest_unroll_jam_text(log, n->p, &strips);
    }
    if (t)
        rd_schedule_for_cpu(t, &target, log);
    if (t && t->failed) {
        rd_schedule_free(t);
        return NULL;
    }
    return t;
}

/* Returns the loop tree of a program after all passes, which the caller frees.  `log` gets the tree
 * after each pass, or is NULL. NULL: *why says why there is no tree. */
rd_schedule *rd_nest_schedule(const rd_program *p, int vector, bool whole, rd_get_fn *get,
                              void *pool, rd_text *log, const char **why)
{
    rd_nest_draft n = rd_nest_draft_of(p, vector, whole);
    rd_schedule  *t = rd_nest_rewrite(&n, get, pool) ? rd_nest_tree(&n, log, get, pool) : NULL;

    *why = t ? NULL : n.why ? n.why : rd_why_no_memory;
    return t;
}
