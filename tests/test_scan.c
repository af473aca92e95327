/* test_scan.c - running results: their definition, and every interpreter against it. */
#include "dirt.h"
#include "eval/plan.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/reference/node.h"
#include "programs.h"
#include "values.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const isas[] = { "scalar", "baseline", "avx2", "avx512" };

/* ---- The definition, in so many words -------------------------------------------------------- */
enum { MOST = 80000, NODE = 32, STEPS = 64 };
#define STEP (SANITIZED ? 23 : suite_long_part(3))

static rd_word x[MOST];
static bool    mask[MOST];

typedef struct definition {
    const rd_fold *fold;
    rd_node_info   node;
    bool           masked;
    int64_t        first, stride; /* element k of the scan is x[first + k stride] */
} definition;

/* Elements [lo, lo + n) of a block. */
static void prefix_of(const definition *d, int64_t lo, int64_t n, char *node)
{
    _Alignas(16) char right[NODE];
    int64_t           half = 1;

    rd_node_clear(node);
    if (d->fold->prefix == RD_PREFIX_LEFT || n < 2) {
        for (int64_t k = lo; k < lo + n; k++)
            if (!d->masked || mask[d->first + k * d->stride])
                rd_node_step(&d->node, node, x[d->first + k * d->stride],
                             rd_word_from_int(1, d->fold->type), 0);
        return;
    }
    while (half * 2 < n)
        half *= 2;
    prefix_of(d, lo, half, node);
    prefix_of(d, lo + half, n - half, right);
    rd_node_merge_in_block(&d->node, node, right);
}

static bool is_empty(const char *node)
{
    int64_t n;

    memcpy(&n, node, sizeof n);
    return n == 0;
}

static double number_in(const definition *d, const char *node)
{
    return rd_word_to_double(*(const rd_word *)(const void *)(node + d->node.state), d->fold->type);
}

/* n blocks from number k on, a power of two, of a sum of floats. */
static double node_of(const definition *d, int64_t k, int64_t n)
{
    _Alignas(16) char part[NODE];

    if (n > 1)
        return node_of(d, k, n / 2) + node_of(d, k + n / 2, n / 2);
    prefix_of(d, k * STEPS, STEPS, part);
    return is_empty(part) ? -0.0 : number_in(d, part);
}

/* The first n blocks: nodes that cover them, the largest first. */
static double before(const definition *d, int64_t n)
{
    double  all = -0.0;
    int64_t k   = 0;

    for (int64_t size = INT64_C(1) << 40; size > 0; size /= 2)
        if (n & size) {
            all += node_of(d, k, size);
            k += size;
        }
    return all;
}

/* A result: additions in the type of the elements, of f32 in two words. */
static double result(const definition *d, double all, double prefix)
{
    const float hi = all > FLT_MAX ? FLT_MAX : all < -FLT_MAX ? -FLT_MAX : (float)all;
    const float lo = hi != all ? (float)(all - hi) : -0.0F;

    return d->fold->type == RD_F64 ? all + prefix : (double)(hi + (lo + (float)prefix));
}

/* Results 0 .. n of the scan. */
static void define(const definition *d, int64_t n, rd_word *y)
{
    const bool floats =
        d->fold->reducer == RD_RED_sum && rd_dtype_kind(d->fold->type) == RD_KIND_FLOAT;
    const bool        exclusive = d->fold->exclusive;
    _Alignas(16) char whole[NODE], part[NODE], blocks[NODE], spare[NODE];
    double            all = -0.0;

    rd_node_clear(blocks);
    for (int64_t k = 0; k < n; k++) {
        const int64_t first = k / STEPS * STEPS;

        if (k == first && k > 0) {
            prefix_of(d, first - STEPS, STEPS, part);
            all = before(d, first / STEPS);
            rd_node_merge_in_block(&d->node, blocks, part);
        }
        prefix_of(d, first, k - first + !exclusive, part);
        rd_node_copy(&d->node, whole, blocks);
        rd_node_merge_in_block(&d->node, whole, part);
        rd_node_finish(&d->node, whole, spare, &y[k]);
        if (floats && !is_empty(whole))
            y[k] = rd_word_from_double(result(d, all, is_empty(part) ? -0.0 : number_in(d, part)),
                                       d->fold->type);
    }
}

