/* complex_reduce.c - reductions and scans of complex numbers, made of reductions of their parts.
 *
 *     sum z  ->  sum re + i sum im          var z  ->  var re + var im
 *
 * Words. An expression is real if it is not complex. */
#include "expr/complex.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include "expr/sparse.h"
#include <math.h>
#include <string.h>

/* A request, with its keywords split for the two parts: parts of complex operands, types of
 * parts. */
typedef struct request {
    const char    *call;    /* "rd_sum" */
    const char    *name;    /* "sum" */
    rd_expr       *x;       /* complex */
    rd_reduce_opts part[2]; /* keywords for real and imaginary parts */
    bool           scan;    /* a scan, not a reduction */
} request;

/* How a reduction of complex numbers is made. */
typedef struct row {
    const char *name;
    rd_expr *(*build)(const request *a);
    bool complex; /* the result is complex */
} row;

/* The real (p = 0) or imaginary (p = 1) part of x. */
static rd_expr *part_of(rd_expr *x, int p)
{
    return p ? rd_imag(x) : rd_real(x);
}

/* Makes the reduction or scan `name` of one real operand x: a->scan says which of them the caller
 * asked for. */
static rd_expr *fold(const request *a, const char *name, rd_expr *x, const rd_reduce_opts *opts)
{
    return a->scan ? rd_real_scan(x, name, opts) : rd_real_reduce(a->call, x, name, opts);
}

/* ---- Both parts in one reduction ------------------------------------------------------------- */
/* Reduces both parts as one array with one more axis of 2, so that memory is read once, in order.
 * `last`: that axis is reduced, too.  NULL if the parts are not adjacent in memory, or if keywords
 * other than axes are given. */
static rd_expr *reduce_adjacent(const request *a, const char *name, rd_expr *x, bool last)
{
    rd_reduce_opts o                   = a->part[0];
    int64_t        origin[RD_MAX_RANK] = { 0 };
    rd_expr       *pairs;
    uint64_t       bits;

    if (a->scan || o.where || o.initial || o.weights || o.by.n || o.groups.n || !x ||
        !(pairs = rd_complex_together(x)) || !rd_dims_bits(x, &o.dims, a->call, &bits))
        return NULL;
    for (int axis = 0; axis < x->rank; axis++)
        origin[axis] = rd_origin(x, axis);
    pairs = rd_with_origins(pairs, origin);
    bits |= last ? (uint64_t)1 << x->rank : 0;
    /* the axes are listed again, as positive numbers */
    o.dims.flags &= ~(uint32_t)RD_DIMS_EXCEPT;
    o.dims.n = 0;
    o.p      = 0;
    for (int axis = 0; axis <= x->rank; axis++)
        if (bits >> axis & 1)
            o.dims.axis[o.dims.n++] = axis;
    rd_expr *y = rd_real_reduce(a->call, pairs, name, &o);
    return last && o.dims.flags & RD_DIMS_KEEP ? rd_select_place(y, -1, 0) : y;
}

/* ---- Sums ------------------------------------------------------------------------------------ */
/* True if x is a part of a complex product: a sum or difference of two real products. */
static bool is_product_part(const rd_expr *x)
{
    return x->kind == RD_EXPR_MAP && (x->op == RD_OP_add || x->op == RD_OP_sub) &&
           x->in[0]->kind == RD_EXPR_MAP && x->in[0]->op == RD_OP_mul &&
           x->in[1]->kind == RD_EXPR_MAP && x->in[1]->op == RD_OP_mul;
}

/* Sums part p (0 real, 1 imaginary).  If it is a sum or difference of two products, as of complex
 * factors, each product is summed on its own: with one rounding, and by a BLAS, as any sum of
 * products.  A mask, .initial, or another accuracy than RD_PAIRWISE forbids that. */
static rd_expr *sum_part(const request *a, int p)
{
    rd_expr              *x = part_of(a->x, p);
    const rd_reduce_opts *o = &a->part[p];

    if (a->scan || !x || !is_product_part(x) || o->where || o->initial ||
        o->accuracy != RD_PAIRWISE)
        return fold(a, a->name, x, o);
    return rd_map_op(
        x->op, a->call, 2,
        (rd_expr *const[]){ fold(a, a->name, x->in[0], o), fold(a, a->name, x->in[1], o) });
}

/* Sums both parts: in one reduction if they are adjacent in memory, else each on its own. */
static rd_expr *build_sum(const request *a)
{
    rd_expr *y = reduce_adjacent(a, a->name, a->x, /*last=*/false);

    if (y)
        return rd_complex_leaf(y, a->call);
    return rd_complex_of(sum_part(a, 0), sum_part(a, 1), a->call);
}

/* Reduces both parts independently of each other, as for a mean: in one pass if they are adjacent
 * in memory. */
