/* test_passes.c - compiled passes: what a compiler makes of every operator, cast and reducer, in
 * every form, against the scalar interpreter; and what happens when nothing can be compiled. */
#define _XOPEN_SOURCE 700 /* setenv */
#include "kernels/cpu/jit/emit.h"
#include "kernels/cpu/codegen/codegen.h"
#include "kernels/cpu/jit/tier.h"
#include "tiles.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static const rd_dtype types[] = {
    RD_F32, RD_F64, RD_BOOL, RD_I8, RD_I16, RD_I32, RD_I64, RD_U8, RD_U16, RD_U32, RD_U64,
};
enum { N_TYPES = sizeof types / sizeof *types };

static void sync_passes(void)
{
    rd_tier_force("sync");
}

static void no_passes(void)
{
    rd_tier_force(NULL);
}

/* Runs the program with passes, which must be at least so many for each set of kernels. */
static void agree(builder *b, tile_memory *m, const int64_t *cut, int32_t tasks, int64_t least,
                  const char *what)
{
    const rd_tier_stats before = rd_tier_stats_now();
    rd_tier_stats       after;

    tile_agree(b, m, cut, tasks, true, what);
    after = rd_tier_stats_now();
    ck_assert_msg(after.failed == before.failed, "%s: cannot be compiled", what);
    ck_assert_msg(after.asked - before.asked >= least * (isa_count() - 1), "%s: %d passes", what,
                  (int)(after.asked - before.asked));
    tile_free(m);
}

/* ---- Elements -------------------------------------------------------------------------------- */
static bool has(rd_op op, rd_dtype type)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    switch (rd_op_table[op].rule) {
    case RD_RULE_ARITH: return type != RD_BOOL;
    case RD_RULE_FLOAT:
    case RD_RULE_ROUND: return real;
    case RD_RULE_LOGIC: return type == RD_BOOL;
    case RD_RULE_SAME:
    case RD_RULE_COMPARE:
    case RD_RULE_TEST: return true;
    default: return false;
    }
}

static bool is_test(rd_op op)
{
    return rd_op_table[op].rule == RD_RULE_COMPARE || rd_op_table[op].rule == RD_RULE_TEST;
}

enum { MOST_OPS = 7, OPERANDS = 3, STEP = THREAD_SANITIZED ? 13 : SANITIZED ? 4 : 1 };

/* Loops over rows and columns, and the operands: a matrix, one for each row, one for all. */
static void begin(builder *b, tile_memory *m, rd_dtype type, int64_t rows, int64_t cols)
{
    const int64_t extent[] = { rows, cols };

    builder_init(b, 2, extent);
    b->p.root = 0;
    for (int k = 0; k < OPERANDS; k++)
        tile_slot(m, type, rows * cols, UGLY);
    builder_load_2(b, 2, 2, type, 0, 0, rows * cols / 2);
    builder_body(b);
    builder_loop(b, (rd_loop){ .axis = 0 });
    builder_load_2(b, 1, 1, type, cols, 0, 0);
    builder_loop(b, (rd_loop){ .axis = 1 });
    builder_load_2(b, 0, 0, type, cols, 1, 0);
}

static void operators_of(rd_dtype type, const rd_op *op, int n, int64_t rows, int64_t cols)
{
    tile_memory m = { 0 };
    builder     b;
    char        what[80];
    int32_t     results, tests;

    begin(&b, &m, type, rows, cols);
    results = tile_slot(&m, type, MOST_OPS * rows * cols, ORDINARY);
    tests   = tile_slot(&m, RD_BOOL, MOST_OPS * rows * cols, ORDINARY);
    for (int k = 0; k < n; k++) {
        const int      arity = rd_op_table[op[k]].arity;
        const rd_dtype out   = is_test(op[k]) ? RD_BOOL : type;

        builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                                   .op   = op[k],
                                   .type = out,
                                   .from = type,
                                   .dst  = 3 + k,
                                   .b    = arity > 1 ? 1 : -1,
                                   .c    = arity > 2 ? 2 : -1 });
        builder_store_2(&b, 3 + k, is_test(op[k]) ? tests : results, out, cols, 1, k * rows * cols);
    }
    builder_end(&b);
    builder_end(&b);
    snprintf(what, sizeof what, "%s .. %s of %s, %d x %d", rd_op_table[op[0]].name,
             rd_op_table[op[n - 1]].name, rd_dtype_name(type), (int)rows, (int)cols);
    agree(&b, &m, NULL, 0, n > 1, what);
}

