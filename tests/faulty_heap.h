/* faulty_heap.h - a context's memory whose n-th allocation fails, once or from then on. */
#ifndef RD_TESTS_FAULTY_HEAP_H
#define RD_TESTS_FAULTY_HEAP_H
#include <rdim.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct faulty_heap {
    atomic_llong calls, live;
    long long    fail_at; /* the call that fails, from 0; -1: none */
    bool         lasting; /* and all that follow                   */
    atomic_bool  failed;
} faulty_heap;

static inline void *faulty_heap_take(void *user, int64_t bytes)
{
    faulty_heap    *h = user;
    const long long k = atomic_fetch_add(&h->calls, 1);

    if (h->fail_at >= 0 && (k == h->fail_at || (h->lasting && k > h->fail_at))) {
        atomic_store(&h->failed, true);
        return NULL;
    }
    atomic_fetch_add(&h->live, 1);
    return malloc((size_t)bytes);
}

static inline void faulty_heap_give(void *user, void *p)
{
    faulty_heap *h = user;

    if (p)
        atomic_fetch_sub(&h->live, 1);
    free(p);
}

/* One thread, as allocations of several have no order. */
static inline rd_ctx *faulty_heap_ctx(faulty_heap *h, int32_t device)
{
    return rd_ctx_new(&(rd_ctx_opts){ .size     = sizeof(rd_ctx_opts),
                                      .allocate = faulty_heap_take,
                                      .release  = faulty_heap_give,
                                      .user     = h,
                                      .threads  = 1,
                                      .device   = device });
}
#endif
