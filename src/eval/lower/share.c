/* share.c - estimates which share of a loop's indices its bounds leave, for cost estimates only.
 *
 * A place is an index counted from 0.  A bound limits a loop's index by a linear form of other
 * indices.  A block table has for each cluster of one axis a list of ranges of the other. */
#include "eval/lower/lower.h"
#include "expr/blocks.h"

/* Number of sample points of the loops around, and of row clusters of a block table. */
enum { SAMPLES = 64 };

/* ---- Masks that compare places --------------------------------------------------------------- */
/* Sample s of an axis in [0, 1): the fraction of (s + 1/2) times a square root. Multiples of
 * square roots of primes spread evenly and independently over several axes (Richtmyer, 1951). */
static double sample(int32_t s, int32_t axis)
{
    /* fractions of the roots of 2, 3, 5, 7, 11 */
    static const double root[] = { 0.41421356, 0.73205081, 0.23606798, 0.64575131, 0.31662479 };
    const double        at     = (s + 0.5) * root[axis % 5];

    return at - (double)(int64_t)at;
}

/* The value of a bound (a sum of loop indices, not negative where a mask is true) without the term
 * of the loop's own axis, at sample s of the other axes. */
static double rest_of(const rd_program *p, const rd_loop *loop, const rd_bound *b, int32_t s)
{
    double sum = (double)b->offset;

    for (int32_t k = 0; k < b->n_add; k++) {
        const double extent = (double)p->axis_extent[b->axis[k]];

        if (b->axis[k] != loop->axis)
            sum += (double)b->coef[k] * (double)(int64_t)(sample(s, b->axis[k]) * extent);
    }
    return sum;
}

/* The mean share of the loop's indices that lie between both bounds, over all samples of the other
 * axes; 1 if a bound depends on data. A bound with n_add 0 does not exist. rest_of() is a
 * bound's value at a sample without the term of the loop itself: the least index is minus that,
 * the greatest that itself. */
static double share_of_places(const rd_program *p, const rd_loop *loop, const rd_bounds *b)
{
    const double extent = (double)p->axis_extent[loop->axis];
    double       left   = 0;

    if (b->low.n_reg || b->high.n_reg || extent < 1) /* registers hold data */
        return 1;
    for (int32_t s = 0; s < SAMPLES; s++) {
        const double from = b->low.n_add ? -rest_of(p, loop, &b->low, s) : 0,
                     to   = b->high.n_add ? rest_of(p, loop, &b->high, s) + 1 : extent,
                     lo = from > 0 ? from : 0, hi = to < extent ? to : extent;

        left += hi > lo ? (hi - lo) / extent : 0;
    }
    return left / SAMPLES;
}

/* ---- Masks by blocks ------------------------------------------------------------------------- */
/* The number of indices in all ranges of list `which` of a block table. The memory holds the
 * starts of all lists (lists + 1 numbers), then the first index and the end of each range. */
static int64_t length_of(const int64_t *list, int64_t lists, int64_t which)
{
    int64_t n = 0;

    for (int64_t r = list[which]; r < list[which + 1]; r++)
        n += list[lists + 2 + 2 * r] - list[lists + 1 + 2 * r];
    return n;
}

/* The mean share of the loop's indices that a block table leaves, over samples of the other axis.
 * `cluster`: for each index of that axis, its cluster. List 2c is that of cluster c alone; odd
 * lists are of two neighbouring clusters. b->list is where the lists begin in the table, in
 * bytes, and b->lists how many there are; length_of() counts the indices in one. */
static double share_of_blocks(const rd_bounds *b, const rd_expr *table, const rd_expr *cluster,
                              int64_t extent)
{
    const int64_t *list =
        (const int64_t *)(const void *)((const char *)table->as.leaf->data + b->list);
    const int32_t *of   = cluster->as.leaf->data;
    const int64_t  n    = cluster->extent[0];
    double         left = 0;

    if (n == 0 || extent == 0)
        return 1;
    for (int32_t s = 0; s < SAMPLES; s++) {
        const int64_t at = (int64_t)((s + 0.5) / SAMPLES * (double)n);

        left += (double)length_of(list, b->lists, 2 * (int64_t)of[at]) / (double)extent;
    }
    return left / SAMPLES;
}

/* ---- Both ------------------------------------------------------------------------------------ */
/* True if a loop around has bounds. Compiled loops take strips (16 to 512 elements that a vector
 * loop takes at once) of an inner axis through the loops around it. So the outermost bounded loop
 * saves all that the mask leaves out, and inner ones nothing more. */
static bool is_bounded_around(const rd_program *p, const rd_loop *loop)
{
    for (int32_t k = loop->parent; k >= 0; k = p->loop[k].parent)
        if (p->loop[k].bounds)
            return true;
    return false;
}

/* The share of a loop's indices that its bounds leave, for estimates of cost: at least one index,
 * at most 1. If a loop around has bounds, it is 1. b->list_at < 0: the bounds are masks of
 * places, else lists of a block table: list_slot is the table's slot, and address list_at reads
 * the clusters. */
double rd_bounds_share(const rd_program *p, const rd_graph *g, const rd_loop *loop,
                       const rd_bounds *b)
{
    const int64_t extent  = p->axis_extent[loop->axis];
    const double  visited = 1 / (double)(extent + 1); /* one index is always visited */
    double        share   = 1;

    if (is_bounded_around(p, loop))
        return 1;
    if (b->list_at < 0)
        share = share_of_places(p, loop, b);
    else
        share = share_of_blocks(b, g->slot[b->list_slot].expr,
                                g->slot[p->address[b->list_at].slot].expr, extent);
    return share > visited ? share : visited;
}
