/* Sparse expressions beside the same ones of dense arrays: random formats, patterns, maps, views and
 * reductions; and what leaves refuse. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Random numbers -------------------------------------------------------------------------- */
typedef struct rng {
    uint64_t state;
} rng;

static int below(rng *r, int n)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (int)(r->state * UINT64_C(0x9e3779b97f4a7c15) >> 33) % n;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */
enum { MOST_RANK = 5, ROOM = 4096, OPERANDS = 3 };

/* An array in both forms.  Places are numbered in C order of its levels' axes. */
typedef struct both {
    int      rank, n;
    rd_shape shape;
    rd_dtype type;
    int64_t  at[ROOM]; /* of each stored place, its number */
    double   wide[ROOM], whole[ROOM];
    union {
        double  f64[ROOM];
        float   f32[ROOM];
        int32_t i32[ROOM];
        bool    truth[ROOM];
    } values, dense;
    int32_t  crd[MOST_RANK][ROOM], pos[MOST_RANK][ROOM];
    rd_level level[MOST_RANK];
    rd_expr *sparse, *other;
} both;

static void store(both *b, void *to, const double *from, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        switch (b->type) {
        case RD_F32: ((float *)to)[k] = (float)from[k]; break;
        case RD_I32: ((int32_t *)to)[k] = (int32_t)from[k]; break;
        case RD_BOOL: ((bool *)to)[k] = from[k] != 0; break;
        default: ((double *)to)[k] = from[k];
        }
}

static double any_value(rng *r)
{
    const int k = below(r, 40);

    return k == 0 ? NAN : k == 1 ? INFINITY : (below(r, 9) - 4) / 2.0;
}

/* Kinds that go together: coordinates come last, or from the first level on. */
static void choose_levels(rng *r, both *b)
{
    const int all             = below(r, 3);
    bool      used[MOST_RANK] = { false };

    for (int k = 0; k < b->rank; k++) {
        int a = below(r, b->rank);

        while (used[a])
            a = (a + 1) % b->rank;
        used[a]     = true;
        b->level[k] = (rd_level){ .axis = a,
                                  .kind = all == 0   ? RD_LEVEL_COORDINATES
                                          : all == 1 ? (k == b->rank - 1 ? RD_LEVEL_COMPRESSED
                                                                         : RD_LEVEL_DENSE)
                                                     : (rd_level_kind)below(r, 2) };
    }
}

/* The tree of places, level by level: node j of a level stands for the places before it. */
static void build_levels(rng *r, both *b)
{
    int64_t   node[ROOM] = { 0 }, next[ROOM];
    const int one_in     = 1 + below(r, 6);
    int       n          = 1;

    for (int k = 0; k < b->rank; k++) {
        rd_level *const l = &b->level[k];
        const int       e = (int)b->shape.at[l->axis];
        int             m = 0;

        for (int j = 0; j < n; j++) {
            b->pos[k][j] = m;
            for (int i = 0; i < e; i++)
                if (l->kind == RD_LEVEL_DENSE || below(r, one_in) == 0 || one_in == 1) {
                    b->crd[k][m] = i;
                    next[m++]    = node[j] * e + i;
                }
        }
        b->pos[k][n] = m;
        if (l->kind == RD_LEVEL_COMPRESSED)
            l->pos = rd_wrap(ctx, b->pos[k], RD_SHAPE(n + 1));
        if (l->kind != RD_LEVEL_DENSE)
            l->crd = rd_wrap(ctx, b->crd[k], RD_SHAPE(m));
        n = m;
        memcpy(node, next, sizeof node);
    }
    memcpy(b->at, node, sizeof node);
    b->n = n;
}

/* Coordinates list each place with all its indices. */
static void spread_coordinates(both *b)
{
    int64_t each = 1;

    if (b->level[0].kind != RD_LEVEL_COORDINATES)
        return;
    for (int k = b->rank; k-- > 0;) {
        const int64_t e = b->shape.at[b->level[k].axis];

        for (int p = 0; p < b->n; p++)
            b->crd[k][p] = (int32_t)(b->at[p] / each % e);
        b->level[k].crd = rd_wrap(ctx, b->crd[k], RD_SHAPE(b->n));
        each *= e;
    }
}

