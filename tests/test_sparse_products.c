/* Products of two sparse matrices, beside those of the dense arrays that they mean. */
#include "expr/sparse.h"
#include "values.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 60, MOST_PLACES = MOST_ROWS * MOST_ROWS };

static uint64_t state;

static int draw(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* Index arrays and values of one matrix. */
typedef struct matrix {
    int64_t  rows, columns, n;
    int32_t  pos[MOST_ROWS + 1], crd[MOST_PLACES], row[MOST_PLACES];
    int64_t  wide_pos[MOST_ROWS + 1], wide_crd[MOST_PLACES];
    double   value[MOST_PLACES];
    float    narrow[MOST_PLACES];
    int32_t  whole[MOST_PLACES];
    bool     truth[MOST_PLACES];
    rd_expr *x;
} matrix;

static void *values_of(matrix *m, rd_dtype type)
{
    return type == RD_F64   ? (void *)m->value
           : type == RD_F32 ? (void *)m->narrow
           : type == RD_I32 ? (void *)m->whole
                            : (void *)m->truth;
}

/* In a hundred of `dense` places stored; of those some `odd`: infinities and NaN. */
static void fill(matrix *m, int64_t rows, int64_t columns, int dense, int odd)
{
    m->rows    = rows;
    m->columns = columns;
    m->n       = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int here = draw(5) ? dense : draw(2) ? 0 : 100;

        for (int64_t j = 0; j < columns; j++)
            if (draw(100) < here) {
                const double v = draw(100) < odd
                                     ? (draw(3) ? (draw(2) ? INFINITY : -INFINITY) : NAN)
                                     : draw(9) - 4;

                m->row[m->n]      = (int32_t)i;
                m->wide_crd[m->n] = m->crd[m->n] = (int32_t)j;
                m->value[m->n]                   = v;
                m->narrow[m->n]                  = (float)v;
                m->whole[m->n]                   = isfinite(v) ? (int32_t)v * 60000 : 7;
                m->truth[m->n]                   = v > 0;
                m->n++;
            }
        m->wide_pos[i + 1] = m->pos[i + 1] = (int32_t)m->n;
    }
}

static rd_expr *indices_of(const void *data, rd_dtype type, int64_t n)
{
    return rd_leaf(ctx, &(rd_array){ .in = data, .type = type, .shape = RD_SHAPE(n) });
}

/* CSR of i32, of i64, COO, or the transpose's transpose, whose places are in another order. */
static rd_expr *leaf_as(matrix *m, int form, rd_dtype type, bool stored)
{
    const rd_shape shape = RD_SHAPE(m->rows, m->columns), turned = RD_SHAPE(m->columns, m->rows);
    rd_expr *const values = indices_of(values_of(m, type), type, m->n);
    rd_expr *const crd    = indices_of(m->crd, RD_I32, m->n);
    rd_expr *const pos    = indices_of(m->pos, RD_I32, m->rows + 1);

    switch (form) {
    case 0: return rd_csr(ctx, shape, pos, crd, values, .stored = stored);
    case 1:
        return rd_csr(ctx, shape, indices_of(m->wide_pos, RD_I64, m->rows + 1),
                      indices_of(m->wide_crd, RD_I64, m->n), values, .stored = stored);
    case 2:
        return rd_coo(ctx, shape, indices_of(m->row, RD_I32, m->n), crd, values, .stored = stored);
    default:
        return rd_permute(rd_csc(ctx, turned, pos, crd, values, .stored = stored), RD_INDEX(1, 0));
    }
}

