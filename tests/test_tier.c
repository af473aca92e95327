/* test_tier.c - code that is compiled while a program runs: when, by whom, and what happens when
 * nothing can be compiled.  The bits are the reference's all the time. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/nest.h"
#include "nests.h"
#include "suite.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 4096 };

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
    rd_nest_force(NULL);
    nest_seen.may_fail = true;
}

/* A small program by each set of kernels, which is one nest each. */
static rd_tier_stats stats_of(const char *mode)
{
    const rd_tier_stats before = rd_tier_stats_now();
    rd_tier_stats       after;
    tile_memory         m = { 0 };
    /* one leaf: of two, memory that comes again makes one older than the other, or not */
    rd_expr   *x = nest_leaf(&m, RD_F32, RD_SHAPE(7, 67), ORDINARY);
    nest_batch b = { .what = "a small program" };

    rd_tier_force(mode);
    for (int isa = 1; isa < isa_count(); isa++) {
        nest_add(&b, rd_exp(rd_neg(x)));
        nest_agree_by(&b, isa, one_task, 1);
    }
    tile_free(&m);
    after = rd_tier_stats_now();
    after.asked -= before.asked;
    after.compiled -= before.compiled;
    after.stored -= before.stored;
    after.failed -= before.failed;
    return after;
}

/* ---- Where -------------------------------------------------------------------------------------- */
enum { BASE = 256 };

/* A directory for objects, to be removed. */
static void make_base(char base[BASE])
{
    const char *place = getenv("TMPDIR");

    ck_assert_int_lt(snprintf(base, BASE, "%s/rdim-tier-XXXXXX", place ? place : P_tmpdir), BASE);
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("XDG_CACHE_HOME", base, 1);
}

static void remove_base(const char *base)
{
    char command[BASE + 8];

    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}

/* ---- When --------------------------------------------------------------------------------------- */
/* Each in a process of its own, as Check has it: code that is here stays. */
START_TEST(modes)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE];
    rd_tier_stats s;

    make_base(base);
    s = stats_of("off");
    ck_assert_int_eq(s.asked, 0);
    s = stats_of("nonsense");
    ck_assert_int_eq(s.asked, 0);
    s = stats_of("cache"); /* of an empty store */
    ck_assert_int_eq(s.asked, sets);
    ck_assert_int_eq(s.stored + s.compiled + s.failed, 0);
    s = stats_of("sync");
    ck_assert_int_eq(s.compiled, sets);
    s = stats_of("sync"); /* they are here */
    ck_assert_int_eq(s.asked, sets);
    ck_assert_int_eq(s.compiled + s.stored + s.failed, 0);
    remove_base(base);
}
END_TEST

/* Looked for, compiled, called. */
START_TEST(meanwhile)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE];

    make_base(base);
    ck_assert_int_eq(stats_of("async").asked, sets);
    rd_tier_wait();
    ck_assert_int_eq(rd_tier_stats_now().compiled, 0); /* so little work is not worth it */
    rd_tier_hurry(true);
    for (int k = 0; k < 2; k++) {
        stats_of("async");
        rd_tier_wait();
    }
    ck_assert_int_eq(rd_tier_stats_now().compiled, sets);
    stats_of("async");
    rd_tier_hurry(false);
    remove_base(base);
}
END_TEST

/* The compiler is a script of these lines. */
static void set_script(const char *base, const char *lines)
{
    char  path[BASE + 40];
    FILE *script;

    snprintf(path, sizeof path, "%s/script", base);
    script = fopen(path, "w");
    ck_assert_ptr_nonnull(script);
    fprintf(script, "#!/bin/sh\n%s\n", lines);
    fclose(script);
    chmod(path, 0700);
    setenv("RDIM_CC", path, 1);
}

/* A compiler that takes two seconds is at work after this: its caller waits for it, within no lock
 * that a child would find held for ever (the address sanitizer's allocator is not made for forks of
 * several threads). */
