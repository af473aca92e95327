/* test_fold.c - the combine tree: its shape, its independence of tasks, and the reducers' numbers,
 * from every interpreter of this machine. */
#include "isa.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/reference/node.h"
#include "kernels/math/math.h"
#include "kernels/math/prefix_sums.h"
#include "programs.h"
#include "suite.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))
enum { MAX_N = 20000, MAX_OUT = 2 };

/* Not commutative: the polynomial hash of a sequence, whose order any mistake changes. */
RD_REDUCER(sequence_hash, uint8_t, uint64_t, 1, (uint64_t h; uint64_t scale;),
           (s->h = 0; s->scale = 1;),
           (s->h = s->h * 0x9e3779b97f4a7c15u + x + 1; s->scale *= 0x9e3779b97f4a7c15u;),
           (a->h = a->h * b->scale + b->h; a->scale *= b->scale;), (y[0] = s->h;))

/* Nor associative, being rounded: a product of affine maps c + 0.99 * ..., with the shape of its
 * tree in its bits. */
RD_REDUCER(affine, double, double, 2, (double slope; double shift;), (s->slope = 1; s->shift = 0;),
           (s->slope *= 0.999 + 1e-4 * x; s->shift = s->shift * 0.999 + x + 1e-9 * (double)i;),
           (a->shift = a->shift * b->slope + b->shift; a->slope *= b->slope;),
           (y[0] = s->slope; y[1] = s->shift;))

/* A serial one: no merge. */
static void logistic_init(void *s)
{
    *(double *)s = 0.5;
}

static void logistic_step(void *s, int64_t n, const void *x, int64_t stride, int64_t i)
{
    (void)i;
    for (int64_t k = 0; k < n; k++)
        *(double *)s =
            3.5 * *(double *)s * (1 - *(double *)s) + 1e-3 * ((const double *)x)[k * stride];
}

static void logistic_finish(const void *s, void *y)
{
    *(double *)y = *(const double *)s;
}

static const rd_reducer logistic = { .size       = sizeof(rd_reducer),
                                     .n_out      = 1,
                                     .in         = RD_F64,
                                     .out        = RD_F64,
                                     .state_size = 8,
                                     .name       = "logistic",
                                     .init       = logistic_init,
                                     .step       = logistic_step,
                                     .finish     = logistic_finish };

/* ---- Elements -------------------------------------------------------------------------------- */
typedef enum filling { MIXED, NEAR_ONE, SPECIALS, TIES, BITS, BYTES } filling;
typedef enum masking { NO_MASK, SOME, RARE, NOTHING } masking;

static rd_word  x[MAX_N], w[MAX_N];
static uint64_t mask[MAX_N];

static double element(filling how)
{
    static const double special[] = { 0.0, -0.0, 1, -1, 2 };
    const double        u         = rand() / (RAND_MAX + 1.0);

    switch (how) {
    case MIXED: return (u - 0.5) * pow(10, rand() % 9 - 4);
    case NEAR_ONE: return 1 + (u - 0.5) / 100;
    case SPECIALS: return rand() % 2000 == 0 ? (double)NAN : special[rand() % COUNT(special)];
    case TIES: return rand() % 4;
    case BITS: return rand() % 5000 == 0;
    case BYTES: break;
    }
    return rand() % 256;
}

static void fill(filling how, masking masked, rd_dtype type, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        x[k]    = rd_word_from_double(element(how), type);
        w[k]    = rd_word_from_double(rand() % 5, type);
        mask[k] = masked == NO_MASK || (masked == SOME && rand() % 3) ||
                  (masked == RARE && rand() % 500 == 0);
    }
}

/* ---- The fold of n elements as a program ----------------------------------------------------- */
typedef struct fold_case {
    const char       *what;
    rd_reducer_id     reducer;
    const rd_reducer *user;
    rd_dtype          type, out;
    bool              weighted;
    filling           how;
    int32_t           lanes; /* at most */
    int64_t           steps;
} fold_case;

static rd_fold fold_of(const fold_case *c, int32_t lanes, int64_t n)
{
    const bool serial = c->user && !c->user->merge;
    rd_fold    fold   = { .reducer = c->reducer,
                          .type    = c->type,
                          .out     = c->out,
                          .user    = c->user,
                          .ddof    = 1,
                          .n_out   = c->user ? c->user->n_out : rd_reducer_table[c->reducer].n_out,
                          .lanes   = lanes,
                          .steps   = serial ? INT64_MAX : c->steps,
                          .lane_extent = n,
                          .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                          .index       = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                          .n_cell      = 1,
                          .split       = !serial };

    fold.n_block = serial ? 1 : ((n + lanes - 1) / lanes + c->steps - 1) / c->steps;
    return fold;
}

/* One of the words x, w, mask in the type that it holds; words lie at axis 0 by row and axis 1 by
 * 1. */
static void load_word(builder *b, int32_t dst, int32_t slot, rd_dtype type, int64_t row,
                      int64_t col)
{
    const int64_t words = 8 / rd_dtype_size(type);

    builder_load_2(b, dst, slot, type, words * row, words * col, 0);
}

/* Slots: words x, w, mask, and the results. */
static void build_fold(builder *b, const rd_fold *fold, bool weighted, bool masked, int64_t n)
{
    builder_init(b, 1, &n);
    b->p.root = 0;
    builder_fold(b, *fold);
    builder_add(b, (rd_inst){ .kind = RD_I_START, .arg = 0 });
    builder_body(b);
    builder_loop(b, (rd_loop){ .kind = RD_LOOP_EACH, .axis = 0 });
    load_word(b, 0, 0, fold->type, 1, 0);
    load_word(b, 1, 1, fold->type, 1, 0);
    load_word(b, 2, 2, RD_BOOL, 1, 0);
    builder_add(
        b, (rd_inst){ .kind = RD_I_STEP, .a = 0, .b = weighted ? 1 : -1, .c = masked ? 2 : -1 });
    builder_end(b);
    builder_tail(b);
    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 4 });
    for (int32_t k = 0; k < fold->n_out; k++)
        builder_store(b, 4 + k, 3, fold->out, -1, 0, k * 8 / rd_dtype_size(fold->out));
}

