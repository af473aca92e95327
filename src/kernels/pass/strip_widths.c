/* strip_widths.c - Chooses how wide strips are, by what is read, and what is kept, for each
 * element.
 *
 * A region is a loop, or a body of loops, with one loop over strips of the axis m->r->axis.  A cell
 * is an accumulator of a fold, and a lane one of several states of a cell, to which elements go in
 * turn.  Rows are streamed if each round of a loop reads other ones, so that they come from memory
 * and not from a cache.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A step has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups.
 * A fold has `user` if its reducer is the caller's own. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/strip_at.h"
#include <stdlib.h>

/* SHORT: an axis of one strip. WIDE: the most elements of a strip of streamed rows. A strip is
 * narrower if what is kept for it exceeds twice the first-level cache, but never below NARROW,
 * or PREFETCHED if rows are prefetched. FEW: rounds that do not count as a stream. */
enum { SHORT = 128, WIDE = 8192, NARROW = RD_RUN_BYTES / 4, PREFETCHED = NARROW / 4, FEW = 8 };

/* The region, and per fold how neighbours of a strip map to its accumulators. */
typedef struct measuring {
    const rd_strip_at      *r;
    const rd_fold_in_strip *fold;
} measuring;

/* Returns the loop record of a statement; NULL: it is no loop. */
static const rd_for *loop_of(const measuring *m, int32_t stmt)
{
    return m->r->t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(m->r->t, stmt) : NULL;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Returns the fewest lanes (partial accumulators) of a fold whose lanes go along the strip (a
 * range that vector loops visit); INT32_MAX: there is no such fold. A step of a fold with more
 * lanes is then several strips. */
static int32_t fewest_lanes(const measuring *m)
{
    int32_t fewest = INT32_MAX;

    RD_EACH_IN (m->r, s) {
        const rd_stmt *stmt = &m->r->t->stmt[s];
        const int32_t  lanes =
            rd_is_step(m->r->t, s) ? m->r->t->p->fold[stmt->fold].lanes : INT32_MAX;

        if (rd_is_step(m->r->t, s) && m->fold[stmt->fold].lanes && lanes < fewest)
            fewest = lanes;
    }
    return fewest;
}

/* True if each element of a strip (a range that vector loops visit) has a cell (accumulator) of
 * several lanes: their states are too many for a wide strip. */
static bool has_lanes_of_cells(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_stmt *stmt = &m->r->t->stmt[s];

        if (rd_is_step(m->r->t, s) && m->fold[stmt->fold].cells &&
            m->r->t->fold[stmt->fold].lanes > 1)
            return true;
    }
    return false;
}

/* True if the region (loops that share strips) has steps of a group-by (label >= 0). Tasks may
 * share its few columns. */
static bool has_labels(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (m->r->t->stmt[s].kind == RD_S_STEP && m->r->t->stmt[s].label >= 0)
            return true;
    return false;
}

/* ---- Streams --------------------------------------------------------------------------------- */
/* Returns the number of rounds of the loop, if it comes from a loop of the program; else 1. */
static int64_t trips_of(const measuring *m, const rd_for *loop)
{
    return loop->program_loop >= 0 ? rd_trips(m->r->t->p, loop->program_loop) : 1;
}

/* True if each round of the loop reads other elements, so that they come from memory: the address
 * moves, over more than 8 rounds, and PREFETCHED elements or more in all. Sliding windows move
 * less, as their strips overlap; in strips of 64 their states (accumulators) stay in registers. An
 * unrolled loop keeps its elements in registers, so there any distance counts. rd_coef_unclamped()
 * is the factor of the axis in the address, also by way of clamped indices. */
static bool is_streaming_loop(const measuring *m, int32_t stmt, const rd_linear *at)
{
    const rd_for *loop  = loop_of(m, stmt);
    const int64_t by    = llabs(rd_coef_unclamped(m->r->t, at, loop->axis));
    const int64_t least = rd_unrolls_loop(m->r, stmt) ? 1 : PREFETCHED;

    return by > 0 && trips_of(m, loop) > FEW && by * trips_of(m, loop) >= least;
}

/* True if the loop has so many rounds that what they all read comes from a cache: 64, or 8 if a
 * tile holds only some of its rows (rd_most_indices: the most indices at a time). */
