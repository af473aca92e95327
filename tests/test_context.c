/* Contexts: settings, errors, memory and its limits, marks and releases, nodes found again. */
#include "expr/expr.h"
#include "suite.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static double data[64];

/* ---- Settings and errors --------------------------------------------------------------------- */
static void *never(void *user, int64_t bytes)
{
    (void)user;
    (void)bytes;
    return NULL;
}

static void nothing(void *user, void *p)
{
    (void)user;
    (void)p;
}

static const struct {
    const char *what;
    rd_ctx_opts opts;
    bool        made;
    const char *says; /* in the recorded sentence; "" for none */
} settings[] = {
    { "defaults", { 0 }, true, "" },
    { "sized", { .size = sizeof(rd_ctx_opts), .threads = 3 }, true, "" },
    { "one hook", { .allocate = never }, false, "" },
    { "the other hook", { .release = nothing }, false, "" },
    { "no memory", { .allocate = never, .release = nothing }, false, "" },
    { "too small", { .size = 4 }, true, "size is 4" },
    { "threads", { .threads = -2 }, true, "threads is -2" },
    { "limit", { .memory_limit = -5 }, true, "memory_limit is -5" },
};

START_TEST(context_settings)
{
    rd_ctx    *ctx   = rd_ctx_new(&settings[_i].opts);
    const bool wrong = settings[_i].says[0] != '\0';

    ck_assert_msg(!ctx == !settings[_i].made, "%s", settings[_i].what);
    if (ctx) {
        ck_assert_int_eq(rd_error(ctx), wrong ? RD_ERR_ARGUMENT : RD_OK);
        ck_assert(strstr(rd_error_text(ctx), settings[_i].says));
        ck_assert_int_eq(rd_ctx_threads(ctx),
                         settings[_i].opts.threads > 0 ? settings[_i].opts.threads : 0);
    }
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(no_context)
{
    ck_assert_int_eq(rd_error(NULL), RD_ERR_MEMORY);
    ck_assert(rd_error_text(NULL)[0]);
    ck_assert_uint_eq(rd_warnings(NULL), 0);
    rd_error_clear(NULL);
    rd_ctx_free(NULL);
    ck_assert_int_eq(rd_ctx_release(NULL, rd_ctx_mark(NULL)), RD_ERR_MEMORY);
    ck_assert_ptr_null(rd_num(NULL, 1));
    ck_assert_ptr_null(rd_int(NULL, 1));
    ck_assert_ptr_null(rd_leaf(NULL, RD_INTO(data, RD_SHAPE(2))));
    ck_assert_ptr_null(rd_input(NULL, "x", RD_INTO(data, RD_SHAPE(2))));
}
END_TEST

START_TEST(first_error_stays)
{
    rd_ctx *ctx = rd_ctx_new(NULL);

    ck_assert_int_eq(rd_error(ctx), RD_OK);
    ck_assert_str_eq(rd_error_text(ctx), "");
    ck_assert_ptr_null(rd_fail(ctx, RD_ERR_AXIS, "first %d", 1));
    ck_assert_ptr_null(rd_fail(ctx, RD_ERR_TYPE, "second %d", 2));
    ck_assert_int_eq(rd_fail_run(ctx, RD_ERR_CALLBACK, "third"), RD_ERR_CALLBACK);
    rd_warn(ctx, RD_WARN_INT_DIVIDE);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_AXIS);
    ck_assert_str_eq(rd_error_text(ctx), "first 1");
    ck_assert_uint_eq(rd_warnings(ctx), RD_WARN_INT_DIVIDE);
    rd_error_clear(ctx);
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    ck_assert_str_eq(rd_error_text(ctx), "");
    ck_assert_uint_eq(rd_warnings(ctx), 0);
    rd_fail(ctx, RD_ERR_TYPE, "second");
    ck_assert_str_eq(rd_error_text(ctx), "second");
    rd_ctx_free(ctx);
}
END_TEST

/* A sentence with something long in it ends in dots, after a whole character (here of two bytes, at
 * both phases). */
