/* test_cut_blocks.c - gradients of attention in blocks of rows of the weights: what they come to,
 * by an evaluation that stores all weights; their memory; the same bits by any number of threads;
 * and results that cannot come so. */
#include "counted_heap.h"
#include "eval/cache/cut_masked.h"
#include "eval/cache/in_blocks.h"
#include "kernels/cpu/product/blas.h"
#include "suite.h"

#include <math.h>
#include <pthread.h>
#include <rdim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weights are more than 16 MB, and twice all operands; each thread has some arrays of 32 rows.
 * 3.12 MB a thread were measured at most. */
enum { HEADS = 2, QUERIES = 1571, KEYS = 1733, DEPTH = 35, VALUES = 41 };
enum { THREAD = 13 << 18, LEAST = 2 << 20 };

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static rd_ctx *ctx;

/* ---- Operands -------------------------------------------------------------------------------- */
static float *random_floats(int64_t n, unsigned s)
{
    float *x = malloc((size_t)n * sizeof *x);

    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 8388608 - 1;
    return x;
}

static struct operands {
    float *q, *k, *v, *seed;
    bool  *mask;
} o;

static void setup(void)
{
    counted_heap_grant(INT64_MAX);
    ctx    = counted_heap_ctx();
    o.q    = random_floats(HEADS * QUERIES * DEPTH, 1);
    o.k    = random_floats(HEADS * KEYS * DEPTH, 2);
    o.v    = random_floats(HEADS * KEYS * VALUES, 3);
    o.seed = random_floats(HEADS * QUERIES * VALUES, 4);
    o.mask = malloc((size_t)QUERIES * KEYS);
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < KEYS; j++)
            o.mask[i * KEYS + j] = j / 300 != 2 && (j / 300 == 4 || (i * 7 + j) % 5 != 0);
}

static void teardown(void)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    counted_heap_end(ctx);
    free(o.q);
    free(o.k);
    free(o.v);
    free(o.seed);
    free(o.mask);
}

/* ---- Gradients ------------------------------------------------------------------------------- */
static rd_expr *chosen(rd_expr *mask, rd_expr *s)
{
    return rd_where(mask, s, rd_num(ctx, -INFINITY));
}

/* Masks and biases of scores. */
static rd_expr *no_mask(rd_expr *s)
{
    return s;
}

static rd_expr *causal_mask(rd_expr *s)
{
    return chosen(rd_le(rd_coord(s, -1), rd_coord(s, -2)), s);
}

static rd_expr *mask_in_memory(rd_expr *s)
{
    return chosen(rd_wrap(ctx, o.mask, RD_SHAPE(QUERIES, KEYS)), s);
}

static rd_expr *slope_mask(rd_expr *s)
{
    rd_expr *apart = rd_cast(rd_sub(rd_coord(s, -1), rd_coord(s, -2)), RD_F32);

    return causal_mask(rd_add(s, rd_mul(apart, rd_num(ctx, 0.01))));
}

static rd_expr *document_mask(rd_expr *s)
{
    rd_expr *each = rd_int(ctx, 400);

    return chosen(rd_eq(rd_floordiv(rd_coord(s, -2), each), rd_floordiv(rd_coord(s, -1), each)), s);
}

static rd_expr *band_mask(rd_expr *s)
{
    rd_expr *back = rd_sub(rd_coord(s, -2), rd_coord(s, -1));

    return chosen(rd_and(rd_ge(back, rd_int(ctx, 0)), rd_lt(back, rd_int(ctx, 300))), s);
}

/* Two masks, one of which says what it hides. */
static rd_expr *two_masks(rd_expr *s)
{
    rd_expr *hidden = rd_gt(rd_coord(s, -1), rd_add(rd_coord(s, -2), rd_int(ctx, 100)));

    s = chosen(rd_ge(rd_coord(s, -1), rd_sub(rd_coord(s, -2), rd_int(ctx, 500))), s);
    return rd_where(hidden, rd_num(ctx, -INFINITY), s);
}

