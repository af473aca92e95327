/* gpu_programs.c - see gpu_programs.h. */
#include "gpu_programs.h"
#include "expr/expr.h"
#include "core/half.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sum_all(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_ALL);
    return 1;
}

static int sum_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_DIMS(1));
    return 1;
}

static int sum_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_DIMS(0));
    return 1;
}

static int max_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_max(x, RD_DIMS(1));
    return 1;
}

static int argmax_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_argmax(x, RD_DIMS(1));
    return 1;
}

static int argmin_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_argmin(x, RD_DIMS(0));
    return 1;
}

static int var_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_var(x, RD_DIMS(1));
    return 1;
}

static int var_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_var(x, RD_DIMS(0));
    return 1;
}

static int mean_masked(rd_expr *x, rd_expr **y)
{
    y[0] = rd_mean(x, RD_DIMS(1), .where = rd_gt(x, rd_num(x->ctx, 0)));
    return 1;
}

static int lse_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_logsumexp(x, RD_DIMS(1));
    return 1;
}

static int lse_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_logsumexp(x, RD_DIMS(0));
    return 1;
}

/* Elements that move m, that vanish beside it, and that count for nothing. */
static int lse_far(rd_expr *x, rd_expr **y)
{
    rd_expr *least = rd_num(x->ctx, x->type == RD_F8 ? -448 : -INFINITY); /* f8 has no infinity */
    rd_expr *far   = rd_where(rd_gt(x, rd_num(x->ctx, -3)), rd_mul(x, rd_num(x->ctx, 30)), least);

    y[0] = rd_logsumexp(far, RD_DIMS(1));
    y[1] = rd_logsumexp(far, RD_DIMS(0));
    return 2;
}

static int dot(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(rd_mul(x, rd_flip(x, RD_DIMS(0))), RD_DIMS(1));
    return 1;
}

static int softmax(rd_expr *x, rd_expr **y)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(1))));

    y[0] = rd_div(e, rd_sum(e, RD_KEEP(1)));
    return 1;
}

/* Kept values that are wider than what is read. */
static int softmax_wide(rd_expr *x, rd_expr **y)
{
    return softmax(rd_cast(x, RD_F64), y);
}

/* Few steps for each index of the axis that is cut. */
static int soft_cubes(rd_expr *x, rd_expr **y)
{
    enum { DEPTH = 16 };
    rd_expr *few = rd_slice(x, ":20, :1000");
    rd_expr *cube =
        rd_broadcast(rd_expand(few, 2), RD_SHAPE(few->extent[0], few->extent[1], DEPTH));
    rd_expr *e = rd_exp(rd_sub(cube, rd_max(cube, RD_KEEP(1, 2))));

    y[0] = rd_div(e, rd_sum(e, RD_KEEP(1, 2)));
    return 1;
}

/* Where the rows of a channel are not 2^n steps, a range of them is several nodes. */
static int var_channels(rd_expr *x, rd_expr **y)
{
    const int64_t rows = x->extent[0], columns = x->extent[1];
    const int64_t channels = columns % 3 == 0 ? 3 : columns % 2 == 0 ? 2 : 1;

    y[0] = rd_var(rd_reshape(x, RD_SHAPE(rows, channels, columns / channels)), RD_DIMS(0, 2));
    return 1;
}

static int layer_norm(rd_expr *x, rd_expr **y)
{
    rd_expr *centred = rd_sub(x, rd_mean(x, RD_KEEP(1)));

    y[0] = rd_div(centred, rd_sqrt(rd_add(rd_var(x, RD_KEEP(1)), rd_num(x->ctx, 1e-5))));
    return 1;
}

static int centre_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sub(x, rd_mean(x, RD_KEEP(0)));
    return 1;
}

static int map(rd_expr *x, rd_expr **y)
{
    y[0] = rd_add(rd_mul(x, x), rd_num(x->ctx, 3));
    return 1;
}

static int map_exp(rd_expr *x, rd_expr **y)
{
    y[0] = rd_exp(x->extent[0] > 0 ? rd_sub(x, rd_select(x, 0, 0)) : x);
    return 1;
}

static int map_narrow(rd_expr *x, rd_expr **y)
{
    y[0] = rd_cast(rd_mul(x, rd_num(x->ctx, 2)), RD_F16);
    return 1;
}

static int transpose(rd_expr *x, rd_expr **y)
{
    y[0] = rd_neg(rd_transpose(x));
    return 1;
}

