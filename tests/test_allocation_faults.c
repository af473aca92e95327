/* test_allocation_faults.c - memory that fails at each allocation, once or from then on, while every
 * public constructor makes an expression and while that is evaluated, planned and explained.
 *
 * What must hold: no crash and no leak; RD_ERR_MEMORY with a sentence, or the result that there is with
 * memory; a context that works once the error is cleared.  RDIM_FAULTS is the most faults of a row and
 * way; "every" takes all of them. */
#include "eval/pool.h"
#include "expr/ctx.h"
#include "kernels/cpu/jit/tier.h"
#include "faulty_heap.h"
#include "suite.h"
#include <math.h>
#include <rdim.h>
#include <stdio.h>

/* ---- Expressions ----------------------------------------------------------------------------- */
static float         f[120];
static double        numbers[48];
static bool          bools[24];
static const int32_t labels[24] = { 0, 1, 2, 1 }, t_row[] = { 0, 0, 2, 3 },
                     t_column[] = { 1, 4, 0, 3 };
static const int64_t pos[] = { 0, 1, 2, 3, 4 }, col[] = { 0, 1, 2, 3 }, border[] = { 0, 2, 4 },
                     border5[] = { 0, 5 };
static const bool     pair[]   = { true, false, true, true };
static const rd_array layout   = { .in = f, .type = RD_F32, .shape = { .n = 2, .at = { 4, 5 } } },
                      complex_layout = { .in    = numbers,
                                         .type  = RD_C128,
                                         .shape = { .n = 2, .at = { 4, 5 } } };

RD_FN2(fn2, a, c, (a + 1) * c)
RD_FN1_BODY(fnb, a, q, (q = a; for (int k = 0; k < 3; k++) q = q * 2;))
RD_REDUCER(red, double, double, 1, (double s;), (s->s = 0;), (s->s += x;), (a->s += b->s;),
           (y[0] = s->s;))
RD_REDUCER2(red2, double, double, double, 1, (double s;), (s->s = 0;), (s->s += x * w;),
            (a->s += b->s;), (y[0] = s->s;))

static rd_expr *near_rows, *near_columns;

static double plus_one(double v)
{
    return v + 1;
}

typedef struct leaves {
    rd_expr *x, *y, *w, *z, *m, *i, *row, *s, *t;
} leaves;

static leaves make_leaves(rd_ctx *ctx)
{
    leaves l = { .x   = rd_wrap(ctx, f, RD_SHAPE(4, 5)),
                 .y   = rd_wrap(ctx, f + 20, RD_SHAPE(4, 5)),
                 .w   = rd_wrap(ctx, f + 60, RD_SHAPE(4, 5)),
                 .z   = rd_leaf(ctx, &complex_layout),
                 .m   = rd_wrap(ctx, bools, RD_SHAPE(4, 5)),
                 .i   = rd_wrap(ctx, labels, RD_SHAPE(4)),
                 .row = rd_wrap(ctx, f + 50, RD_SHAPE(5)) };

    l.s = rd_csr(ctx, RD_SHAPE(4, 5), rd_wrap(ctx, pos, RD_SHAPE(5)),
                 rd_wrap(ctx, col, RD_SHAPE(4)), rd_wrap(ctx, f + 80, RD_SHAPE(4)));
    l.t = rd_coo(ctx, RD_SHAPE(4, 5), rd_wrap(ctx, t_row, RD_SHAPE(4)),
                 rd_wrap(ctx, t_column, RD_SHAPE(4)), rd_wrap(ctx, f + 90, RD_SHAPE(4)));
    return l;
}

#define LEAVES                                                                                   \
    rd_expr *const x = l->x, *const y = l->y, *const w = l->w, *const z = l->z, *const m = l->m, \
                   *const i = l->i, *const row = l->row, *const s = l->s, *const t = l->t;       \
    (void)x, (void)y, (void)w, (void)z, (void)m, (void)i, (void)row, (void)s, (void)t, (void)ctx

