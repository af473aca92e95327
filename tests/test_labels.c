/* test_labels.c - folds by label as nests: the bits of the reference, whichever labels come, and
 * whichever tasks have which elements. */
#include "kernels/cpu/jit/tier.h"
#include "nests.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* Several blocks of groups' steps, and a rest. */
enum { ELEMENTS = 71003, MANY = 1500, FEW = 37 };

static rd_ctx *ctx;
static int32_t label[ELEMENTS];

static void begin(void)
{
    ctx = nest_begin();
}

/* ---- Labels ---------------------------------------------------------------------------------- */
static uint32_t draw(void)
{
    static uint32_t x = 7;

    x = x * 1664525 + 1013904223;
    return x >> 8;
}

/* Some are no group's. */
static int32_t at_random(int32_t i, int32_t before, int32_t n)
{
    (void)i;
    (void)before;
    return (int32_t)(draw() % (uint32_t)(n + 4)) - 2;
}

/* Rows, some empty, most short. */
static int32_t rows(int32_t i, int32_t before, int32_t n)
{
    if (i == 0)
        return 1;
    if (draw() % (uint32_t)(ELEMENTS / n) || before >= n - 1)
        return before;
    return before + 1 + (draw() % 5 == 0 && before < n - 2);
}

/* One row goes from block to block. */
static int32_t a_long_row(int32_t i, int32_t before, int32_t n)
{
    return i < 100 ? i % n : i < ELEMENTS - 300 ? 100 % n : rows(i, before, n);
}

/* Runs, in any order, some of no group. */
static int32_t runs(int32_t i, int32_t before, int32_t n)
{
    return draw() % 9 && i > 0 ? before : at_random(i, before, n);
}

typedef int32_t label_of(int32_t i, int32_t before, int32_t n);

static const struct {
    const char *what;
    label_of   *make;
    int32_t     groups;
} kinds[] = { { "at random", at_random, MANY },   { "rows", rows, MANY },
              { "a long row", a_long_row, MANY }, { "runs", runs, MANY },
              { "runs of few", runs, FEW },       { "at random, of few", at_random, FEW } };

static rd_expr *labels(int kind, int64_t n)
{
    for (int32_t i = 0; i < n; i++)
        label[i] = kinds[kind].make(i, i ? label[i - 1] : 0, kinds[kind].groups);
    return rd_wrap(ctx, label, RD_SHAPE(n));
}

/* ---- Reductions ------------------------------------------------------------------------------ */
RD_REDUCER(extent_of, float, float, 2, (float least, most; int64_t n;),
           (s->least = s->most = 0; s->n = 0;),
           (if (s->n == 0) s->least = s->most = x; s->least = x < s->least ? x : s->least;
            s->most                                         = x > s->most ? x : s->most; s->n++;),
           (if (b->n > 0) {
               a->least = a->n == 0 || b->least < a->least ? b->least : a->least;
               a->most  = a->n == 0 || b->most > a->most ? b->most : a->most;
               a->n += b->n;
           }),
           (y[0] = s->least; y[1] = s->most;))

/* Divides by what it has met: of nothing it must not be asked. */
RD_REDUCER(last_share, int32_t, int64_t, 1, (int64_t n, last;), (s->n = 0; s->last = 0;),
           (s->n++; s->last += 1000 / x;),
           (a->last = (a->last * a->n + b->last) / (a->n + b->n); a->n += b->n;),
           (y[0] = s->n ? s->last / s->n : -1;))

#define BY .by = RD_EXPRS(g), .groups = RD_SHAPE(groups)