/* Where a place lies in C order of the axes. */
static int64_t place_of(const both *b, int64_t number)
{
    int64_t index[MOST_RANK], at = 0;

    for (int k = b->rank; k-- > 0;) {
        const int64_t e = b->shape.at[b->level[k].axis];

        index[b->level[k].axis] = number % e;
        number /= e;
    }
    for (int a = 0; a < b->rank; a++)
        at = at * b->shape.at[a] + index[a];
    return at;
}

static void make_both(rng *r, both *b, rd_dtype type, rd_shape shape)
{
    const double fill   = below(r, 3) ? 0 : (below(r, 5) - 2) / (type == RD_I32 ? 1.0 : 2.0);
    int64_t      points = 1;

    b->type  = type;
    b->shape = shape;
    b->rank  = shape.n;
    for (int a = 0; a < b->rank; a++)
        points *= shape.at[a];
    choose_levels(r, b);
    build_levels(r, b);
    spread_coordinates(b);
    for (int64_t k = 0; k < points; k++)
        b->whole[k] = type == RD_BOOL ? fill != 0 : fill;
    for (int k = 0; k < b->n; k++) {
        b->wide[k] = any_value(r);
        if (type == RD_I32)
            b->wide[k] = below(r, 9) - 4;
        b->whole[place_of(b, b->at[k])] = b->wide[k];
    }
    store(b, &b->values, b->wide, b->n);
    store(b, &b->dense, b->whole, points);
    const rd_array values = { .in = &b->values, .type = type, .shape = RD_SHAPE(b->n) };
    const rd_array dense  = { .in = &b->dense, .type = type, .shape = shape };
    b->sparse             = rd_sparse(ctx, shape, { b->level, b->rank }, rd_leaf(ctx, &values),
                                      .fill = rd_cast(rd_num(ctx, fill), type));
    b->other              = rd_leaf(ctx, &dense);
}

/* ---- Expressions ----------------------------------------------------------------------------- */
static const char *const reductions[] = { "sum",       "prod",   "min",  "max", "any",
                                          "all",       "count",  "mean", "var", "norm",
                                          "logsumexp", "argmax", "std" };

static rd_expr *reduced(rng *r, rd_expr *x)
{
    const char    *name = reductions[below(r, COUNT(reductions))];
    rd_reduce_opts o    = { .size = sizeof o };

    for (int a = 0; a < rd_shape_of(x).n; a++)
        if (below(r, 2))
            o.dims.axis[o.dims.n++] = a;
    if (below(r, 3) == 0)
        o.dims.flags = RD_DIMS_KEEP;
    if (below(r, 4) == 0)
        o.skip_nan = true;
    return rd_reduce_name(x, name, &o);
}

static rd_expr *viewed(rng *r, rd_expr *x)
{
    const rd_shape s     = rd_shape_of(x);
    rd_index       order = { .n = s.n };

    if (s.n == 0)
        return x;
    const int a = below(r, s.n);
    switch (below(r, 5)) {
    case 0:
        for (int k = 0; k < s.n; k++)
            order.at[k] = (k + a) % s.n;
        return rd_permute(x, order);
    case 1: return s.n < MOST_RANK ? rd_expand(x, a) : x;
    case 2: return s.at[a] ? rd_select(x, a, below(r, (int)s.at[a])) : x;
    case 3: return rd_slice_axis(x, a, RD_OPEN, RD_OPEN, below(r, 2) ? -1 : 2);
    default: return rd_reshape(x, RD_SHAPE(-1));
    }
}

static rd_expr *mapped(rng *r, rd_expr *x, rd_expr *y)
{
    switch (below(r, 14)) {
    case 0: return rd_neg(x);
    case 1: return rd_abs(x);
    case 2: return rd_exp(x);
    case 3: return rd_square(x);
    case 4: return rd_gt(x, rd_num(ctx, 0.5));
    case 5: return rd_mul(x, y);
    case 6: return rd_add(x, y);
    case 7: return rd_maximum(x, y);
    case 8: return rd_div(x, y);
    case 9: return rd_where(rd_ne(x, rd_int(ctx, 0)), x, y);
    case 10: return rd_mul(rd_mul(y, x), y);
    case 11: return rd_mul(x, rd_num(ctx, 1.5));
    case 12: return rd_and(x, y);
    default: return rd_sub(y, x);
    }
}

