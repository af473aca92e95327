/* Asking: what is refused and with which words, and what is large, deep, wide, empty or of high
 * rank and is not. */
#define _POSIX_C_SOURCE 200809L /* setenv(), mkstemp() */
#include "eval/plan.h"
#include "isa.h"
#include "kernels/cpu/nest/nest.h"
#include "kernels/cpu/jit/tier.h"
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static float    data[64];
static rd_array fresh; /* an output that asks for memory; must be zeroed again after a failure */

/* The call failed so, with a sentence of these words; nothing was given. */
static void failed(rd_status got, rd_status want, const char *first, const char *second, int line)
{
    const char *said = rd_error_text(ctx);

    ck_assert_msg(got == want && rd_error(ctx) == want, "line %d: %s: %s", line,
                  rd_status_name(got), said);
    ck_assert_msg(strstr(said, first) && strstr(said, second), "line %d: no \"%s\", \"%s\" in: %s",
                  line, first, second, said);
    ck_assert_msg(!fresh.data && !fresh.owner && !fresh.type && !fresh.shape.n,
                  "line %d: an output is not zeroed", line);
    rd_error_clear(ctx);
}
#define FAILS(status, first, second, call) failed(call, RD_ERR_##status, first, second, __LINE__)

static rd_expr *row(void)
{
    return rd_wrap(ctx, data, RD_SHAPE(4));
}

static rd_status eval_opts(rd_expr *y, rd_eval_opts opts)
{
    float memory[64];

    return rd_eval_many(ctx, RD_RESULTS({ y, RD_INTO(memory, RD_SHAPE(4)) }), &opts);
}

static rd_status at(rd_expr *y, rd_index index)
{
    const double value = rd_at(ctx, y, index);

    ck_assert(!isnan(value) == (rd_error(ctx) == RD_OK));
    return rd_error(ctx);
}

/* ---- Results --------------------------------------------------------------------------------- */
START_TEST(results_refused)
{
    rd_ctx  *elsewhere = rd_ctx_new(NULL);
    rd_expr *x = row(), *theirs = rd_num(elsewhere, 1);
    float    y[64];
    int32_t  i[4];
    rd_array nowhere = { .type = RD_F32, .shape = RD_SHAPE(4) },
             half    = { .data = (char *)y + 2, .type = RD_F32 };

    half.shape = RD_SHAPE(4);
    ck_assert(rd_eval(NULL, x, &fresh) == RD_ERR_ARGUMENT);
    ck_assert(rd_eval_many(NULL, RD_RESULTS({ x, &fresh }), NULL) == RD_ERR_ARGUMENT);
    FAILS(ARGUMENT, "rd_eval", "NULL", rd_eval(ctx, NULL, &fresh));
    FAILS(ARGUMENT, "rd_eval", "no output", rd_eval(ctx, x, NULL));
    FAILS(ARGUMENT, "rd_eval", "without memory", rd_eval(ctx, x, &nowhere));
    FAILS(ARGUMENT, "rd_eval_many", "no results", rd_eval_many(ctx, (rd_results){ 0 }, NULL));
    FAILS(ARGUMENT, "rd_eval_many", "3 results, which is NULL",
          rd_eval_many(ctx, (rd_results){ NULL, 3 }, NULL));
    FAILS(ARGUMENT, "rd_eval_many", "-1 results",
          rd_eval_many(ctx, (rd_results){ &(rd_result){ x, &fresh }, -1 }, NULL));
    FAILS(ARGUMENT, "result 1", "NULL",
          rd_eval_many(ctx, RD_RESULTS({ x, &fresh }, { NULL, &nowhere }), NULL));
    FAILS(ARGUMENT, "rd_eval", "another context", rd_eval(ctx, theirs, &fresh));
    FAILS(SHAPE, "has shape (4)", "the output (5)", rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(5))));
    FAILS(SHAPE, "has shape (4)", "the output (1, 4)", rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(1, 4))));
    FAILS(SHAPE, "has shape ()", "the output (1)",
          rd_eval(ctx, rd_sum(x, RD_ALL), RD_INTO(y, RD_SHAPE(1))));
    FAILS(SHAPE, "rd_eval", "(-4)", rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(-4))));
    FAILS(SHAPE, "rd_eval", "strides",
          rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(4), .strides = RD_STRIDES(1, 1))));
    FAILS(SHAPE, "rd_eval", "rank 33", rd_eval(ctx, x, RD_INTO(y, (rd_shape){ .n = 33 })));
    FAILS(TYPE, "f32", "i32", rd_eval(ctx, x, RD_INTO(i, RD_SHAPE(4))));
    FAILS(TYPE, "f64", "f32", rd_eval(ctx, rd_cast(x, RD_F64), RD_INTO(y, RD_SHAPE(4))));
    FAILS(TYPE, "rd_cast", "f64",
          rd_eval(ctx, rd_div(rd_cast(x, RD_I8), rd_int(ctx, 2)), RD_INTO(y, RD_SHAPE(4))));
    FAILS(TYPE, "rd_eval", "f16",
          rd_eval(ctx, x, &(rd_array){ .data = y, .type = RD_F16, .shape = RD_SHAPE(4) }));
    FAILS(TYPE, "rd_eval", "(0)", rd_eval(ctx, x, &(rd_array){ .data = y, .shape = RD_SHAPE(4) }));
    FAILS(ARGUMENT, "rd_eval", "not aligned", rd_eval(ctx, x, &half));
    FAILS(ARGUMENT, "rd_eval", "overlap",
          rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(4), .strides = RD_STRIDES(0))));
    FAILS(ARGUMENT, "rd_eval", "order", rd_eval(ctx, x, RD_INTO(y, RD_SHAPE(4), .order = 3)));
    rd_ctx_free(elsewhere);
}
END_TEST