/* ---- Programs -------------------------------------------------------------------------------- */
typedef struct scan_case {
    const char   *what;
    rd_reducer_id reducer;
    rd_dtype      type;
    double        least, most;
    int           power; /* some are this power of 2 or its root, and later taken off; 0: none */
} scan_case;

static const scan_case cases[] = {
    { "sum f32", RD_RED_sum, RD_F32, -1, 1, 0 },
    { "sum f64", RD_RED_sum, RD_F64, -1, 1, 0 },
    /* what is left beside a large number shows in which order they were added */
    { "sum of far f32", RD_RED_sum, RD_F32, -1, 1, 70 },
    { "sum of far f64", RD_RED_sum, RD_F64, -1, 1, 70 },
    { "sum of huge f32", RD_RED_sum, RD_F32, -3e37, 3e37, 0 }, /* blocks leave the range */
    { "sum i64", RD_RED_sum, RD_I64, -9e18, 9e18, 0 },
    { "sum u64", RD_RED_sum, RD_U64, 0, 1e19, 0 },
    { "prod f32", RD_RED_prod, RD_F32, 0.9, 1.1, 0 },
    { "prod f64", RD_RED_prod, RD_F64, 0.9, 1.1, 0 },
    { "prod i64", RD_RED_prod, RD_I64, -5, 5, 0 },
    { "min f32", RD_RED_min, RD_F32, -100, 100, 0 },
    { "min f64", RD_RED_min, RD_F64, -100, 100, 0 },
    { "min i64", RD_RED_min, RD_I64, -9e18, 9e18, 0 },
    { "max f32", RD_RED_max, RD_F32, -100, 100, 0 },
    { "max f64", RD_RED_max, RD_F64, -100, 100, 0 },
    { "max u64", RD_RED_max, RD_U64, 0, 1e19, 0 },
    { "any", RD_RED_any, RD_BOOL, 0, 1.02, 0 },
    { "all", RD_RED_all, RD_BOOL, 0.9, 2, 0 },
    { "bits_and i64", RD_RED_bits_and, RD_I64, -9e18, 9e18, 0 },
    { "bits_or u8", RD_RED_bits_or, RD_U8, 0, 255, 0 },
    { "bits_xor i32", RD_RED_bits_xor, RD_I32, -2e9, 2e9, 0 },
    { "max bool", RD_RED_max, RD_BOOL, 0, 1.02, 0 },
};

/* Numbers, some of them zeros of either sign, and at times NaN or infinity: more NaN would hide all
 * else. */
static void fill(const scan_case *c, int64_t n, bool special)
{
    static const double rare[] = { 0.0, -0.0, INFINITY, (double)NAN };
    const bool          floats = rd_dtype_kind(c->type) == RD_KIND_FLOAT;
    double              sign = 1, half_sign = 1;

    for (int64_t k = 0; k < n; k++) {
        double v = floor(c->least + (c->most - c->least) * (rand() / (RAND_MAX + 1.0)));

        if (floats)
            v = c->least + (c->most - c->least) * (rand() / (RAND_MAX + 1.0));
        if (c->power && rand() % 100 == 0)
            v = ldexp((sign = -sign), c->power);
        if (c->power && rand() % 100 == 0)
            v = ldexp((half_sign = -half_sign), c->power / 2);
        if (floats && special && k > 200 && rand() % 50 == 0)
            v = rare[rand() % (k > 1000 ? 4 : 2)];
        x[k]    = rd_word_from_double(v, c->type);
        mask[k] = rand() % 3 != 0;
    }
}

/* rows scans along memory, or with `across` down its columns: all along axis 1, whose extent is
 * n. */
typedef struct layout {
    int64_t n, rows;
    bool    across;
} layout;

static rd_fold fold_of(const scan_case *c, const layout *l, rd_prefix prefix, bool exclusive,
                       bool reverse)
{
    rd_fold fold = { .reducer     = c->reducer,
                     .law         = RD_LAW_commutes,
                     .type        = c->type,
                     .out         = c->type,
                     .scan        = true,
                     .exclusive   = exclusive,
                     .reverse     = reverse,
                     .prefix      = prefix,
                     .identity    = true,
                     .n_out       = 1,
                     .lanes       = 1,
                     .steps       = STEPS,
                     .lane_extent = 1,
                     .n_block     = (l->n + STEPS - 1) / STEPS,
                     .lane_line   = { .offset = reverse ? l->n - 1 : 0,
                                      .n_add  = 1,
                                      .add    = { { .axis = 1, .coef = reverse ? -1 : 1 } } },
                     .n_cell      = l->across ? l->rows : 1 };

    if (l->across)
        fold.cell = (rd_address){ .n_add = 1, .add = { { .axis = 0, .coef = 1 } } };
    return fold;
}

