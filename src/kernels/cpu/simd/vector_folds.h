/* vector_folds.h - the reductions that must run at the speed of memory, written by hand
 * (fused_folds.def): sum, prod, min, max of elements or of a fused map, in vectors of the
 * instruction set.
 *
 * Two loop orders give one result.  Few states (the lanes of a row's combine tree) stay in
 * registers, down all rows.  Many states (columns) go along the row, four rows at a time if rows
 * are wide (unroll-and-jam): a state is loaded once per four elements.  Narrow contiguous rows go
 * one at a time, as one stream of memory is twice as fast as four (Zen 4: 32 against 17 GB/s for
 * rows of 2 KiB).
 *
 * instances/folds_*.c include it once per float type, with ELEM, T, I (an int as wide) set, and
 * FROM, M: the elements in memory.  Halves become f32 as they are loaded, and only maps of one
 * operand are fused with their folds. */
/* vectors of states kept in registers */
#define STRIP (RD_TREE_ROW / RD_VECTOR_BYTES < 8 ? RD_TREE_ROW / RD_VECTOR_BYTES : 8)
#define WIDE  (16384 / (int64_t)sizeof(M))
#if defined(__AVX512F__)
#define HOLDS(n) ((n) <= 16) /* of 32 vectors */
#else
#define HOLDS(n) 0
#endif

/* Loads the operands of row r, states l ... */
#define AT_1(r, l)      const VEC x = JOIN(load, FROM)(px + (r)*ldx + (l));
#define AT_2(r, l)      AT_1(r, l) const VEC y = JOIN(load, FROM)(py + (r)*ldy + (l));
#define AT_S(r, l)      AT_1(r, l) const VEC y = py[(r)*ldy] - (VEC){ 0 };
#define PART_1(r, l, n) const VEC x = JOIN(load_part, FROM)(px + (r)*ldx + (l), n);
#define PART_2(r, l, n) PART_1(r, l, n) const VEC y = JOIN(load_part, FROM)(py + (r)*ldy + (l), n);

#define PART_S(r, l, n) PART_1(r, l, n) const VEC y = py[(r)*ldy] - (VEC){ 0 };

/* Steps that are prefetched ahead if they are contiguous, 8 KiB, and if this processor gains by
 * that (prefetch.c).  Otherwise memory idles while the tree takes a block (Zen 5, sums of f32 from
 * memory: 36.7 GB/s without, 39.5 with).  Rows far apart are not prefetched: 16 KiB apart they
 * would evict each other from the first-level cache. */
#define STEPS_AHEAD 32
#define AHEAD(ld)   (rows == 1 || (ld) == along ? STEPS_AHEAD * n : 0)
#define FETCH(p, r, ld, l, k)                       \
    if (fetches && (k)*LANES * sizeof(M) % 64 == 0) \
        __builtin_prefetch((p) + (r) * (ld) + (l) + (k)*LANES + AHEAD(ld));
#define FETCH_1(r, l, k) FETCH(px, r, ldx, l, k)
#define FETCH_2(r, l, k) FETCH(px, r, ldx, l, k) FETCH(py, r, ldy, l, k)
#define FETCH_S(r, l, k) FETCH(px, r, ldx, l, k)

/* Updates `count` vectors of states from l on, which stay in registers down all rows. */
#define HELD(count, reducer, operands, ...)                                            \
    VEC v[count];                                                                      \
    UNROLL(16)                                                                         \
    for (int k = 0; k < (count); k++)                                                  \
        v[k] = JOIN(load, ELEM)(s + l + k * LANES);                                    \
    for (int64_t r = 0; r < rows; r++) {                                               \
        UNROLL(16)                                                                     \
        for (int k = 0; k < (count); k++) {                                            \
            AT_##operands(r, l + k * LANES) v[k] = TAKES_##reducer(v[k], __VA_ARGS__); \
        }                                                                              \
    }                                                                                  \
    UNROLL(16)                                                                         \
    for (int k = 0; k < (count); k++)                                                  \
        *(VEC *)(s + l + k * LANES) = v[k];

/* strip_NAME(): updates n states with `rows` rows of elements.  Up to 16 vectors of states stay in
 * registers down all rows; more go along the row, four rows at a time (unroll-and-jam) if rows are
 * wide or not contiguous. */