/* y[c, k, r] = x[r, c] + k */
static int reversed(rd_expr *x, rd_expr **y)
{
    enum { MIDDLE = 4 };
    rd_expr *cube = rd_broadcast(rd_expand(x, 1), RD_SHAPE(x->extent[0], MIDDLE, x->extent[1]));

    y[0] = rd_permute(rd_add(cube, rd_cast(rd_coord(cube, 1), x->type)), RD_INDEX(2, 1, 0));
    return 1;
}

static int scan_rows(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "sum", RD_DIMS(1));
    return 1;
}

static int scan_exclusive(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(rd_mul(x, x), "sum", RD_DIMS(1), .exclusive = true);
    return 1;
}

static int scan_sums_and_most(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "sum", RD_DIMS(1));
    y[1] = rd_scan(x, "max", RD_DIMS(1));
    return 2;
}

static int scan_down(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "sum", RD_DIMS(0));
    return 1;
}

static int scan_columns(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "max", RD_DIMS(0));
    return 1;
}

/* Maps before and behind, one of what the scan took. */
static int scan_between_maps(rd_expr *x, rd_expr **y)
{
    rd_expr *square = rd_mul(x, x);

    y[0] = rd_sub(rd_scan(square, "sum", RD_DIMS(1)), square);
    y[1] = rd_scan(rd_neg(x), "min", RD_DIMS(1));
    return 2;
}

/* Four in one loop. */
static int scans_together(rd_expr *x, rd_expr **y)
{
    y[0] = rd_add(rd_scan(x, "sum", RD_DIMS(1)), rd_scan(x, "max", RD_DIMS(1)));
    y[1] = rd_sub(rd_scan(x, "sum", RD_DIMS(1), .exclusive = true),
                  rd_scan(rd_mul(x, x), "sum", RD_DIMS(1)));
    return 2;
}

static int scan_back(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "sum", RD_DIMS(1), .reverse = true);
    y[1] = rd_scan(rd_mul(x, x), "sum", RD_DIMS(1), .reverse = true, .exclusive = true);
    return 2;
}

static int scan_twice(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(rd_scan(x, "sum", RD_DIMS(1)), "sum", RD_DIMS(1));
    return 1;
}

/* Products of ints are those of any grouping. */
static int scan_products(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(x, "prod", RD_DIMS(1));
    return 1;
}

static int scan_wide(rd_expr *x, rd_expr **y)
{
    y[0] = rd_scan(rd_cast(x, RD_F64), "sum", RD_DIMS(1));
    return 1;
}

static int siblings(rd_expr *x, rd_expr **y)
{
    y[0] = rd_sum(x, RD_DIMS(1));
    y[1] = rd_max(x, RD_DIMS(1));
    return 2;
}

static int standardise_all(rd_expr *x, rd_expr **y)
{
    y[0] = rd_div(rd_sub(x, rd_mean(x, RD_ALL)), rd_std(x, RD_ALL));
    return 1;
}

static int softmax_columns(rd_expr *x, rd_expr **y)
{
    rd_expr *e = rd_exp(rd_sub(x, rd_max(x, RD_KEEP(0))));

    y[0] = rd_div(e, rd_sum(e, RD_KEEP(0)));
    return 1;
}

static int concat(rd_expr *x, rd_expr **y)
{
    y[0] = rd_concat(0, RD_EXPRS(x, rd_neg(x)));
    return 1;
}

const gpu_program gpu_programs[] = {
    { "sum of all", false, sum_all },
    { "sum of rows", false, sum_rows },
    { "sum of columns", false, sum_columns },
    { "max of rows", false, max_rows },
    { "argmax of rows", false, argmax_rows },
    { "argmin of columns", false, argmin_columns },
    { "var of rows", true, var_rows },
    { "var of columns", true, var_columns },
    { "mean where", true, mean_masked },
    { "logsumexp of rows", true, lse_rows },
    { "logsumexp of columns", true, lse_columns },
    { "dot", false, dot },
    { "softmax", true, softmax },
    { "softmax in f64", false, softmax_wide },
    { "softmax of cubes", true, soft_cubes },
    { "var of channels", true, var_channels },
    { "layer norm", true, layer_norm },
    { "centred columns", true, centre_columns },
    { "map", false, map },
    { "map exp", true, map_exp },
    { "map to f16", true, map_narrow },
    { "transpose", false, transpose },
    { "axes reversed", false, reversed },
    { "scan of rows", false, scan_rows },
    { "scan exclusive", false, scan_exclusive },
    { "scans", false, scan_sums_and_most },
    { "scan down", false, scan_down },
    { "scan of columns", false, scan_columns },
    { "siblings", false, siblings },
    { "standardised", true, standardise_all },
    { "softmax of columns", true, softmax_columns },
    { "concat", false, concat },
    { "logsumexp far", true, lse_far },
};
const int n_gpu_programs = (int)(sizeof gpu_programs / sizeof *gpu_programs);