static void add_ours(nest_batch *b, rd_expr *x, rd_expr *y, rd_expr *i, rd_expr *g, int32_t groups)
{
    nest_add(b, rd_sum(x, RD_ALL, BY));
    nest_add(b, rd_sum(rd_mul(x, x), RD_ALL, BY));
    nest_add(b, rd_sum(y, RD_ALL, BY));
    nest_add(b, rd_sum(i, RD_ALL, BY));
    nest_add(b, rd_max(x, RD_ALL, BY));
    nest_add(b, rd_min(i, RD_ALL, BY));
    nest_add(b, rd_argmin(x, RD_ALL, BY));
    nest_add(b, rd_var(y, RD_ALL, BY));
    nest_add(b, rd_prod(x, RD_ALL, BY));
}

static void add_masked(nest_batch *b, rd_expr *x, rd_expr *y, rd_expr *i, rd_expr *g,
                       int32_t groups)
{
    rd_expr *mask = rd_gt(i, rd_int(ctx, 0));

    nest_add(b, rd_sum(x, RD_ALL, BY, .where = mask));
    nest_add(b, rd_mean(x, RD_ALL, BY, .weights = rd_abs(x)));
    nest_add(b, rd_any(mask, RD_ALL, BY));
    nest_add(b, rd_count(i, RD_ALL, BY));
    nest_add(b, rd_argmax(i, RD_ALL, BY, .where = mask));
    nest_add(b, rd_logsumexp(y, RD_ALL, BY));
    nest_add(b, rd_max(y, RD_ALL, BY, .skip_nan = true));
}

static void add_users(nest_batch *b, rd_expr *x, rd_expr *g, int32_t groups)
{
    rd_expr *few = rd_where(rd_gt(x, rd_num(ctx, 0)), rd_int(ctx, 3), rd_int(ctx, 7));

    nest_add(b, rd_reduce(x, extent_of, RD_ALL, BY));
    nest_add(b, rd_reduce(rd_cast(few, RD_I32), last_share, RD_ALL, BY));
}

START_TEST(rows_of_elements)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    const int     kind = _i / 2, part = _i % 2 ? 1 + kind % 2 : 0;
    tile_memory   m = { 0 };
    nest_batch    b = { 0 };
    rd_expr      *x = nest_leaf(&m, RD_F32, RD_SHAPE(ELEMENTS), ORDINARY);
    rd_expr      *y = nest_leaf(&m, RD_F64, RD_SHAPE(ELEMENTS), _i % 2 ? UGLY : ORDINARY);
    rd_expr      *i = nest_leaf(&m, RD_I32, RD_SHAPE(ELEMENTS), ORDINARY);
    rd_expr      *g = labels(kind, ELEMENTS);

    snprintf(b.what, sizeof b.what, "labels %s, part %d", kinds[kind].what, part);
    if (part == 0)
        add_ours(&b, x, y, i, g, kinds[kind].groups);
    else if (part == 1)
        add_masked(&b, x, y, i, g, kinds[kind].groups);
    else
        add_users(&b, x, g, kinds[kind].groups);
    nest_agree(&b, many_tasks, SANITIZED ? 5 : 6);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

/* Extremes of floats, some of them NaN, have a step whose next one waits for no choice. */
START_TEST(extremes)
{
    const int32_t groups = MANY;
    tile_memory   m      = { 0 };
    nest_batch    b      = { 0 };
    rd_expr      *x      = nest_leaf(&m, RD_F64, RD_SHAPE(ELEMENTS), UGLY);
    rd_expr      *g      = labels(3, ELEMENTS);

    nest_seen.words = "one0(&";
    nest_nans(&m, 0);
    snprintf(b.what, sizeof b.what, "extremes by label");
    nest_add(&b, rd_max(x, RD_ALL, BY));
    nest_add(&b, rd_min(x, RD_ALL, BY));
    nest_agree(&b, many_tasks, 3);
    ck_assert_int_gt(nest_seen.with_words, 0);
    tile_free(&m);
}
END_TEST