START_TEST(operators)
{
    rd_op list[MOST_OPS];
    int   n = 0;

    for (int op = 0; op <= RD_OP_where; op++) {
        if (op < RD_OP_where && has((rd_op)op, types[_i]) && rd_spec_can((rd_op)op, types[_i]))
            list[n++] = (rd_op)op;
        if (n < MOST_OPS && (n == 0 || op < RD_OP_where))
            continue; /* not a program's worth, nor the last ones */
        operators_of(types[_i], list, n, 7, 67);
        operators_of(types[_i], list, n, 2, 2311);
        operators_of(types[_i], list, n, 1100, 1);
        n = 0;
    }
}
END_TEST

/* From the type to all others, and back. */
START_TEST(casts)
{
    const rd_dtype from = types[_i];

    for (int k = _i % STEP; k < N_TYPES; k += STEP) {
        const int64_t rows = 3, cols = 300;
        tile_memory   m = { 0 };
        builder       b;
        int32_t       there, back;

        begin(&b, &m, from, rows, cols);
        there = tile_slot(&m, types[k], rows * cols, ORDINARY);
        back  = tile_slot(&m, from, rows * cols, ORDINARY);
        builder_add(
            &b, (rd_inst){ .kind = RD_I_CAST, .type = types[k], .from = from, .dst = 3, .a = 0 });
        builder_add(
            &b, (rd_inst){ .kind = RD_I_CAST, .type = from, .from = types[k], .dst = 4, .a = 3 });
        builder_store_2(&b, 3, there, types[k], cols, 1, 0);
        builder_store_2(&b, 4, back, from, cols, 1, 0);
        builder_end(&b);
        builder_end(&b);
        agree(&b, &m, NULL, 0, 1, rd_dtype_name(types[k]));
    }
}
END_TEST

/* Choices, constants, and operands that lie apart, backwards, in columns. */
START_TEST(layouts)
{
    static const struct {
        int64_t row, col, offset;
    } places[] = { { 900, 3, 0 }, { -300, -1, 899 }, { 1, 3, 0 }, { 0, 1, 0 }, { 300, 0, 7 } };
    const rd_dtype type     = types[_i];
    const int64_t  extent[] = { 3, 300 };

    for (int k = 0; k < COUNT(places); k++) {
        tile_memory m = { 0 };
        builder     b;

        builder_init(&b, 2, extent);
        b.p.root = 0;
        tile_slot(&m, type, 2700, UGLY);
        tile_slot(&m, type, 900, UGLY);
        tile_slot(&m, RD_BOOL, 900, FLAGS);
        builder_body(&b);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_loop(&b, (rd_loop){ .axis = 1 });
        builder_load_2(&b, 0, 0, type, places[k].row, places[k].col, places[k].offset);
        builder_load_2(&b, 1, 1, type, 300, 1, 0);
        builder_load_2(&b, 2, 2, RD_BOOL, 300, 1, 0);
        builder_add(
            &b, (rd_inst){ .kind = RD_I_SELECT, .type = type, .dst = 3, .a = 2, .b = 0, .c = 1 });
        builder_add(&b, (rd_inst){ .kind  = RD_I_CONST,
                                   .type  = type,
                                   .dst   = 4,
                                   .value = rd_word_from_double(7, type) });
        builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                                   .op   = RD_OP_maximum,
                                   .type = type,
                                   .from = type,
                                   .dst  = 5,
                                   .a    = 3,
                                   .b    = 4,
                                   .c    = -1 });
        builder_store_2(&b, 3, tile_slot(&m, type, 900, ORDINARY), type, 300, 1, 0);
        builder_store_2(&b, 5, tile_slot(&m, type, 2700, ORDINARY), type, 900, 3, 1);
        builder_end(&b);
        builder_end(&b);
        agree(&b, &m, NULL, 0, 1, rd_dtype_name(type));
    }
}
END_TEST

