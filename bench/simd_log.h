/* log of positive normal numbers, right to 1 ulp: fdlibm's.  x = 2^k (1 + f), s = f / (2 + f), and
 * log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)).  Included for each type. */
INLINE V F(log)(V x)
{
    static const bool   wide   = sizeof(REAL) == 8;
    static const double c[]    = { 6.666666666666735130e-01, 3.999999999940941908e-01,
                                   2.857142874366239149e-01, 2.222219843214978396e-01,
                                   1.818357216161805012e-01, 1.531383769920937332e-01,
                                   1.479819860511658591e-01 };
    static const float  c4[]   = { 0.66666662693F, 0.40000972152F, 0.28498786688F, 0.24279078841F };
    const int           digits = wide ? 52 : 23;
    const INT root = (INT)(wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3); /* the bits of sqrt(1/2) */
    const INT one  = (INT)(wide ? 0x3ff0000000000000 : 0x3f800000);
    const W   bits = (W)x + (one - root);
    const V   k    = __builtin_convertvector((bits >> digits) - (one >> digits), V);
    const V   f    = (V)((bits & (((INT)1 << digits) - 1)) + root) - 1;
    const V   s = f / (f + 2), z = s * s, half = f * f * (REAL)0.5;
    V         r = SPLAT(wide ? c[6] : (double)c4[3]);

    for (int i = wide ? 5 : 2; i >= 0; i--)
        r = r * z + (REAL)(wide ? c[i] : (double)c4[i]);
    r = r * z;
    return (s * (half + r) + k * (REAL)(wide ? 1.90821492927058770002e-10 : 9.0580006145e-06) -
            half + f) +
           k * (REAL)(wide ? 6.93147180369123816490e-01 : 6.9313812256e-01);
}
