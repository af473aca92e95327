/* test_loop_tables.c - small programs written by hand, and what is said of their loop trees. */
#include "kernels/loop/facts.h"
#include "programs.h"
#include "suite.h"
#include <stdlib.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* ---- Programs --------------------------------------------------------------------------------- */
enum { OPERAND, OTHER, RESULT, SECOND, SCRATCH };

static void loop_over(builder *b, int32_t axis, int64_t extent)
{
    builder_loop(b, (rd_loop){ .kind = RD_LOOP_EACH, .axis = axis, .extent = extent });
}

static void negate(builder *b, int32_t dst, int32_t a)
{
    builder_add(b, (rd_inst){ .kind = RD_I_MAP,
                              .type = RD_F32,
                              .from = RD_F32,
                              .op   = RD_OP_neg,
                              .dst  = dst,
                              .a    = a,
                              .b    = -1,
                              .c    = -1 });
}

static void of_fold(builder *b, rd_inst_kind kind, int32_t dst, int32_t a)
{
    builder_add(b, (rd_inst){ .kind = kind,
                              .type = RD_F32,
                              .from = RD_F32,
                              .dst  = dst,
                              .a    = a,
                              .b    = -1,
                              .c    = -1,
                              .d    = -1 });
}

static rd_address along(int32_t axis)
{
    return (rd_address){ .n_add = axis >= 0, .add = { { .axis = axis, .reg = -1, .coef = 1 } } };
}

static rd_fold sum_of(int64_t n, int32_t lanes, int32_t lane, int32_t outer, int32_t cell,
                      int64_t cells)
{
    const int64_t rows = (n + lanes - 1) / lanes;

    return (rd_fold){ .reducer     = RD_RED_sum,
                      .law         = RD_LAW_commutes,
                      .type        = RD_F32,
                      .out         = RD_F32,
                      .n_out       = 1,
                      .lanes       = lanes,
                      .steps       = 64,
                      .lane_extent = lane >= 0 ? n : 1,
                      .n_block     = (rows + 63) / 64,
                      .lane        = along(lane),
                      .lane_line   = along(outer),
                      .index       = along(lane >= 0 ? lane : outer),
                      .cell        = along(cell),
                      .n_cell      = cells };
}

/* y[i] = sum of row i of 130 elements, each negated. */
static void rows(builder *b)
{
    builder_init(b, 2, (int64_t[]){ 10, 130 });
    builder_fold(b, sum_of(130, 32, 1, -1, -1, 1));
    builder_body(b);
    loop_over(b, 0, 10);
    of_fold(b, RD_I_START, -1, -1);
    loop_over(b, 1, 130);
    builder_load_2(b, 0, OPERAND, RD_F32, 130, 1, 0);
    negate(b, 1, 0);
    of_fold(b, RD_I_STEP, -1, 1);
    builder_end(b);
    of_fold(b, RD_I_CLOSE, 2, -1);
    builder_store(b, 2, RESULT, RD_F32, 0, 1, 0);
    builder_end(b);
    builder_tail(b);
}

/* y[k] = sum of column k of 200 rows. */
static void columns(builder *b)
{
    builder_init(b, 2, (int64_t[]){ 200, 30 });
    builder_fold(b, sum_of(200, 1, -1, 0, 1, 30));
    of_fold(b, RD_I_START, -1, -1);
    builder_body(b);
    loop_over(b, 0, 200);
    loop_over(b, 1, 30);
    builder_load_2(b, 0, OPERAND, RD_F32, 30, 1, 0);
    of_fold(b, RD_I_STEP, -1, 0);
    builder_end(b);
    builder_end(b);
    builder_tail(b);
    loop_over(b, 1, 30);
    of_fold(b, RD_I_CLOSE, 1, -1);
    builder_store(b, 1, RESULT, RD_F32, 1, 1, 0);
    builder_end(b);
}

/* A fold in which one loop moves both the cell and the step. */
static void both(builder *b)
{
    builder_init(b, 1, (int64_t[]){ 50 });
    builder_fold(b, sum_of(50, 1, -1, 0, 0, 50));
    of_fold(b, RD_I_START, -1, -1);
    builder_body(b);
    loop_over(b, 0, 50);
    builder_load(b, 0, OPERAND, RD_F32, 0, 1, 0);
    of_fold(b, RD_I_STEP, -1, 0);
    builder_end(b);
    builder_tail(b);
    loop_over(b, 0, 50);
    of_fold(b, RD_I_CLOSE, 1, -1);
    builder_store(b, 1, RESULT, RD_F32, 0, 1, 0);
    builder_end(b);
}

