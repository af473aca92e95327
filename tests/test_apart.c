/* test_apart.c - folds of different axes: whether they share loops is a matter of price, and their
 * bits do not depend on it. */
#include "eval/plan.h"
#include "faulty_heap.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/nest/nest.h"
#include "suite.h"
#include <math.h>
#include <rdim.h>
#include <stdint.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

enum { MOST_RESULTS = 3, DIMS = 3 };

/* Points, and a matrix of as many rows and columns. */
typedef struct world {
    rd_ctx  *ctx;
    void    *memory;
    rd_expr *x, *y, *a; /* rows, columns, both */
} world;

/* The elements from `first` on. */
static rd_expr *array(world *w, size_t first, rd_dtype type, rd_shape shape)
{
    return type == RD_F64 ? rd_wrap(w->ctx, (double *)w->memory + first, shape)
                          : rd_wrap(w->ctx, (float *)w->memory + first, shape);
}

static void set(world *w, size_t k, rd_dtype type, double to)
{
    if (type == RD_F64)
        ((double *)w->memory)[k] = to;
    else
        ((float *)w->memory)[k] = (float)to;
}

static void world_new(world *w, int64_t rows, int64_t columns, rd_dtype type, bool nan)
{
    const size_t n     = (size_t)((rows + columns) * DIMS + rows * columns);
    uint32_t     state = 7;

    w->ctx    = rd_ctx_new(NULL);
    w->memory = calloc(n + 1, sizeof(double));
    for (size_t k = 0; k < n; k++, state = state * 1664525 + 1013904223)
        set(w, k, type, (double)(state >> 12) / (1 << 18) - 2);
    for (size_t k = 0; nan && k < n; k += n / 2 + 1)
        set(w, k, type, NAN);
    w->x = array(w, 0, type, RD_SHAPE(rows, DIMS));
    w->y = array(w, (size_t)(rows * DIMS), type, RD_SHAPE(columns, DIMS));
    w->a = array(w, (size_t)((rows + columns) * DIMS), type, RD_SHAPE(rows, columns));
}

static void world_free(world *w)
{
    rd_ctx_free(w->ctx);
    free(w->memory);
}

/* ---- Programs -------------------------------------------------------------------------------- */
static rd_expr *distances(const world *w)
{
    return rd_sum(rd_square(rd_sub(rd_expand(w->x, 1), rd_expand(w->y, 0))), RD_DIMS(2));
}

static int nearest(const world *w, rd_expr **out)
{
    rd_expr *d = distances(w);

    out[0] = rd_max(rd_min(d, RD_DIMS(1)), RD_ALL);
    out[1] = rd_max(rd_min(d, RD_DIMS(0)), RD_ALL);
    return 2;
}

static int kernel_sums(const world *w, rd_expr **out)
{
    rd_expr *k = rd_exp(rd_neg(distances(w)));

    out[0] = rd_sum(k, RD_DIMS(1));
    out[1] = rd_sum(k, RD_DIMS(0));
    return 2;
}

static int kernel_sums_and_total(const world *w, rd_expr **out)
{
    const int n = kernel_sums(w, out);

    out[n] = rd_sum(rd_exp(rd_neg(distances(w))), RD_ALL);
    return n + 1;
}

static int places_and_counts(const world *w, rd_expr **out)
{
    rd_expr *d = distances(w);

    out[0] = rd_argmin(d, RD_DIMS(1));
    out[1] = rd_sum(rd_lt(d, rd_num(w->ctx, 1)), RD_DIMS(0));
    return 2;
}

static int softmax_both_ways(const world *w, rd_expr **out)
{
    rd_expr *s = rd_neg(distances(w));

    out[0] = rd_max(rd_softmax(s, RD_DIMS(1)), RD_DIMS(1));
    out[1] = rd_max(rd_softmax(s, RD_DIMS(0)), RD_DIMS(0));
    return 2;
}

/* Both results are times the same number, which must not give them one axis. */
static int transport(const world *w, rd_expr **out)
{
    rd_expr *d = distances(w), *half = rd_num(w->ctx, 0.5);

    out[0] = rd_mul(rd_logsumexp(rd_neg(d), RD_DIMS(1)), half);
    out[1] = rd_mul(rd_logsumexp(rd_neg(d), RD_DIMS(0)), half);
    return 2;
}

