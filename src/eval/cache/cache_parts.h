/* cache_parts.h - the inside of a context's cache, for cache.c, which keeps, and cached.c, which
 * looks up and runs.
 *
 * A context is used by one thread at a time, but another that runs a plan may need memory and
 * reclaim what is kept here: the lock is for that.  It is held for a moment only, and whoever
 * reclaims does not wait for it. */
#ifndef RD_EVAL_CACHE_CACHE_PARTS_H
#define RD_EVAL_CACHE_CACHE_PARTS_H
#include "eval/cache/cache.h"
#include "eval/cache/key.h"

enum { RD_SAME = 32, RD_SAME_WORDS = 24, RD_SAME_LEAVES = 8, RD_NUMBERED = 64 };

/* A kept plan; the key's words follow. */
typedef struct rd_entry {
    rd_plan   *plan;
    uint64_t   hash, used; /* the turn it was last used in */
    int64_t    bytes;
    atomic_int busy; /* runs of it */
    bool       measured;
    int32_t    runs; /* of a brief plan */
    int32_t    n_word;
    uint64_t   word[];
} rd_entry;

/* Expressions and layouts, by the nodes' numbers that are never used again, and what was found for
 * them. */
typedef struct rd_same {
    rd_entry   *entry; /* NULL: nothing here */
    int32_t     n_word;
    uint64_t    word[RD_SAME_WORDS];
    const void *leaf[RD_SAME_LEAVES];
} rd_same;

typedef struct rd_cache {
    rd_keeper                  keeper; /* first: the context knows this only */
    rd_ctx                    *ctx;
    atomic_flag                locked;
    _Atomic(struct rd_frame *) frame; /* of all plans that are kept: one of them runs at a time */
    rd_key                     key;
    const void               **leaf; /* addresses for a run */
    int32_t                    room_leaf;
    uint64_t                   turn;
    rd_entry                  *entry[RD_CACHE_PLANS];
    rd_same                    same[RD_SAME];
    uint64_t numbered[RD_NUMBERED]; /* hashes of keys with numbers as inputs, for which plans were
                                                       * made that have their values */
    rd_findings    found;
    rd_cache_stats stats;
} rd_cache;

void rd_cache_lock(rd_cache *c);
void rd_cache_unlock(rd_cache *c);
/* Under the lock: drops the plans that were used longest ago, until there is room for one more of
 * that size. */
void rd_cache_make_room(rd_cache *c, int64_t bytes);
/* Under the lock: those with the key that are not measured go, unless they run; and those that are for
 * their first runs alone. */
void rd_cache_drop_unmeasured(rd_cache *c);
void rd_cache_drop_brief(rd_cache *c);
bool rd_cache_matches(const rd_cache *c, const rd_entry *e);
/* The context's cache; NULL without memory, which is not recorded: one can do without. */
rd_cache *rd_cache_made(rd_ctx *ctx);
#endif