static int32_t place(builder *b, const layout *l, int32_t slot, rd_dtype type)
{
    return builder_address(
        b, (rd_address){ .slot  = slot,
                         .type  = type,
                         .n_add = 2,
                         .add   = { { .axis = 0, .coef = l->across ? 1 : l->n },
                                    { .axis = 1, .coef = l->across ? l->rows : 1 } } });
}

static void run(const rd_fold *fold, const layout *l, bool masked, const void *in, void *y)
{
    const int64_t extent[] = { l->rows, l->n };
    void *const   slots[]  = { (void *)in, mask, y };
    const rd_loop rows = { .axis = 0 }, elements = { .axis = 1, .backwards = fold->reverse };
    builder       b;

    builder_init(&b, 2, extent);
    builder_fold(&b, *fold);
    if (l->across)
        builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, l->across ? elements : rows);
    if (!l->across)
        builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, l->across ? rows : elements);
    builder_add(&b, (rd_inst){ .kind = RD_I_LOAD,
                               .type = fold->type,
                               .dst  = 0,
                               .arg  = place(&b, l, 0, fold->type) });
    builder_add(
        &b,
        (rd_inst){ .kind = RD_I_LOAD, .type = RD_BOOL, .dst = 1, .arg = place(&b, l, 1, RD_BOOL) });
    builder_add(
        &b,
        (rd_inst){ .kind = RD_I_SCAN, .type = fold->out, .dst = 2, .b = -1, .c = masked ? 1 : -1 });
    builder_add(
        &b, (rd_inst){
                .kind = RD_I_STORE, .type = fold->out, .a = 2, .arg = place(&b, l, 2, fold->out) });
    builder_end(&b);
    builder_end(&b);
    ck_assert_int_eq(run_program(builder_done(&b), slots).status, RD_OK);
}

/* Which NaN a sum of two gives is the compiler's choice. */
static bool same(rd_word want, const void *y, rd_dtype type)
{
    char bits[8];

    rd_word_store(bits, type, want);
    return memcmp(bits, y, (size_t)rd_dtype_size(type)) == 0 ||
           (isnan(rd_word_to_double(want, type)) &&
            isnan(rd_word_to_double(rd_word_load(y, type), type)));
}

static void compare_row(const scan_case *c, const layout *l, const definition *d,
                        const rd_word *want, const char *y, const char *isa, int64_t row)
{
    for (int64_t k = 0; k < l->n; k++)
        if (!same(want[k], y + (d->first + k * d->stride) * rd_dtype_size(c->type), c->type))
            ck_abort_msg("%s, %s, %lld x %lld%s, prefix %d%s%s%s: result %lld of %lld", c->what,
                         isa, (long long)l->rows, (long long)l->n, l->across ? " across" : "",
                         (int)d->fold->prefix, d->fold->exclusive ? ", exclusive" : "",
                         d->fold->reverse ? ", reverse" : "", d->masked ? ", masked" : "",
                         (long long)k, (long long)row);
}

static void compare(const scan_case *c, const layout *l, const rd_fold *fold, bool masked)
{
    static rd_word want[MOST];
    static char    in[8 * MOST], y[COUNT(isas)][8 * MOST];
    const int64_t  size   = rd_dtype_size(c->type);
    const int64_t  stride = (l->across ? l->rows : 1) * (fold->reverse ? -1 : 1);
    definition     d      = {
                 .fold = fold, .node = rd_node_info_of(fold), .masked = masked, .stride = stride
    };

    for (int64_t k = 0; k < l->n * l->rows; k++)
        rd_word_store(in + k * size, c->type, x[k]);
    for (size_t isa = 0; isa < COUNT(isas); isa++)
        if (rd_cpu_force(isas[isa]))
            run(fold, l, masked, in, y[isa]);
    for (int64_t r = 0; r < l->rows; r++) {
        d.first = (l->across ? r : r * l->n) - (fold->reverse ? (l->n - 1) * stride : 0);
        define(&d, l->n, want);
        for (size_t isa = 0; isa < COUNT(isas); isa++)
            if (rd_cpu_force(isas[isa]))
                compare_row(c, l, &d, want, y[isa], isas[isa], r);
    }
    rd_cpu_force(NULL);
}

