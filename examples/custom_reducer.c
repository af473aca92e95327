/* Reducers of one's own, from one source each: a counter, Welford's mean and variance, a longest
 * run, the three greatest, and the box that bounds what is marked.
 *
 * The state is a struct, the four bodies are plain C.  With a merge, rdim may cut the elements into
 * blocks and join them in order, on several threads; how they are cut is fixed by the plan, so the
 * result is too. */
#include <rdim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_DIGITS = 1797, PIXELS = 64, SIDE = 8, MONTHS = 12 };

/* The four bodies are easier to tell apart one a line. */
/* clang-format off */
RD_REDUCER(count_nonzeros, uint8_t, int64_t, 1, (int64_t n;), (s->n = 0;), (s->n += x != 0;),
           (a->n += b->n;), (y[0] = s->n;))

/* Two results, mean and variance, from one look at each element. */
RD_REDUCER(welford, double, double, 2, (double n, mean, m2;), (s->n = s->mean = s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (
               double n = a->n + b->n, d = b->mean - a->mean; if (b->n > 0) {
                   a->mean += d * b->n / n;
                   a->m2 += b->m2 + d * d * a->n * b->n / n;
                   a->n = n;
               }),
           (y[0] = s->mean; y[1] = s->m2 / s->n;))

/* The longest run of nonzeros.  A block keeps the runs at its ends, where its neighbours may carry
 * on. */
RD_REDUCER(longest_run, uint8_t, int64_t, 1, (int64_t n, head, tail, best;),
           (s->n = s->head = s->tail = s->best = 0;),
           (
               s->n += 1; s->tail = x != 0 ? s->tail + 1 : 0; if (s->tail == s->n) {
                   s->head = s->tail;
               } if (s->tail > s->best) { s->best = s->tail; }),
           (
               int64_t joined = a->tail + b->head; if (b->best > a->best) {
                   a->best = b->best;
               } if (joined > a->best) { a->best = joined; } if (a->head == a->n) {
                   a->head = a->n + b->head;
               } a->tail = b->tail == b->n ? b->n + a->tail : b->tail;
               a->n += b->n;),
           (y[0] = s->best;))

/* For these two the order of elements does not matter, so rdim may keep many states side by side. */
RD_REDUCER_COMMUTES(three_greatest, float, float, 3, (float v[3];),
           (s->v[0] = s->v[1] = s->v[2] = -INFINITY;),
           (
               float rest = x; for (int k = 0; k < 3; k++) {
                   const float here = s->v[k];
                   s->v[k] = rest > here ? rest : here;
                   rest    = rest > here ? here : rest;
               }),
           (
               for (int j = 0; j < 3; j++) {
                   float rest = b->v[j];
                   for (int k = 0; k < 3; k++) {
                       const float here = a->v[k];
                       a->v[k] = rest > here ? rest : here;
                       rest    = rest > here ? here : rest;
                   }
               }),
           (for (int k = 0; k < 3; k++) y[k] = s->v[k];))

/* Of two operands, rows and columns: the first and the last of each. */
RD_REDUCER2_COMMUTES(bounding_box, int32_t, int32_t, int32_t, 4, (int32_t top, bottom, left, right;),
           (s->top = s->left = INT32_MAX; s->bottom = s->right = -1;),
           (s->top    = x < s->top ? x : s->top; s->left = w < s->left ? w : s->left;
            s->bottom = x > s->bottom ? x : s->bottom; s->right = w > s->right ? w : s->right;),
           (a->top    = b->top < a->top ? b->top : a->top;
            a->left   = b->left < a->left ? b->left : a->left;
            a->bottom = b->bottom > a->bottom ? b->bottom : a->bottom;
            a->right  = b->right > a->right ? b->right : a->right;),
           (y[0] = s->top; y[1] = s->bottom; y[2] = s->left; y[3] = s->right;))
/* clang-format on */

typedef struct answers {
    int64_t inked[SIDE][SIDE], inked_builtin[SIDE][SIDE];
    double  own[MONTHS][2], mean[MONTHS], variance[MONTHS];
    int64_t runs[N_DIGITS], run_of_file;
    int32_t box[N_DIGITS][4];
    float   warmest[MONTHS][3];
} answers;

static void measure(rd_ctx *ctx, answers *a)
{
    rd_expr *pixels = rd_load(ctx, "examples/data/digits_pixels.npy");
    rd_expr *sst    = rd_load(ctx, "examples/data/coads_sst.npy");
    rd_expr *square = rd_reshape(pixels, RD_SHAPE(N_DIGITS, SIDE, SIDE));

    rd_eval_many(
        ctx,
        RD_RESULTS(
            { rd_reduce(square, count_nonzeros, RD_DIMS(0)),
              RD_INTO(&a->inked[0][0], RD_SHAPE(SIDE, SIDE)) },
            { rd_count(square, RD_DIMS(0)),
              RD_INTO(&a->inked_builtin[0][0], RD_SHAPE(SIDE, SIDE)) },
            { rd_reduce(pixels, longest_run, RD_DIMS(1)), RD_INTO(a->runs, RD_SHAPE(N_DIGITS)) },
            { rd_reduce(pixels, longest_run, RD_ALL), RD_INTO(&a->run_of_file, RD_SCALAR) },
            { rd_reduce2(rd_broadcast(rd_coord(square, 1), rd_shape_of(square)),
                         rd_coord(square, 2), bounding_box, RD_DIMS(1, 2), .where = square),
              RD_INTO(&a->box[0][0], RD_SHAPE(N_DIGITS, 4)) }),
        NULL);

    /* A reducer with two results adds an axis of extent 2.  Keywords work as for the built-in
     * ones. */
    rd_expr *own = rd_reduce(sst, welford, RD_DIMS(1, 2), .skip_nan = true);
    rd_expr *x   = rd_cast(sst, RD_F64);
    rd_eval_many(
        ctx,
        RD_RESULTS(
            { own, RD_INTO(&a->own[0][0], RD_SHAPE(MONTHS, 2)) },
            { rd_reduce(sst, three_greatest, RD_DIMS(1, 2), .skip_nan = true),
              RD_INTO(&a->warmest[0][0], RD_SHAPE(MONTHS, 3)) },
            { rd_mean(x, RD_DIMS(1, 2), .skip_nan = true), RD_INTO(a->mean, RD_SHAPE(MONTHS)) },
            { rd_var(x, RD_DIMS(1, 2), .skip_nan = true), RD_INTO(a->variance, RD_SHAPE(MONTHS)) }),
        NULL);
}

static void report_ink(const answers *a)
{
    bool same = true;

    printf("digits with ink in each of 8 x 8 pixels\n");
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            printf("%5d%s", (int)a->inked[i][j], j == SIDE - 1 ? "\n" : "");
            same = same && a->inked[i][j] == a->inked_builtin[i][j];
        }
    printf("as rd_count: %s\n", same ? "yes" : "no");
}

