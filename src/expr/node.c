/* node.c - hash-consing: equal nodes are one node and equal strings have one address.  A release
 * (rd_ctx_release) forgets entries.
 *
 * An *entry* (rd_kept) is the header of a node or a string in the context's hash table.  Its
 * `chain` leads to the next entry of the bucket, `older` to the entry made before it.  *Facts* are
 * the bytes that describe a node beside its operands and shape.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/ctx.h"
#include "expr/lists.h"
#include "expr/origin.h"
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */
/* Adds 64 bits to a hash: xor, then multiplication with 2^64 over the golden ratio (Fibonacci
 * hashing); the upper bits are folded down. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Adds bytes to a hash, 8 at a time.  The size goes into the last 8, so that trailing zeros
 * count. */
static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t             word;

    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (size > 0)
        memcpy(&word, p, size);
    return mix(hash, word ^ (uint64_t)size << 56);
}

/* The bucket of a hash; the number of buckets is a power of two. */
static rd_kept **bucket_of(rd_ctx *ctx, uint64_t hash)
{
    return &ctx->bucket[hash & (ctx->n_bucket - 1)];
}

/* Doubles the number of buckets of the hash table and distributes all entries again.  Without
 * memory it keeps the old ones, and chains only get longer. */
static void grow(rd_ctx *ctx)
{
    const size_t n      = 2 * ctx->n_bucket;
    rd_kept    **bucket = rd_alloc_quiet(ctx, (int64_t)(n * sizeof(rd_kept *)));

    if (!bucket)
        return;
    for (rd_kept *kept = ctx->newest; kept; kept = kept->older) {
        kept->chain                  = bucket[kept->hash & (n - 1)];
        bucket[kept->hash & (n - 1)] = kept;
    }
    if (ctx->bucket != ctx->first)
        rd_free(ctx, ctx->bucket);
    ctx->bucket   = bucket;
    ctx->n_bucket = n;
}

/* Makes a new entry of the hash table of nodes and strings, with `bytes` of zeroed memory behind it
 * for the node or string.  `size` is that of the string, or RD_KEPT_NODE.  NULL: no memory. */
static rd_kept *keep(rd_ctx *ctx, uint64_t hash, size_t size, size_t bytes)
{
    rd_kept  *kept = rd_arena(ctx, sizeof *kept + bytes);
    rd_kept **bucket;

    if (!kept)
        return NULL;
    if (ctx->n_kept >= ctx->n_bucket)
        grow(ctx);
    bucket      = bucket_of(ctx, hash);
    *kept       = (rd_kept){ .chain = *bucket, .older = ctx->newest, .hash = hash, .size = size };
    *bucket     = kept;
    ctx->newest = kept;
    ctx->n_kept++;
    return kept;
}

/* Removes all entries of the hash table that are newer than `newest`, the newest one at a mark to
 * which the context is released.  Nodes among them get id 0, by which uses after release are
 * found. */
void rd_forget(rd_ctx *ctx, const rd_kept *newest)
{
    while (ctx->newest != newest) {
        rd_kept  *kept = ctx->newest;
        rd_kept **link = bucket_of(ctx, kept->hash);

        while (*link != kept)
            link = &(*link)->chain;
        *link       = kept->chain;
        ctx->newest = kept->older;
        ctx->n_kept--;
        if (kept->size == RD_KEPT_NODE)
            ((rd_expr *)(kept + 1))->id = 0;
    }
}

/* ---- Strings --------------------------------------------------------------------------------- */
/* Returns one address for each distinct byte string: an equal one of the table, or a copy.  NULL
 * without memory. */
