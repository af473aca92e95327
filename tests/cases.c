#include "cases.h"

#include <stdint.h>
#include <stdlib.h>

case_world *case_world_new(bool small)
{
    case_world *w = calloc(1, sizeof *w);

    w->ctx   = rd_ctx_new(NULL);
    w->small = small;
    return w;
}

void case_world_free(case_world *w)
{
    for (int i = 0; i < w->n_input; i++)
        free((void *)w->data[i]);
    rd_ctx_free(w->ctx);
    free(w);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */
/* The extent of an axis: as in the table of cases, or small. */
static int64_t n(const case_world *w, int64_t large, int64_t small)
{
    return w->small ? small : large;
}

/* Neighbours and rows differ, so that a wrong element is a wrong number: floats in [-1, 1), or
 * bytes. */
static void *numbers(rd_dtype type, int64_t count, uint64_t seed)
{
    void *const    p     = malloc((size_t)count * sizeof(double) + 1);
    float *const   f32   = p;
    double *const  f64   = p;
    uint8_t *const bytes = p;

    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = ((uint64_t)i + 1 + (seed << 32)) * UINT64_C(0x9E3779B97F4A7C15);
        bits ^= bits >> 31;
        bits *= UINT64_C(0xBF58476D1CE4E5B9);
        const double number = (double)(bits >> 40) / (1 << 23) - 1;
        if (type == RD_U8)
            bytes[i] = (uint8_t)(bits >> 56);
        else if (type == RD_F64)
            f64[i] = number;
        else
            f32[i] = (float)number;
    }
    return p;
}

static rd_expr *leaf_of(case_world *w, const char *name, rd_dtype type, rd_shape shape)
{
    rd_expr *x     = rd_input(w->ctx, name, &(rd_array){ .type = type, .shape = shape });
    int64_t  count = 1;

    for (int a = 0; a < shape.n; a++)
        count *= shape.at[a];
    w->input[w->n_input] = x;
    if (w->small)
        w->data[w->n_input] = numbers(type, count, (uint64_t)w->n_input);
    w->n_input++;
    return x;
}

static rd_expr *matrix(case_world *w, const char *name, int64_t rows, int64_t columns)
{
    return leaf_of(w, name, RD_F32, RD_SHAPE(rows, columns));
}

static rd_expr *vector(case_world *w, const char *name, int64_t count)
{
    return leaf_of(w, name, RD_F32, RD_SHAPE(count));
}

/* ---- Statistics of rows and columns ---------------------------------------------------------- */
static rd_expr *softmax(rd_expr *x, int axis)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(axis))));

    return rd_div(e, rd_sum(e, RD_KEEP(axis)));
}

int case_softmax_rows(case_world *w, rd_expr **y)
{
    y[0] = softmax(matrix(w, "x", n(w, 16384, 5), n(w, 1024, 70)), 1);
    return 1;
}

int case_layer_norm(case_world *w, rd_expr **y)
{
    int64_t  columns = n(w, 65536, 70);
    rd_expr *x       = matrix(w, "x", n(w, 256, 5), columns);
    rd_expr *scale   = rd_sqrt(rd_add(rd_var(x, RD_KEEP(1)), rd_num(w->ctx, 1e-5)));

    y[0] = rd_div(rd_sub(x, rd_mean(x, RD_KEEP(1))), scale);
    y[0] = rd_add(rd_mul(y[0], vector(w, "g", columns)), vector(w, "b", columns));
    return 1;
}

int case_var(case_world *w, rd_expr **y)
{
    y[0] = rd_var(matrix(w, "x", n(w, 8192, 130), n(w, 8192, 70)), RD_DIMS(0));
    return 1;
}

int case_var_two_passes(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 8192, 4200), n(w, 8192, 70));

    y[0] = rd_mean(rd_square(rd_sub(x, rd_mean(x, RD_DIMS(0)))), RD_DIMS(0));
    return 1;
}

int case_centering(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 8192, 5), n(w, 8192, 70));

    y[0] = rd_add(rd_sub(rd_sub(x, rd_mean(x, RD_KEEP(1))), rd_mean(x, RD_KEEP(0))),
                  rd_mean(x, RD_KEEP_ALL));
    return 1;
}

