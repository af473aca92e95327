/* leaves.c - the arrays: types, sizes, shapes, layouts, and their numbers. */
#include "sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const rd_dtype types[]   = { RD_F32, RD_F64, RD_F16, RD_BF16, RD_I8,  RD_I16, RD_I32,
                                    RD_I64, RD_U8,  RD_U16, RD_U32,  RD_U64, RD_BOOL };
static const int      weights[] = { 40, 25, 4, 4, 2, 2, 7, 4, 6, 2, 1, 1, 2 };

rd_dtype sweep_draw_type(dice *d)
{
    return types[sweep_weighted(d, weights, 13)];
}

rd_dtype sweep_draw_float(dice *d)
{
    return types[sweep_weighted(d, weights, 4)];
}

/* Tiny, small, of the caches, of memory. */
double sweep_draw_count(dice *d, const program *p, rd_dtype type)
{
    static const double bytes[][2] = {
        { 100, 4e3 }, { 4e3, 1e5 }, { 1e5, 1e6 }, { 1e6, 8e6 }, { 8e6, 6.4e7 }
    };
    static const int share[] = { 10, 20, 30, 30, 10 };
    const int        k       = sweep_weighted(d, share, 5);
    const double     n       = (double)sweep_log_between(d, bytes[k][0], bytes[k][1]);

    return fmax(12, fmin(n, p->max_bytes) / sweep_dtype(type)->size);
}

static void split(dice *d, double count, int first, int end, shape *s)
{
    double w[MOST_RANK], sum = 0;

    for (int k = first; k < end; k++)
        sum += w[k] = sweep_between(d, 0.25, 1);
    for (int k = first; k < end; k++)
        s->n[k] = (int64_t)fmax(1, round(pow(count, w[k] / sum)));
}

/* Short inner axes, long thin ones, powers of two, or anything. */
shape sweep_draw_shape(dice *d, double count, int rank)
{
    static const int64_t shorts[] = { 2, 3, 3, 4, 5, 7, 8, 16, 37, 64 };
    static const int     ranks[]  = { 15, 45, 25, 10, 5 };
    shape                s        = { .rank = rank ? rank : 1 + sweep_weighted(d, ranks, 5) };
    const int            style    = sweep_roll(d, 10);
    int                  first = 0, end = s.rank;

    if (style < 3 && s.rank > 1)
        count /= (double)(s.n[--end] = shorts[sweep_roll(d, 10)]);
    if (style == 0 && end > 1)
        count /= (double)(s.n[first++] = shorts[sweep_roll(d, 5)]);
    if (first < end)
        split(d, fmax(1, count), first, end, &s);
    for (int k = 0; k < s.rank && style == 9; k++)
        s.n[k] = (int64_t)exp2(round(log2((double)s.n[k])));
    return s;
}

static void shuffle(dice *d, int *order, int n)
{
    for (int k = n - 1; k > 0; k--) {
        const int i = sweep_roll(d, k + 1), t = order[k];

        order[k] = order[i];
        order[i] = t;
    }
}

/* Strides of one array inside a larger one: axes in any order in memory, padded, every other
 * one, reversed. */
static void lay_out(dice *d, leaf *l)
{
    enum { PLAIN, ORDERED, REVERSED, SPARSE, PADDED, REPEATED };
    static const int share[] = { 58, 16, 7, 7, 8, 4 };
    const int        style   = d ? sweep_weighted(d, share, 6) : PLAIN;
    const int        axis    = d && l->rank ? sweep_roll(d, l->rank) : 0;
    int              order[MOST_RANK];
    int64_t          stride = 1;

    for (int k = 0; k < l->rank; k++)
        order[k] = k;
    if (style == ORDERED)
        shuffle(d, order, l->rank);
    for (int k = l->rank - 1; k >= 0; k--) {
        const int a = order[k];

        l->stride[a] = stride * (style == SPARSE && a == axis ? 2 : 1);
        stride       = l->stride[a] * l->n[a] + (style == PADDED ? 1 + sweep_roll(d, 7) : 0);
        if (style == REPEATED && a == axis && l->rank > 1) {
            stride       = l->stride[a];
            l->stride[a] = 0;
        }
        if (style == REVERSED && a == axis) {
            l->first += (l->n[a] - 1) * l->stride[a];
            l->stride[a] = -l->stride[a];
        }
    }
    if (style == PADDED)
        l->first = 1 + sweep_roll(d, 9);
    l->elements = stride + (style == PADDED ? 10 : 0);
}

