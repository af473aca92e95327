/* nests.c - expressions by compiled nests, compared with the reference. */
#include "nests.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/loop/loop.h"
#include "kernels/pass/strip_at.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const nest_share one_task[1]   = { { 1, 0 } };
const nest_share many_tasks[8] = { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 2, 0 },
                                   { 3, 0 }, { 1, 3 }, { 2, 1 }, { 3, 1 } };

nest_counts    nest_seen;
static rd_ctx *ctx;

rd_ctx *nest_begin(void)
{
    ctx = rd_ctx_new(NULL);
    rd_tier_force("sync");
    rd_nest_force("always");
    return ctx;
}

void nest_end(void)
{
    rd_nest_force(NULL);
    rd_force_large(0);
    rd_tier_force(NULL);
    rd_ctx_free(ctx);
}

int nest_suite(const char *name, void (*begin)(void), const nest_case *cases, int n)
{
    enum { HANGS = 300 }; /* seconds: a compiler beside other suites needs some */
    Suite   *suite  = suite_create(name);
    TCase   *tests  = tcase_create(name);
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tests, begin, nest_end);
    tcase_set_timeout(tests, HANGS);
    for (int k = 0; k < n; k++)
        suite_add_compiled(tests, cases[k].test, cases[k].first, cases[k].end);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void nest_add(nest_batch *b, rd_expr *y)
{
    rd_error_clear(ctx);
    if (!y)
        return;
    ck_assert_int_lt(b->n, NEST_RESULTS);
    b->y[b->n++] = y;
}

static int64_t elements(const rd_expr *y)
{
    int64_t n = 1;

    for (int a = 0; a < y->rank; a++)
        n *= y->extent[a];
    return n;
}

static rd_array dense(rd_expr *y)
{
    const size_t bytes = (size_t)elements(y) * (size_t)rd_dtype_size(y->type);
    rd_array     a     = { .type = y->type, .shape = rd_shape_of(y) };

    a.data = malloc(bytes + 1);
    memset(a.data, 0xa5, bytes);
    return a;
}

static rd_plan *plan_of(nest_batch *b, rd_array *out, int isa)
{
    const rd_eval_opts opts = { .threads       = 1,
                                .deterministic = true,
                                .traversal = isa == ISA_SCALAR ? RD_TRAVERSE_AUTO : b->traversal };
    rd_result          results[NEST_RESULTS];
    rd_plan           *plan;

    for (int k = 0; k < b->n; k++)
        results[k] = (rd_result){ b->y[k], &out[k] };
    isa_begin(ctx, isa);
    plan = rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ results, b->n }, &opts);
    isa_end(ctx);
    ck_assert_msg(plan != NULL, "%s: %s", b->what, rd_error_text(ctx));
    return plan;
}

static void *from_pool(void *pool, size_t bytes)
{
    return rd_pool_get(pool, bytes);
}

static bool has_in_text(const rd_program *p, const char *words)
{
    rd_pool *pool = rd_pool_new(ctx);
    rd_text  code = { 0 };
    bool     found;

    rd_nest_describe(p, rd_cpu_vector(), from_pool, pool, NULL, &code);
    found = code.at && strstr(code.at, words);
    rd_text_free(&code);
    rd_pool_free(pool);
    return found;
}

/* The log has the tree behind each pass, or says "as before". */
static bool is_changed_in(const char *log, const char *pass)
{
    char head[64];

    snprintf(head, sizeof head, "after %s: as before\n", pass);
    if (strstr(log, head))
        return false;
    snprintf(head, sizeof head, "after %s:\n", pass);
    ck_assert_msg(strstr(log, head) != NULL, "there is no pass %s", pass);
    return true;
}

static bool is_changed_by(const rd_program *p, const char *pass)
{
    rd_pool     *pool = rd_pool_new(ctx);
    rd_text      log  = { 0 };
    const char  *why;
    rd_schedule *t =
        rd_nest_schedule(p, rd_cpu_vector(), p->whole && !p->nest, from_pool, pool, &log, &why);
    const bool changed = t && is_changed_in(log.at, pass);

    rd_schedule_free(t);
    rd_text_free(&log);
    rd_pool_free(pool);
    return changed;
}

static void count_nests(const rd_plan *plan)
{
    for (int s = 0; s < plan->n_stage; s++) {
        nest_seen.programs++;
        nest_seen.tiles += plan->program[s].code != NULL;
        nest_seen.nests += plan->program[s].nest && rd_nest_loaded(plan->program[s].nest);
        nest_seen.with_words += nest_seen.words && plan->program[s].nest &&
                                has_in_text(&plan->program[s], nest_seen.words);
        nest_seen.changed += nest_seen.pass && is_changed_by(&plan->program[s], nest_seen.pass);
    }
}

static bool same(rd_dtype type, const char *a, const char *b)
{
    return memcmp(a, b, (size_t)rd_dtype_size(type)) == 0 ||
           (isnan(rd_word_to_double(rd_word_load(a, type), type)) &&
            isnan(rd_word_to_double(rd_word_load(b, type), type)));
}

