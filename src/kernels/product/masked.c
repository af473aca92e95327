/* masked.c - masked products of sparse matrices: C has values only at the places of the mask.
 *
 * By rows: rows of B are added as without a mask, and each index that got a value is marked.  By
 * places: each place of C intersects row i of A with column j of B.  The longer of both is
 * marked in a dense row, and the shorter one is traversed.  Rows mark their own for all columns
 * that are no longer, columns for all shorter rows.  So both are loops over memory, without a
 * search.
 *
 * A place is a pair of indices (i, j) at which a sparse matrix has an element. */
#include "kernels/product/masked.h"
#include "core/float_env.h"
#include "kernels/product/row_steps.h"
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { PIECE = 64 };

/* Working memory of one thread, zeroed. */
typedef struct thread_memory {
    void          *sum; /* a dense row of values, by index                            */
    unsigned char *met; /* by index: 1 if the row that is marked has an element there */
    void          *hit; /* elements of the traversed row that have a marked index     */
} thread_memory;

typedef void masked_of(const rd_row_product *p, const void *a, const void *b, void *c,
                       const thread_memory *own, int64_t from, int64_t to);

/* ---- By rows --------------------------------------------------------------------------------- */
/* Defines a function that computes rows [from, to) of C = A B at the places of the mask (pairs
 * i, j that are wanted). For each element of row i of A, a row of B is added to a dense row of
 * sums; then the wanted sums are copied. A place that got no product (met is 0) is 0. T: type of
 * values; INDEX: of indices; NOTHING, TAKE, OF: the semiring's identity, sum and product. */
#define BY_ROWS(NAME, T, INDEX, NOTHING, TAKE, OF)                                      \
    static void NAME(const rd_row_product *p, const void *av, const void *bv, void *cv, \
                     const thread_memory *own, int64_t from, int64_t to)                \
    {                                                                                   \
        const INDEX *const a_begin = p->a.begin, *const a_column = p->a.column;         \
        const INDEX *const b_begin = p->b.begin, *const b_column = p->b.column;         \
        const INDEX *const c_begin = p->c.begin, *const c_column = p->c.column;         \
        const T *const a = av, *const b = bv;                                           \
        T *const c = cv, *const row = own->sum;                                         \
        unsigned char *const met = own->met;                                            \
                                                                                        \
        for (int64_t i = from; i < to; i++) {                                           \
            const bool any = c_begin[i] < c_begin[i + 1];                               \
                                                                                        \
            for (int64_t q = c_begin[i]; q < c_begin[i + 1]; q++) {                     \
                row[c_column[q]] = NOTHING;                                             \
                met[c_column[q]] = 0;                                                   \
            }                                                                           \
            for (int64_t k = a_begin[i]; any && k < a_begin[i + 1]; k++) {              \
                const T       x    = a[k];                                              \
                const int64_t last = b_begin[a_column[k] + 1];                          \
                                                                                        \
                for (int64_t q = b_begin[a_column[k]]; q < last; q++) {                 \
                    const T y = OF(x, b[q]);                                            \
                                                                                        \
                    row[b_column[q]] = TAKE(row[b_column[q]], y);                       \
                    met[b_column[q]] = 1;                                               \
                }                                                                       \
            }                                                                           \
            for (int64_t q = c_begin[i]; q < c_begin[i + 1]; q++)                       \
                c[q] = met[c_column[q]] ? row[c_column[q]] : 0;                         \
        }                                                                               \
    }

/* ---- By places ------------------------------------------------------------------------------- */
/* Defines a function that lists the elements [from, to) of a row whose column is marked (met is
 * 1), in `hit`, and returns their number. Each is written, and the count only moves if it was a
 * hit: no branch that a processor would predict wrongly. */
#define MEET(INDEX)                                                               \
    static inline int64_t meet_##INDEX(const INDEX *column, INDEX from, INDEX to, \
                                       const unsigned char *met, INDEX *hit)      \
    {                                                                             \
        int64_t n = 0;                                                            \
                                                                                  \
        for (INDEX s = from; s < to; s++) {                                       \
            hit[n] = s;                                                           \
            n += met[column[s]];                                                  \
        }                                                                         \
        return n;                                                                 \
    }
MEET(int32_t)
MEET(int64_t)

/* Prefetches the first three cache lines of the next row that will be traversed: rows lie far
 * apart in memory, and most are short. */
static inline void ask_for(const void *at)
{
    __builtin_prefetch(at);
    __builtin_prefetch((const char *)at + 64);
    __builtin_prefetch((const char *)at + 128);
}

/* Defines functions that compute C place by place: the value at (i, j) is the product of row i
 * of A with column j of B. NAME_along() does row `at` of `cs`: it marks the elements of row `at`
 * of X, then goes along a row of Y for each wanted place and takes the marked ones. With `left`,
 * X is A and Y is the columns of B; else X is the columns of B and Y is A. `mirror` has the
 * place (j, i) with the same value; NULL: none. NAME() does steps [from, to), which are rows of
 * C and then its columns. */
