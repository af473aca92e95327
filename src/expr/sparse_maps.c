/* sparse_maps.c - maps, conversions and views of sparse expressions: of their values and fills. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <string.h>

/* ---- Maps ------------------------------------------------------------------------------------ */
static bool is_number(const rd_expr *x)
{
    return x->kind == RD_EXPR_NUMBER && x->rank == 0;
}

/* Of operands of one shape that whose places the result has: one with nothing elsewhere, if there
 * is.  -1: none is sparse. */
static int leader(int n, rd_expr *const *x)
{
    int found = -1;

    for (int k = n; k-- > 0;)
        if (rd_has_pattern(x[k]) && (found < 0 || !rd_fill_of(x[k]) || rd_fill_of(x[found])))
            found = k;
    return found;
}

/* The operands with the shape of all, but for numbers, which may be weak. */
static bool broadcast_all(const char *call, int n, rd_expr *const *x, rd_expr **y)
{
    int     rank;
    int64_t extent[RD_MAX_RANK];

    if (!rd_common_shape(call, n, x, &rank, extent))
        return false;
    for (int k = 0; k < n; k++)
        if (!(y[k] = is_number(x[k]) ? x[k] : rd_broadcast_to(x[k], rank, extent, call)))
            return false;
    return true;
}

enum { NO = -1, ALL, ANY, FIRST, MOST_DEEP = 16 };

static int keeps_zero(rd_op op)
{
    static const int8_t table[RD_N_OPS] = {
#define RD_OP(name, ...)
#define RD_TEST(name, ...)
#define RD_OF_ZERO(name, which) [RD_OP_##name] = 1 + (which),
#include "core/ops.def"
    };

    return table[op] - 1;
}

static rd_expr *map_dense(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    return op == RD_OP_where ? rd_map_op(op, call, n, x) : rd_map_rule(op, rule, call, n, x);
}

/* Is the result 0 where any of the operands is, all of which are 0 where nothing is stored?  Not of
 * floats, whose product of 0 may be NaN. */
static bool annihilates(rd_op op, int n, rd_expr *const *x)
{
    bool is = keeps_zero(op) == ANY;

    for (int k = 0; k < n && is; k++)
        is = rd_has_pattern(x[k]) && rd_fill_of(x[k]) && rd_zero_of(rd_fill_of(x[k])) == RD_ZERO &&
             rd_dtype_kind(x[k]->type) != RD_KIND_FLOAT;
    return is;
}

rd_expr *rd_sparse_map(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    rd_expr *y[3], *values[3], *fill[3], *at_stored, *elsewhere = NULL;
    int64_t  origin[RD_MAX_RANK];
    bool     nothing = false;

    if (!broadcast_all(call, n, x, y))
        return NULL;
    rd_origins_of_all(n, y, origin);
    if (!rd_from_0(n, y))
        return NULL;
    const int first = leader(n, y);
    if (first < 0) /* a view has made all of them dense */
        return rd_with_origins(map_dense(op, rule, call, n, y), origin);
    if (!rd_merge_patterns(call, y[first], annihilates(op, n, y), n, y))
        return NULL;
    for (int k = 0; k < n; k++) {
        if (!(values[k] = rd_at_stored(y[first], y[k], call)))
            return NULL;
        fill[k] = rd_has_pattern(y[k]) ? rd_fill_of(y[k]) : y[k];
        nothing |= !fill[k];
    }
    for (int k = 0; k < n && !nothing; k++) {
        if (rd_has_pattern(y[k]) && !rd_same_pattern(y[first], y[k]))
            fill[k] = rd_at_all_places(y[k], call);
        /* One element for all places, where it is the same: a long chain of maps shows it, too. */
        if (!(fill[k] = rd_slim(fill[k])))
            return NULL;
    }
    at_stored = map_dense(op, rule, call, n, values);
    if (!nothing)
        elsewhere = map_dense(op, rule, call, n, fill);
    if (!at_stored || (!nothing && !elsewhere))
        return NULL;
    at_stored = rd_broadcast_to(at_stored, rd_values_of(y[first])->rank,
                                rd_values_of(y[first])->extent, call);
    if (elsewhere)
        elsewhere = rd_broadcast_to(rd_cast_to(elsewhere, at_stored->type), y[first]->rank,
                                    y[first]->extent, call);
    return rd_sparse_from(rd_sparse_with(y[first], at_stored, elsewhere), origin);
}

static bool make_alike(const char *call, rd_expr *x[2])
{
    const int first = leader(2, x), other = 1 - first;

    if (!rd_merge_patterns(call, x[first], false, 2, x))
        return false;
    rd_expr *const lead = x[first], *const y = x[other];
    if (rd_has_pattern(y) && rd_same_pattern(lead, y) && !rd_fill_of(lead) == !rd_fill_of(y))
        return true;
    rd_expr *const old    = rd_values_of(lead);
    rd_expr       *values = rd_at_stored(lead, y, call), *fill = NULL;
    values = values ? rd_broadcast_to(values, old->rank, old->extent, call) : NULL;
    if (rd_fill_of(lead) && !(fill = rd_at_all_places(y, call)))
        return false;
    x[other] = rd_sparse_with(lead, values, fill);
    return x[other] != NULL;
}

