/* run_product.c - matrix products: chooses which ones a BLAS or kernels compute, plans their
 * blocks, and runs the calls.
 *
 *   c[m, n] = sum over k of a[m, k] b[k, n]  ->  blocks of rows x cols, each one or more GEMM
 * calls
 *
 * A block is a range of rows and columns of c.  A long sum along k is several calls, each for a
 * range of k.  Parts are the indices of further summed axes: a block of c is the sum of their
 * products. */
#include "kernels/cpu/product/blas.h"
#include "kernels/cpu/product/packed.h"
#include "kernels/cpu/product/symmetric.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */
/* Returns the rows or columns of a block: the extent divided into `parts`, as a multiple of 32
 * between 128 and `most`.
 *
 * Blocks depend on the extents alone, and each is one call on one thread, so the number of threads
 * changes no bit.  A call first copies its rows of a and columns of b: halves of 128 x 128 take
 * 1.03 times as long as the whole, quarters of 2048 x 2048 1.06 times. */
static int64_t block_extent(int64_t extent, int64_t parts, int64_t most)
{
    enum { LEAST = 128, WHOLE = 32 };
    const int64_t wanted = (extent / parts + WHOLE - 1) / WHOLE * WHOLE;

    return wanted < LEAST ? LEAST : wanted > most ? most : wanted;
}

/* A call cannot be cancelled, so a long sum along k is several calls, of a tenth of a second at
 * most.  Each but the first adds to c.
 *
 * OpenBLAS sums along k in runs: 320 or 384 of f32, 128, 192, 256 or 384 of f64, by processor; it
 * halves what is left if that is less than two runs.  Calls that end where runs end, and leave a
 * run to the last call, change no bit.  They cost no time, as each run adds to c anyway. */
enum { LONGEST_RUN = 384 };

/* Returns the elements along k that one call sums: whole runs of OpenBLAS. 1920 is a multiple of
 * 320 and 384, 768 of all run lengths of f64.  A call has at most 2^30 products, or 2^29 of f64, as
 * it cannot be cancelled. */
static int64_t call_steps(const rd_cpu_product *product)
{
    const bool    wide = product->of->type == RD_F64;
    const int64_t runs = wide ? 768 : 1920, most = (int64_t)1 << (wide ? 29 : 30);
    const int64_t fit = most / (product->rows * product->cols);

    return fit < runs ? runs : fit / runs * runs;
}

/* Returns how many calls, each for a range of k, one part of the sum takes.  The last call has at
 * least one run of OpenBLAS, so that the ranges change no bit. */
static int64_t calls_of(const rd_cpu_product *product)
{
    const int64_t k = product->of->k.extent;

    return k <= product->steps + LONGEST_RUN
               ? 1
               : (k - LONGEST_RUN + product->steps - 1) / product->steps;
}

/* Counts the blocks of c of so many rows and columns, and the calls of each. of_item is the blocks
 * of one matrix c of the batch, `parts` the products that each is the sum of.  A symmetric product
 * has only the blocks on and above the diagonal. */
static void count_blocks(rd_cpu_product *product)
{
    const rd_product *of = product->of;

    product->steps      = call_steps(product);
    product->row_blocks = (of->m.extent + product->rows - 1) / product->rows;
    product->col_blocks = (of->n.extent + product->cols - 1) / product->cols;
    product->of_item    = product->symmetric ? product->row_blocks * (product->row_blocks + 1) / 2
                                             : product->row_blocks * product->col_blocks;
    product->blocks     = product->of_item;
    product->parts      = 1;
    for (int32_t i = 0; i < of->n_axis; i++)
        /* the first n_kept axes are a batch; the others are summed */
        *(i < of->n_kept ? &product->blocks : &product->parts) *= of->axis[i].extent;
    product->calls = product->parts * calls_of(product);
}

/* Divides c into blocks of rows and columns, and sums along k into calls. */
static void plan_blocks(rd_cpu_product *product)
{
    const rd_product *of = product->of;

    product->rows = product->symmetric ? rd_symmetric_rows(of->m.extent)
                                       : block_extent(of->m.extent, /*parts=*/4, /*most=*/512);
    product->cols =
        product->symmetric ? product->rows : block_extent(of->n.extent, /*parts=*/2, /*most=*/1024);
    count_blocks(product);
}

