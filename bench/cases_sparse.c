/* cases_sparse.c - W13: a graph by R-MAT, the Laplacian of a grid, a graph of packages, a cube. */
#include "bench.h"
#include <math.h>
#include <stddef.h>

/* ---- Operands -------------------------------------------------------------------------------- */
static rd_expr *row(const int32_t *data, int64_t n)
{
    return rd_leaf(bench_ctx,
                   &(rd_array){ .in = data, .type = RD_I32, .shape = { .n = 1, .at = { n } } });
}

static rd_expr *matrix_of(const bench_pattern *p, rd_expr *values, bool stored)
{
    return rd_csr(bench_ctx, RD_SHAPE(p->rows, p->rows), row(p->pos, p->rows + 1),
                  row(p->crd, p->places), values, .stored = stored);
}

static rd_expr *matrix(rd_expr *values, bool stored)
{
    return matrix_of(bench_pattern_built, values, stored);
}

static rd_expr *cube(rd_expr *values)
{
    const bench_pattern *p = bench_pattern_built;

    return rd_sparse(
        bench_ctx, RD_SHAPE(p->extent[0], p->extent[1], p->extent[2]),
        RD_LEVELS({ RD_LEVEL_DENSE, 0, NULL, NULL },
                  { RD_LEVEL_COMPRESSED, 1, row(p->top, p->rows + 1), row(p->fibre, p->fibres) },
                  { RD_LEVEL_COMPRESSED, 2, row(p->pos, p->fibres + 1), row(p->crd, p->places) }),
        values, .stored = true);
}

/* ---- Cases ----------------------------------------------------------------------------------- */
/* Where 0 is what is not stored, so that 0 times an infinity counts. */
static void spmv_filled(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_matmul(matrix(x[0], false), x[1]);
}

static void spmv(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_matmul(matrix(x[0], true), x[1]);
}

static void spmv_turned(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_matmul(rd_permute(matrix(x[0], true), RD_INDEX(1, 0)), x[1]);
}

static void sddmm(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *each = rd_sum(rd_mul(rd_expand(x[1], 1), rd_expand(x[2], 0)), RD_DIMS(2));

    (void)dims;
    y[0] = rd_stored(rd_mul(matrix(x[0], true), each));
}

static void min_plus(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_min(rd_add(matrix(x[0], true), x[1]), RD_DIMS(1),
                  .initial = rd_num(bench_ctx, HUGE_VAL));
}

static void row_max(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_max(matrix(x[0], true), RD_DIMS(1), .initial = rd_num(bench_ctx, -HUGE_VAL));
}

/* Ranks x0 of pages with x1 links each; a row of the pattern has the pages that link to its own. */
static void page_rank(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *given = rd_matmul(rd_cast(matrix(NULL, true), rd_type_of(x[0])), rd_div(x[0], x[1]));
    rd_expr *rest  = rd_num(bench_ctx, 0.15 / (double)bench_pattern_built->rows);

    (void)dims;
    y[0] = rd_add(rd_mul(given, rd_num(bench_ctx, 0.85)), rest);
}

/* Of graph attention (Velickovic and others 2018): by rows, at the stored places. */
static rd_expr *weights(rd_expr *const *x)
{
    rd_expr *both  = rd_add(rd_expand(x[1], 1), rd_expand(x[2], 0));
    rd_expr *leaky = rd_maximum(both, rd_mul(both, rd_num(bench_ctx, 0.2)));

    return rd_softmax(rd_mul(rd_cast(matrix(NULL, true), rd_type_of(x[1])), leaky), RD_DIMS(1));
}

static void neighbours(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_stored(weights(x));
}

static void attention(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_matmul(weights(x), x[0]);
}

/* Its pattern is found as the product is built; the run computes values. */
static void square(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    rd_expr *a = matrix(x[0], true);

    (void)dims;
    y[0] = rd_stored(rd_matmul(a, a));
}

/* Of two patterns: where both have places, and where any has one. */
static void times(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_stored(rd_mul(matrix(x[0], true), matrix_of(bench_other_built, x[1], true)));
}

static void plus(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_stored(rd_add(matrix(x[0], false), matrix_of(bench_other_built, x[1], false)));
}

