/* cache.c - the plans that a context keeps.
 *
 * An evaluation first looks for the same expressions with the same layouts (`same`: nothing is walked), then for a plan
 * of the same key.  A context is used by one thread at a time, but another that runs a plan may need memory and reclaim
 * what is kept here: the lock is for that.  It is held for a moment only, and whoever reclaims does not wait for it. */
#include "eval/cache.h"
#include "eval/key.h"
#include "eval/request.h"
#include <string.h>

enum { MOST_BYTES = 8 << 20, SAME = 32, SAME_WORDS = 24, SAME_LEAVES = 8, MOST_RESULTS = 8 };

/* A kept plan; the key's words follow. */
typedef struct entry {
    rd_plan   *plan;
    uint64_t   hash, used; /* the turn it was last used in */
    int64_t    bytes;
    atomic_int busy; /* runs of it */
    int32_t    n_word;
    uint64_t   word[];
} entry;

/* Expressions and layouts, by the nodes' numbers that are never used again, and what was found for them. */
typedef struct same {
    entry      *entry; /* NULL: nothing here */
    int32_t     n_word;
    uint64_t    word[SAME_WORDS];
    const void *leaf[SAME_LEAVES];
} same;

typedef struct cache {
    rd_keeper                keeper; /* first: the context knows this only */
    rd_ctx                  *ctx;
    atomic_flag              locked;
    _Atomic(rd_pool_chunk *) chunk;
    rd_key                   key;
    const void             **leaf; /* addresses for a run */
    int32_t                  room_leaf;
    uint64_t                 turn;
    entry                   *entry[RD_CACHE_PLANS];
    same                     same[SAME];
    rd_cache_stats           stats;
} cache;

/* ---- Entries, under the lock ----------------------------------------------------------------------------------------- */
static bool try_lock(cache *c)
{
    return !atomic_flag_test_and_set_explicit(&c->locked, memory_order_acquire);
}

static void lock(cache *c)
{
    while (!try_lock(c)) {
    }
}

static void unlock(cache *c)
{
    atomic_flag_clear_explicit(&c->locked, memory_order_release);
}

static void drop_entry(cache *c, int k)
{
    entry *e = c->entry[k];

    for (int i = 0; i < SAME; i++)
        if (c->same[i].entry == e)
            c->same[i].entry = NULL;
    c->stats.bytes -= e->bytes;
    c->entry[k] = c->entry[--c->stats.plans];
    rd_plan_drop(e->plan);
    rd_free(c->ctx, e);
}

/* Drops all plans that do not run. */
static bool drop_entries(cache *c)
{
    int32_t before = c->stats.plans;

    for (int k = c->stats.plans; k-- > 0;)
        if (atomic_load(&c->entry[k]->busy) == 0)
            drop_entry(c, k);
    return c->stats.plans < before;
}

static void make_room(cache *c, int64_t bytes)
{
    while (c->stats.plans == RD_CACHE_PLANS || (c->stats.plans && c->stats.bytes + bytes > MOST_BYTES)) {
        int oldest = -1;

        for (int k = 0; k < c->stats.plans; k++)
            if (atomic_load(&c->entry[k]->busy) == 0 && (oldest < 0 || c->entry[k]->used < c->entry[oldest]->used))
                oldest = k;
        if (oldest < 0)
            return;
        drop_entry(c, oldest);
    }
}

/* ---- The context's cache ----------------------------------------------------------------------------------------------- */
static bool reclaim(rd_keeper *self)
{
    cache         *c     = (cache *)self;
    rd_pool_chunk *chunk = atomic_exchange(&c->chunk, NULL);
    bool           any   = chunk;

    rd_free(c->ctx, chunk);
    if (!try_lock(c))
        return any;
    any |= drop_entries(c);
    unlock(c);
    return any;
}

static void drop(rd_keeper *self)
{
    cache *c = (cache *)self;

    while (c->stats.plans)
        drop_entry(c, c->stats.plans - 1);
    rd_key_free(&c->key);
    rd_free(c->ctx, c->leaf);
    rd_free(c->ctx, c->chunk);
    rd_free(c->ctx, c);
}

static cache *cache_of(const rd_ctx *ctx)
{
    return (cache *)rd_ctx_keeper(ctx);
}

/* NULL without memory, which is not recorded: one can do without. */
static cache *cache_made(rd_ctx *ctx)
{
    cache *c = cache_of(ctx);

    if (c || !(c = rd_alloc_quiet(ctx, sizeof *c)))
        return c;
    c->keeper  = (rd_keeper){ reclaim, drop };
    c->ctx     = ctx;
    c->key.ctx = ctx;
    atomic_flag_clear(&c->locked);
    rd_ctx_set_keeper(ctx, &c->keeper);
    return c;
}