/* sin is none of a pass: what it reads goes to a buffer, of wider elements than what the pass has
 * read before. */
START_TEST(buffers)
{
    const int64_t extent[] = { 5, 700 };
    tile_memory   m        = { 0 };
    builder       b;

    builder_init(&b, 2, extent);
    b.p.root = 0;
    tile_slot(&m, RD_F32, 3500, UGLY);
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, RD_F32, 700, 1, 0);
    builder_add(
        &b,
        (rd_inst){ .kind = RD_I_MAP, .op = RD_OP_sin, .type = RD_F32, .dst = 1, .b = -1, .c = -1 });
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_MAP, .op = RD_OP_mul, .type = RD_F32, .dst = 2, .a = 1, .b = 0, .c = -1 });
    builder_add(&b,
                (rd_inst){ .kind = RD_I_CAST, .type = RD_F64, .from = RD_F32, .dst = 3, .a = 2 });
    builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                               .op   = RD_OP_square,
                               .type = RD_F64,
                               .dst  = 4,
                               .a    = 3,
                               .b    = -1,
                               .c    = -1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                               .op   = RD_OP_cos,
                               .type = RD_F64,
                               .dst  = 5,
                               .a    = 4,
                               .b    = -1,
                               .c    = -1 });
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_MAP, .op = RD_OP_add, .type = RD_F64, .dst = 6, .a = 5, .b = 3, .c = -1 });
    builder_add(&b,
                (rd_inst){ .kind = RD_I_CAST, .type = RD_F32, .from = RD_F64, .dst = 7, .a = 6 });
    builder_store_2(&b, 7, tile_slot(&m, RD_F32, 3500, ORDINARY), RD_F32, 700, 1, 0);
    builder_end(&b);
    builder_end(&b);
    agree(&b, &m, NULL, 0, 2, "sin between");
}
END_TEST

/* ---- Folds ----------------------------------------------------------------------------------- */
/* ONE_LANE: of all elements, too */
typedef enum fold_form { ROWS, ALL, ONE_LANE, COLUMNS, N_FORMS } fold_form;

static rd_address along(int32_t axis, int64_t coef)
{
    return (rd_address){ .n_add = 1, .add = { { .axis = axis, .coef = coef } } };
}

static rd_fold fold_of(rd_reducer_id reducer, rd_dtype type, fold_form form, int64_t rows,
                       int64_t cols)
{
    const bool    all    = form == ALL || form == ONE_LANE;
    const int32_t lanes  = form == COLUMNS || form == ONE_LANE ? 1
                           : rd_dtype_size(type) == 8          ? 32
                                                               : 64;
    const int64_t extent = form == COLUMNS ? rows : cols;
    rd_fold       f      = { .reducer     = reducer,
                             .type        = type,
                             .out         = type,
                             .ddof        = 1,
                             .n_out       = rd_reducer_table[reducer].n_out,
                             .lanes       = lanes,
                             .steps       = 64,
                             .lane_extent = extent,
                             .lane        = along(form == COLUMNS ? 0 : 1, 1),
                             .index       = along(form == COLUMNS ? 0 : 1, 1),
                             .n_cell      = form == COLUMNS ? cols : 1,
                             .split       = form != ROWS,
                             .n_block = ((extent + lanes - 1) / lanes * (all ? rows : 1) + 63) / 64 };

    if (form == COLUMNS)
        f.cell = along(1, 1);
    if (all) {
        f.outer = along(0, 1);
        f.index = (rd_address){ .n_add = 2,
                                .add = { { .axis = 0, .coef = cols }, { .axis = 1, .coef = 1 } } };
    }
    return f;
}

