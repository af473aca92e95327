/* What an evaluation takes from its context's memory: a constant beside the result, all of it given
 * back, and a clean failure when there is none. */
#include "isa.h"
#include "values.h"
#include "eval/cache/cache.h"
#include "expr/ctx.h"
#include "kernels/cpu/jit/tier.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Fused: no array of the inputs' size ----------------------------------------------------- */
/* An evaluation's own memory: about 250 KiB of graph and plan, whatever the sizes, and for each
 * task the partial results of a panel of outputs: two for each level of the combine tree, some 500
 * bytes an output for the three sums of a variance.  Tasks that share rows hold a panel each.  An
 * array of the inputs' size would take 1/4 and then 2 MiB, as would one of pairs. */
enum { PEAK_MOST = 3 << 19, PEAK_GROWTH = 1 << 20, TASKS = 2 };

enum { MOST_ROWS = 512, MOST_COLUMNS = 1024 };
static float data_x[MOST_ROWS * MOST_COLUMNS], data_y[MOST_ROWS * MOST_COLUMNS],
    output[MOST_ROWS * MOST_COLUMNS];

typedef rd_expr *build(rd_expr *x, rd_expr *y);

static rd_expr *squared_distance(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_square(rd_sub(x, y)), RD_ALL);
}

static rd_expr *squared_distance_0(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(0));
}

static rd_expr *squared_distance_1(rd_expr *x, rd_expr *y)
{
    return rd_sum(rd_square(rd_sub(x, y)), RD_DIMS(1));
}

static rd_expr *softmax(rd_expr *x, rd_expr *y)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(-1))));

    (void)y;
    return rd_div(e, rd_sum(e, RD_KEEP(-1)));
}

static rd_expr *layer_norm(rd_expr *x, rd_expr *y)
{
    rd_expr *centred = rd_sub(x, rd_mean(x, RD_KEEP(-1)));
    rd_expr *spread  = rd_map(rd_var(x, RD_KEEP(-1)), "sqrt(x + 1e-5)");

    return rd_add(rd_mul(rd_div(centred, spread), rd_select(y, 0, 0)), rd_select(y, 0, 1));
}

static rd_expr *anomaly(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_sub(x, rd_mean(x, RD_DIMS(0)));
}

static rd_expr *variance(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_var(x, RD_ALL);
}

static rd_expr *variance_0(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_var(x, RD_DIMS(0));
}

static rd_expr *logsumexp_1(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_logsumexp(x, RD_DIMS(1));
}

/* Sums over all pairs of rows, of which 3 columns count: two points a row of x, one of y. */
static rd_expr *gaussian_pairs(rd_expr *x, rd_expr *y)
{
    rd_expr *from = rd_reshape(rd_slice(x, ":, :6"), RD_SHAPE(-1, 3));
    rd_expr *to   = rd_slice(y, ":, :3");
    rd_expr *d2   = rd_sum(rd_square(rd_sub(rd_expand(from, 1), rd_expand(to, 0))), RD_DIMS(-1));

    return rd_sum(rd_exp(rd_neg(d2)), RD_DIMS(1));
}

static const struct {
    const char *what;
    build      *build;
} fused[] = {
    { "sum((x - y)^2)", squared_distance },
    { "sum((x - y)^2) over 0", squared_distance_0 },
    { "sum((x - y)^2) over 1", squared_distance_1 },
    { "softmax", softmax },
    { "layer norm", layer_norm },
    { "x - mean(x, 0)", anomaly },
    { "var", variance },
    { "var over 0", variance_0 },
    { "logsumexp", logsumexp_1 },
    { "Gaussian pairs", gaussian_pairs },
};

/* What the context holds but for the plans it keeps, which it gives back when memory is short. */
static int64_t held_without_plans(rd_ctx *c)
{
    rd_reclaim(c);
    return rd_memory_now(c);
}

