/* test_tiles_scans.c - scans of the tile machine, and results of folds beside other registers, by
 * every set of kernels, against the scalar interpreter. */
#include "tiles.h"
#include "suite.h"
#include <stdio.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static const rd_dtype types[] = { RD_F32, RD_F64, RD_I8, RD_I32, RD_I64, RD_U8, RD_U64 };
static const int64_t  sizes[] = { 0, 1, 2, 31, 33, 64, 65, 129, 300, 4097 },
                     sides[]  = { 1, 2, 5, 17, 65, 600 };

typedef struct scan_case {
    rd_reducer_id reducer;
    rd_dtype      type;
    bool          down; /* along axis 0, all columns together; else along axis 1, each row on its
                         * own */
    bool          exclusive, reverse, serial, tree;
    bool          outside; /* positions count in the outer position, not in the lane's */
    bool          across;  /* elements lie column by column */
    bool          masked;  /* some elements do not count */
    bool          weighted, one_weight;
    bool          mirrored; /* the loop that the scan does not go along runs backwards */
    int64_t       n, side;
} scan_case;

static rd_dtype result_of(const scan_case *c)
{
    return rd_reducer_places(c->reducer) ? RD_I64 : c->type;
}

static rd_fold fold_of(const scan_case *c)
{
    const rd_address place = { .offset = c->reverse ? c->n - 1 : 0,
                               .n_add  = 1,
                               .add    = {
                                      { .axis = c->down ? 0 : 1, .coef = c->reverse ? -1 : 1 } } };
    rd_fold          fold  = { .reducer     = c->reducer,
                               .type        = c->type,
                               .out         = result_of(c),
                               .scan        = true,
                               .exclusive   = c->exclusive,
                               .reverse     = c->reverse,
                               .prefix      = c->tree ? RD_PREFIX_TREE : RD_PREFIX_LEFT,
                               .n_out       = 1,
                               .lanes       = 1,
                               .steps       = c->serial ? INT64_MAX : 64,
                               .lane_extent = c->outside ? 1 : c->n,
                               .n_block     = c->serial ? 1 : (c->n + 63) / 64,
                               .cell   = { .n_add = c->down, .add = { { .axis = 1, .coef = 1 } } },
                               .n_cell = c->down ? c->side : 1 };

    *(c->outside ? &fold.lane_line : &fold.lane) = place;
    fold.index                                   = place;
    return fold;
}

static void scan(const scan_case *c)
{
    const int64_t extent[] = { c->down ? c->n : c->side, c->down ? c->side : c->n };
    tile_memory   m        = { 0 };
    char          what[160];
    builder       b;

    tile_slot(&m, c->type, c->n * c->side, c->n % 2 ? ORDINARY : UGLY);
    tile_slot(&m, result_of(c), c->n * c->side, ORDINARY);
    tile_slot(&m, RD_BOOL, c->n * c->side, FLAGS);
    tile_slot(&m, c->type, c->n * c->side + 1, c->one_weight ? ORDINARY : FLAGS);
    builder_init(&b, 2, extent);
    builder_fold(&b, fold_of(c));
    if (c->down)
        builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0, .backwards = c->down ? c->reverse : c->mirrored });
    if (!c->down)
        builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 1, .backwards = c->down ? c->mirrored : c->reverse });
    builder_load_2(&b, 0, 0, c->type, c->across ? 1 : extent[1], c->across ? extent[0] : 1, 0);
    if (c->masked)
        builder_load_2(&b, 1, 2, RD_BOOL, extent[1], 1, 0);
    if (c->weighted)
        builder_load_2(&b, 2, 3, c->type, c->one_weight ? 0 : extent[1], !c->one_weight, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_SCAN,
                               .type = c->type,
                               .dst  = 4,
                               .b    = c->weighted ? 2 : -1,
                               .c    = c->masked ? 1 : -1 });
    builder_store_2(&b, 4, 1, result_of(c), extent[1], 1, 0);
    builder_end(&b);
    builder_end(&b);
    snprintf(what, sizeof what,
             "%s of %s, %d x %d, down %d, exclusive %d, reverse %d, serial %d, tree %d, "
             "outside %d, masked %d, mirrored %d",
             rd_reducer_table[c->reducer].name, rd_dtype_name(c->type), (int)extent[0],
             (int)extent[1], c->down, c->exclusive, c->reverse, c->serial, c->tree, c->outside,
             c->masked, c->mirrored);
    tile_agree(&b, &m, NULL, 0, true, what);
    tile_free(&m);
}

