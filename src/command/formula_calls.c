/* formula_calls.c - calls of formulas: a table of those that are no maps; all others are function
 * text's. */
#include "formula.h"
#include <math.h>
#include <string.h>

typedef rd_expr *maker(cmd_call *c, const char **why);

static rd_expr *refuse(const char **why, const char *sentence)
{
    *why = sentence;
    return NULL;
}

static rd_reduce_opts options_of(const cmd_call *c)
{
    rd_reduce_opts o = { .size      = sizeof o,
                         .dims      = c->has_axis ? c->axis : RD_ALL,
                         .where     = c->where,
                         .initial   = c->initial,
                         .weights   = c->weights,
                         .skip_nan  = c->skip_nan,
                         .exclusive = c->exclusive,
                         .reverse   = c->reverse,
                         .type      = c->type,
                         .ddof      = c->ddof };

    o.dims.flags |= c->keepdims ? RD_DIMS_KEEP : 0;
    return o;
}

/* One axis; which one there is if none is said. */
static int axis_of(const cmd_call *c, int standard)
{
    return c->has_axis && c->axis.n > 0 ? c->axis.axis[0] : standard;
}

/* ---- Makers ---------------------------------------------------------------------------------- */
static rd_expr *reduce(cmd_call *c, const char **why)
{
    const rd_reduce_opts o = options_of(c);

    (void)why;
    return rd_reduce_name(c->x[0], c->name, &o);
}

static rd_expr *nan_reduce(cmd_call *c, const char **why)
{
    c->name += 3;
    c->skip_nan = true;
    return reduce(c, why);
}

static rd_expr *ends(cmd_call *c, const char **why)
{
    const rd_reduce_opts o = options_of(c);

    (void)why;
    return strcmp(c->name, "first") == 0 ? rd_first_of(c->x[0], &o) : rd_last_of(c->x[0], &o);
}

static rd_expr *pairs(cmd_call *c, const char **why)
{
    const rd_reduce_opts o = options_of(c);

    (void)why;
    return strcmp(c->name, "cov") == 0 ? rd_cov_of(c->x[0], c->x[1], &o)
                                       : rd_corr_of(c->x[0], c->x[1], &o);
}

static rd_expr *scan(cmd_call *c, const char **why)
{
    rd_reduce_opts o = options_of(c);

    if (!c->has_axis)
        return refuse(why, "a sum so far goes along one axis: axis=0, say");
    o.dims.flags = 0;
    return rd_scan_name(c->x[0], c->name + 3, &o); /* "cumsum" */
}

static rd_expr *quantile(cmd_call *c, const char **why)
{
    const rd_quantile_opts o = { .size     = sizeof o,
                                 .dims     = options_of(c).dims,
                                 .where    = c->where,
                                 .skip_nan = c->skip_nan || strncmp(c->name, "nan", 3) == 0 };

    if (strstr(c->name, "median"))
        return rd_median_by(c->x[0], &o);
    if (c->n < 2 || !c->is_number[1])
        return refuse(why, "it takes an array and a number: quantile(x, 0.9, axis=0)");
    return rd_quantile_by(c->x[0],
                          strstr(c->name, "percentile") ? c->number[1] / 100 : c->number[1], &o);
}

static bool whole_number(const cmd_call *c, int k, int64_t *n, const char **why)
{
    if (k < c->n && c->is_number[k] && c->number[k] == floor(c->number[k]) &&
        fabs(c->number[k]) < 1e15) {
        *n = (int64_t)c->number[k];
        return true;
    }
    *why = "a whole number is expected behind the array";
    return false;
}

static rd_expr *rolling(cmd_call *c, const char **why)
{
    const char *what = c->name + strlen("rolling_");
    const int   axis = axis_of(c, 0);
    rd_expr    *x    = c->x[0];
    int64_t     n;

    if (!whole_number(c, 1, &n, why))
        return NULL;
    return strcmp(what, "sum") == 0    ? rd_rolling_sum(x, axis, n)
           : strcmp(what, "mean") == 0 ? rd_rolling_mean(x, axis, n)
           : strcmp(what, "min") == 0  ? rd_rolling_min(x, axis, n)
           : strcmp(what, "max") == 0  ? rd_rolling_max(x, axis, n)
           : strcmp(what, "var") == 0  ? rd_rolling_var(x, axis, n, c->ddof)
                                       : rd_rolling_std(x, axis, n, c->ddof);
}

static rd_expr *sorted(cmd_call *c, const char **why)
{
    const rd_sort_opts o = { .size = sizeof o, .axis = axis_of(c, -1), .descending = c->reverse };

    (void)why;
    return *c->name == 'a' ? rd_argsort_by(c->x[0], &o) : rd_sort_by(c->x[0], &o);
}

