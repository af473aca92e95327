/* sparse_later.c - products of two sparse matrices whose stored places have not been asked for.
 *
 * A LATER node holds just its operands.  A map that multiplies it by another sparse matrix needs
 * it at that matrix's places alone (sparse_masked.c).  Any other use lists all places of the
 * product.
 *
 * The lists belong to the node.  Later uses find them, also after a release of nodes that were
 * made meanwhile, and so do clones in other contexts.  So the lists lie in a context of their
 * own, with the nodes that read them.  Each use gets a clone of these nodes. */
#include "expr/array.h"
#include "expr/ctx.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include <pthread.h>

/* The lists of a node and its clones, which may belong to contexts of other threads. */
struct rd_lists {
    rd_ctx_opts     opts;  /* hooks of the first node's context */
    _Atomic(int)    users; /* nodes that refer to the lists; the last one frees them */
    pthread_mutex_t lock;  /* held while the product is listed and cloned */
    rd_ctx         *own;   /* NULL: nothing is listed yet */
    rd_expr        *y;     /* the product, a SPARSE in `own` */
};

/* ---- Ownership ------------------------------------------------------------------------------- */
/* One node's share in the lists: a block that is freed when the node is released. */
typedef struct share {
    rd_array_block   block; /* first: the context frees it with the node */
    struct rd_lists *lists;
    rd_expr         *node; /* older than this block, so still there when it is freed */
} share;

/* Removes one user (a node) of `lists`, the shared result of a sparse product; the last one frees
 * them. */
static void release_user(struct rd_lists *lists)
{
    const rd_ctx_opts opts = lists->opts;

    if (atomic_fetch_sub(&lists->users, 1) > 1)
        return;
    rd_ctx_free(lists->own);
    pthread_mutex_destroy(&lists->lock);
    rd_hook_release(&opts, lists);
}

/* Ends a node's share in its lists, the shared result of a sparse product: called when the context
 * releases the node. */
static void drop_share(rd_array_block *block)
{
    share *const s = (share *)(void *)block;

    s->node->lists = NULL;
    release_user(s->lists);
}

/* Allocates zeroed `lists`, which will hold the shared result of a sparse product, without users
 * yet.  NULL after recording that there is no memory. */
static struct rd_lists *new_lists(rd_ctx *ctx)
{
    struct rd_lists *const lists =
        rd_hook_allocate(&ctx->opts, (int64_t)sizeof *lists, /*zeroed=*/true);

    if (!lists || pthread_mutex_init(&lists->lock, NULL) != 0) {
        if (lists)
            rd_hook_release(&ctx->opts, lists);
        rd_alloc_failed(ctx, (int64_t)sizeof *lists);
        return NULL;
    }
    lists->opts = ctx->opts;
    return lists;
}

/* Makes x, a LATER node (a sparse product computed on demand), a user of `lists`, which hold the
 * product once it is computed; NULL: of new ones.  Its share ends when x is released.  A node with
 * lists stays as it is.  NULL after recording that there is no memory. */