START_TEST(long_sentence_is_cut)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    char    text[10001];
    size_t  n;

    for (int k = 0; k < 5000; k++)
        memcpy(text + 2 * k, "\xc3\xa9", 2);
    text[10000] = '\0';
    rd_fail(ctx, RD_ERR_TEXT, "%s%s", _i ? "x" : "", text);
    n = strlen(rd_error_text(ctx));
    ck_assert(n > 2000 && n < 2048);
    ck_assert_str_eq(rd_error_text(ctx) + n - 5, "\xc3\xa9...");
    rd_ctx_free(ctx);
}
END_TEST

static const struct {
    const char *what;
    size_t      length, at; /* of a text of x with a Y at `at` */
} carets[] = {
    { "first", 10, 0 },         { "last", 10, 9 },      { "end", 10, 10 },
    { "empty", 0, 0 },          { "long", 5000, 4000 }, { "long, end", 5000, 5000 },
    { "long, start", 5000, 3 },
};

START_TEST(caret_is_under_its_character)
{
    rd_ctx     *ctx = rd_ctx_new(NULL);
    char        text[5001];
    const char *line, *mark;

    memset(text, 'x', sizeof text);
    text[carets[_i].length] = '\0';
    if (carets[_i].at < carets[_i].length)
        text[carets[_i].at] = 'Y';
    rd_fail_text(ctx, "rd_call", "no Y here", text, carets[_i].at);
    line = strchr(rd_error_text(ctx), '\n') + 1;
    mark = strchr(line, '\n') + 1;
    ck_assert_int_eq(rd_error(ctx), RD_ERR_TEXT);
    ck_assert(strlen(rd_error_text(ctx)) < 400);
    ck_assert_uint_eq(strspn(mark, " "), strlen(mark) - 1);
    ck_assert_int_eq(line[strlen(mark) - 1], carets[_i].at < carets[_i].length ? 'Y' : '\n');
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(every_status_has_a_name)
{
    ck_assert_str_eq(rd_status_name(RD_OK), "RD_OK");
    ck_assert_str_eq(rd_status_name(RD_ERR_LIMIT), "RD_ERR_LIMIT");
    ck_assert_str_eq(rd_status_name(RD_ERR_CONVERGENCE), "RD_ERR_CONVERGENCE");
    for (int s = -3; s < 20; s++)
        ck_assert(strncmp(rd_status_name((rd_status)s), "RD_", 3) == 0);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */
/* An allocator that counts what lives and fails at the call number `fail_at`. */
typedef struct ledger {
    int64_t calls, fail_at, live;
} ledger;

static void *ledger_allocate(void *user, int64_t bytes)
{
    ledger *l = user;

    if (l->calls++ == l->fail_at)
        return NULL;
    l->live++;
    return malloc((size_t)bytes);
}

static void ledger_release(void *user, void *p)
{
    ledger *l = user;

    l->live--;
    free(p);
}

/* A bit of everything that takes memory. */
static rd_expr *build(rd_ctx *ctx, double seed)
{
    rd_mark  mark = rd_ctx_mark(ctx);
    rd_expr *x    = rd_wrap(ctx, data, RD_SHAPE(4, 16)),
            *n    = rd_input(ctx, "n", RD_INTO(data, RD_SHAPE(16)));
    rd_expr *y    = rd_add(rd_slice(x, "::-1, 2:8"), rd_num(ctx, seed));

    for (int k = 0; k < 100; k++) /* enough for the table to grow */
        y = rd_add(y, rd_num(ctx, seed + k));
    y = rd_concat(0, RD_EXPRS(y, rd_cast(rd_slice(x, ":, :6"), RD_F32),
                              rd_reshape(rd_slice(n, ":6"), RD_SHAPE(1, 6))));
    y = rd_sum(rd_take(y, 1, rd_coord(n, 0)), RD_DIMS(1));
    if (rd_ctx_mark(ctx).serial == 0 || mark.serial == 0)
        return NULL;
    return y;
}

START_TEST(any_allocation_may_fail)
{
    int n = 0;

    for (bool failed = true; failed; n++) {
        ledger   l   = { .fail_at = n };
        rd_ctx  *ctx = rd_ctx_new(&(rd_ctx_opts){ .size     = sizeof(rd_ctx_opts),
                                                  .allocate = ledger_allocate,
                                                  .release  = ledger_release,
                                                  .user     = &l });
        rd_expr *y   = ctx ? build(ctx, 0.5) : NULL;

        failed    = l.calls > n;
        l.fail_at = -1;
        ck_assert_int_eq(rd_error(ctx), y ? RD_OK : RD_ERR_MEMORY);
        ck_assert(y || failed);
        if (ctx) { /* what failed once must work, and find what is there already */
            rd_error_clear(ctx);
            ck_assert_ptr_nonnull(build(ctx, 0.5));
            ck_assert(!y || build(ctx, 0.5) == y);
        }
        rd_ctx_free(ctx);
        ck_assert_int_eq(l.live, 0);
    }
    ck_assert_int_gt(n, 3);
}
END_TEST

START_TEST(memory_limit_holds)
{
    const int64_t limit = 100000;
    rd_ctx       *ctx   = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = limit });
    void         *p     = rd_alloc(ctx, 60000);

    ck_assert_ptr_nonnull(p);
    ck_assert_ptr_null(rd_alloc_quiet(ctx, 60000));
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    ck_assert_ptr_null(rd_realloc(ctx, p, 60000, 70000));
    ck_assert_int_eq(rd_error(ctx), RD_ERR_MEMORY);
    ck_assert(strstr(rd_error_text(ctx), "70000 bytes") &&
              strstr(rd_error_text(ctx), "memory_limit of 100000"));
    rd_error_clear(ctx);
    for (double k = 0; rd_num(ctx, k); k++)
        ck_assert(rd_memory_now(ctx) <= limit);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_MEMORY);
    ck_assert(rd_memory_peak(ctx) > 60000 && rd_memory_peak(ctx) <= limit);
    rd_free(ctx, p);
    rd_memory_reset_peak(ctx);
    ck_assert(rd_memory_peak(ctx) == rd_memory_now(ctx) && rd_memory_now(ctx) < 40000);
    ck_assert_ptr_null(rd_alloc_quiet(ctx, -1));
    ck_assert_ptr_null(rd_alloc_quiet(ctx, INT64_MAX));
    rd_ctx_free(ctx);
}
END_TEST

