/* test_totals.c - programs that are one kernel and nothing else, against the scalar interpreter: the total of a row, and
 * those of the columns of planes.  That they are taken for such is asked, too, as nothing in their results tells. */
#include "tiles.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

enum { PLANES, MORE, ROWS, COLS, AXES };

typedef struct total_case {
    rd_reducer_id reducer;
    rd_dtype      type;
    rd_op         map; /* of two arrays; RD_N_OPS: of none */
    int64_t       n[AXES];
    int64_t       gap; /* elements between rows */
} total_case;

static const rd_op maps[] = { RD_N_OPS, RD_OP_mul, RD_OP_sub };

static rd_address along(int32_t axis)
{
    return (rd_address){ .n_add = 1, .add = { { .axis = axis, .coef = 1 } } };
}

/* Element (planes, more, rows, cols) of an array with gaps between its rows; or of the results, without rows. */
static int32_t address(builder *b, const total_case *c, int32_t slot, bool result)
{
    const int64_t row = c->n[COLS] + c->gap, plane = row * (result ? 1 : c->n[ROWS]);
    rd_address    at = { .slot   = slot,
                         .type   = c->type,
                         .offset = 1,
                         .n_add  = result ? 3 : 4,
                         .add    = { { .axis = PLANES, .coef = plane * c->n[MORE] },
                                     { .axis = MORE, .coef = plane },
                                     { .axis = COLS, .coef = 1 },
                                     { .axis = ROWS, .coef = row } } };
    return builder_address(b, at);
}

static void load(builder *b, const total_case *c, int32_t dst)
{
    builder_add(b, (rd_inst){ .kind = RD_I_LOAD, .type = c->type, .dst = dst, .arg = address(b, c, dst, false) });
}

static void build(builder *b, const total_case *c)
{
    const rd_inst map = { .kind = RD_I_MAP, .type = c->type, .op = c->map, .dst = 2, .a = 0, .b = 1, .c = -1 };

    builder_init(b, AXES, c->n);
    b->p.root = PLANES;
    builder_fold(b, (rd_fold){ .reducer     = c->reducer,
                               .type        = c->type,
                               .out         = c->type,
                               .n_out       = 1,
                               .lanes       = 1,
                               .steps       = 64,
                               .lane_extent = 1,
                               .outer       = along(ROWS),
                               .index       = along(ROWS),
                               .cell        = along(COLS),
                               .n_cell      = c->n[COLS],
                               .n_block     = (c->n[ROWS] + 63) / 64 });
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
    builder_add(b, (rd_inst){ .kind = RD_I_STEP, .a = c->map == RD_N_OPS ? 0 : 2, .b = -1, .c = -1 });
    builder_end(b);
    builder_end(b);
    builder_loop(b, (rd_loop){ .axis = COLS });
    builder_add(b, (rd_inst){ .kind = RD_I_CLOSE, .dst = 3, .type = c->type });
    builder_add(b, (rd_inst){ .kind = RD_I_STORE, .type = c->type, .a = 3, .arg = address(b, c, 2, true) });
    builder_end(b);
    builder_end(b);
    builder_end(b);
    builder_tail(b);
}

/* In one task and in two; `whole`: by one kernel. */
static void agree(const total_case *c, bool whole)
{
    const int64_t rows = c->n[PLANES] * c->n[MORE], row = c->n[COLS] + c->gap, before = runs_so_far.totals;
    const int64_t cut[] = { 0, c->n[PLANES] / 2, c->n[PLANES] };
    tile_memory   m     = { 0 };
    builder       b;
    char          what[120];

    snprintf(what, sizeof what, "%s of %s, map %d, %d x %d x %d x %d, gap %d", rd_reducer_table[c->reducer].name,
             rd_dtype_name(c->type), c->map, (int)c->n[0], (int)c->n[1], (int)c->n[2], (int)c->n[3], (int)c->gap);
    tile_slot(&m, c->type, 1 + rows * c->n[ROWS] * row, c->map == RD_N_OPS ? UGLY : ORDINARY);
    tile_slot(&m, c->type, 1 + rows * c->n[ROWS] * row, ORDINARY);
    tile_slot(&m, c->type, 1 + rows * row, ORDINARY);
    build(&b, c);
    tile_agree(&b, &m, cut, 0, true, what);
    tile_agree(&b, &m, cut, 2, true, what);
    ck_assert_msg((runs_so_far.totals > before) == whole, "%s: by %s", what, whole ? "tiles" : "one kernel");
    tile_free(&m);
}

START_TEST(planes)
{
    static const int64_t       rows[] = { 1, 2, 63, 64 }, cols[] = { 1, 7, 16, 31, 32, 50, 64 };
    static const rd_reducer_id reducers[] = { RD_RED_sum, RD_RED_prod, RD_RED_min, RD_RED_max };
    static const rd_dtype      types[]    = { RD_F32, RD_F64 };

    for (int k = 0; k < COUNT(rows) * COUNT(cols) * COUNT(types) * COUNT(maps); k++) {
        total_case c = { reducers[_i], types[k % 2], maps[k / 2 % COUNT(maps)], { 4, 3 }, k % 5 };

        c.n[ROWS] = rows[k / 2 / COUNT(maps) % COUNT(rows)];
        c.n[COLS] = cols[k / 2 / COUNT(maps) / COUNT(rows)];
        if (c.reducer != RD_RED_prod || c.map == RD_N_OPS)
            agree(&c, true);
    }
}
END_TEST

/* More columns than registers hold, more rows than a block has, and what no kernel of blocks is there for. */
START_TEST(others)
{
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 128 }, 0 }, true);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 2, 2, 64, 129 }, 0 }, false);
    agree(&(total_case){ RD_RED_sum, RD_F64, RD_N_OPS, { 2, 2, 64, 65 }, 0 }, false);
    agree(&(total_case){ RD_RED_sum, RD_F64, RD_N_OPS, { 2, 2, 65, 64 }, 0 }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_OP_hypot, { 2, 2, 64, 64 }, 0 }, false);
    agree(&(total_case){ RD_RED_argmax, RD_I64, RD_N_OPS, { 2, 2, 64, 64 }, 0 }, false);
    agree(&(total_case){ RD_RED_sum, RD_F16, RD_N_OPS, { 2, 2, 64, 64 }, 0 }, false);
    agree(&(total_case){ RD_RED_sum, RD_F32, RD_N_OPS, { 0, 2, 64, 64 }, 0 }, true);
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

    tcase_add_loop_test(tc, planes, 0, 4);
    tcase_add_test(tc, others);
    tcase_add_test(tc, row);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
