/* Matrix products: those that a BLAS or the library's kernels compute against the loops that run
 * without.  With RDIM_BACKEND=cuda: those that cuBLAS computes, on the fake GPU. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "isa.h"
#include "kernels/cpu/product/blas.h"
#include "values.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Products by letters: "ik,kj->ij" is c[i,j] = sum over k of a[i,k] b[k,j] ---------------- */
enum { MOST = 8, A = 0, B = 1, C = 2 };

/* How an operand lies in the memory that it is part of. */
typedef enum view {
    DENSE,
    PART,    /* of a larger array: rows apart                    */
    FLIPPED, /* rows from the last to the first: no BLAS         */
    SECOND,  /* every second element of a row: is copied first   */
} view;

typedef struct extents {
    int i, j, k, l, b, d;
} extents;

/* Who computes it.  cuBLAS takes small ones as well. */
typedef enum by { LOOPS, BLAS, SMALL } by;

typedef struct product_row {
    const char *letters;
    extents     n;
    view        a, b;
    by          by;
} product_row;

static int64_t extent_of(const extents *n, char letter)
{
    switch (letter) {
    case 'i': return n->i;
    case 'j': return n->j;
    case 'k': return n->k;
    case 'l': return n->l;
    case 'b': return n->b;
    default: return n->d;
    }
}

static void split(const char *letters, char parts[3][MOST])
{
    ck_assert_int_eq(sscanf(letters, "%7[a-z],%7[a-z]->%7[a-z]", parts[A], parts[B], parts[C]), 3);
}

/* Letters of the result, then those summed over. */
static void all_letters(char parts[3][MOST], char *all)
{
    size_t n = strlen(parts[C]);

    memcpy(all, parts[C], n + 1);
    for (const char *c = parts[A]; *c; c++)
        if (!strchr(all, *c)) {
            all[n++] = *c;
            all[n]   = 0;
        }
}

/* Numbers in [-1, 1). */
static double number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*state >> 11 << 11) * 0x1p-63;
}

static void *numbers(rd_dtype type, int64_t n, uint64_t seed)
{
    void *p = malloc((size_t)(n + 1) * 8);

    for (int64_t i = 0; i < n; i++)
        if (type == RD_F32)
            ((float *)p)[i] = (float)number(&seed);
        else
            ((double *)p)[i] = number(&seed);
    return p;
}

/* Everything that a test has allocated. */
static void *memory[16];
static int   n_memory;

static void *keep(void *p)
{
    ck_assert_int_lt(n_memory, 16);
    return memory[n_memory++] = p;
}

static void forget(void)
{
    while (n_memory)
        free(memory[--n_memory]);
}

static rd_expr *operand(rd_ctx *c, rd_dtype type, const char *letters, const extents *n, view v,
                        uint64_t seed)
{
    const int rank  = (int)strlen(letters);
    rd_array  all   = { .type = type, .shape = { .n = rank } };
    int64_t   count = 1;
    char      text[32];
    rd_expr  *x;

    for (int a = 0; a < rank; a++) {
        const int64_t extent = extent_of(n, letters[a]);

        all.shape.at[a] = a < rank - 1  ? extent
                          : v == PART   ? extent + 5
                          : v == SECOND ? 2 * extent
                                        : extent;
        count *= all.shape.at[a];
    }
    all.data = keep(numbers(type, count, seed));
    x        = rd_leaf(c, &all);
    snprintf(text, sizeof text, "..., 3:%d", 3 + (int)extent_of(n, letters[rank - 1]));
    return v == PART      ? rd_slice(x, text)
           : v == SECOND  ? rd_slice(x, "..., ::2")
           : v == FLIPPED ? rd_flip(x, RD_DIMS(-2))
                          : x;
}

/* Dims of x in the order of `all`, those that it lacks with extent 1. */
static rd_expr *align(rd_expr *x, const char *letters, const char *all)
{
    rd_index order = { 0 };

    for (const char *c = all; *c; c++)
        if (strchr(letters, *c))
            order.at[order.n++] = strchr(letters, *c) - letters;
    x = rd_permute(x, order);
    for (int a = 0; all[a]; a++)
        if (!strchr(letters, all[a]))
            x = rd_expand(x, a);
    return x;
}