/* Results of fold k from register 8 + 2 k on. */
static void close_fold(builder *b, tile_memory *m, int k, int32_t axis, int64_t n)
{
    const rd_fold *f = &b->fold[k];

    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .arg = k, .dst = 8 + 2 * k });
    for (int32_t y = 0; y < f->n_out; y++)
        builder_store(b, 8 + 2 * k + y, tile_slot(m, f->out, n, ORDINARY), f->out, axis, axis >= 0,
                      0);
}

/* Two folds, of one map of the elements, which it also stores, and of the elements, cast to a type
 * of as many lanes. */
static void fold_pair(const rd_reducer_id *reducer, rd_dtype type, rd_dtype second, fold_form form,
                      int64_t rows, int64_t cols)
{
    const int64_t extent[] = { rows, cols };
    const int64_t cut[]    = { 0, rows / 3, rows / 3, rows }; /* a task without rows among them */
    tile_memory   m        = { 0 };
    builder       b;
    char          what[120];

    builder_init(&b, 2, extent);
    b.p.root = 0;
    tile_slot(&m, type, rows * cols, rows % 2 ? UGLY : ORDINARY);
    tile_slot(&m, type, rows * cols, ORDINARY);
    for (int k = 0; k < 2; k++)
        builder_fold(&b, fold_of(reducer[k], k ? second : type, form, rows, cols));
    for (int k = 0; form != ROWS && k < 2; k++)
        builder_add(&b, (rd_inst){ .kind = RD_I_START, .arg = k });
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    for (int k = 0; form == ROWS && k < 2; k++)
        builder_add(&b, (rd_inst){ .kind = RD_I_START, .arg = k });
    builder_load_2(&b, 1, 1, type, cols, 0, 0);
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, type, cols, 1, 0);
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_MAP, .op = RD_OP_sub, .type = type, .dst = 2, .a = 0, .b = 1, .c = -1 });
    builder_store_2(&b, 2, 1, type, cols, 1, 0);
    if (second != type)
        builder_add(&b, (rd_inst){ .kind = RD_I_CAST,
                                   .type = second,
                                   .from = type,
                                   .dst  = 3,
                                   .a    = 0,
                                   .b    = -1,
                                   .c    = -1 });
    for (int k = 0; k < 2; k++)
        builder_add(&b, (rd_inst){ .kind = RD_I_STEP,
                                   .a    = k == 0           ? 2
                                           : second != type ? 3
                                                            : 0,
                                   .b    = reducer[k] == RD_RED_dot ? k : -1,
                                   .c    = -1,
                                   .arg  = k });
    builder_end(&b);
    for (int k = 0; form == ROWS && k < 2; k++)
        close_fold(&b, &m, k, 0, rows);
    builder_end(&b);
    if (form != ROWS)
        builder_tail(&b);
    if (form == COLUMNS)
        builder_loop(&b, (rd_loop){ .axis = 1 });
    for (int k = 0; form != ROWS && k < 2; k++)
        close_fold(&b, &m, k, form == COLUMNS ? 1 : -1, form == COLUMNS ? cols : 1);
    if (form == COLUMNS)
        builder_end(&b);
    snprintf(what, sizeof what, "%s of %s and %s of %s, form %d, %d x %d",
             rd_reducer_table[reducer[0]].name, rd_dtype_name(type),
             rd_reducer_table[reducer[1]].name, rd_dtype_name(second), (int)form, (int)rows,
             (int)cols);
    agree(&b, &m, cut, form == ROWS ? 3 : 0, 1, what);
}

static const rd_reducer_id pairs[][2] = {
    { RD_RED_sum, RD_RED_moments },    { RD_RED_min, RD_RED_max },
    { RD_RED_prod, RD_RED_logsumexp }, { RD_RED_maxsumexp, RD_RED_sum2 },
    { RD_RED_dot, RD_RED_dot },        { RD_RED_sum, RD_RED_prod }
};

static bool takes(const rd_reducer_id *pair, rd_dtype type)
{
    const bool real = rd_dtype_kind(type) == RD_KIND_FLOAT;

    return real ? pair[1] != RD_RED_prod : pair[1] == RD_RED_prod || pair[1] == RD_RED_max;
}