static void *worker(void *arg)
{
    rd_ctx *ctx = arg;

    for (int k = 1; k <= 2000; k++) {
        char *p = rd_alloc_quiet(ctx, k);
        if (p) {
            ck_assert_int_eq(p[0] | p[k - 1], 0);
            memset(p, 1, (size_t)k);
        }
        rd_free(ctx, p);
        if (k % 500 == 0)
            rd_fail_run(ctx, RD_ERR_CALLBACK, "a sentence of one thread");
        rd_warn(ctx, RD_WARN_INT_DIVIDE);
    }
    return NULL;
}

START_TEST(any_thread_may_allocate_and_fail)
{
    rd_ctx   *ctx = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = 5000 });
    pthread_t thread[4];

    for (int t = 0; t < 4; t++)
        ck_assert_int_eq(pthread_create(&thread[t], NULL, worker, ctx), 0);
    for (int t = 0; t < 4; t++)
        pthread_join(thread[t], NULL);
    ck_assert_int_eq(rd_memory_now(ctx), 0);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_CALLBACK);
    ck_assert_str_eq(rd_error_text(ctx), "a sentence of one thread");
    ck_assert_uint_eq(rd_warnings(ctx), RD_WARN_INT_DIVIDE);
    rd_ctx_free(ctx);
}
END_TEST