static rd_expr *product_of(rd_expr *a, rd_expr *b, const char *letters)
{
    char    parts[3][MOST], all[2 * MOST];
    rd_dims dims = { 0 };

    split(letters, parts);
    all_letters(parts, all);
    for (size_t k = strlen(parts[C]); all[k]; k++)
        dims.axis[dims.n++] = (int32_t)k;
    return rd_reduce(rd_mul(align(a, parts[A], all), align(b, parts[B], all)), "sum", dims);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */
static int64_t elements(const rd_array *x)
{
    int64_t n = 1;

    for (int a = 0; a < x->shape.n; a++)
        n *= x->shape.at[a];
    return n;
}

static bool same(const rd_array *x, const rd_array *y)
{
    return memcmp(x->data, y->data, (size_t)elements(x) * (size_t)rd_dtype_size(x->type)) == 0;
}

/* Sums of n products of numbers up to 1, rounded in any order: each of them is wrong by at most n
 * roundings of what n comes to. */
static void expect_near(const char *what, const rd_array *found, const rd_array *want, int64_t n)
{
    const double unit = found->type == RD_F32 ? FLT_EPSILON : DBL_EPSILON,
                 most = unit * (double)n * sqrt((double)n);

    for (int64_t i = 0; i < elements(found); i++) {
        const double x = get(found->data, found->type, i), y = get(want->data, want->type, i);

        ck_assert_msg(fabs(x - y) <= most || (isnan(x) && isnan(y)) || x == y,
                      "%s: element %d is %.17g, not %.17g", what, (int)i, x, y);
    }
}

static bool on_gpu(void)
{
    const char *backend = getenv("RDIM_BACKEND");

    return backend && strcmp(backend, "cuda") == 0;
}

static bool has_blas(void)
{
    return on_gpu() || rd_blas_name();
}

static const char *explained(rd_ctx *c, rd_expr *y, bool deterministic)
{
    const char *text =
        rd_explain(c, RD_RESULTS({ y, NULL }), &(rd_eval_opts){ .deterministic = deterministic });

    ck_assert_msg(text, "%s", rd_error_text(c));
    return text;
}

static bool says_blas(rd_ctx *c, rd_expr *y, bool deterministic)
{
    const char *text = explained(c, y, deterministic);

    return on_gpu() ? strstr(text, " by cuBLAS") != NULL
                    : strstr(text, " by OpenBLAS") || strstr(text, " by BLIS");
}

static rd_array evaluate_by(rd_ctx *c, rd_expr *y, const rd_eval_opts *opts)
{
    rd_array out = { 0 };

    ck_assert_msg(rd_eval_many(c, RD_RESULTS({ y, &out }), opts) == RD_OK, "%s", rd_error_text(c));
    return out;
}

static rd_array evaluate(rd_ctx *c, rd_expr *y, int threads, bool deterministic)
{
    return evaluate_by(c, y, &(rd_eval_opts){ .threads = threads, .deterministic = deterministic });
}

static rd_array by_reference(rd_ctx *c, rd_expr *y)
{
    rd_array out;

    isa_begin(c, ISA_SCALAR);
    out = evaluate_by(c, y, &(rd_eval_opts){ .threads = 1, .backend = RD_BACKEND_CPU });
    isa_end(c);
    return out;
}

/* By BLAS near what the reference says, with the same bits on any number of threads; else, and if
 * asked to, the bits of the reference. */
static void check(const char *what, rd_expr *y, int64_t n, bool by_blas)
{
    rd_array want = by_reference(ctx, y), first = evaluate(ctx, y, 1, false);

    ck_assert_msg(says_blas(ctx, y, false) == (by_blas && has_blas()), "%s: by BLAS, or not", what);
    ck_assert_msg(!says_blas(ctx, y, true), "%s: by BLAS though deterministic", what);
    expect_near(what, &first, &want, n);
    ck_assert_msg((by_blas && has_blas()) || same(&first, &want), "%s: bits", what);
    for (int threads = 1; threads <= 3; threads++) {
        rd_array more = evaluate(ctx, y, threads, false), exact = evaluate(ctx, y, threads, true);

        ck_assert_msg(same(&more, &first), "%s: %d threads have other bits", what, threads);
        ck_assert_msg(same(&exact, &want), "%s: deterministic, %d threads: bits", what, threads);
        rd_array_free(&more);
        rd_array_free(&exact);
    }
    for (int isa = 1; isa < isa_count() && !on_gpu(); isa++) {
        rd_array exact;

        isa_begin(ctx, isa);
        exact = evaluate(ctx, y, 1, true);
        isa_end(ctx);
        ck_assert_msg(same(&exact, &want), "%s: deterministic, %s: bits", what, isa_name(isa));
        rd_array_free(&exact);
    }
    rd_array_free(&first);
    rd_array_free(&want);
}

/* ---- Index orders, views, extents ------------------------------------------------------------ */
/* clang-format off */
#define SIZES  { .i = 37, .j = 43, .k = 71, .l = 5, .b = 3, .d = 4 }
#define WIDE   { .i = 60, .j = 90, .k = 80, .l = 70, .d = 2 }
#define BLOCKS { .i = 300, .j = 170, .k = 40 }
/* clang-format on */

static const product_row rows[] = {
    { "ik,kj->ij", SIZES, DENSE, DENSE, BLAS },
    { "ik,jk->ij", SIZES, DENSE, DENSE, BLAS },
    { "ki,kj->ij", SIZES, DENSE, DENSE, BLAS },
    { "ki,jk->ij", SIZES, DENSE, DENSE, BLAS },
    { "ik,kj->ji", SIZES, DENSE, DENSE, BLAS },
    { "ik,jk->ji", SIZES, DENSE, DENSE, BLAS },
    { "ki,kj->ji", SIZES, DENSE, DENSE, BLAS },
    { "ki,jk->ji", SIZES, DENSE, DENSE, BLAS },
    { "ik,kj->ij", BLOCKS, DENSE, DENSE, BLAS },
    { "ki,jk->ij", BLOCKS, PART, PART, BLAS },
    { "ik,kj->ij", SIZES, PART, PART, BLAS },
    { "ki,jk->ji", SIZES, PART, DENSE, BLAS },
    { "ik,kj->ij", SIZES, FLIPPED, DENSE, LOOPS },
    { "ik,kj->ij", SIZES, DENSE, SECOND, BLAS },
    { "ik,kj->ij", SIZES, SECOND, DENSE, BLAS },
    /* batches, of both or of one operand, next to the matrices or across them */
    { "bik,bkj->bij", SIZES, DENSE, DENSE, BLAS },
    { "bik,bjk->bij", SIZES, PART, PART, BLAS },
    { "bki,kbj->ibj", SIZES, DENSE, DENSE, BLAS },
    { "ibk,kbj->bij", SIZES, DENSE, DENSE, BLAS },
    { "bdik,bdkj->bdij", SIZES, DENSE, DENSE, BLAS },
    { "bdik,dbkj->dbji", SIZES, DENSE, PART, BLAS },
    { "bik,kj->bij", SIZES, DENSE, DENSE, BLAS },
    { "bik,kj->ibj", SIZES, PART, DENSE, BLAS },
    { "ik,bkj->bij", SIZES, DENSE, DENSE, BLAS },
    { "ik,kbj->ibj", SIZES, DENSE, PART, BLAS },
    { "ikb,kjb->ijb", SIZES, DENSE, DENSE, LOOPS },
    /* sums over two axes, one run of memory or two */
    { "ikl,klj->ij", SIZES, DENSE, DENSE, BLAS },
    { "ilk,klj->ij", SIZES, DENSE, DENSE, BLAS },
    { "likb,lkj->bij", SIZES, DENSE, DENSE, LOOPS },
    { "lik,lkj->ij", SIZES, PART, PART, BLAS },
    /* vectors, and too few elements */
    { "ik,k->i", { .i = 300, .k = 400 }, DENSE, DENSE, LOOPS },
    { "ik,kj->ij", { .i = 300, .j = 1, .k = 400 }, DENSE, DENSE, LOOPS },
    { "ik,kj->ij", { .i = 1, .j = 300, .k = 400 }, DENSE, DENSE, LOOPS },
    { "ik,kj->ij", { .i = 200, .j = 300, .k = 1 }, DENSE, DENSE, LOOPS },
    { "i,j->ij", { .i = 200, .j = 300 }, DENSE, DENSE, LOOPS },
    { "ik,kj->ij", { .i = 7, .j = 8, .k = 9 }, DENSE, DENSE, LOOPS },
    /* small ones: on the CPU by kernels of the library */
    { "bik,bkj->bij", { .i = 16, .j = 16, .k = 16, .b = 40 }, DENSE, DENSE, SMALL },
    { "bik,bkj->bij", { .i = 13, .j = 31, .k = 9, .b = 40 }, PART, PART, SMALL },
    { "bki,kbj->ibj", { .i = 11, .j = 20, .k = 32, .b = 10 }, DENSE, DENSE, SMALL },
    { "ik,kj->ij", { .i = 4, .j = 4, .k = 5000 }, DENSE, DENSE, BLAS },
    { "ik,kj->ij", { .i = 5000, .j = 4, .k = 4 }, DENSE, DENSE, BLAS },
    { "ik,kj->ij", { .i = 40, .j = 50, .k = 0 }, DENSE, DENSE, LOOPS },
    { "ik,kj->ij", { .i = 0, .j = 50, .k = 60 }, DENSE, DENSE, LOOPS },
    { "bik,bkj->bij", { .i = 40, .j = 50, .k = 60, .b = 0 }, DENSE, DENSE, LOOPS },
};

static int64_t summed(const product_row *row)
{
    char    parts[3][MOST], all[2 * MOST];
    int64_t n = 1;

    split(row->letters, parts);
    all_letters(parts, all);
    for (size_t k = strlen(parts[C]); all[k]; k++)
        n *= extent_of(&row->n, all[k]);
    return n;
}

static rd_expr *product(rd_dtype type, const product_row *row)
{
    char parts[3][MOST];

    split(row->letters, parts);
    return product_of(operand(ctx, type, parts[A], &row->n, row->a, 1),
                      operand(ctx, type, parts[B], &row->n, row->b, 2), row->letters);
}

START_TEST(orders_and_views)
{
    for (size_t r = 0; r < COUNT(rows); r += THREAD_SANITIZED ? 4 : 1)
        for (int k = 0; k < 2; k++) {
            char what[64];

            snprintf(what, sizeof what, "row %d, %s, %s", (int)r, rows[r].letters,
                     k ? "f64" : "f32");
            check(what, product(k ? RD_F64 : RD_F32, &rows[r]), summed(&rows[r]) + 1,
                  rows[r].by == BLAS || (on_gpu() && rows[r].by == SMALL));
            forget();
        }
}
END_TEST

/* Only sums of products of floats of the result's type, and only where any order of adding is
 * allowed. */
START_TEST(other_sums)
{
    const extents n = WIDE;
    rd_expr      *a = operand(ctx, RD_F32, "ik", &n, DENSE, 1),
            *b      = operand(ctx, RD_F32, "kj", &n, DENSE, 2);
    rd_expr *ab = rd_mul(rd_expand(a, 2), rd_expand(b, 0)), *mask = rd_gt(ab, rd_num(ctx, 0));

    check("max", rd_max(ab, RD_DIMS(1)), 1, false);
    check("from the left", rd_sum(ab, RD_DIMS(1), .accuracy = RD_SERIAL), n.k, false);
    check("compensated", rd_sum(ab, RD_DIMS(1), .accuracy = RD_COMPENSATED), n.k, false);
    check("wide", rd_sum(ab, RD_DIMS(1), .accuracy = RD_WIDE), n.k, false);
    check("masked", rd_sum(ab, RD_DIMS(1), .where = mask), n.k, false);
    check("sum of sums", rd_sum(rd_add(rd_expand(a, 2), rd_expand(b, 0)), RD_DIMS(1)), n.k, false);
    check("of ints",
          rd_sum(rd_mul(rd_cast(rd_expand(a, 2), RD_I32), rd_expand(rd_cast(b, RD_I32), 0)),
                 RD_DIMS(1)),
          n.k, false);
    check("mean", rd_mean(ab, RD_DIMS(1)), n.k, true);
    check("kept dims", rd_sum(ab, RD_KEEP(1)), n.k, true);
    forget();
}
END_TEST

/* A sum of complex products is four of real ones: of parts of memory, conjugates, or maps. */
START_TEST(complex_matrices)
{
    const extents n = WIDE;

    for (int k = 0; k < 2; k++) {
        const rd_dtype type = k ? RD_F64 : RD_F32;
        rd_expr       *a    = operand(ctx, type, "ikd", &n, DENSE, 1),
                *b          = operand(ctx, type, "kjd", &n, DENSE, 2);
        rd_expr *x          = rd_complex(rd_select(a, 2, 0), rd_select(a, 2, 1)),
                *y          = rd_complex(rd_select(b, 2, 0), rd_select(b, 2, 1));
        rd_expr *u = rd_matmul(x, y), *v = rd_matmul(rd_conj(x), rd_mul(y, rd_cnum(ctx, 0, 0.5)));

        check("real part", rd_real(u), 2 * n.k, true);
        check("imaginary part", rd_imag(u), 2 * n.k, true);
        check("both", rd_stack(0, RD_EXPRS(rd_real(u), rd_imag(u))), 2 * n.k, true);
        check("of a conjugate", rd_imag(v), 2 * n.k, true);
        forget();
    }
}
END_TEST

/* ---- Packed panels --------------------------------------------------------------------------- */
/* Windows of 3 x 3 of an image times filters: axes that do not merge, of n, of k, or of both.  Their
 * sums have one lane, or several, whose order the kernels do not keep. */
typedef struct panel_row {
    const char *text; /* as of rd_einsum() */
    view        image;
    int         step; /* from window to window */
    int         filters;
    bool        one_lane;
} panel_row;

static const panel_row panel_rows[] = {
    { "chwij,ocij->ohw", DENSE, 1, 9, true },   { "chwij,ocij->ohw", PART, 1, 12, true },
    { "chwij,ocij->ohw", DENSE, 2, 70, false }, { "chwij,ocij->ohw", FLIPPED, 1, 8, true },
    { "chwij,ocij->ohw", SECOND, 1, 9, true },  { "chwij,ocij->hwo", DENSE, 1, 40, true },
    { "chwij,ocij->woh", DENSE, 1, 11, true },  { "chwij,ocij->cohw", DENSE, 1, 31, true },
};

static rd_expr *filtered(rd_dtype type, const panel_row *row)
{
    const extents n = { .b = 6, .i = 26, .j = 39, .k = row->filters, .l = 3, .d = 3 };
    rd_expr      *x = operand(ctx, type, "bij", &n, row->image, 1),
            *w      = operand(ctx, type, "kbld", &n, DENSE, 2);

    return rd_einsum(row->text, rd_window(rd_window(x, 1, 3, row->step), 2, 3, row->step), w);
}

static bool says_panels(rd_expr *y, bool deterministic)
{
    return strstr(explained(ctx, y, deterministic), "from packed panels") != NULL;
}

/* In another order: near the bits of the reference, and the same on any number of threads. */
static void check_near(const char *what, rd_expr *y, int64_t n)
{
    rd_array want = by_reference(ctx, y), first = evaluate(ctx, y, 1, false);

    expect_near(what, &first, &want, n);
    for (int threads = 2; threads <= 3; threads++) {
        rd_array more = evaluate(ctx, y, threads, false);

        ck_assert_msg(same(&more, &first), "%s: %d threads have other bits", what, threads);
        rd_array_free(&more);
    }
    rd_array_free(&first);
    rd_array_free(&want);
}

static void check_panels(const panel_row *row, rd_dtype type)
{
    rd_expr *y = filtered(type, row);
    char     what[64];

    snprintf(what, sizeof what, "%s, %s, step %d", row->text, rd_dtype_name(type), row->step);
    if (row->one_lane)
        check(what, y, 0, false);
    else
        check_near(what, y, 6 * 3 * 3);
    ck_assert_msg(on_gpu() || (!row->one_lane && !has_blas()) || says_panels(y, row->one_lane),
                  "%s: no panels", what);
}

/* Products of a row with itself, so many elements later: matrices that overlap, and long sums. */
static void check_lags(rd_dtype type)
{
    const extents n = { .i = 9000 };
    rd_expr      *x = operand(ctx, type, "i", &n, DENSE, 1);
    rd_expr      *a = rd_slice(rd_window(x, 0, 18, 1), ":8970"),
            *b      = rd_slice(rd_window(x, 0, 20, 1), ":8970");
    rd_expr *y      = rd_einsum("ti,tj->ij", a, b);

    check_near("lags", y, 8970);
    ck_assert_msg(on_gpu() || !has_blas() || says_panels(y, false), "lags: no panels");
}

START_TEST(packed_panels)
{
    check_lags(RD_F32);
    check_lags(RD_F64);
    forget();
    for (size_t r = 0; r < COUNT(panel_rows); r++)
        for (int k = 0; k < 2; k++) {
            check_panels(&panel_rows[r], k ? RD_F64 : RD_F32);
            forget();
        }
}
END_TEST

/* ---- Covariances of all pairs ---------------------------------------------------------------- */
/* Rows along axis 0 of x, 70 of 40, and of y, 70 of 50; one of x does not change, and one of y has a
 * NaN.  Means are large. */
typedef struct rows_of_two {
    rd_expr *x, *y, *w;
} rows_of_two;

static rows_of_two two_of(rd_dtype type)
{
    const extents n = { .i = 40, .j = 50, .k = 70 };
    rd_expr *x = operand(ctx, type, "ki", &n, DENSE, 1), *y = operand(ctx, type, "kj", &n, PART, 2),
            *w = rd_abs(operand(ctx, type, "k", &n, DENSE, 3));

    x = rd_where(rd_eq(rd_coord(x, 1), rd_int(ctx, 7)), rd_num(ctx, 0.1),
                 rd_add(x, rd_num(ctx, 1e3)));
    y = rd_where(
        rd_and(rd_eq(rd_coord(y, 1), rd_int(ctx, 9)), rd_eq(rd_coord(y, 0), rd_int(ctx, 30))),
        rd_num(ctx, NAN), rd_sub(y, rd_num(ctx, 50)));
    return (rows_of_two){ rd_expand(rd_cast(x, type), 2), rd_expand(rd_cast(y, type), 1),
                          rd_expand(rd_expand(w, 1), 2) };
}

/* Beside the fold of each pair, which a mask asks for; on one thread and several. */
static void check_pairs(const char *what, rd_expr *y, rd_expr *by_fold)
{
    rd_array want = evaluate(ctx, by_fold, 1, false), first = evaluate(ctx, y, 1, false);

    ck_assert_msg(on_gpu() || !has_blas() || strstr(explained(ctx, y, false), "a product by"),
                  "%s: no product", what);
    ck_assert_msg(!strstr(explained(ctx, by_fold, false), "a product by"), "%s: both", what);
    ck_assert(rd_shape_of(y).n == rd_shape_of(by_fold).n);
    /* f32 near 1000 have 14 bits of their distance from it */
    expect_near(what, &first, &want, want.type == RD_F32 ? 300 : 3000);
    for (int threads = 2; threads <= 3; threads++) {
        rd_array more = evaluate(ctx, y, threads, false);

        ck_assert_msg(same(&more, &first), "%s: %d threads have other bits", what, threads);
        rd_array_free(&more);
    }
    rd_array_free(&first);
    rd_array_free(&want);
}

/* 10^16 in the first row along axis 0, which has no weight. */
static rd_expr *far_away(rd_expr *x)
{
    return rd_where(rd_eq(rd_coord(x, 0), rd_int(ctx, 0)), rd_num(ctx, 1e16), x);
}

static rd_expr *from_second(rd_expr *w)
{
    return rd_where(rd_eq(rd_coord(w, 0), rd_int(ctx, 0)), rd_num(ctx, 0), w);
}

START_TEST(covariances_of_all_pairs)
{
    for (int k = 0; k < 2; k++) {
        const rows_of_two r   = two_of(k ? RD_F64 : RD_F32);
        rd_expr          *all = rd_ge(rd_coord(r.x, 0), rd_int(ctx, 0));

        check_pairs("cov", rd_cov(r.x, r.y, RD_DIMS(0), .ddof = 1),
                    rd_cov(r.x, r.y, RD_DIMS(0), .ddof = 1, .where = all));
        check_pairs("cov of itself, kept",
                    rd_cov(r.x, rd_permute(r.x, RD_INDEX(0, 2, 1)), RD_KEEP(0)),
                    rd_cov(r.x, rd_permute(r.x, RD_INDEX(0, 2, 1)), RD_KEEP(0), .where = all));
        check_pairs("no freedom", rd_cov(r.x, r.y, RD_DIMS(0), .ddof = 70),
                    rd_cov(r.x, r.y, RD_DIMS(0), .ddof = 70, .where = all));
        check_pairs("weights", rd_cov(r.x, r.y, RD_DIMS(0), .weights = r.w),
                    rd_cov(r.x, r.y, RD_DIMS(0), .weights = r.w, .where = all));
        check_pairs("weights, all but two axes", rd_cov(r.x, r.y, RD_EXCEPT(1, 2), .weights = r.w),
                    rd_cov(r.x, r.y, RD_DIMS(0), .weights = r.w, .where = all));
        ck_assert_msg(
            !strstr(explained(ctx, rd_cov(r.x, r.y, RD_DIMS(0), .weights = rd_num(ctx, 2)), false),
                    "a product by"),
            "one weight of all elements");
        check_pairs(
            "the first weighs nothing, and is far away",
            rd_cov(far_away(r.x), r.y, RD_DIMS(0), .weights = from_second(r.w)),
            rd_cov(far_away(r.x), r.y, RD_DIMS(0), .weights = from_second(r.w), .where = all));
        check_pairs("corr", rd_corr(r.x, r.y, RD_DIMS(0)),
                    rd_corr(r.x, r.y, RD_DIMS(0), .where = all));
        check_pairs("corr along the last axis",
                    rd_corr(rd_permute(r.x, RD_INDEX(1, 2, 0)), rd_permute(r.y, RD_INDEX(1, 2, 0)),
                            RD_DIMS(2)),
                    rd_corr(r.x, r.y, RD_DIMS(0), .where = all));
        forget();
    }
}
END_TEST

/* ---- A matrix by itself -------------------------------------------------------------------------- */
/* Rows of one block and of several, whole ones and not; batches, two axes that are summed, rows apart. */
static const product_row by_itself[] = {
    { "ki,kj->ij", { .i = 97, .j = 97, .k = 71 }, DENSE, DENSE, BLAS },
    { "ik,jk->ij", { .i = 128, .j = 128, .k = 40 }, PART, PART, BLAS },
    { "ki,kj->ij", { .i = 129, .j = 129, .k = 40 }, PART, PART, BLAS },
    { "ik,jk->ji", { .i = 300, .j = 300, .k = 50 }, DENSE, DENSE, BLAS },
    { "ki,kj->ij", { .i = 530, .j = 530, .k = 33 }, DENSE, DENSE, BLAS },
    { "bki,bkj->bij", { .i = 140, .j = 140, .k = 40, .b = 3 }, DENSE, DENSE, BLAS },
    { "kbi,kbj->bij", { .i = 100, .j = 100, .k = 60, .b = 4 }, DENSE, DENSE, BLAS },
    { "lik,ljk->ij", { .i = 135, .j = 135, .k = 40, .l = 3 }, PART, PART, BLAS },
    { "ki,kj->ij", { .i = 96, .j = 96, .k = 2000 }, DENSE, DENSE, BLAS },
};

static void expect_symmetric(const rd_array *x)
{
    const int64_t n = x->shape.at[x->shape.n - 1];

    for (int64_t e = 0; e < elements(x); e++) {
        const int64_t i = e / n % n, j = e % n, mirrored = e + (j - i) * (n - 1);

        ck_assert_msg(get(x->data, x->type, e) == get(x->data, x->type, mirrored),
                      "(%d, %d) is another number than (%d, %d)", (int)i, (int)j, (int)j, (int)i);
    }
}

START_TEST(matrices_by_themselves)
{
    const size_t part = SANITIZED || on_gpu() ? 3 : 1; /* on a GPU cuBLAS has them as any others */

    for (size_t r = 0; r < COUNT(by_itself); r += part)
        for (int wide = 0; wide < 2; wide++) {
            const product_row *row = &by_itself[r];
            char               parts[3][MOST];
            rd_expr           *x, *y;
            rd_array           out;

            split(row->letters, parts);
            x = operand(ctx, wide ? RD_F64 : RD_F32, parts[A], &row->n, row->a, r);
            y = product_of(x, x, row->letters);
            check(row->letters, y, summed(row), true);
            ck_assert(on_gpu() || !has_blas() || strstr(explained(ctx, y, false), "half of it"));
            out = evaluate(ctx, y, 2, false);
            if (!on_gpu())
                expect_symmetric(&out);
            rd_array_free(&out);
            forget();
        }
}
END_TEST

/* Not the same matrix: rows further on, another order of them, a copy. */
START_TEST(nearly_by_themselves)
{
    const extents n = { .i = 110, .j = 110, .k = 80 };
    rd_expr      *x = operand(ctx, RD_F64, "ki", &n, PART, 1);
    rd_expr      *a = rd_slice(x, "..., :100"), *b = rd_slice(x, "..., 10:");
    rd_expr      *y[] = { product_of(a, b, "ki,kj->ij"),
                          product_of(a, rd_flip(a, RD_DIMS(0)), "ki,kj->ij"),
                          product_of(x, operand(ctx, RD_F64, "ki", &n, PART, 1), "ki,kj->ij") };

    for (size_t k = 0; k < COUNT(y); k++) {
        ck_assert(!strstr(explained(ctx, y[k], false), "half of it"));
        check("nearly", y[k], n.k, k != 1);
    }
    forget();
}
END_TEST

/* ---- What stands before and after ------------------------------------------------------------ */
START_TEST(operands_that_are_kept)
{
    const extents n = WIDE;
    rd_expr      *a = operand(ctx, RD_F32, "ik", &n, DENSE, 1),
            *b      = operand(ctx, RD_F32, "kj", &n, DENSE, 2);
    rd_expr *c      = operand(ctx, RD_F32, "jl", &n, DENSE, 3),
            *bias   = operand(ctx, RD_F32, "j", &n, DENSE, 4);
    rd_expr *ab     = product_of(a, b, "ik,kj->ij");

    check("a map after", rd_maximum(rd_add(ab, bias), rd_num(ctx, 0)), n.k, true);
    check("a map before", product_of(rd_exp(a), b, "ik,kj->ij"), 4 * n.k, true);
    check("maps before both",
          product_of(rd_add(a, rd_num(ctx, 0.5)), rd_sqrt(rd_abs(b)), "ik,kj->ij"), 4 * n.k, true);
    check("a cast before", product_of(rd_cast(a, RD_F64), rd_cast(b, RD_F64), "ik,kj->ij"), n.k,
          true);
    check("a product of a product", product_of(ab, c, "ij,jl->il"), 32 * n.k, true);
    check("a row's share", rd_div(ab, rd_sum(rd_abs(ab), RD_KEEP(1))), n.k, true);
    check("its largest", rd_max(ab, RD_DIMS(1)), n.k, true);
    check("its rows", rd_slice(ab, "3:50:2"), n.k, true);
    check("windows of it", rd_sum(rd_window(ab, 1, 3, 1), RD_DIMS(-1)), 4 * n.k, true);
    c = rd_sub(rd_transpose(a), rd_mean(rd_transpose(a), RD_KEEP(0))); /* k x i */
    check("a covariance", rd_sum(rd_mul(rd_expand(c, 2), rd_expand(c, 1)), RD_DIMS(0)), 4 * n.k,
          true);
    check("its transpose beside it",
          rd_add(product_of(a, rd_transpose(a), "ik,kj->ij"), rd_num(ctx, 1)), n.k, true);
    forget();
}
END_TEST

/* Several results of one call, some of them read by others. */
START_TEST(results_together)
{
    const extents n = WIDE;
    rd_expr      *a = operand(ctx, RD_F64, "ik", &n, DENSE, 1),
            *b      = operand(ctx, RD_F64, "kj", &n, DENSE, 2);
    rd_expr *ab     = product_of(a, b, "ik,kj->ij"),
            *y[3]   = { ab, rd_sum(ab, RD_ALL), rd_mean(a, RD_DIMS(0)) };
    rd_array out[3];

    memset(out, 0, sizeof out);
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ y[0], &out[0] }, { y[1], &out[1] }, { y[2], &out[2] }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int k = 0; k < 3; k++) {
        rd_array want = by_reference(ctx, y[k]);

        expect_near("one of three", &out[k], &want, (int64_t)n.k * n.i * n.j);
        rd_array_free(&want);
        rd_array_free(&out[k]);
    }
    forget();
}
END_TEST