START_TEST(options_refused)
{
    FAILS(ARGUMENT, "rd_eval_opts", "traversal 3",
          eval_opts(row(), (rd_eval_opts){ .traversal = (rd_traversal)3 }));
    FAILS(ARGUMENT, "rd_eval_opts", "traversal -1",
          eval_opts(row(), (rd_eval_opts){ .traversal = (rd_traversal)-1 }));
    FAILS(ARGUMENT, "rd_eval_opts", "backend 4",
          eval_opts(row(), (rd_eval_opts){ .backend = (rd_backend)4 }));
    FAILS(ARGUMENT, "rd_eval_opts", "threads -2",
          eval_opts(row(), (rd_eval_opts){ .threads = -2 }));
    if (!rd_backend_cuda.probe())
        FAILS(DEVICE, "rd_eval_many: ", "no CUDA: ",
              eval_opts(row(), (rd_eval_opts){ .backend = RD_BACKEND_CUDA }));
    ck_assert(eval_opts(row(), (rd_eval_opts){ .backend = RD_BACKEND_CPU }) == RD_OK);
    ck_assert_msg(eval_opts(row(), (rd_eval_opts){ .size = 8, .threads = -2 }) == RD_OK,
                  "fields past the size are not read");
    ck_assert_msg(eval_opts(row(), (rd_eval_opts){ .size = 400, .threads = 1 }) == RD_OK,
                  "a later release's options");
}
END_TEST

/* Each call speaks in its own name, also of what is found while it plans. */
START_TEST(calls_are_named)
{
    rd_array layout = { .type = RD_F32, .shape = RD_SHAPE(4) }, out;
    float    y[5];
    rd_expr *in = rd_input(ctx, "temperature", &layout);
    out         = *RD_INTO(y, RD_SHAPE(5)); /* not the shape of 4 */

    rd_results const none = { 0 }, wrong = { &(rd_result){ row(), &out }, 1 },
                     unbound = { &(rd_result){ in, &fresh }, 1 };
    const rd_exprs inputs    = { 0 };

    FAILS(SHAPE, "rd_eval: ", "the output (5)", rd_eval(ctx, row(), &out));
    FAILS(SHAPE, "rd_eval_many: ", "the output (5)", rd_eval_many(ctx, wrong, NULL));
    FAILS(ARGUMENT, "rd_eval_many: ", "threads -1",
          rd_eval_many(ctx, wrong, &(rd_eval_opts){ .threads = -1 }));
    FAILS(SHAPE, "rd_plan_new: ", "the output (5)",
          (rd_plan_new(ctx, inputs, wrong, NULL), rd_error(ctx)));
    FAILS(ARGUMENT, "rd_plan_new: ", "no results",
          (rd_plan_new(ctx, inputs, none, NULL), rd_error(ctx)));
    FAILS(ARGUMENT, "rd_plan_new: ", "\"temperature\"",
          (rd_plan_new(ctx, inputs, unbound, NULL), rd_error(ctx)));
    FAILS(ARGUMENT, "rd_eval: ", "rd_plan_new()", rd_eval(ctx, in, &fresh));
    FAILS(ARGUMENT, "rd_at: ", "\"temperature\"", at(in, RD_INDEX(0)));
    FAILS(ARGUMENT, "rd_save: ", "\"temperature\"", rd_save(ctx, in, "never.npy"));
    FAILS(SHAPE, "rd_explain: ", "the output (5)", (rd_explain(ctx, wrong, NULL), rd_error(ctx)));
    FAILS(ARGUMENT, "rd_explain: ", "backend 9",
          (rd_explain(ctx, wrong, &(rd_eval_opts){ .backend = (rd_backend)9 }), rd_error(ctx)));
}
END_TEST

/* Who is over a limit is told which one, and how far he is. */
START_TEST(limits_are_named)
{
    rd_ctx  *usual = ctx;
    float    few[3];
    rd_expr *x, *y;
    rd_plan *plan;

    ctx = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = 300000 });
    x   = rd_broadcast(row(), RD_SHAPE(100000, 4));
    FAILS(MEMORY, "rd_eval: no memory for a result of 400000 elements: 1600000 bytes asked for, ",
          "held of a memory_limit of 300000", rd_eval(ctx, x, &fresh));
    x = rd_reshape(rd_exp(rd_slice(x, ":, 1:")), RD_SHAPE(3, 100000)); /* not without a copy */
    y = rd_sum(x, RD_DIMS(1));
    FAILS(MEMORY, "rd_eval: no memory for what is kept between loops: 1200",
          "held of a memory_limit of 300000", rd_eval(ctx, y, RD_INTO(few, RD_SHAPE(3))));
    plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ y, RD_INTO(few, RD_SHAPE(3)) }), NULL);
    FAILS(MEMORY, "rd_plan_run: no memory for what is kept between loops: 1200",
          "held of a memory_limit of 300000", rd_plan_run(plan, NULL, NULL));
    rd_ctx_free(ctx);
    ctx = usual;
}
END_TEST

START_TEST(elements_refused)
{
    rd_expr *x = rd_wrap(ctx, data, RD_SHAPE(4, 5));

    ck_assert(isnan(rd_at(NULL, x, RD_INDEX(0, 0))));
    FAILS(ARGUMENT, "rd_at", "NULL", at(NULL, RD_INDEX(0)));
    FAILS(AXIS, "rd_at: 1 indices", "rank 2", at(x, RD_INDEX(0)));
    FAILS(AXIS, "rd_at: 3 indices", "rank 2", at(x, RD_INDEX(0, 0, 0)));
    FAILS(AXIS, "index 5", "extent 5", at(x, RD_INDEX(0, 5)));
    FAILS(AXIS, "index -5", "extent 4", at(x, RD_INDEX(-5, 0)));
    FAILS(AXIS, "index 0", "extent 0", at(rd_slice(x, ":0, 0"), RD_INDEX(0)));
    ck_assert(at(x, RD_INDEX(-4, -1)) == RD_OK);
}
END_TEST