/* The mean of a row is needed at the row and at the column of the same number. */
int case_symmetric(case_world *w, rd_expr **y)
{
    int64_t  size = n(w, 4096, 300);
    rd_expr *x = matrix(w, "x", size, size), *m = rd_mean(x, RD_DIMS(1));

    y[0] = rd_sub(rd_sub(x, rd_expand(m, 1)), m);
    return 1;
}

int case_sums_both_ways(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 8192, 70), n(w, 8192, 70));

    y[0] = rd_sum(x, RD_DIMS(0));
    y[1] = rd_sum(x, RD_DIMS(1));
    return 2;
}

/* Channels lie side by side. */
int case_mean_color(case_world *w, rd_expr **y)
{
    y[0] =
        rd_mean(leaf_of(w, "x", RD_U8, RD_SHAPE(n(w, 4096, 70), n(w, 4096, 33), 3)), RD_DIMS(0, 1));
    return 1;
}

static rd_expr *cube(case_world *w)
{
    return leaf_of(w, "x", RD_F32, RD_SHAPE(n(w, 256, 20), n(w, 512, 130), n(w, 512, 70)));
}

int case_sum_outer(case_world *w, rd_expr **y)
{
    y[0] = rd_sum(cube(w), RD_DIMS(0, 1));
    return 1;
}

int case_sum_ends(case_world *w, rd_expr **y)
{
    y[0] = rd_sum(cube(w), RD_DIMS(0, 2));
    return 1;
}

int case_sum_middle(case_world *w, rd_expr **y)
{
    y[0] = rd_sum(cube(w), RD_DIMS(1));
    return 1;
}

int case_few_rows(case_world *w, rd_expr **y)
{
    y[0] = rd_sum(matrix(w, "x", 3, n(w, 10000000, 280001)), RD_DIMS(1));
    return 1;
}

int case_centred_rows(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", 3, n(w, 10000000, 280001));

    y[0] = rd_sub(x, rd_mean(x, RD_KEEP(1)));
    return 1;
}

/* Products of each two of a few columns, of which each loses a number first. */
int case_covariance(case_world *w, rd_expr **y)
{
    rd_expr *x = leaf_of(w, "x", RD_F64, RD_SHAPE(n(w, 10000000, 5001), 8)),
            *c = rd_sub(x, leaf_of(w, "m", RD_F64, RD_SHAPE(1, 8)));

    y[0] = rd_sum(rd_mul(rd_expand(c, 2), rd_expand(c, 1)), RD_DIMS(0));
    return 1;
}

/* Of rows that are normalised, the most that two of them share: both sides are one array. */
int case_most_alike(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 8000, 70), 64);

    x    = rd_div(x, rd_sum(x, RD_KEEP(1)));
    y[0] = rd_max(rd_sum(rd_minimum(rd_expand(x, 1), rd_expand(x, 0)), RD_DIMS(2)), RD_DIMS(1));
    return 1;
}

/* X^T W X of a tall X. */
int case_weighted_normal(case_world *w, rd_expr **y)
{
    const int64_t rows = n(w, 200000, 700);
    rd_expr      *x = matrix(w, "x", rows, 50), *by = leaf_of(w, "w", RD_F32, RD_SHAPE(rows, 1));

    y[0] = rd_matmul(rd_transpose(x), rd_mul(x, by));
    return 1;
}

int case_sum_transposed(case_world *w, rd_expr **y)
{
    int64_t size = n(w, 8192, 70);

    y[0] = rd_sum(rd_add(matrix(w, "A", size, size), rd_transpose(matrix(w, "B", size, size))),
                  RD_DIMS(0));
    return 1;
}

int case_permuted(case_world *w, rd_expr **y)
{
    const rd_shape shape = RD_SHAPE(n(w, 256, 16), n(w, 512, 70), n(w, 512, 65));

    y[0] = rd_permute(leaf_of(w, "x", RD_F32, shape), RD_INDEX(2, 0, 1));
    return 1;
}

int case_reversed_axes(case_world *w, rd_expr **y)
{
    const int64_t i = n(w, 4096, 70), j = n(w, 64, 3), k = n(w, 2048, 1030);

    y[0] = rd_add(leaf_of(w, "x", RD_F32, RD_SHAPE(i, j, k)),
                  rd_permute(leaf_of(w, "z", RD_F32, RD_SHAPE(k, j, i)), RD_INDEX(2, 1, 0)));
    return 1;
}