/* Makes blocks of short sums so small that the BLAS does not copy their matrices (f32 only). Copies
 * take a sixth of the time of 256 x 64 x 384, as each element takes part in few products. Not for
 * our kernels, symmetric products, a transposed b, sums of several parts, or where even FEWEST_ROWS
 * rows of COLS columns are more than the BLAS takes without copies. Rows and columns are multiples
 * of ROWS and COLS. */
static void plan_short_blocks(rd_cpu_product *product)
{
    enum { ROWS = 16, COLS = 64, FEWEST_ROWS = 32 };
    const rd_product *of   = product->of;
    const int64_t     most = rd_blas_most_uncopied(), k = of->k.extent;
    int64_t           cols = product->cols < of->n.extent ? product->cols : of->n.extent, rows;

    if (product->kernel || product->symmetric || of->type != RD_F32 || of->n.step[RD_B] != 1 ||
        product->parts != 1 || k == 0 || k * COLS * FEWEST_ROWS > most ||
        of->m.extent < FEWEST_ROWS)
        return;
    if (cols * k * FEWEST_ROWS > most)
        cols = most / (k * FEWEST_ROWS) / COLS * COLS;
    rows          = most / (k * cols) / ROWS * ROWS;
    product->cols = cols;
    product->rows = rows < product->rows ? rows : product->rows;
    count_blocks(product);
}

/* Adds an axis to the program that counts the calls of all blocks, as the root axis, which tasks
 * share.  All calls of a block are one task's (the grain), as they add to the same elements.
 * False: no memory. */
static bool add_call_axis(rd_program *p, const rd_cpu_product *product, rd_get_fn *get, void *pool)
{
    int64_t *extent = get(pool, (size_t)(p->n_axis + 1) * sizeof *extent);

    if (!extent)
        return false;
    for (int32_t a = 0; a < p->n_axis; a++)
        extent[a] = p->axis_extent[a];
    extent[p->n_axis] = product->blocks * product->calls;
    p->axis_extent    = extent;
    p->root           = p->n_axis++;
    p->grain          = product->calls;
    p->serial         = false;
    p->state_bytes    = product->packed ? product->packed->bytes : 0;
    p->product        = product;
    return true;
}

/* True if the sums of the program have the bits of our kernels: one lane (one accumulator) that
 * adds along k in order, and contiguous columns of b. `lane_line` is the number of a step: it must
 * be the index along k. */
static bool has_kernels_bits(const rd_cpu_product *product, const rd_fold *f)
{
    const rd_product *of = product->of;

    return f->lanes == 1 && f->lane.n_add == 0 && f->lane_line.n_add == 1 &&
           f->lane_line.add[0].coef == 1 && f->lane_line.offset == 0 && product->parts == 1 &&
           of->k.extent <= RD_PRODUCT_STEPS && of->n.step[RD_B] == 1;
}

/* True if a product is too small for a BLAS, which prepares each call.  At 8 x 8 x 8 a BLAS takes
 * 1.6 times as long in f64, at 16 x 16 x 16 1.1 to 1.2 times, at 32 x 32 x 32 as long. */
static bool is_small(const rd_product *product)
{
    enum { SMALL = 32 };

    return product->m.extent <= SMALL && product->n.extent <= SMALL && product->k.extent <= SMALL;
}

/* Chooses our kernels or a BLAS for matrices as they lie.  Kernels have the bits of the fold, so
 * they are chosen where bits matter (exact), and where a BLAS is slower or missing.  False if
 * neither can compute the product. */
static bool find_library(const rd_program *p, const rd_simd *simd, rd_cpu_product *product)
{
    const bool kernels = has_kernels_bits(product, &p->fold[0]);

    if (kernels && (p->exact || is_small(product->of) || !rd_blas_name() || rd_blas_lacks_avx2()))
        product->kernel = simd->product[rd_elem_of(product->of->type)];
    return product->kernel || (!p->exact && rd_blas_name());
}

/* Plans the blocks of a product of a matrix with its own transpose, if a BLAS computes it: half of
 * them.  Our kernels compute whole blocks. */
static void plan_symmetric_blocks(rd_cpu_product *product)
{
    product->symmetric = !product->kernel && rd_product_is_symmetric(product->of);
    if (product->symmetric)
        plan_blocks(product);
}

