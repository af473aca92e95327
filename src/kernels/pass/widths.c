/* widths.c - how wide strips are, for what is read, and kept, for each element. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/cuts.h"
#include "kernels/pass/strip_at.h"
#include <stdlib.h>

/* An axis that is one strip; elements of rows that stream from memory: at most WIDE, and so few that what is
 * kept for them takes twice the first-level cache at most, unless the least width, NARROW or FETCHED, takes
 * more. */
enum { SHORT = 128, WIDE = 8192, NARROW = RD_RUN_BYTES / 4, FETCHED = NARROW / 4, FEW = 8 };

typedef struct measuring {
    const rd_strip_at      *r;
    const rd_fold_in_strip *fold;
} measuring;

static const rd_for *loop_of(const measuring *m, int32_t stmt)
{
    return m->r->t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(m->r->t, stmt) : NULL;
}

/* ---- Folds ------------------------------------------------------------------------------------ */
/* The fewest lanes of its folds: a step of those that have more is several strips.  INT32_MAX: no
 * fold goes by lanes. */
static int32_t lanes_in(const measuring *m)
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

/* States of many lanes of each element of a strip are too many to be wide. */
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

/* Columns beside each other of what goes to groups: a few, of which tasks may share some. */
static bool has_labels(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (m->r->t->stmt[s].kind == RD_S_STEP && m->r->t->stmt[s].label >= 0)
            return true;
    return false;
}

/* ---- Streams ---------------------------------------------------------------------------------- */
static int64_t trips_of(const measuring *m, const rd_for *loop)
{
    return loop->of >= 0 ? rd_trips(m->r->t->p, loop->of) : 1;
}

/* Does a loop bring other elements in each of its rounds?  Those of a window are the next strip's,
 * but for a few, so they do not stream: in strips of 64 its states stay in registers.  A loop that is
 * written out has its numbers in registers, for as many elements as a strip has. */
static bool moves_on(const measuring *m, int32_t stmt, const rd_linear *at)
{
    const rd_for *loop  = loop_of(m, stmt);
    const int64_t by    = llabs(rd_linear_coef(m->r->t, at, loop->axis));
    const int64_t least = rd_writes_out_loop(m->r, stmt) ? 1 : FETCHED;

    return by > 0 && trips_of(m, loop) > FEW && by * trips_of(m, loop) >= least;
}

/* Does a loop in the region read other elements in each of its rounds, and none around it the same
 * ones again and again? */
static bool reads_on(const measuring *m, int32_t stmt, const rd_linear *at)
{
    enum { OFTEN = 64 };
    bool on = false;

    for (int32_t s = m->r->t->stmt[stmt].parent; s != m->r->top && s >= 0;
         s         = m->r->t->stmt[s].parent) {
        const rd_for *loop = loop_of(m, s);

        if (!loop || loop->axis == m->r->axis)
            continue;
        if (on && !rd_linear_coef(m->r->t, at, loop->axis) && trips_of(m, loop) >= OFTEN)
            return false;
        on |= moves_on(m, s, at);
    }
    return on;
}

/* Are rows of elements side by side read from memory? */
static bool streams(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_let *let    = rd_let_of(m->r->t, s);
        const rd_for *around = loop_of(m, m->r->t->stmt[s].parent);

        if (let && let->kind == RD_I_LOAD && rd_linear_coef(m->r->t, &let->at, m->r->axis) == 1 &&
            around && trips_of(m, around) > FEW && reads_on(m, s, &let->at))
            return true;
    }
    return false;
}

/* ---- What is kept ----------------------------------------------------------------------------- */
/* A scan of several blocks has what is before beside them; the sums that make it are wanted once a
 * block. */
static int64_t bytes_of_states(const rd_loop_fold *f)
{
    const bool    before = f->blocks && f->of.fold->scan;
    const int32_t arrays = f->of.n_state * (before ? 2 : 1) + (before && f->pair);

    return f->of.fold->user ? (int64_t)f->of.fold->user->size
                            : arrays * rd_register_size(f->of.fold->type);
}

