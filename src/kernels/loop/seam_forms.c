/* seam_forms.c - sums of indices in a range of an axis, by operators: see seam_forms.h. */
#include "kernels/loop/seam_forms.h"

static const rd_known unknown = { .is = RD_FORM_UNKNOWN };

/* Notes in r->seam an index at which a value goes over to another form, if it lies inside the
 * range and none was noted before (r->seam == r->lo). */
static void note_seam(rd_seam_range *r, int64_t seam)
{
    if (r->seam == r->lo && seam > r->lo && seam < r->hi)
        r->seam = seam;
}

/* Returns the sum a + times * b of two sums of an index; unknown if one of them is, or on
 * overflow. */
static rd_known plus(rd_known a, int64_t times, rd_known b)
{
    rd_known sum = { .is = RD_FORM_SUM };

    if (a.is != RD_FORM_SUM || b.is != RD_FORM_SUM ||
        __builtin_add_overflow(a.coef, times * b.coef, &sum.coef) ||
        __builtin_sub_overflow(a.offset, -times * b.offset, &sum.offset))
        return unknown;
    return sum;
}

/* Returns the value of a sum, coef * index + offset, at an index. */
static int64_t at_index(rd_known a, int64_t index)
{
    return a.coef * index + a.offset;
}

/* Decides whether a difference, a sum whose coefficient is -1, 0 or 1, is below `less` in all of
 * the range or in none of it: returns 1 or 0. Otherwise it changes at one index, which is noted as
 * a seam; returns -1, also if the difference is unknown. */
static int is_below(rd_seam_range *r, rd_known difference, int64_t less)
{
    const rd_known d = difference;
    bool           first, last;

    if (d.is != RD_FORM_SUM || d.coef < -1 || d.coef > 1)
        return -1;
    first = at_index(d, r->lo) < less;
    last  = at_index(d, r->hi - 1) < less;
    if (first == last)
        return first;
    note_seam(r, d.coef > 0 ? less - d.offset : d.offset - less + 1);
    return -1;
}

/* Returns what the smaller (`least`) or the larger of two sums is: one of the two, or unknown.
 * Where they are equal, the smaller is the first: min(i, 4) goes over at 5, as does the choice i <
 * 5 beside it. */
static rd_known extreme(rd_seam_range *r, rd_known a, rd_known b, bool least)
{
    const int below = is_below(r, plus(a, /*times=*/-1, b), least ? 1 : 0);

    return below < 0 ? unknown : (below > 0) == least ? a : b;
}

/* Returns the truth of a comparison, from is_below()'s answer (1, 0, -1 unknown): it is true if
 * that answer is `when`. */
static rd_known truth_of(int below, bool when)
{
    return below < 0 ? unknown : (rd_known){ .is = RD_FORM_TRUTH, .truth = (below > 0) == when };
}

/* True for operators that make whole numbers of whole numbers, as in addresses of padded arrays. */
bool rd_makes_indices(rd_op op)
{
    return op == RD_OP_add || op == RD_OP_sub || op == RD_OP_minimum || op == RD_OP_maximum;
}

/* True for comparisons of whole numbers that rd_known_of_op() knows. */
bool rd_compares_indices(rd_op op)
{
    return op == RD_OP_lt || op == RD_OP_le || op == RD_OP_gt || op == RD_OP_ge;
}

/* Returns what an operator makes of two values in the range; both are sums of the index. a < b is
 * a - b < 0, a <= b is a - b < 1, and the other two are their negations. */
rd_known rd_known_of_op(rd_seam_range *r, rd_op op, rd_known a, rd_known b)
{
    switch (op) {
    case RD_OP_add: return plus(a, /*times=*/1, b);
    case RD_OP_sub: return plus(a, /*times=*/-1, b);
    case RD_OP_minimum: return extreme(r, a, b, /*least=*/true);
    case RD_OP_maximum: return extreme(r, a, b, /*least=*/false);
    case RD_OP_lt:
        return truth_of(is_below(r, plus(a, /*times=*/-1, b), /*less=*/0), /*when=*/true);
    case RD_OP_le:
        return truth_of(is_below(r, plus(a, /*times=*/-1, b), /*less=*/1), /*when=*/true);
    case RD_OP_gt:
        return truth_of(is_below(r, plus(a, /*times=*/-1, b), /*less=*/1), /*when=*/false);
    case RD_OP_ge:
        return truth_of(is_below(r, plus(a, /*times=*/-1, b), /*less=*/0), /*when=*/false);
    default: return unknown;
    }
}