/* The second fold reads the first. */
static int transport_in_turn(const world *w, rd_expr **out)
{
    rd_expr *d = distances(w), *f = rd_logsumexp(rd_neg(d), RD_DIMS(1));

    out[0] = f;
    out[1] = rd_logsumexp(rd_neg(rd_add(d, rd_expand(f, 1))), RD_DIMS(0));
    return 2;
}

/* More folds, each of which reads the one before, than there are sides. */
static int in_many_turns(const world *w, rd_expr **out)
{
    enum { TURNS = 6 };
    rd_expr *k = rd_exp(rd_neg(distances(w))), *u = NULL, *v = NULL;

    for (int turn = 0; turn < TURNS; turn++) {
        u = rd_reciprocal(rd_sum(turn ? rd_mul(k, rd_expand(v, 0)) : k, RD_DIMS(1)));
        v = rd_reciprocal(rd_sum(rd_mul(k, rd_expand(u, 1)), RD_DIMS(0)));
    }
    out[0] = rd_add(rd_sum(v, RD_ALL), u);
    out[1] = v;
    return 2;
}

/* The third fold reads both others. */
static int centred_distances(const world *w, rd_expr **out)
{
    rd_expr *d = distances(w), *rows = rd_mean(d, RD_KEEP(1)), *columns = rd_mean(d, RD_KEEP(0));

    out[0] = rd_sum(rd_square(rd_sub(rd_sub(d, rows), columns)), RD_ALL);
    return 1;
}

static int least_and_places(const world *w, rd_expr **out)
{
    rd_expr *y = rd_mul(w->a, rd_num(w->ctx, 1.5));

    out[0] = rd_min(y, RD_ALL);
    out[1] = rd_argmin(y, RD_DIMS(1));
    return 2;
}

static int rows_and_columns(const world *w, rd_expr **out)
{
    out[0] = rd_max(w->a, RD_DIMS(1));
    out[1] = rd_max(w->a, RD_DIMS(0));
    return 2;
}

/* What a scan of them goes along is what vectors of these sums go along. */
static int windows_so_far(const world *w, rd_expr **out)
{
    enum { WIDE = 64 };
    const int64_t  columns = rd_shape_of(w->a).at[1];
    rd_expr *const later   = rd_window(w->a, 1, columns < WIDE ? columns : WIDE, 1);
    rd_expr *const first   = rd_expand(rd_select(later, 1, 0), 1);
    rd_expr *const d       = rd_sum(rd_square(rd_sub(first, later)), RD_DIMS(2));

    out[0] = rd_div(d, rd_scan(d, "sum", RD_DIMS(1)));
    return 1;
}

/* What divides each pair is known only after a pass over all of them. */
static int shares_of_a_total(const world *w, rd_expr **out)
{
    rd_expr *const d = distances(w), *const k = rd_exp(rd_neg(d));

    out[0] =
        rd_sum(rd_mul(rd_div(k, rd_sum(k, RD_ALL)), rd_log(rd_add(d, rd_num(w->ctx, 1)))), RD_ALL);
    return 1;
}

/* The squares are added one after the other, and the sums could be vectors. */
static int squares_of_sums(const world *w, rd_expr **out)
{
    rd_expr *const k = rd_exp(rd_neg(distances(w)));

    out[0] = rd_sum(rd_square(rd_sum(k, RD_DIMS(1))), RD_ALL);
    return 1;
}

/* The gradient by points that are both ends of a pair: a sum is read at both. */
static int sums_at_both_ends(const world *w, rd_expr **out)
{
    rd_expr *const x = rd_select(w->a, 1, 0), *const y = rd_expand(x, 0);
    rd_expr *const k = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(x, 1), y))));

    out[0] =
        rd_grad(rd_sum(rd_square(rd_sum(rd_mul(k, y), RD_DIMS(1))), RD_ALL), RD_EXPRS(w->a)).at[0];
    return 1;
}

/* Gradients of the squares of residuals.  The sums come first, and each of both gradients goes over
 * all pairs again. */
static int residuals_of_sums(const world *w, rd_expr **out)
{
    rd_expr *const one = rd_num(w->ctx, 1);
    rd_expr *const k   = rd_expand(rd_div(one, rd_add(one, distances(w))), 2);
    rd_expr *const f   = rd_sum(rd_mul(k, rd_expand(w->y, 0)), RD_DIMS(1));
    const rd_exprs g   = rd_grad(rd_sum(rd_square(rd_sub(f, w->x)), RD_ALL), RD_EXPRS(w->x, w->y));

    out[0] = g.at[0];
    out[1] = g.at[1];
    return 2;
}

