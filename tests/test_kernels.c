/* test_kernels.c - the scalar interpreter: loops, addresses, calls, errors, and programs as
 * text. */
#include "kernels/cpu/cpu.h"
#include "programs.h"
#include "suite.h"
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))
enum { N = 10 };

/* ---- Loops ----------------------------------------------------------------------------------- */
/* out[i] = how many points were visited before i. */
static void number_points(builder *b, int64_t n, int64_t tile, bool backwards)
{
    builder_init(b, 1, &n);
    builder_add(b, (rd_inst){ .kind = RD_I_CONST, .type = RD_I64, .dst = 0, .value.i64 = 0 });
    builder_add(b, (rd_inst){ .kind = RD_I_CONST, .type = RD_I64, .dst = 1, .value.i64 = 1 });
    if (tile)
        builder_loop(
            b, (rd_loop){ .kind = RD_LOOP_TILE, .axis = 0, .step = tile, .backwards = backwards });
    builder_loop(b, (rd_loop){ .axis = 0, .backwards = backwards && !tile });
    builder_store(b, 0, 0, RD_I64, 0, 1, 0);
    builder_add(
        b,
        (rd_inst){
            .kind = RD_I_MAP, .type = RD_I64, .op = RD_OP_add, .dst = 0, .a = 0, .b = 1, .c = -1 });
    builder_end(b);
    if (tile)
        builder_end(b);
    builder_store(b, 0, 1, RD_I64, -1, 0, 0);
}

static const struct {
    int64_t n, tile;
    bool    backwards;
    int64_t want[N];
} loop_cases[] = {
    { 5, 0, false, { 0, 1, 2, 3, 4 } },
    { 5, 0, true, { 4, 3, 2, 1, 0 } },
    { 0, 0, false, { 0 } },
    { 0, 0, true, { 0 } },
    { 0, 4, false, { 0 } },
    { 10, 4, false, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } },
    { 8, 4, false, { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { 3, 4, false, { 0, 1, 2 } },
    { 10, 4, true, { 6, 7, 8, 9, 2, 3, 4, 5, 0, 1 } }, /* tiles from the last, each forwards */
    { 8, 4, true, { 4, 5, 6, 7, 0, 1, 2, 3 } },
    { 3, 4, true, { 0, 1, 2 } },
};

START_TEST(loop_order)
{
    int64_t     out[N] = { 0 }, count = -1;
    void *const slots[] = { out, &count };
    builder     b;

    number_points(&b, loop_cases[_i].n, loop_cases[_i].tile, loop_cases[_i].backwards);
    ck_assert_int_eq(run_program(builder_done(&b), slots).status, RD_OK);
    ck_assert_mem_eq(out, loop_cases[_i].want, sizeof out);
    ck_assert_int_eq(count, loop_cases[_i].n);
}
END_TEST

/* Each tile of x goes through a row of scratch: local addresses.  Only x counts as loaded. */
START_TEST(tiles_in_scratch)
{
    const int64_t n = N, tile = 4;
    float         x[N], y[N]  = { 0 }, row[4];
    void *const   slots[] = { x, y, row };
    builder       b;

    for (int k = 0; k < N; k++)
        x[k] = (float)k + 0.5F;
    builder_init(&b, 1, &n);
    b.p.first_scratch  = 2;
    b.p.n_scratch      = 1;
    b.scratch_bytes[0] = sizeof row;
    builder_loop(&b, (rd_loop){ .kind = RD_LOOP_TILE, .axis = 0, .step = tile });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 0, 0, RD_F32, 0, 1, 0);
    builder_store(&b, 0, 2, RD_F32, 0, 1, 0);
    b.address[1].add[0].local = true;
    builder_end(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 1, 2, RD_F32, 0, 1, 0);
    b.address[2].add[0].local = true;
    builder_store(&b, 1, 1, RD_F32, 0, -1, N - 1);
    builder_end(&b);
    builder_end(&b);
    const rd_task task = run_program(builder_done(&b), slots);
    ck_assert_int_eq(task.status, RD_OK);
    ck_assert_int_eq(task.loads, N);
    for (int k = 0; k < N; k++)
        ck_assert(y[N - 1 - k] == x[k]);
}
END_TEST

