/* reduce.h - a reduction or scan while it is being built.
 *
 * rd_folding has what the caller asked for, checked once.  The files expr/reduce*.c build REDUCE and
 * SCAN nodes, and what stands around them, from it. */
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

/* Checks the keywords and fills in `f`, whose call, scan and x are set.  False after recording what is
 * wrong, or if x is NULL. */
bool rd_folding_begin(rd_folding *f, const rd_reduce_opts *opts, unsigned takes);
/* Fills in label and n_group; false after recording what is wrong (reduce_by.c). */
bool rd_folding_labels(rd_folding *f);

/* ---- Operands -------------------------------------------------------------------------------- */
/* Casts an operand beside x (a mask, weights, labels) to `type` and broadcasts it to the shape of x. */
rd_expr *rd_folding_beside(const rd_folding *f, rd_expr *y, rd_dtype type);
/* Reshapes x, which has the shape of f->x, to rows: the axes that stay come first, then the reduced axes
 * as one, in C order.  All begin at 0.  NULL after recording a failure. */
rd_expr *rd_folding_rows(const rd_folding *f, rd_expr *x);
/* The type in which the reduction accumulates; `natural` is the result's type if no keyword asks for
 * another one (reduce_names.c). */
rd_dtype rd_folding_accumulator(const rd_folding *f, rd_dtype natural);
/* The number of elements of each result; *any_result: there is a result at all. */
int64_t rd_folding_extent(const rd_folding *f, bool *any_result);
/* Has the reduction no element and no .initial?  An extreme has no value then; this is recorded. */
bool rd_folding_is_empty(const rd_folding *f);
/* May the data leave out all elements of a result whose type has no NaN?  This is recorded, too, unless
 * there is an .initial. */
bool rd_folding_may_lack_a_value(const rd_folding *f, rd_dtype type);

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* The REDUCE or SCAN node of x, which has the shape of f->x and the accumulator's type.  `facts` holds
 * reducer, law and parameters; the reduced axes and the scan's order are filled in here. */
rd_expr *rd_folding_node(const rd_folding *f, rd_expr *x, rd_expr *weights, rd_dtype type,
                         rd_fold_facts *facts);
/* The same by a reducer of the table; `weights` is its operand w, or NULL.  A mask is mapped into x where
 * the reducer has an element that changes nothing, as folds without masks run in more ways
 * (reduce_names.c). */
rd_expr *rd_folded(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, rd_expr *weights,
                   rd_dtype type, bool identity);
/* The same by the reducer's segmented form, which begins anew where f->restart is true
 * (reduce_anew.c). */
rd_expr *rd_folded_anew(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, bool identity);

/* ---- Results --------------------------------------------------------------------------------- */
/* Gives the axes of y that x has, too, the origins that they have there. */
rd_expr *rd_folding_origins(const rd_folding *f, rd_expr *y);
/* The same, and puts in the reduced axes with extent 1 if the caller asked to keep them. */
rd_expr *rd_folding_kept(const rd_folding *f, rd_expr *y);
/* Puts the axes of y, which are those that stay, then all groups as one, then others, where the caller
 * expects them. */
rd_expr *rd_folding_as_seen(const rd_folding *f, rd_expr *y);
/* Casts y to the type that the caller asked for, or to `natural` (reduce_names.c). */
rd_expr *rd_folding_as_asked(const rd_folding *f, rd_expr *y, rd_dtype natural);
/* .initial, cast and broadcast to the type and shape of the results y; NULL after recording what is
 * wrong. */
rd_expr *rd_folding_initial(const rd_folding *f, const rd_expr *y);

/* ---- By name --------------------------------------------------------------------------------- */
/* The name of the public call of a reduction, as "rd_sum" of "sum"; NULL after recording for `call` that
 * there is no such reduction. */
const char *rd_reduction_call(const char *call, const rd_expr *x, const char *name);
/* Is there a scan of that name?  False after recording that there is none. */
bool rd_reduction_scans(const rd_expr *x, const char *name);
/* Reduces or scans x, which is plain, by a name that exists; sentences name `call` (reduce_names.c). */
rd_expr *rd_plain_reduce(const char *call, rd_expr *x, const char *name,
                         const rd_reduce_opts *opts);
rd_expr *rd_plain_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* The same of x that is plain or sparse (sparse_reduce.c); NULL given NULL. */
rd_expr *rd_real_reduce(const char *call, rd_expr *x, const char *name, const rd_reduce_opts *opts);
rd_expr *rd_real_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts);
/* Does what rd_reduce_name() does; sentences name `call`, or the reducer's own call if that is NULL. */
rd_expr *rd_reduce_for(const char *call, rd_expr *x, const char *reducer,
                       const rd_reduce_opts *opts);
/* A copy of a user's reducer, with the texts that it points to, that lives as long as the context; NULL
 * without memory (reduce_user.c). */
const rd_reducer *rd_own_reducer(rd_ctx *ctx, const rd_reducer *of);
#endif
