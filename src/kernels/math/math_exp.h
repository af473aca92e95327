/* math_exp.h - exp, expm1 and tanh.
 *
 * All begin with Cody and Waite's two-term reduction ("Software Manual for the Elementary
 * Functions", 1980).  exp(x) = 2^n exp(r), n a multiple of 1/16 or 1/8 and |r| <= ln(2) / 32 or /
 * 16: few terms are left of exp(r), and 2^n's fraction is looked up (Tang, "Table-driven
 * implementation of the exponential function", 1989), in tables that are vector registers.  Those
 * of expm1 and tanh have a whole n.  Polynomials are minimax polynomials of relative error
 * (Remez). */
#ifndef RD_KERNELS_MATH_MATH_EXP_H
#define RD_KERNELS_MATH_MATH_EXP_H

#include "kernels/math/math_bits.h"

#define RD_LOG2E_F32  0x1.715476p0F
#define RD_LN2_HI_F32 0x1.62e43p-1F
#define RD_LN2_LO_F32 -0x1.05c61p-29F
#define RD_LOG2E_F64  0x1.71547652b82fep0
#define RD_LN2_HI_F64 0x1.62e42fefa39efp-1
#define RD_LN2_LO_F64 0x1.abc9e3b39803fp-56

/* ---- exp ------------------------------------------------------------------------------------- */
/* 2^(k/16), and by what part of itself it is too small. */
RD_TABLE float rd_exp_power_f32[16] __attribute__((aligned(64))) = {
    0x1p+0F,        0x1.0b5586p+0F, 0x1.172b84p+0F, 0x1.2387a6p+0F, 0x1.306fep+0F,  0x1.3dea64p+0F,
    0x1.4bfdaep+0F, 0x1.5ab07ep+0F, 0x1.6a09e6p+0F, 0x1.7a1148p+0F, 0x1.8ace54p+0F, 0x1.9c4918p+0F,
    0x1.ae89fap+0F, 0x1.c199bep+0F, 0x1.d5818ep+0F, 0x1.ea4afap+0F,
};
RD_TABLE float rd_exp_rest_f32[16] __attribute__((aligned(64))) = {
    0,
    0x1.8d96d4p-25F,
    -0x1.9c0c22p-27F,
    0x1.964904p-25F,
    0x1.125002p-25F,
    0x1.370be4p-25F,
    -0x1.0a355p-25F,
    -0x1.00d8acp-27F,
    0x1.26055cp-26F,
    -0x1.05cb44p-25F,
    0x1.67a1cap-28F,
    0x1.a3b5e4p-28F,
    -0x1.f9c304p-27F,
    -0x1.6961b4p-28F,
    -0x1.a5217cp-28F,
    0x1.61428ep-28F,
};
/* 2^(k/8) */
RD_TABLE double rd_exp_power_f64[8] __attribute__((aligned(64))) = {
    0x1p+0,
    0x1.172b83c7d517bp+0,
    0x1.306fe0a31b715p+0,
    0x1.4bfdad5362a27p+0,
    0x1.6a09e667f3bcdp+0,
    0x1.8ace5422aa0dbp+0,
    0x1.ae89f995ad3adp+0,
    0x1.d5818dcfba487p+0,
};
RD_TABLE double rd_exp_rest_f64[8] __attribute__((aligned(64))) = {
    0,
    -0x1.01b15eaa59348p-55,
    0x1.34d754db0abb6p-55,
    0x1.690cebb7aafbp-56,
    -0x1.3b3efbf5e2228p-54,
    0x1.db72fc1f0eab4p-55,
    0x1.c1a7792cb3387p-55,
    0x1.4a385a63d07a7p-56,
};

/* Added to x / ln 2, they leave its sixteenths, its eighths in the low bits, and above them what
 * rd_scale wants. */
#define RD_EXP_MAGIC_F32 (0x1.8p19F + 254)
#define RD_EXP_MAGIC_F64 (0x1.8p49 + 2046)