/* A task sees its share of the root axis, and all of the others. */
START_TEST(tasks_share_the_root)
{
    const int64_t extent[] = { N, 2 }, cut[] = { 0, 3, 3, 9, N };
    int64_t       out[N * 2];
    void *const   slots[] = { out };
    builder       b;

    memset(out, 0xff, sizeof out);
    builder_init(&b, 2, extent);
    b.p.root = 0;
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_COORD, .type = RD_I64, .dst = 0, .arg = 0 });
    builder_address(
        &b,
        (rd_address){ .n_add = 2, .add = { { .axis = 0, .coef = 2 }, { .axis = 1, .coef = 1 } } });
    builder_store(&b, 0, 0, RD_I64, 0, 2, 0);
    b.address[1].add[b.address[1].n_add++] = (rd_addend){ .axis = 1, .coef = 1 };
    builder_end(&b);
    builder_end(&b);
    ck_assert_int_eq(run_tasks(builder_done(&b), slots, cut, COUNT(cut) - 1).status, RD_OK);
    for (int k = 0; k < N * 2; k++)
        ck_assert_int_eq(out[k], k);
}
END_TEST

/* ---- Early exit ------------------------------------------------------------------------------ */
static const struct {
    rd_reducer_id reducer;
    int           at; /* where the deciding element is, -1: nowhere */
    int           tasks;
    int64_t       loads;
} exit_cases[] = {
    { RD_RED_any, 0, 1, 1 },
    { RD_RED_any, 700, 1, 701 },
    { RD_RED_any, -1, 1, 1000 },
    { RD_RED_all, 300, 1, 301 },
    { RD_RED_all, 700, 4, 250 * 3 + 201 },
    { RD_RED_any, 100, 4, 101 + 750 },
};

/* Two loops deep, so that leaving the outer one ends the inner one too; tasks end on their own. */
START_TEST(exit_when_settled)
{
    enum { M = 1000 };
    static uint8_t x[M];
    const int64_t  n = M, cut[] = { 0, M / 4, M / 2, M / 4 * 3, M }, one[] = { 0, M };
    const bool     any     = exit_cases[_i].reducer == RD_RED_any;
    uint8_t        y       = 77;
    void *const    slots[] = { x, &y };
    builder        b;

    memset(x, !any, sizeof x);
    if (exit_cases[_i].at >= 0)
        x[exit_cases[_i].at] = any;
    builder_init(&b, 1, &n);
    b.p.root = 0;
    builder_fold(&b, (rd_fold){ .reducer     = exit_cases[_i].reducer,
                                .type        = RD_BOOL,
                                .out         = RD_BOOL,
                                .n_out       = 1,
                                .lanes       = 1,
                                .steps       = 2,
                                .lane_extent = M,
                                .n_block     = M / 2,
                                .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                                .n_cell      = 1,
                                .split       = true });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .kind = RD_LOOP_TILE, .axis = 0, .step = 7 });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 0, 0, RD_BOOL, 0, 1, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 0, .b = -1, .c = -1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_EXIT, .a = 0, .arg = 0 });
    builder_end(&b);
    builder_end(&b);
    builder_tail(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 1 });
    builder_store(&b, 1, 1, RD_BOOL, -1, 0, 0);
    const rd_task task = run_tasks(builder_done(&b), slots, exit_cases[_i].tasks == 1 ? one : cut,
                                   exit_cases[_i].tasks);
    ck_assert_int_eq(task.status, RD_OK);
    ck_assert_int_eq(task.loads, exit_cases[_i].loads);
    ck_assert_uint_eq(y, any == (exit_cases[_i].at >= 0));
}
END_TEST

/* ---- Index, select, gather ------------------------------------------------------------------- */
static const struct {
    rd_dtype    type;
    int64_t     index, extent;
    float       want;
    const char *sentence;
} take_cases[] = {
    { RD_I64, 0, 5, 10, NULL },
    { RD_I64, 4, 5, 14, NULL },
    { RD_I64, -1, 5, 14, NULL },
    { RD_I64, -5, 5, 10, NULL },
    { RD_I64, 7, 5, 0, "rd_take: index 7 is outside an axis of extent 5" },
    { RD_I64, -6, 5, 0, "rd_take: index -6 is outside an axis of extent 5" },
    { RD_I64, 0, 0, 0, "rd_take: index 0 is outside an axis of extent 0" },
    { RD_I64, INT64_MIN, 5, 0,
      "rd_take: index -9223372036854775808 is outside an axis of extent 5" },
    { RD_U64, 3, 5, 13, NULL },
    { RD_U64, -1, 5, 0, "rd_take: index 18446744073709551615 is outside an axis of extent 5" },
    { RD_I8, -2, 5, 13, NULL },
    { RD_U8, 5, 5, 0, "rd_take: index 5 is outside an axis of extent 5" },
};