static rd_expr *shifted(cmd_call *c, const char **why)
{
    int64_t n;

    if (!whole_number(c, 1, &n, why))
        return NULL;
    return rd_roll(c->x[0], axis_of(c, 0), n);
}

static rd_expr *windows(cmd_call *c, const char **why)
{
    int64_t n, step = 1;

    if (!whole_number(c, 1, &n, why) || (c->n > 2 && !whole_number(c, 2, &step, why)))
        return NULL;
    return rd_window(c->x[0], axis_of(c, 0), n, step);
}

static rd_expr *differences(cmd_call *c, const char **why)
{
    (void)why;
    return rd_diff(c->x[0], axis_of(c, -1), 1);
}

static rd_expr *flipped(cmd_call *c, const char **why)
{
    (void)why;
    return rd_flip(c->x[0], options_of(c).dims);
}

static rd_expr *expanded(cmd_call *c, const char **why)
{
    (void)why;
    return rd_expand(c->x[0], axis_of(c, 0));
}

static rd_expr *transposed(cmd_call *c, const char **why)
{
    (void)why;
    return rd_transpose(c->x[0]);
}

static rd_expr *coordinate(cmd_call *c, const char **why)
{
    (void)why;
    return rd_coord(c->x[0], axis_of(c, 0));
}

static rd_expr *softmax(cmd_call *c, const char **why)
{
    (void)why;
    return rd_softmax(c->x[0], options_of(c).dims);
}

static rd_expr *standardised(cmd_call *c, const char **why)
{
    (void)why;
    return rd_standardise(c->x[0], options_of(c).dims, c->ddof);
}

static rd_expr *joined(cmd_call *c, const char **why)
{
    const rd_exprs all = { c->x, c->n };

    (void)why;
    return *c->name == 'c' ? rd_concat(axis_of(c, 0), all) : rd_stack(axis_of(c, 0), all);
}

static rd_expr *chosen(cmd_call *c, const char **why)
{
    (void)why;
    return rd_where(c->x[0], c->x[1], c->x[2]);
}

static rd_expr *multiplied(cmd_call *c, const char **why)
{
    (void)why;
    return *c->name == 'm' ? rd_matmul(c->x[0], c->x[1]) : rd_dot(c->x[0], c->x[1]);
}

static rd_expr *einsum(cmd_call *c, const char **why)
{
    if (c->n < 2 || !c->text[0])
        return refuse(why, "it takes a text and arrays: einsum('ij,jk->ik', a, b)");
    return rd_einsum_text(c->text[0], (rd_exprs){ c->x + 1, c->n - 1 });
}

static rd_expr *of_complex(cmd_call *c, const char **why)
{
    (void)why;
    return strcmp(c->name, "real") == 0   ? rd_real(c->x[0])
           : strcmp(c->name, "imag") == 0 ? rd_imag(c->x[0])
           : strcmp(c->name, "arg") == 0  ? rd_arg(c->x[0])
                                          : rd_conj(c->x[0]);
}

/* Maps that function text has no name for. */
static rd_expr *mapped(cmd_call *c, const char **why)
{
    static const struct row {
        const char *name;
        rd_expr *(*one)(rd_expr *x);
        rd_expr *(*two)(rd_expr *x, rd_expr *y);
    } rows[] = { { "isnan", rd_isnan, NULL },     { "isfinite", rd_isfinite, NULL },
                 { "isinf", rd_isinf, NULL },     { "square", rd_square, NULL },
                 { "sign", rd_sign, NULL },       { "abs", rd_abs, NULL },
                 { "round", rd_round, NULL },     { "deg2rad", rd_deg2rad, NULL },
                 { "rad2deg", rd_rad2deg, NULL }, { "nan_to_num", rd_nan_to_num, NULL },
                 { "sqrt", rd_sqrt, NULL },       { "exp", rd_exp, NULL },
                 { "log", rd_log, NULL },         { "sin", rd_sin, NULL },
                 { "cos", rd_cos, NULL },         { "minimum", NULL, rd_minimum },
                 { "maximum", NULL, rd_maximum }, { "fmin", NULL, rd_fmin },
                 { "fmax", NULL, rd_fmax },       { "mod", NULL, rd_remainder },
                 { "complex", NULL, rd_complex } };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strcmp(rows[k].name, c->name) == 0) {
            if (c->n == 1 && rows[k].one)
                return rows[k].one(c->x[0]);
            if (c->n == 2 && rows[k].two)
                return rows[k].two(c->x[0], c->x[1]);
        }
    return refuse(why, "so many arguments it does not take");
}

