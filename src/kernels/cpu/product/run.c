/* run.c - matrix products: which ones, in which blocks, by what, and their calls. */
#include "kernels/cpu/product/blas.h"
#include "kernels/cpu/product/product.h"
#include <limits.h>

/* ---- Which axes are m, n and k --------------------------------------------------------------- */
/* Is the axis one of these two matrices, and not of the third? */
static bool is_of_two(const rd_product_axis *axis, int one, int other, int third)
{
    return axis->step[one] && axis->step[other] && !axis->step[third];
}

/* Neighbours along one axis side by side in memory, and the rows that they make apart. */
static bool is_matrix(const rd_product_axis *row, const rd_product_axis *col, int matrix)
{
    return col->step[matrix] == 1 && row->step[matrix] >= col->extent &&
           row->step[matrix] <= INT_MAX;
}

static bool suits(const rd_product_axis *m, const rd_product_axis *n, const rd_product_axis *k)
{
    return is_matrix(m, n, RD_C) && (is_matrix(m, k, RD_A) || is_matrix(k, m, RD_A)) &&
           (is_matrix(k, n, RD_B) || is_matrix(n, k, RD_B)) && m->extent <= INT_MAX &&
           n->extent <= INT_MAX && k->extent <= INT_MAX;
}

/* The largest matrices that suit. */
typedef struct choice {
    const rd_product_axis *m, *n, *k;
    double                 points;
} choice;

static void choose_summed(const rd_product *product, const rd_product_axis *m,
                          const rd_product_axis *n, choice *best)
{
    for (int32_t i = 0; i < product->n_axis; i++) {
        const rd_product_axis *k      = &product->axis[i];
        const double           points = (double)m->extent * (double)n->extent * (double)k->extent;

        if (is_of_two(k, RD_A, RD_B, RD_C) && points > best->points && suits(m, n, k))
            *best = (choice){ m, n, k, points };
    }
}

static choice choose(const rd_product *product)
{
    choice best = { .points = 0 };

    for (int32_t i = 0; i < product->n_axis; i++)
        for (int32_t j = 0; j < product->n_axis; j++)
            if (is_of_two(&product->axis[i], RD_C, RD_A, RD_B) &&
                is_of_two(&product->axis[j], RD_C, RD_B, RD_A))
                choose_summed(product, &product->axis[i], &product->axis[j], &best);
    return best;
}

/* b^T a^T = c^T: rows of c must lie side by side, and columns may instead. */
static void transpose(rd_product *product)
{
    const rd_matrix a = product->matrix[RD_A];

    product->matrix[RD_A] = product->matrix[RD_B];
    product->matrix[RD_B] = a;
    for (int32_t i = 0; i < product->n_axis; i++) {
        const int64_t step = product->axis[i].step[RD_A];

        product->axis[i].step[RD_A] = product->axis[i].step[RD_B];
        product->axis[i].step[RD_B] = step;
    }
}

/* Below these a call costs more than it saves, or vectors are as fast: a matrix times a vector is
 * one pass over memory. */
enum { LEAST_EXTENT = 4, LEAST_POINTS = 1 << 15 };

static bool pays(const rd_product *product, const choice *best)
{
    double points = 1;

    for (int32_t i = 0; i < product->n_axis; i++)
        points *= (double)product->axis[i].extent;
    return best->m && best->m->extent >= LEAST_EXTENT && best->n->extent >= LEAST_EXTENT &&
           best->k->extent >= LEAST_EXTENT && points >= LEAST_POINTS;
}

