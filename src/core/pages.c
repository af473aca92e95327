/* pages.c - large pages: with small ones most of the time that a row of indices takes to make is
 * the system's, which gives pages one by one. */
#define _DEFAULT_SOURCE /* madvise */
#include "core/pages.h"
#include <stdint.h>
#include <sys/mman.h>

void rd_ask_for_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t large = (uintptr_t)2 << 20;
    const uintptr_t from  = ((uintptr_t)memory + large - 1) / large * large;
    const uintptr_t to    = ((uintptr_t)memory + bytes) / large * large;

    if (memory && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}
