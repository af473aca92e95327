/* ctx.h - the inside of a context.  Only fail.c, settings.c, keeper.c, memory.c, arena.c, node.c
 * and ctx.c use it. */
#ifndef RD_EXPR_CTX_H
#define RD_EXPR_CTX_H
#include "expr/expr.h"
#include <stdatomic.h>

enum { RD_SENTENCE = 2048, RD_FIRST_BUCKETS = 64 };

/* A chunk of the arena; its memory follows the struct. */
typedef struct rd_chunk {
    struct rd_chunk *older;      /* the chunk below it in the stack */
    size_t           room, used; /* bytes of memory, and of them taken */
    size_t           padding;    /* aligns what follows to 16 bytes */
} rd_chunk;

/* Debug builds without the address sanitizer: each allocation of the arena is a chunk of its
 * own.  The last released chunks are not reused, so that uses of released nodes are recognised. */
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

/* An entry of the table of nodes and interned strings, which are found again by their bytes; the
 * bytes follow the struct.  `older` was made before it. */
typedef struct rd_kept {
    struct rd_kept *chain, *older; /* the next one of its bucket; the one made before it */
    uint64_t        hash;          /* of the bytes; of a node, of what makes nodes equal */
    size_t          size;          /* bytes of a string; RD_KEPT_NODE for a node */
} rd_kept;
#define RD_KEPT_NODE SIZE_MAX

/* A named input, or a leaf with a label or path; a list, newest first. */
typedef struct rd_leaf_name {
    struct rd_leaf_name *older;
    rd_expr             *leaf;
    const char          *label, *path; /* for dumps; either may be NULL */
} rd_leaf_name;

/* The owner of a leaf made by rd_adopt(); a list, newest first. */
typedef struct rd_adopted {
    struct rd_adopted *older;
    void              *owner;
} rd_adopted;

enum { RD_LARGE_KEPT = 16 };

/* The state of a context at a mark, to which a release returns: the newest entry of each list. */
typedef struct rd_moment {
    uint64_t      serial;   /* the mark's; never used twice in a process */
    bool          released; /* the context has returned to it at least once */
    rd_chunk     *chunk;
    size_t        used; /* bytes of the chunk */
    rd_kept      *newest;
    rd_leaf_name *named;
    rd_adopted   *adopted;
    uint32_t      nodes; /* serial of the newest node */
} rd_moment;

/* A context.  One thread at a time uses it, except for its atomic fields, which threads of a plan
 * and callers of rd_cancel() touch as well. */
struct rd_ctx {
    rd_ctx_opts     opts;       /* as the caller gave them */
    _Atomic int64_t held, peak; /* bytes allocated now; the most since the last reset */
    /* Large blocks that rd_free_work() keeps for reuse; bytes of all; the next one to replace. */
    _Atomic(void *)  large[RD_LARGE_KEPT];
    _Atomic int64_t  large_bytes;
    _Atomic uint32_t large_turn;
    _Atomic int64_t  refused; /* bytes of the last request that failed */

    atomic_bool failing;               /* a thread writes, or has written, the sentence */
    atomic_int  status;                /* rd_status; set after the sentence is complete */
    atomic_uint warnings;              /* bits */
    bool        measures;              /* RDIM_PLAN_MEASURE: every evaluation is measured */
    rd_backend  prefers;               /* RDIM_BACKEND: the backend that AUTO takes where it can */
    int32_t     devices;               /* GPUs that may share an evaluation */
    atomic_bool cancel;                /* set by rd_cancel(); the first run that sees it ends */
    char        sentence[RD_SENTENCE]; /* of the first failure */
    const char *call;                  /* the public call that evaluates or plans now; NULL: none */

    rd_chunk *chunk, *spare; /* the arena's top chunk; an empty chunk for reuse, or NULL */
#if RD_GRAVES
    void    *grave[RD_GRAVES]; /* released chunks, a ring */
    uint32_t n_grave;
#endif

    rd_kept     **bucket, *newest; /* the hash table of nodes and strings; its newest entry */
    rd_kept      *first[RD_FIRST_BUCKETS]; /* the first table: a new context allocates none */
    size_t        n_bucket, n_kept;        /* buckets, a power of two; entries of the table */
    rd_leaf_name *named;                   /* names of leaves, newest first */
    rd_adopted   *adopted;                 /* arrays that leaves own, newest first */
    uint32_t      nodes;                   /* serial of the newest node */
    uint64_t      made;                    /* nodes ever made */

    rd_moment *moment;                /* the marks that have not ended, oldest first */
    int64_t    n_moment, room_moment; /* marks, and how many fit in `moment` */

    rd_owned *owned; /* things to free with the context, newest first */

    _Atomic(rd_keeper *)    keeper; /* the evaluator's caches; set once */
    _Atomic(rd_kept_last *) last;   /* things to free after all else, newest first */
    _Atomic(void *) planning; /* spare memory for the next planning; NULL: taken, or none yet */
};

/* Allocate and free by the hooks, without counting against the limit. */
void *rd_hook_allocate(const rd_ctx_opts *opts, int64_t bytes, bool zeroed);
void  rd_hook_release(const rd_ctx_opts *opts, void *p);
/* Removes p from the count; rd_free() still frees it. */
void rd_uncount(rd_ctx *ctx, void *p);
/* Records that so many bytes could not be allocated; returns NULL. */
void *rd_alloc_failed(rd_ctx *ctx, int64_t bytes);
/* Frees the blocks that rd_free_work() kept; true if there were any. */
bool rd_drop_kept(rd_ctx *ctx);
/* arena.c: releases all memory taken after this position. */
void rd_arena_rewind(rd_ctx *ctx, rd_chunk *chunk, size_t used);
/* For tests: from now on arenas allocate chunks of this size. 0 makes each piece a chunk of its
 * own, so that each allocation may fail. */
void rd_arena_chunks_of(size_t bytes);
void rd_arena_free(rd_ctx *ctx);
/* array.c: frees the arrays that were adopted after `last`. */
void rd_abandon(rd_ctx *ctx, const rd_adopted *last);
/* node.c: removes from the table the entries that were made after `newest`. */
void rd_forget(rd_ctx *ctx, const rd_kept *newest);
#endif
