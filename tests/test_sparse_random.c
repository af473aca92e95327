/* Random sparse expressions beside the same ones of dense arrays: all formats, patterns, types,
 * maps, functions, views, reductions and products; the bits of the ways to run them, alone and
 * beside others; and the index arrays of sparse results.
 *
 *     RDIM_SPARSE_COUNT=500000 build/release/tests/test_sparse_random   a long run
 *     RDIM_SPARSE_SEED=77 .../test_sparse_random                        one case, with its graphs
 *     RDIM_SPARSE_SEED=1000 RDIM_SPARSE_COUNT=100 ...                   from there */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "random_sparse.h"
#include "isa.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CASES = 20000, STEPS = 4 };

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- Results --------------------------------------------------------------------------------- */
static bool alike(double x, double y, const sparse_pair *of)
{
    if (of->infinite && !isfinite(x) && !isfinite(y))
        return true;
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y) || of->rough == 0)
        return (isnan(x) && isnan(y)) || x == y;
    return fabs(x - y) <= of->rough * (of->most + fabs(x) + fabs(y));
}

static int64_t points(rd_shape s)
{
    int64_t n = 1;

    for (int a = 0; a < s.n; a++)
        n *= s.at[a];
    return n;
}

static void evaluated(const sparse_case *c, rd_expr *x, const rd_eval_opts *o, rd_array *out)
{
    *out              = (rd_array){ 0 };
    const rd_status s = rd_eval_many(ctx, RD_RESULTS({ x, out }), o);
    ck_assert_msg(s == RD_OK, "seed %" PRIu64 ": %s", c->seed, rd_error_text(ctx));
}

static void same_bits(const sparse_case *c, const rd_array *x, const rd_array *y, const char *how)
{
    const size_t size = (size_t)rd_dtype_size(x->type);

    for (int64_t i = 0; i < points(x->shape); i++) {
        const char *p = (const char *)x->in + (size_t)i * size,
                   *q = (const char *)y->in + (size_t)i * size;

        ck_assert_msg(memcmp(p, q, size) == 0 ||
                          (isnan(get(x->in, x->type, i)) && isnan(get(y->in, y->type, i))),
                      "seed %" PRIu64 ": %selement %" PRId64 " is %.17g, and %s %.17g", c->seed,
                      c->steps, i, get(x->in, x->type, i), how, get(y->in, y->type, i));
    }
}

/* One of the other ways to run it. */
static void other_way(sparse_case *c, rd_expr *x, const rd_array *first)
{
    const int     isa     = sparse_below(c, isa_count());
    const int32_t threads = sparse_once(c, 4) ? 2 + sparse_below(c, 2) : 1; /* they wait long */
    const rd_eval_opts o  = { .threads = threads, .traversal = (rd_traversal)sparse_below(c, 3) };
    char               how[80];
    rd_array           out;

    snprintf(how, sizeof how, "%s, %d threads", isa_name(isa), threads);
    isa_begin(ctx, isa);
    evaluated(c, x, &o, &out);
    isa_end(ctx);
    same_bits(c, first, &out, how);
    rd_array_free(&out);
}

static void compare(sparse_case *c, const sparse_pair *x, rd_expr *sparse, rd_expr *dense)
{
    const rd_eval_opts one = { .threads = 1 };
    rd_array           got, want = { 0 };

    if (rd_eval_many(ctx, RD_RESULTS({ dense, &want }), &one) != RD_OK) {
        rd_error_clear(ctx);
        ck_assert_msg(rd_eval(ctx, sparse, &want) != RD_OK, "seed %" PRIu64 ": %snot refused",
                      c->seed, c->steps);
        rd_error_clear(ctx);
        return;
    }
    evaluated(c, sparse, &one, &got);
    ck_assert_msg(got.type == want.type && got.shape.n == want.shape.n &&
                      memcmp(got.shape.at, want.shape.at, (size_t)got.shape.n * 8) == 0,
                  "seed %" PRIu64 ": other types or shapes", c->seed);
    ck_assert_msg(got.origin.n == want.origin.n &&
                      memcmp(got.origin.at, want.origin.at, (size_t)got.origin.n * 8) == 0,
                  "seed %" PRIu64 ": %sother origins", c->seed, c->steps);
    for (int64_t k = 0; k < points(got.shape); k++) {
        const double g = get(got.in, got.type, k), w = get(want.in, want.type, k);

        ck_assert_msg(alike(g, w, x),
                      "seed %" PRIu64 ": %selement %" PRId64 " of %s is %.17g, not %.17g", c->seed,
                      c->steps, k, rd_dtype_name(got.type), g, w);
    }
    if (sparse_once(c, 8))
        other_way(c, sparse, &got);
    rd_array_free(&got);
    rd_array_free(&want);
}

