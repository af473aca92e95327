/* axes.h - loop axes while the graph is collected: which dims of which expressions run together.
 *
 * Every anchor brings fresh axes.  Two are unified when one value is read along both; they stay
 * apart when one loop nest needs both at once.  A merging reshape splits an axis in two. */
#ifndef RD_EVAL_COLLECT_AXES_H
#define RD_EVAL_COLLECT_AXES_H
#include "eval/ir.h"

enum { RD_RAW_AXES = 512, RD_RAW_WORDS = RD_RAW_AXES / 64 };

typedef struct rd_raw_axis {
    int64_t  extent;
    int32_t  parent;               /* union-find                                               */
    int32_t  outer, inner;         /* after a split: index = outer * extent(inner) + inner; -1 */
    bool     fixed;                /* may not be split: a scan or a stored value's own dim     */
    bool     tree;                 /* floats are added along it, and a reshape may split it       */
    uint64_t member[RD_RAW_WORDS]; /* of a root: all axes unified into it                      */
    uint64_t apart[RD_RAW_WORDS];  /* of a root: axes that it must not become                  */
} rd_raw_axis;

typedef struct rd_axes {
    rd_ctx      *ctx;
    rd_pool     *pool;
    int32_t      n, room;
    rd_raw_axis *at;   /* it moves when a new axis needs room */
    int32_t      walk; /* the last walk through indices       */
} rd_axes;

/* A new axis, or -1 after recording RD_ERR_LIMIT or RD_ERR_MEMORY. */
int  rd_axes_new(rd_axes *axes, int64_t extent);
int  rd_axes_root(const rd_axes *axes, int axis);
void rd_axes_apart(rd_axes *axes, int a, int b);
/* May a and b become one?  Extents equal, not apart, not split.  A sum of floats, whose axis a reshape
 * splits where it is alone, is not tied to what is fixed: its bits are those that it has alone. */
bool rd_axes_may_join(const rd_axes *axes, int a, int b);
void rd_axes_join(rd_axes *axes, int a, int b);
/* Splits so that the inner part has that extent; false if it is fixed (or the limit is reached). */
bool rd_axes_split(rd_axes *axes, int axis, int64_t inner);

/* Subscripts over raw axes. */
rd_subscript rd_subscript_const(int64_t offset);
rd_subscript rd_subscript_axis(int axis);
/* to += coef * add; false after recording RD_ERR_LIMIT (too many terms). */
bool rd_subscript_add(rd_axes *axes, rd_subscript *to, const rd_subscript *add, int64_t coef);
/* Roots for axes, split axes replaced by their parts, equal terms added up, sorted by axis. */
bool rd_subscript_normal(rd_axes *axes, rd_subscript *at);
/* Just one unscaled axis: its root; else -1. */
int rd_subscript_pure(const rd_axes *axes, const rd_subscript *at);
#endif
