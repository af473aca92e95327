/* test_users.c - users' reducers and functions of blocks: on tiles and as nests against the
 * reference, of every type they may take, along every axis.
 *
 * Each nest is a run of the compiler, so there are few of them. */
#include "kernels/cpu/nest/nest.h"
#include "operands.h"
#include "suite.h"
#include <math.h>
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

#define STEP (THREAD_SANITIZED ? 211 : SANITIZED ? 101 : suite_long_part(11))

static const rd_dtype types[] = { RD_F32,  RD_F64, RD_F16, RD_I8,  RD_I32, RD_U8,  RD_I64,
                                  RD_BOOL, RD_U64, RD_U32, RD_I16, RD_U16, RD_BF16 };

static rd_ctx *ctx;

/* Nothing is compiled but where a test says so. */
static void begin(void)
{
    ctx = nest_begin();
    rd_tier_force("off");
    rd_nest_force("never");
}

/* Scans by users' reducers, and folds of one element each, are the reference's: the few cases of a
 * sanitized run may all be such. */
static void on_tiles(void)
{
    ck_assert_msg(nest_seen.tiles * 3 >= nest_seen.programs * 2 || SANITIZED,
                  "%d of %d programs run on tiles", nest_seen.tiles, nest_seen.programs);
}

/* Lanes along several axes may have none. */
static void in_nests(void)
{
    ck_assert_msg(nest_seen.nests * 2 >= nest_seen.programs, "%d of %d programs are nests",
                  nest_seen.nests, nest_seen.programs);
}

/* ---- Reducers -------------------------------------------------------------------------------- */
/* The four bodies are easier to tell apart one a line. */
/* clang-format off */
/* Merge divides by what has met an element: nothing that has not is merged. */
RD_REDUCER(welford, double, double, 2, (double n, mean, m2;), (s->n = s->mean = s->m2 = 0;),
           (double d = x - s->mean; s->n += 1; s->mean += d / s->n; s->m2 += d * (x - s->mean);),
           (double n = a->n + b->n, d = b->mean - a->mean; a->mean += d * b->n / n;
            a->m2 += b->m2 + d * d * a->n * b->n / n; a->n = n;),
           (y[0] = s->mean; y[1] = s->m2 / s->n;))

RD_REDUCER(geometric_mean, float, float, 1, (double log; int64_t n;), (s->log = 0; s->n = 0;),
           (s->log += log(fabs(x) + 0.125); s->n++;), (a->log += b->log; a->n += b->n;),
           (y[0] = (float)exp(s->log / (double)s->n);))

RD_REDUCER(three_largest, float, float, 3, (float v[3];),
           (s->v[0] = s->v[1] = s->v[2] = -INFINITY;), (float z = x; for (int k = 0; k < 3; k++) {
               const float t = s->v[k];
               s->v[k]       = z > t ? z : t;
               z             = z > t ? t : z;
           }),
           (for (int j = 0; j < 3; j++) {
               float z = b->v[j];
               for (int k = 0; k < 3; k++) {
                   const float t = a->v[k];
                   a->v[k]       = z > t ? z : t;
                   z             = z > t ? t : z;
               }
           }),
           (for (int k = 0; k < 3; k++) y[k] = s->v[k];))

/* The indices of what it met, in their order: which block took which is in its bits. */
RD_REDUCER(places, double, uint64_t, 2, (uint64_t h; uint64_t scale; int64_t last;),
           (s->h = 0; s->scale = 1; s->last = -1;),
           (s->h = s->h * 0x9e3779b97f4a7c15u + (uint64_t)i + (x > 0 ? 1u << 20 : 0);
            s->scale *= 0x9e3779b97f4a7c15u; s->last = i;),
           (a->h = a->h * b->scale + b->h; a->scale *= b->scale; a->last = b->last;),
           (y[0] = s->h; y[1] = (uint64_t)s->last;))