/* The most that evaluating y into memory of the caller holds at once. */
static int64_t peak_of(rd_expr *y, rd_traversal traversal)
{
    rd_array     out  = { .data = output, .type = rd_type_of(y), .shape = rd_shape_of(y) };
    rd_eval_opts opts = { .threads = TASKS, .traversal = traversal };
    int64_t      held = held_without_plans(ctx), peak;

    rd_memory_reset_peak(ctx);
    ck_assert_msg(rd_eval_many(ctx, RD_RESULTS({ y, &out }), &opts) == RD_OK, "%s",
                  rd_error_text(ctx));
    peak = rd_memory_peak(ctx);
    ck_assert_msg(held_without_plans(ctx) == held, "%lld bytes stay",
                  (long long)(rd_memory_now(ctx) - held));
    return peak - held;
}

static int64_t peak_at(build *make, int64_t rows, int64_t columns, rd_traversal traversal)
{
    rd_expr *x = rd_wrap(ctx, data_x, RD_SHAPE(rows, columns)),
            *y = rd_wrap(ctx, data_y, RD_SHAPE(rows, columns));

    return peak_of(make(x, y), traversal);
}

static void fill_data(void)
{
    for (int i = 0; i < MOST_ROWS * MOST_COLUMNS; i++) {
        data_x[i] = (float)(i % 17) / 16;
        data_y[i] = (float)(i % 13) / 16;
    }
}

START_TEST(fused_takes_a_constant)
{
    static const rd_traversal orders[] = { RD_TRAVERSE_AUTO, RD_TRAVERSE_LAZY };

    fill_data();
    for (size_t k = 0; k < COUNT(fused); k++)
        for (size_t o = 0; o < COUNT(orders); o++) {
            const int64_t small =
                peak_at(fused[k].build, MOST_ROWS / 4, MOST_COLUMNS / 2, orders[o]);
            const int64_t large = peak_at(fused[k].build, MOST_ROWS, MOST_COLUMNS, orders[o]);

            ck_assert_msg(large <= PEAK_MOST, "%s: %lld bytes", fused[k].what, (long long)large);
            ck_assert_msg(large <= small + PEAK_GROWTH, "%s: %lld bytes, then %lld", fused[k].what,
                          (long long)small, (long long)large);
        }
}
END_TEST

/* ---- What explain says of it ----------------------------------------------------------------- */
static rd_expr *padded(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_sum(rd_pad(x, 1, 2, 2, RD_PAD_EDGE, NULL), RD_DIMS(1));
}

static rd_expr *scanned(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_scan(x, "sum", RD_DIMS(0));
}

static rd_expr *sorted(rd_expr *x, rd_expr *y)
{
    (void)y;
    return rd_sort(x, 0);
}

static const struct {
    const char *what;
    build      *build;
} explained[] = {
    { "sum((x - y)^2) over 0", squared_distance_0 },
    { "softmax", softmax },
    { "var over 0", variance_0 },
    { "Gaussian pairs", gaussian_pairs },
    { "sum of padded rows", padded }, /* the padded array is stored */
    { "sum so far over 0", scanned },
    { "sorted along 0", sorted },
};

/* The most that a run of a plan takes beside what the plan holds.  Explain tells of the plan that stays, so
 * it must not be brief first. */
static int64_t taken_by_run(rd_results results, const rd_eval_opts *opts)
{
    rd_plan *plan;
    int64_t  held, peak;

    rd_tier_force("cache");
    plan = rd_plan_new(ctx, (rd_exprs){ 0 }, results, opts);
    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    held = rd_memory_now(ctx);
    rd_memory_reset_peak(ctx);
    ck_assert(rd_plan_run(plan, NULL, NULL) == RD_OK);
    peak = rd_memory_peak(ctx);
    rd_plan_free(plan);
    return peak - held;
}

