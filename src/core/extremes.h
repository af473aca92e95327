/* extremes.h - minimum and maximum of two floats: the first that is NaN, or the least (most); b of
 * equals; fmin and fmax.  In two choices, as compilers make branches of one condition in two parts, and no
 * vectors, where several of these follow each other. */
#ifndef RD_CORE_EXTREMES_H
#define RD_CORE_EXTREMES_H

#define RD_EXTREME(name, T, less)            \
    static inline T rd_math_##name(T a, T b) \
    {                                        \
        const T other = a less b ? a : b;    \
                                             \
        return a != a ? a : other;           \
    }
RD_EXTREME(minimum_f32, float, <)
RD_EXTREME(minimum_f64, double, <)
RD_EXTREME(maximum_f32, float, >)
RD_EXTREME(maximum_f64, double, >)
#undef RD_EXTREME

/* The same of those that are no NaN, as C's fmin and fmax. */
#define RD_EXTREME(name, T, less)            \
    static inline T rd_math_##name(T a, T b) \
    {                                        \
        const T other = a less b ? a : b;    \
                                             \
        return b != b ? a : other;           \
    }
RD_EXTREME(fmin_f32, float, <)
RD_EXTREME(fmin_f64, double, <)
RD_EXTREME(fmax_f32, float, >)
RD_EXTREME(fmax_f64, double, >)
#undef RD_EXTREME

#endif