/* Beyond these exp is 0 and infinity, as it is here. */
#define RD_EXP_LEAST_F32 (-104.0F)
#define RD_EXP_MOST_F32  89.0F
#define RD_EXP_LEAST_F64 (-746.0)
#define RD_EXP_MOST_F64  710.0

/* (exp(r) - 1) / r from its last coefficient on; error of exp(r): 2^-29, 2^-58. */
#define RD_EXP_LAST_F32              0x1.55559ap-3F
#define RD_EXP_TERMS_F32(TERM, kind) TERM(kind, 0x1.00022p-1F) TERM(kind, 1.0F)
#define RD_EXP_LAST_F64              0x1.a0163810713fbp-13
#define RD_EXP_TERMS_F64(TERM, kind)  \
    TERM(kind, 0x1.6c1cc03fec5d5p-10) \
    TERM(kind, 0x1.11111125ebaf7p-7)  \
    TERM(kind, 0x1.55555548028acp-5)  \
    TERM(kind, 0x1.555555555512bp-3) TERM(kind, 0x1.000000000010cp-1) TERM(kind, 1.0)
#define RD_EXP_TERM(kind, c) q = rd_fma_##kind(q, r, rd_all_##kind(c));

/* rd_exp_<kind>() of V, one number (kind is elem) or a vector (math_exp_strip.h), made of what is
 * called rd_..._<kind>. Added to a power as one small number, what exp(r) - 1 and the power's own
 * error come to leaves little more than the one rounding of that addition. */
#define RD_DEFINE_EXP(kind, elem, ELEM, V)                                                \
    RD_INLINE V rd_exp_##kind(V given)                                                    \
    {                                                                                     \
        const V magic = rd_all_##kind(RD_EXP_MAGIC_##ELEM);                               \
        const V x     = rd_within_##kind(given, RD_EXP_LEAST_##ELEM, RD_EXP_MOST_##ELEM); \
        const V k     = rd_fma_##kind(x, rd_all_##kind(RD_LOG2E_##ELEM), magic);          \
        const V n     = k - magic;                                                        \
        const V top   = rd_fma_##kind(n, rd_all_##kind(-RD_LN2_HI_##ELEM), x);            \
        const V whole = rd_fma_##kind(n, rd_all_##kind(-RD_LN2_LO_##ELEM), top);          \
        const V r     = rd_small_##kind(whole);                                           \
        const V power = rd_entry_##kind(rd_exp_power_##elem, k);                          \
        const V rest  = rd_entry_##kind(rd_exp_rest_##elem, k);                           \
        V       q     = rd_all_##kind(RD_EXP_LAST_##ELEM);                                \
                                                                                          \
        RD_EXP_TERMS_##ELEM(RD_EXP_TERM, kind);                                           \
        q = rd_fma_##kind(power, rd_fma_##kind(q, r, rest), power);                       \
        return rd_times_2_##kind(q, k, n);                                                \
    }

#define rd_fma_f32(a, b, c)           __builtin_fmaf(a, b, c)
#define rd_fma_f64(a, b, c)           __builtin_fma(a, b, c)
#define rd_all_f32(c)                 (c)
#define rd_all_f64(c)                 (c)
#define rd_within_f32(x, least, most) ((x) < (least) ? (least) : (x) > (most) ? (most) : (x))
#define rd_within_f64(x, least, most) rd_within_f32(x, least, most)
#define rd_small_f32(r)               (r)
#define rd_small_f64(r)               (r)
#define rd_entry_f32(table, k)        (table)[rd_bits_f32(k) & 15]
#define rd_entry_f64(table, k)        (table)[rd_bits_f64(k) & 7]
#define rd_times_2_f32(y, k, n)       rd_scale_f32(y, rd_bits_f32(k) >> 4)
#define rd_times_2_f64(y, k, n)       rd_scale_f64(y, rd_bits_f64(k) >> 3)