/* Elements in their order, bit by bit, as each type has them. */
#define SEQUENCE(name, X, number)                                                              \
    RD_REDUCER(name, X, uint64_t, 1, (uint64_t h; uint64_t scale;), (s->h = 0; s->scale = 1;), \
               (s->h = s->h * 0x9e3779b97f4a7c15u + (uint64_t)(number) + 1;                    \
                s->scale *= 0x9e3779b97f4a7c15u;),                                             \
               (a->h = a->h * b->scale + b->h; a->scale *= b->scale;), (y[0] = s->h;))
#define OF_FLOAT (x == x ? (int64_t)((x > 1e4 ? 1e4 : x < -1e4 ? -1e4 : x) * 4096) : -9)
SEQUENCE(of_bool, _Bool, x)
SEQUENCE(of_i8, int8_t, x)
SEQUENCE(of_i16, int16_t, x)
SEQUENCE(of_i32, int32_t, x)
SEQUENCE(of_i64, int64_t, x)
SEQUENCE(of_u8, uint8_t, x)
SEQUENCE(of_u16, uint16_t, x)
SEQUENCE(of_u32, uint32_t, x)
SEQUENCE(of_u64, uint64_t, x)
SEQUENCE(of_f16, rd_f16, (x.bits & 0x7fff) > 0x7c00 ? 0x7e00 : x.bits)
SEQUENCE(of_bf16, rd_bf16, (x.bits & 0x7fff) > 0x7f80 ? 0x7fc0 : x.bits)
SEQUENCE(of_f32, float, OF_FLOAT)
SEQUENCE(of_f64, double, OF_FLOAT)

/* Narrow results, and a state of two widths. */
RD_REDUCER(odds, int16_t, int8_t, 2, (int16_t sum; uint8_t odd;), (s->sum = 1; s->odd = 3;),
           (s->sum = (int16_t)(s->sum * 3 + x); s->odd = (uint8_t)(s->odd ^ (x & 3));),
           (a->sum = (int16_t)(a->sum - 5 * b->sum); a->odd = (uint8_t)(a->odd + b->odd);),
           (y[0] = (int8_t)s->sum; y[1] = (int8_t)s->odd;))

/* Of two operands: the sums of a line through points; all bits of both, in order. */
RD_REDUCER2(line, double, float, double, 2, (double n, x, w, xx, xw;),
            (s->n = s->x = s->w = s->xx = s->xw = 0;),
            (s->n += 1; s->x += x; s->w += (double)w; s->xx += x * x; s->xw += x * (double)w;),
            (a->n += b->n; a->x += b->x; a->w += b->w; a->xx += b->xx; a->xw += b->xw;),
            (const double d = s->n * s->xx - s->x * s->x;
             y[0] = d > 0 ? (s->n * s->xw - s->x * s->w) / d : 0; y[1] = s->n;))
RD_REDUCER2(both, int16_t, rd_bf16, uint64_t, 1, (uint64_t h; uint64_t scale; uint8_t met[40];),
            (s->h = 0; s->scale = 1; for (int k = 0; k < 40; k++) s->met[k] = 0;),
            (s->h = s->h * 0x9e3779b97f4a7c15u + (uint64_t)x * 65536 +
                    ((w.bits & 0x7fff) > 0x7f80 ? 0x7fc0 : w.bits);
             s->scale *= 0x9e3779b97f4a7c15u; s->met[i % 40] ^= (uint8_t)x;),
            (a->h = a->h * b->scale + b->h; a->scale *= b->scale;
             for (int k = 0; k < 40; k++) a->met[k] ^= b->met[k];),
            (uint64_t h = s->h; for (int k = 0; k < 40; k++) h = h * 31 + s->met[k]; y[0] = h;))

/* A state of 2 KiB, of which an element meets one member. */
RD_REDUCER(histogram, uint8_t, int32_t, 256, (int64_t n[256];),
           (for (int k = 0; k < 256; k++) s->n[k] = 0;), (s->n[x]++;),
           (for (int k = 0; k < 256; k++) a->n[k] += b->n[k];),
           (for (int k = 0; k < 256; k++) y[k] = (int32_t)s->n[k];))