int case_logsumexp(case_world *w, rd_expr **y)
{
    y[0] = rd_logsumexp(matrix(w, "x", n(w, 8192, 130), n(w, 8192, 70)), RD_DIMS(0));
    return 1;
}

int case_softmax_short(case_world *w, rd_expr **y)
{
    y[0] = softmax(matrix(w, "x", n(w, 128, 6), n(w, 1000000, 70)), 0);
    return 1;
}

int case_softmax_tall(case_world *w, rd_expr **y)
{
    y[0] = softmax(matrix(w, "x", n(w, 8192, 4200), n(w, 8192, 70)), 0);
    return 1;
}

/* ---- Pairs of points ------------------------------------------------------------------------- */
/* sum over d of (x[i, d] - m[k, d])^2, never stored as a whole */
static rd_expr *distances(rd_expr *x, rd_expr *m)
{
    return rd_sum(rd_square(rd_sub(rd_expand(x, 1), m)), RD_DIMS(2));
}

static int gaussian(case_world *w, int64_t points, rd_expr **y)
{
    rd_expr *d = distances(matrix(w, "x", points, 3), matrix(w, "y", points, 3));

    y[0] = rd_sum(rd_mul(rd_exp(rd_neg(d)), vector(w, "b", points)), RD_DIMS(1));
    return 1;
}

int case_gaussian(case_world *w, rd_expr **y)
{
    return gaussian(w, n(w, 10000, 70), y);
}

int case_gaussian_of_many(case_world *w, rd_expr **y)
{
    return gaussian(w, n(w, 1000000, 70), y);
}