/* ---- Nodes and marks ------------------------------------------------------------------------- */
START_TEST(equal_nodes_are_one)
{
    rd_ctx  *ctx = rd_ctx_new(NULL);
    rd_expr *x   = rd_wrap(ctx, data, RD_SHAPE(4, 5));

    ck_assert_ptr_eq(x, rd_wrap(ctx, data, RD_SHAPE(4, 5), .strides = RD_STRIDES(5, 1)));
    ck_assert_ptr_ne(x, rd_wrap(ctx, data, RD_SHAPE(5, 4)));
    ck_assert_ptr_ne(x, rd_wrap(ctx, data, RD_SHAPE(4, 5), .order = 1));
    ck_assert_ptr_ne(x, rd_wrap(ctx, data + 1, RD_SHAPE(4, 5)));
    ck_assert_ptr_eq(rd_num(ctx, NAN), rd_num(ctx, NAN));
    ck_assert_ptr_ne(rd_num(ctx, 0.0), rd_num(ctx, -0.0));
    ck_assert_ptr_ne(rd_num(ctx, 1), rd_int(ctx, 1));
    ck_assert_ptr_eq(rd_coord(x, 1), rd_coord(x, -1));
    ck_assert_ptr_eq(rd_slice(x, "1:3, 2"), rd_select(rd_slice_axis(x, 0, 1, 3, 1), 1, 2));
    ck_assert_ptr_eq(rd_add(rd_exp(x), x), rd_add(rd_exp(x), x));
    ck_assert_ptr_eq(rd_reshape(x, RD_SHAPE(20)),
                     rd_reshape(rd_reshape(x, RD_SHAPE(2, 10)), RD_SHAPE(-1)));
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    rd_ctx_free(ctx);
}
END_TEST

/* Many nodes, half of them released: the others are found again, those made anew. */
START_TEST(table_grows_and_forgets)
{
    enum { N = 5000 };
    rd_ctx         *ctx = rd_ctx_new(NULL);
    static rd_expr *kept[N];
    rd_mark         mark;

    for (int k = 0; k < N; k++)
        kept[k] = rd_int(ctx, k);
    mark = rd_ctx_mark(ctx);
    for (int turn = 0; turn < 3; turn++) {
        for (int k = N; k < 3 * N; k++)
            /* as if made for the first time */
            ck_assert_uint_eq(rd_int(ctx, k)->serial, (uint32_t)k + 1);
        for (int k = 0; k < N; k++)
            ck_assert_ptr_eq(rd_int(ctx, k), kept[k]);
        ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
    }
    ck_assert_ptr_eq(rd_int(ctx, N - 1), kept[N - 1]);
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(strings_are_interned)
{
    rd_ctx     *ctx = rd_ctx_new(NULL);
    const char *a   = rd_intern(ctx, "abc", 4);
    rd_mark     mark;

    ck_assert_str_eq(a, "abc");
    ck_assert_ptr_eq(rd_intern(ctx, "abc", 4), a);
    ck_assert_ptr_ne(rd_intern(ctx, "abc", 3), a);
    ck_assert_ptr_eq(rd_intern(ctx, "", 0), rd_intern(ctx, "x", 0));
    mark = rd_ctx_mark(ctx);
    ck_assert_str_eq(rd_intern(ctx, "later", 6), "later");
    ck_assert_str_eq(rd_arena_text(ctx, "text"), "text");
    ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
    ck_assert_ptr_eq(rd_intern(ctx, "abc", 4), a);
    ck_assert_str_eq(rd_intern(ctx, "later", 6), "later");
    rd_ctx_free(ctx);
}
END_TEST

/* Marks a, b, c are made in this order with nodes between; then the letters are released. */
static const struct {
    const char *releases;
    const char *good; /* one digit each: 1 RD_OK, 0 RD_ERR_ARGUMENT */
} orders[] = {
    { "a", "1" },   { "aaa", "111" }, { "cba", "111" }, { "ab", "10" },         { "ac", "10" },
    { "bc", "10" }, { "bab", "110" }, { "ca", "11" },   { "cbcaba", "110101" },
};

START_TEST(mark_order)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    rd_mark mark[3];

    for (int k = 0; k < 3; k++) {
        rd_num(ctx, k);
        mark[k] = rd_ctx_mark(ctx);
    }
    for (int k = 0; orders[_i].releases[k]; k++) {
        const rd_status want = orders[_i].good[k] == '1' ? RD_OK : RD_ERR_ARGUMENT;
        rd_num(ctx, 100 + k);
        ck_assert_int_eq(rd_ctx_release(ctx, mark[orders[_i].releases[k] - 'a']), want);
        ck_assert_int_eq(rd_error(ctx), want);
        ck_assert(want == RD_OK || strstr(rd_error_text(ctx), "rd_ctx_release"));
        rd_error_clear(ctx);
    }
    rd_ctx_free(ctx);
}
END_TEST