/* Labels that are computed, by vectors, for steps that go in turn. */
START_TEST(computed_labels)
{
    const int32_t groups = _i % 2 ? MANY : FEW;
    const int64_t n      = _i < 2 ? ELEMENTS : 131;
    tile_memory   m      = { 0 };
    nest_batch    b      = { 0 };
    rd_expr      *x      = nest_leaf(&m, RD_F32, RD_SHAPE(n), ORDINARY);
    rd_expr      *y      = nest_leaf(&m, RD_F64, RD_SHAPE(n), _i % 2 ? UGLY : ORDINARY);
    rd_expr      *i      = nest_leaf(&m, RD_I32, RD_SHAPE(n), ORDINARY);
    rd_expr      *g      = rd_bins(y, groups, -1.5, 2);

    snprintf(b.what, sizeof b.what, "computed labels of %d groups, %d", groups, (int)n);
    nest_add(&b, rd_sum(rd_exp(x), RD_ALL, BY));
    nest_add(&b, rd_count(y, RD_ALL, BY));
    nest_seen.words = "rd_group_by_vectors((";
    nest_agree(&b, many_tasks, 6);
    ck_assert_msg(nest_seen.with_words > 0, "no element of no group has a state");
    nest_seen.words = NULL;
    nest_add(&b, rd_max(x, RD_ALL, BY, .where = rd_gt(i, rd_int(ctx, 0))));
    nest_add(&b, rd_var(y, RD_ALL, BY));
    nest_add(&b, rd_sum(rd_mul(x, x), RD_ALL));
    nest_agree(&b, many_tasks, 6);
    g = rd_add(rd_remainder(i, rd_int(ctx, groups / 2)), rd_cast(rd_gt(x, rd_num(ctx, 0)), RD_I32));
    nest_add(&b, rd_argmin(rd_mul(x, x), RD_ALL, BY));
    nest_add(&b, rd_sum(i, RD_ALL, BY));
    nest_agree(&b, many_tasks, 6);
    tile_free(&m);
    nest_mostly();
}
END_TEST

/* Of pairs, whose blocks end amid rows: these are of one strip, or of several, and a rest. */
START_TEST(computed_labels_of_pairs)
{
    static const int64_t n[]    = { 219, 64, 37, 300 };
    const int32_t        groups = FEW;
    tile_memory          m      = { 0 };
    nest_batch           b      = { 0 };
    rd_expr             *x      = nest_leaf(&m, RD_F64, RD_SHAPE(1100, 1), ORDINARY);
    rd_expr             *y      = nest_leaf(&m, RD_F64, RD_SHAPE(1, n[_i]), ORDINARY);
    rd_expr             *d = rd_sub(x, y), *g = rd_bins(rd_mul(d, d), groups, 0.1, 4);

    snprintf(b.what, sizeof b.what, "computed labels of pairs, %d", (int)n[_i]);
    nest_add(&b, rd_sum(rd_abs(d), RD_ALL, BY));
    nest_add(&b, rd_count(d, RD_ALL, BY));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_sum(d, RD_ALL, BY));
    nest_add(&b, rd_sum(rd_mul(d, d), RD_DIMS(1)));
    nest_add(&b, rd_max(d, RD_DIMS(0)));
    nest_agree(&b, many_tasks, 6);
    tile_free(&m);
    nest_mostly();
}
END_TEST

/* Sums by tiles, whose kernels add what is of one label in a register. */
START_TEST(sums_on_tiles)
{
    rd_tier_force("off");
    for (int kind = 0; kind < COUNT(kinds); kind++) {
        const int32_t groups = kinds[kind].groups;
        tile_memory   m      = { 0 };
        nest_batch    b      = { 0 };
        rd_expr      *g      = labels(kind, ELEMENTS);

        snprintf(b.what, sizeof b.what, "sums on tiles, labels %s", kinds[kind].what);
        for (int k = 0; k < 3; k++) {
            static const rd_dtype types[] = { RD_F32, RD_F64, RD_I32 };
            rd_expr              *x       = nest_leaf(&m, types[k], RD_SHAPE(ELEMENTS), ORDINARY);

            nest_add(&b, rd_sum(x, RD_ALL, BY));
            nest_add(&b, rd_sum(x, RD_ALL, .by = RD_EXPRS(rd_cast(g, RD_I64)),
                                .groups = RD_SHAPE(groups)));
        }
        nest_agree_on_tiles(&b, many_tasks, 3);
        tile_free(&m);
    }
}
END_TEST