/* Results are compared as memory: what a word has beside its type's bytes is cleared. */
static void clear_rest(rd_dtype type, rd_word *y, int n)
{
    for (int k = 0; k < n; k++) {
        rd_word word = { .u64 = 0 };
        rd_word_store(&word, type, y[k]);
        y[k] = word;
    }
}

/* In tasks of so many blocks; 0: one task. */
static void run_fold(builder *b, int64_t blocks, rd_word *y)
{
    static int64_t cut[MAX_N + 2];
    const rd_fold *fold    = &b->fold[0];
    const int64_t  n       = b->axis_extent[0];
    const int64_t  share   = blocks ? blocks * fold->lanes * fold->steps : n + 1;
    void *const    slots[] = { x, w, mask, y };
    int32_t        tasks   = 0;

    memset(y, 0, MAX_OUT * sizeof *y);
    for (int64_t lo = 0; lo == 0 || lo < n; lo += share)
        cut[tasks++] = lo;
    cut[tasks] = n;
    ck_assert_int_eq(run_tasks(builder_done(b), slots, cut, tasks).status, RD_OK);
}

/* ---- The definition, in so many words -------------------------------------------------------- */
/* Lane l has the elements at positions p with p mod lanes = l, in blocks of `steps` one after the
 * other.
 *
 *     B(k)       block k, its elements folded from the left in the fold's type, then made a node: a
 *                block's sum of f32 becomes f64, and stays so until the end, unless the fold is one
 *                step of several lanes
 *     T(lo, hi)  of one block B(lo), else merge(T(lo, lo + h), T(lo + h, hi)), h the largest power
 *                of two < hi - lo
 *
 * and the result is T(0, n_block) of all lanes, lane l merged with l + h for h = lanes/2 .. 1,
 * finished, and rounded to the type of the result.  A node without elements leaves the other one as
 * it is.  Sums s exp(m) have the greatest m of all lanes before they merge. */
typedef struct definition {
    const rd_fold *fold;
    rd_node_info   node;
    int64_t        n;
    bool           weighted, masked;
} definition;

enum { NODE = 320 };

/* B(block) of a lane. */
static void block_of(const definition *d, int32_t lane, int64_t block, char *node)
{
    const int64_t steps = d->fold->steps, rows = (d->n + d->fold->lanes - 1) / d->fold->lanes;
    const rd_word one = rd_word_from_int(1, d->fold->type);

    rd_node_clear(node);
    for (int64_t s = steps == INT64_MAX ? 0 : block * steps;
         s < rows && (s == 0 || s / steps == block); s++) {
        const int64_t k = s * d->fold->lanes + lane;
        if (k < d->n && (!d->masked || mask[k]))
            rd_node_step(&d->node, node, x[k], d->weighted ? w[k] : one, k);
    }
    rd_node_block(&d->node, node);
}

/* T(lo, hi), where blocks past the end have no elements. */
static void tree_of(const definition *d, int32_t lane, int64_t lo, int64_t hi, char *node)
{
    _Alignas(16) char right[NODE];
    int64_t           half = 1;

    rd_node_clear(node);
    if (hi - lo == 1)
        block_of(d, lane, lo, node);
    if (hi - lo < 2)
        return;
    while (half * 2 < hi - lo)
        half *= 2;
    tree_of(d, lane, lo, lo + half, node);
    tree_of(d, lane, lo + half, hi, right);
    rd_node_merge(&d->node, node, right);
}

static void take_m(const definition *d, rd_word *s, rd_word top)
{
    if (d->fold->type == RD_F32) {
        s[1].f32 *= rd_math_exp_f32(s[0].f32 == top.f32 ? 0 : s[0].f32 - top.f32);
        s[0].f32 = top.f32;
    } else {
        s[1].f64 *= rd_math_exp_f64(s[0].f64 == top.f64 ? 0 : s[0].f64 - top.f64);
        s[0].f64 = top.f64;
    }
}

static void level_lanes(const definition *d, char lane[][NODE])
{
    rd_word top  = rd_word_from_double(-INFINITY, d->fold->type);
    int     seen = 0;

    for (int32_t l = 0; l < d->fold->lanes; l++) {
        const rd_word m = *(const rd_word *)(const void *)(lane[l] + d->node.state);

        if (*(const int64_t *)(const void *)lane[l] == 0)
            continue;
        if (seen++ == 0 ||
            rd_word_to_double(m, d->fold->type) > rd_word_to_double(top, d->fold->type))
            top = m;
    }
    for (int32_t l = 0; l < d->fold->lanes; l++)
        if (*(const int64_t *)(const void *)lane[l])
            take_m(d, (rd_word *)(void *)(lane[l] + d->node.state), top);
}

static void define(const definition *d, rd_word *y)
{
    static _Alignas(16) char lane[64][NODE], spare[NODE];

    memset(y, 0, MAX_OUT * sizeof *y);
    for (int32_t l = 0; l < d->fold->lanes; l++)
        tree_of(d, l, 0, d->fold->n_block, lane[l]);
    if (d->fold->reducer == RD_RED_logsumexp || d->fold->reducer == RD_RED_maxsumexp)
        level_lanes(d, lane);
    for (int32_t h = d->fold->lanes / 2; h > 0; h /= 2)
        for (int32_t l = 0; l < h; l++)
            rd_node_merge(&d->node, lane[l], lane[l + h]);
    rd_node_finish(&d->node, lane[0], spare, y);
    clear_rest(d->fold->out, y, d->fold->n_out);
}