/* An operand that goes with x: itself, the first one seen with all its axes or a part, or a number. */
static rd_expr *partner(rng *r, rd_expr *x, rd_expr *const *in)
{
    rd_expr *y = in[1 + below(r, OPERANDS - 1)];

    if (rd_shape_of(x).n != rd_shape_of(y).n ||
        memcmp(rd_shape_of(x).at, rd_shape_of(y).at, (size_t)rd_shape_of(x).n * 8) != 0)
        return below(r, 2) ? x : rd_num(ctx, 2);
    return below(r, 2) ? y : rd_select(y, 0, 0);
}

static rd_expr *expression(rng r, rd_expr *const *in)
{
    rd_expr  *x = in[0];
    const int n = 1 + below(&r, 5);

    for (int k = 0; k < n && x; k++) {
        const int what = below(&r, 8);

        if (what == 0)
            x = viewed(&r, x);
        else if (what < 3 && k > 0)
            x = reduced(&r, x);
        else if (rd_shape_of(x).n == 0)
            x = rd_neg(x);
        else
            x = mapped(&r, x, rd_shape_of(x).at[0] ? partner(&r, x, in) : x);
    }
    return x;
}

/* ---- Both beside each other ------------------------------------------------------------------ */
static bool alike(double x, double y, rd_dtype type)
{
    const double eps = type == RD_F32 ? 3e-5 : 1e-10;

    if (isnan(x) || isnan(y) || isinf(x) || isinf(y))
        return (isnan(x) && isnan(y)) || x == y;
    return fabs(x - y) <= eps * (1 + fabs(x) + fabs(y));
}

static void compare(uint64_t seed, rd_expr *x, rd_expr *y)
{
    rd_array  got = { 0 }, want = { 0 };
    int64_t   n = 1;
    rd_status s = rd_eval(ctx, y, &want);

    if (s != RD_OK) {
        rd_error_clear(ctx);
        ck_assert_msg(rd_eval(ctx, x, &got) != RD_OK, "seed %llu", (unsigned long long)seed);
        rd_error_clear(ctx);
        return;
    }
    s = rd_eval(ctx, x, &got);
    ck_assert_msg(s == RD_OK, "seed %llu: %s", (unsigned long long)seed, rd_error_text(ctx));
    ck_assert_msg(got.type == want.type && got.shape.n == want.shape.n, "seed %llu: other types",
                  (unsigned long long)seed);
    for (int a = 0; a < got.shape.n; a++) {
        ck_assert_int_eq(got.shape.at[a], want.shape.at[a]);
        n *= got.shape.at[a];
    }
    for (int64_t k = 0; k < n; k++) {
        const double g = get(got.in, got.type, k), w = get(want.in, want.type, k);

        ck_assert_msg(alike(g, w, got.type), "seed %llu: element %lld is %.17g, not %.17g",
                      (unsigned long long)seed, (long long)k, g, w);
    }
    rd_array_free(&got);
    rd_array_free(&want);
}