START_TEST(explain_says_what_a_run_takes)
{
    static const char  line[] = "memory of a run: about ";
    const rd_eval_opts opts   = { .size = sizeof opts, .threads = TASKS };
    rd_expr           *x      = rd_wrap(ctx, data_x, RD_SHAPE(MOST_ROWS, MOST_COLUMNS)),
            *y                = rd_wrap(ctx, data_y, RD_SHAPE(MOST_ROWS, MOST_COLUMNS)),
            *e                = explained[_i].build(x, y);
    rd_array    out           = { .data = output, .type = rd_type_of(e), .shape = rd_shape_of(e) };
    const char *text          = rd_explain(ctx, RD_RESULTS({ e, &out }), &opts), *said;
    int64_t     bytes, taken = taken_by_run(RD_RESULTS({ e, &out }), &opts);

    ck_assert_msg(text && (said = strstr(text, line)), "%s", text ? text : rd_error_text(ctx));
    bytes = strtoll(said + sizeof line - 1, NULL, 10);
    /* Records of tasks and addresses of slots are not said. */
    ck_assert_msg(bytes <= taken && taken <= bytes + bytes / 20 + (4 << 10),
                  "%s: %lld bytes, and explain says %lld", explained[_i].what, (long long)taken,
                  (long long)bytes);
}
END_TEST

/* ---- All of it comes back -------------------------------------------------------------------- */
START_TEST(memory_comes_back)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    int64_t       held = 0;

    for (int round = 0; round < 20; round++) {
        rd_array out = { 0 };
        rd_expr *x   = rd_wrap(ctx, data_x, RD_SHAPE(64, 64)), *y;
        rd_plan *plan;

        y    = rd_add(softmax(x, x), rd_num(ctx, round));
        plan = rd_plan_new(ctx, (rd_exprs){ 0 },
                           RD_RESULTS({ y, RD_INTO(output, RD_SHAPE(64, 64)) }), NULL);
        ck_assert(plan && rd_plan_run(plan, NULL, NULL) == RD_OK && rd_eval(ctx, y, &out) == RD_OK);
        ck_assert(rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL) &&
                  rd_graphviz(ctx, RD_RESULTS({ y, NULL })));
        ck_assert(!isnan(rd_at(ctx, y, RD_INDEX(1, 2))));
        rd_array_free(&out);
        rd_plan_free(plan);
        ck_assert(rd_ctx_release(ctx, mark) == RD_OK);
        /* The first round makes the context's tables, which stay. */
        ck_assert_msg(round == 0 || held_without_plans(ctx) == held,
                      "round %d: %lld bytes, not %lld", round, (long long)rd_memory_now(ctx),
                      (long long)held);
        held = held_without_plans(ctx);
    }
}
END_TEST

START_TEST(results_are_counted)
{
    rd_array      out  = { 0 };
    rd_expr      *y    = rd_exp(rd_wrap(ctx, data_x, RD_SHAPE(MOST_ROWS, 256)));
    const int64_t size = (int64_t)MOST_ROWS * 256 * (int64_t)sizeof *data_x;
    const int64_t held = held_without_plans(ctx);

    ck_assert(rd_eval(ctx, y, &out) == RD_OK);
    ck_assert_int_ge(held_without_plans(ctx), held + size);
    ck_assert_int_le(rd_memory_now(ctx), held + size + 256); /* a header, and alignment */
    rd_array_free(&out);
    ck_assert_int_eq(rd_memory_now(ctx), held);
}
END_TEST

/* ---- Blocks that are kept -------------------------------------------------------------------- */
static void *hook(void *user, int64_t bytes)
{
    (void)user;
    return malloc((size_t)bytes);
}

static void unhook(void *user, void *p)
{
    (void)user;
    free(p);
}

/* What was worked in is there for who needs about as much; it is not counted, and goes where
 * memory is short. */
START_TEST(large_blocks_are_kept)
{
    const int64_t size = 8 << 20, limit = 20 << 20;
    rd_ctx       *c    = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = limit });
    const int64_t held = rd_memory_now(c);
    void *const p = rd_alloc_work(c, size), *const other = rd_alloc_work(c, size);

    memset(p, 1, (size_t)size);
    rd_free_work(c, p);
    rd_free_work(c, other);
    ck_assert_int_eq(rd_memory_now(c), held);
