/* load_store.h - loads and stores of contiguous elements from and to memory of every type;
 * instances/table.c includes it. */
/* bool in memory is true if it is not 0. */
#define NORMAL_BOOL(x)   ((x) != 0)
#define NORMAL_NUMBER(x) (x)

/* Stride 2, as of the parts of complex numbers: a constant stride makes compilers use vectors.  The
 * elements in between belong to others, so stores may not touch them. */
#if defined(__AVX512F__)
/* Stores x to every second element of y (the parts of complex numbers), eight at a time, by a
 * masked store that leaves the others alone.  Returns how many were stored; the caller stores the
 * rest. */
static int64_t store_every_second_F32(int64_t n, float *y, const float *x)
{
    const __m512i twice = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    int64_t       i     = 0;

    for (; i + 8 <= n; i += 8)
        _mm512_mask_storeu_ps(
            y + 2 * i, 0x5555,
            _mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(x + i))));
    return i;
}

/* Stores x to every second element of y (the parts of complex numbers), four doubles at a time, by
 * a masked store that leaves the others alone.  Returns how many were stored; the caller stores the
 * rest. */
static int64_t store_every_second_F64(int64_t n, double *y, const double *x)
{
    const __m512i twice = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
    int64_t       i     = 0;

    for (; i + 4 <= n; i += 4)
        _mm512_mask_storeu_pd(
            y + 2 * i, 0x55,
            _mm512_permutexvar_pd(twice, _mm512_castpd256_pd512(_mm256_loadu_pd(x + i))));
    return i;
}
#else
#define store_every_second_F32(n, y, x) ((void)(y), (void)(x), (int64_t)0)
#define store_every_second_F64(n, y, x) ((void)(y), (void)(x), (int64_t)0)
#endif
#define NONE_OF(n, y, x) ((int64_t)0)

/* load_TYPE(), store_TYPE(): n elements of type C in memory, `stride` elements apart, from and to
 * contiguous elements E of registers. */
#define MOVES(type, C, E, normal) MOVES_BY(type, C, E, normal, NONE_OF)
#define MOVES_BY(type, C, E, normal, every_second)                                \
    static void load_##type(int64_t n, void *py, const void *px, int64_t stride)  \
    {                                                                             \
        E       *y = py;                                                          \
        const C *x = px;                                                          \
        if (stride == 1)                                                          \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = (E)normal(x[i]);                                           \
        else if (stride == 2)                                                     \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = (E)normal(x[2 * i]);                                       \
        else                                                                      \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = (E)normal(x[i * stride]);                                  \
    }                                                                             \
    static void store_##type(int64_t n, void *py, int64_t stride, const void *px) \
    {                                                                             \
        C       *y = py;                                                          \
        const E *x = px;                                                          \
        if (stride == 1)                                                          \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = (C)x[i];                                                   \
        else                                                                      \
            for (int64_t i = stride == 2 ? every_second(n, y, x) : 0; i < n; i++) \
                y[i * stride] = (C)x[i];                                          \
    }
MOVES(BOOL, uint8_t, uint8_t, NORMAL_BOOL)
MOVES(I8, int8_t, int64_t, NORMAL_NUMBER)
MOVES(I16, int16_t, int64_t, NORMAL_NUMBER)
MOVES(I32, int32_t, int64_t, NORMAL_NUMBER)
MOVES(I64, int64_t, int64_t, NORMAL_NUMBER)
MOVES(U8, uint8_t, uint64_t, NORMAL_NUMBER)
MOVES(U16, uint16_t, uint64_t, NORMAL_NUMBER)
MOVES(U32, uint32_t, uint64_t, NORMAL_NUMBER)
MOVES(U64, uint64_t, uint64_t, NORMAL_NUMBER)
MOVES_BY(F32, float, float, NORMAL_NUMBER, store_every_second_F32)
MOVES_BY(F64, double, double, NORMAL_NUMBER, store_every_second_F64)

/* wrap_TYPE(): cuts n ints in registers to the narrow type, in place. */
#define WRAP(type, C, E)                         \
    static void wrap_##type(int64_t n, void *py) \
    {                                            \
        E *y = py;                               \
        for (int64_t i = 0; i < n; i++)          \
            y[i] = (E)(C)y[i];                   \
    }
WRAP(I8, int8_t, int64_t)
WRAP(I16, int16_t, int64_t)
WRAP(I32, int32_t, int64_t)
WRAP(U8, uint8_t, uint64_t)
WRAP(U16, uint16_t, uint64_t)
WRAP(U32, uint32_t, uint64_t)

#include "kernels/cpu/simd/half_rows.h"

static rd_simd_load *const loads[RD_N_DTYPES] = {
#define RD_DTYPE(enum_, ...) [RD_##enum_] = load_##enum_,
#include "core/dtypes.def"
};
static rd_simd_store *const stores[RD_N_DTYPES] = {
#define RD_DTYPE(enum_, ...) [RD_##enum_] = store_##enum_,
#include "core/dtypes.def"
};
static rd_simd_wrap *const wraps[RD_N_DTYPES] = {
    [RD_I8] = wrap_I8, [RD_I16] = wrap_I16, [RD_I32] = wrap_I32,
    [RD_U8] = wrap_U8, [RD_U16] = wrap_U16, [RD_U32] = wrap_U32,
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(enum_, ...) [RD_##enum_] = wrap_##enum_,
#include "core/dtypes.def"
};

/* Counts the bytes that are 1 among bytes 0, by vectors.  A lane holds at most 255, so sums are
 * added up after 255 vectors. */
static int64_t count_bytes(int64_t n, const void *px)
{
    typedef uint8_t bytes __attribute__((vector_size(RD_VECTOR_BYTES), aligned(1), may_alias));
    const uint8_t  *x   = px;
    int64_t         sum = 0;

    while (n >= RD_VECTOR_BYTES) {
        bytes    v = { 0 };
        uint8_t  lane[RD_VECTOR_BYTES];
        uint32_t part = 0;
        for (int k = 0; k < 255 && n >= RD_VECTOR_BYTES;
             k++, n -= RD_VECTOR_BYTES, x += RD_VECTOR_BYTES)
            v += *(const bytes *)x;
        memcpy(lane, &v, sizeof lane);
        for (int k = 0; k < RD_VECTOR_BYTES; k++)
            part += lane[k];
        sum += part;
    }
    for (; n > 0; n--)
        sum += *x++;
    return sum;
}

#include "kernels/cpu/simd/small.h"

/* Copies memory by non-temporal stores of whole cache lines, which bypass the caches: a plain store
 * would first read the line.  Partial lines at both ends are copied as usual. */
static void copy_nontemporal(int64_t bytes, void *py, const void *px)
{
#ifdef NONTEMPORAL_PART
    char       *y = py;
    const char *x = px;
    int64_t     k = (int64_t)(-(uintptr_t)y & 63);

    k = k < bytes ? k : bytes;
    if (k > 0)
        memcpy(y, x, (size_t)k);
    for (; k + 64 <= bytes; k += 64)
        for (int part = 0; part < 64; part += (int)sizeof(nontemporal_part)) {
            nontemporal_part v;
            memcpy(&v, x + k + part, sizeof v);
            NONTEMPORAL_PART((void *)(y + k + part), v);
        }
    if (k < bytes)
        memcpy(y + k, x + k, (size_t)(bytes - k));
#else
    memcpy(py, px, (size_t)bytes);
#endif
}