static void same(const char *what, int k, rd_expr *y, rd_expr *wanted)
{
    static double  is[MOST_PLACES], want[MOST_PLACES];
    const rd_shape shape = rd_shape_of(wanted);

    ck_assert_msg(y && wanted && rd_type_of(y) == rd_type_of(wanted), "%s %d: %s", what, k,
                  rd_error_text(ctx));
    rd_array one = { .data = is, .type = RD_F64, .shape = shape }, other = one;
    other.data = want;
    ck_assert_msg(rd_eval(ctx, rd_cast(y, RD_F64), &one) == RD_OK &&
                      rd_eval(ctx, rd_cast(wanted, RD_F64), &other) == RD_OK,
                  "%s %d: %s", what, k, rd_error_text(ctx));
    for (int64_t e = 0; e < shape.at[0] * shape.at[1]; e++)
        ck_assert_msg(is[e] == want[e] || (isnan(is[e]) && isnan(want[e])),
                      "%s %d: element %lld is %g, not %g", what, k, (long long)e, is[e], want[e]);
}

static matrix left, right;

/* Some are 0 or 1. */
static int64_t any_extent(void)
{
    return draw(4) ? 1 + draw(MOST_ROWS) : draw(2);
}

START_TEST(as_dense_ones)
{
    static const rd_dtype types[] = { RD_F64, RD_F32, RD_I32, RD_BOOL };

    for (int k = 0; k < (SANITIZED ? 15 : 100); k++) {
        const rd_mark  mark = rd_ctx_mark(ctx);
        const rd_dtype type = types[draw(4)];
        const int      odd  = draw(2) ? 0 : draw(30);
        const int64_t  n = any_extent(), m = any_extent(), l = any_extent();

        fill(&left, n, m, 1 + draw(40), odd);
        fill(&right, m, l, 1 + draw(40), draw(2) ? 0 : odd);
        rd_expr *const a = leaf_as(&left, draw(4), type, false);
        rd_expr *const b = leaf_as(&right, draw(4), type, false);
        rd_expr *const y = draw(2) ? rd_matmul(a, b) : rd_einsum("ij,jk->ik", a, b);
        ck_assert_msg(rd_is_sparse(y), "%d: %d by %d by %d is not sparse: %s", k, (int)n, (int)m,
                      (int)l, rd_error_text(ctx));
        same("product", k, rd_dense(y), rd_matmul(rd_dense(a), rd_dense(b)));
        same("turned", k, rd_dense(rd_einsum("ij,jk->ki", a, b)),
             rd_einsum("ij,jk->ki", rd_dense(a), rd_dense(b)));
        same("used", k, rd_dense(rd_mul(y, rd_int(ctx, 2))),
             rd_mul(rd_matmul(rd_dense(a), rd_dense(b)), rd_int(ctx, 2)));
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* Where both are stored: what a loop over all triples comes to. */
START_TEST(semirings)
{
    static const char *const names[][2] = { { "sum", "mul" },     { "min", "add" },
                                            { "max", "minimum" }, { "prod", "sub" },
                                            { "min", "maximum" }, { "max", "mul" } };
    static double            want[MOST_PLACES];

    for (int k = 0; k < 60; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);
        const int     s    = k % (int)COUNT(names);
        const int64_t n = 2 + draw(30), m = 2 + draw(30), l = 2 + draw(30);

        fill(&left, n, m, 30, 5);
        fill(&right, m, l, 30, 5);
        rd_expr *const y =
            rd_semiring(leaf_as(&left, draw(4), RD_F64, true),
                        leaf_as(&right, draw(4), RD_F64, true), names[s][0], names[s][1]);
        ck_assert_msg(rd_is_sparse(y), "%d: %s; %d %d %d, %d and %d places", k, rd_error_text(ctx),
                      (int)n, (int)m, (int)l, (int)left.n, (int)right.n);
        for (int64_t e = 0; e < n * l; e++)
            want[e] = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < l; j++) {
                bool any = false;

                for (int64_t p = left.pos[i]; p < left.pos[i + 1]; p++)
                    for (int64_t q = right.pos[left.crd[p]]; q < right.pos[left.crd[p] + 1]; q++) {
                        const double u = left.value[p], v = right.value[q];
                        double      *w = &want[i * l + j];
                        double       x = u * v;

                        if (right.crd[q] != j)
                            continue;
                        if (s == 1)
                            x = u + v;
                        else if (s == 2)
                            x = u != u || v != v ? NAN : fmin(u, v);
                        else if (s == 3)
                            x = u - v;
                        else if (s == 4)
                            x = u != u || v != v ? NAN : fmax(u, v);
                        if (!any)
                            *w = x;
                        else if (s == 0)
                            *w += x;
                        else if (s == 3)
                            *w *= x;
                        else
                            *w = *w != *w || x != x ? NAN
                                 : s == 1 || s == 4 ? fmin(*w, x)
                                                    : fmax(*w, x);
                        any = true;
                    }
            }
        same("semiring", k, rd_dense(y),
             rd_leaf(ctx, &(rd_array){ .in = want, .type = RD_F64, .shape = RD_SHAPE(n, l) }));
        rd_ctx_release(ctx, mark);
    }
}
END_TEST