static rd_expr *block_mask(rd_expr *s)
{
    const int64_t rows[]    = { 0, 500, 700, 1300, QUERIES };
    const int64_t columns[] = { 0, 700, 1500, KEYS };
    const bool    pair[]    = { 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1 };

    return chosen(rd_blocks(ctx, 4, rows, 3, columns, pair), s);
}

static const struct {
    const char *what;
    rd_expr *(*mask)(rd_expr *s);
} masks[] = {
    { "no mask", no_mask },  { "causal", causal_mask },      { "in memory", mask_in_memory },
    { "slope", slope_mask }, { "documents", document_mask }, { "blocks", block_mask },
    { "band", band_mask },   { "two masks", two_masks },
};

/* Weights times values: four spellings. */
enum { WAYS = 4 };
static rd_expr *weighed(int way, rd_expr *s, rd_expr *v)
{
    rd_expr *e;

    switch (way) {
    case 0: return rd_matmul(rd_softmax(s, RD_DIMS(-1)), v);
    case 1: return rd_softmax_sum(rd_expand(s, -1), rd_expand(v, -3), RD_DIMS(-2));
    case 2: return rd_einsum("hij,hjd->hid", rd_softmax(s, RD_DIMS(-1)), v);
    default:
        e = rd_exp(rd_sub(s, rd_max(s, RD_KEEP(-1))));
        return rd_div(rd_matmul(e, v), rd_sum(e, RD_KEEP(-1)));
    }
}

/* Gradients by q, k, v, those of the bits of `which`. */
typedef struct gradients {
    int      n;
    rd_expr *of[3];
    rd_shape shape[3];
    float   *out[3];
} gradients;

static int64_t elements(const rd_shape *shape)
{
    int64_t n = 1;

    for (int a = 0; a < shape->n; a++)
        n *= shape->at[a];
    return n;
}

static gradients chosen_of(rd_exprs all, int which)
{
    gradients g = { 0 };

    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    for (int k = 0; k < 3; k++)
        if (which >> k & 1) {
            g.of[g.n]    = all.at[k];
            g.shape[g.n] = rd_shape_of(all.at[k]);
            g.out[g.n]   = malloc((size_t)elements(&g.shape[g.n]) * sizeof(float));
            g.n++;
        }
    return g;
}

static gradients gradients_of(int way, rd_expr *(*mask)(rd_expr *s), int which)
{
    rd_expr *q = rd_wrap(ctx, o.q, RD_SHAPE(HEADS, QUERIES, DEPTH));
    rd_expr *k = rd_wrap(ctx, o.k, RD_SHAPE(HEADS, KEYS, DEPTH));
    rd_expr *v = rd_wrap(ctx, o.v, RD_SHAPE(HEADS, KEYS, VALUES));
    rd_expr *s = rd_mul(rd_matmul(q, rd_permute(k, RD_INDEX(0, 2, 1))), rd_num(ctx, 0.7));
    rd_expr *y = weighed(way, mask(s), v);

    return chosen_of(rd_grad(y, RD_EXPRS(q, k, v),
                             .seed = rd_wrap(ctx, o.seed, RD_SHAPE(HEADS, QUERIES, VALUES))),
                     which);
}

static void free_gradients(gradients *g)
{
    for (int k = 0; k < g->n; k++)
        free(g->out[k]);
}

/* Evaluates all together. */
static rd_status evaluate(const gradients *g, float *const *out, const rd_eval_opts *opts)
{
    rd_array  array[3];
    rd_result result[3];

    for (int k = 0; k < g->n; k++) {
        array[k]  = (rd_array){ .data = out[k], .type = RD_F32, .shape = g->shape[k] };
        result[k] = (rd_result){ g->of[k], &array[k] };
    }
    return rd_eval_many(ctx, (rd_results){ result, g->n }, opts);
}

static bool in_blocks(const gradients *g, const rd_eval_opts *opts)
{
    rd_array    array[3] = { { .data = NULL } };
    rd_result   result[3];
    const char *text;

    for (int k = 0; k < g->n; k++)
        result[k] = (rd_result){ g->of[k], &array[k] };
    text = rd_explain(ctx, (rd_results){ result, g->n }, opts);
    return strstr(text, "\nin blocks: ") != NULL;
}