static const rd_reducer_id reducers[] = { RD_RED_sum, RD_RED_prod, RD_RED_min, RD_RED_max };

START_TEST(scans)
{
    for (int t = 0; t < COUNT(types); t++)
        for (int k = 0; k < COUNT(sizes) * COUNT(sides); k++)
            for (int how = 0; how < 32; how++) {
                const scan_case c = { .reducer   = reducers[_i],
                                      .type      = types[t],
                                      .down      = how & 1,
                                      .exclusive = how & 2,
                                      .reverse   = how & 4,
                                      .tree      = how & 8,
                                      .outside   = how & 16,
                                      .serial    = !(how & 8) && k % 7 == 0,
                                      .across    = (k + t) % 3 == 0,
                                      .n         = sizes[k % COUNT(sizes)],
                                      .side      = sides[k / COUNT(sizes)] };
                if (c.n * c.side <= 9000)
                    scan(&c);
            }
}
END_TEST

/* Under masks, and in loops that run backwards beside the scan: where nothing has been so far the
 * result is that of nothing, wherever the cell's states and flags lie. */
START_TEST(masked_scans)
{
    for (int t = 0; t < COUNT(types); t++)
        for (int k = 0; k < COUNT(sizes) * COUNT(sides); k++)
            for (int how = 0; how < 32; how++) {
                const scan_case c = { .reducer   = reducers[_i],
                                      .type      = types[t],
                                      .down      = how & 1,
                                      .exclusive = how & 2,
                                      .reverse   = how & 4,
                                      .masked    = how & 8,
                                      .mirrored  = how & 16 || !(how & 8),
                                      .tree      = (k + t) % 2,
                                      .outside   = (k + t) % 3 == 0,
                                      .across    = (k + t) % 3 == 1,
                                      .n         = sizes[k % COUNT(sizes)],
                                      .side      = sides[k / COUNT(sizes)] };
                if (c.n * c.side <= 3000 && (k + how) % 3 == 0)
                    scan(&c);
            }
}
END_TEST

/* Scans by reducers that no operator merges: vectors of neighbours, and scans side by side. */
typedef struct running_reducer {
    rd_reducer_id id;
    bool          weighted, floats;
} running_reducer;

static const running_reducer running_reducers[] = {
    { RD_RED_sum2, false, true },     { RD_RED_argmin, false, false },
    { RD_RED_argmax, false, false },  { RD_RED_moments, false, true },
    { RD_RED_moments, true, true },   { RD_RED_skewness, false, true },
    { RD_RED_kurtosis, true, true },  { RD_RED_logsumexp, false, true },
    { RD_RED_sum_anew, true, false }, { RD_RED_max_anew, true, false },
    { RD_RED_prod_real, true, true }, { RD_RED_decay, true, true },
};

