/* The virtual shape: neighbouring axes that every operand walks as one become one, so that a
 * reduction of any axes of any array is a few nested loops.  The examples are those the scheme was
 * published with, shape (3,4,5,2); then what keeps axes apart.  A virtual shape is compared without
 * regard to its order, which is the planner's. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

typedef rd_expr *operand(void);

/* An input is planned for and never read. */
static rd_expr *input(const char *name, rd_array layout)
{
    layout.type = RD_F32;
    return rd_input(ctx, name, &layout);
}

static rd_expr *plain(void)
{
    return input("x", (rd_array){ .shape = RD_SHAPE(3, 4, 5, 2) });
}

static rd_expr *fortran(void)
{
    return input("f", (rd_array){ .shape = RD_SHAPE(3, 4, 5, 2), .order = 1 });
}

static rd_expr *padded(void)
{
    return input("p",
                 (rd_array){ .shape = RD_SHAPE(3, 4, 5, 2), .strides = RD_STRIDES(60, 15, 3, 1) });
}

static rd_expr *sliced(void)
{
    return rd_slice(input("s", (rd_array){ .shape = RD_SHAPE(3, 4, 7, 2) }), ":, :, 1:6");
}

static rd_expr *every_second(void)
{
    return rd_slice(input("e", (rd_array){ .shape = RD_SHAPE(3, 4, 5, 4) }), "..., ::2");
}

static rd_expr *flipped(void)
{
    return rd_flip(plain(), RD_ALL);
}

static rd_expr *flipped_once(void)
{
    return rd_flip(plain(), RD_DIMS(2));
}

static rd_expr *transposed(void)
{
    return rd_permute(plain(), RD_INDEX(3, 2, 1, 0));
}

static rd_expr *pairs_exchanged(void)
{
    return rd_permute(plain(), RD_INDEX(2, 3, 0, 1)); /* (5, 2, 3, 4) */
}

static rd_expr *mapped(void)
{
    return rd_exp(rd_add(plain(), rd_num(ctx, 1)));
}

static rd_expr *two_alike(void)
{
    return rd_mul(plain(), input("z", (rd_array){ .shape = RD_SHAPE(3, 4, 5, 2) }));
}

static rd_expr *two_orders(void)
{
    return rd_add(plain(), fortran());
}

static rd_expr *plus_row(void)
{
    return rd_add(plain(), input("b", (rd_array){ .shape = RD_SHAPE(2) }));
}

static rd_expr *plus_matrix(void)
{
    return rd_add(plain(), input("c", (rd_array){ .shape = RD_SHAPE(5, 2) }));
}

static rd_expr *plus_column(void)
{
    return rd_add(plain(), input("d", (rd_array){ .shape = RD_SHAPE(3, 4, 1, 1) }));
}

static rd_expr *repeated_row(void)
{
    return rd_broadcast(input("b", (rd_array){ .shape = RD_SHAPE(2) }), RD_SHAPE(3, 4, 5, 2));
}

static rd_expr *with_ones(void)
{
    return input("o", (rd_array){ .shape = RD_SHAPE(3, 1, 20, 2) });
}

static rd_expr *times_place(void)
{
    return rd_mul(plain(), rd_coord(plain(), 1));
}

static rd_expr *running_sum(void)
{
    return rd_scan(plain(), "sum", RD_DIMS(1));
}

static rd_expr *reshaped(void)
{
    return rd_reshape(plain(), RD_SHAPE(6, 2, 10));
}

static rd_expr *windows(void)
{
    return rd_window(input("w", (rd_array){ .shape = RD_SHAPE(3, 6) }), 1, 3, 1); /* (3, 4, 3) */
}

typedef struct row {
    const char *what;
    operand    *x;
    rd_dims     dims;
    rd_shape    want; /* rank 0: one element */
} row;

#define AXES(n, ...)    \
    {                   \
        n, 0,           \
        {               \
            __VA_ARGS__ \
        }               \
    }
#define EXTENTS(n, ...) \
    {                   \
        n, 0,           \
        {               \
            __VA_ARGS__ \
        }               \
    }