static bool is_often(const measuring *m, const rd_for *loop)
{
    enum { OFTEN = 64, ROWS_OF_TILE = 8 };
    const rd_program *p     = m->r->t->p;
    const int64_t     trips = trips_of(m, loop);

    return trips >= OFTEN ||
           (trips >= ROWS_OF_TILE && rd_most_indices(p, loop->axis) < p->axis_extent[loop->axis]);
}

/* True if a loop in the region (loops that share strips) makes the load read other elements in each
 * round, and no loop around that one reads the same elements often, from a cache.
 * rd_coef_unclamped() is 0 if the loop does not move the address. */
static bool is_streaming_load(const measuring *m, int32_t stmt, const rd_linear *at)
{
    bool streams = false;

    for (int32_t s = m->r->t->stmt[stmt].parent; s != m->r->top && s >= 0;
         s         = m->r->t->stmt[s].parent) {
        const rd_for *loop = loop_of(m, s);

        if (!loop || loop->axis == m->r->axis)
            continue;
        if (streams && !rd_coef_unclamped(m->r->t, at, loop->axis) && is_often(m, loop))
            return false;
        streams |= is_streaming_loop(m, s, at);
    }
    return streams;
}

/* True if a load that is contiguous along the strip (a range that vector loops visit) streams from
 * memory, and stands directly in a loop of more than 8 rounds. */
static bool has_streams(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_tree_value *let    = rd_let_of(m->r->t, s);
        const rd_for        *around = loop_of(m, m->r->t->stmt[s].parent);

        if (let && let->kind == RD_I_LOAD &&
            rd_coef_unclamped(m->r->t, &let->at, m->r->axis) == 1 && around &&
            trips_of(m, around) > FEW && is_streaming_load(m, s, &let->at))
            return true;
    }
    return false;
}

/* ---- What is kept ---------------------------------------------------------------------------- */
/* Returns the bytes of a cell's states. A state is `n_state` numbers. A scan of several blocks
 * (runs of a fold's steps) also has the state before the block (before), and one of pairs hi + lo
 * (pair) one number more. */
static int64_t bytes_of_states(const rd_loop_fold *f)
{
    const bool    before = f->blocks && f->emit.fold->scan;
    const int32_t arrays = f->emit.n_state * (before ? 2 : 1) + (before && f->hi_lo_sums);

    return f->emit.fold->user ? (int64_t)f->emit.fold->user->size
                              : arrays * rd_register_size(f->emit.fold->type);
}

/* Returns the bytes that a loop over the strip leaves to the next one, for each element: states
 * (accumulators) of folds, and for each operation on whole strips (such as exp) two arrays of 8
 * bytes, its operand and its result. */
static int64_t bytes_kept(const measuring *m)
{
    int64_t bytes = 0;

    RD_EACH_IN (m->r, s) {
        const rd_stmt *stmt = &m->r->t->stmt[s];

        bytes += rd_is_step(m->r->t, s) ? bytes_of_states(&m->r->t->fold[stmt->fold]) : 0;
        bytes += rd_stmt_needs_fission(m->r->t, s) ? 2 * 8 : 0;
    }
    return bytes;
}

/* True if the bound of a mask (a sum of terms that is not negative where the mask is true) has a
 * term of the axis. */
static bool is_bounding_axis(const rd_bound *b, int32_t axis)
{
    for (int32_t k = 0; k < b->n_add; k++)
        if (b->axis[k] == axis)
            return true;
    return false;
}

/* Returns the bounds that a mask sets for the indices of a statement's loop; NULL: there are none.
 * Only loops of the program (of >= 0) have bounds. */
static const rd_bounds *bounds_of(const measuring *m, int32_t stmt)
{
    const rd_for *loop = loop_of(m, stmt);

    return loop && loop->program_loop >= 0 ? m->r->t->p->loop[loop->program_loop].bounds : NULL;
}

/* True if a mask bounds a loop over another axis by the strip's position, by values of memory
 * (n_reg) or by a list of ranges.  A narrower strip leaves out more of that loop. */
