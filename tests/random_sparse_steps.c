/* random_sparse_steps.c - maps and views of sparse arrays and of their dense twins. */
#include "random_sparse.h"
#include "expr/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What both came to ----------------------------------------------------------------------- */
void sparse_note(sparse_case *c, sparse_verdict *v)
{
    v->status = rd_error(c->ctx);
    strncpy(v->why, v->status == RD_OK ? "" : rd_error_text(c->ctx), sizeof v->why - 1);
    v->why[sizeof v->why - 1] = 0;
    rd_error_clear(c->ctx);
}

void sparse_complain(sparse_case *c, const char *what, const char *why)
{
    if (!c->complaint[0])
        snprintf(c->complaint, sizeof c->complaint, "%s: %s", what, why);
}

static bool same_origins(rd_index x, rd_index y)
{
    return x.n == y.n && memcmp(x.at, y.at, (size_t)x.n * sizeof *x.at) == 0;
}

sparse_pair sparse_settle(sparse_case *c, const char *what, sparse_pair x, sparse_pair y,
                          const sparse_verdict *v, bool may)
{
    sparse_verdict dense;
    const bool     asks = v->status == RD_ERR_TYPE &&
                      ((may && strstr(v->why, "rd_dense")) || strstr(v->why, ".stored") ||
                       (x.stored && strstr(v->why, "rd_stored")));

    sparse_note(c, &dense);
    if (y.sparse && y.dense) {
        if (!same_origins(rd_origin_of(y.sparse), rd_origin_of(y.dense)))
            sparse_complain(c, what, "axes begin elsewhere");
        strncat(c->steps, what, sizeof c->steps - strlen(c->steps) - 3);
        strcat(c->steps, ", ");
        return y;
    }
    const bool empty =
        x.stored && dense.status == RD_ERR_EMPTY; /* which places are there is known */
    /* an axis that views repeat has any indices in one form, and is one like others in the other */
    const bool repeats =
        strstr(c->steps, "a view") && ((strstr(v->why, "rd_reindex") && dense.status == RD_OK) ||
                                       (v->status == RD_OK && strstr(dense.why, "rd_reindex")));
    if (v->status != dense.status && !asks && !empty && !repeats)
        snprintf(c->complaint, sizeof c->complaint, "%s of sparse arrays: %s %s; dense: %s %s",
                 what, rd_status_name(v->status), v->why, rd_status_name(dense.status), dense.why);
    c->refused++;
    return x;
}

/* ---- Operands -------------------------------------------------------------------------------- */
static bool same_shape(const rd_expr *x, const rd_expr *y)
{
    const rd_shape a = rd_shape_of(x), b = rd_shape_of(y);

    return a.n == b.n && memcmp(a.at, b.at, (size_t)a.n * sizeof *a.at) == 0;
}

/* One that broadcasts to x, or with one axis more in front. */
static sparse_pair small_leaf(sparse_case *c, sparse_pair x)
{
    const rd_shape s = rd_shape_of(x.sparse);
    rd_shape       t = { 0 };

    if (sparse_once(c, 8) && s.n < SPARSE_RANK)
        t.at[t.n++] = 2;
    for (int a = t.n ? 0 : sparse_below(c, s.n + 1); a < s.n; a++)
        t.at[t.n++] = sparse_once(c, 3) ? 1 : s.at[a];
    return sparse_beside(sparse_dense_leaf(c, sparse_type(c), t), x.dense);
}

static sparse_pair number(sparse_case *c)
{
    const double   v = (sparse_below(c, 9) - 4) / 2.0;
    rd_expr *const x = sparse_once(c, 2) ? rd_num(c->ctx, v) : rd_int(c->ctx, sparse_below(c, 4));

    return (sparse_pair){ .sparse = x, .dense = x, .most = 4, .grain = 0.5, .uniform = true };
}