static rd_expr *with_lists(rd_expr *x, struct rd_lists *lists)
{
    if (!x || x->lists)
        return x;
    share *const s = rd_alloc(x->ctx, (int64_t)sizeof *s);

    if (s && !lists)
        lists = new_lists(x->ctx);
    if (!s || !lists) {
        rd_free(x->ctx, s);
        return NULL;
    }
    atomic_fetch_add(&lists->users, 1);
    *s = (share){ { x->ctx, drop_share }, lists, /*node=*/x };
    if (!rd_adopt_block(x->ctx, &s->block)) {
        release_user(lists);
        rd_free(x->ctx, s);
        return NULL;
    }
    x->lists = lists;
    return x;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Makes a LATER node: the product of two sparse matrices over the semiring (reducer, op), whose
 * nonzero positions are computed when they are asked for.  It has no fill if a has none. */
rd_expr *rd_product_later(rd_expr *a, rd_expr *b, rd_reducer_id reducer, rd_op op)
{
    const int64_t        extent[] = { a->extent[0], b->extent[1] };
    const int64_t        origin[] = { rd_origin(a, 0), rd_origin(b, 1) };
    const rd_later_facts facts    = { (int32_t)a->type, (int32_t)reducer, (int32_t)op,
                                      !rd_fill_of(a) };

    return with_lists(rd_node(&(rd_expr){ .ctx    = a->ctx,
                                          .kind   = RD_EXPR_LATER,
                                          .type   = a->type,
                                          .rank   = 2,
                                          .n_in   = 2,
                                          .extent = extent,
                                          .origin = rd_somewhere(2, origin),
                                          .in     = (rd_expr *const[]){ a, b } },
                              &facts, sizeof facts),
                      /*lists=*/NULL);
}

/* Makes a LATER, a sparse product computed on demand, of another type.  Both nodes share the
 * product, which is computed in the original type. */
rd_expr *rd_later_as(rd_expr *x, rd_dtype type)
{
    rd_expr node = *x;

    node.type = type;
    /* the new node gets a share of its own */
    node.lists = NULL;
    return with_lists(rd_node(&node, x->as.later, sizeof *x->as.later), x->lists);
}

/* Clones a LATER, a sparse product computed on demand, into node->ctx, with a share in the product
 * of the original.  Hash-consing may find an old node of equal bytes there, whose arrays are gone
 * while others lie in the same memory: its product is dropped. */
rd_expr *rd_clone_later(const rd_expr *node, const rd_expr *of)
{
    rd_expr *const x = rd_node(node, of->as.later, sizeof *of->as.later);

    if (x && x->lists != of->lists)
        x->lists = NULL;
    return with_lists(x, of->lists);
}

/* ---- Places ---------------------------------------------------------------------------------- */
/* Makes a context for the shared result of a product, with as much of the memory limit as `of` has
 * left; NULL if nothing is left. */
static rd_ctx *new_context(rd_ctx *of)
{
    rd_ctx_opts opts = of->opts;

    opts.size = sizeof opts;
    if (opts.memory_limit > 0)
        opts.memory_limit -= rd_memory_now(of);
    if (of->opts.memory_limit > 0 && opts.memory_limit <= 0)
        return NULL;
    return rd_ctx_new(&opts);
}

/* Computes the nonzero positions of the product x, and nodes for its values, in a context of their
 * own, so that they outlive x's nodes and serve clones.  False after recording a failure in x's
 * context. */
static bool list_product(struct rd_lists *lists, rd_expr *x)
{
    static const char           call[] = "rd_matmul";
    rd_ctx *const               own    = new_context(x->ctx);
    const rd_later_facts *const facts  = x->as.later;

    if (!own) {
        rd_alloc_failed(x->ctx, (int64_t)sizeof *own);
        return false;
    }
    rd_expr *const a = rd_clone(own, x->in[0]), *const b = rd_clone(own, x->in[1]);
    rd_expr *const y =
        a && b ? rd_multiply_rows(a, b, (rd_reducer_id)facts->reducer, (rd_op)facts->op, call)
               : NULL;
    if (!y) {
        rd_fail(x->ctx, rd_error(own), "%s", rd_error_text(own));
        rd_ctx_free(own);
        return false;
    }
    lists->own = own;
    lists->y   = y;
    return true;
}

/* Returns x, or, if it is a LATER (a sparse product computed on demand), the SPARSE that it stands
 * for.  That is computed once, under a lock as clones in other threads share it, and then cloned
 * into x's context.  NULL after a failure. */
rd_expr *rd_listed(rd_expr *x)
{
    rd_expr *y = NULL;

    if (!x || !rd_is_later(x))
        return x;
    if (!with_lists(x, /*lists=*/NULL))
        return NULL;
    pthread_mutex_lock(&x->lists->lock);
    /* own is set once the product is listed */
    if (x->lists->own || list_product(x->lists, x))
        y = rd_clone(x->ctx, x->lists->y);
    pthread_mutex_unlock(&x->lists->lock);
    return rd_real_cast(y, x->type);
}

/* Replaces all operands that are sparse products on demand by their results (rd_listed()); false
 * after a failure. */
bool rd_all_listed(int n, rd_expr **x)
{
    bool all = true;

    for (int k = 0; k < n; k++)
        all &= (x[k] = rd_listed(x[k])) != NULL;
    return all;
}
