/* random_map.c - operators of one, two and three operands, most of the time where they are
 * defined. */
#include "random_expr.h"

typedef rd_expr *unary(rd_expr *);
typedef rd_expr *binary(rd_expr *, rd_expr *);

static rd_expr *num(random_pool *pool, double value)
{
    return rd_num(pool->ctx, value);
}

/* x, scaled so that it lies in [-limit, limit]. */
static rd_expr *within(random_pool *pool, const random_node *node, double limit)
{
    const double size = fmax(fabs(node->lo), fabs(node->hi));

    return size <= limit ? node->x : rd_mul(node->x, num(pool, limit / size));
}

/* x, shifted and scaled so that it lies above 0. */
static rd_expr *positive(random_pool *pool, const random_node *node)
{
    return node->lo > 0 ? node->x : rd_add(rd_abs(within(pool, node, 1e6)), num(pool, 0.5));
}

/* ---- One operand ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unary      *f;
} anywhere[] = {
    { "neg", rd_neg },       { "abs", rd_abs },           { "sign", rd_sign },
    { "square", rd_square }, { "floor", rd_floor },       { "ceil", rd_ceil },
    { "round", rd_round },   { "trunc", rd_trunc },       { "isnan", rd_isnan },
    { "not", rd_not },       { "isfinite", rd_isfinite }, { "sin", rd_sin },
    { "cos", rd_cos },       { "tanh", rd_tanh },         { "sqrt", rd_sqrt },
    { "exp", rd_exp },       { "log", rd_log },           { "expm1", rd_expm1 },
    { "log1p", rd_log1p },   { "tan", rd_tan },           { "erf", rd_erf },
};

static void one_anywhere(random_pool *pool)
{
    const int64_t      k    = random_below(pool, random_once(pool, 6) ? 21 : 14);
    const random_node *node = random_pick(pool);

    /* a wave of a large argument says more of the argument's rounding than of the wave */
    random_keep(pool, anywhere[k].f(k >= 11 && k < 14 ? within(pool, node, 1e3) : node->x),
                anywhere[k].name);
}

static void one_inside(random_pool *pool)
{
    static unary *const of_positive[] = { rd_sqrt, rd_log, rd_log2, rd_log1p };
    static unary *const of_moderate[] = { rd_exp, rd_expm1, rd_tan, rd_exp };
    const random_node  *node          = random_pick(pool);

    if (random_once(pool, 2))
        random_keep(pool, of_positive[random_below(pool, 4)](positive(pool, node)), "sqrt or log");
    else
        random_keep(pool, of_moderate[random_below(pool, 4)](within(pool, node, 1.25)),
                    "exp or tan");
}

/* Elementary functions that are not so common, where they are defined. */
static void elementary(random_pool *pool)
{
    static const struct {
        const char *name;
        unary      *f;
        double      limit;
    } all[] = { { "asin", rd_asin, 1 },
                { "acos", rd_acos, 1 },
                { "atan", rd_atan, 1e9 },
                { "sinh", rd_sinh, 4 },
                { "cosh", rd_cosh, 4 },
                { "asinh", rd_asinh, 1e9 },
                { "atanh", rd_atanh, 0.9 },
                { "exp2", rd_exp2, 9 },
                { "exp10", rd_exp10, 3 },
                { "cbrt", rd_cbrt, 1e9 },
                { "erfc", rd_erfc, 3 },
                { "erfinv", rd_erfinv, 0.9 },
                { "gelu", rd_gelu, 9 },
                { "sigmoid", rd_sigmoid, 20 },
                { "silu", rd_silu, 20 },
                { "softplus", rd_softplus, 20 },
                { "sinc", rd_sinc, 20 },
                { "fraction", rd_fraction, 1e9 },
                { "exponent", rd_exponent, 1e9 },
                { "deg2rad", rd_deg2rad, 1e9 },
                { "isinf", rd_isinf, 1e300 },
                { "signbit", rd_signbit, 1e300 },
                { "relu", rd_relu, 1e300 },
                { "nan_to_num", rd_nan_to_num, 1e300 },
                { "ndtr", rd_ndtr, 9 } };
    static const struct {
        const char *name;
        unary      *f;
    } of_positive[] = { { "log10", rd_log10 }, { "lgamma", rd_lgamma }, { "digamma", rd_digamma } };
    const int64_t      k    = random_below(pool, 30);
    const random_node *node = random_pick(pool);

    if (k < 25)
        random_keep(pool, all[k].f(within(pool, node, all[k].limit)), all[k].name);
    else if (k < 28)
        random_keep(pool, of_positive[k - 25].f(positive(pool, node)), of_positive[k - 25].name);
    else
        random_keep(pool, rd_acosh(rd_add(positive(pool, node), num(pool, 1))), "acosh");
}

static void convert(random_pool *pool)
{
    random_keep(pool, rd_cast(random_pick(pool)->x, random_type(pool)), "cast");
}

