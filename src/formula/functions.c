/* functions.c - functions of formulas that are neither operators nor reducers: the rows of
 * functions.def.
 *
 * Each row becomes a static function build_NAME(), which makes the call of the library. Argument k
 * of a call is the one at position k of the row's list of parameters; rd_arguments has its value by
 * kind: x (arrays), i (ints and bools), f (floats). */
#include "formula/made.h"
#include <math.h>
#include <string.h>

/* Returns argument k of the call as an int. A larger number becomes INT32_MAX, which is no axis,
 * no order and no number of decimals, so that the library refuses it. */
static int int_of(const rd_arguments *a, int k)
{
    return a->i[k] == (int32_t)a->i[k] ? (int)a->i[k] : INT32_MAX;
}

/* Returns argument k of the call: how often an operation is repeated. Each time makes a node, so
 * a large number is refused; a negative number becomes -1, which the library refuses.
 * a->given[k] is the argument's piece, for the caret. */
static int32_t times_of(const rd_arguments *a, int k)
{
    enum { MOST_TIMES = 1000 };

    if (a->i[k] <= MOST_TIMES)
        return a->i[k] < 0 ? -1 : (int32_t)a->i[k];
    rd_formula_fail(a->r, RD_ERR_LIMIT, a->given[k]->at, "%lld times, more than %d",
                    (long long)a->i[k], MOST_TIMES);
    return -1;
}

/* Returns the reduced axes of the call (the argument axis=); `keep`: they stay with extent 1. */
static rd_dims dims_of(const rd_arguments *a, bool keep)
{
    rd_dims d = a->d;

    d.flags |= keep ? RD_DIMS_KEEP : 0;
    return d;
}

/* Returns the position of argument k, a name in the text, in a list of n names. 0, the default:
 * it is not given (or k < 0). -1 after recording that it is none of them. a->text is that name. */
static int position_in_names(const rd_arguments *a, int k, int n, const char *const *names)
{
    if (k < 0 || !a->given[k])
        return 0;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], a->text))
            return i;
    rd_formula_fail(a->r, RD_ERR_TEXT, a->given[k]->at, "'%s' is none of %s, %s, %s ...", a->text,
                    names[0], names[1], n > 2 ? names[2] : "");
    return -1;
}

/* Reads argument k: by which rule an axis continues beyond its ends; the first name is the
 * default. */
static rd_pad_mode pad_mode(const rd_arguments *a, int k)
{
    static const char *const names[] = { "constant", "edge", "reflect", "symmetric", "wrap" };

    return (rd_pad_mode)position_in_names(a, k, 5, names);
}

/* Reads argument k: which results of a convolution are wanted; the first name is the default. */
static rd_convolve_mode convolve_mode(const rd_arguments *a, int k)
{
    static const char *const names[] = { "full", "same", "valid" };

    return (rd_convolve_mode)position_in_names(a, k, 3, names);
}

/* Reads argument k: how equal elements are ranked; the first name is the default. */
static rd_rank_method rank_method(const rd_arguments *a, int k)
{
    static const char *const names[] = { "average", "min", "max", "dense", "ordinal" };

    return (rd_rank_method)position_in_names(a, k, 5, names);
}

/* Returns argument k, an axis of the first array; if it is not given, the only axis of a vector.
 * INT32_MAX, which is no axis, after an error. a->given[k] NULL: not given. */
static int only_axis(const rd_arguments *a, int k)
{
    const rd_expr *x = a->x[0].x;

    if (a->given[k])
        return int_of(a, k);
    if (x->rank == 1)
        return 0;
    rd_formula_fail(a->r, RD_ERR_AXIS, a->call->at,
                    "an array of rank %d: say along which axis, as in %.*s(..., axis=0)",
                    (int)x->rank, (int)a->call->length, a->r->text + a->call->at);
    return INT32_MAX;
}

/* Reads argument k: the side of searchsorted(), on which equal elements lie; the first name is
 * the default. */
static rd_side side_of(const rd_arguments *a, int k)
{
    static const char *const names[] = { "left", "right" };

    return (rd_side)position_in_names(a, k, 2, names);
}

/* Returns the quantiles of the call as shares from 0 to 1, in q: divided by `scale`, which is
 * 100 for percentiles. */
static rd_qs qs_of(const rd_arguments *a, double scale, double q[RD_ARGUMENT_LIST])
{
    for (int k = 0; k < a->n_q; k++)
        q[k] = a->q[k] / scale;
    return (rd_qs){ q, a->n_q };
}

/* Builds a quantile, or a median (scale 0), from the arguments of a call. keep, where, skip,
 * method and weights are positions of arguments: keepdims, mask, skip_nan, the rule of
 * interpolation (< 0: none), weights. With weights the rule is the inverted CDF unless another
 * is given. NULL after an error. `names` are in the order of rd_quantile_method. a->several: the
 * call has a list of quantiles, which a reduction over indices (RD_PHRASE_REDUCE) does not take.
 * `chosen`: a rule is given; a->list and a->s are the labels and the numbers of groups. */