static rd_expr *clipped(cmd_call *c, const char **why)
{
    (void)why;
    return rd_clip(c->x[0], c->x[1], c->x[2]);
}

static rd_expr *converted(cmd_call *c, const char **why)
{
    static const struct type {
        const char *name;
        rd_dtype    type;
    } types[] = { { "f32", RD_F32 }, { "f64", RD_F64 }, { "f16", RD_F16 }, { "i8", RD_I8 },
                  { "i16", RD_I16 }, { "i32", RD_I32 }, { "i64", RD_I64 }, { "u8", RD_U8 },
                  { "u16", RD_U16 }, { "u32", RD_U32 }, { "u64", RD_U64 }, { "bool", RD_BOOL } };

    (void)why;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (strcmp(types[k].name, c->name) == 0)
            return rd_cast(c->x[0], types[k].type);
    return NULL;
}

/* ---- The table ------------------------------------------------------------------------------- */
static const struct row {
    const char *names; /* between spaces */
    maker      *make;
    int         least, most; /* arguments */
} rows[] = {
    { " sum prod min max argmin argmax any all count mean var std skewness kurtosis norm logsumexp ",
      reduce, 1, 1 },
    { " nansum nanprod nanmin nanmax nanargmin nanargmax nanmean nanvar nanstd ", nan_reduce, 1,
      1 },
    { " first last ", ends, 1, 1 },
    { " cov corr ", pairs, 2, 2 },
    { " cumsum cumprod cummin cummax cummean ", scan, 1, 1 },
    { " median nanmedian quantile nanquantile percentile nanpercentile ", quantile, 1, 2 },
    { " rolling_sum rolling_mean rolling_min rolling_max rolling_var rolling_std ", rolling, 2, 2 },
    { " sort argsort ", sorted, 1, 1 },
    { " roll ", shifted, 2, 2 },
    { " window ", windows, 2, 3 },
    { " diff ", differences, 1, 1 },
    { " flip ", flipped, 1, 1 },
    { " expand ", expanded, 1, 1 },
    { " transpose ", transposed, 1, 1 },
    { " coord ", coordinate, 1, 1 },
    { " softmax ", softmax, 1, 1 },
    { " standardise ", standardised, 1, 1 },
    { " concat stack ", joined, 1, CMD_MOST_ARGUMENTS },
    { " where ", chosen, 3, 3 },
    { " matmul dot ", multiplied, 2, 2 },
    { " einsum ", einsum, 2, CMD_MOST_ARGUMENTS },
    { " real imag conj arg ", of_complex, 1, 1 },
    { " isnan isfinite isinf square sign abs round deg2rad rad2deg nan_to_num sqrt exp log sin cos "
      "minimum maximum fmin fmax mod complex ",
      mapped, 1, 2 },
    { " clip ", clipped, 3, 3 },
    { " f32 f64 f16 i8 i16 i32 i64 u8 u16 u32 u64 bool ", converted, 1, 1 },
};

/* Whatever function text knows: hypot(x, y) is the text "hypot(x,y)" of operands x and y. */
static rd_expr *by_text(cmd_call *c, const char **why)
{
    static const char *const operands[] = { "x", "y", "z", "w" };
    const char              *text       = cmd_text("%s(", c->name);

    if (c->n < 1 || c->n > 4)
        return refuse(why, "no such call");
    for (int k = 0; k < c->n; k++)
        text = cmd_text("%s%s%s", text, k ? "," : "", operands[k]);
    rd_expr *y = rd_mapn_text(cmd_text("%s)", text), (rd_exprs){ c->x, c->n });
    return y || rd_error(c->ctx) != RD_ERR_TEXT
               ? y
               : refuse(why, cmd_text("no call %s of %d arguments is known", c->name, c->n));
}

rd_expr *cmd_make_call(cmd_call *c, const char **why)
{
    const char *name = cmd_text(" %s ", c->name);
    maker      *make = by_text;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (strstr(rows[k].names, name)) {
            make = rows[k].make;
            if (c->n < rows[k].least || c->n > rows[k].most)
                return refuse(
                    why, cmd_text("%s takes %d%s%s arguments, not %d", c->name, rows[k].least,
                                  rows[k].most > rows[k].least ? " to " : "",
                                  rows[k].most > rows[k].least ? cmd_text("%d", rows[k].most) : "",
                                  c->n));
        }
    for (int k = 0; k < c->n; k++)
        if (c->text[k] && (make != einsum || k > 0))
            return refuse(why, cmd_text("%s takes no text", c->name));
    return make(c, why);
}
