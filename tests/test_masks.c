/* test_masks.c - what masks leave out, on tiles by vectors: every reducer and scan, along every
 * axis, against the reference.
 *
 * The product of what there is is long: its cases take layouts, values and keywords in turn. */
#include "kernels/cpu/nest/nest.h"
#include "operands.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

#define STEP (THREAD_SANITIZED ? 211 : SANITIZED ? 211 : suite_part(29))

static const rd_dtype types[] = { RD_F32,  RD_F64, RD_F16, RD_I8,  RD_I32, RD_U8,  RD_I64,
                                  RD_BOOL, RD_U64, RD_U32, RD_I16, RD_U16, RD_BF16 };

static rd_ctx *ctx;

static void begin(void)
{
    ctx = nest_begin();
    rd_tier_force("off");
    rd_nest_force("never");
}

/* Folds of one element each begin anew for every element, which tiles leave to the reference: the
 * few cases of a sanitized run may all be such. */
static void end(void)
{
    ck_assert_msg(nest_seen.tiles * 5 >= nest_seen.programs * 4 || SANITIZED,
                  "%d of %d programs run on tiles", nest_seen.tiles, nest_seen.programs);
    nest_end();
}

static bool is_float(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT;
}

/* ---- Reductions ------------------------------------------------------------------------------ */
enum { INITIAL = 1, WEIGHTS = 2, DDOF = 4, ACCURACY = 8, WIDER = 16 };

static const struct {
    const char *name;
    unsigned    takes;
} reducers[] = {
    { "sum", INITIAL | ACCURACY | WIDER },
    { "prod", INITIAL | WIDER },
    { "min", INITIAL },
    { "max", INITIAL },
    { "argmin", 0 },
    { "argmax", 0 },
    { "any", 0 },
    { "all", 0 },
    { "count", 0 },
    { "mean", WEIGHTS | ACCURACY | WIDER },
    { "var", WEIGHTS | DDOF | WIDER },
    { "std", WEIGHTS | DDOF },
    { "skewness", WEIGHTS | WIDER },
    { "kurtosis", WEIGHTS | WIDER },
    { "norm", WIDER },
    { "logsumexp", WEIGHTS },
};

typedef struct mask_case {
    rd_dtype       type;
    int            shape, axes, mask;
    operand_values values;
    operand_layout layout, mask_layout;
    unsigned       with; /* keywords, of reducers that take them */
    int            number;
} mask_case;

static const char *describe(const mask_case *c)
{
    static char     text[120];
    const rd_shape *s = &operand_shapes[c->shape];

    snprintf(text, sizeof text, "%s, %d x %d x %d, axes %d, %s, values %d, layouts %d %d, with %u",
             rd_dtype_name(c->type), (int)s->at[0], (int)s->at[1], (int)s->at[2], c->axes,
             operand_masks[c->mask].what, (int)c->values, (int)c->layout, (int)c->mask_layout,
             c->with);
    return text;
}

/* Some are 0, or all. */
static rd_expr *weights_of(tile_memory *m, const mask_case *c)
{
    const rd_dtype type = is_float(c->type) ? c->type : RD_F64;
    rd_shape       s    = operand_shapes[c->shape];

    if (c->number % 5 < 3)
        s.at[c->number % 5] = 1;
    return operand_of(m, type, &s, c->number % 2 ? DENSE : TURNED, c->number % 7 ? TIES : ZEROS);
}

/* What counts is as the case says, what does not may be better. */
static rd_expr *hidden(tile_memory *m, const mask_case *c, rd_expr *mask, rd_expr *x)
{
    rd_expr *other = operand_of(m, c->type, &operand_shapes[c->shape], DENSE, TIES);

    return rd_type_of(x) == c->type ? rd_where(mask, x, other) : x;
}

static void add(nest_batch *b, rd_expr *y)
{
    ck_assert_msg(y || rd_error(ctx) == RD_ERR_EMPTY, "%s: %s", b->what, rd_error_text(ctx));
    nest_add(b, y);
}

