/* reduce_user.c - reductions and scans by the caller's own reducer. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/reduce.h"
#include <math.h>
#include <string.h>

enum { MAX_OUT = 1024, MAX_STATE = 4096 }; /* outputs of a reducer; bytes of its state */

/* The struct has no padding, because equal bytes make equal nodes. */
_Static_assert(sizeof(rd_reducer) ==
                   8 * 4 + sizeof(int64_t) + 6 * sizeof(char *) + 6 * sizeof(void (*)(void)),
               "rd_reducer has padding");

/* Copies a user's reducer field by field, so that unknown fields are 0 and equal reducers have
 * equal bytes.  An older caller's struct is shorter (size); the fields that it lacks are 0. */
static rd_reducer copy_reducer(const rd_reducer *r)
{
    rd_reducer copy, whole;
    size_t     size = r->size && r->size < sizeof copy ? r->size : sizeof copy;

    memset(&copy, 0, sizeof copy);
    memcpy(&copy, r, size);
    memset(&whole, 0, sizeof whole);
    whole.size       = sizeof whole;
    whole.n_out      = copy.n_out;
    whole.in         = copy.in;
    whole.out        = copy.out;
    whole.state_size = copy.state_size;
    whole.name       = copy.name ? copy.name : "user";
    memcpy(whole.code, copy.code, sizeof whole.code);
    whole.init     = copy.init;
    whole.step     = copy.step;
    whole.merge    = copy.merge;
    whole.finish   = copy.finish;
    whole.in2      = copy.in2;
    whole.commutes = copy.commutes != 0;
    whole.step2    = copy.step2;
    whole.done     = copy.done;

    whole.no_identity = copy.no_identity != 0;
    return whole;
}

/* True if the user's reducer has the functions, sizes and types that it needs.  `two`: the call has
 * a second operand, which step2 takes.  False after recording what is wrong. */
static bool reducer_ok(const rd_folding *f, const rd_reducer *r, bool two)
{
    rd_ctx    *ctx = f->x->ctx;
    const bool one = r->step != NULL, of_two = r->step2 != NULL;

    if (one && of_two)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: reducer %s has step and step2, it must have one of them",
                f->call, r->name);
    else if (one != of_two && of_two != two)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: reducer %s takes %s", f->call, r->name,
                of_two ? "two operands, as rd_reduce2() does" : "one operand, as rd_reduce() does");
    else if (!r->init || (!one && !of_two) || !r->finish)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: reducer %s lacks %s", f->call, r->name,
                !r->init     ? "init"
                : !r->finish ? "finish"
                             : "step");
    else if (r->n_out < 1 || r->n_out > MAX_OUT || (f->scan && r->n_out > 1))
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: reducer %s has %d outputs, it must have 1%s", f->call,
                r->name, (int)r->n_out, f->scan ? " to scan" : " to 1024");
    else if (r->state_size < 1 || r->state_size > MAX_STATE)
        rd_fail(ctx, RD_ERR_ARGUMENT,
                "%s: reducer %s has a state of %lld bytes, it must have 1 to %d", f->call, r->name,
                (long long)r->state_size, MAX_STATE);
    else if (two && !rd_dtype_is_real(r->in2))
        rd_fail(ctx, RD_ERR_TYPE,
                "%s: reducer %s takes %s as second, not a real type of this release", f->call,
                r->name, rd_dtype_name(r->in2));
    else if (!rd_dtype_is_real(r->in) || !rd_dtype_is_real(r->out))
        rd_fail(ctx, RD_ERR_TYPE,
                "%s: reducer %s goes from %s to %s, not real types of this release", f->call,
                r->name, rd_dtype_name(r->in), rd_dtype_name(r->out));
    else
        return true;
    return false;
}

/* Copies a reducer, and the texts that it points to (name and C code), to memory of the context;
 * equal ones get one address.  NULL without memory. */
const rd_reducer *rd_own_reducer(rd_ctx *ctx, const rd_reducer *of)
{
    rd_reducer r = *of;

    if (!(r.name = rd_intern(ctx, r.name, strlen(r.name) + 1)))
        return NULL;
    for (int i = 0; i < 5; i++) /* code: the C texts of its functions */
        if (r.code[i] && !(r.code[i] = rd_intern(ctx, r.code[i], strlen(r.code[i]) + 1)))
            return NULL;
    return rd_intern(ctx, &r, sizeof r);
}

/* How elements may be grouped and ordered (the law): one after the other without a merge function,
 * in blocks that are merged with one, in any order if it commutes.  A scan needs its order, so its
 * law never commutes. */
static rd_law law_of(const rd_folding *f, const rd_reducer *r)
{
    if (!r->merge || f->opts.accuracy == RD_SERIAL)
        return RD_LAW_serial;
    return r->commutes && !f->scan ? RD_LAW_commutes : RD_LAW_associates;
}

