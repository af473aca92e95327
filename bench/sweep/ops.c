/* ops.c - the operators, one row each, and where their results lie. */
#include "sweep.h"
#include <math.h>
#include <string.h>

static double most(const range *a)
{
    return fmax(fabs(a->lo), fabs(a->hi));
}

static bool give(range *r, double lo, double hi, double err)
{
    *r = (range){ lo, hi, err };
    return isfinite(lo) && isfinite(hi) && isfinite(err);
}

#define RANGE(name) static bool name(const range *a, const range *b, double eps, range *r)
#define ONE         (void)b

RANGE(of_neg)
{
    ONE;
    (void)eps;
    return give(r, -a->hi, -a->lo, a->err);
}

RANGE(of_abs)
{
    ONE;
    (void)eps;
    return give(r, a->lo > 0 ? a->lo : a->hi < 0 ? -a->hi : 0, most(a), a->err);
}

RANGE(of_sign)
{
    ONE;
    (void)eps;
    return give(r, a->lo > 0 ? 1 : a->lo == 0 ? 0 : -1, a->hi > 0, 0);
}

RANGE(of_mul)
{
    const double c[4] = { a->lo * b->lo, a->lo * b->hi, a->hi * b->lo, a->hi * b->hi };
    const double lo   = fmin(fmin(c[0], c[1]), fmin(c[2], c[3]));
    const double hi   = fmax(fmax(c[0], c[1]), fmax(c[2], c[3]));

    return give(r, lo, hi, most(a) * b->err + most(b) * a->err + eps * fmax(fabs(lo), fabs(hi)));
}

RANGE(of_square)
{
    ONE;
    of_mul(a, a, eps, r);
    r->lo = a->lo > 0 ? a->lo * a->lo : a->hi < 0 ? a->hi * a->hi : 0;
    return isfinite(r->hi);
}

RANGE(of_add)
{
    return give(r, a->lo + b->lo, a->hi + b->hi, a->err + b->err + eps * (most(a) + most(b)));
}

RANGE(of_sub)
{
    return give(r, a->lo - b->hi, a->hi - b->lo, a->err + b->err + eps * (most(a) + most(b)));
}

RANGE(of_div)
{
    const double least = b->lo > 0 ? b->lo : -b->hi;
    const double m     = most(a) / least;

    if (least < 0.05 || least < 4 * b->err)
        return false;
    return give(r, a->lo >= 0 && b->lo > 0 ? a->lo / b->hi : -m, m,
                (a->err + m * b->err) / least + eps * m);
}

/* Of ints, as Python divides; the divisor is positive. */
RANGE(of_floordiv)
{
    (void)eps;
    if (b->lo < 1)
        return false;
    return give(r, floor(fmin(a->lo / b->lo, a->lo / b->hi)),
                floor(fmax(a->hi / b->lo, a->hi / b->hi)), 0);
}

RANGE(of_remainder)
{
    (void)eps;
    (void)a;
    return b->lo >= 0.25 && give(r, 0, b->hi, 0);
}

RANGE(of_sqrt)
{
    ONE;
    if (a->lo < 0)
        return false;
    return give(r, sqrt(a->lo), sqrt(a->hi),
                fmin(sqrt(a->err), a->err / fmax(1e-300, 2 * sqrt(a->lo))) + eps * sqrt(a->hi));
}

RANGE(of_exp)
{
    ONE;
    return a->hi < 9 && a->lo > -60 &&
           give(r, exp(a->lo), exp(a->hi), exp(a->hi) * (a->err + 4 * eps));
}

RANGE(of_expm1)
{
    ONE;
    return a->hi < 9 && a->lo > -60 &&
           give(r, expm1(a->lo), expm1(a->hi), exp(a->hi) * (a->err + 4 * eps));
}

static bool logarithm(const range *a, double least, double slope, double eps, range *r)
{
    const double lo = slope * log(least), hi = slope * log(fmax(a->hi - a->lo + least, least));

    return least > 1e-3 &&
           give(r, lo, hi, slope * a->err / least + 4 * eps * fmax(fabs(lo), fabs(hi)));
}

RANGE(of_log)
{
    ONE;
    return a->lo > 1e-3 && logarithm(a, a->lo, 1, eps, r);
}

RANGE(of_log2)
{
    ONE;
    return a->lo > 1e-3 && logarithm(a, a->lo, 1.4427, eps, r);
}

