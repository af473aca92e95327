/* for_together.c - which loops of a strip the pass `together` merges into the vector loop directly in
 * them, a few rounds at a time, so that a state is read and written once for all of these. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/cuts.h"
#include "kernels/pass/strip_at.h"

typedef struct merging {
    const rd_strip_at      *r;
    const rd_strip         *strip;
    const rd_fold_in_strip *fold;
    int32_t                 loop;
} merging;

#define EACH_IN(m, s)                                                       \
    for (int32_t s = rd_next_stmt((m)->r->t, (m)->loop, (m)->loop); s >= 0; \
         s         = rd_next_stmt((m)->r->t, s, (m)->loop))

static const rd_let *load_of(const merging *m, int32_t stmt)
{
    const rd_stmt *s   = &m->r->t->stmt[stmt];
    const rd_let  *let = s->kind == RD_S_LET ? &m->r->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

static int64_t coef(const merging *m, const rd_linear *at, int32_t axis)
{
    return rd_linear_coef(m->r->t, at, axis);
}

static int32_t axis_of(const merging *m)
{
    return rd_loop_of(m->r->t, m->loop)->axis;
}

/* ---- Rows of memory --------------------------------------------------------------------------- */
static bool fetches_ahead(const merging *m)
{
    if (!rd_prefetches_rows_behind || !m->strip->wide)
        return false;
    EACH_IN(m, s)
    if (rd_comes_in_rows(m->r->t, s, m->loop, m->r->axis))
        return true;
    return false;
}

/* Rows that come from memory one after the other, and are short, the longest too: several side by
 * side end before prefetchers know them, one by one they are one run.  Of 4 KiB on they are fetched. */
static bool streams_short_rows(const merging *m)
{
    enum { FETCHED_BYTES = 4096 };
    int64_t row = 0;

    EACH_IN(m, s)
    {
        const rd_let *load = load_of(m, s);

        if (load && coef(m, &load->at, m->r->axis) == 1 && coef(m, &load->at, axis_of(m)) &&
            rd_bytes_of_axes(m->r->t, &load->at, load->type) > rd_cached_bytes()) {
            const int64_t strip = rd_reach(m->r->t->p, m->r->axis) * rd_dtype_size(load->type);

            row = strip > row ? strip : row;
        }
    }
    return row > 0 && row < (fetches_ahead(m) ? FETCHED_BYTES : RD_RUN_BYTES);
}

/* ---- Which loops ------------------------------------------------------------------------------ */
/* So many that what moves to and fro, the states, is little beside what is read. */
static int rows_of(const merging *m)
{
    int states = 0;

    EACH_IN(m, s)
    {
        const rd_stmt *stmt = &m->r->t->stmt[s];

        if (stmt->kind == RD_S_STEP && !m->fold[stmt->fold].inner)
            states += m->r->t->fold[stmt->fold].of.n_state;
    }
    return states > 2 ? 8 : 4;
}

/* Operations of a round, with those of loops that are written out.  Halves are rounded by a dozen
 * each, of which chains keep gcc's combiner for half a minute. */
static int64_t written(const merging *m)
{
    enum { ROUNDING = 12, MANY = 1000 };
    int64_t count = 0;

    EACH_IN(m, s)
    {
        const rd_stmt *stmt  = &m->r->t->stmt[s];
        const bool     half  = stmt->n_value && rd_dtype_is_half(m->r->t->let[stmt->value].type);
        int64_t        times = stmt->kind == RD_S_REST || stmt->kind == RD_S_LANES ? 0
                               : half                                              ? ROUNDING
                               : stmt->kind == RD_S_LOOP                           ? 2
                                                                                   : 1;

        for (int32_t k = stmt->parent; k != m->loop && times < MANY; k = m->r->t->stmt[k].parent)
            times *=
                rd_loop_of(m->r->t, k)->axis == m->r->axis ? 1 : rd_loop_of(m->r->t, k)->extent;
        count += times;
    }
    return count;
}

/* All steps of the fold in a row meet the same state, or one by the strip's element, or a few: one for each
 * round of a loop that is written out. */
static bool keeps_cell(const merging *m, int32_t stmt)
{
    const int32_t  fold = m->r->t->stmt[stmt].fold;
    const rd_fold *f    = &m->r->t->p->fold[fold];

    for (int32_t s = m->r->t->stmt[stmt].parent; s != m->loop; s = m->r->t->stmt[s].parent)
        if (rd_loop_of(m->r->t, s)->axis != m->r->axis &&
            rd_coef(&f->cell, rd_loop_of(m->r->t, s)->axis) && !rd_writes_out_loop(m->r, s))
            return false;
    return !rd_coef(&f->cell, axis_of(m)) &&
           (m->fold[fold].lanes || m->r->t->fold[fold].lanes == 1);
}

static bool step_may(const merging *m, int32_t stmt)
{
    const rd_stmt *s = &m->r->t->stmt[stmt];

    return s->label < 0 && !rd_stmt_cuts(m->r->t, stmt) && !m->r->t->fold[s->fold].levels &&
           (m->fold[s->fold].inner || keeps_cell(m, stmt));
}

static bool load_may(const merging *m, int32_t stmt)
{
    const int32_t rereads = rd_loop_of_rereads(m->r, stmt);

    return !rd_is_apart(m->r, stmt) &&
           (rereads < 0 || rereads == m->loop || rd_stands_in(m->r->t, m->loop, rereads));
}

/* A vector loop can do it for a few rows at once; a fold that begins and ends in a row has its states
 * in variables. */
static bool may_go_together(const merging *m, int32_t stmt)
{
    const rd_stmt *s = &m->r->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_BEGIN:
    case RD_S_REST:
    case RD_S_LANES:
    case RD_S_FINISH: return m->fold[s->fold].inner;
    case RD_S_LOOP:
        return rd_loop_of(m->r->t, stmt)->axis == m->r->axis || rd_writes_out_loop(m->r, stmt);
    case RD_S_STORE: return coef(m, &s->at, m->r->axis) == 1;
    case RD_S_STEP:
    case RD_S_PREFIX: return step_may(m, stmt);
    case RD_S_LET: return !rd_stmt_cuts(m->r->t, stmt) && (!load_of(m, stmt) || load_may(m, stmt));
    default: return true;
    }
}

int32_t rd_rounds_for_together(const rd_strip_at *r, const rd_strip *strip,
                               const rd_fold_in_strip *fold, int32_t loop)
{
    enum { MOST = 256 };
    const merging m     = { r, strip, fold, loop };
    const rd_for *l     = rd_loop_of(r->t, loop);
    const int     rows  = rows_of(&m);
    bool          steps = false;

    if (l->backwards || l->of < 0 || l->step != 1 || rd_trips(r->t->p, l->of) < rows ||
        streams_short_rows(&m) || rows * written(&m) > MOST)
        return 0;
    EACH_IN(&m, s)
    {
        const rd_stmt *stmt = &r->t->stmt[s];

        if (!may_go_together(&m, s))
            return 0;
        steps |= (stmt->kind == RD_S_STEP || stmt->kind == RD_S_PREFIX) && !fold[stmt->fold].inner;
    }
    return steps ? rows : 0;
}
