/* packed.c - products by packed panels: which ones, and how they are divided into blocks.
 *
 * Goto and van de Geijn (2008, "Anatomy of High-Performance Matrix Multiplication") copy panels of
 * both matrices to contiguous memory for the kernel.  A copy may read from any addresses, so axes
 * that do not merge cost nothing more.  For windows of an image times filters no matrix of windows
 * (im2col) is ever stored.  Chellapilla, Puri and Simard (2006) store it; Matthews (2018,
 * "High-Performance Tensor Contraction without Transposition") packs from strides, as here.
 *
 * A product is c[m, n] = sum over k of a[m, k] b[k, n]. Each of m, n and k may be a group of
 * several axes.  Matrices that the kernel can read as they lie are not copied ("as is"). */
#include "kernels/cpu/product/packed.h"
#include "kernels/cpu/product/blas.h"
#include <stdlib.h>

/* A panel is two vectors of 512 bits wide, the most that the kernel takes at once.  Longer sums
 * than MOST_STEPS are not packed, and the packed rows of a block have at most PACKED_ROWS_BYTES. */
enum { PANEL_BYTES = 128, MOST_STEPS = 8192, PACKED_ROWS_BYTES = 256 << 10 };

/* ---- Groups ---------------------------------------------------------------------------------- */
/* Groups of the axes of a product: an axis is in all matrices, in a and c, in b and c, or
 * summed. */
enum { BATCH, M, N, K, GROUPS };

/* Returns the group of an axis: K if c does not have it (it is summed), M if b does not, N if a
 * does not, else BATCH. */
static int group_of(const rd_product_axis *axis)
{
    return !axis->step[RD_C] ? K : !axis->step[RD_B] ? M : !axis->step[RD_A] ? N : BATCH;
}

/* Exchanges the operands a and b, with their strides along all axes. */
static void swap_operands(rd_product *product)
{
    const rd_matrix a = product->matrix[RD_A];

    product->matrix[RD_A] = product->matrix[RD_B];
    product->matrix[RD_B] = a;
    for (int32_t i = 0; i < product->n_axis; i++) {
        int64_t *const step = product->axis[i].step;
        const int64_t  of_a = step[RD_A];

        step[RD_A] = step[RD_B];
        step[RD_B] = of_a;
    }
}

/* Returns how well a group's axes suit as columns, which the kernel reads and writes contiguously:
 * 2 for dense columns of c, plus 1 for dense columns of the operand. `operand` is a or b, of whose
 * axes c has the group's. */
static int column_fitness(const rd_product *product, int group, int operand)
{
    int fitness = 0;

    for (int32_t i = 0; i < product->n_axis; i++)
        if (group_of(&product->axis[i]) == group)
            fitness |=
                (product->axis[i].step[RD_C] == 1) << 1 | (product->axis[i].step[operand] == 1);
    return fitness;
}

/* Returns the rank by which axes are sorted within their group, outermost first: strides.  But
 * where a sum has one lane (one accumulator) its axes keep the order in which the fold adds:
 * `lane_line` is the number of its steps, so an axis' coefficient there says how far out it is. */
static int64_t rank_of(const rd_product_axis *axis, const rd_fold *f)
{
    const int group = group_of(axis);

    if (group != K)
        return llabs(axis->step[RD_C]);
    for (int32_t t = 0; f->lanes == 1 && t < f->lane_line.n_add; t++)
        if (f->lane_line.add[t].axis == axis->number)
            return f->lane_line.add[t].coef;
    return f->lanes == 1 ? 0 : llabs(axis->step[RD_A]);
}

/* Sorts the axes by group (batch, m, n, k), and by rank within a group, the greatest first
 * (insertion sort). */
static void sort_axes(rd_product *product, const rd_fold *f)
{
    for (int32_t i = 1; i < product->n_axis; i++) {
        const rd_product_axis axis = product->axis[i];
        int32_t               k    = i;

        for (; k > 0; k--) {
            const rd_product_axis *before = &product->axis[k - 1];
            const int              group = group_of(before), wanted = group_of(&axis);

            if (group < wanted || (group == wanted && rank_of(before, f) >= rank_of(&axis, f)))
                break;
            product->axis[k] = *before;
        }
        product->axis[k] = axis;
    }
}

/* Returns the axes of a group, which are adjacent in the sorted axes, and the product of their
 * extents. Without an axis the extent is 1. */