sparse_pair sparse_partner(sparse_case *c, sparse_pair x)
{
    const sparse_pair y     = c->leaf[sparse_below(c, SPARSE_LEAVES)];
    const int64_t     first = rd_origin_of(y.dense).at[0];
    sparse_pair       z     = y;

    if (sparse_once(c, 5))
        return sparse_once(c, 3) ? x : number(c);
    if (!same_shape(x.sparse, y.sparse) || sparse_once(c, 5))
        return small_leaf(c, x);
    if (sparse_once(c, 6) && c->shape.at[0] > 0 && !y.stored) {
        SPARSE_BOTH(c, "a slice", y, y, z, false, rd_slice_axis(v, 0, first, first + 1, 1));
        z.axes    = 0;
        z.uniform = false;
    }
    return z;
}

double sparse_unit(const rd_expr *x)
{
    const rd_dtype type = rd_type_of(x);

    return type == RD_F16                     ? 4e-3
           : type == RD_BF16                  ? 3e-2
           : type == RD_F32 || type == RD_C64 ? 3e-6
                                              : 1e-13;
}

static bool is_float(const rd_expr *x)
{
    return rd_dtype_kind(rd_type_of(x)) == RD_KIND_FLOAT;
}

static bool is_complex(sparse_pair x)
{
    return rd_dtype_is_complex(rd_type_of(x.dense));
}

/* ---- Maps of one operand --------------------------------------------------------------------- */
/* Conversions keep what is not known to the bit out of ints, and what they wrap to in mind. */
static sparse_pair converted(sparse_case *c, sparse_pair x)
{
    const rd_dtype type = sparse_type(c);
    sparse_pair    y    = x;

    if (rd_dtype_is_complex(type) || is_complex(x) ||
        (x.rough > 0 && rd_dtype_kind(type) != RD_KIND_FLOAT))
        return x;
    SPARSE_BOTH(c, "a cast", x, x, y, false, rd_cast(v, type));
    if (type >= RD_U8 && type <= RD_U64)
        y.most = 2e19;
    if (rd_dtype_is_narrow_float(type) || type == RD_F32)
        y.grain = y.most > 1e4 ? 0 : y.grain;
    return y;
}

static sparse_pair map_one(sparse_case *c, sparse_pair x)
{
    sparse_pair   y   = x;
    rd_ctx *const ctx = c->ctx;

    switch (sparse_below(c, x.rough > 0 ? 5 : 15)) {
    case 0: SPARSE_BOTH(c, "neg", x, x, y, false, rd_neg(v)); break;
    case 1:
        y.grain = is_complex(x) ? 0 : x.grain;
        SPARSE_BOTH(c, "abs", x, x, y, false, rd_abs(v));
        break;
    case 2:
        if (x.most > 100)
            return x;
        y.most *= y.most;
        y.grain *= y.grain;
        SPARSE_BOTH(c, "square", x, x, y, false, rd_square(v));
        break;
    case 3:
        if (x.most > 8)
            return x;
        y.most  = 3000;
        y.grain = 0;
        SPARSE_BOTH(c, "exp", x, x, y, false, rd_exp(v));
        break;
    case 4:
        SPARSE_BOTH(c, "clip", x, x, y, false, rd_clip(v, rd_int(ctx, 0), rd_int(ctx, 1)));
        break;
    case 5:
        y.grain = 0;
        SPARSE_BOTH(c, "sqrt", x, x, y, false, rd_sqrt(rd_abs(v)));
        break;
    case 6: SPARSE_BOTH(c, "gt", x, x, y, false, rd_gt(v, rd_num(ctx, 0.5))); break;
    case 7: SPARSE_BOTH(c, "isnan", x, x, y, false, rd_isnan(v)); break;
    case 8:
        y.grain = is_complex(x) ? 0 : 1;
        SPARSE_BOTH(c, "sign", x, x, y, false, rd_sign(v));
        break;
    case 9:
        y.grain /= 4;
        SPARSE_BOTH(c, "floor", x, x, y, false, rd_floor(rd_mul(v, rd_num(ctx, 0.75))));
        break;
    case 10: SPARSE_BOTH(c, "not", x, x, y, false, rd_not(v)); break;
    case 11:
        if (x.summed || is_complex(x))
            return x;
        y.most  = 1e30;
        y.grain = 0;
        SPARSE_BOTH(c, "reciprocal", x, x, y, false, rd_reciprocal(v));
        break;
    case 12:
        if (x.most > 100)
            return x;
        y.most = x.most * x.most + 1;
        y.grain *= x.grain;
        SPARSE_BOTH(c, "text", x, x, y, false, rd_map_text(v, "x > 0 ? x * x + 1 : -x"));
        break;
    case 13: SPARSE_BOTH(c, "conj", x, x, y, false, rd_conj(v)); break;
    default: return converted(c, x);
    }
    if (rd_type_of(y.dense) >= RD_U8 && rd_type_of(y.dense) <= RD_U64)
        y.most = 2e19; /* of what is negative */
    return y;
}

