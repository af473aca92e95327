/* seam_forms.h - what whole numbers that follow from indices are in a range of one axis: sums, and
 * the truth of their comparisons.
 *
 * A seam is an index at which a clamp or a comparison goes over from one side to the other.  Left
 * and right of it min(i, 4) is i and 4, and i < 5 is true and false.
 *
 * Loops are split at seams (kernels/pass/seam_split.c), and so are tiles
 * (kernels/cpu/tile/plan/seams.c). */
#ifndef RD_KERNELS_LOOP_SEAM_FORMS_H
#define RD_KERNELS_LOOP_SEAM_FORMS_H
#include "core/ops.h"

/* What a value is in a range: coef * index + offset, or a truth. */
typedef enum rd_known_form { RD_FORM_UNKNOWN, RD_FORM_SUM, RD_FORM_TRUTH } rd_known_form;
typedef struct rd_known {
    rd_known_form is;
    bool          truth;
    int64_t       coef, offset;
} rd_known;

/* Indices of an axis, from lo to hi - 1. */
typedef struct rd_seam_range {
    int64_t lo, hi;
    int64_t seam; /* where some value of the range goes over to another form; lo: nowhere */
} rd_seam_range;

/* What is known of a value: it is the sum coef * index + offset. */
static inline rd_known rd_known_sum(int64_t coef, int64_t offset)
{
    return (rd_known){ .is = RD_FORM_SUM, .coef = coef, .offset = offset };
}

/* True for operators on whole numbers that rd_known_of_op() knows: sums, differences and clamps;
 * rd_compares_indices(): comparisons. */
bool rd_makes_indices(rd_op op);
bool rd_compares_indices(rd_op op);
/* What such an operator makes of two values.  Unknown if that changes inside the range: then
 * r->seam is where, if it is one index. */
rd_known rd_known_of_op(rd_seam_range *r, rd_op op, rd_known a, rd_known b);
#endif