/* Compares n elements, with NaN where it is. */
static void check_close(const float *a, const float *b, int64_t n, const char *what)
{
    float size = 0;

    for (int64_t i = 0; i < n; i++)
        size = isfinite(b[i]) ? fmaxf(size, fabsf(b[i])) : size;
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(
            isnan(b[i]) ? isnan(a[i]) : a[i] == b[i] || fabsf(a[i] - b[i]) <= 2e-5F * size,
            "%s: element %lld is %g, not %g", what, (long long)i, (double)a[i], (double)b[i]);
}

/* Compares with an evaluation that stores all weights. */
static void check_stored(const gradients *g, const char *what)
{
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };
    float             *want[3];

    for (int k = 0; k < g->n; k++)
        want[k] = malloc((size_t)elements(&g->shape[k]) * sizeof *want[k]);
    ck_assert_msg(evaluate(g, want, &exact) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    for (int k = 0; k < g->n; k++) {
        check_close(g->out[k], want[k], elements(&g->shape[k]), what);
        free(want[k]);
    }
}

/* Evaluates on several numbers of threads: the same bits, in so much memory. */
static void check_threads(const gradients *g, const char *what, int64_t thread)
{
    float *first[3];

    for (int threads = 1; threads <= 3; threads++) {
        const rd_eval_opts opts   = { .size = sizeof opts, .threads = threads };
        const int64_t      before = counted_heap_begin();

        ck_assert_msg(evaluate(g, g->out, &opts) == RD_OK, "%s: %s", what, rd_error_text(ctx));
        ck_assert_msg(!rd_blas_name() || counted_heap_most() - before < LEAST + threads * thread,
                      "%s: %lld bytes by %d threads", what,
                      (long long)(counted_heap_most() - before), threads);
        for (int k = 0; k < g->n; k++) {
            const size_t bytes = (size_t)elements(&g->shape[k]) * sizeof(float);

            if (threads == 1)
                memcpy(first[k] = malloc(bytes), g->out[k], bytes);
            ck_assert_msg(memcmp(first[k], g->out[k], bytes) == 0, "%s: %d threads", what, threads);
        }
    }
    for (int k = 0; k < g->n; k++)
        free(first[k]);
}

/* ---- Tests ----------------------------------------------------------------------------------- */
/* Gradients alone, and some together. */
static const int some[] = { 2, 4, 7 };

START_TEST(gradients_of_masks)
{
    const int m = _i / COUNT(some), which = some[_i % COUNT(some)];
    gradients g = gradients_of(_i % WAYS, masks[m].mask, which);
    char      text[80];

    snprintf(text, sizeof text, "%s, way %d, gradients %d", masks[m].what, _i % WAYS, which);
    ck_assert_msg(in_blocks(&g, NULL) || !rd_blas_name(), "%s: whole", text);
    check_threads(&g, text, THREAD);
    check_stored(&g, text);
    free_gradients(&g);
}
END_TEST

/* The columns of the first block, whose rows are the first ones. */
static int64_t columns_of_first_block(gradients *g)
{
    rd_array           array[3];
    rd_result          result[3];
    rd_cut_blocks      b   = { .each = { 0 } };
    rd_cut_box         box = { .first = { 0 } };
    rd_cut_masks       m;
    const rd_eval_opts opts = { .size = sizeof opts };
    rd_plan           *plan;

    for (int k = 0; k < g->n; k++) {
        array[k]  = (rd_array){ .data = g->out[k], .type = RD_F32, .shape = g->shape[k] };
        result[k] = (rd_result){ g->of[k], &array[k] };
    }
    plan = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ result, g->n }, &opts);
    ck_assert_msg(plan && rd_find_cuts(plan, (rd_results){ result, g->n }, &b), "no cuts");
    for (int k = 0; k < b.cuts.n; k++)
        box.count[k] = b.each[k];
    box.count[b.cuts.n] = b.cuts.extent[b.cuts.n];
    ck_assert_int_eq(box.count[b.cuts.n], KEYS);
    rd_cut_masks_find(&m, &b.steps);
    if (m.n)
        rd_cut_masks_narrow(&m, &box);
    rd_plan_free(plan);
    const int64_t columns = box.count[b.cuts.n];
    rd_cut_blocks_end(&b);
    return columns;
}

