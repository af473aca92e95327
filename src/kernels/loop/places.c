/* places.c - addresses at places: whole numbers that follow from indices by sums and clamps.
 *
 * Loops are split where a clamp begins (kernels/pass/seam_split.c).  So whoever asks for the usual
 * stride of such an address gets that of the unclamped index. */
#include "kernels/loop/facts.h"
#include "kernels/loop/seam_forms.h"

/* True if the value is a place: a whole number that follows from indices by sums, differences,
 * minima and maxima, and reads no memory. *coef gets the coefficient of the axis where nothing is
 * clamped: of min(i, 4) that of i, as 4 does not move. `depth` bounds the recursion. Of two
 * operands it is that of the first one that moves. */
static bool is_place(const rd_schedule *t, int32_t value, int32_t axis, int depth, int64_t *coef)
{
    const rd_tree_value *let    = &t->let[value];
    int64_t              own[2] = { 0 };

    *coef = let->kind == RD_I_COORD ? rd_linear_coef(t, &let->at, axis) : 0;
    if (let->kind == RD_I_COORD) {
        for (int32_t k = 0; k < let->at.n; k++)
            if (t->term[let->at.first + k].axis < 0)
                return false;
        return true;
    }
    if (let->kind == RD_I_CONST)
        return true;
    if (let->kind != RD_I_MAP || let->n != 2 || depth == 0 || !rd_makes_indices(let->op))
        return false;
    for (int k = 0; k < 2; k++)
        if (!is_place(t, t->operand[let->first + k], axis, depth - 1, &own[k]))
            return false;
    *coef = own[0] ? own[0] : own[1];
    return true;
}

/* The coefficient of the axis in a position whose values are places (whole numbers that follow
 * from indices, perhaps clamped), with nothing clamped. False: some value is no place, as memory
 * holds it. */
bool rd_coef_at_places(const rd_schedule *t, const rd_linear *at, int32_t axis, int64_t *coef)
{
    enum { DEPTH = 8 };
    int64_t place_coef;

    *coef = rd_linear_coef(t, at, axis);
    for (int32_t k = 0; k < at->n; k++) {
        const rd_linear_term *term = &t->term[at->first + k];

        if (term->axis >= 0)
            continue;
        if (!is_place(t, term->value, axis, DEPTH, &place_coef))
            return false;
        *coef += term->coef * place_coef;
    }
    return true;
}

/* Returns the coefficient of the axis in a position, with nothing clamped; where memory holds a
 * value of the position, that of the axis itself. */
int64_t rd_coef_unclamped(const rd_schedule *t, const rd_linear *at, int32_t axis)
{
    int64_t coef;

    return rd_coef_at_places(t, at, axis, &coef) ? coef : rd_linear_coef(t, at, axis);
}

/* Returns the stride of a LOAD's or STORE's address along the loop, in elements. If it is unknown
 * because of clamped indices, it is that of the unclamped index, which most rounds have. */
rd_stride rd_usual_stride(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    const rd_stmt   *s          = &t->stmt[stmt];
    const rd_linear *at         = s->kind == RD_S_LET ? &t->let[s->value].at : &s->at;
    const rd_for    *of         = rd_loop_of(t, loop);
    rd_stride        stride     = rd_access_stride(t, loop, stmt);
    bool             has_values = false;
    int64_t          coef;

    for (int32_t k = 0; k < at->n; k++)
        has_values |= t->term[at->first + k].axis < 0;
    if (!stride.known && has_values && of->axis < t->p->n_axis &&
        rd_coef_at_places(t, at, of->axis, &coef))
        stride = (rd_stride){ true, coef * (of->step > 1 ? of->step : 1) };
    return stride;
}