/* Pairs of points are many more than points: what is only summed is never an array. */
START_TEST(pairs_are_not_stored)
{
    const extents n  = { .i = 2000, .j = 2000, .k = 8 };
    rd_expr      *x  = operand(ctx, RD_F32, "ik", &n, DENSE, 1),
            *y       = operand(ctx, RD_F32, "jk", &n, DENSE, 2);
    rd_expr    *sums = rd_sum(rd_exp(product_of(x, y, "ik,jk->ij")), RD_DIMS(1));
    const char *text = rd_explain(ctx, RD_RESULTS({ sums, NULL }), NULL);

    ck_assert_msg(text && strstr(text, "arrays between stages: 0 bytes"), "%s", text);
    ck_assert(!says_blas(ctx, sums, false));
    forget();
}
END_TEST

/* What is folded of a product runs along its rows, which are an array; without a library it does not,
 * as what is summed then lies apart along the columns. */
START_TEST(rows_of_a_product)
{
    const extents n     = { .i = 256, .j = 256, .k = 64 };
    rd_expr      *x     = operand(ctx, RD_F32, "ik", &n, DENSE, 1),
            *y          = operand(ctx, RD_F32, "jk", &n, DENSE, 2);
    rd_expr    *weights = rd_softmax(product_of(x, y, "ik,jk->ij"), RD_DIMS(1));
    const char *along   = "64 lanes, blocks of 64 steps along";
    rd_array    want = by_reference(ctx, weights), exact = evaluate(ctx, weights, 2, true);

    ck_assert(strstr(explained(ctx, weights, false), along));
    ck_assert(!strstr(explained(ctx, weights, true), along));
    expect_near("deterministic", &exact, &want, 64 * (int64_t)n.k);
    for (int threads = 1; threads <= 3; threads++) {
        rd_array got = evaluate(ctx, weights, threads, false);

        expect_near("softmax of a product", &got, &want, 64 * (int64_t)n.k);
        rd_array_free(&got);
    }
    rd_array_free(&exact);
    rd_array_free(&want);
    forget();
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */
/* What the output holds before does not count, and it may be what the product reads. */
START_TEST(outputs)
{
    enum { N = 64 };
    const extents n    = { .i = N, .j = N, .k = N };
    rd_expr      *a    = operand(ctx, RD_F32, "ik", &n, DENSE, 1);
    float        *at   = memory[0];
    rd_expr      *b    = operand(ctx, RD_F32, "kj", &n, DENSE, 2);
    rd_expr      *ab   = product_of(a, b, "ik,kj->ij");
    rd_array      want = evaluate(ctx, ab, 1, false);
    float        *y    = keep(malloc(sizeof(float) * N * (N + 7)));

    for (int i = 0; i < N * (N + 7); i++)
        y[i] = NAN;
    ck_assert(rd_eval(ctx, ab, RD_INTO(y, RD_SHAPE(N, N), .strides = RD_SHAPE(N + 7, 1))) == RD_OK);
    for (int i = 0; i < N * (N + 7); i++)
        ck_assert_msg(i % (N + 7) < N ? y[i] == ((float *)want.data)[i / (N + 7) * N + i % (N + 7)]
                                      : isnan(y[i]),
                      "rows apart: element %d", i);
    ck_assert(rd_eval(ctx, ab, RD_INTO(y, RD_SHAPE(N, N), .strides = RD_SHAPE(1, N))) == RD_OK);
    for (int i = 0; i < N * N; i++)
        ck_assert_msg(fabsf(y[i % N * N + i / N] - ((float *)want.data)[i]) < 1e-4F,
                      "columns: element %d", i);
    ck_assert(rd_eval(ctx, ab, RD_INTO(at, RD_SHAPE(N, N))) == RD_OK);
    ck_assert_msg(memcmp(at, want.data, sizeof(float) * N * N) == 0, "into an operand");
    rd_array_free(&want);
    forget();
}
END_TEST

/* Strides that no BLAS takes: outputs without rows, operands that repeat themselves. */
START_TEST(strides)
{
    enum { N = 64 };
    const extents n = { .i = N, .j = N, .k = N, .l = 2 * N };
    rd_expr      *a = operand(ctx, RD_F32, "ik", &n, DENSE, 1),
            *b      = operand(ctx, RD_F32, "kj", &n, DENSE, 2);
    rd_expr *ab = product_of(a, b, "ik,kj->ij"), *line = operand(ctx, RD_F32, "l", &n, DENSE, 3);
    rd_array want = evaluate(ctx, ab, 1, true);
    float   *y    = keep(malloc(sizeof(float) * N * N * 2));

    ck_assert(rd_eval(ctx, ab, RD_INTO(y, RD_SHAPE(N, N), .strides = RD_SHAPE(2 * N, 2))) == RD_OK);
    for (int i = 0; i < N * N; i++)
        ck_assert_msg(y[2 * i] == ((float *)want.data)[i], "every second: element %d", i);
    check("windows", product_of(rd_slice(rd_window(line, 0, N, 1), ":64"), b, "ik,kj->ij"), N,
          false);
    rd_array_free(&want);
    forget();
}
END_TEST

/* A NaN, or an infinity times 0, is NaN wherever it takes part, and nowhere else. */
START_TEST(not_numbers)
{
    const extents n = SIZES;
    rd_expr      *a = operand(ctx, RD_F64, "ik", &n, DENSE, 1),
            *b      = operand(ctx, RD_F64, "kj", &n, DENSE, 2);

    ((double *)memory[0])[3 * n.k + 5] = NAN;
    ((double *)memory[0])[7 * n.k + 2] = INFINITY;
    for (int j = 0; j < n.j; j += 3)
        ((double *)memory[1])[2 * n.j + j] = 0;
    check("not numbers", product_of(a, b, "ik,kj->ij"), n.k, true);
    const extents square = { .i = 100, .k = 120 };

    a                                       = operand(ctx, RD_F64, "ik", &square, DENSE, 3);
    ((double *)memory[2])[3 * square.k + 5] = NAN;
    ((double *)memory[2])[7 * square.k + 2] = INFINITY;
    for (int j = 0; j < square.k; j += 3) /* of which 0 times NaN is NaN, too */
        ((double *)memory[2])[5 * square.k + j] = 0;
    check("not numbers by themselves", product_of(a, a, "ik,jk->ij"), square.k, true);
    check("not numbers by themselves", product_of(a, a, "ki,kj->ij"), square.i, true);
    forget();
}
END_TEST

/* Small ones always, others where a BLAS may not be: if rows of b lie side by side. */
START_TEST(kernels_of_our_own)
{
    static const struct {
        const char *letters;
        int         n;
        bool        always, exact;
    } sums[] = { { "bik,bkj->bij", 16, true, true },
                 { "bik,bkj->bij", 65, false, true },
                 { "bik,bjk->bij", 16, false, false } };

    for (size_t k = 0; k < COUNT(sums) && !on_gpu(); k++) {
        const extents n = { .i = sums[k].n, .j = sums[k].n, .k = sums[k].n, .b = 40 };
        char          parts[3][MOST];
        rd_expr      *y;

        split(sums[k].letters, parts);
        y = product_of(operand(ctx, RD_F32, parts[A], &n, DENSE, 1),
                       operand(ctx, RD_F32, parts[B], &n, DENSE, 2), sums[k].letters);
        if (rd_blas_name())
            ck_assert_int_eq(strstr(explained(ctx, y, false), "by product kernels") != NULL,
                             sums[k].always);
        ck_assert_int_eq(strstr(explained(ctx, y, true), "by product kernels") != NULL,
                         sums[k].exact);
        forget();
    }
}
END_TEST

/* One that takes this processor for an older one leaves to the kernels what they have: large matrices, but not turned
 * ones. */
START_TEST(blas_that_is_behind)
{
    const extents n = { .i = 65, .j = 65, .k = 65, .b = 40 };

    if (on_gpu() || dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD))
        return; /* with CK_FORK=no it knows its processor already */
    ck_assert(setenv("OPENBLAS_CORETYPE", "Prescott", 1) == 0);
    if (!rd_blas_lacks_avx2())
        return; /* BLIS, or an old processor */
    for (int turned = 0; turned < 2; turned++) {
        rd_expr *const y = product_of(operand(ctx, RD_F32, "ik", &n, DENSE, 1),
                                      operand(ctx, RD_F32, turned ? "jk" : "kj", &n, DENSE, 2),
                                      turned ? "ik,jk->ij" : "ik,kj->ij");

        ck_assert_int_eq(strstr(explained(ctx, y, false), "by product kernels") != NULL, !turned);
        ck_assert_int_eq(says_blas(ctx, y, false), turned);
        forget();
    }
}
END_TEST

