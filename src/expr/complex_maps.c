/* complex_maps.c - maps of complex numbers, made of real maps of their parts.  Each row of
 * complex.def is a program of steps; other operators are composed of these.  *Steps* are
 * assignments of function text, such as "t = tan(y); re = 1 + t * t"; each may use the values
 * before it.
 *
 *     add of x + iy and u + iv  ->  "re = x + u; im = y + v"
 *     sin z                     ->  sinh(iz) / i
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/complex.h"
#include "expr/function_text.h"
#include "expr/sparse.h"
#include <math.h>

/* Bits: which operands are real. */
enum { NONE = 0, FIRST = 1, SECOND = 2 };

/* A row of complex.def. */
typedef struct row {
    rd_op       op;
    unsigned    real;  /* bits of the operands that are real */
    const char *steps; /* text for rd_steps_run() */
} row;

static const row rows[] = {
#define RD_COMPLEX(name, real, steps) { RD_OP_##name, real, steps },
#include "expr/complex.def"
};

/* ---- Steps ----------------------------------------------------------------------------------- */
/* The names of both parts of each operand in steps. */
enum { MOST_OPERANDS = 3 };
static const char *const names[MOST_OPERANDS][2] = { { "x", "y" }, { "u", "v" }, { "p", "q" } };

/* Adds the named constants that the rows of complex.def may use (its head lists them), in the type
 * of the parts: limits beyond which exponentials, squares and others overflow.  `narrow`: the parts
 * are f32, which has smaller limits than f64. */
static void add_constants(rd_steps *steps, rd_ctx *ctx, rd_dtype part)
{
    const bool narrow = part == RD_F32;
    const struct {
        const char *name;
        double      value;
    } constants[] = {
        { "inf", INFINITY },
        { "zero", 0 },
        { "one", 1 },
        { "log_2", 0x1.62e42fefa39efp-1 },
        { "log_4", 0x1.62e42fefa39efp0 },
        { "log_10", 0x1.26bb1bbb55516p1 },
        { "log_up", 0x1.4cb5ecf0a9650p5 },
        { "over", narrow ? 88 : 709 },
        { "exp_over", narrow ? exp(88) : exp(709) },
        { "tens", narrow ? 38 : 308 },
        { "exp_tens", narrow ? 1e38 : 1e308 },
        { "huge", narrow ? 0x1p124 : 0x1p1020 },
        { "up", 0x1p60 },
        { "down", 0x1p-30 },
        { "tiny", narrow ? 0x1p-100 : 0x1p-1000 },
        { "least", narrow ? 0x1p-126 : 0x1p-1022 },
        { "lowest", narrow ? -120 : -1000 },
        { "smaller", narrow ? 0x1p-120 : 0x1p-1000 },
        { "larger", narrow ? 0x1p120 : 0x1p1000 },
        { "flat", narrow ? 15 : 150 },
    };

    for (size_t k = 0; k < sizeof constants / sizeof *constants; k++)
        rd_steps_add(steps, constants[k].name,
                     rd_number(ctx, part, rd_word_from_double(constants[k].value, part)));
}

/* Finds the row of complex.def for an operator: the one with the same real operands (bits of
 * `real`), else the one for complex operands.  NULL: there is none. */
static const row *find_row(rd_op op, unsigned real)
{
    const row *general = NULL;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].op == op && rows[k].real == real)
            return &rows[k];
        else if (rows[k].op == op && !rows[k].real)
            general = &rows[k];
    return general;
}

/* Runs a row's steps (assignments such as "re = x + u; im = y + v") with the parts of the operands
 * as variables: x + iy, u + iv, p + iq.  A real operand has an imaginary part of 0, unless the row
 * has no such variable.  Returns the variable `is`, which is real, or the complex number of `re`
 * and `im`. */
static rd_expr *run_row(const row *r, const char *call, int n, rd_expr *const *x, rd_dtype part)
{
    rd_ctx *const ctx   = x[0]->ctx;
    rd_steps      steps = { 0 };

    for (int k = 0; k < n; k++) {
        const bool real = !rd_is_complex(x[k]);

        rd_steps_add(&steps, names[k][0], rd_real(x[k]));
        if (!(r->real >> k & 1))
            rd_steps_add(&steps, names[k][1],
                         real ? rd_number(ctx, part, (rd_word){ 0 }) : x[k]->in[1]);
    }
    add_constants(&steps, ctx, part);
    for (int k = 0; k < steps.n; k++)
        if (!steps.x[k])
            return NULL;
    if (!rd_steps_run(&steps, ctx, call, r->steps, part))
        return NULL;
    rd_expr *real_result = rd_steps_find(&steps, "is");
    return real_result
               ? real_result
               : rd_complex_of(rd_steps_find(&steps, "re"), rd_steps_find(&steps, "im"), call);
}

