/* shuffle.h - elements of two vectors, by their numbers: the first one's from 0, then the second one's.  gcc
 * has clang's name for it since 12; before, the numbers are a vector, whose type, NUMBERS, has integers as
 * wide as the elements. */
#ifndef RD_KERNELS_MATH_SHUFFLE_H
#define RD_KERNELS_MATH_SHUFFLE_H
#if defined(__clang__) || __GNUC__ >= 12
#define RD_SHUFFLE(NUMBERS, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define RD_SHUFFLE(NUMBERS, a, b, ...) __builtin_shuffle(a, b, (NUMBERS){ __VA_ARGS__ })
#endif
#endif
