/* test_row_blocks.c - attention in tiles and in blocks of rows: what it comes to, by loops in double
 * and by an evaluation that stores all scores; its memory; the same bits by any number of threads;
 * and when it runs whole. */
#include "counted_heap.h"
#include "kernels/cpu/product/blas.h"
#include "suite.h"

#include <math.h>
#include <rdim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, ROWS = 2100, D = 64, N = HEADS * ROWS * D, LITTLE = 9 << 19 };

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static rd_ctx *ctx;
static float   q[N], k[N], v[N], got[N];

static void setup(void)
{
    unsigned s = 12345;

    counted_heap_grant(INT64_MAX);
    ctx = counted_heap_ctx();
    for (int i = 0; i < N; i++) {
        q[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
        k[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
        v[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 4194304 - 2;
    }
}

static void teardown(void)
{
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    counted_heap_end(ctx);
}

/* ---- Attention ------------------------------------------------------------------------------- */
static rd_expr *heads_of(const float *p)
{
    return rd_wrap(ctx, p, RD_SHAPE(HEADS, ROWS, D));
}

static rd_expr *scores(bool causal)
{
    rd_expr *s = rd_matmul(heads_of(q), rd_permute(heads_of(k), RD_INDEX(0, 2, 1)));

    s = rd_mul(s, rd_num(ctx, 0.125));
    return causal ? rd_where(rd_le(rd_coord(s, 2), rd_coord(s, 1)), s, rd_num(ctx, -INFINITY)) : s;
}

/* As users write it: three ways. */
static rd_expr *attention(int way, bool causal)
{
    rd_expr *s = scores(causal);

    switch (way) {
    case 0: return rd_matmul(rd_softmax(s, RD_DIMS(-1)), heads_of(v));
    case 1: return rd_einsum("hqk,hkd->hqd", rd_softmax(s, RD_DIMS(-1)), heads_of(v));
    default: return rd_softmax_sum(rd_expand(s, 3), rd_expand(heads_of(v), 1), RD_DIMS(2));
    }
}

/* Element d of a row of a head, by loops. */
static double wanted(int h, int row, int d, bool causal)
{
    const int n   = causal ? row + 1 : ROWS;
    double    sum = 0, weights = 0;

    for (int j = 0; j < n; j++) {
        double s = 0;

        for (int c = 0; c < D; c++)
            s += (double)q[(h * ROWS + row) * D + c] * k[(h * ROWS + j) * D + c];
        sum += exp(s / 8) * v[(h * ROWS + j) * D + d];
        weights += exp(s / 8);
    }
    return sum / weights;
}

static bool in_blocks(rd_expr *y, const rd_eval_opts *opts)
{
    rd_array out = { 0 };

    return strstr(rd_explain(ctx, RD_RESULTS({ y, &out }), opts), "\nin blocks: ") != NULL;
}

static bool in_tiles(rd_expr *y)
{
    rd_array out = { 0 };

    return strstr(rd_explain(ctx, RD_RESULTS({ y, &out }), NULL), "by tiles of columns") != NULL;
}

/* Weights are at most 1, and values 2: some 60 roundings of f32 in the scores, of up to 32. */
static void check_rows(const float *y, bool causal, const char *what)
{
    for (int row = 0; row < ROWS; row += 61)
        for (int h = 0; h < HEADS; h++) {
            const double want = wanted(h, row, row % D, causal);

            ck_assert_msg(fabs(y[(h * ROWS + row) * D + row % D] - want) < 2e-4, "%s: %g, not %g",
                          what, (double)y[(h * ROWS + row) * D + row % D], want);
        }
}

/* ---- Tests ----------------------------------------------------------------------------------- */
/* Right, the same by any number of threads, in the memory of a few blocks. */
START_TEST(any_threads)
{
    rd_expr *y     = attention(_i / 2, _i % 2);
    float   *first = NULL;

    if (!rd_blas_name()) /* blocks are for products by a library */
        return;
    ck_assert(in_blocks(y, NULL) && in_tiles(y));
    for (int threads = 1; threads <= 4; threads++) {
        const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };

        const int64_t before = counted_heap_begin();

        memset(got, 0, sizeof got);
        ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)) }),
                                   &opts) == RD_OK,
                      "%s", rd_error_text(ctx));
        /* 4 MiB, and plans of what is left of rows and columns, which threads may make at once */
        ck_assert_msg(counted_heap_most() - before < LITTLE + (threads - 1) * (1 << 19),
                      "%lld bytes by %d threads", (long long)(counted_heap_most() - before),
                      threads);
        check_rows(got, _i % 2, "attention");
        if (threads == 1)
            memcpy(first = malloc(sizeof got), got, sizeof got);
        else
            ck_assert_msg(memcmp(first, got, sizeof got) == 0, "%d threads", threads);
    }
    free(first);
}
END_TEST

