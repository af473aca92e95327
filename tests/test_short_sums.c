/* test_short_sums.c - sums of small ints, whose blocks compiled loops add up in 32 bits, and rows
 * that one state takes: exact with the greatest and the least of each type, in the middle of a sum
 * or all along it; and of i32, for which that would not do. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "core/dtype.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100 * 5003 };

static const rd_dtype types[] = { RD_U8, RD_I16, RD_BOOL, RD_U16, RD_I32 };

/* The programs that users write for one question, and what an element adds to it. */
typedef enum question {
    SUM,
    MASKED,
    CHOSEN,
    COUNT_OF,
    OTHERWISE,
    MEAN,
    GREATEST,
    UPPER,    /* of places in or above the diagonal */
    AS_U32,   /* what is negative is large */
    MEAN_U32, /* in doubles */
    AS_I8,    /* what is large is cut */
    N_QUESTIONS
} question;

/* Numbers on both sides of the threshold in each type. */
static rd_expr *threshold(const rd_expr *x)
{
    return rd_cast(rd_int(ctx, rd_type_of(x) == RD_BOOL ? 0 : 100), rd_type_of(x));
}

static rd_expr *asked(rd_expr *x, question q, const rd_reduce_opts *o)
{
    rd_expr *const above = rd_gt(x, threshold(x)), *const less =
                                                       rd_cast(rd_int(ctx, -65535), RD_I64);
    rd_reduce_opts where = *o;

    where.where = q == UPPER ? rd_ge(rd_coord(x, 1), rd_coord(x, 0)) : above;
    switch (q) {
    case SUM: return rd_reduce_name(x, "sum", o);
    case MASKED:
    case UPPER: return rd_reduce_name(x, "sum", &where);
    case CHOSEN: return rd_reduce_name(rd_where(above, x, rd_int(ctx, 0)), "sum", o);
    case COUNT_OF: return rd_reduce_name(above, "count", o);
    case MEAN: return rd_reduce_name(x, "mean", o);
    case GREATEST: return rd_reduce_name(x, "max", o);
    case AS_U32: return rd_reduce_name(rd_cast(x, RD_U32), "sum", o);
    case MEAN_U32: return rd_reduce_name(rd_cast(x, RD_U32), "mean", o);
    case AS_I8: return rd_reduce_name(rd_cast(x, RD_I8), "sum", o);
    default: return rd_reduce_name(rd_where(above, rd_cast(x, RD_I64), less), "sum", o);
    }
}

static int64_t added(int64_t x, rd_dtype type, question q, bool upper)
{
    const bool above = x > (type == RD_BOOL ? 0 : 100);

    switch (q) {
    case SUM:
    case MEAN:
    case GREATEST: return x;
    case UPPER: return upper ? x : 0;
    case AS_U32:
    case MEAN_U32: return (uint32_t)x;
    case AS_I8: return (int8_t)x;
    case COUNT_OF: return above;
    case OTHERWISE: return above ? x : -65535;
    default: return above ? x : 0;
    }
}

/* All one end of the type, or one of both by turns. */
static void fill(void *x, rd_dtype type, int way)
{
    for (int64_t i = 0; i < N; i++) {
        const rd_word w = rd_word_end(type, way == 2 ? i % 7 < 3 : way);

        memcpy((char *)x + i * rd_dtype_size(type), &w, (size_t)rd_dtype_size(type));
    }
}

typedef struct plane {
    const void    *x;
    const int64_t *values; /* the same elements */
    rd_dtype       type;
    int64_t        rows, columns;
} plane;

static void check(const plane *p, question q, int axis, const rd_array *got)
{
    static int64_t want[N];
    const int64_t  n[]     = { p->rows, p->columns, p->rows * p->columns };
    const int64_t  results = axis == 2 ? 1 : n[1 - axis];

    for (int64_t k = 0; k < results; k++)
        want[k] = q == GREATEST ? INT64_MIN : 0;
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->columns; c++) {
            int64_t *const to = &want[axis == 0 ? c : axis == 1 ? r : 0];
            const int64_t  x  = added(p->values[r * p->columns + c], p->type, q, c >= r);

            *to = q == GREATEST ? (x > *to ? x : *to) : *to + x;
        }
    for (int64_t k = 0; k < results; k++) {
        const double exact =
            q == MEAN || q == MEAN_U32 ? (double)want[k] / (double)n[axis] : (double)want[k];

        ck_assert_msg((double)get(got->in, got->type, k) == exact,
                      "%s (%" PRId64 ", %" PRId64 "), question %d, axis %d: [%" PRId64
                      "] is %.17g, not %.17g",
                      rd_dtype_name(p->type), p->rows, p->columns, (int)q, axis, k,
                      (double)get(got->in, got->type, k), exact);
    }
}

/* Sums by two threads beside another fold of the same elements. */
static void compare(const plane *p, question q, int axis, int threads)
{
    rd_expr *const leaf = rd_leaf(
        ctx, &(rd_array){ .in = p->x, .type = p->type, .shape = RD_SHAPE(p->rows, p->columns) });
    const rd_reduce_opts opts = { .size = sizeof opts,
                                  .dims = axis < 2 ? RD_DIMS(axis) : RD_DIMS(0, 1) };
    const rd_eval_opts   o    = { .threads = threads };
    const bool           both = threads == 2 && (q == SUM || q == MASKED);
    rd_array             out = { 0 }, other = { 0 };
    rd_result            list[] = { { asked(leaf, q, &opts), &out },
                                    { asked(leaf, GREATEST, &opts), &other } };

    ck_assert_msg(rd_eval_many(ctx, (rd_results){ list, both ? 2 : 1 }, &o) == RD_OK, "%s",
                  rd_error_text(ctx));
    check(p, q, axis, &out);
    if (both)
        check(p, GREATEST, axis, &other);
    rd_array_free(&out);
    rd_array_free(&other);
}

static void compare_rows_of(int64_t columns, const char *mode, size_t n_type)
{
    static int32_t x[N];
    static int64_t values[N];

    rd_tier_force(mode);
    for (size_t t = 0; t < n_type; t++)
        for (int way = THREAD_SANITIZED ? 2 : 0; way < 3; way++) { /* that of two threads */
            const plane p = { x, values, types[t], N / columns, columns };

            fill(x, types[t], way);
            for (int64_t i = 0; i < N; i++)
                values[i] = (int64_t)get(x, types[t], i);
            for (question q = SUM; q < N_QUESTIONS; q++)
                for (int axis = 0; axis < 3; axis++)
                    compare(&p, q, axis, way == 2 ? 2 : 1);
        }
}

/* Rows of several blocks, of one, and of one strip. */
enum { SOME = 1 };
static const int64_t lengths[] = { 5003, 300, 67 };

/* Rows of each length from `first` on: of n_some types for one length, of n_all for the others. */
static void compare_all(const char *mode, size_t first, size_t n_all, size_t n_some)
{
    for (size_t k = first; k < COUNT(lengths); k++)
        compare_rows_of(lengths[k], mode, k == SOME ? n_some : n_all);
}

START_TEST(by_tiles)
{
    compare_all("off", 0, COUNT(types), COUNT(types));
}
END_TEST

START_TEST(compiled)
{
    compare_all("sync", suite_is_plain(), 1, SANITIZED || suite_is_plain() ? 2 : COUNT(types));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { by_tiles, compiled };

    setenv("CK_DEFAULT_TIMEOUT", "600", 0); /* seconds: each case is compiled */
    return run_suite("short_sums", tests, COUNT(tests));
}
