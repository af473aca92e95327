/* lookback_scan.cuh - single-pass scans (lookback_scan.c): what a block of threads does for a
 * tile.
 *
 * F describes a scan of the text.  Its `state` is one number.  Its `node` is the total of one or
 * several blocks of 64 elements.  begin() and join() work on both.  words() gives the prefix
 * before a block, as results want it.
 *
 * In each of U rounds a thread has W adjacent elements, so that 64 / W adjacent threads have a
 * block of the combine tree.  A thread that has nothing for a join gives an identity, which
 * changes no bit. */
#define RD_ALL 0xffffffffu

/* ---- Nodes that blocks publish --------------------------------------------------------------- */
/* A word has 32 bits of a node, and a 1 that says that they are there.  One store writes both, so
 * no fence is needed.  Before, the word is 0. */
static __forceinline__ uint64_t rd_peek_word(const uint64_t *at)
{
    return *(const volatile uint64_t *)at;
}

/* Publishes a word for other blocks of threads: one volatile store, as both halves must appear
 * together. */
static __forceinline__ void rd_leave_word(uint64_t *at, uint64_t word)
{
    *(volatile uint64_t *)at = word;
}
#ifndef RD_WAIT_FOR
/* Waits until another block has published the word. */
static __forceinline__ void rd_wait_for(const uint64_t *at)
{
    while (rd_peek_word(at) == 0)
        ;
}
#else
#define rd_wait_for RD_WAIT_FOR
#endif

/* The words of a node. */
#define RD_NODE_WORDS(node) (int)(sizeof(node) / sizeof(uint32_t))

/* Publishes a node. */
template <class N> static __forceinline__ void rd_leave_node(uint64_t *at, N x)
{
    uint32_t half[RD_NODE_WORDS(N)];

    memcpy(half, &x, sizeof x);
    RD_UNROLL for (int k = 0; k < RD_NODE_WORDS(N); k++)
        rd_leave_word(at + k, (uint64_t)half[k] << 32 | 1);
}

/* True if the node is there; then *x is the node. */
template <class N> static __forceinline__ bool rd_peek_node(const uint64_t *at, N *x)
{
    uint32_t half[RD_NODE_WORDS(N)];
    uint64_t all = 1;

    RD_UNROLL for (int k = 0; k < RD_NODE_WORDS(N); k++) {
        const uint64_t word = rd_peek_word(at + k);

        half[k] = (uint32_t)(word >> 32);
        all &= word;
    }
    if (all)
        memcpy(x, half, sizeof *x);
    return all;
}