START_TEST(marks_at_one_place_are_two)
{
    rd_ctx *ctx = rd_ctx_new(NULL), *other = rd_ctx_new(NULL);
    rd_mark outer = rd_ctx_mark(ctx), inner = rd_ctx_mark(ctx);

    ck_assert_int_eq(rd_ctx_release(ctx, outer), RD_OK);
    ck_assert_int_eq(rd_ctx_release(ctx, inner), RD_ERR_ARGUMENT);
    ck_assert_int_eq(rd_ctx_release(ctx, (rd_mark){ 0, 0 }), RD_ERR_ARGUMENT);
    ck_assert_int_eq(rd_ctx_release(ctx, (rd_mark){ UINT64_MAX, 1 }), RD_ERR_ARGUMENT);
    ck_assert_int_eq(rd_ctx_release(other, outer), RD_ERR_ARGUMENT);
    ck_assert(strstr(rd_error_text(other), "rd_ctx_release: mark"));
    rd_ctx_free(ctx);
    rd_ctx_free(other);
}
END_TEST

/* Of contexts that are alike in all else; and one that is freed, and another in its place. */
START_TEST(marks_are_one_contexts)
{
    rd_ctx  *ctx = rd_ctx_new(NULL), *other = rd_ctx_new(NULL);
    rd_mark  mine = rd_ctx_mark(ctx), theirs = rd_ctx_mark(other);
    rd_expr *x = rd_num(ctx, 1);

    ck_assert_int_eq(rd_ctx_release(ctx, theirs), RD_ERR_ARGUMENT);
    ck_assert(strstr(rd_error_text(ctx), "is not a mark of this context"));
    rd_error_clear(ctx);
    ck_assert_ptr_eq(rd_num(ctx, 1), x);
    ck_assert_int_eq(rd_ctx_release(ctx, mine), RD_OK);
    rd_ctx_free(other);
    other = rd_ctx_new(NULL);
    rd_ctx_mark(other);
    ck_assert_int_eq(rd_ctx_release(other, theirs), RD_ERR_ARGUMENT);
    rd_ctx_free(ctx);
    rd_ctx_free(other);
}
END_TEST

START_TEST(marks_nest_deeply)
{
    enum { N = 100 };
    rd_ctx  *ctx = rd_ctx_new(NULL);
    rd_mark  mark[N];
    rd_expr *made[N];

    for (int k = 0; k < N; k++) {
        mark[k] = rd_ctx_mark(ctx);
        made[k] = rd_num(ctx, k);
    }
    for (int k = N - 1; k >= 0; k--) {
        ck_assert_ptr_eq(rd_num(ctx, k), made[k]);
        ck_assert_int_eq(rd_ctx_release(ctx, mark[k]), RD_OK);
    }
    rd_ctx_free(ctx);
}
END_TEST

/* A release gives back what was taken, however often: the loop of the manual. */
START_TEST(loops_do_not_grow)
{
    rd_ctx  *ctx   = rd_ctx_new(NULL);
    rd_expr *x     = rd_wrap(ctx, data, RD_SHAPE(64));
    int64_t  first = 0;

    for (int turn = 0; turn < 1000; turn++) {
        rd_mark outer = rd_ctx_mark(ctx);
        for (int k = 0; k < 3; k++) {
            rd_mark  inner = rd_ctx_mark(ctx);
            rd_expr *y     = rd_exp(rd_add(x, rd_num(ctx, turn + k)));
            ck_assert_ptr_nonnull(rd_arena(ctx, (size_t)(turn % 10 * 5000)));
            ck_assert(y && rd_type_of(y) == RD_F64);
            ck_assert_int_eq(rd_ctx_release(ctx, inner), RD_OK);
        }
        ck_assert_ptr_nonnull(rd_input(ctx, "turn", RD_INTO(data, RD_SHAPE(turn))));
        ck_assert_int_eq(rd_ctx_release(ctx, outer), RD_OK);
        first = turn == 10 ? rd_memory_now(ctx) : first;
        ck_assert(turn < 10 || rd_memory_now(ctx) == first);
    }
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    rd_ctx_free(ctx);
}
END_TEST