/* An output with other strides, and one over an operand, for which it runs whole. */
START_TEST(outputs)
{
    rd_expr *y    = attention(0, true);
    float   *wide = calloc(N, 2 * sizeof *wide);

    ck_assert(rd_eval(ctx, y,
                      RD_INTO(wide, RD_SHAPE(HEADS, ROWS, D),
                              .strides = RD_STRIDES(2 * ROWS * D, 2 * D, 2))) == RD_OK);
    for (int i = 0; i < N; i++) {
        ck_assert(wide[2 * i + 1] == 0);
        got[i] = wide[2 * i];
    }
    check_rows(got, true, "strides");
    free(wide);
    memcpy(got, q, sizeof q);
    ck_assert(rd_eval(ctx, y, RD_INTO(q, RD_SHAPE(HEADS, ROWS, D))) == RD_OK);
    for (int i = 0; i < N; i++) {
        const float x = q[i];

        q[i]   = got[i];
        got[i] = x;
    }
    check_rows(got, true, "in place");
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
    rd_expr     *y    = attention(0, false);
    double       done = 0;
    rd_eval_opts opts = { .size = sizeof opts, .progress = end_at_once, .user = &done };
    rd_status    status;

    rd_cancel(ctx);
    status = rd_eval(ctx, y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)));
    ck_assert_msg(status == RD_ERR_CANCELLED, "%d", status);
    rd_error_clear(ctx);
    status = rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)) }), &opts);
    ck_assert(status == (done > 0 ? RD_ERR_CANCELLED : RD_OK)); /* fast machines are done before */
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D))) == RD_OK);
    check_rows(got, false, "after it");
}
END_TEST

/* Without memory at any time it fails, or is right by another way; then it runs again. */
START_TEST(without_memory)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = 2 };
    const int64_t      n    = 13 * _i * _i;
    rd_expr           *y    = attention(0, true);
    rd_status          status;

    counted_heap_grant(n);
    status = rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D)) }), &opts);
    counted_heap_grant(INT64_MAX);
    ck_assert_msg(status == RD_OK || status == RD_ERR_MEMORY, "%s", rd_error_text(ctx));
    if (status != RD_OK)
        rd_error_clear(ctx);
    else
        check_rows(got, true, "little memory");
    ck_assert(rd_eval(ctx, y, RD_INTO(got, RD_SHAPE(HEADS, ROWS, D))) == RD_OK);
    check_rows(got, true, "memory again");
}
END_TEST

/* With the bits of loops, no library's. */
START_TEST(whole)
{
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };

    ck_assert(!in_blocks(attention(0, false), &exact));
}
END_TEST

/* ---- Tiles ----------------------------------------------------------------------------------- */
/* Scores are more than 16 MB: fewer run whole. */
enum { QUERIES = 2051, KEYS = 2113, DEPTH = 37 };

static float *random_floats(int64_t n)
{
    float   *x = malloc((size_t)n * sizeof *x);
    unsigned s = 77;

    for (int64_t i = 0; i < n; i++)
        x[i] = (float)((s = s * 1664525 + 1013904223) >> 8) / 8388608 - 1;
    return x;
}

/* Operands that tests fill in with infinities and NaN. */
static struct operands {
    float *q, *k, *v;
    bool  *mask;
} o;

static void make_operands(void)
{
    o.q    = random_floats(QUERIES * DEPTH);
    o.k    = random_floats(KEYS * DEPTH);
    o.v    = random_floats(KEYS * DEPTH);
    o.mask = malloc((size_t)QUERIES * KEYS);
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < KEYS; j++)
            o.mask[i * KEYS + j] = j / 300 != 2 && (j / 300 == 4 || (i * 7 + j) % 5 != 0) && i != 9;
}

static void free_operands(void)
{
    free(o.q);
    free(o.k);
    free(o.v);
    free(o.mask);
}

static rd_expr *plain_scores(void)
{
    rd_expr *s = rd_matmul(rd_wrap(ctx, o.q, RD_SHAPE(QUERIES, DEPTH)),
                           rd_transpose(rd_wrap(ctx, o.k, RD_SHAPE(KEYS, DEPTH))));

    return rd_mul(s, rd_num(ctx, 1.7));
}

static rd_expr *row_of(rd_expr *s)
{
    return rd_coord(s, 0);
}

static rd_expr *column_of(rd_expr *s)
{
    return rd_coord(s, 1);
}