/* ---- Options --------------------------------------------------------------------------------- */
START_TEST(context_says_deterministic)
{
    const extents n    = SIZES;
    rd_ctx       *c    = rd_ctx_new(&(rd_ctx_opts){ .deterministic = true });
    rd_expr      *y    = product_of(operand(c, RD_F32, "ik", &n, DENSE, 1),
                                    operand(c, RD_F32, "kj", &n, DENSE, 2), "ik,kj->ij");
    rd_array      want = by_reference(c, y), found = evaluate(c, y, 2, false);

    ck_assert(!says_blas(c, y, false));
    ck_assert(same(&found, &want));
    rd_array_free(&want);
    rd_array_free(&found);
    rd_ctx_free(c);
    forget();
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */
/* OpenBLAS's own number of threads, where it is what computes here. */
static int blas_threads(int set)
{
    void *file =
        !on_gpu() && rd_blas_name() ? dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD) : NULL;

    if (!file)
        return 0;
    if (set)
        ((void (*)(int))dlsym(file, "openblas_set_num_threads"))(set);
    return ((int (*)(void))dlsym(file, "openblas_get_num_threads"))();
}

static rd_array wanted;

static void *multiply(void *x)
{
    const extents n  = BLOCKS;
    rd_ctx       *c  = rd_ctx_new(NULL);
    rd_array      a  = { .type = RD_F32, .data = x, .shape = RD_SHAPE(n.i, n.k) };
    rd_array      b  = { .type  = RD_F32,
                         .data  = (float *)x + (ptrdiff_t)n.i * n.k,
                         .shape = RD_SHAPE(n.k, n.j) };
    rd_expr      *y  = product_of(rd_leaf(c, &a), rd_leaf(c, &b), "ik,kj->ij");
    bool          ok = true;

    for (int k = 0; k < 20 && ok; k++) {
        rd_array out = { 0 };

        ok = rd_eval_many(c, RD_RESULTS({ y, &out }), &(rd_eval_opts){ .threads = 1 + k % 3 }) ==
                 RD_OK &&
             same(&out, &wanted);
        rd_array_free(&out);
    }
    rd_ctx_free(c);
    return ok ? NULL : x;
}