/* What a mask picks, and the values that there are. */
static void picked(sparse_case *c, const sparse_pair *x, rd_expr *dense)
{
    rd_array got = { 0 }, want = { 0 };

    if (sparse_once(c, 2)) {
        rd_nonzero(ctx, x->sparse, &got);
        rd_nonzero(ctx, dense, &want);
    } else {
        rd_compress(ctx, x->sparse, rd_ne(x->sparse, rd_int(ctx, 0)), &got);
        rd_compress(ctx, dense, rd_ne(dense, rd_int(ctx, 0)), &want);
    }
    ck_assert_msg(rd_error(ctx) == RD_OK, "seed %" PRIu64 ": %s", c->seed, rd_error_text(ctx));
    ck_assert_msg(got.shape.at[0] == want.shape.at[0], "seed %" PRIu64 ": %d picked, not %d",
                  c->seed, (int)got.shape.at[0], (int)want.shape.at[0]);
    same_bits(c, &want, &got, "picked");
    rd_array_free(&got);
    rd_array_free(&want);
}

/* Index arrays and elements of a sparse result. */
static void stored(sparse_case *c, const sparse_pair *x)
{
    const rd_eval_opts one   = { .threads = 1 };
    rd_array           dense = { 0 }, where = { 0 };

    if (!rd_is_sparse(x->sparse))
        return;
    evaluated(c, x->sparse, &one, &dense);
    if (x->stored)
        evaluated(c, rd_cast(x->stored, RD_BOOL), &one, &where);
    sparse_check_arrays(c, *x, &dense, x->stored ? &where : NULL);
    ck_assert_msg(c->complaint[0] == 0, "seed %" PRIu64 ": %s%s", c->seed, c->steps, c->complaint);
    rd_array_free(&dense);
    rd_array_free(&where);
}

/* ---- Several results ------------------------------------------------------------------------- */
/* What was met on the way, and sums and products of it, so that parts are shared. */
typedef struct results {
    rd_expr    *y[SPARSE_SEEN];
    sparse_pair of[SPARSE_SEEN]; /* the step that it is of */
    int         n;
} results;

static void add(results *r, sparse_pair of, rd_expr *y)
{
    if (y && r->n < SPARSE_SEEN) {
        r->of[r->n]  = of;
        r->y[r->n++] = y;
    }
    rd_error_clear(ctx); /* which of them are refused is tested apart */
}

static void add_step(sparse_case *c, results *r, sparse_pair of)
{
    rd_expr *const x = of.sparse;
    const rd_shape s = rd_shape_of(x);

    add(r, of, x);
    of.most = 100 * of.most * of.most;
    if (s.n == 0 || !sparse_once(c, 2))
        return;
    rd_expr *const product = s.n == 2 ? rd_matmul(x, rd_transpose(x)) : NULL;
    switch (sparse_below(c, 6)) {
    case 0: add(r, of, rd_sum(x, RD_DIMS(s.n - 1))); break;
    case 1: add(r, of, rd_sum(rd_mul(x, x), RD_DIMS(0))); break;
    case 2: add(r, of, rd_add(rd_mul(x, rd_num(ctx, 1.1)), x)); break;
    case 3: add(r, of, product); break;
    case 4: add(r, of, product ? rd_div(product, rd_sum(x, RD_KEEP(1))) : NULL); break;
    default: add(r, of, product ? rd_sum(product, RD_ALL) : NULL);
    }
}

/* Of a part of a reduction only the last bits may differ (parts_of_a_reduction in semantics.md). */
static void nearly_same(const sparse_case *c, const rd_array *x, const rd_array *y,
                        const sparse_pair *of)
{
    for (int64_t i = 0; i < points(x->shape); i++) {
        const double a = get(x->in, x->type, i), b = get(y->in, y->type, i);

        ck_assert_msg(alike(a, b, of),
                      "seed %" PRIu64 ": %selement %" PRId64 " is %.17g, and beside others %.17g",
                      c->seed, c->steps, i, a, b);
    }
}