/* What n points do to each other, a vector for each pair. */
int case_forces(case_world *w, rd_expr **y)
{
    int64_t  points = n(w, 10000, 70);
    rd_expr *x      = matrix(w, "x", points, 3);
    rd_expr *d      = rd_sub(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr *r2     = rd_add(rd_sum(rd_square(d), RD_KEEP(-1)), rd_num(w->ctx, 0.01));

    y[0] = rd_sum(rd_div(d, rd_mul(r2, rd_sqrt(r2))), RD_DIMS(1));
    return 1;
}

/* Points of f32, pairs of f64. */
int case_wide_pairs(case_world *w, rd_expr **y)
{
    int64_t points = n(w, 10000, 70);

    y[0] = rd_sum(rd_exp(rd_neg(distances(rd_cast(matrix(w, "x", points, 3), RD_F64),
                                          rd_cast(matrix(w, "y", points, 3), RD_F64)))),
                  RD_DIMS(1));
    return 1;
}

/* W[i] = sum of exp(-d(i, j)) exp(b[j]) over j. */
int case_computed_weights(case_world *w, rd_expr **y)
{
    int64_t  points = n(w, 10000, 70);
    rd_expr *d      = distances(matrix(w, "x", points, 3), matrix(w, "y", points, 3));

    y[0] = rd_sum(rd_mul(rd_exp(rd_neg(d)), rd_exp(vector(w, "b", points))), RD_DIMS(1));
    return 1;
}

int case_expanded_distance(case_world *w, rd_expr **y)
{
    int64_t  points = n(w, 10000, 70);
    rd_expr *a = matrix(w, "x", points, 3), *b = matrix(w, "y", points, 3);
    rd_expr *ab      = rd_sum(rd_mul(rd_expand(a, 1), rd_expand(b, 0)), RD_DIMS(2));
    rd_expr *squares = rd_add(rd_sum(rd_square(a), RD_KEEP(1)), rd_sum(rd_square(b), RD_DIMS(1)));

    y[0] = rd_argmin(rd_sub(squares, rd_mul(rd_num(w->ctx, 2), ab)), RD_DIMS(1));
    return 1;
}

int case_mean_distance(case_world *w, rd_expr **y)
{
    int64_t points = n(w, 10000, 70);

    y[0] =
        rd_mean(rd_sqrt(distances(matrix(w, "x", points, 3), matrix(w, "y", points, 3))), RD_ALL);
    return 1;
}

int case_scaled_total(case_world *w, rd_expr **y)
{
    int64_t  points = n(w, 10000, 70);
    rd_expr *two    = rd_num(w->ctx, 2);

    y[0] = rd_sum(rd_exp(rd_neg(distances(rd_mul(matrix(w, "x", points, 3), two),
                                          rd_mul(matrix(w, "y", points, 3), two)))),
                  RD_ALL);
    return 1;
}

/* S[l, d] = sum of x[i, d] over the points i whose nearest mean is l.  There is no scatter node:
 * each label is compared with every point's, which costs 16 comparisons where a scatter has one
 * address. */
int case_k_means(case_world *w, rd_expr **y)
{
    int64_t  means = n(w, 16, 5);
    rd_expr *x = matrix(w, "x", n(w, 1000000, 140), 3), *m = matrix(w, "m", means, 3);
    rd_expr *c     = rd_argmin(distances(x, m), RD_DIMS(1));
    rd_expr *label = rd_coord(rd_broadcast(rd_int(w->ctx, 0), RD_SHAPE(means, 1, 1)), 0);

    y[0] = rd_sum(rd_where(rd_eq(rd_expand(c, 1), label), x, rd_num(w->ctx, 0)), RD_DIMS(1));
    return 1;
}

/* How many points are their own nearest, and the farthest of these distances. */
int case_nearest_total(case_world *w, rd_expr **y)
{
    const int64_t points = n(w, 2000, 70);
    rd_expr      *d      = distances(matrix(w, "x", points, 64), matrix(w, "y", points, 64));
    rd_expr      *c      = rd_argmin(d, RD_DIMS(1));

    y[0] = rd_sum(rd_eq(c, rd_coord(c, 0)), RD_ALL);
    y[1] = rd_max(rd_min(d, RD_DIMS(1)), RD_ALL);
    return 2;
}

int case_argmin_take(case_world *w, rd_expr **y)
{
    int64_t  means = n(w, 1000, 70);
    rd_expr *c = rd_argmin(distances(matrix(w, "x", n(w, 100000, 70), 3), matrix(w, "m", means, 3)),
                           RD_DIMS(1));

    y[0] = rd_take(matrix(w, "T", means, 8), 0, c);
    return 1;
}

/* The image nearest to each: what two images' pixels have in common are casts along the pixels,
 * which are cheap to repeat. */
int case_nearest_image(case_world *w, rd_expr **y)
{
    rd_shape shape = RD_SHAPE(n(w, 2000, 140), n(w, 64, 64));
    rd_expr *x     = rd_cast(leaf_of(w, "x", RD_U8, shape), RD_F32),
            *m     = rd_cast(leaf_of(w, "m", RD_U8, shape), RD_F32);

    y[0] = rd_argmin(distances(x, m), RD_DIMS(1));
    return 1;
}

/* ---- Scans, windows, products ---------------------------------------------------------------- */
int case_max_of_cumsum(case_world *w, rd_expr **y)
{
    y[0] =
        rd_max(rd_scan(rd_sin(vector(w, "x", n(w, 10000000, 300))), "sum", RD_DIMS(0)), RD_DIMS(0));
    return 1;
}

/* Each element with its mirror image: one of the two is far away when the other is made. */
int case_mirrored(case_world *w, rd_expr **y)
{
    rd_expr *c = rd_scan(vector(w, "x", n(w, 1000000, 300)), "sum", RD_DIMS(0));

    y[0] = rd_add(c, rd_flip(c, RD_ALL));
    return 1;
}

int case_running_rows(case_world *w, rd_expr **y)
{
    y[0] = rd_scan(matrix(w, "x", n(w, 4096, 20), n(w, 65536, 300)), "sum", RD_DIMS(1));
    return 1;
}

int case_running_columns(case_world *w, rd_expr **y)
{
    y[0] = rd_scan(matrix(w, "x", n(w, 8192, 300), n(w, 8192, 2048)), "sum", RD_DIMS(0));
    return 1;
}

static int windows(case_world *w, rd_expr **y, int64_t width)
{
    y[0] = rd_max(rd_window(rd_exp(vector(w, "x", n(w, 1000000, 140) + width - 1)), 0, width, 1),
                  RD_DIMS(1));
    return 1;
}

int case_windows(case_world *w, rd_expr **y)
{
    return windows(w, y, 5);
}

int case_narrow_windows(case_world *w, rd_expr **y)
{
    return windows(w, y, 2);
}

int case_warmest_month(case_world *w, rd_expr **y)
{
    rd_expr *x = leaf_of(w, "x", RD_F32, RD_SHAPE(n(w, 1461, 70), n(w, 23, 9), n(w, 37, 11)));

    y[0] = rd_max(rd_rolling_mean(x, 0, 30), RD_DIMS(0));
    return 1;
}

int case_contraction(case_world *w, rd_expr **y)
{
    int64_t  common = n(w, 128, 70);
    rd_expr *a      = leaf_of(w, "A", RD_F32, RD_SHAPE(n(w, 32, 3), common, n(w, 128, 70)));
    rd_expr *b      = matrix(w, "B", common, n(w, 64, 20));

    y[0] = rd_sum(rd_mul(rd_expand(a, 3), rd_expand(b, 1)), RD_DIMS(1));
    return 1;
}

static int weights(case_world *w, rd_expr **y, int axis)
{
    int64_t columns = n(w, 8192, 300);

    y[0] =
        rd_sum(rd_mul(matrix(w, "x", n(w, 8192, 2000), columns), rd_exp(vector(w, "b", columns))),
               RD_DIMS(axis));
    return 1;
}

int case_weights_over_i(case_world *w, rd_expr **y)
{
    return weights(w, y, 0);
}

int case_weights_over_j(case_world *w, rd_expr **y)
{
    return weights(w, y, 1);
}

int case_unrelated(case_world *w, rd_expr **y)
{
    y[0] = rd_sum(matrix(w, "x", n(w, 4096, 5), n(w, 4096, 70)), RD_DIMS(1));
    y[1] = rd_exp(matrix(w, "z", n(w, 2048, 4), n(w, 2048, 6)));
    return 2;
}

/* ---- Reshapes, masks, exits ------------------------------------------------------------------ */
static rd_expr *flat_transposed(case_world *w)
{
    return rd_reshape(rd_transpose(matrix(w, "x", n(w, 4096, 9), n(w, 2048, 70))), RD_SHAPE(-1));
}

int case_mean_reshaped(case_world *w, rd_expr **y)
{
    y[0] = rd_mean(flat_transposed(w), RD_DIMS(0));
    return 1;
}

int case_argmax_reshaped(case_world *w, rd_expr **y)
{
    y[0] = rd_argmax(flat_transposed(w), RD_DIMS(0));
    return 1;
}

static rd_expr *above_half(rd_expr *x, case_world *w)
{
    return rd_gt(x, rd_num(w->ctx, 0.5));
}

int case_any(case_world *w, rd_expr **y)
{
    y[0] = rd_any(above_half(matrix(w, "x", n(w, 4096, 9), n(w, 65536, 70)), w), RD_DIMS(1));
    return 1;
}

int case_masked_sum(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 4096, 9), n(w, 65536, 70));

    y[0] = rd_mean(x, RD_DIMS(1), .where = above_half(x, w));
    return 1;
}

