/* jams.c - which loops of a strip are unrolled and jammed: a few of their rounds go through the vector
 * loop inside together, so that a state is read and written once for all of them; and which rests of
 * rows are as long as the other strips. */
#include "core/caches.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/pass/cuts.h"
#include "kernels/pass/strip_at.h"

typedef struct jamming {
    const rd_strip_at      *r;
    const rd_strip         *strip;
    const rd_fold_in_strip *fold;
    int32_t                 loop;
} jamming;

#define EACH_IN(j, s)                                                       \
    for (int32_t s = rd_next_stmt((j)->r->t, (j)->loop, (j)->loop); s >= 0; \
         s         = rd_next_stmt((j)->r->t, s, (j)->loop))

static const rd_let *load_of(const jamming *j, int32_t stmt)
{
    const rd_stmt *s   = &j->r->t->stmt[stmt];
    const rd_let  *let = s->kind == RD_S_LET ? &j->r->t->let[s->value] : NULL;

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

static int64_t coef(const jamming *j, const rd_linear *at, int32_t axis)
{
    return rd_linear_coef(j->r->t, at, axis);
}

static int32_t axis_of(const jamming *j)
{
    return rd_loop_of(j->r->t, j->loop)->axis;
}

/* ---- Rows of memory --------------------------------------------------------------------------- */
static bool fetches_ahead(const jamming *j)
{
    if (!rd_fetches_rows_behind || !j->strip->wide)
        return false;
    EACH_IN(j, s)
    if (rd_comes_in_rows(j->r->t, s, j->loop, j->r->axis))
        return true;
    return false;
}

/* Rows that come from memory one after the other, and are short, the longest too: several side by
 * side end before prefetchers know them, one by one they are one run.  Of 4 KiB on they are fetched. */
static bool streams_short_rows(const jamming *j)
{
    enum { FETCHED_BYTES = 4096 };
    int64_t row = 0;

    EACH_IN(j, s)
    {
        const rd_let *load = load_of(j, s);

        if (load && coef(j, &load->at, j->r->axis) == 1 && coef(j, &load->at, axis_of(j)) &&
            rd_bytes_of_axes(j->r->t, &load->at, load->type) > rd_cached_bytes()) {
            const int64_t strip = rd_reach(j->r->t->p, j->r->axis) * rd_dtype_size(load->type);

            row = strip > row ? strip : row;
        }
    }
    return row > 0 && row < (fetches_ahead(j) ? FETCHED_BYTES : RD_RUN_BYTES);
}

/* ---- Which loops ------------------------------------------------------------------------------ */
/* So many that what moves to and fro, the states, is little beside what is read. */
static int rows_of(const jamming *j)
{
    int states = 0;

    EACH_IN(j, s)
    {
        const rd_stmt *stmt = &j->r->t->stmt[s];

        if (stmt->kind == RD_S_STEP && !j->fold[stmt->fold].inner)
            states += j->r->t->fold[stmt->fold].of.n_state;
    }
    return states > 2 ? 8 : 4;
}

/* Operations of a round, with those of loops that are written out.  Halves are rounded by a dozen
 * each, of which chains keep gcc's combiner for half a minute. */
static int64_t written(const jamming *j)
{
    enum { ROUNDING = 12, MANY = 1000 };
    int64_t count = 0;

    EACH_IN(j, s)
    {
        const rd_stmt *stmt  = &j->r->t->stmt[s];
        const bool     half  = stmt->n_value && rd_dtype_is_half(j->r->t->let[stmt->value].type);
        int64_t        times = stmt->kind == RD_S_REST || stmt->kind == RD_S_LANES ? 0
                               : half                                              ? ROUNDING
                               : stmt->kind == RD_S_LOOP                           ? 2
                                                                                   : 1;

        for (int32_t k = stmt->parent; k != j->loop && times < MANY; k = j->r->t->stmt[k].parent)
            times *=
                rd_loop_of(j->r->t, k)->axis == j->r->axis ? 1 : rd_loop_of(j->r->t, k)->extent;
        count += times;
    }
    return count;
}

/* All steps of the fold in a row meet the same state, or one by the strip's element. */
static bool keeps_cell(const jamming *j, int32_t stmt)
{
    const int32_t  fold = j->r->t->stmt[stmt].fold;
    const rd_fold *f    = &j->r->t->p->fold[fold];

    for (int32_t s = j->r->t->stmt[stmt].parent; s != j->loop; s = j->r->t->stmt[s].parent)
        if (rd_loop_of(j->r->t, s)->axis != j->r->axis &&
            rd_coef(&f->cell, rd_loop_of(j->r->t, s)->axis))
            return false;
    return !rd_coef(&f->cell, axis_of(j)) &&
           (j->fold[fold].lanes || j->r->t->fold[fold].lanes == 1);
}

static bool step_may(const jamming *j, int32_t stmt)
{
    const rd_stmt *s = &j->r->t->stmt[stmt];

    return s->label < 0 && !rd_stmt_cuts(j->r->t, stmt) && !j->r->t->fold[s->fold].levels &&
           (j->fold[s->fold].inner || keeps_cell(j, stmt));
}

static bool load_may(const jamming *j, int32_t stmt)
{
    const int32_t rereads = rd_loop_of_rereads(j->r, stmt);

    return !rd_is_apart(j->r, stmt) &&
           (rereads < 0 || rereads == j->loop || rd_stands_in(j->r->t, j->loop, rereads));
}

/* A vector loop can do it for a few rows at once; a fold that begins and ends in a row has its states
 * in variables. */
static bool may_go_together(const jamming *j, int32_t stmt)
{
    const rd_stmt *s = &j->r->t->stmt[stmt];

    switch (s->kind) {
    case RD_S_BEGIN:
    case RD_S_REST:
    case RD_S_LANES:
    case RD_S_FINISH: return j->fold[s->fold].inner;
    case RD_S_LOOP:
        return rd_loop_of(j->r->t, stmt)->axis == j->r->axis || rd_writes_out_loop(j->r, stmt);
    case RD_S_STORE: return coef(j, &s->at, j->r->axis) == 1;
    case RD_S_STEP:
    case RD_S_PREFIX: return step_may(j, stmt);
    case RD_S_LET: return !rd_stmt_cuts(j->r->t, stmt) && (!load_of(j, stmt) || load_may(j, stmt));
    default: return true;
    }
}

int32_t rd_rounds_to_jam(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold,
                         int32_t loop)
{
    enum { MOST = 256 };
    const jamming j     = { r, strip, fold, loop };
    const rd_for *l     = rd_loop_of(r->t, loop);
    const int     rows  = rows_of(&j);
    bool          steps = false;

    if (l->backwards || l->of < 0 || l->step != 1 || rd_trips(r->t->p, l->of) < rows ||
        streams_short_rows(&j) || rows * written(&j) > MOST)
        return 0;
    EACH_IN(&j, s)
    {
        const rd_stmt *stmt = &r->t->stmt[s];

        if (!may_go_together(&j, s))
            return 0;
        steps |= (stmt->kind == RD_S_STEP || stmt->kind == RD_S_PREFIX) && !fold[stmt->fold].inner;
    }
    return steps ? rows : 0;
}

/* ---- Rests ------------------------------------------------------------------------------------ */
/* Elements side by side, or one for all. */
static bool load_pads(const jamming *j, int32_t stmt, const rd_let *load)
{
    const int64_t by = coef(j, &load->at, j->r->axis);

    return !rd_has_values(j->r->t, &load->at) && rd_loop_of_rereads(j->r, stmt) < 0 &&
           (by == 0 || by == 1) && load->type != RD_F16 && load->type != RD_BF16 &&
           !rd_program_accesses(j->r->t->p, RD_I_STORE, load->slot);
}

/* May the value be computed for elements that there are not, as none of these can fail or warn? */
static bool let_pads(const jamming *j, int32_t stmt)
{
    const rd_let *let = &j->r->t->let[j->r->t->stmt[stmt].value];

    switch (let->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_SELECT: return true;
    case RD_I_LOAD: return load_pads(j, stmt, let);
    case RD_I_CAST: return !rd_let_cuts(j->r->t, let);
    case RD_I_MAP: {
        const rd_inst inst = {
            .kind = RD_I_MAP, .type = let->type, .from = let->from, .op = let->op
        };

        return !rd_let_cuts(j->r->t, let) && !rd_op_warns(&inst);
    }
    default: return false;
    }
}

bool rd_pads_rest(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold)
{
    const jamming j = { r, strip, fold, r->top };

    if (strip->around || !strip->fixed || strip->one || strip->rest <= 0)
        return false;
    EACH_IN(&j, s)
    {
        const rd_stmt *stmt = &r->t->stmt[s];

        if (stmt->kind == RD_S_LOOP || (stmt->kind == RD_S_LET && let_pads(&j, s)))
            continue;
        if (stmt->kind != RD_S_STEP || !fold[stmt->fold].lanes || rd_stmt_cuts(r->t, s) ||
            r->t->p->fold[stmt->fold].user || r->t->fold[stmt->fold].lanes % strip->width)
            return false;
    }
    return true;
}