static bool is_bounding(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_bounds *b = bounds_of(m, s);

        if (b && loop_of(m, s)->axis != m->r->axis &&
            (is_bounding_axis(&b->low, m->r->axis) || is_bounding_axis(&b->high, m->r->axis) ||
             b->low.n_reg || b->high.n_reg || b->list_at >= 0))
            return true;
    }
    return false;
}

/* Returns the width of strips of streamed rows: as long as the states (accumulators) still fit
 * twice the first-level cache, but not so short that runs of memory get short. 256 if a mask bounds
 * a loop by the strip's position, as narrower strips leave out more of that loop. At most the axis
 * (reach). That least width is smaller on processors that gain by prefetching rows. */
static int32_t wide_width(const measuring *m)
{
    enum { BOUNDING = 256 };
    const int64_t bytes = bytes_kept(m), room = 2 * RD_L1_BYTES;
    const int64_t narrow = rd_prefetches_rows_behind ? PREFETCHED : NARROW;
    const int64_t reach  = rd_most_indices(m->r->t->p, m->r->axis);
    int64_t       width  = bytes ? room / bytes / 64 * 64 : WIDE;

    width = width > WIDE ? WIDE : width < narrow ? narrow : width;
    width = is_bounding(m) ? BOUNDING : width;
    return (int32_t)(reach < width ? reach : width);
}

/* ---- Functions ------------------------------------------------------------------------------- */
/* True if the region (loops that share strips) calls users' functions that take blocks of
 * elements. */
static bool has_block_calls(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_tree_value *let = rd_let_of(m->r->t, s);

        if (let && let->kind == RD_I_CALL && m->r->t->p->call[let->arg].block)
            return true;
    }
    return false;
}

/* True if the region (loops that share strips) has operations without vectors, which work on a
 * whole strip (a range that vector loops visit). */
static bool needs_fission(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (rd_stmt_needs_fission(m->r->t, s))
            return true;
    return false;
}

/* True if a long loop of the region (loops that share strips), over another axis, takes
 * exponentials of f32 and has steps of folds that go on after it.  A strip (a range that vector
 * loops visit) of one vector stays in registers, with its states (accumulators) and what it reads
 * again; four rounds fill the latency of exp.  Strips of four vectors took 1.16 of the time (gcc
 * 12, Zen 4); of f64 they take 0.95.  AVX2 (vectors below 64 bytes) has half as many registers.
 * The loop is one of the program, upwards, and not the row of a sparse array. reuses_states: a
 * fold goes on behind the loop. */
bool rd_takes_exp_of_pairs(const rd_strip_at *r, int32_t loop)
{
    enum { LONG = 64, ZMM = 64 };
    const rd_for    *l      = rd_loop_of(r->t, loop);
    const rd_bounds *bounds = l->program_loop >= 0 ? r->t->p->loop[l->program_loop].bounds : NULL;
    bool             found = false, reuses_states = false;

    if (r->vector < ZMM || l->axis == r->axis || l->program_loop < 0 || l->step != 1 ||
        rd_is_sparse_row(&r->t->p->loop[l->program_loop]) || l->backwards ||
        rd_trips(r->t->p, l->program_loop) < LONG ||
        (bounds && bounds->list_at >= 0)) /* ranges are looked up for each strip */
        return false;
    for (int32_t s = rd_next_stmt(r->t, loop, loop); s >= 0; s = rd_next_stmt(r->t, s, loop)) {
        const rd_stmt       *stmt = &r->t->stmt[s];
        const rd_tree_value *let  = rd_let_of(r->t, s);
        const bool           exp  = let && let->kind == RD_I_MAP && let->op == RD_OP_exp;

        if (rd_stmt_needs_fission(r->t, s) && !(exp && let->type == RD_F32))
            return false;
        found |= exp && rd_stands_along(r, s);
        reuses_states |= stmt->kind == RD_S_STEP && !rd_fold_begins_in(r->t, stmt->fold, loop);
    }
    return found && reuses_states;
}

/* True if a loop of the region (loops that share strips) takes exponentials of pairs, as
 * rd_takes_exp_of_pairs() says. */