START_TEST(running_scans)
{
    const running_reducer r = running_reducers[_i];

    for (int t = 0; t < (r.floats ? 2 : COUNT(types)); t++)
        for (int k = 0; k < COUNT(sizes) * COUNT(sides); k++)
            for (int how = 0; how < 32; how++) {
                const scan_case c = { .reducer    = r.id,
                                      .type       = types[t],
                                      .weighted   = r.weighted,
                                      .one_weight = r.weighted && (k + how) % 2,
                                      .down       = how & 1,
                                      .exclusive  = how & 2,
                                      .reverse    = how & 4,
                                      .masked     = how & 8 && r.id != RD_RED_decay,
                                      .mirrored   = how & 16,
                                      .serial     = r.id == RD_RED_decay || k % 7 == 0,
                                      .outside    = (k + t) % 3 == 0,
                                      .across     = (k + t) % 3 == 1,
                                      .n          = sizes[k % COUNT(sizes)],
                                      .side       = sides[k / COUNT(sizes)] };
                if (c.n * c.side <= 3000 && (k + how) % 3 == 0)
                    scan(&c);
            }
}
END_TEST

/* ---- Results of folds beside other registers ------------------------------------------------- */
/* Two results of each column; one register was in use before, another is in use while they come. */
START_TEST(several_results)
{
    enum { ROWS = 70 };
    const rd_dtype type     = types[_i % 2];
    const int64_t  cols     = _i < 2 ? 10 : 3000;
    const int64_t  extent[] = { ROWS, cols };
    tile_memory    m        = { 0 };
    builder        b;

    tile_slot(&m, type, ROWS * cols, ORDINARY);
    for (int k = 0; k < 3; k++)
        tile_slot(&m, type, cols, ORDINARY);
    builder_init(&b, 2, extent);
    builder_fold(&b, (rd_fold){ .reducer     = RD_RED_maxsumexp,
                                .type        = type,
                                .out         = type,
                                .n_out       = 2,
                                .lanes       = 1,
                                .steps       = 64,
                                .lane_extent = ROWS,
                                .n_block     = 2,
                                .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                                .cell        = { .n_add = 1, .add = { { .axis = 1, .coef = 1 } } },
                                .n_cell      = cols });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 0, 0, type, cols, 1, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .b = -1, .c = -1 });
    builder_end(&b);
    builder_end(&b);
    builder_loop(&b, (rd_loop){ .axis = 1 });
    builder_load_2(&b, 1, 1, type, 0, 1, 0);
    builder_add(&b,
                (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_square, .dst = 2, .a = 1 });
    builder_add(
        &b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_add, .dst = 3, .a = 2, .b = 2 });
    builder_add(
        &b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_sub, .dst = 4, .a = 1, .b = 2 });
    builder_add(
        &b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_mul, .dst = 5, .a = 3, .b = 2 });
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .type = type, .dst = 6 });
    builder_add(
        &b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_add, .dst = 8, .a = 6, .b = 4 });
    builder_add(
        &b, (rd_inst){ .kind = RD_I_MAP, .type = type, .op = RD_OP_add, .dst = 9, .a = 7, .b = 5 });
    builder_store_2(&b, 8, 2, type, 0, 1, 0);
    builder_store_2(&b, 9, 3, type, 0, 1, 0);
    builder_end(&b);
    tile_agree(&b, &m, NULL, 0, true, "several results");
    tile_free(&m);
}
END_TEST