/* ---- Without an identity --------------------------------------------------------------------- */
/* True if some result may have no element: a mask, a group, or the begin of an exclusive scan. */
static bool may_lack_elements(const rd_folding *f)
{
    return f->where || f->label || f->opts.exclusive;
}

/* True for each result in which an element has taken part: the same reduction or scan of the mask,
 * by `any`.  Without a mask it is of `true`. */
static rd_expr *any_element(const rd_folding *f)
{
    rd_reduce_opts o = { .size = sizeof o, .dims = f->opts.dims };
    rd_expr       *mask;

    mask        = f->where ? f->where
                           : rd_folding_beside(
                                 f, rd_number(f->x->ctx, RD_BOOL, rd_word_from_int(1, RD_BOOL)), RD_BOOL);
    o.by        = f->opts.by;
    o.groups    = f->opts.groups;
    o.exclusive = f->opts.exclusive;
    o.reverse   = f->opts.reverse;
    return f->scan ? rd_scan_name(mask, "any", &o) : rd_reduce_for(f->call, mask, "any", &o);
}

/* For a user's reducer without an identity (a state that merging ignores): replaces results that
 * have no element by .initial, or NaN. */
static rd_expr *fill_missing(const rd_folding *f, rd_expr *y)
{
    bool     any_result, is_empty = !f->scan && !rd_folding_extent(f, &any_result);
    rd_expr *nothing, *there, *filled;

    if (!y)
        return NULL;
    nothing = f->opts.initial ? rd_folding_initial(f, y) : rd_cast_to(rd_num(y->ctx, NAN), y->type);
    if (!nothing || is_empty)
        return nothing ? rd_broadcast_to(nothing, y->rank, y->extent, f->call) : NULL;
    if (!may_lack_elements(f))
        return y;
    if (!(there = any_element(f)))
        return NULL;
    filled = there->rank < y->rank ? rd_expand(there, -1) : there;
    return map_where(f->call, filled, y, nothing);
}

/* True unless the user's reducer has no identity (no value for no elements) and some result may
 * have no element; that is recorded. */
static bool elements_ok(const rd_folding *f, const rd_reducer *r)
{
    return !r->no_identity || (!rd_folding_is_empty(f) && !rd_folding_may_lack_a_value(f, r->out));
}

/* Makes a reduction or scan of f->x and `second` (NULL: one operand) by the caller's reducer:
 * checks it, makes the node, and casts the result.  A reducer without identity takes .initial,
 * which replaces results without elements. */
static rd_expr *fold_user(rd_folding *f, rd_expr *second, const rd_reducer *reducer,
                          const rd_reduce_opts *opts)
{
    rd_fold_facts facts;
    rd_reducer    r;

    if (!f->x || rd_refuse_complex(f->call, 2, (rd_expr *const[]){ f->x, second }))
        return NULL;
    if (!reducer)
        return rd_fail(f->x->ctx, RD_ERR_ARGUMENT, "%s: the reducer is NULL", f->call);
    r = copy_reducer(reducer);
    if (!rd_folding_begin(f, opts,
                          (f->scan ? RD_TAKES_ORDER : 0) | (r.no_identity ? RD_TAKES_INITIAL : 0)))
        return NULL;
    if (!reducer_ok(f, &r, second != NULL) || !elements_ok(f, &r) ||
        (second && !(second = rd_folding_beside(f, second, r.in2))))
        return NULL;
    memset(&facts, 0, sizeof facts);
    facts.reducer = RD_RED_user;
    facts.law     = law_of(f, &r);
    facts.user    = rd_own_reducer(f->x->ctx, &r);
    if (!facts.user)
        return NULL;
    rd_expr *y = rd_folding_node(f, rd_cast_to(f->x, r.in), second, r.out, &facts);
    if (r.no_identity)
        y = fill_missing(f, y);
    return rd_folding_as_asked(f, y, r.out);
}

/* Reduces x by the caller's reducer. */
rd_expr *rd_reduce_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts)
{
    return fold_user(&(rd_folding){ .call = "rd_reduce", .x = x }, /*second=*/NULL, reducer, opts);
}

/* Reduces pairs of elements of x and w by the caller's reducer. x is broadcast to the common shape
 * here, w in fold_user(). */
rd_expr *rd_reduce2_user(rd_expr *x, rd_expr *w, const rd_reducer *reducer,
                         const rd_reduce_opts *opts)
{
    static const char call[]     = "rd_reduce2";
    rd_expr *const    operands[] = { x, w };
    int64_t           extent[RD_MAX_RANK];
    int               rank;

    if (!rd_operands(call, 2, operands) || !rd_common_shape(call, 2, operands, &rank, extent) ||
        !(x = rd_broadcast_to(x, rank, extent, call)))
        return NULL;
    return fold_user(&(rd_folding){ .call = call, .x = x }, w, reducer, opts);
}

/* Scans x by the caller's reducer. */
rd_expr *rd_scan_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts)
{
    return fold_user(&(rd_folding){ .call = "rd_scan", .x = x, .scan = true }, /*second=*/NULL,
                     reducer, opts);
}
