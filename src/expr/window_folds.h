/* window_folds.h - reductions of overlapping windows, as rolling reductions. */
#ifndef RD_EXPR_WINDOW_FOLDS_H
#define RD_EXPR_WINDOW_FOLDS_H
#include "expr/reduce.h"
#include "expr/rolling.h"

/* The windows of a reduction; rd_windows_found() fills them in, except for call and extent. */
typedef struct rd_windows {
    const char *call; /* for messages */
    rd_rolled   what; /* the rolling reduction that folds them */
    int         n;    /* axes of windows; each is reduced and moves with a kept axis */
    int         window[RD_MAX_RANK], kept[RD_MAX_RANK];
    int64_t     extent[RD_MAX_RANK]; /* by axis: elements of a window */
    int64_t     elements;            /* in a window */
    uint64_t    gone;                /* bit w: axis w is a window's */
} rd_windows;

/* True if this is a fold of windows that is worth rolling.  x has the shape of f->x. */
bool rd_windows_found(rd_windows *all, const rd_folding *f, const rd_expr *x,
                      const rd_fold_facts *facts);
/* Makes what rd_folding_node() makes, by rolling reductions. */
rd_expr *rd_windows_folded(rd_windows *all, const rd_folding *f, rd_expr *x, rd_fold_facts *facts);
#endif