/* ---- Plans ----------------------------------------------------------------------------------- */
static rd_status plan_status(rd_exprs in, rd_results results)
{
    rd_plan *plan = rd_plan_new(ctx, in, results, NULL);

    ck_assert(!plan == (rd_error(ctx) != RD_OK));
    rd_plan_free(plan);
    return rd_error(ctx);
}

START_TEST(plans_refused)
{
    rd_array layout = { .type = RD_F32, .shape = RD_SHAPE(4) };
    rd_expr *x = rd_input(ctx, "first", &layout), *y = rd_input(ctx, "second", &layout),
            *sum = rd_add(x, y);
    float out[4];

    ck_assert(!rd_plan_new(NULL, RD_EXPRS(x), RD_RESULTS({ x, &layout }), NULL));
    rd_plan_free(NULL);
    ck_assert(rd_plan_run(NULL, NULL, NULL) == RD_ERR_ARGUMENT);
    FAILS(ARGUMENT, "\"second\"", "rd_plan_new",
          plan_status(RD_EXPRS(x), RD_RESULTS({ sum, &layout })));
    FAILS(ARGUMENT, "\"first\"", "rd_plan_new", rd_eval(ctx, rd_neg(x), RD_INTO(out, RD_SHAPE(4))));
    FAILS(ARGUMENT, "input 1", "rd_input",
          plan_status(RD_EXPRS(x, row()), RD_RESULTS({ x, &layout })));
    FAILS(ARGUMENT, "input 0", "rd_input",
          plan_status(RD_EXPRS(sum), RD_RESULTS({ sum, &layout })));
    FAILS(ARGUMENT, "input 1", "rd_input",
          plan_status(RD_EXPRS(x, NULL), RD_RESULTS({ x, &layout })));
    FAILS(ARGUMENT, "rd_plan_new", "-1",
          plan_status((rd_exprs){ &x, -1 }, RD_RESULTS({ x, &layout })));
    FAILS(ARGUMENT, "rd_plan_new", "2",
          plan_status((rd_exprs){ NULL, 2 }, RD_RESULTS({ x, &layout })));
    FAILS(ARGUMENT, "rd_", "no results", plan_status(RD_EXPRS(x), (rd_results){ 0 }));
    FAILS(ARGUMENT, "rd_", "NULL", plan_status(RD_EXPRS(x), RD_RESULTS({ NULL, &layout })));
    FAILS(SHAPE, "(4)", "(3)",
          plan_status(RD_EXPRS(x), RD_RESULTS({ x, RD_INTO(out, RD_SHAPE(3)) })));
}
END_TEST

static rd_status run(const rd_plan *plan, const void *first, const void *second, void *out)
{
    return rd_plan_run(plan, (const void *[]){ first, second }, (void *[]){ out });
}

START_TEST(runs_refused)
{
    rd_array layout = { .type = RD_F32, .shape = RD_SHAPE(4) };
    rd_expr *x = rd_input(ctx, "first", &layout), *y = rd_input(ctx, "second", &layout);
    rd_plan *plan = rd_plan_new(ctx, RD_EXPRS(x, y), RD_RESULTS({ rd_add(x, y), &layout }), NULL);
    float    out[5];

    ck_assert(plan);
    FAILS(ARGUMENT, "rd_plan_run", "input 0 is NULL", rd_plan_run(plan, NULL, (void *[]){ out }));
    FAILS(ARGUMENT, "rd_plan_run", "input 1 is NULL", run(plan, data, NULL, out));
    FAILS(ARGUMENT, "rd_plan_run", "result 0 is NULL", run(plan, data, data, NULL));
    FAILS(ARGUMENT, "rd_plan_run", "NULL", rd_plan_run(plan, (const void *[]){ data, data }, NULL));
    FAILS(ARGUMENT, "input 0", "not aligned for f32", run(plan, (char *)data + 1, data, out));
    FAILS(ARGUMENT, "result 0", "not aligned for f32", run(plan, data, data, (char *)out + 2));
    ck_assert(run(plan, data, data, out) == RD_OK);
    /* An earlier failure of the context keeps nobody from running, and stays the first. */
    ck_assert(!rd_slice(x, "?") && run(plan, data, data, out) == RD_OK);
    ck_assert(run(plan, NULL, data, out) == RD_ERR_ARGUMENT && rd_error(ctx) == RD_ERR_TEXT);
    rd_plan_free(plan);
}
END_TEST

/* An input that no result reads may come as NULL. */
START_TEST(idle_inputs)
{
    rd_array layout = { .type = RD_F32, .shape = RD_SHAPE(4) };
    rd_expr *x = rd_input(ctx, "first", &layout), *y = rd_input(ctx, "second", &layout);
    rd_plan *plan = rd_plan_new(ctx, RD_EXPRS(x, y), RD_RESULTS({ rd_neg(y), &layout }), NULL);
    float    out[4];

    ck_assert(plan && run(plan, NULL, data, out) == RD_OK);
    rd_plan_free(plan);
}
END_TEST

/* ---- Failures of a run ----------------------------------------------------------------------- */
static const char *limited(void *user, int64_t n, const void *const *in, void *out)
{
    (void)user;
    for (int64_t i = 0; i < n; i++) {
        ((double *)out)[i] = ((const double *)in[0])[i];
        if (((const double *)in[0])[i] > 2)
            return "limited: more than two";
    }
    return NULL;
}

