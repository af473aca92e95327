/* run.c - matrix products: which ones, in which blocks, by what, and their calls. */
#include "kernels/cpu/product/blas.h"
#include "kernels/cpu/product/product.h"

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

static void cut(rd_cpu_product *product)
{
    const rd_product *of = product->of;

    product->rows       = block_extent(of->m.extent, 4, 512);
    product->cols       = block_extent(of->n.extent, 2, 1024);
    product->row_blocks = (of->m.extent + product->rows - 1) / product->rows;
    product->col_blocks = (of->n.extent + product->cols - 1) / product->cols;
    product->blocks     = product->row_blocks * product->col_blocks;
    product->parts      = 1;
    for (int32_t i = 0; i < of->n_axis; i++)
        *(i < of->n_kept ? &product->blocks : &product->parts) *= of->axis[i].extent;
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
static bool has_kernels_bits(const rd_cpu_product *product, const rd_fold *f)
{
    const rd_product *of = product->of;

    return f->lanes == 1 && f->lane.n_add == 0 && f->outer.n_add == 1 &&
           f->outer.add[0].coef == 1 && f->outer.offset == 0 && product->parts == 1 &&
           of->k.extent <= RD_PRODUCT_STEPS && of->n.step[RD_B] == 1;
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
    const rd_product *of = rd_product_choose(p, get, pool);
    rd_cpu_product   *product;

    if (!of)
        return true;
    product = get(pool, sizeof *product);
    if (!product)
        return false;
    product->of = of;
    cut(product);
    if (has_kernels_bits(product, &p->fold[0]) && (p->exact || is_small(of) || !rd_blas_name()))
        product->kernel = simd->product[rd_elem_of(of->type)];
    else if (p->exact || !rd_blas_name())
        return true;
    if (!share_blocks(p, product->blocks, get, pool))
        return false;
    p->product = product;
    return true;
}

const char *rd_product_by(const rd_cpu_product *product)
{
    return product->kernel ? "product kernels" : rd_blas_name();
}

/* ---- Runs ------------------------------------------------------------------------------------ */
static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* Rows and columns of c that the block at these has. */
static int64_t rows_at(const rd_cpu_product *product, int64_t row)
{
    return at_most(product->rows, product->of->m.extent - row);
}

static int64_t cols_at(const rd_cpu_product *product, int64_t col)
{
    return at_most(product->cols, product->of->n.extent - col);
}

/* As it lies in memory: the kernel takes columns of c and b side by side, and a as it is. */
static rd_product_tile tile_of(const rd_cpu_product *product, int64_t row, int64_t col)
{
    const rd_product *of = product->of;

    return (rd_product_tile){ .rows   = rows_at(product, row),
                              .cols   = cols_at(product, col),
                              .steps  = of->k.extent,
                              .a_row  = of->m.step[RD_A],
                              .a_step = of->k.step[RD_A],
                              .b_row  = of->k.step[RD_B],
                              .c_row  = of->m.step[RD_C] };
}

static void run_kernel(const rd_cpu_product *product, const rd_task *task, const int64_t *at,
                       int64_t row, int64_t col)
{
    rd_product_tile t = tile_of(product, row, col);

    t.a = rd_product_element(product->of, task->slot, RD_A, at[RD_A]);
    t.b = rd_product_element(product->of, task->slot, RD_B, at[RD_B]);
    t.c = rd_product_element(product->of, task->slot, RD_C, at[RD_C]);
    product->kernel(&t);
}

static void run_blas(const rd_cpu_product *product, const rd_task *task, const int64_t *at,
                     int64_t row, int64_t col)
{
    const rd_product *of = product->of;
    rd_gemm           g  = rd_product_gemm(of, rows_at(product, row), cols_at(product, col));

    for (int64_t part = 0; part < product->parts; part++) {
        int64_t here[RD_MATRICES] = { at[RD_C], at[RD_A], at[RD_B] };

        rd_product_move_along(here, of->axis + of->n_kept, of->n_axis - of->n_kept, part);
        g.add = part > 0;
        g.a   = rd_product_element(of, task->slot, RD_A, here[RD_A]);
        g.b   = rd_product_element(of, task->slot, RD_B, here[RD_B]);
        g.c   = rd_product_element(of, task->slot, RD_C, here[RD_C]);
        rd_blas_gemm(&g);
    }
}

/* Elements that it reads. */
static int64_t run_block(const rd_cpu_product *product, const rd_task *task, int64_t item,
                         int64_t row, int64_t col)
{
    const rd_product *of              = product->of;
    int64_t           at[RD_MATRICES] = { 0 };

    rd_product_move(at, &of->m, row);
    rd_product_move(at, &of->n, col);
    rd_product_move_along(at, of->axis, of->n_kept, item);
    (product->kernel ? run_kernel : run_blas)(product, task, at, row, col);
    return (rows_at(product, row) + cols_at(product, col)) * of->k.extent * product->parts;
}

void rd_product_run(const rd_cpu_product *product, rd_task *task)
{
    const int64_t of_item = product->row_blocks * product->col_blocks;
    const int     before  = product->kernel ? 0 : rd_blas_begin();
    int64_t       item    = task->lo / of_item;
    int64_t       row     = task->lo % of_item / product->col_blocks * product->rows;
    int64_t       col     = task->lo % product->col_blocks * product->cols;
    int64_t       loads   = 0; /* the record of the next task is close by */

    for (int64_t block = task->lo; block < task->hi; block++) {
        loads += run_block(product, task, item, row, col);
        if ((col += product->cols) < product->of->n.extent)
            continue;
        col = 0;
        if ((row += product->rows) < product->of->m.extent)
            continue;
        row = 0;
        item++;
    }
    if (!product->kernel)
        rd_blas_end(before);
    task->loads += loads;
}
