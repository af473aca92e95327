/* call.c - user's functions as maps: C functions, rd_fn and function text.
 *
 *     rd_map(x, sqrtf)  ->  the operator sqrt     rd_map(x, my_f)  ->  a CALL node */
#include "expr/complex.h"
#include "expr/lists.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_OPERANDS = 8 };

/* Functions of libm that mean the same as an operator.  C's round is not here: it rounds halves
 * away from zero. */
static const struct {
    rd_op op;
    float (*f32)(float);
    double (*f64)(double);
} libm_1[] = {
#define OF_C_1(name, of_c) { RD_OP_##name, of_c##f, of_c },
#define OF_C_2(name, of_c)
#define OF_C_3(name, of_c)
#define BY_NONE(name, n, of_c)
#define BY_ROWS(name, n, of_c)
#define BY_OWN(name, n, of_c)
#define BY_UNIT(name, n, of_c)                   OF_C_##n(name, of_c)
#define BY_LIBM                                  BY_UNIT
#define BY_OURS                                  BY_UNIT
#define BY_HARD                                  BY_UNIT
#define OF_C(name, n, rule, cost, by, of_c, ...) BY_##by(name, n, of_c)
#define RD_OP                                    OF_C
#define RD_TEST                                  OF_C
#include "core/ops.def"
    { RD_OP_round, nearbyintf, nearbyint },
    { RD_OP_tgamma, tgammaf, tgamma },
    { RD_OP_lgamma, lgammaf, lgamma },
};
#undef OF_C_1
#undef OF_C_2

