/* caches.h - sizes of memory near a processor, which plans and tiles are made for.
 *
 * What a plan looks like, what it stores, and so at times its bits, follow from the constants: they
 * are of a processor that many are like, and the same everywhere.  What no bit and no plan's text
 * follows from, the sizes of tiles, goes by this machine: rd_caches(). */
#ifndef RD_CORE_CACHES_H
#define RD_CORE_CACHES_H
#include <stdint.h>

#define RD_L1_BYTES     (32 << 10)
#define RD_L2_BYTES     (1 << 20)
/* an array so large comes from some cache when it is read again soon */
#define RD_CACHED_BYTES (4 << 20)
#define RD_STREAM_BYTES (16 << 20) /* so large a result leaves the caches before it is read again */
#define RD_RUN_BYTES    (16 << 10) /* a run of memory so long is read as fast as any longer one */
/* shorter ones end before prefetchers, which stop at pages, know them */
#define RD_STRIP_BYTES  (4 << 10)

typedef struct rd_cache_sizes {
    int64_t l1, l2; /* bytes, of data, of one core */
} rd_cache_sizes;

/* This machine's, or the constants where it does not say, or says what no cache is like. */
rd_cache_sizes rd_caches(void);
#endif
