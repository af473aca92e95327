/* test_gpu_trees.c - loop trees of a GPU's kernels: that they mean their programs, by a shadow run, for
 * few threads and for many; and which programs have one. */
#include "eval/plan.h"
#include "fake_gpu.h"
#include "gpu_programs.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/loop_tree.h"
#include "kernels/loop/check.h"
#include "suite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static void *piece(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

/* ---- Trees ------------------------------------------------------------------------------------ */
static rd_schedule *tree_of(const rd_cuda_strategy *s, rd_pool *pool, const char **why)
{
    rd_gpu_plan         plan;
    const rd_loop_fold *fold = NULL;
    rd_schedule        *t    = NULL;

    if (rd_cuda_plan_of(s, &plan, piece, pool, why))
        fold = rd_gpu_folds_of(s->p, piece, pool, why);
    if (fold && !*why)
        t = rd_schedule_build(s->p, fold, true);
    if (t)
        rd_schedule_for_gpu(t, &plan, NULL);
    return t;
}

static void must_hold(const rd_schedule *t, const char *what, int64_t visits)
{
    rd_text          why     = { 0 };
    const rd_verdict verdict = rd_schedule_check(t, visits, &why);

    if (verdict == RD_TREE_FAILS) {
        rd_text_add(&why, "\n");
        rd_schedule_text(&why, t);
    }
    ck_assert_msg(verdict != RD_TREE_FAILS, "%s: %s", what, why.at);
    rd_text_free(&why);
}

/* What is done with each tree of a program: it must hold, or not once it is changed. */
typedef void tree_check(rd_schedule *t, const char *what, void *user);

static void check_as_it_is(rd_schedule *t, const char *what, void *user)
{
    (void)user;
    must_hold(t, what, RD_MOST_VISITS);
}

/* Several patches are many elements. */
static void check_at_length(rd_schedule *t, const char *what, void *user)
{
    (void)user;
    must_hold(t, what, 20 * RD_MOST_VISITS);
}

/* How many of a program's stages have trees, of how many. */
typedef struct found {
    int trees, stages;
} found;

static bool is_of_pairs(const gpu_program *p)
{
    return p >= gpu_pair_programs && p < gpu_pair_programs + n_gpu_pair_programs;
}

static found check_with(const gpu_program *p, rd_dtype type, gpu_size size, int64_t threads,
                        tree_check *check, void *user)
{
    static _Alignas(16) char data[16];
    const rd_cuda_limits     limits = { .threads = threads, .shared = 227 << 10 };
    /* for the CPU pairs are stages of their own */
    const rd_eval_opts opts = { .traversal     = RD_TRAVERSE_LAZY,
                                .backend       = is_of_pairs(p) ? RD_BACKEND_CUDA : RD_BACKEND_AUTO,
                                .deterministic = true };
    rd_ctx            *ctx  = rd_ctx_new(NULL);
    rd_pool           *pool = rd_pool_new(ctx);
    rd_array    x = { .data = data, .type = type, .shape = RD_SHAPE(size.rows, size.columns) };
    gpu_results all;
    rd_plan    *plan;
    found       f = { 0 };

    gpu_build(p, rd_leaf(ctx, &x), &all);
    plan = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ all.at, all.n }, &opts);
    ck_assert_msg(plan, "%s: %s", p->name, rd_error_text(ctx));
    for (int32_t k = 0; k < plan->n_stage; k++) {
        rd_cuda_strategy s;
        const char      *why = NULL;
        rd_schedule     *t;

        ck_assert(rd_cuda_choose_strategy(&s, &plan->program[k], &limits, piece, pool));
        t = s.why ? NULL : tree_of(&s, pool, &why);
        if (t)
            check(t, p->name, user);
        f.trees += t != NULL;
        f.stages++;
        rd_schedule_free(t);
    }
    rd_plan_free(plan);
    rd_pool_free(pool);
    rd_ctx_free(ctx);
    return f;
}

static found check_program(const gpu_program *p, rd_dtype type, gpu_size size, int64_t threads)
{
    return check_with(p, type, size, threads, check_as_it_is, NULL);
}