static const struct {
    const char *what;
    int (*build)(const world *w, rd_expr **out);
    bool loops, tiles; /* apart by compiled loops, by tiles */
} programs[] = {
    { "nearest of either side", nearest, true, true },
    { "sums of a kernel matrix", kernel_sums, true, true },
    { "and their total", kernel_sums_and_total, true, false },
    { "places and counts", places_and_counts, true, true },
    { "softmax of rows and columns", softmax_both_ways, true, true },
    { "both sides of a transport", transport, true, true },
    { "one after the other", transport_in_turn, true, true },
    { "in many turns", in_many_turns, false, false },
    { "centred distances", centred_distances, true, false }, /* tiles store the distances */
    { "least of all and places in rows", least_and_places, true, false },
    { "rows and columns of an array", rows_and_columns, false, false },
    { "windows and their sums so far", windows_so_far, true, true },
    { "shares of a total", shares_of_a_total, true, false },
    { "squares of sums", squares_of_sums, false, false }, /* of as many sums, they are anyway */
    { "sums at both ends", sums_at_both_ends, false, false },
    { "residuals of sums", residuals_of_sums, true, true },
};

/* ---- Which ----------------------------------------------------------------------------------- */
static bool are_apart(const char *use, int k)
{
    world       w;
    rd_expr    *y[MOST_RESULTS];
    rd_result   result[MOST_RESULTS];
    const char *text;
    bool        apart;

    rd_nest_force(use);
    world_new(&w, 2000, 1500, RD_F32, false);
    const int n = programs[k].build(&w, y);
    for (int i = 0; i < n; i++)
        result[i] = (rd_result){ y[i], NULL };
    text = rd_explain(w.ctx, (rd_results){ result, n }, NULL);
    ck_assert_msg(text != NULL, "%s", rd_error_text(w.ctx));
    apart = strstr(text, "folds of different axes in loops of their own") != NULL;
    world_free(&w);
    rd_nest_force(NULL);
    return apart;
}

START_TEST(choice)
{
#ifdef _OPENMP
    const bool close = false;
#else
    const bool close = programs[_i].build == least_and_places; /* on one thread prices are close */
#endif

    ck_assert_msg(are_apart("auto", _i) == programs[_i].loops || close, "%s: loops",
                  programs[_i].what);
    /* Exponentials of shorter vectors cost more than a second pass over both sides. */
    if (programs[_i].build != softmax_both_ways || rd_cpu_vector() == 64)
        ck_assert_msg(are_apart("never", _i) == programs[_i].tiles, "%s: tiles", programs[_i].what);
}
END_TEST

/* The distances of as many pairs would be stored, as each takes long to compute twice. */
START_TEST(much_memory)
{
    static float   points[9000][300];
    rd_ctx *const  ctx  = rd_ctx_new(NULL);
    rd_expr *const x    = rd_wrap(ctx, &points[0][0], RD_SHAPE(9000, 300));
    rd_expr *const k    = rd_exp(rd_abs(rd_sub(rd_expand(x, 1), rd_expand(x, 0))));
    rd_expr *const d    = rd_sum(k, RD_DIMS(2));
    rd_expr *const rows = rd_min(d, RD_DIMS(1)), *const columns = rd_max(d, RD_DIMS(0));
    const char *const text = rd_explain(ctx, RD_RESULTS({ rows, NULL }, { columns, NULL }), NULL);

    ck_assert_msg(text && !strstr(text, "in loops of their own"), "%s",
                  text ? text : rd_error_text(ctx));
    rd_ctx_free(ctx);
}
END_TEST

/* With few terms in each sum, the first plan would add the squares where the sums are made. */
START_TEST(few_terms)
{
    world    w;
    rd_expr *y;

    world_new(&w, 5000, 500, RD_F32, false);
    squares_of_sums(&w, &y);
    const char *const text = rd_explain(w.ctx, RD_RESULTS({ y, NULL }), NULL);

    ck_assert_msg(text && strstr(text, "in loops of their own"), "%s",
                  text ? text : rd_error_text(w.ctx));
    world_free(&w);
}
END_TEST