static void set_a_slow_one_to_work(const char *base)
{
    static char           begun[BASE + 40], lines[2 * BASE];
    const struct timespec pause = { 0, 10000000 };

    snprintf(begun, sizeof begun, "%s/begun", base);
    snprintf(lines, sizeof lines, ": > %s\nsleep 2\nexec cc \"$@\"", begun);
    set_script(base, lines);
    rd_tier_hurry(true);
    stats_of("async"); /* looks for it */
    rd_tier_wait();
    stats_of("async"); /* compiles it */
    while (access(begun, F_OK) != 0)
        nanosleep(&pause, NULL);
}

/* A process may end while its code is compiled, without waiting for that; or fork: then the child
 * has no worker, and starts one for all that it needs, also for what the parent's was at (the
 * thread sanitizer ends a child that starts threads). */
START_TEST(ends_or_forks_meanwhile)
{
    char   base[BASE];
    pid_t  child;
    int    status;
    time_t begun;

    make_base(base);
    child = fork();
    if (child == 0) {
        set_a_slow_one_to_work(base);
        if (_i)
            exit(0);
        child = fork();
        if (child == 0) {
            unsetenv("RDIM_CC");
            stats_of("async"); /* looks for what is not being brought yet, or compiles it */
            rd_tier_wait();
            stats_of("async");
            rd_tier_wait();
            /* without a search for leaks: what the parent's worker held is nobody's here */
            _exit(rd_tier_stats_now().compiled == isa_count() - 1 ? 0 : 1);
        }
        _exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
    }
    begun = time(NULL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_lt(time(NULL) - begun, 50);
    sleep(4); /* what it has left to itself comes to an end */
    remove_base(base);
}
END_TEST

/* How many objects are in the store. */
static int objects_in(const char *base)
{
    char  command[BASE + 60];
    int   n = -1;
    FILE *list;

    snprintf(command, sizeof command, "ls %s/rdim | grep -c '[.]so$'", base);
    list = popen(command, "r");
    ck_assert(list && fscanf(list, "%d", &n) == 1);
    pclose(list);
    return n;
}

static void in_a_process(void (*work)(void))
{
    const pid_t child = fork();
    int         status;

    if (child == 0) {
        work();
        exit(0);
    }
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
}

static void end_while_compiling(void)
{
    rd_tier_hurry(true);
    stats_of("finish"); /* looks for it */
    rd_tier_wait();
    stats_of("finish"); /* compiles it */
}

/* A process that ends waits for what is being compiled, where it is asked to. */
START_TEST(finishes)
{
    char base[BASE];

    make_base(base);
    in_a_process(end_while_compiling);
    ck_assert_int_eq(objects_in(base), isa_count() - 1);
    remove_base(base);
}
END_TEST

/* Sums of n^2 pairs: planned, not computed. */
static void plan_pairs(int64_t n)
{
    tile_memory    m = { 0 };
    rd_expr *const x = nest_leaf(&m, RD_F32, RD_SHAPE(n), ORDINARY);
    rd_expr *const d = rd_sub(rd_expand(x, 1), x), *const y = rd_sum(rd_mul(d, d), RD_DIMS(1));
    rd_array       to = { 0 };
    rd_plan *const p  = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &to }), NULL);

    ck_assert_msg(p != NULL, "%s", rd_error_text(ctx));
    rd_plan_free(p);
    tile_free(&m);
}

static void compile_pairs(void)
{
    rd_tier_force("sync");
    plan_pairs(9000);
    plan_pairs(900);
}

/* What is in the store is there for the first run, if it is a large one. */
START_TEST(large_runs)
{
    char base[BASE];

    make_base(base);
    in_a_process(compile_pairs);
    ck_assert_int_gt(objects_in(base), 0);
    rd_tier_force("async");
    plan_pairs(900);
    ck_assert_int_eq(rd_tier_stats_now().stored, 0);
    plan_pairs(9000);
    ck_assert_int_eq(rd_tier_stats_now().stored, 1);
    remove_base(base);
}
END_TEST