static rd_reduce_opts options_of(const mask_case *c, int reducer, const rd_reduce_opts *given)
{
    const unsigned takes = reducers[reducer].takes & c->with;
    const bool     least = strcmp(reducers[reducer].name, "min") == 0;
    rd_reduce_opts opts  = *given;

    if (reducers[reducer].takes & INITIAL && (takes || !is_float(c->type)))
        opts.initial = rd_cast(rd_int(ctx, least && c->type != RD_BOOL ? 100 : 0), c->type);
    if (!(takes & WEIGHTS))
        opts.weights = NULL;
    if (takes & DDOF)
        opts.ddof = 1;
    if (takes & ACCURACY && is_float(c->type))
        opts.accuracy = (rd_accuracy)(1 + c->number % 3);
    if (takes & WIDER && is_float(c->type))
        opts.type = RD_F64;
    return opts;
}

/* Reducers, a few at a time, or all in one program. */
static void agree_on_reductions(const mask_case *c)
{
    static const int few[] = { 1, 1, 3, COUNT(reducers) };
    const int        n     = few[c->number % COUNT(few)];
    const rd_mark    mark  = rd_ctx_mark(ctx);
    tile_memory      m     = { 0 };
    nest_batch       b     = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_reduce_opts   opts  = { .size = sizeof opts, .dims = operand_axes[c->axes] };
    rd_expr         *x = operand_of(&m, c->type, &operand_shapes[c->shape], c->layout, c->values);

    opts.skip_nan = operand_masks[c->mask].skip_nan;
    opts.where    = operand_mask_of(&m, c->mask, &operand_shapes[c->shape], c->mask_layout, x);
    opts.weights  = weights_of(&m, c);
    if (c->values >= MOST && opts.where && c->number % 2)
        x = hidden(&m, c, opts.where, x);
    for (int r = 0; r < COUNT(reducers); r++) {
        const rd_reduce_opts own = options_of(c, r, &opts);

        snprintf(b.what, sizeof b.what, "%.10s, %s", reducers[r].name, describe(c));
        add(&b, rd_reduce_name(x, reducers[r].name, &own));
        if (b.n && (r % n == n - 1 || r == COUNT(reducers) - 1))
            nest_agree_on_tiles(&b, &operand_shares[c->number % 3], 2);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

/* The rest of case k follows from its number. */
static mask_case case_of(rd_dtype type, int k)
{
    mask_case c = { .type = type, .number = (k * 2654435761U + type) >> 7 & 0xffffff };

    c.mask        = k % N_MASKS;
    c.axes        = k / N_MASKS % N_AXES;
    c.shape       = k / (N_MASKS * N_AXES) % N_SHAPES;
    c.values      = (operand_values)(c.number / 3 % N_VALUES);
    c.layout      = (operand_layout)(c.number / 24 % 2 ? c.number / 48 % N_LAYOUTS : DENSE);
    c.mask_layout = (operand_layout)(c.number / 500 % 3 ? c.number / 1500 % N_LAYOUTS : DENSE);
    c.with        = c.number / 16384 % 4 ? (unsigned)(c.number / 65536) % 32 : 0;
    return c;
}

START_TEST(reductions)
{
    const int n = N_MASKS * N_AXES * N_SHAPES;

    for (int k = _i; k < n; k += STEP) {
        const mask_case c = case_of(types[_i], k);

        agree_on_reductions(&c);
    }
}
END_TEST

/* ---- Scans ----------------------------------------------------------------------------------- */
static void agree_on_scans(const mask_case *c, int axis)
{
    static const char *const names[] = { "sum", "prod", "min", "max" };
    const rd_mark            mark    = rd_ctx_mark(ctx);
    tile_memory              m       = { 0 };
    nest_batch               b       = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_reduce_opts           opts    = { .size = sizeof opts, .dims = RD_DIMS(axis) };
    rd_expr *x = operand_of(&m, c->type, &operand_shapes[c->shape], c->layout, c->values);

    opts.skip_nan  = operand_masks[c->mask].skip_nan;
    opts.where     = operand_mask_of(&m, c->mask, &operand_shapes[c->shape], c->mask_layout, x);
    opts.exclusive = c->with & 1;
    opts.reverse   = c->with & 2;
    if (c->values >= MOST && opts.where && c->number % 2)
        x = hidden(&m, c, opts.where, x);
    for (int r = 0; r < COUNT(names); r++) {
        rd_reduce_opts own = opts;

        if (c->with & 4 || (r > 1 && (opts.exclusive || !is_float(c->type))))
            own.initial = rd_cast(rd_int(ctx, 1), c->type);
        if (c->with & 8 && r == 0)
            own.accuracy = RD_SERIAL;
        snprintf(b.what, sizeof b.what, "scan %s along %d, %s", names[r], axis, describe(c));
        add(&b, rd_scan_name(x, names[r], &own));
        if (c->number % 3 || r == COUNT(names) - 1)
            nest_agree_on_tiles(&b, &operand_shares[c->number % 3], 2);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(scans)
{
    const int n = 3 * N_MASKS * N_SHAPES;

    for (int k = _i; k < 3 * n; k += STEP) {
        mask_case c = case_of(types[_i], k / 3);

        c.shape = k / (3 * N_MASKS) % N_SHAPES;
        c.with  = (unsigned)(c.number / 16384) % 16;
        agree_on_scans(&c, k % 3);
    }
}
END_TEST

/* ---- Programs -------------------------------------------------------------------------------- */
/* Masked folds among others: phases over rows, windows, pairs, folds of folds. */
static void add_programs(nest_batch *b, rd_expr *x, rd_expr *w, int axis)
{
    const rd_dims one = RD_DIMS(axis), kept = RD_KEEP(axis);
    rd_expr      *d = rd_sub(x, rd_mean(x, kept, .where = w)), *z = rd_int(ctx, 0);
    rd_expr      *e = rd_exp(rd_sub(x, rd_max(x, kept, .where = w, .skip_nan = true)));
    rd_expr      *v = rd_window(x, axis, 3, 1), *u = rd_window(w, axis, 3, 1);
    rd_expr      *p = rd_sub(rd_expand(x, 1), rd_expand(x, 2));

    add(b, rd_div(d, rd_std(x, kept, .where = w)));
    add(b, rd_div(e, rd_sum(e, kept, .where = w)));
    add(b, rd_mean(v, RD_DIMS(-1), .skip_nan = true));
    add(b, rd_max(v, RD_DIMS(-1), .where = u));
    add(b, rd_argmin(v, RD_DIMS(-1), .where = u));
    add(b, rd_var(rd_sum(x, one, .where = w), RD_ALL, .skip_nan = true));
    add(b, rd_sum(rd_argmax(x, one, .where = rd_lt(d, z)), RD_ALL));
    add(b, rd_argmin(rd_abs(p), RD_DIMS(2), .where = rd_ne(rd_coord(p, 1), rd_coord(p, 2))));
    add(b, rd_sum(p, RD_DIMS(1), .skip_nan = true));
    add(b, rd_max(rd_scan(x, "sum", one, .where = w), one, .where = rd_gt(x, z)));
    add(b, rd_scan(d, "sum", one, .where = rd_and(w, rd_lt(d, z))));
    add(b, rd_concat(0, RD_EXPRS(rd_min(x, one, .where = w), rd_max(x, one, .skip_nan = true))));
    add(b, rd_sum(rd_where(w, x, rd_min(x, kept, .where = w)), one, .skip_nan = true));
    add(b, rd_logsumexp(x, one, .where = rd_eq(x, rd_max(x, kept, .skip_nan = true))));
    add(b, rd_argmax(rd_mean(x, one, .where = w), RD_DIMS(-1), .skip_nan = true));
}

static void agree_on_programs(const mask_case *c, const rd_shape *shape, int axis)
{
    const rd_mark mark = rd_ctx_mark(ctx);
    tile_memory   m    = { 0 };
    nest_batch    all = { 0 }, b = { .traversal = (rd_traversal)(c->number / 4 % 3) };
    rd_expr      *x = operand_of(&m, c->type, shape, c->layout, c->values);
    rd_expr      *w = operand_mask_of(&m, c->mask, shape, c->mask_layout, x);

    add_programs(&all, x, w ? rd_broadcast(w, *shape) : rd_eq(x, x), axis);
    for (int k = 0; k < all.n; k++) {
        snprintf(b.what, sizeof b.what, "program %d along %d, %s", k, axis, describe(c));
        add(&b, all.y[k]);
        if (k % 3 == c->number % 3 || k == all.n - 1)
            nest_agree_on_tiles(&b, &operand_shares[c->number % 3], 2);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}

START_TEST(programs)
{
    static const rd_dtype floats[] = { RD_F32, RD_F64, RD_F16 };
    static const rd_shape small[]  = { { 3, 0, { 5, 37, 66 } },
                                       { 3, 0, { 3, 3, 500 } },
                                       { 3, 0, { 130, 3, 4 } },
                                       { 3, 0, { 40, 40, 3 } } };

    for (int k = _i; k < 2 * 3 * N_MASKS * COUNT(small); k += STEP) {
        mask_case c = case_of(floats[_i], k);

        c.values = (operand_values)(c.number % MOST);
        agree_on_programs(&c, &small[k / (3 * N_MASKS) % COUNT(small)], k / N_MASKS % 3);
    }
}
END_TEST

/* ---- Long rows ------------------------------------------------------------------------------- */
/* Read and written in place, they are longer than buffers, which what is left out goes to. */
START_TEST(long_rows)
{
    static const rd_dtype in_place[] = { RD_F32, RD_F64, RD_I64, RD_U64 };
    const rd_shape        shape      = RD_SHAPE(2, 3, 9001);
    const rd_dtype        type       = in_place[_i];
    const rd_mark         mark       = rd_ctx_mark(ctx);
    tile_memory           m          = { 0 };
    rd_expr              *x          = operand_of(&m, type, &shape, DENSE, NUMBERS);
    rd_expr              *initial    = rd_cast(rd_int(ctx, 1), type);

    for (int k = 3; k < 8; k++) {
        rd_expr *const w = operand_mask_of(&m, k, &shape, DENSE, x);
        nest_batch     b = { 0 };

        snprintf(b.what, sizeof b.what, "long rows of %s, %s", rd_dtype_name(type),
                 operand_masks[k].what);
        nest_add(&b, rd_scan(x, "sum", RD_DIMS(k % 2), .where = w));
        nest_agree_on_tiles(&b, operand_shares, 2);
        nest_add(&b, rd_scan(x, "min", RD_DIMS(1 - k % 2), .where = w, .initial = initial));
        nest_agree_on_tiles(&b, operand_shares, 2);
        nest_add(&b, rd_max(x, RD_DIMS(k % 2), .where = w, .initial = initial));
        nest_add(&b, rd_argmin(x, RD_DIMS(1 - k % 2), .where = w));
        nest_agree_on_tiles(&b, operand_shares, 2);
    }
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

/* ---- Large results --------------------------------------------------------------------------- */
/* Of 16 MiB and more, which go past the caches; rows of two lengths, one of whole lines. */
START_TEST(large_scans)
{
    const rd_dtype type  = _i % 2 ? RD_F64 : RD_F32;
    const rd_shape shape = RD_SHAPE(3, 1050, 1344 + _i / 2 % 2);
    const rd_mark  mark  = rd_ctx_mark(ctx);
    const int      axis  = _i % 3;
    tile_memory    m     = { 0 };
    nest_batch     b     = { 0 };
    rd_expr       *x     = operand_of(&m, type, &shape, DENSE, NANS);
    rd_expr       *w     = operand_mask_of(&m, 3 + _i % 5, &shape, DENSE, x);

    snprintf(b.what, sizeof b.what, "large scans of %s along %d, %s", rd_dtype_name(type), axis,
             operand_masks[3 + _i % 5].what);
    nest_add(&b, rd_scan(x, "sum", RD_DIMS(axis), .where = w, .skip_nan = _i & 1));
    nest_agree_on_tiles(&b, operand_shares, 2);
    nest_add(&b, rd_scan(x, "max", RD_DIMS(axis), .where = w, .skip_nan = true, .reverse = true,
                         .exclusive = _i & 4, .initial = _i & 4 ? rd_num(ctx, -2) : NULL));
    nest_agree_on_tiles(&b, operand_shares, 2);
    tile_free(&m);
    rd_ctx_release(ctx, mark);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("masks");
    TCase   *tests  = tcase_create("masks");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_loop_test(tests, reductions, 0, COUNT(types));
    tcase_add_loop_test(tests, scans, 0, COUNT(types));
    tcase_add_loop_test(tests, programs, 0, 3);
    tcase_add_loop_test(tests, long_rows, 0, 4);
    tcase_add_loop_test(tests, large_scans, 0, SANITIZED ? 1 : 1 + 11 / suite_long_part(4));
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
