/* rolling.c - reductions of each window of n neighbours, in a time that does not grow with n.
 *
 * The axis is cut into blocks of n elements.  A window that ends at element j of a block has
 * elements 0..j of it, and those after j of the block before: a prefix of the one and a suffix of
 * the other, which are scans (van Herk 1992, Gil and Werman 1993, for minima).  No element is ever
 * taken away again, so that a NaN or an infinity ends with its windows, nothing cancels, and all
 * that holds for sums holds for minima.  One pass does it, over rows that stay in cache. */
#include "expr/complex.h"
#include <math.h>

/* Windows that are so short are reduced one by one, which vectors do faster. */
enum { SHORT = 48, SHORT_VAR = 16 };

typedef struct rolling rolling;
struct rolling {
    const char *call;
    rd_expr    *x;
    int         axis;
    int64_t     n; /* elements of a window */
    double      ddof;
    const char *reducer; /* NULL: var */
    rd_expr *(*join)(const rolling *r, rd_expr *older, rd_expr *newer);
};

static rd_expr *map_2(const rolling *r, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, r->call, 2, (rd_expr *const[]){ x, y });
}

/* ---- Windows of a block and the one before, along the axis after `axis` ---------------------- */
/* The suffixes that go with the first elements of a block, of which the last may have fewer. */
static rd_expr *beside(const rolling *r, rd_expr *suffixes, const rd_expr *newer)
{
    return newer ? rd_slice_axis(suffixes, r->axis + 1, 0, newer->extent[r->axis + 1], 1) : NULL;
}

static rd_expr *join_sum(const rolling *r, rd_expr *older, rd_expr *newer)
{
    const rd_dims along    = RD_DIMS(r->axis + 1);
    rd_expr      *suffixes = rd_scan(older, "sum", along, .reverse = true, .exclusive = true);

    return map_2(r, RD_OP_add, beside(r, suffixes, newer), rd_scan(newer, "sum", along));
}

/* The first element of the newer block is in all of its windows: where none of the older block is,
 * it stands for them. */
static rd_expr *join_extreme(const rolling *r, rd_expr *older, rd_expr *newer)
{
    const rd_dims along = RD_DIMS(r->axis + 1);
    const rd_op   op    = r->reducer[1] == 'i' ? RD_OP_minimum : RD_OP_maximum;
    rd_expr      *first = newer ? rd_slice_axis(newer, r->axis + 1, 0, 1, 1) : NULL;
    rd_expr      *suffixes =
        rd_scan(older, r->reducer, along, .reverse = true, .exclusive = true, .initial = first);

    return map_2(r, op, beside(r, suffixes, newer), rd_scan(newer, r->reducer, along));
}

/* A number near the elements of the block, to be taken from them before they are squared: what
 * cancels then is no more than how far they lie apart.  The mean of those that are finite. */
static rd_expr *near(const rolling *r, rd_expr *x)
{
    rd_expr *finite = rd_map_op(RD_OP_isfinite, r->call, 1, &x);
    rd_expr *mean   = finite ? rd_mean(x, RD_KEEP(r->axis + 1), .where = finite) : NULL;
    rd_expr *known  = rd_map_op(RD_OP_isfinite, r->call, 1, &mean);

    return mean ? rd_map_op(RD_OP_where, r->call, 3,
                            (rd_expr *const[]){ known, mean, rd_int(x->ctx, 0) })
                : NULL;
}

static rd_expr *join_var(const rolling *r, rd_expr *older, rd_expr *newer)
{
    rd_expr *centre  = near(r, older);
    rd_expr *a       = map_2(r, RD_OP_sub, older, centre);
    rd_expr *b       = map_2(r, RD_OP_sub, newer, centre);
    rd_expr *sum     = join_sum(r, a, b);
    rd_expr *squares = join_sum(r, rd_map_op(RD_OP_square, r->call, 1, &a),
                                rd_map_op(RD_OP_square, r->call, 1, &b));
    rd_expr *number  = rd_num(r->x->ctx, (double)r->n);
    rd_expr *part    = map_2(r, RD_OP_div, rd_map_op(RD_OP_square, r->call, 1, &sum), number);
    rd_expr *apart =
        map_2(r, RD_OP_maximum, map_2(r, RD_OP_sub, squares, part), rd_int(r->x->ctx, 0));
    const double by = (double)r->n - r->ddof;

    return map_2(r, RD_OP_div, apart, rd_num(r->x->ctx, by > 0 ? by : NAN));
}

/* ---- The axis in blocks ------------------------------------------------------------------------ */
static rd_expr *part(const rolling *r, int64_t start, int64_t stop)
{
    return rd_slice_axis(r->x, r->axis, start, stop, 1);
}

/* Elements from `start` on as `count` blocks of n, which are the next axis. */
static rd_expr *blocks(const rolling *r, int64_t start, int64_t count, int64_t n)
{
    rd_expr *x     = rd_window(part(r, start, start + count * n), r->axis, n, n);
    rd_index order = { .n = r->x->rank + 1 };

    for (int k = 0; k < order.n; k++)
        order.at[k] = k <= r->axis ? k : k == r->axis + 1 ? order.n - 1 : k - 1;
    return x ? rd_permute(x, order) : NULL;
}