#ifdef RD_EXP_F32_APART /* cuda/text/exp.cuh has another form, of the same bits */
RD_INLINE float rd_exp_f32(float given);
#else
RD_DEFINE_EXP(f32, f32, F32, float)
#endif
RD_DEFINE_EXP(f64, f64, F64, double)

/* ---- expm1 and tanh -------------------------------------------------------------------------- */
/* Returns (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2; the error of exp(r) - 1 is 2^-28.8. */
RD_INLINE float rd_expm1_tail_f32(float r)
{
    float q = 0x1.a032ep-13F;

    q = __builtin_fmaf(q, r, 0x1.6d71f8p-10F);
    q = __builtin_fmaf(q, r, 0x1.11118ap-7F);
    q = __builtin_fmaf(q, r, 0x1.5554b2p-5F);
    q = __builtin_fmaf(q, r, 0x1.555554p-3F);
    return __builtin_fmaf(q, r, 0x1p-1F);
}

/* Returns (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2; the error of exp(r) - 1 is 2^-59.9. */
RD_INLINE double rd_expm1_tail_f64(double r)
{
    double q = 0x1.1ee890b0205ffp-29;

    q = __builtin_fma(q, r, 0x1.af5e760272790p-26);
    q = __builtin_fma(q, r, 0x1.27e5362563510p-22);
    q = __builtin_fma(q, r, 0x1.71ddf87e1eeb0p-19);
    q = __builtin_fma(q, r, 0x1.a01a017bca974p-16);
    q = __builtin_fma(q, r, 0x1.a01a01afd424ap-13);
    q = __builtin_fma(q, r, 0x1.6c16c16c1f064p-10);
    q = __builtin_fma(q, r, 0x1.111111110f6d9p-7);
    q = __builtin_fma(q, r, 0x1.555555555553fp-5);
    q = __builtin_fma(q, r, 0x1.5555555555559p-3);
    return __builtin_fma(q, r, 0x1p-1);
}

/* Returns exp(x) - 1 = 2 (2^(n-1) exp(r) - 1/2), the terms summed with their error.  Halves are
 * used, as 2^n may be infinite where the result is not.  Below n = -60 the result is -1. */
RD_INLINE float rd_expm1_f32(float x)
{
    const float capped = x > 89.0F ? 89.0F : x; /* gives infinity */
    const float magic  = __builtin_fmaf(capped, RD_LOG2E_F32, RD_MAGIC_F32),
                n      = magic - RD_MAGIC_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, capped), rest = n * -RD_LN2_LO_F32,
                r    = top + rest;
    const float r_lo = rest - (r - top); /* r's own error counts where exp(r) - 1/2 cancels */
    const float tail = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), __builtin_fmaf(r, r_lo, rest));
    const float hi = top + tail, lo = tail - (hi - top);
    const float scale = rd_float_of((rd_bits_f32(magic) << 23) + 0x3f000000);
    const float one = scale - 0.5F, one_lo = scale - one - 0.5F, part = scale * hi,
                sum = one + part;
    float y         = 2 * (sum + (part - (sum - one) + __builtin_fmaf(scale, lo, one_lo)));

    y = n < -60.0F ? -1 : y;
    return RD_ABS_F32(x) < 0x1p-25F ? x : y; /* also halves of subnormals, and -0 */
}

/* Returns exp(x) - 1 = 2 (2^(n-1) exp(r) - 1/2), the terms summed with their error.  Halves are
 * used, as 2^n may be infinite where the result is not.  Below n = -60 the result is -1. */
