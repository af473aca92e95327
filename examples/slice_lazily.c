/* Asking for a part of a result reads a part of the input.
 *
 * x is (time, latitude, longitude).  Before each question all of x is made unreadable but the pages
 * that the answer needs: a library that computed more would die of it.
 *
 *     over_time  = sum of x^2 over time        one row of it, one element of it
 *     over_lons  = sum of x^2 over longitude   one column of it */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <rdim.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TIMES = 132, LATITUDES = 73, LONGITUDES = 144 };
typedef float field[LATITUDES][LONGITUDES];

/* Small integers, so that all sums are exact. */
static float value(int t, int j, int k)
{
    return (float)((t * (j + 1) + 5 * k * k) % 17 - 8);
}

static field *make_field(void)
{
    field *x =
        mmap(NULL, TIMES * sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (x == MAP_FAILED)
        return NULL;
    for (int t = 0; t < TIMES; t++)
        for (int j = 0; j < LATITUDES; j++)
            for (int k = 0; k < LONGITUDES; k++)
                x[t][j][k] = value(t, j, k);
    return x;
}

/* Leaves only the pages of x[:, j, from:to] readable. */
static bool show_only(field *x, int j, int from, int to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool            done = mprotect(x, TIMES * sizeof *x, PROT_NONE) == 0;

    for (int t = 0; t < TIMES; t++) {
        char           *first = (char *)&x[t][j][from], *last = (char *)&x[t][j][to - 1];
        const uintptr_t skip = (uintptr_t)first % page;
        done = done && mprotect(first - skip, (size_t)(last - first) + skip + 1, PROT_READ) == 0;
    }
    return done;
}

/* What the answers must be, from the formula and not from x, most of which cannot be read. */
static double sum_over_time(int j, int k)
{
    double sum = 0;
    for (int t = 0; t < TIMES; t++)
        sum += (double)value(t, j, k) * (double)value(t, j, k);
    return sum;
}

static double sum_over_longitude(int t, int j)
{
    double sum = 0;
    for (int k = 0; k < LONGITUDES; k++)
        sum += (double)value(t, j, k) * (double)value(t, j, k);
    return sum;
}

static void ask_row(rd_ctx *ctx, field *x, rd_expr *over_time)
{
    float row[LONGITUDES];
    bool  right = show_only(x, 10, 0, LONGITUDES);

    rd_eval(ctx, rd_slice(over_time, "10, :"), RD_INTO(row, RD_SHAPE(LONGITUDES)));
    for (int k = 0; k < LONGITUDES; k++)
        right = right && (double)row[k] == sum_over_time(10, k);
    printf("over time, row 10:       %g %g %g ... %g, %s\n", (double)row[0], (double)row[1],
           (double)row[2], (double)row[LONGITUDES - 1], right ? "right" : "wrong");
}

static void ask_element(rd_ctx *ctx, field *x, rd_expr *over_time)
{
    const bool   shown = show_only(x, 72, 143, 144);
    const double y     = rd_at(ctx, over_time, RD_INDEX(72, 143));

    printf("over time, [72, 143]:    %g, %s\n", y,
           shown && y == sum_over_time(72, 143) ? "right" : "wrong");
}

static void ask_column(rd_ctx *ctx, field *x, rd_expr *over_lons)
{
    float column[TIMES];
    bool  right = show_only(x, 30, 0, LONGITUDES);

    rd_eval(ctx, rd_slice(over_lons, ":, 30"), RD_INTO(column, RD_SHAPE(TIMES)));
    for (int t = 0; t < TIMES; t++)
        right = right && (double)column[t] == sum_over_longitude(t, 30);
    printf("over longitude, [:, 30]: %g %g %g ... %g, %s\n", (double)column[0], (double)column[1],
           (double)column[2], (double)column[TIMES - 1], right ? "right" : "wrong");
}

int main(void)
{
    field *x = make_field();
    if (!x) {
        perror("slice_lazily");
        return EXIT_FAILURE;
    }

    rd_ctx  *ctx    = rd_ctx_new(NULL);
    rd_expr *square = rd_square(rd_wrap(ctx, &x[0][0][0], RD_SHAPE(TIMES, LATITUDES, LONGITUDES)));
    rd_expr *over_time = rd_sum(square, RD_DIMS(0)), *over_lons = rd_sum(square, RD_DIMS(2));

    ask_row(ctx, x, over_time);
    ask_element(ctx, x, over_time);
    ask_column(ctx, x, over_lons);

    const rd_status status = rd_error(ctx);
    if (status != RD_OK)
        fprintf(stderr, "slice_lazily: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    munmap(x, TIMES * sizeof *x);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
