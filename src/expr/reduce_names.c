/* reduce_names.c - reductions and scans by name.  Each is lowered to a reducer of reducers.def
 * and maps around it:
 *
 *     mean(x, weights)  =  sum(x * weights) / sum(weights)
 *     norm(x, p = 2)    =  sqrt(sum(x * x))
 *
 * The *natural* type of a reduction is that of its result if no keyword asks for another one.
 *
 * Words. A plain expression is real and dense. */
#include "expr/origin.h"
#include "expr/pair_folds.h"
#include "expr/reduce.h"
#include "expr/window_folds.h"
#include <math.h>
#include <string.h>

/* A reduction by name, a row of the table. */
typedef struct row {
    const char   *call;    /* "rd_" and the name */
    rd_reducer_id reducer; /* its fold, or the main one */
    unsigned      takes;   /* RD_TAKES_ bits: keywords that it takes */
    rd_op         after;   /* map of the reducer's result; RD_OP_none: no map */
    bool          scans;   /* a scan of this name exists, too */
    rd_expr *(*build)(const rd_folding *f, const struct row *r);
} row;

/* ---- Types ----------------------------------------------------------------------------------- */
/* True for a real float type. */
static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* The natural type of a sum, if the caller asks for none: floats keep theirs, bools and ints have
 * 64 bits. */
static rd_dtype sum_type(rd_dtype type)
{
    if (is_float(type))
        return type;
    return rd_dtype_kind(type) == RD_KIND_UINT ? RD_U64 : RD_I64;
}

/* The natural type of a mean, if the caller asks for none: floats keep theirs, bools and ints have
 * f64. */
static rd_dtype float_type(rd_dtype type)
{
    return is_float(type) ? type : RD_F64;
}

/* The type that holds both elements and result: `natural` (without .type), promoted with .type if
 * the caller gave it. */
static rd_dtype common_type(const rd_folding *f, rd_dtype natural)
{
    return f->opts.type ? rd_dtype_promote(natural, f->opts.type) : natural;
}

/* The type of the accumulator.  It is f32 for narrow floats, as sums soon leave their range and
 * precision.  It is f64 for f32 with RD_WIDE, and where a run of sequential additions gets long.  A
 * group may get all elements of a block in turn, and a segmented scan adds all blocks from the
 * left. */
rd_dtype rd_folding_accumulator(const rd_folding *f, rd_dtype natural)
{
    rd_dtype type = common_type(f, natural);

    type            = rd_dtype_is_narrow_float(type) ? RD_F32 : type;
    const bool wide = f->opts.accuracy == RD_WIDE || f->label || f->restart;
    return wide && type == RD_F32 ? RD_F64 : type;
}

/* Casts y to the type that the caller asked for (.type), or to `natural`. */
rd_expr *rd_folding_as_asked(const rd_folding *f, rd_expr *y, rd_dtype natural)
{
    return rd_cast_to(y, f->type ? f->type : natural);
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* Replaces the elements of x that the mask leaves out by the number `instead`, the reducer's
 * neutral element: 0 for a sum. */
static rd_expr *neutral_where_masked(const rd_folding *f, rd_expr *x, double instead)
{
    rd_expr *y = x ? rd_number(x->ctx, x->type, rd_word_from_double(instead, x->type)) : NULL;

    return y ? rd_map_op(RD_OP_where, f->call, 3, (rd_expr *const[]){ f->where, x, y }) : NULL;
}

/* Makes a fold (reduction or scan) by a reducer of the table.  Folds without a mask have more
 * strategies and smaller states.  So a mask is mapped into x if the reducer has a neutral element
 * (not NaN in the table).  Overlapping windows and symmetric pairs are folded in cheaper forms.
 * `identity`: an empty minimum or maximum is infinite, not NaN. */
rd_expr *rd_folded(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, rd_expr *weights,
                   rd_dtype type, bool identity)
{
    rd_folding    whole = *f;
    rd_fold_facts facts;
    rd_windows    windows;
    const double  neutral = rd_reducer_table[reducer].neutral;
    int           axis[2];

    if (f->where && x && !isnan(neutral)) {
        x           = neutral_where_masked(f, x, neutral);
        whole.where = NULL;
        if (weights && !(weights = neutral_where_masked(f, weights, 0)))
            return NULL;
    }
    if (f->restart)
        return rd_folded_anew(&whole, reducer, x, identity);
    memset(&facts, 0, sizeof facts);
    facts.reducer  = (int32_t)reducer;
    facts.law      = rd_reducer_table[reducer].law; /* how elements may be ordered and grouped */
    facts.identity = identity;
    facts.ddof     = f->opts.ddof;
    if (f->opts.accuracy == RD_SERIAL && facts.law != RD_LAW_exact)
        facts.law = RD_LAW_serial;
    if (x && !weights && rd_windows_found(&windows, &whole, x, &facts))
        return rd_windows_folded(&windows, &whole, x, &facts);
    if (x && !weights && rd_pairs_found(&whole, x, &facts, axis))
        return rd_pairs_folded(&whole, x, &facts, axis);
    return rd_folding_node(&whole, x, weights, type, &facts);
}

/* Sums x; by a compensated sum (sum2) if the caller asked for RD_COMPENSATED and x is a float. */
static rd_expr *fold_sum(const rd_folding *f, rd_expr *x)
{
    bool compensated = x && f->opts.accuracy == RD_COMPENSATED && is_float(x->type);

    return x ? rd_folded(f, compensated ? RD_RED_sum2 : RD_RED_sum, x, /*weights=*/NULL, x->type,
                         /*identity=*/false)
             : NULL;
}

/* Makes a map of two operands. */
static rd_expr *map_2(const rd_folding *f, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, f->call, 2, (rd_expr *const[]){ x, y });
}