/* Programs of several threads, each with a context; afterwards OpenBLAS has as many threads as
 * before. */
START_TEST(callers_together)
{
    enum { CALLERS = 3 };
    const extents n = BLOCKS;
    float        *x = keep(numbers(RD_F32, (int64_t)n.i * n.k + (int64_t)n.k * n.j, 9));
    rd_array      a = { .type = RD_F32, .data = x, .shape = RD_SHAPE(n.i, n.k) };
    rd_array  b = { .type = RD_F32, .data = x + (ptrdiff_t)n.i * n.k, .shape = RD_SHAPE(n.k, n.j) };
    pthread_t caller[CALLERS];
    const int before = blas_threads(2);

    wanted = evaluate(ctx, product_of(rd_leaf(ctx, &a), rd_leaf(ctx, &b), "ik,kj->ij"), 1, false);
    for (int k = 0; k < CALLERS; k++)
        ck_assert_int_eq(pthread_create(&caller[k], NULL, multiply, x), 0);
    for (int k = 0; k < CALLERS; k++) {
        void *wrong;

        ck_assert_int_eq(pthread_join(caller[k], &wrong), 0);
        ck_assert_msg(!wrong, "caller %d", k);
    }
    ck_assert_int_eq(blas_threads(0), before);
    rd_array_free(&wanted);
    forget();
}
END_TEST

