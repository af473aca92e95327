/* run.c - one case: sizes, expression, plan; is it right; how long does it take. */
#include "bench.h"
#include "turns.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case with its sizes and memory. */
typedef struct instance {
    const bench_case *of;
    rd_dtype          type;
    double            scale;
    rd_ctx           *ctx;
    rd_mark           empty; /* before the first node */
    rd_expr          *x[3], *y[MOST_RESULTS];
    int               n_in, n_out;
    rd_array          in[3], out[MOST_RESULTS];
    rd_plan          *plan;
    hand_args         args;
    hand_fn          *hand;
} instance;

const bench_pattern *bench_pattern_built, *bench_other_built;

/* A pattern of a case; where there is none the reason is on stderr. */
static const bench_pattern *pattern_of(const bench_case *c, bench_pattern_kind kind, double scale)
{
    const bench_pattern *p = kind ? bench_pattern_of(kind, scale, BENCH_DATA) : NULL;

    if (kind && !p) {
        fprintf(stderr, "rdim-bench: %s %s: no pattern: %s/depends_pos.npy or memory is not here\n",
                c->row, c->name, BENCH_DATA);
        exit(1);
    }
    return p;
}

static int64_t extent_of(const bench_case *c, int64_t extent, double scale)
{
    const bench_pattern *p = pattern_of(c, extent == OTHER_PLACES ? c->other : c->pattern, scale);

    return extent == ROWS ? p->rows : p->places;
}

static rd_shape scaled(const bench_case *c, int in, double scale)
{
    const bench_extents *const e     = &c->in[in];
    rd_shape                   shape = { .n = e->rank };

    for (int k = 0; k < e->rank; k++) {
        const double factor = k < e->scaled ? pow(scale, 1.0 / e->root) : 1;
        const double units  = nearbyint((double)e->at[k] * factor / e->unit);

        shape.at[k] = k < e->scaled ? e->unit * (int64_t)fmax(1, units) : e->at[k];
        if (e->at[k] < 0)
            shape.at[k] = extent_of(c, e->at[k], scale);
    }
    return shape;
}

static int64_t elements(const rd_shape *shape)
{
    int64_t n = 1;

    for (int k = 0; k < shape->n; k++)
        n *= shape->at[k];
    return n;
}

double bench_points(const bench_case *c, double scale)
{
    const rd_shape first  = scaled(c, 0, scale);
    const rd_shape second = scaled(c, c->in[1].rank > 0, scale);

    return (double)elements(&first) * (c->pairs ? (double)second.at[0] : 1);
}

static void make_inputs(instance *it, double scale)
{
    for (int k = 0; k < 3 && it->of->in[k].rank; k++) {
        rd_array *a = &it->in[k];

        const bench_fill fill = it->of->fill[k];

        *a    = (rd_array){ .type  = bench_fill_type(fill, it->type),
                            .shape = scaled(it->of, k, scale) };
        a->in = bench_filled(k, fill, it->of->below ? it->of->below : it->in[0].shape.at[0],
                             a->type, elements(&a->shape));
        it->n_in++;
        it->args.in[k] = a->in;
    }
    for (int k = 0; k < 3; k++) {
        it->args.shape[k] = k < it->in[0].shape.n ? it->in[0].shape.at[k] : 1;
        it->args.other[k] = k < it->in[1].shape.n ? it->in[1].shape.at[k] : 1;
    }
}

rd_ctx *bench_ctx;

static void build(instance *it)
{
    bench_ctx           = it->ctx;
    bench_pattern_built = it->args.pattern;
    bench_other_built   = it->args.other_pattern;
    for (int k = 0; k < it->n_in; k++)
        it->x[k] = rd_leaf(it->ctx, &it->in[k]);
    it->of->build(it->x, it->of->dims, it->y);
}

static void make_outputs(instance *it)
{
    for (int k = 0; k < MOST_RESULTS && it->y[k]; k++) {
        rd_array a     = { .type = rd_type_of(it->y[k]), .shape = rd_shape_of(it->y[k]) };
        int64_t  bytes = elements(&a.shape) * bench_size(a.type);

        a.data            = bench_output(2 * k, bytes);
        it->out[k]        = a;
        it->args.out[k]   = bench_output(2 * k + 1, bytes);
        it->args.out_size = bench_size(a.type);
        it->n_out++;
    }
}

static rd_results results_of(instance *it, rd_result *list)
{
    for (int k = 0; k < it->n_out; k++)
        list[k] = (rd_result){ it->y[k], &it->out[k] };
    return (rd_results){ list, it->n_out };
}

/* ---- The library's turn ---------------------------------------------------------------------- */
static void run_plan(void *self)
{
    const instance *it = self;

    rd_plan_run(it->plan, NULL, NULL);
}

static void run_eval(void *self)
{
    instance *it = self;

    rd_eval(it->ctx, it->y[0], &it->out[0]);
}