/* ---- One task, many tasks, and the definition ------------------------------------------------ */
static const fold_case fold_cases[] = {
    { "sum f32", RD_RED_sum, NULL, RD_F32, RD_F32, false, MIXED, 64, 64 },
    { "sum f64, short blocks", RD_RED_sum, NULL, RD_F64, RD_F64, false, MIXED, 64, 4 },
    { "sum2 f32", RD_RED_sum2, NULL, RD_F32, RD_F32, false, MIXED, 64, 64 },
    { "dot f32", RD_RED_dot, NULL, RD_F32, RD_F32, true, MIXED, 64, 64 },
    { "dot f64, short blocks", RD_RED_dot, NULL, RD_F64, RD_F64, true, MIXED, 64, 4 },
    { "sum i64", RD_RED_sum, NULL, RD_I64, RD_I64, false, BYTES, 64, 64 },
    { "prod f64", RD_RED_prod, NULL, RD_F64, RD_F64, false, NEAR_ONE, 64, 64 },
    { "min f32", RD_RED_min, NULL, RD_F32, RD_F32, false, SPECIALS, 64, 64 },
    { "max f64", RD_RED_max, NULL, RD_F64, RD_F64, false, SPECIALS, 64, 64 },
    { "argmin f64", RD_RED_argmin, NULL, RD_F64, RD_I64, false, SPECIALS, 64, 64 },
    { "argmax i64", RD_RED_argmax, NULL, RD_I64, RD_I64, false, TIES, 64, 64 },
    { "any", RD_RED_any, NULL, RD_BOOL, RD_BOOL, false, BITS, 64, 64 },
    { "all", RD_RED_all, NULL, RD_BOOL, RD_BOOL, false, TIES, 64, 64 },
    { "bits_and i64", RD_RED_bits_and, NULL, RD_I64, RD_I64, false, BYTES, 64, 64 },
    { "bits_or u8", RD_RED_bits_or, NULL, RD_U8, RD_U8, false, BYTES, 64, 64 },
    { "bits_xor i32", RD_RED_bits_xor, NULL, RD_I32, RD_I32, false, BYTES, 64, 16 },
    { "bits_xor bool", RD_RED_bits_xor, NULL, RD_BOOL, RD_BOOL, false, BITS, 64, 64 },
    { "prod_real f64", RD_RED_prod_real, NULL, RD_F64, RD_F64, true, NEAR_ONE, 64, 64 },
    { "prod_imag f32", RD_RED_prod_imag, NULL, RD_F32, RD_F32, true, NEAR_ONE, 64, 64 },
    { "moments f64", RD_RED_moments, NULL, RD_F64, RD_F64, false, MIXED, 64, 64 },
    { "moments f32, weights", RD_RED_moments, NULL, RD_F32, RD_F32, true, MIXED, 64, 64 },
    { "skewness f64", RD_RED_skewness, NULL, RD_F64, RD_F64, false, MIXED, 64, 64 },
    { "skewness f32, weights", RD_RED_skewness, NULL, RD_F32, RD_F32, true, MIXED, 64, 64 },
    { "kurtosis f64", RD_RED_kurtosis, NULL, RD_F64, RD_F64, false, MIXED, 64, 64 },
    { "kurtosis f32, weights", RD_RED_kurtosis, NULL, RD_F32, RD_F32, true, MIXED, 64, 64 },
    { "covariance f64", RD_RED_covariance, NULL, RD_F64, RD_F64, true, MIXED, 64, 64 },
    { "covariance f32", RD_RED_covariance, NULL, RD_F32, RD_F32, true, MIXED, 64, 16 },
    { "logsumexp f64", RD_RED_logsumexp, NULL, RD_F64, RD_F64, false, TIES, 64, 64 },
    { "logsumexp f32, weights", RD_RED_logsumexp, NULL, RD_F32, RD_F32, true, TIES, 64, 16 },
    { "logsumexp f32", RD_RED_logsumexp, NULL, RD_F32, RD_F32, false, MIXED, 64, 64 },
    { "maxsumexp f64", RD_RED_maxsumexp, NULL, RD_F64, RD_F64, false, TIES, 64, 64 },
    { "maxsumexp f32", RD_RED_maxsumexp, NULL, RD_F32, RD_F32, false, MIXED, 64, 64 },
    { "a sequence's hash", RD_RED_user, sequence_hash, RD_U8, RD_U64, false, BYTES, 1, 64 },
    { "a product of affine maps", RD_RED_user, affine, RD_F64, RD_F64, false, TIES, 1, 8 },
    { "a serial reducer", RD_RED_user, &logistic, RD_F64, RD_F64, false, TIES, 1, 64 },
};

static const int64_t share_blocks[] = { 0, 1, 2, 3, 4, 7, 16, 33 }; /* 0: one task */

