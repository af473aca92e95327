/* exp where a permutation looks a table up in a register (AVX-512): fewer multiply-adds than
 * simd_exp.h's.
 *
 * x = n log 2 + r, n in sixteenths (f32) or eighths (f64), and exp(x) = 2^n exp(r).  The low bits
 * of n pick T, two to the fraction of n, and its relative error t; T + T (t + exp(r) - 1) has
 * hardly more than the one rounding of that addition, as what is added is small.  n times the high
 * part of log 2 is exact.  exp(r) - 1 is r + r^2 s(r), and 2^r - 1 is r log 2 + r^2 s(r); s has the
 * least relative error of the whole, by Remez's algorithm in 60 digits: 0.03 * 2^-24 and 0.03 *
 * 2^-53.  Largest errors found: 0.57 ulp (f32; all floats), 0.61 (f64; 10^8 points).  There are no
 * special values. */
#define EXP_TABLES

/* Added to a number they leave its sixteenths, or eighths, in the low bits. */
#define SIXTEENTHS 786432.0F
#define EIGHTHS    844424930131968.0

/* 2^(k/16) for the low four bits k of each lane, and its relative error. */
static inline v_f32 power_f32(v_f32 k, v_f32 *error)
{
    static const float power[] = { 1,           1.04427373F, 1.09050775F, 1.13878858F,
                                   1.18920708F, 1.24185777F, 1.29683959F, 1.35425556F,
                                   1.41421354F, 1.47682619F, 1.54221082F, 1.61049032F,
                                   1.68179286F, 1.75625217F, 1.8340081F,  1.91520655F };
    static const float rest[]  = { 0,           4.629e-08F,  -1.199e-08F, 4.73e-08F,
                                   3.193e-08F,  3.621e-08F,  -3.099e-08F, -7.475e-09F,
                                   1.711e-08F,  -3.048e-08F, 5.233e-09F,  6.108e-09F,
                                   -1.472e-08F, -5.259e-09F, -6.128e-09F, 5.141e-09F };

    *error = (v_f32)_mm512_permutexvar_ps((__m512i)k, _mm512_loadu_ps(rest));
    return (v_f32)_mm512_permutexvar_ps((__m512i)k, _mm512_loadu_ps(power));
}

/* 2^(k/8), for the low three bits. */
static inline v_f64 power_f64(v_f64 k, v_f64 *error)
{
    static const double power[] = { 1,
                                    1.0905077326652577,
                                    1.189207115002721,
                                    1.2968395546510096,
                                    1.4142135623730951,
                                    1.5422108254079407,
                                    1.681792830507429,
                                    1.8340080864093424 };
    static const double rest[]  = { 0,          -2.794e-17, 3.348e-17, 1.957e-17,
                                    -6.836e-17, 5.155e-17,  4.875e-17, 1.79e-17 };

    *error = (v_f64)_mm512_permutexvar_pd((__m512i)k, _mm512_loadu_pd(rest));
    return (v_f64)_mm512_permutexvar_pd((__m512i)k, _mm512_loadu_pd(power));
}

static inline v_f32 exp_f32(v_f32 x)
{
    v_f32 k = x * 1.44269504F + SIXTEENTHS, n = k - SIXTEENTHS;
    v_f32 r = x - n * 0.693145752F - n * 1.42860677e-6F;
    v_f32 q = (r * 1.666671783e-1F + 5.000162125e-1F) * r + 1;
    v_f32 error, p = power_f32(k, &error);

    return scale_f32(p + p * (q * r + error), n);
}

static inline v_f64 exp_f64(v_f64 x)
{
    v_f64 k = x * 1.4426950408889634 + EIGHTHS, n = k - EIGHTHS;
    v_f64 r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
    v_f64 q = r * 1.98405643926729966e-04 + 1.38897822760629852e-03;
    v_f64 error, p = power_f64(k, &error);

    q = q * r + 8.33333337126650024e-03;
    q = q * r + 4.16666665697261462e-02;
    q = q * r + 1.66666666666637070e-01;
    q = q * r + 5.00000000000029754e-01;
    q = q * r + 1;
    return scale_f64(p + p * (q * r + error), n);
}

/* 2^x; r is exact. */
static inline v_f64 exp2_f64(v_f64 x)
{
    v_f64 k = x + EIGHTHS, n = k - EIGHTHS, r = x - n;
    v_f64 q = r * 1.52521914990689714e-05 + 1.54045212081688372e-04;
    v_f64 error, p = power_f64(k, &error);

    q = q * r + 1.33335582071225319e-03;
    q = q * r + 9.61812908525120323e-03;
    q = q * r + 5.55041086648117299e-02;
    q = q * r + 2.40226506959115016e-01;
    q = q * r + 6.93147180559945309e-01;
    return scale_f64(p + p * (q * r + error), n);
}