/* The bools that are counted are read again after others came. */
START_TEST(counted_and_used)
{
    static const int64_t lengths[] = { 1, 63, 300, 5000 };
    const int64_t        n         = lengths[_i];
    tile_memory          m         = { 0 };
    builder              b;

    for (int k = 0; k < 3; k++)
        tile_slot(&m, RD_BOOL, n, FLAGS);
    tile_slot(&m, RD_I64, 1, FLAGS);
    builder_init(&b, 1, &n);
    builder_fold(&b, (rd_fold){ .reducer     = RD_RED_sum,
                                .type        = RD_I64,
                                .out         = RD_I64,
                                .n_out       = 1,
                                .lanes       = 32,
                                .steps       = 64,
                                .lane_extent = n,
                                .n_block     = (n + 2047) / 2048,
                                .lane        = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                                .n_cell      = 1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_START });
    builder_loop(&b, (rd_loop){ .axis = 0 });
    builder_load(&b, 0, 0, RD_BOOL, 0, 1, 0);
    builder_add(&b, (rd_inst){ .kind = RD_I_CAST,
                               .type = RD_I64,
                               .from = RD_BOOL,
                               .dst  = 1,
                               .a    = 0,
                               .b    = -1,
                               .c    = -1 });
    builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 1, .b = -1, .c = -1 });
    builder_load(&b, 2, 1, RD_BOOL, 0, 1, 0);
    builder_add(&b,
                (rd_inst){ .kind = RD_I_MAP, .type = RD_BOOL, .op = RD_OP_not, .dst = 3, .a = 2 });
    builder_add(
        &b,
        (rd_inst){ .kind = RD_I_MAP, .type = RD_BOOL, .op = RD_OP_xor, .dst = 4, .a = 0, .b = 3 });
    builder_store(&b, 4, 2, RD_BOOL, 0, 1, 0);
    builder_end(&b);
    builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .type = RD_I64, .dst = 5 });
    builder_store(&b, 5, 3, RD_I64, -1, 0, 0);
    tile_agree(&b, &m, NULL, 0, true, "counted and used");
    tile_free(&m);
}
END_TEST

/* Any and all, left as soon as they are decided. */
START_TEST(early_exit)
{
    static const int64_t at[] = { -1, 0, 1, 63, 64, 2047, 2048, 4095, 4999 };
    enum { N = 5000 };
    const int64_t n = N, cut[] = { 0, 1024, 2048, 4096, N };
    const bool    any = _i % 2;

    for (int k = 0; k < COUNT(at); k++) {
        tile_memory m = { 0 };
        builder     b;

        tile_slot(&m, RD_BOOL, N, FLAGS);
        tile_slot(&m, RD_BOOL, 1, FLAGS);
        for (int64_t i = 0; i < N; i++)
            m.slot[0].before[i] = any == (i == at[k]);
        builder_init(&b, 1, &n);
        b.p.root = 0;
        builder_fold(&b, (rd_fold){ .reducer     = any ? RD_RED_any : RD_RED_all,
                                    .type        = RD_BOOL,
                                    .out         = RD_BOOL,
                                    .n_out       = 1,
                                    .lanes       = 64,
                                    .steps       = 1,
                                    .lane_extent = N,
                                    .n_block     = (N + 63) / 64,
                                    .lane   = { .n_add = 1, .add = { { .axis = 0, .coef = 1 } } },
                                    .n_cell = 1,
                                    .split  = true });
        builder_add(&b, (rd_inst){ .kind = RD_I_START });
        builder_body(&b);
        builder_loop(&b, (rd_loop){ .axis = 0 });
        builder_load(&b, 0, 0, RD_BOOL, 0, 1, 0);
        builder_add(&b, (rd_inst){ .kind = RD_I_STEP, .a = 0, .b = -1, .c = -1 });
        builder_add(&b, (rd_inst){ .kind = RD_I_EXIT, .a = 0, .arg = 0 });
        builder_end(&b);
        builder_tail(&b);
        builder_add(&b, (rd_inst){ .kind = RD_I_CLOSE, .type = RD_BOOL, .dst = 1 });
        builder_store(&b, 1, 1, RD_BOOL, -1, 0, 0);
        tile_agree(&b, &m, cut, _i < 2 ? 0 : COUNT(cut) - 1, true, any ? "any" : "all");
        tile_free(&m);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles_scans");
    TCase *tests = tcase_create("scans");

    tcase_add_loop_test(tests, scans, 0, 4);
    tcase_add_loop_test(tests, masked_scans, 0, 4);
    tcase_add_loop_test(tests, running_scans, 0, COUNT(running_reducers));
    tcase_add_loop_test(tests, several_results, 0, 4);
    tcase_add_loop_test(tests, counted_and_used, 0, 4);
    tcase_add_loop_test(tests, early_exit, 0, 4);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