START_TEST(take)
{
    float       x[5] = { 10, 11, 12, 13, 14 }, y = 0;
    void *const slots[] = { x, &y };
    builder     b;

    builder_init(&b, 0, NULL);
    builder_add(&b, (rd_inst){ .kind      = RD_I_CONST,
                               .type      = take_cases[_i].type,
                               .dst       = 0,
                               .value.i64 = take_cases[_i].index });
    builder_add(&b, (rd_inst){ .kind      = RD_I_INDEX,
                               .type      = RD_I64,
                               .from      = take_cases[_i].type,
                               .dst       = 1,
                               .a         = 0,
                               .value.i64 = take_cases[_i].extent });
    builder_load(&b, 2, 0, RD_F32, 0, 1, 0);
    b.address[0].add[0] = (rd_addend){ .axis = -1, .reg = 1, .coef = 1 };
    builder_store(&b, 2, 1, RD_F32, -1, 0, 0);
    const rd_task task = run_program(builder_done(&b), slots);
    ck_assert_int_eq(task.status, take_cases[_i].sentence ? RD_ERR_AXIS : RD_OK);
    ck_assert_str_eq(task.sentence, take_cases[_i].sentence ? take_cases[_i].sentence : "");
    ck_assert(y == take_cases[_i].want); /* after an error nothing is stored */
}
END_TEST

START_TEST(select_one)
{
    for (int yes = 0; yes < 2; yes++) {
        double      y       = 0;
        void *const slots[] = { &y };
        builder     b;

        builder_init(&b, 0, NULL);
        builder_add(
            &b,
            (rd_inst){ .kind = RD_I_CONST, .type = RD_BOOL, .dst = 0, .value.u64 = (uint64_t)yes });
        builder_add(&b,
                    (rd_inst){ .kind = RD_I_CONST, .type = RD_F64, .dst = 1, .value.f64 = 1.5 });
        builder_add(&b,
                    (rd_inst){ .kind = RD_I_CONST, .type = RD_F64, .dst = 2, .value.f64 = 2.5 });
        builder_add(
            &b, (rd_inst){ .kind = RD_I_SELECT, .type = RD_F64, .dst = 3, .a = 0, .b = 1, .c = 2 });
        builder_store(&b, 3, 0, RD_F64, -1, 0, 0);
        run_program(builder_done(&b), slots);
        ck_assert(y == (yes ? 1.5 : 2.5));
    }
}
END_TEST

/* ---- Callbacks ------------------------------------------------------------------------------- */
static void add_f32(int64_t n, const float *const *in, float *out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = in[0][k] + in[1][k];
}

static void add_f64(int64_t n, const double *const *in, double *out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = in[0][k] + in[1][k];
}

static const char *pair_u8(void *user, int64_t n, const void *const *in, void *out)
{
    const uint8_t *high = in[0], *low = in[1];

    for (int64_t k = 0; k < n; k++)
        ((int32_t *)out)[k] = high[k] * 256 + low[k] + *(const int *)user;
    return high[0] == 9 ? "nine is refused" : NULL;
}

static float half(float x)
{
    return x / 2;
}

static int three = 3;

static const struct {
    rd_call     call;
    rd_dtype    out;
    double      a, b, want;
    const char *sentence;
} call_cases[] = {
    { { .f32_1 = half, .n_in = 1, .in_type = RD_F32 }, RD_F32, 3, 0, 1.5, NULL },
    { { .f64_1 = fabs, .n_in = 1, .in_type = RD_F64 }, RD_F64, -3, 0, 3, NULL },
    { { .f32_2 = fdimf, .n_in = 2, .in_type = RD_F32 }, RD_F32, 7, 5, 2, NULL },
    { { .f64_2 = fdim, .n_in = 2, .in_type = RD_F64 }, RD_F64, 5, 7, 0, NULL },
    { { .f32 = add_f32, .f64 = add_f64, .n_in = 2, .in_type = RD_F32 }, RD_F32, 1, 2, 3, NULL },
    { { .f32 = add_f32, .f64 = add_f64, .n_in = 2, .in_type = RD_F64 },
      RD_F64,
      1e16,
      2,
      1e16 + 2,
      NULL },
    { { .block = pair_u8, .user = &three, .name = "pair", .n_in = 2, .in_type = RD_U8 },
      RD_I32,
      2,
      5,
      520,
      NULL },
    { { .block = pair_u8, .user = &three, .name = "pair", .n_in = 2, .in_type = RD_U8 },
      RD_I32,
      9,
      5,
      0,
      "pair: nine is refused" },
};