/* ---- Clones ---------------------------------------------------------------------------------- */
RD_REDUCER(clone_sum, double, double, 1, (double s;), (s->s = 0;), (s->s += x;), (a->s += b->s;),
           (y[0] = s->s;))
RD_FN2_BODY(clone_fn, a, b, y, (for (y = a; y > b; y -= 1){}))

/* Nodes with texts and reducers of their own, cloned there and back between releases, as who keeps few
 * of many does: bits stay, memory too. */
START_TEST(clones_outlive_a_release)
{
    rd_ctx       *ctx = rd_ctx_new(NULL), *aside = rd_ctx_new(NULL);
    const rd_mark mark = rd_ctx_mark(ctx), none = rd_ctx_mark(aside);
    int64_t       held = 0;
    double        first[4], again[4];

    for (int k = 0; k < 64; k++)
        data[k] = k % 7;
    rd_expr *x = rd_label(rd_wrap(ctx, data, RD_SHAPE(4, 16)), "x");
    rd_expr *y = rd_add(rd_reduce(rd_map2(x, rd_num(ctx, 2), clone_fn), clone_sum, RD_DIMS(1)),
                        rd_median(rd_cast(x, RD_F32), RD_DIMS(1)));
    ck_assert_int_eq(rd_eval(ctx, y, RD_INTO(first, RD_SHAPE(4))), RD_OK);
    for (int turn = 0; turn < 100; turn++) {
        for (int k = 0; k < 50; k++)
            ck_assert_ptr_nonnull(rd_exp(rd_add(y, rd_num(ctx, turn + k))));
        rd_expr *const kept = rd_clone(aside, y);
        ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
        y = rd_clone(ctx, kept);
        ck_assert_int_eq(rd_ctx_release(aside, none), RD_OK);
        ck_assert_int_eq(rd_ctx_nodes(aside), 0);
        ck_assert_int_gt(rd_ctx_nodes(ctx), 5);
        ck_assert_ptr_eq(rd_clone(ctx, y), y);
        ck_assert_int_eq(rd_eval(ctx, y, RD_INTO(again, RD_SHAPE(4))), RD_OK);
        ck_assert_mem_eq(first, again, sizeof first);
        held = turn == 10 ? rd_memory_now(ctx) : held;
        ck_assert(turn < 10 || rd_memory_now(ctx) == held);
    }
    ck_assert(strstr(rd_graphviz(ctx, RD_RESULTS({ y, NULL })), "clone_sum"));
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    ck_assert_int_eq(rd_error(aside), RD_OK);
    rd_ctx_free(ctx);
    rd_ctx_free(aside);
}
END_TEST

/* Patterns stay in the context that made them, with what is known of them. */
START_TEST(clones_of_sparse_arrays)
{
    enum { N = 3000, EACH = 40 };
    rd_ctx        *ctx = rd_ctx_new(NULL), *other = rd_ctx_new(NULL);
    static int32_t pos[N + 1], crd[N * EACH];
    static double  value[N * EACH], sums[2][N];

    for (int k = 0; k < N * EACH; k++) {
        pos[k / EACH + 1] = k + 1;
        crd[k]            = k % EACH * (N / EACH);
        value[k]          = 1. / (1 + k);
    }
    rd_expr *a =
        rd_csr(ctx, RD_SHAPE(N, N), rd_wrap(ctx, pos, RD_SHAPE(N + 1)),
               rd_wrap(ctx, crd, RD_SHAPE(N * EACH)), rd_wrap(ctx, value, RD_SHAPE(N * EACH)));
    rd_expr *b = rd_clone(other, a);
    ck_assert(rd_is_sparse(b));
    for (int axis = 0; axis < 2; axis++) {
        ck_assert_int_eq(
            rd_eval(ctx, rd_sum(rd_exp(a), RD_DIMS(axis)), RD_INTO(sums[0], RD_SHAPE(N))), RD_OK);
        ck_assert_int_eq(
            rd_eval(other, rd_sum(rd_exp(b), RD_DIMS(axis)), RD_INTO(sums[1], RD_SHAPE(N))), RD_OK);
        ck_assert_mem_eq(sums[0], sums[1], sizeof sums[0]);
    }
    ck_assert_ptr_nonnull(rd_matmul(b, b));
    ck_assert_ptr_nonnull(rd_clone(ctx, rd_matmul(b, b)));
    rd_ctx_free(other);
    rd_ctx_free(ctx);
}
END_TEST

