/* cached.c - evaluates by cached plans.  Looks first for the same expressions and layouts,
 * without any traversal, then for the same key.
 *
 * The first-level table (rd_same) finds a plan by the numbers of expression nodes; the key finds
 * it by the structure of the expressions.  A brief plan is one for first runs, without compiled
 * loops. */
#include "eval/auto.h"
#include "eval/cache/cache_parts.h"
#include "eval/cache/in_blocks.h"
#include "eval/cache/measure.h"
#include "eval/request.h"
#include "eval/tuning.h"
#include <string.h>

/* Most results of an evaluation that is cached. */
enum { MOST_RESULTS = 8 };

/* ---- The same expressions and layouts -------------------------------------------------------- */
/* Appends a result to the words of s (a key by addresses): the expression's unique number, its
 * context, type, and layout with n extents and m strides. False: too many words, or an invalid or
 * misaligned output, which the slow path then reports. n and m are the lengths of out->shape and
 * out->strides, and RD_SAME_WORDS is the room for words. */
static bool describe_result(rd_same *s, const rd_result *r)
{
    const rd_array *out = r->out;
    int32_t         n = out->shape.n, m = out->strides.n;

    if (n < 0 || n > RD_MAX_RANK || m < 0 || m > RD_MAX_RANK ||
        s->n_word + 3 + n + m > RD_SAME_WORDS || (out->order != 0 && out->order != 1) ||
        !rd_dtype_ok(out->type) ||
        ((uintptr_t)out->data & ((uintptr_t)rd_dtype_size(out->type) - 1)))
        return false;
    s->word[s->n_word++] = r->expr->id;
    s->word[s->n_word++] = (uint64_t)(uintptr_t)r->expr->ctx;
    s->word[s->n_word++] = (uint64_t)(uint16_t)out->device << 48 | (uint64_t)out->type << 32 |
                           (uint64_t)(uint32_t)out->order << 16 | (uint64_t)n << 8 | (uint64_t)m;
    for (int a = 0; a < n; a++)
        s->word[s->n_word++] = (uint64_t)out->shape.at[a];
    for (int a = 0; a < m; a++)
        s->word[s->n_word++] = (uint64_t)out->strides.at[a];
    return true;
}

/* Describes options, expressions and layouts as words (a key of 64-bit ints), without looking into
 * expressions. False: too many words, or invalid, which the slow path then reports. */
static bool describe(rd_same *s, rd_results results, const rd_eval_opts *opts)
{
    s->n_word            = 0;
    s->word[s->n_word++] = (uint64_t)opts->accuracy << 59 | (uint64_t)opts->async << 58 |
                           (uint64_t)opts->deterministic << 57 | (uint64_t)opts->measure << 56 |
                           (uint64_t)opts->traversal << 48 | (uint64_t)opts->backend << 40 |
                           (uint64_t)opts->threads;
    for (int k = 0; k < results.n; k++)
        if (!describe_result(s, &results.at[k]))
            return false;
    return true;
}

/* The entry of the first-level table (direct-mapped, by hash) where the key `s` of words belongs.
 * It may hold another key. */