/* A causal mask leaves out most of them, unless a NaN is among the values. */
START_TEST(hidden_columns)
{
    gradients   causal = gradients_of(0, causal_mask, 7);
    float      *v      = (float *)(uintptr_t)o.v;
    const float kept   = v[5];

    ck_assert_int_lt(columns_of_first_block(&causal), KEYS / 3);
    v[5] = NAN;
    ck_assert_int_eq(columns_of_first_block(&causal), KEYS);
    v[5] = kept;
    free_gradients(&causal);
}
END_TEST

START_TEST(gradients_of_ways)
{
    gradients g = gradients_of(_i, causal_mask, 5 + _i % 2);
    char      text[80];

    snprintf(text, sizeof text, "way %d", _i);
    check_threads(&g, text, THREAD);
    check_stored(&g, text);
    free_gradients(&g);
}
END_TEST

/* Axes (b, t, h, d) with shared keys for two heads each, and one operand in all three places. */
START_TEST(other_shapes)
{
    enum { B = 2, T = 901, SHARED = 2, EACH = 2, DIM = 64, N = 2600 };
    float    *p = random_floats(4 * B * T * SHARED * EACH * DIM + N * DIM, 7), *at = p;
    rd_expr  *q, *k, *v, *s, *y;
    gradients g;

    if (_i < 2) {
        q = rd_wrap(ctx, at, RD_SHAPE(B, T, SHARED, EACH, DIM));
        k = rd_wrap(ctx, at += B * T * SHARED * EACH * DIM, RD_SHAPE(B, T, SHARED, DIM));
        v = rd_wrap(ctx, at += B * T * SHARED * EACH * DIM, RD_SHAPE(B, T, SHARED, DIM));
        s = rd_einsum("btgpd,bsgd->bgpts", rd_mul(q, rd_num(ctx, 0.3)), k);
        y = rd_einsum("bgpts,bsgd->btgpd", rd_softmax(causal_mask(s), RD_DIMS(-1)), v);
        g = chosen_of(rd_grad(y, RD_EXPRS(q, k, v),
                              .seed = rd_wrap(ctx, at + B * T * SHARED * EACH * DIM,
                                              RD_SHAPE(B, T, SHARED, EACH, DIM))),
                      _i ? 7 : 2);
    } else if (_i == 2) { /* one operand, whose gradient is a sum of three */
        q = rd_wrap(ctx, p, RD_SHAPE(N, DIM));
        s = rd_mul(rd_matmul(q, rd_transpose(q)), rd_num(ctx, 0.3));
        y = rd_matmul(rd_softmax(s, RD_DIMS(1)), q);
        g = chosen_of(rd_grad(rd_sum(rd_square(y), RD_ALL), RD_EXPRS(q, q, q)), 1);
    } else { /* projections of one operand to two heads, and of what these give to the loss */
        rd_expr *x = rd_wrap(ctx, p, RD_SHAPE(N, DIM));
        rd_expr *w = rd_wrap(ctx, p + N * DIM, RD_SHAPE(3, DIM, DIM));
        rd_expr *h = rd_reshape(rd_matmul(x, w), RD_SHAPE(3, N, 2, DIM / 2));

        h = rd_permute(h, RD_INDEX(0, 2, 1, 3));
        q = rd_select(h, 0, 0);
        k = rd_permute(rd_select(h, 0, 1), RD_INDEX(0, 2, 1));
        s = causal_mask(rd_mul(rd_matmul(q, k), rd_num(ctx, 0.3)));
        y = rd_matmul(rd_softmax(s, RD_DIMS(-1)), rd_select(h, 0, 2));
        y = rd_reshape(rd_permute(y, RD_INDEX(1, 0, 2)), RD_SHAPE(N, DIM));
        y = rd_sum(rd_square(rd_matmul(y, rd_select(w, 0, 1))), RD_ALL);
        g = chosen_of(rd_grad(y, RD_EXPRS(x, w, w)), _i == 3 ? 3 : 1);
    }
    check_threads(&g, "other shapes", _i < 2 ? 5 * THREAD / 2 : 8 * THREAD);
    check_stored(&g, "other shapes");
    ck_assert(in_blocks(&g, NULL) || !rd_blas_name());
    free_gradients(&g);
    free(p);
}
END_TEST