/* Makes a map of one operand. */
static rd_expr *map_1(const rd_folding *f, rd_op op, rd_expr *x)
{
    return rd_map_op(op, f->call, 1, &x);
}

/* Casts .initial to the type of the results y and broadcasts it to their shape.  NULL after
 * recording that an int result cannot hold its type.  A weak int (a plain number) is checked by its
 * value instead. */
rd_expr *rd_folding_initial(const rd_folding *f, const rd_expr *y)
{
    rd_expr   *initial  = f->opts.initial;
    const bool weak_int = initial->weak && !is_float(initial->type);

    if (!is_float(y->type) && !weak_int && !rd_dtype_safe(initial->type, y->type))
        return rd_fail(y->ctx, RD_ERR_TYPE,
                       "%s: .initial of type %s does not fit the accumulator's type %s", f->call,
                       rd_dtype_name(initial->type), rd_dtype_name(y->type));
    initial = rd_fit_to(initial, y->type, f->call);
    return initial ? rd_broadcast_to(initial, y->rank, y->extent, f->call) : NULL;
}

/* Combines the results y with .initial, as if it were one more element; without .initial, y
 * itself. */
static rd_expr *with_initial(const rd_folding *f, rd_reducer_id reducer, rd_expr *y)
{
    rd_expr *const initial = f->opts.initial && y ? rd_folding_initial(f, y) : NULL;

    if (!f->opts.initial || !y)
        return y;
    return initial ? map_2(f, rd_reducer_table[reducer].op, y, initial) : NULL;
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Makes sum, prod and the like: a fold in the accumulator's type, combined with .initial, cast to
 * the type asked for. */
static rd_expr *build_total(const rd_folding *f, const row *r)
{
    rd_dtype natural = sum_type(f->x->type);
    rd_expr *x       = rd_cast_to(f->x, rd_folding_accumulator(f, natural));
    rd_expr *y       = NULL;

    if (x)
        y = r->reducer == RD_RED_sum
                ? fold_sum(f, x)
                : rd_folded(f, r->reducer, x, /*weights=*/NULL, x->type, /*identity=*/false);
    return rd_folding_as_asked(f, with_initial(f, r->reducer, y), natural);
}

/* True, after recording it, if a minimum, maximum or its position (argmin) has no element and no
 * .initial, so no value.  Scans and groups are not refused here, nor shapes without any result. */
bool rd_folding_is_empty(const rd_folding *f)
{
    char shape[RD_SHAPE_TEXT];
    bool any_result;

    if (f->scan || f->label || rd_folding_extent(f, &any_result) || !any_result || f->opts.initial)
        return false;
    rd_fail(f->x->ctx, RD_ERR_EMPTY, "%s: no element to choose from in an operand of shape %s",
            f->call, rd_shape_text(f->x->rank, f->x->extent, shape));
    return true;
}

/* True, after recording it, if a result may have no element, its type has no NaN to say so, and
 * there is no .initial.  That may be in an exclusive scan, under a mask, and in a group without
 * elements. */
bool rd_folding_may_lack_a_value(const rd_folding *f, rd_dtype type)
{
    const char *why = f->opts.exclusive
                          ? "the first element of an exclusive scan has none before it"
                      : f->where && !is_float(type)
                          ? ".where may leave no element, and the type has no NaN to say so"
                      : f->label && !is_float(type)
                          ? "a group may have no element, and the type has no NaN to say so"
                          : NULL;

    if (!why || f->opts.initial)
        return false;
    rd_fail(f->x->ctx, RD_ERR_EMPTY, "%s: an operand of type %s needs .initial: %s", f->call,
            rd_dtype_name(type), why);
    return true;
}

/* The reducer of a minimum or maximum.  For bools they are `all` and `any`, as these stop early. */
static rd_reducer_id extreme_of(rd_reducer_id reducer, rd_dtype type)
{
    if (type != RD_BOOL)
        return reducer;
    return reducer == RD_RED_max ? RD_RED_any : RD_RED_all;
}

/* The type of the accumulator of a minimum or maximum, which is infinite before the first element:
 * f32 for float types without infinity. */
static rd_dtype with_infinity(rd_dtype type)
{
    return rd_dtype_lacks_infinity(type) ? RD_F32 : type;
}

/* Makes min and max.  With .initial, a prefix or group without elements gives infinity
 * (`identity`), not NaN, so that combining it with .initial gives .initial. */
static rd_expr *build_extreme(const rd_folding *f, const row *r)
{
    rd_dtype natural = f->x->type, type = common_type(f, natural);

    if (rd_folding_is_empty(f) || rd_folding_may_lack_a_value(f, natural))
        return NULL;
    type       = with_infinity(type);
    rd_expr *y = rd_folded(f, extreme_of(r->reducer, type), rd_cast_to(f->x, type),
                           /*weights=*/NULL, type, type != RD_BOOL && f->opts.initial != NULL);
    return rd_folding_as_asked(f, with_initial(f, r->reducer, y), natural);
}

/* Makes argmin and argmax.  Over several axes the result is a row-major position, along one axis an
 * index of it, counted from its origin.  A result without elements (mask, group) gives -1, the
 * index before the first one. */
static rd_expr *build_place(const rd_folding *f, const row *r)
{
    rd_expr *x = rd_cast_to(f->x, with_infinity(f->x->type)), *place;

    place = rd_folding_is_empty(f)
                ? NULL
                : rd_folded(f, r->reducer, x, /*weights=*/NULL, RD_I64, /*identity=*/false);
    if (place && __builtin_popcountll(f->bits) == 1)
        place = rd_indices_of(place, f->x, __builtin_ctzll(f->bits));
    return rd_folding_as_asked(f, place, RD_I64);
}

/* Makes any and all, of elements that are not 0. */
static rd_expr *build_truth(const rd_folding *f, const row *r)
{
    return rd_folding_as_asked(f,
                               rd_folded(f, r->reducer, rd_cast_to(f->x, RD_BOOL), /*weights=*/NULL,
                                         RD_BOOL, /*identity=*/false),
                               RD_BOOL);
}

/* Counts the elements that are not 0: the sum of bools as i64. */
static rd_expr *build_count(const rd_folding *f, const row *r)
{
    rd_expr *x = rd_cast_to(f->x, RD_BOOL);

    return rd_folding_as_asked(f,
                               rd_folded(f, r->reducer, rd_cast_to(x, RD_I64), /*weights=*/NULL,
                                         RD_I64, /*identity=*/false),
                               RD_I64);
}

/* Makes bitwise reductions (and, or, xor), of ints and bools alone. */
static rd_expr *build_bits(const rd_folding *f, const row *r)
{
    rd_dtype natural = f->x->type, type = common_type(f, natural);

    if (is_float(type))
        return rd_fail(f->x->ctx, RD_ERR_TYPE, "%s: elements are %s, and it takes ints alone",
                       f->call, rd_dtype_name(type));
    rd_expr *y = rd_folded(f, r->reducer, rd_cast_to(f->x, type), /*weights=*/NULL, type,
                           /*identity=*/false);
    return rd_folding_as_asked(f, with_initial(f, r->reducer, y), natural);
}

/* Counts how often each given weight repeats along the reduced axes, where it has extent 1 or lacks
 * the axis: 180 for weights (90, 1) of x (90, 180).  `extent` gets the shape of x with 1 in place
 * of those axes. */
static int64_t count_repeats(const rd_folding *f, int64_t *extent)
{
    const rd_expr *given = f->opts.weights;
    const int      lead  = f->x->rank - given->rank;
    int64_t        times = 1;

    for (int a = 0; a < f->x->rank; a++) {
        const bool same = f->bits >> a & 1 && (a < lead || given->extent[a - lead] == 1);

        extent[a] = same ? 1 : f->x->extent[a];
        times *= same ? f->x->extent[a] : 1;
    }
    return times;
}

/* The sum of weights that repeat, such as one for each latitude of a field: the sum of the given
 * ones times the number of repeats.  This saves a pass over all elements, and rounds once.  Narrow
 * floats take the plain sum, as the number may be too large for them. */
static rd_expr *sum_of_weights(const rd_folding *f, rd_expr *weights, rd_dtype type)
{
    int64_t       extent[RD_MAX_RANK + 1];
    const int64_t times = count_repeats(f, extent);
    rd_expr      *few;

    if (f->where || f->label || f->scan || times < 2 || rd_dtype_size(type) < 4)
        return fold_sum(f, weights);
    few = rd_cast_to(f->opts.weights, type);
    few = few ? rd_broadcast_to(few, f->x->rank, extent, f->call) : NULL;
    few = rd_with_origins(few, f->x->origin);
    return few ? map_2(f, RD_OP_mul, fold_sum(f, few),
                       rd_number(f->x->ctx, type, rd_word_from_int(times, type)))
               : NULL;
}

/* The number of elements in each prefix of a scan, the divisor of a running mean: the position
 * along the scan's axis, from its end if in reverse, plus 1 unless the scan is exclusive. */
static rd_expr *prefix_counts(const rd_folding *f, rd_dtype type)
{
    const int axis = __builtin_ctzll(f->bits);
    rd_expr  *n    = rd_places(f->opts.reverse ? rd_flip(f->x, RD_DIMS(axis)) : f->x, axis);

    if (f->opts.reverse)
        n = rd_flip(n, RD_DIMS(axis));
    if (!f->opts.exclusive)
        n = n ? rd_add(n, rd_int(f->x->ctx, 1)) : NULL;
    return rd_cast_to(n, type);
}

/* The divisor of a mean, in the type: the sum of weights that take part, or the number of elements.
 * Without mask, labels and weights it needs no fold: it is one number, or for a scan the position
 * along the axis. */
static rd_expr *total_weight(const rd_folding *f, rd_expr *weights, rd_dtype type)
{
    bool any_result;

    if (f->scan && !weights && !f->where && !f->restart)
        return prefix_counts(f, type);

    if (weights)
        return sum_of_weights(f, weights, type);
    if (f->where) {
        rd_folding whole = *f;

        whole.where = NULL;
        /* the number of true in the mask */
        return fold_sum(&whole, rd_cast_to(f->where, type));
    }
    if (f->label || f->restart)
        return fold_sum(
            f, rd_folding_beside(f, rd_number(f->x->ctx, type, rd_word_from_int(1, type)), type));
    return rd_number(f->x->ctx, type, rd_word_from_int(rd_folding_extent(f, &any_result), type));
}

/* Makes the mean: sum(x * weights) / sum(weights), or sum(x) / count. */
static rd_expr *build_mean(const rd_folding *f, const row *r)
{
    rd_dtype natural = float_type(f->x->type), type = rd_folding_accumulator(f, natural);
    rd_expr *x = rd_cast_to(f->x, type), *weights = NULL;

    (void)r;
    if (f->opts.weights) {
        weights = rd_folding_beside(f, f->opts.weights, type);
        x       = map_2(f, RD_OP_mul, x, weights);
    }
    if (!x)
        return NULL;
    return rd_folding_as_asked(
        f, map_2(f, RD_OP_div, fold_sum(f, x), total_weight(f, weights, type)), natural);
}

/* Makes var, std and logsumexp: one fold, which takes weights itself, and then perhaps a map of its
 * result (r->after): the root for std. */
static rd_expr *build_weighted(const rd_folding *f, const row *r)
{
    rd_dtype natural = float_type(f->x->type), type = rd_folding_accumulator(f, natural);
    rd_expr *weights = f->opts.weights ? rd_folding_beside(f, f->opts.weights, type) : NULL;

    if (f->opts.weights && !weights)
        return NULL;
    rd_expr *y =
        rd_folded(f, r->reducer, rd_cast_to(f->x, type), weights, type, /*identity=*/false);
    return rd_folding_as_asked(f, y && r->after != RD_OP_none ? map_1(f, r->after, y) : y, natural);
}

/* Makes the norms for p = 1, 2, inf and -inf; p of 0 stands for 2. */
static rd_expr *build_norm(const rd_folding *f, const row *r)
{
    rd_dtype natural = float_type(f->x->type), type = rd_folding_accumulator(f, natural);
    double   p = f->opts.p != 0 ? f->opts.p : 2;
    rd_expr *x = rd_cast_to(f->x, type), *y;

    (void)r;
    if (p != 1 && p != 2 && !isinf(p))
        return rd_fail(f->x->ctx, RD_ERR_ARGUMENT,
                       "%s: .p is %g, it must be 1, 2, INFINITY or -INFINITY", f->call, p);
    x = map_1(f, p == 2 ? RD_OP_square : RD_OP_abs, x);
    if (p == 1)
        y = fold_sum(f, x);
    else if (p == 2)
        y = map_1(f, RD_OP_sqrt, fold_sum(f, x)); /* of squares */
    else if (p < 0)                               /* inf without elements */
        y = rd_folded(f, RD_RED_min, x, /*weights=*/NULL, type, /*identity=*/true);
    else /* -inf without elements, then 0 */
        y = map_2(f, RD_OP_maximum,
                  rd_folded(f, RD_RED_max, x, /*weights=*/NULL, type, /*identity=*/true),
                  rd_number(f->x->ctx, type, rd_word_from_int(0, type)));
    return rd_folding_as_asked(f, y, natural);
}

/* The names of keywords in reducers.def. */
enum {
    INITIAL = RD_TAKES_INITIAL,
    WEIGHTS = RD_TAKES_WEIGHTS,
    DDOF    = RD_TAKES_DDOF,
    P       = RD_TAKES_P,
    COMP    = RD_TAKES_COMP,
    WIDE    = RD_TAKES_WIDE
};

static const row rows[] = {
#define RD_REDUCTION(name, sort, reducer, after, scans, keywords) \
    { "rd_" #name, RD_RED_##reducer, keywords, RD_OP_##after, scans, build_##sort },
#include "core/reducers.def"
};

/* Lists of names for messages; each name is preceded by ", ". */
static const char *const reducer_names = ""
#define RD_REDUCTION(name, ...) ", " #name
#include "core/reducers.def"
    ;
#define SCANS_true(name)  ", " #name
#define SCANS_false(name) ""
static const char *const scan_names = ""
#define RD_REDUCTION(name, sort, reducer, after, scans, keywords) SCANS_##scans(name)
#include "core/reducers.def"
    ;

/* Finds a reduction in the table by its name, such as "sum".  NULL after recording for `call` that
 * there is none, with a list of the names. */
static const row *find_row(const rd_expr *x, const char *call, const char *name)
{
    const bool scan = !strcmp(call, "rd_scan");

    if (!name)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the reducer is NULL", call);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].call + strlen("rd_"), name))
            return &rows[i];
    return rd_fail(x->ctx, RD_ERR_TEXT, "%s: no reducer is called \"%.40s\"; there are %s", call,
                   name, (scan ? scan_names : reducer_names) + strlen(", "));
}

/* The name of the public call of a reduction: "rd_sum" for "sum".  NULL after recording for `call`
 * that there is no such reduction. */
const char *rd_reduction_call(const char *call, const rd_expr *x, const char *name)
{
    const row *r = find_row(x, call, name);

    return r ? r->call : NULL;
}

/* True if there is a scan of that name.  False after recording that there is none. */
bool rd_reduction_scans(const rd_expr *x, const char *name)
{
    const row *r = find_row(x, "rd_scan", name);

    if (r && !r->scans)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "rd_scan: scans are %s, not %s", scan_names + strlen(", "),
                name);
    return r && r->scans;
}

/* Reduces a plain (real, dense) x by name.  `call` NULL: messages name the reducer's own call, such
 * as rd_sum. */
rd_expr *rd_plain_reduce(const char *call, rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    const row *r = x ? find_row(x, call ? call : "rd_reduce", name) : NULL;

    if (!r)
        return NULL;
    rd_folding f = { .call = call ? call : r->call, .x = x };
    return rd_folding_begin(&f, opts, r->takes) ? r->build(&f, r) : NULL;
}

/* Scans a plain (real, dense) x by a name that has a scan.  Scans do not take RD_COMPENSATED, but
 * an order (.exclusive, .reverse) and .restart, a mask of segment begins. */
rd_expr *rd_plain_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    enum { MORE = RD_TAKES_ORDER | RD_TAKES_RESTART };
    const row *r = find_row(x, "rd_scan", name);
    rd_folding f = { .call = "rd_scan", .x = x, .scan = true };

    return rd_folding_begin(&f, opts, (r->takes & ~(unsigned)RD_TAKES_COMP) | MORE)
               ? r->build(&f, r)
               : NULL;
}