static const int64_t fold_shapes[][2] = { { 1, 1 },     { 3, 31 },   { 70, 64 },  { 5, 65 },
                                          { 130, 129 }, { 3, 300 },  { 9, 2311 }, { 2, 4096 },
                                          { 3, 9000 },  { 300, 17 }, { 2, 8200 }, { 1, 62001 } };

/* Part of a step, of a block, several blocks, of rows and of columns; one spec serves all sizes. */
START_TEST(folds)
{
    static const rd_dtype of[] = { RD_F32, RD_F64, RD_I64, RD_U64 };

    for (int t = _i % STEP; t < COUNT(of); t += STEP)
        for (int form = 0; form < N_FORMS; form++)
            for (int k = 0; takes(pairs[_i], of[t]) && k < COUNT(fold_shapes); k++)
                fold_pair(pairs[_i], of[t], of[t], (fold_form)form, fold_shapes[k][0],
                          fold_shapes[k][1]);
}
END_TEST

/* As many lanes, but elements of f32 are of 32 bits and those of i32 of 64, so that the rows of one
 * alone have totals. */
START_TEST(folds_of_two_types)
{
    static const rd_reducer_id sum_and_max[] = { RD_RED_sum, RD_RED_max };

    for (int form = 0; form < N_FORMS; form++)
        for (int k = 0; k < COUNT(fold_shapes); k++) {
            fold_pair(sum_and_max, RD_F32, RD_I32, (fold_form)form, fold_shapes[k][0],
                      fold_shapes[k][1]);
            fold_pair(sum_and_max, RD_I32, RD_F32, (fold_form)form, fold_shapes[k][0],
                      fold_shapes[k][1]);
        }
}
END_TEST

/* ---- Phases ---------------------------------------------------------------------------------- */
/* Rows less their sum, and that squared: more rows than the buffers of the second loop hold. */
static void phases(rd_dtype type, int64_t rows, int64_t cols, const char *what)
{
    const int64_t extent[] = { rows, cols }, cut[] = { 0, rows / 3, rows };
    tile_memory   m = { 0 };
    builder       b;

    builder_init(&b, 2, extent);
    b.p.root = 0;
    tile_slot(&m, type, rows * cols, ORDINARY);
    builder_fold(&b, fold_of(RD_RED_sum, type, ROWS, rows, cols));
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, type, cols, 1, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 0, .b = -1, .c = -1 });
    builder_end(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 1 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 2, 0, type, cols, 1, 0);
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_MAP, .op = RD_OP_sub, .type = type, .dst = 3, .a = 2, .b = 1, .c = -1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                               .op   = RD_OP_square,
                               .type = type,
                               .dst  = 4,
                               .a    = 3,
                               .b    = -1,
                               .c    = -1 });
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_CAST, .type = RD_U8, .from = type, .dst = 5, .a = 4, .b = -1, .c = -1 });
    builder_store_2(&b, 3, tile_slot(&m, type, rows * cols + 1, ORDINARY), type, cols, 1, 1);
    builder_store_2(&b, 4, tile_slot(&m, type, rows * cols, ORDINARY), type, cols, 1, 0);
    builder_store_2(&b, 5, tile_slot(&m, RD_U8, rows * cols, ORDINARY), RD_U8, cols, 1, 0);
    builder_end(&b);
    builder_end(&b);
    agree(&b, &m, cut, 2, rd_tier_mode_now() == RD_TIER_OFF ? 0 : 1, what);
}

/* With passes and without. */
START_TEST(phases_of_rows)
{
    static const int64_t shapes[][2] = {
        { 1, 300 }, { 70, 300 }, { 500, 65 }, { 33, 2048 }, { 5, 2311 }
    };

    rd_tier_force(_i ? "sync" : "off");
    for (int k = 0; k < COUNT(shapes); k++) {
        phases(RD_F32, shapes[k][0], shapes[k][1], "phases of f32");
        phases(RD_F64, shapes[k][0], shapes[k][1], "phases of f64");
    }
}
END_TEST

