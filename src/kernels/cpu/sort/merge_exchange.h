/* merge_exchange.h - the network that sorts interleaved rows, and its loads and stores: one element
 * of each of some rows becomes contiguous, and back; sort_kernels.h includes it once. */

/* Calls compare(rows, i, i + d) for all pairs of a sorting network of n elements: merge exchange,
 * Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M, whose names p, q, r and d these
 * are.  The pairs depend on n alone, not on keys. */
static ALWAYS void merge_exchange(int64_t n, void (*compare)(void *, int64_t, int64_t), void *rows)
{
    int64_t top = 1;

    while (2 * top < n)
        top *= 2;
    for (int64_t p = top; p > 0; p /= 2) {
        int64_t r = 0, d = p;

        for (int64_t q = top;; q /= 2) {
            for (int64_t i = 0; i + d < n; i++)
                if ((i & p) == r)
                    compare(rows, i, i + d);
            if (q == p)
                break;
            d = q - p;
            r = p;
        }
    }
}

#define TAKE(U)                        \
    for (int64_t l = 0; l < rows; l++) \
    ((U *)to)[l] = *(const U *)(const void *)(from + l * pitch)
/* Gathers one element (of `size` bytes) of each of `rows` rows, `pitch` bytes apart, into
 * contiguous memory: a column of the interleaved rows. */
static void load_column(int size, int64_t rows, const char *from, int64_t pitch, void *to)
{
    switch (size) {
    case 1: TAKE(uint8_t); break;
    case 2: TAKE(uint16_t); break;
    case 4: TAKE(uint32_t); break;
    default: TAKE(uint64_t);
    }
}
#undef TAKE

#define GIVE(U)                        \
    for (int64_t l = 0; l < rows; l++) \
        if (!has[l])                   \
    *(U *)(void *)(to + l * pitch) = ((const U *)from)[l]
/* Scatters contiguous elements, one to each of `rows` rows `pitch` bytes apart.  Rows with has[l]
 * are left alone: they were sorted separately and have their results. */
static void store_column(int size, int64_t rows, const void *from, const bool *has, char *to,
                         int64_t pitch)
{
    switch (size) {
    case 1: GIVE(uint8_t); break;
    case 2: GIVE(uint16_t); break;
    case 4: GIVE(uint32_t); break;
    default: GIVE(uint64_t);
    }
}
#undef GIVE