/* The masses are a map that is read at both points, so a pass over points comes before the pairs.
 * Their distances wait for the sum, and no array of them is made in that pass. */
START_TEST(distances_wait)
{
    static float      points[3000][DIMS], masses[3000];
    static const char key[] = "arrays between stages: ";
    rd_ctx *const     ctx   = rd_ctx_new(NULL);
    rd_expr *const    x     = rd_wrap(ctx, &points[0][0], RD_SHAPE(3000, DIMS));
    rd_expr *const    m     = rd_abs(rd_wrap(ctx, masses, RD_SHAPE(3000)));
    rd_expr *const    apart = rd_sub(rd_expand(x, 1), rd_expand(x, 0));
    rd_expr *const    d2    = rd_sum(rd_square(apart), RD_DIMS(2));
    rd_expr *const    part =
        rd_div(rd_mul(rd_expand(m, 1), rd_expand(m, 0)), rd_sqrt(rd_add(d2, rd_num(ctx, 0.01))));
    const char *const text = rd_explain(ctx, RD_RESULTS({ rd_sum(part, RD_ALL), NULL }), NULL);
    const char *const at   = text ? strstr(text, key) : NULL;

    ck_assert_msg(at && strtoll(at + sizeof key - 1, NULL, 10) < 3000 * 64, "%s",
                  text ? text : rd_error_text(ctx));
    rd_ctx_free(ctx);
}
END_TEST

/* ---- Arrays that would be read across --------------------------------------------------------- */
/* An (N, N) array a, and N numbers v and points x. */
typedef struct crossed {
    rd_ctx  *ctx;
    rd_expr *a, *v, *x;
} crossed;

/* Sums of rows and of columns, both with the same factors. */
static void times_vector(const crossed *w, rd_expr *part[2])
{
    part[0] = rd_sum(rd_mul(w->a, rd_expand(w->v, 0)), RD_DIMS(1));
    part[1] = rd_sum(rd_mul(w->a, rd_expand(w->v, 1)), RD_DIMS(0));
}

static void weighted_differences(const crossed *w, rd_expr *part[2])
{
    rd_expr *const apart = rd_sub(rd_expand(w->x, 1), rd_expand(w->x, 0));
    rd_expr *const back  = rd_permute(w->a, RD_INDEX(1, 0));

    part[0] = rd_sum(rd_mul(rd_expand(w->a, 2), apart), RD_DIMS(1));
    part[1] = rd_sum(rd_mul(rd_expand(back, 2), apart), RD_DIMS(1));
}

static void kernel_of_both(const crossed *w, rd_expr *part[2])
{
    rd_expr *const k = rd_exp(rd_neg(rd_square(rd_sub(rd_expand(w->v, 1), rd_expand(w->v, 0)))));

    part[0] = rd_max(rd_mul(w->a, k), RD_DIMS(1));
    part[1] = rd_max(rd_mul(rd_permute(w->a, RD_INDEX(1, 0)), k), RD_DIMS(1));
}

static void lengths(const crossed *w, rd_expr *part[2])
{
    rd_expr *const of = rd_abs(w->a);

    part[0] = rd_sum(rd_mul(of, rd_expand(w->v, 0)), RD_DIMS(1));
    part[1] = rd_sum(rd_mul(of, rd_expand(w->v, 1)), RD_DIMS(0));
}

static void (*const crossings[])(const crossed *w, rd_expr *part[2]) = { times_vector,
                                                                         weighted_differences,
                                                                         kernel_of_both, lengths };

/* Both sums go through the array in its own order: they share no loop over what they reduce. What
 * comes out has the bits of each sum alone. */
