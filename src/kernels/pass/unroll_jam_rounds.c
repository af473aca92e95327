/* unroll_jam_rounds.c - Chooses the loops for pass `unroll_jam`: loops whose rounds are jammed
 * into the vector loop directly in them, so that a state is loaded and stored once for all of
 * these.
 *
 * To jam rounds is to put their copies side by side into an inner loop.  A cell is an accumulator
 * of a fold, a lane one of its states.  A strip is a range of indices of the axis m->r->axis, which
 * vector loops visit.
 *
 * Fields. A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or
 * groups. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/strip_at.h"

/* The loop in question, with its region and strip. */
typedef struct jam_candidate {
    const rd_strip_at      *r;
    const rd_strip         *strip;
    const rd_fold_in_strip *fold;
    int32_t                 loop;
} jam_candidate;

/* Visits each statement in the loop, at any depth. */
#define EACH_IN(m, s)                                                       \
    for (int32_t s = rd_next_stmt((m)->r->t, (m)->loop, (m)->loop); s >= 0; \
         s         = rd_next_stmt((m)->r->t, s, (m)->loop))

/* Returns the LOAD that the statement makes; NULL: it is another statement. */
static const rd_tree_value *load_of(const jam_candidate *m, int32_t stmt)
{
    const rd_stmt       *s   = &m->r->t->stmt[stmt];
    const rd_tree_value *let = s->kind == RD_S_LET ? &m->r->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

/* Returns the coefficient of an axis in a position; 0: the axis is not in it. */
static int64_t coef(const jam_candidate *m, const rd_linear *at, int32_t axis)
{
    return rd_linear_coef(m->r->t, at, axis);
}

/* Returns the axis of the loop whose rounds may be jammed. */
static int32_t axis_of(const jam_candidate *m)
{
    return rd_loop_of(m->r->t, m->loop)->axis;
}

/* ---- Rows of memory -------------------------------------------------------------------------- */
/* True if pass `prefetch_rows` will prefetch rows of the loop: it is on for this processor, and
 * wide strips (ranges that vector loops visit) of a large array are read. */
static bool has_prefetched_rows(const jam_candidate *m)
{
    if (!rd_prefetches_rows_behind || !m->strip->wide)
        return false;
    EACH_IN(m, s)
    if (rd_reads_large_rows(m->r->t, s, m->loop, m->r->axis))
        return true;
    return false;
}

/* True if the loop streams short rows from memory, and even the longest is short. Several rows at
 * once end before hardware prefetchers detect them; one by one they are one stream. From 4 KiB on
 * they are prefetched by software. A longer run than RD_RUN_BYTES is read no faster. */
static bool has_short_streams(const jam_candidate *m)
{
    enum { PREFETCHED_BYTES = 4096 };
    int64_t longest = 0;

    EACH_IN(m, s)
    {
        const rd_tree_value *load = load_of(m, s);

        if (load && coef(m, &load->at, m->r->axis) == 1 && coef(m, &load->at, axis_of(m)) &&
            rd_bytes_of_axes(m->r->t, &load->at, load->type) > rd_cached_bytes()) {
            const int64_t bytes =
                rd_most_indices(m->r->t->p, m->r->axis) * rd_dtype_size(load->type);

            longest = bytes > longest ? bytes : longest;
        }
    }
    return longest > 0 && longest < (has_prefetched_rows(m) ? PREFETCHED_BYTES : RD_RUN_BYTES);
}

/* ---- Which loops ----------------------------------------------------------------------------- */
/* Returns the number of rounds, 4 or 8: so many that loads and stores of states are few beside
 * other loads. States of a fold that ends in the round (`ends_in_round`) are variables anyway, and
 * an extreme beside its place has none. `states`: numbers in all states. */
static int rounds_to_merge(const jam_candidate *m)
{
    int states = 0;

    EACH_IN(m, s)
    {
        const rd_stmt *stmt = &m->r->t->stmt[s];

        if (stmt->kind == RD_S_STEP && !m->fold[stmt->fold].ends_in_round &&
            rd_place_beside(m->r->t, s) < 0)
            states += m->r->t->fold[stmt->fold].emit.n_state;
    }
    return states > 2 ? 8 : 4;
}

/* Returns the operations of a round, with those of unrolled loops inside, times their rounds. Ends
 * of folds count 0, a loop 2. A result in half precision counts as a dozen, for its rounding:
 * chains of these keep gcc's combiner busy for half a minute. Counting ends at 1000. */
static int64_t unrolled_size(const jam_candidate *m)
{
    enum { ROUNDING = 12, MANY = 1000 };
    int64_t count = 0;

    EACH_IN(m, s)
    {
        const rd_stmt *stmt = &m->r->t->stmt[s];
        const bool half = stmt->n_value && rd_dtype_is_narrow_float(m->r->t->let[stmt->value].type);
        int64_t    times = stmt->kind == RD_S_MERGE_BLOCKS || stmt->kind == RD_S_MERGE_LANES ? 0
                           : half                    ? ROUNDING
                           : stmt->kind == RD_S_LOOP ? 2
                                                     : 1;

        for (int32_t k = stmt->parent; k != m->loop && times < MANY; k = m->r->t->stmt[k].parent)
            times *=
                rd_loop_of(m->r->t, k)->axis == m->r->axis ? 1 : rd_loop_of(m->r->t, k)->extent;
        count += times;
    }
    return count;
}

/* True if each round of the loop goes to another cell (accumulator) of the fold. */
static bool moves_cell(const jam_candidate *m, int32_t fold)
{
    return rd_coef(&m->r->t->p->fold[fold].cell, axis_of(m)) != 0;
}

/* True if the step uses the same state in all rounds of the loop; it may differ by the strip's
 * element, or by the round of an unrolled loop. So the loop does not move the cell (accumulator),
 * and no loop between that stays serial does. Neighbours of the strip (a range that vector loops
 * visit) are lanes, or the fold has one lane. */
static bool has_fixed_state(const jam_candidate *m, int32_t stmt)
{
    const int32_t  fold = m->r->t->stmt[stmt].fold;
    const rd_fold *f    = &m->r->t->p->fold[fold];

    for (int32_t s = m->r->t->stmt[stmt].parent; s != m->loop; s = m->r->t->stmt[s].parent)
        if (rd_loop_of(m->r->t, s)->axis != m->r->axis &&
            rd_coef(&f->cell, rd_loop_of(m->r->t, s)->axis) && !rd_unrolls_loop(m->r, s))
            return false;
    return !moves_cell(m, fold) && (m->fold[fold].lanes || m->r->t->fold[fold].lanes == 1);
}

/* True if the step can be jammed: it has vectors, no label, is no scan by the tree (levels), and
 * its state (accumulator) is the same in all rounds, or a variable of its round (inner). */
static bool can_merge_step(const jam_candidate *m, int32_t stmt)
{
    const rd_stmt *s = &m->r->t->stmt[stmt];

    return s->label < 0 && !rd_stmt_needs_fission(m->r->t, stmt) &&
           !m->r->t->fold[s->fold].levels &&
           (m->fold[s->fold].ends_in_round || has_fixed_state(m, stmt));
}

/* True if the load needs no packing within the loop: it is contiguous, or an array for it is
 * packed before the loop or before a loop around. */
static bool can_merge_load(const jam_candidate *m, int32_t stmt)
{
    const int32_t rereads = rd_loop_of_rereads(m->r, stmt);

    return !rd_needs_packing(m->r, stmt) &&
           (rereads < 0 || rereads == m->loop || rd_stands_in(m->r->t, m->loop, rereads));
}

/* True if a vector loop can do the statement for a few rows at once.  Begins and ends of a fold can
 * only be there if the fold begins and ends in a row (`ends_in_round`), with its states
 * (accumulators) in variables. A loop goes along the strip or is unrolled, a store goes to adjacent
 * elements, and a value needs no loop of its own (fission). */
static bool can_merge_stmt(const jam_candidate *m, int32_t stmt)
{
    const rd_stmt *s = &m->r->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_BEGIN:
    case RD_S_MERGE_BLOCKS:
    case RD_S_MERGE_LANES:
    case RD_S_FINISH: return m->fold[s->fold].ends_in_round;
    case RD_S_LOOP:
        return rd_loop_of(m->r->t, stmt)->axis == m->r->axis || rd_unrolls_loop(m->r, stmt);
    case RD_S_STORE: return coef(m, &s->at, m->r->axis) == 1;
    case RD_S_STEP:
    case RD_S_PREFIX: return can_merge_step(m, stmt);
    case RD_S_LET:
        return !rd_stmt_needs_fission(m->r->t, stmt) &&
               (!load_of(m, stmt) || can_merge_load(m, stmt));
    default: return true;
    }
}