/* What a loop over the strip leaves for the next, for each element, in bytes: states, and arrays of
 * what functions take of all the strip. */
static int64_t bytes_kept(const measuring *m)
{
    int64_t bytes = 0;

    RD_EACH_IN (m->r, s) {
        const rd_stmt *stmt = &m->r->t->stmt[s];

        bytes += rd_is_step(m->r->t, s) ? bytes_of_states(&m->r->t->fold[stmt->fold]) : 0;
        bytes += rd_stmt_cuts(m->r->t, s) ? 2 * 8 : 0;
    }
    return bytes;
}

static bool names(const rd_bound *b, int32_t axis)
{
    for (int32_t k = 0; k < b->n_add; k++)
        if (b->axis[k] == axis)
            return true;
    return false;
}

static const rd_bounds *bounds_of(const measuring *m, int32_t stmt)
{
    const rd_for *loop = loop_of(m, stmt);

    return loop && loop->of >= 0 ? m->r->t->p->loop[loop->of].bounds : NULL;
}

/* Does a mask bound a loop in the region by the strip's place?  The narrower a strip is, the more of
 * that loop is left out. */
static bool is_bounding(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_bounds *b = bounds_of(m, s);

        if (b && loop_of(m, s)->axis != m->r->axis &&
            (names(&b->low, m->r->axis) || names(&b->high, m->r->axis) || b->low.n_reg ||
             b->high.n_reg || b->list_at >= 0))
            return true;
    }
    return false;
}

/* Runs of memory that are long enough to stream, and what is kept near: see above. */
static int32_t wide_width(const measuring *m)
{
    enum { BOUNDING = 256 };
    const int64_t bytes = bytes_kept(m), room = 2 * RD_L1_BYTES;
    const int64_t narrow = rd_prefetches_rows_behind ? FETCHED : NARROW;
    const int64_t reach  = rd_reach(m->r->t->p, m->r->axis);
    int64_t       width  = bytes ? room / bytes / 64 * 64 : WIDE;

    width = width > WIDE ? WIDE : width < narrow ? narrow : width;
    width = is_bounding(m) ? BOUNDING : width;
    return (int32_t)(reach < width ? reach : width);
}

/* ---- Functions -------------------------------------------------------------------------------- */
static bool has_block_calls(const measuring *m)
{
    RD_EACH_IN (m->r, s) {
        const rd_let *let = rd_let_of(m->r->t, s);

        if (let && let->kind == RD_I_CALL && m->r->t->p->call[let->arg].block)
            return true;
    }
    return false;
}

static bool is_cut(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (rd_stmt_cuts(m->r->t, s))
            return true;
    return false;
}

/* exp of f32 in a long loop whose rounds meet the same states, as of pairs of points: a strip of one
 * vector stays in registers with its states and what it reads again, and rounds of four fill the time
 * that each waits.  Strips of four vectors took 1.16 of the time (gcc 12, Zen 4); of f64 they take
 * 0.95.  AVX2 has half as many registers. */
bool rd_takes_exp_of_pairs(const rd_strip_at *r, int32_t loop)
{
    enum { LONG = 64, ZMM = 64 };
    const rd_for    *l      = rd_loop_of(r->t, loop);
    const rd_bounds *bounds = l->of >= 0 ? r->t->p->loop[l->of].bounds : NULL;
    bool             found = false, meets = false;

    if (r->vector < ZMM || l->axis == r->axis || l->of < 0 || l->step != 1 ||
        rd_is_row(&r->t->p->loop[l->of]) || l->backwards || rd_trips(r->t->p, l->of) < LONG ||
        (bounds && bounds->list_at >= 0)) /* ranges are looked up for each strip */
        return false;
    for (int32_t s = rd_next_stmt(r->t, loop, loop); s >= 0; s = rd_next_stmt(r->t, s, loop)) {
        const rd_stmt *stmt = &r->t->stmt[s];
        const rd_let  *let  = rd_let_of(r->t, s);
        const bool     exp  = let && let->kind == RD_I_MAP && let->op == RD_OP_exp;

        if (rd_stmt_cuts(r->t, s) && !(exp && let->type == RD_F32))
            return false;
        found |= exp && rd_stands_along(r, s);
        meets |= stmt->kind == RD_S_STEP && !rd_begins_in(r->t, stmt->fold, loop);
    }
    return found && meets;
}