#define BY_PLACES(NAME, T, INDEX, NOTHING, TAKE, OF)                                            \
    static inline void NAME##_along(                                                            \
        const rd_row_places *cs, const rd_row_places *xs, const rd_row_places *ys, const T *x,  \
        const T *y, T *c, const thread_memory *own, int64_t at, bool left, const INDEX *mirror) \
    {                                                                                           \
        const INDEX *const c_begin = cs->begin, *const c_column = cs->column, *to = cs->from;   \
        const INDEX *const x_begin = xs->begin, *const x_column = xs->column;                   \
        const INDEX *const y_begin = ys->begin, *const y_column = ys->column;                   \
        unsigned char *const met = own->met;                                                    \
        INDEX *const         hit = own->hit;                                                    \
        T *const             row = own->sum;                                                    \
                                                                                                \
        if (c_begin[at] == c_begin[at + 1])                                                     \
            return;                                                                             \
        for (INDEX k = x_begin[at]; k < x_begin[at + 1]; k++) {                                 \
            met[x_column[k]] = 1;                                                               \
            row[x_column[k]] = x[k];                                                            \
        }                                                                                       \
        const INDEX last = c_begin[at + 1] - 1;                                                 \
        for (INDEX q = c_begin[at]; q <= last; q++) {                                           \
            const INDEX next = y_begin[c_column[q < last ? q + 1 : q]];                         \
            const INDEX from = y_begin[c_column[q]], end = y_begin[c_column[q] + 1];            \
                                                                                                \
            ask_for(&y_column[next]);                                                           \
            ask_for(&y[next]);                                                                  \
            const int64_t n   = meet_##INDEX(y_column, from, end, met, hit);                    \
            T             sum = NOTHING;                                                        \
                                                                                                \
            for (int64_t h = 0; h < n; h++) {                                                   \
                const T u = row[y_column[hit[h]]], v = y[hit[h]];                               \
                const T each = left ? OF(u, v) : OF(v, u);                                      \
                                                                                                \
                sum = TAKE(sum, each);                                                          \
            }                                                                                   \
            c[to[q]] = n ? sum : 0;                                                             \
            if (mirror)                                                                         \
                c[mirror[q]] = n ? sum : 0;                                                     \
        }                                                                                       \
        for (INDEX k = x_begin[at]; k < x_begin[at + 1]; k++)                                   \
            met[x_column[k]] = 0;                                                               \
    }                                                                                           \
    static void NAME(const rd_row_product *p, const void *a, const void *b, void *c,            \
                     const thread_memory *own, int64_t from, int64_t to)                        \
    {                                                                                           \
        const int64_t rows = p->c.rows;                                                         \
                                                                                                \
        for (int64_t i = from; i < to && i < rows; i++)                                         \
            NAME##_along(&p->by_row, &p->a, &p->b_columns, a, b, c, own, i, true, p->mirror);   \
        for (int64_t i = from > rows ? from : rows; i < to; i++)                                \
            NAME##_along(&p->by_column, &p->b_columns, &p->a, b, a, c, own, i - rows, false,    \
                         NULL);                                                                 \
    }

