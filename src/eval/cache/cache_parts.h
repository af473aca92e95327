/* cache_parts.h - the inside of a context's cache, shared by cache.c (storage) and cached.c
 * (lookup and runs).
 *
 * A context is used by one thread at a time.  But another thread that runs a plan may need
 * memory and reclaim what is kept here, so there is a lock.  It is held briefly, and reclaiming
 * does not wait for it. */
#ifndef RD_EVAL_CACHE_CACHE_PARTS_H
#define RD_EVAL_CACHE_CACHE_PARTS_H
#include "eval/cache/cache.h"
#include "eval/cache/key.h"

enum { RD_SAME = 32, RD_SAME_WORDS = 24, RD_SAME_LEAVES = 8, RD_NUMBERED = 64 };

/* A cached plan, with its key. */
typedef struct rd_entry {
    rd_plan   *plan;
    uint64_t   hash, used; /* number of the evaluation that used it last */
    int64_t    bytes;      /* of the plan and this entry */
    atomic_int busy;       /* number of its current runs */
    bool       measured;   /* the plan is by a measured choice */
    int32_t    runs;       /* of a brief plan */
    int32_t    n_word;
    uint64_t   word[];
} rd_entry;

/* An entry of the first-level table: expressions and layouts, by the nodes' unique numbers, with
 * the plan found for them. */
typedef struct rd_same {
    rd_entry   *entry; /* NULL: empty */
    int32_t     n_word;
    uint64_t    word[RD_SAME_WORDS];
    const void *leaf[RD_SAME_LEAVES]; /* addresses for a run */
} rd_same;

/* The cache of a context. */
typedef struct rd_cache {
    rd_keeper                  keeper; /* first, as the context knows only this */
    rd_ctx                    *ctx;
    atomic_flag                locked; /* the lock of entry and same */
    _Atomic(struct rd_frame *) frame;  /* shared by all cached plans, one of which runs at a time */
    rd_key                     key;    /* of the current evaluation */
    const void               **leaf;   /* addresses for a run */
    int32_t                    room_leaf;
    uint64_t                   turn; /* number of the current evaluation */
    rd_entry                  *entry[RD_CACHE_PLANS];
    rd_same                    same[RD_SAME];
    /* hashes of keys with numbers as inputs, for which plans with fixed values were made */
    uint64_t       numbered[RD_NUMBERED];
    rd_findings    found; /* measurements */
    rd_cache_stats stats;
} rd_cache;

void rd_cache_lock(rd_cache *c);
void rd_cache_unlock(rd_cache *c);
/* Under the lock: evicts the least recently used plans until one more of that size fits. */
void rd_cache_make_room(rd_cache *c, int64_t bytes);
/* Under the lock: drops plans with the current key that do not run: unmeasured ones; or those
 * for first runs only. */
void rd_cache_drop_unmeasured(rd_cache *c);
void rd_cache_drop_brief(rd_cache *c);
bool rd_cache_matches(const rd_cache *c, const rd_entry *e);
/* The context's cache; NULL without memory, which is not recorded, as one can do without. */
rd_cache *rd_cache_get(rd_ctx *ctx);
#endif