/* ---- By whom ------------------------------------------------------------------------------------ */
/* Sums over pairs of points, the place of the farthest, rows that are normalised. */
static void agree_on_loops(void)
{
    tile_memory m = { 0 };
    rd_expr    *x = nest_leaf(&m, RD_F32, RD_SHAPE(131, 3), ORDINARY);
    rd_expr    *y = nest_leaf(&m, RD_F64, RD_SHAPE(5, 1000), ORDINARY);
    rd_expr    *e = rd_exp(rd_sub(y, rd_max(y, RD_KEEP(1))));
    rd_expr    *d = rd_sub(rd_expand(x, 1), rd_expand(rd_slice(x, "::-1"), 0));
    nest_batch  b = { .what = "loops by another compiler" };

    nest_add(&b, rd_sum(rd_exp(rd_neg(rd_sum(rd_square(d), RD_DIMS(-1)))), RD_DIMS(1)));
    nest_add(&b, rd_argmax(rd_max(rd_abs(d), RD_DIMS(-1)), RD_DIMS(0)));
    nest_add(&b, rd_div(e, rd_sum(e, RD_KEEP(1))));
    nest_agree(&b, one_task, 1);
    tile_free(&m);
}

/* Another compiler, where there is one; it knows fewer options, and takes other liberties. */
START_TEST(clang)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE];

    if (access("/usr/bin/clang", X_OK) != 0)
        return;
    make_base(base);
    setenv("RDIM_CC", "/usr/bin/clang", 1);
    ck_assert_int_eq(stats_of("sync").compiled, sets);
    rd_nest_force("always");
    agree_on_loops();
    ck_assert_int_eq(rd_tier_stats_now().failed, 0);
    remove_base(base);
}
END_TEST

START_TEST(no_compiler)
{
    char base[BASE];

    make_base(base);
    setenv("RDIM_CC", _i ? "/bin/false" : "/nonexistent", 1);
    ck_assert_int_eq(stats_of("sync").failed, isa_count() - 1);
    ck_assert_int_eq(stats_of("sync").failed, 0); /* it is not tried again */
    remove_base(base);
}
END_TEST

/* A compiler that never ends is waited for once, for ten seconds; plans say so. */
START_TEST(hanging_compiler)
{
    const float   x[600] = { 0 };
    char          base[BASE];
    const char   *text;
    time_t        begun;
    rd_expr      *y;
    rd_tier_stats s;

    make_base(base);
    set_script(base, "sleep 100");
    begun = time(NULL);
    s     = stats_of("sync");
    ck_assert_int_eq(s.failed, s.asked);
    ck_assert_int_ge(time(NULL) - begun, 9);
    ck_assert_int_lt(time(NULL) - begun, 20);
    begun = time(NULL);
    rd_nest_force("always");
    y    = rd_sqrt(rd_add(rd_wrap(ctx, x, RD_SHAPE(20, 30)), rd_num(ctx, 1.5)));
    text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
    ck_assert_msg(text && strstr(text, "the compiler is off: it took longer than 10 s"), "%s",
                  text);
    ck_assert_int_lt(time(NULL) - begun, 9);
    remove_base(base);
}
END_TEST

/* ---- Plans of little work ----------------------------------------------------------------------- */
/* A plan of a few elements asks for code once it has run 64 times, in runs that may be at the same time.
 * What surrounds a run counts as work, or one of eight elements would never be compiled. */