/* ---- Operators on complex and real operands -------------------------------------------------- */
/* Applies an operator to operands that may be real or complex. */
static rd_expr *map_n(rd_op op, const char *call, int n, rd_expr *const *x)
{
    if (!rd_operands(call, n, x))
        return NULL;
    return rd_any_complex(n, x) ? rd_complex_map(op, call, n, x) : rd_real_map(op, call, n, x);
}

/* Applies an operator to one operand, which may be complex. */
static rd_expr *map_1(rd_op op, const char *call, rd_expr *x)
{
    return map_n(op, call, 1, &x);
}

/* Applies an operator to two operands, which may be complex. */
static rd_expr *map_2(rd_op op, const char *call, rd_expr *x, rd_expr *y)
{
    return map_n(op, call, 2, (rd_expr *const[]){ x, y });
}

/* Makes cond ? yes : no; both branches may be complex. */
static rd_expr *map_where(const char *call, rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return map_n(RD_OP_where, call, 3, (rd_expr *const[]){ cond, yes, no });
}

/* ---- Made of other complex maps -------------------------------------------------------------- */
/* Multiplies a complex x by i: (re, im) becomes (-im, re). */
static rd_expr *times_i(const char *call, rd_expr *x)
{
    return x ? rd_complex_of(map_1(RD_OP_neg, call, x->in[1]), x->in[0], call) : NULL;
}

/* Divides a complex x by i: (re, im) becomes (im, -re). */
static rd_expr *divide_by_i(const char *call, rd_expr *x)
{
    return x ? rd_complex_of(x->in[1], map_1(RD_OP_neg, call, x->in[0]), call) : NULL;
}

/* Multiplies x by a real number. */
static rd_expr *scale_by(const char *call, rd_expr *x, double factor)
{
    return x ? map_2(RD_OP_mul, call, x, rd_num(x->ctx, factor)) : NULL;
}

/* Makes acosh x from acos x = a + ib, rotated into the right half of the plane: |b| + i a, where a
 * gets the sign of x's imaginary part. */
static rd_expr *arcosh(const char *call, rd_expr *x)
{
    rd_expr *y = map_1(RD_OP_acos, call, x);

    return y ? rd_complex_of(map_1(RD_OP_abs, call, y->in[1]),
                             map_2(RD_OP_copysign, call, y->in[0], x->in[1]), call)
             : NULL;
}

/* Composes operators of others: sin x = sinh(ix) / i and so on, with the special values of C's
 * annex G.  The numbers of log2 and log10 are 1 / ln 2 and 1 / ln 10.  NULL if the operator is not
 * composed, or after a failure. */
static rd_expr *compose(rd_op op, const char *call, rd_expr *x)
{
    switch (op) {
    case RD_OP_sin: return divide_by_i(call, map_1(RD_OP_sinh, call, times_i(call, x)));
    case RD_OP_cos: return map_1(RD_OP_cosh, call, times_i(call, x));
    case RD_OP_tan: return divide_by_i(call, map_1(RD_OP_tanh, call, times_i(call, x)));
    case RD_OP_asinh: return divide_by_i(call, map_1(RD_OP_asin, call, times_i(call, x)));
    case RD_OP_acosh: return arcosh(call, x);
    case RD_OP_atan: return divide_by_i(call, map_1(RD_OP_atanh, call, times_i(call, x)));
    case RD_OP_log2: return scale_by(call, map_1(RD_OP_log, call, x), 0x1.71547652b82fep0);
    case RD_OP_log10: return scale_by(call, map_1(RD_OP_log, call, x), 0x1.bcb7b1526e50ep-2);
    case RD_OP_reciprocal: return map_2(RD_OP_div, call, rd_int(x->ctx, 1), x);
    default: return NULL;
    }
}

