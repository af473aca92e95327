/* sparse_product.c - products of sparse matrices by rows (Gustavson).  Each thread has a dense
 * row of values: it clears the places of C in it, adds rows of B, and copies the sums to C.
 *
 * A place is a pair of indices (i, j) at which a sparse matrix has an element. */
#include "core/float_env.h"
#include "kernels/product/masked.h"
#include "kernels/product/row_steps.h"
#include "kernels/product/sparse_product.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- Rows ------------------------------------------------------------------------------------ */
typedef void rd_rows_of(const rd_row_product *p, const void *a, const void *b, void *c, void *room,
                        int64_t from, int64_t to);

/* Defines a function that computes rows [from, to) of C = A B over a semiring with identity
 * NOTHING, sum TAKE and product OF. Each row is summed in `room`, a dense row of values by
 * column; then those at the stored places of C are copied. T: type of values; INDEX: of indices. */
#define ROWS(NAME, T, INDEX, NOTHING, TAKE, OF)                                         \
    static void NAME(const rd_row_product *p, const void *av, const void *bv, void *cv, \
                     void *room, int64_t from, int64_t to)                              \
    {                                                                                   \
        const INDEX *const a_begin = p->a.begin, *const a_column = p->a.column;         \
        const INDEX *const b_begin = p->b.begin, *const b_column = p->b.column;         \
        const INDEX *const c_begin = p->c.begin, *const c_column = p->c.column;         \
        const T *const a = av, *const b = bv;                                           \
        T *const c = cv, *const row = room;                                             \
                                                                                        \
        for (int64_t i = from; i < to; i++) {                                           \
            for (int64_t q = c_begin[i]; q < c_begin[i + 1]; q++)                       \
                row[c_column[q]] = NOTHING;                                             \
            for (int64_t k = a_begin[i]; k < a_begin[i + 1]; k++) {                     \
                const T       x    = a[k];                                              \
                const int64_t last = b_begin[a_column[k] + 1];                          \
                                                                                        \
                for (int64_t q = b_begin[a_column[k]]; q < last; q++) {                 \
                    const T y = OF(x, b[q]);                                            \
                                                                                        \
                    row[b_column[q]] = TAKE(row[b_column[q]], y);                       \
                }                                                                       \
            }                                                                           \
            for (int64_t q = c_begin[i]; q < c_begin[i + 1]; q++)                       \
                c[q] = row[c_column[q]];                                                \
        }                                                                               \
    }

