/* caches.h - cache sizes that plans and tiles are made for.
 *
 * The shape of a plan, what it stores, and so sometimes its bits, follow from the constants.
 * They describe a common processor and are the same everywhere.  Tile sizes, which change no bit
 * and no text of a plan, follow this machine: rd_caches(). */
#ifndef RD_CORE_CACHES_H
#define RD_CORE_CACHES_H
#include <stdint.h>

#define RD_L1_BYTES     (32 << 10) /* level-1 data cache of a core */
#define RD_L2_BYTES     (1 << 20)  /* level-2 cache of a core */
/* an array up to this size is still in some cache when it is read again soon */
#define RD_CACHED_BYTES (4 << 20)
#define RD_STREAM_BYTES (16 << 20) /* so large a result leaves the caches before it is read again */
#define RD_RUN_BYTES    (16 << 10) /* a longer run of memory is read no faster */
/* shorter runs end before prefetchers, which stop at pages, recognise them */
#define RD_STRIP_BYTES  (4 << 10)

/* Sizes of this machine's data caches. */
typedef struct rd_cache_sizes {
    int64_t l1, l2; /* bytes of data cache, of one core */
} rd_cache_sizes;

/* This machine's sizes; the constants if it does not tell them, or tells unlikely ones. */
rd_cache_sizes rd_caches(void);
#endif
