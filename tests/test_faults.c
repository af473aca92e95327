/* test_faults.c - of several elements that fail, the one that the loops meet first is reported, by
 * every interpreter: with the sentence of the scalar one, which runs element by element.  (Which is
 * met first depends on the loops, and in some plans these are cut for the threads there are.) */
#include "isa.h"
#include "suite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static rd_ctx *ctx;

static void setup(void)
{
    ctx = rd_ctx_new(NULL);
    ck_assert_ptr_nonnull(ctx);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* ---- Expressions that may fail in two places ------------------------------------------------- */
enum { EXTENT = 50, MOST = 9000 };

/* Indices of a matrix each; a also of a row of it, b also of a column. */
static float   table[EXTENT];
static int64_t a[MOST], b[MOST];
static int64_t rows, cols;

static rd_expr *taken(const int64_t *index, rd_shape shape)
{
    return rd_take(rd_wrap(ctx, table, RD_SHAPE(EXTENT)), 0, rd_wrap(ctx, index, shape));
}

static rd_expr *whole(const int64_t *index)
{
    return taken(index, RD_SHAPE(rows, cols));
}

static const char *refuse(void *user, int64_t n, const void *const *in, void *out)
{
    static _Thread_local char sentence[40];

    (void)user;
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = ((const int64_t *)in[0])[i];

        ((float *)out)[i] = (float)x;
        if (x >= EXTENT) {
            snprintf(sentence, sizeof sentence, "%d is too large", (int)x);
            return sentence;
        }
    }
    return NULL;
}

static rd_expr *called(const int64_t *index, rd_shape shape)
{
    const rd_fn f = {
        .size = sizeof f, .name = "f", .arity = 1, .in = RD_I64, .out = RD_F32, .block = refuse
    };

    return rd_map(rd_wrap(ctx, index, shape), &f);
}

static rd_expr *two_takes(void)
{
    return rd_add(whole(a), whole(b));
}

static rd_expr *take_and_row(void)
{
    return rd_add(whole(a), taken(b, RD_SHAPE(cols)));
}

static rd_expr *take_and_column(void)
{
    return rd_add(taken(a, RD_SHAPE(rows, 1)), whole(b));
}

static rd_expr *take_of_take(void)
{
    rd_expr *index = rd_wrap(ctx, b, RD_SHAPE(EXTENT));

    return rd_take(rd_wrap(ctx, table, RD_SHAPE(EXTENT)), 0,
                   rd_take(index, 0, rd_wrap(ctx, a, RD_SHAPE(rows, cols))));
}

static rd_expr *call_and_take(void)
{
    return rd_mul(called(a, RD_SHAPE(rows, cols)), whole(b));
}

static rd_expr *calls_of_columns(void)
{
    return rd_mul(called(a, RD_SHAPE(rows, 1)), called(b, RD_SHAPE(rows, 1)));
}

static rd_expr *two_phases(void)
{
    return rd_sub(whole(b), rd_max(whole(a), RD_KEEP(1)));
}

static rd_expr *sum_of_both(void)
{
    return rd_sum(rd_mul(taken(a, RD_SHAPE(rows, 1)), whole(b)), RD_DIMS(1));
}

static rd_expr *take_by_sum(void)
{
    rd_expr *index = rd_sum(rd_wrap(ctx, a, RD_SHAPE(rows, cols)), RD_KEEP(1));

    return rd_add(whole(b), rd_take(rd_wrap(ctx, table, RD_SHAPE(EXTENT)), 0, index));
}

static rd_expr *take_from_nothing(void)
{
    return rd_add(
        rd_take(rd_wrap(ctx, table, RD_SHAPE(0)), 0, rd_wrap(ctx, b, RD_SHAPE(rows, cols))),
        whole(a));
}

static const struct {
    const char *what;
    rd_expr *(*build)(void);
} faulty[] = {
    { "two takes", two_takes },
    { "take of a matrix and of a row", take_and_row },
    { "take of a column and of a matrix", take_and_column },
    { "indices that are taken", take_of_take },
    { "call and take", call_and_take },
    { "calls of a column", calls_of_columns },
    { "two phases", two_phases },
    { "sum of a product", sum_of_both },
    { "index that is a sum", take_by_sum },
    { "take from nothing", take_from_nothing },
};

/* ---- Data ------------------------------------------------------------------------------------ */
static uint64_t state = 1;

static int64_t below(int64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state >> 11) % n;
}

/* Some of the first `n` of `room` indices are outside, each in its own way. */
static void fill(int64_t *index, int64_t room, int64_t n, int64_t from)
{
    for (int64_t i = 0; i < room; i++)
        index[i] = below(EXTENT);
    for (int64_t k = below(4); k > 0; k--) {
        const int64_t i = below(n);
        index[i]        = from + i;
    }
}

/* ---- The test -------------------------------------------------------------------------------- */
/* What an evaluation says: "" if it succeeds. */
static void report(rd_expr *y, int threads, char *text, size_t size)
{
    rd_array           out  = { 0 };
    const rd_eval_opts opts = { .threads = threads };

    text[0] = 0;
    if (rd_eval_many(ctx, RD_RESULTS({ y, &out }), &opts) != RD_OK)
        snprintf(text, size, "%s", rd_error_text(ctx));
    rd_error_clear(ctx);
    rd_array_free(&out);
}

START_TEST(first_fault)
{
    static const int64_t shapes[][2] = { { 1, 1 },    { 3, 5 },    { 40, 7 },  { 1200, 3 },
                                         { 3, 3000 }, { 9000, 1 }, { 30, 300 } };

    int reported = 0;

    for (int s = 0; s < COUNT(shapes); s++)
        for (int turn = 0; turn < (SANITIZED ? 4 : 12); turn++) {
            char want[200], found[200];

            rows  = shapes[s][0];
            cols  = shapes[s][1];
            state = (uint64_t)(turn * 1000 + s * 10 + 1);
            fill(a, MOST, turn % 2 ? rows : rows * cols, 10000);
            fill(b, MOST, turn % 3 ? rows * cols : cols, 20000);
            for (int threads = THREAD_SANITIZED ? 3 : 1; threads <= 3; threads += 2)
                for (int isa = 0; isa < isa_count(); isa++) {
                    isa_begin(ctx, isa);
                    report(faulty[_i].build(), threads, isa == ISA_SCALAR ? want : found,
                           sizeof want);
                    isa_end(ctx);
                    ck_assert_msg(isa == ISA_SCALAR || strcmp(found, want) == 0,
                                  "%s of %d x %d, %s, %d threads: \"%s\", not \"%s\"",
                                  faulty[_i].what, (int)rows, (int)cols, isa_name(isa), threads,
                                  found, want);
                    reported += want[0] != 0;
                }
        }
    ck_assert_int_gt(reported, 0);
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("faults");
    TCase   *tests  = tcase_create("faults");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, first_fault, 0, COUNT(faulty));
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
