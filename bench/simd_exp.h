/* exp as an expert writes it inside a fused loop: x = n log 2 + r, a polynomial for exp(r), times 2^n.
 * Relative error at most 3.6 * 2^-24 (f32) and 2.9 * 2^-53 (f64): less than a library promises, and faster. */
static inline v_f32 exp_f32(v_f32 x)
{
    v_f32 n = round_f32(x * 1.44269504F);
    v_f32 r = x - n * 0.693145752F - n * 1.42860677e-6F;
    v_f32 p = r * (1.98412698e-4F * 7) + 8.33333377e-3F;

    p = p * r + 4.16666679e-2F;
    p = p * r + 1.66666672e-1F;
    p = p * r + 0.5F;
    p = p * r + 1;
    p = p * r + 1;
    return scale_f32(p, n);
}

/* 2^x, for loops that can fold log2(e) into their inputs. */
static inline v_f32 exp2_f32(v_f32 x)
{
    v_f32 n = round_f32(x), r = x - n;
    v_f32 p = r * 1.54035304e-4F + 1.33335581e-3F;

    p = p * r + 9.61812911e-3F;
    p = p * r + 5.55041087e-2F;
    p = p * r + 2.40226507e-1F;
    p = p * r + 6.93147181e-1F;
    p = p * r + 1;
    return scale_f32(p, n);
}

/* Taylor to degree 12, |r| <= 0.347. */
static inline v_f64 exp_f64(v_f64 x)
{
    static const double factorial[] = { 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1 };

    v_f64 n = round_f64(x * 1.4426950408889634);
    v_f64 r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
    v_f64 p = (v_f64){ 0 } + 1 / factorial[0];

    UNROLL(13)
    for (int k = 1; k < 13; k++)
        p = p * r + 1 / factorial[k];
    return scale_f64(p, n);
}

/* The same series in powers of r log 2. */
static inline v_f64 exp2_f64(v_f64 x)
{
    static const double c[] = { 2.5678435993488206e-11,
                                4.4455382718708116e-10,
                                7.0549116208011234e-09,
                                1.01780860092397e-07,
                                1.321548679014431e-06,
                                1.5252733804059841e-05,
                                0.00015403530393381609,
                                0.0013333558146428443,
                                0.0096181291076284769,
                                0.055504108664821583,
                                0.24022650695910072,
                                0.69314718055994529,
                                1 };

    v_f64 n = round_f64(x), r = x - n;
    v_f64 p = (v_f64){ 0 } + c[0];

    UNROLL(13)
    for (int k = 1; k < 13; k++)
        p = p * r + c[k];
    return scale_f64(p, n);
}