RD_REDUCER(range_of, float, float, 2, (float lo; float hi;), (s->lo = INFINITY; s->hi = -INFINITY;),
           (s->lo = x < s->lo ? x : s->lo; s->hi = x > s->hi ? x : s->hi;),
           (a->lo = b->lo < a->lo ? b->lo : a->lo; a->hi = b->hi > a->hi ? b->hi : a->hi;),
           (y[0] = s->lo; y[1] = s->hi;))

/* Smallest and largest element of a row as one reduction, and the row's range from both. */
int case_struct_reducer(case_world *w, rd_expr **y)
{
    rd_expr *r = rd_reduce(matrix(w, "x", n(w, 4096, 20), n(w, 65536, 70)), range_of, RD_DIMS(1));

    y[0] = r;
    y[1] = rd_sub(rd_select(r, 1, 1), rd_select(r, 1, 0));
    return 2;
}

/* The same of numbers on another scale: the two results of a row go on from there. */
int case_scaled_results(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 4096, 20), n(w, 65536, 70));

    y[0] = rd_mul(rd_reduce(x, range_of, RD_DIMS(1)), rd_num(w->ctx, 2));
    return 1;
}

/* Rows without their median: what is put in order is a map, and what is made of it reads the
 * row. */
int case_above_median(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 4096, 9), n(w, 4096, 600));

    y[0] = rd_sub(rd_exp(x), rd_median(rd_exp(x), RD_KEEP(1)));
    return 1;
}

