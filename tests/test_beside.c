/* test_beside.c - short rows that are put in order side by side: by each set of kernels the bits of the
 * reference, which puts one row in order after the other. */
#include "core/dtype.h"
#include "isa.h"
#include "kernels/cpu/sort/row_sort.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>

/* More rows than go together, and some behind them; so few that each goes by itself. */
enum { ROWS = 64 + 37, FEW = 5 };

static const rd_dtype types[]   = { RD_F32, RD_F64, RD_F16, RD_BF16, RD_I8,   RD_U8,
                                    RD_I16, RD_U32, RD_I64, RD_U64,  RD_BOOL, RD_F8 };
static const int64_t  lengths[] = { 1, 2, 3, 7, 12, 16, 17, 24, 25, 33, 64, 65, 100, 128, 129 };

/* Rows take turns at what they hold. */
static double element(int64_t row, int64_t i)
{
    const double wild = (double)((i * 7919 + row * 104729) % 1009 - 500) / 4;

    switch (row % 9) {
    case 0: return (double)-i / 64; /* falls         */
    case 1: return 3;               /* all are equal */
    case 2: return (double)((i + row) % 3);
    case 3: return (i + row) % 3 ? wild : NAN;
    case 4: return (i + row) % 7 ? NAN : wild; /* few are numbers, or none */
    case 5: return i % 2 ? -0. : i % 3 ? 0. : 1;
    case 6: return i % 4 ? wild : row % 2 ? INFINITY : -INFINITY;
    case 7: return i % 2 ? 6e4 : -6e4; /* far apart */
    default: return wild;
    }
}

static void *rows_of(rd_dtype type, int64_t n)
{
    const bool floats = rd_dtype_kind(type) == RD_KIND_FLOAT;
    char      *x      = malloc((size_t)(ROWS * n * rd_dtype_size(type)));

    for (int64_t k = 0; k < ROWS * n; k++) {
        const double e = element(k / n, k % n);

        rd_word_store(x + k * rd_dtype_size(type), type,
                      rd_word_from_double(floats        ? e
                                          : isfinite(e) ? rint(e)
                                                        : 0,
                                          type));
    }
    return x;
}

static rd_array evaluate_on(int isa, rd_expr *y)
{
    rd_array out = { 0 };

    isa_begin(ctx, isa);
    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s", rd_error_text(ctx));
    isa_end(ctx);
    return out;
}

static void check(rd_expr *y, rd_dtype type, int64_t n, const char *what)
{
    rd_array       want  = evaluate_on(ISA_SCALAR, y);
    const rd_shape shape = rd_shape_of(y);
    size_t         bytes = (size_t)rd_dtype_size(want.type);

    for (int k = 0; k < shape.n; k++)
        bytes *= (size_t)shape.at[k];
    for (int isa = 1; isa < isa_count(); isa++) {
        rd_array got = evaluate_on(isa, y);

        ck_assert_msg(memcmp(got.in, want.in, bytes) == 0, "%s %s: rows of %d, %s",
                      rd_dtype_name(type), what, (int)n, isa_name(isa));
        rd_array_free(&got);
    }
    rd_array_free(&want);
}

/* Rows in memory, backwards, or across it. */
static void check_order(rd_expr *x, int axis, rd_dtype type, int64_t n)
{
    const int64_t k = n < 3 ? n : 3;

    check(rd_sort(x, axis), type, n, "sort");
    check(rd_sort(x, axis, .descending = true), type, n, "sort descending");
    check(rd_argsort(x, axis), type, n, "argsort");
    check(rd_argsort(x, axis, .descending = true), type, n, "argsort descending");
    check(rd_top_k(x, k, axis), type, n, "top_k");
    check(rd_arg_top_k(x, k, axis, .smallest = true), type, n, "arg_top_k");
}

static void check_quantiles(rd_expr *x, int axis, rd_dtype type, int64_t n)
{
    const rd_dims dims = RD_DIMS(axis);

    check(rd_median(x, dims), type, n, "median");
    check(rd_median(x, dims, .skip_nan = true), type, n, "median of numbers");
    check(rd_quantiles(x, RD_QS(0, 0.1, 0.75, 1), dims), type, n, "quantiles");
    check(rd_quantiles(x, RD_QS(0.3, 0.5), dims, .skip_nan = true), type, n,
          "quantiles of numbers");
    check(rd_quantile(x, 0.4, dims, .method = RD_HAZEN), type, n, "Hazen's");
    check(rd_quantile(x, 0.4, dims, .method = RD_HIGHER), type, n, "higher");
}

static void check_lengths(rd_dtype type, int64_t n)
{
    void          *memory = rows_of(type, n);
    const rd_array a      = { .type = type, .shape = RD_SHAPE(ROWS, n), .in = memory };
    rd_expr       *x      = rd_leaf(ctx, &a);
    rd_expr *const way[]  = { x, rd_slice(x, "::-1, ::-1"), rd_slice(x, ":5"),
                              rd_reshape(x, RD_SHAPE(n, ROWS)) };

    for (size_t k = 0; k < COUNT(way); k++) {
        check_order(way[k], k == 3 ? 0 : 1, type, n);
        check_quantiles(way[k], k == 3 ? 0 : 1, type, n);
    }
    if (n > 4)
        check_quantiles(rd_window(rd_reshape(x, RD_SHAPE(-1)), 0, n, 1), 1, type, n);
    free(memory);
}

START_TEST(short_rows)
{
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t k = 0; k < COUNT(lengths); k += SANITIZED ? 4 : t < 2 ? 1 : 3) {
            const rd_mark mark = rd_ctx_mark(ctx);

            check_lengths(types[t], lengths[k]);
            rd_ctx_release(ctx, mark);
        }
}
END_TEST

/* Which rows do. */
START_TEST(what_goes_beside)
{
    const rd_sort_facts places = { .what = RD_SORT_PLACES }, values = { .what = RD_SORT_VALUES },
                        quantiles = { .what = RD_SORT_QUANTILES };
    const struct {
        const rd_sort_facts *facts;
        rd_dtype             type;
        int64_t              n, rows;
        bool                 goes;
    } rows[] = { { &quantiles, RD_F32, 12, 64, true },   { &quantiles, RD_F64, 64, 8, true },
                 { &quantiles, RD_F32, 129, 64, false }, { &quantiles, RD_F32, 12, FEW, false },
                 { &places, RD_F32, 64, 64, true },      { &places, RD_F64, 12, 64, true },
                 { &values, RD_U8, 16, 64, true },       { &values, RD_F32, 0, 64, false } };

    for (size_t k = 0; k < COUNT(rows); k++) {
        const rd_sorting s = {
            .facts = rows[k].facts, .type = rows[k].type, .n = rows[k].n, .n_out = rows[k].n
        };
        for (int32_t vector = 16; vector <= 64; vector *= 2)
            ck_assert_msg(rd_sort_can_interleave(&s, rows[k].rows, vector) == rows[k].goes,
                          "row %d, vectors of %d bytes", (int)k, (int)vector);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { what_goes_beside, short_rows };

    return run_suite("beside", tests, COUNT(tests));
}
