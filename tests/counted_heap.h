/* counted_heap.h - a context's memory that is counted, and that is refused behind a number of
 * allocations. One heap for each suite; any number of threads. */
#ifndef RD_TESTS_COUNTED_HEAP_H
#define RD_TESTS_COUNTED_HEAP_H
#include <rdim.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Bytes now, most bytes since it was set, and how many allocations are left before one is
 * refused. */
static struct counted_heap {
    _Atomic(int64_t) held, most, granted;
} heap = { .granted = INT64_MAX };

/* Bytes before a piece: its size stands there, and pieces keep malloc()'s alignment. */
enum { COUNTED_HEAD = 64 };

/* Allocates and counts; NULL if no allocation is left. */
static inline void *counted_heap_take(void *user, int64_t bytes)
{
    int64_t *const p =
        atomic_fetch_sub(&heap.granted, 1) > 0 ? malloc((size_t)bytes + COUNTED_HEAD) : NULL;
    int64_t was = atomic_load(&heap.most), now;

    (void)user;
    if (!p)
        return NULL;
    now = atomic_fetch_add(&heap.held, bytes) + bytes;
    while (was < now && !atomic_compare_exchange_weak(&heap.most, &was, now))
        ;
    *p = bytes;
    return (char *)p + COUNTED_HEAD;
}

/* Frees what counted_heap_take() returned, or NULL. */
static inline void counted_heap_give(void *user, void *p)
{
    int64_t *const piece = p ? (int64_t *)(void *)((char *)p - COUNTED_HEAD) : NULL;

    (void)user;
    if (piece)
        atomic_fetch_sub(&heap.held, *piece);
    free(piece);
}

/* A context with this memory. */
static inline rd_ctx *counted_heap_ctx(void)
{
    return rd_ctx_new(&(rd_ctx_opts){
        .size = sizeof(rd_ctx_opts), .allocate = counted_heap_take, .release = counted_heap_give });
}

/* Counts the most bytes from now on; returns those that are held now. */
static inline int64_t counted_heap_begin(void)
{
    const int64_t held = atomic_load(&heap.held);

    atomic_store(&heap.most, held);
    return held;
}

/* The most bytes since counted_heap_begin(). */
static inline int64_t counted_heap_most(void)
{
    return atomic_load(&heap.most);
}

/* Refuses all allocations behind so many. */
static inline void counted_heap_grant(int64_t allocations)
{
    atomic_store(&heap.granted, allocations);
}

/* Frees the context, and checks that it held nothing more. */
#define counted_heap_end(ctx)                                              \
    do {                                                                   \
        rd_ctx_free(ctx);                                                  \
        ck_assert_msg(atomic_load(&heap.held) == 0, "%lld bytes are left", \
                      (long long)atomic_load(&heap.held));                 \
    } while (0)
#endif
