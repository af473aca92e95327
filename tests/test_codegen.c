/* test_codegen.c - programs as compiled nests of loops: every reducer, operator and cast, in every
 * form and share, against the scalar interpreter.
 *
 * Each text is a run of the compiler, so many results make one program, and cases are strides
 * through the products of what there is. */
#include "nests.h"
#include "kernels/cpu/cpu.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* With sanitizers the cases are some of those without: their loops are compiled already then, in trees
 * that keep them together. */
#define STEP (THREAD_SANITIZED ? 23 : suite_long_part(23))

static const rd_dtype types[] = { RD_F32, RD_F64, RD_F16, RD_I8,   RD_I32,
                                  RD_I64, RD_U8,  RD_U64, RD_BOOL, RD_F8 };

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
}

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* ---- Folds ------------------------------------------------------------------------------------- */
typedef enum extra {
    PLAIN,
    MASK,
    INITIAL,
    SKIP_NAN,
    WEIGHTS,
    MASK_INITIAL,
    RARE_MASK,
    N_EXTRAS
} extra;

/* Where the steps of a fold are. */
typedef enum form {
    ALL,     /* one of all elements, which tasks share          */
    ROWS,    /* lanes along the fold                            */
    COLUMNS, /* a cell for each of neighbouring elements        */
    SEVERAL, /* the first and the last axis of three            */
    SHORT,   /* many rows of a few elements                     */
    CELLS,   /* the first axis of three                         */
    N_FORMS
} form;

static const int64_t sizes[] = { 64, 4097, 1, 63, 65, 4096, 4095, 64 * 64 * 3 + 1 };

typedef struct layout {
    rd_shape shape;
    rd_dims  dims;
} layout;

static layout layout_of(form f, int64_t n)
{
    switch (f) {
    case ALL: return (layout){ RD_SHAPE(n), RD_DIMS(0) };
    case ROWS: return (layout){ RD_SHAPE(3, n), RD_DIMS(1) };
    case COLUMNS: return (layout){ RD_SHAPE(n, n > 100 ? 7 : 37), RD_DIMS(0) };
    case SEVERAL:
        return (layout){ RD_SHAPE(n > 100 ? n / 64 : 3, 3, n > 100 ? 65 : n), RD_DIMS(0, 2) };
    case SHORT: return (layout){ RD_SHAPE(130, 1 + n % 23), RD_DIMS(1) };
    default: return (layout){ RD_SHAPE(n > 100 ? n / 16 : n, 5, 9), RD_DIMS(0) };
    }
}

/* Reducers that take extras, and those that do not: which of these is refused by constructors. */
static const char *const reducers[] = { "sum",      "prod",    "min",       "max",      "argmin",
                                        "argmax",   "any",     "all",       "count",    "mean",
                                        "var",      "norm",    "logsumexp", "skewness", "kurtosis",
                                        "bits_and", "bits_or", "bits_xor" };

typedef struct fold_case {
    rd_dtype type;
    form     form;
    extra    with;
    int64_t  n;
} fold_case;

static rd_reduce_opts options_of(tile_memory *m, const fold_case *c, const layout *at)
{
    rd_reduce_opts opts = { .size = sizeof opts, .dims = at->dims, .ddof = 1 };

    opts.skip_nan = c->with == SKIP_NAN;
    if (c->with == MASK || c->with == MASK_INITIAL)
        opts.where = nest_leaf(m, RD_BOOL, at->shape, FLAGS);
    if (c->with == RARE_MASK)
        opts.where = nest_leaf(m, RD_BOOL, at->shape, RARE);
    if (c->with == WEIGHTS)
        opts.weights = nest_leaf(m, is_float(c->type) ? c->type : RD_F64, at->shape, FLAGS);
    if (c->with == INITIAL || c->with == MASK_INITIAL)
        opts.initial = rd_cast(rd_int(ctx, 1), c->type);
    return opts;
}

static void add_folds(nest_batch *b, rd_expr *x, const rd_reduce_opts *given, int from, int to)
{
    for (int r = from; r < to; r++) {
        rd_reduce_opts opts = *given;

        if (strcmp(reducers[r], "var") != 0)
            opts.ddof = 0;
        nest_add(b, rd_reduce_name(x, reducers[r], &opts));
    }
}

