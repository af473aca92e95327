/* check.c - checks that a loop tree still means its program.
 *
 * Three checks: verify.c tests that the tree is well-formed, check_order.c that loops keep the
 * order in which folds take their elements.  A shadow run tests that all stored elements are
 * computed as the program says.
 *
 * A shadow run executes the tree on hashes instead of numbers: equal hashes mean equal
 * expressions.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. A cell is one
 * result of a fold, with its accumulators. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/check.h"
#include "kernels/loop/facts.h"
#include "kernels/loop/shadow/shadow.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Counts the statements of loops that a GPU's threads run once for all items of a block
 * (by_block). A shadow run (execution on hashes) runs them for each item. */
static double visits_by_block(const rd_schedule *t)
{
    const int32_t body = t->part[RD_PART_BODY];
    double        sum  = 0;

    for (int32_t s = rd_next_stmt(t, body, body); s >= 0; s = rd_next_stmt(t, s, body)) {
        const int32_t loop = t->stmt[s].parent;

        if (t->stmt[loop].kind == RD_S_LOOP && rd_loop_of(t, loop)->by_block)
            sum += rd_rounds_of(t, s);
    }
    return sum;
}

/* Estimates how many instructions and empty rounds a shadow run (execution on hashes) goes
 * through. Numbers above 1e15 become a limit that callers can still multiply by 16. */
int64_t rd_shadow_visits(const rd_schedule *t)
{
    double sum = visits_by_block(t);

    for (int32_t i = 0; i < t->p->n_inst; i++)
        sum += rd_program_times(t->p, i) + 1;
    for (int32_t k = 0; k < t->p->n_loop; k++) /* there may be no instructions in one */
        sum = fmax(sum, rd_program_times(t->p, t->p->loop[k].begin) * (double)rd_trips(t->p, k));
    return sum < 1e15 ? (int64_t)sum : INT64_MAX / 16;
}

/* True if a shadow run (execution on hashes) would need more than `most` states in memory or
 * visits of statements. */
static bool is_large(const rd_schedule *t, int64_t most)
{
    double states = 0;

    for (int32_t k = 0; k < t->n_store; k++)
        states += (double)t->store[k].extent;
    for (int32_t k = 0; k < t->p->n_fold; k++)
        states += (double)t->p->fold[k].n_cell * t->p->fold[k].lanes;
    return states > (double)most || rd_shadow_visits(t) > most;
}

/* True if a fold adds small ints as floats (is_short). Such a sum is exact in any order, so a tree
 * may change the order, but a shadow run hashes sums of floats in one order, and would see a
 * difference. */
static bool adds_ints_as_floats(const rd_schedule *t)
{
    for (int32_t k = 0; k < t->p->n_fold; k++)
        if (t->fold[k].emit.is_short && rd_dtype_kind(t->p->fold[k].type) == RD_KIND_FLOAT)
            return true;
    return false;
}

/* True if a value follows from indices alone: it is no load, call or result of a fold, and nor are
 * its operands or the values in its position (axis < 0). */
static bool is_known(const rd_schedule *t, int32_t value)
{
    const rd_tree_value *let = &t->let[value];
    bool known = let->kind == RD_I_CONST || let->kind == RD_I_COORD || let->kind == RD_I_MAP ||
                 let->kind == RD_I_CAST || let->kind == RD_I_SELECT;

    for (int32_t k = 0; k < let->n && known; k++)
        known = is_known(t, t->operand[let->first + k]);
    for (int32_t k = 0; k < let->at.n && known; k++)
        known = t->term[let->at.first + k].axis >= 0;
    return known;
}

/* True if a bound of a mask depends on indices alone: all registers in it do. n_add 0: there is no
 * such bound. */
static bool bound_is_known(const rd_schedule *t, const rd_bound *b)
{
    bool known = true;

    for (int32_t k = 0; k < b->n_reg && b->n_add; k++)
        known &= is_known(t, b->reg[k]);
    return known;
}

/* True if memory says which indices of the loop a mask leaves: by a list of ranges (list_at >= 0),
 * or by a bound with a loaded value. */
static bool is_bounded_by_memory(const rd_schedule *t, const rd_loop *loop)
{
    const rd_bounds *b = loop->bounds;

    return b && (b->list_at >= 0 || !bound_is_known(t, &b->low) || !bound_is_known(t, &b->high));
}

/* True if a loaded value decides which cell (accumulator), lane (partial accumulator) or step an
 * element goes to, or which indices loops visit.  Shadow runs have no data, so they cannot decide
 * then. */
static bool depends_on_memory(const rd_schedule *t)
{
    const rd_program *p     = t->p;
    bool              found = false;

    for (int32_t k = 0; k < p->n_fold; k++) {
        const rd_fold *f = &p->fold[k];

        found |= rd_has_registers(&f->cell) || rd_has_registers(&f->lane) ||
                 rd_has_registers(&f->lane_line);
    }
    for (int32_t k = 0; k < p->n_loop; k++)
        found |= is_bounded_by_memory(t, &p->loop[k]);
    return found;
}