static void compare(const fold_case *c, int32_t lanes, masking masked, int64_t n)
{
    const rd_fold    fold = fold_of(c, lanes, n);
    const definition d    = { &fold, rd_node_info_of(&fold), n, c->weighted, masked != NO_MASK };
    rd_word          found[MAX_OUT], want[MAX_OUT];
    builder          b;

    ck_assert_int_le(d.node.bytes, NODE);
    build_fold(&b, &fold, c->weighted, masked != NO_MASK, n);
    define(&d, want);
    for (int isa = 0; isa < isa_count(); isa++) {
        rd_cpu_force(isa_name(isa));
        for (int k = 0; k < COUNT(share_blocks) && (k == 0 || fold.split); k++) {
            run_fold(&b, share_blocks[k], found);
            ck_assert_msg(
                memcmp(found, want, sizeof want) == 0,
                "%s, %d lanes, %d elements, mask %d, %d blocks a task, %s: %.17g, defined as %.17g",
                c->what, (int)lanes, (int)n, (int)masked, (int)share_blocks[k], isa_name(isa),
                rd_word_to_double(found[0], c->out), rd_word_to_double(want[0], c->out));
        }
    }
}

START_TEST(fold_is_the_tree)
{
    static const int64_t sizes[] = {
        0, 1, 2, 31, 32, 63, 64, 65, 127, 128, 1000, 4095, 4096, 4097
    };
    const fold_case *c = &fold_cases[_i];

    srand((unsigned)_i + 1);
    for (int32_t lanes = 1; lanes <= c->lanes; lanes = lanes == 1 ? 32 : lanes * 2) {
        for (int k = 0; k < COUNT(sizes) + 4; k++) {
            const masking masked = (masking)(k % 4);
            const int64_t n      = k < COUNT(sizes) ? sizes[k] : rand() % (MAX_N + 1);

            fill(c->how, masked, c->type, n);
            compare(c, lanes, masked, n);
        }
    }
}
END_TEST

/* Sums of f32 once more, without the code of nodes. */
static double sum_of_blocks(int64_t lo, int64_t hi, int64_t n)
{
    float   block = 0;
    int64_t half  = 1;

    if (hi - lo == 1) {
        for (int64_t k = 64 * lo; k < n && k < 64 * hi; k++)
            block = k == 64 * lo ? x[k].f32 : block + x[k].f32;
        return block;
    }
    while (half * 2 < hi - lo)
        half *= 2;
    return sum_of_blocks(lo, lo + half, n) + sum_of_blocks(lo + half, hi, n);
}

START_TEST(sum_of_f32)
{
    const fold_case c    = fold_cases[0];
    const int64_t   n    = 1 + rand() % MAX_N;
    const rd_fold   fold = fold_of(&c, 1, n);
    rd_word         y[MAX_OUT];
    builder         b;

    fill(MIXED, NO_MASK, RD_F32, n);
    build_fold(&b, &fold, false, false, n);
    for (int isa = 0; isa < isa_count(); isa++) {
        rd_cpu_force(isa_name(isa));
        run_fold(&b, 0, y);
        ck_assert_msg(y[0].f32 == (float)sum_of_blocks(0, fold.n_block, n), "%s", isa_name(isa));
    }
}
END_TEST

/* ---- Several axes, several cells ------------------------------------------------------------- */
/* Rows that do not fill the lanes are rows with masked elements at their end. */
START_TEST(rows_start_at_lane_0)
{
    enum { ROWS = 37, COLUMNS = 70, FULL = 96 };
    static rd_word values[ROWS * COLUMNS];
    const int64_t  extent[] = { ROWS, COLUMNS };
    rd_fold        fold     = fold_of(&fold_cases[0], 32, FULL * ROWS);
    void *const    slots[]  = { values, NULL, NULL, &(rd_word){ .u64 = 0 } };
    rd_word        want[MAX_OUT];
    builder        b;

    rd_cpu_force(isa_name(_i));
    fill(MIXED, NO_MASK, RD_F32, FULL * ROWS);
    for (int64_t k = 0; k < FULL * ROWS; k++)
        mask[k] = k % FULL < COLUMNS;
    for (int64_t k = 0; k < ROWS * COLUMNS; k++)
        values[k] = x[k / COLUMNS * FULL + k % COLUMNS];
    define(&(definition){ &fold, rd_node_info_of(&fold), FULL * ROWS, false, true }, want);

    fold.lane_extent = COLUMNS;
    fold.lane        = (rd_address){ .n_add = 1, .add = { { .axis = 1, .coef = 1 } } };
    fold.lane_line   = (rd_address){ .n_add = 1, .add = { { .axis = 0, .coef = 1 } } };
    builder_init(&b, 2, extent);
    builder_fold(&b, fold);
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    load_word(&b, 0, 0, RD_F32, COLUMNS, 1);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .b = -1, .c = -1 });
    builder_end(&b);
    builder_end(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 4 });
    builder_store(&b, 4, 3, RD_F32, -1, 0, 0);
    ck_assert_int_eq(run_program(builder_done(&b), slots).status, RD_OK);
    ck_assert_mem_eq(slots[3], want, sizeof(float));
}
END_TEST

/* A reduction over the slow axis: a tile of cells at a time. */
START_TEST(cells_are_apart)
{
    enum { ROWS = 333, COLUMNS = 7, TILE = 3 };
    static rd_word values[ROWS * COLUMNS], y[COLUMNS];
    const int64_t  extent[] = { ROWS, COLUMNS };
    rd_fold        fold     = fold_of(&fold_cases[0], 1, ROWS);
    void *const    slots[]  = { values, NULL, NULL, y };
    builder        b;

    rd_cpu_force(isa_name(_i));
    fill(MIXED, NO_MASK, RD_F32, ROWS * COLUMNS);
    memcpy(values, x, sizeof values);
    fold.n_cell = TILE;
    fold.split  = false;
    fold.cell   = (rd_address){ .n_add = 1, .add = { { .axis = 1, .coef = 1, .local = true } } };
    builder_init(&b, 2, extent);
    builder_fold(&b, fold);
    builder_loop(&b, (rd_loop){ .kind = RD_LOOP_TILE, .axis = 1, .step = TILE });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    load_word(&b, 0, 0, RD_F32, COLUMNS, 1);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .b = -1, .c = -1 });
    builder_end(&b);
    builder_end(&b);
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 4 });
    builder_store(&b, 4, 3, RD_F32, 1, 2, 0);
    builder_end(&b);
    builder_end(&b);
    ck_assert_int_eq(run_program(builder_done(&b), slots).status, RD_OK);
    for (int column = 0; column < COLUMNS; column++) {
        rd_word want[MAX_OUT];
        for (int64_t k = 0; k < ROWS; k++)
            x[k] = values[k * COLUMNS + column];
        define(&(definition){ &fold, rd_node_info_of(&fold), ROWS, false, false }, want);
        ck_assert_mem_eq(&y[column], want, sizeof(float));
    }
}
END_TEST

