/* pack_strided.c - The pass pack_strided packs strided and gathered elements into arrays, by
 * vector loops of their own. Packing loops often do not vectorise; all other loops then do.
 *
 *     vector i0 { r9 = load s0[3 * i0]; a5[i0 - m0] = r9 }
 *     vector i0 { r4 = load a5[i0 - m0]; .. }
 *
 * A plane is one component of interleaved elements, such as the red of an image's pixels.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time. A loop
 * is `by_call` if the text runs it by one call of a function.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"
#include <stdlib.h>

/* True if the value is made in a vector loop over the axis, so that each element of a strip has
 * its own. */
static bool is_of_element(const rd_schedule *t, int32_t value, int32_t axis)
{
    for (int32_t s = t->let[value].made_by; s >= 0; s = t->stmt[s].parent)
        if (rd_is_vector(t, s) && rd_loop_of(t, s)->axis == axis)
            return true;
    return false;
}

/* True if a term of the address is a value (axis < 0) that differs between elements. */
static bool is_gather(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0 && is_of_element(t, t->term[at->first + k].value, axis))
            return true;
    return false;
}

/* True if the load reads adjacent f16 at an address without values (axis < 0). Vector instructions
 * widen such a row, but compilers do not use them, so a function of the generated C does it. */
static bool is_row_of_halves(const rd_schedule *t, const rd_tree_value *let, int32_t axis)
{
    for (int32_t k = 0; k < let->at.n; k++)
        if (t->term[let->at.first + k].axis < 0)
            return false;
    return let->type == RD_F16 && rd_linear_coef(t, &let->at, axis) == 1;
}

/* True if the value is a load from the program's memory (slot >= 0) that is a gather, strided
 * along the axis, or of f16. */
static bool needs_packing_in_vector(const rd_schedule *t, const rd_tree_value *let, int32_t axis)
{
    const int64_t coef = rd_linear_coef(t, &let->at, axis);

    if (let->kind != RD_I_LOAD || let->slot < 0)
        return false;
    return is_gather(t, &let->at, axis) || (coef != 1 && coef != 0) ||
           (let->type == RD_F16 && coef);
}

/* True if the load depends on statements of its loop: a value in its address (axis < 0) is made
 * there, or a STORE before it writes to its memory. A packing loop before the loop would then load
 * too early. */
static bool is_dependent_load(const rd_schedule *t, int32_t loop, int32_t load)
{
    const rd_tree_value *let = &t->let[t->stmt[load].value];

    for (int32_t k = 0; k < let->at.n; k++) {
        const rd_linear_term *term = &t->term[let->at.first + k];

        if (term->axis < 0 && rd_stands_in(t, t->let[term->value].made_by, loop))
            return true;
    }
    for (int32_t s = t->stmt[loop].first; s != load; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_STORE && t->stmt[s].slot == let->slot)
            return true;
    return false;
}

/* True if the loop holds only pairs: a load, and a store of its value into an array. Pass
 * `pack_rereads` makes such loops, too. */
static bool is_packing_loop(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[t->stmt[s].next].next) {
        const rd_stmt *const load = &t->stmt[s], *const storing =
                                                     load->next >= 0 ? &t->stmt[load->next] : NULL;

        if (load->kind != RD_S_LET || !storing || storing->kind != RD_S_STORE ||
            storing->store < 0 || storing->x != load->value)
            return false;
    }
    return true;
}

/* True if the two loads read planes of one array of 2 to 4 interleaved planes, such as colours of
 * an image: their addresses differ by less than the distance of pixels.  In one loop compilers
 * load all planes at once and shuffle. */
static bool are_planes_of_array(const rd_schedule *t, const rd_tree_value *x,
                                const rd_tree_value *y, int32_t axis)
{
    enum { MOST = 4 };
    const int64_t coef    = llabs(rd_linear_coef(t, &x->at, axis));
    rd_linear     shifted = y->at;

    shifted.offset = x->at.offset;
    return coef > 1 && coef <= MOST && x->slot == y->slot && x->type == y->type &&
           llabs(y->at.offset - x->at.offset) < coef && rd_linear_same(t, &x->at, &shifted);
}

