/* cache.c - what a context keeps between evaluations: plans, and a frame for their runs.  Plans
 * are evicted by least recent use.
 *
 * An entry is a plan with its key.  It is busy while the plan runs, and must not be freed then.
 *
 * Words. A brief plan is one for first runs, without compiled loops. */
#include "eval/cache/cache_parts.h"
#include "eval/run/frame.h"
#include <string.h>

/* Most bytes of all cached plans. */
enum { MOST_BYTES = 8 << 20 };

/* ---- Entries, under the lock ----------------------------------------------------------------- */
/* Takes the lock if it is free; does not wait. */
static bool try_lock(rd_cache *c)
{
    return !atomic_flag_test_and_set_explicit(&c->locked, memory_order_acquire);
}

/* Waits in a loop (spin lock) until the lock is free, and takes it. It guards the tables of
 * entries and is held for a few instructions only. */
void rd_cache_lock(rd_cache *c)
{
    while (!try_lock(c)) {
    }
}

/* Releases the lock. */
void rd_cache_unlock(rd_cache *c)
{
    atomic_flag_clear_explicit(&c->locked, memory_order_release);
}

/* Removes entry k from both tables and frees its plan.  The last entry takes its place in the
 * table by key.  c->same is the first-level table, c->entry the one by key, of stats.plans
 * plans. */
static void drop_entry(rd_cache *c, int k)
{
    rd_entry *e = c->entry[k];

    for (int i = 0; i < RD_SAME; i++)
        if (c->same[i].entry == e)
            c->same[i].entry = NULL;
    c->stats.bytes -= e->bytes;
    c->entry[k] = c->entry[--c->stats.plans];
    rd_plan_drop(e->plan);
    rd_free(c->ctx, e);
}

/* Drops all plans that no thread runs (busy == 0); true if there were any. */
static bool drop_entries(rd_cache *c)
{
    int32_t before = c->stats.plans;

    for (int k = c->stats.plans; k-- > 0;)
        if (atomic_load(&c->entry[k]->busy) == 0)
            drop_entry(c, k);
    return c->stats.plans < before;
}

/* Evicts the least recently used plans that do not run, until one more of that size fits.  If all
 * run, there is no room.  RD_CACHE_PLANS and MOST_BYTES are the limits; `used` tells when a plan
 * ran last, and `busy` counts its runs now. */
void rd_cache_make_room(rd_cache *c, int64_t bytes)
{
    while (c->stats.plans == RD_CACHE_PLANS ||
           (c->stats.plans && c->stats.bytes + bytes > MOST_BYTES)) {
        int oldest = -1;

        for (int k = 0; k < c->stats.plans; k++)
            if (atomic_load(&c->entry[k]->busy) == 0 &&
                (oldest < 0 || c->entry[k]->used < c->entry[oldest]->used))
                oldest = k;
        if (oldest < 0)
            return;
        drop_entry(c, oldest);
    }
}

/* True if the entry has the current key: hash and all words are equal. */
bool rd_cache_matches(const rd_cache *c, const rd_entry *e)
{
    const rd_key *key = &c->key;

    return e->hash == key->hash && e->n_word == key->n_word &&
           memcmp(e->word, key->word, (size_t)key->n_word * sizeof *key->word) == 0;
}

/* Drops plans with the current key that no thread runs, and whose choices were not measured.
 * brief: only plans for a program's first runs, which have no compiled loops. `busy` counts the
 * runs of a plan now. */
static void drop_idle(rd_cache *c, bool brief)
{
    for (int k = c->stats.plans; k-- > 0;) {
        const rd_entry *e = c->entry[k];

        if (!e->measured && (!brief || e->plan->brief) && rd_cache_matches(c, e) &&
            atomic_load(&e->busy) == 0)
            drop_entry(c, k);
    }
}

/* Drops plans with the current key that no thread runs and whose choices were not measured,
 * because a measured plan replaces them. */
void rd_cache_drop_unmeasured(rd_cache *c)
{
    drop_idle(c, /*brief=*/false);
}

/* Drops brief plans (for first runs, without compiled loops) with the current key that no thread
 * runs, because a full plan replaces them. */
void rd_cache_drop_brief(rd_cache *c)
{
    drop_idle(c, /*brief=*/true);
}

/* ---- The context's cache --------------------------------------------------------------------- */
/* Frees the kept frame (memory of a run) and all plans that no thread runs, because memory is
 * short. True if there was anything. It does not wait for the lock, as the thread that holds it
 * may be the one that needs memory. */
static bool reclaim(rd_keeper *self)
{
    rd_cache *c     = (rd_cache *)self;
    rd_frame *frame = atomic_exchange(&c->frame, NULL);
    bool      any   = frame;

    rd_frame_free(c->ctx, frame);
    if (!try_lock(c))
        return any;
    any |= drop_entries(c);
    rd_cache_unlock(c);
    return any;
}

/* Frees the cache with its context. */
static void drop(rd_keeper *self)
{
    rd_cache *c = (rd_cache *)self;

    while (c->stats.plans)
        drop_entry(c, c->stats.plans - 1);
    rd_key_free(&c->key);
    rd_findings_free(c->ctx, &c->found);
    rd_free(c->ctx, c->leaf);
    rd_frame_free(c->ctx, c->frame);
    rd_free(c->ctx, c);
}

/* The context's cache; NULL: it has none yet. */
static rd_cache *cache_of(const rd_ctx *ctx)
{
    return (rd_cache *)rd_ctx_keeper(ctx);
}

/* Finds or makes the context's cache; NULL without memory. It is a keeper of the context, which
 * calls reclaim() if memory is short, and drop() at its end. */
rd_cache *rd_cache_get(rd_ctx *ctx)
{
    rd_cache *c = cache_of(ctx);

    if (c || !(c = rd_alloc_quiet(ctx, sizeof *c)))
        return c;
    c->keeper  = (rd_keeper){ reclaim, drop };
    c->ctx     = ctx;
    c->key.ctx = ctx;
    atomic_flag_clear(&c->locked);
    rd_ctx_set_keeper(ctx, &c->keeper);
    return c;
}

/* The counts of the context's cache; all 0 if there is none. */
rd_cache_stats rd_cache_stats_of(const rd_ctx *ctx)
{
    const rd_cache *c = cache_of(ctx);

    return c ? c->stats : (rd_cache_stats){ 0 };
}

/* The measurements that the context keeps in its cache; NULL without memory. */
rd_findings *rd_findings_of(rd_ctx *ctx)
{
    rd_cache *c = rd_cache_get(ctx);

    return c ? &c->found : NULL;
}