/* A plan goes with other values. */
START_TEST(again)
{
    static double twice[MOST_PLACES], first[MOST_PLACES], second[MOST_PLACES];

    fill(&left, 50, 50, 20, 0);
    rd_expr *const values =
        rd_input(ctx, "values", &(rd_array){ .type = RD_F64, .shape = RD_SHAPE(left.n) });
    rd_expr *const a    = rd_csr(ctx, RD_SHAPE(50, 50), indices_of(left.pos, RD_I32, 51),
                                 indices_of(left.crd, RD_I32, left.n), values, .stored = true);
    rd_expr *const y    = rd_stored(rd_matmul(a, a));
    rd_array       out  = { .data = first, .type = RD_F64, .shape = rd_shape_of(y) };
    rd_plan *const plan = rd_plan_new(ctx, RD_EXPRS(values), RD_RESULTS({ y, &out }), NULL);

    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    for (int64_t e = 0; e < left.n; e++)
        twice[e] = 2 * left.value[e];
    ck_assert(rd_plan_run(plan, (const void *[]){ left.value }, (void *[]){ first }) == RD_OK);
    ck_assert(rd_plan_run(plan, (const void *[]){ twice }, (void *[]){ second }) == RD_OK);
    ck_assert(out.shape.at[0] > 500);
    const char *const near = (const char *)left.value + 1;
    void *const       past = (char *)second + 1;
    for (int k = 0; k < 4; k++) {
        const void *const from = k == 0 ? NULL : k == 1 ? (const void *)near : left.value;
        void *const       to   = k == 2 ? NULL : k == 3 ? past : (void *)second;

        ck_assert_int_eq(rd_plan_run(plan, &from, &to), RD_ERR_ARGUMENT);
        ck_assert_msg(strstr(rd_error_text(ctx), k < 2 ? "input 0 is" : "result 0 is"), "%s",
                      rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    ck_assert(rd_plan_run(plan, (const void *[]){ twice }, (void *[]){ second }) == RD_OK);
    for (int64_t e = 0; e < out.shape.at[0]; e++)
        ck_assert(second[e] == 4 * first[e]);
    rd_plan_free(plan);

    rd_expr *const b    = leaf_as(&left, 0, RD_F64, true);
    rd_expr *const same = rd_stored(rd_matmul(b, b));
    rd_array       into = { .data = second, .type = RD_F64, .shape = out.shape };
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ same, &into }),
                           &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = 3 }) == RD_OK);
    ck_assert(memcmp(first, second, (size_t)out.shape.at[0] * sizeof *first) == 0);
    ck_assert(strstr(rd_explain(ctx, RD_RESULTS({ same, NULL }), NULL),
                     "product of sparse matrices, row by row"));
}
END_TEST

