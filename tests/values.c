/* values.c - typed memory from doubles, and results back as doubles. */
#include "values.h"
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 64, MOST = 16 };
rd_ctx        *ctx;
static int64_t pool[POOL][MOST]; /* of leaves: must outlive the evaluation */
static int     pool_used;

static void setup(void)
{
    ctx       = rd_ctx_new(NULL);
    pool_used = 0;
}

static void teardown(void)
{
    rd_ctx_free(ctx);
}

const char *plan_text(rd_expr *y)
{
    ck_assert_msg(y != NULL, "%s", rd_error_text(ctx));
    return rd_explain(ctx, RD_RESULTS({ y, NULL }), NULL);
}

int times_in(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

void forget_leaves(void)
{
    pool_used = 0;
}

static void put(void *p, rd_dtype type, int64_t i, double v)
{
    switch (type) {
    case RD_BOOL: ((bool *)p)[i] = v != 0; break;
    case RD_I8: ((int8_t *)p)[i] = (int8_t)v; break;
    case RD_I16: ((int16_t *)p)[i] = (int16_t)v; break;
    case RD_I32: ((int32_t *)p)[i] = (int32_t)v; break;
    case RD_I64: ((int64_t *)p)[i] = (int64_t)v; break;
    case RD_U8: ((uint8_t *)p)[i] = (uint8_t)v; break;
    case RD_U16: ((uint16_t *)p)[i] = (uint16_t)v; break;
    case RD_U32: ((uint32_t *)p)[i] = (uint32_t)v; break;
    case RD_U64: ((uint64_t *)p)[i] = (uint64_t)v; break;
    case RD_F16:
    case RD_BF16:
        oracle_store((uint16_t *)p + i, type, &(oracle_value){ .type = type, .v = v });
        break;
    case RD_F8:
        oracle_store((uint8_t *)p + i, type, &(oracle_value){ .type = type, .v = v });
        break;
    case RD_F32: ((float *)p)[i] = (float)v; break;
    case RD_F64: ((double *)p)[i] = v; break;
    default: ck_abort_msg("type %d", (int)type);
    }
}

double get(const void *p, rd_dtype type, int64_t i)
{
    switch (type) {
    case RD_BOOL: return ((const bool *)p)[i];
    case RD_I8: return ((const int8_t *)p)[i];
    case RD_I16: return ((const int16_t *)p)[i];
    case RD_I32: return ((const int32_t *)p)[i];
    case RD_I64: return (double)((const int64_t *)p)[i];
    case RD_U8: return ((const uint8_t *)p)[i];
    case RD_U16: return ((const uint16_t *)p)[i];
    case RD_U32: return ((const uint32_t *)p)[i];
    case RD_U64: return (double)((const uint64_t *)p)[i];
    case RD_F16:
    case RD_BF16: return (double)oracle_load((const uint16_t *)p + i, type).v;
    case RD_F8: return (double)oracle_load((const uint8_t *)p + i, type).v;
    case RD_F32: return (double)((const float *)p)[i];
    case RD_F64: return ((const double *)p)[i];
    default: ck_abort_msg("type %d", (int)type);
    }
}

rd_expr *leaf_shape(rd_dtype type, rd_shape shape, const double *v, int n)
{
    int64_t *p = pool[pool_used++];

    ck_assert(n <= MOST && pool_used < POOL);
    for (int i = 0; i < n; i++)
        put(p, type, i, v[i]);
    return rd_leaf(ctx, &(rd_array){ .in = p, .type = type, .shape = shape });
}

rd_expr *leaf(rd_dtype type, const double *v, int n)
{
    return leaf_shape(type, RD_SHAPE(n), v, n);
}

/* Equal, where NaN equals NaN and 0 differs from -0. */
static bool same(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static int64_t elements(rd_shape shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape.n; i++)
        n *= shape.at[i];
    return n;
}

void expect(const char *what, rd_expr *y, rd_dtype type, const double *want, int n)
{
    rd_array out = { 0 };

    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", what, rd_error_text(ctx));
    ck_assert_msg(out.type == type && rd_type_of(y) == type, "%s: type %d, not %d", what,
                  (int)out.type, (int)type);
    ck_assert_msg(elements(out.shape) == n, "%s: %d elements, not %d", what,
                  (int)elements(out.shape), n);
    for (int i = 0; i < n; i++) {
        const double got = get(out.data, out.type, i);
        ck_assert_msg(same(got, want[i]), "%s: element %d is %.17g, not %.17g", what, i, got,
                      want[i]);
        if (out.shape.n < 2) {
            const double at =
                rd_at(ctx, y, out.shape.n ? RD_INDEX(rd_origin_of(y).at[0] + i) : RD_SCALAR);
            ck_assert_msg(same(at, want[i]), "%s: rd_at %d is %.17g, not %.17g", what, i, at,
                          want[i]);
        }
    }
    rd_array_free(&out);
}

void expect_error(const char *what, const rd_expr *y, rd_status want)
{
    const rd_status got = rd_error(ctx);

    ck_assert_msg(!y, "%s: a node", what);
    ck_assert_msg(got == want, "%s: %s, not %s", what, rd_status_name(got), rd_status_name(want));
    ck_assert_msg(rd_error_text(ctx)[0], "%s: no sentence", what);
    rd_error_clear(ctx);
}

void expect_shape(const char *what, const rd_expr *y, rd_shape want)
{
    const rd_shape got = rd_shape_of(y);

    ck_assert_msg(got.n == want.n, "%s: rank %d, not %d: %s", what, got.n, want.n,
                  rd_error_text(ctx));
    for (int i = 0; i < want.n; i++)
        ck_assert_msg(got.at[i] == want.at[i], "%s: extent %d is %d", what, i, (int)got.at[i]);
}

int run_suite(const char *name, const TTest *const *tests, size_t n)
{
    Suite   *suite  = suite_create(name);
    TCase   *tcase  = tcase_create(name);
    SRunner *runner = srunner_create(suite);

    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t k = 0; k < n; k++)
        tcase_add_test(tcase, tests[k]);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