static node *make(dice *d, program *p, rd_dtype type, const shape *s, double lo, double hi)
{
    leaf *l = &p->leaves[p->n_leaves];
    node *a;

    if (p->n_leaves == MOST_LEAVES)
        return NULL;
    a = sweep_node(p, N_LEAF, type);
    if (!a)
        return NULL;
    *l = (leaf){ .type = type, .rank = s->rank, .lo = lo, .hi = hi };
    memcpy(l->n, s->n, sizeof l->n);
    lay_out(d, l);
    a->leaf  = p->n_leaves++;
    a->rank  = s->rank;
    a->r     = (range){ lo, hi, 0 };
    a->exact = true;
    memcpy(a->n, s->n, sizeof a->n);
    return a;
}

node *sweep_draw_leaf(dice *d, program *p, rd_dtype type, const shape *s, double lo, double hi)
{
    return make(d, p, type, s, lo, hi);
}

node *sweep_plain_leaf(program *p, rd_dtype type, const shape *s, double lo, double hi)
{
    return make(NULL, p, type, s, lo, hi);
}

void sweep_nan_leaves(program *p, double share)
{
    for (int k = 0; k < p->n_leaves; k++)
        if (sweep_dtype(p->leaves[k].type)->is_float)
            p->leaves[k].nans = share;
}

/* ---- Memory ---------------------------------------------------------------------------------- */
/* Huge pages are asked for: with small ones page walks would be measured. */
void *sweep_memory(size_t bytes)
{
    const size_t unit = bytes < 1 << 20 ? 4096 : 2 << 20, room = (bytes + unit) / unit * unit;
    void        *at = aligned_alloc(unit, room);

    if (!at) {
        fprintf(stderr, "rdim-sweep: no memory for %zu bytes\n", bytes);
        exit(1);
    }
#ifdef MADV_HUGEPAGE
    if (unit > 4096)
        madvise(at, room, MADV_HUGEPAGE);
#endif
    memset(at, 0, room);
    return at;
}

static uint16_t upper_half(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7fc0 : (uint16_t)(bits >> 16); /* towards zero: still inside the range */
}

static uint16_t half(float x)
{
    uint32_t bits;
    int      top;

    memcpy(&bits, &x, sizeof bits);
    top = (int)(bits >> 23 & 255) - 112;
    if (x != x)
        return 0x7e00;
    return (uint16_t)((bits >> 16 & 0x8000) |
                      (top <= 0 ? 0 : (uint32_t)top << 10 | (bits >> 13 & 1023)));
}

static void put(void *at, rd_dtype type, int64_t i, double x)
{
    switch (type) {
    case RD_I8: ((int8_t *)at)[i] = (int8_t)x; break;
    case RD_I16: ((int16_t *)at)[i] = (int16_t)x; break;
    case RD_I32: ((int32_t *)at)[i] = (int32_t)x; break;
    case RD_I64: ((int64_t *)at)[i] = (int64_t)x; break;
    case RD_U16: ((uint16_t *)at)[i] = (uint16_t)x; break;
    case RD_U32: ((uint32_t *)at)[i] = (uint32_t)x; break;
    case RD_U64: ((uint64_t *)at)[i] = (uint64_t)x; break;
    case RD_F16: ((uint16_t *)at)[i] = half((float)x); break;
    case RD_BF16: ((uint16_t *)at)[i] = upper_half((float)x); break;
    case RD_F32: ((float *)at)[i] = (float)x; break;
    case RD_F64: ((double *)at)[i] = x; break;
    default: ((uint8_t *)at)[i] = (uint8_t)x; break;
    }
}

static void fill(leaf *l, uint64_t seed)
{
    const bool real = sweep_dtype(l->type)->is_float;
    dice       d    = { seed };

    l->memory = sweep_memory((size_t)l->elements * (size_t)sweep_dtype(l->type)->size);
    for (int64_t i = 0; i < l->elements; i++) {
        const uint64_t bits = sweep_random(&d);
        const double   u    = (double)(bits >> 40) * 0x1p-24;
        const double   x    = real && !l->whole ? l->lo + (l->hi - l->lo) * u
                                                : floor(l->lo + (l->hi - l->lo + 1) * u);

        put(l->memory, l->type, i, real && (double)(bits & 0xffff) < l->nans * 65536 ? NAN : x);
    }
}

void sweep_fill(program *p)
{
    for (int k = 0; k < p->n_leaves; k++)
        if (!p->leaves[k].memory)
            fill(&p->leaves[k], p->seed * 16 + (uint64_t)k);
}
