/* pad_tail.c - Decides which strips are padded: the last strip of a row has the length of the
 * others in the text, and an only strip has the length of whole vectors (masked tail).
 *
 * For 50 elements compilers make three vectors and two scalars. The next vector of states, or
 * the merge of lanes, then waits until the scalars are in the cache. Elements behind the last
 * one are 0, and their steps have no effect.
 *
 * A strip is a range of indices that a vector loop takes; `fixed`: of a length that the text
 * knows; `single`: it is the whole row.  A lane is one of the accumulators of a fold, to which
 * elements go in turn. */
#include "kernels/pass/fission_points.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_at.h"

/* Bytes of the longest vector, so that 64 bytes are whole vectors on any processor. */
enum { VECTOR = 64 };

/* Returns the LOAD that the statement makes; NULL: it is another statement. */
static const rd_tree_value *load_of(const rd_strip_at *r, int32_t stmt)
{
    const rd_tree_value *let = rd_let_of(r->t, stmt);

    return let && let->kind == RD_I_LOAD ? let : NULL;
}

/* ---- Values of elements behind the last ------------------------------------------------------ */
/* True if elements behind the last one may be taken as 0: the load is of adjacent elements (by 1),
 * or of one for all (by 0), at an address without data. The program does not write the array, and
 * no loop rereads it, as another pass packs those. */
static bool can_pad_load(const rd_strip_at *r, int32_t stmt, const rd_tree_value *load)
{
    const int64_t stride = rd_linear_coef(r->t, &load->at, r->axis);

    return !rd_is_data_dependent(r->t, &load->at) && rd_loop_of_rereads(r, stmt) < 0 &&
           (stride == 0 || stride == 1) && !rd_dtype_is_narrow_float(load->type) &&
           !rd_program_accesses(r->t->p, RD_I_STORE, load->slot);
}

/* True if the value can be computed for elements that do not exist: it is no call, no checked
 * index, and no operator that may warn of a division by 0. Nor is it made by a loop of its own
 * (fission). */
static bool can_pad_let(const rd_strip_at *r, int32_t stmt)
{
    const rd_tree_value *let = &r->t->let[r->t->stmt[stmt].value];

    switch (let->kind) {
    case RD_I_CONST:
    case RD_I_COORD:
    case RD_I_SELECT: return true;
    case RD_I_LOAD: return can_pad_load(r, stmt, load_of(r, stmt));
    case RD_I_CAST: return !rd_let_needs_fission(r->t, let);
    case RD_I_MAP: {
        const rd_inst inst = {
            .kind = RD_I_MAP, .type = let->type, .from = let->from, .op = let->op
        };

        return !rd_let_needs_fission(r->t, let) && !rd_op_warns(&inst);
    }
    default: return false;
    }
}

/* ---- Lanes of a row -------------------------------------------------------------------------- */
/* True if a lane (partial accumulator) without elements changes no bit of a lane with which it is
 * merged, and elements are as wide in memory as in registers. */
static bool has_neutral_lanes(const rd_fold *f)
{
    return rd_reducer_pads(f->reducer) && !rd_dtype_is_narrow_float(f->type) &&
           !rd_small_type(f->type);
}

/* Returns the number of lanes (partial accumulators), rounded up to whole vectors of 64 bytes.
 * `whole`: lanes of one vector. */
static int32_t padded_lanes(const rd_fold *f, int32_t lanes)
{
    const int32_t whole = VECTOR / rd_register_size(f->type);

    return (lanes + whole - 1) / whole * whole;
}

/* True if the only strip (a range that vector loops visit) of a row can be padded with lanes
 * (partial accumulators) without elements. A row is one cell (accumulator) in one block (no tree),
 * longer than a vector but not whole vectors, and whole vectors have no more lanes than the fold.
 * It is no scan, has no groups, and is not shared by tasks (split). */
static bool can_pad_lanes(const rd_strip_at *r, const rd_strip *strip, int32_t fold)
{
    const rd_fold *f = &r->t->p->fold[fold];

    return has_neutral_lanes(f) && f->n_cell == 1 && !f->n_group && !f->scan &&
           !r->t->fold[fold].tree_rows && !r->t->fold[fold].split &&
           strip->width > padded_lanes(f, /*lanes=*/1) &&
           strip->width != padded_lanes(f, strip->width) &&
           padded_lanes(f, strip->width) <= f->lanes;
}

/* True if the fold's first array has so many states, and no other array holds states of it. Array
 * number k < n_fold is the first of fold k; those from n_fold on are added by passes. */
static bool has_room(const rd_schedule *t, int32_t fold, int32_t lanes)
{
    for (int32_t k = t->p->n_fold; k < t->n_store; k++)
        if (t->store[k].fold == fold)
            return false;
    return t->store[fold].extent >= lanes;
}

/* Pads the loop over the only strip (a range that vector loops visit) of a row to the most lanes
 * (partial accumulators) that a step's fold needs in whole vectors, if the state arrays have room.
 * Rounds behind the row's last element then step into lanes that stay neutral. */
void rd_pad_lanes(rd_schedule *t, int32_t stmt, int32_t width)
{
    int32_t lanes = 0;

    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP) {
            const int32_t needed = padded_lanes(&t->p->fold[t->stmt[s].fold], width);

            lanes = needed > lanes ? needed : lanes;
        }
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP && !has_room(t, t->stmt[s].fold, lanes))
            return;
    t->loop[t->stmt[stmt].arg].padded = lanes;
    for (int32_t s = stmt; s >= 0; s = rd_next_stmt(t, s, stmt))
        if (t->stmt[s].kind == RD_S_STEP)
            t->store[t->stmt[s].fold].lanes = lanes;
}

/* ---- All together ---------------------------------------------------------------------------- */
/* True if elements of the strip go to lanes (partial accumulators) of a built-in reducer, the step
 * is no call, and the strip's width divides the number of lanes. An only strip also needs room for
 * whole vectors. */
static bool can_pad_step(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold,
                         int32_t stmt)
{
    const int32_t k = r->t->stmt[stmt].fold;

    return fold[k].lanes && !rd_stmt_needs_fission(r->t, stmt) && !r->t->p->fold[k].user &&
           r->t->fold[k].lanes % strip->width == 0 &&
           (!strip->single || can_pad_lanes(r, strip, k));
}

/* True if the last strip (a range that vector loops visit) may be padded. Strips have a fixed
 * length and a shorter tail, or there is one strip. Each statement of the region (loops that share
 * strips) is a loop, or a value or a step that can be padded. A tail of 0 or -1 is none, or not
 * known. Not if the region only holds loops over the axis (`around`), or one accumulator takes the
 * whole strip (one_state). */
bool rd_pads_tail(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold)
{
    if (strip->around || strip->one_state || !strip->fixed || (!strip->single && strip->tail <= 0))
        return false;
    RD_EACH_IN (r, s)
        switch (r->t->stmt[s].kind) {
        case RD_S_LOOP: break;
        case RD_S_LET:
            if (!can_pad_let(r, s))
                return false;
            break;
        case RD_S_STEP:
            if (!can_pad_step(r, strip, fold, s))
                return false;
            break;
        default: return false;
        }
    return true;
}