/* Returns the packing loop before `loop`, with only declarations and other packing loops between,
 * that packs another plane (interleaved component) of the same array; -1: there is none, or it is
 * by call: its function takes exactly its three loads. */
static int32_t packing_loop_of_planes(const rd_schedule *t, int32_t loop, const rd_tree_value *let)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;

    for (int32_t s = t->stmt[loop].prev; s >= 0; s = t->stmt[s].prev) {
        if (t->stmt[s].kind == RD_S_ARRAY)
            continue;
        if (!rd_is_vector(t, s) || rd_loop_of(t, s)->axis != axis || !is_packing_loop(t, s))
            return -1;
        if (are_planes_of_array(t, &t->let[t->stmt[t->stmt[s].first].value], let, axis))
            return rd_loop_of(t, s)->by_call ? -1 : s;
    }
    return -1;
}

/* True if the three offsets are consecutive, in any order: each of the three bits of `seen` is set
 * once. They need not begin at a pixel: a plane may be that of the pixel before or behind. */
static bool are_neighbours(const int64_t at[3])
{
    int64_t  least = at[0];
    unsigned seen  = 0;

    for (int k = 1; k < 3; k++)
        least = at[k] < least ? at[k] : least;
    for (int k = 0; k < 3; k++)
        seen |= at[k] - least < 3 ? 1u << (at[k] - least) : 0;
    return seen == 7;
}

/* True if the loop packs three planes of bytes of pixels that lie 3 bytes apart.  Two shuffles
 * separate 16 pixels; compilers find slower code. */
static bool are_three_byte_planes(const rd_schedule *t, int32_t loop)
{
    const rd_tree_value *first = &t->let[t->stmt[t->stmt[loop].first].value];
    int64_t              at[3];
    int                  n = 0;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_LET && n++ < 3)
            at[n - 1] = t->let[t->stmt[s].value].at.offset;
    return n == 3 && are_neighbours(at) && first->type == RD_U8 &&
           rd_linear_coef(t, &first->at, rd_loop_of(t, loop)->axis) == 3;
}

/* Packs the elements of one load by a loop of its own, or in a loop that packs another plane of
 * the same array. If the load depends on statements of the loop, the loop is split there first.
 * Returns the loop in which the load stands then. Rows of halves, and three planes of bytes, have
 * a function in the generated C, so their loop is by call. */
static int32_t pack_load(rd_schedule *t, int32_t loop, int32_t load)
{
    const int32_t       value     = t->stmt[load].value;
    const rd_tree_value let       = t->let[value];
    const bool          is_halves = is_row_of_halves(t, &let, rd_loop_of(t, loop)->axis);
    int32_t             planes    = -1;

    if (is_dependent_load(t, loop, load))
        loop = rd_split_vector(t, load, loop);
    else
        planes = packing_loop_of_planes(t, loop, &let);
    if (planes >= 0) {
        rd_pack_in_same_loop(t, planes, loop, value);
        t->loop[t->stmt[planes].arg].by_call = are_three_byte_planes(t, planes);
    } else
        rd_pack_value(t, loop, value, let.type, is_halves);
    return loop;
}

/* Packs all loads of a vector loop that need packing.  A packing loop, as a pass has added it,
 * stays.  pack_load() may split the loop; it returns the one in which the load stands then. */
static void pack_loads(rd_schedule *t, int32_t loop)
{
    if (t->stmt[loop].first < 0 || is_packing_loop(t, loop))
        return;
    for (int32_t s = t->stmt[loop].first; s >= 0 && !t->failed; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_LET &&
            needs_packing_in_vector(t, &t->let[t->stmt[s].value], rd_loop_of(t, loop)->axis))
            loop = pack_load(t, loop, s);
}

/* The pass: strided and gathered elements of each vector loop are packed into arrays by loops of
 * their own, as the others vectorise better then.  Statements from n on are those that the pass has
 * added. */
void rd_pass_pack_strided(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k]))
            if (s < n && rd_is_vector(t, s) && !rd_loop_of(t, s)->by_call)
                pack_loads(t, s);
}