bool rd_sparse_alike(const char *call, rd_expr *x[2])
{
    int64_t origin[RD_MAX_RANK];

    if (leader(2, x) < 0)
        return true;
    rd_origins_of_all(2, x, origin);
    if (!rd_from_0(2, x) || !make_alike(call, x))
        return false;
    for (int k = 0; k < 2 && x[k]; k++)
        x[k] = rd_sparse_from(x[k], origin);
    return x[0] && x[1];
}

rd_expr *rd_sparse_cast(rd_expr *x, rd_dtype type)
{
    rd_expr *const values = rd_cast_to(rd_values_of(x), type);
    rd_expr *const fill   = rd_cast_to(rd_fill_of(x), type);

    return values && (fill || !rd_fill_of(x)) ? rd_sparse_with(x, values, fill) : NULL;
}

/* ---- Views ----------------------------------------------------------------------------------- */
/* A view by offsets and coefficients, of x to `rank` axes. */
typedef struct seen {
    const rd_expr *x;
    int            rank;
    const int64_t *extent, *number;
    int            n; /* coordinates that stay    */
    rd_expr       *coord[RD_MAX_RANK];
    int64_t        axis[RD_MAX_RANK];
    uint64_t       taken; /* axes of the view along which they are */
} seen;

static int64_t coef(const seen *s, int a, int k)
{
    return s->number[s->x->rank + a * s->rank + k];
}

/* The axis of the view that is all of axis a, as it is; -1: there is none.  An axis of one element
 * is told from others of one element by its coefficient, which only says which one it is: -1 where
 * it is flipped.  Of several, as of a window of one element, it is the first. */
static int whole_axis(const seen *s, int a)
{
    const int64_t extent = s->x->extent[a];
    int           found  = -1;

    if (s->number[a] != 0)
        return -1;
    for (int k = 0; k < s->rank; k++) {
        if (coef(s, a, k) == 0 ||
            (extent == 1 ? s->extent[k] != 1 || found >= 0 : s->extent[k] == 1))
            continue;
        if (found >= 0 || s->extent[k] != extent || (extent > 1 && coef(s, a, k) != 1))
            return -1;
        found = k;
    }
    return found;
}

/* Coordinates stay with their axes.  Those along an axis of one element that the view has not, or
 * that it repeats, say nothing and are left out. */
static bool find_coords(seen *s)
{
    for (int k = 0; k < rd_coords_of(s->x); k++) {
        const int  a    = (int)s->x->as.sparse->axis[k];
        const int  at   = whole_axis(s, a);
        const bool free = at >= 0 && !(s->taken >> at & 1);

        if (!free && s->x->extent[a] == 1)
            continue;
        if (!free)
            return false;
        s->taken |= (uint64_t)1 << at;
        s->coord[s->n]  = s->x->in[2 + k];
        s->axis[s->n++] = at;
    }
    for (int k = s->rank; k-- > 0 && s->n == 0;) /* one of them says whether there is a place */
        if (s->extent[k] == 1) {
            s->taken    = (uint64_t)1 << k;
            s->coord[0] = s->x->in[2];
            s->axis[0]  = k;
            s->n        = 1;
        }
    return s->n > 0;
}

/* The same view of the values: their first axis, then those of the view that the pattern lacks. */
static rd_expr *values_seen(const seen *s)
{
    rd_expr *const values = rd_values_of(s->x);
    int64_t        extent[RD_MAX_RANK], number[RD_MAX_RANK * (RD_MAX_RANK + 1)];
    int            place[RD_MAX_RANK], rank = 1, d = 0;

    extent[0] = values->extent[0];
    for (int k = 0; k < s->rank; k++) {
        place[k] = s->taken >> k & 1 ? -1 : rank;
        if (place[k] >= 0 && rank < RD_MAX_RANK)
            extent[rank] = s->extent[k];
        rank += place[k] >= 0;
    }
    if (rank > RD_MAX_RANK)
        return NULL;
    memset(number, 0, (size_t)(values->rank * (rank + 1)) * sizeof *number);
    number[values->rank] = 1;
    for (int a = 0; a < s->x->rank; a++) {
        if (rd_coord_of_axis(s->x, a) >= 0)
            continue;
        number[++d] = s->number[a];
        for (int k = 0; k < s->rank; k++) {
            if (place[k] < 0 && coef(s, a, k) != 0 && s->extent[k] > 1)
                return NULL;
            if (place[k] >= 0)
                number[values->rank + d * rank + place[k]] = coef(s, a, k);
        }
    }
    return rd_view(values, rank, extent, number, NULL);
}