static const row rows[] = {
    /* As published. */
    { "none", plain, AXES(0, 0), EXTENTS(1, 120) },
    { "0", plain, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "1", plain, AXES(1, 1), EXTENTS(3, 3, 4, 10) },
    { "2", plain, AXES(1, 2), EXTENTS(3, 12, 5, 2) },
    { "3", plain, AXES(1, 3), EXTENTS(2, 60, 2) },
    { "0 1", plain, AXES(2, 0, 1), EXTENTS(2, 12, 10) },
    { "0 2", plain, AXES(2, 0, 2), EXTENTS(4, 3, 4, 5, 2) },
    { "0 3", plain, AXES(2, 0, 3), EXTENTS(3, 3, 20, 2) },
    { "1 2", plain, AXES(2, 1, 2), EXTENTS(3, 3, 20, 2) },
    { "1 3", plain, AXES(2, 1, 3), EXTENTS(4, 3, 4, 5, 2) },
    { "2 3", plain, AXES(2, 2, 3), EXTENTS(2, 12, 10) },
    { "0 1 2", plain, AXES(3, 0, 1, 2), EXTENTS(2, 60, 2) },
    { "0 1 3", plain, AXES(3, 0, 1, 3), EXTENTS(3, 12, 5, 2) },
    { "0 2 3", plain, AXES(3, 0, 2, 3), EXTENTS(3, 3, 4, 10) },
    { "1 2 3", plain, AXES(3, 1, 2, 3), EXTENTS(2, 3, 40) },
    { "all", plain, AXES(4, 0, 1, 2, 3), EXTENTS(1, 120) },
    /* Memory that does not go on where an axis ends. */
    { "padded, 0", padded, AXES(1, 0), EXTENTS(3, 3, 20, 2) },
    { "padded, all", padded, AXES(4, 0, 1, 2, 3), EXTENTS(2, 60, 2) },
    { "sliced, 0", sliced, AXES(1, 0), EXTENTS(3, 3, 4, 10) },
    { "sliced, all", sliced, AXES(4, 0, 1, 2, 3), EXTENTS(2, 12, 10) },
    { "every second, 0", every_second, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "flipped, 0", flipped, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "one axis flipped, 0", flipped_once, AXES(1, 0), EXTENTS(4, 3, 4, 5, 2) },
    /* Results are dense in C order: the operand's order must be theirs. */
    { "Fortran, 0", fortran, AXES(1, 0), EXTENTS(4, 3, 4, 5, 2) },
    { "Fortran, all but the last", fortran, AXES(3, 0, 1, 2), EXTENTS(2, 60, 2) },
    { "Fortran, all", fortran, AXES(4, 0, 1, 2, 3), EXTENTS(1, 120) },
    { "transposed, 0", transposed, AXES(1, 0), EXTENTS(4, 3, 4, 5, 2) },
    { "transposed, all", transposed, AXES(4, 0, 1, 2, 3), EXTENTS(1, 120) },
    { "pairs exchanged, first", pairs_exchanged, AXES(2, 0, 1), EXTENTS(2, 12, 10) },
    { "pairs exchanged, none", pairs_exchanged, AXES(0, 0), EXTENTS(2, 12, 10) },
    /* Every operand has to allow it. */
    { "mapped, 0", mapped, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "two alike, 0", two_alike, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "C and Fortran, 0", two_orders, AXES(1, 0), EXTENTS(4, 3, 4, 5, 2) },
    { "C and Fortran, all", two_orders, AXES(4, 0, 1, 2, 3), EXTENTS(4, 3, 4, 5, 2) },
    { "plus a row, 0", plus_row, AXES(1, 0), EXTENTS(3, 3, 20, 2) },
    { "plus a matrix, 0", plus_matrix, AXES(1, 0), EXTENTS(3, 3, 4, 10) },
    { "plus a column, 0", plus_column, AXES(1, 0), EXTENTS(3, 3, 4, 10) },
    { "plus a column, none", plus_column, AXES(0, 0), EXTENTS(2, 12, 10) },
    { "a repeated row, all", repeated_row, AXES(4, 0, 1, 2, 3), EXTENTS(2, 60, 2) },
    { "a repeated row, 0", repeated_row, AXES(1, 0), EXTENTS(3, 3, 20, 2) },
    { "times a place, 0", times_place, AXES(1, 0), EXTENTS(3, 3, 4, 10) },
    { "a running sum, none", running_sum, AXES(0, 0), EXTENTS(3, 3, 4, 10) },
    /* Other axes than the operand's. */
    { "an extent of 1, 0", with_ones, AXES(1, 0), EXTENTS(2, 3, 40) },
    { "an extent of 1, all", with_ones, AXES(4, 0, 1, 2, 3), EXTENTS(1, 120) },
    { "reshaped, 0", reshaped, AXES(1, 0), EXTENTS(2, 6, 20) },
    { "reshaped, 1", reshaped, AXES(1, 1), EXTENTS(3, 6, 2, 10) },
    { "windows, their axis", windows, AXES(1, 2), EXTENTS(3, 3, 4, 3) },
};