/* The same for functions of two operands. */
static const struct {
    rd_op op;
    float (*f32)(float, float);
    double (*f64)(double, double);
} libm_2[] = {
#define OF_C_1(name, of_c)
#define OF_C_2(name, of_c) { RD_OP_##name, of_c##f, of_c },
#define RD_OP              OF_C
#define RD_TEST            OF_C
#include "core/ops.def"
    { RD_OP_fmin, fminf, fmin },
    { RD_OP_fmax, fmaxf, fmax },
    { RD_OP_nextafter, nextafterf, nextafter },
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- Call nodes ------------------------------------------------------------------------------ */
/* Makes the CALL node of a user's function: casts operands to `in`, broadcasts them, and interns
 * the name.  The caller has filled in all other facts; `out` is the result's type. */
static rd_expr *call_node(const char *call, const char *name, rd_dtype in, rd_dtype out,
                          rd_call_facts *facts, int n, rd_expr *const *x)
{
    rd_expr *v[MAX_OPERANDS];
    int      rank;
    int64_t  extent[RD_MAX_RANK];

    if (!rd_common_shape(call, n, x, &rank, extent))
        return NULL;
    for (int k = 0; k < n; k++) {
        v[k] = rd_cast_to(x[k], in);
        v[k] = v[k] ? rd_broadcast_to(v[k], rank, extent, call) : NULL;
        if (!v[k])
            return NULL;
    }
    if (!(facts->name = rd_intern(x[0]->ctx, name, strlen(name) + 1)))
        return NULL;
    return rd_node(&(rd_expr){ .ctx    = x[0]->ctx,
                               .kind   = RD_EXPR_CALL,
                               .type   = out,
                               .rank   = rank,
                               .n_in   = n,
                               .extent = extent,
                               .in     = v },
                   facts, sizeof *facts);
}

/* True if the function is not NULL (f).  False after recording for `call` that it is. */
static bool is_given(const rd_expr *x, const char *call, bool given)
{
    if (!given)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the function is NULL", call);
    return given;
}

/* ---- C functions ----------------------------------------------------------------------------- */
/* Maps by an operator, with the types of libm's functions: ints and bools become f64 first, even
 * where the operator would keep them, as floor(i) is a double in C. */
static rd_expr *libm_map(rd_op op, const char *call, int n, rd_expr *const *x)
{
    return rd_map_rule(op, RD_RULE_FLOAT, call, n, x);
}

/* Maps x by a float function: by an operator if libm has it under this address, else by a call. */
rd_expr *rd_map_f32(rd_expr *x, float (*f)(float))
{
    rd_call_facts facts;

    if (!rd_operands("rd_map", 1, &x) || !is_given(x, "rd_map", f != NULL) ||
        rd_refuse_complex("rd_map", 1, &x))
        return NULL;
    for (size_t i = 0; i < COUNT(libm_1); i++)
        if (libm_1[i].f32 == f)
            return libm_map(libm_1[i].op, "rd_map", 1, &x);
    memset(&facts, 0, sizeof facts);
    facts.f32_1 = f;
    return call_node("rd_map", "float function", RD_F32, RD_F32, &facts, 1, &x);
}

/* Maps x by a double function: by an operator if libm has it under this address, else by a call. */
rd_expr *rd_map_f64(rd_expr *x, double (*f)(double))
{
    rd_call_facts facts;

    if (!rd_operands("rd_map", 1, &x) || !is_given(x, "rd_map", f != NULL) ||
        rd_refuse_complex("rd_map", 1, &x))
        return NULL;
    for (size_t i = 0; i < COUNT(libm_1); i++)
        if (libm_1[i].f64 == f)
            return libm_map(libm_1[i].op, "rd_map", 1, &x);
    memset(&facts, 0, sizeof facts);
    facts.f64_1 = f;
    return call_node("rd_map", "double function", RD_F64, RD_F64, &facts, 1, &x);
}

/* Maps x and y by a float function: by an operator if libm has it under this address, else by a
 * call. */
rd_expr *rd_map2_f32(rd_expr *x, rd_expr *y, float (*f)(float, float))
{
    rd_expr *const v[] = { x, y };
    rd_call_facts  facts;

    if (!rd_operands("rd_map2", 2, v) || !is_given(x, "rd_map2", f != NULL) ||
        rd_refuse_complex("rd_map2", 2, v))
        return NULL;
    for (size_t i = 0; i < COUNT(libm_2); i++)
        if (libm_2[i].f32 == f)
            return libm_map(libm_2[i].op, "rd_map2", 2, v);
    memset(&facts, 0, sizeof facts);
    facts.f32_2 = f;
    return call_node("rd_map2", "float function", RD_F32, RD_F32, &facts, 2, v);
}

/* Maps x and y by a double function: by an operator if libm has it under this address, else by a
 * call. */
rd_expr *rd_map2_f64(rd_expr *x, rd_expr *y, double (*f)(double, double))
{
    rd_expr *const v[] = { x, y };
    rd_call_facts  facts;

    if (!rd_operands("rd_map2", 2, v) || !is_given(x, "rd_map2", f != NULL) ||
        rd_refuse_complex("rd_map2", 2, v))
        return NULL;
    for (size_t i = 0; i < COUNT(libm_2); i++)
        if (libm_2[i].f64 == f)
            return libm_map(libm_2[i].op, "rd_map2", 2, v);
    memset(&facts, 0, sizeof facts);
    facts.f64_2 = f;
    return call_node("rd_map2", "double function", RD_F64, RD_F64, &facts, 2, v);
}

/* ---- rd_fn ----------------------------------------------------------------------------------- */
/* Copies the caller's rd_fn.  A struct of an older release is shorter (size), and the fields that
 * it lacks are 0; a size of 0 means that it has all fields. */
static rd_fn copy_fn(const rd_fn *f)
{
    rd_fn  whole;
    size_t size = f->size && f->size < sizeof whole ? f->size : sizeof whole;

    memset(&whole, 0, sizeof whole);
    memcpy(&whole, f, size);
    whole.name = whole.name ? whole.name : "function";
    return whole;
}

/* True if the rd_fn takes n operands and says how to compute: by .block alone, or by .code, by .f32
 * and .f64 together, or by all three.  False after recording what is wrong. */
static bool fn_ok(rd_ctx *ctx, const char *call, const rd_fn *f, int n)
{
    const char *wrong = NULL;

    if (f->arity < 1 || f->arity > MAX_OPERANDS)
        wrong = "its arity must be 1 to 8";
    else if (!f->f32 != !f->f64)
        wrong = "it needs both of .f32 and .f64, or neither";
    else if (f->block && (f->code || f->f32))
        wrong = "it has .block, so neither .code nor .f32 and .f64";
    else if (!f->block && !f->code && !f->f32)
        wrong = "it has none of .block, .code, .f32";
    if (wrong)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s: %s", call, f->name, wrong);
    else if (f->arity != n)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s takes %d operand%s, not %d", call, f->name,
                (int)f->arity, f->arity == 1 ? "" : "s", n);
    else if (f->block && (!rd_dtype_is_real(f->in) || !rd_dtype_is_real(f->out)))
        rd_fail(ctx, RD_ERR_TYPE,
                "%s: %s: .in is %s and .out is %s, not real types of this "
                "release",
                call, f->name, rd_dtype_name(f->in), rd_dtype_name(f->out));
    else
        return true;
    return false;
}

/* Makes the CALL node of a function that takes blocks of elements (.block of rd_fn). */
static rd_expr *block_map(const char *call, const rd_fn *f, int n, rd_expr *const *x)
{
    rd_call_facts facts;

    memset(&facts, 0, sizeof facts);
    facts.block      = f->block;
    facts.user       = f->user;
    facts.derivative = f->derivative;
    return call_node(call, f->name, f->in, f->out, &facts, n, x);
}