START_TEST(not_across)
{
    enum { N = 400 };
    static float a[N][N], v[N], x[N][DIMS], sums[3][N * DIMS];
    uint32_t     state = 1;
    rd_expr     *part[2];
    crossed      w = { .ctx = rd_ctx_new(NULL) };
    const char  *at;
    int          axes = 0;

    for (int i = 0; i < N * N; i++, state = state * 1664525 + 1013904223)
        a[i / N][i % N] = (float)(state >> 8) / 8388608 - 1;
    for (int i = 0; i < N; i++)
        v[i] = a[3][i], memcpy(x[i], a[i], sizeof x[i]);
    w.a = rd_wrap(w.ctx, &a[0][0], RD_SHAPE(N, N));
    w.v = rd_wrap(w.ctx, v, RD_SHAPE(N));
    w.x = rd_wrap(w.ctx, &x[0][0], RD_SHAPE(N, DIMS));
    crossings[_i](&w, part);
    rd_expr *const whole = rd_add(part[0], part[1]);
    const rd_shape shape = rd_shape_of(whole);
    for (int k = 0; k < 3; k++)
        ck_assert_msg(rd_eval(w.ctx, k < 2 ? part[k] : whole,
                              &(rd_array){ .data = sums[k], .type = RD_F32, .shape = shape }) ==
                          RD_OK,
                      "%s", rd_error_text(w.ctx));
    for (int i = 0; i < (shape.n == 2 ? N * DIMS : N); i++)
        ck_assert_float_eq(sums[0][i] + sums[1][i], sums[2][i]);
    const char *const text = rd_explain(w.ctx, RD_RESULTS({ whole, NULL }), NULL);
    ck_assert_msg(text && (at = strstr(text, "virtual shape:")), "%s", rd_error_text(w.ctx));
    for (const char *end = strchr(at, '\n'); (at = strstr(at, ":400")) && at < end; at++)
        axes++;
    ck_assert_msg(axes == 3, "%d axes of 400: %s", axes, text);
    rd_ctx_free(w.ctx);
}
END_TEST

/* Phases that read the same distances do not keep them: each computes its own, and arrays have an
 * element for each point. */
START_TEST(phases_compute_pairs)
{
    static const char key[] = "arrays between stages: ";
    world             w;
    rd_expr          *y[MOST_RESULTS];

    world_new(&w, 3000, 2000, RD_F32, false);
    residuals_of_sums(&w, y);
    const char *const text = rd_explain(w.ctx, RD_RESULTS({ y[0], NULL }, { y[1], NULL }), NULL);
    const char *const at   = text ? strstr(text, key) : NULL;

    ck_assert_msg(at && strtoll(at + sizeof key - 1, NULL, 10) < 3000 * 64, "%s",
                  text ? text : rd_error_text(w.ctx));
    ck_assert_msg(!strstr(text, "[i,k] = sum") && !strstr(text, "[k,i] = sum"), "%s", text);
    world_free(&w);
}
END_TEST

/* ---- Bits ------------------------------------------------------------------------------------ */
static const struct {
    int64_t  rows, columns;
    rd_dtype type;
    bool     nan;
} sizes[] = {
    { 130, 65, RD_F32, false }, { 65, 131, RD_F64, true }, { 1, 300, RD_F32, true },
    { 300, 1, RD_F64, false },  { 64, 64, RD_F32, true },
};
static const char *const uses[] = { "never", "always" };

static void evaluate(const world *w, int k, int apart, int threads, rd_array *out)
{
    const rd_eval_opts opts = { .size = sizeof opts, .threads = threads };
    rd_expr           *y[MOST_RESULTS];
    rd_result          result[MOST_RESULTS];
    const int          n = programs[k].build(w, y);

    for (int i = 0; i < n; i++)
        result[i] = (rd_result){ y[i], &out[i] };
    rd_force_recompute(apart);
    ck_assert_msg(rd_eval_many(w->ctx, (rd_results){ result, n }, &opts) == RD_OK, "%s: %s",
                  programs[k].what, rd_error_text(w->ctx));
    rd_force_recompute(0);
}

/* One NaN is as good as another. */
static bool are_equal(const rd_array *a, const rd_array *b)
{
    const int size = rd_dtype_size(a->type);
    int64_t   n    = 1;
    bool      same = true;

    for (int d = 0; d < a->shape.n; d++)
        n *= a->shape.at[d];
    for (int64_t k = 0; k < n; k++) {
        const char  *x = (char *)a->data + k * size, *y = (char *)b->data + k * size;
        const double u = a->type == RD_F32   ? *(const float *)(const void *)x
                         : a->type == RD_F64 ? *(const double *)(const void *)x
                                             : 0;

        same &= memcmp(x, y, (size_t)size) == 0 || isnan(u);
    }
    return same;
}