RANGE(of_log1p)
{
    ONE;
    return a->lo > -0.9 && logarithm(a, 1 + a->lo, 1, eps, r);
}

RANGE(of_wave)
{
    ONE;
    return most(a) < 1e4 && give(r, -1, 1, a->err + 4 * eps);
}

RANGE(of_whole)
{
    ONE;
    (void)eps;
    return give(r, floor(a->lo), ceil(a->hi), a->err > 0 ? 1 : 0);
}

RANGE(of_pow)
{
    const double hi = pow(a->hi, b->hi > 0 ? b->hi : 0), lo = pow(a->lo, b->lo < 0 ? b->lo : 0);

    if (a->lo < 0.1 || fabs(b->lo) > 8 || fabs(b->hi) > 8)
        return false;
    return give(r, 0, fmax(fmax(hi, lo), pow(a->hi, b->lo)),
                fmax(hi, lo) * (8 * a->err / a->lo + b->err * fmax(1, fabs(log(a->hi))) + 8 * eps));
}

RANGE(of_atan2)
{
    if (b->lo < 0.05)
        return false;
    return give(r, -1.58, 1.58, (a->err + b->err) / b->lo + 4 * eps);
}

RANGE(of_hypot)
{
    return give(r, 0, hypot(most(a), most(b)), a->err + b->err + 4 * eps * hypot(most(a), most(b)));
}

RANGE(of_minimum)
{
    (void)eps;
    return give(r, fmin(a->lo, b->lo), fmin(a->hi, b->hi), a->err + b->err);
}

RANGE(of_maximum)
{
    (void)eps;
    return give(r, fmax(a->lo, b->lo), fmax(a->hi, b->hi), a->err + b->err);
}

RANGE(of_truth)
{
    ONE;
    (void)a;
    (void)eps;
    return give(r, 0, 1, 0);
}