#define STRIP_KERNEL(name, reducer, operands, ...)                                   \
    static void JOIN(name, FROM)(const rd_fold_rows *q)                              \
    {                                                                                \
        T *const       s  = q->s[0];                                                 \
        const M *const px = q->x, *const py = q->y;                                  \
        /* Copies: a store might change q, for all that compilers know. */           \
        const int64_t n = q->n, rows = q->rows, ldx = q->ldx, ldy = q->ldy;          \
        int64_t       l = 0;                                                         \
        (void)py, (void)ldy;                                                         \
        if (n <= 2 * STRIP * LANES)                                                  \
            for (; l + STRIP * LANES <= n; l += STRIP * LANES) {                     \
                HELD(STRIP, reducer, operands, __VA_ARGS__)                          \
            }                                                                        \
        else if (n == 3 * STRIP * LANES && HOLDS(3 * STRIP)) {                       \
            HELD(3 * STRIP, reducer, operands, __VA_ARGS__)                          \
            l = n;                                                                   \
        } else {                                                                     \
            int64_t       r     = 0;                                                 \
            const int64_t whole = n / LANES * LANES;                                 \
            for (; (n >= WIDE || ldx != n) && r + 4 <= rows; r += 4)                 \
                for (l = 0; l < whole; l += LANES) {                                 \
                    VEC v = JOIN(load, ELEM)(s + l);                                 \
                    UNROLL(4)                                                        \
                    for (int k = 0; k < 4; k++) {                                    \
                        AT_##operands(r + k, l) v = TAKES_##reducer(v, __VA_ARGS__); \
                    }                                                                \
                    *(VEC *)(s + l) = v;                                             \
                }                                                                    \
            for (; r < rows; r++)                                                    \
                _Pragma("GCC unroll 4") for (l = 0; l < whole; l += LANES)           \
                {                                                                    \
                    AT_##operands(r, l) * (VEC *)(s + l) =                           \
                        TAKES_##reducer(JOIN(load, ELEM)(s + l), __VA_ARGS__);       \
                }                                                                    \
            l = whole;                                                               \
        }                                                                            \
        for (; l < n; l += LANES) {                                                  \
            const int64_t left = n - l < LANES ? n - l : LANES;                      \
            VEC           v    = JOIN(load_part, ELEM)(s + l, left);                 \
            for (int64_t r = 0; r < rows; r++) {                                     \
                PART_##operands(r, l, left) v = TAKES_##reducer(v, __VA_ARGS__);     \
            }                                                                        \
            JOIN(store_part, ELEM)(s + l, v, left);                                  \
        }                                                                            \
    }

/* A smaller kernel for maps that have no other: it holds few vectors, and the tail of columns or
 * rows goes by single vectors. */
#define FEW_HELD (STRIP < 4 ? STRIP : 4)
#define STEP_KERNEL(name, reducer, operands, ...)                                    \
    static void JOIN(name, FROM)(const rd_fold_rows *q)                              \
    {                                                                                \
        T *const       s  = q->s[0];                                                 \
        const M *const px = q->x, *const py = q->y;                                  \
        const int64_t n = q->n, rows = q->rows, ldx = q->ldx, ldy = q->ldy;          \
        const bool    few = n <= 2 * STRIP * LANES;                                  \
        int64_t       l = 0, first = 0;                                              \
        (void)py, (void)ldy;                                                         \
        for (; few && l + FEW_HELD * LANES <= n; l += FEW_HELD * LANES) {            \
            HELD(FEW_HELD, reducer, operands, __VA_ARGS__)                           \
        }                                                                            \
        for (; !few && first + 4 <= rows; first += 4)                                \
            for (l = 0; l + LANES <= n; l += LANES) {                                \
                VEC v = JOIN(load, ELEM)(s + l);                                     \
                UNROLL(4)                                                            \
                for (int k = 0; k < 4; k++) {                                        \
                    AT_##operands(first + k, l) v = TAKES_##reducer(v, __VA_ARGS__); \
                }                                                                    \
                *(VEC *)(s + l) = v;                                                 \
            }                                                                        \
        const int64_t taken = l;                                                     \
        for (l = few ? taken : 0; l < n; l += LANES) {                               \
            const int64_t left = n - l < LANES ? n - l : LANES;                      \
            VEC           v    = JOIN(load_part, ELEM)(s + l, left);                 \
            for (int64_t r = l < taken ? first : 0; r < rows; r++) {                 \
                PART_##operands(r, l, left) v = TAKES_##reducer(v, __VA_ARGS__);     \
            }                                                                        \
            JOIN(store_part, ELEM)(s + l, v, left);                                  \
        }                                                                            \
    }