START_TEST(plans_grow)
{
    enum { N = 8, ENOUGH = 520000 };
    double        x[N], y[N];
    char          base[BASE];
    rd_expr      *in     = rd_input(ctx, "x", RD_INTO(x, RD_SHAPE(N)));
    rd_tier_stats before = rd_tier_stats_now();
    rd_plan      *plan;

    make_base(base);
    rd_nest_force("where it is best");
    rd_tier_force("async");
    plan = rd_plan_new(
        ctx, RD_EXPRS(in),
        RD_RESULTS({ rd_square(rd_sub(in, rd_num(ctx, 0.5))), RD_INTO(y, RD_SHAPE(N)) }), NULL);
    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    for (int run = 0; run < ENOUGH; run++) {
        for (int i = 0; i < N; i++)
            x[i] = 0.1 * (run % 1000) - i;
        ck_assert(rd_plan_run(plan, (const void *[]){ x }, NULL) == RD_OK);
        for (int i = 0; i < N; i++)
            ck_assert(y[i] == (x[i] - 0.5) * (x[i] - 0.5));
        if (run < 100)
            ck_assert_int_eq(rd_tier_stats_now().asked - before.asked, run >= 64);
    }
    rd_tier_wait();
    ck_assert_int_eq(rd_tier_stats_now().compiled - before.compiled, 1);
    ck_assert(rd_plan_run(plan, (const void *[]){ x }, NULL) == RD_OK);
    ck_assert(y[1] == (x[1] - 0.5) * (x[1] - 0.5));
    rd_plan_free(plan);
    remove_base(base);
}
END_TEST

/* Threads that run one plan meet where it grows: one of them makes what all run by then. */
enum { GROW_POINTS = 33, GROW_RUNS = 300 };

static void *run_growing(void *plan)
{
    double x[GROW_POINTS], y[GROW_POINTS];
    bool   all = true;

    for (int run = 0; run < GROW_RUNS; run++) {
        for (int i = 0; i < GROW_POINTS; i++)
            x[i] = run - 0.25 * i;
        all &= rd_plan_run(plan, (const void *[]){ x }, (void *[]){ y }) == RD_OK;
        for (int i = 0; i < GROW_POINTS; i++)
            all &= y[i] == (x[i] - 0.5) * (x[i] - 0.5);
    }
    return all ? plan : NULL;
}

START_TEST(plans_grow_at_once)
{
    enum { THREADS = 4 };
    double        x[GROW_POINTS], y[GROW_POINTS];
    rd_expr      *in     = rd_input(ctx, "x", RD_INTO(x, RD_SHAPE(GROW_POINTS)));
    rd_expr      *square = rd_square(rd_sub(in, rd_num(ctx, 0.5)));
    rd_tier_stats before = rd_tier_stats_now();
    pthread_t     thread[THREADS];
    rd_plan      *plan;

    rd_nest_force("where it is best");
    rd_tier_force("async");
    plan = rd_plan_new(ctx, RD_EXPRS(in), RD_RESULTS({ square, RD_INTO(y, RD_SHAPE(GROW_POINTS)) }),
                       NULL);
    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    for (int k = 0; k < THREADS; k++)
        ck_assert_int_eq(pthread_create(&thread[k], NULL, run_growing, plan), 0);
    for (int k = 0; k < THREADS; k++) {
        void *found;

        ck_assert_int_eq(pthread_join(thread[k], &found), 0);
        ck_assert_ptr_eq(found, plan);
    }
    ck_assert_int_eq(rd_tier_stats_now().asked - before.asked, 1);
    rd_plan_free(plan);
}
END_TEST

/* ---- Against tiles ------------------------------------------------------------------------------ */
/* A plan runs twice by tiles and twice by compiled loops, each of whose runs counts as so many times as
 * long; what explain says of it then. */
static void run_both_ways(double times, bool goes_back)
{
    static float x[2][POINTS], out[POINTS];
    rd_expr *a = rd_wrap(ctx, x[0], RD_SHAPE(POINTS)), *b = rd_wrap(ctx, x[1], RD_SHAPE(POINTS));
    rd_expr *d = rd_sub(rd_expand(a, 1), b);
    rd_expr *y = rd_sum(rd_div(d, rd_add(rd_square(d), rd_num(ctx, 1))), RD_DIMS(1));
    rd_plan *plan =
        rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, RD_INTO(out, RD_SHAPE(POINTS)) }),
                    &(rd_eval_opts){ .size = sizeof(rd_eval_opts), .threads = 1 });
    const char *text;

    ck_assert_msg(plan != NULL, "%s", rd_error_text(ctx));
    rd_contest_slow_down(times);
    for (int held = 1000; held >= 0; held -= 1000)
        for (int k = 0; k < 2; k++) {
            rd_cpu_hold_nests(held);
            ck_assert_int_eq(rd_plan_run(plan, NULL, NULL), RD_OK);
        }
    rd_contest_slow_down(1);
    rd_plan_free(plan);
    text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
    ck_assert_msg(text && (strstr(text, "times as long as tiles") != NULL) == goes_back, "%s",
                  text);
}