START_TEST(runs_fail)
{
    static const int64_t wrong[3] = { 0, -4, 4 };
    static const double  some[4]  = { 1, 2, 3, 4 };
    rd_fn                f        = { .size  = sizeof f,
                                      .name  = "limited",
                                      .arity = 1,
                                      .in    = RD_F64,
                                      .out   = RD_F64,
                                      .block = limited };
    rd_expr *index = rd_wrap(ctx, wrong, RD_SHAPE(3)), *x = rd_wrap(ctx, some, RD_SHAPE(4));

    FAILS(AXIS, "index 4", "extent 4", rd_eval(ctx, rd_take(x, 0, index), &fresh));
    FAILS(AXIS, "index 4", "extent 4", rd_eval(ctx, rd_sum(rd_take(x, 0, index), RD_ALL), &fresh));
    FAILS(AXIS, "index -5", "extent 4",
          rd_eval(ctx, rd_take(x, 0, rd_sub(rd_slice(index, ":2"), rd_int(ctx, 1))), &fresh));
    FAILS(CALLBACK, "limited: more than two", "", rd_eval(ctx, rd_map(x, &f), &fresh));
    FAILS(CALLBACK, "limited: more than two", "",
          rd_eval(ctx, rd_sum(rd_map(x, &f), RD_ALL), &fresh));
    FAILS(CALLBACK, "limited: more than two", "", at(rd_map(x, &f), RD_INDEX(2)));
    ck_assert_msg(at(rd_take(x, 0, index), RD_INDEX(1)) == RD_OK &&
                      at(rd_map(x, &f), RD_INDEX(1)) == RD_OK,
                  "what is not asked for does not fail");
}
END_TEST

START_TEST(first_error_stays)
{
    rd_expr *x = row();
    float    out[4];
    char     first[500];

    ck_assert(!rd_reshape(x, RD_SHAPE(3)));
    snprintf(first, sizeof first, "%s", rd_error_text(ctx));
    ck_assert(rd_eval(ctx, x, RD_INTO(out, RD_SHAPE(4))) == RD_ERR_SHAPE &&
              at(x, RD_INDEX(1)) == RD_ERR_SHAPE);
    ck_assert(rd_eval(ctx, x, NULL) == RD_ERR_SHAPE && rd_eval(ctx, NULL, &fresh) == RD_ERR_SHAPE);
    ck_assert(
        !rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ x, RD_INTO(out, RD_SHAPE(4)) }), NULL));
    ck_assert(!rd_explain(ctx, RD_RESULTS({ x, NULL }), NULL));
    ck_assert_str_eq(rd_error_text(ctx), first);
    rd_error_clear(ctx);
    ck_assert(rd_eval(ctx, x, RD_INTO(out, RD_SHAPE(4))) == RD_OK);
}
END_TEST

/* ---- Texts ----------------------------------------------------------------------------------- */
static rd_status text_status(const char *text)
{
    ck_assert(!text == (rd_error(ctx) != RD_OK));
    return rd_error(ctx);
}

START_TEST(texts_refused)
{
    rd_expr *x = row();
    float    y[5];

    ck_assert(!rd_explain(NULL, RD_RESULTS({ x, NULL }), NULL) &&
              !rd_graphviz(NULL, RD_RESULTS({ x, NULL })));
    FAILS(ARGUMENT, "rd_explain", "no results",
          text_status(rd_explain(ctx, (rd_results){ 0 }, NULL)));
    FAILS(ARGUMENT, "rd_explain", "NULL",
          text_status(rd_explain(ctx, RD_RESULTS({ NULL, NULL }), NULL)));
    FAILS(SHAPE, "rd_explain", "(5)",
          text_status(rd_explain(ctx, RD_RESULTS({ x, RD_INTO(y, RD_SHAPE(5)) }), NULL)));
    FAILS(ARGUMENT, "threads -1", "",
          text_status(rd_explain(ctx, RD_RESULTS({ x, NULL }), &(rd_eval_opts){ .threads = -1 })));
    ck_assert_msg(!rd_graphviz(ctx, RD_RESULTS({ NULL, NULL })), "NULL goes through");
}
END_TEST

static rd_expr *ranked(void)
{
    rd_expr *x = rd_wrap(ctx, data, RD_SHAPE(8, 8));

    return rd_sub(x, rd_mean(x, RD_DIMS(0)));
}

static rd_expr *mixed_reshape(void)
{
    return rd_sum(
        rd_reshape(rd_exp(rd_transpose(rd_wrap(ctx, data, RD_SHAPE(8, 6)))), RD_SHAPE(4, 12)),
        RD_DIMS(1));
}

static rd_expr *joined(void)
{
    return rd_scan(rd_concat(0, RD_EXPRS(row(), rd_exp(row()))), "sum", RD_DIMS(0));
}

/* The price of a window's elements is 20 logarithms each. */
static rd_expr *windowed(void)
{
    rd_expr *x = rd_wrap(ctx, data, RD_SHAPE(64));

    for (int k = 0; k < 20; k++)
        x = rd_log1p(x);
    return rd_sum(rd_window(x, 0, 9, 1), RD_DIMS(-1));
}

static rd_expr *serial(void)
{
    return rd_sum(rd_wrap(ctx, data, RD_SHAPE(64)), RD_ALL, .accuracy = RD_SERIAL);
}

static const struct {
    const char *what;
    rd_expr *(*build)(void);
    const char *words[9]; /* to NULL */
} texts[] = {
    { "anomaly",
      ranked,
      { "y0: f32 (8, 8)", "leaf f32 (8, 8)", "virtual shape: ", ":8", "stage 0", "bytes", "lane",
        "backend: cpu" } },
    { "reshape", mixed_reshape, { "the operand of a reshape is stored", "stage 1", "array" } },
    { "concatenation", joined, { "a concatenation is stored", "stage 1", "part" } },
    { "window",
      windowed,
      { "is stored: its elements are read at several places each", "log1p", "stage 1" } },
    { "serial", serial, { "left fold" } },
};