/* Two loops, of which the second reads what the first has stored, so many elements ahead. */
static void two_loops(builder *b, int64_t ahead)
{
    builder_init(b, 1, (int64_t[]){ 50 });
    builder_body(b);
    loop_over(b, 0, 50);
    builder_load(b, 0, OPERAND, RD_F32, 0, 1, 0);
    builder_store(b, 0, SCRATCH, RD_F32, 0, 1, 0);
    builder_end(b);
    loop_over(b, 0, 50);
    builder_load(b, 1, SCRATCH, RD_F32, 0, 1, ahead);
    builder_store(b, 1, RESULT, RD_F32, 0, 1, 0);
    builder_end(b);
    builder_tail(b);
}

static void same_element(builder *b)
{
    two_loops(b, 0);
}

static void next_element(builder *b)
{
    two_loops(b, 1);
}

static void far_element(builder *b)
{
    two_loops(b, 100);
}

/* y[i, k] = x[k, i]: 8 by 16 elements. */
static void transposed(builder *b)
{
    builder_init(b, 2, (int64_t[]){ 8, 16 });
    builder_body(b);
    loop_over(b, 0, 8);
    loop_over(b, 1, 16);
    builder_load_2(b, 0, OPERAND, RD_F32, 1, 8, 0);
    builder_store_2(b, 0, RESULT, RD_F32, 16, 1, 0);
    builder_end(b);
    builder_end(b);
    builder_tail(b);
}

/* y[i] = x[place[i]], and z[i] = x[place[0]] */
static void gathered(builder *b)
{
    builder_init(b, 1, (int64_t[]){ 40 });
    builder_load(b, 2, OTHER, RD_I64, -1, 0, 0);
    builder_body(b);
    loop_over(b, 0, 40);
    builder_load(b, 0, OTHER, RD_I64, 0, 1, 0);
    for (int32_t k = 0; k < 2; k++)
        builder_add(
            b, (rd_inst){
                   .kind = RD_I_LOAD,
                   .type = RD_F32,
                   .from = RD_F32,
                   .dst  = 1 + 2 * k,
                   .a    = -1,
                   .b    = -1,
                   .c    = -1,
                   .arg  = builder_address(
                        b, (rd_address){ .slot  = OPERAND,
                                         .type  = RD_F32,
                                         .n_add = 1,
                                         .add   = { { .axis = -1, .reg = 2 * k, .coef = 1 } } }) });
    builder_store(b, 1, RESULT, RD_F32, 0, 1, 0);
    builder_store(b, 3, SECOND, RD_F32, 0, 1, 0);
    builder_end(b);
    builder_tail(b);
}

/* What changes goes through one element of scratch: s[0] = x[i], y[i] = -s[0], z[i] = -x[i]. */
static void kept(builder *b)
{
    builder_init(b, 1, (int64_t[]){ 40 });
    builder_body(b);
    loop_over(b, 0, 40);
    builder_load(b, 0, OPERAND, RD_F32, 0, 1, 0);
    builder_store(b, 0, SCRATCH, RD_F32, -1, 0, 0);
    builder_load(b, 1, SCRATCH, RD_F32, -1, 0, 0);
    negate(b, 2, 1);
    builder_store(b, 2, RESULT, RD_F32, 0, 1, 0);
    negate(b, 3, 0);
    builder_store(b, 3, SECOND, RD_F32, 0, 1, 0);
    builder_end(b);
    builder_tail(b);
}

/* ---- Trees ------------------------------------------------------------------------------------ */
typedef void program_make(builder *b);

typedef struct made {
    builder      b;
    void        *memory[64];
    int          n;
    rd_schedule *t;
} made;

static void *get(void *pool, size_t bytes)
{
    made *m = pool;

    ck_assert_int_lt(m->n, 64);
    return m->memory[m->n++] = calloc(1, bytes + 1);
}

static void make(made *m, program_make *program)
{
    const char         *why = NULL;
    const rd_program   *p;
    const rd_loop_fold *fold;

    m->n = 0;
    program(&m->b);
    p                                           = builder_done(&m->b);
    ((rd_program *)(uintptr_t)p)->first_scratch = SCRATCH;
    ((rd_program *)(uintptr_t)p)->n_scratch     = 1;
    fold                                        = rd_loop_folds_of(p, true, get, m, &why);
    ck_assert_msg(fold && !why, "%s", why);
    m->t = rd_schedule_build(p, fold, true);
    ck_assert(m->t != NULL);
}