/* All lanes of a combine tree. */
#define ROW_LANES (RD_TREE_ROW / (int)sizeof(T))

/* Updates the states in v with the elements from element `at` of row r on. */
#define BLOCK_TAKES(count, r, at, reducer, operands, ...)                    \
    UNROLL(16)                                                               \
    for (int k = 0; k < (count); k++) {                                      \
        FETCH_##operands(r, at, k) AT_##operands(r, (at) + k * LANES) v[k] = \
            TAKES_##reducer(v[k], __VA_ARGS__);                              \
    }

/* Folds a block into `count` vectors of states from l on, which stay in registers from the first
 * row to the last. */
#define BLOCK_HELD(count, reducer, operands, ...)                             \
    VEC v[count];                                                             \
    UNROLL(16)                                                                \
    for (int k = 0; k < (count); k++) {                                       \
        AT_##operands(0, l + k * LANES) v[k] = BEGINS_##reducer(__VA_ARGS__); \
    }                                                                         \
    for (int64_t r = 0, at = n; r < rows; r++, at = 0)                        \
        for (; at < along; at += n) {                                         \
            BLOCK_TAKES(count, r, at + l, reducer, operands, __VA_ARGS__)     \
        }                                                                     \
    UNROLL(16)                                                                \
    for (int k = 0; k < (count); k++)                                         \
        for (int i = 0; i < LANES; i++)                                       \
            c[l + k * LANES + i] = v[k][i];

/* Folds full consecutive blocks, a power of two of them, or the beginning of one, for a few lanes
 * or columns.  They become node[0] without states of a block in memory; node[1], ... are for the
 * nodes in between.  A row is one step of n states, or several. */