/* Each comes to the same bits alone and beside the others, which share what they read. */
static void together(sparse_case *c, const results *r)
{
    const rd_eval_opts one = { .threads = 1 };
    rd_array           out[SPARSE_SEEN], alone;
    rd_result          all[SPARSE_SEEN];
    bool               whole = true;

    memset(out, 0, sizeof out);
    for (int k = 0; k < r->n; k++)
        all[k] = (rd_result){ r->y[k], &out[k] };
    whole = rd_eval_many(ctx, (rd_results){ all, r->n }, &one) == RD_OK;
    rd_error_clear(ctx);
    for (int k = 0; k < r->n; k++) {
        alone             = (rd_array){ 0 };
        const rd_status s = rd_eval_many(ctx, RD_RESULTS({ r->y[k], &alone }), &one);

        ck_assert_msg(s == RD_OK || !whole, "seed %" PRIu64 ": %s", c->seed, rd_error_text(ctx));
        rd_error_clear(ctx);
        if (whole && !rd_dtype_is_complex(alone.type) && r->of[k].part)
            nearly_same(c, &alone, &out[k], &r->of[k]);
        else if (whole && !rd_dtype_is_complex(alone.type))
            same_bits(c, &alone, &out[k], "beside others");
        rd_array_free(&alone);
        rd_array_free(&out[k]);
    }
}

/* ---- Cases ----------------------------------------------------------------------------------- */
static void one_case(uint64_t seed, bool shown)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    sparse_case   c;
    results       met = { .n = 0 };

    sparse_case_begin(&c, ctx, seed);
    ck_assert_msg(rd_error(ctx) == RD_OK, "seed %" PRIu64 ": %s", seed, rd_error_text(ctx));
    sparse_pair x = c.leaf[0];
    for (int steps = 1 + sparse_below(&c, STEPS); steps > 0; steps--) {
        x = sparse_step(&c, x);
        ck_assert_msg(c.complaint[0] == 0, "seed %" PRIu64 ": %s%s", seed, c.steps, c.complaint);
        add_step(&c, &met, x);
        if (!rd_is_sparse(x.sparse) && steps > 2) /* what is dense now is of less interest */
            steps = 2;
    }
    stored(&c, &x);
    if (sparse_once(&c, 4))
        together(&c, &met);
    rd_expr *dense = x.dense;
    if (x.stored) /* what is evaluated has 0 elsewhere */
        dense = rd_where(x.stored, dense, rd_cast(rd_int(ctx, 0), rd_type_of(dense)));
    if (shown)
        printf("%s\n%s\n", rd_graphviz(ctx, RD_RESULTS({ x.sparse, NULL })),
               rd_graphviz(ctx, RD_RESULTS({ dense, NULL })));
    ck_assert_msg(rd_error(ctx) == RD_OK, "seed %" PRIu64 ": %s", seed, rd_error_text(ctx));
    if (rd_dtype_is_complex(rd_type_of(dense))) {
        compare(&c, &x, rd_real(x.sparse), rd_real(dense));
        compare(&c, &x, rd_imag(x.sparse), rd_imag(dense));
    } else {
        compare(&c, &x, x.sparse, dense);
        if (x.rough == 0 && !x.stored && sparse_once(&c, 40))
            picked(&c, &x, dense);
    }
    sparse_case_end(&c);
    rd_ctx_release(ctx, mark);
}

START_TEST(random_expressions)
{
    const bool     one   = getenv("RDIM_SPARSE_SEED") && !getenv("RDIM_SPARSE_COUNT");
    const uint64_t first = from_environment("RDIM_SPARSE_SEED", 0),
                   n     = from_environment("RDIM_SPARSE_COUNT",
                                            CASES / suite_long_part(THREAD_SANITIZED ? 50
                                                                    : SANITIZED      ? 10
                                                                                     : 1));

    for (uint64_t k = 0; k < n && !one; k++)
        one_case(first + k, false);
    if (one)
        one_case(first, true);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { random_expressions };

    setenv("CK_DEFAULT_TIMEOUT", "600",
           0); /* seconds: threads wait for each other where others work */
    return run_suite("sparse_random", tests, COUNT(tests));
}