/* ---- Scans ----------------------------------------------------------------------------------- */
static const struct {
    fold_case fold;
    bool      exclusive, reverse, identity, serial;
} scan_cases[] = {
    { { "sum f32", RD_RED_sum, NULL, RD_F32, RD_F32, false, MIXED, 1, 64 },
      false,
      false,
      false,
      false },
    { { "sum f32, exclusive", RD_RED_sum, NULL, RD_F32, RD_F32, false, MIXED, 1, 64 },
      true,
      false,
      false,
      false },
    { { "sum f32, reverse", RD_RED_sum, NULL, RD_F32, RD_F32, false, MIXED, 1, 8 },
      false,
      true,
      false,
      false },
    { { "sum f32, serial", RD_RED_sum, NULL, RD_F32, RD_F32, false, MIXED, 1, 64 },
      false,
      false,
      false,
      true },
    { { "prod f64", RD_RED_prod, NULL, RD_F64, RD_F64, false, NEAR_ONE, 1, 64 },
      false,
      false,
      false,
      false },
    { { "min i64, exclusive", RD_RED_min, NULL, RD_I64, RD_I64, false, TIES, 1, 64 },
      true,
      false,
      true,
      false },
    { { "max f32", RD_RED_max, NULL, RD_F32, RD_F32, false, SPECIALS, 1, 64 },
      false,
      true,
      false,
      false },
    { { "a hash", RD_RED_user, sequence_hash, RD_U8, RD_U64, false, BYTES, 1, 64 },
      false,
      false,
      false,
      false },
    { { "a hash, exclusive", RD_RED_user, sequence_hash, RD_U8, RD_U64, false, BYTES, 1, 4 },
      true,
      true,
      false,
      false },
    { { "a serial one", RD_RED_user, &logistic, RD_F64, RD_F64, false, TIES, 1, 64 },
      false,
      false,
      false,
      true },
};

static void run_scan(const rd_fold *fold, bool masked, int64_t n, rd_word *y)
{
    void *const slots[] = { x, NULL, mask, y };
    builder     b;

    memset(y, 0, (size_t)n * sizeof *y);
    builder_init(&b, 1, &n);
    builder_fold(&b, *fold);
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0, .backwards = fold->reverse });
    load_word(&b, 0, 0, fold->type, 1, 0);
    load_word(&b, 1, 2, RD_BOOL, 1, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_SCAN, .dst = 4, .b = -1, .c = masked ? 1 : -1 });
    builder_store(&b, 4, 3, fold->out, 0, 8 / rd_dtype_size(fold->out), 0);
    builder_end(&b);
    ck_assert_int_eq(run_program(builder_done(&b), slots).status, RD_OK);
}

/* Element k: the blocks before its own from the left, and its own block up to it.  Running sums of
 * floats, whose blocks go together by a tree, are taken from the library here; tests/test_scan.c
 * defines them. */
static void define_scan(const definition *d, int64_t k, rd_word *y)
{
    enum { WORDS = 64 * RD_LEVEL_WORDS };
    static _Alignas(16) char whole[NODE], part[NODE], spare[NODE];
    static double            words[WORDS];
    const int64_t            own    = k / d->fold->steps;
    definition               prefix = *d;

    prefix.n = d->fold->exclusive ? k : k + 1;
    rd_node_clear(whole);
    rd_prefix_sum_begin(WORDS, words);
    for (int64_t block = 0; block <= own; block++) {
        block_of(&prefix, 0, block, part);
        if (block < own)
            rd_node_take_block(&d->node, whole, block, part, words);
        else
            rd_node_merge_prefix(&d->node, whole, part);
    }
    memset(y, 0, sizeof *y);
    rd_node_finish(&d->node, whole, spare, y);
    clear_rest(d->fold->out, y, 1);
}

static void reverse(int64_t n)
{
    for (int64_t k = 0; k < n / 2; k++) {
        const rd_word  value = x[k];
        const uint64_t taken = mask[k];
        x[k]                 = x[n - 1 - k];
        mask[k]              = mask[n - 1 - k];
        x[n - 1 - k]         = value;
        mask[n - 1 - k]      = taken;
    }
}

