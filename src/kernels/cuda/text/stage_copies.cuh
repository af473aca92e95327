/* stage_copies.cuh - copies the rows of a block's items (staged_rows.c) to shared memory, and back.
 *
 * If the rows are contiguous, elements are numbered from the beginning of the vector that contains
 * the first one; those in [skew, end) exist.  Element p lies at p in shared memory, plus PAD for
 * each row before its own.  All threads of a block copy.  `part` is 2^32 / n, rounded up, for n
 * elements in a row: so the upper half of a product is the number of the row. */
/* The row of an element, by a multiplication instead of a division. */
static __forceinline__ int rd_row_at(int element, uint32_t part)
{
    return (int)__umulhi((unsigned)element, part);
}

/* The place of element p in shared memory. */
template <int PAD> static __forceinline__ int rd_place(int p, int skew, uint32_t part)
{
    return PAD ? p + rd_row_at(p - skew, part) * PAD : p;
}

/* Stores a vector to shared memory: at once, or element by element if rows are padded. */
template <class T, int N, int PAD, class S>
static __forceinline__ void rd_fill_pack(S stage, int begin, int p, int skew, uint32_t part,
                                         const rd_pack<T, N> &x)
{
    if (PAD == 0) {
        RD_PUT_SHARED(T, N, stage, begin + p, x);
        return;
    }
    RD_UNROLL for (int l = 0; l < N; l++)
        stage[begin + rd_place<PAD>(p + l, skew, part)] = x.e[l];
}

/* Copies elements [skew, end) to shared memory.  Whole vectors are loaded AHEAD at a time, before
 * the first one is stored. */
template <int THREADS, class T, int N, int PAD, int AHEAD, class S>
static __forceinline__ void rd_fill_rows(S stage, int begin, const T *from, int skew, int end,
                                         uint32_t part)
{
    enum { ROUND = N * THREADS };

    for (int p = N * (int)threadIdx.x; p < end;) {
        if (p >= skew && p + (AHEAD - 1) * ROUND + N <= end) {
            rd_pack<T, N> x[AHEAD];

            RD_UNROLL for (int u = 0; u < AHEAD; u++)
                x[u] = rd_take<T, N>(from + p + u * ROUND);
            RD_UNROLL for (int u = 0; u < AHEAD; u++)
                rd_fill_pack<T, N, PAD>(stage, begin, p + u * ROUND, skew, part, x[u]);
            p += AHEAD * ROUND;
            continue;
        }
        RD_ONE_BY_ONE for (int l = p < skew ? skew - p : 0; l < N && p + l < end; l++)
            stage[begin + rd_place<PAD>(p + l, skew, part)] = from[p + l];
        p += ROUND;
    }
}

/* Loads a vector from shared memory. */
template <class T, int N, int PAD, class S>
static __forceinline__ rd_pack<T, N> rd_drained_pack(S stage, int begin, int p, int skew,
                                                     uint32_t part)
{
    rd_pack<T, N> x;

    if (PAD == 0)
        return RD_TAKE_SHARED(T, N, stage, begin + p);
    RD_UNROLL for (int l = 0; l < N; l++)
        x.e[l] = stage[begin + rd_place<PAD>(p + l, skew, part)];
    return x;
}

/* Copies elements [skew, end) from shared memory to `to`. */
template <int THREADS, class T, int N, int PAD, class S>
static __forceinline__ void rd_drain_rows(S stage, int begin, T *to, int skew, int end,
                                          uint32_t part)
{
    for (int p = N * (int)threadIdx.x; p < end; p += N * THREADS) {
        if (p >= skew && p + N <= end) {
            rd_put<T, N>(to + p, rd_drained_pack<T, N, PAD>(stage, begin, p, skew, part));
            continue;
        }
        RD_ONE_BY_ONE for (int l = p < skew ? skew - p : 0; l < N && p + l < end; l++)
            to[p + l] = stage[begin + rd_place<PAD>(p + l, skew, part)];
    }
}

/* Copies `all` elements to shared memory, of rows of n elements that are `step` apart in memory,
 * and `pitch` apart in shared memory. */
template <int THREADS, class T, class S>
static __forceinline__ void rd_fill_apart(S stage, int begin, const T *from, int all, int n,
                                          int pitch, int64_t step, uint32_t part)
{
    RD_UNROLL_FEW for (int k = (int)threadIdx.x; k < all; k += THREADS) {
        const int row = rd_row_at(k, part);

        stage[begin + row * pitch + k - row * n] = from[row * step + k - row * n];
    }
}

/* The same, from shared memory to `to`. */
template <int THREADS, class T, class S>
static __forceinline__ void rd_drain_apart(S stage, int begin, T *to, int all, int n, int pitch,
                                           int64_t step, uint32_t part)
{
    for (int k = (int)threadIdx.x; k < all; k += THREADS) {
        const int row = rd_row_at(k, part);

        to[row * step + k - row * n] = stage[begin + row * pitch + k - row * n];
    }
}
