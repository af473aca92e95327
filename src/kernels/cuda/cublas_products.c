/* cublas_products.c - programs that are matrix products, by cuBLAS.
 *
 * One more axis of c becomes the batch of a call.  Calls are repeated for the indices of all
 * other axes; those that are summed over add to c.
 *
 *     c[b, i, j] = sum of a[b, i, k] b[b, k, j]: "a product by cuBLAS: 37 x 43 x 71, 3 at a time"
 */
#include "kernels/cuda/cublas.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A product, prepared. */
struct rd_gpu_product {
    rd_product      of;           /* the product without the axis of the batch */
    rd_product_axis batch;        /* the axis of the batch; extent 1: there is none */
    int64_t         calls, parts; /* of a whole batch; calls that add to the same c */
};

/* A call costs as much as a small kernel. */
enum { MOST_CALLS = 1024, MOST_BATCH = 65535 };

/* ---- Preparing ------------------------------------------------------------------------------- */
/* True if no matrix moves backwards along an axis, as cuBLAS's batches need strides of at least
 * 0. */
static bool may_be_batch(const rd_product_axis *axis)
{
    return axis->step[RD_A] >= 0 && axis->step[RD_B] >= 0 && axis->step[RD_C] >= 0;
}

/* Returns the longest of the axes that c has beside rows and columns (the first n_kept of the
 * list), if it may be the batch of a call; -1: there is none. */
static int32_t choose_batch(const rd_product *of)
{
    int32_t best = -1;

    for (int32_t i = 0; i < of->n_kept; i++)
        if (may_be_batch(&of->axis[i]) && (best < 0 || of->axis[i].extent > of->axis[best].extent))
            best = i;
    return best;
}

/* Moves the batch axis from the product's list of further axes to product->batch; without such
 * an axis the batch has extent 1. */
static void take_batch(rd_gpu_product *product)
{
    rd_product *const of = &product->of;
    const int32_t     i  = choose_batch(of);

    product->batch = (rd_product_axis){ .extent = 1 };
    if (i < 0)
        return;
    product->batch = of->axis[i];
    memmove(&of->axis[i], &of->axis[i + 1], (size_t)(of->n_axis - i - 1) * sizeof *of->axis);
    of->n_axis--;
    of->n_kept--;
}

/* Counts the calls of cuBLAS that the axes outside of the batch need.  `parts` counts the calls
 * that add to the same c: those of axes that are summed over (c lacks them).  False: too many
 * calls for the gain. */
static bool count_calls(rd_gpu_product *product)
{
    const rd_product *const of    = &product->of;
    double                  calls = ceil((double)product->batch.extent / MOST_BATCH);

    product->calls = product->parts = 1;
    for (int32_t i = 0; i < of->n_axis; i++)
        calls *= (double)of->axis[i].extent;
    if (calls > MOST_CALLS)
        return false;
    for (int32_t i = 0; i < of->n_axis; i++) {
        product->calls *= of->axis[i].extent;
        product->parts *= i < of->n_kept ? 1 : of->axis[i].extent;
    }
    return true;
}

/* Recognises a program that is a matrix product, and chooses its batch.  *product NULL: it is
 * none, cuBLAS is missing, or results must have the program's own bits.  False: no memory. */
bool rd_gpu_product_prepare(const rd_program *p, rd_get_fn *get, void *pool,
                            const rd_gpu_product **product)
{
    rd_product     *of = NULL;
    rd_gpu_product *made;

    *product = NULL;
    if (!p->exact && !rd_product_choose(p, get, pool, &of))
        return false;
    if (!of || !rd_cublas_api(/*why=*/NULL)) /* asked last: the answer takes loading it */
        return true;
    made = get(pool, sizeof *made);
    if (!made)
        return false;
    made->of = *of;
    take_batch(made);
    if (count_calls(made))
        *product = made;
    return true;
}

/* Adds a description for people: "a product by cuBLAS: 37 x 43 x 71, 3 at a time, 2 calls". */
void rd_gpu_product_text(rd_text *to, const rd_gpu_product *product)
{
    const rd_product *of = &product->of;

    rd_text_add(to, "a product by cuBLAS: %" PRId64 " x %" PRId64 " x %" PRId64, of->m.extent,
                of->n.extent, of->k.extent);
    if (product->batch.extent > 1)
        rd_text_add(to, ", %" PRId64 " at a time", product->batch.extent);
    if (product->calls > 1)
        rd_text_add(to, ", %" PRId64 " calls", product->calls);
}

/* ---- Running --------------------------------------------------------------------------------- */
/* Multiplies all matrices of a batch, in as many calls as cuBLAS's limit MOST_BATCH needs. at[]:
 * the element of each array where the batch begins. `add`: the products are added to c. */
static bool run_batch(const rd_gpu_product *product, rd_queue *queue, void *const *slot,
                      const int64_t *at, bool add, bool *full, char why[RD_CUDA_TEXT])
{
    const rd_product *of    = &product->of;
    const int64_t     count = product->batch.extent;
    rd_gemms          g     = { .first = rd_product_gemm(of, of->m.extent, of->n.extent) };
    bool              done  = true;

    g.first.add = add;
    for (int m = 0; m < RD_MATRICES; m++)
        g.step[m] = product->batch.step[m];
    for (int64_t first = 0; done && first < count; first += MOST_BATCH) {
        int64_t here[RD_MATRICES];

        memcpy(here, at, sizeof here);
        rd_product_move(here, &product->batch, first);
        g.count   = (int)(count - first < MOST_BATCH ? count - first : MOST_BATCH);
        g.first.a = rd_product_element(of, slot, RD_A, here[RD_A]);
        g.first.b = rd_product_element(of, slot, RD_B, here[RD_B]);
        g.first.c = rd_product_element(of, slot, RD_C, here[RD_C]);
        done      = rd_cublas_run(queue, &g, full, why);
    }
    return done;
}

/* Enqueues all calls of the product.  The axes that are summed over run fastest: so of every
 * `parts` calls the first one overwrites c, and the others add to it. */
bool rd_gpu_product_run(const rd_gpu_product *product, rd_submission *submission, void *const *slot,
                        rd_device_end *end, char why[RD_CUDA_TEXT])
{
    rd_queue *const queue = rd_submission_queue(submission);
    bool            full = false, done = true;

    for (int64_t call = 0; done && call < product->calls; call++) {
        int64_t at[RD_MATRICES] = { 0 };

        rd_product_move_along(at, product->of.axis, product->of.n_axis, call);
        done = run_batch(product, queue, slot, at, call % product->parts > 0, &full, why);
    }
    *end = full ? RD_DEVICE_FULL : RD_DEVICE_FAILED;
    return done;
}
