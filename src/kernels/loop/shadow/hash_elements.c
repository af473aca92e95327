/* hash_elements.c - hashes of elements, states and nodes of folds in a shadow run.
 *
 * A state is a hash of its elements in their order, or the sum of their hashes where the order
 * does not count.  The state of no element is RD_OF_NOTHING.
 *
 * Fields. A fold has `user` if its reducer is the caller's own.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/loop/shadow/shadow.h"
#include "kernels/cpu/reference/reducer_functions.h"
#include <string.h>

/* Returns the number of an element's step. A step is one element of each lane (partial
 * accumulator), and a line has as many steps as the lane position fills (rows of
 * lanes). */
int64_t rd_shadow_step_number(const rd_fold *f, const rd_shadow_coords *at)
{
    return at->lane_line * rd_rows_of_lanes(f) + at->lane / f->lanes;
}

/* True if the fold has the same bits for any order of its elements, so that hashes must not depend
 * on the order either. */
bool rd_shadow_is_unordered(const rd_fold *f)
{
    return f->law == RD_LAW_exact || rd_fold_any_grouping(f);
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* True if both states of n numbers are equal. -0 and 0 count as equal, because bounds of loops may
 * leave out all 0s of a sum but one (program.h). */
static bool is_same_state(const rd_word *a, const rd_word *b, int n, rd_class class)
{
    for (int k = 0; k < n; k++) {
        const bool zeros = class == RD_CLASS_f32   ? a[k].f32 == 0 && b[k].f32 == 0
                           : class == RD_CLASS_f64 ? a[k].f64 == 0 && b[k].f64 == 0
                                                   : false;

        if (!zeros && a[k].u64 != b[k].u64)
            return false;
    }
    return true;
}

/* True if the element is a known number that leaves every state as it is, such as 0 in a sum. To
 * find out, the reducer's code takes one step from its identity. w NULL: there is no weight. */
static bool is_neutral(const rd_fold *f, int64_t index, rd_shadow x, const rd_shadow *w)
{
    const rd_class class              = rd_dtype_class(f->type);
    const rd_reducer_code *const code = rd_reducer_code_of(f->reducer, class);
    const rd_word one = rd_word_from_int(/*value=*/1, f->type), word = { .u64 = x.bits };
    rd_word       before[RD_MAX_STATE], after[RD_MAX_STATE];

    if (!x.known || (w && !w->known) || !code || !code->identity || !code->step)
        return false;
    memset(before, 0, sizeof before);
    code->identity(before, f->type);
    memcpy(after, before, sizeof after);
    code->step(after, word, w ? (rd_word){ .u64 = w->bits } : one, index);
    return is_same_state(before, after, rd_reducer_table[f->reducer].n_state, class);
}

/* Makes the element of a step: its cell (accumulator), step and lane (partial accumulator), and
 * the hash of its operands. Masked and neutral elements have the hash RD_OF_NOTHING. The index is
 * hashed only for reducers that may use it: places (argmin) and users' ones. */
rd_shadow_element rd_shadow_element_of(const rd_fold *f, const rd_shadow_coords *at, rd_shadow x,
                                       const rd_shadow *w, const rd_shadow *mask)
{
    const bool        indexed = f->user || rd_reducer_places(f->reducer);
    rd_shadow_element e       = { .cell = at->cell,
                                  .step = rd_shadow_step_number(f, at),
                                  .lane = (int32_t)(at->lane % f->lanes) };

    if ((mask && !rd_shadow_true(*mask)) || is_neutral(f, at->index, x, w))
        return e;
    e.hash = rd_mix(RD_OF_STEP, rd_shadow_hash(x));
    e.hash = rd_mix(e.hash, w ? rd_shadow_hash(*w) : 0);
    e.hash = rd_mix(e.hash, indexed ? (uint64_t)at->index : 0);
    return e;
}

/* ---- States and nodes ------------------------------------------------------------------------ */
/* Returns the hash of `b` behind `a`; `kind` says what joins them. RD_OF_NOTHING (0) on either
 * side changes nothing. Without an order it is the sum of both, but never 0. */
static uint64_t hash_after(const rd_fold *f, uint64_t kind, uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a | b;
    if (!rd_shadow_is_unordered(f))
        return rd_mix(rd_mix(kind, a), b);
    return a + b ? a + b : 1;
}

/* Returns the state after one more element. In an ordered fold even the first element is hashed,
 * as an element by itself is no state. */
uint64_t rd_shadow_step(const rd_fold *f, uint64_t state, uint64_t element)
{
    if (!element || rd_shadow_is_unordered(f))
        return hash_after(f, RD_OF_STEP, state, element);
    return rd_mix(rd_mix(RD_OF_STEP, state), element);
}

/* Returns the node of a finished block (a run of a fold's steps), a hash of its state's hash. A
 * state of 0 has met no element and stays 0. Unordered folds keep the state, as their blocks make
 * no difference. */
uint64_t rd_shadow_block(const rd_fold *f, uint64_t state)
{
    return state && !rd_shadow_is_unordered(f) ? rd_mix(RD_OF_BLOCK, state) : state;
}

/* Returns the hash of the merge of two nodes of the combine tree; in an unordered fold it does not
 * depend on their order. */
uint64_t rd_shadow_merge(const rd_fold *f, uint64_t a, uint64_t b)
{
    return hash_after(f, RD_OF_MERGE, a, b);
}

/* Returns the hash of the merge of two nodes of elements within a block (a run of a fold's steps),
 * of a scan by the tree; in an unordered fold it does not depend on their order. */
uint64_t rd_shadow_join(const rd_fold *f, uint64_t a, uint64_t b)
{
    return hash_after(f, RD_OF_JOIN, a, b);
}

/* Merges the nodes of all lanes (partial accumulators) into node[0]: lane l takes lane l + half,
 * for half = lanes/2 .. 1. */
void rd_shadow_lanes(const rd_fold *f, uint64_t *node)
{
    for (int32_t half = f->lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half; l++)
            node[l] = rd_shadow_merge(f, node[l], node[l + half]);
}

/* Returns the hash of result k of a node (merged elements): it depends on the reducer, the type of
 * results and the node. */
rd_shadow rd_shadow_finish(const rd_fold *f, uint64_t node, int32_t k)
{
    const uint64_t what = (uint64_t)f->reducer << 16 | (uint64_t)f->out << 8 | (uint64_t)k;

    return (rd_shadow){ rd_mix(rd_mix(RD_OF_FINISH, what), node), false };
}
