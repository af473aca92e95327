/* maps.h - the operators of ops.def as loops over contiguous elements, for one register class.
 *
 * instances/maps_*.c include it once per class, with ELEM, T, RD_F and PICK set as in
 * kernels/cpu/reference/ops_class.h.  y may be an operand, element on element: hence ivdep, and no
 * restrict. */
#define RD_T(f)            WITH_WARNINGS_##f
#define KERNEL(name, form) JOIN(JOIN(map_##name, ELEM), form)

/* The kernel of an operator in one form: y[i] = code of a[i], b[i], c[i]; `take` loads the operands
 * that are one element for all. */
#define LOOP(name, form, result, take, ...)                                             \
    static void KERNEL(name, form)(int64_t n, void *py, const void *pa, const void *pb, \
                                   const void *pc, uint32_t *warnings)                  \
    {                                                                                   \
        result  *y  = py;                                                               \
        const T *va = pa, *vb = pb, *vc = pc;                                           \
        (void)va, (void)vb, (void)vc;                                                   \
        /* take: what is one element for all */                                         \
        take INDEPENDENT                                                                \
        for (int64_t i = 0; i < n; i++) {                                               \
            EACH_##form y[i] = (result)(__VA_ARGS__);                                   \
        }                                                                               \
    }

/* Operands by form: if bit k is set, operand k is one element for all. */
#define EACH_u0 const T a = va[i];
#define EACH_b0 const T a = va[i], b = vb[i];
#define EACH_b1 const T b = vb[i];
#define EACH_b2 const T a = va[i];
#define EACH_t0 const T a = va[i], b = vb[i], c = vc[i];
#define EACH_t2 const T a = va[i], c = vc[i];
#define EACH_t4 const T a = va[i], b = vb[i];
#define EACH_t6 const T a = va[i];

#define DEFINE_1(name, result, ...) LOOP(name, u0, result, , __VA_ARGS__)
#define DEFINE_2(name, result, ...)                       \
    LOOP(name, b0, result, , __VA_ARGS__)                 \
    LOOP(name, b1, result, const T a = *va;, __VA_ARGS__) \
    LOOP(name, b2, result, const T b = *vb;, __VA_ARGS__)
#define DEFINE_3(name, result, ...)                       \
    LOOP(name, t0, result, , __VA_ARGS__)                 \
    LOOP(name, t2, result, const T b = *vb;, __VA_ARGS__) \
    LOOP(name, t4, result, const T c = *vc;, __VA_ARGS__) \
    LOOP(name, t6, result, const T b = *vb; const T c = *vc;, __VA_ARGS__)

#define DEFINE(name, n, result, ...) DEFINE_##n(name, result, __VA_ARGS__)
#define RD_OP(name, n, rule, cost, by, of_c, float_code, ...) \
    PICK(rule, DEFINE, (name, n, T, float_code), (name, n, T, __VA_ARGS__))
#define RD_TEST(name, n, rule, cost, by, of_c, float_code, ...) \
    PICK(rule, DEFINE, (name, n, uint8_t, float_code), (name, n, uint8_t, __VA_ARGS__))
#include "core/ops.def"

