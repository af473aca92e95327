/* Nearest neighbours among hand-written digits, each digit left out of its own search.
 *
 * The squared distances are 1797 x 1797 numbers, each a sum over 64 pixels.  They are named here
 * but never stored: the search for the least one runs while they are computed. */
#include <rdim.h>

#include <stdio.h>
#include <stdlib.h>

enum { DIGITS = 10 };

typedef struct answers {
    int64_t right, total[DIGITS], by_digit[DIGITS];
    float   sum, farthest;
} answers;

static void classify(rd_ctx *ctx, answers *a)
{
    rd_expr *pixels = rd_load(ctx, "examples/data/digits_pixels.npy"); /* (n, 64) of 0..16 */
    rd_expr *labels = rd_load(ctx, "examples/data/digits_labels.npy"); /* (n)              */

    /* As bytes, 3 - 5 would be 254.  In f32 all is exact: the distances are integers below 2^24. */
    rd_expr *p = rd_cast(pixels, RD_F32);
    /* (n, n) */
    rd_expr *distance = rd_sum(rd_square(rd_sub(rd_expand(p, 1), rd_expand(p, 0))), RD_DIMS(-1));

    /* Everyone but oneself; of equally near ones the first. */
    rd_expr *others  = rd_ne(rd_coord(distance, 0), rd_coord(distance, 1));
    rd_expr *nearest = rd_argmin(distance, RD_DIMS(1), .where = others); /* (n) */
    rd_expr *least   = rd_min(distance, RD_DIMS(1), .where = others);    /* (n) */
    rd_expr *right   = rd_eq(rd_take(labels, 0, nearest), labels);       /* (n) */

    /* (n, 1) against 0..9 gives (n, 10): is example i the digit k? */
    rd_expr *digit = rd_broadcast(rd_int(ctx, 0), RD_SHAPE(DIGITS));
    rd_expr *is_k  = rd_eq(rd_expand(labels, 1), rd_coord(digit, 0));

    rd_eval_many(ctx,
                 RD_RESULTS({ rd_sum(right, RD_ALL), RD_INTO(&a->right, RD_SCALAR) },
                            { rd_sum(is_k, RD_DIMS(0)), RD_INTO(a->total, RD_SHAPE(DIGITS)) },
                            { rd_sum(rd_and(is_k, rd_expand(right, 1)), RD_DIMS(0)),
                              RD_INTO(a->by_digit, RD_SHAPE(DIGITS)) },
                            { rd_sum(least, RD_ALL), RD_INTO(&a->sum, RD_SCALAR) },
                            { rd_max(least, RD_ALL), RD_INTO(&a->farthest, RD_SCALAR) }),
                 NULL);
}

static void report(const answers *a)
{
    int64_t total = 0;

    for (int k = 0; k < DIGITS; k++) {
        printf("%d: %3d of %3d right\n", k, (int)a->by_digit[k], (int)a->total[k]);
        total += a->total[k];
    }
    printf("all: %d of %d right\n", (int)a->right, (int)total);
    printf("squared distances to the nearest: sum %.0f, largest %.0f\n", (double)a->sum,
           (double)a->farthest);
}

int main(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    answers a;

    classify(ctx, &a);
    const rd_status status = rd_error(ctx);
    if (status == RD_OK)
        report(&a);
    else
        fprintf(stderr, "digits_knn: %s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status == RD_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