/* Kept axes inside, beside, and around what is reduced. */
START_TEST(kept_axes)
{
    const rd_mark mark   = rd_ctx_mark(ctx);
    const int64_t n      = 4400 + 67 * _i;
    const int32_t groups = kinds[_i].groups;
    tile_memory   m      = { 0 };
    nest_batch    b      = { 0 };
    rd_expr      *x      = nest_leaf(&m, RD_F32, RD_SHAPE(n, 16), ORDINARY);
    rd_expr      *y      = nest_leaf(&m, RD_F64, RD_SHAPE(3, n), ORDINARY);
    rd_expr      *z      = nest_leaf(&m, RD_F64, RD_SHAPE(n, 5), ORDINARY);
    rd_expr      *g = labels(_i, n), *inner = rd_expand(g, 1);

    snprintf(b.what, sizeof b.what, "kept axes, labels %s", kinds[_i].what);
    g = inner;
    nest_add(&b, rd_sum(x, RD_DIMS(0), BY));
    nest_add(&b, rd_max(z, RD_DIMS(0), BY));
    nest_add(&b, rd_sum(z, RD_ALL, BY));
    nest_add(&b, rd_logsumexp(z, RD_DIMS(0), BY));
    g = labels(_i, n);
    nest_add(&b, rd_sum(y, RD_DIMS(1), BY));
    nest_add(&b, rd_mean(y, RD_ALL, BY));
    nest_agree(&b, many_tasks, 5);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

enum { N = 1700, PLACES = 72000, IN_ROW = 80 };

static int32_t pos[N + 1], column[PLACES];

/* How many places: a few of each row, of some none, of one all. */
static int32_t make_rows(void)
{
    int32_t k = 0;

    for (int32_t i = 0; i < N; i++) {
        const int32_t many = i % 7 == 3 ? 0 : i == 100 ? N : (int32_t)(draw() % IN_ROW);

        for (int32_t j = 0; j < many && k < PLACES; j++)
            column[k++] = many == N ? j : j * (N / IN_ROW) + (int32_t)(draw() % (N / IN_ROW));
        pos[i + 1] = k;
    }
    return k;
}

/* A row of a sparse matrix times vectors; sums along either axis. */
START_TEST(sparse_rows)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    b    = { 0 };
    const int32_t k    = make_rows();

    rd_expr *p = rd_wrap(ctx, pos, RD_SHAPE(N + 1));
    rd_expr *c = rd_leaf(ctx, &(rd_array){ .in = column, .type = RD_I32, .shape = RD_SHAPE(k) });
    rd_expr *v = nest_leaf(&m, _i % 2 ? RD_F32 : RD_F64, RD_SHAPE(k), ORDINARY);
    rd_expr *x = nest_leaf(&m, _i % 2 ? RD_F32 : RD_F64, RD_SHAPE(N), ORDINARY);
    rd_expr *y = nest_leaf(&m, _i % 2 ? RD_F32 : RD_F64, RD_SHAPE(N, 16), ORDINARY);
    rd_expr *a = rd_csr(ctx, RD_SHAPE(N, N), p, c, v, .stored = _i / 2 == 0);

    if (_i == 3)
        nest_nans(&m, 1);
    snprintf(b.what, sizeof b.what, "sparse rows, case %d", _i);
    nest_add(&b, rd_matmul(a, x));
    nest_add(&b, rd_sum(a, RD_DIMS(1)));
    nest_add(&b, rd_max(a, RD_DIMS(1)));
    nest_add(&b, rd_sum(a, RD_DIMS(0)));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_matmul(a, y));
    nest_agree(&b, many_tasks, 6);
    /* extremes: of equal ones the first, 0 or -0; a few NaN; of what is gathered */
    rd_expr *const above = rd_gt(v, rd_num(ctx, 0)), *const far = rd_gt(v, rd_num(ctx, 1.5));
    rd_expr *const zeros = rd_where(above, rd_num(ctx, 0), rd_num(ctx, -0.0));

    nest_add(&b, rd_min(rd_stored_as(a, rd_cast(zeros, rd_type_of(v))), RD_DIMS(1)));
    nest_add(&b, rd_max(rd_stored_as(a, rd_cast(zeros, rd_type_of(v))), RD_DIMS(1)));
    nest_add(&b, rd_min(rd_stored_as(a, rd_where(far, rd_num(ctx, NAN), v)), RD_DIMS(1)));
    nest_seen.words = "fours1(&";
    nest_agree(&b, many_tasks, 6);
    ck_assert_msg(_i / 2 > 0 || nest_seen.with_words > 0, "no four elements are taken together");
    nest_seen.words = NULL;
    nest_add(&b, rd_max(_i / 2 == 0 ? rd_add(a, x) : a, RD_DIMS(1)));
    nest_agree(&b, many_tasks, 6);
    /* by the rows as labels: of other reducers, and of more or fewer groups than there are rows */
    rd_expr *const g = rd_stored_at(a, 0);
    for (int i = 0; i < 3; i++) {
        const rd_reduce_opts by = { .size   = sizeof by,
                                    .dims   = RD_ALL,
                                    .by     = RD_EXPRS(g),
                                    .groups = RD_SHAPE(i == 0   ? N
                                                       : i == 1 ? 2 * N
                                                                : N / 3) };

        nest_add(&b, rd_reduce_name(v, "var", &by));
        nest_add(&b, rd_reduce_name(v, "argmax", &by));
        nest_add(&b, rd_reduce_name(v, "logsumexp", &by));
    }
    nest_agree(&b, many_tasks, 6);
    add_users(&b, rd_cast(v, RD_F32), g, N);
    nest_agree(&b, many_tasks, 6);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