/* Values are read where they lie, and what they come to is made where it goes; unless both are one. */
START_TEST(over_its_operand)
{
    static double room[3 * MOST_PLACES], want[2 * MOST_PLACES];

    for (int k = 0; k < 40; k++) {
        fill(&left, 40, 40, 10, k % 4);
        if (left.n == 0)
            continue;
        rd_expr *const a  = rd_csr(ctx, RD_SHAPE(40, 40), indices_of(left.pos, RD_I32, 41),
                                   indices_of(left.crd, RD_I32, left.n),
                                   indices_of(room + MOST_PLACES, RD_F64, left.n), .stored = k % 2);
        rd_expr *const y  = rd_stored(rd_matmul(a, a));
        const int64_t  n  = rd_shape_of(y).at[0];
        rd_array       at = { .data = want, .type = RD_F64, .shape = RD_SHAPE(n) };
        double *const  to = room + MOST_PLACES - n + draw((int)(n + left.n));

        memcpy(room + MOST_PLACES, left.value, (size_t)left.n * sizeof *room);
        ck_assert(rd_eval(ctx, y, &at) == RD_OK);
        at.data = to;
        ck_assert(rd_eval(ctx, y, &at) == RD_OK);
        ck_assert_msg(memcmp(to, want, (size_t)n * sizeof *to) == 0, "%d", k);
        /* not dense */
        memcpy(room + MOST_PLACES, left.value, (size_t)left.n * sizeof *room);
        at.strides = RD_STRIDES(2);
        at.data    = room;
        if (2 * n < MOST_PLACES)
            ck_assert(rd_eval(ctx, y, &at) == RD_OK);
        for (int64_t e = 0; e < n && 2 * n < MOST_PLACES; e++)
            ck_assert(memcmp(&room[2 * e], &want[e], sizeof *want) == 0);
    }
}
END_TEST

/* Parts of one evaluation that read one product of floats, which a product of matrices wants as an
 * array and a sum adds unrounded: together they come to what each of them comes to alone. */
enum { BESIDE = 9, SIDE = 6 };

static void beside(bool stored, rd_expr **y)
{
    fill(&left, SIDE, SIDE, 12, 0);
    rd_expr *const a = leaf_as(&left, 0, RD_F64, stored), *two = rd_num(ctx, 1.1);
    rd_expr *const m = rd_mul(a, two), *q = rd_square(a), *product = rd_matmul(m, a);

    y[0] = rd_div(product, rd_sum(m, RD_KEEP(1)));
    y[1] = rd_sum(m, RD_DIMS(1));
    y[2] = rd_add(m, a);
    y[3] = rd_matmul(q, m);
    y[4] = rd_sum(q, RD_DIMS(0));
    y[5] = product;
    y[6] = rd_matmul(rd_matmul(m, q), m);
    y[7] = rd_max(m, RD_DIMS(0));
    y[8] = rd_sum(rd_mul(product, product), RD_ALL);
}

START_TEST(beside_sums)
{
    static double alone[BESIDE][SIDE * SIDE], together[BESIDE][SIDE * SIDE];
    rd_expr      *y[BESIDE];
    rd_array      out[BESIDE];
    rd_result     all[BESIDE];

    beside(_i, y);
    memset(alone, 0, sizeof alone);
    memset(together, 0, sizeof together);
    for (int k = 0; k < BESIDE; k++) {
        ck_assert_msg(y[k] && rd_eval(ctx, y[k], RD_INTO(alone[k], rd_shape_of(y[k]))) == RD_OK,
                      "%d: %s", k, rd_error_text(ctx));
        out[k] = (rd_array){ .data = together[k], .type = RD_F64, .shape = rd_shape_of(y[k]) };
        all[k] = (rd_result){ y[k], &out[k] };
    }
    ck_assert(rd_eval_many(ctx, (rd_results){ all, BESIDE }, NULL) == RD_OK);
    for (int k = 0; k < BESIDE; k++)
        for (int i = 0; i < SIDE * SIDE; i++)
            ck_assert_msg(
                alone[k][i] == together[k][i] || (isnan(alone[k][i]) && isnan(together[k][i])),
                "%d, element %d: %g alone, %g together", k, i, alone[k][i], together[k][i]);
}
END_TEST