/* Is it XML: elements end in their order, quotes close, what may not stand in text does not? */
static void expect_xml(const char *what, const char *text)
{
    char open[32][16];
    int  deep = 0;

    ck_assert_msg(text != NULL, "%s: %s", what, rd_error_text(ctx));
    for (const char *at = strchr(text + 1, '<'); *at; at++) {
        if (*at == '&') {
            ck_assert_msg(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) ||
                              !strncmp(at, "&amp;", 5) || !strncmp(at, "&quot;", 6),
                          "%s: %.20s", what, at);
        } else if (*at == '<') {
            const bool   ends   = at[1] == '/';
            const size_t n      = strcspn(at + 1 + ends, " >/");
            bool         quoted = false;

            ck_assert_msg(n > 0 && n < 16, "%s: %.20s", what, at);
            if (ends)
                ck_assert_msg(deep > 0 && !strncmp(open[--deep], at + 2, n) && !open[deep][n],
                              "%s: %.20s ends %s", what, at, open[deep]);
            else {
                ck_assert(deep < 32);
                snprintf(open[deep++], sizeof *open, "%.*s", (int)n, at + 1);
            }
            for (at++; *at && (quoted || *at != '>'); at++)
                quoted ^= *at == '"';
            ck_assert_msg(*at == '>', "%s: an element has no end", what);
            deep -= !ends && at[-1] == '/';
        } else
            ck_assert_msg(*at != '>' && (*at == '\n' || (unsigned char)*at >= ' '), "%s: %.20s",
                          what, at);
    }
    ck_assert_msg(deep == 0, "%s: %s has no end", what, open[deep ? deep - 1 : 0]);
}

static int count_of(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

START_TEST(drawn)
{
    for (size_t k = 0; k < COUNT(texts); k++) {
        rd_expr    *y       = texts[k].build();
        const char *text    = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
        const char *picture = rd_explain_svg(ctx, RD_RESULTS({ y, NULL }), NULL);

        expect_xml(texts[k].what, picture);
        ck_assert_int_eq(count_of(picture, ">stage "), count_of(text, "\ncost of stage "));
        ck_assert_msg(strstr(picture, ">y0<") && strstr(picture, "reads "), "%s", picture);
    }
    rd_expr *const bad = rd_label(rd_wrap(ctx, data, RD_SHAPE(4)), "<a&\"b>\n\x01\xc3\xa9\xff\xc3");

    expect_xml("letters", rd_explain_svg(ctx, RD_RESULTS({ rd_exp(bad), NULL }), NULL));
    expect_xml("complex", rd_explain_svg(ctx, RD_RESULTS({ rd_complex(bad, bad), NULL }), NULL));
    FAILS(ARGUMENT, "rd_explain_svg", "NULL",
          text_status(rd_explain_svg(ctx, RD_RESULTS({ NULL, NULL }), NULL)));
    ck_assert_ptr_null(rd_explain_svg(NULL, RD_RESULTS({ bad, NULL }), NULL));
}
END_TEST

/* ---- What runs when -------------------------------------------------------------------------- */
static double number_after(const char *line, const char *word)
{
    const char *at = strstr(line, word);

    ck_assert_msg(at != NULL, "no %s in %.200s", word, line);
    return strtod(at + strlen(word), NULL);
}

/* One event a line, in brackets, with commas between; stages hold their tasks, and the run its stages. */
START_TEST(traced)
{
    enum { N = 1 << 19 };
    static char   text[8192];
    char          path[] = "rdim-trace-XXXXXX";
    static float  x[N], y[N];
    double        from[2] = { 0 }, to[2] = { 0 }; /* of the run, and of its stage */
    int           tasks = 0, stages = 0, runs = 0, plans = 0;
    unsigned long threads = 0;
    const int     file    = mkstemp(path);

    ck_assert(file >= 0);
    setenv("RDIM_DEBUG", "trace", 1);
    setenv("RDIM_TRACE", path, 1);
    ck_assert_int_eq(
        rd_eval_many(ctx,
                     RD_RESULTS({ rd_exp(rd_wrap(ctx, x, RD_SHAPE(N))), RD_INTO(y, RD_SHAPE(N)) }),
                     &(rd_eval_opts){ .threads = 2 }),
        RD_OK);
    unsetenv("RDIM_DEBUG");
    const ssize_t n = read(file, text, sizeof text - 1);

    ck_assert_msg(n > 4 && !strncmp(text, "[\n{", 3) && !strcmp(text + n - 4, "}\n]\n"), "%s",
                  text);
    for (char *line = strstr(text, "{\"name\""); line; line = strstr(line + 1, "\n{\"name\"")) {
        const double ts = number_after(line, "\"ts\":"), end = ts + number_after(line, "\"dur\":");
        const char  *kind = strstr(line, "\"cat\":\"") + 7;

        tasks += !strncmp(kind, "task", 4);
        plans += !strncmp(kind, "plan", 4);
        if (!strncmp(kind, "task", 4))
            threads |= 1ul << (int)number_after(line, "\"tid\":") % 64;
        if (!strncmp(kind, "stage", 5) || !strncmp(kind, "run", 3)) {
            from[kind[0] == 's'] = ts;
            to[kind[0] == 's']   = end;
            stages += kind[0] == 's';
            runs += kind[0] == 'r';
        }
    }
    ck_assert_msg(plans == 1 && runs == 1 && stages == 1 && tasks == 2, "%s", text);
    ck_assert_msg(threads & (threads - 1), "one thread in %s", text);
    ck_assert_msg(from[0] <= from[1] && to[1] <= to[0], "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\"stage 0: "));
    close(file);
    unlink(path);
}
END_TEST

