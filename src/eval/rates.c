/* rates.c - measures bytes and operations a second of a GPU and of this processor, for AUTO.  The
 * backend measures a GPU's rates.  Two programs measure this processor's: a sum that reads memory,
 * and pairwise sums of points, which compute. */
#include "eval/rates.h"
#include "core/clock.h"
#include "eval/plan.h"
#include "eval/run/device.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Elements of the large sum, points of the pairwise sums, and runs of each. */
enum { READ = 16 << 20, POINTS = 2048, TIMES = 4 };

/* ---- This processor -------------------------------------------------------------------------- */
/* The least time of some runs in seconds; 0: a run failed. */
static double seconds_of(const rd_plan *plan)
{
    double least = INFINITY;

    for (int k = 0; k < TIMES; k++) {
        const double begun = rd_seconds();

        if (rd_plan_execute(plan, /*in=*/NULL, /*out=*/NULL, /*progress=*/NULL, /*stats=*/NULL) !=
            RD_OK)
            return 0;
        least = fmin(least, rd_seconds() - begun);
    }
    return least;
}

/* The rate at which y is evaluated on this processor, in the fastest run: bytes read and written
 * per second (of_bytes), or operations, counted as additions; 0 on failure. y may be NULL, after
 * a failure. `found` is the memory of the result. The plan is freed. */
static double rate_of(rd_ctx *ctx, rd_expr *y, bool of_bytes)
{
    const rd_eval_opts opts = { .backend = RD_BACKEND_CPU, .deterministic = true };
    float              found[POINTS];
    rd_array           out    = { .data = found, .type = RD_F32 };
    rd_result          result = { y, &out };
    double             amount = 0, seconds = 0;

    if (y)
        out.shape = rd_shape_of(y);
    rd_plan *const plan =
        y ? rd_plan_make(ctx, (rd_exprs){ 0 }, (rd_results){ &result, 1 }, &opts) : NULL;

    for (int s = 0; plan && s < plan->n_stage; s++) {
        const rd_work cost = rd_program_work(&plan->program[s], /*bounded=*/true);

        amount += of_bytes ? cost.read + cost.written : cost.additions;
    }
    if (plan)
        seconds = seconds_of(plan);
    rd_plan_free(plan);
    return seconds > 0 ? amount / seconds : 0;
}

/* Bytes per second of a sum over an array that is larger than caches. */
static double rate_of_memory(rd_ctx *ctx)
{
    float *const x    = calloc(READ, sizeof *x);
    double       rate = 0;

    for (int k = 0; x && k < READ; k++)
        x[k] = (float)(k & 255);
    if (x)
        rate = rate_of(ctx, rd_sum(rd_wrap(ctx, x, RD_SHAPE(READ)), RD_ALL), /*of_bytes=*/true);
    free(x);
    return rate;
}

/* Operations (as additions) per second of a Gaussian sum over pairs of points, which computes much
 * and reads little. */
static double rate_of_operations(rd_ctx *ctx)
{
    float x[POINTS];

    for (int k = 0; k < POINTS; k++)
        x[k] = (float)k / POINTS;
    rd_expr *const points   = rd_wrap(ctx, x, RD_SHAPE(POINTS));
    rd_expr *const distance = rd_sub(rd_expand(points, /*axis=*/1), rd_expand(points, /*axis=*/0));

    return rate_of(ctx, rd_sum(rd_exp(rd_neg(rd_square(distance))), RD_DIMS(1)),
                   /*of_bytes=*/false);
}

/* Measures this processor's rates, in a context made for that. False: it failed. A rate of 0
 * means that it failed. */
static bool measure_here(int32_t threads, rd_rates *rates)
{
    const rd_ctx_opts opts = { .threads = threads };
    rd_ctx *const     ctx  = rd_ctx_new(&opts);

    if (!ctx)
        return false;
    rates->memory     = rate_of_memory(ctx);
    rates->operations = rate_of_operations(ctx);
    rd_ctx_free(ctx);
    return rates->memory > 0 && rates->operations > 0;
}

/* ---- Both ------------------------------------------------------------------------------------ */
/* Measures the rates of a device and of this processor; false: one of them cannot be measured. */
static bool measure(rd_ctx *ctx, int32_t device, rd_rates *rates)
{
    const rd_backend_table *cuda = &rd_backend_cuda;
    char                    why[RD_DEVICE_TEXT];
    bool                    full;
    rd_queue *const         queue = rd_queue_of(ctx, cuda, device, &full, why);

    *rates = (rd_rates){ .key = cuda->device->name_key(device) };
    return queue && cuda->device->rates(queue, &rates->device, why) &&
           measure_here(rd_ctx_threads(ctx), rates);
}

/* Measures the rates of the context's GPU and of this processor, unless the context has them. The
 * process keeps those of the device that was measured last. False: there is no GPU, or it cannot
 * be measured. rd_ctx_device() counts GPUs from 1 on, so `device` from 0; key is a hash of the
 * GPU's name, 0: none. all->rates are the context's, valid if they have that key. */
bool rd_rates_learn(rd_ctx *ctx)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static rd_rates        last;        /* rates of the device that was measured last; ... */
    static int32_t         of     = -1; /* ... key 0 if that failed */
    const int32_t          device = rd_ctx_device(ctx) - 1;
    rd_findings *const     all    = rd_findings_of(ctx);
    const uint64_t         key    = rd_backend_cuda.device->name_key(device);

    if (!all || device >= rd_backend_cuda.device->count(NULL) || !key)
        return false;
    if (all->rates.key == key)
        return true;
    pthread_mutex_lock(&lock);
    if (of != device && !measure(ctx, device, &last))
        last.key = 0;
    of = device;
    if (last.key)
        all->rates = last;
    pthread_mutex_unlock(&lock);
    return all->rates.key == key;
}

/* The rates that the context has; NULL: none. */
const rd_rates *rd_rates_of(rd_ctx *ctx)
{
    const rd_findings *const all = rd_findings_of(ctx);

    return all && all->rates.key ? &all->rates : NULL;
}

/* True if the rates are those of the context's GPU, by the key of its name. */
bool rd_rates_are_of(rd_ctx *ctx, const rd_rates *rates)
{
    return rates->key == rd_backend_cuda.device->name_key(rd_ctx_device(ctx) - 1);
}
