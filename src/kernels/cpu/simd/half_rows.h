/* half_rows.h - converts rows of narrow floats to f32 and back, and rounds f32 to them in place;
 * load_store.h includes it. */
/* load_F16_vectors() and so on convert as many of n elements as whole vectors take, and return how
 * many. */
#ifdef F16_VECTORS
#define VECTORS(name, Y, X, ...)                                      \
    static inline int64_t name##_vectors(int64_t n, Y *y, const X *x) \
    {                                                                 \
        int64_t i = 0;                                                \
        for (; i + F32_LANES <= n; i += F32_LANES) {                  \
            __VA_ARGS__                                               \
        }                                                             \
        return i;                                                     \
    }
VECTORS(load_F16, float, rd_f16, *(vec_f32 *)(y + i) = load_f16(x + i);)
VECTORS(store_F16, rd_f16, float, const vec_f16 h = F16_NARROW(load_f32(x + i));
        memcpy(y + i, &h, sizeof h);)
VECTORS(wrap_F16, float, float, *(vec_f32 *)(y + i) = F16_WIDEN(F16_NARROW(load_f32(x + i)));)
#undef VECTORS
#else
#define load_F16_vectors  NO_VECTORS
#define store_F16_vectors NO_VECTORS
#define wrap_F16_vectors  NO_VECTORS
#endif
#define NO_VECTORS(n, y, x) 0

/* load_TYPE(), store_TYPE(): convert n narrow floats in memory, `stride` elements apart, to f32 and
 * back.  wrap_TYPE(): rounds f32 to the narrow type in place. */
#define HALF_MOVES(type, C, load_vectors, store_vectors, wrap_vectors)            \
    static void load_##type(int64_t n, void *py, const void *px, int64_t stride)  \
    {                                                                             \
        float   *y = py;                                                          \
        const C *x = px;                                                          \
        if (stride == 1)                                                          \
            for (int64_t i = load_vectors(n, y, x); i < n; i++)                   \
                y[i] = C##_to_f32(x[i]);                                          \
        else                                                                      \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i] = C##_to_f32(x[i * stride]);                                 \
    }                                                                             \
    static void store_##type(int64_t n, void *py, int64_t stride, const void *px) \
    {                                                                             \
        C           *y = py;                                                      \
        const float *x = px;                                                      \
        if (stride == 1)                                                          \
            for (int64_t i = store_vectors(n, y, x); i < n; i++)                  \
                y[i] = C##_of_f32(x[i]);                                          \
        else                                                                      \
            for (int64_t i = 0; i < n; i++)                                       \
                y[i * stride] = C##_of_f32(x[i]);                                 \
    }                                                                             \
    static void wrap_##type(int64_t n, void *py)                                  \
    {                                                                             \
        float *y = py;                                                            \
        for (int64_t i = wrap_vectors(n, y, y); i < n; i++)                       \
            y[i] = C##_to_f32(C##_of_f32(y[i]));                                  \
    }
HALF_MOVES(F16, rd_f16, load_F16_vectors, store_F16_vectors, wrap_F16_vectors)
HALF_MOVES(BF16, rd_bf16, NO_VECTORS, NO_VECTORS, NO_VECTORS)
HALF_MOVES(F8, rd_f8, NO_VECTORS, NO_VECTORS, NO_VECTORS)

#undef HALF_MOVES