/* Outputs with other strides; an output over an operand, for which it runs whole. */
START_TEST(outputs)
{
    gradients g    = gradients_of(0, causal_mask, 6);
    float    *wide = calloc(3 * (size_t)HEADS * KEYS * DEPTH, sizeof *wide);
    float    *over = o.v;
    float    *want = malloc((size_t)HEADS * KEYS * VALUES * sizeof *want);

    ck_assert(evaluate(&g, g.out, NULL) == RD_OK);
    ck_assert(rd_eval_many(ctx,
                           RD_RESULTS({ g.of[0], RD_INTO(wide, RD_SHAPE(HEADS, KEYS, DEPTH),
                                                         .strides = RD_STRIDES(3, 3 * HEADS,
                                                                               3 * HEADS * KEYS)) },
                                      { g.of[1], RD_INTO(want, RD_SHAPE(HEADS, KEYS, VALUES)) }),
                           NULL) == RD_OK);
    for (int h = 0; h < HEADS; h++)
        for (int j = 0; j < KEYS; j++)
            for (int d = 0; d < DEPTH; d++)
                ck_assert(wide[3 * (h + HEADS * (j + KEYS * d))] ==
                          g.out[0][(h * KEYS + j) * DEPTH + d]);
    ck_assert(memcmp(want, g.out[1], (size_t)HEADS * KEYS * VALUES * sizeof *want) == 0);
    ck_assert(rd_eval(ctx, g.of[1], RD_INTO(over, RD_SHAPE(HEADS, KEYS, VALUES))) == RD_OK);
    check_close(over, want, (int64_t)HEADS * KEYS * VALUES, "over an operand");
    free(want);
    free(wide);
    free_gradients(&g);
}
END_TEST

/* Cancelled by who is told of progress; the next evaluation is whole. */
static int end_at_once(void *user, double done, double left)
{
    (void)left;
    *(double *)user = done;
    return 1;
}

START_TEST(cancelled)
{
    gradients    g    = gradients_of(0, no_mask, 7);
    double       done = 0;
    rd_eval_opts opts = {
        .size = sizeof opts, .threads = 1 + _i, .progress = end_at_once, .user = &done
    };
    rd_status status;

    rd_cancel(ctx);
    status = evaluate(&g, g.out, &opts);
    ck_assert_msg(status == RD_ERR_CANCELLED, "%d", status);
    rd_error_clear(ctx);
    done   = 0;
    status = evaluate(&g, g.out, &opts);
    ck_assert(status == (done > 0 ? RD_ERR_CANCELLED : RD_OK)); /* fast machines are done before */
    rd_error_clear(ctx);
    ck_assert(evaluate(&g, g.out, NULL) == RD_OK);
    if (_i == 0)
        check_stored(&g, "after it");
    free_gradients(&g);
}
END_TEST

/* Without memory at any time it fails, or is right by another way; then it runs again. */
START_TEST(without_memory)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = 2 };
    gradients          g    = gradients_of(0, causal_mask, 7);
    float             *want[3];
    rd_status          status;

    for (int k = 0; k < g.n; k++)
        want[k] = malloc((size_t)elements(&g.shape[k]) * sizeof *want[k]);
    ck_assert(evaluate(&g, want, &opts) == RD_OK);
    for (int at = 1; at < 5000; at += at) {
        rd_ctx_free(ctx);
        ctx = counted_heap_ctx();
        free_gradients(&g);
        g = gradients_of(0, causal_mask, 7);
        counted_heap_grant(at + _i * at / 4);
        status = evaluate(&g, g.out, &opts);
        counted_heap_grant(INT64_MAX);
        ck_assert_msg(status == RD_OK || status == RD_ERR_MEMORY, "%s", rd_error_text(ctx));
        rd_error_clear(ctx);
        if (status != RD_OK)
            ck_assert(evaluate(&g, g.out, &opts) == RD_OK);
        for (int k = 0; k < g.n; k++)
            check_close(g.out[k], want[k], elements(&g.shape[k]), "little memory");
    }
    for (int k = 0; k < g.n; k++)
        free(want[k]);
    free_gradients(&g);
}
END_TEST