/* What cannot be cloned is said where the clone was wanted. */
START_TEST(clones_that_fail)
{
    rd_ctx  *ctx = rd_ctx_new(NULL), *other = rd_ctx_new(NULL);
    rd_expr *in = rd_input(ctx, "in", RD_INTO(data, RD_SHAPE(8)));

    ck_assert_ptr_null(rd_clone(NULL, in));
    ck_assert_ptr_null(rd_clone(other, NULL));
    ck_assert_int_eq(rd_error(other), RD_OK);
    ck_assert_ptr_nonnull(rd_clone(other, in));
    ck_assert_ptr_eq(rd_clone(other, in), rd_clone(other, in));
    ck_assert_ptr_nonnull(rd_input(other, "out", RD_INTO(data, RD_SHAPE(8))));
    ck_assert_ptr_null(rd_clone(other, rd_input(ctx, "out", RD_INTO(data, RD_SHAPE(9)))));
    ck_assert(strstr(rd_error_text(other), "\"out\" is f64, shape (8)"));
    ck_assert_int_eq(rd_error(ctx), RD_OK);
    rd_ctx_free(other);
    rd_ctx_free(ctx);
}
END_TEST

/* What was released is told from what is here: as an operand, as a result, of several calls, and in
 * debug builds also when much has been built since.  The address sanitizer says so in its own
 * way. */