/* Blocks joined again. */
static rd_expr *flat(const rolling *r, rd_expr *y)
{
    rd_shape shape = rd_shape_of(r->x);

    if (!y)
        return NULL;
    shape.at[r->axis] = y->extent[r->axis] * y->extent[r->axis + 1];
    return rd_reshape(y, shape);
}

static rd_expr *each(const rolling *r, rd_expr *x)
{
    rd_expr *windows = rd_window(x, r->axis, r->n, 1);

    return r->reducer ? rd_reduce(windows, r->reducer, RD_DIMS(-1))
                      : rd_var(windows, RD_DIMS(-1), .ddof = r->ddof);
}

/* The window that is the first block, those that end in whole blocks after it, and those in what
 * is left. */
static rd_expr *joined(const rolling *r)
{
    const int64_t extent = r->x->extent[r->axis], n = r->n;
    const int64_t whole = extent / n - 1, left = extent % n, end = (whole + 1) * n;
    rd_expr      *parts[3] = { each(r, part(r, 0, n)) };
    rd_exprs      all      = { parts, 1 };

    if (whole > 0)
        parts[all.n++] = flat(r, r->join(r, blocks(r, 0, whole, n), blocks(r, n, whole, n)));
    if (left > 0)
        parts[all.n++] = flat(r, r->join(r, blocks(r, end - n, 1, n), blocks(r, end, 1, left)));
    return rd_concat(r->axis, all);
}

static bool begin(rolling *r, rd_expr *x, int axis, int64_t n)
{
    if (!rd_operands(r->call, 1, &x) || (r->axis = rd_axis(x, axis, r->call)) < 0)
        return false;
    if (n < 1) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: windows of %lld elements, at least 1 is needed",
                r->call, (long long)n);
        return false;
    }
    r->n = n;
    r->x = rd_cast_to(x, x->type);
    return r->x != NULL;
}

static rd_expr *reduced(const rolling *r)
{
    const int64_t extent   = r->x->extent[r->axis];
    const bool    is_short = r->n <= (r->reducer ? SHORT : SHORT_VAR);
    /* what joins blocks has an axis more than x */
    return is_short || r->n > extent || r->x->rank == RD_MAX_RANK ? each(r, r->x) : joined(r);
}

/* ---- Public functions ------------------------------------------------------------------------- */
rd_expr *rd_rolling_min(rd_expr *x, int axis, int64_t n)
{
    rolling r = { .call = "rd_rolling_min", .reducer = "min", .join = join_extreme };

    return begin(&r, x, axis, n) ? reduced(&r) : NULL;
}

rd_expr *rd_rolling_max(rd_expr *x, int axis, int64_t n)
{
    rolling r = { .call = "rd_rolling_max", .reducer = "max", .join = join_extreme };

    return begin(&r, x, axis, n) ? reduced(&r) : NULL;
}

/* x in the type that is added in, of halves wider. */
static bool begin_sum(rolling *r, rd_expr *x, int axis, int64_t n, rd_dtype type)
{
    r->reducer = "sum";
    r->join    = join_sum;
    if (!begin(r, x, axis, n))
        return false;
    r->x = rd_cast_to(r->x, rd_dtype_is_half(type) ? RD_F32 : type);
    return r->x != NULL;
}

/* Of what is divided: ints give f64. */
static rd_dtype quotient_type(const rd_expr *x)
{
    const rd_kind kind = x ? rd_dtype_kind(x->type) : RD_KIND_FLOAT;

    return kind == RD_KIND_FLOAT || kind == RD_KIND_COMPLEX ? rd_type_of(x) : RD_F64;
}

rd_expr *rd_rolling_sum(rd_expr *x, int axis, int64_t n)
{
    rolling        r    = { .call = "rd_rolling_sum" };
    const rd_dtype type = rd_type_of(x);

    if (!begin_sum(&r, x, axis, n, type))
        return NULL;
    rd_expr *y = reduced(&r);
    return rd_dtype_is_half(type) ? rd_cast_to(y, type) : y;
}

rd_expr *rd_rolling_mean(rd_expr *x, int axis, int64_t n)
{
    rolling        r    = { .call = "rd_rolling_mean" };
    const rd_dtype type = quotient_type(x);

    if (!begin_sum(&r, x, axis, n, type))
        return NULL;
    return rd_cast_to(map_2(&r, RD_OP_div, reduced(&r), rd_num(x->ctx, (double)n)), type);
}

static rd_expr *variance(rolling *r, rd_expr *x, int axis, int64_t n)
{
    if (!begin_sum(r, x, axis, n, quotient_type(x)) || rd_refuse_complex(r->call, 1, &x))
        return NULL;
    r->reducer = NULL;
    r->join    = join_var;
    return reduced(r);
}

rd_expr *rd_rolling_var(rd_expr *x, int axis, int64_t n, double ddof)
{
    rolling r = { .call = "rd_rolling_var", .ddof = ddof };

    return rd_cast_to(variance(&r, x, axis, n), quotient_type(x));
}

rd_expr *rd_rolling_std(rd_expr *x, int axis, int64_t n, double ddof)
{
    rolling  r = { .call = "rd_rolling_std", .ddof = ddof };
    rd_expr *y = variance(&r, x, axis, n);

    return rd_cast_to(rd_map_op(RD_OP_sqrt, r.call, 1, &y), quotient_type(x));
}