/* Waits until the node is there. */
template <class N> static __forceinline__ void rd_wait_for_node(const uint64_t *at, N *x)
{
    RD_UNROLL for (int k = 0; k < RD_NODE_WORDS(N); k++)
        rd_wait_for(at + k);
    rd_peek_node(at, x);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */
/* The next tile in order, for all threads of a block.  So a block that waits for an earlier tile
 * waits for a block that has begun. */
static __forceinline__ int64_t rd_next_tile(uint64_t *counter)
{
    RD_SHARED(uint64_t, ticket, 1);

    if (threadIdx.x == 0)
        ticket[0] = atomicAdd((unsigned long long *)counter, 1ULL);
    __syncthreads();
    return (int64_t)(uint64_t)ticket[0];
}

/* Makes elements prefixes of their blocks, by Sklansky's scan (program.h).  In each pass, the
 * last one of `many` elements is joined to all of the next `many`. */
template <class F, int U, int W>
static __forceinline__ void rd_scan_blocks(typename F::state (&v)[U][W])
{
    const int lane = (int)threadIdx.x % 32;

    RD_UNROLL for (int u = 0; u < U; u++) {
        RD_UNROLL for (int many = 1; many < W; many *= 2)
            RD_UNROLL for (int l = 0; l < W; l++)
                if (l & many)
                    v[u][l] = F::join(v[u][(l & -(2 * many)) + many - 1], v[u][l]);
        RD_UNROLL for (int many = 1; many < 64 / W; many *= 2) {
            const int         from = (lane & -(2 * many)) + many - 1;
            typename F::state last = __shfl_sync(RD_ALL, v[u][W - 1], from);

            if (!(lane & many))
                F::begin(&last);
            RD_UNROLL for (int l = 0; l < W; l++)
                v[u][l] = F::join(last, v[u][l]);
        }
    }
}

/* The block of its tile that contains a thread's elements of round u. */
template <int THREADS, int W> static __forceinline__ int rd_block_of(int u)
{
    return (u * THREADS + (int)threadIdx.x) * W / 64;
}

/* Stores the total of each block, by the thread that has the block's last element. */
template <class F, int THREADS, int U, int W, class A>
static __forceinline__ void rd_leave_blocks(const typename F::state (&v)[U][W], A &blocks)
{
    if (threadIdx.x % (64 / W) == 64 / W - 1)
        RD_UNROLL for (int u = 0; u < U; u++)
            blocks[rd_block_of<THREADS, W>(u)] = (typename F::node)v[u][W - 1];
}

/* Moves each prefix to the next element (an exclusive scan). */
template <class F, int U, int W>
static __forceinline__ void rd_exclude(typename F::state (&v)[U][W])
{
    RD_UNROLL for (int u = 0; u < U; u++) {
        typename F::state before = __shfl_up_sync(RD_ALL, v[u][W - 1], 1);

        if (threadIdx.x % (64 / W) == 0)
            F::begin(&before);
        RD_UNROLL for (int l = W - 1; l > 0; l--)
            v[u][l] = v[u][l - 1];
        v[u][0] = before;
    }
}

/* ---- Look-back ------------------------------------------------------------------------------- */
/* The look-back of tile k of n, by a warp.  It publishes the nodes that end with this tile; for
 * those it needs their left siblings.  Then it waits for the other nodes that cover what is
 * before the tile: one for each binary digit of k, and lane l has that of digit l.
 *
 * A node waits only for the nodes in it, so no chain of waits is longer than the tree is high.
 * Returns the total of all tiles before. */
template <class F>
static __forceinline__ typename F::node rd_before_tile(uint64_t *nodes, int64_t n, int64_t k,
                                                       typename F::node mine)
{
    typedef typename F::node node;
    enum { WORDS = RD_NODE_WORDS(node) };
    const int             lane = (int)threadIdx.x % 32;
    const bool            some = k >> lane & 1;
    const uint64_t *const at   = nodes + (rd_nodes_below(n, lane) + (k >> lane) - 1) * WORDS;
    node                  left, before;

    F::begin(&left);
    F::begin(&before);
    if (lane == 0)
        rd_leave_node(nodes + k * WORDS, mine);
    bool here = !some || rd_peek_node(at, &left);
    for (int level = 0; k >> level & 1; level++) {
        if (lane == level && !here) {
            rd_wait_for_node(at, &left);
            here = true;
        }
        mine = F::join(__shfl_sync(RD_ALL, left, level), mine);
        if (lane == 0)
            rd_leave_node(nodes + (rd_nodes_below(n, level + 1) + (k >> (level + 1))) * WORDS,
                          mine);
    }
    if (!here)
        rd_wait_for_node(at, &left);
    for (uint32_t bits = (uint32_t)k; bits;) { /* the largest first */
        const int level = 31 - __clz((int)bits);

        before = F::join(before, __shfl_sync(RD_ALL, left, level));
        bits -= 1u << level;
    }
    return before;
}

/* Computes the prefix before each block of tile k, by a warp.  A lane has up to two blocks.
 * `left` are the siblings of the nodes that contain its own blocks. */
template <class F, int BLOCKS, class A, class B>
static __forceinline__ void rd_before_blocks(A &blocks, B &before, uint64_t *nodes, int64_t n,
                                             int64_t k)
{
    typedef typename F::node node;
    enum { EACH = BLOCKS > 32 ? 2 : 1, LEVELS = 5 };
    static_assert(BLOCKS <= 64, "a lane has up to two blocks");
    const int  first = (int)threadIdx.x % 32 * EACH;
    const bool some  = first < BLOCKS;
    node       own, all, prior, left[LEVELS];

    F::begin(&own);
    F::begin(&prior);
    if (some)
        own = blocks[first];
    all = EACH == 2 ? F::join(own, (node)blocks[first + EACH - 1]) : own;
    RD_UNROLL for (int level = 0; level < LEVELS; level++) {
        left[level] = __shfl_xor_sync(RD_ALL, all, 1 << level);
        all = first / EACH >> level & 1 ? F::join(left[level], all) : F::join(all, left[level]);
    }
    if (n > 1)
        prior = rd_before_tile<F>(nodes, n, k, all);
    RD_UNROLL for (int level = LEVELS - 1; level >= 0; level--)
        if (first / EACH >> level & 1)
            prior = F::join(prior, left[level]);
    if (some)
        before[first] = F::words(prior);
    if (EACH == 2)
        before[first + EACH - 1] = F::words(F::join(prior, own));
}