/* A stage is traced by the way in which it runs, and a run by what it consists of. */
START_TEST(traced_ways)
{
    enum { N = 1000, PIECES = 120 };
    static char        text[1 << 17];
    static float       x[N], y[N];
    static double      few[PIECES];
    char               path[] = "rdim-trace-XXXXXX";
    const rd_eval_opts one    = { .threads = 1 };
    rd_expr *piece[PIECES], *const e = rd_wrap(ctx, x, RD_SHAPE(N));
    const int file = mkstemp(path);

    ck_assert(file >= 0);
    for (int k = 0; k < PIECES; k++)
        piece[k] = rd_reshape(rd_sum(rd_slice_axis(e, 0, k, 2 * k + 3, 1), RD_ALL), RD_SHAPE(1));
    rd_expr *const parts = rd_cast(rd_concat(0, (rd_exprs){ piece, PIECES }), RD_F64);

    setenv("RDIM_DEBUG", "trace", 1);
    setenv("RDIM_TRACE", path, 1);
    rd_tier_force("off");
    isa_begin(ctx, ISA_SCALAR);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ rd_exp(e), RD_INTO(y, RD_SHAPE(N)) }), &one) == RD_OK);
    isa_end(ctx);
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ parts, RD_INTO(few, RD_SHAPE(PIECES)) }), &one) ==
              RD_OK);
    rd_tier_force("sync");
    rd_nest_force("always");
    ck_assert(rd_eval_many(ctx, RD_RESULTS({ rd_sqrt(rd_add(e, e)), RD_INTO(y, RD_SHAPE(N)) }),
                           &one) == RD_OK);
    rd_nest_force(NULL);
    rd_tier_force(NULL);
    unsetenv("RDIM_DEBUG");
    ck_assert_int_gt(read(file, text, sizeof text - 1), 0);
    ck_assert_msg(strstr(text, "\"stage 0: the reference\""), "%s", text + strlen(text) - 1500);
    ck_assert_msg(strstr(text, "\"stage 0: compiled loops\""), "%s", text + strlen(text) - 1500);
    ck_assert_msg(strstr(text, "\"stages\":0,\"parts\":") &&
                      !strstr(text, "\"stages\":0,\"parts\":0"),
                  "%s", text + strlen(text) - 1500);
    close(file);
    unlink(path);
}
END_TEST

/* The file is this process's, and is opened by its first plan. */
START_TEST(traced_nowhere)
{
    float y[4];

    setenv("RDIM_DEBUG", "trace", 1);
    setenv("RDIM_TRACE", "/nonexistent/trace", 1);
    FAILS(FILE, "RDIM_DEBUG=trace", "/nonexistent/trace",
          rd_eval(ctx, rd_exp(rd_wrap(ctx, data, RD_SHAPE(4))), RD_INTO(y, RD_SHAPE(4))));
    unsetenv("RDIM_DEBUG");
}
END_TEST

START_TEST(explained)
{
    for (size_t k = 0; k < COUNT(texts); k++) {
        rd_expr    *y    = texts[k].build();
        const char *text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL),
                   *dot  = rd_graphviz(ctx, RD_RESULTS({ y, NULL }));

        ck_assert_msg(text && dot && strstr(dot, "digraph"), "%s: %s", texts[k].what,
                      rd_error_text(ctx));
        for (int w = 0; texts[k].words[w]; w++)
            ck_assert_msg(strstr(text, texts[k].words[w]), "%s: no \"%s\" in\n%s", texts[k].what,
                          texts[k].words[w], text);
    }
}
END_TEST

/* ---- Deep ------------------------------------------------------------------------------------ */
/* Of the processor, as the machine may be busy with other things. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void expect_soon(const char *what, double start, double limit)
{
    const double took = seconds() - start;

    if (getenv("RD_TEST_TIMES"))
        fprintf(stderr, "%s: %.2f s\n", what, took);
    ck_assert_msg(took < limit, "%s: %.1f s", what, took);
}

/* Far above what any of them takes, sanitizers on a busy machine included: linear time it is, or it
 * is not. */
static const double SOON = 60;

START_TEST(deep_maps)
{
    enum { DEEP = 100000 };
    const double start = seconds();
    rd_expr     *x = rd_wrap(ctx, data, RD_SHAPE(4)), *y = x;
    float        out[4];

    data[1] = 1;
    for (int k = 0; k < DEEP; k++)
        y = k % 2 ? rd_neg(y) : rd_add(y, x);
    ck_assert_msg(rd_eval(ctx, y, RD_INTO(out, RD_SHAPE(4))) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(out[0] == 0 && out[1] == 1); /* 1 -> -2 -> -(-2 + 1) = 1 */
    ck_assert(rd_at(ctx, y, RD_INDEX(1)) == 1);
    expect_soon("100,000 maps", start, SOON);
    ck_assert_msg(rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL) &&
                      rd_graphviz(ctx, RD_RESULTS({ y, NULL })),
                  "%s", rd_error_text(ctx));
    ck_assert(strstr(rd_explain_svg(ctx, RD_RESULTS({ y, NULL }), NULL), "too many to be drawn"));
    expect_soon("and their texts", start, SOON);
}
END_TEST

START_TEST(deep_views)
{
    enum { DEEP = 20000 };
    const double start = seconds();
    rd_expr     *y     = rd_wrap(ctx, data, RD_SHAPE(8, 8));

    data[63] = 9;
    for (int k = 0; k < DEEP; k++)
        y = k % 2 ? rd_flip(rd_neg(y), RD_DIMS(0)) : rd_transpose(rd_neg(y));
    /* A quarter turn twice per four steps: 5000 full turns. */
    ck_assert(rd_at(ctx, y, RD_INDEX(-1, -1)) == 9);
    expect_soon("20,000 views of maps", start, SOON);
}
END_TEST

