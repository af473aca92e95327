/* test_totals.c - programs that are one kernel and nothing else, against the scalar interpreter:
 * the total of a row, and those of planes, or of their columns.  That they are taken for such is
 * asked, too, as nothing in their results tells. */
#include "tiles.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { PLANES, MORE, ROWS, COLS, AXES };

typedef struct total_case {
    rd_reducer_id reducer;
    rd_dtype      type;
    rd_op         map; /* of two arrays, sub: |x - y|; RD_N_OPS: of none */
    int64_t       n[AXES];
    int64_t       gap;   /* elements between rows                     */
    bool          lanes; /* rows go to one result, not each column to its own */
} total_case;

static const rd_op maps[] = { RD_N_OPS, RD_OP_mul, RD_OP_sub };

static rd_address along(int32_t axis)
{
    return (rd_address){ .n_add = 1, .add = { { .axis = axis, .coef = 1 } } };
}

/* Element (planes, more, rows, cols) of an array with gaps between its rows; or of the results,
 * without rows, and of lanes without columns. */
static int32_t address(builder *b, const total_case *c, int32_t slot, bool result)
{
    const int64_t row = c->n[COLS] + c->gap, plane = row * (result ? 1 : c->n[ROWS]);
    rd_address    at = { .slot   = slot,
                         .type   = c->type,
                         .offset = 1,
                         .n_add  = result ? (c->lanes ? 2 : 3) : 4,
                         .add    = { { .axis = PLANES, .coef = plane * c->n[MORE] },
                                     { .axis = MORE, .coef = plane },
                                     { .axis = COLS, .coef = 1 },
                                     { .axis = ROWS, .coef = row } } };
    return builder_address(b, at);
}

static void load(builder *b, const total_case *c, int32_t dst)
{
    builder_add(
        b, (rd_inst){
               .kind = RD_I_LOAD, .type = c->type, .dst = dst, .arg = address(b, c, dst, false) });
}

static rd_fold fold_of(const total_case *c)
{
    const int32_t lanes = !c->lanes ? 1 : c->type == RD_F32 ? 64 : 32;
    rd_fold       f     = { .reducer     = c->reducer,
                            .type        = c->type,
                            .out         = c->type,
                            .n_out       = 1,
                            .lanes       = lanes,
                            .steps       = 64,
                            .lane_extent = c->lanes ? c->n[COLS] : 1,
                            .lane_line   = along(ROWS),
                            .index       = along(ROWS),
                            .n_cell      = c->lanes ? 1 : c->n[COLS] };

    *(c->lanes ? &f.lane : &f.cell) = along(COLS);
    f.n_block                       = ((f.lane_extent + lanes - 1) / lanes * c->n[ROWS] + 63) / 64;
    return f;
}

static void build(builder *b, const total_case *c)
{
    const rd_inst map = {
        .kind = RD_I_MAP, .type = c->type, .op = c->map, .dst = 2, .a = 0, .b = 1, .c = -1
    };
    const rd_inst size = {
        .kind = RD_I_MAP, .type = c->type, .op = RD_OP_abs, .dst = 4, .a = 2, .b = -1, .c = -1
    };
    const int32_t element = c->map == RD_N_OPS ? 0 : c->map == RD_OP_sub ? 4 : 2;

    builder_init(b, AXES, c->n);
    b->p.root = PLANES;
    builder_fold(b, fold_of(c));
    builder_body(b);
    builder_loop(b, (rd_loop){ .axis = PLANES });
    builder_loop(b, (rd_loop){ .axis = MORE });
    builder_add(b, (rd_inst){ .kind = RD_I_START });
    builder_loop(b, (rd_loop){ .axis = ROWS });
    builder_loop(b, (rd_loop){ .axis = COLS });
    load(b, c, 0);
    if (c->map != RD_N_OPS) {
        load(b, c, 1);
        builder_add(b, map);
    }
    if (c->map == RD_OP_sub)
        builder_add(b, size);
    builder_add(b, (rd_inst){ .kind = RD_I_STEP, .a = element, .b = -1, .c = -1 });
    builder_end(b);
    builder_end(b);
    if (!c->lanes)
        builder_loop(b, (rd_loop){ .axis = COLS });
    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 3, .type = c->type });
    builder_add(
        b, (rd_inst){ .kind = RD_I_STORE, .type = c->type, .a = 3, .arg = address(b, c, 2, true) });
    if (!c->lanes)
        builder_end(b);
    builder_end(b);
    builder_end(b);
    builder_tail(b);
}

/* In one task and in two; `whole`: by one kernel. */
static void agree(const total_case *c, bool whole)
{
    const int64_t rows = c->n[PLANES] * c->n[MORE], row = c->n[COLS] + c->gap,
                  before = runs_so_far.totals;
    const int64_t cut[]  = { 0, c->n[PLANES] / 2, c->n[PLANES] };
    tile_memory   m      = { 0 };
    builder       b;
    char          what[120];

    snprintf(what, sizeof what, "%s of %s, map %d, %d x %d x %d x %d, gap %d, %s",
             rd_reducer_table[c->reducer].name, rd_dtype_name(c->type), c->map, (int)c->n[0],
             (int)c->n[1], (int)c->n[2], (int)c->n[3], (int)c->gap, c->lanes ? "lanes" : "columns");
    tile_slot(&m, c->type, 1 + rows * c->n[ROWS] * row, c->map == RD_N_OPS ? UGLY : ORDINARY);
    tile_slot(&m, c->type, 1 + rows * c->n[ROWS] * row, ORDINARY);
    tile_slot(&m, c->type, 1 + rows * row, ORDINARY);
    build(&b, c);
    tile_agree(&b, &m, cut, 0, true, what);
    tile_agree(&b, &m, cut, 2, true, what);
    ck_assert_msg((runs_so_far.totals > before) == whole, "%s: by %s", what,
                  whole ? "tiles" : "one kernel");
    tile_free(&m);
}