#if !defined(__SANITIZE_ADDRESS__)
static void ck_gone(rd_ctx *ctx, const void *got, const char *call)
{
    ck_assert_ptr_null(got);
    ck_assert_int_eq(rd_error(ctx), RD_ERR_ARGUMENT);
    ck_assert_msg(strstr(rd_error_text(ctx), call) == rd_error_text(ctx) &&
                      strstr(rd_error_text(ctx), "rd_ctx_release() has released it"),
                  "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
}

START_TEST(released_nodes_are_known)
{
    rd_ctx          *ctx  = rd_ctx_new(NULL);
    rd_expr         *x    = rd_wrap(ctx, data, RD_SHAPE(4, 16)), *y;
    rd_mark          mark = rd_ctx_mark(ctx);
    double           out[4];
    rd_array *const  into = RD_INTO(out, RD_SHAPE(4));
    const rd_exprs   none = { 0 };
    const rd_results one  = { &(rd_result){ rd_sum(rd_exp(x), RD_DIMS(1)), into }, 1 };
    y                     = one.at->expr;

    ck_assert_int_eq(rd_eval(ctx, y, into), RD_OK); /* its plan is kept */
    ck_assert_int_eq(rd_ctx_release(ctx, mark), RD_OK);
    for (int turn = 0; turn < 2; turn++) {
        ck_assert_int_eq(rd_eval(ctx, y, into), RD_ERR_ARGUMENT);
        ck_gone(ctx, NULL, "rd_eval: result 0 is gone");
        ck_assert(isnan(rd_at(ctx, y, RD_INDEX(1))));
        ck_gone(ctx, NULL, "rd_at: expression 0 is gone");
        ck_gone(ctx, rd_plan_new(ctx, none, one, NULL), "rd_plan_new: result 0 is gone");
        ck_gone(ctx, rd_explain(ctx, one, NULL), "rd_explain: result 0 is gone");
        ck_gone(ctx, rd_graphviz(ctx, one), "rd_graphviz: result 0 is gone");
        ck_gone(ctx, rd_add(rd_num(ctx, 1), y), "rd_add: operand 1 is gone");
        ck_gone(ctx, rd_exp(y), "rd_exp: operand 0 is gone");
        ck_gone(ctx, rd_sum(y, RD_ALL), "rd_sum: operand 0 is gone");
        ck_gone(ctx, rd_mean(x, RD_ALL, .weights = y), "rd_mean: operand 1 is gone");
        ck_gone(ctx, rd_flip(y, RD_ALL), "rd_flip: operand 0 is gone");
        ck_gone(ctx, rd_broadcast(y, RD_SHAPE(2, 4)), "rd_broadcast: operand 0 is gone");
        ck_gone(ctx, rd_reshape(y, RD_SHAPE(2, 2)), "rd_reshape: operand 0 is gone");
        ck_gone(ctx, rd_cast(y, RD_I8), "rd_cast: operand 0 is gone");
        ck_gone(ctx, rd_coord(y, 0), "rd_coord: operand 0 is gone");
        ck_gone(ctx, rd_map(y, sin), "rd_map: operand 0 is gone");
        ck_gone(ctx, rd_map(y, "x + 1"), "rd_map: operand 0 is gone");
#if !defined(RD_CHECK) || !RD_CHECK
        break; /* its memory may be used again */
#endif
        for (int k = 0; k < 300; k++)
            rd_num(ctx, k);
        rd_ctx_release(ctx, mark);
    }
    ck_assert_int_eq(rd_eval(ctx, rd_sum(rd_exp(x), RD_DIMS(1)), into), RD_OK);
    rd_ctx_free(ctx);
}
END_TEST
#endif

#if defined(__SANITIZE_ADDRESS__)
int __asan_address_is_poisoned(const volatile void *address);

START_TEST(released_nodes_are_poisoned)
{
    rd_ctx  *ctx  = rd_ctx_new(NULL);
    rd_mark  mark = rd_ctx_mark(ctx);
    rd_expr *x    = rd_num(ctx, 1);

    ck_assert(!__asan_address_is_poisoned(x));
    rd_ctx_release(ctx, mark);
    ck_assert(__asan_address_is_poisoned(x));
    rd_ctx_free(ctx);
}
END_TEST
#endif

/* ---- Things freed last ----------------------------------------------------------------------- */
typedef struct thing {
    rd_owned link; /* first, so that drop finds the rest */
    char     letter;
    char    *dropped;
} thing;

static void drop(rd_owned *self)
{
    thing *t = (thing *)self;

    t->dropped[strlen(t->dropped)] = t->letter;
}

START_TEST(owned_things_go_last_in_first_out)
{
    rd_ctx *ctx        = rd_ctx_new(NULL);
    char    dropped[8] = "";
    thing   t[5];

    for (int k = 0; k < 5; k++) {
        t[k] = (thing){ .link = { .drop = drop }, .letter = (char)('a' + k), .dropped = dropped };
        rd_own(ctx, &t[k].link);
    }
    rd_disown(ctx, &t[4].link);
    rd_disown(ctx, &t[2].link);
    rd_disown(ctx, &t[2].link); /* twice is once */
    rd_disown(ctx, &t[0].link);
    rd_ctx_free(ctx);
    ck_assert_str_eq(dropped, "db");
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("context");
    TCase   *tc     = tcase_create("context");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(tc, context_settings, 0, COUNT(settings));
    tcase_add_test(tc, no_context);
    tcase_add_test(tc, first_error_stays);
    tcase_add_loop_test(tc, long_sentence_is_cut, 0, 2);
    tcase_add_loop_test(tc, caret_is_under_its_character, 0, COUNT(carets));
    tcase_add_test(tc, every_status_has_a_name);
    tcase_add_test(tc, any_allocation_may_fail);
    tcase_add_test(tc, memory_limit_holds);
    tcase_add_test(tc, any_thread_may_allocate_and_fail);
    tcase_add_test(tc, equal_nodes_are_one);
    tcase_add_test(tc, table_grows_and_forgets);
    tcase_add_test(tc, strings_are_interned);
    tcase_add_loop_test(tc, mark_order, 0, COUNT(orders));
    tcase_add_test(tc, marks_at_one_place_are_two);
    tcase_add_test(tc, marks_are_one_contexts);
    tcase_add_test(tc, marks_nest_deeply);
    tcase_add_test(tc, loops_do_not_grow);
    tcase_add_test(tc, clones_outlive_a_release);
    tcase_add_test(tc, clones_of_sparse_arrays);
    tcase_add_test(tc, clones_that_fail);
#if defined(__SANITIZE_ADDRESS__)
    tcase_add_test(tc, released_nodes_are_poisoned);
#else
    tcase_add_test(tc, released_nodes_are_known);
#endif
    tcase_add_test(tc, owned_things_go_last_in_first_out);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
