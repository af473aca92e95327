/* What sparse expressions keep: a pattern is there once, and nothing is as large as the dense array. */
#include "values.h"

#include <stddef.h>
#include <stdlib.h>

enum { ROWS = 2500, EACH = 64, PLACES = ROWS * EACH, DEEP = 16, KIB = 1024 };

static int32_t pos[ROWS + 1], crd[PLACES];
static double  values[PLACES], vectors[ROWS * DEEP], result[ROWS * ROWS];

/* ---- What is counted ------------------------------------------------------------------------- */
static int64_t held, most;
static int     allowed = -1; /* allocations that are not refused yet; below 0: none is */

typedef union block {
    int64_t     bytes;
    max_align_t align;
} block;

static void *allocate(void *user, int64_t bytes)
{
    block *b = malloc(sizeof *b + (size_t)bytes);

    (void)user;
    if (!b || allowed == 0) {
        free(b);
        return NULL;
    }
    allowed -= allowed > 0;
    b->bytes = bytes;
    held += bytes;
    most = held > most ? held : most;
    return b + 1;
}

static void release(void *user, void *p)
{
    (void)user;
    if (!p)
        return;
    held -= ((block *)p - 1)->bytes;
    free((block *)p - 1);
}

/* ---- A matrix -------------------------------------------------------------------------------- */
/* Columns ascend in steps that no two rows have alike. */
static void make_pattern(void)
{
    for (int i = 0; i < ROWS; i++) {
        pos[i + 1] = (i + 1) * EACH;
        for (int k = 0; k < EACH; k++)
            crd[i * EACH + k] = k * (ROWS / EACH) + (i * 37 + k * k) % (ROWS / EACH);
    }
    for (int e = 0; e < PLACES; e++)
        values[e] = e % 7 - 3;
    for (int e = 0; e < ROWS * DEEP; e++)
        vectors[e] = e % 5 - 2;
}

static rd_expr *matrix(bool is_stored)
{
    rd_expr *const from =
        rd_leaf(ctx, &(rd_array){ .in = pos, .type = RD_I32, .shape = RD_SHAPE(ROWS + 1) });
    rd_expr *const column =
        rd_leaf(ctx, &(rd_array){ .in = crd, .type = RD_I32, .shape = RD_SHAPE(PLACES) });

    return rd_csr(ctx, RD_SHAPE(ROWS, ROWS), from, column, rd_wrap(ctx, values, RD_SHAPE(PLACES)),
                  .stored = is_stored);
}

/* ---- What is made of it ---------------------------------------------------------------------- */
static rd_expr *vector(void)
{
    return rd_wrap(ctx, vectors, RD_SHAPE(ROWS));
}

static rd_expr *columns(void)
{
    return rd_wrap(ctx, vectors, RD_SHAPE(ROWS, DEEP));
}

static rd_expr *times_vector(rd_expr *a)
{
    return rd_matmul(a, vector());
}

static rd_expr *times_columns(rd_expr *a)
{
    return rd_matmul(a, columns());
}

static rd_expr *sum_of_rows(rd_expr *a)
{
    return rd_sum(a, RD_DIMS(1));
}

static rd_expr *sum_of_columns(rd_expr *a)
{
    return rd_sum(a, RD_DIMS(0));
}

/* Of rows i and j, at stored places alone: (i, j) are 50 MB. */
static rd_expr *sampled_product(rd_expr *a)
{
    rd_expr *const each =
        rd_sum(rd_mul(rd_expand(columns(), 1), rd_expand(columns(), 0)), RD_DIMS(2));

    return rd_stored(rd_mul(a, each));
}

static rd_expr *product_of_two(rd_expr *a)
{
    return rd_stored(rd_matmul(a, a));
}

static rd_expr *softmax_of_pairs(rd_expr *a)
{
    rd_expr *const both = rd_add(rd_expand(vector(), 1), rd_expand(vector(), 0));

    return rd_stored(rd_softmax(rd_mul(a, rd_maximum(both, rd_neg(both))), RD_DIMS(1)));
}

