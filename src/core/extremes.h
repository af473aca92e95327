/* extremes.h - minimum and maximum of two floats. minimum and maximum return the first NaN, else
 * the least (greatest), and b if both are equal.  Each takes two choices: of one combined
 * condition compilers make branches, and no vectors. */
#ifndef RD_CORE_EXTREMES_H
#define RD_CORE_EXTREMES_H

/* In the macros a != a is true for NaN only, and `less` is < or >. */
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

/* fmin and fmax of C: the operand that is no NaN. */
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