/* Maps by a function of floats (RD_FN): casts operands to float or double, as C would its
 * arguments.  It prefers the function's C text, which becomes operators and fuses, to its compiled
 * loops (.f32, .f64).  Text that cannot be read is an error only without these. */
static rd_expr *float_map(const char *call, const rd_fn *f, int n, rd_expr *const *x)
{
    rd_dtype      real = rd_rule_type(RD_RULE_FLOAT, n, x);
    rd_expr      *v[MAX_OPERANDS], *read = NULL;
    rd_call_facts facts;

    real = rd_dtype_is_narrow_float(real) ? RD_F32 : real;
    for (int k = 0; k < n; k++)
        if (!(v[k] = rd_as_real(x[k], real)))
            return NULL;
    if (f->code)
        read = rd_function_c(v[0]->ctx, call, f->code, n, v, real, /*quiet=*/f->f32 != NULL);
    if (read || !f->f32)
        return read;
    memset(&facts, 0, sizeof facts);
    facts.derivative = f->derivative;
    if (real == RD_F32)
        facts.f32 = f->f32;
    else
        facts.f64 = f->f64;
    if (f->names && f->body &&
        (!(facts.names = rd_intern(x[0]->ctx, f->names, strlen(f->names) + 1)) ||
         !(facts.body = rd_intern(x[0]->ctx, f->body, strlen(f->body) + 1))))
        return NULL;
    return call_node(call, f->name, real, real, &facts, n, v);
}

/* Maps by the caller's rd_fn: checks operands and function, then takes its block function, its
 * text, or its loops. */
static rd_expr *fn_map(const char *call, const rd_fn *f, int n, rd_expr *const *x)
{
    if (!rd_operands(call, n, x) || !is_given(x[0], call, f != NULL) ||
        rd_refuse_complex(call, n, x))
        return NULL;

    rd_fn whole = copy_fn(f);
    if (!fn_ok(x[0]->ctx, call, &whole, n))
        return NULL;
    return whole.block ? block_map(call, &whole, n, x) : float_map(call, &whole, n, x);
}

/* Checks operands, then maps them by function text, such as "x * 2 + sin(y)".  NULL after recording
 * for `call` what is wrong. */
static rd_expr *text_map(const char *call, const char *f, int n, rd_expr *const *x)
{
    if (!rd_operands(call, n, x) || !is_given(x[0], call, f != NULL) ||
        rd_refuse_complex(call, n, x))
        return NULL;
    return rd_function_text(x[0]->ctx, call, f, n, x);
}

/* True if the operands of rd_mapn() are 1 to 8 and the first is not NULL.  False after recording
 * it. */
static bool list_ok(rd_exprs operands)
{
    if (!rd_list_ok(/*ctx=*/NULL, "rd_mapn", "operands", operands.at, operands.n, /*least=*/1) ||
        !operands.at[0])
        return false;
    if (operands.n > MAX_OPERANDS)
        rd_fail(operands.at[0]->ctx, RD_ERR_ARGUMENT, "rd_mapn: %d operands, at most %d are taken",
                (int)operands.n, MAX_OPERANDS);
    return operands.n <= MAX_OPERANDS;
}

/* Maps one operand by the caller's rd_fn: a C function, or C text, with facts such as its types. */
rd_expr *rd_map_fn(rd_expr *x, const rd_fn *f)
{
    return fn_map("rd_map", f, 1, &x);
}

/* Maps two operands by the caller's rd_fn: a C function, or C text, with facts such as its
 * types. */
rd_expr *rd_map2_fn(rd_expr *x, rd_expr *y, const rd_fn *f)
{
    return fn_map("rd_map2", f, 2, (rd_expr *const[]){ x, y });
}

/* Maps a list of operands by the caller's rd_fn: a C function, or C text, with facts such as its
 * types. */
rd_expr *rd_mapn_fn(const rd_fn *f, rd_exprs operands)
{
    return list_ok(operands) ? fn_map("rd_mapn", f, operands.n, operands.at) : NULL;
}

/* Maps one operand by function text, such as "x * 2 + sin(x)". */
rd_expr *rd_map_text(rd_expr *x, const char *f)
{
    return text_map("rd_map", f, 1, &x);
}

/* Maps two operands by function text, such as "x * 2 + sin(y)". */
rd_expr *rd_map2_text(rd_expr *x, rd_expr *y, const char *f)
{
    return text_map("rd_map2", f, 2, (rd_expr *const[]){ x, y });
}

/* Maps a list of operands by function text, such as "x * 2 + sin(y)". */
rd_expr *rd_mapn_text(const char *f, rd_exprs operands)
{
    return list_ok(operands) ? text_map("rd_mapn", f, operands.n, operands.at) : NULL;
}