static const layout layouts[] = {
    { 1, 1, false },    { 2, 3, false },    { 63, 5, false },  { 64, 3, false },
    { 65, 4, false },   { 127, 1, false },  { 200, 7, false }, { 1000, 2, false },
    { 4095, 1, false }, { 4097, 2, false }, { 1, 70, true },   { 63, 9, true },
    { 64, 33, true },   { 65, 70, true },   { 300, 17, true }, { 130, 64, true },
    { 130, 600, true },
};

START_TEST(interpreters_agree_with_the_definition)
{
    const scan_case *c = &cases[_i];

    srand((unsigned)_i + 1);
    for (size_t k = 0; k < COUNT(layouts); k++)
        for (int how = (int)k % STEP; how < 16; how += STEP) {
            const rd_fold fold = fold_of(c, &layouts[k], how & 1 ? RD_PREFIX_TREE : RD_PREFIX_LEFT,
                                         how & 2, how & 4);

            fill(c, layouts[k].n * layouts[k].rows, k % 2);
            compare(c, &layouts[k], &fold, how & 8);
        }
}
END_TEST

/* ---- Expressions ----------------------------------------------------------------------------- */
static void *evaluate(rd_expr *y, const char *isa, int64_t grains, int threads)
{
    const int64_t bytes = rd_points(y->rank, y->extent) * rd_dtype_size(y->type);
    void         *out   = malloc((size_t)bytes + 1);
    rd_array      into  = { .data = out, .type = y->type, .shape = rd_shape_of(y) };

    rd_cpu_force(isa);
    rd_plan *plan = rd_plan_make(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, &into }),
                                 &(rd_eval_opts){ .threads = threads });
    rd_cpu_force(NULL);
    ck_assert_msg(plan, "%s", rd_error_text(ctx));
    plan->task_grains = grains;
    memset(out, 0xa5, (size_t)bytes);
    ck_assert_msg(rd_plan_execute(plan, NULL, NULL, NULL, NULL) == RD_OK, "%s", rd_error_text(ctx));
    rd_plan_free(plan);
    return out;
}

static void same_everywhere(rd_expr *y, const char *what, int axis)
{
    ck_assert_msg(y, "%s", rd_error_text(ctx));
    const size_t bytes = (size_t)(rd_points(y->rank, y->extent) * rd_dtype_size(y->type));
    void        *first = evaluate(y, "scalar", 0, 1);

    for (size_t isa = 1; isa < COUNT(isas); isa++)
        for (int grains = 0; grains < 3 && rd_cpu_force(isas[isa]); grains++) {
            void *other = evaluate(y, isas[isa], grains, 1);

            ck_assert_msg(memcmp(first, other, bytes) == 0,
                          "%s along %d on %s, %d grains a task\n%s", what, axis, isas[isa], grains,
                          rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL));
            free(other);
        }
    free(first);
    rd_cpu_force(NULL);
}

static const rd_shape shapes[] = {
    { 1, 0, { 4097 } },   { 2, 0, { 65, 129 } },   { 2, 0, { 129, 65 } },  { 2, 0, { 1000, 3 } },
    { 2, 0, { 3, 700 } }, { 3, 0, { 20, 7, 33 } }, { 3, 0, { 3, 70, 2 } },
};

static const rd_dtype types[] = { RD_BOOL, RD_I8,  RD_I32, RD_I64, RD_U8,
                                  RD_U64,  RD_F32, RD_F64, RD_F16, RD_BF16 };

enum { N_DATA = 16384 };
static _Alignas(8) char data[8 * N_DATA];

static void fill_data(rd_dtype type)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    srand(5);
    for (int64_t k = 0; k < N_DATA; k++)
        rd_word_store(
            data + k * rd_dtype_size(type), type,
            rd_word_from_double(real ? rand() / (double)RAND_MAX + 0.5 : rand() % 100, type));
}