static void compare(int k, int size, int threads)
{
    world    w, v; /* a plan that is kept would do for the other */
    rd_array together[MOST_RESULTS] = { 0 }, apart[MOST_RESULTS] = { 0 };

    world_new(&w, sizes[size].rows, sizes[size].columns, sizes[size].type, sizes[size].nan);
    world_new(&v, sizes[size].rows, sizes[size].columns, sizes[size].type, sizes[size].nan);
    evaluate(&w, k, -1, 1, together);
    evaluate(&v, k, 1, threads, apart);
    for (int i = 0; i < MOST_RESULTS && together[i].data; i++) {
        ck_assert_msg(are_equal(&together[i], &apart[i]),
                      "%s, result %d, %d threads: other bits of size %d", programs[k].what, i,
                      threads, size);
        rd_array_free(&together[i]);
        rd_array_free(&apart[i]);
    }
    world_free(&w);
    world_free(&v);
}

START_TEST(same_bits)
{
    rd_nest_force(uses[_i / COUNT(programs)]);
    for (int size = 0; size < COUNT(sizes); size++)
        for (int threads = 1; threads <= 3; threads += 2)
            compare(_i % COUNT(programs), size, threads);
    rd_nest_force(NULL);
}
END_TEST

/* Sums over no rows are 0, on either side. */
START_TEST(of_nothing)
{
    for (int apart = -1; apart <= 1; apart += 2) {
        world    w;
        rd_array out[MOST_RESULTS] = { 0 };

        world_new(&w, 0, 5, RD_F32, false);
        evaluate(&w, 1, apart, 1, out);
        for (int j = 0; j < 5; j++)
            ck_assert(((float *)out[1].data)[j] == 0);
        rd_array_free(&out[0]);
        rd_array_free(&out[1]);
        world_free(&w);
    }
}
END_TEST

/* ---- Without memory -------------------------------------------------------------------------- */
static rd_status evaluate_on(faulty_heap *h, float *out)
{
    static float points[2][8][DIMS];
    world        w = { .ctx = faulty_heap_ctx(h, 0) };
    rd_expr     *y[MOST_RESULTS];
    rd_status    status;

    for (int k = 0; k < 2 * 8 * DIMS; k++)
        (&points[0][0][0])[k] = (float)(k * k % 11);
    w.x = rd_wrap(w.ctx, &points[0][0][0], RD_SHAPE(8, DIMS));
    w.y = rd_wrap(w.ctx, &points[1][0][0], RD_SHAPE(8, DIMS));
    kernel_sums(&w, y);
    status = rd_eval_many(
        w.ctx,
        RD_RESULTS({ y[0], RD_INTO(out, RD_SHAPE(8)) }, { y[1], RD_INTO(out + 8, RD_SHAPE(8)) }),
        NULL);
    rd_ctx_free(w.ctx);
    return status;
}

START_TEST(without_memory)
{
    faulty_heap h = { .fail_at = -1 };
    float       want[16], found[16];

    rd_pool_pieces_apart();
    rd_tier_force("off");
    rd_force_recompute(1);
    ck_assert_int_eq(evaluate_on(&h, want), RD_OK);
    for (long long k = 0, all = atomic_load(&h.calls); k < all; k++) {
        h                      = (faulty_heap){ .fail_at = k };
        const rd_status status = evaluate_on(&h, found);

        ck_assert_msg(status == RD_OK ? memcmp(found, want, sizeof want) == 0
                      : k == 0        ? status == RD_ERR_ARGUMENT /* there is no context */
                                      : status == RD_ERR_MEMORY,
                      "allocation %lld: %s", k, rd_status_name(status));
        ck_assert_int_eq(atomic_load(&h.live), 0);
    }
    rd_force_recompute(0);
    rd_tier_force(NULL);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("apart");
    TCase   *tc     = tcase_create("apart");
    SRunner *runner = srunner_create(suite);
    int      failed;

    tcase_add_loop_test(tc, choice, 0, COUNT(programs));
    tcase_add_test(tc, much_memory);
    tcase_add_test(tc, few_terms);
    tcase_add_test(tc, distances_wait);
    tcase_add_loop_test(tc, not_across, 0, COUNT(crossings));
    tcase_add_test(tc, phases_compute_pairs);
    tcase_add_loop_test(tc, same_bits, 0, COUNT(uses) * COUNT(programs));
    tcase_add_test(tc, of_nothing);
    tcase_add_test(tc, without_memory);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