static void forget(made *m)
{
    rd_schedule_free(m->t);
    while (m->n > 0)
        free(m->memory[--m->n]);
}

/* The n-th statement of a kind, of all parts. */
static int32_t find(const rd_schedule *t, rd_stmt_kind kind, int n)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == kind && n-- == 0)
                return s;
    ck_abort_msg("no statement of kind %d", (int)kind);
    return -1;
}

/* ---- Where statements stand, and who reads ---------------------------------------------------- */
START_TEST(places)
{
    made           m;
    rd_schedule   *t;
    int32_t        loops[4];
    const uint64_t many = RD_KIND_BIT(RD_S_LET) | RD_KIND_BIT(RD_S_STEP);

    make(&m, rows);
    t                   = m.t;
    const int32_t outer = find(t, RD_S_LOOP, 0), inner = find(t, RD_S_LOOP, 1),
                  step = find(t, RD_S_STEP, 0), finish = find(t, RD_S_FINISH, 0);

    ck_assert(rd_stands_in(t, step, outer) && rd_stands_in(t, step, inner));
    ck_assert(!rd_stands_in(t, finish, inner) && !rd_stands_in(t, inner, inner));
    ck_assert_int_eq(rd_loop_around(t, step), inner);
    ck_assert_int_eq(rd_loop_around(t, outer), -1);
    ck_assert_int_eq(rd_loops_around(t, step, loops, 4), 2);
    ck_assert(loops[0] == inner && loops[1] == outer);
    ck_assert_int_eq(rd_loop_over(t, outer, 1), inner);
    ck_assert_int_eq(rd_loop_over(t, inner, 1), -1);
    ck_assert_int_eq(rd_binder_of(t, step, 0), outer);
    ck_assert_int_eq(rd_binder_of(t, finish, 1), -1);
    ck_assert_int_eq(rd_count_kinds(t, outer, many), 3);
    ck_assert(rd_is_innermost(t, inner) && !rd_is_innermost(t, outer) && !rd_is_innermost(t, step));
    ck_assert_int_eq(rd_next_innermost(t, t->part[1], t->part[1]), inner);
    ck_assert_int_eq(rd_next_innermost(t, t->part[1], inner), -1);
    ck_assert_int_eq(rd_common_body(t, step, finish), outer);
    ck_assert(rd_comes_before(t, step, finish) && !rd_comes_before(t, finish, step));
    ck_assert(rd_comes_before(t, outer, step) && !rd_comes_before(t, step, outer));
    forget(&m);
}
END_TEST

START_TEST(uses)
{
    made         m;
    int32_t      value[4];
    rd_schedule *t;

    make(&m, rows);
    t                   = m.t;
    const int32_t outer = find(t, RD_S_LOOP, 0), inner = find(t, RD_S_LOOP, 1),
                  step = find(t, RD_S_STEP, 0), store = find(t, RD_S_STORE, 0);

    ck_assert_int_eq(rd_reads_of(t, step, value, 4), 1);
    ck_assert_int_eq(value[0], 1);
    ck_assert_int_eq(rd_last_use(t, 2), store);
    ck_assert_int_eq(rd_next_use(t, 0, -1), t->let[1].made_by);
    ck_assert_int_eq(rd_next_use(t, 0, t->let[1].made_by), -1);
    t->stmt[step].weight = t->stmt[step].mask = 0;
    t->stmt[step].label                       = 2;
    ck_assert_int_eq(rd_reads_of(t, step, value, 4), 3);
    ck_assert(value[0] == 1 && value[1] == 0 && value[2] == 2);
    t->stmt[step].weight = t->stmt[step].mask = t->stmt[step].label = -1;
    ck_assert(rd_is_read_in(t, 1, inner) && !rd_is_read_outside(t, 1, inner));
    ck_assert(rd_is_read_in(t, 2, outer) && !rd_is_read_in(t, 2, inner));
    ck_assert(rd_is_read_outside(t, 2, inner));
    forget(&m);
    make(&m, gathered);
    ck_assert_int_eq(rd_reads_of(m.t, m.t->let[1].made_by, value, 4), 1);
    ck_assert_int_eq(value[0], 0);
    ck_assert_int_eq(rd_last_use(m.t, 2), m.t->let[3].made_by);
    forget(&m);
    make(&m, kept);
    ck_assert_int_eq(rd_next_use(m.t, 0, -1), find(m.t, RD_S_STORE, 0));
    ck_assert_int_eq(rd_last_use(m.t, 0), m.t->let[3].made_by);
    forget(&m);
}
END_TEST

