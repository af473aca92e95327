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
/* Computes rows [from, to) of C at the places of the mask.  For each element of row i of A, a row
 * of B is added to a dense row.  A place that got no product (met is 0) is 0. */
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
/* Lists the marked elements of a row, without an unpredictable branch. */
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

/* Prefetches the first cache lines of the next row to traverse: rows lie far apart, and most are
 * short. */
static inline void ask_for(const void *at)
{
    __builtin_prefetch(at);
    __builtin_prefetch((const char *)at + 64);
    __builtin_prefetch((const char *)at + 128);
}

/* Computes row `at` of `cs`: marks row `at` of X, then traverses a row of Y for each place.  If
 * `left`, X is A and Y is the columns of B; else X is the columns of B and Y is A.  `mirror`
 * gives the place with the same value, NULL: none. */
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

/* Returns the kernel for the product's reducer, operator, way of masking, type, and width of
 * indices; NULL: there is none. */
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

/* Rounds bytes up to whole cache lines, so that threads do not share a line. */
static int64_t lines(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Returns the bytes of working memory of a thread.  If `at` is given, *own gets pointers into
 * it.  By rows, the marks and the sums have an entry for each column of B; by places, for each
 * column of A, with the list of hits. */
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
 * index of each in B, as i32 or i64 (wide). */
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

/* Returns the values of B in the order in which the kernel reads them: as they are, or by
 * columns in `room`. p->mirror says that C's places are symmetric.  If B's columns also have the
 * values of A's rows, half of C is computed and mirrored; else mirror is dropped. */
static const void *transposed(rd_row_product *p, const void *a, const void *b, char *room)
{
    if (p->mask != RD_MASK_BY_PLACES)
        return b;
    transpose_values(p, b, room);
    if (p->mirror && memcmp(a, room, (size_t)p->a.n * sizeof(int64_t)) != 0)
        p->mirror = NULL;
    return room;
}

/* Returns the steps of the computation: all rows of C, and by places without a mirror also all
 * columns, for those places of C that are computed column by column. */
static int64_t steps_of(const rd_row_product *p)
{
    return p->c.rows + (p->mask == RD_MASK_BY_PLACES && !p->mirror ? p->c.columns : 0);
}

/* Computes the values of C at the places of a mask, in pieces of 64 rows that threads take in
 * turn.  False: no memory.  `before`: bytes for the values of B by columns, which all threads
 * share. */
bool rd_masked_product_run(const rd_row_product *of, const void *a, const void *b, void *c,
                           int threads, const rd_row_memory *memory)
{
    rd_row_product   p      = *of;
    masked_of *const kernel = masked_kernel(&p);
    const int64_t    bytes  = place_thread_memory(&p, NULL, NULL);
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