START_TEST(call)
{
    const rd_dtype type    = call_cases[_i].call.in_type;
    rd_word        y       = { .u64 = 0 };
    void *const    slots[] = { &y };
    rd_call        code    = call_cases[_i].call;
    builder        b;

    code.in[0] = 0;
    code.in[1] = 1;
    builder_init(&b, 0, NULL);
    builder_call(&b, code);
    builder_add(&b, (rd_inst){ .kind  = RD_I_CONST,
                               .type  = type,
                               .dst   = 0,
                               .value = rd_word_from_double(call_cases[_i].a, type) });
    builder_add(&b, (rd_inst){ .kind  = RD_I_CONST,
                               .type  = type,
                               .dst   = 1,
                               .value = rd_word_from_double(call_cases[_i].b, type) });
    builder_add(&b, (rd_inst){ .kind = RD_I_CALL, .type = call_cases[_i].out, .dst = 0 });
    builder_store(&b, 0, 0, call_cases[_i].out, -1, 0, 0);
    const rd_task task = run_program(builder_done(&b), slots);
    ck_assert_int_eq(task.status, call_cases[_i].sentence ? RD_ERR_CALLBACK : RD_OK);
    ck_assert_str_eq(task.sentence, call_cases[_i].sentence ? call_cases[_i].sentence : "");
    ck_assert(rd_word_to_double(rd_word_load(&y, call_cases[_i].out), call_cases[_i].out) ==
              call_cases[_i].want);
}
END_TEST

/* The sentence is cut to the room there is. */
static const char *long_sentence(void *user, int64_t n, const void *const *in, void *out)
{
    (void)n, (void)in, (void)out;
    return user;
}

START_TEST(long_sentences_are_cut)
{
    static char sentence[1000];
    builder     b;

    memset(sentence, 'x', sizeof sentence - 1);
    builder_init(&b, 0, NULL);
    builder_call(
        &b, (rd_call){ .block = long_sentence, .user = sentence, .name = "f", .in_type = RD_F32 });
    builder_add(&b, (rd_inst){ .kind = RD_I_CALL, .type = RD_F32 });
    const rd_task task = run_program(builder_done(&b), NULL);
    ck_assert_int_eq(task.status, RD_ERR_CALLBACK);
    ck_assert_uint_eq(strlen(task.sentence), sizeof task.sentence - 1);
}
END_TEST

/* An error in one task is the outcome of all, and joins touch nothing that never began. */
START_TEST(an_error_stops_the_rest)
{
    const int64_t n = N, cut[] = { 0, 3, 7, N };
    int64_t       x[N] = { 0, 1, 2, 3, 4, 99, 6, 7, 8, 9 }, y = -1;
    void *const   slots[] = { x, &y };
    builder       b;

    builder_init(&b, 1, &n);
    b.p.root = 0;
    builder_fold(&b, (rd_fold){ .reducer     = RD_RED_sum,
                                .type        = RD_I64,
                                .out         = RD_I64,
                                .n_out       = 1,
                                .lanes       = 1,
                                .steps       = 1,
                                .lane_extent = N,
                                .n_block     = N,
                                .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                                .n_cell      = 1,
                                .split       = true });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 0, 0, RD_I64, 0, 1, 0);
    builder_add(
        &b,
        (rd_inst){
            .kind = RD_I_INDEX, .type = RD_I64, .from = RD_I64, .dst = 1, .a = 0, .value.i64 = N });
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 1, .b = -1, .c = -1 });
    builder_end(&b);
    builder_tail(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 2 });
    builder_store(&b, 2, 1, RD_I64, -1, 0, 0);
    rd_task task = run_tasks(builder_done(&b), slots, cut, 3);
    ck_assert_int_eq(task.status, RD_ERR_AXIS);
    ck_assert_str_eq(task.sentence, "rd_take: index 99 is outside an axis of extent 10");
    ck_assert_int_eq(y, -1);

    x[5] = 5;
    task = run_tasks(builder_done(&b), slots, cut, 3);
    ck_assert_int_eq(task.status, RD_OK);
    ck_assert_int_eq(y, 45);
}
END_TEST