static void agree_on_folds(const fold_case *c)
{
    static const char *const forms[] = { "all", "rows", "columns", "several", "short", "cells" };
    const layout             at      = layout_of(c->form, c->n);
    const tile_data          data    = is_float(c->type) ? ORDINARY : c->n % 2 ? UGLY : ORDINARY;
    const rd_mark            mark    = rd_ctx_mark(ctx);
    tile_memory              m       = { 0 };
    rd_expr                 *x       = nest_leaf(&m, c->type, at.shape, data);
    const bool               split   = c->form == ALL || c->n > 100;
    nest_batch               b       = { 0 };

    if (c->n % 3 == 0 || c->with == SKIP_NAN)
        nest_nans(&m, 0);
    const rd_reduce_opts opts = options_of(&m, c, &at);

    snprintf(b.what, sizeof b.what, "%s, %s, n %d, extra %d", rd_dtype_name(c->type),
             forms[c->form], (int)c->n, (int)c->with);
    add_folds(&b, x, &opts, 0, COUNT(reducers));
    if (is_float(c->type) && c->with == PLAIN)
        nest_add(&b, rd_sum(rd_mul(x, x), at.dims));
    if (b.n)
        nest_agree(&b, split ? many_tasks : one_task, split ? COUNT(many_tasks) : 1);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

/* Extras that few reducers take, which is soon compiled, and those that all do: of every type, forms
 * and sizes in turn. */
START_TEST(folds)
{
    static const extra few[] = { INITIAL, WEIGHTS, MASK_INITIAL },
                       all[] = { PLAIN, MASK, SKIP_NAN, RARE_MASK };
    const rd_dtype type      = types[_i];
    const int      times     = is_float(type) ? 2 : 1;

    for (int k = _i % STEP; k < times * COUNT(few); k += STEP)
        agree_on_folds(&(fold_case){ type, (form)((_i + 2 * k + k / COUNT(few)) % N_FORMS),
                                     few[k % COUNT(few)], sizes[(k + 3 * _i) % COUNT(sizes)] });
    for (int k = _i; k < N_FORMS * COUNT(all); k += 11 * STEP)
        agree_on_folds(&(fold_case){ type, (form)(k % N_FORMS), all[k / N_FORMS],
                                     sizes[(k + 3 * _i) % COUNT(sizes)] });
    nest_mostly();
}
END_TEST

/* Every size, plain, of types in turn. */
START_TEST(sizes_of_folds)
{
    for (int k = 3 * _i; k < COUNT(sizes) * N_FORMS; k += 9 * STEP)
        agree_on_folds(&(fold_case){ types[(k * 4 + k / 9) % COUNT(types)],
                                     (form)(k / COUNT(sizes)), PLAIN, sizes[k % COUNT(sizes)] });
    nest_mostly();
}
END_TEST

/* Rows of a few strips of lanes and a rest, all folds but those by exponentials, and each mask.  What is
 * behind a row counts for none: negative and positive elements. */
START_TEST(rests_of_rows)
{
    static const char *const names[] = { "sum",    "min", "max",  "argmin",
                                         "argmax", "any", "mean", "var" };
    static const rd_dtype    list[]  = { RD_F32, RD_F64, RD_I32, RD_I8, RD_U8, RD_BOOL };
    static const extra       with[]  = { PLAIN, MASK, RARE_MASK, WEIGHTS };
    const layout             at      = { RD_SHAPE(37, _i % 2 ? 180 : 250), RD_DIMS(1) };

    for (int k = 0; k < COUNT(with); k++) {
        const fold_case      c    = { list[_i], ROWS, with[k], at.shape.at[1] };
        const rd_mark        mark = rd_ctx_mark(ctx);
        tile_memory          m    = { 0 };
        nest_batch           b    = { .what = "rests of rows" };
        rd_expr             *x    = nest_leaf(&m, c.type, at.shape, k < 2 ? ORDINARY : UGLY);
        const rd_reduce_opts opts = options_of(&m, &c, &at);

        for (int sign = 0; sign < 2; sign++) {
            rd_expr *y = sign && c.type != RD_BOOL ? rd_sub(rd_int(ctx, 100), x) : x;

            for (int r = 0; r < COUNT(names); r++) {
                rd_reduce_opts one = opts;

                one.ddof = strcmp(names[r], "var") == 0;
                nest_add(&b, rd_reduce_name(y, names[r], &one));
            }
        }
        nest_agree(&b, one_task, 1);
        tile_free(&m);
        rd_ctx_release(ctx, mark);
    }
    nest_mostly();
}
END_TEST

/* Compensated, wide, and from the left. */
START_TEST(accuracies)
{
    static const rd_accuracy ways[] = { RD_COMPENSATED, RD_WIDE, RD_SERIAL };
    const rd_dtype           list[] = { RD_F32, RD_F64, RD_F16 };
    const layout             at     = layout_of((form)(2 * _i), 4097);
    const rd_mark            mark   = rd_ctx_mark(ctx);
    tile_memory              m      = { 0 };
    nest_batch               b      = { .what = "accuracies" };

    for (int t = 0; t < COUNT(list); t++) {
        rd_expr *x = nest_leaf(&m, list[t], at.shape, ORDINARY);

        for (int k = 0; k < COUNT(ways); k++) {
            nest_add(&b, rd_sum(x, at.dims, .accuracy = ways[k]));
            if (t == 1)
                nest_add(&b, rd_mean(x, at.dims, .accuracy = ways[k]));
        }
    }
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

/* Ints that no double has. */
START_TEST(large_ints)
{
    enum { N = 4099, COLS = 3 };
    const rd_dtype type = _i ? RD_U64 : RD_I64;
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(N, COLS), ORDINARY);
    rd_expr       *take = nest_leaf(&m, RD_BOOL, RD_SHAPE(N, COLS), FLAGS);
    rd_expr       *most = rd_cast(rd_int(ctx, INT64_MAX), type);
    nest_batch     b    = { .what = "large ints" };
    uint64_t      *v    = (uint64_t *)(void *)m.slot[0].before;

    for (int i = 0; i < N * COLS; i++)
        v[i] = (UINT64_C(1) << 62) + (uint64_t)(i * 7919 % 1009) +
               (type == RD_I64 && i % 2 ? UINT64_C(1) << 63 : 0);
    for (int axis = 0; axis < 2; axis++) {
        nest_add(&b, rd_sum(x, RD_DIMS(axis)));
        nest_add(&b, rd_min(x, RD_DIMS(axis)));
        nest_add(&b, rd_max(x, RD_DIMS(axis)));
        nest_add(&b, rd_argmax(x, RD_DIMS(axis)));
        nest_add(&b, rd_min(x, RD_DIMS(axis), .where = take, .initial = most));
        nest_add(&b, rd_prod(x, RD_DIMS(axis)));
        nest_agree(&b, many_tasks, COUNT(many_tasks));
    }
    nest_add(&b, rd_max(x, RD_ALL));
    nest_add(&b, rd_min(x, RD_ALL));
    nest_add(&b, rd_sum(x, RD_ALL));
    nest_add(&b, rd_argmin(x, RD_ALL));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Folds of different lanes, along different axes, in one loop. */
START_TEST(different_lanes)
{
    const int64_t rows = _i == 0 ? 5 : 130, cols = _i == 0 ? 4097 : _i == 1 ? 129 : 20;
    tile_memory   m = { 0 };
    rd_expr      *x = nest_leaf(&m, RD_F32, RD_SHAPE(rows, cols), ORDINARY);
    rd_expr      *z = nest_leaf(&m, RD_F16, RD_SHAPE(rows, cols), ORDINARY);
    nest_batch    b = { .what = "different lanes" };

    nest_add(&b, rd_sum(x, RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_cast(x, RD_F64), RD_DIMS(1)));
    nest_add(&b, rd_max(z, RD_DIMS(1)));
    nest_add(&b, rd_argmin(x, RD_DIMS(1)));
    nest_add(&b, rd_any(rd_gt(x, rd_num(ctx, 1.9)), RD_DIMS(1)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(x, RD_DIMS(0)));
    nest_add(&b, rd_var(rd_cast(x, RD_F64), RD_DIMS(0)));
    nest_add(&b, rd_sum(x, RD_DIMS(1)));
    nest_add(&b, rd_sum(z, RD_ALL));
    nest_add(&b, rd_max(x, RD_ALL));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* The first of bools in a row so long that it is left there; of some there is none. */
START_TEST(first_of_bools)
{
    tile_memory m       = { 0 };
    rd_expr    *x       = nest_leaf(&m, RD_F32, RD_SHAPE(3, 66001), ORDINARY);
    nest_batch  b       = { .what = "first of bools" };
    const float level[] = { 1.5F, 1.99F, 1.9999F, 3 };
    rd_expr    *none    = rd_gt(x, rd_num(ctx, level[_i]));

    nest_seen.pass = "early_exit";
    nest_add(&b, rd_argmax(none, RD_ALL));
    nest_agree(&b, many_tasks, 4);
    nest_add(&b, rd_argmin(rd_not(none), RD_DIMS(1)));
    nest_agree(&b, many_tasks, 4);
    ck_assert_int_gt(nest_seen.changed, 0);
    nest_seen.pass = NULL;
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Trees that one to five tasks share. */
START_TEST(shares)
{
    static const nest_share counts[] = { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 3 }, { 1, 4 }, { 1, 5 },
                                         { 2, 0 }, { 3, 0 }, { 2, 1 }, { 3, 1 }, { 3, 2 } };
    const int64_t           n        = 5 * 4096 - (_i ? 77 : 0);
    tile_memory             m        = { 0 };
    rd_expr                *x = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, RD_SHAPE(n), ORDINARY);
    rd_expr   *y = nest_leaf(&m, _i % 2 ? RD_F64 : RD_F32, RD_SHAPE(n / 16, 16), ORDINARY);
    rd_expr   *w = nest_leaf(&m, RD_BOOL, RD_SHAPE(n), RARE);
    nest_batch b = { .what = "shares" };

    nest_seen.tasks = 0;
    nest_add(&b, rd_sum(x, RD_ALL));
    nest_add(&b, rd_sum(x, RD_ALL, .where = w));
    nest_add(&b, rd_argmax(x, RD_ALL, .where = w));
    nest_add(&b, rd_min(x, RD_ALL));
    nest_add(&b, rd_var(x, RD_ALL));
    nest_add(&b, rd_logsumexp(x, RD_ALL));
    nest_agree(&b, counts, COUNT(counts));
    nest_add(&b, rd_sum(y, RD_DIMS(0)));
    nest_add(&b, rd_max(y, RD_DIMS(0)));
    nest_add(&b, rd_argmin(y, RD_DIMS(0)));
    nest_add(&b, rd_var(y, RD_DIMS(0)));
    nest_agree(&b, counts, COUNT(counts));
    nest_mostly();
    for (int k = 1; k <= NEST_TASKS; k++)
        ck_assert_msg((_i % 2) == 0 || nest_seen.tasks >> k & 1 || k == 4, "never %d tasks", k);
    tile_free(&m);
}
END_TEST

/* ---- Users' reducers --------------------------------------------------------------------------- */
/* The four bodies are easier to tell apart one a line. */
/* clang-format off */
RD_REDUCER(nonzeros, double, int64_t, 1, (int64_t n;), (s->n = 0;), (s->n += x != 0;),
           (a->n += b->n;), (y[0] = s->n;))

/* Merge divides by what has met an element: nothing that has not is merged. */
RD_REDUCER(welford, double, double, 2, (double n, mean, m2;), (s->n = s->mean = s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (double n = a->n + b->n, d = b->mean - a->mean; a->mean += d * b->n / n;
            a->m2 += b->m2 + d * d * a->n * b->n / n; a->n = n;),
           (y[0] = s->mean; y[1] = s->m2 / s->n;))

/* The last element and its index: neither commutes nor has an identity. */
RD_REDUCER(last_one, float, float, 1, (float x; int64_t i;), (s->x = -1; s->i = -1;), (if (x == x) {
               s->x = x;
               s->i = i;
           }),
           (if (b->i >= 0) *a = *b;), (y[0] = s->i >= 0 ? s->x + (float)(s->i % 7) : -1;))

/* The shape of the tree is in its bits; two types of members, and a call of <math.h>. */
RD_REDUCER(affine, float, double, 2, (double slope; float shift; uint8_t odd;),
           (s->slope = 1; s->shift = 0; s->odd = 0;),
           (s->slope *= 0.999 + 1e-4 * sqrt(fabs(x)); s->odd ^= (uint8_t)(i & 1);
            s->shift = s->shift * 0.99f + x + 1e-5f * (float)(i % 1009);),
           (a->shift = (float)(a->shift * b->slope) + b->shift; a->slope *= b->slope;
            a->odd   = (uint8_t)(3 * a->odd + b->odd);),
           (y[0] = s->slope + s->odd; y[1] = s->shift;))

/* A loop that no vector has: states are structs. */
RD_REDUCER(five_smallest, float, float, 5, (float v[5];),
           (for (int k = 0; k < 5; k++) s->v[k] = INFINITY;), (if (x < s->v[4]) {
               int k = 4;
               while (k > 0 && s->v[k - 1] > x) {
                   s->v[k] = s->v[k - 1];
                   k--;
               }
               s->v[k] = x;
           }),
           (for (int j = 0; j < 5; j++) {
               float x = b->v[j];
               for (int k = 0; k < 5; k++)
                   if (x < a->v[k]) {
                       float t = a->v[k];
                       a->v[k] = x;
                       x       = t;
                   }
           }),
           (for (int k = 0; k < 5; k++) y[k] = s->v[k];))

/* A loop that can be written out, of an array that is three states; and 100 / 0 is no int. */
RD_REDUCER(three_largest, int32_t, int64_t, 3, (int32_t v[3]; int n;),
           (s->v[0] = s->v[1] = s->v[2] = INT32_MIN; s->n = 0;),
           (int32_t z = x; s->n++; for (int k = 0; k < 3; k++) {
               const int32_t t = s->v[k];
               s->v[k]         = z > t ? z : t;
               z               = z > t ? t : z;
           }),
           (a->n += 100 / b->n; for (int j = 0; j < 3; j++) {
               int32_t x = b->v[j];
               for (int k = 0; k < 3; k++)
                   if (x > a->v[k]) {
                       int32_t t = a->v[k];
                       a->v[k]   = x;
                       x         = t;
                   }
           }),
           (for (int k = 0; k < 3; k++) y[k] = s->v[k] ^ s->n;))

RD_REDUCER(sequence, uint8_t, uint64_t, 1, (uint64_t h; uint64_t scale;), (s->h = 0; s->scale = 1;),
           (if (x == 3) continue; s->h = s->h * 0x9e3779b97f4a7c15u + x + 1;
            s->scale *= 0x9e3779b97f4a7c15u;),
           (a->h = a->h * b->scale + b->h; a->scale *= b->scale;), (y[0] = s->h;))

/* A state of 256 bytes, and a type of its own; results are f16. */
RD_REDUCER(histogram, int32_t, int16_t, 8, (struct { int32_t at[64]; } of;),
           (memset(s, 0, sizeof *s);), (s->of.at[(uint32_t)x % 64]++;),
           (for (int k = 0; k < 64; k++) a->of.at[k] += b->of.at[k];),
           (for (int k = 0; k < 8; k++) y[k] = (int16_t)(s->of.at[k] + 3 * s->of.at[k + 40]);))

RD_REDUCER(any_odd, _Bool, _Bool, 1, (_Bool odd; int8_t n;), (s->odd = 0; s->n = 3;),
           (s->odd = s->odd ^ x; s->n = (int8_t)(s->n * 5 + 1);),
           (a->odd = a->odd ^ b->odd; a->n = (int8_t)(a->n + 3 * b->n);),
           (y[0] = s->odd ^ (s->n & 1);))

/* Bits of halves. */
RD_REDUCER(halves, rd_f16, rd_f16, 1, (uint16_t low; uint16_t high;),
           (s->low = 0x7bff; s->high = 0;),
           (s->low = x.bits < s->low ? x.bits : s->low; s->high |= x.bits & 0x3ff;),
           (a->low = b->low < a->low ? b->low : a->low; a->high |= b->high;),
           (y[0].bits = (uint16_t)(s->low ^ s->high) & 0x7bff;))
/* clang-format on */

/* A strict fold in C order, and no text: without merge, and with one. */
static void decay_init(void *s)
{
    *(double *)s = 1;
}

static void decay_step(void *s, int64_t n, const void *x, int64_t stride, int64_t i)
{
    const double *p = x;

    for (int64_t k = 0; k < n; k++)
        *(double *)s = 0.5 * *(double *)s + p[k * stride] * (double)((i + k) % 3);
}

static void decay_merge(void *a, const void *b)
{
    *(double *)a = 0.75 * *(double *)a + *(const double *)b;
}

static void decay_finish(const void *s, void *y)
{
    *(double *)y = *(const double *)s;
}

#define DECAY(...)                                                                         \
    {                                                                                      \
        .size = sizeof(rd_reducer), .n_out = 1, .in = RD_F64, .out = RD_F64,               \
        .state_size = sizeof(double), .init = decay_init, .step = decay_step, __VA_ARGS__, \
        .finish = decay_finish                                                             \
    }
static const rd_reducer decay   = DECAY(.name = "decay"),
                        meeting = DECAY(.name = "meeting", .merge = decay_merge),
                        texts   = DECAY(.name = "texts",
                                        .code = { "double v;", "s->v = 1;",
                                                  "s->v = 0.5 * s->v + x * (double)(i % 3);", NULL,
                                                  "y[0] = s->v;" });

static const rd_reducer *const own[] = { welford,  last_one,  affine,  five_smallest, three_largest,
                                         sequence, histogram, any_odd, halves,        nonzeros,
                                         &decay,   &meeting,  &texts };

/* Reducers from `first` on, a few at a time, of every form, with each extra that they take. */
static void agree_on_own(const fold_case *c, int first, int n)
{
    const layout   at    = layout_of(c->form, c->n);
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const bool     split = c->form == ALL || c->n > 100;
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, c->type, at.shape, ORDINARY);
    rd_reduce_opts opts;
    nest_batch     b = { 0 };

    nest_nans(&m, 0);
    opts      = options_of(&m, c, &at);
    opts.ddof = 0;
    snprintf(b.what, sizeof b.what, "own %d, %s, form %d, n %d, extra %d", first,
             rd_dtype_name(c->type), (int)c->form, (int)c->n, (int)c->with);
    for (int k = first; k < first + n; k++)
        nest_add(&b, rd_reduce_user(x, own[k % COUNT(own)], &opts));
    if (b.n)
        nest_agree(&b, split ? many_tasks : one_task, split ? COUNT(many_tasks) : 1);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(own_reducers)
{
    static const extra    all[]  = { PLAIN, MASK, SKIP_NAN, RARE_MASK };
    static const rd_dtype from[] = { RD_F32, RD_F64, RD_I32, RD_U8, RD_F16, RD_BOOL };

    for (int k = _i % STEP; k < N_FORMS * COUNT(all); k += STEP)
        if ((k / STEP + _i) % 3 == 0)
            agree_on_own(&(fold_case){ from[(k / 3 + _i) % COUNT(from)], (form)(k % N_FORMS),
                                       all[k / N_FORMS], sizes[(k + 3 * _i) % COUNT(sizes)] },
                         3 * _i, 4);
    nest_mostly();
}
END_TEST

/* Many blocks at a time, what is left of them, and tasks that share them. */
START_TEST(own_blocks_beside_each_other)
{
    static const int64_t long_sizes[] = { 2048, 2111, 4095, 9001 };

    for (int k = 0; k < COUNT(long_sizes); k++)
        agree_on_own(&(fold_case){ k % 2 ? RD_F64 : RD_F32, (k + _i) % 3 ? ALL : ROWS, PLAIN,
                                   long_sizes[k] },
                     3 * _i, 3);
    nest_mostly();
}
END_TEST

/* Rows of a few elements, which lie apart: of lengths that divide blocks, and of others; some rows
 * are left. */
START_TEST(own_rows_beside_each_other)
{
    static const int64_t  lengths[] = { 8, 5, 16, 7, 3, 20, 12, 128, 9, 1 };
    static const rd_dtype from[]    = { RD_F32, RD_F64, RD_I32, RD_U8, RD_F16 };
    const int64_t         k = lengths[_i], rows = k < 10 ? 1100 : 2300 / k + 210;
    const rd_mark         mark = rd_ctx_mark(ctx);
    tile_memory           m    = { 0 };
    rd_expr              *x    = nest_leaf(&m, from[_i % 5], RD_SHAPE(3, rows, k + 2), ORDINARY);
    nest_batch            b    = { 0 };

    nest_nans(&m, 0);
    x                    = rd_slice_axis(x, 2, 1, k + 1, 1);
    nest_seen.words      = "turn_word";
    nest_seen.with_words = 0;
    snprintf(b.what, sizeof b.what, "own reducers of rows of %d", (int)k);
    for (int r = 0; r < 3; r++) { /* one by one, as a loop with two folds stays as it is */
        const rd_reducer *const mine = own[r ? (3 * _i + r) % COUNT(own) : 1];

        nest_add(&b, rd_reduce(r % 2 ? rd_add(x, x) : x, mine, RD_DIMS(1, 2)));
        nest_agree(&b, many_tasks, COUNT(many_tasks));
    }
    ck_assert_msg(nest_seen.with_words > 0 || rd_cpu_vector() < 64, /* shorter ones turn nothing */
                  "no rows of %d go beside each other", (int)k);
    nest_seen.words = NULL;
    nest_mostly();
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

/* A text that names what only the caller's file has, and one whose struct is another: such reducers
 * are called. */
START_TEST(foreign_texts)
{
    static const rd_reducer foreign[] = {
        DECAY(.name = "foreign", .merge = decay_merge,
              .code = { "double v;", "s->v = FIRST_OF_MINE;",
                        "s->v = 0.5 * s->v + x * (double)(i % 3);", "a->v = 0.75 * a->v + b->v;",
                        "y[0] = s->v;" }),
        DECAY(.name = "larger", .merge = decay_merge,
              .code = { "double v, unused;", "s->v = 1;",
                        "s->v = 0.5 * s->v + x * (double)(i % 3);", "a->v = 0.75 * a->v + b->v;",
                        "y[0] = s->v;" }),
    };
    tile_memory m = { 0 };
    rd_expr    *x = nest_leaf(&m, RD_F64, RD_SHAPE(500, 70), ORDINARY);
    nest_batch  b = { .what = "foreign text" };

    nest_seen.may_fail = true;
    for (int axis = 0; axis < 2; axis++) {
        nest_add(&b, rd_reduce(x, &foreign[_i], RD_DIMS(axis)));
        nest_agree(&b, many_tasks, COUNT(many_tasks));
    }
    nest_add(&b, rd_reduce(x, &foreign[_i], RD_ALL));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    ck_assert_int_eq(nest_seen.nests, nest_seen.programs);
    tile_free(&m);
}
END_TEST

/* ---- Scans ------------------------------------------------------------------------------------- */
typedef struct scan_case {
    rd_dtype type;
    rd_shape shape;
    int      axis;
    bool     reverse, exclusive, masked;
} scan_case;

static void agree_on_scans(const scan_case *c)
{
    static const char *const names[] = { "sum", "prod", "min", "max", "argmin", "argmax" };
    static const char *const anew[]  = { "sum", "prod", "mean", "min", "max" };
    const rd_mark            mark    = rd_ctx_mark(ctx);
    tile_memory              m       = { 0 };
    rd_expr                 *x       = nest_leaf(&m, c->type, c->shape, ORDINARY);
    rd_reduce_opts           opts    = { .size = sizeof opts, .dims = RD_DIMS(c->axis) };
    nest_batch               b       = { 0 };

    snprintf(b.what, sizeof b.what, "scans of %s, %d x %d, axis %d%s%s%s", rd_dtype_name(c->type),
             (int)c->shape.at[0], c->shape.n > 1 ? (int)c->shape.at[1] : 1, c->axis,
             c->reverse ? ", reverse" : "", c->exclusive ? ", exclusive" : "",
             c->masked ? ", masked" : "");
    nest_nans(&m, 0);
    opts.reverse   = c->reverse;
    opts.exclusive = c->exclusive;
    if (c->masked)
        opts.where = nest_leaf(&m, RD_BOOL, c->shape, FLAGS);
    for (int k = 0; k < COUNT(names); k++)
        nest_add(&b, rd_scan_name(x, names[k], &opts));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    for (int k = 0; k < COUNT(own); k++)
        if (own[k]->n_out == 1 && k % 3 != (int)(c->shape.at[0] % 3))
            nest_add(&b, rd_scan_user(x, own[k], &opts));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    opts.restart = nest_leaf(&m, RD_BOOL, c->shape, FLAGS);
    for (int k = 0; k < (c->masked || c->exclusive ? 3 : COUNT(anew)); k++)
        nest_add(&b, rd_scan_name(x, anew[k], &opts));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    opts.restart = NULL;
    nest_add(&b, rd_sum(rd_scan_name(x, "sum", &opts), RD_DIMS(c->axis)));
    nest_add(&b, rd_scan_user(rd_scan_name(x, "max", &opts), &meeting, &opts));
    if (b.n)
        nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(scans)
{
    const scan_case cases[] = {
        { RD_F32, RD_SHAPE(65, 37), 0, false, false, false },
        { RD_F64, RD_SHAPE(7, 130), 1, false, false, false },
        { RD_F32, RD_SHAPE(9, 200), 1, true, false, true },
        { RD_I32, RD_SHAPE(129, 5), 0, true, true, false },
        { RD_F64, RD_SHAPE(4097), 0, false, true, false },
        { RD_F32, RD_SHAPE(12, 7), 1, false, true, true },
        { RD_U8, RD_SHAPE(64, 64), 0, false, false, true },
        { RD_F16, RD_SHAPE(3, 1), 1, true, true, false },
        { RD_F32, RD_SHAPE(1, 300), 0, false, true, true },
        { RD_F64, RD_SHAPE(200, 66), 0, true, true, true },
    };

    for (int k = 2 * _i; k < 2 * _i + 2 && _i % STEP == 0; k++)
        agree_on_scans(&cases[k]);
    if (_i % STEP == 0)
        nest_mostly();
}
END_TEST

/* A fold of several cells, of many lanes, in a strip along another axis: each cell its own result. */
START_TEST(folds_of_scans)
{
    tile_memory m = { 0 };
    rd_expr    *x = nest_leaf(&m, _i ? RD_F32 : RD_F64, RD_SHAPE(2, 16), ORDINARY);
    rd_expr    *y = rd_broadcast(rd_expand(x, 0), RD_SHAPE(2, 2, 16));
    nest_batch  b = { .what = "folds of scans" };

    y = rd_scan(rd_scan(y, "sum", RD_DIMS(0), .reverse = true), "max", RD_DIMS(2));
    y = rd_broadcast(rd_expand(y, 1), RD_SHAPE(2, 5, 2, 16));
    nest_add(&b, rd_max(rd_scan(y, "sum", RD_DIMS(1)), RD_DIMS(3)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* Totals of what a scan gives: lanes along several axes, of less than a block, of blocks and a rest,
 * of whole blocks. */
START_TEST(totals_of_scans)
{
    const rd_shape shapes[] = { RD_SHAPE(15, 10, 4), RD_SHAPE(9, 131, 5), RD_SHAPE(4, 64, 32) };
    tile_memory    m        = { 0 };
    rd_expr       *x        = nest_leaf(&m, _i % 2 ? RD_F32 : RD_F64, shapes[_i / 2], ORDINARY);
    nest_batch     b        = { .what = "totals of scans" };

    nest_add(&b, rd_mean(rd_scan(x, "prod", RD_DIMS(0)), RD_DIMS(0, 1)));
    nest_add(&b, rd_max(rd_scan(x, "sum", RD_DIMS(2)), RD_DIMS(0, 1, 2)));
    nest_add(&b, rd_sum(rd_scan(x, "sum", RD_DIMS(1)), RD_DIMS(0, 1, 2)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Users' functions -------------------------------------------------------------------------- */
static float bent(float x)
{
    return x > 1 ? 2 * x - 1 : x * x;
}

static double bent_wide(double x)
{
    return x > 1 ? 2 * x - 1 : x * x;
}

static float between(float x, float y)
{
    return x < y ? x + 0.25f * y : 3 * y;
}

RD_FN1(by_loops, x, bent((float)x) + 1)
RD_FN2(by_text, x, y, x > y ? sqrt(abs(x)) : exp(-y * y))

/* Fails at what is above a limit. */
typedef struct limit {
    float       most;
    const char *sentence;
} limit;

static const char *limited(void *user, int64_t n, const void *const *in, void *out)
{
    const limit *l = user;
    const float *x = in[0];
    int16_t     *y = out;

    for (int64_t i = 0; i < n; i++) {
        if (x[i] > l->most)
            return x[i] > 120 ? "above 120" : l->sentence;
        y[i] = (int16_t)(x[i] < 0 ? -1 : x[i] + 3);
    }
    return NULL;
}

static const char *mixed(void *user, int64_t n, const void *const *in, void *out)
{
    const rd_f16 *x = in[0], *y = in[1];
    rd_f16       *z = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        z[i].bits = (uint16_t)((x[i].bits ^ (y[i].bits >> 3)) & 0xbbff);
    return NULL;
}

START_TEST(calls)
{
    static const rd_dtype list[]  = { RD_F32, RD_F64, RD_F16, RD_I32 };
    static limit          no      = { INFINITY, "never" };
    const rd_dtype        type    = list[_i];
    const int64_t         n       = (int64_t[]){ 65, 200, 1, 17 }[_i];
    const rd_fn           narrow  = nest_function(limited, &no, 1, RD_F32, RD_I16);
    const rd_fn           halved  = nest_function(mixed, NULL, 2, RD_F16, RD_F16);
    tile_memory           m       = { 0 };
    rd_expr              *x       = nest_leaf(&m, type, RD_SHAPE(9, n), ORDINARY);
    rd_expr              *y       = nest_leaf(&m, type, RD_SHAPE(9, 1), ORDINARY);
    rd_expr              *flipped = rd_flip(x, RD_DIMS(1));
    nest_batch            b       = { 0 };

    snprintf(b.what, sizeof b.what, "calls of %s, n %d", rd_dtype_name(type), (int)n);
    nest_add(&b, rd_map(x, bent));
    nest_add(&b, rd_map(flipped, bent_wide));
    nest_add(&b, rd_map2(x, y, between));
    nest_add(&b, rd_map2(y, flipped, by_text));
    nest_add(&b, rd_map(rd_slice(x, "::2, ::3"), by_loops));
    nest_add(&b, rd_map(x, &narrow));
    nest_add(&b, rd_map2(x, y, &halved));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(rd_map(x, bent), RD_DIMS(0)));
    nest_add(&b, rd_max(rd_map(rd_mul(x, y), bent_wide), RD_DIMS(1)));
    nest_add(&b, rd_reduce(rd_map2(x, y, between), welford, RD_DIMS(1)));
    nest_add(&b, rd_map(rd_sum(rd_map(x, &narrow), RD_DIMS(1)), bent));
    nest_add(&b, rd_map(rd_sum(x, RD_ALL), bent));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* The first that fails in the reference's order is told, by whichever function it is. */
START_TEST(failing_calls)
{
    static limit  low = { 50, "above 50" }, high = { 90, "above 90" };
    const rd_fn   f = nest_function(limited, &low, 1, RD_F32, RD_I16);
    const rd_fn   g = nest_function(limited, &high, 1, RD_F32, RD_I16);
    const int64_t n = 131, places[][2] = { { 3, 40 }, { 40, 3 }, { 130, 0 }, { 5, 5 }, { 64, 63 } };
    tile_memory   m = { 0 };
    rd_expr      *x = nest_leaf(&m, RD_F32, RD_SHAPE(7, n), ORDINARY);
    float        *v = (float *)(void *)m.slot[0].before;
    nest_batch    b = { .what = "failing calls" };

    for (int64_t i = 0; i < 7 * n; i++)
        v[i] = (float)(i % 41);
    v[3 * n + places[_i][0]] = 60;
    v[3 * n + places[_i][1]] = -95;
    v[5 * n]                 = 125;
    nest_add(&b, rd_map(x, &f));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_add(rd_map(rd_neg(x), &g), rd_map(x, &f)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(rd_map(x, &f), RD_DIMS(1)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(rd_map(rd_neg(x), &g), RD_DIMS(0)));
    nest_add(&b, rd_map(rd_sum(x, RD_DIMS(1)), &g));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_map(rd_sum(x, RD_ALL), &f));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_mostly();
    tile_free(&m);
}
END_TEST

/* ---- Elements ---------------------------------------------------------------------------------- */
typedef rd_expr *unary(rd_expr *x);
typedef rd_expr *binary(rd_expr *x, rd_expr *y);

static unary *const of_one[] = {
    rd_neg,     rd_abs,     rd_sign,       rd_square,   rd_floor,    rd_ceil,     rd_round,
    rd_trunc,   rd_not,     rd_isnan,      rd_isfinite, rd_sqrt,     rd_exp,      rd_expm1,
    rd_log,     rd_log1p,   rd_log2,       rd_sin,      rd_cos,      rd_tan,      rd_tanh,
    rd_erf,     rd_asin,    rd_acos,       rd_atan,     rd_sinh,     rd_cosh,     rd_asinh,
    rd_acosh,   rd_atanh,   rd_exp2,       rd_exp10,    rd_log10,    rd_cbrt,     rd_erfc,
    rd_erfinv,  rd_tgamma,  rd_lgamma,     rd_gelu,     rd_sigmoid,  rd_silu,     rd_softplus,
    rd_digamma, rd_ndtr,    rd_reciprocal, rd_deg2rad,  rd_fraction, rd_exponent, rd_isinf,
    rd_signbit, rd_bit_not, rd_popcount,   rd_rad2deg
};
static binary *const of_two[] = {
    rd_add,    rd_sub,      rd_mul,        rd_div,         rd_minimum,   rd_maximum, rd_and,
    rd_or,     rd_xor,      rd_eq,         rd_ne,          rd_lt,        rd_le,      rd_gt,
    rd_ge,     rd_floordiv, rd_remainder,  rd_pow,         rd_atan2,     rd_hypot,   rd_fmin,
    rd_fmax,   rd_copysign, rd_heaviside,  rd_logaddexp,   rd_nextafter, rd_ldexp,   rd_bit_and,
    rd_bit_or, rd_bit_xor,  rd_shift_left, rd_shift_right, rd_gcd,       rd_lcm,     rd_philox
};
static const int64_t strips[] = { 17, 1, 64, 15, 200, 16, 65 };

enum { OF_A_PROGRAM = 11, UNARY = COUNT(of_one), BINARY = COUNT(of_two) };

/* Operators [from, to) of the two lists, on a matrix whose rows are strips. */
static void agree_on_operators(rd_dtype type, int from, int to, int64_t n)
{
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const rd_shape shape = RD_SHAPE(3, n);
    tile_memory    m     = { 0 };
    rd_expr       *x     = nest_leaf(&m, type, shape, UGLY);
    rd_expr       *y     = nest_leaf(&m, type, shape, UGLY);
    nest_batch     b     = { 0 };

    snprintf(b.what, sizeof b.what, "operators %d to %d of %s, n %d", from, to, rd_dtype_name(type),
             (int)n);
    for (int k = from; k < to && k < UNARY + BINARY; k++)
        nest_add(&b, k < UNARY ? of_one[k](x) : of_two[k - UNARY](x, y));
    if (b.n)
        nest_agree(&b, one_task, 1);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(operators)
{
    for (int k = _i % STEP; k * OF_A_PROGRAM < UNARY + BINARY; k += STEP)
        agree_on_operators(types[_i], k * OF_A_PROGRAM, (k + 1) * OF_A_PROGRAM,
                           strips[(k + 2 * _i) % COUNT(strips)]);
    nest_mostly();
}
END_TEST

/* The short list, by strips of every length. */
START_TEST(lengths_of_strips)
{
    for (int t = _i; t < COUNT(types) && _i % STEP == 0; t += COUNT(strips))
        agree_on_operators(types[t], UNARY, UNARY + OF_A_PROGRAM, strips[_i]);
}
END_TEST

/* To all types, and by way of ints back. */
START_TEST(casts)
{
    static const rd_dtype all[] = { RD_BOOL, RD_I8,  RD_I16, RD_I32,  RD_I64, RD_U8,  RD_U16,
                                    RD_U32,  RD_U64, RD_F16, RD_BF16, RD_F8,  RD_F32, RD_F64 };
    const rd_dtype        from  = all[_i];
    tile_memory           m     = { 0 };
    rd_expr              *x = nest_leaf(&m, from, RD_SHAPE(3, strips[_i % COUNT(strips)]), UGLY);
    nest_batch            b = { 0 };

    snprintf(b.what, sizeof b.what, "casts of %s", rd_dtype_name(from));
    for (int k = 0; k < COUNT(all); k++)
        nest_add(&b, rd_cast(x, all[k]));
    nest_agree(&b, one_task, 1);
    for (int k = _i % 2; k < COUNT(all) && !SANITIZED; k += 2)
        nest_add(&b, rd_cast(rd_cast(x, all[k]), from));
    if (b.n)
        nest_agree(&b, one_task, 1);
    tile_free(&m);
}
END_TEST

/* To a narrower float and back, of neighbours that a compiler computes together: where a sum or a
 * product follows, gcc 12 forgets to round, unless it is told not to look for neighbours. */
static const struct {
    rd_dtype from, by;
} rounded[] = { { RD_F64, RD_F32 },  { RD_F64, RD_F16 }, { RD_F64, RD_BF16 }, { RD_F32, RD_F16 },
                { RD_F32, RD_BF16 }, { RD_I64, RD_F32 }, { RD_I64, RD_F16 },  { RD_U64, RD_F32 } };
static const rd_shape short_rows[] = { { .n = 2, .at = { 5, 2 } }, { .n = 2, .at = { 3, 4 } },
                                       { .n = 1, .at = { 2 } },    { .n = 2, .at = { 2, 3 } },
                                       { .n = 2, .at = { 3, 8 } }, { .n = 2, .at = { 70, 2 } },
                                       { .n = 2, .at = { 2, 70 } } };

static void agree_on_rounding(int which, rd_shape shape)
{
    const rd_mark  mark = rd_ctx_mark(ctx);
    const rd_dtype from = rounded[which].from;
    tile_memory    m    = { 0 };
    rd_expr *const x    = nest_leaf(&m, from, shape, ORDINARY);
    rd_expr *const z    = nest_leaf(&m, RD_F64, shape, ORDINARY);
    rd_expr *const wide = rd_mul(rd_cast(x, RD_F64), rd_num(ctx, 1.0 / 3));
    rd_expr *const x3 =
        rd_dtype_kind(from) == RD_KIND_FLOAT ? rd_mul(x, rd_cast(rd_num(ctx, 1.0 / 3), from)) : x;
    rd_expr *const back = rd_cast(rd_cast(x3, rounded[which].by), RD_F64);
    nest_batch     b = { 0 }, both = { 0 };

    snprintf(b.what, sizeof b.what, "%s by %s, shape %d of %d", rd_dtype_name(from),
             rd_dtype_name(rounded[which].by), which, (int)shape.at[shape.n - 1]);
    nest_add(&b, rd_mul(back, z));
    nest_add(&b, rd_add(back, z));
    nest_add(&b, rd_sub(rd_cast(x3, RD_F64), back));
    nest_add(&b, rd_square(back));
    nest_add(&b, rd_sum(rd_mul(back, z), RD_DIMS(shape.n - 1)));
    nest_add(&b, rd_sum(back, RD_DIMS(0)));
    nest_add(&b, rd_max(rd_sub(z, back), RD_DIMS(0)));
    nest_add(&b, rd_add(back, rd_cast(rd_cast(wide, rounded[which].by), RD_F64)));
    for (int k = 0; k < b.n; k++) /* the batch is empty after either */
        both.y[k] = b.y[k];
    both.n = b.n;
    memcpy(both.what, b.what, sizeof both.what);
    nest_agree(&b, one_task, 1);
    nest_agree_on_tiles(&both, one_task, 1);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(rounded_neighbours)
{
    agree_on_rounding(0, short_rows[_i]);
    agree_on_rounding(1 + _i, short_rows[3 * _i % COUNT(short_rows)]);
}
END_TEST

START_TEST(choices)
{
    const rd_dtype type = types[2 * _i];
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(5, 65), UGLY);
    rd_expr       *y    = nest_leaf(&m, type, RD_SHAPE(5, 65), UGLY);
    rd_expr       *c    = nest_leaf(&m, RD_BOOL, RD_SHAPE(65), FLAGS);
    nest_batch     b    = { .what = "choices" };

    nest_add(&b, rd_where(c, x, y));
    nest_add(&b, rd_where(rd_lt(x, y), rd_add(x, y), y));
    nest_add(&b, rd_clip(x, rd_cast(rd_int(ctx, 1), type), y));
    nest_add(&b, rd_add(rd_coord(x, 1), rd_coord(x, 0)));
    nest_agree(&b, one_task, 1);
    tile_free(&m);
}
END_TEST

/* ---- Layouts, gathers, pairs ------------------------------------------------------------------- */
START_TEST(layouts)
{
    const rd_dtype type = types[_i * 3 + 1];
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(35, 70), ORDINARY);
    rd_expr       *y    = nest_leaf(&m, type, RD_SHAPE(70), UGLY);
    rd_expr       *z    = nest_leaf(&m, type, RD_SHAPE(35, 1), ORDINARY);
    nest_batch     b    = { 0 };

    snprintf(b.what, sizeof b.what, "layouts of %s", rd_dtype_name(type));
    nest_add(&b, rd_maximum(rd_flip(x, RD_DIMS(1)), x));
    nest_add(&b, rd_maximum(rd_flip(x, RD_DIMS(0)), z));
    nest_add(&b, rd_minimum(rd_slice(x, ":, ::3"), rd_slice(x, ":, 1:25")));
    nest_add(&b, rd_transpose(rd_minimum(x, y)));
    nest_add(&b, rd_minimum(rd_slice(x, "::2, 35:"), rd_transpose(rd_slice(x, ":, ::4"))));
    nest_agree(&b, one_task, 1);
    nest_add(&b, rd_max(rd_window(y, 0, 5, 1), RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_diagonal(x, 0, 1, 3), RD_ALL));
    nest_add(&b, rd_sum(rd_flip(x, RD_DIMS(0)), RD_DIMS(0)));
    nest_add(&b, rd_sum(rd_slice(x, ":, ::-3"), RD_DIMS(1)));
    nest_add(&b, rd_argmax(rd_flip(x, RD_DIMS(1)), RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_broadcast(y, RD_SHAPE(9, 70)), RD_ALL));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
}
END_TEST

/* One index that is outside, at the place; -1: none.  u8 cannot be below its axis. */
static void gather(rd_dtype type, int64_t n, int64_t place, int64_t bad)
{
    enum { ROWS_OF_X = 50 };
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    rd_expr      *x    = nest_leaf(&m, RD_F32, RD_SHAPE(ROWS_OF_X, 4), ORDINARY);
    rd_expr      *at   = nest_leaf_of(&m, tile_indices(&m, type, n, ROWS_OF_X), RD_SHAPE(n));
    nest_batch    b    = { 0 };

    snprintf(b.what, sizeof b.what, "gather by %s, index %d at %d of %d", rd_dtype_name(type),
             (int)bad, (int)place, (int)n);
    if (place >= 0)
        rd_word_store(m.slot[1].before + place * rd_dtype_size(type), type,
                      rd_word_from_int(bad, type));
    nest_add(&b, rd_take(rd_select(x, 1, 2), 0, at));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(rd_take(x, 0, at), RD_DIMS(0)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(gathers)
{
    const rd_dtype type  = (rd_dtype[]){ RD_I64, RD_I32, RD_U8, RD_U64 }[_i];
    const bool     below = rd_dtype_kind(type) == RD_KIND_INT;

    gather(type, 65, -1, 0);
    gather(type, 65, 64, below ? -1 : 49);
    gather(type, 65, 3, below ? -50 : 0);
    gather(type, 65, 0, below ? -51 : 50);
    gather(type, 65, 17, 77);
    gather(type, 65, 64, 50);
    gather(type, 300, 299, below ? -100 : 200);
    nest_mostly();
}
END_TEST

START_TEST(pairs)
{
    const rd_dtype type = _i % 2 ? RD_F64 : RD_F32;
    const int64_t  n = 37, k = 1 + 129 * (_i / 2), d = 3 + 2 * _i;
    tile_memory    m    = { 0 };
    rd_expr       *x    = nest_leaf(&m, type, RD_SHAPE(n, d), ORDINARY);
    rd_expr       *y    = nest_leaf(&m, type, RD_SHAPE(k, d), ORDINARY);
    rd_expr       *diff = rd_square(rd_sub(rd_expand(x, 1), rd_expand(y, 0)));
    rd_expr       *far  = rd_sum(diff, RD_DIMS(2));
    nest_batch     b    = { .what = "pairs" };

    nest_add(&b, far);
    nest_add(&b, rd_min(far, RD_DIMS(1)));
    nest_add(&b, rd_argmin(far, RD_DIMS(1)));
    nest_add(&b, rd_sum(rd_exp(rd_neg(far)), RD_DIMS(1)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    nest_add(&b, rd_sum(rd_mul(rd_expand(x, 1), rd_expand(y, 0)), RD_DIMS(2)));
    nest_agree(&b, many_tasks, COUNT(many_tasks));
    tile_free(&m);
}
END_TEST

/* Other sets of kernels are other vectors. */
START_TEST(vectors)
{
    const layout at = layout_of(ROWS, 4097);
    tile_memory  m  = { 0 };
    rd_expr     *x  = nest_leaf(&m, RD_F32, at.shape, ORDINARY);
    nest_batch   b  = { .what = "vectors" };

    for (int isa = 1; isa < isa_count(); isa++) {
        const rd_reduce_opts opts = { .size = sizeof opts, .dims = at.dims };

        add_folds(&b, x, &opts, 0, COUNT(reducers));
        nest_add(&b, rd_exp(x));
        nest_agree_by(&b, isa, many_tasks, COUNT(many_tasks));
    }
    tile_free(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codegen");
    TCase *tests = tcase_create("nests");

    tcase_add_checked_fixture(tests, begin, nest_end);
    suite_add_compiled(tests, folds, 0, COUNT(types));
    suite_add_compiled(tests, sizes_of_folds, 0, 2);
    suite_add_compiled(tests, rests_of_rows, 0, SANITIZED ? 2 : 6);
    suite_add_compiled(tests, accuracies, 0, SANITIZED ? 1 : N_FORMS / 2);
    suite_add_compiled(tests, large_ints, 0, 2);
    suite_add_compiled(tests, different_lanes, 0, 3);
    suite_add_compiled(tests, first_of_bools, 0, SANITIZED ? 1 : 4);
    suite_add_compiled(tests, shares, 0, 2);
    suite_add_compiled(tests, operators, 0, COUNT(types));
    suite_add_compiled(tests, lengths_of_strips, 0, COUNT(strips));
    suite_add_compiled(tests, casts, 0, 14);
    suite_add_compiled(tests, rounded_neighbours, 0, COUNT(short_rows));
    suite_add_compiled(tests, choices, 0, (COUNT(types) + 1) / 2);
    suite_add_compiled(tests, layouts, 0, COUNT(types) / 3);
    suite_add_compiled(tests, gathers, 0, 4);
    suite_add_compiled(tests, pairs, 0, 4);
    tcase_add_test(tests, vectors);
    suite_add_tcase(suite, tests);

    TCase *users = tcase_create("users");

    tcase_add_checked_fixture(users, begin, nest_end);
    suite_add_compiled(users, own_reducers, 0, 5);
    suite_add_compiled(users, own_blocks_beside_each_other, 0, 4);
    suite_add_compiled(users, own_rows_beside_each_other, 0, 10);
    suite_add_compiled(users, foreign_texts, 0, 2);
    suite_add_compiled(users, calls, 0, 4);
    suite_add_compiled(users, failing_calls, 0, 5);
    suite_add_tcase(suite, users);

    TCase *all_so_far = tcase_create("scans");

    tcase_add_checked_fixture(all_so_far, begin, nest_end);
    suite_add_compiled(all_so_far, scans, 0, 5);
    suite_add_compiled(all_so_far, folds_of_scans, 0, 2);
    suite_add_compiled(all_so_far, totals_of_scans, 0, 6);
    suite_add_tcase(suite, all_so_far);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