/* ---- Axes of patterns ------------------------------------------------------------------------ */
/* Axes of x's pattern that y, of a shape to which x broadcasts, keeps.  One that is repeated is
 * none. */
static uint64_t axes_in(sparse_pair x, rd_shape shape)
{
    const rd_shape s    = rd_shape_of(x.dense);
    uint64_t       axes = 0;

    for (int a = 0; a < s.n; a++)
        if (s.at[a] == shape.at[shape.n - s.n + a])
            axes |= (x.axes >> a & 1) << (shape.n - s.n + a);
    return axes;
}

/* A map has the places of a sparse operand, or those of both. */
static uint64_t both_axes(sparse_pair x, sparse_pair z, sparse_pair y)
{
    const rd_shape s   = rd_shape_of(y.dense);
    const bool     one = rd_is_sparse(x.sparse), other = rd_is_sparse(z.sparse);

    if (!rd_is_sparse(y.sparse))
        return 0;
    return (one ? axes_in(x, s) : ~(uint64_t)0) & (other ? axes_in(z, s) : ~(uint64_t)0);
}

/* ---- Maps of two ----------------------------------------------------------------------------- */
static sparse_pair beside(sparse_pair x, sparse_pair z, sparse_pair y)
{
    if (y.sparse == x.sparse)
        return x;
    y.rough    = fmax(x.rough, z.rough);
    y.infinite = x.infinite || z.infinite;
    y.summed   = x.summed || z.summed;
    y.part     = x.part || z.part;
    y.axes     = both_axes(x, z, y);
    y.uniform  = x.uniform && z.uniform;
    if (x.stored || z.stored) {
        y.stored = !z.stored ? x.stored : !x.stored ? z.stored : rd_and(x.stored, z.stored);
        y.stored = rd_broadcast(y.stored, rd_shape_of(y.dense));
    }
    if (rd_type_of(y.dense) >= RD_U8 && rd_type_of(y.dense) <= RD_U64)
        y.most = 2e19;
    return y;
}

static sparse_pair map_two(sparse_case *c, sparse_pair x)
{
    sparse_pair z = sparse_partner(c, x), y = x;
    const bool  flips = x.rough > 0 || z.rough > 0;

    y.most  = x.most + z.most;
    y.grain = fmin(x.grain, z.grain);
    switch (sparse_below(c, 14)) {
    case 0:
    case 1:
        if (x.most * z.most > 1e4)
            return x;
        y.most  = 2 * x.most * z.most;
        y.grain = x.grain * z.grain;
        SPARSE_BOTH(c, "mul", x, z, y, false, rd_mul(v, w));
        break;
    case 2: SPARSE_BOTH(c, "add", x, z, y, false, rd_add(v, w)); break;
    case 3: SPARSE_BOTH(c, "sub", x, z, y, false, rd_sub(w, v)); break;
    case 4: SPARSE_BOTH(c, "maximum", x, z, y, false, rd_maximum(v, w)); break;
    case 5: SPARSE_BOTH(c, "fmin", x, z, y, false, rd_fmin(w, v)); break;
    case 6:
        if (z.summed || flips)
            return x;
        y.most  = 1e30;
        y.grain = 0;
        SPARSE_BOTH(c, "div", x, z, y, false, rd_div(v, w));
        break;
    case 7:
        if (flips)
            return x;
        SPARSE_BOTH(c, "where", x, z, y, false, rd_where(rd_ne(v, rd_int(c->ctx, 0)), v, w));
        break;
    case 8:
        if (flips)
            return x;
        SPARSE_BOTH(c, "and", x, z, y, false, rd_and(v, w));
        break;
    case 9:
        if (flips)
            return x;
        SPARSE_BOTH(c, "lt", x, z, y, false, rd_lt(w, v));
        break;
    case 10: SPARSE_BOTH(c, "bit_xor", x, z, y, false, rd_bit_xor(v, w)); break;
    case 11:
        if (x.most * z.most * z.most > 1e4)
            return x;
        y.most  = 4 * x.most * z.most * z.most;
        y.grain = x.grain * z.grain * z.grain;
        SPARSE_BOTH(c, "mul twice", x, z, y, false, rd_mul(rd_mul(w, v), w));
        break;
    case 12: SPARSE_BOTH(c, "complex", x, z, y, false, rd_complex(v, w)); break;
    default:
        if (flips)
            return x;
        SPARSE_BOTH(c, "masked", x, z, y, false,
                    rd_where(rd_gt(w, rd_num(c->ctx, 0)), v, rd_int(c->ctx, 0)));
    }
    return beside(x, z, y);
}