#if !RD_GRAVES && !defined(RD_ASAN)
    void *const small = rd_alloc_work(c, size / 4), *const again = rd_alloc_work(c, size - 1000);

    ck_assert(again == p || again == other);
    ck_assert(small != p && small != other);
    ck_assert(rd_memory_now(c) > held + size + size / 4);
    memset(again, 2, (size_t)size - 1000);
    rd_free_work(c, again);
    rd_free_work(c, small);
    ck_assert(rd_drop_kept(c) && !rd_drop_kept(c));
#endif
    void *const whole = rd_alloc_work(c, limit - held - 64);
    ck_assert(whole && !rd_alloc_work(c, size));
    rd_free_work(c, whole);
    rd_ctx_free(c);

    c                  = rd_ctx_new(&(rd_ctx_opts){ .allocate = hook, .release = unhook });
    void *const theirs = rd_alloc_work(c, size);
    rd_free_work(c, theirs);
    ck_assert(!rd_drop_kept(c)); /* the hooks' memory is theirs at once */
    rd_ctx_free(c);
}
END_TEST

/* KiB of pages that the system may take, -1: it does not say.  Graveyards keep pages by rules of their own. */
#if !RD_GRAVES && !defined(RD_ASAN)
static long lazy_pages(void)
{
    FILE *const file = fopen("/proc/self/smaps", "r");
    long        all  = -1, some;
    char        line[256];

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "LazyFree: %ld kB", &some) == 1)
            all = (all < 0 ? 0 : all) + some;
    if (file)
        fclose(file);
    return all;
}
#endif

/* To give back the pages of a few MiB, and to write them again, takes as long as a run. */
START_TEST(pages_of_a_few_stay)
{
#if !RD_GRAVES && !defined(RD_ASAN)
    const int64_t few = 4 << 20;
    rd_ctx *const c   = rd_ctx_new(&(rd_ctx_opts){ 0 });
    void *const   p   = rd_alloc_work(c, few);

    memset(p, 1, (size_t)few);
    const long before = lazy_pages();
    rd_free_work(c, p);
    ck_assert_int_eq(lazy_pages(), before);
    rd_ctx_free(c);
#endif
}
END_TEST

/* More than there is room for, by several threads: all go in the end, as the leak checker sees. */
START_TEST(many_large_blocks)
{
    rd_ctx *c = rd_ctx_new(&(rd_ctx_opts){ 0 });

#pragma omp parallel for num_threads(TASKS)
    for (int k = 0; k < 64; k++) {
        const int64_t size = (int64_t)(1 + k % 5) << 20;
        char *const p = rd_alloc_work(c, size), *const q = rd_alloc_work(c, size + k);

        p[0] = q[size - 1] = (char)k;
        rd_free_work(c, p);
        rd_free_work(c, q);
    }
    ck_assert(atomic_load(&c->large_bytes) >= 0);
    rd_drop_kept(c);
    ck_assert_int_eq(atomic_load(&c->large_bytes), 0);
    rd_ctx_free(c);
}
END_TEST