/* ---- How much -------------------------------------------------------------------------------- */
/* A graph and a plan take some 250 KiB, whatever the sizes; folds by label some 14 cells for each
 * row, which are the levels of their trees.  A pattern is 640 KB, values 1.3 MB, and so are
 * exponentials, which are computed once. */
enum { PLAN = 320 * KIB, CELLS = ROWS * (int)sizeof(double), NODES = 64 * KIB };

static const struct {
    const char *what;
    rd_expr *(*make)(rd_expr *a);
    bool    is_stored;
    int64_t most; /* of an evaluation */
} rows[] = {
    { "A x", times_vector, true, PLAN + 24 * CELLS },
    { "A x with fills", times_vector, false, PLAN + 55 * CELLS },
    { "A times columns", times_columns, true, PLAN + 16 * (DEEP * CELLS) },
    { "sums of rows", sum_of_rows, true, PLAN + 24 * CELLS },
    { "sums of columns", sum_of_columns, true, PLAN + 28 * CELLS },
    { "sums of rows with fills", sum_of_rows, false, PLAN + 24 * CELLS },
    { "sampled product", sampled_product, true, PLAN },
    { "product of two", product_of_two, true, 2 * PLAN },
    { "softmax of pairs", softmax_of_pairs, true, PLAN + 30 * CELLS + 8 * PLACES },
};

static rd_ctx *counted(void)
{
    return rd_ctx_new(&(rd_ctx_opts){
        .size = sizeof(rd_ctx_opts), .threads = 1, .allocate = allocate, .release = release });
}

START_TEST(a_pattern_is_there_once)
{
    make_pattern();
    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_array out = { .data = result };

        rd_ctx_free(ctx);
        ctx                  = counted();
        const int64_t  start = most = held;
        rd_expr *const a            = matrix(rows[k].is_stored);
        ck_assert_msg(a && most - start <= 4 * PLACES + NODES, "a node keeps %lld bytes",
                      (long long)(most - start));
        rd_expr *const y = rows[k].make(a);
        ck_assert_msg(y != NULL, "%s: %s", rows[k].what, rd_error_text(ctx));
        const int64_t before = most = held;
        out.type                    = rd_type_of(y);
        out.shape                   = rd_shape_of(y);
        ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", rows[k].what, rd_error_text(ctx));
        ck_assert_msg(most - before <= rows[k].most, "%s: %lld bytes, at most %lld are wanted",
                      rows[k].what, (long long)(most - before), (long long)rows[k].most);
    }
}
END_TEST

/* Each allocation is refused once: a sentence, and nothing is left. */
START_TEST(memory_is_refused)
{
    rd_status status = RD_ERR_MEMORY;
    int       k;

    make_pattern();
    for (k = 0; status == RD_ERR_MEMORY; k++) {
        const int64_t start = held;

        ck_assert_int_lt(k, 200);
        allowed             = -1;
        rd_ctx *const other = counted();
        rd_ctx *const kept  = ctx;
        ctx                 = other;
        rd_expr *const a    = matrix(false);
        allowed             = k;
        rd_expr *const both = rd_add(a, rd_transpose(a));
        allowed             = -1;
        status              = rd_error(ctx);
        ck_assert_msg((both != NULL) == (status == RD_OK), "allocation %d: %s", k,
                      rd_error_text(ctx));
        ck_assert_msg(status == RD_OK || status == RD_ERR_MEMORY, "allocation %d: %s", k,
                      rd_error_text(ctx));
        ctx = kept;
        rd_ctx_free(other);
        ck_assert_int_eq(held, start);
    }
    ck_assert_int_gt(k, 5); /* rows in their order, of both, and of each where it is */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { a_pattern_is_there_once, memory_is_refused };

    return run_suite("sparse memory", tests, COUNT(tests));
}