static rd_expr *chosen(rd_expr *mask, rd_expr *s)
{
    return rd_where(mask, s, rd_num(ctx, -INFINITY));
}

/* Each makes masked scores. */
static rd_expr *no_mask(rd_expr *s)
{
    return s;
}

static rd_expr *causal_mask(rd_expr *s)
{
    return chosen(rd_le(column_of(s), row_of(s)), s);
}

/* Later queries of a longer sequence. */
static rd_expr *causal_from_end(rd_expr *s)
{
    return chosen(rd_le(column_of(s), rd_add(row_of(s), rd_int(ctx, KEYS - QUERIES))), s);
}

static rd_expr *band_mask(rd_expr *s)
{
    rd_expr *apart = rd_sub(row_of(s), column_of(s));

    return chosen(rd_and(rd_ge(apart, rd_int(ctx, 0)), rd_lt(apart, rd_int(ctx, 300))), s);
}

static rd_expr *near_mask(rd_expr *s)
{
    return chosen(rd_not(rd_gt(rd_abs(rd_sub(row_of(s), column_of(s))), rd_int(ctx, 128))), s);
}

/* Each 400 places attend to one another. */
static rd_expr *document_mask(rd_expr *s)
{
    rd_expr *each = rd_int(ctx, 400);

    return chosen(rd_eq(rd_floordiv(row_of(s), each), rd_floordiv(column_of(s), each)), s);
}

/* The first rows have no columns. */
static rd_expr *strict_mask(rd_expr *s)
{
    return chosen(rd_lt(rd_add(column_of(s), rd_int(ctx, 140)), row_of(s)), s);
}

static rd_expr *mask_in_memory(rd_expr *s)
{
    return chosen(rd_wrap(ctx, o.mask, RD_SHAPE(QUERIES, KEYS)), s);
}

static rd_expr *block_mask(rd_expr *s)
{
    const int64_t rows[]    = { 0, 500, 500, 1300, QUERIES };
    const int64_t columns[] = { 0, 700, 1500, KEYS };
    const bool    pair[]    = { 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1 };

    return chosen(rd_blocks(ctx, 4, rows, 3, columns, pair), s);
}

/* The mask adds 0 or -inf. */
static rd_expr *added_mask(rd_expr *s)
{
    return rd_add(s, chosen(rd_le(column_of(s), row_of(s)), rd_cast(rd_num(ctx, 0), RD_F32)));
}

/* A bias by distance (ALiBi), within a mask. */
static rd_expr *slope_mask(rd_expr *s)
{
    rd_expr *apart = rd_cast(rd_sub(column_of(s), row_of(s)), RD_F32);

    return causal_mask(rd_add(s, rd_mul(apart, rd_num(ctx, 0.01))));
}

/* Two masks, scaled behind them; and one whose other choice is finite. */
static rd_expr *scaled_masks(rd_expr *s)
{
    s = causal_mask(chosen(rd_ge(column_of(s), rd_int(ctx, 200)), s));
    return rd_mul(rd_sub(s, rd_num(ctx, 3)), rd_num(ctx, 0.5));
}

static rd_expr *finite_mask(rd_expr *s)
{
    return rd_where(rd_le(column_of(s), row_of(s)), s, rd_num(ctx, -1e9));
}

/* A mask of two places that both are met in one node, which so has two boxes. */
static rd_expr *shifted_mask(rd_expr *s)
{
    rd_expr *m = chosen(rd_le(column_of(s), rd_int(ctx, 1000)), rd_cast(rd_num(ctx, 0), RD_F32));
    rd_expr *flipped = rd_flip(m, RD_DIMS(1));

    return rd_add(s, rd_add(rd_exp(m), rd_exp(flipped)));
}

static const struct {
    const char *what;
    rd_expr *(*mask)(rd_expr *s);
} masks[] = {
    { "none", no_mask },
    { "causal", causal_mask },
    { "causal from the end", causal_from_end },
    { "band", band_mask },
    { "near", near_mask },
    { "documents", document_mask },
    { "strict", strict_mask },
    { "in memory", mask_in_memory },
    { "blocks", block_mask },
    { "added", added_mask },
    { "slope", slope_mask },
    { "scaled", scaled_masks },
    { "finite", finite_mask },
    { "shifted", shifted_mask },
};

