/* exp.cuh - exp of f32 with the bits of math_exp.h, in fewer instructions.
 *
 * math_exp.h brings in 2^n by two products, behind the fma that adds power and rest.  Here the
 * power has part of 2^n in its exponent before that fma.  All operands stay normal, so the result
 * is scaled exactly.  One product brings in what is left of 2^n, and rounds if exp is subnormal
 * or infinite.
 *
 * An entry of the table has a power's bits, less what its index adds to them.  So one shift and
 * one addition make the scaled power.  16 entries of 8 bytes lie in all banks of shared memory
 * once. (Constant memory would give one entry after the other.  Loads from global memory might
 * wait behind those of elements.)  Kernels that compute exponentials fill the table. */
struct __align__(8) rd_exp_entry {
    uint32_t power;
    float    rest;
};
RD_SHARED(rd_exp_entry, rd_exp_table, 16);

/* Fills the table, by all threads of a block. */
static inline void rd_fill_exp_table(void)
{
    const uint32_t k = threadIdx.x, bits_of_1 = 0x3f800000;

    if (k < 16)
        rd_exp_table[k] = rd_exp_entry{ rd_bits_f32(rd_exp_power_f32[k]) - (k << 19) - bits_of_1,
                                        rd_exp_rest_f32[k] };
    __syncthreads();
}

/* exp(x) for k = x / ln 2 + magic, with part of its power's scale missing.  The bits of k above
 * those of the index are the exponent; `less` is subtracted from it. */
static __forceinline__ float rd_exp_scaled(float x, float k, float magic, uint32_t less)
{
    const float        n     = k - magic;
    const float        top   = rd_fma_f32(n, -RD_LN2_HI_F32, x);
    const float        r     = rd_fma_f32(n, -RD_LN2_LO_F32, top);
    const rd_exp_entry entry = rd_exp_table[rd_bits_f32(k) & 15];
    const float        power = rd_float_of((rd_bits_f32(k) << 19) + entry.power - less);
    float              q     = RD_EXP_LAST_F32;

    RD_EXP_TERMS_F32(RD_EXP_TERM, f32)
    return rd_fma_f32(power, rd_fma_f32(q, r, entry.rest), power);
}

/* C's fmaxf and fminf lose NaN, its comparisons are two instructions each. */
#ifdef RD_NAN_IN_HARDWARE
/* Limits x.  C's fmaxf and fminf lose NaN, and each of C's comparisons is two instructions. */
static __forceinline__ float rd_exp_within(float x)
{
    float y;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(RD_EXP_LEAST_F32));
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(y), "f"(RD_EXP_MOST_F32));
    return y;
}
#else
#define rd_exp_within(x) rd_within_f32(x, RD_EXP_LEAST_F32, RD_EXP_MOST_F32)
#endif

/* Half of 2^n is in the power: both halves are normal. */
static __forceinline__ float rd_exp_f32(float given)
{
    const float    x    = rd_exp_within(given);
    const float    k    = rd_fma_f32(x, RD_LOG2E_F32, RD_EXP_MAGIC_F32);
    const uint32_t half = rd_bits_f32(k) << 18 & 0xff800000;

    return rd_exp_scaled(x, k, RD_EXP_MAGIC_F32, half) * rd_float_of(half);
}

/* exp(x) = RD_EXP_LOW_UNIT * rd_exp_low(x) of x <= 40 that is no NaN: there 2^(n + 64) is
 * normal. */
#define RD_EXP_LOW_UNIT_f32  0x1p-64F
#define RD_EXP_LOW_MAGIC_F32 (0x1.8p19F + 127 + 64)

/* Returns exp(x) / RD_EXP_LOW_UNIT for x <= 40 that is no NaN: 64 is added to the exponent of
 * 2^n, so that no product at the end is needed. */
static __forceinline__ float rd_exp_low_f32(float given)
{
    const float x = fmaxf(given, RD_EXP_LEAST_F32);
    const float k = rd_fma_f32(x, RD_LOG2E_F32, RD_EXP_LOW_MAGIC_F32);

    return rd_exp_scaled(x, k, RD_EXP_LOW_MAGIC_F32, 0);
}
#define RD_EXP_LOW_UNIT_f64 1
#define rd_exp_low_f64(x)   rd_exp_f64(x)