rd_expr *rd_sparse_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                        const int64_t *origin)
{
    seen           s      = { .x = x, .rank = rank, .extent = extent, .number = number };
    rd_expr *const values = find_coords(&s) ? values_seen(&s) : NULL;

    if (!values && rd_points(rank, extent) == 0)
        return rd_view(rd_dense(x), rank, extent, number, origin);
    if (!values) /* stored places are those of an array that is looked at in another way */
        return rd_view(rd_at_all_places(x, "rd_view"), rank, extent, number, origin);
    rd_expr *const fill = rd_view(rd_fill_of(x), rank, extent, number, NULL);
    return rd_sparse_from(rd_sparse_node(values, fill, rank, extent, s.n, s.coord, s.axis), origin);
}

/* ---- Fills ----------------------------------------------------------------------------------- */
/* A number that is not 0 or NaN by being multiplied by 0. */
static bool is_finite_number(const rd_expr *x)
{
    if (x->kind == RD_EXPR_VIEW)
        x = x->in[0];
    if (x->kind != RD_EXPR_NUMBER)
        return false;
    const double v = rd_word_to_double(x->as.number->value, x->type);
    return v - v == 0;
}

static rd_zero zero_of(const rd_expr *x, int deep);

static rd_zero zero_of_map(const rd_expr *x, int deep)
{
    const bool    real  = rd_dtype_kind(x->type) == RD_KIND_FLOAT;
    const int     which = keeps_zero(x->op);
    const rd_zero first = zero_of(x->in[0], deep + 1);
    rd_zero       all = first, any = first;
    bool          finite = first == RD_ZERO || (first == RD_NO_ZERO && is_finite_number(x->in[0]));

    if (x->op == RD_OP_cast) /* NaN is true, and 0 as an int */
        return first == RD_ZERO_OR_NAN && !real ? x->type == RD_BOOL ? RD_NO_ZERO : RD_ZERO : first;
    if (which == NO)
        return RD_NO_ZERO;
    for (int k = 1; k < x->n_in; k++) {
        const rd_zero z = x->in[k] == x->in[0] ? first : zero_of(x->in[k], deep + 1);

        finite &= z == RD_ZERO || (z == RD_NO_ZERO && is_finite_number(x->in[k]));
        all = z < all ? z : all;
        any = z > any ? z : any;
    }
    if (which == ALL)
        return all;
    if ((which == ANY ? any : first) == RD_NO_ZERO)
        return RD_NO_ZERO;
    return !real || (which == ANY && finite) ? RD_ZERO : RD_ZERO_OR_NAN;
}

static rd_zero zero_of(const rd_expr *x, int deep)
{
    if (deep > MOST_DEEP)
        return RD_NO_ZERO;
    switch (x->kind) {
    case RD_EXPR_NUMBER:
        return rd_word_to_double(x->as.number->value, x->type) == 0 ? RD_ZERO : RD_NO_ZERO;
    case RD_EXPR_VIEW:
    case RD_EXPR_RESHAPE: return zero_of(x->in[0], deep + 1);
    case RD_EXPR_MAP: return zero_of_map(x, deep);
    default: return RD_NO_ZERO;
    }
}

rd_zero rd_zero_of(const rd_expr *x)
{
    return zero_of(x, 0);
}

static uint64_t long_axes(const rd_expr *x)
{
    uint64_t axes = 0;

    for (int a = 0; a < x->rank; a++)
        axes |= (uint64_t)(x->extent[a] > 1) << a;
    return axes;
}

static uint64_t varies(const rd_expr *x, int deep)
{
    uint64_t axes = 0;

    if (x->kind == RD_EXPR_NUMBER)
        return 0;
    if (deep > MOST_DEEP || (x->kind != RD_EXPR_VIEW && x->kind != RD_EXPR_MAP))
        return long_axes(x);
    for (int i = 0; i < x->n_in && x->kind == RD_EXPR_MAP; i++)
        axes |= varies(x->in[i], deep + 1);
    if (x->kind == RD_EXPR_MAP)
        return axes;
    const uint64_t below = varies(x->in[0], deep + 1);
    for (int a = 0; a < x->in[0]->rank; a++)
        for (int k = 0; k < x->rank && below >> a & 1; k++)
            axes |= (uint64_t)(x->as.view->number[x->in[0]->rank + a * x->rank + k] != 0) << k;
    return axes;
}

uint64_t rd_varies(const rd_expr *x)
{
    return varies(x, 0);
}

rd_expr *rd_slim(rd_expr *x)
{
    const uint64_t axes = x ? rd_varies(x) | ~long_axes(x) : 0;

    for (int a = 0; x && a < x->rank; a++)
        if (!(axes >> a & 1))
            x = rd_slice_places(x, a, 0, 1, 1);
    return x;
}