static rd_expr *made_of_row(rd_ctx *ctx, const leaves *l, int which)
{
    LEAVES;
    switch (which) {
#define ROW(...)      \
    case __COUNTER__: \
        return __VA_ARGS__;
#include "constructors.def"
#undef ROW
    default: return NULL;
    }
}
enum { ROWS = __COUNTER__ };

static const char *const row_text[] = {
#define ROW(...) #__VA_ARGS__,
#include "constructors.def"
};

/* Operators of one and two operands, of the reals x and y, or of ints. */
typedef struct op_row {
    const char *name;
    int         arity;
    rd_expr *(*one)(rd_expr *);
    rd_expr *(*two)(rd_expr *, rd_expr *);
} op_row;

/* Not declared by the public header, but a row as the others. */
rd_expr *rd_fmod(rd_expr *x, rd_expr *y);
rd_expr *rd_pow_half(rd_expr *x, rd_expr *y);

#define OP_1(name) { "rd_" #name, 1, rd_##name, NULL },
#define OP_2(name) { "rd_" #name, 2, NULL, rd_##name },
#define OP_3(name)
static const op_row ops[] = {
#define RD_OP(name, arity, ...)   OP_##arity(name)
#define RD_TEST(name, arity, ...) OP_##arity(name)
#include "core/ops.def"
};

static bool takes_ints(const char *name)
{
    return strstr(name, "bit") || strstr(name, "shift") || strstr(name, "gcd") ||
           strstr(name, "lcm") || strstr(name, "popcount");
}

static rd_expr *make(rd_ctx *ctx, const leaves *l, int which)
{
    if (which < ROWS)
        return made_of_row(ctx, l, which);
    const op_row  *op = &ops[which - ROWS];
    rd_expr *const a  = takes_ints(op->name) ? l->i : l->x, *const b =
                                                               takes_ints(op->name) ? l->i : l->y;

    return op->arity == 1 ? op->one(a) : op->two(a, b);
}

static const char *text_of(int which)
{
    return which < ROWS ? row_text[which] : ops[which - ROWS].name;
}

/* ---- Ways to use them ------------------------------------------------------------------------ */
enum { MOST_BYTES = 1 << 14 };

typedef struct outcome {
    rd_status     status;
    size_t        bytes;
    unsigned char result[MOST_BYTES];
} outcome;

static void keep_result(const rd_array *out, outcome *o)
{
    size_t bytes = (size_t)rd_dtype_size(out->type);

    for (int a = 0; a < out->shape.n; a++)
        bytes *= (size_t)out->shape.at[a];
    o->bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
    memcpy(o->result, out->data, o->bytes);
}

static void by_eval(rd_ctx *ctx, rd_expr *e, outcome *o)
{
    rd_array out = { 0 };

    if (rd_eval(ctx, e, &out) == RD_OK)
        keep_result(&out, o);
    rd_array_free(&out);
}

/* Together with another row, RDIM_FAULTS_SEED rows on, on two threads. */
static void by_many(rd_ctx *ctx, rd_expr *e, rd_expr *other, outcome *o)
{
    rd_array           out[2] = { 0 };
    const rd_eval_opts opts   = { .size = sizeof opts, .threads = 2 };

    if (rd_eval_many(ctx, RD_RESULTS({ e, &out[0] }, { other, &out[1] }), &opts) == RD_OK)
        keep_result(&out[1], o);
    rd_array_free(&out[0]);
    rd_array_free(&out[1]);
}

static void by_text(rd_ctx *ctx, rd_expr *e, outcome *o)
{
    (void)o;
    (void)rd_explain(ctx, RD_RESULTS({ e, NULL }), NULL);
    (void)rd_explain_svg(ctx, RD_RESULTS({ e, NULL }), NULL);
    (void)rd_graphviz(ctx, RD_RESULTS({ e, NULL }));
}

static void by_plan(rd_ctx *ctx, rd_expr *e, outcome *o)
{
    static double  room[MOST_BYTES / 8];
    rd_array       out = { .data = room, .type = rd_type_of(e), .shape = rd_shape_of(e) };
    rd_plan *const p   = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ e, &out }), NULL);

    if (p && rd_plan_run(p, NULL, NULL) == RD_OK)
        keep_result(&out, o);
    rd_plan_free(p);
}