static bool has_exp_of_pairs(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (loop_of(m, s) && rd_takes_exp_of_pairs(m->r, s))
            return true;
    return false;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* True if a fold with serial steps along the strip (in_order) ends its blocks amid rows of the
 * axis, so that strips begin and end anywhere. */
static bool has_ends_amid_rows(const measuring *m)
{
    for (int32_t k = 0; k < m->r->t->p->n_fold; k++)
        if (m->fold[k].in_order && rd_ends_amid_rows(m->r->t, k, m->r->axis))
            return true;
    return false;
}

/* Returns the number of elements of the last, shorter strip (a range that vector loops visit) of a
 * whole axis.  -1: not known, as tiles, tasks' shares (of the root axis), clusters or ends of
 * blocks may leave any number. */
static int32_t tail_of(const measuring *m, int32_t width)
{
    const rd_program *p      = m->r->t->p;
    const int64_t     extent = p->axis_extent[m->r->axis];

    if ((!m->r->t->whole && p->root == m->r->axis) || rd_most_indices(p, m->r->axis) != extent ||
        rd_has_clusters(m->r) || has_ends_amid_rows(m))
        return -1;
    return (int32_t)(extent % width);
}

/* Sets the width of strips that one accumulator takes whole: all of an axis of 128 elements or
 * fewer, else up to 8192. */
static void set_one_state_width(rd_strip *strip, int64_t reach)
{
    strip->one_state = true;
    strip->fixed = strip->single = reach <= SHORT;
    strip->width                 = strip->single ? (int32_t)reach : WIDE;
}

/* Sets the width of strips of lanes: one element for each lane (partial accumulator) of the fold
 * with the fewest. A shorter axis is one strip, if neither tasks (is_shared) nor tiles (reach)
 * divide it. */
static void set_width_of_lanes(const measuring *m, rd_strip *strip, int64_t reach, bool is_shared)
{
    strip->width = fewest_lanes(m);
    strip->fixed = true;
    strip->single =
        reach <= strip->width && !is_shared && reach == m->r->t->p->axis_extent[m->r->axis];
    strip->width = strip->single ? (int32_t)reach : strip->width;
}

/* CALLED: elements of a call of a user's function of blocks. NONTEMPORAL: elements of a strip with
 * non-temporal stores: many against partial cache lines at the ends, few against too many
 * fetches at once. */
enum { CALLED = 512, NONTEMPORAL = 128 };

/* Chooses the first case that applies: one accumulator, lanes, a short axis, exp of pairs, streamed
 * rows, calls or non-temporal stores; else strips of 64.  `reach` is the most indices that a loop
 * visits. A task that shares the axis (root) may get any part of it, unless one task runs all
 * (whole). `fixed`: all strips but the tail have `width` elements; `single`: there is one; `wide`:
 * its rows are streamed; `has_arrays`: loops of a strip pass arrays or states. */
void rd_find_width(const rd_strip_at *r, const rd_fold_in_strip *fold, rd_strip *strip)
{
    const measuring m         = { r, fold };
    const int64_t   reach     = rd_most_indices(r->t->p, r->axis);
    const bool      is_shared = !r->t->whole && r->t->p->root == r->axis;

    if (rd_uses_one_state(r, fold))
        set_one_state_width(strip, reach);
    else if (fewest_lanes(&m) < INT32_MAX)
        set_width_of_lanes(&m, strip, reach, is_shared);
    else if (reach <= SHORT && !is_shared && !has_ends_amid_rows(&m)) {
        strip->width = (int32_t)reach;
        strip->fixed = strip->single = r->t->p->axis_extent[r->axis] == strip->width;
        strip->wide =
            r->t->whole && has_streams(&m); /* a few rows are jammed: states in registers */
    } else if (has_exp_of_pairs(&m)) {
        strip->width = r->vector / (int32_t)sizeof(float);
        strip->fixed = true;
    } else if (has_streams(&m) && !has_lanes_of_cells(&m)) {
        strip->width      = wide_width(&m);
        strip->wide       = true;
        strip->has_arrays = bytes_kept(&m) > 0;
    } else if (has_block_calls(&m) || (rd_has_nontemporal_store(r) && !needs_fission(&m))) {
        strip->width      = has_block_calls(&m) ? CALLED : NONTEMPORAL;
        strip->has_arrays = true;
    } else {
        strip->width = has_labels(&m) && reach < 64 ? (int32_t)reach : 64;
        strip->fixed = true;
    }
    strip->tail = tail_of(&m, strip->width);
}