/* ---- Text ------------------------------------------------------------------------------------ */
static void build_shown(builder *b)
{
    const int64_t extent[] = { 132, 73 };

    builder_init(b, 2, extent);
    b->p.root           = 0;
    b->p.grain          = 64;
    b->p.n_reg          = 6;
    b->p.first_scratch  = 2;
    b->p.n_scratch      = 1;
    b->scratch_bytes[0] = 4096;
    builder_call(b, (rd_call){ .f32_1 = half, .name = "half", .n_in = 1, .in = { 0 } });
    builder_fold(
        b, (rd_fold){ .reducer     = RD_RED_moments,
                      .law         = RD_LAW_commutes,
                      .type        = RD_F32,
                      .out         = RD_F32,
                      .ddof        = 1,
                      .n_out       = 1,
                      .lanes       = 1,
                      .steps       = 64,
                      .lane_extent = 132,
                      .n_block     = 3,
                      .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                      .cell   = { .n_add = 1, .add = { { .axis = 1, .coef = 1, .local = true } } },
                      .n_cell = 64,
                      .split  = true });
    builder_add(b, (rd_inst){ .kind = RD_I_START });
    builder_body(b);
    builder_loop(b, (rd_loop){ .kind = RD_LOOP_TILE, .axis = 1, .step = 64 });
    builder_loop(b, (rd_loop){ .axis = 0, .backwards = true });
    builder_load(b, 0, 0, RD_F32, 0, 73, 5);
    builder_add(b, (rd_inst){ .kind = RD_I_CALL, .type = RD_F32, .dst = 1 });
    builder_add(b, (rd_inst){ .kind = RD_I_CONST, .type = RD_F32, .dst = 2, .value.f32 = 0.1F });
    builder_add(
        b,
        (rd_inst){ .kind = RD_I_MAP, .type = RD_F32, .op = RD_OP_add, .dst = 1, .a = 1, .b = 2 });
    builder_add(b, (rd_inst){ .kind = RD_I_MAP,
                              .type = RD_BOOL,
                              .from = RD_F32,
                              .op   = RD_OP_isnan,
                              .dst  = 3,
                              .a    = 1 });
    builder_add(b,
                (rd_inst){ .kind = RD_I_CAST, .type = RD_I64, .from = RD_BOOL, .dst = 4, .a = 3 });
    builder_add(
        b,
        (rd_inst){
            .kind = RD_I_INDEX, .type = RD_I64, .from = RD_I64, .dst = 5, .a = 4, .value.i64 = 2 });
    builder_add(b,
                (rd_inst){ .kind = RD_I_SELECT, .type = RD_F32, .dst = 1, .a = 3, .b = 2, .c = 1 });
    builder_add(b, (rd_inst){ .kind = RD_I_STEP, .a = 1, .b = 2, .c = 3 });
    builder_end(b);
    builder_end(b);
    builder_tail(b);
    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .type = RD_F32, .dst = 0 });
    builder_store(b, 0, 1, RD_F32, -1, 0, 0);
}

START_TEST(program_as_text)
{
    static const char want[] = "i0 < 132, i1 < 73; tasks share i0 by 64; 6 registers\n"
                               "s2: scratch of 4096 bytes\n"
                               "fold0: moments of f32 to f32, ddof 1, commutes, lanes 1, blocks 3 "
                               "of 64 steps, lane i0 of 132, line 0, index 0,"
                               " cells 64 at i1', split\n"
                               "head:\n"
                               "  fold0 starts\n"
                               "body:\n"
                               "  for i1 by 64 of 73\n"
                               "    for i0 of 132 backwards\n"
                               "      r0 f32 = s0[5 + 73*i0] f32\n"
                               "      r1 f32 = half(r0)\n"
                               "      r2 f32 = 0.100000001\n"
                               "      r1 f32 = add(r1, r2)\n"
                               "      r3 bool = isnan(r1)\n"
                               "      r4 i64 = r3 from bool\n"
                               "      r5 i64 = r4 in an axis of 2\n"
                               "      r1 f32 = r3 ? r2 : r1\n"
                               "      fold0 takes r1 weight r2 where r3\n"
                               "    end i0\n"
                               "  end i1\n"
                               "tail:\n"
                               "  r0 f32 = fold0 at i1'\n"
                               "  s1[0] f32 = r0\n";
    rd_text           text   = { 0 };
    builder           b;

    build_shown(&b);
    rd_program_text(&text, builder_done(&b));
    ck_assert_str_eq(text.at, want);
    rd_text_free(&text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tests = tcase_create("interpreter");

    rd_cpu_force("scalar");
    tcase_add_loop_test(tests, loop_order, 0, COUNT(loop_cases));
    tcase_add_test(tests, tiles_in_scratch);
    tcase_add_test(tests, tasks_share_the_root);
    tcase_add_loop_test(tests, exit_when_settled, 0, COUNT(exit_cases));
    tcase_add_loop_test(tests, take, 0, COUNT(take_cases));
    tcase_add_test(tests, select_one);
    tcase_add_loop_test(tests, call, 0, COUNT(call_cases));
    tcase_add_test(tests, long_sentences_are_cut);
    tcase_add_test(tests, an_error_stops_the_rest);
    tcase_add_test(tests, program_as_text);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