/* Element types, whole or a part, in either order of memory, in either direction. */
START_TEST(instruction_sets_and_tasks_change_no_bit)
{
    static const char *const names[] = { "sum", "prod", "min", "max" };
    const rd_dtype           type    = types[_i];

    fill_data(type);
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (int axis = 0; axis < shapes[s].n; axis++)
            for (int how = (_i + axis) % STEP; how < 8; how += STEP) {
                const rd_mark mark = rd_ctx_mark(ctx);
                rd_expr      *v    = rd_leaf(
                            ctx,
                            &(rd_array){ .in = data, .type = type, .shape = shapes[s], .order = how & 1 });

                same_everywhere(rd_scan(v, names[how / 2], RD_DIMS(axis)), names[how / 2], axis);
                same_everywhere(rd_scan(v, names[how / 2], RD_DIMS(axis), .reverse = true,
                                        .exclusive = how < 4),
                                "reverse", axis);
                same_everywhere(
                    rd_scan(rd_map(rd_flip(v, RD_DIMS(axis)), "x * 3"), "sum", RD_DIMS(axis)),
                    "flipped", axis);
                rd_ctx_release(ctx, mark);
            }
}
END_TEST

/* What is made of a scan of a (7, 12): maybe a new axis, a second scan, a sum. */
static const struct {
    const char *what;
    int         expand; /* -1: none    */
    const char *scan;   /* NULL: none  */
    int         axis;
    bool        reverse;
    rd_dims     sum; /* .n 0: none  */
} follow[] = {
    { "alone", -1, NULL, 0, false, { 0 } },
    { "sum of rows", -1, NULL, 0, false, { .n = 1, .axis = { 1 } } },
    { "sum of columns", -1, NULL, 0, false, { .n = 1, .axis = { 0 } } },
    { "scan of rows", -1, "sum", 1, false, { 0 } },
    { "sum of a scan of rows", -1, "max", 1, false, { .n = 1, .axis = { 1 } } },
    { "scan along one index", 1, "sum", 1, false, { 0 } },
    { "sum of a scan along one index", 1, "sum", 1, false, { .n = 2, .axis = { 1, 2 } } },
    { "columns of a scan along one index", 1, "max", 1, true, { .n = 1, .axis = { 0 } } },
    { "sum of a scan along a last index", 2, "sum", 2, true, { .n = 2, .axis = { 1, 2 } } },
};

static rd_expr *followed(rd_expr *y, size_t k)
{
    y = follow[k].expand >= 0 ? rd_expand(y, follow[k].expand) : y;
    y = follow[k].scan
            ? rd_scan(y, follow[k].scan, RD_DIMS(follow[k].axis), .reverse = follow[k].reverse)
            : y;
    return follow[k].sum.n ? rd_sum(y, follow[k].sum) : y;
}

/* Of what changes along both axes, one or none, as it is or computed. */
START_TEST(scans_of_what_does_not_change)
{
    static const char *const names[] = { "sum", "prod", "max" };

    rd_ctx_free(ctx);
    ctx = dirty_context(false);
    fill_data(types[_i]);
    for (unsigned how = 0; how < 64; how++)
        for (size_t k = how % STEP; k < COUNT(follow); k += STEP) {
            const rd_mark  mark = rd_ctx_mark(ctx);
            const unsigned name = (how + (unsigned)_i) % 3;
            const int      axis = how & 4 ? 1 : 0;
            rd_array       a    = { .in      = data,
                                    .type    = types[_i],
                                    .shape   = RD_SHAPE(7, 12),
                                    .strides = RD_STRIDES(how & 1 ? 0 : 12, how & 2 ? 0 : 1) };
            rd_expr       *v    = rd_leaf(ctx, &a);

            v = how & 8 ? rd_mul(v, v) : v;
            v = rd_scan(v, names[name], RD_DIMS(axis), .reverse = how & 16,
                        .exclusive = name < 2 && how & 32);
            same_everywhere(followed(v, k), follow[k].what, axis);
            rd_ctx_release(ctx, mark);
        }
}
END_TEST

/* What lies side by side decides, and only of the scan's own operand. */
START_TEST(axis_decides_the_prefix)
{
    static float memory[64 * 64];
    rd_expr     *v = rd_wrap(ctx, memory, RD_SHAPE(64, 64));
    const struct {
        rd_expr *y;
        bool     tree;
    } decided[] = {
        { rd_scan(v, "sum", RD_DIMS(1)), true },
        { rd_scan(v, "sum", RD_DIMS(0)), false },
        { rd_scan(rd_transpose(v), "sum", RD_DIMS(1)), false },
        { rd_scan(rd_transpose(v), "max", RD_DIMS(0)), true },
        { rd_scan(v, "sum", RD_DIMS(1), .accuracy = RD_SERIAL), false },
        { rd_scan(rd_add(v, rd_sum(v, RD_KEEP(0))), "sum", RD_DIMS(1)), true },
    };

    for (size_t k = 0; k < COUNT(decided); k++) {
        ck_assert_msg(decided[k].y, "%s", rd_error_text(ctx));
        const char *text = rd_explain(ctx, RD_RESULTS({ decided[k].y, NULL }), NULL);
        ck_assert_msg(!strstr(text, "prefixes by the tree") == !decided[k].tree, "%d: %s", (int)k,
                      text);
    }
}
END_TEST

