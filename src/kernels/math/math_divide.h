/* math_divide.h - division by numbers that emitted text contains as constants. */
#ifndef RD_KERNELS_MATH_MATH_DIVIDE_H
#define RD_KERNELS_MATH_MATH_DIVIDE_H

/* Divides ints by a positive constant: compilers vectorise that. */
#define DIVIDE_BY(T)                              \
    static inline T rd_remainder_by_##T(T a, T b) \
    {                                             \
        const T rest = a % b;                     \
        return rest < 0 ? rest + b : rest;        \
    }                                             \
    static inline T rd_floordiv_by_##T(T a, T b)  \
    {                                             \
        const T rest = a % b;                     \
        return a / b - (rest < 0 ? 1 : 0);        \
    }
DIVIDE_BY(int32_t)
DIVIDE_BY(int64_t)
DIVIDE_BY(uint32_t)
DIVIDE_BY(uint64_t)
#endif