/* Appends the extra operands sqrt(1 - x) and sqrt(1 + x) that the rows of asin and acos use.
 * Returns the number of operands, 0 after a failure. */
static int add_roots(rd_op op, const char *call, rd_expr **in)
{
    rd_expr *one = rd_int(in[0]->ctx, 1);

    if (op != RD_OP_asin && op != RD_OP_acos)
        return 1;
    in[1] = map_1(RD_OP_sqrt, call, map_2(RD_OP_sub, call, one, in[0]));
    in[2] = map_1(RD_OP_sqrt, call, map_2(RD_OP_add, call, one, in[0]));
    return in[1] && in[2] ? MOST_OPERANDS : 0;
}

/* ---- Powers ---------------------------------------------------------------------------------- */
enum { MOST_PRODUCTS = 64 };

/* The exponent y, if it is a constant integer of at most 64 in size, for which repeated products
 * are better than a logarithm; else 0. */
static int integer_exponent(const rd_expr *y)
{
    const rd_expr *re = rd_is_complex(y) ? y->in[0] : y;

    if (re->kind != RD_EXPR_NUMBER || (rd_is_complex(y) && y->in[1]->kind != RD_EXPR_NUMBER))
        return 0;
    const double value = rd_word_to_double(re->as.number->value, re->type);
    const double imag = re == y ? 0 : rd_word_to_double(y->in[1]->as.number->value, y->in[1]->type);
    return imag == 0 && value == trunc(value) && fabs(value) <= MOST_PRODUCTS ? (int)value : 0;
}

/* Computes x^n by repeated squaring: y collects the squares at the binary digits 1 of |n|; a
 * negative n takes the reciprocal. */
static rd_expr *power_by_products(const char *call, rd_expr *x, int n)
{
    rd_expr *y = NULL;

    for (int left = n < 0 ? -n : n; x && left; left >>= 1) {
        if (left & 1)
            y = y ? map_2(RD_OP_mul, call, y, x) : x;
        if (left > 1)
            x = map_1(RD_OP_square, call, x);
    }
    return n < 0 ? map_1(RD_OP_reciprocal, call, y) : y;
}

/* Replaces the power z = x^y by 0 where x is 0 and y has a positive real part: there exp(y log x)
 * has the logarithm -inf, and y times it may have no angle. */
static rd_expr *replace_zero_power(const char *call, rd_expr *x, rd_expr *y, rd_expr *z)
{
    rd_expr *zero         = rd_int(z->ctx, 0);
    rd_expr *base_is_zero = map_2(RD_OP_eq, call, x, zero);
    rd_expr *forward      = map_2(RD_OP_gt, call, rd_real(y), zero);

    return map_where(call, map_2(RD_OP_and, call, base_is_zero, forward), zero, z);
}

/* Makes x^y as exp(y log x), and 1 where y is 0.  A complex x with a small integer exponent takes
 * repeated products instead. */
static rd_expr *power(const char *call, rd_expr *x, rd_expr *y)
{
    const int n = rd_is_complex(x) ? integer_exponent(y) : 0;

    if (n)
        return power_by_products(call, x, n);
    if (!rd_is_complex(x))
        x = rd_complex_cast(x, rd_dtype_of_parts(x->type));
    rd_expr *log_x = x ? map_1(RD_OP_log, call, x) : NULL;
    rd_expr *z     = map_1(RD_OP_exp, call, map_2(RD_OP_mul, call, y, log_x));

    if (z && rd_is_complex(y))
        z = replace_zero_power(call, x, y, z);
    return z ? map_where(call, map_2(RD_OP_eq, call, y, rd_int(y->ctx, 0)), rd_int(y->ctx, 1), z)
             : NULL;
}

/* ---- Maps ------------------------------------------------------------------------------------ */
/* Makes cond ? yes : no of complex branches, part by part; x[0] is the condition. */
static rd_expr *map_choice(const char *call, rd_expr *const *x, rd_dtype part)
{
    rd_expr *y[2];

    for (int p = 0; p < 2; p++) {
        rd_expr *in[3] = { rd_cast_to(x[0], RD_BOOL) };

        for (int k = 1; k < 3; k++)
            in[k] = rd_cast_to(p ? rd_imag(x[k]) : rd_real(x[k]), part);
        y[p] = rd_real_map(RD_OP_where, call, 3, in);
    }
    return rd_complex_of(y[0], y[1], call);
}