/* ---- Two operands ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    binary     *f;
} two[] = {
    { "add", rd_add },
    { "sub", rd_sub },
    { "mul", rd_mul },
    { "add", rd_add },
    { "sub", rd_sub },
    { "mul", rd_mul },
    { "div", rd_div },
    { "minimum", rd_minimum },
    { "maximum", rd_maximum },
    { "floordiv", rd_floordiv },
    { "remainder", rd_remainder },
    { "atan2", rd_atan2 },
    { "hypot", rd_hypot },
    { "fmin", rd_fmin },
    { "fmax", rd_fmax },
    { "copysign", rd_copysign },
    { "heaviside", rd_heaviside },
    { "logaddexp", rd_logaddexp },
    { "and", rd_and },
    { "or", rd_or },
    { "xor", rd_xor },
    { "eq", rd_eq },
    { "ne", rd_ne },
    { "lt", rd_lt },
    { "le", rd_le },
    { "gt", rd_gt },
    { "ge", rd_ge },
};

static void two_operands(random_pool *pool)
{
    rd_expr      *x = random_pick(pool)->x, *y = random_partner(pool, x);
    const int64_t k = random_below(pool, 27);

    if (random_once(pool, 2))
        random_keep(pool, two[k].f(x, y), two[k].name);
    else
        random_keep(pool, two[k].f(y, x), two[k].name);
}

static void multiply_add(random_pool *pool)
{
    rd_expr *x = random_pick(pool)->x, *y = random_partner(pool, x),
            *xy = random_keep(pool, rd_mul(x, y), "mul");

    if (!xy)
        return;
    x = random_partner(pool, xy);
    random_keep(pool, random_once(pool, 3) ? rd_sub(x, xy) : rd_add(xy, x), "multiply-add");
}

static void power(random_pool *pool)
{
    const random_node  *node        = random_pick(pool);
    static const double exponents[] = { 2, 3, 0.5, -1, 1.5, 0, -2, -1.5, -0.5, 4, 2.5, 6 };

    if (rd_dtype_kind(node->x->type) != RD_KIND_FLOAT && random_once(pool, 2))
        random_keep(pool, rd_pow(node->x, rd_int(pool->ctx, random_below(pool, 6) - 1)), "int pow");
    else if (random_once(pool, 2))
        random_keep(pool,
                    rd_pow(positive(pool, node), num(pool, exponents[random_below(pool, 12)])),
                    "pow");
    else
        random_keep(pool, rd_pow(num(pool, 1.25), within(pool, node, 8)), "pow");
}

/* ---- Ints ------------------------------------------------------------------------------------ */
static rd_expr *whole(random_pool *pool, rd_expr *x)
{
    static const rd_dtype types[] = { RD_BOOL, RD_I8, RD_I32, RD_I64, RD_U8, RD_U16, RD_U64 };

    return rd_dtype_kind(x->type) != RD_KIND_FLOAT ? x : rd_cast(x, types[random_below(pool, 7)]);
}

static void bits(random_pool *pool)
{
    static const struct {
        const char *name;
        binary     *f;
    } all[]         = { { "bit_and", rd_bit_and },
                        { "bit_or", rd_bit_or },
                        { "bit_xor", rd_bit_xor },
                        { "shift_left", rd_shift_left },
                        { "shift_right", rd_shift_right },
                        { "gcd", rd_gcd },
                        { "lcm", rd_lcm },
                        { "philox", rd_philox } };
    rd_expr      *x = whole(pool, random_pick(pool)->x), *y;
    const int64_t k = random_below(pool, 10);

    if (k > 7) {
        random_keep(pool, k == 8 ? rd_bit_not(x) : rd_popcount(x), k == 8 ? "bit_not" : "popcount");
        return;
    }
    y = whole(pool, random_partner(pool, x));
    if (rd_dtype_kind(rd_dtype_promote(x->type, y->type)) == RD_KIND_FLOAT) /* u64 and i64 */
        y = rd_cast(y, x->type);
    random_keep(pool, all[k].f(x, y), all[k].name);
}

/* ---- Three, and numbers along an axis -------------------------------------------------------- */

static void choose(random_pool *pool)
{
    rd_expr *x = random_pick(pool)->x, *y = random_partner(pool, x), *cond = random_mask(pool, x);

    random_keep(pool, rd_where(cond, x, y), "where");
}

static void clip(random_pool *pool)
{
    const random_node *node = random_pick(pool);
    const double       lo   = node->lo + 0.25 * (node->hi - node->lo),
                 hi         = node->lo + 0.75 * (node->hi - node->lo);

    if (rd_dtype_kind(node->x->type) == RD_KIND_FLOAT && isfinite(lo) && isfinite(hi))
        random_keep(pool, rd_clip(node->x, num(pool, lo), num(pool, hi)), "clip");
    else
        random_keep(pool, rd_clip(node->x, rd_int(pool->ctx, 1), rd_int(pool->ctx, 4)), "clip");
}

static void coordinate(random_pool *pool)
{
    rd_expr *x = random_pick(pool)->x, *i;

    if (x->rank == 0)
        return;
    i = random_keep(pool, rd_coord(x, (int)random_below(pool, x->rank)), "coord");
    if (i && random_once(pool, 2))
        random_keep(pool, rd_mul(i, x), "times its coordinate");
}

void random_map(random_pool *pool)
{
    const int64_t choice = random_below(pool, 28);

    if (choice < 5)
        one_anywhere(pool);
    else if (choice < 8)
        one_inside(pool);
    else if (choice < 10)
        convert(pool);
    else if (choice < 17)
        two_operands(pool);
    else if (choice < 19)
        multiply_add(pool);
    else if (choice < 20)
        power(pool);
    else if (choice < 22)
        choose(pool);
    else if (choice < 23)
        clip(pool);
    else if (choice < 25)
        bits(pool);
    else if (choice < 27)
        elementary(pool);
    else
        coordinate(pool);
}