static rd_expr *build_parts(const request *a)
{
    rd_expr *y[2], *both = reduce_adjacent(a, a->name, a->x, /*last=*/false);

    if (both)
        return rd_complex_leaf(both, a->call);
    for (int p = 0; p < 2; p++)
        y[p] = fold(a, a->name, part_of(a->x, p), &a->part[p]);
    return rd_complex_of(y[0], y[1], a->call);
}

/* ---- Products -------------------------------------------------------------------------------- */
/* Makes the real or the imaginary part of a product of complex numbers, by the reducer prod_real or
 * prod_imag.  Each keeps both parts in its state; im is its second operand.  The mask has been
 * mapped into re and im. */
static rd_expr *product_part(const request *a, rd_reducer_id reducer, rd_expr *re, rd_expr *im)
{
    const rd_reduce_opts *o = &a->part[0];
    rd_folding            f = { .call = a->call, .x = re, .scan = a->scan };
    rd_fold_facts         facts;
    rd_dtype              type;

    if (!re || !im || !(re = rd_at_all_places(re, a->call)) ||
        !(im = rd_at_all_places(im, a->call)))
        return NULL;
    f.x = re;
    if (!rd_folding_begin(&f, o, RD_TAKES_WIDE | (a->scan ? RD_TAKES_ORDER : 0)))
        return NULL;
    type = o->type ? rd_dtype_promote(re->type, o->type) : re->type;
    type = o->accuracy == RD_WIDE ? RD_F64 : type;
    memset(&facts, 0, sizeof facts);
    facts.reducer = (int32_t)reducer;
    facts.law     = o->accuracy == RD_SERIAL ? RD_LAW_serial : rd_reducer_table[reducer].law;
    rd_expr *y    = rd_folding_node(&f, rd_cast_to(re, type), rd_cast_to(im, type), type, &facts);
    return rd_cast_to(y, o->type ? o->type : re->type);
}

/* Multiplies complex numbers.  Elements that the mask leaves out become 1; .initial is one more
 * factor at the end. */
static rd_expr *build_prod(const request *a)
{
    request        unmasked = *a;
    rd_expr       *x        = a->x;
    rd_expr *const initial =
        unmasked.part[0].initial
            ? rd_complex_of(unmasked.part[0].initial, unmasked.part[1].initial, a->call)
            : NULL;

    if (unmasked.part[0].where)
        x = rd_where(unmasked.part[0].where, x, rd_int(x->ctx, 1));
    if (!x)
        return NULL;
    unmasked.part[0].where = unmasked.part[0].initial = NULL;
    rd_expr *y =
        rd_complex_of(product_part(&unmasked, RD_RED_prod_real, x->in[0], x->in[1]),
                      product_part(&unmasked, RD_RED_prod_imag, x->in[0], x->in[1]), a->call);
    return initial && y ? rd_cast_to(rd_mul(y, initial), y->type) : y;
}

/* ---- Real results ---------------------------------------------------------------------------- */
/* Makes any, all or count, of bools: a complex number is true if it is not 0. */
static rd_expr *build_logic(const request *a)
{
    return fold(a, a->name, rd_cast_to(a->x, RD_BOOL), &a->part[0]);
}

/* The variance is the mean of |x - mean|^2, thus the sum of the variances of both parts. */
static rd_expr *variance(const request *a)
{
    rd_expr *parts = reduce_adjacent(a, "var", a->x, /*last=*/false);

    if (parts)
        return rd_add(rd_select_place(parts, -1, 0), rd_select_place(parts, -1, 1));
    return rd_add(fold(a, "var", rd_real(a->x), &a->part[0]),
                  fold(a, "var", rd_imag(a->x), &a->part[0]));
}

/* Makes the variance. */
static rd_expr *build_var(const request *a)
{
    return variance(a);
}

/* Makes the standard deviation, the root of the variance. */
static rd_expr *build_std(const request *a)
{
    return rd_sqrt(variance(a));
}

/* Makes a norm.  The 2-norm (p of 0 or 2) is the root of the sum of both parts' squares: one sum
 * over both if they are adjacent in memory.  Other norms are those of |x|. sums.p is 0, as a sum
 * takes no p. */
static rd_expr *build_norm(const request *a)
{
    const double   p    = a->part[0].p;
    rd_reduce_opts sums = a->part[0];
    rd_expr       *re = rd_square(rd_real(a->x)), *im = rd_square(rd_imag(a->x)), *both;

    if (p != 0 && p != 2)
        return fold(a, a->name, rd_abs(a->x), &a->part[0]);
    if ((both = reduce_adjacent(a, "sum", rd_complex_of(re, im, a->call), /*last=*/true)))
        return rd_sqrt(both);
    sums.p = 0;
    return rd_sqrt(rd_add(fold(a, "sum", re, &sums), fold(a, "sum", im, &sums)));
}