/* Products of a matrix with itself, again and again: 2^n ways lead from the last one to the leaf. */
START_TEST(deep_squares)
{
    static const int deep[]   = { 12, 24, 40, 60 };
    float            in[8][8] = { { 0 } }, out[8][8];
    rd_ctx          *small    = rd_ctx_new(&(rd_ctx_opts){ .memory_limit = 400 << 20 });
    const double     start    = seconds();

    for (int i = 0; i < 8; i++)
        in[i][(i + 1) % 8] = 1; /* the eighth power turns nothing */
    for (size_t d = 0; d < COUNT(deep); d++) {
        rd_expr *y = rd_wrap(small, in, RD_SHAPE(8, 8));

        for (int k = 0; k < deep[d]; k++)
            y = rd_matmul(y, y);
        ck_assert_msg(rd_eval(small, y, RD_INTO(out, RD_SHAPE(8, 8))) == RD_OK, "%d: %s", deep[d],
                      rd_error_text(small));
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++)
                ck_assert(out[i][j] == (float)(i == j));
    }
    expect_soon("squares of squares", start, SOON);
    rd_ctx_free(small);
}
END_TEST

/* A product of as many factors as there are levels, each of which asks for all products before: cut
 * where a product is, a part reads one of them. */
START_TEST(deep_products)
{
    static const int deep[]   = { 100, 200, 400, 800 };
    size_t           bytes[4] = { 0 };
    const double     start    = seconds();
    float            out[4];

    for (size_t d = 0; d < COUNT(deep); d++) {
        rd_expr *y = rd_wrap(ctx, data, RD_SHAPE(4));

        data[0] = 3, data[1] = -2, data[2] = 0, data[3] = NAN;
        for (int k = 0; k < deep[d]; k++)
            y = rd_mul(rd_cast(rd_ge(y, rd_neg(y)), RD_F32), y);
        const char *text = rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);

        ck_assert_msg(text && rd_eval(ctx, y, RD_INTO(out, RD_SHAPE(4))) == RD_OK, "%d: %s",
                      deep[d], rd_error_text(ctx));
        bytes[d] = strlen(text);
        ck_assert(out[0] == 3 && out[1] == 0 && signbit(out[1]) && out[2] == 0 && isnan(out[3]));
        ck_assert_msg(d == 0 || bytes[d] < 3 * bytes[d - 1], "%d levels: %zu bytes, %zu of half",
                      deep[d], bytes[d], bytes[d - 1]);
    }
    expect_soon("products of products", start, SOON);
}
END_TEST

/* Each mean is of the difference from the one before. */
static rd_expr *alternating(rd_expr *x, int deep)
{
    for (int k = 0; k < deep; k++)
        x = rd_add(rd_sub(x, rd_mean(x, RD_KEEP(1))), rd_num(ctx, 1));
    return x;
}

START_TEST(deep_reductions)
{
    static const int deep[] = { 50, 200, 2000 };
    float            in[16], out[16];

    for (size_t d = 0; d < COUNT(deep); d++) {
        const double start = seconds();
        rd_status    status;

        for (int i = 0; i < 16; i++)
            in[i] = (float)(i % 4);
        status = rd_eval(ctx, alternating(rd_wrap(ctx, in, RD_SHAPE(4, 4)), deep[d]),
                         RD_INTO(out, RD_SHAPE(4, 4)));
        expect_soon("reductions of reductions", start, SOON);
        if (status != RD_OK) {
            FAILS(LIMIT, "rd_eval", "axes", status);
            continue;
        }
        for (int i = 0; i < 16; i++)
            ck_assert(out[i] == (float)(i % 4) - 1.5F + 1);
    }
}
END_TEST

/* ---- Wide ------------------------------------------------------------------------------------ */
START_TEST(unrelated_outputs)
{
    enum { MANY = 100 };
    static double memory[MANY][MANY * 2];
    rd_result     results[MANY];
    rd_array      out[MANY];
    rd_status     status;

    for (int k = 0; k < MANY; k++) {
        const rd_shape shape = RD_SHAPE(k + 2);

        for (int i = 0; i < k + 2; i++)
            memory[k][i] = i;
        out[k]     = (rd_array){ .data = memory[k], .type = RD_F64, .shape = shape };
        results[k] = (rd_result){ rd_neg(rd_wrap(ctx, memory[k], shape)), &out[k] };
    }
    status = rd_eval_many(ctx, (rd_results){ results, MANY }, NULL);
    if (status != RD_OK) {
        FAILS(LIMIT, "axes", "64", status);
        return;
    }
    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < k + 2; i++)
            ck_assert(memory[k][i] == -i);
}
END_TEST

/* A reduction with many operands of their own extents: sums of sums. */
START_TEST(unrelated_operands)
{
    enum { MANY = 100 };
    static double memory[MANY + 2];
    rd_expr      *sum = rd_num(ctx, 0);
    rd_array      out = { 0 };
    rd_status     status;
    double        want = 0;

    for (int i = 0; i < MANY + 2; i++)
        memory[i] = 1;
    for (int k = 0; k < MANY; k++, want += k + 1)
        sum = rd_add(sum, rd_sum(rd_wrap(ctx, memory, RD_SHAPE(k + 2)), RD_ALL));
    status = rd_eval(ctx, sum, &out);
    if (status != RD_OK) {
        FAILS(LIMIT, "axes", "64", status);
        return;
    }
    ck_assert(((double *)out.data)[0] == want);
    rd_array_free(&out);
}
END_TEST