/* ---- A limit --------------------------------------------------------------------------------- */
START_TEST(limit_is_kept)
{
    const int64_t limit = 1 << 20;
    rd_ctx       *c     = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = limit, .threads = TASKS });
    rd_expr      *x     = rd_wrap(c, data_x, RD_SHAPE(MOST_ROWS, MOST_COLUMNS));
    rd_array      out   = { 0 };
    int64_t       held;

    /* tables that stay */
    rd_eval(c, rd_wrap(c, data_x, RD_SHAPE(2)), RD_INTO(output, RD_SHAPE(2)));
    held = rd_memory_now(c);
    ck_assert_msg(rd_eval(c, rd_neg(x), &out) == RD_ERR_MEMORY, "2 MiB of result");
    ck_assert(!out.data && !out.owner && rd_memory_now(c) <= held + 4096 && rd_error_text(c)[0]);
    rd_error_clear(c);
    ck_assert_msg(rd_eval(c, rd_neg(x), RD_INTO(output, RD_SHAPE(MOST_ROWS, MOST_COLUMNS))) ==
                      RD_OK,
                  "%s", rd_error_text(c));
    /* A copy of 2 MiB that only a run makes: the operand of a reshape that no strides express. */
    ck_assert(
        rd_eval(c, rd_reshape(rd_exp(rd_slice(x, ":, 1:")), RD_SHAPE(MOST_COLUMNS - 1, MOST_ROWS)),
                RD_INTO(output, RD_SHAPE(MOST_COLUMNS - 1, MOST_ROWS))) == RD_ERR_MEMORY);
    ck_assert(rd_memory_peak(c) <= limit);
    rd_error_clear(c);
    ck_assert(rd_eval(c, rd_slice(rd_neg(x), ":100, :100"), &out) == RD_OK);
    rd_array_free(&out);
    rd_ctx_free(c);
}
END_TEST

/* Two variances that share their loops keep a state for each result of one: here more bytes than a
 * size can say.  What lies at the addresses is never looked at. */
START_TEST(states_beyond_all_sizes)
{
    const int64_t most = (int64_t)1 << _i;
    rd_expr      *x    = rd_wrap(ctx, data_x, RD_SHAPE(2, most));
    rd_array      y    = { .type = RD_F32, .shape = RD_SHAPE(most) },
             z         = { .type = RD_F32, .shape = RD_SHAPE(2) };

    for (int isa = 0; isa < isa_count(); isa++) {
        isa_begin(ctx, isa);
        rd_plan *plan = rd_plan_new(
            ctx, RD_EXPRS(),
            RD_RESULTS({ rd_var(x, RD_DIMS(0)), &y }, { rd_var(x, RD_DIMS(1)), &z }), NULL);
        ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
        ck_assert_msg(rd_plan_run(plan, NULL, (void *[]){ output, data_y }) == RD_ERR_MEMORY,
                      "2^%d on %s", _i, isa_name(isa));
        rd_error_clear(ctx);
        rd_plan_free(plan);
        isa_end(ctx);
    }
}
END_TEST

/* Arrays of 2^60 rows without an element, which no kernel may go through row by row. */
START_TEST(rows_of_no_element)
{
    const int64_t  rows   = (int64_t)1 << 60;
    rd_expr *const x      = rd_wrap(ctx, data_x, RD_SHAPE(rows, 0)),
                   *cube  = rd_wrap(ctx, data_x, RD_SHAPE(1 << 28, 1 << 28, 0));
    rd_expr *const made[] = { rd_exp(x),
                              rd_permute(rd_exp(rd_permute(x, RD_INDEX(1, 0))), RD_INDEX(1, 0)),
                              rd_sort(x, 1), rd_exp(rd_flip(cube, RD_DIMS(1))), rd_sum(x, RD_ALL) };

    for (int isa = 0; isa < isa_count(); isa++)
        for (size_t k = 0; k < COUNT(made); k++) {
            rd_array y = { 0 };

            isa_begin(ctx, isa);
            ck_assert_msg(rd_eval(ctx, made[k], &y) == RD_OK, "%zu, %s: %s", k, isa_name(isa),
                          rd_error_text(ctx));
            isa_end(ctx);
            rd_array_free(&y);
        }
}
END_TEST

/* ---- Memory that fails ----------------------------------------------------------------------- */
typedef struct heap {
    atomic_llong calls, live;
    long long    fail_at; /* the call that fails, from 0             */
    bool         ever;    /* and all that follow                     */
    atomic_bool  failed;
} heap;