START_TEST(scan_is_blocks_and_a_prefix)
{
    enum { N = 1500 };
    static rd_word y[N];
    rd_fold        fold = fold_of(&scan_cases[_i].fold, 1, N);

    fold.scan      = true;
    fold.split     = false;
    fold.exclusive = scan_cases[_i].exclusive;
    fold.reverse   = scan_cases[_i].reverse;
    fold.identity  = scan_cases[_i].identity;
    if (scan_cases[_i].serial)
        fold.steps = INT64_MAX;
    if (fold.reverse)
        fold.lane =
            (rd_address){ .offset = N - 1, .n_add = 1, .add = { { .axis = 0, .coef = -1 } } };
    for (int run = 0; run < 2 * isa_count(); run++) {
        const bool       masked = run % 2;
        const definition d      = { &fold, rd_node_info_of(&fold), N, false, masked };

        rd_cpu_force(isa_name(run / 2));
        fill(scan_cases[_i].fold.how, masked ? SOME : NO_MASK, fold.type, N);
        run_scan(&fold, masked, N, y);
        if (fold.reverse)
            reverse(N);
        for (int64_t k = 0; k < N; k++) {
            rd_word want;
            define_scan(&d, k, &want);
            ck_assert_msg(memcmp(&want, &y[fold.reverse ? N - 1 - k : k], sizeof want) == 0,
                          "%s, element %d, %s", scan_cases[_i].fold.what, (int)k,
                          isa_name(run / 2));
        }
    }
}
END_TEST

/* ---- Numbers --------------------------------------------------------------------------------- */
/* One task's result of a reducer, to be compared with what it ought to be. */
static double result_of(const fold_case *c, int64_t n, bool masked)
{
    const rd_fold fold = fold_of(c, c->lanes, n);
    rd_word       y[MAX_OUT];
    builder       b;

    build_fold(&b, &fold, c->weighted, masked, n);
    run_fold(&b, 0, y);
    return rd_word_to_double(y[0], c->out);
}

static const struct {
    double   mean, spread;
    rd_dtype type;
} moment_cases[] = {
    { 0, 1, RD_F64 },    { 1e6, 1, RD_F64 },   { 1e3, 1, RD_F32 },
    { -5, 1e4, RD_F32 }, { 0, 1e-20, RD_F64 },
};

/* Within 65 eps of two passes in long double, whatever the mean: both sides see the elements after
 * rounding. */
START_TEST(moments_are_accurate)
{
    const bool        narrow = moment_cases[_i].type == RD_F32;
    const fold_case   c      = { "moments",
                                 RD_RED_moments,
                                 NULL,
                                 moment_cases[_i].type,
                                 moment_cases[_i].type,
                                 true,
                                 MIXED,
                                 64,
                                 64 };
    const long double eps    = narrow ? FLT_EPSILON : (long double)DBL_EPSILON;

    srand(3);
    for (int64_t n = 2; n <= MAX_N; n = n * 3 + 1) {
        long double weight = 0, sum = 0, square = 0;
        for (int64_t k = 0; k < n; k++) {
            x[k] = rd_word_from_double(
                moment_cases[_i].mean + moment_cases[_i].spread * (rand() / (double)RAND_MAX - 0.5),
                c.type);
            w[k] = rd_word_from_double(1 + rand() % 3, c.type);
        }
        for (int64_t k = 0; k < n; k++) {
            weight += rd_word_to_double(w[k], c.type);
            sum += (long double)rd_word_to_double(w[k], c.type) * rd_word_to_double(x[k], c.type);
        }
        for (int64_t k = 0; k < n; k++) {
            const long double d = rd_word_to_double(x[k], c.type) - sum / weight;
            square += rd_word_to_double(w[k], c.type) * d * d;
        }
        const double want = (double)(square / (weight - 1)), got = result_of(&c, n, false);
        ck_assert_msg(fabs(got - want) <= (double)(65 * eps) * want,
                      "%d elements: %.17g, not %.17g", (int)n, got, want);
    }
}
END_TEST

/* Elements between 0 and 1, cubed, so that most are small; by two passes in long double.  An error of
 * the mean counts three times, and what it comes to by how much greater it is than the spread. */
START_TEST(skewness_is_accurate)
{
    static const struct {
        rd_dtype type;
        double   mean, bound; /* in eps */
    } cases[] = { { RD_F64, 0, 50 }, { RD_F64, 1e3, 50 }, { RD_F32, 0, 50 }, { RD_F32, 10, 50 } };
    const fold_case c = {
        "skewness", RD_RED_skewness, NULL, cases[_i].type, cases[_i].type, true, MIXED, 64, 64
    };
    const long double eps = c.type == RD_F32 ? FLT_EPSILON : (long double)DBL_EPSILON;

    srand(5);
    for (int64_t n = 3; n <= MAX_N; n = n * 3 + 1) {
        long double weight = 0, sum = 0, square = 0, cube = 0;
        for (int64_t k = 0; k < n; k++) {
            x[k] = rd_word_from_double(cases[_i].mean + pow(rand() / (double)RAND_MAX, 3), c.type);
            w[k] = rd_word_from_double(1 + rand() % 3, c.type);
            weight += rd_word_to_double(w[k], c.type);
            sum += (long double)rd_word_to_double(w[k], c.type) * rd_word_to_double(x[k], c.type);
        }
        for (int64_t k = 0; k < n; k++) {
            const long double d = rd_word_to_double(x[k], c.type) - sum / weight;
            square += rd_word_to_double(w[k], c.type) * d * d;
            cube += rd_word_to_double(w[k], c.type) * d * d * d;
        }
        const double want = (double)(cube / square * sqrtl(weight / square));
        const double got  = result_of(&c, n, false);
        ck_assert_msg(fabs(got - want) <= cases[_i].bound * (double)eps,
                      "%d elements: %.17g, not %.17g", (int)n, got, want);
    }
}
END_TEST