static void one_case(uint64_t seed, both *b)
{
    static const rd_dtype types[] = { RD_F64, RD_F32, RD_I32, RD_BOOL };
    rng                   r       = { seed * UINT64_C(0x2545f4914f6cdd1d) + 1 };
    rd_shape              shape   = { .n = 1 + below(&r, MOST_RANK) };
    rd_expr              *sparse[OPERANDS], *dense[OPERANDS];
    const rd_mark         mark = rd_ctx_mark(ctx);

    for (int k = 0; k < 4; k++)
        below(&r, 2);
    shape.n = 1 + below(&r, MOST_RANK);
    for (int a = 0; a < shape.n; a++)
        shape.at[a] = below(&r, 30) == 0 ? 0 : 1 + below(&r, shape.n > 3 ? 3 : 6);
    for (int k = 0; k < OPERANDS; k++) {
        make_both(&r, &b[k], types[below(&r, 4)], shape);
        ck_assert_msg(rd_error(ctx) == RD_OK, "seed %llu: %s", (unsigned long long)seed,
                      rd_error_text(ctx));
        dense[k]  = b[k].other;
        sparse[k] = k == OPERANDS - 1 ? dense[k] : b[k].sparse;
    }
    rd_expr *const  y = expression(r, dense);
    const rd_status s = rd_error(ctx);
    rd_error_clear(ctx);
    rd_expr *const x = expression(r, sparse);
    ck_assert_msg((x != NULL) == (y != NULL), "seed %llu: %s, not %s", (unsigned long long)seed,
                  rd_error_text(ctx), rd_status_name(s));
    rd_error_clear(ctx);
    if (x && getenv("RDIM_SPARSE_SEED"))
        printf("%s\n%s\n", rd_graphviz(ctx, RD_RESULTS({ x, NULL })),
               rd_graphviz(ctx, RD_RESULTS({ y, NULL })));
    if (x)
        compare(seed, x, y);
    rd_ctx_release(ctx, mark);
}

START_TEST(random_expressions)
{
    both *const b     = malloc(OPERANDS * sizeof *b);
    const char *one   = getenv("RDIM_SPARSE_SEED");
    const int   cases = 20000 / suite_part(SANITIZED ? 400 : 50);

    ck_assert_ptr_nonnull(b);
    for (int k = 0; k < cases && !one; k++)
        one_case((uint64_t)k, b);
    if (one)
        one_case(strtoull(one, NULL, 10), b);
    free(b);
}
END_TEST

/* ---- Leaves ---------------------------------------------------------------------------------- */
START_TEST(matrices)
{
    /* 0 1 0 / 0 0 0 / 2 0 3 */
    static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 }, row[] = { 0, 2, 2 };
    static const int32_t down[] = { 0, 1, 2, 3 }, of[] = { 2, 0, 2 };
    static const float   v[] = { 1, 2, 3 }, turned[] = { 2, 1, 3 };
    rd_expr *const       x = leaf(RD_F32, VALUES(1, 10, 100));
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const       values = rd_wrap(ctx, v, RD_SHAPE(3));
    rd_expr *const       csr    = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values);
    rd_expr *const       csc    = rd_csc(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, down, RD_SHAPE(4)),
                                         rd_wrap(ctx, of, RD_SHAPE(3)), rd_wrap(ctx, turned, RD_SHAPE(3)));
    rd_expr *const coo   = rd_coo(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, row, RD_SHAPE(3)), c, values);
    rd_expr *const all[] = { csr, csc, coo };

    for (int k = 0; k < 3; k++) {
        expect("dense", all[k], RD_F32, VALUES(0, 1, 0, 0, 0, 0, 2, 0, 3));
        expect("row", rd_select(all[k], 0, 2), RD_F32, VALUES(2, 0, 3));
        expect("A x", rd_matmul(all[k], x), RD_F32, VALUES(10, 0, 302));
        expect("x A", rd_matmul(x, all[k]), RD_F32, VALUES(200, 1, 300));
        expect("rows", rd_sum(all[k], RD_DIMS(1)), RD_F32, VALUES(1, 0, 5));
        ck_assert(rd_is_sparse(rd_mul(rd_transpose(all[k]), rd_num(ctx, 2))));
    }
    expect("pattern", rd_csr(ctx, RD_SHAPE(3, 3), p, c, NULL), RD_BOOL,
           VALUES(0, 1, 0, 0, 0, 0, 1, 0, 1));
    expect("stored", rd_stored(rd_mul(csr, csr)), RD_F32, VALUES(1, 4, 9));
    expect("where", rd_stored_at(csr, 1), RD_I32, VALUES(1, 0, 2));
    expect("as", rd_sum(rd_stored_as(csr, leaf(RD_F64, VALUES(1, 1, 2))), RD_DIMS(0)), RD_F64,
           VALUES(1, 1, 2));
}
END_TEST