/* ---- What changes ----------------------------------------------------------------------------- */
START_TEST(gathers)
{
    made m;

    make(&m, gathered);
    const int32_t loop = find(m.t, RD_S_LOOP, 0), by = m.t->let[1].made_by,
                  fixed = m.t->let[3].made_by;

    ck_assert(rd_is_gather(m.t, loop, by) && !rd_is_gather(m.t, loop, fixed));
    ck_assert(!rd_access_stride(m.t, loop, by).known);
    ck_assert(rd_access_stride(m.t, loop, fixed).known && !rd_access_stride(m.t, loop, fixed).by);
    ck_assert(rd_value_varies(m.t, loop, 0) && rd_value_varies(m.t, loop, 1));
    ck_assert(!rd_value_varies(m.t, loop, 2) && !rd_value_varies(m.t, loop, 3));
    forget(&m);
}
END_TEST

/* Of ranges of 8 indices of 50: an index from the end of a range is not as far behind the one before
 * where the range is the last. */
START_TEST(ranges)
{
    made m;

    make(&m, same_element);
    const int32_t around = rd_enclose_in_loop(m.t, m.t->part[1], 0, 8),
                  inner = find(m.t, RD_S_LOOP, 1), let = m.t->let[0].made_by;
    const rd_for   *l      = rd_loop_of(m.t, around);
    const rd_linear start  = rd_linear_plus_axis(m.t, rd_linear_of(0), 1, l->start_mark),
                    behind = rd_linear_plus_axis(m.t, m.t->let[0].at, -1, l->start_mark);

    ck_assert_int_eq(rd_access_stride(m.t, around, let).by, 8);
    ck_assert_int_eq(rd_access_stride(m.t, inner, let).by, 1);
    ck_assert(!rd_position_varies(m.t, inner, let, &start));
    ck_assert_int_eq(rd_position_stride(m.t, inner, let, &behind).by, 1);
    ck_assert(!rd_position_varies(m.t, around, let, &behind));
    ck_assert(rd_edges_vary(m.t, around, inner) &&
              rd_edges_vary(m.t, around, find(m.t, RD_S_LOOP, 2)));
    ck_assert(rd_trips_of(m.t, around) == 7 && rd_rounds_of(m.t, let) == 50);
    ck_assert_int_eq(rd_most_trips(m.t, inner), 8);
    m.t->loop[m.t->stmt[inner].arg].backwards = true;
    ck_assert(!rd_access_stride(m.t, around, let).known);
    ck_assert_int_eq(rd_access_stride(m.t, inner, let).by, -1);
    forget(&m);
}
END_TEST

/* The address stands still, and what lies there does not. */
START_TEST(stored)
{
    made        m;
    const char *why = "";

    make(&m, kept);
    const int32_t loop = find(m.t, RD_S_LOOP, 0), first = find(m.t, RD_S_STORE, 0),
                  second = find(m.t, RD_S_STORE, 1);

    ck_assert(!rd_position_varies(m.t, loop, m.t->let[1].made_by, &m.t->let[1].at));
    ck_assert(rd_value_varies(m.t, loop, 1) && rd_value_varies(m.t, loop, 2));
    ck_assert(rd_is_store_seen(m.t, loop, first) && !rd_is_store_seen(m.t, loop, second));
    ck_assert(!rd_may_be_vector(m.t, loop, &why) && *why);
    ck_assert(!rd_may_fission(m.t, loop, m.t->let[1].made_by, NULL));
    ck_assert(rd_may_fission(m.t, loop, second, NULL));
    forget(&m);
}
END_TEST

/* ---- How often and how much ------------------------------------------------------------------- */
static const struct {
    const char   *what;
    program_make *program;
    int           loop, load; /* LOOP and LET statements by number */
    double        rounds, elements, lines;
    bool          whole;
} footprints[] = {
    { "a row of 130 floats", rows, 0, 0, 1300, 130, 9, true },
    { "one element of it", rows, 1, 0, 1300, 1, 1, false },
    { "a row of 30", columns, 0, 0, 6000, 30, 2, true },
    { "a column of a matrix of 8", transposed, 0, 0, 128, 16, 8, false },
    { "one of its elements", transposed, 1, 0, 128, 1, 1, false },
    { "an element that memory names", gathered, 0, 2, 40, 1, 1, false },
};