static void compare(const nest_batch *b, int isa, const nest_share *how)
{
    for (int k = 0; k < b->n; k++) {
        const rd_dtype type = b->y[k]->type;
        const char    *want = b->want[k].data, *found = b->found[k].data;
        const int64_t  n = elements(b->y[k]);

        for (int64_t i = 0; i < n; i++, want += rd_dtype_size(type), found += rd_dtype_size(type))
            ck_assert_msg(same(type, want, found),
                          "%s, %s, %d threads, %d grains: result %d, element %d of %d is %.17g "
                          "(%llx), not %.17g (%llx)",
                          b->what, isa_name(isa), (int)how->threads, (int)how->grains, k, (int)i,
                          (int)n, rd_word_to_double(rd_word_load(found, type), type),
                          (unsigned long long)rd_word_load(found, type).u64,
                          rd_word_to_double(rd_word_load(want, type), type),
                          (unsigned long long)rd_word_load(want, type).u64);
    }
}

static rd_status run(rd_plan *plan, const nest_share *how, char *sentence, uint32_t *warnings)
{
    rd_run_stats stats;
    rd_status    status;

    plan->threads = how->threads;
    isa_share(plan, how->grains);
    status    = rd_plan_execute(plan, NULL, NULL, NULL, &stats);
    *warnings = rd_warnings(ctx);
    snprintf(sentence, 256, "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    if (stats.tasks <= NEST_TASKS && status == RD_OK)
        nest_seen.tasks |= 1 << stats.tasks;
    return status;
}

/* What a run came to beside its results. */
typedef struct outcome {
    rd_status status;
    char      sentence[256];
    uint32_t  warnings;
} outcome;

static outcome wanted(nest_batch *b)
{
    rd_plan *plan;
    outcome  want;

    for (int k = 0; k < b->n; k++) {
        b->want[k]  = dense(b->y[k]);
        b->found[k] = dense(b->y[k]);
    }
    plan        = plan_of(b, b->want, ISA_SCALAR);
    want.status = run(plan, one_task, want.sentence, &want.warnings);
    rd_plan_free(plan);
    return want;
}

static void agree(nest_batch *b, const outcome *want, int isa, const nest_share *shares, int n)
{
    const int64_t failed = rd_tier_stats_now().failed;
    rd_plan      *plan   = plan_of(b, b->found, isa);

    count_nests(plan);
    ck_assert_msg(nest_seen.may_fail || rd_tier_stats_now().failed == failed,
                  "%s: cannot be compiled", b->what);
    for (int k = 0; k < n; k++) {
        outcome got;

        got.status = run(plan, &shares[k], got.sentence, &got.warnings);
        ck_assert_msg(got.status == want->status && strcmp(got.sentence, want->sentence) == 0,
                      "%s: \"%s\", not \"%s\"", b->what, got.sentence, want->sentence);
        ck_assert_msg(want->status != RD_OK || got.warnings == want->warnings,
                      "%s: warnings %x, not %x", b->what, got.warnings, want->warnings);
        if (want->status == RD_OK)
            compare(b, isa, &shares[k]);
    }
    rd_plan_free(plan);
}

static void forget(nest_batch *b)
{
    for (int k = 0; k < b->n; k++) {
        free(b->want[k].data);
        free(b->found[k].data);
    }
    b->n = 0;
}

void nest_agree_by(nest_batch *b, int isa, const nest_share *shares, int n)
{
    const outcome want = wanted(b);

    agree(b, &want, isa, shares, n);
    forget(b);
}

void nest_agree_on_tiles(nest_batch *b, const nest_share *shares, int n)
{
    const outcome want = wanted(b);

    for (int isa = 1; isa < isa_count(); isa++)
        agree(b, &want, isa, shares, n);
    forget(b);
}

void nest_agree(nest_batch *b, const nest_share *shares, int n)
{
    nest_agree_by(b, isa_count() - 1, shares, n);
}

void nest_mostly(void)
{
    ck_assert_msg(nest_seen.nests * 4 >= nest_seen.programs * 3 &&
                      (nest_seen.nests > 0 || SANITIZED || suite_part(2) > 1),
                  "%d of %d programs are nests", nest_seen.nests, nest_seen.programs);
}

/* ---- Data -------------------------------------------------------------------------------------- */
rd_expr *nest_leaf_of(tile_memory *m, int32_t slot, rd_shape shape)
{
    const rd_array a = { .in = m->slot[slot].before, .type = m->slot[slot].type, .shape = shape };

    return rd_leaf(ctx, &a);
}

static int64_t points(const rd_shape *shape)
{
    int64_t n = 1;

    for (int32_t a = 0; a < shape->n; a++)
        n *= shape->at[a];
    return n;
}

rd_expr *nest_leaf(tile_memory *m, rd_dtype type, rd_shape shape, tile_data data)
{
    return nest_leaf_of(m, tile_slot(m, type, points(&shape), data), shape);
}

void nest_nans(const tile_memory *m, int32_t slot)
{
    const rd_dtype type = m->slot[slot].type;

    for (int64_t i = 3; rd_dtype_kind(type) == RD_KIND_FLOAT && i < m->slot[slot].n; i += 11)
        rd_word_store(m->slot[slot].before + i * rd_dtype_size(type), type,
                      rd_word_from_double(NAN, type));
}

rd_fn nest_function(rd_block_fn *block, void *user, int arity, rd_dtype in, rd_dtype out)
{
    return (rd_fn){ .size  = sizeof(rd_fn),
                    .name  = "mine",
                    .arity = arity,
                    .in    = in,
                    .out   = out,
                    .block = block,
                    .user  = user };
}
