/* axes.h - loop axes while the graph is collected: which dims of which expressions share a loop.
 *
 * Every materialised value has fresh axes.  Two are unified when a value is read along both.
 * They are kept distinct when one loop nest needs both at once.  A reshape that merges axes
 * splits one in two. */
#ifndef RD_EVAL_COLLECT_AXES_H
#define RD_EVAL_COLLECT_AXES_H
#include "eval/ir.h"

enum { RD_RAW_AXES = 512, RD_RAW_WORDS = RD_RAW_AXES / 64 };

/* A raw axis: one loop axis before unification (an element of a union-find structure). */
typedef struct rd_raw_axis {
    int64_t extent; /* number of indices */
    int32_t parent; /* union-find                                               */
    /* after a split: index = outer * extent(inner) + inner; else -1 */
    int32_t outer, inner;
    /* may not be split: the axis of a scan, or a dim of a stored value */
    bool     fixed;
    bool     tree;                 /* floats are summed along it, and a reshape may split it */
    uint64_t member[RD_RAW_WORDS]; /* of a root: all axes unified with it */
    uint64_t apart[RD_RAW_WORDS];  /* of a root: axes that must stay distinct from it */
} rd_raw_axis;

/* All raw axes of a collector. */
typedef struct rd_axes {
    rd_ctx      *ctx;
    rd_pool     *pool;
    int32_t      n, room;   /* raw axes; raw axes that have memory */
    rd_raw_axis *at;        /* changes its address when it grows */
    int32_t      traversal; /* number of the latest traversal of indices */
} rd_axes;

/* A new axis, or -1 after recording RD_ERR_LIMIT or RD_ERR_MEMORY. */
int  rd_axes_new(rd_axes *axes, int64_t extent);
int  rd_axes_root(const rd_axes *axes, int axis);
void rd_axes_apart(rd_axes *axes, int a, int b);
/* True if a and b may be unified: equal extents, not kept distinct, not split.  The axis of a
 * float sum that a reshape may split is not unified with a fixed axis: its bits must be those
 * that it has alone. */
bool rd_axes_may_join(const rd_axes *axes, int a, int b);
void rd_axes_join(rd_axes *axes, int a, int b);
/* Splits an axis so that the inner part has extent `inner`; false if it is fixed (or the limit is
 * reached). */
bool rd_axes_split(rd_axes *axes, int axis, int64_t inner);

/* Subscripts over raw axes: a constant, and one axis. */
rd_subscript rd_subscript_const(int64_t offset);
rd_subscript rd_subscript_axis(int axis);
/* to += coef * add; false after recording RD_ERR_LIMIT (too many terms). */
bool rd_subscript_add(rd_axes *axes, rd_subscript *to, const rd_subscript *add, int64_t coef);
/* Normalises: replaces axes by their roots and split axes by their parts, merges equal terms,
 * sorts by axis. */
bool rd_subscript_normal(rd_axes *axes, rd_subscript *at);
/* The root if the subscript is exactly one unscaled axis; else -1. */
int rd_subscript_pure(const rd_axes *axes, const rd_subscript *at);
#endif
