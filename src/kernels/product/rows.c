/* rows.c - products of sparse matrices by rows: each thread has a row of values, of which it begins
 * those where C has places, adds to them row after row of B, and takes them to C. */
#include "kernels/product/rows.h"
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- Steps ----------------------------------------------------------------------------------- */
#define ADD_F(x, y)   ((x) + (y))
#define SUB_F(x, y)   ((x) - (y))
#define MUL_F(x, y)   ((x) * (y))
/* A NaN stays. */
#define MIN_F(x, y)   ((y) != (y) ? (y) : (y) < (x) ? (y) : (x))
#define MAX_F(x, y)   ((y) != (y) ? (y) : (y) > (x) ? (y) : (x))
#define LEAST_F(x, y) ((x) != (x) ? (x) : MIN_F(x, y))
#define MOST_F(x, y)  ((x) != (x) ? (x) : MAX_F(x, y))
/* Ints wrap. */
#define ADD_I(x, y)   ((int64_t)((uint64_t)(x) + (uint64_t)(y)))
#define SUB_I(x, y)   ((int64_t)((uint64_t)(x) - (uint64_t)(y)))
#define MUL_I(x, y)   ((int64_t)((uint64_t)(x) * (uint64_t)(y)))
#define MIN_I(x, y)   ((y) < (x) ? (y) : (x))
#define MAX_I(x, y)   ((y) > (x) ? (y) : (x))

/* ---- Rows ------------------------------------------------------------------------------------ */
typedef void rd_rows_of(const rd_row_product *p, const void *a, const void *b, void *c, void *room,
                        int64_t from, int64_t to);

/* Rows [from, to) of C; `room` is a row of values. */
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

/* Of each reducer, and of each operator below it. */
#define EACH_OP(REDUCER, K, T, INDEX, WIDE, NOTHING, TAKE, LEAST, MOST) \
    ROWS(REDUCER##_mul_##K##WIDE, T, INDEX, NOTHING, TAKE, MUL_##K)     \
    ROWS(REDUCER##_add_##K##WIDE, T, INDEX, NOTHING, TAKE, ADD_##K)     \
    ROWS(REDUCER##_sub_##K##WIDE, T, INDEX, NOTHING, TAKE, SUB_##K)     \
    ROWS(REDUCER##_minimum_##K##WIDE, T, INDEX, NOTHING, TAKE, LEAST)   \
    ROWS(REDUCER##_maximum_##K##WIDE, T, INDEX, NOTHING, TAKE, MOST)
#define EACH_REDUCER(INDEX, WIDE)                                           \
    EACH_OP(sum, F, double, INDEX, WIDE, -0.0, ADD_F, LEAST_F, MOST_F)      \
    EACH_OP(prod, F, double, INDEX, WIDE, 1.0, MUL_F, LEAST_F, MOST_F)      \
    EACH_OP(min, F, double, INDEX, WIDE, INFINITY, MIN_F, LEAST_F, MOST_F)  \
    EACH_OP(max, F, double, INDEX, WIDE, -INFINITY, MAX_F, LEAST_F, MOST_F) \
    EACH_OP(sum, I, int64_t, INDEX, WIDE, 0, ADD_I, MIN_I, MAX_I)           \
    EACH_OP(prod, I, int64_t, INDEX, WIDE, 1, MUL_I, MIN_I, MAX_I)          \
    EACH_OP(min, I, int64_t, INDEX, WIDE, INT64_MAX, MIN_I, MIN_I, MAX_I)   \
    EACH_OP(max, I, int64_t, INDEX, WIDE, INT64_MIN, MAX_I, MIN_I, MAX_I)
EACH_REDUCER(int32_t, narrow)
EACH_REDUCER(int64_t, wide)

enum { REDUCERS = 4, OPS = 5 };
static const rd_reducer_id reducers[REDUCERS] = { RD_RED_sum, RD_RED_prod, RD_RED_min, RD_RED_max };
static const rd_op ops[OPS] = { RD_OP_mul, RD_OP_add, RD_OP_sub, RD_OP_minimum, RD_OP_maximum };
#define LINE(REDUCER, END)                                                                      \
    {                                                                                           \
        REDUCER##_mul_##END, REDUCER##_add_##END, REDUCER##_sub_##END, REDUCER##_minimum_##END, \
            REDUCER##_maximum_##END                                                             \
    }
#define LINES(END)                                                      \
    {                                                                   \
        LINE(sum, END), LINE(prod, END), LINE(min, END), LINE(max, END) \
    }
/* by [ints][wide] */
static rd_rows_of *const rows_of[2][2][REDUCERS][OPS] = { { LINES(Fnarrow), LINES(Fwide) },
                                                          { LINES(Inarrow), LINES(Iwide) } };

static int reducer_number(rd_reducer_id reducer)
{
    int k = 0;

    while (k < REDUCERS && reducers[k] != reducer)
        k++;
    return k;
}

static int op_number(rd_op op)
{
    int k = 0;

    while (k < OPS && ops[k] != op)
        k++;
    return k;
}

bool rd_row_product_has(rd_reducer_id reducer, rd_op op)
{
    return reducer_number(reducer) < REDUCERS && op_number(op) < OPS;
}

/* ---- What is not finite ---------------------------------------------------------------------- */
static inline int64_t index_at(const rd_row_product *p, const void *row, int64_t at)
{
    return p->wide ? ((const int64_t *)row)[at] : ((const int32_t *)row)[at];
}

static bool all_finite(const double *x, int64_t n)
{
    bool bad = false;

    for (int64_t i = 0; i < n; i++)
        bad |= !(fabs(x[i]) <= 1.7976931348623157e308);
    return !bad;
}

/* A place of C is NaN where something that is not finite meets a place that is not stored: more of them
 * stand in its row of A and its column of B than meet stored ones. */
static void count_row(const rd_row_product *p, const double *a, const double *b, double *c,
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

/* False: no memory. */
static bool count(const rd_row_product *p, const double *a, const double *b, double *c,
                  const rd_row_memory *memory)
{
    const int64_t  n         = p->b.columns;
    int64_t *const in_column = memory->get(memory->user, 2 * n * (int64_t)sizeof(int64_t));

    if (!in_column)
        return false;
    for (int64_t q = 0; q < p->b.n; q++)
        in_column[index_at(p, p->b.column, q)] += !isfinite(b[q]);
    for (int64_t i = 0; i < p->a.rows; i++)
        count_row(p, a, b, c, in_column, in_column + n, i);
    memory->put(memory->user, in_column);
    return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */
bool rd_row_product_run(const rd_row_product *p, const void *a, const void *b, void *c, int threads,
                        const rd_row_memory *memory)
{
    enum { PIECE = 64 };
    rd_rows_of *const rows =
        rows_of[p->type == RD_I64][p->wide != 0][reducer_number((rd_reducer_id)p->reducer)]
               [op_number((rd_op)p->op)];
    const int64_t bytes = (p->b.columns * 8 + 63) / 64 * 64;
    char *const   room  = memory->get(memory->user, bytes * threads);

    if (!room)
        return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        char *own = room;
#ifdef _OPENMP
        own += bytes * omp_get_thread_num();
#endif
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < p->a.rows; i += PIECE)
            rows(p, a, b, c, own, i, i + PIECE < p->a.rows ? i + PIECE : p->a.rows);
    }
    memory->put(memory->user, room);
    if (!p->counts || p->type != RD_F64 || (all_finite(a, p->a.n) && all_finite(b, p->b.n)))
        return true;
    return count(p, a, b, c, memory);
}