/* ---- Rank ------------------------------------------------------------------------------------ */
/* 16 axes of extent 2 among 32; n of them, the others of extent 1. */
static rd_shape twos(int n)
{
    rd_shape shape = { .n = RD_MAX_RANK };

    for (int a = 0; a < RD_MAX_RANK; a++)
        shape.at[a] = a % 2 && a / 2 < n ? 2 : 1;
    return shape;
}

START_TEST(high_rank)
{
    enum { N = 16, POINTS = 1 << N };
    static int32_t in[POINTS], out[POINTS];
    const double   start = seconds();
    rd_expr       *x     = rd_wrap(ctx, in, twos(N)), *back;
    rd_index       order = { .n = RD_MAX_RANK };
    int64_t        total = 0;

    for (int i = 0; i < POINTS; i++)
        total += in[i] = i * 7 % 1001;
    for (int a = 0; a < RD_MAX_RANK; a++)
        order.at[a] = RD_MAX_RANK - 1 - a;
    ck_assert(rd_at(ctx, rd_sum(x, RD_ALL), RD_SCALAR) == (double)total);
    back = rd_permute(rd_neg(rd_permute(x, order)), order);
    ck_assert_msg(rd_eval(ctx, back, RD_INTO(out, twos(N))) == RD_OK, "%s", rd_error_text(ctx));
    for (int i = 0; i < POINTS; i++)
        ck_assert(out[i] == -in[i]);
    /* Every second of the axes of extent 2 is reduced, and the rest is turned around: nothing
     * merges. */
    rd_dims half = { 0 };
    for (int a = 1; a < RD_MAX_RANK; a += 4)
        half.axis[half.n++] = a;
    rd_expr *sums = rd_sum(rd_permute(x, order), RD_ALL), *part = rd_max(rd_flip(x, RD_ALL), half);
    ck_assert(rd_at(ctx, rd_sub(sums, rd_sum(rd_sum(x, half), RD_ALL)), RD_SCALAR) == 0);
    ck_assert_msg(at(rd_max(part, RD_ALL), RD_SCALAR) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert_msg(at(rd_sum(rd_reshape(rd_permute(x, order), RD_SHAPE(-1)), RD_ALL), RD_SCALAR) ==
                      RD_OK,
                  "%s", rd_error_text(ctx));
    expect_soon("16 axes of extent 2", start, SOON);
}
END_TEST

START_TEST(rank_of_ones)
{
    const rd_shape ones = twos(0);
    rd_expr       *x    = rd_wrap(ctx, data, ones);
    float          out  = 0;

    data[0] = 3;
    ck_assert(rd_eval(ctx, rd_exp(x), &(rd_array){ .data = &out, .type = RD_F32, .shape = ones }) ==
              RD_OK);
    ck_assert(out == expf(3));
    ck_assert(rd_at(ctx, rd_sum(rd_square(x), RD_ALL), RD_SCALAR) == 9);
    ck_assert(rd_at(ctx, rd_scan(x, "sum", RD_DIMS(31)), (rd_index){ .n = 32 }) == 3);
}
END_TEST

/* ---- Nothing --------------------------------------------------------------------------------- */
START_TEST(no_elements)
{
    rd_expr *none = rd_wrap(ctx, (float *)NULL, RD_SHAPE(3, 0)),
            *x    = rd_wrap(ctx, data, RD_SHAPE(3, 4));
    rd_array out = { 0 }, empty = { .type = RD_F32, .shape = RD_SHAPE(3, 0) };
    float    sums[3] = { 1, 1, 1 };

    ck_assert_msg(rd_eval(ctx, rd_exp(none), &out) == RD_OK, "%s", rd_error_text(ctx));
    ck_assert(out.type == RD_F32 && out.shape.n == 2 && out.shape.at[0] == 3 &&
              out.shape.at[1] == 0);
    rd_array_free(&out);
    ck_assert_msg(rd_eval(ctx, none, &empty) == RD_OK, "no memory is needed: %s",
                  rd_error_text(ctx));
    ck_assert_msg(rd_eval_many(ctx,
                               RD_RESULTS({ rd_slice(x, ":, 2:2"), &empty },
                                          { rd_sum(none, RD_DIMS(1)), RD_INTO(sums, RD_SHAPE(3)) }),
                               NULL) == RD_OK,
                  "%s", rd_error_text(ctx));
    ck_assert(sums[0] == 0 && sums[1] == 0 && sums[2] == 0);
    rd_plan *plan = rd_plan_new(ctx, (rd_exprs){ 0 }, RD_RESULTS({ none, &empty }), NULL);
    ck_assert(plan && rd_plan_run(plan, NULL, NULL) == RD_OK);
    rd_plan_free(plan);
    ck_assert(rd_explain(ctx, RD_RESULTS({ none, NULL }), NULL) &&
              rd_graphviz(ctx, RD_RESULTS({ none, NULL })));
    FAILS(TYPE, "f32", "i32",
          rd_eval(ctx, none, &(rd_array){ .type = RD_I32, .shape = RD_SHAPE(3, 0) }));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { results_refused,
                                   options_refused,
                                   calls_are_named,
                                   limits_are_named,
                                   elements_refused,
                                   plans_refused,
                                   runs_refused,
                                   idle_inputs,
                                   runs_fail,
                                   first_error_stays,
                                   texts_refused,
                                   explained,
                                   drawn,
                                   traced,
                                   traced_nowhere,
                                   traced_ways,
                                   deep_maps,
                                   deep_views,
                                   deep_squares,
                                   deep_products,
                                   deep_reductions,
                                   unrelated_outputs,
                                   unrelated_operands,
                                   high_rank,
                                   rank_of_ones,
                                   no_elements };

    return run_suite("asking", tests, COUNT(tests));
}
