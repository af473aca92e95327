/* Climate of the sea surface, from twelve monthly mean temperatures.
 *
 *     climate [--explain] [DIRECTORY [FILE]]
 *
 * For every cell of a 2 degree grid: the time mean, the departure of each month from it, and the
 * standard deviation of these departures.  For every month: the mean over the globe, weighted by
 * area.  Land and months without reports are NaN and take no part.  The results are written to
 * DIRECTORY as .npy files; without one, to a temporary directory that is removed again.  FILE has
 * the shape of examples/data/coads_sst.npy, the default.
 * --explain prints what the evaluation will do. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, rmdir */
#include <rdim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MONTHS     = 12,
    LATITUDES  = 90,
    LONGITUDES = 180,
    EQUATOR    = 45,
    ROW_STEP   = 20,
    ROW        = LONGITUDES / ROW_STEP
};

/* What we want to know, as expressions: nothing is computed when they are made. */
typedef struct questions {
    rd_expr *mean, *anomaly, *sd, *global, *warmest;
} questions;

/* The answers.  They also say which shape the input must have: rd_eval refuses any other. */
typedef struct answers {
    float mean[LATITUDES][LONGITUDES], sd[LATITUDES][LONGITUDES],
        anomaly[MONTHS][LATITUDES][LONGITUDES];
    double  global[MONTHS];
    int64_t warmest;
    float   row[ROW];
    double  pacific;
} answers;

static questions ask(rd_expr *sst)
{
    rd_expr *mean    = rd_mean(sst, RD_DIMS(0), .skip_nan = true);
    rd_expr *anomaly = rd_sub(sst, mean);
    /* Meridians meet at the poles: a cell's area goes with the cosine of its latitude, 89 S, 87 S,
     * ..., 89 N. */
    rd_expr *area = rd_map(rd_coord(sst, 1), "cos((2 * x - 89) * pi / 180)");

    return (questions){
        .mean    = mean,
        .anomaly = anomaly,
        .sd      = rd_std(anomaly, RD_DIMS(0), .skip_nan = true),
        .global  = rd_mean(sst, RD_DIMS(1, 2), .skip_nan = true, .weights = area, .type = RD_F64),
        .warmest = rd_argmax(mean, RD_ALL, .skip_nan = true),
    };
}

/* One call for all results, so that they share their passes over the data. */
static void answer(rd_ctx *ctx, const questions *q, answers *a, bool explain)
{
    rd_results results = RD_RESULTS(
        { q->mean, RD_INTO(&a->mean[0][0], RD_SHAPE(LATITUDES, LONGITUDES)) },
        { q->sd, RD_INTO(&a->sd[0][0], RD_SHAPE(LATITUDES, LONGITUDES)) },
        { q->anomaly, RD_INTO(&a->anomaly[0][0][0], RD_SHAPE(MONTHS, LATITUDES, LONGITUDES)) },
        { q->global, RD_INTO(a->global, RD_SHAPE(MONTHS)) },
        { q->warmest, RD_INTO(&a->warmest, RD_SCALAR) });

    if (explain) {
        const char *text = rd_explain(ctx, results, NULL);
        puts(text ? text : rd_error_text(ctx));
    }
    rd_eval_many(ctx, results, NULL);

    /* Lazily: every 20th cell of the row north of the equator, then a single cell.  Each reads its
     * own twelve months and no more; the mean of the other cells is not computed again. */
    rd_eval(ctx, rd_slice(q->mean, "45, ::20"), RD_INTO(a->row, RD_SHAPE(ROW)));
    a->pacific = rd_at(ctx, q->mean, RD_INDEX(EQUATOR, 100));
}

static const char *const saved_names[] = { "mean", "sd", "anomaly", "global" };
enum { SAVED = sizeof saved_names / sizeof *saved_names };

static void path_of(char path[4096], const char *directory, int k)
{
    snprintf(path, 4096, "%s/%s.npy", directory, saved_names[k]);
}

static void save(rd_ctx *ctx, const answers *a, const char *directory)
{
    rd_expr *grids[SAVED] = { rd_wrap(ctx, &a->mean[0][0], RD_SHAPE(LATITUDES, LONGITUDES)),
                              rd_wrap(ctx, &a->sd[0][0], RD_SHAPE(LATITUDES, LONGITUDES)),
                              rd_wrap(ctx, &a->anomaly[0][0][0],
                                      RD_SHAPE(MONTHS, LATITUDES, LONGITUDES)),
                              rd_wrap(ctx, a->global, RD_SHAPE(MONTHS)) };
    char     path[4096];

    for (int k = 0; k < SAVED; k++) {
        path_of(path, directory, k);
        rd_save(ctx, grids[k], path);
    }
}

/* Saves to a directory of its own and removes it: the default, so that the example leaves nothing
 * behind. */
static bool save_and_remove(rd_ctx *ctx, const answers *a)
{
    char directory[] = "/tmp/rdim-climate-XXXXXX", path[4096];

    if (!mkdtemp(directory))
        return false;
    save(ctx, a, directory);
    for (int k = 0; k < SAVED; k++) {
        path_of(path, directory, k);
        unlink(path);
    }
    return rmdir(directory) == 0;
}

static void print_months(const answers *a)
{
    static const char *const months[MONTHS] = { "January",   "February", "March",    "April",
                                                "May",       "June",     "July",     "August",
                                                "September", "October",  "November", "December" };

    printf("Sea-surface temperature, mean over the globe by area, degC\n");
    for (int m = 0; m < MONTHS; m++)
        printf("  %-9s  %.3f\n", months[m], a->global[m]);
}

static void print_cells(const answers *a)
{
    int64_t row = a->warmest / LONGITUDES, column = a->warmest % LONGITUDES;

    printf("Time mean along 1 N, from 21 E eastward in steps of 40 degrees\n ");
    for (int k = 0; k < ROW; k++) {
        if (a->row[k] == a->row[k])
            printf(" %.1f", (double)a->row[k]);
        else
            printf(" land");
    }
    printf("\nTime mean at 1 N, 139 W: %.2f\n", a->pacific);
    printf("Warmest cell of the time mean: latitude %d, longitude %d E, %.2f\n",
           (int)(2 * row - 89), (int)(2 * column + 21), (double)a->mean[row][column]);
    printf("There the months differ from their mean by %.2f (standard deviation)\n",
           (double)a->sd[row][column]);
}

int main(int argc, char **argv)
{
    static answers a; /* a megabyte: too much for some stacks */
    const bool     explain   = argc > 1 && strcmp(argv[1], "--explain") == 0;
    const int      first     = explain ? 2 : 1;
    const char    *directory = argc > first ? argv[first] : NULL;
    const char    *file      = argc > first + 1 ? argv[first + 1] : "examples/data/coads_sst.npy";

    rd_ctx   *ctx = rd_ctx_new(NULL);
    questions q   = ask(rd_load(ctx, file));

    answer(ctx, &q, &a, explain);
    if (directory)
        save(ctx, &a, directory);
    else if (!save_and_remove(ctx, &a))
        perror("climate: temporary directory");

    /* No call above was checked: after a failure the others do nothing, and the first error is
     * still there. */
    const rd_status status = rd_error(ctx);
    if (status == RD_OK) {
        print_months(&a);
        print_cells(&a);
    } else {
        fprintf(stderr, "climate: %s: %s\n", rd_status_name(status), rd_error_text(ctx));
    }
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