sparse_pair sparse_map(sparse_case *c, sparse_pair x)
{
    if (sparse_once(c, 5))
        return sparse_function(c, x);
    return sparse_once(c, 2) ? map_one(c, x) : map_two(c, x);
}

/* ---- Views ----------------------------------------------------------------------------------- */
static rd_index any_order(sparse_case *c, int rank)
{
    rd_index order = { .n = rank };

    for (int k = 0; k < rank; k++) {
        const int j = sparse_below(c, k + 1);

        order.at[k] = order.at[j];
        order.at[j] = k;
    }
    return order;
}

/* A view of what elements are where; with .stored, of where there are some, too. */
typedef struct seen {
    int      way, a, b;
    int64_t  i, step;
    rd_index order;
    rd_shape shape;
    rd_expr *index;
} seen;

static rd_expr *view_of(rd_expr *x, const seen *s)
{
    switch (s->way) {
    case 0: return rd_permute(x, s->order);
    case 1: return rd_expand(x, s->a);
    case 2: return rd_select(x, s->a, s->i);
    case 3: return rd_slice_axis(x, s->a, RD_OPEN, RD_OPEN, s->step);
    case 4: return rd_reshape(x, RD_SHAPE(-1));
    case 5: return rd_flip(x, RD_DIMS(s->a));
    case 6: return rd_broadcast(x, s->shape);
    case 7: return rd_diagonal(x, s->a, s->b, s->i - 1);
    case 8: return rd_take(x, s->a, s->index);
    case 9: return rd_window(x, s->a, s->i + 1, 1);
    case 10: return rd_slice_axis(x, s->a, s->i, RD_OPEN, 1);
    default: return rd_transpose(x);
    }
}

/* The axis of which a is one: the last two are exchanged. */
static int transposed(int a, int n)
{
    return n < 2 || a < n - 2 ? a : 2 * n - 3 - a;
}

/* Which axes of a pattern a view has, and that it is sparse if it has all axes. */
static sparse_pair seen_axes(sparse_case *c, sparse_pair x, sparse_pair y, const seen *s)
{
    const int  n     = rd_shape_of(x.dense).n;
    const bool whole = s->way <= 1 || s->way == 6 || s->way > 10;

    y.axes = 0;
    for (int a = 0; a < n; a++) {
        const int from = s->way == 0 ? (int)s->order.at[a] : s->way > 10 ? transposed(a, n) : a;
        const int to   = s->way == 1 ? a + (a >= s->a) : s->way == 6 ? a + 1 : a;

        y.axes |= whole ? (x.axes >> from & 1) << to : 0;
    }
    y.uniform &= whole;
    y.part |= x.rough > 0 && !whole;
    if (whole && rd_is_sparse(x.sparse) && !rd_is_sparse(y.sparse) &&
        !rd_dtype_is_complex(rd_type_of(x.dense)))
        sparse_complain(c, "a view", "it has all axes, and is not sparse");
    y.axes = rd_is_sparse(y.sparse) ? y.axes : 0;
    return y;
}

