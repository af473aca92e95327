/* element_cells.c - cells of a fold along several axes, such as the three components of a force
 * on each point.
 *
 * Where the fold begins in a strip of points, each point has states of its own.  Its cells are
 * those along the other axes:
 *
 *     cell i0 - m0 + 8000*i1      cell i1, of three for each point
 *
 * This is possible where cell numbers are mixed-radix numbers: the strip's axis is one digit,
 * and the other axes make whole digits below and above it.
 *
 * A mark such as m0 is the first index of the current strip, so i0 - m0 counts the points of the
 * strip. */
#include "kernels/loop/facts.h"

enum { MOST_CELLS = 128 }; /* of an element: those of a few stay in registers, others in a cache */

/* Finds the axis in the cell's number, which is a mixed-radix number with an axis for each digit:
 * the digit's weight *coef, and how many values *range it has. False: the axis is not in it. A
 * `local` index counts within a tile, so it has at most rd_most_indices() values. */
static bool find_digit(const rd_program *p, const rd_fold *f, int32_t axis, int64_t *coef,
                       int64_t *range)
{
    *coef = 0;
    for (int32_t k = 0; k < f->cell.n_add; k++)
        if (f->cell.add[k].axis == axis) {
            *coef  = f->cell.add[k].coef;
            *range = f->cell.add[k].local ? rd_most_indices(p, axis) : p->axis_extent[axis];
        }
    return *coef > 0 && *range > 0;
}

/* Returns how many cells (accumulators) each element of a strip (a range that vector loops visit)
 * along the axis has of its own: n_cell / (values of the axis's digit). 0: that is too many, or
 * the other axes do not make whole digits below or above the axis's digit in the cell's number. */
int64_t rd_cells_of_element(const rd_schedule *t, int32_t fold, int32_t axis)
{
    const rd_fold *f     = &t->p->fold[fold];
    int64_t        below = 0, coef = 0, range = 1;

    if (!find_digit(t->p, f, axis, &coef, &range) || f->cell.offset || f->n_cell % range ||
        f->n_cell / range > MOST_CELLS)
        return 0;
    for (int32_t k = 0; k < f->cell.n_add; k++) {
        const rd_addend *add = &f->cell.add[k];

        /* A value, a backward axis, or another axis that is counted from its own range. */
        if (add->axis < 0 || add->coef < 0 || (add->axis != axis && add->local))
            return 0;
        if (add->axis != axis && add->coef % (coef * range) != 0)
            below += add->coef * (t->p->axis_extent[add->axis] - 1);
    }
    return below < coef ? f->n_cell / range : 0;
}

/* Returns the cell's number without the digit of the strip's axis: 8000*i1 + i0 - m0 becomes i1 if
 * i0 has 8000 values. Digits above are divided by its range; marks of the strip (m0) vanish, too.
 */
rd_linear rd_cell_of_element(rd_schedule *t, int32_t fold, int32_t axis, rd_linear cell)
{
    rd_linear made = rd_linear_of(0);
    int64_t   coef = 0, range = 1;

    if (!find_digit(t->p, &t->p->fold[fold], axis, &coef, &range))
        return made; /* no other axis has a digit: there is one cell */
    for (int32_t k = 0; k < cell.n && !t->failed; k++) {
        const rd_linear_term term = t->term[cell.first + k];

        if (term.axis != axis && term.axis >= 0 && term.axis < t->p->n_axis)
            made = rd_linear_plus_axis(
                t, made, term.coef % (coef * range) ? term.coef : term.coef / range, term.axis);
    }
    return made;
}