static const gpu_program *find(const gpu_program *list, int n, const char *name)
{
    for (int k = 0; k < n; k++)
        if (!strcmp(list[k].name, name))
            return &list[k];
    return NULL;
}

const gpu_program *gpu_program_of(const char *name)
{
    const gpu_program *found = find(gpu_programs, n_gpu_programs, name);

    found = found ? found : find(gpu_scan_programs, n_gpu_scan_programs, name);
    found = found ? found : find(gpu_pair_programs, n_gpu_pair_programs, name);
    found = found ? found : find(gpu_row_programs, n_gpu_row_programs, name);
    found = found ? found : find(gpu_cross_programs, n_gpu_cross_programs, name);
    if (found)
        return found;
    fprintf(stderr, "no program %s\n", name);
    abort();
}

const gpu_program gpu_scan_programs[] = {
    { "scan between maps", false, scan_between_maps },
    { "scans together", false, scans_together },
    { "scan twice", false, scan_twice },
    { "scan of products", false, scan_products },
    { "scan in f64", false, scan_wide },
    { "scan back", false, scan_back },
};
const int n_gpu_scan_programs = (int)(sizeof gpu_scan_programs / sizeof *gpu_scan_programs);

/* From -4 to 4, by steps that additions round. */
static float value_of(int64_t k)
{
    return (float)((double)(k * 7919 % 10007) / 1251 - 4 + (double)(k % 3) * 1e-3);
}

rd_array gpu_matrix(rd_dtype type, int64_t rows, int64_t columns)
{
    const int64_t n    = rows * columns;
    char         *data = calloc((size_t)(n ? n : 1), (size_t)rd_dtype_size(type));

    if (!data)
        abort();
    for (int64_t k = 0; k < n; k++) {
        const float x = value_of(k);

        switch (type) {
        case RD_F16: ((rd_f16 *)(void *)data)[k] = rd_f16_of_f32(x); break;
        case RD_BF16: ((rd_bf16 *)(void *)data)[k] = rd_bf16_of_f32(x); break;
        case RD_F8: ((rd_f8 *)(void *)data)[k] = rd_f8_of_f32(x); break;
        case RD_F32: ((float *)(void *)data)[k] = x; break;
        case RD_F64: ((double *)(void *)data)[k] = x + 1e-9 * (double)(k % 11); break;
        case RD_I32: ((int32_t *)(void *)data)[k] = (int32_t)(x * 1000); break;
        case RD_I64: ((int64_t *)(void *)data)[k] = (int64_t)(x * 1e6F); break;
        default: ((uint8_t *)data)[k] = (uint8_t)(k * 31 % 251); break;
        }
    }
    return (rd_array){ .data = data, .type = type, .shape = RD_SHAPE(rows, columns) };
}

/* ---- Bits ------------------------------------------------------------------------------------ */
const gpu_size gpu_sizes[] = {
    { 1, 1 },     { 1, 3 },    { 3, 63 },   { 63, 3 },   { 4, 64 },    { 64, 4 },    { 8, 65 },
    { 65, 8 },    { 3, 512 },  { 512, 20 }, { 3, 1000 }, { 1000, 64 }, { 3, 4095 },  { 4095, 129 },
    { 1, 4096 },  { 4096, 1 }, { 3, 4097 }, { 4097, 3 }, { 4, 12296 }, { 12296, 4 }, { 8, 16388 },
    { 16388, 8 }, { 40, 33 },  { 33, 40 },  { 5, 300 },  { 6, 192 },
};
const int n_gpu_sizes = (int)(sizeof gpu_sizes / sizeof *gpu_sizes);

/* Tiles have 512 elements, or some times that, up to 4096. */
const gpu_size gpu_scan_sizes[] = {
    { 2, 64 },   { 3, 257 },  { 1, 511 },  { 2, 513 },   { 3, 1024 },  { 2, 4095 },  { 3, 4096 },
    { 1, 4097 }, { 1, 8191 }, { 2, 8193 }, { 1, 16384 }, { 2, 16380 }, { 1, 28673 }, { 1, 32769 },
};
const int n_gpu_scan_sizes = (int)(sizeof gpu_scan_sizes / sizeof *gpu_scan_sizes);