static void lose(void)
{
    rd_tier_force("sync");
    run_both_ways(1e3, true);
}

static void win(void)
{
    rd_tier_force("sync");
    run_both_ways(1e-3, false);
}

/* No run: what another process has measured is known. */
static void know(void)
{
    rd_expr    *a = rd_wrap(ctx, (float[POINTS]){ 0 }, RD_SHAPE(POINTS));
    rd_expr    *b = rd_wrap(ctx, (float[POINTS]){ 0 }, RD_SHAPE(POINTS));
    rd_expr    *d = rd_sub(rd_expand(a, 1), b);
    const char *text;

    rd_tier_force("sync");
    text = rd_explain(
        ctx,
        RD_RESULTS({ rd_sum(rd_div(d, rd_add(rd_square(d), rd_num(ctx, 1))), RD_DIMS(1)), NULL }),
        NULL);
    ck_assert_msg(text && strstr(text, "times as long as tiles"), "%s", text);
}

/* Compiled loops that take longer than the tiles that they replace are not run again, here and in the
 * processes to come. */
START_TEST(goes_back)
{
    char base[BASE];

    make_base(base);
    in_a_process(win);
    in_a_process(lose);
    in_a_process(know);
    remove_base(base);
}
END_TEST

/* ---- The environment ---------------------------------------------------------------------------- */
/* One nest, whose plan is made before the environment changes. */
static void run_in_another_environment(rd_expr *y)
{
    static float  out[100000];
    rd_plan      *plan;
    const int64_t before = rd_tier_stats_now().compiled;

    rd_tier_force("async");
    rd_tier_hurry(true);
    rd_nest_force("always");
    plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, RD_INTO(out, RD_SHAPE(100, 1000)) }),
                       NULL);
    setenv("XDG_CACHE_HOME", "/nonexistent", 1);
    setenv("HOME", "/nonexistent", 1);
    setenv("RDIM_CC", "/nonexistent/cc", 1);
    setenv("PATH", "/nonexistent", 1);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(rd_plan_run(plan, NULL, NULL), RD_OK);
        rd_tier_wait();
    }
    rd_tier_hurry(false);
    rd_plan_free(plan);
    ck_assert_int_eq(rd_tier_stats_now().compiled, before + 1);
}

/* A program may call setenv() where it has one thread: ours has a copy, made with the plan. */
START_TEST(environment_of_the_plan)
{
    static float x[100000];
    char         base[BASE], path[4096];

    make_base(base);
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    run_in_another_environment(
        rd_exp(rd_mul(rd_wrap(ctx, x, RD_SHAPE(100, 1000)), rd_num(ctx, 0.7))));
    setenv("PATH", path, 1);
    remove_base(base);
}
END_TEST

/* Variables that change what compilers make of a text do not reach them. */
START_TEST(environment_of_the_compiler)
{
    static const char *const hidden[] = {
        "CPATH",           "C_INCLUDE_PATH",    "GCC_EXEC_PREFIX",
        "CPLUS",           "GCC_COMPARE_DEBUG", "CCC_OVERRIDE_OPTIONS",
        "LD_PRELOAD_LATER"
    };
    char  base[BASE], path[BASE + 40], line[8192];
    FILE *file;
    int   shown = 0;

    make_base(base);
    snprintf(line, sizeof line, "env > %s/seen\nexec cc \"$@\"", base);
    set_script(base, line);
    for (int k = 0; k < (int)(sizeof hidden / sizeof *hidden); k++)
        setenv(hidden[k], "/nonexistent/", 1);
    ck_assert_int_eq(stats_of("sync").compiled, isa_count() - 1);
    snprintf(path, sizeof path, "%s/seen", base);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        for (int k = 0; k < (int)(sizeof hidden / sizeof *hidden); k++)
            ck_assert_msg(!strstr(line, hidden[k]), "%s", line);
        shown += strncmp(line, "PATH=", 5) == 0 || strcmp(line, "LC_ALL=C\n") == 0;
    }
    ck_assert_int_eq(shown, 2);
    fclose(file);
    remove_base(base);
}
END_TEST

