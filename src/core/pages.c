/* pages.c - large pages.  With small ones, filling a row of indices spends most of its time in
 * the kernel's page faults. */
#define _DEFAULT_SOURCE /* madvise */
#include "core/pages.h"
#include <stdint.h>
#include <sys/mman.h>

/* Gives the system a piece of advice (madvise) about those large pages of 2 MiB that lie wholly
 * in a range; shorter ranges have none. */
static inline void advise_large_pages(void *memory, size_t bytes, int advice)
{
    const uintptr_t large = (uintptr_t)2 << 20;
    const uintptr_t from  = ((uintptr_t)memory + large - 1) / large * large;
    const uintptr_t to    = ((uintptr_t)memory + bytes) / large * large;

    if (memory && to > from)
        (void)madvise((void *)from, to - from, advice);
}

/* Asks for large pages where the range has whole ones and the system has them. */
void rd_ask_for_large_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    advise_large_pages(memory, bytes, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

/* Lets the system take back the large pages that lie wholly in a range, with their contents,
 * when it needs memory (MADV_FREE). Where it cannot, nothing is done. */
void rd_let_take_back(void *memory, size_t bytes)
{
#ifdef MADV_FREE
    advise_large_pages(memory, bytes, MADV_FREE);
#else
    (void)memory;
    (void)bytes;
#endif
}