/* True if the product is a sum of many short sums (parts of fewer than 32 steps).  Each call adds
 * to all of c, which costs more than short sums: 16 filters of 5 x 5 took 1.4 times as long by 5
 * calls a row as by panels. */
static bool has_short_calls(const rd_cpu_product *product)
{
    enum { SHORT = 32 };

    return product->parts > 1 && product->of->k.extent < SHORT;
}

/* Returns the plan of a product that packed panels compute. */
static rd_cpu_product by_panels(const rd_packed *packed)
{
    return (rd_cpu_product){
        .of = packed->of, .packed = packed, .blocks = packed->blocks, .parts = 1, .calls = 1
    };
}

/* Finds the matrix product of a program, and who computes it: a BLAS, our kernels, or kernels on
 * packed panels (copies).  A program that is no product stays as it is.  False: no memory. */
bool rd_product_prepare(rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool)
{
    const rd_packed *packed  = NULL;
    rd_cpu_product  *product = get(pool, sizeof *product);
    bool             library = false;
    rd_product      *of;

    if (!product || !rd_product_choose(p, get, pool, &of))
        return false;
    if (of) {
        product->of = of;
        plan_blocks(product);
        library = find_library(p, simd, product);
        if (library) {
            plan_symmetric_blocks(product);
            plan_short_blocks(product);
        }
    }
    if ((!library || has_short_calls(product)) && !rd_packed_prepare(p, simd, get, pool, &packed))
        return false;
    if (packed)
        *product = by_panels(packed);
    return (!library && !packed) || add_call_axis(p, product, get, pool);
}

/* Returns the name of the library or kernels that compute the product. */
const char *rd_product_by(const rd_cpu_product *product)
{
    return product->packed      ? "product kernels, from packed panels"
           : product->kernel    ? "product kernels"
           : product->symmetric ? rd_blas_name_of_syrk()
                                : rd_blas_name();
}

/* ---- Runs ------------------------------------------------------------------------------------ */
typedef struct block {
    int64_t item, row, col; /* of the axes before m and n; first row and column of c */
} block;