/* A median filter: rows that are put in order are windows. */
int case_median_filter(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 600, 9), n(w, 800, 70));

    y[0] = rd_median(rd_window(rd_window(x, 0, 3, 1), 1, 3, 1), RD_DIMS(-2, -1));
    return 1;
}

/* Columns in order. */
int case_sorted_columns(case_world *w, rd_expr **y)
{
    y[0] = rd_sort(matrix(w, "x", n(w, 1000, 70), n(w, 4096, 40)), 0);
    return 1;
}

/* The few nearest of each point: distances are made along the rows that are put in order, though
 * there are more points on the other side. */
int case_few_nearest(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 20000, 70), 8), *m = matrix(w, "m", n(w, 1000, 900), 8);

    y[0] = rd_arg_top_k(distances(x, m), 5, 1, .smallest = true);
    return 1;
}

/* Rows of one array times those of another that is rolled along them. */
int case_rolled_rows(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 3000, 70), n(w, 2048, 200));

    y[0] = rd_sum(rd_mul(x, rd_roll(x, 1, 5)), RD_DIMS(1));
    return 1;
}

/* Columns that are padded by what is reflected. */
int case_padded_columns(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 3000, 100), n(w, 2048, 200));

    y[0] = rd_sum(rd_square(rd_pad(x, 0, 3, 2, RD_PAD_REFLECT, NULL)), RD_DIMS(0));
    return 1;
}

/* All of two arrays side by side, times a third one. */
int case_joined_rows(case_world *w, rd_expr **y)
{
    rd_expr *x = matrix(w, "x", n(w, 3000, 64), n(w, 1024, 64));
    rd_expr *z = matrix(w, "z", n(w, 3000, 64), n(w, 1024, 64));
    rd_expr *u = matrix(w, "u", n(w, 3000, 64), n(w, 2048, 128));

    y[0] = rd_sum(rd_mul(rd_concat(1, RD_EXPRS(x, z)), u), RD_ALL);
    return 1;
}

/* Four blocks of pair formulas, times a vector. */
int case_pair_blocks(case_world *w, rd_expr **y)
{
    rd_expr *u = vector(w, "u", n(w, 2000, 150)), *v = vector(w, "v", n(w, 2000, 150));
    rd_expr *a      = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(u, 1), rd_expand(u, 0)))));
    rd_expr *b      = rd_mul(rd_expand(u, 1), rd_expand(v, 0));
    rd_expr *d      = rd_abs(rd_sub(rd_expand(v, 1), rd_expand(v, 0)));
    rd_expr *rows[] = { rd_concat(1, RD_EXPRS(a, b)), rd_concat(1, RD_EXPRS(rd_transpose(b), d)) };

    y[0] = rd_sum(rd_mul(rd_concat(0, RD_EXPRS(rows[0], rows[1])),
                         rd_expand(rd_concat(0, RD_EXPRS(v, u)), 0)),
                  RD_DIMS(1));
    return 1;
}

int case_rolling_sum(case_world *w, rd_expr **y)
{
    y[0] = rd_rolling_sum(vector(w, "x", n(w, 1000000, 20000)), 0, 5000);
    return 1;
}

int case_rolling_ints(case_world *w, rd_expr **y)
{
    rd_expr *x    = leaf_of(w, "x", RD_I16, RD_SHAPE(n(w, 480, 30), n(w, 1000, 50)));
    rd_expr *cost = rd_abs(rd_sub(x, leaf_of(w, "z", RD_I16, RD_SHAPE(n(w, 1000, 50)))));

    y[0] = rd_rolling_sum(cost, 0, 7);
    return 1;
}

int case_rolling_max(case_world *w, rd_expr **y)
{
    y[0] = rd_rolling_max(vector(w, "x", 15 + 2048 * n(w, 1000, 2)), 0, 16);
    return 1;
}
