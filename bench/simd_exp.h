/* exp and 2^x as an expert writes them inside a fused loop, right to 1 ulp where the result is
 * normal, as the library's are: x = n log 2 + r with |r| <= log(2) / 2, a polynomial for exp(r),
 * times 2^n.  There are no special values.
 *
 * n times the high part of log 2 is exact, so r has one rounding.  The polynomials are 1 + r + r^2
 * s(r) and 1 + r log 2 + r^2 s(r); s has the least relative error of the whole, by Remez's
 * algorithm in 60 digits: 0.05 * 2^-24 and 0.03 * 2^-53.  Largest errors found, with FMA: exp 0.89
 * ulp (f32; all floats), 0.92 (f64; 2 * 10^7 points), 2^x 0.80 and 0.89; without FMA 1.17. */

/* 2^x, for loops that can fold log2(e) into their inputs; r is exact. */
static inline v_f32 exp2_f32(v_f32 x)
{
    v_f32 n = round_f32(x), r = x - n;
    v_f32 p = r * 1.532117021e-4F + 1.339016133e-3F;

    p = p * r + 9.618526325e-3F;
    p = p * r + 5.550362170e-2F;
    p = p * r + 2.402264774e-1F;
    p = p * r + 6.931471806e-1F;
    p = p * r + 1;
    return scale_f32(p, n);
}

#ifndef EXP_TABLES
static inline v_f32 exp_f32(v_f32 x)
{
    v_f32 n = round_f32(x * 1.44269504F);
    v_f32 r = x - n * 0.693145752F - n * 1.42860677e-6F;
    v_f32 p = r * 1.381455455e-3F + 8.368745446e-3F;

    p = p * r + 4.166838899e-2F;
    p = p * r + 1.666652113e-1F;
    p = p * r + 4.999999404e-1F;
    p = p * r + 1;
    p = p * r + 1;
    return scale_f32(p, n);
}

static inline v_f64 exp_f64(v_f64 x)
{
    static const double c[] = { 2.50000175741833237e-08,
                                2.76303062983028000e-07,
                                2.75575868073522839e-06,
                                2.48014929495056899e-05,
                                1.98412695057705426e-04,
                                1.38888889437600773e-03,
                                8.33333333349497822e-03,
                                4.16666666665297253e-02,
                                1.66666666666664104e-01,
                                5.00000000000001110e-01,
                                1,
                                1 };

    v_f64 n = round_f64(x * 1.4426950408889634);
    v_f64 r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
    v_f64 p = (v_f64){ 0 } + c[0];

    UNROLL(12)
    for (int k = 1; k < 12; k++)
        p = p * r + c[k];
    return scale_f64(p, n);
}

static inline v_f64 exp2_f64(v_f64 x)
{
    static const double c[] = { 4.43630414749947939e-10, 7.07357842338087357e-09,
                                1.01781846406608215e-07, 1.32154366141963479e-06,
                                1.52527335469219954e-05, 1.54035304540567580e-04,
                                1.33335581466860497e-03, 9.61812910759699165e-03,
                                5.55041086648207366e-02, 2.40226506959101221e-01,
                                6.93147180559945309e-01, 1 };

    v_f64 n = round_f64(x), r = x - n;
    v_f64 p = (v_f64){ 0 } + c[0];

    UNROLL(12)
    for (int k = 1; k < 12; k++)
        p = p * r + c[k];
    return scale_f64(p, n);
}
#endif
