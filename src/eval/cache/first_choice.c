/* first_choice.c - whether small values are evaluated first: where each of the evaluations that this
 * makes stores little, or comes in blocks itself, and all do not much more work than one. */
#include "eval/cache/in_blocks.h"

/* The deepest evaluation that is a part of others.  An attention whose result goes into the loss has
 * two: its result, then what its gradient is made of.  Each is planned to be asked. */
enum { DEEPEST = 3 };

/* The evaluations, in their order. */
typedef enum group { BEFORE, FROM, REST, GROUPS } group;

/* The results of an evaluation, for planning; 0: it has none, -1: a failure. */
static int results_of(const rd_first_values *f, group which, rd_result *result, rd_array *out)
{
    const int n = which == BEFORE ? f->n_before : which == FROM ? f->n_from : f->results.n;
    void     *memory[2 * RD_MOST_CUT_RESULTS];
    int       made = 0;

    for (int k = 0; k < 2 * RD_MOST_CUT_RESULTS; k++)
        memory[k] = (void *)(uintptr_t)64;
    for (int k = 0; k < n; k++) {
        rd_expr *y;

        if (which == REST && rd_first_has(f, k))
            continue;
        y = which == BEFORE ? f->before[k]
            : which == FROM ? rd_first_from(f, k, memory)
                            : rd_first_rest(f, k, memory);
        if (!y)
            return -1;
        out[made]       = (rd_array){ .type = y->type, .data = (void *)(uintptr_t)64 };
        out[made].shape = rd_shape_of(y);
        result[made]    = (rd_result){ y, &out[made] };
        made++;
    }
    return made;
}

/* True if an evaluation stores little, or comes in blocks; adds its work. */
static bool is_little(const rd_plan *whole, const rd_first_values *f, group which,
                      const rd_eval_opts *opts, int depth, double *work)
{
    rd_result  result[RD_MOST_CUT_RESULTS];
    rd_array   out[RD_MOST_CUT_RESULTS];
    const int  n       = results_of(f, which, result, out);
    rd_results results = { result, n };
    rd_plan   *plan;
    bool       little;

    if (n <= 0)
        return n == 0;
    plan = rd_plan_make(f->ctx, (rd_exprs){ 0 }, results, opts);
    if (!plan)
        return false;
    *work += rd_plan_work(plan);
    little = 4 * rd_plan_between(plan) < rd_plan_between(whole) ||
             (depth < DEEPEST && rd_block_points(plan, results, opts, depth + 1) != 0);
    rd_plan_free(plan);
    return little;
}

bool rd_small_first(const rd_plan *plan, rd_results results, const rd_eval_opts *opts, int depth,
                    double *values)
{
    const rd_mark   mark = rd_ctx_mark(plan->ctx);
    rd_first_values f;
    double          work = 0;
    bool            first;

    if (!rd_plan_stores_much(plan, opts))
        return false;
    first   = rd_first_find(&f, plan->ctx, results, rd_plan_largest(plan));
    *values = f.bytes;
    for (group g = BEFORE; g < GROUPS && first; g++)
        first = is_little(plan, &f, g, opts, depth, &work);
    (void)rd_ctx_release(plan->ctx, mark);
    return first && work <= 1.5 * rd_plan_work(plan);
}
