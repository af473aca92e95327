/* test_stages.c - what RDIM_DEBUG prints of each stage, and whether the checks of debug builds see a
 * graph, a tree or a program that is wrong. */
#define _POSIX_C_SOURCE 200809L /* setenv(), dup2() */
#include "eval/plan.h"
#include "eval/request.h"
#include "suite.h"
#include <rdim.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static float   data[20];
static int32_t labels[4] = { 0, 1, 0, 1 }, places[3] = { 2, 0, 1 };
static rd_ctx *ctx;

static void setup(void)
{
    for (int k = 0; k < COUNT(data); k++)
        data[k] = (float)k;
    ctx = rd_ctx_new(NULL);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* ---- Expressions ----------------------------------------------------------------------------- */
static rd_expr *x(void)
{
    return rd_wrap(ctx, data, RD_SHAPE(4, 5));
}

static rd_expr *centred(void)
{
    return rd_mul(rd_sub(x(), rd_mean(x(), RD_KEEP(1))), rd_cast(rd_coord(x(), 1), RD_F32));
}

static rd_expr *rows_in_order(void)
{
    return rd_sort(rd_mul(x(), rd_num(ctx, 2.5)), 1);
}

static rd_expr *leaf_in_order(void)
{
    return rd_sort(x(), 1);
}

static rd_expr *by_label(void)
{
    return rd_sum(x(), RD_DIMS(0), .by = RD_EXPRS(rd_wrap(ctx, labels, RD_SHAPE(4, 1))),
                  .groups = RD_SHAPE(2));
}

static rd_expr *gathered(void)
{
    return rd_take(x(), 0, rd_wrap(ctx, places, RD_SHAPE(3)));
}

static rd_expr *running(void)
{
    return rd_scan(x(), "sum", RD_DIMS(1));
}

static rd_expr *one_by_one(void)
{
    return rd_sum(x(), RD_ALL, .accuracy = RD_SERIAL);
}

static rd_expr *joined(void)
{
    return rd_concat(0, RD_EXPRS(rd_exp(x()), x()));
}

static rd_expr *of_columns(void)
{
    return rd_sqrt(rd_mean(x(), RD_DIMS(0)));
}

/* A loop that ends where an element decides. */
static rd_expr *decided(void)
{
    static float row[4000];

    return rd_any(rd_gt(rd_wrap(ctx, row, RD_SHAPE(4000)), rd_num(ctx, 3)), RD_ALL);
}

/* Its means are read elsewhere than where they are computed. */
static rd_expr *shuffled(void)
{
    return rd_take(rd_mean(x(), RD_DIMS(1)), 0, rd_wrap(ctx, places, RD_SHAPE(3)));
}

static double twice(double v)
{
    return 2 * v;
}

static rd_expr *of_a_user(void)
{
    return rd_map(x(), twice);
}

/* A long function, which compilers would leave out of a loop if they were not told. */
static rd_expr *of_functions(void)
{
    return rd_atan2(rd_erf(x()), rd_exp2(x()));
}

/* min over k of a[i, k] + b[k, j], of two blocks of steps */
static rd_expr *min_plus(void)
{
    enum { ROWS = 70, STEPS = 80, COLS = 400 };
    static float   a[ROWS * STEPS], b[STEPS * COLS];
    rd_expr *const left   = rd_wrap(ctx, a, RD_SHAPE(ROWS, STEPS, 1)),
                   *right = rd_wrap(ctx, b, RD_SHAPE(STEPS, COLS));

    return rd_min(rd_add(left, right), RD_DIMS(1));
}

static rd_expr *plane(void)
{
    return rd_sum(rd_wrap(ctx, data, RD_SHAPE(2, 2, 5)), RD_DIMS(0, 2));
}

/* ---- What is printed ------------------------------------------------------------------------- */
/* All that is written to stderr while the expression is evaluated. */
static void printed(const char *stages, rd_expr *make(void), char text[], size_t room)
{
    FILE *const file = tmpfile();
    const int   err  = dup(STDERR_FILENO);
    rd_array    out  = { 0 };

    ck_assert(file && err >= 0);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    setenv("RDIM_DEBUG", stages, 1);
    const rd_status status = rd_eval(ctx, make(), &out);
    unsetenv("RDIM_DEBUG");
    fflush(stderr);
    dup2(err, STDERR_FILENO);
    close(err);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    rd_array_free(&out);
    ck_assert_msg(status == RD_OK, "%s", rd_error_text(ctx));
}

static rd_expr *of_text(void)
{
    return rd_formula(ctx, "x > 1 ? x.T.T : 2 * -1.5", RD_NAMES({ "x", x() }));
}

static const struct {
    const char *stages;
    rd_expr *(*make)(void);
    const char *says[6];
} dumps[] = {
    { "formula", of_text, { "-- formula\n((x > 1) ? x.T.T : (2 * (-1.5)))\n" } },
    { "graph",
      centred,
      { "-- graph\naxes: i:4 j:5\n", "v0 = read f32 x0 at 5*i+j over {i,j}\n",
        "v1 = sum f32 v0 over {i} reduces {j} tree j lanes 1 side by side i\n",
        "v2 = const f32 5 over {}\n", "v5 = coord i64 at j over {j}\n",
        "v7 = mul f32 v4 v6 over {i,j} -> y0\n" } },
    { "graph", rows_in_order, { "v4 = sort f32 v3 at i, 0 over {i,j} -> y0\n" } },
    { "graph",
      by_label,
      { "v4 = sum f64 v1 v3 over {i,j} reduces {k} tree k lanes 1 side by side j\n" } },
    { "graph",
      gathered,
      { "v1 = index i64 v0 over {i}\n", "v2 = read f32 x0 at 5*[v1]+j over {i,j}\n" } },
    { "graph", running, { "v1 = sum f32 v0 over {i,j} along {j} tree j lanes 1" } },
    { "graph",
      one_by_one,
      { "v1 = sum f32 v0 over {} reduces {ij} tree ij lanes 1 serial -> y0\n" } },
    { "graph",
      joined,
      { "v3 = cast f32 v0 into v4 at k+4, j over {j,k}\n",
        "v4 = join f32 v2 v3 over {i,j} -> y0\n" } },
    { "graph",
      shuffled,
      { "v3 = index i64 v2 over {i}\n", "v4 = read f32 v1 at [v3] over {i}\n" } },
    { "graph", of_a_user, { "v2 = call f64 v1 over {ij} -> y0\n" } },
    { "graph", plane, { "v1 = sum f32 v0 over {i} reduces {j,k} tree j,k lanes 1" } },
    { "tree",
      centred,
      { "-- tree\nstage 0: parallel i:4\n", "  t0 = sum j:5 (x0[i,j])\n",
        "    y0[i,j] = (x0[i,j] - t1) * f32(at(j))\n", "keep: t0 register, t1 register\n" } },
    { "nest",
      of_columns,
      { "-- nest\nstage 0: parallel blocks of j:4\n", "    t0[i] <- sum(x0[j,i])\n",
        "tasks of stage 1: any\n" } },
    { "program",
      centred,
      { "-- program 0\ni0 < 4, i1 < 5; tasks share i0", "    fold0 starts\n",
        "      s1[5*i0 + i1] f32 = r8\n" } },
    { "loops",
      centred,
      { "-- loops of program 0\nstrips:\n  body: strips of ", "  serial i0 to 4\n",
        "  step f0 cell 0, lane 0, line i1: r", "= finish f0" } },
    { "tiles,code",
      centred,
      { "-- tiles of program 0\n", "  body: strips of ", "-- code of program 0\n",
        "static void whole(" } },
    { "loops",
      min_plus,
      { "  body: strips of 64 along axis 1, fixed, around loops\n",
        "  loop along axis 0: jam of 4 rounds\n",
        "a1: states of f0, cells 64 apart, lanes 64 apart, 256 in local\n",
        "      serial i2 to 80 down to 0 + 4 k by 4, starts m3\n" } },
    { "code",
      of_functions,
      { "static inline __attribute__((always_inline)) float f32_erf(float a)",
        "static inline __attribute__((always_inline)) float f32_atan2(float a, float b)" } },
};

START_TEST(dumped)
{
    static char text[1 << 16];

    printed(dumps[_i].stages, dumps[_i].make, text, sizeof text);
    for (int k = 0; k < COUNT(dumps[_i].says) && dumps[_i].says[k]; k++)
        ck_assert_msg(strstr(text, dumps[_i].says[k]) != NULL, "no \"%s\" in %s", dumps[_i].says[k],
                      text);
}
END_TEST

/* Stages that are not asked for are not printed. */
START_TEST(not_dumped)
{
    static char text[1 << 16];

    printed("", centred, text, sizeof text);
    ck_assert_str_eq(text, "");
    printed("tree,,nest", of_columns, /* no plan is kept of it */
            text, sizeof text);
    ck_assert_msg(strstr(text, "-- tree\n") && strstr(text, "-- nest\n") &&
                      !strstr(text, "-- graph"),
                  "%s", text);
}
END_TEST

/* ---- What checks see ------------------------------------------------------------------------- */
typedef struct made {
    rd_pool    *pool;
    rd_nest    *nest;
    rd_tree    *tree;
    rd_graph   *graph;
    rd_program *program;
} made;

static made make_stages(rd_expr *y)
{
    const rd_eval_opts opts    = { 0 };
    const rd_choice    choice  = { 0 };
    rd_array           array   = { 0 };
    rd_result          result  = { y, &array };
    rd_request         request = { 0 };
    rd_output          out;
    made               m = { .pool = rd_pool_new(ctx) };

    ck_assert(rd_check_results(ctx, "rd_eval", (rd_results){ &result, 1 }, &request, &out));
    m.nest = rd_pipeline(ctx, m.pool, 1, &request, NULL, &opts, &choice);
    ck_assert_msg(m.nest, "%s", rd_error_text(ctx));
    m.tree    = m.nest->tree;
    m.graph   = m.tree->graph;
    m.program = rd_lower(m.nest, m.pool);
    ck_assert_msg(m.program, "%s", rd_error_text(ctx));
    return m;
}

/* The first value of that kind; which must be there. */
static rd_value *value_of(const made *m, rd_value_kind kind)
{
    for (int i = 0; i < m->graph->n_value; i++)
        if (m->graph->value[i].kind == kind)
            return &m->graph->value[i];
    ck_abort_msg("no value of kind %d", (int)kind);
    return NULL;
}

static rd_value *read_of_value(const made *m)
{
    for (int i = 0; i < m->graph->n_value; i++)
        if (m->graph->value[i].kind == RD_VALUE_READ && m->graph->value[i].target >= 0)
            return &m->graph->value[i];
    ck_abort_msg("no read of a value");
    return NULL;
}

static void operand_behind(const made *m)
{
    rd_value *const v = value_of(m, RD_VALUE_MAP);

    v->in[0] = (int32_t)(v - m->graph->value);
}

static void place_behind(const made *m)
{
    for (int i = 0; i < m->graph->n_value; i++)
        for (int d = 0; d < m->graph->value[i].n_at; d++)
            for (int t = 0; t < m->graph->value[i].at[d].n_term; t++)
                if (m->graph->value[i].at[d].term[t].axis < 0) {
                    m->graph->value[i].at[d].term[t].value = i;
                    return;
                }
    ck_abort_msg("no gather");
}

static void target_behind(const made *m)
{
    rd_value *const v = read_of_value(m);

    v->target = (int32_t)(v - m->graph->value);
}

static void reduced_kept(const made *m)
{
    rd_value *const v = value_of(m, RD_VALUE_REDUCE);

    v->axes |= v->reduced;
}

static void lanes_behind(const made *m)
{
    rd_combine *const c = value_of(m, RD_VALUE_REDUCE)->combine;

    c->first_lane = c->n_order + 1;
}

static void nothing_read(const made *m)
{
    rd_value *const v = value_of(m, RD_VALUE_READ);

    v->slot = v->target = -1;
}

static void both_read(const made *m)
{
    rd_value *const v = read_of_value(m);

    v->slot = 0;
}

static void no_slot(const made *m)
{
    value_of(m, RD_VALUE_READ)->slot = m->graph->n_slot;
}

static void no_row(const made *m)
{
    value_of(m, RD_VALUE_SORT)->inner = -1;
}

static void row_of_two_or_none(const made *m)
{
    rd_value *const v = value_of(m, RD_VALUE_SORT);

    if (v->slot >= 0)
        v->slot = -1; /* none */
    else
        v->slot = 0; /* both */
}

static void row_of_none(const made *m)
{
    m->graph->value[value_of(m, RD_VALUE_SORT)->target].row = false;
}

static void no_groups(const made *m)
{
    rd_value *const v = value_of(m, RD_VALUE_REDUCE);

    v->axes &= ~rd_own_dims(v);
}

/* The innermost of the first loops. */
static rd_loop_scope *innermost(const made *m)
{
    rd_loop_scope *s = m->tree->root;

    while (s->first && s->first->loop)
        s = s->first->loop;
    return s;
}

static void no_parent(const made *m)
{
    innermost(m)->parent = NULL;
}

static void no_loop(const made *m)
{
    innermost(m)->single_index_axes = 0;
}

static void no_home(const made *m)
{
    m->tree->storage[innermost(m)->first->value].where = m->tree->root;
}

static void one_more(const made *m)
{
    m->tree->n_materialised++;
}

static rd_inst *inst_of(const made *m, rd_inst_kind kind)
{
    for (int32_t k = 0; k < m->program->n_inst; k++)
        if (m->program->inst[k].kind == kind)
            return &m->program->inst[k];
    ck_abort_msg("no instruction of kind %d", (int)kind);
    return NULL;
}

static void loop_behind(const made *m)
{
    inst_of(m, RD_I_LOOP)->arg = m->program->n_loop;
}

static void loop_before(const made *m)
{
    inst_of(m, RD_I_LOOP)->arg = -1;
}

static void register_behind(const made *m)
{
    inst_of(m, RD_I_MAP)->dst = m->program->n_reg;
}

static void register_before(const made *m)
{
    inst_of(m, RD_I_MAP)->a = -2;
}

static void fold_behind(const made *m)
{
    inst_of(m, RD_I_EXIT)->a = m->program->n_fold;
}

static void slot_behind(const made *m)
{
    m->program->address[inst_of(m, RD_I_LOAD)->arg].slot =
        m->program->first_scratch + m->program->n_scratch;
}

static void slot_before(const made *m)
{
    m->program->address[inst_of(m, RD_I_STORE)->arg].slot = -1;
}

static void end_elsewhere(const made *m)
{
    m->program->loop[inst_of(m, RD_I_END)->arg].end++;
}

static void end_alone(const made *m)
{
    inst_of(m, RD_I_LOOP)->kind = RD_I_END;
}

static void cut_loop(const made *m)
{
    m->program->body = (int32_t)(inst_of(m, RD_I_LOOP) - m->program->inst) + 1;
}

static void no_end(const made *m)
{
    m->program->n_inst = (int32_t)(inst_of(m, RD_I_LOOP) - m->program->inst) + 1;
    m->program->body = m->program->tail = -1;
}

typedef const char *check_fn(const made *m);

static const char *check_graph(const made *m)
{
    return rd_check_graph(m->graph);
}

static const char *check_tree(const made *m)
{
    return rd_check_tree(m->tree);
}

static const char *check_program(const made *m)
{
    return rd_check_program(m->program);
}

static const struct {
    rd_expr *(*make)(void);
    void (*damage)(const made *m);
    check_fn   *check;
    const char *says;
} damages[] = {
    { centred, operand_behind, check_graph, "a value comes before one it needs" },
    { gathered, place_behind, check_graph, "a value comes before one it needs" },
    { shuffled, target_behind, check_graph, "a value comes before one it needs" },
    { centred, reduced_kept, check_graph, "a reduction keeps an axis that it reduces" },
    { centred, lanes_behind, check_graph, "a fold's lanes start after its last axis" },
    { centred, nothing_read, check_graph, "a read of neither a leaf nor a value, or of both" },
    { shuffled, both_read, check_graph, "a read of neither a leaf nor a value, or of both" },
    { centred, no_slot, check_graph, "a slot that is not there" },
    { rows_in_order, no_row, check_graph, "an order of no row" },
    { rows_in_order, row_of_none, check_graph, "an order of no row" },
    { rows_in_order, row_of_two_or_none, check_graph, "an order of no row" },
    { leaf_in_order, row_of_two_or_none, check_graph, "an order of no row" },
    { by_label, no_groups, check_graph, "groups or a reducer's results lie along an axis" },
    { centred, no_parent, check_tree, "a loop with the wrong parent" },
    { centred, no_loop, check_tree, "a value stands outside a loop it needs" },
    { centred, no_home, check_tree, "a value's place is not where it stands" },
    { centred, one_more, check_tree, "a kept value is missing, or stands twice" },
    { centred, loop_behind, check_program, "an instruction names something that is not there" },
    { centred, loop_before, check_program, "an instruction names something that is not there" },
    { centred, register_behind, check_program, "an instruction names something that is not there" },
    { centred, register_before, check_program, "an instruction names something that is not there" },
    { decided, fold_behind, check_program, "an instruction names something that is not there" },
    { centred, slot_behind, check_program, "an address in a slot that is not there" },
    { centred, slot_before, check_program, "an address in a slot that is not there" },
    { centred, end_elsewhere, check_program, "loops that do not nest" },
    { centred, end_alone, check_program, "loops that do not nest" },
    { centred, cut_loop, check_program, "a loop across the parts of a program" },
    { centred, no_end, check_program, "a loop without an end" },
};

START_TEST(damaged)
{
    const made  m     = make_stages(damages[_i].make());
    const char *found = damages[_i].check(&m);

    ck_assert_msg(!found, "before the damage: %s", found);
    damages[_i].damage(&m);
    found = damages[_i].check(&m);
    ck_assert_msg(found && strstr(found, damages[_i].says), "not \"%s\", but %s", damages[_i].says,
                  found ? found : "nothing");
    rd_pool_free(m.pool);
}
END_TEST

/* All that is sound is let through. */
START_TEST(sound)
{
    rd_expr *(*const all[])(void) = { centred, rows_in_order, leaf_in_order, by_label,   gathered,
                                      running, one_by_one,    joined,        of_columns, decided };

    for (int k = 0; k < COUNT(all); k++) {
        const made m = make_stages(all[k]());

        ck_assert_msg(!check_graph(&m), "%d: %s", k, check_graph(&m));
        ck_assert_msg(!check_tree(&m), "%d: %s", k, check_tree(&m));
        for (int s = 0; s < m.nest->n_stage; s++)
            ck_assert_msg(!rd_check_program(&m.program[s]), "%d: %s", k,
                          rd_check_program(&m.program[s]));
        rd_pool_free(m.pool);
    }
}
END_TEST

int main(void)
{
    Suite   *s  = suite_create("stages");
    TCase   *tc = tcase_create("stages");
    SRunner *r  = srunner_create(s);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, dumped, 0, COUNT(dumps));
    tcase_add_test(tc, not_dumped);
    tcase_add_loop_test(tc, damaged, 0, COUNT(damages));
    tcase_add_test(tc, sound);
    suite_add_tcase(s, tc);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