/* A causal mask in memory that hides all of one row. */
static void hide_a_row(void)
{
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < KEYS; j++)
            o.mask[i * KEYS + j] = j <= i && i != 900;
}

/* NaN and infinities spoil what they should, and nothing else: also as columns that are masked,
 * where a weight of 0 makes NaN of them, and by products that overflow. */
enum { NOT_FINITE = 10 };
START_TEST(what_is_not_finite)
{
    const bool in_memory = _i == 7;
    gradients  g;

    switch (_i) {
    case 0: o.v[1500 * VALUES + 3] = NAN; break;
    case 1: o.k[700 * DEPTH + 1] = NAN; break;
    case 2: o.v[1730 * VALUES + 3] = INFINITY; break;
    case 3: o.k[1730 * DEPTH + 1] = -INFINITY; break;
    case 4: o.seed[100 * VALUES + 2] = INFINITY; break;
    case 5: o.q[900 * DEPTH + 2] = NAN; break;
    case 6: o.v[1560 * VALUES + 3] = o.seed[700 * VALUES + 3] = 3e30F; break;
    case 7: hide_a_row(); break;
    case 8: o.k[1560 * DEPTH + 3] = o.q[700 * DEPTH + 3] = 3e30F; break;
    default: o.v[(KEYS + 1700) * VALUES] = NAN; break; /* of the second head */
    }
    g = gradients_of(_i % WAYS, in_memory ? mask_in_memory : causal_mask, 7);
    ck_assert(evaluate(&g, g.out, NULL) == RD_OK);
    check_stored(&g, "not finite");
    free_gradients(&g);
}
END_TEST

/* The same expressions again after their elements became infinite, and finite again. */
START_TEST(elements_that_change)
{
    const float was = o.v[1730 * VALUES + 3];
    gradients   g   = gradients_of(0, causal_mask, 7);

    for (int k = 0; k < 3; k++) {
        o.v[1730 * VALUES + 3] = k == 1 ? INFINITY : was;
        ck_assert(evaluate(&g, g.out, NULL) == RD_OK);
        ck_assert(!isnan(g.out[0][700 * DEPTH]) == (k != 1));
        check_stored(&g, "changed");
    }
    free_gradients(&g);
}
END_TEST

/* These results are made of sums over rows of weights, but are none: weights divided by such sums, a
 * sum that is squared, an extreme over rows, the greatest so far.  With the bits of loops nothing
 * comes in blocks. */
static rd_expr *unlike(int which, rd_expr *s, rd_expr *v)
{
    rd_expr *p = rd_softmax(s, RD_DIMS(-1)), *t = rd_permute(p, RD_INDEX(0, 2, 1));

    switch (which) {
    case 0: return rd_matmul(rd_permute(rd_div(p, rd_sum(p, RD_KEEP(1))), RD_INDEX(0, 2, 1)), v);
    case 1: return rd_square(rd_matmul(t, v));
    case 2: return rd_add(rd_matmul(t, v), rd_expand(rd_max(p, RD_DIMS(1)), -1));
    case 3: return rd_scan(rd_matmul(t, v), "max", RD_DIMS(1));
    case 4: return rd_scan(rd_matmul(t, v), "sum", RD_DIMS(2));
    default: return rd_mul(rd_matmul(t, v), rd_expand(rd_sum(p, RD_DIMS(1)), -1));
    }
}