static const struct {
    rd_reducer_id reducer;
    int           n;
    double        x[4], want;
} value_cases[] = {
    { RD_RED_logsumexp, 0, { 0 }, -INFINITY },
    { RD_RED_logsumexp, 1, { -INFINITY }, -INFINITY },
    { RD_RED_logsumexp, 2, { -INFINITY, -INFINITY }, -INFINITY },
    { RD_RED_logsumexp, 2, { -INFINITY, 5 }, 5 },
    { RD_RED_logsumexp, 2, { 5, -INFINITY }, 5 },
    { RD_RED_logsumexp, 2, { INFINITY, 5 }, INFINITY },
    { RD_RED_logsumexp, 3, { 5, INFINITY, INFINITY }, INFINITY },
    { RD_RED_logsumexp, 2, { -INFINITY, INFINITY }, INFINITY },
    { RD_RED_logsumexp, 3, { 1, NAN, 2 }, NAN },
    { RD_RED_logsumexp, 2, { NAN, INFINITY }, NAN },
    { RD_RED_logsumexp, 2, { INFINITY, NAN }, NAN },
    { RD_RED_logsumexp, 1, { NAN }, NAN },
    { RD_RED_logsumexp, 2, { 1000, 0 }, 1000 },
    { RD_RED_maxsumexp, 3, { 1, NAN, 2 }, NAN },
    { RD_RED_maxsumexp, 3, { 1, 3, 2 }, 3 },
    { RD_RED_maxsumexp, 3, { -INFINITY, 3, -INFINITY }, 3 },
    { RD_RED_maxsumexp, 2, { -INFINITY, -INFINITY }, -INFINITY },
    { RD_RED_logsumexp, 1, { -DBL_MAX }, -DBL_MAX },
    { RD_RED_logsumexp, 3, { -DBL_MAX, 5, -INFINITY }, 5 },
    { RD_RED_logsumexp, 2, { -INFINITY, -DBL_MAX }, -DBL_MAX },
    { RD_RED_sum, 0, { 0 }, 0 },
    { RD_RED_sum, 1, { -0.0 }, -0.0 },
    { RD_RED_sum2, 3, { 1e300, 1, -1e300 }, 1 },
    { RD_RED_sum2, 2, { INFINITY, 1 }, INFINITY },
    { RD_RED_prod, 0, { 0 }, 1 },
    { RD_RED_min, 0, { 0 }, NAN },
    { RD_RED_min, 3, { 2, NAN, 1 }, NAN },
    { RD_RED_max, 3, { NAN, 2, 1 }, NAN },
    { RD_RED_max, 2, { -INFINITY, -INFINITY }, -INFINITY },
    { RD_RED_argmin, 0, { 0 }, -1 },
    { RD_RED_argmin, 4, { 3, 1, 2, 1 }, 1 },
    { RD_RED_argmin, 3, { 3, NAN, NAN }, 1 },
    { RD_RED_argmax, 4, { 1, 3, 3, 2 }, 1 },
    { RD_RED_argmax, 3, { NAN, 3, NAN }, 0 },
    { RD_RED_argmax, 2, { -0.0, 0.0 }, 0 },
    { RD_RED_moments, 0, { 0 }, NAN },
    { RD_RED_moments, 1, { 4 }, NAN },
    { RD_RED_moments, 3, { 1, 2, 3 }, 1 },
    { RD_RED_moments, 2, { 1, INFINITY }, NAN },
    { RD_RED_skewness, 0, { 0 }, NAN },
    { RD_RED_skewness, 1, { 4 }, NAN },
    { RD_RED_skewness, 3, { 7, 7, 7 }, NAN },
    { RD_RED_skewness, 3, { 1, 2, 3 }, 0 },
    { RD_RED_skewness, 2, { 1, INFINITY }, NAN },
    { RD_RED_kurtosis, 0, { 0 }, NAN },
    { RD_RED_kurtosis, 3, { 7, 7, 7 }, NAN },
    { RD_RED_kurtosis, 2, { 1, 3 }, -2 },
    { RD_RED_kurtosis, 3, { 1, NAN, 2 }, NAN },
    { RD_RED_skewness, 3, { 1, NAN, 2 }, NAN },
};

/* The elements side by side in lanes, and one after the other in blocks of one. */
START_TEST(reducer_of_few)
{
    const bool place =
        value_cases[_i].reducer == RD_RED_argmin || value_cases[_i].reducer == RD_RED_argmax;

    for (int blocks = 0; blocks < 2; blocks++) {
        const fold_case c = { "few",  value_cases[_i].reducer, NULL,
                              RD_F64, place ? RD_I64 : RD_F64, false,
                              MIXED,  blocks ? 1 : 64,         blocks ? 1 : 64 };
        for (int k = 0; k < value_cases[_i].n; k++)
            x[k].f64 = value_cases[_i].x[k];
        const double got = result_of(&c, value_cases[_i].n, false), want = value_cases[_i].want;
        ck_assert_msg(isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want),
                      "%s gave %g, not %g", rd_reducer_table[value_cases[_i].reducer].name, got,
                      want);
    }
}
END_TEST

