/* test_special.c - functions of SciPy's special that formulas make of operators (formula/special.c): values
 * at ends and zeros, and near them, where the plain text of a function would round. */
#include "values.h"

#include <math.h>

static const struct {
    const char *text;
    rd_dtype    type; /* of x and y */
    double      x, y;
    double want; /* exact results, rounded; beyond 53 bits, ends and 0 they are off by `ulps` */
    int    ulps;
} rows[] = {
    { "xlogy(x, y)", RD_F64, 0, 0, 0, 0 },
    { "xlogy(x, y)", RD_F64, 0, -1, 0, 0 },
    { "xlogy(x, y)", RD_F64, 0, INFINITY, 0, 0 },
    { "xlogy(x, y)", RD_F64, 0, NAN, NAN, 0 },
    { "xlogy(x, y)", RD_F64, NAN, 1, NAN, 0 },
    { "xlogy(x, y)", RD_F64, 2, 0, -INFINITY, 0 },
    { "xlogy(x, y)", RD_F32, 3, 1, 0, 0 },
    { "xlogy(x, y)", RD_I32, 0, 0, 0, 0 },
    { "xlog1py(x, y)", RD_F64, 0, -1, 0, 0 },
    { "xlog1py(x, y)", RD_F64, 0, NAN, NAN, 0 },
    { "xlog1py(x, y)", RD_F64, 2, -1, -INFINITY, 0 },
    { "xlog1py(x, y)", RD_F64, 2, 0x1p-60, 0x1p-59, 0 },
    { "entr(x)", RD_F64, 0, 0, 0, 0 },
    { "entr(x)", RD_F64, -1, 0, -INFINITY, 0 },
    { "entr(x)", RD_F64, 1, 0, -0.0, 0 },
    { "entr(x)", RD_F64, NAN, 0, NAN, 0 },
    { "entr(x)", RD_F64, INFINITY, 0, -INFINITY, 0 },
    { "entr(x)", RD_I8, 1, 0, -0.0, 0 },
    { "logit(x)", RD_F64, 0, 0, -INFINITY, 0 },
    { "logit(x)", RD_F64, 1, 0, INFINITY, 0 },
    { "logit(x)", RD_F64, 0.5, 0, 0, 0 },
    { "logit(x)", RD_F64, 1.5, 0, NAN, 0 },
    { "logit(x)", RD_F64, -0.5, 0, NAN, 0 },
    { "logit(x)", RD_F64, NAN, 0, NAN, 0 },
    { "logit(x)", RD_F64, 0x1.0000000000003p-1, 0, 0x1.8p-50, 0 },
    { "logit(x)", RD_F64, 0.51, 0, 0x1.47b9447a9a9f7p-5, 1 },
    { "logit(x)", RD_F64, 0.2, 0, -0x1.62e42fefa39efp+0, 2 },
    { "logit(x)", RD_F64, 1e-5, 0, -0x1.7069cdb16e3d9p+3, 2 },
    { "logit(x)", RD_F64, 0.9375, 0, 0x1.5aa16394d481fp+1, 2 },
    { "logit(x)", RD_F16, 0.505, 0, 0x1.4000000000000p-6, 0 },
    { "logit(x)", RD_I8, 1, 0, INFINITY, 0 },
    { "logit(x)", RD_I8, -128, 0, NAN, 0 },
    { "log_expit(x)", RD_F64, -1000, 0, -1000, 0 },
    { "log_expit(x)", RD_F64, 40, 0, -0x1.39792499b1a24p-58, 2 },
    { "log_expit(x)", RD_F32, -INFINITY, 0, -INFINITY, 0 },
    { "log_expit(x)", RD_F32, NAN, 0, NAN, 0 },
};

static bool is_near(double got, double want, int ulps)
{
    int exponent;

    if (isnan(want) || isinf(want) || want == 0 || ulps == 0)
        return isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want);
    frexp(want, &exponent);
    return fabs(got - want) <= ulps * ldexp(1, exponent - 53);
}

START_TEST(values_of_special_functions)
{
    for (size_t k = 0; k < COUNT(rows); k++) {
        rd_expr *const        x   = leaf(rows[k].type, VALUES(rows[k].x)),
                       *const y   = leaf(rows[k].type, VALUES(rows[k].y)),
                       *const z   = rd_formula(ctx, rows[k].text, RD_NAMES({ "x", x }, { "y", y }));
        rd_array              out = { 0 };

        ck_assert_msg(z != NULL && rd_eval(ctx, z, &out) == RD_OK, "%s: %s", rows[k].text,
                      rd_error_text(ctx));
        const double got = get(out.data, out.type, 0);

        ck_assert_msg(is_near(got, rows[k].want, rows[k].ulps), "%s at %a, %a: %a, not %a",
                      rows[k].text, rows[k].x, rows[k].y, got, rows[k].want);
        rd_array_free(&out);
        forget_leaves();
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { values_of_special_functions };

    return run_suite("special", tests, COUNT(tests));
}