/* ---- Programs --------------------------------------------------------------------------------- */
static const gpu_size sizes[]   = { { 1, 300 },  { 7, 64 },  { 5, 201 }, { 40, 12 },
                                    { 129, 33 }, { 300, 5 }, { 70, 70 }, { 2, 9000 } };
static const int64_t  threads[] = { 1, 64, 1 << 20 };
static const rd_dtype types[]   = { RD_F32, RD_F64, RD_F16, RD_U8, RD_F8 };

static const gpu_program *program_of(int i)
{
    const gpu_program *list[] = { gpu_programs, gpu_row_programs, gpu_cross_programs,
                                  gpu_scan_programs };
    const int          n[]    = { n_gpu_programs, n_gpu_row_programs, n_gpu_cross_programs,
                                  n_gpu_scan_programs };

    for (int k = 0; k < COUNT(list); i -= n[k++])
        if (i < n[k])
            return &list[k][i];
    return NULL;
}

START_TEST(programs_hold)
{
    const gpu_program *p = program_of(_i);

    for (int k = 0; k < COUNT(sizes); k++)
        for (int j = 0; j < COUNT(threads); j++) {
            const rd_dtype type = p->floats ? RD_F32 : types[(_i + k + j) % COUNT(types)];

            (void)check_program(p, type, sizes[k], threads[j]);
        }
}
END_TEST

/* Few results have more than one each, if threads are few. */
static const gpu_size pair_sizes[] = { { 65, 2 }, { 66, 1 }, { 129, 3 }, { 67, 66 } };

START_TEST(pairs_hold)
{
    const gpu_program *p = &gpu_pair_programs[_i];

    fake_use();
    for (int k = 0; k < COUNT(pair_sizes); k++)
        for (int j = 0; j < COUNT(threads); j += 2) {
            const rd_dtype type = p->floats ? RD_F32 : types[(_i + k + j) % COUNT(types)];
            const found    f    = check_program(p, type, pair_sizes[k], threads[j]);

            ck_assert_msg(f.trees == f.stages, "%s: %d of %d", p->name, f.trees, f.stages);
        }
    rd_gpu_close_all();
}
END_TEST

/* Patches of three arrays, of which each has several along either axis, or one. */
static const struct {
    rd_dtype type;
    gpu_size size;
} patch_sizes[] = { { RD_F64, { 66, 2050 } },
                    { RD_F64, { 3, 2100 } },
                    { RD_F32, { 3, 4100 } },
                    { RD_F32, { 200, 65 } } };

START_TEST(patches_hold)
{
    const found f = check_with(gpu_program_of("cubes both ways"), patch_sizes[_i].type,
                               patch_sizes[_i].size, 1, check_at_length, NULL);

    ck_assert_int_eq(f.trees, f.stages);
}
END_TEST