/* The graph from nothing: the nodes of the run before are released, so that none is found again. */
static void rebuild(instance *it)
{
    rd_ctx_release(it->ctx, it->empty);
    build(it);
}

static void run_cold(void *self)
{
    instance *it = self;
    rd_result list[MOST_RESULTS];

    rebuild(it);
    rd_plan_free(rd_plan_new(it->ctx, (rd_exprs){ 0 }, results_of(it, list), NULL));
}

/* Its structure has a plan that is kept. */
static void run_build(void *self)
{
    rebuild(self);
    run_eval(self);
}

static void run_nodes(void *self)
{
    rebuild(self);
}

static void run_fresh(void *self)
{
    instance *it    = self;
    rd_array  fresh = { 0 };

    rd_eval(it->ctx, it->y[0], &fresh);
    rd_array_free(&fresh);
}

static void run_hand_fresh(void *self)
{
    instance *it = self;
    hand_args a  = it->args;

    a.out[0] = bench_fresh(elements(&it->out[0].shape) * bench_size(it->out[0].type));
    it->hand(&a);
    free(a.out[0]);
}

static void run_hand(void *self)
{
    const instance *it = self;

    it->hand(&it->args);
}

/* ---- Is it right ----------------------------------------------------------------------------- */
static double element(const void *data, rd_dtype type, int64_t i)
{
    switch (type) {
    case RD_F32: return (double)((const float *)data)[i];
    case RD_F64: return ((const double *)data)[i];
    default: return (double)((const int64_t *)data)[i];
    }
}

/* Of the parts that complex numbers are pairs of. */
static rd_dtype part_type(rd_dtype type)
{
    return type == RD_C64 ? RD_F32 : type == RD_C128 ? RD_F64 : type;
}

/* Floats: the greatest difference, relative to the greatest value.  Integers: the share of those
 * that differ. */
static double error_of(const rd_array *got, const void *want)
{
    const bool     whole = got->type == RD_I64;
    const rd_dtype type  = part_type(got->type);
    const int64_t  n     = elements(&got->shape) * (type == got->type ? 1 : 2);
    double         most = 0, differ = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = element(got->data, type, i), b = element(want, type, i);

        if (a == b || (isnan(a) && isnan(b))) {
            most = isfinite(b) ? fmax(most, fabs(b)) : most;
            continue;
        }
        if (!isfinite(a) || !isfinite(b))
            return INFINITY;
        most   = fmax(most, fabs(b));
        differ = whole ? differ + (a != b) : fmax(differ, fabs(a - b));
    }
    if (whole)
        return differ / (double)n;
    return differ == 0 ? 0 : differ / most;
}

static double tolerance_of(const instance *it)
{
    if (it->out[0].type == RD_I64)
        return it->of->wrong_allowed;
    return part_type(it->out[0].type) == RD_F32 ? 5e-5 : 1e-11;
}

static double check(instance *it)
{
    double error = 0;

    if (!it->hand || it->of->how == HOW_COLD || it->of->how == HOW_FIRST ||
        it->of->how == HOW_NODES)
        return NAN;
    run_hand(it);
    for (int k = 0; k < it->n_out; k++)
        error = fmax(error, error_of(&it->out[k], it->args.out[k]));
    return error;
}

/* ---- What it is compared with ---------------------------------------------------------------- */
static bench_work work_of(const instance *it)
{
    const bench_case *c      = it->of;
    const double      points = bench_points(c, it->scale);
    bench_work        w      = { .flops = c->flops * points, .exps = c->exps * points };

    if (it->args.pattern)
        w.read += 4 * (double)(it->args.pattern->places + it->args.pattern->rows);
    if (it->args.other_pattern)
        w.read += 4 * (double)(it->args.other_pattern->places + it->args.other_pattern->rows);
    for (int k = 0; k < it->n_in; k++)
        w.read += (double)(elements(&it->in[k].shape) * bench_size(it->in[k].type)) *
                  (k == 0 && c->read_share > 0 ? c->read_share : 1);
    for (int k = 0; k < it->n_out; k++)
        w.written += (double)(elements(&it->out[k].shape) * bench_size(it->out[k].type));
    return w;
}

static hand_fn *hand_of(const bench_case *c, rd_dtype type, const bench_options *options,
                        const hand_isa *hand)
{
    if (options->no_hand || (c->hand == HAND_matrix_product && !hand_has_blas()))
        return NULL;
    return (type == RD_F64 ? hand->f64 : hand->f32)[c->hand];
}

