/* ways.c - a module for graphs.py: the library, and the ways in which the results of a random graph are
 * evaluated.  Python says what is right; here all ways must have the bits of the plain one. */
#define _GNU_SOURCE
#include "ways.h"
#include "core/dtype.h"
#include "dirt.h"
#include "guard.h"
#include "isa.h"
#include "oracle.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RESULTS = 8 };

/* What is asked for, what is right, and where to say what is not. */
typedef struct question {
    rd_ctx         *ctx;
    int             n;
    rd_expr *const *x;
    const rd_array *plain;
    uint64_t        seed;
    void           *leaf;
    int64_t         leaf_bytes;
    char           *why;
    int64_t         room;
} question;

/* ---- Contexts and memory --------------------------------------------------------------------- */

static void *allocate(void *user, int64_t bytes)
{
    (void)user;
    return dirty_memory(bytes);
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

rd_ctx *graph_context(int64_t limit)
{
    return rd_ctx_new(&(rd_ctx_opts){ .size          = sizeof(rd_ctx_opts),
                                      .threads       = 1,
                                      .memory_limit  = limit,
                                      .deterministic = true,
                                      .allocate      = allocate,
                                      .release       = release });
}

void *graph_memory(int64_t bytes, int32_t at_end)
{
    return guard_memory(bytes, at_end);
}

void graph_memory_reset(void)
{
    guard_reset(0);
}

/* ---- Which graph it was, when the process dies ----------------------------------------------- */

static int64_t current;

static void on_signal(int number)
{
    char      text[80];
    const int n =
        snprintf(text, sizeof text, "graphs: died at --first %" PRId64 " --count 1\n", current);

    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

void graph_begin(int64_t number)
{
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

    for (int i = 0; i < 5 && current == 0; i++)
        signal(numbers[i], on_signal);
    current = number;
}

/* ---- Results --------------------------------------------------------------------------------- */

static int64_t bytes_of(const rd_array *a)
{
    int64_t n = rd_dtype_size(a->type);

    for (int k = 0; k < a->shape.n; k++)
        n *= a->shape.at[k];
    return n;
}

static bool dense(rd_expr *x, rd_array *a)
{
    *a      = (rd_array){ .type = rd_type_of(x), .shape = rd_shape_of(x) };
    a->data = guard_memory(bytes_of(a), true);
    return a->data != NULL;
}

static bool is_nan(const char *p, rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT && isnan(oracle_load(p, type).v);
}

/* Elements of complex arrays are compared part by part. */
int64_t graph_differ(const rd_array *a, const rd_array *b)
{
    const rd_dtype type = a->type == RD_C64 ? RD_F32 : a->type == RD_C128 ? RD_F64 : a->type;
    const int64_t  size = rd_dtype_size(type), n = bytes_of(a) / size;
    const char    *p = a->data, *q = b->data;

    if (memcmp(p, q, (size_t)(n * size)) == 0)
        return -1;
    for (int64_t i = 0; i < n; i++, p += size, q += size)
        if (memcmp(p, q, (size_t)size) != 0 && !(is_nan(p, type) && is_nan(q, type)))
            return i;
    return -1;
}

static bool fails(const question *q, const char *what)
{
    snprintf(q->why, (size_t)q->room, "%s: %s %s", what, rd_status_name(rd_error(q->ctx)),
             rd_error_text(q->ctx));
    rd_error_clear(q->ctx);
    return false;
}

static bool same(const question *q, const rd_array *out)
{
    for (int i = 0; i < q->n; i++) {
        const int64_t at = graph_differ(&q->plain[i], &out[i]);

        if (at < 0)
            continue;
        snprintf(q->why, (size_t)q->room,
                 "result %d, element or part %" PRId64 " in C order, has other bits", i, at);
        return false;
    }
    return true;
}

static bool make_room(const question *q, rd_array *out)
{
    for (int i = 0; i < q->n; i++)
        if (!dense(q->x[i], &out[i])) {
            snprintf(q->why, (size_t)q->room, "no slot for result %d", i);
            return false;
        }
    return true;
}

static rd_results results_of(const question *q, rd_array *out, rd_result *room)
{
    for (int i = 0; i < q->n; i++)
        room[i] = (rd_result){ q->x[i], &out[i] };
    return (rd_results){ room, q->n };
}

rd_status graph_plain(rd_ctx *ctx, int32_t n, rd_expr *const *x, rd_array *out)
{
    char      why[80];
    question  q = { .ctx = ctx, .n = n, .x = x, .why = why, .room = sizeof why };
    rd_result room[MOST_RESULTS];

    if (n > MOST_RESULTS || !make_room(&q, out))
        return RD_ERR_LIMIT;
    return rd_eval_many(ctx, results_of(&q, out, room), NULL);
}

/* ---- Ways ------------------------------------------------------------------------------------ */

static bool evaluate(const question *q, const rd_eval_opts *opts)
{
    rd_array  out[MOST_RESULTS];
    rd_result room[MOST_RESULTS];

    if (!make_room(q, out))
        return false;
    if (rd_eval_many(q->ctx, results_of(q, out, room), opts) != RD_OK)
        return fails(q, "evaluation");
    return same(q, out);
}

static bool by_options(const question *q, rd_traversal traversal, int32_t threads)
{
    return evaluate(q, &(rd_eval_opts){ .traversal = traversal, .threads = threads });
}

static bool two_threads(const question *q)
{
    return by_options(q, RD_TRAVERSE_AUTO, 2);
}

static bool three_threads_greedy(const question *q)
{
    return by_options(q, RD_TRAVERSE_GREEDY, 3);
}

static bool lazy(const question *q)
{
    return by_options(q, RD_TRAVERSE_LAZY, 1);
}

static bool measured(const question *q)
{
    return evaluate(q, &(rd_eval_opts){ .measure = true });
}

/* A plan of its own for one set of kernels, which is cut into tasks of some grains, or into steps. */
static bool by_isa(const question *q, int isa)
{
    const rd_eval_opts opts = { .threads = 1 + (int32_t)(q->seed % 3) };
    rd_array           out[MOST_RESULTS];
    rd_result          room[MOST_RESULTS];
    rd_plan           *plan;
    rd_status          status;

    if (!make_room(q, out))
        return false;
    isa_begin(q->ctx, isa);
    plan = rd_plan_new(q->ctx, (rd_exprs){ NULL, 0 }, results_of(q, out, room), &opts);
    isa_end(q->ctx);
    if (!plan)
        return fails(q, "plan");
    isa_share(plan, (int64_t)(q->seed / 3 % 4));
    isa_step(plan, q->seed / 12 % 3 == 0);
    status = rd_plan_run(plan, NULL, NULL);
    rd_plan_free(plan);
    return status == RD_OK ? same(q, out) : fails(q, "run");
}

static bool scalar(const question *q)
{
    return by_isa(q, ISA_SCALAR);
}

static bool isa_1(const question *q)
{
    return by_isa(q, 1);
}

static bool isa_2(const question *q)
{
    return by_isa(q, 2);
}

static bool isa_3(const question *q)
{
    return by_isa(q, 3);
}

/* Loops compiled before they run. */
static bool compiled(const question *q)
{
    bool ok;

    setenv("RDIM_TIER1", "sync", 1);
    setenv("RDIM_CODEGEN", "always", 1);
    isa_begin(q->ctx, isa_count() - 1); /* so that no plan of before is found */
    isa_end(q->ctx);
    ok = evaluate(q, NULL);
    unsetenv("RDIM_CODEGEN");
    setenv("RDIM_TIER1", "off", 1);
    isa_begin(q->ctx, isa_count() - 1);
    isa_end(q->ctx);
    return ok;
}

/* By the public plan, which is given its outputs when it runs. */
static bool planned(const question *q)
{
    rd_array  out[MOST_RESULTS];
    rd_result room[MOST_RESULTS];
    void     *to[MOST_RESULTS];
    rd_plan  *plan;
    rd_status status;

    if (!make_room(q, out))
        return false;
    for (int i = 0; i < q->n; i++) {
        to[i]       = out[i].data;
        out[i].data = NULL;
    }
    plan   = rd_plan_new(q->ctx, (rd_exprs){ NULL, 0 }, results_of(q, out, room), NULL);
    status = plan ? rd_plan_run(plan, NULL, to) : rd_error(q->ctx);
    for (int i = 0; i < q->n; i++)
        out[i].data = to[i];
    rd_plan_free(plan);
    return status == RD_OK ? same(q, out) : fails(q, "plan");
}

/* Into memory with gaps, axes in another order and backwards; then copied to dense memory by NumPy's
 * meaning of strides, an element at a time. */
static void strided(const rd_array *plain, uint64_t seed, rd_array *out, int64_t *lowest,
                    int64_t *span)
{
    int64_t step = 1 + (int64_t)(seed % 2);

    *out           = *plain;
    out->strides.n = plain->shape.n;
    *lowest        = 0;
    *span          = 1;
    for (int k = 0; k < plain->shape.n; k++) {
        const int     a      = seed / 2 % 2 ? k : plain->shape.n - 1 - k;
        const int64_t extent = plain->shape.at[a], reach = step * (extent > 0 ? extent - 1 : 0);

        out->strides.at[a] = seed >> (8 + k) & 1 ? -step : step;
        *lowest += out->strides.at[a] < 0 ? reach : 0;
        *span += reach;
        step = *span + (int64_t)(seed >> (16 + k) & 1);
    }
}

static void gather(const rd_array *from, char *to)
{
    const int64_t size = rd_dtype_size(from->type), n = bytes_of(from) / (size ? size : 1);

    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0, rest = i;

        for (int a = from->shape.n - 1; a >= 0; a--) {
            at += rest % from->shape.at[a] * from->strides.at[a];
            rest /= from->shape.at[a];
        }
        memcpy(to + i * size, (char *)from->data + at * size, (size_t)size);
    }
}

static bool in_strides(const question *q)
{
    rd_array  out[MOST_RESULTS], copy[MOST_RESULTS];
    rd_result room[MOST_RESULTS];

    if (!make_room(q, copy))
        return false;
    for (int i = 0; i < q->n; i++) {
        const int64_t size = rd_dtype_size(q->plain[i].type);
        int64_t       lowest, span;

        strided(&q->plain[i], q->seed, &out[i], &lowest, &span);
        char *p = guard_memory(span * size, true);
        if (!p)
            return true; /* with gaps it is larger than a slot */
        out[i].data = p + lowest * size;
    }
    if (rd_eval_many(q->ctx, results_of(q, out, room), NULL) != RD_OK)
        return fails(q, "strided");
    for (int i = 0; i < q->n; i++)
        gather(&out[i], copy[i].data);
    return same(q, copy);
}

/* The first result over a leaf that is as large, which is as before afterwards. */
static bool in_place(const question *q)
{
    const int64_t bytes = bytes_of(&q->plain[0]), size = rd_dtype_size(q->plain[0].type);
    rd_array      out[MOST_RESULTS];
    rd_result     room[MOST_RESULTS];
    rd_status     status;
    void         *before;
    bool          ok;

    if (!q->leaf || q->leaf_bytes < bytes || (uintptr_t)q->leaf % (uintptr_t)size != 0)
        return true;
    if (!make_room(q, out))
        return false;
    before = malloc((size_t)q->leaf_bytes + 1);
    memcpy(before, q->leaf, (size_t)q->leaf_bytes);
    out[0].data = q->leaf;
    status      = rd_eval_many(q->ctx, results_of(q, out, room), NULL);
    ok          = status == RD_OK ? same(q, out) : fails(q, "in place");
    memcpy(q->leaf, before, (size_t)q->leaf_bytes);
    free(before);
    return ok;
}

static const struct {
    const char *name;
    bool (*run)(const question *q);
} ways[] = {
    { "2 threads", two_threads },
    { "greedy, 3 threads", three_threads_greedy },
    { "lazy", lazy },
    { "kernels: scalar", scalar },
    { "kernels: 1", isa_1 },
    { "kernels: 2", isa_2 },
    { "kernels: 3", isa_3 },
    { "plan", planned },
    { "strides", in_strides },
    { "in place", in_place },
    { "measured", measured },
    { "compiled", compiled },
};
enum { WAYS = sizeof ways / sizeof *ways };

int32_t graph_ways(void)
{
    return WAYS;
}

const char *graph_way_name(int32_t way)
{
    const int isa = ways[way].run == isa_1   ? 1
                    : ways[way].run == isa_2 ? 2
                    : ways[way].run == isa_3 ? 3
                                             : 0;

    return isa < isa_count() ? ways[way].name : NULL;
}

int32_t graph_same(rd_ctx *ctx, int32_t n, rd_expr *const *x, const rd_array *plain, int32_t way,
                   uint64_t seed, void *leaf, int64_t leaf_bytes, char *why, int64_t room)
{
    const question q    = { ctx, n, x, plain, seed, leaf, leaf_bytes, why, room };
    const int      kept = guard_used();
    const bool     ok   = ways[way].run(&q);

    guard_reset(kept);
    return ok ? 0 : -1;
}