/* ---- Functions with hard arguments (math.def): mostly none in the row, and then no branch --- */
#define EASY_0(name)
#define EASY_1(name)                                                                    \
    static void KERNEL(name, easy)(int64_t n, void *py, const void *pa, const void *pb, \
                                   const void *pc, uint32_t *warnings)                  \
    {                                                                                   \
        T       *y    = py;                                                             \
        const T *a    = pa;                                                             \
        int      hard = 0;                                                              \
        for (int64_t i = 0; i < n; i++)                                                 \
            hard |= JOIN(JOIN(rd_##name, ELEM), hard)(a[i]);                            \
        if (hard) {                                                                     \
            KERNEL(name, u0)(n, py, pa, pb, pc, warnings);                              \
            return;                                                                     \
        }                                                                               \
        INDEPENDENT                                                                     \
        for (int64_t i = 0; i < n; i++)                                                 \
            y[i] = JOIN(rd_##name, ELEM)(a[i]);                                         \
    }
#ifdef FLOATS
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
#define RD_MATH2(name, hard)
#define RD_MATH1(name, hard) EASY_##hard(name)
#include "kernels/math/math.def"
#endif

/* ---- exp, by vectors ------------------------------------------------------------------------- */
#ifdef FLOATS
/* Takes exp of n elements: four vectors at a time, to hide the latency of each, then one vector,
 * the last of them maybe in part. */
static void KERNEL(exp, strips)(int64_t n, void *py, const void *pa, const void *pb, const void *pc,
                                uint32_t *warnings)
{
    enum { STRIP = 4 * LANES };
    T       *y = py;
    const T *a = pa;
    int64_t  i = 0;

    for (; i + STRIP <= n; i += STRIP) {
        VEC strip[4]; /* a memcpy would leave it in memory */
        UNROLL(4)
        for (int k = 0; k < 4; k++)
            strip[k] = JOIN(load, ELEM)(a + i + k * LANES);
        JOIN(rd_exp_strip, ELEM)((T *)strip, STRIP);
        UNROLL(4)
        for (int k = 0; k < 4; k++)
            *(VEC *)(y + i + k * LANES) = strip[k];
    }
    for (; i < n; i += LANES) {
        const int64_t part  = i + LANES < n ? LANES : n - i;
        VEC           strip = JOIN(load_part, ELEM)(a + i, part);
        JOIN(rd_exp_strip, ELEM)((T *)&strip, LANES);
        JOIN(store_part, ELEM)(y + i, strip, part);
    }
}
#endif

/* ---- Random words of one key, in place of their indices, by vectors -------------------------- */
#ifdef WORDS
/* Replaces n indices by the random words that the generator Philox has for them, with the key
 * *pb. */
static void KERNEL(philox, strips)(int64_t n, void *py, const void *pa, const void *pb,
                                   const void *pc, uint32_t *warnings)
{
    (void)pc, (void)warnings;
    if (py != pa)
        memcpy(py, pa, (size_t)n * sizeof(T));
    rd_philox_strip(py, n, *(const T *)pb);
}
#endif

/* ---- Division of ints by one number, in double ----------------------------------------------- */
/* For ints within 2^51, a times 1 / b, rounded to the nearest int, is the floor of a / b or one
 * more.  The remainder is exact and tells which.  Adding 1.5 * 2^52 puts such an int into the
 * lowest bits of a double. */
#ifdef DIVIDES
/* True if b and all n elements of a are within 2^51, and b is positive, so that quotients can be
 * found in double.  `shift` makes negative numbers positive, so that one test of high bits covers
 * both signs. */
static int KERNEL(divides, small)(int64_t n, const T *a, T b)
{
    const uint64_t half = UINT64_C(1) << 51, shift = (T)-1 < 0 ? half : 0;
    const int      bits = (T)-1 < 0 ? 52 : 51;
    uint64_t       all  = 0;

    for (int64_t i = 0; i < n; i++)
        all |= (uint64_t)a[i] + shift;
    return b > 0 && (uint64_t)b < half && all >> bits == 0;
}

#define DIVIDE(name, result)                                                                    \
    static void KERNEL(name, by_one)(int64_t n, void *py, const void *pa, const void *pb,       \
                                     const void *pc, uint32_t *warnings)                        \
    {                                                                                           \
        T             *y = py;                                                                  \
        const T       *a = pa;                                                                  \
        const double   b = (double)*(const T *)pb, inverse = 1 / b;                             \
        const uint64_t magic = UINT64_C(0x4338) << 48;                                          \
        if (!KERNEL(divides, small)(n, a, *(const T *)pb)) {                                    \
            KERNEL(name, b2)(n, py, pa, pb, pc, warnings);                                      \
            return;                                                                             \
        }                                                                                       \
        INDEPENDENT                                                                             \
        for (int64_t i = 0; i < n; i++) {                                                       \
            const double x    = rd_double_of((uint64_t)a[i] + magic) - RD_MAGIC_F64;            \
            const double near = x * inverse + RD_MAGIC_F64 - RD_MAGIC_F64, left = x - near * b; \
            const double quotient  = left < 0 ? near - 1 : near,                                \
                         remainder = left < 0 ? left + b : left;                                \
            (void)quotient, (void)remainder;                                                    \
            y[i] = (T)(rd_bits_f64((result) + RD_MAGIC_F64) - magic);                           \
        }                                                                                       \
    }
DIVIDE(floordiv, quotient)
DIVIDE(remainder, remainder)
#endif

/* ---- Division of floats with a remainder, where no quotient of the row is huge ---------------- */
#ifdef FLOATS
#define REST_OF   JOIN(rd_rest, ELEM)
#define REST_HARD JOIN(rd_rest_hard, ELEM)
#define REST_LOOP(name, form, take)                                                            \
    static void KERNEL(name, rest_##form)(int64_t n, void *py, const void *pa, const void *pb, \
                                          const void *pc, uint32_t *warnings)                  \
    {                                                                                          \
        T       *y  = py;                                                                      \
        const T *va = pa, *vb = pb;                                                            \
        int      hard = 0;                                                                     \
        (void)va, (void)vb;                                                                    \
        take INDEPENDENT                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                      \
            EACH_##form hard |= REST_HARD(a, b);                                               \
        }                                                                                      \
        if (hard) {                                                                            \
            KERNEL(name, form)(n, py, pa, pb, pc, warnings);                                   \
            return;                                                                            \
        }                                                                                      \
        INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                      \
            EACH_##form y[i] = JOIN(rd_##name##_by_rest, ELEM)(a, b, REST_OF(a, b));           \
        }                                                                                      \
    }
#define REST_LOOPS(name)                  \
    REST_LOOP(name, b0, )                 \
    REST_LOOP(name, b1, const T a = *va;) \
    REST_LOOP(name, b2, const T b = *vb;)
REST_LOOPS(floordiv)
REST_LOOPS(remainder)
REST_LOOPS(fmod)
#define REST_ENTRY(name) \
    [RD_OP_##name] = { KERNEL(name, rest_b0), KERNEL(name, rest_b1), KERNEL(name, rest_b2) }
#endif

/* ---- Powers by one number --------------------------------------------------------------------- */
#ifdef FLOATS
#define RD_POWER(n)                                    \
    case n:                                            \
        INDEPENDENT                                    \
        for (int64_t i = 0; i < count; i++)            \
            y[i] = RD_F(pow_half)(a[i], (T)0.5 * (n)); \
        break;
/* Raises `count` elements to one power: a loop for each multiple of 1/2 that half_powers.def has,
 * as the compiler then knows the multiplications. */
static void KERNEL(pow_half, by_one)(int64_t count, void *py, const void *pa, const void *pb,
                                     const void *pc, uint32_t *warnings)
{
    T       *y = py;
    const T *a = pa;

    switch ((int)(2 * *(const T *)pb)) {
#include "core/half_powers.def"
    default: KERNEL(pow_half, b2)(count, py, pa, pb, pc, warnings);
    }
}
#endif

/* ---- Choice ---------------------------------------------------------------------------------- */
/* y[i] = a[i] ? b : c, by form: bit 1 (2): b is one element for all, bit 2 (4): c is. */
#define SELECT_LOOP(form, yes, no)                                                                 \
    static void JOIN(JOIN(select, ELEM), form)(int64_t n, void *py, const void *pa,                \
                                               const void *pb, const void *pc, uint32_t *warnings) \
    {                                                                                              \
        T             *y  = py;                                                                    \
        const uint8_t *va = pa;                                                                    \
        const T       *vb = pb, *vc = pc;                                                          \
        const T        b0 = *vb, c0 = *vc;                                                         \
        (void)b0, (void)c0, (void)warnings;                                                        \
        INDEPENDENT                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T b = (yes), c = (no);                                                           \
            y[i] = va[i] ? b : c;                                                                  \
        }                                                                                          \
    }
SELECT_LOOP(0, vb[i], vc[i])
SELECT_LOOP(2, b0, vc[i])
SELECT_LOOP(4, vb[i], c0)
SELECT_LOOP(6, b0, c0)

/* ---- Casts ----------------------------------------------------------------------------------- */
#define CAST(from, F, ...)                                                        \
    static void JOIN(JOIN(cast, from), ELEM)(int64_t n, void *py, const void *px) \
    {                                                                             \
        T       *y = py;                                                          \
        const F *v = px;                                                          \
        for (int64_t i = 0; i < n; i++) {                                         \
            const F x = v[i];                                                     \
            y[i]      = (T)(__VA_ARGS__);                                         \
        }                                                                         \
    }
CAST(f32, float, FROM_FLOAT(x))
CAST(f64, double, FROM_FLOAT(x))
CAST(i64, int64_t, FROM_INT(x))
CAST(u64, uint64_t, FROM_INT(x))
CAST(b8, uint8_t, FROM_INT(x))

/* ---- Tables ---------------------------------------------------------------------------------- */
#define FORMS_1(name)    \
    {                    \
        KERNEL(name, u0) \
    }
#define FORMS_2(name)                                        \
    {                                                        \
        KERNEL(name, b0), KERNEL(name, b1), KERNEL(name, b2) \
    }
#define FORMS_3(name)                                                           \
    {                                                                           \
        [0] = KERNEL(name, t0), [2] = KERNEL(name, t2), [4] = KERNEL(name, t4), \
        [6] = KERNEL(name, t6)                                                  \
    }
#define ENTRY(name, n)              [RD_OP_##name] = FORMS_##n(name),
#define RD_OP(name, n, rule, ...)   PICK(rule, ENTRY, (name, n), (name, n))
#define RD_TEST(name, n, rule, ...) PICK(rule, ENTRY, (name, n), (name, n))
#define EASY_ENTRY_0(name)
#define EASY_ENTRY_1(name) [RD_OP_##name] = { KERNEL(name, easy) },
rd_simd_map *const OF_ISA(JOIN(maps, ELEM))[RD_N_OPS][RD_N_FORMS] = {
#include "core/ops.def"
#ifdef FLOATS
#define RD_LIBM1(name)
#define RD_LIBM2(name)
#define RD_LIBM3(name)
#define RD_MATH2(name, hard)
#define RD_MATH1(name, hard) EASY_ENTRY_##hard(name)
#include "kernels/math/math.def"
    [RD_OP_exp]      = { KERNEL(exp, strips) },
    [RD_OP_pow_half] = { KERNEL(pow_half, b0), KERNEL(pow_half, b1), KERNEL(pow_half, by_one) },
    REST_ENTRY(floordiv),
    REST_ENTRY(remainder),
    REST_ENTRY(fmod),
#endif
#ifdef DIVIDES
    [RD_OP_floordiv]  = { KERNEL(floordiv, b0), KERNEL(floordiv, b1), KERNEL(floordiv, by_one) },
    [RD_OP_remainder] = { KERNEL(remainder, b0), KERNEL(remainder, b1), KERNEL(remainder, by_one) },
#endif
#ifdef WORDS
    [RD_OP_philox] = { KERNEL(philox, b0), KERNEL(philox, b1), KERNEL(philox, strips) },
#endif
};
rd_simd_map *const  OF_ISA(JOIN(selects, ELEM))[RD_N_FORMS] = { [0] = JOIN(JOIN(select, ELEM), 0),
                                                                [2] = JOIN(JOIN(select, ELEM), 2),
                                                                [4] = JOIN(JOIN(select, ELEM), 4),
                                                                [6] = JOIN(JOIN(select, ELEM), 6) };
rd_simd_cast *const OF_ISA(JOIN(casts, ELEM))[RD_N_ELEMS] = { [RD_ELEM_f32] = JOIN(cast_f32, ELEM),
                                                              [RD_ELEM_f64] = JOIN(cast_f64, ELEM),
                                                              [RD_ELEM_i64] = JOIN(cast_i64, ELEM),
                                                              [RD_ELEM_u64] = JOIN(cast_u64, ELEM),
                                                              [RD_ELEM_b8]  = JOIN(cast_b8, ELEM) };

#undef RD_T
#undef KERNEL
#undef LOOP
#undef DEFINE
#undef DEFINE_1
#undef DEFINE_2
#undef DEFINE_3
#undef EACH_u0
#undef EACH_b0
#undef EACH_b1
#undef EACH_b2
#undef EACH_t0
#undef EACH_t2
#undef EACH_t4
#undef EACH_t6
#undef SELECT_LOOP
#undef EASY_0
#undef EASY_1
#undef EASY_ENTRY_0
#undef EASY_ENTRY_1
#undef CAST
#undef FORMS_1
#undef FORMS_2
#undef FORMS_3
#undef ENTRY