/* Settles m, n and k, and sorts the other axes. */
static void settle(rd_product *product, const choice *best)
{
    rd_product_axis *axis   = product->axis;
    int32_t          n_left = 0;

    product->m = *best->m;
    product->n = *best->n;
    product->k = *best->k;
    for (int32_t i = 0; i < product->n_axis; i++)
        if (&axis[i] != best->m && &axis[i] != best->n && &axis[i] != best->k)
            axis[n_left++] = axis[i];
    product->n_axis = n_left;
    for (int32_t i = 0; i < n_left; i++)
        if (axis[i].step[RD_C]) {
            const rd_product_axis kept = axis[i];

            axis[i]                 = axis[product->n_kept];
            axis[product->n_kept++] = kept;
        }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Blocks follow from the extents alone, and each is one call on one thread: threads change no bit.
 * A call copies its rows of a and columns of b first: halves of 128 x 128 take 1.03 times as long
 * as the whole, quarters of 2048 x 2048 1.06. */
static int64_t block_extent(int64_t extent, int64_t parts, int64_t most)
{
    enum { LEAST = 128, WHOLE = 32 };
    const int64_t wanted = (extent / parts + WHOLE - 1) / WHOLE * WHOLE;

    return wanted < LEAST ? LEAST : wanted > most ? most : wanted;
}

static void cut(rd_product *product)
{
    product->rows       = block_extent(product->m.extent, 4, 512);
    product->cols       = block_extent(product->n.extent, 2, 1024);
    product->row_blocks = (product->m.extent + product->rows - 1) / product->rows;
    product->col_blocks = (product->n.extent + product->cols - 1) / product->cols;
    product->blocks     = product->row_blocks * product->col_blocks;
    product->parts      = 1;
    for (int32_t i = 0; i < product->n_axis; i++)
        *(i < product->n_kept ? &product->blocks : &product->parts) *= product->axis[i].extent;
}

/* The blocks become an axis of the program, the one that tasks share. */
static bool share_blocks(rd_program *p, int64_t blocks, rd_get_fn *get, void *pool)
{
    int64_t *extent = get(pool, (size_t)(p->n_axis + 1) * sizeof *extent);

    if (!extent)
        return false;
    for (int32_t a = 0; a < p->n_axis; a++)
        extent[a] = p->axis_extent[a];
    extent[p->n_axis] = blocks;
    p->axis_extent    = extent;
    p->root           = p->n_axis++;
    p->grain          = 1;
    p->serial         = false;
    p->state_bytes    = 0;
    return true;
}

/* Are the bits of the sums those of the kernels: do these find one lane, whose steps are k, and
 * columns side by side? */
static bool has_kernels_bits(const rd_product *product, const rd_fold *f)
{
    return f->lanes == 1 && f->lane.n_add == 0 && f->outer.n_add == 1 &&
           f->outer.add[0].coef == 1 && f->outer.offset == 0 && product->parts == 1 &&
           product->k.extent <= RD_PRODUCT_STEPS && product->n.step[RD_B] == 1;
}

/* A BLAS prepares each call, which small matrices do not pay back: at 8 x 8 x 8 it takes 1.6 times
 * as long in f64, at 16 x 16 x 16 1.1 to 1.2 times, at 32 x 32 x 32 as long. */
static bool is_small(const rd_product *product)
{
    enum { SMALL = 32 };

    return product->m.extent <= SMALL && product->n.extent <= SMALL && product->k.extent <= SMALL;
}

bool rd_product_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool)
{
    rd_product *product = rd_product_find(p, get, pool);
    choice      best;

    if (!product)
        return true;
    best = choose(product);
    if (!best.m) {
        transpose(product);
        best = choose(product);
    }
    if (!pays(product, &best))
        return true;
    settle(product, &best);
    cut(product);
    if (has_kernels_bits(product, &p->fold[0]) &&
        (p->exact || is_small(product) || !rd_blas_name()))
        product->kernel = simd->product[rd_elem_of(product->type)];
    else if (p->exact || !rd_blas_name())
        return true;
    if (!share_blocks(p, product->blocks, get, pool))
        return false;
    p->product = product;
    return true;
}

const char *rd_product_by(const rd_product *product)
{
    return product->kernel ? "product kernels" : rd_blas_name();
}

/* ---- Runs ------------------------------------------------------------------------------------ */
static void move(int64_t *at, const rd_product_axis *axis, int64_t index)
{
    for (int m = 0; m < RD_MATRICES; m++)
        at[m] += index * axis->step[m];
}

/* To index number `index` over all these axes, the last one fastest. */
static void move_along(int64_t *at, const rd_product_axis *axis, int32_t n, int64_t index)
{
    for (int32_t i = n; i-- > 1; index /= axis[i].extent)
        move(at, &axis[i], index % axis[i].extent);
    if (n)
        move(at, axis, index);
}