static void *heap_allocate(void *user, int64_t bytes)
{
    heap           *h = user;
    const long long k = atomic_fetch_add(&h->calls, 1);

    if (k == h->fail_at || (h->ever && k > h->fail_at)) {
        atomic_store(&h->failed, true);
        return NULL;
    }
    atomic_fetch_add(&h->live, 1);
    return malloc((size_t)bytes);
}

static void heap_release(void *user, void *p)
{
    heap *h = user;

    if (p)
        atomic_fetch_sub(&h->live, 1);
    free(p);
}

enum { ROWS = 12, COLUMNS = 70 };

static rd_expr *reductions(rd_expr *x, rd_expr *y)
{
    return rd_add(rd_sum(rd_mul(x, y), RD_DIMS(1)), rd_var(x, RD_DIMS(1)));
}

static rd_expr *scans(rd_expr *x, rd_expr *y)
{
    return rd_scan(rd_add(x, y), "sum", RD_DIMS(1), .reverse = true);
}

static rd_expr *takes(rd_expr *x, rd_expr *y)
{
    return rd_take(rd_exp(x), 0, rd_argmax(y, RD_DIMS(0)));
}

static rd_expr *concatenated(rd_expr *x, rd_expr *y)
{
    return rd_square(rd_concat(0, RD_EXPRS(x, y, rd_neg(x))));
}

static rd_expr *reshaped(rd_expr *x, rd_expr *y)
{
    return rd_sum(
        rd_reshape(rd_scan(rd_transpose(rd_add(x, y)), "max", RD_DIMS(0)), RD_SHAPE(-1, 7)),
        RD_DIMS(0));
}

static rd_expr *differences(rd_expr *x, rd_expr *y)
{
    rd_expr *r = rd_mean(rd_mul(x, y), RD_DIMS(1));

    return rd_sub(rd_slice(r, "1:"), rd_slice(r, ":-1"));
}

static rd_status ask_eval(rd_ctx *c, rd_expr *y)
{
    rd_array        out    = { 0 };
    const rd_status status = rd_eval(c, y, &out);

    if (status != RD_OK)
        ck_assert_msg(!out.data && !out.owner && !out.type && !out.shape.n,
                      "a zeroed output does not stay zeroed");
    rd_array_free(&out);
    return status;
}

static rd_status ask_many(rd_ctx *c, rd_expr *y)
{
    rd_array  first = { 0 }, second = { 0 };
    rd_status status = rd_eval_many(c, RD_RESULTS({ y, &first }, { rd_neg(y), &second }), NULL);

    if (status != RD_OK)
        ck_assert_msg(!first.data && !first.owner && !second.data && !second.owner,
                      "zeroed outputs do not stay so");
    rd_array_free(&first);
    rd_array_free(&second);
    return status;
}

static rd_status ask_plan(rd_ctx *c, rd_expr *y)
{
    rd_array  layout = { .type = RD_F32, .shape = RD_SHAPE(ROWS, COLUMNS) };
    rd_expr  *in     = rd_input(c, "in", &layout);
    rd_expr  *sum    = rd_add(rd_sum(in, RD_ALL), y);
    rd_array  out    = { .data = output, .type = rd_type_of(sum), .shape = rd_shape_of(sum) };
    rd_plan  *plan   = rd_plan_new(c, RD_EXPRS(in), RD_RESULTS({ sum, &out }), NULL);
    rd_status status = plan ? rd_plan_run(plan, (const void *[]){ data_y }, NULL) : rd_error(c);

    rd_plan_free(plan);
    return status;
}

static rd_status ask_in_place(rd_ctx *c, rd_expr *y)
{
    rd_shape shape = rd_shape_of(y);
    rd_array into  = { .data = data_y + 1, .type = RD_F32, .shape = shape };

    return y ? rd_eval(c, y, &into) : rd_error(c);
}

static rd_status ask_text(rd_ctx *c, rd_expr *y)
{
    const char *text  = rd_explain(c, RD_RESULTS({ y, NULL }), NULL),
               *graph = rd_graphviz(c, RD_RESULTS({ y, NULL }));

    return text && graph ? RD_OK : rd_error(c);
}