/* Six spellings; the last two subtract no maximum, and do not divide. */
enum { WAYS = 6 };
static rd_expr *weighed(int way, rd_expr *s)
{
    rd_expr *values = rd_wrap(ctx, o.v, RD_SHAPE(KEYS, DEPTH)), *e;

    switch (way) {
    case 0: return rd_matmul(rd_softmax(s, RD_DIMS(1)), values);
    case 1: return rd_einsum("ij,jd->id", rd_softmax(s, RD_DIMS(1)), values);
    case 2: return rd_softmax_sum(rd_expand(s, 2), rd_expand(values, 0), RD_DIMS(1));
    case 3:
        e = rd_exp(rd_sub(s, rd_max(s, RD_KEEP(1))));
        return rd_div(rd_matmul(e, values), rd_sum(e, RD_KEEP(1)));
    case 4: return rd_div(rd_matmul(rd_exp(s), values), rd_sum(rd_exp(s), RD_KEEP(1)));
    default: return rd_matmul(rd_exp(rd_sub(s, rd_max(s, RD_KEEP(1)))), values);
    }
}

/* Compares n elements, with NaN and infinities where these are. */
static void check_close(const float *a, const float *b, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++) {
        const bool same = isfinite(b[i]) ? fabsf(a[i] - b[i]) <= 3e-4F * fmaxf(1, fabsf(b[i]))
                                         : (isnan(a[i]) && isnan(b[i])) || a[i] == b[i];

        ck_assert_msg(same, "%s: element %lld is %g, not %g", what, (long long)i, (double)a[i],
                      (double)b[i]);
    }
}

static int64_t elements(const rd_shape *shape)
{
    int64_t n = 1;

    for (int a = 0; a < shape->n; a++)
        n *= shape->at[a];
    return n;
}

/* Compares tiles, by several numbers of threads, with an evaluation that stores all scores. */
static void check_tiles(rd_expr *y, const char *what)
{
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };
    const rd_shape     shape = rd_shape_of(y);
    const int64_t      n     = elements(&shape);
    float *const want = malloc((size_t)n * 4), *const first = malloc((size_t)n * 4),
                 *const now = malloc((size_t)n * 4);

    ck_assert_msg(y && (in_tiles(y) || !rd_blas_name()), "%s runs whole: %s", what,
                  rd_error_text(ctx));
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(want, shape) }), &exact) == RD_OK);
    for (int threads = 1; threads <= 4; threads *= 2) {
        const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };

        ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(now, shape) }), &opts) == RD_OK,
                      "%s", rd_error_text(ctx));
        if (threads == 1)
            memcpy(first, now, (size_t)n * sizeof *now);
        ck_assert_msg(memcmp(first, now, (size_t)n * sizeof *now) == 0, "%s: %d threads", what,
                      threads);
    }
    check_close(first, want, n, what);
    free(want);
    free(first);
    free(now);
}

START_TEST(tiles_of_masks)
{
    char text[64];

    make_operands();
    snprintf(text, sizeof text, "mask %s, way %d", masks[_i].what, _i % WAYS);
    check_tiles(weighed(_i % WAYS, masks[_i].mask(plain_scores())), text);
    free_operands();
}
END_TEST

START_TEST(tiles_of_ways)
{
    char text[64];

    make_operands();
    snprintf(text, sizeof text, "way %d", _i);
    check_tiles(weighed(_i, causal_mask(plain_scores())), text);
    free_operands();
}
END_TEST

/* NaN and infinities: of values that masks leave out, 0 times which is NaN; of scores that they
 * leave out, which is none; of scores that count. */
static void spoil(int which)
{
    switch (which) {
    case 0: o.v[1900 * DEPTH + 3] = NAN; break;
    case 1: o.v[2000 * DEPTH + 5] = INFINITY; break;
    case 2: o.k[2040 * DEPTH + 1] = NAN; break;
    case 3: o.q[1000 * DEPTH + 1] = NAN; break;
    case 4: o.k[700 * DEPTH + 1] = INFINITY; break;
    default: o.q[77 * DEPTH] = -INFINITY; break;
    }
}

START_TEST(tiles_of_what_is_not_finite)
{
    char text[64];

    make_operands();
    spoil(_i / 2);
    snprintf(text, sizeof text, "spoilt by %d, %s", _i / 2, _i % 2 ? "in memory" : "causal");
    check_tiles(
        weighed(_i % 4, _i % 2 ? mask_in_memory(plain_scores()) : causal_mask(plain_scores())),
        text);
    free_operands();
}
END_TEST

/* Axes (b, t, h, d), of two lengths, with shared keys for two heads each, and results of either
 * order. */
