/* reduce.h - a reduction or scan while it is being built: what the caller asked, checked once, for
 * the files that lower it to REDUCE and SCAN nodes. */
#ifndef RD_EXPR_REDUCE_H
#define RD_EXPR_REDUCE_H
#include "expr/expr.h"

/* Keywords that only some reducers take. */
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

typedef struct rd_folding {
    const char    *call;  /* for messages: "rd_sum"                                  */
    rd_expr       *x;     /* strong, the caller's type                               */
    rd_expr       *where; /* bool, of x's shape; NULL: every element                 */
    rd_expr       *label; /* i64, of x's shape: which of the groups; NULL: there are none */
    int64_t        n_group;
    rd_expr       *restart; /* of a scan, bool, of x's shape: where it begins anew; NULL: nowhere */
    rd_reduce_opts opts;    /* every field this release knows; .type is real               */
    rd_dtype       type;    /* .type as it was asked for: the result is cast to it         */
    uint64_t       bits;    /* reduced axes                                            */
    bool           scan;
} rd_folding;

/* Checks and fills `f`, whose call, scan and x are set; false after recording what is wrong, or if
 * x is NULL. */
bool rd_folding_begin(rd_folding *f, const rd_reduce_opts *opts, unsigned takes);
/* Fills label and n_group; false after recording what is wrong (reduce_by.c). */
bool rd_folding_labels(rd_folding *f);
/* x, of the shape of f->x: the axes that stay, then the others as one, in C order, all from 0.  NULL
 * after recording a failure. */
rd_expr *rd_folding_rows(const rd_folding *f, rd_expr *x);
/* y, whose first axes are those that stay, from where these begin. */
rd_expr *rd_folding_origins(const rd_folding *f, rd_expr *y);
/* The same of y that has no others, with the reduced ones as extents of 1 again, if that is asked
 * for. */
rd_expr *rd_folding_kept(const rd_folding *f, rd_expr *y);
/* x, of the shape of f->x and the accumulator's type, folded: a REDUCE with its kept axes, or a
 * SCAN.  `facts` holds reducer, law and parameters; dims and the scan's order are filled in
 * here. */
rd_expr *rd_folding_node(const rd_folding *f, rd_expr *x, rd_expr *weights, rd_dtype type,
                         rd_fold_facts *facts);
/* y, whose axes are those that stay, all groups as one, and others behind it, with its axes where the
 * caller sees them. */
rd_expr *rd_folding_as_seen(const rd_folding *f, rd_expr *y);
/* x of the accumulator's type folded by a reducer of the table, `weights` its w or NULL; masks that
 * come to the same as an element go into x (reduce_names.c). */
rd_expr *rd_folded(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, rd_expr *weights,
                   rd_dtype type, bool identity);
/* The same by the reducer's twin that begins anew where f->restart is true (reduce_anew.c). */
rd_expr *rd_folded_anew(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, bool identity);
/* What is accumulated in, and the result in the type asked for, where `natural` is that without
 * keywords (reduce_names.c). */
rd_dtype rd_folding_accumulator(const rd_folding *f, rd_dtype natural);
rd_expr *rd_folding_as_asked(const rd_folding *f, rd_expr *y, rd_dtype natural);
/* rd_reduce_name() for the call that sentences are to name; NULL: the reducer's own. */
rd_expr *rd_reduce_for(const char *call, rd_expr *x, const char *reducer,
                       const rd_reduce_opts *opts);
/* An operand of the fold beside x: as `type`, seen with the shape of x. */
rd_expr *rd_folding_beside(const rd_folding *f, rd_expr *y, rd_dtype type);
/* Is there neither an element nor .initial, for a reduction that has nothing to say about no element?
 * And may elements be left out, by the data, where the result's type has no NaN to say so?  Both are
 * recorded. */
bool rd_folding_is_empty(const rd_folding *f);
bool rd_folding_may_lack_a_value(const rd_folding *f, rd_dtype type);
/* .initial in the type of the results y, and of their shape; NULL after recording what is wrong. */
rd_expr *rd_folding_initial(const rd_folding *f, const rd_expr *y);
/* The reducer at an address of its own, with the texts that it points to; NULL without memory
 * (reduce_user.c). */
const rd_reducer *rd_own_reducer(rd_ctx *ctx, const rd_reducer *of);
/* Number of elements of each result, and whether there is a result. */
int64_t rd_folding_extent(const rd_folding *f, bool *any_result);
#endif