RD_INLINE double rd_expm1_f64(double x)
{
    const double capped = x > 710.0 ? 710.0 : x; /* gives infinity */
    const double magic  = __builtin_fma(capped, RD_LOG2E_F64, RD_MAGIC_F64),
                 n      = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, capped), rest = n * -RD_LN2_LO_F64,
                 r    = top + rest;
    const double r_lo = rest - (r - top); /* r's own error counts where exp(r) - 1/2 cancels */
    const double tail = __builtin_fma(r * r, rd_expm1_tail_f64(r), __builtin_fma(r, r_lo, rest));
    const double hi = top + tail, lo = tail - (hi - top);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3fe0000000000000);
    const double one = scale - 0.5, one_lo = scale - one - 0.5, part = scale * hi, sum = one + part;
    double       y = 2 * (sum + (part - (sum - one) + __builtin_fma(scale, lo, one_lo)));

    y = n < -60.0 ? -1 : y;
    return RD_ABS_F64(x) < 0x1p-54 ? x : y; /* also halves of subnormals, and -0 */
}

/* Returns tanh(x) = E / (E + 2) with E = exp(2 |x|) - 1: numerator and denominator with their
 * errors, one division, and one step that corrects the quotient. */
RD_INLINE float rd_tanh_f32(float x)
{
    const float size = RD_ABS_F32(x), a = 2 * (size > 10.0F ? 10.0F : size); /* beyond it is 1 */
    const float magic = __builtin_fmaf(a, RD_LOG2E_F32, RD_MAGIC_F32), n = magic - RD_MAGIC_F32;
    const float top = __builtin_fmaf(n, -RD_LN2_HI_F32, a), rest = n * -RD_LN2_LO_F32,
                r    = top + rest;
    const float tail = __builtin_fmaf(r * r, rd_expm1_tail_f32(r), rest);
    const float hi = top + tail, lo = tail - (hi - top);
    const float scale = rd_float_of((rd_bits_f32(magic) << 23) + 0x3f800000), part = scale * hi;
    const float low = scale - 1, low_lo = scale - low - 1, above = low + part;
    const float high = scale + 1, high_lo = scale - high + 1, below = high + part;
    const float above_lo = part - (above - low) + __builtin_fmaf(scale, lo, low_lo);
    const float below_lo = part - (below - high) + __builtin_fmaf(scale, lo, high_lo);
    const float inverse = 1 / below, q = above * inverse;
    const float error = __builtin_fmaf(q, -below, above) + __builtin_fmaf(q, -below_lo, above_lo);

    return __builtin_copysignf(__builtin_fmaf(error, inverse, q), x);
}

/* Returns tanh(x) = E / (E + 2) with E = exp(2 |x|) - 1: numerator and denominator with their
 * errors, one division, and one step that corrects the quotient. */
RD_INLINE double rd_tanh_f64(double x)
{
    const double size = RD_ABS_F64(x), a = 2 * (size > 20.0 ? 20.0 : size); /* beyond it is 1 */
    const double magic = __builtin_fma(a, RD_LOG2E_F64, RD_MAGIC_F64), n = magic - RD_MAGIC_F64;
    const double top = __builtin_fma(n, -RD_LN2_HI_F64, a), rest = n * -RD_LN2_LO_F64,
                 r    = top + rest;
    const double tail = __builtin_fma(r * r, rd_expm1_tail_f64(r), rest);
    const double hi = top + tail, lo = tail - (hi - top);
    const double scale = rd_double_of((rd_bits_f64(magic) << 52) + 0x3ff0000000000000),
                 part  = scale * hi;
    const double low = scale - 1, low_lo = scale - low - 1, above = low + part;
    const double high = scale + 1, high_lo = scale - high + 1, below = high + part;
    const double above_lo = part - (above - low) + __builtin_fma(scale, lo, low_lo);
    const double below_lo = part - (below - high) + __builtin_fma(scale, lo, high_lo);
    const double inverse = 1 / below, q = above * inverse;
    const double error = __builtin_fma(q, -below, above) + __builtin_fma(q, -below_lo, above_lo);

    return __builtin_copysign(__builtin_fma(error, inverse, q), x);
}

#endif