/* Rows times one of them: the two factors are the same memory where that row begins, and nowhere
 * else. */
START_TEST(rows_times_one_of_them)
{
    enum { ROWS = 100, COLS = 20 };
    float  *x    = malloc(ROWS * COLS * sizeof *x);
    double *want = malloc(ROWS * sizeof *want);

    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i * 7919 % 101 - 50);
    rd_expr *points = rd_wrap(ctx, x, RD_SHAPE(ROWS, COLS));
    for (int one = 0; one < ROWS; one += 16) {
        for (int r = 0; r < ROWS; r++) {
            want[r] = 0;
            for (int c = 0; c < COLS; c++)
                want[r] += (double)x[r * COLS + c] * (double)x[one * COLS + c];
        }
        expect("rows", rd_sum(rd_mul(points, rd_expand(rd_select(points, 0, one), 0)), RD_DIMS(1)),
               RD_F32, want, ROWS);
    }
    free(want);
    free(x);
}
END_TEST

/* What is tested of OpenBLAS must not depend on whether it knows the processor. */
static void tell_openblas(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        (void)setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

int main(void)
{
    const TTest *const tests[] = { orders_and_views,
                                   packed_panels,
                                   covariances_of_all_pairs,
                                   matrices_by_themselves,
                                   nearly_by_themselves,
                                   other_sums,
                                   complex_matrices,
                                   operands_that_are_kept,
                                   results_together,
                                   pairs_are_not_stored,
                                   kernels_of_our_own,
                                   outputs,
                                   strides,
                                   not_numbers,
                                   rows_times_one_of_them,
                                   context_says_deterministic,
                                   callers_together,
                                   blas_that_is_behind,
                                   rows_of_a_product };

    tell_openblas();
    return run_suite("products", tests, COUNT(tests));
}
