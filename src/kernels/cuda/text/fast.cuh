/* fast.cuh - functions of f32 by the GPU's special-function units, for evaluations that ask for
 * `accuracy` FAST (RD_FAST).
 *
 * CUDA's manual ("Mathematical Functions") and that of PTX have the units' bounds.  exp and exp2
 * give 0 instead of subnormal numbers, as the unit would take twice the instructions. */
#ifndef RD_UNITS_EMULATED
/* Returns 2^x by one instruction of the special-function unit; subnormal numbers become 0. */
static __forceinline__ float rd_unit_exp2(float x)
{
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 2 ulp, at any size; __fdividef would give 0 if b is beyond 2^126. */
static __forceinline__ float rd_unit_div(float a, float b)
{
    float y;

    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

/* Returns the square root by the special-function unit, approximately. */
static __forceinline__ float rd_unit_sqrt(float x)
{
    float y;

    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#define rd_unit_log2(x)   __log2f(x)
#define rd_unit_sin(x)    __sinf(x)
#define rd_unit_cos(x)    __cosf(x)
/* Not units, but of f32 all along. */
#define rd_unit_tanh(x)   tanhf(x)
#define rd_unit_pow(x, y) powf(x, y)
#endif

/* Rounds x log2(e), which moves the result by up to 1.2 |x| ulp. */
static __forceinline__ float rd_exp_f32(float x)
{
    return rd_unit_exp2(x * RD_LOG2E_F32);
}
/* The names that exp.cuh has for log-sum-exp. */
#define RD_EXP_LOW_UNIT_f32 1
#define RD_EXP_LOW_UNIT_f64 1
#define rd_exp_low_f32(x)   rd_exp_f32(x)
#define rd_exp_low_f64(x)   rd_exp_f64(x)

/* Returns 2^x, approximately. */
static __forceinline__ float rd_fast_exp2(float x)
{
    return rd_unit_exp2(x);
}

/* Returns log2(x), approximately. */
static __forceinline__ float rd_fast_log2(float x)
{
    return rd_unit_log2(x);
}

/* Returns log(x) as log2(x) ln 2, approximately. */
static __forceinline__ float rd_fast_log(float x)
{
    return rd_unit_log2(x) * RD_LN2_HI_F32;
}

/* rd_fast_turn() is x less the nearest multiple of 2 pi, 2^-22 off.  2 pi is two numbers, the
 * first of which has 24 bits.  The units are accurate between -pi and pi. */
#define RD_FAST_TURNS 32768.0F
/* Returns x less the nearest multiple of 2 pi, with an error of 2^-22, as the units are accurate
 * between -pi and pi. 2 pi is two numbers, the first of which has 24 bits. */
static __forceinline__ float rd_fast_turn(float x)
{
    const float n = rintf(x * 0x1.45f306p-3F);

    return rd_fma_f32(n, 0x1.777a5cp-23F, rd_fma_f32(n, -0x1.921fb6p+2F, x));
}

/* Returns sin(x) by the unit; beyond RD_FAST_TURNS, and for NaN, by the function that all
 * backends have. */
static __forceinline__ float rd_fast_sin(float x)
{
    return fabsf(x) <= RD_FAST_TURNS ? rd_unit_sin(rd_fast_turn(x)) : rd_math_sin_f32(x);
}

/* Returns cos(x) by the unit; beyond RD_FAST_TURNS, and for NaN, by the function that all
 * backends have. */
static __forceinline__ float rd_fast_cos(float x)
{
    return fabsf(x) <= RD_FAST_TURNS ? rd_unit_cos(rd_fast_turn(x)) : rd_math_cos_f32(x);
}

/* Returns tanh(x), approximately. */
static __forceinline__ float rd_fast_tanh(float x)
{
    return rd_unit_tanh(x);
}

/* Returns x^y, approximately. */
static __forceinline__ float rd_fast_pow(float x, float y)
{
    return rd_unit_pow(x, y);
}

/* Returns the square root, approximately. */
static __forceinline__ float rd_fast_sqrt(float x)
{
    return rd_unit_sqrt(x);
}

/* Returns a / b, to 2 ulp. */
static __forceinline__ float rd_fast_div(float a, float b)
{
    return rd_unit_div(a, b);
}
