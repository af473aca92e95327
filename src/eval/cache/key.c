/* key.c - turns an evaluation into a key of words.  Everything that planning may depend on goes
 * in; in doubt it goes in.
 *
 * A node is an expression, and its number in the key stands for it wherever it is an operand.
 * `put` functions append words to the key. */
#include "eval/cache/key.h"
#include "core/row_product.h"
#include "expr/blocks.h"
#include <string.h>

/* Limits of a key.  Larger graphs take long to plan, but they are rarely evaluated twice, and
 * comparing keys costs time, too. */
enum { MAX_NODES = 4096, MAX_WORDS = 1 << 15, FIRST_ROOM = 64, FIRST_WORDS = 1024 };

/* ---- Vectors --------------------------------------------------------------------------------- */
/* Makes room for n items of `size` bytes in a vector that holds `used` ones, by doubling; *room is
 * its capacity in items. False: no memory. The first capacity is larger for the vector of words
 * (64 bits). */
static bool reserve(rd_ctx *ctx, void **vector, int32_t used, int32_t *room, int32_t n, size_t size)
{
    int32_t more = *room ? *room : size == sizeof(uint64_t) ? FIRST_WORDS : FIRST_ROOM;
    void   *p;

    if (n <= *room)
        return true;
    while (more < n)
        more *= 2;
    p = rd_alloc_quiet(ctx, (int64_t)((size_t)more * size));
    if (!p)
        return false;
    if (used)
        memcpy(p, *vector, (size_t)used * size);
    rd_free(ctx, *vector);
    *vector = p;
    *room   = more;
    return true;
}

/* Makes room for n more words; false: the key is too long, or no memory. */
static bool reserve_words(rd_key *key, int64_t n)
{
    return key->n_word + n <= MAX_WORDS &&
           reserve(key->ctx, (void **)&key->word, key->n_word, &key->room_word,
                   (int32_t)(key->n_word + n), sizeof *key->word);
}

/* Appends a word to the key; there must be room. */
static void put(rd_key *key, uint64_t word)
{
    key->word[key->n_word++] = word;
}

/* Appends n bytes as words; the last word is padded with zeros. */
static void put_bytes(rd_key *key, const void *bytes, size_t n)
{
    uint64_t word = 0;

    for (; n >= sizeof word; n -= sizeof word, bytes = (const char *)bytes + sizeof word) {
        memcpy(&word, bytes, sizeof word);
        put(key, word);
    }
    if (n) {
        word = 0;
        memcpy(&word, bytes, n);
        put(key, word);
    }
}

/* Appends a text: its length and its bytes. NULL has a length of its own, UINT64_MAX. False: the
 * key is too long, or no memory. */