/* ---- The line of rd_explain() ---------------------------------------------------------------- */
static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static rd_shape sorted(rd_shape shape)
{
    qsort(shape.at, (size_t)shape.n, sizeof *shape.at, by_size);
    return shape;
}

/* Extents of "virtual shape: i:3 jkl:40", without axes of one index, which are no loops. */
static rd_shape virtual_shape(const char *explained)
{
    static const char title[] = "virtual shape:";
    const char       *line    = strstr(explained, title);
    rd_shape          shape   = { 0 };
    size_t            n;

    ck_assert_msg(line != NULL, "no virtual shape in\n%s", explained);
    line += strlen(title);
    n = strcspn(line, "\n");
    for (const char *at = line; (at = memchr(at, ':', n - (size_t)(at - line)));) {
        int64_t extent = strtoll(++at, NULL, 10);

        if (extent != 1)
            shape.at[shape.n++] = extent;
    }
    return shape;
}

static bool same(rd_shape a, rd_shape b)
{
    return a.n == b.n && memcmp(a.at, b.at, (size_t)a.n * sizeof *a.at) == 0;
}

static const char *explain(rd_expr *y, rd_array *out)
{
    const char *text = rd_explain(ctx, RD_RESULTS({ y, out }), NULL);

    ck_assert_msg(text != NULL, "%s", rd_error_text(ctx));
    return text;
}

static void check_row(const row *r, const char *explained)
{
    const char *line = strstr(explained, "virtual shape:");

    ck_assert_msg(same(sorted(virtual_shape(explained)), sorted(r->want)), "%s: %.*s", r->what,
                  (int)strcspn(line, "\n"), line);
}

START_TEST(virtual_shapes)
{
    const row *r = &rows[_i];
    rd_expr   *x = r->x();

    check_row(r, explain(r->dims.n ? rd_sum(x, r->dims) : x, &(rd_array){ 0 }));
}
END_TEST

/* The result is an operand like any other. */
START_TEST(results_keep_axes_apart)
{
    static const row wide = { "a result with a gap", plain, AXES(1, 0), EXTENTS(3, 3, 20, 2) };
    float            memory[60];

    check_row(&wide, explain(rd_sum(plain(), RD_DIMS(0)),
                             RD_INTO(memory, RD_SHAPE(4, 5, 2), .strides = RD_STRIDES(15, 3, 1))));
}
END_TEST

/* Positions count in C order: they keep an order that a sum does not care for. */
START_TEST(positions_keep_axes_apart)
{
    static const row in_order = { "argmax in C order", plain, AXES(0, 0), EXTENTS(1, 120) },
                     crossed  = { "argmax in Fortran order", fortran, AXES(0, 0),
                                  EXTENTS(4, 3, 4, 5, 2) };

    check_row(&in_order, explain(rd_argmax(plain(), RD_ALL), &(rd_array){ 0 }));
    check_row(&crossed, explain(rd_argmax(fortran(), RD_ALL), &(rd_array){ 0 }));
}
END_TEST

/* Several results in one loop: each must allow it. */
START_TEST(siblings_keep_axes_apart)
{
    static const row both = { "sums of 0 and of 0 1", plain, AXES(0, 0), EXTENTS(3, 3, 4, 10) };
    rd_expr         *x    = plain();
    rd_array         zero = { 0 }, one = { 0 };
    const char      *text = rd_explain(
             ctx, RD_RESULTS({ rd_sum(x, RD_DIMS(0)), &zero }, { rd_sum(x, RD_DIMS(0, 1)), &one }),
             NULL);

    ck_assert_msg(text != NULL, "%s", rd_error_text(ctx));
    check_row(&both, text);
}
END_TEST

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

int main(void)
{
    Suite   *suite  = suite_create("virtual shape");
    TCase   *tcase  = tcase_create("virtual shape");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, virtual_shapes, 0, COUNT(rows));
    tcase_add_test(tcase, results_keep_axes_apart);
    tcase_add_test(tcase, positions_keep_axes_apart);
    tcase_add_test(tcase, siblings_keep_axes_apart);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