#define ROWS_OF(REDUCER, OP)                                                                \
    ROWS(REDUCER##_##OP##_F32, double, int32_t, NOTHING_##REDUCER##_F, TAKE_##REDUCER##_F,  \
         OF_##OP##_F)                                                                       \
    ROWS(REDUCER##_##OP##_F64, double, int64_t, NOTHING_##REDUCER##_F, TAKE_##REDUCER##_F,  \
         OF_##OP##_F)                                                                       \
    ROWS(REDUCER##_##OP##_I32, int64_t, int32_t, NOTHING_##REDUCER##_I, TAKE_##REDUCER##_I, \
         OF_##OP##_I)                                                                       \
    ROWS(REDUCER##_##OP##_I64, int64_t, int64_t, NOTHING_##REDUCER##_I, TAKE_##REDUCER##_I, \
         OF_##OP##_I)
#define ROWS_OF_REDUCER(REDUCER) RD_ROW_OPS(ROWS_OF, REDUCER)
RD_ROW_REDUCERS(ROWS_OF_REDUCER)

/* Returns the kernel for the product's reducer (the sum of the semiring), operator (its product),
 * type, and width of indices (p->wide: i64); NULL: there is none. In names F is f64, I is i64, 32
 * and 64 the bits of indices. */
static rd_rows_of *rows_of(const rd_row_product *p)
{
    const bool ints = p->type == RD_I64;

#define PICK(REDUCER, OP)                                                     \
    if (p->reducer == RD_RED_##REDUCER && p->op == RD_OP_##OP)                \
        return ints ? (p->wide ? REDUCER##_##OP##_I64 : REDUCER##_##OP##_I32) \
                    : (p->wide ? REDUCER##_##OP##_F64 : REDUCER##_##OP##_F32);
#define PICK_REDUCER(REDUCER) RD_ROW_OPS(PICK, REDUCER)
    RD_ROW_REDUCERS(PICK_REDUCER)
    return NULL;
}

/* Returns an element of an index array of i64 (wide) or i32. */
static inline int64_t index_at(const rd_row_product *p, const void *row, int64_t at)
{
    return p->wide ? ((const int64_t *)row)[at] : ((const int32_t *)row)[at];
}

/* True if no element is infinite or NaN.  The loop has no early exit, so that it is vectorised;
 * the constant is the largest double. */
static bool all_finite(const double *x, int64_t n)
{
    bool bad = false;

    for (int64_t i = 0; i < n; i++)
        bad |= !(fabs(x[i]) <= 1.7976931348623157e308);
    return !bad;
}

/* Sets NaNs in row i of C where a zero that is not stored meets an infinity or NaN, as 0 times
 * infinity is NaN. For each place (i, j) it counts the non-finite elements in row i of A
 * (in_row) and in column j of B (in_column[j]), and those that met a stored element (met[j]). If
 * fewer met one, some met a zero. */
static void set_nans_of_row(const rd_row_product *p, const double *a, const double *b, double *c,
                            const int64_t *in_column, int64_t *met, int64_t i)
{
    const int64_t c_from = index_at(p, p->c.begin, i), c_to = index_at(p, p->c.begin, i + 1);
    int64_t       in_row = 0;

    for (int64_t q = c_from; q < c_to; q++)
        met[index_at(p, p->c.column, q)] = 0;
    for (int64_t k = index_at(p, p->a.begin, i); k < index_at(p, p->a.begin, i + 1); k++) {
        const int64_t row = index_at(p, p->a.column, k), to = index_at(p, p->b.begin, row + 1);

        in_row += !isfinite(a[k]);
        for (int64_t q = index_at(p, p->b.begin, row); q < to; q++)
            met[index_at(p, p->b.column, q)] += !isfinite(a[k]) + !isfinite(b[q]);
    }
    for (int64_t q = c_from; q < c_to; q++) {
        const int64_t j = index_at(p, p->c.column, q);

        if (in_row + in_column[j] > met[j])
            c[q] = NAN;
    }
}

/* Sets the NaNs of C in all rows where zeros that are not stored meet infinities or NaNs. First it
 * counts the non-finite elements of each column of B, in zeroed memory of the caller's; behind
 * these counts lies `met`, which the rows use. False: no memory. */
static bool set_nans(const rd_row_product *p, const double *a, const double *b, double *c,
                     const rd_row_memory *memory)
{
    const int64_t  n         = p->b.columns;
    int64_t *const in_column = memory->get(memory->user, 2 * n * (int64_t)sizeof(int64_t));

    if (!in_column)
        return false;
    for (int64_t q = 0; q < p->b.n; q++)
        in_column[index_at(p, p->b.column, q)] += !isfinite(b[q]);
    for (int64_t i = 0; i < p->a.rows; i++)
        set_nans_of_row(p, a, b, c, in_column, /*met=*/in_column + n, i);
    memory->put(memory->user, in_column);
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* Computes all rows of C = A B, in pieces of 64 that threads take in turn. `room` has a dense row
 * of values for each thread, on cache lines of its own; values have 8 bytes. Each thread runs in
 * the library's floating-point environment (rd_float_env). False: no memory. */
static bool run_rows(const rd_row_product *p, const void *a, const void *b, void *c, int threads,
                     const rd_row_memory *memory)
{
    enum { PIECE = 64 };
    rd_rows_of *const rows  = rows_of(p);
    const int64_t     bytes = (p->b.columns * 8 + 63) / 64 * 64;
    char *const       room  = memory->get(memory->user, bytes * threads);

    if (!room)
        return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const rd_float_env env = rd_float_env_begin();
        char              *own = room;
#ifdef _OPENMP
        own += bytes * omp_get_thread_num();
#endif
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < p->a.rows; i += PIECE)
            rows(p, a, b, c, own, i, i + PIECE < p->a.rows ? i + PIECE : p->a.rows);
        rd_float_env_end(env);
    }
    memory->put(memory->user, room);
    return true;
}

/* Computes the values of C = A B over a semiring, with or without a mask. If elements that are
 * not stored count as zeros (p->counts), results in which such a zero meets an infinity or NaN
 * are then set to NaN. False: no memory. */
bool rd_row_product_run(const rd_row_product *p, const void *a, const void *b, void *c, int threads,
                        const rd_row_memory *memory)
{
    if (!(p->mask ? rd_masked_product_run : run_rows)(p, a, b, c, threads, memory))
        return false;
    if (!p->counts || p->type != RD_F64 || (all_finite(a, p->a.n) && all_finite(b, p->b.n)))
        return true;
    return set_nans(p, a, b, c, memory);
}
