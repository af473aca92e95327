/* complex_parts.c - calls that make complex numbers of real ones, and real ones of complex ones.
 *
 * Words. A weak number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/complex.h"

/* Makes re + i im of two real operands, both cast to one float type; two weak numbers (plain
 * constants) stay weak. */
rd_expr *rd_complex(rd_expr *re, rd_expr *im)
{
    static const char call[] = "rd_complex";
    rd_expr *const    x[]    = { re, im };

    if (!rd_operands(call, 2, x) || rd_refuse_complex(call, 2, x))
        return NULL;
    const rd_dtype part = rd_dtype_part(rd_dtype_of_parts(rd_rule_type(RD_RULE_FLOAT, 2, x)));
    if (re->weak && im->weak)
        return rd_complex_of(rd_as_real(re, part), rd_as_real(im, part), call);
    return rd_complex_of(rd_cast_to(re, part), rd_cast_to(im, part), call);
}

/* Makes a complex constant, which is weak: it takes the type of the operands beside it. */
rd_expr *rd_cnum(rd_ctx *ctx, double re, double im)
{
    return ctx ? rd_complex_of(rd_num(ctx, re), rd_num(ctx, im), "rd_cnum") : NULL;
}

/* Makes the complex number of a modulus r and an angle in radians. */
rd_expr *rd_polar(rd_expr *r, rd_expr *angle)
{
    static const char call[] = "rd_polar";
    rd_expr *const    x[]    = { r, angle };

    if (!rd_operands(call, 2, x) || rd_refuse_complex(call, 2, x))
        return NULL;
    return rd_complex(rd_mul(r, rd_cos(angle)), rd_mul(r, rd_sin(angle)));
}

/* The complex conjugate; a real x is its own. */
rd_expr *rd_conj(rd_expr *x)
{
    if (!rd_operands("rd_conj", 1, &x) || !rd_is_complex(x))
        /* a real one; id 0: x was released */
        return x && x->id ? x : NULL;
    return rd_complex_of(x->in[0], rd_neg(x->in[1]), "rd_conj");
}

/* The angle of x in radians, from -pi to pi. */
rd_expr *rd_arg(rd_expr *x)
{
    if (!rd_operands("rd_arg", 1, &x))
        return NULL;
    rd_expr *im = rd_is_complex(x) ? x->in[1] : rd_int(x->ctx, 0);
    return rd_map_op(RD_OP_atan2, "rd_arg", 2, (rd_expr *const[]){ im, rd_real(x) });
}