static bool put_text(rd_key *key, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    if (n > MAX_WORDS || !reserve_words(key, (int64_t)n / 8 + 2))
        return false;
    put(key, text ? n : UINT64_MAX);
    put_bytes(key, text, n);
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */
/* The entry of an expression in the hash table (open addressing): its own, or the free one where
 * it belongs. An entry that an earlier key made (other round number) counts as free. The table
 * has a power of two of entries, and at least half are free, so the search ends. */
static rd_key_place *place_of(const rd_key *key, const rd_expr *e)
{
    uint64_t mask = (uint64_t)key->room_place - 1,
             at   = (uint64_t)(uintptr_t)e * UINT64_C(0x9E3779B97F4A7C15) >> 40;

    for (;; at++) {
        rd_key_place *p = &key->place[at & mask];

        if (p->round != key->round || p->expr == e)
            return p;
    }
}

/* Doubles the hash table from expressions to nodes, and enters the nodes of the current key again.
 * False: no memory. key->room_place is the size of the table; place_of() finds an entry. */
static bool grow_places(rd_key *key)
{
    int32_t room = key->room_place ? 2 * key->room_place : 2 * FIRST_ROOM;
    void   *more = rd_alloc_quiet(key->ctx, room * (int64_t)sizeof *key->place);

    if (!more)
        return false;
    rd_free(key->ctx, key->place);
    key->place      = more;
    key->room_place = room;
    for (int32_t i = 0; i < key->n_node; i++)
        *place_of(key, key->node[i].expr) = (rd_key_place){ key->node[i].expr, key->round, i };
    return true;
}

/* Appends a leaf (input array) to the key's list; false: no memory. */
static bool new_leaf(rd_key *key, const rd_expr *e)
{
    if (!reserve(key->ctx, (void **)&key->leaf, key->n_leaf, &key->room_leaf, key->n_leaf + 1,
                 sizeof *key->leaf))
        return false;
    key->leaf[key->n_leaf++] = (rd_key_leaf){ .expr = e };
    return true;
}

/* The number of an expression among the key's nodes; at its first call it gets the next one. A
 * leaf also gets a number among leaves. -1: no memory, or too many nodes. place_of() is the
 * entry of e in the hash table, which is valid if its `round` is this key's; half of the table
 * is used at most. key->node and key->leaf are lists in the order of numbers. */
static int32_t number_of(rd_key *key, const rd_expr *e)
{
    rd_key_place *p;
    bool          leaf = e->kind == RD_EXPR_LEAF;

    if (2 * key->n_node >= key->room_place && !grow_places(key))
        return -1;
    p = place_of(key, e);
    if (p->round == key->round)
        return p->node;
    if (key->n_node == MAX_NODES ||
        !reserve(key->ctx, (void **)&key->node, key->n_node, &key->room_node, key->n_node + 1,
                 sizeof *key->node) ||
        (leaf && !new_leaf(key, e)))
        return -1;
    *p                     = (rd_key_place){ e, key->round, key->n_node };
    key->node[key->n_node] = (rd_key_node){ e, leaf ? key->n_leaf - 1 : -1 };
    return key->n_node++;
}

/* Appends the element offsets, one per axis, at which a reader of a node begins. Those of a leaf
 * are relative to its first reader. So a[10:20] and a[11:21] have equal keys, and a[0:9] + a[1:10]
 * keeps the distance 1. `number` is the node's; its reader's offsets become those of the first
 * reader (`first`) if there is none yet. */
static void put_offsets(rd_key *key, int32_t number, const int64_t *offset)
{
    int32_t        leaf = key->node[number].leaf, rank = key->node[number].expr->rank;
    const int64_t *first = NULL;

    if (leaf >= 0) {
        if (!key->leaf[leaf].first)
            key->leaf[leaf].first = offset;
        first = key->leaf[leaf].first;
    }
    for (int a = 0; a < rank; a++)
        put(key, (uint64_t)offset[a] - (first ? (uint64_t)first[a] : 0));
}

/* Appends operand x by its number; NULL: a missing operand, number -1. viewed: the reader is a
 * view, which appends its offsets itself. All others read a leaf from its first element, offset
 * 0. put_offsets() appends a leaf's offset. False: too large, or no memory. */
static bool put_operand(rd_key *key, const rd_expr *x, bool viewed)
{
    static const int64_t origin[RD_MAX_RANK]; /* zeros */
    int32_t              number = x ? number_of(key, x) : -1;

    if (x && (number < 0 || !reserve_words(key, 1 + x->rank)))
        return false;
    put(key, (uint64_t)(int64_t)number);
    if (x && !viewed && key->node[number].leaf >= 0)
        put_offsets(key, number, origin);
    return true;
}

/* ---- Facts ----------------------------------------------------------------------------------- */
/* Appends a view: the offset in its operand, one per axis of that, and the matrix of
 * coefficients. False: too large, or no memory. */
static bool put_view(rd_key *key, const rd_expr *e)
{
    const rd_expr *x      = e->in[0];
    const int64_t *number = e->as.view->number;

    if (!reserve_words(key, (int64_t)x->rank * (1 + e->rank)))
        return false;
    put_offsets(key, place_of(key, x)->node, number);
    put_bytes(key, number + x->rank, (size_t)x->rank * (size_t)e->rank * sizeof *number);
    return true;
}

/* Appends the facts of a user's function. Its texts go in by content, as an address may be that of
 * another text after a release. */
static bool put_call(rd_key *key, const rd_expr *e)
{
    rd_call_facts facts = *e->as.call;

    /* pointers may be reused after a release, so the texts go in */
    facts.name = facts.names = facts.body = NULL;
    facts.derivative                      = NULL;
    put_bytes(key, &facts, sizeof facts);
    return put_text(key, e->as.call->name) && put_text(key, e->as.call->names) &&
           put_text(key, e->as.call->body);
}

/* Appends the facts of a reduction or scan, without pointers. A user's reducer goes in with the
 * texts of its code. Addresses (user, name, code) are cleared in copies, so that equal
 * reductions have equal words. False: no room. */
static bool put_fold(rd_key *key, const rd_expr *e)
{
    rd_fold_facts     facts = *e->as.fold;
    const rd_reducer *user  = facts.user;
    rd_reducer        copy;

    facts.user = NULL;
    put_bytes(key, &facts, sizeof facts);
    if (!user)
        return true;
    memcpy(&copy, user, sizeof copy);
    copy.name = NULL;
    memset(copy.code, 0, sizeof copy.code);
    put_bytes(key, &copy, sizeof copy);
    for (int i = 0; i < 5; i++) /* init, step, merge ... */
        if (!put_text(key, user->code[i]))
            return false;
    return put_text(key, user->name);
}

/* Appends a number's value, and lists it with the index of that word if it may become an input
 * later. Not 0 and 1, which planning simplifies away, nor bool and 16-bit floats. */
static void put_number(rd_key *key, const rd_expr *e)
{
    const rd_word value = e->as.number->value;
    const double  x     = rd_word_to_double(value, e->type);

    if (e->type != RD_BOOL && !rd_dtype_is_narrow_float(e->type) && x != 0 && x != 1) {
        if (key->n_number < RD_KEY_NUMBERS)
            key->number[key->n_number] = (rd_key_number){ e, key->n_word };
        key->n_number++; /* beyond RD_KEY_NUMBERS it only counts */
    }
    put(key, value.u64);
}

/* Appends what a node has beside operands, by its kind. False: no room, or a leaf with a name,
 * which is an input without memory, so that there is no address to run on. */
static bool put_facts(rd_key *key, const rd_expr *e)
{
    if (!reserve_words(key, 2 + RD_MAX_RANK +
                                (int64_t)(sizeof(rd_call_facts) + sizeof(rd_fold_facts) +
                                          sizeof(rd_reducer) + sizeof(rd_row_product)) /
                                    8))
        return false;
    switch (e->kind) {
    case RD_EXPR_LEAF:
        put(key, (uint64_t)e->as.leaf->device);
        /* a plan keeps where a block mask's range lists begin, which depends on the mask; such a
         * leaf has no `below`, and no `below` has its highest bit set */
        put(key, e->blocks ? ~(uint64_t)rd_blocks_lists(e, /*columns=*/true)
                           : (uint64_t)e->as.leaf->below);
        put_bytes(key, e->as.leaf->stride, (size_t)e->rank * sizeof(int64_t));
        return !e->as.leaf->name;
    case RD_EXPR_NUMBER: put_number(key, e); return true;
    case RD_EXPR_TAKE: put(key, (uint64_t)e->as.axis->along); /* fall through */
    case RD_EXPR_COORD:
    case RD_EXPR_CONCAT: put(key, (uint64_t)e->as.axis->axis); return true;
    case RD_EXPR_VIEW: return put_view(key, e);
    case RD_EXPR_CALL: return put_call(key, e);
    case RD_EXPR_REDUCE:
    case RD_EXPR_SCAN: return put_fold(key, e);
    case RD_EXPR_SORT:
        if (!reserve_words(key, 1 + (int64_t)e->as_size / 8))
            return false;
        put_bytes(key, e->as.sort, e->as_size);
        return true;
    case RD_EXPR_PRODUCT: put_bytes(key, e->as.product, e->as_size); return true;
    default: return true;
    }
}

/* Appends a node: kind, type, extents, operands and facts. Operands that are met for the first
 * time join the list of nodes, so that they are appended later. put_operand() appends the number
 * of an operand. */
static bool put_node(rd_key *key, const rd_expr *e)
{
    if (!reserve_words(key, 2 + e->rank + (int64_t)e->n_in))
        return false;
    put(key, (uint64_t)e->kind << 48 | (uint64_t)e->type << 40 | (uint64_t)e->op << 24 |
                 (uint64_t)e->rank);
    put(key, (uint64_t)e->n_in);
    put_bytes(key, e->extent, (size_t)e->rank * sizeof *e->extent);
    for (int k = 0; k < e->n_in; k++)
        if (!put_operand(key, e->in[k], e->kind == RD_EXPR_VIEW) ||
            !reserve_words(key,
                           e->n_in - k)) /* for the operands left, as put_operand() took more */
            return false;
    return put_facts(key, e);
}

/* ---- The key --------------------------------------------------------------------------------- */
/* Appends a requested result: its expression, device, type, and strides in elements. False: too
 * large, or no memory. */
static bool put_request(rd_key *key, const rd_request *r)
{
    if (!reserve_words(key, 2 + RD_MAX_RANK) || !put_operand(key, r->expr, /*viewed=*/false) ||
        !reserve_words(key, 1 + r->expr->rank))
        return false;
    put(key, (uint64_t)r->device << 32 | (uint64_t)r->type);
    put_bytes(key, r->stride, (size_t)r->expr->rank * sizeof *r->stride);
    return true;
}

/* A hash of all words of a key: multiplications with 2^64 divided by the golden ratio, and high
 * bits folded down. */
uint64_t rd_key_hash(const rd_key *key)
{
    uint64_t hash = (uint64_t)key->n_word;

    for (int32_t i = 0; i < key->n_word; i++) {
        hash = (hash ^ key->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Starts an empty key. A new round number makes all entries of the hash table free without
 * clearing it. Only after 2^32 keys, when round numbers come again, is the table freed. False: no
 * memory. */
static bool begin(rd_key *key)
{
    key->n_word = key->n_node = key->n_leaf = key->n_number = 0;
    key->numbers_in                                         = false;
    if (++key->round == 0) {
        rd_free(key->ctx, key->place);
        key->place      = NULL;
        key->room_place = 0;
        key->round      = 1;
    }
    return reserve_words(key, 2);
}

/* Makes the key of an evaluation: options, requests, then each node once, breadth first, as
 * put_node() appends to the list that the loop goes through. False: too large, or no memory. n
 * results are wanted, as `request` says. */
bool rd_key_make(rd_key *key, int n, const rd_request *request, const rd_eval_opts *opts)
{
    if (!begin(key))
        return false;
    put(key, (uint64_t)opts->deterministic << 63 | (uint64_t)opts->async << 62 |
                 (uint64_t)opts->accuracy << 61 | (uint64_t)opts->traversal << 32 |
                 (uint64_t)opts->backend);
    put(key, (uint64_t)opts->threads << 32 | (uint64_t)n);
    for (int k = 0; k < n; k++)
        if (!put_request(key, &request[k]))
            return false;
    for (int32_t i = 0; i < key->n_node; i++)
        if (!put_node(key, key->node[i].expr))
            return false;
    key->hash = rd_key_hash(key);
    return true;
}

/* Elements from the leaf's base to where its first reader begins, which is the address given to
 * runs. 0 if nothing reads it yet. */
int64_t rd_key_shift(const rd_key_leaf *leaf)
{
    int64_t shift = 0;

    for (int a = 0; a < leaf->expr->rank && leaf->first; a++)
        shift += leaf->first[a] * leaf->expr->as.leaf->stride[a];
    return shift;
}

/* The address in memory where the leaf's first reader begins. */
const void *rd_key_address(const rd_key_leaf *leaf)
{
    return (const char *)leaf->expr->as.leaf->data +
           rd_key_shift(leaf) * rd_dtype_size(leaf->expr->type);
}

/* Frees the memory of a key, which may be used again. */
void rd_key_free(rd_key *key)
{
    rd_free(key->ctx, key->word);
    rd_free(key->ctx, key->node);
    rd_free(key->ctx, key->leaf);
    rd_free(key->ctx, key->place);
    *key = (rd_key){ .ctx = key->ctx };
}