/* Those of each scheme that has trees. */
static const struct {
    const char *program;
    rd_dtype    type;
    gpu_size    size;
    int64_t     threads;
} with_trees[] = {
    { "map", RD_F32, { 64, 4096 }, 1 << 10 },
    { "map to f16", RD_F64, { 33, 1000 }, 1 },
    { "sum of rows", RD_F32, { 100, 1000 }, 1 },
    { "var of rows", RD_BF16, { 100, 1000 }, 1 },
    { "mean where", RD_F32, { 100, 1001 }, 1 },
    { "sum of columns", RD_F32, { 1000, 4096 }, 1 },
    { "softmax of columns", RD_F32, { 1000, 64 }, 1 },
    { "sum of all", RD_F32, { 64, 4096 }, 1 << 20 },
    { "transpose", RD_F32, { 70, 130 }, 1 },
    { "sum of columns", RD_F16, { 10000, 32 }, 1 << 20 },
    { "softmax", RD_F32, { 2, 32768 }, 1 << 20 },
    { "softmax", RD_F32, { 100, 1000 }, 1 },
    { "layer norm", RD_BF16, { 100, 1000 }, 1 },
    { "logsumexp of rows", RD_F32, { 100, 1000 }, 1 },
    { "softmax", RD_F32, { 1000, 10 }, 1 },
    { "two of columns", RD_F32, { 2000, 8192 }, 1 },
    { "exp both ways", RD_F16, { 1000, 10000 }, 1 },
    { "scan down", RD_F32, { 12296, 4 }, 1 << 20 },
    { "scan down", RD_F64, { 5000, 3 }, 1 << 20 },
    { "scan of columns", RD_F32, { 12296, 4 }, 8 },
    { "scan of columns", RD_I32, { 12296, 3 }, 1 << 20 },
    { "scan of rows", RD_F32, { 3, 5000 }, 1 << 20 },
    { "scan of rows", RD_F64, { 1, 4096 }, 1 },
    { "scan exclusive", RD_I32, { 2, 5003 }, 1 << 20 },
    { "scans", RD_F32, { 4, 3000 }, 1 << 20 },
    { "scan back", RD_F32, { 3, 5002 }, 1 << 20 },
    { "scans together", RD_F32, { 3, 4100 }, 1 << 20 },
    { "scan between maps", RD_F16, { 3, 9001 }, 1 << 20 },
};

START_TEST(schemes_have_trees)
{
    const found f = check_program(gpu_program_of(with_trees[_i].program), with_trees[_i].type,
                                  with_trees[_i].size, with_trees[_i].threads);

    ck_assert_msg(f.trees == f.stages, "%s: %d of %d", with_trees[_i].program, f.trees, f.stages);
}
END_TEST

/* ---- Planted faults --------------------------------------------------------------------------- */
static int32_t find(const rd_schedule *t, rd_stmt_kind kind)
{
    const int32_t body = t->part[RD_PART_BODY];
    int32_t       s    = body;

    while (s >= 0 && t->stmt[s].kind != kind)
        s = rd_next_stmt(t, s, body);
    ck_assert_int_ge(s, 0);
    return s;
}

static int32_t find_loop(const rd_schedule *t, rd_for_kind kind)
{
    const int32_t body = t->part[RD_PART_BODY];
    int32_t       s    = body;

    while (s >= 0 && (t->stmt[s].kind != RD_S_LOOP || rd_loop_of(t, s)->kind != kind))
        s = rd_next_stmt(t, s, body);
    ck_assert_int_ge(s, 0);
    return s;
}

static rd_for *ranges_of(rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_for; k++)
        if (t->loop[k].split_reduction)
            return &t->loop[k];
    ck_abort_msg("no ranges");
    return NULL;
}

typedef void fault(rd_schedule *t);

static void no_opens(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_PUSH_IF_NEW));
}

static void no_leave(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_STORE_PARTIALS));
}

static void no_join(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_COMBINE_PARTIALS));
}

static void no_lift(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_BUILD_TREE));
}

static void no_within(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_SCAN_BLOCKS));
}

static void tiles_in_any_order(rd_schedule *t)
{
    ranges_of(t)->in_order = false;
}

/* The first neighbour has the state of the second. */
static void states_apart(rd_schedule *t)
{
    t->stmt[find(t, RD_S_SCAN_RESULT)].fold_at.state_offset.offset++;
}

static void no_await(rd_schedule *t)
{
    rd_take_out(t, find(t, RD_S_LOOK_BACK));
}

/* Of the block behind. */
static void await_more(rd_schedule *t)
{
    t->stmt[find(t, RD_S_LOOK_BACK)].at.offset += 64;
}

/* All ranges go on behind. */
static void each_is_last(rd_schedule *t)
{
    const int32_t last = find(t, RD_S_IF_LAST), body = t->stmt[last].parent;

    for (int32_t s; (s = t->stmt[last].first) >= 0;) {
        rd_take_out(t, s);
        rd_append(t, body, s);
    }
}

static void ranges_of_no_blocks(rd_schedule *t)
{
    ranges_of(t)->step -= 64;
}

