/* products.c - products of matrices by cuBLAS: near what the CPU's loops say, and twice the same. */
#include "kernels/cuda/api.h"
#include "parts.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* c = a b, (m, k) times (k, n), `batch` of each; a and b perhaps as their transposes lie. */
typedef struct matrices {
    int64_t batch, m, n, k;
    bool    a_turned, b_turned;
} matrices;

static const matrices cases[] = {
    { 1, 64, 64, 64, false, false },   { 1, 129, 257, 65, true, false },
    { 1, 300, 31, 500, false, true },  { 1, 512, 500, 128, true, true },
    { 40, 16, 16, 16, false, false },  { 7, 33, 45, 129, true, true },
    { 70000, 4, 4, 4, false, false },  { 1, 4, 5000, 4, false, false },
    { 1, 64, 64, 20000, false, true },
};
enum { CASES = sizeof cases / sizeof *cases };

static rd_expr *operand(rd_ctx *ctx, void *data, rd_dtype type, int64_t batch, int64_t rows,
                        int64_t columns, bool turned)
{
    const rd_array lies = { .data  = data,
                            .type  = type,
                            .shape = turned ? RD_SHAPE(batch, columns, rows)
                                            : RD_SHAPE(batch, rows, columns) };
    rd_expr *const x    = rd_leaf(ctx, &lies);

    return turned ? rd_permute(x, RD_INDEX(0, 2, 1)) : x;
}

static void fill(void *x, rd_dtype type, int64_t n, uint64_t state)
{
    for (int64_t i = 0; i < n; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);

        const double number = (double)(int64_t)state * 0x1p-63;

        if (type == RD_F32)
            ((float *)x)[i] = (float)number;
        else
            ((double *)x)[i] = number;
    }
}

static double get(const rd_array *x, int64_t i)
{
    return x->type == RD_F32 ? (double)((const float *)x->data)[i] : ((const double *)x->data)[i];
}

/* As test_products has it: each of k roundings, in any order, of what k come to. */
static bool are_near(const rd_array *found, const rd_array *want, const matrices *c)
{
    const double  unit = found->type == RD_F32 ? FLT_EPSILON : DBL_EPSILON;
    const double  most = unit * (double)c->k * sqrt((double)c->k);
    const int64_t n    = c->batch * c->m * c->n;

    for (int64_t i = 0; i < n; i++)
        if (!(fabs(get(found, i) - get(want, i)) <= most)) {
            fprintf(stderr, "element %" PRId64 ": %a, not %a\n", i, get(found, i), get(want, i));
            return false;
        }
    return true;
}

static bool by_all(rd_ctx *ctx, rd_expr *y, rd_array *found, rd_array *again, rd_array *want)
{
    const rd_eval_opts cuda = { .backend = RD_BACKEND_CUDA },
                       cpu  = { .backend = RD_BACKEND_CPU, .deterministic = true };
    const char *const text  = rd_explain(ctx, RD_RESULTS({ y, NULL }), &cuda);

    if (!text || !strstr(text, "by cuBLAS")) {
        fprintf(stderr, "not by cuBLAS:\n%s\n", text ? text : "");
        return false;
    }
    return rd_eval_many(ctx, RD_RESULTS({ y, found }), &cuda) == RD_OK &&
           rd_eval_many(ctx, RD_RESULTS({ y, again }), &cuda) == RD_OK &&
           rd_eval_many(ctx, RD_RESULTS({ y, want }), &cpu) == RD_OK;
}

static bool multiplies(const matrices *c, rd_dtype type)
{
    const int64_t size = rd_dtype_size(type);
    rd_ctx *const ctx  = rd_ctx_new(NULL);
    void *const   a    = malloc((size_t)(c->batch * c->m * c->k * size));
    void *const   b    = malloc((size_t)(c->batch * c->k * c->n * size));
    rd_array      y[3] = { { .data = NULL }, { .data = NULL }, { .data = NULL } };

    fill(a, type, c->batch * c->m * c->k, 1);
    fill(b, type, c->batch * c->k * c->n, 2);

    rd_expr *const x   = operand(ctx, a, type, c->batch, c->m, c->k, c->a_turned);
    rd_expr *const z   = operand(ctx, b, type, c->batch, c->k, c->n, c->b_turned);
    rd_expr *const e   = rd_sum(rd_mul(rd_expand(x, 3), rd_expand(z, 1)), RD_DIMS(2));
    const bool     ran = by_all(ctx, e, &y[0], &y[1], &y[2]);
    const bool     same =
        ran && memcmp(y[0].data, y[1].data, (size_t)(c->batch * c->m * c->n * size)) == 0;

    if (rd_error(ctx) != RD_OK)
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    else if (ran && !same)
        fprintf(stderr, "other bits in the second run\n");
    const bool good = same && are_near(&y[0], &y[2], c);
    for (int k = 0; k < 3; k++)
        rd_array_free(&y[k]);
    rd_ctx_free(ctx);
    free(a);
    free(b);
    return good;
}

void run_products(part *p, const settings *s, double until)
{
    const char *why;

    (void)s;
    if (!rd_cublas_api(&why)) {
        printf("skipped: products: %s\n", why);
        return;
    }
    p->wanted = 2 * CASES;
    for (; part_goes_on(p, until); p->ran++) {
        const matrices *c    = &cases[p->ran / 2];
        const rd_dtype  type = p->ran % 2 ? RD_F64 : RD_F32;

        if (!multiplies(c, type)) {
            p->failed++;
            fprintf(stderr, "product %" PRId64 ", %s\n", p->ran / 2, rd_dtype_name(type));
        }
        p->results++;
        p->elements += c->batch * c->m * c->n;
    }
}