static const struct {
    rd_reducer_id reducer;
    int           n;
    double        x[4], w[4], want;
} weight_cases[] = {
    { RD_RED_moments, 4, { 1e30, 1, 2, 3 }, { 0, 1, 1, 1 }, 1 },
    { RD_RED_moments, 4, { 1, 2, 1e30, 3 }, { 1, 1, 0, 1 }, 1 },
    { RD_RED_moments, 4, { 1, 2, 3, 1e30 }, { 1, 1, 1, 0 }, 1 },
    { RD_RED_moments, 2, { 1, 3 }, { 3, 1 }, 1 },
    { RD_RED_moments, 2, { 1, NAN }, { 5, 0 }, NAN },
    { RD_RED_moments, 2, { NAN, 1 }, { 0, 5 }, NAN },
    { RD_RED_moments, 2, { 1, 2 }, { 0, 0 }, NAN },
    { RD_RED_skewness, 4, { 1e30, 1, 2, 3 }, { 0, 1, 1, 1 }, 0 },
    { RD_RED_skewness, 4, { 1, 2, 3, 1e30 }, { 1, 1, 1, 0 }, 0 },
    { RD_RED_skewness, 2, { 1, 2 }, { 0, 0 }, NAN },
    { RD_RED_logsumexp, 3, { 1e30, 5, -INFINITY }, { 0, 1, 1 }, 5 },
    { RD_RED_logsumexp, 3, { 5, 1e30, -INFINITY }, { 1, 0, 0 }, 5 },
    { RD_RED_logsumexp, 2, { 5, NAN }, { 1, 0 }, NAN },
    { RD_RED_logsumexp, 2, { NAN, 5 }, { 0, 1 }, NAN },
    { RD_RED_logsumexp, 2, { 1, 2 }, { 0, 0 }, -INFINITY },
    { RD_RED_logsumexp, 2, { 0, 7.5 }, { 1, 1e36 }, 7.5F + 82.8930633F },
    { RD_RED_logsumexp, 2, { 7.5, 0 }, { 1e36, 1 }, 7.5F + 82.8930633F },
    { RD_RED_logsumexp, 3, { -INFINITY, 5, 5 }, { 2, 1, 2 }, 5 + 1.0986123F },
    { RD_RED_logsumexp, 2, { -INFINITY, -INFINITY }, { 1, 2 }, -INFINITY },
};

/* Weight 0 hides any number, however large, but not NaN; a large one does not overflow. */
START_TEST(weights)
{
    for (int blocks = 0; blocks < 3; blocks++) {
        const fold_case c = {
            "weights",       weight_cases[_i].reducer, NULL, RD_F32, RD_F32, true, MIXED,
            blocks ? 1 : 64, blocks == 2 ? 64 : 1
        };
        for (int k = 0; k < weight_cases[_i].n; k++) {
            x[k].f32 = (float)weight_cases[_i].x[k];
            w[k].f32 = (float)weight_cases[_i].w[k];
        }
        const double got = result_of(&c, weight_cases[_i].n, false), want = weight_cases[_i].want;
        ck_assert_msg(isnan(want) ? isnan(got) : fabs(got - want) < 1e-6 || got == want,
                      "%g, not %g", got, want);
    }
}
END_TEST

static const struct {
    rd_reducer_id reducer;
    rd_dtype      type;
    double        want;
} nothing_cases[] = {
    { RD_RED_min, RD_F32, INFINITY }, { RD_RED_max, RD_F64, -INFINITY },
    { RD_RED_min, RD_I8, 127 },       { RD_RED_max, RD_I8, -128 },
    { RD_RED_max, RD_I64, -0x1p63 },  { RD_RED_min, RD_U16, 65535 },
    { RD_RED_max, RD_U64, 0 },        { RD_RED_min, RD_BOOL, 1 },
    { RD_RED_max, RD_BOOL, 0 },       { RD_RED_bits_and, RD_I8, -1 },
    { RD_RED_bits_and, RD_U8, 255 },  { RD_RED_bits_and, RD_BOOL, 1 },
    { RD_RED_bits_or, RD_I64, 0 },    { RD_RED_bits_xor, RD_U32, 0 },
};

START_TEST(extreme_of_nothing)
{
    const fold_case c    = { "nothing",
                             nothing_cases[_i].reducer,
                             NULL,
                             nothing_cases[_i].type,
                             nothing_cases[_i].type,
                             false,
                             MIXED,
                             64,
                             64 };
    rd_fold         fold = fold_of(&c, 64, 0);
    rd_word         y[MAX_OUT];
    builder         b;

    fold.identity = true;
    build_fold(&b, &fold, false, false, 0);
    run_fold(&b, 0, y);
    ck_assert(rd_word_to_double(rd_word_load(y, c.type), c.type) == nothing_cases[_i].want);
}
END_TEST

/* The sequence's hash needs no tree to check: a plain loop gives it. */
START_TEST(order_is_kept)
{
    const fold_case c = { "hash", RD_RED_user, sequence_hash, RD_U8, RD_U64, false, BYTES, 1, 64 };
    const rd_fold   fold = fold_of(&c, 1, MAX_N);
    uint64_t        want = 0;
    rd_word         y[MAX_OUT];
    builder         b;

    fill(BYTES, NO_MASK, RD_U8, MAX_N);
    for (int64_t k = 0; k < MAX_N; k++)
        want = want * 0x9e3779b97f4a7c15u + x[k].u64 + 1;
    build_fold(&b, &fold, false, false, MAX_N);
    run_fold(&b, 5, y);
    ck_assert_uint_eq(y[0].u64, want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fold");
    TCase *tree = tcase_create("tree"), *numbers = tcase_create("numbers");

    tcase_add_loop_test(tree, fold_is_the_tree, 0, COUNT(fold_cases));
    tcase_add_test(tree, sum_of_f32);
    tcase_add_loop_test(tree, rows_start_at_lane_0, 0, isa_count());
    tcase_add_loop_test(tree, cells_are_apart, 0, isa_count());
    tcase_add_loop_test(tree, scan_is_blocks_and_a_prefix, 0, COUNT(scan_cases));
    tcase_add_test(tree, order_is_kept);
    suite_add_tcase(suite, tree);
    tcase_add_loop_test(numbers, moments_are_accurate, 0, COUNT(moment_cases));
    tcase_add_loop_test(numbers, skewness_is_accurate, 0, 4);
    tcase_add_loop_test(numbers, reducer_of_few, 0, COUNT(value_cases));
    tcase_add_loop_test(numbers, weights, 0, COUNT(weight_cases));
    tcase_add_loop_test(numbers, extreme_of_nothing, 0, COUNT(nothing_cases));
    suite_add_tcase(suite, numbers);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