static sparse_pair seen_as(sparse_case *c, sparse_pair x)
{
    const rd_shape shape = rd_shape_of(x.sparse);
    seen           s     = { .way = sparse_below(c, 12), .a = sparse_below(c, shape.n) };
    sparse_pair    y     = x;

    s.b     = (s.a + 1) % shape.n;
    s.i     = shape.at[s.a] ? sparse_below(c, (int)shape.at[s.a]) : 0;
    s.step  = sparse_once(c, 2) ? -1 : 2;
    s.order = any_order(c, shape.n);
    if (shape.n >= SPARSE_RANK && (s.way == 1 || s.way == 6 || s.way == 9))
        return x;
    s.shape.n     = shape.n + 1;
    s.shape.at[0] = 2;
    memcpy(s.shape.at + 1, shape.at, (size_t)shape.n * sizeof *shape.at);
    s.index = rd_broadcast(rd_int(c->ctx, 0), RD_SHAPE(shape.at[s.a]));
    s.index = rd_floordiv(rd_coord(s.index, 0), rd_int(c->ctx, 2));
    s.index = rd_add(s.index, rd_int(c->ctx, rd_origin_of(x.dense).at[s.a]));
    SPARSE_BOTH(c, "a view", x, x, y, false, view_of(v, &s));
    if (y.sparse != x.sparse && x.stored)
        y.stored = view_of(x.stored, &s);
    return y.sparse != x.sparse ? seen_axes(c, x, y, &s) : x;
}

/* Arrays made of others, of what is at all places. */
static sparse_pair made(sparse_case *c, sparse_pair x)
{
    const rd_shape    shape = rd_shape_of(x.sparse);
    const int         a     = sparse_below(c, shape.n);
    const sparse_pair z     = c->leaf[sparse_below(c, SPARSE_LEAVES)];
    sparse_pair       y     = x;

    if (x.stored)
        return x;
    y.axes    = 0;
    y.uniform = false;
    switch (sparse_below(c, 9)) {
    case 0:
        if (!same_shape(x.sparse, z.sparse) || z.stored)
            return x;
        y.most  = fmax(x.most, z.most);
        y.grain = fmin(x.grain, z.grain);
        SPARSE_BOTH(c, "concat", x, z, y, false, rd_concat(a, RD_EXPRS(v, w)));
        break;
    case 1: SPARSE_BOTH(c, "roll", x, x, y, false, rd_roll(v, a, 2)); break;
    case 2: SPARSE_BOTH(c, "pad", x, x, y, false, rd_pad(v, a, 1, 2, RD_PAD_CONSTANT, NULL)); break;
    case 3: SPARSE_BOTH(c, "repeat", x, x, y, false, rd_repeat(v, a, 2)); break;
    case 4: SPARSE_BOTH(c, "tril", x, x, y, false, rd_tril(v, 0)); break;
    case 5:
        y.most *= 2;
        SPARSE_BOTH(c, "diff", x, x, y, false, rd_diff(v, a, 1));
        break;
    case 6: SPARSE_BOTH(c, "sort", x, x, y, true, rd_sort(v, a)); break;
    case 7:
        if (x.rough > 0)
            return x;
        SPARSE_BOTH(c, "argsort", x, x, y, true, rd_argsort(v, a));
        y.most = y.sparse == x.sparse ? x.most : 200;
        break;
    default:
        if (!is_float(x.dense) || x.most > 300)
            return x;
        SPARSE_BOTH(c, "softmax", x, x, y, false, rd_softmax(v, RD_DIMS(a)));
        y.rough = fmax(x.rough, sparse_unit(x.dense));
        y.most  = fmax(1, x.most);
    }
    if (rd_type_of(y.dense) >= RD_U8 && rd_type_of(y.dense) <= RD_U64)
        y.most = 2e19;
    return y;
}

sparse_pair sparse_view(sparse_case *c, sparse_pair x)
{
    return sparse_once(c, 3) ? made(c, x) : seen_as(c, x);
}

/* ---- Any ------------------------------------------------------------------------------------- */
sparse_pair sparse_step(sparse_case *c, sparse_pair x)
{
    const int what = sparse_below(c, 20);

    const rd_shape shape = rd_shape_of(x.sparse);

    if (rd_points(shape.n, shape.at) > 2000)
        return sparse_fold(c, x);
    if (shape.n == 0 || what < 8)
        return sparse_map(c, x);
    if (what < 12)
        return sparse_view(c, x);
    if (what < 16)
        return sparse_fold(c, x);
    return what < 17 ? sparse_scan(c, x) : sparse_product(c, x);
}