static rd_same *same_place(rd_cache *c, const rd_same *s)
{
    uint64_t hash = 0;

    for (int i = 0; i < s->n_word; i++)
        hash = (hash ^ s->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return &c->same[hash >> 32 & (RD_SAME - 1)];
}

/* ---- Plans ----------------------------------------------------------------------------------- */
/* True if a brief plan (no compiled loops, for a program's first runs) has had its runs, so that a
 * full plan is to be made (run/grow.c). */
static bool is_brief_over(const rd_entry *e)
{
    return rd_brief_is_over(e->plan, e->runs);
}

/* Finds a cached plan with the current key; NULL: none. measured: only one whose choices were
 * measured. *over: there is a brief plan (for first runs), but it has had its runs.
 * rd_cache_matches() compares the key. */
static rd_entry *find(rd_cache *c, bool measured, bool *over)
{
    *over = false;
    for (int k = 0; k < c->stats.plans; k++) {
        rd_entry *e = c->entry[k];

        if (!rd_cache_matches(c, e) || (measured && !e->measured))
            continue;
        if (!is_brief_over(e))
            return e;
        *over = true;
    }
    return NULL;
}

/* Makes room for the addresses that a run gets: of all leaves of the key, and of numbers if these
 * become inputs. False: no memory. */
static bool reserve_inputs(rd_cache *c)
{
    const int32_t wanted = c->key.n_leaf + RD_KEY_NUMBERS, room = c->key.room_leaf + RD_KEY_NUMBERS;
    const void  **more;

    if (wanted <= c->room_leaf)
        return true;
    more = rd_alloc_quiet(c->ctx, room * (int64_t)sizeof *more);
    if (!more)
        return false;
    rd_free(c->ctx, c->leaf);
    c->leaf      = more;
    c->room_leaf = room;
    return true;
}

/* Stores the inputs' addresses for the run, and in s, an entry of the first-level table, for later
 * runs of the same expressions. Returns s, which may be NULL; NULL if they are too many for it.
 * rd_key_addresses() writes them to c->leaf. */
static rd_same *find_inputs(rd_cache *c, rd_same *s)
{
    const int32_t n = rd_key_inputs(&c->key);

    rd_key_addresses(&c->key, c->leaf);
    if (n > RD_SAME_LEAVES)
        return NULL; /* too many to store */
    if (s && n)
        memcpy(s->leaf, c->leaf, (size_t)n * sizeof *s->leaf);
    return s;
}

/* ---- Numbers --------------------------------------------------------------------------------- */
/* True if a plan with the numbers' values in its code was made for this structure before; notes
 * that now. The first plan of a structure has its numbers fixed. The second one reads them from
 * memory as inputs, so that numbers that change in each evaluation cost two plans in all. */
static bool was_planned_with_values(rd_cache *c)
{
    uint64_t *const place = &c->numbered[c->key.hash >> 32 & (RD_NUMBERED - 1)];
    const bool      was   = *place == c->key.hash;

    *place = c->key.hash;
    return was;
}

/* Finds a plan that reads the key's numbers as inputs, so that it runs for any values; NULL: none.
 * Then the key gets the values back, unless such a plan is to be made now. It is, if a plan with
 * fixed values was made before, or the plan found was brief (for first runs) and has had these
 * (*over). Runs that measure, or are asynchronous, fix their numbers. was_planned_with_values()
 * is that test. */
static rd_entry *find_for_any_numbers(rd_cache *c, const rd_eval_opts *opts, bool *over)
{
    rd_entry *e;

    if (opts->measure || opts->async || !rd_key_numbers_to_inputs(&c->key))
        return NULL;
    e = find(c, /*measured=*/false, over);
    if (!e && !*over && !was_planned_with_values(c))
        rd_key_numbers_to_values(&c->key);
    return e;
}

/* Puts a plan into the cache, marked as running (busy), and into s, its entry of the first-level
 * table (NULL: none). It replaces worse plans of the same key. NULL: no memory, or all cached
 * plans are running. The cache owns the plan then; otherwise the caller still does. Words are
 * those of the key. */
static rd_entry *insert(rd_cache *c, rd_plan *plan, bool measured, rd_same *s)
{
    const rd_key *key   = &c->key;
    size_t        words = (size_t)key->n_word * sizeof *key->word;
    rd_entry     *e     = rd_alloc_quiet(c->ctx, (int64_t)(sizeof *e + words));

    if (!e)
        return NULL;
    e->plan   = plan;
    e->hash   = key->hash;
    e->n_word = key->n_word;
    e->bytes  = rd_plan_bytes(plan) + (int64_t)(sizeof *e + words);
    memcpy(e->word, key->word, words);
    e->measured = measured;
    rd_cache_lock(c);
    if (measured)
        rd_cache_drop_unmeasured(c);
    else if (!plan->brief)
        rd_cache_drop_brief(c);
    rd_cache_make_room(c, e->bytes);
    if (c->stats.plans == RD_CACHE_PLANS) { /* all are running: callbacks that evaluate */
        rd_cache_unlock(c);
        rd_free(c->ctx, e);
        return NULL;
    }
    c->entry[c->stats.plans++] = e;
    c->stats.bytes += e->bytes;
    e->used = ++c->turn;
    atomic_store(&e->busy, 1);
    if (s)
        s->entry = e;
    rd_cache_unlock(c);
    return e;
}

/* Runs a plan on these leaves, whole or, if it says so (block_points), in blocks of the result. If
 * an input overlaps the result, blocks do not work, and it runs whole. */
static rd_status execute(const rd_plan *plan, const void *const *leaf, rd_results results,
                         const rd_eval_opts *opts)
{
    const rd_progress progress = { .tell = opts->progress, .user = opts->user };
    void             *out[MOST_RESULTS];
    rd_status         status;

    if (plan->block_points && rd_run_in_blocks(plan, leaf, results, opts, &status))
        return status;
    for (int k = 0; k < results.n; k++)
        out[k] = results.at[k].out->data;
    return rd_plan_execute(plan, leaf, out, &progress, /*stats=*/NULL);
}

/* Runs a cached plan that was marked as running, and removes the mark. The release order makes the
 * thread that frees the plan see the end of the run. */
static rd_status run_entry(rd_entry *e, const void *const *leaf, rd_results results,
                           const rd_eval_opts *opts)
{
    rd_status status = execute(e->plan, leaf, results, opts);

    atomic_fetch_sub_explicit(&e->busy, 1, memory_order_release);
    return status;
}

/* Marks an entry as running, so that no thread frees it, and counts its use; e may be NULL. Runs
 * are counted for brief plans only, which have no compiled loops and are replaced after some
 * runs. */
static rd_entry *mark_running(rd_cache *c, rd_entry *e)
{
    if (e) {
        e->used = ++c->turn;
        e->runs += e->plan->brief;
        atomic_fetch_add_explicit(&e->busy, 1, memory_order_relaxed);
    }
    return e;
}

/* Makes a plan for this evaluation alone, runs it, and frees it. The status is that of the run,
 * or of planning if that fails. */
static rd_status run_once(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_plan  *plan = rd_plan_make(ctx, (rd_exprs){ 0 }, results, opts);
    rd_status status =
        plan ? rd_plan_execute(plan, /*in=*/NULL, /*out=*/NULL, &plan->progress, /*stats=*/NULL)
             : rd_error(ctx);

    rd_plan_free(plan);
    return status;
}

/* Makes a plan by predicted cost. AUTO needs measured rates of the GPU to choose it. If it did not
 * choose it, although the plan takes long enough, the rates are measured now and the plan is made
 * again. rd_rates_of() are rates that the context has, NULL: none. NULL after a failure. */
static rd_plan *plan_by_cost(rd_cache *c, rd_results results, const rd_eval_opts *opts)
{
    const rd_choice choice = { .traversal = opts->traversal };
    rd_plan        *plan   = rd_key_plan(&c->key, results, opts, &choice);

    const rd_rates *rates = rd_rates_of(c->ctx);

    if (!plan || opts->backend != RD_BACKEND_AUTO || rd_plan_uses_device(plan) ||
        !rd_auto_is_worth_asking(plan->n_stage, plan->program) ||
        /* known already, or no GPU to measure */
        (rates && rd_rates_are_of(c->ctx, rates)) || !rd_rates_learn(c->ctx))
        return plan;
    rd_plan_drop(plan);
    return rd_key_plan(&c->key, results, opts, &choice);
}

/* Measures which choice is the fastest on this processor (not on a GPU), and stores it in the
 * context's findings. False: the evaluation fails. `fresh` is the finding; it is not stored if
 * there is no memory, which does not matter. */
static bool measure_here(rd_cache *c, rd_results results, const rd_eval_opts *opts)
{
    rd_eval_opts here = *opts;
    rd_found     fresh;

    here.backend = RD_BACKEND_CPU;
    if (rd_measure(c->ctx, &c->key, c->leaf, results, &here, &fresh) == RD_OK)
        (void)rd_findings_put(c->ctx, &c->found, &fresh);
    return rd_error(c->ctx) == RD_OK;
}

/* Makes a plan by the measured choice of this key, else by cost. If options ask to measure and
 * nothing is known, it measures first. Plans on a device have no such choice: their kernels are
 * measured in a run. brief: for first runs, without compiled loops. plan_by_cost() makes the one
 * by cost, and measure_here() times candidates and keeps the best under the key's hash. `known`
 * is that finding, NULL: none. NULL after a failure. */
static rd_plan *make(rd_cache *c, rd_results results, const rd_eval_opts *opts, bool brief)
{
    const rd_found *known  = rd_findings_get(&c->found, c->key.hash);
    rd_choice       choice = { .traversal = opts->traversal, .brief = brief };

    if (!known && opts->measure) {
        rd_plan *const plan = plan_by_cost(c, results, opts);

        /* on a device nothing is chosen here: see run_measuring() */
        if (!plan || rd_plan_uses_device(plan))
            return plan;
        rd_plan_drop(plan);
        if (!measure_here(c, results, opts))
            return NULL;
        known = rd_findings_get(&c->found, c->key.hash);
    }
    if (known)
        choice = known->choice;
    return rd_key_plan(&c->key, results, opts, &choice);
}

/* Makes a plan. If numbers are inputs of the key, but the plan consists of parts (several plans),
 * it is made again with fixed numbers, because parts cannot read them as inputs. NULL after a
 * failure. */
static rd_plan *make_for_numbers(rd_cache *c, rd_results results, const rd_eval_opts *opts,
                                 bool brief)
{
    rd_plan *const plan = make(c, results, opts, brief);

    if (!plan || !plan->parts || !c->key.numbers_in)
        return plan;
    rd_plan_drop(plan);
    rd_key_numbers_to_values(&c->key);
    return make(c, results, opts, brief);
}

/* Runs a plan that measures the kernels of its stages on a device, and frees it. Unmeasured plans
 * of this key are dropped, so that the next evaluation plans with the results. */
static rd_status run_measuring(rd_cache *c, rd_plan *plan, rd_results results,
                               const rd_eval_opts *opts)
{
    const rd_status status = execute(plan, c->leaf, results, opts);

    rd_cache_lock(c);
    rd_cache_drop_unmeasured(c);
    rd_cache_unlock(c);
    rd_plan_drop(plan);
    return status;
}

/* Makes a plan for the current key, caches it, and runs it. brief: for first runs, without
 * compiled loops. s: its entry of the first-level table; NULL: none. insert() keeps the plan in
 * the cache, which then owns it; NULL: it cannot, so the plan is run once and dropped. A plan
 * that is to measure its kernels is run by run_measuring(). */
static rd_status make_and_run(rd_cache *c, rd_results results, const rd_eval_opts *opts, bool brief,
                              rd_same *s)
{
    rd_plan  *plan = make_for_numbers(c, results, opts, brief);
    rd_entry *e;
    rd_status status;

    c->stats.made++;
    if (!plan)
        return rd_error(c->ctx);
    if (opts->measure && rd_plan_start_measuring(plan))
        return run_measuring(c, plan, results, opts);
    rd_plan_share_frames(plan, &c->frame);
    plan->block_points = rd_block_points(plan, results, opts, /*depth=*/0);
    if (rd_error(c->ctx) != RD_OK) { /* cancelled, or no memory, while a block was planned */
        rd_plan_drop(plan);
        return rd_error(c->ctx);
    }
    e = insert(c, plan, opts->measure, s);
    if (e)
        return run_entry(e, c->leaf, results, opts);
    status = execute(plan, c->leaf, results, opts);
    rd_plan_drop(plan);
    return status;
}

/* Evaluates by a cached plan with the same key, or by a new one. s: the entry of the first-level
 * table to fill in; NULL: none. If the key is too large, or there is no memory, the plan serves
 * this evaluation alone. Runs of the same nodes later find the plan by s. */
static rd_status run_alike(rd_cache *c, rd_results results, const rd_eval_opts *opts, rd_same *s)
{
    rd_request request[MOST_RESULTS];
    rd_output  out[MOST_RESULTS];
    rd_entry  *e;
    bool       over; /* there was a brief plan (for first runs), which has had these */

    if (!rd_check_results(c->ctx, rd_call_name(c->ctx), results, request, out))
        return rd_error(c->ctx);
    if (!rd_key_make(&c->key, results.n, request, opts) || !reserve_inputs(c)) {
        c->stats.made++;
        return run_once(c->ctx, results, opts);
    }
    rd_cache_lock(c);
    e = find(c, opts->measure, &over);
    if (!e && !over)
        e = find_for_any_numbers(c, opts, &over);
    s = find_inputs(c, s);
    mark_running(c, e);
    if (e && s)
        s->entry = e;
    c->stats.same_key += e != NULL;
    rd_cache_unlock(c);
    return e ? run_entry(e, c->leaf, results, opts)
             : make_and_run(c, results, opts, /*brief=*/!over, s);
}

/* Evaluates: by the first-level table (same expression nodes and layouts), by key (same
 * structure), or by a new plan. An entry of the table with other words is overwritten by this
 * evaluation. The entry gets its plan, and addresses of inputs, in run_alike(); until then its
 * `entry` is NULL, so that it counts as empty. */
rd_status rd_cache_run(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_cache    *c = rd_cache_get(ctx);
    rd_eval_opts full;
    rd_same      wanted, *place = NULL;
    rd_entry    *e = NULL;

    if (!c || results.n > MOST_RESULTS)
        return run_once(ctx, results, opts);
    if (!rd_eval_options(ctx, opts, &full))
        return rd_error(ctx);
    if (describe(&wanted, results, &full)) {
        place = same_place(c, &wanted);
        rd_cache_lock(c);
        if (place->entry && !is_brief_over(place->entry) && place->n_word == wanted.n_word &&
            memcmp(place->word, wanted.word, (size_t)wanted.n_word * sizeof *wanted.word) == 0) {
            e = mark_running(c, place->entry);
            c->stats.same++;
        } else {
            place->entry  = NULL;
            place->n_word = wanted.n_word;
            memcpy(place->word, wanted.word, (size_t)wanted.n_word * sizeof *wanted.word);
        }
        rd_cache_unlock(c);
        if (e)
            return run_entry(e, place->leaf, results, &full);
    }
    return run_alike(c, results, &full, place);
}

/* The choice that was measured as fastest for an evaluation; the default if it was not measured, or
 * if no key can be made (too large, or no memory). */
rd_choice rd_cache_choice(rd_ctx *ctx, int n, const rd_request *request, const rd_eval_opts *opts)
{
    rd_cache       *c     = rd_cache_get(ctx);
    const rd_found *found = c && c->found.n && rd_key_make(&c->key, n, request, opts)
                                ? rd_findings_get(&c->found, c->key.hash)
                                : NULL;

    return found ? found->choice : (rd_choice){ .traversal = opts->traversal };
}