START_TEST(how_much)
{
    made m;

    make(&m, footprints[_i].program);
    const int32_t loop    = find(m.t, RD_S_LOOP, footprints[_i].loop),
                  let     = find(m.t, RD_S_LET, footprints[_i].load);
    const rd_footprint of = rd_footprint_of(m.t, loop, let);

    ck_assert_msg(rd_rounds_of(m.t, let) == footprints[_i].rounds, "%s: %g rounds",
                  footprints[_i].what, rd_rounds_of(m.t, let));
    ck_assert_msg(of.elements == footprints[_i].elements, "%s: %g elements", footprints[_i].what,
                  of.elements);
    ck_assert_msg(of.lines == footprints[_i].lines, "%s: %g lines", footprints[_i].what, of.lines);
    ck_assert_msg(of.whole == footprints[_i].whole, "%s: whole lines", footprints[_i].what);
    forget(&m);
}
END_TEST

/* ---- Folds ------------------------------------------------------------------------------------ */
static const struct {
    program_make *program;
    int           loop;
    rd_mapping    meet;
    bool          vector;
} meetings[] = {
    { rows, 0, RD_MAPS_SAME, true },      { rows, 1, RD_MAPS_LANES, true },
    { columns, 0, RD_MAPS_STEPS, false }, { columns, 1, RD_MAPS_CELLS, true },
    { columns, 2, RD_MAPS_CELLS, true },  { transposed, 0, RD_MAPS_NOT, true },
    { both, 0, RD_MAPS_MIXED, false },    { both, 1, RD_MAPS_CELLS, true },
};

START_TEST(meets)
{
    made        m;
    const char *why = "";

    make(&m, meetings[_i].program);
    const int32_t    loop = find(m.t, RD_S_LOOP, meetings[_i].loop);
    const rd_mapping meet = m.t->p->n_fold ? rd_mapping_of(m.t, 0, loop) : RD_MAPS_NOT;

    ck_assert_msg(meet == meetings[_i].meet, "row %d: %s", _i, rd_mapping_name(meet));
    ck_assert_msg(rd_may_be_vector(m.t, loop, &why) == meetings[_i].vector, "row %d: %s", _i, why);
    ck_assert_msg(meetings[_i].vector || *why, "row %d: no reason", _i);
    forget(&m);
}
END_TEST

/* y[i] = sum of row i of 30 elements, of which each has a lane. */
static void short_rows(builder *b)
{
    builder_init(b, 2, (int64_t[]){ 10, 30 });
    builder_fold(b, sum_of(30, 32, 1, -1, -1, 1));
    builder_body(b);
    loop_over(b, 0, 10);
    of_fold(b, RD_I_START, -1, -1);
    loop_over(b, 1, 30);
    builder_load_2(b, 0, OPERAND, RD_F32, 30, 1, 0);
    of_fold(b, RD_I_STEP, -1, 0);
    builder_end(b);
    of_fold(b, RD_I_CLOSE, 1, -1);
    builder_store(b, 1, RESULT, RD_F32, 0, 1, 0);
    builder_end(b);
    builder_tail(b);
}

/* Loops that go by ranges of so many indices around a loop: whole blocks of 64 steps; no whole ones;
 * several lanes a round; whole steps of all 32 lanes. */
static const struct {
    program_make *program;
    int           loop;
    int64_t       step;
    rd_mapping    meet;
} by_ranges[] = { { columns, 0, 64, RD_MAPS_BLOCKS },  { columns, 0, 128, RD_MAPS_BLOCKS },
                  { columns, 0, 96, RD_MAPS_STEPS },   { columns, 1, 8, RD_MAPS_CELLS },
                  { short_rows, 1, 4, RD_MAPS_MIXED }, { rows, 1, 32, RD_MAPS_STEPS },
                  { rows, 0, 4, RD_MAPS_SAME } };

