/* window_folds.h - reductions of windows that overlap, as rolling reductions. */
#ifndef RD_EXPR_WINDOW_FOLDS_H
#define RD_EXPR_WINDOW_FOLDS_H
#include "expr/reduce.h"
#include "expr/rolling.h"

typedef struct rd_windows {
    const char *call; /* for messages                                                      */
    rd_rolled   what;
    int         n; /* axes of windows: each is reduced, and goes with a kept axis       */
    int         window[RD_MAX_RANK], kept[RD_MAX_RANK];
    int64_t     extent[RD_MAX_RANK]; /* of each                                               */
    int64_t     elements;            /* of a window                                           */
    uint64_t    gone;                /* bit w: axis w is a window's                           */
} rd_windows;

/* Is this a fold of windows that is worth being rolled?  x has the shape of f->x. */
bool rd_windows_found(rd_windows *all, const rd_folding *f, const rd_expr *x,
                      const rd_fold_facts *facts);
/* What rd_folding_node() gives, made of rolling reductions. */
rd_expr *rd_windows_folded(rd_windows *all, const rd_folding *f, rd_expr *x, rd_fold_facts *facts);
#endif