/* clang-format on */

/* Without an identity: an element begins a state, and no finished one is of nothing. */
/* clang-format off */
RD_REDUCER_FIRST(longest, float, float, 1, (float x;), (s->x = x;),
                 (if (fabsf(x) > fabsf(s->x)) s->x = x;),
                 (if (fabsf(b->x) > fabsf(a->x)) *a = *b;), (y[0] = s->x;))
RD_REDUCER_FIRST(both_ends, int16_t, double, 2, (int64_t at; int16_t first, last, least;),
                 (s->at = i; s->first = s->last = s->least = x;),
                 (s->last = x; if (x < s->least) s->least = x;),
                 (a->last = b->last; if (b->least < a->least) a->least = b->least;),
                 (y[0] = s->first * 7 + (double)s->at; y[1] = s->last * 3 + s->least;))
RD_REDUCER2_FIRST(heaviest, double, float, double, 2, (double x; float w;), (s->x = x; s->w = w;),
                  (if (w > s->w) { s->x = x; s->w = w; }), (if (b->w > a->w) *a = *b;),
                  (y[0] = s->x; y[1] = (double)s->w;))
/* clang-format on */

/* Without merge: a strict fold in C order, and of any stride. */
static void decay_init(void *s)
{
    *(double *)s = 1;
}

static void decay_step(void *s, int64_t n, const void *x, int64_t stride, int64_t i)
{
    const float *p = x;

    for (int64_t k = 0; k < n; k++)
        *(double *)s = 0.5 * *(double *)s + (double)p[k * stride] * (double)((i + k) % 3);
}

static void decay_finish(const void *s, void *y)
{
    *(float *)y = (float)*(const double *)s;
}

static const rd_reducer decay[1] = { { .size       = sizeof(rd_reducer),
                                       .name       = "decay",
                                       .n_out      = 1,
                                       .in         = RD_F32,
                                       .out        = RD_F32,
                                       .state_size = sizeof(double),
                                       .init       = decay_init,
                                       .step       = decay_step,
                                       .finish     = decay_finish } };

static const rd_reducer *const reducers[] = {
    welford, geometric_mean, three_largest, places, of_bool, of_i8,   of_i16,
    of_i32,  of_i64,         of_u8,         of_u16, of_u32,  of_u64,  of_f16,
    of_bf16, of_f32,         of_f64,        odds,   decay,   longest, both_ends
};

/* ---- Cases ----------------------------------------------------------------------------------- */
static const rd_reducer *const of_two[] = { line, both, heaviest };

typedef struct user_case {
    rd_dtype       type;
    int            shape, axes, mask;
    operand_values values;
    operand_layout layout, mask_layout;
    int            number;
} user_case;

static const char *describe(const user_case *c)
{
    static char     text[110];
    const rd_shape *s = &operand_shapes[c->shape];

    snprintf(text, sizeof text, "%s, %d x %d x %d, axes %d, %s, values %d, layouts %d %d",
             rd_dtype_name(c->type), (int)s->at[0], (int)s->at[1], (int)s->at[2], c->axes,
             c->mask < N_MASKS ? operand_masks[c->mask].what : "", (int)c->values, (int)c->layout,
             (int)c->mask_layout);
    return text;
}

/* One more than there are masks: none.  The rest follows from the number. */
static user_case case_of(rd_dtype type, int k)
{
    user_case c = { .type = type, .number = (int)((unsigned)(k + 1) * 2654435761U >> 8) };

    c.mask        = k % (2 * N_MASKS);
    c.axes        = k / (2 * N_MASKS) % N_AXES;
    c.shape       = c.number / 4096 % N_SHAPES;
    c.values      = (operand_values)(c.number / 3 % N_VALUES);
    c.layout      = (operand_layout)(c.number / 24 % 2 ? c.number / 48 % N_LAYOUTS : DENSE);
    c.mask_layout = (operand_layout)(c.number / 500 % 3 ? c.number / 1500 % N_LAYOUTS : DENSE);
    return c;
}