START_TEST(meets_by_ranges)
{
    made m;

    make(&m, by_ranges[_i].program);
    const int32_t loop   = find(m.t, RD_S_LOOP, by_ranges[_i].loop);
    rd_for        around = *rd_loop_of(m.t, loop);

    around.step       = by_ranges[_i].step;
    around.start_mark = rd_add_mark(m.t);
    around.stop_mark  = rd_add_mark(m.t);
    m.t->loop[m.t->stmt[loop].arg].from =
        rd_edge_of(rd_linear_plus_axis(m.t, rd_linear_of(0), 1, around.start_mark));
    m.t->loop[m.t->stmt[loop].arg].to =
        rd_edge_of(rd_linear_plus_axis(m.t, rd_linear_of(0), 1, around.stop_mark));
    const rd_mapping meet = rd_mapping_of(m.t, 0, rd_put_loop_around(m.t, loop, loop, &around));

    ck_assert_msg(meet == by_ranges[_i].meet, "row %d: %s", _i, rd_mapping_name(meet));
    forget(&m);
}
END_TEST

/* A fold that begins in each round, and ends behind the loop. */
START_TEST(meets_in_part)
{
    made m;

    make(&m, rows);
    const int32_t outer = find(m.t, RD_S_LOOP, 0), finish = find(m.t, RD_S_FINISH, 0);

    ck_assert_int_eq(rd_mapping_of(m.t, 0, outer), RD_MAPS_SAME);
    rd_take_out(m.t, finish);
    rd_put_behind(m.t, finish, outer);
    ck_assert_int_eq(rd_mapping_of(m.t, 0, outer), RD_MAPS_MIXED);
    forget(&m);
}
END_TEST

/* ---- Changes of trees ------------------------------------------------------------------------- */
static const struct {
    program_make *program;
    bool          fuses;
} fusions[] = { { same_element, true }, { next_element, false }, { far_element, true } };

START_TEST(fuse)
{
    made m;

    make(&m, fusions[_i].program);
    const int32_t first = find(m.t, RD_S_LOOP, 0), second = find(m.t, RD_S_LOOP, 1);

    ck_assert_int_eq(rd_may_fuse(m.t, first, second, NULL), fusions[_i].fuses);
    ck_assert(!rd_may_fuse(m.t, second, first, NULL));
    m.t->loop[m.t->stmt[second].arg].to.part[0].at.offset--;
    ck_assert(!rd_may_fuse(m.t, first, second, NULL));
    forget(&m);
}
END_TEST

START_TEST(exchange)
{
    made m;

    make(&m, columns);
    ck_assert(rd_may_interchange(m.t, find(m.t, RD_S_LOOP, 0), find(m.t, RD_S_LOOP, 1), NULL));
    ck_assert(!rd_may_interchange(m.t, find(m.t, RD_S_LOOP, 0), find(m.t, RD_S_LOOP, 2), NULL));
    forget(&m);
    make(&m, rows);
    ck_assert(!rd_may_interchange(m.t, find(m.t, RD_S_LOOP, 0), find(m.t, RD_S_LOOP, 1), NULL));
    forget(&m);
}
END_TEST

/* A loop may become two behind a load, but not between the elements of a fold and what they come
 * to. */
START_TEST(fission)
{
    made m;

    make(&m, rows);
    const int32_t outer = find(m.t, RD_S_LOOP, 0), inner = find(m.t, RD_S_LOOP, 1);

    ck_assert(rd_may_fission(m.t, inner, find(m.t, RD_S_LET, 1), NULL));
    ck_assert(!rd_may_fission(m.t, inner, find(m.t, RD_S_LET, 0), NULL));
    ck_assert(!rd_may_fission(m.t, outer, find(m.t, RD_S_FINISH, 0), NULL));
    ck_assert(rd_may_fission(m.t, outer, find(m.t, RD_S_STORE, 0), NULL));
    forget(&m);
}
END_TEST

static Suite *suite(void)
{
    Suite *s  = suite_create("loop_tables");
    TCase *tc = tcase_create("tables");

    tcase_add_test(tc, places);
    tcase_add_test(tc, uses);
    tcase_add_test(tc, gathers);
    tcase_add_test(tc, ranges);
    tcase_add_test(tc, stored);
    tcase_add_loop_test(tc, how_much, 0, COUNT(footprints));
    tcase_add_loop_test(tc, meets, 0, COUNT(meetings));
    tcase_add_test(tc, meets_in_part);
    tcase_add_loop_test(tc, meets_by_ranges, 0, COUNT(by_ranges));
    tcase_add_loop_test(tc, fuse, 0, COUNT(fusions));
    tcase_add_test(tc, exchange);
    tcase_add_test(tc, fission);
    suite_add_tcase(s, tc);
    return s;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    int      failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