/* Picks, sparse results, elements: what asks for memory of its own. */
static void by_others(rd_ctx *ctx, rd_expr *e, outcome *o)
{
    rd_array        a = { 0 }, b = { 0 }, c = { 0 };
    rd_sparse_array sparse = { 0 };

    (void)o;
    if (rd_is_sparse(e))
        rd_eval_sparse(ctx, e, &sparse);
    else if (!e || rd_shape_of(e).n == 0)
        (void)rd_at(ctx, e, (rd_index){ 0 });
    else {
        rd_expr *const mask = rd_cast(e, RD_BOOL);

        rd_nonzero(ctx, mask, &a);
        rd_compress(ctx, e, mask, &b);
        (void)rd_find_first(ctx, mask);
        if (rd_type_of(e) != RD_C64 && rd_type_of(e) != RD_C128)
            rd_unique(ctx, e, &c, NULL, NULL);
    }
    rd_sparse_array_free(&sparse);
    rd_array_free(&a);
    rd_array_free(&b);
    rd_array_free(&c);
}

/* In a second context, whose memory is as faulty. */
static void by_clone(rd_ctx *ctx, rd_expr *e, outcome *o)
{
    rd_ctx *const other = rd_ctx_new(&ctx->opts);

    if (!other)
        rd_fail(ctx, RD_ERR_MEMORY, "by_clone: no memory for a context");
    else if (rd_error(ctx) == RD_OK)
        by_eval(other, rd_clone(other, e), o);
    if (rd_error(other) != RD_OK && rd_error(ctx) == RD_OK)
        rd_fail(ctx, rd_error(other), "%s", rd_error_text(other));
    rd_ctx_free(other);
}