START_TEST(made_of_sums)
{
    rd_expr           *q     = rd_wrap(ctx, o.q, RD_SHAPE(HEADS, QUERIES, DEPTH));
    rd_expr           *k     = rd_wrap(ctx, o.k, RD_SHAPE(HEADS, KEYS, DEPTH));
    rd_expr           *v     = rd_wrap(ctx, o.seed, RD_SHAPE(HEADS, QUERIES, VALUES));
    rd_expr           *y     = unlike(_i, rd_matmul(q, rd_permute(k, RD_INDEX(0, 2, 1))), v);
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };
    gradients          g     = chosen_of((rd_exprs){ (rd_expr *const[]){ y, y, y }, 3 }, 1);

    ck_assert(!in_blocks(&g, &exact));
    ck_assert(in_blocks(&g, NULL));
    check_threads(&g, "made of sums", 5 * THREAD);
    check_stored(&g, "made of sums");
    free_gradients(&g);
}
END_TEST

/* The place of a maximum over heads and keys is a flat index, so no key may be left out where it is
 * asked for: the gradient goes to the score there. */
START_TEST(places_over_two_axes)
{
    rd_expr *q  = rd_wrap(ctx, o.q, RD_SHAPE(HEADS, QUERIES, DEPTH));
    rd_expr *k  = rd_wrap(ctx, o.k, RD_SHAPE(HEADS, KEYS, DEPTH));
    rd_expr *s  = causal_mask(rd_matmul(q, rd_permute(k, RD_INDEX(0, 2, 1))));
    rd_exprs of = rd_grad(rd_sum(rd_max(s, RD_DIMS(0, 2)), RD_ALL), RD_EXPRS(k));
    rd_expr *y;

    ck_assert_msg(of.n == 1, "%s", rd_error_text(ctx));
    y           = of.at[0];
    gradients g = chosen_of((rd_exprs){ (rd_expr *const[]){ y, y, y }, 3 }, 1);

    ck_assert_msg(evaluate(&g, g.out, NULL) == RD_OK, "%s", rd_error_text(ctx));
    check_stored(&g, "places over two axes");
    free_gradients(&g);
}
END_TEST

/* Plans of the caller run in the same blocks: the bits of evaluations, at other addresses too, on two
 * threads at once, and in little memory; over an operand they run whole. */
typedef struct plan_run {
    const rd_plan *plan;
    const void    *in[3];
    float         *out[4];
    rd_status      status;
} plan_run;

static void *run_plan(void *user)
{
    plan_run *const r = user;

    r->status = rd_plan_run(r->plan, r->in, (void *const *)r->out);
    return NULL;
}

static rd_plan *planned(rd_result *result, rd_array *array)
{
    const rd_shape shape[3] = { RD_SHAPE(HEADS, QUERIES, DEPTH), RD_SHAPE(HEADS, KEYS, DEPTH),
                                RD_SHAPE(HEADS, KEYS, VALUES) };
    rd_expr       *in[3];
    rd_exprs       all;

    for (int k = 0; k < 3; k++)
        in[k] = rd_input(ctx, (const char *[]){ "q", "k", "v" }[k],
                         &(rd_array){ .type = RD_F32, .shape = shape[k] });
    rd_expr *s = rd_mul(rd_matmul(in[0], rd_permute(in[1], RD_INDEX(0, 2, 1))), rd_num(ctx, 0.7));
    rd_expr *y = weighed(0, causal_mask(s), in[2]);

    all = rd_grad(y, (rd_exprs){ in, 3 },
                  .seed = rd_wrap(ctx, o.seed, RD_SHAPE(HEADS, QUERIES, VALUES)));
    for (int k = 0; k < 3; k++) {
        array[k]  = (rd_array){ .type = RD_F32, .shape = shape[k] };
        result[k] = (rd_result){ all.at[k], &array[k] };
    }
    return rd_plan_new(ctx, (rd_exprs){ in, 3 }, (rd_results){ result, 3 },
                       &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = 2 });
}