static rd_product_group find_group(const rd_product *product, int group)
{
    rd_product_group found = { .axis = product->axis, .extent = 1 };

    for (int32_t i = 0; i < product->n_axis; i++)
        if (group_of(&product->axis[i]) == group) {
            if (!found.n++)
                found.axis = &product->axis[i];
            found.extent *= product->axis[i].extent;
        }
    return found;
}

/* Chooses which operand gives the columns, and groups the axes as batch, m, n and k. a and b may be
 * exchanged, as c then has rows and columns exchanged, too. */
static void find_groups(rd_packed *packed, rd_product *product, const rd_fold *f)
{
    if (column_fitness(product, M, RD_A) > column_fitness(product, N, RD_B))
        swap_operands(product);
    sort_axes(product, f);
    packed->of    = product;
    packed->batch = find_group(product, BATCH);
    packed->m     = find_group(product, M);
    packed->n     = find_group(product, N);
    packed->k     = find_group(product, K);
}

/* Returns the stride along a group if its axes are like one axis in a matrix (each goes on where
 * the next one ends); else 0. The last axis is the fastest. */
static int64_t step_of(const rd_product_group *group, int matrix)
{
    const rd_product_axis *axis = group->axis;

    for (int32_t i = 1; i < group->n; i++)
        if (axis[i - 1].step[matrix] != axis[i].step[matrix] * axis[i].extent)
            return 0;
    return group->n ? axis[group->n - 1].step[matrix] : 0;
}

/* Finds which matrices the kernel can read or write as they lie: a and b if m and k (k and n) are
 * like one axis, and columns of b and c are contiguous. a_run is how many elements along k are
 * contiguous in a. */
static void find_strides(rd_packed *packed)
{
    const rd_product_axis *last = packed->k.n ? &packed->k.axis[packed->k.n - 1] : NULL;

    packed->a_row   = step_of(&packed->m, RD_A);
    packed->c_row   = step_of(&packed->m, RD_C);
    packed->a_next  = step_of(&packed->k, RD_A);
    packed->b_next  = step_of(&packed->k, RD_B);
    packed->a_as_is = packed->a_row && packed->a_next;
    packed->b_as_is = packed->b_next && step_of(&packed->n, RD_B) == 1;
    packed->a_run   = last && last->step[RD_A] == 1 ? last->extent : 1;
    packed->c_as_is = packed->c_row && step_of(&packed->n, RD_C) == 1;
}

/* ---- Which products -------------------------------------------------------------------------- */
/* True if the fold adds the elements along k in their order, in one lane (one accumulator), as the
 * kernel does. */
static bool adds_in_order(const rd_packed *packed, const rd_fold *f)
{
    int64_t times = 1;

    if (f->lane.n_add || f->lane_line.offset || f->lane_line.n_add != packed->k.n)
        return false;
    for (int32_t i = packed->k.n; i-- > 0; times *= packed->k.axis[i].extent)
        if (rank_of(&packed->k.axis[i], f) != times)
            return false;
    return true;
}

/* True if the kernel's sums may be used: they have the bits of a fold of one lane in the order of
 * k.  Sums of several lanes have other bits, so they are allowed only where a BLAS would be. */
static bool can_use_kernel(const rd_packed *packed, const rd_program *p)
{
    return p->fold->lanes == 1 ? adds_in_order(packed, p->fold) : !p->exact && rd_blas_name();
}

/* True if the product is large enough to pay for the copies, and to fill vectors.  Matrices that
 * are not copied allow longer sums. */
static bool is_worth_packing(const rd_packed *packed)
{
    enum { LEAST_ROWS = 8, LEAST_COLUMNS = 16, LEAST_STEPS = 4, LEAST_POINTS = 1 << 15 };
    const int64_t most = packed->a_as_is && packed->b_as_is ? RD_PRODUCT_STEPS : MOST_STEPS;
    const double  points =
        (double)packed->m.extent * (double)packed->n.extent * (double)packed->k.extent;

    return packed->m.extent >= LEAST_ROWS && packed->n.extent >= LEAST_COLUMNS &&
           packed->k.extent >= LEAST_STEPS && packed->k.extent <= most && points >= LEAST_POINTS;
}

/* ---- Cutting --------------------------------------------------------------------------------- */
/* Returns the least multiple of `whole` that is not below n. */
static int64_t round_up(int64_t n, int64_t whole)
{
    return (n + whole - 1) / whole * whole;
}