static void open_instance(instance *it, const bench_case *c, rd_dtype type,
                          const bench_options *options, int threads)
{
    const rd_ctx_opts settings = { .size = sizeof settings, .threads = threads };

    *it                    = (instance){ .of = c, .type = type, .ctx = rd_ctx_new(&settings) };
    it->scale              = options->scale;
    it->args.threads       = threads;
    it->args.dims          = c->dims;
    it->args.pattern       = pattern_of(c, c->pattern, options->scale);
    it->args.other_pattern = pattern_of(c, c->other, options->scale);
    it->empty              = rd_ctx_mark(it->ctx);
    make_inputs(it, options->scale);
    build(it);
    make_outputs(it);
}

void bench_explain(const bench_case *c, rd_dtype type, const bench_options *options)
{
    instance  it;
    rd_result list[MOST_RESULTS];

    open_instance(&it, c, type, options, options->threads[0]);
    printf("---- %s %s %s\n%s\n", c->row, c->name, bench_type_name(type),
           rd_error(it.ctx) ? rd_error_text(it.ctx)
                            : rd_explain(it.ctx, results_of(&it, list), NULL));
    rd_ctx_free(it.ctx);
}

bool bench_print_first(const bench_case *c, rd_dtype type, const bench_options *options)
{
    instance  it;
    rd_result list[MOST_RESULTS];
    double    start, seconds;
    bool      ok;

    open_instance(&it, c, type, options, options->threads[0]);
    start   = bench_now();
    ok      = rd_eval_many(it.ctx, results_of(&it, list), NULL) == RD_OK;
    seconds = bench_now() - start;
    if (ok)
        printf("%.9g\n", seconds);
    else
        fprintf(stderr, "rdim-bench: %s %s: %s\n", c->row, c->name, rd_error_text(it.ctx));
    rd_ctx_free(it.ctx);
    return ok;
}

/* A first evaluation beside later ones of this process, which has had a second to compile. */
static bench_times time_first(instance *it, const bench_options *options)
{
    const int    reps  = options->reps ? options->reps : 3;
    const double end   = bench_now() + (options->scale < 0.01 ? 0 : 1);
    double       first = INFINITY;
    bench_times  t;

    for (int k = 0; k < reps; k++)
        first = fmin(first, bench_first_seconds(it->of, it->type, options, it->args.threads));
    while (bench_now() < end)
        run_eval(it);
    t       = bench_time_pair((bench_action){ run_eval, it }, (bench_action){ 0 }, options->reps);
    t.b     = t.a;
    t.a     = first;
    t.least = first;
    t.ratio = t.a / t.b;
    return t;
}

static bool first_run(instance *it)
{
    rd_result list[MOST_RESULTS];

    it->plan = rd_plan_new(it->ctx, (rd_exprs){ 0 }, results_of(it, list), NULL);
    if (it->plan)
        rd_plan_run(it->plan, NULL, NULL);
    if (rd_error(it->ctx))
        fprintf(stderr, "rdim-bench: %s %s: %s\n", it->of->row, it->of->name,
                rd_error_text(it->ctx));
    return rd_error(it->ctx) == RD_OK;
}

/* The function that runs a case, for each bench_how; NULL: a process of its own runs it. */
static void (*const how[])(void *) = { run_plan, run_eval,  run_cold, run_build,
                                       NULL,     run_nodes, run_fresh };

bool bench_by_turns(const bench_case *c, rd_dtype type, const bench_options *options)
{
    char     name[128];
    instance it;
    bool     ok;

    if (!how[c->how])
        return true;
    open_instance(&it, c, type, options, options->threads[0]);
    snprintf(name, sizeof name, "%s %s %s", c->row, c->name, bench_type_name(type));
    ok = first_run(&it);
    if (ok)
        bench_turns(name, how[c->how], &it);
    ok = ok && rd_error(it.ctx) == RD_OK;
    rd_ctx_free(it.ctx);
    return ok;
}

bool bench_run(const bench_case *c, rd_dtype type, const bench_options *options,
               const hand_isa *hand, const bench_limits *limits, bench_result *result)
{
    void (*const hand_run)(void *) = c->how == HOW_FRESH ? run_hand_fresh : run_hand;
    bench_result *const r          = result;
    instance            it;
    bool                ok;

    open_instance(&it, c, type, options, limits->threads);
    it.hand = hand_of(c, type, options, hand);
    ok      = first_run(&it);
    if (ok) {
        *r = (bench_result){
            .of = c, .type = type, .threads = limits->threads, .work = work_of(&it)
        };
        r->error     = check(&it);
        r->tolerance = tolerance_of(&it);
        if (c->how == HOW_FIRST)
            r->times = time_first(&it, options);
        else
            r->times =
                bench_time_pair((bench_action){ how[c->how], &it },
                                (bench_action){ it.hand ? hand_run : NULL, &it }, options->reps);
        r->limit_seconds = bench_limit_seconds(limits, &r->work, type, &r->limit);
        ok               = rd_error(it.ctx) == RD_OK;
    }
    rd_ctx_free(it.ctx);
    return ok;
}