START_TEST(tiles_of_heads)
{
    enum { B = 2, T = 700, S = 901, H = 4, SHARED = 2, DIM = 24 };
    float *q_ = random_floats(B * T * H * DIM), *k_ = random_floats(B * S * SHARED * DIM),
          *v_      = random_floats(B * S * SHARED * DIM);
    rd_expr *x     = rd_wrap(ctx, q_, RD_SHAPE(B, T, SHARED, H / SHARED, DIM));
    rd_expr *keys  = rd_wrap(ctx, k_, RD_SHAPE(B, S, SHARED, DIM));
    rd_expr *value = rd_wrap(ctx, v_, RD_SHAPE(B, S, SHARED, DIM));
    rd_expr *s     = rd_einsum("btgpd,bsgd->bgpts", rd_mul(x, rd_num(ctx, 0.3)), keys);

    s = chosen(rd_le(rd_coord(s, 4), rd_coord(s, 3)), s);
    s = rd_softmax(s, RD_DIMS(-1));
    switch (_i) {
    case 0: check_tiles(rd_einsum("bgpts,bsgd->bgdpt", s, value), "b g d p t"); break;
    case 1: check_tiles(rd_einsum("bgpts,bsgd->btgpd", s, value), "b t g p d"); break;
    case 2:
        check_tiles(rd_reshape(rd_einsum("bgpts,bsgd->btgpd", s, value), RD_SHAPE(B, T, H * DIM)),
                    "b t (g p d)");
        break;
    default:
        s = rd_matmul(s, rd_expand(rd_permute(value, RD_INDEX(0, 2, 1, 3)), 2));
        check_tiles(rd_permute(s, RD_INDEX(3, 0, 4, 2, 1)), "t b d p g");
    }
    free(q_);
    free(k_);
    free(v_);
}
END_TEST

/* What looks like it, and is not: of other sums, of another axis, of other scores' maximum.  These
 * are right, too. */
static rd_expr *unlike(int which, rd_expr *s)
{
    rd_expr *values = rd_wrap(ctx, o.v, RD_SHAPE(KEYS, DEPTH));
    rd_expr *e = rd_exp(rd_sub(s, rd_max(s, RD_KEEP(1)))), *other = rd_sub(s, rd_num(ctx, 0.25));

    switch (which) {
    case 0: return rd_div(rd_matmul(e, values), rd_sum(rd_exp(s), RD_KEEP(1)));
    case 1: return rd_matmul(rd_softmax(s, RD_DIMS(0)), values);
    case 2: return rd_matmul(rd_exp(rd_sub(s, rd_max(other, RD_KEEP(1)))), values);
    case 3:
        return rd_div(rd_matmul(e, values),
                      rd_expand(rd_slice_axis(rd_sum(e, RD_DIMS(1)), 0, RD_OPEN, RD_OPEN, -1), 1));
    case 4: return rd_matmul(rd_div(e, rd_sum(rd_square(e), RD_KEEP(1))), values);
    default: return rd_matmul(rd_div(e, rd_max(e, RD_KEEP(1))), values);
    }
}

START_TEST(tiles_of_nothing_else)
{
    const rd_eval_opts exact = { .size = sizeof exact, .deterministic = true };
    float *const a = malloc(QUERIES * DEPTH * 4), *const b = malloc(QUERIES * DEPTH * 4);
    rd_expr *y;

    make_operands();
    y = unlike(_i, plain_scores());
    ck_assert_msg(y && (_i == 2 || !in_tiles(y)), "%d %s", _i, rd_error_text(ctx));
    ck_assert(rd_eval(ctx, y, RD_INTO(a, RD_SHAPE(QUERIES, DEPTH))) == RD_OK);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(b, RD_SHAPE(QUERIES, DEPTH)) }), &exact) ==
              RD_OK);
    check_close(a, b, QUERIES * DEPTH, "unlike");
    free_operands();
    free(a);
    free(b);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("row_blocks");
    TCase   *tc     = tcase_create("row_blocks");
    SRunner *runner = srunner_create(suite);

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, any_threads, 0, rd_blas_name() ? 6 : 1);
    tcase_add_test(tc, whole);
    if (rd_blas_name()) { /* without a library nothing runs in blocks or tiles */
        tcase_add_test(tc, outputs);
        tcase_add_test(tc, cancelled);
        tcase_add_loop_test(tc, without_memory, 0, 10);
        tcase_add_loop_test(tc, tiles_of_masks, 0, COUNT(masks));
        tcase_add_loop_test(tc, tiles_of_ways, 0, WAYS);
        tcase_add_loop_test(tc, tiles_of_what_is_not_finite, 0, 12);
        tcase_add_loop_test(tc, tiles_of_heads, 0, 4);
        tcase_add_loop_test(tc, tiles_of_nothing_else, 0, 6);
    }
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