#define BLOCK_KERNEL(name, reducer, W, operands, ...)                                         \
    static void JOIN(name, FROM)(const rd_fold_rows *q, int64_t blocks, void *const *node)    \
    {                                                                                         \
        const M      *px = q->x, *py = q->y ? q->y : q->x;                                    \
        const int64_t n = q->n, rows = q->rows, along = q->along, ldx = q->ldx,               \
                      ldy  = q->y ? q->ldy : q->ldx;                                          \
        const bool fetches = rd_prefetches_rows;                                              \
        int64_t    depth   = 0;                                                               \
        (void)py;                                                                             \
        for (int64_t b = 0; b < blocks; b++, depth++, px += rows * ldx, py += rows * ldy) {   \
            W      *c = node[depth];                                                          \
            int64_t l = 0;                                                                    \
            if (n == 3 * STRIP * LANES && HOLDS(3 * STRIP)) {                                 \
                BLOCK_HELD(3 * STRIP, reducer, operands, __VA_ARGS__)                         \
                l = n;                                                                        \
            }                                                                                 \
            for (; l + STRIP * LANES <= n; l += STRIP * LANES) {                              \
                BLOCK_HELD(STRIP, reducer, operands, __VA_ARGS__)                             \
            }                                                                                 \
            for (; l < n; l += LANES) {                                                       \
                const int64_t left = n - l < LANES ? n - l : LANES;                           \
                VEC           v;                                                              \
                {                                                                             \
                    PART_##operands(0, l, left) v = BEGINS_##reducer(__VA_ARGS__);            \
                }                                                                             \
                for (int64_t r = 0, at = n; r < rows; r++, at = 0)                            \
                    for (; at < along; at += n) {                                             \
                        PART_##operands(r, at + l, left) v = TAKES_##reducer(v, __VA_ARGS__); \
                    }                                                                         \
                for (int64_t i = 0; i < left; i++)                                            \
                    c[l + i] = v[i];                                                          \
            }                                                                                 \
            for (int64_t k = b; k & 1; k /= 2, depth--)                                       \
                JOIN(merge_##reducer, FROM)(n, node[depth - 1], node[depth]);                 \
        }                                                                                     \
    }

/* Merges n finished states with those of the next sibling.  It is a function, as there are many
 * kernels. */
#define MERGE_NODES(reducer, W)                                                  \
    static void JOIN(merge_##reducer, FROM)(int64_t n, W * left, const W *right) \
    {                                                                            \
        INDEPENDENT                                                              \
        for (int64_t l = 0; l < n; l++)                                          \
            left[l] = ONE_##reducer(left[l], right[l]);                          \
    }
MERGE_NODES(sum, double)
MERGE_NODES(dot, double)
MERGE_NODES(min, T)
MERGE_NODES(max, T)

/* Merges the lanes at the end of a row: lane l takes lane l + h for h = half of them .. 1.  S is
 * the state of a block or node: with one step lanes merge as elements, with more as the reducer's
 * nodes.
 *
 * Compilers shuffle the last lanes if they are written one by one, and else store them to memory.
 * Shuffles are faster (Zen 4: 0.87 of the time), except where conversions to f64 keep the shuffle
 * unit busy. */
#define FINISH_ROW(as, reducer, S, W)                                       \
    static ALWAYS W JOIN(as##_##reducer, FROM)(const S *s)                  \
    {                                                                       \
        const bool widens = sizeof(W) > sizeof(T);                          \
        W          c[ROW_LANES] __attribute__((aligned(64)));               \
        for (int l = 0; l < ROW_LANES / 2; l++)                             \
            c[l] = ONE_##reducer((W)s[l], (W)s[l + ROW_LANES / 2]);         \
        UNROLL(6)                                                           \
        for (int half = ROW_LANES / 4; half >= (widens ? 1 : 4); half /= 2) \
            for (int l = 0; l < half; l++)                                  \
                c[l] = ONE_##reducer(c[l], c[l + half]);                    \
        if (!widens) {                                                      \
            c[0] = ONE_##reducer(c[0], c[2]);                               \
            c[1] = ONE_##reducer(c[1], c[3]);                               \
            c[0] = ONE_##reducer(c[0], c[1]);                               \
        }                                                                   \
        return c[0];                                                        \
    }
#define FINISH_ROWS(reducer, W)       \
    FINISH_ROW(narrow, reducer, T, T) \
    FINISH_ROW(wide, reducer, T, W)   \
    FINISH_ROW(node, reducer, W, W)
FINISH_ROWS(sum, double)
FINISH_ROWS(dot, double)
FINISH_ROWS(prod, T)
FINISH_ROWS(min, T)
FINISH_ROWS(max, T)

/* Totals of rows of several blocks of whole steps, by the kernel of blocks: nodes of falling size,
 * the last of which merge first. y has an element per element of x, or one per row. */
#define ROWS_OF_BLOCKS(reducer, W)                                                          \
    static void JOIN(rows_of_##reducer, FROM)(const rd_fold_rows *q, rd_simd_block *kernel, \
                                              bool y_along, W *to)                          \
    {                                                                                       \
        W     state[RD_TOTAL_LEVELS][ROW_LANES] __attribute__((aligned(64)));               \
        void *node[RD_TOTAL_LEVELS];                                                        \
        for (int k = 0; k < RD_TOTAL_LEVELS; k++)                                           \
            node[k] = state[k];                                                             \
        for (int64_t r = 0; r < q->rows; r++) {                                             \
            const M *px    = (const M *)q->x + r * q->ldx,                                  \
                    *py    = q->y ? (const M *)q->y + r * q->ldy : px;                      \
            rd_fold_rows b = {                                                              \
                .n = ROW_LANES, .rows = 1, .ldx = q->along, .ldy = y_along ? q->along : 0   \
            };                                                                              \
            int depth = 0;                                                                  \
            for (int64_t left = q->n, blocks      = 1; left > 0;                            \
                 left -= blocks * b.along, blocks = 1) {                                    \
                b.along = left < q->along ? left : q->along;                                \
                while (2 * blocks * b.along <= left)                                        \
                    blocks *= 2;                                                            \
                b.x = px + (q->n - left);                                                   \
                b.y = py + (y_along ? q->n - left : 0);                                     \
                kernel(&b, blocks, node + depth++);                                         \
            }                                                                               \
            for (; depth > 1; depth--)                                                      \
                JOIN(merge_##reducer, FROM)(ROW_LANES, state[depth - 2], state[depth - 1]); \
            to[r] = JOIN(node_##reducer, FROM)(state[0]);                                   \
        }                                                                                   \
    }
ROWS_OF_BLOCKS(sum, double)
ROWS_OF_BLOCKS(dot, double)
ROWS_OF_BLOCKS(min, T)
ROWS_OF_BLOCKS(max, T)

/* The identity, which leaves any element as it is, on either side. */
#define IDENTITY_sum  (T)(-0.0)
#define IDENTITY_dot  (T)(-0.0)
#define IDENTITY_prod (T)1
#define IDENTITY_min  (T) INFINITY
#define IDENTITY_max  (T)(-INFINITY)

/* Updates cells one after the other, of all lanes each and in the same block, `cx` and `cy`
 * elements apart.  Each takes rows of its own; fresh cells begin the block with their first row.  A
 * call per cell would make memory wait (Zen 4, rows of 2 KiB: 0.8 of the speed, on 2 threads
 * 0.65). */
#define CELLS_KERNEL(name, reducer, operands, ...)                                                 \
    static void JOIN(name, FROM)(const rd_fold_rows *q, int64_t cells, int64_t cx, int64_t cy,     \
                                 bool fresh)                                                       \
    {                                                                                              \
        const int64_t rows = q->rows, ldx = q->ldx, ldy = q->ldy;                                  \
        for (int64_t c = 0; c < cells; c++)                                                        \
            for (int64_t l = 0; l < ROW_LANES; l += STRIP * LANES) {                               \
                T *const       s  = (T *)q->s[0] + c * ROW_LANES + l;                              \
                const M *const px = (const M *)q->x + c * cx, *const py =                          \
                                                                  q->y ? (const M *)q->y + c * cy  \
                                                                       : px;                       \
                VEC v[STRIP];                                                                      \
                (void)py, (void)ldy;                                                               \
                UNROLL(8)                                                                          \
                for (int k = 0; k < STRIP; k++)                                                    \
                    if (fresh)                                                                     \
                        v[k] = IDENTITY_##reducer - (VEC){ 0 };                                    \
                    else                                                                           \
                        v[k] = JOIN(load, ELEM)(s + k * LANES);                                    \
                for (int64_t r = 0; r < rows; r++) {                                               \
                    UNROLL(8)                                                                      \
                    for (int k = 0; k < STRIP; k++) {                                              \
                        AT_##operands(r, l + k * LANES) v[k] = TAKES_##reducer(v[k], __VA_ARGS__); \
                    }                                                                              \
                }                                                                                  \
                UNROLL(8)                                                                          \
                for (int k = 0; k < STRIP; k++)                                                    \
                    *(VEC *)(s + k * LANES) = v[k];                                                \
            }                                                                                      \
    }

/* True if y has an element per element of x. */
#define ALONG_1 true
#define ALONG_2 true
#define ALONG_S false

/* Totals of rows that are one block of the combine tree, or a few.  y is of the counter's type W.
 * Overhead counts for rows of a few hundred elements: there are no states in memory and no calls.
 * Part of a step is part of a vector, as a partial store would delay the loads that follow. */
#define TOTAL_KERNEL(name, block, reducer, W, operands, ...)                                       \
    static void JOIN(name, FROM)(const rd_fold_rows *q, void *to)                                  \
    {                                                                                              \
        const bool    fetches = rd_prefetches_rows;                                                \
        const int64_t whole = q->n / ROW_LANES, rest = q->n % ROW_LANES;                           \
        if (q->n > q->along) {                                                                     \
            JOIN(rows_of_##reducer, FROM)(q, JOIN(block, FROM), ALONG_##operands, to);             \
            return;                                                                                \
        }                                                                                          \
        for (int64_t r = 0; r < q->rows; r++) {                                                    \
            const M *const px = (const M *)q->x + r * q->ldx, *const py = q->y ? (const M *)q->y + \
                                                                                     r * q->ldy    \
                                                                               : px;               \
            const int64_t ldx = 0, ldy = 0; /* a row and no other */                               \
            const int64_t rows = 1, along = ROW_LANES,                                             \
                          n = whole > 1 ? ROW_LANES : 0; /* to fetch ahead */                      \
            T s[ROW_LANES] __attribute__((aligned(64)));                                           \
            (void)py, (void)ldx, (void)ldy, (void)rows, (void)along, (void)n;                      \
            for (int64_t l = 0; l < ROW_LANES; l += STRIP * LANES) {                               \
                VEC v[STRIP];                                                                      \
                UNROLL(8)                                                                          \
                for (int k = 0; k < STRIP; k++)                                                    \
                    if (whole) {                                                                   \
                        FETCH_##operands(0, l, k) AT_##operands(0, l + k * LANES) v[k] =           \
                            BEGINS_##reducer(__VA_ARGS__);                                         \
                    } else                                                                         \
                        v[k] = IDENTITY_##reducer - (VEC){ 0 };                                    \
                for (int64_t step = 1; step < whole; step++) {                                     \
                    UNROLL(8)                                                                      \
                    for (int k = 0; k < STRIP; k++) {                                              \
                        FETCH_##operands(0, step *ROW_LANES + l, k)                                \
                            AT_##operands(0, step *ROW_LANES + l + k * LANES) v[k] =               \
                                TAKES_##reducer(v[k], __VA_ARGS__);                                \
                    }                                                                              \
                }                                                                                  \
                if (rest > l) {                                                                    \
                    UNROLL(8)                                                                      \
                    for (int k = 0; k < STRIP; k++) {                                              \
                        const int64_t left = rest - l - k * LANES,                                 \
                                      at   = whole * ROW_LANES + l + k * LANES;                    \
                        if (left >= LANES) {                                                       \
                            AT_##operands(0, at) v[k] = TAKES_##reducer(v[k], __VA_ARGS__);        \
                        } else if (left > 0) {                                                     \
                            PART_##operands(0, at, left) v[k] = JOIN(part_of, ELEM)(               \
                                TAKES_##reducer(v[k], __VA_ARGS__), v[k], left);                   \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
                UNROLL(8)                                                                          \
                for (int k = 0; k < STRIP; k++)                                                    \
                    *(VEC *)(s + l + k * LANES) = v[k];                                            \
            }                                                                                      \
            ((W *)to)[r] = q->n <= ROW_LANES ? JOIN(narrow_##reducer, FROM)(s)                     \
                                             : JOIN(wide_##reducer, FROM)(s); /* one step, more */ \
        }                                                                                          \
    }

/* Totals of rows of one block at most, by the step kernel, with states in memory. */
#define TOTALS_BY_STEP(reducer, W)                                                                 \
    static void JOIN(step_totals_##reducer, FROM)(const rd_fold_rows *q, rd_simd_rows *step,       \
                                                  W *to)                                           \
    {                                                                                              \
        const int64_t whole = q->n / ROW_LANES, rest = q->n % ROW_LANES;                           \
        T             s[ROW_LANES] __attribute__((aligned(64)));                                   \
        rd_fold_rows  b = { .s = { s }, .ldx = ROW_LANES, .ldy = ROW_LANES };                      \
        for (int64_t r = 0; r < q->rows; r++) {                                                    \
            const M *const px = (const M *)q->x + r * q->ldx, *const py = q->y ? (const M *)q->y + \
                                                                                     r * q->ldy    \
                                                                               : px;               \
            for (int l = 0; l < ROW_LANES; l++)                                                    \
                s[l] = IDENTITY_##reducer;                                                         \
            b.n    = ROW_LANES;                                                                    \
            b.rows = whole;                                                                        \
            b.x    = px;                                                                           \
            b.y    = py;                                                                           \
            if (whole)                                                                             \
                step(&b);                                                                          \
            b.n    = rest;                                                                         \
            b.rows = 1;                                                                            \
            b.x    = px + whole * ROW_LANES;                                                       \
            b.y    = py + whole * ROW_LANES;                                                       \
            if (rest)                                                                              \
                step(&b);                                                                          \
            to[r] = q->n > ROW_LANES ? JOIN(wide_##reducer, FROM)(s)                               \
                                     : JOIN(narrow_##reducer, FROM)(s);                            \
        }                                                                                          \
    }
TOTALS_BY_STEP(sum, double)
TOTALS_BY_STEP(prod, T)
TOTALS_BY_STEP(min, T)
TOTALS_BY_STEP(max, T)

/* The rows of fused_folds.def. */
#define ABS(x)    JOIN(abs_vec, ELEM)(x)
#define STATE_sum double /* of finished blocks */
#define STATE_dot double
#define STATE_min T
#define STATE_max T
#define MAKE_NONE(...)
#define MAKE_STEP(name, reducer, operands, ...)                             \
    STEP_KERNEL(strip_##name, reducer, operands, __VA_ARGS__)               \
    static void JOIN(total_##name, FROM)(const rd_fold_rows *q, void *to)   \
    {                                                                       \
        JOIN(step_totals_##reducer, FROM)(q, JOIN(strip_##name, FROM), to); \
    }
#define MAKE_EVERY(name, reducer, operands, ...)                                \
    STRIP_KERNEL(strip_##name, reducer, operands, __VA_ARGS__)                  \
    CELLS_KERNEL(cells_##name, reducer, operands, __VA_ARGS__)                  \
    BLOCK_KERNEL(block_##name, reducer, STATE_##reducer, operands, __VA_ARGS__) \
    TOTAL_KERNEL(total_##name, block_##name, reducer, STATE_##reducer, operands, __VA_ARGS__)
#ifdef HALVES
#define WALKS(floats, halves) halves
#else
#define WALKS(floats, halves) floats
#endif
#define RD_FOLD(reducer, map, operands, floats, halves, transposed, ...) \
    JOIN(MAKE, WALKS(floats, halves))(reducer##_##map, reducer, operands, __VA_ARGS__)
#include "kernels/cpu/simd/fused_folds.def"

/* Tables by loop order.  Steps, and totals by them, exist even where no other kernel does. */
#define STEP_OF_NONE(kernel)
#define STEP_OF_STEP(kernel)  kernel
#define STEP_OF_EVERY(kernel) kernel
#define EVERY_OF_NONE(kernel)
#define EVERY_OF_STEP(kernel)
#define EVERY_OF_EVERY(kernel) kernel
#define ENTRY(reducer, map, kind) \
    [RD_RED_##reducer][RD_FUSED_##map] = JOIN(kind##_##reducer##_##map, FROM),

rd_simd_rows *const OF_ISA(JOIN(fused, FROM))[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FOLD(reducer, map, operands, floats, halves, ...) \
    JOIN(STEP_OF, WALKS(floats, halves))(ENTRY(reducer, map, strip))
#include "kernels/cpu/simd/fused_folds.def"
};
rd_simd_cells *const OF_ISA(JOIN(cells, FROM))[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FOLD(reducer, map, operands, floats, halves, ...) \
    JOIN(EVERY_OF, WALKS(floats, halves))(ENTRY(reducer, map, cells))
#include "kernels/cpu/simd/fused_folds.def"
};
rd_simd_totals *const OF_ISA(JOIN(totals, FROM))[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FOLD(reducer, map, operands, floats, halves, ...) \
    JOIN(STEP_OF, WALKS(floats, halves))(ENTRY(reducer, map, total))
#include "kernels/cpu/simd/fused_folds.def"
};
rd_simd_block *const OF_ISA(JOIN(blocks, FROM))[RD_N_REDUCERS][RD_N_FUSED] = {
#define RD_FOLD(reducer, map, operands, floats, halves, ...) \
    JOIN(EVERY_OF, WALKS(floats, halves))(ENTRY(reducer, map, block))
#include "kernels/cpu/simd/fused_folds.def"
};
#undef STATE_sum
#undef STATE_dot
#undef STATE_min
#undef STATE_max
#undef MAKE_NONE
#undef MAKE_STEP
#undef MAKE_EVERY
#undef WALKS
#undef STEP_OF_NONE
#undef STEP_OF_STEP
#undef STEP_OF_EVERY
#undef EVERY_OF_NONE
#undef EVERY_OF_STEP
#undef EVERY_OF_EVERY
#undef ENTRY
#undef ROW_LANES
#undef MERGE_NODES
#undef FINISH_ROW
#undef FINISH_ROWS
#undef ROWS_OF_BLOCKS
#undef IDENTITY_sum
#undef IDENTITY_dot
#undef IDENTITY_prod
#undef IDENTITY_min
#undef IDENTITY_max
#undef BLOCK_KERNEL
#undef BLOCK_TAKES
#undef BLOCK_HELD
#undef ALONG_1
#undef ALONG_2
#undef ALONG_S
#undef TOTAL_KERNEL
#undef TOTALS_BY_STEP
#undef ABS
#undef STRIP
#undef WIDE
#undef HOLDS
#undef HELD
#undef AT_1
#undef AT_2
#undef AT_S
#undef PART_1
#undef PART_2
#undef PART_S
#undef STRIP_KERNEL
#undef STEP_KERNEL
#undef FEW_HELD
#undef CELLS_KERNEL
#undef STEPS_AHEAD
#undef AHEAD
#undef FETCH
#undef FETCH_1
#undef FETCH_2
#undef FETCH_S