/* Returns n, but at most `most`. */
static int64_t least_of(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* Returns the rows of c that the block at this row has: fewer at the end. */
static int64_t rows_at(const rd_cpu_product *product, int64_t row)
{
    return least_of(product->rows, product->of->m.extent - row);
}

/* Returns the columns of c that the block at this column has: fewer at the end. */
static int64_t cols_at(const rd_cpu_product *product, int64_t col)
{
    return least_of(product->cols, product->of->n.extent - col);
}

/* Returns the arguments of our kernel for a block of c: columns of b and c are contiguous, a may
 * have any strides. */
static rd_product_tile tile_of(const rd_cpu_product *product, const block *b)
{
    const rd_product *of = product->of;

    return (rd_product_tile){ .rows   = rows_at(product, b->row),
                              .cols   = cols_at(product, b->col),
                              .steps  = of->k.extent,
                              .a_row  = of->m.step[RD_A],
                              .a_step = of->k.step[RD_A],
                              .b_row  = of->k.step[RD_B],
                              .c_row  = of->m.step[RD_C] };
}

/* Computes a block of c by our kernel; `at` has the positions of its first elements in the three
 * matrices. */
static void run_kernel(const rd_cpu_product *product, const rd_task *task, const int64_t *at,
                       const block *b)
{
    rd_product_tile t = tile_of(product, b);

    t.a = rd_product_element(product->of, task->slot, RD_A, at[RD_A]);
    t.b = rd_product_element(product->of, task->slot, RD_B, at[RD_B]);
    t.c = rd_product_element(product->of, task->slot, RD_C, at[RD_C]);
    product->kernel(&t);
}

/* Copies a complete block of a symmetric c to its transpose below the diagonal, which has the same
 * elements. Columns of c have the stride 1, so (row, col) and (col, row) are (col - row) (stride of
 * rows - 1) apart. */
static void mirror(const rd_cpu_product *product, const rd_task *task, const int64_t *at,
                   const block *b)
{
    const rd_product *of        = product->of;
    const int64_t     transpose = at[RD_C] + (b->col - b->row) * (of->m.step[RD_C] - 1);

    rd_symmetric_mirror(of->type, rd_product_element(of, task->slot, RD_C, at[RD_C]),
                        rd_product_element(of, task->slot, RD_C, transpose), of->m.step[RD_C],
                        rows_at(product, b->row), cols_at(product, b->col));
}

/* Runs call number `call` of a block by the BLAS: one range of k of one part of the sum.  The first
 * call sets c, and later ones add to it.  `here` are its positions in c, a and b: `step` elements
 * along k, at index call / of_part of the summed axes.  After its last call a block of a symmetric
 * product is copied to its transpose. */
static void run_blas(const rd_cpu_product *product, const rd_task *task, const int64_t *at,
                     const block *b, int64_t call)
{
    const rd_product *of      = product->of;
    const int64_t     of_part = product->calls / product->parts;
    const int64_t     number = call % of_part, step = number * product->steps;
    int64_t           here[RD_MATRICES] = { at[RD_C], at[RD_A], at[RD_B] };
    rd_gemm           g = rd_product_gemm(of, rows_at(product, b->row), cols_at(product, b->col));

    rd_product_move(here, &of->k, step);
    rd_product_move_along(here, of->axis + of->n_kept, of->n_axis - of->n_kept, call / of_part);
    g.symmetric = product->symmetric && b->row == b->col;
    g.k         = (int)(number + 1 < of_part ? product->steps : of->k.extent - step);
    g.add       = call > 0;
    g.a         = rd_product_element(of, task->slot, RD_A, here[RD_A]);
    g.b         = rd_product_element(of, task->slot, RD_B, here[RD_B]);
    g.c         = rd_product_element(of, task->slot, RD_C, here[RD_C]);
    rd_blas_gemm(&g);
    if (product->symmetric && call + 1 == product->calls)
        mirror(product, task, at, b);
}

/* Returns the batch item, first row and first column of block number `number`. */
static block block_of(const rd_cpu_product *product, int64_t number)
{
    const int64_t in_item = number % product->of_item;
    int64_t       row = in_item / product->col_blocks, col = in_item % product->col_blocks;

    if (product->symmetric)
        rd_symmetric_block(in_item, product->row_blocks, &row, &col);
    return (block){ .item = number / product->of_item,
                    .row  = row * product->rows,
                    .col  = col * product->cols };
}

/* Runs one call of a block, at its positions in the three matrices. */
static void run_call(const rd_cpu_product *product, const rd_task *task, const block *b,
                     int64_t call)
{
    const rd_product *of              = product->of;
    int64_t           at[RD_MATRICES] = { 0 };

    rd_product_move(at, &of->m, b->row);
    rd_product_move(at, &of->n, b->col);
    rd_product_move_along(at, of->axis, of->n_kept, b->item);
    if (product->kernel)
        run_kernel(product, task, at, b);
    else
        run_blas(product, task, at, b, call);
}

/* Returns the number of elements of a and b that all calls of a block read. */
static int64_t loads_of(const rd_cpu_product *product, const block *b)
{
    return (rows_at(product, b->row) + cols_at(product, b->col)) * product->of->k.extent *
           product->parts;
}

/* Runs the share of a task of the blocks by packed panels. */
static void run_packed(const rd_cpu_product *product, rd_task *task)
{
    int64_t loads = 0;

    for (int64_t k = task->lo; k < task->hi; k++)
        loads += rd_packed_block(product->packed, task, k);
    task->loads += loads;
}

/* Runs the share of a task of the calls, with the threads of the BLAS switched off, as tasks are
 * threads already. */
static void run_calls(const rd_cpu_product *product, rd_task *task)
{
    const int before = product->kernel ? 0 : rd_blas_begin();
    int64_t   loads  = 0; /* added up here: the next task's record may be in the same cache line */

    for (int64_t call = task->lo; call < task->hi; call++) {
        const block b = block_of(product, call / product->calls);

        run_call(product, task, &b, call % product->calls);
        if (call % product->calls == 0)
            loads += loads_of(product, &b);
    }
    if (!product->kernel)
        rd_blas_end(before);
    task->loads += loads;
}

/* Runs the task's share of a product. */
void rd_product_run(const rd_cpu_product *product, rd_task *task)
{
    if (product->packed)
        run_packed(product, task);
    else
        run_calls(product, task);
}