static void *element(const rd_product *product, const rd_task *task, int matrix, int64_t at)
{
    const rd_matrix *m = &product->matrix[matrix];

    return (char *)task->slot[m->slot] + (m->first + at) * rd_dtype_size(product->type);
}

static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* The first of the block's products, without its matrices' places. */
static rd_gemm gemm_of(const rd_product *product, int64_t row, int64_t col)
{
    const rd_product_axis *m = &product->m, *n = &product->n, *k = &product->k;
    rd_gemm                g = { .type         = product->type,
                                 .a_transposed = k->step[RD_A] != 1,
                                 .b_transposed = n->step[RD_B] != 1,
                                 .m            = (int)at_most(product->rows, m->extent - row),
                                 .n            = (int)at_most(product->cols, n->extent - col),
                                 .k            = (int)k->extent };

    g.lead_a = (int)(g.a_transposed ? k : m)->step[RD_A];
    g.lead_b = (int)(g.b_transposed ? n : k)->step[RD_B];
    g.lead_c = (int)m->step[RD_C];
    return g;
}

/* As it lies in memory: the kernel takes columns of c and b side by side, and a as it is. */
static rd_product_tile tile_of(const rd_product *product, int64_t row, int64_t col)
{
    return (rd_product_tile){ .rows   = at_most(product->rows, product->m.extent - row),
                              .cols   = at_most(product->cols, product->n.extent - col),
                              .steps  = product->k.extent,
                              .a_row  = product->m.step[RD_A],
                              .a_step = product->k.step[RD_A],
                              .b_row  = product->k.step[RD_B],
                              .c_row  = product->m.step[RD_C] };
}

static void run_kernel(const rd_product *product, const rd_task *task, const int64_t *at,
                       int64_t row, int64_t col)
{
    rd_product_tile t = tile_of(product, row, col);

    t.a = element(product, task, RD_A, at[RD_A]);
    t.b = element(product, task, RD_B, at[RD_B]);
    t.c = element(product, task, RD_C, at[RD_C]);
    product->kernel(&t);
}

static void run_blas(const rd_product *product, const rd_task *task, const int64_t *at, int64_t row,
                     int64_t col)
{
    rd_gemm g = gemm_of(product, row, col);

    for (int64_t part = 0; part < product->parts; part++) {
        int64_t here[RD_MATRICES] = { at[RD_C], at[RD_A], at[RD_B] };

        move_along(here, product->axis + product->n_kept, product->n_axis - product->n_kept, part);
        g.add = part > 0;
        g.a   = element(product, task, RD_A, here[RD_A]);
        g.b   = element(product, task, RD_B, here[RD_B]);
        g.c   = element(product, task, RD_C, here[RD_C]);
        rd_blas_gemm(&g);
    }
}

/* Elements that it reads. */
static int64_t run_block(const rd_product *product, const rd_task *task, int64_t item, int64_t row,
                         int64_t col)
{
    int64_t at[RD_MATRICES] = { 0 };

    move(at, &product->m, row);
    move(at, &product->n, col);
    move_along(at, product->axis, product->n_kept, item);
    (product->kernel ? run_kernel : run_blas)(product, task, at, row, col);
    return (at_most(product->rows, product->m.extent - row) +
            at_most(product->cols, product->n.extent - col)) *
           product->k.extent * product->parts;
}

void rd_product_run(const rd_product *product, rd_task *task)
{
    const int64_t of_item = product->row_blocks * product->col_blocks;
    const int     before  = product->kernel ? 0 : rd_blas_begin();
    int64_t       item    = task->lo / of_item;
    int64_t       row     = task->lo % of_item / product->col_blocks * product->rows;
    int64_t       col     = task->lo % product->col_blocks * product->cols;
    int64_t       loads   = 0; /* the record of the next task is close by */

    for (int64_t block = task->lo; block < task->hi; block++) {
        loads += run_block(product, task, item, row, col);
        if ((col += product->cols) < product->n.extent)
            continue;
        col = 0;
        if ((row += product->rows) < product->m.extent)
            continue;
        row = 0;
        item++;
    }
    if (!product->kernel)
        rd_blas_end(before);
    task->loads += loads;
}