/* ---- All of them ----------------------------------------------------------------------------- */
#define MASKED(R, O)                                                                         \
    BY_ROWS(R##_##O##_F32, double, int32_t, NOTHING_##R##_F, TAKE_##R##_F, OF_##O##_F)       \
    BY_ROWS(R##_##O##_F64, double, int64_t, NOTHING_##R##_F, TAKE_##R##_F, OF_##O##_F)       \
    BY_ROWS(R##_##O##_I32, int64_t, int32_t, NOTHING_##R##_I, TAKE_##R##_I, OF_##O##_I)      \
    BY_ROWS(R##_##O##_I64, int64_t, int64_t, NOTHING_##R##_I, TAKE_##R##_I, OF_##O##_I)      \
    BY_PLACES(R##_##O##_at_F32, double, int32_t, NOTHING_##R##_F, TAKE_##R##_F, OF_##O##_F)  \
    BY_PLACES(R##_##O##_at_F64, double, int64_t, NOTHING_##R##_F, TAKE_##R##_F, OF_##O##_F)  \
    BY_PLACES(R##_##O##_at_I32, int64_t, int32_t, NOTHING_##R##_I, TAKE_##R##_I, OF_##O##_I) \
    BY_PLACES(R##_##O##_at_I64, int64_t, int64_t, NOTHING_##R##_I, TAKE_##R##_I, OF_##O##_I)
RD_MASKED_ROWS(MASKED)

/* Returns the kernel for the product's reducer (sum), operator (product), way of masking, type, and
 * width of indices (p->wide: i64); NULL: there is none. In names F is f64, I is i64, 32 and 64 the
 * bits of indices, `at` by places. */
static masked_of *masked_kernel(const rd_row_product *p)
{
    const bool ints = p->type == RD_I64, at = p->mask == RD_MASK_BY_PLACES;

#define PICK(R, O)                                                                       \
    if (p->reducer == RD_RED_##R && p->op == RD_OP_##O) {                                \
        masked_of *const all[] = { R##_##O##_F32,    R##_##O##_F64,    R##_##O##_I32,    \
                                   R##_##O##_I64,    R##_##O##_at_F32, R##_##O##_at_F64, \
                                   R##_##O##_at_I32, R##_##O##_at_I64 };                 \
                                                                                         \
        return all[4 * at + 2 * ints + (p->wide != 0)];                                  \
    }
    RD_MASKED_ROWS(PICK)
    return NULL;
}

/* Rounds bytes up to whole cache lines of 64, so that threads do not share a line. */
static int64_t lines(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Returns the bytes of working memory of a thread. If `at` is not NULL, *own gets pointers into it:
 * marks (met), sums, and by places the list of hits. Marks and sums have an entry for each column
 * of B if C is computed by rows, of A if by places. All parts are whole cache lines. */
static int64_t place_thread_memory(const rd_row_product *p, char *at, thread_memory *own)
{
    const bool    places = p->mask == RD_MASK_BY_PLACES;
    const int64_t n      = places ? p->a.columns : p->b.columns;
    const int64_t met = lines(n), each = lines((n + 1) * 8);

    if (at)
        *own = (thread_memory){ at + met, (unsigned char *)at, at + met + each };
    return met + (places ? 2 : 1) * each;
}

/* Copies the values of B, of 8 bytes each, in the order of its columns: b_columns.from has the
 * index of each in B, as i32, or i64 if p->wide. Bytes are copied, so the type does not matter. */
static void transpose_values(const rd_row_product *p, const char *b, char *to)
{
    enum { EACH = sizeof(int64_t) };
    const int32_t *const narrow = p->b_columns.from;
    const int64_t *const wide   = p->b_columns.from;

    for (int64_t q = 0; q < p->b.n && !p->wide; q++)
        memcpy(to + EACH * q, b + EACH * narrow[q], EACH);
    for (int64_t q = 0; q < p->b.n && p->wide; q++)
        memcpy(to + EACH * q, b + EACH * wide[q], EACH);
}

/* Returns the values of B in the order in which the kernel reads them: by rows as they are; by
 * places a copy in the order of columns, in `room`. p->mirror says that the wanted places are
 * symmetric. If also the values of B's columns equal those of A's rows (B is the transpose of A), C
 * is symmetric, and half of it is computed; else mirror is set to NULL. The values are compared as
 * bytes. */
static const void *transposed(rd_row_product *p, const void *a, const void *b, char *room)
{
    if (p->mask != RD_MASK_BY_PLACES)
        return b;
    transpose_values(p, b, room);
    if (p->mirror && memcmp(a, room, (size_t)p->a.n * sizeof(int64_t)) != 0)
        p->mirror = NULL;
    return room;
}

/* Returns how many steps the threads share: one for each row of C. By places without a mirror
 * there is also one for each column, for those wanted places that are cheaper to compute column
 * by column. */
static int64_t steps_of(const rd_row_product *p)
{
    return p->c.rows + (p->mask == RD_MASK_BY_PLACES && !p->mirror ? p->c.columns : 0);
}

/* Computes the values of C at the places of a mask, in pieces of 64 steps that threads take in
 * turn. Each thread runs in the library's floating-point environment (rd_float_env). False: no
 * memory. before: bytes at the begin of the working memory, for the values of B by columns, which
 * all threads share; `bytes` for each thread follow. */
bool rd_masked_product_run(const rd_row_product *of, const void *a, const void *b, void *c,
                           int threads, const rd_row_memory *memory)
{
    rd_row_product   p      = *of;
    masked_of *const kernel = masked_kernel(&p);
    const int64_t    bytes  = place_thread_memory(&p, /*at=*/NULL, NULL);
    const int64_t    before = p.mask == RD_MASK_BY_PLACES ? lines(p.b.n * 8) : 0;
    char *const      room   = memory->get(memory->user, before + bytes * threads);

    if (!room)
        return false;
    b               = transposed(&p, a, b, room);
    const int64_t n = steps_of(&p);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const rd_float_env env = rd_float_env_begin();
        thread_memory      own;
        int                thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        place_thread_memory(&p, room + before + thread * bytes, &own);
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i += PIECE)
            kernel(&p, a, b, c, &own, i, i + PIECE < n ? i + PIECE : n);
        rd_float_env_end(env);
    }
    memory->put(memory->user, room);
    return true;
}