static void threads_lack_neighbours(rd_schedule *t)
{
    t->loop[t->stmt[find_loop(t, RD_FOR_THREAD)].arg].step *= 2;
}

static void rounds_lack_threads(rd_schedule *t)
{
    rd_for *const loop = &t->loop[t->stmt[find_loop(t, RD_FOR_THREAD)].arg];

    loop->to.part[0].at.offset -= loop->step;
}

/* What is done with the other axis. */
static void row_of_another(rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_let; k++)
        if (t->let[k].kind == RD_I_LOAD && t->let[k].store >= 0)
            t->let[k].at.offset++;
}

/* The loop over points of which each has states of its own, and the ones that are left. */
static int32_t points_of(const rd_schedule *t)
{
    return t->stmt[find_loop(t, RD_FOR_JAM)].parent;
}

static void no_points_are_left(rd_schedule *t)
{
    rd_take_out(t, t->stmt[points_of(t)].next);
}

static void points_share_states(rd_schedule *t)
{
    const int32_t jam = find_loop(t, RD_FOR_JAM);
    int32_t       s   = jam;

    while (t->stmt[s].kind != RD_S_STEP)
        s = rd_next_stmt(t, s, jam);
    t->stmt[s].fold_at.state_offset = rd_linear_plus_axis(
        t, t->stmt[s].fold_at.state_offset, -t->store[1].copies, rd_loop_of(t, jam)->axis);
}

static int32_t fill_of_tile(const rd_schedule *t)
{
    const int32_t body = t->part[RD_PART_BODY];
    int32_t       s    = body;

    while (s >= 0 && (t->stmt[s].kind != RD_S_LOOP || !rd_loop_of(t, s)->by_block))
        s = rd_next_stmt(t, s, body);
    ck_assert_int_ge(s, 0);
    return s;
}

static void tiles_lack_points(rd_schedule *t)
{
    t->loop[t->stmt[fill_of_tile(t)].arg].to.part[0].at.offset--;
}

/* Each item has its own, which those of a block do not have. */
static void tiles_of_results(rd_schedule *t)
{
    const int32_t loop = fill_of_tile(t);
    int32_t       s    = loop;

    while (t->stmt[s].kind != RD_S_LET)
        s = rd_next_stmt(t, s, loop);
    t->let[t->stmt[s].value].at = rd_linear_plus_axis(
        t, t->let[t->stmt[s].value].at, 1, rd_loop_of(t, find_loop(t, RD_FOR_ITEM))->start_mark);
}

/* The states of a row are those of the first one. */
static void rows_share_states(rd_schedule *t)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_STEP && t->store[t->stmt[s].store].storage == RD_IN_BLOCK)
            t->stmt[s].fold_at.state_offset = rd_linear_of(0);
}

/* Who comes last of the patches along the one axis ends the folds along the other. */
static void last_of_others(rd_schedule *t)
{
    const int32_t body = t->part[RD_PART_BODY];
    int32_t       of[2], n = 0;

    for (int32_t s = body; s >= 0 && n < 2; s = rd_next_stmt(t, s, body))
        if (t->stmt[s].kind == RD_S_IF_LAST)
            of[n++] = s;
    ck_assert_int_eq(n, 2);
    n                  = t->stmt[of[0]].arg;
    t->stmt[of[0]].arg = t->stmt[of[1]].arg;
    t->stmt[of[1]].arg = n;
}

