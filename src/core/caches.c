/* caches.c - how large this machine's caches are.  Asked once, as some kernels and virtual machines
 * take long to say. */
#define _POSIX_C_SOURCE 200809L /* sysconf() */
#include "core/caches.h"
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Of /sys: 32K, 1024K, 2M; 0 where there is none.  Index 0 is first-level data, 2 the second level,
 * on all that we know. */
static long said_by_files(int index)
{
    char  name[64], unit = 0;
    long  size = 0;
    FILE *file;

    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    file = fopen(name, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%ld%c", &size, &unit) < 1) /* NOLINT(cert-err34-c): ours is the range that is
                                                  * looked at */
        size = 0;
    fclose(file);
    return size < 0 || size > 1 << 20 ? 0
           : unit == 'K'              ? size << 10
           : unit == 'M'              ? size << 20
                                      : size;
}

static long said(int level)
{
    long size = 0;

#ifdef _SC_LEVEL1_DCACHE_SIZE
    size = sysconf(level == 1 ? _SC_LEVEL1_DCACHE_SIZE : _SC_LEVEL2_CACHE_SIZE);
#endif
    return size > 0 ? size : said_by_files(level == 1 ? 0 : 2);
}

static int64_t size_of(int level, _Atomic int64_t *known, int64_t least, int64_t most,
                       int64_t otherwise)
{
    int64_t size = atomic_load_explicit(known, memory_order_relaxed);

    if (size == 0) {
        size = said(level);
        size = size < least || size > most ? otherwise : size;
        atomic_store_explicit(known, size, memory_order_relaxed);
    }
    return size;
}

rd_cache_sizes rd_caches(void)
{
    static _Atomic int64_t l1, l2;

    return (rd_cache_sizes){ .l1 = size_of(1, &l1, 8 << 10, 256 << 10, RD_L1_BYTES),
                             .l2 = size_of(2, &l2, 128 << 10, 16 << 20, RD_L2_BYTES) };
}
