/* Lists whose pointer is NULL, or whose count none can have, to each call that takes lists: lists.def. */
#include "suite.h"
#include <inttypes.h>
#include <rdim.h>
#include <stdio.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

RD_FN1(fn, x, x + 1)
RD_REDUCER(red, float, float, 1, (float x;), (s->x = 0;), (s->x += x;), (a->x += b->x;),
           (y[0] = s->x;))
RD_REDUCER2(red2, float, float, float, 1, (float x;), (s->x = 0;), (s->x += x * w;),
            (a->x += b->x;), (y[0] = s->x;))

/* x is (4, 5) of f32, z the same of c128, s sparse; row has 5 elements, and col and four have 4. */
static rd_ctx       *ctx;
static float         data[64];
static int32_t       index[]  = { 0, 1, 2, 3, 4 };
static const int64_t border[] = { 0, 5 };
static const bool    pair[1]  = { true };
static rd_expr      *x, *z, *s, *row, *four, *pos, *col, *grids[RD_MAX_RANK];
static rd_named      named[4];
static rd_part       part;

static void setup(void)
{
    ctx  = rd_ctx_new(NULL);
    x    = rd_wrap(ctx, data, RD_SHAPE(4, 5));
    z    = rd_complex(rd_cast(x, RD_F64), rd_cast(x, RD_F64));
    row  = rd_wrap(ctx, data, RD_SHAPE(5));
    four = rd_wrap(ctx, data, RD_SHAPE(4));
    pos  = rd_wrap(ctx, index, RD_SHAPE(5));
    col  = rd_wrap(ctx, index, RD_SHAPE(4));
    s    = rd_csr(ctx, RD_SHAPE(4, 5), pos, col, four);
    ck_assert(s && z && rd_error(ctx) == RD_OK);
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

/* What calls return that make no expression: not NULL where they are not refused. */
static const void *made(int n)
{
    return n ? data : NULL;
}

static const void *status(rd_status found)
{
    return found == RD_OK ? data : NULL;
}

static const void *plan(rd_plan *p)
{
    return p;
}

static const void *at(double element)
{
    return element == element ? data : NULL;
}

#define LIST(type) ((type){ AT, N })
#define NUMBERS    ((rd_ints){ .n = N })
#define AXES       ((rd_dims){ .n = N })

/* The call of a row with N elements at AT. */
static const void *called(int which, int32_t N, void *AT)
{
    switch (which) {
#define LIST_ROW(call, ...) \
    case __COUNTER__:       \
        return __VA_ARGS__;
#define NUMBERS_ROW LIST_ROW
#include "lists.def"
#undef LIST_ROW
#undef NUMBERS_ROW
    default: return NULL;
    }
}

static const struct {
    const char *call, *text;
    bool        by_value;
} rows[] = {
#define LIST_ROW(call, ...)    { #call, #__VA_ARGS__, false },
#define NUMBERS_ROW(call, ...) { #call, #__VA_ARGS__, true },
#include "lists.def"
};

static void refused(int which, int32_t n, void *at_address)
{
    char        number[16], call[64];
    const void *got   = called(which, n, at_address);
    const bool  fails = rd_error(ctx) != RD_OK; /* what waited for a context is this one's */
    const char *said  = rd_error_text(ctx);

    snprintf(number, sizeof number, "%" PRId32, n);
    snprintf(call, sizeof call, "%s: ", rows[which].call);
    ck_assert_msg(!got && fails, "%s with %s: not refused", rows[which].text, number);
    ck_assert_msg(rd_error(ctx) == RD_ERR_ARGUMENT ||
                      (rows[which].by_value &&
                       (rd_error(ctx) == RD_ERR_SHAPE || rd_error(ctx) == RD_ERR_AXIS)),
                  "%s with %s: %s", rows[which].text, number, rd_status_name(rd_error(ctx)));
    ck_assert_msg(strncmp(said, call, strlen(call)) == 0 && strstr(said, number),
                  "%s with %s: \"%s\"", rows[which].text, number, said);
    rd_error_clear(ctx);
}

START_TEST(lists_refused)
{
    static const int32_t many[] = { 3, INT32_MAX }, negative[] = { -1, INT32_MIN };

    for (int k = 0; k < 2; k++) {
        if (!rows[_i].by_value) {
            refused(_i, many[k], NULL);
            refused(_i, negative[k], NULL);
        }
        refused(_i, negative[k], (void *)grids);
    }
    for (int k = 0; k < 2 && rows[_i].by_value; k++)
        refused(_i, k ? INT32_MAX : RD_MAX_RANK + 1, NULL);
}
END_TEST

/* Outputs that are named in a list are NULL afterwards. */
START_TEST(outputs_of_refused_lists)
{
    for (int k = 0; k < COUNT(grids); k++)
        grids[k] = x;
    ck_assert(!rd_meshgrid((rd_exprs){ NULL, 2 }, grids) && !grids[0] && !grids[1] && grids[2]);
    ck_assert(!rd_meshgrid(RD_EXPRS(row, row), NULL) && rd_error(ctx) == RD_ERR_ARGUMENT);
    rd_error_clear(ctx);
    ck_assert(!rd_meshgrid(RD_EXPRS(row, row), NULL) && strstr(rd_error_text(ctx), "2 grids"));
    rd_error_clear(ctx);
    ck_assert(!rd_explain_svg(ctx, (rd_results){ &(rd_result){ NULL, NULL }, 1 }, NULL));
    ck_assert(strstr(rd_error_text(ctx), "rd_explain_svg: the expression of a result is NULL"));
}
END_TEST

int main(void)
{
    Suite   *suite  = suite_create("semantics_lists");
    TCase   *tc     = tcase_create("lists");
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, lists_refused, 0, COUNT(rows));
    tcase_add_test(tc, outputs_of_refused_lists);
    suite_add_tcase(suite, tc);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