static const struct {
    const char *what;
    void (*use)(rd_ctx *ctx, rd_expr *e, outcome *o);
} ways[] = {
    { "rd_eval", by_eval },  { "texts", by_text },    { "a plan", by_plan },
    { "others", by_others }, { "a clone", by_clone }, { "rd_eval_many", NULL },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* A context works: this sum is right. */
static void still_works(rd_ctx *ctx, const char *what)
{
    double want = 0, got = 0;

    for (int k = 0; k < 20; k++)
        want += (double)f[k];
    rd_error_clear(ctx);
    rd_eval(ctx, rd_sum(rd_cast(rd_wrap(ctx, f, RD_SHAPE(20)), RD_F64), RD_ALL),
            RD_INTO(&got, RD_SCALAR));
    ck_assert_msg(rd_error(ctx) == RD_OK && got == want, "%s: afterwards %s, %g", what,
                  rd_error_text(ctx), got);
}

enum { CALLS = ROWS + (int)(sizeof ops / sizeof *ops) };

static int faults_seed(void)
{
    const char *asked = getenv("RDIM_FAULTS_SEED");

    return asked ? atoi(asked) : 0;
}

/* One run whose k-th allocation, counted once leaves are there, fails; how many there were. */
static long long run(int which, int way, long long k, bool lasting, outcome *o)
{
    faulty_heap h = { .fail_at = -1 };
    char        what[300];
    rd_ctx     *ctx  = faulty_heap_ctx(&h, 0);
    leaves      l    = make_leaves(ctx);
    long long   base = atomic_load(&h.calls);

    snprintf(what, sizeof what, "%.200s by %s, allocation %lld fails%s", text_of(which),
             ways[way].what, k, lasting ? ", and all that follow" : "");
    ck_assert_msg(rd_error(ctx) == RD_OK, "%s", rd_error_text(ctx));
    h.fail_at  = k < 0 ? -1 : base + k;
    h.lasting  = lasting;
    o->bytes   = 0;
    rd_expr *e = make(ctx, &l, which);
    if (e && ways[way].use)
        ways[way].use(ctx, e, o);
    else if (e) {
        rd_expr *const other = make(ctx, &l, (which + 1 + faults_seed()) % CALLS);

        if (other)
            by_many(ctx, e, other, o);
    }
    o->status = rd_error(ctx);
    ck_assert_msg(e || o->status != RD_OK, "%s: NULL, and no error", what);
    if (o->status == RD_ERR_MEMORY)
        ck_assert_msg(strlen(rd_error_text(ctx)) > 10, "%s: no sentence", what);
    base      = atomic_load(&h.calls) - base;
    h.fail_at = -1;
    still_works(ctx, what);
    rd_ctx_free(ctx);
    ck_assert_msg(atomic_load(&h.live) == 0, "%s: %lld pieces of memory leak", what,
                  (long long)atomic_load(&h.live));
    return base;
}

static void begin(void)
{
    for (int k = 0; k < 120; k++)
        f[k] = (float)(k % 7) - 2;
    for (int k = 0; k < 48; k++)
        numbers[k] = (double)(k % 5) / 4;
    for (int k = 0; k < 24; k++)
        bools[k] = k % 3 != 0;
    rd_arena_chunks_of(0);
    rd_pool_pieces_apart();
    rd_tier_force("off");
}

static long long most_faults(void)
{
    const char *asked = getenv("RDIM_FAULTS");

    return !asked ? (SANITIZED ? 3 : 6) : strcmp(asked, "every") == 0 ? 1LL << 40 : atoll(asked);
}

static long long faults;

static void inject(int which, int way, bool lasting, const outcome *want, long long allocations)
{
    const long long most = most_faults(), step = allocations > most ? allocations / most : 1;
    static outcome  o;

    /* Rows begin elsewhere, so that all of them together meet early and late places alike. */
    for (long long k = step > 1 ? (which * 7 + way) % step : 0; k < allocations; k += step) {
        (void)run(which, way, k, lasting, &o);
        faults++;
        ck_assert_msg(o.status == RD_ERR_MEMORY || o.status == want->status,
                      "%s by %s, allocation %lld: %s", text_of(which), ways[way].what, k,
                      rd_status_name(o.status));
        ck_assert_msg(o.status != RD_OK ||
                          (o.bytes == want->bytes && memcmp(o.result, want->result, o.bytes) == 0),
                      "%s by %s, allocation %lld: another result", text_of(which), ways[way].what,
                      k);
    }
}

START_TEST(every_constructor)
{
    static outcome want;

    begin();
    /* Another seed changes one way alone, and one alone is of two threads. */
    for (int way = faults_seed() || THREAD_SANITIZED ? WAYS - 1 : 0; way < WAYS; way++) {
        const long long allocations = run(_i, way, -1, false, &want);

        inject(_i, way, false, &want, allocations);
        inject(_i, way, true, &want, allocations);
    }
    if (getenv("RDIM_FAULTS"))
        printf("%lld faults: %s\n", faults, text_of(_i));
}
END_TEST

/* Numbers that a constructor needs are nodes which the leaves of other rows have made already.  Here
 * there is nothing but x. */
static rd_expr *alone(rd_expr *x, int which)
{
    switch (which) {
    case 0: return rd_tril(x, -2);
    case 1: return rd_triu(x, 3);
    case 2: return rd_pad(x, 0, 1, 2, RD_PAD_CONSTANT, NULL);
    case 3: return rd_softmax(x, RD_DIMS(1));
    case 4: return rd_relu(x);
    case 5: return rd_diff(x, 1, 1);
    case 6: return rd_rolling_mean(x, 1, 3);
    case 7: return rd_first(x, RD_DIMS(0));
    case 8: return rd_var(x, RD_DIMS(0));
    default: return rd_median(x, RD_DIMS(0));
    }
}
enum { ALONE = 10 };

START_TEST(without_numbers_of_others)
{
    begin();
    for (long long k = 0, left = 1; left > 0; k++) {
        faulty_heap h   = { .fail_at = -1 };
        rd_ctx     *ctx = faulty_heap_ctx(&h, 0);
        rd_expr    *x   = rd_wrap(ctx, f, RD_SHAPE(4, 5));
        long long   old = atomic_load(&h.calls);

        h.fail_at        = old + k;
        rd_expr *const y = alone(x, _i);
        left             = atomic_load(&h.calls) - old - k;
        h.fail_at        = -1;
        ck_assert_msg(rd_error(ctx) == RD_ERR_MEMORY || (y && left <= 0), "%d, allocation %lld: %s",
                      _i, k, rd_error_text(ctx));
        rd_ctx_free(ctx);
        ck_assert(atomic_load(&h.live) == 0);
    }
}
END_TEST

/* ---- Texts ----------------------------------------------------------------------------------- */
/* Texts grow by realloc(), for which the linker takes __wrap_realloc(). */
static struct growth {
    bool      is_on, lasting;
    long long calls, fail_at;
} growth;

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_realloc(void *p, size_t n)
{
    const long long k = growth.is_on ? growth.calls++ : -1;

    return k >= 0 && (k == growth.fail_at || (growth.lasting && k > growth.fail_at))
               ? NULL
               : __real_realloc(p, n);
}

static const char *explained(rd_ctx *ctx, rd_results results)
{
    return rd_explain(ctx, results, NULL);
}

static const char *drawn(rd_ctx *ctx, rd_results results)
{
    return rd_explain_svg(ctx, results, NULL);
}

static const char *(*const texts[])(rd_ctx *ctx, rd_results results) = { explained, drawn,
                                                                         rd_graphviz };
enum { TEXTS = sizeof texts / sizeof *texts };

/* NULL and RD_ERR_MEMORY, or the text that there is with memory. */
static void check_text(int which, int text, const char *want)
{
    faulty_heap       h     = { .fail_at = -1 };
    rd_ctx *const     ctx   = faulty_heap_ctx(&h, 0);
    const leaves      l     = make_leaves(ctx);
    rd_expr *const    e     = make(ctx, &l, which);
    const char *const found = (growth.is_on = true, texts[text](ctx, RD_RESULTS({ e, NULL })));

    growth.is_on = false;
    ck_assert_msg(found ? strcmp(found, want) == 0 : rd_error(ctx) == RD_ERR_MEMORY,
                  "text %d of %s, growth %lld: %s", text, text_of(which), growth.fail_at,
                  found ? "another text" : rd_error_text(ctx));
    still_works(ctx, "a text");
    rd_ctx_free(ctx);
    ck_assert_msg(atomic_load(&h.live) == 0, "text %d of %s, growth %lld: a leak", text,
                  text_of(which), growth.fail_at);
}

START_TEST(texts_without_memory)
{
    enum { EACH = 9 }; /* of those rows */
    const int which = _i * EACH;

    begin();
    for (int text = 0; text < TEXTS; text++) {
        faulty_heap    h       = { .fail_at = -1 };
        rd_ctx *const  ctx     = faulty_heap_ctx(&h, 0);
        const leaves   l       = make_leaves(ctx);
        rd_expr *const e       = make(ctx, &l, which);
        growth                 = (struct growth){ .is_on = true, .fail_at = -1 };
        const char *const want = texts[text](ctx, RD_RESULTS({ e, NULL }));
        const long long   all  = growth.calls;

        growth.is_on = false;
        ck_assert_msg(want || rd_error(ctx) != RD_OK, "%s", text_of(which));
        const long long step = all > most_faults() ? all / most_faults() : 1;
        for (long long k = which % step; want && k < all; k += step)
            for (int lasting = 0; lasting < 2; lasting++) {
                growth = (struct growth){ .fail_at = k, .lasting = lasting };
                check_text(which, text, want);
            }
        rd_ctx_free(ctx);
    }
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("allocation faults");
    TCase   *tc = tcase_create("allocation faults");
    SRunner *r  = srunner_create(s);

    tcase_set_timeout(tc, 1200);
    /* One row alone, for a debugger (with CK_FORK=no). */
    const char *const only  = getenv("RDIM_FAULTS_ROW");
    const int         first = only ? atoi(only) : 0,
              end           = only ? first + 1 : ROWS + (int)(sizeof ops / sizeof *ops);
    tcase_add_loop_test(tc, every_constructor, first, end);
    if (!only)
        tcase_add_loop_test(tc, without_numbers_of_others, 0, ALONE);
    if (!only)
        tcase_add_loop_test(tc, texts_without_memory, 0, end / 9);
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