/* Results so large that they go past the caches, of rows that begin anywhere in a cache line. */
START_TEST(past_the_caches)
{
    enum { ROWS_OF_16_MIB = 4200, ODD = 1003 };

    rd_tier_force(_i ? "sync" : "off");
    phases(RD_F32, ROWS_OF_16_MIB, ODD, "past the caches");
}
END_TEST

/* ---- Modes ----------------------------------------------------------------------------------- */
static rd_tier_stats stats_of(const char *mode)
{
    static const rd_op list[] = { RD_OP_add, RD_OP_exp };
    rd_tier_stats      before = rd_tier_stats_now(), after;

    rd_tier_force(mode);
    tile_memory m = { 0 };
    builder     b;
    begin(&b, &m, RD_F32, 7, 67);
    for (int k = 0; k < 2; k++)
        builder_add(&b, (rd_inst){ .kind = RD_I_MAP,
                                   .op   = list[k],
                                   .type = RD_F32,
                                   .dst  = 3 + k,
                                   .a    = 3 * k,
                                   .b    = k ? -1 : 1,
                                   .c    = -1 });
    builder_store_2(&b, 4, tile_slot(&m, RD_F32, 469, ORDINARY), RD_F32, 67, 1, 0);
    builder_end(&b);
    builder_end(&b);
    tile_agree(&b, &m, NULL, 0, true, mode);
    tile_free(&m);
    after = rd_tier_stats_now();
    after.asked -= before.asked;
    after.compiled -= before.compiled;
    after.stored -= before.stored;
    after.failed -= before.failed;
    return after;
}

enum { BASE = 256 };

/* A directory for objects, to be removed. */
static void make_base(char base[BASE])
{
    const char *place = getenv("TMPDIR");

    ck_assert_int_lt(snprintf(base, BASE, "%s/rdim-passes-XXXXXX", place ? place : P_tmpdir), BASE);
    ck_assert_ptr_nonnull(mkdtemp(base));
}

/* Each in a process of its own, as Check has it: a pass that is here stays. */
START_TEST(modes)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE], command[BASE + 8];
    rd_tier_stats s;

    make_base(base);
    setenv("XDG_CACHE_HOME", base, 1);
    s = stats_of("off");
    ck_assert_int_eq(s.asked, 0);
    s = stats_of("nonsense");
    ck_assert_int_eq(s.asked, 0);
    s = stats_of("cache"); /* of an empty store */
    ck_assert_int_eq(s.asked, sets);
    ck_assert_int_eq(s.stored + s.compiled + s.failed, 0);
    s = stats_of("sync");
    ck_assert_int_eq(s.compiled, sets);
    s = stats_of("sync"); /* they are here */
    ck_assert_int_eq(s.asked, sets);
    ck_assert_int_eq(s.compiled + s.stored + s.failed, 0);
    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Looked for, compiled, called: the bits are the same all the time. */
START_TEST(meanwhile)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE], command[BASE + 8];

    make_base(base);
    setenv("XDG_CACHE_HOME", base, 1);
    ck_assert_int_eq(stats_of("async").asked, sets);
    rd_tier_wait();
    ck_assert_int_eq(rd_tier_stats_now().compiled, 0); /* so little work is not worth it */
    rd_tier_hurry(true);
    for (int k = 0; k < 2; k++) {
        stats_of("async");
        rd_tier_wait();
    }
    ck_assert_int_eq(rd_tier_stats_now().compiled, sets);
    stats_of("async");
    rd_tier_hurry(false);
    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* A compiler that takes two seconds is at work after this: its caller waits for it, within no lock
 * that a child would find held for ever (the address sanitizer's allocator is not made for forks of
 * several threads). */