static bool is_pairs(const measuring *m)
{
    RD_EACH_IN (m->r, s)
        if (loop_of(m, s) && rd_takes_exp_of_pairs(m->r, s))
            return true;
    return false;
}

/* ---- All together ----------------------------------------------------------------------------- */
static bool ends_amid_rows(const measuring *m)
{
    for (int32_t k = 0; k < m->r->t->p->n_fold; k++)
        if (m->fold[k].turns && rd_ends_amid_rows(m->r->t, k, m->r->axis))
            return true;
    return false;
}

/* What a whole axis leaves over; tiles and tasks' shares may leave anything. */
static int32_t rest_of(const measuring *m, int32_t width)
{
    const rd_program *p      = m->r->t->p;
    const int64_t     extent = p->axis_extent[m->r->axis];

    if ((!m->r->t->whole && p->root == m->r->axis) || rd_reach(p, m->r->axis) != extent ||
        rd_has_clusters(m->r) || ends_amid_rows(m))
        return -1;
    return (int32_t)(extent % width);
}

static void as_whole(rd_strip *strip, int64_t reach)
{
    strip->whole = true;
    strip->fixed = strip->one = reach <= SHORT;
    strip->width              = strip->one ? (int32_t)reach : WIDE;
}

static void by_lanes(const measuring *m, rd_strip *strip, int64_t reach, bool root)
{
    strip->width = lanes_in(m);
    strip->fixed = true;
    strip->one   = reach <= strip->width && !root && reach == m->r->t->p->axis_extent[m->r->axis];
    strip->width = strip->one ? (int32_t)reach : strip->width;
}

/* Users' functions of blocks are worth a call for many elements; of stores past the caches so many
 * that what lines they share at their ends is little, and so few that fetches do not jam. */
enum { CALLED = 512, PAST = 128 };

void rd_find_width(const rd_strip_at *r, const rd_fold_in_strip *fold, rd_strip *strip)
{
    const measuring m     = { r, fold };
    const int64_t   reach = rd_reach(r->t->p, r->axis);
    const bool      root  = !r->t->whole && r->t->p->root == r->axis;

    if (rd_takes_whole(r, fold))
        as_whole(strip, reach);
    else if (lanes_in(&m) < INT32_MAX)
        by_lanes(&m, strip, reach, root);
    else if (reach <= SHORT && !root && !ends_amid_rows(&m)) {
        strip->width = (int32_t)reach;
        strip->fixed = strip->one = r->t->p->axis_extent[r->axis] == strip->width;
        strip->wide = r->t->whole && streams(&m); /* few rows go together: states in registers */
    } else if (is_pairs(&m)) {
        strip->width = r->vector / (int32_t)sizeof(float);
        strip->fixed = true;
    } else if (streams(&m) && !has_lanes_of_cells(&m)) {
        strip->width  = wide_width(&m);
        strip->wide   = true;
        strip->arrays = bytes_kept(&m) > 0;
    } else if (has_block_calls(&m) || (rd_any_store_streams(r) && !is_cut(&m))) {
        strip->width  = has_block_calls(&m) ? CALLED : PAST;
        strip->arrays = true;
    } else {
        strip->width = has_labels(&m) && reach < 64 ? (int32_t)reach : 64;
        strip->fixed = true;
    }
    strip->rest = rest_of(&m, strip->width);
}