const void *rd_intern(rd_ctx *ctx, const void *bytes, size_t size)
{
    const uint64_t hash = mix_bytes(/*hash=*/1, bytes, size);
    rd_kept       *kept;

    for (kept = *bucket_of(ctx, hash); kept; kept = kept->chain)
        if (kept->hash == hash && kept->size == size && memcmp(kept + 1, bytes, size) == 0)
            return kept + 1;
    kept = keep(ctx, hash, size, size);
    return kept ? memcpy(kept + 1, bytes, size) : NULL;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* Hashes what makes nodes equal: kind, type, operator, shape, origins, operands and facts. */
static uint64_t hash_node(const rd_expr *x, const void *facts, size_t size)
{
    uint64_t hash =
        mix(2, (uint64_t)x->kind << 32 | (uint64_t)x->type << 16 | (uint64_t)x->op << 1 | x->weak);

    hash = mix_bytes(hash, x->extent, (size_t)x->rank * sizeof *x->extent);
    if (x->origin)
        hash = mix_bytes(hash, x->origin, (size_t)x->rank * sizeof *x->origin);
    for (int k = 0; k < x->n_in; k++)
        hash = mix(hash, x->in[k] ? x->in[k]->hash : 0);
    return mix_bytes(hash, facts, size);
}

/* True if the bytes are equal; without bytes either pointer may be NULL. */
static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

/* True if both nodes have the same origins; NULL stands for origins that are all 0. */
static bool same_origins(const rd_expr *a, const rd_expr *b)
{
    return !a->origin || !b->origin
               ? a->origin == b->origin
               : same_bytes(a->origin, b->origin, (size_t)a->rank * sizeof *a->origin);
}

/* True if node `a` of the hash table equals `b` with these facts (bytes that describe a node beside
 * shape and operands).  They are passed beside b, as they may not be copied yet.  Equal operands
 * have equal addresses. */
static bool same_node(const rd_expr *a, const rd_expr *b, const void *facts, size_t size)
{
    return a->kind == b->kind && a->type == b->type && a->op == b->op && a->weak == b->weak &&
           a->rank == b->rank && a->n_in == b->n_in && a->as_size == size &&
           same_bytes(a->extent, b->extent, (size_t)a->rank * sizeof *a->extent) &&
           same_origins(a, b) && same_bytes(a->in, b->in, (size_t)a->n_in * sizeof *a->in) &&
           same_bytes(a->as.any, facts, size);
}

/* Copies a node and what it points to into one piece of memory behind its entry of the hash table:
 * node, extents, origins, operands, facts.  It gets its device from its operands, and its serial
 * number and id.  NULL: no memory. */
static rd_expr *copy_node(rd_ctx *ctx, const rd_expr *node, uint64_t hash, const void *facts,
                          size_t size)
{
    const size_t extents  = (size_t)node->rank * sizeof *node->extent,
                 origins  = node->origin ? extents : 0,
                 operands = (size_t)node->n_in * sizeof *node->in;
    rd_kept *kept =
        keep(ctx, hash, RD_KEPT_NODE, sizeof *node + extents + origins + operands + size);
    rd_expr *x;
    char    *behind;

    if (!kept)
        return NULL;
    x      = (rd_expr *)(kept + 1);
    behind = (char *)(x + 1);
    *x     = *node;
    if (extents)
        memcpy(behind, node->extent, extents);
    x->extent = (const int64_t *)behind;
    behind += extents;
    if (origins)
        x->origin = memcpy(behind, node->origin, origins);
    behind += origins;
    if (operands)
        memcpy(behind, node->in, operands);
    x->in = (rd_expr *const *)behind;
    behind += operands;
    if (size)
        memcpy(behind, facts, size);
    for (int k = 0; k < x->n_in; k++)
        x->device = x->in[k] ? rd_same_device(x->device, x->in[k]->device) : x->device;
    x->as.any  = behind; /* never NULL, also without facts */
    x->as_size = size;
    x->hash    = hash;
    x->serial  = ++ctx->nodes;
    x->id      = ++ctx->made;
    return x;
}

/* The name of a kind of node, for messages and dumps. */
const char *rd_expr_kind_name(rd_expr_kind kind)
{
    static const char *const name[] = { "leaf",    "number",  "coord",  "view",
                                        "reshape", "take",    "concat", "map",
                                        "call",    "reduce",  "scan",   "sort",
                                        "product", "complex", "sparse", "sparse product" };

    return kind >= RD_EXPR_LEAF && kind <= RD_EXPR_LATER ? name[kind] : "?";
}

/* True, after recording RD_ERR_TYPE, if a dense kind of node has a sparse operand.  Kinds are in an
 * order: those before COMPLEX are dense, SPARSE and LATER (a product computed on demand) are
 * sparse. */
static bool refuses_sparse(const rd_expr *node)
{
    for (int k = 0; k < node->n_in && node->kind < RD_EXPR_COMPLEX; k++)
        if (node->in[k] && node->in[k]->kind >= RD_EXPR_SPARSE) {
            rd_fail(node->ctx, RD_ERR_TYPE,
                    "a %s of a sparse expression is not known, operand %d; rd_dense() and "
                    "rd_stored() are expressions that it takes",
                    rd_expr_kind_name(node->kind), k);
            return true;
        }
    return false;
}

/* Returns the node that equals `node` with these facts (bytes that describe it beside shape and
 * operands), from the hash table; it makes one if there is none (hash-consing).  Without origins of
 * its own it gets those of its operands.  NULL after a failure. */
rd_expr *rd_node(const rd_expr *node, const void *facts, size_t size)
{
    rd_ctx *ctx  = node->ctx;
    rd_expr made = *node;
    int64_t origin[RD_MAX_RANK];

    if (rd_take_failure(ctx) || refuses_sparse(node)) /* of a list refused earlier (lists.h) */
        return NULL;
    if (!made.origin)
        made.origin = rd_origins_of(node, facts, origin);
    node                = &made;
    const uint64_t hash = hash_node(node, facts, size);
    for (rd_kept *kept = *bucket_of(ctx, hash); kept; kept = kept->chain)
        if (kept->hash == hash && kept->size == RD_KEPT_NODE &&
            same_node((rd_expr *)(kept + 1), node, facts, size))
            return (rd_expr *)(kept + 1);
    return copy_node(ctx, node, hash, facts, size);
}