/* Values that are gathered, from outside: the loop over rows tells that there is one, and the other ways
 * which. */
START_TEST(wrong_gathers)
{
    static int32_t from[PLACES];
    tile_memory    m = { 0 };
    nest_batch     b = { .what = "wrong gathers" };
    const int32_t  k = make_rows(), at[][2] = { { 0, 0 }, { k / 2, k - 3 }, { k - 1, 7 } };

    rd_expr *const p = rd_wrap(ctx, pos, RD_SHAPE(N + 1));
    rd_expr *const c =
        rd_leaf(ctx, &(rd_array){ .in = column, .type = RD_I32, .shape = RD_SHAPE(k) });
    rd_expr *const x = nest_leaf(&m, RD_F64, RD_SHAPE(N), ORDINARY);
    rd_expr *const v = rd_take(
        x, 0, rd_leaf(ctx, &(rd_array){ .in = from, .type = RD_I32, .shape = RD_SHAPE(k) }));
    rd_expr *const y = rd_sum(rd_csr(ctx, RD_SHAPE(N, N), p, c, v, .stored = true), RD_DIMS(1));

    ck_assert_msg(y, "%s", rd_error_text(ctx));
    for (int32_t i = 0; i < k; i++)
        from[i] = (int32_t)(draw() % N);
    for (int i = 0; i < COUNT(at); i++) {
        const int32_t before[] = { from[at[i][0]], from[at[i][1]] };

        from[at[i][0]] = N + i;
        from[at[i][1]] = i ? -N - 1 - i : N;
        nest_add(&b, y);
        nest_agree(&b, many_tasks, 6);
        from[at[i][1]] = before[1];
        from[at[i][0]] = before[0];
    }
    nest_add(&b, y);
    nest_agree(&b, many_tasks, 6);
    tile_free(&m);
    nest_mostly();
}
END_TEST