/* ---- Results --------------------------------------------------------------------------------- */
/* True if two shadows (hashes of how a number was computed) stand for the same expression. */
static bool is_same(const rd_shadow *a, const rd_shadow *b)
{
    return rd_shadow_hash(*a) == rd_shadow_hash(*b);
}

/* True if the tree stores all that the program stores, and nothing else. `want` is what the program
 * stores, `found` what the tree stores. Both are hash tables of `room` entries, n of them taken;
 * slot -1 marks a free entry. rd_shadow_fails() adds a sentence to *why and returns false. */
static bool agrees(const rd_shadow_memory *want, const rd_shadow_memory *found, rd_text *why)
{
    for (size_t k = 0; k < want->room; k++) {
        const rd_shadow_entry *entry = &want->entry[k];
        const rd_shadow       *x =
            entry->slot >= 0 ? rd_shadow_find(found, entry->slot, entry->byte) : NULL;

        if (entry->slot >= 0 && !x)
            return rd_shadow_fails(why, "s%" PRId32 ", byte %" PRId64 ": nothing is stored",
                                   entry->slot, entry->byte);
        if (x && !is_same(x, &entry->x))
            return rd_shadow_fails(why,
                                   "s%" PRId32 ", byte %" PRId64 " is not what the program says",
                                   entry->slot, entry->byte);
    }
    return found->n == want->n || rd_shadow_fails(why, "it stores what the program does not");
}

/* ---- Shadow runs ----------------------------------------------------------------------------- */
/* Runs the tree on hashes, by so many tasks, and compares what it stores with what the program
 * stores (`want`). False: *why has a sentence. A run that fails without a sentence had no memory.
 */
static bool agrees_in_shadow(const rd_schedule *t, rd_shadow_shares shares,
                             const rd_shadow_memory *want, rd_text *why)
{
    rd_shadow_memory found = { 0 };
    const bool       holds = rd_shadow_tree(t, shares, &found, why) && agrees(want, &found, why);

    rd_shadow_memory_free(&found);
    if (!holds && !why->n)
        rd_text_add(why, "no memory");
    else if (!holds && shares.tasks > 1)
        rd_text_add(why, ", in %d tasks", shares.tasks);
    return holds;
}

/* Returns the verdict of a check.  A check that failed for lack of memory says nothing of the
 * tree, so it counts as skipped. A text that begins with "no memory" says so. */
static rd_verdict verdict(bool holds, const rd_text *why)
{
    static const char none[] = "no memory";

    return holds ? RD_TREE_HOLDS
           : why->failed || (why->at && strncmp(why->at, none, sizeof none - 1) == 0)
               ? RD_TREE_SKIPPED
               : RD_TREE_FAILS;
}

/* True if the tree stores what the program stores, on hashes: run by one task, by two, and by three
 * that take their shares of the root axis in several steps. There are several tasks only if that
 * axis has several grains (the least ranges that tasks may take). rd_shadow_program() runs the
 * program itself on hashes. `steps`: each task takes its share in several runs of the body. */
static bool holds_in_shadow(const rd_schedule *t, rd_text *why)
{
    const rd_program *p         = t->p;
    const bool        is_shared = p->root >= 0 && !p->serial && !t->whole;
    const int64_t     grains =
        is_shared && p->grain > 0 ? (p->axis_extent[p->root] + p->grain - 1) / p->grain : 1;
    rd_shadow_memory want  = { 0 };
    bool             holds = rd_shadow_program(p, &want);

    if (!holds)
        rd_text_add(why, "no memory");
    holds = holds && agrees_in_shadow(t, (rd_shadow_shares){ .tasks = 1 }, &want, why);
    for (int n = 2; n <= 3 && n <= grains && holds; n++)
        holds = agrees_in_shadow(t, (rd_shadow_shares){ .tasks = n, .steps = n == 3 }, &want, why);
    rd_shadow_memory_free(&want);
    return holds;
}

/* Checks in the order of cost: links and scopes, order of folds, shared memory, and last a shadow
 * run.  The run is skipped where it would be long, or where it cannot decide. *why gets the reason
 * for a verdict other than RD_TREE_HOLDS. */
rd_verdict rd_schedule_check(const rd_schedule *t, int64_t most_visits, rd_text *why)
{
    if (t->failed) {
        rd_text_add(why, "no memory");
        return RD_TREE_SKIPPED;
    }
    if (!rd_schedule_verify(t, why) || !rd_schedule_check_order(t, why) ||
        !rd_schedule_check_shared(t, why))
        return verdict(/*holds=*/false, why);
    if (is_large(t, most_visits)) {
        rd_text_add(why, "it visits too many elements");
        return RD_TREE_SKIPPED;
    }
    if (adds_ints_as_floats(t)) {
        rd_text_add(why, "it adds ints as floats, in any order");
        return RD_TREE_SKIPPED;
    }
    if (depends_on_memory(t)) {
        rd_text_add(why, "memory says where its elements go, or which there are");
        return RD_TREE_SKIPPED;
    }
    return verdict(holds_in_shadow(t, why), why);
}