/* ---- Complex matrices, and formulas ---------------------------------------------------------- */
/* Whole numbers, so that no order of additions matters. */
static rd_expr *small_matrix(bool is_complex, bool stored)
{
    static const int32_t positions[] = { 0, 2, 3, 3 }, column[] = { 0, 2, 0 };
    static const double  part[] = { 1, -2, 3 }, other[] = { 2, 5, -1 };
    rd_expr *const       re = rd_wrap(ctx, part, RD_SHAPE(3));
    rd_expr *const values   = is_complex ? rd_complex(re, rd_wrap(ctx, other, RD_SHAPE(3))) : re;

    return rd_csr(ctx, RD_SHAPE(3, 3), rd_wrap(ctx, positions, RD_SHAPE(4)),
                  rd_wrap(ctx, column, RD_SHAPE(3)), values, .stored = stored);
}

/* What is sparse comes to what the dense arrays come to, 0 standing where nothing does. */
static void is_dense_one(const char *what, rd_expr *sparse, rd_expr *dense)
{
    double y[2][2 * 9] = { { 0 } };

    ck_assert_msg(sparse && dense, "%s: %s", what, rd_error_text(ctx));
    for (int k = 0; k < 2; k++) {
        rd_expr *const e = k ? dense : sparse;

        ck_assert_msg(
            rd_eval(ctx, rd_cast(e, RD_C128),
                    &(rd_array){ .data = y[k], .type = RD_C128, .shape = rd_shape_of(e) }) == RD_OK,
            "%s: %s", what, rd_error_text(ctx));
    }
    ck_assert_msg(memcmp(y[0], y[1], sizeof y[0]) == 0, "%s", what);
}

START_TEST(of_complex_ones)
{
    for (int k = 0; k < 2; k++) {
        rd_expr *const z = small_matrix(true, k), *a = small_matrix(false, k);
        rd_expr *const dense_z = rd_dense(z), *dense_a = rd_dense(a);

        ck_assert(rd_is_sparse(rd_matmul(z, z)));
        is_dense_one("z z", rd_matmul(z, z), rd_matmul(dense_z, dense_z));
        is_dense_one("a z", rd_matmul(a, z), rd_matmul(dense_a, dense_z));
        is_dense_one("z a", rd_matmul(z, a), rd_matmul(dense_z, dense_a));
        is_dense_one("z* z", rd_matmul(rd_conj(rd_transpose(z)), z),
                     rd_matmul(rd_conj(rd_transpose(dense_z)), dense_z));
    }
}
END_TEST

START_TEST(by_formula)
{
    static const char *const texts[] = {
        "o[i, k] = sum[j] a[i, j] * a[j, k]",
        "o[k, i] = sum[j] a[i, j] * a[j, k]",
        "o[i, l] = sum[j, k] a[i, j] * a[j, k] * a[k, l]",
        "o[i] = sum[j] a[i, j] * a[j, i]",
        "sum[i, j] a[i, j] * a[i, j]",
    };

    for (size_t k = 0; k < 2 * COUNT(texts); k++) {
        const char *const text = texts[k / 2];
        rd_expr *const    a    = small_matrix(false, k % 2);

        is_dense_one(text, rd_formula(ctx, text, RD_NAMES({ "a", a })),
                     rd_formula(ctx, text, RD_NAMES({ "a", rd_dense(a) })));
    }
    ck_assert(
        rd_is_sparse(rd_formula(ctx, texts[0], RD_NAMES({ "a", small_matrix(false, true) }))));
}
END_TEST

