/* pads.c - strips of rows that are longer in the text than the elements that there are: the last strip of a
 * row is as long as the others, and the only one as long as whole vectors.
 *
 * Of 50 elements compilers make three vectors and two numbers. The next vector of states, or the fold of
 * the lanes, then waits until these are in the cache. Elements behind the last one are 0, and steps of
 * them have no effect. */
#include "kernels/pass/cuts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"

enum { VECTOR = 64 }; /* bytes: of any processor whole vectors */

static const rd_let *load_of(const rd_strip_at *r, int32_t stmt)
{
    const rd_let *let = rd_let_of(r->t, stmt);

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

/* ---- What can be done for elements that there are not ------------------------------------------ */
/* Elements side by side, or one for all. */
static bool load_pads(const rd_strip_at *r, int32_t stmt, const rd_let *load)
{
    const int64_t by = rd_linear_coef(r->t, &load->at, r->axis);

    return !rd_has_values(r->t, &load->at) && rd_loop_of_rereads(r, stmt) < 0 &&
           (by == 0 || by == 1) && !rd_dtype_is_half(load->type) &&
           !rd_program_accesses(r->t->p, RD_I_STORE, load->slot);
}

/* None of these values can fail or warn. */
static bool let_pads(const rd_strip_at *r, int32_t stmt)
{
    const rd_let *let = &r->t->let[r->t->stmt[stmt].value];

    switch (let->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_SELECT: return true;
    case RD_I_LOAD: return load_pads(r, stmt, load_of(r, stmt));
    case RD_I_CAST: return !rd_let_cuts(r->t, let);
    case RD_I_MAP: {
        const rd_inst inst = {
            .kind = RD_I_MAP, .type = let->type, .from = let->from, .op = let->op
        };

        return !rd_let_cuts(r->t, let) && !rd_op_warns(&inst);
    }
    default: return false;
    }
}

/* ---- Lanes of a row ---------------------------------------------------------------------------- */
/* Does a lane that no element came to change no bit of another one that it merges with? */
static bool has_nothing(const rd_fold *f)
{
    switch (f->reducer) {
    case RD_RED_sum:
    case RD_RED_dot:
    case RD_RED_prod:
    case RD_RED_min:
    case RD_RED_max:
    case RD_RED_argmin:
    case RD_RED_argmax: return !rd_dtype_is_half(f->type) && !rd_small_type(f->type);
    default: return false;
    }
}

/* Lanes that fill vectors. */
static int32_t padded(const rd_fold *f, int32_t lanes)
{
    const int32_t whole = VECTOR / rd_register_size(f->type);

    return (lanes + whole - 1) / whole * whole;
}

/* All lanes in one block, of a row that is more than a vector and fills none. */
static bool lanes_pad(const rd_strip_at *r, const rd_strip *strip, int32_t fold)
{
    const rd_fold *f = &r->t->p->fold[fold];

    return has_nothing(f) && f->n_cell == 1 && !f->n_group && !f->scan &&
           !r->t->fold[fold].tree_rows && !r->t->fold[fold].split && strip->width > padded(f, 1) &&
           strip->width != padded(f, strip->width) && padded(f, strip->width) <= f->lanes;
}

/* Do all states of the fold lie in its first array, with room for so many lanes? */
static bool has_room(const rd_schedule *t, int32_t fold, int32_t lanes)
{
    for (int32_t k = t->p->n_fold; k < t->n_store; k++)
        if (t->store[k].fold == fold)
            return false;
    return t->store[fold].extent >= lanes;
}

void rd_pad_lanes(rd_schedule *t, int32_t stmt, int32_t width)
{
    int32_t lanes = 0;

    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP) {
            const int32_t own = padded(&t->p->fold[t->stmt[s].fold], width);

            lanes = own > lanes ? own : lanes;
        }
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP && !has_room(t, t->stmt[s].fold, lanes))
            return;
    t->loop[t->stmt[stmt].arg].padded = lanes;
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP)
            t->store[t->stmt[s].fold].lanes = lanes;
}

/* ---- All together ------------------------------------------------------------------------------ */
static bool step_pads(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold,
                      int32_t stmt)
{
    const int32_t k = r->t->stmt[stmt].fold;

    return fold[k].lanes && !rd_stmt_cuts(r->t, stmt) && !r->t->p->fold[k].user &&
           r->t->fold[k].lanes % strip->width == 0 && (!strip->one || lanes_pad(r, strip, k));
}

bool rd_pads_rest(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold)
{
    if (strip->around || strip->whole || !strip->fixed || (!strip->one && strip->rest <= 0))
        return false;
    RD_EACH_IN (r, s)
        switch (r->t->stmt[s].kind) {
        case RD_S_LOOP: break;
        case RD_S_LET:
            if (!let_pads(r, s))
                return false;
            break;
        case RD_S_STEP:
            if (!step_pads(r, strip, fold, s))
                return false;
            break;
        default: return false;
        }
    return true;
}