/* Returns n, but at least `least` and at most `most`. */
static int64_t clamp(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Divides c into blocks of rows and columns, each of which one call computes.  A block has at most
 * ROWS rows, a multiple of WHOLE_ROWS, and at most COLS columns in whole panels; columns are cut
 * into about PARTS parts.  Packed rows of a stay in a second-level cache with the panels of b.  A
 * block cannot be cancelled, so a block of long sums has few rows and columns: at most 2^30
 * products.  Blocks change no bit, as each has whole sums. */
static void plan_blocks(rd_packed *packed)
{
    enum { ROWS = 512, WHOLE_ROWS = 8, COLS = 1024, PARTS = 8 };
    const int64_t size = rd_dtype_size(packed->of->type), k = packed->k.extent;
    const int64_t fit   = packed->a_as_is ? ((int64_t)1 << 24) / k : PACKED_ROWS_BYTES / (k * size);
    const int64_t most  = clamp(fit / WHOLE_ROWS * WHOLE_ROWS, WHOLE_ROWS, ROWS);
    const int64_t panel = PANEL_BYTES / size;

    packed->panel = panel;
    packed->rows  = clamp(packed->m.extent, /*least=*/1, most);
    packed->cols =
        clamp(round_up(packed->n.extent / PARTS, panel), panel,
              clamp(((int64_t)1 << 30) / (k * packed->rows) / panel * panel, panel, COLS));
    packed->row_blocks = (packed->m.extent + packed->rows - 1) / packed->rows;
    packed->col_blocks = (packed->n.extent + packed->cols - 1) / packed->cols;
    packed->blocks     = packed->batch.extent * packed->row_blocks * packed->col_blocks;
}

/* Reserves bytes in the memory of a task, in whole cache lines.  Returns the offset where they
 * begin. */
static int64_t reserve(rd_packed *packed, int64_t bytes)
{
    const int64_t at = packed->bytes;

    packed->bytes += round_up(bytes, /*whole=*/64);
    return at;
}

/* Places the panels of b and c, the packed rows of a and the positions of rows in the memory of a
 * task.  Matrices that are used as they lie need no room. */
static void lay_out(rd_packed *packed)
{
    const int64_t size = rd_dtype_size(packed->of->type);

    /* a panel: PANEL_BYTES for each k */
    packed->b_at = reserve(packed, packed->b_as_is ? 0 : packed->k.extent * PANEL_BYTES);
    packed->a_at = reserve(packed, packed->a_as_is ? 0 : packed->k.extent * packed->rows * size);
    packed->c_at = reserve(packed, packed->c_as_is ? 0 : packed->rows * PANEL_BYTES);
    packed->places_at = reserve(packed, 2 * packed->rows * (int64_t)sizeof(int64_t));
}

/* Makes the tables of where element t along k lies in a and in b, in elements.  If both are read as
 * they lie, none are needed.  False: no memory. */
static bool find_steps(rd_packed *packed, rd_get_fn *get, void *pool)
{
    if (packed->a_as_is && packed->b_as_is)
        return true;
    packed->a_step = get(pool, (size_t)packed->k.extent * sizeof *packed->a_step);
    packed->b_step = get(pool, (size_t)packed->k.extent * sizeof *packed->b_step);
    for (int64_t t = 0; packed->a_step && packed->b_step && t < packed->k.extent; t++) {
        int64_t at[RD_MATRICES] = { 0 };

        rd_product_move_along(at, packed->k.axis, packed->k.n, t);
        packed->a_step[t] = at[RD_A];
        packed->b_step[t] = at[RD_B];
    }
    return packed->a_step && packed->b_step;
}

/* Plans a matrix product (or tensor contraction) by packed panels: copies of ranges of rows and
 * columns in contiguous memory.  *packed is NULL if the program is no product, or too small, or
 * must have other bits.  False: no memory. */
bool rd_packed_prepare(const rd_program *p, const rd_simd *simd, rd_get_fn *get, void *pool,
                       const rd_packed **packed)
{
    const rd_fold *f = p->fold;
    rd_product    *product;
    rd_packed     *made;

    *packed = NULL;
    if (!rd_product_find(p, get, pool, &product))
        return false;
    if (!product)
        return true;
    made = get(pool, sizeof *made);
    if (!made)
        return false;
    find_groups(made, product, f);
    find_strides(made);
    if (!is_worth_packing(made) || !can_use_kernel(made, p))
        return true;
    made->kernel = simd->product[rd_elem_of(product->type)];
    plan_blocks(made);
    lay_out(made);
    *packed = made;
    return find_steps(made, get, pool);
}