/* Maps of what rows come to are in the rows' loops, with what they read besides: numbers, another
 * fold, vectors, columns beside the rows. */
START_TEST(maps_of_rows)
{
    const rd_mark  mark = rd_ctx_mark(ctx);
    const rd_dtype type = _i % 2 ? RD_F32 : RD_F64;
    tile_memory    m    = { 0 };
    nest_batch     b    = { 0 };
    const int32_t  k    = make_rows();
    rd_expr       *p    = rd_wrap(ctx, pos, RD_SHAPE(N + 1));
    rd_expr *c   = rd_leaf(ctx, &(rd_array){ .in = column, .type = RD_I32, .shape = RD_SHAPE(k) });
    rd_expr *v   = nest_leaf(&m, type, RD_SHAPE(k), ORDINARY);
    rd_expr *x   = nest_leaf(&m, type, RD_SHAPE(N), ORDINARY);
    rd_expr *y   = nest_leaf(&m, type, RD_SHAPE(N, 16), ORDINARY);
    rd_expr *a   = rd_csr(ctx, RD_SHAPE(N, N), p, c, v, .stored = true);
    rd_expr *sum = rd_sum(a, RD_DIMS(1)), *most = rd_max(a, RD_DIMS(1)), *rows = rd_matmul(a, y);

    snprintf(b.what, sizeof b.what, "maps of rows, case %d", _i);
    nest_add(&b, rd_add(rd_mul(sum, rd_num(ctx, 0.85)), rd_num(ctx, 3)));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_where(rd_gt(most, rd_num(ctx, 1)), rd_sub(sum, x), most));
    nest_add(&b, sum);
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_mul(sum, rd_sub(rd_num(ctx, 1), rd_sum(x, RD_DIMS(0)))));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_cast(sum, RD_I32));
    nest_add(&b, rd_cast(most, RD_F16));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_add(rd_mul(rows, rd_num(ctx, 2)), y));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_add(rows, rd_reshape(sum, RD_SHAPE(N, 1))));
    nest_agree(&b, many_tasks, 6);
    nest_add(&b, rd_mul(rd_permute(rows, RD_INDEX(1, 0)), x));
    nest_agree(&b, many_tasks, 6);
    /* not these: a row is read where another one is at hand */
    nest_add(&b, rd_add(sum, rd_flip(most, RD_DIMS(0))));
    nest_agree(&b, many_tasks, 6);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
    nest_mostly();
}
END_TEST

int main(void)
{
    Suite    *s    = suite_create("labels");
    TCase    *tc   = tcase_create("labels");
    TCase    *one  = tcase_create("extremes");
    SRunner  *sr   = srunner_create(s);
    const int some = SANITIZED ? 2 : COUNT(kinds); /* each text is a run of the compiler */

    tcase_add_checked_fixture(tc, begin, nest_end);
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, rows_of_elements, 0, 2 * some);
    tcase_add_loop_test(tc, computed_labels, 0, 4);
    tcase_add_loop_test(tc, computed_labels_of_pairs, 0, 4);
    tcase_add_loop_test(tc, kept_axes, 0, SANITIZED ? 1 : 3);
    tcase_add_loop_test(tc, sparse_rows, SANITIZED ? 3 : 0, 4);
    tcase_add_test(tc, wrong_gathers);
    tcase_add_loop_test(tc, maps_of_rows, SANITIZED ? 1 : 0, 2);
    tcase_add_checked_fixture(one, begin, nest_end);
    tcase_set_timeout(one, 300);
    tcase_add_test(one, extremes);
    tcase_add_test(one, sums_on_tiles);
    suite_add_tcase(s, one);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