/* ---- In the middle of a run --------------------------------------------------------------------- */
/* Sums over pairs of points, or over all pairs, while nests are not there for the first so many
 * times that a run or one of its steps asks for one; how often it asked, of these. */
static int gaussian(float *y, const float *x, bool total, const char *mode, int without)
{
    rd_ctx      *own   = rd_ctx_new(NULL);
    rd_expr     *p     = rd_wrap(own, x, RD_SHAPE(POINTS, 3));
    rd_expr     *d     = rd_sub(rd_expand(p, 1), rd_expand(p, 0));
    rd_expr     *e     = rd_exp(rd_neg(rd_sum(rd_square(d), RD_DIMS(2))));
    rd_expr     *sum   = total ? rd_sum(e, RD_ALL) : rd_sum(e, RD_DIMS(1));
    rd_result    one[] = { { sum, total ? RD_INTO(y, RD_SCALAR) : RD_INTO(y, RD_SHAPE(POINTS)) } };
    rd_status    status;
    int          asked;
    rd_eval_opts opts = { .size = sizeof opts, .threads = 1 };

    rd_tier_force(mode);
    rd_cpu_hold_nests(without);
    status = rd_eval_many(own, (rd_results){ one, 1 }, &opts);
    ck_assert_msg(status == RD_OK, "%s", rd_error_text(own));
    asked = without - rd_cpu_held();
    rd_cpu_hold_nests(0);
    rd_ctx_free(own);
    return asked;
}

/* A run that began without its nest goes on by it, with the same bits; not where steps hand
 * something on to each other. */
START_TEST(in_the_middle)
{
    enum { MANY = 1000 };
    static float x[POINTS * 3], want[POINTS], y[POINTS];
    int          asked;

    for (int i = 0; i < POINTS * 3; i++)
        x[i] = (float)(i * 7919 % 1000) * 1e-3F;
    gaussian(want, x, false, "off", 0);
    asked = gaussian(y, x, false, "sync", MANY);
    ck_assert_int_gt(asked, 3);
    ck_assert_mem_eq(y, want, sizeof y);
    for (int without = 1; without < asked; without += (asked + 3) / 4) {
        memset(y, 0, sizeof y);
        ck_assert_int_eq(gaussian(y, x, false, "sync", without), without);
        ck_assert_mem_eq(y, want, sizeof y);
    }
    gaussian(want, x, true, "off", 0);
    ck_assert_int_eq(gaussian(y, x, true, "sync", MANY), 1);
    ck_assert_mem_eq(y, want, sizeof *y);
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { modes, 0, 1 },
        { meanwhile, 0, 1 },
        { ends_or_forks_meanwhile, THREAD_SANITIZED ? 1 : 0, 2 },
        { finishes, THREAD_SANITIZED ? 1 : 0, 1 },
        { large_runs, 0, 1 },
        { plans_grow, 0, 1 },
        { plans_grow_at_once, 0, 1 },
        { goes_back, 0, 1 },
        { clang, 0, 1 },
        { no_compiler, 0, 2 },
        { hanging_compiler, 0, 1 },
        { environment_of_the_plan, 0, 1 },
        { environment_of_the_compiler, 0, 1 },
        { in_the_middle, 0, 1 },
    };

    return nest_suite("tier", begin, cases, COUNT(cases));
}
