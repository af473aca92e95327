/* ctx.h - the inside of a context, for the files that implement it: fail.c settings.c keeper.c
 * memory.c arena.c node.c ctx.c. */
#ifndef RD_EXPR_CTX_H
#define RD_EXPR_CTX_H
#include "expr/expr.h"
#include <stdatomic.h>

enum { RD_SENTENCE = 2048, RD_FIRST_BUCKETS = 64 };

/* A piece of arena; its memory follows. */
typedef struct rd_chunk {
    struct rd_chunk *older;
    size_t           room, used;
    size_t           padding; /* what follows is aligned to 16 */
} rd_chunk;

/* Debug builds, where the address sanitizer does not: each allocation of the arena is a chunk of
 * its own, and the last that were released are used for nothing else, so that a node that is used
 * after its release is known. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RD_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define RD_ASAN 1
#endif
#if defined(RD_CHECK) && RD_CHECK && !defined(RD_ASAN)
#define RD_GRAVES 4096
#else
#define RD_GRAVES 0
#endif

/* Something found again by its bytes: a node or an interned string, which follows.  `older` was
 * made before it. */
typedef struct rd_kept {
    struct rd_kept *chain, *older;
    uint64_t        hash;
    size_t          size; /* bytes of a string; RD_KEPT_NODE for a node */
} rd_kept;
#define RD_KEPT_NODE SIZE_MAX

/* The inputs by name, and what people call leaves of memory, newest first. */
typedef struct rd_leaf_name {
    struct rd_leaf_name *older;
    rd_expr             *leaf;
    const char          *label, *path; /* for dumps, either or both NULL */
} rd_leaf_name;

/* Owners of leaves by rd_adopt(), newest first. */
typedef struct rd_adopted {
    struct rd_adopted *older;
    void              *owner;
} rd_adopted;

enum { RD_LARGE_KEPT = 8 };

/* Where the context stood: what a release goes back to. */
typedef struct rd_moment {
    uint64_t      serial;   /* of the mark, never used twice in a process */
    bool          released; /* the present was this place at least once  */
    rd_chunk     *chunk;
    size_t        used;
    rd_kept      *newest;
    rd_leaf_name *named;
    rd_adopted   *adopted;
    uint32_t      nodes;
} rd_moment;

struct rd_ctx {
    rd_ctx_opts     opts;
    _Atomic int64_t held, peak; /* bytes */
    /* Large blocks that were worked in, for the next ones; bytes of them all; which one goes
     * next. */
    _Atomic(void *)  large[RD_LARGE_KEPT];
    _Atomic int64_t  large_bytes;
    _Atomic uint32_t large_turn;
    _Atomic int64_t  refused; /* bytes of the last request that failed */

    atomic_bool failing; /* somebody writes, or has written, the sentence */
    atomic_int  status;  /* set after the sentence is complete            */
    atomic_uint warnings;
    bool        measures; /* all its evaluations: RDIM_PLAN_MEASURE */
    rd_backend  prefers;  /* what AUTO takes where it can: RDIM_BACKEND */
    int32_t     devices;  /* GPUs that may share an evaluation          */
    atomic_bool cancel;   /* the run that sees it first ends */
    char        sentence[RD_SENTENCE];
    const char *call; /* who evaluates or plans now; NULL: nobody */

    rd_chunk *chunk, *spare;
#if RD_GRAVES
    void    *grave[RD_GRAVES];
    uint32_t n_grave;
#endif

    rd_kept     **bucket, *newest;
    rd_kept      *first[RD_FIRST_BUCKETS]; /* so that a new context needs no table */
    size_t        n_bucket, n_kept;
    rd_leaf_name *named;
    rd_adopted   *adopted;
    uint32_t      nodes; /* serial of the newest node */
    uint64_t      made;  /* nodes ever                */

    rd_moment *moment; /* the marks that are not ended, oldest first */
    int64_t    n_moment, room_moment;

    rd_owned *owned;

    _Atomic(rd_keeper *)    keeper; /* set once */
    _Atomic(rd_kept_last *) last;
    _Atomic(void *)         planning; /* memory for the next to plan; NULL: taken, or none yet */
};

/* memory.c */
void *rd_hook_allocate(const rd_ctx_opts *opts, int64_t bytes, bool zeroed); /* not counted */
void  rd_hook_release(const rd_ctx_opts *opts, void *p);
void  rd_uncount(rd_ctx *ctx, void *p);            /* for rd_free(), but held no more */
void *rd_alloc_failed(rd_ctx *ctx, int64_t bytes); /* records it; NULL */
bool  rd_drop_kept(rd_ctx *ctx); /* frees what rd_free_work() kept; was there any? */
/* arena.c: gives back what was taken since. */
void rd_arena_rewind(rd_ctx *ctx, rd_chunk *chunk, size_t used);
/* Tests: from now on arenas take memory in chunks of so many bytes; 0: each piece on its own, so that
 * each may be the one that fails. */
void rd_arena_chunks_of(size_t bytes);
void rd_arena_free(rd_ctx *ctx);
/* array.c: frees what was adopted after `last`. */
void rd_abandon(rd_ctx *ctx, const rd_adopted *last);
/* node.c: makes unfindable what was made after `newest`. */
void rd_forget(rd_ctx *ctx, const rd_kept *newest);
#endif