bool rd_cache_clear(rd_ctx *ctx)
{
    cache *c = cache_of(ctx);

    return c && reclaim(&c->keeper);
}

rd_cache_stats rd_cache_stats_of(const rd_ctx *ctx)
{
    const cache *c = cache_of(ctx);

    return c ? c->stats : (rd_cache_stats){ 0 };
}

rd_pool_chunk *rd_cache_take_chunk(rd_ctx *ctx)
{
    cache *c = cache_made(ctx);

    return c ? atomic_exchange(&c->chunk, NULL) : NULL;
}

bool rd_cache_keep_chunk(rd_ctx *ctx, rd_pool_chunk *chunk)
{
    cache         *c    = cache_of(ctx);
    rd_pool_chunk *none = NULL;

    if (!c)
        return false;
    chunk->next = NULL;
    chunk->used = 0;
    return atomic_compare_exchange_strong(&c->chunk, &none, chunk);
}

/* ---- The same expressions and layouts ------------------------------------------------------------------------------------ */
static bool describe_result(same *s, const rd_result *r)
{
    const rd_array *out = r->out;
    int32_t         n = out->shape.n, m = out->strides.n;

    if (n < 0 || n > RD_MAX_RANK || m < 0 || m > RD_MAX_RANK || s->n_word + 3 + n + m > SAME_WORDS ||
        ((uintptr_t)out->data & ((uintptr_t)rd_dtype_size(out->type) - 1)))
        return false;
    s->word[s->n_word++] = r->expr->id;
    s->word[s->n_word++] = (uint64_t)(uintptr_t)r->expr->ctx;
    s->word[s->n_word++] =
        (uint64_t)out->type << 32 | (uint64_t)(uint32_t)out->order << 16 | (uint64_t)n << 8 | (uint64_t)m;
    for (int a = 0; a < n; a++)
        s->word[s->n_word++] = (uint64_t)out->shape.at[a];
    for (int a = 0; a < m; a++)
        s->word[s->n_word++] = (uint64_t)out->strides.at[a];
    return true;
}

/* False: too large for a description, or something to be refused: the long way says what. */
static bool describe(same *s, rd_results results, const rd_eval_opts *opts)
{
    s->n_word = 0;
    if (results.n > MOST_RESULTS)
        return false;
    s->word[s->n_word++] = (uint64_t)opts->traversal << 48 | (uint64_t)opts->backend << 40 | (uint64_t)opts->threads;
    for (int k = 0; k < results.n; k++)
        if (!describe_result(s, &results.at[k]))
            return false;
    return true;
}