static rd_expr *quantile(const rd_arguments *a, double scale, int keep, int where, int skip,
                         int method, int weights)
{
    static const char *const names[]             = { "linear",
                                                     "lower",
                                                     "higher",
                                                     "nearest",
                                                     "midpoint",
                                                     "inverted_cdf",
                                                     "averaged_inverted_cdf",
                                                     "closest_observation",
                                                     "interpolated_inverted_cdf",
                                                     "hazen",
                                                     "weibull",
                                                     "median_unbiased",
                                                     "normal_unbiased" };
    static const double      half                = 0.5;
    const int                found               = position_in_names(a, method, 13, names);
    double                   q[RD_ARGUMENT_LIST] = { 0 };
    const rd_qs              all = scale != 0 ? qs_of(a, scale, q) : (rd_qs){ &half, 1 };

    if (found < 0)
        return NULL;
    if (a->several && a->call->kind == RD_PHRASE_REDUCE)
        return rd_formula_fail(a->r, RD_ERR_ARGUMENT, a->given[1]->at,
                               "one number beside indices: several are of whole arrays");
    const bool             chosen = method >= 0 && a->given[method];
    const rd_quantile_opts opts   = {
          .size     = sizeof opts,
          .dims     = dims_of(a, a->i[keep]),
          .where    = a->x[where].x,
          .skip_nan = a->i[skip],
          .method   = a->x[weights].x && !chosen ? RD_INVERTED_CDF : (rd_quantile_method)found,
          .by       = { a->list, a->n_list },
          .groups   = a->s,
          .weights  = a->x[weights].x,
    };
    return a->several   ? rd_quantiles_by(a->x[0].x, all, &opts)
           : scale != 0 ? rd_quantile_by(a->x[0].x, all.at[0], &opts)
                        : rd_median_by(a->x[0].x, &opts);
}

/* Builds a reduction f that picks an element, such as mode, or counts how often it occurs. The
 * positions of arguments are those of its row in functions.def: keepdims 2, where 5, skip_nan 6,
 * initial 7. */
static rd_expr *chosen(const rd_arguments *a, rd_expr *(*f)(rd_expr *, const rd_reduce_opts *))
{
    return f(a->x[0].x,
             RD_REDUCE_OPTS(dims_of(a, a->i[2]), .where = a->x[5].x, .skip_nan = a->i[6],
                            .initial = a->x[7].x, .by = { a->list, a->n_list }, .groups = a->s));
}

/* Builds a reduction f of two arrays, such as cov(x, y). The positions of arguments are those of
 * its row in functions.def: keepdims 3, where 4, skip_nan 5, weights 6, ddof 7. */
static rd_expr *pair(const rd_arguments *a,
                     rd_expr *(*f)(rd_expr *, rd_expr *, const rd_reduce_opts *))
{
    return f(a->x[0].x, a->x[1].x,
             RD_REDUCE_OPTS(dims_of(a, a->i[3]), .where = a->x[4].x, .skip_nan = a->i[5],
                            .weights = a->x[6].x, .ddof = a->f[7]));
}

/* Short names for the calls in functions.def; k is the position of an argument. */
#define A                a
#define X(k)             (a->x[k].x)
#define I(k)             (a->i[k])
#define F(k)             (a->f[k])
#define INT(k)           int_of(a, k)
#define AXIS(k)          INT(k)
#define ONLY(k)          only_axis(a, k)
#define POSITIONS(k, dx) (a->given[k] ? X(k) : a->given[dx] ? X(dx) : rd_int(a->ctx, 1))
#define TIMES(k)         times_of(a, k)
#define MODE(k)          convolve_mode(a, k)
#define RANKS(k)         rank_method(a, k)
#define DIMS(k)          dims_of(a, a->i[k])
#define PAD(k)           pad_mode(a, k)
#define SIDE(k)          side_of(a, k)
#define EPS(k)           (a->given[k] ? a->f[k] : 1e-5)
#define REAL             (a->t ? a->t : RD_F64)
#define LIST             ((rd_exprs){ a->list, a->n_list })

/* Makes the function of a row; `call` is the C expression of its result. */
#define RD_FUNCTION(name, arguments, sort, call)        \
    static rd_expr *build_##name(const rd_arguments *a) \
    {                                                   \
        return call;                                    \
    }
#include "formula/functions.def"

static const rd_formula_function functions[] = {
#define RD_FUNCTION(name, arguments, sort, call) \
    { #name, arguments, RD_FORMULA_##sort, build_##name },
#include "formula/functions.def"
};

/* Finds the row of functions.def for the name of `length` bytes of the text at byte `at`: its
 * name here or in another library, such as NumPy. NULL: there is none. */
const rd_formula_function *rd_formula_function_called(const rd_formula_reader *r, size_t at,
                                                      size_t length)
{
    const char *word = rd_formula_word(r, at, length);

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (word ? !strcmp(word, functions[i].name)
                 : rd_formula_is(r, at, length, functions[i].name))
            return &functions[i];
    return NULL;
}