const op_row sweep_ops[] = {
    /* clang-format off */
    { "neg",       1, OP_ARITH,   "-a",                      "-a",         "-%0",               false, rd_neg,      NULL, of_neg },
    { "abs",       1, OP_ARITH,   "__builtin_fabs@(a)",      "a < 0 ? -a : a", "np.abs(%0)",    false, rd_abs,      NULL, of_abs },
    { "sign",      1, OP_ARITH,   "a > 0 ? 1 : a < 0 ? -1 : 0", "(a > 0) - (a < 0)", "np.sign(%0)", true, rd_sign,  NULL, of_sign },
    { "square",    1, OP_ARITH,   "a * a",                   "a * a",      "np.square(%0)",     false, rd_square,   NULL, of_square },
    { "sqrt",      1, OP_FLOAT,   "__builtin_sqrt@(a)",      NULL,         "np.sqrt(%0)",       false, rd_sqrt,     NULL, of_sqrt },
    { "exp",       1, OP_FLOAT,   "__builtin_exp@(a)",       NULL,         "np.exp(%0)",        false, rd_exp,      NULL, of_exp },
    { "expm1",     1, OP_FLOAT,   "__builtin_expm1@(a)",     NULL,         "np.expm1(%0)",      false, rd_expm1,    NULL, of_expm1 },
    { "log",       1, OP_FLOAT,   "__builtin_log@(a)",       NULL,         "np.log(%0)",        false, rd_log,      NULL, of_log },
    { "log1p",     1, OP_FLOAT,   "__builtin_log1p@(a)",     NULL,         "np.log1p(%0)",      false, rd_log1p,    NULL, of_log1p },
    { "log2",      1, OP_FLOAT,   "__builtin_log2@(a)",      NULL,         "np.log2(%0)",       false, rd_log2,     NULL, of_log2 },
    { "sin",       1, OP_FLOAT,   "__builtin_sin@(a)",       NULL,         "np.sin(%0)",        false, rd_sin,      NULL, of_wave },
    { "cos",       1, OP_FLOAT,   "__builtin_cos@(a)",       NULL,         "np.cos(%0)",        false, rd_cos,      NULL, of_wave },
    { "tanh",      1, OP_FLOAT,   "__builtin_tanh@(a)",      NULL,         "np.tanh(%0)",       false, rd_tanh,     NULL, of_wave },
    { "floor",     1, OP_SAME,    "__builtin_floor@(a)",     "a",          "np.floor(%0)",      true,  rd_floor,    NULL, of_whole },
    { "round",     1, OP_SAME,    "__builtin_rint@(a)",      "a",          "np.round(%0)",      true,  rd_round,    NULL, of_whole },
    { "not",       1, OP_LOGIC,   NULL,                      "!a",         "np.logical_not(%0)", false, rd_not,     NULL, of_truth },
    { "isnan",     1, OP_COMPARE, "a != a",                  NULL,         "np.isnan(%0)",      false, rd_isnan,    NULL, of_truth },
    { "isfinite",  1, OP_COMPARE, "__builtin_isfinite(a)",   NULL,         "np.isfinite(%0)",   false, rd_isfinite, NULL, of_truth },
    { "add",       2, OP_ARITH,   "a + b",                   "a + b",      "(%0 + %1)",         false, NULL, rd_add,       of_add },
    { "sub",       2, OP_ARITH,   "a - b",                   "a - b",      "(%0 - %1)",         false, NULL, rd_sub,       of_sub },
    { "mul",       2, OP_ARITH,   "a * b",                   "a * b",      "(%0 * %1)",         false, NULL, rd_mul,       of_mul },
    { "div",       2, OP_FLOAT,   "a / b",                   NULL,         "(%0 / %1)",         false, NULL, rd_div,       of_div },
    { "floordiv",  2, OP_ARITH,   NULL,                      "a / b - (a % b != 0 && (a < 0) != (b < 0))", "(%0 // %1)", true, NULL, rd_floordiv, of_floordiv },
    { "remainder", 2, OP_ARITH,   NULL,                      "(a % b + b) % b", "(%0 % %1)",    true,  NULL, rd_remainder, of_remainder },
    { "pow",       2, OP_ARITH,   "__builtin_pow@(a, b)",    NULL,         "(%0 ** %1)",        false, NULL, rd_pow,       of_pow },
    { "atan2",     2, OP_FLOAT,   "__builtin_atan2@(a, b)",  NULL,         "np.arctan2(%0, %1)", false, NULL, rd_atan2,    of_atan2 },
    { "hypot",     2, OP_FLOAT,   "__builtin_hypot@(a, b)",  NULL,         "np.hypot(%0, %1)",  false, NULL, rd_hypot,     of_hypot },
    { "minimum",   2, OP_SAME,    "a < b ? a : b",           "a < b ? a : b", "np.minimum(%0, %1)", false, NULL, rd_minimum, of_minimum },
    { "maximum",   2, OP_SAME,    "a > b ? a : b",           "a > b ? a : b", "np.maximum(%0, %1)", false, NULL, rd_maximum, of_maximum },
    { "and",       2, OP_LOGIC,   NULL,                      "a & b",      "np.logical_and(%0, %1)", false, NULL, rd_and,  of_truth },
    { "or",        2, OP_LOGIC,   NULL,                      "a | b",      "np.logical_or(%0, %1)",  false, NULL, rd_or,   of_truth },
    { "xor",       2, OP_LOGIC,   NULL,                      "a ^ b",      "np.logical_xor(%0, %1)", false, NULL, rd_xor,  of_truth },
    { "eq",        2, OP_COMPARE, "a == b",                  "a == b",     "(%0 == %1)",        true,  NULL, rd_eq,        of_truth },
    { "ne",        2, OP_COMPARE, "a != b",                  "a != b",     "(%0 != %1)",        true,  NULL, rd_ne,        of_truth },
    { "lt",        2, OP_COMPARE, "a < b",                   "a < b",      "(%0 < %1)",         true,  NULL, rd_lt,        of_truth },
    { "le",        2, OP_COMPARE, "a <= b",                  "a <= b",     "(%0 <= %1)",        true,  NULL, rd_le,        of_truth },
    { "gt",        2, OP_COMPARE, "a > b",                   "a > b",      "(%0 > %1)",         true,  NULL, rd_gt,        of_truth },
    { "ge",        2, OP_COMPARE, "a >= b",                  "a >= b",     "(%0 >= %1)",        true,  NULL, rd_ge,        of_truth },
    { "where",     3, OP_WHERE,   "a ? b : c",               "a ? b : c",  "np.where(%0, %1, %2)", false, NULL, NULL, NULL },
    /* clang-format on */
};
const int sweep_n_ops = sizeof sweep_ops / sizeof *sweep_ops;

const op_row *sweep_op(const char *name)
{
    for (int k = 0; k < sweep_n_ops; k++)
        if (strcmp(sweep_ops[k].name, name) == 0)
            return &sweep_ops[k];
    return NULL;
}