/* 2^24 ones and more: a plain loop in f32 stops at 2^24. */
START_TEST(long_sums_are_exact)
{
    enum { N = (1 << 24) + 1000 };
    float   *ones = malloc(N * sizeof *ones), *y = malloc(N * sizeof *y);
    rd_array into = { .data = y, .type = RD_F32, .shape = RD_SHAPE(N) };

    ck_assert(ones && y);
    for (int k = 0; k < N; k++)
        ones[k] = 1;
    ck_assert(rd_eval(ctx, rd_scan(rd_wrap(ctx, ones, RD_SHAPE(N)), "sum", RD_DIMS(0)), &into) ==
              RD_OK);
    for (int k = 0; k < N; k++)
        if (y[k] != (float)(k + 1))
            ck_abort_msg("sum of %d ones: %.9g", k + 1, (double)y[k]);
    free(ones);
    free(y);
}
END_TEST

/* One half of the other axis at a time, so that no result goes past the caches, and all at once. */
static void by_halves(const float *in, int64_t rows, int64_t cols, int axis, bool exclusive,
                      float *y, int halves)
{
    const rd_strides strides = RD_STRIDES(cols, 1);

    for (int half = 0; half < halves; half++) {
        const int64_t first_row = axis ? rows * half / halves : 0,
                      first_col = axis ? 0 : cols * half / halves;
        const int64_t  at       = first_row * cols + first_col;
        const rd_shape shape = RD_SHAPE(axis ? rows / halves : rows, axis ? cols : cols / halves);
        rd_array into = { .data = y + at, .type = RD_F32, .shape = shape, .strides = strides };
        rd_expr *v    = rd_leaf(
               ctx, &(rd_array){ .in = in + at, .type = RD_F32, .shape = shape, .strides = strides });

        ck_assert(rd_eval(ctx, rd_scan(v, "sum", RD_DIMS(axis), .exclusive = exclusive), &into) ==
                  RD_OK);
    }
}

/* Results of 16 MiB and more go past the caches where their lines allow it. */
START_TEST(large_results_are_those_of_their_halves)
{
    enum { ROWS = 2100, COLS = 2080 };
    const int64_t cols = COLS - 2 * _i, bytes = ROWS * COLS * (int64_t)sizeof(float);
    float        *memory = aligned_alloc(64, 3 * (size_t)bytes), *whole = memory + ROWS * COLS,
          *parts = whole + ROWS * COLS;

    ck_assert(memory);
    for (int64_t k = 0; k < ROWS * COLS; k++)
        memory[k] = (float)rand() / (float)RAND_MAX;
    for (size_t isa = 0; isa < COUNT(isas); isa++)
        for (int how = 0; how < 4 && strcmp(isas[isa], "scalar") != 0 && rd_cpu_force(isas[isa]);
             how++) {
            by_halves(memory, ROWS, cols, how & 1, how & 2, whole, 1);
            by_halves(memory, ROWS, cols, how & 1, how & 2, parts, 2);
            ck_assert_msg(memcmp(whole, parts, (size_t)(ROWS * (cols)) * sizeof(float)) == 0,
                          "%s, %lld columns, axis %d, exclusive %d", isas[isa], (long long)cols,
                          how & 1, how / 2);
        }
    rd_cpu_force(NULL);
    free(memory);
}
END_TEST

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

int main(void)
{
    Suite   *suite  = suite_create("scan");
    TCase   *tc     = tcase_create("scan");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, interpreters_agree_with_the_definition, 0, COUNT(cases));
    tcase_add_loop_test(tc, instruction_sets_and_tasks_change_no_bit, 0, COUNT(types));
    tcase_add_loop_test(tc, scans_of_what_does_not_change, 0, COUNT(types));
    tcase_add_test(tc, axis_decides_the_prefix);
    tcase_add_test(tc, long_sums_are_exact);
    tcase_add_loop_test(tc, large_results_are_those_of_their_halves, 0, 2);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