START_TEST(nothing_elsewhere)
{
    static const int32_t pos[] = { 0, 1, 1, 3 }, crd[] = { 1, 0, 2 };
    static const float   v[] = { 1, 2, 3 };
    rd_expr *const       p = rd_wrap(ctx, pos, RD_SHAPE(4)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const       values = rd_wrap(ctx, v, RD_SHAPE(3));
    rd_expr *const       a      = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values, .stored = true);
    rd_expr *const       b      = rd_csr(ctx, RD_SHAPE(3, 3), p, c, values);
    rd_expr *const       x      = leaf(RD_F32, VALUES(1, INFINITY, 1));

    expect("stored", rd_matmul(a, x), RD_F32, VALUES(INFINITY, 0, 5));
    expect("all", rd_matmul(b, x), RD_F32, VALUES(INFINITY, NAN, NAN));
    expect("mean", rd_mean(a, RD_DIMS(1)), RD_F32, VALUES(1, NAN, 2.5));
    expect("min", rd_min(a, RD_DIMS(1)), RD_F32, VALUES(1, NAN, 2));
    expect("dense", rd_dense(a), RD_F32, VALUES(0, 1, 0, 0, 0, 0, 2, 0, 3));
    expect("other", rd_add(a, rd_num(ctx, 1)), RD_F32, VALUES(0, 2, 0, 0, 0, 0, 3, 0, 4));
    expect_error("a slice", rd_slice_axis(a, 1, 0, 2, 1), RD_ERR_TYPE);
    expect_error("sort", rd_sort(b, 1, false), RD_ERR_TYPE);
}
END_TEST

START_TEST(refusals)
{
    static const int32_t falls[] = { 0, 2, 1, 3 }, ends[] = { 0, 1, 1, 2 }, pos[] = { 0, 1, 1, 3 };
    static const int32_t out[] = { 1, 0, 3 }, turned[] = { 1, 2, 0 }, twice[] = { 1, 2, 2 },
                         crd[] = { 1, 0, 2 };
    rd_expr *const v = leaf(RD_F32, VALUES(1, 2, 3)), *c = rd_wrap(ctx, crd, RD_SHAPE(3));
    rd_expr *const p = rd_wrap(ctx, pos, RD_SHAPE(4));

#define MATRIX(p, c) rd_csr(ctx, RD_SHAPE(3, 3), p, c, v)
    expect_error("falls", MATRIX(rd_wrap(ctx, falls, RD_SHAPE(4)), c), RD_ERR_ARGUMENT);
    expect_error("ends", MATRIX(rd_wrap(ctx, ends, RD_SHAPE(4)), c), RD_ERR_ARGUMENT);
    expect_error("short", MATRIX(rd_wrap(ctx, pos, RD_SHAPE(3)), c), RD_ERR_SHAPE);
    expect_error("outside", MATRIX(p, rd_wrap(ctx, out, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("turned", MATRIX(p, rd_wrap(ctx, turned, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("twice", MATRIX(p, rd_wrap(ctx, twice, RD_SHAPE(3))), RD_ERR_ARGUMENT);
    expect_error("floats", MATRIX(p, v), RD_ERR_TYPE);
    expect_error("no leaf", MATRIX(p, rd_add(c, c)), RD_ERR_ARGUMENT);
    expect_error("values", rd_csr(ctx, RD_SHAPE(3, 3), p, c, leaf(RD_F32, VALUES(1, 2))),
                 RD_ERR_SHAPE);
    expect_error("rank", rd_csr(ctx, RD_SHAPE(3), p, c, v), RD_ERR_SHAPE);
    expect_error(
        "axes",
        rd_sparse(ctx, RD_SHAPE(3, 3),
                  RD_LEVELS({ RD_LEVEL_DENSE, 0, NULL, NULL }, { RD_LEVEL_COMPRESSED, 0, p, c }),
                  v),
        RD_ERR_ARGUMENT);
    expect_error("fill", rd_csr(ctx, RD_SHAPE(3, 3), p, c, v, .fill = v), RD_ERR_ARGUMENT);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { matrices, nothing_elsewhere, refusals, random_expressions };

    setenv("CK_DEFAULT_TIMEOUT", "300",
           0); /* seconds: threads wait for each other where others work */
    return run_suite("sparse", tests, COUNT(tests));
}