void gpu_build(const gpu_program *program, rd_expr *x, gpu_results *all)
{
    rd_expr *y[GPU_MOST_RESULTS];

    all->n = program->build(x, y);
    for (int k = 0; k < GPU_MOST_RESULTS; k++) {
        all->out[k] = (rd_array){ .data = NULL };
        all->at[k]  = (rd_result){ k < all->n ? y[k] : NULL, &all->out[k] };
    }
}

static bool evaluate(const gpu_case *c, rd_ctx *ctx, rd_expr *x, rd_backend backend,
                     gpu_results *all, rd_text *report)
{
    const rd_eval_opts opts = { .backend = backend, .deterministic = true };
    rd_status          status;

    gpu_build(c->program, x, all);
    status = rd_eval_many(ctx, (rd_results){ all->at, all->n }, &opts);

    if (status != RD_OK)
        rd_text_add(report, "%s of %s: %s\n", c->program->name, rd_dtype_name(c->type),
                    rd_error_text(ctx));
    return status == RD_OK;
}

static int64_t count_of(const rd_array *array)
{
    int64_t n = 1;

    for (int k = 0; k < array->shape.n; k++)
        n *= array->shape.at[k];
    return n;
}

/* The matrix where the case wants it, `shift` elements behind what begins at a multiple of 256. */
static bool put_there(const gpu_case *c, rd_ctx *ctx, const rd_array *here, rd_array *all,
                      rd_array *there)
{
    if (c->here) {
        *there = *here;
        return true;
    }

    const int64_t n     = c->rows * c->columns;
    const int     size  = rd_dtype_size(c->type);
    rd_array      block = gpu_matrix(c->type, 1, n + c->shift);
    bool          done;

    memcpy((char *)block.data + c->shift * size, here->data, (size_t)(n * size));
    *all          = (rd_array){ .device = RD_CUDA(0) };
    done          = rd_eval(ctx, rd_leaf(ctx, &block), all) == RD_OK;
    *there        = *here;
    there->data   = (char *)all->data + c->shift * size;
    there->device = RD_CUDA(0);
    free(block.data);
    return done;
}

static bool is_nan(const rd_array *array, int64_t k)
{
    switch (array->type) {
    case RD_F16: return isnan(rd_f16_to_f32(((const rd_f16 *)array->in)[k]));
    case RD_BF16: return isnan(rd_bf16_to_f32(((const rd_bf16 *)array->in)[k]));
    case RD_F8: return isnan(rd_f8_to_f32(((const rd_f8 *)array->in)[k]));
    case RD_F32: return isnan(((const float *)array->in)[k]);
    case RD_F64: return isnan(((const double *)array->in)[k]);
    default: return false;
    }
}

/* The first element that differs, -1. */
static int64_t difference(const rd_array *want, const rd_array *found)
{
    const int size = rd_dtype_size(want->type);

    for (int64_t k = 0, n = count_of(want); k < n; k++)
        if (memcmp((const char *)want->in + k * size, (const char *)found->in + k * size,
                   (size_t)size) != 0 &&
            !(is_nan(want, k) && is_nan(found, k)))
            return k;
    return -1;
}

bool gpu_same_bits(const gpu_case *c, rd_text *report)
{
    rd_ctx     *ctx = rd_ctx_new(NULL);
    rd_array    x = gpu_matrix(c->type, c->rows, c->columns), all = { .data = NULL }, there;
    gpu_results want = { .n = 0 }, found = { .n = 0 };
    bool        same = put_there(c, ctx, &x, &all, &there) &&
                evaluate(c, ctx, rd_leaf(ctx, &x), RD_BACKEND_CPU, &want, report) &&
                evaluate(c, ctx, rd_leaf(ctx, &there), RD_BACKEND_CUDA, &found, report);

    for (int k = 0; same && k < want.n; k++) {
        const int64_t at = difference(&want.out[k], &found.out[k]);

        same = at < 0;
        if (!same)
            rd_text_add(report,
                        "%s of %s, %lld x %lld, shifted by %d: element %lld of result %d differs\n",
                        c->program->name, rd_dtype_name(c->type), (long long)c->rows,
                        (long long)c->columns, c->shift, (long long)at, k);
    }
    for (int k = 0; k < GPU_MOST_RESULTS; k++) {
        rd_array_free(&want.out[k]);
        rd_array_free(&found.out[k]);
    }
    rd_array_free(&all);
    free(x.data);
    rd_ctx_free(ctx);
    return same;
}