/* Dense factors of a product of matrices scale what is stored, small ones and large ones. */
START_TEST(scaled_by_formula)
{
    static const char *const texts[] = { "o[i, k] = sum[j] a[i, j] * w[j] * b[j, k]",
                                         "o[i, k] = sum[j] u[i] * a[i, j] * b[j, k]",
                                         "o[k, i] = sum[j] a[i, j] * b[j, k] * v[k]",
                                         "o[i, k] = sum[j] w[j] * b[j, k] * d[i, j] * a[i, j]",
                                         "o[i, k] = sum[j] a[i, j] * b[j, k] * e[i, k]" };
    static const int64_t     sizes[] = { 1, 3, 40 };
    static double            number[MOST_PLACES];

    for (int k = 0; k < MOST_PLACES; k++)
        number[k] = draw(9) - 4;
    for (int k = 0; k < 4 * (int)COUNT(sizes); k++) {
        const char *const text = texts[k % 4];
        const int64_t     n = sizes[k / 4], m = n + k % 3, l = n + 1;

        fill(&left, n, m, 40, 0);
        fill(&right, m, l, 40, 0);
        rd_expr *const a = leaf_as(&left, 0, RD_F64, true), *const b =
                                                                leaf_as(&right, 2, RD_F64, true);
        rd_expr *const d = rd_wrap(ctx, number, RD_SHAPE(n, m)), *const u = rd_wrap(ctx, number,
                                                                                    RD_SHAPE(n));
        rd_expr *const w = rd_wrap(ctx, number + 7, RD_SHAPE(m)), *const v = rd_wrap(
                                                                      ctx, number + 3, RD_SHAPE(l));
        rd_expr *const y = rd_formula(
            ctx, text,
            RD_NAMES({ "a", a }, { "b", b }, { "d", d }, { "u", u }, { "v", v }, { "w", w }));

        ck_assert_msg(rd_is_sparse(y), "%s, %d: %s", text, (int)n, rd_error_text(ctx));
        same(text, k, rd_dense(y),
             rd_formula(ctx, text,
                        RD_NAMES({ "a", rd_dense(a) }, { "b", rd_dense(b) }, { "d", d }, { "u", u },
                                 { "v", v }, { "w", w })));
    }
    rd_expr *const a = small_matrix(false, true);

    expect_error(
        "factors of the result",
        rd_formula(ctx, texts[4],
                   RD_NAMES({ "a", a }, { "b", a }, { "e", rd_wrap(ctx, number, RD_SHAPE(3, 3)) })),
        RD_ERR_TYPE);
}
END_TEST

static void same_bytes(const char *what, const rd_indices *x, const rd_indices *y)
{
    ck_assert_msg(x->n == y->n && x->type == y->type &&
                      (x->n == 0 ||
                       memcmp(x->data, y->data, (size_t)x->n * (x->type == RD_I32 ? 4 : 8)) == 0),
                  "other %s", what);
}

/* Which axes have one index, or none, does not change what a product in text is: sparse, with the
 * places and the elements of rd_matmul(). */
START_TEST(of_few_by_formula)
{
    for (int k = 0; k < 27; k++) {
        const int64_t n   = (const int64_t[]){ 0, 1, 5 }[k % 3],
                      l   = (const int64_t[]){ 0, 1, 5 }[k / 9];
        const int64_t   m = (const int64_t[]){ 0, 1, 5 }[k / 3 % 3];
        rd_expr        *x[2];
        rd_sparse_array y[2] = { { .n_level = 0 }, { .n_level = 0 } };

        fill(&left, n, m, 70, 0);
        fill(&right, m, l, 70, 0);
        rd_expr *const a = leaf_as(&left, k % 4, RD_F64, k % 2);
        rd_expr *const b = leaf_as(&right, (k + 1) % 4, RD_F64, k % 2);

        x[0] =
            rd_formula(ctx, "o[i, k] = sum[j] a[i, j] * b[j, k]", RD_NAMES({ "a", a }, { "b", b }));
        x[1] = rd_matmul(a, b);
        for (int e = 0; e < 2; e++)
            ck_assert_msg(rd_is_sparse(x[e]) && rd_eval_sparse(ctx, x[e], &y[e]) == RD_OK,
                          "%d: %s of %d by %d by %d: %s", k, e ? "matmul" : "formula", (int)n,
                          (int)m, (int)l, rd_error_text(ctx));
        ck_assert(y[0].stored == y[1].stored && y[0].n_level == 2 && y[1].n_level == 2);
        same_bytes("positions", &y[0].level[1].pos, &y[1].level[1].pos);
        same_bytes("columns", &y[0].level[1].crd, &y[1].level[1].crd);
        ck_assert(y[0].values.shape.at[0] == y[1].values.shape.at[0] &&
                  y[0].values.shape.at[0] == y[0].level[1].crd.n);
        ck_assert(!y[0].values.shape.at[0] ||
                  !memcmp(y[0].values.data, y[1].values.data,
                          (size_t)y[0].values.shape.at[0] * sizeof(double)));
        ck_assert_msg(n * m * l > 0 || y[0].level[1].crd.n == 0, "%d", k);
        for (int e = 0; e < 2; e++)
            rd_sparse_array_free(&y[e]);
    }
}
END_TEST