/* Applies a logic operator (and, or, not) after casting the operands to bool: a number is true if a
 * part is not 0. */
static rd_expr *map_logic(rd_op op, const char *call, int n, rd_expr *const *x)
{
    rd_expr *in[2] = { NULL };

    for (int k = 0; k < n; k++)
        in[k] = rd_cast_to(x[k], RD_BOOL);
    return rd_real_map(op, call, n, in);
}

/* Records that the operator has no complex form; returns NULL.  Operators that need an order (<,
 * minimum) get a hint. */
static void *fail_no_map(rd_op op, const char *call, rd_ctx *ctx, rd_dtype type)
{
    static const rd_op ordering[] = { RD_OP_lt,      RD_OP_le,      RD_OP_gt,   RD_OP_ge,
                                      RD_OP_minimum, RD_OP_maximum, RD_OP_fmin, RD_OP_fmax };

    for (size_t k = 0; k < sizeof ordering / sizeof *ordering; k++)
        if (ordering[k] == op)
            return rd_fail(ctx, RD_ERR_TYPE,
                           "%s: operands come to %s, and complex numbers have no order; compare "
                           "their rd_abs(), rd_real() or rd_imag()",
                           call, rd_dtype_name(type));
    return rd_fail(ctx, RD_ERR_TYPE, "%s: operands come to %s, and it takes real numbers alone",
                   call, rd_dtype_name(type));
}

/* Casts complex operands to `type` and real ones to the type of its parts.  If all are weak numbers
 * (plain constants, which take the type of others), they stay weak, and real ones become floats.
 * False after a failure. */
static bool cast_operands(int n, rd_expr *const *x, rd_dtype type, rd_expr **in)
{
    bool weak = true;

    for (int k = 0; k < n; k++)
        weak &= x[k]->weak;
    for (int k = 0; k < n; k++) {
        if (weak && rd_is_complex(x[k]))
            in[k] = x[k];
        else if (weak)
            in[k] = rd_as_real(x[k], RD_F64);
        else
            in[k] = rd_cast_to(x[k], rd_is_complex(x[k]) ? type : rd_dtype_part(type));
        if (!in[k])
            return false;
    }
    return true;
}

/* Broadcasts all operands to their common shape; false after a failure. */
static bool broadcast_all(const char *call, int n, rd_expr **x)
{
    int64_t extent[RD_MAX_RANK];
    int     rank;

    if (!rd_common_shape(call, n, x, &rank, extent))
        return false;
    for (int k = 0; k < n; k++)
        if (!(x[k] = rd_broadcast_to(x[k], rank, extent, call)))
            return false;
    return true;
}

/* Applies an operator to operands, at least one of which is complex.  It chooses among five ways:
 * choice (where), logic, power, a row of complex.def, or a composition of other operators.  NULL
 * after recording a failure. */
rd_expr *rd_complex_map(rd_op op, const char *call, int n, rd_expr *const *x)
{
    const rd_dtype type =
        op == RD_OP_where ? rd_rule_type(RD_RULE_SAME, 2, x + 1) : rd_rule_type(RD_RULE_SAME, n, x);
    const rd_dtype part              = rd_dtype_part(type);
    rd_expr       *in[MOST_OPERANDS] = { NULL };
    unsigned       real              = 0;

    if (op == RD_OP_where)
        return map_choice(call, x, part);
    if (n > 2)
        return fail_no_map(op, call, x[0]->ctx, type);
    if (rd_op_table[op].rule == RD_RULE_LOGIC)
        return map_logic(op, call, n, x);
    for (int k = 0; k < n; k++)
        real |= !rd_is_complex(x[k]) ? 1U << k : 0;
    const row *r = find_row(op, real);
    if (!cast_operands(n, x, type, in) || !in[0])
        return NULL;
    if (op == RD_OP_pow)
        return in[1] ? power(call, in[0], in[1]) : NULL;
    /* The rows of asin and acos have two operands more. */
    if (r && n == 1 && !(n = add_roots(op, call, in)))
        return NULL;
    if (r)
        return broadcast_all(call, n, in) ? run_row(r, call, n, in, part) : NULL;
    rd_expr *y = compose(op, call, in[0]);
    return y || rd_error(x[0]->ctx) != RD_OK ? y : fail_no_map(op, call, x[0]->ctx, type);
}