static void cube_sum(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    y[0] = rd_sum(cube(x[0]), RD_DIMS((int32_t)dims));
}

/* The setup of a matrix, whose indices are looked at. */
static void node(rd_expr *const *x, unsigned dims, rd_expr **y)
{
    (void)dims;
    y[0] = rd_stored(matrix(x[0], true));
}

/* clang-format off */
#define EACH           { 1, 0, 1, 1, { PLACES } }
#define VECTOR         { 1, 0, 1, 1, { ROWS } }
#define VECTORS(n)     { 2, 0, 1, 1, { ROWS, n } }
#define BOTH           { EACH, { 1, 0, 1, 1, { OTHER_PLACES } } }
#define ON(of, p, ...) { "W13", of, __VA_ARGS__, .pattern = PATTERN_##p }
#define ON_ALL(of, ...)               \
    ON(of ".rmat", RMAT, __VA_ARGS__), \
    ON(of ".laplace", LAPLACE, __VA_ARGS__), \
    ON(of ".depends", DEPENDS, __VA_ARGS__)

const bench_case bench_sparse[] = {
    ON_ALL("spmv", spmv, HAND_spmv, 0, { EACH, VECTOR }, .flops = 2),
    ON_ALL("spmv.filled", spmv_filled, HAND_spmv, 0, { EACH, VECTOR }, .flops = 2),
    ON_ALL("spmv.turned", spmv_turned, HAND_spmv_turned, 0, { EACH, VECTOR }, .flops = 2),
    ON("spmv.eval", DEPENDS, spmv, HAND_spmv, 0, { EACH, VECTOR }, .flops = 2, .how = HOW_EVAL),
    ON_ALL("spmm16", spmv, HAND_spmm, 0, { EACH, VECTORS(16) }, .flops = 32),
    ON_ALL("sddmm64", sddmm, HAND_sddmm, 0, { EACH, VECTORS(64), VECTORS(64) }, .flops = 129),
    ON_ALL("minplus", min_plus, HAND_min_plus, 0, { EACH, VECTOR }, .flops = 2),
    ON_ALL("rowmax", row_max, HAND_row_max, 0, { EACH }, .flops = 1),
    ON_ALL("pagerank", page_rank, HAND_page_rank, 0, { VECTOR, VECTOR }, .flops = 3),
    ON_ALL("neighbours", neighbours, HAND_neighbours, 0, { EACH, VECTOR, VECTOR }, .exps = 1,
           .read_share = 1e-9),
    ON_ALL("attention16", attention, HAND_attention, 0, { VECTORS(16), VECTOR, VECTOR }),
    ON("square.laplace", LAPLACE, square, HAND_square, 0, { EACH }, .flops = 14),
    ON("square.depends", DEPENDS, square, HAND_square, 0, { EACH }, .flops = 14),
    ON("square.new.laplace", LAPLACE, square, HAND_square, 2, { EACH }, .how = HOW_BUILD),
    ON("square.new.depends", DEPENDS, square, HAND_square, 2, { EACH }, .how = HOW_BUILD),
    ON("times.rmat", RMAT, times, HAND_merge, 0, BOTH, .other = PATTERN_RMAT_OTHER),
    ON("plus.rmat", RMAT, plus, HAND_merge, 1, BOTH, .other = PATTERN_RMAT_OTHER),
    ON("times.new.rmat", RMAT, times, HAND_merge, 2, BOTH, .other = PATTERN_RMAT_OTHER,
       .how = HOW_BUILD),
    ON("plus.new.rmat", RMAT, plus, HAND_merge, 3, BOTH, .other = PATTERN_RMAT_OTHER,
       .how = HOW_BUILD),
    ON("cube.sum(0)", CUBE, cube_sum, HAND_cube_sum, 0, { EACH }, .flops = 1),
    ON("cube.sum(1)", CUBE, cube_sum, HAND_cube_sum, 1, { EACH }, .flops = 1),
    ON("cube.sum(2)", CUBE, cube_sum, HAND_cube_sum, 2, { EACH }, .flops = 1),
    ON_ALL("node", node, HAND_read_pattern, 0, { EACH }, .read_share = 1e-9, .how = HOW_NODES),
    { 0 },
};