/* A sum of products of bytes is an i64, as that of the dense arrays: 100 * 100 does not wrap. */
START_TEST(narrow_types_by_formula)
{
    static const int32_t positions[] = { 0, 1, 2 }, column[] = { 0, 1 };
    static const int8_t  value[] = { 100, 50 };
    rd_expr *const       a       = rd_csr(ctx, RD_SHAPE(2, 2), rd_wrap(ctx, positions, RD_SHAPE(3)),
                                          rd_wrap(ctx, column, RD_SHAPE(2)), rd_wrap(ctx, value, RD_SHAPE(2)));
    static const char    text[]  = "o[i, k] = sum[j] a[i, j] * a[j, k]";
    rd_expr *const       sparse  = rd_formula(ctx, text, RD_NAMES({ "a", a }));
    rd_expr *const       dense   = rd_formula(ctx, text, RD_NAMES({ "a", rd_dense(a) }));

    ck_assert_int_eq(rd_type_of(sparse), rd_type_of(dense));
    is_dense_one("bytes", sparse, dense);
}
END_TEST

static void eval_at(rd_ctx *in, rd_expr *y, double *to)
{
    rd_array out = { .data = to, .type = RD_F64 };

    ck_assert(y != NULL);
    out.shape = rd_shape_of(y);
    ck_assert(rd_eval(in, y, &out) == RD_OK);
}

/* Places are found once, when they are asked for, and stay where what was made of them is released; a
 * clone has them, too. */
START_TEST(lists_stay)
{
    static double want[MOST_PLACES], got[3][MOST_PLACES];
    const void   *at[2];

    fill(&left, MOST_ROWS, MOST_ROWS, 20, 0);
    rd_expr *const a = leaf_as(&left, 0, RD_F64, false), *const y = rd_matmul(a, a);
    const int64_t nodes = rd_ctx_nodes(ctx);

    ck_assert(rd_is_sparse(y) && rd_matmul(a, a) == y && rd_ctx_nodes(ctx) == nodes);
    for (int k = 0; k < 2; k++) {
        const rd_mark mark = rd_ctx_mark(ctx);

        eval_at(ctx, y, k ? got[0] : want);
        at[k] = rd_listed(y)->in[2]->as.leaf->data;
        rd_ctx_release(ctx, mark);
    }
    ck_assert(at[0] == at[1]);
    rd_ctx *const other = rd_ctx_new(NULL);
    eval_at(other, rd_clone(other, y), got[1]);
    rd_ctx_free(other);
    eval_at(ctx, y, got[2]);
    for (int k = 0; k < 3; k++)
        ck_assert(memcmp(got[k], want, sizeof want) == 0);
}
END_TEST

START_TEST(refused)
{
    fill(&left, 4, 5, 50, 0);
    rd_expr *const a = leaf_as(&left, 0, RD_F64, true);

    expect_error("name", rd_semiring(a, rd_transpose(a), "min", "plus"), RD_ERR_ARGUMENT);
    expect_error("no name", rd_semiring(a, rd_transpose(a), NULL, "add"), RD_ERR_ARGUMENT);
    expect_error("shape", rd_semiring(a, a, "min", "add"), RD_ERR_SHAPE);
    ck_assert(!rd_is_sparse(rd_semiring(rd_dense(a), rd_transpose(a), "min", "add")));
    rd_error_clear(ctx);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { as_dense_ones,
                                   semirings,
                                   again,
                                   over_its_operand,
                                   beside_sums,
                                   of_complex_ones,
                                   by_formula,
                                   of_few_by_formula,
                                   scaled_by_formula,
                                   narrow_types_by_formula,
                                   lists_stay,
                                   refused };

    return run_suite("sparse products", tests, COUNT(tests));
}