/* ---- Rows ------------------------------------------------------------------------------------ */
static const row rows[] = {
    { "sum", build_sum, true },    { "prod", build_prod, true },  { "mean", build_parts, true },
    { "any", build_logic, false }, { "all", build_logic, false }, { "count", build_logic, false },
    { "var", build_var, false },   { "std", build_std, false },   { "norm", build_norm, false },
};

/* Finds how a reduction of complex numbers is made of parts; NULL: they have no such reduction. */
static const row *find_row(const char *name)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, name))
            return &rows[k];
    return NULL;
}

/* ---- Keywords of parts ----------------------------------------------------------------------- */
/* Replaces .skip_nan in the keywords of both parts by a mask: elements with NaN in either part of
 * any operand are left out.  False after a failure. */
static bool mask_nan(int n, rd_expr *const *x, rd_reduce_opts *part)
{
    rd_expr *where = part[0].where;

    for (int k = 0; k < n; k++) {
        rd_expr *is_number = rd_not(rd_isnan(x[k]));

        where = k || part[0].where ? rd_and(where, is_number) : is_number;
    }
    for (int p = 0; p < 2; p++) {
        part[p].skip_nan = false;
        part[p].where    = where;
    }
    return where != NULL;
}

/* Replaces a complex .type in the keywords by the type of its parts.  False after recording that
 * the type is real, which would lose the imaginary part. */
static bool split_type(const char *call, const rd_expr *x, rd_reduce_opts *part)
{
    const rd_dtype type = part[0].type;

    if (!type)
        return true;
    if (!rd_dtype_is_complex(type)) {
        rd_fail(x->ctx, RD_ERR_TYPE,
                "%s: .type is %s, and elements are complex; take rd_real() first", call,
                rd_dtype_name(type));
        return false;
    }
    part[0].type = part[1].type = rd_dtype_part(type);
    return true;
}

/* Copies the caller's keywords for both parts and splits .initial, .type and .skip_nan.  An older
 * caller's struct is shorter (size); the fields that it lacks are 0.  `complex`: the result is
 * complex, too.  False after recording what is wrong. */
bool rd_complex_options(const char *call, int n, rd_expr *const *x, const rd_reduce_opts *opts,
                        bool complex, rd_reduce_opts part[2])
{
    if (!rd_operands(call, n, x))
        return false;
    if (!opts) {
        rd_fail(x[0]->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", call);
        return false;
    }
    memset(&part[0], 0, sizeof part[0]);
    memcpy(&part[0], opts, opts->size && opts->size < sizeof *opts ? opts->size : sizeof *opts);
    part[0].size = 0; /* all fields */
    part[1]      = part[0];
    if (part[0].weights && rd_refuse_complex(call, 1, &part[0].weights))
        return false;
    for (int p = 0; p < 2; p++)
        if (part[p].initial && !(part[p].initial = part_of(part[p].initial, p)))
            return false;
    if (complex && !split_type(call, x[0], part))
        return false;
    return !part[0].skip_nan || mask_nan(n, x, part);
}

/* ---- By name --------------------------------------------------------------------------------- */
/* Records that complex numbers have no such reduction or scan; minima and maxima get a hint. */
static rd_expr *fail_no_reduction(const rd_expr *x, const char *name, bool scan)
{
    return rd_fail(x->ctx, RD_ERR_TYPE,
                   "rd_%s%s: elements are %s, and it takes real numbers alone%s",
                   scan ? "scan of " : "", name, rd_dtype_name(x->type),
                   strstr(name, "min") || strstr(name, "max")
                       ? ", as complex numbers have no order; reduce their rd_abs(), rd_real() or "
                         "rd_imag()"
                       : "");
}

/* Makes the reduction or scan that is requested: finds how it is made of parts, and splits its
 * keywords.  NULL after recording a failure. */
static rd_expr *build(request *a, const rd_reduce_opts *opts)
{
    const row *r = find_row(a->name);

    if (!r)
        return fail_no_reduction(a->x, a->name, a->scan);
    return rd_complex_options(a->call, 1, &a->x, opts, r->complex, a->part) ? r->build(a) : NULL;
}

/* Makes the reduction of a complex x by its name; failures name `call`. */
rd_expr *rd_complex_reduce(rd_expr *x, const char *call, const char *name,
                           const rd_reduce_opts *opts)
{
    return build(&(request){ .call = call, .name = name, .x = x }, opts);
}

/* Makes the scan of a complex x by its name. */
rd_expr *rd_complex_scan(rd_expr *x, const char *name, const rd_reduce_opts *opts)
{
    return build(&(request){ .call = "rd_scan", .name = name, .x = x, .scan = true }, opts);
}