START_TEST(plans)
{
    gradients g = gradients_of(0, causal_mask, 7);
    rd_result result[3];
    rd_array  array[3];
    rd_plan  *plan = planned(result, array);
    plan_run  run[2];
    pthread_t thread;

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    ck_assert(evaluate(&g, g.out, NULL) == RD_OK);
    for (int r = 0; r < 2; r++) {
        run[r] = (plan_run){ .plan = plan, .in = { o.q, o.k, o.v } };
        for (int k = 0; k < 3; k++)
            run[r].out[k] = malloc((size_t)elements(&g.shape[k]) * sizeof(float));
    }
    run[1].in[0] = memcpy(malloc(HEADS * QUERIES * DEPTH * sizeof(float)), o.q,
                          HEADS * QUERIES * DEPTH * sizeof(float));
    for (int again = 0; again < 2; again++) {
        const int64_t before = counted_heap_begin();

        ck_assert(pthread_create(&thread, NULL, run_plan, &run[1]) == 0);
        run_plan(&run[0]);
        (void)pthread_join(thread, NULL);
        ck_assert(counted_heap_most() - before < LEAST + 9 * THREAD); /* two workers each */
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 3; k++) {
                ck_assert(run[r].status == RD_OK);
                ck_assert(memcmp(run[r].out[k], g.out[k],
                                 (size_t)elements(&g.shape[k]) * sizeof(float)) == 0);
            }
    }
    run[0].in[1] = NULL;
    run_plan(&run[0]);
    ck_assert(run[0].status == RD_ERR_ARGUMENT && strstr(rd_error_text(ctx), "NULL"));
    rd_error_clear(ctx);
    run[0].in[1] = o.k;
    run[0].in[2] = memcpy(run[0].out[2], o.v, HEADS * KEYS * VALUES * sizeof(float));
    run_plan(&run[0]);
    ck_assert(run[0].status == RD_OK);
    check_close(run[0].out[2], g.out[2], elements(&g.shape[2]), "over an operand");
    rd_plan_free(plan);
    free((void *)(uintptr_t)run[1].in[0]);
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 3; k++)
            free(run[r].out[k]);
    free_gradients(&g);
}
END_TEST

/* A plan whose context is cancelled, and one with too little memory. */
START_TEST(plans_that_fail)
{
    gradients g = gradients_of(0, causal_mask, 7);
    rd_result result[3];
    rd_array  array[3];
    rd_plan  *plan = planned(result, array);
    plan_run  run  = { .plan = plan, .in = { o.q, o.k, o.v } };

    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    for (int k = 0; k < 3; k++)
        run.out[k] = g.out[k];
    rd_cancel(ctx);
    run_plan(&run);
    ck_assert_int_eq(run.status, RD_ERR_CANCELLED);
    rd_error_clear(ctx);
    for (int at = 1; at < 3000; at *= 3) {
        counted_heap_grant(at);
        run_plan(&run);
        counted_heap_grant(INT64_MAX);
        ck_assert_msg(run.status == RD_OK || run.status == RD_ERR_MEMORY, "%d: %s", run.status,
                      rd_error_text(ctx));
        rd_error_clear(ctx);
    }
    run_plan(&run);
    ck_assert_msg(run.status == RD_OK, "%s", rd_error_text(ctx));
    check_stored(&g, "after failures");
    rd_plan_free(plan);
    free_gradients(&g);
}
END_TEST

int main(void)
{
    /* sanitizers, and a plain run, take rows of some masks and ways */
    const int each   = SANITIZED ? 10 : suite_is_plain() ? 5 : 1;
    Suite    *suite  = suite_create("cut_blocks");
    TCase    *tc     = tcase_create("cut_blocks");
    SRunner  *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    for (int row = 0; row < (rd_blas_name() ? COUNT(masks) * COUNT(some) : 1); row += each)
        tcase_add_loop_test(tc, gradients_of_masks, row, row + 1);
    if (rd_blas_name()) { /* without a library nothing runs in blocks */
        tcase_add_loop_test(tc, gradients_of_ways, 0, WAYS);
        tcase_add_test(tc, hidden_columns);
        tcase_add_test(tc, places_over_two_axes);
        tcase_add_loop_test(tc, other_shapes, 0, 5);
        tcase_add_test(tc, outputs);
        tcase_add_loop_test(tc, cancelled, 0, 3);
        tcase_add_loop_test(tc, without_memory, 0, 3);
        tcase_add_loop_test(tc, what_is_not_finite, 0, NOT_FINITE);
        tcase_add_test(tc, elements_that_change);
        tcase_add_test(tc, plans);
        tcase_add_test(tc, plans_that_fail);
        tcase_add_loop_test(tc, made_of_sums, 0, 6);
    }
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