/* Returns how many rounds are jammed: 4 or 8, or 0 if the loop cannot be jammed. It must be a loop
 * of the program (of >= 0), upwards, with so many rounds, and with a step of a fold that goes on
 * after it. A fold that ends in one round (`ends_in_round`) does not count. Jamming would hurt if
 * the loop streams short rows from memory. The merged loop has MOST operations at most. */
int32_t rd_unroll_jam_rounds(const rd_strip_at *r, const rd_strip *strip,
                             const rd_fold_in_strip *fold, int32_t loop)
{
    enum { MOST = 256 };
    const jam_candidate m        = { r, strip, fold, loop };
    const rd_for       *l        = rd_loop_of(r->t, loop);
    const int           rows     = rounds_to_merge(&m);
    bool                has_step = false;

    if (l->backwards || l->program_loop < 0 || l->step != 1 ||
        rd_trips(r->t->p, l->program_loop) < rows || has_short_streams(&m) ||
        rows * unrolled_size(&m) > MOST)
        return 0;
    EACH_IN(&m, s)
    {
        const rd_stmt *stmt = &r->t->stmt[s];

        if (!can_merge_stmt(&m, s))
            return 0;
        has_step |= (stmt->kind == RD_S_STEP || stmt->kind == RD_S_PREFIX) &&
                    !fold[stmt->fold].ends_in_round;
    }
    return has_step ? rows : 0;
}

/* True if each round of the loop can be a part of a vector loop that does several rounds of a loop
 * around; see rd_unroll_jam_outer_rounds(). States (accumulators) may move with its own rounds, as
 * each coordinate of a gradient has its own. A step whose cell moves with these rounds needs no
 * label, one lane, and a cell for each neighbour; for all other statements can_merge_stmt()
 * decides. */
bool rd_can_jam_into(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold,
                     int32_t loop, int32_t rows)
{
    enum { MOST = 256 };
    const jam_candidate m = { r, strip, fold, loop };

    if (rows * unrolled_size(&m) > MOST)
        return false;
    EACH_IN(&m, s)
    {
        const rd_stmt *stmt    = &r->t->stmt[s];
        const bool     is_step = stmt->kind == RD_S_STEP;

        if (is_step && moves_cell(&m, stmt->fold)
                ? stmt->label >= 0 || !fold[stmt->fold].cells || r->t->fold[stmt->fold].lanes > 1
                : !can_merge_stmt(&m, s))
            return false;
    }
    return true;
}