static void set_a_slow_one_to_work(const char *base)
{
    static char           path[BASE + 40], begun[BASE + 40];
    const struct timespec pause = { 0, 10000000 };
    FILE                 *script;

    snprintf(path, sizeof path, "%s/slow", base);
    snprintf(begun, sizeof begun, "%s/begun", base);
    script = fopen(path, "w");
    ck_assert_ptr_nonnull(script);
    fprintf(script, "#!/bin/sh\n: > %s\nsleep 2\nexec cc \"$@\"\n", begun);
    fclose(script);
    chmod(path, 0700);
    setenv("XDG_CACHE_HOME", base, 1);
    setenv("RDIM_CC", path, 1);
    rd_tier_hurry(true);
    stats_of("async"); /* looks for it */
    rd_tier_wait();
    stats_of("async"); /* compiles it */
    while (access(begun, F_OK) != 0)
        nanosleep(&pause, NULL);
}

/* A process may end while its passes are compiled, without waiting for them; or fork: then the
 * child has no worker, does without what the parent's was at, and starts one for what else it
 * needs. */
START_TEST(ends_or_forks_meanwhile)
{
    char   base[BASE], command[BASE + 8];
    pid_t  child;
    int    status;
    time_t begun;

    make_base(base);
    child = fork();
    if (child == 0) {
        set_a_slow_one_to_work(base);
        if (_i)
            exit(0);
        child = fork();
        if (child == 0) {
            stats_of("async");
            rd_tier_wait();
            _exit(0); /* without a search for leaks: what the parent's worker held is nobody's
                       * here */
        }
        _exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
    }
    begun = time(NULL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_lt(time(NULL) - begun, 50);
    sleep(4); /* what it has left to itself comes to an end */
    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Another compiler, where there is one; it knows fewer options. */
START_TEST(clang)
{
    const int64_t sets = isa_count() - 1;
    char          base[BASE], command[BASE + 8];

    if (access("/usr/bin/clang", X_OK) != 0)
        return;
    make_base(base);
    setenv("XDG_CACHE_HOME", base, 1);
    setenv("RDIM_CC", "/usr/bin/clang", 1);
    ck_assert_int_eq(stats_of("sync").compiled, sets);
    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(no_compiler)
{
    char base[BASE], command[BASE + 8];

    make_base(base);
    setenv("XDG_CACHE_HOME", base, 1);
    setenv("RDIM_CC", _i ? "/bin/false" : "/nonexistent", 1);
    ck_assert_int_eq(stats_of("sync").failed, isa_count() - 1);
    ck_assert_int_eq(stats_of("sync").failed, 0); /* it is not tried again */
    snprintf(command, sizeof command, "rm -r %s", base);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    Suite *suite    = suite_create("passes");
    TCase *compiled = tcase_create("compiled"), *in_phases = tcase_create("phases"),
          *tiers    = tcase_create("modes");
    SRunner *runner = srunner_create(suite);

    rd_codegen_force("never"); /* the tile machine's passes are tested here */
    tcase_add_checked_fixture(compiled, sync_passes, no_passes);
    tcase_add_loop_test(compiled, operators, 0, N_TYPES);
    tcase_add_loop_test(compiled, casts, 0, N_TYPES);
    tcase_add_loop_test(compiled, layouts, 0, N_TYPES);
    tcase_add_test(compiled, buffers);
    tcase_add_loop_test(compiled, folds, 0, COUNT(pairs));
    tcase_add_test(compiled, folds_of_two_types);
    tcase_add_checked_fixture(in_phases, NULL, no_passes);
    tcase_add_loop_test(in_phases, phases_of_rows, 0, 2);
    tcase_add_loop_test(in_phases, past_the_caches, 0, 2);
    tcase_add_checked_fixture(tiers, NULL, no_passes);
    tcase_add_test(tiers, modes);
    tcase_add_test(tiers, meanwhile);
    tcase_add_test(tiers, clang);
    tcase_add_loop_test(tiers, no_compiler, 0, 2);
    tcase_add_loop_test(tiers, ends_or_forks_meanwhile, 0, 2);
    suite_add_tcase(suite, compiled);
    suite_add_tcase(suite, in_phases);
    suite_add_tcase(suite, tiers);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