static void report_moments(const answers *a)
{
    double worst = 0;

    printf("sea-surface temperature by month: mean and variance\n");
    for (int m = 0; m < MONTHS; m++) {
        printf("  %2d  %.2f  %6.2f\n", m + 1, a->own[m][0], a->own[m][1]);
        worst = fmax(worst, fabs(a->own[m][0] / a->mean[m] - 1));
        worst = fmax(worst, fabs(a->own[m][1] / a->variance[m] - 1));
    }
    printf("as rd_mean and rd_var within 1e-12: %s\n", worst < 1e-12 ? "yes" : "no");
}

static void report_runs(const answers *a)
{
    printf("longest run of inked pixels in the first ten digits:");
    for (int i = 0; i < 10; i++)
        printf(" %d", (int)a->runs[i]);
    printf("; in the file as one row: %d\n", (int)a->run_of_file);
}

static void report_greatest(const answers *a)
{
    printf("the three warmest cells of January and of July: %.2f %.2f %.2f, %.2f %.2f %.2f\n",
           a->warmest[0][0], a->warmest[0][1], a->warmest[0][2], a->warmest[6][0], a->warmest[6][1],
           a->warmest[6][2]);
}

static void report_boxes(const answers *a)
{
    printf("rows and columns with ink in the first four digits:");
    for (int i = 0; i < 4; i++)
        printf("%s %d-%d x %d-%d", i ? "," : "", a->box[i][0], a->box[i][1], a->box[i][2],
               a->box[i][3]);
    printf("\n");
}

int main(void)
{
    static answers a;
    rd_ctx        *ctx = rd_ctx_new(NULL);

    measure(ctx, &a);
    const rd_status status = rd_error(ctx);
    if (status == RD_OK) {
        report_ink(&a);
        report_moments(&a);
        report_runs(&a);
        report_greatest(&a);
        report_boxes(&a);
    } else {
        fprintf(stderr, "custom_reducer: %s\n", rd_error_text(ctx));
    }
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