static const struct {
    const char *what, *program;
    gpu_size    size;
    int64_t     threads;
    fault      *plant;
} faults[] = {
    { "blocks do not open", "sum of rows", { 3, 9000 }, 1, no_opens },
    { "ranges leave nothing", "sum of all", { 4, 4096 }, 1 << 20, no_leave },
    { "ranges are not joined", "sum of all", { 4, 4096 }, 1 << 20, no_join },
    { "each range is the last", "sum of all", { 4, 4096 }, 1 << 20, each_is_last },
    { "ranges end within blocks", "sum of all", { 4, 4096 }, 1 << 20, ranges_of_no_blocks },
    { "threads lack neighbours", "sum of rows", { 3, 3000 }, 1, threads_lack_neighbours },
    { "rounds lack threads", "map", { 3, 3000 }, 1, rounds_lack_threads },
    { "another's row", "softmax", { 3, 1000 }, 1, row_of_another },
    { "ranges of a scan leave nothing", "scan down", { 12296, 4 }, 1 << 20, no_leave },
    { "nodes above are not made", "scan down", { 12296, 4 }, 1 << 20, no_lift },
    { "what is before lacks", "scan of columns", { 12296, 4 }, 1 << 20, no_await },
    { "what is before is too much", "scan down", { 12296, 4 }, 1 << 20, await_more },
    { "ranges are no nodes", "scan down", { 12296, 4 }, 1 << 20, ranges_of_no_blocks },
    { "tiles leave nothing", "scan of rows", { 1, 9000 }, 1, no_leave },
    { "nodes above tiles' are not made", "scan of rows", { 1, 9000 }, 1, no_lift },
    { "what is before tiles lacks", "scan of rows", { 1, 9000 }, 1, no_await },
    { "what is before tiles is too much", "scan of rows", { 1, 9000 }, 1, await_more },
    { "elements are alone", "scan of rows", { 1, 9000 }, 1, no_within },
    { "tiles in any order", "scan of rows", { 1, 9000 }, 1, tiles_in_any_order },
    { "another's state", "scan back", { 1, 9000 }, 1, states_apart },
    { "neighbours lack in tiles", "scan of rows", { 1, 9000 }, 1, threads_lack_neighbours },
    { "another's short row", "softmax", { 300, 10 }, 1, row_of_another },
    { "blocks of points do not open", "gauss", { 129, 2 }, 1, no_opens },
    { "points are left", "gauss", { 129, 2 }, 1, no_points_are_left },
    { "points share states", "gauss", { 129, 2 }, 1, points_share_states },
    { "tiles lack points", "gauss", { 129, 2 }, 1, tiles_lack_points },
    { "rows share states", "cubes both ways", { 3, 4100 }, 1, rows_share_states },
    { "patches leave nothing", "cubes both ways", { 3, 4100 }, 1, no_leave },
    { "others' last patches", "cubes both ways", { 66, 4100 }, 1, last_of_others },
    { "tiles hang on results", "gauss", { 129, 2 }, 1, tiles_of_results },
};

static void must_fail(rd_schedule *t, const char *what, void *user)
{
    rd_text why = { 0 };

    (*(fault *const *)user)(t);
    ck_assert_msg(rd_schedule_check(t, 20 * RD_MOST_VISITS, &why) == RD_TREE_FAILS, "%s: not found",
                  what);
    rd_text_free(&why);
}

START_TEST(faults_are_found)
{
    fault *plant = faults[_i].plant;
    found  f;

    if (is_of_pairs(gpu_program_of(faults[_i].program)) && !fake_is_here())
        return;
    fake_use();
    f = check_with(gpu_program_of(faults[_i].program), RD_F32, faults[_i].size, faults[_i].threads,
                   must_fail, &plant);

    ck_assert_msg(f.trees > 0, "%s: no tree", faults[_i].what);
    rd_gpu_close_all();
}
END_TEST

int main(void)
{
    enum { LONG = 600 };
    Suite   *suite = suite_create("trees of GPUs");
    TCase   *tests = tcase_create("trees");
    SRunner *runner;
    int      failed;

    tcase_set_timeout(tests, LONG);
    tcase_add_loop_test(tests, programs_hold, 0,
                        n_gpu_programs + n_gpu_row_programs + n_gpu_cross_programs +
                            n_gpu_scan_programs);
    if (fake_is_here())
        tcase_add_loop_test(tests, pairs_hold, 0, n_gpu_pair_programs);
    tcase_add_loop_test(tests, patches_hold, 0, COUNT(patch_sizes));
    tcase_add_loop_test(tests, schemes_have_trees, 0, COUNT(with_trees));
    tcase_add_loop_test(tests, faults_are_found, 0, COUNT(faults));
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
