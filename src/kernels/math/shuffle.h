/* shuffle.h - shuffles of two vectors: the first one's elements have numbers from 0, the second
 * one's follow.  gcc has clang's builtin since version 12.  Before that the numbers are a vector of
 * type NUMBERS, with integers as wide as the elements. */
#ifndef RD_KERNELS_MATH_SHUFFLE_H
#define RD_KERNELS_MATH_SHUFFLE_H
#if defined(__clang__) || __GNUC__ >= 12
#define RD_SHUFFLE(NUMBERS, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define RD_SHUFFLE(NUMBERS, a, b, ...) __builtin_shuffle(a, b, (NUMBERS){ __VA_ARGS__ })
#endif

/* f(l, d) of all lanes l. */
#define INDICES_2(f, d) f(0, d), f(1, d)
#define INDICES_4(f, d) INDICES_2(f, d), f(2, d), f(3, d)
#define INDICES_8(f, d) INDICES_4(f, d), f(4, d), f(5, d), f(6, d), f(7, d)
#define INDICES_16(f, d) \
    INDICES_8(f, d), f(8, d), f(9, d), f(10, d), f(11, d), f(12, d), f(13, d), f(14, d), f(15, d)
#endif
