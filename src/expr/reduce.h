/* reduce.h - a reduction or scan while it is being built.
 *
 * rd_folding holds what the caller asked for, checked once.  The files expr/reduce*.c build from
 * it REDUCE and SCAN nodes, and the maps and views around them. */
#ifndef RD_EXPR_REDUCE_H
#define RD_EXPR_REDUCE_H
#include "expr/expr.h"

/* Keywords that only some reducers take; a bit set. */
enum {
    RD_TAKES_INITIAL = 1,
    RD_TAKES_WEIGHTS = 2,
    RD_TAKES_DDOF    = 4,
    RD_TAKES_P       = 8,
    RD_TAKES_COMP    = 16, /* RD_COMPENSATED       */
    RD_TAKES_WIDE    = 32, /* RD_WIDE              */
    RD_TAKES_ORDER   = 64, /* .exclusive, .reverse */
    RD_TAKES_RESTART = 128
};

/* Keywords and operands of a call; rd_folding_begin() fills in all but call, x and scan. */
typedef struct rd_folding {
    const char *call;  /* for messages: "rd_sum" */
    rd_expr    *x;     /* strong, of the caller's type */
    rd_expr    *where; /* bool, of x's shape; NULL: every element                 */
    rd_expr    *label; /* i64, of x's shape: group labels; NULL: no group-by */
    int64_t     n_group;
    /* scans: bool, of x's shape, true where a segment begins; NULL: one segment */
    rd_expr       *restart;
    rd_reduce_opts opts; /* every field this release knows; .type is real */
    rd_dtype       type; /* .type as the caller gave it: the result is cast to it */
    uint64_t       bits; /* bit a: axis a is reduced */
    bool           scan;
} rd_folding;

/* Checks the keywords and fills in `f`; the caller has set call, scan and x.  False after
 * recording what is wrong, or if x is NULL. */
bool rd_folding_begin(rd_folding *f, const rd_reduce_opts *opts, unsigned takes);
/* Fills in label and n_group; false after recording what is wrong (reduce_by.c). */
bool rd_folding_labels(rd_folding *f);

/* ---- Operands -------------------------------------------------------------------------------- */
/* Casts an operand beside x (a mask, weights, labels) to `type`, and broadcasts it to x's shape. */
rd_expr *rd_folding_beside(const rd_folding *f, rd_expr *y, rd_dtype type);
/* Reshapes x, which has the shape of f->x, to rows: the axes that are not reduced come first,
 * then the reduced axes as one, in C order.  All origins become 0.  NULL after recording a
 * failure. */
rd_expr *rd_folding_rows(const rd_folding *f, rd_expr *x);
/* The type of the accumulator.  `natural` is the result's type if no keyword asks for another
 * one (reduce_names.c). */
rd_dtype rd_folding_accumulator(const rd_folding *f, rd_dtype natural);
/* The number of elements of each result.  *any_result: the result has an element at all. */
int64_t rd_folding_extent(const rd_folding *f, bool *any_result);
/* True, after recording it, if the reduction has no element and no .initial.  A minimum or
 * maximum has no value then. */
bool rd_folding_is_empty(const rd_folding *f);
/* True, after recording it, if a result may have no element, its type has no NaN, and there is
 * no .initial. */
bool rd_folding_may_lack_a_value(const rd_folding *f, rd_dtype type);

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Makes the REDUCE or SCAN node of x, which has the shape of f->x and the accumulator's type.
 * `facts` holds reducer, law and parameters.  This function fills in the reduced axes and the
 * scan's order. */
rd_expr *rd_folding_node(const rd_folding *f, rd_expr *x, rd_expr *weights, rd_dtype type,
                         rd_fold_facts *facts);
/* The same for a reducer of the table; `weights` is its operand w, or NULL.  If the reducer has a
 * neutral element, the mask is mapped into x, as folds without masks have more strategies
 * (reduce_names.c). */
rd_expr *rd_folded(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, rd_expr *weights,
                   rd_dtype type, bool identity);
/* The same as a segmented scan, which restarts where f->restart is true (reduce_anew.c). */
rd_expr *rd_folded_anew(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, bool identity);

/* ---- Results --------------------------------------------------------------------------------- */
/* Gives the axes that y shares with x the origins that they have there. */
rd_expr *rd_folding_origins(const rd_folding *f, rd_expr *y);
/* The same, and inserts the reduced axes with extent 1 if the caller asked to keep them. */
rd_expr *rd_folding_kept(const rd_folding *f, rd_expr *y);
/* Puts the axes of y where the caller expects them.  y has the axes that are not reduced, then
 * all groups as one axis, then others. */
rd_expr *rd_folding_as_seen(const rd_folding *f, rd_expr *y);
/* Casts y to the type that the caller asked for, or to `natural` (reduce_names.c). */
rd_expr *rd_folding_as_asked(const rd_folding *f, rd_expr *y, rd_dtype natural);
/* .initial, cast and broadcast to the type and shape of the results y.  NULL after recording
 * what is wrong. */
rd_expr *rd_folding_initial(const rd_folding *f, const rd_expr *y);

/* ---- By name --------------------------------------------------------------------------------- */
/* The name of the public call of a reduction: "rd_sum" for "sum".  NULL after recording for
 * `call` that there is no such reduction. */
const char *rd_reduction_call(const char *call, const rd_expr *x, const char *name);
/* True if there is a scan of that name.  False after recording that there is none. */
bool rd_reduction_scans(const rd_expr *x, const char *name);
/* Reduces or scans a plain x by an existing name; messages name `call` (reduce_names.c). */
rd_expr *rd_plain_reduce(const char *call, rd_expr *x, const char *name,
                         const rd_reduce_opts *opts);
rd_expr *rd_plain_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* The same for an x that is plain or sparse (sparse_reduce.c); NULL given NULL. */
rd_expr *rd_real_reduce(const char *call, rd_expr *x, const char *name, const rd_reduce_opts *opts);
rd_expr *rd_real_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* As rd_reduce_name().  Messages name `call`, or the reducer's own call if that is NULL. */
rd_expr *rd_reduce_for(const char *call, rd_expr *x, const char *reducer,
                       const rd_reduce_opts *opts);
/* Copies a user's reducer, with the texts that it points to.  The copy lives as long as the
 * context.  NULL: no memory (reduce_user.c). */
const rd_reducer *rd_own_reducer(rd_ctx *ctx, const rd_reducer *of);
#endif