static rd_status ask_element(rd_ctx *c, rd_expr *y)
{
    rd_index at = { .n = rd_shape_of(y).n };

    return y && !isnan(rd_at(c, y, at)) ? RD_OK : rd_error(c);
}

static const struct {
    const char *what;
    build      *build;
} typical[] = {
    { "reductions", reductions }, { "scan", scans },       { "take", takes },
    { "concat", concatenated },   { "reshape", reshaped }, { "differences", differences },
};
static const struct {
    const char *what;
    rd_status (*ask)(rd_ctx *c, rd_expr *y);
} ways[] = {
    { "rd_eval", ask_eval },     { "rd_eval_many", ask_many }, { "plan", ask_plan },
    { "overlap", ask_in_place }, { "explain, dot", ask_text }, { "rd_at", ask_element },
};

/* The n-th allocation of a context's whole life fails; true if there were not that many. */
static bool survives(size_t expression, size_t way, long long n, bool ever)
{
    heap    h = { .fail_at = n, .ever = ever };
    rd_ctx *c = rd_ctx_new(
        &(rd_ctx_opts){ .allocate = heap_allocate, .release = heap_release, .user = &h });
    rd_status status = RD_ERR_MEMORY;

    if (c) {
        rd_expr *x = rd_wrap(c, data_x, RD_SHAPE(ROWS, COLUMNS)),
                *y = rd_wrap(c, data_y, RD_SHAPE(ROWS, COLUMNS));

        status = ways[way].ask(c, typical[expression].build(x, y));
        ck_assert_msg(status == rd_error(c), "%s by %s: %s returned, %s recorded",
                      typical[expression].what, ways[way].what, rd_status_name(status),
                      rd_status_name(rd_error(c)));
    }
    /* Some memory only makes the next evaluation faster: without it this one is right all the
     * same. */
    ck_assert_msg(status == RD_OK || (h.failed && status == RD_ERR_MEMORY),
                  "%s by %s, allocation %lld failed: %s: %s", typical[expression].what,
                  ways[way].what, n, rd_status_name(status), rd_error_text(c));
    rd_ctx_free(c);
    ck_assert_msg(h.live == 0, "%s by %s, allocation %lld failed: %lld leak",
                  typical[expression].what, ways[way].what, n, (long long)h.live);
    return !h.failed;
}

START_TEST(every_allocation_may_fail)
{
    const size_t expression = (size_t)_i % COUNT(typical), way = (size_t)_i / COUNT(typical);

    fill_data();
    for (int ever = 0; ever < 2; ever++) {
        long long n = 0;

        while (!survives(expression, way, n, ever))
            n++;
        ck_assert_msg(n > 3, "only %lld allocations", n);
    }
}
END_TEST

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
    /* tables that stay */
    rd_eval(ctx, rd_wrap(ctx, data_x, RD_SHAPE(2)), RD_INTO(output, RD_SHAPE(2)));
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

int main(void)
{
    Suite   *suite  = suite_create("memory");
    TCase   *tc     = tcase_create("memory");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, fused_takes_a_constant);
    tcase_add_loop_test(tc, explain_says_what_a_run_takes, 0, (int)COUNT(explained));
    tcase_add_test(tc, memory_comes_back);
    tcase_add_test(tc, results_are_counted);
    tcase_add_test(tc, large_blocks_are_kept);
    tcase_add_test(tc, pages_of_a_few_stay);
    tcase_add_test(tc, many_large_blocks);
    tcase_add_test(tc, limit_is_kept);
    tcase_add_loop_test(tc, states_beyond_all_sizes, 50, 60);
    tcase_add_test(tc, rows_of_no_element);
    tcase_add_loop_test(tc, every_allocation_may_fail, 0, (int)(COUNT(typical) * COUNT(ways)));
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