/* What a reducer is given as a NaN or an infinity, and has no such, is for the compiler to say. */
static bool takes(const rd_reducer *r, const user_case *c)
{
    return r != geometric_mean || c->values < UGLIES || c->values == ZEROS;
}

/* Half of the cases have lanes.  Of reducers that do not commute, too: which element comes when is
 * fixed. */
static rd_reducer with_lanes(const rd_reducer *r, const user_case *c)
{
    rd_reducer copy = *r;

    copy.commutes = c->number / 5 % 2;
    return copy;
}

/* Sets of kernels in turn: they only convert here. */
static void agree(nest_batch *b, bool nests, int number)
{
    const int best = isa_count() - 1;

    nest_agree_by(b, nests ? best : 1 + number % best, &operand_shares[number % 3], 2);
}

/* By reducers from `first` on, `n` in one program. */
static void agree_on_reductions(const user_case *c, int n, bool nests)
{
    const rd_mark        mark      = rd_ctx_mark(ctx);
    const rd_shape      *s         = &operand_shapes[c->shape];
    tile_memory          m         = { 0 };
    nest_batch           b         = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_reduce_opts       opts      = { .size = sizeof opts, .dims = operand_axes[c->axes] };
    rd_expr             *x         = operand_of(&m, c->type, s, c->layout, c->values), *w;
    const operand_layout layouts[] = { DENSE, DENSE, c->mask_layout };

    if (c->mask < N_MASKS) {
        opts.where    = operand_mask_of(&m, c->mask, s, c->mask_layout, x);
        opts.skip_nan = operand_masks[c->mask].skip_nan;
    }
    for (int r = 0; r < COUNT(reducers); r++) {
        if (!takes(reducers[r], c))
            continue;
        snprintf(b.what, sizeof b.what, "%.16s, %s", reducers[r]->name, describe(c));
        const rd_reducer reducer = with_lanes(reducers[r], c);
        nest_add(&b, rd_reduce_user(x, &reducer, &opts));
        ck_assert_msg(b.n > 0, "%s: %s", b.what, rd_error_text(ctx));
        if (b.n == n)
            agree(&b, nests, c->number);
    }
    if (b.n)
        agree(&b, nests, c->number);
    w = operand_of(&m, types[c->number / 7 % COUNT(types)], s, layouts[c->number % 3], TIES);
    for (int r = 0; r < COUNT(of_two); r++) {
        snprintf(b.what, sizeof b.what, "%.16s, %s", of_two[r]->name, describe(c));
        const rd_reducer reducer = with_lanes(of_two[r], c);
        nest_add(&b, rd_reduce2_user(x, w, &reducer, &opts));
        ck_assert_msg(b.n > 0, "%s: %s", b.what, rd_error_text(ctx));
        agree(&b, nests, c->number);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(reductions)
{
    static const int few[] = { 1, 1, 3, 8 };

    for (int k = _i; k < 2 * N_MASKS * N_AXES; k += STEP) {
        const user_case c = case_of(types[_i], k);

        agree_on_reductions(&c, few[c.number % COUNT(few)], false);
    }
    on_tiles();
}
END_TEST

/* The same as nests, half of the reducers in each. */
START_TEST(reductions_in_nests)
{
    rd_tier_force("sync");
    rd_nest_force("always");
    for (int k = _i; k < 3 * COUNT(types); k += COUNT(types))
        if (k % suite_part(14) == 0) {
            const user_case c = case_of(types[_i], 131 * k + 7);

            agree_on_reductions(&c, (COUNT(reducers) + 1) / 2, true);
        }
    in_nests();
}
END_TEST

/* ---- Large states ---------------------------------------------------------------------------- */
enum { ROWS = 29, COLUMNS = 131, BINS = 256 };

/* x[i, j] for all i, all j, or all of both. */
static void count_by_hand(const uint8_t *x, int axis, int32_t *y)
{
    memset(y, 0, sizeof *y * COLUMNS * BINS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            y[(axis == 0 ? j : axis == 1 ? i : 0) * BINS + x[i * COLUMNS + j]]++;
}

START_TEST(large_states)
{
    static const char *const codegen[] = { "never", "always" };
    static uint8_t           x[ROWS * COLUMNS];
    static int32_t           found[COLUMNS * BINS], expected[COLUMNS * BINS];
    const rd_dims            dims[] = { RD_DIMS(0), RD_DIMS(1), RD_ALL };
    const rd_shape shapes[] = { RD_SHAPE(COLUMNS, BINS), RD_SHAPE(ROWS, BINS), RD_SHAPE(BINS) };

    rd_tier_force(_i ? "sync" : "off");
    rd_nest_force(codegen[_i]);
    for (int k = 0; k < ROWS * COLUMNS; k++)
        x[k] = (uint8_t)(k * 37 + k / 91);
    for (int axis = 0; axis < COUNT(dims); axis++) {
        rd_array y = { .data = found, .type = RD_I32, .shape = shapes[axis] };

        ck_assert_msg(rd_eval(ctx,
                              rd_reduce_user(rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS)), histogram,
                                             &(rd_reduce_opts){ .dims = dims[axis] }),
                              &y) == RD_OK,
                      "%s", rd_error_text(ctx));
        count_by_hand(x, axis, expected);
        ck_assert_mem_eq(found, expected,
                         sizeof *found * (axis == 0   ? COLUMNS * BINS
                                          : axis == 1 ? ROWS * BINS
                                                      : BINS));
    }
}
END_TEST

/* ---- Among others ---------------------------------------------------------------------------- */
/* What else a program has around them: phases over rows, maps before and behind, siblings, windows,
 * folds of folds, scans. */
static void add_programs(nest_batch *b, rd_expr *x, rd_expr *w, int axis)
{
    const rd_dims one = RD_DIMS(axis), kept = RD_KEEP(axis);
    rd_expr      *two = rd_reduce(x, welford, kept, .where = w), *mean = rd_slice(two, "..., 0");
    rd_expr      *d = rd_sub(x, mean), *most = rd_reduce(x, three_largest, one);
    rd_expr      *v = rd_window(x, axis, 3, 1), *p = rd_sub(rd_expand(x, 1), rd_expand(x, 2));

    nest_add(b, rd_div(d, rd_sqrt(rd_slice(two, "..., 1"))));
    nest_add(b, rd_reduce(d, places, one, .where = w));
    nest_add(b, rd_sum(most, RD_DIMS(-1)));
    nest_add(b, rd_reduce(rd_sum(x, one, .where = w), of_f32, RD_ALL));
    nest_add(b, rd_reduce(rd_sqrt(rd_abs(x)), of_f16, one));
    nest_add(b, rd_reduce(v, three_largest, RD_DIMS(-1)));
    nest_add(b, rd_reduce(p, welford, RD_DIMS(2), .where = rd_ne(rd_coord(p, 1), rd_coord(p, 2))));
    nest_add(b, rd_reduce(p, odds, RD_DIMS(1), .skip_nan = true));
    nest_add(b, rd_add(mean, rd_max(x, kept, .where = w, .skip_nan = true)));
    nest_add(b, rd_scan(x, geometric_mean, one, .where = w));
    nest_add(b, rd_scan(x, of_i16, one, .reverse = true, .exclusive = true));
    nest_add(b, rd_reduce(rd_scan(x, "sum", one, .where = w), of_f64, one));
    nest_add(b, rd_reduce(most, of_f64, RD_ALL));
}

static void agree_on_programs(const user_case *c, const rd_shape *shape, int axis)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    all = { 0 }, b = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_expr      *x = operand_of(&m, c->type, shape, c->layout, c->values);
    rd_expr *w = c->mask < N_MASKS ? operand_mask_of(&m, c->mask, shape, c->mask_layout, x) : NULL;

    add_programs(&all, x, w, axis);
    ck_assert_int_eq(all.n, 13);
    for (int k = 0; k < all.n; k++) {
        snprintf(b.what, sizeof b.what, "program %d along %d, %s", k, axis, describe(c));
        nest_add(&b, all.y[k]);
        if (k % 3 == c->number % 3 || k == all.n - 1)
            agree(&b, false, c->number);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(programs)
{
    static const rd_dtype floats[] = { RD_F32, RD_F64, RD_F16 };
    static const rd_shape small[]  = { { 3, 0, { 5, 37, 66 } },
                                       { 3, 0, { 3, 3, 500 } },
                                       { 3, 0, { 130, 3, 4 } } };

    for (int k = _i; k < 3 * 2 * N_MASKS * COUNT(small); k += STEP) {
        user_case c = case_of(floats[_i], k);

        c.values = (operand_values)(c.number % NANS); /* logarithms of others are NaN or not */
        agree_on_programs(&c, &small[k / (6 * N_MASKS) % COUNT(small)], k / (2 * N_MASKS) % 3);
    }
    on_tiles();
}
END_TEST

/* ---- Functions ------------------------------------------------------------------------------- */
typedef struct block_types {
    rd_dtype in, out;
    int      arity;
} block_types;

static const char *by_types(void *user, int64_t n, const void *const *in, void *out)
{
    const block_types *f = user;

    for (int64_t i = 0; i < n; i++) {
        double y = 0.5;

        for (int k = 0; k < f->arity; k++)
            y = 0.75 * y +
                rd_word_to_double(
                    rd_word_load((const char *)in[k] + i * rd_dtype_size(f->in), f->in), f->in);
        rd_word_store((char *)out + i * rd_dtype_size(f->out), f->out,
                      rd_word_from_double(y, f->out));
    }
    return NULL;
}

static float halved(float x)
{
    return x / 2 + 1;
}

static double between(double x, double y)
{
    return 0.25 * x + 0.75 * y;
}

/* Text that nobody can read but the compiler of this file. */
RD_FN2(quarter, x, y, halved((float)x) / 2 - y)

/* Texts of statements, laid out as a user lays them out. */
/* clang-format off */
RD_FN2_BODY(escape, a, b, n, (
    real u = 0, v = 0;
    while (n < 9 && u * u + v * v < 4) {
        const real t = u * u - v * v + a;
        v = 2 * u * v + b;
        u = t;
        n += 1;
    }))
RD_FN1_BODY(bent, x, y, (
    const real z = min(abs(x), 3);
    if (z > 2.75) return 1 - z;
    if (z < 1) y = z * z / 2;
    else if (z > 2) y = sqrt(z) + fmod(z, 2);
    for (int k = 0; k < 3; k++) y += max(z, y) / (real)(k + 2);))
/* Text that names what only this file has. */
RD_FN1_BODY(bent_by_file, x, y, (y = (real)halved((float)x); if (x > 2) y = -y;))
/* clang-format on */

/* Operands are elements, numbers of rows, of columns, and of all. */
static void add_functions(nest_batch *b, const rd_fn *f, rd_expr *x, rd_expr *row, int axis)
{
    const rd_dims  one   = RD_DIMS(axis);
    rd_expr *const in[3] = { x, row, rd_max(x, RD_KEEP_ALL, .skip_nan = true) };
    rd_expr *const ni[3] = { row, x, x };
    rd_expr       *y     = rd_mapn(f, ((rd_exprs){ in, f->arity })),
            *z           = rd_mapn(f, ((rd_exprs){ ni, f->arity }));

    nest_add(b, y);
    nest_add(b, z);
    nest_add(b, rd_sum(y, one));
    nest_add(b, rd_argmin(z, one));
    nest_add(b, rd_max(y, RD_ALL));
    nest_add(b, rd_reduce(y, of_i16, one));
    nest_add(b, rd_sum(rd_mul(rd_slice(y, "..., ::-1"), z), one, .where = rd_gt(y, z)));
    nest_add(b, rd_map(x, halved));
    nest_add(b, rd_map2(row, x, between));
    nest_add(b, rd_mean(rd_map2(x, rd_map(x, halved), between), one));
    nest_add(b, rd_cast(rd_map(row, halved), RD_U8));
    nest_add(b, rd_map2(x, row, quarter));
    nest_add(b, rd_var(rd_map2(row, x, quarter), one));
    nest_add(b, rd_map2(x, row, escape));
    nest_add(b, rd_sum(rd_map2(row, x, escape), one));
    nest_add(b, rd_mul(rd_map(x, bent), row));
    nest_add(b, rd_max(rd_map(rd_add(x, row), bent), one));
}

static void agree_on_functions(const user_case *c, block_types f, int axis, bool nests)
{
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const rd_shape shape = operand_shapes[c->shape];
    rd_shape       rows  = shape;
    const rd_fn    mine  = nest_function(by_types, &f, f.arity, f.in, f.out);
    tile_memory    m     = { 0 };
    nest_batch     all = { 0 }, b = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_expr       *x = operand_of(&m, c->type, &shape, c->layout, c->values);

    rows.at[c->number % 3] = 1;
    add_functions(&all, &mine, x, operand_of(&m, c->type, &rows, DENSE, TIES), axis);
    ck_assert_int_eq(all.n, 17);
    for (int k = 0; k < all.n; k++) {
        snprintf(b.what, sizeof b.what, "function %d, %s to %s, %d operands, along %d, %s", k,
                 rd_dtype_name(f.in), rd_dtype_name(f.out), f.arity, axis, describe(c));
        nest_add(&b, all.y[k]);
        if (nests ? k == all.n - 1 : k % 3 == c->number % 3 || k == all.n - 1)
            agree(&b, nests, c->number);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

static const rd_dtype in_memory[] = { RD_U8,  RD_I16, RD_F16, RD_BF16, RD_I8,  RD_U16,
                                      RD_F32, RD_F64, RD_I64, RD_U32,  RD_BOOL };

static block_types types_of(int number)
{
    return (block_types){ .in    = in_memory[number % COUNT(in_memory)],
                          .out   = in_memory[number / COUNT(in_memory) % COUNT(in_memory)],
                          .arity = 1 + number / 1000 % 3 };
}

START_TEST(functions)
{
    for (int k = _i; k < 16 * N_SHAPES; k += STEP) {
        user_case c = case_of(types[_i], k);

        c.mask  = N_MASKS;
        c.shape = k % N_SHAPES;
        agree_on_functions(&c, types_of(c.number / 7), k % 3, false);
    }
    on_tiles();
}
END_TEST

START_TEST(functions_in_nests)
{
    rd_tier_force("sync");
    rd_nest_force("always");
    for (int k = _i; k < 3 * COUNT(types); k += COUNT(types))
        if (k % suite_part(11) == 0) {
            user_case c = case_of(types[_i], 37 * k + 11);

            c.mask = N_MASKS;
            agree_on_functions(&c, types_of(c.number / 7), k % 3, true);
        }
    in_nests();
}
END_TEST

/* Its text does not compile by itself: the function is called. */
START_TEST(text_of_this_file)
{
    float x[100], y[100];

    rd_tier_force("sync");
    rd_nest_force("always");
    for (int k = 0; k < 100; k++)
        x[k] = (float)(k % 7) - 1;
    ck_assert_msg(rd_eval(ctx, rd_map(rd_wrap(ctx, x, RD_SHAPE(100)), bent_by_file),
                          RD_INTO(y, RD_SHAPE(100))) == RD_OK,
                  "%s", rd_error_text(ctx));
    for (int k = 0; k < 100; k++)
        ck_assert_float_eq(y[k], x[k] > 2 ? -halved(x[k]) : halved(x[k]));
}
END_TEST

int main(void)
{
    const nest_case cases[] = {
        { reductions, 0, COUNT(types) }, { reductions_in_nests, 0, COUNT(types) },
        { large_states, 0, 2 },          { programs, 0, 3 },
        { functions, 0, COUNT(types) },  { functions_in_nests, 0, COUNT(types) },
        { text_of_this_file, 0, 1 },
    };

    return nest_suite("users", begin, cases, COUNT(cases));
}
