/* caches.c - the sizes of this machine's caches.  Asked once, because some kernels and virtual
 * machines answer slowly. */
#define _POSIX_C_SOURCE 200809L /* sysconf() */
#include "core/caches.h"
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Reads a size from /sys, such as 32K, 1024K or 2M; 0: there is none.  Index 0 is level-1 data,
 * 2 is level 2, on all known machines. */
static long size_in_sysfs(int index)
{
    char  name[64], unit = 0;
    long  size = 0;
    FILE *file;

    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    file = fopen(name, "re");
    if (!file)
        return 0;
    /* NOLINTNEXTLINE(cert-err34-c): the range is checked below */
    if (fscanf(file, "%ld%c", &size, &unit) < 1)
        size = 0;
    fclose(file);
    return size < 0 || size > 1 << 20 ? 0
           : unit == 'K'              ? size << 10
           : unit == 'M'              ? size << 20
                                      : size;
}

/* Asks the system for the size of a cache level; 0: unknown. */
static long asked_size(int level)
{
    long size = 0;

#ifdef _SC_LEVEL1_DCACHE_SIZE
    size = sysconf(level == 1 ? _SC_LEVEL1_DCACHE_SIZE : _SC_LEVEL2_CACHE_SIZE);
#endif
    return size > 0 ? size : size_in_sysfs(level == 1 ? 0 : 2);
}

/* Returns the size of a cache level in bytes, which is asked for once and kept in *known;
 * `otherwise` if the answer is not between `least` and `most`. *known is 0 until then. */
static int64_t size_of(int level, _Atomic int64_t *known, int64_t least, int64_t most,
                       int64_t otherwise)
{
    int64_t size = atomic_load_explicit(known, memory_order_relaxed);

    if (size == 0) {
        size = asked_size(level);
        size = size < least || size > most ? otherwise : size;
        atomic_store_explicit(known, size, memory_order_relaxed);
    }
    return size;
}

/* The sizes of this machine's data caches.  Answers outside of 8 KiB to 256 KiB (level 1) and 128
 * KiB to 16 MiB (level 2) are not believed. */
rd_cache_sizes rd_caches(void)
{
    static _Atomic int64_t l1, l2;

    return (rd_cache_sizes){ .l1 = size_of(1, &l1, 8 << 10, 256 << 10, RD_L1_BYTES),
                             .l2 = size_of(2, &l2, 128 << 10, 16 << 20, RD_L2_BYTES) };
}