static same *same_place(cache *c, const same *s)
{
    uint64_t hash = 0;

    for (int i = 0; i < s->n_word; i++)
        hash = (hash ^ s->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    return &c->same[hash >> 32 & (SAME - 1)];
}

/* ---- Plans -------------------------------------------------------------------------------------------------------------- */
static entry *find(cache *c)
{
    const rd_key *key = &c->key;

    for (int k = 0; k < c->stats.plans; k++) {
        entry *e = c->entry[k];

        if (e->hash == key->hash && e->n_word == key->n_word &&
            memcmp(e->word, key->word, (size_t)key->n_word * sizeof *key->word) == 0)
            return e;
    }
    return NULL;
}

/* The leaves' addresses in this evaluation. */
static bool find_leaves(cache *c)
{
    const rd_key *key = &c->key;

    if (key->n_leaf > c->room_leaf) {
        const void **more = rd_alloc_quiet(c->ctx, key->room_leaf * (int64_t)sizeof *more);

        if (!more)
            return false;
        rd_free(c->ctx, c->leaf);
        c->leaf      = more;
        c->room_leaf = key->room_leaf;
    }
    for (int k = 0; k < key->n_leaf; k++)
        c->leaf[k] = rd_key_address(&key->leaf[k]);
    return true;
}

/* Puts a plan that will run at once into the cache; NULL without memory for that. */
static entry *insert(cache *c, rd_plan *plan, same *s)
{
    const rd_key *key   = &c->key;
    size_t        words = (size_t)key->n_word * sizeof *key->word;
    entry        *e     = rd_alloc_quiet(c->ctx, (int64_t)(sizeof *e + words));

    if (!e)
        return NULL;
    e->plan   = plan;
    e->hash   = key->hash;
    e->n_word = key->n_word;
    e->bytes  = rd_plan_bytes(plan) + (int64_t)(sizeof *e + words);
    memcpy(e->word, key->word, words);
    lock(c);
    make_room(c, e->bytes);
    if (c->stats.plans == RD_CACHE_PLANS) { /* all of them run: callbacks that evaluate */
        unlock(c);
        rd_free(c->ctx, e);
        return NULL;
    }
    c->entry[c->stats.plans++] = e;
    c->stats.bytes += e->bytes;
    e->used = ++c->turn;
    atomic_store(&e->busy, 1);
    if (s)
        s->entry = e;
    unlock(c);
    return e;
}

static rd_status execute(const rd_plan *plan, const void *const *leaf, rd_results results)
{
    void *out[MOST_RESULTS];

    for (int k = 0; k < results.n; k++)
        out[k] = results.at[k].out->data;
    return rd_plan_execute(plan, leaf, out, NULL);
}

static rd_status run_entry(entry *e, const void *const *leaf, rd_results results)
{
    rd_status status = execute(e->plan, leaf, results);

    atomic_fetch_sub_explicit(&e->busy, 1, memory_order_release);
    return status;
}

/* Marks an entry as running, unless there is none. */
static entry *hold(cache *c, entry *e)
{
    if (e) {
        e->used = ++c->turn;
        atomic_fetch_add_explicit(&e->busy, 1, memory_order_relaxed);
    }
    return e;
}

/* A plan for this evaluation alone. */
static rd_status run_once(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    rd_plan  *plan   = rd_plan_make(ctx, (rd_exprs){ 0 }, results, opts);
    rd_status status = plan ? rd_plan_execute(plan, NULL, NULL, NULL) : rd_error(ctx);

    rd_plan_free(plan);
    return status;
}

static rd_status make_and_run(cache *c, rd_results results, const rd_eval_opts *opts, same *s)
{
    rd_plan  *plan = rd_plan_movable(c->ctx, c->key.n_leaf, c->key.leaf, results, opts);
    entry    *e    = plan ? insert(c, plan, s) : NULL;
    rd_status status;

    c->stats.made++;
    if (!plan)
        return rd_error(c->ctx);
    if (e)
        return run_entry(e, c->leaf, results);
    status = execute(plan, c->leaf, results);
    rd_plan_drop(plan);
    return status;
}

/* By key. */
static rd_status run_alike(cache *c, rd_results results, const rd_eval_opts *opts, same *s)
{
    rd_request request[MOST_RESULTS];
    rd_output  out[MOST_RESULTS];
    entry     *e;

    if (!rd_check_results(c->ctx, "rd_eval", results, request, out))
        return rd_error(c->ctx);
    if (!rd_key_make(&c->key, results.n, request, opts) || !find_leaves(c)) {
        c->stats.made++;
        return run_once(c->ctx, results, opts);
    }
    if (s && c->key.n_leaf <= SAME_LEAVES && c->key.n_leaf)
        memcpy(s->leaf, c->leaf, (size_t)c->key.n_leaf * sizeof *s->leaf);
    else
        s = c->key.n_leaf ? NULL : s;
    lock(c);
    e = hold(c, find(c));
    if (e && s)
        s->entry = e;
    c->stats.alike += e != NULL;
    unlock(c);
    return e ? run_entry(e, c->leaf, results) : make_and_run(c, results, opts, s);
}

rd_status rd_cache_run(rd_ctx *ctx, rd_results results, const rd_eval_opts *opts)
{
    cache       *c = cache_made(ctx);
    rd_eval_opts full;
    same         wanted, *place = NULL;
    entry       *e = NULL;

    if (!c || results.n > MOST_RESULTS)
        return run_once(ctx, results, opts);
    if (!rd_eval_options(ctx, opts, &full))
        return rd_error(ctx);
    if (describe(&wanted, results, &full)) {
        place = same_place(c, &wanted);
        lock(c);
        if (place->entry && place->n_word == wanted.n_word &&
            memcmp(place->word, wanted.word, (size_t)wanted.n_word * sizeof *wanted.word) == 0) {
            e = hold(c, place->entry);
            c->stats.same++;
        } else {
            place->entry  = NULL;
            place->n_word = wanted.n_word;
            memcpy(place->word, wanted.word, (size_t)wanted.n_word * sizeof *wanted.word);
        }
        unlock(c);
        if (e)
            return run_entry(e, place->leaf, results);
    }
    return run_alike(c, results, &full, place);
}