/* Have planes a kernel (simd/fused_folds.def)?  Of others there are steps. */
static bool has_kernel(const total_case *c)
{
    if (c->map == RD_N_OPS)
        return c->reducer != RD_RED_prod;
    return c->map == RD_OP_sub && c->reducer != RD_RED_min;
}

static const rd_reducer_id reducers[] = { RD_RED_sum, RD_RED_prod, RD_RED_min, RD_RED_max };
static const rd_dtype      types[]    = { RD_F32, RD_F64 };

START_TEST(columns_of_planes)
{
    static const int64_t rows[] = { 1, 2, 63, 64 }, cols[] = { 1, 7, 16, 31, 32, 50, 64 };

    for (int k = 0; k < COUNT(rows) * COUNT(cols) * COUNT(types) * COUNT(maps); k++) {
        total_case c = { reducers[_i], types[k % 2], maps[k / 2 % COUNT(maps)],
                         { 4, 3 },     k % 5,        false };

        c.n[ROWS] = rows[k / 2 / COUNT(maps) % COUNT(rows)];
        c.n[COLS] = cols[k / 2 / COUNT(maps) / COUNT(rows)];
        if (c.reducer != RD_RED_prod || c.map == RD_N_OPS)
            agree(&c, has_kernel(&c));
    }
}
END_TEST

/* Of one block and of several, the last one whole or not, rows of one step and of more. */
START_TEST(planes)
{
    static const int64_t rows[] = { 1, 3, 32, 64, 65, 100, 200 }, cols[] = { 64, 128, 256 };

    for (int k = 0; k < COUNT(rows) * COUNT(cols) * COUNT(types) * COUNT(maps); k++) {
        total_case c = { reducers[_i], types[k % 2], maps[k / 2 % COUNT(maps)],
                         { 3, 2 },     k % 5,        true };

        c.n[ROWS] = rows[k / 2 / COUNT(maps) % COUNT(rows)];
        c.n[COLS] = cols[k / 2 / COUNT(maps) / COUNT(rows)];
        if (c.reducer != RD_RED_prod || c.map == RD_N_OPS)
            agree(&c, has_kernel(&c) && fold_of(&c).n_block <= 16);
    }
}
END_TEST

/* More columns than registers hold, more rows than a block has, and what no kernel of blocks is
 * there for. */
START_TEST(others)
{
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 128 }, 0, false }, true);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 129 }, 0, false }, false);
    agree(&(total_case){ RD_RED_sum, RD_F64, RD_N_OPS, { 2, 2, 64, 65 }, 0, false }, false);
    agree(&(total_case){ RD_RED_sum, RD_F64, RD_N_OPS, { 2, 2, 65, 64 }, 0, false }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_OP_hypot, { 2, 2, 64, 64 }, 0, false }, false);
    agree(&(total_case){ RD_RED_argmax, RD_I64, RD_N_OPS, { 2, 2, 64, 64 }, 0, false }, false);
    agree(&(total_case){ RD_RED_sum, RD_F16, RD_N_OPS, { 2, 2, 64, 64 }, 0, false }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 0, 2, 64, 64 }, 0, false }, true);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 0, 64 }, 0, true }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 65 }, 0, true }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 192 }, 0, true }, false);
}
END_TEST

/* The sum of 100 elements; stored twice it is none. */
START_TEST(row)
{
    tile_memory m = { 0 };
    builder     b;
    int64_t     before = runs_so_far.totals;

    builder_init(&b, 1, (int64_t[]){ 100 });
    b.p.root = 0;
    builder_fold(&b, (rd_fold){ .reducer     = RD_RED_sum,
                                .type        = RD_F32,
                                .out         = RD_F32,
                                .n_out       = 1,
                                .lanes       = 64,
                                .steps       = 64,
                                .lane_extent = 100,
                                .lane        = along(0),
                                .index       = along(0),
                                .n_cell      = 1,
                                .n_block     = 1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_body(&b);
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 0, 0, RD_F32, 0, 1, 3);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 0, .b = -1, .c = -1 });
    builder_end(&b);
    builder_tail(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 3, .type = RD_F32 });
    builder_store(&b, 3, 1, RD_F32, -1, 0, 2);
    tile_slot(&m, RD_F32, 103, UGLY);
    tile_slot(&m, RD_F32, 4, ORDINARY);
    tile_agree(&b, &m, NULL, 0, true, "a row");
    ck_assert_int_gt(runs_so_far.totals, before);
    before = runs_so_far.totals;
    builder_store(&b, 3, 1, RD_F32, -1, 0, 3);
    tile_agree(&b, &m, NULL, 0, true, "a row stored twice");
    ck_assert_int_eq(runs_so_far.totals, before);
    tile_free(&m);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("totals");
    TCase   *tc     = tcase_create("totals");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(tc, columns_of_planes, 0, COUNT(reducers));
    tcase_add_loop_test(tc, planes, 0, COUNT(reducers));
    tcase_add_test(tc, others);
    tcase_add_test(tc, row);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
